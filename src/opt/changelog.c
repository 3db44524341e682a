/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which row kinds flow on which edge, in two passes over all operators.
 *
 * Upwards: what each operator produces from what its inputs produce. A global aggregate over a
 * stream produces +I once and then -U/+U pairs; over a batch one +I. An operator that cannot take
 * updates says so here, with its name.
 *
 * Downwards: what each consumer wants. A sink is asked (negotiate) and may do without -U; then the
 * aggregate is told to leave it out, if that loses nothing:
 *
 *   - the sink's key must be the key of the updates, else a +U would leave the row of the old key
 *     behind. Constant columns do not count: (SELECT 'total', COUNT(*)) is updated under one key.
 *   - there must be no filter on the way: a row that stops passing it is only taken back by its -U.
 *
 * Where it would lose something Flink keeps a materializer in front of the sink; that is not built,
 * and such a statement is refused by name.
 */
#include "opt/opt_priv.h"

#define UPDATE_BEFORE ((ms_changelog)(1u << MS_ROW_UPDATE_BEFORE))
#define UPDATE_AFTER ((ms_changelog)(1u << MS_ROW_UPDATE_AFTER))
#define DELETE_KIND ((ms_changelog)(1u << MS_ROW_DELETE))

static bool has_updates(ms_changelog changelog)
{
    return (changelog & (ms_changelog)~MS_CHANGELOG_INSERT) != 0;
}

/* Upwards. */

static ms_changelog union_of_inputs(const msi_work *work)
{
    ms_changelog changelog = 0;
    for (uint32_t i = 0; i < work->input_count; i++) {
        changelog |= work->inputs[i]->node.changelog;
    }
    return changelog;
}

/* Flink's words for what a consumer does not take. */
static const char *kinds_in_words(ms_changelog changelog)
{
    bool updates = (changelog & (UPDATE_BEFORE | UPDATE_AFTER)) != 0;
    bool deletes = (changelog & DELETE_KIND) != 0;
    return updates && deletes ? "update and delete" : updates ? "update" : "delete";
}

/* The operator that first made what a consumer below it does not take. */
static const msi_work *producer_of_updates(const msi_work *work)
{
    for (uint32_t i = 0; i < work->input_count; i++) {
        if (has_updates(work->inputs[i]->node.changelog)) {
            return producer_of_updates(work->inputs[i]);
        }
    }
    return work;
}

static ms_rc refuse_updates(msi_opt *opt, const msi_work *work, const char *clause)
{
    const msi_work *producer = producer_of_updates(work->inputs[0]);
    ms_status_set(opt->st, MS_NOT_SUPPORTED, work->node.span,
                  "%s over rows that are updated is not supported", clause);
    ms_status_detail(
        opt->st, "%s doesn't support consuming %s changes which is produced by node %s",
        ms_pnode_kind_name(work->node.kind), kinds_in_words(work->inputs[0]->node.changelog),
        ms_pnode_kind_name(producer->node.kind));
    if (producer->node.kind != MS_PNODE_AGGREGATE) {
        return opt->st->code;
    }
    return ms_status_hint(opt->st, "In batch mode an aggregate gives one row and no updates: SET "
                                   "'execution.runtime-mode' = 'batch'.");
}

/* For an operator that takes inserts only. */
static ms_rc produce_inserts(msi_opt *opt, msi_work *work, const char *clause)
{
    work->node.changelog = MS_CHANGELOG_INSERT;
    return has_updates(work->inputs[0]->node.changelog) ? refuse_updates(opt, work, clause) : MS_OK;
}

static ms_rc produce(msi_opt *opt, msi_work *work)
{
    switch (work->node.kind) {
    case MS_PNODE_SOURCE:
        work->node.changelog = work->node.u.source.scan->changelog;
        if (work->node.changelog == 0) {
            work->node.changelog = MS_CHANGELOG_INSERT;
        }
        return MS_OK;
    case MS_PNODE_VALUES:
        work->node.changelog = MS_CHANGELOG_INSERT;
        return MS_OK;
    case MS_PNODE_AGGREGATE:
        MS_TRY(produce_inserts(opt, work, "an aggregate"));
        if (!work->node.u.aggregate.is_batch) {
            work->node.changelog |= UPDATE_AFTER;
            work->node.changelog |= work->drops_before ? 0 : UPDATE_BEFORE;
        }
        return MS_OK;
    case MS_PNODE_SORT: /* takes updates back before it gives anything out */
        work->node.changelog = MS_CHANGELOG_INSERT;
        return MS_OK;
    case MS_PNODE_LIMIT:
        return produce_inserts(opt, work, "LIMIT");
    case MS_PNODE_CALC:
    case MS_PNODE_WATERMARK:
    case MS_PNODE_UNION:
    case MS_PNODE_EXCHANGE:
    case MS_PNODE_SINK:
    case MS_PNODE_COLLECT:
        work->node.changelog = union_of_inputs(work);
        return MS_OK;
    case MS_PNODE_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static ms_rc produce_all(msi_opt *opt, msi_works *works)
{
    for (uint32_t i = 0; i < works->count; i++) {
        MS_TRY(produce(opt, works->items[i]));
    }
    return MS_OK;
}

/* Downwards. */

static ms_rc detail_sink(msi_opt *opt, const msi_work *sink, ms_changelog refused)
{
    const msi_work *producer = producer_of_updates(sink->inputs[0]);
    return ms_status_detail(
        opt->st,
        "Table sink 'default_catalog.default_database.%.*s' doesn't support consuming %s changes "
        "which is produced by node %s",
        MS_STR_ARG(sink->node.u.sink.table), kinds_in_words(refused),
        ms_pnode_kind_name(producer->node.kind));
}

static bool is_in(const uint32_t *columns, uint32_t count, uint32_t column)
{
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i] == column) {
            return true;
        }
    }
    return false;
}

/* Some upsert key of the rows is the sink's key, but for constant columns of either. */
static bool key_is_exact(const msi_work *sink)
{
    const ms_lprops *props = sink->props;
    for (uint32_t k = 0; k < props->upsert_key_count; k++) {
        const ms_key_set *key = &props->upsert_keys[k];
        bool is_exact = true;
        for (uint32_t i = 0; i < key->count && is_exact; i++) {
            is_exact = is_in(sink->key, sink->key_count, key->columns[i]) ||
                       props->columns[key->columns[i]].monotony == MS_MONOTONY_CONSTANT;
        }
        for (uint32_t i = 0; i < sink->key_count && is_exact; i++) {
            is_exact = is_in(key->columns, key->count, sink->key[i]) ||
                       props->columns[sink->key[i]].monotony == MS_MONOTONY_CONSTANT;
        }
        if (is_exact) {
            return true;
        }
    }
    return false;
}

/* A filter that updates pass through between a sink and where they are made; NULL for none. */
static const msi_work *filter_of_updates(const msi_work *work)
{
    if (work->node.kind == MS_PNODE_CALC && work->node.u.calc.filter != NULL) {
        return work;
    }
    for (uint32_t i = 0; i < work->input_count; i++) {
        if (has_updates(work->inputs[i]->node.changelog)) {
            return filter_of_updates(work->inputs[i]);
        }
    }
    return NULL;
}

static void drop_before(msi_work *work)
{
    work->drops_before = true;
    for (uint32_t i = 0; i < work->input_count; i++) {
        if (has_updates(work->inputs[i]->node.changelog)) {
            drop_before(work->inputs[i]);
        }
    }
}

/* The sink takes updates by its key and without -U. */
static ms_rc settle_upsert(msi_opt *opt, msi_work *sink)
{
    const msi_work *filter = filter_of_updates(sink->inputs[0]);
    if (key_is_exact(sink) && filter == NULL) {
        drop_before(sink->inputs[0]);
        return MS_OK;
    }
    ms_str table = sink->node.u.sink.table;
    if (filter != NULL) {
        ms_status_set(opt->st, MS_NOT_SUPPORTED, filter->node.span,
                      "a filter over rows that are updated is not supported for the upserts of "
                      "table \"%.*s\"",
                      MS_STR_ARG(table));
        return ms_status_detail(opt->st, "a row that stops passing the filter has to be deleted "
                                         "from the table, which needs its -U");
    }
    ms_status_set(opt->st, MS_NOT_SUPPORTED, sink->node.span,
                  "the primary key of table \"%.*s\" is not the key of the query's updates",
                  MS_STR_ARG(table));
    ms_status_detail(opt->st, "the rows of the old key would stay: Flink keeps a "
                              "SinkUpsertMaterializer for this, which is not built");
    return ms_status_hint(opt->st, "Make the key of the table the columns that identify a row of "
                                   "the query.");
}

static ms_rc settle_sink(msi_opt *opt, msi_work *work)
{
    ms_changelog produced = work->node.changelog;
    ms_changelog wanted = MS_CHANGELOG_ALL;
    bool key_only_deletes = false; /* a leave to send less, which no operator here makes use of */
    if (work->sink->klass->negotiate != NULL &&
        work->sink->klass->negotiate(work->sink, produced, &wanted, &key_only_deletes, opt->st) !=
            MS_OK) {
        if (has_updates(produced)) {
            detail_sink(opt, work, produced);
        }
        return ms_status_place(opt->st, work->node.span);
    }
    ms_changelog refused = produced & (ms_changelog)~wanted;
    if (refused == 0) {
        return MS_OK;
    }
    if (refused == UPDATE_BEFORE) {
        return settle_upsert(opt, work);
    }
    ms_status_set(opt->st, MS_INVALID_QUERY, work->node.span, "table \"%.*s\" takes no %ss",
                  MS_STR_ARG(work->node.u.sink.table), kinds_in_words(refused));
    return detail_sink(opt, work, refused);
}

/* Who wants every change, row by row, in the order in which they happened. */
static bool wants_every_change(ms_pnode_kind kind)
{
    return kind == MS_PNODE_LIMIT;
}

static void mark_order(msi_work *work, bool wanted)
{
    work->node.order_sensitive = work->node.order_sensitive || wanted;
    for (uint32_t i = 0; i < work->input_count; i++) {
        /* An aggregate or a sort starts anew: the order of its input is not that of its output. */
        bool passes_on = work->node.kind != MS_PNODE_AGGREGATE && work->node.kind != MS_PNODE_SORT;
        mark_order(work->inputs[i], wants_every_change(work->node.kind) || (wanted && passes_on));
    }
    if (work->node.kind == MS_PNODE_AGGREGATE && work->node.order_sensitive) {
        work->node.u.aggregate.coalesce = false;
    }
}

ms_rc msi_settle_changelog(msi_opt *opt, msi_works *works)
{
    MS_TRY(produce_all(opt, works));
    for (uint32_t i = 0; i < works->root_count; i++) {
        if (works->roots[i]->node.kind == MS_PNODE_SINK) {
            MS_TRY(settle_sink(opt, works->roots[i]));
        }
        mark_order(works->roots[i], false);
    }
    /* Once more, now that the aggregates know what they leave out. */
    return produce_all(opt, works);
}
