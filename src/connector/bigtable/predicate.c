/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions to ranges. A row key is never NULL, so that every comparison translated here is
 * either true or false, and NOT is the complement.
 */
#include "connector/bigtable/predicate.h"

typedef struct translator {
    ms_arena *arena;
    const msi_bt_layout *layout;
} translator;

typedef enum comparison {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_COUNT
} comparison;

static const struct {
    const char *name;
    comparison flipped; /* with the sides exchanged */
} comparisons[COMPARE_COUNT] = {
    [COMPARE_EQ] = {"=", COMPARE_EQ}, [COMPARE_NE] = {"<>", COMPARE_NE},
    [COMPARE_LT] = {"<", COMPARE_GT}, [COMPARE_LE] = {"<=", COMPARE_GE},
    [COMPARE_GT] = {">", COMPARE_LT}, [COMPARE_GE] = {">=", COMPARE_LE},
};

/* How the keys of a type can be compared. */
typedef enum key_kind {
    KEY_OPAQUE,
    KEY_ORDERED, /* bytes sort as values do, one key a value */
    KEY_PREFIXED /* a value is every key that begins with its bytes */
} key_kind;

static key_kind kind_of_key(const msi_bt_codec *key)
{
    const ms_type *type = key->type;
    if (type->kind == MS_TYPE_VARCHAR || type->kind == MS_TYPE_VARBINARY) {
        return KEY_ORDERED;
    }
    bool is_fixed = ms_type_is_integer(type) || ms_type_is_timestamp(type) ||
                    ms_type_is_interval(type) || type->kind == MS_TYPE_DATE ||
                    type->kind == MS_TYPE_TIME;
    return is_fixed && !key->rejects_tail ? KEY_PREFIXED : KEY_OPAQUE;
}

/* The key column, alone or widened. */
static bool is_key(const translator *t, const ms_expr *expr)
{
    if (expr->kind == MS_EXPR_CAST && ms_type_is_integer(expr->type) &&
        ms_type_is_integer(expr->children[0]->type) &&
        ms_phys_bytes(expr->type->phys) >= ms_phys_bytes(expr->children[0]->type->phys)) {
        expr = expr->children[0];
    }
    return expr->kind == MS_EXPR_COLUMN && expr->index == t->layout->key_column;
}

/* Literals. */

static bool fits_integer(int64_t value, const ms_type *type)
{
    unsigned bits = (unsigned)ms_phys_bytes(type->phys) * 8;
    int64_t shifted = value >> (bits - 1);
    return shifted == 0 || shifted == -1;
}

/* Does the literal have the key's type, so that equal values have equal bytes? */
static bool is_exact(const ms_value *value, const ms_type *key)
{
    const ms_type *type = value->type;
    if (ms_type_is_character(key)) {
        return ms_type_is_character(type);
    }
    if (ms_type_is_binary(key)) {
        return ms_type_is_binary(type);
    }
    if (ms_type_is_integer(key)) {
        return ms_type_is_integer(type) && fits_integer(value->u.i, key);
    }
    if (type->kind != key->kind || type->phys != key->phys) {
        return false;
    }
    return !ms_type_is_timestamp(key) || value->u.i % 1000 == 0;
}

/* The key bytes of a literal; false when it has none, or stands for something else. */
static bool encode_literal(const translator *t, const ms_expr *expr, ms_str *bytes_out)
{
    const msi_bt_codec *key = &t->layout->key;
    if (expr->kind != MS_EXPR_CONST || expr->value->is_null || !is_exact(expr->value, key->type)) {
        return false;
    }
    static const uint32_t pos = 0;
    ms_value value = *expr->value;
    value.type = key->type;
    ms_vec vec;
    ms_vec_alloc(&vec, key->type, 1, t->arena);
    ms_value_to_vec(t->arena, &value, &vec, 0, 1);
    char *scratch = ms_arena_alloc(t->arena, key->scratch_bytes, 1);
    key->encode(key, &vec, &pos, 1, scratch, bytes_out);
    /* Short texts lie in the vector, which the arena keeps. */
    return bytes_out->bytes > 0;
}

/* Comparisons. */

static ms_bt_ranges make_one(const translator *t, ms_bt_range range)
{
    return ms_bt_ranges_coalesce(&range, 1, t->arena);
}

static ms_bt_range equal_range(const translator *t, ms_str key)
{
    return kind_of_key(&t->layout->key) == KEY_PREFIXED ? ms_bt_range_prefix(key, t->arena)
                                                        : ms_bt_range_key(key);
}

static ms_bt_range compared_range(comparison op, ms_str key)
{
    ms_bt_range range = {{MS_BT_BOUND_NONE, {NULL, 0}}, {MS_BT_BOUND_NONE, {NULL, 0}}};
    if (op == COMPARE_LT || op == COMPARE_LE) {
        range.end = ms_bt_bound_make(op == COMPARE_LT ? MS_BT_BOUND_OPEN : MS_BT_BOUND_CLOSED, key);
    } else {
        range.start =
            ms_bt_bound_make(op == COMPARE_GT ? MS_BT_BOUND_OPEN : MS_BT_BOUND_CLOSED, key);
    }
    return range;
}

static bool translate_comparison(const translator *t, const ms_expr *expr, comparison op,
                                 ms_bt_ranges *ranges_out)
{
    bool is_flipped = !is_key(t, expr->children[0]);
    const ms_expr *literal = expr->children[is_flipped ? 0 : 1];
    if (is_flipped) {
        if (!is_key(t, expr->children[1])) {
            return false;
        }
        op = comparisons[op].flipped;
    }
    key_kind kind = kind_of_key(&t->layout->key);
    bool is_equality = op == COMPARE_EQ || op == COMPARE_NE;
    if (kind == KEY_OPAQUE || (kind == KEY_PREFIXED && !is_equality)) {
        return false;
    }
    ms_str key;
    if (!encode_literal(t, literal, &key)) {
        return false;
    }
    *ranges_out = make_one(t, is_equality ? equal_range(t, key) : compared_range(op, key));
    if (op == COMPARE_NE) {
        *ranges_out = ms_bt_ranges_complement(ranges_out, t->arena);
    }
    return true;
}

static bool translate_in(const translator *t, const ms_expr *expr, ms_bt_ranges *ranges_out)
{
    if (!is_key(t, expr->children[0]) || kind_of_key(&t->layout->key) == KEY_OPAQUE) {
        return false;
    }
    uint32_t count = expr->child_count - 1;
    ms_bt_range *list = ms_arena_array(t->arena, ms_bt_range, count);
    for (uint32_t i = 0; i < count; i++) {
        ms_str key;
        if (!encode_literal(t, expr->children[i + 1], &key)) {
            return false;
        }
        list[i] = equal_range(t, key);
    }
    *ranges_out = ms_bt_ranges_coalesce(list, count, t->arena);
    return true;
}

/* Everything. */

static bool translate(const translator *t, const ms_expr *expr, ms_bt_ranges *ranges_out);

static bool translate_and(const translator *t, const ms_expr *expr, ms_bt_ranges *ranges_out)
{
    ms_bt_ranges *children = ms_arena_array(t->arena, ms_bt_ranges, expr->child_count);
    for (uint32_t i = 0; i < expr->child_count; i++) {
        if (!translate(t, expr->children[i], &children[i])) {
            return false;
        }
    }
    *ranges_out = msi_bt_predicate_common(t->arena, children, expr->child_count);
    return true;
}

static bool translate_or(const translator *t, const ms_expr *expr, ms_bt_ranges *ranges_out)
{
    ms_bt_ranges *children = ms_arena_array(t->arena, ms_bt_ranges, expr->child_count);
    size_t total = 0;
    for (uint32_t i = 0; i < expr->child_count; i++) {
        if (!translate(t, expr->children[i], &children[i])) {
            return false;
        }
        total += children[i].count;
    }
    ms_bt_range *list = ms_arena_array(t->arena, ms_bt_range, total);
    size_t count = 0;
    for (uint32_t i = 0; i < expr->child_count; i++) {
        for (size_t r = 0; r < children[i].count; r++) {
            list[count++] = children[i].list[r];
        }
    }
    *ranges_out = ms_bt_ranges_coalesce(list, count, t->arena);
    return true;
}

static bool translate_call(const translator *t, const ms_expr *expr, ms_bt_ranges *ranges_out)
{
    if (ms_expr_is_call_of(expr, "IN")) {
        return translate_in(t, expr, ranges_out);
    }
    if (ms_expr_is_call_of(expr, "NOT")) {
        if (!translate(t, expr->children[0], ranges_out)) {
            return false;
        }
        *ranges_out = ms_bt_ranges_complement(ranges_out, t->arena);
        return true;
    }
    bool is_null_test = ms_expr_is_call_of(expr, "IS NULL");
    if (is_null_test || ms_expr_is_call_of(expr, "IS NOT NULL")) {
        *ranges_out = (ms_bt_ranges){NULL, 0};
        if (!is_null_test) {
            *ranges_out = ms_bt_ranges_complement(ranges_out, t->arena);
        }
        return is_key(t, expr->children[0]);
    }
    for (comparison op = COMPARE_EQ; op < COMPARE_COUNT; op++) {
        if (ms_expr_is_call_of(expr, comparisons[op].name)) {
            return translate_comparison(t, expr, op, ranges_out);
        }
    }
    return false;
}

static bool translate(const translator *t, const ms_expr *expr, ms_bt_ranges *ranges_out)
{
    if (expr->kind == MS_EXPR_AND) {
        return translate_and(t, expr, ranges_out);
    }
    if (expr->kind == MS_EXPR_OR) {
        return translate_or(t, expr, ranges_out);
    }
    return expr->kind == MS_EXPR_CALL && translate_call(t, expr, ranges_out);
}

bool msi_bt_predicate_ranges(ms_arena *arena, const msi_bt_layout *layout, const ms_expr *expr,
                             ms_bt_ranges *ranges_out)
{
    translator t = {.arena = arena, .layout = layout};
    return translate(&t, expr, ranges_out);
}

ms_bt_ranges msi_bt_predicate_common(ms_arena *arena, const ms_bt_ranges *lists, size_t count)
{
    MS_ASSERT(count > 0);
    if (count == 1) {
        return lists[0];
    }
    ms_bt_ranges left = msi_bt_predicate_common(arena, lists, count / 2);
    ms_bt_ranges right = msi_bt_predicate_common(arena, lists + count / 2, count - count / 2);
    return ms_bt_ranges_intersect(&left, &right, arena);
}
