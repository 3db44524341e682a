/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program is the compiled form of a filter and a list of output expressions over one input: a
 * flat list of vector instructions with registers, const and shared. An evaluator is its running
 * instance: registers for rows_max rows, reused batch after batch.
 *
 *     const ms_program *program;
 *     MS_TRY(ms_program_compile(job_arena, &spec, &program, st));          once, at planning
 *     ms_evaluator *ev = ms_evaluator_create(program, rows_max);           once a task
 *
 *     ms_batch frame;                                                      per batch
 *     ms_eval_error error;
 *     ms_evaluator_run(ev, batch, &frame, &error);
 *     if (ms_batch_live(&frame) > 0) {
 *         emit(op, &frame);
 *     }
 *     if (error.code != MS_OK) {
 *         return ms_evaluator_explain(ev, batch, &error, st);
 *     }
 *     if (error.is_cut) {
 *         ... run again over the rows from error.row on ...
 *     }
 *
 * Columns that are passed through are borrowed from the batch; computed ones live in the evaluator
 * until its next run; strings that a function made live there too. Nothing is allocated per batch
 * after warm-up. Row positions, row kinds and the selection of the input stay; a filter narrows the
 * selection.
 *
 * Errors. A failing row is not an exception: every value carries a lane of failed rows. CASE, IF,
 * AND, OR, COALESCE and the filter run their parts under a narrowed selection, so that the fault of
 * a row counts only when its value is consumed. Of the faults that count, the run reports the one
 * of the lowest row, and in that row the one whose span starts leftmost. The frame then holds the
 * live rows before it, to be emitted first.
 *
 * Size. What a run makes of strings is bounded by MS_BATCH_BYTES_TARGET, or is that of one row: a
 * run over rows whose results are larger ends early, behind at least one live row, as if the next
 * row had failed, and is continued by a run over a selection of the rest. Row results are a
 * function of the row: a function with effects must not be part of a program that may be cut.
 *
 * Thread: a program: any; an evaluator: one task. Limits: rows_max is at most MS_BATCH_ROWS_MAX.
 */
#ifndef MS_EXPR_PROGRAM_H
#define MS_EXPR_PROGRAM_H

#include "expr/expr.h"
#include "type/batch.h"

#include <stdatomic.h>

typedef struct ms_program ms_program;
typedef struct ms_evaluator ms_evaluator;

/* What to compile; borrowed during the call only, but for the statement text behind the spans. */
typedef struct ms_program_spec {
    const ms_expr *filter; /* BOOLEAN; NULL: no filter */
    const ms_expr *const *outputs;
    uint32_t output_count; /* 0 is fine: a filter alone; the frame then has the input's columns */
    const ms_schema *input;
    ms_eval_config config;
} ms_program_spec;

/* Compiles into the arena. Constant parts are folded, but for those that fail. */
ms_rc ms_program_compile(ms_arena *job_arena, const ms_program_spec *spec,
                         const ms_program **program_out, ms_status *st) MS_MUST_USE;

/* The types of the outputs, named by position; the input's schema when there are none. */
const ms_schema *ms_program_output(const ms_program *program);

/* True when a run can report an error. */
bool ms_program_can_fail(const ms_program *program);

/*
 * How many rows a run should have at most, so that the lists which the program makes of its
 * operands stay within MS_BATCH_BYTES_TARGET: their size is known beforehand. At least 1.
 */
uint32_t ms_program_rows_max(const ms_program *program);

/* The instructions, one a line: for EXPLAIN of internals and for tests. */
ms_str ms_program_text(ms_arena *arena, const ms_program *program);

/* Makes an instance for batches of at most rows_max rows (and capacity). */
ms_evaluator *ms_evaluator_create(const ms_program *program, uint32_t rows_max);
void ms_evaluator_destroy(ms_evaluator *ev); /* NULL is fine */

/*
 * Makes runs look at this flag, borrowed for the evaluator's life: once it is true, a run ends
 * soon, with an empty frame and MS_CANCELED at its first row.
 */
void ms_evaluator_watch(ms_evaluator *ev, const _Atomic bool *canceled);

/* Bytes held, for the accountant. */
size_t ms_evaluator_bytes(const ms_evaluator *ev);

typedef struct ms_eval_error {
    ms_rc code;   /* MS_OK: no row failed */
    uint32_t row; /* its position in the batch */
    ms_span span; /* of the expression that failed */
    bool is_cut;  /* with MS_OK: the rows from `row` on are left for another run */
} ms_eval_error;

/*
 * Evaluates one batch. The frame holds the result for the live rows before the first failing one,
 * or the first that is left, all of them when there is none.
 */
void ms_evaluator_run(ms_evaluator *ev, const ms_batch *batch, ms_batch *frame_out,
                      ms_eval_error *error_out);

/* Fills st with the reported error: code, span, and a message with the value at fault. Returns its
 * code. Call before the next run and while the batch is alive. */
ms_rc ms_evaluator_explain(ms_evaluator *ev, const ms_batch *batch, const ms_eval_error *error,
                           ms_status *st);

/*
 * Integer results that wrapped and decimal results that became NULL, since the evaluator was made.
 */
uint64_t ms_evaluator_overflows(const ms_evaluator *ev);

#endif
