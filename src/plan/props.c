/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derived properties of logical nodes. They are computed from the properties of the inputs in one
 * step, cost one pass over the columns, and are what later rules ask instead of looking down the
 * tree. When in doubt a property is left out: every rule must be right without it.
 *
 * Keys are sets of columns. Constant columns do not tell rows apart, so they count as given
 * wherever a key is looked for: the one row of SELECT 'total', COUNT(*) is identified by no column
 * at all and therefore by the first one too.
 */
/* tidy: no-unit-test: covered by logical_test.c, through the constructors */
#include "plan/plan_priv.h"

#define NO_COLUMN UINT32_MAX

static void props_copy_columns(ms_arena *arena, ms_lnode *node, const ms_lnode *input)
{
    uint32_t count = node->schema.column_count;
    ms_column_props *columns = ms_arena_array(arena, ms_column_props, count);
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = input->props.columns[i];
    }
    node->props.columns = columns;
}

/* The one key of a node that has at most one row: no columns. */
static void props_set_single_row(ms_lnode *node)
{
    static const ms_key_set none = {0, NULL};
    node->props.is_single_row = true;
    node->props.unique_key_count = 1;
    node->props.unique_keys = &none;
    node->props.upsert_key_count = 1;
    node->props.upsert_keys = &none;
}

/*
 * Moves keys through a map from input columns to output columns; a key with a lost column is lost.
 */
static uint32_t keys_mapped(ms_arena *arena, const ms_key_set *keys, uint32_t key_count,
                            const uint32_t *map, const ms_key_set **keys_out)
{
    ms_key_set *mapped = ms_arena_array(arena, ms_key_set, key_count);
    uint32_t count = 0;
    for (uint32_t k = 0; k < key_count; k++) {
        uint32_t *columns = ms_arena_array(arena, uint32_t, keys[k].count);
        bool is_whole = true;
        for (uint32_t i = 0; i < keys[k].count && is_whole; i++) {
            columns[i] = map[keys[k].columns[i]];
            is_whole = columns[i] != NO_COLUMN;
        }
        if (is_whole) {
            mapped[count++] = (ms_key_set){keys[k].count, columns};
        }
    }
    *keys_out = mapped;
    return count;
}

static void derive_scan(ms_arena *arena, ms_lnode *node)
{
    const ms_table *table = node->u.scan.of.table;
    uint32_t count = node->schema.column_count;
    node->props.is_bounded = node->u.scan.scan != NULL && node->u.scan.scan->is_bounded;
    node->props.is_deterministic = true;
    node->props.columns = ms_arena_array(arena, ms_column_props, count);
    if (table->key_count == 0) {
        return;
    }
    /*
     * Ordinals of the primary key are among all columns; the scan counts the stored ones it gives.
     */
    uint32_t *map = ms_arena_array(arena, uint32_t, table->column_count);
    uint32_t stored = 0;
    uint32_t given = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        map[i] = NO_COLUMN;
        if (table->columns[i].kind == MS_COLUMN_COMPUTED) {
            continue;
        }
        if (given < count && node->u.scan.columns[given] == stored) {
            map[i] = given++;
        }
        stored++;
    }
    ms_key_set key = {table->key_count, table->key_columns};
    node->props.unique_key_count = keys_mapped(arena, &key, 1, map, &node->props.unique_keys);
    node->props.upsert_key_count = node->props.unique_key_count;
    node->props.upsert_keys = node->props.unique_keys;
}

static void derive_values(ms_arena *arena, ms_lnode *node)
{
    uint32_t count = node->schema.column_count;
    uint32_t row_count = node->u.values.row_count;
    ms_column_props *columns = ms_arena_array(arena, ms_column_props, count);
    node->props.is_bounded = true;
    node->props.is_deterministic = true;
    for (uint32_t i = 0; i < count * row_count; i++) {
        if (!ms_expr_is_deterministic(node->u.values.cells[i])) {
            node->props.is_deterministic = false;
        }
    }
    for (uint32_t i = 0; i < count && row_count <= 1; i++) {
        columns[i].monotony = MS_MONOTONY_CONSTANT;
    }
    node->props.columns = columns;
    if (row_count <= 1) {
        props_set_single_row(node);
    }
}

/* True when every column that an expression reads is constant. */
static bool reads_constants(const ms_expr *expr, const ms_lnode *input, uint64_t *bits,
                            size_t word_count)
{
    for (size_t w = 0; w < word_count; w++) {
        bits[w] = 0;
    }
    ms_expr_columns(expr, bits);
    for (uint32_t i = 0; i < input->schema.column_count; i++) {
        if ((bits[i / 64] >> (i % 64) & 1) != 0 &&
            input->props.columns[i].monotony != MS_MONOTONY_CONSTANT) {
            return false;
        }
    }
    return true;
}

static void derive_project(ms_arena *arena, ms_lnode *node)
{
    const ms_lnode *input = node->inputs[0];
    uint32_t count = node->schema.column_count;
    uint32_t *map = ms_arena_array(arena, uint32_t, input->schema.column_count);
    for (uint32_t i = 0; i < input->schema.column_count; i++) {
        map[i] = NO_COLUMN;
    }
    size_t word_count = input->schema.column_count / 64 + 1;
    uint64_t *bits = ms_arena_array(arena, uint64_t, word_count);
    ms_column_props *columns = ms_arena_array(arena, ms_column_props, count);
    for (uint32_t i = 0; i < count; i++) {
        const ms_expr *expr = node->u.project.exprs[i];
        bool is_deterministic = ms_expr_is_deterministic(expr);
        if (!is_deterministic) {
            node->props.is_deterministic = false;
        }
        if (expr->kind == MS_EXPR_COLUMN) {
            columns[i] = input->props.columns[expr->index];
            if (map[expr->index] == NO_COLUMN) {
                map[expr->index] = i;
            }
        } else if (is_deterministic && reads_constants(expr, input, bits, word_count)) {
            columns[i].monotony = MS_MONOTONY_CONSTANT;
        }
    }
    node->props.columns = columns;
    if (node->props.is_single_row) {
        return;
    }
    const ms_lprops *props = &input->props;
    node->props.unique_key_count = keys_mapped(arena, props->unique_keys, props->unique_key_count,
                                               map, &node->props.unique_keys);
    node->props.upsert_key_count = keys_mapped(arena, props->upsert_keys, props->upsert_key_count,
                                               map, &node->props.upsert_keys);
}

/*
 * The column that `column = constant` pins to one value; NO_COLUMN for any other condition. Not of
 * FLOAT and DOUBLE, where 0.0 = -0.0 though they are two keys.
 */
static uint32_t pinned_column(const ms_expr *conjunct)
{
    if (!ms_expr_is_call_of(conjunct, "=") || conjunct->child_count != 2) {
        return NO_COLUMN;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const ms_expr *column = conjunct->children[i];
        const ms_expr *other = conjunct->children[1 - i];
        if (column->kind == MS_EXPR_COLUMN && other->kind == MS_EXPR_CONST &&
            column->type->phys != MS_PHYS_F32 && column->type->phys != MS_PHYS_F64) {
            return column->index;
        }
    }
    return NO_COLUMN;
}

#define CONJUNCTS_LOOKED_AT                                                                        \
    64u /* more are possible; constants found later are only a lost chance */

static void derive_filter(ms_arena *arena, ms_lnode *node)
{
    const ms_expr *condition = node->u.filter.condition;
    if (!ms_expr_is_deterministic(condition)) {
        node->props.is_deterministic = false;
    }
    const ms_expr *conjuncts[CONJUNCTS_LOOKED_AT];
    uint32_t count = ms_expr_conjuncts(condition, conjuncts, CONJUNCTS_LOOKED_AT);
    ms_column_props *columns = NULL;
    for (uint32_t i = 0; i < count && i < CONJUNCTS_LOOKED_AT; i++) {
        uint32_t column = pinned_column(conjuncts[i]);
        if (column == NO_COLUMN) {
            continue;
        }
        if (columns == NULL) {
            columns = ms_arena_array(arena, ms_column_props, node->schema.column_count);
            for (uint32_t c = 0; c < node->schema.column_count; c++) {
                columns[c] = node->props.columns[c];
            }
        }
        columns[column].monotony = MS_MONOTONY_CONSTANT;
    }
    if (columns != NULL) {
        node->props.columns = columns;
    }
}

static void derive_watermark(ms_arena *arena, ms_lnode *node)
{
    props_copy_columns(arena, node, node->inputs[0]);
    uint32_t count = node->schema.column_count;
    ms_column_props *columns = ms_arena_array(arena, ms_column_props, count);
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = node->inputs[0]->props.columns[i];
    }
    columns[node->u.watermark.rowtime] = (ms_column_props){MS_TIME_ATTR_ROWTIME, MS_MONOTONY_QUASI};
    node->props.columns = columns;
}

static void derive_union(ms_arena *arena, ms_lnode *node)
{
    uint32_t count = node->schema.column_count;
    ms_column_props *columns = ms_arena_array(arena, ms_column_props, count);
    ms_lprops props = {.is_bounded = true, .is_deterministic = true, .columns = columns};
    for (uint32_t c = 0; c < count; c++) {
        columns[c].time_attr = MS_TIME_ATTR_ROWTIME;
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        const ms_lprops *input = &node->inputs[i]->props;
        props.is_bounded = props.is_bounded && input->is_bounded;
        props.is_deterministic = props.is_deterministic && input->is_deterministic;
        props.is_order_sensitive = props.is_order_sensitive || input->is_order_sensitive;
        for (uint32_t c = 0; c < count; c++) {
            if (input->columns[c].time_attr == MS_TIME_ATTR_NONE) {
                columns[c].time_attr = MS_TIME_ATTR_NONE;
            }
        }
    }
    node->props = props;
}

static void derive_sort(ms_arena *arena, ms_lnode *node)
{
    uint32_t count = node->schema.column_count;
    ms_column_props *columns = ms_arena_array(arena, ms_column_props, count);
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = node->inputs[0]->props.columns[i];
        /* Sorted rows come when event time is over: no watermark is about them any more. */
        columns[i].time_attr = MS_TIME_ATTR_NONE;
        if (columns[i].monotony != MS_MONOTONY_CONSTANT) {
            columns[i].monotony = MS_MONOTONY_NONE;
        }
    }
    const ms_sort_key *first = &node->u.sort.keys[0];
    if (columns[first->column].monotony != MS_MONOTONY_CONSTANT) {
        columns[first->column].monotony =
            first->descending ? MS_MONOTONY_DECREASING : MS_MONOTONY_INCREASING;
    }
    node->props.columns = columns;
    node->props.is_order_sensitive = false;
}

static void derive_limit(ms_lnode *node)
{
    const ms_lnode *input = node->inputs[0];
    if (node->u.limit.limit <= 1) {
        props_set_single_row(node);
    }
    if (input->kind != MS_LNODE_SORT && !input->props.is_single_row) {
        node->props.is_order_sensitive = true;
    }
}

void msi_plan_derive(ms_arena *arena, ms_lnode *node)
{
    node->props = (ms_lprops){0};
    if (node->input_count > 0) {
        node->props = node->inputs[0]->props;
    }
    switch (node->kind) {
    case MS_LNODE_SCAN:
        derive_scan(arena, node);
        return;
    case MS_LNODE_VALUES:
        derive_values(arena, node);
        return;
    case MS_LNODE_PROJECT:
        derive_project(arena, node);
        return;
    case MS_LNODE_FILTER:
        derive_filter(arena, node);
        return;
    case MS_LNODE_WATERMARK:
        derive_watermark(arena, node);
        return;
    case MS_LNODE_AGGREGATE:
        node->props.columns = ms_arena_array(arena, ms_column_props, node->schema.column_count);
        node->props.is_order_sensitive = false;
        props_set_single_row(node);
        return;
    case MS_LNODE_UNION:
        derive_union(arena, node);
        return;
    case MS_LNODE_SORT:
        derive_sort(arena, node);
        return;
    case MS_LNODE_LIMIT:
        derive_limit(node);
        return;
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        return;
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static bool set_contains(const uint32_t *columns, uint32_t count, uint32_t column)
{
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i] == column) {
            return true;
        }
    }
    return false;
}

static bool key_within(const ms_lprops *props, const ms_key_set *keys, uint32_t key_count,
                       const uint32_t *columns, uint32_t count)
{
    for (uint32_t k = 0; k < key_count; k++) {
        bool is_within = true;
        for (uint32_t i = 0; i < keys[k].count && is_within; i++) {
            uint32_t column = keys[k].columns[i];
            is_within = set_contains(columns, count, column) ||
                        props->columns[column].monotony == MS_MONOTONY_CONSTANT;
        }
        if (is_within) {
            return true;
        }
    }
    return false;
}

bool ms_lprops_has_unique_key(const ms_lprops *props, const uint32_t *columns, uint32_t count)
{
    return key_within(props, props->unique_keys, props->unique_key_count, columns, count);
}

bool ms_lprops_has_upsert_key(const ms_lprops *props, const uint32_t *columns, uint32_t count)
{
    return key_within(props, props->upsert_keys, props->upsert_key_count, columns, count);
}
