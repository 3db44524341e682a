/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How values of one SQL type become the bytes of a cell or of a row key, and back: the layout of
 * the HBase ecosystem (org.apache.hadoop.hbase.util.Bytes), big-endian.
 *
 *     CHAR VARCHAR              the bytes, no padding          BOOLEAN    1: FF or 00
 *     BINARY VARBINARY          as they are                    TINYINT    1
 *     DECIMAL                   4 of scale, then the           SMALLINT   2
 *                               shortest two's complement      INT DATE TIME INTERVAL MONTH  4
 *                               of the unscaled value          BIGINT INTERVAL SECOND  8
 *     FLOAT DOUBLE              4, 8: the raw bits             TIMESTAMP, _LTZ  8: milliseconds
 *
 * A NULL in a nullable column is an empty cell; in a column of text it is the null literal, because
 * there an empty cell is the empty text. A row key has no NULL.
 *
 * Both directions work on a column at a time, by a function that is picked once for the type. To
 * encode, the caller lends scratch memory; the cells point there, into the vector, or into the
 * codec. To decode, values lie in one run of bytes (a page); views of text point into it.
 *
 * Ownership: a codec borrows its type and the null literal. Thread: any, const once made.
 */
#ifndef MS_CONNECTOR_BIGTABLE_CODEC_H
#define MS_CONNECTOR_BIGTABLE_CODEC_H

#include "base/status.h"
#include "type/vec.h"

typedef struct msi_bt_codec_options {
    ms_str null_literal; /* null-string-literal */
    bool rejects_tail;   /* decode.trailing-bytes = reject */
} msi_bt_codec_options;

/* Where the bytes of one value are in a page. */
typedef struct msi_bt_slot {
    uint32_t at;
    uint32_t bytes; /* MSI_BT_ABSENT: there is no such cell */
} msi_bt_slot;

#define MSI_BT_ABSENT UINT32_MAX

/* The bytes count of an encoded value that cannot be: a NULL in a NOT NULL column or a row key. */
#define MSI_BT_UNENCODABLE SIZE_MAX

/* Why bytes are no value of a type. */
typedef enum msi_bt_fault {
    MSI_BT_FAULT_NONE,
    MSI_BT_FAULT_LENGTH,  /* too short, or too long where that matters */
    MSI_BT_FAULT_DECIMAL, /* too short for a DECIMAL */
    MSI_BT_FAULT_RANGE    /* a number that does not fit the type */
} msi_bt_fault;

typedef struct msi_bt_codec msi_bt_codec;

/* Encodes the values at count positions of vec's data into cells_out. scratch has room for
 * codec->scratch_bytes for each of them. */
typedef void (*msi_bt_encode_fn)(const msi_bt_codec *codec, const ms_vec *vec, const uint32_t *pos,
                                 uint32_t count, char *scratch, ms_str *cells_out);

/*
 * Decodes count slots into the first values of a flat vector, NULLs included. Returns how many are
 * good: count, or the index of the first that is not, and why.
 */
typedef uint32_t (*msi_bt_decode_fn)(const msi_bt_codec *codec, const char *base,
                                     const msi_bt_slot *slots, uint32_t count, ms_vec *vec,
                                     msi_bt_fault *fault_out);

/* Read type, width and scratch_bytes; the rest is private. */
struct msi_bt_codec {
    const ms_type *type;
    uint32_t width;         /* bytes of every value; 0: they vary */
    uint32_t scratch_bytes; /* for one encoded value */
    bool has_null;          /* NULL has an encoding */
    bool rejects_tail;
    ms_str null_bytes;
    msi_bt_encode_fn encode;
    msi_bt_decode_fn decode;
};

/* Why the type has no encoding, as the end of a sentence; NULL when it has one. */
const char *msi_bt_codec_refusal(const ms_type *type);

/* The codec of a type that is not refused. is_key: of the row key, which knows no NULL. */
void msi_bt_codec_init(msi_bt_codec *codec, const ms_type *type, bool is_key,
                       const msi_bt_codec_options *options);

/* Says that a value of bytes bytes cannot be read: "it has 3 bytes, but INT takes 4". */
ms_rc msi_bt_codec_report(const msi_bt_codec *codec, msi_bt_fault fault, size_t bytes,
                          ms_status *st, const char *subject);

#endif
