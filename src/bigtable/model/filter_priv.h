/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files about filters share: groups of kinds, and the places of a condition's children.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_PRIV_H
#define MS_BIGTABLE_MODEL_FILTER_PRIV_H

#include "bigtable/model/filter.h"

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

#endif
