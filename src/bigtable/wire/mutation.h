/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations of one row, and the rules of ReadModifyWriteRow, as messages, for the small calls.
 * MutateRow and MutateRows have codecs of their own: wire/mutate_rows.h.
 *
 * A mutation that the model cannot express is INVALID_ARGUMENT, in the words in which the service
 * speaks of lists of mutations: one with nothing set, AddToCell without a raw qualifier, a raw
 * timestamp or an input. What is merely wrong (a timestamp, a length) is the model's to refuse.
 *
 * Ownership: messages live in the arena and borrow the bytes of the batch; a batch copies. Thread:
 * any.
 */
#ifndef MS_BIGTABLE_WIRE_MUTATION_H
#define MS_BIGTABLE_WIRE_MUTATION_H

#include "bigtable/model/mutation.h"
#include "bigtable/model/rule.h"
#include "bigtable/wire/pb.h"

/*
 * Appends one entry with these mutations to the batch. MS_BT_INVALID_ARGUMENT as above;
 * RESOURCE_EXHAUSTED when the batch is full. On failure the batch is as it was, but for families.
 */
ms_bt_code ms_wire_mutations_from_pb(ms_str row_key, ms_pb_mutation *const *mutations, size_t count,
                                     ms_bt_mutation_batch *batch, ms_bt_status *bt);

/* The mutations of the first entry; none when the batch is NULL or empty. */
ms_pb_mutation **ms_wire_mutations_to_pb(const ms_bt_mutation_batch *batch, ms_arena *arena,
                                         size_t *count_out);

/* Rules. */

/* INVALID_ARGUMENT for a rule in which nothing is set. */
ms_bt_code ms_wire_rules_from_pb(ms_pb_read_modify_write_rule *const *rules, size_t count,
                                 ms_arena *arena, const ms_bt_rule **rules_out, ms_bt_status *bt);
ms_pb_read_modify_write_rule **ms_wire_rules_to_pb(const ms_bt_rule *rules, size_t count,
                                                   ms_arena *arena);

#endif
