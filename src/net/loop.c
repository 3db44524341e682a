/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread runs uv_run() until its handles are closed. One handle, of the kind that libuv calls
 * before it waits, is the whole of a turn but the sockets: it delivers mails, fires timers and runs
 * tasks. The mailbox's parker wakes the wait through uv_async_send().
 *
 * Timers are a binary heap of pointers, in which each timer knows its place: starting one that
 * fires later than most, as deadlines do, and stopping one that never fired take a few steps. One
 * uv_timer_t stands for the earliest; it is only moved when that must fire earlier than it was set
 * to, and looks again when it comes too early.
 */
#include "net/loop.h"

#include "base/env.h"
#include "base/limits.h"
#include "base/memory.h"
#include "net/loop_priv.h"
#include "os/thread.h"

/* A turn delivers at most this many mails before sockets have their turn again. */
#define MAILS_PER_TURN 1024

/* What is kept for calls to come: that of a few hundred. */
#define POOL_BYTES ((size_t)512 << 10)

struct ms_loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_prepare_t turn;
    uv_timer_t alarm;
    int64_t alarm_ns; /* when it rings; INT64_MAX: it is off */
    ms_parker parker;
    ms_mailbox mailbox;
    ms_thread thread;
    int64_t now_ns;
    bool now_is_stale;
    bool is_stopping;
    msi_loop_task soon;   /* ring */
    msi_loop_task last;   /* ring */
    ms_loop_timer **heap; /* from 1 */
    size_t heap_count;
    size_t heap_capacity;
    struct call *called; /* their functions have run in this turn */
    ms_outbox outbox;
    char *buffer;
    msi_pool pool;
};

/* One ms_loop_call that waits. */
typedef struct call {
    ms_mail mail;
    struct call *next;
    ms_loop *loop;
    void (*fn)(void *arg);
    void *arg;
    ms_mutex mutex;
    ms_cond done_cond;
    bool is_done;
} call;

static _Thread_local ms_loop *current_loop;

/* Tasks. */

static void ring_init(msi_loop_task *ring)
{
    ring->next = ring;
    ring->prev = ring;
}

static void ring_add(msi_loop_task *ring, msi_loop_task *task)
{
    if (task->prev != NULL) {
        return;
    }
    task->prev = ring->prev;
    task->next = ring;
    ring->prev->next = task;
    ring->prev = task;
}

void msi_loop_soon(ms_loop *loop, msi_loop_task *task)
{
    ring_add(&loop->soon, task);
}

void msi_loop_last(ms_loop *loop, msi_loop_task *task)
{
    ring_add(&loop->last, task);
}

void msi_loop_cancel(msi_loop_task *task)
{
    if (task->prev != NULL) {
        task->prev->next = task->next;
        task->next->prev = task->prev;
        task->next = NULL;
        task->prev = NULL;
    }
}

/* Runs the tasks that are queued now; what they queue is for the next time. */
static void run_tasks(msi_loop_task *ring)
{
    if (ring->next == ring) {
        return;
    }
    msi_loop_task batch = *ring;
    batch.next->prev = &batch;
    batch.prev->next = &batch;
    ring_init(ring);
    while (batch.next != &batch) {
        msi_loop_task *task = batch.next;
        msi_loop_cancel(task);
        task->run(task);
    }
}

/* Timers. */

static void heap_put(ms_loop *loop, size_t place, ms_loop_timer *timer)
{
    loop->heap[place] = timer;
    timer->place = place;
}

static void heap_rise(ms_loop *loop, size_t place, ms_loop_timer *timer)
{
    while (place > 1 && timer->at_ns < loop->heap[place / 2]->at_ns) {
        heap_put(loop, place, loop->heap[place / 2]);
        place /= 2;
    }
    heap_put(loop, place, timer);
}

static void heap_sink(ms_loop *loop, size_t place, ms_loop_timer *timer)
{
    for (;;) {
        size_t child = place * 2;
        if (child > loop->heap_count) {
            break;
        }
        if (child < loop->heap_count && loop->heap[child + 1]->at_ns < loop->heap[child]->at_ns) {
            child++;
        }
        if (loop->heap[child]->at_ns >= timer->at_ns) {
            break;
        }
        heap_put(loop, place, loop->heap[child]);
        place = child;
    }
    heap_put(loop, place, timer);
}

void ms_loop_timer_init(ms_loop_timer *timer, void (*fire)(ms_loop_timer *timer))
{
    *timer = (ms_loop_timer){.fire = fire};
}

void ms_loop_timer_start(ms_loop *loop, ms_loop_timer *timer, int64_t at_ns)
{
    MS_ASSERT_SLOW(ms_loop_is_current(loop));
    ms_loop_timer_stop(loop, timer);
    timer->at_ns = at_ns;
    if (loop->heap_count + 1 >= loop->heap_capacity) {
        loop->heap_capacity = loop->heap_capacity == 0 ? 64 : loop->heap_capacity * 2;
        loop->heap = ms_mem_realloc(loop->heap, loop->heap_capacity * sizeof(loop->heap[0]));
    }
    loop->heap_count++;
    heap_rise(loop, loop->heap_count, timer);
}

void ms_loop_timer_stop(ms_loop *loop, ms_loop_timer *timer)
{
    size_t place = timer->place;
    if (place == 0) {
        return;
    }
    MS_ASSERT_SLOW(ms_loop_is_current(loop));
    timer->place = 0;
    ms_loop_timer *moved = loop->heap[loop->heap_count];
    loop->heap_count--;
    if (moved == timer) {
        return;
    }
    if (place > 1 && moved->at_ns < loop->heap[place / 2]->at_ns) {
        heap_rise(loop, place, moved);
    } else {
        heap_sink(loop, place, moved);
    }
}

static void fire_timers(ms_loop *loop)
{
    while (loop->heap_count > 0 && loop->heap[1]->at_ns <= loop->now_ns) {
        ms_loop_timer *timer = loop->heap[1];
        ms_loop_timer_stop(loop, timer);
        timer->fire(timer);
    }
}

static void ring_alarm(uv_timer_t *alarm)
{
    ms_loop *loop = alarm->data;
    loop->alarm_ns = INT64_MAX; /* the turn that follows sets it again */
}

/* The alarm may stay too early: a deadline that was met moves the earliest timer back, not it. */
static void set_alarm(ms_loop *loop)
{
    if (loop->heap_count == 0 || loop->heap[1]->at_ns >= loop->alarm_ns) {
        return;
    }
    int64_t at_ns = loop->heap[1]->at_ns;
    int64_t wait_ns = at_ns > loop->now_ns ? at_ns - loop->now_ns : 0;
    uint64_t wait_ms = (uint64_t)(wait_ns / 1000000) + 1; /* rounded up, so that it is not early */
    loop->alarm_ns = at_ns;
    uv_update_time(&loop->uv);
    int rc = uv_timer_start(&loop->alarm, ring_alarm, wait_ms, 0);
    MS_ASSERT(rc == 0);
}

int64_t ms_loop_now_ns(ms_loop *loop)
{
    if (loop->now_is_stale) {
        loop->now_ns = ms_env_mono_ns();
        loop->now_is_stale = false;
    }
    return loop->now_ns;
}

/* Turns. */

/* The turn's own work is in take_turn; waking only makes one begin. */
static void woken(uv_async_t *wake)
{
    (void)wake;
}

static void finish_calls(ms_loop *loop)
{
    while (loop->called != NULL) {
        call *done = loop->called;
        loop->called = done->next;
        ms_mutex_lock(&done->mutex);
        done->is_done = true;
        ms_cond_signal(&done->done_cond);
        ms_mutex_unlock(&done->mutex);
    }
}

static void take_turn(uv_prepare_t *turn)
{
    ms_loop *loop = turn->data;
    (void)ms_parker_park(&loop->parker, 0);
    if (ms_mailbox_deliver(&loop->mailbox, MAILS_PER_TURN) == MAILS_PER_TURN) {
        uv_async_send(&loop->wake);
    }
    loop->now_is_stale = true;
    (void)ms_loop_now_ns(loop);
    fire_timers(loop);
    run_tasks(&loop->soon);
    run_tasks(&loop->last);
    ms_outbox_send(&loop->outbox);
    finish_calls(loop);
    if (loop->soon.next != &loop->soon || loop->last.next != &loop->last) {
        uv_async_send(&loop->wake);
    }
    loop->now_is_stale = true;
    if (loop->is_stopping) {
        ms_mailbox_release(&loop->mailbox); /* before the handle that its pushers wake */
        uv_close((uv_handle_t *)&loop->wake, NULL);
        uv_close((uv_handle_t *)&loop->turn, NULL);
        uv_close((uv_handle_t *)&loop->alarm, NULL);
        return;
    }
    set_alarm(loop);
}

static void run_loop(void *arg)
{
    ms_loop *loop = arg;
    current_loop = loop;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
}

/* Runs on the thread that unparks. */
static void wake_loop(void *arg)
{
    ms_loop *loop = arg;
    int rc = uv_async_send(&loop->wake);
    MS_ASSERT(rc == 0);
}

/* Life. */

static ms_rc start_handles(ms_loop *loop, ms_status *st)
{
    int rc = uv_async_init(&loop->uv, &loop->wake, woken);
    if (rc != 0) {
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not start a network loop");
        return ms_status_detail(st, "%s", uv_strerror(rc));
    }
    uv_prepare_init(&loop->uv, &loop->turn);
    uv_timer_init(&loop->uv, &loop->alarm);
    loop->turn.data = loop;
    loop->alarm.data = loop;
    uv_prepare_start(&loop->turn, take_turn);
    return MS_OK;
}

static void free_loop(ms_loop *loop)
{
    int rc = uv_loop_close(&loop->uv);
    MS_ASSERT(rc == 0);
    MS_ASSERT(loop->heap_count == 0);
    MS_ASSERT(loop->outbox.count == 0);
    ms_mailbox_release(&loop->mailbox);
    ms_mem_free(loop->heap);
    ms_mem_free(loop->buffer);
    msi_pool_release(&loop->pool);
    ms_mem_free(loop);
}

static void stop(void *arg)
{
    ms_loop *loop = arg;
    loop->is_stopping = true;
}

ms_rc ms_loop_create(const char *name, ms_loop **loop_out, ms_status *st)
{
    *loop_out = NULL;
    ms_loop *loop = ms_mem_calloc(1, sizeof(*loop));
    int rc = uv_loop_init(&loop->uv);
    if (rc != 0) {
        ms_mem_free(loop);
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not start a network loop");
        return ms_status_detail(st, "%s", uv_strerror(rc));
    }
    ring_init(&loop->soon);
    ring_init(&loop->last);
    loop->alarm_ns = INT64_MAX;
    loop->now_is_stale = true;
    loop->buffer = ms_mem_alloc(MSI_LOOP_BUFFER_BYTES);
    msi_pool_init(&loop->pool, POOL_BYTES);
    ms_parker_init_wake(&loop->parker, wake_loop, loop);
    ms_mailbox_init(&loop->mailbox, &loop->parker);
    if (start_handles(loop, st) != MS_OK) {
        free_loop(loop);
        return st->code;
    }
    if (ms_thread_start(&loop->thread, name, run_loop, loop, st) != MS_OK) {
        /* A loop that stops in its first turn closes its handles. */
        stop(loop);
        wake_loop(loop);
        uv_run(&loop->uv, UV_RUN_DEFAULT);
        free_loop(loop);
        return st->code;
    }
    *loop_out = loop;
    return MS_OK;
}

void ms_loop_destroy(ms_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    MS_ASSERT(!ms_loop_is_current(loop));
    ms_loop_call(loop, stop, loop);
    ms_thread_join(&loop->thread);
    free_loop(loop);
}

/* Use. */

ms_mailbox *ms_loop_mailbox(ms_loop *loop)
{
    return &loop->mailbox;
}

ms_outbox *ms_loop_outbox(ms_loop *loop)
{
    MS_ASSERT_SLOW(ms_loop_is_current(loop));
    return &loop->outbox;
}

bool ms_loop_is_current(const ms_loop *loop)
{
    return current_loop == loop;
}

static void deliver_call(ms_mail *mail)
{
    call *it = MS_MAIL_OWNER(mail, call, mail);
    it->fn(it->arg);
    it->next = it->loop->called;
    it->loop->called = it;
}

void ms_loop_call(ms_loop *loop, void (*fn)(void *arg), void *arg)
{
    if (ms_loop_is_current(loop)) {
        fn(arg);
        return;
    }
    call it = {.mail = {.deliver = deliver_call}, .loop = loop, .fn = fn, .arg = arg};
    ms_mutex_init(&it.mutex, MS_RANK_MAILBOX);
    ms_cond_init(&it.done_cond);
    ms_mailbox_push(&loop->mailbox, &it.mail);
    ms_mutex_lock(&it.mutex);
    while (!it.is_done) {
        ms_cond_wait(&it.done_cond, &it.mutex);
    }
    ms_mutex_unlock(&it.mutex);
    ms_cond_release(&it.done_cond);
    ms_mutex_release(&it.mutex);
}

uv_loop_t *msi_loop_uv(ms_loop *loop)
{
    return &loop->uv;
}

char *msi_loop_buffer(ms_loop *loop)
{
    return loop->buffer;
}

msi_pool *msi_loop_pool(ms_loop *loop)
{
    return &loop->pool;
}
