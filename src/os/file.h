/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and directories. Every function reports through the status, with the path in the message
 * and the system's text as detail; a call that a signal interrupted is made again; a write is whole
 * or failed.
 *
 *     ms_file *file = NULL;
 *     MS_TRY(ms_file_open(path, MS_FILE_CREATE, &file, st));
 *     ms_rc rc = ms_file_write(file, bytes, st);
 *     if (rc == MS_OK) {
 *         rc = ms_file_sync(file, st);
 *     }
 *     ms_file_close(file);
 *
 * What is durable: bytes after ms_file_sync; a name (of a new, renamed or removed file) after
 * ms_dir_sync of its directory. A failed sync says nothing about which bytes are on the disk, and a
 * second one that succeeds says nothing either (the kernel forgets the error): the caller gives the
 * file up. ms_file_replace does the whole dance for a small file.
 *
 * Everything here may block on a disk, so workers call it only through os/iopool.h, except at start
 * and end. Files made here have mode 0600, directories 0700, but for what is made to be shared.
 *
 * Fault points: "file.read", "file.write" and "file.sync" (directories too) fail with EIO,
 * "file.full" writes the first half and fails with ENOSPC, "file.rename" fails with EIO.
 *
 * Ownership: a file belongs to its opener and is used by one thread at a time, except for
 * ms_file_read_at and ms_file_write_at, which any number may use. Paths end in NUL and are copied
 * where they are kept. Thread: any that may block.
 */
#ifndef MS_OS_FILE_H
#define MS_OS_FILE_H

#include "base/arena.h"
#include "base/str.h"

/* Files. */

typedef struct ms_file ms_file;

typedef enum ms_file_mode {
    MS_FILE_READ,          /* must exist */
    MS_FILE_READ_REGULAR,  /* the same, and pipes and devices are refused, never waited for */
    MS_FILE_CREATE,        /* must not exist; for writing and reading */
    MS_FILE_CREATE_SHARED, /* the same, with mode 0666 less the process's umask */
    MS_FILE_TRUNCATE,      /* made or emptied; for writing and reading */
    MS_FILE_APPEND,        /* made where missing; every write goes to the end */
    MS_FILE_READ_WRITE     /* made where missing; contents stay */
} ms_file_mode;

typedef enum ms_file_kind {
    MS_FILE_KIND_NONE, /* there is nothing of this name */
    MS_FILE_KIND_FILE, /* to ms_file_stat also /dev/null, an empty one */
    MS_FILE_KIND_DIR,
    MS_FILE_KIND_OTHER /* a pipe, a device, a socket */
} ms_file_kind;

typedef struct ms_file_info {
    ms_file_kind kind;
    uint64_t bytes;
    int64_t modified_us; /* since 1970 */
    uint64_t device;     /* with the inode: which file it is, whatever its name */
    uint64_t inode;
} ms_file_info;

ms_rc ms_file_open(const char *path, ms_file_mode mode, ms_file **file_out,
                   ms_status *st) MS_MUST_USE;

/* Takes NULL. What was not synced may be lost with the power; nothing is reported here. */
void ms_file_close(ms_file *file);

/* The path that the file was opened with; borrowed. */
const char *ms_file_path(const ms_file *file);

/*
 * Reads from the current position what one call of the system gives, up to bytes: at least one, or
 * 0 at the end. Pipes and devices work.
 */
ms_rc ms_file_read(ms_file *file, void *to, size_t bytes, size_t *read_out,
                   ms_status *st) MS_MUST_USE;

/* Reads bytes at offset; fewer only at the end of the file. Leaves the position alone. */
ms_rc ms_file_read_at(ms_file *file, uint64_t offset, void *to, size_t bytes, size_t *read_out,
                      ms_status *st) MS_MUST_USE;

/* Writes all bytes at the current position, or at the end (MS_FILE_APPEND). */
ms_rc ms_file_write(ms_file *file, ms_str bytes, ms_status *st) MS_MUST_USE;

/* Writes all bytes at offset. Leaves the position alone. Not for MS_FILE_APPEND. */
ms_rc ms_file_write_at(ms_file *file, uint64_t offset, ms_str bytes, ms_status *st) MS_MUST_USE;

/* Makes contents and size durable; sync also the times of the file. */
ms_rc ms_file_sync(ms_file *file, ms_status *st) MS_MUST_USE;
ms_rc ms_file_sync_data(ms_file *file, ms_status *st) MS_MUST_USE;

ms_rc ms_file_truncate(ms_file *file, uint64_t bytes, ms_status *st) MS_MUST_USE;
ms_rc ms_file_bytes(ms_file *file, uint64_t *bytes_out, ms_status *st) MS_MUST_USE;

/* Names. */

/* A missing file is no error: its kind is MS_FILE_KIND_NONE. Symbolic links are followed. */
ms_rc ms_file_stat(const char *path, ms_file_info *info_out, ms_status *st) MS_MUST_USE;

/* Replaces to where it exists, in one step that no reader sees half done. */
ms_rc ms_file_rename(const char *from, const char *to, ms_status *st) MS_MUST_USE;

/* Removes a file; one that is not there is no error. */
ms_rc ms_file_remove(const char *path, ms_status *st) MS_MUST_USE;

/* Whole files. */

/* Appends the contents to a buffer, whose maximum bounds them. */
ms_rc ms_file_read_all(const char *path, ms_buf *buf, ms_status *st) MS_MUST_USE;

/*
 * Gives the file at path these contents, durably and in one step: written beside it as path.tmp,
 * synced, renamed, and the directory synced. After a crash there are the old contents or the new.
 */
ms_rc ms_file_replace(const char *path, ms_str bytes, ms_status *st) MS_MUST_USE;

/* Directories. */

typedef struct ms_dir_entry {
    ms_str name; /* followed by a NUL */
    ms_file_kind kind;
} ms_dir_entry;

/* Makes a directory and its missing parents, and the names of those it made durable; one that is
 * there is no error. */
ms_rc ms_dir_create(const char *path, ms_status *st) MS_MUST_USE;

/* The same for what others may read: with mode 0777 less the process's umask. */
ms_rc ms_dir_create_shared(const char *path, ms_status *st) MS_MUST_USE;

/* Makes the names in a directory durable. */
ms_rc ms_dir_sync(const char *path, ms_status *st) MS_MUST_USE;

/* Lists a directory in ascending order of names, as bytes, without "." and "..". */
ms_rc ms_dir_list(const char *path, ms_arena *arena, const ms_dir_entry **entries_out,
                  size_t *count_out, ms_status *st) MS_MUST_USE;

/*
 * Removes a directory with all that is in it; one that is not there is no error. Symbolic links are
 * removed, not followed. Deeper than MS_DIR_DEPTH_MAX is refused.
 */
#define MS_DIR_DEPTH_MAX 32
ms_rc ms_dir_remove(const char *path, ms_status *st) MS_MUST_USE;

/* Locks. */

/*
 * A file that one process at a time holds, with the holder's process id and a note (an endpoint) in
 * it for those who come too late. The lock ends with the process, however it ends; the file stays.
 */
typedef struct ms_lockfile ms_lockfile;

#define MS_LOCKFILE_NOTE_BYTES 256

typedef struct ms_lockfile_holder {
    int64_t pid; /* 0: not known, as the holder has not written it yet */
    char note[MS_LOCKFILE_NOTE_BYTES];
} ms_lockfile_holder;

/*
 * Takes the lock, or says who has it: then *lock_out is NULL, *holder_out is filled, and the result
 * is MS_OK, because what to make of it is the caller's business.
 */
ms_rc ms_lockfile_take(const char *path, ms_str note, ms_lockfile **lock_out,
                       ms_lockfile_holder *holder_out, ms_status *st) MS_MUST_USE;

/* Replaces the note of a lock that is held. */
ms_rc ms_lockfile_set_note(ms_lockfile *lock, ms_str note, ms_status *st) MS_MUST_USE;

/* Gives the lock back. NULL is allowed. */
void ms_lockfile_destroy(ms_lockfile *lock);

#endif
