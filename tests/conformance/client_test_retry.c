/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is the same for every method that is repeated: routing cookies, RetryInfo, backoff,
 * deadlines and giving up. Each rule runs over each method. Times are lower bounds only, so a busy
 * machine does not matter.
 */
#include "client_testing.h"
#include "net/raw.h"
#include "os/thread.h"

/* A call of some method with its smallest request; gives the code of the outcome. */
typedef ms_bt_code (*call_fn)(rig *it, int64_t timeout_ms);

static ms_bt_code call_read(rig *it, int64_t timeout_ms)
{
    ms_str key = ms_str_lit("r");
    ms_bt_read_options options = {.table = table,
                                  .rows = {.keys = &key, .key_count = 1},
                                  .rows_limit = 1,
                                  .timeout_ms = timeout_ms};
    const ms_bt_page *page = NULL;
    ms_bt_read *read =
        ms_bt_client_read_rows(it->client, &options, &it->mailbox, wake_nothing, NULL);
    ms_bt_poll poll = ms_bt_read_wait(read, &it->parker, &page);
    ms_bt_code code = poll == MS_BT_POLL_END ? MS_BT_OK : ms_bt_read_status(read)->code;
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return code;
}

static ms_bt_code call_write(rig *it, int64_t timeout_ms, bool is_single)
{
    write_call write;
    write_init(it, &write, "r");
    write.call.is_single = is_single;
    write.call.call.timeout_ms = timeout_ms;
    ms_bt_client_mutate_rows(it->client, &write.call);
    ms_bt_call_wait(&write.call.call, &it->parker);
    ms_bt_code code = write.call.call.status.code;
    write_release(&write);
    return code;
}

static ms_bt_code call_mutate_row(rig *it, int64_t timeout_ms)
{
    return call_write(it, timeout_ms, true);
}

static ms_bt_code call_mutate_rows(rig *it, int64_t timeout_ms)
{
    return call_write(it, timeout_ms, false);
}

static ms_bt_code call_sample(rig *it, int64_t timeout_ms)
{
    ms_bt_sample_row_keys sample;
    ms_bt_sample_row_keys_init(&sample, &it->mailbox, done_nothing, NULL);
    sample.table = &table;
    sample.call.timeout_ms = timeout_ms;
    ms_bt_client_sample_row_keys(it->client, &sample);
    ms_bt_call_wait(&sample.call, &it->parker);
    ms_bt_code code = sample.call.status.code;
    ms_bt_sample_row_keys_release(&sample);
    return code;
}

typedef struct method {
    const char *name;
    const char *path;
    call_fn call;
} method;

static const method methods[] = {
    {"ReadRows", SERVICE "ReadRows", call_read},
    {"MutateRow", SERVICE "MutateRow", call_mutate_row},
    {"MutateRows", SERVICE "MutateRows", call_mutate_rows},
    {"SampleRowKeys", SERVICE "SampleRowKeys", call_sample},
};

#define METHODS (sizeof(methods) / sizeof(methods[0]))

/* An answer with which each of these methods is content. */
static mock_answer good_answer(rig *it, const method *m)
{
    mock_answer answer = {.code = MS_BT_OK};
    if (m->call == call_mutate_rows) {
        answer.messages[0] = entries_message(it, (int[]){0, -1});
    } else if (m->call == call_mutate_row) {
        answer.messages[0] = (ms_str){"", 0};
    }
    return answer;
}

static void open_with(rig *it, const method *m, mock_answer *script, size_t failures)
{
    rig_init(it);
    script[failures] = good_answer(it, m);
    rig_open(it, script, failures + 1);
}

/* Cookies. */

typedef struct cookie_case {
    const char *given[3]; /* by the failures, one after the other; NULL: none */
    const char *sent[4];  /* with the requests; empty: none */
} cookie_case;

static const cookie_case cookie_cases[] = {
    {.given = {"one"}, .sent = {"", "one", "one", "one"}}, /* a later failure without keeps it */
    {.given = {"one", NULL, "two"}, .sent = {"", "one", "one", "two"}},
    {.given = {NULL, "one", "two"}, .sent = {"", "", "one", "two"}},
};

static void cookies_of_failures_go_with_the_next_request(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS * (sizeof(cookie_cases) / sizeof(cookie_cases[0])); i++) {
        const method *m = &methods[i % METHODS];
        const cookie_case *c = &cookie_cases[i / METHODS];
        rig it;
        mock_answer script[4];
        for (int k = 0; k < 3; k++) {
            script[k] = (mock_answer){.code = MS_BT_UNAVAILABLE};
            if (c->given[k] != NULL) {
                script[k].trailers[0] =
                    (ms_grpc_pair){ms_str_lit(COOKIE), ms_str_cstr(c->given[k])};
                script[k].trailers[1] =
                    (ms_grpc_pair){ms_str_lit("x-goog-other"), ms_str_lit("not a cookie")};
            }
        }
        open_with(&it, m, script, 3);
        assert_int_equal(m->call(&it, 0), MS_BT_OK);
        assert_int_equal(mock_request_count(it.server), 4);
        for (int k = 0; k < 4; k++) {
            const mock_request *request = mock_request_at(it.server, k);
            assert_str_equal(request->path, m->path);
            assert_str_equal(header_of(request, COOKIE), c->sent[k]);
            assert_int_equal(header_of(request, "x-goog-other").bytes, 0);
        }
        rig_close(&it);
    }
}

/* Every cookie of a failure goes, whatever its name behind the prefix. */
static void several_cookies_go_together(void **state)
{
    (void)state;
    rig it;
    mock_answer script[2] = {{.code = MS_BT_UNAVAILABLE,
                              .trailers = {{ms_str_lit("x-goog-cbt-cookie-a"), ms_str_lit("1")},
                                           {ms_str_lit("x-goog-cbt-cookie-b"), ms_str_lit("2")}}}};
    open_with(&it, &methods[0], script, 1);
    assert_int_equal(methods[0].call(&it, 0), MS_BT_OK);
    assert_str_equal(header_of(mock_request_at(it.server, 1), "x-goog-cbt-cookie-a"), "1");
    assert_str_equal(header_of(mock_request_at(it.server, 1), "x-goog-cbt-cookie-b"), "2");
    rig_close(&it);
}

/* Cookies belong to one operation. */
static void cookies_do_not_leak_into_the_next_call(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {
        {.code = MS_BT_UNAVAILABLE, .trailers = {{ms_str_lit(COOKIE), ms_str_lit("one")}}},
        {.code = MS_BT_OK},
        {.code = MS_BT_OK}};
    rig_open(&it, script, 3);
    assert_int_equal(call_sample(&it, 0), MS_BT_OK);
    assert_int_equal(call_sample(&it, 0), MS_BT_OK);
    assert_str_equal(header_of(mock_request_at(it.server, 1), COOKIE), "one");
    assert_int_equal(header_of(mock_request_at(it.server, 2), COOKIE).bytes, 0);
    rig_close(&it);
}

/* RetryInfo and backoff. */

static int64_t gap_ns(const rig *it, size_t before)
{
    return mock_request_at(it->server, before + 1)->at_ns -
           mock_request_at(it->server, before)->at_ns;
}

static void the_server_says_when_to_come_back(void **state)
{
    (void)state;
    static const ms_bt_code codes[] = {MS_BT_UNAVAILABLE, MS_BT_RESOURCE_EXHAUSTED};
    for (size_t i = 0; i < METHODS * 2; i++) {
        const method *m = &methods[i % METHODS];
        rig it;
        mock_answer script[3];
        for (int k = 0; k < 2; k++) {
            script[k] = (mock_answer){
                .code = codes[i / METHODS], .has_retry_info = true, .retry_delay_ms = 60};
        }
        open_with(&it, m, script, 2);
        ms_bt_code code = m->call(&it, 0);
        if (code != MS_BT_OK) {
            fail_msg("%s: %s", m->name, ms_bt_code_name(code));
        }
        assert_int_equal(mock_request_count(it.server), 3);
        assert_true(gap_ns(&it, 0) >= 60 * MS_NS);
        assert_true(gap_ns(&it, 1) >= 60 * MS_NS);
        rig_close(&it);
    }
}

static void backoff_grows_where_the_server_says_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS; i++) {
        rig it;
        mock_answer script[4] = {
            {.code = MS_BT_UNAVAILABLE}, {.code = MS_BT_UNAVAILABLE}, {.code = MS_BT_UNAVAILABLE}};
        open_with(&it, &methods[i], script, 3);
        assert_int_equal(methods[i].call(&it, 0), MS_BT_OK);
        assert_int_equal(mock_request_count(it.server), 4);
        /* 10, 20 and 40 ms, less a quarter at most. */
        assert_true(gap_ns(&it, 0) >= 7 * MS_NS);
        assert_true(gap_ns(&it, 1) >= 15 * MS_NS);
        assert_true(gap_ns(&it, 2) >= 30 * MS_NS);
        rig_close(&it);
    }
}

/* One failure with RetryInfo and one without: the own backoff takes over where nothing is said, and
 * stands where it would stand without the server's word. */
static void backoff_follows_what_the_server_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS; i++) {
        rig it;
        mock_answer script[3] = {
            {.code = MS_BT_UNAVAILABLE, .has_retry_info = true, .retry_delay_ms = 60},
            {.code = MS_BT_UNAVAILABLE}};
        open_with(&it, &methods[i], script, 2);
        assert_int_equal(methods[i].call(&it, 0), MS_BT_OK);
        assert_int_equal(mock_request_count(it.server), 3);
        assert_true(gap_ns(&it, 0) >= 60 * MS_NS);
        assert_true(gap_ns(&it, 1) >= 15 * MS_NS);
        rig_close(&it);
    }
}

/* A wait that cannot end in time is not begun. */
static void the_deadline_wins_over_what_the_server_asks(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS; i++) {
        rig it;
        mock_answer script[2] = {
            {.code = MS_BT_UNAVAILABLE, .has_retry_info = true, .retry_delay_ms = 3600000}};
        open_with(&it, &methods[i], script, 1);
        assert_int_equal(methods[i].call(&it, 60000), MS_BT_UNAVAILABLE);
        assert_int_equal(mock_request_count(it.server), 1);
        rig_close(&it);
    }
}

/* Ends. */

static void a_server_that_is_silent_is_left_at_the_deadline(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS; i++) {
        rig it;
        rig_init(&it);
        mock_answer script[] = {{.is_silent = true}};
        rig_open(&it, script, 1);
        int64_t start_ns = ms_env_mono_ns();
        assert_int_equal(methods[i].call(&it, 250), MS_BT_DEADLINE_EXCEEDED);
        assert_true(ms_env_mono_ns() - start_ns >= 250 * MS_NS);
        assert_true(mock_request_count(it.server) <= 1);
        rig_close(&it);
    }
}

static void what_is_no_passing_failure_is_not_repeated(void **state)
{
    (void)state;
    static const ms_bt_code codes[] = {MS_BT_PERMISSION_DENIED, MS_BT_NOT_FOUND,
                                       MS_BT_FAILED_PRECONDITION, MS_BT_INVALID_ARGUMENT};
    for (size_t i = 0; i < METHODS * 4; i++) {
        rig it;
        mock_answer script[2] = {{.code = codes[i / METHODS]}};
        open_with(&it, &methods[i % METHODS], script, 1);
        assert_int_equal(methods[i % METHODS].call(&it, 0), codes[i / METHODS]);
        assert_int_equal(mock_request_count(it.server), 1);
        rig_close(&it);
    }
}

/* A call on a thread of its own, so that the test can be the server. */
typedef struct side_call {
    rig *it;
    call_fn fn;
    ms_bt_code code;
} side_call;

static void run_side_call(void *arg)
{
    side_call *side = arg;
    side->code = side->fn(side->it, 0);
}

static void what_waiting_does_not_change_is_not_repeated(void **state)
{
    (void)state;
    static raw_peer peer;
    for (size_t i = 0; i < METHODS; i++) {
        uint16_t port = 0;
        int listen_fd = raw_listen(&port);
        char target[32];
        snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
        rig it;
        rig_init(&it);
        rig_connect(&it, ms_str_cstr(target), false);
        side_call side = {.it = &it, .fn = methods[i].call};
        ms_thread thread;
        ms_status st = {0};
        assert_ok(ms_thread_start(&thread, "call", run_side_call, &side, &st));
        /* The alert of a server that expects TLS. */
        raw_accept(&peer, listen_fd);
        raw_write(&peer, "\x15\x03\x01\x00\x02\x02\x46", 7);
        ms_thread_join(&thread);
        assert_int_equal(side.code, MS_BT_UNAVAILABLE);
        raw_close(&peer);
        close(listen_fd);
        rig_close(&it);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cookies_of_failures_go_with_the_next_request),
        cmocka_unit_test(several_cookies_go_together),
        cmocka_unit_test(cookies_do_not_leak_into_the_next_call),
        cmocka_unit_test(the_server_says_when_to_come_back),
        cmocka_unit_test(backoff_grows_where_the_server_says_nothing),
        cmocka_unit_test(backoff_follows_what_the_server_said),
        cmocka_unit_test(the_deadline_wins_over_what_the_server_asks),
        cmocka_unit_test(a_server_that_is_silent_is_left_at_the_deadline),
        cmocka_unit_test(what_is_no_passing_failure_is_not_repeated),
        cmocka_unit_test(what_waiting_does_not_change_is_not_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
