/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing: rows are encoded into requests, which go to the service in order, two at a time.
 *
 *     FILLING -> QUEUED -> SENT -> free
 *                  ^         |  NOT_FOUND, once, when the sink creates what is missing
 *                  +-- PARKED+
 *
 * A batch is taken whole. A request is sent when it is full, or when nothing is outstanding: so an
 * idle writer answers at once and a busy one makes large requests. While two wait for their answer
 * the next batch is blocked. Until a first request has succeeded only one is sent at a time,
 * because what is behind a request that has to wait for its table must not overtake it.
 *
 * Over a network requests that are out together may be applied in any order: they take several
 * connections, and one that failed is repeated after the other. So that the last row of a key wins
 * all the same, two are out together only where the order does not matter: neither deletes, and
 * the cells of the second have later times. A request that follows a full one begins a millisecond
 * later for that.
 *
 * Checkpoints. A cut closes the request that is being filled. It is persisted when every request up
 * to it is answered and then the service has synced its log. Rows written later do not hold it up.
 *
 * Failures. The first one is kept: every later write and persist fails with it. Repeating requests
 * is the client's business.
 *
 * Ownership: the writer copies all that a call points to, because a call may outlive the job: a
 * closed writer is freed when its last call has come back. Thread: task.
 */
#include "connector/bigtable/ensure.h"
#include "connector/bigtable/row_encode.h"
#include "connector/bigtable/sink.h"

#include <stdio.h>

#define REQUESTS_OUT 2u  /* one is worked on while the next waits */
#define REQUESTS_KEPT 3u /* two out, one filling */

/* A request that one large row has made larger than this gives its memory back. */
#define KEPT_BYTES_MAX (4 * MSI_BT_REQUEST_BYTES)

/* Checkpoints that wait to be persisted: one, and one more for each that was given up. */
#define WAITS_MAX 16u

typedef enum request_state {
    REQUEST_FILLING,
    REQUEST_QUEUED,
    REQUEST_SENT,
    REQUEST_PARKED
} request_state;

typedef struct bt_writer bt_writer;

typedef struct request {
    ms_bt_mutate_rows call;
    ms_bt_mutation_batch mutations;
    bt_writer *writer;
    struct request *next;
    request_state state;
    uint64_t sequence;
    int64_t from_micros; /* the times of its cells */
    int64_t to_micros;
} request;

typedef struct wait {
    ms_completion *completion;
    uint64_t sequence; /* of the last request that it is about */
} wait;

struct bt_writer {
    ms_writer writer;
    ms_bt_client *client;
    ms_bt_table_name destination;
    ms_str app_profile;
    ms_arena arena;
    ms_waker waker;
    ms_mailbox *mailbox;
    ms_account *account;
    uint64_t charged_bytes;
    msi_bt_encoder *encoder;
    request *filling;
    request *oldest; /* closed and not answered, in order */
    request *newest;
    request *spare;
    uint32_t spare_count;
    uint32_t request_count; /* from oldest to newest */
    uint32_t sent_count;
    uint64_t next_sequence;
    uint64_t cut_sequence;
    msi_bt_ensure ensure;
    bool keeps_order;  /* of requests that are out together */
    bool begins_later; /* the next request, than the one before ended */
    bool sink_creates; /* what is missing */
    bool is_known;     /* a request has succeeded: the table is there */
    bool is_missing;   /* requests are parked until it is made */
    bool is_ensuring;  /* it is being made */
    bool was_ensured;
    ms_bt_sync sync;
    bool needs_sync;
    uint32_t syncing; /* of waits: those that the sync under way is about */
    wait waits[WAITS_MAX];
    uint32_t wait_count;
    bool is_blocked; /* a batch was refused and waits for the waker */
    bool is_closed;
    ms_status failure;
};

/* Requests. */

static void destroy_request(request *r)
{
    ms_bt_mutate_rows_release(&r->call);
    ms_bt_mutation_batch_release(&r->mutations);
    ms_mem_free(r);
}

static void request_done(ms_bt_call *call, void *arg);

static ms_rc create_request(bt_writer *self, request **request_out, ms_status *st)
{
    request *r = ms_mem_calloc(1, sizeof(*r));
    r->writer = self;
    ms_bt_mutate_rows_init(&r->call, self->mailbox, request_done, r);
    r->call.call.app_profile = self->app_profile;
    ms_bt_mutation_batch_init(&r->mutations, MS_BT_LIMIT_BATCH_BYTES);
    if (msi_bt_encoder_adopt(self->encoder, &r->mutations, st) != MS_OK) {
        destroy_request(r);
        return st->code;
    }
    *request_out = r;
    return MS_OK;
}

static ms_rc begin_request(bt_writer *self, ms_status *st)
{
    if (self->filling != NULL) {
        return MS_OK;
    }
    if (self->spare != NULL) {
        self->filling = self->spare;
        self->spare = self->filling->next;
        self->spare_count--;
    } else {
        MS_TRY(create_request(self, &self->filling, st));
    }
    self->filling->state = REQUEST_FILLING;
    self->filling->next = NULL;
    self->filling->from_micros = msi_bt_encoder_stamp(self->encoder, self->begins_later);
    return MS_OK;
}

/* Puts the request that is being filled behind the others. */
static void close_request(bt_writer *self)
{
    request *r = self->filling;
    if (r == NULL || ms_bt_mutation_batch_entries(&r->mutations) == 0) {
        return;
    }
    self->filling = NULL;
    r->state = REQUEST_QUEUED;
    r->sequence = ++self->next_sequence;
    if (self->newest != NULL) {
        self->newest->next = r;
    } else {
        self->oldest = r;
    }
    self->newest = r;
    self->request_count++;
}

static void unlink_request(bt_writer *self, request *r)
{
    request *before = NULL;
    for (request *at = self->oldest; at != r; at = at->next) {
        before = at;
    }
    if (before != NULL) {
        before->next = r->next;
    } else {
        self->oldest = r->next;
    }
    if (self->newest == r) {
        self->newest = before;
    }
    self->request_count--;
}

/* The request was answered; its memory is used again. */
static void recycle(bt_writer *self, request *r)
{
    unlink_request(self, r);
    if (self->spare_count == REQUESTS_KEPT || r->mutations.data.capacity_bytes > KEPT_BYTES_MAX) {
        destroy_request(r);
        return;
    }
    ms_bt_mutation_batch_reset(&r->mutations);
    r->next = self->spare;
    self->spare = r;
    self->spare_count++;
}

/* Would it matter which of the two is applied first? */
static bool order_matters(const request *first, const request *second)
{
    return ms_bt_mutation_batch_has_deletes(&first->mutations) ||
           ms_bt_mutation_batch_has_deletes(&second->mutations) ||
           first->to_micros >= second->from_micros;
}

/* May a request be out together with those before it that are? */
static bool may_go(const bt_writer *self, const request *r)
{
    for (const request *at = self->oldest; at != r && !self->keeps_order; at = at->next) {
        if (at->state == REQUEST_SENT && order_matters(at, r)) {
            return false;
        }
    }
    return true;
}

static void send_requests(bt_writer *self)
{
    uint32_t most = self->is_known ? REQUESTS_OUT : 1;
    for (request *r = self->oldest; r != NULL && self->sent_count < most && !self->is_missing;
         r = r->next) {
        if (r->state == REQUEST_QUEUED && !may_go(self, r)) {
            return;
        }
        if (r->state == REQUEST_QUEUED) {
            r->state = REQUEST_SENT;
            self->sent_count++;
            r->call.table = &self->destination;
            r->call.batch = &r->mutations;
            ms_bt_client_mutate_rows(self->client, &r->call);
        }
    }
}

/* Memory. */

static uint64_t held_bytes(const bt_writer *self)
{
    uint64_t bytes = msi_bt_encoder_bytes(self->encoder);
    const request *const lists[] = {self->filling, self->oldest, self->spare};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (const request *r = lists[i]; r != NULL; r = r->next) {
            bytes += sizeof(*r) + r->mutations.data.capacity_bytes;
        }
    }
    return bytes;
}

/* Charges what is held now. */
static ms_rc charge(bt_writer *self, ms_status *st)
{
    uint64_t held = held_bytes(self);
    if (held > self->charged_bytes) {
        MS_TRY(ms_account_reserve(self->account, held - self->charged_bytes, st));
    } else {
        ms_account_unreserve(self->account, self->charged_bytes - held);
    }
    self->charged_bytes = held;
    return MS_OK;
}

/* Waits. */

static void answer_waits(bt_writer *self, uint32_t count, const ms_status *st)
{
    for (uint32_t i = 0; i < count; i++) {
        ms_done(self->waits[i].completion, st->code, st->code != MS_OK ? st : NULL);
    }
    self->wait_count -= count;
    memmove(self->waits, self->waits + count, self->wait_count * sizeof(self->waits[0]));
}

/* How many of the waits, from the first, have all their requests answered. */
static uint32_t count_written(const bt_writer *self)
{
    uint32_t count = 0;
    while (count < self->wait_count &&
           (self->oldest == NULL || self->oldest->sequence > self->waits[count].sequence)) {
        count++;
    }
    return count;
}

static void settle_waits(bt_writer *self)
{
    if (self->failure.code != MS_OK) {
        if (self->syncing == 0) {
            answer_waits(self, self->wait_count, &self->failure);
        }
        return;
    }
    uint32_t written = self->syncing > 0 ? 0 : count_written(self);
    if (written == 0) {
        return;
    }
    if (!self->needs_sync) {
        answer_waits(self, written, &self->failure);
        return;
    }
    self->needs_sync = false;
    self->syncing = written;
    ms_bt_client_sync(self->client, &self->sync);
}

/* Whatever can go on goes on; called when something has come back. */
static void go_on(bt_writer *self)
{
    if (self->failure.code == MS_OK) {
        if (self->is_missing && !self->is_ensuring && self->sent_count == 0) {
            self->is_ensuring = true;
            msi_bt_ensure_start(&self->ensure);
        }
        if (self->oldest == NULL) {
            close_request(self);
        }
        send_requests(self);
    }
    settle_waits(self);
    if (self->is_blocked) {
        self->is_blocked = false;
        ms_wake(&self->waker);
    }
}

/* Life. */

static bool has_calls(const bt_writer *self)
{
    return self->sent_count > 0 || self->is_ensuring || self->syncing > 0;
}

static void destroy_list(request *list)
{
    while (list != NULL) {
        request *next = list->next;
        destroy_request(list);
        list = next;
    }
}

static void destroy_writer(bt_writer *self)
{
    destroy_list(self->filling);
    destroy_list(self->oldest);
    destroy_list(self->spare);
    msi_bt_ensure_release(&self->ensure);
    msi_bt_encoder_destroy(self->encoder);
    ms_arena_release(&self->arena);
    ms_mem_free(self);
}

/* A call of a closed writer has come back. True: there is nothing else to do. */
static bool is_over(bt_writer *self)
{
    if (self->is_closed && !has_calls(self)) {
        destroy_writer(self);
        return true;
    }
    return self->is_closed;
}

static void fail(bt_writer *self, const ms_status *st)
{
    if (self->failure.code == MS_OK) {
        self->failure = *st;
        ms_wake(&self->waker);
    }
}

/* What comes back. */

/* The status that decides about a request: its own, or that of its first entry that failed. */
static ms_bt_status outcome_of(const request *r, uint32_t *entry_out)
{
    ms_bt_status status = r->call.call.status;
    *entry_out = UINT32_MAX;
    uint32_t count = ms_bt_mutate_rows_failure_count(&r->call);
    for (uint32_t i = 0; ms_bt_status_is_ok(&r->call.call.status) && i < count; i++) {
        ms_bt_status entry;
        uint32_t index = ms_bt_mutate_rows_failure(&r->call, i, &entry);
        /* What is not there can be made; anything else is final. */
        if (i == 0 || (status.code == MS_BT_NOT_FOUND && entry.code != MS_BT_NOT_FOUND)) {
            status = entry;
            *entry_out = index;
        }
    }
    return status;
}

static ms_str key_of_entry(const request *r, uint32_t index)
{
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&r->mutations);
    ms_bt_mutation_entry entry = {.key = {NULL, 0}};
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry) && entry.index < index) {
    }
    return entry.key;
}

static void fail_request(bt_writer *self, const request *r, const ms_bt_status *outcome,
                         uint32_t entry)
{
    ms_status st = {0};
    /* What is not there is the table or a family, whichever row it was noticed at. */
    if (entry == UINT32_MAX || outcome->code == MS_BT_NOT_FOUND) {
        msi_bt_destination_report(&self->destination, "write to", outcome, &st);
    } else {
        char verb[256];
        char key[160];
        ms_bt_bytes_text(key_of_entry(r, entry), key, sizeof(key));
        (void)snprintf(verb, sizeof(verb), "write row \"%s\" to", key);
        msi_bt_destination_report(&self->destination, verb, outcome, &st);
    }
    fail(self, &st);
}

static void request_done(ms_bt_call *call, void *arg)
{
    (void)call;
    request *r = arg;
    bt_writer *self = r->writer;
    self->sent_count--;
    if (is_over(self)) {
        return;
    }
    uint32_t entry = 0;
    ms_bt_status outcome = outcome_of(r, &entry);
    bool can_make = self->sink_creates && !self->was_ensured;
    if (outcome.code == MS_BT_NOT_FOUND && can_make) {
        r->state = REQUEST_PARKED;
        self->is_missing = true;
    } else if (!ms_bt_status_is_ok(&outcome)) {
        fail_request(self, r, &outcome, entry);
        recycle(self, r);
    } else {
        self->is_known = true;
        self->needs_sync = true;
        recycle(self, r);
    }
    go_on(self);
}

static void ensured(void *arg)
{
    bt_writer *self = arg;
    self->is_ensuring = false;
    if (is_over(self)) {
        return;
    }
    self->is_missing = false;
    self->was_ensured = true;
    if (!ms_bt_status_is_ok(&self->ensure.status)) {
        ms_status st = {0};
        msi_bt_destination_report(&self->destination, "create", &self->ensure.status, &st);
        fail(self, &st);
    }
    for (request *r = self->oldest; r != NULL; r = r->next) {
        r->state = r->state == REQUEST_PARKED ? REQUEST_QUEUED : r->state;
    }
    go_on(self);
}

static void synced(ms_bt_call *call, void *arg)
{
    bt_writer *self = arg;
    uint32_t count = self->syncing;
    self->syncing = 0;
    if (is_over(self)) {
        return;
    }
    if (!ms_bt_status_is_ok(&call->status)) {
        ms_status st = {0};
        msi_bt_destination_report(&self->destination, "sync", &call->status, &st);
        fail(self, &st);
    } else {
        ms_status ok = {0};
        answer_waits(self, count, &ok);
    }
    go_on(self);
}

/* The face. */

static ms_rc take_rows(bt_writer *self, const ms_batch *batch, ms_status *st)
{
    msi_bt_encoder_begin(self->encoder, batch);
    while (!msi_bt_encoder_is_done(self->encoder)) {
        MS_TRY(begin_request(self, st));
        size_t before = ms_bt_mutation_batch_bytes(&self->filling->mutations);
        MS_TRY(msi_bt_encoder_rows(self->encoder, &self->filling->mutations, st));
        self->writer.bytes_written +=
            ms_bt_mutation_batch_bytes(&self->filling->mutations) - before;
        self->filling->to_micros = msi_bt_encoder_stamp(self->encoder, false);
        self->begins_later = !self->keeps_order && !msi_bt_encoder_is_done(self->encoder);
        if (!msi_bt_encoder_is_done(self->encoder)) {
            close_request(self);
            send_requests(self);
        }
    }
    self->writer.rows_written += ms_batch_live(batch);
    if (self->oldest == NULL) {
        close_request(self);
        send_requests(self);
    }
    return charge(self, st);
}

static ms_write writer_write(ms_writer *writer, const ms_batch *batch, ms_status *st)
{
    bt_writer *self = (bt_writer *)writer;
    if (self->failure.code != MS_OK) {
        *st = self->failure;
        return MS_WRITE_FAILED;
    }
    if (self->request_count >= REQUESTS_OUT) {
        self->is_blocked = true;
        return MS_WRITE_BLOCKED;
    }
    if (take_rows(self, batch, st) != MS_OK) {
        fail(self, st);
        return MS_WRITE_FAILED;
    }
    return MS_WRITE_DONE;
}

static ms_rc writer_cut(ms_writer *writer, uint64_t checkpoint, bool is_final, ms_status *st)
{
    (void)checkpoint;
    (void)is_final;
    (void)st;
    bt_writer *self = (bt_writer *)writer;
    close_request(self);
    self->cut_sequence = self->next_sequence;
    send_requests(self);
    return MS_OK;
}

static void writer_persist(ms_writer *writer, uint64_t checkpoint, ms_completion *completion)
{
    (void)checkpoint;
    bt_writer *self = (bt_writer *)writer;
    if (self->wait_count == WAITS_MAX) {
        ms_status st = {0};
        ms_status_set(&st, MS_LIMIT, ms_span_none, "%u checkpoints wait for rows to be written",
                      WAITS_MAX);
        ms_done(completion, st.code, &st);
        return;
    }
    self->waits[self->wait_count++] = (wait){completion, self->cut_sequence};
    settle_waits(self);
}

/* Every token is answered, so that its memory is given back; calls may still be out. */
static void writer_close(ms_writer *writer)
{
    bt_writer *self = (bt_writer *)writer;
    ms_status st = {0};
    ms_status_set(&st, MS_CANCELED, ms_span_none, "the job ended before its rows were written");
    answer_waits(self, self->wait_count, &st);
    ms_account_unreserve(self->account, self->charged_bytes);
    self->is_closed = true;
    if (!has_calls(self)) {
        destroy_writer(self);
        return;
    }
    for (request *r = self->oldest; r != NULL; r = r->next) {
        if (r->state == REQUEST_SENT) {
            ms_bt_call_cancel(&r->call.call);
        }
    }
    if (self->is_ensuring) {
        msi_bt_ensure_cancel(&self->ensure);
    }
    if (self->syncing > 0) {
        ms_bt_call_cancel(&self->sync.call);
    }
}

static const ms_writer_class writer_class = {
    .write = writer_write,
    .cut = writer_cut,
    .persist = writer_persist,
    .close = writer_close,
};

ms_rc msi_bt_writer_create(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                           ms_status *st)
{
    const msi_bt_sink *given = (const msi_bt_sink *)sink;
    bt_writer *self = ms_mem_calloc(1, sizeof(*self));
    self->writer.klass = &writer_class;
    ms_arena_init(&self->arena, 0);
    self->client = *given->client;
    self->keeps_order = ms_bt_client_keeps_order(self->client);
    self->destination = msi_bt_destination_copy(&self->arena, &given->layout.destination);
    self->app_profile = ms_arena_copy_str(&self->arena, given->options.app_profile);
    self->sink_creates = given->options.creates;
    self->waker = env->waker;
    self->mailbox = env->mailbox;
    self->account = env->account;
    self->encoder = msi_bt_encoder_create(&given->layout);
    msi_bt_ensure_init(&self->ensure, self->client, env->mailbox, &given->layout,
                       given->options.gc_rule, ensured, self);
    ms_bt_sync_init(&self->sync, env->mailbox, synced, self);
    if (charge(self, st) != MS_OK) {
        writer_close(&self->writer);
        return st->code;
    }
    *writer_out = &self->writer;
    return MS_OK;
}
