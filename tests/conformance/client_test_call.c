/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CheckAndMutateRow, ReadModifyWriteRow and SampleRowKeys over gRPC. The first two are never
 * repeated once a server has begun with them; samples are, and start anew.
 */
#include "net/raw.h"

#include "client_testing.h"

#define PARAMS "table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft&app_profile_id="

/* One call of each kind that reads and writes a row. */

static ms_bt_code call_check(rig *it, int64_t timeout_ms, ms_str profile)
{
    ms_bt_check_and_mutate check;
    write_call write;
    write_init(it, &write, "r");
    ms_bt_check_and_mutate_init(&check, &it->mailbox, done_nothing, NULL);
    check.table = &table;
    check.row_key = ms_str_lit("r");
    check.if_true = &write.batch;
    check.call.timeout_ms = timeout_ms;
    check.call.app_profile = profile;
    ms_bt_client_check_and_mutate(it->client, &check);
    ms_bt_call_wait(&check.call, &it->parker);
    ms_bt_code code = check.call.status.code;
    ms_bt_check_and_mutate_release(&check);
    write_release(&write);
    return code;
}

static const ms_bt_rule append_rule = {
    .kind = MS_BT_RULE_APPEND, .family = {"f", 1}, .qualifier = {"q", 1}, .append = {"str2", 4}};

static ms_bt_code call_modify(rig *it, int64_t timeout_ms, ms_str profile)
{
    ms_bt_read_modify_write modify;
    ms_bt_read_modify_write_init(&modify, &it->mailbox, done_nothing, NULL);
    modify.table = &table;
    modify.row_key = ms_str_lit("r");
    modify.rules = &append_rule;
    modify.rule_count = 1;
    modify.call.timeout_ms = timeout_ms;
    modify.call.app_profile = profile;
    ms_bt_client_read_modify_write(it->client, &modify);
    ms_bt_call_wait(&modify.call, &it->parker);
    ms_bt_code code = modify.call.status.code;
    ms_bt_read_modify_write_release(&modify);
    return code;
}

typedef struct method {
    const char *path;
    ms_bt_code (*call)(rig *it, int64_t timeout_ms, ms_str profile);
} method;

static const method methods[] = {
    {SERVICE "CheckAndMutateRow", call_check},
    {SERVICE "ReadModifyWriteRow", call_modify},
};

#define METHODS (sizeof(methods) / sizeof(methods[0]))

static void calls_on_a_row_carry_their_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS; i++) {
        rig it;
        rig_init(&it);
        mock_answer script[] = {{.messages = {{"", 0}}}};
        rig_open(&it, script, 1);
        assert_int_equal(methods[i].call(&it, 0, ms_str_lit("one")), MS_BT_OK);
        assert_has_headers(mock_request_at(it.server, 0), methods[i].path, PARAMS "one");
        rig_close(&it);
    }
}

static void calls_on_a_row_are_never_repeated(void **state)
{
    (void)state;
    static const ms_bt_code codes[] = {MS_BT_UNAVAILABLE, MS_BT_DEADLINE_EXCEEDED, MS_BT_ABORTED};
    for (size_t i = 0; i < METHODS * 3 * 2; i++) {
        const method *m = &methods[i % METHODS];
        ms_bt_code code = codes[i / METHODS % 3];
        rig it;
        rig_init(&it);
        mock_answer script[] = {{.code = code, .has_retry_info = i >= METHODS * 3}};
        rig_open(&it, script, 1);
        assert_int_equal(m->call(&it, 0, (ms_str){NULL, 0}), code);
        assert_int_equal(mock_request_count(it.server), 1);
        rig_close(&it);
    }
}

static void calls_on_a_row_end_at_their_deadline(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS; i++) {
        rig it;
        rig_init(&it);
        mock_answer script[] = {{.is_silent = true}};
        rig_open(&it, script, 1);
        int64_t start_ns = ms_env_mono_ns();
        assert_int_equal(methods[i].call(&it, 250, (ms_str){NULL, 0}), MS_BT_DEADLINE_EXCEEDED);
        assert_true(ms_env_mono_ns() - start_ns >= 250 * MS_NS);
        rig_close(&it);
    }
}

/* CheckAndMutateRow. */

static ms_str matched_message(rig *it, bool matched)
{
    ms_pb_check_and_mutate_row_response *out = ms_pb_new(&it->arena, check_and_mutate_row_response);
    out->predicate_matched = matched;
    return packed(it, &out->base);
}

static void both_branches_of_a_check_arrive(void **state)
{
    (void)state;
    for (int matched = 0; matched <= 1; matched++) {
        rig it;
        rig_init(&it);
        mock_answer script[] = {{.messages = {matched_message(&it, matched)}}};
        rig_open(&it, script, 1);
        ms_status st = {0};
        ms_bt_status bt = {0};
        ms_bt_check_and_mutate check;
        write_call write;
        write_init(&it, &write, "");
        assert_ok(ms_bt_mutation_batch_begin_row(&write.batch, ms_str_lit("r"), &st));
        assert_ok(ms_bt_mutation_batch_delete_row(&write.batch, &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&write.batch, 0, ms_str_lit("q"), 1000,
                                                ms_str_lit("v"), &st));
        ms_bt_mutation_batch_end_row(&write.batch);
        ms_bt_check_and_mutate_init(&check, &it.mailbox, done_nothing, NULL);
        check.table = &table;
        check.row_key = ms_str_lit("r");
        check.if_true = matched ? &write.batch : NULL;
        check.if_false = matched ? NULL : &write.batch;
        ms_bt_client_check_and_mutate(it.client, &check);
        ms_bt_call_wait(&check.call, &it.parker);
        assert_int_equal(check.call.status.code, MS_BT_OK);
        assert_int_equal(check.predicate_matched, matched);
        ms_pb_check_and_mutate_row_request *in =
            ms_pb_unpack(check_and_mutate_row_request, mock_request_at(it.server, 0)->message,
                         &ms_wire_request_limits, &it.arena, &bt);
        assert_non_null(in);
        assert_int_equal(in->n_true_mutations, matched ? 2 : 0);
        assert_int_equal(in->n_false_mutations, matched ? 0 : 2);
        assert_null(in->predicate_filter);
        ms_bt_check_and_mutate_release(&check);
        write_release(&write);
        rig_close(&it);
    }
}

/* ReadModifyWriteRow. */

static ms_pb_column *make_column(rig *it, const char *qualifier, ms_str value)
{
    ms_pb_column *column = ms_pb_new(&it->arena, column);
    column->qualifier = ms_wire_bytes(ms_str_cstr(qualifier));
    column->n_cells = 1;
    column->cells = ms_arena_array(&it->arena, ms_pb_cell *, 1);
    column->cells[0] = ms_pb_new(&it->arena, cell);
    column->cells[0]->timestamp_micros = 1000;
    column->cells[0]->value = ms_wire_bytes(value);
    return column;
}

/* The answer with row r and one family of these columns. */
static ms_str row_message(rig *it, ms_pb_column **columns, size_t count)
{
    ms_pb_read_modify_write_row_response *out =
        ms_pb_new(&it->arena, read_modify_write_row_response);
    out->row = ms_pb_new(&it->arena, row);
    out->row->key = ms_wire_bytes(ms_str_lit("r"));
    out->row->n_families = 1;
    out->row->families = ms_arena_array(&it->arena, ms_pb_family *, 1);
    ms_pb_family *family = ms_pb_new(&it->arena, family);
    out->row->families[0] = family;
    family->name = ms_wire_text(&it->arena, ms_str_lit("f"));
    family->n_columns = count;
    family->columns = columns;
    return packed(it, &out->base);
}

static void the_row_that_rules_made_arrives(void **state)
{
    (void)state;
    static const char twelve[8] = {0, 0, 0, 0, 0, 0, 0, 12};
    rig it;
    rig_init(&it);
    ms_pb_column *columns[] = {make_column(&it, "can", ms_str_make(twelve, 8)),
                               make_column(&it, "q", ms_str_lit("str1str2"))};
    mock_answer script[] = {{.messages = {row_message(&it, columns, 2)}}};
    rig_open(&it, script, 1);
    ms_bt_rule rules[2] = {{.kind = MS_BT_RULE_INCREMENT,
                            .family = ms_str_lit("f"),
                            .qualifier = ms_str_lit("can"),
                            .increment = 2},
                           append_rule};
    ms_bt_status bt = {0};
    ms_bt_read_modify_write modify;
    ms_bt_read_modify_write_init(&modify, &it.mailbox, done_nothing, NULL);
    modify.table = &table;
    modify.row_key = ms_str_lit("r");
    modify.rules = rules;
    modify.rule_count = 2;
    ms_bt_client_read_modify_write(it.client, &modify);
    ms_bt_call_wait(&modify.call, &it.parker);
    assert_int_equal(modify.call.status.code, MS_BT_OK);
    const ms_bt_page *page = &modify.row;
    assert_int_equal(page->row_count, 1);
    assert_int_equal(page->cell_count, 2);
    assert_memory_equal(ms_bt_page_value(page, &page->cells[0]).ptr, twelve, 8);
    assert_str_equal(ms_bt_page_value(page, &page->cells[1]), "str1str2");
    ms_pb_read_modify_write_row_request *in =
        ms_pb_unpack(read_modify_write_row_request, mock_request_at(it.server, 0)->message,
                     &ms_wire_request_limits, &it.arena, &bt);
    assert_non_null(in);
    assert_int_equal(in->n_rules, 2);
    assert_int_equal(in->rules[0]->increment_amount, 2);
    assert_str_equal(ms_wire_bytes_view(in->rules[1]->append_value), "str2");
    ms_bt_read_modify_write_release(&modify);
    rig_close(&it);
}

/* SampleRowKeys. */

static ms_str sample_message(rig *it, const char *key, int64_t offset)
{
    ms_pb_sample_row_keys_response *out = ms_pb_new(&it->arena, sample_row_keys_response);
    out->row_key = ms_wire_bytes(ms_str_cstr(key));
    out->offset_bytes = offset;
    return packed(it, &out->base);
}

/* "a:10 b:20", "*" for the empty key. */
static const char *sample_all(rig *it, ms_bt_code expected)
{
    story out = {it, ""};
    ms_bt_sample_row_keys sample;
    ms_bt_sample_row_keys_init(&sample, &it->mailbox, done_nothing, NULL);
    sample.table = &table;
    ms_bt_client_sample_row_keys(it->client, &sample);
    ms_bt_call_wait(&sample.call, &it->parker);
    assert_int_equal(sample.call.status.code, expected);
    for (size_t i = 0; i < sample.sample_count; i++) {
        ms_str key = sample.samples[i].key.bytes == 0 ? ms_str_lit("*") : sample.samples[i].key;
        story_add(&out, ms_arena_format(&it->arena, "%.*s:%d", MS_STR_ARG(key),
                                        (int)sample.samples[i].offset_bytes));
    }
    ms_bt_sample_row_keys_release(&sample);
    return out.ptr;
}

static void samples_carry_their_headers_and_ask_for_the_table_only(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    rig it;
    rig_init(&it);
    mock_answer script[] = {
        {.messages = {sample_message(&it, "a", 10), sample_message(&it, "", 20)}}};
    rig_open(&it, script, 1);
    assert_string_equal(sample_all(&it, MS_BT_OK), "a:10 *:20");
    const mock_request *request = mock_request_at(it.server, 0);
    assert_has_headers(request, SERVICE "SampleRowKeys", PARAMS);
    ms_pb_sample_row_keys_request *in = ms_pb_unpack(sample_row_keys_request, request->message,
                                                     &ms_wire_request_limits, &it.arena, &bt);
    assert_non_null(in);
    assert_null(in->row_range);
    rig_close(&it);
}

static void samples_need_not_end_with_the_empty_key(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {
        {.messages = {sample_message(&it, "a", 10), sample_message(&it, "b", 20)}}};
    rig_open(&it, script, 1);
    assert_string_equal(sample_all(&it, MS_BT_OK), "a:10 b:20");
    rig_close(&it);
}

static void samples_of_an_attempt_that_failed_are_forgotten(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {
        {.messages = {sample_message(&it, "a", 1), sample_message(&it, "b", 2)},
         .code = MS_BT_UNAVAILABLE},
        {.messages = {sample_message(&it, "c", 3), sample_message(&it, "", 4)}}};
    rig_open(&it, script, 2);
    assert_string_equal(sample_all(&it, MS_BT_OK), "c:3 *:4");
    assert_int_equal(mock_request_count(it.server), 2);
    rig_close(&it);
}

/* A server that has not begun. */

/* Three calls that are not repeated, of which the test makes one. */
typedef struct once_calls {
    ms_bt_check_and_mutate check;
    ms_bt_read_modify_write modify;
    write_call write; /* with a time of the server's */
    ms_bt_call *calls[3];
} once_calls;

static void once_init(rig *it, once_calls *once)
{
    ms_bt_check_and_mutate_init(&once->check, &it->mailbox, done_nothing, NULL);
    ms_bt_read_modify_write_init(&once->modify, &it->mailbox, done_nothing, NULL);
    write_init(it, &once->write, "@r");
    once->check.table = once->modify.table = &table;
    once->check.row_key = once->modify.row_key = ms_str_lit("r");
    once->modify.rules = &append_rule;
    once->modify.rule_count = 1;
    once->write.call.is_single = true;
    once->calls[0] = &once->check.call;
    once->calls[1] = &once->modify.call;
    once->calls[2] = &once->write.call.call;
}

static void once_release(once_calls *once)
{
    ms_bt_check_and_mutate_release(&once->check);
    ms_bt_read_modify_write_release(&once->modify);
    write_release(&once->write);
}

static void once_submit(rig *it, once_calls *once, int which)
{
    if (which == 0) {
        ms_bt_client_check_and_mutate(it->client, &once->check);
    } else if (which == 1) {
        ms_bt_client_read_modify_write(it->client, &once->modify);
    } else {
        ms_bt_client_mutate_rows(it->client, &once->write.call);
    }
}

/* Whatever a call does, one that the server refused to begin may be begun once more: the channel
 * does so once, the client from then on. A failure behind that is final as ever. */
static void what_the_server_did_not_begin_is_repeated(void **state)
{
    (void)state;
    static raw_peer peer;
    for (int i = 0; i < 3 * 2; i++) {
        bool is_refused_only = i < 3;
        char target[32];
        uint16_t port = 0;
        int listen_fd = raw_listen(&port);
        snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
        rig it;
        once_calls once;
        rig_init(&it);
        rig_connect(&it, ms_str_cstr(target), false);
        once_init(&it, &once);
        once_submit(&it, &once, i % 3);
        raw_accept(&peer, listen_fd);
        raw_serve(&peer);
        for (int stream = 1; stream <= 5; stream += 2) {
            assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
            assert_int_equal(peer.stream, stream);
            if (stream < 5) {
                raw_frame(&peer, NGHTTP2_RST_STREAM, 0, stream, "\0\0\0\x07", 4);
            }
        }
        raw_headers(&peer, RAW_END_BOTH, 5,
                    is_refused_only ? ":status=200;content-type=application/grpc;grpc-status=0;"
                                    : ":status=200;content-type=application/grpc;grpc-status=14;");
        ms_bt_call_wait(once.calls[i % 3], &it.parker);
        assert_int_equal(once.calls[i % 3]->status.code,
                         is_refused_only ? MS_BT_OK : MS_BT_UNAVAILABLE);
        once_release(&once);
        raw_close(&peer);
        close(listen_fd);
        rig_close(&it);
    }
}

/* Giving up. */

/* The server may have carried it out, so it is not sent over the next connection. */
static void a_call_on_a_row_fails_with_its_connection(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.is_silent = true}};
    rig_open(&it, script, 1);
    ms_bt_read_modify_write modify;
    ms_bt_read_modify_write_init(&modify, &it.mailbox, done_nothing, NULL);
    modify.table = &table;
    modify.row_key = ms_str_lit("r");
    modify.rules = &append_rule;
    modify.rule_count = 1;
    ms_bt_client_read_modify_write(it.client, &modify);
    mock_wait_requests(it.server, 1);
    mock_break_connections(it.server);
    ms_bt_call_wait(&modify.call, &it.parker);
    assert_int_equal(modify.call.status.code, MS_BT_UNAVAILABLE);
    assert_int_equal(mock_request_count(it.server), 1);
    ms_bt_read_modify_write_release(&modify);
    rig_close(&it);
}

static void samples_at_the_same_time_get_each_its_own_answer(void **state)
{
    (void)state;
    enum { CALLS = 3 };
    static const char *const profiles[CALLS] = {"pa", "pb", "pc"};
    rig it;
    rig_init(&it);
    mock_answer script[CALLS];
    ms_bt_sample_row_keys calls[CALLS];
    for (int i = 0; i < CALLS; i++) {
        script[i] = (mock_answer){.when = ms_str_cstr(profiles[i]),
                                  .messages = {sample_message(&it, profiles[i], i)}};
    }
    rig_open(&it, script, CALLS);
    mock_gather(it.server, CALLS);
    for (int i = 0; i < CALLS; i++) {
        ms_bt_sample_row_keys_init(&calls[i], &it.mailbox, done_nothing, NULL);
        calls[i].table = &table;
        calls[i].call.app_profile = ms_str_cstr(profiles[i]);
        ms_bt_client_sample_row_keys(it.client, &calls[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        ms_bt_call_wait(&calls[i].call, &it.parker);
        assert_int_equal(calls[i].call.status.code, MS_BT_OK);
        assert_int_equal(calls[i].sample_count, 1);
        assert_str_equal(calls[i].samples[0].key, profiles[i]);
        ms_bt_sample_row_keys_release(&calls[i]);
    }
    assert_int_equal(mock_request_count(it.server), CALLS);
    rig_close(&it);
}

static void calls_on_a_row_at_the_same_time_get_each_its_own_answer(void **state)
{
    (void)state;
    enum { CALLS = 3 };
    static const char *const keys[CALLS] = {"ra", "rb", "rc"};
    rig it;
    rig_init(&it);
    mock_answer script[2 * CALLS] = {0};
    ms_bt_check_and_mutate checks[CALLS];
    ms_bt_read_modify_write modifies[CALLS];
    ms_bt_rule rules[CALLS];
    for (int i = 0; i < CALLS; i++) {
        ms_pb_column *column = make_column(&it, "q", ms_str_cstr(keys[i]));
        script[i].when = ms_arena_format(&it.arena, "modify-%s", keys[i]);
        script[i].messages[0] = row_message(&it, &column, 1);
        script[CALLS + i].when = ms_arena_format(&it.arena, "check-%s", keys[i]);
        script[CALLS + i].messages[0] = matched_message(&it, i == 1);
    }
    rig_open(&it, script, 2 * CALLS);
    mock_gather(it.server, 2 * CALLS);
    for (int i = 0; i < CALLS; i++) {
        ms_bt_check_and_mutate_init(&checks[i], &it.mailbox, done_nothing, NULL);
        checks[i].table = &table;
        checks[i].row_key = script[CALLS + i].when;
        ms_bt_client_check_and_mutate(it.client, &checks[i]);
        ms_bt_read_modify_write_init(&modifies[i], &it.mailbox, done_nothing, NULL);
        rules[i] = append_rule;
        modifies[i].table = &table;
        modifies[i].row_key = script[i].when;
        modifies[i].rules = &rules[i];
        modifies[i].rule_count = 1;
        ms_bt_client_read_modify_write(it.client, &modifies[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        ms_bt_call_wait(&checks[i].call, &it.parker);
        ms_bt_call_wait(&modifies[i].call, &it.parker);
        assert_int_equal(checks[i].call.status.code, MS_BT_OK);
        assert_int_equal(checks[i].predicate_matched, i == 1);
        assert_int_equal(modifies[i].call.status.code, MS_BT_OK);
        const ms_bt_page *page = &modifies[i].row;
        assert_str_equal(ms_bt_page_value(page, &page->cells[0]), keys[i]);
        ms_bt_check_and_mutate_release(&checks[i]);
        ms_bt_read_modify_write_release(&modifies[i]);
    }
    assert_int_equal(mock_request_count(it.server), 2 * CALLS);
    rig_close(&it);
}

static void calls_in_flight_can_be_given_up(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.is_silent = true}, {.is_silent = true}, {.is_silent = true}};
    rig_open(&it, script, 3);
    ms_bt_check_and_mutate check;
    ms_bt_read_modify_write modify;
    ms_bt_sample_row_keys sample;
    ms_bt_check_and_mutate_init(&check, &it.mailbox, done_nothing, NULL);
    ms_bt_read_modify_write_init(&modify, &it.mailbox, done_nothing, NULL);
    ms_bt_sample_row_keys_init(&sample, &it.mailbox, done_nothing, NULL);
    check.table = modify.table = sample.table = &table;
    check.row_key = modify.row_key = ms_str_lit("r");
    modify.rules = &append_rule;
    modify.rule_count = 1;
    ms_bt_client_check_and_mutate(it.client, &check);
    ms_bt_client_read_modify_write(it.client, &modify);
    ms_bt_client_sample_row_keys(it.client, &sample);
    mock_wait_requests(it.server, 3);
    ms_bt_call *calls[] = {&check.call, &modify.call, &sample.call};
    for (int i = 0; i < 3; i++) {
        ms_bt_call_cancel(calls[i]);
        ms_bt_call_wait(calls[i], &it.parker);
        assert_int_equal(calls[i]->status.code, MS_BT_CANCELLED);
    }
    mock_wait_canceled(it.server, 3);
    ms_bt_check_and_mutate_release(&check);
    ms_bt_read_modify_write_release(&modify);
    ms_bt_sample_row_keys_release(&sample);
    rig_close(&it);
}

/* Nobody is Millstream who has not said so, and who has said it once is it, whatever comes. */
static void a_server_that_names_itself_is_known(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {
        {.messages = {{"", 0}}},
        {.code = MS_BT_ABORTED},
        {.code = MS_BT_ABORTED,
         .trailers = {{ms_str_lit("x-millstream-version"), ms_str_lit("0.1.0")}}},
        {.code = MS_BT_ABORTED},
    };
    rig_open(&it, script, 4);
    assert_false(ms_bt_client_is_millstream(it.client));
    static const bool expected[] = {false, false, true, true};
    for (size_t i = 0; i < 4; i++) {
        (void)call_check(&it, 0, ms_str_lit(""));
        assert_int_equal(ms_bt_client_is_millstream(it.client), expected[i]);
    }
    rig_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_on_a_row_carry_their_headers),
        cmocka_unit_test(calls_on_a_row_are_never_repeated),
        cmocka_unit_test(calls_on_a_row_end_at_their_deadline),
        cmocka_unit_test(both_branches_of_a_check_arrive),
        cmocka_unit_test(the_row_that_rules_made_arrives),
        cmocka_unit_test(samples_carry_their_headers_and_ask_for_the_table_only),
        cmocka_unit_test(samples_need_not_end_with_the_empty_key),
        cmocka_unit_test(samples_of_an_attempt_that_failed_are_forgotten),
        cmocka_unit_test(what_the_server_did_not_begin_is_repeated),
        cmocka_unit_test(a_call_on_a_row_fails_with_its_connection),
        cmocka_unit_test(samples_at_the_same_time_get_each_its_own_answer),
        cmocka_unit_test(calls_on_a_row_at_the_same_time_get_each_its_own_answer),
        cmocka_unit_test(calls_in_flight_can_be_given_up),
        cmocka_unit_test(a_server_that_names_itself_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
