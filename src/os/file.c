/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files. Positioned calls (pread, pwrite) wherever the caller names an offset, so that they need no
 * lock; plain ones for streams, which may be pipes. Directories are in dir.c, locks in lockfile.c.
 */
#include "os/file.h"

#include "base/env.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PRIVATE_MODE 0600
#define SHARED_MODE 0666
/* A kernel moves at most 2 GiB a call anyway; a size_t above SSIZE_MAX would be undefined. */
#define CALL_BYTES_MAX ((size_t)1 << 30)
/* Reading a whole file of unknown size grows by this at first. */
#define READ_ALL_BYTES ((size_t)64 << 10)

struct ms_file {
    int fd;
    char *path;
};

static int flags_of(ms_file_mode mode)
{
    switch (mode) {
    case MS_FILE_READ:
        return O_RDONLY;
    case MS_FILE_READ_REGULAR:
        return O_RDONLY | O_NONBLOCK; /* the open of a pipe would wait for a writer */
    case MS_FILE_CREATE:
    case MS_FILE_CREATE_SHARED:
        return O_RDWR | O_CREAT | O_EXCL;
    case MS_FILE_TRUNCATE:
        return O_RDWR | O_CREAT | O_TRUNC;
    case MS_FILE_APPEND:
        return O_WRONLY | O_CREAT | O_APPEND;
    case MS_FILE_READ_WRITE:
        return O_RDWR | O_CREAT;
    }
    MS_UNREACHABLE();
}

/* The null device is as good as an empty file. */
static ms_file_kind kind_of(const struct stat *info)
{
    bool is_null = S_ISCHR(info->st_mode) && info->st_rdev == makedev(1, 3);
    if (S_ISREG(info->st_mode) || is_null) {
        return MS_FILE_KIND_FILE;
    }
    return S_ISDIR(info->st_mode) ? MS_FILE_KIND_DIR : MS_FILE_KIND_OTHER;
}

/* May have become a pipe since somebody looked at its name. */
static ms_rc refuse_irregular(int fd, const char *path, ms_status *st)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return ms_status_set_errno(st, errno, "could not look at \"%s\"", path);
    }
    return kind_of(&info) == MS_FILE_KIND_FILE
               ? MS_OK
               : ms_status_set(st, MS_IO_ERROR, ms_span_none, "\"%s\" is no regular file", path);
}

ms_rc ms_file_open(const char *path, ms_file_mode mode, ms_file **file_out, ms_status *st)
{
    *file_out = NULL;
    int fd;
    mode_t permissions = mode == MS_FILE_CREATE_SHARED ? SHARED_MODE : PRIVATE_MODE;
    do {
        fd = open(path, flags_of(mode) | O_CLOEXEC | O_NOCTTY, permissions);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return ms_status_set_errno(st, errno, "could not open file \"%s\"", path);
    }
    if (mode == MS_FILE_READ_REGULAR && refuse_irregular(fd, path, st) != MS_OK) {
        close(fd);
        return st->code;
    }
    ms_file *file = ms_mem_alloc(sizeof(*file));
    size_t path_bytes = strlen(path) + 1;
    file->fd = fd;
    file->path = ms_mem_alloc(path_bytes);
    memcpy(file->path, path, path_bytes);
    *file_out = file;
    return MS_OK;
}

void ms_file_close(ms_file *file)
{
    if (file == NULL) {
        return;
    }
    /* Not repeated at EINTR: on Linux the descriptor is gone then, and may be another's. */
    close(file->fd);
    ms_mem_free(file->path);
    ms_mem_free(file);
}

const char *ms_file_path(const ms_file *file)
{
    return file->path;
}

/* Makes errno what an injected fault says; false when there is none. */
static bool is_faulted(const char *point, int errno_value)
{
    if (ms_env_fault(point)) {
        errno = errno_value;
        return true;
    }
    return false;
}

static size_t call_bytes(size_t bytes)
{
    return bytes < CALL_BYTES_MAX ? bytes : CALL_BYTES_MAX;
}

ms_rc ms_file_read(ms_file *file, void *to, size_t bytes, size_t *read_out, ms_status *st)
{
    *read_out = 0;
    ssize_t count;
    do {
        count = is_faulted("file.read", EIO) ? -1 : read(file->fd, to, call_bytes(bytes));
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return ms_status_set_errno(st, errno, "could not read file \"%s\"", file->path);
    }
    *read_out = (size_t)count;
    return MS_OK;
}

ms_rc ms_file_read_at(ms_file *file, uint64_t offset, void *to, size_t bytes, size_t *read_out,
                      ms_status *st)
{
    size_t done = 0;
    *read_out = 0;
    while (done < bytes) {
        ssize_t count = is_faulted("file.read", EIO)
                            ? -1
                            : pread(file->fd, (char *)to + done, call_bytes(bytes - done),
                                    (off_t)(offset + done));
        if (count == 0) {
            break;
        }
        if (count > 0) {
            done += (size_t)count;
        } else if (errno != EINTR) {
            return ms_status_set_errno(st, errno, "could not read file \"%s\"", file->path);
        }
    }
    *read_out = done;
    return MS_OK;
}

/* Writes all bytes, at *offset or, when that is NULL, at the position. False with errno set. */
static bool write_all(const ms_file *file, const uint64_t *offset, ms_str bytes)
{
    size_t done = 0;
    while (done < bytes.bytes) {
        const char *from = bytes.ptr + done;
        size_t left = call_bytes(bytes.bytes - done);
        ssize_t count = offset == NULL ? write(file->fd, from, left)
                                       : pwrite(file->fd, from, left, (off_t)(*offset + done));
        if (count >= 0) {
            done += (size_t)count;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static ms_rc write_bytes(ms_file *file, const uint64_t *offset, ms_str bytes, ms_status *st)
{
    bool done = false;
    if (ms_env_fault("file.full")) {
        /* A disk that fills up takes a part: what is behind the end of a file must not matter. */
        (void)write_all(file, offset, ms_str_slice(bytes, 0, bytes.bytes / 2));
        errno = ENOSPC;
    } else {
        done = !is_faulted("file.write", EIO) && write_all(file, offset, bytes);
    }
    return done ? MS_OK : ms_status_set_errno(st, errno, "could not write file \"%s\"", file->path);
}

ms_rc ms_file_write(ms_file *file, ms_str bytes, ms_status *st)
{
    return write_bytes(file, NULL, bytes, st);
}

ms_rc ms_file_write_at(ms_file *file, uint64_t offset, ms_str bytes, ms_status *st)
{
    return write_bytes(file, &offset, bytes, st);
}

static ms_rc sync_with(ms_file *file, int (*sync_fd)(int fd), ms_status *st)
{
    int rc;
    do {
        rc = is_faulted("file.sync", EIO) ? -1 : sync_fd(file->fd);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? MS_OK
                   : ms_status_set_errno(st, errno, "could not sync file \"%s\"", file->path);
}

ms_rc ms_file_sync(ms_file *file, ms_status *st)
{
    return sync_with(file, fsync, st);
}

ms_rc ms_file_sync_data(ms_file *file, ms_status *st)
{
    return sync_with(file, fdatasync, st);
}

ms_rc ms_file_truncate(ms_file *file, uint64_t bytes, ms_status *st)
{
    int rc;
    do {
        rc = ftruncate(file->fd, (off_t)bytes);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? MS_OK
                   : ms_status_set_errno(st, errno, "could not truncate file \"%s\"", file->path);
}

ms_rc ms_file_bytes(ms_file *file, uint64_t *bytes_out, ms_status *st)
{
    struct stat info;
    *bytes_out = 0;
    if (fstat(file->fd, &info) != 0) {
        return ms_status_set_errno(st, errno, "could not read the size of file \"%s\"", file->path);
    }
    *bytes_out = (uint64_t)info.st_size;
    return MS_OK;
}

ms_rc ms_file_stat(const char *path, ms_file_info *info_out, ms_status *st)
{
    struct stat info;
    *info_out = (ms_file_info){.kind = MS_FILE_KIND_NONE};
    if (stat(path, &info) != 0) {
        bool is_missing = errno == ENOENT || errno == ENOTDIR;
        return is_missing ? MS_OK
                          : ms_status_set_errno(st, errno, "could not look at \"%s\"", path);
    }
    info_out->kind = kind_of(&info);
    info_out->bytes = (uint64_t)info.st_size;
    info_out->modified_us = (int64_t)info.st_mtim.tv_sec * 1000000 + info.st_mtim.tv_nsec / 1000;
    info_out->device = (uint64_t)info.st_dev;
    info_out->inode = (uint64_t)info.st_ino;
    return MS_OK;
}

ms_rc ms_file_rename(const char *from, const char *to, ms_status *st)
{
    if (is_faulted("file.rename", EIO) || rename(from, to) != 0) {
        return ms_status_set_errno(st, errno, "could not rename \"%s\" to \"%s\"", from, to);
    }
    return MS_OK;
}

ms_rc ms_file_remove(const char *path, ms_status *st)
{
    if (unlink(path) != 0 && errno != ENOENT) {
        return ms_status_set_errno(st, errno, "could not remove file \"%s\"", path);
    }
    return MS_OK;
}

/* Sizes are not trusted: a file may grow, and those of /proc say 0. */
static ms_rc read_to_end(ms_file *file, ms_buf *buf, ms_status *st)
{
    for (;;) {
        /* The buffer's limit is for contents, so the last look beyond them must not need room. */
        size_t room = buf->max_bytes - buf->bytes;
        char probe;
        size_t count = 0;
        if (room == 0) {
            MS_TRY(ms_file_read(file, &probe, 1, &count, st));
            return count == 0 ? MS_OK
                              : ms_status_set(st, MS_LIMIT, ms_span_none,
                                              "file \"%s\" is larger than %zu bytes", file->path,
                                              buf->max_bytes);
        }
        MS_TRY(ms_buf_reserve(buf, room < READ_ALL_BYTES ? room : READ_ALL_BYTES, st));
        MS_TRY(ms_file_read(file, buf->ptr + buf->bytes, buf->capacity_bytes - buf->bytes, &count,
                            st));
        if (count == 0) {
            return MS_OK;
        }
        buf->bytes += count;
    }
}

ms_rc ms_file_read_all(const char *path, ms_buf *buf, ms_status *st)
{
    ms_file *file = NULL;
    MS_TRY(ms_file_open(path, MS_FILE_READ, &file, st));
    ms_rc rc = read_to_end(file, buf, st);
    ms_file_close(file);
    return rc;
}

/* Writes and syncs a file of these contents. */
static ms_rc write_whole(const char *path, ms_str bytes, ms_status *st)
{
    ms_file *file = NULL;
    MS_TRY(ms_file_open(path, MS_FILE_TRUNCATE, &file, st));
    ms_rc rc = ms_file_write(file, bytes, st);
    if (rc == MS_OK) {
        rc = ms_file_sync(file, st);
    }
    ms_file_close(file);
    return rc;
}

/* The directory that the last name of a path is in. */
static const char *parent_of(const char *path, ms_arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return ".";
    }
    if (slash == path) {
        return "/";
    }
    return ms_arena_copy_str(arena, ms_str_make(path, (size_t)(slash - path))).ptr;
}

ms_rc ms_file_replace(const char *path, ms_str bytes, ms_status *st)
{
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    const char *beside = ms_arena_format(&scratch, "%s.tmp", path).ptr;
    ms_rc rc = write_whole(beside, bytes, st);
    if (rc == MS_OK) {
        rc = ms_file_rename(beside, path, st);
    }
    if (rc == MS_OK) {
        rc = ms_dir_sync(parent_of(path, &scratch), st);
    }
    ms_arena_release(&scratch);
    return rc;
}
