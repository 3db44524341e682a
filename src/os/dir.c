/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories: making, syncing, listing, removing. Declared in os/file.h beside what they hold.
 */
#include "os/file.h"

#include "base/env.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRIVATE_MODE 0700
#define SHARED_MODE 0777
#define FIRST_ENTRIES 32

static bool is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Makes the directory that prefix names where it is missing, and its name durable. */
static ms_rc create_one(char *prefix, size_t bytes, mode_t mode, ms_status *st)
{
    if (mkdir(prefix, mode) != 0) {
        int error = errno;
        if (error == EEXIST && is_dir(prefix)) {
            return MS_OK;
        }
        return ms_status_set_errno(st, error, "could not make directory \"%s\"", prefix);
    }
    size_t parent = bytes;
    while (parent > 0 && prefix[parent - 1] != '/') {
        parent--;
    }
    if (parent == 0) {
        return ms_dir_sync(".", st);
    }
    char kept = prefix[parent];
    prefix[parent] = '\0';
    ms_rc rc = ms_dir_sync(prefix, st);
    prefix[parent] = kept;
    return rc;
}

static ms_rc create(const char *path, mode_t mode, ms_status *st)
{
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_str copy = ms_arena_copy_str(&scratch, ms_str_cstr(path));
    char *prefix = ms_arena_alloc(&scratch, copy.bytes + 1, 1);
    ms_rc rc = MS_OK;
    /* Each prefix that ends before a slash, then the whole: "a/b" makes "a" and "a/b". */
    for (size_t end = 1; end <= copy.bytes && rc == MS_OK; end++) {
        bool is_boundary = end == copy.bytes || copy.ptr[end] == '/';
        if (is_boundary && copy.ptr[end - 1] != '/') {
            memcpy(prefix, copy.ptr, end);
            prefix[end] = '\0';
            rc = create_one(prefix, end, mode, st);
        }
    }
    ms_arena_release(&scratch);
    return rc;
}

ms_rc ms_dir_create(const char *path, ms_status *st)
{
    return create(path, PRIVATE_MODE, st);
}

ms_rc ms_dir_create_shared(const char *path, ms_status *st)
{
    return create(path, SHARED_MODE, st);
}

ms_rc ms_dir_sync(const char *path, ms_status *st)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return ms_status_set_errno(st, errno, "could not open directory \"%s\"", path);
    }
    int rc;
    do {
        rc = fsync(fd);
    } while (rc != 0 && errno == EINTR);
    int error = rc == 0 ? 0 : errno;
    if (ms_env_fault("file.sync")) {
        error = EIO;
    }
    close(fd);
    return error == 0 ? MS_OK
                      : ms_status_set_errno(st, error, "could not sync directory \"%s\"", path);
}

static ms_file_kind kind_of_mode(mode_t mode)
{
    if (S_ISREG(mode)) {
        return MS_FILE_KIND_FILE;
    }
    return S_ISDIR(mode) ? MS_FILE_KIND_DIR : MS_FILE_KIND_OTHER;
}

/* The kind behind a name of an open directory. follow: that of a symbolic link's target. */
static ms_file_kind kind_of_entry(DIR *dir, const char *name, bool follow)
{
    struct stat info;
    int flags = follow ? 0 : AT_SYMLINK_NOFOLLOW;
    bool found = fstatat(dirfd(dir), name, &info, flags) == 0;
    return found ? kind_of_mode(info.st_mode) : MS_FILE_KIND_NONE;
}

/* The next name but "." and ".."; NULL at the end or, with errno set, on failure. */
static const char *next_name(DIR *dir)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL) {
            return NULL;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            return entry->d_name;
        }
    }
}

static int compare_entries(const void *left, const void *right)
{
    const ms_dir_entry *a = left;
    const ms_dir_entry *b = right;
    return ms_str_compare(a->name, b->name);
}

/* Reads all entries of an open directory into the arena, in no order. errno is 0 on success. */
static ms_dir_entry *read_entries(DIR *dir, ms_arena *arena, bool follow, size_t *count_out)
{
    size_t count = 0;
    size_t capacity = FIRST_ENTRIES;
    ms_dir_entry *entries = ms_arena_array(arena, ms_dir_entry, capacity);
    const char *name;
    while ((name = next_name(dir)) != NULL) {
        if (count == capacity) {
            ms_dir_entry *larger = ms_arena_array(arena, ms_dir_entry, capacity * 2);
            memcpy(larger, entries, count * sizeof(entries[0]));
            entries = larger;
            capacity *= 2;
        }
        entries[count].name = ms_arena_copy_str(arena, ms_str_cstr(name));
        entries[count].kind = kind_of_entry(dir, name, follow);
        count++;
    }
    *count_out = count;
    return entries;
}

ms_rc ms_dir_list(const char *path, ms_arena *arena, const ms_dir_entry **entries_out,
                  size_t *count_out, ms_status *st)
{
    *entries_out = NULL;
    *count_out = 0;
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return ms_status_set_errno(st, errno, "could not open directory \"%s\"", path);
    }
    size_t count = 0;
    ms_dir_entry *entries = read_entries(dir, arena, true, &count);
    int error = errno;
    closedir(dir);
    if (error != 0) {
        return ms_status_set_errno(st, error, "could not read directory \"%s\"", path);
    }
    qsort(entries, count, sizeof(entries[0]), compare_entries);
    *entries_out = entries;
    *count_out = count;
    return MS_OK;
}

/* One call of ms_dir_remove. */
typedef struct removal {
    const char *root; /* for messages */
    int depth;
    ms_status *st;
} removal;

static ms_rc refuse_removal(removal *run, int error, const char *name)
{
    return ms_status_set_errno(run->st, error, "could not remove \"%s\" in directory \"%s\"", name,
                               run->root);
}

static ms_rc remove_at(removal *run, int parent, const char *name);

static ms_rc remove_entry(removal *run, int parent, const ms_dir_entry *entry)
{
    if (entry->kind == MS_FILE_KIND_DIR) {
        return remove_at(run, parent, entry->name.ptr);
    }
    if (unlinkat(parent, entry->name.ptr, 0) != 0 && errno != ENOENT) {
        return refuse_removal(run, errno, entry->name.ptr);
    }
    return MS_OK;
}

/* Removes what is in an open directory. The list is read first: removing while reading may skip
 * names. */
static ms_rc remove_contents(removal *run, DIR *dir, const char *name)
{
    if (run->depth > MS_DIR_DEPTH_MAX) {
        return ms_status_set(run->st, MS_LIMIT, ms_span_none,
                             "directory \"%s\" is nested deeper than %d levels", run->root,
                             MS_DIR_DEPTH_MAX);
    }
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    size_t count = 0;
    const ms_dir_entry *entries = read_entries(dir, &scratch, false, &count);
    ms_rc rc = errno == 0 ? MS_OK : refuse_removal(run, errno, name);
    for (size_t i = 0; i < count && rc == MS_OK; i++) {
        rc = remove_entry(run, dirfd(dir), &entries[i]);
    }
    ms_arena_release(&scratch);
    return rc;
}

/* Removes a directory by its name under an open one: paths that change meanwhile, or lead through
 * symbolic links, do not lead elsewhere. */
static ms_rc remove_at(removal *run, int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? MS_OK : refuse_removal(run, errno, name);
    }
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        ms_rc rc = refuse_removal(run, errno, name);
        close(fd);
        return rc;
    }
    run->depth++;
    ms_rc rc = remove_contents(run, dir, name);
    run->depth--;
    closedir(dir);
    if (rc == MS_OK && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
        rc = refuse_removal(run, errno, name);
    }
    return rc;
}

ms_rc ms_dir_remove(const char *path, ms_status *st)
{
    removal run = {.root = path, .st = st};
    return remove_at(&run, AT_FDCWD, path);
}
