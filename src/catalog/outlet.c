/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two buffers that change places: the task fills one, a job writes the other. The job's fields
 * belong to the pool while it is in flight, and to the task otherwise.
 *
 *     flush: nothing in flight, lines there  -> change places, submit
 *     the job comes back:  all written       -> flush again
 *                          the rest waits    -> submit when the descriptor takes more
 *                          it failed         -> the status stays, lines are dropped from now on
 */
#include "catalog/outlet.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

/* More lines are refused beyond this: some ten batches of usual rows. */
#define FULL_BYTES (1u << 20)

/* The lines of one batch, which is accepted whole. */
#define LINES_BYTES_MAX (512u << 20)

struct ms_outlet {
    ms_iojob job; /* first */
    int fd;
    bool is_file; /* takes any number of bytes in one piece */
    ms_iopool *iopool;
    ms_waker waker;
    ms_completion *waits[MS_OUTLET_WAITS_MAX];
    uint32_t wait_count;

    ms_buf buffers[2];
    uint32_t filled; /* the buffer of the task */
    bool is_in_flight;
    bool is_destroyed;
    ms_status st;

    /* The job's. */
    ms_str rest;
    ms_status job_st;
};

/* The job. */

static bool takes_bytes(int fd)
{
    struct pollfd ask = {.fd = fd, .events = POLLOUT};
    return poll(&ask, 1, 0) > 0;
}

/* What may be written at once without blocking and without cutting a line that fits. */
static size_t piece_of(const ms_outlet *outlet, ms_str rest)
{
    if (outlet->is_file || rest.bytes <= PIPE_BUF) {
        return rest.bytes;
    }
    for (size_t bytes = PIPE_BUF; bytes > 0; bytes--) {
        if (rest.ptr[bytes - 1] == '\n') {
            return bytes;
        }
    }
    return PIPE_BUF;
}

static void write_lines(ms_iojob *job)
{
    ms_outlet *outlet = (ms_outlet *)job;
    while (outlet->rest.bytes > 0 && takes_bytes(outlet->fd)) {
        ssize_t wrote = write(outlet->fd, outlet->rest.ptr, piece_of(outlet, outlet->rest));
        if (wrote >= 0) {
            outlet->rest = ms_str_slice(outlet->rest, (size_t)wrote, outlet->rest.bytes);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno == EPIPE) {
            ms_status_set(&outlet->job_st, MS_CANCELED, ms_span_none,
                          "the reader of standard %s has gone",
                          outlet->fd == STDERR_FILENO ? "error" : "output");
            return;
        } else if (errno != EINTR) {
            ms_status_set_errno(&outlet->job_st, errno, "could not write to standard %s",
                                outlet->fd == STDERR_FILENO ? "error" : "output");
            return;
        }
    }
}

/* The task. */

/*
 * The end of an outlet. What was accepted before a failure is still for people to see, so that what
 * the descriptor takes at once is written, here and now: there is nobody left to come back to.
 */
static void end_outlet(ms_outlet *outlet)
{
    if (outlet->st.code == MS_OK && outlet->job_st.code == MS_OK) {
        write_lines(&outlet->job);
    }
    if (outlet->st.code == MS_OK && outlet->job_st.code == MS_OK && outlet->rest.bytes == 0) {
        outlet->rest = ms_buf_view(&outlet->buffers[outlet->filled]);
        write_lines(&outlet->job);
    }
    ms_buf_release(&outlet->buffers[0]);
    ms_buf_release(&outlet->buffers[1]);
    ms_mem_free(outlet);
}

static void answer(ms_outlet *outlet, const ms_status *st)
{
    for (uint32_t i = 0; i < outlet->wait_count; i++) {
        ms_done(outlet->waits[i], st->code, st->code != MS_OK ? st : NULL);
    }
    outlet->wait_count = 0;
}

static void fail(ms_outlet *outlet, const ms_status *st)
{
    outlet->st = *st;
    outlet->rest = (ms_str){0};
    answer(outlet, st);
}

static void come_back(ms_mail *mail)
{
    ms_outlet *outlet = MS_MAIL_OWNER(mail, ms_outlet, job.mail);
    outlet->is_in_flight = false;
    if (outlet->is_destroyed) {
        end_outlet(outlet);
        return;
    }
    if (outlet->job_st.code != MS_OK) {
        fail(outlet, &outlet->job_st);
    } else if (outlet->rest.bytes > 0) {
        ms_status st = {0};
        if (ms_iopool_submit_when(outlet->iopool, &outlet->job, outlet->fd, true, &st) == MS_OK) {
            outlet->is_in_flight = true;
            return;
        }
        fail(outlet, &st);
    }
    ms_outlet_flush(outlet);
    if (ms_outlet_is_idle(outlet)) {
        answer(outlet, &outlet->st);
    }
    ms_wake(&outlet->waker);
}

ms_outlet *ms_outlet_create(int fd, const ms_task_env *env)
{
    ms_outlet *outlet = ms_mem_calloc(1, sizeof(*outlet));
    struct stat info;
    *outlet = (ms_outlet){.job = {.run = write_lines, .reply_to = env->mailbox},
                          .fd = fd,
                          .is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode),
                          .iopool = env->iopool,
                          .waker = env->waker};
    outlet->job.mail.deliver = come_back;
    ms_buf_init(&outlet->buffers[0], LINES_BYTES_MAX);
    ms_buf_init(&outlet->buffers[1], LINES_BYTES_MAX);
    return outlet;
}

void ms_outlet_destroy(ms_outlet *outlet)
{
    if (outlet == NULL) {
        return;
    }
    ms_status st = {0};
    ms_status_set(&st, MS_CANCELED, ms_span_none, "the job ended before its lines were written");
    answer(outlet, &st);
    if (outlet->is_in_flight && !ms_iopool_withdraw(outlet->iopool, &outlet->job)) {
        outlet->is_destroyed = true;
        return;
    }
    end_outlet(outlet);
}

bool ms_outlet_has_room(const ms_outlet *outlet)
{
    return outlet->buffers[outlet->filled].bytes < FULL_BYTES;
}

ms_buf *ms_outlet_lines(ms_outlet *outlet)
{
    return &outlet->buffers[outlet->filled];
}

void ms_outlet_flush(ms_outlet *outlet)
{
    ms_buf *lines = &outlet->buffers[outlet->filled];
    if (outlet->st.code != MS_OK) {
        ms_buf_reset(lines);
        return;
    }
    if (outlet->is_in_flight || lines->bytes == 0) {
        return;
    }
    ms_status st = {0};
    outlet->rest = ms_buf_view(lines);
    outlet->filled ^= 1;
    ms_buf_reset(&outlet->buffers[outlet->filled]);
    if (ms_iopool_submit(outlet->iopool, &outlet->job, &st) == MS_OK) {
        outlet->is_in_flight = true;
    } else {
        fail(outlet, &st);
    }
}

bool ms_outlet_is_idle(const ms_outlet *outlet)
{
    bool has_lines = outlet->buffers[outlet->filled].bytes > 0;
    return outlet->st.code != MS_OK || (!outlet->is_in_flight && !has_lines);
}

void ms_outlet_when_idle(ms_outlet *outlet, ms_completion *completion)
{
    if (ms_outlet_is_idle(outlet)) {
        ms_done(completion, outlet->st.code, outlet->st.code != MS_OK ? &outlet->st : NULL);
    } else if (outlet->wait_count == MS_OUTLET_WAITS_MAX) {
        ms_status st = {0};
        ms_status_set(&st, MS_LIMIT, ms_span_none, "%u checkpoints wait for lines to be written",
                      MS_OUTLET_WAITS_MAX);
        ms_done(completion, st.code, &st);
    } else {
        outlet->waits[outlet->wait_count++] = completion;
    }
}

const ms_status *ms_outlet_status(const ms_outlet *outlet)
{
    return &outlet->st;
}
