/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the catalog knows of a table or view: columns of three kinds, watermark, primary key and the
 * WITH options as the user wrote them. A table is immutable once registered; ALTER and DROP replace
 * or remove the whole.
 *
 * Expressions of computed columns and of the watermark are bound when the table is created: a
 * computed column's refers to the physical and metadata columns by ordinal among all columns, the
 * watermark's to all columns.
 *
 * Ownership: a table and all it points to live in one arena of the catalog. Thread: that of the
 * session.
 */
#ifndef MS_CATALOG_TABLE_H
#define MS_CATALOG_TABLE_H

#include "expr/expr.h"
#include "type/type.h"

typedef enum ms_column_kind {
    MS_COLUMN_PHYSICAL,
    MS_COLUMN_COMPUTED,
    MS_COLUMN_METADATA
} ms_column_kind;

typedef struct ms_column {
    ms_str name;
    ms_span span;
    ms_column_kind kind;
    const ms_type *type;
    const ms_expr *expr; /* COMPUTED */
    ms_str expr_sql;     /* COMPUTED: as DESCRIBE and SHOW CREATE print it */
    ms_str metadata_key; /* METADATA */
    bool is_virtual;     /* METADATA: readable only */
    ms_str comment;
} ms_column;

/* One entry of WITH or of an OPTIONS hint, with its places in the text. */
typedef struct ms_option {
    ms_str key;
    ms_str value;
    ms_span key_span;
    ms_span value_span;
} ms_option;

typedef struct ms_option_list {
    uint32_t count;
    const ms_option *items; /* keys as written, with the prefix */
    ms_str prefix;          /* that all keys share and descriptors lack; mostly none */
} ms_option_list;

typedef struct ms_watermark_def {
    uint32_t column;     /* the rowtime column, ordinal among all columns */
    const ms_expr *expr; /* same type as the column */
    ms_str expr_sql;     /* as DESCRIBE and SHOW CREATE print it */
    ms_span span;
} ms_watermark_def;

typedef struct ms_table {
    ms_str name;
    bool is_view;
    bool is_temporary;
    ms_str comment;
    uint32_t column_count;
    const ms_column *columns;
    const ms_watermark_def *watermark; /* NULL: none */
    uint32_t key_count;                /* primary key, ordinals among all columns */
    const uint32_t *key_columns;
    ms_option_list options;
    uint64_t source_id; /* the text that spans point into: its script's number */
    ms_str view_sql;    /* views: the query's text, without variables */
    ms_str create_sql;  /* the statement's text */
} ms_table;

/* The value of an option, or an empty string with ptr NULL when it is not set. Later entries win.
 */
ms_str ms_table_option(const ms_table *table, ms_str key);

/* The schema that a connector reads: physical and metadata columns, in the order declared. */
ms_schema ms_table_stored_schema(ms_arena *arena, const ms_table *table);

/* The schema that a sink writes: physical and non-virtual metadata columns, in the order declared.
 */
ms_schema ms_table_sink_schema(ms_arena *arena, const ms_table *table);

/* All columns, as a query sees them. */
ms_schema ms_table_query_schema(ms_arena *arena, const ms_table *table);

#endif
