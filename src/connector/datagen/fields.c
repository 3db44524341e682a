/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the options "fields.<column>..." to generators. The tree of a column's type says which keys
 * there may be; each is looked up under its full name and marked as used, and what is left unmarked
 * in the end is a mistake.
 */
#include "connector/datagen/generator.h"

#include "type/decimal.h"

#include <float.h>
#include <stdio.h>

/* Flink's defaults. */
#define STRING_LENGTH 100u
#define COLLECTION_LENGTH 3u
#define INTERVAL_MONTHS_MAX 120000

/* Keys of one MAP or MULTISET are compared with each other. */
#define MAP_LENGTH_MAX 1000
#define ARRAY_LENGTH_MAX 1000000

typedef struct field_builder {
    const ms_option_list *list;
    bool *used; /* per entry of the list */
    ms_arena *arena;
    uint64_t salts;
    ms_status *st;
} field_builder;

/* A generator being made: its options are named path.suffix. */
typedef struct place {
    ms_str path;
    msi_generator *generator;
    bool is_nested;
} place;

/* Looking up. */

/* The last entry of a key, which is the one that counts; NULL when there is none. */
static const ms_option *find(field_builder *builder, const place *at, const char *suffix)
{
    ms_str key = ms_arena_format(builder->arena, "%.*s.%s", MS_STR_ARG(at->path), suffix);
    const ms_option *found = NULL;
    for (uint32_t i = 0; i < builder->list->count; i++) {
        if (ms_str_equals(builder->list->items[i].key, key)) {
            found = &builder->list->items[i];
            builder->used[i] = true;
        }
    }
    return found;
}

/* Reads an option as the descriptor says, whose key is only the suffix; has_value tells absence. */
static ms_rc get(field_builder *builder, const place *at, const ms_option_desc *desc,
                 ms_option_value *value_out)
{
    *value_out = (ms_option_value){0};
    const ms_option *option = find(builder, at, desc->key);
    if (option == NULL) {
        return MS_OK;
    }
    return ms_option_parse(desc, option->key, option->value, option->value_span, "option",
                           value_out, builder->st);
}

static ms_rc refuse(field_builder *builder, const place *at, const char *suffix, ms_span span,
                    const char *why)
{
    return ms_status_set(builder->st, MS_INVALID_OPTION, span, "option \"%.*s.%s\" %s",
                         MS_STR_ARG(at->path), suffix, why);
}

/* Single options. */

static ms_rc read_null_rate(field_builder *builder, const place *at)
{
    static const ms_option_desc desc = {.key = "null-rate", .kind = MS_OPT_F64};
    ms_option_value value;
    MS_TRY(get(builder, at, &desc, &value));
    if (!value.has_value) {
        return MS_OK;
    }
    if (!(value.f64 >= 0 && value.f64 <= 1)) {
        return refuse(builder, at, desc.key, value.span, "must be from 0 to 1");
    }
    if (value.f64 > 0 && !at->generator->type->nullable) {
        return refuse(builder, at, desc.key, value.span, "cannot make NULLs: the type is NOT NULL");
    }
    at->generator->null_rate = value.f64;
    return MS_OK;
}

static ms_rc read_range(field_builder *builder, const place *at, int64_t min, int64_t max)
{
    msi_generator *generator = at->generator;
    const ms_option_desc low = {.key = "min", .kind = MS_OPT_I64, .min = min, .max = max};
    const ms_option_desc high = {.key = "max", .kind = MS_OPT_I64, .min = min, .max = max};
    ms_option_value from;
    ms_option_value to;
    MS_TRY(get(builder, at, &low, &from));
    MS_TRY(get(builder, at, &high, &to));
    generator->min = from.has_value ? from.i64 : min;
    generator->max = to.has_value ? to.i64 : max;
    if (generator->min > generator->max) {
        return refuse(builder, at, from.has_value ? "min" : "max",
                      from.has_value ? from.span : to.span, "makes the range empty");
    }
    return MS_OK;
}

static ms_rc read_reals(field_builder *builder, const place *at, double min, double max)
{
    static const ms_option_desc low = {.key = "min", .kind = MS_OPT_F64};
    static const ms_option_desc high = {.key = "max", .kind = MS_OPT_F64};
    msi_generator *generator = at->generator;
    ms_option_value from;
    ms_option_value to;
    MS_TRY(get(builder, at, &low, &from));
    MS_TRY(get(builder, at, &high, &to));
    generator->real_min = from.has_value ? from.f64 : min;
    generator->real_max = to.has_value ? to.f64 : max;
    if (!(generator->real_min <= generator->real_max)) {
        return refuse(builder, at, from.has_value ? "min" : "max",
                      from.has_value ? from.span : to.span, "makes the range empty");
    }
    return MS_OK;
}

static ms_rc read_max_past(field_builder *builder, const place *at)
{
    static const ms_option_desc desc = {.key = "max-past", .kind = MS_OPT_DURATION};
    ms_option_value value;
    MS_TRY(get(builder, at, &desc, &value));
    at->generator->max_past_ms = value.i64;
    return MS_OK;
}

static ms_rc read_length(field_builder *builder, const place *at, int64_t fallback, int64_t max)
{
    const ms_option_desc desc = {.key = "length", .kind = MS_OPT_I64, .min = 1, .max = max};
    ms_option_value value;
    MS_TRY(get(builder, at, &desc, &value));
    at->generator->length = (uint32_t)(value.has_value ? value.i64 : fallback);
    return MS_OK;
}

/* STRING and BYTES have a default of their own; VARCHAR(n) is as long as it may be. */
static ms_rc read_string(field_builder *builder, const place *at)
{
    static const ms_option_desc varied = {.key = "var-len", .kind = MS_OPT_BOOL};
    const ms_type *type = at->generator->type;
    bool is_unlimited = type->precision == MS_TYPE_LENGTH_MAX;
    int64_t max = type->precision < (int64_t)MS_LIMIT_STRING_BYTES ? type->precision
                                                                   : (int64_t)MS_LIMIT_STRING_BYTES;
    MS_TRY(read_length(builder, at, is_unlimited ? STRING_LENGTH : max, max));
    ms_option_value value;
    MS_TRY(get(builder, at, &varied, &value));
    at->generator->is_varied = value.i64 != 0;
    return MS_OK;
}

/* Decimals are cut to what the type can hold: 10^(p-s) - 1. */
static ms_rc read_decimal(field_builder *builder, const place *at)
{
    const ms_type *type = at->generator->type;
    ms_decimal bound = {ms_decimal_pow10[type->precision - type->scale] - 1, 0};
    double most = ms_decimal_to_double(bound);
    MS_TRY(read_reals(builder, at, DBL_TRUE_MIN, most));
    msi_generator *generator = at->generator;
    generator->real_min = generator->real_min < -most ? -most : generator->real_min;
    generator->real_max = generator->real_max > most ? most : generator->real_max;
    return MS_OK;
}

/* Sequences. */

static ms_rc check_sequence(field_builder *builder, const place *at, const char *suffix,
                            int64_t number, ms_span span)
{
    const ms_type *type = at->generator->type;
    char text[32];
    int digits = snprintf(text, sizeof(text), "%lld", (long long)number);
    bool fits = true;
    if (ms_type_is_character(type)) {
        fits = digits <= type->precision;
    } else if (type->kind == MS_TYPE_BINARY) {
        fits = type->precision == (int32_t)sizeof(number);
    } else if (type->kind == MS_TYPE_VARBINARY) {
        fits = type->precision >= (int32_t)sizeof(number);
    } else if (type->kind == MS_TYPE_DECIMAL) {
        fits = ms_decimal_fits(number, type->precision - type->scale);
    } else if (type->phys == MS_PHYS_I8) {
        fits = number >= INT8_MIN && number <= INT8_MAX;
    } else if (type->phys == MS_PHYS_I16) {
        fits = number >= INT16_MIN && number <= INT16_MAX;
    } else if (type->phys == MS_PHYS_I32) {
        fits = number >= INT32_MIN && number <= INT32_MAX;
    }
    return fits ? MS_OK : refuse(builder, at, suffix, span, "does not fit the type of the column");
}

static ms_rc read_bound(field_builder *builder, const place *at, const char *suffix,
                        int64_t *bound_out)
{
    const ms_option_desc desc = {.key = suffix, .kind = MS_OPT_I64};
    ms_option_value value;
    MS_TRY(get(builder, at, &desc, &value));
    if (!value.has_value) {
        ms_status_set(builder->st, MS_MISSING_OPTION, ms_span_none,
                      "a sequence needs the option \"%.*s.%s\"", MS_STR_ARG(at->path), suffix);
        return ms_status_detail(
            builder->st, "Could not find required property '%.*s.%s' for sequence generator.",
            MS_STR_ARG(at->path), suffix);
    }
    *bound_out = value.i64;
    return check_sequence(builder, at, suffix, value.i64, value.span);
}

static ms_rc read_sequence(field_builder *builder, const place *at)
{
    msi_generator *generator = at->generator;
    const ms_type *type = generator->type;
    bool has_sequences = ms_type_is_numeric(type) || ms_type_is_character(type) ||
                         ms_type_is_binary(type) || type->kind == MS_TYPE_BOOLEAN;
    if (!has_sequences) {
        return ms_status_set(builder->st, MS_NOT_SUPPORTED, find(builder, at, "kind")->value_span,
                             "there are no sequences of type %.*s",
                             MS_STR_ARG(ms_type_text_bare(builder->arena, type)));
    }
    MS_TRY(read_bound(builder, at, "start", &generator->start));
    MS_TRY(read_bound(builder, at, "end", &generator->end));
    if (generator->start > generator->end) {
        ms_span span = find(builder, at, "start")->value_span;
        refuse(builder, at, "start", span, "is greater than the end");
        return ms_status_detail(
            builder->st, "The start value (%lld) cannot be greater than the end value (%lld).",
            (long long)generator->start, (long long)generator->end);
    }
    generator->is_sequence = true;
    return MS_OK;
}

/* Generators. */

static ms_rc make_generator(field_builder *builder, const place *at, const ms_type *type);

/* Parts of a nested type; names[i] is the component of the key. */
static ms_rc make_children(field_builder *builder, const place *at, const ms_str *names,
                           uint32_t count)
{
    const ms_type *type = at->generator->type;
    msi_generator *children = ms_arena_array(builder->arena, msi_generator, count);
    for (uint32_t i = 0; i < count; i++) {
        place child = {.generator = &children[i], .is_nested = true};
        child.path = ms_arena_format(builder->arena, "%.*s.%.*s", MS_STR_ARG(at->path),
                                     MS_STR_ARG(names[i]));
        MS_TRY(make_generator(builder, &child, type->children[i]));
    }
    at->generator->children = children;
    at->generator->child_count = count;
    return MS_OK;
}

static ms_rc read_list(field_builder *builder, const place *at)
{
    static const ms_str element[] = {{"element", 7}};
    static const ms_str entry[] = {{"key", 3}, {"value", 5}};
    ms_type_kind kind = at->generator->type->kind;
    int64_t max = kind == MS_TYPE_ARRAY ? ARRAY_LENGTH_MAX : MAP_LENGTH_MAX;
    MS_TRY(read_length(builder, at, COLLECTION_LENGTH, max));
    return kind == MS_TYPE_MAP ? make_children(builder, at, entry, 2)
                               : make_children(builder, at, element, 1);
}

/* The options that a type has when its values are random. */
static ms_rc read_random(field_builder *builder, const place *at)
{
    msi_generator *generator = at->generator;
    const ms_type *type = generator->type;
    switch (type->kind) {
    case MS_TYPE_BOOLEAN:
    case MS_TYPE_DATE:
    case MS_TYPE_TIME:
        return MS_OK;
    case MS_TYPE_TINYINT:
        return read_range(builder, at, INT8_MIN, INT8_MAX);
    case MS_TYPE_SMALLINT:
        return read_range(builder, at, INT16_MIN, INT16_MAX);
    case MS_TYPE_INT:
        return read_range(builder, at, INT32_MIN, INT32_MAX);
    case MS_TYPE_BIGINT:
    case MS_TYPE_INTERVAL_SECOND:
        return read_range(builder, at, INT64_MIN, INT64_MAX);
    case MS_TYPE_INTERVAL_MONTH:
        return read_range(builder, at, 0, INTERVAL_MONTHS_MAX);
    case MS_TYPE_FLOAT:
        return read_reals(builder, at, (double)FLT_TRUE_MIN, (double)FLT_MAX);
    case MS_TYPE_DOUBLE:
        return read_reals(builder, at, DBL_TRUE_MIN, DBL_MAX);
    case MS_TYPE_DECIMAL:
        return read_decimal(builder, at);
    case MS_TYPE_CHAR:
    case MS_TYPE_BINARY:
        generator->length = (uint32_t)type->precision;
        return MS_OK;
    case MS_TYPE_VARCHAR:
    case MS_TYPE_VARBINARY:
        return read_string(builder, at);
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
        return read_max_past(builder, at);
    case MS_TYPE_ARRAY:
    case MS_TYPE_MAP:
    case MS_TYPE_MULTISET:
        return read_list(builder, at);
    case MS_TYPE_ROW:
        return make_children(builder, at, type->names, type->child_count);
    case MS_TYPE_NULL:
    case MS_TYPE_RAW:
    case MS_TYPE_TIMESTAMP_TZ:
    case MS_TYPE_KIND_COUNT:
        break;
    }
    return ms_status_set(builder->st, MS_NOT_SUPPORTED, ms_span_none,
                         "connector \"datagen\" makes no values of type %.*s",
                         MS_STR_ARG(ms_type_text_bare(builder->arena, type)));
}

static ms_rc make_generator(field_builder *builder, const place *at, const ms_type *type)
{
    static const ms_option_desc desc = {
        .key = "kind", .kind = MS_OPT_ENUM, .values = "random|sequence"};
    *at->generator = (msi_generator){.type = type, .salt = builder->salts++};
    MS_TRY(read_null_rate(builder, at));
    ms_option_value kind = {0};
    if (!at->is_nested) {
        MS_TRY(get(builder, at, &desc, &kind));
    }
    return kind.i64 == 1 ? read_sequence(builder, at) : read_random(builder, at);
}

/* What nobody asked for: a key of a column that is not there, or that its type does not have. */
static ms_rc check_unused(const field_builder *builder, const ms_schema *schema)
{
    const ms_str prefix = ms_str_lit("fields.");
    for (uint32_t i = 0; i < builder->list->count; i++) {
        const ms_option *option = &builder->list->items[i];
        if (builder->used[i] || !ms_str_starts_with(option->key, prefix)) {
            continue;
        }
        ms_str rest = ms_str_slice(option->key, prefix.bytes, option->key.bytes);
        ms_status_set(builder->st, MS_UNKNOWN_OPTION, option->key_span,
                      "connector \"datagen\" has no option \"%.*s\" here", MS_STR_ARG(option->key));
        for (uint32_t c = 0; c < schema->column_count; c++) {
            const ms_field *field = &schema->columns[c];
            bool is_its = ms_str_starts_with(rest, field->name) && rest.bytes > field->name.bytes &&
                          rest.ptr[field->name.bytes] == '.';
            if (is_its) {
                return ms_status_hint(builder->st,
                                      "A column of type %.*s, or of this kind, does not take it.",
                                      MS_STR_ARG(ms_type_text_bare(builder->arena, field->type)));
            }
        }
        return ms_status_hint(builder->st, "The table has no physical column of this name.");
    }
    return MS_OK;
}

ms_rc msi_generators_make(const ms_table *table, const ms_schema *schema, ms_arena *arena,
                          const msi_generator **generators_out, ms_status *st)
{
    *generators_out = NULL;
    field_builder builder = {.list = &table->options,
                             .used = ms_arena_array(arena, bool, table->options.count),
                             .arena = arena,
                             .st = st};
    msi_generator *generators = ms_arena_array(arena, msi_generator, schema->column_count);
    for (uint32_t c = 0; c < schema->column_count; c++) {
        place at = {.generator = &generators[c]};
        at.path = ms_arena_format(arena, "fields.%.*s", MS_STR_ARG(schema->columns[c].name));
        MS_TRY(make_generator(&builder, &at, schema->columns[c].type));
    }
    MS_TRY(check_unused(&builder, schema));
    *generators_out = generators;
    return MS_OK;
}
