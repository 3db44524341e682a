/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random messages of any class, made from its description, for tests and fuzz targets. Choices come
 * from a generator or, in fuzzing, from the input; everything lives in one arena. Texts are UTF-8
 * without NUL, numbers are often near the ends of their ranges and near the lengths of varints.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_WIRE_WIRE_RANDOM_H
#define MS_TESTS_UNIT_BIGTABLE_WIRE_WIRE_RANDOM_H

#include "base/env.h"
#include "bigtable/wire/pb.h"

#include <string.h>

typedef struct wire_choices {
    ms_env_random random;
    const uint8_t *bytes; /* NULL: random */
    size_t left;
    ms_arena *arena;
} wire_choices;

/* Below bound; 0 once the input is used up. */
static inline unsigned wire_pick(wire_choices *c, unsigned bound)
{
    if (c->bytes == NULL) {
        return (unsigned)ms_env_random_below(&c->random, bound);
    }
    if (c->left == 0) {
        return 0;
    }
    c->left--;
    return *c->bytes++ % bound;
}

static inline uint64_t wire_pick_number(wire_choices *c)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       126,
                                       127,
                                       128,
                                       129,
                                       1000,
                                       16383,
                                       16384,
                                       2097151,
                                       2097152,
                                       INT32_MAX,
                                       UINT32_MAX,
                                       (uint64_t)-1,
                                       (uint64_t)-2,
                                       INT64_MAX,
                                       1ull << 63,
                                       1ull << 56};
    return numbers[wire_pick(c, sizeof(numbers) / sizeof(numbers[0]))] + wire_pick(c, 3);
}

static inline ms_str wire_pick_bytes(wire_choices *c)
{
    size_t bytes = wire_pick(c, 8);
    if (bytes == 7) {
        bytes = 120 + wire_pick(c, 20);
    }
    char *ptr = ms_arena_alloc(c->arena, bytes + 1, 1);
    for (size_t i = 0; i < bytes; i++) {
        ptr[i] = (char)wire_pick(c, 256);
    }
    return ms_str_make(ptr, bytes);
}

static inline char *wire_pick_text(wire_choices *c)
{
    static const char *const pieces[] = {"a", "b", "cf", "0", "-", "\xc3\xa9", "\xe2\x82\xac", "/"};
    size_t count = wire_pick(c, 6);
    char *text = ms_arena_alloc(c->arena, count * 3 + 1, 1);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[wire_pick(c, 8)];
        memcpy(text + bytes, piece, strlen(piece));
        bytes += strlen(piece);
    }
    text[bytes] = '\0';
    return text;
}

static inline ProtobufCMessage *
wire_pick_message(wire_choices *c, const ProtobufCMessageDescriptor *class, unsigned depth);

/* Fills the place of one value of a field. */
static inline void wire_fill_value(wire_choices *c, const ProtobufCFieldDescriptor *field,
                                   void *place, unsigned depth)
{
    uint64_t number;
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)place = wire_pick_message(c, field->descriptor, depth - 1);
        break;
    case PROTOBUF_C_TYPE_STRING:
        *(char **)place = wire_pick_text(c);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        *(ProtobufCBinaryData *)place = ms_wire_bytes(wire_pick_bytes(c));
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)place = (protobuf_c_boolean)wire_pick(c, 2);
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumDescriptor *values = field->descriptor;
        *(int32_t *)place = values->values[wire_pick(c, values->n_values)].value;
        break;
    }
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        number = wire_pick_number(c);
        memcpy(place, &number, sizeof(int32_t));
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        number = wire_pick_number(c);
        memcpy(place, &number, sizeof(number));
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)place = (double)wire_pick(c, 5) / 4;
        break;
    }
}

/* No message repeats a number of four bytes. */
static inline size_t wire_value_bytes(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData) : sizeof(uint64_t);
}

static inline void wire_fill_repeated(wire_choices *c, const ProtobufCFieldDescriptor *field,
                                      char *message, unsigned depth)
{
    size_t count = wire_pick(c, 4);
    size_t bytes = wire_value_bytes(field);
    char *values = ms_arena_calloc(c->arena, count + 1, bytes, 16);
    for (size_t i = 0; i < count; i++) {
        wire_fill_value(c, field, values + i * bytes, depth);
    }
    *(size_t *)(void *)(message + field->quantifier_offset) = count;
    *(void **)(void *)(message + field->offset) = values;
}

static inline ProtobufCMessage *
wire_pick_message(wire_choices *c, const ProtobufCMessageDescriptor *class, unsigned depth)
{
    char *message = ms_wire_make(c->arena, class);
    for (unsigned i = 0; i < class->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &class->fields[i];
        bool is_leaf = field->type != PROTOBUF_C_TYPE_MESSAGE;
        if ((!is_leaf && depth <= 1) || wire_pick(c, 3) == 0) {
            continue;
        }
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            wire_fill_repeated(c, field, message, depth);
            continue;
        }
        if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
            uint32_t *which = (uint32_t *)(void *)(message + field->quantifier_offset);
            if (*which != 0 || wire_pick(c, 3) != 0) {
                continue;
            }
            *which = field->id;
        }
        wire_fill_value(c, field, message + field->offset, depth);
    }
    return (ProtobufCMessage *)(void *)message;
}

/* All classes, as {descriptor}. */
#define X(name, type, prefix) &prefix##__descriptor,
static const ProtobufCMessageDescriptor *const wire_classes[] = {
#include "bigtable/wire/pb.def"
};
#undef X
#define WIRE_CLASS_COUNT (sizeof(wire_classes) / sizeof(wire_classes[0]))

/* Changes, inserts or drops some bytes of a buffer. */
static inline void wire_spoil(wire_choices *c, ms_buf *buf)
{
    unsigned times = 1 + wire_pick(c, 3);
    for (unsigned i = 0; i < times && buf->bytes > 0; i++) {
        size_t at = wire_pick(c, 256) * buf->bytes / 256;
        switch (wire_pick(c, 3)) {
        case 0:
            buf->ptr[at] = (char)wire_pick(c, 256);
            break;
        case 1:
            buf->ptr[at] = (char)(buf->ptr[at] ^ (1 << wire_pick(c, 8)));
            break;
        default:
            memmove(buf->ptr + at, buf->ptr + at + 1, buf->bytes - at - 1);
            buf->bytes--;
            break;
        }
    }
}

#endif
