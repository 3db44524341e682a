/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error lane says which rows of a vector have no value because computing it failed: a bitmap,
 * and for each failed row the code and the site, a number by which the program finds the
 * expression. A row in the lane is also NULL in the vector's validity, so that whoever computes on
 * skips it.
 *
 * Lanes are filled by kernels (ms_lane_fail) and moved along by programs, which also drop the lanes
 * of rows that no one selected. `any` is false as long as no bit is set, so that the usual case
 * costs one test a vector.
 *
 * Memory: the arrays have room for the evaluator's rows and belong to it. Thread: that of the
 * evaluator.
 */
#ifndef MS_FUNC_LANE_H
#define MS_FUNC_LANE_H

#include "base/limits.h"
#include "millstream/udf.h"
#include "type/vec.h"

struct ms_fn_lane {
    bool any;
    uint16_t site;       /* the site of failures reported now */
    const char *message; /* what a plugin said last; static */
    uint64_t *bits;
    uint8_t *codes; /* ms_rc */
    uint16_t *sites;
};

_Static_assert(MS_RC_COUNT <= 256, "a code fits a byte");

static inline bool ms_lane_has(const ms_fn_lane *lane, uint32_t row)
{
    return lane != NULL && lane->any && ms_bit_get(lane->bits, row);
}

/* Forgets all failures. */
static inline void ms_lane_reset(ms_fn_lane *lane, uint32_t rows)
{
    memset(lane->bits, 0, MS_BITMAP_WORDS(rows) * sizeof(uint64_t));
    lane->any = false;
}

/* Puts a row into the lane; the first failure of a row stays. */
static inline void ms_lane_fail_at(ms_fn_lane *lane, uint32_t row, ms_rc code, uint16_t site)
{
    if (!ms_bit_get(lane->bits, row)) {
        ms_bit_set(lane->bits, row);
        lane->any = true;
        lane->codes[row] = (uint8_t)code;
        lane->sites[row] = site;
    }
}

#endif
