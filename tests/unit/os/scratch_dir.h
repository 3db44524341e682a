/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of its own for each test: made by setup, removed by teardown, whatever is in it.
 */
#ifndef MS_TESTS_UNIT_OS_SCRATCH_DIR_H
#define MS_TESTS_UNIT_OS_SCRATCH_DIR_H

#include "testing.h"

#include "os/file.h"

static char scratch_dir[64];
static ms_arena path_arena;

static inline int setup_scratch_dir(void **state)
{
    (void)state;
    snprintf(scratch_dir, sizeof(scratch_dir), "/tmp/millstream_test_XXXXXX");
    ms_arena_init(&path_arena, 0);
    return mkdtemp(scratch_dir) == NULL ? -1 : 0;
}

static inline int teardown_scratch_dir(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_rc rc = ms_dir_remove(scratch_dir, &st);
    ms_arena_release(&path_arena);
    return rc == MS_OK ? 0 : -1;
}

/* The path of a name in the directory; lives as long as the test. */
static inline const char *path_of(const char *name)
{
    return ms_arena_format(&path_arena, "%s/%s", scratch_dir, name).ptr;
}

static inline ms_file_info info_of(const char *path)
{
    ms_status st = {0};
    ms_file_info info = {0};
    assert_ok(ms_file_stat(path, &info, &st));
    return info;
}

static inline void write_file(const char *path, const char *text)
{
    ms_status st = {0};
    ms_file *file = NULL;
    assert_ok(ms_file_open(path, MS_FILE_TRUNCATE, &file, &st));
    assert_ok(ms_file_write(file, ms_str_cstr(text), &st));
    ms_file_close(file);
}

static inline void assert_file_is(const char *path, const char *text)
{
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 1 << 20);
    assert_ok(ms_file_read_all(path, &buf, &st));
    assert_str_equal(ms_buf_view(&buf), text);
    ms_buf_release(&buf);
}

#define scratch_test(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, setup_scratch_dir, teardown_scratch_dir)

#endif
