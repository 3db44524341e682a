/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReadRowsResponse as a client reads it: cell chunks from any number of messages become rows of
 * pages, by every rule of the protocol. Written by hand, straight from the bytes into the page.
 *
 * One merger serves a read with all its attempts. It keeps the row that is not yet complete, the
 * last key that was completed or reported as scanned, and the names of families.
 *
 *     ms_wire_rows_merger_init(&merger, is_reversed);
 *     for each message:
 *         size_t at = 0;
 *         do {
 *             MS_BT_TRY(ms_wire_rows_merger_read(&merger, message, &at, page, 1000, 1u << 20,
 *                                                bt));
 *             if (at < message.bytes) { the page is full: deliver it, and take another }
 *         } while (at < message.bytes);
 *     at the end of the stream: MS_BT_TRY(ms_wire_rows_merger_end(&merger, bt));
 *     before another attempt: ms_wire_rows_merger_restart(&merger, page);
 *
 * What the server reports as scanned is the page's too (ms_bt_page_scanned).
 *
 * A page that is delivered must not hold a part of a row: ms_wire_rows_merger_move takes that part
 * to the page that follows. A page is full only between rows, so after a full one there is none.
 *
 * Ownership: the merger owns the names that page->families points to, so it outlives the pages.
 * Thread: one at a time; a page that was delivered may be read by another thread meanwhile. Limits:
 * a row above MS_BT_LIMIT_ROW_BYTES, or of more cells than MS_WIRE_ROW_CELLS_MAX, is refused, and
 * so are more than MS_WIRE_NAMES_MAX families or labels.
 */
#ifndef MS_BIGTABLE_WIRE_READ_ROWS_MERGE_H
#define MS_BIGTABLE_WIRE_READ_ROWS_MERGE_H

#include "bigtable/model/page.h"
#include "bigtable/model/status.h"
#include "bigtable/wire/read_rows.h"

#define MS_WIRE_ROW_CELLS_MAX (8u << 20)
#define MS_WIRE_NAMES_MAX 4096u

/* Names by index. A list that has become too small is replaced and stays as it is, because pages
 * point to it. */
typedef struct ms_wire_names {
    ms_str *list;
    uint32_t count;
    uint32_t capacity;
} ms_wire_names;

/* Fields are private, but for stats and rows. */
typedef struct ms_wire_rows_merger {
    bool is_reversed;
    bool has_row;   /* a row is open, */
    bool has_value; /* and in it a value of which more must come */
    bool has_last;
    bool has_stats;
    ms_wire_read_stats stats; /* of the last message that had any */
    uint64_t rows;            /* completed so far */
    uint32_t key_at;          /* in the page, of the open row */
    uint32_t key_bytes;
    uint32_t first_cell;
    size_t row_bytes_at;  /* where the bytes of the open row begin in the page */
    uint16_t last_family; /* of the last cell that named one */
    uint32_t value_size;  /* announced, of the value of which more must come */
    ms_buf last_key;
    ms_arena names;
    ms_wire_names families;
    ms_wire_names labels; /* the first is empty, and stands for none */
} ms_wire_rows_merger;

void ms_wire_rows_merger_init(ms_wire_rows_merger *merger, bool is_reversed);
void ms_wire_rows_merger_release(ms_wire_rows_merger *merger);

/*
 * Reads a message from *at, which starts at 0, until it is used up (*at == message.bytes) or the
 * page, after a row, has rows_max rows or bytes_max bytes. INTERNAL for what breaks the protocol
 * or is malformed; RESOURCE_EXHAUSTED for a row that is too large or no memory. After a failure
 * the rows of the page are good, and only restart makes sense.
 */
ms_bt_code ms_wire_rows_merger_read(ms_wire_rows_merger *merger, ms_str message, size_t *at,
                                    ms_bt_page *page, uint32_t rows_max, size_t bytes_max,
                                    ms_bt_status *bt);

/* The stream has ended well: INTERNAL when it did so inside a row. */
ms_bt_code ms_wire_rows_merger_end(const ms_wire_rows_merger *merger, ms_bt_status *bt);

/* Drops the open row from the page; what was completed, and the order of keys, stays. */
void ms_wire_rows_merger_restart(ms_wire_rows_merger *merger, ms_bt_page *page);

/* Moves the open row, if there is one, to the end of another page. MS_NO_MEMORY or MS_LIMIT. */
ms_rc ms_wire_rows_merger_move(ms_wire_rows_merger *merger, ms_bt_page *from, ms_bt_page *to,
                               ms_status *st) MS_MUST_USE;

static inline bool ms_wire_rows_merger_has_row(const ms_wire_rows_merger *merger)
{
    return merger->has_row;
}

/* The key of the last row that was completed or reported scanned, behind which a read resumes;
 * false when there is none. Valid until the next read. */
static inline bool ms_wire_rows_merger_last_key(const ms_wire_rows_merger *merger, ms_str *key_out)
{
    *key_out = ms_buf_view(&merger->last_key);
    return merger->has_last;
}

#endif
