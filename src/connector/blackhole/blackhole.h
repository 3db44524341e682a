/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blackhole connector takes every row of every kind and keeps none. It does read them: each
 * value of each column (of strings their views) goes into a checksum, so that a benchmark that ends
 * here has paid for all that it computed.
 *
 *     CREATE TABLE nothing (...) WITH ('connector' = 'blackhole');
 *
 * Option: sink.parallelism. Thread: as the contracts of catalog/connector.h say.
 */
#ifndef MS_CONNECTOR_BLACKHOLE_BLACKHOLE_H
#define MS_CONNECTOR_BLACKHOLE_BLACKHOLE_H

#include "catalog/connector.h"

extern const ms_connector ms_connector_blackhole;

/* The checksum of what a writer of this connector has consumed; for tests. */
uint64_t ms_blackhole_checksum(const ms_writer *writer);

#endif
