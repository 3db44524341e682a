/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting ranges at samples, going on behind a key, and the stored form.
 */
#include "bt_testing.h"

#include "connector/bigtable/split.h"

/* "[a,c)(d,*)": one letter a key. */
static ms_bt_ranges parse_ranges(ms_arena *arena, const char *text)
{
    ms_bt_range *list = ms_arena_array(arena, ms_bt_range, strlen(text) / 5 + 1);
    size_t count = 0;
    for (const char *at = text; *at != '\0';) {
        ms_bt_range *range = &list[count++];
        size_t start_bytes = strcspn(at + 1, ",");
        const char *end = at + 1 + start_bytes + 1;
        size_t end_bytes = strcspn(end, ")]");
        ms_bt_bound_kind start_kind = *at == '[' ? MS_BT_BOUND_CLOSED : MS_BT_BOUND_OPEN;
        ms_bt_bound_kind end_kind = end[end_bytes] == ']' ? MS_BT_BOUND_CLOSED : MS_BT_BOUND_OPEN;
        ms_str start_key = {at + 1, at[1] == '*' ? 0 : start_bytes};
        ms_str end_key = {end, *end == '*' ? 0 : end_bytes};
        range->start = ms_bt_bound_make(start_kind, start_key);
        range->end = ms_bt_bound_make(end_kind, end_key);
        at = end + end_bytes + 1;
    }
    return (ms_bt_ranges){list, count};
}

static void append_ranges(const ms_bt_ranges *ranges, ms_buf *out)
{
    ms_status st = {0};
    for (size_t i = 0; i < ranges->count; i++) {
        assert_ok(ms_bt_range_render(&ranges->list[i], out, &st));
    }
}

/* Samples are letters; "." is the empty key. */
static void check_plan(const char *ranges_text, const char *samples_text, const char *expected)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    ms_str samples[32];
    size_t count = strlen(samples_text);
    for (size_t i = 0; i < count; i++) {
        samples[i] = (ms_str){samples_text + i, samples_text[i] == '.' ? 0 : 1};
    }
    ms_bt_ranges ranges = parse_ranges(&arena, ranges_text);
    const ms_bt_ranges *splits = NULL;
    size_t split_count = msi_bt_splits_plan(&arena, &ranges, samples, count, &splits);
    ms_buf text;
    ms_buf_init(&text, 4096);
    for (size_t i = 0; i < split_count; i++) {
        assert_true(splits[i].count > 0);
        assert_ok(ms_buf_append(&text, i == 0 ? ms_str_lit("") : ms_str_lit(" | "), &st));
        append_ranges(&splits[i], &text);
    }
    assert_ok(ms_buf_append_byte(&text, '\0', &st));
    assert_string_equal(text.ptr, expected);
    ms_buf_release(&text);
    ms_arena_release(&arena);
}

static void ranges_are_cut_at_samples(void **state)
{
    (void)state;
    check_plan("(*,*)", "", "(*,*)");
    check_plan("(*,*)", ".", "(*,*)");
    check_plan("(*,*)", "gm.", "(*,g) | [g,m) | [m,*)");
    check_plan("(*,*)", "m.gmg", "(*,g) | [g,m) | [m,*)");
    check_plan("[a,m)", "g", "[a,g) | [g,m)");
    check_plan("[a,m)", "a", "[a,m)");
    check_plan("[a,m)", "m", "[a,m)");
    check_plan("[a,m]", "m", "[a,m) | [m,m]");
    check_plan("(a,m)", "a", "(a,m)");
    check_plan("", "gm", "");
}

static void what_lies_between_two_samples_is_one_split(void **state)
{
    (void)state;
    check_plan("[a,b)[c,d)[e,f)", "", "[a,b)[c,d)[e,f)");
    check_plan("[a,b)[c,d)[p,q)[r,s)", "m", "[a,b)[c,d) | [p,q)[r,s)");
    check_plan("[a,b)[c,p)[r,s)", "m", "[a,b)[c,m) | [m,p)[r,s)");
    check_plan("[a,b)[c,d)", "c", "[a,b) | [c,d)");
    check_plan("[a,b)[g,h)[x,y)", "cdefij", "[a,b) | [g,h) | [x,y)");
    check_plan("[a,a][c,c][e,e]", "cd", "[a,a] | [c,c] | [e,e]");
}

static void no_split_is_without_a_key(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    /* Nothing lies between k and k followed by a zero byte. */
    ms_bt_range range = {{MS_BT_BOUND_OPEN, ms_str_lit("k")}, {MS_BT_BOUND_NONE, {NULL, 0}}};
    ms_bt_ranges ranges = {&range, 1};
    ms_str sample = {"k\0", 2};
    const ms_bt_ranges *splits = NULL;
    assert_int_equal(msi_bt_splits_plan(&arena, &ranges, &sample, 1, &splits), 1);
    assert_int_equal(splits[0].list[0].start.kind, MS_BT_BOUND_CLOSED);
    ms_arena_release(&arena);
}

static void a_split_has_a_thousand_ranges_at_most(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    enum { COUNT = 2500 };
    ms_bt_range *list = ms_arena_array(&arena, ms_bt_range, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        list[i] = ms_bt_range_key(ms_arena_format(&arena, "key%06u", i));
    }
    ms_bt_ranges ranges = {list, COUNT};
    const ms_bt_ranges *splits = NULL;
    assert_int_equal(msi_bt_splits_plan(&arena, &ranges, NULL, 0, &splits), 3);
    assert_int_equal(splits[0].count, 1000);
    assert_int_equal(splits[2].count, 500);
    ms_arena_release(&arena);
}

static void a_split_has_the_keys_of_one_request_at_most(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    enum { COUNT = 200 }; /* keys of 4096 bytes, at both ends of a range: 32 of these are a split */
    ms_bt_range *list = ms_arena_array(&arena, ms_bt_range, COUNT);
    for (int i = 0; i < COUNT; i++) {
        list[i] = ms_bt_range_key(ms_arena_format(&arena, "%04096d", i));
    }
    ms_bt_ranges ranges = {list, COUNT};
    const ms_bt_ranges *splits = NULL;
    size_t count = msi_bt_splits_plan(&arena, &ranges, NULL, 0, &splits);
    assert_int_equal(count, 7);
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(splits[i].count, i < 6 ? 32 : 8);
        assert_true(ms_bt_range_equals(&splits[i].list[0], &list[seen]));
        seen += splits[i].count;
    }
    assert_int_equal(seen, COUNT);
    ms_arena_release(&arena);
}

static void check_after(const char *ranges_text, ms_str last_key, const char *expected)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    ms_bt_ranges ranges = parse_ranges(&arena, ranges_text);
    msi_bt_split split = {ranges, 7};
    msi_bt_split rest = msi_bt_split_after(&arena, &split, last_key);
    assert_int_equal(rest.incarnation, 7);
    ms_buf text;
    ms_buf_init(&text, 4096);
    append_ranges(&rest.ranges, &text);
    assert_ok(ms_buf_append_byte(&text, '\0', &st));
    assert_string_equal(text.ptr, expected);
    msi_bt_split again = msi_bt_split_after(&arena, &rest, last_key);
    assert_int_equal(again.ranges.count, rest.ranges.count);
    ms_buf_release(&text);
    ms_arena_release(&arena);
}

static void what_is_left_begins_behind_the_last_key(void **state)
{
    (void)state;
    check_after("[a,m)[p,q)", ms_str_lit("c"), "(c,m)[p,q)");
    check_after("[a,m)[p,q)", ms_str_lit("p"), "(p,q)");
    check_after("[a,m)[p,p]", ms_str_lit("p"), "");
    check_after("[a,m)[p,q)", ms_str_lit("z"), "");
    check_after("(*,*)", ms_str_lit("c"), "(c,*)");
    check_after("[m,*)", ms_str_lit("c"), "[m,*)");
    check_after("(*,*)", ms_str_lit(""), "[\\x00,*)");
}

static void a_split_survives_its_stored_form(void **state)
{
    (void)state;
    static const char *const texts[] = {"(*,*)", "[a,b)", "(a,b](c,*)", "[a,a][c,c]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        ms_status st = {0};
        msi_bt_split split = {parse_ranges(&arena, texts[i]), (uint32_t)i};
        ms_buf bytes;
        ms_buf_init(&bytes, 4096);
        assert_ok(msi_bt_split_write(&split, &bytes, &st));
        msi_bt_split back;
        assert_ok(msi_bt_split_read(&arena, ms_buf_view(&bytes), &back, &st));
        assert_int_equal(back.incarnation, i);
        assert_int_equal(back.ranges.count, split.ranges.count);
        for (size_t r = 0; r < split.ranges.count; r++) {
            assert_true(ms_bt_range_equals(&split.ranges.list[r], &back.ranges.list[r]));
        }
        /* Cut anywhere, it is damaged. */
        for (size_t cut = 0; cut < bytes.bytes; cut++) {
            ms_status cut_st = {0};
            assert_int_equal(msi_bt_split_read(&arena, ms_str_make(bytes.ptr, cut), &back, &cut_st),
                             MS_CORRUPT_DATA);
        }
        ms_buf_release(&bytes);
        ms_arena_release(&arena);
    }
}

static void damaged_splits_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t count;
    } damaged[] = {
        {"", 0},
        {"\x03\x01\x00\x00\x00\x00", 6},                  /* an unknown version */
        {"\x02\x00\x00\x00\x00\x01\x00\x00\x00\x00", 10}, /* no incarnation */
        {"\x01\x00", 2},                                  /* no range */
        {"\x01\x01\x03\x00\x00\x00", 6},                  /* no such bound */
        {"\x01\x01\x01\x00\x00\x00", 6},                  /* a bound without a key */
        {"\x01\x01\x00\x01k\x00\x00", 7},                 /* a key without a bound */
        {"\x01\x01\x01\x01z\x02\x01"
         "a",
         8},                                                        /* inverted */
        {"\x01\x02\x01\x01p\x02\x01q\x01\x01\x61\x02\x01\x62", 14}, /* not ascending */
        {"\x01\x01\x00\x00\x00\x00\x00", 7},                        /* bytes left over */
        {"\x01\xff\xff\xff\xff\x0f", 6},                            /* more ranges than bytes */
    };
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        ms_status st = {0};
        msi_bt_split back;
        ms_str bytes = {damaged[i].bytes, damaged[i].count};
        assert_int_equal(msi_bt_split_read(&arena, bytes, &back, &st), MS_CORRUPT_DATA);
        ms_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_cut_at_samples),
        cmocka_unit_test(what_lies_between_two_samples_is_one_split),
        cmocka_unit_test(no_split_is_without_a_key),
        cmocka_unit_test(a_split_has_a_thousand_ranges_at_most),
        cmocka_unit_test(a_split_has_the_keys_of_one_request_at_most),
        cmocka_unit_test(what_is_left_begins_behind_the_last_key),
        cmocka_unit_test(a_split_survives_its_stored_form),
        cmocka_unit_test(damaged_splits_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
