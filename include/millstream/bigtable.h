/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of Bigtable tables through the same client that tables use, so that it works on
 * any backend that the session's settings choose.
 *
 *     ms_bigtable_family families[] = {{.name = ms_cstr("profile"), .max_versions = 1}};
 *     ms_bigtable_create_table(session, path, families, 1, &st);
 *
 * A table path is PROJECT/INSTANCE/TABLE. Calls wait for the answer. Thread: the session's.
 */
#ifndef MS_MILLSTREAM_BIGTABLE_H
#define MS_MILLSTREAM_BIGTABLE_H

#include "millstream/millstream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A column family to make. Both limits given: a cell goes when either is exceeded. */
typedef struct ms_bigtable_family {
    ms_str name;
    uint32_t max_versions; /* 0: no limit */
    int64_t max_age_ms;    /* 0: no limit */
} ms_bigtable_family;

/*
 * Makes a table with its families. Ownership: the texts are borrowed for the call. Thread: the
 * session's. Errors: MS_INVALID_ARGUMENT for names, MS_DUPLICATE_TABLE, MS_BIGTABLE_ERROR,
 * MS_BIGTABLE_UNAVAILABLE. Since: 0.1.
 */
MS_API ms_rc ms_bigtable_create_table(ms_session *session, ms_str path,
                                      const ms_bigtable_family *families, uint32_t family_count,
                                      ms_status *st);

/* Takes printed bytes; false ends the printing. */
typedef bool (*ms_bigtable_write_fn)(void *arg, ms_str bytes);

/*
 * Prints the names of the tables of PROJECT/INSTANCE, one PROJECT/INSTANCE/TABLE a line. Thread:
 * the session's. Errors: MS_BIGTABLE_NOT_FOUND, MS_BIGTABLE_UNAVAILABLE. Since: 0.1.
 */
MS_API ms_rc ms_bigtable_list(ms_session *session, ms_str path, ms_bigtable_write_fn write,
                              void *arg, ms_status *st);

/*
 * Prints up to row_limit rows (0: all) of a table whose keys begin with prefix, as cbt does: the
 * key, then a line a cell with family:qualifier, timestamp and quoted value. row_limit and prefix
 * narrow the scan in the store. Thread: the session's. Errors: MS_BIGTABLE_NOT_FOUND,
 * MS_BIGTABLE_UNAVAILABLE. Since: 0.1.
 */
MS_API ms_rc ms_bigtable_show(ms_session *session, ms_str path, ms_str prefix, uint64_t row_limit,
                              ms_bigtable_write_fn write, void *arg, ms_status *st);

/*
 * Counts the rows of a table by a keys-only scan.
 * Thread: the session's. Errors: MS_BIGTABLE_NOT_FOUND, MS_BIGTABLE_UNAVAILABLE. Since: 0.1.
 */
MS_API ms_rc ms_bigtable_count(ms_session *session, ms_str path, uint64_t *rows_out, ms_status *st);

#ifdef __cplusplus
}
#endif

#endif
