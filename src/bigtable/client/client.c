/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: submission, flow control, completion. A call goes to the transport at once unless it
 * writes and the transport holds enough already; then it waits in the client's queue, and whoever
 * takes delivery of a finished call starts those that now have room. Completion is a mail to the
 * caller's mailbox, also for what ends without ever reaching the transport.
 */
#include "bigtable/client/client.h"

#include "base/limits.h"
#include "base/memory.h"
#include "bigtable/client/client_priv.h"

/* Mails taken at one time by the functions that wait. */
#define WAIT_MAILS 64

/* Life. */

ms_bt_client *ms_bt_client_create(ms_bt_transport *transport, const ms_bt_client_options *options)
{
    static const ms_bt_client_options defaults = {0};
    options = options != NULL ? options : &defaults;
    ms_bt_client *client = ms_mem_calloc(1, sizeof(*client));
    client->transport = transport;
    client->mutations_max = options->in_flight_mutations_max != 0
                                ? options->in_flight_mutations_max
                                : MS_BT_CLIENT_IN_FLIGHT_MUTATIONS;
    client->bytes_max = options->in_flight_bytes_max != 0 ? options->in_flight_bytes_max
                                                          : MS_BT_CLIENT_IN_FLIGHT_BYTES;
    ms_mutex_init(&client->mutex, MS_RANK_BT_CLIENT);
    ms_cond_init(&client->all_closed);
    msi_client_init_reads(client);
    return client;
}

void ms_bt_client_drain(ms_bt_client *client)
{
    if (client == NULL) {
        return;
    }
    ms_mutex_lock(&client->mutex);
    while (client->open_count > 0) {
        ms_cond_wait(&client->all_closed, &client->mutex);
    }
    ms_mutex_unlock(&client->mutex);
}

void ms_bt_client_destroy(ms_bt_client *client)
{
    if (client == NULL) {
        return;
    }
    MS_ASSERT(client->open_count == 0);
    msi_client_free_reads(client);
    ms_cond_release(&client->all_closed);
    ms_mutex_release(&client->mutex);
    ms_mem_free(client);
}

bool ms_bt_client_keeps_order(const ms_bt_client *client)
{
    return client->transport->class->keeps_order;
}

bool ms_bt_client_is_millstream(const ms_bt_client *client)
{
    const ms_bt_transport *transport = client->transport;
    return transport->class->is_millstream == NULL || transport->class->is_millstream(transport);
}

void msi_client_add_open(ms_bt_client *client)
{
    ms_mutex_lock(&client->mutex);
    client->open_count++;
    ms_mutex_unlock(&client->mutex);
}

void msi_client_remove_open(ms_bt_client *client)
{
    ms_mutex_lock(&client->mutex);
    client->open_count--;
    if (client->open_count == 0) {
        ms_cond_broadcast(&client->all_closed);
    }
    ms_mutex_unlock(&client->mutex);
}

/* Flow control. All under the mutex. */

static bool has_room(const ms_bt_client *client, const msi_call_state *state)
{
    if (client->mutations == 0) {
        return true;
    }
    return client->mutations + state->mutations <= client->mutations_max &&
           client->bytes + state->bytes <= client->bytes_max;
}

static void take_room(ms_bt_client *client, const msi_call_state *state)
{
    client->mutations += state->mutations;
    client->bytes += state->bytes;
}

static void enqueue(ms_bt_client *client, ms_bt_call *call)
{
    msi_call_state *state = msi_client_call_state(call);
    state->is_waiting = true;
    state->next = NULL;
    if (client->newest == NULL) {
        client->oldest = call;
    } else {
        msi_client_call_state(client->newest)->next = call;
    }
    client->newest = call;
}

static void unlink_call(ms_bt_client *client, ms_bt_call *call)
{
    ms_bt_call *before = NULL;
    for (ms_bt_call *at = client->oldest; at != call; at = msi_client_call_state(at)->next) {
        before = at;
    }
    msi_call_state *state = msi_client_call_state(call);
    if (before == NULL) {
        client->oldest = state->next;
    } else {
        msi_client_call_state(before)->next = state->next;
    }
    if (client->newest == call) {
        client->newest = before;
    }
    state->is_waiting = false;
}

/* Takes the oldest waiting call that now has room; NULL when none has. */
static ms_bt_call *take_startable(ms_bt_client *client)
{
    ms_mutex_lock(&client->mutex);
    ms_bt_call *call = client->oldest;
    if (call != NULL && has_room(client, msi_client_call_state(call))) {
        take_room(client, msi_client_call_state(call));
        unlink_call(client, call);
    } else {
        call = NULL;
    }
    ms_mutex_unlock(&client->mutex);
    return call;
}

/* Calls. */

static void deliver_call(ms_mail *mail)
{
    msi_call_state *state = MS_MAIL_OWNER(mail, msi_call_state, mail);
    ms_bt_call *call = (ms_bt_call *)(void *)((char *)state - offsetof(ms_bt_call, client_state));
    ms_bt_client *client = call->client;
    ms_mutex_lock(&client->mutex);
    client->mutations -= state->mutations;
    client->bytes -= state->bytes;
    ms_mutex_unlock(&client->mutex);
    if (state->mutations > 0) {
        for (ms_bt_call *next = take_startable(client); next != NULL;
             next = take_startable(client)) {
            client->transport->class->start(client->transport, next);
        }
    }
    call->outstanding = false;
    call->done(call, call->arg);
    /* The call may be gone; so may the client be, from here on. */
    msi_client_remove_open(client);
}

void ms_bt_call_finish(ms_bt_call *call)
{
    ms_mailbox_push(call->mailbox, &msi_client_call_state(call)->mail);
}

void ms_bt_call_finish_in(ms_bt_call *call, ms_outbox *outbox)
{
    ms_outbox_put(outbox, call->mailbox, &msi_client_call_state(call)->mail);
}

void msi_client_submit(ms_bt_client *client, ms_bt_call *call, ms_bt_call_kind kind,
                       uint32_t mutations, uint64_t bytes)
{
    MS_ASSERT(!call->outstanding && call->mailbox != NULL && call->done != NULL);
    call->outstanding = true;
    call->kind = kind;
    call->client = client;
    ms_bt_status_clear(&call->status);
    atomic_store_explicit(&call->is_canceled, false, memory_order_relaxed);
    msi_call_state *state = msi_client_call_state(call);
    *state =
        (msi_call_state){.mail = {.deliver = deliver_call}, .mutations = mutations, .bytes = bytes};
    ms_mutex_lock(&client->mutex);
    client->open_count++;
    bool is_waiting = mutations > 0 && (client->oldest != NULL || !has_room(client, state));
    if (is_waiting) {
        enqueue(client, call);
    } else {
        take_room(client, state);
    }
    ms_mutex_unlock(&client->mutex);
    if (!is_waiting) {
        client->transport->class->start(client->transport, call);
    }
}

void ms_bt_call_cancel(ms_bt_call *call)
{
    if (!call->outstanding) {
        return;
    }
    ms_bt_client *client = call->client;
    msi_call_state *state = msi_client_call_state(call);
    ms_mutex_lock(&client->mutex);
    bool was_waiting = state->is_waiting;
    if (was_waiting) {
        unlink_call(client, call);
        /* It never took room, so it gives none back. */
        state->bytes = 0;
        state->mutations = 0;
    }
    ms_mutex_unlock(&client->mutex);
    /* Order relaxed: see ms_bt_call_is_canceled. */
    atomic_store_explicit(&call->is_canceled, true, memory_order_relaxed);
    if (was_waiting) {
        ms_bt_status_set(&call->status, MS_BT_CANCELLED, "The call was canceled before it began");
        ms_bt_call_finish(call);
    } else if (client->transport->class->cancel != NULL) {
        client->transport->class->cancel(client->transport, call);
    }
}

void ms_bt_call_wait(ms_bt_call *call, ms_parker *parker)
{
    while (call->outstanding) {
        if (ms_mailbox_deliver(call->mailbox, WAIT_MAILS) == 0) {
            ms_parker_park(parker, MS_PARK_FOREVER);
        }
    }
}

void msi_client_init_call(ms_bt_call *call, ms_mailbox *mailbox, ms_bt_done_fn done, void *arg)
{
    memset(call, 0, sizeof(*call));
    call->mailbox = mailbox;
    call->done = done;
    call->arg = arg;
}

/* Writing. */

void ms_bt_mutate_rows_init(ms_bt_mutate_rows *call, ms_mailbox *mailbox, ms_bt_done_fn done,
                            void *arg)
{
    msi_client_init_call(&call->call, mailbox, done, arg);
    call->is_single = false;
    call->table = NULL;
    call->batch = NULL;
    msi_failures_init(&call->failures);
}

void ms_bt_mutate_rows_release(ms_bt_mutate_rows *call)
{
    MS_ASSERT(!call->call.outstanding);
    msi_failures_release(&call->failures);
}

void ms_bt_client_mutate_rows(ms_bt_client *client, ms_bt_mutate_rows *call)
{
    msi_failures_reset(&call->failures);
    msi_client_submit(client, &call->call, MS_BT_CALL_MUTATE_ROWS,
                      ms_bt_mutation_batch_mutations(call->batch),
                      ms_bt_mutation_batch_bytes(call->batch));
}

uint32_t ms_bt_mutate_rows_failure(const ms_bt_mutate_rows *call, uint32_t i,
                                   ms_bt_status *status_out)
{
    return msi_failures_get(&call->failures, i, status_out);
}

void ms_bt_sync_init(ms_bt_sync *call, ms_mailbox *mailbox, ms_bt_done_fn done, void *arg)
{
    msi_client_init_call(&call->call, mailbox, done, arg);
}

void ms_bt_client_sync(ms_bt_client *client, ms_bt_sync *call)
{
    msi_client_submit(client, &call->call, MS_BT_CALL_SYNC, 0, 0);
}

/* Sampling. */

void ms_bt_sample_row_keys_init(ms_bt_sample_row_keys *call, ms_mailbox *mailbox,
                                ms_bt_done_fn done, void *arg)
{
    msi_client_init_call(&call->call, mailbox, done, arg);
    call->table = NULL;
    call->range = (ms_bt_range){0};
    call->samples = NULL;
    call->sample_count = 0;
    call->incarnation = 0;
    ms_arena_init(&call->answer, 0);
}

void ms_bt_sample_row_keys_release(ms_bt_sample_row_keys *call)
{
    MS_ASSERT(!call->call.outstanding);
    ms_arena_release(&call->answer);
}

void ms_bt_client_sample_row_keys(ms_bt_client *client, ms_bt_sample_row_keys *call)
{
    ms_arena_reset(&call->answer);
    call->samples = NULL;
    call->sample_count = 0;
    msi_client_submit(client, &call->call, MS_BT_CALL_SAMPLE_ROW_KEYS, 0, 0);
}
