/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch_dir.h"

#include "base/env.h"

#include <sys/stat.h>

static void directories_are_made_with_their_parents(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_ok(ms_dir_create(path_of("a/b//c/"), &st));
    assert_ok(ms_dir_create(path_of("a/b"), &st));
    assert_int_equal(info_of(path_of("a/b/c")).kind, MS_FILE_KIND_DIR);
    struct stat info;
    assert_int_equal(stat(path_of("a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    write_file(path_of("f"), "x");
    assert_int_equal(ms_dir_create(path_of("f"), &st), MS_IO_ERROR);
    ms_status_clear(&st);
    assert_int_equal(ms_dir_create(path_of("f/g"), &st), MS_IO_ERROR);
    assert_non_null(strstr(st.message, "could not make directory"));
}

static void what_is_shared_follows_the_umask(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_file *file = NULL;
    mode_t before = umask(027);
    assert_ok(ms_dir_create_shared(path_of("shared/a"), &st));
    assert_ok(ms_file_open(path_of("shared/a/f"), MS_FILE_CREATE_SHARED, &file, &st));
    ms_file_close(file);
    umask(before);
    struct stat info;
    assert_int_equal(stat(path_of("shared"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0750);
    assert_int_equal(stat(path_of("shared/a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0750);
    assert_int_equal(stat(path_of("shared/a/f"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(ms_file_open(path_of("shared/a/f"), MS_FILE_CREATE_SHARED, &file, &st),
                     MS_IO_ERROR);
}

static void a_list_is_sorted_and_knows_kinds(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (int i = 99; i >= 0; i--) {
        char name[16];
        snprintf(name, sizeof(name), "f%02d", i);
        write_file(path_of(name), "");
    }
    assert_ok(ms_dir_create(path_of("a-dir"), &st));
    assert_int_equal(symlink(path_of("a-dir"), path_of("z-link")), 0);
    assert_int_equal(symlink(path_of("nowhere"), path_of("z-lost")), 0);
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    assert_ok(ms_dir_list(scratch_dir, &arena, &entries, &count, &st));
    assert_int_equal(count, 103);
    assert_str_equal(entries[0].name, "a-dir");
    assert_int_equal(entries[0].kind, MS_FILE_KIND_DIR);
    assert_string_equal(entries[1].name.ptr, "f00");
    assert_int_equal(entries[1].kind, MS_FILE_KIND_FILE);
    assert_str_equal(entries[100].name, "f99");
    assert_int_equal(entries[101].kind, MS_FILE_KIND_DIR);
    assert_int_equal(entries[102].kind, MS_FILE_KIND_NONE);
    ms_arena_release(&arena);
}

static void a_list_of_what_is_no_directory_fails(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    assert_int_equal(ms_dir_list(path_of("none"), &arena, &entries, &count, &st),
                     MS_FILE_NOT_FOUND);
    ms_arena_release(&arena);
}

static void a_tree_is_removed_but_not_what_links_lead_to(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_ok(ms_dir_create(path_of("tree/a/b"), &st));
    assert_ok(ms_dir_create(path_of("outside"), &st));
    write_file(path_of("tree/a/b/f"), "x");
    write_file(path_of("outside/kept"), "x");
    assert_int_equal(symlink(path_of("outside"), path_of("tree/link")), 0);
    assert_ok(ms_dir_remove(path_of("tree"), &st));
    assert_int_equal(info_of(path_of("tree")).kind, MS_FILE_KIND_NONE);
    assert_file_is(path_of("outside/kept"), "x");
    assert_ok(ms_dir_remove(path_of("tree"), &st));
    write_file(path_of("f"), "x");
    assert_int_equal(ms_dir_remove(path_of("f"), &st), MS_IO_ERROR);
}

static void a_tree_too_deep_is_refused(void **state)
{
    (void)state;
    ms_status st = {0};
    char path[2 * MS_DIR_DEPTH_MAX + 1] = "";
    for (int i = 0; i < MS_DIR_DEPTH_MAX; i++) {
        memcpy(path + 2 * i, "d/", 3);
    }
    assert_ok(ms_dir_create(path_of(path), &st));
    assert_int_equal(ms_dir_remove(scratch_dir, &st), MS_LIMIT);
    ms_status_clear(&st);
    assert_ok(ms_dir_remove(path_of("d"), &st));
}

static void a_directory_is_synced(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_ok(ms_dir_sync(scratch_dir, &st));
    assert_int_equal(ms_dir_sync(path_of("none"), &st), MS_FILE_NOT_FOUND);
    ms_status_clear(&st);
    assert_ok(ms_env_faults_set(ms_str_lit("file.sync:1:fail"), &st));
    assert_int_equal(ms_dir_sync(scratch_dir, &st), MS_IO_ERROR);
    ms_status_clear(&st);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(directories_are_made_with_their_parents),
        scratch_test(what_is_shared_follows_the_umask),
        scratch_test(a_list_is_sorted_and_knows_kinds),
        scratch_test(a_list_of_what_is_no_directory_fails),
        scratch_test(a_tree_is_removed_but_not_what_links_lead_to),
        scratch_test(a_tree_too_deep_is_refused),
        scratch_test(a_directory_is_synced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
