/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The datagen connector makes rows up, as Flink's does: sequences, and random values of every type.
 *
 *     CREATE TABLE orders (id BIGINT, price DECIMAL(10, 2), city STRING, at TIMESTAMP(3)) WITH (
 *       'connector' = 'datagen', 'number-of-rows' = '1000',
 *       'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '1000',
 *       'fields.price.min' = '1', 'fields.price.max' = '100', 'fields.city.length' = '8')
 *
 *     rows-per-second     10000        of the whole table
 *     number-of-rows      -            makes it bounded, as a sequence does
 *     scan.parallelism    the job's
 *     fields.#.kind       random       random | sequence
 *     fields.#.start end  -            sequence: both, inclusive; the first to end ends the table
 *     fields.#.min max    of the type  random numbers and intervals, inclusive
 *     fields.#.max-past   0            random timestamps: now, or up to so long ago
 *     fields.#.length     100, 3       STRING and BYTES of any length; ARRAY, MAP, MULTISET
 *     fields.#.var-len    false        the same strings: a random length from 1 to length - 1
 *     fields.#.null-rate  0            0 to 1
 *
 * Parts of nested columns have names behind the column's: fields.a.element.min of an ARRAY or
 * MULTISET, fields.m.key.length and fields.m.value.max of a MAP, fields.r.f.min of a ROW.
 *
 * A random value follows from a seed, the column and the number of the row alone (timestamps also
 * from the clock): a restored job goes on with the rows that would have come. The seed is drawn at
 * a fresh start (base/env.h, so MS_SEED repeats it) and is part of every split.
 */
#ifndef MS_CONNECTOR_DATAGEN_DATAGEN_H
#define MS_CONNECTOR_DATAGEN_DATAGEN_H

#include "catalog/connector.h"

extern const ms_connector ms_connector_datagen;

#endif
