/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One header block of HTTP/2, on its way in or out. In: the fields as they come, copied one behind
 * the other, with those that gRPC gives a meaning taken apart. Out: the texts of fields, which
 * nghttp2 borrows until the block was sent.
 *
 * Offsets, not pointers, are kept while a block grows. A block that is used again for the next call
 * keeps its memory, up to a bound.
 */
#ifndef MS_NET_HEADER_PRIV_H
#define MS_NET_HEADER_PRIV_H

#include "net/grpc.h"

#include <nghttp2/nghttp2.h>

/* What a field counts beyond its bytes, by HTTP/2. */
#define MSI_HEADER_FIELD_BYTES 32

/* Blocks that we send: nghttp2 refuses 64 KiB, as do others. */
#define MSI_HEADER_OUT_BYTES_MAX (48u << 10)

typedef struct msi_header_field {
    uint32_t key;
    uint32_t key_bytes;
    uint32_t value;
    uint32_t value_bytes;
} msi_header_field;

/* Fields that are not metadata. */
typedef enum msi_header_name {
    MSI_HEADER_METHOD,
    MSI_HEADER_PATH,
    MSI_HEADER_STATUS,
    MSI_HEADER_CONTENT_TYPE,
    MSI_HEADER_TE,
    MSI_HEADER_GRPC_TIMEOUT,
    MSI_HEADER_GRPC_ENCODING,
    MSI_HEADER_GRPC_STATUS,
    MSI_HEADER_GRPC_MESSAGE,
    MSI_HEADER_GRPC_DETAILS,
    MSI_HEADER_AUTHORIZATION, /* metadata, too */
    MSI_HEADER_NAME_COUNT
} msi_header_name;

typedef struct msi_header {
    ms_buf text;
    msi_header_field *fields; /* metadata */
    uint32_t field_count;
    uint32_t field_capacity;
    msi_header_field known[MSI_HEADER_NAME_COUNT]; /* the first of each; key_bytes 0: none came */
    size_t counted_bytes;                          /* as HTTP/2 counts */
    size_t counted_max;
    bool is_too_large;
} msi_header;

void msi_header_init(msi_header *header, size_t counted_max);
void msi_header_release(msi_header *header);

/* Empties the block for the next one. */
void msi_header_reset(msi_header *header);

/* Exchanges what two blocks have, with their memory; each keeps its maximum. */
void msi_header_swap(msi_header *a, msi_header *b);

/* In. */

/* Adds a field that came. False: the block is so far beyond the maximum that it is not worth to go
 * on; one that is merely too large is counted, but not kept. */
bool msi_header_receive(msi_header *header, ms_str key, ms_str value);

bool msi_header_has(const msi_header *header, msi_header_name name);

/* The value of a field; empty when there is none. */
ms_str msi_header_value(const msi_header *header, msi_header_name name);

/*
 * The fields that are metadata, with -bin values decoded in place (so once for a block). The pairs
 * are in *pairs_out, an array that belongs to the caller and grows. False: a -bin value is not
 * base64.
 */
typedef struct msi_header_pairs {
    ms_grpc_pair *pairs;
    size_t count;
    size_t capacity;
} msi_header_pairs;

bool msi_header_take_metadata(msi_header *header, bool without_authorization,
                              msi_header_pairs *pairs_out);
void msi_header_pairs_release(msi_header_pairs *pairs);

/* Out. */

/* Adds a field to be sent; a -bin value is encoded. */
void msi_header_add(msi_header *header, ms_str key, ms_str value);

/* Adds the fields of a list; false when one cannot be sent, or the block would be too large. */
bool msi_header_add_metadata(msi_header *header, ms_grpc_metadata metadata);

/* Room for bytes of text at the end, which the caller then counts with text.bytes. */
char *msi_header_reserve(msi_header *header, size_t bytes);

/* Adds a field whose value is the last value_bytes of text. */
void msi_header_add_tail(msi_header *header, ms_str key, size_t value_bytes);

/* Appends the fields to nghttp2's array, which has room. Valid while the block is. Returns how
 * many. */
size_t msi_header_write(const msi_header *header, nghttp2_nv *out);

/* One field of constant texts, which live as long as the session. */
nghttp2_nv msi_header_constant(const char *key, const char *value);

#endif
