/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector: a bounded queue of rows between the task of a COLLECT operator and the caller of
 * ms_job_next. Rows are copied into batches of the collector's own, so that the job's batches go
 * home at once, and so that few rows at a time do not fill the queue with small batches: rows are
 * added to the newest batch as long as nobody has taken it.
 *
 *     put -->  [ oldest ][ ... ][ newest, being filled ]  --> take
 *
 * The queue is bounded by bytes and by batches. A put takes as many rows as there is room for; when
 * that is not all it leaves the task's actor, which the next take wakes. The mutex is held while
 * rows are copied; the two sides meet there once a batch.
 */
#include "runtime/runtime_priv.h"

#define QUEUE_BATCHES 32u /* waiting at most; the caller may hold one more */

/* Rows of a batch of the queue, however small the job's are: few wakes, and few batches. */
#define CAPACITY_MIN 256u

/* Tasks that can wait for room: a COLLECT operator runs in one subtask. */
#define WAITERS_MAX MS_LIMIT_PARALLELISM

struct msi_collector {
    ms_mutex mutex; /* guards all below */
    ms_cond arrived;
    ms_account account;
    ms_batch_pool *pool;
    uint32_t capacity; /* rows of a batch */
    uint64_t bytes_max;
    uint64_t charged_bytes;
    ms_batch *queue[QUEUE_BATCHES];
    uint64_t bytes[QUEUE_BATCHES]; /* charged for each */
    uint32_t first;
    uint32_t count;
    bool has_ended;
    msi_actor *waiters[WAITERS_MAX];
    uint32_t waiter_count;
};

msi_collector *msi_collector_create(const ms_schema *schema, uint32_t batch_rows,
                                    uint64_t bytes_max, ms_account *parent)
{
    msi_collector *collector = ms_mem_calloc(1, sizeof(*collector));
    ms_mutex_init(&collector->mutex, MS_RANK_JOB);
    ms_cond_init(&collector->arrived);
    ms_account_init(&collector->account, parent, "result rows", NULL, MS_ACCOUNT_UNLIMITED);
    collector->bytes_max = bytes_max;
    collector->capacity = batch_rows > CAPACITY_MIN ? batch_rows : CAPACITY_MIN;
    collector->pool = ms_batch_pool_create(schema, collector->capacity, QUEUE_BATCHES + 1);
    return collector;
}

/* Takes the oldest batch off the queue. The mutex is held, or nobody else looks. */
static ms_batch *pop(msi_collector *collector)
{
    ms_batch *batch = collector->queue[collector->first];
    uint64_t bytes = collector->bytes[collector->first];
    ms_account_unreserve(&collector->account, bytes);
    collector->charged_bytes -= bytes;
    collector->first = (collector->first + 1) % QUEUE_BATCHES;
    collector->count--;
    return batch;
}

void msi_collector_destroy(msi_collector *collector)
{
    if (collector == NULL) {
        return;
    }
    while (collector->count > 0) {
        ms_batch_drop(pop(collector));
    }
    ms_batch_pool_destroy(collector->pool);
    ms_account_release(&collector->account);
    ms_cond_release(&collector->arrived);
    ms_mutex_release(&collector->mutex);
    ms_mem_free(collector);
}

static uint32_t newest_of(const msi_collector *collector)
{
    return (collector->first + collector->count - 1) % QUEUE_BATCHES;
}

/* Charges what the newest batch has grown by. */
static ms_rc charge(msi_collector *collector, ms_status *st)
{
    uint32_t newest = newest_of(collector);
    uint64_t now = ms_batch_bytes(collector->queue[newest]);
    uint64_t before = collector->bytes[newest];
    if (now <= before) {
        return MS_OK;
    }
    MS_TRY(ms_account_reserve(&collector->account, now - before, st));
    collector->bytes[newest] = now;
    collector->charged_bytes += now - before;
    return MS_OK;
}

/* The batch that takes the next rows, and how many of them; NULL when there is no room. */
static ms_batch *open_batch(msi_collector *collector, const ms_batch *batch, uint32_t first,
                            uint32_t *rows_out)
{
    bool is_full = collector->charged_bytes >= collector->bytes_max && collector->count > 0;
    ms_batch *newest = collector->count > 0 ? collector->queue[newest_of(collector)] : NULL;
    if (is_full) {
        return NULL;
    }
    if (newest != NULL && !ms_batch_is_full(newest)) {
        *rows_out = ms_batch_fit(batch, first, ms_batch_wide_bytes(newest));
        if (*rows_out > 0) {
            return newest;
        }
    }
    newest = collector->count < QUEUE_BATCHES ? ms_batch_pool_take(collector->pool) : NULL;
    if (newest != NULL) {
        collector->count++;
        collector->queue[newest_of(collector)] = newest;
        collector->bytes[newest_of(collector)] = 0;
        *rows_out = ms_batch_fit(batch, first, 0);
    }
    return newest;
}

/* Copies live rows from `first` on, as many as there is room for; returns how many. */
static uint32_t copy_rows(msi_collector *collector, const ms_batch *batch, uint32_t first,
                          ms_status *st)
{
    uint32_t taken = 0;
    while (first + taken < ms_batch_live(batch) && ms_status_is_ok(st)) {
        uint32_t rows = 0;
        ms_batch *open = open_batch(collector, batch, first + taken, &rows);
        if (open == NULL) {
            break;
        }
        taken += ms_batch_append(open, batch, first + taken, rows);
        (void)charge(collector, st);
    }
    return taken;
}

static void add_waiter(msi_collector *collector, msi_actor *actor)
{
    for (uint32_t i = 0; i < collector->waiter_count; i++) {
        if (collector->waiters[i] == actor) {
            return;
        }
    }
    MS_ASSERT(collector->waiter_count < WAITERS_MAX);
    collector->waiters[collector->waiter_count++] = actor;
}

uint32_t msi_collector_put(msi_collector *collector, const ms_batch *batch, uint32_t first,
                           msi_actor *actor, ms_status *st)
{
    ms_mutex_lock(&collector->mutex);
    uint32_t taken = copy_rows(collector, batch, first, st);
    if (taken > 0) {
        ms_cond_signal(&collector->arrived);
    }
    if (first + taken < ms_batch_live(batch)) {
        add_waiter(collector, actor);
    }
    ms_mutex_unlock(&collector->mutex);
    return taken;
}

void msi_collector_end(msi_collector *collector)
{
    ms_mutex_lock(&collector->mutex);
    collector->has_ended = true;
    collector->waiter_count = 0;
    ms_cond_broadcast(&collector->arrived);
    ms_mutex_unlock(&collector->mutex);
}

ms_batch *msi_collector_take(msi_collector *collector, int64_t timeout_ns, bool *timed_out_out)
{
    *timed_out_out = false;
    ms_mutex_lock(&collector->mutex);
    /* The caller has dropped the batch of its last call: there may be room again. */
    for (uint32_t i = 0; i < collector->waiter_count; i++) {
        msi_actor_wake(collector->waiters[i]);
    }
    collector->waiter_count = 0;
    while (collector->count == 0 && !collector->has_ended && !*timed_out_out) {
        if (timeout_ns < 0) {
            ms_cond_wait(&collector->arrived, &collector->mutex);
        } else {
            *timed_out_out = !ms_cond_wait_for(&collector->arrived, &collector->mutex, timeout_ns);
        }
    }
    ms_batch *batch = NULL;
    if (collector->count > 0) {
        *timed_out_out = false;
        batch = pop(collector);
    }
    for (uint32_t i = 0; i < collector->waiter_count; i++) {
        msi_actor_wake(collector->waiters[i]);
    }
    collector->waiter_count = 0;
    ms_mutex_unlock(&collector->mutex);
    return batch;
}
