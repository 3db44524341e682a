/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing to a sink: NOT NULL, blocking, and what a checkpoint asks of a writer, with a writer of
 * our own that keeps a text of what it was told.
 */
#include "op_host.h"

typedef struct fake_writer {
    ms_writer writer;
    op_host *host;
    ms_write answer;     /* to the next write */
    uint32_t writes;     /* that were taken */
    uint32_t writes_max; /* then the answer is BLOCKED; 0: no such bound */
    uint32_t rows_max;   /* of one write */
    ms_completion *persisting;
    bool is_closed;
} fake_writer;

static fake_writer writer;

static ms_write fake_write(ms_writer *self, const ms_batch *batch, ms_status *st)
{
    fake_writer *fake = (fake_writer *)self;
    uint32_t rows = ms_batch_live(batch);
    if (fake->writes_max != 0 && fake->writes == fake->writes_max) {
        return MS_WRITE_BLOCKED;
    }
    fake->writes++;
    fake->rows_max = rows > fake->rows_max ? rows : fake->rows_max;
    if (fake->answer == MS_WRITE_DONE) {
        host_print(&fake->host->log, batch);
    } else if (fake->answer == MS_WRITE_FAILED) {
        ms_status_set(st, MS_DISK_FULL, ms_span_none, "no room");
    }
    return fake->answer;
}

static ms_rc fake_cut(ms_writer *self, uint64_t checkpoint, bool is_final, ms_status *st)
{
    (void)st;
    host_log(((fake_writer *)self)->host, "CUT(%d%s)", (int)checkpoint, is_final ? ", final" : "");
    return MS_OK;
}

static void fake_persist(ms_writer *self, uint64_t checkpoint, ms_completion *completion)
{
    fake_writer *fake = (fake_writer *)self;
    host_log(fake->host, "PERSIST(%d)", (int)checkpoint);
    fake->persisting = completion;
}

static ms_rc fake_committable(ms_writer *self, uint64_t checkpoint, ms_buf *out, ms_status *st)
{
    (void)self;
    return ms_buf_format(out, st, "files of %d", (int)checkpoint);
}

static ms_rc fake_snapshot(ms_writer *self, uint64_t checkpoint, ms_buf *out, ms_status *st)
{
    (void)self;
    return ms_buf_format(out, st, "state at %d", (int)checkpoint);
}

static ms_rc fake_restore(ms_writer *self, ms_str state, ms_status *st)
{
    (void)st;
    host_log(((fake_writer *)self)->host, "RESTORE(%.*s)", MS_STR_ARG(state));
    return MS_OK;
}

static void fake_close(ms_writer *self)
{
    ((fake_writer *)self)->is_closed = true;
}

static const ms_writer_class full_class = {
    fake_write, fake_cut, fake_persist, fake_committable, fake_snapshot, fake_restore, fake_close};
static const ms_writer_class bare_class = {.write = fake_write, .close = fake_close};
static const ms_writer_class *writer_class;

static ms_rc fake_writer_create(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                                ms_status *st)
{
    (void)sink;
    (void)env;
    (void)st;
    writer.writer.klass = writer_class;
    writer.is_closed = false;
    *writer_out = &writer.writer;
    return MS_OK;
}

static const ms_sink_class sink_class = {.writer_create = fake_writer_create};
static const ms_sink sink = {.klass = &sink_class};
static const bool not_null[] = {true, false, true};

static void open_sink(op_host *h, op_mode mode, const ms_writer_class *klass)
{
    writer = (fake_writer){.host = h, .answer = MS_WRITE_DONE};
    writer_class = klass;
    host_init(h, mode, "a INT, b STRING, c STRING");
    h->node.kind = MS_PNODE_SINK;
    h->node.u.sink.sink = &sink;
    h->node.u.sink.table = ms_str_lit("orders");
    h->node.u.sink.not_null = not_null;
    h->input_node.changelog = MS_CHANGELOG_ALL;
    host_open(h, "a INT NOT NULL, b STRING, c STRING NOT NULL");
}

static void rows_are_written_with_their_kinds_and_watermarks_end_here(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_sink(&h, op_modes[i], &full_class);
        host_feed(&h, "+I[1, x, y] -U[2, null, y] +U[2, null, z]");
        host_watermark(&h, 5);
        host_expect(&h, "+I[1, x, y] -U[2, null, y] +U[2, null, z]");
        host_close(&h);
        assert_true(writer.is_closed);
    }
}

static void a_null_in_a_not_null_column_fails_after_the_rows_before_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_sink(&h, op_modes[i], &full_class);
        host_feed(&h, "+I[1, x, y] +I[2, x, y] +I[3, x, null] +I[null, x, y]");
        host_expect(&h, "+I[1, x, y] +I[2, x, y]");
        assert_string_equal(
            h.st.detail, "Column 'c' is NOT NULL, however, a null value is being written into it.");
        host_expect_failure(
            &h, MS_NOT_NULL_VIOLATION,
            "column \"c\" of table \"orders\" is NOT NULL, but a row has NULL there");
        host_close(&h);
        open_sink(&h, op_modes[i], &full_class);
        host_feed(&h, "+U[null, x, null]");
        host_expect(&h, "");
        host_expect_failure(
            &h, MS_NOT_NULL_VIOLATION,
            "column \"a\" of table \"orders\" is NOT NULL, but a row has NULL there");
        host_close(&h);
    }
}

static void rows_that_are_taken_back_are_not_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_sink(&h, op_modes[i], &full_class);
        host_feed(&h, "-D[1, null, null] -U[null, x, y]");
        host_expect(&h, "-D[1, null, null] -U[null, x, y]");
        host_close(&h);
    }
}

static void a_blocked_batch_is_not_accepted(void **state)
{
    (void)state;
    op_host h;
    open_sink(&h, (op_mode){2048, false, false}, &full_class);
    writer.answer = MS_WRITE_BLOCKED;
    host_feed(&h, "+I[1, x, y] +I[2, x, null]");
    assert_true(h.is_blocked);
    host_expect(&h, "");
    writer.answer = MS_WRITE_DONE;
    host_feed(&h, "+I[1, x, y] +I[2, x, null]");
    host_expect(&h, "+I[1, x, y]");
    assert_int_equal(h.st.code, MS_NOT_NULL_VIOLATION);
    ms_status_clear(&h.st);
    writer.answer = MS_WRITE_FAILED;
    host_feed(&h, "+I[1, x, y]");
    host_expect_failure(&h, MS_DISK_FULL, "no room");
    host_close(&h);
}

static void a_checkpoint_is_cut_persisted_and_handed_over(void **state)
{
    (void)state;
    op_host h;
    open_sink(&h, op_modes[0], &full_class);
    host_feed(&h, "+I[1, x, y]");
    host_checkpoint(&h, 4);
    host_expect(&h, "+I[1, x, y] CUT(4) PERSIST(4)");
    assert_int_equal(h.persisted, 0);
    host_token *token = (host_token *)writer.persisting;
    ms_done(writer.persisting, MS_OK, NULL);
    assert_int_equal(h.op->klass->complete(h.op, &token->completion), MS_DONE);
    assert_int_equal(h.persisted, 1);
    assert_str_equal(ms_buf_view(&h.committable), "files of 4");
    assert_str_equal(ms_buf_view(&h.snapshot), "state at 4");
    host_restart(&h);
    host_expect(&h, "RESTORE(state at 4)");
    host_close(&h);
}

static void a_failed_persist_fails_the_job_at_the_sink(void **state)
{
    (void)state;
    op_host h;
    open_sink(&h, op_modes[0], &full_class);
    host_checkpoint(&h, 1);
    host_checkpoint(&h, 2);
    assert_int_equal(h.token_count, 2);
    ms_status st = {0};
    ms_status_set(&st, MS_DISK_FULL, ms_span_none, "no room");
    ms_done(&h.tokens[1].completion, MS_DISK_FULL, &st);
    h.op->klass->complete(h.op, &h.tokens[1].completion);
    assert_int_equal(h.persisted, 0);
    host_expect_failure(&h, MS_DISK_FULL, "no room");
    ms_done(&h.tokens[0].completion, MS_OK, NULL);
    h.op->klass->complete(h.op, &h.tokens[0].completion);
    assert_int_equal(h.persisted, 1);
    assert_str_equal(ms_buf_view(&h.committable), "files of 1");
    host_close(&h);
}

static void a_writer_without_checkpoint_functions_is_always_persisted(void **state)
{
    (void)state;
    op_host h;
    open_sink(&h, op_modes[0], &bare_class);
    host_feed(&h, "+I[1, x, y]");
    host_checkpoint(&h, 1);
    assert_int_equal(h.persisted, 1);
    host_expect(&h, "+I[1, x, y]");
    host_close(&h);
}

/* A writer copies what it gets: it gets no more than a batch may have, and may stop in between. */
static void long_rows_are_written_in_parts(void **state)
{
    (void)state;
    op_host h;
    writer = (fake_writer){.host = &h, .answer = MS_WRITE_DONE, .writes_max = 2};
    writer_class = &full_class;
    host_init(&h, (op_mode){2048, false, true}, "a INT, b STRING");
    h.node.kind = MS_PNODE_SINK;
    h.node.u.sink.sink = &sink;
    h.node.u.sink.table = ms_str_lit("orders");
    host_open(&h, "a INT, b STRING");
    const char *rows = host_long_rows(&h, 10, 1u << 20);
    host_feed(&h, rows);
    assert_true(h.is_blocked);
    writer.writes_max = 0;
    host_feed(&h, rows);
    assert_false(h.is_blocked);
    host_expect(&h, rows);
    assert_int_equal(writer.rows_max, 4);
    assert_int_equal(writer.writes, 3);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_written_with_their_kinds_and_watermarks_end_here),
        cmocka_unit_test(a_null_in_a_not_null_column_fails_after_the_rows_before_it),
        cmocka_unit_test(rows_that_are_taken_back_are_not_checked),
        cmocka_unit_test(a_blocked_batch_is_not_accepted),
        cmocka_unit_test(a_checkpoint_is_cut_persisted_and_handed_over),
        cmocka_unit_test(a_failed_persist_fails_the_job_at_the_sink),
        cmocka_unit_test(a_writer_without_checkpoint_functions_is_always_persisted),
        cmocka_unit_test(long_rows_are_written_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
