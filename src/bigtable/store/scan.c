/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans. A scan is a position between turns, and nothing else: each turn opens an iterator at the
 * position, fills one page, and closes it, so that no snapshot or block is pinned while the
 * consumer works. A turn ends at the end of a row: when the page is full, after TURN_BYTES or
 * TURN_NS of looking, or when it is canceled. A row is read within one turn, hence from one
 * moment.
 *
 * The inner loop gets keys in order: all cells of a row share the row part of their keys, all
 * versions of a column what is before the time. It compares with the key before instead of decoding
 * each one.
 */
#include "base/env.h"
#include "base/memory.h"
#include "bigtable/model/filter_eval.h"
#include "bigtable/store/scan_plan.h"
#include "bigtable/store/store_priv.h"

/* An iterator that is open longer keeps memory and files of the store from being freed. */
#define TURN_BYTES ((uint64_t)64 << 20)
#define TURN_NS INT64_C(1000000000)
/* How many entries are passed over one by one before a seek pays: a seek costs about 20 steps. */
#define STEPS_BEFORE_SEEK 10u
/* Cells of one row between two looks at the cancel flag, less one. */
#define CANCEL_MASK 4095u

typedef struct key_range {
    ms_str start; /* inclusive */
    ms_str end;   /* exclusive */
} key_range;

typedef struct msi_scan {
    ms_iojob job;
    ms_bt_store *store;
    ms_bt_attempt *attempt;
    _Atomic bool is_canceled;
    bool is_open;
    ms_arena arena;
    msi_schema *schema;
    const msi_table *table;
    msi_scan_plan plan;
    const key_range *ranges;
    size_t range_count;
    size_t range_index; /* the range that the position is in */
    uint64_t rows_left;
    ms_bt_filter_eval eval;
    char *position; /* where the next turn begins; MSI_KEY_BYTES_MAX */
    size_t position_bytes;
    char *last; /* the key before, and the target of a seek; MSI_KEY_BYTES_MAX */
} msi_scan;

/* One turn of a scan. */
typedef struct turn {
    msi_scan *scan;
    ms_bt_page *page;
    ms_kv_iter *iter;
    ms_kv_entry entry;   /* the cell that comes next */
    bool is_valid;       /* there is one */
    size_t row_bytes;    /* of the row part of the keys of this row, in scan->last */
    size_t column_bytes; /* of the key before, without its time; 0: none in this row */
    uint32_t family;     /* of the column before */
    ms_bt_cell column;   /* the cell before, for its qualifier */
    uint32_t steps;      /* entries passed over in a row */
    int64_t end_ns;
    uint64_t end_bytes_seen;
} turn;

/* Opening, in the first turn. */

static ms_str copy_key(ms_arena *arena, const char *start, const char *end)
{
    return ms_arena_copy_str(arena, ms_str_make(start, (size_t)(end - start)));
}

static ms_str bound_key(msi_scan *scan, const ms_bt_bound *bound, int end)
{
    char *to = msi_key_put_row(scan->last, scan->table->id, bound->key, end);
    return copy_key(&scan->arena, scan->last, to);
}

static void make_ranges(msi_scan *scan)
{
    ms_bt_ranges ranges = ms_bt_row_set_ranges(&scan->attempt->options->rows, &scan->arena);
    key_range *list = ms_arena_array(&scan->arena, key_range, ranges.count);
    uint32_t table = scan->table->id;
    for (size_t i = 0; i < ranges.count; i++) {
        const ms_bt_bound *start = &ranges.list[i].start;
        const ms_bt_bound *end = &ranges.list[i].end;
        list[i].start =
            start->kind == MS_BT_BOUND_NONE
                ? copy_key(&scan->arena, scan->last, msi_key_put_u32(scan->last, table))
                : bound_key(scan, start,
                            start->kind == MS_BT_BOUND_CLOSED ? MSI_KEY_END : MSI_KEY_BEHIND);
        list[i].end =
            end->kind == MS_BT_BOUND_NONE
                ? copy_key(&scan->arena, scan->last, msi_key_put_u32(scan->last, table + 1))
                : bound_key(scan, end,
                            end->kind == MS_BT_BOUND_CLOSED ? MSI_KEY_BEHIND : MSI_KEY_END);
    }
    scan->ranges = list;
    scan->range_count = ranges.count;
}

static ms_bt_code check_keys(const ms_bt_row_set *rows, ms_bt_status *bt)
{
    /* Bounds longer than any row key would not fit the buffers; the service takes them, so they
     * are named rather than cut. */
    for (size_t i = 0; i < rows->range_count; i++) {
        if (rows->ranges[i].start.key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES + 1 ||
            rows->ranges[i].end.key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES + 1) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'row_ranges' : Error in element #%zu : a key "
                                    "is longer than %u bytes",
                                    i, MS_BT_LIMIT_ROW_KEY_BYTES);
        }
    }
    return MS_BT_OK;
}

static ms_bt_code open_scan(msi_scan *scan, ms_bt_status *bt)
{
    const ms_bt_read_options *options = scan->attempt->options;
    MS_BT_TRY(ms_bt_table_name_check(&options->table, bt));
    scan->schema = msi_store_schema(scan->store);
    scan->table = msi_schema_find(scan->schema, &options->table);
    if (scan->table == NULL) {
        return msi_store_no_table(scan->schema, &options->table, bt);
    }
    if (options->rows_limit < 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'rows_limit' : must not be negative");
    }
    MS_BT_TRY(ms_bt_row_set_check(&options->rows, bt));
    MS_BT_TRY(check_keys(&options->rows, bt));
    MS_BT_TRY(ms_bt_filter_check(options->filter, bt));
    MS_BT_TRY(ms_bt_filter_check_built(options->filter, bt));
    MS_BT_TRY(msi_scan_plan_make(options->filter, scan->table, &scan->arena, &scan->plan, bt));
    scan->rows_left = options->rows_limit == 0 ? UINT64_MAX : (uint64_t)options->rows_limit;
    make_ranges(scan);
    scan->position_bytes = scan->ranges[0].start.bytes;
    memcpy(scan->position, scan->ranges[0].start.ptr, scan->position_bytes);
    scan->is_open = true;
    return MS_BT_OK;
}

/* Moving. */

static void step(turn *t)
{
    t->is_valid = ms_kv_iter_next(t->iter, &t->entry);
}

static bool in_row(const turn *t)
{
    return t->is_valid && t->entry.key.bytes > t->row_bytes &&
           memcmp(t->entry.key.ptr, t->scan->last, t->row_bytes) == 0;
}

/*
 * Goes on behind a cell of which the verdict said how much to drop: entry by entry at first, and by
 * a seek when that has not helped.
 */
static void advance(turn *t, msi_verdict verdict, uint32_t family_id)
{
    msi_scan *scan = t->scan;
    if (verdict == MSI_KEEP || verdict == MSI_DROP || t->steps < STEPS_BEFORE_SEEK) {
        t->steps = verdict == MSI_KEEP || verdict == MSI_DROP ? 0 : t->steps + 1;
        step(t);
        return;
    }
    t->steps = 0;
    char *to = scan->last + t->row_bytes;
    if (verdict == MSI_DROP_COLUMN) {
        to = scan->last + t->column_bytes - MSI_KEY_END_BYTES;
        to = msi_key_put_end(to, MSI_KEY_BEHIND);
        /* The key before is overwritten; the next column begins anew in any case. */
        t->column_bytes = 0;
    } else {
        uint32_t next = verdict == MSI_DROP_FAMILY
                            ? msi_scan_plan_next_family(&scan->plan, scan->table, family_id)
                            : 0;
        t->column_bytes = 0;
        if (next != 0) {
            to = msi_key_put_u32(to, next);
        } else {
            to = msi_key_put_end(to - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
        }
    }
    ms_str target = {scan->last, (size_t)(to - scan->last)};
    t->is_valid = ms_kv_iter_seek(t->iter, target, &t->entry);
    /* The row part must stand again for the comparison with what follows. */
    msi_key_put_end(scan->last + t->row_bytes - MSI_KEY_END_BYTES, MSI_KEY_END);
}

/* Cells. */

static ms_rc damaged_key(ms_status *st)
{
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                         "a cell of the embedded store has a damaged key");
}

/* Takes in the column of the cell that comes next: its family, and its key for later comparison. */
static ms_rc begin_column(turn *t, uint32_t *family_id, ms_status *st)
{
    msi_scan *scan = t->scan;
    ms_str key = t->entry.key;
    size_t column_bytes = key.bytes - MSI_KEY_TIME_BYTES;
    if (key.bytes < t->row_bytes + MSI_KEY_FAMILY_BYTES + MSI_KEY_END_BYTES + MSI_KEY_TIME_BYTES ||
        key.bytes > MSI_KEY_BYTES_MAX || key.ptr[column_bytes - 1] != MSI_KEY_END ||
        key.ptr[column_bytes - 2] != 0) {
        return damaged_key(st);
    }
    uint32_t id = msi_key_u32(key.ptr + t->row_bytes);
    if (t->column_bytes == 0 || id != *family_id) {
        t->family = msi_table_family_index(scan->table, id);
        *family_id = id;
    }
    memcpy(scan->last + t->row_bytes, key.ptr + t->row_bytes, column_bytes - t->row_bytes);
    t->column_bytes = column_bytes;
    msi_scan_plan_begin_column(&scan->plan);
    t->column.qualifier_at = UINT32_MAX;
    return MS_OK;
}

static bool same_column(const turn *t)
{
    size_t bytes = t->entry.key.bytes - MSI_KEY_TIME_BYTES;
    return bytes == t->column_bytes &&
           memcmp(t->entry.key.ptr + t->row_bytes, t->scan->last + t->row_bytes,
                  bytes - t->row_bytes) == 0;
}

/* Appends the cell that comes next to the page. */
static ms_rc keep_cell(turn *t, bool strip, ms_status *st)
{
    ms_bt_page *page = t->page;
    ms_str value = strip ? (ms_str){NULL, 0} : t->entry.value;
    const char *escaped = t->entry.key.ptr + t->row_bytes + MSI_KEY_FAMILY_BYTES;
    size_t escaped_bytes =
        t->column_bytes - t->row_bytes - MSI_KEY_FAMILY_BYTES - MSI_KEY_END_BYTES;
    MS_TRY(ms_bt_page_reserve_cell(page, escaped_bytes + value.bytes, st));
    if (t->column.qualifier_at == UINT32_MAX) {
        t->column.qualifier_at = (uint32_t)page->bytes.bytes;
        t->column.qualifier_bytes = (uint32_t)msi_key_unescape(page->bytes.ptr + page->bytes.bytes,
                                                               ms_str_make(escaped, escaped_bytes));
        page->bytes.bytes += t->column.qualifier_bytes;
        t->column.family = (uint16_t)t->family;
    }
    ms_bt_cell *cell = &page->cells[page->cell_count++];
    *cell = t->column;
    cell->timestamp_micros = msi_key_time(t->entry.key.ptr + t->column_bytes);
    cell->value_at = ms_bt_page_put(page, value.ptr, value.bytes);
    cell->value_bytes = (uint32_t)value.bytes;
    return MS_OK;
}

/* Rows. */

/* Takes in the row of the cell that comes next: its row part, and its key for the page. */
static ms_rc begin_row(turn *t, ms_status *st)
{
    ms_str key = t->entry.key;
    t->row_bytes = msi_key_text_end(key, MSI_KEY_TABLE_BYTES);
    if (t->row_bytes == 0 || t->row_bytes > MSI_KEY_ROW_BYTES_MAX) {
        return damaged_key(st);
    }
    memcpy(t->scan->last, key.ptr, t->row_bytes);
    t->column_bytes = 0;
    t->steps = 0;
    size_t escaped_bytes = t->row_bytes - MSI_KEY_TABLE_BYTES - MSI_KEY_END_BYTES;
    ms_bt_page *page = t->page;
    MS_TRY(ms_bt_page_reserve_row(page, escaped_bytes, st));
    ms_bt_row *row = &page->rows[page->row_count];
    row->key_at = (uint32_t)page->bytes.bytes;
    row->key_bytes =
        (uint32_t)msi_key_unescape(page->bytes.ptr + page->bytes.bytes,
                                   ms_str_make(key.ptr + MSI_KEY_TABLE_BYTES, escaped_bytes));
    page->bytes.bytes += row->key_bytes;
    row->first_cell = page->cell_count;
    msi_scan_plan_begin_row(&t->scan->plan);
    return MS_OK;
}

/* The rest of the filter, the order, and whether anything is left of the row. */
static ms_rc end_row(turn *t, ms_status *st)
{
    msi_scan *scan = t->scan;
    ms_bt_page *page = t->page;
    ms_bt_row *row = &page->rows[page->row_count];
    if (scan->plan.sorts_rows) {
        MS_TRY(ms_bt_page_sort_row(page, row->first_cell, st));
    }
    if (scan->plan.is_whole_row) {
        MS_TRY(ms_bt_filter_eval_row(&scan->eval, scan->plan.filter, page, row->first_cell, st));
    }
    row->cell_count = page->cell_count - row->first_cell;
    scan->attempt->stats.rows_seen++;
    if (row->cell_count == 0) {
        page->bytes.bytes = row->key_at;
        return MS_OK;
    }
    page->row_count++;
    scan->rows_left--;
    scan->attempt->stats.rows_returned++;
    scan->attempt->stats.cells_returned += row->cell_count;
    return MS_OK;
}

static bool is_canceled(msi_scan *scan)
{
    /* Order relaxed: a wish, which guards no other memory. */
    return atomic_load_explicit(&scan->is_canceled, memory_order_relaxed);
}

static ms_rc too_large(const turn *t, ms_status *st)
{
    char text[128];
    const ms_bt_row *row = &t->page->rows[t->page->row_count];
    ms_status_set(st, MS_LIMIT, ms_span_none, "row '%s' is larger than %u bytes",
                  ms_bt_bytes_text(ms_bt_page_key(t->page, row), text, sizeof(text)),
                  MS_BT_LIMIT_ROW_BYTES);
    return st->code;
}

/* Reads one row into the page; afterwards the entry is the first one behind it. */
static ms_rc scan_row(turn *t, ms_status *st)
{
    msi_scan *scan = t->scan;
    ms_bt_read_stats *stats = &scan->attempt->stats;
    MS_TRY(begin_row(t, st));
    size_t row_at = t->page->bytes.bytes;
    uint32_t family_id = 0;
    do {
        stats->bytes_seen += t->entry.key.bytes + t->entry.value.bytes;
        if ((stats->cells_seen++ & CANCEL_MASK) == CANCEL_MASK && is_canceled(scan)) {
            return ms_status_set(st, MS_CANCELED, ms_span_none, "the scan was canceled");
        }
        if (!same_column(t)) {
            MS_TRY(begin_column(t, &family_id, st));
        }
        bool strip = false;
        /* A family that this snapshot of the catalog does not know came later, or is gone. */
        msi_verdict verdict =
            t->family == UINT32_MAX ? MSI_DROP : msi_scan_plan_pass(&scan->plan, t->family, &strip);
        if (verdict == MSI_KEEP) {
            MS_TRY(keep_cell(t, strip, st));
            if (t->page->bytes.bytes - row_at > MS_BT_LIMIT_ROW_BYTES) {
                return too_large(t, st);
            }
        }
        advance(t, verdict, family_id);
    } while (in_row(t));
    return end_row(t, st);
}

/* Turns. */

/* Moves to the range that holds the entry, or that comes next; false when there is none. */
static bool in_ranges(turn *t)
{
    msi_scan *scan = t->scan;
    while (t->is_valid) {
        const key_range *range = &scan->ranges[scan->range_index];
        if (ms_str_compare(t->entry.key, range->end) < 0) {
            if (ms_str_compare(t->entry.key, range->start) >= 0) {
                return true;
            }
            t->is_valid = ms_kv_iter_seek(t->iter, range->start, &t->entry);
            continue;
        }
        if (++scan->range_index == scan->range_count) {
            scan->range_index--;
            return false;
        }
    }
    return false;
}

static bool is_turn_over(turn *t)
{
    msi_scan *scan = t->scan;
    const ms_bt_read_options *options = scan->attempt->options;
    if (t->page->row_count >= options->page_rows_max ||
        ms_bt_page_used_bytes(t->page) >= options->page_bytes_max) {
        return true;
    }
    const ms_bt_read_stats *stats = &scan->attempt->stats;
    if (stats->bytes_seen >= t->end_bytes_seen || is_canceled(scan)) {
        return true;
    }
    /* The clock costs as much as a cell, so it is not asked at every row. */
    return (stats->rows_seen & 63u) == 63u && ms_env_mono_ns() >= t->end_ns;
}

static ms_rc scan_rows(turn *t, ms_status *st)
{
    msi_scan *scan = t->scan;
    ms_str position = {scan->position, scan->position_bytes};
    t->is_valid = ms_kv_iter_seek(t->iter, position, &t->entry);
    while (in_ranges(t)) {
        if (scan->rows_left == 0) {
            break;
        }
        MS_TRY(scan_row(t, st));
        if (t->is_valid && is_turn_over(t)) {
            /* Behind this row, whatever comes there by then. */
            memcpy(scan->position, scan->last, t->row_bytes);
            scan->position_bytes = t->row_bytes;
            msi_key_put_end(scan->position + t->row_bytes - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
            scan->attempt->is_at_end = scan->rows_left == 0;
            return MS_OK;
        }
    }
    scan->attempt->is_at_end = true;
    return ms_kv_iter_check(t->iter, st);
}

static ms_rc run_fill(msi_scan *scan, ms_status *st)
{
    ms_bt_page *page = scan->attempt->page;
    page->families = scan->table->family_names;
    page->family_count = (uint32_t)scan->table->def->family_count;
    if (scan->plan.blocks) {
        scan->attempt->is_at_end = true;
        return MS_OK;
    }
    ms_kv_iter_options bounds = {.upper = scan->ranges[scan->range_count - 1].end};
    turn t = {.scan = scan,
              .page = page,
              .iter = ms_kv_iter_create(scan->store->kv, &bounds),
              .end_ns = ms_env_mono_ns() + TURN_NS,
              .end_bytes_seen = scan->attempt->stats.bytes_seen + TURN_BYTES};
    ms_rc rc = scan_rows(&t, st);
    ms_kv_iter_destroy(t.iter);
    return rc;
}

static ms_bt_code fill_code(ms_rc rc)
{
    if (rc == MS_CORRUPT_DATA) {
        return MS_BT_DATA_LOSS;
    }
    if (rc == MS_CANCELED) {
        return MS_BT_CANCELLED;
    }
    if (rc == MS_LIMIT) {
        return MS_BT_FAILED_PRECONDITION;
    }
    return rc == MS_NO_MEMORY ? MS_BT_RESOURCE_EXHAUSTED : MS_BT_INTERNAL;
}

static void run_job(ms_iojob *job)
{
    msi_scan *scan = MS_MAIL_OWNER(job, msi_scan, job);
    ms_bt_attempt *attempt = scan->attempt;
    if (scan->is_open || open_scan(scan, &attempt->status) == MS_BT_OK) {
        ms_status st = {0};
        if (run_fill(scan, &st) != MS_OK) {
            ms_bt_status_from(&attempt->status, fill_code(st.code), &st);
        }
    }
    ms_bt_attempt_finish(attempt);
}

/* The transport's part. */

void msi_scan_open(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    msi_scan *scan = ms_mem_calloc(1, sizeof(*scan));
    scan->store = (ms_bt_store *)(void *)transport;
    scan->attempt = attempt;
    ms_arena_init(&scan->arena, 0);
    ms_bt_filter_eval_init(&scan->eval);
    scan->position = ms_mem_alloc(MSI_KEY_BYTES_MAX);
    scan->last = ms_mem_alloc(MSI_KEY_BYTES_MAX);
    attempt->transport_data = scan;
}

void msi_scan_fill(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    (void)transport;
    msi_scan *scan = attempt->transport_data;
    scan->job = (ms_iojob){.run = run_job};
    ms_status st = {0};
    if (ms_iopool_submit(scan->store->pool, &scan->job, &st) != MS_OK) {
        ms_bt_status_from(&attempt->status, MS_BT_RESOURCE_EXHAUSTED, &st);
        ms_bt_attempt_finish(attempt);
    }
}

void msi_scan_cancel(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    (void)transport;
    msi_scan *scan = attempt->transport_data;
    /* Order relaxed: see is_canceled. */
    atomic_store_explicit(&scan->is_canceled, true, memory_order_relaxed);
}

void msi_scan_close(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    (void)transport;
    msi_scan *scan = attempt->transport_data;
    msi_schema_drop(scan->schema);
    ms_bt_filter_eval_release(&scan->eval);
    ms_arena_release(&scan->arena);
    ms_mem_free(scan->position);
    ms_mem_free(scan->last);
    ms_mem_free(scan);
}
