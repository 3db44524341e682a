/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of Bigtable tables through the same client that tables use, so that it works on
 * any backend that the session's settings choose.
 *
 *     ms_bigtable_family families[] = {{.name = ms_cstr("profile"), .max_versions = 1}};
 *     ms_bigtable_table_options options = {
 *         .struct_bytes = sizeof options, .families = families, .family_count = 1};
 *     ms_bigtable_create_table(session, path, &options, &st);
 *
 * A table path is PROJECT/INSTANCE/TABLE. Calls wait for the answer. Thread: the session's.
 */
#ifndef MS_MILLSTREAM_BIGTABLE_H
#define MS_MILLSTREAM_BIGTABLE_H

#include "millstream/millstream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the cells of a family are: bytes, or 64-bit integers that the store aggregates. */
typedef enum ms_bigtable_type {
    MS_BIGTABLE_RAW,
    MS_BIGTABLE_INT64_SUM,
    MS_BIGTABLE_INT64_MIN,
    MS_BIGTABLE_INT64_MAX,
    MS_BIGTABLE_INT64_HLL /* estimates of how many different ones there were */
} ms_bigtable_type;

/* A column family to make. Both limits given: a cell goes when either is exceeded. */
typedef struct ms_bigtable_family {
    ms_str name;
    uint32_t max_versions; /* 0: no limit */
    int64_t max_age_ms;    /* 0: no limit */
    ms_bigtable_type type;
} ms_bigtable_family;

/* A table to make. Start from a zeroed struct with struct_bytes set. */
typedef struct ms_bigtable_table_options {
    size_t struct_bytes;
    const ms_bigtable_family *families;
    uint32_t family_count;
    const ms_str *splits; /* keys at which tablets begin */
    uint32_t split_count;
    int64_t change_retention_ms; /* of the change stream, 1 to 7 days; 0: none */
} ms_bigtable_table_options;

/*
 * Makes a table. Ownership: the texts are borrowed for the call. Thread: the session's. Errors:
 * MS_INVALID_ARGUMENT for names, MS_DUPLICATE_TABLE, MS_BIGTABLE_ERROR, MS_BIGTABLE_UNAVAILABLE.
 * Since: 0.1.
 */
MS_API ms_rc ms_bigtable_create_table(ms_session *session, ms_str path,
                                      const ms_bigtable_table_options *options, ms_status *st);

/* Adds families to a table, all or none. Thread: the session's. Errors: as for creation, and
 * MS_BIGTABLE_NOT_FOUND. Since: 0.1. */
MS_API ms_rc ms_bigtable_add_families(ms_session *session, ms_str path,
                                      const ms_bigtable_family *families, uint32_t family_count,
                                      ms_status *st);

/* Drops a table with all its data. Thread: the session's. Errors: MS_BIGTABLE_NOT_FOUND,
 * MS_BIGTABLE_ERROR when it is protected, MS_BIGTABLE_UNAVAILABLE. Since: 0.1. */
MS_API ms_rc ms_bigtable_drop_table(ms_session *session, ms_str path, ms_status *st);

/* How an app profile routes. Start from a zeroed struct with struct_bytes set. */
typedef struct ms_bigtable_profile_options {
    size_t struct_bytes;
    const char *cluster; /* single-cluster routing; NULL: to any cluster */
    bool transactions;   /* with a cluster: reads that write */
    bool data_boost;     /* reads only */
} ms_bigtable_profile_options;

/* Makes the app profile PROJECT/INSTANCE/ID. Thread: the session's. Errors: MS_INVALID_ARGUMENT,
 * MS_BIGTABLE_ERROR, MS_BIGTABLE_UNAVAILABLE. Since: 0.1. */
MS_API ms_rc ms_bigtable_create_profile(ms_session *session, ms_str path,
                                        const ms_bigtable_profile_options *options, ms_status *st);

/*
 * Cuts the tablet of a table at a key, resp. joins the tablet that begins at a key to the one
 * before, while readers of its changes go on; gives the number of tablets. Embedded Bigtable and
 * millstream serve only. Thread: the session's. Errors: MS_NOT_SUPPORTED elsewhere,
 * MS_BIGTABLE_NOT_FOUND, MS_BIGTABLE_ERROR, MS_BIGTABLE_UNAVAILABLE. Since: 0.1.
 */
MS_API ms_rc ms_bigtable_split_tablet(ms_session *session, ms_str path, ms_str key,
                                      uint64_t *tablets_out, ms_status *st);
MS_API ms_rc ms_bigtable_merge_tablets(ms_session *session, ms_str path, ms_str key,
                                       uint64_t *tablets_out, ms_status *st);

/* Collects what the rules of a table's families let go of, now; gives the number of cells. Where
 * and errors: as for tablets. Thread: the session's. Since: 0.1. */
MS_API ms_rc ms_bigtable_collect_garbage(ms_session *session, ms_str path, uint64_t *cells_out,
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

/* Serving. */

/* The embedded Bigtable over gRPC. */
typedef struct ms_bigtable_server ms_bigtable_server;

/* Start from a zeroed struct with struct_bytes set. Texts end in NUL, borrowed for the call. */
typedef struct ms_bigtable_serve_options {
    size_t struct_bytes;
    const char *listen;   /* HOST:PORT; NULL: 127.0.0.1:8086; port 0: any free one */
    const char *tls_cert; /* PEM files; both or none */
    const char *tls_key;
    const char *token_file; /* its one word is what clients must send; NULL: none */
    int64_t gc_interval_ms; /* between collections of garbage; 0: an hour; below: on demand only */
} ms_bigtable_serve_options;

/*
 * Opens the embedded Bigtable of the engine's data directory, which is made where there is none,
 * and serves it until the server is stopped: the API that official clients and the cbt tool speak.
 * Every acknowledged write is on the disk. Other processes that use the data directory find the
 * server by themselves. An address other than loopback needs TLS and a token. Ownership: the server
 * is the caller's; the engine outlives it. Thread: main. Errors: MS_DATA_DIR_IN_USE,
 * MS_INVALID_OPTION, MS_FILE_NOT_FOUND, MS_IO_ERROR. Since: 0.1.
 */
MS_API ms_rc ms_bigtable_serve(ms_engine *engine, const ms_bigtable_serve_options *options,
                               ms_bigtable_server **server_out, ms_status *st);

/* Where it listens, as "HOST:PORT". Ownership: the server's. Thread: any. Since: 0.1. */
MS_API const char *ms_bigtable_server_address(const ms_bigtable_server *server);

/*
 * Stops: takes no new calls, waits up to drain_ms for those that run, cancels the rest and closes
 * the store. NULL is allowed. Errors: MS_IO_ERROR when the last sync failed. Thread: main.
 * Since: 0.1.
 */
MS_API ms_rc ms_bigtable_server_stop(ms_bigtable_server *server, int64_t drain_ms, ms_status *st);

#ifdef __cplusplus
}
#endif

#endif
