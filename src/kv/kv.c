/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RocksDB behind kv.h. The options are for one process with few cores and one writer at a time:
 * leveled compaction with few background threads, no periodic work, no compression unless asked.
 */
#include "kv/kv.h"

#include "base/env.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "kv/rocks_shim.h"
#include "os/file.h"
#include "os/thread.h"

#include <limits.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#define DEFAULT_CACHE_BYTES (64u << 20)
#define DEFAULT_WRITE_BUFFER_BYTES (64u << 20)

/* Large blocks: scans are the common read, and every seek within a cached block is a bisection. */
#define BLOCK_BYTES ((size_t)16 << 10)
/* Of the oldest files of large values a quarter is looked at when compactions find what is left in
 * them; half of it garbage is a reason to compact. */
#define LARGE_VALUES_OLD 0.25
#define LARGE_VALUES_GARBAGE 0.5
/* Below the usual limit of 1024 descriptors of a process, with room for everybody else; where the
 * limit is lower, half of it. RocksDB wants some whatever the limit is. */
#define OPEN_FILES_MAX 512
#define OPEN_FILES_MIN 16
#define BACKGROUND_JOBS 2
#define MEMTABLES_MAX 4
/* Levels above this many buffers of data begin to be merged; RocksDB's own proportion. */
#define BASE_LEVEL_BUFFERS 4
/* Of the memory that a limit leaves the process: an eighth for the cache, and for all memtables. */
#define MEMORY_SHARE 8

struct ms_kv {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write[2]; /* by ms_kv_sync_mode */
    _Atomic int readers;              /* iterators and snapshots: none may outlive the store */
    ms_mutex log_mutex;               /* held by writes, syncs and flushes; guards the failure */
    char failure[256];                /* of the first of them; empty: RocksDB is asked */
};

struct ms_kv_batch {
    rocksdb_writebatch_t *handle;
};

struct ms_kv_iter {
    ms_kv *kv;
    rocksdb_iterator_t *handle;
    rocksdb_readoptions_t *read;
    char *bounds; /* RocksDB keeps pointers to them */
};

struct ms_kv_snapshot {
    const rocksdb_snapshot_t *handle;
};

/* Errors. */

static ms_rc error_code(const char *text)
{
    if (strstr(text, "No space left on device") != NULL) {
        return MS_DISK_FULL;
    }
    if (strstr(text, "lock hold by current process") != NULL ||
        strstr(text, "While lock file") != NULL) {
        return MS_DATA_DIR_IN_USE;
    }
    if (strncmp(text, "Corruption", sizeof("Corruption") - 1) == 0) {
        return MS_CORRUPT_DATA;
    }
    if (strstr(text, "create_if_missing is false") != NULL) {
        return MS_FILE_NOT_FOUND;
    }
    return MS_IO_ERROR;
}

/* Turns RocksDB's error, which is freed here, into a status. */
static ms_rc fail(char *error, const char *doing, ms_status *st)
{
    ms_rc code = error_code(error);
    ms_status_set(st, code, ms_span_none, "could not %s the embedded store", doing);
    ms_status_detail(st, "%s", error);
    if (code == MS_DISK_FULL) {
        ms_status_hint(st, "Free space and open the store again; what was acknowledged is in it.");
    }
    rocksdb_free(error);
    return st->code;
}

static ms_rc fail_injected(const char *doing, ms_status *st)
{
    ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not %s the embedded store", doing);
    ms_status_detail(st, "IO error: injected fault");
    return st->code;
}

static ms_rc fail_thrown(const char *thrown, ms_status *st)
{
    ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not open the embedded store");
    ms_status_detail(st, "the system refuses a thread or memory: %s", thrown);
    return ms_status_hint(st, "Raise the limit on address space (ulimit -v) or threads (ulimit "
                              "-u).");
}

/* A level below RocksDB's own: what fails is reported by a status, and its warnings are many. */
void msi_rocks_log_line(bool is_error, const char *text)
{
    ms_log_level level = is_error ? MS_LOG_WARN : MS_LOG_INFO;
    ms_log(level, "kv", "rocksdb", "text=\"%s\"", text);
}

void msi_rocks_no_memory(void)
{
    ms_mem_exhausted(0);
}

/*
 * After a file could not be written RocksDB asserts that nobody writes to it again, and some ways
 * to its log do not look first: the second failure would end the process. So whoever goes to the
 * log holds the mutex, and looks whether somebody has failed.
 */
static ms_rc fail_writing(ms_kv *kv, char *error, const char *doing, ms_status *st)
{
    snprintf(kv->failure, sizeof(kv->failure), "%s", error);
    return fail(error, doing, st);
}

static ms_rc refuse_failed(ms_kv *kv, const char *doing, ms_status *st)
{
    if (kv->failure[0] == '\0') {
        return MS_OK;
    }
    ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not %s the embedded store", doing);
    return ms_status_detail(st, "a write has failed before (%s); the store must be opened again",
                            kv->failure);
}

/* Life. */

static void set_table_options(ms_kv *kv, const ms_kv_options *options)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(table, BLOCK_BYTES);
    rocksdb_block_based_options_set_block_cache(table, kv->cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
    rocksdb_block_based_options_set_format_version(table, 5);
    if (options->bloom_bits > 0) {
        /* The policy belongs to the table options from here on. */
        rocksdb_block_based_options_set_filter_policy(
            table, rocksdb_filterpolicy_create_bloom_full(options->bloom_bits));
    }
    rocksdb_options_set_block_based_table_factory(kv->options, table);
    rocksdb_block_based_options_destroy(table);
}

/* What the process may have of something at most; a limit that cannot be read is none. */
static uint64_t limit_of(__rlimit_resource_t resource)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    bool is_limited = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The bytes that caches, or memtables, may have where address space or heap are limited. */
static uint64_t memory_share(void)
{
    return smaller(limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA)) / MEMORY_SHARE;
}

static int open_files_max(void)
{
    uint64_t half = limit_of(RLIMIT_NOFILE) / 2;
    return half < OPEN_FILES_MIN ? OPEN_FILES_MIN : (int)smaller(half, OPEN_FILES_MAX);
}

static rocksdb_cache_t *make_cache(const ms_kv_options *options)
{
    uint64_t bytes = options->cache_bytes != 0 ? options->cache_bytes : DEFAULT_CACHE_BYTES;
    return rocksdb_cache_create_lru((size_t)smaller(bytes, memory_share()));
}

static void set_large_values(rocksdb_options_t *to, bool compress)
{
    rocksdb_options_set_enable_blob_files(to, 1);
    rocksdb_options_set_min_blob_size(to, MS_KV_LARGE_VALUE_BYTES);
    rocksdb_options_set_blob_compression_type(to, compress ? rocksdb_lz4_compression
                                                           : rocksdb_no_compression);
    rocksdb_options_set_enable_blob_gc(to, 1);
    rocksdb_options_set_blob_gc_age_cutoff(to, LARGE_VALUES_OLD);
    rocksdb_options_set_blob_gc_force_threshold(to, LARGE_VALUES_GARBAGE);
}

static void set_options(ms_kv *kv, const ms_kv_options *options)
{
    uint64_t buffer =
        options->write_buffer_bytes != 0 ? options->write_buffer_bytes : DEFAULT_WRITE_BUFFER_BYTES;
    buffer = smaller(buffer, memory_share() / MEMTABLES_MAX);
    rocksdb_options_t *to = kv->options;
    rocksdb_options_set_create_if_missing(to, options->create);
    rocksdb_options_set_compression(to, options->compress ? rocksdb_lz4_compression
                                                          : rocksdb_no_compression);
    rocksdb_options_set_write_buffer_size(to, (size_t)buffer);
    rocksdb_options_set_max_write_buffer_number(to, MEMTABLES_MAX);
    rocksdb_options_set_max_bytes_for_level_base(to, buffer * BASE_LEVEL_BUFFERS);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(to, 1);
    rocksdb_options_set_max_background_jobs(to, BACKGROUND_JOBS);
    rocksdb_options_set_max_open_files(to, open_files_max());
    /* Written files reach the disk in steps of a MiB, not in one burst at their end. */
    rocksdb_options_set_bytes_per_sync(to, 1u << 20);
    /* Opening looks into few files only; threads for it are many and may be refused. */
    rocksdb_options_set_max_file_opening_threads(to, 1);
    msi_rocks_log_set(to);
    msi_rocks_stay_failed(to);
    msi_rocks_write_near(to);
    /* No periodic dumps: an idle store costs nothing. */
    rocksdb_options_set_stats_dump_period_sec(to, 0);
    rocksdb_options_set_stats_persist_period_sec(to, 0);
    set_large_values(to, options->compress);
    set_table_options(kv, options);
}

static ms_rc make_directory(const char *path, ms_status *st)
{
    ms_file_info info;
    MS_TRY(ms_file_stat(path, &info, st));
    if (info.kind != MS_FILE_KIND_NONE) {
        return MS_OK;
    }
    MS_TRY(ms_dir_create(path, st));
    /* The new name is durable once the directory that it is in was synced. */
    ms_buf parent;
    ms_buf_init(&parent, PATH_MAX);
    ms_rc rc = ms_buf_format(&parent, st, "%s/..", path);
    if (rc == MS_OK) {
        rc = ms_buf_append_byte(&parent, '\0', st);
    }
    if (rc == MS_OK) {
        rc = ms_dir_sync(parent.ptr, st);
    }
    ms_buf_release(&parent);
    return rc;
}

ms_rc ms_kv_open(const ms_kv_options *options, ms_kv **kv_out, ms_status *st)
{
    *kv_out = NULL;
    if (options->create) {
        MS_TRY(make_directory(options->path, st));
    }
    ms_kv *kv = ms_mem_calloc(1, sizeof(*kv));
    ms_mutex_init(&kv->log_mutex, MS_RANK_KV);
    msi_rocks_exit_when_refused();
    kv->options = rocksdb_options_create();
    kv->cache = make_cache(options);
    kv->read = rocksdb_readoptions_create();
    kv->write[MS_KV_NO_SYNC] = rocksdb_writeoptions_create();
    kv->write[MS_KV_SYNC] = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(kv->write[MS_KV_SYNC], 1);
    set_options(kv, options);
    char *error = NULL;
    char thrown[256];
    bool is_thrown =
        !msi_rocks_open(kv->options, options->path, &kv->db, &error, thrown, sizeof(thrown));
    if (is_thrown || error != NULL) {
        is_thrown ? fail_thrown(thrown, st) : fail(error, "open", st);
        ms_kv_close(kv);
        return st->code;
    }
    *kv_out = kv;
    return MS_OK;
}

void ms_kv_close(ms_kv *kv)
{
    if (kv == NULL) {
        return;
    }
    /* Order acquire: pairs with the releases of iterators that ended on other threads. */
    MS_ASSERT(atomic_load_explicit(&kv->readers, memory_order_acquire) == 0);
    if (kv->db != NULL) {
        rocksdb_close(kv->db);
    }
    rocksdb_options_destroy(kv->options);
    rocksdb_cache_destroy(kv->cache);
    rocksdb_readoptions_destroy(kv->read);
    rocksdb_writeoptions_destroy(kv->write[MS_KV_NO_SYNC]);
    rocksdb_writeoptions_destroy(kv->write[MS_KV_SYNC]);
    ms_mutex_release(&kv->log_mutex);
    ms_mem_free(kv);
}

/* Writing. */

ms_kv_batch *ms_kv_batch_create(void)
{
    ms_kv_batch *batch = ms_mem_alloc(sizeof(*batch));
    batch->handle = rocksdb_writebatch_create();
    return batch;
}

void ms_kv_batch_destroy(ms_kv_batch *batch)
{
    if (batch != NULL) {
        rocksdb_writebatch_destroy(batch->handle);
        ms_mem_free(batch);
    }
}

void ms_kv_batch_reset(ms_kv_batch *batch)
{
    rocksdb_writebatch_clear(batch->handle);
}

void ms_kv_batch_put(ms_kv_batch *batch, ms_str key, ms_str value)
{
    rocksdb_writebatch_put(batch->handle, key.ptr, key.bytes, value.ptr, value.bytes);
}

void ms_kv_batch_delete(ms_kv_batch *batch, ms_str key)
{
    rocksdb_writebatch_delete(batch->handle, key.ptr, key.bytes);
}

void ms_kv_batch_delete_range(ms_kv_batch *batch, ms_str start, ms_str end)
{
    rocksdb_writebatch_delete_range(batch->handle, start.ptr, start.bytes, end.ptr, end.bytes);
}

uint32_t ms_kv_batch_count(const ms_kv_batch *batch)
{
    return (uint32_t)rocksdb_writebatch_count(batch->handle);
}

static ms_rc write_locked(ms_kv *kv, ms_kv_batch *batch, ms_kv_sync_mode mode, ms_status *st)
{
    MS_TRY(refuse_failed(kv, "write to", st));
    char *error = NULL;
    rocksdb_write(kv->db, kv->write[mode], batch->handle, &error);
    return error != NULL ? fail_writing(kv, error, "write to", st) : MS_OK;
}

ms_rc ms_kv_write(ms_kv *kv, ms_kv_batch *batch, ms_kv_sync_mode mode, ms_status *st)
{
    if (ms_env_fault("kv.write")) {
        return fail_injected("write to", st);
    }
    ms_mutex_lock(&kv->log_mutex);
    ms_rc rc = write_locked(kv, batch, mode, st);
    ms_mutex_unlock(&kv->log_mutex);
    if (rc == MS_OK && ms_env_fault("kv.written")) {
        return fail_injected("write to", st);
    }
    return rc;
}

static ms_rc sync_locked(ms_kv *kv, ms_status *st)
{
    MS_TRY(refuse_failed(kv, "sync", st));
    char *error = NULL;
    rocksdb_flush_wal(kv->db, 1, &error);
    return error != NULL ? fail_writing(kv, error, "sync", st) : MS_OK;
}

ms_rc ms_kv_sync(ms_kv *kv, ms_status *st)
{
    if (ms_env_fault("kv.sync")) {
        return fail_injected("sync", st);
    }
    ms_mutex_lock(&kv->log_mutex);
    ms_rc rc = sync_locked(kv, st);
    ms_mutex_unlock(&kv->log_mutex);
    return rc;
}

static ms_rc flush_locked(ms_kv *kv, ms_status *st)
{
    MS_TRY(refuse_failed(kv, "flush", st));
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 1);
    char *error = NULL;
    rocksdb_flush(kv->db, options, &error);
    rocksdb_flushoptions_destroy(options);
    return error != NULL ? fail_writing(kv, error, "flush", st) : MS_OK;
}

ms_rc ms_kv_flush(ms_kv *kv, ms_status *st)
{
    ms_mutex_lock(&kv->log_mutex);
    ms_rc rc = flush_locked(kv, st);
    ms_mutex_unlock(&kv->log_mutex);
    return rc;
}

void ms_kv_compact(ms_kv *kv, ms_str start, ms_str end)
{
    rocksdb_compact_range(kv->db, start.ptr, start.bytes, end.bytes == 0 ? NULL : end.ptr,
                          end.bytes);
}

/* Reading. */

ms_rc ms_kv_get(ms_kv *kv, ms_str key, ms_buf *value, bool *found_out, ms_status *st)
{
    *found_out = false;
    char *error = NULL;
    rocksdb_pinnableslice_t *pinned =
        rocksdb_get_pinned(kv->db, kv->read, key.ptr, key.bytes, &error);
    if (error != NULL) {
        return fail(error, "read from", st);
    }
    if (pinned == NULL) {
        return MS_OK;
    }
    ms_str bytes = {NULL, 0};
    bytes.ptr = rocksdb_pinnableslice_value(pinned, &bytes.bytes);
    ms_rc rc = ms_buf_append(value, bytes, st);
    rocksdb_pinnableslice_destroy(pinned);
    *found_out = rc == MS_OK;
    return rc;
}

static void add_reader(ms_kv *kv)
{
    atomic_fetch_add_explicit(&kv->readers, 1, memory_order_relaxed);
}

static void remove_reader(ms_kv *kv)
{
    /* Order release: what the reader did is over before the store may close. */
    atomic_fetch_sub_explicit(&kv->readers, 1, memory_order_release);
}

ms_kv_snapshot *ms_kv_snapshot_create(ms_kv *kv)
{
    ms_kv_snapshot *snapshot = ms_mem_alloc(sizeof(*snapshot));
    snapshot->handle = rocksdb_create_snapshot(kv->db);
    add_reader(kv);
    return snapshot;
}

void ms_kv_snapshot_destroy(ms_kv *kv, ms_kv_snapshot *snapshot)
{
    if (snapshot != NULL) {
        rocksdb_release_snapshot(kv->db, snapshot->handle);
        ms_mem_free(snapshot);
        remove_reader(kv);
    }
}

ms_kv_iter *ms_kv_iter_create(ms_kv *kv, const ms_kv_iter_options *options)
{
    ms_kv_iter *iter = ms_mem_calloc(1, sizeof(*iter));
    iter->kv = kv;
    iter->read = rocksdb_readoptions_create();
    iter->bounds = ms_mem_alloc(options->lower.bytes + options->upper.bytes + 1);
    if (options->lower.bytes > 0) {
        memcpy(iter->bounds, options->lower.ptr, options->lower.bytes);
        rocksdb_readoptions_set_iterate_lower_bound(iter->read, iter->bounds, options->lower.bytes);
    }
    if (options->upper.bytes > 0) {
        char *upper = iter->bounds + options->lower.bytes;
        memcpy(upper, options->upper.ptr, options->upper.bytes);
        rocksdb_readoptions_set_iterate_upper_bound(iter->read, upper, options->upper.bytes);
    }
    rocksdb_readoptions_set_fill_cache(iter->read, !options->no_fill_cache);
    if (options->snapshot != NULL) {
        rocksdb_readoptions_set_snapshot(iter->read, options->snapshot->handle);
    }
    iter->handle = rocksdb_create_iterator(kv->db, iter->read);
    add_reader(kv);
    return iter;
}

void ms_kv_iter_destroy(ms_kv_iter *iter)
{
    if (iter != NULL) {
        ms_kv *kv = iter->kv;
        rocksdb_iter_destroy(iter->handle);
        rocksdb_readoptions_destroy(iter->read);
        ms_mem_free(iter->bounds);
        ms_mem_free(iter);
        remove_reader(kv);
    }
}

static inline bool current(const ms_kv_iter *iter, ms_kv_entry *entry_out)
{
    if (!rocksdb_iter_valid(iter->handle)) {
        return false;
    }
    entry_out->key.ptr = rocksdb_iter_key(iter->handle, &entry_out->key.bytes);
    entry_out->value.ptr = rocksdb_iter_value(iter->handle, &entry_out->value.bytes);
    return true;
}

bool ms_kv_iter_seek(ms_kv_iter *iter, ms_str key, ms_kv_entry *entry_out)
{
    rocksdb_iter_seek(iter->handle, key.ptr, key.bytes);
    return current(iter, entry_out);
}

bool ms_kv_iter_seek_last(ms_kv_iter *iter, ms_kv_entry *entry_out)
{
    rocksdb_iter_seek_to_last(iter->handle);
    return current(iter, entry_out);
}

bool ms_kv_iter_next(ms_kv_iter *iter, ms_kv_entry *entry_out)
{
    rocksdb_iter_next(iter->handle);
    return current(iter, entry_out);
}

bool ms_kv_iter_prev(ms_kv_iter *iter, ms_kv_entry *entry_out)
{
    rocksdb_iter_prev(iter->handle);
    return current(iter, entry_out);
}

ms_rc ms_kv_iter_check(const ms_kv_iter *iter, ms_status *st)
{
    if (ms_env_fault("kv.read")) {
        return fail_injected("read from", st);
    }
    char *error = NULL;
    rocksdb_iter_get_error(iter->handle, &error);
    return error != NULL ? fail(error, "read from", st) : MS_OK;
}

/* Inspection. */

uint64_t ms_kv_file_bytes(ms_kv *kv, ms_str start, ms_str end)
{
    uint64_t bytes = 0;
    char *error = NULL;
    rocksdb_approximate_sizes(kv->db, 1, &start.ptr, &start.bytes, &end.ptr, &end.bytes, &bytes,
                              &error);
    if (error != NULL) {
        /* A guess that cannot be made is no guess; the reads that follow report what is wrong. */
        rocksdb_free(error);
        return 0;
    }
    return bytes;
}
