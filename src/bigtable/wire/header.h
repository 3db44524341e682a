/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that travel in headers and trailers: what a client can do (bigtable-features) and where
 * a call was served (x-goog-ext-425905942-bin).
 *
 * Thread: any.
 */
#ifndef MS_BIGTABLE_WIRE_HEADER_H
#define MS_BIGTABLE_WIRE_HEADER_H

#include "base/str.h"

/* Features as bits: 1 << number of the field. */
#define MS_WIRE_FEATURE_REVERSE_SCANS (1u << 1)
#define MS_WIRE_FEATURE_RATE_LIMIT (1u << 3)
#define MS_WIRE_FEATURE_LAST_SCANNED (1u << 4)
#define MS_WIRE_FEATURE_RATE_LIMIT_2 (1u << 5)
#define MS_WIRE_FEATURE_ROUTING_COOKIE (1u << 6)
#define MS_WIRE_FEATURE_RETRY_INFO (1u << 7)
#define MS_WIRE_FEATURE_CLIENT_METRICS (1u << 8)
#define MS_WIRE_FEATURE_TRAFFIC_DIRECTOR (1u << 9)
#define MS_WIRE_FEATURE_DIRECT_ACCESS (1u << 10)
#define MS_WIRE_FEATURE_PEER_INFO (1u << 11)
#define MS_WIRE_FEATURE_SESSIONS (1u << 12)
#define MS_WIRE_FEATURE_SESSIONS_REQUIRED (1u << 13)
#define MS_WIRE_FEATURE_MICROSECONDS (1u << 14)
#define MS_WIRE_FEATURES_ALL 0x7ffau

#define MS_WIRE_FEATURES_TEXT_BYTES 48 /* of the header's value, for any set of features */

/* Writes the value of the header, in base64 for URLs with padding, and returns its length. */
size_t ms_wire_features_encode(uint32_t features, char text_out[MS_WIRE_FEATURES_TEXT_BYTES]);

/* Takes both alphabets, with and without padding; features that are unknown are passed over.
 * False, and no features, for what is malformed. */
bool ms_wire_features_decode(ms_str text, uint32_t *features_out);

/* Where a call was served; empty and 0 for what is not said. */
typedef struct ms_wire_response_params {
    ms_str zone;
    ms_str cluster;
    int64_t afe_id;
} ms_wire_response_params;

/* The bytes of the trailer, before base64. */
ms_rc ms_wire_response_params_encode(const ms_wire_response_params *params, ms_buf *buf,
                                     ms_status *st) MS_MUST_USE;

#endif
