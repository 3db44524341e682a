/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch_dir.h"

#include "base/env.h"

#include <sys/stat.h>

static void a_file_is_written_and_read_back(void **state)
{
    (void)state;
    ms_status st = {0};
    const char *path = path_of("f");
    ms_file *file = NULL;
    assert_ok(ms_file_open(path, MS_FILE_CREATE, &file, &st));
    assert_string_equal(ms_file_path(file), path);
    assert_ok(ms_file_write(file, ms_str_lit("hello "), &st));
    assert_ok(ms_file_write(file, ms_str_lit("world"), &st));
    assert_ok(ms_file_write_at(file, 0, ms_str_lit("J"), &st));
    assert_ok(ms_file_write(file, ms_str_lit("!"), &st));
    assert_ok(ms_file_sync(file, &st));
    assert_ok(ms_file_sync_data(file, &st));
    uint64_t bytes = 0;
    assert_ok(ms_file_bytes(file, &bytes, &st));
    assert_int_equal(bytes, 12);
    char text[32];
    size_t count = 0;
    assert_ok(ms_file_read_at(file, 6, text, sizeof(text), &count, &st));
    assert_str_equal(ms_str_make(text, count), "world!");
    assert_ok(ms_file_read_at(file, 100, text, sizeof(text), &count, &st));
    assert_int_equal(count, 0);
    assert_ok(ms_file_truncate(file, 5, &st));
    ms_file_close(file);
    assert_file_is(path, "Jello");
    assert_int_equal(info_of(path).bytes, 5);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void modes_say_what_must_be_there(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_file *file = NULL;
    const char *path = path_of("f");
    assert_int_equal(ms_file_open(path, MS_FILE_READ, &file, &st), MS_FILE_NOT_FOUND);
    assert_null(file);
    assert_non_null(strstr(st.message, "could not open file \"/tmp/"));
    ms_status_clear(&st);

    assert_ok(ms_file_open(path, MS_FILE_READ_WRITE, &file, &st));
    assert_ok(ms_file_write(file, ms_str_lit("abc"), &st));
    ms_file_close(file);
    assert_int_equal(ms_file_open(path, MS_FILE_CREATE, &file, &st), MS_IO_ERROR);
    ms_status_clear(&st);
    assert_ok(ms_file_open(path, MS_FILE_READ_WRITE, &file, &st));
    assert_ok(ms_file_write(file, ms_str_lit("x"), &st));
    ms_file_close(file);
    assert_file_is(path, "xbc");
    assert_ok(ms_file_open(path, MS_FILE_APPEND, &file, &st));
    assert_ok(ms_file_write(file, ms_str_lit("d"), &st));
    ms_file_close(file);
    assert_file_is(path, "xbcd");
    assert_ok(ms_file_open(path, MS_FILE_TRUNCATE, &file, &st));
    ms_file_close(file);
    assert_file_is(path, "");
    assert_ok(ms_file_open(path, MS_FILE_READ, &file, &st));
    assert_int_equal(ms_file_write(file, ms_str_lit("d"), &st), MS_IO_ERROR);
    ms_file_close(file);
    ms_file_close(NULL);
}

/* Without a writer the open of a pipe would wait for ever. */
static void a_pipe_is_refused_where_a_regular_file_is_wanted(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_file *file = NULL;
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    assert_int_equal(ms_file_open(path_of("pipe"), MS_FILE_READ_REGULAR, &file, &st), MS_IO_ERROR);
    assert_null(file);
    assert_non_null(strstr(st.message, "is no regular file"));
    ms_status_clear(&st);
    assert_ok(ms_file_open("/dev/null", MS_FILE_READ_REGULAR, &file, &st));
    ms_file_close(file);
    assert_int_equal(info_of("/dev/null").kind, MS_FILE_KIND_FILE);
}

static void stream_reads_reach_the_end(void **state)
{
    (void)state;
    ms_status st = {0};
    write_file(path_of("f"), "abc");
    ms_file *file = NULL;
    assert_ok(ms_file_open(path_of("f"), MS_FILE_READ, &file, &st));
    char text[2];
    size_t count = 0;
    assert_ok(ms_file_read(file, text, 2, &count, &st));
    assert_int_equal(count, 2);
    assert_ok(ms_file_read(file, text, 2, &count, &st));
    assert_int_equal(count, 1);
    assert_ok(ms_file_read(file, text, 2, &count, &st));
    assert_int_equal(count, 0);
    ms_file_close(file);
}

static void names_are_renamed_and_removed(void **state)
{
    (void)state;
    ms_status st = {0};
    write_file(path_of("a"), "new");
    write_file(path_of("b"), "old");
    assert_ok(ms_file_rename(path_of("a"), path_of("b"), &st));
    assert_file_is(path_of("b"), "new");
    assert_int_equal(info_of(path_of("a")).kind, MS_FILE_KIND_NONE);
    assert_int_equal(info_of(path_of("b")).kind, MS_FILE_KIND_FILE);
    assert_int_equal(info_of(path_of("b/c")).kind, MS_FILE_KIND_NONE);
    assert_int_equal(info_of(scratch_dir).kind, MS_FILE_KIND_DIR);
    assert_int_equal(info_of("/dev/zero").kind, MS_FILE_KIND_OTHER);
    assert_true(info_of(path_of("b")).modified_us > INT64_C(1577836800000000));
    assert_ok(ms_file_remove(path_of("b"), &st));
    assert_ok(ms_file_remove(path_of("b"), &st));
    assert_int_equal(ms_file_rename(path_of("b"), path_of("c"), &st), MS_FILE_NOT_FOUND);
    ms_status_clear(&st);
    assert_int_equal(ms_file_remove(scratch_dir, &st), MS_IO_ERROR);
}

static void a_whole_file_is_read_within_its_limit(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 5);
    write_file(path_of("f"), "12345");
    assert_ok(ms_file_read_all(path_of("f"), &buf, &st));
    assert_str_equal(ms_buf_view(&buf), "12345");
    ms_buf_release(&buf);
    write_file(path_of("f"), "123456");
    assert_int_equal(ms_file_read_all(path_of("f"), &buf, &st), MS_LIMIT);
    assert_non_null(strstr(st.message, "is larger than 5 bytes"));
    ms_buf_release(&buf);
    ms_status_clear(&st);
    ms_buf_init(&buf, 1 << 20);
    assert_ok(ms_file_read_all("/proc/self/status", &buf, &st));
    assert_true(buf.bytes > 100);
    ms_buf_release(&buf);
}

static void replace_gives_the_new_contents_or_keeps_the_old(void **state)
{
    (void)state;
    ms_status st = {0};
    const char *path = path_of("manifest");
    assert_ok(ms_file_replace(path, ms_str_lit("one"), &st));
    assert_file_is(path, "one");
    assert_int_equal(info_of(path_of("manifest.tmp")).kind, MS_FILE_KIND_NONE);
    const char *faults[] = {"file.write:1:fail", "file.full:1:fail", "file.sync:1:fail",
                            "file.rename:1:fail"};
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        assert_ok(ms_env_faults_set(ms_str_cstr(faults[i]), &st));
        assert_int_not_equal(ms_file_replace(path, ms_str_lit("two"), &st), MS_OK);
        assert_int_equal(ms_env_faults_fired(), 1);
        assert_file_is(path, "one");
        ms_status_clear(&st);
    }
    /* The directory's sync is the second one: the new name is there, but its loss is reported. */
    assert_ok(ms_env_faults_set(ms_str_lit("file.sync:2:fail"), &st));
    assert_int_equal(ms_file_replace(path, ms_str_lit("two"), &st), MS_IO_ERROR);
    assert_non_null(strstr(st.message, "could not sync directory"));
    ms_status_clear(&st);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    assert_ok(ms_file_replace(path, ms_str_lit("two"), &st));
    assert_file_is(path, "two");
}

static void replace_works_in_the_working_directory(void **state)
{
    (void)state;
    ms_status st = {0};
    char before[4096];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(scratch_dir), 0);
    assert_ok(ms_file_replace("bare", ms_str_lit("x"), &st));
    assert_int_equal(chdir(before), 0);
    assert_file_is(path_of("bare"), "x");
}

static void faults_look_like_the_disk(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_file *file = NULL;
    const char *path = path_of("f");
    assert_ok(ms_file_open(path, MS_FILE_CREATE, &file, &st));
    assert_ok(ms_env_faults_set(
        ms_str_lit("file.write:1:fail,file.full:2:fail,file.sync:1:fail,file.read:1:fail"), &st));
    assert_int_equal(ms_file_write(file, ms_str_lit("abcdef"), &st), MS_IO_ERROR);
    ms_status_clear(&st);
    assert_int_equal(ms_file_write_at(file, 0, ms_str_lit("abcdef"), &st), MS_DISK_FULL);
    assert_string_equal(st.detail, "No space left on device");
    ms_status_clear(&st);
    assert_int_equal(ms_file_sync(file, &st), MS_IO_ERROR);
    ms_status_clear(&st);
    char text[8];
    size_t count = 0;
    assert_int_equal(ms_file_read_at(file, 0, text, sizeof(text), &count, &st), MS_IO_ERROR);
    ms_status_clear(&st);
    ms_file_close(file);
    /* A full disk took the first half. */
    assert_file_is(path, "abc");
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_file_is_written_and_read_back),
        scratch_test(modes_say_what_must_be_there),
        scratch_test(a_pipe_is_refused_where_a_regular_file_is_wanted),
        scratch_test(stream_reads_reach_the_end),
        scratch_test(names_are_renamed_and_removed),
        scratch_test(a_whole_file_is_read_within_its_limit),
        scratch_test(replace_gives_the_new_contents_or_keeps_the_old),
        scratch_test(replace_works_in_the_working_directory),
        scratch_test(faults_look_like_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
