/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "os/mailbox.h"
#include "os/thread.h"

#include <sys/resource.h>
#include <time.h>

#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)

/* Parking. */

static void a_wakeup_before_the_park_is_not_lost(void **state)
{
    (void)state;
    ms_parker parker;
    ms_parker_init(&parker);
    ms_parker_unpark(&parker);
    ms_parker_unpark(&parker);
    assert_true(ms_parker_park(&parker, MS_PARK_FOREVER));
    /* Two wake-ups before the park count as one. */
    assert_false(ms_parker_park(&parker, 0));
    ms_parker_unpark(&parker);
    assert_true(ms_parker_park(&parker, 0));
}

static void a_park_runs_out(void **state)
{
    (void)state;
    ms_parker parker;
    ms_parker_init(&parker);
    int64_t start = ms_env_mono_ns();
    assert_false(ms_parker_park(&parker, 20 * MILLISECOND));
    assert_true(ms_env_mono_ns() - start >= 20 * MILLISECOND);
    assert_false(ms_parker_park(&parker, -1));
    ms_parker_unpark(&parker);
    assert_true(ms_parker_park(&parker, 20 * MILLISECOND));
}

static void a_parked_thread_uses_no_processor(void **state)
{
    (void)state;
    ms_parker parker;
    ms_parker_init(&parker);
    struct rusage before;
    struct rusage after;
    getrusage(RUSAGE_THREAD, &before);
    assert_false(ms_parker_park(&parker, 200 * MILLISECOND));
    getrusage(RUSAGE_THREAD, &after);
    int64_t used_us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000 +
                      (after.ru_utime.tv_usec - before.ru_utime.tv_usec);
    assert_true(used_us < 50000);
}

/* A parker whose owner sleeps elsewhere. */

static void count_wake(void *arg)
{
    (*(int *)arg)++;
}

static void a_parker_with_a_hook_wakes_once_per_notice(void **state)
{
    (void)state;
    int wakes = 0;
    ms_parker parker;
    ms_parker_init_wake(&parker, count_wake, &wakes);
    assert_false(ms_parker_park(&parker, 0));
    ms_parker_unpark(&parker);
    ms_parker_unpark(&parker);
    assert_int_equal(wakes, 1);
    assert_true(ms_parker_park(&parker, 0));
    assert_false(ms_parker_park(&parker, 0));
    ms_parker_unpark(&parker);
    assert_int_equal(wakes, 2);
}

static void a_mail_wakes_through_the_hook(void **state)
{
    (void)state;
    int wakes = 0;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_mail mails[2] = {0};
    ms_parker_init_wake(&parker, count_wake, &wakes);
    ms_mailbox_init(&mailbox, &parker);
    ms_mailbox_push(&mailbox, &mails[0]);
    ms_mailbox_push(&mailbox, &mails[1]);
    assert_int_equal(wakes, 1);
    assert_true(ms_parker_park(&parker, 0));
    assert_ptr_equal(ms_mailbox_pop(&mailbox), &mails[0]);
    /* The mailbox is not empty, but its owner has looked since it was woken. */
    assert_ptr_equal(ms_mailbox_pop(&mailbox), &mails[1]);
    ms_mailbox_push(&mailbox, &mails[0]);
    assert_int_equal(wakes, 2);
    assert_ptr_equal(ms_mailbox_pop(&mailbox), &mails[0]);
    ms_mailbox_release(&mailbox);
}

/* Plain memory that only the wake-up hands over: ThreadSanitizer sees a race without its order. */
typedef struct handover {
    ms_parker parker;
    _Alignas(64) int written; /* apart: the tool remembers a few accesses per word */
} handover;

static void write_and_unpark(void *arg)
{
    handover *to = arg;
    to->written = 42;
    ms_parker_unpark(&to->parker);
}

static void what_was_written_before_an_unpark_is_seen_after_the_park(void **state)
{
    (void)state;
    ms_status st = {0};
    for (int i = 0; i < 100; i++) {
        /* Not on the stack, where the tool does not look as closely. */
        static handover to;
        to.written = 0;
        ms_thread writer;
        ms_parker_init(&to.parker);
        assert_ok(ms_thread_start(&writer, "writer", write_and_unpark, &to, &st));
        assert_true(ms_parker_park(&to.parker, i % 2 == 0 ? MS_PARK_FOREVER : 60 * SECOND));
        assert_int_equal(to.written, 42);
        ms_thread_join(&writer);
    }
}

/* Two threads wake each other in turn: one lost wake-up and the test hangs. */
typedef struct ping_pong {
    ms_parker parkers[2];
    _Atomic int turn;
    int rounds;
} ping_pong;

static void play(ping_pong *game, int me)
{
    for (int i = 0; i < game->rounds; i++) {
        while (atomic_load_explicit(&game->turn, memory_order_relaxed) != me) {
            ms_parker_park(&game->parkers[me], MS_PARK_FOREVER);
        }
        atomic_store_explicit(&game->turn, 1 - me, memory_order_relaxed);
        ms_parker_unpark(&game->parkers[1 - me]);
    }
}

static void play_second(void *arg)
{
    play(arg, 1);
}

static void no_wakeup_is_lost_in_a_ping_pong(void **state)
{
    (void)state;
    ms_status st = {0};
    ping_pong game = {.rounds = 20000};
    ms_thread second;
    ms_parker_init(&game.parkers[0]);
    ms_parker_init(&game.parkers[1]);
    assert_ok(ms_thread_start(&second, "second", play_second, &game, &st));
    play(&game, 0);
    ms_thread_join(&second);
}

/* Mails. */

typedef struct letter {
    ms_mail mail;
    int sender;
    int number;
    int *delivered;
} letter;

static void count_delivery(ms_mail *mail)
{
    letter *got = MS_MAIL_OWNER(mail, letter, mail);
    *got->delivered = *got->delivered * 10 + got->number;
}

static void mails_come_out_in_order(void **state)
{
    (void)state;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_parker_init(&parker);
    ms_mailbox_init(&mailbox, &parker);
    int delivered = 0;
    letter letters[5];
    for (int i = 0; i < 5; i++) {
        letters[i] = (letter){.mail.deliver = count_delivery, .number = i + 1};
        letters[i].delivered = &delivered;
    }
    assert_null(ms_mailbox_pop(&mailbox));
    ms_mailbox_push(&mailbox, &letters[0].mail);
    ms_mailbox_push(&mailbox, &letters[1].mail);
    ms_mailbox_push(&mailbox, &letters[2].mail);
    assert_true(ms_parker_park(&parker, 0));
    assert_int_equal(ms_mailbox_deliver(&mailbox, 2), 2);
    ms_mailbox_push(&mailbox, &letters[3].mail);
    ms_mailbox_push(&mailbox, &letters[4].mail);
    assert_ptr_equal(ms_mailbox_pop(&mailbox), &letters[2].mail);
    assert_int_equal(ms_mailbox_deliver(&mailbox, 100), 2);
    assert_int_equal(ms_mailbox_deliver(&mailbox, 100), 0);
    assert_int_equal(delivered, 1245);
    ms_mailbox_release(&mailbox);
}

static void release_with_mail(void *arg)
{
    ms_mailbox_release(arg);
}

static void a_mailbox_with_mail_is_not_released(void **state)
{
    (void)state;
    ms_parker parker;
    ms_mailbox mailbox;
    letter one = {.number = 1};
    ms_parker_init(&parker);
    ms_mailbox_init(&mailbox, &parker);
    ms_mailbox_push(&mailbox, &one.mail);
    assert_aborts(release_with_mail, &mailbox);
}

enum { SENDERS = 4, LETTERS = 20000 };

typedef struct sender {
    ms_mailbox *to;
    letter *letters;
    int id;
} sender;

static void send_all(void *arg)
{
    sender *from = arg;
    for (int i = 0; i < LETTERS; i++) {
        from->letters[i].sender = from->id;
        from->letters[i].number = i;
        ms_mailbox_push(from->to, &from->letters[i].mail);
    }
}

/* The receiver sleeps whenever it finds nothing: every letter arrives, each sender's in order. */
static void many_senders_one_receiver(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_parker parker;
    ms_mailbox mailbox;
    ms_thread threads[SENDERS];
    sender senders[SENDERS];
    int next[SENDERS] = {0};
    ms_parker_init(&parker);
    ms_mailbox_init(&mailbox, &parker);
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (sender){&mailbox, calloc(LETTERS, sizeof(letter)), i};
        assert_ok(ms_thread_start(&threads[i], "sender", send_all, &senders[i], &st));
    }
    int left = SENDERS * LETTERS;
    while (left > 0) {
        ms_mail *mail = ms_mailbox_pop(&mailbox);
        if (mail == NULL) {
            assert_true(ms_parker_park(&parker, 60 * SECOND));
            continue;
        }
        letter *got = MS_MAIL_OWNER(mail, letter, mail);
        assert_int_equal(got->number, next[got->sender]++);
        /* The letter is the receiver's now: writing to it must not race with the sender. */
        memset(got, 0xFF, sizeof(*got));
        left--;
    }
    for (int i = 0; i < SENDERS; i++) {
        ms_thread_join(&threads[i]);
        free(senders[i].letters);
    }
    ms_mailbox_release(&mailbox);
}

/* A mail that is sent round and round: the same address comes back while others push, which is
 * where a careless stack of this kind breaks. */
typedef struct relay {
    ms_mailbox boxes[2];
    ms_parker parkers[2];
    letter letters[3];
    int hops;
} relay;

static void pass_on(relay *all, int me, int hops)
{
    while (hops > 0) {
        ms_mail *mail = ms_mailbox_pop(&all->boxes[me]);
        if (mail == NULL) {
            assert_true(ms_parker_park(&all->parkers[me], 60 * SECOND));
            continue;
        }
        MS_MAIL_OWNER(mail, letter, mail)->number++;
        ms_mailbox_push(&all->boxes[1 - me], mail);
        hops--;
    }
}

static void pass_on_second(void *arg)
{
    relay *all = arg;
    pass_on(all, 1, all->hops);
}

static void mails_may_be_sent_again(void **state)
{
    (void)state;
    ms_status st = {0};
    relay all = {.hops = 30000};
    ms_thread second;
    for (int i = 0; i < 2; i++) {
        ms_parker_init(&all.parkers[i]);
        ms_mailbox_init(&all.boxes[i], &all.parkers[i]);
    }
    for (int i = 0; i < 3; i++) {
        ms_mailbox_push(&all.boxes[0], &all.letters[i].mail);
    }
    assert_ok(ms_thread_start(&second, "second", pass_on_second, &all, &st));
    pass_on(&all, 0, all.hops);
    ms_thread_join(&second);
    int found = 0;
    int hops = 0;
    for (int i = 0; i < 2; i++) {
        ms_mail *mail;
        while ((mail = ms_mailbox_pop(&all.boxes[i])) != NULL) {
            hops += MS_MAIL_OWNER(mail, letter, mail)->number;
            found++;
        }
        ms_mailbox_release(&all.boxes[i]);
    }
    assert_int_equal(found, 3);
    assert_int_equal(hops, 2 * all.hops);
}

/* A pusher that is on its way out. */

typedef struct slow_pusher {
    ms_parker parker;
    ms_mailbox mailbox;
    ms_mail mail;
    _Atomic bool is_waking;
    _Atomic bool is_being_released;
    _Atomic bool is_out;
} slow_pusher;

static void wake_slowly(void *arg)
{
    slow_pusher *own = arg;
    atomic_store(&own->is_waking, true);
    while (!atomic_load(&own->is_being_released)) {
    }
    struct timespec moment = {.tv_nsec = 20 * MILLISECOND};
    nanosleep(&moment, NULL);
    atomic_store(&own->is_out, true);
}

static void push_slowly(void *arg)
{
    slow_pusher *own = arg;
    ms_mailbox_push(&own->mailbox, &own->mail);
}

static void a_mailbox_is_released_when_its_pushers_are_out(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_thread pusher;
    slow_pusher own = {.is_waking = false};
    ms_parker_init_wake(&own.parker, wake_slowly, &own);
    ms_mailbox_init(&own.mailbox, &own.parker);
    assert_ok(ms_thread_start(&pusher, "pusher", push_slowly, &own, &st));
    while (!atomic_load(&own.is_waking)) {
    }
    assert_ptr_equal(ms_mailbox_pop(&own.mailbox), &own.mail);
    atomic_store(&own.is_being_released, true);
    ms_mailbox_release(&own.mailbox);
    assert_true(atomic_load(&own.is_out));
    ms_mailbox_release(&own.mailbox);
    ms_thread_join(&pusher);
}

/* Outboxes. */

typedef struct inbox {
    ms_parker parker;
    ms_mailbox mailbox;
    letter letters[3];
    int wakes;
    int delivered;
} inbox;

static void make_inboxes(inbox *inboxes, int count)
{
    for (int i = 0; i < count; i++) {
        inbox *it = &inboxes[i];
        *it = (inbox){.wakes = 0};
        ms_parker_init_wake(&it->parker, count_wake, &it->wakes);
        ms_mailbox_init(&it->mailbox, &it->parker);
        for (int k = 0; k < 3; k++) {
            it->letters[k] = (letter){
                .mail.deliver = count_delivery, .number = k + 1, .delivered = &it->delivered};
        }
    }
}

static void an_outbox_keeps_mails_back_and_wakes_each_owner_once(void **state)
{
    (void)state;
    inbox inboxes[2];
    make_inboxes(inboxes, 2);
    ms_outbox outbox = {.count = 0};
    for (int k = 0; k < 3; k++) {
        ms_outbox_put(&outbox, &inboxes[0].mailbox, &inboxes[0].letters[k].mail);
        ms_outbox_put(&outbox, &inboxes[1].mailbox, &inboxes[1].letters[k].mail);
    }
    assert_null(ms_mailbox_pop(&inboxes[0].mailbox));
    assert_int_equal(inboxes[0].wakes, 0);
    ms_outbox_send(&outbox);
    ms_outbox_send(&outbox);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(inboxes[i].wakes, 1);
        assert_int_equal(ms_mailbox_deliver(&inboxes[i].mailbox, 64), 3);
        assert_int_equal(inboxes[i].delivered, 123);
        ms_mailbox_release(&inboxes[i].mailbox);
    }
}

static void an_outbox_for_too_many_mailboxes_sends_and_keeps_the_order(void **state)
{
    (void)state;
    enum { MANY = MS_OUTBOX_MAILBOXES + 3 };
    inbox inboxes[MANY];
    make_inboxes(inboxes, MANY);
    ms_outbox outbox = {.count = 0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < MANY; i++) {
            ms_outbox_put(&outbox, &inboxes[i].mailbox, &inboxes[i].letters[k].mail);
        }
    }
    ms_outbox_send(&outbox);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(ms_mailbox_deliver(&inboxes[i].mailbox, 64), 3);
        assert_int_equal(inboxes[i].delivered, 123);
        ms_mailbox_release(&inboxes[i].mailbox);
    }
}

static void mails_put_behind_others_come_after_them(void **state)
{
    (void)state;
    inbox own;
    make_inboxes(&own, 1);
    ms_outbox outbox = {.count = 0};
    ms_mailbox_push(&own.mailbox, &own.letters[0].mail);
    ms_outbox_put(&outbox, &own.mailbox, &own.letters[1].mail);
    ms_outbox_send(&outbox);
    ms_mailbox_push(&own.mailbox, &own.letters[2].mail);
    assert_int_equal(own.wakes, 1);
    assert_int_equal(ms_mailbox_deliver(&own.mailbox, 64), 3);
    assert_int_equal(own.delivered, 123);
    ms_mailbox_release(&own.mailbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wakeup_before_the_park_is_not_lost),
        cmocka_unit_test(a_park_runs_out),
        cmocka_unit_test(a_parked_thread_uses_no_processor),
        cmocka_unit_test(a_parker_with_a_hook_wakes_once_per_notice),
        cmocka_unit_test(a_mail_wakes_through_the_hook),
        cmocka_unit_test(what_was_written_before_an_unpark_is_seen_after_the_park),
        cmocka_unit_test(no_wakeup_is_lost_in_a_ping_pong),
        cmocka_unit_test(mails_come_out_in_order),
        cmocka_unit_test(a_mailbox_with_mail_is_not_released),
        cmocka_unit_test(many_senders_one_receiver),
        cmocka_unit_test(mails_may_be_sent_again),
        cmocka_unit_test(a_mailbox_is_released_when_its_pushers_are_out),
        cmocka_unit_test(an_outbox_keeps_mails_back_and_wakes_each_owner_once),
        cmocka_unit_test(an_outbox_for_too_many_mailboxes_sends_and_keeps_the_order),
        cmocka_unit_test(mails_put_behind_others_come_after_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
