/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as it leaves the planner: every operator copied, with all that it points to, into the
 * arena of the job, and named by a stable id.
 *
 * An id is the hash of the ids on the way from the sink: kind, place among the inputs, schema.
 * Exchanges are passed over and get ids of their own kind, so that the operators keep theirs at
 * another parallelism; nothing of memory, time or the machine goes in.
 */
/* tidy: no-unit-test: covered by opt_test.c and physical_test.c, through whole plans */
#include "base/limits.h"
#include "opt/opt_priv.h"
#include "type/hash.h"

/* Ids. */

static uint64_t hash_text(uint64_t hash, ms_str text)
{
    return ms_hash_mix(hash ^ ms_hash_bytes(text));
}

static uint64_t hash_node(ms_arena *arena, uint64_t parent, uint32_t input, const msi_work *work)
{
    uint64_t hash = ms_hash_mix(parent + input + 1);
    hash = hash_text(hash, ms_str_cstr(ms_pnode_kind_name(work->node.kind)));
    for (uint32_t i = 0; i < work->node.schema.column_count; i++) {
        hash = hash_text(hash, work->node.schema.columns[i].name);
        hash = hash_text(hash, ms_type_text(arena, work->node.schema.columns[i].type));
    }
    if (work->node.kind == MS_PNODE_SINK) {
        hash = hash_text(hash, work->node.u.sink.table);
    }
    return hash;
}

/* A shared operator keeps the id of the first way to it. */
static void set_ids(ms_arena *arena, msi_work *work, uint64_t parent, uint32_t input)
{
    if (work->node.id != 0) {
        return;
    }
    if (work->node.kind == MS_PNODE_EXCHANGE) {
        work->node.id = hash_node(arena, parent, input, work);
        set_ids(arena, work->inputs[0], parent, input);
        return;
    }
    work->node.id = hash_node(arena, parent, input, work);
    for (uint32_t i = 0; i < work->input_count; i++) {
        set_ids(arena, work->inputs[i], work->node.id, i);
    }
}

/* Copies. */

static ms_schema copy_schema(ms_arena *arena, const ms_schema *schema)
{
    ms_field *fields = ms_arena_array(arena, ms_field, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        fields[i].name = ms_arena_copy_str(arena, schema->columns[i].name);
        fields[i].type = ms_type_copy(arena, schema->columns[i].type);
    }
    return (ms_schema){schema->column_count, fields};
}

static void copy_values(ms_arena *arena, const ms_pnode *from, ms_pnode *to)
{
    uint32_t columns = to->schema.column_count;
    size_t count = (size_t)from->u.values.row_count * columns;
    ms_value *cells = ms_arena_array(arena, ms_value, count);
    for (size_t i = 0; i < count; i++) {
        ms_value cell = from->u.values.cells[i];
        cell.type = to->schema.columns[i % columns].type;
        cells[i] = ms_value_copy(arena, &cell);
    }
    to->u.values.cells = cells;
}

static void copy_calc(ms_arena *arena, const ms_pnode *from, ms_pnode *to)
{
    const ms_expr **exprs = ms_arena_array(arena, const ms_expr *, from->u.calc.expr_count);
    for (uint32_t i = 0; i < from->u.calc.expr_count; i++) {
        exprs[i] = ms_expr_copy(arena, from->u.calc.exprs[i]);
    }
    to->u.calc.exprs = exprs;
    if (from->u.calc.filter != NULL) {
        to->u.calc.filter = ms_expr_copy(arena, from->u.calc.filter);
    }
}

static void copy_aggregate(ms_arena *arena, const ms_pnode *from, ms_pnode *to)
{
    uint32_t count = from->u.aggregate.call_count;
    ms_agg_call *calls = ms_arena_array(arena, ms_agg_call, count);
    for (uint32_t i = 0; i < count; i++) {
        calls[i] = from->u.aggregate.calls[i];
        calls[i].result = ms_type_copy(arena, calls[i].result);
    }
    to->u.aggregate.calls = calls;
}

static const uint32_t *copy_ordinals(ms_arena *arena, const uint32_t *from, uint32_t count)
{
    uint32_t *copy = ms_arena_array(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = from[i];
    }
    return copy;
}

static void copy_sort(ms_arena *arena, const ms_pnode *from, ms_pnode *to)
{
    ms_sort_key *keys = ms_arena_array(arena, ms_sort_key, from->u.sort.key_count);
    for (uint32_t i = 0; i < from->u.sort.key_count; i++) {
        keys[i] = from->u.sort.keys[i];
    }
    to->u.sort.keys = keys;
}

static void copy_sink(ms_arena *arena, const ms_pnode *from, ms_pnode *to)
{
    bool *not_null = ms_arena_array(arena, bool, from->schema.column_count);
    for (uint32_t i = 0; i < from->schema.column_count; i++) {
        not_null[i] = from->u.sink.not_null[i];
    }
    to->u.sink.not_null = not_null;
    to->u.sink.table = ms_arena_copy_str(arena, from->u.sink.table);
}

static void copy_particulars(ms_arena *arena, const ms_pnode *from, ms_pnode *to)
{
    switch (from->kind) {
    case MS_PNODE_SOURCE:
        to->u.source.table = ms_arena_copy_str(arena, from->u.source.table);
        return;
    case MS_PNODE_VALUES:
        copy_values(arena, from, to);
        return;
    case MS_PNODE_CALC:
        copy_calc(arena, from, to);
        return;
    case MS_PNODE_WATERMARK:
        to->u.watermark.expr = ms_expr_copy(arena, from->u.watermark.expr);
        return;
    case MS_PNODE_AGGREGATE:
        copy_aggregate(arena, from, to);
        return;
    case MS_PNODE_EXCHANGE:
        to->u.exchange.keys =
            copy_ordinals(arena, from->u.exchange.keys, from->u.exchange.key_count);
        return;
    case MS_PNODE_SORT:
        copy_sort(arena, from, to);
        return;
    case MS_PNODE_SINK:
        copy_sink(arena, from, to);
        return;
    case MS_PNODE_UNION:
    case MS_PNODE_LIMIT:
    case MS_PNODE_COLLECT:
        return;
    case MS_PNODE_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static const ms_pnode *seal_node(ms_arena *arena, msi_work *work)
{
    ms_pnode *node = ms_arena_new(arena, ms_pnode);
    *node = work->node;
    if (work->sink != NULL) {
        work->sink->id = node->id;
    }
    node->schema = copy_schema(arena, &work->node.schema);
    const ms_pnode **inputs = ms_arena_array(arena, const ms_pnode *, work->input_count);
    for (uint32_t i = 0; i < work->input_count; i++) {
        inputs[i] = work->inputs[i]->sealed;
    }
    node->input_count = work->input_count;
    node->inputs = inputs;
    copy_particulars(arena, &work->node, node);
    work->sealed = node;
    return node;
}

ms_rc msi_seal(msi_opt *opt, const msi_works *works, const ms_plan **plan_out)
{
    if (works->count > MS_LIMIT_OPS_PER_JOB) {
        return ms_status_set(opt->st, MS_STATEMENT_TOO_LARGE, works->roots[0]->node.span,
                             "the plan has more than %u operators", MS_LIMIT_OPS_PER_JOB);
    }
    ms_arena *arena = opt->env->job_arena;
    for (uint32_t i = 0; i < works->root_count; i++) {
        set_ids(opt->arena, works->roots[i], MS_HASH_SEED, i);
    }
    ms_plan *plan = ms_arena_new(arena, ms_plan);
    plan->sql = ms_arena_copy_str(arena, opt->env->sql);
    plan->is_streaming = opt->is_streaming;
    plan->is_bounded = true;
    plan->overflow_is_error = opt->eval.overflow_is_error;
    plan->local_time_zone = ms_arena_copy_str(arena, opt->eval.time_zone);
    const ms_pnode **nodes = ms_arena_array(arena, const ms_pnode *, works->count);
    for (uint32_t i = 0; i < works->count; i++) {
        nodes[i] = seal_node(arena, works->items[i]);
        if (nodes[i]->kind == MS_PNODE_SOURCE && !nodes[i]->u.source.scan->is_bounded) {
            plan->is_bounded = false;
        }
    }
    const ms_pnode **roots = ms_arena_array(arena, const ms_pnode *, works->root_count);
    for (uint32_t i = 0; i < works->root_count; i++) {
        roots[i] = works->roots[i]->sealed;
    }
    plan->node_count = works->count;
    plan->nodes = nodes;
    plan->root_count = works->root_count;
    plan->roots = roots;
    *plan_out = plan;
    return MS_OK;
}
