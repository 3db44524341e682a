/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a SELECT: hands rows to the result of the statement. When the result has no room, the
 * batch is not accepted and the driver brings it again once the reader of the result took some.
 */
#include "exec/exec_priv.h"

static ms_step collect_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    if (!op->host->collect(op, batch)) {
        return MS_BLOCKED;
    }
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
    ms_op *op = ms_arena_new(job_arena, ms_op);
    op->klass = &collect_class;
    return op;
}
