/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: what a process has once. Threads, I/O pool and data directory are made when first
 * needed; the registry of connectors and formats is filled at open.
 */
#include "engine/engine_priv.h"

#include "base/limits.h"
#include "connector/bigtable/bigtable.h"
#include "connector/blackhole/blackhole.h"
#include "connector/datagen/datagen.h"
#include "connector/filesystem/filesystem.h"
#include "connector/memory/memory.h"
#include "engine/engine_test.h"
#include "format/csv.h"
#include "format/json.h"

#include <stdio.h>

static void fill_registry(ms_engine *engine)
{
    ms_registry *registry = &engine->registry;
    ms_registry_add_connector(registry, &ms_connector_bigtable, &engine->bigtable.service);
    ms_registry_add_connector(registry, &ms_connector_blackhole, NULL);
    ms_registry_add_connector(registry, &ms_connector_datagen, NULL);
    ms_registry_add_connector(registry, &ms_connector_filesystem, NULL);
    ms_registry_add_connector(registry, &ms_connector_print, &engine->print);
    ms_registry_add_format(registry, &ms_format_csv);
    ms_registry_add_format(registry, &ms_format_json);
}

void ms_engine_add_connector(ms_engine *engine, const ms_connector *connector, void *service)
{
    ms_registry_add_connector(&engine->registry, connector, service);
}

void ms_engine_set_make_op(ms_engine *engine,
                           struct ms_op *(*make_op)(const struct ms_pnode *node, ms_arena *arena))
{
    engine->make_op = make_op;
}

ms_rc ms_engine_open(const ms_engine_options *options, ms_engine **engine_out, ms_status *st)
{
    *engine_out = NULL;
    ms_engine_options given = {.struct_bytes = sizeof given};
    size_t bytes = options->struct_bytes < sizeof given ? options->struct_bytes : sizeof given;
    memcpy(&given, options, bytes);
    const char *dir = given.data_dir != NULL ? given.data_dir : MSI_DATA_DIR_DEFAULT;
    if (dir[0] == '\0') {
        ms_status_set(st, MS_INVALID_OPTION, ms_span_none, "the data directory has no name");
        return ms_status_hint(
            st, "Name one, or leave it out: the default is \"" MSI_DATA_DIR_DEFAULT "\".");
    }
    if (strlen(dir) + 64 > MSI_PATH_BYTES) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "the data directory's path is too long");
    }
    ms_engine *engine = ms_mem_calloc(1, sizeof *engine);
    engine->options = given;
    snprintf(engine->data_dir, sizeof engine->data_dir, "%s", dir);
    ms_account_init(&engine->account, NULL, "millstream", NULL, MS_ACCOUNT_UNLIMITED);
    ms_mutex_init(&engine->mutex, MS_RANK_ENGINE);
    engine->print = (ms_print_service){.stdout_is_result = given.stdout_is_result};
    msi_bigtable_init(&engine->bigtable, engine);
    fill_registry(engine);
    *engine_out = engine;
    return MS_OK;
}

void ms_engine_close(ms_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    MS_ASSERT(engine->running == NULL); /* executions are closed before their engine */
    msi_bigtable_close(&engine->bigtable);
    ms_iopool_destroy(engine->iopool);
    ms_workers_destroy(engine->workers);
    ms_lockfile_destroy(engine->lock);
    ms_mutex_release(&engine->mutex);
    ms_account_release(&engine->account);
    ms_mem_free(engine);
}

ms_rc msi_engine_start(ms_engine *engine, ms_status *st)
{
    if (engine->iopool == NULL) {
        MS_TRY(ms_iopool_create(&(ms_iopool_options){0}, &engine->iopool, st));
    }
    if (engine->workers == NULL) {
        ms_workers_options options = {.count = engine->options.workers, .iopool = engine->iopool};
        MS_TRY(ms_workers_create(&options, &engine->workers, st));
    }
    return MS_OK;
}

ms_rc msi_engine_lock_data(ms_engine *engine, ms_status *st)
{
    if (engine->lock != NULL) {
        return MS_OK;
    }
    MS_TRY(ms_dir_create(engine->data_dir, st));
    char path[MSI_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/LOCK", engine->data_dir);
    ms_lockfile_holder holder = {0};
    MS_TRY(ms_lockfile_take(path, ms_str_lit(""), &engine->lock, &holder, st));
    if (engine->lock != NULL) {
        return MS_OK;
    }
    snprintf(engine->lock_endpoint, sizeof engine->lock_endpoint, "%s", holder.note);
    ms_status_set(st, MS_DATA_DIR_IN_USE, ms_span_none, "data directory \"%s\" is in use",
                  engine->data_dir);
    ms_status_detail(st, "process %lld holds it", (long long)holder.pid);
    return ms_status_hint(st, "Wait for it to end, or use another one with --data-dir.");
}

void msi_engine_notice(ms_engine *engine, bool is_essential, const ms_status *notice)
{
    if (engine->options.notice != NULL) {
        engine->options.notice(engine->options.notice_arg, is_essential, notice);
    }
}

void msi_engine_note(ms_engine *engine, bool is_essential, const char *format, ...)
{
    ms_status note = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(note.message, sizeof note.message, format, args);
    va_end(args);
    msi_engine_notice(engine, is_essential, &note);
}

/* Running jobs. */

void msi_engine_add_running(ms_engine *engine, ms_execution *execution)
{
    ms_mutex_lock(&engine->mutex);
    execution->next_running = engine->running;
    engine->running = execution;
    ms_mutex_unlock(&engine->mutex);
    /* Order seq_cst, with the stores in ms_engine_stop and ms_engine_cancel: one of us sees the
     * other, the flag here or the job in the list there. */
    if (atomic_load(&engine->cancel_asked)) {
        ms_job_cancel(execution->job);
    } else if (atomic_load(&engine->stop_asked)) {
        ms_job_stop(execution->job);
    }
}

void msi_engine_remove_running(ms_engine *engine, ms_execution *execution)
{
    ms_mutex_lock(&engine->mutex);
    ms_execution **link = &engine->running;
    while (*link != NULL && *link != execution) {
        link = &(*link)->next_running;
    }
    if (*link == execution) {
        *link = execution->next_running;
    }
    ms_mutex_unlock(&engine->mutex);
}

static void for_each_running(ms_engine *engine, void (*request)(ms_job *job))
{
    ms_mutex_lock(&engine->mutex);
    for (ms_execution *at = engine->running; at != NULL; at = at->next_running) {
        request(at->job);
    }
    ms_mutex_unlock(&engine->mutex);
}

void ms_engine_stop(ms_engine *engine)
{
    atomic_store(&engine->stop_asked, true);
    for_each_running(engine, ms_job_stop);
}

void ms_engine_cancel(ms_engine *engine)
{
    atomic_store(&engine->cancel_asked, true);
    for_each_running(engine, ms_job_cancel);
}
