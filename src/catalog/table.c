/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of a table's columns as its readers, writers and queries see them.
 */
#include "catalog/table.h"

ms_str ms_table_option(const ms_table *table, ms_str key)
{
    for (uint32_t i = table->options.count; i-- > 0;) {
        if (ms_str_equals(table->options.items[i].key, key)) {
            return table->options.items[i].value;
        }
    }
    return (ms_str){NULL, 0};
}

/* Which columns a schema takes. */
typedef bool (*column_filter)(const ms_column *column);

static bool is_stored(const ms_column *column)
{
    return column->kind != MS_COLUMN_COMPUTED;
}

static bool is_written(const ms_column *column)
{
    return column->kind == MS_COLUMN_PHYSICAL ||
           (column->kind == MS_COLUMN_METADATA && !column->is_virtual);
}

static bool is_any(const ms_column *column)
{
    return column->type != NULL;
}

static ms_schema select_columns(ms_arena *arena, const ms_table *table, column_filter filter)
{
    ms_field *fields = ms_arena_array(arena, ms_field, table->column_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (filter(&table->columns[i])) {
            fields[count++] = (ms_field){table->columns[i].name, table->columns[i].type};
        }
    }
    return (ms_schema){count, fields};
}

ms_schema ms_table_stored_schema(ms_arena *arena, const ms_table *table)
{
    return select_columns(arena, table, is_stored);
}

ms_schema ms_table_sink_schema(ms_arena *arena, const ms_table *table)
{
    return select_columns(arena, table, is_written);
}

ms_schema ms_table_query_schema(ms_arena *arena, const ms_table *table)
{
    return select_columns(arena, table, is_any);
}
