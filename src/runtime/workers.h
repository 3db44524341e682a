/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process-wide pool of workers: the threads on which the tasks and coordinators of all jobs
 * run. A worker runs one task at a time for a bounded turn and parks when it has nothing to do; a
 * thread is started when the first task is given to its worker, so an idle engine has none.
 *
 *     ms_workers *workers = NULL;
 *     MS_TRY(ms_workers_create(&(ms_workers_options){.iopool = iopool}, &workers, st));
 *     ... create, run and destroy jobs (runtime/job.h) ...
 *     ms_iopool_destroy(iopool);
 *     ms_workers_destroy(workers);
 *
 * A stepped pool has no threads: its one worker runs when ms_workers_step is called, or inside a
 * call that waits for a job, and picks among runnable tasks with a seeded generator. With a stepped
 * I/O pool and a test's clock (base/env.h) a run is repeated from its seed.
 *
 * Ownership: the pool outlives its jobs and the I/O pool. Thread: main, where not stated otherwise.
 */
#ifndef MS_RUNTIME_WORKERS_H
#define MS_RUNTIME_WORKERS_H

#include "os/iopool.h"

typedef struct ms_workers ms_workers;

/* Zero means the default. */
typedef struct ms_workers_options {
    uint32_t count;    /* threads; 0: one a processor; at most MS_WORKERS_MAX */
    ms_iopool *iopool; /* borrowed, for file work and connectors */
    bool is_stepped;   /* one worker without a thread */
    uint64_t seed;     /* of a stepped pool's choices */
} ms_workers_options;

#define MS_WORKERS_MAX 256u /* more threads than this only compete for processors */

ms_rc ms_workers_create(const ms_workers_options *options, ms_workers **workers_out,
                        ms_status *st) MS_MUST_USE;

/*
 * Waits until every completion that was handed out has come back, and ends the threads. All jobs
 * were destroyed. NULL is fine.
 */
void ms_workers_destroy(ms_workers *workers);

uint32_t ms_workers_count(const ms_workers *workers);

/*
 * Stepped pools: delivers what has arrived, runs one turn of one runnable task, and, when there is
 * none, one job of the I/O pool where that is stepped too. False when there was nothing to do.
 */
bool ms_workers_step(ms_workers *workers);

#endif
