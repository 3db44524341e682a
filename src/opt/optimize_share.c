/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan for several sinks of a statement set. Two scans are one when they read the same table
 * with the same options and when nothing would be lost: a connector that takes filters could read
 * less for each alone, so their conditions must be equal there.
 *
 * Sharing goes across roots only: the first scan of a table in one statement pairs with the first
 * in another. Two scans of one statement stay two, since meeting again at a UNION they would have
 * to advance together.
 *
 * Columns are settled later: a shared scan gives what any of its readers needs (optimize_prune.c).
 */
#include "opt/opt_priv.h"

/* One scan of one root, with the condition right above it. */
typedef struct scan_use {
    const ms_lnode *scan;
    const ms_expr *condition; /* NULL: none */
    uint32_t root;
    const ms_lnode *shared; /* what stands for it; itself when nothing does */
} scan_use;

typedef struct scan_uses {
    scan_use *items;
    uint32_t count;
    uint32_t capacity;
} scan_uses;

static void add_use(msi_opt *opt, scan_uses *uses, const scan_use *use)
{
    if (uses->count == uses->capacity) {
        uint32_t capacity = uses->capacity == 0 ? 16 : uses->capacity * 2;
        scan_use *items = ms_arena_array(opt->arena, scan_use, capacity);
        for (uint32_t i = 0; i < uses->count; i++) {
            items[i] = uses->items[i];
        }
        uses->items = items;
        uses->capacity = capacity;
    }
    uses->items[uses->count++] = *use;
}

static void collect(msi_opt *opt, scan_uses *uses, const ms_lnode *node, const ms_expr *condition,
                    uint32_t root)
{
    if (node->kind == MS_LNODE_SCAN) {
        scan_use use = {.scan = node, .condition = condition, .root = root, .shared = node};
        add_use(opt, uses, &use);
    }
    const ms_expr *below = node->kind == MS_LNODE_FILTER ? node->u.filter.condition : NULL;
    for (uint32_t i = 0; i < node->input_count; i++) {
        collect(opt, uses, node->inputs[i], below, root);
    }
}

static bool options_equal(const ms_option_list *a, const ms_option_list *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!ms_str_equals(a->items[i].key, b->items[i].key) ||
            !ms_str_equals(a->items[i].value, b->items[i].value)) {
            return false;
        }
    }
    return true;
}

static bool is_same_scan(const scan_use *a, const scan_use *b)
{
    const ms_ltable *left = &a->scan->u.scan.of;
    const ms_ltable *right = &b->scan->u.scan.of;
    if (left->table != right->table || !options_equal(&left->hints, &right->hints)) {
        return false;
    }
    if (a->scan->u.scan.scan->klass->push_filters == NULL) {
        return true;
    }
    if (a->condition == NULL || b->condition == NULL) {
        return a->condition == b->condition;
    }
    return ms_expr_equals(a->condition, b->condition);
}

/* True when another use of this root stands for the same scan already. */
static bool is_taken(const scan_uses *uses, uint32_t until, const ms_lnode *shared, uint32_t root)
{
    for (uint32_t i = until; i-- > 0 && uses->items[i].root == root;) {
        if (uses->items[i].shared == shared) {
            return true;
        }
    }
    return false;
}

static bool pair_up(scan_uses *uses)
{
    bool is_any = false;
    for (uint32_t i = 1; i < uses->count; i++) {
        scan_use *use = &uses->items[i];
        for (uint32_t k = 0; k < i && uses->items[k].root != use->root; k++) {
            const scan_use *first = &uses->items[k];
            if (first->shared == first->scan && is_same_scan(first, use) &&
                !is_taken(uses, i, first->scan, use->root)) {
                use->shared = first->scan;
                is_any = true;
                break;
            }
        }
    }
    return is_any;
}

/* Puts the shared scans in place; next counts the uses in the order of collect. */
static const ms_lnode *replace(msi_opt *opt, const scan_uses *uses, uint32_t *next,
                               const ms_lnode *node)
{
    if (node->kind == MS_LNODE_SCAN) {
        return uses->items[(*next)++].shared;
    }
    const ms_lnode **inputs = ms_arena_array(opt->arena, const ms_lnode *, node->input_count);
    bool is_changed = false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        inputs[i] = replace(opt, uses, next, node->inputs[i]);
        is_changed = is_changed || inputs[i] != node->inputs[i];
    }
    return is_changed ? ms_lnode_with_inputs(opt->arena, node, inputs) : node;
}

void msi_share_scans(msi_opt *opt)
{
    if (opt->root_count < 2) {
        return;
    }
    scan_uses uses = {0};
    for (uint32_t i = 0; i < opt->root_count; i++) {
        collect(opt, &uses, opt->roots[i], NULL, i);
    }
    if (!pair_up(&uses)) {
        return;
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < opt->root_count; i++) {
        opt->roots[i] = replace(opt, &uses, &next, opt->roots[i]);
    }
}
