/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How anything reaches a worker from another thread. A worker has one parker, on which it sleeps
 * when it has nothing to do, and one mailbox, into which every other thread (the I/O pool, the
 * network loop, other workers, callbacks of plugins) pushes mails: finished jobs, completions of
 * asynchronous calls, commands of the coordinator. A mail is part of the thing it speaks of, so
 * pushing allocates nothing and cannot fail, and the number of mails is bounded by the number of
 * things.
 *
 *     static void flushed(ms_mail *mail)                       runs on the worker, later
 *     {
 *         flush *done = MS_MAIL_OWNER(mail, flush, mail);
 *         ...
 *     }
 *
 *     flush->mail.deliver = flushed;
 *     ms_mailbox_push(&worker->mailbox, &flush->mail);         any thread
 *
 *     for (;;) {                                               the worker
 *         bool busy = ms_mailbox_deliver(&worker->mailbox, 64) > 0;
 *         busy |= run_tasks(worker);
 *         if (!busy) {
 *             ms_parker_park(&worker->parker, next_timer_ns - ms_env_mono_ns());
 *         }
 *     }
 *
 * Mails come out in the order in which they were pushed, as far as that order exists. No wake-up is
 * lost: a push, or an unpark, that happens before the owner has gone to sleep makes its next park
 * return at once.
 *
 * Ownership: a mail belongs to the mailbox from push until it is popped, and to the popper then;
 * deliver may free it. Mailbox and parker stay until ms_mailbox_release has returned.
 */
#ifndef MS_OS_MAILBOX_H
#define MS_OS_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parking. */

/* Where one thread, the owner, sleeps until another one wakes it. Fields are private. */
typedef struct ms_parker {
    _Atomic uint32_t state;
    void (*wake)(void *arg); /* NULL: the owner sleeps in ms_parker_park */
    void *wake_arg;
} ms_parker;

#define MS_PARK_FOREVER INT64_MAX

void ms_parker_init(ms_parker *parker);

/*
 * Same for an owner that sleeps elsewhere, as in the wait of an event loop: the first unpark after
 * the owner took the last wake-up calls wake(arg), on the thread that unparks. The owner then takes
 * it with ms_parker_park(parker, 0), and looks for what it was woken for after that, not before;
 * it parks with no other timeout.
 */
void ms_parker_init_wake(ms_parker *parker, void (*wake)(void *arg), void *arg);

/*
 * Sleeps until unparked, at most timeout_ns of real time (0 and less: only takes a wake-up that is
 * pending). Returns true when there was a wake-up, which is then used up; false when the time ran
 * out.
 * Thread: the owner.
 */
bool ms_parker_park(ms_parker *parker, int64_t timeout_ns);

/*
 * Makes the owner's current park, or its next one, return. Several before that park count as one.
 * One atomic exchange when the owner is awake; a system call only when it sleeps. What the caller
 * wrote before is visible to the owner after its park. Thread: any.
 */
void ms_parker_unpark(ms_parker *parker);

/* Mails. */

typedef struct ms_mail {
    struct ms_mail *next;                  /* private */
    void (*deliver)(struct ms_mail *mail); /* set before the push */
} ms_mail;

/* The struct that holds this mail as a member. */
#define MS_MAIL_OWNER(mail, type, member) ((type *)(void *)((char *)(mail)-offsetof(type, member)))

/* Fields are private. */
typedef struct ms_mailbox {
    _Alignas(64) _Atomic(ms_mail *) pushed; /* newest first; any thread */
    _Atomic uint32_t wakes;                 /* that are over; any thread */
    _Alignas(64) ms_mail *taken;            /* oldest first; the owner */
    uint32_t takes;                         /* each was announced by one wake */
    ms_parker *parker;
} ms_mailbox;

/* parker is unparked when a mail arrives in an empty mailbox; borrowed. */
void ms_mailbox_init(ms_mailbox *mailbox, ms_parker *parker);

/*
 * Everything was popped, and nobody begins to push any more. Waits for those who pushed what was
 * popped, and are still on their way out: a mail is there to be popped a moment before its pusher
 * lets go of mailbox and parker, whose memory may go after this. May be called again. Thread: the
 * owner.
 */
void ms_mailbox_release(ms_mailbox *mailbox);

/* Thread: any. Lock-free. */
void ms_mailbox_push(ms_mailbox *mailbox, ms_mail *mail);

/* The oldest mail; NULL when there is none. Thread: the owner. */
ms_mail *ms_mailbox_pop(ms_mailbox *mailbox);

/* Pops up to mails_max mails and delivers each. Returns how many. Thread: the owner. */
size_t ms_mailbox_deliver(ms_mailbox *mailbox, size_t mails_max);

/* Outboxes. */

#define MS_OUTBOX_MAILBOXES 8

/*
 * Mails that one thread keeps back for a moment and then pushes together, so that the owner of a
 * mailbox is woken once for all of them and not, as often as not, once for each. Whoever keeps
 * mails back sends them before it waits for anything. Fields are private.
 */
typedef struct ms_outbox {
    struct {
        ms_mailbox *to;
        ms_mail *newest; /* linked to the oldest, as the mailbox wants them */
        ms_mail *oldest;
    } held[MS_OUTBOX_MAILBOXES];
    size_t count;
} ms_outbox;

/*
 * Keeps a mail for the next send; the mailbox must live until then. Mails to the same mailbox
 * arrive in the order in which they were put. Sends what is there first when it is for too many
 * mailboxes. A zeroed outbox is an empty one. Thread: the outbox's.
 */
void ms_outbox_put(ms_outbox *outbox, ms_mailbox *to, ms_mail *mail);

/* Pushes all mails; the outbox is empty then. Thread: the outbox's. */
void ms_outbox_send(ms_outbox *outbox);

#endif
