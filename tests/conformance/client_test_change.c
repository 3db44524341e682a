/* SPDX-License-Identifier: Apache-2.0 */
/* ReadChangeStream and the partitions of a stream over gRPC: where a stream goes on that broke. */
#include "client_testing.h"

#include "bigtable/wire/change.h"
#include "bigtable/wire/time.h"

#define START_MICROS INT64_C(1700000000000000)
#define STEPS_MAX 4
#define CHANGES_MAX 4
#define CHANGE_BYTES 32

/* One message: "d:key:token" a change of a row, "p:key" one that is begun only, "h:token" a
 * heartbeat, "close" the end. */
static ms_str change_message(rig *it, const char *text)
{
    ms_status st = {0};
    char parts[CHANGE_BYTES];
    snprintf(parts, sizeof(parts), "%s", text);
    char *rest = NULL;
    const char *kind = strtok_r(parts, ":", &rest);
    const char *first = strtok_r(NULL, ":", &rest);
    const char *second = strtok_r(NULL, ":", &rest);
    ms_bt_range partition = {0};
    ms_bt_change_mutation mutation = {.kind = MS_BT_MUTATION_SET_CELL,
                                      .family = ms_str_lit("f"),
                                      .qualifier = ms_str_lit("q"),
                                      .timestamp_micros = 1000,
                                      .value = ms_str_lit("a value in two pieces")};
    ms_bt_change change = {.kind = MS_BT_CHANGE_CLOSE};
    if (kind[0] == 'h') {
        change = (ms_bt_change){.kind = MS_BT_CHANGE_HEARTBEAT, .token = ms_str_cstr(first)};
    } else if (kind[0] == 'd' || kind[0] == 'p') {
        change = (ms_bt_change){.kind = MS_BT_CHANGE_DATA,
                                .row_key = ms_str_cstr(first),
                                .source_cluster = ms_str_lit("c1"),
                                .commit_micros = START_MICROS,
                                .mutations = &mutation,
                                .mutation_count = 1,
                                .token = ms_str_cstr(second == NULL ? "unsent" : second)};
    }
    ms_wire_change_options pieces = {.piece_bytes = 16, .message_bytes = 1};
    ms_wire_change_writer writer;
    ms_buf bytes;
    ms_buf_init(&bytes, BYTES_MAX);
    ms_wire_change_writer_init(&writer, kind[0] == 'p' ? &pieces : NULL);
    ms_wire_change_writer_begin(&writer, &change, &partition);
    assert_ok(ms_wire_change_writer_next(&writer, &it->arena, &bytes, &st));
    assert_int_equal(ms_wire_change_writer_is_done(&writer), kind[0] != 'p');
    ms_str copy = ms_arena_copy_str(&it->arena, ms_buf_view(&bytes));
    ms_buf_release(&bytes);
    return copy;
}

typedef struct change_step {
    const char *request; /* "start", or the token; NULL: no such step */
    const char *changes[CHANGES_MAX];
    ms_bt_code code;
} change_step;

typedef struct change_case {
    const char *name;
    change_step steps[STEPS_MAX];
    const char *result; /* what arrives begins so */
} change_case;

static const change_case cases[] = {
    {.name = "a stream to its end",
     .steps = {{"start", {"d:a:t1", "h:t2", "close"}, MS_BT_OK}},
     .result = "a heartbeat close | OK"},
    {.name = "a stream that breaks goes on behind the last change",
     .steps = {{"start", {"d:a:t1", "d:b:t2"}, MS_BT_UNAVAILABLE},
               {"t2", {"d:c:t3", "close"}, MS_BT_OK}},
     .result = "a b c close | OK"},
    {.name = "a heartbeat is a place to go on from",
     .steps = {{"start", {"d:a:t1", "h:t2"}, MS_BT_ABORTED}, {"t2", {"close"}, MS_BT_OK}},
     .result = "a heartbeat close | OK"},
    {.name = "a change that is half there is read again",
     .steps = {{"start", {"d:a:t1", "p:b"}, MS_BT_UNAVAILABLE},
               {"t1", {"d:b:t2", "close"}, MS_BT_OK}},
     .result = "a b close | OK"},
    {.name = "a stream that breaks at once begins anew",
     .steps = {{"start", {NULL}, MS_BT_UNAVAILABLE},
               {"start", {NULL}, MS_BT_DEADLINE_EXCEEDED},
               {"start", {"close"}, MS_BT_OK}},
     .result = "close | OK"},
    {.name = "an end without a reason is none",
     .steps = {{"start", {"d:a:t1"}, MS_BT_OK}, {"t1", {"close"}, MS_BT_OK}},
     .result = "a close | OK"},
    {.name = "a failure behind the end does not matter",
     .steps = {{"start", {"d:a:t1", "close"}, MS_BT_UNAVAILABLE}},
     .result = "a close | OK"},
    {.name = "a refusal",
     .steps = {{"start", {"d:a:t1"}, MS_BT_PERMISSION_DENIED}},
     .result = "a | PERMISSION_DENIED"},
};

static const char *describe_changes(rig *it, const mock_request *request)
{
    ms_bt_status bt = {0};
    assert_has_headers(request, SERVICE "ReadChangeStream",
                       "table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft"
                       "&app_profile_id=one");
    ms_pb_read_change_stream_request *in = ms_pb_unpack(
        read_change_stream_request, request->message, &ms_wire_request_limits, &it->arena, &bt);
    assert_non_null(in);
    if (in->start_from_case ==
        GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_REQUEST__START_FROM_START_TIME) {
        assert_true(ms_wire_timestamp_micros(in->start_time) == START_MICROS);
        return "start";
    }
    assert_int_equal(in->continuation_tokens->n_tokens, 1);
    return in->continuation_tokens->tokens[0]->token;
}

static const char *read_changes(rig *it)
{
    story out = {it, ""};
    ms_bt_change_options options = {
        .table = table, .app_profile = ms_str_lit("one"), .start_micros = START_MICROS};
    ms_bt_change_read *read =
        ms_bt_client_read_changes(it->client, &options, &it->mailbox, wake_nothing, NULL);
    const ms_bt_change_page *page = NULL;
    ms_bt_poll poll;
    while ((poll = ms_bt_change_read_wait(read, &it->parker, &page)) == MS_BT_POLL_PAGE) {
        for (uint32_t i = 0; i < page->change_count; i++) {
            const ms_bt_change *change = &page->changes[i];
            story_add(&out, change->kind == MS_BT_CHANGE_DATA        ? change->row_key
                            : change->kind == MS_BT_CHANGE_HEARTBEAT ? ms_str_lit("heartbeat")
                                                                     : ms_str_lit("close"));
        }
        ms_bt_change_read_return(read, page);
    }
    ms_bt_status bt = {0};
    story_add_status(&out, poll == MS_BT_POLL_END ? &bt : ms_bt_change_read_status(read));
    assert_true(ms_bt_change_read_close(read, NULL, NULL));
    return out.ptr;
}

static void run_case(const change_case *c)
{
    rig it;
    rig_init(&it);
    mock_answer script[STEPS_MAX];
    size_t count = 0;
    for (; count < STEPS_MAX && c->steps[count].request != NULL; count++) {
        const change_step *step = &c->steps[count];
        script[count] = (mock_answer){.code = step->code};
        for (size_t i = 0; i < CHANGES_MAX && step->changes[i] != NULL; i++) {
            script[count].messages[i] = change_message(&it, step->changes[i]);
        }
    }
    rig_open(&it, script, count);
    const char *result = read_changes(&it);
    print_message("  %s: %s\n", c->name, result);
    assert_string_equal(result, c->result);
    assert_int_equal(mock_request_count(it.server), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(describe_changes(&it, mock_request_at(it.server, i)),
                            c->steps[i].request);
    }
    rig_close(&it);
}

static void change_streams_resume_as_the_cases_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run_case(&cases[i]);
    }
}

static ms_str partition_message(rig *it, const char *start, const char *end)
{
    ms_bt_range range = ms_bt_range_make(ms_str_cstr(start), ms_str_cstr(end));
    ms_pb_generate_initial_change_stream_partitions_response *out =
        ms_pb_new(&it->arena, generate_initial_change_stream_partitions_response);
    out->partition = ms_wire_partition_to_pb(&range, &it->arena);
    return packed(it, &out->base);
}

static void partitions_of_an_attempt_that_failed_are_forgotten(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {
        {.messages = {partition_message(&it, "", "m")}, .code = MS_BT_UNAVAILABLE},
        {.messages = {partition_message(&it, "", "k"), partition_message(&it, "k", "")}}};
    rig_open(&it, script, 2);
    ms_bt_partitions call;
    ms_bt_partitions_init(&call, &it.mailbox, done_nothing, NULL);
    call.table = &table;
    ms_bt_client_partitions(it.client, &call);
    ms_bt_call_wait(&call.call, &it.parker);
    assert_int_equal(call.call.status.code, MS_BT_OK);
    story out = {&it, ""};
    for (size_t i = 0; i < call.partition_count; i++) {
        story_add_range(&out, &call.partitions[i]);
    }
    assert_string_equal(out.ptr, "(*,k) [k,*)");
    assert_int_equal(mock_request_count(it.server), 2);
    ms_bt_partitions_release(&call);
    rig_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(change_streams_resume_as_the_cases_say),
        cmocka_unit_test(partitions_of_an_attempt_that_failed_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
