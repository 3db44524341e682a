/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: sizes of protobuf fields, for the limits that the service
 * states in serialized bytes. The messages themselves are encoded in bigtable/wire.
 */
#ifndef MS_BIGTABLE_MODEL_MODEL_PRIV_H
#define MS_BIGTABLE_MODEL_MODEL_PRIV_H

#include <stddef.h>
#include <stdint.h>

/* Seven bits a byte; a negative int32 or int64 takes ten. */
static inline size_t msi_model_varint_bytes(uint64_t value)
{
    size_t bytes = 1;
    while (value >= 0x80) {
        value >>= 7;
        bytes++;
    }
    return bytes;
}

/* The tag of a field: its number above three bits of wire type. */
static inline size_t msi_model_tag_bytes(uint32_t field)
{
    return msi_model_varint_bytes((uint64_t)field << 3);
}

/* A field of bytes, text or message: tag, length, contents. */
static inline size_t msi_model_field_bytes(uint32_t field, size_t bytes)
{
    return msi_model_tag_bytes(field) + msi_model_varint_bytes(bytes) + bytes;
}

/* A field of an integer. */
static inline size_t msi_model_int_field_bytes(uint32_t field, int64_t value)
{
    return msi_model_tag_bytes(field) + msi_model_varint_bytes((uint64_t)value);
}

#endif
