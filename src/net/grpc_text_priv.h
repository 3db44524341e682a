/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small texts of gRPC over HTTP/2: timeouts, percent-encoded messages, base64 of -bin values,
 * and which code stands for what went wrong below gRPC.
 */
#ifndef MS_NET_GRPC_TEXT_PRIV_H
#define MS_NET_GRPC_TEXT_PRIV_H

#include "net/grpc.h"

#define MSI_GRPC_TIMEOUT_BYTES 16

/* "100m" and its like: at most eight digits and a unit (H M S m u n). Saturates at INT64_MAX. False
 * for anything else. */
bool msi_grpc_timeout_parse(ms_str text, int64_t *timeout_ns_out);

/* The shortest text that is not less than the timeout, up to 99999999 hours. Returns its length.
 * What is 0 or less is "1n". */
size_t msi_grpc_timeout_format(int64_t timeout_ns, char text_out[MSI_GRPC_TIMEOUT_BYTES]);

/* Writes at most 3 bytes for one; returns how many. */
size_t msi_grpc_percent_encode(ms_str text, char *out);

/* Writes at most text.bytes; out may be text.ptr. A % that no two hexadecimal digits follow
 * stays. */
size_t msi_grpc_percent_decode(ms_str text, char *out);

#define MSI_BASE64_BYTES(bytes) (((bytes) + 2) / 3 * 4)

/* Without padding. Writes at most MSI_BASE64_BYTES(data.bytes). */
size_t msi_base64_encode(ms_str data, char *out);

/* With or without padding. Writes at most text.bytes; out may be text.ptr. SIZE_MAX when the text
 * is not base64. */
size_t msi_base64_decode(ms_str text, char *out);

/* For answers that are not gRPC's. */
ms_grpc_code msi_grpc_code_of_http(unsigned status);

/* For RST_STREAM and GOAWAY. */
ms_grpc_code msi_grpc_code_of_h2(uint32_t h2_error);
const char *msi_h2_error_name(uint32_t h2_error);

/* What a content-type says. */
typedef enum msi_grpc_type {
    MSI_GRPC_TYPE_NONE,  /* nothing of gRPC */
    MSI_GRPC_TYPE_PROTO, /* "application/grpc", "application/grpc+proto", and parameters */
    MSI_GRPC_TYPE_OTHER  /* gRPC with messages of another encoding: "application/grpc+json" */
} msi_grpc_type;

msi_grpc_type msi_grpc_type_of(ms_str content_type);

/* True for a key that ends in "-bin". */
bool msi_grpc_key_is_bin(ms_str key);

/* True for keys that are the transport's own: ":...", "grpc-...", content-type, te, user-agent and
 * the connection headers of HTTP/1. */
bool msi_grpc_key_is_reserved(ms_str key);

#endif
