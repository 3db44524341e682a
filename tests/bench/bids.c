/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator behind bids.h. Everything is drawn from one SplitMix64 sequence. Persons and
 * auctions are not made, but what they would have drawn is drawn, so that the bids after them are
 * those of the yardstick; how many draws that are never depends on their values, but for lengths of
 * random texts.
 */
#include "bids.h"

#include <math.h>
#include <stdio.h>

#define EVENTS_PER_EPOCH 50u /* one person, three auctions, 46 bids */
#define AUCTIONS_PER_EPOCH 3
#define FIRST_BID 4u
#define HOT_RATIO 100
#define AUCTIONS_IN_FLIGHT 100
#define PERSONS_ACTIVE 1000
#define FIRST_AUCTION_ID 1000
#define FIRST_BIDDER_ID 2000
#define CHANNELS 10000u
#define HOT_CHANNELS 4u
#define FILLER_BYTES (1u << 20)
#define URL_BYTES 96u
#define BID_EXTRA_BYTES 68 /* a bid has 100 bytes, 32 of them in numbers */
#define START_MS (INT64_C(1700000000000) / 86400000 * 86400000)

typedef struct sequence {
    uint64_t state;
} sequence;

typedef struct text_pools {
    char filler[FILLER_BYTES];
    char channels[HOT_CHANNELS + CHANNELS][16];
    char urls[HOT_CHANNELS + CHANNELS][URL_BYTES];
} text_pools;

static uint64_t draw(sequence *random)
{
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint32_t draw_below(sequence *random, uint32_t bound)
{
    return (uint32_t)(((draw(random) >> 32) * bound) >> 32);
}

static double draw_unit(sequence *random)
{
    return (double)(draw(random) >> 11) * 0x1p-53;
}

/* A random text of 3 to bytes_max - 1 bytes: one in 13 is a "_", the others are letters. Four bytes
 * come from one draw. */
static uint32_t draw_text(sequence *random, uint32_t bytes_max, char *out)
{
    uint32_t bytes = 3 + draw_below(random, bytes_max - 3);
    for (uint32_t i = 0; i < bytes; i += 4) {
        uint64_t bits = draw(random);
        for (uint32_t k = 0; k < 4; k++, bits >>= 16) {
            uint32_t value = ((uint32_t)(bits & 0xffff) * 338) >> 16;
            out[i + k] = value < 26 ? '_' : (char)('a' + (value - 26) % 26);
        }
    }
    return bytes;
}

static void skip(sequence *random, uint32_t draws)
{
    random->state += draws * UINT64_C(0x9E3779B97F4A7C15);
}

static void skip_text(sequence *random, uint32_t bytes_max)
{
    skip(random, (3 + draw_below(random, bytes_max - 3) + 3) / 4);
}

/* Names of a person, an address of two texts, a card of four groups, city, state, extra. */
static void skip_person(sequence *random)
{
    skip(random, 2);
    skip_text(random, 7);
    skip_text(random, 5);
    skip(random, 8);
}

/* Seller, category, two prices, end, two texts, extra. */
static void skip_auction(sequence *random)
{
    if (draw_below(random, 4) == 0) {
        skip(random, 1);
    }
    skip(random, 4);
    skip_text(random, 20);
    skip_text(random, 100);
    skip(random, 2);
}

/* Texts that bids choose from. */

static uint32_t reverse_bits(uint32_t value)
{
    uint32_t reversed = 0;
    for (int i = 0; i < 32; i++, value >>= 1) {
        reversed = reversed << 1 | (value & 1);
    }
    return reversed;
}

static uint32_t put_url(sequence *random, char *out)
{
    uint32_t bytes = (uint32_t)snprintf(out, URL_BYTES, "https://www.nexmark.com/");
    for (int i = 0; i < 3; i++) {
        bytes += draw_text(random, 5, out + bytes);
        out[bytes++] = '/';
    }
    return bytes + (uint32_t)snprintf(out + bytes, URL_BYTES - bytes, "item.htm?query=1");
}

static void fill_pools(text_pools *pools)
{
    static const char *const hot[HOT_CHANNELS] = {"Google", "Facebook", "Baidu", "Apple"};
    sequence random = {777};
    for (uint32_t i = 0; i < FILLER_BYTES; i++) {
        pools->filler[i] = (char)('a' + draw_below(&random, 26));
    }
    for (uint32_t i = 0; i < HOT_CHANNELS + CHANNELS; i++) {
        char *url = pools->urls[i];
        uint32_t bytes = put_url(&random, url);
        if (i < HOT_CHANNELS) {
            snprintf(pools->channels[i], sizeof pools->channels[i], "%s", hot[i]);
            continue;
        }
        uint32_t channel = i - HOT_CHANNELS;
        snprintf(pools->channels[i], sizeof pools->channels[i], "channel-%u", channel);
        if (draw_below(&random, 10) > 0) {
            uint32_t id = reverse_bits(channel);
            id = id > INT32_MAX ? 0 - id : id; /* the magnitude of the signed value */
            snprintf(url + bytes, URL_BYTES - bytes, "&channel_id=%u", id);
        }
    }
}

/* One bid into the next row. */
static void put_bid(ms_batch *batch, const text_pools *pools, sequence *random, int64_t epoch,
                    int64_t ts_ms)
{
    uint32_t row = batch->rows++;
    int64_t last_auction = epoch * AUCTIONS_PER_EPOCH + 2;
    int64_t auction = last_auction / HOT_RATIO * HOT_RATIO;
    if (draw_below(random, 2) == 0) {
        int64_t least = last_auction > AUCTIONS_IN_FLIGHT ? last_auction - AUCTIONS_IN_FLIGHT : 0;
        auction = least + draw_below(random, (uint32_t)(last_auction - least + 11));
    }
    int64_t bidder = epoch / HOT_RATIO * HOT_RATIO + 1;
    if (draw_below(random, 4) == 0) {
        int64_t active = epoch + 1 < PERSONS_ACTIVE ? epoch + 1 : PERSONS_ACTIVE;
        bidder = epoch + 1 - active + draw_below(random, (uint32_t)(active + 10));
    }
    MS_VEC_DATA(&batch->columns[BIDS_AUCTION], int64_t)[row] = auction + FIRST_AUCTION_ID;
    MS_VEC_DATA(&batch->columns[BIDS_BIDDER], int64_t)[row] = bidder + FIRST_BIDDER_ID;
    MS_VEC_DATA(&batch->columns[BIDS_TS], int64_t)[row] = ts_ms * 1000;
    double magnitude = exp(draw_unit(random) * (6.0 * 2.302585092994045684));
    MS_VEC_DATA(&batch->columns[BIDS_PRICE], int64_t)[row] = (int64_t)(magnitude * 100.0 + 0.5);
    bool is_hot = draw_below(random, 2) > 0;
    uint32_t channel =
        is_hot ? draw_below(random, HOT_CHANNELS) : HOT_CHANNELS + draw_below(random, CHANNELS);
    int spread = (int)(BID_EXTRA_BYTES * 0.2 + 0.5);
    uint32_t bytes =
        (uint32_t)(BID_EXTRA_BYTES - spread) + draw_below(random, 2u * (unsigned)spread);
    const char *extra = pools->filler + draw_below(random, FILLER_BYTES - bytes);
    MS_VEC_DATA(&batch->columns[BIDS_CHANNEL], ms_view)
    [row] = ms_batch_put_str(batch, ms_str_cstr(pools->channels[channel]));
    MS_VEC_DATA(&batch->columns[BIDS_URL], ms_view)
    [row] = ms_batch_put_str(batch, ms_str_cstr(pools->urls[channel]));
    MS_VEC_DATA(&batch->columns[BIDS_EXTRA], ms_view)
    [row] = ms_batch_put_str(batch, ms_str_make(extra, bytes));
}

static void make_schema(bids *self)
{
    static const char *const names[BIDS_COLUMNS] = {"auction", "bidder", "price", "ts",
                                                    "channel", "url",    "extra"};
    ms_field *fields = ms_arena_array(&self->arena, ms_field, BIDS_COLUMNS);
    for (uint32_t i = 0; i < BIDS_COLUMNS; i++) {
        const ms_type *type = ms_type_simple(&self->arena, MS_TYPE_BIGINT, false);
        if (i == BIDS_TS) {
            type = ms_type_temporal(&self->arena, MS_TYPE_TIMESTAMP, 3, false);
        } else if (i >= BIDS_CHANNEL) {
            type = ms_type_string(&self->arena, false);
        }
        fields[i] = (ms_field){ms_str_cstr(names[i]), type};
    }
    self->schema = (ms_schema){BIDS_COLUMNS, fields};
}

void bids_init(bids *self, uint32_t batch_count, double events_per_s)
{
    *self = (bids){.batch_count = batch_count};
    ms_arena_init(&self->arena, 0);
    make_schema(self);
    self->pool = ms_batch_pool_create(&self->schema, BIDS_EVENTS_PER_BATCH, batch_count);
    self->batches = ms_arena_array(&self->arena, ms_batch *, batch_count);
    text_pools *pools = ms_arena_new(&self->arena, text_pools);
    fill_pools(pools);
    sequence random = {12345};
    uint64_t event = 0;
    for (uint32_t b = 0; b < batch_count; b++) {
        ms_batch *batch = ms_batch_pool_take(self->pool);
        for (uint32_t i = 0; i < BIDS_EVENTS_PER_BATCH; i++, event++) {
            uint32_t place = (uint32_t)(event % EVENTS_PER_EPOCH);
            if (place == 0) {
                skip_person(&random);
            } else if (place < FIRST_BID) {
                skip_auction(&random);
            } else {
                int64_t at_ms = (int64_t)((double)event * (1e6 / events_per_s)) / 1000;
                put_bid(batch, pools, &random, (int64_t)(event / EVENTS_PER_EPOCH),
                        START_MS + at_ms);
            }
        }
        self->batches[b] = batch;
        self->rows += batch->rows;
    }
}

void bids_release(bids *self)
{
    for (uint32_t i = 0; i < self->batch_count; i++) {
        ms_batch_drop(self->batches[i]);
    }
    ms_batch_pool_destroy(self->pool);
    ms_arena_release(&self->arena);
}
