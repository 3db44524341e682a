/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of an int64-hll cell: a HyperLogLog++ sketch, which counts distinct values in bounded
 * space. Its bytes are those of ZetaSketch (and so of BigQuery's HLL_COUNT): an AggregatorState
 * message of type 112, encoding version 2, around a HyperLogLogPlusUniqueState. That the service
 * stores the same bytes is not documented; to a client, a state is opaque either way.
 *
 *     AggregatorState             1 type = 112   2 num_values   3 encoding_version = 2
 *                                 4 value_type   112 state
 *     HyperLogLogPlusUniqueState  2 sparse_size  3 precision    4 sparse_precision
 *                                 5 data         6 sparse_data
 *
 * A sketch is sparse as long as that is shorter: a sorted list of hash prefixes of sparse_precision
 * bits. Then it is one register a bucket, 2^precision of them. New sketches have precision 15 and
 * 20 and estimate with a standard error of 0.6 %.
 *
 *     ms_bt_hll hll;
 *     MS_BT_TRY(ms_bt_hll_init(&hll, state, bt));       an empty state is an empty sketch
 *     MS_BT_TRY(ms_bt_hll_add_int64(&hll, 42, bt));
 *     rc = ms_bt_hll_write(&hll, &buf, st);
 *     ms_bt_hll_release(&hll);
 *
 * Estimates are not ZetaSketch's to the digit: where that corrects by tables, this uses Ertl's
 * estimator, which needs none and is as good.
 *
 * Ownership: a sketch owns its memory; one on which a call failed is only good for release. Thread:
 * one at a time. Limits: precision 10 to 24, hence 16 MiB of registers.
 */
#ifndef MS_BIGTABLE_MODEL_HLL_H
#define MS_BIGTABLE_MODEL_HLL_H

#include "base/str.h"
#include "bigtable/model/status.h"

#define MS_BT_HLL_PRECISION 15
#define MS_BT_HLL_SPARSE_PRECISION 20

/* Fields are private. */
typedef struct ms_bt_hll {
    unsigned precision;
    unsigned sparse_precision; /* 0: never sparse */
    int64_t value_count;       /* that were added, repeated ones each time */
    uint8_t *registers;        /* NULL: sparse */
    uint32_t *sparse;          /* ascending */
    uint32_t sparse_count;
    uint32_t sparse_capacity;
} ms_bt_hll;

/*
 * Reads a state; an empty text makes an empty sketch. INVALID_ARGUMENT when it is none, or one of
 * other values than integers; RESOURCE_EXHAUSTED. A sketch that failed needs no release.
 */
ms_bt_code ms_bt_hll_init(ms_bt_hll *hll, ms_str state, ms_bt_status *bt);

/* Takes a zero-initialized sketch too. */
void ms_bt_hll_release(ms_bt_hll *hll);

/* RESOURCE_EXHAUSTED. */
ms_bt_code ms_bt_hll_add_int64(ms_bt_hll *hll, int64_t value, ms_bt_status *bt);

/*
 * Adds what other counted. The result has the lower precisions of the two. INVALID_ARGUMENT when
 * one has the lower precision and the other the lower sparse precision; RESOURCE_EXHAUSTED.
 */
ms_bt_code ms_bt_hll_merge(ms_bt_hll *hll, const ms_bt_hll *other, ms_bt_status *bt);

/* Whether the sparse precision is the usual one, five more than the precision: any two such
 * sketches merge, and so does what comes of them. */
static inline bool ms_bt_hll_is_usual(const ms_bt_hll *hll)
{
    return hll->sparse_precision == hll->precision + 5;
}

/* How many distinct values were added. */
int64_t ms_bt_hll_estimate(const ms_bt_hll *hll);

/* Appends the state; a sparse sketch for which that is shorter becomes one of registers. */
ms_rc ms_bt_hll_write(ms_bt_hll *hll, ms_buf *buf, ms_status *st) MS_MUST_USE;

/* The hash of values, for tests: Fingerprint2011 of the eight bytes, little-endian. */
uint64_t ms_bt_hll_hash_int64(int64_t value);

#endif
