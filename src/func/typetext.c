/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading types from text: the reverse of ms_type_text, and what SQL writes without comments. Used
 * for signatures of functions and for stored plans, so it takes any text and answers NULL for what
 * is no type. The SQL parser has its own reader, with places and errors.
 */
#include "func/typing.h"

#include "base/limits.h"

typedef struct reader {
    ms_arena *arena;
    ms_str text;
    size_t at;
    uint32_t depth;
} reader;

static void skip_blanks(reader *r)
{
    while (r->at < r->text.bytes && r->text.ptr[r->at] == ' ') {
        r->at++;
    }
}

static bool take_byte(reader *r, char c)
{
    skip_blanks(r);
    if (r->at < r->text.bytes && r->text.ptr[r->at] == c) {
        r->at++;
        return true;
    }
    return false;
}

static bool is_word_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9');
}

static ms_str peek_word(reader *r)
{
    skip_blanks(r);
    size_t end = r->at;
    while (end < r->text.bytes && is_word_byte(r->text.ptr[end])) {
        end++;
    }
    return ms_str_make(r->text.ptr + r->at, end - r->at);
}

/* Takes the words, blank between each two, or none of them. */
static bool take_words(reader *r, const char *words)
{
    size_t start = r->at;
    ms_str rest = ms_str_cstr(words);
    while (rest.bytes > 0) {
        size_t end = ms_str_find_byte(rest, ' ', 0);
        ms_str word = ms_str_slice(rest, 0, end);
        ms_str found = peek_word(r);
        if (!ms_str_equals_nocase(word, found)) {
            r->at = start;
            return false;
        }
        r->at += found.bytes;
        rest = ms_str_slice(rest, end == SIZE_MAX ? rest.bytes : end + 1, rest.bytes);
    }
    return true;
}

static bool take_number(reader *r, int32_t *value_out)
{
    skip_blanks(r);
    int64_t value = 0;
    size_t start = r->at;
    while (r->at < r->text.bytes && r->text.ptr[r->at] >= '0' && r->text.ptr[r->at] <= '9') {
        value = value * 10 + (r->text.ptr[r->at++] - '0');
        if (value > INT32_MAX) {
            return false;
        }
    }
    *value_out = (int32_t)value;
    return r->at > start;
}

/* A name in back-ticks, doubled inside, or a bare word. */
static bool take_name(reader *r, ms_str *name_out)
{
    if (!take_byte(r, '`')) {
        *name_out = ms_arena_copy_str(r->arena, peek_word(r));
        r->at += name_out->bytes;
        return name_out->bytes > 0;
    }
    char *name = ms_arena_alloc(r->arena, r->text.bytes - r->at + 1, 1);
    size_t bytes = 0;
    while (r->at < r->text.bytes) {
        char c = r->text.ptr[r->at++];
        if (c == '`' && (r->at == r->text.bytes || r->text.ptr[r->at] != '`')) {
            *name_out = ms_str_make(name, bytes);
            return true;
        }
        r->at += c == '`';
        name[bytes++] = c;
    }
    return false;
}

static const ms_type *read_type(reader *r);

/* "(n)" with a default; the result is in [low, high]. */
static bool read_parameter(reader *r, int32_t low, int32_t high, int32_t *value_inout)
{
    if (!take_byte(r, '(')) {
        return true;
    }
    return take_number(r, value_inout) && *value_inout >= low && *value_inout <= high &&
           take_byte(r, ')');
}

static const ms_type *read_decimal(reader *r)
{
    int32_t precision = 10;
    int32_t scale = 0;
    if (take_byte(r, '(')) {
        bool ok = take_number(r, &precision) && (!take_byte(r, ',') || take_number(r, &scale)) &&
                  take_byte(r, ')');
        if (!ok || precision < 1 || precision > MS_TYPE_DECIMAL_PRECISION_MAX ||
            scale > precision) {
            return NULL;
        }
    }
    return ms_type_decimal(r->arena, precision, scale, true);
}

static const ms_type *read_sized(reader *r, ms_type_kind kind, int32_t length)
{
    return read_parameter(r, 0, MS_TYPE_LENGTH_MAX, &length)
               ? ms_type_sized(r->arena, kind, length, true)
               : NULL;
}

static const ms_type *read_temporal(reader *r, ms_type_kind kind)
{
    int32_t precision = kind == MS_TYPE_TIME ? 0 : 6;
    if (!read_parameter(r, 0, 9, &precision)) {
        return NULL;
    }
    if (kind == MS_TYPE_TIMESTAMP && take_words(r, "WITH LOCAL TIME ZONE")) {
        kind = MS_TYPE_TIMESTAMP_LTZ;
    }
    return ms_type_temporal(r->arena, kind, precision, true);
}

static const ms_type *read_row(reader *r)
{
    ms_field fields[64];
    ms_field *list = fields;
    uint32_t capacity = 64;
    uint32_t count = 0;
    if (!take_byte(r, '<')) {
        return NULL;
    }
    while (!take_byte(r, '>')) {
        if (count == capacity) {
            ms_field *more = ms_arena_array(r->arena, ms_field, (size_t)capacity * 2);
            memcpy(more, list, count * sizeof(ms_field));
            list = more;
            capacity *= 2;
        }
        if ((count > 0 && !take_byte(r, ',')) || !take_name(r, &list[count].name)) {
            return NULL;
        }
        list[count].type = read_type(r);
        if (list[count].type == NULL || ++count > MS_LIMIT_COLUMNS) {
            return NULL;
        }
    }
    return ms_type_row(r->arena, list, count, true);
}

/* "<T>" or "<K, V>". */
static const ms_type *read_collection(reader *r, ms_type_kind kind)
{
    const ms_type *first = take_byte(r, '<') ? read_type(r) : NULL;
    const ms_type *second = NULL;
    if (first == NULL) {
        return NULL;
    }
    if (kind == MS_TYPE_MAP) {
        second = take_byte(r, ',') ? read_type(r) : NULL;
    }
    if (!take_byte(r, '>') || (kind == MS_TYPE_MAP && second == NULL)) {
        return NULL;
    }
    if (kind == MS_TYPE_MAP) {
        return ms_type_map(r->arena, first, second, true);
    }
    return kind == MS_TYPE_ARRAY ? ms_type_array(r->arena, first, true)
                                 : ms_type_multiset(r->arena, first, true);
}

/* Longer spellings come before their prefixes. */
static const struct {
    const char *words;
    ms_type_kind kind;
} spellings[] = {
    {"NULL", MS_TYPE_NULL},
    {"BOOLEAN", MS_TYPE_BOOLEAN},
    {"TINYINT", MS_TYPE_TINYINT},
    {"SMALLINT", MS_TYPE_SMALLINT},
    {"INT", MS_TYPE_INT},
    {"INTEGER", MS_TYPE_INT},
    {"BIGINT", MS_TYPE_BIGINT},
    {"FLOAT", MS_TYPE_FLOAT},
    {"DOUBLE PRECISION", MS_TYPE_DOUBLE},
    {"DOUBLE", MS_TYPE_DOUBLE},
    {"DECIMAL", MS_TYPE_DECIMAL},
    {"NUMERIC", MS_TYPE_DECIMAL},
    {"DEC", MS_TYPE_DECIMAL},
    {"CHAR", MS_TYPE_CHAR},
    {"VARCHAR", MS_TYPE_VARCHAR},
    {"STRING", MS_TYPE_VARCHAR},
    {"BINARY", MS_TYPE_BINARY},
    {"VARBINARY", MS_TYPE_VARBINARY},
    {"BYTES", MS_TYPE_VARBINARY},
    {"DATE", MS_TYPE_DATE},
    {"TIME", MS_TYPE_TIME},
    {"TIMESTAMP_LTZ", MS_TYPE_TIMESTAMP_LTZ},
    {"TIMESTAMP", MS_TYPE_TIMESTAMP},
    {"ARRAY", MS_TYPE_ARRAY},
    {"MULTISET", MS_TYPE_MULTISET},
    {"MAP", MS_TYPE_MAP},
    {"ROW", MS_TYPE_ROW},
};

static const ms_type *read_interval(reader *r)
{
    static const struct {
        const char *words;
        ms_type_kind kind;
    } intervals[] = {
        {"INTERVAL YEAR TO MONTH", MS_TYPE_INTERVAL_MONTH},
        {"INTERVAL MONTH", MS_TYPE_INTERVAL_MONTH},
        {"INTERVAL YEAR", MS_TYPE_INTERVAL_MONTH},
        {"INTERVAL DAY TO SECOND", MS_TYPE_INTERVAL_SECOND},
        {"INTERVAL DAY", MS_TYPE_INTERVAL_SECOND},
        {"INTERVAL SECOND", MS_TYPE_INTERVAL_SECOND},
    };
    for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
        if (take_words(r, intervals[i].words)) {
            int32_t ignored = 0;
            return read_parameter(r, 0, 9, &ignored)
                       ? ms_type_simple(r->arena, intervals[i].kind, true)
                       : NULL;
        }
    }
    return NULL;
}

static const ms_type *read_kind(reader *r, ms_type_kind kind, ms_str word)
{
    switch (kind) {
    case MS_TYPE_DECIMAL:
        return read_decimal(r);
    case MS_TYPE_CHAR:
    case MS_TYPE_BINARY:
        return read_sized(r, kind, 1);
    case MS_TYPE_VARCHAR:
    case MS_TYPE_VARBINARY:
        if (ms_str_equals_nocase(word, ms_str_lit("STRING")) ||
            ms_str_equals_nocase(word, ms_str_lit("BYTES"))) {
            return ms_type_sized(r->arena, kind, MS_TYPE_LENGTH_MAX, true);
        }
        return read_sized(r, kind, 1);
    case MS_TYPE_TIME:
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
        return read_temporal(r, kind);
    case MS_TYPE_ARRAY:
    case MS_TYPE_MAP:
    case MS_TYPE_MULTISET:
        return read_collection(r, kind);
    case MS_TYPE_ROW:
        return read_row(r);
    case MS_TYPE_NULL:
    case MS_TYPE_BOOLEAN:
    case MS_TYPE_TINYINT:
    case MS_TYPE_SMALLINT:
    case MS_TYPE_INT:
    case MS_TYPE_BIGINT:
    case MS_TYPE_FLOAT:
    case MS_TYPE_DOUBLE:
    case MS_TYPE_DATE:
        return ms_type_simple(r->arena, kind, true);
    case MS_TYPE_INTERVAL_MONTH:
    case MS_TYPE_INTERVAL_SECOND:
    case MS_TYPE_RAW:
    case MS_TYPE_TIMESTAMP_TZ:
    case MS_TYPE_KIND_COUNT:
        return NULL;
    }
    return NULL;
}

static const ms_type *read_type(reader *r)
{
    if (r->depth == MS_LIMIT_TYPE_DEPTH) {
        return NULL;
    }
    r->depth++;
    const ms_type *type = NULL;
    ms_str word = peek_word(r);
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]) && type == NULL; i++) {
        if (take_words(r, spellings[i].words)) {
            type = read_kind(r, spellings[i].kind, word);
            break;
        }
    }
    if (type == NULL && ms_str_equals_nocase(word, ms_str_lit("INTERVAL"))) {
        type = read_interval(r);
    }
    r->depth--;
    if (type != NULL && take_words(r, "NOT NULL")) {
        return ms_type_as_nullable(r->arena, type, false);
    }
    return type;
}

const ms_type *ms_typing_parse(ms_arena *arena, ms_str text)
{
    reader r = {.arena = arena, .text = text};
    const ms_type *type = read_type(&r);
    skip_blanks(&r);
    return r.at == text.bytes ? type : NULL;
}
