/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The committer: renames once, again without harm, and removes only the orphans of its own job; the
 * lock of a job without checkpoints.
 */
#include "connector/filesystem/writer_host.h"

static ms_committer *open_committer(host *h)
{
    ms_committer *committer = NULL;
    host_ok(h,
            h->job->sink->klass->committer_create(h->job->sink, &h->job->env, &committer, &h->st));
    return committer;
}

static ms_rc commit(host *h, ms_committer *committer, ms_str committable, bool is_recovery)
{
    host_done done = host_done_make();
    if (is_recovery) {
        committer->klass->recover(committer, 1, &committable, 1, &done.head);
    } else {
        committer->klass->commit(committer, 1, &committable, 1, &done.head);
    }
    assert_int_equal(done.count, 0);
    host_run(h);
    assert_int_equal(done.count, 1);
    h->st = done.st;
    return done.rc;
}

/* A host with a checkpoint of three rows in one hidden file; the writer is closed. */
static void make_checkpoint(host *h, ms_buf *committable)
{
    ms_buf_init(committable, 10000);
    host_init(h, "out", "csv");
    ms_writer *writer = open_writer(h);
    write_rows(h, writer, 1, 3, 1);
    assert_int_equal(checkpoint(h, writer, 1, committable), MS_OK);
    writer->klass->close(writer);
}

static void committing_twice_is_committing_once(void **state)
{
    (void)state;
    host h;
    ms_buf committable;
    uint64_t bytes = 0;
    make_checkpoint(&h, &committable);
    ms_committer *committer = open_committer(&h);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(commit(&h, committer, ms_buf_view(&committable), i == 2), MS_OK);
        assert_int_equal(count_files("out", "part-", &bytes), 1);
        assert_int_equal(bytes, strlen("1,x\n") * 3);
        assert_int_equal(count_files("out", ".", NULL), 0);
    }
    committer->klass->close(committer);
    host_release(&h);
    ms_buf_release(&committable);
}

static void nothing_to_commit_is_fine(void **state)
{
    (void)state;
    host h;
    ms_buf committable;
    make_checkpoint(&h, &committable);
    ms_committer *committer = open_committer(&h);
    assert_int_equal(commit(&h, committer, ms_str_lit(""), false), MS_OK);
    committer->klass->close(committer);
    host_release(&h);
    ms_buf_release(&committable);
    /* Nor does it take the directory, which nobody has made. */
    host_init(&h, "never", "csv");
    host_ok(&h, host_plan_sink(&h));
    committer = open_committer(&h);
    assert_int_equal(commit(&h, committer, ms_str_lit(""), true), MS_OK);
    committer->klass->close(committer);
    host_release(&h);
}

static void recovery_commits_and_removes_only_its_own_orphans(void **state)
{
    (void)state;
    host h;
    ms_buf committable;
    ms_buf other;
    make_checkpoint(&h, &committable);
    ms_buf_init(&other, 10000);
    /* Newer files of the same job, as a crash leaves them: the writer is not closed first. */
    ms_writer *writer = open_writer(&h);
    write_rows(&h, writer, 7, 1, 1);
    assert_int_equal(checkpoint(&h, writer, 2, &other), MS_OK);
    /* Another job on the same path, a file that looks alike, and one of the user. */
    h.job->env.job_name = ms_str_lit("another");
    ms_writer *neighbor = open_writer(&h);
    write_rows(&h, neighbor, 9, 1, 1);
    assert_int_equal(checkpoint(&h, neighbor, 1, &other), MS_OK);
    h.job->env.job_name = ms_str_lit("job");
    write_file(path_of("out/.part-mine"), "x");
    write_file(path_of("out/data"), "x");
    assert_int_equal(count_files("out", ".part-", NULL), 4);

    ms_committer *committer = open_committer(&h);
    assert_int_equal(commit(&h, committer, ms_buf_view(&committable), true), MS_OK);
    assert_int_equal(count_files("out", "part-", NULL), 1);
    assert_int_equal(count_files("out", ".part-", NULL), 2);
    assert_int_equal(count_files("out", "data", NULL), 1);
    committer->klass->close(committer);
    neighbor->klass->close(neighbor);
    writer->klass->close(writer);
    host_release(&h);
    ms_buf_release(&committable);
    ms_buf_release(&other);
}

/* The other sink's files may belong to the same checkpoint, and not be renamed yet. */
static void recovery_leaves_another_sink_of_its_job_alone(void **state)
{
    (void)state;
    host h;
    ms_buf committable;
    ms_buf other;
    make_checkpoint(&h, &committable);
    ms_buf_init(&other, 10000);
    h.job->sink->id = 77;
    ms_writer *neighbor = open_writer(&h);
    write_rows(&h, neighbor, 9, 1, 1);
    assert_int_equal(checkpoint(&h, neighbor, 1, &other), MS_OK);
    neighbor->klass->close(neighbor);
    ms_committer *committer_77 = open_committer(&h);
    h.job->sink->id = 0;
    ms_committer *committer = open_committer(&h);
    assert_int_equal(commit(&h, committer, ms_buf_view(&committable), true), MS_OK);
    assert_int_equal(commit(&h, committer_77, ms_buf_view(&other), true), MS_OK);
    assert_int_equal(count_files("out", "part-", NULL), 2);
    committer->klass->close(committer);
    committer_77->klass->close(committer_77);
    host_release(&h);
    ms_buf_release(&committable);
    ms_buf_release(&other);
}

static void begin_without_checkpoints(host *h)
{
    host_init(h, "out", "csv");
    h->job->env.checkpoint_dir = (ms_str){NULL, 0};
    host_ok(h, host_plan_sink(h));
    host_ok(h, h->job->sink->klass->prepare(h->job->sink, &h->st));
}

static void a_job_without_checkpoints_holds_a_lock_until_it_ends(void **state)
{
    (void)state;
    host h;
    ms_buf committable;
    ms_buf_init(&committable, 10000);
    begin_without_checkpoints(&h);
    ms_writer *writer = open_writer(&h);
    ms_committer *committer = open_committer(&h);
    assert_int_equal(commit(&h, committer, ms_str_lit(""), true), MS_OK);
    write_rows(&h, writer, 1, 3, 1);
    assert_int_equal(checkpoint(&h, writer, 1, &committable), MS_OK);
    assert_int_equal(count_files("out", ".part-", NULL), 2);
    msi_fs_remove_abandoned(path_of("out"));
    assert_int_equal(count_files("out", ".part-", NULL), 2);
    writer->klass->close(writer);
    assert_int_equal(commit(&h, committer, ms_buf_view(&committable), false), MS_OK);
    assert_int_equal(count_files("out", "part-", NULL), 1);
    assert_int_equal(count_files("out", ".part-", NULL), 1); /* the lock */
    committer->klass->close(committer);
    host_end_job(&h);
    host_run(&h);
    assert_int_equal(count_files("out", ".part-", NULL), 0);
    assert_int_equal(count_files("out", "part-", NULL), 1);
    host_release(&h);
    ms_buf_release(&committable);
}

static void parts_that_were_handed_over_and_not_committed_go_with_their_job(void **state)
{
    (void)state;
    host h;
    ms_buf committable;
    ms_buf_init(&committable, 10000);
    begin_without_checkpoints(&h);
    ms_writer *writer = open_writer(&h);
    ms_committer *committer = open_committer(&h);
    assert_int_equal(commit(&h, committer, ms_str_lit(""), true), MS_OK);
    write_rows(&h, writer, 1, 3, 1);
    assert_int_equal(checkpoint(&h, writer, 1, &committable), MS_OK);
    writer->klass->close(writer);
    assert_int_equal(count_files("out", ".part-", NULL), 2);
    committer->klass->close(committer);
    host_end_job(&h);
    host_release(&h);
    assert_int_equal(count_files("out", "", NULL), 0);
    ms_buf_release(&committable);
}

static void what_a_killed_job_left_is_removed_at_the_start(void **state)
{
    (void)state;
    for (int has_checkpoints = 0; has_checkpoints < 2; has_checkpoints++) {
        host h;
        begin_without_checkpoints(&h);
        h.job->env.checkpoint_dir = has_checkpoints ? ms_str_lit("/c") : (ms_str){NULL, 0};
        write_file(path_of("out/.part-0123456789abcdef01234567.lock"), "1 x\n");
        write_file(path_of("out/.part-0123456789abcdef01234567-0-0.inprogress"), "x");
        write_file(path_of("out/.part-0123456789abcdef01234567-1-3.inprogress"), "x");
        write_file(path_of("out/.part-0123456789abcdef76543210-0-0.inprogress"), "x");
        ms_committer *committer = open_committer(&h);
        assert_int_equal(commit(&h, committer, ms_str_lit(""), true), MS_OK);
        committer->klass->close(committer);
        host_end_job(&h);
        host_run(&h);
        assert_int_equal(count_files("out", ".part-0123456789abcdef01234567", NULL), 0);
        assert_int_equal(count_files("out", ".part-", NULL), 1);
        host_release(&h);
    }
}

static void closing_while_the_start_is_out_gives_the_lock_back(void **state)
{
    (void)state;
    host h;
    host_done done = host_done_make();
    begin_without_checkpoints(&h);
    ms_committer *committer = open_committer(&h);
    committer->klass->recover(committer, 0, NULL, 0, &done.head);
    committer->klass->close(committer);
    host_end_job(&h);
    host_run(&h);
    assert_int_equal(done.count, 1);
    assert_int_equal(count_files("out", "", NULL), 0);
    host_release(&h);
}

static void a_rename_that_fails_can_be_done_again(void **state)
{
    (void)state;
    static const char *const faults[] = {"file.rename:1:fail", "filesystem.before_rename:1:fail",
                                         "file.sync:1:fail"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        host h;
        ms_status st = {0};
        ms_buf committable;
        make_checkpoint(&h, &committable);
        ms_committer *committer = open_committer(&h);
        assert_ok(ms_env_faults_set(ms_str_cstr(faults[i]), &st));
        assert_int_equal(commit(&h, committer, ms_buf_view(&committable), false), MS_IO_ERROR);
        assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
        assert_int_equal(commit(&h, committer, ms_buf_view(&committable), true), MS_OK);
        assert_int_equal(count_files("out", "part-", NULL), 1);
        committer->klass->close(committer);
        host_release(&h);
        ms_buf_release(&committable);
        ms_dir_remove(path_of("out"), &st) == MS_OK ? (void)0 : fail();
    }
}

static void a_file_that_has_gone_is_named(void **state)
{
    (void)state;
    host h;
    ms_status st = {0};
    ms_buf committable;
    make_checkpoint(&h, &committable);
    assert_ok(ms_dir_remove(path_of("out"), &st));
    ms_committer *committer = open_committer(&h);
    assert_int_equal(commit(&h, committer, ms_buf_view(&committable), true), MS_CORRUPT_DATA);
    assert_non_null(strstr(h.st.message, ".part-"));
    committer->klass->close(committer);
    host_release(&h);
    ms_buf_release(&committable);
}

static void damaged_committables_are_refused(void **state)
{
    (void)state;
    host h;
    ms_buf committable;
    make_checkpoint(&h, &committable);
    ms_committer *committer = open_committer(&h);
    for (size_t cut = 1; cut < committable.bytes; cut++) {
        ms_str part = ms_str_slice(ms_buf_view(&committable), 0, cut);
        assert_int_equal(commit(&h, committer, part, false), MS_CORRUPT_DATA);
    }
    committable.ptr[0] = 9;
    assert_int_equal(commit(&h, committer, ms_buf_view(&committable), false), MS_CORRUPT_DATA);
    assert_int_equal(count_files("out", "part-", NULL), 0);
    committer->klass->close(committer);
    host_release(&h);
    ms_buf_release(&committable);
}

static void closing_while_a_commit_is_out_still_commits(void **state)
{
    (void)state;
    host h;
    host_done done = host_done_make();
    ms_buf committable;
    make_checkpoint(&h, &committable);
    ms_committer *committer = open_committer(&h);
    ms_str bytes = ms_buf_view(&committable);
    committer->klass->commit(committer, 1, &bytes, 1, &done.head);
    committer->klass->close(committer);
    host_end_job(&h);
    host_run(&h);
    assert_int_equal(done.count, 1);
    assert_int_equal(count_files("out", "part-", NULL), 1);
    host_release(&h);
    ms_buf_release(&committable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(committing_twice_is_committing_once),
        scratch_test(nothing_to_commit_is_fine),
        scratch_test(recovery_commits_and_removes_only_its_own_orphans),
        scratch_test(recovery_leaves_another_sink_of_its_job_alone),
        scratch_test(a_job_without_checkpoints_holds_a_lock_until_it_ends),
        scratch_test(parts_that_were_handed_over_and_not_committed_go_with_their_job),
        scratch_test(what_a_killed_job_left_is_removed_at_the_start),
        scratch_test(closing_while_the_start_is_out_gives_the_lock_back),
        scratch_test(a_rename_that_fails_can_be_done_again),
        scratch_test(a_file_that_has_gone_is_named),
        scratch_test(damaged_committables_are_refused),
        scratch_test(closing_while_a_commit_is_out_still_commits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
