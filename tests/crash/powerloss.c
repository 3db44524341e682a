/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shim that remembers what a process did to the files below one directory, in order, so that
 * powerloss.py can say afterwards what a disk would hold had the power failed: a killed process
 * leaves the page cache behind, and a program that never synced anything would pass every kill.
 *
 *     LD_PRELOAD=libpowerloss.so MS_POWER_ROOT=/tmp/x/tree MS_POWER_JOURNAL=/tmp/x/journal
 *     MS_POWER_OFF=N program ...
 *
 * Every call that changes names or bytes below the root, and every fsync, is made and then appended
 * to the journal as one record, both under one lock: the order of the journal is the order of the
 * calls. After record N the process is killed (0 or unset: never). A record is
 *
 *     u32 kind, u32 descriptor, u64 offset, u32 bytes of a, u32 bytes of b, a, b
 *
 * where a and b are paths or data. Seen are the calls that Millstream and RocksDB make through the
 * C library's symbols. Not seen are stdio's own files (RocksDB's information log, which nobody
 * recovers from); writing through a shared mapping, which neither does, is a record that the
 * simulation refuses. A test compares a run that was not cut with the real tree, so that a call
 * that is missing here is noticed.
 */
/* tidy: no-unit-test: tests/crash/run.sh compares the journal of a whole run with the real tree */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 4096
#define SHIM_PATH_BYTES 4096
#define EXPORT __attribute__((visibility("default")))

typedef enum shim_kind {
    SHIM_OPEN = 1, /* a: path, offset: flags */
    SHIM_CLOSE,
    SHIM_WRITE, /* a: data */
    SHIM_TRUNCATE,
    SHIM_SYNC,
    SHIM_RENAME, /* a: from, b: to */
    SHIM_UNLINK, /* a: path */
    SHIM_LINK,   /* a: from, b: to */
    SHIM_MKDIR,  /* a: path */
    SHIM_RMDIR,  /* a: path */
    SHIM_MAPPED  /* a shared, writable mapping */
} shim_kind;

typedef struct shim_record {
    uint32_t kind;
    uint32_t descriptor;
    uint64_t offset;
    uint32_t a_bytes;
    uint32_t b_bytes;
} shim_record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int journal = -1;
static char root[SHIM_PATH_BYTES];
static size_t root_bytes;
static uint64_t records;
static uint64_t off_at;
static bool is_watched[DESCRIPTORS_MAX];

/* The next definition of a symbol, as a pointer of any type. */
static void *next_symbol(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (next == NULL) {                                                                            \
        void *symbol = next_symbol(#name);                                                         \
        memcpy(&next, &symbol, sizeof next);                                                       \
    }

static void start(void)
{
    const char *tree = getenv("MS_POWER_ROOT");
    const char *path = getenv("MS_POWER_JOURNAL");
    const char *off = getenv("MS_POWER_OFF");
    if (tree == NULL || path == NULL || strlen(tree) >= sizeof root) {
        return;
    }
    root_bytes = strlen(tree);
    memcpy(root, tree, root_bytes + 1);
    off_at = off != NULL ? strtoull(off, NULL, 10) : 0;
    NEXT(open)
    journal = next(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Takes the lock after the first call has started the shim. */
static void enter(void)
{
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

static void put(shim_kind kind, int descriptor, uint64_t offset, struct iovec a, struct iovec b)
{
    shim_record record = {(uint32_t)kind, (uint32_t)descriptor, offset, (uint32_t)a.iov_len,
                          (uint32_t)b.iov_len};
    struct iovec parts[] = {{&record, sizeof record}, a, b};
    ssize_t bytes = (ssize_t)(sizeof record + a.iov_len + b.iov_len);
    NEXT(writev)
    if (next(journal, parts, 3) != bytes) {
        abort(); /* half a journal would prove nothing */
    }
    records++;
    if (off_at != 0 && records >= off_at) {
        raise(SIGKILL);
    }
}

static struct iovec text(const char *path)
{
    union {
        const char *from;
        void *to;
    } cast = {.from = path};
    return (struct iovec){cast.to, strlen(path)};
}

static const struct iovec nothing = {NULL, 0};

/* The absolute path of a name, without ".", ".." and "//"; false when it is not in the root. */
static bool find_path(const char *name, char path_out[SHIM_PATH_BYTES])
{
    char whole[2 * SHIM_PATH_BYTES];
    size_t at = 0;
    if (journal < 0 || name == NULL || strlen(name) >= SHIM_PATH_BYTES) {
        return false;
    }
    if (name[0] != '/') {
        if (getcwd(whole, SHIM_PATH_BYTES) == NULL) {
            return false;
        }
        at = strlen(whole);
    }
    snprintf(whole + at, SHIM_PATH_BYTES, "/%s", name);
    size_t to = 0;
    char *rest = NULL;
    for (char *part = strtok_r(whole, "/", &rest); part != NULL;
         part = strtok_r(NULL, "/", &rest)) {
        size_t bytes = strlen(part);
        if (strcmp(part, "..") == 0) {
            while (to > 0 && path_out[--to] != '/') {
            }
        } else if (strcmp(part, ".") != 0 && to + bytes + 2 < SHIM_PATH_BYTES) {
            path_out[to++] = '/';
            memcpy(path_out + to, part, bytes);
            to += bytes;
        }
    }
    path_out[to] = '\0';
    return strncmp(path_out, root, root_bytes) == 0 &&
           (path_out[root_bytes] == '/' || path_out[root_bytes] == '\0');
}

static bool is_watched_fd(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS_MAX && is_watched[fd];
}

/* ---- Opening and closing ---- */

static int note_open(int fd, const char *name, int flags)
{
    char path[SHIM_PATH_BYTES];
    int error = errno;
    if (fd >= 0 && fd < DESCRIPTORS_MAX) {
        is_watched[fd] = find_path(name, path);
        if (is_watched[fd]) {
            put(SHIM_OPEN, fd, (uint64_t)flags, text(path), nothing);
        }
    }
    errno = error;
    return fd;
}

static mode_t mode_of(int flags, va_list args)
{
    return (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
}

EXPORT int open(const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    NEXT(open)
    enter();
    int fd = note_open(next(name, flags, mode), name, flags);
    leave();
    return fd;
}

EXPORT int openat(int dir, const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    NEXT(openat)
    enter();
    int fd = next(dir, name, flags, mode);
    /* Relative to a directory of its own only for reading a tree, which changes nothing. */
    if (dir == AT_FDCWD || name[0] == '/') {
        fd = note_open(fd, name, flags);
    } else if (is_watched_fd(fd)) {
        is_watched[fd] = false;
    }
    leave();
    return fd;
}

EXPORT int open64(const char *name, int flags, ...) __attribute__((alias("open")));
EXPORT int openat64(int dir, const char *name, int flags, ...) __attribute__((alias("openat")));

EXPORT int creat(const char *name, mode_t mode)
{
    return open(name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int close(int fd)
{
    NEXT(close)
    enter();
    if (is_watched_fd(fd)) {
        is_watched[fd] = false;
        put(SHIM_CLOSE, fd, 0, nothing, nothing);
    }
    int result = next(fd);
    leave();
    return result;
}

/* ---- Bytes ---- */

static struct iovec data(const void *bytes, ssize_t count)
{
    union {
        const void *from;
        void *to;
    } cast = {.from = bytes};
    return (struct iovec){cast.to, count > 0 ? (size_t)count : 0};
}

EXPORT ssize_t write(int fd, const void *bytes, size_t count)
{
    NEXT(write)
    if (!is_watched_fd(fd)) {
        return next(fd, bytes, count);
    }
    enter();
    ssize_t wrote = next(fd, bytes, count);
    if (wrote > 0) {
        /* After the write, because one to the end (O_APPEND) only then has a place. */
        off_t end = lseek(fd, 0, SEEK_CUR);
        put(SHIM_WRITE, fd, (uint64_t)(end - wrote), data(bytes, wrote), nothing);
    }
    leave();
    return wrote;
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    NEXT(pwrite)
    if (!is_watched_fd(fd)) {
        return next(fd, bytes, count, offset);
    }
    enter();
    ssize_t wrote = next(fd, bytes, count, offset);
    if (wrote > 0) {
        put(SHIM_WRITE, fd, (uint64_t)offset, data(bytes, wrote), nothing);
    }
    leave();
    return wrote;
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset)
    __attribute__((alias("pwrite")));

/* Piece by piece: a vector may be written in part, which is one of the things a disk does. */
EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    NEXT(writev)
    if (!is_watched_fd(fd)) {
        return next(fd, parts, count);
    }
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        ssize_t wrote = write(fd, parts[i].iov_base, parts[i].iov_len);
        if (wrote < 0) {
            return total > 0 ? total : wrote;
        }
        total += wrote;
        if ((size_t)wrote < parts[i].iov_len) {
            break;
        }
    }
    return total;
}

EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    NEXT(pwritev)
    if (!is_watched_fd(fd)) {
        return next(fd, parts, count, offset);
    }
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        ssize_t wrote = pwrite(fd, parts[i].iov_base, parts[i].iov_len, offset + total);
        if (wrote < 0) {
            return total > 0 ? total : wrote;
        }
        total += wrote;
        if ((size_t)wrote < parts[i].iov_len) {
            break;
        }
    }
    return total;
}

EXPORT int ftruncate(int fd, off_t bytes)
{
    NEXT(ftruncate)
    enter();
    int result = next(fd, bytes);
    if (result == 0 && is_watched_fd(fd)) {
        put(SHIM_TRUNCATE, fd, (uint64_t)bytes, nothing, nothing);
    }
    leave();
    return result;
}

EXPORT int ftruncate64(int fd, off_t bytes) __attribute__((alias("ftruncate")));

/* Without KEEP_SIZE it may grow the file, which is a truncation upward. */
EXPORT int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    NEXT(fallocate)
    enter();
    int result = next(fd, mode, offset, bytes);
    struct stat info;
    if (result == 0 && is_watched_fd(fd) && (mode & FALLOC_FL_KEEP_SIZE) == 0 &&
        fstat(fd, &info) == 0) {
        put(SHIM_TRUNCATE, fd, (uint64_t)info.st_size, nothing, nothing);
    }
    leave();
    return result;
}

static int sync_with(int (*next)(int fd), int fd)
{
    enter();
    int result = next(fd);
    if (result == 0 && is_watched_fd(fd)) {
        put(SHIM_SYNC, fd, 0, nothing, nothing);
    }
    leave();
    return result;
}

EXPORT int fsync(int fd)
{
    NEXT(fsync)
    return sync_with(next, fd);
}

EXPORT int fdatasync(int fd)
{
    NEXT(fdatasync)
    return sync_with(next, fd);
}

EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    NEXT(mmap)
    if (is_watched_fd(fd) && (protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0) {
        enter();
        put(SHIM_MAPPED, fd, 0, nothing, nothing);
        leave();
    }
    return next(at, bytes, protection, flags, fd, offset);
}

/* ---- Names ---- */

/* Records a call on one or two names that has succeeded, when one of them is below the root. */
static void note_names(shim_kind kind, const char *from, const char *to)
{
    char a[SHIM_PATH_BYTES];
    char b[SHIM_PATH_BYTES] = "";
    bool is_seen = find_path(from, a);
    is_seen |= to != NULL && find_path(to, b);
    if (is_seen) {
        put(kind, 0, 0, text(a), text(b));
    }
}

EXPORT int rename(const char *from, const char *to)
{
    NEXT(rename)
    enter();
    int result = next(from, to);
    if (result == 0) {
        note_names(SHIM_RENAME, from, to);
    }
    leave();
    return result;
}

EXPORT int link(const char *from, const char *to)
{
    NEXT(link)
    enter();
    int result = next(from, to);
    if (result == 0) {
        note_names(SHIM_LINK, from, to);
    }
    leave();
    return result;
}

static int change_name(int (*next)(const char *name), shim_kind kind, const char *name)
{
    enter();
    int result = next(name);
    if (result == 0) {
        note_names(kind, name, NULL);
    }
    leave();
    return result;
}

EXPORT int unlink(const char *name)
{
    NEXT(unlink)
    return change_name(next, SHIM_UNLINK, name);
}

EXPORT int rmdir(const char *name)
{
    NEXT(rmdir)
    return change_name(next, SHIM_RMDIR, name);
}

EXPORT int unlinkat(int dir, const char *name, int flags)
{
    NEXT(unlinkat)
    enter();
    int result = next(dir, name, flags);
    int error = errno;
    char link_name[64];
    char path[2 * SHIM_PATH_BYTES];
    snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", dir);
    ssize_t bytes = dir >= 0 ? readlink(link_name, path, SHIM_PATH_BYTES) : 0;
    if (result == 0 && bytes >= 0 && strlen(name) < SHIM_PATH_BYTES - 1) {
        snprintf(path + bytes, SHIM_PATH_BYTES, "%s%s", bytes > 0 ? "/" : "", name);
        note_names((flags & AT_REMOVEDIR) != 0 ? SHIM_RMDIR : SHIM_UNLINK, path, NULL);
    }
    errno = error;
    leave();
    return result;
}

EXPORT int mkdir(const char *name, mode_t mode)
{
    NEXT(mkdir)
    enter();
    int result = next(name, mode);
    if (result == 0) {
        note_names(SHIM_MKDIR, name, NULL);
    }
    leave();
    return result;
}
