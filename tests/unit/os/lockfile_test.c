/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch_dir.h"

static void a_lock_has_one_holder_who_is_named(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_lockfile *lock = NULL;
    ms_lockfile *second = NULL;
    ms_lockfile_holder holder;
    const char *path = path_of("LOCK");
    assert_ok(ms_lockfile_take(path, ms_str_lit("127.0.0.1:8086"), &lock, &holder, &st));
    assert_non_null(lock);
    assert_int_equal(holder.pid, 0);
    assert_ok(ms_lockfile_take(path, ms_str_lit("x"), &second, &holder, &st));
    assert_null(second);
    assert_int_equal(holder.pid, getpid());
    assert_string_equal(holder.note, "127.0.0.1:8086");
    assert_ok(ms_lockfile_set_note(lock, ms_str_lit("short"), &st));
    assert_ok(ms_lockfile_take(path, ms_str_lit("x"), &second, &holder, &st));
    assert_string_equal(holder.note, "short");
    ms_lockfile_destroy(lock);
    assert_ok(ms_lockfile_take(path, ms_str_lit(""), &second, &holder, &st));
    assert_non_null(second);
    ms_lockfile_destroy(second);
    ms_lockfile_destroy(NULL);
}

static void take_and_die(void *arg)
{
    ms_status st = {0};
    ms_lockfile *lock = NULL;
    ms_lockfile_holder holder;
    (void)!ms_lockfile_take(arg, ms_str_lit("doomed"), &lock, &holder, &st);
    raise(SIGKILL);
}

static void a_lock_ends_with_its_process(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_lockfile *lock = NULL;
    ms_lockfile_holder holder;
    char path[128];
    snprintf(path, sizeof(path), "%s", path_of("LOCK"));
    assert_int_equal(run_in_child(take_and_die, path), SIGKILL);
    assert_int_equal(info_of(path).kind, MS_FILE_KIND_FILE);
    assert_ok(ms_lockfile_take(path, ms_str_lit(""), &lock, &holder, &st));
    assert_non_null(lock);
    ms_lockfile_destroy(lock);
}

static void a_long_note_is_cut(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_lockfile *lock = NULL;
    ms_lockfile *second = NULL;
    ms_lockfile_holder holder;
    char note[1000];
    memset(note, 'n', sizeof(note));
    assert_ok(
        ms_lockfile_take(path_of("LOCK"), ms_str_make(note, sizeof(note)), &lock, &holder, &st));
    assert_ok(ms_lockfile_take(path_of("LOCK"), ms_str_lit(""), &second, &holder, &st));
    assert_int_equal(strlen(holder.note), MS_LOCKFILE_NOTE_BYTES - 1);
    ms_lockfile_destroy(lock);
}

static void a_lock_in_no_directory_fails(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_lockfile *lock = NULL;
    ms_lockfile_holder holder;
    assert_int_equal(ms_lockfile_take(path_of("none/LOCK"), ms_str_lit(""), &lock, &holder, &st),
                     MS_FILE_NOT_FOUND);
    assert_null(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_lock_has_one_holder_who_is_named),
        scratch_test(a_lock_ends_with_its_process),
        scratch_test(a_long_note_is_cut),
        scratch_test(a_lock_in_no_directory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
