/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constructors of logical nodes. Every one computes the schema and then the derived properties, so
 * a node is complete and const when it is handed out; rewriting makes new nodes through the same
 * functions.
 */
#include "plan/logical.h"

#include "plan/plan_priv.h"

static ms_lnode *node_make(ms_arena *arena, ms_lnode_kind kind, const ms_lnode *const *inputs,
                           uint32_t input_count, ms_span span)
{
    ms_lnode *node = ms_arena_new(arena, ms_lnode);
    node->kind = kind;
    node->span = span;
    node->height = 1;
    node->input_count = input_count;
    if (input_count > 0) {
        const ms_lnode **copy = ms_arena_array(arena, const ms_lnode *, input_count);
        for (uint32_t i = 0; i < input_count; i++) {
            copy[i] = inputs[i];
            if (inputs[i]->height >= node->height) {
                node->height = inputs[i]->height + 1;
            }
        }
        node->inputs = copy;
        node->schema = inputs[0]->schema;
    }
    return node;
}

static ms_lnode *node_over(ms_arena *arena, ms_lnode_kind kind, const ms_lnode *input, ms_span span)
{
    return node_make(arena, kind, &input, 1, span);
}

static const ms_lnode *node_finish(ms_arena *arena, ms_lnode *node)
{
    msi_plan_derive(arena, node);
    return node;
}

/* A schema of given names over columns of another, both as long as it. */
static ms_schema schema_renamed(ms_arena *arena, const ms_schema *schema, const ms_str *names)
{
    ms_field *fields = ms_arena_array(arena, ms_field, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        fields[i] = (ms_field){names[i], schema->columns[i].type};
    }
    return (ms_schema){schema->column_count, fields};
}

static void scan_take_columns(ms_arena *arena, ms_lnode *node, const uint32_t *columns,
                              uint32_t column_count)
{
    ms_schema stored = ms_table_stored_schema(arena, node->u.scan.of.table);
    ms_field *fields = ms_arena_array(arena, ms_field, column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        MS_ASSERT(columns[i] < stored.column_count);
        fields[i] = stored.columns[columns[i]];
    }
    node->schema = (ms_schema){column_count, fields};
    node->u.scan.columns = columns;
}

const ms_lnode *ms_lnode_scan(ms_arena *arena, const ms_ltable *of)
{
    ms_lnode *node = node_make(arena, MS_LNODE_SCAN, NULL, 0, of->span);
    node->u.scan.of = *of;
    uint32_t count = ms_table_stored_schema(arena, of->table).column_count;
    uint32_t *columns = ms_arena_array(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = i;
    }
    scan_take_columns(arena, node, columns, count);
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_scan_with(ms_arena *arena, const ms_lnode *node, ms_scan *scan,
                                   const uint32_t *columns, uint32_t column_count)
{
    MS_ASSERT(node->kind == MS_LNODE_SCAN);
    ms_lnode *copy = ms_arena_new(arena, ms_lnode);
    *copy = *node;
    copy->u.scan.scan = scan;
    scan_take_columns(arena, copy, columns, column_count);
    return node_finish(arena, copy);
}

const ms_lnode *ms_lnode_values(ms_arena *arena, const ms_schema *schema,
                                const ms_expr *const *cells, uint32_t row_count, ms_span span)
{
    ms_lnode *node = node_make(arena, MS_LNODE_VALUES, NULL, 0, span);
    node->schema = *schema;
    node->u.values.row_count = row_count;
    node->u.values.cells = cells;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_project(ms_arena *arena, const ms_lnode *input,
                                 const ms_expr *const *exprs, const ms_str *names, uint32_t count,
                                 ms_span span)
{
    ms_lnode *node = node_over(arena, MS_LNODE_PROJECT, input, span);
    const ms_expr **copy = ms_arena_array(arena, const ms_expr *, count);
    ms_field *fields = ms_arena_array(arena, ms_field, count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = exprs[i];
        fields[i] = (ms_field){names[i], exprs[i]->type};
    }
    node->schema = (ms_schema){count, fields};
    node->u.project.exprs = copy;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_filter(ms_arena *arena, const ms_lnode *input, const ms_expr *condition,
                                ms_span span)
{
    ms_lnode *node = node_over(arena, MS_LNODE_FILTER, input, span);
    node->u.filter.condition = condition;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_watermark(ms_arena *arena, const ms_lnode *input, uint32_t rowtime,
                                   const ms_expr *expr, ms_span span)
{
    ms_lnode *node = node_over(arena, MS_LNODE_WATERMARK, input, span);
    node->u.watermark.rowtime = rowtime;
    node->u.watermark.expr = expr;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_aggregate(ms_arena *arena, const ms_lnode *input, const ms_lagg *calls,
                                   const ms_str *names, uint32_t count, ms_span span)
{
    ms_lnode *node = node_over(arena, MS_LNODE_AGGREGATE, input, span);
    ms_lagg *copy = ms_arena_array(arena, ms_lagg, count);
    ms_field *fields = ms_arena_array(arena, ms_field, count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = calls[i];
        fields[i] = (ms_field){names[i], calls[i].result};
    }
    node->schema = (ms_schema){count, fields};
    node->u.aggregate.call_count = count;
    node->u.aggregate.calls = copy;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_union(ms_arena *arena, const ms_lnode *const *inputs, uint32_t input_count,
                               const ms_schema *schema, ms_span span)
{
    ms_lnode *node = node_make(arena, MS_LNODE_UNION, inputs, input_count, span);
    for (uint32_t i = 0; i < input_count; i++) {
        MS_ASSERT(inputs[i]->schema.column_count == schema->column_count);
    }
    node->schema = *schema;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_sort(ms_arena *arena, const ms_lnode *input, const ms_sort_key *keys,
                              uint32_t key_count, ms_span span)
{
    ms_lnode *node = node_over(arena, MS_LNODE_SORT, input, span);
    ms_sort_key *copy = ms_arena_array(arena, ms_sort_key, key_count);
    for (uint32_t i = 0; i < key_count; i++) {
        copy[i] = keys[i];
    }
    node->u.sort.key_count = key_count;
    node->u.sort.keys = copy;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_limit(ms_arena *arena, const ms_lnode *input, uint64_t limit,
                               uint64_t offset, ms_span span)
{
    ms_lnode *node = node_over(arena, MS_LNODE_LIMIT, input, span);
    node->u.limit.limit = limit;
    node->u.limit.offset = offset;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_sink(ms_arena *arena, const ms_lnode *input, const ms_ltable *of,
                              const uint32_t *target, uint32_t target_count, ms_span span)
{
    ms_lnode *node = node_over(arena, MS_LNODE_SINK, input, span);
    uint32_t *copy = ms_arena_array(arena, uint32_t, target_count);
    for (uint32_t i = 0; i < target_count; i++) {
        copy[i] = target[i];
    }
    node->u.sink.of = *of;
    node->u.sink.target = copy;
    node->u.sink.target_count = target_count;
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_sink_with(ms_arena *arena, const ms_lnode *node, ms_sink *sink)
{
    MS_ASSERT(node->kind == MS_LNODE_SINK);
    ms_lnode *copy = ms_arena_new(arena, ms_lnode);
    *copy = *node;
    copy->u.sink.sink = sink;
    return node_finish(arena, copy);
}

const ms_lnode *ms_lnode_collect(ms_arena *arena, const ms_lnode *input, const ms_str *names,
                                 ms_span span)
{
    ms_lnode *node = node_over(arena, MS_LNODE_COLLECT, input, span);
    node->schema = schema_renamed(arena, &input->schema, names);
    return node_finish(arena, node);
}

const ms_lnode *ms_lnode_with_inputs(ms_arena *arena, const ms_lnode *node,
                                     const ms_lnode *const *inputs)
{
    ms_lnode *copy = node_make(arena, node->kind, inputs, node->input_count, node->span);
    for (uint32_t i = 0; i < node->input_count; i++) {
        MS_ASSERT(inputs[i]->schema.column_count == node->inputs[i]->schema.column_count);
    }
    copy->schema = node->schema;
    copy->u = node->u;
    return node_finish(arena, copy);
}

const ms_lnode *ms_lnode_copy(ms_arena *arena, const ms_lnode *node)
{
    const ms_lnode **inputs = ms_arena_array(arena, const ms_lnode *, node->input_count);
    for (uint32_t i = 0; i < node->input_count; i++) {
        inputs[i] = ms_lnode_copy(arena, node->inputs[i]);
    }
    return ms_lnode_with_inputs(arena, node, inputs);
}

static const ms_expr *expr_put(void *ctx, ms_arena *arena, const ms_expr *expr)
{
    ms_expr *copy = ms_arena_new(arena, ms_expr);
    *copy = *expr;
    copy->span = *(const ms_span *)ctx;
    return copy;
}

const ms_expr *ms_expr_place(ms_arena *arena, const ms_expr *expr, ms_span span)
{
    return ms_expr_rewrite(arena, expr, expr_put, &span);
}

static const ms_expr *const *exprs_place(ms_arena *arena, const ms_expr *const *exprs, size_t count,
                                         ms_span span)
{
    const ms_expr **placed = ms_arena_array(arena, const ms_expr *, count);
    for (size_t i = 0; i < count; i++) {
        placed[i] = ms_expr_place(arena, exprs[i], span);
    }
    return placed;
}

const ms_lnode *ms_lnode_place(ms_arena *arena, const ms_lnode *node, ms_span span)
{
    const ms_lnode **inputs = ms_arena_array(arena, const ms_lnode *, node->input_count);
    for (uint32_t i = 0; i < node->input_count; i++) {
        inputs[i] = ms_lnode_place(arena, node->inputs[i], span);
    }
    ms_lnode copy = *node;
    copy.span = span;
    size_t columns = node->schema.column_count;
    switch (node->kind) {
    case MS_LNODE_SCAN:
        copy.u.scan.of.span = span;
        break;
    case MS_LNODE_VALUES:
        copy.u.values.cells =
            exprs_place(arena, node->u.values.cells, node->u.values.row_count * columns, span);
        break;
    case MS_LNODE_PROJECT:
        copy.u.project.exprs = exprs_place(arena, node->u.project.exprs, columns, span);
        break;
    case MS_LNODE_FILTER:
        copy.u.filter.condition = ms_expr_place(arena, node->u.filter.condition, span);
        break;
    case MS_LNODE_WATERMARK:
        copy.u.watermark.expr = ms_expr_place(arena, node->u.watermark.expr, span);
        break;
    case MS_LNODE_AGGREGATE: {
        ms_lagg *calls = ms_arena_array(arena, ms_lagg, node->u.aggregate.call_count);
        for (uint32_t i = 0; i < node->u.aggregate.call_count; i++) {
            calls[i] = node->u.aggregate.calls[i];
            calls[i].span = span;
        }
        copy.u.aggregate.calls = calls;
        break;
    }
    case MS_LNODE_UNION:
    case MS_LNODE_SORT:
    case MS_LNODE_LIMIT:
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        break;
    case MS_LNODE_KIND_COUNT:
        MS_UNREACHABLE();
    }
    return ms_lnode_with_inputs(arena, &copy, inputs);
}

uint32_t ms_lnode_count(const ms_lnode *node)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < node->input_count; i++) {
        count += ms_lnode_count(node->inputs[i]);
    }
    return count;
}

const char *ms_lnode_kind_name(ms_lnode_kind kind)
{
    static const char *const names[] = {
        [MS_LNODE_SCAN] = "TableScan",
        [MS_LNODE_VALUES] = "Values",
        [MS_LNODE_PROJECT] = "Project",
        [MS_LNODE_FILTER] = "Filter",
        [MS_LNODE_WATERMARK] = "WatermarkAssigner",
        [MS_LNODE_AGGREGATE] = "Aggregate",
        [MS_LNODE_UNION] = "Union",
        [MS_LNODE_SORT] = "Sort",
        [MS_LNODE_LIMIT] = "Limit",
        [MS_LNODE_SINK] = "Sink",
        [MS_LNODE_COLLECT] = "Collect",
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == MS_LNODE_KIND_COUNT, "a name a kind");
    return names[kind];
}
