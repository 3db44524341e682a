/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch is what flows on every edge: up to MS_BATCH_ROWS_MAX rows as columns, with an optional
 * selection and an optional column of row kinds.
 *
 *     columns[c]   vectors of `rows` positions
 *     sel          when not NULL: the live rows are sel[0] < sel[1] < ... , sel_count of them
 *     kinds        when not NULL: the row kind of each position; NULL on append-only edges (all +I)
 *
 *     for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
 *         uint32_t row = ms_batch_row(batch, k);
 *         ...
 *     }
 *
 * Lifetime. A batch is either a frame or pooled.
 *
 *   frame    a descriptor in an operator: its vectors borrow from the input batch, from an
 *            expression program or from scratch. It lives until the operator that emitted it is
 *            called again, which the driver does only when everything downstream has taken it. It
 *            has no pool and is never retained.
 *   pooled   taken from an ms_batch_pool; its columns are flat, owned and writable up to
 *            `capacity` rows until it is sent, immutable after. It is counted: retain, drop; the
 *            last drop sends it home through the pool's return ring, from any thread.
 *
 * Whoever keeps a batch beyond the handler it came in calls ms_batch_own(): it retains a pooled
 * batch without a narrowing selection as it is, and copies anything else, strings included, into a
 * batch of the given pool. Exchange, async operators, sort, retained build sides and sink queues
 * do; a stateless operator never needs to.
 *
 * A pooled batch also holds references to at most MS_BATCH_HEAPS_MAX string heaps (type/heap.h);
 * its own heap is the first. When a ninth would be needed, or when live bytes fall under half of
 * the pinned bytes, the producer copies the strings instead.
 *
 * Size. A batch is bounded by rows and by wide bytes, which are those of strings that do not stand
 * inline and of the elements of lists. Who produces batches asks ms_batch_is_full() after each
 * row; who copies rows asks ms_batch_fit() how many: a frame can show the same string in many rows
 * and columns, so that its copy is larger than what it was made from.
 *
 * Thread: one at a time until shared; counts are atomic, everything else is immutable once sent.
 */
#ifndef MS_TYPE_BATCH_H
#define MS_TYPE_BATCH_H

#include "base/limits.h"
#include "type/heap.h"
#include "type/vec.h"

#include <stdatomic.h>

/* The order is that of Flink's RowKind; the values are stored in checkpoints. */
typedef enum ms_row_kind {
    MS_ROW_INSERT = 0,
    MS_ROW_UPDATE_BEFORE = 1,
    MS_ROW_UPDATE_AFTER = 2,
    MS_ROW_DELETE = 3
} ms_row_kind;

typedef struct ms_batch_pool ms_batch_pool;

typedef struct ms_batch {
    uint32_t rows;
    uint32_t column_count;
    ms_vec *columns;
    const uint16_t *sel;
    uint32_t sel_count;
    const uint8_t *kinds;
    uint64_t wide_bytes_max; /* private, of frames; 0: not known */

    /* The rest is for pooled batches; zero in frames. */
    uint32_t capacity;
    uint32_t heap_count;
    ms_heap *heaps[MS_BATCH_HEAPS_MAX];
    uint8_t *kind_store; /* capacity bytes, for a writer that needs kinds */
    uint16_t *sel_store; /* capacity entries, for a writer that narrows */
    ms_batch_pool *pool;
    _Atomic uint32_t refs;
} ms_batch;

/* Reading. */

static inline uint32_t ms_batch_live(const ms_batch *batch)
{
    return batch->sel != NULL ? batch->sel_count : batch->rows;
}

static inline uint32_t ms_batch_row(const ms_batch *batch, uint32_t k)
{
    return batch->sel != NULL ? batch->sel[k] : k;
}

static inline ms_row_kind ms_batch_kind(const ms_batch *batch, uint32_t row)
{
    return batch->kinds != NULL ? (ms_row_kind)batch->kinds[row] : MS_ROW_INSERT;
}

/* True when the caller holds the only reference, so that it may still write. */
bool ms_batch_is_unique(const ms_batch *batch);

/* Bytes that the batch occupies, heaps included; for credits and the accountant. */
size_t ms_batch_bytes(const ms_batch *batch);

/* Size. */

#define MS_BATCH_WIDE_UNKNOWN UINT64_MAX

/*
 * Wide bytes that a copy of all rows takes, or more; MS_BATCH_WIDE_UNKNOWN when only looking at the
 * rows would tell. Cheap.
 */
uint64_t ms_batch_wide_bytes_max(const ms_batch *batch);

/* Says it of a frame whose maker knows better than ms_batch_frame. */
static inline void ms_batch_set_wide_bytes_max(ms_batch *frame, uint64_t bytes)
{
    frame->wide_bytes_max = bytes == MS_BATCH_WIDE_UNKNOWN ? 0 : bytes == 0 ? 1 : bytes;
}

/*
 * How many live rows from `first` on a copy may have that holds used_bytes of wide bytes already,
 * so that it stays within MS_BATCH_BYTES_TARGET. At least one when used_bytes is 0. Looks at the
 * rows only when it must.
 */
uint32_t ms_batch_fit(const ms_batch *batch, uint32_t first, uint64_t used_bytes);

/* Wide bytes of a pooled batch that its producer has written. */
uint64_t ms_batch_wide_bytes(const ms_batch *batch);

/* True when the producer of a pooled batch adds no further row: by rows, or by wide bytes. */
bool ms_batch_is_full(const ms_batch *batch);

/* Pools. One producer takes from a pool; any thread may drop its batches. */

/*
 * Creates a pool of at most batches_max batches of capacity rows for the schema. Memory of a batch
 * is made at its first take and reused until destroy. The types are borrowed and outlive the pool.
 */
ms_batch_pool *ms_batch_pool_create(const ms_schema *schema, uint32_t capacity,
                                    uint32_t batches_max);

/* Waits for nothing: every batch must have come home. NULL is fine. */
void ms_batch_pool_destroy(ms_batch_pool *pool);

/* The number of batches that can be taken now. */
uint32_t ms_batch_pool_available(ms_batch_pool *pool);

/*
 * Takes a batch: rows 0, no selection, no kinds, columns flat and writable without validity,
 * refs 1. Returns NULL when all batches are out: that is backpressure, not an error.
 */
ms_batch *ms_batch_pool_take(ms_batch_pool *pool) MS_MUST_USE;

/* Sharing. */

/* Adds a reference to a pooled batch. */
void ms_batch_retain(ms_batch *batch);

/* Gives a reference back; the last one resets the batch, drops its heaps and sends it home. NULL is
 * fine. */
void ms_batch_drop(ms_batch *batch);

/*
 * Makes a batch that may be kept: see above. Returns NULL when a copy is needed and the pool is
 * empty. The result is a new reference; the argument stays the caller's. A copy is dense: no
 * selection, flat columns.
 */
ms_batch *ms_batch_own(const ms_batch *batch, ms_batch_pool *pool) MS_MUST_USE;

/* Writing into a pooled batch that is unique. */

/* The validity bitmap of a column, made all-valid on first use, so that NULLs can be cleared. */
uint64_t *ms_batch_validity(ms_batch *batch, uint32_t column);

/* The kinds of a batch, made all-INSERT on first use. */
uint8_t *ms_batch_kinds(ms_batch *batch);

/* Copies bytes into the batch's own heap and returns the view; short strings take no heap. */
ms_view ms_batch_put_str(ms_batch *batch, ms_str bytes);

/*
 * Appends the live rows [first, first + count) of src to dst, as far as capacity allows; strings
 * are copied. Returns how many were appended.
 */
uint32_t ms_batch_append(ms_batch *dst, const ms_batch *src, uint32_t first, uint32_t count);

/* Frames. */

/*
 * Makes *frame a view of the same rows, selection and kinds as batch, over other columns. Over the
 * batch's own columns it knows what it may take as well as the batch does.
 */
void ms_batch_frame(ms_batch *frame, const ms_batch *batch, ms_vec *columns, uint32_t column_count);

#endif
