/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hand-written queries. Strings are passed on as views, as the engine passes them on.
 */
#include "yardstick.h"

#include "base/memory.h"

#define ROOM 65536u
#define DIVISOR 123u

struct yardstick {
    uint32_t rows;    /* in the arrays */
    uint32_t first;   /* of the rows that the last batch gave */
    uint64_t inverse; /* of DIVISOR modulo 2^64 */
    int64_t auction[ROOM];
    int64_t bidder[ROOM];
    int64_t price[ROOM];
    ms_i128 scaled[ROOM];
    int64_t ts[ROOM];
    ms_view extra[ROOM];
};

yardstick *yardstick_create(void)
{
    yardstick *self = ms_mem_calloc(1, sizeof *self);
    memset(self, 1, sizeof *self); /* the pages are there before the clock runs */
    self->rows = 0;
    self->inverse = DIVISOR;
    for (int i = 0; i < 6; i++) {
        self->inverse *= 2 - DIVISOR * self->inverse; /* Newton: each step doubles the bits */
    }
    return self;
}

void yardstick_destroy(yardstick *self)
{
    ms_mem_free(self);
}

static const int64_t *numbers(const ms_batch *batch, uint32_t column)
{
    return MS_VEC_DATA(&batch->columns[column], const int64_t);
}

static void copy_common(yardstick *self, const ms_batch *batch)
{
    size_t bytes = batch->rows * sizeof(int64_t);
    memcpy(self->auction + self->first, numbers(batch, BIDS_AUCTION), bytes);
    memcpy(self->bidder + self->first, numbers(batch, BIDS_BIDDER), bytes);
    memcpy(self->ts + self->first, numbers(batch, BIDS_TS), bytes);
    memcpy(self->extra + self->first, batch->columns[BIDS_EXTRA].data,
           batch->rows * sizeof(ms_view));
    self->rows += batch->rows;
}

static void run_q0(yardstick *self, const ms_batch *batch)
{
    memcpy(self->price + self->first, numbers(batch, BIDS_PRICE), batch->rows * sizeof(int64_t));
    copy_common(self, batch);
}

static void run_q1(yardstick *self, const ms_batch *batch)
{
    const int64_t *price = numbers(batch, BIDS_PRICE);
    ms_i128 *scaled = self->scaled + self->first;
    for (uint32_t i = 0; i < batch->rows; i++) {
        scaled[i] = (ms_i128)price[i] * 908;
    }
    copy_common(self, batch);
}

/* x is divisible by an odd d exactly when x times the inverse of d is at most (2^64 - 1) / d. */
static void run_q2(yardstick *self, const ms_batch *batch)
{
    const int64_t *auction = numbers(batch, BIDS_AUCTION);
    const int64_t *price = numbers(batch, BIDS_PRICE);
    uint64_t inverse = self->inverse;
    uint32_t at = self->first;
    for (uint32_t i = 0; i < batch->rows; i++) {
        self->auction[at] = auction[i];
        self->price[at] = price[i];
        at += (uint64_t)auction[i] * inverse <= UINT64_MAX / DIVISOR;
    }
    self->rows = at;
}

void yardstick_run(yardstick *self, int query, const ms_batch *batch)
{
    static void (*const queries[YARDSTICK_QUERIES])(yardstick *,
                                                    const ms_batch *) = {run_q0, run_q1, run_q2};
    if (self->rows + batch->rows >= ROOM) {
        self->rows = 0;
        __asm__ volatile("" ::"r"(self) : "memory"); /* what was written counts as read */
    }
    self->first = self->rows;
    queries[query](self, batch);
}

void yardstick_digest(const yardstick *self, int query, digest *sum)
{
    for (uint32_t i = self->first; i < self->rows; i++) {
        digest_add(sum, 0, (uint64_t)self->auction[i]);
        if (query == 2) {
            digest_add(sum, 1, (uint64_t)self->price[i]);
            continue;
        }
        uint64_t price = query == 1 ? (uint64_t)self->scaled[i] : (uint64_t)self->price[i];
        digest_add(sum, 1, (uint64_t)self->bidder[i]);
        digest_add(sum, 2, price);
        digest_add(sum, 3, (uint64_t)self->ts[i]);
        ms_str extra = ms_view_str(&self->extra[i]);
        digest_add(sum, 4, digest_bytes(extra.ptr, extra.bytes));
    }
    sum->rows += self->rows - self->first;
}
