/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop is one thread that waits for sockets and timers (libuv) and runs what they lead to. All of
 * net/ lives on loops: a channel, a server's share of connections, and their calls belong to one
 * loop and are touched on its thread only. Everybody else reaches them with a mail to the loop's
 * mailbox, as one reaches a worker:
 *
 *     request->mail.deliver = start_call;                      runs on the loop's thread
 *     ms_mailbox_push(ms_loop_mailbox(loop), &request->mail);  any thread
 *
 * What runs on a loop may not block, wait for a lock that is held for long, or compute for more
 * than a millisecond: other calls wait meanwhile. A turn of the loop is: sockets, mails, timers
 * that are due, then everything that was to be sent, one write a connection.
 *
 * Timers are embedded in what they belong to. They go by ms_env_mono_ns(), so a test's clock moves
 * them; after moving it, the test wakes the loop with ms_loop_call().
 *
 * Ownership: the loop is its creator's; all that lives on it is destroyed first. Limits: none on
 * timers or mails, which are parts of bounded things.
 */
#ifndef MS_NET_LOOP_H
#define MS_NET_LOOP_H

#include "base/status.h"
#include "os/mailbox.h"

typedef struct ms_loop ms_loop;

/*
 * Starts a loop and its thread. The name shows in debuggers, cut to 15 bytes. Errors: MS_IO_ERROR
 * when the system refuses a thread or a descriptor. Thread: any.
 */
ms_rc ms_loop_create(const char *name, ms_loop **loop_out, ms_status *st) MS_MUST_USE;

/*
 * Delivers the mails that are there, waits until what was being closed is closed, and ends the
 * thread. Nobody pushes mails any more. NULL is allowed. Thread: any but the loop's.
 */
void ms_loop_destroy(ms_loop *loop);

/* Where mails to the loop go. Valid as long as the loop. Thread: any. */
ms_mailbox *ms_loop_mailbox(ms_loop *loop);

/*
 * Runs fn(arg) on the loop's thread and returns when it has run and the timers that are due have
 * fired: for setting up, tearing down and tests. Blocks. On the loop's own thread fn runs at once.
 * Thread: any.
 */
void ms_loop_call(ms_loop *loop, void (*fn)(void *arg), void *arg);

/*
 * For mails to others: what is put there is pushed when this turn of the loop is over, so that one
 * answer after the other does not wake whom they are for each by itself. Thread: loop.
 */
ms_outbox *ms_loop_outbox(ms_loop *loop);

/* True on the loop's own thread. */
bool ms_loop_is_current(const ms_loop *loop);

/* Timers. Thread: loop, for all of these. */

/* Fields are private. */
typedef struct ms_loop_timer {
    int64_t at_ns;
    size_t place; /* in the loop's heap, from 1; 0: not started */
    void (*fire)(struct ms_loop_timer *timer);
} ms_loop_timer;

/* The struct that holds this timer as a member. */
#define MS_LOOP_TIMER_OWNER(timer, type, member)                                                   \
    ((type *)(void *)((char *)(timer)-offsetof(type, member)))

/* fire runs on the loop's thread, once per start; the timer is stopped then, and may be started
 * again or freed by it. */
void ms_loop_timer_init(ms_loop_timer *timer, void (*fire)(ms_loop_timer *timer));

/* Starts a timer, or moves one that runs, to this moment of ms_env_mono_ns(). It never fires
 * before that, and never inside this function. */
void ms_loop_timer_start(ms_loop *loop, ms_loop_timer *timer, int64_t at_ns);

/* Afterwards the timer does not fire and its memory may go. A stopped timer stays stopped. */
void ms_loop_timer_stop(ms_loop *loop, ms_loop_timer *timer);

static inline bool ms_loop_timer_is_running(const ms_loop_timer *timer)
{
    return timer->place != 0;
}

/*
 * The time as of this turn of the loop, from ms_env_mono_ns(): exact to about the length of a turn
 * and cheaper than the clock. For deadlines, not for measurements.
 */
int64_t ms_loop_now_ns(ms_loop *loop);

#endif
