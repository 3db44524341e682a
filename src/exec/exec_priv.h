/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operators of this folder share: their constructors, which factory.c maps node kinds to,
 * and the passing on of a batch, whole or in part.
 *
 * Thread: task.
 */
#ifndef MS_EXEC_EXEC_PRIV_H
#define MS_EXEC_EXEC_PRIV_H

#include "exec/operator.h"

/* Constructors, one an operator. Each makes its struct in the job arena and sets its class. */

ms_op *msi_op_source_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_values_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_calc_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_watermark_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_aggregate_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_union_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_sort_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_limit_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_sink_create(const ms_pnode *node, ms_arena *job_arena);
ms_op *msi_op_collect_create(const ms_pnode *node, ms_arena *job_arena);

/* For operators that have nothing to open, or to close. */
ms_rc msi_op_open_nothing(ms_op *op, ms_op_ctx *ctx);
void msi_op_close_nothing(ms_op *op);

/* Passing on. */

/* Emits a batch that was taken as input, without copying: a pooled one as another reference, any
 * other through *frame, which lives in the operator. */
void msi_op_emit_through(ms_op *op, const ms_batch *batch, ms_batch *frame);

/*
 * Makes *frame the live rows [first, end) of batch, over the same columns. identity holds 0, 1, 2
 * ... and has room for MS_BATCH_ROWS_MAX entries; see msi_identity_make.
 */
void msi_slice(ms_batch *frame, const ms_batch *batch, uint32_t first, uint32_t end,
               const uint16_t *identity);
const uint16_t *msi_identity_make(ms_arena *arena);

/* Memory. */

/*
 * Makes *charged_bytes, what is reserved at the job's account for something that the operator
 * holds, this many bytes. Refused, it fails the operator, and *charged_bytes stays.
 */
ms_rc msi_charge(ms_op *op, uint64_t *charged_bytes, uint64_t bytes);

/* How expressions of a plan are evaluated. */
static inline ms_eval_config msi_eval_config(const ms_op *op)
{
    return (ms_eval_config){.time_zone = op->ctx->plan->local_time_zone,
                            .overflow_is_error = op->ctx->plan->overflow_is_error};
}

#endif
