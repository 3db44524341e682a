/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parker is one word that the owner and its wakers agree on:
 *
 *     EMPTY --park--> PARKED --unpark--> NOTIFIED --park returns--> EMPTY
 *     EMPTY --unpark--> NOTIFIED --park returns at once--> EMPTY
 *
 * A mailbox is a stack that anybody pushes on, and a list that only the owner reads. When its list
 * is used up, the owner takes the whole stack with one exchange and turns it round:
 *
 *     pushed --> c --> b --> a        exchange        taken --> a --> b --> c
 *
 * There is no state in which a mail is there but cannot be reached, as queues with a tail pointer
 * have between their two writes; and taking all at once leaves no room for the ABA problem.
 *
 * Why no wake-up is lost: a pusher that finds the stack empty unparks after its push. The owner
 * parks only after it found the stack empty. If its exchange came before the push, the unpark comes
 * after the exchange, so the park that follows returns. If the stack was not empty, an earlier
 * pusher's unpark is still to be seen by a park, or the owner is already on its way to the stack.
 *
 * Between its push and the end of its unpark a pusher still uses the mailbox, while the owner may
 * already have popped its mail and have no more use for either. There is one unpark for each stack
 * that is taken, so both sides count, and the owner waits until the counts agree.
 */
#include "os/mailbox.h"

#include "base/status.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PARKER_EMPTY, PARKER_PARKED, PARKER_NOTIFIED };

/* The kernel sleeps only while the word still has this value. until is a moment of the monotonic
 * clock, NULL for none. Returns errno, or 0. */
static int futex_wait(_Atomic uint32_t *word, uint32_t while_value, const struct timespec *until)
{
    long rc = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, while_value, until,
                      NULL, FUTEX_BITSET_MATCH_ANY);
    return rc == 0 ? 0 : errno;
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

/* Now plus timeout_ns; false when that is so far away that it means never. */
static bool deadline_after(int64_t timeout_ns, struct timespec *until_out)
{
    clock_gettime(CLOCK_MONOTONIC, until_out);
    int64_t now_ns = (int64_t)until_out->tv_sec * 1000000000 + until_out->tv_nsec;
    int64_t until_ns = 0;
    if (__builtin_add_overflow(now_ns, timeout_ns, &until_ns)) {
        return false;
    }
    until_out->tv_sec = (time_t)(until_ns / 1000000000);
    until_out->tv_nsec = (long)(until_ns % 1000000000);
    return true;
}

void ms_parker_init(ms_parker *parker)
{
    ms_parker_init_wake(parker, NULL, NULL);
}

void ms_parker_init_wake(ms_parker *parker, void (*wake)(void *arg), void *arg)
{
    atomic_init(&parker->state, PARKER_EMPTY);
    parker->wake = wake;
    parker->wake_arg = arg;
}

/* Uses up a wake-up. Order acquire: partner is the release of the exchange in ms_parker_unpark, so
 * that what the waker wrote is visible. */
static bool take_notice(ms_parker *parker)
{
    uint32_t expected = PARKER_NOTIFIED;
    return atomic_compare_exchange_strong_explicit(&parker->state, &expected, PARKER_EMPTY,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Goes from EMPTY to PARKED. Fails when a wake-up came first. Order relaxed: nothing is read on the
 * strength of this. */
static bool announce(ms_parker *parker)
{
    uint32_t expected = PARKER_EMPTY;
    return atomic_compare_exchange_strong_explicit(&parker->state, &expected, PARKER_PARKED,
                                                   memory_order_relaxed, memory_order_relaxed);
}

bool ms_parker_park(ms_parker *parker, int64_t timeout_ns)
{
    if (take_notice(parker)) {
        return true;
    }
    if (timeout_ns <= 0) {
        return false;
    }
    MS_ASSERT(parker->wake == NULL);
    struct timespec until;
    bool has_deadline = deadline_after(timeout_ns, &until);
    if (!announce(parker)) {
        return take_notice(parker);
    }
    for (;;) {
        int error = futex_wait(&parker->state, PARKER_PARKED, has_deadline ? &until : NULL);
        if (take_notice(parker)) {
            return true;
        }
        if (error == ETIMEDOUT) {
            /* A wake-up between the check above and here counts. Order acquire, as above. */
            return atomic_exchange_explicit(&parker->state, PARKER_EMPTY, memory_order_acquire) ==
                   PARKER_NOTIFIED;
        }
        /* EINTR, EAGAIN, or a wake-up of the kernel's own: sleep again. */
    }
}

void ms_parker_unpark(ms_parker *parker)
{
    /* Read before the exchange: after it, the owner may go on and end the parker. */
    void (*wake)(void *arg) = parker->wake;
    void *wake_arg = parker->wake_arg;
    /* Order release: partner is take_notice. An exchange even when the state is NOTIFIED already:
     * a mere look would not publish what this caller wrote, and the owner could miss it. */
    uint32_t before =
        atomic_exchange_explicit(&parker->state, PARKER_NOTIFIED, memory_order_release);
    if (wake != NULL) {
        /* NOTIFIED: an earlier unpark has called, or is about to, and the owner has yet to take
         * it. */
        if (before != PARKER_NOTIFIED) {
            wake(wake_arg);
        }
    } else if (before == PARKER_PARKED) {
        futex_wake(&parker->state);
    }
}

void ms_mailbox_init(ms_mailbox *mailbox, ms_parker *parker)
{
    atomic_init(&mailbox->pushed, NULL);
    atomic_init(&mailbox->wakes, 0);
    mailbox->taken = NULL;
    mailbox->takes = 0;
    mailbox->parker = parker;
}

void ms_mailbox_release(ms_mailbox *mailbox)
{
    MS_ASSERT(mailbox->taken == NULL);
    /* Order relaxed: nobody begins to push any more. */
    MS_ASSERT(atomic_load_explicit(&mailbox->pushed, memory_order_relaxed) == NULL);
    /* Order acquire: partner is the release in push_chain. It is a matter of a few instructions,
     * unless the pusher lost its processor. */
    while (atomic_load_explicit(&mailbox->wakes, memory_order_acquire) != mailbox->takes) {
        sched_yield();
    }
}

/* Pushes a chain, which is linked from its newest mail to its oldest. */
static void push_chain(ms_mailbox *mailbox, ms_mail *chain_newest, ms_mail *chain_oldest)
{
    /* The first load may be stale, the exchange checks it. Order release: partner is the acquire
     * exchange in take_pushed; it publishes the mails and what they stand for. */
    ms_mail *newest = atomic_load_explicit(&mailbox->pushed, memory_order_relaxed);
    do {
        chain_oldest->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(&mailbox->pushed, &newest, chain_newest,
                                                    memory_order_release, memory_order_relaxed));
    /* From here on the mails may be gone. */
    if (newest == NULL) {
        ms_parker_unpark(mailbox->parker);
        /* The last that is done with the mailbox. Order release: partner is ms_mailbox_release. */
        atomic_fetch_add_explicit(&mailbox->wakes, 1, memory_order_release);
    }
}

void ms_mailbox_push(ms_mailbox *mailbox, ms_mail *mail)
{
    push_chain(mailbox, mail, mail);
}

/* Takes all that was pushed, oldest first. */
static ms_mail *take_pushed(ms_mailbox *mailbox)
{
    /* Order relaxed for the look, which spares the exchange when there is nothing. A push that it
     * misses has its unpark still to come. */
    if (atomic_load_explicit(&mailbox->pushed, memory_order_relaxed) == NULL) {
        return NULL;
    }
    /* Order acquire: partner is the release in ms_mailbox_push. */
    ms_mail *at = atomic_exchange_explicit(&mailbox->pushed, NULL, memory_order_acquire);
    mailbox->takes++;
    ms_mail *oldest = NULL;
    while (at != NULL) {
        ms_mail *older = at->next;
        at->next = oldest;
        oldest = at;
        at = older;
    }
    return oldest;
}

ms_mail *ms_mailbox_pop(ms_mailbox *mailbox)
{
    if (mailbox->taken == NULL) {
        mailbox->taken = take_pushed(mailbox);
    }
    ms_mail *mail = mailbox->taken;
    if (mail != NULL) {
        mailbox->taken = mail->next;
        mail->next = NULL;
    }
    return mail;
}

size_t ms_mailbox_deliver(ms_mailbox *mailbox, size_t mails_max)
{
    size_t count = 0;
    while (count < mails_max) {
        ms_mail *mail = ms_mailbox_pop(mailbox);
        if (mail == NULL) {
            break;
        }
        mail->deliver(mail);
        count++;
    }
    return count;
}

void ms_outbox_put(ms_outbox *outbox, ms_mailbox *to, ms_mail *mail)
{
    for (size_t i = 0; i < outbox->count; i++) {
        if (outbox->held[i].to == to) {
            mail->next = outbox->held[i].newest;
            outbox->held[i].newest = mail;
            return;
        }
    }
    if (outbox->count == MS_OUTBOX_MAILBOXES) {
        ms_outbox_send(outbox);
    }
    mail->next = NULL;
    outbox->held[outbox->count].to = to;
    outbox->held[outbox->count].newest = mail;
    outbox->held[outbox->count].oldest = mail;
    outbox->count++;
}

void ms_outbox_send(ms_outbox *outbox)
{
    for (size_t i = 0; i < outbox->count; i++) {
        push_chain(outbox->held[i].to, outbox->held[i].newest, outbox->held[i].oldest);
    }
    outbox->count = 0;
}
