/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few threads for work that blocks but ends by itself: reading and writing files, syncing them,
 * reads of the store. A worker hands a job over, goes on, and gets it back as a mail.
 *
 *     typedef struct flush {
 *         ms_iojob job;
 *         ms_status st;
 *         ...
 *     } flush;
 *
 *     flush->job = (ms_iojob){.run = write_segment, .reply_to = &worker->mailbox};
 *     flush->job.mail.deliver = flushed;
 *     MS_TRY(ms_iopool_submit(pool, &flush->job, st));
 *
 * A job may not wait: not for another job, not for a consumer, not for a lock that a waiting job
 * could hold, and not for the outside world (pipes, terminals and sockets are polled by the loop).
 * So a queue in front of few threads always moves. A job takes some milliseconds at most, or does
 * its work in turns, so that those behind it move too. A job finishes only through its mail, never
 * inside ms_iopool_submit. A job that nobody waits for (the turns of the store's commit queue) has
 * no reply_to and may submit itself again as the last thing it does.
 *
 * The queue is bounded: a submit beyond the limit is refused, and the caller keeps the job. Callers
 * have a bounded number of jobs each, so that the limit is met only when something is wrong. A job
 * that works for many callers, of which there is one at a time, goes before all others and is never
 * refused: it stands for a queue of its own.
 *
 * Ownership: a job is the caller's memory; the pool uses it from submit until its mail is popped.
 * The pool is destroyed before the mailboxes that jobs reply to.
 */
#ifndef MS_OS_IOPOOL_H
#define MS_OS_IOPOOL_H

#include "base/status.h"
#include "os/mailbox.h"

#define MS_IOPOOL_THREADS_DEFAULT 4   /* enough to keep a disk busy; more only queue there */
#define MS_IOPOOL_QUEUE_DEFAULT 4096u /* jobs waiting: a hundred for each of forty subtasks */

typedef struct ms_iopool ms_iopool;

typedef struct ms_iojob {
    ms_mail mail;                      /* mail.deliver is set before submit */
    void (*run)(struct ms_iojob *job); /* on a thread of the pool */
    ms_mailbox *reply_to;  /* NULL: nobody is told, and run is the last to touch the job */
    struct ms_iojob *next; /* private */
    int wait_fd;           /* private */
    bool waits_to_write;   /* private */
    bool goes_first;       /* set before submit */
} ms_iojob;

/* Jobs that wait for the outside at a time: two standard streams for each of 128 subtasks. */
#define MS_IOPOOL_WAITS_MAX 256u

/* Zero means the default. */
typedef struct ms_iopool_options {
    int threads;
    size_t queue_max;
    /* No threads: jobs run only when ms_iopool_step is called. For deterministic runs and tests. */
    bool is_stepped;
} ms_iopool_options;

/* Thread: main. Errors: MS_IO_ERROR when the threads cannot be started. */
ms_rc ms_iopool_create(const ms_iopool_options *options, ms_iopool **pool_out,
                       ms_status *st) MS_MUST_USE;

/* Runs what is queued to its end, and stops. NULL is allowed. Thread: main. */
void ms_iopool_destroy(ms_iopool *pool);

/* Queues a job. Errors: MS_LIMIT, retriable, when the queue is full; none for one that goes first.
 * Thread: any. */
ms_rc ms_iopool_submit(ms_iopool *pool, ms_iojob *job, ms_status *st) MS_MUST_USE;

/*
 * Queues a job once the outside is ready for it: when fd, a pipe, terminal or socket, can be read
 * or written without blocking, has failed, or was hung up. Regular files are always ready. The job
 * asks again before it reads or writes, since another process may have been faster, and does no
 * more than what cannot block. Errors: MS_LIMIT, retriable, when too many jobs wait; MS_IO_ERROR
 * when the system has no more threads. Thread: any.
 */
ms_rc ms_iopool_submit_when(ms_iopool *pool, ms_iojob *job, int fd, bool to_write,
                            ms_status *st) MS_MUST_USE;

/*
 * Takes back a job that still waits for its descriptor: it is the caller's again, and will not run.
 * False: it is queued or running, and its mail comes. Thread: any.
 */
bool ms_iopool_withdraw(ms_iopool *pool, ms_iojob *job) MS_MUST_USE;

/*
 * Runs the oldest queued job of a stepped pool on the calling thread and sends its mail. False when
 * none is queued. Thread: one at a time.
 */
bool ms_iopool_step(ms_iopool *pool);

#endif
