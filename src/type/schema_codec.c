/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of schemas: what a file says about the rows in it. Version 1:
 *
 *     u8 version, varint columns, then for each: text name, type
 *     type: u8 code, u8 nullable, then by kind
 *         DECIMAL                             varint precision, varint scale
 *         CHAR to VARBINARY, TIME, TIMESTAMP  varint length or digits
 *         ARRAY, MAP, MULTISET                the child types
 *         ROW                                 varint fields, then for each: text name, type
 *
 * The codes are stored and therefore never change; ms_type_kind may.
 */
#include "type/rowcodec.h"

#include "base/codec.h"

#define NO_CODE 0u

static const uint8_t kind_codes[] = {
    [MS_TYPE_NULL] = 1,
    [MS_TYPE_BOOLEAN] = 2,
    [MS_TYPE_TINYINT] = 3,
    [MS_TYPE_SMALLINT] = 4,
    [MS_TYPE_INT] = 5,
    [MS_TYPE_BIGINT] = 6,
    [MS_TYPE_FLOAT] = 7,
    [MS_TYPE_DOUBLE] = 8,
    [MS_TYPE_DECIMAL] = 9,
    [MS_TYPE_CHAR] = 10,
    [MS_TYPE_VARCHAR] = 11,
    [MS_TYPE_BINARY] = 12,
    [MS_TYPE_VARBINARY] = 13,
    [MS_TYPE_DATE] = 14,
    [MS_TYPE_TIME] = 15,
    [MS_TYPE_TIMESTAMP] = 16,
    [MS_TYPE_TIMESTAMP_LTZ] = 17,
    [MS_TYPE_INTERVAL_MONTH] = 18,
    [MS_TYPE_INTERVAL_SECOND] = 19,
    [MS_TYPE_ARRAY] = 20,
    [MS_TYPE_MAP] = 21,
    [MS_TYPE_MULTISET] = 22,
    [MS_TYPE_ROW] = 23,
    [MS_TYPE_RAW] = NO_CODE,
    [MS_TYPE_TIMESTAMP_TZ] = NO_CODE,
};

_Static_assert(sizeof(kind_codes) == MS_TYPE_KIND_COUNT, "one code per kind");

/* Which parameters follow. */
typedef enum form { FORM_PLAIN, FORM_DECIMAL, FORM_LENGTH, FORM_DIGITS, FORM_NESTED } form;

static form form_of(ms_type_kind kind)
{
    switch (kind) {
    case MS_TYPE_DECIMAL:
        return FORM_DECIMAL;
    case MS_TYPE_CHAR:
    case MS_TYPE_VARCHAR:
    case MS_TYPE_BINARY:
    case MS_TYPE_VARBINARY:
        return FORM_LENGTH;
    case MS_TYPE_TIME:
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
        return FORM_DIGITS;
    case MS_TYPE_ARRAY:
    case MS_TYPE_MAP:
    case MS_TYPE_MULTISET:
    case MS_TYPE_ROW:
        return FORM_NESTED;
    case MS_TYPE_NULL:
    case MS_TYPE_BOOLEAN:
    case MS_TYPE_TINYINT:
    case MS_TYPE_SMALLINT:
    case MS_TYPE_INT:
    case MS_TYPE_BIGINT:
    case MS_TYPE_FLOAT:
    case MS_TYPE_DOUBLE:
    case MS_TYPE_DATE:
    case MS_TYPE_INTERVAL_MONTH:
    case MS_TYPE_INTERVAL_SECOND:
    case MS_TYPE_RAW:
    case MS_TYPE_TIMESTAMP_TZ:
    case MS_TYPE_KIND_COUNT:
        break;
    }
    return FORM_PLAIN;
}

/* Writing. */

static ms_rc put_type(ms_buf *buf, const ms_type *type, ms_status *st)
{
    MS_ASSERT(kind_codes[type->kind] != NO_CODE);
    MS_TRY(ms_codec_put_u8(buf, kind_codes[type->kind], st));
    MS_TRY(ms_codec_put_u8(buf, type->nullable, st));
    form what = form_of(type->kind);
    if (what == FORM_DECIMAL || what == FORM_LENGTH || what == FORM_DIGITS) {
        MS_TRY(ms_codec_put_varint(buf, (uint32_t)type->precision, st));
    }
    if (what == FORM_DECIMAL) {
        MS_TRY(ms_codec_put_varint(buf, (uint32_t)type->scale, st));
    }
    if (type->kind == MS_TYPE_ROW) {
        MS_TRY(ms_codec_put_varint(buf, type->child_count, st));
    }
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (type->kind == MS_TYPE_ROW) {
            MS_TRY(ms_codec_put_str(buf, type->names[i], st));
        }
        MS_TRY(put_type(buf, type->children[i], st));
    }
    return MS_OK;
}

ms_rc ms_schema_encode(const ms_schema *schema, ms_buf *buf, ms_status *st)
{
    MS_TRY(ms_codec_put_u8(buf, MS_ROWCODEC_VERSION, st));
    MS_TRY(ms_codec_put_varint(buf, schema->column_count, st));
    for (uint32_t i = 0; i < schema->column_count; i++) {
        MS_TRY(ms_codec_put_str(buf, schema->columns[i].name, st));
        MS_TRY(put_type(buf, schema->columns[i].type, st));
    }
    return MS_OK;
}

/* Reading. NULL means that the bytes are no type. */

static const ms_type *take_type(ms_codec_reader *reader, ms_arena *arena, uint32_t depth);

static bool take_kind(ms_codec_reader *reader, ms_type_kind *kind_out)
{
    uint8_t code = ms_codec_reader_u8(reader);
    for (uint32_t kind = 0; kind < MS_TYPE_KIND_COUNT && code != NO_CODE; kind++) {
        if (kind_codes[kind] == code) {
            *kind_out = (ms_type_kind)kind;
            return true;
        }
    }
    return false;
}

static const ms_type *take_row(ms_codec_reader *reader, ms_arena *arena, uint32_t depth,
                               bool nullable)
{
    /* A field has two bytes of type and one of name at least. */
    size_t count = ms_codec_reader_count(reader, 3);
    if (count > MS_LIMIT_COLUMNS) {
        return NULL;
    }
    ms_field *fields = ms_arena_array(arena, ms_field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i].name = ms_codec_reader_str(reader);
        fields[i].type = take_type(reader, arena, depth + 1);
        if (fields[i].type == NULL) {
            return NULL;
        }
    }
    return ms_type_row(arena, fields, (uint32_t)count, nullable);
}

static const ms_type *take_nested(ms_codec_reader *reader, ms_arena *arena, ms_type_kind kind,
                                  uint32_t depth, bool nullable)
{
    if (kind == MS_TYPE_ROW) {
        return take_row(reader, arena, depth, nullable);
    }
    const ms_type *first = take_type(reader, arena, depth + 1);
    if (first == NULL) {
        return NULL;
    }
    if (kind == MS_TYPE_ARRAY) {
        return ms_type_array(arena, first, nullable);
    }
    if (kind == MS_TYPE_MULTISET) {
        return ms_type_multiset(arena, first, nullable);
    }
    const ms_type *second = take_type(reader, arena, depth + 1);
    return second == NULL ? NULL : ms_type_map(arena, first, second, nullable);
}

static const ms_type *take_type(ms_codec_reader *reader, ms_arena *arena, uint32_t depth)
{
    ms_type_kind kind = MS_TYPE_NULL;
    if (depth > MS_LIMIT_TYPE_DEPTH || !take_kind(reader, &kind)) {
        return NULL;
    }
    bool nullable = ms_codec_reader_u8(reader) != 0;
    uint64_t first = 0;
    uint64_t second = 0;
    switch (form_of(kind)) {
    case FORM_PLAIN:
        return ms_type_simple(arena, kind, nullable);
    case FORM_NESTED:
        return take_nested(reader, arena, kind, depth, nullable);
    case FORM_LENGTH:
        first = ms_codec_reader_varint(reader);
        return first > MS_TYPE_LENGTH_MAX ? NULL
                                          : ms_type_sized(arena, kind, (int32_t)first, nullable);
    case FORM_DIGITS:
        first = ms_codec_reader_varint(reader);
        return first > 9 ? NULL : ms_type_temporal(arena, kind, (int32_t)first, nullable);
    case FORM_DECIMAL:
        first = ms_codec_reader_varint(reader);
        second = ms_codec_reader_varint(reader);
        if (first < 1 || first > MS_TYPE_DECIMAL_PRECISION_MAX || second > first) {
            return NULL;
        }
        return ms_type_decimal(arena, (int32_t)first, (int32_t)second, nullable);
    }
    return NULL;
}

static ms_rc refuse(ms_status *st)
{
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "a stored schema is malformed");
}

ms_rc ms_schema_decode(ms_str bytes, ms_arena *arena, ms_schema *schema_out, ms_status *st)
{
    *schema_out = (ms_schema){0};
    ms_codec_reader reader = ms_codec_reader_make(bytes);
    uint8_t version = ms_codec_reader_u8(&reader);
    if (ms_codec_reader_is_ok(&reader) && version != MS_ROWCODEC_VERSION) {
        ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "a stored schema has version %u", version);
        return ms_status_hint(st, "It was written by another version of Millstream.");
    }
    size_t count = ms_codec_reader_count(&reader, 3);
    if (count > MS_LIMIT_COLUMNS) {
        return refuse(st);
    }
    ms_field *columns = ms_arena_array(arena, ms_field, count);
    for (size_t i = 0; i < count; i++) {
        columns[i].name = ms_arena_copy_str(arena, ms_codec_reader_str(&reader));
        columns[i].type = take_type(&reader, arena, 1);
        if (columns[i].type == NULL) {
            return refuse(st);
        }
    }
    MS_TRY(ms_codec_reader_finish(&reader, "a stored schema", st));
    *schema_out = (ms_schema){(uint32_t)count, columns};
    return MS_OK;
}

/* Comparing. */

bool ms_schema_equals(const ms_schema *a, const ms_schema *b)
{
    if (a->column_count != b->column_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->column_count; i++) {
        if (!ms_str_equals(a->columns[i].name, b->columns[i].name) ||
            !ms_type_equals(a->columns[i].type, b->columns[i].type)) {
            return false;
        }
    }
    return true;
}

static ms_rc report_column(const ms_field *stored, const ms_field *current, ms_status *st)
{
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_str was = ms_type_text(&scratch, stored->type);
    ms_str is = ms_type_text(&scratch, current->type);
    ms_status_set(st, MS_PLAN_MISMATCH, ms_span_none,
                  "the stored column \"%.*s\" is not the column \"%.*s\" of the statement",
                  MS_STR_ARG(stored->name), MS_STR_ARG(current->name));
    ms_rc rc =
        ms_status_detail(st, "stored: %.*s %.*s; statement: %.*s %.*s", MS_STR_ARG(stored->name),
                         MS_STR_ARG(was), MS_STR_ARG(current->name), MS_STR_ARG(is));
    ms_arena_release(&scratch);
    return rc;
}

ms_rc ms_schema_check(const ms_schema *stored, const ms_schema *current, ms_status *st)
{
    for (uint32_t i = 0; i < stored->column_count && i < current->column_count; i++) {
        const ms_field *was = &stored->columns[i];
        const ms_field *is = &current->columns[i];
        if (!ms_str_equals(was->name, is->name) || !ms_type_equals(was->type, is->type)) {
            return report_column(was, is, st);
        }
    }
    if (stored->column_count != current->column_count) {
        return ms_status_set(st, MS_PLAN_MISMATCH, ms_span_none,
                             "the stored rows have %u columns, those of the statement %u",
                             stored->column_count, current->column_count);
    }
    return MS_OK;
}
