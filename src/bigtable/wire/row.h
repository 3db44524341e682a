/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row as a message of families, columns and cells: what ReadModifyWriteRow answers.
 *
 * Ownership: a message lives in the arena and borrows the bytes of the page; a page copies. Thread:
 * any.
 */
#ifndef MS_BIGTABLE_WIRE_ROW_H
#define MS_BIGTABLE_WIRE_ROW_H

#include "bigtable/model/page.h"
#include "bigtable/wire/pb.h"

ms_pb_row *ms_wire_row_to_pb(const ms_bt_page *page, const ms_bt_row *row, ms_arena *arena);

/* Fills an empty page with one row, or none when the message has no cell; the names of families
 * and labels are copied to the arena. RESOURCE_EXHAUSTED for no memory. */
ms_bt_code ms_wire_row_from_pb(const ms_pb_row *message, ms_bt_page *page, ms_arena *arena,
                               ms_bt_status *bt);

#endif
