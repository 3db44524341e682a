/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading rows. The inner loop gets keys in order: all cells of a row share the row part of their
 * keys, all versions of a column what is before the time. It compares with the key before instead
 * of decoding each one. A filter can say that the rest of a column, family or row is of no
 * interest, and the reader then jumps.
 */
#include "bigtable/store/scan_row.h"

#include "base/memory.h"

/* How many entries are passed over one by one before a seek pays: a seek costs about 20 steps. */
#define STEPS_BEFORE_SEEK 10u
/* Cells of one row between two looks at the cancel flag, less one. */
#define CANCEL_MASK 4095u

/* Life. */

static msi_read_mode mode_of(const msi_row_reader *reader)
{
    const ms_bt_filter_program *program = reader->program;
    if (program->passes) {
        return MSI_READ_ALL;
    }
    if (reader->plan != NULL) {
        return MSI_READ_STAGES;
    }
    /* Cells come in the order of incarnations; a filter that counts over families wants names. */
    bool needs_row = program->needs_rows || (reader->sorts_rows && program->counts_rows);
    return needs_row ? MSI_READ_ROWS : MSI_READ_CELLS;
}

static void need_buffer(char **buffer, size_t bytes)
{
    *buffer = *buffer != NULL ? *buffer : ms_mem_alloc(bytes);
}

ms_rc msi_row_reader_init(msi_row_reader *reader, uint64_t seed, ms_status *st)
{
    reader->sorts_rows = !reader->table->ids_ascend;
    reader->mode = mode_of(reader);
    need_buffer(&reader->last, MSI_KEY_BYTES_MAX);
    if (reader->mode == MSI_READ_ALL || reader->mode == MSI_READ_STAGES) {
        return MS_OK;
    }
    MS_TRY(ms_bt_filter_run_init(&reader->run, reader->program, seed, st));
    reader->run.is_canceled = reader->is_canceled;
    need_buffer(&reader->key, 2u * MS_BT_LIMIT_ROW_KEY_BYTES);
    reader->tests_qualifiers = reader->mode == MSI_READ_CELLS && reader->program->tests_qualifiers;
    if (reader->tests_qualifiers) {
        need_buffer(&reader->qualifier, 2u * MS_BT_LIMIT_QUALIFIER_BYTES);
    }
    return MS_OK;
}

void msi_row_reader_release(msi_row_reader *reader)
{
    ms_bt_filter_run_release(&reader->run);
    ms_mem_free(reader->last);
    ms_mem_free(reader->key);
    ms_mem_free(reader->qualifier);
}

void msi_row_reader_clear(msi_row_reader *reader)
{
    ms_bt_filter_run_release(&reader->run);
    *reader =
        (msi_row_reader){.last = reader->last, .key = reader->key, .qualifier = reader->qualifier};
}

/* Moving. */

static void step(msi_row_reader *r)
{
    r->is_valid = ms_kv_iter_next(r->iter, &r->entry);
}

static bool in_row(const msi_row_reader *r)
{
    return r->is_valid && r->entry.key.bytes > r->row_bytes &&
           memcmp(r->entry.key.ptr, r->last, r->row_bytes) == 0;
}

/* The lowest incarnation above this one whose cells matter; 0: none. */
static uint32_t next_family(const msi_row_reader *r, uint32_t family_id)
{
    const msi_table *table = r->table;
    for (size_t i = 0; i < table->def->family_count; i++) {
        uint32_t index = table->by_id[i];
        if (table->family_ids[index] > family_id && ms_bt_filter_program_wants(r->program, index)) {
            return table->family_ids[index];
        }
    }
    return 0;
}

/*
 * What is behind the column of the entry, as a key in r->last; or the first qualifier that matters,
 * if that comes later still. Returns the end of the key.
 */
static char *put_behind_column(msi_row_reader *r)
{
    char *column = r->last + r->row_bytes;
    const ms_bt_bound *first = &r->program->qualifiers.start;
    if (first->kind != MS_BT_BOUND_NONE && first->key.bytes <= MS_BT_LIMIT_QUALIFIER_BYTES) {
        char *end = msi_key_put_escaped(column + MSI_KEY_FAMILY_BYTES, first->key);
        if (ms_str_compare(ms_str_make(r->last, (size_t)(end - r->last)), r->entry.key) > 0) {
            return end;
        }
        memcpy(column, r->entry.key.ptr + r->row_bytes, r->column_bytes - r->row_bytes);
    }
    return msi_key_put_end(r->last + r->column_bytes - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
}

/*
 * Goes on behind a cell of which the verdict said how much to drop: entry by entry at first, and by
 * a seek when that has not helped.
 */
static void advance(msi_row_reader *r, ms_bt_verdict verdict)
{
    bool is_single = verdict == MS_BT_VERDICT_KEEP || verdict == MS_BT_VERDICT_DROP;
    if (is_single || r->steps < STEPS_BEFORE_SEEK) {
        r->steps = is_single ? 0 : r->steps + 1;
        step(r);
        return;
    }
    r->steps = 0;
    char *to = r->last + r->row_bytes;
    uint32_t family = verdict == MS_BT_VERDICT_DROP_FAMILY ? next_family(r, r->family_id) : 0;
    if (verdict == MS_BT_VERDICT_DROP_COLUMN) {
        to = put_behind_column(r);
    } else if (family != 0) {
        to = msi_key_put_u32(to, family);
    } else {
        to = msi_key_put_end(to - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
    }
    /* The key before is overwritten; the next column begins anew in any case. */
    r->column_bytes = 0;
    ms_str target = {r->last, (size_t)(to - r->last)};
    r->is_valid = ms_kv_iter_seek(r->iter, target, &r->entry);
    /* The row part must stand again for the comparison with what follows. */
    msi_key_put_end(r->last + r->row_bytes - MSI_KEY_END_BYTES, MSI_KEY_END);
}

/* Cells. */

static ms_rc damaged_key(ms_status *st)
{
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                         "a cell of the embedded store has a damaged key");
}

static ms_str escaped_qualifier(const msi_row_reader *r)
{
    size_t at = r->row_bytes + MSI_KEY_FAMILY_BYTES;
    return ms_str_make(r->last + at, r->column_bytes - at - MSI_KEY_END_BYTES);
}

/* Takes in the column of the cell that comes next: its family, and its key for later comparison. */
static ms_rc begin_column(msi_row_reader *r, ms_status *st)
{
    ms_str key = r->entry.key;
    size_t column_bytes = key.bytes - MSI_KEY_TIME_BYTES;
    if (key.bytes < r->row_bytes + MSI_KEY_FAMILY_BYTES + MSI_KEY_END_BYTES + MSI_KEY_TIME_BYTES ||
        key.bytes > MSI_KEY_BYTES_MAX || key.ptr[column_bytes - 1] != MSI_KEY_END ||
        key.ptr[column_bytes - 2] != 0) {
        return damaged_key(st);
    }
    uint32_t id = msi_key_u32(key.ptr + r->row_bytes);
    if (id != r->family_id) {
        r->family = msi_table_family_index(r->table, id);
        r->family_id = id;
    }
    memcpy(r->last + r->row_bytes, key.ptr + r->row_bytes, column_bytes - r->row_bytes);
    r->column_bytes = column_bytes;
    r->column.qualifier_at = UINT32_MAX;
    if (r->mode == MSI_READ_STAGES) {
        msi_scan_plan_begin_column(r->plan);
    }
    if (r->mode == MSI_READ_CELLS && r->family != UINT32_MAX) {
        ms_str qualifier = {NULL, 0};
        if (r->tests_qualifiers) {
            qualifier =
                ms_str_make(r->qualifier, msi_key_unescape(r->qualifier, escaped_qualifier(r)));
        }
        ms_bt_filter_run_begin_column(&r->run, r->family, qualifier);
    }
    return MS_OK;
}

static bool same_column(const msi_row_reader *r)
{
    size_t bytes = r->entry.key.bytes - MSI_KEY_TIME_BYTES;
    return bytes == r->column_bytes && memcmp(r->entry.key.ptr + r->row_bytes,
                                              r->last + r->row_bytes, bytes - r->row_bytes) == 0;
}

/* Appends the cell that comes next to the page. Copies of one cell share their bytes, because a
 * filter can make very many. */
static ms_rc keep_cell(msi_row_reader *r, ms_bt_cell_copy copy, ms_status *st)
{
    ms_bt_page *page = r->page;
    bool wants_value = !copy.is_stripped && r->column.value_at == UINT32_MAX;
    ms_str value = wants_value ? r->entry.value : (ms_str){NULL, 0};
    ms_str escaped = escaped_qualifier(r);
    MS_TRY(ms_bt_page_reserve_cell(page, escaped.bytes + value.bytes, st));
    if (r->column.qualifier_at == UINT32_MAX) {
        r->column.qualifier_at = (uint32_t)page->bytes.bytes;
        r->column.qualifier_bytes =
            (uint32_t)msi_key_unescape(page->bytes.ptr + page->bytes.bytes, escaped);
        page->bytes.bytes += r->column.qualifier_bytes;
        r->column.family = (uint16_t)r->family;
    }
    if (wants_value) {
        r->column.value_at = ms_bt_page_put(page, value.ptr, value.bytes);
    }
    ms_bt_cell *cell = &page->cells[page->cell_count++];
    *cell = r->column;
    cell->timestamp_micros = msi_key_time(r->entry.key.ptr + r->column_bytes);
    cell->label = copy.label;
    cell->value_at = copy.is_stripped ? r->column.qualifier_at : r->column.value_at;
    cell->value_bytes = copy.is_stripped ? 0 : (uint32_t)r->entry.value.bytes;
    return MS_OK;
}

/* Runs the cell that comes next through the filter and keeps what that gives. */
static ms_rc run_cell(msi_row_reader *r, ms_bt_verdict *verdict_out, ms_status *st)
{
    const ms_bt_filter_program *program = r->program;
    *verdict_out = MS_BT_VERDICT_KEEP;
    r->column.value_at = UINT32_MAX;
    if (r->family == UINT32_MAX) {
        /* A family that this snapshot of the catalog does not know came later, or is gone. */
        *verdict_out = MS_BT_VERDICT_DROP;
        return MS_OK;
    }
    if (r->mode != MSI_READ_ALL && !ms_bt_filter_program_wants(program, r->family)) {
        *verdict_out = MS_BT_VERDICT_DROP_FAMILY;
        return MS_OK;
    }
    if (r->mode == MSI_READ_STAGES) {
        ms_bt_cell_copy copy = {0};
        *verdict_out = msi_scan_plan_pass(r->plan, r->family, &copy.is_stripped);
        return *verdict_out == MS_BT_VERDICT_KEEP ? keep_cell(r, copy, st) : MS_OK;
    }
    if (r->mode != MSI_READ_CELLS) {
        /* Values that nobody looks at need not be copied. */
        ms_bt_cell_copy copy = {.is_stripped = !program->tests_values && !program->gives_values};
        return keep_cell(r, copy, st);
    }
    int64_t micros = msi_key_time(r->entry.key.ptr + r->column_bytes);
    *verdict_out = ms_bt_filter_run_cell(&r->run, micros, r->entry.value);
    if (*verdict_out == MS_BT_VERDICT_FAILED) {
        return ms_bt_filter_run_fail(&r->run, st);
    }
    for (uint32_t i = 0; i < r->run.copy_count; i++) {
        MS_TRY(keep_cell(r, r->run.copies[i], st));
    }
    return MS_OK;
}

/* Rows. */

/* Takes in the row of the cell that comes next: its row part, and its key for the page. */
static ms_rc begin_row(msi_row_reader *r, ms_status *st)
{
    ms_str key = r->entry.key;
    r->row_bytes = msi_key_text_end(key, MSI_KEY_TABLE_BYTES);
    if (r->row_bytes == 0 || r->row_bytes > MSI_KEY_ROW_BYTES_MAX) {
        return damaged_key(st);
    }
    memcpy(r->last, key.ptr, r->row_bytes);
    r->column_bytes = 0;
    r->family_id = 0;
    r->family = UINT32_MAX;
    r->steps = 0;
    size_t escaped_bytes = r->row_bytes - MSI_KEY_TABLE_BYTES - MSI_KEY_END_BYTES;
    ms_bt_page *page = r->page;
    MS_TRY(ms_bt_page_reserve_row(page, escaped_bytes, st));
    ms_bt_row *row = &page->rows[page->row_count];
    row->key_at = (uint32_t)page->bytes.bytes;
    row->key_bytes =
        (uint32_t)msi_key_unescape(page->bytes.ptr + page->bytes.bytes,
                                   ms_str_make(key.ptr + MSI_KEY_TABLE_BYTES, escaped_bytes));
    page->bytes.bytes += row->key_bytes;
    row->first_cell = page->cell_count;
    if (r->mode == MSI_READ_STAGES) {
        msi_scan_plan_begin_row(r->plan);
    }
    if (r->mode == MSI_READ_CELLS) {
        /* The bytes of the page move as it grows; the filter wants a key that stays. */
        memcpy(r->key, page->bytes.ptr + row->key_at, row->key_bytes);
        ms_bt_filter_run_begin_row(&r->run, ms_str_make(r->key, row->key_bytes));
    }
    return MS_OK;
}

/* The rest of the filter, the order, and whether anything is left of the row. */
static ms_rc end_row(msi_row_reader *r, ms_status *st)
{
    ms_bt_page *page = r->page;
    ms_bt_row *row = &page->rows[page->row_count];
    if (r->sorts_rows) {
        MS_TRY(ms_bt_page_sort_row(page, row->first_cell, st));
    }
    if (r->mode == MSI_READ_ROWS) {
        memcpy(r->key, page->bytes.ptr + row->key_at, row->key_bytes);
        MS_TRY(ms_bt_filter_run_row(&r->run, ms_str_make(r->key, row->key_bytes), page,
                                    row->first_cell, st));
    }
    row->cell_count = page->cell_count - row->first_cell;
    r->stats->rows_seen++;
    if (row->cell_count == 0) {
        page->bytes.bytes = row->key_at;
        return MS_OK;
    }
    page->row_count++;
    r->stats->rows_returned++;
    r->stats->cells_returned += row->cell_count;
    return MS_OK;
}

static bool is_canceled(const msi_row_reader *r)
{
    /* Order relaxed: a wish, which guards no other memory. */
    return r->is_canceled != NULL && atomic_load_explicit(r->is_canceled, memory_order_relaxed);
}

static ms_rc too_large(msi_row_reader *r, ms_status *st)
{
    char text[128];
    r->is_too_large = true;
    const ms_bt_row *row = &r->page->rows[r->page->row_count];
    ms_status_set(st, MS_LIMIT, ms_span_none, "row '%s' is larger than %zu bytes",
                  ms_bt_bytes_text(ms_bt_page_key(r->page, row), text, sizeof(text)),
                  r->row_bytes_max);
    return ms_status_detail(st, "leave cells out by a filter, read the rows before and behind it, "
                                "or delete some of its cells");
}

ms_rc msi_row_reader_read(msi_row_reader *r, ms_status *st)
{
    MS_TRY(begin_row(r, st));
    size_t row_at = r->page->bytes.bytes;
    do {
        r->stats->bytes_seen += r->entry.key.bytes + r->entry.value.bytes;
        if ((r->stats->cells_seen++ & CANCEL_MASK) == CANCEL_MASK && is_canceled(r)) {
            return ms_status_set(st, MS_CANCELED, ms_span_none, "the scan was canceled");
        }
        if (!same_column(r)) {
            MS_TRY(begin_column(r, st));
        }
        ms_bt_verdict verdict;
        MS_TRY(run_cell(r, &verdict, st));
        if (r->page->bytes.bytes - row_at > r->row_bytes_max) {
            return too_large(r, st);
        }
        advance(r, verdict);
    } while (in_row(r));
    return end_row(r, st);
}

ms_bt_code msi_read_code(ms_rc rc)
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

/* Predicates. */

/* What a matcher keeps of the row that it has looked at. */
#define MATCHER_PAGE_BYTES ((size_t)64 << 10)

struct msi_row_matcher {
    msi_row_reader reader;
    ms_bt_page page;
};

msi_row_matcher *msi_row_matcher_create(void)
{
    msi_row_matcher *matcher = ms_mem_calloc(1, sizeof(*matcher));
    ms_bt_page_init(&matcher->page);
    return matcher;
}

void msi_row_matcher_destroy(msi_row_matcher *matcher)
{
    msi_row_reader_release(&matcher->reader);
    ms_bt_page_release(&matcher->page);
    ms_mem_free(matcher);
}

/* The highest incarnation whose cells matter; 0: none. */
static uint32_t last_family(const msi_row_reader *r)
{
    const msi_table *table = r->table;
    for (size_t i = table->def->family_count; i-- > 0;) {
        uint32_t index = table->by_id[i];
        if (ms_bt_filter_program_wants(r->program, index)) {
            return table->family_ids[index];
        }
    }
    return 0;
}

/* Behind a row part: the first key that may be of a cell that matters. Returns its end. */
static char *put_first_cell(const msi_row_reader *r, char *to)
{
    const ms_bt_bound *first = &r->program->qualifiers.start;
    to = msi_key_put_u32(to, next_family(r, 0));
    bool is_key =
        first->kind != MS_BT_BOUND_NONE && first->key.bytes <= MS_BT_LIMIT_QUALIFIER_BYTES;
    return is_key ? msi_key_put_escaped(to, first->key) : to;
}

/* Behind a row part: a key behind all cells that matter. Returns its end. */
static char *put_behind_cells(const msi_row_reader *r, char *to)
{
    const ms_bt_bound *last = &r->program->qualifiers.end;
    uint32_t family = last_family(r);
    if (last->kind != MS_BT_BOUND_NONE && last->key.bytes <= MS_BT_LIMIT_QUALIFIER_BYTES) {
        return msi_key_put_column(to, family, last->key, MSI_KEY_BEHIND);
    }
    return family < UINT32_MAX ? msi_key_put_u32(to, family + 1)
                               : msi_key_put_end(to - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
}

/* Opens the iterator of a row and goes to the first cell that matters. */
static void seek_row(msi_row_reader *r, ms_kv *kv, ms_str row_key)
{
    char *row_end = msi_key_put_row(r->last, r->table->id, row_key, MSI_KEY_END);
    bool is_whole = r->mode == MSI_READ_ALL;
    char *end = is_whole ? msi_key_put_end(row_end - MSI_KEY_END_BYTES, MSI_KEY_BEHIND)
                         : put_behind_cells(r, row_end);
    r->iter = ms_kv_iter_create(
        kv, &(ms_kv_iter_options){.upper = ms_str_make(r->last, (size_t)(end - r->last))});
    msi_key_put_end(row_end - MSI_KEY_END_BYTES, MSI_KEY_END);
    end = is_whole ? row_end : put_first_cell(r, row_end);
    r->is_valid =
        ms_kv_iter_seek(r->iter, ms_str_make(r->last, (size_t)(end - r->last)), &r->entry);
}

/* Is there a single qualifier that matters, and the column of the entry the one that has it, or one
 * behind that? */
static bool is_last_column(const msi_row_reader *r)
{
    if (!r->tests_qualifiers || !ms_bt_range_is_key(&r->program->qualifiers)) {
        return false;
    }
    ms_str qualifier =
        ms_str_make(r->qualifier, msi_key_unescape(r->qualifier, escaped_qualifier(r)));
    return ms_str_compare(qualifier, r->program->qualifiers.start.key) >= 0;
}

/* Is what a verdict drops all that is left of the row? */
static bool is_rest(const msi_row_reader *r, ms_bt_verdict verdict)
{
    if (verdict != MS_BT_VERDICT_DROP_COLUMN && verdict != MS_BT_VERDICT_DROP_FAMILY) {
        return verdict == MS_BT_VERDICT_DROP_ROW;
    }
    bool ends_family = verdict == MS_BT_VERDICT_DROP_FAMILY || is_last_column(r);
    return ends_family && next_family(r, r->family_id) == 0;
}

/* Goes through the cells of the row of the entry until one has passed; in mode ROWS, all. */
static ms_rc run_predicate(msi_row_reader *r, ms_status *st)
{
    MS_TRY(begin_row(r, st));
    size_t row_at = r->page->bytes.bytes;
    do {
        r->stats->bytes_seen += r->entry.key.bytes + r->entry.value.bytes;
        if (!same_column(r)) {
            MS_TRY(begin_column(r, st));
        }
        ms_bt_verdict verdict;
        MS_TRY(run_cell(r, &verdict, st));
        bool is_found = r->mode != MSI_READ_ROWS && r->page->cell_count > 0;
        if (is_found || is_rest(r, verdict)) {
            return MS_OK;
        }
        if (r->page->bytes.bytes - row_at > r->row_bytes_max) {
            return too_large(r, st);
        }
        advance(r, verdict);
    } while (in_row(r));
    return MS_OK;
}

static ms_rc look_for_match(msi_row_reader *r, bool *matches_out, ms_status *st)
{
    MS_TRY(run_predicate(r, st));
    if (r->mode != MSI_READ_ROWS) {
        *matches_out = r->page->cell_count > 0;
        return MS_OK;
    }
    if (r->sorts_rows) {
        MS_TRY(ms_bt_page_sort_row(r->page, 0, st));
    }
    ms_str key = ms_bt_page_key(r->page, &r->page->rows[r->page->row_count]);
    return ms_bt_filter_run_matches(&r->run, key, r->page, 0, matches_out, st);
}

ms_rc msi_row_matches(msi_row_matcher *matcher, ms_kv *kv, const msi_table *table,
                      const ms_bt_filter_program *program, ms_str row_key, bool *matches_out,
                      size_t *bytes, ms_status *st)
{
    *matches_out = false;
    if (program->blocks) {
        return MS_OK;
    }
    ms_bt_read_stats stats = {0};
    msi_row_reader *r = &matcher->reader;
    r->table = table;
    r->program = program;
    r->page = &matcher->page;
    r->stats = &stats;
    r->row_bytes_max = MS_BT_LIMIT_ROW_BYTES;
    ms_rc rc = msi_row_reader_init(r, ms_env_next_seed(), st);
    if (rc == MS_OK) {
        seek_row(r, kv, row_key);
        if (r->is_valid) {
            rc = look_for_match(r, matches_out, st);
        }
        if (rc == MS_OK) {
            rc = ms_kv_iter_check(r->iter, st);
        }
        ms_kv_iter_destroy(r->iter);
    }
    msi_row_reader_clear(r);
    ms_bt_page_reset(&matcher->page, MATCHER_PAGE_BYTES);
    *bytes += stats.bytes_seen;
    return rc;
}
