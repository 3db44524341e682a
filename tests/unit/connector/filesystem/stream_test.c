/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output as a sink: records as they come; a checkpoint waits until they are out.
 */
#include "connector/filesystem/writer_host.h"

typedef struct pipes {
    host h;
    int ends[2];
    int saved;
} pipes;

static void open_pipes(pipes *p)
{
    fflush(stdout);
    p->saved = dup(STDOUT_FILENO);
    assert_int_equal(pipe(p->ends), 0);
    fcntl(p->ends[0], F_SETFL, O_NONBLOCK);
    dup2(p->ends[1], STDOUT_FILENO);
    host_init(&p->h, "-", "csv");
    ms_iopool_destroy(p->h.pool);
    assert_int_equal(ms_iopool_create(&(ms_iopool_options){0}, &p->h.pool, &p->h.st), MS_OK);
    p->h.job->env.iopool = p->h.pool;
    host_ok(&p->h, host_plan_sink(&p->h));
}

static void close_pipes(pipes *p)
{
    dup2(p->saved, STDOUT_FILENO);
    close(p->saved);
    close(p->ends[1]);
    if (p->ends[0] >= 0) {
        close(p->ends[0]);
    }
    host_end_job(&p->h);
    ms_iopool_destroy(p->h.pool);
    (void)ms_mailbox_deliver(&p->h.mailbox, 1000);
    ms_mailbox_release(&p->h.mailbox);
    ms_arena_release(&p->h.arena);
}

/* Delivers mails until the completion was answered; reads what is in the pipe meanwhile. */
static size_t wait_for(pipes *p, const host_done *done, char *into, size_t size)
{
    size_t got = 0;
    for (int i = 0; i < 5000 && done->count == 0; i++) {
        ssize_t bytes = into != NULL ? read(p->ends[0], into + got, size - got) : 0;
        got += bytes > 0 ? (size_t)bytes : 0;
        (void)ms_mailbox_deliver(&p->h.mailbox, 10);
        if (done->count == 0) {
            (void)ms_parker_park(&p->h.parker, 1000000);
        }
    }
    ssize_t bytes = into != NULL ? read(p->ends[0], into + got, size - got) : 0;
    return got + (bytes > 0 ? (size_t)bytes : 0);
}

static void rows_are_out_when_the_checkpoint_is_answered(void **state)
{
    (void)state;
    pipes p;
    char text[100];
    host_done done = host_done_make();
    open_pipes(&p);
    ms_writer *writer = open_writer(&p.h);
    ms_write answer = write_rows(&p.h, writer, 1, 2, 1);
    writer->klass->persist(writer, 1, &done.head);
    size_t got = wait_for(&p, &done, text, sizeof text);
    uint64_t rows = writer->rows_written;
    writer->klass->close(writer);
    close_pipes(&p);
    assert_int_equal(answer, MS_WRITE_DONE);
    assert_int_equal(done.rc, MS_OK);
    assert_int_equal(rows, 2);
    assert_str_equal(ms_str_make(text, got), "1,x\n2,x\n");
}

static void a_reader_that_has_gone_fails_the_writer(void **state)
{
    (void)state;
    pipes p;
    host_done done = host_done_make();
    signal(SIGPIPE, SIG_IGN);
    open_pipes(&p);
    close(p.ends[0]);
    p.ends[0] = -1;
    ms_writer *writer = open_writer(&p.h);
    (void)write_rows(&p.h, writer, 1, 2, 1);
    writer->klass->persist(writer, 1, &done.head);
    wait_for(&p, &done, NULL, 0);
    ms_status_clear(&p.h.st);
    ms_write answer = write_rows(&p.h, writer, 3, 1, 1);
    writer->klass->close(writer);
    close_pipes(&p);
    assert_int_equal(done.count, 1);
    assert_int_not_equal(done.rc, MS_OK);
    assert_int_equal(answer, MS_WRITE_FAILED);
}

static void closing_answers_the_checkpoints_that_wait(void **state)
{
    (void)state;
    pipes p;
    host_done done = host_done_make();
    open_pipes(&p);
    ms_writer *writer = open_writer(&p.h);
    /* Nobody reads: more than the pipe takes is still to be written. */
    (void)write_rows(&p.h, writer, 1, 10, 100000);
    ms_write blocked = MS_WRITE_DONE;
    for (int i = 0; i < 1000 && blocked == MS_WRITE_DONE; i++) {
        blocked = write_rows(&p.h, writer, 1, 10, 100000);
        (void)ms_mailbox_deliver(&p.h.mailbox, 10);
    }
    writer->klass->persist(writer, 1, &done.head);
    uint32_t before = done.count;
    writer->klass->close(writer);
    close_pipes(&p);
    assert_int_equal(blocked, MS_WRITE_BLOCKED);
    assert_int_equal(before, 0);
    assert_int_equal(done.count, 1);
    assert_int_equal(done.rc, MS_CANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(rows_are_out_when_the_checkpoint_is_answered),
        scratch_test(a_reader_that_has_gone_fails_the_writer),
        scratch_test(closing_answers_the_checkpoints_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
