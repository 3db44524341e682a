/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DESCRIBE and SHOW CREATE, in Flink's layout.
 */
#include "bind/bind.h"
#include "sql/unparse.h"

bool ms_bind_describe_has_comment(const ms_table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].comment.bytes > 0) {
            return true;
        }
    }
    return false;
}

/* Texts with a separator between them. */
static ms_str join(ms_arena *arena, const ms_str *texts, uint32_t count, ms_str separator)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += texts[i].bytes + separator.bytes;
    }
    char *joined = ms_arena_alloc(arena, bytes, 1);
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            memcpy(joined + at, separator.ptr, separator.bytes);
            at += separator.bytes;
        }
        memcpy(joined + at, texts[i].ptr, texts[i].bytes);
        at += texts[i].bytes;
    }
    return ms_str_make(joined, at);
}

/* The names of the primary key's columns, perhaps in back-ticks. */
static ms_str key_names(ms_arena *arena, const ms_table *table, bool quoted, ms_str separator)
{
    ms_str *names = ms_arena_array(arena, ms_str, table->key_count);
    for (uint32_t i = 0; i < table->key_count; i++) {
        ms_str name = table->columns[table->key_columns[i]].name;
        names[i] = quoted ? ms_sql_quote_name(name, arena) : name;
    }
    return join(arena, names, table->key_count, separator);
}

/* "PRI(a, b)" for a column of the key. */
static ms_str key_text(ms_arena *arena, const ms_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->key_count; i++) {
        if (table->key_columns[i] == column) {
            ms_str names = key_names(arena, table, false, ms_str_lit(", "));
            return ms_arena_format(arena, "PRI(%.*s)", MS_STR_ARG(names));
        }
    }
    return (ms_str){NULL, 0};
}

/* " METADATA FROM 'k' VIRTUAL", with the blank in front. */
static ms_str metadata_text(ms_arena *arena, const ms_column *column)
{
    ms_str from = {NULL, 0};
    if (!ms_str_equals(column->metadata_key, column->name)) {
        from = ms_arena_format(arena, " FROM %.*s",
                               MS_STR_ARG(ms_sql_quote_text(column->metadata_key, arena)));
    }
    return ms_arena_format(arena, " METADATA%.*s%s", MS_STR_ARG(from),
                           column->is_virtual ? " VIRTUAL" : "");
}

static ms_str extras_text(ms_arena *arena, const ms_column *column)
{
    switch (column->kind) {
    case MS_COLUMN_COMPUTED:
        return ms_arena_format(arena, "AS %.*s", MS_STR_ARG(column->expr_sql));
    case MS_COLUMN_METADATA: {
        ms_str text = metadata_text(arena, column);
        return ms_str_slice(text, 1, text.bytes);
    }
    case MS_COLUMN_PHYSICAL:
        break;
    }
    return (ms_str){NULL, 0};
}

void ms_bind_describe_column(ms_arena *arena, const ms_table *table, uint32_t column,
                             bool is_streaming, ms_bind_description *row_out)
{
    const ms_column *of = &table->columns[column];
    bool has_watermark = table->watermark != NULL && table->watermark->column == column;
    ms_str type = ms_type_text_bare(arena, of->type);
    *row_out = (ms_bind_description){0};
    row_out->cells[0] = of->name;
    row_out->cells[1] = has_watermark && is_streaming
                            ? ms_arena_format(arena, "%.*s *ROWTIME*", MS_STR_ARG(type))
                            : type;
    row_out->cells[2] = of->type->nullable ? ms_str_lit("TRUE") : ms_str_lit("FALSE");
    row_out->cells[3] = key_text(arena, table, column);
    row_out->cells[4] = extras_text(arena, of);
    if (has_watermark) {
        row_out->cells[5] = table->watermark->expr_sql;
    }
    if (of->comment.bytes > 0) {
        row_out->cells[6] = of->comment;
    }
}

/* SHOW CREATE. The lines are collected in a text of the arena; tables are small. */

static ms_str column_line(ms_arena *arena, const ms_column *column)
{
    ms_str name = ms_sql_quote_name(column->name, arena);
    ms_str comment = {NULL, 0};
    if (column->comment.bytes > 0) {
        comment = ms_arena_format(arena, " COMMENT %.*s",
                                  MS_STR_ARG(ms_sql_quote_text(column->comment, arena)));
    }
    if (column->kind == MS_COLUMN_COMPUTED) {
        return ms_arena_format(arena, "  %.*s AS %.*s%.*s", MS_STR_ARG(name),
                               MS_STR_ARG(column->expr_sql), MS_STR_ARG(comment));
    }
    ms_str type = ms_type_text_long(arena, column->type);
    ms_str extras = {NULL, 0};
    if (column->kind == MS_COLUMN_METADATA) {
        extras = metadata_text(arena, column);
    }
    return ms_arena_format(arena, "  %.*s %.*s%.*s%.*s", MS_STR_ARG(name), MS_STR_ARG(type),
                           MS_STR_ARG(extras), MS_STR_ARG(comment));
}

static ms_str watermark_line(ms_arena *arena, const ms_table *table)
{
    ms_str name = table->columns[table->watermark->column].name;
    return ms_arena_format(arena, "  WATERMARK FOR %.*s AS %.*s",
                           MS_STR_ARG(ms_sql_quote_name(name, arena)),
                           MS_STR_ARG(table->watermark->expr_sql));
}

static ms_str key_line(ms_arena *arena, const ms_table *table)
{
    ms_str constraint = ms_arena_format(
        arena, "PK_%.*s", MS_STR_ARG(key_names(arena, table, false, ms_str_lit("_"))));
    return ms_arena_format(arena, "  CONSTRAINT %.*s PRIMARY KEY (%.*s) NOT ENFORCED",
                           MS_STR_ARG(ms_sql_quote_name(constraint, arena)),
                           MS_STR_ARG(key_names(arena, table, true, ms_str_lit(", "))));
}

/* The options in force, sorted by key: of several with one key, the last. */
static ms_str option_lines(ms_arena *arena, const ms_table *table)
{
    const ms_option_list *options = &table->options;
    const ms_option **sorted = ms_arena_array(arena, const ms_option *, options->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < options->count; i++) {
        const ms_option *option = &options->items[i];
        uint32_t at = 0;
        while (at < count && ms_str_compare(sorted[at]->key, option->key) < 0) {
            at++;
        }
        if (at < count && ms_str_equals(sorted[at]->key, option->key)) {
            sorted[at] = option;
            continue;
        }
        for (uint32_t k = count; k > at; k--) {
            sorted[k] = sorted[k - 1];
        }
        sorted[at] = option;
        count++;
    }
    ms_str *lines = ms_arena_array(arena, ms_str, count);
    for (uint32_t i = 0; i < count; i++) {
        lines[i] = ms_arena_format(arena, "  %.*s = %.*s",
                                   MS_STR_ARG(ms_sql_quote_text(sorted[i]->key, arena)),
                                   MS_STR_ARG(ms_sql_quote_text(sorted[i]->value, arena)));
    }
    return join(arena, lines, count, ms_str_lit(",\n"));
}

/* `default_catalog`.`default_database`.`t` */
static ms_str full_name(ms_arena *arena, const ms_table *table)
{
    return ms_arena_format(arena, "`%s`.`%s`.%.*s", MS_CATALOG_NAME, MS_CATALOG_DATABASE,
                           MS_STR_ARG(ms_sql_quote_name(table->name, arena)));
}

static ms_str comment_line(ms_arena *arena, const ms_table *table)
{
    if (table->comment.bytes == 0) {
        return (ms_str){NULL, 0};
    }
    return ms_arena_format(arena, "COMMENT %.*s\n",
                           MS_STR_ARG(ms_sql_quote_text(table->comment, arena)));
}

static ms_str show_create_view(ms_arena *arena, const ms_table *view)
{
    ms_str *lines = ms_arena_array(arena, ms_str, view->column_count);
    for (uint32_t i = 0; i < view->column_count; i++) {
        lines[i] = ms_arena_format(arena, "  %.*s",
                                   MS_STR_ARG(ms_sql_quote_name(view->columns[i].name, arena)));
    }
    return ms_arena_format(arena, "CREATE %sVIEW %.*s (\n%.*s\n)\n%.*sAS %.*s\n",
                           view->is_temporary ? "TEMPORARY " : "",
                           MS_STR_ARG(full_name(arena, view)),
                           MS_STR_ARG(join(arena, lines, view->column_count, ms_str_lit(",\n"))),
                           MS_STR_ARG(comment_line(arena, view)), MS_STR_ARG(view->view_sql));
}

ms_str ms_bind_show_create(ms_arena *arena, const ms_table *table)
{
    if (table->is_view) {
        return show_create_view(arena, table);
    }
    ms_str *lines = ms_arena_array(arena, ms_str, table->column_count + 2);
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        lines[count++] = column_line(arena, &table->columns[i]);
    }
    if (table->watermark != NULL) {
        lines[count++] = watermark_line(arena, table);
    }
    if (table->key_count > 0) {
        lines[count++] = key_line(arena, table);
    }
    ms_str with = {NULL, 0};
    if (table->options.count > 0) {
        with = ms_arena_format(arena, "WITH (\n%.*s\n)\n", MS_STR_ARG(option_lines(arena, table)));
    }
    return ms_arena_format(arena, "CREATE %sTABLE %.*s (\n%.*s\n)\n%.*s%.*s",
                           table->is_temporary ? "TEMPORARY " : "",
                           MS_STR_ARG(full_name(arena, table)),
                           MS_STR_ARG(join(arena, lines, count, ms_str_lit(",\n"))),
                           MS_STR_ARG(comment_line(arena, table)), MS_STR_ARG(with));
}
