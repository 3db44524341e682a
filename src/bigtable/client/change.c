/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions of change streams, and reads of changes, whose pages go around as pages_priv.h says.
 */
/* tidy: no-unit-test: the tests of the store make these calls, in process and over gRPC */
#include "bigtable/client/change.h"

#include "base/memory.h"
#include "bigtable/client/client_priv.h"
#include "bigtable/client/pages_priv.h"

#define DEFAULT_PAGE_BYTES ((size_t)1 << 20)
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

struct ms_bt_change_read {
    ms_bt_client *client;
    ms_arena arena; /* the copy of the options */
    ms_bt_change_options options;
    ms_bt_change_attempt attempt;
    ms_bt_change_page pages[MSI_PAGES];
    msi_pages flow;
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

static void fill_page(msi_pages *flow, int index)
{
    ms_bt_change_read *read =
        (ms_bt_change_read *)(void *)((char *)flow - offsetof(ms_bt_change_read, flow));
    ms_bt_change_page_reset(&read->pages[index]);
    read->attempt.page = &read->pages[index];
    transport_of(read)->class->change_fill(transport_of(read), &read->attempt);
}

static void destroy_read(ms_bt_change_read *read)
{
    transport_of(read)->class->change_close(transport_of(read), &read->attempt);
    for (int i = 0; i < MSI_PAGES; i++) {
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
    int index = msi_pages_filled(&read->flow);
    if (index < 0) {
        msi_pages flow = read->flow;
        destroy_read(read);
        msi_pages_tell_closed(&flow);
        return;
    }
    bool has_failed = !ms_bt_status_is_ok(&attempt->status);
    bool has_changes = !has_failed && read->pages[index].change_count > 0;
    msi_pages_put(&read->flow, index, has_changes, has_failed || attempt->is_at_end);
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
    msi_pages_init(&read->flow, fill_page, wake, arg);
    ms_arena_init(&read->arena, 0);
    msi_client_copy_change_options(&read->arena, options, &read->options);
    for (int i = 0; i < MSI_PAGES; i++) {
        ms_bt_change_page_init(&read->pages[i]);
    }
    read->attempt.options = &read->options;
    read->attempt.mailbox = mailbox;
    read->attempt.mail.deliver = deliver_fill;
    msi_client_add_open(client);
    client->transport->class->change_open(client->transport, &read->attempt);
    msi_pages_start(&read->flow);
    return read;
}

ms_bt_poll ms_bt_change_read_poll(ms_bt_change_read *read, const ms_bt_change_page **page_out)
{
    int index = -1;
    ms_bt_poll poll = msi_pages_take(&read->flow, &read->attempt.status, &index);
    *page_out = index >= 0 ? &read->pages[index] : NULL;
    return poll;
}

void ms_bt_change_read_return(ms_bt_change_read *read, const ms_bt_change_page *page)
{
    msi_pages_return(&read->flow, page - read->pages);
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
    if (!msi_pages_close(&read->flow, closed, arg)) {
        transport_of(read)->class->change_cancel(transport_of(read), &read->attempt);
        return false;
    }
    destroy_read(read);
    return true;
}
