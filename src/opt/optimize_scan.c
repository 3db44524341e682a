/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters and limits into the scans.
 *
 * A filter right above a scan is offered conjunct by conjunct; what the connector answers for
 * exactly is dropped, the rest stays, whether the connector used it or not. Only conjuncts without
 * effects that cannot fail are offered, because the connector evaluates them before those that
 * stand in front of them. A limit reaches a scan as a hint when nothing between them drops rows.
 *
 * Both run while every scan still has all its stored columns, so ordinals of the scan are those of
 * the stored schema. A shared scan has equal filters over all its readers (optimize_share.c): it is
 * offered them once, and every reader drops the same ones. Limits it gets none.
 */
#include "opt/opt_priv.h"

/* What a scan answered, kept for the other readers of a shared one. */
typedef struct scan_answer {
    const ms_scan *scan;
    const bool *exact; /* one a conjunct */
} scan_answer;

typedef struct scan_pusher {
    msi_opt *opt;
    scan_answer *answers;
    uint32_t count;
} scan_pusher;

static uint32_t count_scans(const ms_lnode *node)
{
    uint32_t count = node->kind == MS_LNODE_SCAN ? 1 : 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        count += count_scans(node->inputs[i]);
    }
    return count;
}

static const bool *find_answer(const scan_pusher *p, const ms_scan *scan)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->answers[i].scan == scan) {
            return p->answers[i].exact;
        }
    }
    return NULL;
}

/* Offers what may be offered; exact_out has one entry for each of all conjuncts. */
static ms_rc offer(scan_pusher *p, ms_scan *scan, const msi_conjuncts *conjuncts,
                   const bool **exact_out)
{
    ms_arena *arena = p->opt->arena;
    ms_arena *job_arena = p->opt->env->job_arena; /* connectors may keep what they are given */
    bool *exact = ms_arena_array(arena, bool, conjuncts->count);
    uint32_t *places = ms_arena_array(arena, uint32_t, conjuncts->count);
    bool *answers = ms_arena_array(arena, bool, conjuncts->count);
    const ms_expr **offered = ms_arena_array(job_arena, const ms_expr *, conjuncts->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < conjuncts->count; i++) {
        const ms_expr *conjunct = conjuncts->items[i];
        if (!ms_expr_is_shareable(conjunct)) {
            break; /* what stands behind effects runs behind them */
        }
        if (!ms_expr_can_fail(conjunct)) {
            places[count] = i;
            offered[count++] = ms_expr_copy(job_arena, conjunct);
        }
    }
    if (count > 0) {
        MS_TRY(scan->klass->push_filters(scan, offered, count, answers, p->opt->st));
    }
    for (uint32_t i = 0; i < count; i++) {
        exact[places[i]] = answers[i];
    }
    p->answers[p->count++] = (scan_answer){scan, exact};
    *exact_out = exact;
    return MS_OK;
}

static ms_rc push_filter(scan_pusher *p, const ms_lnode *node, const ms_lnode **node_out)
{
    const ms_lnode *scan_node = node->inputs[0];
    ms_scan *scan = scan_node->u.scan.scan;
    *node_out = node;
    if (scan->klass->push_filters == NULL) {
        return MS_OK;
    }
    msi_conjuncts conjuncts = msi_conjuncts_of(p->opt, node->u.filter.condition);
    const bool *exact = find_answer(p, scan);
    if (exact == NULL) {
        MS_TRY(offer(p, scan, &conjuncts, &exact));
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < conjuncts.count; i++) {
        if (!exact[i]) {
            conjuncts.items[kept++] = conjuncts.items[i];
        }
    }
    const ms_expr *rest = msi_conjunction(p->opt, conjuncts.items, kept);
    if (rest == NULL) {
        *node_out = scan_node;
    } else if (kept < conjuncts.count) {
        *node_out = ms_lnode_filter(p->opt->arena, scan_node, rest, node->span);
    }
    return MS_OK;
}

static ms_rc push_filters(scan_pusher *p, const ms_lnode *node, const ms_lnode **node_out)
{
    if (node->kind == MS_LNODE_FILTER && node->inputs[0]->kind == MS_LNODE_SCAN) {
        return push_filter(p, node, node_out);
    }
    const ms_lnode **inputs = ms_arena_array(p->opt->arena, const ms_lnode *, node->input_count);
    bool is_changed = false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        MS_TRY(push_filters(p, node->inputs[i], &inputs[i]));
        is_changed = is_changed || inputs[i] != node->inputs[i];
    }
    *node_out = is_changed ? ms_lnode_with_inputs(p->opt->arena, node, inputs) : node;
    return MS_OK;
}

/* Limits. */

static uint32_t count_uses(const ms_lnode *node, const ms_scan *scan)
{
    uint32_t count = node->kind == MS_LNODE_SCAN && node->u.scan.scan == scan ? 1 : 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        count += count_uses(node->inputs[i], scan);
    }
    return count;
}

static bool is_shared(const msi_opt *opt, const ms_scan *scan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < opt->root_count; i++) {
        count += count_uses(opt->roots[i], scan);
    }
    return count > 1;
}

/* Tells the scans below, as far as every row of theirs comes through, how many rows are enough. */
static void push_limit(const msi_opt *opt, const ms_lnode *node, uint64_t rows)
{
    switch (node->kind) {
    case MS_LNODE_SCAN: {
        ms_scan *scan = node->u.scan.scan;
        if (scan->klass->push_limit != NULL && !is_shared(opt, scan)) {
            scan->klass->push_limit(scan, rows);
        }
        return;
    }
    case MS_LNODE_PROJECT:
    case MS_LNODE_WATERMARK:
    case MS_LNODE_UNION:
        for (uint32_t i = 0; i < node->input_count; i++) {
            push_limit(opt, node->inputs[i], rows);
        }
        return;
    case MS_LNODE_VALUES:
    case MS_LNODE_FILTER:
    case MS_LNODE_AGGREGATE:
    case MS_LNODE_SORT:
    case MS_LNODE_LIMIT:
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        return;
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static void push_limits(const msi_opt *opt, const ms_lnode *node)
{
    if (node->kind == MS_LNODE_LIMIT && node->u.limit.limit != UINT64_MAX) {
        uint64_t rows = 0;
        if (!__builtin_add_overflow(node->u.limit.limit, node->u.limit.offset, &rows)) {
            push_limit(opt, node->inputs[0], rows);
        }
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        push_limits(opt, node->inputs[i]);
    }
}

ms_rc msi_push_into_scans(msi_opt *opt)
{
    uint32_t scan_count = 0;
    for (uint32_t i = 0; i < opt->root_count; i++) {
        scan_count += count_scans(opt->roots[i]);
    }
    scan_pusher pusher = {.opt = opt,
                          .answers = ms_arena_array(opt->arena, scan_answer, scan_count)};
    for (uint32_t i = 0; i < opt->root_count; i++) {
        MS_TRY(push_filters(&pusher, opt->roots[i], &opt->roots[i]));
    }
    for (uint32_t i = 0; i < opt->root_count; i++) {
        push_limits(opt, opt->roots[i]);
    }
    return MS_OK;
}
