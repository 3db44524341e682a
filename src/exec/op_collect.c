/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a SELECT: hands rows to the result of the statement. When the result has no room for
 * all of a batch, the driver brings the batch again once the reader of the result took some.
 */
#include "exec/exec_priv.h"

typedef struct op_collect {
    ms_op op;
    uint32_t next; /* the first live row of the batch at hand that was not taken */
} op_collect;

static ms_step collect_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    op_collect *self = (op_collect *)op;
    self->next += op->host->collect(op, batch, self->next);
    if (self->next < ms_batch_live(batch) && ms_status_is_ok(op->ctx->st)) {
        return MS_BLOCKED;
    }
    self->next = 0;
    return MS_DONE;
}

/* Nobody is behind the result. */
static ms_step collect_watermark(ms_op *op, ms_time_ms watermark)
{
    (void)op;
    (void)watermark;
    return MS_DONE;
}

static const ms_op_class collect_class = {.name = "Collect",
                                          .open = msi_op_open_nothing,
                                          .batch = collect_batch,
                                          .watermark = collect_watermark,
                                          .close = msi_op_close_nothing};

ms_op *msi_op_collect_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_collect *self = ms_arena_new(job_arena, op_collect);
    self->op.klass = &collect_class;
    return &self->op;
}
