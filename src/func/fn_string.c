/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of text: || CONCAT CHAR_LENGTH UPPER LOWER SUBSTRING POSITION TRIM. Characters are
 * those of func/utf8.h, so that any bytes are fine. Results that are a part of their argument share
 * its bytes; others are made in the batch's heap. UPPER and LOWER are ICU's in the root locale,
 * with a path of its own for ASCII; bytes that are no UTF-8 stay as they are.
 */
/* tidy: no-unit-test: function_test.c of expr/ has its table */
#include "base/map.h"
#include "func/func_priv.h"
#include "func/utf8.h"

#include <unicode/ucasemap.h>

static ms_str text_at(ms_arg arg, uint32_t row)
{
    return ms_view_str(MS_ARG_AT(arg, ms_view, row));
}

/* A view of bytes that outlive the batch; a short one is copied into the view. */
static ms_view view_of(ms_str text)
{
    return ms_view_make(text.ptr, (uint32_t)text.bytes);
}

/* || and CONCAT. */

static ms_rc infer_concat_operator(ms_fn_infer *in, ms_status *st)
{
    if (in->arg_count != 2) {
        return msi_infer_refuse(st);
    }
    const ms_type *a = in->arg_types[0];
    const ms_type *b = in->arg_types[1];
    bool is_text = ms_type_is_character(a) && ms_type_is_character(b);
    bool is_bytes = ms_type_is_binary(a) && ms_type_is_binary(b);
    if (a->kind == MS_TYPE_ARRAY && b->kind == MS_TYPE_ARRAY) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "joining arrays with || is not supported");
    }
    if (!is_text && !is_bytes) {
        return msi_infer_refuse(st);
    }
    int64_t length = (int64_t)a->precision + b->precision;
    bool is_fixed = (a->kind == MS_TYPE_CHAR && b->kind == MS_TYPE_CHAR) ||
                    (a->kind == MS_TYPE_BINARY && b->kind == MS_TYPE_BINARY);
    ms_type_kind kind = is_text ? (is_fixed ? MS_TYPE_CHAR : MS_TYPE_VARCHAR)
                                : (is_fixed ? MS_TYPE_BINARY : MS_TYPE_VARBINARY);
    in->result_type =
        ms_type_sized(msi_infer_arena(in), kind,
                      length > MS_TYPE_LENGTH_MAX ? MS_TYPE_LENGTH_MAX : (int32_t)length,
                      a->nullable || b->nullable);
    return MS_OK;
}

static void eval_concat(ms_fn_call *call)
{
    ms_view *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        size_t bytes = 0;
        for (uint32_t i = 0; i < call->arg_count; i++) {
            bytes += MS_ARG_AT(ms_arg_of(call, i), ms_view, row)->bytes;
        }
        char inline_bytes[MS_VIEW_INLINE];
        char *text = bytes <= MS_VIEW_INLINE ? inline_bytes : ms_call_string(call, row, bytes);
        if (text == NULL) {
            continue;
        }
        size_t at = 0;
        for (uint32_t i = 0; i < call->arg_count; i++) {
            ms_str part = text_at(ms_arg_of(call, i), row);
            memcpy(text + at, part.ptr, part.bytes);
            at += part.bytes;
        }
        out[row] = view_of(ms_str_make(text, bytes));
    });
}

static ms_rc scalar_concat(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    size_t bytes = 0;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        bytes += call->args[i].u.str.bytes;
    }
    if (bytes > MS_LIMIT_STRING_BYTES) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "a text of more than %u bytes",
                             MS_LIMIT_STRING_BYTES);
    }
    char *text = ms_arena_alloc(call->arena, bytes + 1, 1);
    out->u.str = ms_str_make(text, bytes);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        ms_str part = call->args[i].u.str;
        if (part.bytes > 0) {
            memcpy(text, part.ptr, part.bytes);
            text += part.bytes;
        }
    }
    return MS_OK;
}

/* CHAR_LENGTH. */

static void eval_length(ms_fn_call *call)
{
    ms_arg a = ms_arg_of(call, 0);
    int32_t *out = call->result->data;
    MS_CALL_ROWS(call, row, { out[row] = (int32_t)ms_utf8_length(text_at(a, row)); });
}

static ms_rc scalar_length(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    (void)st;
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    ms_str text = call->args[0].u.str;
    out->u.i = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        out->u.i += i == 0 || !ms_utf8_is_continuation(text.ptr[i]);
    }
    return MS_OK;
}

/* UPPER and LOWER. */

typedef int32_t (*case_fn)(const UCaseMap *map, char *dest, int32_t dest_bytes, const char *src,
                           int32_t src_bytes, UErrorCode *error);

typedef struct case_state {
    const UCaseMap *map;
    case_fn convert;
    char first; /* of the ASCII letters that change */
    char last;
} case_state;

#define ONES UINT64_C(0x0101010101010101)
#define TOPS UINT64_C(0x8080808080808080)

/* The top bits of the ASCII bytes that lie in first .. last: no sum carries into the next byte. */
static uint64_t bytes_between(uint64_t word, char first, char last)
{
    uint64_t from_first = word + ONES * (uint64_t)(0x80 - first);
    uint64_t beyond_last = word + ONES * (uint64_t)(0x7F - last);
    return (from_first ^ beyond_last) & TOPS;
}

/* Converts ASCII; false when the text is not, and then out is garbage. */
static bool convert_ascii(const case_state *state, char *out, ms_str text)
{
    uint64_t seen = 0;
    size_t at = 0;
    for (; at + 8 <= text.bytes; at += 8) {
        uint64_t word;
        memcpy(&word, text.ptr + at, sizeof(word));
        seen |= word & TOPS;
        word ^= bytes_between(word & ~TOPS, state->first, state->last) >> 2;
        memcpy(out + at, &word, sizeof(word));
    }
    for (; at < text.bytes; at++) {
        char c = text.ptr[at];
        seen |= (unsigned char)c & 0x80u;
        out[at] = (char)(c ^ (c >= state->first && c <= state->last ? 0x20 : 0));
    }
    return seen == 0;
}

/* Converts with ICU, measuring first; the row fails when there is no room. */
static void convert_unicode(ms_fn_call *call, const case_state *state, uint32_t row, ms_str text)
{
    UErrorCode error = U_ZERO_ERROR;
    int32_t bytes = state->convert(state->map, NULL, 0, text.ptr, (int32_t)text.bytes, &error);
    char *out = ms_call_string(call, row, (size_t)bytes + 1);
    if (out == NULL) {
        return;
    }
    error = U_ZERO_ERROR;
    state->convert(state->map, out, bytes + 1, text.ptr, (int32_t)text.bytes, &error);
    ((ms_view *)call->result->data)[row] = view_of(ms_str_make(out, (size_t)bytes));
}

static void eval_case(ms_fn_call *call)
{
    const case_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    ms_view *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        ms_str text = text_at(a, row);
        char inline_bytes[MS_VIEW_INLINE];
        char *space =
            text.bytes <= MS_VIEW_INLINE ? inline_bytes : ms_call_string(call, row, text.bytes);
        if (space == NULL) {
            continue;
        }
        if (convert_ascii(state, space, text)) {
            out[row] = view_of(ms_str_make(space, text.bytes));
        } else {
            convert_unicode(call, state, row, text);
        }
    });
}

static void close_map(void *map)
{
    ucasemap_close(map);
}

static ms_rc open_map(ms_arena *arena, case_state *state, bool upper, ms_status *st)
{
    UErrorCode error = U_ZERO_ERROR;
    UCaseMap *map = ucasemap_open("", 0, &error);
    if (U_FAILURE(error)) {
        return ms_status_set(st, MS_INTERNAL, ms_span_none, "ICU has no case mapping: %s",
                             u_errorName(error));
    }
    ms_arena_on_release(arena, close_map, map);
    state->map = map;
    state->convert = upper ? ucasemap_utf8ToUpper : ucasemap_utf8ToLower;
    state->first = upper ? 'a' : 'A';
    state->last = upper ? 'z' : 'Z';
    return MS_OK;
}

static ms_rc specialize_case(ms_fn_plan *plan, bool upper, ms_status *st)
{
    case_state *state = MSI_PLAN_NEW(plan, case_state);
    MS_TRY(open_map(plan->memory->arena, state, upper, st));
    plan->state = state;
    return MS_OK;
}

static ms_rc specialize_upper(ms_fn_plan *plan, ms_status *st)
{
    return specialize_case(plan, true, st);
}

static ms_rc specialize_lower(ms_fn_plan *plan, ms_status *st)
{
    return specialize_case(plan, false, st);
}

/* All of the text through ICU, ASCII too. */
static ms_rc scalar_case(const ms_fn_scalar_call *call, bool upper, ms_value *out, ms_status *st)
{
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    ms_str text = call->args[0].u.str;
    UErrorCode error = U_ZERO_ERROR;
    UCaseMap *map = ucasemap_open("", 0, &error);
    if (U_FAILURE(error)) {
        return ms_status_set(st, MS_INTERNAL, ms_span_none, "ICU has no case mapping: %s",
                             u_errorName(error));
    }
    case_fn convert = upper ? ucasemap_utf8ToUpper : ucasemap_utf8ToLower;
    int32_t bytes = convert(map, NULL, 0, text.ptr, (int32_t)text.bytes, &error);
    char *space = ms_arena_alloc(call->arena, (size_t)bytes + 1, 1);
    error = U_ZERO_ERROR;
    convert(map, space, bytes + 1, text.ptr, (int32_t)text.bytes, &error);
    ucasemap_close(map);
    out->u.str = ms_str_make(space, (size_t)bytes);
    return MS_OK;
}

static ms_rc scalar_upper(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return scalar_case(call, true, out, st);
}

static ms_rc scalar_lower(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return scalar_case(call, false, out, st);
}

/* SUBSTRING(text, from[, length]). */

static ms_rc infer_substring(ms_fn_infer *in, ms_status *st)
{
    bool fits = in->arg_count == 2 || in->arg_count == 3;
    fits = fits && ms_type_is_character(in->arg_types[0]);
    for (uint32_t i = 1; i < in->arg_count && fits; i++) {
        fits = ms_type_is_integer(in->arg_types[i]);
        in->wanted[i] =
            ms_type_simple(msi_infer_arena(in), MS_TYPE_BIGINT, in->arg_types[i]->nullable);
    }
    if (!fits) {
        return msi_infer_refuse(st);
    }
    in->result_type =
        ms_type_sized(msi_infer_arena(in), MS_TYPE_VARCHAR, in->arg_types[0]->precision, true);
    return MS_OK;
}

/* The part of the text; length < 0 is the caller's to exclude. */
static ms_str substring(ms_str text, int64_t from, int64_t length)
{
    size_t start = 0;
    if (from > 0) {
        start = ms_utf8_offset(text, (uint64_t)from - 1);
    } else if (from < 0) {
        size_t characters = ms_utf8_length(text);
        uint64_t back = 0 - (uint64_t)from;
        if (back > characters) {
            return ms_str_make(text.ptr, 0);
        }
        start = ms_utf8_offset(text, characters - back);
    }
    ms_str rest = ms_str_make(text.ptr + start, text.bytes - start);
    /* A text of so many bytes has at most so many characters. */
    return (uint64_t)length >= rest.bytes
               ? rest
               : ms_str_make(rest.ptr, ms_utf8_offset(rest, (uint64_t)length));
}

static void eval_substring(ms_fn_call *call)
{
    ms_arg text = ms_arg_of(call, 0);
    ms_arg from = ms_arg_of(call, 1);
    bool has_length = call->arg_count == 3;
    ms_arg length = has_length ? ms_arg_of(call, 2) : from;
    ms_view *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        int64_t count = has_length ? *MS_ARG_AT(length, int64_t, row) : INT64_MAX;
        if (count < 0) {
            ms_call_null(call, row);
            continue;
        }
        out[row] = view_of(substring(text_at(text, row), *MS_ARG_AT(from, int64_t, row), count));
    });
}

/* Counts characters one by one from the front. */
static ms_rc scalar_substring(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    (void)st;
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    ms_str text = call->args[0].u.str;
    int64_t from = call->args[1].u.i;
    int64_t length = call->arg_count == 3 ? call->args[2].u.i : INT64_MAX;
    if (length < 0) {
        out->is_null = true;
        return MS_OK;
    }
    int64_t characters = (int64_t)ms_utf8_length(text);
    int64_t first = from > 0             ? from - 1
                    : from == 0          ? 0
                    : from < -characters ? INT64_MAX
                                         : characters + from;
    size_t start = text.bytes;
    size_t end = text.bytes;
    int64_t character = -1;
    for (size_t i = 0; i < text.bytes; i++) {
        character += i == 0 || !ms_utf8_is_continuation(text.ptr[i]);
        if (character >= first && start == text.bytes) {
            start = i;
        }
        if (start < text.bytes && character - first >= length && end == text.bytes) {
            end = i;
        }
    }
    out->u.str = ms_str_make(text.ptr + start, end - start);
    return MS_OK;
}

/* POSITION(needle, text[, from]): 1-based, 0 when absent. */

static ms_rc infer_position(ms_fn_infer *in, ms_status *st)
{
    bool fits = in->arg_count == 2 || in->arg_count == 3;
    bool nullable = false;
    for (uint32_t i = 0; i < in->arg_count && fits; i++) {
        const ms_type *type = in->arg_types[i];
        nullable = nullable || type->nullable;
        fits = i < 2 ? ms_type_is_character(type) : ms_type_is_integer(type);
        if (i == 2) {
            in->wanted[i] = ms_type_simple(msi_infer_arena(in), MS_TYPE_BIGINT, type->nullable);
        }
    }
    if (!fits) {
        return msi_infer_refuse(st);
    }
    in->result_type = ms_type_simple(msi_infer_arena(in), MS_TYPE_INT, nullable);
    return MS_OK;
}

/* The byte offset of needle at or behind from; SIZE_MAX when it is not there. */
static size_t find_text(ms_str text, ms_str needle, size_t from)
{
    if (needle.bytes > text.bytes - from) {
        return SIZE_MAX;
    }
    const char *found = memmem(text.ptr + from, text.bytes - from, needle.ptr, needle.bytes);
    return found != NULL ? (size_t)(found - text.ptr) : SIZE_MAX;
}

/* An empty needle is found at the start, wherever the search begins. */
static int32_t position(ms_str needle, ms_str text, int64_t from)
{
    if (needle.bytes == 0) {
        return 1;
    }
    size_t start = from > 1 ? ms_utf8_offset(text, (uint64_t)from - 1) : 0;
    /* A match inside a character is none: such a needle is only found at the start of the text. */
    if (ms_utf8_is_continuation(needle.ptr[0])) {
        return start == 0 && ms_str_starts_with(text, needle);
    }
    size_t at = find_text(text, needle, start);
    return at == SIZE_MAX ? 0 : (int32_t)ms_utf8_length(ms_str_make(text.ptr, at)) + 1;
}

static void eval_position(ms_fn_call *call)
{
    ms_arg needle = ms_arg_of(call, 0);
    ms_arg text = ms_arg_of(call, 1);
    bool has_from = call->arg_count == 3;
    ms_arg from = has_from ? ms_arg_of(call, 2) : needle;
    int32_t *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        int64_t start = has_from ? *MS_ARG_AT(from, int64_t, row) : 1;
        out[row] = position(text_at(needle, row), text_at(text, row), start);
    });
}

/* Tries every character. */
static ms_rc scalar_position(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    (void)st;
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    ms_str needle = call->args[0].u.str;
    ms_str text = call->args[1].u.str;
    int64_t from = call->arg_count == 3 ? call->args[2].u.i : 1;
    int64_t character = 0;
    out->u.i = needle.bytes == 0;
    for (size_t i = 0; i < text.bytes && out->u.i == 0; i++) {
        bool starts = i == 0 || !ms_utf8_is_continuation(text.ptr[i]);
        character += starts;
        if (starts && character >= from &&
            ms_str_starts_with(ms_str_make(text.ptr + i, text.bytes - i), needle)) {
            out->u.i = character;
        }
    }
    return MS_OK;
}

/* TRIM: the characters of the second argument, one blank when there is none, are cut. */

typedef struct trim_state {
    bool leading;
    bool trailing;
} trim_state;

static ms_rc infer_trim(ms_fn_infer *in, ms_status *st)
{
    if (in->arg_count < 1 || in->arg_count > 2) {
        return msi_infer_refuse(st);
    }
    const ms_type *text = in->arg_types[0];
    const ms_type *set = in->arg_types[in->arg_count - 1];
    bool is_text = ms_type_is_character(text) && ms_type_is_character(set);
    bool is_bytes = in->arg_count == 2 && ms_type_is_binary(text) && ms_type_is_binary(set);
    if (!is_text && !is_bytes) {
        return msi_infer_refuse(st);
    }
    in->result_type =
        ms_type_sized(msi_infer_arena(in), is_text ? MS_TYPE_VARCHAR : MS_TYPE_VARBINARY,
                      text->precision, text->nullable || set->nullable);
    return MS_OK;
}

/* The characters to be cut. A set that is not short is indexed, so that time stays linear. */
typedef struct cut_set {
    ms_str text;
    bool is_indexed;
    bool bytes[256]; /* characters of one byte */
    ms_map others;
} cut_set;

#define CUT_SHORT_BYTES 16u /* looking through so many is as fast as an index */

/* The set lives as long as its text and the arena. */
static void index_set(cut_set *set, ms_str text, ms_arena *arena)
{
    set->text = text;
    set->is_indexed = text.bytes > CUT_SHORT_BYTES;
    if (!set->is_indexed) {
        return;
    }
    memset(set->bytes, 0, sizeof(set->bytes));
    ms_map_init(&set->others, arena);
    for (size_t at = 0; at < text.bytes;) {
        size_t next = ms_utf8_next(text, at);
        if (next - at == 1) {
            set->bytes[(unsigned char)text.ptr[at]] = true;
        } else {
            ms_map_put(&set->others, ms_str_make(text.ptr + at, next - at), NULL);
        }
        at = next;
    }
}

static bool set_has(const cut_set *set, ms_str character)
{
    if (set->is_indexed) {
        return character.bytes == 1 ? set->bytes[(unsigned char)character.ptr[0]]
                                    : ms_map_find(&set->others, character) != NULL;
    }
    for (size_t at = 0; at < set->text.bytes;) {
        size_t next = ms_utf8_next(set->text, at);
        if (ms_str_equals(ms_str_make(set->text.ptr + at, next - at), character)) {
            return true;
        }
        at = next;
    }
    return false;
}

static ms_str trim(ms_str text, const cut_set *set, const trim_state *state)
{
    size_t start = 0;
    size_t end = text.bytes;
    while (state->leading && start < end) {
        size_t next = ms_utf8_next(text, start);
        if (!set_has(set, ms_str_make(text.ptr + start, next - start))) {
            break;
        }
        start = next;
    }
    while (state->trailing && start < end) {
        size_t previous = ms_utf8_previous(text, end);
        if (previous < start || !set_has(set, ms_str_make(text.ptr + previous, end - previous))) {
            break;
        }
        end = previous;
    }
    return ms_str_make(text.ptr + start, end - start);
}

/* Sets of a column live as long as their row. */
static void eval_trim(ms_fn_call *call)
{
    const trim_state *state = call->state;
    ms_arg text = ms_arg_of(call, 0);
    ms_arg sets = ms_arg_of(call, call->arg_count - 1);
    bool has_sets = call->arg_count == 2;
    bool is_const = !has_sets || ms_arg_is_const(sets);
    ms_view *out = call->result->data;
    cut_set set;
    ms_arena *scratch = call->memory->scratch;
    ms_arena_reset(scratch);
    if (is_const) {
        index_set(&set, has_sets ? text_at(sets, 0) : ms_str_lit(" "), scratch);
    }
    MS_CALL_ROWS(call, row, {
        if (!is_const) {
            ms_arena_reset(scratch);
            index_set(&set, text_at(sets, row), scratch);
        }
        out[row] = view_of(trim(text_at(text, row), &set, state));
    });
}

/* Looks through the set each time. */
static ms_rc scalar_trim(const ms_fn_scalar_call *call, const trim_state *state, ms_value *out)
{
    if (!msi_scalar_is_null(call, out)) {
        cut_set set = {.text = call->arg_count == 2 ? call->args[1].u.str : ms_str_lit(" ")};
        out->u.str = trim(call->args[0].u.str, &set, state);
    }
    return MS_OK;
}

#define TRIM(topic, is_leading, is_trailing)                                                       \
    static const trim_state topic##_state = {is_leading, is_trailing};                             \
    static ms_rc specialize_##topic(ms_fn_plan *plan, ms_status *st)                               \
    {                                                                                              \
        (void)st;                                                                                  \
        plan->state = &topic##_state;                                                              \
        plan->can_fail = false;                                                                    \
        return MS_OK;                                                                              \
    }                                                                                              \
    static ms_rc scalar_##topic(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)       \
    {                                                                                              \
        (void)st;                                                                                  \
        return scalar_trim(call, &topic##_state, out);                                             \
    }

TRIM(trim_both, true, true)
TRIM(trim_leading, true, false)
TRIM(trim_trailing, false, true)

static ms_rc specialize_safe(ms_fn_plan *plan, ms_status *st)
{
    (void)st;
    plan->can_fail = false;
    return MS_OK;
}

/* The table. */

static const ms_fn_signature signatures_join[] = {{"character, character", ""},
                                                  {"binary, binary", ""}};
static const ms_fn_signature signatures_concat[] = {{"character...", "STRING"}};
static const ms_fn_signature signatures_length[] = {{"character", "INT"}};
static const ms_fn_signature signatures_case[] = {{"character", "$1"}};
static const ms_fn_signature signatures_substring[] = {{"character, integer, integer?", ""}};
static const ms_fn_signature signatures_position[] = {{"character, character, integer?", ""}};
static const ms_fn_signature signatures_trim[] = {{"character, character?", ""},
                                                  {"binary, binary", ""}};

#define SUBSTRING(fn_name)                                                                         \
    {                                                                                              \
        .desc = &(const ms_fn_desc){MSI_SCALAR(fn_name),                                           \
                                    .flags = MSI_STRICT,                                           \
                                    MSI_SIGNATURES(signatures_substring),                          \
                                    .infer = infer_substring,                                      \
                                    .specialize = specialize_safe,                                 \
                                    .eval = eval_substring},                                       \
        .scalar = scalar_substring                                                                 \
    }
#define LENGTH(fn_name)                                                                            \
    {                                                                                              \
        .desc = &(const ms_fn_desc){MSI_SCALAR(fn_name), .flags = MSI_STRICT,                      \
                                    MSI_SIGNATURES(signatures_length),                             \
                                    .specialize = specialize_safe, .eval = eval_length},           \
        .scalar = scalar_length                                                                    \
    }
#define CASED(fn_name, topic)                                                                      \
    {                                                                                              \
        .desc = &(const ms_fn_desc){MSI_SCALAR(fn_name), .flags = MSI_STRICT,                      \
                                    MSI_SIGNATURES(signatures_case),                               \
                                    .specialize = specialize_##topic, .eval = eval_case},          \
        .scalar = scalar_##topic                                                                   \
    }
#define TRIMMED(fn_name, topic)                                                                    \
    {                                                                                              \
        .desc = &(const ms_fn_desc){MSI_SCALAR(fn_name),                                           \
                                    .flags = MSI_STRICT,                                           \
                                    MSI_SIGNATURES(signatures_trim),                               \
                                    .infer = infer_trim,                                           \
                                    .specialize = specialize_##topic,                              \
                                    .eval = eval_trim},                                            \
        .scalar = scalar_##topic                                                                   \
    }

const ms_fn msi_fns_string[] = {
    {.desc =
         &(const ms_fn_desc){MSI_SCALAR("||"), .flags = MSI_STRICT, MSI_SIGNATURES(signatures_join),
                             .infer = infer_concat_operator, .eval = eval_concat},
     .scalar = scalar_concat},
    {.desc = &(const ms_fn_desc){MSI_SCALAR("CONCAT"), .flags = MSI_STRICT,
                                 MSI_SIGNATURES(signatures_concat), .eval = eval_concat},
     .scalar = scalar_concat},
    LENGTH("CHAR_LENGTH"),
    LENGTH("CHARACTER_LENGTH"),
    CASED("UPPER", upper),
    CASED("LOWER", lower),
    SUBSTRING("SUBSTRING"),
    SUBSTRING("SUBSTR"),
    {.desc = &(const ms_fn_desc){MSI_SCALAR("POSITION"), .flags = MSI_STRICT,
                                 MSI_SIGNATURES(signatures_position), .infer = infer_position,
                                 .specialize = specialize_safe, .eval = eval_position},
     .scalar = scalar_position},
    TRIMMED("TRIM", trim_both),
    TRIMMED("TRIM BOTH", trim_both),
    TRIMMED("TRIM LEADING", trim_leading),
    TRIMMED("TRIM TRAILING", trim_trailing),
    {NULL, MS_FORM_NONE, NULL},
};
