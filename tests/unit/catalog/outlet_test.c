/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines through pipes and files, with a stepped pool, so that every step of a write is seen.
 */
#include "testing.h"

#include "catalog/outlet.h"

#include <limits.h>

typedef struct fixture {
    ms_iopool *pool;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_task_env env;
    uint32_t wakes;
    int ends[2];
    ms_status st;
} fixture;

static void on_wake(void *task)
{
    ((fixture *)task)->wakes++;
}

/* A completion that remembers its answers. */
typedef struct waiting {
    ms_completion head;
    uint32_t count;
    ms_rc rc;
} waiting;

static void on_answer(ms_completion *completion, ms_rc rc, const ms_status *st)
{
    waiting *w = (waiting *)completion;
    w->count++;
    w->rc = rc;
    assert_true((st == NULL) == (rc == MS_OK));
}

static waiting waiting_make(void)
{
    return (waiting){.head = {.done = on_answer}};
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    assert_int_equal(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &f->pool, &f->st),
                     MS_OK);
    ms_parker_init(&f->parker);
    ms_mailbox_init(&f->mailbox, &f->parker);
    f->env = (ms_task_env){
        .waker = {.wake = on_wake, .task = f}, .mailbox = &f->mailbox, .iopool = f->pool};
    assert_int_equal(pipe(f->ends), 0);
    signal(SIGPIPE, SIG_IGN);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ms_iopool_destroy(f->pool);
    ms_mailbox_release(&f->mailbox);
    close(f->ends[0]);
    close(f->ends[1]);
    free(f);
    return 0;
}

static void add(fixture *f, ms_outlet *outlet, const char *text)
{
    assert_int_equal(ms_buf_append(ms_outlet_lines(outlet), ms_str_cstr(text), &f->st), MS_OK);
    ms_outlet_flush(outlet);
}

/* Runs jobs and delivers mails until nothing moves. */
static void run(fixture *f)
{
    bool moved = true;
    while (moved) {
        moved = ms_iopool_step(f->pool);
        moved |= ms_mailbox_deliver(&f->mailbox, 10) > 0;
    }
}

static size_t read_some(fixture *f, char *to, size_t size)
{
    ssize_t got = read(f->ends[0], to, size);
    assert_true(got > 0);
    return (size_t)got;
}

static void lines_are_gathered_while_others_are_written(void **state)
{
    fixture *f = *state;
    ms_outlet *outlet = ms_outlet_create(f->ends[1], &f->env);
    assert_true(ms_outlet_is_idle(outlet));
    add(f, outlet, "one\n");
    add(f, outlet, "two\n");
    add(f, outlet, "three\n");
    assert_false(ms_outlet_is_idle(outlet));
    run(f);
    assert_true(ms_outlet_is_idle(outlet));
    assert_int_equal(f->wakes, 2);
    char text[100];
    size_t got = read_some(f, text, sizeof(text));
    assert_str_equal(ms_str_make(text, got), "one\ntwo\nthree\n");
    ms_outlet_destroy(outlet);
    ms_outlet_destroy(NULL);
}

static void a_full_pipe_holds_up_its_writer_and_no_job(void **state)
{
    fixture *f = *state;
    ms_outlet *outlet = ms_outlet_create(f->ends[1], &f->env);
    char line[101];
    memset(line, 'x', 99);
    line[99] = '\n';
    line[100] = '\0';
    uint32_t lines = 0;
    while (ms_outlet_has_room(outlet)) {
        add(f, outlet, line);
        lines++;
    }
    run(f);
    assert_false(ms_outlet_is_idle(outlet));
    assert_false(ms_outlet_has_room(outlet) && lines < 1000);
    /* The reader takes all; what was written whole lines at a time is whole. */
    char *text = malloc(100 * (size_t)lines);
    size_t got = 0;
    while (got < 100 * (size_t)lines) {
        got += read_some(f, text + got, 100 * (size_t)lines - got);
        run(f);
    }
    for (uint32_t i = 0; i < lines; i++) {
        assert_memory_equal(text + 100 * (size_t)i, line, 100);
    }
    assert_true(ms_outlet_is_idle(outlet));
    free(text);
    ms_outlet_destroy(outlet);
}

static void a_line_longer_than_the_pipe_takes_goes_in_pieces(void **state)
{
    fixture *f = *state;
    ms_outlet *outlet = ms_outlet_create(f->ends[1], &f->env);
    size_t size = 3 * PIPE_BUF + 17;
    char *line = malloc(size + 1);
    memset(line, 'y', size);
    line[size - 1] = '\n';
    line[size] = '\0';
    add(f, outlet, line);
    run(f);
    char *text = malloc(size);
    size_t got = 0;
    while (got < size) {
        got += read_some(f, text + got, size - got);
        run(f);
    }
    assert_memory_equal(text, line, size);
    assert_true(ms_outlet_is_idle(outlet));
    ms_outlet_destroy(outlet);
    free(line);
    free(text);
}

static void a_closed_pipe_is_a_failure_that_stays(void **state)
{
    fixture *f = *state;
    ms_outlet *outlet = ms_outlet_create(f->ends[1], &f->env);
    close(f->ends[0]);
    f->ends[0] = dup(f->ends[1]);
    add(f, outlet, "one\n");
    run(f);
    assert_int_equal(ms_outlet_status(outlet)->code, MS_CANCELED);
    assert_string_equal(ms_outlet_status(outlet)->message,
                        "the reader of standard output has gone");
    assert_true(ms_outlet_is_idle(outlet));
    add(f, outlet, "two\n");
    assert_int_equal(ms_outlet_lines(outlet)->bytes, 0);
    ms_outlet_destroy(outlet);
}

static void destroying_writes_what_is_taken_at_once(void **state)
{
    fixture *f = *state;
    char text[100];
    ms_outlet *outlet = ms_outlet_create(f->ends[1], &f->env);
    assert_int_equal(ms_buf_append(ms_outlet_lines(outlet), ms_str_lit("one\n"), &f->st), MS_OK);
    ms_outlet_destroy(outlet);
    assert_int_equal(read_some(f, text, sizeof(text)), 4);

    /* A job is out with the first line; the second is in the other buffer. */
    outlet = ms_outlet_create(f->ends[1], &f->env);
    add(f, outlet, "first\n");
    add(f, outlet, "second\n");
    ms_outlet_destroy(outlet);
    run(f);
    size_t got = read_some(f, text, sizeof(text));
    assert_str_equal(ms_str_make(text, got), "first\nsecond\n");
    assert_int_equal(f->wakes, 0);
}

static void who_waits_is_answered_when_all_is_written(void **state)
{
    fixture *f = *state;
    waiting w = waiting_make();
    ms_outlet *outlet = ms_outlet_create(f->ends[1], &f->env);
    ms_outlet_when_idle(outlet, &w.head);
    assert_int_equal(w.count, 1);
    add(f, outlet, "one\n");
    ms_outlet_when_idle(outlet, &w.head);
    /* The line added later holds the answer up. */
    add(f, outlet, "two\n");
    assert_true(ms_iopool_step(f->pool));
    ms_mailbox_deliver(&f->mailbox, 1);
    assert_int_equal(w.count, 1);
    run(f);
    assert_int_equal(w.count, 2);
    assert_int_equal(w.rc, MS_OK);
    ms_outlet_destroy(outlet);
    assert_int_equal(w.count, 2);
}

static void who_waits_is_answered_when_writing_fails_or_ends(void **state)
{
    fixture *f = *state;
    waiting w = waiting_make();
    ms_outlet *outlet = ms_outlet_create(f->ends[1], &f->env);
    add(f, outlet, "one\n");
    ms_outlet_when_idle(outlet, &w.head);
    ms_outlet_destroy(outlet);
    assert_int_equal(w.count, 1);
    assert_int_equal(w.rc, MS_CANCELED);
    run(f);

    outlet = ms_outlet_create(f->ends[1], &f->env);
    add(f, outlet, "one\n");
    for (uint32_t i = 0; i < MS_OUTLET_WAITS_MAX; i++) {
        ms_outlet_when_idle(outlet, &w.head);
    }
    assert_int_equal(w.count, 1);
    ms_outlet_when_idle(outlet, &w.head);
    assert_int_equal(w.count, 2);
    assert_int_equal(w.rc, MS_LIMIT);
    close(f->ends[0]);
    f->ends[0] = dup(f->ends[1]);
    run(f);
    assert_int_equal(w.count, 2 + MS_OUTLET_WAITS_MAX);
    assert_int_equal(w.rc, MS_CANCELED);
    ms_outlet_when_idle(outlet, &w.head);
    assert_int_equal(w.count, 3 + MS_OUTLET_WAITS_MAX);
    ms_outlet_destroy(outlet);
}

static void destroying_while_a_job_waits_waits_for_nothing(void **state)
{
    fixture *f = *state;
    ms_outlet *busy = ms_outlet_create(f->ends[1], &f->env);
    for (int i = 0; i < 20000; i++) {
        add(f, busy, "waiting\n");
    }
    run(f);
    assert_false(ms_outlet_is_idle(busy));
    ms_outlet_destroy(busy);
    run(f);
}

static void a_file_takes_everything_at_once(void **state)
{
    fixture *f = *state;
    char path[] = "/tmp/outlet-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    ms_outlet *outlet = ms_outlet_create(fd, &f->env);
    for (int i = 0; i < 50000; i++) {
        assert_int_equal(ms_buf_append(ms_outlet_lines(outlet), ms_str_lit("a line\n"), &f->st),
                         MS_OK);
    }
    ms_outlet_flush(outlet);
    assert_true(ms_iopool_step(f->pool));
    assert_false(ms_iopool_step(f->pool));
    ms_mailbox_deliver(&f->mailbox, 10);
    assert_true(ms_outlet_is_idle(outlet));
    assert_int_equal(lseek(fd, 0, SEEK_END), 50000 * 7);
    ms_outlet_destroy(outlet);
    close(fd);
    unlink(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_are_gathered_while_others_are_written),
        TEST(a_full_pipe_holds_up_its_writer_and_no_job),
        TEST(a_line_longer_than_the_pipe_takes_goes_in_pieces),
        TEST(a_closed_pipe_is_a_failure_that_stays),
        TEST(destroying_writes_what_is_taken_at_once),
        TEST(who_waits_is_answered_when_all_is_written),
        TEST(who_waits_is_answered_when_writing_fails_or_ends),
        TEST(destroying_while_a_job_waits_waits_for_nothing),
        TEST(a_file_takes_everything_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
