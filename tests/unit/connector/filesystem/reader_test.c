/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader over real files: all rows once, and from every snapshot exactly the rest.
 */
#include "connector/filesystem/fs_host.h"

#include "type/text.h"

static ms_reader *open_reader(host *h)
{
    ms_reader *reader = NULL;
    host_ok(h, host_plan_scan(h));
    host_ok(h, h->job->scan->klass->reader_create(h->job->scan, &h->job->env, &reader, &h->st));
    return reader;
}

static ms_rc add(host *h, ms_reader *reader, const char *path, uint64_t offset)
{
    ms_buf bytes;
    ms_buf_init(&bytes, MSI_FS_PATH_BYTES * 2);
    msi_fs_split split = {ms_str_cstr(path), offset};
    host_ok(h, msi_fs_split_write(&split, &bytes, &h->st));
    ms_rc rc = reader->klass->add_split(reader, ms_buf_view(&bytes), &h->st);
    ms_buf_release(&bytes);
    return rc;
}

/* The splits of a snapshot go to a reader. */
static void add_all(host *h, ms_reader *reader, ms_str snapshot)
{
    ms_codec_reader in = ms_codec_reader_make(snapshot);
    uint32_t count = ms_codec_reader_u32(&in);
    for (uint32_t i = 0; i < count; i++) {
        host_ok(h, reader->klass->add_split(reader, ms_codec_reader_str(&in), &h->st));
    }
    host_ok(h, ms_codec_reader_finish(&in, "a snapshot", &h->st));
}

/* Polls once, after what is pending was done; appends rows as "id:text ". */
static ms_read poll(host *h, ms_reader *reader, ms_buf *rows)
{
    ms_batch *batch = NULL;
    ms_read answer = reader->klass->poll(reader, &batch, &h->st);
    for (int i = 0; answer == MS_READ_PENDING && i < 100; i++) {
        host_run(h);
        answer = reader->klass->poll(reader, &batch, &h->st);
    }
    for (uint32_t r = 0; answer == MS_READ_BATCH && r < batch->rows; r++) {
        assert_int_equal(
            ms_text_vec(rows, &batch->columns[0], r, MS_TEXT_CAST, ms_zone_utc(), &h->st), MS_OK);
        assert_int_equal(ms_buf_append_byte(rows, ':', &h->st), MS_OK);
        assert_int_equal(
            ms_text_vec(rows, &batch->columns[1], r, MS_TEXT_CAST, ms_zone_utc(), &h->st), MS_OK);
        assert_int_equal(ms_buf_append_byte(rows, ' ', &h->st), MS_OK);
    }
    return answer;
}

static ms_read read_all(host *h, ms_reader *reader, ms_buf *rows)
{
    ms_read answer;
    reader->klass->no_more_splits(reader);
    while ((answer = poll(h, reader, rows)) == MS_READ_BATCH) {
    }
    return answer;
}

static void files_are_read_one_after_the_other(void **state)
{
    (void)state;
    host h;
    ms_buf rows;
    ms_buf_init(&rows, 10000);
    host_init(&h, "", "csv");
    write_file(path_of("a"), "1,x\n2,y");
    write_file(path_of("b"), "");
    write_file(path_of("c"), "3,z\n");
    ms_reader *reader = open_reader(&h);
    assert_true(reader->klass->wants_split(reader));
    assert_int_equal(poll(&h, reader, &rows), MS_READ_PENDING);
    host_ok(&h, add(&h, reader, path_of("a"), 0));
    assert_false(reader->klass->wants_split(reader));
    host_ok(&h, add(&h, reader, path_of("b"), 0));
    host_ok(&h, add(&h, reader, path_of("c"), 0));
    assert_int_equal(read_all(&h, reader, &rows), MS_READ_END);
    assert_str_equal(ms_buf_view(&rows), "1:x 2:y 3:z ");
    assert_int_equal(reader->rows_read, 3);
    assert_int_equal(reader->bytes_read, 11);
    assert_false(reader->klass->wants_split(reader));
    reader->klass->close(reader);
    host_release(&h);
    ms_buf_release(&rows);
}

/* After every number of polls: snapshot, another reader, the rest. */
static void check_resume(const char *format, const char *option, const char *value)
{
    host h;
    ms_buf whole;
    ms_buf parts;
    ms_buf snapshot;
    ms_buf_init(&whole, 1u << 20);
    ms_buf_init(&parts, 1u << 20);
    ms_buf_init(&snapshot, 1u << 20);
    bool ended = false;
    for (uint32_t polls = 0; !ended; polls++) {
        for (uint32_t batch_rows = 1; batch_rows <= 3; batch_rows += 2) {
            host_init(&h, "", format);
            host_option(&h, option, value);
            h.job->env.batch_rows = batch_rows;
            ms_buf_reset(&whole);
            ms_buf_reset(&parts);
            ms_buf_reset(&snapshot);
            ms_reader *reader = open_reader(&h);
            host_ok(&h, add(&h, reader, path_of("a"), 0));
            host_ok(&h, add(&h, reader, path_of("b"), 0));
            for (uint32_t i = 0; i < polls; i++) {
                ended = poll(&h, reader, &parts) != MS_READ_BATCH;
            }
            host_ok(&h, reader->klass->snapshot(reader, &snapshot, &h.st));
            host_ok(&h, ms_buf_append(&whole, ms_buf_view(&parts), &h.st));
            assert_int_equal(read_all(&h, reader, &whole), MS_READ_END);
            reader->klass->close(reader);
            reader = open_reader(&h);
            add_all(&h, reader, ms_buf_view(&snapshot));
            assert_int_equal(read_all(&h, reader, &parts), MS_READ_END);
            assert_true(ms_str_equals(ms_buf_view(&whole), ms_buf_view(&parts)));
            assert_str_equal(ms_str_slice(ms_buf_view(&whole), 0, 8), "1:x 2:y ");
            reader->klass->close(reader);
            host_release(&h);
        }
    }
    ms_buf_release(&whole);
    ms_buf_release(&parts);
    ms_buf_release(&snapshot);
}

static void every_snapshot_gives_exactly_the_rest(void **state)
{
    (void)state;
    write_file(path_of("a"), "\xEF\xBB\xBFid,text\n1,x\n2,y\r\n\"3\",\"q\nr\"\n4,z");
    write_file(path_of("b"), "id,text\n5,x\n6,y\n7,\"\"");
    check_resume("csv", "csv.ignore-first-line", "true");
    write_file(path_of("a"),
               "\xEF\xBB\xBF{\"id\":1,\"text\":\"x\"}\n\nbad\n{\"id\":2,\"text\":\"y\"}"
               "\r\n{\"text\":null}\n{\"id\":4}");
    write_file(path_of("b"), "\n{\"id\":5}\nbad\n{\"id\":6}\n");
    check_resume("json", "json.ignore-parse-errors", "true");
}

static void records_cross_the_chunks_of_a_long_file(void **state)
{
    (void)state;
    host h;
    ms_status st = {0};
    ms_buf text;
    ms_buf rows;
    ms_buf_init(&text, 8u << 20);
    ms_buf_init(&rows, 8u << 20);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_ok(ms_buf_format(&text, &st, "%u,\"line\n%u\"\n", i, i));
    }
    host_init(&h, "", "csv");
    h.job->env.batch_rows = 2048;
    write_file(path_of("a"), text.ptr);
    ms_reader *reader = open_reader(&h);
    host_ok(&h, add(&h, reader, path_of("a"), 0));
    assert_int_equal(read_all(&h, reader, &rows), MS_READ_END);
    assert_int_equal(reader->rows_read, 100000);
    assert_int_equal(reader->bytes_read, text.bytes);
    assert_str_equal(ms_str_slice(ms_buf_view(&rows), rows.bytes - 18, rows.bytes),
                     " 99999:line\n99999 ");
    reader->klass->close(reader);
    host_release(&h);
    ms_buf_release(&rows);
    ms_buf_release(&text);
}

static void rows_before_a_bad_record_come_first(void **state)
{
    (void)state;
    host h;
    ms_buf rows;
    ms_buf_init(&rows, 10000);
    host_init(&h, "", "csv");
    write_file(path_of("a"), "1,x\n2,y\nz,3\n4,w\n");
    ms_reader *reader = open_reader(&h);
    host_ok(&h, add(&h, reader, path_of("a"), 0));
    assert_int_equal(poll(&h, reader, &rows), MS_READ_BATCH);
    assert_str_equal(ms_buf_view(&rows), "1:x 2:y ");
    assert_int_equal(poll(&h, reader, &rows), MS_READ_FAILED);
    assert_int_equal(h.st.code, MS_BAD_RECORD);
    assert_non_null(strstr(h.st.message, "record 3"));
    assert_non_null(strstr(h.st.detail, path_of("a")));
    reader->klass->close(reader);
    host_release(&h);
    ms_buf_release(&rows);
}

static void a_file_that_is_gone_or_was_cut_fails(void **state)
{
    (void)state;
    host h;
    ms_buf rows;
    ms_buf_init(&rows, 10000);
    host_init(&h, "", "csv");
    ms_reader *reader = open_reader(&h);
    host_ok(&h, add(&h, reader, path_of("nothing"), 0));
    assert_int_equal(poll(&h, reader, &rows), MS_READ_FAILED);
    assert_int_equal(h.st.code, MS_FILE_NOT_FOUND);
    ms_status_clear(&h.st);
    reader->klass->close(reader);
    write_file(path_of("a"), "1,x\n");
    reader = open_reader(&h);
    host_ok(&h, add(&h, reader, path_of("a"), 5));
    assert_int_equal(poll(&h, reader, &rows), MS_READ_FAILED);
    assert_int_equal(h.st.code, MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    reader->klass->close(reader);
    reader = open_reader(&h);
    host_ok(&h, add(&h, reader, path_of("a"), 4));
    assert_int_equal(read_all(&h, reader, &rows), MS_READ_END);
    reader->klass->close(reader);
    host_release(&h);
    ms_buf_release(&rows);
}

static void a_failing_read_fails_the_poll(void **state)
{
    (void)state;
    host h;
    ms_buf rows;
    ms_buf_init(&rows, 10000);
    host_init(&h, "", "csv");
    write_file(path_of("a"), "1,x\n");
    ms_reader *reader = open_reader(&h);
    host_ok(&h, ms_env_faults_set(ms_str_lit("file.read:1:fail"), &h.st));
    host_ok(&h, add(&h, reader, path_of("a"), 0));
    assert_int_equal(poll(&h, reader, &rows), MS_READ_FAILED);
    assert_int_equal(h.st.code, MS_IO_ERROR);
    host_ok(&h, ms_env_faults_set(ms_str_lit(""), &h.st));
    reader->klass->close(reader);
    host_release(&h);
    ms_buf_release(&rows);
}

static void splits_that_cannot_be_are_refused(void **state)
{
    (void)state;
    host h;
    host_init(&h, "", "csv");
    ms_reader *reader = open_reader(&h);
    char path[MSI_FS_PATH_BYTES + 1];
    memset(path, 'x', MSI_FS_PATH_BYTES);
    path[MSI_FS_PATH_BYTES] = '\0';
    assert_int_equal(add(&h, reader, path, 0), MS_LIMIT);
    ms_status_clear(&h.st);
    assert_int_equal(reader->klass->add_split(reader, ms_str_lit("junk"), &h.st), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    ms_rc rc = MS_OK;
    for (int i = 0; i < 100 && rc == MS_OK; i++) {
        rc = add(&h, reader, "x", 0);
    }
    assert_int_equal(rc, MS_LIMIT);
    reader->klass->close(reader);
    host_release(&h);
    host_init(&h, "-", "csv");
    reader = open_reader(&h);
    assert_int_equal(add(&h, reader, "-", 7), MS_NOT_SUPPORTED);
    reader->klass->close(reader);
    host_release(&h);
}

static void closing_while_a_read_is_out_leaves_nothing_behind(void **state)
{
    (void)state;
    host h;
    ms_batch *batch = NULL;
    host_init(&h, "", "csv");
    write_file(path_of("a"), "1,x\n");
    ms_reader *reader = open_reader(&h);
    host_ok(&h, add(&h, reader, path_of("a"), 0));
    assert_int_equal(reader->klass->poll(reader, &batch, &h.st), MS_READ_PENDING);
    reader->klass->close(reader);
    host_end_job(&h);
    uint32_t wakes = h.wakes;
    host_run(&h);
    assert_int_equal(h.wakes, wakes);
    host_release(&h);
}

static void standard_input_is_read_to_its_end(void **state)
{
    (void)state;
    host h;
    ms_buf rows;
    int ends[2];
    int saved = dup(STDIN_FILENO);
    ms_buf_init(&rows, 10000);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "1,x\n2,y", 7), 7);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    host_init(&h, "-", "csv");
    ms_iopool_destroy(h.pool);
    host_ok(&h, ms_iopool_create(&(ms_iopool_options){0}, &h.pool, &h.st));
    h.job->env.iopool = h.pool;
    ms_reader *reader = open_reader(&h);
    host_ok(&h, add(&h, reader, "-", 0));
    reader->klass->no_more_splits(reader);
    ms_read answer = MS_READ_PENDING;
    while (answer != MS_READ_END && answer != MS_READ_FAILED) {
        answer = poll(&h, reader, &rows);
        (void)ms_parker_park(&h.parker, 1000000);
    }
    assert_int_equal(answer, MS_READ_END);
    assert_str_equal(ms_buf_view(&rows), "1:x 2:y ");
    reader->klass->close(reader);
    host_end_job(&h);
    ms_iopool_destroy(h.pool);
    (void)ms_mailbox_deliver(&h.mailbox, 100);
    ms_mailbox_release(&h.mailbox);
    ms_arena_release(&h.arena);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    ms_buf_release(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(files_are_read_one_after_the_other),
        scratch_test(every_snapshot_gives_exactly_the_rest),
        scratch_test(records_cross_the_chunks_of_a_long_file),
        scratch_test(rows_before_a_bad_record_come_first),
        scratch_test(a_file_that_is_gone_or_was_cut_fails),
        scratch_test(a_failing_read_fails_the_poll),
        scratch_test(splits_that_cannot_be_are_refused),
        scratch_test(closing_while_a_read_is_out_leaves_nothing_behind),
        scratch_test(standard_input_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
