/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching signatures. A parameter is a family in lower case, or a type. Without MS_FN_COERCES an
 * argument must be of the family or have the type's kind, and an untyped NULL fits nothing but
 * "any"; with it, an argument that casts implicitly to the type is cast, and NULL becomes the type.
 */
/* tidy: no-unit-test: registry_test.c has its cases */
#include "func/signature.h"

#include "func/typing.h"

typedef struct parameter {
    ms_str text;
    bool is_optional;
    bool repeats;
} parameter;

static bool is_date(const ms_type *type)
{
    return type->kind == MS_TYPE_DATE;
}

static bool is_time(const ms_type *type)
{
    return type->kind == MS_TYPE_TIME;
}

static bool is_any(const ms_type *type)
{
    (void)type;
    return true;
}

static bool is_boolean(const ms_type *type)
{
    return type->kind == MS_TYPE_BOOLEAN;
}

static bool is_exact(const ms_type *type)
{
    return ms_type_is_integer(type) || type->kind == MS_TYPE_DECIMAL;
}

static bool is_string(const ms_type *type)
{
    return ms_type_is_character(type) || ms_type_is_binary(type);
}

static bool is_array(const ms_type *type)
{
    return type->kind == MS_TYPE_ARRAY;
}

static bool is_map(const ms_type *type)
{
    return type->kind == MS_TYPE_MAP;
}

static bool is_multiset(const ms_type *type)
{
    return type->kind == MS_TYPE_MULTISET;
}

static bool is_row(const ms_type *type)
{
    return type->kind == MS_TYPE_ROW;
}

typedef bool (*family_fn)(const ms_type *type);

static const struct {
    const char *name;
    family_fn has;
} families[] = {
    {"any", is_any},
    {"boolean", is_boolean},
    {"integer", ms_type_is_integer},
    {"exact", is_exact},
    {"numeric", ms_type_is_numeric},
    {"character", ms_type_is_character},
    {"binary", ms_type_is_binary},
    {"string", is_string},
    {"date", is_date},
    {"time", is_time},
    {"timestamp", ms_type_is_timestamp},
    {"interval", ms_type_is_interval},
    {"array", is_array},
    {"map", is_map},
    {"multiset", is_multiset},
    {"row", is_row},
};

static family_fn family_of(ms_str text)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (ms_str_equals(text, ms_str_cstr(families[i].name))) {
            return families[i].has;
        }
    }
    return NULL;
}

/* Takes the next parameter off the text; commas inside brackets do not count. */
static bool next_parameter(ms_str *text, parameter *out)
{
    *text = ms_str_trim(*text);
    if (text->bytes == 0) {
        return false;
    }
    size_t end = 0;
    int depth = 0;
    while (end < text->bytes && (depth > 0 || text->ptr[end] != ',')) {
        char c = text->ptr[end++];
        depth += c == '<' || c == '(';
        depth -= c == '>' || c == ')';
    }
    ms_str word = ms_str_trim(ms_str_slice(*text, 0, end));
    *text = ms_str_slice(*text, end + 1, text->bytes);
    out->repeats = ms_str_ends_with(word, ms_str_lit("..."));
    word.bytes -= out->repeats ? 3 : 0;
    out->is_optional = ms_str_ends_with(word, ms_str_lit("?"));
    word.bytes -= out->is_optional ? 1 : 0;
    out->text = word;
    return true;
}

static bool matches_parameter(ms_arena *arena, const parameter *p, uint32_t fn_flags,
                              const ms_type *type, const ms_type **wanted_out)
{
    family_fn family = family_of(p->text);
    bool coerces = (fn_flags & MS_FN_COERCES) != 0;
    if (family != NULL) {
        return family(type) && (type->kind != MS_TYPE_NULL || family == is_any);
    }
    const ms_type *target = ms_typing_parse(arena, p->text);
    if (target == NULL) {
        return false;
    }
    bool nullable = type->nullable || type->kind == MS_TYPE_NULL;
    target = ms_type_as_nullable(arena, target, nullable);
    if (type->kind == MS_TYPE_NULL && !coerces) {
        return false;
    }
    if (!coerces && type->kind != target->kind) {
        return false;
    }
    *wanted_out = target;
    return ms_typing_casts_implicitly(type, target);
}

bool msi_signature_matches(ms_arena *arena, const ms_fn_signature *signature, uint32_t fn_flags,
                           const ms_fn_args *args, const ms_type **wanted,
                           const ms_type **result_out)
{
    ms_str rest = ms_str_cstr(signature->args);
    parameter p = {{NULL, 0}, false, false};
    uint32_t at = 0;
    bool is_optional = false;
    bool has_parameter = false;
    while (at < args->count) {
        if (!has_parameter || !p.repeats) {
            has_parameter = next_parameter(&rest, &p);
        }
        wanted[at] = args->types[at];
        if (!has_parameter ||
            !matches_parameter(arena, &p, fn_flags, args->types[at], &wanted[at])) {
            return false;
        }
        at++;
    }
    if (next_parameter(&rest, &p)) {
        is_optional = p.is_optional;
        if (!is_optional) {
            return false;
        }
    }
    if (signature->result[0] == '$') {
        uint32_t which = (uint32_t)(signature->result[1] - '1');
        *result_out = which < args->count ? wanted[which] : NULL;
    } else {
        *result_out = ms_typing_parse(arena, ms_str_cstr(signature->result));
    }
    return *result_out != NULL;
}

bool msi_signature_is_valid(ms_arena *arena, const ms_fn_signature *signature)
{
    ms_str rest = ms_str_cstr(signature->args);
    parameter p;
    uint32_t count = 0;
    while (next_parameter(&rest, &p)) {
        if (family_of(p.text) == NULL && ms_typing_parse(arena, p.text) == NULL) {
            return false;
        }
        if (p.repeats && ms_str_trim(rest).bytes > 0) {
            return false;
        }
        count++;
    }
    ms_str result = ms_str_cstr(signature->result);
    if (ms_str_starts_with(result, ms_str_lit("$"))) {
        return result.bytes == 2 && result.ptr[1] >= '1' &&
               (uint32_t)(result.ptr[1] - '0') <= count && result.ptr[1] <= '9';
    }
    return ms_typing_parse(arena, result) != NULL;
}
