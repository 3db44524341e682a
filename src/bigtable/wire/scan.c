/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan, and the way in and out of protobuf-c. A stack of open messages stands in for recursion;
 * each frame knows where its message ends, what it is, and which of its message fields were seen.
 */
#include "bigtable/wire/scan.h"

#include "bigtable/wire/wire_priv.h"

/* What protobuf-c takes for each field besides its contents: 40 bytes in lists that double, hence
 * up to 80; then a place in the message's own list, 16 for bytes or 32 for a field that it does
 * not know; and what aligning the contents wastes. */
#define FIELD_OVERHEAD 128u

const ms_wire_limits ms_wire_request_limits = {MS_WIRE_MESSAGE_BYTES, MS_WIRE_DEPTH_MAX,
                                               MS_WIRE_FIELDS_MAX, MS_WIRE_OVERHEAD_BYTES,
                                               MS_BT_INVALID_ARGUMENT};
const ms_wire_limits ms_wire_response_limits = {MS_WIRE_MESSAGE_BYTES, MS_WIRE_DEPTH_MAX,
                                                MS_WIRE_FIELDS_MAX, MS_WIRE_OVERHEAD_BYTES,
                                                MS_BT_INTERNAL};

typedef struct scan_frame {
    const ProtobufCMessageDescriptor *class;
    const char *end;
    uint64_t seen; /* of the first 64 fields, those with a message that may be there once */
} scan_frame;

typedef struct scan {
    const ms_wire_limits *limits;
    const char *at;
    size_t overhead;
    uint32_t fields;
    uint32_t depth;  /* open messages */
    const char *why; /* it is refused; NULL: it is not */
    scan_frame frames[MS_WIRE_DEPTH_MAX];
} scan;

static bool refuse(scan *s, const char *why)
{
    s->why = why;
    return false;
}

static bool add_overhead(scan *s, size_t bytes)
{
    s->overhead += bytes;
    return s->overhead <= s->limits->overhead_max || refuse(s, "it would take too much memory");
}

static bool open_message(scan *s, const ProtobufCMessageDescriptor *class, const char *end)
{
    if (s->depth == s->limits->depth_max) {
        return refuse(s, "it is nested too deep");
    }
    s->frames[s->depth++] = (scan_frame){.class = class, .end = end};
    return add_overhead(s, class->sizeof_message + 2 * sizeof(void *));
}

/* The index that stands for a field: of a oneof, that of its first. */
static size_t index_of(const ProtobufCMessageDescriptor *class,
                       const ProtobufCFieldDescriptor *field)
{
    size_t index = (size_t)(field - class->fields);
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0) {
        return index;
    }
    for (size_t i = 0; i < index; i++) {
        const ProtobufCFieldDescriptor *other = &class->fields[i];
        if ((other->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
            other->quantifier_offset == field->quantifier_offset) {
            return i;
        }
    }
    return index;
}

/* Of messages that belong once, or exclude each other, there is one: protobuf-c need not merge. */
static bool note_message(scan *s, const ProtobufCFieldDescriptor *field)
{
    scan_frame *frame = &s->frames[s->depth - 1];
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return true;
    }
    size_t index = index_of(frame->class, field);
    MS_ASSERT(index < 64);
    if ((frame->seen >> index & 1) != 0) {
        return refuse(s, "a field occurs twice");
    }
    frame->seen |= (uint64_t)1 << index;
    return true;
}

/* A message is opened; other contents are passed over. */
static bool scan_contents(scan *s, const ProtobufCFieldDescriptor *field, ms_str bytes)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return note_message(s, field) && open_message(s, field->descriptor, msi_wire_end(bytes));
    case PROTOBUF_C_TYPE_STRING:
        if (!msi_wire_is_text(bytes)) {
            return refuse(s, "a text is not UTF-8, or holds a NUL");
        }
        break;
    case PROTOBUF_C_TYPE_BYTES:
        break;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
        return refuse(s, "a field has the wrong type");
    }
    s->at = msi_wire_end(bytes);
    return true;
}

/* The wire type of a field. */
static unsigned wire_type(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return MSI_WIRE_FIXED32;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return MSI_WIRE_FIXED64;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
        return MSI_WIRE_VARINT;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        break;
    }
    return MSI_WIRE_BYTES;
}

static bool scan_field(scan *s)
{
    static const char cut_short[] = "a field is cut short or has a wrong tag";
    const scan_frame *frame = &s->frames[s->depth - 1];
    uint32_t tag;
    ms_str bytes;
    const char *at = msi_wire_get_tag(s->at, frame->end, &tag);
    if (at == NULL) {
        return refuse(s, cut_short);
    }
    if (++s->fields > s->limits->fields_max) {
        return refuse(s, "it has too many fields");
    }
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(frame->class, tag >> 3);
    if (field != NULL && (tag & 7) != wire_type(field)) {
        return refuse(s, "a field has the wrong type");
    }
    if (field == NULL || (tag & 7) != MSI_WIRE_BYTES) {
        s->at = msi_wire_skip(at, frame->end, tag);
        return s->at == NULL ? refuse(s, cut_short) : add_overhead(s, FIELD_OVERHEAD);
    }
    s->at = msi_wire_get_bytes(at, frame->end, &bytes);
    if (s->at == NULL) {
        return refuse(s, cut_short);
    }
    s->at = bytes.ptr;
    return add_overhead(s, FIELD_OVERHEAD) && scan_contents(s, field, bytes);
}

ms_bt_code ms_wire_check(const ProtobufCMessageDescriptor *class, ms_str bytes,
                         const ms_wire_limits *limits, ms_bt_status *bt)
{
    MS_ASSERT(limits->depth_max > 0 && limits->depth_max <= MS_WIRE_DEPTH_MAX);
    MS_BT_TRY(msi_wire_check_size(bytes, limits, bt));
    scan s = {.limits = limits, .at = bytes.ptr};
    bool ok = bytes.bytes == 0 || open_message(&s, class, msi_wire_end(bytes));
    while (ok && s.depth > 0) {
        if (s.at == s.frames[s.depth - 1].end) {
            s.depth--;
        } else {
            ok = scan_field(&s);
        }
    }
    return ok ? MS_BT_OK : msi_wire_refuse(limits, class->name, s.why, bt);
}

/* protobuf-c. */

static void *arena_alloc(void *arg, size_t bytes)
{
    return ms_arena_alloc(arg, bytes, _Alignof(max_align_t));
}

static void arena_free(void *arg, void *ptr)
{
    (void)arg;
    (void)ptr;
}

void *ms_wire_make(ms_arena *arena, const ProtobufCMessageDescriptor *class)
{
    ProtobufCMessage *message = arena_alloc(arena, class->sizeof_message);
    class->message_init(message);
    return message;
}

void *ms_wire_unpack(const ProtobufCMessageDescriptor *class, ms_str bytes,
                     const ms_wire_limits *limits, ms_arena *arena, ms_bt_status *bt)
{
    if (ms_wire_check(class, bytes, limits, bt) != MS_BT_OK) {
        return NULL;
    }
    ProtobufCAllocator allocator = {arena_alloc, arena_free, arena};
    void *message =
        protobuf_c_message_unpack(class, &allocator, bytes.bytes, (const uint8_t *)bytes.ptr);
    if (message == NULL) {
        (void)msi_wire_refuse(limits, class->name, "it cannot be unpacked", bt);
    }
    return message;
}

ms_rc ms_wire_pack(const ProtobufCMessage *message, ms_buf *buf, ms_status *st)
{
    size_t bytes = protobuf_c_message_get_packed_size(message);
    MS_TRY(ms_buf_reserve(buf, bytes, st));
    if (bytes > 0) {
        buf->bytes += protobuf_c_message_pack(message, (uint8_t *)buf->ptr + buf->bytes);
    }
    return MS_OK;
}

char *ms_wire_text(ms_arena *arena, ms_str text)
{
    char *copy = ms_arena_alloc(arena, text.bytes + 1, 1);
    if (text.bytes > 0) {
        memcpy(copy, text.ptr, text.bytes);
    }
    copy[text.bytes] = '\0';
    return copy;
}

/* For the hand codecs. */

const char *msi_wire_get_long_varint(const char *at, const char *end, unsigned bytes_max,
                                     uint64_t *value_out)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes_max && at != end; i++) {
        uint8_t byte = (uint8_t)*at++;
        value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            *value_out = value;
            return at;
        }
    }
    return NULL;
}

const char *msi_wire_skip(const char *at, const char *end, uint32_t tag)
{
    uint64_t value;
    ms_str bytes;
    switch (tag & 7) {
    case MSI_WIRE_VARINT:
        return msi_wire_get_varint(at, end, &value);
    case MSI_WIRE_FIXED64:
        return end - at < 8 ? NULL : at + 8;
    case MSI_WIRE_FIXED32:
        return end - at < 4 ? NULL : at + 4;
    case MSI_WIRE_BYTES:
        return msi_wire_get_bytes(at, end, &bytes);
    default:
        return NULL;
    }
}

bool msi_wire_is_text(ms_str text)
{
    return text.bytes == 0 || (memchr(text.ptr, 0, text.bytes) == NULL && ms_str_is_utf8(text));
}

ms_bt_code msi_wire_refuse(const ms_wire_limits *limits, const char *name, const char *why,
                           ms_bt_status *bt)
{
    return ms_bt_status_set(bt, limits->code, "message %s is malformed: %s", name, why);
}

ms_bt_code msi_wire_check_size(ms_str bytes, const ms_wire_limits *limits, ms_bt_status *bt)
{
    return bytes.bytes <= limits->bytes_max
               ? MS_BT_OK
               : ms_bt_status_set(bt, MS_BT_RESOURCE_EXHAUSTED,
                                  "message is larger than max (%zu vs. %zu)", bytes.bytes,
                                  limits->bytes_max);
}
