/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes messages out of a stream of bytes that comes in pieces of any size:
 *
 *     | flag (0, 1: compressed) | length, 4 bytes, big endian | message |
 *
 *     ms_grpc_frame_reader reader;
 *     ms_grpc_frame_init(&reader, message_bytes_max);
 *     while (ms_grpc_frame_next(&reader, &bytes, &message) == MS_GRPC_FRAME_MESSAGE) {
 *         use(message);
 *     }
 *
 * A message that lies within one piece is a view of the piece; only one that does not is copied
 * together. Memory grows with what has come, not with what a length announces.
 *
 * Ownership: a message is valid until the next call. Thread: one at a time.
 */
#ifndef MS_NET_GRPC_FRAME_H
#define MS_NET_GRPC_FRAME_H

#include "base/str.h"

#define MS_GRPC_FRAME_HEADER_BYTES 5
#define MS_GRPC_FRAME_KEEP_BYTES (16u << 10) /* of memory, from one message to the next */

typedef enum ms_grpc_frame_result {
    MS_GRPC_FRAME_MESSAGE,
    MS_GRPC_FRAME_MORE,       /* all bytes are taken, and no message is complete */
    MS_GRPC_FRAME_TOO_LARGE,  /* ms_grpc_frame_length() is above the maximum */
    MS_GRPC_FRAME_COMPRESSED, /* the flag says so */
    MS_GRPC_FRAME_BAD_FLAG    /* neither 0 nor 1 */
} ms_grpc_frame_result;

typedef struct ms_grpc_frame_reader {
    unsigned char header[MS_GRPC_FRAME_HEADER_BYTES];
    uint32_t header_bytes; /* of the current message, that have come */
    ms_buf partial;        /* the current message, as far as it has come */
    size_t message_bytes_max;
    bool is_delivered; /* partial is the message that was given out last */
} ms_grpc_frame_reader;

void ms_grpc_frame_init(ms_grpc_frame_reader *reader, size_t message_bytes_max);
void ms_grpc_frame_release(ms_grpc_frame_reader *reader);

/* Forgets what came, and memory above MS_GRPC_FRAME_KEEP_BYTES. */
void ms_grpc_frame_reset(ms_grpc_frame_reader *reader);

/* Takes the next message from the front of *bytes, which are shortened by what was taken. After a
 * failure the reader is of no more use until it is reset. */
ms_grpc_frame_result ms_grpc_frame_next(ms_grpc_frame_reader *reader, ms_str *bytes,
                                        ms_str *message_out);

/* True when the bytes ended between two messages. */
static inline bool ms_grpc_frame_is_between(const ms_grpc_frame_reader *reader)
{
    return reader->header_bytes == 0;
}

/* Bytes of a message that is not complete. */
static inline size_t ms_grpc_frame_held_bytes(const ms_grpc_frame_reader *reader)
{
    return reader->is_delivered ? 0 : reader->partial.bytes;
}

/* The length that the header of the current message announces. */
uint32_t ms_grpc_frame_length(const ms_grpc_frame_reader *reader);

/* The header of a message of this length. */
static inline void ms_grpc_frame_write_header(uint32_t bytes, char out[MS_GRPC_FRAME_HEADER_BYTES])
{
    out[0] = 0;
    out[1] = (char)(unsigned char)(bytes >> 24);
    out[2] = (char)(unsigned char)(bytes >> 16);
    out[3] = (char)(unsigned char)(bytes >> 8);
    out[4] = (char)(unsigned char)bytes;
}

#endif
