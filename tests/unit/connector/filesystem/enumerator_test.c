/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The enumerator: hands each file out once, to whoever asks, and what is left is its snapshot.
 */
#include "connector/filesystem/fs_host.h"

typedef struct desk {
    ms_enumerator_env head;
    host h;
    char log[1024]; /* "0:name@offset ", "0:- " when no more come, "!" on failure */
    ms_status failure;
} desk;

static void on_assign(ms_enumerator_env *env, uint32_t subtask, ms_str bytes)
{
    desk *d = (desk *)env;
    ms_status st = {0};
    msi_fs_split split;
    assert_ok(msi_fs_split_read(bytes, &split, &st));
    size_t prefix = strlen(scratch_dir) + 1;
    bool is_standard = split.path.bytes == 1;
    ms_str name = is_standard ? split.path : ms_str_slice(split.path, prefix, split.path.bytes);
    size_t at = strlen(d->log);
    snprintf(d->log + at, sizeof d->log - at, "%u:%.*s@%llu ", subtask, MS_STR_ARG(name),
             (unsigned long long)split.offset);
}

static void on_no_more(ms_enumerator_env *env, uint32_t subtask)
{
    desk *d = (desk *)env;
    size_t at = strlen(d->log);
    snprintf(d->log + at, sizeof d->log - at, "%u:- ", subtask);
}

static void on_fail(ms_enumerator_env *env, const ms_status *st)
{
    desk *d = (desk *)env;
    size_t at = strlen(d->log);
    snprintf(d->log + at, sizeof d->log - at, "! ");
    d->failure = *st;
}

static ms_enumerator *open_desk(desk *d, const char *path, ms_str restored)
{
    *d = (desk){.log = ""};
    host_init(&d->h, path, "json");
    host_ok(&d->h, host_plan_scan(&d->h));
    d->h.job->env.parallelism = 2;
    d->head = (ms_enumerator_env){
        .task = d->h.job->env, .assign = on_assign, .no_more_splits = on_no_more, .fail = on_fail};
    ms_enumerator *enumerator = NULL;
    host_ok(&d->h, d->h.job->scan->klass->enumerator_create(d->h.job->scan, &enumerator, &d->h.st));
    host_ok(&d->h, enumerator->klass->start(enumerator, &d->head, restored, &d->h.st));
    return enumerator;
}

static void make_files(void)
{
    ms_status st = {0};
    assert_ok(ms_dir_create(path_of("in"), &st));
    write_file(path_of("in/c"), "");
    write_file(path_of("in/a"), "");
    write_file(path_of("in/b"), "");
}

static const ms_str fresh = {NULL, 0};

static void files_go_out_in_order_one_to_each_request(void **state)
{
    (void)state;
    desk d;
    make_files();
    ms_enumerator *enumerator = open_desk(&d, "in", fresh);
    enumerator->klass->request(enumerator, 1);
    assert_string_equal(d.log, "");
    host_run(&d.h);
    assert_string_equal(d.log, "1:in/a@0 ");
    enumerator->klass->resume(enumerator);
    enumerator->klass->request(enumerator, 0);
    enumerator->klass->request(enumerator, 0);
    enumerator->klass->request(enumerator, 1);
    enumerator->klass->request(enumerator, 0);
    assert_string_equal(d.log, "1:in/a@0 0:in/b@0 0:in/c@0 1:- 0:- ");
    enumerator->klass->close(enumerator);
    host_release(&d.h);
}

static void what_is_left_is_restored_and_new_files_are_not_seen(void **state)
{
    (void)state;
    desk d;
    ms_buf snapshot;
    ms_buf_init(&snapshot, 10000);
    make_files();
    ms_enumerator *enumerator = open_desk(&d, "in", fresh);
    host_run(&d.h);
    enumerator->klass->request(enumerator, 0);
    host_ok(&d.h, enumerator->klass->snapshot(enumerator, &snapshot, &d.h.st));
    enumerator->klass->close(enumerator);
    host_release(&d.h);

    write_file(path_of("in/aa"), "");
    enumerator = open_desk(&d, "in", ms_buf_view(&snapshot));
    for (int i = 0; i < 3; i++) {
        enumerator->klass->request(enumerator, 1);
    }
    assert_string_equal(d.log, "1:in/b@0 1:in/c@0 1:- ");
    enumerator->klass->close(enumerator);
    host_release(&d.h);
    ms_buf_release(&snapshot);
}

static void a_snapshot_before_the_listing_lists_again(void **state)
{
    (void)state;
    desk d;
    ms_buf snapshot;
    ms_buf_init(&snapshot, 10000);
    make_files();
    ms_enumerator *enumerator = open_desk(&d, "in", fresh);
    host_ok(&d.h, enumerator->klass->snapshot(enumerator, &snapshot, &d.h.st));
    enumerator->klass->close(enumerator);
    host_release(&d.h);
    write_file(path_of("in/aa"), "");
    enumerator = open_desk(&d, "in", ms_buf_view(&snapshot));
    enumerator->klass->request(enumerator, 0);
    enumerator->klass->request(enumerator, 1);
    host_run(&d.h);
    assert_string_equal(d.log, "0:in/a@0 1:in/aa@0 ");
    enumerator->klass->close(enumerator);
    host_release(&d.h);
    ms_buf_release(&snapshot);
}

static void damaged_snapshots_are_refused(void **state)
{
    (void)state;
    desk d;
    ms_buf snapshot;
    ms_buf_init(&snapshot, 10000);
    make_files();
    ms_enumerator *enumerator = open_desk(&d, "in", fresh);
    host_run(&d.h);
    host_ok(&d.h, enumerator->klass->snapshot(enumerator, &snapshot, &d.h.st));
    enumerator->klass->close(enumerator);
    for (size_t cut = 1; cut < snapshot.bytes; cut++) {
        ms_str part = ms_str_slice(ms_buf_view(&snapshot), 0, cut);
        host_ok(&d.h, d.h.job->scan->klass->enumerator_create(d.h.job->scan, &enumerator, &d.h.st));
        assert_int_equal(enumerator->klass->start(enumerator, &d.head, part, &d.h.st),
                         MS_CORRUPT_DATA);
        ms_status_clear(&d.h.st);
        enumerator->klass->close(enumerator);
    }
    host_release(&d.h);
    ms_buf_release(&snapshot);
}

static void a_missing_path_fails_the_job(void **state)
{
    (void)state;
    desk d;
    ms_enumerator *enumerator = open_desk(&d, "nowhere", fresh);
    host_run(&d.h);
    assert_string_equal(d.log, "! ");
    assert_int_equal(d.failure.code, MS_FILE_NOT_FOUND);
    enumerator->klass->close(enumerator);
    host_release(&d.h);
}

static void an_empty_directory_is_an_empty_table(void **state)
{
    (void)state;
    desk d;
    ms_status st = {0};
    assert_ok(ms_dir_create(path_of("in"), &st));
    ms_enumerator *enumerator = open_desk(&d, "in", fresh);
    enumerator->klass->request(enumerator, 0);
    host_run(&d.h);
    assert_string_equal(d.log, "0:- ");
    enumerator->klass->close(enumerator);
    host_release(&d.h);
}

static void standard_input_is_one_split(void **state)
{
    (void)state;
    desk d;
    ms_enumerator *enumerator = open_desk(&d, "-", fresh);
    enumerator->klass->request(enumerator, 0);
    enumerator->klass->request(enumerator, 1);
    assert_string_equal(d.log, "0:-@0 1:- ");
    enumerator->klass->close(enumerator);
    host_release(&d.h);
}

static void closing_while_the_listing_runs_leaves_nothing_behind(void **state)
{
    (void)state;
    desk d;
    make_files();
    ms_enumerator *enumerator = open_desk(&d, "in", fresh);
    enumerator->klass->close(enumerator);
    host_end_job(&d.h);
    host_run(&d.h);
    assert_string_equal(d.log, "");
    host_release(&d.h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(files_go_out_in_order_one_to_each_request),
        scratch_test(what_is_left_is_restored_and_new_files_are_not_seen),
        scratch_test(a_snapshot_before_the_listing_lists_again),
        scratch_test(damaged_snapshots_are_refused),
        scratch_test(a_missing_path_fails_the_job),
        scratch_test(an_empty_directory_is_an_empty_table),
        scratch_test(standard_input_is_one_split),
        scratch_test(closing_while_the_listing_runs_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
