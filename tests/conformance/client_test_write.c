/* SPDX-License-Identifier: Apache-2.0 */
/* MutateRows and MutateRow over gRPC: which entries are sent again, and what becomes of each. */
#include "client_testing.h"

#define STEPS_MAX 4
#define CODES_MAX 5

#define OK_ MS_BT_OK
#define DENIED MS_BT_PERMISSION_DENIED
#define BUSY MS_BT_UNAVAILABLE
#define LATE MS_BT_DEADLINE_EXCEEDED
#define NO_ANSWER (-1)

typedef struct write_step {
    const char *request;  /* the keys of the entries; NULL: no such step */
    int codes[CODES_MAX]; /* of the entries of the request, up to NO_ANSWER */
    ms_bt_code code;      /* of the call */
} write_step;

typedef struct write_case {
    const char *name;
    const char *rows; /* as write_init */
    write_step steps[STEPS_MAX];
    const char *failures; /* "1:PERMISSION_DENIED ...", ascending */
    ms_bt_code code;      /* of the call as a whole */
} write_case;

static const write_case cases[] = {
    {.name = "all entries are done",
     .rows = "a b",
     .steps = {{"a b", {OK_, OK_, NO_ANSWER}, OK_}},
     .failures = ""},
    {.name = "failures that last are reported and not repeated",
     .rows = "a b c",
     .steps = {{"a b c", {OK_, DENIED, DENIED, NO_ANSWER}, OK_}},
     .failures = "1:PERMISSION_DENIED 2:PERMISSION_DENIED"},
    {.name = "an unknown family is reported and not repeated",
     .rows = "a",
     .steps = {{"a", {MS_BT_NOT_FOUND, NO_ANSWER}, OK_}},
     .failures = "0:NOT_FOUND"},
    {.name = "failures that pass are sent again, alone and in order",
     .rows = "a b c d",
     .steps = {{"a b c d", {BUSY, OK_, BUSY, LATE, NO_ANSWER}, OK_},
               {"a c d", {OK_, BUSY, BUSY, NO_ANSWER}, OK_},
               {"c d", {OK_, OK_, NO_ANSWER}, OK_}},
     .failures = ""},
    {.name = "a failure that comes later keeps the index of its entry",
     .rows = "a b c d",
     .steps = {{"a b c d", {OK_, BUSY, DENIED, BUSY, NO_ANSWER}, OK_},
               {"b d", {BUSY, DENIED, NO_ANSWER}, OK_},
               {"b", {DENIED, NO_ANSWER}, OK_}},
     .failures = "1:PERMISSION_DENIED 2:PERMISSION_DENIED 3:PERMISSION_DENIED"},
    {.name = "entries without an answer share the failure of the call",
     .rows = "a b c",
     .steps = {{"a b c", {OK_, NO_ANSWER}, BUSY}, {"b c", {OK_, OK_, NO_ANSWER}, OK_}},
     .failures = ""},
    {.name = "a call that breaks for good after some entries",
     .rows = "a b c",
     .steps = {{"a b c", {OK_, NO_ANSWER}, DENIED}},
     .failures = "1:PERMISSION_DENIED 2:PERMISSION_DENIED"},
    {.name = "an entry that the server forgets",
     .rows = "a b",
     .steps = {{"a b", {OK_, NO_ANSWER}, OK_}},
     .failures = "1:INTERNAL"},
    {.name = "a call that fails before any entry",
     .rows = "a b",
     .steps = {{"a b", {NO_ANSWER}, BUSY}, {"a b", {OK_, OK_, NO_ANSWER}, OK_}},
     .failures = ""},
    {.name = "a request that is refused as a whole",
     .rows = "a b",
     .steps = {{"a b", {NO_ANSWER}, DENIED}},
     .failures = "",
     .code = DENIED},
    {.name = "a time of the server's is not written twice",
     .rows = "a @b c",
     .steps = {{"a @b c", {BUSY, BUSY, OK_, NO_ANSWER}, OK_}, {"a", {OK_, NO_ANSWER}, OK_}},
     .failures = "1:UNAVAILABLE"},
    {.name = "times of the server's alone are not sent again at all",
     .rows = "@a @b",
     .steps = {{"@a @b", {NO_ANSWER}, BUSY}},
     .failures = "",
     .code = BUSY},
};

static const char *describe_write(rig *it, const mock_request *request)
{
    ms_bt_status bt = {0};
    story out = {it, ""};
    ms_pb_mutate_rows_request *in = ms_pb_unpack(mutate_rows_request, request->message,
                                                 &ms_wire_request_limits, &it->arena, &bt);
    assert_non_null(in);
    assert_str_equal(request->path, SERVICE "MutateRows");
    assert_string_equal(in->table_name, "projects/p/instances/i/tables/t");
    for (size_t i = 0; i < in->n_entries; i++) {
        story_add(&out, ms_wire_bytes_view(in->entries[i]->row_key));
        assert_int_equal(in->entries[i]->n_mutations, 1);
    }
    return out.ptr;
}

static const char *describe_failures(rig *it, const ms_bt_mutate_rows *call)
{
    story out = {it, ""};
    for (uint32_t i = 0; i < ms_bt_mutate_rows_failure_count(call); i++) {
        ms_bt_status bt = {0};
        uint32_t index = ms_bt_mutate_rows_failure(call, i, &bt);
        story_add(&out, ms_arena_format(&it->arena, "%u:%s", index, ms_bt_code_name(bt.code)));
    }
    return out.ptr;
}

static void run_case(const write_case *c)
{
    rig it;
    rig_init(&it);
    mock_answer script[STEPS_MAX];
    size_t count = 0;
    for (; count < STEPS_MAX && c->steps[count].request != NULL; count++) {
        const write_step *step = &c->steps[count];
        script[count] = (mock_answer){.code = step->code};
        if (step->codes[0] != NO_ANSWER) {
            script[count].messages[0] = entries_message(&it, step->codes);
        }
    }
    rig_open(&it, script, count);
    write_call write;
    write_init(&it, &write, c->rows);
    ms_bt_client_mutate_rows(it.client, &write.call);
    ms_bt_call_wait(&write.call.call, &it.parker);
    print_message("  %s: %s\n", c->name, describe_failures(&it, &write.call));
    for (size_t i = 0; i < count && i < mock_request_count(it.server); i++) {
        assert_string_equal(describe_write(&it, mock_request_at(it.server, i)),
                            c->steps[i].request);
    }
    assert_int_equal(mock_request_count(it.server), count);
    assert_int_equal(write.call.call.status.code, c->code);
    assert_string_equal(describe_failures(&it, &write.call), c->failures);
    write_release(&write);
    rig_close(&it);
}

static void entries_are_repeated_as_the_cases_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run_case(&cases[i]);
    }
}

static void writes_carry_their_headers(void **state)
{
    (void)state;
    for (int is_single = 0; is_single <= 1; is_single++) {
        rig it;
        rig_init(&it);
        mock_answer script[] = {{.messages = {entries_message(&it, (int[]){0, -1})}}};
        rig_open(&it, script, 1);
        write_call write;
        write_init(&it, &write, "a");
        write.call.is_single = is_single;
        write.call.call.app_profile = ms_str_lit("batch");
        ms_bt_client_mutate_rows(it.client, &write.call);
        ms_bt_call_wait(&write.call.call, &it.parker);
        assert_int_equal(write.call.call.status.code, MS_BT_OK);
        assert_has_headers(mock_request_at(it.server, 0),
                           is_single ? SERVICE "MutateRow" : SERVICE "MutateRows",
                           "table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft"
                           "&app_profile_id=batch");
        write_release(&write);
        rig_close(&it);
    }
}

static void mutate_row_sends_any_key_and_all_its_mutations(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.messages = {{"", 0}}}};
    rig_open(&it, script, 1);
    static const char key[] = {'\0', '\xff', '\x80', '\n', '\0'};
    ms_status st = {0};
    ms_bt_status bt = {0};
    write_call write;
    write_init(&it, &write, "");
    ms_bt_mutation_batch *batch = &write.batch;
    assert_ok(ms_bt_mutation_batch_begin_row(batch, ms_str_make(key, sizeof(key)), &st));
    assert_ok(ms_bt_mutation_batch_delete_row(batch, &st));
    assert_ok(ms_bt_mutation_batch_set_cell(batch, 0, ms_str_lit("q"), 2000, ms_str_lit("v"), &st));
    ms_bt_mutation_batch_end_row(batch);
    write.call.is_single = true;
    ms_bt_client_mutate_rows(it.client, &write.call);
    ms_bt_call_wait(&write.call.call, &it.parker);
    assert_int_equal(write.call.call.status.code, MS_BT_OK);
    ms_pb_mutate_row_request *in =
        ms_pb_unpack(mutate_row_request, mock_request_at(it.server, 0)->message,
                     &ms_wire_request_limits, &it.arena, &bt);
    assert_non_null(in);
    assert_int_equal(in->row_key.len, sizeof(key));
    assert_memory_equal(in->row_key.data, key, sizeof(key));
    assert_int_equal(in->n_mutations, 2);
    assert_int_equal(in->mutations[0]->mutation_case,
                     GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_ROW);
    assert_int_equal(in->mutations[1]->mutation_case,
                     GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_SET_CELL);
    assert_int_equal(in->mutations[1]->set_cell->timestamp_micros, 2000);
    write_release(&write);
    rig_close(&it);
}

static void mutate_row_with_a_time_of_the_servers_is_not_repeated(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.code = MS_BT_UNAVAILABLE, .has_retry_info = true}};
    rig_open(&it, script, 1);
    write_call write;
    write_init(&it, &write, "@a");
    write.call.is_single = true;
    ms_bt_client_mutate_rows(it.client, &write.call);
    ms_bt_call_wait(&write.call.call, &it.parker);
    assert_int_equal(write.call.call.status.code, MS_BT_UNAVAILABLE);
    assert_int_equal(mock_request_count(it.server), 1);
    write_release(&write);
    rig_close(&it);
}

/* The entry that was answered keeps its outcome when there is no time for another attempt: the
 * server asks for a longer wait than the call has. */
static void a_deadline_ends_only_entries_without_an_answer(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.messages = {entries_message(&it, (int[]){0, -1})},
                             .code = MS_BT_DEADLINE_EXCEEDED,
                             .has_retry_info = true,
                             .retry_delay_ms = 3600000}};
    rig_open(&it, script, 1);
    write_call write;
    write_init(&it, &write, "a b");
    write.call.call.timeout_ms = 60000;
    ms_bt_client_mutate_rows(it.client, &write.call);
    ms_bt_call_wait(&write.call.call, &it.parker);
    assert_int_equal(mock_request_count(it.server), 1);
    assert_int_equal(write.call.call.status.code, MS_BT_OK);
    assert_string_equal(describe_failures(&it, &write.call), "1:DEADLINE_EXCEEDED");
    write_release(&write);
    rig_close(&it);
}

/* Nobody knows what became of the entries, and writing them twice does no harm. */
static void a_write_goes_on_when_its_connection_is_closed(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.is_silent = true},
                            {.messages = {entries_message(&it, (int[]){OK_, OK_, NO_ANSWER})}}};
    rig_open(&it, script, 2);
    write_call write;
    write_init(&it, &write, "a b");
    ms_bt_client_mutate_rows(it.client, &write.call);
    mock_wait_requests(it.server, 1);
    mock_break_connections(it.server);
    ms_bt_call_wait(&write.call.call, &it.parker);
    assert_int_equal(write.call.call.status.code, MS_BT_OK);
    assert_string_equal(describe_failures(&it, &write.call), "");
    assert_int_equal(mock_request_count(it.server), 2);
    assert_string_equal(describe_write(&it, mock_request_at(it.server, 1)), "a b");
    write_release(&write);
    rig_close(&it);
}

static void writes_in_flight_can_be_given_up(void **state)
{
    (void)state;
    enum { WRITES = 3 };
    rig it;
    rig_init(&it);
    mock_answer script[WRITES] = {{.is_silent = true}, {.is_silent = true}, {.is_silent = true}};
    rig_open(&it, script, WRITES);
    write_call writes[WRITES];
    for (int i = 0; i < WRITES; i++) {
        write_init(&it, &writes[i], "a");
        ms_bt_client_mutate_rows(it.client, &writes[i].call);
    }
    mock_wait_requests(it.server, WRITES);
    for (int i = 0; i < WRITES; i++) {
        ms_bt_call_cancel(&writes[i].call.call);
    }
    for (int i = 0; i < WRITES; i++) {
        ms_bt_call_wait(&writes[i].call.call, &it.parker);
        assert_int_equal(writes[i].call.call.status.code, MS_BT_CANCELLED);
        write_release(&writes[i]);
    }
    mock_wait_canceled(it.server, WRITES);
    rig_close(&it);
}

static void writes_at_the_same_time_get_each_its_own_outcome(void **state)
{
    (void)state;
    enum { WRITES = 3 };
    static const char *const keys[WRITES] = {"ka", "kb", "kc"};
    static const int codes[WRITES] = {OK_, DENIED, MS_BT_NOT_FOUND};
    static const char *const failures[WRITES] = {"", "0:PERMISSION_DENIED", "0:NOT_FOUND"};
    for (int is_single = 0; is_single <= 1; is_single++) {
        rig it;
        rig_init(&it);
        mock_answer script[WRITES] = {0};
        write_call writes[WRITES];
        for (int i = 0; i < WRITES; i++) {
            script[i].when = ms_str_cstr(keys[i]);
            script[i].code = is_single ? codes[i] : MS_BT_OK;
            script[i].messages[0] = entries_message(&it, (int[]){codes[i], NO_ANSWER});
        }
        rig_open(&it, script, WRITES);
        mock_gather(it.server, WRITES);
        for (int i = 0; i < WRITES; i++) {
            write_init(&it, &writes[i], keys[i]);
            writes[i].call.is_single = is_single;
            ms_bt_client_mutate_rows(it.client, &writes[i].call);
        }
        for (int i = 0; i < WRITES; i++) {
            ms_bt_mutate_rows *call = &writes[i].call;
            ms_bt_call_wait(&call->call, &it.parker);
            assert_int_equal(call->call.status.code, is_single ? codes[i] : MS_BT_OK);
            assert_string_equal(describe_failures(&it, call), is_single ? "" : failures[i]);
            write_release(&writes[i]);
        }
        assert_int_equal(mock_request_count(it.server), WRITES);
        rig_close(&it);
    }
}

/* A service that is loaded: ten requests a second, less three tenths. */
static ms_str slow_message(rig *it)
{
    ms_status st = {0};
    ms_buf bytes;
    ms_buf_init(&bytes, BYTES_MAX);
    assert_ok(ms_buf_append(&bytes, entries_message(it, (int[]){OK_, NO_ANSWER}), &st));
    assert_ok(ms_wire_rate_limit_encode(10000000, 0.5, &bytes, &st));
    ms_str copy = ms_arena_copy_str(&it->arena, ms_buf_view(&bytes));
    ms_buf_release(&bytes);
    return copy;
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* Moves the clock, and sees that the client has acted on it. */
static void pass_ms(rig *it, ms_env_clock *clock, int64_t ms)
{
    ms_env_clock_advance_us(clock, ms * 1000);
    ms_loop_call(it->loop, do_nothing, NULL);
}

#define PACED 4

typedef struct paced {
    ms_env_clock clock;
    rig it;
    mock_answer script[PACED];
    write_call writes[PACED];
} paced;

/* Four writes at once, of which the first brought the pace: the second is done too, the others wait
 * for their turns, at most so long. */
static void begin_paced(paced *own, const int64_t timeouts_ms[PACED])
{
    static const char *const keys[PACED] = {"ka", "kb", "kc", "kd"};
    *own = (paced){.clock = {.wall_us = 1700000000000000, .mono_ns = 1000 * MS_NS}};
    ms_env_set_clock(&own->clock);
    rig_init(&own->it);
    for (int i = 0; i < PACED; i++) {
        own->script[i].messages[0] =
            i == 0 ? slow_message(&own->it) : entries_message(&own->it, (int[]){OK_, NO_ANSWER});
    }
    rig_open(&own->it, own->script, PACED);
    for (int i = 0; i < PACED; i++) {
        write_init(&own->it, &own->writes[i], keys[i]);
        own->writes[i].call.call.timeout_ms = timeouts_ms[i];
        ms_bt_client_mutate_rows(own->it.client, &own->writes[i].call);
        if (i < 2) {
            ms_bt_call_wait(&own->writes[i].call.call, &own->it.parker);
        }
    }
}

/* All are over; one, which was never sent, with this code. */
static void end_paced(paced *own, int unsent, ms_bt_code code)
{
    for (int i = 0; i < PACED; i++) {
        assert_int_equal(own->writes[i].call.call.status.code, i != unsent ? MS_BT_OK : code);
        write_release(&own->writes[i]);
    }
    assert_int_equal(mock_request_count(own->it.server), PACED - 1);
    rig_close(&own->it);
    ms_env_set_clock(NULL);
}

static void writes_begin_as_fast_as_the_service_says(void **state)
{
    (void)state;
    static paced own;
    begin_paced(&own, (const int64_t[PACED]){0});
    pass_ms(&own.it, &own.clock, 142);
    assert_int_equal(mock_request_count(own.it.server), 2);
    pass_ms(&own.it, &own.clock, 1);
    ms_bt_call_wait(&own.writes[2].call.call, &own.it.parker);
    /* One that waits for its turn can be given up. */
    ms_bt_call_cancel(&own.writes[3].call.call);
    ms_bt_call_wait(&own.writes[3].call.call, &own.it.parker);
    pass_ms(&own.it, &own.clock, 1000);
    end_paced(&own, 3, MS_BT_CANCELLED);
}

static void a_write_whose_turn_comes_after_its_deadline_fails_at_once(void **state)
{
    (void)state;
    static paced own;
    begin_paced(&own, (const int64_t[PACED]){60000, 60000, 142, 60000});
    pass_ms(&own.it, &own.clock, 0);
    (void)ms_mailbox_deliver(&own.it.mailbox, 1);
    assert_false(own.writes[2].call.call.outstanding);
    /* The turn is the next one's. */
    pass_ms(&own.it, &own.clock, 143);
    ms_bt_call_wait(&own.writes[3].call.call, &own.it.parker);
    end_paced(&own, 2, MS_BT_DEADLINE_EXCEEDED);
}

static void wake_nobody(void *arg)
{
    (void)arg;
}

/* Other calls have it from their common part; reads in their options. */
static void a_write_and_a_read_that_reach_no_server_end_when_they_may(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    rig_connect(&it, ms_str_lit("unix:/nowhere/of/a/server"), false);
    write_call write;
    write_init(&it, &write, "a");
    write.call.is_single = true;
    write.call.call.reach_ms = 1;
    ms_bt_client_mutate_rows(it.client, &write.call);
    ms_bt_call_wait(&write.call.call, &it.parker);
    assert_int_equal(write.call.call.status.code, MS_BT_UNAVAILABLE);
    assert_non_null(strstr(write.call.call.status.text, "(no server was reached for "));
    write_release(&write);

    ms_bt_read_options options = {.table = table, .reach_ms = 1};
    ms_bt_read *read = ms_bt_client_read_rows(it.client, &options, &it.mailbox, wake_nobody, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &it.parker, &page), MS_BT_POLL_FAILED);
    assert_non_null(strstr(ms_bt_read_status(read)->text, "(no server was reached for "));
    assert_true(ms_bt_read_close(read, NULL, NULL));
    rig_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_repeated_as_the_cases_say),
        cmocka_unit_test(writes_carry_their_headers),
        cmocka_unit_test(mutate_row_sends_any_key_and_all_its_mutations),
        cmocka_unit_test(mutate_row_with_a_time_of_the_servers_is_not_repeated),
        cmocka_unit_test(a_deadline_ends_only_entries_without_an_answer),
        cmocka_unit_test(a_write_goes_on_when_its_connection_is_closed),
        cmocka_unit_test(writes_in_flight_can_be_given_up),
        cmocka_unit_test(writes_at_the_same_time_get_each_its_own_outcome),
        cmocka_unit_test(writes_begin_as_fast_as_the_service_says),
        cmocka_unit_test(a_write_whose_turn_comes_after_its_deadline_fails_at_once),
        cmocka_unit_test(a_write_and_a_read_that_reach_no_server_end_when_they_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
