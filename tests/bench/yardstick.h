/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queries of bench_nexmark as one would write them by hand for exactly these columns: fused
 * loops over the same batches into plain output arrays that are used again when full, as a sink
 * does that drops its rows. No engine can do much better, so its time is the denominator where the
 * programs of the limit folder are not at hand.
 *
 *     q0   auction, bidder, price, ts, extra
 *     q1   auction, bidder, 0.908 * price (unscaled, 128 bits), ts, extra
 *     q2   auction, price where auction is divisible by 123
 *
 * Thread: main.
 */
#ifndef MS_TESTS_BENCH_YARDSTICK_H
#define MS_TESTS_BENCH_YARDSTICK_H

#include "bids.h"
#include "digest.h"

#define YARDSTICK_QUERIES 3

typedef struct yardstick yardstick;

yardstick *yardstick_create(void);
void yardstick_destroy(yardstick *self);

/* Runs a query over one batch. */
void yardstick_run(yardstick *self, int query, const ms_batch *batch);

/* Adds the rows that the last batch gave. */
void yardstick_digest(const yardstick *self, int query, digest *sum);

#endif
