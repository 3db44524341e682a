/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A planner for tests of plan/, bind/ and opt/: a catalog, connectors made up for the purpose, and
 * the way from a script to plans.
 *
 *     planner p;
 *     planner_open(&p);
 *     planner_run(&p, "CREATE TABLE t (a INT) WITH ('connector' = 'fake'); SELECT a FROM t");
 *     assert_string_equal(planner_explain(&p), "Collect(...)\n...");
 *
 * Connectors: `fake` takes projections, filters and limits; `plain` takes nothing; `reads` has no
 * sink, `writes` no scan. Options of all: bounded, ordered, parallelism, changelog (I, retract),
 * push (exact, inexact, none), takes (I, upsert, all), guarantee (exactly-once). A fake scan takes
 * conjuncts of the shape column < constant.
 */
#ifndef MS_TESTS_UNIT_OPT_PLANNER_H
#define MS_TESTS_UNIT_OPT_PLANNER_H

#include "testing.h"

#include "bind/bind.h"
#include "expr/build.h"
#include "opt/opt.h"
#include "plan/explain.h"
#include "sql/parse.h"

typedef struct planner {
    ms_arena arena; /* of statements: kept until the end, for looking at plans */
    ms_arena job_arena;
    ms_catalog *catalog;
    ms_registry registry;
    ms_opt_settings settings;
    bool is_streaming;
    ms_source source;
    ms_status st;
    const ms_lplan *logical; /* of the last statement that has a plan */
    const ms_plan *plan;
    bool bind_only;
    uint64_t source_id; /* of the scripts to come */
} planner;

/* Connectors. */

static const ms_option_desc fake_options[] = {
    {.key = "connector", .kind = MS_OPT_STRING, .required = true},
    {.key = "bounded", .kind = MS_OPT_BOOL, .fallback = "true"},
    {.key = "ordered", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "parallelism", .kind = MS_OPT_I64, .min = 0, .max = 128, .fallback = "0"},
    {.key = "changelog", .kind = MS_OPT_ENUM, .values = "I|retract", .fallback = "I"},
    {.key = "push", .kind = MS_OPT_ENUM, .values = "exact|inexact|none", .fallback = "exact"},
    {.key = "takes", .kind = MS_OPT_ENUM, .values = "I|upsert|all", .fallback = "all"},
    {.key = "guarantee",
     .kind = MS_OPT_ENUM,
     .values = "at-least-once|exactly-once",
     .fallback = "at-least-once"},
};
#define FAKE_OPTIONS (uint32_t)(sizeof(fake_options) / sizeof(fake_options[0]))

typedef struct fake_scan {
    ms_scan head;
    ms_arena *arena;
    ms_schema stored;
    int64_t push;
    ms_str filters;
    uint64_t limit;
    bool is_projected;
} fake_scan;

typedef struct fake_sink {
    ms_sink head;
    ms_changelog takes;
    ms_str table;
    uint32_t target_count;
} fake_sink;

static inline ms_rc fake_option(const ms_table *table, const char *key, int64_t *i64_out,
                                ms_status *st)
{
    ms_option_value value;
    MS_TRY(ms_option_get(&table->options, fake_options, FAKE_OPTIONS, key, &value, st));
    *i64_out = value.i64;
    return MS_OK;
}

static inline ms_rc fake_project(ms_scan *scan, const uint32_t *columns, uint32_t count,
                                 ms_status *st)
{
    (void)st;
    fake_scan *self = (fake_scan *)scan;
    ms_field *fields = ms_arena_array(self->arena, ms_field, count);
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = self->stored.columns[columns[i]];
    }
    self->head.output = (ms_schema){count, fields};
    self->is_projected = true;
    return MS_OK;
}

static inline bool fake_knows(const ms_expr *conjunct)
{
    static const char *const names[] = {"<", "<=", "=", ">=", ">"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (ms_expr_is_call_of(conjunct, names[i])) {
            return conjunct->children[0]->kind == MS_EXPR_COLUMN &&
                   conjunct->children[1]->kind == MS_EXPR_CONST;
        }
    }
    return false;
}

static inline ms_rc fake_filter(ms_scan *scan, const ms_expr *const *conjuncts, uint32_t count,
                                bool *exact_out, ms_status *st)
{
    (void)st;
    fake_scan *self = (fake_scan *)scan;
    for (uint32_t i = 0; i < count; i++) {
        bool is_used = self->push != 2 && fake_knows(conjuncts[i]);
        exact_out[i] = is_used && self->push == 0;
        if (is_used) {
            ms_str text = ms_expr_text(self->arena, conjuncts[i], &self->stored);
            self->filters = ms_arena_format(self->arena, "%.*s%s%.*s", MS_STR_ARG(self->filters),
                                            self->filters.bytes > 0 ? ", " : "", MS_STR_ARG(text));
        }
    }
    return MS_OK;
}

static inline void fake_limit(ms_scan *scan, uint64_t rows)
{
    ((fake_scan *)scan)->limit = rows;
}

static inline ms_rc fake_scan_describe(const ms_scan *scan, ms_buf *out, ms_status *st)
{
    const fake_scan *self = (const fake_scan *)scan;
    const char *separator = "";
    if (self->is_projected) {
        MS_TRY(ms_buf_append(out, ms_str_lit("projected"), st));
        separator = ", ";
    }
    if (self->filters.bytes > 0) {
        MS_TRY(ms_buf_format(out, st, "%sfilter=[%.*s]", separator, MS_STR_ARG(self->filters)));
        separator = ", ";
    }
    if (self->limit > 0) {
        MS_TRY(
            ms_buf_format(out, st, "%slimit=[%llu]", separator, (unsigned long long)self->limit));
    }
    return MS_OK;
}

static const ms_scan_class fake_scan_class = {.push_projection = fake_project,
                                              .push_filters = fake_filter,
                                              .push_limit = fake_limit,
                                              .describe = fake_scan_describe};
static const ms_scan_class plain_scan_class = {0};

static inline ms_rc scan_create(const ms_scan_class *klass, const ms_connector *connector,
                                const ms_table *table, ms_plan_env *env, ms_scan **scan_out,
                                ms_status *st)
{
    char owner[64];
    snprintf(owner, sizeof(owner), "connector \"%s\"", connector->name);
    MS_TRY(ms_options_check(&table->options, fake_options, FAKE_OPTIONS, NULL, NULL, owner, st));
    fake_scan *self = ms_arena_new(env->arena, fake_scan);
    int64_t bounded = 0;
    int64_t ordered = 0;
    int64_t parallelism = 0;
    int64_t changelog = 0;
    MS_TRY(fake_option(table, "bounded", &bounded, st));
    MS_TRY(fake_option(table, "ordered", &ordered, st));
    MS_TRY(fake_option(table, "parallelism", &parallelism, st));
    MS_TRY(fake_option(table, "changelog", &changelog, st));
    MS_TRY(fake_option(table, "push", &self->push, st));
    self->arena = env->arena;
    self->stored = ms_table_stored_schema(env->arena, table);
    self->head = (ms_scan){.klass = klass,
                           .output = self->stored,
                           .is_bounded = bounded != 0,
                           .keeps_order = ordered != 0,
                           .parallelism = (uint32_t)parallelism,
                           .changelog = changelog == 0 ? MS_CHANGELOG_INSERT : MS_CHANGELOG_ALL};
    *scan_out = &self->head;
    return MS_OK;
}

static inline ms_rc fake_scan_create(const ms_connector *connector, const ms_table *table,
                                     ms_plan_env *env, ms_scan **scan_out, ms_status *st)
{
    return scan_create(&fake_scan_class, connector, table, env, scan_out, st);
}

static inline ms_rc plain_scan_create(const ms_connector *connector, const ms_table *table,
                                      ms_plan_env *env, ms_scan **scan_out, ms_status *st)
{
    return scan_create(&plain_scan_class, connector, table, env, scan_out, st);
}

static inline ms_rc fake_negotiate(ms_sink *sink, ms_changelog input, ms_changelog *wanted_out,
                                   bool *key_only_deletes_out, ms_status *st)
{
    fake_sink *self = (fake_sink *)sink;
    *key_only_deletes_out = false;
    *wanted_out = self->takes;
    if (self->takes == MS_CHANGELOG_INSERT && input != MS_CHANGELOG_INSERT) {
        return ms_status_set(st, MS_INVALID_QUERY, ms_span_none,
                             "table \"%.*s\" takes inserts only", MS_STR_ARG(self->table));
    }
    return MS_OK;
}

static inline ms_rc fake_sink_describe(const ms_sink *sink, ms_buf *out, ms_status *st)
{
    const fake_sink *self = (const fake_sink *)sink;
    if (self->target_count < self->head.input.column_count) {
        return ms_buf_format(out, st, "targets=[%u]", self->target_count);
    }
    return MS_OK;
}

static const ms_sink_class fake_sink_class = {.negotiate = fake_negotiate,
                                              .describe = fake_sink_describe};

static inline ms_rc fake_sink_create(const ms_connector *connector, const ms_table *table,
                                     ms_plan_env *env, const uint32_t *targets,
                                     uint32_t target_count, ms_sink **sink_out, ms_status *st)
{
    static const ms_changelog kinds[] = {MS_CHANGELOG_INSERT, MS_CHANGELOG_UPSERT,
                                         MS_CHANGELOG_ALL};
    char owner[64];
    snprintf(owner, sizeof(owner), "connector \"%s\"", connector->name);
    MS_TRY(ms_options_check(&table->options, fake_options, FAKE_OPTIONS, NULL, NULL, owner, st));
    for (uint32_t i = 1; i < target_count; i++) {
        assert_true(targets[i - 1] < targets[i]);
    }
    int64_t takes = 0;
    int64_t ordered = 0;
    int64_t parallelism = 0;
    int64_t guarantee = 0;
    MS_TRY(fake_option(table, "takes", &takes, st));
    MS_TRY(fake_option(table, "ordered", &ordered, st));
    MS_TRY(fake_option(table, "parallelism", &parallelism, st));
    MS_TRY(fake_option(table, "guarantee", &guarantee, st));
    fake_sink *self = ms_arena_new(env->arena, fake_sink);
    self->takes = kinds[takes];
    self->table = table->name;
    self->target_count = target_count;
    self->head = (ms_sink){.klass = &fake_sink_class,
                           .input = ms_table_sink_schema(env->arena, table),
                           .guarantee = guarantee == 1 ? MS_EXACTLY_ONCE : MS_AT_LEAST_ONCE,
                           .keeps_order = ordered != 0,
                           .parallelism = (uint32_t)parallelism};
    *sink_out = &self->head;
    return MS_OK;
}

static const ms_connector fake_connectors[] = {
    {.name = "fake",
     .options = fake_options,
     .option_count = FAKE_OPTIONS,
     .scan_create = fake_scan_create,
     .sink_create = fake_sink_create},
    {.name = "plain",
     .options = fake_options,
     .option_count = FAKE_OPTIONS,
     .scan_create = plain_scan_create,
     .sink_create = fake_sink_create},
    {.name = "reads",
     .options = fake_options,
     .option_count = FAKE_OPTIONS,
     .scan_create = plain_scan_create},
    {.name = "writes",
     .options = fake_options,
     .option_count = FAKE_OPTIONS,
     .sink_create = fake_sink_create},
};

/* Life. */

static inline void planner_open(planner *p)
{
    memset(p, 0, sizeof(*p));
    ms_arena_init(&p->arena, 0);
    ms_arena_init(&p->job_arena, 0);
    p->catalog = ms_catalog_create();
    for (size_t i = 0; i < sizeof(fake_connectors) / sizeof(fake_connectors[0]); i++) {
        ms_registry_add_connector(&p->registry, &fake_connectors[i], NULL);
    }
    p->is_streaming = true;
    p->settings = (ms_opt_settings){.parallelism = 2,
                                    .coalesce = true,
                                    .optimize = true,
                                    .watermark_interval_ms = 200,
                                    .local_time_zone = ms_str_lit("UTC"),
                                    .base_dir = ms_str_lit("/data")};
}

static inline void planner_close(planner *p)
{
    ms_catalog_destroy(p->catalog);
    ms_arena_release(&p->job_arena);
    ms_arena_release(&p->arena);
}

/* Running. */

static inline ms_rc planner_plan(planner *p, const ms_ast_stmt *stmt)
{
    ms_bind_env env = {.arena = &p->arena, .catalog = p->catalog, .is_streaming = p->is_streaming};
    if (stmt->kind == MS_AST_EXPLAIN) {
        MS_TRY(ms_bind_explain(&env, ms_ast_explain_of(stmt), &p->logical, &p->st));
    } else {
        MS_TRY(ms_bind_statement(&env, stmt, &p->logical, &p->st));
    }
    if (p->bind_only) {
        return MS_OK;
    }
    ms_opt_env opt = {.arena = &p->arena,
                      .job_arena = &p->job_arena,
                      .registry = &p->registry,
                      .sql = ms_source_slice(&p->source, stmt->span),
                      .source_id = p->source_id,
                      .settings = p->settings};
    return ms_opt_plan(&opt, p->logical, &p->plan, &p->st);
}

static inline ms_rc planner_step(planner *p, const ms_ast_stmt *stmt)
{
    ms_bind_env env = {.arena = &p->arena, .catalog = p->catalog, .is_streaming = p->is_streaming};
    ms_arena *tables = ms_catalog_arena(p->catalog);
    ms_str sql = ms_source_slice(&p->source, stmt->span);
    const ms_table *table = NULL;
    if (stmt->kind == MS_AST_CREATE_TABLE) {
        const ms_ast_create_table *create = ms_ast_create_table_of(stmt);
        MS_TRY(ms_bind_create_table(&env, create, sql, tables, &table, &p->st));
        return ms_catalog_add(p->catalog, table, create->if_not_exists, create->name.span, &p->st);
    }
    if (stmt->kind == MS_AST_CREATE_VIEW) {
        const ms_ast_create_view *create = ms_ast_create_view_of(stmt);
        MS_TRY(ms_bind_create_view(&env, create, sql, tables, &table, &p->st));
        return ms_catalog_add(p->catalog, table, create->if_not_exists, create->name.span, &p->st);
    }
    if (stmt->kind == MS_AST_DROP) {
        const ms_ast_drop *drop = ms_ast_drop_of(stmt);
        ms_str name;
        MS_TRY(ms_bind_table_name(&drop->name, &name, &p->st));
        return ms_catalog_drop(p->catalog, name, drop->is_view, drop->temporary, drop->if_exists,
                               drop->name.span, &p->st);
    }
    return planner_plan(p, stmt);
}

/* Runs a script; the status is that of the first statement that fails. The text must outlive p. */
static inline ms_rc planner_try(planner *p, const char *sql)
{
    ms_status_clear(&p->st);
    p->logical = NULL;
    p->plan = NULL;
    MS_TRY(ms_source_init(&p->source, ms_str_lit("test.sql"), ms_str_cstr(sql), &p->st));
    const ms_ast_script *script = NULL;
    MS_TRY(ms_sql_parse_script(&p->source, &p->arena, &script, &p->st));
    for (uint32_t i = 0; i < script->stmt_count; i++) {
        MS_TRY(planner_step(p, script->stmts[i]));
    }
    return MS_OK;
}

static inline void planner_run(planner *p, const char *sql)
{
    if (planner_try(p, sql) != MS_OK) {
        ms_str place = ms_source_render(&p->source, p->st.span, &p->arena);
        fail_msg("%s: %s [%s] {%s}\n%.*s", ms_rc_name(p->st.code), p->st.message, p->st.detail,
                 p->st.hint, MS_STR_ARG(place));
    }
}

/* Texts. */

static inline const char *planner_text(planner *p, ms_buf *buf)
{
    const char *text = ms_arena_copy_str(&p->arena, ms_buf_view(buf)).ptr;
    ms_buf_release(buf);
    return text;
}

/* The physical plan, with changelog modes when it is streaming over updates. */
static inline const char *planner_explain_with(planner *p, bool changelog_mode)
{
    ms_explain_options options = {.changelog_mode = changelog_mode};
    ms_buf buf;
    ms_buf_init(&buf, 1 << 20);
    ms_status st = {0};
    assert_ok(ms_explain_write_physical(p->plan, &options, &buf, &st));
    return planner_text(p, &buf);
}

static inline const char *planner_explain(planner *p)
{
    return planner_explain_with(p, false);
}

static inline const char *planner_logical(planner *p)
{
    ms_buf buf;
    ms_buf_init(&buf, 1 << 20);
    ms_status st = {0};
    assert_ok(ms_explain_write_logical(p->logical, &buf, &st));
    return planner_text(p, &buf);
}

/* The schema of the only root: "a INT NOT NULL, b STRING". */
static inline const char *planner_schema(planner *p)
{
    const ms_schema *schema = &p->logical->roots[0]->schema;
    ms_str text = {NULL, 0};
    for (uint32_t i = 0; i < schema->column_count; i++) {
        ms_str type = ms_type_text(&p->arena, schema->columns[i].type);
        text = ms_arena_format(&p->arena, "%.*s%s%.*s %.*s", MS_STR_ARG(text), i == 0 ? "" : ", ",
                               MS_STR_ARG(schema->columns[i].name), MS_STR_ARG(type));
    }
    return text.ptr != NULL ? text.ptr : "";
}

/* The words that the span of the status covers. */
static inline const char *planner_place(planner *p)
{
    return ms_arena_copy_str(&p->arena, ms_source_slice(&p->source, p->st.span)).ptr;
}

#endif
