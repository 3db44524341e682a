/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallelism and exchanges.
 *
 * First the plan is cut where an operator needs all rows in one place and gives them in an order of
 * its own (AGGREGATE, SORT): what hangs together between the cuts is a fragment and could run
 * without an exchange. A fragment runs at parallelism 1 when that keeps an order that users rely
 * on: its source is one file, its sink the terminal or one file, or it has a LIMIT. An explicit
 * parallelism overrules that.
 *
 * Then each operator gets its parallelism, inputs first, and an exchange goes in front of it where
 * an input has another one, or where rows must meet:
 *
 *     AGGREGATE, SORT, LIMIT, COLLECT  GATHER to 1
 *     SINK with a primary key          HASH on it, unless all of it runs at 1
 *     SINK without                     REBALANCE to the parallelism that it asks for
 *     UNION                            REBALANCE to the widest input; GATHER when rows are updated,
 *                                      since the changes of a row must not overtake each other
 */
#include "opt/opt_priv.h"

/* Fragments: union-find with path halving. */

static msi_work *fragment_of(msi_work *work)
{
    while (work->fragment != work) {
        work->fragment = work->fragment->fragment;
        work = work->fragment;
    }
    return work;
}

static bool starts_anew(const msi_work *work)
{
    return work->node.kind == MS_PNODE_AGGREGATE || work->node.kind == MS_PNODE_SORT;
}

/* Whether an operator by itself makes its fragment run at parallelism 1. */
static bool keeps_order(const msi_work *work)
{
    switch (work->node.kind) {
    case MS_PNODE_SINK:
        return work->sink->keeps_order && work->sink->parallelism == 0;
    case MS_PNODE_LIMIT:
    case MS_PNODE_COLLECT:
        return true;
    case MS_PNODE_SOURCE:
    case MS_PNODE_VALUES:
    case MS_PNODE_CALC:
    case MS_PNODE_WATERMARK:
    case MS_PNODE_AGGREGATE:
    case MS_PNODE_UNION:
    case MS_PNODE_EXCHANGE:
    case MS_PNODE_SORT:
        return false;
    case MS_PNODE_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* One file, whose order lasts as far as its fragment goes. */
static bool has_order(const msi_work *work)
{
    return work->node.kind == MS_PNODE_SOURCE && work->node.u.source.scan->keeps_order &&
           work->node.u.source.scan->parallelism == 0;
}

static void find_fragments(msi_opt *opt, msi_works *works)
{
    for (uint32_t i = 0; i < works->count; i++) {
        works->items[i]->fragment = works->items[i];
    }
    for (uint32_t i = 0; i < works->count; i++) {
        msi_work *work = works->items[i];
        for (uint32_t k = 0; k < work->input_count && !starts_anew(work); k++) {
            fragment_of(work->inputs[k])->fragment = fragment_of(work);
        }
    }
    if (opt->env->settings.parallelism_is_explicit) {
        return;
    }
    for (uint32_t i = 0; i < works->count; i++) {
        msi_work *fragment = fragment_of(works->items[i]);
        fragment->is_ordered = fragment->is_ordered || keeps_order(works->items[i]);
        fragment->has_sink = fragment->has_sink || works->items[i]->node.kind == MS_PNODE_SINK;
    }
    for (uint32_t i = 0; i < works->count; i++) {
        msi_work *fragment = fragment_of(works->items[i]);
        if (has_order(works->items[i]) && fragment->has_sink) {
            fragment->is_ordered = true;
        }
    }
}

/* Exchanges. */

static bool is_insert_only(const msi_work *work)
{
    return work->node.changelog == MS_CHANGELOG_INSERT;
}

/* The new order of all operators: inputs before consumers, exchanges among them. */
typedef struct placer {
    msi_opt *opt;
    msi_works placed;
} placer;

static void keep(placer *p, msi_work *work)
{
    msi_works *placed = &p->placed;
    MS_ASSERT(placed->count < placed->capacity);
    placed->items[placed->count++] = work;
}

/* Puts an exchange between an input and its consumer. */
static void exchange(placer *p, msi_work *work, uint32_t input, ms_exchange_kind kind,
                     uint32_t parallelism)
{
    msi_work *from = work->inputs[input];
    msi_work *node = ms_arena_new(p->opt->arena, msi_work);
    node->node.kind = MS_PNODE_EXCHANGE;
    node->node.span = from->node.span;
    node->node.schema = from->node.schema;
    node->node.changelog = from->node.changelog;
    node->node.order_sensitive = from->node.order_sensitive;
    node->node.parallelism = parallelism;
    node->node.u.exchange.kind = kind;
    node->props = from->props;
    node->input_count = 1;
    node->inputs = ms_arena_array(p->opt->arena, msi_work *, 1);
    node->inputs[0] = from;
    node->fragment = node;
    if (kind == MS_EXCHANGE_HASH) {
        node->node.u.exchange.key_count = work->key_count;
        node->node.u.exchange.keys = work->key;
    }
    work->inputs[input] = node;
    keep(p, node);
}

static void gather(placer *p, msi_work *work)
{
    if (work->inputs[0]->node.parallelism > 1) {
        exchange(p, work, 0, MS_EXCHANGE_GATHER, 1);
    }
    work->node.parallelism = 1;
}

static void place_union(placer *p, msi_work *work)
{
    uint32_t widest = 1;
    bool is_updated = false;
    for (uint32_t i = 0; i < work->input_count; i++) {
        uint32_t parallelism = work->inputs[i]->node.parallelism;
        widest = parallelism > widest ? parallelism : widest;
        is_updated = is_updated || !is_insert_only(work->inputs[i]);
    }
    work->node.parallelism = is_updated ? 1 : widest;
    for (uint32_t i = 0; i < work->input_count; i++) {
        if (work->inputs[i]->node.parallelism != work->node.parallelism) {
            exchange(p, work, i, is_updated ? MS_EXCHANGE_GATHER : MS_EXCHANGE_REBALANCE,
                     work->node.parallelism);
        }
    }
}

static ms_rc refuse_rebalance(placer *p, const msi_work *work, uint32_t target)
{
    ms_str table = work->node.u.sink.table;
    uint32_t from = work->inputs[0]->node.parallelism;
    ms_status_set(p->opt->st, MS_INVALID_QUERY, work->node.span,
                  "table \"%.*s\" has no primary key, so updates cannot reach %u writers in order",
                  MS_STR_ARG(table), target);
    ms_status_detail(p->opt->st,
                     "The sink for table '%.*s' has a configured parallelism of %u, while the "
                     "input parallelism is %u. Since the configured parallelism is different from "
                     "the input's parallelism and the changelog mode is not insert-only, a primary "
                     "key is required but could not be found.",
                     MS_STR_ARG(table), target, from);
    return ms_status_hint(p->opt->st, "Declare a primary key, or leave sink.parallelism out.");
}

static ms_rc place_sink(placer *p, msi_work *work)
{
    uint32_t from = work->inputs[0]->node.parallelism;
    uint32_t target = work->sink->parallelism > 0 ? work->sink->parallelism : from;
    if (fragment_of(work)->is_ordered && work->sink->parallelism == 0) {
        target = 1;
    }
    work->node.parallelism = target;
    if (from == 1 && target == 1) {
        return MS_OK;
    }
    if (work->key_count > 0) {
        exchange(p, work, 0, target == 1 ? MS_EXCHANGE_GATHER : MS_EXCHANGE_HASH, target);
        return MS_OK;
    }
    if (from == target) {
        return MS_OK;
    }
    if (target == 1) {
        exchange(p, work, 0, MS_EXCHANGE_GATHER, 1);
        return MS_OK;
    }
    if (!is_insert_only(work->inputs[0])) {
        return refuse_rebalance(p, work, target);
    }
    exchange(p, work, 0, MS_EXCHANGE_REBALANCE, target);
    return MS_OK;
}

static void place_source(placer *p, msi_work *work)
{
    uint32_t own = work->node.u.source.scan->parallelism;
    uint32_t given = fragment_of(work)->is_ordered ? 1 : p->opt->env->settings.parallelism;
    work->node.parallelism = own > 0 ? own : given;
}

static ms_rc place(placer *p, msi_work *work)
{
    switch (work->node.kind) {
    case MS_PNODE_SOURCE:
        place_source(p, work);
        return MS_OK;
    case MS_PNODE_VALUES:
        work->node.parallelism = 1;
        return MS_OK;
    case MS_PNODE_CALC:
    case MS_PNODE_WATERMARK:
        work->node.parallelism = work->inputs[0]->node.parallelism;
        return MS_OK;
    case MS_PNODE_AGGREGATE:
    case MS_PNODE_SORT:
    case MS_PNODE_LIMIT:
    case MS_PNODE_COLLECT:
        gather(p, work);
        return MS_OK;
    case MS_PNODE_UNION:
        place_union(p, work);
        return MS_OK;
    case MS_PNODE_SINK:
        return place_sink(p, work);
    case MS_PNODE_EXCHANGE:
    case MS_PNODE_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

ms_rc msi_place_exchanges(msi_opt *opt, msi_works *works)
{
    find_fragments(opt, works);
    placer p = {.opt = opt, .placed = *works};
    uint32_t edges = 0;
    for (uint32_t i = 0; i < works->count; i++) {
        edges += works->items[i]->input_count;
    }
    p.placed.count = 0;
    p.placed.capacity = works->count + edges;
    p.placed.items = ms_arena_array(opt->arena, msi_work *, p.placed.capacity);
    for (uint32_t i = 0; i < works->count; i++) {
        MS_TRY(place(&p, works->items[i]));
        keep(&p, works->items[i]);
    }
    *works = p.placed;
    return MS_OK;
}
