/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader is in one of two states: taking the header, or taking the message behind it. The
 * common case, a whole message in one piece, touches neither buffer.
 */
#include "net/grpc_frame_priv.h"

#include "base/memory.h"

void msi_frame_init(msi_frame_reader *reader, size_t message_bytes_max)
{
    *reader = (msi_frame_reader){.message_bytes_max = message_bytes_max};
    ms_buf_init(&reader->partial, message_bytes_max);
}

void msi_frame_release(msi_frame_reader *reader)
{
    ms_buf_release(&reader->partial);
}

void msi_frame_reset(msi_frame_reader *reader)
{
    size_t message_bytes_max = reader->message_bytes_max;
    if (reader->partial.capacity_bytes > MSI_FRAME_KEEP_BYTES) {
        ms_buf_release(&reader->partial);
        ms_buf_init(&reader->partial, message_bytes_max);
    }
    reader->header_bytes = 0;
    reader->partial.bytes = 0;
    reader->is_delivered = false;
}

uint32_t msi_frame_length(const msi_frame_reader *reader)
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

/* Takes what is missing of the header. MSI_FRAME_MESSAGE: it is complete, and acceptable. */
static msi_frame_result take_header(msi_frame_reader *reader, ms_str *bytes)
{
    size_t missing = MSI_FRAME_HEADER_BYTES - reader->header_bytes;
    ms_str part = take(bytes, bytes->bytes < missing ? bytes->bytes : missing);
    if (part.bytes == 0) {
        return MSI_FRAME_MORE;
    }
    memcpy(reader->header + reader->header_bytes, part.ptr, part.bytes);
    reader->header_bytes += (uint32_t)part.bytes;
    if (reader->header[0] > 1) {
        return MSI_FRAME_BAD_FLAG;
    }
    if (reader->header[0] == 1) {
        return MSI_FRAME_COMPRESSED;
    }
    if (reader->header_bytes < MSI_FRAME_HEADER_BYTES) {
        return MSI_FRAME_MORE;
    }
    return msi_frame_length(reader) > reader->message_bytes_max ? MSI_FRAME_TOO_LARGE
                                                                : MSI_FRAME_MESSAGE;
}

msi_frame_result msi_frame_next(msi_frame_reader *reader, ms_str *bytes, ms_str *message_out)
{
    *message_out = (ms_str){0};
    if (reader->is_delivered) {
        msi_frame_reset(reader);
    }
    if (reader->header_bytes < MSI_FRAME_HEADER_BYTES) {
        msi_frame_result result = take_header(reader, bytes);
        if (result != MSI_FRAME_MESSAGE) {
            return result;
        }
    }
    size_t length = msi_frame_length(reader);
    if (reader->partial.bytes == 0 && bytes->bytes >= length) {
        *message_out = take(bytes, length);
        reader->header_bytes = 0;
        return MSI_FRAME_MESSAGE;
    }
    size_t missing = length - reader->partial.bytes;
    ms_str part = take(bytes, bytes->bytes < missing ? bytes->bytes : missing);
    ms_status st = {0};
    if (ms_buf_append(&reader->partial, part, &st) != MS_OK) {
        /* The maximum was checked above; what is left is the machine's memory. */
        ms_mem_exhausted(part.bytes);
    }
    if (reader->partial.bytes < length) {
        return MSI_FRAME_MORE;
    }
    *message_out = ms_buf_view(&reader->partial);
    reader->header_bytes = 0;
    reader->is_delivered = true;
    return MSI_FRAME_MESSAGE;
}
