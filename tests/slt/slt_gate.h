/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate behind the sources of jobs: lets a number of rows pass, then holds every source, also its
 * end, until more are let through. So a job can be interrupted in the middle of its input, and it
 * is known how many rows its sources have given out.
 *
 *     slt_gate_install(engine);
 *     slt_gate_begin(100);                       before the job starts
 *     ...
 *     if (slt_gate_wait(job)) {                  sources are held behind row 100 or a little more
 *         ... take a checkpoint ...
 *         slt_gate_allow(slt_gate_rows() + 1);   at least one row more
 *     }
 *
 * A batch passes as a whole, so that somewhat more rows than allowed may pass, and batches of
 * subtasks that were let in together.
 *
 * Thread: that of the runner. One job at a time is behind the gate.
 */
#ifndef MS_TESTS_SLT_SLT_GATE_H
#define MS_TESTS_SLT_SLT_GATE_H

#include "millstream/millstream.h"
#include "runtime/job.h"

#define SLT_GATE_OPEN UINT64_MAX

/* The sources of the jobs of this engine are behind the gate. */
void slt_gate_install(ms_engine *engine);

/* Counts from 0 and lets this many rows pass. */
void slt_gate_begin(uint64_t rows);

/* Lets this many rows pass in all, and wakes the sources that are held. */
void slt_gate_allow(uint64_t rows);

/* Waits until the rows allowed have passed; false when the job ended before. */
bool slt_gate_wait(ms_job *job);

/* The rows that have passed, and those of them that came from tables (the others are VALUES). */
uint64_t slt_gate_rows(void);
uint64_t slt_gate_table_rows(void);

#endif
