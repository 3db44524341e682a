/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns that nobody reads. Two walks down from the roots: the first adds up what the readers of
 * each scan need, the second tells the scans and rebuilds the tree over what they give.
 *
 * A rebuilt node gives at least the columns asked for and says where they are. Only UNION, SINK and
 * COLLECT need their inputs exact; a PROJECT is put between where they are not. No node is left
 * without a column: when none is needed the cheapest one stays, for a scan its first key column,
 * which is what stores read fastest.
 */
#include "opt/opt_priv.h"

#define GONE UINT32_MAX

/* What all readers of a scan need together. */
typedef struct scan_need {
    const ms_scan *scan;
    uint64_t *bits;
    const ms_lnode *pruned; /* the scan as rebuilt; NULL until then */
    const uint32_t *map;
} scan_need;

typedef struct pruner {
    msi_opt *opt;
    scan_need *needs;
    uint32_t count;
    uint32_t capacity;
} pruner;

/* A node and where its former columns are now. */
typedef struct pruned {
    const ms_lnode *node;
    const uint32_t *map; /* GONE: dropped */
} pruned;

static scan_need *find_need(pruner *p, const ms_lnode *node)
{
    const ms_scan *scan = node->u.scan.scan;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->needs[i].scan == scan) {
            return &p->needs[i];
        }
    }
    if (p->count == p->capacity) {
        uint32_t capacity = p->capacity == 0 ? 8 : p->capacity * 2;
        scan_need *needs = ms_arena_array(p->opt->arena, scan_need, capacity);
        for (uint32_t i = 0; i < p->count; i++) {
            needs[i] = p->needs[i];
        }
        p->needs = needs;
        p->capacity = capacity;
    }
    p->needs[p->count] =
        (scan_need){.scan = scan, .bits = msi_bits_make(p->opt->arena, node->schema.column_count)};
    return &p->needs[p->count++];
}

/* What each kind needs of its inputs. */

/* An expression of a projection stays when it is read, or when it acts. */
static bool is_kept(const ms_lnode *project, const uint64_t *bits, uint32_t column)
{
    return msi_bits_has(bits, column) || !ms_expr_is_pure(project->u.project.exprs[column]);
}

/* The one that stays when none is read: a column, else a constant, else the first. */
static uint32_t cheapest_expr(const ms_lnode *project)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < project->schema.column_count; i++) {
        if (project->u.project.exprs[i]->kind == MS_EXPR_CONST) {
            return i;
        }
        if (project->u.project.exprs[i]->kind == MS_EXPR_COLUMN &&
            project->u.project.exprs[best]->kind != MS_EXPR_COLUMN) {
            best = i;
        }
    }
    return best;
}

static const uint64_t *kept_exprs(pruner *p, const ms_lnode *project, const uint64_t *bits)
{
    uint32_t count = project->schema.column_count;
    uint64_t *kept = msi_bits_make(p->opt->arena, count);
    bool is_any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (is_kept(project, bits, i)) {
            msi_bits_add(kept, i);
            is_any = true;
        }
    }
    if (!is_any && count > 0) {
        msi_bits_add(kept, cheapest_expr(project));
    }
    return kept;
}

static const uint64_t *kept_calls(pruner *p, const ms_lnode *node, const uint64_t *bits)
{
    uint32_t count = node->u.aggregate.call_count;
    uint64_t *kept = msi_bits_make(p->opt->arena, count);
    bool is_any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (msi_bits_has(bits, i)) {
            msi_bits_add(kept, i);
            is_any = true;
        }
    }
    if (!is_any) {
        msi_bits_add(kept, 0);
    }
    return kept;
}

static void add_all(uint64_t *bits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        msi_bits_add(bits, i);
    }
}

static void add_calls(const ms_lnode *node, const uint64_t *kept, uint64_t *bits)
{
    for (uint32_t i = 0; i < node->u.aggregate.call_count; i++) {
        const ms_lagg *call = &node->u.aggregate.calls[i];
        if (msi_bits_has(kept, i) && call->arg != UINT32_MAX) {
            msi_bits_add(bits, call->arg);
        }
        if (msi_bits_has(kept, i) && call->filter != UINT32_MAX) {
            msi_bits_add(bits, call->filter);
        }
    }
}

/* The columns of its inputs that a node needs to give the columns in bits. */
static const uint64_t *input_bits(pruner *p, const ms_lnode *node, const uint64_t *bits)
{
    uint32_t width = node->inputs[0]->schema.column_count;
    uint64_t *below = msi_bits_make(p->opt->arena, width);
    switch (node->kind) {
    case MS_LNODE_PROJECT: {
        const uint64_t *kept = kept_exprs(p, node, bits);
        for (uint32_t i = 0; i < node->schema.column_count; i++) {
            if (msi_bits_has(kept, i)) {
                ms_expr_columns(node->u.project.exprs[i], below);
            }
        }
        return below;
    }
    case MS_LNODE_AGGREGATE:
        add_calls(node, kept_calls(p, node, bits), below);
        return below;
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        add_all(below, width);
        return below;
    case MS_LNODE_FILTER:
        ms_expr_columns(node->u.filter.condition, below);
        break;
    case MS_LNODE_WATERMARK:
        ms_expr_columns(node->u.watermark.expr, below);
        msi_bits_add(below, node->u.watermark.rowtime);
        break;
    case MS_LNODE_SORT:
        for (uint32_t i = 0; i < node->u.sort.key_count; i++) {
            msi_bits_add(below, node->u.sort.keys[i].column);
        }
        break;
    case MS_LNODE_UNION:
    case MS_LNODE_LIMIT:
        break;
    case MS_LNODE_SCAN:
    case MS_LNODE_VALUES:
    case MS_LNODE_KIND_COUNT:
        MS_UNREACHABLE();
    }
    bool is_any = false;
    for (size_t w = 0; w < msi_bits_words(width); w++) {
        below[w] |= bits[w];
        is_any = is_any || below[w] != 0;
    }
    if (!is_any && node->kind == MS_LNODE_UNION) {
        msi_bits_add(below, 0); /* the branches must agree on the one that stays */
    }
    return below;
}

static void collect(pruner *p, const ms_lnode *node, const uint64_t *bits)
{
    if (node->kind == MS_LNODE_SCAN) {
        scan_need *need = find_need(p, node);
        for (size_t w = 0; w < msi_bits_words(node->schema.column_count); w++) {
            need->bits[w] |= bits[w];
        }
        return;
    }
    if (node->input_count == 0) {
        return;
    }
    const uint64_t *below = input_bits(p, node, bits);
    for (uint32_t i = 0; i < node->input_count; i++) {
        collect(p, node->inputs[i], below);
    }
}

/* Rebuilding. */

/* All columns stay where they are. */
static pruned keep_all(pruner *p, const ms_lnode *node)
{
    uint32_t *map = ms_arena_array(p->opt->arena, uint32_t, node->schema.column_count);
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        map[i] = i;
    }
    return (pruned){node, map};
}

/* How much a column costs to read: flat ones first, text and nested ones last. */
static uint32_t column_cost(const ms_type *type)
{
    if (ms_type_is_nested(type)) {
        return 2;
    }
    return type->phys == MS_PHYS_STR ? 1 : 0;
}

/* The column that stays when none is read. */
static uint32_t cheapest_column(const ms_lnode *scan)
{
    if (scan->props.unique_key_count > 0 && scan->props.unique_keys[0].count > 0) {
        return scan->props.unique_keys[0].columns[0];
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < scan->schema.column_count; i++) {
        if (column_cost(scan->schema.columns[i].type) <
            column_cost(scan->schema.columns[best].type)) {
            best = i;
        }
    }
    return best;
}

static ms_rc prune_scan(pruner *p, const ms_lnode *node, pruned *pruned_out)
{
    scan_need *need = find_need(p, node);
    if (need->pruned != NULL) {
        *pruned_out = (pruned){need->pruned, need->map};
        return MS_OK;
    }
    ms_scan *scan = node->u.scan.scan;
    uint32_t width = node->schema.column_count;
    uint32_t *columns = ms_arena_array(p->opt->env->job_arena, uint32_t, width);
    uint32_t *map = ms_arena_array(p->opt->arena, uint32_t, width);
    uint32_t count = 0;
    for (uint32_t i = 0; i < width; i++) {
        map[i] = msi_bits_has(need->bits, i) ? count : GONE;
        if (map[i] != GONE) {
            columns[count++] = i;
        }
    }
    if (count == 0) {
        columns[0] = cheapest_column(node);
        map[columns[0]] = 0;
        count = 1;
    }
    *pruned_out = keep_all(p, node);
    if (count < width && scan->klass->push_projection != NULL) {
        MS_TRY(scan->klass->push_projection(scan, columns, count, p->opt->st));
        MS_ASSERT(scan->output.column_count == count);
        *pruned_out = (pruned){ms_lnode_scan_with(p->opt->arena, node, scan, columns, count), map};
    }
    need->pruned = pruned_out->node;
    need->map = pruned_out->map;
    return MS_OK;
}

static ms_rc prune(pruner *p, const ms_lnode *node, const uint64_t *bits, pruned *pruned_out);

static ms_rc prune_project(pruner *p, const ms_lnode *node, const uint64_t *bits,
                           pruned *pruned_out)
{
    ms_arena *arena = p->opt->arena;
    pruned input;
    MS_TRY(prune(p, node->inputs[0], input_bits(p, node, bits), &input));
    const uint64_t *kept = kept_exprs(p, node, bits);
    uint32_t width = node->schema.column_count;
    const ms_expr **exprs = ms_arena_array(arena, const ms_expr *, width);
    ms_str *names = ms_arena_array(arena, ms_str, width);
    uint32_t *map = ms_arena_array(arena, uint32_t, width);
    uint32_t count = 0;
    for (uint32_t i = 0; i < width; i++) {
        map[i] = GONE;
        if (msi_bits_has(kept, i)) {
            exprs[count] = ms_expr_remap(arena, node->u.project.exprs[i], input.map);
            names[count] = node->schema.columns[i].name;
            map[i] = count++;
        }
    }
    *pruned_out =
        (pruned){ms_lnode_project(arena, input.node, exprs, names, count, node->span), map};
    return MS_OK;
}

static ms_rc prune_aggregate(pruner *p, const ms_lnode *node, const uint64_t *bits,
                             pruned *pruned_out)
{
    ms_arena *arena = p->opt->arena;
    pruned input;
    MS_TRY(prune(p, node->inputs[0], input_bits(p, node, bits), &input));
    const uint64_t *kept = kept_calls(p, node, bits);
    uint32_t width = node->u.aggregate.call_count;
    ms_lagg *calls = ms_arena_array(arena, ms_lagg, width);
    ms_str *names = ms_arena_array(arena, ms_str, width);
    uint32_t *map = ms_arena_array(arena, uint32_t, width);
    uint32_t count = 0;
    for (uint32_t i = 0; i < width; i++) {
        map[i] = GONE;
        if (!msi_bits_has(kept, i)) {
            continue;
        }
        calls[count] = node->u.aggregate.calls[i];
        if (calls[count].arg != UINT32_MAX) {
            calls[count].arg = input.map[calls[count].arg];
        }
        if (calls[count].filter != UINT32_MAX) {
            calls[count].filter = input.map[calls[count].filter];
        }
        names[count] = node->schema.columns[i].name;
        map[i] = count++;
    }
    *pruned_out =
        (pruned){ms_lnode_aggregate(arena, input.node, calls, names, count, node->span), map};
    return MS_OK;
}

/* The columns in bits alone, in their order: a PROJECT where the node has others too. */
static const ms_lnode *narrow(pruner *p, const pruned *from, const ms_schema *schema,
                              const uint64_t *bits)
{
    ms_arena *arena = p->opt->arena;
    const ms_expr **exprs = ms_arena_array(arena, const ms_expr *, schema->column_count);
    ms_str *names = ms_arena_array(arena, ms_str, schema->column_count);
    uint32_t count = 0;
    bool is_exact = true;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (!msi_bits_has(bits, i)) {
            continue;
        }
        is_exact = is_exact && from->map[i] == count;
        names[count] = schema->columns[i].name;
        exprs[count++] = ms_expr_column(
            arena, from->map[i], from->node->schema.columns[from->map[i]].type, from->node->span);
    }
    if (is_exact && count == from->node->schema.column_count) {
        return from->node;
    }
    return ms_lnode_project(arena, from->node, exprs, names, count, from->node->span);
}

static ms_rc prune_union(pruner *p, const ms_lnode *node, const uint64_t *bits, pruned *pruned_out)
{
    ms_arena *arena = p->opt->arena;
    uint32_t width = node->schema.column_count;
    const uint64_t *kept = input_bits(p, node, bits);
    uint32_t *map = ms_arena_array(arena, uint32_t, width);
    ms_field *fields = ms_arena_array(arena, ms_field, width);
    uint32_t count = 0;
    for (uint32_t i = 0; i < width; i++) {
        map[i] = msi_bits_has(kept, i) ? count : GONE;
        if (map[i] != GONE) {
            fields[count++] = node->schema.columns[i];
        }
    }
    const ms_lnode **inputs = ms_arena_array(arena, const ms_lnode *, node->input_count);
    for (uint32_t i = 0; i < node->input_count; i++) {
        pruned input;
        MS_TRY(prune(p, node->inputs[i], kept, &input));
        inputs[i] = narrow(p, &input, &node->inputs[i]->schema, kept);
    }
    ms_schema schema = {count, fields};
    *pruned_out =
        (pruned){ms_lnode_union(arena, inputs, node->input_count, &schema, node->span), map};
    return MS_OK;
}

/* Nodes that pass the columns of their input on: they follow its map. */
static ms_rc prune_passing(pruner *p, const ms_lnode *node, const uint64_t *bits,
                           pruned *pruned_out)
{
    ms_arena *arena = p->opt->arena;
    pruned input;
    MS_TRY(prune(p, node->inputs[0], input_bits(p, node, bits), &input));
    pruned_out->map = input.map;
    if (node->kind == MS_LNODE_FILTER) {
        const ms_expr *condition = ms_expr_remap(arena, node->u.filter.condition, input.map);
        pruned_out->node = ms_lnode_filter(arena, input.node, condition, node->span);
    } else if (node->kind == MS_LNODE_WATERMARK) {
        pruned_out->node =
            ms_lnode_watermark(arena, input.node, input.map[node->u.watermark.rowtime],
                               ms_expr_remap(arena, node->u.watermark.expr, input.map), node->span);
    } else if (node->kind == MS_LNODE_SORT) {
        ms_sort_key *keys = ms_arena_array(arena, ms_sort_key, node->u.sort.key_count);
        for (uint32_t i = 0; i < node->u.sort.key_count; i++) {
            keys[i] = node->u.sort.keys[i];
            keys[i].column = input.map[keys[i].column];
        }
        pruned_out->node =
            ms_lnode_sort(arena, input.node, keys, node->u.sort.key_count, node->span);
    } else {
        pruned_out->node = ms_lnode_limit(arena, input.node, node->u.limit.limit,
                                          node->u.limit.offset, node->span);
    }
    return MS_OK;
}

static ms_rc prune_root(pruner *p, const ms_lnode *node, const uint64_t *bits, pruned *pruned_out)
{
    const uint64_t *below = input_bits(p, node, bits);
    pruned input;
    MS_TRY(prune(p, node->inputs[0], below, &input));
    const ms_lnode *exact = narrow(p, &input, &node->inputs[0]->schema, below);
    *pruned_out = keep_all(p, msi_with_input(p->opt, node, exact));
    return MS_OK;
}

static ms_rc prune(pruner *p, const ms_lnode *node, const uint64_t *bits, pruned *pruned_out)
{
    switch (node->kind) {
    case MS_LNODE_SCAN:
        return prune_scan(p, node, pruned_out);
    case MS_LNODE_VALUES:
        *pruned_out = keep_all(p, node);
        return MS_OK;
    case MS_LNODE_PROJECT:
        return prune_project(p, node, bits, pruned_out);
    case MS_LNODE_AGGREGATE:
        return prune_aggregate(p, node, bits, pruned_out);
    case MS_LNODE_UNION:
        return prune_union(p, node, bits, pruned_out);
    case MS_LNODE_FILTER:
    case MS_LNODE_WATERMARK:
    case MS_LNODE_SORT:
    case MS_LNODE_LIMIT:
        return prune_passing(p, node, bits, pruned_out);
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        return prune_root(p, node, bits, pruned_out);
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

ms_rc msi_prune_columns(msi_opt *opt)
{
    pruner p = {.opt = opt};
    for (uint32_t i = 0; i < opt->root_count; i++) {
        uint64_t *bits = msi_bits_make(opt->arena, opt->roots[i]->schema.column_count);
        add_all(bits, opt->roots[i]->schema.column_count);
        collect(&p, opt->roots[i], bits);
    }
    for (uint32_t i = 0; i < opt->root_count; i++) {
        uint64_t *bits = msi_bits_make(opt->arena, opt->roots[i]->schema.column_count);
        add_all(bits, opt->roots[i]->schema.column_count);
        pruned root;
        MS_TRY(prune(&p, opt->roots[i], bits, &root));
        opt->roots[i] = root.node;
    }
    return MS_OK;
}
