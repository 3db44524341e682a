/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits of sources whose units are numbered from 0: generated rows, registered batches. A split is
 * every stride-th unit, so that P subtasks run side by side through the numbers, and a position in
 * it is one number:
 *
 *     total 8, 3 subtasks:    split 0: units 0 3 6    split 1: units 1 4 7    split 2: units 2 5
 *
 * The enumerator makes one split for each subtask of a fresh start and gives split i to subtask i;
 * after a change of parallelism, to subtask i modulo the new one. A reader keeps its splits in an
 * ms_stride_set, which is its snapshot too.
 *
 *     ms_stride *stride = ms_stride_set_pick(&self->splits);
 *     if (stride == NULL) {
 *         return self->splits.is_complete ? MS_READ_END : MS_READ_PENDING;
 *     }
 *     for (i = 0; i < count && i < ms_stride_left(stride); i++) {
 *         ... unit ms_stride_unit(stride, i) ...
 *     }
 *     stride->next += i;
 *
 * Ownership: a set owns its splits. Thread: that of the reader, or of the coordinator.
 */
#ifndef MS_CATALOG_STRIDE_H
#define MS_CATALOG_STRIDE_H

#include "catalog/connector.h"

#define MS_STRIDE_UNBOUNDED UINT64_MAX

typedef struct ms_stride {
    uint64_t seed; /* for sources that generate; the same in all splits of a job */
    uint64_t first;
    uint64_t stride;
    uint64_t count; /* of units in this split; or MS_STRIDE_UNBOUNDED */
    uint64_t next;  /* units given out */
    uint64_t part;  /* of the next unit: what was given out already, where units have parts */
} ms_stride;

/* The number of the unit that is i behind the position. */
static inline uint64_t ms_stride_unit(const ms_stride *stride, uint64_t i)
{
    return stride->first + (stride->next + i) * stride->stride;
}

static inline uint64_t ms_stride_left(const ms_stride *stride)
{
    return stride->count == MS_STRIDE_UNBOUNDED ? UINT64_MAX : stride->count - stride->next;
}

/* A split as bytes, version in front; reading is safe on any bytes. */
ms_rc ms_stride_write(const ms_stride *stride, ms_buf *out, ms_status *st) MS_MUST_USE;
ms_rc ms_stride_read(ms_str bytes, ms_stride *stride_out, ms_status *st) MS_MUST_USE;

/* The splits of a reader. Zero-initialized: none yet. Read is_complete and count freely. */
typedef struct ms_stride_set {
    ms_stride *items; /* unfinished, and finished ones that were not removed yet */
    uint32_t count;
    uint32_t capacity;
    uint32_t turn;
    bool is_complete; /* no more will come; set by the reader's no_more_splits */
} ms_stride_set;

void ms_stride_set_release(ms_stride_set *set);
ms_rc ms_stride_set_add(ms_stride_set *set, ms_str split, ms_status *st) MS_MUST_USE;

/*
 * The split whose turn it is, round robin over those with units left; NULL when there is none.
 * Valid until the next call.
 */
ms_stride *ms_stride_set_pick(ms_stride_set *set);

/* True when another split should be asked for: none has units left and more may come. */
bool ms_stride_set_wants(const ms_stride_set *set);

/* What a reader's snapshot is: the unfinished splits. */
ms_rc ms_stride_set_snapshot(const ms_stride_set *set, ms_buf *out, ms_status *st) MS_MUST_USE;

/* Makes the enumerator of total units (or MS_STRIDE_UNBOUNDED). Closing it frees it. */
ms_enumerator *ms_stride_enumerator_create(uint64_t total, uint64_t seed);

#endif
