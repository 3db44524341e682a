/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the reader of gRPC messages: where the pieces of the input end makes no
 * difference. The first byte seeds the pieces, the second is the maximum of a message.
 */
#include "base/memory.h"
#include "net/grpc_frame.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* What came out: how many messages, all their bytes, and how it ended. */
typedef struct outcome {
    uint64_t digest;
    uint64_t messages;
    ms_grpc_frame_result result;
    bool is_between;
} outcome;

static void add(outcome *out, ms_str message)
{
    out->messages++;
    out->digest = out->digest * 1099511628211u + message.bytes + 1;
    for (size_t i = 0; i < message.bytes; i++) {
        out->digest = (out->digest ^ (unsigned char)message.ptr[i]) * 1099511628211u;
    }
}

/* Reads the input in pieces; step 0: in one. */
static outcome read_all(ms_str input, size_t message_bytes_max, uint32_t step)
{
    ms_grpc_frame_reader reader;
    outcome out = {.result = MS_GRPC_FRAME_MORE};
    uint32_t state = step;
    ms_grpc_frame_init(&reader, message_bytes_max);
    while (input.bytes > 0 && out.result == MS_GRPC_FRAME_MORE) {
        state = state * 1664525u + 1013904223u;
        size_t count = step == 0 ? input.bytes : 1 + (state >> 24) % 7;
        count = count < input.bytes ? count : input.bytes;
        /* A piece of its own memory, so that reading beyond it shows. */
        char *piece = ms_mem_alloc(count);
        memcpy(piece, input.ptr, count);
        ms_str left = {piece, count};
        ms_str message;
        while ((out.result = ms_grpc_frame_next(&reader, &left, &message)) ==
               MS_GRPC_FRAME_MESSAGE) {
            MS_ASSERT(message.bytes <= message_bytes_max);
            add(&out, message);
        }
        MS_ASSERT(out.result != MS_GRPC_FRAME_MORE || left.bytes == 0);
        MS_ASSERT(ms_grpc_frame_held_bytes(&reader) <= message_bytes_max);
        input = ms_str_slice(input, count, input.bytes);
        ms_mem_free(piece);
    }
    out.is_between = ms_grpc_frame_is_between(&reader);
    ms_grpc_frame_release(&reader);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 2) {
        return 0;
    }
    ms_str input = {(const char *)data + 2, bytes - 2};
    outcome whole = read_all(input, data[1], 0);
    outcome pieces = read_all(input, data[1], data[0] + 1u);
    MS_ASSERT(whole.messages == pieces.messages);
    MS_ASSERT(whole.digest == pieces.digest);
    MS_ASSERT(whole.result == pieces.result);
    MS_ASSERT(whole.is_between == pieces.is_between || whole.result != MS_GRPC_FRAME_MORE);
    return 0;
}
