/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "os/iopool.h"
#include "os/thread.h"

#include <pthread.h>

#define SECOND INT64_C(1000000000)

/* A worker as far as a pool sees it. */
typedef struct receiver {
    ms_parker parker;
    ms_mailbox mailbox;
} receiver;

static void receiver_init(receiver *to)
{
    ms_parker_init(&to->parker);
    ms_mailbox_init(&to->mailbox, &to->parker);
}

typedef struct work {
    ms_iojob job;
    int input;
    int output;
    pthread_t ran_on;
    int *done;
} work;

static void square(ms_iojob *job)
{
    work *todo = (work *)(void *)job;
    todo->output = todo->input * todo->input;
    todo->ran_on = pthread_self();
}

static void note_done(ms_mail *mail)
{
    work *finished = MS_MAIL_OWNER(mail, work, job.mail);
    assert_int_equal(finished->output, finished->input * finished->input);
    (*finished->done)++;
}

static void work_init(work *todo, receiver *to, int input, int *done)
{
    *todo = (work){.input = input, .done = done};
    todo->job.run = square;
    todo->job.reply_to = &to->mailbox;
    todo->job.mail.deliver = note_done;
}

static void jobs_run_elsewhere_and_come_back_as_mails(void **state)
{
    (void)state;
    enum { JOBS = 2000 };
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    work *jobs = calloc(JOBS, sizeof(work));
    int done = 0;
    assert_ok(ms_iopool_create(&(ms_iopool_options){0}, &pool, &st));
    for (int i = 0; i < JOBS; i++) {
        work_init(&jobs[i], &to, i, &done);
        assert_ok(ms_iopool_submit(pool, &jobs[i].job, &st));
    }
    while (done < JOBS) {
        if (ms_mailbox_deliver(&to.mailbox, 100) == 0) {
            assert_true(ms_parker_park(&to.parker, 60 * SECOND));
        }
    }
    for (int i = 0; i < JOBS; i++) {
        assert_false(pthread_equal(jobs[i].ran_on, pthread_self()));
    }
    ms_iopool_destroy(pool);
    ms_iopool_destroy(NULL);
    ms_mailbox_release(&to.mailbox);
    free(jobs);
}

/* Two jobs that wait until a third has run, which is queued behind them. */
typedef struct blocked {
    ms_iojob job;
    ms_parker parker;
    struct blocked *frees[2]; /* NULL: this is one that waits */
} blocked;

static void wait_or_free(ms_iojob *job)
{
    blocked *b = (blocked *)(void *)job;
    if (b->frees[0] == NULL) {
        assert_true(ms_parker_park(&b->parker, 60 * SECOND));
        return;
    }
    ms_parker_unpark(&b->frees[0]->parker);
    ms_parker_unpark(&b->frees[1]->parker);
}

static void count_mail(ms_mail *mail)
{
    (void)mail;
}

static void a_job_behind_others_that_block_runs_on_a_thread_of_its_own(void **state)
{
    (void)state;
    enum { BURSTS = 2000, JOBS = 3 };
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    blocked jobs[JOBS];
    assert_ok(ms_iopool_create(&(ms_iopool_options){.threads = JOBS}, &pool, &st));
    for (int burst = 0; burst < BURSTS; burst++) {
        for (int i = 0; i < JOBS; i++) {
            jobs[i] = (blocked){.job = {.run = wait_or_free, .reply_to = &to.mailbox}};
            jobs[i].job.mail.deliver = count_mail;
            ms_parker_init(&jobs[i].parker);
        }
        jobs[2].frees[0] = &jobs[0];
        jobs[2].frees[1] = &jobs[1];
        for (int i = 0; i < JOBS; i++) {
            assert_ok(ms_iopool_submit(pool, &jobs[i].job, &st));
        }
        size_t done = 0;
        while (done < JOBS) {
            size_t mails = ms_mailbox_deliver(&to.mailbox, JOBS);
            done += mails;
            if (mails == 0) {
                assert_true(ms_parker_park(&to.parker, 60 * SECOND));
            }
        }
    }
    ms_iopool_destroy(pool);
    ms_mailbox_release(&to.mailbox);
}

static void destroy_finishes_what_is_queued(void **state)
{
    (void)state;
    enum { JOBS = 500 };
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    work *jobs = calloc(JOBS, sizeof(work));
    int done = 0;
    assert_ok(ms_iopool_create(&(ms_iopool_options){.threads = 1}, &pool, &st));
    for (int i = 0; i < JOBS; i++) {
        work_init(&jobs[i], &to, i, &done);
        assert_ok(ms_iopool_submit(pool, &jobs[i].job, &st));
    }
    ms_iopool_destroy(pool);
    assert_int_equal(ms_mailbox_deliver(&to.mailbox, JOBS), JOBS);
    assert_int_equal(done, JOBS);
    free(jobs);
}

static void a_stepped_pool_runs_in_order_when_asked(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    work jobs[3];
    int done = 0;
    assert_ok(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &pool, &st));
    assert_false(ms_iopool_step(pool));
    for (int i = 0; i < 3; i++) {
        work_init(&jobs[i], &to, i + 1, &done);
        assert_ok(ms_iopool_submit(pool, &jobs[i].job, &st));
    }
    /* Nothing happens inside submit. */
    assert_int_equal(jobs[0].output, 0);
    assert_true(ms_iopool_step(pool));
    assert_int_equal(jobs[0].output, 1);
    assert_int_equal(jobs[1].output, 0);
    assert_true(pthread_equal(jobs[0].ran_on, pthread_self()));
    assert_int_equal(done, 0);
    assert_int_equal(ms_mailbox_deliver(&to.mailbox, 10), 1);
    ms_iopool_destroy(pool);
    assert_int_equal(ms_mailbox_deliver(&to.mailbox, 10), 2);
    assert_int_equal(done, 3);
}

static void one_that_goes_first_passes_the_others_and_a_full_queue(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    work jobs[4];
    int done = 0;
    assert_ok(
        ms_iopool_create(&(ms_iopool_options){.is_stepped = true, .queue_max = 2}, &pool, &st));
    for (int i = 0; i < 4; i++) {
        work_init(&jobs[i], &to, i + 1, &done);
        jobs[i].job.goes_first = i == 0 || i == 3;
    }
    /* 0 into an empty queue, 1 and 2 behind it, 3 before what is left. */
    for (int i = 0; i < 2; i++) {
        assert_ok(ms_iopool_submit(pool, &jobs[i].job, &st));
    }
    assert_true(ms_iopool_step(pool));
    assert_int_equal(jobs[0].output, 1);
    assert_ok(ms_iopool_submit(pool, &jobs[2].job, &st));
    assert_ok(ms_iopool_submit(pool, &jobs[3].job, &st));
    assert_true(ms_iopool_step(pool));
    assert_int_equal(jobs[3].output, 16);
    assert_int_equal(jobs[1].output, 0);
    assert_true(ms_iopool_step(pool));
    assert_int_equal(jobs[1].output, 4);
    assert_int_equal(jobs[2].output, 0);
    assert_true(ms_iopool_step(pool));
    assert_int_equal(jobs[2].output, 9);
    assert_false(ms_iopool_step(pool));
    ms_iopool_destroy(pool);
    assert_int_equal(ms_mailbox_deliver(&to.mailbox, 10), 4);
}

static void a_full_queue_refuses_and_the_caller_keeps_the_job(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    work jobs[3];
    int done = 0;
    assert_ok(
        ms_iopool_create(&(ms_iopool_options){.is_stepped = true, .queue_max = 2}, &pool, &st));
    for (int i = 0; i < 3; i++) {
        work_init(&jobs[i], &to, i, &done);
    }
    assert_ok(ms_iopool_submit(pool, &jobs[0].job, &st));
    assert_ok(ms_iopool_submit(pool, &jobs[1].job, &st));
    assert_int_equal(ms_iopool_submit(pool, &jobs[2].job, &st), MS_LIMIT);
    assert_true(st.retriable);
    assert_string_equal(st.message, "the queue of the I/O pool is full (2 jobs)");
    ms_status_clear(&st);
    assert_true(ms_iopool_step(pool));
    assert_ok(ms_iopool_submit(pool, &jobs[2].job, &st));
    ms_iopool_destroy(pool);
    assert_int_equal(ms_mailbox_deliver(&to.mailbox, 10), 3);
}

/* A job that is submitted again from its own mail, as a reader of a file does. */
typedef struct loop {
    work step;
    ms_iopool *pool;
    int rounds;
} loop;

static void submit_again(ms_mail *mail)
{
    loop *again = MS_MAIL_OWNER(mail, loop, step.job.mail);
    ms_status st = {0};
    if (--again->rounds > 0) {
        assert_ok(ms_iopool_submit(again->pool, &again->step.job, &st));
    }
}

static void many_receivers_resubmit(void **state)
{
    (void)state;
    enum { LOOPS = 8, ROUNDS = 500 };
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    loop loops[LOOPS];
    assert_ok(ms_iopool_create(&(ms_iopool_options){.threads = 3}, &pool, &st));
    for (int i = 0; i < LOOPS; i++) {
        work_init(&loops[i].step, &to, i, NULL);
        loops[i].step.job.mail.deliver = submit_again;
        loops[i].pool = pool;
        loops[i].rounds = ROUNDS;
        assert_ok(ms_iopool_submit(pool, &loops[i].step.job, &st));
    }
    size_t delivered = 0;
    while (delivered < (size_t)LOOPS * ROUNDS) {
        size_t now = ms_mailbox_deliver(&to.mailbox, 16);
        if (now == 0) {
            assert_true(ms_parker_park(&to.parker, 60 * SECOND));
        }
        delivered += now;
    }
    ms_iopool_destroy(pool);
    ms_mailbox_release(&to.mailbox);
}

/* A job that notes whether its descriptor could be read when it ran. */
typedef struct reading {
    ms_iojob job;
    int fd;
    char byte;
    ssize_t got;
    int *done;
} reading;

static void read_byte(ms_iojob *job)
{
    reading *todo = (reading *)(void *)job;
    todo->got = read(todo->fd, &todo->byte, 1);
}

static void note_read(ms_mail *mail)
{
    (*MS_MAIL_OWNER(mail, reading, job.mail)->done)++;
}

static reading make_reading(receiver *to, int fd, int *done)
{
    reading todo = {.fd = fd, .done = done};
    todo.job.run = read_byte;
    todo.job.reply_to = &to->mailbox;
    todo.job.mail.deliver = note_read;
    return todo;
}

static void a_job_waits_for_its_descriptor_and_holds_up_nobody(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    int done = 0;
    int ends[8][2];
    reading jobs[8];
    assert_ok(ms_iopool_create(&(ms_iopool_options){.threads = 1}, &pool, &st));
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pipe(ends[i]), 0);
        jobs[i] = make_reading(&to, ends[i][0], &done);
        assert_ok(ms_iopool_submit_when(pool, &jobs[i].job, ends[i][0], false, &st));
    }
    int squares = 0;
    work other;
    work_init(&other, &to, 3, &squares);
    assert_ok(ms_iopool_submit(pool, &other.job, &st));
    while (squares < 1) {
        assert_true(ms_parker_park(&to.parker, 60 * SECOND));
        ms_mailbox_deliver(&to.mailbox, 100);
    }
    assert_int_equal(done, 0);
    for (int i = 7; i >= 0; i--) {
        assert_int_equal(write(ends[i][1], "x", 1), 1);
        while (done < 8 - i) {
            assert_true(ms_parker_park(&to.parker, 60 * SECOND));
            ms_mailbox_deliver(&to.mailbox, 100);
        }
        assert_int_equal(jobs[i].byte, 'x');
    }
    /* The other end is gone: that is ready too. */
    jobs[0] = make_reading(&to, ends[0][0], &done);
    assert_ok(ms_iopool_submit_when(pool, &jobs[0].job, ends[0][0], false, &st));
    close(ends[0][1]);
    while (done < 9) {
        assert_true(ms_parker_park(&to.parker, 60 * SECOND));
        ms_mailbox_deliver(&to.mailbox, 100);
    }
    assert_int_equal(jobs[0].got, 0);
    for (int i = 0; i < 8; i++) {
        close(ends[i][0]);
        if (i > 0) {
            close(ends[i][1]);
        }
    }
    ms_iopool_destroy(pool);
    ms_mailbox_release(&to.mailbox);
}

static void a_waiting_job_can_be_withdrawn_and_a_queued_one_cannot(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_iopool *pool = NULL;
    receiver to;
    receiver_init(&to);
    int done = 0;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_ok(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &pool, &st));
    reading job = make_reading(&to, ends[0], &done);
    assert_ok(ms_iopool_submit_when(pool, &job.job, ends[0], false, &st));
    assert_false(ms_iopool_step(pool));
    assert_true(ms_iopool_withdraw(pool, &job.job));
    assert_false(ms_iopool_withdraw(pool, &job.job));
    assert_int_equal(write(ends[1], "y", 1), 1);
    assert_false(ms_iopool_step(pool));
    assert_ok(ms_iopool_submit_when(pool, &job.job, ends[0], false, &st));
    assert_true(ms_iopool_step(pool));
    assert_false(ms_iopool_withdraw(pool, &job.job));
    ms_mailbox_deliver(&to.mailbox, 100);
    assert_int_equal(done, 1);
    assert_int_equal(job.byte, 'y');
    close(ends[0]);
    close(ends[1]);
    ms_iopool_destroy(pool);
    ms_mailbox_release(&to.mailbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_run_elsewhere_and_come_back_as_mails),
        cmocka_unit_test(a_job_behind_others_that_block_runs_on_a_thread_of_its_own),
        cmocka_unit_test(destroy_finishes_what_is_queued),
        cmocka_unit_test(a_stepped_pool_runs_in_order_when_asked),
        cmocka_unit_test(one_that_goes_first_passes_the_others_and_a_full_queue),
        cmocka_unit_test(a_full_queue_refuses_and_the_caller_keeps_the_job),
        cmocka_unit_test(many_receivers_resubmit),
        cmocka_unit_test(a_job_waits_for_its_descriptor_and_holds_up_nobody),
        cmocka_unit_test(a_waiting_job_can_be_withdrawn_and_a_queued_one_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
