/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of the blackhole: the exclusive or of all words of a vector's values. Thread: any.
 */
#ifndef MS_CONNECTOR_BLACKHOLE_CONSUME_H
#define MS_CONNECTOR_BLACKHOLE_CONSUME_H

#include "type/batch.h"

/* Reads every value, validity bit and row kind of the live rows. */
uint64_t msi_blackhole_consume(const ms_batch *batch);

#endif
