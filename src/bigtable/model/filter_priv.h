/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files about filters share: groups of kinds, the places of a condition's children, and
 * the parts of the check that compiling needs one by one.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_PRIV_H
#define MS_BIGTABLE_MODEL_FILTER_PRIV_H

#include "bigtable/model/filter.h"
#include "bigtable/model/regex.h"

enum {
    MSI_CONDITION_PREDICATE,
    MSI_CONDITION_THEN,
    MSI_CONDITION_OTHERWISE,
    MSI_CONDITION_CHILDREN
};

/* Sent as a flag, which must be true. */
static inline bool msi_filter_is_flag(ms_bt_filter_kind kind)
{
    return kind == MS_BT_FILTER_PASS_ALL || kind == MS_BT_FILTER_BLOCK_ALL ||
           kind == MS_BT_FILTER_SINK || kind == MS_BT_FILTER_STRIP_VALUE;
}

static inline bool msi_filter_is_count(ms_bt_filter_kind kind)
{
    return kind == MS_BT_FILTER_CELLS_PER_ROW_OFFSET || kind == MS_BT_FILTER_CELLS_PER_ROW_LIMIT ||
           kind == MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT;
}

static inline bool msi_filter_is_regex(ms_bt_filter_kind kind)
{
    return kind == MS_BT_FILTER_ROW_KEY_REGEX || kind == MS_BT_FILTER_FAMILY_REGEX ||
           kind == MS_BT_FILTER_QUALIFIER_REGEX || kind == MS_BT_FILTER_VALUE_REGEX;
}

/* All rules but that regular expressions compile. */
ms_bt_code msi_filter_check_tree(const ms_bt_filter *filter, ms_bt_status *bt);

/* What each regular expression of a filter may take, so that all of them stay within bounds. */
size_t msi_filter_regex_bytes(const ms_bt_filter *filter);

/* The regular expression of one filter; INVALID_ARGUMENT. */
ms_bt_code msi_filter_compile_regex(const ms_bt_filter *filter, size_t memory_max, ms_arena *arena,
                                    const msi_regex **regex_out, ms_bt_status *bt);

#endif
