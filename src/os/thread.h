/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, mutexes and condition variables. Few places use them: operators own no threads and take
 * no locks; what crosses a thread is a mail (os/mailbox.h) or an item of a channel.
 *
 *     ms_thread thread;
 *     MS_TRY(ms_thread_start(&thread, "worker 0", worker_main, worker, st));
 *     ...
 *     ms_thread_join(&thread);
 *
 *     ms_mutex mutex;
 *     ms_mutex_init(&mutex, MS_RANK_JOB);
 *     ms_mutex_lock(&mutex);
 *
 * Mutexes have ranks (base/limits.h); debug builds abort when one is taken out of order
 * (base/rank.h). They are not recursive.
 *
 * Ownership: each struct is the caller's memory and does not move while in use. Thread: any, as
 * each function says.
 */
#ifndef MS_OS_THREAD_H
#define MS_OS_THREAD_H

#include "base/status.h"

#include <pthread.h>

/* Threads. */

/* Fields are private. */
typedef struct ms_thread {
    pthread_t handle;
} ms_thread;

/*
 * Starts a thread that runs fn(arg). The name shows in debuggers and in top, cut to 15 bytes. All
 * signals are blocked in it: they are for the thread that started the process. Errors: MS_IO_ERROR
 * when the system has no more threads.
 */
ms_rc ms_thread_start(ms_thread *thread, const char *name, void (*fn)(void *arg), void *arg,
                      ms_status *st) MS_MUST_USE;

/* Waits for the end of a thread that was started; once per thread, from another one. */
void ms_thread_join(ms_thread *thread);

/* The processors that this process may run on; at least 1. */
int ms_thread_cpu_count(void);

/* Mutexes. */

/* Fields are private. */
typedef struct ms_mutex {
    pthread_mutex_t handle;
    int rank;
    int index;
} ms_mutex;

/* rank is one of MS_RANK_... */
void ms_mutex_init(ms_mutex *mutex, int rank);

/*
 * For a set of mutexes of one rank of which a thread may hold several, as the stripes of a lock
 * table: they are taken in ascending order of index. index is below MS_RANK_STRIPES.
 */
void ms_mutex_init_stripe(ms_mutex *mutex, int rank, int index);

/* The mutex is not held. */
void ms_mutex_release(ms_mutex *mutex);

void ms_mutex_lock(ms_mutex *mutex);
void ms_mutex_unlock(ms_mutex *mutex);

/* Condition variables. */

/* Fields are private. */
typedef struct ms_cond {
    pthread_cond_t handle;
} ms_cond;

void ms_cond_init(ms_cond *cond);
void ms_cond_release(ms_cond *cond);

/*
 * Gives the mutex back, waits, and takes it again. May return without a signal: the caller tests
 * its condition in a loop.
 */
void ms_cond_wait(ms_cond *cond, ms_mutex *mutex);

/* Same, for at most timeout_ns of real time (also under a test's clock). False: it ran out. */
bool ms_cond_wait_for(ms_cond *cond, ms_mutex *mutex, int64_t timeout_ns);

/* Wake one waiter, or all. Called with or without the mutex. */
void ms_cond_signal(ms_cond *cond);
void ms_cond_broadcast(ms_cond *cond);

#endif
