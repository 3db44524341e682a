/* SPDX-License-Identifier: Apache-2.0 */
/* tidy: no-unit-test: driver_test moves rows through every kind of tail */
/*
 * The tail of a task: takes what an operator emits and moves it into the channels to another stage.
 * It works like an operator with an inbox of its own, a cursor, and no output; while it has not
 * finished an item, the driver calls nothing upstream. So an operator never meets a full ring.
 *
 *     FORWARD    to the channel of the same subtask
 *     GATHER     to the one channel of subtask 0
 *     REBALANCE  whole batches, to the next channel that has credit
 *     HASH       row by row, to the channel of the key group's owner
 *
 * A batch that was made in this task, has no narrowing selection and is not small is passed by
 * reference. Everything else is copied into batches of the tail's own pool, so that small batches
 * are put together; those that are not full leave before a control item and when the task has
 * nothing else to do. A batch that came through a channel is copied too, even when it is whole: its
 * producer learns of its return by the channel it sent it through and by no other.
 *
 * No batch in the pool: the tail sends off what it has begun, and waits for a release. That always
 * comes, whatever the size of the pool, because a begun batch needs only credit to leave.
 */
#include "runtime/runtime_priv.h"

#include "type/hash.h"

/* A batch of fewer rows than this part of the maximum is copied to the others. */
#define SMALL_PART 4u

/* A hash exchange to more channels than this has smaller batches, so that what it holds does not
 * grow with the square of the parallelism; they have at least HASH_ROWS_MIN rows. */
#define HASH_FULL_CHANNELS 4u
#define HASH_ROWS_MIN 64u

#define NO_CHANNEL UINT32_MAX

/* The capacity of the tail's own batches. */
static uint32_t rows_of_batch(const msi_tail *tail)
{
    uint32_t rows = tail->task->job->options.batch_rows;
    if (tail->kind != MSI_TAIL_HASH || tail->channel_count <= HASH_FULL_CHANNELS) {
        return rows;
    }
    uint32_t fewer = rows * HASH_FULL_CHANNELS / tail->channel_count;
    fewer = fewer < HASH_ROWS_MIN ? HASH_ROWS_MIN : fewer;
    return fewer < rows ? fewer : rows;
}

void msi_tail_open(msi_tail *tail)
{
    const ms_job_options *options = &tail->task->job->options;
    tail->open_count = tail->kind == MSI_TAIL_HASH ? tail->channel_count : 1;
    tail->open = ms_arena_array(&tail->task->arena, ms_batch *, tail->open_count);
    uint32_t batches = options->pool_batches;
    if (batches == 0) {
        /* All rings full, and a batch being filled for each. */
        batches = tail->channel_count * options->ring_slots + tail->open_count;
    }
    tail->pool = ms_batch_pool_create(tail->schema, rows_of_batch(tail), batches);
    if (tail->kind == MSI_TAIL_HASH) {
        ms_arena *arena = &tail->task->arena;
        tail->key_columns = ms_arena_array(arena, const ms_vec *, tail->key_count + 1);
        tail->hashes = ms_arena_array(arena, uint64_t, MS_BATCH_ROWS_MAX);
        tail->rows = ms_arena_array(arena, uint16_t, MS_BATCH_ROWS_MAX);
        tail->starts = ms_arena_array(arena, uint32_t, tail->channel_count + 1);
    }
}

/* ---- Sending ---- */

/* The channel that takes the next batch of a slot; NO_CHANNEL when none has credit. */
static uint32_t channel_with_credit(const msi_tail *tail, uint32_t slot)
{
    if (tail->kind != MSI_TAIL_REBALANCE) {
        return msi_channel_has_credit(tail->channels[slot]) ? slot : NO_CHANNEL;
    }
    for (uint32_t i = 0; i < tail->channel_count; i++) {
        uint32_t channel = (tail->next + i) % tail->channel_count;
        if (msi_channel_has_credit(tail->channels[channel])) {
            return channel;
        }
    }
    return NO_CHANNEL;
}

/* Sends a batch with its reference; false when there is no credit or the push failed. */
static bool send(msi_tail *tail, uint32_t slot, ms_batch *batch, ms_status *st)
{
    uint32_t channel = channel_with_credit(tail, slot);
    if (channel == NO_CHANNEL || !msi_channel_push_batch(tail->channels[channel], batch, st)) {
        return false;
    }
    if (tail->kind == MSI_TAIL_REBALANCE) {
        tail->next = (channel + 1) % tail->channel_count;
    }
    return true;
}

static bool has_rows(const ms_batch *batch)
{
    return batch != NULL && batch->rows > 0;
}

/* True when the slot holds no rows any more. */
static bool send_open(msi_tail *tail, uint32_t slot, ms_status *st)
{
    if (!has_rows(tail->open[slot])) {
        return true;
    }
    if (!send(tail, slot, tail->open[slot], st)) {
        return false;
    }
    tail->open[slot] = NULL;
    return true;
}

bool msi_tail_has_open_rows(const msi_tail *tail)
{
    for (uint32_t slot = 0; slot < tail->open_count; slot++) {
        if (has_rows(tail->open[slot])) {
            return true;
        }
    }
    return false;
}

bool msi_tail_flush(msi_tail *tail, ms_status *st)
{
    bool sent = false;
    for (uint32_t slot = 0; slot < tail->open_count && st->code == MS_OK; slot++) {
        if (has_rows(tail->open[slot])) {
            sent |= send_open(tail, slot, st);
        }
    }
    return sent;
}

/* Gives an unused batch of another slot back to the pool. */
static void drop_empty(msi_tail *tail)
{
    for (uint32_t slot = 0; slot < tail->open_count; slot++) {
        if (tail->open[slot] != NULL && tail->open[slot]->rows == 0) {
            ms_batch_drop(tail->open[slot]);
            tail->open[slot] = NULL;
        }
    }
}

/* A batch for the slot; false when one has to be waited for. */
static bool open_slot(msi_tail *tail, uint32_t slot, ms_status *st)
{
    if (tail->open[slot] == NULL) {
        tail->open[slot] = ms_batch_pool_take(tail->pool);
    }
    if (tail->open[slot] == NULL) {
        drop_empty(tail);
        (void)msi_tail_flush(tail, st);
        tail->open[slot] = ms_batch_pool_take(tail->pool);
    }
    return tail->open[slot] != NULL;
}

/* How many live rows from `first` on the slot's batch takes now; 0: one has to be waited for. */
static uint32_t make_room(msi_tail *tail, uint32_t slot, const ms_batch *batch, uint32_t first,
                          ms_status *st)
{
    ms_batch *open = tail->open[slot];
    uint32_t fit = 0;
    if (open != NULL && !ms_batch_is_full(open)) {
        fit = ms_batch_fit(batch, first, ms_batch_wide_bytes(open));
    }
    if (fit > 0) {
        return fit;
    }
    if (!send_open(tail, slot, st) || !open_slot(tail, slot, st)) {
        return 0;
    }
    return ms_batch_fit(batch, first, 0);
}

/* Copies live rows [*taken, live) of a batch into a slot; true when all are taken. */
static bool copy_rows(msi_tail *tail, uint32_t slot, const ms_batch *batch, uint32_t *taken,
                      ms_status *st)
{
    uint32_t live = ms_batch_live(batch);
    while (*taken < live) {
        uint32_t rows = make_room(tail, slot, batch, *taken, st);
        if (rows == 0) {
            return false;
        }
        *taken += ms_batch_append(tail->open[slot], batch, *taken, rows);
    }
    /* A full batch leaves at once when it can. */
    if (tail->open[slot] != NULL && ms_batch_is_full(tail->open[slot])) {
        (void)send_open(tail, slot, st);
    }
    return true;
}

/* ---- Batches ---- */

/* True when the batch may cross by reference; see the head of the file. */
static bool may_share(const msi_tail *tail, const ms_batch *batch)
{
    const msi_task *task = tail->task;
    bool came_in = task->held_channel != NULL && task->held.u.batch == batch;
    return batch->pool != NULL && !came_in && batch->sel == NULL &&
           batch->rows * SMALL_PART >= task->job->options.batch_rows;
}

static bool take_whole(msi_tail *tail, ms_batch *batch, ms_status *st)
{
    if (tail->taken == 0 && may_share(tail, batch)) {
        if (!send_open(tail, 0, st) || channel_with_credit(tail, 0) == NO_CHANNEL) {
            return false;
        }
        ms_batch_retain(batch);
        if (!send(tail, 0, batch, st)) {
            ms_batch_drop(batch);
            return false;
        }
        return true;
    }
    return copy_rows(tail, 0, batch, &tail->taken, st);
}

/* Sorts the live rows of a batch by the channel they go to. */
static void part_rows(msi_tail *tail, const ms_batch *batch)
{
    uint32_t live = ms_batch_live(batch);
    for (uint32_t k = 0; k < tail->key_count; k++) {
        tail->key_columns[k] = &batch->columns[tail->keys[k]];
    }
    ms_hash_rows(tail->key_columns, tail->key_count, batch->sel, live, tail->hashes);
    uint32_t *starts = tail->starts;
    memset(starts, 0, (tail->channel_count + 1) * sizeof(*starts));
    for (uint32_t k = 0; k < live; k++) {
        uint32_t group = ms_hash_key_group(tail->hashes[k]);
        uint32_t channel = ms_hash_group_owner(group, tail->channel_count);
        tail->hashes[k] = channel;
        starts[channel + 1]++;
    }
    for (uint32_t c = 0; c < tail->channel_count; c++) {
        starts[c + 1] += starts[c];
    }
    /* starts[c] moves up to the end of channel c, which is the start of c + 1. */
    for (uint32_t k = 0; k < live; k++) {
        tail->rows[starts[tail->hashes[k]]++] = (uint16_t)ms_batch_row(batch, k);
    }
    memmove(starts + 1, starts, tail->channel_count * sizeof(*starts));
    starts[0] = 0;
}

static bool take_parted(msi_tail *tail, const ms_batch *batch, ms_status *st)
{
    if (!tail->is_parted) {
        part_rows(tail, batch);
        tail->is_parted = true;
        tail->next = 0;
        tail->taken = 0;
    }
    for (; tail->next < tail->channel_count; tail->next++, tail->taken = 0) {
        ms_batch part;
        ms_batch_frame(&part, batch, batch->columns, batch->column_count);
        part.sel = tail->rows + tail->starts[tail->next];
        part.sel_count = tail->starts[tail->next + 1] - tail->starts[tail->next];
        if (part.sel_count > 0 && !copy_rows(tail, tail->next, &part, &tail->taken, st)) {
            return false;
        }
    }
    return true;
}

static bool take_batch(msi_tail *tail, ms_batch *batch, ms_status *st)
{
    bool done =
        tail->kind == MSI_TAIL_HASH ? take_parted(tail, batch, st) : take_whole(tail, batch, st);
    if (done) {
        tail->taken = 0;
        tail->is_parted = false;
        tail->next = tail->kind == MSI_TAIL_HASH ? 0 : tail->next;
    }
    return done;
}

/* ---- Control items ---- */

static bool all_have_slots(const msi_tail *tail)
{
    for (uint32_t c = 0; c < tail->channel_count; c++) {
        if (!msi_channel_has_control_slot(tail->channels[c])) {
            return false;
        }
    }
    return true;
}

/* Sends what was begun, then the item to all channels in one go. */
static bool take_control(msi_tail *tail, const msi_item *item, ms_status *st)
{
    if (tail->has_ended) {
        /* The ending has left: a barrier of an ended task goes no further. */
        return true;
    }
    for (uint32_t slot = 0; slot < tail->open_count; slot++) {
        if (!send_open(tail, slot, st)) {
            return false;
        }
    }
    if (!all_have_slots(tail)) {
        return false;
    }
    for (uint32_t c = 0; c < tail->channel_count; c++) {
        msi_channel_push_control(tail->channels[c], item);
    }
    tail->has_ended = item->kind == MSI_ITEM_END;
    return true;
}

bool msi_tail_step(msi_tail *tail, ms_status *st)
{
    msi_item *item = msi_inbox_head(&tail->inbox);
    bool done = item->kind == MSI_ITEM_BATCH ? take_batch(tail, item->u.batch, st)
                                             : take_control(tail, item, st);
    if (done) {
        msi_inbox_pop(&tail->inbox);
    }
    tail->is_waiting = !done && st->code == MS_OK;
    return done;
}

/* ---- The end ---- */

void msi_tail_halt(msi_tail *tail)
{
    tail->inbox.count = 0;
    for (uint32_t slot = 0; tail->open != NULL && slot < tail->open_count; slot++) {
        ms_batch_drop(tail->open[slot]);
        tail->open[slot] = NULL;
    }
}

void msi_tail_close(msi_tail *tail)
{
    ms_batch_pool_destroy(tail->pool);
    tail->pool = NULL;
}
