/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring between two tasks: one producer, one consumer, items by value.
 *
 *     producer                                consumer
 *     items[tail & mask] = item
 *     tail = tail + 1            (release) -> tail                (acquire)
 *                                             item = items[head & mask], head = head + 1
 *     released_... (seq_cst)               <- released_... + n    (seq_cst)
 *
 * The producer never looks at head: an item is released only after it was popped, and no more items
 * are in flight than the ring has places, so that a place is free when there is credit.
 *
 * Sleeping. A producer without credit sets producer_waits and looks at the counters once more; a
 * consumer moves a counter and then looks at producer_waits. Both are sequentially consistent, so
 * at least one of the two sees what the other wrote: no wake-up is lost.
 */
#include "runtime/runtime_priv.h"

/* Batches that may be in flight whatever their size, so that one is filled while one is read. */
#define BATCHES_ALWAYS 2u

void msi_channel_init(msi_channel *channel, uint32_t data_slots, uint64_t credit_bytes,
                      ms_account *account)
{
    uint32_t places = 1;
    while (places < data_slots + MSI_CONTROL_SLOTS) {
        places *= 2;
    }
    *channel = (msi_channel){.items = ms_mem_calloc(places, sizeof(msi_item)),
                             .mask = places - 1,
                             .data_slots = data_slots,
                             .account = account,
                             .watermark = MS_WATERMARK_NONE};
    atomic_init(&channel->tail, 0);
    atomic_init(&channel->released_batches, 0);
    atomic_init(&channel->released_bytes, 0);
    atomic_init(&channel->released_controls, 0);
    atomic_init(&channel->credit_bytes, credit_bytes);
    atomic_init(&channel->producer_waits, false);
}

void msi_channel_release(msi_channel *channel)
{
    MS_ASSERT(channel->items == NULL || msi_channel_is_empty(channel));
    ms_mem_free(channel->items);
    channel->items = NULL;
}

/* Producer. */

/* Order seq_cst: partner is the consumer's add; see above. */
static uint64_t released(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_seq_cst);
}

static uint64_t batches_in_flight(const msi_channel *channel)
{
    return channel->pushed_batches - released(&channel->released_batches);
}

bool msi_channel_has_credit(const msi_channel *channel)
{
    uint64_t batches = batches_in_flight(channel);
    if (batches >= channel->data_slots) {
        return false;
    }
    /* Order relaxed: an old credit is a credit. */
    return batches < BATCHES_ALWAYS ||
           channel->pushed_bytes - released(&channel->released_bytes) <
               atomic_load_explicit(&channel->credit_bytes, memory_order_relaxed);
}

bool msi_channel_has_control_slot(const msi_channel *channel)
{
    return channel->pushed_controls - released(&channel->released_controls) < MSI_CONTROL_SLOTS;
}

bool msi_channel_is_drained(const msi_channel *channel)
{
    return batches_in_flight(channel) == 0;
}

bool msi_channel_was_used(const msi_channel *channel)
{
    return channel->pushed_batches > 0;
}

static void push_item(msi_channel *channel, const msi_item *item)
{
    /* Order relaxed: only the producer writes tail. */
    uint64_t tail = atomic_load_explicit(&channel->tail, memory_order_relaxed);
    channel->items[tail & channel->mask] = *item;
    channel->items[tail & channel->mask].input = channel->input;
    /* Order release: partner is the load of tail in msi_channel_pop. */
    atomic_store_explicit(&channel->tail, tail + 1, memory_order_release);
    msi_actor_wake(channel->consumer);
}

bool msi_channel_push_batch(msi_channel *channel, ms_batch *batch, ms_status *st)
{
    uint64_t bytes = ms_batch_bytes(batch);
    if (!ms_account_try_reserve(channel->account, bytes)) {
        if (!msi_channel_is_drained(channel)) {
            return false;
        }
        if (ms_account_reserve(channel->account, bytes, st) != MS_OK) {
            return false;
        }
    }
    channel->pushed_batches++;
    channel->pushed_bytes += bytes;
    push_item(channel, &(msi_item){.kind = MSI_ITEM_BATCH, .u.batch = batch, .bytes = bytes});
    return true;
}

void msi_channel_push_control(msi_channel *channel, const msi_item *item)
{
    channel->pushed_controls++;
    push_item(channel, item);
}

bool msi_channel_await_release(msi_channel *channel)
{
    /* Order seq_cst: partner is msi_channel_wake_producer. */
    if (atomic_load_explicit(&channel->producer_waits, memory_order_seq_cst)) {
        return true;
    }
    atomic_store_explicit(&channel->producer_waits, true, memory_order_seq_cst);
    return false;
}

/* Consumer. */

bool msi_channel_is_empty(const msi_channel *channel)
{
    /* Order acquire: partner is the store in push_item. */
    return atomic_load_explicit(&channel->tail, memory_order_acquire) == channel->head;
}

bool msi_channel_pop(msi_channel *channel, msi_item *item_out)
{
    if (msi_channel_is_empty(channel)) {
        return false;
    }
    *item_out = channel->items[channel->head & channel->mask];
    channel->head++;
    if (item_out->kind != MSI_ITEM_BATCH) {
        /* Order seq_cst: partner is released(). */
        atomic_fetch_add_explicit(&channel->released_controls, 1, memory_order_seq_cst);
        msi_channel_wake_producer(channel);
    }
    return true;
}

void msi_channel_drain(msi_channel *channel)
{
    msi_item item;
    while (msi_channel_pop(channel, &item)) {
        if (item.kind == MSI_ITEM_BATCH) {
            ms_batch_drop(item.u.batch);
            msi_channel_release_batch(channel, item.bytes);
        }
    }
}

void msi_channel_release_batch(msi_channel *channel, uint64_t bytes)
{
    ms_account_unreserve(channel->account, bytes);
    /* Order seq_cst: partner is released(). */
    atomic_fetch_add_explicit(&channel->released_bytes, bytes, memory_order_seq_cst);
    atomic_fetch_add_explicit(&channel->released_batches, 1, memory_order_seq_cst);
    msi_channel_wake_producer(channel);
}

void msi_channel_wake_producer(msi_channel *channel)
{
    /* Order seq_cst: partner is msi_channel_await_release. */
    if (atomic_load_explicit(&channel->producer_waits, memory_order_seq_cst) &&
        atomic_exchange_explicit(&channel->producer_waits, false, memory_order_seq_cst)) {
        msi_actor_wake(channel->producer);
    }
}
