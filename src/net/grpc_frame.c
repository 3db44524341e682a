/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader is in one of two states: taking the header, or taking the message behind it. The
 * common case, a whole message in one piece, touches neither buffer.
 */
#include "net/grpc_frame.h"

#include "net/buffer_priv.h"

void ms_grpc_frame_init(ms_grpc_frame_reader *reader, size_t message_bytes_max)
{
    *reader = (ms_grpc_frame_reader){.message_bytes_max = message_bytes_max};
    ms_buf_init(&reader->partial, message_bytes_max);
}

void ms_grpc_frame_release(ms_grpc_frame_reader *reader)
{
    ms_buf_release(&reader->partial);
}

void ms_grpc_frame_reset(ms_grpc_frame_reader *reader)
{
    size_t message_bytes_max = reader->message_bytes_max;
    if (reader->partial.capacity_bytes > MS_GRPC_FRAME_KEEP_BYTES) {
        ms_buf_release(&reader->partial);
        ms_buf_init(&reader->partial, message_bytes_max);
    }
    reader->header_bytes = 0;
    reader->partial.bytes = 0;
    reader->is_delivered = false;
}

uint32_t ms_grpc_frame_length(const ms_grpc_frame_reader *reader)
{
    return (uint32_t)reader->header[1] << 24 | (uint32_t)reader->header[2] << 16 |
           (uint32_t)reader->header[3] << 8 | (uint32_t)reader->header[4];
}

static ms_str take(ms_str *bytes, size_t count)
{
    ms_str taken = {bytes->ptr, count};
    if (count == 0) {
        return taken; /* the pointer may be NULL */
    }
    bytes->ptr += count;
    bytes->bytes -= count;
    return taken;
}

/* Takes what is missing of the header. MS_GRPC_FRAME_MESSAGE: it is complete, and acceptable. */
static ms_grpc_frame_result take_header(ms_grpc_frame_reader *reader, ms_str *bytes)
{
    size_t missing = MS_GRPC_FRAME_HEADER_BYTES - reader->header_bytes;
    ms_str part = take(bytes, bytes->bytes < missing ? bytes->bytes : missing);
    if (part.bytes == 0) {
        return MS_GRPC_FRAME_MORE;
    }
    memcpy(reader->header + reader->header_bytes, part.ptr, part.bytes);
    reader->header_bytes += (uint32_t)part.bytes;
    if (reader->header[0] > 1) {
        return MS_GRPC_FRAME_BAD_FLAG;
    }
    if (reader->header[0] == 1) {
        return MS_GRPC_FRAME_COMPRESSED;
    }
    if (reader->header_bytes < MS_GRPC_FRAME_HEADER_BYTES) {
        return MS_GRPC_FRAME_MORE;
    }
    return ms_grpc_frame_length(reader) > reader->message_bytes_max ? MS_GRPC_FRAME_TOO_LARGE
                                                                    : MS_GRPC_FRAME_MESSAGE;
}

ms_grpc_frame_result ms_grpc_frame_next(ms_grpc_frame_reader *reader, ms_str *bytes,
                                        ms_str *message_out)
{
    *message_out = (ms_str){0};
    if (reader->is_delivered) {
        ms_grpc_frame_reset(reader);
    }
    if (reader->header_bytes < MS_GRPC_FRAME_HEADER_BYTES) {
        ms_grpc_frame_result result = take_header(reader, bytes);
        if (result != MS_GRPC_FRAME_MESSAGE) {
            return result;
        }
    }
    size_t length = ms_grpc_frame_length(reader);
    if (reader->partial.bytes == 0 && bytes->bytes >= length) {
        *message_out = take(bytes, length);
        reader->header_bytes = 0;
        return MS_GRPC_FRAME_MESSAGE;
    }
    size_t missing = length - reader->partial.bytes;
    ms_str part = take(bytes, bytes->bytes < missing ? bytes->bytes : missing);
    msi_buffer_append(&reader->partial, part);
    if (reader->partial.bytes < length) {
        return MS_GRPC_FRAME_MORE;
    }
    *message_out = ms_buf_view(&reader->partial);
    reader->header_bytes = 0;
    reader->is_delivered = true;
    return MS_GRPC_FRAME_MESSAGE;
}
