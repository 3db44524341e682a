/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filter, then projections, in one program.
 *
 *     WHERE b > 1, SELECT a, b * 2        +I[x, 1] +I[y, 2] -U[z, 3]   ->   +I[y, 4] -U[z, 6]
 *
 * Rows keep their kinds and positions: the filter narrows the selection and columns that are only
 * passed on are borrowed. When a row fails, the rows before it are emitted first and the operator
 * asks to be called again; the failure is reported by that second call. So it does with the rest of
 * a batch whose results are too large to be there at once.
 */
#include "exec/eval.h"

typedef struct op_calc {
    ms_op op;
    msi_eval eval;
    ms_batch frame;
    ms_eval_error error; /* to be reported: the rows before it were emitted */
} op_calc;

static ms_rc calc_open(ms_op *op, ms_op_ctx *ctx)
{
    (void)ctx;
    const ms_program_spec spec = {.filter = op->node->u.calc.filter,
                                  .outputs = op->node->u.calc.exprs,
                                  .output_count = op->node->u.calc.expr_count,
                                  .input = &op->node->inputs[0]->schema,
                                  .config = msi_eval_config(op)};
    return msi_eval_open(&((op_calc *)op)->eval, op, &spec);
}

static ms_step report(op_calc *self, const ms_batch *batch)
{
    ms_eval_error error = self->error;
    self->error = (ms_eval_error){0};
    msi_eval_report(&self->eval, batch, &error);
    return MS_DONE;
}

static ms_step calc_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    op_calc *self = (op_calc *)op;
    if (self->error.code != MS_OK) {
        return report(self, batch);
    }
    bool is_left = msi_eval_run(&self->eval, batch, &self->frame, &self->error);
    bool has_rows = ms_batch_live(&self->frame) > 0;
    if (has_rows) {
        ms_op_emit(op, 0, &self->frame);
    }
    if (__builtin_expect(self->error.code == MS_OK, 1)) {
        return is_left ? MS_MORE : MS_DONE;
    }
    return has_rows ? MS_MORE : report(self, batch);
}

static void calc_close(ms_op *op)
{
    msi_eval_close(&((op_calc *)op)->eval);
}

static const ms_op_class calc_class = {
    .name = "Calc", .open = calc_open, .batch = calc_batch, .close = calc_close};

ms_op *msi_op_calc_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_calc *self = ms_arena_new(job_arena, op_calc);
    self->op.klass = &calc_class;
    return &self->op;
}
