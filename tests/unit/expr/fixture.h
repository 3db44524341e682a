/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of this folder share: values and types from text, and evaluating one expression
 * over columns of one repeated value.
 */
#ifndef MS_TESTS_UNIT_EXPR_FIXTURE_H
#define MS_TESTS_UNIT_EXPR_FIXTURE_H

#include "testing.h"

#include "expr/build.h"
#include "expr/interp.h"
#include "expr/program.h"
#include "func/cast.h"
#include "func/typing.h"
#include "type/text.h"

#define FIXTURE_ROWS 70u /* more than one word of a bitmap */

typedef struct fixture {
    ms_arena arena;
    ms_status st;
    ms_expr_builder build;
} fixture;

static inline void fixture_open(fixture *f)
{
    *f = (fixture){0};
    ms_arena_init(&f->arena, 0);
    f->build = (ms_expr_builder){.arena = &f->arena, .st = &f->st};
}

static inline void fixture_close(fixture *f)
{
    ms_arena_release(&f->arena);
}

static inline const ms_type *type_of(fixture *f, const char *text)
{
    const ms_type *type = ms_typing_parse(&f->arena, ms_str_cstr(text));
    if (type == NULL) {
        fail_msg("\"%s\" is no type", text);
    }
    return type;
}

static ms_value value_of(fixture *f, const ms_type *type, ms_str text);

/* "[1, NULL]", "{a=1, b=2}", "(1, x)": items are split at commas, entries at =. */
static inline ms_value nested_value(fixture *f, const ms_type *type, ms_str text)
{
    ms_value *items = ms_arena_array(&f->arena, ms_value, text.bytes + 1);
    uint32_t count = 0;
    bool is_map = type->kind == MS_TYPE_MAP;
    ms_str rest = ms_str_slice(text, 1, text.bytes - 1);
    while (rest.bytes > 0) {
        size_t comma = ms_str_find_byte(rest, ',', 0);
        ms_str item = ms_str_trim(ms_str_slice(rest, 0, comma));
        size_t split = is_map ? ms_str_find_byte(item, '=', 0) : item.bytes;
        uint32_t child = type->kind == MS_TYPE_ROW ? count : 0;
        items[count++] = value_of(f, type->children[child], ms_str_slice(item, 0, split));
        if (is_map) {
            items[count++] =
                value_of(f, type->children[1], ms_str_slice(item, split + 1, item.bytes));
        }
        rest = comma == SIZE_MAX ? ms_str_lit("") : ms_str_slice(rest, comma + 1, rest.bytes);
    }
    ms_value value = {.type = type, .item_count = count};
    value.u.items = items;
    return value;
}

/* NULL is NULL; bytes are in hexadecimal; intervals are numbers; the rest is what CAST reads. */
static inline ms_value value_of(fixture *f, const ms_type *type, ms_str text)
{
    ms_status st = {0};
    ms_value out;
    if (ms_str_equals(text, ms_str_lit("NULL"))) {
        return ms_value_null(ms_type_as_nullable(&f->arena, type, true));
    }
    if (ms_type_is_nested(type)) {
        return nested_value(f, type, text);
    }
    if (ms_type_is_binary(type)) {
        char *bytes = ms_arena_alloc(&f->arena, text.bytes / 2 + 1, 1);
        size_t count = 0;
        assert_true(ms_text_hex_decode(text, bytes, &count));
        return ms_value_str(type, ms_str_make(bytes, count));
    }
    if (ms_type_is_interval(type)) {
        int64_t number = 0;
        assert_true(ms_text_parse_i64(text, &number));
        return ms_value_int(type, number);
    }
    ms_value in = ms_value_str(ms_type_string(&f->arena, false), text);
    ms_eval_config config = {.zone = ms_zone_utc()};
    if (ms_type_is_character(type)) {
        in.type = type;
        return in;
    }
    assert_ok(ms_cast_value(&f->arena, &config, &in, type, &out, &st));
    return out;
}

static inline const ms_expr *constant_of(fixture *f, const char *type, const char *text,
                                         ms_span span)
{
    ms_value value = value_of(f, type_of(f, type), ms_str_cstr(text));
    if (!value.is_null) {
        value.type = ms_type_as_nullable(&f->arena, value.type, false);
    }
    return ms_expr_const(&f->arena, &value, span);
}

/* CAST to STRING; bytes as x'..'. */
static inline ms_str text_of(fixture *f, const ms_value *value)
{
    ms_buf buf;
    ms_status st = {0};
    ms_buf_init(&buf, 1 << 20);
    ms_str text = ms_str_lit("?");
    if (ms_text_value(&buf, value, MS_TEXT_DISPLAY, ms_zone_utc(), &st) == MS_OK) {
        text = ms_arena_copy_str(&f->arena, ms_buf_view(&buf));
    }
    ms_buf_release(&buf);
    return text;
}

#endif
