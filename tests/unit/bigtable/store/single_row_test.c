/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReadModifyWriteRow and CheckAndMutateRow: what they answer and leave, what they refuse and in
 * which words, and that many of them share a batch.
 */
#include "store_testing.h"

static const char *const ab[] = {"a", "b"};

/* The clock of these tests: a moment between two milliseconds. */
#define NOW_MICROS INT64_C(1700000000123456)
static ms_env_clock now_clock;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    now_clock = (ms_env_clock){.wall_us = NOW_MICROS, .mono_ns = 1};
    ms_env_set_clock(&now_clock);
    fixture_init(f, MS_BT_SYNC_OS);
    ms_bt_family families[4] = {{.name = ms_str_lit("a")},
                                {.name = ms_str_lit("b")},
                                {.name = ms_str_lit("sum"), .type = MS_BT_VALUE_INT64_SUM}};
    create_table_of(f, families, 3, 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    fixture_release(f);
    ms_env_set_clock(NULL);
    free(f);
    return 0;
}

static ms_bt_rule add(const char *family, const char *qualifier, int64_t by)
{
    return (ms_bt_rule){.kind = MS_BT_RULE_INCREMENT,
                        .family = ms_str_cstr(family),
                        .qualifier = ms_str_cstr(qualifier),
                        .increment = by};
}

static ms_bt_rule append(const char *family, const char *qualifier, const char *text)
{
    return (ms_bt_rule){.kind = MS_BT_RULE_APPEND,
                        .family = ms_str_cstr(family),
                        .qualifier = ms_str_cstr(qualifier),
                        .append = ms_str_cstr(text)};
}

/* Runs the rules on a row; *answer_out, where it is not NULL, is the page as text. */
static ms_bt_status modify(fixture *f, const char *key, const ms_bt_rule *rules, size_t count,
                           char **answer_out)
{
    ms_bt_read_modify_write call;
    ms_bt_read_modify_write_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    call.row_key = ms_str_cstr(key);
    call.rules = rules;
    call.rule_count = count;
    ms_bt_client_read_modify_write(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    ms_bt_status status = call.call.status;
    if (answer_out != NULL) {
        ms_status st = {0};
        ms_buf out;
        ms_buf_init(&out, 1u << 20);
        append_page(&call.row, &out);
        assert_ok(ms_buf_append_byte(&out, '\0', &st));
        *answer_out = out.ptr;
    }
    ms_bt_read_modify_write_release(&call);
    return status;
}

static void assert_modified(fixture *f, const char *key, const ms_bt_rule *rules, size_t count,
                            const char *expected)
{
    char *answer = NULL;
    ms_bt_status status = modify(f, key, rules, count, &answer);
    assert_bt(&status, MS_BT_OK);
    assert_string_equal(answer, expected);
    ms_mem_free(answer);
}

static void assert_not_modified(fixture *f, const char *key, const ms_bt_rule *rules, size_t count,
                                ms_bt_code code, const char *text)
{
    char *answer = NULL;
    ms_bt_status status = modify(f, key, rules, count, &answer);
    assert_int_equal(status.code, code);
    assert_string_equal(status.text, text);
    assert_string_equal(answer, "");
    ms_mem_free(answer);
}

#define ONE "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01"
#define SIXTH "\\x00\\x00\\x00\\x00\\x00\\x00A\\x1a" /* 16,666 */
#define SIXTH_MORE "\\x00\\x00\\x00\\x00\\x00\\x00A\\x1b"
#define THREE "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03"

static void rules_start_from_nothing(void **state)
{
    fixture *f = *state;
    const ms_bt_rule rules[] = {append("b", "t", "x"), add("a", "n", 1)};
    assert_modified(f, "r", rules, 2, "r{a:n@1700000000123000=" ONE ",b:t@1700000000123000=x}");
    assert_rows(f, "r{a:n@1700000000123000=" ONE ",b:t@1700000000123000=x}");
}

static void rules_see_those_before_them_and_answer_once_a_column(void **state)
{
    fixture *f = *state;
    const ms_bt_rule rules[] = {add("a", "n", 1), append("a", "t", "x"), add("a", "n", 2),
                                append("a", "t", "y"), append("a", "", "z")};
    assert_modified(f, "r", rules, 5,
                    "r{a:@1700000000123000=z,a:n@1700000000123000=" THREE
                    ",a:t@1700000000123000=xy}");
}

static void older_cell_is_kept_and_newer_time_wins(void **state)
{
    fixture *f = *state;
    ms_bt_status bt = set_cell(f, "r", "a", "old", 1000, "o");
    assert_bt(&bt, MS_BT_OK);
    bt = set_cell(f, "r", "a", "new", NOW_MICROS / 1000 * 1000 + 5000, "n");
    assert_bt(&bt, MS_BT_OK);
    const ms_bt_rule rules[] = {append("a", "old", "+"), append("a", "new", "+")};
    assert_modified(f, "r", rules, 2, "r{a:new@1700000000128000=n+,a:old@1700000000123000=o+}");
    assert_rows(f, "r{a:new@1700000000128000=n+,a:old@1700000000123000=o+,a:old@1000=o}");
}

static void increments_wrap(void **state)
{
    fixture *f = *state;
    const ms_bt_rule rules[] = {add("a", "n", INT64_MAX), add("a", "n", 1)};
    assert_modified(f, "r", rules, 2,
                    "r{a:n@1700000000123000=\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00}");
}

static void only_eight_bytes_are_incremented_and_nothing_is_half_done(void **state)
{
    fixture *f = *state;
    ms_bt_status bt = set_cell(f, "r", "b", "golang.org", 1000, "1");
    assert_bt(&bt, MS_BT_OK);
    const ms_bt_rule rules[] = {append("a", "t", "x"), add("b", "golang.org", 1)};
    assert_not_modified(f, "r", rules, 2, MS_BT_FAILED_PRECONDITION,
                        "Cannot increment value '1' (family=b, qualifier=golang.org). The "
                        "increment operation can only be performed on 64-bit values");
    assert_rows(f, "r{b:golang.org@1000=1}");
    bt = set_cell(f, "r", "b", "", 1000, "");
    assert_bt(&bt, MS_BT_OK);
    const ms_bt_rule empty[] = {add("b", "", 1)};
    assert_not_modified(f, "r", empty, 1, MS_BT_FAILED_PRECONDITION,
                        "Cannot increment value '' (family=b, qualifier=). The increment operation "
                        "can only be performed on 64-bit values");
}

static void wrong_rules_are_refused(void **state)
{
    fixture *f = *state;
    const ms_bt_rule good[] = {append("a", "t", "x")};
    assert_not_modified(f, "", good, 1, MS_BT_INVALID_ARGUMENT, "Row keys must be non-empty");
    assert_not_modified(f, "r", good, 0, MS_BT_INVALID_ARGUMENT, "No rules provided");
    const ms_bt_rule unknown[] = {append("a", "t", "x"), append("zz", "t", "x")};
    assert_not_modified(f, "r", unknown, 2, MS_BT_NOT_FOUND,
                        "Error while mutating the row 'r' (projects/p/instances/i/tables/t) : "
                        "Requested column family not found.");
    const ms_bt_rule aggregate[] = {add("sum", "t", 1)};
    assert_not_modified(f, "r", aggregate, 1, MS_BT_INVALID_ARGUMENT,
                        "Error in field 'rules' : Error in element #0 : ReadModifyWriteRow cannot "
                        "write to the aggregate family 'sum'");
    size_t count = MS_BT_LIMIT_RULES + 1;
    ms_bt_rule *many = calloc(count, sizeof(*many));
    assert_not_modified(f, "r", many, count, MS_BT_INVALID_ARGUMENT,
                        "Too many rules: 100001 provided; limit 100000");
    free(many);
    ms_bt_table_name table = f->table;
    f->table.table = ms_str_lit("other");
    assert_not_modified(f, "r", good, 1, MS_BT_NOT_FOUND,
                        "table \"projects/p/instances/i/tables/other\" not found");
    f->table = table;
    assert_rows(f, "");
}

static void many_rules_of_many_columns_apply(void **state)
{
    fixture *f = *state;
    size_t count = MS_BT_LIMIT_RULES;
    ms_bt_rule *rules = calloc(count, sizeof(*rules));
    static const char *const qualifiers[] = {"q0", "q1", "q2"};
    for (size_t i = 0; i < count; i++) {
        rules[i] = add(ab[i % 2], qualifiers[i % 3], 1);
    }
    char *answer = NULL;
    ms_bt_status status = modify(f, "r", rules, count, &answer);
    assert_bt(&status, MS_BT_OK);
    /* 100,000 rules over six columns. */
    assert_string_equal(answer,
                        "r{a:q0@1700000000123000=" SIXTH_MORE ",a:q1@1700000000123000=" SIXTH
                        ",a:q2@1700000000123000=" SIXTH_MORE ",b:q0@1700000000123000=" SIXTH_MORE
                        ",b:q1@1700000000123000=" SIXTH_MORE ",b:q2@1700000000123000=" SIXTH "}");
    ms_mem_free(answer);
    free(rules);
}

static void microseconds_are_kept_where_the_table_has_them(void **state)
{
    fixture *f = *state;
    f->table.table = ms_str_lit("fine");
    ms_bt_family family = {.name = ms_str_lit("a")};
    create_table_of(f, &family, 1, MS_BT_GRANULARITY_MICROS);
    int64_t now = NOW_MICROS + 500000;
    ms_env_clock_advance_us(&now_clock, 500000);
    char expected[128];
    snprintf(expected, sizeof(expected), "r{a:n@%" PRId64 "=" ONE "}", now);
    const ms_bt_rule rules[] = {add("a", "n", 1)};
    assert_modified(f, "r", rules, 1, expected);
}

/* CheckAndMutateRow. */

/* A batch that sets one cell of a row; NULL value: one without entries. */
static void init_branch(ms_bt_mutation_batch *batch, const char *key, const char *value)
{
    ms_status st = {0};
    uint16_t a = 0;
    ms_bt_mutation_batch_init(batch, 1u << 20);
    assert_ok(ms_bt_mutation_batch_family(batch, ms_str_lit("a"), &a, &st));
    if (value == NULL) {
        return;
    }
    assert_ok(ms_bt_mutation_batch_begin_row(batch, ms_str_cstr(key), &st));
    assert_ok(
        ms_bt_mutation_batch_set_cell(batch, a, ms_str_lit("done"), 1000, ms_str_cstr(value), &st));
    ms_bt_mutation_batch_end_row(batch);
}

static ms_bt_status check(fixture *f, const char *key, const ms_bt_filter *predicate,
                          const ms_bt_mutation_batch *if_true, const ms_bt_mutation_batch *if_false,
                          bool *matched_out)
{
    ms_bt_check_and_mutate call;
    ms_bt_check_and_mutate_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    call.row_key = ms_str_cstr(key);
    call.predicate = predicate;
    call.if_true = if_true;
    call.if_false = if_false;
    ms_bt_client_check_and_mutate(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    ms_bt_status status = call.call.status;
    *matched_out = call.predicate_matched;
    ms_bt_check_and_mutate_release(&call);
    return status;
}

/* Checks with "yes" and "no" as the values that the branches set in r. */
static void assert_checked(fixture *f, const ms_bt_filter *predicate, bool expected)
{
    ms_bt_mutation_batch yes;
    ms_bt_mutation_batch no;
    init_branch(&yes, "r", "yes");
    init_branch(&no, "r", "no");
    bool matched = !expected;
    ms_bt_status status = check(f, "r", predicate, &yes, &no, &matched);
    assert_bt(&status, MS_BT_OK);
    assert_int_equal(matched, expected);
    ms_bt_mutation_batch_release(&yes);
    ms_bt_mutation_batch_release(&no);
}

static void row_decides_where_there_is_no_predicate(void **state)
{
    fixture *f = *state;
    assert_checked(f, NULL, false);
    assert_rows(f, "r{a:done@1000=no}");
    assert_checked(f, NULL, true);
    assert_rows(f, "r{a:done@1000=yes}");
}

static void predicate_sees_the_row_as_it_is_stored(void **state)
{
    fixture *f = *state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_status bt = set_cell(f, "q", "b", "q", 1000, "v");
    assert_bt(&bt, MS_BT_OK);
    bt = set_cell(f, "r", "b", "q", 1000, "old");
    assert_bt(&bt, MS_BT_OK);
    bt = set_cell(f, "r", "b", "q", 2000, "new");
    assert_bt(&bt, MS_BT_OK);
    bt = set_cell(f, "s", "b", "q", 1000, "v");
    assert_bt(&bt, MS_BT_OK);
    const ms_bt_filter *latest = ms_bt_filter_cells_per_column(&arena, 1);
    const ms_bt_filter *family = ms_bt_filter_family(&arena, ms_str_lit("b"));
    const ms_bt_filter *is_new =
        ms_bt_filter_regex(&arena, MS_BT_FILTER_VALUE_REGEX, ms_str_lit("new"));
    const ms_bt_filter *is_old =
        ms_bt_filter_regex(&arena, MS_BT_FILTER_VALUE_REGEX, ms_str_lit("ol."));
    assert_checked(
        f, ms_bt_filter_chain(&arena, (const ms_bt_filter *[]){family, latest, is_new}, 3), true);
    assert_checked(
        f, ms_bt_filter_chain(&arena, (const ms_bt_filter *[]){family, latest, is_old}, 3), false);
    assert_checked(f, is_old, true);
    assert_checked(f, ms_bt_filter_block_all(&arena), false);
    /* One that needs the whole row. */
    assert_checked(f, ms_bt_filter_condition(&arena, is_old, is_new, NULL), true);
    assert_checked(f, ms_bt_filter_condition(&arena, is_old, NULL, is_new), false);
    ms_arena_release(&arena);
}

/* A filter of a chain of up to four that a predicate may jump by. */
static const ms_bt_filter *random_predicate(ms_arena *arena, ms_env_random *random)
{
    static const char *const qualifiers[] = {"q", "p", "qq", "q\\x00", "[pq]", "q.*", "none", ""};
    static const char *const values[] = {"1", "2", "[12]", "none"};
    const ms_bt_filter *list[4];
    size_t count = 0;
    size_t wanted = 1 + ms_env_random_below(random, 4);
    while (count < wanted) {
        uint64_t pick = ms_env_random_below(random, 8);
        ms_str text = ms_str_cstr(qualifiers[ms_env_random_below(random, 8)]);
        ms_str value = ms_str_cstr(values[ms_env_random_below(random, 4)]);
        ms_str family = ms_str_lit("ab");
        family = ms_str_make(family.ptr + ms_env_random_below(random, 2), 1);
        ms_bt_range bounds = ms_bt_range_make(ms_str_lit("p"), ms_str_lit("q\0q"));
        list[count++] = pick < 2   ? ms_bt_filter_regex(arena, MS_BT_FILTER_QUALIFIER_REGEX, text)
                        : pick < 3 ? ms_bt_filter_family(arena, family)
                        : pick < 4 ? ms_bt_filter_column_range(arena, family, &bounds)
                        : pick < 5 ? ms_bt_filter_regex(arena, MS_BT_FILTER_VALUE_REGEX, value)
                        : pick < 6 ? ms_bt_filter_cells_per_column(arena, 1)
                        : pick < 7
                            ? ms_bt_filter_cells_per_row(arena, 1 + (int32_t)(value.ptr[0] == '1'))
                            : ms_bt_filter_cells_per_row_offset(arena, 1);
    }
    const ms_bt_filter *chain = ms_bt_filter_chain(arena, list, count);
    if (ms_env_random_below(random, 4) > 0) {
        return chain;
    }
    const ms_bt_filter *other = random_predicate(arena, random);
    return ms_env_random_below(random, 2) == 0
               ? ms_bt_filter_interleave(arena, (const ms_bt_filter *[]){chain, other}, 2)
               : ms_bt_filter_condition(arena, chain, other, list[0]);
}

/* Returns how many of 400 held. */
static unsigned check_predicates(fixture *f, ms_env_random *random)
{
    static const ms_str qualifiers[] = {{"p", 1}, {"q", 1}, {"q\0", 2}, {"q\0q", 3}, {"qq", 2}};
    ms_bt_mutation_batch nothing;
    init_branch(&nothing, "r", NULL);
    ms_status st = {0};
    uint16_t a = 0;
    assert_ok(ms_bt_mutation_batch_family(&nothing, ms_str_lit("a"), &a, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&nothing, ms_str_lit("r"), &st));
    assert_ok(ms_bt_mutation_batch_delete_column(&nothing, a, ms_str_lit("nothing"), 0, 0, &st));
    ms_bt_mutation_batch_end_row(&nothing);
    unsigned held = 0;
    for (int i = 0; i < 400; i++) {
        if (i % 40 == 0) {
            ms_bt_mutation_batch row;
            ms_bt_mutation_batch_init(&row, 1u << 20);
            uint16_t families[2];
            assert_ok(ms_bt_mutation_batch_family(&row, ms_str_lit("a"), &families[0], &st));
            assert_ok(ms_bt_mutation_batch_family(&row, ms_str_lit("b"), &families[1], &st));
            assert_ok(ms_bt_mutation_batch_begin_row(&row, ms_str_lit("r"), &st));
            assert_ok(ms_bt_mutation_batch_delete_row(&row, &st));
            for (int k = 0; k < i / 40 * 3; k++) {
                assert_ok(ms_bt_mutation_batch_set_cell(
                    &row, families[ms_env_random_below(random, 2)],
                    qualifiers[ms_env_random_below(random, 5)],
                    1000 * (int64_t)ms_env_random_below(random, 3),
                    ms_env_random_below(random, 2) == 0 ? ms_str_lit("1") : ms_str_lit("2"), &st));
            }
            ms_bt_mutation_batch_end_row(&row);
            ms_bt_status bt = write_batch(f, &row);
            assert_bt(&bt, MS_BT_OK);
            ms_bt_mutation_batch_release(&row);
        }
        ms_arena arena;
        ms_arena_init(&arena, 0);
        const ms_bt_filter *predicate = random_predicate(&arena, random);
        ms_str key = ms_str_lit("r");
        ms_bt_read_options options = {
            .table = f->table, .filter = predicate, .rows = {.keys = &key, .key_count = 1}};
        ms_buf out;
        ms_buf_init(&out, 1u << 20);
        ms_bt_status bt = read_text(f, &options, &out);
        assert_bt(&bt, MS_BT_OK);
        bool matched = false;
        bt = check(f, "r", predicate, &nothing, &nothing, &matched);
        assert_bt(&bt, MS_BT_OK);
        assert_int_equal(matched, out.bytes > 0);
        held += matched;
        ms_buf_release(&out);
        ms_arena_release(&arena);
    }
    ms_bt_mutation_batch_release(&nothing);
    return held;
}

/* In a table whose last family has no cells in the row, and in one where it has. */
static void predicate_holds_when_a_read_gives_a_cell(void **state)
{
    fixture *f = *state;
    ms_env_random random;
    ms_env_random_init(&random, 11);
    assert_in_range(check_predicates(f, &random), 100, 300);
    f->table.table = ms_str_lit("two");
    create_table(f, (const char *const[]){"a", "b"}, 2);
    assert_in_range(check_predicates(f, &random), 100, 300);
}

static void chosen_branch_may_be_empty(void **state)
{
    fixture *f = *state;
    ms_bt_mutation_batch yes;
    ms_bt_mutation_batch none;
    init_branch(&yes, "r", "yes");
    init_branch(&none, "r", NULL);
    bool matched = true;
    ms_bt_status status = check(f, "r", NULL, &yes, &none, &matched);
    assert_bt(&status, MS_BT_OK);
    assert_false(matched);
    status = check(f, "r", NULL, &yes, NULL, &matched);
    assert_bt(&status, MS_BT_OK);
    assert_rows(f, "");
    ms_bt_mutation_batch_release(&yes);
    ms_bt_mutation_batch_release(&none);
}

static void wrong_checks_are_refused(void **state)
{
    fixture *f = *state;
    ms_bt_mutation_batch good;
    ms_bt_mutation_batch bad;
    ms_bt_mutation_batch none;
    init_branch(&good, "r", "x");
    init_branch(&none, "r", NULL);
    init_branch(&bad, "r", NULL);
    bool matched = true;
    ms_bt_status status = check(f, "", NULL, &good, NULL, &matched);
    assert_int_equal(status.code, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(status.text, "Row keys must be non-empty");
    status = check(f, "r", NULL, &none, NULL, &matched);
    assert_int_equal(status.code, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(status.text, "No mutations provided");
    /* The branch that would not be taken is checked too. */
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row(&bad, ms_str_lit("r"), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&bad, 0, ms_str_lit("q"), 1, ms_str_lit(""), &st));
    ms_bt_mutation_batch_end_row(&bad);
    status = check(f, "r", NULL, &bad, &good, &matched);
    assert_int_equal(status.code, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(status.text,
                        "Error in Mutation list : Error in element #0 : Timestamp granularity "
                        "mismatch. Expected a multiple of 1000 (millisecond granularity), but got "
                        "1.");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_bt_filter *unknown = ms_bt_filter_family(&arena, ms_str_lit("zz"));
    status = check(f, "r", unknown, &good, &good, &matched);
    assert_int_equal(status.code, MS_BT_NOT_FOUND);
    assert_rows(f, "");
    ms_arena_release(&arena);
    ms_bt_mutation_batch_release(&good);
    ms_bt_mutation_batch_release(&bad);
    ms_bt_mutation_batch_release(&none);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(rules_start_from_nothing),
        TEST(rules_see_those_before_them_and_answer_once_a_column),
        TEST(older_cell_is_kept_and_newer_time_wins),
        TEST(increments_wrap),
        TEST(only_eight_bytes_are_incremented_and_nothing_is_half_done),
        TEST(wrong_rules_are_refused),
        TEST(many_rules_of_many_columns_apply),
        TEST(microseconds_are_kept_where_the_table_has_them),
        TEST(row_decides_where_there_is_no_predicate),
        TEST(predicate_sees_the_row_as_it_is_stored),
        TEST(predicate_holds_when_a_read_gives_a_cell),
        TEST(chosen_branch_may_be_empty),
        TEST(wrong_checks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
