/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type rules as code: common types, comparability, the implicit and explicit cast tables, and
 * the result types of arithmetic. The cast tables are bit sets, one row a target; the rest follows
 * the order in which the rules are stated in the header. Reading types from text is in typetext.c.
 */
#include "func/typing.h"

#include "base/limits.h"

#define BIT(kind) (UINT64_C(1) << (MS_TYPE_##kind))
#define BITS_INTEGER (BIT(TINYINT) | BIT(SMALLINT) | BIT(INT) | BIT(BIGINT))
#define BITS_EXACT (BITS_INTEGER | BIT(DECIMAL))
#define BITS_NUMERIC (BITS_EXACT | BIT(FLOAT) | BIT(DOUBLE))
#define BITS_CHARACTER (BIT(CHAR) | BIT(VARCHAR))
#define BITS_BINARY (BIT(BINARY) | BIT(VARBINARY))
#define BITS_TIMESTAMP (BIT(TIMESTAMP) | BIT(TIMESTAMP_LTZ))
#define BITS_DATETIME (BIT(DATE) | BIT(TIME) | BITS_TIMESTAMP)
#define BITS_INTERVAL (BIT(INTERVAL_MONTH) | BIT(INTERVAL_SECOND))
#define BITS_NESTED (BIT(ARRAY) | BIT(MAP) | BIT(MULTISET) | BIT(ROW))

static bool has_kind(uint64_t bits, const ms_type *type)
{
    return (bits >> type->kind & 1u) != 0;
}

static bool is_datetime(const ms_type *type)
{
    return has_kind(BITS_DATETIME, type);
}

/* TIMESTAMPs of more than six digits have a physical form that no kernel takes yet. */
static bool has_wide_timestamp(const ms_type *type)
{
    if (type->phys == MS_PHYS_TS16) {
        return true;
    }
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (has_wide_timestamp(type->children[i])) {
            return true;
        }
    }
    return false;
}

static int32_t max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Common types. */

void ms_typing_decimal_of(const ms_type *type, int32_t *precision_out, int32_t *scale_out)
{
    *scale_out = 0;
    *precision_out = 19;
    if (type->kind == MS_TYPE_TINYINT) {
        *precision_out = 3;
    } else if (type->kind == MS_TYPE_SMALLINT) {
        *precision_out = 5;
    } else if (type->kind == MS_TYPE_INT) {
        *precision_out = 10;
    } else if (type->kind == MS_TYPE_DECIMAL) {
        *precision_out = type->precision;
        *scale_out = type->scale;
    }
}

static const ms_type *common_exact(ms_arena *arena, const ms_type *a, const ms_type *b,
                                   bool nullable)
{
    if (a->kind != MS_TYPE_DECIMAL && b->kind != MS_TYPE_DECIMAL) {
        return ms_type_simple(arena, a->kind > b->kind ? a->kind : b->kind, nullable);
    }
    int32_t p1 = 0;
    int32_t s1 = 0;
    int32_t p2 = 0;
    int32_t s2 = 0;
    ms_typing_decimal_of(a, &p1, &s1);
    ms_typing_decimal_of(b, &p2, &s2);
    int32_t whole = min32(max32(p1 - s1, p2 - s2), MS_TYPE_DECIMAL_PRECISION_MAX);
    int32_t scale = min32(max32(s1, s2), MS_TYPE_DECIMAL_PRECISION_MAX - whole);
    return ms_type_decimal(arena, max32(whole + scale, 1), scale, nullable);
}

static const ms_type *common_numeric(ms_arena *arena, const ms_type *a, const ms_type *b,
                                     bool nullable)
{
    if (has_kind(BITS_EXACT, a) && has_kind(BITS_EXACT, b)) {
        return common_exact(arena, a, b, nullable);
    }
    bool is_double = a->kind == MS_TYPE_DOUBLE || b->kind == MS_TYPE_DOUBLE ||
                     a->kind == MS_TYPE_DECIMAL || b->kind == MS_TYPE_DECIMAL;
    return ms_type_simple(arena, is_double ? MS_TYPE_DOUBLE : MS_TYPE_FLOAT, nullable);
}

/* CHAR with VARCHAR, BINARY with VARBINARY: equal fixed lengths stay, everything else varies. */
static const ms_type *common_sized(ms_arena *arena, const ms_type *a, const ms_type *b,
                                   ms_type_kind fixed, ms_type_kind varying, bool nullable)
{
    if (a->kind == fixed && b->kind == fixed && a->precision == b->precision) {
        return ms_type_sized(arena, fixed, a->precision, nullable);
    }
    return ms_type_sized(arena, varying, max32(a->precision, b->precision), nullable);
}

static const ms_type *common_datetime(ms_arena *arena, const ms_type *a, const ms_type *b,
                                      bool nullable)
{
    if (has_kind(BITS_TIMESTAMP, a) && has_kind(BITS_TIMESTAMP, b)) {
        ms_type_kind kind = a->kind == b->kind ? a->kind : MS_TYPE_TIMESTAMP_LTZ;
        return ms_type_temporal(arena, kind, max32(a->precision, b->precision), nullable);
    }
    if (a->kind == MS_TYPE_TIME && b->kind == MS_TYPE_TIME) {
        return ms_type_temporal(arena, MS_TYPE_TIME, max32(a->precision, b->precision), nullable);
    }
    return a->kind == b->kind ? ms_type_as_nullable(arena, a, nullable) : NULL;
}

static const ms_type *common_row(ms_arena *arena, const ms_type *a, const ms_type *b, bool nullable)
{
    if (a->child_count != b->child_count) {
        return NULL;
    }
    ms_field *fields = ms_arena_array(arena, ms_field, a->child_count);
    for (uint32_t i = 0; i < a->child_count; i++) {
        fields[i].name = a->names[i];
        fields[i].type = ms_typing_common2(arena, a->children[i], b->children[i]);
        if (fields[i].type == NULL) {
            return NULL;
        }
    }
    return ms_type_row(arena, fields, a->child_count, nullable);
}

static const ms_type *common_nested(ms_arena *arena, const ms_type *a, const ms_type *b,
                                    bool nullable)
{
    if (a->kind != b->kind) {
        return NULL;
    }
    if (a->kind == MS_TYPE_ROW) {
        return common_row(arena, a, b, nullable);
    }
    const ms_type *first = ms_typing_common2(arena, a->children[0], b->children[0]);
    if (first == NULL) {
        return NULL;
    }
    if (a->kind == MS_TYPE_ARRAY) {
        return ms_type_array(arena, first, nullable);
    }
    if (a->kind == MS_TYPE_MULTISET) {
        return ms_type_multiset(arena, first, nullable);
    }
    const ms_type *second = ms_typing_common2(arena, a->children[1], b->children[1]);
    return second == NULL ? NULL : ms_type_map(arena, first, second, nullable);
}

const ms_type *ms_typing_common2(ms_arena *arena, const ms_type *a, const ms_type *b)
{
    bool nullable =
        a->nullable || b->nullable || a->kind == MS_TYPE_NULL || b->kind == MS_TYPE_NULL;
    if (a->kind == MS_TYPE_NULL || b->kind == MS_TYPE_NULL) {
        return ms_type_as_nullable(arena, a->kind == MS_TYPE_NULL ? b : a, nullable);
    }
    if (ms_type_equals(ms_type_as_nullable(arena, a, nullable),
                       ms_type_as_nullable(arena, b, nullable))) {
        return ms_type_as_nullable(arena, a, nullable);
    }
    if (has_kind(BITS_NUMERIC, a) && has_kind(BITS_NUMERIC, b)) {
        return common_numeric(arena, a, b, nullable);
    }
    if (has_kind(BITS_CHARACTER, a) && has_kind(BITS_CHARACTER, b)) {
        return common_sized(arena, a, b, MS_TYPE_CHAR, MS_TYPE_VARCHAR, nullable);
    }
    if (has_kind(BITS_BINARY, a) && has_kind(BITS_BINARY, b)) {
        return common_sized(arena, a, b, MS_TYPE_BINARY, MS_TYPE_VARBINARY, nullable);
    }
    if (is_datetime(a) && is_datetime(b)) {
        return common_datetime(arena, a, b, nullable);
    }
    if (has_kind(BITS_INTERVAL, a) && a->kind == b->kind) {
        return ms_type_as_nullable(arena, a, nullable);
    }
    if (has_kind(BITS_NESTED, a) && has_kind(BITS_NESTED, b)) {
        return common_nested(arena, a, b, nullable);
    }
    return NULL;
}

const ms_type *ms_typing_common(ms_arena *arena, const ms_type *const *types, uint32_t count)
{
    const ms_type *common = count > 0 ? types[0] : NULL;
    for (uint32_t i = 1; i < count && common != NULL; i++) {
        common = ms_typing_common2(arena, common, types[i]);
    }
    return common;
}

/* Comparison. */

static bool are_children_comparable(const ms_type *a, const ms_type *b)
{
    if (a->kind != b->kind || a->child_count != b->child_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->child_count; i++) {
        if (!ms_typing_is_comparable(a->children[i], b->children[i], MS_COMPARE_EQUALITY)) {
            return false;
        }
    }
    return true;
}

bool ms_typing_is_comparable(const ms_type *a, const ms_type *b, ms_comparison comparison)
{
    if (a->kind == MS_TYPE_NULL || b->kind == MS_TYPE_NULL) {
        return true;
    }
    if (has_kind(BITS_NESTED, a)) {
        return comparison == MS_COMPARE_EQUALITY && are_children_comparable(a, b);
    }
    static const uint64_t families[] = {BIT(BOOLEAN),
                                        BITS_NUMERIC,
                                        BITS_CHARACTER,
                                        BITS_BINARY,
                                        BIT(DATE) | BITS_TIMESTAMP,
                                        BIT(TIME),
                                        BIT(INTERVAL_MONTH),
                                        BIT(INTERVAL_SECOND)};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (has_kind(families[i], a) && has_kind(families[i], b)) {
            return true;
        }
    }
    return (is_datetime(a) && has_kind(BITS_CHARACTER, b)) ||
           (is_datetime(b) && has_kind(BITS_CHARACTER, a));
}

/* Casts: the sources of each target. */

static uint64_t implicit_sources(ms_type_kind to)
{
    static const uint64_t sources[MS_TYPE_KIND_COUNT] = {
        [MS_TYPE_BOOLEAN] = BIT(BOOLEAN),
        [MS_TYPE_TINYINT] = BIT(TINYINT),
        [MS_TYPE_SMALLINT] = BIT(TINYINT) | BIT(SMALLINT),
        [MS_TYPE_INT] = BIT(TINYINT) | BIT(SMALLINT) | BIT(INT),
        [MS_TYPE_BIGINT] = BITS_INTEGER,
        [MS_TYPE_FLOAT] = BITS_EXACT | BIT(FLOAT),
        [MS_TYPE_DOUBLE] = BITS_NUMERIC,
        [MS_TYPE_DECIMAL] = BITS_NUMERIC,
        [MS_TYPE_CHAR] = BIT(CHAR),
        [MS_TYPE_VARCHAR] = BITS_CHARACTER,
        [MS_TYPE_BINARY] = BIT(BINARY),
        [MS_TYPE_VARBINARY] = BITS_BINARY,
        [MS_TYPE_DATE] = BIT(DATE) | BIT(TIMESTAMP),
        [MS_TYPE_TIME] = BIT(TIME) | BIT(TIMESTAMP),
        [MS_TYPE_TIMESTAMP] = BITS_TIMESTAMP,
        [MS_TYPE_TIMESTAMP_LTZ] = BITS_TIMESTAMP,
        [MS_TYPE_INTERVAL_MONTH] = BIT(INTERVAL_MONTH),
        [MS_TYPE_INTERVAL_SECOND] = BIT(INTERVAL_SECOND),
    };
    return sources[to];
}

static uint64_t explicit_sources(ms_type_kind to)
{
    static const uint64_t numeric = BITS_NUMERIC | BITS_CHARACTER | BIT(BOOLEAN);
    static const uint64_t bytes = BITS_CHARACTER | BITS_BINARY;
    static const uint64_t text = BIT(BOOLEAN) | BITS_NUMERIC | BITS_CHARACTER | BITS_BINARY |
                                 BITS_DATETIME | BITS_INTERVAL | BITS_NESTED;
    static const uint64_t sources[MS_TYPE_KIND_COUNT] = {
        [MS_TYPE_BOOLEAN] = BIT(BOOLEAN) | BITS_NUMERIC | BITS_CHARACTER,
        [MS_TYPE_TINYINT] = numeric,
        [MS_TYPE_SMALLINT] = numeric,
        [MS_TYPE_INT] = numeric | BIT(INTERVAL_MONTH),
        [MS_TYPE_BIGINT] = numeric | BIT(INTERVAL_SECOND),
        [MS_TYPE_FLOAT] = numeric,
        [MS_TYPE_DOUBLE] = numeric,
        [MS_TYPE_DECIMAL] = numeric,
        [MS_TYPE_CHAR] = text,
        [MS_TYPE_VARCHAR] = text,
        [MS_TYPE_BINARY] = bytes,
        [MS_TYPE_VARBINARY] = bytes,
        [MS_TYPE_DATE] = BIT(DATE) | BITS_TIMESTAMP | BITS_CHARACTER,
        [MS_TYPE_TIME] = BIT(TIME) | BITS_TIMESTAMP | BITS_CHARACTER,
        [MS_TYPE_TIMESTAMP] = BITS_DATETIME | BITS_CHARACTER,
        [MS_TYPE_TIMESTAMP_LTZ] = BITS_DATETIME | BITS_CHARACTER,
        [MS_TYPE_INTERVAL_MONTH] = BIT(INTERVAL_MONTH) | BIT(INT),
        [MS_TYPE_INTERVAL_SECOND] = BIT(INTERVAL_SECOND) | BIT(BIGINT),
    };
    return sources[to];
}

bool ms_typing_casts_implicitly(const ms_type *from, const ms_type *to)
{
    if (from->kind == MS_TYPE_NULL) {
        return to->nullable;
    }
    if (from->nullable && !to->nullable) {
        return false;
    }
    if (!has_kind(BITS_NESTED, to)) {
        return has_kind(implicit_sources(to->kind), from);
    }
    if (from->kind != to->kind || from->child_count != to->child_count) {
        return false;
    }
    for (uint32_t i = 0; i < to->child_count; i++) {
        if (!ms_typing_casts_implicitly(from->children[i], to->children[i])) {
            return false;
        }
    }
    return true;
}

static ms_cast_class worse(ms_cast_class a, ms_cast_class b)
{
    static const int rank[] = {[MS_CAST_INFALLIBLE] = 0,
                               [MS_CAST_FALLIBLE] = 1,
                               [MS_CAST_UNBUILT] = 2,
                               [MS_CAST_NONE] = 3};
    return rank[a] >= rank[b] ? a : b;
}

static ms_cast_class children_class(const ms_type *from, const ms_type *to)
{
    if (from->kind != to->kind || from->child_count != to->child_count) {
        return MS_CAST_NONE;
    }
    ms_cast_class class = MS_CAST_INFALLIBLE;
    for (uint32_t i = 0; i < to->child_count; i++) {
        class = worse(class, ms_typing_cast_class(from->children[i], to->children[i]));
        if (from->children[i]->nullable && !to->children[i]->nullable) {
            class = worse(class, MS_CAST_FALLIBLE);
        }
    }
    return class;
}

/* Text of bytes must be UTF-8; so can the text of a value that contains bytes fail. */
static bool contains_bytes(const ms_type *type)
{
    if (has_kind(BITS_BINARY, type)) {
        return true;
    }
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (contains_bytes(type->children[i])) {
            return true;
        }
    }
    return false;
}

ms_cast_class ms_typing_cast_class(const ms_type *from, const ms_type *to)
{
    if (from->kind == MS_TYPE_NULL) {
        return has_wide_timestamp(to) ? MS_CAST_UNBUILT : MS_CAST_INFALLIBLE;
    }
    if (has_kind(BITS_NESTED, to)) {
        return children_class(from, to);
    }
    if (!has_kind(explicit_sources(to->kind), from)) {
        return MS_CAST_NONE;
    }
    if (has_wide_timestamp(from) || has_wide_timestamp(to)) {
        return MS_CAST_UNBUILT;
    }
    if (has_kind(BITS_CHARACTER, to)) {
        return contains_bytes(from) ? MS_CAST_FALLIBLE : MS_CAST_INFALLIBLE;
    }
    if (has_kind(BITS_CHARACTER, from) && !has_kind(BITS_BINARY, to)) {
        return MS_CAST_FALLIBLE;
    }
    return MS_CAST_INFALLIBLE;
}

/* True when a number of the type can have more digits than the decimal holds. */
static bool overflows_decimal(const ms_type *from, const ms_type *to)
{
    if (from->kind == MS_TYPE_BOOLEAN) {
        return to->precision == to->scale;
    }
    if (!has_kind(BITS_EXACT, from)) {
        return has_kind(BITS_NUMERIC, from);
    }
    int32_t precision = 0;
    int32_t scale = 0;
    ms_typing_decimal_of(from, &precision, &scale);
    int32_t whole = precision - scale;
    /* Rounding away digits can carry into one more digit: 9.9 as DECIMAL(1, 0) is 10. */
    return to->precision - to->scale < whole + (to->scale < scale);
}

const ms_type *ms_typing_cast_result(ms_arena *arena, const ms_type *from, const ms_type *target,
                                     bool is_try)
{
    bool nullable = from->nullable || from->kind == MS_TYPE_NULL;
    nullable = nullable || (is_try && ms_typing_cast_class(from, target) == MS_CAST_FALLIBLE);
    nullable = nullable || (target->kind == MS_TYPE_DECIMAL && overflows_decimal(from, target));
    return ms_type_as_nullable(arena, target, nullable);
}

/* Arithmetic. */

/* Cuts a derived decimal to 38 digits, keeping at least six (or all) fraction digits. */
static const ms_type *capped_decimal(ms_arena *arena, int32_t precision, int32_t scale,
                                     bool nullable)
{
    if (precision <= MS_TYPE_DECIMAL_PRECISION_MAX) {
        return ms_type_decimal(arena, max32(precision, 1), scale, nullable);
    }
    int32_t whole = precision - scale;
    int32_t kept = max32(MS_TYPE_DECIMAL_PRECISION_MAX - whole, min32(scale, 6));
    return ms_type_decimal(arena, MS_TYPE_DECIMAL_PRECISION_MAX, kept, true);
}

static const ms_type *arith_decimal(ms_arena *arena, ms_arith op, const ms_type *a,
                                    const ms_type *b, bool nullable)
{
    int32_t p1 = 0;
    int32_t s1 = 0;
    int32_t p2 = 0;
    int32_t s2 = 0;
    ms_typing_decimal_of(a, &p1, &s1);
    ms_typing_decimal_of(b, &p2, &s2);
    int32_t scale = max32(s1, s2);
    switch (op) {
    case MS_ARITH_ADD:
    case MS_ARITH_SUB:
        return capped_decimal(arena, max32(p1 - s1, p2 - s2) + scale + 1, scale, nullable);
    case MS_ARITH_MUL:
        return capped_decimal(arena, p1 + p2 + 1, s1 + s2, nullable);
    case MS_ARITH_DIV:
        scale = max32(6, s1 + p2 + 1);
        return capped_decimal(arena, p1 - s1 + s2 + scale, scale, nullable);
    case MS_ARITH_MOD:
        if (s1 == 0 && s2 == 0) {
            return ms_type_as_nullable(arena, b, nullable);
        }
        return ms_type_decimal(arena, max32(min32(p1 - s1, p2 - s2) + scale, 1), scale, nullable);
    }
    MS_UNREACHABLE();
}

const ms_type *ms_typing_arith(ms_arena *arena, ms_arith op, const ms_type *a, const ms_type *b)
{
    bool nullable = a->nullable || b->nullable;
    if (!has_kind(BITS_NUMERIC, a) || !has_kind(BITS_NUMERIC, b)) {
        return NULL;
    }
    bool are_exact = has_kind(BITS_EXACT, a) && has_kind(BITS_EXACT, b);
    if (op == MS_ARITH_MOD && !are_exact) {
        return NULL;
    }
    if (are_exact && (a->kind == MS_TYPE_DECIMAL || b->kind == MS_TYPE_DECIMAL)) {
        return arith_decimal(arena, op, a, b, nullable);
    }
    if (op == MS_ARITH_MOD) {
        return ms_type_as_nullable(arena, b, nullable);
    }
    return common_numeric(arena, a, b, nullable);
}

/* Literals. */

const ms_type *ms_typing_exact_literal(ms_arena *arena, ms_str digits)
{
    size_t point = ms_str_find_byte(digits, '.', 0);
    size_t fraction = point == SIZE_MAX ? 0 : digits.bytes - point - 1;
    uint64_t value = 0;
    uint32_t significant = 0;
    for (size_t i = 0; i < digits.bytes; i++) {
        if (i == point) {
            continue;
        }
        unsigned digit = (unsigned)(unsigned char)digits.ptr[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value)) {
            return NULL;
        }
        significant += significant > 0 || digit > 0;
    }
    if (value > (uint64_t)INT64_MAX || digits.bytes == 0 ||
        digits.bytes == (size_t)(point != SIZE_MAX)) {
        return NULL;
    }
    if (fraction == 0) {
        bool is_int = value <= INT32_MAX;
        return ms_type_simple(arena, is_int ? MS_TYPE_INT : MS_TYPE_BIGINT, false);
    }
    if (fraction > (size_t)MS_TYPE_DECIMAL_PRECISION_MAX) {
        return NULL;
    }
    int32_t scale = (int32_t)fraction;
    return ms_type_decimal(arena, max32((int32_t)significant, scale), scale, false);
}
