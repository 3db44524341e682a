/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine of ReadRows. Between rows, a chunk must begin one; in a row, it is a cell, or
 * the end of the row, or takes all of it back; in a value that was announced in pieces, it is the
 * next piece. What a chunk may and must say depends on that:
 *
 *                    key          family, qualifier        timestamp, labels   value
 *     begins a row   in order     both                     as they are         any
 *     is a cell      none, same   none; qualifier; both    as they are         any
 *     is a piece     none         none                     none                not too much
 *     resets a row   none         none                     none                none
 *
 * Cells go straight into the page. Those of the open row stand behind the page's last row; they
 * become a row with the commit, or are cut off.
 */
#include "bigtable/wire/read_rows_merge.h"

#include "bigtable/wire/time.h"
#include "bigtable/wire/wire_priv.h"

#define FIELD_CHUNKS 1u
#define FIELD_LAST_SCANNED 2u
#define FIELD_STATS 3u

#define FIELD_KEY 1u
#define FIELD_FAMILY 2u
#define FIELD_QUALIFIER 3u
#define FIELD_TIMESTAMP 4u
#define FIELD_LABELS 5u
#define FIELD_VALUE 6u
#define FIELD_VALUE_SIZE 7u
#define FIELD_RESET_ROW 8u
#define FIELD_COMMIT_ROW 9u

#define KEY_BYTES_MAX MS_BT_LIMIT_ROW_BYTES
#define NAMES_FIRST 16u

/* Life. */

void ms_wire_rows_merger_init(ms_wire_rows_merger *merger, bool is_reversed)
{
    *merger = (ms_wire_rows_merger){.is_reversed = is_reversed};
    ms_buf_init(&merger->last_key, KEY_BYTES_MAX);
    ms_arena_init(&merger->names, 0);
    merger->labels.list = ms_arena_array(&merger->names, ms_str, NAMES_FIRST);
    merger->labels.capacity = NAMES_FIRST;
    merger->labels.count = 1;
}

void ms_wire_rows_merger_release(ms_wire_rows_merger *merger)
{
    ms_buf_release(&merger->last_key);
    ms_arena_release(&merger->names);
    *merger = (ms_wire_rows_merger){0};
}

/* Failing. */

static ms_bt_code breaks(const char *why, ms_bt_status *bt)
{
    return ms_bt_status_set(bt, MS_BT_INTERNAL, "ReadRows breaks the protocol: %s", why);
}

static ms_bt_code malformed(const char *why, ms_bt_status *bt)
{
    return msi_wire_refuse(&ms_wire_response_limits, "google.bigtable.v2.ReadRowsResponse", why,
                           bt);
}

static ms_bt_code no_room(const ms_status *st, ms_bt_status *bt)
{
    return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, st);
}

/* Parsing. */

typedef enum row_status { ROW_GOES_ON, ROW_RESET, ROW_COMMIT } row_status;

typedef struct chunk {
    ms_str key;
    ms_str family;
    ms_str qualifier;
    ms_str label; /* the first */
    ms_str value;
    int64_t timestamp_micros;
    int32_t value_size;
    bool has_family;
    bool has_qualifier;
    bool has_label;
    row_status status;
} chunk;

/* A message of one run of bytes, or text. A text that is replaced by a later one is checked here,
 * the last when it is used. */
static bool get_wrapped(ms_str bytes, bool is_text, ms_str *text_out)
{
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    *text_out = ms_str_lit("");
    while (at != end) {
        uint32_t tag;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return false;
        }
        if (tag == MSI_WIRE_TAG(1, MSI_WIRE_BYTES)) {
            bool is_good = !is_text || text_out->bytes == 0 || msi_wire_is_text(*text_out);
            at = is_good ? msi_wire_get_bytes(at, end, text_out) : NULL;
        } else {
            at = tag >> 3 == 1 ? NULL : msi_wire_skip(at, end, tag);
        }
        if (at == NULL) {
            return false;
        }
    }
    return true;
}

/* The fields that are numbers. */
static const char *get_number(const char *at, const char *end, unsigned field, chunk *c)
{
    uint64_t value;
    at = msi_wire_get_varint(at, end, &value);
    if (at == NULL) {
        return NULL;
    }
    switch (field) {
    case FIELD_TIMESTAMP:
        c->timestamp_micros = (int64_t)value;
        break;
    case FIELD_VALUE_SIZE:
        c->value_size = (int32_t)(uint32_t)value;
        break;
    case FIELD_RESET_ROW:
        c->status = value != 0 ? ROW_RESET : ROW_GOES_ON;
        break;
    default:
        c->status = value != 0 ? ROW_COMMIT : ROW_GOES_ON;
        break;
    }
    return at;
}

/* A field that is a message; NULL also when it was there before. */
static const char *get_message(const char *at, const char *end, bool is_text, ms_str *text_out,
                               bool *has)
{
    ms_str bytes;
    at = msi_wire_get_bytes(at, end, &bytes);
    if (at == NULL || *has || !get_wrapped(bytes, is_text, text_out)) {
        return NULL;
    }
    *has = true;
    return at;
}

static const char *get_label(const char *at, const char *end, chunk *c)
{
    ms_str label;
    at = msi_wire_get_bytes(at, end, &label);
    if (at == NULL || !msi_wire_is_text(label)) {
        return NULL;
    }
    if (!c->has_label) {
        c->label = label;
        c->has_label = true;
    }
    return at;
}

static bool get_chunk(ms_str bytes, chunk *c)
{
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        uint32_t tag;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return false;
        }
        switch (tag) {
        case MSI_WIRE_TAG(FIELD_KEY, MSI_WIRE_BYTES):
            at = msi_wire_get_bytes(at, end, &c->key);
            break;
        case MSI_WIRE_TAG(FIELD_FAMILY, MSI_WIRE_BYTES):
            at = get_message(at, end, true, &c->family, &c->has_family);
            break;
        case MSI_WIRE_TAG(FIELD_QUALIFIER, MSI_WIRE_BYTES):
            at = get_message(at, end, false, &c->qualifier, &c->has_qualifier);
            break;
        case MSI_WIRE_TAG(FIELD_LABELS, MSI_WIRE_BYTES):
            at = get_label(at, end, c);
            break;
        case MSI_WIRE_TAG(FIELD_VALUE, MSI_WIRE_BYTES):
            at = msi_wire_get_bytes(at, end, &c->value);
            break;
        case MSI_WIRE_TAG(FIELD_TIMESTAMP, MSI_WIRE_VARINT):
        case MSI_WIRE_TAG(FIELD_VALUE_SIZE, MSI_WIRE_VARINT):
        case MSI_WIRE_TAG(FIELD_RESET_ROW, MSI_WIRE_VARINT):
        case MSI_WIRE_TAG(FIELD_COMMIT_ROW, MSI_WIRE_VARINT):
            at = get_number(at, end, tag >> 3, c);
            break;
        default:
            at = tag >> 3 <= FIELD_COMMIT_ROW ? NULL : msi_wire_skip(at, end, tag);
            break;
        }
        if (at == NULL) {
            return false;
        }
    }
    return true;
}

/* Names. */

/* The index of a name, which is found or added; NAMES_MAX when there is no room. */
static uint32_t intern(ms_wire_rows_merger *merger, ms_wire_names *names, ms_str name)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (ms_str_equals(names->list[i], name)) {
            return i;
        }
    }
    if (names->count == MS_WIRE_NAMES_MAX) {
        return MS_WIRE_NAMES_MAX;
    }
    if (names->count == names->capacity) {
        uint32_t capacity = names->capacity == 0 ? NAMES_FIRST : names->capacity * 2;
        ms_str *list = ms_arena_array(&merger->names, ms_str, capacity);
        if (names->count > 0) {
            memcpy(list, names->list, names->count * sizeof(list[0]));
        }
        names->list = list;
        names->capacity = capacity;
    }
    names->list[names->count] = ms_arena_copy_str(&merger->names, name);
    return names->count++;
}

static ms_bt_code take_name(ms_wire_rows_merger *merger, ms_wire_names *names, ms_str name,
                            uint16_t *index_out, ms_bt_status *bt)
{
    if (!msi_wire_is_text(name)) {
        return malformed("a text is not UTF-8, or holds a NUL", bt);
    }
    uint32_t index = intern(merger, names, name);
    if (index == MS_WIRE_NAMES_MAX) {
        return ms_bt_status_set(bt, MS_BT_RESOURCE_EXHAUSTED,
                                "A read gave more than %u families or labels", MS_WIRE_NAMES_MAX);
    }
    *index_out = (uint16_t)index;
    return MS_BT_OK;
}

/* Families mostly are that of the cell before, also in another row. */
static ms_bt_code take_family(ms_wire_rows_merger *merger, ms_str name, uint16_t *index_out,
                              ms_bt_status *bt)
{
    if (merger->families.count == 0 ||
        !ms_str_equals(name, merger->families.list[merger->last_family])) {
        MS_BT_TRY(take_name(merger, &merger->families, name, &merger->last_family, bt));
    }
    *index_out = merger->last_family;
    return MS_BT_OK;
}

static void publish_names(const ms_wire_rows_merger *merger, ms_bt_page *page)
{
    page->families = merger->families.list;
    page->family_count = merger->families.count;
    bool has_labels = merger->labels.count > 1;
    page->labels = has_labels ? merger->labels.list : NULL;
    page->label_count = has_labels ? merger->labels.count : 0;
}

/* Rows. */

static size_t row_bytes(const ms_wire_rows_merger *merger, const ms_bt_page *page)
{
    return page->bytes.bytes - merger->row_bytes_at;
}

/* A status is large, and clearing it takes longer than a chunk: only these, which are called
 * rarely, have one. */

static __attribute__((noinline)) ms_bt_code grow_cells(ms_bt_page *page, size_t bytes,
                                                       ms_bt_status *bt)
{
    ms_status st = {0};
    return ms_bt_page_reserve_cell(page, bytes, &st) == MS_OK ? MS_BT_OK : no_room(&st, bt);
}

static __attribute__((noinline)) ms_bt_code grow_rows(ms_bt_page *page, ms_bt_status *bt)
{
    ms_status st = {0};
    return ms_bt_page_reserve_row(page, 0, &st) == MS_OK ? MS_BT_OK : no_room(&st, bt);
}

static __attribute__((noinline)) ms_bt_code grow_buf(ms_buf *buf, size_t bytes, ms_bt_status *bt)
{
    ms_status st = {0};
    return ms_buf_reserve(buf, bytes, &st) == MS_OK ? MS_BT_OK : no_room(&st, bt);
}

/* Room for a cell and these bytes, within the limits of a row. */
static ms_bt_code reserve(const ms_wire_rows_merger *merger, ms_bt_page *page, size_t bytes,
                          ms_bt_status *bt)
{
    if (row_bytes(merger, page) + bytes > MS_BT_LIMIT_ROW_BYTES ||
        page->cell_count - merger->first_cell >= MS_WIRE_ROW_CELLS_MAX) {
        return ms_bt_status_set(bt, MS_BT_RESOURCE_EXHAUSTED,
                                "A row exceeds the limits of %u bytes and %u cells",
                                MS_BT_LIMIT_ROW_BYTES, MS_WIRE_ROW_CELLS_MAX);
    }
    bool has_room = page->cell_count < page->cell_capacity &&
                    bytes <= page->bytes.capacity_bytes - page->bytes.bytes;
    return has_room ? MS_BT_OK : grow_cells(page, bytes, bt);
}

/* Copies bytes behind the page's, for which there is room; mostly they are few. */
static uint32_t put(ms_bt_page *page, ms_str bytes)
{
    uint32_t at = (uint32_t)page->bytes.bytes;
    msi_wire_copy(page->bytes.ptr + at, bytes.ptr, bytes.bytes);
    page->bytes.bytes += bytes.bytes;
    return at;
}

static void cut_row(ms_wire_rows_merger *merger, ms_bt_page *page)
{
    page->cell_count = merger->first_cell;
    page->bytes.bytes = merger->row_bytes_at;
    merger->has_row = false;
    merger->has_value = false;
}

/* Is a key behind the last one, in the order of the read? */
static bool is_behind(const ms_wire_rows_merger *merger, ms_str key)
{
    if (!merger->has_last) {
        return true;
    }
    int order = ms_str_compare(key, ms_buf_view(&merger->last_key));
    return merger->is_reversed ? order < 0 : order > 0;
}

static ms_bt_code remember_key(ms_wire_rows_merger *merger, ms_str key, ms_bt_status *bt)
{
    ms_buf *last = &merger->last_key;
    ms_buf_reset(last);
    merger->has_last = false;
    if (key.bytes > last->capacity_bytes) {
        MS_BT_TRY(grow_buf(last, key.bytes, bt));
    }
    msi_wire_copy(last->ptr, key.ptr, key.bytes);
    last->bytes = key.bytes;
    merger->has_last = true;
    return MS_BT_OK;
}

static ms_bt_code begin_row(ms_wire_rows_merger *merger, const chunk *c, ms_bt_page *page,
                            ms_bt_status *bt)
{
    if (c->key.bytes == 0) {
        return breaks("a row begins without a key", bt);
    }
    if (!c->has_family || !c->has_qualifier) {
        return breaks("a row begins without a family or a qualifier", bt);
    }
    if (!is_behind(merger, c->key)) {
        return breaks(merger->is_reversed ? "row keys must be strictly decreasing"
                                          : "row keys must be strictly increasing",
                      bt);
    }
    merger->row_bytes_at = page->bytes.bytes;
    merger->first_cell = page->cell_count;
    MS_BT_TRY(reserve(merger, page, c->key.bytes, bt));
    merger->key_at = put(page, c->key);
    merger->key_bytes = (uint32_t)c->key.bytes;
    merger->has_row = true;
    return MS_BT_OK;
}

static ms_bt_code check_in_row(const ms_wire_rows_merger *merger, const chunk *c,
                               const ms_bt_page *page, ms_bt_status *bt)
{
    ms_str key = {page->bytes.ptr + merger->key_at, merger->key_bytes};
    if (c->key.bytes > 0 && !ms_str_equals(c->key, key)) {
        return breaks("a row begins before the one before it ended", bt);
    }
    if (c->has_family && !c->has_qualifier) {
        return breaks("a family comes without a qualifier", bt);
    }
    return MS_BT_OK;
}

/* Family and qualifier of a cell that does not say all: those of the cell before. */
static ms_bt_code add_cell(ms_wire_rows_merger *merger, const chunk *c, ms_bt_page *page,
                           ms_bt_status *bt)
{
    MS_BT_TRY(reserve(merger, page, c->qualifier.bytes + c->value.bytes, bt));
    /* Written where it stays: a copy of what was just written in parts would wait for the parts. */
    ms_bt_cell *cell = &page->cells[page->cell_count];
    const ms_bt_cell *before = page->cell_count > merger->first_cell ? cell - 1 : NULL;
    cell->timestamp_micros = c->timestamp_micros;
    cell->label = 0;
    if (before != NULL) {
        cell->family = before->family;
        cell->qualifier_at = before->qualifier_at;
        cell->qualifier_bytes = before->qualifier_bytes;
    }
    if (c->has_family) {
        MS_BT_TRY(take_family(merger, c->family, &cell->family, bt));
    }
    if (c->has_label) {
        MS_BT_TRY(take_name(merger, &merger->labels, c->label, &cell->label, bt));
    }
    if (c->has_qualifier) {
        cell->qualifier_at = put(page, c->qualifier);
        cell->qualifier_bytes = (uint32_t)c->qualifier.bytes;
    }
    cell->value_at = put(page, c->value);
    cell->value_bytes = (uint32_t)c->value.bytes;
    page->cell_count++;
    return MS_BT_OK;
}

static ms_bt_code add_piece(ms_wire_rows_merger *merger, const chunk *c, ms_bt_page *page,
                            ms_bt_status *bt)
{
    if (c->key.bytes > 0 || c->has_family || c->has_qualifier || c->timestamp_micros != 0 ||
        c->has_label) {
        return breaks("a piece of a value names a cell", bt);
    }
    MS_BT_TRY(reserve(merger, page, c->value.bytes, bt));
    (void)ms_bt_page_put(page, c->value.ptr, c->value.bytes);
    page->cells[page->cell_count - 1].value_bytes += (uint32_t)c->value.bytes;
    return MS_BT_OK;
}

/* Whether more of the last cell's value must come, and whether that fits what was announced. */
static ms_bt_code check_value(ms_wire_rows_merger *merger, const chunk *c, const ms_bt_page *page,
                              ms_bt_status *bt)
{
    uint32_t bytes = page->cells[page->cell_count - 1].value_bytes;
    if (c->value_size > 0) {
        if (c->status == ROW_COMMIT) {
            return breaks("a row ends inside a value", bt);
        }
        if (c->value.bytes == 0) {
            return breaks("a piece of a value is empty", bt);
        }
        if (merger->has_value && merger->value_size != (uint32_t)c->value_size) {
            return breaks("the size of a value changes", bt);
        }
        merger->has_value = true;
        merger->value_size = (uint32_t)c->value_size;
        return bytes < merger->value_size ? MS_BT_OK
                                          : breaks("a value is longer than announced", bt);
    }
    if (merger->has_value && bytes != merger->value_size) {
        return breaks("a value is not as long as announced", bt);
    }
    merger->has_value = false;
    return MS_BT_OK;
}

static ms_bt_code reset_row(ms_wire_rows_merger *merger, const chunk *c, ms_bt_page *page,
                            ms_bt_status *bt)
{
    if (!merger->has_row) {
        return breaks("a row is reset before it began", bt);
    }
    if (c->key.bytes > 0 || c->has_family || c->has_qualifier || c->timestamp_micros != 0 ||
        c->has_label || c->value.bytes > 0 || c->value_size != 0) {
        return breaks("a chunk that resets a row has contents", bt);
    }
    cut_row(merger, page);
    return MS_BT_OK;
}

static ms_bt_code commit_row(ms_wire_rows_merger *merger, ms_bt_page *page, ms_bt_status *bt)
{
    if (page->row_count == page->row_capacity) {
        MS_BT_TRY(grow_rows(page, bt));
    }
    ms_str key = {page->bytes.ptr + merger->key_at, merger->key_bytes};
    MS_BT_TRY(remember_key(merger, key, bt));
    ms_bt_row *row = &page->rows[page->row_count++];
    row->key_at = merger->key_at;
    row->key_bytes = merger->key_bytes;
    row->first_cell = merger->first_cell;
    row->cell_count = page->cell_count - merger->first_cell;
    merger->has_row = false;
    merger->rows++;
    return MS_BT_OK;
}

static ms_bt_code take_chunk(ms_wire_rows_merger *merger, const chunk *c, ms_bt_page *page,
                             ms_bt_status *bt)
{
    if (c->status == ROW_RESET) {
        return reset_row(merger, c, page, bt);
    }
    if (c->value_size < 0) {
        return breaks("the size of a value is negative", bt);
    }
    if (merger->has_value) {
        MS_BT_TRY(add_piece(merger, c, page, bt));
    } else {
        MS_BT_TRY(merger->has_row ? check_in_row(merger, c, page, bt)
                                  : begin_row(merger, c, page, bt));
        MS_BT_TRY(add_cell(merger, c, page, bt));
    }
    if (merger->has_value || c->value_size != 0) {
        MS_BT_TRY(check_value(merger, c, page, bt));
    }
    return c->status == ROW_COMMIT ? commit_row(merger, page, bt) : MS_BT_OK;
}

/* Messages. */

static ms_bt_code take_last_scanned(ms_wire_rows_merger *merger, ms_str key, ms_bt_page *page,
                                    ms_bt_status *bt)
{
    if (key.bytes == 0) {
        return MS_BT_OK;
    }
    if (merger->has_row) {
        return breaks("a key is reported scanned inside a row", bt);
    }
    if (!is_behind(merger, key)) {
        return MS_BT_OK;
    }
    /* One report after the other takes the same place, so that they cannot fill the page. */
    if (page->scanned_at + page->scanned_bytes == page->bytes.bytes) {
        page->bytes.bytes -= page->scanned_bytes;
    }
    page->scanned_bytes = 0;
    MS_BT_TRY(grow_cells(page, key.bytes, bt));
    page->scanned_at = ms_bt_page_put(page, key.ptr, key.bytes);
    page->scanned_bytes = (uint32_t)key.bytes;
    return remember_key(merger, key, bt);
}

static ms_bt_code take_stats(ms_wire_rows_merger *merger, ms_str bytes, ms_bt_status *bt)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_pb_request_stats *stats =
        ms_pb_unpack(request_stats, bytes, &ms_wire_response_limits, &arena, bt);
    bool is_full =
        stats != NULL && stats->stats_view_case ==
                             GOOGLE__BIGTABLE__V2__REQUEST_STATS__STATS_VIEW_FULL_READ_STATS_VIEW;
    if (is_full) {
        const ms_pb_read_iteration_stats *rows = stats->full_read_stats_view->read_iteration_stats;
        const ms_pb_request_latency_stats *latency =
            stats->full_read_stats_view->request_latency_stats;
        merger->has_stats = true;
        merger->stats = (ms_wire_read_stats){0};
        if (rows != NULL) {
            merger->stats.rows_seen = rows->rows_seen_count;
            merger->stats.rows_returned = rows->rows_returned_count;
            merger->stats.cells_seen = rows->cells_seen_count;
            merger->stats.cells_returned = rows->cells_returned_count;
        }
        if (latency != NULL) {
            merger->stats.latency_micros =
                ms_wire_duration_micros(latency->frontend_server_latency);
        }
    }
    ms_arena_release(&arena);
    return stats == NULL ? bt->code : MS_BT_OK;
}

static ms_bt_code take_field(ms_wire_rows_merger *merger, uint32_t field, ms_str bytes,
                             ms_bt_page *page, ms_bt_status *bt)
{
    if (__builtin_expect(field == FIELD_CHUNKS, 1)) {
        chunk c = {.status = ROW_GOES_ON};
        return get_chunk(bytes, &c) ? take_chunk(merger, &c, page, bt)
                                    : malformed("a chunk cannot be read", bt);
    }
    return field == FIELD_LAST_SCANNED ? take_last_scanned(merger, bytes, page, bt)
                                       : take_stats(merger, bytes, bt);
}

static ms_bt_code read_fields(ms_wire_rows_merger *merger, ms_str message, size_t *at,
                              ms_bt_page *page, uint32_t rows_max, size_t bytes_max,
                              ms_bt_status *bt)
{
    const char *next = message.bytes == 0 ? message.ptr : message.ptr + *at;
    const char *end = msi_wire_end(message);
    while (next != end) {
        uint32_t tag;
        ms_str bytes = {NULL, 0};
        next = msi_wire_get_tag(next, end, &tag);
        bool is_ours = next != NULL && tag >> 3 <= FIELD_STATS;
        if (is_ours) {
            next = (tag & 7) == MSI_WIRE_BYTES ? msi_wire_get_bytes(next, end, &bytes) : NULL;
        } else {
            next = next == NULL ? NULL : msi_wire_skip(next, end, tag);
        }
        if (next == NULL) {
            return malformed("a field is cut short or has a wrong tag", bt);
        }
        *at = (size_t)(next - message.ptr);
        if (is_ours) {
            MS_BT_TRY(take_field(merger, tag >> 3, bytes, page, bt));
        }
        if (!merger->has_row && page->row_count > 0 &&
            (page->row_count >= rows_max || ms_bt_page_used_bytes(page) >= bytes_max)) {
            break;
        }
    }
    return MS_BT_OK;
}

ms_bt_code ms_wire_rows_merger_read(ms_wire_rows_merger *merger, ms_str message, size_t *at,
                                    ms_bt_page *page, uint32_t rows_max, size_t bytes_max,
                                    ms_bt_status *bt)
{
    ms_bt_code code = read_fields(merger, message, at, page, rows_max, bytes_max, bt);
    /* Rows that were completed before a failure are good. */
    publish_names(merger, page);
    return code;
}

ms_bt_code ms_wire_rows_merger_end(const ms_wire_rows_merger *merger, ms_bt_status *bt)
{
    return merger->has_row ? breaks("the stream ends inside a row", bt) : MS_BT_OK;
}

void ms_wire_rows_merger_restart(ms_wire_rows_merger *merger, ms_bt_page *page)
{
    if (merger->has_row) {
        cut_row(merger, page);
    }
}

ms_rc ms_wire_rows_merger_move(ms_wire_rows_merger *merger, ms_bt_page *from, ms_bt_page *to,
                               ms_status *st)
{
    publish_names(merger, to);
    if (!merger->has_row) {
        return MS_OK;
    }
    size_t bytes = row_bytes(merger, from);
    uint32_t count = from->cell_count - merger->first_cell;
    uint32_t first_cell = to->cell_count;
    size_t bytes_at = to->bytes.bytes;
    MS_TRY(ms_bt_page_reserve_cell(to, bytes, st));
    uint32_t shift = ms_bt_page_put(to, from->bytes.ptr + merger->row_bytes_at, bytes) -
                     (uint32_t)merger->row_bytes_at;
    for (uint32_t i = 0; i < count; i++) {
        if (ms_bt_page_reserve_cell(to, 0, st) != MS_OK) {
            to->cell_count = first_cell;
            to->bytes.bytes = bytes_at;
            return st->code;
        }
        ms_bt_cell cell = from->cells[merger->first_cell + i];
        /* Offsets wrap around where the row moves toward the beginning. */
        cell.qualifier_at += shift;
        cell.value_at += shift;
        to->cells[to->cell_count++] = cell;
    }
    from->cell_count = merger->first_cell;
    from->bytes.bytes = merger->row_bytes_at;
    merger->key_at += shift;
    merger->first_cell = first_cell;
    merger->row_bytes_at = bytes_at;
    return MS_OK;
}
