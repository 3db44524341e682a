/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What filters do to the cells of a row, by example; filter_random_test.c has the rest. The row of
 * most tests, with the key "key":
 *
 *     a:p@2=v0  a:p@1=v1  a:q@1=v2  b:p@1=v3
 */
#include "testing.h"

#include "bigtable/model/filter_run.h"

static const ms_str names[] = {{"a", 1}, {"b", 1}};
static const ms_bt_family families[] = {{.name = {"a", 1}}, {.name = {"b", 1}}};
static const ms_bt_table table = {
    .name = {.project = {"p", 1}, .instance = {"i", 1}, .table = {"t", 1}},
    .families = families,
    .family_count = 2};

typedef struct fixture {
    ms_arena arena;
    ms_bt_page page;
    ms_bt_filter_run run;
} fixture;

static void add_cell(ms_bt_page *page, uint16_t family, const char *qualifier, int64_t micros,
                     ms_str value)
{
    ms_status st = {0};
    assert_ok(ms_bt_page_reserve_cell(page, strlen(qualifier) + value.bytes, &st));
    ms_bt_cell *cell = &page->cells[page->cell_count++];
    *cell = (ms_bt_cell){.timestamp_micros = micros, .family = family};
    cell->qualifier_at = ms_bt_page_put(page, qualifier, strlen(qualifier));
    cell->qualifier_bytes = (uint32_t)strlen(qualifier);
    cell->value_at = ms_bt_page_put(page, value.ptr, value.bytes);
    cell->value_bytes = (uint32_t)value.bytes;
}

static void fill(ms_bt_page *page)
{
    ms_bt_page_reset(page, 1u << 20);
    add_cell(page, 0, "p", 2, ms_str_lit("v0"));
    add_cell(page, 0, "p", 1, ms_str_lit("v1"));
    add_cell(page, 0, "q", 1, ms_str_lit("v2"));
    add_cell(page, 1, "p", 1, ms_str_lit("v3"));
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    ms_bt_page_init(&f->page);
    f->page.families = names;
    f->page.family_count = 2;
    fill(&f->page);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ms_bt_page_release(&f->page);
    ms_bt_filter_run_release(&f->run);
    ms_arena_release(&f->arena);
    free(f);
    return 0;
}

/* Ends the run before. */
static void start(fixture *f, const ms_bt_filter *filter)
{
    ms_status st = {0};
    ms_bt_status bt = {0};
    const ms_bt_filter_program *program = NULL;
    ms_bt_filter_run_release(&f->run);
    if (ms_bt_filter_compile(filter, &table, &f->arena, &program, &bt) != MS_BT_OK) {
        fail_msg("%s", bt.text);
    }
    assert_ok(ms_bt_filter_run_init(&f->run, program, 1, &st));
}

/* What a filter leaves of the page: values, with '-' for an empty one and labels behind '/'. */
static void assert_page(fixture *f, const ms_bt_filter *filter, const char *expected)
{
    ms_status st = {0};
    start(f, filter);
    assert_ok(ms_bt_filter_run_row(&f->run, ms_str_lit("key"), &f->page, 0, &st));
    f->page.labels = f->run.program->labels;
    f->page.label_count = f->run.program->label_count;
    char text[512] = "";
    for (uint32_t i = 0; i < f->page.cell_count; i++) {
        ms_str value = ms_bt_page_value(&f->page, &f->page.cells[i]);
        ms_str label = ms_bt_page_label(&f->page, &f->page.cells[i]);
        size_t at = strlen(text);
        snprintf(text + at, sizeof(text) - at, "%s%.*s%s%.*s", i == 0 ? "" : " ",
                 MS_STR_ARG(value.bytes == 0 ? ms_str_lit("-") : value),
                 label.bytes == 0 ? "" : "/", MS_STR_ARG(label));
    }
    assert_string_equal(text, expected);
}

/* Same, on the row of the head comment, and as a predicate. */
static void assert_left(fixture *f, const ms_bt_filter *filter, const char *expected)
{
    ms_status st = {0};
    bool matches = false;
    fill(&f->page);
    start(f, filter);
    assert_ok(ms_bt_filter_run_matches(&f->run, ms_str_lit("key"), &f->page, 0, &matches, &st));
    assert_int_equal(matches, expected[0] != '\0');
    assert_page(f, filter, expected);
}

#define LIST(...)                                                                                  \
    (const ms_bt_filter *[])                                                                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const ms_bt_filter *chain(fixture *f, const ms_bt_filter *a, const ms_bt_filter *b)
{
    return ms_bt_filter_chain(&f->arena, LIST(a, b), 2);
}

static const ms_bt_filter *interleave(fixture *f, const ms_bt_filter *a, const ms_bt_filter *b)
{
    return ms_bt_filter_interleave(&f->arena, LIST(a, b), 2);
}

static const ms_bt_filter *regex(fixture *f, ms_bt_filter_kind kind, const char *pattern)
{
    return ms_bt_filter_regex(&f->arena, kind, ms_str_cstr(pattern));
}

static const ms_bt_filter *qualifier(fixture *f, const char *pattern)
{
    return regex(f, MS_BT_FILTER_QUALIFIER_REGEX, pattern);
}

static const ms_bt_filter *value(fixture *f, const char *pattern)
{
    return regex(f, MS_BT_FILTER_VALUE_REGEX, pattern);
}

static const ms_bt_filter *family(fixture *f, const char *name)
{
    return ms_bt_filter_family(&f->arena, ms_str_cstr(name));
}

static void flags_pass_block_and_strip(void **state)
{
    fixture *f = *state;
    assert_left(f, NULL, "v0 v1 v2 v3");
    assert_left(f, ms_bt_filter_pass_all(&f->arena), "v0 v1 v2 v3");
    assert_left(f, ms_bt_filter_block_all(&f->arena), "");
    assert_left(f, ms_bt_filter_strip_value(&f->arena), "- - - -");
}

static void regular_expressions_match_whole_names(void **state)
{
    fixture *f = *state;
    assert_left(f, regex(f, MS_BT_FILTER_ROW_KEY_REGEX, "k.y"), "v0 v1 v2 v3");
    assert_left(f, regex(f, MS_BT_FILTER_ROW_KEY_REGEX, "ke"), "");
    assert_left(f, regex(f, MS_BT_FILTER_FAMILY_REGEX, "[b-z]"), "v3");
    assert_left(f, family(f, "b"), "v3");
    assert_left(f, qualifier(f, "q|x"), "v2");
    assert_left(f, qualifier(f, "p"), "v0 v1 v3");
    assert_left(f, value(f, "v[02]"), "v0 v2");
    assert_left(f, value(f, "v"), "");
    assert_left(f, value(f, "|v1"), "v1");
}

static void ranges_have_bounds_of_both_kinds(void **state)
{
    fixture *f = *state;
    ms_str p = ms_str_lit("p");
    ms_bt_range up_to_p = {{MS_BT_BOUND_OPEN, {"", 0}}, {MS_BT_BOUND_CLOSED, p}};
    ms_bt_range behind_p = {{MS_BT_BOUND_OPEN, p}, {MS_BT_BOUND_OPEN, {"", 0}}};
    ms_bt_range inverted = ms_bt_range_make(ms_str_lit("q"), p);
    assert_left(f, ms_bt_filter_column_range(&f->arena, names[0], &up_to_p), "v0 v1");
    assert_left(f, ms_bt_filter_column_range(&f->arena, names[0], &behind_p), "v2");
    assert_left(f, ms_bt_filter_column_range(&f->arena, names[1], &behind_p), "");
    assert_left(f, ms_bt_filter_column_range(&f->arena, names[0], &inverted), "");
    ms_bt_range values = {{MS_BT_BOUND_OPEN, ms_str_lit("v0")},
                          {MS_BT_BOUND_CLOSED, ms_str_lit("v2")}};
    assert_left(f, ms_bt_filter_value_range(&f->arena, &values), "v1 v2");
    assert_left(f, ms_bt_filter_timestamp_range(&f->arena, 0, 0), "v0 v1 v2 v3");
    assert_left(f, ms_bt_filter_timestamp_range(&f->arena, 2, 0), "v0");
    assert_left(f, ms_bt_filter_timestamp_range(&f->arena, 1, 2), "v1 v2 v3");
    assert_left(f, ms_bt_filter_timestamp_range(&f->arena, 2, 1), "");
}

static void a_bitmask_wants_the_same_length(void **state)
{
    fixture *f = *state;
    assert_left(f, ms_bt_filter_value_bitmask(&f->arena, ms_str_lit("\0\x31")), "v1 v3");
    assert_left(f, ms_bt_filter_value_bitmask(&f->arena, ms_str_lit("\0\0")), "v0 v1 v2 v3");
    assert_left(f, ms_bt_filter_value_bitmask(&f->arena, ms_str_lit("\0")), "");
    assert_left(f, ms_bt_filter_value_bitmask(&f->arena, ms_str_lit("\x80\0")), "");
}

static void counts_are_in_order_of_the_output(void **state)
{
    fixture *f = *state;
    assert_left(f, ms_bt_filter_cells_per_column(&f->arena, 1), "v0 v2 v3");
    assert_left(f, ms_bt_filter_cells_per_row(&f->arena, 3), "v0 v1 v2");
    assert_left(f, ms_bt_filter_cells_per_row_offset(&f->arena, 3), "v3");
    assert_left(f, ms_bt_filter_cells_per_row_offset(&f->arena, 4), "");
    assert_left(f, chain(f, NULL, ms_bt_filter_cells_per_row(&f->arena, 2)), "v0 v1");
    /* Duplicates count, each for itself. */
    const ms_bt_filter *twice = interleave(f, NULL, NULL);
    assert_left(f, chain(f, twice, ms_bt_filter_cells_per_row(&f->arena, 3)), "v0 v0 v1");
    assert_left(f, chain(f, twice, ms_bt_filter_cells_per_column(&f->arena, 1)), "v0 v2 v3");
    assert_left(f, chain(f, twice, ms_bt_filter_cells_per_row_offset(&f->arena, 7)), "v3");
}

static void order_in_a_chain_matters(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *latest = ms_bt_filter_cells_per_column(&f->arena, 1);
    assert_left(f, chain(f, latest, value(f, "v1")), "");
    assert_left(f, chain(f, value(f, "v1"), latest), "v1");
    const ms_bt_filter *first = ms_bt_filter_cells_per_row(&f->arena, 1);
    assert_left(f, chain(f, first, family(f, "b")), "");
    assert_left(f, chain(f, family(f, "b"), first), "v3");
    /* Two columns in a chain are no "and". */
    assert_left(f, chain(f, qualifier(f, "p"), qualifier(f, "q")), "");
}

static void interleaves_keep_duplicates_in_order(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *latest = ms_bt_filter_cells_per_column(&f->arena, 1);
    assert_left(f, interleave(f, family(f, "a"), latest), "v0 v0 v1 v2 v2 v3");
    assert_left(f, interleave(f, family(f, "b"), family(f, "a")), "v0 v1 v2 v3");
    assert_left(f, interleave(f, ms_bt_filter_strip_value(&f->arena), qualifier(f, "q")),
                "- - - v2 -");
}

static void a_label_is_put_on_what_passes(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *one = ms_bt_filter_apply_label(&f->arena, ms_str_lit("one"));
    const ms_bt_filter *two = ms_bt_filter_apply_label(&f->arena, ms_str_lit("two"));
    assert_left(f, chain(f, qualifier(f, "q"), one), "v2/one");
    assert_left(f, interleave(f, chain(f, family(f, "b"), one), chain(f, two, qualifier(f, "p"))),
                "v0/two v1/two v3/one v3/two");
}

static void conditions_choose_by_the_row(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *b = family(f, "b");
    const ms_bt_filter *q = qualifier(f, "q");
    assert_left(f, ms_bt_filter_condition(&f->arena, value(f, "v3"), q, b), "v2");
    assert_left(f, ms_bt_filter_condition(&f->arena, value(f, "v4"), q, b), "v3");
    assert_left(f, ms_bt_filter_condition(&f->arena, value(f, "v3"), NULL, b), "");
    assert_left(f, ms_bt_filter_condition(&f->arena, value(f, "v4"), q, NULL), "");
    assert_left(f, ms_bt_filter_condition(&f->arena, NULL, q, b), "v2");
    /* Both see what reaches the condition, not the row as it is stored. */
    assert_left(f, chain(f, b, ms_bt_filter_condition(&f->arena, value(f, "v0"), b, q)), "");
    assert_left(f, chain(f, b, ms_bt_filter_condition(&f->arena, value(f, "v3"), b, q)), "v3");
}

static void conditions_nest_and_follow_each_other(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *is_v3 = value(f, "v3");
    const ms_bt_filter *is_v4 = value(f, "v4");
    const ms_bt_filter *b = family(f, "b");
    const ms_bt_filter *q = qualifier(f, "q");
    const ms_bt_filter *true_inside = ms_bt_filter_condition(&f->arena, is_v3, b, NULL);
    const ms_bt_filter *false_inside = ms_bt_filter_condition(&f->arena, is_v4, b, NULL);
    assert_left(f, ms_bt_filter_condition(&f->arena, true_inside, q, b), "v2");
    assert_left(f, ms_bt_filter_condition(&f->arena, false_inside, q, b), "v3");
    assert_left(f, ms_bt_filter_condition(&f->arena, is_v3, true_inside, q), "v3");
    assert_left(f, ms_bt_filter_condition(&f->arena, is_v3, false_inside, q), "");
    assert_left(f, chain(f, true_inside, ms_bt_filter_condition(&f->arena, value(f, "v0"), b, q)),
                "");
    assert_left(f, interleave(f, true_inside, ms_bt_filter_condition(&f->arena, is_v4, b, q)),
                "v2 v3");
}

static void a_sink_goes_past_what_follows(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *sink = ms_bt_filter_sink(&f->arena);
    const ms_bt_filter *block = ms_bt_filter_block_all(&f->arena);
    assert_left(f, sink, "v0 v1 v2 v3");
    assert_left(f, chain(f, family(f, "b"), chain(f, sink, block)), "v3");
    /* The sunk copy and the one that went on, in order. */
    const ms_bt_filter *sunk_q = chain(f, qualifier(f, "q"), sink);
    assert_left(f, chain(f, interleave(f, NULL, sunk_q), ms_bt_filter_strip_value(&f->arena)),
                "- - - v2 -");
    /* What was sunk is not counted by what follows. */
    assert_left(f, chain(f, interleave(f, NULL, sunk_q), ms_bt_filter_cells_per_row(&f->arena, 1)),
                "v0 v2");
}

static void counts_begin_anew_with_each_row(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    start(f, chain(f, ms_bt_filter_cells_per_row_offset(&f->arena, 1),
                   ms_bt_filter_cells_per_column(&f->arena, 1)));
    for (int i = 0; i < 3; i++) {
        fill(&f->page);
        assert_ok(ms_bt_filter_run_row(&f->run, ms_str_lit("key"), &f->page, 0, &st));
        assert_int_equal(f->page.cell_count, 3);
    }
}

static void a_row_is_sampled_as_a_whole(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    const ms_bt_filter *half = ms_bt_filter_row_sample(&f->arena, 0.25);
    /* The condition makes each row run twice, and the sample must not change its mind. */
    start(f, chain(f, half, ms_bt_filter_condition(&f->arena, family(f, "b"), NULL, half)));
    for (int i = 0; i < 200; i++) {
        fill(&f->page);
        assert_ok(ms_bt_filter_run_row(&f->run, ms_str_lit("key"), &f->page, 0, &st));
        assert_int_equal(f->page.cell_count, 0);
    }
    start(f, half);
    unsigned rows = 0;
    for (int i = 0; i < 4000; i++) {
        fill(&f->page);
        assert_ok(ms_bt_filter_run_row(&f->run, ms_str_lit("key"), &f->page, 0, &st));
        assert_true(f->page.cell_count == 0 || f->page.cell_count == 4);
        rows += f->page.cell_count != 0;
    }
    /* Ten standard deviations around 1,000; and with this seed always the same number. */
    assert_in_range(rows, 726, 1274);
}

static void verdicts_say_what_may_be_passed_over(void **state)
{
    fixture *f = *state;
    ms_bt_range from_q = ms_bt_range_make(ms_str_lit("q"), ms_str_lit("r"));
    ms_bt_range up_to_o = ms_bt_range_make(ms_str_lit("a"), ms_str_lit("o"));
    const ms_bt_filter *limit = ms_bt_filter_cells_per_row(&f->arena, 9);
    const ms_bt_filter *newest = ms_bt_filter_cells_per_column(&f->arena, 1);
    const struct {
        const ms_bt_filter *filter;
        ms_bt_verdict expected; /* for a:p@5=v */
    } cases[] = {
        {NULL, MS_BT_VERDICT_KEEP},
        {family(f, "b"), MS_BT_VERDICT_DROP_FAMILY},
        {qualifier(f, "q"), MS_BT_VERDICT_DROP_COLUMN},
        {qualifier(f, "o"), MS_BT_VERDICT_DROP_FAMILY},
        {qualifier(f, "n.*"), MS_BT_VERDICT_DROP_FAMILY},
        {qualifier(f, ""), MS_BT_VERDICT_DROP_FAMILY},
        {qualifier(f, ".*o"), MS_BT_VERDICT_DROP_COLUMN},
        {value(f, "w"), MS_BT_VERDICT_DROP},
        {ms_bt_filter_timestamp_range(&f->arena, 6, 0), MS_BT_VERDICT_DROP_COLUMN},
        {ms_bt_filter_timestamp_range(&f->arena, 0, 5), MS_BT_VERDICT_DROP},
        {regex(f, MS_BT_FILTER_ROW_KEY_REGEX, "x"), MS_BT_VERDICT_DROP_ROW},
        {ms_bt_filter_block_all(&f->arena), MS_BT_VERDICT_DROP_ROW},
        {ms_bt_filter_column_range(&f->arena, names[0], &from_q), MS_BT_VERDICT_DROP_COLUMN},
        {ms_bt_filter_column_range(&f->arena, names[0], &up_to_o), MS_BT_VERDICT_DROP_FAMILY},
        /* The last cell that a limit of the column lets through. */
        {chain(f, newest, value(f, "w")), MS_BT_VERDICT_DROP_COLUMN},
        {chain(f, newest, NULL), MS_BT_VERDICT_KEEP},
        {chain(f, ms_bt_filter_cells_per_column(&f->arena, 2), value(f, "w")), MS_BT_VERDICT_DROP},
        {chain(f, value(f, "w"), newest), MS_BT_VERDICT_DROP},
        {chain(f, limit, chain(f, newest, value(f, "w"))), MS_BT_VERDICT_DROP},
        {interleave(f, value(f, "w"), chain(f, newest, value(f, "w"))), MS_BT_VERDICT_DROP},
        /* The weakest of all ways. */
        {interleave(f, family(f, "b"), qualifier(f, "q")), MS_BT_VERDICT_DROP_COLUMN},
        {interleave(f, family(f, "b"), value(f, "w")), MS_BT_VERDICT_DROP},
        {interleave(f, family(f, "b"), NULL), MS_BT_VERDICT_KEEP},
        /* What was passed over would be missed by the count. */
        {chain(f, limit, family(f, "b")), MS_BT_VERDICT_DROP},
        {chain(f, family(f, "b"), limit), MS_BT_VERDICT_DROP_FAMILY},
        {chain(f, limit, regex(f, MS_BT_FILTER_ROW_KEY_REGEX, "x")), MS_BT_VERDICT_DROP_ROW},
        {chain(f, interleave(f, limit, NULL), family(f, "b")), MS_BT_VERDICT_DROP},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        start(f, cases[i].filter);
        ms_bt_filter_run_begin_row(&f->run, ms_str_lit("key"));
        ms_bt_filter_run_begin_column(&f->run, 0, ms_str_lit("p"));
        assert_int_equal(ms_bt_filter_run_cell(&f->run, 5, ms_str_lit("v")), cases[i].expected);
    }
}

static void a_spent_limit_ends_the_row_or_column(void **state)
{
    fixture *f = *state;
    start(f, ms_bt_filter_cells_per_row(&f->arena, 1));
    ms_bt_filter_run_begin_row(&f->run, ms_str_lit("key"));
    ms_bt_filter_run_begin_column(&f->run, 0, ms_str_lit("p"));
    assert_int_equal(ms_bt_filter_run_cell(&f->run, 5, ms_str_lit("v")), MS_BT_VERDICT_KEEP);
    assert_int_equal(f->run.copy_count, 1);
    assert_int_equal(ms_bt_filter_run_cell(&f->run, 4, ms_str_lit("v")), MS_BT_VERDICT_DROP_ROW);
    assert_int_equal(f->run.copy_count, 0);
    start(f, ms_bt_filter_cells_per_column(&f->arena, 1));
    ms_bt_filter_run_begin_row(&f->run, ms_str_lit("key"));
    ms_bt_filter_run_begin_column(&f->run, 0, ms_str_lit("p"));
    assert_int_equal(ms_bt_filter_run_cell(&f->run, 5, ms_str_lit("v")), MS_BT_VERDICT_KEEP);
    assert_int_equal(ms_bt_filter_run_cell(&f->run, 4, ms_str_lit("v")), MS_BT_VERDICT_DROP_COLUMN);
    ms_bt_filter_run_begin_column(&f->run, 0, ms_str_lit("q"));
    assert_int_equal(ms_bt_filter_run_cell(&f->run, 3, ms_str_lit("v")), MS_BT_VERDICT_KEEP);
}

/* Limits. */

static void assert_refused(fixture *f, const ms_bt_filter *filter, ms_rc code, const char *text)
{
    ms_status st = {0};
    fill(&f->page);
    start(f, filter);
    assert_int_equal(ms_bt_filter_run_row(&f->run, ms_str_lit("key"), &f->page, 0, &st), code);
    if (strstr(st.message, text) == NULL) {
        fail_msg("%s", st.message);
    }
}

/* Each cell four times, again and again. */
static const ms_bt_filter *multiply(fixture *f, int times, const ms_bt_filter *last)
{
    const ms_bt_filter *list[64];
    for (int i = 0; i < times; i++) {
        list[i] = ms_bt_filter_interleave(&f->arena, LIST(NULL, NULL, NULL, NULL), 4);
    }
    list[times] = last;
    return ms_bt_filter_chain(&f->arena, list, (size_t)times + 1);
}

static void copies_have_a_limit(void **state)
{
    fixture *f = *state;
    assert_refused(f, multiply(f, 40, NULL), MS_LIMIT, "makes more than 1048576 copies");
}

static void steps_have_a_limit(void **state)
{
    fixture *f = *state;
    /* Nothing comes out, at great length. */
    assert_refused(f, multiply(f, 40, value(f, "x")), MS_LIMIT, "steps for one row");
}

static void regular_expressions_have_a_limit(void **state)
{
    fixture *f = *state;
    /* Some 50,000 instructions on each of 4^9 copies of each cell. */
    ms_buf pattern;
    ms_status st = {0};
    ms_buf_init(&pattern, 4096);
    for (int i = 0; i < 50; i++) {
        assert_ok(ms_buf_append(&pattern, ms_str_lit("[v-x]{1000}"), &st));
    }
    ms_str text = ms_arena_copy_str(&f->arena, ms_buf_view(&pattern));
    ms_buf_release(&pattern);
    assert_refused(f, multiply(f, 9, ms_bt_filter_regex(&f->arena, MS_BT_FILTER_VALUE_REGEX, text)),
                   MS_LIMIT, "too large for the values of one row");
}

static void a_small_expression_passes_over_a_large_value(void **state)
{
    fixture *f = *state;
    size_t bytes = (size_t)32 << 20;
    char *large = malloc(bytes);
    memset(large, 'x', bytes);
    memcpy(large + bytes - 3, "foo", 3);
    ms_bt_page_reset(&f->page, 0);
    add_cell(&f->page, 0, "p", 1, ms_str_make(large, bytes));
    ms_status st = {0};
    bool matches = false;
    start(f, value(f, ".*(foo|bar)"));
    assert_ok(ms_bt_filter_run_matches(&f->run, ms_str_lit("key"), &f->page, 0, &matches, &st));
    assert_true(matches);
    free(large);
}

static void a_canceled_run_ends(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    _Atomic bool is_canceled = true;
    start(f, multiply(f, 40, value(f, "x")));
    f->run.is_canceled = &is_canceled;
    assert_int_equal(ms_bt_filter_run_row(&f->run, ms_str_lit("key"), &f->page, 0, &st),
                     MS_CANCELED);
}

/* As many filters as fit into a request, in the shapes that nest and fork most. */
static void the_largest_filters_run(void **state)
{
    fixture *f = *state;
    enum { MANY = 3000 };
    const ms_bt_filter **list = calloc(MANY, sizeof(*list));
    for (size_t i = 0; i < MANY; i++) {
        list[i] = ms_bt_filter_cells_per_row(&f->arena, 1);
    }
    assert_left(f, ms_bt_filter_chain(&f->arena, list, MANY), "v0");
    for (size_t i = 0; i < MANY; i++) {
        list[i] = i + 1 == MANY ? qualifier(f, "q") : ms_bt_filter_block_all(&f->arena);
    }
    assert_left(f, ms_bt_filter_interleave(&f->arena, list, MANY), "v2");
    const ms_bt_filter *blocks = ms_bt_filter_block_all(&f->arena);
    for (size_t i = 0; i < MANY / 2; i++) {
        list[i] = interleave(f, NULL, blocks);
    }
    assert_left(f, ms_bt_filter_chain(&f->arena, list, MANY / 2), "v0 v1 v2 v3");
    for (size_t i = 0; i < MANY / 2; i++) {
        list[i] = ms_bt_filter_condition(&f->arena, NULL, ms_bt_filter_pass_all(&f->arena), NULL);
    }
    assert_left(f, ms_bt_filter_chain(&f->arena, list, MANY / 2), "v0 v1 v2 v3");
    free(list);
}

static void an_empty_row_gives_nothing(void **state)
{
    fixture *f = *state;
    ms_bt_page_reset(&f->page, 1u << 20);
    assert_page(f, NULL, "");
    assert_page(f, ms_bt_filter_condition(&f->arena, NULL, NULL, ms_bt_filter_pass_all(&f->arena)),
                "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(flags_pass_block_and_strip),
        TEST(regular_expressions_match_whole_names),
        TEST(ranges_have_bounds_of_both_kinds),
        TEST(a_bitmask_wants_the_same_length),
        TEST(counts_are_in_order_of_the_output),
        TEST(order_in_a_chain_matters),
        TEST(interleaves_keep_duplicates_in_order),
        TEST(a_label_is_put_on_what_passes),
        TEST(conditions_choose_by_the_row),
        TEST(conditions_nest_and_follow_each_other),
        TEST(a_sink_goes_past_what_follows),
        TEST(counts_begin_anew_with_each_row),
        TEST(a_row_is_sampled_as_a_whole),
        TEST(verdicts_say_what_may_be_passed_over),
        TEST(a_spent_limit_ends_the_row_or_column),
        TEST(copies_have_a_limit),
        TEST(steps_have_a_limit),
        TEST(regular_expressions_have_a_limit),
        TEST(a_small_expression_passes_over_a_large_value),
        TEST(a_canceled_run_ends),
        TEST(the_largest_filters_run),
        TEST(an_empty_row_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
