/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bids of the Nexmark event stream as typed batches: the same bids, in the same batches, that
 * the yardstick programs of the limit folder make from their seed, so that digests can be compared.
 * Of 50 events one is a person, three are auctions and 46 are bids; only the bids are kept, and
 * costs are counted per event all the same.
 *
 *     column     type           position
 *     auction    BIGINT         BIDS_AUCTION
 *     bidder     BIGINT         BIDS_BIDDER
 *     price      BIGINT         BIDS_PRICE
 *     ts         TIMESTAMP(3)   BIDS_TS
 *     channel    STRING         BIDS_CHANNEL
 *     url        STRING         BIDS_URL
 *     extra      STRING         BIDS_EXTRA
 *
 * No column is nullable. Ownership: bids own batches and schema. Thread: main.
 */
#ifndef MS_TESTS_BENCH_BIDS_H
#define MS_TESTS_BENCH_BIDS_H

#include "type/batch.h"

#define BIDS_EVENTS_PER_BATCH 2048u

enum { BIDS_AUCTION, BIDS_BIDDER, BIDS_PRICE, BIDS_TS, BIDS_CHANNEL, BIDS_URL, BIDS_EXTRA };
enum { BIDS_COLUMNS = BIDS_EXTRA + 1 };

typedef struct bids {
    ms_arena arena;
    ms_schema schema;
    ms_batch_pool *pool;
    ms_batch **batches;
    uint32_t batch_count;
    uint64_t rows;
} bids;

/* Makes the bids of the first batch_count * BIDS_EVENTS_PER_BATCH events, events_per_s of them in a
 * second of their own time. */
void bids_init(bids *self, uint32_t batch_count, double events_per_s);
void bids_release(bids *self);

#endif
