/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXPLAIN text. One function a kind of node writes what stands in the parentheses; the walk around
 * them draws the tree and knows nothing of kinds. The walk uses a stack of branch marks instead of
 * recursion over strings, so that a line costs its own length.
 */
#include "plan/explain.h"

#include "catalog/catalog.h"
#include "plan/plan_priv.h"

#include <inttypes.h>

typedef struct explainer {
    ms_arena scratch;
    ms_buf *out;
    ms_status *st;
    const ms_plan *plan; /* physical only, and the next two */
    bool changelog_mode;
    uint32_t *reuse_ids; /* one a node of the plan: 0, or the number it is printed under */
    bool *is_printed;
    bool *is_last; /* one a level: this branch is the last of its parent */
} explainer;

static ms_rc put(explainer *e, const char *text)
{
    return ms_buf_append(e->out, ms_str_cstr(text), e->st);
}

static ms_rc put_str(explainer *e, ms_str text)
{
    return ms_buf_append(e->out, text, e->st);
}

/* The marks in front of a node at a level; the root has none. */
static ms_rc put_branch(explainer *e, uint32_t level)
{
    for (uint32_t i = 1; i < level; i++) {
        MS_TRY(put(e, e->is_last[i] ? "   " : ":  "));
    }
    if (level > 0) {
        MS_TRY(put(e, e->is_last[level] ? "+- " : ":- "));
    }
    return MS_OK;
}

static ms_rc put_names(explainer *e, const ms_schema *schema)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        MS_TRY(put(e, i == 0 ? "" : ", "));
        MS_TRY(put_str(e, schema->columns[i].name));
    }
    return MS_OK;
}

static ms_rc put_count(explainer *e, const char *key, uint64_t count)
{
    return ms_buf_format(e->out, e->st, "%s=[%" PRIu64 "]", key, count);
}

/* Aggregates, the same in both plans: COUNT(*) FILTER b AS c. name_of 0: columns as ordinals. */
static ms_rc put_aggregate(explainer *e, ms_agg_kind kind, uint32_t arg, uint32_t filter,
                           const ms_schema *input)
{
    MS_TRY(ms_buf_format(e->out, e->st, "%s(", ms_agg_name(kind)));
    if (arg == UINT32_MAX) {
        MS_TRY(put(e, "*"));
    } else if (input == NULL) {
        MS_TRY(ms_buf_format(e->out, e->st, "$%" PRIu32, arg));
    } else {
        MS_TRY(put_str(e, input->columns[arg].name));
    }
    MS_TRY(put(e, ")"));
    if (filter == UINT32_MAX) {
        return MS_OK;
    }
    if (input == NULL) {
        return ms_buf_format(e->out, e->st, " FILTER $%" PRIu32, filter);
    }
    MS_TRY(put(e, " FILTER "));
    return put_str(e, input->columns[filter].name);
}

static ms_rc put_sort_keys(explainer *e, const ms_sort_key *keys, uint32_t key_count,
                           const ms_schema *input)
{
    for (uint32_t i = 0; i < key_count; i++) {
        const ms_sort_key *key = &keys[i];
        MS_TRY(put(e, i == 0 ? "" : ", "));
        MS_TRY(put_str(e, input->columns[key->column].name));
        MS_TRY(put(e, key->descending ? " DESC" : " ASC"));
        /*
         * NULL is the smallest value, so it comes first in ascending order unless said otherwise.
         */
        if (key->nulls_first == key->descending) {
            MS_TRY(put(e, key->nulls_first ? " NULLS FIRST" : " NULLS LAST"));
        }
    }
    return MS_OK;
}

/* The logical plan. */

static ms_rc put_table_path(explainer *e, const ms_ltable *of)
{
    MS_TRY(ms_buf_format(e->out, e->st, "table=[[%s, %s, %.*s]]", MS_CATALOG_NAME,
                         MS_CATALOG_DATABASE, MS_STR_ARG(of->table->name)));
    if (of->hints.count == 0) {
        return MS_OK;
    }
    MS_TRY(put(e, ", hints=[[OPTIONS options:{"));
    for (uint32_t i = 0; i < of->hints.count; i++) {
        MS_TRY(ms_buf_format(e->out, e->st, "%s%.*s=%.*s", i == 0 ? "" : ", ",
                             MS_STR_ARG(of->hints.items[i].key),
                             MS_STR_ARG(of->hints.items[i].value)));
    }
    return put(e, "}]]");
}

static ms_rc put_logical_project(explainer *e, const ms_lnode *node)
{
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        ms_str text = ms_expr_text(&e->scratch, node->u.project.exprs[i], NULL);
        MS_TRY(ms_buf_format(e->out, e->st, "%s%.*s=[%.*s]", i == 0 ? "" : ", ",
                             MS_STR_ARG(node->schema.columns[i].name), MS_STR_ARG(text)));
    }
    return MS_OK;
}

#define VALUES_ROWS_SHOWN 10u /* EXPLAIN is for reading: the rest is counted */

static ms_rc put_logical_values(explainer *e, const ms_lnode *node)
{
    uint32_t column_count = node->schema.column_count;
    uint32_t row_count = node->u.values.row_count;
    MS_TRY(put(e, "tuples=[["));
    for (uint32_t r = 0; r < row_count && r < VALUES_ROWS_SHOWN; r++) {
        MS_TRY(put(e, r == 0 ? "{ " : ", { "));
        for (uint32_t c = 0; c < column_count; c++) {
            const ms_expr *cell = node->u.values.cells[(size_t)r * column_count + c];
            MS_TRY(put(e, c == 0 ? "" : ", "));
            MS_TRY(put_str(e, ms_expr_text(&e->scratch, cell, NULL)));
        }
        MS_TRY(put(e, " }"));
    }
    if (row_count > VALUES_ROWS_SHOWN) {
        MS_TRY(
            ms_buf_format(e->out, e->st, ", and %" PRIu32 " more", row_count - VALUES_ROWS_SHOWN));
    }
    return put(e, "]]");
}

static ms_rc put_logical_aggregate(explainer *e, const ms_lnode *node)
{
    MS_TRY(put(e, "group=[{}]"));
    for (uint32_t i = 0; i < node->u.aggregate.call_count; i++) {
        const ms_lagg *call = &node->u.aggregate.calls[i];
        MS_TRY(ms_buf_format(e->out, e->st, ", %.*s=[", MS_STR_ARG(node->schema.columns[i].name)));
        MS_TRY(put_aggregate(e, call->kind, call->arg, call->filter, NULL));
        MS_TRY(put(e, "]"));
    }
    return MS_OK;
}

static ms_rc put_logical_limit(explainer *e, uint64_t limit, uint64_t offset)
{
    if (offset > 0) {
        MS_TRY(put_count(e, "offset", offset));
        MS_TRY(put(e, limit != UINT64_MAX ? ", " : ""));
    }
    return limit != UINT64_MAX ? put_count(e, "fetch", limit) : MS_OK;
}

static ms_rc put_logical_particulars(explainer *e, const ms_lnode *node)
{
    switch (node->kind) {
    case MS_LNODE_SCAN:
        return put_table_path(e, &node->u.scan.of);
    case MS_LNODE_VALUES:
        return put_logical_values(e, node);
    case MS_LNODE_PROJECT:
        return put_logical_project(e, node);
    case MS_LNODE_FILTER:
        MS_TRY(put(e, "condition=["));
        MS_TRY(put_str(e, ms_expr_text(&e->scratch, node->u.filter.condition, NULL)));
        return put(e, "]");
    case MS_LNODE_WATERMARK:
        MS_TRY(put(e, "rowtime=["));
        MS_TRY(put_str(e, node->schema.columns[node->u.watermark.rowtime].name));
        MS_TRY(put(e, "], watermark=["));
        MS_TRY(put_str(e, ms_expr_text(&e->scratch, node->u.watermark.expr, NULL)));
        return put(e, "]");
    case MS_LNODE_AGGREGATE:
        return put_logical_aggregate(e, node);
    case MS_LNODE_UNION:
        return put(e, "all=[true]");
    case MS_LNODE_SORT:
        MS_TRY(put(e, "sort=["));
        MS_TRY(put_sort_keys(e, node->u.sort.keys, node->u.sort.key_count, &node->schema));
        return put(e, "]");
    case MS_LNODE_LIMIT:
        return put_logical_limit(e, node->u.limit.limit, node->u.limit.offset);
    case MS_LNODE_SINK:
        MS_TRY(put_table_path(e, &node->u.sink.of));
        MS_TRY(put(e, ", fields=["));
        MS_TRY(put_names(e, &node->schema));
        return put(e, "]");
    case MS_LNODE_COLLECT:
        MS_TRY(put(e, "fields=["));
        MS_TRY(put_names(e, &node->schema));
        return put(e, "]");
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static ms_rc put_logical_tree(explainer *e, const ms_lnode *node, uint32_t level)
{
    MS_TRY(put_branch(e, level));
    MS_TRY(ms_buf_format(e->out, e->st, "Logical%s(", ms_lnode_kind_name(node->kind)));
    MS_TRY(put_logical_particulars(e, node));
    MS_TRY(put(e, ")\n"));
    ms_arena_reset(&e->scratch);
    for (uint32_t i = 0; i < node->input_count; i++) {
        e->is_last[level + 1] = i + 1 == node->input_count;
        MS_TRY(put_logical_tree(e, node->inputs[i], level + 1));
    }
    return MS_OK;
}

ms_rc ms_explain_write_logical(const ms_lplan *logical, ms_buf *out, ms_status *st)
{
    explainer e = {.out = out, .st = st};
    ms_arena levels;
    ms_arena_init(&e.scratch, 0);
    ms_arena_init(&levels, 0);
    ms_rc rc = MS_OK;
    for (uint32_t i = 0; i < logical->root_count && rc == MS_OK; i++) {
        const ms_lnode *root = logical->roots[i];
        e.is_last = ms_arena_array(&levels, bool, root->height + 2);
        /* The collector is where a query ends, not a part of what was asked. */
        rc = put_logical_tree(&e, root->kind == MS_LNODE_COLLECT ? root->inputs[0] : root, 0);
    }
    ms_arena_release(&levels);
    ms_arena_release(&e.scratch);
    return rc;
}

/* The physical plan. */

static uint32_t node_index(const ms_plan *plan, const ms_pnode *node)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (plan->nodes[i] == node) {
            return i;
        }
    }
    MS_UNREACHABLE();
}

/* Numbers the nodes that more than one consumer reads. */
static void number_shared(explainer *e, ms_arena *arena)
{
    const ms_plan *plan = e->plan;
    e->reuse_ids = ms_arena_array(arena, uint32_t, plan->node_count);
    e->is_printed = ms_arena_array(arena, bool, plan->node_count);
    uint32_t *uses = ms_arena_array(arena, uint32_t, plan->node_count);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        for (uint32_t k = 0; k < plan->nodes[i]->input_count; k++) {
            uses[node_index(plan, plan->nodes[i]->inputs[k])]++;
        }
    }
    uint32_t next = 1;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (uses[i] > 1) {
            e->reuse_ids[i] = next++;
        }
    }
}

/* ", " and the connector's account; nothing when there is none. */
static ms_rc put_account(explainer *e, const ms_pnode *node)
{
    ms_buf account;
    ms_buf_init(&account, e->out->max_bytes);
    ms_rc rc = msi_plan_describe(node, &account, e->st);
    if (rc == MS_OK && account.bytes > 0) {
        rc = put(e, ", ");
        rc = rc == MS_OK ? put_str(e, ms_buf_view(&account)) : rc;
    }
    ms_buf_release(&account);
    return rc;
}

static ms_rc put_source(explainer *e, const ms_pnode *node)
{
    MS_TRY(
        ms_buf_format(e->out, e->st, "table=[%.*s], fields=[", MS_STR_ARG(node->u.source.table)));
    MS_TRY(put_names(e, &node->schema));
    MS_TRY(put(e, "]"));
    return put_account(e, node);
}

static ms_rc put_sink(explainer *e, const ms_pnode *node)
{
    MS_TRY(ms_buf_format(e->out, e->st, "table=[%.*s], fields=[", MS_STR_ARG(node->u.sink.table)));
    MS_TRY(put_names(e, &node->schema));
    bool is_exact = node->u.sink.sink->guarantee == MS_EXACTLY_ONCE;
    MS_TRY(put(e, is_exact ? "], guarantee=[exactly-once]" : "], guarantee=[at-least-once]"));
    bool enforces = false;
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        if (node->u.sink.not_null[i]) {
            MS_TRY(put(e, enforces ? ", " : ", notNull=["));
            MS_TRY(put_str(e, node->schema.columns[i].name));
            enforces = true;
        }
    }
    MS_TRY(put(e, enforces ? "]" : ""));
    return put_account(e, node);
}

static ms_rc put_calc(explainer *e, const ms_pnode *node)
{
    const ms_schema *input = &node->inputs[0]->schema;
    MS_TRY(put(e, "select=["));
    for (uint32_t i = 0; i < node->u.calc.expr_count; i++) {
        const ms_expr *expr = node->u.calc.exprs[i];
        ms_str name = node->schema.columns[i].name;
        ms_str text = ms_expr_text(&e->scratch, expr, input);
        MS_TRY(put(e, i == 0 ? "" : ", "));
        MS_TRY(put_str(e, text));
        if (expr->kind != MS_EXPR_COLUMN ||
            !ms_str_equals(input->columns[expr->index].name, name)) {
            MS_TRY(put(e, " AS "));
            MS_TRY(put_str(e, name));
        }
    }
    MS_TRY(put(e, "]"));
    if (node->u.calc.filter != NULL) {
        MS_TRY(put(e, ", where=["));
        MS_TRY(put_str(e, ms_expr_text(&e->scratch, node->u.calc.filter, input)));
        MS_TRY(put(e, "]"));
    }
    return MS_OK;
}

static ms_rc put_group_aggregate(explainer *e, const ms_pnode *node)
{
    const ms_schema *input = &node->inputs[0]->schema;
    MS_TRY(put(e, "select=["));
    for (uint32_t i = 0; i < node->u.aggregate.call_count; i++) {
        const ms_agg_call *call = &node->u.aggregate.calls[i];
        MS_TRY(put(e, i == 0 ? "" : ", "));
        MS_TRY(put_aggregate(e, call->kind, call->arg, call->filter, input));
        MS_TRY(put(e, " AS "));
        MS_TRY(put_str(e, node->schema.columns[i].name));
    }
    MS_TRY(put(e, "]"));
    /* Streaming: one row of accumulators, kept in checkpoints. */
    return put(e, node->u.aggregate.is_batch ? "" : ", state=[value]");
}

static ms_rc put_exchange(explainer *e, const ms_pnode *node)
{
    switch (node->u.exchange.kind) {
    case MS_EXCHANGE_GATHER:
        return put(e, "distribution=[single]");
    case MS_EXCHANGE_REBALANCE:
        return put(e, "distribution=[rebalance]");
    case MS_EXCHANGE_HASH:
        MS_TRY(put(e, "distribution=[hash["));
        for (uint32_t i = 0; i < node->u.exchange.key_count; i++) {
            MS_TRY(put(e, i == 0 ? "" : ", "));
            MS_TRY(put_str(e, node->schema.columns[node->u.exchange.keys[i]].name));
        }
        return put(e, "]]");
    case MS_EXCHANGE_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static ms_rc put_values(explainer *e, const ms_pnode *node)
{
    MS_TRY(put_count(e, "rows", node->u.values.row_count));
    MS_TRY(put(e, ", fields=["));
    MS_TRY(put_names(e, &node->schema));
    return put(e, "]");
}

static ms_rc put_watermark(explainer *e, const ms_pnode *node)
{
    MS_TRY(put(e, "rowtime=["));
    MS_TRY(put_str(e, node->schema.columns[node->u.watermark.rowtime].name));
    MS_TRY(put(e, "], watermark=["));
    MS_TRY(put_str(e, ms_expr_text(&e->scratch, node->u.watermark.expr, &node->schema)));
    return put(e, "]");
}

static ms_rc put_sort(explainer *e, const ms_pnode *node)
{
    MS_TRY(put(e, "orderBy=["));
    MS_TRY(put_sort_keys(e, node->u.sort.keys, node->u.sort.key_count, &node->schema));
    MS_TRY(put(e, "]"));
    if (node->u.sort.limit == UINT64_MAX && node->u.sort.offset == 0) {
        return MS_OK;
    }
    MS_TRY(put(e, ", "));
    return put_logical_limit(e, node->u.sort.limit, node->u.sort.offset);
}

static ms_rc put_physical_particulars(explainer *e, const ms_pnode *node)
{
    switch (node->kind) {
    case MS_PNODE_SOURCE:
        return put_source(e, node);
    case MS_PNODE_VALUES:
        return put_values(e, node);
    case MS_PNODE_CALC:
        return put_calc(e, node);
    case MS_PNODE_WATERMARK:
        return put_watermark(e, node);
    case MS_PNODE_AGGREGATE:
        return put_group_aggregate(e, node);
    case MS_PNODE_UNION:
        MS_TRY(put(e, "all=[true], union=["));
        MS_TRY(put_names(e, &node->schema));
        return put(e, "]");
    case MS_PNODE_EXCHANGE:
        return put_exchange(e, node);
    case MS_PNODE_SORT:
        return put_sort(e, node);
    case MS_PNODE_LIMIT:
        return put_logical_limit(e, node->u.limit.limit, node->u.limit.offset);
    case MS_PNODE_SINK:
        return put_sink(e, node);
    case MS_PNODE_COLLECT:
        MS_TRY(put(e, "fields=["));
        MS_TRY(put_names(e, &node->schema));
        return put(e, "]");
    case MS_PNODE_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static ms_rc put_physical_tree(explainer *e, const ms_pnode *node, uint32_t level)
{
    uint32_t index = node_index(e->plan, node);
    MS_TRY(put_branch(e, level));
    if (e->is_printed[index]) {
        return ms_buf_format(e->out, e->st, "Reused(reference_id=[%" PRIu32 "])\n",
                             e->reuse_ids[index]);
    }
    e->is_printed[index] = true;
    MS_TRY(ms_buf_format(e->out, e->st, "%s(", ms_pnode_kind_name(node->kind)));
    MS_TRY(put_physical_particulars(e, node));
    if (e->changelog_mode) {
        MS_TRY(put(e, ", changelogMode="));
        MS_TRY(msi_plan_write_changelog(e->out, node->changelog, e->st));
    }
    MS_TRY(put(e, ", "));
    MS_TRY(put_count(e, "parallelism", node->parallelism));
    MS_TRY(put(e, ")"));
    if (e->reuse_ids[index] > 0) {
        MS_TRY(ms_buf_format(e->out, e->st, "(reuse_id=[%" PRIu32 "])", e->reuse_ids[index]));
    }
    MS_TRY(put(e, "\n"));
    ms_arena_reset(&e->scratch);
    for (uint32_t i = 0; i < node->input_count; i++) {
        e->is_last[level + 1] = i + 1 == node->input_count;
        MS_TRY(put_physical_tree(e, node->inputs[i], level + 1));
    }
    return MS_OK;
}

ms_rc ms_explain_write_physical(const ms_plan *physical, const ms_explain_options *options,
                                ms_buf *out, ms_status *st)
{
    explainer e = {
        .out = out, .st = st, .plan = physical, .changelog_mode = options->changelog_mode};
    ms_arena arena;
    ms_arena_init(&e.scratch, 0);
    ms_arena_init(&arena, 0);
    number_shared(&e, &arena);
    e.is_last = ms_arena_array(&arena, bool, physical->node_count + 1);
    ms_rc rc = MS_OK;
    for (uint32_t i = 0; i < physical->root_count && rc == MS_OK; i++) {
        rc = put_physical_tree(&e, physical->roots[i], 0);
    }
    ms_arena_release(&arena);
    ms_arena_release(&e.scratch);
    return rc;
}

ms_rc ms_explain_write(const ms_lplan *logical, const ms_plan *physical,
                       const ms_explain_options *options, ms_buf *out, ms_status *st)
{
    MS_TRY(ms_buf_append(out, ms_str_lit("== Abstract Syntax Tree ==\n"), st));
    MS_TRY(ms_explain_write_logical(logical, out, st));
    MS_TRY(ms_buf_append(out, ms_str_lit("\n== Optimized Physical Plan ==\n"), st));
    return ms_explain_write_physical(physical, options, out, st);
}
