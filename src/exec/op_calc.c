/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filter, then projections, in one program.
 *
 *     WHERE b > 1, SELECT a, b * 2        +I[x, 1] +I[y, 2] -U[z, 3]   ->   +I[y, 4] -U[z, 6]
 *
 * Rows keep their kinds and positions: the filter narrows the selection and columns that are only
 * passed on are borrowed. When a row fails, the rows before it are emitted first and the operator
 * asks to be called again; the failure is reported by that second call.
 */
#include "exec/exec_priv.h"

#include "expr/program.h"

typedef struct op_calc {
    ms_op op;
    ms_evaluator *evaluator;
    ms_batch frame;
    ms_eval_error error; /* to be reported: the rows before it were emitted */
} op_calc;

static ms_rc calc_open(ms_op *op, ms_op_ctx *ctx)
{
    op_calc *self = (op_calc *)op;
    const ms_program_spec spec = {.filter = op->node->u.calc.filter,
                                  .outputs = op->node->u.calc.exprs,
                                  .output_count = op->node->u.calc.expr_count,
                                  .input = &op->node->inputs[0]->schema,
                                  .config = msi_eval_config(op)};
    const ms_program *program = NULL;
    MS_TRY(ms_program_compile(ctx->job_arena, &spec, &program, ctx->st));
    /* Slices of a batch keep its positions, so that rows may lie beyond env->batch_rows. */
    self->evaluator = ms_evaluator_create(program, MS_BATCH_ROWS_MAX);
    return MS_OK;
}

static ms_step report(op_calc *self, const ms_batch *batch)
{
    ms_eval_error error = self->error;
    self->error = (ms_eval_error){0};
    ms_evaluator_explain(self->evaluator, batch, &error, self->op.ctx->st);
    ms_status_place(self->op.ctx->st, self->op.node->span);
    return MS_DONE;
}

static ms_step calc_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    op_calc *self = (op_calc *)op;
    if (self->error.code != MS_OK) {
        return report(self, batch);
    }
    ms_evaluator_run(self->evaluator, batch, &self->frame, &self->error);
    bool has_rows = ms_batch_live(&self->frame) > 0;
    if (has_rows) {
        ms_op_emit(op, 0, &self->frame);
    }
    if (__builtin_expect(self->error.code == MS_OK, 1)) {
        return MS_DONE;
    }
    return has_rows ? MS_MORE : report(self, batch);
}

static void calc_close(ms_op *op)
{
    op_calc *self = (op_calc *)op;
    ms_evaluator_destroy(self->evaluator);
    self->evaluator = NULL;
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
