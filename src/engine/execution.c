/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One statement under way: starting its job, reading its rows, waiting for its end.
 */
#include "engine/engine_priv.h"

#include "base/env.h"
#include "base/log.h"
#include "engine/engine_test.h"
#include "type/text.h"

#include <inttypes.h>

#define CELL_TEXT_MAX (512u << 20)

/* Starting. */

static ms_rc prepare_face(const ms_pnode *node, ms_status *st)
{
    if (node->kind == MS_PNODE_SOURCE) {
        const ms_scan *scan = node->u.source.scan;
        return scan->klass->prepare != NULL ? scan->klass->prepare(scan, st) : MS_OK;
    }
    if (node->kind == MS_PNODE_SINK) {
        const ms_sink *sink = node->u.sink.sink;
        return sink->klass->prepare != NULL ? sink->klass->prepare(sink, st) : MS_OK;
    }
    return MS_OK;
}

static ms_rc prepare_faces(const ms_plan *plan, ms_status *st)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const ms_pnode *node = plan->nodes[i];
        if (prepare_face(node, st) != MS_OK) {
            /* What goes wrong at a table is shown at the table. */
            st->span = st->span.end == 0 ? node->span : st->span;
            return st->code;
        }
    }
    return MS_OK;
}

static ms_job_restore restore_mode(ms_resume resume)
{
    switch (resume) {
    case MS_RESUME_ASK:
        return MS_JOB_ASK;
    case MS_RESUME_YES:
        return MS_JOB_RESUME;
    case MS_RESUME_FRESH:
        return MS_JOB_FRESH;
    }
    return MS_JOB_ASK;
}

/* All but checkpoint_dir. */
static ms_job_options job_options(const ms_execution *execution, ms_arena *arena)
{
    const ms_script *script = execution->script;
    const ms_settings *settings = script->session->settings;
    return (ms_job_options){
        .name = msi_job_name(script, execution->statement, arena),
        .batch_rows = (uint32_t)ms_settings_value(settings, MS_SETTING_BATCH_ROWS).i64,
        .ring_slots = (uint32_t)ms_settings_value(settings, MS_SETTING_RING_SLOTS).i64,
        .pool_batches = (uint32_t)ms_settings_value(settings, MS_SETTING_RECYCLE_BATCHES).i64,
        .checkpoint_interval_ms = ms_settings_value(settings, MS_SETTING_CHECKPOINT_INTERVAL).i64,
        .restore = restore_mode(script->session->resume),
        .seed = ms_env_next_seed(),
        .coalesce = ms_settings_value(settings, MS_SETTING_COALESCE).i64 == 0,
        .account = &script->session->engine->account,
        .memory_bytes_max = (uint64_t)ms_settings_value(settings, MS_SETTING_MEMORY_LIMIT).i64,
        .make_op = script->session->engine->make_op,
    };
}

/* The collector of a query; NULL for plans that end in sinks. */
static const ms_pnode *collector(const ms_plan *plan)
{
    const ms_pnode *root = plan->roots[0];
    return root->kind == MS_PNODE_COLLECT ? root : NULL;
}

/* For operators: what a job went on from, and what became of it. */
static void log_job(const ms_execution *execution, const char *event)
{
    static const char *const states[MS_JOB_STATE_COUNT] = {
        "created", "running", "finished", "stopped", "canceled", "failed",
    };
    if (!ms_log_is_on(MS_LOG_INFO)) {
        return;
    }
    ms_job_totals totals;
    ms_job_totals_now(execution->job, &totals);
    ms_log(MS_LOG_INFO, "job", event,
           "job=\"%.*s\" state=%s checkpoint=%" PRIu64 " checkpoints=%" PRIu64
           " rows_before=%" PRIu64 " rows_read=%" PRIu64 " rows_written=%" PRIu64
           " restored_entries=%" PRIu64 " restored_splits=%" PRIu64,
           MS_STR_ARG(execution->job_name), states[ms_job_state_now(execution->job)],
           totals.checkpoint_id, totals.checkpoints_completed, totals.rows_read_before,
           totals.rows_read, totals.rows_written, totals.restored_entries, totals.restored_splits);
}

ms_rc msi_execution_start(ms_execution *execution, ms_status *st)
{
    ms_engine *engine = execution->script->session->engine;
    const ms_plan *plan = execution->plan;
    MS_TRY(msi_engine_start(engine, st));
    MS_TRY(prepare_faces(plan, st));
    ms_job_options options = job_options(execution, &execution->arena);
    MS_TRY(msi_job_dir(execution->script, execution->statement, &execution->arena,
                       &options.checkpoint_dir, &options.checkpoint_lock, st));
    MS_TRY(ms_job_create(engine->workers, plan, &options, &execution->job, st));
    execution->job_name = options.name;
    log_job(execution, "started");
    const ms_pnode *root = collector(plan);
    if (root != NULL) {
        execution->has_rows = true;
        execution->schema = root->schema;
        execution->is_changelog = execution->script->session->changelog || !plan->is_bounded;
        bool has_changes = root->changelog != MS_CHANGELOG_INSERT;
        if (has_changes && !execution->is_changelog) {
            execution->fold = msi_fold_create(&execution->schema, &engine->account);
        }
    }
    msi_engine_add_running(engine, execution);
    return ms_job_start(execution->job, st);
}

void ms_execution_close(ms_execution *execution)
{
    if (execution == NULL) {
        return;
    }
    if (execution->job != NULL) {
        msi_engine_remove_running(execution->script->session->engine, execution);
        log_job(execution, "ended");
    }
    if (execution->held != NULL && execution->fold == NULL && !execution->is_listing) {
        ms_batch_drop(execution->held);
    }
    ms_job_destroy(execution->job);
    msi_fold_destroy(execution->fold);
    msi_listing_release(&execution->listing);
    ms_arena_release(&execution->cells);
    ms_arena_release(&execution->arena);
    ms_mem_free(execution);
}

/* Inspection. */

bool ms_execution_has_rows(const ms_execution *execution)
{
    return execution->has_rows;
}

bool ms_execution_is_bounded(const ms_execution *execution)
{
    return execution->job == NULL || execution->plan->is_bounded;
}

bool ms_execution_is_job(const ms_execution *execution)
{
    return execution->job != NULL;
}

ms_job *ms_execution_job(ms_execution *execution)
{
    return execution->job;
}

ms_str ms_execution_column_name(const ms_execution *execution, uint32_t column)
{
    MS_ASSERT(column < execution->schema.column_count);
    return execution->schema.columns[column].name;
}

bool ms_execution_was_stopped(const ms_execution *execution)
{
    return execution->job != NULL && ms_job_state_now(execution->job) == MS_JOB_STATE_STOPPED;
}

bool ms_execution_can_resume(const ms_execution *execution)
{
    if (execution->is_skipped) {
        return true;
    }
    if (execution->job == NULL || !msi_job_has_name(execution->script)) {
        return false;
    }
    ms_job_totals totals;
    ms_job_totals_now(execution->job, &totals);
    return totals.checkpoint_id > 0;
}

void ms_execution_stats(const ms_execution *execution, ms_job_stats *stats_out)
{
    ms_job_stats stats = {.struct_bytes = stats_out->struct_bytes};
    if (execution->job != NULL) {
        ms_job_totals totals;
        ms_job_totals_now(execution->job, &totals);
        stats.rows_read = totals.rows_read;
        stats.rows_written = totals.rows_written;
        stats.checkpoints = totals.checkpoints_completed;
        stats.checkpoint_id = totals.checkpoint_id;
        stats.restored_entries = totals.restored_entries + totals.restored_splits;
        stats.subtasks_with_rows = totals.subtasks_with_rows;
    }
    size_t bytes = stats_out->struct_bytes < sizeof stats ? stats_out->struct_bytes : sizeof stats;
    memcpy(stats_out, &stats, bytes);
}

/* Reading rows. */

static void give_back(ms_execution *execution)
{
    if (execution->held != NULL && execution->fold == NULL && !execution->is_listing) {
        ms_batch_drop(execution->held);
    }
    execution->held = NULL;
    ms_arena_reset(&execution->cells);
}

/* Takes all changes of the job into the fold. */
static ms_rc fold_all(ms_execution *execution, int64_t timeout_ms, ms_status *st)
{
    for (;;) {
        ms_batch *batch = NULL;
        MS_TRY(ms_job_next(execution->job, timeout_ms, &batch, st));
        if (batch == NULL) {
            return MS_OK;
        }
        ms_rc rc = msi_fold_add(execution->fold, batch, st);
        ms_batch_drop(batch);
        MS_TRY(rc);
    }
}

/*
 * Changes up to a STOP are no result: what they fold to is true of a part of the input only, and
 * looks like the answer.
 */
static bool folds_to_nothing(const ms_execution *execution)
{
    return execution->fold != NULL && ms_execution_was_stopped(execution);
}

static ms_rc next_batch(ms_execution *execution, int64_t timeout_ms, ms_batch **batch_out,
                        ms_status *st)
{
    *batch_out = NULL;
    if (execution->is_listing) {
        bool has_rows = !execution->listing.is_taken && execution->listing.batch->rows > 0;
        *batch_out = has_rows ? execution->listing.batch : NULL;
        execution->listing.is_taken = true;
        return MS_OK;
    }
    if (execution->job == NULL) {
        return MS_OK;
    }
    if (execution->fold != NULL) {
        MS_TRY(fold_all(execution, timeout_ms, st));
        return folds_to_nothing(execution) ? MS_OK : msi_fold_next(execution->fold, batch_out, st);
    }
    return ms_job_next(execution->job, timeout_ms, batch_out, st);
}

ms_rc ms_execution_next(ms_execution *execution, int64_t timeout_ms, ms_rows *rows_out,
                        ms_status *st)
{
    give_back(execution);
    rows_out->count = 0;
    rows_out->column_count = execution->schema.column_count;
    rows_out->batch = NULL;
    MS_TRY(next_batch(execution, timeout_ms, &execution->held, st));
    if (execution->held != NULL) {
        rows_out->count = ms_batch_live(execution->held);
        rows_out->batch = execution->held;
    }
    return MS_OK;
}

int ms_rows_kind(const ms_rows *rows, uint32_t row)
{
    const ms_batch *batch = rows->batch;
    MS_ASSERT(row < rows->count);
    return (int)ms_batch_kind(batch, ms_batch_row(batch, row));
}

/* The text of a value without a C type of its own, in the arena of the current rows. */
static ms_cell text_cell(ms_execution *execution, const ms_vec *vec, uint32_t row)
{
    ms_buf buf;
    ms_status st = {0};
    ms_buf_init(&buf, CELL_TEXT_MAX);
    ms_cell cell = {.kind = MS_VALUE_BYTES};
    if (ms_text_vec(&buf, vec, row, MS_TEXT_CAST, ms_zone_utc(), &st) == MS_OK) {
        cell.str = ms_arena_copy_str(&execution->cells, ms_buf_view(&buf));
    }
    ms_buf_release(&buf);
    return cell;
}

ms_cell ms_rows_cell(ms_execution *execution, const ms_rows *rows, uint32_t row, uint32_t column)
{
    const ms_batch *batch = rows->batch;
    MS_ASSERT(row < rows->count && column < batch->column_count);
    const ms_vec *vec = &batch->columns[column];
    uint32_t at = ms_batch_row(batch, row);
    if (ms_vec_is_null(vec, at)) {
        return (ms_cell){.kind = MS_VALUE_NULL};
    }
    uint32_t pos = ms_vec_pos(vec, at);
    switch (vec->phys) {
    case MS_PHYS_BOOL:
        return (ms_cell){.kind = MS_VALUE_BOOL, .i64 = MS_VEC_DATA(vec, uint8_t)[pos] != 0};
    case MS_PHYS_I8:
        return (ms_cell){.kind = MS_VALUE_INT, .i64 = MS_VEC_DATA(vec, int8_t)[pos]};
    case MS_PHYS_I16:
        return (ms_cell){.kind = MS_VALUE_INT, .i64 = MS_VEC_DATA(vec, int16_t)[pos]};
    case MS_PHYS_I32:
        return (ms_cell){.kind = MS_VALUE_INT, .i64 = MS_VEC_DATA(vec, int32_t)[pos]};
    case MS_PHYS_I64:
        if (vec->type->kind == MS_TYPE_DECIMAL) {
            break;
        }
        return (ms_cell){.kind = MS_VALUE_INT, .i64 = MS_VEC_DATA(vec, int64_t)[pos]};
    case MS_PHYS_F32:
        return (ms_cell){.kind = MS_VALUE_DOUBLE, .f64 = (double)MS_VEC_DATA(vec, float)[pos]};
    case MS_PHYS_F64:
        return (ms_cell){.kind = MS_VALUE_DOUBLE, .f64 = MS_VEC_DATA(vec, double)[pos]};
    case MS_PHYS_STR:
        return (ms_cell){.kind = MS_VALUE_BYTES,
                         .str = ms_view_str(&MS_VEC_DATA(vec, ms_view)[pos])};
    case MS_PHYS_NONE:
    case MS_PHYS_I128:
    case MS_PHYS_TS16:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    return text_cell(execution, vec, at);
}

/* Printing. */

static ms_rc print_rows(ms_execution *execution, msi_renderer *renderer, ms_status *st)
{
    for (;;) {
        give_back(execution);
        MS_TRY(next_batch(execution, MS_JOB_FOREVER, &execution->held, st));
        if (execution->held == NULL) {
            return folds_to_nothing(execution) ? MS_OK : msi_renderer_end(renderer, st);
        }
        MS_TRY(msi_renderer_batch(renderer, execution->held, st));
    }
}

ms_rc ms_execution_print(ms_execution *execution, const ms_print_options *options, ms_status *st)
{
    const ms_session *session = execution->script->session;
    ms_option_value width = ms_settings_value(session->settings, MS_SETTING_RESULT_MAX_WIDTH);
    msi_render_options render = {
        .format = options->format,
        .changelog = execution->is_changelog && !execution->is_listing,
        .is_unbounded = !ms_execution_is_bounded(execution),
        .is_listing = execution->is_listing,
        .max_width = (uint32_t)width.i64,
        .account = &session->engine->account,
        .write = options->write,
        .arg = options->arg,
    };
    ms_str zone = msi_session_zone(session, &execution->arena);
    MS_TRY(ms_zone_make(&execution->arena, zone, &render.zone, st));
    msi_renderer *renderer = msi_renderer_create(&render, &execution->schema);
    ms_rc rc = print_rows(execution, renderer, st);
    msi_renderer_destroy(renderer);
    return rc;
}

ms_rc ms_execution_wait(ms_execution *execution, int64_t timeout_ms, ms_status *st)
{
    return execution->job == NULL ? MS_OK : ms_job_wait(execution->job, timeout_ms, st);
}
