/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs over parts of a batch. The usual batch is one run over all of it; a part is a selection of
 * the same rows at the same positions, so that results and failures need no translation.
 */
#include "exec/eval.h"

ms_rc msi_eval_open(msi_eval *eval, ms_op *op, const ms_program_spec *spec)
{
    const ms_program *program = NULL;
    *eval = (msi_eval){.op = op};
    MS_TRY(ms_program_compile(op->ctx->job_arena, spec, &program, op->ctx->st));
    /* Slices of a batch keep its positions, so that rows may lie beyond env->batch_rows. */
    eval->evaluator = ms_evaluator_create(program, MS_BATCH_ROWS_MAX);
    ms_evaluator_watch(eval->evaluator, op->ctx->env->canceled);
    eval->identity = msi_identity_make(op->ctx->job_arena);
    eval->rows_max = ms_program_rows_max(program);
    eval->rows = eval->rows_max;
    return MS_OK;
}

void msi_eval_close(msi_eval *eval)
{
    if (eval->evaluator != NULL) {
        ms_evaluator_destroy(eval->evaluator);
        eval->evaluator = NULL;
        (void)msi_charge(eval->op, &eval->charged_bytes, 0);
    }
}

/* How many of the rows of the run come before the one at a position. */
static uint32_t rows_before(const ms_batch *rows, uint32_t position)
{
    uint32_t count = 0;
    while (ms_batch_row(rows, count) < position) {
        count++;
    }
    return count;
}

bool msi_eval_run(msi_eval *eval, const ms_batch *batch, ms_batch *frame_out,
                  ms_eval_error *error_out)
{
    uint32_t live = ms_batch_live(batch);
    uint32_t count = live - eval->next < eval->rows ? live - eval->next : eval->rows;
    msi_slice(&eval->slice, batch, eval->next, eval->next + count, eval->identity);
    ms_evaluator_run(eval->evaluator, &eval->slice, frame_out, error_out);
    if (error_out->is_cut) {
        uint32_t done = rows_before(&eval->slice, error_out->row);
        MS_ASSERT(done > 0);
        msi_slice(&eval->slice, batch, eval->next, eval->next + done, eval->identity);
        eval->rows = done;
        count = done;
    } else {
        eval->rows = eval->rows > eval->rows_max / 2 ? eval->rows_max : 2 * eval->rows;
    }
    eval->next += count;
    uint64_t held = ms_evaluator_bytes(eval->evaluator);
    bool fails = msi_charge(eval->op, &eval->charged_bytes, held) != MS_OK;
    bool is_left = error_out->code == MS_OK && !fails && eval->next < live;
    eval->next = is_left ? eval->next : 0;
    return is_left;
}

const ms_batch *msi_eval_rows(const msi_eval *eval)
{
    return &eval->slice;
}

void msi_eval_report(msi_eval *eval, const ms_batch *batch, const ms_eval_error *error)
{
    ms_evaluator_explain(eval->evaluator, batch, error, eval->op->ctx->st);
    ms_status_place(eval->op->ctx->st, eval->op->node->span);
}
