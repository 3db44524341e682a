/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions over the batches of an operator, a run at a time: a batch whose results take too much
 * memory is evaluated in several runs over some of its rows, and what the evaluator holds is
 * charged to the operator's account.
 *
 *     do {
 *         is_left = msi_eval_run(&self->eval, batch, &frame, &error);
 *         ... the rows of the frame; the failure, if error.code is not MS_OK ...
 *     } while (is_left);
 *
 * How many rows the next run takes follows from the runs before: as many as had room in the last
 * one that was cut, and twice as many after each one that was not.
 *
 * Ownership: the frame is the evaluator's and lives until its next run. Thread: task.
 */
#ifndef MS_EXEC_EVAL_H
#define MS_EXEC_EVAL_H

#include "exec/exec_priv.h"
#include "expr/program.h"

/* Fields are private. */
typedef struct msi_eval {
    ms_op *op;
    ms_evaluator *evaluator;
    const uint16_t *identity;
    ms_batch slice;    /* of the batch at hand */
    uint32_t next;     /* its first live row that was not evaluated */
    uint32_t rows;     /* of the next run at most */
    uint32_t rows_max; /* of any run */
    uint64_t charged_bytes;
} msi_eval;

/* Compiles the program; the spec is borrowed during the call. Failure leaves what close takes. */
ms_rc msi_eval_open(msi_eval *eval, ms_op *op, const ms_program_spec *spec) MS_MUST_USE;
void msi_eval_close(msi_eval *eval);

/*
 * Evaluates the next rows of the batch, which is the same one until the answer is false: then all
 * were evaluated, or one failed. Memory that the account refuses is a failure of the operator, in
 * ctx->st.
 */
bool msi_eval_run(msi_eval *eval, const ms_batch *batch, ms_batch *frame_out,
                  ms_eval_error *error_out);

/* The rows of the last run, as a part of the batch. */
const ms_batch *msi_eval_rows(const msi_eval *eval);

/* Fails the operator with what a run reported, at the place of the expression or of the node. */
void msi_eval_report(msi_eval *eval, const ms_batch *batch, const ms_eval_error *error);

#endif
