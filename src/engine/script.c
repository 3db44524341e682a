/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts: text to statements, and one statement at a time into an execution.
 */
#include "engine/engine_priv.h"

#include "bind/bind.h"
#include "opt/opt.h"

ms_rc ms_script_open(ms_session *session, ms_str name, ms_str text, ms_script **script_out,
                     ms_status *st)
{
    ms_script *script = ms_mem_calloc(1, sizeof *script);
    script->session = session;
    script->id = ++session->script_count;
    ms_arena_init(&script->arena, 0);
    script->locks = ms_arena_new(&script->arena, msi_job_locks);
    *script->locks = (msi_job_locks){.arena = &script->arena};
    *script_out = script;
    ms_str own_name = ms_arena_copy_str(&script->arena, name);
    if (text.bytes > MS_LIMIT_SCRIPT_BYTES) {
        return ms_status_set(st, MS_STATEMENT_TOO_LARGE, ms_span_none,
                             "the script has %zu bytes, more than %u", text.bytes,
                             MS_LIMIT_SCRIPT_BYTES);
    }
    ms_str own_text = ms_arena_copy_str(&script->arena, text);
    MS_TRY(ms_source_init(&script->source, own_name, own_text, st));
    return ms_source_substitute(&script->source, session->variables, session->variable_count,
                                &script->arena, st);
}

void ms_script_close(ms_script *script)
{
    if (script != NULL) {
        msi_job_locks_release(script->locks);
        ms_arena_release(&script->arena);
        ms_mem_free(script);
    }
}

const ms_source *msi_script_source(const ms_script *script)
{
    return &script->source;
}

bool msi_is_insert(const ms_ast_stmt *stmt)
{
    return stmt->kind == MS_AST_INSERT || stmt->kind == MS_AST_STATEMENT_SET;
}

bool msi_is_job(const ms_ast_stmt *stmt)
{
    return stmt->kind == MS_AST_QUERY_STMT || msi_is_insert(stmt);
}

ms_rc ms_script_parse(ms_script *script, ms_status *st)
{
    MS_TRY(ms_sql_parse_script(&script->source, &script->arena, &script->ast, st));
    for (uint32_t i = 0; i < script->ast->stmt_count; i++) {
        script->job_count += msi_is_insert(script->ast->stmts[i]) ? 1 : 0;
    }
    return MS_OK;
}

uint32_t ms_script_statement_count(const ms_script *script)
{
    return script->ast != NULL ? script->ast->stmt_count : 0;
}

ms_span ms_script_statement_span(const ms_script *script, uint32_t statement)
{
    return statement < ms_script_statement_count(script) ? script->ast->stmts[statement]->span
                                                         : ms_span_none;
}

static ms_execution *execution_create(ms_script *script, uint32_t statement)
{
    ms_execution *execution = ms_mem_calloc(1, sizeof *execution);
    execution->script = script;
    execution->statement = statement;
    ms_arena_init(&execution->arena, 0);
    ms_arena_init(&execution->cells, 0);
    return execution;
}

static uint32_t job_parallelism(const ms_settings *settings)
{
    ms_option_value given = ms_settings_value(settings, MS_SETTING_PARALLELISM);
    return given.has_value ? (uint32_t)given.i64 : (uint32_t)ms_thread_cpu_count();
}

static ms_opt_settings opt_settings(const ms_session *session, ms_arena *arena)
{
    const ms_settings *settings = session->settings;
    return (ms_opt_settings){
        .parallelism = job_parallelism(settings),
        .parallelism_is_explicit = ms_settings_value(settings, MS_SETTING_PARALLELISM).is_set,
        .overflow_is_error = ms_settings_value(settings, MS_SETTING_OVERFLOW).i64 == 1,
        .coalesce = ms_settings_value(settings, MS_SETTING_COALESCE).i64 == 0,
        .optimize = ms_settings_value(settings, MS_SETTING_OPTIMIZER).i64 != 0,
        .result_is_changelog = session->changelog,
        .watermark_interval_ms = ms_settings_value(settings, MS_SETTING_WATERMARK_INTERVAL).i64,
        .local_time_zone = msi_session_zone(session, arena),
    };
}

ms_rc msi_plan_statement(ms_script *script, const ms_ast_stmt *stmt, ms_arena *stmt_arena,
                         ms_execution *execution, const ms_lplan **logical_out, ms_status *st)
{
    ms_session *session = script->session;
    session->engine->bigtable.session = session;
    bool is_batch = ms_settings_value(session->settings, MS_SETTING_RUNTIME_MODE).i64 == 1;
    ms_bind_env bind_env = {
        .arena = stmt_arena,
        .catalog = session->catalog,
        .is_streaming = !is_batch,
        .source_id = script->id,
    };
    if (stmt->kind == MS_AST_EXPLAIN) {
        MS_TRY(ms_bind_explain(&bind_env, ms_ast_explain_of(stmt), logical_out, st));
    } else {
        MS_TRY(ms_bind_statement(&bind_env, stmt, logical_out, st));
    }
    ms_opt_env opt_env = {
        .arena = stmt_arena,
        .job_arena = &execution->arena,
        .registry = &session->engine->registry,
        .sql = ms_source_slice(&script->source, stmt->span),
        .source_id = script->id,
        .settings = opt_settings(session, stmt_arena),
    };
    return ms_opt_plan(&opt_env, *logical_out, &execution->plan, st);
}

static ms_rc execute_job(ms_script *script, const ms_ast_stmt *stmt, bool explain_only,
                         ms_arena *stmt_arena, ms_execution *execution, ms_status *st)
{
    bool is_explain = explain_only || stmt->kind == MS_AST_EXPLAIN;
    if (!is_explain && msi_is_insert(stmt)) {
        MS_TRY(msi_script_begin(script, execution->statement, st));
        MS_TRY(msi_job_is_complete(script, execution->statement, &execution->is_skipped, st));
        if (execution->is_skipped) {
            return MS_OK;
        }
    }
    const ms_lplan *logical = NULL;
    MS_TRY(msi_plan_statement(script, stmt, stmt_arena, execution, &logical, st));
    if (!is_explain) {
        MS_TRY(msi_is_insert(stmt) ? msi_job_begin(script, execution->statement, st) : MS_OK);
        return msi_execution_start(execution, st);
    }
    bool changelog_mode =
        explain_only || (stmt->kind == MS_AST_EXPLAIN &&
                         (ms_ast_explain_of(stmt)->details & MS_AST_EXPLAIN_CHANGELOG_MODE) != 0);
    return msi_execute_explain(execution, logical, changelog_mode, st);
}

ms_rc ms_script_execute(ms_script *script, uint32_t statement, bool explain_only,
                        ms_execution **execution_out, ms_status *st)
{
    *execution_out = NULL;
    if (statement >= ms_script_statement_count(script)) {
        return ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none,
                             "the script has no statement %u; it has %u", statement,
                             ms_script_statement_count(script));
    }
    const ms_ast_stmt *stmt = script->ast->stmts[statement];
    ms_execution *execution = execution_create(script, statement);
    ms_rc rc;
    if (msi_is_job(stmt) || stmt->kind == MS_AST_EXPLAIN) {
        ms_arena stmt_arena;
        ms_arena_init(&stmt_arena, 0);
        rc = execute_job(script, stmt, explain_only, &stmt_arena, execution, st);
        ms_arena_release(&stmt_arena);
    } else {
        rc = msi_execute_utility(script, stmt, execution, st);
    }
    if (rc != MS_OK) {
        ms_execution_close(execution);
        return rc;
    }
    *execution_out = execution;
    return MS_OK;
}

/* Planning without running. */

/* DDL, SET and the like are done; others leave their plan in the execution. */
static ms_rc plan_only(ms_script *script, uint32_t statement, ms_execution *execution,
                       ms_status *st)
{
    const ms_ast_stmt *stmt = script->ast->stmts[statement];
    if (!msi_is_job(stmt) && stmt->kind != MS_AST_EXPLAIN) {
        return msi_execute_utility(script, stmt, execution, st);
    }
    const ms_lplan *logical = NULL;
    ms_arena stmt_arena;
    ms_arena_init(&stmt_arena, 0);
    ms_rc rc = msi_plan_statement(script, stmt, &stmt_arena, execution, &logical, st);
    ms_arena_release(&stmt_arena);
    return rc;
}

static void drop_warning(void *arg, uint32_t statement, const ms_status *st)
{
    (void)arg;
    (void)statement;
    (void)st; /* it is told when the statement is executed */
}

static bool can_plan(ms_script *script, uint32_t statement)
{
    ms_status unused = {0};
    ms_execution *execution = execution_create(script, statement);
    ms_rc rc = plan_only(script, statement, execution, &unused);
    ms_execution_close(execution);
    return rc == MS_OK;
}

ms_rc msi_script_look_ahead(ms_script *script, uint32_t from,
                            ms_rc (*visit)(void *arg, const ms_script *ahead, uint32_t statement,
                                           ms_status *st),
                            void *arg, ms_status *st)
{
    ms_session session = *script->session;
    session.catalog = ms_catalog_copy(session.catalog);
    session.settings = ms_settings_copy(session.settings);
    ms_script ahead = *script;
    ahead.session = &session;
    ahead.report = drop_warning;
    ms_rc rc = MS_OK;
    for (uint32_t i = from; rc == MS_OK && i < ahead.ast->stmt_count; i++) {
        if (!can_plan(&ahead, i)) {
            break;
        }
        rc = msi_is_insert(ahead.ast->stmts[i]) ? visit(arg, &ahead, i, st) : MS_OK;
    }
    ms_settings_destroy(session.settings);
    ms_catalog_destroy(session.catalog);
    session.engine->bigtable.session = script->session;
    return rc;
}

/* Checking. */

void msi_script_warn(const ms_script *script, uint32_t statement, const ms_status *warning)
{
    if (script->report != NULL) {
        script->report(script->report_arg, statement, warning);
    } else {
        msi_engine_notice(script->session->engine, false, warning);
    }
}

/* Warns of what a Flink cluster would not take. */
static void check_portable(const ms_script *script, uint32_t statement, const ms_plan *plan)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const ms_pnode *node = plan->nodes[i];
        bool is_source = node->kind == MS_PNODE_SOURCE;
        const char *what = is_source                     ? node->u.source.scan->not_in_flink
                           : node->kind == MS_PNODE_SINK ? node->u.sink.sink->not_in_flink
                                                         : NULL;
        if (what != NULL) {
            ms_str table = is_source ? node->u.source.table : node->u.sink.table;
            ms_status warning = {0};
            ms_status_set(&warning, MS_NOT_IN_FLINK, node->span,
                          "table \"%.*s\" uses %s, which Flink does not have", MS_STR_ARG(table),
                          what);
            msi_script_warn(script, statement, &warning);
        }
    }
}

static void check_reachable(const ms_script *script, uint32_t statement, const ms_plan *plan)
{
    const ms_ast_stmt *stmt = script->ast->stmts[statement];
    bool is_last = statement + 1 == script->ast->stmt_count;
    if (stmt->kind == MS_AST_QUERY_STMT && !is_last && !plan->is_bounded) {
        ms_status warning = {0};
        ms_status_set(&warning, MS_UNREACHABLE_STATEMENT, stmt->span,
                      "this query is unbounded, so the statements after it do not run");
        ms_status_hint(&warning, "Make it the last statement.");
        msi_script_warn(script, statement, &warning);
    }
}

static ms_rc check_one(ms_script *script, uint32_t statement, ms_status *st)
{
    ms_execution *execution = execution_create(script, statement);
    ms_rc rc = plan_only(script, statement, execution, st);
    if (rc == MS_OK && execution->plan != NULL) {
        check_portable(script, statement, execution->plan);
        check_reachable(script, statement, execution->plan);
    }
    ms_execution_close(execution);
    return rc;
}

uint32_t ms_script_check(ms_script *script,
                         void (*report)(void *arg, uint32_t statement, const ms_status *st),
                         void *arg)
{
    uint32_t errors = 0;
    script->report = report;
    script->report_arg = arg;
    for (uint32_t i = 0; i < ms_script_statement_count(script); i++) {
        ms_status st = {0};
        if (check_one(script, i, &st) != MS_OK) {
            errors++;
            report(arg, i, &st);
        }
    }
    script->report = NULL;
    return errors;
}
