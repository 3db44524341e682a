/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of workers and actors: wakes, timers, which source runs first, retiring. */
#include "runtime/fake_job.h"
#include "runtime/runtime_priv.h"

typedef struct player {
    msi_actor actor; /* first */
    _Atomic uint32_t turns;
    uint32_t again; /* turns that ask for another one */
    char name;
    char *log;
} player;

static bool play(msi_actor *actor, bool woken)
{
    (void)woken;
    player *p = (player *)actor;
    atomic_fetch_add(&p->turns, 1);
    if (p->log != NULL) {
        p->log[strlen(p->log)] = p->name;
    }
    if (p->again > 0) {
        p->again--;
        return true;
    }
    return false;
}

static void wait_for_turns(player *p, uint32_t turns)
{
    for (int tries = 0; atomic_load(&p->turns) < turns; tries++) {
        assert_true(tries < 10000);
        fake_sleep_ms(1);
    }
}

static void a_wake_makes_a_turn_and_several_make_at_least_one(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_workers *workers = NULL;
    msi_worker *worker = NULL;
    assert_ok(ms_workers_create(&(ms_workers_options){.count = 2}, &workers, &st));
    assert_int_equal(ms_workers_count(workers), 2);
    assert_ok(msi_workers_place(workers, 3, &worker, &st));
    player p = {0};
    msi_actor_init(&p.actor, worker, &p, play);
    for (uint32_t i = 1; i <= 1000; i++) {
        uint32_t before = atomic_load(&p.turns);
        msi_actor_wake(&p.actor);
        msi_actor_wake(&p.actor);
        wait_for_turns(&p, before + 1);
    }
    msi_workers_retire(workers, &p);
    ms_workers_destroy(workers);
}

static void a_turn_that_wants_more_is_followed_by_another(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_workers *workers = NULL;
    msi_worker *worker = NULL;
    assert_ok(ms_workers_create(&(ms_workers_options){.is_stepped = true}, &workers, &st));
    assert_ok(msi_workers_place(workers, 0, &worker, &st));
    player p = {.again = 4};
    msi_actor_init(&p.actor, worker, &p, play);
    msi_actor_wake(&p.actor);
    uint32_t steps = 0;
    while (ms_workers_step(workers)) {
        steps++;
    }
    assert_int_equal(atomic_load(&p.turns), 5);
    assert_int_equal(steps, 5);
    ms_workers_destroy(workers);
}

static void timers_wake_at_their_time_and_the_earliest_counts(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_env_clock clock = {0};
    ms_env_set_clock(&clock);
    ms_workers *workers = NULL;
    msi_worker *worker = NULL;
    assert_ok(ms_workers_create(&(ms_workers_options){.is_stepped = true}, &workers, &st));
    assert_ok(msi_workers_place(workers, 0, &worker, &st));
    player a = {0};
    player b = {0};
    msi_actor_init(&a.actor, worker, &a, play);
    msi_actor_init(&b.actor, worker, &b, play);
    msi_actor_wake_at(&a.actor, 5000000);
    msi_actor_wake_at(&a.actor, 3000000);
    msi_actor_wake_at(&a.actor, 9000000);
    msi_actor_wake_at(&b.actor, 4000000);
    (void)ms_workers_step(workers);
    assert_int_equal(atomic_load(&a.turns), 0);
    ms_env_clock_advance_us(&clock, 3500);
    while (ms_workers_step(workers)) {
    }
    assert_int_equal(atomic_load(&a.turns), 1);
    assert_int_equal(atomic_load(&b.turns), 0);
    ms_env_clock_advance_us(&clock, 100000);
    while (ms_workers_step(workers)) {
    }
    assert_int_equal(atomic_load(&a.turns), 1);
    assert_int_equal(atomic_load(&b.turns), 1);
    ms_workers_destroy(workers);
    ms_env_set_clock(NULL);
}

/* Holds its worker until it is let go. */
typedef struct holder {
    msi_actor actor; /* first */
    _Atomic bool holds;
    _Atomic bool may_go;
} holder;

static bool hold(msi_actor *actor, bool woken)
{
    (void)woken;
    holder *h = (holder *)actor;
    atomic_store(&h->holds, true);
    while (!atomic_load(&h->may_go)) {
        fake_sleep_ms(1);
    }
    return false;
}

/* Actors that are in the queue together: of a job's sources the one that is furthest behind runs
 * first; sources of other jobs, and what is no source, keep their place. */
static void sources_with_the_smallest_watermark_run_first(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_workers *workers = NULL;
    msi_worker *worker = NULL;
    char log[16] = "";
    int job = 0;
    int other = 0;
    assert_ok(ms_workers_create(&(ms_workers_options){.count = 1}, &workers, &st));
    assert_ok(msi_workers_place(workers, 0, &worker, &st));
    static const struct {
        char name;
        bool is_source;
        int64_t rank;
        bool is_other;
    } rows[5] = {{'a', true, 30, false},
                 {'b', false, 0, false},
                 {'c', true, 10, false},
                 {'d', true, 5, true},
                 {'e', true, 20, false}};
    holder h = {.may_go = false};
    player players[5];
    msi_actor_init(&h.actor, worker, &job, hold);
    msi_actor_wake(&h.actor);
    while (!atomic_load(&h.holds)) {
        fake_sleep_ms(1);
    }
    for (int i = 0; i < 5; i++) {
        players[i] = (player){.name = rows[i].name, .log = log};
        msi_actor_init(&players[i].actor, worker, rows[i].is_other ? &other : &job, play);
        players[i].actor.is_source = rows[i].is_source;
        players[i].actor.rank = rows[i].rank;
        msi_actor_wake(&players[i].actor);
    }
    atomic_store(&h.may_go, true);
    for (int i = 0; i < 5; i++) {
        wait_for_turns(&players[i], 1);
    }
    msi_workers_retire(workers, &job);
    msi_workers_retire(workers, &other);
    ms_workers_destroy(workers);
    assert_string_equal(log, "ceabd");
}

static void stepped_runs_are_repeated_from_their_seed(void **state)
{
    (void)state;
    char logs[3][64] = {"", "", ""};
    for (int run = 0; run < 3; run++) {
        ms_status st = {0};
        ms_workers *workers = NULL;
        msi_worker *worker = NULL;
        assert_ok(ms_workers_create(
            &(ms_workers_options){.is_stepped = true, .seed = run < 2 ? 5 : 6}, &workers, &st));
        assert_ok(msi_workers_place(workers, 0, &worker, &st));
        player players[4];
        for (int i = 0; i < 4; i++) {
            players[i] = (player){.name = (char)('a' + i), .log = logs[run], .again = 9};
            msi_actor_init(&players[i].actor, worker, players, play);
            msi_actor_wake(&players[i].actor);
        }
        while (ms_workers_step(workers)) {
        }
        ms_workers_destroy(workers);
        assert_int_equal(strlen(logs[run]), 40);
    }
    assert_string_equal(logs[0], logs[1]);
    assert_string_not_equal(logs[0], logs[2]);
}

static void a_retired_owner_runs_no_more(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_workers *workers = NULL;
    msi_worker *worker = NULL;
    assert_ok(ms_workers_create(&(ms_workers_options){.count = 1}, &workers, &st));
    assert_ok(msi_workers_place(workers, 0, &worker, &st));
    for (int i = 0; i < 200; i++) {
        /* Memory of its own: the sanitizer sees a touch after the end. */
        player *p = ms_mem_calloc(1, sizeof(player));
        p->again = 1000000;
        msi_actor_init(&p->actor, worker, p, play);
        msi_actor_wake(&p->actor);
        msi_workers_retire(workers, p);
        ms_mem_free(p);
    }
    ms_workers_destroy(workers);
}

/* A mail that wakes an actor when it is delivered, as an event does. */
typedef struct waking_mail {
    ms_mail mail;
    msi_actor *actor;
} waking_mail;

static void deliver_waking(ms_mail *mail)
{
    msi_actor_wake(MS_MAIL_OWNER(mail, waking_mail, mail)->actor);
}

static void let_go_soon(void *arg)
{
    fake_sleep_ms(20);
    atomic_store(&((holder *)arg)->may_go, true);
}

/* The mail is in the mailbox before the request to retire, the wake it makes is behind it. */
static void retiring_waits_for_wakes_that_are_still_to_come(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_workers *workers = NULL;
    msi_worker *worker = NULL;
    int job = 0;
    assert_ok(ms_workers_create(&(ms_workers_options){.count = 1}, &workers, &st));
    assert_ok(msi_workers_place(workers, 0, &worker, &st));
    holder h = {.may_go = false};
    msi_actor_init(&h.actor, worker, &job, hold);
    msi_actor_wake(&h.actor);
    while (!atomic_load(&h.holds)) {
        fake_sleep_ms(1);
    }
    player *p = ms_mem_calloc(1, sizeof(player));
    msi_actor_init(&p->actor, worker, p, play);
    waking_mail mail = {.mail = {.deliver = deliver_waking}, .actor = &p->actor};
    ms_mailbox_push(msi_worker_mailbox(worker), &mail.mail);
    ms_thread thread;
    assert_ok(ms_thread_start(&thread, "let go", let_go_soon, &h, &st));
    msi_workers_retire(workers, p);
    ms_mem_free(p);
    ms_thread_join(&thread);
    msi_workers_retire(workers, &job);
    ms_workers_destroy(workers);
}

/* As many mails as a worker takes at a time, less the request to retire. */
#define MAILS_BEFORE 63u

typedef struct retiree {
    ms_workers *workers;
    const void *owner;
} retiree;

static void retire(void *arg)
{
    const retiree *r = arg;
    msi_workers_retire(r->workers, r->owner);
}

static void deliver_timer(ms_mail *mail)
{
    msi_actor_wake_at(MS_MAIL_OWNER(mail, waking_mail, mail)->actor, ms_env_mono_ns());
}

static void deliver_nothing(ms_mail *mail)
{
    (void)mail;
}

/*
 * A worker takes so many mails that the request to retire is the last of them: before it takes
 * more, it looks at its timers, and one of the owner's is due.
 */
static void a_timer_that_is_due_while_its_owner_retires_wakes_nobody(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_workers *workers = NULL;
    msi_worker *worker = NULL;
    int job = 0;
    assert_ok(ms_workers_create(&(ms_workers_options){.count = 1}, &workers, &st));
    assert_ok(msi_workers_place(workers, 0, &worker, &st));
    holder h = {.may_go = false};
    msi_actor_init(&h.actor, worker, &job, hold);
    msi_actor_wake(&h.actor);
    while (!atomic_load(&h.holds)) {
        fake_sleep_ms(1);
    }
    player p = {.again = 0};
    msi_actor_init(&p.actor, worker, &p, play);
    ms_mailbox *mailbox = msi_worker_mailbox(worker);
    waking_mail mails[MAILS_BEFORE];
    for (uint32_t i = 0; i < MAILS_BEFORE; i++) {
        mails[i] = (waking_mail){.mail = {.deliver = i == 0 ? deliver_timer : deliver_nothing},
                                 .actor = &p.actor};
        ms_mailbox_push(mailbox, &mails[i].mail);
    }
    ms_thread thread;
    retiree r = {workers, &p};
    assert_ok(ms_thread_start(&thread, "retire", retire, &r, &st));
    while (atomic_load(&mailbox->pushed) == &mails[MAILS_BEFORE - 1].mail) {
        fake_sleep_ms(1);
    }
    atomic_store(&h.may_go, true);
    ms_thread_join(&thread);
    /* Whatever stood behind the request is delivered before this one is. */
    msi_workers_retire(workers, &job);
    assert_int_equal(atomic_load(&p.turns), 0);
    ms_workers_destroy(workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wake_makes_a_turn_and_several_make_at_least_one),
        cmocka_unit_test(a_turn_that_wants_more_is_followed_by_another),
        cmocka_unit_test(timers_wake_at_their_time_and_the_earliest_counts),
        cmocka_unit_test(sources_with_the_smallest_watermark_run_first),
        cmocka_unit_test(stepped_runs_are_repeated_from_their_seed),
        cmocka_unit_test(a_retired_owner_runs_no_more),
        cmocka_unit_test(retiring_waits_for_wakes_that_are_still_to_come),
        cmocka_unit_test(a_timer_that_is_due_while_its_owner_retires_wakes_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
