/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, comparing and printing types. The physical form of a type is chosen here, once, when the
 * type is made; everything else reads type->phys. Recursion is bounded by MS_LIMIT_TYPE_DEPTH,
 * which the binder and the descriptor reader check.
 */
#include "type/type.h"

#include <string.h>

typedef struct kind_info {
    const char *name;
    ms_phys phys;
} kind_info;

/* Kinds whose form depends on parameters have their wider form here; see phys_of(). */
static const kind_info kinds[] = {
    [MS_TYPE_NULL] = {"NULL", MS_PHYS_NONE},
    [MS_TYPE_BOOLEAN] = {"BOOLEAN", MS_PHYS_BOOL},
    [MS_TYPE_TINYINT] = {"TINYINT", MS_PHYS_I8},
    [MS_TYPE_SMALLINT] = {"SMALLINT", MS_PHYS_I16},
    [MS_TYPE_INT] = {"INT", MS_PHYS_I32},
    [MS_TYPE_BIGINT] = {"BIGINT", MS_PHYS_I64},
    [MS_TYPE_FLOAT] = {"FLOAT", MS_PHYS_F32},
    [MS_TYPE_DOUBLE] = {"DOUBLE", MS_PHYS_F64},
    [MS_TYPE_DECIMAL] = {"DECIMAL", MS_PHYS_I128},
    [MS_TYPE_CHAR] = {"CHAR", MS_PHYS_STR},
    [MS_TYPE_VARCHAR] = {"VARCHAR", MS_PHYS_STR},
    [MS_TYPE_BINARY] = {"BINARY", MS_PHYS_STR},
    [MS_TYPE_VARBINARY] = {"VARBINARY", MS_PHYS_STR},
    [MS_TYPE_DATE] = {"DATE", MS_PHYS_I32},
    [MS_TYPE_TIME] = {"TIME", MS_PHYS_I32},
    [MS_TYPE_TIMESTAMP] = {"TIMESTAMP", MS_PHYS_TS16},
    [MS_TYPE_TIMESTAMP_LTZ] = {"TIMESTAMP_LTZ", MS_PHYS_TS16},
    [MS_TYPE_INTERVAL_MONTH] = {"INTERVAL MONTH", MS_PHYS_I32},
    [MS_TYPE_INTERVAL_SECOND] = {"INTERVAL SECOND(3)", MS_PHYS_I64},
    [MS_TYPE_ARRAY] = {"ARRAY", MS_PHYS_LIST},
    [MS_TYPE_MAP] = {"MAP", MS_PHYS_LIST},
    [MS_TYPE_MULTISET] = {"MULTISET", MS_PHYS_LIST},
    [MS_TYPE_ROW] = {"ROW", MS_PHYS_ROW},
    [MS_TYPE_RAW] = {"RAW", MS_PHYS_NONE},
    [MS_TYPE_TIMESTAMP_TZ] = {"TIMESTAMP_TZ", MS_PHYS_NONE},
};

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == MS_TYPE_KIND_COUNT, "one entry per kind");

static const size_t phys_bytes[] = {
    [MS_PHYS_NONE] = 0, [MS_PHYS_BOOL] = 1,  [MS_PHYS_I8] = 1,    [MS_PHYS_I16] = 2,
    [MS_PHYS_I32] = 4,  [MS_PHYS_I64] = 8,   [MS_PHYS_I128] = 16, [MS_PHYS_F32] = 4,
    [MS_PHYS_F64] = 8,  [MS_PHYS_TS16] = 16, [MS_PHYS_STR] = 16,  [MS_PHYS_LIST] = 8,
    [MS_PHYS_ROW] = 0,
};

_Static_assert(sizeof(phys_bytes) / sizeof(phys_bytes[0]) == MS_PHYS_COUNT, "one entry per form");

size_t ms_phys_bytes(ms_phys phys)
{
    MS_ASSERT(phys < MS_PHYS_COUNT);
    return phys_bytes[phys];
}

static bool kind_is_sized(ms_type_kind kind)
{
    return kind == MS_TYPE_CHAR || kind == MS_TYPE_VARCHAR || kind == MS_TYPE_BINARY ||
           kind == MS_TYPE_VARBINARY;
}

static bool kind_is_timestamp(ms_type_kind kind)
{
    return kind == MS_TYPE_TIMESTAMP || kind == MS_TYPE_TIMESTAMP_LTZ;
}

static ms_phys phys_of(ms_type_kind kind, int32_t precision)
{
    if (kind == MS_TYPE_DECIMAL && precision <= MS_TYPE_DECIMAL_I64_PRECISION) {
        return MS_PHYS_I64;
    }
    if (kind_is_timestamp(kind) && precision <= 6) {
        return MS_PHYS_I64;
    }
    return kinds[kind].phys;
}

/* Making. */

static ms_type *new_type(ms_arena *arena, ms_type_kind kind, int32_t precision, bool nullable)
{
    MS_ASSERT(kind < MS_TYPE_KIND_COUNT);
    ms_type *type = ms_arena_new(arena, ms_type);
    type->kind = kind;
    type->nullable = nullable;
    type->precision = precision;
    type->phys = phys_of(kind, precision);
    return type;
}

const ms_type *ms_type_simple(ms_arena *arena, ms_type_kind kind, bool nullable)
{
    MS_ASSERT(!kind_is_sized(kind) && kinds[kind].phys != MS_PHYS_LIST);
    MS_ASSERT(kind != MS_TYPE_DECIMAL && kind != MS_TYPE_TIME && !kind_is_timestamp(kind) &&
              kind != MS_TYPE_ROW);
    return new_type(arena, kind, 0, nullable);
}

const ms_type *ms_type_sized(ms_arena *arena, ms_type_kind kind, int32_t length, bool nullable)
{
    MS_ASSERT(kind_is_sized(kind) && length >= 0);
    return new_type(arena, kind, length, nullable);
}

const ms_type *ms_type_string(ms_arena *arena, bool nullable)
{
    return ms_type_sized(arena, MS_TYPE_VARCHAR, MS_TYPE_LENGTH_MAX, nullable);
}

const ms_type *ms_type_bytes(ms_arena *arena, bool nullable)
{
    return ms_type_sized(arena, MS_TYPE_VARBINARY, MS_TYPE_LENGTH_MAX, nullable);
}

const ms_type *ms_type_decimal(ms_arena *arena, int32_t precision, int32_t scale, bool nullable)
{
    MS_ASSERT(precision >= 1 && precision <= MS_TYPE_DECIMAL_PRECISION_MAX);
    MS_ASSERT(scale >= 0 && scale <= precision);
    ms_type *type = new_type(arena, MS_TYPE_DECIMAL, precision, nullable);
    type->scale = scale;
    return type;
}

const ms_type *ms_type_temporal(ms_arena *arena, ms_type_kind kind, int32_t precision,
                                bool nullable)
{
    MS_ASSERT(kind == MS_TYPE_TIME || kind_is_timestamp(kind));
    MS_ASSERT(precision >= 0 && precision <= 9);
    return new_type(arena, kind, precision, nullable);
}

static void set_children(ms_arena *arena, ms_type *type, const ms_type *const *children,
                         uint32_t count)
{
    const ms_type **copy = ms_arena_array(arena, const ms_type *, count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = children[i];
    }
    type->children = copy;
    type->child_count = count;
}

const ms_type *ms_type_array(ms_arena *arena, const ms_type *element, bool nullable)
{
    ms_type *type = new_type(arena, MS_TYPE_ARRAY, 0, nullable);
    set_children(arena, type, &element, 1);
    return type;
}

const ms_type *ms_type_multiset(ms_arena *arena, const ms_type *element, bool nullable)
{
    ms_type *type = new_type(arena, MS_TYPE_MULTISET, 0, nullable);
    set_children(arena, type, &element, 1);
    return type;
}

const ms_type *ms_type_map(ms_arena *arena, const ms_type *key, const ms_type *value, bool nullable)
{
    ms_type *type = new_type(arena, MS_TYPE_MAP, 0, nullable);
    const ms_type *children[2] = {key, value};
    set_children(arena, type, children, 2);
    return type;
}

const ms_type *ms_type_row(ms_arena *arena, const ms_field *fields, uint32_t count, bool nullable)
{
    ms_type *type = new_type(arena, MS_TYPE_ROW, 0, nullable);
    const ms_type **children = ms_arena_array(arena, const ms_type *, count);
    ms_str *names = ms_arena_array(arena, ms_str, count);
    for (uint32_t i = 0; i < count; i++) {
        children[i] = fields[i].type;
        names[i] = ms_arena_copy_str(arena, fields[i].name);
    }
    type->child_count = count;
    type->children = children;
    type->names = names;
    return type;
}

const ms_type *ms_type_as_nullable(ms_arena *arena, const ms_type *type, bool nullable)
{
    if (type->nullable == nullable) {
        return type;
    }
    ms_type *copy = ms_arena_new(arena, ms_type);
    *copy = *type;
    copy->nullable = nullable;
    return copy;
}

const ms_type *ms_type_with_names(ms_arena *arena, const ms_type *type, const ms_type *names)
{
    if (type->child_count == 0) {
        return type;
    }
    const ms_type **children = ms_arena_array(arena, const ms_type *, type->child_count);
    for (uint32_t i = 0; i < type->child_count; i++) {
        children[i] = ms_type_with_names(arena, type->children[i], names->children[i]);
    }
    ms_type *made = ms_arena_new(arena, ms_type);
    *made = *type;
    made->children = children;
    made->names = names->names;
    return made;
}

const ms_type *ms_type_copy(ms_arena *arena, const ms_type *type)
{
    ms_type *copy = ms_arena_new(arena, ms_type);
    *copy = *type;
    if (type->child_count == 0) {
        return copy;
    }
    const ms_type **children = ms_arena_array(arena, const ms_type *, type->child_count);
    for (uint32_t i = 0; i < type->child_count; i++) {
        children[i] = ms_type_copy(arena, type->children[i]);
    }
    copy->children = children;
    if (type->names != NULL) {
        ms_str *names = ms_arena_array(arena, ms_str, type->child_count);
        for (uint32_t i = 0; i < type->child_count; i++) {
            names[i] = ms_arena_copy_str(arena, type->names[i]);
        }
        copy->names = names;
    }
    return copy;
}

/* Inspection. */

static bool same_parameters(const ms_type *a, const ms_type *b)
{
    return a->kind == b->kind && a->precision == b->precision && a->scale == b->scale &&
           a->child_count == b->child_count;
}

bool ms_type_equals(const ms_type *a, const ms_type *b)
{
    if (a == b) {
        return true;
    }
    if (!same_parameters(a, b) || a->nullable != b->nullable) {
        return false;
    }
    for (uint32_t i = 0; i < a->child_count; i++) {
        if (a->names != NULL && !ms_str_equals(a->names[i], b->names[i])) {
            return false;
        }
        if (!ms_type_equals(a->children[i], b->children[i])) {
            return false;
        }
    }
    return true;
}

bool ms_type_same_shape(const ms_type *a, const ms_type *b)
{
    if (a == b) {
        return true;
    }
    if (!same_parameters(a, b)) {
        return false;
    }
    for (uint32_t i = 0; i < a->child_count; i++) {
        if (!ms_type_same_shape(a->children[i], b->children[i])) {
            return false;
        }
    }
    return true;
}

bool ms_type_is_integer(const ms_type *type)
{
    return type->kind >= MS_TYPE_TINYINT && type->kind <= MS_TYPE_BIGINT;
}

bool ms_type_is_numeric(const ms_type *type)
{
    return type->kind >= MS_TYPE_TINYINT && type->kind <= MS_TYPE_DECIMAL;
}

bool ms_type_is_character(const ms_type *type)
{
    return type->kind == MS_TYPE_CHAR || type->kind == MS_TYPE_VARCHAR;
}

bool ms_type_is_binary(const ms_type *type)
{
    return type->kind == MS_TYPE_BINARY || type->kind == MS_TYPE_VARBINARY;
}

bool ms_type_is_timestamp(const ms_type *type)
{
    return kind_is_timestamp(type->kind);
}

bool ms_type_is_interval(const ms_type *type)
{
    return type->kind == MS_TYPE_INTERVAL_MONTH || type->kind == MS_TYPE_INTERVAL_SECOND;
}

bool ms_type_is_nested(const ms_type *type)
{
    return type->kind >= MS_TYPE_ARRAY && type->kind <= MS_TYPE_ROW;
}

/* Text. */

/* A growing text in an arena: the type's text is short and made once, so that pieces are joined. */
static ms_str join(ms_arena *arena, ms_str a, ms_str b)
{
    return ms_arena_format(arena, "%.*s%.*s", MS_STR_ARG(a), MS_STR_ARG(b));
}

/* A name in backticks, those inside doubled. */
static ms_str quoted_name(ms_arena *arena, ms_str name)
{
    char *text = ms_arena_alloc(arena, name.bytes * 2 + 2, 1);
    size_t bytes = 0;
    text[bytes++] = '`';
    for (size_t i = 0; i < name.bytes; i++) {
        if (name.ptr[i] == '`') {
            text[bytes++] = '`';
        }
        text[bytes++] = name.ptr[i];
    }
    text[bytes++] = '`';
    return ms_str_make(text, bytes);
}

static ms_str text_of(ms_arena *arena, const ms_type *type, bool is_long);

static ms_str children_text(ms_arena *arena, const ms_type *type, bool is_long)
{
    ms_str text = ms_arena_format(arena, "%s<", kinds[type->kind].name);
    for (uint32_t i = 0; i < type->child_count; i++) {
        text = join(arena, text, i > 0 ? ms_str_lit(", ") : ms_str_lit(""));
        if (type->names != NULL) {
            text = join(arena, text, quoted_name(arena, type->names[i]));
            text = join(arena, text, ms_str_lit(" "));
        }
        text = join(arena, text, text_of(arena, type->children[i], is_long));
    }
    return join(arena, text, ms_str_lit(">"));
}

/* The short names of types that have a longer one; NULL: the type has one name. */
static const char *short_name(const ms_type *type)
{
    bool is_unbounded = type->precision == MS_TYPE_LENGTH_MAX;
    return type->kind == MS_TYPE_VARCHAR && is_unbounded     ? "STRING"
           : type->kind == MS_TYPE_VARBINARY && is_unbounded ? "BYTES"
                                                             : NULL;
}

static ms_str bare_text(ms_arena *arena, const ms_type *type, bool is_long)
{
    const char *name = kinds[type->kind].name;
    if (ms_type_is_nested(type)) {
        return children_text(arena, type, is_long);
    }
    if (type->kind == MS_TYPE_DECIMAL) {
        return ms_arena_format(arena, "DECIMAL(%d, %d)", type->precision, type->scale);
    }
    if (!is_long && short_name(type) != NULL) {
        return ms_str_cstr(short_name(type));
    }
    if (is_long && type->kind == MS_TYPE_TIMESTAMP_LTZ) {
        return ms_arena_format(arena, "TIMESTAMP(%d) WITH LOCAL TIME ZONE", type->precision);
    }
    if (kind_is_sized(type->kind) || type->kind == MS_TYPE_TIME || kind_is_timestamp(type->kind)) {
        return ms_arena_format(arena, "%s(%d)", name, type->precision);
    }
    return ms_str_cstr(name);
}

static ms_str text_of(ms_arena *arena, const ms_type *type, bool is_long)
{
    ms_str bare = bare_text(arena, type, is_long);
    return type->nullable ? bare : join(arena, bare, ms_str_lit(" NOT NULL"));
}

ms_str ms_type_text_bare(ms_arena *arena, const ms_type *type)
{
    return bare_text(arena, type, false);
}

ms_str ms_type_text(ms_arena *arena, const ms_type *type)
{
    return text_of(arena, type, false);
}

ms_str ms_type_text_long(ms_arena *arena, const ms_type *type)
{
    return text_of(arena, type, true);
}

uint32_t ms_schema_find(const ms_schema *schema, ms_str name)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (ms_str_equals(schema->columns[i].name, name)) {
            return i;
        }
    }
    return UINT32_MAX;
}
