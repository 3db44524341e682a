/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row keys that a table's options select: prefixes, one range in two options, and a list of
 * ranges. All are added up; none given means every key.
 *
 *     'scan.row-prefix' = 'a#;b#'                 two prefixes
 *     'scan.row-range.start-closed' = 'k'         from k on, alone or with the next
 *     'scan.row-range.end-open' = 'm'             up to m, without it
 *     'scan.row-ranges' = '[a,c);[x,)'            closed starts, open ends; one may be missing
 *
 * Elements of the prefix list are trimmed; one in quotes ('a;b' or "a;b") is taken as it stands,
 * with a doubled quote for one. In row-ranges a backslash stands before a grammar character
 * (\ ; , [ ] ( )) that belongs to a key. Keys are the text's bytes, or with
 * 'scan.row-key-encoding' = 'BASE64' what canonical Base64 encodes. A key of no bytes is refused
 * everywhere, because the service would read it as "no bound".
 *
 * Ownership: the result lives in the arena. Thread: session.
 */
#ifndef MS_CONNECTOR_BIGTABLE_ROW_RANGES_H
#define MS_CONNECTOR_BIGTABLE_ROW_RANGES_H

#include "bigtable/model/range.h"
#include "catalog/option.h"

typedef struct msi_bt_range_options {
    bool is_base64; /* scan.row-key-encoding */
    ms_option_value prefixes;
    ms_option_value start_closed;
    ms_option_value end_open;
    ms_option_value ranges;
} msi_bt_range_options;

/* The coalesced union. Errors are MS_INVALID_OPTION with the option's key and, in lists, the number
 * of the entry, from 1; MS_LIMIT for a list of more than MS_LIMIT_LIST_ITEMS. */
ms_rc msi_bt_row_ranges_make(ms_arena *arena, const msi_bt_range_options *options,
                             ms_bt_ranges *ranges_out, ms_status *st) MS_MUST_USE;

/* Every key. */
ms_bt_ranges msi_bt_row_ranges_all(ms_arena *arena);

#endif
