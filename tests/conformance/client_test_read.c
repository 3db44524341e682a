/* SPDX-License-Identifier: Apache-2.0 */
/* ReadRows and ReadRow over gRPC: what is asked first, what again after a failure, what arrives. */
#include "client_testing.h"

#define KEYS_MAX 3
#define RANGES_MAX 2
#define STEPS_MAX 4

typedef struct case_bound {
    ms_bt_bound_kind kind;
    const char *key;
} case_bound;

typedef struct case_range {
    case_bound start;
    case_bound end;
} case_range;

/* One request that must come, and what the server says to it. */
typedef struct read_step {
    const char *request; /* as describe_read; NULL: no such step */
    const char *rows;    /* keys; NULL: no message */
    const char *half;    /* a row that is begun and not committed */
    const char *scanned; /* a message that reports this key */
    ms_bt_code code;
} read_step;

typedef struct read_case {
    const char *name;
    const char *keys[KEYS_MAX];
    case_range ranges[RANGES_MAX];
    int64_t limit;
    bool is_reversed;
    read_step steps[STEPS_MAX];
    const char *result; /* what read_all gives begins so */
    const char *says;   /* and has this in it, where set */
} read_case;

#define CLOSED(key)                                                                                \
    {                                                                                              \
        MS_BT_BOUND_CLOSED, key                                                                    \
    }
#define OPEN(key)                                                                                  \
    {                                                                                              \
        MS_BT_BOUND_OPEN, key                                                                      \
    }
#define NO_BOUND                                                                                   \
    {                                                                                              \
        MS_BT_BOUND_NONE, ""                                                                       \
    }

static const read_case cases[] = {
    /* What the caller wants is what is asked. */
    {.name = "a table without rows", .steps = {{.request = "everything"}}, .result = "| OK"},
    {.name = "one row that is there",
     .keys = {"a"},
     .limit = 1,
     .steps = {{.request = "a limit 1", .rows = "a"}},
     .result = "a | OK"},
    {.name = "one row that is not",
     .keys = {"a"},
     .limit = 1,
     .steps = {{.request = "a limit 1"}},
     .result = "| OK"},
    {.name = "several keys",
     .keys = {"a", "m", "z"},
     .steps = {{.request = "a m z", .rows = "a m z"}},
     .result = "a m z | OK"},
    {.name = "several ranges",
     .ranges = {{CLOSED("a"), OPEN("c")}, {OPEN("m"), CLOSED("n")}},
     .steps = {{.request = "[a,c) (m,n]", .rows = "a b n"}},
     .result = "a b n | OK"},
    {.name = "a range without an end",
     .ranges = {{CLOSED("m"), NO_BOUND}},
     .steps = {{.request = "[m,*)", .rows = "m z"}},
     .result = "m z | OK"},
    {.name = "a range without a start",
     .ranges = {{NO_BOUND, OPEN("m")}},
     .steps = {{.request = "(*,m)", .rows = "a b"}},
     .result = "a b | OK"},

    /* The order of keys. */
    {.name = "rows out of order",
     .steps = {{.request = "everything", .rows = "01 07 03"}},
     .result = "01 07 | INTERNAL",
     .says = "increasing"},
    {.name = "a row twice",
     .steps = {{.request = "everything", .rows = "a a"}},
     .result = "a | INTERNAL",
     .says = "increasing"},
    {.name = "rows out of order, reversed",
     .is_reversed = true,
     .steps = {{.request = "everything reversed", .rows = "07 03 05"}},
     .result = "07 03 | INTERNAL",
     .says = "decreasing"},
    {.name = "a row from before the failure",
     .steps = {{.request = "everything", .rows = "a b", .code = MS_BT_UNAVAILABLE},
               {.request = "(b,*)", .rows = "b c"}},
     .result = "a b | INTERNAL",
     .says = "increasing"},
    {.name = "a stream that ends inside a row",
     .steps = {{.request = "everything", .rows = "a", .half = "b"}},
     .result = "a | INTERNAL",
     .says = "inside a row"},
    {.name = "a stream that ends inside its first row",
     .steps = {{.request = "everything", .half = "b"}},
     .result = "| INTERNAL",
     .says = "inside a row"},
    {.name = "a row out of order behind half a row",
     .steps = {{.request = "everything", .rows = "b", .half = "a"}},
     .result = "b | INTERNAL",
     .says = "increasing"},

    /* Where a read goes on. */
    {.name = "a scan that is interrupted",
     .steps = {{.request = "everything", .rows = "abar", .code = MS_BT_ABORTED},
               {.request = "(abar,*)", .rows = "zbar"}},
     .result = "abar zbar | OK"},
    {.name = "a scan that is interrupted again and again",
     .steps = {{.request = "everything", .code = MS_BT_DEADLINE_EXCEEDED},
               {.request = "everything", .rows = "a", .code = MS_BT_UNAVAILABLE},
               {.request = "(a,*)", .code = MS_BT_ABORTED},
               {.request = "(a,*)", .rows = "b"}},
     .result = "a b | OK"},
    {.name = "half a row is forgotten",
     .steps = {{.request = "everything", .rows = "a", .half = "b", .code = MS_BT_UNAVAILABLE},
               {.request = "(a,*)", .rows = "b"}},
     .result = "a b | OK"},
    {.name = "half a first row is forgotten",
     .steps = {{.request = "everything", .half = "a", .code = MS_BT_UNAVAILABLE},
               {.request = "everything", .rows = "b"}},
     .result = "b | OK"},
    {.name = "the last scanned row",
     .steps =
         {{.request = "everything", .rows = "abar", .scanned = "qfoo", .code = MS_BT_UNAVAILABLE},
          {.request = "(qfoo,*)", .rows = "zbar"}},
     .result = "abar zbar | OK"},
    {.name = "the last scanned row, reversed",
     .is_reversed = true,
     .steps = {{.request = "everything reversed",
                .rows = "zbar",
                .scanned = "qfoo",
                .code = MS_BT_UNAVAILABLE},
               {.request = "(*,qfoo) reversed", .rows = "abar"}},
     .result = "zbar abar | OK"},
    {.name = "keys that are left",
     .keys = {"a", "b", "c"},
     .steps = {{.request = "a b c", .rows = "a", .code = MS_BT_UNAVAILABLE},
               {.request = "b c", .rows = "c"}},
     .result = "a c | OK"},
    {.name = "keys that are left, reversed",
     .keys = {"a", "b", "c"},
     .is_reversed = true,
     .steps = {{.request = "a b c reversed", .rows = "c", .code = MS_BT_UNAVAILABLE},
               {.request = "a b reversed", .rows = "a"}},
     .result = "c a | OK"},
    {.name = "ranges that are left",
     .ranges = {{CLOSED("a"), OPEN("c")}, {CLOSED("m"), CLOSED("n")}},
     .steps = {{.request = "[a,c) [m,n]", .rows = "b m", .code = MS_BT_UNAVAILABLE},
               {.request = "(m,n]", .rows = "n"}},
     .result = "b m n | OK"},
    {.name = "ranges that are left, reversed",
     .ranges = {{CLOSED("a"), OPEN("c")}, {CLOSED("m"), CLOSED("n")}},
     .is_reversed = true,
     .steps = {{.request = "[a,c) [m,n] reversed", .rows = "n m", .code = MS_BT_UNAVAILABLE},
               {.request = "[a,c) reversed", .rows = "b"}},
     .result = "n m b | OK"},
    {.name = "what is left of a limit",
     .limit = 3,
     .steps = {{.request = "everything limit 3", .rows = "a b", .code = MS_BT_UNAVAILABLE},
               {.request = "(b,*) limit 1", .rows = "c"}},
     .result = "a b c | OK"},

    /* When nothing is left, a failure is none. */
    {.name = "a failure behind the limit",
     .limit = 1,
     .steps = {{.request = "everything limit 1", .rows = "a", .code = MS_BT_DEADLINE_EXCEEDED}},
     .result = "a | OK"},
    {.name = "a failure behind the last key",
     .keys = {"a", "b"},
     .steps = {{.request = "a b", .rows = "a b", .code = MS_BT_UNAVAILABLE}},
     .result = "a b | OK"},
    {.name = "a failure behind the end of the range",
     .ranges = {{CLOSED("a"), CLOSED("b")}},
     .steps = {{.request = "[a,b]", .rows = "a b", .code = MS_BT_UNAVAILABLE}},
     .result = "a b | OK"},
    {.name = "a failure behind the start of the range, reversed",
     .ranges = {{CLOSED("a"), CLOSED("b")}},
     .is_reversed = true,
     .steps = {{.request = "[a,b] reversed", .rows = "b a", .code = MS_BT_UNAVAILABLE}},
     .result = "b a | OK"},
    {.name = "a failure when all keys were scanned",
     .keys = {"a", "b"},
     .steps = {{.request = "a b", .rows = "a", .scanned = "b", .code = MS_BT_UNAVAILABLE}},
     .result = "a | OK"},

    /* What is not repeated. */
    {.name = "a refusal",
     .steps = {{.request = "everything", .code = MS_BT_PERMISSION_DENIED}},
     .result = "| PERMISSION_DENIED: as scripted"},
    {.name = "a refusal behind rows",
     .steps = {{.request = "everything", .rows = "a b", .code = MS_BT_PERMISSION_DENIED}},
     .result = "a b | PERMISSION_DENIED: as scripted"},
};

static ms_str half_message(rig *it, const char *key)
{
    return chunk_message(it, key, "f", false);
}

/* The script of a case; returns its length. */
static size_t make_script(rig *it, const read_case *c, mock_answer script[STEPS_MAX])
{
    size_t count = 0;
    for (; count < STEPS_MAX && c->steps[count].request != NULL; count++) {
        const read_step *step = &c->steps[count];
        size_t messages = 0;
        script[count] = (mock_answer){.code = step->code, .text = "as scripted"};
        if (step->rows != NULL) {
            script[count].messages[messages++] = rows_message(it, step->rows);
        }
        if (step->scanned != NULL) {
            script[count].messages[messages++] = scanned_message(it, step->scanned);
        }
        if (step->half != NULL) {
            script[count].messages[messages++] = half_message(it, step->half);
        }
    }
    return count;
}

static void run_case(const read_case *c)
{
    rig it;
    rig_init(&it);
    mock_answer script[STEPS_MAX];
    size_t count = make_script(&it, c, script);
    rig_open(&it, script, count);
    ms_str keys[KEYS_MAX];
    ms_bt_range ranges[RANGES_MAX];
    ms_bt_read_options options = {.table = table,
                                  .rows = {.keys = keys, .ranges = ranges},
                                  .rows_limit = c->limit,
                                  .is_reversed = c->is_reversed};
    for (size_t i = 0; i < KEYS_MAX && c->keys[i] != NULL; i++) {
        keys[options.rows.key_count++] = ms_str_cstr(c->keys[i]);
    }
    for (size_t i = 0; i < RANGES_MAX && c->ranges[i].start.key != NULL; i++) {
        const case_range *range = &c->ranges[i];
        ranges[options.rows.range_count++] =
            (ms_bt_range){ms_bt_bound_make(range->start.kind, ms_str_cstr(range->start.key)),
                          ms_bt_bound_make(range->end.kind, ms_str_cstr(range->end.key))};
    }
    const char *result = read_all(&it, &options);
    print_message("  %s: %s\n", c->name, result);
    assert_begins(result, c->result);
    if (c->says != NULL) {
        assert_non_null(strstr(result, c->says));
    }
    for (size_t i = 0; i < count && i < mock_request_count(it.server); i++) {
        assert_string_equal(describe_read(&it, mock_request_at(it.server, i)), c->steps[i].request);
    }
    assert_int_equal(mock_request_count(it.server), count);
    rig_close(&it);
}

static void reads_ask_and_resume_as_the_cases_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run_case(&cases[i]);
    }
}

static void a_read_carries_its_headers(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.code = MS_BT_OK}};
    rig_open(&it, script, 1);
    ms_bt_read_options options = {.table = table, .app_profile = ms_str_lit("my/profile")};
    assert_string_equal(read_all(&it, &options), "| OK");
    assert_has_headers(mock_request_at(it.server, 0), SERVICE "ReadRows",
                       "table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft"
                       "&app_profile_id=my%2Fprofile");
    rig_close(&it);
}

static void all_features_are_announced_where_that_is_wanted(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.code = MS_BT_OK}};
    rig_open_with(&it, script, 1, true);
    assert_string_equal(read_all(&it, &(ms_bt_read_options){.table = table}), "| OK");
    uint32_t features = 0;
    ms_str text = header_of(mock_request_at(it.server, 0), "bigtable-features");
    assert_int_equal(text.bytes % 4, 0);
    assert_true(ms_wire_features_decode(text, &features));
    assert_int_equal(features, MS_WIRE_FEATURES_ALL);
    rig_close(&it);
}

static void a_row_may_be_committed_by_a_later_chunk(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {
        {.messages = {chunk_message(&it, "a", "A", false), chunk_message(&it, "", "B", true)}}};
    rig_open(&it, script, 1);
    ms_bt_read *read = ms_bt_client_read_rows(it.client, &(ms_bt_read_options){.table = table},
                                              &it.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &it.parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->row_count, 1);
    assert_int_equal(page->cell_count, 2);
    assert_str_equal(ms_bt_page_family(page, &page->cells[0]), "A");
    assert_str_equal(ms_bt_page_family(page, &page->cells[1]), "B");
    ms_bt_read_return(read, page);
    assert_int_equal(ms_bt_read_wait(read, &it.parker, &page), MS_BT_POLL_END);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    rig_close(&it);
}

/* Rows that came before a failure are taken one by one first; the read goes on behind the last. */
static void a_slow_reader_loses_nothing_to_a_failure(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.messages = {rows_message(&it, "1 2 3"), rows_message(&it, "4 5")},
                             .code = MS_BT_UNAVAILABLE},
                            {.messages = {rows_message(&it, "6")}}};
    rig_open(&it, script, 2);
    ms_bt_read_options options = {.table = table, .page_rows_max = 1};
    assert_string_equal(read_all(&it, &options), "1 2 3 4 5 6 | OK");
    assert_string_equal(describe_read(&it, mock_request_at(it.server, 1)), "(5,*)");
    rig_close(&it);
}

/* More failures than attempts are allowed, but each attempt came further: by a row, resp. only by
 * what the server says that it has looked at. */
static void attempts_that_come_further_do_not_count(void **state)
{
    (void)state;
    enum { FAILURES = 12 };
    for (int has_rows = 0; has_rows <= 1; has_rows++) {
        rig it;
        rig_init(&it);
        mock_answer script[FAILURES + 1] = {{.code = MS_BT_OK}};
        for (int i = 0; i < FAILURES; i++) {
            const char key[] = {(char)('a' + i), '\0'};
            const char *kept = ms_wire_text(&it.arena, ms_str_cstr(key));
            script[i] = (mock_answer){
                .messages = {has_rows ? rows_message(&it, kept) : scanned_message(&it, kept)},
                .code = MS_BT_UNAVAILABLE};
        }
        script[FAILURES] = (mock_answer){.code = MS_BT_OK};
        rig_open(&it, script, FAILURES + 1);
        assert_string_equal(read_all(&it, &(ms_bt_read_options){.table = table}),
                            has_rows ? "a b c d e f g h i j k l | OK" : "| OK");
        assert_int_equal(mock_request_count(it.server), FAILURES + 1);
        assert_string_equal(describe_read(&it, mock_request_at(it.server, FAILURES)), "(l,*)");
        rig_close(&it);
    }
}

static void a_read_goes_on_when_its_connection_is_closed(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.messages = {rows_message(&it, "abar")}, .is_silent = true},
                            {.messages = {rows_message(&it, "qbar zbar")}}};
    rig_open(&it, script, 2);
    ms_bt_read *read = ms_bt_client_read_rows(it.client, &(ms_bt_read_options){.table = table},
                                              &it.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &it.parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->row_count, 1);
    ms_bt_read_return(read, page);
    mock_break_connections(it.server);
    assert_int_equal(ms_bt_read_wait(read, &it.parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->row_count, 2);
    ms_bt_read_return(read, page);
    assert_int_equal(ms_bt_read_wait(read, &it.parker, &page), MS_BT_POLL_END);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    assert_int_equal(mock_request_count(it.server), 2);
    assert_string_equal(describe_read(&it, mock_request_at(it.server, 1)), "(abar,*)");
    rig_close(&it);
}

static void reads_at_the_same_time_get_each_its_own_rows(void **state)
{
    (void)state;
    enum { READS = 4 };
    static const char *const keys[READS] = {"ka", "kb", "kc", "kd"};
    rig it;
    rig_init(&it);
    mock_answer script[READS];
    for (int i = 0; i < READS; i++) {
        int other = READS - 1 - i;
        script[i] = (mock_answer){.when = ms_str_cstr(keys[other]),
                                  .messages = {rows_message(&it, keys[other])}};
    }
    rig_open(&it, script, READS);
    mock_gather(it.server, READS);
    ms_bt_read *reads[READS];
    for (int i = 0; i < READS; i++) {
        ms_str key = ms_str_cstr(keys[i]);
        ms_bt_read_options options = {
            .table = table, .rows = {.keys = &key, .key_count = 1}, .rows_limit = 1};
        reads[i] = ms_bt_client_read_rows(it.client, &options, &it.mailbox, wake_nothing, NULL);
    }
    for (int i = 0; i < READS; i++) {
        const ms_bt_page *page = NULL;
        assert_int_equal(ms_bt_read_wait(reads[i], &it.parker, &page), MS_BT_POLL_PAGE);
        assert_str_equal(ms_bt_page_key(page, &page->rows[0]), keys[i]);
        ms_bt_read_return(reads[i], page);
        assert_int_equal(ms_bt_read_wait(reads[i], &it.parker, &page), MS_BT_POLL_END);
        assert_true(ms_bt_read_close(reads[i], NULL, NULL));
    }
    assert_int_equal(mock_request_count(it.server), READS);
    rig_close(&it);
}

static void note_closed(void *arg)
{
    *(bool *)arg = true;
}

static void a_read_that_is_closed_gives_up_its_call(void **state)
{
    (void)state;
    rig it;
    rig_init(&it);
    mock_answer script[] = {{.messages = {rows_message(&it, "a")}, .is_silent = true}};
    rig_open(&it, script, 1);
    ms_bt_read *read = ms_bt_client_read_rows(it.client, &(ms_bt_read_options){.table = table},
                                              &it.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &it.parker, &page), MS_BT_POLL_PAGE);
    bool is_closed = false;
    if (!ms_bt_read_close(read, note_closed, &is_closed)) {
        while (!is_closed) {
            if (ms_mailbox_deliver(&it.mailbox, 16) == 0) {
                (void)ms_parker_park(&it.parker, MS_PARK_FOREVER);
            }
        }
    }
    mock_wait_canceled(it.server, 1);
    ms_bt_client_drain(it.client);
    rig_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_ask_and_resume_as_the_cases_say),
        cmocka_unit_test(a_read_carries_its_headers),
        cmocka_unit_test(all_features_are_announced_where_that_is_wanted),
        cmocka_unit_test(a_row_may_be_committed_by_a_later_chunk),
        cmocka_unit_test(a_slow_reader_loses_nothing_to_a_failure),
        cmocka_unit_test(attempts_that_come_further_do_not_count),
        cmocka_unit_test(a_read_goes_on_when_its_connection_is_closed),
        cmocka_unit_test(reads_at_the_same_time_get_each_its_own_rows),
        cmocka_unit_test(a_read_that_is_closed_gives_up_its_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
