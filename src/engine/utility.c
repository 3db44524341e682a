/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statements that are done at once: definitions, settings, and what shows them.
 */
#include "engine/engine_priv.h"

#include "bind/bind.h"
#include "func/like.h"
#include "func/registry.h"
#include "sql/keyword.h"
#include "sql/unparse.h"

typedef struct utility {
    ms_script *script;
    ms_session *session;
    ms_execution *execution;
    ms_bind_env bind;
    ms_status *st;
} utility;

static ms_arena *arena_of(const utility *u)
{
    return &u->execution->arena;
}

static void start_listing(utility *u, const char *const *names, uint32_t count, uint32_t rows_max)
{
    msi_listing_init(&u->execution->listing, arena_of(u), names, count, rows_max);
    u->execution->schema = u->execution->listing.schema;
    u->execution->has_rows = true;
    u->execution->is_listing = true;
}

static void add_one(utility *u, ms_str cell)
{
    msi_listing_add(&u->execution->listing, &cell);
}

/* Definitions. */

static ms_rc create_table(utility *u, const ms_ast_stmt *stmt)
{
    const ms_ast_create_table *create = ms_ast_create_table_of(stmt);
    ms_str sql = ms_source_slice(&u->script->source, stmt->span);
    const ms_table *table = NULL;
    MS_TRY(ms_bind_create_table(&u->bind, create, sql, ms_catalog_arena(u->session->catalog),
                                &table, u->st));
    return ms_catalog_add(u->session->catalog, table, create->if_not_exists, create->name.span,
                          u->st);
}

static ms_rc create_view(utility *u, const ms_ast_stmt *stmt)
{
    const ms_ast_create_view *create = ms_ast_create_view_of(stmt);
    ms_str sql = ms_source_slice(&u->script->source, stmt->span);
    const ms_table *table = NULL;
    MS_TRY(ms_bind_create_view(&u->bind, create, sql, ms_catalog_arena(u->session->catalog), &table,
                               u->st));
    return ms_catalog_add(u->session->catalog, table, create->if_not_exists, create->name.span,
                          u->st);
}

static ms_rc drop(utility *u, const ms_ast_stmt *stmt)
{
    const ms_ast_drop *node = ms_ast_drop_of(stmt);
    ms_str name;
    MS_TRY(ms_bind_table_name(&node->name, &name, u->st));
    return ms_catalog_drop(u->session->catalog, name, node->is_view, node->temporary,
                           node->if_exists, node->name.span, u->st);
}

/* Settings. */

static ms_rc list_settings(utility *u)
{
    static const char *const names[] = {"key", "value"};
    uint32_t count = 0;
    const ms_option *items = ms_settings_list(u->session->settings, arena_of(u), &count);
    start_listing(u, names, 2, count);
    for (uint32_t i = 0; i < count; i++) {
        ms_str cells[] = {items[i].key, items[i].value};
        msi_listing_add(&u->execution->listing, cells);
    }
    return MS_OK;
}

/* A zone must exist when it is set, not when it is first used. */
static ms_rc check_zone(utility *u, const ms_ast_option *option)
{
    if (!ms_str_equals(option->key.text, ms_str_cstr(ms_setting_key(MS_SETTING_LOCAL_TIME_ZONE)))) {
        return MS_OK;
    }
    const ms_zone *zone = NULL;
    if (ms_zone_make(arena_of(u), option->value.text, &zone, u->st) != MS_OK) {
        return ms_status_place(u->st, option->value.span);
    }
    return MS_OK;
}

static ms_rc set(utility *u, const ms_ast_stmt *stmt)
{
    const ms_ast_option *option = &ms_ast_set_of(stmt)->option;
    if (ms_ast_text_is_absent(option->key)) {
        return list_settings(u);
    }
    MS_TRY(check_zone(u, option));
    ms_set_note note;
    ms_status warning;
    MS_TRY(ms_settings_set(u->session->settings, MS_SET_BY_SCRIPT, option->key.text,
                           option->value.text, option->key.span, option->value.span, &note, u->st));
    if (msi_setting_warning(note, option->key.text, option->key.span, &warning)) {
        msi_script_warn(u->script, u->execution->statement, &warning);
    }
    return MS_OK;
}

static ms_rc reset(utility *u, const ms_ast_stmt *stmt)
{
    const ms_ast_text *key = &ms_ast_reset_of(stmt)->key;
    ms_str text = ms_ast_text_is_absent(*key) ? (ms_str){NULL, 0} : key->text;
    return ms_settings_reset(u->session->settings, text, key->span, u->st);
}

static ms_rc add_jar(utility *u, const ms_ast_stmt *stmt)
{
    ms_status warning = {0};
    ms_status_set(&warning, MS_STATEMENT_WITHOUT_EFFECT, stmt->span,
                  "ADD JAR does nothing here: connectors and formats are built in");
    ms_status_hint(&warning, "Leave it out of a script that need not run on Apache Flink.");
    msi_script_warn(u->script, u->execution->statement, &warning);
    return MS_OK;
}

/* SHOW. */

/* ASCII letters in lower case: no others are compared without case. */
static ms_str lowered(ms_arena *arena, ms_str text)
{
    char *out = ms_arena_alloc(arena, text.bytes + 1, 1);
    for (size_t i = 0; i < text.bytes; i++) {
        char c = text.ptr[i];
        out[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return ms_str_make(out, text.bytes);
}

/* The names that a SHOW lists. */
typedef struct name_filter {
    bool takes_all;
    bool is_negated;
    bool is_nocase;
    ms_like like;
} name_filter;

/* A backslash is the escape character, as in Flink's SHOW. */
static ms_rc make_filter(utility *u, const ms_ast_show *show, name_filter *out)
{
    *out = (name_filter){.takes_all = show == NULL || ms_ast_text_is_absent(show->pattern)};
    if (out->takes_all) {
        return MS_OK;
    }
    out->is_negated = show->pattern_negated;
    out->is_nocase = show->pattern_nocase;
    ms_str escape = ms_str_lit("\\");
    ms_str pattern = show->pattern.text;
    ms_str folded = out->is_nocase ? lowered(arena_of(u), pattern) : pattern;
    size_t at = 0;
    ms_like_fault fault = ms_like_compile(arena_of(u), folded, escape, &out->like, &at);
    if (ms_like_report(fault, pattern, escape, at, u->st) != MS_OK) {
        return ms_status_place(u->st, show->pattern.span);
    }
    return MS_OK;
}

static bool is_shown(utility *u, const name_filter *filter, ms_str name)
{
    ms_str folded = filter->is_nocase ? lowered(arena_of(u), name) : name;
    return filter->takes_all ||
           ms_like_matches(&filter->like, folded, NULL, NULL) != filter->is_negated;
}

/* SHOW TABLES lists views too, as Flink does. */
static ms_rc show_tables(utility *u, const ms_ast_show *show, bool only_views)
{
    static const char *const table_name[] = {"table name"};
    static const char *const view_name[] = {"view name"};
    uint32_t count = 0;
    name_filter filter;
    MS_TRY(make_filter(u, show, &filter));
    const ms_table *const *tables = ms_catalog_list(u->session->catalog, arena_of(u), &count);
    start_listing(u, only_views ? view_name : table_name, 1, count);
    for (uint32_t i = 0; i < count; i++) {
        if ((!only_views || tables[i]->is_view) && is_shown(u, &filter, tables[i]->name)) {
            add_one(u, tables[i]->name);
        }
    }
    return MS_OK;
}

/* Operators are in the registry too; only what can be called by name is shown. */
static bool is_callable(ms_str name)
{
    for (size_t i = 0; i < name.bytes; i++) {
        char c = name.ptr[i];
        if ((c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_') {
            return false;
        }
    }
    ms_keyword keyword = ms_keyword_find(name);
    return keyword == MS_KEYWORD_NONE || !ms_keyword_is_reserved(keyword) ||
           ms_keyword_may_name_function(keyword);
}

static ms_rc show_functions(utility *u, const ms_ast_show *show)
{
    static const char *const names[] = {"function name"};
    uint32_t count = 0;
    name_filter filter;
    MS_TRY(make_filter(u, show, &filter));
    while (ms_fn_at(count) != NULL) {
        count++;
    }
    start_listing(u, names, 1, count);
    for (uint32_t i = 0; i < count; i++) {
        ms_str name = ms_fn_name(ms_fn_at(i));
        ms_str shown = lowered(arena_of(u), name);
        if (is_callable(name) && is_shown(u, &filter, shown)) {
            add_one(u, shown);
        }
    }
    return MS_OK;
}

static ms_rc show_single(utility *u, const ms_ast_show *show, const char *column, const char *value)
{
    name_filter filter;
    MS_TRY(make_filter(u, show, &filter));
    start_listing(u, &column, 1, 1);
    if (is_shown(u, &filter, ms_str_cstr(value))) {
        add_one(u, ms_str_cstr(value));
    }
    return MS_OK;
}

static ms_rc describe_columns(utility *u, const ms_ast_path *path, const ms_ast_show *show)
{
    static const char *const names[] = {"name",   "type",      "null",   "key",
                                        "extras", "watermark", "comment"};
    const ms_table *table = NULL;
    name_filter filter;
    MS_TRY(ms_bind_find_table(&u->bind, path, &table, u->st));
    MS_TRY(make_filter(u, show, &filter));
    uint32_t columns = ms_bind_describe_has_comment(table) ? 7 : 6;
    start_listing(u, names, columns, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        ms_bind_description row;
        ms_bind_describe_column(arena_of(u), table, i, u->bind.is_streaming, &row);
        if (is_shown(u, &filter, row.cells[0])) {
            msi_listing_add(&u->execution->listing, row.cells);
        }
    }
    return MS_OK;
}

static ms_rc show_create(utility *u, const ms_ast_show *show, bool is_view)
{
    static const char *const names[] = {"result"};
    const ms_table *table = NULL;
    MS_TRY(ms_bind_find_table(&u->bind, &show->name, &table, u->st));
    if (table->is_view != is_view) {
        ms_status_set(u->st, MS_TYPE_MISMATCH, show->name.span, "\"%.*s\" is a %s, not a %s",
                      MS_STR_ARG(table->name), table->is_view ? "view" : "table",
                      is_view ? "view" : "table");
        return ms_status_hint(u->st, "Use SHOW CREATE %s.", table->is_view ? "VIEW" : "TABLE");
    }
    start_listing(u, names, 1, 1);
    add_one(u, ms_bind_show_create(arena_of(u), table));
    return MS_OK;
}

static ms_rc show(utility *u, const ms_ast_stmt *stmt)
{
    const ms_ast_show *node = ms_ast_show_of(stmt);
    switch (node->what) {
    case MS_AST_SHOW_TABLES:
    case MS_AST_SHOW_VIEWS:
        return show_tables(u, node, node->what == MS_AST_SHOW_VIEWS);
    case MS_AST_SHOW_COLUMNS:
        return describe_columns(u, &node->name, node);
    case MS_AST_SHOW_FUNCTIONS:
        return show_functions(u, node);
    case MS_AST_SHOW_CATALOGS:
        return show_single(u, node, "catalog name", MS_CATALOG_NAME);
    case MS_AST_SHOW_DATABASES:
        return show_single(u, node, "database name", MS_CATALOG_DATABASE);
    case MS_AST_SHOW_CURRENT_CATALOG:
        return show_single(u, node, "current catalog name", MS_CATALOG_NAME);
    case MS_AST_SHOW_CURRENT_DATABASE:
        return show_single(u, node, "current database name", MS_CATALOG_DATABASE);
    case MS_AST_SHOW_CREATE_TABLE:
    case MS_AST_SHOW_CREATE_VIEW:
        return show_create(u, node, node->what == MS_AST_SHOW_CREATE_VIEW);
    case MS_AST_SHOW_USER_FUNCTIONS:
    case MS_AST_SHOW_JOBS:
    case MS_AST_SHOW_WHAT_COUNT:
        break;
    }
    return ms_status_set(u->st, MS_NOT_SUPPORTED, stmt->span, "SHOW %s is not supported yet",
                         node->what == MS_AST_SHOW_JOBS ? "JOBS" : "USER FUNCTIONS");
}

static ms_rc describe(utility *u, const ms_ast_stmt *stmt)
{
    const ms_ast_describe *node = ms_ast_describe_of(stmt);
    return describe_columns(u, &node->name, NULL);
}

typedef ms_rc (*utility_fn)(utility *u, const ms_ast_stmt *stmt);

static const utility_fn utilities[MS_AST_STMT_KIND_COUNT] = {
    [MS_AST_CREATE_TABLE] = create_table,
    [MS_AST_CREATE_VIEW] = create_view,
    [MS_AST_DROP] = drop,
    [MS_AST_SHOW] = show,
    [MS_AST_DESCRIBE] = describe,
    [MS_AST_SET] = set,
    [MS_AST_RESET] = reset,
    [MS_AST_ADD_JAR] = add_jar,
};

ms_rc msi_execute_utility(ms_script *script, const ms_ast_stmt *stmt, ms_execution *execution,
                          ms_status *st)
{
    MS_ASSERT(utilities[stmt->kind] != NULL);
    ms_session *session = script->session;
    bool is_batch = ms_settings_value(session->settings, MS_SETTING_RUNTIME_MODE).i64 == 1;
    utility u = {
        .script = script,
        .session = session,
        .execution = execution,
        .bind = {.arena = &execution->arena,
                 .catalog = session->catalog,
                 .is_streaming = !is_batch,
                 .source_id = script->id},
        .st = st,
    };
    return utilities[stmt->kind](&u, stmt);
}
