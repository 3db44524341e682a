/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of RocksDB cannot be had through its C interface.
 *
 * Its informational log without a file: the file that RocksDB would keep beside the data ends the
 * process by an assertion when a line is logged after a line did not fit on the disk. The lines go
 * to base/log instead, and nothing is written below the store's directory that is not data.
 *
 * Opening without exceptions: RocksDB starts threads when it opens, and where the system refuses
 * one, the C interface lets the exception out.
 *
 * Private to this folder. Thread: any.
 */
#ifndef MS_KV_ROCKS_SHIM_H
#define MS_KV_ROCKS_SHIM_H

#include <rocksdb/c.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the options a logger of ours, which lives as long as the options and what they opened. */
void msi_rocks_log_set(rocksdb_options_t *options);

/*
 * Keeps RocksDB from resuming by itself after a background error, which takes a thread that it
 * starts then: after opening no thread is started.
 */
void msi_rocks_stay_failed(rocksdb_options_t *options);

/*
 * Makes keys that ascend cheap to write where older ones lie between them. Batches of several
 * writers are no longer put into the memtable at the same time.
 */
void msi_rocks_write_near(rocksdb_options_t *options);

/*
 * From now on memory or a thread that the system refuses to C++ ends the process with a line on
 * standard error and exit status 1, on whatever thread, where nobody catches the exception. Once a
 * process; what else is not caught goes to the handler that was there before.
 */
void msi_rocks_exit_when_refused(void);

/* What it calls for memory, in kv.c: does not return. */
void msi_rocks_no_memory(void);

/* What the logger calls, in kv.c: one line of RocksDB's, without a line feed. */
void msi_rocks_log_line(bool is_error, const char *text);

/*
 * rocksdb_open, which gives NULL and *error when it fails. False: it threw, text has what, cut to
 * text_bytes. The half-opened store is lost then: the directory stays locked by this process.
 */
bool msi_rocks_open(const rocksdb_options_t *options, const char *path, rocksdb_t **db_out,
                    char **error, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

#endif
