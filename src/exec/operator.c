/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all operators use of the operator class: reporting a failure, the default for watermarks,
 * passing a batch on, whole or in part, without copying rows, and charging memory.
 */
#include "exec/operator.h"

#include "exec/exec_priv.h"

#include <stdio.h>

ms_step ms_op_fail(ms_op *op, ms_rc code, ms_span span, const char *format, ...)
{
    char message[sizeof(op->ctx->st->message)];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    bool has_place = span.end > span.start;
    ms_status_set(op->ctx->st, code, has_place ? span : op->node->span, "%s", message);
    return MS_DONE;
}

ms_step ms_op_forward_watermark(ms_op *op, ms_time_ms watermark)
{
    ms_op_emit_watermark(op, watermark);
    return MS_DONE;
}

ms_rc msi_op_open_nothing(ms_op *op, ms_op_ctx *ctx)
{
    (void)op;
    (void)ctx;
    return MS_OK;
}

void msi_op_close_nothing(ms_op *op)
{
    (void)op;
}

void msi_op_emit_through(ms_op *op, const ms_batch *batch, ms_batch *frame)
{
    if (batch->pool != NULL && batch->sel == NULL) {
        /* Needs no pool: a pooled batch without a selection is retained as it is. */
        ms_op_emit(op, 0, ms_batch_own(batch, NULL));
        return;
    }
    ms_batch_frame(frame, batch, batch->columns, batch->column_count);
    ms_op_emit(op, 0, frame);
}

const uint16_t *msi_identity_make(ms_arena *arena)
{
    uint16_t *identity = ms_arena_array(arena, uint16_t, MS_BATCH_ROWS_MAX);
    for (uint32_t i = 0; i < MS_BATCH_ROWS_MAX; i++) {
        identity[i] = (uint16_t)i;
    }
    return identity;
}

void msi_slice(ms_batch *frame, const ms_batch *batch, uint32_t first, uint32_t end,
               const uint16_t *identity)
{
    MS_ASSERT(first <= end && end <= ms_batch_live(batch));
    ms_batch_frame(frame, batch, batch->columns, batch->column_count);
    if (first == 0 && end == ms_batch_live(batch)) {
        return;
    }
    frame->sel = (batch->sel != NULL ? batch->sel : identity) + first;
    frame->sel_count = end - first;
}

ms_rc msi_charge(ms_op *op, uint64_t *charged_bytes, uint64_t bytes)
{
    ms_account *account = op->ctx->env->account;
    if (bytes < *charged_bytes) {
        ms_account_unreserve(account, *charged_bytes - bytes);
    } else if (bytes > *charged_bytes &&
               ms_account_reserve(account, bytes - *charged_bytes, op->ctx->st) != MS_OK) {
        return ms_status_place(op->ctx->st, op->node->span);
    }
    *charged_bytes = bytes;
    return MS_OK;
}
