/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator behind random_expr.h. It asks the builder for what it wants and takes a leaf
 * instead when the builder refuses, so that it needs no typing rules of its own.
 */
#include "random_expr.h"

#include "base/limits.h"
#include "func/typing.h"

#include <string.h>

/* The types of columns; the generator also casts to these. */
static const char *const type_texts[] = {
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10, 2)",
    "DECIMAL(18, 0)",
    "DECIMAL(20, 5)",
    "DECIMAL(38, 10)",
    "STRING",
    "VARCHAR(5)",
    "CHAR(3)",
    "BYTES",
    "DATE",
    "TIME(3)",
    "TIMESTAMP(3)",
    "TIMESTAMP(6)",
    "TIMESTAMP_LTZ(3)",
    "INTERVAL MONTH",
    "INTERVAL SECOND(3)",
    "ARRAY<INT>",
    "MAP<STRING, INT>",
    "ROW<`a` INT, `b` STRING>",
    "ARRAY<ROW<`a` INT, `b` STRING> >",
    "INT NOT NULL",
    "BIGINT NOT NULL",
    "STRING NOT NULL",
    "BOOLEAN NOT NULL",
};
#define TYPE_COUNT ((uint32_t)(sizeof(type_texts) / sizeof(type_texts[0])))

static const char *const texts[] = {"",
                                    "a",
                                    "abc",
                                    "12",
                                    " 42 ",
                                    "-7",
                                    "3.14",
                                    "1e3",
                                    "NaN",
                                    "true",
                                    "F",
                                    "ABCDEFGHIJKLMNOP",
                                    "a%b_c",
                                    "\xC3\x84\xC3\x96\xC3\xBC\xC3\x9F",
                                    "\xF0\x9F\x98\x80x",
                                    "\xFF\xFE",
                                    "\x80zz",
                                    "2020-01-31",
                                    "2020-02-30 12:34:56.789",
                                    "2020-02-30",
                                    "12:34:56",
                                    "99999999999999999999",
                                    "  spaces on both sides  ",
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                                    "%",
                                    "_",
                                    "x\ny"};
#define TEXT_COUNT ((uint32_t)(sizeof(texts) / sizeof(texts[0])))

/* Values. */

static int64_t random_int(rng *r, int64_t min, int64_t max)
{
    static const int64_t small[] = {0, 0, 1, 1, -1, -1, 2, 3, 5, 7, 10, -10, 100, 123, 1000};
    switch (rng_below(r, 8)) {
    case 0:
        return min;
    case 1:
        return max;
    case 2: {
        uint64_t range = (uint64_t)max - (uint64_t)min;
        uint64_t at = range == UINT64_MAX ? rng_next(r) : rng_next(r) % (range + 1);
        return (int64_t)((uint64_t)min + at);
    }
    default: {
        int64_t value = small[rng_below(r, sizeof(small) / sizeof(small[0]))];
        return value < min ? min : value > max ? max : value;
    }
    }
}

static int64_t random_timestamp(rng *r, const ms_type *type)
{
    int64_t us = rng_chance(r, 90) ? random_int(r, -1000000000000000, 4000000000000000)
                                   : random_int(r, INT64_MIN, INT64_MAX);
    return type->precision >= 6 ? us : us / 1000 * 1000;
}

/* By kind: the range that is taken most of the time. */
static int64_t random_whole(rng *r, const ms_type *type)
{
    bool is_usual = rng_chance(r, 85);
    if (ms_type_is_timestamp(type)) {
        return random_timestamp(r, type);
    }
    if (type->kind == MS_TYPE_BOOLEAN) {
        return rng_below(r, 2);
    }
    if (type->kind == MS_TYPE_TIME) {
        return random_int(r, 0, 86399999);
    }
    if (type->kind == MS_TYPE_DATE && is_usual) {
        return random_int(r, -20000, 40000);
    }
    if (ms_type_is_interval(type) && is_usual) {
        return random_int(r, -100000, 100000);
    }
    if (type->phys == MS_PHYS_I8) {
        return random_int(r, INT8_MIN, INT8_MAX);
    }
    if (type->phys == MS_PHYS_I16) {
        return random_int(r, INT16_MIN, INT16_MAX);
    }
    return type->phys == MS_PHYS_I64 ? random_int(r, INT64_MIN, INT64_MAX)
                                     : random_int(r, INT32_MIN, INT32_MAX);
}

static double random_double(rng *r)
{
    static const double values[] = {0.0,
                                    -0.0,
                                    1.0,
                                    -1.5,
                                    0.1,
                                    1e10,
                                    1e300,
                                    -1e-300,
                                    123.456,
                                    2147483648.5,
                                    __builtin_inf(),
                                    -__builtin_inf(),
                                    __builtin_nan(""),
                                    9.2e18};
    return values[rng_below(r, sizeof(values) / sizeof(values[0]))];
}

static ms_i128 random_unscaled(rng *r, int32_t precision)
{
    ms_i128 limit = 1;
    for (int32_t i = 0; i < precision; i++) {
        limit *= 10;
    }
    switch (rng_below(r, 4)) {
    case 0:
        return limit - 1;
    case 1:
        return -(limit - 1);
    case 2: {
        ms_i128 wide = (ms_i128)(int64_t)rng_next(r) * (INT64_C(1) << 40) + (int64_t)rng_next(r);
        return wide % limit;
    }
    default:
        return (ms_i128)random_int(r, -200000, 200000) % limit;
    }
}

static ms_value random_items(ms_arena *arena, rng *r, const ms_type *type)
{
    uint32_t per_item = type->kind == MS_TYPE_MAP ? 2 : 1;
    uint32_t count = type->kind == MS_TYPE_ROW ? type->child_count : rng_below(r, 4) * per_item;
    ms_value *items = ms_arena_array(arena, ms_value, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t child = type->kind == MS_TYPE_ROW ? i : i % per_item;
        items[i] = random_value(arena, r, type->children[child]);
    }
    ms_value value = {.type = type, .item_count = count};
    value.u.items = items;
    return value;
}

ms_value random_value(ms_arena *arena, rng *r, const ms_type *type)
{
    if (type->nullable && rng_chance(r, 20)) {
        return ms_value_null(type);
    }
    if (ms_type_is_nested(type)) {
        return random_items(arena, r, type);
    }
    if (type->phys == MS_PHYS_STR) {
        ms_str text = ms_str_cstr(texts[rng_below(r, TEXT_COUNT)]);
        return ms_value_str(type, ms_str_slice(text, 0, (size_t)type->precision));
    }
    if (type->phys == MS_PHYS_F32) {
        return ms_value_double(type, (double)(float)random_double(r));
    }
    if (type->phys == MS_PHYS_F64) {
        return ms_value_double(type, random_double(r));
    }
    if (type->kind == MS_TYPE_DECIMAL) {
        ms_i128 unscaled = random_unscaled(r, type->precision);
        ms_value value = ms_value_int(type, (int64_t)unscaled);
        if (type->phys == MS_PHYS_I128) {
            value.u.dec = unscaled;
        }
        return value;
    }
    return ms_value_int(type, random_whole(r, type));
}

/* Batches. */

/* Fills the values of a row with what must not be looked at. */
static void poison_row(ms_vec *vec, uint32_t row, rng *r)
{
    size_t bytes = ms_phys_bytes(vec->phys);
    char *at = (char *)vec->data + row * bytes;
    static const int64_t traps[] = {INT64_MIN, -1, 0};
    int64_t trap = traps[rng_below(r, 3)];
    if (rng_chance(r, 50) || vec->phys == MS_PHYS_STR || vec->phys == MS_PHYS_LIST) {
        memset(at, 0xDB, bytes);
    } else if (bytes <= 8) {
        memcpy(at, &trap, bytes);
    } else {
        memset(at, (int)(trap & 0xFF), bytes);
    }
}

static void poison_unselected(ms_vec *vec, const bool *is_live, uint32_t rows, rng *r)
{
    for (uint32_t row = 0; row < rows; row++) {
        if (!is_live[row] && vec->phys != MS_PHYS_ROW) {
            poison_row(vec, row, r);
        }
    }
    for (uint32_t c = 0; c < vec->child_count && vec->phys == MS_PHYS_ROW; c++) {
        poison_unselected(&vec->children[c], is_live, rows, r);
    }
}

static void write_row(ms_arena *arena, ms_vec *vec, uint32_t row, const ms_value *value,
                      uint32_t capacity, rng *r)
{
    ms_value_to_vec(arena, value, vec, row, capacity);
    if (value->is_null && vec->phys != MS_PHYS_ROW) {
        poison_row(vec, row, r);
    }
}

static ms_vec flat_column(ms_arena *arena, rng *r, const ms_type *type, uint32_t rows,
                          const bool *is_live)
{
    ms_vec vec;
    ms_vec_alloc(&vec, type, rows, arena);
    for (uint32_t row = 0; row < rows; row++) {
        ms_value value = random_value(arena, r, type);
        write_row(arena, &vec, row, &value, rows, r);
    }
    if (is_live != NULL) {
        poison_unselected(&vec, is_live, rows, r);
    }
    return vec;
}

static ms_vec random_column(ms_arena *arena, rng *r, const ms_type *type, uint32_t rows,
                            const bool *is_live)
{
    uint32_t choice = rng_below(r, 6);
    if (choice == 0) {
        ms_vec vec = flat_column(arena, r, type, 1, NULL);
        vec.encoding = MS_ENC_CONST;
        return vec;
    }
    if (choice == 1) {
        uint32_t base = 1 + rng_below(r, 10);
        ms_vec vec = flat_column(arena, r, type, base, NULL);
        uint16_t *index = ms_arena_array(arena, uint16_t, rows);
        for (uint32_t row = 0; row < rows; row++) {
            index[row] = is_live[row] ? (uint16_t)rng_below(r, base) : (uint16_t)0xDBDB;
        }
        vec.encoding = MS_ENC_INDEX;
        vec.index = index;
        return vec;
    }
    return flat_column(arena, r, type, rows, is_live);
}

void random_input_make(ms_arena *arena, rng *r, random_input *out)
{
    uint32_t rows = rng_chance(r, 10) ? 1 + rng_below(r, 2048) : 1 + rng_below(r, 150);
    bool *is_live = ms_arena_array(arena, bool, rows);
    uint16_t *sel = ms_arena_array(arena, uint16_t, rows);
    uint32_t live = 0;
    bool has_sel = rng_chance(r, 50);
    uint32_t share = rng_chance(r, 30) ? 5 : rng_below(r, 101);
    for (uint32_t row = 0; row < rows; row++) {
        is_live[row] = !has_sel || rng_chance(r, share);
        if (is_live[row]) {
            sel[live++] = (uint16_t)row;
        }
    }
    ms_field *fields = ms_arena_array(arena, ms_field, TYPE_COUNT);
    ms_vec *columns = ms_arena_array(arena, ms_vec, TYPE_COUNT);
    for (uint32_t i = 0; i < TYPE_COUNT; i++) {
        fields[i].name = ms_arena_format(arena, "c%u", i);
        fields[i].type = ms_typing_parse(arena, ms_str_cstr(type_texts[i]));
        MS_ASSERT(fields[i].type != NULL);
        columns[i] = random_column(arena, r, fields[i].type, rows, is_live);
    }
    out->schema = (ms_schema){TYPE_COUNT, fields};
    out->batch = (ms_batch){.rows = rows, .column_count = TYPE_COUNT, .columns = columns};
    if (has_sel) {
        out->batch.sel = sel;
        out->batch.sel_count = live;
    }
}

/* Expressions. */

typedef struct gen {
    ms_expr_builder b;
    ms_status st;
    rng *r;
    const ms_schema *schema;
    uint32_t span;
} gen;

static const ms_expr *any_expr(gen *g, uint32_t depth);
static const ms_expr *expr_of(gen *g, const ms_type *type, uint32_t depth);

/* Spans are given in a random order, so that "leftmost" is not "first built". */
static ms_span next_span(gen *g)
{
    uint32_t start = 1 + rng_below(g->r, 1000000);
    return (ms_span){start, start + 1 + g->span++};
}

static const ms_type *random_type(gen *g)
{
    return g->schema->columns[rng_below(g->r, TYPE_COUNT)].type;
}

static const ms_expr *constant(gen *g, const ms_type *type)
{
    ms_value value = random_value(g->b.arena, g->r, type);
    value.type = ms_type_as_nullable(g->b.arena, type, value.is_null);
    return ms_expr_const(g->b.arena, &value, next_span(g));
}

static const ms_expr *leaf(gen *g, const ms_type *type)
{
    uint32_t matches[TYPE_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < TYPE_COUNT; i++) {
        if (ms_type_same_shape(g->schema->columns[i].type, type)) {
            matches[count++] = i;
        }
    }
    if (count == 0 || rng_chance(g->r, 25)) {
        return constant(g, type);
    }
    uint32_t column = matches[rng_below(g->r, count)];
    return ms_expr_column(g->b.arena, column, g->schema->columns[column].type, next_span(g));
}

/* The builder's answer, or NULL when it refused. */
static const ms_expr *answer(gen *g, ms_rc rc, const ms_expr *expr)
{
    ms_status_clear(&g->st);
    return rc == MS_OK ? expr : NULL;
}

static const ms_expr *call(gen *g, const char *name, const ms_expr *const *args, uint32_t count)
{
    const ms_expr *out = NULL;
    ms_rc rc = ms_build_call(&g->b, ms_str_cstr(name), args, count, next_span(g), &out);
    return answer(g, rc, out);
}

static const ms_expr *call2(gen *g, const char *name, const ms_expr *a, const ms_expr *b)
{
    const ms_expr *args[2] = {a, b};
    return call(g, name, args, 2);
}

static const ms_expr *call3(gen *g, const char *name, const ms_expr *a, const ms_expr *b,
                            const ms_expr *c)
{
    const ms_expr *args[3] = {a, b, c};
    return call(g, name, args, 3);
}

static const ms_expr *cast(gen *g, const ms_expr *expr, const ms_type *type)
{
    const ms_expr *out = NULL;
    ms_build_cast_mode mode = rng_chance(g->r, 30) ? MS_BUILD_TRY_CAST : MS_BUILD_CAST;
    return answer(g, ms_build_cast(&g->b, expr, type, mode, next_span(g), &out), out);
}

static const ms_type *parse(gen *g, const char *text)
{
    return ms_typing_parse(g->b.arena, ms_str_cstr(text));
}

static const ms_type *numeric_type(gen *g)
{
    return g->schema->columns[1 + rng_below(g->r, 10)].type;
}

static const ms_type *text_type(gen *g)
{
    return g->schema->columns[11 + rng_below(g->r, 3)].type;
}

static const ms_type *boolean_type(gen *g)
{
    return g->schema->columns[0].type;
}

/* Forms that give any type. */

static const ms_expr *random_case(gen *g, const ms_type *type, uint32_t depth)
{
    uint32_t count = 1 + rng_below(g->r, 3);
    const ms_expr *whens[3];
    const ms_expr *thens[3];
    bool is_simple = rng_chance(g->r, 30);
    const ms_type *operand_type = random_type(g);
    const ms_expr *operand = is_simple ? expr_of(g, operand_type, depth - 1) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        whens[i] = expr_of(g, is_simple ? operand_type : boolean_type(g), depth - 1);
        thens[i] = expr_of(g, type, depth - 1);
    }
    const ms_expr *otherwise = rng_chance(g->r, 70) ? expr_of(g, type, depth - 1) : NULL;
    const ms_expr *out = NULL;
    ms_rc rc = ms_build_case(&g->b, operand, whens, thens, count, otherwise, next_span(g), &out);
    return answer(g, rc, out);
}

static const ms_expr *random_form(gen *g, const ms_type *type, uint32_t depth)
{
    const ms_expr *a = expr_of(g, type, depth - 1);
    const ms_expr *b = expr_of(g, type, depth - 1);
    switch (rng_below(g->r, 6)) {
    case 0:
        return call2(g, "COALESCE", a, b);
    case 1:
        return call3(g, "COALESCE", a, b, expr_of(g, type, depth - 1));
    case 2:
        return call2(g, "IFNULL", a, b);
    case 3:
        return call2(g, "NULLIF", a, b);
    case 4:
        return call3(g, "IF", expr_of(g, boolean_type(g), depth - 1), a, b);
    default:
        return random_case(g, type, depth);
    }
}

/* By type. */

static const ms_expr *random_logic(gen *g, uint32_t depth)
{
    static const char *const tests[] = {"NOT",          "IS TRUE",    "IS NOT TRUE",   "IS FALSE",
                                        "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN"};
    const ms_expr *args[4];
    uint32_t count = 2 + rng_below(g->r, 3);
    if (rng_chance(g->r, 30)) {
        args[0] = expr_of(g, boolean_type(g), depth - 1);
        return call(g, tests[rng_below(g->r, 7)], args, 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        args[i] = expr_of(g, boolean_type(g), depth - 1);
    }
    return call(g, rng_chance(g->r, 50) ? "AND" : "OR", args, count);
}

static const ms_expr *random_in(gen *g, const ms_type *type, uint32_t depth)
{
    const ms_expr *args[6];
    uint32_t count = 2 + rng_below(g->r, 5);
    bool is_constant = rng_chance(g->r, 70);
    args[0] = expr_of(g, type, depth - 1);
    for (uint32_t i = 1; i < count; i++) {
        args[i] = is_constant ? constant(g, type) : expr_of(g, type, depth - 1);
    }
    return call(g, rng_chance(g->r, 50) ? "IN" : "NOT IN", args, count);
}

/* x % d = 0, which programs compute in another way. */
static const ms_expr *random_divisible(gen *g, uint32_t depth)
{
    const ms_type *type = g->schema->columns[1 + rng_below(g->r, 4)].type;
    const ms_expr *rest = call2(g, rng_chance(g->r, 50) ? "%" : "MOD", expr_of(g, type, depth - 1),
                                constant(g, g->schema->columns[1 + rng_below(g->r, 4)].type));
    const ms_expr *zero = ms_build_int(&g->b, 0, next_span(g));
    return rest == NULL ? NULL : call2(g, rng_chance(g->r, 50) ? "=" : "<>", rest, zero);
}

static const ms_expr *random_compare(gen *g, uint32_t depth)
{
    static const char *const signs[] = {
        "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"};
    static const char *const ranges[] = {"BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC",
                                         "NOT BETWEEN SYMMETRIC"};
    const ms_type *type = random_type(g);
    bool mixes = ms_type_is_numeric(type) && rng_chance(g->r, 50);
    const ms_expr *a = expr_of(g, type, depth - 1);
    const ms_expr *b = expr_of(g, mixes ? numeric_type(g) : type, depth - 1);
    switch (rng_below(g->r, 7)) {
    case 6:
        return random_divisible(g, depth);
    case 0:
        return call3(g, ranges[rng_below(g->r, 4)], a, b, expr_of(g, type, depth - 1));
    case 1:
        return random_in(g, type, depth);
    case 2:
        return call(g, rng_chance(g->r, 50) ? "IS NULL" : "IS NOT NULL", &a, 1);
    default:
        return call2(g, signs[rng_below(g->r, 8)], a, b);
    }
}

static const ms_expr *random_like(gen *g, uint32_t depth)
{
    static const char *const patterns[] = {"a%",  "%b", "%aa%",  "abc",   "%",
                                           "_b_", "",   "%a_c%", "x\\%y", "%_"};
    const char *name = rng_chance(g->r, 50) ? "LIKE" : "NOT LIKE";
    const ms_expr *text = expr_of(g, text_type(g), depth - 1);
    ms_str pattern = ms_str_cstr(patterns[rng_below(g->r, 10)]);
    const ms_expr *like = rng_chance(g->r, 70) ? ms_build_text(&g->b, pattern, next_span(g))
                                               : expr_of(g, text_type(g), depth - 1);
    if (rng_chance(g->r, 30)) {
        return call3(g, name, text, like, ms_build_text(&g->b, ms_str_lit("\\"), next_span(g)));
    }
    return call2(g, name, text, like);
}

static const ms_expr *random_boolean(gen *g, uint32_t depth)
{
    switch (rng_below(g->r, 5)) {
    case 0:
    case 1:
        return random_logic(g, depth);
    case 2:
    case 3:
        return random_compare(g, depth);
    default:
        return random_like(g, depth);
    }
}

static const ms_expr *random_numeric(gen *g, const ms_type *type, uint32_t depth)
{
    static const char *const signs[] = {"+", "-", "*", "/", "%", "MOD"};
    const ms_expr *a = expr_of(g, rng_chance(g->r, 60) ? type : numeric_type(g), depth - 1);
    const ms_expr *b = expr_of(g, rng_chance(g->r, 60) ? type : numeric_type(g), depth - 1);
    const ms_expr *text = NULL;
    switch (rng_below(g->r, 10)) {
    case 0:
        return call(g, "ABS", &a, 1);
    case 1:
        return call(g, rng_chance(g->r, 80) ? "-" : "+", &a, 1);
    case 2:
        text = expr_of(g, text_type(g), depth - 1);
        return call(g, "CHAR_LENGTH", &text, 1);
    case 3:
        text = expr_of(g, text_type(g), depth - 1);
        return rng_chance(g->r, 50)
                   ? call2(g, "POSITION", expr_of(g, text_type(g), depth - 1), text)
                   : call3(g, "POSITION", expr_of(g, text_type(g), depth - 1), text, a);
    case 4:
        text = expr_of(g, g->schema->columns[22 + rng_below(g->r, 2)].type, depth - 1);
        return rng_chance(g->r, 30)
                   ? call(g, "CARDINALITY", &text, 1)
                   : call2(g, "ITEM", text,
                           rng_chance(g->r, 50) ? a : expr_of(g, text_type(g), depth - 1));
    case 5:
        text = constant(g, numeric_type(g));
        return call2(g, signs[3 + rng_below(g->r, 3)], a, text);
    default:
        return call2(g, signs[rng_below(g->r, 6)], a, b);
    }
}

static const ms_expr *random_text(gen *g, uint32_t depth)
{
    static const char *const trims[] = {"TRIM", "TRIM BOTH", "TRIM LEADING", "TRIM TRAILING"};
    const ms_expr *a = expr_of(g, text_type(g), depth - 1);
    const ms_expr *b = expr_of(g, text_type(g), depth - 1);
    const ms_expr *from = NULL;
    switch (rng_below(g->r, 7)) {
    case 0:
        return call2(g, "||", a, b);
    case 1:
        return call3(g, "CONCAT", a, b, expr_of(g, text_type(g), depth - 1));
    case 2:
        return call(g, rng_chance(g->r, 50) ? "UPPER" : "LOWER", &a, 1);
    case 3:
        from = expr_of(g, parse(g, "INT"), depth - 1);
        return rng_chance(g->r, 50)
                   ? call2(g, "SUBSTRING", a, from)
                   : call3(g, "SUBSTR", a, from, expr_of(g, parse(g, "BIGINT"), depth - 1));
    case 4:
        return call2(g, trims[rng_below(g->r, 4)], a, b);
    case 5:
        return call(g, "TRIM", &a, 1);
    default:
        return cast(g, any_expr(g, depth - 1), text_type(g));
    }
}

static const ms_expr *random_temporal(gen *g, const ms_type *type, uint32_t depth)
{
    const ms_type *interval = g->schema->columns[20 + rng_below(g->r, 2)].type;
    const ms_expr *a = expr_of(g, type, depth - 1);
    const ms_expr *b =
        rng_chance(g->r, 50) ? constant(g, interval) : expr_of(g, interval, depth - 1);
    const ms_expr *text = NULL;
    switch (rng_below(g->r, 5)) {
    case 0:
        return call2(g, "+", b, a);
    case 1:
        text = expr_of(g, text_type(g), depth - 1);
        return rng_chance(g->r, 50)
                   ? call(g, "TO_TIMESTAMP", &text, 1)
                   : call2(
                         g, "TO_TIMESTAMP", text,
                         ms_build_text(&g->b, ms_str_lit("yyyy-MM-dd HH:mm:ss.SSS"), next_span(g)));
    default:
        return call2(g, rng_chance(g->r, 50) ? "+" : "-", a, b);
    }
}

static const ms_expr *random_interval(gen *g, const ms_type *type, uint32_t depth)
{
    const ms_expr *a = expr_of(g, type, depth - 1);
    const ms_expr *b = expr_of(g, type, depth - 1);
    const ms_expr *n = expr_of(g, g->schema->columns[1 + rng_below(g->r, 4)].type, depth - 1);
    static const char *const signs[] = {"+", "-"};
    switch (rng_below(g->r, 4)) {
    case 0:
        return call2(g, "*", a, n);
    case 1:
        return call2(g, "/", a, n);
    case 2:
        return call(g, rng_chance(g->r, 50) ? "-" : "ABS", &a, 1);
    default:
        return call2(g, signs[rng_below(g->r, 2)], a, b);
    }
}

static const ms_expr *random_nested(gen *g, const ms_type *type, uint32_t depth)
{
    const ms_expr *args[6];
    uint32_t count = type->kind == MS_TYPE_ROW   ? type->child_count
                     : type->kind == MS_TYPE_MAP ? 2 + 2 * rng_below(g->r, 3)
                                                 : 1 + rng_below(g->r, 4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t child = type->kind == MS_TYPE_ROW ? i : type->kind == MS_TYPE_MAP ? i % 2 : 0;
        args[i] = expr_of(g, type->children[child], depth - 1);
    }
    return call(g,
                type->kind == MS_TYPE_ROW   ? "ROW"
                : type->kind == MS_TYPE_MAP ? "MAP"
                                            : "ARRAY",
                args, count);
}

static const ms_expr *random_part(gen *g, const ms_type *type, uint32_t depth)
{
    const ms_expr *out = NULL;
    const ms_expr *row = expr_of(g, g->schema->columns[24].type, depth - 1);
    if (type->kind == MS_TYPE_ROW) {
        return call2(g, "ITEM", expr_of(g, g->schema->columns[25].type, depth - 1),
                     expr_of(g, parse(g, "INT"), depth - 1));
    }
    ms_str name = type->kind == MS_TYPE_INT ? ms_str_lit("a") : ms_str_lit("b");
    ms_rc rc = ms_build_field(&g->b, row, name, next_span(g), &out);
    return answer(g, rc, out);
}

static const ms_expr *typed_expr(gen *g, const ms_type *type, uint32_t depth)
{
    if (rng_chance(g->r, 20)) {
        return random_form(g, type, depth);
    }
    if (rng_chance(g->r, 15)) {
        return cast(g, any_expr(g, depth - 1), type);
    }
    if (rng_chance(g->r, 10)) {
        return random_part(g, type, depth);
    }
    if (type->kind == MS_TYPE_BOOLEAN) {
        return random_boolean(g, depth);
    }
    if (ms_type_is_numeric(type)) {
        return random_numeric(g, type, depth);
    }
    if (ms_type_is_character(type)) {
        return random_text(g, depth);
    }
    if (ms_type_is_interval(type)) {
        return random_interval(g, type, depth);
    }
    if (ms_type_is_nested(type)) {
        return random_nested(g, type, depth);
    }
    return ms_type_is_binary(type) ? NULL : random_temporal(g, type, depth);
}

/* Of this type, but for nullability and names. */
static const ms_expr *expr_of(gen *g, const ms_type *type, uint32_t depth)
{
    if (depth == 0 || rng_chance(g->r, 15)) {
        return leaf(g, type);
    }
    const ms_expr *out = typed_expr(g, type, depth);
    if (out != NULL && !ms_type_same_shape(out->type, type)) {
        out = cast(g, out, type);
    }
    return out != NULL ? out : leaf(g, type);
}

static const ms_expr *any_expr(gen *g, uint32_t depth)
{
    return expr_of(g, random_type(g), depth);
}

static gen gen_make(ms_arena *arena, rng *r, const ms_schema *schema)
{
    return (gen){.b = {.arena = arena}, .r = r, .schema = schema};
}

const ms_expr *random_expr(ms_arena *arena, rng *r, const ms_schema *schema, uint32_t depth)
{
    gen g = gen_make(arena, r, schema);
    g.b.st = &g.st;
    return any_expr(&g, depth);
}

const ms_expr *random_condition(ms_arena *arena, rng *r, const ms_schema *schema, uint32_t depth)
{
    gen g = gen_make(arena, r, schema);
    g.b.st = &g.st;
    return expr_of(&g, boolean_type(&g), depth);
}
