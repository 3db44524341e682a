/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scalar interpreter: evaluates a typed expression for one row, over values, by walking the
 * tree. It is written for clarity and shares no code with the vector kernels, so that the two check
 * each other; it words the errors of failing rows, folds constants, and evaluates conditions whose
 * columns do not come from one batch (pattern matching, join residuals).
 *
 *     ms_interp in = {.arena = scratch, .config = config, .column = read_column, .ctx = row};
 *     ms_value value;
 *     MS_TRY(ms_interp_eval(&in, expr, &value, st));
 *
 * An error has the span of the expression that failed. As everywhere, of two faults in one row the
 * one whose span starts leftmost is reported, and one in a branch that is not taken is none.
 *
 * Ownership: the value borrows from the row, from constants, or from the arena. Thread: any.
 */
#ifndef MS_EXPR_INTERP_H
#define MS_EXPR_INTERP_H

#include "expr/expr.h"
#include "type/batch.h"

typedef struct ms_interp {
    ms_arena *arena;
    ms_eval_config config;
    /* Reads input column `index` of the current row. Not called for constant expressions. */
    ms_value (*column)(void *ctx, ms_arena *arena, uint32_t index);
    void *ctx;
} ms_interp;

ms_rc ms_interp_eval(const ms_interp *in, const ms_expr *expr, ms_value *value_out,
                     ms_status *st) MS_MUST_USE;

/* Same, with the columns of one row of a batch. */
ms_rc ms_interp_eval_row(ms_arena *arena, const ms_eval_config *config, const ms_expr *expr,
                         const ms_batch *batch, uint32_t row, ms_value *value_out,
                         ms_status *st) MS_MUST_USE;

/*
 * Folds a constant expression to a CONST. One that fails, or is not constant, comes back as it is.
 */
const ms_expr *ms_interp_fold(ms_arena *arena, const ms_eval_config *config, const ms_expr *expr);

#endif
