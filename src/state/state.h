/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed state of one operator in one subtask. In-memory tables are the truth; a checkpoint writes
 * what changed since the last one. Tables are segmented by key group, which is the unit of
 * copy-on-write at a barrier, of restore and of rescaling.
 *
 * A value table maps a key (bytes of type/key.h; empty for a global aggregate) to one value row,
 * encoded by type/rowcodec under the schema that was given at open and is stored beside the data.
 * Opening a table whose stored schema differs fails with MS_PLAN_MISMATCH naming table and column.
 *
 *     ms_value_table *acc = NULL;
 *     MS_TRY(ms_state_value_table(ctx->state, ms_str_lit("acc"), &acc_schema, &acc, ctx->st));
 *     ms_str bytes = ms_value_table_get(acc, group, key);         NULL ptr: absent
 *     MS_TRY(ms_value_table_put(acc, group, key, row, ctx->st));
 *
 * List and map tables, timers, segments for append-only rows and spilling join this interface with
 * the operators that need them.
 *
 * Ownership: the state owns all bytes it returns; they stay until the next change of the table.
 * Memory is charged to the account given at create and fails with MS_NO_MEMORY beyond its budget.
 * Thread: task; snapshots are written by a pool job from memory that the cut froze.
 */
#ifndef MS_STATE_STATE_H
#define MS_STATE_STATE_H

#include "base/memory.h"
#include "type/type.h"

typedef struct ms_state ms_state;
typedef struct ms_value_table ms_value_table;

/* Life. */

/* Key groups [group_first, group_end) belong to this subtask. */
ms_state *ms_state_create(ms_account *account, uint32_t group_first, uint32_t group_end);
void ms_state_destroy(ms_state *state);

/* Use. */

ms_rc ms_state_value_table(ms_state *state, ms_str name, const ms_schema *schema,
                           ms_value_table **table_out, ms_status *st) MS_MUST_USE;
ms_str ms_value_table_get(ms_value_table *table, uint32_t group, ms_str key);
ms_rc ms_value_table_put(ms_value_table *table, uint32_t group, ms_str key, ms_str row,
                         ms_status *st) MS_MUST_USE;
void ms_value_table_delete(ms_value_table *table, uint32_t group, ms_str key);

/* Checkpoints. Called by the driver. */

/* Freezes the changes since the last cut, in microseconds; the task goes on changing the tables. */
void ms_state_cut(ms_state *state, uint64_t checkpoint);

/*
 * Appends the frozen changes of a cut as log records (PUT, DEL; with table name, schema descriptor,
 * key group and CRC) to out, or with full = true the whole of the tables as they were at the cut.
 * Thread: any one, while the task goes on.
 */
ms_rc ms_state_write(ms_state *state, uint64_t checkpoint, bool full, ms_buf *out,
                     ms_status *st) MS_MUST_USE;

/* The cut is stored (or given up): its frozen memory may go. */
void ms_state_release_cut(ms_state *state, uint64_t checkpoint);

/* Applies stored records, in the order written; records of other key groups are passed over. Before
 * any use. */
ms_rc ms_state_restore(ms_state *state, ms_str records, ms_status *st) MS_MUST_USE;

/* Inspection. */

/* True when it has tables, so that there is something to save. */
bool ms_state_is_used(const ms_state *state);
uint64_t ms_state_entries(const ms_state *state);
size_t ms_state_bytes(const ms_state *state);

#endif
