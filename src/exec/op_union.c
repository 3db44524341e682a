/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNION ALL: passes every row of every input on.
 *
 *     input 0: +I[1] +I[2]      input 1: +I[7]      ->   +I[1] +I[2] +I[7], in any interleaving
 *
 * The minimum of the inputs' watermarks and the alignment of barriers are the driver's work.
 */
#include "exec/exec_priv.h"

typedef struct op_union {
    ms_op op;
    ms_batch frame;
} op_union;

static ms_step union_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    msi_op_emit_through(op, batch, &((op_union *)op)->frame);
    return MS_DONE;
}

static const ms_op_class union_class = {.name = "Union",
                                        .open = msi_op_open_nothing,
                                        .batch = union_batch,
                                        .close = msi_op_close_nothing};

ms_op *msi_op_union_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_union *self = ms_arena_new(job_arena, op_union);
    self->op.klass = &union_class;
    return &self->op;
}
