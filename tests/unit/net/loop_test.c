/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "net/loop_priv.h"
#include "os/thread.h"

#include <stdatomic.h>

#define MS_NS INT64_C(1000000)
#define S_NS INT64_C(1000000000)

static ms_loop *make_loop(void)
{
    ms_status st = {0};
    ms_loop *loop = NULL;
    assert_ok(ms_loop_create("loop", &loop, &st));
    return loop;
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* Mails. */

typedef struct letter {
    ms_mail mail;
    ms_loop *loop;
    ms_parker *arrived;
    int *order;
    int number;
} letter;

static void note_arrival(ms_mail *mail)
{
    letter *own = MS_MAIL_OWNER(mail, letter, mail);
    assert_true(ms_loop_is_current(own->loop));
    assert_int_equal(*own->order, own->number);
    (*own->order)++;
    ms_parker_unpark(own->arrived);
}

static void mails_are_delivered_in_order_on_the_loops_thread(void **state)
{
    (void)state;
    ms_loop *loop = make_loop();
    static letter letters[3000];
    ms_parker arrived;
    int order = 0;
    ms_parker_init(&arrived);
    assert_false(ms_loop_is_current(loop));
    for (int i = 0; i < 3000; i++) {
        letters[i] = (letter){.mail = {.deliver = note_arrival},
                              .loop = loop,
                              .arrived = &arrived,
                              .order = &order,
                              .number = i};
        ms_mailbox_push(ms_loop_mailbox(loop), &letters[i].mail);
    }
    ms_loop_call(loop, do_nothing, NULL);
    assert_int_equal(order, 3000);
    assert_true(ms_parker_park(&arrived, 0));
    ms_loop_destroy(loop);
}

static void a_loop_delivers_what_is_there_before_it_ends(void **state)
{
    (void)state;
    ms_loop *loop = make_loop();
    ms_parker arrived;
    int order = 0;
    ms_parker_init(&arrived);
    letter last = {.mail = {.deliver = note_arrival},
                   .loop = loop,
                   .arrived = &arrived,
                   .order = &order,
                   .number = 0};
    ms_mailbox_push(ms_loop_mailbox(loop), &last.mail);
    ms_loop_destroy(loop);
    assert_int_equal(order, 1);
    ms_loop_destroy(NULL);
}

typedef struct turn_mails {
    ms_loop *loop;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_mail mails[3];
    int wakes;
    int wakes_within;
} turn_mails;

static void count_wake(void *arg)
{
    (*(int *)arg)++;
}

static void put_mails(void *arg)
{
    turn_mails *own = arg;
    for (int i = 0; i < 3; i++) {
        ms_outbox_put(ms_loop_outbox(own->loop), &own->mailbox, &own->mails[i]);
    }
    own->wakes_within = own->wakes;
}

static void what_a_turn_has_for_a_mailbox_arrives_at_once(void **state)
{
    (void)state;
    turn_mails own = {.loop = make_loop()};
    ms_parker_init_wake(&own.parker, count_wake, &own.wakes);
    ms_mailbox_init(&own.mailbox, &own.parker);
    ms_loop_call(own.loop, put_mails, &own);
    assert_int_equal(own.wakes_within, 0);
    assert_int_equal(own.wakes, 1);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(ms_mailbox_pop(&own.mailbox), &own.mails[i]);
    }
    assert_null(ms_mailbox_pop(&own.mailbox));
    ms_mailbox_release(&own.mailbox);
    ms_loop_destroy(own.loop);
}

typedef struct ping_pong {
    ms_mail mail;
    ms_loop *loops[2];
    int at;
    int left;
    ms_parker done;
} ping_pong;

static void hit_back(ms_mail *mail)
{
    ping_pong *own = MS_MAIL_OWNER(mail, ping_pong, mail);
    own->at = 1 - own->at;
    if (own->left-- == 0) {
        ms_parker_unpark(&own->done);
        return;
    }
    ms_mailbox_push(ms_loop_mailbox(own->loops[own->at]), &own->mail);
}

static void no_wakeup_between_loops_is_lost(void **state)
{
    (void)state;
    ping_pong own = {.loops = {make_loop(), make_loop()}, .left = 20000};
    own.mail.deliver = hit_back;
    ms_parker_init(&own.done);
    ms_mailbox_push(ms_loop_mailbox(own.loops[0]), &own.mail);
    while (!ms_parker_park(&own.done, MS_PARK_FOREVER)) {
    }
    ms_loop_destroy(own.loops[0]);
    ms_loop_destroy(own.loops[1]);
}

/* Calls from many threads. */

typedef struct crowd {
    ms_loop *loop;
    int counter; /* touched on the loop only */
} crowd;

static void count_one(void *arg)
{
    crowd *own = arg;
    own->counter++;
}

static void call_often(void *arg)
{
    crowd *own = arg;
    for (int i = 0; i < 500; i++) {
        ms_loop_call(own->loop, count_one, own);
    }
}

static void calls_of_many_threads_run_one_after_the_other(void **state)
{
    (void)state;
    ms_status st = {0};
    crowd own = {.loop = make_loop()};
    ms_thread threads[4];
    for (int i = 0; i < 4; i++) {
        assert_ok(ms_thread_start(&threads[i], "caller", call_often, &own, &st));
    }
    for (int i = 0; i < 4; i++) {
        ms_thread_join(&threads[i]);
    }
    ms_loop_call(own.loop, do_nothing, NULL);
    assert_int_equal(own.counter, 2000);
    ms_loop_destroy(own.loop);
}

static void call_inside(void *arg)
{
    crowd *own = arg;
    ms_loop_call(own->loop, count_one, own);
    assert_int_equal(own->counter, 1);
}

static void a_call_on_the_loop_itself_runs_at_once(void **state)
{
    (void)state;
    crowd own = {.loop = make_loop()};
    ms_loop_call(own.loop, call_inside, &own);
    ms_loop_destroy(own.loop);
}

/* Timers. */

#define TIMERS 500

typedef struct alarm {
    ms_loop_timer timer;
    int64_t at_ns;
    bool is_started;
    int fired;
} alarm_clock;

typedef struct alarms {
    ms_loop *loop;
    ms_env_clock clock;
    ms_env_random random;
    alarm_clock all[TIMERS];
    int64_t last_ns;
} alarms;

static alarms the_alarms;

static void ring(ms_loop_timer *timer)
{
    alarm_clock *own = MS_LOOP_TIMER_OWNER(timer, alarm_clock, timer);
    assert_false(ms_loop_timer_is_running(timer));
    assert_true(own->is_started);
    assert_true(own->at_ns <= ms_env_mono_ns());
    assert_true(own->at_ns >= the_alarms.last_ns); /* in order */
    the_alarms.last_ns = own->at_ns;
    own->is_started = false;
    own->fired++;
}

static void set_some(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++) {
        alarm_clock *own = &the_alarms.all[ms_env_random_below(&the_alarms.random, TIMERS)];
        if (ms_env_random_below(&the_alarms.random, 3) == 0) {
            ms_loop_timer_stop(the_alarms.loop, &own->timer);
            own->is_started = false;
        } else {
            own->at_ns = ms_loop_now_ns(the_alarms.loop) +
                         (int64_t)ms_env_random_below(&the_alarms.random, 1000 * MS_NS);
            own->is_started = true;
            ms_loop_timer_start(the_alarms.loop, &own->timer, own->at_ns);
        }
        assert_int_equal(own->is_started, ms_loop_timer_is_running(&own->timer));
    }
    the_alarms.last_ns = 0;
}

static void timers_fire_in_order_once_and_not_before_their_time(void **state)
{
    (void)state;
    the_alarms.clock = (ms_env_clock){.mono_ns = 5 * S_NS};
    ms_env_set_clock(&the_alarms.clock);
    the_alarms.loop = make_loop();
    ms_env_random_init(&the_alarms.random, 42);
    for (int i = 0; i < TIMERS; i++) {
        ms_loop_timer_init(&the_alarms.all[i].timer, ring);
    }
    int fired = 0;
    for (int round = 0; round < 100; round++) {
        ms_loop_call(the_alarms.loop, set_some, NULL);
        ms_env_clock_advance_us(&the_alarms.clock, 50000);
        ms_loop_call(the_alarms.loop, do_nothing, NULL);
        for (int i = 0; i < TIMERS; i++) {
            const alarm_clock *own = &the_alarms.all[i];
            assert_true(!own->is_started || own->at_ns > the_alarms.clock.mono_ns);
        }
    }
    ms_env_clock_advance_us(&the_alarms.clock, 2000000);
    ms_loop_call(the_alarms.loop, do_nothing, NULL);
    for (int i = 0; i < TIMERS; i++) {
        assert_false(the_alarms.all[i].is_started);
        fired += the_alarms.all[i].fired;
    }
    assert_true(fired > 1000);
    ms_loop_destroy(the_alarms.loop);
    ms_env_set_clock(NULL);
}

/* Without a test's clock, the loop wakes for a timer by itself. */

typedef struct waker {
    ms_loop *loop;
    ms_loop_timer timers[2];
    int64_t started_ns;
    int64_t fired_ns;
    ms_parker fired;
} waker;

static void wake_up(ms_loop_timer *timer)
{
    waker *own = MS_LOOP_TIMER_OWNER(timer, waker, timers[0]);
    own->fired_ns = ms_env_mono_ns();
    ms_parker_unpark(&own->fired);
}

static void never(ms_loop_timer *timer)
{
    (void)timer;
    fail();
}

static void set_both(void *arg)
{
    waker *own = arg;
    own->started_ns = ms_env_mono_ns();
    /* The one that comes first is set last, and stays when the other goes. */
    ms_loop_timer_start(own->loop, &own->timers[1], own->started_ns + 100 * S_NS);
    ms_loop_timer_start(own->loop, &own->timers[0], own->started_ns + 5 * MS_NS);
}

static void stop_both(void *arg)
{
    waker *own = arg;
    ms_loop_timer_stop(own->loop, &own->timers[0]);
    ms_loop_timer_stop(own->loop, &own->timers[1]);
    ms_loop_timer_stop(own->loop, &own->timers[1]);
}

static void a_sleeping_loop_wakes_for_a_timer(void **state)
{
    (void)state;
    waker own = {.loop = make_loop()};
    ms_loop_timer_init(&own.timers[0], wake_up);
    ms_loop_timer_init(&own.timers[1], never);
    ms_parker_init(&own.fired);
    for (int i = 0; i < 3; i++) {
        ms_loop_call(own.loop, set_both, &own);
        while (!ms_parker_park(&own.fired, MS_PARK_FOREVER)) {
        }
        assert_true(own.fired_ns - own.started_ns >= 5 * MS_NS);
    }
    ms_loop_call(own.loop, stop_both, &own);
    ms_loop_destroy(own.loop);
}

/* Tasks. */

typedef struct tasks {
    ms_loop *loop;
    msi_loop_task soon[3];
    msi_loop_task last;
    char order[32];
    int again;
} tasks;

static void note(tasks *own, char c)
{
    size_t at = strlen(own->order);
    own->order[at] = c;
    own->order[at + 1] = '\0';
}

static void run_first(msi_loop_task *task)
{
    tasks *own = MSI_OWNER(task, tasks, soon[0]);
    note(own, 'a');
    msi_loop_cancel(&own->soon[1]);
    if (own->again-- > 0) {
        msi_loop_soon(own->loop, task);
    }
}

static void run_second(msi_loop_task *task)
{
    (void)task;
    fail();
}

static void run_third(msi_loop_task *task)
{
    note(MSI_OWNER(task, tasks, soon[2]), 'c');
}

static void run_last(msi_loop_task *task)
{
    note(MSI_OWNER(task, tasks, last), 'z');
}

static void queue_all(void *arg)
{
    tasks *own = arg;
    msi_loop_last(own->loop, &own->last);
    for (int i = 0; i < 3; i++) {
        msi_loop_soon(own->loop, &own->soon[i]);
        msi_loop_soon(own->loop, &own->soon[i]); /* counts once */
    }
    assert_string_equal(own->order, "");
}

static void tasks_run_in_their_order_within_the_turn(void **state)
{
    (void)state;
    tasks own = {.loop = make_loop(), .again = 2};
    own.soon[0].run = run_first;
    own.soon[1].run = run_second;
    own.soon[2].run = run_third;
    own.last.run = run_last;
    ms_loop_call(own.loop, queue_all, &own);
    ms_loop_call(own.loop, do_nothing, NULL);
    ms_loop_call(own.loop, do_nothing, NULL);
    /* The first puts itself back twice: for the turns after this one, which come by themselves. */
    assert_string_equal(own.order, "aczaa");
    ms_loop_destroy(own.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mails_are_delivered_in_order_on_the_loops_thread),
        cmocka_unit_test(a_loop_delivers_what_is_there_before_it_ends),
        cmocka_unit_test(what_a_turn_has_for_a_mailbox_arrives_at_once),
        cmocka_unit_test(no_wakeup_between_loops_is_lost),
        cmocka_unit_test(calls_of_many_threads_run_one_after_the_other),
        cmocka_unit_test(a_call_on_the_loop_itself_runs_at_once),
        cmocka_unit_test(timers_fire_in_order_once_and_not_before_their_time),
        cmocka_unit_test(a_sleeping_loop_wakes_for_a_timer),
        cmocka_unit_test(tasks_run_in_their_order_within_the_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
