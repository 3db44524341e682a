/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views and buffers of bytes. Case folding here is ASCII only, which is what keywords, option keys
 * and type names need; case mapping of users' text is func/'s business and goes through ICU.
 */
#include "base/str.h"

#include "base/memory.h"

#include <stdio.h>

/* Magic constant: most buffers hold a line or a key; smaller first steps only add copies. */
#define BUF_FIRST_BYTES ((size_t)64)
/* Texts up to this length are compared by edit distance; names of options and columns fit. */
#define DISTANCE_TEXT_BYTES 64

int ms_str_compare(ms_str a, ms_str b)
{
    size_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0) {
        return order;
    }
    return (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

static unsigned char fold_ascii(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte + ('a' - 'A')) : byte;
}

bool ms_str_equals_nocase(ms_str a, ms_str b)
{
    if (a.bytes != b.bytes) {
        return false;
    }
    for (size_t i = 0; i < a.bytes; i++) {
        if (fold_ascii(a.ptr[i]) != fold_ascii(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

bool ms_str_starts_with(ms_str text, ms_str prefix)
{
    return prefix.bytes <= text.bytes && ms_str_equals(ms_str_slice(text, 0, prefix.bytes), prefix);
}

bool ms_str_ends_with(ms_str text, ms_str suffix)
{
    return suffix.bytes <= text.bytes &&
           ms_str_equals(ms_str_slice(text, text.bytes - suffix.bytes, text.bytes), suffix);
}

size_t ms_str_find_byte(ms_str text, char c, size_t from)
{
    if (from >= text.bytes) {
        return SIZE_MAX;
    }
    const char *found = memchr(text.ptr + from, c, text.bytes - from);
    return found == NULL ? SIZE_MAX : (size_t)(found - text.ptr);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

ms_str ms_str_trim(ms_str text)
{
    size_t start = 0;
    size_t end = text.bytes;
    while (start < end && is_blank(text.ptr[start])) {
        start++;
    }
    while (end > start && is_blank(text.ptr[end - 1])) {
        end--;
    }
    return ms_str_slice(text, start, end);
}

ms_str ms_str_slice(ms_str text, size_t start, size_t end)
{
    if (end > text.bytes) {
        end = text.bytes;
    }
    if (start > end) {
        start = end;
    }
    /* An empty view may have no pointer, and NULL + 0 is undefined in C. */
    return (ms_str){start == 0 ? text.ptr : text.ptr + start, end - start};
}

ms_str ms_str_head(ms_str text, size_t bytes_max)
{
    if (text.bytes <= bytes_max) {
        return text;
    }
    size_t at = bytes_max;
    while (at > 0 && bytes_max - at < 4 && ((unsigned char)text.ptr[at] & 0xC0u) == 0x80u) {
        at--;
    }
    /* Four continuation bytes in a row are not UTF-8 at all: cut where the room ends. */
    return ms_str_slice(text, 0, bytes_max - at < 4 ? at : bytes_max);
}

static uint64_t load_u64(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* How many bytes from at on are ASCII, counted in steps of eight. */
static size_t ascii_run(const unsigned char *at, size_t bytes)
{
    size_t run = 0;
    while (bytes - run >= 8 &&
           (load_u64((const char *)at + run) & UINT64_C(0x8080808080808080)) == 0) {
        run += 8;
    }
    return run;
}

/*
 * The length of the well-formed sequence at the start, or 0. The bounds of the second byte exclude
 * overlong forms (E0, F0), surrogates (ED) and values above U+10FFFF (F4): RFC 3629, section 4.
 */
static size_t utf8_sequence_bytes(const unsigned char *at, size_t bytes)
{
    unsigned char lead = at[0];
    if (lead < 0x80) {
        return 1;
    }
    size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead < 0xC2 || lead > 0xF4 || bytes < length) {
        return 0;
    }
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xC0u) != 0x80u) {
            return 0;
        }
    }
    return length;
}

bool ms_str_is_utf8(ms_str text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    size_t i = 0;
    while (i < text.bytes) {
        i += ascii_run(at + i, text.bytes - i);
        if (i == text.bytes) {
            break;
        }
        size_t length = utf8_sequence_bytes(at + i, text.bytes - i);
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

/* The 128-bit product of two words, folded to 64 bits: the mixing step of multiply-based hashes. */
static uint64_t multiply_fold(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Odd words with about half of their bits set: digits of the golden ratio and of pi. */
#define HASH_SEED UINT64_C(0x9E3779B97F4A7C15)
#define HASH_STEP UINT64_C(0x243F6A8885A308D3)

uint64_t ms_str_hash(ms_str text)
{
    uint64_t hash = HASH_SEED ^ text.bytes;
    const char *at = text.ptr;
    size_t left = text.bytes;
    while (left >= 8) {
        hash = multiply_fold(hash ^ load_u64(at), HASH_STEP);
        at += 8;
        left -= 8;
    }
    if (left != 0) {
        uint64_t tail = 0;
        memcpy(&tail, at, left);
        hash = multiply_fold(hash ^ tail, HASH_STEP);
    }
    return multiply_fold(hash ^ HASH_STEP, HASH_SEED);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* One row of the table of distances at a time: row[j] is the distance of a[0..i) and b[0..j). */
unsigned ms_str_distance(ms_str a, ms_str b, unsigned limit)
{
    if (a.bytes > DISTANCE_TEXT_BYTES || b.bytes > DISTANCE_TEXT_BYTES) {
        return limit + 1;
    }
    unsigned row[DISTANCE_TEXT_BYTES + 1];
    for (size_t j = 0; j <= b.bytes; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a.bytes; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.bytes; j++) {
            unsigned replace = diagonal + (fold_ascii(a.ptr[i - 1]) != fold_ascii(b.ptr[j - 1]));
            diagonal = row[j];
            row[j] = min3(replace, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[b.bytes] <= limit ? row[b.bytes] : limit + 1;
}

void ms_buf_init(ms_buf *buf, size_t max_bytes)
{
    *buf = (ms_buf){.max_bytes = max_bytes};
}

void ms_buf_release(ms_buf *buf)
{
    ms_mem_free(buf->ptr);
    ms_buf_init(buf, buf->max_bytes);
}

ms_rc ms_buf_reserve(ms_buf *buf, size_t bytes, ms_status *st)
{
    if (bytes <= buf->capacity_bytes - buf->bytes) {
        return MS_OK;
    }
    if (bytes > buf->max_bytes - buf->bytes) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "a buffer would exceed %zu bytes",
                             buf->max_bytes);
    }
    size_t needed = buf->bytes + bytes;
    size_t capacity = buf->capacity_bytes < BUF_FIRST_BYTES ? BUF_FIRST_BYTES : buf->capacity_bytes;
    while (capacity < needed) {
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    }
    if (capacity > buf->max_bytes) {
        capacity = buf->max_bytes;
    }
    char *ptr = ms_mem_try_realloc(buf->ptr, capacity);
    if (ptr == NULL) {
        return ms_mem_refuse(capacity, st);
    }
    buf->ptr = ptr;
    buf->capacity_bytes = capacity;
    return MS_OK;
}

ms_rc ms_buf_append(ms_buf *buf, ms_str text, ms_status *st)
{
    if (text.bytes == 0) {
        return MS_OK;
    }
    MS_TRY(ms_buf_reserve(buf, text.bytes, st));
    memcpy(buf->ptr + buf->bytes, text.ptr, text.bytes);
    buf->bytes += text.bytes;
    return MS_OK;
}

ms_rc ms_buf_append_byte(ms_buf *buf, char c, ms_status *st)
{
    MS_TRY(ms_buf_reserve(buf, 1, st));
    buf->ptr[buf->bytes++] = c;
    return MS_OK;
}

/* The text's own NUL needs no room in the buffer: it is written to a probe or cut away. */
ms_rc ms_buf_format(ms_buf *buf, ms_status *st, const char *format, ...)
{
    char probe[128];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(probe, sizeof(probe), format, args);
    va_end(args);
    MS_ASSERT(length >= 0);
    size_t bytes = (size_t)length;
    if (bytes < sizeof(probe)) {
        return ms_buf_append(buf, (ms_str){probe, bytes}, st);
    }
    char *text = ms_mem_try_alloc(bytes + 1);
    if (text == NULL) {
        return ms_mem_refuse(bytes + 1, st);
    }
    va_start(args, format);
    vsnprintf(text, bytes + 1, format, args);
    va_end(args);
    ms_rc rc = ms_buf_append(buf, (ms_str){text, bytes}, st);
    ms_mem_free(text);
    return rc;
}
