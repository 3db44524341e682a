/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer: rows in hidden files, files of checkpoints, and what happens when the disk fails.
 */
#include "connector/filesystem/writer_host.h"

static void rows_stand_in_a_hidden_file_after_the_checkpoint(void **state)
{
    (void)state;
    host h;
    ms_buf committable;
    ms_buf_init(&committable, 10000);
    host_init(&h, "out", "json");
    ms_writer *writer = open_writer(&h);
    assert_int_equal(write_rows(&h, writer, 1, 2, 1), MS_WRITE_DONE);
    assert_int_equal(count_files("out", "", NULL), 0);
    assert_int_equal(checkpoint(&h, writer, 1, &committable), MS_OK);
    assert_true(committable.bytes > 0);
    uint64_t bytes = 0;
    assert_int_equal(count_files("out", ".part-", &bytes), 1);
    assert_int_equal(count_files("out", "part-", NULL), 0);
    assert_int_equal(bytes, 2 * strlen("{\"id\":1,\"text\":\"x\"}\n"));
    assert_int_equal(writer->rows_written, 2);
    assert_int_equal(writer->bytes_written, bytes);
    /* Nothing came since: nothing to commit. */
    assert_int_equal(checkpoint(&h, writer, 2, &committable), MS_OK);
    assert_int_equal(committable.bytes, 0);
    writer->klass->close(writer);
    assert_int_equal(count_files("out", ".part-", NULL), 1);
    assert_int_equal(ms_account_used_bytes(&h.job->account), 0);
    host_release(&h);
    ms_buf_release(&committable);
}

static void files_of_an_aborted_checkpoint_ride_along_with_the_next(void **state)
{
    (void)state;
    host h;
    host_done first = host_done_make();
    ms_buf committable;
    ms_buf_init(&committable, 10000);
    host_init(&h, "out", "json");
    ms_writer *writer = open_writer(&h);
    write_rows(&h, writer, 1, 1, 1);
    host_ok(&h, writer->klass->cut(writer, 1, false, &h.st));
    writer->klass->persist(writer, 1, &first.head);
    write_rows(&h, writer, 2, 1, 1);
    assert_int_equal(checkpoint(&h, writer, 2, &committable), MS_OK);
    assert_int_equal(first.count, 1);
    ms_codec_reader in = ms_codec_reader_make(ms_buf_view(&committable));
    assert_int_equal(ms_codec_reader_u8(&in), 1);
    assert_int_equal(ms_codec_reader_count(&in, 2), 2);
    writer->klass->close(writer);
    host_release(&h);
    ms_buf_release(&committable);
}

static void rows_behind_a_cut_belong_to_the_next_checkpoint(void **state)
{
    (void)state;
    host h;
    host_done done = host_done_make();
    ms_buf committable;
    ms_buf_init(&committable, 10000);
    host_init(&h, "out", "json");
    ms_writer *writer = open_writer(&h);
    write_rows(&h, writer, 1, 1, 1);
    host_ok(&h, writer->klass->cut(writer, 1, false, &h.st));
    write_rows(&h, writer, 2, 1, 1);
    writer->klass->persist(writer, 1, &done.head);
    host_run(&h);
    assert_int_equal(done.count, 1);
    host_ok(&h, writer->klass->committable(writer, 1, &committable, &h.st));
    ms_codec_reader in = ms_codec_reader_make(ms_buf_view(&committable));
    (void)ms_codec_reader_u8(&in);
    assert_int_equal(ms_codec_reader_count(&in, 2), 1);
    ms_str hidden = ms_codec_reader_str(&in);
    char path[MSI_FS_PATH_BYTES];
    snprintf(path, sizeof path, "%.*s", MS_STR_ARG(hidden));
    assert_file_is(path, "{\"id\":1,\"text\":\"x\"}\n");
    writer->klass->close(writer);
    host_release(&h);
    ms_buf_release(&committable);
}

static void files_roll_by_size(void **state)
{
    (void)state;
    host h;
    uint64_t bytes = 0;
    ms_buf committable;
    ms_buf_init(&committable, 100000);
    host_init(&h, "out", "csv");
    host_option(&h, "sink.rolling-policy.file-size", "1kb");
    ms_writer *writer = open_writer(&h);
    for (int64_t i = 0; i < 30; i++) {
        assert_int_equal(write_rows(&h, writer, i, 1, 500), MS_WRITE_DONE);
    }
    assert_int_equal(checkpoint(&h, writer, 1, &committable), MS_OK);
    assert_int_equal(count_files("out", ".part-", &bytes), 10);
    assert_int_equal(bytes, writer->bytes_written);
    writer->klass->close(writer);
    host_release(&h);
    ms_buf_release(&committable);
}

static void a_writer_that_has_too_much_waiting_blocks_until_it_is_written(void **state)
{
    (void)state;
    host h;
    uint64_t bytes = 0;
    ms_buf committable;
    ms_buf_init(&committable, 100000);
    host_init(&h, "out", "csv");
    ms_writer *writer = open_writer(&h);
    uint32_t batches = 0;
    while (write_rows(&h, writer, batches, 100, 10000) == MS_WRITE_DONE) {
        batches++;
        assert_in_range(batches, 1, 100);
    }
    assert_in_range(ms_account_used_bytes(&h.job->account), 16u << 20, 32u << 20);
    assert_int_equal(writer->rows_written, batches * 100);
    uint32_t wakes = h.wakes;
    host_run(&h);
    assert_true(h.wakes > wakes);
    assert_int_equal(write_rows(&h, writer, batches, 100, 10000), MS_WRITE_DONE);
    assert_int_equal(checkpoint(&h, writer, 1, &committable), MS_OK);
    assert_int_equal(count_files("out", ".part-", &bytes), 1);
    assert_int_equal(bytes, writer->bytes_written);
    assert_int_equal(ms_account_used_bytes(&h.job->account), 0);
    writer->klass->close(writer);
    host_release(&h);
    ms_buf_release(&committable);
}

/* 256 rows of 640 KB are more than a buffer may hold. */
static void a_batch_longer_than_any_buffer_is_written(void **state)
{
    (void)state;
    host h;
    uint64_t bytes = 0;
    ms_buf committable;
    ms_buf_init(&committable, 100000);
    host_init(&h, "out", "csv");
    ms_writer *writer = open_writer(&h);
    assert_int_equal(write_rows(&h, writer, 100, 256, 640u << 10), MS_WRITE_DONE);
    assert_int_equal(checkpoint(&h, writer, 1, &committable), MS_OK);
    assert_int_equal(count_files("out", ".part-", &bytes), 1);
    assert_int_equal(bytes, 256 * ((640u << 10) + strlen("100,\"\"\n")));
    writer->klass->close(writer);
    host_release(&h);
    ms_buf_release(&committable);
}

static void a_failing_disk_fails_the_checkpoint_and_later_writes(void **state)
{
    (void)state;
    static const char *const faults[] = {"file.full:1:fail", "file.write:1:fail",
                                         "file.sync:1:fail", "file.sync:2:fail"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        host h;
        ms_buf committable;
        ms_buf_init(&committable, 10000);
        host_init(&h, "out", "json");
        ms_writer *writer = open_writer(&h);
        assert_int_equal(write_rows(&h, writer, 1, 2, 1), MS_WRITE_DONE);
        host_ok(&h, ms_env_faults_set(ms_str_cstr(faults[i]), &h.st));
        ms_rc failure = i == 0 ? MS_DISK_FULL : MS_IO_ERROR;
        assert_int_equal(checkpoint(&h, writer, 1, &committable), failure);
        assert_int_equal(ms_env_faults_fired(), 1);
        ms_status st = {0};
        assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
        ms_status_clear(&h.st);
        assert_int_equal(write_rows(&h, writer, 3, 1, 1), MS_WRITE_FAILED);
        assert_int_equal(h.st.code, failure);
        ms_status_clear(&h.st);
        /* A checkpoint that comes later is told at once. */
        assert_int_equal(checkpoint(&h, writer, 2, &committable), failure);
        writer->klass->close(writer);
        assert_int_equal(count_files("out", "", NULL), 0);
        host_release(&h);
        ms_buf_release(&committable);
    }
}

static void closing_removes_what_no_checkpoint_has_taken(void **state)
{
    (void)state;
    host h;
    host_done done = host_done_make();
    host_init(&h, "out", "json");
    ms_writer *writer = open_writer(&h);
    write_rows(&h, writer, 1, 1, 1);
    host_ok(&h, writer->klass->cut(writer, 1, false, &h.st));
    writer->klass->persist(writer, 1, &done.head);
    host_run(&h);
    assert_int_equal(done.rc, MS_OK);
    assert_int_equal(count_files("out", ".part-", NULL), 1);
    writer->klass->close(writer);
    assert_int_equal(count_files("out", "", NULL), 0);
    host_release(&h);
}

static void closing_while_a_step_is_out_answers_and_leaves_nothing_behind(void **state)
{
    (void)state;
    host h;
    host_done done = host_done_make();
    host_init(&h, "out", "json");
    ms_writer *writer = open_writer(&h);
    write_rows(&h, writer, 1, 1, 2u << 20);
    write_rows(&h, writer, 2, 1, 2u << 20);
    host_ok(&h, writer->klass->cut(writer, 1, false, &h.st));
    writer->klass->persist(writer, 1, &done.head);
    write_rows(&h, writer, 3, 1, 1);
    writer->klass->close(writer);
    assert_int_equal(done.count, 1);
    assert_int_equal(done.rc, MS_CANCELED);
    assert_int_equal(ms_account_used_bytes(&h.job->account), 0);
    host_end_job(&h);
    uint32_t wakes = h.wakes;
    host_run(&h);
    assert_int_equal(h.wakes, wakes);
    assert_int_equal(count_files("out", "", NULL), 0);
    host_release(&h);
}

static void an_account_at_its_limit_refuses_rows(void **state)
{
    (void)state;
    host h;
    host_init(&h, "out", "json");
    ms_writer *writer = open_writer(&h);
    ms_account_set_limit(&h.job->account, 1000);
    assert_int_equal(write_rows(&h, writer, 1, 1, 2u << 20), MS_WRITE_FAILED);
    assert_int_equal(h.st.code, MS_NO_MEMORY);
    writer->klass->close(writer);
    host_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(rows_stand_in_a_hidden_file_after_the_checkpoint),
        scratch_test(files_of_an_aborted_checkpoint_ride_along_with_the_next),
        scratch_test(rows_behind_a_cut_belong_to_the_next_checkpoint),
        scratch_test(files_roll_by_size),
        scratch_test(a_writer_that_has_too_much_waiting_blocks_until_it_is_written),
        scratch_test(a_batch_longer_than_any_buffer_is_written),
        scratch_test(a_failing_disk_fails_the_checkpoint_and_later_writes),
        scratch_test(closing_removes_what_no_checkpoint_has_taken),
        scratch_test(closing_while_a_step_is_out_answers_and_leaves_nothing_behind),
        scratch_test(an_account_at_its_limit_refuses_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
