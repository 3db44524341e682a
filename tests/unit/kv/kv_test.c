/* SPDX-License-Identifier: Apache-2.0 */
/* The key-value store: batches, iterators, snapshots, restarts, and what its failures look like. */
#include "testing.h"

#include "base/env.h"
#include "base/log.h"
#include "kv/kv.h"
#include "os/file.h"
#include "os/thread.h"

#include <rocksdb/c.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

typedef struct fixture {
    char path[64];
    ms_kv *kv;
    ms_kv_batch *batch;
} fixture;

static void open_kv(fixture *f)
{
    ms_status st = {0};
    ms_kv_options options = {
        .path = f->path, .create = true, .cache_bytes = 1u << 20, .write_buffer_bytes = 1u << 20};
    assert_ok(ms_kv_open(&options, &f->kv, &st));
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    snprintf(f->path, sizeof(f->path), "/tmp/kv-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    open_kv(f);
    f->batch = ms_kv_batch_create();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    ms_status st = {0};
    fixture *f = *state;
    ms_kv_batch_destroy(f->batch);
    ms_kv_close(f->kv);
    assert_ok(ms_dir_remove(f->path, &st));
    free(f);
    return 0;
}

static void put(fixture *f, const char *key, const char *value)
{
    ms_kv_batch_put(f->batch, ms_str_cstr(key), ms_str_cstr(value));
}

static void write_batch(fixture *f)
{
    ms_status st = {0};
    assert_ok(ms_kv_write(f->kv, f->batch, MS_KV_NO_SYNC, &st));
    ms_kv_batch_reset(f->batch);
}

/* All entries as "key=value ...". */
static void assert_entries(fixture *f, const ms_kv_iter_options *options, const char *expected)
{
    ms_status st = {0};
    char text[512] = "";
    ms_kv_iter *iter = ms_kv_iter_create(f->kv, options);
    ms_kv_entry entry;
    for (bool valid = ms_kv_iter_seek(iter, ms_str_lit(""), &entry); valid;
         valid = ms_kv_iter_next(iter, &entry)) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof(text) - at, "%.*s=%.*s ", MS_STR_ARG(entry.key),
                 MS_STR_ARG(entry.value));
    }
    assert_ok(ms_kv_iter_check(iter, &st));
    ms_kv_iter_destroy(iter);
    assert_string_equal(text, expected);
}

static const ms_kv_iter_options everything = {0};

static void later_operations_of_a_batch_win(void **state)
{
    fixture *f = *state;
    put(f, "a", "1");
    ms_kv_batch_delete(f->batch, ms_str_lit("a"));
    put(f, "b", "1");
    put(f, "b", "2");
    ms_kv_batch_delete(f->batch, ms_str_lit("c"));
    put(f, "c", "3");
    assert_int_equal(ms_kv_batch_count(f->batch), 6);
    write_batch(f);
    assert_int_equal(ms_kv_batch_count(f->batch), 0);
    assert_entries(f, &everything, "b=2 c=3 ");
}

static void iterators_keep_to_their_bounds(void **state)
{
    fixture *f = *state;
    const char *keys[] = {"a", "b", "c", "d", "e"};
    for (int i = 0; i < 5; i++) {
        put(f, keys[i], "");
    }
    write_batch(f);
    ms_kv_iter_options bounds = {.lower = ms_str_lit("b"), .upper = ms_str_lit("e")};
    assert_entries(f, &bounds, "b= c= d= ");
    ms_kv_iter *iter = ms_kv_iter_create(f->kv, &bounds);
    ms_kv_entry entry;
    assert_true(ms_kv_iter_seek_last(iter, &entry));
    assert_str_equal(entry.key, "d");
    assert_true(ms_kv_iter_prev(iter, &entry));
    assert_str_equal(entry.key, "c");
    assert_true(ms_kv_iter_seek(iter, ms_str_lit("bb"), &entry));
    assert_str_equal(entry.key, "c");
    assert_false(ms_kv_iter_seek(iter, ms_str_lit("e"), &entry));
    ms_kv_iter_destroy(iter);
}

/*
 * Runs of keys that ascend, keys in no order, the same keys again, and range deletions, with
 * restarts and full memtables between them, against an array. Where ascending keys go in is a guess
 * of ours (rocks_shim.cc), which must never be seen.
 */
#define MODEL_KEYS 2000u

static ms_str model_key(uint32_t i, char text_out[16])
{
    snprintf(text_out, 16, "key-%06u", i);
    return (ms_str){text_out, 10};
}

static void write_some(fixture *f, ms_env_random *random, uint32_t *model)
{
    char key[16];
    char end[16];
    uint32_t first = (uint32_t)(ms_env_random_below(random, MODEL_KEYS));
    uint32_t count = 1 + (uint32_t)(ms_env_random_below(random, 300));
    uint64_t how = ms_env_random_below(random, 8);
    uint32_t stride = how < 2 ? 1 + (uint32_t)(ms_env_random_below(random, 3)) : 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = how < 5 ? (first + i * stride) % MODEL_KEYS
                              : (uint32_t)(ms_env_random_below(random, MODEL_KEYS));
        uint32_t value = (uint32_t)ms_env_random_next(random) | 1u;
        if (how == 4 && i % 16 == 0) {
            uint32_t to = at + 1 + (uint32_t)(ms_env_random_below(random, 20));
            ms_kv_batch_delete_range(f->batch, model_key(at, key), model_key(to, end));
            for (uint32_t k = at; k < to && k < MODEL_KEYS; k++) {
                model[k] = 0;
            }
        } else {
            ms_kv_batch_put(f->batch, model_key(at, key),
                            (ms_str){(const char *)&value, sizeof(value)});
            model[at] = value;
        }
    }
    write_batch(f);
}

static void assert_model(fixture *f, const uint32_t *model)
{
    ms_status st = {0};
    char key[16];
    ms_kv_iter *iter = ms_kv_iter_create(f->kv, &everything);
    ms_kv_entry entry;
    bool valid = ms_kv_iter_seek(iter, ms_str_lit(""), &entry);
    for (uint32_t i = 0; i < MODEL_KEYS; i++) {
        if (model[i] == 0) {
            continue;
        }
        assert_true(valid);
        assert_true(ms_str_equals(entry.key, model_key(i, key)));
        assert_memory_equal(entry.value.ptr, &model[i], sizeof(model[i]));
        valid = ms_kv_iter_next(iter, &entry);
    }
    assert_false(valid);
    assert_ok(ms_kv_iter_check(iter, &st));
    ms_kv_iter_destroy(iter);
}

static void random_writes_match_an_array(void **state)
{
    fixture *f = *state;
    uint32_t *model = calloc(MODEL_KEYS, sizeof(*model));
    ms_env_random random;
    ms_env_random_init(&random, 11);
    for (int round = 0; round < 300; round++) {
        write_some(f, &random, model);
        if (round % 20 == 0) {
            assert_model(f, model);
        }
        if (round % 75 == 74) {
            ms_kv_close(f->kv);
            open_kv(f);
        }
    }
    assert_model(f, model);
    free(model);
}

/* Keys that end where others go on, of bytes on both sides of 80, and so long that their length is
 * one byte, two or three. */
enum { SHAPES = 600, SHAPE_BYTES_MAX = 20000 };

static ms_str random_shape(ms_env_random *random, char *bytes)
{
    static const unsigned lengths[] = {4, 40, 300, SHAPE_BYTES_MAX};
    static const char letters[] = {'\0', '\1', '\x7f', '\x80', '\xff'};
    size_t count = 1 + ms_env_random_below(random, lengths[ms_env_random_below(random, 4)]);
    /* One that is often the same, and others that differ from it at their end. */
    memset(bytes, letters[ms_env_random_below(random, 5)], count);
    bytes[count - 1] = letters[ms_env_random_below(random, 5)];
    return (ms_str){bytes, count};
}

static int compare_shapes(const void *a, const void *b)
{
    return ms_str_compare(*(const ms_str *)a, *(const ms_str *)b);
}

/* Each is written twice, in no order and then in order; at last all are in files. */
static void keys_of_every_shape_come_in_their_order(void **state)
{
    fixture *f = *state;
    ms_env_random random;
    ms_env_random_init(&random, 3);
    ms_str *shapes = calloc(SHAPES, sizeof(*shapes));
    for (int i = 0; i < SHAPES; i++) {
        shapes[i] = random_shape(&random, malloc(SHAPE_BYTES_MAX));
        ms_kv_batch_put(f->batch, shapes[i], ms_str_lit("old"));
        write_batch(f);
    }
    qsort(shapes, SHAPES, sizeof(*shapes), compare_shapes);
    for (int i = 0; i < SHAPES; i++) {
        ms_kv_batch_put(f->batch, shapes[i], ms_str_lit("new"));
    }
    write_batch(f);
    for (int is_in_files = 0; is_in_files < 2; is_in_files++) {
        ms_status st = {0};
        ms_kv_iter *iter = ms_kv_iter_create(f->kv, &(ms_kv_iter_options){0});
        ms_kv_entry entry;
        bool is_valid = ms_kv_iter_seek(iter, ms_str_lit(""), &entry);
        for (int i = 0; i < SHAPES; i++) {
            if (i > 0 && ms_str_equals(shapes[i - 1], shapes[i])) {
                continue;
            }
            assert_true(is_valid);
            assert_true(ms_str_equals(entry.key, shapes[i]));
            assert_str_equal(entry.value, "new");
            is_valid = ms_kv_iter_next(iter, &entry);
        }
        assert_false(is_valid);
        for (int i = 0; i < SHAPES; i++) {
            assert_true(ms_kv_iter_seek(iter, shapes[i], &entry));
            assert_true(ms_str_equals(entry.key, shapes[i]));
        }
        ms_kv_iter_destroy(iter);
        assert_ok(ms_kv_flush(f->kv, &st));
    }
    for (int i = 0; i < SHAPES; i++) {
        free((void *)(uintptr_t)shapes[i].ptr);
    }
    free(shapes);
}

static void range_deletions_take_the_start_and_leave_the_end(void **state)
{
    fixture *f = *state;
    put(f, "a", "");
    put(f, "b", "");
    put(f, "c", "");
    ms_kv_batch_delete_range(f->batch, ms_str_lit("a"), ms_str_lit("c"));
    put(f, "b", "again");
    write_batch(f);
    assert_entries(f, &everything, "b=again c= ");
}

static void snapshot_stays_at_its_moment(void **state)
{
    fixture *f = *state;
    put(f, "a", "old");
    write_batch(f);
    ms_kv_snapshot *snapshot = ms_kv_snapshot_create(f->kv);
    put(f, "a", "new");
    put(f, "b", "new");
    write_batch(f);
    assert_entries(f, &(ms_kv_iter_options){.snapshot = snapshot}, "a=old ");
    assert_entries(f, &everything, "a=new b=new ");
    ms_kv_snapshot_destroy(f->kv, snapshot);
}

static void get_appends_or_says_that_there_is_nothing(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    put(f, "a", "value");
    write_batch(f);
    ms_buf buf;
    ms_buf_init(&buf, 64);
    bool found = false;
    assert_ok(ms_buf_append(&buf, ms_str_lit("a: "), &st));
    assert_ok(ms_kv_get(f->kv, ms_str_lit("a"), &buf, &found, &st));
    assert_true(found);
    assert_str_equal(ms_buf_view(&buf), "a: value");
    assert_ok(ms_kv_get(f->kv, ms_str_lit("b"), &buf, &found, &st));
    assert_false(found);
    ms_buf_release(&buf);
}

static void written_entries_survive_a_restart(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    put(f, "a", "1");
    write_batch(f);
    put(f, "b", "2");
    assert_ok(ms_kv_write(f->kv, f->batch, MS_KV_SYNC, &st));
    ms_kv_batch_reset(f->batch);
    ms_kv_close(f->kv);
    open_kv(f);
    assert_entries(f, &everything, "a=1 b=2 ");
    assert_ok(ms_kv_flush(f->kv, &st));
    ms_kv_compact(f->kv, ms_str_lit(""), ms_str_lit(""));
    ms_kv_close(f->kv);
    open_kv(f);
    assert_entries(f, &everything, "a=1 b=2 ");
    assert_true(ms_kv_file_bytes(f->kv, ms_str_lit("a"), ms_str_lit("z")) > 0);
}

/* Bytes of blocks and of values beside them that this thread has read so far. */
static uint64_t bytes_read(void)
{
    rocksdb_perfcontext_t *context = rocksdb_perfcontext_create();
    uint64_t bytes = rocksdb_perfcontext_metric(context, rocksdb_block_read_byte) +
                     rocksdb_perfcontext_metric(context, rocksdb_blob_read_byte);
    rocksdb_perfcontext_destroy(context);
    return bytes;
}

static size_t value_bytes_at(fixture *f, const char *key, const char *upper)
{
    ms_status st = {0};
    ms_kv_entry entry = {0};
    ms_kv_iter *iter = ms_kv_iter_create(f->kv, &(ms_kv_iter_options){.upper = ms_str_cstr(upper)});
    bool is_there = ms_kv_iter_seek(iter, ms_str_cstr(key), &entry);
    size_t bytes = is_there ? entry.value.bytes : 0;
    assert_ok(ms_kv_iter_check(iter, &st));
    ms_kv_iter_destroy(iter);
    return bytes;
}

/* Every look positions every file of the first level, of which each restart makes one. */
static void large_value_is_read_by_those_who_want_it(void **state)
{
    fixture *f = *state;
    enum { LARGE = 8 << 20 };
    char *large = calloc(1, LARGE);
    for (int round = 0; round < 2; round++) {
        put(f, "b", "small");
        write_batch(f);
        ms_kv_batch_put(f->batch, ms_str_cstr("d"), ms_str_make(large, LARGE));
        write_batch(f);
        ms_kv_close(f->kv);
        open_kv(f);
    }
    free(large);
    rocksdb_set_perf_level(rocksdb_enable_count);
    uint64_t before = bytes_read();
    assert_int_equal(value_bytes_at(f, "a", "c"), 5);
    assert_int_equal(value_bytes_at(f, "c", "d"), 0);
    assert_int_equal(value_bytes_at(f, "e", "f"), 0);
    assert_true(bytes_read() - before < 100000);
    assert_int_equal(value_bytes_at(f, "c", "e"), LARGE);
    assert_true(bytes_read() - before > LARGE);
    rocksdb_set_perf_level(rocksdb_disable);
}

static void directory_is_private(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    char path[96];
    snprintf(path, sizeof(path), "%s/inner", f->path);
    ms_kv *inner = NULL;
    assert_ok(ms_kv_open(&(ms_kv_options){.path = path, .create = true}, &inner, &st));
    ms_kv_close(inner);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
}

static void second_store_in_a_directory_is_refused(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    ms_kv *second = NULL;
    assert_int_equal(ms_kv_open(&(ms_kv_options){.path = f->path}, &second, &st),
                     MS_DATA_DIR_IN_USE);
    assert_null(second);
}

static void missing_store_is_named(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    char path[96];
    snprintf(path, sizeof(path), "%s/none", f->path);
    ms_kv *none = NULL;
    assert_int_equal(ms_kv_open(&(ms_kv_options){.path = path}, &none, &st), MS_FILE_NOT_FOUND);
    assert_true(strlen(st.detail) > 0);
}

static void damaged_file_is_corrupt_data(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    put(f, "a", "1");
    write_batch(f);
    ms_kv_close(f->kv);
    char path[96];
    snprintf(path, sizeof(path), "%s/CURRENT", f->path);
    assert_ok(ms_file_replace(path, ms_str_lit("MANIFEST-999999\n"), &st));
    f->kv = NULL;
    ms_rc rc = ms_kv_open(&(ms_kv_options){.path = f->path, .create = true}, &f->kv, &st);
    assert_true(rc == MS_CORRUPT_DATA || rc == MS_IO_ERROR);
    assert_null(f->kv);
}

static void fault_points_fail_at_their_place(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    assert_ok(
        ms_env_faults_set(ms_str_lit("kv.write:1:fail,kv.written:1:fail,kv.sync:1:fail"), &st));
    put(f, "before", "");
    assert_int_equal(ms_kv_write(f->kv, f->batch, MS_KV_NO_SYNC, &st), MS_IO_ERROR);
    ms_kv_batch_reset(f->batch);
    put(f, "after", "");
    ms_status_clear(&st);
    assert_int_equal(ms_kv_write(f->kv, f->batch, MS_KV_NO_SYNC, &st), MS_IO_ERROR);
    ms_status_clear(&st);
    assert_int_equal(ms_kv_sync(f->kv, &st), MS_IO_ERROR);
    ms_status_clear(&st);
    assert_ok(ms_kv_sync(f->kv, &st));
    assert_ok(ms_env_faults_set(ms_str_lit("kv.read:1:fail"), &st));
    ms_kv_entry entry;
    ms_kv_iter *iter = ms_kv_iter_create(f->kv, &everything);
    (void)ms_kv_iter_seek(iter, ms_str_lit("z"), &entry);
    assert_int_equal(ms_kv_iter_check(iter, &st), MS_IO_ERROR);
    ms_kv_iter_destroy(iter);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    assert_entries(f, &everything, "after= ");
}

/* A limit on the length of a file stands for a full disk; RocksDB takes both for a failed write. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void store_whose_log_cannot_grow_fails_and_opens_again(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    char value[1024] = {0};
    memset(value, 'v', sizeof(value) - 1);
    put(f, "acknowledged", "1");
    write_batch(f);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    limit_files(16u << 10);
    ms_rc rc = MS_OK;
    for (int i = 0; i < 64 && rc == MS_OK; i++) {
        put(f, "filling", value);
        rc = ms_kv_write(f->kv, f->batch, MS_KV_NO_SYNC, &st);
        ms_kv_batch_reset(f->batch);
    }
    assert_int_equal(rc, MS_IO_ERROR);
    put(f, "after", "1");
    assert_int_equal(ms_kv_write(f->kv, f->batch, MS_KV_SYNC, &(ms_status){0}), MS_IO_ERROR);
    assert_int_equal(ms_kv_sync(f->kv, &(ms_status){0}), MS_IO_ERROR);
    assert_int_equal(ms_kv_flush(f->kv, &(ms_status){0}), MS_IO_ERROR);
    ms_kv_close(f->kv);
    limit_files(RLIM_INFINITY);
    signal(SIGXFSZ, before);
    open_kv(f);
    ms_buf found;
    bool is_found = false;
    ms_buf_init(&found, 64);
    ms_status_clear(&st);
    assert_ok(ms_kv_get(f->kv, ms_str_lit("acknowledged"), &found, &is_found, &st));
    assert_true(is_found);
    ms_buf_release(&found);
}

static void sync_until_it_fails(void *arg)
{
    ms_status st = {0};
    while (ms_kv_sync(arg, &st) == MS_OK) {
    }
}

/* Several, so that one is always on its way to the log behind another. */
static void syncs_beside_a_write_that_fails_are_refused(void **state)
{
    fixture *f = *state;
    enum { SYNCERS = 4 };
    char value[1024] = {0};
    memset(value, 'v', sizeof(value) - 1);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    for (int round = 0; round < 20; round++) {
        ms_status st = {0};
        ms_thread threads[SYNCERS];
        for (int i = 0; i < SYNCERS; i++) {
            assert_ok(ms_thread_start(&threads[i], "sync", sync_until_it_fails, f->kv, &st));
        }
        limit_files(64u << 10);
        ms_rc rc = MS_OK;
        for (int i = 0; i < 256 && rc == MS_OK; i++) {
            put(f, "filling", value);
            rc = ms_kv_write(f->kv, f->batch, MS_KV_NO_SYNC, &st);
            ms_kv_batch_reset(f->batch);
        }
        assert_int_equal(rc, MS_IO_ERROR);
        for (int i = 0; i < SYNCERS; i++) {
            ms_thread_join(&threads[i]);
        }
        ms_kv_close(f->kv);
        limit_files(RLIM_INFINITY);
        open_kv(f);
    }
    signal(SIGXFSZ, before);
}

static void store_keeps_no_log_of_words_in_its_directory(void **state)
{
    fixture *f = *state;
    char path[128];
    struct stat info;
    snprintf(path, sizeof(path), "%s/LOG", f->path);
    assert_int_equal(stat(path, &info), -1);
}

static void count_line(ms_str line, void *arg)
{
    int *count = arg;
    *count += memmem(line.ptr, line.bytes, "event=rocksdb", 13) != NULL;
}

static void warnings_of_rocksdb_are_lines_of_the_log(void **state)
{
    fixture *f = *state;
    int count = 0;
    ms_log_set_sink(count_line, &count);
    ms_log_set_level(MS_LOG_INFO);
    put(f, "a", "1");
    write_batch(f);
    ms_kv_close(f->kv);
    /* Half a record at the end of the log is dropped with a warning. */
    char command[160];
    snprintf(command, sizeof(command), "for f in %s/*.log; do truncate -s -1 \"$f\"; done",
             f->path);
    assert_int_equal(system(command), 0);
    open_kv(f);
    ms_log_set_level(MS_LOG_WARN);
    ms_log_set_sink(NULL, NULL);
    assert_true(count > 0);
}

static void close_with_an_iterator(void *arg)
{
    fixture *f = arg;
    (void)ms_kv_iter_create(f->kv, &everything);
    ms_kv_close(f->kv);
}

static void closing_under_an_iterator_is_a_bug(void **state)
{
    assert_aborts(close_with_an_iterator, *state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(later_operations_of_a_batch_win),
        TEST(iterators_keep_to_their_bounds),
        TEST(keys_of_every_shape_come_in_their_order),
        TEST(range_deletions_take_the_start_and_leave_the_end),
        TEST(random_writes_match_an_array),
        TEST(snapshot_stays_at_its_moment),
        TEST(get_appends_or_says_that_there_is_nothing),
        TEST(written_entries_survive_a_restart),
        TEST(large_value_is_read_by_those_who_want_it),
        TEST(directory_is_private),
        TEST(second_store_in_a_directory_is_refused),
        TEST(missing_store_is_named),
        TEST(damaged_file_is_corrupt_data),
        TEST(fault_points_fail_at_their_place),
        TEST(store_whose_log_cannot_grow_fails_and_opens_again),
        TEST(syncs_beside_a_write_that_fails_are_refused),
        TEST(store_keeps_no_log_of_words_in_its_directory),
        TEST(warnings_of_rocksdb_are_lines_of_the_log),
        TEST(closing_under_an_iterator_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
