/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the connector share: the planning faces, splits and committables.
 */
#ifndef MS_CONNECTOR_FILESYSTEM_FILESYSTEM_PRIV_H
#define MS_CONNECTOR_FILESYSTEM_FILESYSTEM_PRIV_H

#include "catalog/connector.h"
#include "os/file.h"

#define MSI_FS_PATH_BYTES 4096u

/* What a table's options say to both directions. */
typedef struct msi_fs_table {
    ms_str name;
    ms_str path; /* absolute or relative to the process, followed by a NUL; "-" */
    bool is_standard;
    const ms_format *format;
    ms_option_list format_options;
    ms_str time_zone;
    uint64_t roll_bytes;
    uint32_t parallelism;
} msi_fs_table;

typedef struct msi_fs_scan {
    ms_scan head;
    msi_fs_table table;
    ms_schema stored; /* all columns of a record */
    uint32_t *wanted; /* of each output column: its ordinal in stored */
    ms_arena *arena;
} msi_fs_scan;

typedef struct msi_fs_sink {
    ms_sink head;
    msi_fs_table table;
} msi_fs_sink;

/* A file and how far it is read. The version is the first byte of its text. */
typedef struct msi_fs_split {
    ms_str path;
    uint64_t offset;
} msi_fs_split;

ms_rc msi_fs_split_write(const msi_fs_split *split, ms_buf *out, ms_status *st) MS_MUST_USE;
ms_rc msi_fs_split_read(ms_str bytes, msi_fs_split *split_out, ms_status *st) MS_MUST_USE;

/*
 * Lists the files of a path, sorted; may block. MS_FILE_NOT_FOUND when there is none. Pipes and
 * devices, links that lead nowhere, and directories that lead back to one above are errors.
 */
ms_rc msi_fs_list(ms_str path, ms_arena *arena, const ms_str **paths_out, size_t *count_out,
                  ms_status *st) MS_MUST_USE;

/* Refuses a path that is neither a file nor a directory. */
ms_rc msi_fs_refuse_irregular(ms_str path, ms_span span, ms_status *st);

/* True when the path has characters of a glob. */
bool msi_fs_is_pattern(ms_str path);

ms_rc msi_fs_enumerator_create(const ms_scan *scan, ms_enumerator **enumerator_out,
                               ms_status *st) MS_MUST_USE;
ms_rc msi_fs_reader_create(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                           ms_status *st) MS_MUST_USE;
ms_rc msi_fs_writer_create(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                           ms_status *st) MS_MUST_USE;
ms_rc msi_fs_committer_create(const ms_sink *sink, const ms_task_env *env,
                              ms_committer **committer_out, ms_status *st) MS_MUST_USE;

/* Standard output as a sink. */
ms_rc msi_fs_stream_writer_create(const ms_sink *sink, const ms_task_env *env,
                                  ms_writer **writer_out, ms_status *st) MS_MUST_USE;

/*
 * Names of parts. A run is one start of a job with one of its sinks: a tag that is the same at
 * every start with the same checkpoint directory, then digits that are not.
 *
 *     part-<run>-<subtask>-<number>                committed
 *     .part-<run>-<subtask>-<number>.inprogress    not yet
 *     .part-<run>.lock                             held while a run without checkpoints lasts
 */
#define MSI_FS_HIDDEN_PREFIX ".part-"
#define MSI_FS_HIDDEN_SUFFIX ".inprogress"
#define MSI_FS_TAG_DIGITS 16u
#define MSI_FS_RUN_DIGITS 24u

typedef struct msi_fs_run {
    char text[MSI_FS_RUN_DIGITS + 1]; /* begins with the tag */
} msi_fs_run;

msi_fs_run msi_fs_run_of(const ms_sink *sink, const ms_task_env *env);

/*
 * Takes the lock of a run, so that nobody removes its hidden parts. NULL where the file system has
 * no locks: what the run leaves then stays. May block on files.
 */
ms_lockfile *msi_fs_run_hold(const char *dir, const msi_fs_run *run);

/* The end of a run: removes the hidden parts that are left and the lock. May block on files. */
void msi_fs_run_release(const char *dir, const msi_fs_run *run, ms_lockfile *lock);

/*
 * Removes what runs whose locks nobody holds have left: their processes have gone, and nobody goes
 * on from what they wrote. What cannot be removed stays for the next. May block on files.
 */
void msi_fs_remove_abandoned(const char *dir);

/*
 * Removes the hidden parts whose names begin so: with a tag, or a run and "-". Their job is this
 * one, or has ended for good. May block on files.
 */
ms_rc msi_fs_remove_parts(const char *dir, ms_str start, ms_status *st) MS_MUST_USE;

#endif
