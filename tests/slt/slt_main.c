/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slt [--tsan] [--mode NAME] FILE.slt|DIR ...
 *
 * Runs golden files in all modes, which cover the pairs of their settings, and prints a line of
 * counts. MS_SLT_UPDATE=1 writes what the first mode gives into the files instead.
 */
#include "slt.h"

#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 1000u

static const slt_mode modes[] = {
    {"default", 2048, 1, 64, 0, false, true},
    {"rows 1, parallel 2, rings 2", 1, 2, 2, 2, false, true},
    {"rows 7, batch, rules off", 7, 1, 2, 2, true, false},
    {"parallel 2, rings 2, batch", 2048, 2, 2, 2, true, true},
    {"rows 7, parallel 2, rules off", 7, 2, 64, 0, false, false},
    {"rows 1, batch", 1, 1, 64, 0, true, true},
    {"parallel 4, rings 2, rules off", 2048, 4, 2, 2, false, false},
    {"rows 7, parallel 4, batch", 7, 4, 64, 0, true, true},
    {"rows 1, parallel 4, batch, rules off", 1, 4, 2, 2, true, false},
};
#define MODE_COUNT (sizeof modes / sizeof *modes)

typedef struct plan {
    const char *paths[FILES_MAX];
    size_t path_count;
    const char *only_mode;
    bool only_parallel; /* two subtasks, for the thread sanitizer */
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

static bool runs_in(const plan *p, const slt_file *file, const slt_mode *mode)
{
    if (p->only_mode != NULL && strcmp(p->only_mode, mode->name) != 0) {
        return false;
    }
    if (p->only_parallel && (mode->parallelism != 2 || file->compare_rows)) {
        return false;
    }
    if (mode->is_batch ? file->exempt_batch : file->exempt_streaming) {
        return false;
    }
    return mode->parallelism == 1 || !(file->exempt_parallel || file->compare_rows);
}

static int run_plan(const plan *p, const char *tmp_root, bool update)
{
    unsigned passed = 0;
    unsigned failed = 0;
    for (size_t f = 0; f < p->path_count; f++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        slt_file file;
        if (!slt_parse(&arena, p->paths[f], &file)) {
            failed++;
        } else if (update && ms_str_ends_with(ms_str_cstr(p->paths[f]), ms_str_lit(".slt"))) {
            bool ok = slt_update(&file, &modes[file.exempt_streaming ? 5 : 0], tmp_root);
            *(ok ? &passed : &failed) += 1;
        } else {
            for (size_t m = 0; m < MODE_COUNT; m++) {
                if (runs_in(p, &file, &modes[m])) {
                    bool ok = slt_run(&file, &modes[m], tmp_root) == 0;
                    *(ok ? &passed : &failed) += 1;
                }
            }
        }
        ms_arena_release(&arena);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    plan *p = calloc(1, sizeof *p);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    bool ok = p != NULL;
    for (int i = 1; ok && i < argc; i++) {
        if (strcmp(argv[i], "--tsan") == 0) {
            p->only_parallel = true;
        } else if (strcmp(argv[i], "--mode") == 0 && i + 1 < argc) {
            p->only_mode = argv[++i];
        } else {
            ok = add_path(p, &arena, argv[i]);
        }
    }
    char tmp_root[] = "/tmp/millstream-slt-XXXXXX";
    int status = 1;
    if (ok && mkdtemp(tmp_root) != NULL) {
        const char *update = getenv("MS_SLT_UPDATE");
        status = run_plan(p, tmp_root, update != NULL && strcmp(update, "1") == 0);
        rmdir(tmp_root);
    }
    ms_arena_release(&arena);
    free(p);
    return status;
}
