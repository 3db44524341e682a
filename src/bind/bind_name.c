/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to columns. A path a.b.c is, in this order: an alias of ORDER BY with fields behind it; a
 * column of the relation a; a column a with fields behind it. Matching is exact, as in Flink, so a
 * name in the wrong case is a misspelling and the hint says so.
 */
/* tidy: no-unit-test: covered by bind_test.c and bind_error_test.c, through whole statements */
#include "bind/bind_priv.h"

/* Nearest names. */

#define DISTANCE_MAX 3u /* more edits than this is another word */

void msi_nearest_init(msi_nearest *nearest, ms_str target)
{
    *nearest = (msi_nearest){.target = target};
}

void msi_nearest_offer(msi_nearest *nearest, ms_str name)
{
    unsigned distance = ms_str_distance(nearest->target, name, DISTANCE_MAX);
    /* Half of a short word replaced is no likeness. */
    if (name.bytes == 0 || distance > DISTANCE_MAX || distance * 2 > nearest->target.bytes) {
        return;
    }
    uint32_t at = nearest->count;
    for (uint32_t i = 0; i < nearest->count; i++) {
        if (ms_str_equals(nearest->names[i], name)) {
            return;
        }
        if (at == nearest->count && distance < nearest->distances[i]) {
            at = i;
        }
    }
    if (at == MSI_NEAREST_MAX) {
        return;
    }
    if (nearest->count < MSI_NEAREST_MAX) {
        nearest->count++;
    }
    for (uint32_t i = nearest->count - 1; i > at; i--) {
        nearest->names[i] = nearest->names[i - 1];
        nearest->distances[i] = nearest->distances[i - 1];
    }
    nearest->names[at] = name;
    nearest->distances[at] = distance;
}

ms_rc msi_nearest_hint(const msi_nearest *nearest, ms_status *st)
{
    const ms_str *names = nearest->names;
    switch (nearest->count) {
    case 0:
        return st->code;
    case 1:
        return ms_status_hint(st, "Did you mean \"%.*s\"?", MS_STR_ARG(names[0]));
    case 2:
        return ms_status_hint(st, "Did you mean \"%.*s\" or \"%.*s\"?", MS_STR_ARG(names[0]),
                              MS_STR_ARG(names[1]));
    default:
        return ms_status_hint(st, "Did you mean \"%.*s\", \"%.*s\" or \"%.*s\"?",
                              MS_STR_ARG(names[0]), MS_STR_ARG(names[1]), MS_STR_ARG(names[2]));
    }
}

ms_rc msi_report_column(msi_binder *binder, const msi_scope *scope, ms_str name, ms_span span)
{
    msi_nearest nearest;
    msi_nearest_init(&nearest, name);
    for (uint32_t i = 0; scope->outputs != NULL && i < scope->outputs->count; i++) {
        msi_nearest_offer(&nearest, scope->outputs->columns[i].name);
    }
    bool has_columns = scope->outputs != NULL;
    for (uint32_t r = 0; r < scope->relation_count; r++) {
        for (uint32_t i = 0; i < scope->relations[r].column_count; i++) {
            msi_nearest_offer(&nearest, scope->relations[r].columns[i].name);
            has_columns = true;
        }
    }
    ms_status_set(binder->st, MS_UNDEFINED_COLUMN, span, "column \"%.*s\" does not exist",
                  MS_STR_ARG(name));
    if (!has_columns) {
        return ms_status_hint(binder->st, "There are no columns here. A text is written in single "
                                          "quotes.");
    }
    return msi_nearest_hint(&nearest, binder->st);
}

/* Columns. */

const ms_expr *msi_column_expr(msi_binder *binder, const msi_column *column, uint32_t ordinal,
                               ms_span span)
{
    if (column->type->kind == MS_TYPE_NULL) {
        return ms_build_null(&binder->build, span);
    }
    return ms_expr_column(binder->arena, ordinal, column->type, span);
}

const msi_relation *msi_scope_relation(const msi_scope *scope, ms_str name)
{
    for (uint32_t i = 0; i < scope->relation_count; i++) {
        if (scope->relations[i].name.bytes > 0 && ms_str_equals(scope->relations[i].name, name)) {
            return &scope->relations[i];
        }
    }
    return NULL;
}

#define NOT_FOUND UINT32_MAX

static ms_rc report_ambiguous(msi_binder *binder, const msi_column *columns, uint32_t column_count,
                              ms_str owner, const ms_ast_ident *ident)
{
    uint32_t count = 0;
    uint32_t ordinals[2] = {0, 0};
    for (uint32_t i = 0; i < column_count; i++) {
        if (ms_str_equals(columns[i].name, ident->text)) {
            ordinals[count < 2 ? count : 1] = i + 1;
            count++;
        }
    }
    ms_status_set(binder->st, MS_AMBIGUOUS_COLUMN, ident->span, "column \"%.*s\" is ambiguous",
                  MS_STR_ARG(ident->text));
    ms_status_detail(binder->st, "%u columns of %s%.*s%s have this name: number %u and number %u%s",
                     count, owner.bytes > 0 ? "\"" : "the sub-query", MS_STR_ARG(owner),
                     owner.bytes > 0 ? "\"" : "", ordinals[0], ordinals[1],
                     count > 2 ? ", and more" : "");
    return ms_status_hint(binder->st, "Give the columns different names with AS.");
}

/* The place of a name among columns; NOT_FOUND when there is none, an error when there are two. */
static ms_rc find_column(msi_binder *binder, const msi_column *columns, uint32_t column_count,
                         ms_str owner, const ms_ast_ident *ident, uint32_t *index_out)
{
    *index_out = NOT_FOUND;
    for (uint32_t i = 0; i < column_count; i++) {
        if (!ms_str_equals(columns[i].name, ident->text)) {
            continue;
        }
        if (*index_out != NOT_FOUND) {
            return report_ambiguous(binder, columns, column_count, owner, ident);
        }
        *index_out = i;
    }
    return MS_OK;
}

/* Fields behind a column: a.b.c from b on. */
static ms_rc bind_fields(msi_binder *binder, const ms_ast_path *path, uint32_t from,
                         const ms_expr **expr_inout)
{
    for (uint32_t i = from; i < path->count; i++) {
        ms_span span = {path->parts[0].span.start, path->parts[i].span.end};
        const ms_expr *row = *expr_inout;
        if (row->type->kind != MS_TYPE_ROW) {
            ms_str type = ms_type_text_bare(binder->arena, row->type);
            return ms_status_set(binder->st, MS_UNDEFINED_COLUMN, path->parts[i].span,
                                 "\"%.*s\" has no field \"%.*s\": it is %.*s, not a ROW",
                                 MS_STR_ARG(path->parts[i - 1].text),
                                 MS_STR_ARG(path->parts[i].text), MS_STR_ARG(type));
        }
        MS_TRY(ms_build_field(&binder->build, row, path->parts[i].text, span, expr_inout));
    }
    return MS_OK;
}

const ms_expr *msi_through_outputs(msi_binder *binder, msi_scope *scope, const ms_expr *leaf)
{
    if (scope->outputs == NULL || leaf->kind != MS_EXPR_COLUMN) {
        return leaf;
    }
    msi_exprs *hidden = &scope->outputs->hidden;
    uint32_t at = 0;
    while (at < hidden->count && hidden->items[at]->index != leaf->index) {
        at++;
    }
    if (at == hidden->count) {
        msi_exprs_add(binder->arena, hidden, leaf);
    }
    return ms_expr_column(binder->arena, scope->outputs->count + at, leaf->type, leaf->span);
}

static ms_rc bind_relation_column(msi_binder *binder, msi_scope *scope,
                                  const msi_relation *relation, uint32_t index,
                                  const ms_ast_ident *ident, const ms_expr **expr_out)
{
    const msi_column *column = &relation->columns[index];
    if (column->type == NULL) {
        ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, ident->span,
                      "computed column \"%.*s\" cannot be used in another computed column",
                      MS_STR_ARG(ident->text));
        return ms_status_hint(binder->st, "Repeat its expression.");
    }
    const ms_expr *leaf = msi_column_expr(binder, column, relation->first + index, ident->span);
    if (scope->aggs != NULL && !scope->inside_aggregate && !scope->aggs->has_plain) {
        scope->aggs->has_plain = true;
        scope->aggs->plain_span = ident->span;
        scope->aggs->plain_name = ident->text;
    }
    *expr_out = scope->inside_aggregate ? leaf : msi_through_outputs(binder, scope, leaf);
    return MS_OK;
}

/* path[0] as a relation and path[1] as its column. *expr_out stays NULL when it is not so. */
static ms_rc bind_qualified(msi_binder *binder, msi_scope *scope, const ms_ast_path *path,
                            const ms_expr **expr_out)
{
    *expr_out = NULL;
    const msi_relation *relation =
        path->count > 1 ? msi_scope_relation(scope, path->parts[0].text) : NULL;
    if (relation == NULL) {
        return MS_OK;
    }
    uint32_t index;
    MS_TRY(find_column(binder, relation->columns, relation->column_count, relation->name,
                       &path->parts[1], &index));
    if (index == NOT_FOUND) {
        return MS_OK;
    }
    MS_TRY(bind_relation_column(binder, scope, relation, index, &path->parts[1], expr_out));
    return bind_fields(binder, path, 2, expr_out);
}

/* path[0] as a column of any relation. */
static ms_rc bind_unqualified(msi_binder *binder, msi_scope *scope, const ms_ast_path *path,
                              const ms_expr **expr_out)
{
    *expr_out = NULL;
    const msi_relation *owner = NULL;
    uint32_t found = NOT_FOUND;
    for (uint32_t r = 0; r < scope->relation_count; r++) {
        const msi_relation *relation = &scope->relations[r];
        uint32_t index;
        MS_TRY(find_column(binder, relation->columns, relation->column_count, relation->name,
                           &path->parts[0], &index));
        if (index == NOT_FOUND) {
            continue;
        }
        if (owner != NULL) {
            ms_status_set(binder->st, MS_AMBIGUOUS_COLUMN, path->parts[0].span,
                          "column \"%.*s\" is ambiguous", MS_STR_ARG(path->parts[0].text));
            return ms_status_detail(binder->st, "it is in \"%.*s\" and in \"%.*s\"",
                                    MS_STR_ARG(owner->name), MS_STR_ARG(relation->name));
        }
        owner = relation;
        found = index;
    }
    if (owner == NULL) {
        return MS_OK;
    }
    MS_TRY(bind_relation_column(binder, scope, owner, found, &path->parts[0], expr_out));
    return bind_fields(binder, path, 1, expr_out);
}

/* path[0] as an alias of the select list; only in ORDER BY, and not inside its aggregates. */
static ms_rc bind_alias(msi_binder *binder, msi_scope *scope, const ms_ast_path *path,
                        const ms_expr **expr_out)
{
    *expr_out = NULL;
    if (scope->outputs == NULL || scope->inside_aggregate) {
        return MS_OK;
    }
    uint32_t index;
    MS_TRY(find_column(binder, scope->outputs->columns, scope->outputs->count,
                       ms_str_lit("the select list"), &path->parts[0], &index));
    if (index == NOT_FOUND) {
        return MS_OK;
    }
    *expr_out =
        msi_column_expr(binder, &scope->outputs->columns[index], index, path->parts[0].span);
    return bind_fields(binder, path, 1, expr_out);
}

bool msi_scope_has_column(const msi_scope *scope, ms_str name)
{
    for (uint32_t r = 0; r < scope->relation_count; r++) {
        for (uint32_t i = 0; i < scope->relations[r].column_count; i++) {
            if (ms_str_equals(scope->relations[r].columns[i].name, name)) {
                return true;
            }
        }
    }
    return false;
}

ms_rc msi_report_relation(msi_binder *binder, const msi_scope *scope, const ms_ast_ident *ident)
{
    ms_status_set(binder->st, MS_UNDEFINED_TABLE, ident->span,
                  "\"%.*s\" is neither a table nor a column of FROM", MS_STR_ARG(ident->text));
    msi_nearest nearest;
    msi_nearest_init(&nearest, ident->text);
    for (uint32_t r = 0; r < scope->relation_count; r++) {
        msi_nearest_offer(&nearest, scope->relations[r].name);
        for (uint32_t i = 0; i < scope->relations[r].column_count; i++) {
            msi_nearest_offer(&nearest, scope->relations[r].columns[i].name);
        }
    }
    return msi_nearest_hint(&nearest, binder->st);
}

static ms_rc report_path(msi_binder *binder, const msi_scope *scope, const ms_ast_path *path)
{
    if (path->count == 1) {
        return msi_report_column(binder, scope, path->parts[0].text, path->parts[0].span);
    }
    const msi_relation *relation = msi_scope_relation(scope, path->parts[0].text);
    if (relation != NULL) {
        msi_scope own = {.relations = relation, .relation_count = 1};
        return msi_report_column(binder, &own, path->parts[1].text, path->parts[1].span);
    }
    return msi_report_relation(binder, scope, &path->parts[0]);
}

ms_rc msi_bind_name(msi_binder *binder, msi_scope *scope, const ms_ast_name *name,
                    const ms_expr **expr_out)
{
    MS_TRY(bind_alias(binder, scope, &name->path, expr_out));
    if (*expr_out == NULL) {
        MS_TRY(bind_qualified(binder, scope, &name->path, expr_out));
    }
    if (*expr_out == NULL) {
        MS_TRY(bind_unqualified(binder, scope, &name->path, expr_out));
    }
    return *expr_out != NULL ? MS_OK : report_path(binder, scope, &name->path);
}
