/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as bytes, for state, checkpoints and spill. A record holds no types: who reads it has the
 * schema, and files that outlive the process carry the schema's descriptor in front, so that a
 * reader can check what it reads.
 *
 *     ms_rowcodec *codec = ms_rowcodec_make(arena, &schema);
 *     MS_TRY(ms_rowcodec_encode(codec, batch, row, &buf, st));
 *     ...
 *     MS_TRY(ms_rowcodec_decode(codec, bytes, batch, st));          appends a row to a pooled batch
 *
 * A record, version 1: a bitmap of ceil(columns / 8) bytes, bit c set when column c is NULL, then
 * the other columns in order:
 *
 *     BOOL, I8            one byte
 *     I16, I32, I64       zigzag varint
 *     I128                zigzag varint of up to 19 bytes
 *     F32, F64            4 or 8 bytes, little-endian; every bit is kept (but a value, which has a
 *                         FLOAT as a double, makes a signaling NaN a quiet one)
 *     TS16                zigzag varint of ms, varint of ns
 *     STR                 varint length, bytes
 *     LIST                varint count, then the child vectors (one, or two for MAP and MULTISET)
 *     ROW                 as a record of its fields
 *     child vector        bitmap of the count, then the other elements in order
 *
 * The key order of a MAP is kept. Equal rows have equal records when their MAPs have equal order
 * and their floats equal bits.
 *
 * Decoding is safe on any bytes: what is no record of the schema, to the last byte, fails with
 * MS_CORRUPT_DATA, and memory taken is at most a constant factor of the input's length.
 *
 * Ownership: a codec lives in its arena and borrows the schema. Thread: any, read only.
 */
#ifndef MS_TYPE_ROWCODEC_H
#define MS_TYPE_ROWCODEC_H

#include "type/batch.h"
#include "type/value.h"

#define MS_ROWCODEC_VERSION 1u

typedef struct ms_rowcodec ms_rowcodec;

ms_rowcodec *ms_rowcodec_make(ms_arena *arena, const ms_schema *schema);

/* A codec over some columns of a batch: record column i is batch column columns[i]. */
ms_rowcodec *ms_rowcodec_make_subset(ms_arena *arena, const ms_schema *schema,
                                     const uint32_t *columns, uint32_t column_count);

/* Rows of batches. */

/* Appends the record of row `row` (a position, not an index of the selection) to buf. */
ms_rc ms_rowcodec_encode(const ms_rowcodec *codec, const ms_batch *batch, uint32_t row, ms_buf *buf,
                         ms_status *st) MS_MUST_USE;

/*
 * Appends the row of a record to a pooled batch that is unique and not full; strings are copied
 * into its heap. Columns of the batch that the codec does not have become NULL. On failure the
 * batch has as many rows as before.
 */
ms_rc ms_rowcodec_decode(const ms_rowcodec *codec, ms_str record, ms_batch *batch,
                         ms_status *st) MS_MUST_USE;

/* Rows of values: one value a column of the codec. */

ms_rc ms_rowcodec_encode_values(const ms_rowcodec *codec, const ms_value *values, ms_buf *buf,
                                ms_status *st) MS_MUST_USE;

/* Strings are borrowed from the record, nested items come from the arena. */
ms_rc ms_rowcodec_decode_values(const ms_rowcodec *codec, ms_str record, ms_arena *arena,
                                ms_value *values_out, ms_status *st) MS_MUST_USE;

/* Descriptors of schemas. */

/* Appends names, types, parameters and nullability of all columns, with a version in front. */
ms_rc ms_schema_encode(const ms_schema *schema, ms_buf *buf, ms_status *st) MS_MUST_USE;

/* Reads a descriptor; any bytes are safe. */
ms_rc ms_schema_decode(ms_str bytes, ms_arena *arena, ms_schema *schema_out,
                       ms_status *st) MS_MUST_USE;

/* Equal names and types, column by column. */
bool ms_schema_equals(const ms_schema *a, const ms_schema *b);

/*
 * Checks that what was written under `stored` can be read under `current`: same columns, names,
 * types and nullability. Fails with MS_PLAN_MISMATCH naming the first difference.
 */
ms_rc ms_schema_check(const ms_schema *stored, const ms_schema *current, ms_status *st) MS_MUST_USE;

#endif
