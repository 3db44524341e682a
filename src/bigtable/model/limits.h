/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of the Bigtable service, as its reference states them, and the few that are ours. The
 * service's are checked in one place (the validation functions of this folder), so that a request
 * is refused with the same status and the same text on every transport that checks at all.
 *
 * Limits of Millstream that are not Bigtable's live in base/limits.h.
 */
#ifndef MS_BIGTABLE_MODEL_LIMITS_H
#define MS_BIGTABLE_MODEL_LIMITS_H

#include <stdint.h>

/* Names. */
#define MS_BT_LIMIT_TABLE_ID_BYTES 50u
#define MS_BT_LIMIT_FAMILY_BYTES 64u
#define MS_BT_LIMIT_PROJECT_BYTES 128u /* ours: an upper bound of what projects may be called */
#define MS_BT_LIMIT_INSTANCE_BYTES 64u /* ours: likewise for instances */
#define MS_BT_LIMIT_FAMILIES 1000u     /* ours: of one table; the service advises at most 100 */
#define MS_BT_LIMIT_TABLES 10000u      /* ours: of one store; the service's is per instance */
#define MS_BT_LIMIT_SPLITS 10000u      /* ours: initial splits of one table */

/* Data. */
#define MS_BT_LIMIT_ROW_KEY_BYTES 4096u
#define MS_BT_LIMIT_QUALIFIER_BYTES (16u << 10)
#define MS_BT_LIMIT_VALUE_BYTES (100u << 20)
#define MS_BT_LIMIT_ROW_BYTES (256u << 20) /* a larger row cannot be read in one piece */

/* Requests. */
#define MS_BT_LIMIT_MUTATIONS 100000u         /* of one request, over all its entries */
#define MS_BT_LIMIT_QUEUED_MUTATIONS 1000000u /* ours: of all calls that wait in a store */
#define MS_BT_LIMIT_RULES 100000u             /* of one ReadModifyWriteRow */
#define MS_BT_LIMIT_MIXED_MUTATIONS 4096u /* ours: of an entry that both deletes and aggregates */
#define MS_BT_LIMIT_SKETCHES 4096u /* ours: cells of distinct counts that one entry adds to */
#define MS_BT_LIMIT_TOKEN_BYTES_MIN 8u
#define MS_BT_LIMIT_TOKEN_BYTES 1024u                     /* ours: of an idempotency token */
#define MS_BT_LIMIT_TOKEN_MICROS (INT64_C(900) * 1000000) /* a token is known for 15 minutes */
#define MS_BT_LIMIT_READ_BYTES (512u << 10)               /* of one serialized ReadRows */
#define MS_BT_LIMIT_FILTER_BYTES 20480u
#define MS_BT_LIMIT_FILTER_DEPTH 20u
#define MS_BT_LIMIT_LABEL_BYTES 15u
#define MS_BT_LIMIT_GC_RULE_BYTES 500u
#define MS_BT_LIMIT_GC_RULE_DEPTH 20u        /* ours: 500 bytes cannot nest much deeper */
#define MS_BT_LIMIT_BATCH_BYTES (256u << 20) /* ours: one mutation batch, as the largest request */

#endif
