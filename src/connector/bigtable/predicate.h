/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicates on the row key as ranges of row keys. A predicate is translated when SQL's answer and
 * the ranges agree for every key; all others stay with the engine.
 *
 *     key type                                =, <>, IN     <, <=, >, >=     as
 *     VARCHAR, STRING, VARBINARY, BYTES       yes           yes              the very key
 *     integers, DATE, TIME, TIMESTAMP, _LTZ,  yes, unless   no               every key that begins
 *     intervals                               trailing                       with the encoded value
 *                                             bytes are
 *                                             rejected
 *     all others                              no            no
 *
 * IS NULL and IS NOT NULL on the key, AND, OR and NOT of what can be translated can be, too. The
 * other side is a literal that is not NULL, has the key's type exactly, and is not empty: an empty
 * bound would mean "no bound". The key stands alone; a cast that only widens an integer is looked
 * through.
 *
 * Fixed widths use prefixes because reading such a key ignores what follows the value. They have
 * no order here, because the bytes of negative numbers sort behind those of positive ones.
 *
 * Ownership: ranges live in the arena and may borrow from the expression. Thread: session.
 */
#ifndef MS_CONNECTOR_BIGTABLE_PREDICATE_H
#define MS_CONNECTOR_BIGTABLE_PREDICATE_H

#include "bigtable/model/range.h"
#include "connector/bigtable/layout.h"

/* The coalesced ranges of the keys for which expr, over the stored schema, is true. False: it
 * cannot be said in ranges. */
bool msi_bt_predicate_ranges(ms_arena *arena, const msi_bt_layout *layout, const ms_expr *expr,
                             ms_bt_ranges *ranges_out);

/* What is in all of several coalesced lists; count is not 0. Halves the list, so that many
 * conditions that each cut out one key do not cost the square of their number. */
ms_bt_ranges msi_bt_predicate_common(ms_arena *arena, const ms_bt_ranges *lists, size_t count);

#endif
