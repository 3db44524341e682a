/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the store. The first four bytes say what a key is about:
 *
 *     00 00 00 00   what, ...                            the catalog and the clock (schema.c)
 *     table         row, family, qualifier, time         a cell; table is below 80 00 00 00
 *     80 00 00 00 + table ...                            kept for the change log
 *
 *     u32 table incarnation, row escaped, u32 family incarnation, qualifier escaped, u64 time
 *
 * Integers are big-endian. Escaping keeps the order of bytes: 00 becomes 00 FF, and 00 01 ends the
 * text, so that a text sorts before all that it is a prefix of. The time is the complement of the
 * microseconds: newest first. Incarnations are never used again, so what was dropped cannot come
 * back.
 *
 *     "r1", family 7, "q", 1000 us of table 3
 *     00 00 00 03  72 31 00 01  00 00 00 07  71 00 01  FF FF FF FF FF FF FC 17
 *
 * Everything of one row begins with its row part (table and escaped row with its end 00 01), and
 * everything behind the row begins at the row part with that end replaced by 00 02; a column works
 * the same way.
 */
#ifndef MS_BIGTABLE_STORE_KEY_H
#define MS_BIGTABLE_STORE_KEY_H

#include "base/str.h"
#include "bigtable/model/limits.h"

#define MSI_KEY_META 0u
#define MSI_KEY_TABLES_END 0x80000000u /* table incarnations are below */

#define MSI_KEY_TABLE_BYTES 4u
#define MSI_KEY_FAMILY_BYTES 4u
#define MSI_KEY_TIME_BYTES 8u
#define MSI_KEY_END_BYTES 2u
#define MSI_KEY_ROW_BYTES_MAX                                                                      \
    (MSI_KEY_TABLE_BYTES + 2u * MS_BT_LIMIT_ROW_KEY_BYTES + MSI_KEY_END_BYTES)
#define MSI_KEY_BYTES_MAX                                                                          \
    (MSI_KEY_ROW_BYTES_MAX + MSI_KEY_FAMILY_BYTES + 2u * MS_BT_LIMIT_QUALIFIER_BYTES +             \
     MSI_KEY_END_BYTES + MSI_KEY_TIME_BYTES)

/* What ends an escaped text, and what sorts just behind everything that the text begins. */
#define MSI_KEY_END 1
#define MSI_KEY_BEHIND 2

/* Writing. Each writes at to, which has the room, and returns the place behind. */

static inline char *msi_key_put_u32(char *to, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(to, &value, sizeof(value));
    return to + sizeof(value);
}

static inline char *msi_key_put_time(char *to, int64_t micros)
{
    uint64_t inverted = __builtin_bswap64(~(uint64_t)micros);
    memcpy(to, &inverted, sizeof(inverted));
    return to + sizeof(inverted);
}

/* The text escaped, without an end. */
static inline char *msi_key_put_escaped(char *to, ms_str text)
{
    const char *from = text.ptr;
    size_t left = text.bytes;
    while (left > 0) {
        const char *zero = memchr(from, 0, left);
        size_t run = zero != NULL ? (size_t)(zero - from) : left;
        memcpy(to, from, run);
        to += run;
        from += run;
        left -= run;
        if (zero != NULL) {
            *to++ = 0;
            *to++ = (char)0xFF;
            from++;
            left--;
        }
    }
    return to;
}

/* The two bytes behind an escaped text: MSI_KEY_END or MSI_KEY_BEHIND. */
static inline char *msi_key_put_end(char *to, int end)
{
    *to++ = 0;
    *to++ = (char)end;
    return to;
}

/* Table and row; end is MSI_KEY_END for the row part, MSI_KEY_BEHIND for what is behind the row. */
static inline char *msi_key_put_row(char *to, uint32_t table, ms_str row, int end)
{
    to = msi_key_put_escaped(msi_key_put_u32(to, table), row);
    return msi_key_put_end(to, end);
}

/* Family and qualifier, behind a row part. */
static inline char *msi_key_put_column(char *to, uint32_t family, ms_str qualifier, int end)
{
    to = msi_key_put_escaped(msi_key_put_u32(to, family), qualifier);
    return msi_key_put_end(to, end);
}

/* Reading. */

static inline uint32_t msi_key_u32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return __builtin_bswap32(value);
}

static inline int64_t msi_key_time(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return (int64_t)~__builtin_bswap64(value);
}

/* The place behind the end of the escaped text that begins at from; 0 when the key is damaged. */
static inline size_t msi_key_text_end(ms_str key, size_t from)
{
    while (from + 1 < key.bytes) {
        const char *zero = memchr(key.ptr + from, 0, key.bytes - from - 1);
        if (zero == NULL) {
            return 0;
        }
        size_t at = (size_t)(zero - key.ptr);
        if (key.ptr[at + 1] == MSI_KEY_END) {
            return at + MSI_KEY_END_BYTES;
        }
        from = at + MSI_KEY_END_BYTES;
    }
    return 0;
}

/* Writes the text of an escaped one (its end not included) and returns its length, which is at most
 * the escaped one. */
static inline size_t msi_key_unescape(char *to, ms_str escaped)
{
    char *start = to;
    const char *from = escaped.ptr;
    size_t left = escaped.bytes;
    while (left > 0) {
        const char *zero = memchr(from, 0, left);
        size_t run = zero != NULL ? (size_t)(zero - from) + 1 : left;
        memcpy(to, from, run);
        to += run;
        /* Behind a zero stands FF, which is dropped. */
        size_t step = zero != NULL && run < left ? run + 1 : run;
        from += step;
        left -= step;
    }
    return (size_t)(to - start);
}

#endif
