/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock files. The lock is flock's: it belongs to the open file, so the kernel drops it when the
 * process dies, and a second open in the same process does not get it either. The contents, one
 * line "pid note", are for people and for those who come too late; the lock does not depend on
 * them. The file is never removed: another process may just be opening it.
 */
#include "os/file.h"

#include "base/memory.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE 0600
#define CONTENTS_BYTES (MS_LOCKFILE_NOTE_BYTES + 32)

struct ms_lockfile {
    int fd;
    char *path;
};

/* Reads "pid note" into the holder; what is not there, or not whole yet, stays empty. */
static void read_holder(int fd, ms_lockfile_holder *holder)
{
    char text[CONTENTS_BYTES];
    ssize_t bytes = pread(fd, text, sizeof(text), 0);
    if (bytes <= 0) {
        return;
    }
    ms_str line = ms_str_trim(ms_str_make(text, (size_t)bytes));
    size_t digits = ms_num_count_digits(line, 0);
    if (!ms_num_scan_i64(ms_str_slice(line, 0, digits), &holder->pid)) {
        return;
    }
    ms_str note = ms_str_trim(ms_str_slice(line, digits, line.bytes));
    snprintf(holder->note, sizeof(holder->note), "%.*s", MS_STR_ARG(note));
}

ms_rc ms_lockfile_set_note(ms_lockfile *lock, ms_str note, ms_status *st)
{
    char text[CONTENTS_BYTES];
    ms_str kept = ms_str_slice(note, 0, MS_LOCKFILE_NOTE_BYTES - 1);
    int bytes = snprintf(text, sizeof(text), "%ld %.*s\n", (long)getpid(), MS_STR_ARG(kept));
    MS_ASSERT(bytes > 0 && (size_t)bytes < sizeof(text));
    /* Longer contents first, then the cut: a reader in between sees at worst an old tail. */
    if (pwrite(lock->fd, text, (size_t)bytes, 0) != (ssize_t)bytes ||
        ftruncate(lock->fd, (off_t)bytes) != 0) {
        return ms_status_set_errno(st, errno, "could not write lock file \"%s\"", lock->path);
    }
    return MS_OK;
}

static ms_rc open_lockfile(const char *path, int *fd_out, ms_status *st)
{
    do {
        *fd_out = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    } while (*fd_out < 0 && errno == EINTR);
    if (*fd_out < 0) {
        return ms_status_set_errno(st, errno, "could not open lock file \"%s\"", path);
    }
    return MS_OK;
}

/* 0, or an errno; EWOULDBLOCK when somebody else has it. */
static int try_flock(int fd)
{
    int rc;
    do {
        rc = flock(fd, LOCK_EX | LOCK_NB);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

ms_rc ms_lockfile_take(const char *path, ms_str note, ms_lockfile **lock_out,
                       ms_lockfile_holder *holder_out, ms_status *st)
{
    *lock_out = NULL;
    *holder_out = (ms_lockfile_holder){0};
    int fd = -1;
    MS_TRY(open_lockfile(path, &fd, st));
    int error = try_flock(fd);
    if (error != 0) {
        ms_rc rc = MS_OK;
        if (error == EWOULDBLOCK) {
            read_holder(fd, holder_out);
        } else {
            rc = ms_status_set_errno(st, error, "could not lock file \"%s\"", path);
        }
        close(fd);
        return rc;
    }
    ms_lockfile *lock = ms_mem_alloc(sizeof(*lock));
    size_t path_bytes = strlen(path) + 1;
    lock->fd = fd;
    lock->path = ms_mem_alloc(path_bytes);
    memcpy(lock->path, path, path_bytes);
    if (ms_lockfile_set_note(lock, note, st) != MS_OK) {
        ms_lockfile_destroy(lock);
        return st->code;
    }
    *lock_out = lock;
    return MS_OK;
}

void ms_lockfile_destroy(ms_lockfile *lock)
{
    if (lock == NULL) {
        return;
    }
    close(lock->fd);
    ms_mem_free(lock->path);
    ms_mem_free(lock);
}
