/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logical nodes to operators. Chains of PROJECT and FILTER become one CALC (implement_calc.c), rows
 * of VALUES constants (implement_values.c), a LIMIT over a SORT a bounded sort; the rest is one to
 * one. A scan that several roots share becomes one SOURCE.
 */
#include "opt/opt_priv.h"

#define NO_LIMIT UINT64_MAX

msi_work *msi_works_add(msi_opt *opt, msi_works *works, ms_pnode_kind kind, ms_span span,
                        msi_work *const *inputs, uint32_t input_count, const ms_lprops *props)
{
    if (works->count == works->capacity) {
        uint32_t capacity = works->capacity == 0 ? 32 : works->capacity * 2;
        msi_work **items = ms_arena_array(opt->arena, msi_work *, capacity);
        for (uint32_t i = 0; i < works->count; i++) {
            items[i] = works->items[i];
        }
        works->items = items;
        works->capacity = capacity;
    }
    msi_work *work = ms_arena_new(opt->arena, msi_work);
    work->node.kind = kind;
    work->node.span = span;
    work->props = props;
    work->input_count = input_count;
    work->inputs = ms_arena_array(opt->arena, msi_work *, input_count);
    for (uint32_t i = 0; i < input_count; i++) {
        work->inputs[i] = inputs[i];
    }
    if (input_count > 0) {
        work->node.schema = inputs[0]->node.schema;
    }
    works->items[works->count++] = work;
    return work;
}

/* A node over the operator of its only input. */
static msi_work *implement_over(msi_opt *opt, msi_works *works, ms_pnode_kind kind,
                                const ms_lnode *node)
{
    msi_work *input = msi_implement_node(opt, works, node->inputs[0]);
    return msi_works_add(opt, works, kind, node->span, &input, 1, &node->props);
}

static msi_work *implement_scan(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    for (uint32_t i = 0; i < works->count; i++) {
        msi_work *other = works->items[i];
        if (other->node.kind == MS_PNODE_SOURCE && other->node.u.source.scan == node->u.scan.scan) {
            return other;
        }
    }
    msi_work *work = msi_works_add(opt, works, MS_PNODE_SOURCE, node->span, NULL, 0, &node->props);
    work->node.schema = node->schema;
    work->node.u.source.scan = node->u.scan.scan;
    work->node.u.source.table = node->u.scan.of.table->name;
    return work;
}

static msi_work *implement_aggregate(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    msi_work *work = implement_over(opt, works, MS_PNODE_AGGREGATE, node);
    uint32_t count = node->u.aggregate.call_count;
    ms_agg_call *calls = ms_arena_array(opt->arena, ms_agg_call, count);
    for (uint32_t i = 0; i < count; i++) {
        const ms_lagg *call = &node->u.aggregate.calls[i];
        calls[i] = (ms_agg_call){call->kind, call->arg, call->filter, call->result, call->span};
    }
    ms_pnode *pnode = &work->node;
    pnode->schema = node->schema;
    pnode->u.aggregate.call_count = count;
    pnode->u.aggregate.calls = calls;
    pnode->u.aggregate.is_batch = !opt->is_streaming;
    pnode->u.aggregate.coalesce = opt->env->settings.coalesce;
    return work;
}

static msi_work *implement_union(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    msi_work **inputs = ms_arena_array(opt->arena, msi_work *, node->input_count);
    for (uint32_t i = 0; i < node->input_count; i++) {
        inputs[i] = msi_implement_node(opt, works, node->inputs[i]);
    }
    msi_work *work = msi_works_add(opt, works, MS_PNODE_UNION, node->span, inputs,
                                   node->input_count, &node->props);
    work->node.schema = node->schema;
    return work;
}

static msi_work *implement_sort(msi_opt *opt, msi_works *works, const ms_lnode *node,
                                uint64_t limit, uint64_t offset)
{
    msi_work *work = implement_over(opt, works, MS_PNODE_SORT, node);
    ms_pnode *pnode = &work->node;
    pnode->u.sort.key_count = node->u.sort.key_count;
    pnode->u.sort.keys = node->u.sort.keys;
    pnode->u.sort.limit = limit;
    pnode->u.sort.offset = offset;
    return work;
}

static msi_work *implement_limit(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    if (node->inputs[0]->kind == MS_LNODE_SORT) {
        return implement_sort(opt, works, node->inputs[0], node->u.limit.limit,
                              node->u.limit.offset);
    }
    msi_work *work = implement_over(opt, works, MS_PNODE_LIMIT, node);
    work->node.u.limit.limit = node->u.limit.limit;
    work->node.u.limit.offset = node->u.limit.offset;
    return work;
}

static msi_work *implement_watermark(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    msi_work *work = implement_over(opt, works, MS_PNODE_WATERMARK, node);
    ms_pnode *pnode = &work->node;
    pnode->u.watermark.rowtime = node->u.watermark.rowtime;
    pnode->u.watermark.expr = node->u.watermark.expr;
    pnode->u.watermark.interval_ms = opt->env->settings.watermark_interval_ms;
    return work;
}

/* Sinks. */

/* The primary key as ordinals of the sink schema. */
static void set_sink_key(msi_opt *opt, const ms_table *table, msi_work *work)
{
    uint32_t *key = ms_arena_array(opt->arena, uint32_t, table->key_count);
    for (uint32_t k = 0; k < table->key_count; k++) {
        uint32_t ordinal = 0;
        for (uint32_t i = 0; i < table->key_columns[k]; i++) {
            const ms_column *column = &table->columns[i];
            bool is_written = column->kind == MS_COLUMN_PHYSICAL ||
                              (column->kind == MS_COLUMN_METADATA && !column->is_virtual);
            ordinal += is_written ? 1 : 0;
        }
        key[k] = ordinal;
    }
    work->key_count = table->key_count;
    work->key = key;
}

static msi_work *implement_sink(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    msi_work *work = implement_over(opt, works, MS_PNODE_SINK, node);
    const ms_table *table = node->u.sink.of.table;
    ms_schema sink = ms_table_sink_schema(opt->arena, table);
    const ms_schema *input = &work->inputs[0]->node.schema;
    MS_ASSERT(sink.column_count == input->column_count);
    bool *not_null = ms_arena_array(opt->arena, bool, sink.column_count);
    for (uint32_t i = 0; i < sink.column_count; i++) {
        not_null[i] = !sink.columns[i].type->nullable && input->columns[i].type->nullable;
    }
    /* What the sink takes, under the names of its table. */
    ms_field *fields = ms_arena_array(opt->arena, ms_field, sink.column_count);
    for (uint32_t i = 0; i < sink.column_count; i++) {
        fields[i] = (ms_field){sink.columns[i].name, input->columns[i].type};
    }
    work->node.schema = (ms_schema){sink.column_count, fields};
    work->node.u.sink.sink = node->u.sink.sink;
    work->node.u.sink.table = table->name;
    work->node.u.sink.not_null = not_null;
    work->sink = node->u.sink.sink;
    set_sink_key(opt, table, work);
    return work;
}

static msi_work *implement_collect(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    msi_work *work = implement_over(opt, works, MS_PNODE_COLLECT, node);
    work->node.schema = node->schema;
    work->node.u.collect.fold = node->props.is_bounded && !opt->env->settings.result_is_changelog;
    return work;
}

msi_work *msi_implement_node(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    switch (node->kind) {
    case MS_LNODE_SCAN:
        return implement_scan(opt, works, node);
    case MS_LNODE_VALUES:
        return msi_implement_values(opt, works, node);
    case MS_LNODE_PROJECT:
    case MS_LNODE_FILTER:
        return msi_implement_calc(opt, works, node);
    case MS_LNODE_WATERMARK:
        return implement_watermark(opt, works, node);
    case MS_LNODE_AGGREGATE:
        return implement_aggregate(opt, works, node);
    case MS_LNODE_UNION:
        return implement_union(opt, works, node);
    case MS_LNODE_SORT:
        return implement_sort(opt, works, node, NO_LIMIT, 0);
    case MS_LNODE_LIMIT:
        return implement_limit(opt, works, node);
    case MS_LNODE_SINK:
        return implement_sink(opt, works, node);
    case MS_LNODE_COLLECT:
        return implement_collect(opt, works, node);
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

void msi_implement(msi_opt *opt, msi_works *works)
{
    works->root_count = opt->root_count;
    works->roots = ms_arena_array(opt->arena, msi_work *, opt->root_count);
    for (uint32_t i = 0; i < opt->root_count; i++) {
        works->roots[i] = msi_implement_node(opt, works, opt->roots[i]);
    }
}
