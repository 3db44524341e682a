/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of a job:
 *
 *     LOCK                                    held while the job runs, or is about to
 *     manifest-<checkpoint>                   a complete checkpoint; the newest counts
 *     state-<node>-<subtask>-<checkpoint>     what an operator's state was, or how it changed
 *     progress                                the last run reached its end
 *
 * Numbers are written with all their digits, so that names sort by checkpoint. A manifest gets its
 * name only after everything it speaks of is durable:
 *
 *     state files written and synced -> directory synced -> manifest.tmp written and synced
 *       -> renamed -> directory synced -> commit
 *
 * Whatever no kept manifest names is an orphan of a checkpoint that was given up, and is swept
 * after the next complete one and at recovery. Only plain files whose whole name is one of these
 * forms are ever removed: the directory may be one that a user keeps other things in. LOCK stays,
 * see os/lockfile.c.
 */
#include "runtime/runtime_priv.h"

#include "base/codec.h"
#include "base/env.h"
#include "base/num.h"

#include <inttypes.h>
#include <stdio.h>

#define PROGRESS_VERSION 1u
#define ID_DIGITS 20u /* of the largest 64-bit number */

/* Manifests hold snapshots and committables, which are small beside state. */
#define MANIFEST_BYTES_MAX (1u << 30)

static const char progress_magic[4] = {'M', 'S', 'P', 'R'};

/* ---- Names ---- */

ms_rc msi_store_path(ms_str dir, ms_str name, char *path_out, ms_status *st)
{
    int bytes = snprintf(path_out, MSI_PATH_BYTES, "%.*s%s%.*s", MS_STR_ARG(dir),
                         name.bytes > 0 ? "/" : "", MS_STR_ARG(name));
    if (bytes < 0 || (size_t)bytes >= MSI_PATH_BYTES) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "the path of a checkpoint directory is longer than %u bytes",
                             MSI_PATH_BYTES);
    }
    return MS_OK;
}

ms_str msi_store_state_name(ms_arena *arena, uint64_t node_id, uint32_t subtask,
                            ms_checkpoint_id id)
{
    return ms_arena_format(arena, "state-%016" PRIx64 "-%03" PRIu32 "-%020" PRIu64, node_id,
                           subtask, id);
}

typedef struct manifest_name {
    char text[40];
} manifest_name;

static ms_str name_of_manifest(ms_checkpoint_id id, manifest_name *name)
{
    int bytes = snprintf(name->text, sizeof(name->text), "manifest-%020" PRIu64, id);
    return (ms_str){name->text, (size_t)bytes};
}

/* The checkpoint at the end of a name; 0 when there is none. */
static ms_checkpoint_id id_at_end(ms_str name)
{
    uint64_t id = 0;
    if (name.bytes <= ID_DIGITS ||
        !ms_num_scan_u64(ms_str_slice(name, name.bytes - ID_DIGITS, name.bytes), &id)) {
        return 0;
    }
    return id;
}

/* Takes up to max digits, also a to f when is_hex; false when there are fewer than min. */
static bool take_digits(ms_str *rest, size_t min, size_t max, bool is_hex)
{
    size_t count = 0;
    while (count < rest->bytes && count < max) {
        char c = rest->ptr[count];
        if (!((c >= '0' && c <= '9') || (is_hex && c >= 'a' && c <= 'f'))) {
            break;
        }
        count++;
    }
    *rest = ms_str_slice(*rest, count, rest->bytes);
    return count >= min;
}

static bool take_text(ms_str *rest, ms_str text)
{
    if (!ms_str_starts_with(*rest, text)) {
        return false;
    }
    *rest = ms_str_slice(*rest, text.bytes, rest->bytes);
    return true;
}

/* True for the names that this file gives, to their last byte. */
static bool is_ours(ms_str name)
{
    ms_str rest = name;
    if (take_text(&rest, ms_str_lit("state-"))) {
        return take_digits(&rest, 16, 16, true) && take_text(&rest, ms_str_lit("-")) &&
               take_digits(&rest, 3, 10, false) && take_text(&rest, ms_str_lit("-")) &&
               take_digits(&rest, ID_DIGITS, ID_DIGITS, false) && rest.bytes == 0;
    }
    if (take_text(&rest, ms_str_lit("manifest-"))) {
        if (!take_digits(&rest, ID_DIGITS, ID_DIGITS, false)) {
            return false;
        }
    } else if (!take_text(&rest, ms_str_lit("progress"))) {
        return false;
    }
    return rest.bytes == 0 || ms_str_equals(rest, ms_str_lit(".tmp"));
}

static bool is_manifest(ms_str name)
{
    return is_ours(name) && ms_str_starts_with(name, ms_str_lit("manifest-")) &&
           id_at_end(name) > 0;
}

static ms_rc list(ms_str dir, ms_arena *arena, const ms_dir_entry **entries_out, size_t *count_out,
                  ms_status *st)
{
    char path[MSI_PATH_BYTES];
    MS_TRY(msi_store_path(dir, (ms_str){0}, path, st));
    return ms_dir_list(path, arena, entries_out, count_out, st);
}

static ms_rc sync_dir(ms_str dir, ms_status *st)
{
    char path[MSI_PATH_BYTES];
    MS_TRY(msi_store_path(dir, (ms_str){0}, path, st));
    return ms_dir_sync(path, st);
}

static ms_rc remove_file(ms_str dir, ms_str name, ms_status *st)
{
    char path[MSI_PATH_BYTES];
    MS_TRY(msi_store_path(dir, name, path, st));
    return ms_file_remove(path, st);
}

/* ---- Life ---- */

ms_rc ms_job_dir_lock(ms_str dir, ms_lockfile **lock_out, ms_status *st)
{
    *lock_out = NULL;
    char path[MSI_PATH_BYTES];
    MS_TRY(msi_store_path(dir, (ms_str){0}, path, st));
    MS_TRY(ms_dir_create(path, st));
    MS_TRY(msi_store_path(dir, ms_str_lit("LOCK"), path, st));
    ms_lockfile_holder holder;
    MS_TRY(ms_lockfile_take(path, ms_str_lit("job"), lock_out, &holder, st));
    if (*lock_out != NULL) {
        return MS_OK;
    }
    ms_status_set(st, MS_JOB_RUNNING, ms_span_none,
                  "the checkpoint directory \"%.*s\" is in use by a running job", MS_STR_ARG(dir));
    if (holder.pid != 0) {
        ms_status_detail(st, "process %" PRId64 " holds it", holder.pid);
    }
    return ms_status_hint(st, "Wait for that job to end, or give this job another name.");
}

ms_rc msi_store_open(msi_store *store, ms_str dir, ms_status *st)
{
    ms_buf_init(&store->bytes, MANIFEST_BYTES_MAX);
    store->dir = dir;
    return store->lock != NULL ? MS_OK : ms_job_dir_lock(dir, &store->lock, st);
}

void msi_store_close(msi_store *store)
{
    ms_lockfile_destroy(store->lock);
    store->lock = NULL;
    ms_buf_release(&store->bytes);
}

/* The way out of damage, and what it does not undo. */
static ms_rc hint_fresh(ms_status *st)
{
    return ms_status_hint(st, "Start anew with --fresh; what the job has committed before, files "
                              "for instance, is not taken back.");
}

/* ---- The progress record ---- */

static ms_rc encode_progress(const msi_progress *progress, ms_buf *out, ms_status *st)
{
    MS_TRY(ms_buf_append(out, (ms_str){progress_magic, sizeof(progress_magic)}, st));
    MS_TRY(ms_codec_put_u16(out, PROGRESS_VERSION, st));
    MS_TRY(ms_codec_put_u64(out, progress->id, st));
    MS_TRY(ms_codec_put_u64(out, progress->rows_read, st));
    return ms_codec_put_u32(out, ms_crc32c(0, ms_buf_view(out)), st);
}

static ms_rc decode_progress(ms_str bytes, msi_progress *progress_out, ms_status *st)
{
    ms_codec_reader reader = ms_codec_reader_make(bytes);
    ms_str magic = ms_codec_reader_bytes(&reader, sizeof(progress_magic));
    uint16_t version = ms_codec_reader_u16(&reader);
    progress_out->id = ms_codec_reader_u64(&reader);
    progress_out->rows_read = ms_codec_reader_u64(&reader);
    uint32_t crc = ms_codec_reader_u32(&reader);
    MS_TRY(ms_codec_reader_finish(&reader, "the progress record of a job", st));
    if (!ms_str_equals(magic, (ms_str){progress_magic, sizeof(progress_magic)}) ||
        crc != ms_crc32c(0, ms_str_slice(bytes, 0, bytes.bytes - 4))) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "the progress record of a job fails its check");
    }
    if (version != PROGRESS_VERSION) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "a progress record has version %u; this program reads version %u",
                             version, PROGRESS_VERSION);
    }
    return MS_OK;
}

static ms_rc read_progress(ms_str dir, msi_progress *progress_out, ms_status *st)
{
    char path[MSI_PATH_BYTES];
    MS_TRY(msi_store_path(dir, ms_str_lit("progress"), path, st));
    ms_buf bytes;
    ms_buf_init(&bytes, 4096);
    ms_rc rc = ms_file_read_all(path, &bytes, st);
    if (rc == MS_OK) {
        rc = decode_progress(ms_buf_view(&bytes), progress_out, st);
    }
    ms_buf_release(&bytes);
    if (rc == MS_CORRUPT_DATA) {
        ms_status_detail(st, "file \"%s\"", path);
        return hint_fresh(st);
    }
    return rc;
}

/* ---- Looking and reading ---- */

static ms_rc look(ms_str dir, ms_arena *arena, ms_checkpoint_id *manifest_id_out,
                  ms_checkpoint_id *last_out, msi_progress *progress_out, ms_status *st)
{
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    MS_TRY(list(dir, arena, &entries, &count, st));
    for (size_t i = 0; i < count; i++) {
        ms_checkpoint_id id = id_at_end(entries[i].name);
        if (is_manifest(entries[i].name) && id > *manifest_id_out) {
            *manifest_id_out = id;
        }
        if (is_ours(entries[i].name) && id > *last_out) {
            *last_out = id;
        }
        if (ms_str_equals(entries[i].name, ms_str_lit("progress"))) {
            MS_TRY(read_progress(dir, progress_out, st));
        }
    }
    if (progress_out->id >= *manifest_id_out) {
        /* The end was reached; a manifest that is still there had no time to be removed. */
        *manifest_id_out = 0;
    }
    *last_out = progress_out->id > *last_out ? progress_out->id : *last_out;
    return MS_OK;
}

ms_rc msi_store_look(ms_str dir, ms_checkpoint_id *manifest_id_out, ms_checkpoint_id *last_out,
                     msi_progress *progress_out, ms_status *st)
{
    *manifest_id_out = 0;
    *last_out = 0;
    *progress_out = (msi_progress){0};
    char path[MSI_PATH_BYTES];
    ms_file_info info;
    MS_TRY(msi_store_path(dir, (ms_str){0}, path, st));
    MS_TRY(ms_file_stat(path, &info, st));
    if (info.kind == MS_FILE_KIND_NONE) {
        return MS_OK;
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_rc rc = look(dir, &arena, manifest_id_out, last_out, progress_out, st);
    ms_arena_release(&arena);
    return rc;
}

static ms_rc read_manifest(ms_str dir, ms_checkpoint_id id, ms_buf *bytes, ms_arena *arena,
                           msi_manifest *manifest_out, ms_status *st)
{
    char path[MSI_PATH_BYTES];
    manifest_name name;
    MS_TRY(msi_store_path(dir, name_of_manifest(id, &name), path, st));
    ms_buf_reset(bytes);
    MS_TRY(ms_file_read_all(path, bytes, st));
    if (msi_manifest_decode(ms_buf_view(bytes), arena, manifest_out, st) != MS_OK) {
        ms_status_detail(st, "file \"%s\"", path);
        return hint_fresh(st);
    }
    return MS_OK;
}

ms_rc msi_store_read(msi_store *store, ms_checkpoint_id id, ms_arena *arena,
                     msi_manifest *manifest_out, ms_status *st)
{
    return read_manifest(store->dir, id, &store->bytes, arena, manifest_out, st);
}

ms_rc msi_store_read_file(const msi_store *store, const msi_state_file *file, ms_buf *out,
                          ms_status *st)
{
    char path[MSI_PATH_BYTES];
    size_t before = out->bytes;
    MS_TRY(msi_store_path(store->dir, file->name, path, st));
    MS_TRY(ms_file_read_all(path, out, st));
    ms_str bytes = {out->ptr + before, out->bytes - before};
    if (bytes.bytes != file->bytes || ms_crc32c(0, bytes) != file->crc) {
        ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "state file \"%s\" fails its check", path);
        return hint_fresh(st);
    }
    return MS_OK;
}

/* ---- Writing ---- */

static ms_rc write_and_sync(const char *path, ms_str bytes, ms_status *st)
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

ms_rc msi_store_write_file(ms_str dir, ms_str name, ms_str bytes, ms_status *st)
{
    char path[MSI_PATH_BYTES];
    MS_TRY(msi_store_path(dir, name, path, st));
    if (write_and_sync(path, bytes, st) == MS_OK) {
        return MS_OK;
    }
    /* After a failed sync nobody knows what the file holds: it is given up for good. */
    ms_status unused = {0};
    ms_rc rc = ms_file_remove(path, &unused);
    (void)rc;
    return st->code;
}

static ms_rc injected(const char *what, ms_status *st)
{
    return ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not %s: injected fault", what);
}

ms_rc msi_store_write_manifest(ms_str dir, ms_checkpoint_id id, ms_str bytes, ms_status *st)
{
    char path[MSI_PATH_BYTES];
    char temporary[MSI_PATH_BYTES];
    manifest_name name;
    MS_TRY(msi_store_path(dir, name_of_manifest(id, &name), path, st));
    int length = snprintf(temporary, sizeof(temporary), "%s.tmp", path);
    if (length < 0 || (size_t)length >= sizeof(temporary)) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "the path \"%.100s...\" is too long",
                             path);
    }
    MS_TRY(sync_dir(dir, st));
    MS_TRY(write_and_sync(temporary, bytes, st));
    if (ms_env_fault("checkpoint.before_rename")) {
        return injected("rename a manifest", st);
    }
    MS_TRY(ms_file_rename(temporary, path, st));
    if (ms_env_fault("checkpoint.after_rename")) {
        return injected("sync a manifest", st);
    }
    return sync_dir(dir, st);
}

/* ---- Removing ---- */

/* Names that kept manifests need. */
typedef struct kept_names {
    uint32_t count;
    uint32_t capacity;
    ms_str *names;
    ms_arena *arena;
} kept_names;

static void keep_name(kept_names *kept, ms_str name)
{
    if (kept->count == kept->capacity) {
        uint32_t capacity = kept->capacity > 0 ? kept->capacity * 2 : 64;
        ms_str *names = ms_arena_array(kept->arena, ms_str, capacity);
        for (uint32_t i = 0; i < kept->count; i++) {
            names[i] = kept->names[i];
        }
        kept->names = names;
        kept->capacity = capacity;
    }
    kept->names[kept->count++] = ms_arena_copy_str(kept->arena, name);
}

static bool is_kept(const kept_names *kept, ms_str name)
{
    for (uint32_t i = 0; i < kept->count; i++) {
        if (ms_str_equals(kept->names[i], name)) {
            return true;
        }
    }
    return false;
}

static ms_rc keep_manifest(kept_names *kept, ms_str dir, ms_checkpoint_id id, ms_buf *bytes,
                           ms_status *st)
{
    msi_manifest manifest;
    manifest_name name;
    MS_TRY(read_manifest(dir, id, bytes, kept->arena, &manifest, st));
    keep_name(kept, name_of_manifest(id, &name));
    for (uint32_t i = 0; i < manifest.op_count; i++) {
        for (uint32_t f = 0; f < manifest.ops[i].file_count; f++) {
            keep_name(kept, manifest.ops[i].files[f].name);
        }
    }
    return MS_OK;
}

/* Removes our files that are not kept: manifests first, so that none names a file that is gone. */
static ms_rc remove_others(const kept_names *kept, ms_str dir, ms_status *st)
{
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    MS_TRY(list(dir, kept->arena, &entries, &count, st));
    bool removed = false;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            ms_str name = entries[i].name;
            bool is_file = entries[i].kind == MS_FILE_KIND_FILE;
            if (is_file && is_ours(name) && !is_kept(kept, name) &&
                is_manifest(name) == (round == 0)) {
                MS_TRY(remove_file(dir, name, st));
                removed = true;
            }
        }
        if (removed) {
            MS_TRY(sync_dir(dir, st));
        }
    }
    return MS_OK;
}

static ms_rc sweep(kept_names *kept, ms_str dir, const ms_checkpoint_id *keep, uint32_t keep_count,
                   ms_status *st)
{
    ms_buf bytes;
    ms_buf_init(&bytes, MANIFEST_BYTES_MAX);
    ms_rc rc = MS_OK;
    for (uint32_t i = 0; i < keep_count && rc == MS_OK; i++) {
        if (keep[i] != 0) {
            rc = keep_manifest(kept, dir, keep[i], &bytes, st);
        }
    }
    ms_buf_release(&bytes);
    return rc == MS_OK ? remove_others(kept, dir, st) : rc;
}

ms_rc msi_store_sweep(ms_str dir, const ms_checkpoint_id *keep, uint32_t keep_count, ms_status *st)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    kept_names kept = {.arena = &arena};
    ms_rc rc = sweep(&kept, dir, keep, keep_count, st);
    ms_arena_release(&arena);
    return rc;
}

ms_rc msi_store_finish(ms_str dir, const msi_progress *progress, ms_status *st)
{
    char path[MSI_PATH_BYTES];
    MS_TRY(msi_store_path(dir, ms_str_lit("progress"), path, st));
    ms_buf bytes;
    ms_buf_init(&bytes, 4096);
    ms_rc rc = encode_progress(progress, &bytes, st);
    if (rc == MS_OK) {
        rc = ms_file_replace(path, ms_buf_view(&bytes), st);
    }
    ms_buf_release(&bytes);
    MS_TRY(rc);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    kept_names kept = {.arena = &arena};
    keep_name(&kept, ms_str_lit("progress"));
    rc = remove_others(&kept, dir, st);
    ms_arena_release(&arena);
    return rc;
}

ms_rc ms_job_dir_clear(ms_str dir, ms_status *st)
{
    return msi_store_sweep(dir, NULL, 0, st);
}
