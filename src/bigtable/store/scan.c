/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans. A scan is a position between turns, and nothing else: each turn opens an iterator at the
 * position, fills one page, and closes it, so that no snapshot or block is pinned while the
 * consumer works. A turn ends at the end of a row: when the page is full, after TURN_BYTES or
 * TURN_NS of looking, or when it is canceled. A row is read within one turn, hence from one
 * moment.
 *
 * A table that is dropped loses all its rows at once, so a turn that sees a row was opened before
 * and is whole. One that sees none asks whether the table is still there: else the rest of a table
 * that is gone, or was made again, would look like its end.
 *
 * Forward, the position is the first key that is still to come. In reverse it is the key before
 * which everything is still to come: a turn steps back to the last cell before it, which tells the
 * row, and reads that row forward from its start, so that cells come in their order.
 */
#include "base/env.h"
#include "base/memory.h"
#include "bigtable/store/scan_row.h"
#include "bigtable/store/store_priv.h"

/* An iterator that is open longer keeps memory and files of the store from being freed. */
/* Short beside what a point read may wait behind some scans, long beside the seek of the next. */
#define TURN_BYTES ((uint64_t)8 << 20)
#define TURN_NS INT64_C(20000000)
/* What is kept of scans that are closed: as many as are likely to be open at a time. */
#define SPARE_SCANS_MAX 64u
#define SPARE_ARENA_BYTES ((size_t)16 << 10)
/* Rows between two looks at the clock, which costs as much as a cell; less one. */
#define CLOCK_MASK 63u

typedef struct key_range {
    ms_str start; /* inclusive */
    ms_str end;   /* exclusive */
} key_range;

struct msi_scan {
    ms_spare spare; /* first */
    ms_bt_store *store;
    ms_arena arena;
    char *position; /* MSI_KEY_BYTES_MAX */
    msi_row_reader reader;
    /* Zero in a spare one, from here on. */
    ms_iojob job;
    ms_bt_attempt *attempt;
    _Atomic bool is_canceled;
    bool is_open;
    bool is_reversed;
    uint64_t catalog_changes; /* before the schema was taken */
    msi_schema *schema;
    const msi_table *table;
    const ms_bt_filter_program *program;
    msi_scan_plan plan;
    const key_range *ranges; /* NULL: there is nothing to read */
    size_t range_count;
    size_t range_index; /* the range that the position is in */
    uint64_t rows_left;
    size_t position_bytes;
};

_Static_assert(offsetof(msi_scan, arena) < offsetof(msi_scan, job) &&
                   offsetof(msi_scan, position) < offsetof(msi_scan, job) &&
                   offsetof(msi_scan, reader) < offsetof(msi_scan, job),
               "a spare scan keeps what comes before the job");

/* One turn of a scan. */
typedef struct turn {
    msi_scan *scan;
    msi_row_reader *reader;
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
    char *key = scan->position;
    char *to = msi_key_put_row(key, scan->table->id, bound->key, end);
    return copy_key(&scan->arena, key, to);
}

/* The first key of the table with this incarnation. */
static ms_str table_key(msi_scan *scan, uint32_t table)
{
    char *key = scan->position;
    return copy_key(&scan->arena, key, msi_key_put_u32(key, table));
}

/* Before all rows, and behind the table's bare number: that is what RocksDB takes for the end of
 * the last block of the table before, which a search for it would read. */
static ms_str first_key(msi_scan *scan, uint32_t table)
{
    char *key = scan->position;
    char *end = msi_key_put_u32(key, table);
    *end++ = 0;
    return copy_key(&scan->arena, key, end);
}

/* The rows wanted, less those that the filter cannot pass, as ranges of keys. */
static void make_ranges(msi_scan *scan)
{
    ms_bt_ranges ranges = ms_bt_row_set_ranges(&scan->attempt->options->rows, &scan->arena);
    ranges = ms_bt_ranges_intersect(&ranges, &scan->program->keys, &scan->arena);
    if (scan->program->blocks || ranges.count == 0) {
        return;
    }
    key_range *list = ms_arena_array(&scan->arena, key_range, ranges.count);
    uint32_t table = scan->table->id;
    for (size_t i = 0; i < ranges.count; i++) {
        const ms_bt_bound *start = &ranges.list[i].start;
        const ms_bt_bound *end = &ranges.list[i].end;
        list[i].start =
            start->kind == MS_BT_BOUND_NONE
                ? first_key(scan, table)
                : bound_key(scan, start,
                            start->kind == MS_BT_BOUND_CLOSED ? MSI_KEY_END : MSI_KEY_BEHIND);
        list[i].end =
            end->kind == MS_BT_BOUND_NONE
                ? table_key(scan, table + 1)
                : bound_key(scan, end,
                            end->kind == MS_BT_BOUND_CLOSED ? MSI_KEY_BEHIND : MSI_KEY_END);
    }
    scan->ranges = list;
    scan->range_count = ranges.count;
}

static void set_position(msi_scan *scan, ms_str key)
{
    memcpy(scan->position, key.ptr, key.bytes);
    scan->position_bytes = key.bytes;
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

static ms_bt_code check_options(msi_scan *scan, ms_bt_status *bt)
{
    const ms_bt_read_options *options = scan->attempt->options;
    bool is_point = options->rows.key_count > 0 && options->rows.range_count == 0;
    MS_BT_TRY(msi_profile_check(scan->schema, &options->table, options->app_profile,
                                is_point ? MSI_ACCESS_POINT_READ : MSI_ACCESS_READ, NULL, bt));
    if (options->rows_limit < 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'rows_limit' : must not be negative");
    }
    MS_BT_TRY(ms_bt_row_set_check(&options->rows, bt));
    MS_BT_TRY(check_keys(&options->rows, bt));
    return ms_bt_filter_compile(options->filter, scan->table->def, &scan->arena, &scan->program,
                                bt);
}

static ms_bt_code open_scan(msi_scan *scan, ms_bt_status *bt)
{
    const ms_bt_read_options *options = scan->attempt->options;
    MS_BT_TRY(ms_bt_table_name_check(&options->table, bt));
    scan->catalog_changes = msi_store_catalog_changes(scan->store);
    scan->schema = msi_store_schema(scan->store);
    scan->table = msi_schema_find(scan->schema, &options->table);
    if (scan->table == NULL) {
        return msi_store_no_table(scan->schema, &options->table, bt);
    }
    scan->attempt->incarnation = scan->table->id;
    if (options->incarnation != 0 && options->incarnation != scan->table->id) {
        return msi_store_other_table(&options->table, bt);
    }
    MS_BT_TRY(check_options(scan, bt));
    scan->reader.table = scan->table;
    scan->reader.program = scan->program;
    if (msi_scan_plan_make(options->filter, scan->table, &scan->arena, &scan->plan)) {
        scan->reader.plan = &scan->plan;
    }
    scan->reader.stats = &scan->attempt->stats;
    scan->reader.row_bytes_max = scan->store->row_bytes_max;
    scan->reader.is_canceled = &scan->is_canceled;
    ms_status st = {0};
    if (msi_row_reader_init(&scan->reader, ms_env_next_seed(), &st) != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    scan->is_reversed = options->is_reversed;
    scan->rows_left = options->rows_limit == 0 ? UINT64_MAX : (uint64_t)options->rows_limit;
    make_ranges(scan);
    if (scan->ranges != NULL) {
        scan->range_index = scan->is_reversed ? scan->range_count - 1 : 0;
        const key_range *range = &scan->ranges[scan->range_index];
        set_position(scan, scan->is_reversed ? range->end : range->start);
    }
    scan->is_open = true;
    return MS_BT_OK;
}

/* Turns. */

static bool is_canceled(msi_scan *scan)
{
    /* Order relaxed: a wish, which guards no other memory. */
    return atomic_load_explicit(&scan->is_canceled, memory_order_relaxed);
}

static bool is_turn_over(const turn *t)
{
    msi_scan *scan = t->scan;
    const ms_bt_read_options *options = scan->attempt->options;
    const ms_bt_page *page = scan->attempt->page;
    if (page->row_count >= options->page_rows_max ||
        ms_bt_page_used_bytes(page) >= options->page_bytes_max) {
        return true;
    }
    const ms_bt_read_stats *stats = &scan->attempt->stats;
    if (stats->bytes_seen >= t->end_bytes_seen || is_canceled(scan)) {
        return true;
    }
    return (stats->rows_seen & CLOCK_MASK) == CLOCK_MASK && ms_env_mono_ns() >= t->end_ns;
}

/* Reads the row at which the reader stands, and counts it. */
static ms_rc read_row(const turn *t, ms_status *st)
{
    msi_scan *scan = t->scan;
    uint32_t before = scan->attempt->page->row_count;
    MS_TRY(msi_row_reader_read(t->reader, st));
    scan->rows_left -= scan->attempt->page->row_count - before;
    return MS_OK;
}

/* Says in the page up to which row the scan has come, where the last row of the page does not. */
static ms_rc note_progress(const turn *t, ms_status *st)
{
    msi_scan *scan = t->scan;
    ms_bt_page *page = scan->attempt->page;
    if (!scan->attempt->options->wants_progress || scan->attempt->is_at_end) {
        return MS_OK;
    }
    ms_str escaped = ms_str_make(t->reader->last + MSI_KEY_TABLE_BYTES,
                                 t->reader->row_bytes - MSI_KEY_TABLE_BYTES - MSI_KEY_END_BYTES);
    MS_TRY(ms_buf_reserve(&page->bytes, escaped.bytes, st));
    page->scanned_at = (uint32_t)page->bytes.bytes;
    page->scanned_bytes = (uint32_t)msi_key_unescape(page->bytes.ptr + page->bytes.bytes, escaped);
    page->bytes.bytes += page->scanned_bytes;
    return MS_OK;
}

/* Moves to the range that holds the entry, or that comes next; false when there is none. */
static bool in_ranges(const turn *t)
{
    msi_scan *scan = t->scan;
    msi_row_reader *r = t->reader;
    while (r->is_valid) {
        const key_range *range = &scan->ranges[scan->range_index];
        if (ms_str_compare(r->entry.key, range->end) < 0) {
            if (ms_str_compare(r->entry.key, range->start) >= 0) {
                return true;
            }
            r->is_valid = ms_kv_iter_seek(r->iter, range->start, &r->entry);
            continue;
        }
        if (++scan->range_index == scan->range_count) {
            scan->range_index--;
            return false;
        }
    }
    return false;
}

static ms_rc scan_forward(const turn *t, ms_status *st)
{
    msi_scan *scan = t->scan;
    msi_row_reader *r = t->reader;
    ms_str position = {scan->position, scan->position_bytes};
    r->is_valid = ms_kv_iter_seek(r->iter, position, &r->entry);
    while (in_ranges(t) && scan->rows_left > 0) {
        MS_TRY(read_row(t, st));
        if (r->is_valid && is_turn_over(t)) {
            /* Behind this row, whatever comes there by then. */
            set_position(scan, ms_str_make(r->last, r->row_bytes));
            msi_key_put_end(scan->position + r->row_bytes - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
            scan->attempt->is_at_end = scan->rows_left == 0;
            return note_progress(t, st);
        }
    }
    scan->attempt->is_at_end = true;
    return ms_kv_iter_check(r->iter, st);
}

/*
 * Moves the reader to the start of the last row before the position; false when no row of a range
 * is left. The position then is the row part of that row, before which the next one ends.
 */
static ms_rc step_back(const turn *t, bool *found_out, ms_status *st)
{
    msi_scan *scan = t->scan;
    msi_row_reader *r = t->reader;
    *found_out = false;
    for (;;) {
        ms_str position = {scan->position, scan->position_bytes};
        const key_range *range = &scan->ranges[scan->range_index];
        bool is_valid = ms_kv_iter_seek(r->iter, position, &r->entry)
                            ? ms_kv_iter_prev(r->iter, &r->entry)
                            : ms_kv_iter_seek_last(r->iter, &r->entry);
        if (!is_valid) {
            return MS_OK;
        }
        if (ms_str_compare(r->entry.key, range->start) >= 0) {
            break;
        }
        if (scan->range_index == 0) {
            return MS_OK;
        }
        scan->range_index--;
        set_position(scan, scan->ranges[scan->range_index].end);
    }
    size_t row_bytes = msi_key_text_end(r->entry.key, MSI_KEY_TABLE_BYTES);
    if (row_bytes == 0 || row_bytes > MSI_KEY_ROW_BYTES_MAX) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a cell of the embedded store has a damaged key");
    }
    set_position(scan, ms_str_make(r->entry.key.ptr, row_bytes));
    r->is_valid = ms_kv_iter_seek(r->iter, ms_str_make(scan->position, row_bytes), &r->entry);
    *found_out = r->is_valid;
    return MS_OK;
}

static ms_rc scan_backward(const turn *t, ms_status *st)
{
    msi_scan *scan = t->scan;
    bool is_found = false;
    MS_TRY(step_back(t, &is_found, st));
    while (is_found && scan->rows_left > 0) {
        MS_TRY(read_row(t, st));
        if (is_turn_over(t)) {
            scan->attempt->is_at_end = scan->rows_left == 0;
            return note_progress(t, st);
        }
        MS_TRY(step_back(t, &is_found, st));
    }
    scan->attempt->is_at_end = true;
    return ms_kv_iter_check(t->reader->iter, st);
}

static ms_rc run_fill(msi_scan *scan, ms_status *st)
{
    ms_bt_page *page = scan->attempt->page;
    page->families = scan->table->family_names;
    page->family_count = (uint32_t)scan->table->def->family_count;
    page->labels = scan->program->labels;
    page->label_count = scan->program->label_count;
    if (scan->ranges == NULL) {
        scan->attempt->is_at_end = true;
        return MS_OK;
    }
    ms_kv_iter_options bounds = {.upper = scan->ranges[scan->range_count - 1].end};
    if (scan->is_reversed) {
        bounds.lower = scan->ranges[0].start;
        bounds.upper = ms_str_make(scan->position, scan->position_bytes);
    }
    scan->reader.page = page;
    msi_view *view = NULL;
    scan->reader.iter = msi_view_iter(scan->store, &bounds, &view);
    turn t = {.scan = scan,
              .reader = &scan->reader,
              .end_ns = ms_env_mono_ns() + TURN_NS,
              .end_bytes_seen = scan->attempt->stats.bytes_seen + TURN_BYTES};
    ms_rc rc = scan->is_reversed ? scan_backward(&t, st) : scan_forward(&t, st);
    ms_kv_iter_destroy(scan->reader.iter);
    msi_view_drop(scan->store, view);
    return rc;
}

/* The end of a turn that read what there was. */
static ms_bt_code check_end(msi_scan *scan, uint64_t rows_before, ms_bt_status *bt)
{
    const ms_bt_attempt *attempt = scan->attempt;
    bool is_in_doubt = attempt->is_at_end && attempt->stats.rows_seen == rows_before;
    return is_in_doubt ? msi_store_check_table(scan->store, scan->table, scan->catalog_changes, bt)
                       : MS_BT_OK;
}

/* Says which row could not be read. */
static void name_large_row(msi_scan *scan)
{
    const msi_row_reader *r = &scan->reader;
    size_t bytes = r->row_bytes - MSI_KEY_TABLE_BYTES - MSI_KEY_END_BYTES;
    char *key = ms_arena_alloc(&scan->arena, bytes + 1, 1);
    ms_str escaped = ms_str_make(r->last + MSI_KEY_TABLE_BYTES, bytes);
    scan->attempt->large_row = ms_str_make(key, msi_key_unescape(key, escaped));
}

static void run_job(ms_iojob *job)
{
    msi_scan *scan = MS_MAIL_OWNER(job, msi_scan, job);
    ms_bt_attempt *attempt = scan->attempt;
    if (is_canceled(scan)) {
        ms_bt_status_set(&attempt->status, MS_BT_CANCELLED, "The read was canceled");
    } else if (scan->is_open || open_scan(scan, &attempt->status) == MS_BT_OK) {
        ms_status st = {0};
        uint64_t rows_before = attempt->stats.rows_seen;
        if (run_fill(scan, &st) == MS_OK) {
            (void)check_end(scan, rows_before, &attempt->status);
        } else {
            ms_bt_status_from(&attempt->status, msi_read_code(st.code), &st);
            if (scan->reader.is_too_large) {
                name_large_row(scan);
            }
        }
    }
    ms_bt_attempt_finish(attempt);
}

/* The transport's part. */

static msi_scan *create_scan(ms_bt_store *store)
{
    msi_scan *scan = ms_mem_calloc(1, sizeof(*scan));
    scan->store = store;
    ms_arena_init(&scan->arena, 0);
    scan->position = ms_mem_alloc(MSI_KEY_BYTES_MAX);
    return scan;
}

static void free_scan(ms_spare *spare)
{
    msi_scan *scan = (msi_scan *)(void *)spare;
    msi_row_reader_release(&scan->reader);
    ms_arena_release(&scan->arena);
    ms_mem_free(scan->position);
    ms_mem_free(scan);
}

void msi_scan_init_spares(ms_bt_store *store)
{
    ms_spares_init(&store->scans, SPARE_SCANS_MAX, sizeof(msi_scan));
}

void msi_scan_free_spares(ms_bt_store *store)
{
    ms_spares_release(&store->scans, free_scan);
}

void msi_scan_open(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    ms_bt_store *store = (ms_bt_store *)(void *)transport;
    ms_spare *spare = ms_spares_take(&store->scans);
    msi_scan *scan = spare != NULL ? (msi_scan *)(void *)spare : create_scan(store);
    scan->attempt = attempt;
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

/* Leaves of a scan that is over what the next one uses. */
static void clear_scan(msi_scan *scan)
{
    msi_schema_drop(scan->schema);
    msi_row_reader_clear(&scan->reader);
    ms_arena_trim(&scan->arena, SPARE_ARENA_BYTES);
    memset(&scan->job, 0, sizeof(*scan) - offsetof(msi_scan, job));
}

void msi_scan_close(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    ms_bt_store *store = (ms_bt_store *)(void *)transport;
    msi_scan *scan = attempt->transport_data;
    clear_scan(scan);
    if (!ms_spares_give(&store->scans, &scan->spare)) {
        free_scan(&scan->spare);
    }
}
