/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a job's directory: names, what is found there, what is swept, what faults leave. */
#include "runtime/fake_job.h"
#include "runtime/runtime_priv.h"

typedef struct fixture {
    fake_world world;
    msi_store store;
} fixture;

static void fixture_init(fixture *f)
{
    ms_status st = {0};
    memset(f, 0, sizeof(*f));
    fake_world_init(&f->world, 1);
    assert_ok(msi_store_open(&f->store, fake_dir(&f->world), &st));
}

static void fixture_release(fixture *f)
{
    msi_store_close(&f->store);
    fake_world_release(&f->world);
}

/* A checkpoint whose manifest names the state files of these earlier ones. */
static void write_checkpoint(fixture *f, ms_checkpoint_id id, const ms_checkpoint_id *files,
                             uint32_t count)
{
    ms_status st = {0};
    ms_arena *arena = &f->world.arena;
    msi_state_file named[8];
    for (uint32_t i = 0; i < count; i++) {
        named[i] = (msi_state_file){.name = msi_store_state_name(arena, 77, 0, files[i]),
                                    .bytes = 5,
                                    .crc = ms_crc32c(0, ms_str_lit("state"))};
        if (files[i] == id) {
            assert_ok(msi_store_write_file(f->store.dir, named[i].name, ms_str_lit("state"), &st));
        }
    }
    msi_manifest_op op = {.node_id = 77, .file_count = count, .files = named};
    msi_manifest manifest = {.id = id, .op_count = 1, .ops = &op};
    ms_buf bytes;
    ms_buf_init(&bytes, 1u << 20);
    assert_ok(msi_manifest_encode(&manifest, &bytes, &st));
    assert_ok(msi_store_write_manifest(f->store.dir, id, ms_buf_view(&bytes), &st));
    ms_buf_release(&bytes);
}

static void expect_names(fixture *f, const char *expected)
{
    ms_status st = {0};
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    char names[1024] = "";
    size_t at = 0;
    assert_ok(ms_dir_list(f->store.dir.ptr, &f->world.arena, &entries, &count, &st));
    for (size_t i = 0; i < count; i++) {
        at +=
            (size_t)snprintf(names + at, sizeof(names) - at, "%.*s\n", MS_STR_ARG(entries[i].name));
    }
    assert_string_equal(names, expected);
}

static void a_sweep_keeps_what_kept_manifests_name(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    write_checkpoint(&f, 1, (ms_checkpoint_id[]){1}, 1);
    write_checkpoint(&f, 2, (ms_checkpoint_id[]){1, 2}, 2);
    write_checkpoint(&f, 3, (ms_checkpoint_id[]){1, 2, 3}, 3);
    /* An orphan of a checkpoint that was given up, and a file that is not ours. */
    assert_ok(msi_store_write_file(f.store.dir, msi_store_state_name(&f.world.arena, 77, 0, 4),
                                   ms_str_lit("x"), &st));
    assert_ok(msi_store_write_file(f.store.dir, ms_str_lit("notes"), ms_str_lit("x"), &st));
    assert_ok(msi_store_sweep(f.store.dir, (ms_checkpoint_id[]){3, 2}, 2, &st));
    expect_names(&f, "LOCK\n"
                     "manifest-00000000000000000002\n"
                     "manifest-00000000000000000003\n"
                     "notes\n"
                     "state-000000000000004d-000-00000000000000000001\n"
                     "state-000000000000004d-000-00000000000000000002\n"
                     "state-000000000000004d-000-00000000000000000003\n");
    write_checkpoint(&f, 5, (ms_checkpoint_id[]){5}, 1);
    assert_ok(msi_store_sweep(f.store.dir, (ms_checkpoint_id[]){5, 0}, 2, &st));
    expect_names(&f, "LOCK\n"
                     "manifest-00000000000000000005\n"
                     "notes\n"
                     "state-000000000000004d-000-00000000000000000005\n");
    assert_ok(ms_job_dir_clear(f.store.dir, &st));
    expect_names(&f, "LOCK\nnotes\n");
    fixture_release(&f);
}

static void clearing_leaves_foreign_names(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    const char *const foreign[] = {
        "manifest-",       "manifest-00000000000000000007.bak",
        "manifest-7",      "notes",
        "progress.md",     "state-000000000000004D-000-00000000000000000001",
        "state-of-things",
    };
    write_checkpoint(&f, 1, (ms_checkpoint_id[]){1}, 1);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        assert_ok(msi_store_write_file(f.store.dir, ms_str_cstr(foreign[i]), ms_str_lit("x"), &st));
    }
    assert_ok(msi_store_write_file(f.store.dir, ms_str_lit("progress.tmp"), ms_str_lit("x"), &st));
    assert_ok(msi_store_write_file(f.store.dir, ms_str_lit("manifest-00000000000000000002.tmp"),
                                   ms_str_lit("x"), &st));
    assert_ok(ms_job_dir_clear(f.store.dir, &st));
    expect_names(&f, "LOCK\n"
                     "manifest-\n"
                     "manifest-00000000000000000007.bak\n"
                     "manifest-7\n"
                     "notes\n"
                     "progress.md\n"
                     "state-000000000000004D-000-00000000000000000001\n"
                     "state-of-things\n");
    fixture_release(&f);
}

static void the_newest_manifest_is_found_and_read(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_checkpoint_id id = 0;
    ms_checkpoint_id last = 0;
    msi_progress progress;
    assert_ok(msi_store_look(ms_str_lit("./no-such-directory"), &id, &last, &progress, &st));
    assert_int_equal(id, 0);
    write_checkpoint(&f, 9, (ms_checkpoint_id[]){9}, 1);
    write_checkpoint(&f, 10, (ms_checkpoint_id[]){9, 10}, 2);
    assert_ok(msi_store_write_file(f.store.dir, msi_store_state_name(&f.world.arena, 77, 0, 12),
                                   ms_str_lit("x"), &st));
    assert_ok(msi_store_look(f.store.dir, &id, &last, &progress, &st));
    assert_int_equal(id, 10);
    /* Ids are not used again, not even those of checkpoints that were given up. */
    assert_int_equal(last, 12);
    msi_manifest manifest;
    assert_ok(msi_store_read(&f.store, id, &f.world.arena, &manifest, &st));
    assert_int_equal(manifest.id, 10);
    ms_buf bytes;
    ms_buf_init(&bytes, 100);
    assert_ok(msi_store_read_file(&f.store, &manifest.ops[0].files[1], &bytes, &st));
    assert_str_equal(ms_buf_view(&bytes), "state");
    msi_state_file wrong = manifest.ops[0].files[0];
    wrong.crc++;
    assert_int_equal(msi_store_read_file(&f.store, &wrong, &bytes, &st), MS_CORRUPT_DATA);
    ms_buf_release(&bytes);
    fixture_release(&f);
}

static void the_progress_record_takes_the_place_of_checkpoints(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    write_checkpoint(&f, 3, (ms_checkpoint_id[]){3}, 1);
    assert_ok(msi_store_finish(f.store.dir, &(msi_progress){.id = 3, .rows_read = 99}, &st));
    expect_names(&f, "LOCK\nprogress\n");
    ms_checkpoint_id id = 0;
    ms_checkpoint_id last = 0;
    msi_progress progress;
    assert_ok(msi_store_look(f.store.dir, &id, &last, &progress, &st));
    assert_int_equal(id, 0);
    assert_int_equal(last, 3);
    assert_int_equal(progress.id, 3);
    assert_int_equal(progress.rows_read, 99);
    /* A manifest that had no time to be removed does not count; a newer one does. */
    write_checkpoint(&f, 3, (ms_checkpoint_id[]){3}, 1);
    assert_ok(msi_store_look(f.store.dir, &id, &last, &progress, &st));
    assert_int_equal(id, 0);
    write_checkpoint(&f, 4, (ms_checkpoint_id[]){4}, 1);
    assert_ok(msi_store_look(f.store.dir, &id, &last, &progress, &st));
    assert_int_equal(id, 4);
    fixture_release(&f);
}

static void a_damaged_progress_record_is_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_checkpoint_id id = 0;
    ms_checkpoint_id last = 0;
    msi_progress progress;
    assert_ok(msi_store_write_file(f.store.dir, ms_str_lit("progress"),
                                   ms_str_lit("MSPR and more of it, 26 b."), &st));
    assert_int_equal(msi_store_look(f.store.dir, &id, &last, &progress, &st), MS_CORRUPT_DATA);
    fixture_release(&f);
}

static void a_file_whose_sync_failed_is_removed(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    assert_ok(ms_env_faults_set(ms_str_lit("file.sync:1:fail"), &st));
    assert_int_equal(msi_store_write_file(f.store.dir, ms_str_lit("state-x"), ms_str_lit("x"), &st),
                     MS_IO_ERROR);
    ms_status_clear(&st);
    assert_ok(ms_env_faults_set((ms_str){0}, &st));
    expect_names(&f, "LOCK\n");
    fixture_release(&f);
}

static void one_holder_at_a_time(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    msi_store other = {0};
    assert_int_equal(msi_store_open(&other, f.store.dir, &st), MS_JOB_RUNNING);
    assert_non_null(strstr(st.detail, "process"));
    msi_store_close(&other);
    fixture_release(&f);
}

static void a_lock_that_was_taken_before_is_handed_over(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_lockfile *lock = NULL;
    assert_int_equal(ms_job_dir_lock(f.store.dir, &lock, &st), MS_JOB_RUNNING);
    assert_null(lock);
    ms_status_clear(&st);
    ms_str dir = f.store.dir;
    msi_store_close(&f.store);
    assert_ok(ms_job_dir_lock(dir, &lock, &st));
    assert_non_null(lock);
    f.store.lock = lock;
    assert_ok(msi_store_open(&f.store, dir, &st));
    assert_ptr_equal(f.store.lock, lock);
    assert_int_equal(ms_job_dir_lock(dir, &lock, &st), MS_JOB_RUNNING);
    ms_status_clear(&st);
    msi_store_close(&f.store);
    assert_ok(ms_job_dir_lock(dir, &lock, &st));
    ms_lockfile_destroy(lock);
    fixture_release(&f);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    (void)state;
    ms_status st = {0};
    static char name[MSI_PATH_BYTES + 10];
    memset(name, 'a', sizeof(name));
    msi_store store = {0};
    assert_int_equal(msi_store_open(&store, ms_str_make(name, sizeof(name)), &st), MS_LIMIT);
    msi_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_keeps_what_kept_manifests_name),
        cmocka_unit_test(clearing_leaves_foreign_names),
        cmocka_unit_test(the_newest_manifest_is_found_and_read),
        cmocka_unit_test(the_progress_record_takes_the_place_of_checkpoints),
        cmocka_unit_test(a_damaged_progress_record_is_refused),
        cmocka_unit_test(a_file_whose_sync_failed_is_removed),
        cmocka_unit_test(one_holder_at_a_time),
        cmocka_unit_test(a_lock_that_was_taken_before_is_handed_over),
        cmocka_unit_test(a_path_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
