/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of changes: as read.c, one page filled ahead of the one that the consumer holds. All states
 * change on the consumer's thread.
 */
/* tidy: no-unit-test: the tests of the store make these calls, in process and over gRPC */
#include "bigtable/client/change.h"

#include "base/memory.h"
#include "bigtable/client/client_priv.h"

#define DEFAULT_PAGE_BYTES ((size_t)1 << 20)
#define PAGES 2
#define WAIT_MAILS 64

/* Partitions. */

void ms_bt_partitions_init(ms_bt_partitions *call, ms_mailbox *mailbox, ms_bt_done_fn done,
                           void *arg)
{
    memset(call, 0, sizeof(*call));
    msi_client_init_call(&call->call, mailbox, done, arg);
    ms_arena_init(&call->answer, 0);
}

void ms_bt_partitions_release(ms_bt_partitions *call)
{
    MS_ASSERT(!call->call.outstanding);
    ms_arena_release(&call->answer);
}

void ms_bt_client_partitions(ms_bt_client *client, ms_bt_partitions *call)
{
    ms_arena_reset(&call->answer);
    call->partitions = NULL;
    call->partition_count = 0;
    msi_client_submit(client, &call->call, MS_BT_CALL_PARTITIONS, 0, 0);
}

/* Reads. */

typedef enum page_state { PAGE_FREE, PAGE_FILLING, PAGE_READY, PAGE_HELD } page_state;

struct ms_bt_change_read {
    ms_bt_client *client;
    ms_arena arena; /* the copy of the options */
    ms_bt_change_options options;
    ms_bt_change_attempt attempt;
    ms_bt_change_page pages[PAGES];
    page_state states[PAGES];
    int oldest_ready; /* of two ready pages, the one filled first */
    bool is_filling;
    bool is_over;    /* no fill follows: at the end, or failed */
    bool is_waiting; /* the consumer polled and got PENDING */
    bool is_closing;
    void (*wake)(void *arg);
    void *wake_arg;
    void (*closed)(void *arg);
    void *closed_arg;
};

static ms_bt_transport *transport_of(const ms_bt_change_read *read)
{
    return read->client->transport;
}

static ms_bt_range copy_range(ms_arena *arena, const ms_bt_range *range)
{
    ms_bt_range copy = *range;
    copy.start.key = ms_arena_copy_str(arena, range->start.key);
    copy.end.key = ms_arena_copy_str(arena, range->end.key);
    return copy;
}

void msi_client_copy_change_options(ms_arena *arena, const ms_bt_change_options *options,
                                    ms_bt_change_options *own)
{
    *own = *options;
    own->table.project = ms_arena_copy_str(arena, options->table.project);
    own->table.instance = ms_arena_copy_str(arena, options->table.instance);
    own->table.table = ms_arena_copy_str(arena, options->table.table);
    own->app_profile = ms_arena_copy_str(arena, options->app_profile);
    own->partition = copy_range(arena, &options->partition);
    ms_bt_change_token *tokens = ms_arena_array(arena, ms_bt_change_token, options->token_count);
    for (size_t i = 0; i < options->token_count; i++) {
        tokens[i].partition = copy_range(arena, &options->tokens[i].partition);
        tokens[i].token = ms_arena_copy_str(arena, options->tokens[i].token);
    }
    own->tokens = tokens;
    own->heartbeat_ms =
        options->heartbeat_ms > 0 ? options->heartbeat_ms : MS_BT_HEARTBEAT_MS_DEFAULT;
    own->page_bytes_max =
        options->page_bytes_max != 0 ? options->page_bytes_max : DEFAULT_PAGE_BYTES;
}

/* The first page in this state, or -1. */
static int find_page(const ms_bt_change_read *read, page_state state)
{
    for (int i = 0; i < PAGES; i++) {
        if (read->states[i] == state) {
            return i;
        }
    }
    return -1;
}

/* Starts the next fill when there is a page to fill and something left to read. */
static void fill_next(ms_bt_change_read *read)
{
    int index = find_page(read, PAGE_FREE);
    if (index < 0 || read->is_filling || read->is_over) {
        return;
    }
    ms_bt_change_page_reset(&read->pages[index]);
    read->states[index] = PAGE_FILLING;
    read->is_filling = true;
    read->attempt.page = &read->pages[index];
    transport_of(read)->class->change_fill(transport_of(read), &read->attempt);
}

static void destroy_read(ms_bt_change_read *read)
{
    transport_of(read)->class->change_close(transport_of(read), &read->attempt);
    for (int i = 0; i < PAGES; i++) {
        ms_bt_change_page_release(&read->pages[i]);
    }
    msi_client_remove_open(read->client);
    ms_arena_release(&read->arena);
    ms_mem_free(read);
}

static void deliver_fill(ms_mail *mail)
{
    ms_bt_change_attempt *attempt = MS_MAIL_OWNER(mail, ms_bt_change_attempt, mail);
    ms_bt_change_read *read =
        (ms_bt_change_read *)(void *)((char *)attempt - offsetof(ms_bt_change_read, attempt));
    read->is_filling = false;
    if (read->is_closing) {
        void (*closed)(void *arg) = read->closed;
        void *arg = read->closed_arg;
        destroy_read(read);
        if (closed != NULL) {
            closed(arg);
        }
        return;
    }
    int index = find_page(read, PAGE_FILLING);
    bool has_failed = !ms_bt_status_is_ok(&attempt->status);
    read->is_over = has_failed || attempt->is_at_end;
    bool has_changes = !has_failed && read->pages[index].change_count > 0;
    int other_ready = find_page(read, PAGE_READY);
    read->states[index] = has_changes ? PAGE_READY : PAGE_FREE;
    read->oldest_ready = other_ready >= 0 ? other_ready : index;
    fill_next(read);
    if (read->is_waiting && (has_changes || read->is_over)) {
        read->is_waiting = false;
        read->wake(read->wake_arg);
    }
}

void ms_bt_change_attempt_finish(ms_bt_change_attempt *attempt)
{
    ms_mailbox_push(attempt->mailbox, &attempt->mail);
}

void ms_bt_change_attempt_finish_in(ms_bt_change_attempt *attempt, ms_outbox *outbox)
{
    ms_outbox_put(outbox, attempt->mailbox, &attempt->mail);
}

ms_bt_change_read *ms_bt_client_read_changes(ms_bt_client *client,
                                             const ms_bt_change_options *options,
                                             ms_mailbox *mailbox, void (*wake)(void *arg),
                                             void *arg)
{
    ms_bt_change_read *read = ms_mem_calloc(1, sizeof(*read));
    read->client = client;
    read->wake = wake;
    read->wake_arg = arg;
    ms_arena_init(&read->arena, 0);
    msi_client_copy_change_options(&read->arena, options, &read->options);
    for (int i = 0; i < PAGES; i++) {
        ms_bt_change_page_init(&read->pages[i]);
    }
    read->attempt.options = &read->options;
    read->attempt.mailbox = mailbox;
    read->attempt.mail.deliver = deliver_fill;
    msi_client_add_open(client);
    client->transport->class->change_open(client->transport, &read->attempt);
    fill_next(read);
    return read;
}

ms_bt_poll ms_bt_change_read_poll(ms_bt_change_read *read, const ms_bt_change_page **page_out)
{
    *page_out = NULL;
    MS_ASSERT(find_page(read, PAGE_HELD) < 0);
    if (find_page(read, PAGE_READY) >= 0) {
        int index = read->oldest_ready;
        read->states[index] = PAGE_HELD;
        read->oldest_ready = find_page(read, PAGE_READY);
        *page_out = &read->pages[index];
        return MS_BT_POLL_PAGE;
    }
    if (!read->is_over) {
        read->is_waiting = true;
        return MS_BT_POLL_PENDING;
    }
    return ms_bt_status_is_ok(&read->attempt.status) ? MS_BT_POLL_END : MS_BT_POLL_FAILED;
}

void ms_bt_change_read_return(ms_bt_change_read *read, const ms_bt_change_page *page)
{
    int index = find_page(read, PAGE_HELD);
    MS_ASSERT(index >= 0 && page == &read->pages[index]);
    read->states[index] = PAGE_FREE;
    fill_next(read);
}

const ms_bt_status *ms_bt_change_read_status(const ms_bt_change_read *read)
{
    return &read->attempt.status;
}

ms_bt_poll ms_bt_change_read_wait(ms_bt_change_read *read, ms_parker *parker,
                                  const ms_bt_change_page **page_out)
{
    for (;;) {
        ms_bt_poll poll = ms_bt_change_read_poll(read, page_out);
        if (poll != MS_BT_POLL_PENDING) {
            return poll;
        }
        if (ms_mailbox_deliver(read->attempt.mailbox, WAIT_MAILS) == 0) {
            ms_parker_park(parker, MS_PARK_FOREVER);
        }
    }
}

bool ms_bt_change_read_close(ms_bt_change_read *read, void (*closed)(void *arg), void *arg)
{
    if (read->is_filling) {
        read->is_closing = true;
        read->closed = closed;
        read->closed_arg = arg;
        transport_of(read)->class->change_cancel(transport_of(read), &read->attempt);
        return false;
    }
    destroy_read(read);
    return true;
}
