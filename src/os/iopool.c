/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One queue, a mutex, and threads that sleep on a condition variable. Jobs are counted in micro- to
 * milliseconds of disk, next to which a mutex is nothing.
 */
#include "os/iopool.h"

#include "base/limits.h"
#include "base/memory.h"
#include "os/thread.h"

#include <stdio.h>

#define THREADS_MAX 64

struct ms_iopool {
    ms_mutex mutex; /* guards all below but the threads */
    ms_cond arrived;
    ms_iojob *oldest;
    ms_iojob *newest;
    size_t queued;
    size_t queue_max;
    bool is_closing;
    int thread_count;
    ms_thread threads[THREADS_MAX];
};

/* The oldest job, with the mutex held; NULL when there is none. */
static ms_iojob *take_job(ms_iopool *pool)
{
    ms_iojob *job = pool->oldest;
    if (job != NULL) {
        pool->oldest = job->next;
        pool->newest = pool->oldest == NULL ? NULL : pool->newest;
        pool->queued--;
    }
    return job;
}

static void run_job(ms_iojob *job)
{
    /* After the push, or without one after run, the job is its owner's again, and may be gone. */
    ms_mailbox *reply_to = job->reply_to;
    job->run(job);
    if (reply_to != NULL) {
        ms_mailbox_push(reply_to, &job->mail);
    }
}

static void thread_main(void *arg)
{
    ms_iopool *pool = arg;
    ms_mutex_lock(&pool->mutex);
    for (;;) {
        ms_iojob *job = take_job(pool);
        if (job != NULL) {
            ms_mutex_unlock(&pool->mutex);
            run_job(job);
            ms_mutex_lock(&pool->mutex);
        } else if (pool->is_closing) {
            break;
        } else {
            ms_cond_wait(&pool->arrived, &pool->mutex);
        }
    }
    ms_mutex_unlock(&pool->mutex);
}

static ms_rc start_threads(ms_iopool *pool, int count, ms_status *st)
{
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "ms-io-%d", i);
        MS_TRY(ms_thread_start(&pool->threads[i], name, thread_main, pool, st));
        pool->thread_count++;
    }
    return MS_OK;
}

ms_rc ms_iopool_create(const ms_iopool_options *options, ms_iopool **pool_out, ms_status *st)
{
    *pool_out = NULL;
    int threads = options->threads != 0 ? options->threads : MS_IOPOOL_THREADS_DEFAULT;
    MS_ASSERT(threads > 0 && threads <= THREADS_MAX);
    ms_iopool *pool = ms_mem_calloc(1, sizeof(*pool));
    ms_mutex_init(&pool->mutex, MS_RANK_IOPOOL);
    ms_cond_init(&pool->arrived);
    pool->queue_max = options->queue_max != 0 ? options->queue_max : MS_IOPOOL_QUEUE_DEFAULT;
    if (start_threads(pool, options->is_stepped ? 0 : threads, st) != MS_OK) {
        ms_iopool_destroy(pool);
        return st->code;
    }
    *pool_out = pool;
    return MS_OK;
}

void ms_iopool_destroy(ms_iopool *pool)
{
    if (pool == NULL) {
        return;
    }
    ms_mutex_lock(&pool->mutex);
    pool->is_closing = true;
    ms_cond_broadcast(&pool->arrived);
    ms_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->thread_count; i++) {
        ms_thread_join(&pool->threads[i]);
    }
    while (ms_iopool_step(pool)) {
    }
    ms_cond_release(&pool->arrived);
    ms_mutex_release(&pool->mutex);
    ms_mem_free(pool);
}

ms_rc ms_iopool_submit(ms_iopool *pool, ms_iojob *job, ms_status *st)
{
    job->next = NULL;
    ms_mutex_lock(&pool->mutex);
    MS_ASSERT(!pool->is_closing);
    bool is_full = pool->queued >= pool->queue_max;
    if (!is_full) {
        if (pool->newest == NULL) {
            pool->oldest = job;
        } else {
            pool->newest->next = job;
        }
        pool->newest = job;
        pool->queued++;
        ms_cond_signal(&pool->arrived);
    }
    ms_mutex_unlock(&pool->mutex);
    if (is_full) {
        ms_status_set(st, MS_LIMIT, ms_span_none, "the queue of the I/O pool is full (%zu jobs)",
                      pool->queue_max);
        st->retriable = true;
        return st->code;
    }
    return MS_OK;
}

bool ms_iopool_step(ms_iopool *pool)
{
    ms_mutex_lock(&pool->mutex);
    ms_iojob *job = take_job(pool);
    ms_mutex_unlock(&pool->mutex);
    if (job == NULL) {
        return false;
    }
    run_job(job);
    return true;
}
