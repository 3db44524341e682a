/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and locks over POSIX. Calls that fail only when their arguments are wrong are asserted:
 * there is nothing that a caller could do.
 */
#include "os/thread.h"

#include "base/memory.h"
#include "base/rank.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#define NAME_BYTES 16 /* the kernel's limit, with the NUL */

/* What a new thread is given; it frees this. */
typedef struct start {
    void (*fn)(void *arg);
    void *arg;
    char name[NAME_BYTES];
} start;

static void *run_thread(void *arg)
{
    start given = *(start *)arg;
    ms_mem_free(arg);
    pthread_setname_np(pthread_self(), given.name);
    given.fn(given.arg);
    return NULL;
}

ms_rc ms_thread_start(ms_thread *thread, const char *name, void (*fn)(void *arg), void *arg,
                      ms_status *st)
{
    start *given = ms_mem_alloc(sizeof(*given));
    given->fn = fn;
    given->arg = arg;
    snprintf(given->name, sizeof(given->name), "%s", name);

    /* A thread inherits the mask of the one that starts it, so the mask is set around the start. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread->handle, NULL, run_thread, given);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        ms_mem_free(given);
        return ms_status_set_errno(st, rc, "could not start the thread \"%s\"", name);
    }
    return MS_OK;
}

void ms_thread_join(ms_thread *thread)
{
    int rc = pthread_join(thread->handle, NULL);
    MS_ASSERT(rc == 0);
}

int ms_thread_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        /* More than CPU_SETSIZE processors: one is always a right answer. */
        return 1;
    }
    int count = CPU_COUNT(&set);
    return count > 0 ? count : 1;
}

void ms_mutex_init(ms_mutex *mutex, int rank)
{
    ms_mutex_init_stripe(mutex, rank, 0);
}

void ms_mutex_init_stripe(ms_mutex *mutex, int rank, int index)
{
    int rc = pthread_mutex_init(&mutex->handle, NULL);
    MS_ASSERT(rc == 0);
    mutex->rank = rank;
    mutex->index = index;
}

void ms_mutex_release(ms_mutex *mutex)
{
    int rc = pthread_mutex_destroy(&mutex->handle);
    MS_ASSERT(rc == 0);
}

void ms_mutex_lock(ms_mutex *mutex)
{
    ms_rank_enter(mutex->rank, mutex->index);
    int rc = pthread_mutex_lock(&mutex->handle);
    MS_ASSERT(rc == 0);
}

void ms_mutex_unlock(ms_mutex *mutex)
{
    /* Once it is unlocked, another thread may release the mutex and the memory that it is in. */
    int rank = mutex->rank;
    int index = mutex->index;
    int rc = pthread_mutex_unlock(&mutex->handle);
    MS_ASSERT(rc == 0);
    ms_rank_leave(rank, index);
}

void ms_cond_init(ms_cond *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    /* Deadlines do not move when somebody sets the clock of the machine. */
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int rc = pthread_cond_init(&cond->handle, &attributes);
    MS_ASSERT(rc == 0);
    pthread_condattr_destroy(&attributes);
}

void ms_cond_release(ms_cond *cond)
{
    int rc = pthread_cond_destroy(&cond->handle);
    MS_ASSERT(rc == 0);
}

/* While it waits the thread does not hold the mutex, and takes it again without a new check: it was
 * in order the first time. */
void ms_cond_wait(ms_cond *cond, ms_mutex *mutex)
{
    int rc = pthread_cond_wait(&cond->handle, &mutex->handle);
    MS_ASSERT(rc == 0);
}

bool ms_cond_wait_for(ms_cond *cond, ms_mutex *mutex, int64_t timeout_ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t nanos = timeout_ns > 0 ? timeout_ns : 0;
    until.tv_sec += (time_t)(nanos / 1000000000);
    until.tv_nsec += (long)(nanos % 1000000000);
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    int rc = pthread_cond_timedwait(&cond->handle, &mutex->handle, &until);
    MS_ASSERT(rc == 0 || rc == ETIMEDOUT);
    return rc == 0;
}

void ms_cond_signal(ms_cond *cond)
{
    pthread_cond_signal(&cond->handle);
}

void ms_cond_broadcast(ms_cond *cond)
{
    pthread_cond_broadcast(&cond->handle);
}
