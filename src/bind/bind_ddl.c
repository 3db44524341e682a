/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CREATE TABLE and CREATE VIEW. A definition is bound in the statement's arena, checked as a whole,
 * and then copied into the catalog's, so that a refused one leaves nothing there.
 *
 * Columns are bound in three steps, because each sees what the one before made: physical and
 * metadata columns; the primary key, which makes its columns NOT NULL; computed columns over both;
 * then the watermark over all.
 */
#include "base/limits.h"
#include "bind/bind_priv.h"
#include "sql/unparse.h"

/* A table on its way, in the statement's arena. */
typedef struct definer {
    msi_binder *binder;
    const ms_ast_create_table *create;
    ms_column *columns;
    ms_map names; /* to the column */
    uint32_t key_count;
    uint32_t *key;
    const ms_watermark_def *watermark;
} definer;

#define ROWTIME_PRECISION_MAX 3 /* watermarks are milliseconds */

static ms_rc refuse_clauses(definer *d)
{
    const ms_ast_create_table *create = d->create;
    if (create->partition_count > 0) {
        return msi_refuse(d->binder, create->partition_span, "PARTITIONED BY");
    }
    if (create->distribution.kind != MS_AST_DISTRIBUTION_NONE) {
        return msi_refuse(d->binder, create->distribution.span, "DISTRIBUTED");
    }
    if (create->like != NULL) {
        return msi_refuse(d->binder, create->like->span, "CREATE TABLE ... LIKE");
    }
    if (create->as_query != NULL) {
        ms_status_set(d->binder->st, MS_NOT_SUPPORTED, create->as_query->span,
                      "CREATE TABLE ... AS is not supported");
        return ms_status_hint(d->binder->st, "Create the table with its columns, then INSERT.");
    }
    if (create->column_count == 0) {
        return ms_status_set(d->binder->st, MS_INVALID_TABLE_DEFINITION, create->name.span,
                             "a table needs a column");
    }
    if (create->column_count > MS_LIMIT_COLUMNS) {
        return ms_status_set(d->binder->st, MS_STATEMENT_TOO_LARGE,
                             create->columns[MS_LIMIT_COLUMNS].span,
                             "a table has more than %u columns", MS_LIMIT_COLUMNS);
    }
    return MS_OK;
}

/* Columns. */

static ms_column_kind column_kind(const ms_ast_column *column)
{
    switch (column->kind) {
    case MS_AST_COLUMN_COMPUTED:
        return MS_COLUMN_COMPUTED;
    case MS_AST_COLUMN_METADATA:
        return MS_COLUMN_METADATA;
    case MS_AST_COLUMN_PHYSICAL:
    case MS_AST_COLUMN_KIND_COUNT:
        break;
    }
    return MS_COLUMN_PHYSICAL;
}

static ms_rc define_columns(definer *d)
{
    msi_binder *binder = d->binder;
    d->columns = ms_arena_array(binder->arena, ms_column, d->create->column_count);
    ms_map_init(&d->names, binder->arena);
    for (uint32_t i = 0; i < d->create->column_count; i++) {
        const ms_ast_column *from = &d->create->columns[i];
        ms_column *column = &d->columns[i];
        column->name = from->name.text;
        column->span = from->span;
        column->kind = column_kind(from);
        column->comment = from->comment.text;
        column->is_virtual = from->is_virtual;
        if (!ms_map_add(&d->names, column->name, column)) {
            return ms_status_set(binder->st, MS_DUPLICATE_COLUMN, from->name.span,
                                 "column \"%.*s\" is defined twice", MS_STR_ARG(column->name));
        }
        if (column->kind == MS_COLUMN_COMPUTED) {
            continue;
        }
        MS_TRY(msi_bind_type(binder, from->type, true, &column->type));
        if (column->kind == MS_COLUMN_METADATA) {
            column->metadata_key =
                ms_ast_text_is_absent(from->metadata_key) ? column->name : from->metadata_key.text;
        }
    }
    return MS_OK;
}

static ms_rc report_column(definer *d, const ms_ast_ident *ident)
{
    msi_nearest nearest;
    msi_nearest_init(&nearest, ident->text);
    for (uint32_t i = 0; i < d->create->column_count; i++) {
        msi_nearest_offer(&nearest, d->columns[i].name);
    }
    ms_status_set(d->binder->st, MS_UNDEFINED_COLUMN, ident->span, "column \"%.*s\" does not exist",
                  MS_STR_ARG(ident->text));
    return msi_nearest_hint(&nearest, d->binder->st);
}

/* The primary key. */

static ms_rc add_key_column(definer *d, const ms_ast_ident *ident)
{
    ms_column *column = ms_map_get(&d->names, ident->text);
    if (column == NULL) {
        return report_column(d, ident);
    }
    if (column->kind != MS_COLUMN_PHYSICAL) {
        return ms_status_set(d->binder->st, MS_INVALID_TABLE_DEFINITION, ident->span,
                             "column \"%.*s\" is not physical and cannot be in the primary key",
                             MS_STR_ARG(ident->text));
    }
    uint32_t ordinal = (uint32_t)(column - d->columns);
    for (uint32_t i = 0; i < d->key_count; i++) {
        if (d->key[i] == ordinal) {
            return ms_status_set(d->binder->st, MS_DUPLICATE_COLUMN, ident->span,
                                 "column \"%.*s\" is twice in the primary key",
                                 MS_STR_ARG(ident->text));
        }
    }
    column->type = ms_type_as_nullable(d->binder->arena, column->type, false);
    d->key[d->key_count++] = ordinal;
    return MS_OK;
}

static ms_rc define_key(definer *d)
{
    if (d->create->primary_key_count == 0) {
        return MS_OK;
    }
    if (d->create->primary_key_count > 1) {
        return ms_status_set(d->binder->st, MS_INVALID_TABLE_DEFINITION,
                             d->create->primary_keys[1].span, "a table has one primary key");
    }
    const ms_ast_primary_key *key = &d->create->primary_keys[0];
    d->key = ms_arena_array(d->binder->arena, uint32_t, key->column_count);
    for (uint32_t i = 0; i < key->column_count; i++) {
        MS_TRY(add_key_column(d, &key->columns[i]));
    }
    return MS_OK;
}

/* Computed columns and the watermark. */

/* All columns as a scope; computed ones have no type until they are bound. */
static msi_relation table_relation(definer *d)
{
    uint32_t count = d->create->column_count;
    msi_column *columns = ms_arena_array(d->binder->arena, msi_column, count);
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = (msi_column){d->columns[i].name, d->columns[i].type, d->columns[i].span};
    }
    const ms_ast_path *name = &d->create->name;
    return (msi_relation){
        .name = name->parts[name->count - 1].text, .column_count = count, .columns = columns};
}

static ms_rc define_computed(definer *d)
{
    msi_binder *binder = d->binder;
    msi_relation relation = table_relation(d);
    msi_scope scope = {.relations = &relation, .relation_count = 1, .clause = "a computed column"};
    for (uint32_t i = 0; i < d->create->column_count; i++) {
        ms_column *column = &d->columns[i];
        if (column->kind != MS_COLUMN_COMPUTED) {
            continue;
        }
        const ms_ast_expr *expr = d->create->columns[i].expr;
        MS_TRY(msi_bind_expr(binder, &scope, expr, &column->expr));
        column->type = column->expr->type;
        column->expr_sql = ms_sql_unparse_expr(expr, binder->arena);
        if (column->type->kind == MS_TYPE_NULL) {
            ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, expr->span,
                          "column \"%.*s\" has no type", MS_STR_ARG(column->name));
            return ms_status_hint(binder->st, "Write CAST(NULL AS ...).");
        }
    }
    return MS_OK;
}

static bool is_rowtime_type(const ms_type *type)
{
    return ms_type_is_timestamp(type) && type->precision <= ROWTIME_PRECISION_MAX;
}

static ms_rc check_rowtime(definer *d, const ms_column *column, ms_span span)
{
    if (is_rowtime_type(column->type)) {
        return MS_OK;
    }
    ms_str type = ms_type_text_bare(d->binder->arena, column->type);
    ms_status_set(d->binder->st, MS_INVALID_TABLE_DEFINITION, span,
                  "column \"%.*s\" is %.*s: a watermark needs TIMESTAMP or TIMESTAMP_LTZ of at "
                  "most 3 digits",
                  MS_STR_ARG(column->name), MS_STR_ARG(type));
    if (ms_type_is_timestamp(column->type)) {
        bool is_ltz = column->type->kind == MS_TYPE_TIMESTAMP_LTZ;
        return ms_status_hint(d->binder->st, "Declare it as %s(3).",
                              is_ltz ? "TIMESTAMP_LTZ" : "TIMESTAMP");
    }
    return d->binder->st->code;
}

/* The watermark's expression, of the column's type. */
static ms_rc bind_watermark_expr(definer *d, const ms_ast_watermark *from, const ms_column *column,
                                 const ms_expr **expr_out)
{
    msi_binder *binder = d->binder;
    msi_relation relation = table_relation(d);
    msi_scope scope = {.relations = &relation, .relation_count = 1, .clause = "a watermark"};
    MS_TRY(msi_bind_expr(binder, &scope, from->expr, expr_out));
    const ms_type *type = (*expr_out)->type;
    if (type->kind != column->type->kind || !is_rowtime_type(type)) {
        ms_str text = ms_type_text_bare(binder->arena, type);
        ms_str wanted = ms_type_text_bare(binder->arena, column->type);
        return ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, from->expr->span,
                             "the watermark of \"%.*s\" is %.*s, not %.*s",
                             MS_STR_ARG(column->name), MS_STR_ARG(text), MS_STR_ARG(wanted));
    }
    if (type->precision == column->type->precision) {
        return MS_OK;
    }
    return ms_build_cast(&binder->build, *expr_out, column->type, MS_BUILD_CAST, from->expr->span,
                         expr_out);
}

static ms_rc define_watermark(definer *d)
{
    msi_binder *binder = d->binder;
    if (d->create->watermark_count == 0) {
        return MS_OK;
    }
    const ms_ast_watermark *from = &d->create->watermarks[0];
    if (d->create->watermark_count > 1) {
        return ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, d->create->watermarks[1].span,
                             "a table has one watermark");
    }
    if (from->column.count > 1) {
        return msi_refuse(binder, from->column.span, "a watermark on a field of a column");
    }
    const ms_column *column = ms_map_get(&d->names, from->column.parts[0].text);
    if (column == NULL) {
        return report_column(d, &from->column.parts[0]);
    }
    MS_TRY(check_rowtime(d, column, from->column.span));
    ms_watermark_def *watermark = ms_arena_new(binder->arena, ms_watermark_def);
    watermark->column = (uint32_t)(column - d->columns);
    watermark->span = from->span;
    watermark->expr_sql = ms_sql_unparse_expr(from->expr, binder->arena);
    MS_TRY(bind_watermark_expr(d, from, column, &watermark->expr));
    d->watermark = watermark;
    return MS_OK;
}

/* Copies into the catalog's arena. */

static ms_option_list copy_options(ms_arena *arena, const ms_option_list *list)
{
    ms_option *items = ms_arena_array(arena, ms_option, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        items[i].key = ms_arena_copy_str(arena, list->items[i].key);
        items[i].value = ms_arena_copy_str(arena, list->items[i].value);
    }
    return (ms_option_list){list->count, items};
}

static ms_str copy_if_set(ms_arena *arena, ms_str text)
{
    return text.ptr != NULL ? ms_arena_copy_str(arena, text) : text;
}

static ms_column *copy_columns(ms_arena *arena, const ms_column *columns, uint32_t count)
{
    ms_column *copy = ms_arena_array(arena, ms_column, count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = columns[i];
        copy[i].name = ms_arena_copy_str(arena, columns[i].name);
        copy[i].type = ms_type_copy(arena, columns[i].type);
        copy[i].metadata_key = copy_if_set(arena, columns[i].metadata_key);
        copy[i].expr_sql = copy_if_set(arena, columns[i].expr_sql);
        copy[i].comment = copy_if_set(arena, columns[i].comment);
        if (columns[i].expr != NULL) {
            copy[i].expr = ms_expr_copy(arena, columns[i].expr);
        }
    }
    return copy;
}

static const ms_watermark_def *copy_watermark(ms_arena *arena, const ms_watermark_def *watermark)
{
    if (watermark == NULL) {
        return NULL;
    }
    ms_watermark_def *copy = ms_arena_new(arena, ms_watermark_def);
    *copy = *watermark;
    copy->expr = ms_expr_copy(arena, watermark->expr);
    copy->expr_sql = ms_arena_copy_str(arena, watermark->expr_sql);
    return copy;
}

static const ms_table *copy_table(definer *d, ms_str name, const ms_option_list *options,
                                  ms_str sql, ms_arena *arena)
{
    ms_table *table = ms_arena_new(arena, ms_table);
    table->name = ms_arena_copy_str(arena, name);
    table->is_temporary = d->create->temporary;
    table->comment = copy_if_set(arena, d->create->comment.text);
    table->column_count = d->create->column_count;
    table->columns = copy_columns(arena, d->columns, table->column_count);
    table->watermark = copy_watermark(arena, d->watermark);
    table->key_count = d->key_count;
    uint32_t *key = ms_arena_array(arena, uint32_t, d->key_count);
    for (uint32_t i = 0; i < d->key_count; i++) {
        key[i] = d->key[i];
    }
    table->key_columns = key;
    table->options = copy_options(arena, options);
    table->create_sql = ms_arena_copy_str(arena, sql);
    table->source_id = d->binder->env->source_id;
    return table;
}

ms_rc ms_bind_create_table(const ms_bind_env *env, const ms_ast_create_table *create, ms_str sql,
                           ms_arena *table_arena, const ms_table **table_out, ms_status *st)
{
    *table_out = NULL;
    msi_binder binder;
    msi_binder_init(&binder, env, st);
    definer d = {.binder = &binder, .create = create};
    ms_str name;
    ms_option_list options;
    MS_TRY(ms_bind_table_name(&create->name, &name, st));
    MS_TRY(refuse_clauses(&d));
    MS_TRY(define_columns(&d));
    MS_TRY(define_key(&d));
    MS_TRY(define_computed(&d));
    MS_TRY(define_watermark(&d));
    MS_TRY(msi_bind_options(&binder, create->options, create->option_count, &options));
    *table_out = copy_table(&d, name, &options, sql, table_arena);
    return MS_OK;
}

/* Views. */

static ms_rc check_view_columns(msi_binder *binder, const ms_ast_create_view *create,
                                const msi_bound *bound)
{
    if (create->column_count > 0 && create->column_count != bound->column_count) {
        ms_span span = {create->columns[0].span.start,
                        create->columns[create->column_count - 1].span.end};
        return ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, span,
                             "the view names %u column%s, its query has %u", create->column_count,
                             msi_plural(create->column_count), bound->column_count);
    }
    ms_map names;
    ms_map_init(&names, binder->arena);
    for (uint32_t i = 0; i < bound->column_count; i++) {
        bool is_named = create->column_count > 0;
        ms_str name = is_named ? create->columns[i].text : bound->columns[i].name;
        ms_span span = is_named ? create->columns[i].span : bound->columns[i].span;
        if (!ms_map_add(&names, name, NULL)) {
            ms_status_set(binder->st, MS_DUPLICATE_COLUMN, span,
                          "column \"%.*s\" of the view is named twice", MS_STR_ARG(name));
            return ms_status_hint(binder->st, "Give it another name with AS.");
        }
    }
    return MS_OK;
}

ms_rc ms_bind_create_view(const ms_bind_env *env, const ms_ast_create_view *create, ms_str sql,
                          ms_arena *table_arena, const ms_table **table_out, ms_status *st)
{
    *table_out = NULL;
    msi_binder binder;
    msi_binder_init(&binder, env, st);
    ms_str name;
    msi_bound bound;
    MS_TRY(ms_bind_table_name(&create->name, &name, st));
    MS_TRY(msi_bind_query(&binder, create->query, &bound));
    MS_TRY(check_view_columns(&binder, create, &bound));
    ms_column *columns = ms_arena_array(table_arena, ms_column, bound.column_count);
    for (uint32_t i = 0; i < bound.column_count; i++) {
        ms_str column = create->column_count > 0 ? create->columns[i].text : bound.columns[i].name;
        columns[i].name = ms_arena_copy_str(table_arena, column);
        columns[i].type = ms_type_copy(table_arena, bound.columns[i].type);
    }
    ms_table *view = ms_arena_new(table_arena, ms_table);
    view->name = ms_arena_copy_str(table_arena, name);
    view->is_view = true;
    view->is_temporary = create->temporary;
    view->comment = copy_if_set(table_arena, create->comment.text);
    view->column_count = bound.column_count;
    view->columns = columns;
    view->view_sql =
        ms_arena_copy_str(table_arena, ms_sql_unparse_query(create->query, binder.arena));
    view->create_sql = ms_arena_copy_str(table_arena, sql);
    *table_out = view;
    return MS_OK;
}
