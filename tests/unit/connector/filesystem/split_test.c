/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits as bytes, and the files of a path.
 */
#include "connector/filesystem/fs_host.h"

#include <sys/stat.h>

#define NAMES_BYTES 512u

static void a_split_reads_back_and_other_bytes_are_refused(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf bytes;
    ms_buf_init(&bytes, 1000);
    msi_fs_split split = {ms_str_lit("/a/b"), 12345678901u};
    msi_fs_split back;
    assert_ok(msi_fs_split_write(&split, &bytes, &st));
    assert_ok(msi_fs_split_read(ms_buf_view(&bytes), &back, &st));
    assert_str_equal(back.path, "/a/b");
    assert_int_equal(back.offset, 12345678901u);
    for (size_t cut = 0; cut < bytes.bytes; cut++) {
        ms_str part = ms_str_slice(ms_buf_view(&bytes), 0, cut);
        assert_int_equal(msi_fs_split_read(part, &back, &st), MS_CORRUPT_DATA);
        ms_status_clear(&st);
    }
    bytes.ptr[0] = 9;
    assert_int_equal(msi_fs_split_read(ms_buf_view(&bytes), &back, &st), MS_CORRUPT_DATA);
    assert_non_null(strstr(st.message, "version 9"));
    ms_buf_release(&bytes);
}

/* The names of the files of a path, relative to the scratch directory, with a blank behind each. */
static ms_rc list(const char *path, char *names, ms_status *st)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_str *paths = NULL;
    size_t count = 0;
    names[0] = '\0';
    ms_rc rc = msi_fs_list(ms_str_cstr(path_of(path)), &arena, &paths, &count, st);
    for (size_t i = 0; i < count; i++) {
        const char *name = paths[i].ptr + strlen(scratch_dir) + 1;
        snprintf(names + strlen(names), NAMES_BYTES - strlen(names), "%s ", name);
    }
    ms_arena_release(&arena);
    return rc;
}

static void make_dir(const char *name)
{
    ms_status st = {0};
    assert_ok(ms_dir_create(path_of(name), &st));
}

static void files_are_listed_in_order_and_hidden_ones_are_not(void **state)
{
    (void)state;
    ms_status st = {0};
    char names[NAMES_BYTES];
    make_dir("d");
    make_dir("d/b");
    make_dir("d/b/_not");
    make_dir("d/.no");
    make_dir("empty");
    write_file(path_of("d/z"), "");
    write_file(path_of("d/a"), "");
    write_file(path_of("d/b/m.json"), "");
    write_file(path_of("d/b/_SUCCESS"), "");
    write_file(path_of("d/b/_not/x"), "");
    write_file(path_of("d/.no/x"), "");
    write_file(path_of("d/.part-1.inprogress"), "");
    assert_ok(list("d", names, &st));
    assert_string_equal(names, "d/a d/b/m.json d/z ");
    assert_ok(list("d/z", names, &st));
    assert_string_equal(names, "d/z ");
    assert_ok(list("empty", names, &st));
    assert_string_equal(names, "");
    assert_int_equal(list("missing", names, &st), MS_FILE_NOT_FOUND);
    assert_non_null(strstr(st.message, "missing"));
}

static void a_glob_gives_what_it_matches(void **state)
{
    (void)state;
    ms_status st = {0};
    char names[NAMES_BYTES];
    make_dir("x1");
    make_dir("x2");
    write_file(path_of("x1/a.json"), "");
    write_file(path_of("x1/b.csv"), "");
    write_file(path_of("x2/c.json"), "");
    write_file(path_of("x2/_d.json"), "");
    write_file(path_of("[odd]*"), "");
    write_file(path_of("o"), "");
    assert_ok(list("x*/*.json", names, &st));
    assert_string_equal(names, "x1/a.json x2/c.json ");
    assert_ok(list("x?", names, &st));
    assert_string_equal(names, "x1/a.json x1/b.csv x2/c.json ");
    /* A file of that name comes before what the name would match. */
    assert_ok(list("[odd]*", names, &st));
    assert_string_equal(names, "[odd]* ");
    assert_int_equal(list("y*", names, &st), MS_FILE_NOT_FOUND);
}

static void make_link(const char *target, const char *name)
{
    assert_int_equal(symlink(target, path_of(name)), 0);
}

static void what_is_no_file_is_an_error_with_its_path(void **state)
{
    (void)state;
    ms_status st = {0};
    char names[NAMES_BYTES];
    make_dir("odd");
    write_file(path_of("odd/a"), "");
    make_link("a", "odd/b");
    assert_ok(list("odd", names, &st));
    assert_string_equal(names, "odd/a odd/b ");
    make_link("nowhere", "odd/c");
    assert_int_equal(list("odd", names, &st), MS_FILE_NOT_FOUND);
    assert_non_null(strstr(st.message, "odd/c\" leads nowhere"));
    ms_status_clear(&st);
    assert_int_equal(list("od*/*", names, &st), MS_FILE_NOT_FOUND);
    ms_status_clear(&st);
    assert_int_equal(unlink(path_of("odd/c")), 0);
    assert_int_equal(mkfifo(path_of("odd/pipe"), 0600), 0);
    assert_int_equal(list("odd", names, &st), MS_INVALID_OPTION);
    assert_non_null(strstr(st.message, "odd/pipe\" is neither"));
    ms_status_clear(&st);
    assert_int_equal(list("odd/pipe", names, &st), MS_INVALID_OPTION);
}

static void a_link_that_leads_back_is_an_error(void **state)
{
    (void)state;
    ms_status st = {0};
    char names[NAMES_BYTES];
    make_dir("ring");
    make_dir("ring/b");
    make_link("..", "ring/b/up");
    assert_int_equal(list("ring", names, &st), MS_LIMIT);
    assert_non_null(strstr(st.message, "ring/b/up\" leads back to "));
}

static void directories_that_nest_too_deep_are_an_error(void **state)
{
    (void)state;
    ms_status st = {0};
    char names[NAMES_BYTES];
    char path[256] = "deep";
    make_dir(path);
    for (int i = 0; i < 31; i++) {
        snprintf(path + strlen(path), sizeof path - strlen(path), "/d");
        make_dir(path);
    }
    assert_ok(list("deep", names, &st));
    snprintf(path + strlen(path), sizeof path - strlen(path), "/d");
    make_dir(path);
    assert_int_equal(list("deep", names, &st), MS_LIMIT);
    assert_int_equal(rmdir(path_of(path)), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path_of(path)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_split_reads_back_and_other_bytes_are_refused),
        scratch_test(files_are_listed_in_order_and_hidden_ones_are_not),
        scratch_test(a_glob_gives_what_it_matches),
        scratch_test(what_is_no_file_is_an_error_with_its_path),
        scratch_test(a_link_that_leads_back_is_an_error),
        scratch_test(directories_that_nest_too_deep_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
