/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a record that rowcodec.c, which works on batches, and rowcodec_value.c, which works
 * on values, both write and read. The format is in rowcodec.h.
 */
#ifndef MS_TYPE_ROWCODEC_PRIV_H
#define MS_TYPE_ROWCODEC_PRIV_H

#include "base/codec.h"
#include "type/rowcodec.h"
#include "type/type_priv.h"

struct ms_rowcodec {
    uint32_t column_count;
    const ms_type **types;
    const uint32_t *columns; /* of the batch; ascending or not, none twice */
};

/* A buffer being written; at most this many bytes are written between two calls of msi_room. */
#define MSI_SCALAR_BYTES 32u

typedef struct msi_record_writer {
    ms_buf *buf;
    ms_status *st;
} msi_record_writer;

/* Makes room for bytes more. */
static inline ms_rc msi_room(const msi_record_writer *w, size_t bytes)
{
    if (__builtin_expect(w->buf->capacity_bytes - w->buf->bytes >= bytes, 1)) {
        return MS_OK;
    }
    return ms_buf_reserve(w->buf, bytes, w->st);
}

/* These write where msi_room made room. */
static inline void msi_put_u8(const msi_record_writer *w, uint8_t value)
{
    w->buf->ptr[w->buf->bytes++] = (char)value;
}

static inline void msi_put_varint(const msi_record_writer *w, uint64_t value)
{
    w->buf->bytes += ms_codec_store_varint(value, w->buf->ptr + w->buf->bytes);
}

static inline void msi_put_signed(const msi_record_writer *w, int64_t value)
{
    msi_put_varint(w, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static inline void msi_put_u32(const msi_record_writer *w, uint32_t value)
{
    ms_codec_store_u32(w->buf->ptr + w->buf->bytes, value);
    w->buf->bytes += sizeof(value);
}

static inline void msi_put_u64(const msi_record_writer *w, uint64_t value)
{
    ms_codec_store_u64(w->buf->ptr + w->buf->bytes, value);
    w->buf->bytes += sizeof(value);
}

void msi_put_i128(const msi_record_writer *w, ms_i128 value);

static inline void msi_put_f32(const msi_record_writer *w, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    msi_put_u32(w, bits);
}

static inline void msi_put_f64(const msi_record_writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    msi_put_u64(w, bits);
}

static inline void msi_put_ts(const msi_record_writer *w, ms_ts16 ts)
{
    msi_put_signed(w, ts.ms);
    msi_put_varint(w, (uint32_t)ts.ns);
}

/* Length and bytes; makes its own room. */
ms_rc msi_put_bytes(const msi_record_writer *w, ms_str bytes);

/* Appends a bitmap of count zeros and says where it starts, as an offset: the buffer may move. */
ms_rc msi_put_bitmap(const msi_record_writer *w, uint32_t count, size_t *start_out);

static inline void msi_mark_null(const msi_record_writer *w, size_t start, uint32_t i)
{
    char *byte = w->buf->ptr + start + i / 8;
    *byte = (char)((unsigned char)*byte | 1u << (i % 8));
}

/* Reading. A reader that failed gives zeros; who reads checks it at the end. */

/* The bitmap of count values. */
static inline ms_str msi_take_bitmap(ms_codec_reader *reader, uint32_t count)
{
    return ms_codec_reader_bytes(reader, ((size_t)count + 7) / 8);
}

static inline bool msi_bitmap_is_null(ms_str bitmap, uint32_t i)
{
    return bitmap.bytes != 0 && ((unsigned char)bitmap.ptr[i / 8] >> (i % 8) & 1u) != 0;
}

/* The number of elements of a list, of which each has a bit at least. */
uint32_t msi_take_count(ms_codec_reader *reader);

/* A value of BOOL to I64; one that is out of the range of its form fails the reader. */
int64_t msi_take_int(ms_codec_reader *reader, ms_phys phys);
ms_i128 msi_take_i128(ms_codec_reader *reader);
float msi_take_f32(ms_codec_reader *reader);
double msi_take_f64(ms_codec_reader *reader);
ms_ts16 msi_take_ts(ms_codec_reader *reader);

#endif
