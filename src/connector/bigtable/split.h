/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits of a scan: a list of row-key ranges that one reader reads in order. The ranges that a
 * query wants are cut at keys that the service samples; what lies between two samples is one split,
 * so that a list of a thousand keys costs a request for each part of the table, not for each key.
 *
 *     wanted    [a ......... m)    [p]  [q]
 *     samples         f        n              r
 *     splits    [a,f)  [f,m)   {[p],[q]}
 *
 * Progress in a split is the last key given out: what is left of it is a split again.
 *
 * Several readers must not read one table each where a name was dropped and made again between
 * their beginnings, nor a job that is resumed go on in another table. So a split carries the
 * incarnation of its table, where the transport knows it.
 *
 * The form in checkpoints, integers as in base/codec.h:
 *
 *     u8 version 1, or u8 2 and u32 incarnation;
 *     varint ranges, each: u8 bound, text key of its start, the same of its end
 *
 * Ownership: ranges live in an arena and borrow their keys unless it is said otherwise. Thread:
 * any.
 */
#ifndef MS_CONNECTOR_BIGTABLE_SPLIT_H
#define MS_CONNECTOR_BIGTABLE_SPLIT_H

#include "base/codec.h"
#include "bigtable/model/limits.h"
#include "bigtable/model/range.h"

#define MSI_BT_SPLIT_RANGES_MAX 1000u /* a request with as many keys is some ten kilobytes */

/* Of the keys of a split that has more than one range: half of what a request may have, so that
 * there is room for what surrounds each of them. */
#define MSI_BT_SPLIT_KEY_BYTES_MAX (MS_BT_LIMIT_READ_BYTES / 2)

typedef struct msi_bt_split {
    ms_bt_ranges ranges;
    uint32_t incarnation; /* 0: whichever table has the name */
} msi_bt_split;

/*
 * Cuts coalesced ranges at samples, which may be in any order, repeated or empty. No split is
 * empty, and each is small enough for one request. Returns the number of splits.
 */
size_t msi_bt_splits_plan(ms_arena *arena, const ms_bt_ranges *ranges, const ms_str *samples,
                          size_t sample_count, const ms_bt_ranges **splits_out);

/* What is left after last_key was given out; may be nothing. */
msi_bt_split msi_bt_split_after(ms_arena *arena, const msi_bt_split *split, ms_str last_key);

ms_rc msi_bt_split_write(const msi_bt_split *split, ms_buf *out, ms_status *st) MS_MUST_USE;

/* Any bytes: MS_CORRUPT_DATA unless they are a split, coalesced and not empty. Keys are copied. */
ms_rc msi_bt_split_read(ms_arena *arena, ms_str bytes, msi_bt_split *split_out,
                        ms_status *st) MS_MUST_USE;

#endif
