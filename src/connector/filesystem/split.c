/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits as bytes, and the files of a path.
 */
#include "connector/filesystem/filesystem_priv.h"

#include "base/codec.h"
#include "os/file.h"

#include <glob.h>
#include <stdlib.h>

#define SPLIT_VERSION 1
#define FILES_MAX 1000000u /* of one table */
#define DIRS_MAX 100000u   /* the same */
#define DEPTH_MAX 32u      /* of directories */

ms_rc msi_fs_split_write(const msi_fs_split *split, ms_buf *out, ms_status *st)
{
    MS_TRY(ms_codec_put_u8(out, SPLIT_VERSION, st));
    MS_TRY(ms_codec_put_str(out, split->path, st));
    return ms_codec_put_u64(out, split->offset, st);
}

ms_rc msi_fs_split_read(ms_str bytes, msi_fs_split *split_out, ms_status *st)
{
    ms_codec_reader reader = ms_codec_reader_make(bytes);
    uint8_t version = ms_codec_reader_u8(&reader);
    split_out->path = ms_codec_reader_str(&reader);
    split_out->offset = ms_codec_reader_u64(&reader);
    MS_TRY(ms_codec_reader_finish(&reader, "a split of the filesystem connector", st));
    if (version != SPLIT_VERSION) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "split of the filesystem connector has the unknown version %u",
                             version);
    }
    return MS_OK;
}

/* Listing. */

typedef struct listing {
    ms_arena *arena;
    ms_str *paths;
    size_t count;
    size_t capacity;
    size_t dirs;
} listing;

/* A directory that is being listed, and those above it. */
typedef struct level {
    const struct level *above;
    ms_str dir;
    ms_file_info info;
    unsigned depth;
} level;

static ms_rc add_file(listing *list, ms_str path, ms_status *st)
{
    if (list->count == FILES_MAX) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "a table has more than %u files",
                             FILES_MAX);
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        ms_str *grown = ms_arena_array(list->arena, ms_str, capacity);
        if (list->count > 0) {
            memcpy(grown, list->paths, list->count * sizeof *grown);
        }
        list->paths = grown;
        list->capacity = capacity;
    }
    list->paths[list->count++] = path;
    return MS_OK;
}

static bool is_hidden(ms_str name)
{
    return name.bytes > 0 && (name.ptr[0] == '.' || name.ptr[0] == '_');
}

static ms_str last_component(ms_str path)
{
    size_t start = 0;
    for (size_t i = 0; i < path.bytes; i++) {
        start = path.ptr[i] == '/' ? i + 1 : start;
    }
    return ms_str_slice(path, start, path.bytes);
}

ms_rc msi_fs_refuse_irregular(ms_str path, ms_span span, ms_status *st)
{
    ms_status_set(st, MS_INVALID_OPTION, span, "\"%.*s\" is neither a file nor a directory",
                  MS_STR_ARG(path));
    return ms_status_hint(st, "A pipe is read as standard input, with path \"-\".");
}

static ms_rc refuse_broken_link(ms_str path, ms_status *st)
{
    return ms_status_set(st, MS_FILE_NOT_FOUND, ms_span_none,
                         "the symbolic link \"%.*s\" leads nowhere", MS_STR_ARG(path));
}

/* Links may lead back to a directory above, and to others so often that there is no end. */
static ms_rc check_dir(listing *list, const level *here, ms_status *st)
{
    for (const level *up = here->above; up != NULL; up = up->above) {
        if (up->info.device == here->info.device && up->info.inode == here->info.inode) {
            return ms_status_set(st, MS_LIMIT, ms_span_none,
                                 "directory \"%.*s\" leads back to \"%.*s\"", MS_STR_ARG(here->dir),
                                 MS_STR_ARG(up->dir));
        }
    }
    if (here->depth == DEPTH_MAX) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "directory \"%.*s\" is nested too deep",
                             MS_STR_ARG(here->dir));
    }
    if (list->dirs == DIRS_MAX) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "a table has more than %u directories",
                             DIRS_MAX);
    }
    list->dirs++;
    return MS_OK;
}

static ms_rc list_dir(listing *list, const level *here, ms_status *st);

/* A path that is there or was a moment ago. */
static ms_rc list_path(listing *list, const level *above, ms_str path, ms_status *st)
{
    level here = {.above = above, .dir = path, .depth = above == NULL ? 0 : above->depth + 1};
    MS_TRY(ms_file_stat(path.ptr, &here.info, st));
    switch (here.info.kind) {
    case MS_FILE_KIND_FILE:
        return add_file(list, path, st);
    case MS_FILE_KIND_DIR:
        return list_dir(list, &here, st);
    case MS_FILE_KIND_NONE:
        return refuse_broken_link(path, st);
    case MS_FILE_KIND_OTHER:
        return msi_fs_refuse_irregular(path, ms_span_none, st);
    }
    MS_UNREACHABLE();
}

static ms_rc list_dir(listing *list, const level *here, ms_status *st)
{
    MS_TRY(check_dir(list, here, st));
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    MS_TRY(ms_dir_list(here->dir.ptr, list->arena, &entries, &count, st));
    for (size_t i = 0; i < count; i++) {
        if (!is_hidden(entries[i].name)) {
            ms_str path = ms_arena_format(list->arena, "%.*s/%.*s", MS_STR_ARG(here->dir),
                                          MS_STR_ARG(entries[i].name));
            MS_TRY(list_path(list, here, path, st));
        }
    }
    return MS_OK;
}

static ms_rc list_glob(listing *list, ms_str pattern, bool *found_out, ms_status *st)
{
    glob_t matches;
    int result = glob(pattern.ptr, 0, NULL, &matches);
    if (result != 0 && result != GLOB_NOMATCH) {
        return ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not expand \"%.*s\"",
                             MS_STR_ARG(pattern));
    }
    ms_rc rc = MS_OK;
    *found_out = false;
    for (size_t i = 0; result == 0 && rc == MS_OK && i < matches.gl_pathc; i++) {
        ms_str path = ms_arena_copy_str(list->arena, ms_str_cstr(matches.gl_pathv[i]));
        *found_out = true;
        rc = is_hidden(last_component(path)) ? MS_OK : list_path(list, NULL, path, st);
    }
    globfree(&matches);
    return rc;
}

bool msi_fs_is_pattern(ms_str path)
{
    for (size_t i = 0; i < path.bytes; i++) {
        if (path.ptr[i] == '*' || path.ptr[i] == '?' || path.ptr[i] == '[') {
            return true;
        }
    }
    return false;
}

ms_rc msi_fs_list(ms_str path, ms_arena *arena, const ms_str **paths_out, size_t *count_out,
                  ms_status *st)
{
    listing list = {.arena = arena};
    ms_file_info info;
    MS_TRY(ms_file_stat(path.ptr, &info, st));
    bool found = info.kind != MS_FILE_KIND_NONE;
    if (found) {
        MS_TRY(list_path(&list, NULL, path, st));
    } else if (msi_fs_is_pattern(path)) {
        MS_TRY(list_glob(&list, path, &found, st));
    }
    if (!found) {
        return ms_status_set(st, MS_FILE_NOT_FOUND, ms_span_none, "there is no file \"%.*s\"",
                             MS_STR_ARG(path));
    }
    *paths_out = list.paths;
    *count_out = list.count;
    return MS_OK;
}
