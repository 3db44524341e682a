/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slt [--tsan] [--mode NAME] FILE.slt|DIR ...
 * slt --canary DIR ...
 * slt --origins DIR ...
 *
 * Runs golden files in all modes and prints lines of counts. The modes cover the pairs of their
 * settings; with MS_NIGHTLY=1 they are the full product. MS_SLT_UPDATE=1 writes what the first mode
 * gives into the files instead.
 *
 * --canary turns the verdict around: a file must fail in every mode, in as many records as its
 * header says; one in a directory "unreadable" must be refused. --origins runs nothing and counts
 * where the expected rows are from.
 */
#include "slt.h"

#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 1000u
#define ORIGINS_MAX 16u

typedef struct plan {
    const char *paths[FILES_MAX];
    size_t path_count;
    const char *only_mode;
    bool only_parallel; /* two subtasks, for the thread sanitizer */
    bool is_canary;
    bool is_count; /* of origins */
    bool is_update;
    slt_mode modes[SLT_MODES_MAX];
    uint32_t mode_count;
    unsigned passed;
    unsigned failed;
    slt_crashes crashes;
    slt_calls calls;
    uint32_t not_served; /* files that have nothing to ask a server for */
} plan;

static bool add_path(plan *p, ms_arena *arena, const char *path)
{
    ms_status st = {0};
    ms_file_info info;
    if (ms_file_stat(path, &info, &st) != MS_OK || info.kind == MS_FILE_KIND_NONE) {
        fprintf(stderr, "slt: there is no \"%s\"\n", path);
        return false;
    }
    if (info.kind != MS_FILE_KIND_DIR) {
        if (p->path_count < FILES_MAX) {
            p->paths[p->path_count++] = path;
        }
        return true;
    }
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    if (ms_dir_list(path, arena, &entries, &count, &st) != MS_OK) {
        fprintf(stderr, "slt: %s\n", st.message);
        return false;
    }
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        bool is_golden = ms_str_ends_with(entries[i].name, ms_str_lit(".slt")) ||
                         ms_str_ends_with(entries[i].name, ms_str_lit(".md"));
        if (is_golden || entries[i].kind == MS_FILE_KIND_DIR) {
            ms_str inner = ms_arena_format(arena, "%s/%s", path, entries[i].name.ptr);
            ok = add_path(p, arena, inner.ptr) && ok;
        }
    }
    return ok;
}

static bool runs_in(const plan *p, const slt_file *file, uint32_t m)
{
    const slt_mode *mode = &p->modes[m];
    if ((p->only_mode != NULL && strcmp(p->only_mode, mode->name) != 0) ||
        (mode->server != SLT_SERVER_NONE && !file->has_bigtable)) {
        return false;
    }
    /* The thread sanitizer is not the place for children. */
    if (p->only_parallel &&
        (mode->parallelism != 2 || file->compare_rows || mode->tear > SLT_TEAR_CANCEL)) {
        return false;
    }
    if (mode->tear != SLT_TEAR_NONE) {
        /* The queries of a file that compares sequences run at parallelism 1, its jobs do not. */
        return slt_runs_in(&file->exempt, mode) && !file->exempt.crash && !file->exempt.parallel;
    }
    return slt_runs_in(&file->exempt, mode) && (mode->parallelism == 1 || !file->compare_rows);
}

static void count(plan *p, bool ok)
{
    *(ok ? &p->passed : &p->failed) += 1;
}

static void run_modes(plan *p, const slt_file *file, const char *tmp_root)
{
    for (uint32_t m = 0; m < p->mode_count; m++) {
        const slt_mode *mode = &p->modes[m];
        if (!runs_in(p, file, m)) {
            continue;
        }
        uint32_t failures =
            slt_run_file(file, mode, m, tmp_root, p->is_canary, &p->crashes, &p->calls);
        if (!p->is_canary) {
            count(p, failures == 0);
            continue;
        }
        uint32_t wanted = mode->tear == SLT_TEAR_NONE ? file->failures : file->failures_crash;
        wanted += mode->server == SLT_SERVER_NONE ? 0 : file->failures_grpc;
        count(p, failures == wanted);
        if (failures != wanted) {
            fprintf(stderr, "%s: [%s] %u failures are reported where there are %u\n", file->path,
                    mode->name, failures, wanted);
        }
    }
}

static bool is_unreadable(const char *path)
{
    return strstr(path, "/unreadable/") != NULL;
}

/* The first mode that the file is not exempt from. */
static const slt_mode *update_mode(const plan *p, const slt_file *file)
{
    uint32_t m = 0;
    while (file->exempt.streaming != p->modes[m].is_batch) {
        m++;
    }
    return &p->modes[m];
}

static void run_path(plan *p, const char *path, const char *tmp_root)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    slt_file file;
    if (!slt_parse(&arena, path, &file)) {
        count(p, p->is_canary && is_unreadable(path));
    } else if (p->is_canary && is_unreadable(path)) {
        fprintf(stderr, "%s: is read\n", path);
        count(p, false);
    } else if (p->is_update && !file.is_page) {
        count(p, slt_update(&file, update_mode(p, &file), tmp_root));
    } else {
        p->not_served += file.has_bigtable ? 0 : 1;
        run_modes(p, &file, tmp_root);
    }
    ms_arena_release(&arena);
}

static int run_plan(plan *p, const char *tmp_root)
{
    for (size_t f = 0; f < p->path_count; f++) {
        run_path(p, p->paths[f], tmp_root);
    }
    const slt_crashes *c = &p->crashes;
    if (c->jobs > 0) {
        printf("%" PRIu64 " jobs interrupted %" PRIu64 " times and restored: %" PRIu64
               " rows kept, %" PRIu64 " read again, %" PRIu64 " positions, %" PRIu64
               " entries of state\n",
               c->jobs, c->interruptions, c->rows_kept, c->rows_repeated, c->positions, c->entries);
    }
    if (p->calls.runs > 0) {
        printf("%" PRIu64 " runs over gRPC: %" PRIu64 " servers received %" PRIu64
               " calls; %u files have no table of Bigtable and were not among them\n",
               p->calls.runs, p->calls.servers, p->calls.received, p->not_served);
    }
    printf("%u passed, %u failed\n", p->passed, p->failed);
    return p->failed == 0 && p->passed > 0 ? 0 : 1;
}

/* Origins. */

typedef struct origin_count {
    ms_str name;
    uint32_t files; /* all records of which are of it */
    uint32_t records;
} origin_count;

static origin_count *count_of(origin_count *counts, uint32_t *used, ms_str name)
{
    for (uint32_t i = 0; i < *used; i++) {
        if (ms_str_equals(counts[i].name, name)) {
            return &counts[i];
        }
    }
    MS_ASSERT(*used < ORIGINS_MAX);
    counts[*used] = (origin_count){.name = name};
    return &counts[(*used)++];
}

/* Rows have an origin; the texts of errors are ours. */
static void count_file(const slt_file *file, origin_count *counts, uint32_t *used)
{
    bool is_pure = true;
    for (uint32_t i = 0; i < file->record_count; i++) {
        const slt_record *record = &file->records[i];
        if (record->kind == SLT_QUERY || record->kind == SLT_CAT) {
            count_of(counts, used, record->origin)->records++;
            is_pure = is_pure && ms_str_equals(record->origin, file->origin);
        }
    }
    count_of(counts, used, is_pure ? file->origin : ms_str_lit("several"))->files++;
}

static int count_origins(const plan *p)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    origin_count counts[ORIGINS_MAX];
    uint32_t used = 0;
    bool ok = true;
    for (size_t f = 0; f < p->path_count; f++) {
        slt_file file;
        bool is_read = slt_parse(&arena, p->paths[f], &file);
        ok = ok && is_read;
        if (is_read && !file.is_page) {
            count_file(&file, counts, &used);
        }
    }
    for (uint32_t i = 0; i < used; i++) {
        printf("%-14.*s %4u files %5u records\n", MS_STR_ARG(counts[i].name), counts[i].files,
               counts[i].records);
    }
    ms_arena_release(&arena);
    return ok ? 0 : 1;
}

/* The command line. */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, "1") == 0;
}

static bool take_arguments(plan *p, ms_arena *arena, int argc, char **argv)
{
    bool ok = true;
    for (int i = 1; ok && i < argc; i++) {
        if (strcmp(argv[i], "--tsan") == 0) {
            p->only_parallel = true;
        } else if (strcmp(argv[i], "--canary") == 0) {
            p->is_canary = true;
        } else if (strcmp(argv[i], "--origins") == 0) {
            p->is_count = true;
        } else if (strcmp(argv[i], "--mode") == 0 && i + 1 < argc) {
            p->only_mode = argv[++i];
        } else {
            ok = add_path(p, arena, argv[i]);
        }
    }
    p->is_update = is_set("MS_SLT_UPDATE");
    p->mode_count = slt_modes(is_set("MS_NIGHTLY"), p->modes);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--child") == 0) {
        slt_child(argc - 2, argv + 2);
    }
    unsetenv("BIGTABLE_EMULATOR_HOST"); /* a mode says where the store is */
    plan *p = calloc(1, sizeof *p);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    bool ok = p != NULL && take_arguments(p, &arena, argc, argv);
    const char *tmp = getenv("TMPDIR");
    char tmp_root[256];
    snprintf(tmp_root, sizeof tmp_root, "%s/millstream-slt-XXXXXX", tmp != NULL ? tmp : "/tmp");
    int status = 1;
    if (ok && p->is_count) {
        status = count_origins(p);
    } else if (ok && mkdtemp(tmp_root) != NULL) {
        status = run_plan(p, tmp_root);
        rmdir(tmp_root);
    }
    ms_arena_release(&arena);
    free(p);
    return status;
}
