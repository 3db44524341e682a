/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header blocks. Names are recognized by length first: a call has about ten fields, and each is
 * compared with one or two names.
 */
#include "net/header_priv.h"

#include "net/buffer_priv.h"
#include "net/grpc_text_priv.h"

#define TEXT_KEEP_BYTES (4u << 10) /* from one call to the next */
#define FIELDS_KEEP 64u

/* A block this many times beyond its maximum is not read to its end. */
#define HOPELESS_FACTOR 8

/* Room that in-place decoding needs is never more than what came; sent blocks are bounded by
 * MSI_HEADER_OUT_BYTES_MAX. So this bound is never met. */
#define TEXT_BYTES_MAX (64u << 20)

void msi_header_init(msi_header *header, size_t counted_max)
{
    *header = (msi_header){.counted_max = counted_max};
    ms_buf_init(&header->text, TEXT_BYTES_MAX);
}

void msi_header_release(msi_header *header)
{
    ms_buf_release(&header->text);
    ms_mem_free(header->fields);
    header->fields = NULL;
    header->field_capacity = 0;
}

void msi_header_reset(msi_header *header)
{
    if (header->text.capacity_bytes > TEXT_KEEP_BYTES || header->field_capacity > FIELDS_KEEP) {
        msi_header_release(header);
        msi_header_init(header, header->counted_max);
        return;
    }
    header->text.bytes = 0;
    header->field_count = 0;
    header->counted_bytes = 0;
    header->is_too_large = false;
    for (int i = 0; i < MSI_HEADER_NAME_COUNT; i++) {
        header->known[i].key_bytes = 0;
    }
}

void msi_header_swap(msi_header *a, msi_header *b)
{
    size_t counted_max = a->counted_max;
    msi_header of_a = *a;
    *a = *b;
    a->counted_max = counted_max;
    counted_max = b->counted_max;
    *b = of_a;
    b->counted_max = counted_max;
}

char *msi_header_reserve(msi_header *header, size_t bytes)
{
    return msi_buffer_room(&header->text, bytes);
}

static uint32_t append(msi_header *header, ms_str text)
{
    uint32_t at = (uint32_t)header->text.bytes;
    msi_buffer_append(&header->text, text);
    return at;
}

static msi_header_field *new_field(msi_header *header)
{
    if (header->field_count == header->field_capacity) {
        header->field_capacity = header->field_capacity == 0 ? 16 : header->field_capacity * 2;
        header->fields =
            ms_mem_realloc(header->fields, header->field_capacity * sizeof(header->fields[0]));
    }
    return &header->fields[header->field_count++];
}

static ms_str text_at(const msi_header *header, uint32_t at, uint32_t bytes)
{
    return (ms_str){header->text.ptr + at, bytes};
}

/* In. */

static bool is_name(ms_str key, const char *name)
{
    return memcmp(key.ptr, name, key.bytes) == 0;
}

/* MSI_HEADER_NAME_COUNT for all others. */
static msi_header_name recognize(ms_str key)
{
    switch (key.bytes) {
    case 2:
        return is_name(key, "te") ? MSI_HEADER_TE : MSI_HEADER_NAME_COUNT;
    case 5:
        return is_name(key, ":path") ? MSI_HEADER_PATH : MSI_HEADER_NAME_COUNT;
    case 7:
        if (is_name(key, ":method")) {
            return MSI_HEADER_METHOD;
        }
        return is_name(key, ":status") ? MSI_HEADER_STATUS : MSI_HEADER_NAME_COUNT;
    case 11:
        return is_name(key, "grpc-status") ? MSI_HEADER_GRPC_STATUS : MSI_HEADER_NAME_COUNT;
    case 12:
        if (is_name(key, "content-type")) {
            return MSI_HEADER_CONTENT_TYPE;
        }
        if (is_name(key, "grpc-timeout")) {
            return MSI_HEADER_GRPC_TIMEOUT;
        }
        return is_name(key, "grpc-message") ? MSI_HEADER_GRPC_MESSAGE : MSI_HEADER_NAME_COUNT;
    case 13:
        if (is_name(key, "grpc-encoding")) {
            return MSI_HEADER_GRPC_ENCODING;
        }
        return is_name(key, "authorization") ? MSI_HEADER_AUTHORIZATION : MSI_HEADER_NAME_COUNT;
    case 23:
        return is_name(key, "grpc-status-details-bin") ? MSI_HEADER_GRPC_DETAILS
                                                       : MSI_HEADER_NAME_COUNT;
    default:
        return MSI_HEADER_NAME_COUNT;
    }
}

bool msi_header_receive(msi_header *header, ms_str key, ms_str value)
{
    header->counted_bytes += key.bytes + value.bytes + MSI_HEADER_FIELD_BYTES;
    if (header->counted_bytes > header->counted_max) {
        header->is_too_large = true;
        return header->counted_bytes <= header->counted_max * HOPELESS_FACTOR;
    }
    msi_header_name name = recognize(key);
    bool is_known = name != MSI_HEADER_NAME_COUNT;
    bool is_metadata = name == MSI_HEADER_AUTHORIZATION ||
                       (!is_known && (!msi_grpc_key_is_reserved(key) ||
                                      ms_str_equals(key, ms_str_lit("user-agent"))));
    if (!is_known && !is_metadata) {
        return true;
    }
    msi_header_field field = {.key_bytes = (uint32_t)key.bytes,
                              .value_bytes = (uint32_t)value.bytes};
    field.key = append(header, key);
    field.value = append(header, value);
    if (is_known && header->known[name].key_bytes == 0) {
        header->known[name] = field;
    }
    if (is_metadata) {
        *new_field(header) = field;
    }
    return true;
}

bool msi_header_has(const msi_header *header, msi_header_name name)
{
    return header->known[name].key_bytes != 0;
}

ms_str msi_header_value(const msi_header *header, msi_header_name name)
{
    const msi_header_field *field = &header->known[name];
    return field->key_bytes == 0 ? (ms_str){0} : text_at(header, field->value, field->value_bytes);
}

static void add_pair(msi_header_pairs *pairs, ms_str key, ms_str value)
{
    if (pairs->count == pairs->capacity) {
        pairs->capacity = pairs->capacity == 0 ? 16 : pairs->capacity * 2;
        pairs->pairs = ms_mem_realloc(pairs->pairs, pairs->capacity * sizeof(pairs->pairs[0]));
    }
    pairs->pairs[pairs->count++] = (ms_grpc_pair){key, value};
}

/* Several values of one key may have been joined with commas, by proxies for instance. */
static bool add_bin_pairs(msi_header *header, const msi_header_field *field,
                          msi_header_pairs *pairs)
{
    ms_str key = text_at(header, field->key, field->key_bytes);
    ms_str left = text_at(header, field->value, field->value_bytes);
    for (;;) {
        size_t comma = ms_str_find_byte(left, ',', 0);
        ms_str part = ms_str_slice(left, 0, comma == SIZE_MAX ? left.bytes : comma);
        char *out = header->text.ptr + (part.ptr - header->text.ptr);
        size_t bytes = msi_base64_decode(part, out);
        if (bytes == SIZE_MAX) {
            return false;
        }
        add_pair(pairs, key, (ms_str){out, bytes});
        if (comma == SIZE_MAX) {
            return true;
        }
        left = ms_str_slice(left, comma + 1, left.bytes);
    }
}

bool msi_header_take_metadata(msi_header *header, bool without_authorization,
                              msi_header_pairs *pairs_out)
{
    pairs_out->count = 0;
    for (uint32_t i = 0; i < header->field_count; i++) {
        const msi_header_field *field = &header->fields[i];
        ms_str key = text_at(header, field->key, field->key_bytes);
        if (without_authorization && ms_str_equals(key, ms_str_lit("authorization"))) {
            continue;
        }
        if (!msi_grpc_key_is_bin(key)) {
            add_pair(pairs_out, key, text_at(header, field->value, field->value_bytes));
        } else if (!add_bin_pairs(header, field, pairs_out)) {
            return false;
        }
    }
    return true;
}

void msi_header_pairs_release(msi_header_pairs *pairs)
{
    ms_mem_free(pairs->pairs);
    *pairs = (msi_header_pairs){0};
}

/* Out. */

void msi_header_add(msi_header *header, ms_str key, ms_str value)
{
    msi_header_field field = {.key_bytes = (uint32_t)key.bytes};
    field.key = append(header, key);
    field.value = (uint32_t)header->text.bytes;
    if (msi_grpc_key_is_bin(key)) {
        char *out = msi_header_reserve(header, MSI_BASE64_BYTES(value.bytes));
        header->text.bytes += msi_base64_encode(value, out);
    } else {
        (void)append(header, value);
    }
    field.value_bytes = (uint32_t)header->text.bytes - field.value;
    *new_field(header) = field;
}

bool msi_header_add_metadata(msi_header *header, ms_grpc_metadata metadata)
{
    size_t bytes = header->text.bytes;
    for (size_t i = 0; i < metadata.count; i++) {
        size_t value_bytes = metadata.pairs[i].value.bytes;
        if (value_bytes > MSI_HEADER_OUT_BYTES_MAX) {
            return false;
        }
        bytes +=
            metadata.pairs[i].key.bytes + MSI_BASE64_BYTES(value_bytes) + MSI_HEADER_FIELD_BYTES;
    }
    if (bytes > MSI_HEADER_OUT_BYTES_MAX || !ms_grpc_metadata_is_valid(metadata)) {
        return false;
    }
    for (size_t i = 0; i < metadata.count; i++) {
        msi_header_add(header, metadata.pairs[i].key, metadata.pairs[i].value);
    }
    return true;
}

void msi_header_add_tail(msi_header *header, ms_str key, size_t value_bytes)
{
    uint32_t value = (uint32_t)(header->text.bytes - value_bytes);
    uint32_t key_at = append(header, key);
    *new_field(header) = (msi_header_field){.key = key_at,
                                            .key_bytes = (uint32_t)key.bytes,
                                            .value = value,
                                            .value_bytes = (uint32_t)value_bytes};
}

static nghttp2_nv make_nv(ms_str key, ms_str value)
{
    /* nghttp2 reads only, but its struct is not const. */
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)key.ptr,
                        .namelen = key.bytes,
                        .value = (uint8_t *)(uintptr_t)value.ptr,
                        .valuelen = value.bytes,
                        .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

size_t msi_header_write(const msi_header *header, nghttp2_nv *out)
{
    for (uint32_t i = 0; i < header->field_count; i++) {
        const msi_header_field *field = &header->fields[i];
        out[i] = make_nv(text_at(header, field->key, field->key_bytes),
                         text_at(header, field->value, field->value_bytes));
    }
    return header->field_count;
}

nghttp2_nv msi_header_constant(const char *key, const char *value)
{
    return make_nv(ms_str_cstr(key), ms_str_cstr(value));
}
