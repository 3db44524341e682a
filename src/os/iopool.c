/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One queue, a mutex, and threads that sleep on a condition variable. Jobs are counted in micro- to
 * milliseconds of disk, next to which a mutex is nothing.
 *
 * Jobs that wait for the outside are in a list of their own. One more thread, started with the
 * first of them, sleeps in poll() over their descriptors, and over one by which it is told of
 * changes; it moves what has become ready to the queue. A stepped pool looks at them when its queue
 * is empty.
 */
#include "os/iopool.h"

#include "base/limits.h"
#include "base/memory.h"
#include "os/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define THREADS_MAX 64

struct ms_iopool {
    ms_mutex mutex; /* guards all below but the threads */
    ms_cond arrived;
    ms_iojob *oldest;
    ms_iojob *newest;
    size_t queued;
    size_t queue_max;
    int idle_count;  /* threads that wait for arrived */
    int woken_count; /* of these, threads that were signaled and have yet to take the mutex */
    bool is_closing;
    bool is_stepped;
    ms_iojob *waiting;
    uint32_t waiting_count;
    bool has_watcher;
    int changed_fd; /* an eventfd: the list of waiting jobs has changed */
    ms_thread watcher;
    int thread_count;
    ms_thread threads[THREADS_MAX];
};

/*
 * Wakes a thread for the queue, with the mutex held, unless one is on its way: it wakes the next
 * when it has taken its job and more are there. So a burst of short jobs costs a few wake-ups, not
 * one each, and a job that blocks holds none of the others up.
 */
static void wake_thread(ms_iopool *pool)
{
    if (pool->queued > 0 && pool->woken_count == 0 && pool->idle_count > 0) {
        pool->woken_count++;
        ms_cond_signal(&pool->arrived);
    }
}

/* Adds a job to the queue, with the mutex held. */
static void queue_job(ms_iopool *pool, ms_iojob *job)
{
    job->next = job->goes_first ? pool->oldest : NULL;
    if (pool->newest == NULL || job->goes_first) {
        pool->oldest = job;
    } else {
        pool->newest->next = job;
    }
    pool->newest = job->next == NULL ? job : pool->newest;
    pool->queued++;
    wake_thread(pool);
}

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

/* With the mutex held. A wake-up that nobody asked for counts as one that somebody did: at worst a
 * thread is woken for nothing, or wakes itself. */
static void wait_for_jobs(ms_iopool *pool)
{
    pool->idle_count++;
    ms_cond_wait(&pool->arrived, &pool->mutex);
    pool->idle_count--;
    pool->woken_count -= pool->woken_count > 0 ? 1 : 0;
}

static void thread_main(void *arg)
{
    ms_iopool *pool = arg;
    ms_mutex_lock(&pool->mutex);
    for (;;) {
        ms_iojob *job = take_job(pool);
        if (job != NULL) {
            wake_thread(pool);
            ms_mutex_unlock(&pool->mutex);
            run_job(job);
            ms_mutex_lock(&pool->mutex);
        } else if (pool->is_closing) {
            break;
        } else {
            wait_for_jobs(pool);
        }
    }
    ms_mutex_unlock(&pool->mutex);
}

/* Waiting for the outside. */

/* What poll() is asked, and how it answered: one entry a waiting job, in the order of the list. */
typedef struct poll_list {
    struct pollfd fds[MS_IOPOOL_WAITS_MAX + 1];
    nfds_t count;
} poll_list;

/* With the mutex held. */
static void fill_list(const ms_iopool *pool, poll_list *list)
{
    list->count = 0;
    for (const ms_iojob *job = pool->waiting; job != NULL; job = job->next) {
        list->fds[list->count++] =
            (struct pollfd){.fd = job->wait_fd, .events = job->waits_to_write ? POLLOUT : POLLIN};
    }
}

/* The list may have changed since: a job is ready when any entry says so of its descriptor. */
static bool is_ready(const poll_list *list, const ms_iojob *job)
{
    short wanted = job->waits_to_write ? POLLOUT : POLLIN;
    for (nfds_t i = 0; i < list->count; i++) {
        if (list->fds[i].fd == job->wait_fd &&
            (list->fds[i].revents & (wanted | POLLERR | POLLHUP | POLLNVAL)) != 0) {
            return true;
        }
    }
    return false;
}

/* Queues the jobs that are ready, with the mutex held. */
static void queue_ready(ms_iopool *pool, const poll_list *list)
{
    ms_iojob **link = &pool->waiting;
    while (*link != NULL) {
        ms_iojob *job = *link;
        if (is_ready(list, job)) {
            *link = job->next;
            pool->waiting_count--;
            queue_job(pool, job);
        } else {
            link = &job->next;
        }
    }
}

/* With the mutex held. The counter of an eventfd cannot run full of ones. */
static void tell_watcher(ms_iopool *pool)
{
    uint64_t one = 1;
    if (pool->has_watcher && write(pool->changed_fd, &one, sizeof(one)) < 0) {
        MS_ASSERT(errno == EAGAIN);
    }
}

static void watcher_main(void *arg)
{
    ms_iopool *pool = arg;
    poll_list list;
    ms_mutex_lock(&pool->mutex);
    while (!pool->is_closing) {
        fill_list(pool, &list);
        nfds_t jobs = list.count;
        list.fds[jobs] = (struct pollfd){.fd = pool->changed_fd, .events = POLLIN};
        ms_mutex_unlock(&pool->mutex);
        int answered = poll(list.fds, jobs + 1, -1);
        uint64_t changes = 0;
        if (answered > 0 && list.fds[jobs].revents != 0 &&
            read(pool->changed_fd, &changes, sizeof(changes)) < 0) {
            MS_ASSERT(errno == EAGAIN || errno == EINTR);
        }
        ms_mutex_lock(&pool->mutex);
        if (answered > 0) {
            queue_ready(pool, &list);
        }
    }
    ms_mutex_unlock(&pool->mutex);
}

/* With the mutex held. */
static ms_rc need_watcher(ms_iopool *pool, ms_status *st)
{
    if (pool->has_watcher || pool->is_stepped) {
        return MS_OK;
    }
    pool->changed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pool->changed_fd < 0) {
        return ms_status_set_errno(st, errno, "could not make an event descriptor");
    }
    if (ms_thread_start(&pool->watcher, "ms-io-wait", watcher_main, pool, st) != MS_OK) {
        close(pool->changed_fd);
        return st->code;
    }
    pool->has_watcher = true;
    return MS_OK;
}

ms_rc ms_iopool_submit_when(ms_iopool *pool, ms_iojob *job, int fd, bool to_write, ms_status *st)
{
    job->wait_fd = fd;
    job->waits_to_write = to_write;
    ms_mutex_lock(&pool->mutex);
    MS_ASSERT(!pool->is_closing);
    ms_rc rc = MS_OK;
    if (pool->waiting_count >= MS_IOPOOL_WAITS_MAX) {
        rc = ms_status_set(st, MS_LIMIT, ms_span_none,
                           "too many jobs (%u) wait for pipes and terminals", MS_IOPOOL_WAITS_MAX);
        st->retriable = true;
    } else {
        rc = need_watcher(pool, st);
    }
    if (rc == MS_OK) {
        job->next = pool->waiting;
        pool->waiting = job;
        pool->waiting_count++;
        tell_watcher(pool);
    }
    ms_mutex_unlock(&pool->mutex);
    return rc;
}

bool ms_iopool_withdraw(ms_iopool *pool, ms_iojob *job)
{
    bool found = false;
    ms_mutex_lock(&pool->mutex);
    for (ms_iojob **link = &pool->waiting; *link != NULL && !found; link = &(*link)->next) {
        found = *link == job;
        if (found) {
            *link = job->next;
            pool->waiting_count--;
            tell_watcher(pool);
            break;
        }
    }
    ms_mutex_unlock(&pool->mutex);
    return found;
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
    pool->changed_fd = -1;
    pool->is_stepped = options->is_stepped;
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
    MS_ASSERT(pool->waiting == NULL); /* withdrawn by their owners */
    ms_cond_broadcast(&pool->arrived);
    tell_watcher(pool);
    ms_mutex_unlock(&pool->mutex);
    if (pool->has_watcher) {
        ms_thread_join(&pool->watcher);
        close(pool->changed_fd);
    }
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
    ms_mutex_lock(&pool->mutex);
    MS_ASSERT(!pool->is_closing);
    bool is_full = pool->queued >= pool->queue_max && !job->goes_first;
    if (!is_full) {
        queue_job(pool, job);
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
    if (pool->oldest == NULL && pool->waiting != NULL) {
        poll_list list;
        fill_list(pool, &list);
        if (poll(list.fds, list.count, 0) > 0) {
            queue_ready(pool, &list);
        }
    }
    ms_iojob *job = take_job(pool);
    ms_mutex_unlock(&pool->mutex);
    if (job == NULL) {
        return false;
    }
    run_job(job);
    return true;
}
