/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INSERT: the columns of the query go by position to the columns named, or to all; what is not
 * named is NULL. Types follow Flink's implicit casts; NOT NULL is checked at run time, where the
 * query's type leaves a doubt.
 */
/* tidy: no-unit-test: covered by bind_test.c and bind_error_test.c, through whole statements */
#include "bind/bind_priv.h"

typedef struct inserter {
    msi_binder *binder;
    const ms_ast_insert *insert;
    const ms_table *table;
    ms_schema sink;          /* the columns that can be written */
    const uint32_t *source;  /* per sink column: the query's column, or UINT32_MAX */
    uint32_t target_count;   /* columns named */
    const uint32_t *targets; /* per query column: the sink's column */
} inserter;

static ms_rc refuse_clauses(msi_binder *binder, const ms_ast_insert *insert)
{
    if (insert->overwrite) {
        return msi_refuse(binder, insert->head.span, "INSERT OVERWRITE");
    }
    if (insert->partition_count > 0) {
        return msi_refuse(binder, insert->partition_span, "INSERT into a PARTITION");
    }
    if (insert->conflict != MS_AST_CONFLICT_UNSAID) {
        return msi_refuse(binder, insert->conflict_span, "ON CONFLICT");
    }
    return MS_OK;
}

static ms_rc find_target(msi_binder *binder, const ms_ast_insert *insert, ms_ltable *of_out)
{
    const ms_table *table;
    MS_TRY(ms_bind_find_table(binder->env, &insert->target, &table, binder->st));
    if (table->is_view) {
        return ms_status_set(binder->st, MS_INVALID_QUERY, insert->target.span,
                             "\"%.*s\" is a view: only tables can be written",
                             MS_STR_ARG(table->name));
    }
    *of_out = (ms_ltable){.table = table, .span = insert->target.span};
    return msi_bind_hints(binder, insert->hints, insert->hint_count, &of_out->hints);
}

/* Why a column of the table is not one of the sink. */
static ms_rc report_target(inserter *in, const ms_ast_ident *ident)
{
    ms_status *st = in->binder->st;
    for (uint32_t i = 0; i < in->table->column_count; i++) {
        if (ms_str_equals(in->table->columns[i].name, ident->text)) {
            return ms_status_set(
                st, MS_INVALID_QUERY, ident->span, "%s column \"%.*s\" cannot be written",
                in->table->columns[i].kind == MS_COLUMN_COMPUTED ? "computed" : "virtual",
                MS_STR_ARG(ident->text));
        }
    }
    msi_nearest nearest;
    msi_nearest_init(&nearest, ident->text);
    for (uint32_t i = 0; i < in->sink.column_count; i++) {
        msi_nearest_offer(&nearest, in->sink.columns[i].name);
    }
    ms_status_set(st, MS_UNDEFINED_COLUMN, ident->span, "table \"%.*s\" has no column \"%.*s\"",
                  MS_STR_ARG(in->table->name), MS_STR_ARG(ident->text));
    return msi_nearest_hint(&nearest, st);
}

/* The columns named, or all, in both directions. */
static ms_rc resolve_targets(inserter *in)
{
    msi_binder *binder = in->binder;
    const ms_ast_insert *insert = in->insert;
    uint32_t width = in->sink.column_count;
    uint32_t *source = ms_arena_array(binder->arena, uint32_t, width);
    uint32_t count = insert->column_count > 0 ? insert->column_count : width;
    uint32_t *targets = ms_arena_array(binder->arena, uint32_t, count);
    for (uint32_t i = 0; i < width; i++) {
        source[i] = insert->column_count > 0 ? UINT32_MAX : i;
    }
    for (uint32_t i = 0; i < count; i++) {
        targets[i] = i;
        if (insert->column_count == 0) {
            continue;
        }
        const ms_ast_path *path = &insert->columns[i];
        if (path->count > 1) {
            return msi_refuse(binder, path->span, "INSERT into a field of a column");
        }
        targets[i] = ms_schema_find(&in->sink, path->parts[0].text);
        if (targets[i] == UINT32_MAX) {
            return report_target(in, &path->parts[0]);
        }
        if (source[targets[i]] != UINT32_MAX) {
            return ms_status_set(binder->st, MS_DUPLICATE_COLUMN, path->span,
                                 "column \"%.*s\" is named twice", MS_STR_ARG(path->parts[0].text));
        }
        source[targets[i]] = i;
    }
    in->source = source;
    in->target_count = count;
    in->targets = targets;
    return MS_OK;
}

/* "[a: INT NOT NULL, b: STRING]" of the query or of the columns written. */
static ms_str schema_text(inserter *in, const msi_bound *bound)
{
    ms_arena *arena = in->binder->arena;
    ms_str text = ms_str_lit("[");
    uint32_t count = bound != NULL ? bound->column_count : in->target_count;
    for (uint32_t i = 0; i < count; i++) {
        const ms_field *field = bound == NULL ? &in->sink.columns[in->targets[i]] : NULL;
        ms_str name = bound != NULL ? bound->columns[i].name : field->name;
        ms_str type = ms_type_text(arena, bound != NULL ? bound->columns[i].type : field->type);
        text = ms_arena_format(arena, "%.*s%s%.*s: %.*s", MS_STR_ARG(text), i == 0 ? "" : ", ",
                               MS_STR_ARG(name), MS_STR_ARG(type));
        if (text.bytes > sizeof(in->binder->st->detail)) {
            break; /* cut by the status anyway */
        }
    }
    return ms_arena_format(arena, "%.*s]", MS_STR_ARG(text));
}

/* Flink's account of a mismatch, as detail. */
static ms_rc detail_mismatch(inserter *in, const msi_bound *bound, ms_str cause)
{
    ms_str query = schema_text(in, bound);
    ms_str sink = schema_text(in, NULL);
    return ms_status_detail(in->binder->st,
                            "Column types of query result and sink for '%s.%s.%.*s' do not match. "
                            "Cause: %.*s. Query schema: %.*s. Sink schema: %.*s",
                            MS_CATALOG_NAME, MS_CATALOG_DATABASE, MS_STR_ARG(in->table->name),
                            MS_STR_ARG(cause), MS_STR_ARG(query), MS_STR_ARG(sink));
}

static ms_rc check_count(inserter *in, const msi_bound *bound)
{
    if (bound->column_count == in->target_count) {
        return MS_OK;
    }
    ms_status_set(in->binder->st, MS_TYPE_MISMATCH, in->insert->query->span,
                  "the query has %u column%s, table \"%.*s\" takes %u%s", bound->column_count,
                  msi_plural(bound->column_count), MS_STR_ARG(in->table->name), in->target_count,
                  in->insert->column_count > 0 ? " here" : "");
    return detail_mismatch(in, bound, ms_str_lit("Different number of columns"));
}

static ms_rc report_type(inserter *in, const msi_bound *bound, uint32_t column, uint32_t target)
{
    ms_arena *arena = in->binder->arena;
    const msi_column *from = &bound->columns[column];
    const ms_field *to = &in->sink.columns[target];
    ms_str from_type = ms_type_text_bare(arena, from->type);
    ms_str to_type = ms_type_text_bare(arena, to->type);
    ms_span span = from->span.end > 0 ? from->span : in->insert->query->span;
    ms_status_set(in->binder->st, MS_TYPE_MISMATCH, span,
                  "column \"%.*s\" of table \"%.*s\" is %.*s and does not take %.*s",
                  MS_STR_ARG(to->name), MS_STR_ARG(in->table->name), MS_STR_ARG(to_type),
                  MS_STR_ARG(from_type));
    detail_mismatch(in, bound,
                    ms_arena_format(arena,
                                    "Incompatible types for sink column '%.*s' at position "
                                    "%u",
                                    MS_STR_ARG(to->name), column));
    if (ms_typing_cast_class(from->type, to->type) == MS_CAST_INFALLIBLE ||
        ms_typing_cast_class(from->type, to->type) == MS_CAST_FALLIBLE) {
        return ms_status_hint(in->binder->st, "Write CAST(... AS %.*s).", MS_STR_ARG(to_type));
    }
    return in->binder->st->code;
}

/* The expression that fills one sink column. */
static ms_rc bind_sink_column(inserter *in, const msi_bound *bound, uint32_t target,
                              const ms_expr **expr_out)
{
    msi_binder *binder = in->binder;
    const ms_field *field = &in->sink.columns[target];
    const ms_type *nullable = ms_type_as_nullable(binder->arena, field->type, true);
    uint32_t column = in->source[target];
    if (column == UINT32_MAX) {
        if (!field->type->nullable) {
            ms_status_set(binder->st, MS_NOT_NULL_VIOLATION, in->insert->target.span,
                          "column \"%.*s\" of table \"%.*s\" is NOT NULL and gets no value",
                          MS_STR_ARG(field->name), MS_STR_ARG(in->table->name));
            return ms_status_hint(binder->st, "Add it to the column list.");
        }
        const ms_expr *null = ms_build_null(&binder->build, in->insert->target.span);
        return ms_build_cast(&binder->build, null, nullable, MS_BUILD_IMPLICIT,
                             in->insert->target.span, expr_out);
    }
    const msi_column *from = &bound->columns[column];
    ms_span span = from->span.end > 0 ? from->span : in->insert->query->span;
    *expr_out = msi_column_expr(binder, from, column, span);
    if (ms_type_same_shape(from->type, field->type)) {
        return msi_bind_names_of(binder, *expr_out, field->type, span, expr_out);
    }
    if (!ms_typing_casts_implicitly(from->type, nullable)) {
        return report_type(in, bound, column, target);
    }
    return ms_build_cast(&binder->build, *expr_out, nullable, MS_BUILD_IMPLICIT, span, expr_out);
}

/* The sink columns named, ascending, as connectors want them. */
static const uint32_t *ascending_targets(inserter *in)
{
    uint32_t *targets = ms_arena_array(in->binder->arena, uint32_t, in->target_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < in->sink.column_count; i++) {
        if (in->source[i] != UINT32_MAX) {
            targets[count++] = i;
        }
    }
    return targets;
}

static ms_rc bind_sink(inserter *in, const ms_ltable *of, const msi_bound *bound,
                       const ms_lnode **sink_out)
{
    ms_arena *arena = in->binder->arena;
    uint32_t width = in->sink.column_count;
    const ms_expr **exprs = ms_arena_array(arena, const ms_expr *, width);
    ms_str *names = ms_arena_array(arena, ms_str, width);
    for (uint32_t i = 0; i < width; i++) {
        names[i] = in->sink.columns[i].name;
        MS_TRY(bind_sink_column(in, bound, i, &exprs[i]));
    }
    const ms_lnode *rows =
        ms_lnode_project(arena, bound->node, exprs, names, width, in->insert->query->span);
    *sink_out = ms_lnode_sink(arena, rows, of, ascending_targets(in), in->target_count,
                              in->insert->target.span);
    return MS_OK;
}

ms_rc msi_bind_insert(msi_binder *binder, const ms_ast_insert *insert, const ms_lnode **sink_out)
{
    inserter in = {.binder = binder, .insert = insert};
    ms_ltable of;
    MS_TRY(refuse_clauses(binder, insert));
    MS_TRY(find_target(binder, insert, &of));
    in.table = of.table;
    in.sink = ms_table_sink_schema(binder->arena, of.table);
    MS_TRY(resolve_targets(&in));
    msi_bound bound;
    MS_TRY(msi_bind_query(binder, insert->query, &bound));
    MS_TRY(check_count(&in, &bound));
    return bind_sink(&in, &of, &bound, sink_out);
}
