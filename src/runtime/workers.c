/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers and the actors they run. A worker is a thread with a parker, a mailbox and a queue of
 * runnable actors:
 *
 *     wake actors whose time has come -> deliver mails -> run one turn of one actor -> ...
 *
 * and it parks when all three are empty. The queue is the worker's own: other threads reach it
 * through the actor's mail, so that it needs no lock.
 *
 * The state of an actor is two bits. A wake sets both; the wake that finds SCHEDULED clear posts
 * the mail. A turn clears NOTIFIED first and SCHEDULED at its end, unless NOTIFIED was set again:
 *
 *     idle --wake--> SCHEDULED|NOTIFIED --turn begins--> SCHEDULED --turn ends--> idle
 *                         ^                                  |
 *                         +------- a wake in between --------+  another turn
 */
#include "runtime/workers.h"

#include "base/env.h"
#include "runtime/runtime_priv.h"

#include <stdio.h>

#define SCHEDULED 1u
#define NOTIFIED 2u

/* Mails taken before a turn; more of them wait for the next round, so that tasks run too. */
#define MAILS_PER_ROUND 64u

/* How far from the head of the queue a source with a smaller watermark is looked for. */
#define SOURCES_LOOKED_AT 64u

struct msi_worker {
    ms_workers *workers;
    ms_thread thread;
    bool has_thread;
    ms_parker parker;
    ms_mailbox mailbox;
    msi_actor *queue;
    msi_actor **queue_end;
    uint32_t queue_count;
    msi_actor *timers;
};

struct ms_workers {
    uint32_t count;
    bool is_stepped;
    ms_iopool *iopool;
    ms_env_random random;
    _Atomic bool is_stopping;
    _Atomic uint64_t tokens; /* handed out and not come back */
    ms_mutex mutex;          /* guards has_thread, next_base and the counting of retirements */
    ms_cond cond;
    uint32_t next_base;
    msi_worker worker[];
};

/* ---- Actors ---- */

static void enqueue(msi_worker *worker, msi_actor *actor)
{
    actor->next = NULL;
    *worker->queue_end = actor;
    worker->queue_end = &actor->next;
    worker->queue_count++;
}

static void deliver_actor(ms_mail *mail)
{
    msi_actor *actor = MS_MAIL_OWNER(mail, msi_actor, mail);
    enqueue(actor->worker, actor);
}

void msi_actor_init(msi_actor *actor, msi_worker *worker, const void *owner,
                    bool (*run)(msi_actor *actor, bool woken))
{
    *actor = (msi_actor){.worker = worker, .owner = owner, .run = run, .deadline_ns = INT64_MAX};
    actor->mail.deliver = deliver_actor;
    actor->rank = INT64_MIN;
    atomic_init(&actor->state, 0);
}

void msi_actor_wake(msi_actor *actor)
{
    /* Order acq_rel: partner is the exchange of bits at the start of a turn, which sees what this
     * caller wrote before. A mere look would not do: only the write hands those over. */
    uint32_t before =
        atomic_fetch_or_explicit(&actor->state, SCHEDULED | NOTIFIED, memory_order_acq_rel);
    if ((before & SCHEDULED) == 0) {
        ms_mailbox_push(&actor->worker->mailbox, &actor->mail);
    }
}

void msi_actor_wake_at(msi_actor *actor, int64_t mono_ns)
{
    if (actor->deadline_ns == INT64_MAX) {
        actor->timer_next = actor->worker->timers;
        actor->worker->timers = actor;
        actor->deadline_ns = mono_ns;
    } else if (mono_ns < actor->deadline_ns) {
        actor->deadline_ns = mono_ns;
    }
}

/* Wakes the actors whose time has come; returns how long until the next one. */
static int64_t fire_timers(msi_worker *worker)
{
    if (worker->timers == NULL) {
        return MS_PARK_FOREVER;
    }
    int64_t now_ns = ms_env_mono_ns();
    int64_t next_ns = INT64_MAX;
    msi_actor **link = &worker->timers;
    while (*link != NULL) {
        msi_actor *actor = *link;
        if (actor->deadline_ns <= now_ns) {
            *link = actor->timer_next;
            actor->deadline_ns = INT64_MAX;
            msi_actor_wake(actor);
        } else {
            next_ns = actor->deadline_ns < next_ns ? actor->deadline_ns : next_ns;
            link = &actor->timer_next;
        }
    }
    return next_ns == INT64_MAX ? MS_PARK_FOREVER : next_ns - now_ns;
}

static msi_actor *unlink_at(msi_worker *worker, msi_actor **link)
{
    msi_actor *actor = *link;
    *link = actor->next;
    if (*link == NULL) {
        worker->queue_end = link;
    }
    worker->queue_count--;
    return actor;
}

/* Where the source stands that should run instead of the one at the head: the smallest rank among
 * the sources of its job. */
static msi_actor **source_to_run(msi_worker *worker)
{
    msi_actor **best = &worker->queue;
    msi_actor **link = &worker->queue;
    for (uint32_t i = 0; i < SOURCES_LOOKED_AT && *link != NULL; i++) {
        if ((*link)->is_source && (*link)->owner == worker->queue->owner &&
            (*link)->rank < (*best)->rank) {
            best = link;
        }
        link = &(*link)->next;
    }
    return best;
}

static msi_actor *pick(msi_worker *worker)
{
    if (worker->queue == NULL) {
        return NULL;
    }
    msi_actor **link = &worker->queue;
    if (worker->workers->is_stepped) {
        uint64_t skip = ms_env_random_below(&worker->workers->random, worker->queue_count);
        for (; skip > 0; skip--) {
            link = &(*link)->next;
        }
    } else if (worker->queue->is_source) {
        link = source_to_run(worker);
    }
    return unlink_at(worker, link);
}

static bool run_one(msi_worker *worker)
{
    msi_actor *actor = pick(worker);
    if (actor == NULL) {
        return false;
    }
    /* Order acq_rel: partner is msi_actor_wake. */
    uint32_t before = atomic_fetch_and_explicit(&actor->state, ~NOTIFIED, memory_order_acq_rel);
    if (actor->run(actor, (before & NOTIFIED) != 0)) {
        enqueue(worker, actor);
        return true;
    }
    /* Order release on success, so that a destroyer that sees it idle sees the turn's writes. */
    uint32_t scheduled = SCHEDULED;
    if (!atomic_compare_exchange_strong_explicit(&actor->state, &scheduled, 0, memory_order_release,
                                                 memory_order_relaxed)) {
        enqueue(worker, actor);
    }
    return true;
}

/* ---- Workers ---- */

ms_mailbox *msi_worker_mailbox(msi_worker *worker)
{
    return &worker->mailbox;
}

void msi_worker_deliver(msi_worker *worker)
{
    while (ms_mailbox_deliver(&worker->mailbox, MAILS_PER_ROUND) == MAILS_PER_ROUND) {
    }
}

static bool may_stop(ms_workers *workers)
{
    /* Order acquire: partners are the stores in ms_workers_destroy and msi_workers_token_gone. */
    return atomic_load_explicit(&workers->is_stopping, memory_order_acquire) &&
           atomic_load_explicit(&workers->tokens, memory_order_acquire) == 0;
}

static void worker_main(void *arg)
{
    msi_worker *worker = arg;
    for (;;) {
        int64_t timeout_ns = fire_timers(worker);
        bool busy = ms_mailbox_deliver(&worker->mailbox, MAILS_PER_ROUND) > 0;
        busy |= run_one(worker);
        if (busy) {
            continue;
        }
        if (may_stop(worker->workers)) {
            return;
        }
        (void)ms_parker_park(&worker->parker, timeout_ns);
    }
}

static ms_rc start_thread(msi_worker *worker, ms_status *st)
{
    ms_mutex_lock(&worker->workers->mutex);
    ms_rc rc = MS_OK;
    if (!worker->has_thread && !worker->workers->is_stepped) {
        char name[16];
        (void)snprintf(name, sizeof(name), "worker %u",
                       (unsigned)(worker - worker->workers->worker));
        rc = ms_thread_start(&worker->thread, name, worker_main, worker, st);
        worker->has_thread = rc == MS_OK;
    }
    ms_mutex_unlock(&worker->workers->mutex);
    return rc;
}

ms_rc msi_workers_place(ms_workers *workers, uint32_t placement, msi_worker **worker_out,
                        ms_status *st)
{
    msi_worker *worker = &workers->worker[placement % workers->count];
    *worker_out = NULL;
    MS_TRY(start_thread(worker, st));
    *worker_out = worker;
    return MS_OK;
}

uint32_t msi_workers_next_base(ms_workers *workers)
{
    ms_mutex_lock(&workers->mutex);
    uint32_t base = workers->next_base++;
    ms_mutex_unlock(&workers->mutex);
    return base;
}

ms_iopool *msi_workers_iopool(const ms_workers *workers)
{
    return workers->iopool;
}

bool msi_workers_is_stepped(const ms_workers *workers)
{
    return workers->is_stepped;
}

void msi_workers_token_made(msi_worker *worker)
{
    /* Order relaxed: the destroyer runs after every task of every job. */
    atomic_fetch_add_explicit(&worker->workers->tokens, 1, memory_order_relaxed);
}

void msi_workers_token_gone(msi_worker *worker)
{
    ms_workers *workers = worker->workers;
    /* Order acq_rel: partner is may_stop, in whichever worker looks last. */
    if (atomic_fetch_sub_explicit(&workers->tokens, 1, memory_order_acq_rel) == 1 &&
        atomic_load_explicit(&workers->is_stopping, memory_order_acquire)) {
        for (uint32_t i = 0; i < workers->count; i++) {
            ms_parker_unpark(&workers->worker[i].parker);
        }
    }
}

/* ---- Retiring ---- */

typedef struct retirement {
    ms_mail mail;
    msi_worker *worker;
    const void *owner;
    uint32_t rounds; /* through the mailbox that are left */
    bool is_done;    /* guarded by the mutex of the workers */
} retirement;

/*
 * What was pushed before the request is delivered before it; but such a mail (an event) may wake an
 * actor, whose mail then stands behind the request. A second round comes after those too. Timers go
 * in the first: one that fires between the two would wake an actor behind both.
 */
#define RETIREMENT_ROUNDS 2u

static void remove_actors(msi_worker *worker, const void *owner)
{
    msi_actor **link = &worker->queue;
    while (*link != NULL) {
        if ((*link)->owner == owner) {
            (void)unlink_at(worker, link);
        } else {
            link = &(*link)->next;
        }
    }
    for (link = &worker->timers; *link != NULL;) {
        if ((*link)->owner == owner) {
            *link = (*link)->timer_next;
        } else {
            link = &(*link)->timer_next;
        }
    }
}

static void deliver_retirement(ms_mail *mail)
{
    retirement *request = MS_MAIL_OWNER(mail, retirement, mail);
    ms_workers *workers = request->worker->workers;
    remove_actors(request->worker, request->owner);
    if (--request->rounds > 0) {
        ms_mailbox_push(&request->worker->mailbox, &request->mail);
        return;
    }
    ms_mutex_lock(&workers->mutex);
    request->is_done = true;
    ms_cond_broadcast(&workers->cond);
    ms_mutex_unlock(&workers->mutex);
}

void msi_workers_retire(ms_workers *workers, const void *owner)
{
    for (uint32_t i = 0; i < workers->count; i++) {
        msi_worker *worker = &workers->worker[i];
        if (workers->is_stepped) {
            msi_worker_deliver(worker);
            remove_actors(worker, owner);
            continue;
        }
        ms_mutex_lock(&workers->mutex);
        bool has_thread = worker->has_thread;
        ms_mutex_unlock(&workers->mutex);
        if (!has_thread) {
            continue;
        }
        retirement request = {.worker = worker, .owner = owner, .rounds = RETIREMENT_ROUNDS};
        request.mail.deliver = deliver_retirement;
        ms_mailbox_push(&worker->mailbox, &request.mail);
        ms_mutex_lock(&workers->mutex);
        while (!request.is_done) {
            ms_cond_wait(&workers->cond, &workers->mutex);
        }
        ms_mutex_unlock(&workers->mutex);
    }
}

/* ---- Life ---- */

ms_rc ms_workers_create(const ms_workers_options *options, ms_workers **workers_out, ms_status *st)
{
    *workers_out = NULL;
    if (options->count > MS_WORKERS_MAX) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "%u workers are more than %u",
                             options->count, MS_WORKERS_MAX);
    }
    uint32_t count = options->count > 0 ? options->count : (uint32_t)ms_thread_cpu_count();
    count = options->is_stepped ? 1 : count;
    count = count > MS_WORKERS_MAX ? MS_WORKERS_MAX : count;
    size_t bytes = sizeof(ms_workers) + count * sizeof(msi_worker);
    ms_workers *workers = ms_mem_alloc_aligned(bytes, _Alignof(ms_workers));
    memset(workers, 0, bytes);
    workers->count = count;
    workers->is_stepped = options->is_stepped;
    workers->iopool = options->iopool;
    ms_env_random_init(&workers->random, options->seed);
    atomic_init(&workers->is_stopping, false);
    atomic_init(&workers->tokens, 0);
    ms_mutex_init(&workers->mutex, MS_RANK_JOB);
    ms_cond_init(&workers->cond);
    for (uint32_t i = 0; i < count; i++) {
        msi_worker *worker = &workers->worker[i];
        worker->workers = workers;
        worker->queue_end = &worker->queue;
        ms_parker_init(&worker->parker);
        ms_mailbox_init(&worker->mailbox, &worker->parker);
    }
    *workers_out = workers;
    return MS_OK;
}

void ms_workers_destroy(ms_workers *workers)
{
    if (workers == NULL) {
        return;
    }
    /* Order release: partner is may_stop. */
    atomic_store_explicit(&workers->is_stopping, true, memory_order_release);
    for (uint32_t i = 0; i < workers->count; i++) {
        msi_worker *worker = &workers->worker[i];
        if (worker->has_thread) {
            ms_parker_unpark(&worker->parker);
            ms_thread_join(&worker->thread);
        }
    }
    for (uint32_t i = 0; i < workers->count; i++) {
        msi_worker_deliver(&workers->worker[i]);
        ms_mailbox_release(&workers->worker[i].mailbox);
    }
    ms_cond_release(&workers->cond);
    ms_mutex_release(&workers->mutex);
    ms_mem_free(workers);
}

uint32_t ms_workers_count(const ms_workers *workers)
{
    return workers->count;
}

bool ms_workers_step(ms_workers *workers)
{
    MS_ASSERT(workers->is_stepped);
    msi_worker *worker = &workers->worker[0];
    (void)fire_timers(worker);
    bool busy = ms_mailbox_deliver(&worker->mailbox, MAILS_PER_ROUND) > 0;
    busy |= run_one(worker);
    return busy || (workers->iopool != NULL && ms_iopool_step(workers->iopool));
}
