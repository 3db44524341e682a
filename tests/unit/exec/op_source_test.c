/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling a reader, asking for splits, snapshots and restores, with a reader of our own: a split is
 * a text of letters, each a row.
 */
#include "op_host.h"

#include "base/codec.h"

typedef struct fake_reader {
    ms_reader reader;
    ms_str split; /* what is left of it */
    bool is_complete;
    bool fails;
    bool gives_empty;
    bool is_closed;
    ms_batch_pool *pool;
} fake_reader;

static fake_reader reader;

static ms_rc fake_add_split(ms_reader *self, ms_str split, ms_status *st)
{
    if (ms_str_equals(split, ms_str_lit("bad"))) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "bad split");
    }
    static char copy[100];
    memcpy(copy, split.ptr, split.bytes);
    ((fake_reader *)self)->split = ms_str_make(copy, split.bytes);
    return MS_OK;
}

static void fake_no_more_splits(ms_reader *self)
{
    ((fake_reader *)self)->is_complete = true;
}

static bool fake_wants_split(const ms_reader *self)
{
    const fake_reader *fake = (const fake_reader *)self;
    return fake->split.bytes == 0 && !fake->is_complete;
}

static ms_read fake_poll(ms_reader *self, ms_batch **batch_out, ms_status *st)
{
    fake_reader *fake = (fake_reader *)self;
    if (fake->fails) {
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "cannot read");
        return MS_READ_FAILED;
    }
    if (fake->split.bytes == 0 && !fake->gives_empty) {
        return fake->is_complete ? MS_READ_END : MS_READ_PENDING;
    }
    ms_batch *batch = ms_batch_pool_take(fake->pool);
    assert_non_null(batch);
    if (fake->split.bytes > 0 && !fake->gives_empty) {
        MS_VEC_DATA(&batch->columns[0], ms_view)[0] = ms_view_make(fake->split.ptr, 1);
        fake->split = ms_str_slice(fake->split, 1, fake->split.bytes);
        batch->rows = 1;
    }
    *batch_out = batch;
    return MS_READ_BATCH;
}

static ms_rc fake_snapshot(ms_reader *self, ms_buf *out, ms_status *st)
{
    fake_reader *fake = (fake_reader *)self;
    uint32_t count = fake->split.bytes > 0 ? 1 : 0;
    MS_TRY(ms_codec_put_u32(out, count, st));
    return count > 0 ? ms_codec_put_str(out, fake->split, st) : MS_OK;
}

static void fake_close(ms_reader *self)
{
    ((fake_reader *)self)->is_closed = true;
}

static const ms_reader_class reader_class = {fake_add_split, fake_no_more_splits, fake_wants_split,
                                             fake_poll,      fake_snapshot,       fake_close};

static ms_rc fake_reader_create(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                                ms_status *st)
{
    (void)scan;
    (void)env;
    (void)st;
    reader = (fake_reader){.reader = {.klass = &reader_class}, .pool = reader.pool};
    *reader_out = &reader.reader;
    return MS_OK;
}

static const ms_scan_class scan_class = {.reader_create = fake_reader_create};
static const ms_scan scan = {.klass = &scan_class};

static void open_source(op_host *h)
{
    host_init(h, op_modes[0], "a STRING");
    reader.pool = ms_batch_pool_create(&h->input_node.schema, 1, 1);
    h->node.kind = MS_PNODE_SOURCE;
    h->node.input_count = 0;
    h->node.u.source.scan = &scan;
    host_open(h, "a STRING");
}

static void close_source(op_host *h)
{
    host_close(h);
    assert_true(reader.is_closed);
    ms_batch_pool_destroy(reader.pool);
}

static void splits_are_asked_for_one_at_a_time_until_there_are_no_more(void **state)
{
    (void)state;
    op_host h;
    open_source(&h);
    host_poll(&h, 3);
    host_expect(&h, "REQUEST PENDING PENDING PENDING");
    assert_int_equal(h.op->klass->add_split(h.op, ms_str_lit("ab")), MS_OK);
    host_poll(&h, 3);
    host_expect(&h, "+I[a] REQUEST +I[b] PENDING");
    assert_int_equal(h.op->rows_out, 2);
    h.op->klass->no_more_splits(h.op);
    host_poll(&h, 2);
    host_expect(&h, "SOURCE_END SOURCE_END");
    close_source(&h);
}

static void an_empty_batch_goes_home(void **state)
{
    (void)state;
    op_host h;
    open_source(&h);
    reader.gives_empty = true;
    host_poll(&h, 3);
    host_expect(&h, "REQUEST");
    reader.gives_empty = false;
    close_source(&h);
}

static void a_failing_reader_fails_the_job_at_its_table(void **state)
{
    (void)state;
    op_host h;
    open_source(&h);
    reader.fails = true;
    host_poll(&h, 1);
    host_expect_failure(&h, MS_IO_ERROR, "cannot read");
    assert_int_equal(h.op->klass->add_split(h.op, ms_str_lit("bad")), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    close_source(&h);
}

static void a_restored_source_goes_on_behind_the_last_row(void **state)
{
    (void)state;
    op_host h;
    open_source(&h);
    assert_int_equal(h.op->klass->add_split(h.op, ms_str_lit("abcd")), MS_OK);
    host_poll(&h, 2);
    host_checkpoint(&h, 1);
    host_poll(&h, 1);
    host_restart(&h);
    ms_buf_reset(&h.log);
    host_poll(&h, 2);
    host_expect(&h, "+I[c] REQUEST +I[d]");
    close_source(&h);
}

static void the_snapshot_is_that_of_the_cut(void **state)
{
    (void)state;
    op_host h;
    open_source(&h);
    assert_int_equal(h.op->klass->add_split(h.op, ms_str_lit("abc")), MS_OK);
    host_poll(&h, 1);
    assert_int_equal(h.op->klass->barrier(h.op, 1, false), MS_OK);
    host_poll(&h, 1);
    h.op->klass->persist(h.op, 1);
    assert_int_equal(h.persisted, 1);
    assert_int_equal(h.snapshot.bytes, 4 + 1 + 2);
    assert_memory_equal(h.snapshot.ptr + 5, "bc", 2);
    close_source(&h);
}

static void damaged_snapshots_are_refused(void **state)
{
    (void)state;
    op_host h;
    open_source(&h);
    static const ms_str damaged[] = {{"", 0},
                                     {"\1\0\0\0", 4},
                                     {"\1\0\0\0\5ab", 7},
                                     {"\1\0\0\0\1ab", 7},
                                     {"\377\377\377\377", 4}};
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        assert_int_equal(h.op->klass->restore(h.op, damaged[i]), MS_CORRUPT_DATA);
        ms_status_clear(&h.st);
    }
    close_source(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_are_asked_for_one_at_a_time_until_there_are_no_more),
        cmocka_unit_test(an_empty_batch_goes_home),
        cmocka_unit_test(a_failing_reader_fails_the_job_at_its_table),
        cmocka_unit_test(a_restored_source_goes_on_behind_the_last_row),
        cmocka_unit_test(the_snapshot_is_that_of_the_cut),
        cmocka_unit_test(damaged_snapshots_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
