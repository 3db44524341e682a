/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: names, locks, and what may be removed.
 */
#include "connector/filesystem/writer_host.h"

#define RUN "0123456789abcdef01234567"
#define OTHER "0123456789abcdef76543210"

static msi_fs_run run_of(const char *job, uint64_t sink_id, const char *checkpoint_dir,
                         uint64_t run_id)
{
    ms_sink sink = {.id = sink_id};
    ms_task_env env = {.job_name = ms_str_cstr(job),
                       .checkpoint_dir = ms_str_cstr(checkpoint_dir),
                       .run_id = run_id};
    return msi_fs_run_of(&sink, &env);
}

static void a_tag_is_that_of_job_sink_and_checkpoint_directory(void **state)
{
    (void)state;
    msi_fs_run first = run_of("job", 1, "/c", 1);
    assert_int_equal(strlen(first.text), MSI_FS_RUN_DIGITS);
    msi_fs_run again = run_of("job", 1, "/c", 2);
    assert_memory_equal(first.text, again.text, MSI_FS_TAG_DIGITS);
    assert_string_not_equal(first.text, again.text);
    const msi_fs_run others[] = {run_of("job2", 1, "/c", 1), run_of("job", 2, "/c", 1),
                                 run_of("job", 1, "/d", 1), run_of("job", 1, "c", 1),
                                 run_of("job", 1, "", 1)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_memory_not_equal(first.text, others[i].text, MSI_FS_TAG_DIGITS);
    }
}

static void make_dir(const char *name)
{
    ms_status st = {0};
    assert_ok(ms_dir_create(path_of(name), &st));
}

static void make_run(const char *run)
{
    char path[200];
    snprintf(path, sizeof path, "out/.part-%s-0-0.inprogress", run);
    write_file(path_of(path), "x");
}

static void what_is_held_stays_until_it_is_released(void **state)
{
    (void)state;
    const msi_fs_run run = {RUN};
    const msi_fs_run other = {OTHER};
    make_dir("out");
    ms_lockfile *lock = msi_fs_run_hold(path_of("out"), &run);
    ms_lockfile *second = msi_fs_run_hold(path_of("out"), &other);
    assert_non_null(lock);
    assert_non_null(second);
    assert_null(msi_fs_run_hold(path_of("out"), &run));
    make_run(RUN);
    make_run(OTHER);
    msi_fs_remove_abandoned(path_of("out"));
    assert_int_equal(count_files("out", ".part-", NULL), 4);
    msi_fs_run_release(path_of("out"), &run, lock);
    assert_int_equal(count_files("out", ".part-" RUN, NULL), 0);
    assert_int_equal(count_files("out", ".part-" OTHER, NULL), 2);
    ms_lockfile_destroy(second); /* as by the end of its process */
    msi_fs_remove_abandoned(path_of("out"));
    assert_int_equal(count_files("out", "", NULL), 0);
}

static void names_that_only_look_alike_are_left_alone(void **state)
{
    (void)state;
    static const char *const names[] = {
        "out/.part-" RUN ".lock2",
        "out/.part-" RUN "0.lock",
        "out/.part-0123456789ABCDEF01234567.lock",
        "out/.part-mine.lock",
        "out/part-" RUN ".lock",
        "out/.part-" RUN "-0-0.inprogress.txt",
        "out/.part-" RUN "x-0-0.inprogress", /* no run of ours, and of no lock's */
        "out/part-" RUN "-0-0",
    };
    make_dir("out");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_file(path_of(names[i]), "x");
    }
    msi_fs_remove_abandoned(path_of("out"));
    assert_int_equal(count_files("out", "", NULL), sizeof names / sizeof *names);
    write_file(path_of("out/.part-" RUN ".lock"), "");
    msi_fs_remove_abandoned(path_of("out"));
    assert_int_equal(count_files("out", "", NULL), sizeof names / sizeof *names);
    msi_fs_remove_abandoned(path_of("nowhere"));
}

static void a_lock_stays_while_parts_of_its_run_do(void **state)
{
    (void)state;
    make_dir("out");
    write_file(path_of("out/.part-" RUN ".lock"), "");
    make_dir("out/.part-" RUN "-0-0.inprogress"); /* cannot be removed as a file */
    msi_fs_remove_abandoned(path_of("out"));
    assert_int_equal(count_files("out", ".part-" RUN ".lock", NULL), 1);
    assert_int_equal(rmdir(path_of("out/.part-" RUN "-0-0.inprogress")), 0);
    msi_fs_remove_abandoned(path_of("out"));
    assert_int_equal(count_files("out", "", NULL), 0);
}

static void a_directory_that_takes_no_lock_is_used_without(void **state)
{
    (void)state;
    const msi_fs_run run = {RUN};
    assert_null(msi_fs_run_hold(path_of("nowhere"), &run));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tag_is_that_of_job_sink_and_checkpoint_directory),
        scratch_test(what_is_held_stays_until_it_is_released),
        scratch_test(names_that_only_look_alike_are_left_alone),
        scratch_test(a_lock_stays_while_parts_of_its_run_do),
        scratch_test(a_directory_that_takes_no_lock_is_used_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
