/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate that every message passes before protobuf-c takes it apart, because that library trusts
 * its input: it recurses as deep as the bytes say, allocates as much as they say, and merges a
 * message that is sent twice at quadratic cost. The scan reads the bytes once, without recursion or
 * allocation, along the message's description, and refuses what is malformed, too large, too deep,
 * too many or would take too much memory, text that is not UTF-8 or holds a NUL (strings of
 * protobuf-c end there), groups, and a message field that occurs twice where one belongs.
 *
 *     if (ms_wire_check(class, bytes, &ms_wire_request_limits, bt) != MS_BT_OK) { ... }
 *
 * ms_wire_unpack does that first. What it returns lives in the arena and borrows nothing from the
 * bytes. Thread: any; an arena is one thread's.
 */
#ifndef MS_BIGTABLE_WIRE_SCAN_H
#define MS_BIGTABLE_WIRE_SCAN_H

#include "base/str.h"
#include "bigtable/model/status.h"

#include <protobuf-c/protobuf-c.h>

#define MS_WIRE_DEPTH_MAX 64u              /* messages in messages; the most of any limits */
#define MS_WIRE_MESSAGE_BYTES (256u << 20) /* what the service and its emulators take at most */
#define MS_WIRE_FIELDS_MAX (2u << 20)
#define MS_WIRE_OVERHEAD_BYTES (256u << 20) /* memory of the unpacked form besides its contents */

typedef struct ms_wire_limits {
    size_t bytes_max; /* RESOURCE_EXHAUSTED above; the other violations are code */
    uint32_t depth_max;
    uint32_t fields_max;
    size_t overhead_max;
    ms_bt_code code;
} ms_wire_limits;

/* What a server, resp. a client, takes: violations are INVALID_ARGUMENT, resp. INTERNAL. */
extern const ms_wire_limits ms_wire_request_limits;
extern const ms_wire_limits ms_wire_response_limits;

/* Whether protobuf-c may unpack these bytes as that message. */
ms_bt_code ms_wire_check(const ProtobufCMessageDescriptor *class, ms_str bytes,
                         const ms_wire_limits *limits, ms_bt_status *bt);

/* An empty message. */
void *ms_wire_make(ms_arena *arena, const ProtobufCMessageDescriptor *class);

/* Checks and unpacks; NULL when the bytes are refused. */
void *ms_wire_unpack(const ProtobufCMessageDescriptor *class, ms_str bytes,
                     const ms_wire_limits *limits, ms_arena *arena, ms_bt_status *bt);

/* Appends the bytes of a message: MS_LIMIT or MS_NO_MEMORY from the buffer. */
ms_rc ms_wire_pack(const ProtobufCMessage *message, ms_buf *buf, ms_status *st) MS_MUST_USE;

/* Texts and bytes of messages. */

static inline ms_str ms_wire_bytes_view(ProtobufCBinaryData bytes)
{
    return (ms_str){(const char *)bytes.data, bytes.len};
}

static inline ms_str ms_wire_text_view(const char *text)
{
    return text == NULL ? (ms_str){NULL, 0} : ms_str_cstr(text);
}

/* Borrowed; protobuf-c has no const here, but packing writes nothing. */
static inline ProtobufCBinaryData ms_wire_bytes(ms_str bytes)
{
    return (ProtobufCBinaryData){bytes.bytes, (uint8_t *)(uintptr_t)bytes.ptr};
}

/* A copy that ends in NUL. */
char *ms_wire_text(ms_arena *arena, ms_str text);

#endif
