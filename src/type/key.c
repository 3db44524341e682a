/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order-preserving keys (the layout is in key.h). Every encoding is free of prefixes: none is the
 * beginning of another of the same type. Therefore values can be appended one after the other, and
 * inverting all bytes of one reverses its order.
 */
#include "type/key.h"

#include "base/codec.h"
#include "base/memory.h"
#include "type/type_priv.h"

#include <math.h>
#include <stdlib.h>

#define MARK_NULL_FIRST 0x00
#define MARK_VALUE 0x01
#define MARK_NULL_LAST 0x02
#define MARK_ELEMENT 0x01 /* one more element of a list follows */
#define MARK_END 0x00     /* no more */

/* In strings: 00 stands as 00 FF, and 00 00 is the end. */
#define ESCAPE 0x00
#define ESCAPED_ZERO 0xFF

#define SIGN64 (UINT64_C(1) << 63)

__extension__ typedef unsigned __int128 u128;

/* Appending. */

/* The usual answer, that there is room, without a call. */
static inline ms_rc make_room(ms_buf *key, size_t bytes, ms_status *st)
{
    if (__builtin_expect(key->capacity_bytes - key->bytes >= bytes, 1)) {
        return MS_OK;
    }
    return ms_buf_reserve(key, bytes, st);
}

static inline ms_rc put_byte(ms_buf *key, unsigned byte, ms_status *st)
{
    MS_TRY(make_room(key, 1, st));
    key->ptr[key->bytes++] = (char)(unsigned char)byte;
    return MS_OK;
}

/* The low `bytes` bytes of a word, big-endian. */
static inline ms_rc put_word(ms_buf *key, uint64_t word, size_t bytes, ms_status *st)
{
    char text[8];
    MS_TRY(make_room(key, bytes, st));
    ms_codec_store_u64(text, __builtin_bswap64(word << (8 * (8 - bytes))));
    memcpy(key->ptr + key->bytes, text, bytes);
    key->bytes += bytes;
    return MS_OK;
}

/* Signed integers of a width: the sign bit flipped, so that negative ones come first. */
static ms_rc put_int(ms_buf *key, int64_t value, size_t bytes, ms_status *st)
{
    return put_word(key, (uint64_t)value ^ (UINT64_C(1) << (8 * bytes - 1)), bytes, st);
}

/* Bits of a float as an integer whose order is that of the numbers. */
static uint64_t order_f64(double value)
{
    uint64_t bits;
    value = isnan(value) ? (double)NAN : value + 0.0;
    memcpy(&bits, &value, sizeof(bits));
    return bits & SIGN64 ? ~bits : bits | SIGN64;
}

static uint32_t order_f32(float value)
{
    uint32_t bits;
    value = isnan(value) ? NAN : value + 0.0f;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static ms_rc put_string(ms_buf *key, ms_str text, ms_status *st)
{
    size_t from = 0;
    while (from < text.bytes) {
        size_t zero = ms_str_find_byte(text, '\0', from);
        size_t end = zero == SIZE_MAX ? text.bytes : zero;
        MS_TRY(ms_buf_append(key, ms_str_slice(text, from, end), st));
        if (zero != SIZE_MAX) {
            MS_TRY(put_byte(key, ESCAPE, st));
            MS_TRY(put_byte(key, ESCAPED_ZERO, st));
        }
        from = end + 1;
    }
    return put_word(key, 0, 2, st);
}

static const ms_key_order nested_order = {0};

static ms_rc put_elements(ms_buf *key, const ms_value *value, ms_status *st)
{
    for (uint32_t i = 0; i < value->item_count; i++) {
        MS_TRY(put_byte(key, MARK_ELEMENT, st));
        MS_TRY(ms_key_append_value(key, &value->u.items[i], nested_order, st));
    }
    return put_byte(key, MARK_END, st);
}

static int compare_entries(const void *a, const void *b)
{
    return ms_str_compare(*(const ms_str *)a, *(const ms_str *)b);
}

/* Encodes the entries of a map into scratch, each as a view in entries. */
static ms_rc encode_entries(ms_buf *scratch, const ms_value *map, ms_str *entries, ms_status *st)
{
    uint32_t count = map->item_count / 2;
    for (uint32_t i = 0; i < count; i++) {
        size_t start = scratch->bytes;
        MS_TRY(ms_key_append_value(scratch, &map->u.items[2 * i], nested_order, st));
        MS_TRY(ms_key_append_value(scratch, &map->u.items[2 * i + 1], nested_order, st));
        entries[i].bytes = scratch->bytes - start;
    }
    /* The buffer has stopped moving. */
    const char *at = scratch->ptr;
    for (uint32_t i = 0; i < count; i++) {
        entries[i].ptr = at;
        at += entries[i].bytes;
    }
    return MS_OK;
}

static ms_rc put_entries(ms_buf *key, const ms_value *map, ms_status *st)
{
    uint32_t count = map->item_count / 2;
    ms_buf scratch;
    ms_buf_init(&scratch, key->max_bytes);
    ms_str *entries = ms_mem_calloc(count, sizeof(*entries));
    ms_rc rc = encode_entries(&scratch, map, entries, st);
    if (rc == MS_OK && count > 0) {
        qsort(entries, count, sizeof(*entries), compare_entries);
    }
    for (uint32_t i = 0; i < count && rc == MS_OK; i++) {
        rc = put_byte(key, MARK_ELEMENT, st);
        if (rc == MS_OK) {
            rc = ms_buf_append(key, entries[i], st);
        }
    }
    ms_mem_free(entries);
    ms_buf_release(&scratch);
    return rc == MS_OK ? put_byte(key, MARK_END, st) : rc;
}

static ms_rc put_value(ms_buf *key, const ms_value *value, ms_status *st)
{
    switch (value->type->phys) {
    case MS_PHYS_NONE:
        return MS_OK;
    case MS_PHYS_BOOL:
        return put_byte(key, value->u.i != 0, st);
    case MS_PHYS_I8:
        return put_int(key, value->u.i, 1, st);
    case MS_PHYS_I16:
        return put_int(key, value->u.i, 2, st);
    case MS_PHYS_I32:
        return put_int(key, value->u.i, 4, st);
    case MS_PHYS_I64:
        return put_int(key, value->u.i, 8, st);
    case MS_PHYS_I128:
        MS_TRY(put_int(key, (int64_t)(value->u.dec >> 64), 8, st));
        return put_word(key, (uint64_t)value->u.dec, 8, st);
    case MS_PHYS_F32:
        return put_word(key, order_f32((float)value->u.f), 4, st);
    case MS_PHYS_F64:
        return put_word(key, order_f64(value->u.f), 8, st);
    case MS_PHYS_TS16:
        MS_TRY(put_int(key, value->u.ts.ms, 8, st));
        return put_word(key, (uint64_t)value->u.ts.ns, 4, st);
    case MS_PHYS_STR:
        return put_string(key, value->u.str, st);
    case MS_PHYS_LIST:
        return value->type->kind == MS_TYPE_ARRAY ? put_elements(key, value, st)
                                                  : put_entries(key, value, st);
    case MS_PHYS_ROW:
        for (uint32_t i = 0; i < value->item_count; i++) {
            MS_TRY(ms_key_append_value(key, &value->u.items[i], nested_order, st));
        }
        return MS_OK;
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

ms_rc ms_key_append_value(ms_buf *key, const ms_value *value, ms_key_order order, ms_status *st)
{
    size_t start = key->bytes;
    if (value->is_null) {
        MS_TRY(put_byte(key, order.nulls_flipped ? MARK_NULL_LAST : MARK_NULL_FIRST, st));
    } else {
        MS_TRY(put_byte(key, MARK_VALUE, st));
        MS_TRY(put_value(key, value, st));
    }
    for (size_t i = start; order.descending && i < key->bytes; i++) {
        key->ptr[i] = (char)~key->ptr[i];
    }
    return MS_OK;
}

ms_rc ms_key_append(ms_buf *key, const ms_vec *vec, uint32_t row, ms_key_order order, ms_status *st)
{
    if (!ms_type_is_nested(vec->type)) {
        ms_value value = ms_value_from_vec(NULL, vec, row);
        return ms_key_append_value(key, &value, order, st);
    }
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_value value = ms_value_from_vec(&scratch, vec, row);
    ms_rc rc = ms_key_append_value(key, &value, order, st);
    ms_arena_release(&scratch);
    return rc;
}

/* Taking apart. */

/* What is left of a key; the mask undoes a descending value's inversion. */
typedef struct key_reader {
    ms_str rest;
    unsigned char mask;
    ms_arena *arena;
} key_reader;

static bool take_word(key_reader *r, size_t bytes, uint64_t *word_out)
{
    if (r->rest.bytes < bytes) {
        return false;
    }
    uint64_t word = 0;
    for (size_t i = 0; i < bytes; i++) {
        word = word << 8 | ((unsigned char)r->rest.ptr[i] ^ r->mask);
    }
    r->rest = ms_str_slice(r->rest, bytes, r->rest.bytes);
    *word_out = word;
    return true;
}

static bool take_int(key_reader *r, size_t bytes, int64_t *value_out)
{
    uint64_t word = 0;
    if (!take_word(r, bytes, &word)) {
        return false;
    }
    unsigned unused = (unsigned)(64 - 8 * bytes);
    /* The sign bit back, and the sign extended to 64 bits. */
    *value_out = (int64_t)((word ^ UINT64_C(1) << (8 * bytes - 1)) << unused) >> unused;
    return true;
}

/* The bytes of an escaped string up to its end mark, as they stand and as they read. */
static bool measure_string(const key_reader *r, size_t *escaped_out, size_t *bytes_out)
{
    size_t bytes = 0;
    for (size_t i = 0; i < r->rest.bytes; i++) {
        unsigned byte = (unsigned char)r->rest.ptr[i] ^ r->mask;
        if (byte == ESCAPE) {
            i++;
            unsigned next = i < r->rest.bytes ? (unsigned char)r->rest.ptr[i] ^ r->mask : 1;
            if (next != ESCAPED_ZERO) {
                *escaped_out = i - 1;
                *bytes_out = bytes;
                return next == 0;
            }
        }
        bytes++;
    }
    return false;
}

static bool take_string(key_reader *r, ms_str *text_out)
{
    size_t escaped = 0;
    size_t bytes = 0;
    if (!measure_string(r, &escaped, &bytes)) {
        return false;
    }
    char *text = ms_arena_alloc(r->arena, bytes, 1);
    size_t count = 0;
    for (size_t i = 0; i < escaped; i++) {
        unsigned byte = (unsigned char)r->rest.ptr[i] ^ r->mask;
        text[count++] = (char)(unsigned char)byte;
        i += byte == ESCAPE; /* the byte behind it says that it is a zero */
    }
    r->rest = ms_str_slice(r->rest, escaped + 2, r->rest.bytes);
    *text_out = ms_str_make(text, bytes);
    return true;
}

static bool take_value(key_reader *r, const ms_type *type, ms_value *value_out);

/* Items of a list that is as long as its marks say: each takes two bytes of the key at least. */
static bool take_list(key_reader *r, const ms_type *type, ms_value *value)
{
    uint32_t width = msi_vec_child_count(type);
    ms_value *items = NULL;
    uint32_t room = 0;
    uint64_t mark = 0;
    for (;;) {
        if (!take_word(r, 1, &mark) || mark > MARK_ELEMENT) {
            return false;
        }
        if (mark == MARK_END) {
            value->u.items = items;
            return true;
        }
        if (value->item_count + width > room) {
            room = room == 0 ? 8 : room * 2;
            ms_value *larger = ms_arena_array(r->arena, ms_value, room);
            if (value->item_count > 0) {
                memcpy(larger, items, value->item_count * sizeof(*items));
            }
            items = larger;
        }
        for (uint32_t i = 0; i < width; i++) {
            if (!take_value(r, msi_vec_child_type(type, i), &items[value->item_count++])) {
                return false;
            }
        }
    }
}

static bool take_fields(key_reader *r, const ms_type *type, ms_value *value)
{
    ms_value *items = ms_arena_array(r->arena, ms_value, type->child_count);
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (!take_value(r, type->children[i], &items[i])) {
            return false;
        }
    }
    value->item_count = type->child_count;
    value->u.items = items;
    return true;
}

static bool take_double(key_reader *r, double *value_out)
{
    uint64_t bits = 0;
    if (!take_word(r, 8, &bits)) {
        return false;
    }
    bits = bits & SIGN64 ? bits ^ SIGN64 : ~bits;
    memcpy(value_out, &bits, sizeof(bits));
    return true;
}

static bool take_float(key_reader *r, double *value_out)
{
    uint64_t word = 0;
    if (!take_word(r, 4, &word)) {
        return false;
    }
    uint32_t bits = (uint32_t)word;
    bits = bits >> 31 ? bits ^ UINT32_C(1) << 31 : ~bits;
    float value;
    memcpy(&value, &bits, sizeof(value));
    *value_out = (double)value;
    return true;
}

static bool take_ts(key_reader *r, ms_ts16 *ts_out)
{
    uint64_t ns = 0;
    if (!take_int(r, 8, &ts_out->ms) || !take_word(r, 4, &ns) || ns > 999999) {
        return false;
    }
    ts_out->ns = (int32_t)ns;
    return true;
}

static bool take_decimal(key_reader *r, ms_i128 *value_out)
{
    int64_t high = 0;
    uint64_t low = 0;
    if (!take_int(r, 8, &high) || !take_word(r, 8, &low)) {
        return false;
    }
    *value_out = (ms_i128)((u128)(ms_i128)high << 64 | low);
    return true;
}

static bool take_content(key_reader *r, const ms_type *type, ms_value *value)
{
    uint64_t byte = 0;
    switch (type->phys) {
    case MS_PHYS_NONE:
        return true;
    case MS_PHYS_BOOL:
        if (!take_word(r, 1, &byte) || byte > 1) {
            return false;
        }
        value->u.i = (int64_t)byte;
        return true;
    case MS_PHYS_I8:
        return take_int(r, 1, &value->u.i);
    case MS_PHYS_I16:
        return take_int(r, 2, &value->u.i);
    case MS_PHYS_I32:
        return take_int(r, 4, &value->u.i);
    case MS_PHYS_I64:
        return take_int(r, 8, &value->u.i);
    case MS_PHYS_I128:
        return take_decimal(r, &value->u.dec);
    case MS_PHYS_F32:
        return take_float(r, &value->u.f);
    case MS_PHYS_F64:
        return take_double(r, &value->u.f);
    case MS_PHYS_TS16:
        return take_ts(r, &value->u.ts);
    case MS_PHYS_STR:
        return take_string(r, &value->u.str);
    case MS_PHYS_LIST:
        return take_list(r, type, value);
    case MS_PHYS_ROW:
        return take_fields(r, type, value);
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static bool take_value(key_reader *r, const ms_type *type, ms_value *value_out)
{
    ms_value value = {.type = type};
    uint64_t mark = 0;
    if (!take_word(r, 1, &mark) || mark > MARK_NULL_LAST) {
        return false;
    }
    value.is_null = mark != MARK_VALUE;
    if (!value.is_null && !take_content(r, type, &value)) {
        return false;
    }
    *value_out = value;
    return true;
}

ms_rc ms_key_decode(ms_str *key, const ms_type *type, ms_key_order order, ms_arena *arena,
                    ms_value *value_out, ms_status *st)
{
    key_reader r = {*key, order.descending ? 0xFF : 0x00, arena};
    if (!take_value(&r, type, value_out)) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "a stored key is malformed");
    }
    *key = r.rest;
    return MS_OK;
}
