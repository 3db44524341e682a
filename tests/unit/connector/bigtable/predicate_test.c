/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicates on the row key: which become ranges, and which ranges.
 */
#include "bt_testing.h"

#include "connector/bigtable/predicate.h"
#include "expr/build.h"
#include "type/text.h"

typedef struct fixture {
    ms_arena arena;
    ms_status st;
    ms_expr_builder builder;
    table_maker maker;
    msi_bt_layout layout;
} fixture;

static void fixture_init(fixture *f, const char *key_type, bool rejects_tail)
{
    memset(f, 0, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    f->builder = (ms_expr_builder){.arena = &f->arena, .st = &f->st};
    maker_init(&f->maker, &f->arena);
    maker_family(&f->maker, "cf", "q STRING");
    maker_column(&f->maker, "k", make_type(&f->arena, key_type));
    msi_bt_codec_options options = {ms_str_lit("null"), rejects_tail};
    ms_bt_table_name name = {ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")};
    ms_status st = {0};
    assert_ok(msi_bt_layout_make(&f->arena, &f->maker.table, &name, &options, &f->layout, &st));
}

static const ms_expr *key_of(fixture *f)
{
    return ms_expr_column(&f->arena, 1, f->maker.columns[1].type, ms_span_none);
}

/* A literal: 'text', X'hex', a number, a number with L for BIGINT, @number: micros as TIMESTAMP(6),
 * #number: days, NULL. */
static const ms_expr *literal(fixture *f, ms_str text)
{
    ms_arena *arena = &f->arena;
    ms_str inner = ms_str_slice(text, 1, text.bytes - 1);
    if (text.ptr[0] == '\'') {
        const ms_type *type = ms_type_sized(arena, MS_TYPE_CHAR, (int32_t)inner.bytes, false);
        ms_value value = ms_value_str(type, inner);
        return ms_expr_const(arena, &value, ms_span_none);
    }
    if (text.ptr[0] == 'X') {
        ms_str digits = ms_str_slice(text, 2, text.bytes - 1);
        char *bytes = ms_arena_alloc(arena, digits.bytes + 1, 1);
        size_t count = 0;
        assert_true(ms_text_hex_decode(digits, bytes, &count));
        const ms_type *type = ms_type_sized(arena, MS_TYPE_BINARY, (int32_t)count, false);
        ms_value value = ms_value_str(type, (ms_str){bytes, count});
        return ms_expr_const(arena, &value, ms_span_none);
    }
    if (text.ptr[0] == 'N') {
        ms_value value = ms_value_null(f->maker.columns[1].type);
        return ms_expr_const(arena, &value, ms_span_none);
    }
    const char *types[] = {"!INT", "!BIGINT", "!TIMESTAMP 6", "!DATE"};
    int which = ms_str_ends_with(text, ms_str_lit("L")) ? 1
                : text.ptr[0] == '@'                    ? 2
                : text.ptr[0] == '#'                    ? 3
                                                        : 0;
    ms_value value = ms_value_int(make_type(arena, types[which]),
                                  strtoll(text.ptr + (which >= 2 ? 1 : 0), NULL, 10));
    return ms_expr_const(arena, &value, ms_span_none);
}

static const ms_expr *call(fixture *f, const char *name, const ms_expr *const *args, uint32_t count)
{
    const ms_expr *expr = NULL;
    ms_rc rc = ms_build_call(&f->builder, ms_str_cstr(name), args, count, ms_span_none, &expr);
    if (rc != MS_OK) {
        fail_msg("%s: %s", name, f->st.message);
    }
    return expr;
}

/*
 * Reads a predicate in prefix form: (op arg arg ...), where an argument is k, a literal, or a
 * predicate. No blanks in literals.
 */
static const ms_expr *parse(fixture *f, const char **at)
{
    while (**at == ' ') {
        *at += 1;
    }
    if (**at != '(') {
        size_t bytes = strcspn(*at, " )");
        ms_str text = {*at, bytes};
        *at += bytes;
        return ms_str_equals(text, ms_str_lit("k")) ? key_of(f) : literal(f, text);
    }
    *at += 1;
    size_t bytes = strcspn(*at, " ");
    ms_str name = ms_arena_copy_str(&f->arena, ms_str_make(*at, bytes));
    for (size_t i = 0; i < bytes; i++) {
        if (name.ptr[i] == '_') {
            ((char *)(uintptr_t)name.ptr)[i] = ' ';
        }
    }
    *at += bytes;
    const ms_expr *args[16];
    uint32_t count = 0;
    while (**at != ')') {
        args[count++] = parse(f, at);
    }
    *at += 1;
    return call(f, name.ptr, args, count);
}

typedef struct predicate {
    const char *key;
    const char *text;
    const char *expected; /* NULL: not translated */
    bool rejects_tail;
} predicate;

static const predicate predicates[] = {
    /* Text keys: everything that has an order. */
    {"STRING", "(= k 'abc')", "[abc,abc]"},
    {"STRING", "(= 'abc' k)", "[abc,abc]"},
    {"STRING", "(<> k 'abc')", "(*,abc)(abc,*)"},
    {"STRING", "(< k 'abc')", "(*,abc)"},
    {"STRING", "(<= k 'abc')", "(*,abc]"},
    {"STRING", "(> k 'abc')", "(abc,*)"},
    {"STRING", "(>= k 'abc')", "[abc,*)"},
    {"STRING", "(< 'abc' k)", "(abc,*)"},
    {"STRING", "(<= 'abc' k)", "[abc,*)"},
    {"STRING", "(> 'abc' k)", "(*,abc)"},
    {"STRING", "(>= 'abc' k)", "(*,abc]"},
    {"STRING", "(IN k 'c' 'a' 'b' 'a')", "[a,a][b,b][c,c]"},
    {"STRING", "(NOT_IN k 'a' 'b')", "(*,a)(a,b)(b,*)"},
    {"STRING", "(BETWEEN k 'a' 'c')", "[a,c]"},
    {"STRING", "(NOT_BETWEEN k 'a' 'c')", "(*,a)(c,*)"},
    {"STRING", "(AND (>= k 'a') (< k 'm'))", "[a,m)"},
    {"STRING", "(AND (> k 'm') (< k 'a'))", ""},
    {"STRING", "(AND (= k 'a') (= k 'b'))", ""},
    {"STRING", "(AND (<> k 'a') (<> k 'b') (<> k 'c'))", "(*,a)(a,b)(b,c)(c,*)"},
    {"STRING", "(OR (= k 'b') (= k 'a'))", "[a,a][b,b]"},
    {"STRING", "(OR (< k 'c') (> k 'b'))", "(*,*)"},
    {"STRING", "(OR (<= k 'b') (>= k 'b'))", "(*,*)"},
    {"STRING", "(NOT (= k 'a'))", "(*,a)(a,*)"},
    {"STRING", "(NOT (OR (< k 'b') (> k 'd')))", "[b,d]"},
    {"STRING", "(IS_NULL k)", ""},
    {"STRING", "(IS_NOT_NULL k)", "(*,*)"},
    {"STRING", "(OR (IS_NULL k) (= k 'a'))", "[a,a]"},
    {"VARCHAR 5", "(= k 'abcdefgh')", "[abcdefgh,abcdefgh]"},
    {"STRING", "(= k 'averylongkeythatisnotinline')",
     "[averylongkeythatisnotinline,averylongkeythatisnotinline]"},
    /* What cannot be said in ranges. */
    {"STRING", "(= k '')", NULL},
    {"STRING", "(>= k '')", NULL},
    {"STRING", "(IN k 'a' '')", NULL},
    {"STRING", "(IN k 'a' NULL)", NULL},
    {"STRING", "(= k NULL)", NULL},
    {"STRING", "(= k k)", NULL},
    {"STRING", "(LIKE k 'abc%')", NULL},
    {"STRING", "(= (UPPER k) 'ABC')", NULL},
    {"STRING", "(OR (= k 'a') (LIKE k 'b%'))", NULL},
    {"STRING", "(AND (= k 'a') (LIKE k 'b%'))", NULL},
    {"STRING", "(NOT (LIKE k 'b%'))", NULL},
    {"STRING", "(IS_TRUE (= k 'a'))", NULL},
    /* Bytes. */
    {"BYTES", "(= k X'00ff')", "[\\x00\\xff,\\x00\\xff]"},
    {"BYTES", "(> k X'ff')", "(\\xff,*)"},
    {"VARBINARY 4", "(IN k X'01' X'02')", "[\\x01,\\x01][\\x02,\\x02]"},
    {"BYTES", "(= k X'')", NULL},
    /* Fixed widths: equality, by prefix. */
    {"INT", "(= k 66051)", "[\\x00\\x01\\x02\\x03,\\x00\\x01\\x02\\x04)"},
    {"INT", "(= k -1)", "[\\xff\\xff\\xff\\xff,*)"},
    {"INT", "(<> k -1)", "(*,\\xff\\xff\\xff\\xff)"},
    {"INT", "(<> k 1)", "(*,\\x00\\x00\\x00\\x01)[\\x00\\x00\\x00\\x02,*)"},
    {"INT", "(IN k 1 2)", "[\\x00\\x00\\x00\\x01,\\x00\\x00\\x00\\x03)"},
    {"INT", "(< k 1)", NULL},
    {"INT", "(>= k 1)", NULL},
    {"INT", "(BETWEEN k 1 2)", NULL},
    {"INT", "(= k 1)", NULL, true},
    {"INT", "(IN k 1 2)", NULL, true},
    {"INT", "(IS_NULL k)", "", true},
    {"TINYINT", "(= k 1)", "[\\x01,\\x02)"},
    {"TINYINT", "(= k 300)", NULL},
    {"SMALLINT", "(= k -2)", "[\\xff\\xfe,\\xff\\xff)"},
    {"BIGINT", "(= k 1L)",
     "[\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01,\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02)"},
    {"INT", "(= k 5000000000L)", NULL},
    {"DATE", "(= k #19723)", "[\\x00\\x00M\\x0b,\\x00\\x00M\\x0c)"},
    {"TIMESTAMP 3", "(= k @1700000000000000)",
     "[\\x00\\x00\\x01\\x8b\\xcf\\xe5h\\x00,\\x00\\x00\\x01\\x8b\\xcf\\xe5h\\x01)"},
    {"TIMESTAMP 3", "(= k @1700000000000001)", NULL},
    {"TIMESTAMP 3", "(< k @1700000000000000)", NULL},
    /* Types whose equal values may have other bytes. */
    {"CHAR 3", "(= k 'abc')", NULL},
    {"BINARY 2", "(= k X'0001')", NULL},
    {"DECIMAL 5 2", "(= k 1)", NULL},
    {"DOUBLE", "(= k 1)", NULL},
};

static void predicates_become_ranges_or_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(predicates) / sizeof(predicates[0]); i++) {
        const predicate *p = &predicates[i];
        fixture f;
        fixture_init(&f, p->key, p->rejects_tail);
        const char *at = p->text;
        const ms_expr *expr = parse(&f, &at);
        ms_bt_ranges ranges = {NULL, 0};
        bool is_exact = msi_bt_predicate_ranges(&f.arena, &f.layout, expr, &ranges);
        if (is_exact != (p->expected != NULL)) {
            fail_msg("%s %s: %s", p->key, p->text, is_exact ? "translated" : "not translated");
        }
        ms_status st = {0};
        ms_buf text;
        ms_buf_init(&text, 4096);
        for (size_t r = 0; is_exact && r < ranges.count; r++) {
            assert_ok(ms_bt_range_render(&ranges.list[r], &text, &st));
        }
        if (is_exact && !ms_str_equals(ms_buf_view(&text), ms_str_cstr(p->expected))) {
            fail_msg("%s %s: %.*s instead of %s", p->key, p->text, (int)text.bytes, text.ptr,
                     p->expected);
        }
        ms_buf_release(&text);
        ms_arena_release(&f.arena);
    }
}

static void a_condition_on_a_family_is_no_range(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, "STRING", false);
    const ms_expr *family = ms_expr_column(&f.arena, 0, f.maker.columns[0].type, ms_span_none);
    const ms_expr *args[2] = {
        ms_expr_field(&f.arena, family, 0, f.maker.columns[0].type->children[0], ms_span_none),
        literal(&f, ms_str_lit("'x'"))};
    ms_bt_ranges ranges;
    assert_false(msi_bt_predicate_ranges(&f.arena, &f.layout, call(&f, "=", args, 2), &ranges));
    assert_false(
        msi_bt_predicate_ranges(&f.arena, &f.layout, call(&f, "IS NOT NULL", &family, 1), &ranges));
    ms_arena_release(&f.arena);
}

/* Thousands of keys cut out one by one take memory for their number, not for its square. */
static void many_conditions_cost_little(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, "STRING", false);
    enum { COUNT = 5000 };
    ms_bt_ranges *lists = ms_arena_array(&f.arena, ms_bt_ranges, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        ms_bt_range one = ms_bt_range_key(ms_arena_format(&f.arena, "key%05u", i));
        ms_bt_ranges ranges = ms_bt_ranges_coalesce(&one, 1, &f.arena);
        lists[i] = ms_bt_ranges_complement(&ranges, &f.arena);
    }
    size_t before = ms_arena_used_bytes(&f.arena);
    assert_int_equal(msi_bt_predicate_common(&f.arena, lists, COUNT).count, COUNT + 1);
    assert_true(ms_arena_used_bytes(&f.arena) - before < (size_t)64 * COUNT * sizeof(ms_bt_range));
    ms_arena_release(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicates_become_ranges_or_stay),
        cmocka_unit_test(a_condition_on_a_family_is_no_range),
        cmocka_unit_test(many_conditions_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
