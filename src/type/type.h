/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL types, as Flink has them: a kind, parameters and exact nullability. A type is immutable once
 * made and is shared freely by expressions, plans and vectors. Two types are the same when
 * ms_type_equals says so; pointers are not compared.
 *
 *     const ms_type *price = ms_type_decimal(arena, 10, 2, true);
 *     const ms_type *key = ms_type_as_nullable(arena, price, false);
 *
 * How a kind is stored in a vector (its physical form) is decided here and nowhere else:
 *
 *     BOOLEAN                      BOOL   1 byte, 0 or 1
 *     TINYINT SMALLINT INT BIGINT  I8 I16 I32 I64
 *     FLOAT DOUBLE                 F32 F64
 *     DECIMAL(p,s)                 I64 for p <= 18, else I128; the unscaled value
 *     CHAR VARCHAR BINARY ...      STR    16-byte views (type/vec.h)
 *     DATE                         I32    days since 1970-01-01
 *     TIME(p)                      I32    milliseconds of the day
 *     TIMESTAMP(p), _LTZ(p)        I64 microseconds for p <= 6, else TS16 {int64 ms, int32 ns}
 *     INTERVAL YEAR TO MONTH       I32    months
 *     INTERVAL DAY TO SECOND       I64    milliseconds
 *     ARRAY MAP MULTISET           LIST   (offset, length) over child vectors
 *     ROW                          ROW    validity and child vectors
 *
 * Ownership: types live in the arena that made them. Thread: any, read only.
 * Limits: nesting at most MS_LIMIT_TYPE_DEPTH, checked by the binder.
 */
#ifndef MS_TYPE_TYPE_H
#define MS_TYPE_TYPE_H

#include "base/arena.h"
#include "base/str.h"

typedef enum ms_type_kind {
    MS_TYPE_NULL, /* the type of an untyped NULL literal; never a column's */
    MS_TYPE_BOOLEAN,
    MS_TYPE_TINYINT,
    MS_TYPE_SMALLINT,
    MS_TYPE_INT,
    MS_TYPE_BIGINT,
    MS_TYPE_FLOAT,
    MS_TYPE_DOUBLE,
    MS_TYPE_DECIMAL,
    MS_TYPE_CHAR,
    MS_TYPE_VARCHAR, /* STRING is VARCHAR(MS_TYPE_LENGTH_MAX) */
    MS_TYPE_BINARY,
    MS_TYPE_VARBINARY, /* BYTES is VARBINARY(MS_TYPE_LENGTH_MAX) */
    MS_TYPE_DATE,
    MS_TYPE_TIME,
    MS_TYPE_TIMESTAMP,
    MS_TYPE_TIMESTAMP_LTZ,
    MS_TYPE_INTERVAL_MONTH,
    MS_TYPE_INTERVAL_SECOND,
    MS_TYPE_ARRAY,
    MS_TYPE_MAP,
    MS_TYPE_MULTISET,
    MS_TYPE_ROW,
    MS_TYPE_RAW,          /* parsed, refused by the binder */
    MS_TYPE_TIMESTAMP_TZ, /* parsed, refused by the binder */
    MS_TYPE_KIND_COUNT
} ms_type_kind;

typedef enum ms_phys {
    MS_PHYS_NONE,
    MS_PHYS_BOOL,
    MS_PHYS_I8,
    MS_PHYS_I16,
    MS_PHYS_I32,
    MS_PHYS_I64,
    MS_PHYS_I128,
    MS_PHYS_F32,
    MS_PHYS_F64,
    MS_PHYS_TS16,
    MS_PHYS_STR,
    MS_PHYS_LIST,
    MS_PHYS_ROW,
    MS_PHYS_COUNT
} ms_phys;

/* The C type of MS_PHYS_I128; C17 has no name for it. */
__extension__ typedef __int128 ms_i128;

#define MS_TYPE_LENGTH_MAX INT32_MAX
#define MS_TYPE_DECIMAL_PRECISION_MAX 38
#define MS_TYPE_DECIMAL_I64_PRECISION 18 /* 10^18 - 1 < 2^63 */

typedef struct ms_type ms_type;

/* Read freely; made only by the functions below. */
struct ms_type {
    ms_type_kind kind;
    bool nullable;
    ms_phys phys;
    int32_t
        precision; /* DECIMAL digits, TIME and TIMESTAMP fraction digits; CHAR..VARBINARY length */
    int32_t scale; /* DECIMAL */
    uint32_t child_count;           /* ARRAY, MULTISET 1; MAP 2; ROW any */
    const ms_type *const *children; /* element; key and value; fields */
    const ms_str *names;            /* ROW: field names */
};

/* A named type: a column of a schema, a field of a row. */
typedef struct ms_field {
    ms_str name;
    const ms_type *type;
} ms_field;

/* The columns of a table, query or edge. */
typedef struct ms_schema {
    uint32_t column_count;
    const ms_field *columns;
} ms_schema;

/* Making. */

/* A kind without parameters. */
const ms_type *ms_type_simple(ms_arena *arena, ms_type_kind kind, bool nullable);

/* CHAR, VARCHAR, BINARY or VARBINARY of a length from 0 (literals) to MS_TYPE_LENGTH_MAX. */
const ms_type *ms_type_sized(ms_arena *arena, ms_type_kind kind, int32_t length, bool nullable);
const ms_type *ms_type_string(ms_arena *arena, bool nullable);
const ms_type *ms_type_bytes(ms_arena *arena, bool nullable);

/* 1 <= precision <= 38, 0 <= scale <= precision. */
const ms_type *ms_type_decimal(ms_arena *arena, int32_t precision, int32_t scale, bool nullable);

/* TIME, TIMESTAMP, TIMESTAMP_LTZ with 0..9 fraction digits. */
const ms_type *ms_type_temporal(ms_arena *arena, ms_type_kind kind, int32_t precision,
                                bool nullable);
const ms_type *ms_type_array(ms_arena *arena, const ms_type *element, bool nullable);
const ms_type *ms_type_multiset(ms_arena *arena, const ms_type *element, bool nullable);
const ms_type *ms_type_map(ms_arena *arena, const ms_type *key, const ms_type *value,
                           bool nullable);

/* Copies the names and the array of fields into the arena. */
const ms_type *ms_type_row(ms_arena *arena, const ms_field *fields, uint32_t count, bool nullable);

/* The same type with this nullability; returns type itself when it has it already. */
const ms_type *ms_type_as_nullable(ms_arena *arena, const ms_type *type, bool nullable);

/* The same type with the field names, at any level, of another one of the same shape. */
const ms_type *ms_type_with_names(ms_arena *arena, const ms_type *type, const ms_type *names);

/* A deep copy into another lifetime. */
const ms_type *ms_type_copy(ms_arena *arena, const ms_type *type);

/* Inspection. */

/* Equal in kind, parameters, nullability, children and field names. */
bool ms_type_equals(const ms_type *a, const ms_type *b);

/* Equal but for nullability at any level and for field names. */
bool ms_type_same_shape(const ms_type *a, const ms_type *b);
bool ms_type_is_integer(const ms_type *type);
bool ms_type_is_numeric(const ms_type *type);
bool ms_type_is_character(const ms_type *type);
bool ms_type_is_binary(const ms_type *type);
bool ms_type_is_timestamp(const ms_type *type);
bool ms_type_is_interval(const ms_type *type);
bool ms_type_is_nested(const ms_type *type);

/* Flink's text, as DESCRIBE and EXPLAIN print it: "DECIMAL(10, 2) NOT NULL", "ROW<`a` INT>". */
ms_str ms_type_text(ms_arena *arena, const ms_type *type);

/* The same without a trailing NOT NULL at the top level. */
ms_str ms_type_text_bare(ms_arena *arena, const ms_type *type);

/* As SHOW CREATE prints it: without the short names STRING, BYTES and TIMESTAMP_LTZ. */
ms_str ms_type_text_long(ms_arena *arena, const ms_type *type);

/* Bytes of one value in a vector's data array; 0 for NONE and ROW. */
size_t ms_phys_bytes(ms_phys phys);

/* The index of a column by exact name; UINT32_MAX when there is none. */
uint32_t ms_schema_find(const ms_schema *schema, ms_str name);

#endif
