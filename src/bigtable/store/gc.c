/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Garbage collection: deleting the cells that the rules of their families no longer keep, and those
 * of families that were dropped. A pass over a table takes turns:
 *
 *     a job on the pool walks through some of the table and notes rows that have garbage;
 *     a step of the leader looks at these rows again, deletes what is garbage then, and logs it.
 *
 * So the walk costs no writer anything, and what the leader deletes is garbage at that moment: a
 * cell that was written meanwhile counts, and a row loses its garbage in one batch. Garbage is
 * always the oldest part of a column, because a cell that is newer has a smaller index and age; so
 * one deletion up to a time says all about a column in the change log. Cells of dropped families
 * go without a word, as they were never seen again.
 */
#include "base/env.h"
#include "base/memory.h"
#include "bigtable/store/store_priv.h"

/* What one walk may see, and how many rows it hands to the leader. */
#define WALK_BYTES ((size_t)16 << 20)
#define WALK_ROWS 256u
/* What one step of the leader may see before the next one, and delete of a column one by one. */
#define STEP_BYTES ((size_t)4 << 20)
#define POINT_DELETES 10000u

typedef struct gc_pass {
    ms_iojob job;
    ms_bt_call own; /* what the commit queue holds */
    ms_bt_store *store;
    ms_bt_call *asker;
    ms_bt_table_name name;
    uint32_t table; /* 0: the pass has not looked yet */
    uint32_t dropped_families;
    int64_t now_micros;
    uint64_t collected;
    ms_bt_status status;
    bool is_walked; /* the walk has reached the end of the table */
    ms_str rows[WALK_ROWS];
    uint32_t row_count;
    uint32_t next_row; /* the leader's */
    ms_arena row_arena;
    char *position; /* MSI_KEY_BYTES_MAX: where the next walk begins */
    size_t position_bytes;
    char *last; /* MSI_KEY_BYTES_MAX: the column before */
} gc_pass;

/* The cells of a table in the order of their keys, each weighed by its rule. */
typedef struct weighing {
    const gc_pass *pass;
    const msi_table *table;
    char *column; /* of the cell before, without its time */
    size_t column_bytes;
    size_t row_bytes; /* of its row part */
    uint32_t family;  /* index; UINT32_MAX: dropped */
    uint64_t index;   /* of the cell within its column, newest first */
} weighing;

static ms_rc damaged_key(ms_status *st)
{
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                         "a cell of the embedded store has a damaged key");
}

static bool is_in_row(const weighing *w, ms_str key)
{
    return w->row_bytes > 0 && key.bytes > w->row_bytes &&
           memcmp(key.ptr, w->column, w->row_bytes) == 0;
}

/* Takes in the next cell, and says whether it is garbage. */
static ms_rc weigh(weighing *w, ms_str key, bool *is_garbage_out, ms_status *st)
{
    if (!is_in_row(w, key)) {
        w->row_bytes = msi_key_text_end(key, MSI_KEY_TABLE_BYTES);
        w->column_bytes = 0;
    }
    if (w->row_bytes == 0 || key.bytes > MSI_KEY_BYTES_MAX ||
        key.bytes < w->row_bytes + MSI_KEY_FAMILY_BYTES + MSI_KEY_END_BYTES + MSI_KEY_TIME_BYTES) {
        return damaged_key(st);
    }
    size_t column_bytes = key.bytes - MSI_KEY_TIME_BYTES;
    if (column_bytes == w->column_bytes && memcmp(key.ptr, w->column, column_bytes) == 0) {
        w->index++;
    } else {
        memcpy(w->column, key.ptr, column_bytes);
        w->column_bytes = column_bytes;
        w->family = msi_table_family_index(w->table, msi_key_u32(key.ptr + w->row_bytes));
        w->index = 0;
    }
    *is_garbage_out =
        w->family == UINT32_MAX ||
        ms_bt_gc_rule_collects(w->table->def->families[w->family].gc_rule, w->index,
                               msi_key_time(key.ptr + column_bytes), w->pass->now_micros);
    return MS_OK;
}

/* Walking: the pool. */

static void end_pass(gc_pass *pass);
static void submit_walk(gc_pass *pass);
static void enqueue_step(gc_pass *pass, msi_step_fn step);

static bool has_rules(const msi_table *table)
{
    for (size_t i = 0; i < table->def->family_count; i++) {
        if (table->def->families[i].gc_rule != NULL) {
            return true;
        }
    }
    return false;
}

static void note_row(gc_pass *pass, const weighing *w)
{
    size_t escaped_bytes = w->row_bytes - MSI_KEY_TABLE_BYTES - MSI_KEY_END_BYTES;
    char *row = ms_arena_alloc(&pass->row_arena, escaped_bytes + 1, 1);
    size_t bytes =
        msi_key_unescape(row, ms_str_make(w->column + MSI_KEY_TABLE_BYTES, escaped_bytes));
    pass->rows[pass->row_count++] = ms_str_make(row, bytes);
}

static void set_position(gc_pass *pass, const char *row_part, size_t row_bytes)
{
    memcpy(pass->position, row_part, row_bytes);
    msi_key_put_end(pass->position + row_bytes - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
    pass->position_bytes = row_bytes;
}

static bool is_stopping(const gc_pass *pass)
{
    /* Order relaxed: a wish, which guards no other memory. */
    return atomic_load_explicit(&pass->store->is_stopping, memory_order_relaxed) ||
           ms_bt_call_is_canceled(pass->asker);
}

/* Notes rows with garbage from the position on; the position is then behind what was seen. */
static ms_rc walk(gc_pass *pass, const msi_table *table, ms_kv_iter *iter, ms_status *st)
{
    weighing w = {.pass = pass, .table = table, .column = pass->last};
    size_t seen_bytes = 0;
    ms_kv_entry entry;
    bool valid = ms_kv_iter_seek(iter, ms_str_make(pass->position, pass->position_bytes), &entry);
    while (valid) {
        bool is_new_row = !is_in_row(&w, entry.key);
        if (is_new_row && w.row_bytes > 0) {
            set_position(pass, w.column, w.row_bytes);
            if (seen_bytes > WALK_BYTES || pass->row_count == WALK_ROWS || is_stopping(pass)) {
                return MS_OK;
            }
        }
        bool is_garbage = false;
        MS_TRY(weigh(&w, entry.key, &is_garbage, st));
        seen_bytes += entry.key.bytes + entry.value.bytes;
        if (!is_garbage) {
            valid = ms_kv_iter_next(iter, &entry);
            continue;
        }
        note_row(pass, &w);
        set_position(pass, w.column, w.row_bytes);
        valid = ms_kv_iter_seek(iter, ms_str_make(pass->position, pass->position_bytes), &entry);
    }
    pass->is_walked = true;
    return ms_kv_iter_check(iter, st);
}

static ms_rc walk_table(gc_pass *pass, const msi_table *table, ms_status *st)
{
    char end[MSI_KEY_TABLE_BYTES];
    msi_key_put_u32(end, table->id + 1);
    if (pass->table == 0) {
        pass->table = table->id;
        pass->dropped_families = table->dropped_families;
        pass->is_walked = !has_rules(table) && table->dropped_families == 0;
        msi_key_put_u32(pass->position, table->id);
        pass->position_bytes = MSI_KEY_TABLE_BYTES;
    }
    if (pass->is_walked) {
        return MS_OK;
    }
    ms_kv_iter_options bounds = {.upper = ms_str_make(end, sizeof(end)), .no_fill_cache = true};
    ms_kv_iter *iter = ms_kv_iter_create(pass->store->kv, &bounds);
    ms_rc rc = walk(pass, table, iter, st);
    ms_kv_iter_destroy(iter);
    return rc;
}

/* The table of the pass in a snapshot; NULL, with the reason in the pass, when it is gone. */
static const msi_table *find_table(gc_pass *pass, const msi_schema *schema)
{
    const msi_table *table = msi_schema_find(schema, &pass->name);
    if (table == NULL || (pass->table != 0 && table->id != pass->table)) {
        (void)msi_store_no_table(schema, &pass->name, &pass->status);
        return NULL;
    }
    return table;
}

static bool run_step(ms_bt_store *store, ms_bt_call *call, ms_status *st);
static bool run_forget(ms_bt_store *store, ms_bt_call *call, ms_status *st);

static void run_walk(ms_iojob *job)
{
    gc_pass *pass = MS_MAIL_OWNER(job, gc_pass, job);
    msi_schema *schema = msi_store_schema(pass->store);
    const msi_table *table = find_table(pass, schema);
    ms_status st = {0};
    if (table != NULL && walk_table(pass, table, &st) != MS_OK) {
        ms_bt_status_from(&pass->status,
                          st.code == MS_CORRUPT_DATA ? MS_BT_DATA_LOSS : MS_BT_INTERNAL, &st);
    }
    msi_schema_drop(schema);
    if (is_stopping(pass)) {
        ms_bt_status_set(&pass->status, MS_BT_CANCELLED, "The call was canceled");
    }
    if (!ms_bt_status_is_ok(&pass->status)) {
        end_pass(pass);
    } else if (pass->row_count > 0) {
        enqueue_step(pass, run_step);
    } else if (!pass->is_walked) {
        submit_walk(pass);
    } else if (pass->dropped_families > 0) {
        enqueue_step(pass, run_forget);
    } else {
        end_pass(pass);
    }
}

static void submit_walk(gc_pass *pass)
{
    pass->job = (ms_iojob){.run = run_walk};
    ms_status st = {0};
    if (ms_iopool_submit(pass->store->pool, &pass->job, &st) != MS_OK) {
        ms_bt_status_from(&pass->status, MS_BT_RESOURCE_EXHAUSTED, &st);
        end_pass(pass);
    }
}

/* Deleting: the leader. */

/* The garbage of one column, as it is found. */
typedef struct column_garbage {
    uint32_t family;
    int64_t newest_micros;
    uint32_t count;
} column_garbage;

/* Deletes the cell that comes next. Beyond some of a column, the rest goes as a range. */
static void delete_cell(msi_commit *commit, const weighing *w, const ms_kv_entry *entry,
                        uint32_t count)
{
    if (count < POINT_DELETES) {
        ms_kv_batch_delete(commit->batch, entry->key);
    } else if (count == POINT_DELETES) {
        char *to = commit->bound;
        memcpy(to, w->column, w->column_bytes);
        to = msi_key_put_end(to + w->column_bytes - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
        ms_kv_batch_delete_range(commit->batch, entry->key,
                                 ms_str_make(commit->bound, (size_t)(to - commit->bound)));
    }
}

/* Logs that all cells of a column up to the newest of its garbage are gone. */
static ms_rc log_column(gc_pass *pass, const weighing *w, const column_garbage *garbage,
                        ms_status *st)
{
    if (garbage->count == 0 || garbage->family == UINT32_MAX || !w->table->is_logged) {
        return MS_OK;
    }
    ms_bt_store *store = pass->store;
    int64_t step = w->table->def->granularity_micros;
    int64_t end = garbage->newest_micros - garbage->newest_micros % step;
    end = end <= INT64_MAX - step ? end + step : 0;
    /* The column stands behind the row and its family, escaped. */
    size_t from = w->row_bytes + MSI_KEY_FAMILY_BYTES;
    ms_str escaped = ms_str_make(w->column + from, w->column_bytes - from - MSI_KEY_END_BYTES);
    size_t bytes = msi_key_unescape(store->commit.bound, escaped);
    msi_log_mutation gone = {.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN,
                             .family_id = w->table->family_ids[garbage->family],
                             .end_micros = end,
                             .qualifier = ms_str_make(store->commit.bound, bytes)};
    return msi_log_add(store, &gone, st);
}

/* Deletes the garbage of one row. */
static ms_rc collect_row(gc_pass *pass, const msi_table *table, ms_kv_iter *iter, ms_str row,
                         size_t *seen_bytes, ms_status *st)
{
    ms_bt_store *store = pass->store;
    weighing w = {.pass = pass, .table = table, .column = store->commit.key};
    column_garbage garbage = {0};
    if (table->is_logged) {
        msi_log_begin(store, table, row, (ms_str){NULL, 0});
    }
    char *end = msi_key_put_row(store->commit.key, table->id, row, MSI_KEY_END);
    w.row_bytes = (size_t)(end - store->commit.key);
    ms_kv_entry entry;
    bool valid = ms_kv_iter_seek(iter, ms_str_make(store->commit.key, w.row_bytes), &entry);
    for (; valid && is_in_row(&w, entry.key); valid = ms_kv_iter_next(iter, &entry)) {
        size_t column_bytes = entry.key.bytes - MSI_KEY_TIME_BYTES;
        bool is_same =
            column_bytes == w.column_bytes && memcmp(entry.key.ptr, w.column, column_bytes) == 0;
        if (!is_same) {
            MS_TRY(log_column(pass, &w, &garbage, st));
            garbage.count = 0;
        }
        bool is_garbage = false;
        MS_TRY(weigh(&w, entry.key, &is_garbage, st));
        *seen_bytes += entry.key.bytes + entry.value.bytes;
        if (is_garbage) {
            if (garbage.count == 0) {
                garbage.family = w.family;
                garbage.newest_micros = msi_key_time(entry.key.ptr + column_bytes);
            }
            delete_cell(&store->commit, &w, &entry, garbage.count++);
            pass->collected += w.family != UINT32_MAX;
        }
    }
    MS_TRY(ms_kv_iter_check(iter, st));
    MS_TRY(log_column(pass, &w, &garbage, st));
    return table->is_logged ? msi_log_end(store, st) : MS_OK;
}

/* Some of the rows that were noted; the rest in the next step. */
static ms_rc collect_rows(gc_pass *pass, const msi_table *table, ms_status *st)
{
    ms_bt_store *store = pass->store;
    char end[MSI_KEY_TABLE_BYTES];
    msi_key_put_u32(end, table->id + 1);
    ms_kv_iter_options bounds = {.upper = ms_str_make(end, sizeof(end))};
    ms_kv_iter *iter = ms_kv_iter_create(store->kv, &bounds);
    size_t seen_bytes = 0;
    ms_rc rc = MS_OK;
    while (rc == MS_OK && pass->next_row < pass->row_count && seen_bytes < STEP_BYTES) {
        rc = collect_row(pass, table, iter, pass->rows[pass->next_row++], &seen_bytes, st);
    }
    ms_kv_iter_destroy(iter);
    MS_TRY(rc);
    return ms_kv_batch_count(store->commit.batch) > 0
               ? msi_commit_write(store, msi_commit_mode(store), st)
               : MS_OK;
}

static gc_pass *pass_of(ms_bt_call *own)
{
    return (gc_pass *)(void *)((char *)own - offsetof(gc_pass, own));
}

static bool run_step(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    gc_pass *pass = pass_of(call);
    msi_schema *schema = msi_store_schema(store);
    const msi_table *table = find_table(pass, schema);
    if (table != NULL) {
        (void)collect_rows(pass, table, st);
    }
    msi_schema_drop(schema);
    return table == NULL || pass->next_row == pass->row_count;
}

/* Nothing is left of the families that had been dropped when the pass began. */
static bool run_forget(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    gc_pass *pass = pass_of(call);
    msi_schema *schema = msi_store_schema(store);
    const msi_table *table = find_table(pass, schema);
    if (table != NULL) {
        msi_table draft = *table;
        draft.dropped_families -= pass->dropped_families;
        pass->dropped_families = 0;
        ms_status refused = {0};
        msi_schema *next = msi_schema_put_table(schema, &draft, store->commit.batch, &refused);
        msi_admin_finish_change(store, next, &refused, &pass->status, st);
    }
    msi_schema_drop(schema);
    return true;
}

/* The leader is done with what it was given. */
static void step_finished(ms_bt_call *call)
{
    gc_pass *pass = pass_of(call);
    if (!ms_bt_status_is_ok(&call->status)) {
        pass->status = call->status;
    }
    if (!ms_bt_status_is_ok(&pass->status)) {
        end_pass(pass);
        return;
    }
    ms_arena_reset(&pass->row_arena);
    pass->row_count = 0;
    pass->next_row = 0;
    submit_walk(pass);
}

static void enqueue_step(gc_pass *pass, msi_step_fn step)
{
    ms_bt_status_clear(&pass->own.status);
    msi_store_begin_item(pass->store, &pass->own, step, step_finished);
    msi_commit_enqueue(pass->store, &pass->own);
}

/* Life. */

static void end_pass(gc_pass *pass)
{
    ms_bt_call *asker = pass->asker;
    ms_bt_table_call *call = ms_bt_call_table(asker);
    call->count = pass->collected;
    asker->status = pass->status;
    ms_arena_release(&pass->row_arena);
    ms_mem_free(pass->position);
    ms_mem_free(pass->last);
    ms_mem_free(pass);
    msi_item *item = msi_store_item(asker);
    if (item->finished != NULL) {
        item->finished(asker);
    } else {
        ms_bt_call_finish(asker);
    }
}

void msi_gc_start(ms_bt_store *store, ms_bt_call *asker)
{
    ms_bt_table_call *call = ms_bt_call_table(asker);
    gc_pass *pass = ms_mem_calloc(1, sizeof(*pass));
    pass->store = store;
    pass->asker = asker;
    pass->own.kind = MS_BT_CALL_COUNT;
    pass->name = call->name;
    pass->now_micros = ms_env_wall_us();
    pass->position = ms_mem_alloc(MSI_KEY_BYTES_MAX);
    pass->last = ms_mem_alloc(MSI_KEY_BYTES_MAX);
    ms_arena_init(&pass->row_arena, 0);
    if (ms_bt_table_name_check(&call->name, &pass->status) != MS_BT_OK) {
        end_pass(pass);
        return;
    }
    submit_walk(pass);
}
