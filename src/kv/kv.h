/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordered key-value store on the local disk: the only wrapper of RocksDB. Keys and values are
 * bytes, keys compare as unsigned bytes. Writes go in batches, each of which is applied whole or
 * not at all and is in the write-ahead log when the write returns; whether the log is also on the
 * disk is the caller's choice.
 *
 *     ms_kv *kv = NULL;
 *     MS_TRY(ms_kv_open(&(ms_kv_options){.path = path, .create = true}, &kv, st));
 *     ms_kv_batch *batch = ms_kv_batch_create();
 *     ms_kv_batch_put(batch, key, value);
 *     MS_TRY(ms_kv_write(kv, batch, MS_KV_SYNC, st));
 *     ms_kv_batch_destroy(batch);
 *     ms_kv_close(kv);
 *
 * Errors are environment errors: MS_DISK_FULL, MS_CORRUPT_DATA, MS_DATA_DIR_IN_USE (another open
 * store, in this process too), else MS_IO_ERROR, with RocksDB's text as detail. After a failed
 * write, sync or flush nobody knows what is in the log: all later ones fail with MS_IO_ERROR
 * until the store is opened anew, and reads go on. A store opens on a full disk or fails cleanly.
 *
 * Memory is RocksDB's own. Where the process is limited (RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE) the
 * store takes less of it. What the system refuses while a store opens fails the opening; later it
 * ends the process with exit status 1 and a line on standard error, on whatever thread it is met,
 * since RocksDB cannot report it: the first store that a process opens installs a handler for C++
 * exceptions (std::bad_alloc, std::system_error) that nobody caught. What was acknowledged stays.
 *
 * Fault points: "kv.write" fails before anything is written, "kv.written" after it was, "kv.sync"
 * instead of a sync.
 *
 * Thread: a store is used by any number of threads; a batch or an iterator by one at a time. All
 * calls but those on batches may block on the disk.
 */
#ifndef MS_KV_KV_H
#define MS_KV_KV_H

#include "base/str.h"

typedef struct ms_kv ms_kv;
typedef struct ms_kv_batch ms_kv_batch;
typedef struct ms_kv_iter ms_kv_iter;
typedef struct ms_kv_snapshot ms_kv_snapshot;

/*
 * Values of this size and more are in files of their own kind. Were they in blocks, whoever looks
 * for something near one would read it whole, every iterator for what is near in each file of the
 * first level; and every compaction would copy it. ms_kv_file_bytes does not count them.
 */
#define MS_KV_LARGE_VALUE_BYTES ((size_t)256 << 10)

/* Life. */

typedef struct ms_kv_options {
    const char *path;            /* a directory, made (0700) where create is set */
    bool create;                 /* a missing store is made; else it is MS_FILE_NOT_FOUND */
    bool compress;               /* blocks with LZ4; off, reads of warm data cost less */
    int bloom_bits;              /* a key, for point reads of absent keys; 0: no filter */
    uint64_t cache_bytes;        /* of uncompressed blocks, at most; 0: 64 MiB */
    uint64_t write_buffer_bytes; /* of one memtable, at most; 0: 64 MiB. Up to four at a time */
} ms_kv_options;

ms_rc ms_kv_open(const ms_kv_options *options, ms_kv **kv_out, ms_status *st) MS_MUST_USE;

/* All iterators and snapshots are gone. Takes NULL. Writes nothing that was not in the log. */
void ms_kv_close(ms_kv *kv);

/* Writing. */

typedef enum ms_kv_sync_mode {
    MS_KV_NO_SYNC, /* survives the end of the process */
    MS_KV_SYNC     /* survives the loss of power, with all that was written before */
} ms_kv_sync_mode;

ms_kv_batch *ms_kv_batch_create(void);
void ms_kv_batch_destroy(ms_kv_batch *batch);

/* Empties a batch and keeps its memory. */
void ms_kv_batch_reset(ms_kv_batch *batch);

/* Later operations of a batch win over earlier ones. */
void ms_kv_batch_put(ms_kv_batch *batch, ms_str key, ms_str value);
void ms_kv_batch_delete(ms_kv_batch *batch, ms_str key);

/* Deletes [start, end). Scans over many range deletions are slow: for what is dropped whole. */
void ms_kv_batch_delete_range(ms_kv_batch *batch, ms_str start, ms_str end);

/* Operations in the batch. */
uint32_t ms_kv_batch_count(const ms_kv_batch *batch);

ms_rc ms_kv_write(ms_kv *kv, ms_kv_batch *batch, ms_kv_sync_mode mode, ms_status *st) MS_MUST_USE;

/* Makes everything written so far survive the loss of power. */
ms_rc ms_kv_sync(ms_kv *kv, ms_status *st) MS_MUST_USE;

/* Writes the memtables to files, so that the next open has no log to replay. */
ms_rc ms_kv_flush(ms_kv *kv, ms_status *st) MS_MUST_USE;

/* Merges all files of [start, end); an empty end is no end. For tests and benchmarks. */
void ms_kv_compact(ms_kv *kv, ms_str start, ms_str end);

/* Reading. */

/* Appends the value of a key to a buffer; *found_out is false when there is none. */
ms_rc ms_kv_get(ms_kv *kv, ms_str key, ms_buf *value, bool *found_out, ms_status *st) MS_MUST_USE;

/* A moment of the store, for iterators that must agree with each other. */
ms_kv_snapshot *ms_kv_snapshot_create(ms_kv *kv);
void ms_kv_snapshot_destroy(ms_kv *kv, ms_kv_snapshot *snapshot);

typedef struct ms_kv_iter_options {
    ms_str lower;                   /* inclusive; empty: none. Copied */
    ms_str upper;                   /* exclusive; empty: none. Copied */
    bool no_fill_cache;             /* blocks read for this iterator do not displace others */
    const ms_kv_snapshot *snapshot; /* NULL: the moment of creation */
} ms_kv_iter_options;

/* What an iterator stands on: views that live until it moves. */
typedef struct ms_kv_entry {
    ms_str key;
    ms_str value;
} ms_kv_entry;

ms_kv_iter *ms_kv_iter_create(ms_kv *kv, const ms_kv_iter_options *options);
void ms_kv_iter_destroy(ms_kv_iter *iter);

/* Each moves and gives the entry reached; false at the end, and after an error, which
 * ms_kv_iter_check then reports. */
bool ms_kv_iter_seek(ms_kv_iter *iter, ms_str key, ms_kv_entry *entry_out);
bool ms_kv_iter_seek_last(ms_kv_iter *iter, ms_kv_entry *entry_out);
bool ms_kv_iter_next(ms_kv_iter *iter, ms_kv_entry *entry_out);
bool ms_kv_iter_prev(ms_kv_iter *iter, ms_kv_entry *entry_out);
ms_rc ms_kv_iter_check(const ms_kv_iter *iter, ms_status *st) MS_MUST_USE;

/* Inspection. */

/* About how many bytes of files hold the keys of [start, end). Memtables are not counted. */
uint64_t ms_kv_file_bytes(ms_kv *kv, ms_str start, ms_str end);

#endif
