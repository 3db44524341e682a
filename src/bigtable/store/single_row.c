/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReadModifyWriteRow and CheckAndMutateRow. Both are entries of the commit queue like any other
 * write: the leader reads what is stored, decides, and writes, and nobody writes in between; so
 * neither needs a lock, and calls on different rows share batches and the sync of their group.
 *
 * A call must see what came before it in the queue. A row that the batch under way has changed is
 * therefore no row for a call that reads it (row_set.h): the batch is written first, without a
 * sync. The exception are rules on columns that rules changed: these find the column in the
 * overlay, so that a counter that everybody increments does not end a batch each time.
 */
#include "bigtable/store/row_set.h"
#include "bigtable/store/scan_row.h"
#include "bigtable/store/store_priv.h"

#include <stdlib.h>

/* ReadModifyWriteRow. */

/* One call under way. What the rules make is in commit->trial until all have succeeded. */
typedef struct rules_run {
    ms_bt_store *store;
    msi_commit *commit;
    ms_bt_read_modify_write *call;
    const msi_table *table;
    size_t row_bytes; /* of the row part, at the start of commit->key */
    int64_t micros;   /* the server's time, at the table's granularity */
    size_t bytes;     /* of all values made */
} rules_run;

static size_t family_of(const rules_run *run, const ms_bt_rule *rule)
{
    const ms_bt_table *def = run->table->def;
    return (size_t)(ms_bt_table_family(def, rule->family) - def->families);
}

/* The key of the column of a rule, in commit->key. */
static ms_str column_key(const rules_run *run, const ms_bt_rule *rule)
{
    uint32_t family = run->table->family_ids[family_of(run, rule)];
    char *end =
        msi_key_put_column(run->commit->key + run->row_bytes, family, rule->qualifier, MSI_KEY_END);
    return ms_str_make(run->commit->key, (size_t)(end - run->commit->key));
}

/* Reads the latest cell of a column from the store. */
static ms_rc load_stored(const rules_run *run, ms_str column, msi_overlay_cell *cell, ms_status *st)
{
    char *bound = run->commit->bound;
    memcpy(bound, column.ptr, column.bytes);
    msi_key_put_end(bound + column.bytes - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
    ms_kv_iter_options options = {.upper = ms_str_make(bound, column.bytes)};
    ms_kv_iter *iter = ms_kv_iter_create(run->store->kv, &options);
    ms_kv_entry entry;
    ms_rc rc = MS_OK;
    if (ms_kv_iter_seek(iter, column, &entry)) {
        cell->exists = true;
        cell->micros = msi_key_time(entry.key.ptr + column.bytes);
        rc = ms_buf_append(&cell->bytes, entry.value, st);
    }
    if (rc == MS_OK) {
        rc = ms_kv_iter_check(iter, st);
    }
    ms_kv_iter_destroy(iter);
    return rc;
}

/* The column of a rule as this call has it so far: from the call's earlier rules, from the batch
 * under way, or from the store. */
static ms_rc find_column(rules_run *run, size_t index, msi_overlay_cell **cell_out, ms_status *st)
{
    ms_str key = column_key(run, &run->call->rules[index]);
    bool is_new = false;
    msi_overlay_cell *cell = msi_overlay_at(run->commit->trial, key, &is_new);
    *cell_out = cell;
    if (!is_new) {
        return MS_OK;
    }
    cell->kind = MSI_OVERLAY_COLUMN;
    cell->tag = (uint32_t)index;
    const msi_overlay_cell *known = msi_overlay_find(run->commit->overlay, key);
    if (known == NULL) {
        MS_TRY(load_stored(run, key, cell, st));
    } else {
        cell->exists = known->exists;
        cell->micros = known->micros;
        MS_TRY(ms_buf_append(&cell->bytes, ms_buf_view(&known->bytes), st));
    }
    run->bytes += cell->bytes.bytes;
    return MS_OK;
}

static ms_bt_code increment(const ms_bt_rule *rule, msi_overlay_cell *cell, ms_bt_status *bt)
{
    int64_t number = 0;
    if (cell->exists) {
        if (cell->bytes.bytes != sizeof(number)) {
            char value[128];
            char qualifier[128];
            return ms_bt_status_set(
                bt, MS_BT_FAILED_PRECONDITION,
                "Cannot increment value '%s' (family=%.*s, qualifier=%s). The increment operation "
                "can only be performed on 64-bit values",
                ms_bt_bytes_text(ms_buf_view(&cell->bytes), value, sizeof(value)),
                MS_STR_ARG(rule->family),
                ms_bt_bytes_text(rule->qualifier, qualifier, sizeof(qualifier)));
        }
        number = msi_number_load(cell->bytes.ptr);
    }
    char sum[sizeof(number)];
    msi_number_store(sum, (int64_t)((uint64_t)number + (uint64_t)rule->increment));
    ms_buf_reset(&cell->bytes);
    ms_status st = {0};
    if (ms_buf_append(&cell->bytes, ms_str_make(sum, sizeof(sum)), &st) != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    return MS_BT_OK;
}

static ms_bt_code append(const rules_run *run, const ms_bt_rule *rule, msi_overlay_cell *cell,
                         ms_bt_status *bt)
{
    size_t bytes = cell->bytes.bytes + rule->append.bytes;
    if (bytes > MS_BT_LIMIT_VALUE_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Cell value is %zu bytes long; limit %u", bytes,
                                MS_BT_LIMIT_VALUE_BYTES);
    }
    if (run->bytes + rule->append.bytes > MS_BT_LIMIT_ROW_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "The cells of one request are larger than %u bytes",
                                MS_BT_LIMIT_ROW_BYTES);
    }
    ms_status st = {0};
    if (ms_buf_append(&cell->bytes, rule->append, &st) != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    return MS_BT_OK;
}

/* Applies all rules in commit->trial. */
static ms_bt_code apply_rules(rules_run *run)
{
    ms_bt_status *bt = &run->call->call.status;
    for (size_t i = 0; i < run->call->rule_count; i++) {
        const ms_bt_rule *rule = &run->call->rules[i];
        msi_overlay_cell *cell = NULL;
        ms_status st = {0};
        if (find_column(run, i, &cell, &st) != MS_OK) {
            return ms_bt_status_from(
                bt, st.code == MS_CORRUPT_DATA ? MS_BT_DATA_LOSS : MS_BT_INTERNAL, &st);
        }
        if (rule->kind == MS_BT_RULE_INCREMENT) {
            MS_BT_TRY(increment(rule, cell, bt));
        } else {
            MS_BT_TRY(append(run, rule, cell, bt));
            run->bytes += rule->append.bytes;
        }
        if (!cell->exists || cell->micros < run->micros) {
            cell->micros = run->micros;
        }
        cell->exists = true;
    }
    return MS_BT_OK;
}

/* A column that changed, in the order of the answer: families by name, then qualifiers. */
typedef struct changed {
    size_t family;
    ms_str qualifier;
    const msi_overlay_cell *cell;
} changed;

static int compare_changed(const void *left, const void *right)
{
    const changed *a = left;
    const changed *b = right;
    if (a->family != b->family) {
        return a->family < b->family ? -1 : 1;
    }
    return ms_str_compare(a->qualifier, b->qualifier);
}

/* The columns of commit->trial, sorted, in the arena of the answer. */
static const changed *list_changed(const rules_run *run, uint32_t *count_out)
{
    msi_overlay *trial = run->commit->trial;
    uint32_t count = msi_overlay_count(trial);
    changed *list = ms_arena_array(&run->call->answer, changed, count);
    for (uint32_t i = 0; i < count; i++) {
        const msi_overlay_cell *cell = msi_overlay_cell_at(trial, i);
        const ms_bt_rule *rule = &run->call->rules[cell->tag];
        list[i] = (changed){family_of(run, rule), rule->qualifier, cell};
    }
    if (count > 1) {
        qsort(list, count, sizeof(*list), compare_changed);
    }
    *count_out = count;
    return list;
}

/* Fills the page of the answer. The catalog goes, so the names are copied. */
static ms_rc answer_rules(const rules_run *run, const changed *list, uint32_t count, ms_status *st)
{
    ms_bt_read_modify_write *call = run->call;
    ms_bt_page *page = &call->row;
    MS_TRY(ms_bt_page_reserve_row(page, call->row_key.bytes, st));
    ms_bt_row *row = &page->rows[page->row_count];
    row->key_at = ms_bt_page_put(page, call->row_key.ptr, call->row_key.bytes);
    row->key_bytes = (uint32_t)call->row_key.bytes;
    row->first_cell = page->cell_count;
    row->cell_count = count;
    const ms_bt_table *def = run->table->def;
    ms_str *names = ms_arena_array(&call->answer, ms_str, def->family_count);
    page->families = names;
    page->family_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const changed *column = &list[i];
        if (i == 0 || column->family != list[i - 1].family) {
            names[page->family_count++] =
                ms_arena_copy_str(&call->answer, def->families[column->family].name);
        }
        ms_str value = ms_buf_view(&column->cell->bytes);
        MS_TRY(ms_bt_page_reserve_cell(page, column->qualifier.bytes + value.bytes, st));
        ms_bt_cell *cell = &page->cells[page->cell_count++];
        *cell = (ms_bt_cell){.timestamp_micros = column->cell->micros,
                             .qualifier_bytes = (uint32_t)column->qualifier.bytes,
                             .value_bytes = (uint32_t)value.bytes,
                             .family = (uint16_t)(page->family_count - 1)};
        cell->qualifier_at = ms_bt_page_put(page, column->qualifier.ptr, column->qualifier.bytes);
        cell->value_at = ms_bt_page_put(page, value.ptr, value.bytes);
    }
    page->row_count++;
    return MS_OK;
}

/* Moves what the rules made to the overlay, from where the batch receives it at its end, and says
 * it to the change stream as SetCells. */
static ms_rc write_rules(const rules_run *run, const changed *list, uint32_t count, ms_status *st)
{
    msi_commit *commit = run->commit;
    bool is_logged = run->table->is_logged;
    if (is_logged) {
        msi_log_begin(run->store, run->table, run->call->row_key,
                      msi_store_item(&run->call->call)->cluster);
    }
    for (uint32_t i = 0; i < count; i++) {
        const msi_overlay_cell *made = list[i].cell;
        ms_str value = ms_buf_view(&made->bytes);
        bool is_new = false;
        msi_overlay_cell *cell = msi_overlay_at(commit->overlay, made->key, &is_new);
        cell->kind = MSI_OVERLAY_COLUMN;
        cell->exists = true;
        cell->micros = made->micros;
        commit->batch_bytes += is_new ? made->key.bytes + value.bytes : 0;
        ms_buf_reset(&cell->bytes);
        MS_TRY(ms_buf_append(&cell->bytes, value, st));
        if (is_logged) {
            msi_log_mutation set = {.kind = MS_BT_MUTATION_SET_CELL,
                                    .family_id = run->table->family_ids[list[i].family],
                                    .timestamp_micros = made->micros,
                                    .qualifier = list[i].qualifier,
                                    .value = value};
            MS_TRY(msi_log_add(run->store, &set, st));
        }
    }
    commit->batch_mutations += count;
    return is_logged ? msi_log_end(run->store, st) : MS_OK;
}

/* How large the batch grows by a call, as far as that is known beforehand. */
static size_t rule_bytes(const ms_bt_read_modify_write *call)
{
    size_t bytes = 0;
    for (size_t i = 0; i < call->rule_count; i++) {
        bytes += call->row_key.bytes + call->rules[i].qualifier.bytes + call->rules[i].append.bytes;
    }
    return bytes;
}

ms_rc msi_single_row_modify(ms_bt_store *store, ms_bt_read_modify_write *call, size_t *bytes_out,
                            ms_status *st)
{
    msi_commit *commit = &store->commit;
    const msi_table *table = msi_store_item(&call->call)->table;
    *bytes_out = rule_bytes(call);
    MS_TRY(msi_commit_admit(store, table, call->row_key, MSI_ROW_RULE, *bytes_out,
                            (uint32_t)call->rule_count, st));
    int64_t granularity = table->def->granularity_micros;
    rules_run run = {.store = store,
                     .commit = commit,
                     .call = call,
                     .table = table,
                     .micros = commit->micros - commit->micros % granularity};
    char *end = msi_key_put_row(commit->key, table->id, call->row_key, MSI_KEY_END);
    run.row_bytes = (size_t)(end - commit->key);
    uint32_t count = 0;
    const changed *list = NULL;
    ms_status refused = {0};
    bool is_made = apply_rules(&run) == MS_BT_OK;
    if (is_made) {
        list = list_changed(&run, &count);
        is_made = answer_rules(&run, list, count, &refused) == MS_OK;
    }
    if (refused.code != MS_OK) {
        ms_bt_status_from(&call->call.status, MS_BT_RESOURCE_EXHAUSTED, &refused);
    }
    ms_rc rc = is_made ? write_rules(&run, list, count, st) : MS_OK;
    msi_overlay_reset(commit->trial);
    *bytes_out += run.bytes;
    return rc;
}

/* CheckAndMutateRow. */

/* Resolves the predicate: does the filter give any cell of the row as it is stored? */
static ms_bt_code check_predicate(ms_bt_store *store, ms_bt_check_and_mutate *call, size_t *bytes)
{
    msi_commit *commit = &store->commit;
    const msi_table *table = msi_store_item(&call->call)->table;
    ms_bt_status *bt = &call->call.status;
    const ms_bt_filter_program *program = NULL;
    MS_BT_TRY(ms_bt_filter_compile(call->predicate, table->def, &commit->scratch, &program, bt));
    ms_status st = {0};
    if (msi_row_matches(commit->matcher, store->kv, table, program, call->row_key,
                        &call->predicate_matched, bytes, &st) != MS_OK) {
        return ms_bt_status_from(bt, msi_read_code(st.code), &st);
    }
    return MS_BT_OK;
}

/* Applies the entry of a batch, if it has one. */
static ms_rc apply_entry(ms_bt_store *store, ms_bt_check_and_mutate *call,
                         const ms_bt_mutation_batch *batch, size_t *bytes, ms_status *st)
{
    msi_item *item = msi_store_item(&call->call);
    (void)msi_request_families(item, batch);
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(batch);
    ms_bt_mutation_entry entry;
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        MS_ASSERT(ms_str_equals(entry.key, call->row_key));
        MS_TRY(msi_commit_admit(store, item->table, entry.key, msi_entry_use(&entry), entry.bytes,
                                entry.mutation_count, st));
        MS_TRY(msi_encode_entry(store, item, &cursor, &entry, st));
        *bytes += entry.bytes;
    }
    return MS_OK;
}

ms_rc msi_single_row_check(ms_bt_store *store, ms_bt_check_and_mutate *call, size_t *bytes_out,
                           ms_status *st)
{
    const msi_table *table = msi_store_item(&call->call)->table;
    *bytes_out = call->row_key.bytes;
    MS_TRY(msi_commit_admit(store, table, call->row_key, MSI_ROW_LOOK, 0, 0, st));
    ms_bt_code code = check_predicate(store, call, bytes_out);
    ms_arena_reset(&store->commit.scratch);
    if (code != MS_BT_OK) {
        return MS_OK;
    }
    const ms_bt_mutation_batch *chosen = call->predicate_matched ? call->if_true : call->if_false;
    return chosen == NULL ? MS_OK : apply_entry(store, call, chosen, bytes_out, st);
}
