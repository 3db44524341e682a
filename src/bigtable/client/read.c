/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A read of rows, whose pages go around as pages_priv.h says.
 *
 * A read that is closed leaves its memory to the next one that the client opens. Pages are filled
 * on other threads than they are let go on, which an allocator pays for dearly: a read of one row
 * spends less time in the store than it would there.
 */
#include "base/memory.h"
#include "bigtable/client/client_priv.h"
#include "bigtable/client/pages_priv.h"

#define DEFAULT_PAGE_ROWS 1000u
#define DEFAULT_PAGE_BYTES ((size_t)1 << 20)
#define WAIT_MAILS 64
/* What is kept of reads that are closed: as many as are likely to be open at a time, each with what
 * small reads need. */
#define SPARE_READS_MAX 64u
#define SPARE_PAGE_BYTES ((size_t)8 << 10)
#define SPARE_ARENA_BYTES ((size_t)16 << 10)

struct ms_bt_read {
    ms_spare spare; /* first */
    ms_bt_client *client;
    ms_arena arena; /* the copy of the options */
    ms_bt_page pages[MSI_PAGES];
    /* Zero in a spare one, from here on. */
    ms_bt_read_options options;
    ms_bt_attempt attempt;
    msi_pages flow;
    ms_bt_read_stats stats; /* as of the last fill that is over */
    uint32_t incarnation;   /* likewise */
};

_Static_assert(offsetof(ms_bt_read, client) < offsetof(ms_bt_read, options) &&
                   offsetof(ms_bt_read, arena) < offsetof(ms_bt_read, options) &&
                   offsetof(ms_bt_read, pages) < offsetof(ms_bt_read, options),
               "a spare read keeps what comes before the options");

static ms_bt_transport *transport_of(const ms_bt_read *read)
{
    return read->client->transport;
}

void msi_client_copy_read_options(ms_arena *arena, const ms_bt_read_options *options,
                                  ms_bt_read_options *own)
{
    *own = *options;
    own->table.project = ms_arena_copy_str(arena, options->table.project);
    own->table.instance = ms_arena_copy_str(arena, options->table.instance);
    own->table.table = ms_arena_copy_str(arena, options->table.table);
    own->app_profile = ms_arena_copy_str(arena, options->app_profile);
    own->filter = ms_bt_filter_copy(arena, options->filter);
    ms_str *keys = ms_arena_array(arena, ms_str, options->rows.key_count);
    for (size_t i = 0; i < options->rows.key_count; i++) {
        keys[i] = ms_arena_copy_str(arena, options->rows.keys[i]);
    }
    own->rows.keys = keys;
    ms_bt_range *ranges = ms_arena_array(arena, ms_bt_range, options->rows.range_count);
    for (size_t i = 0; i < options->rows.range_count; i++) {
        ranges[i] = options->rows.ranges[i];
        ranges[i].start.key = ms_arena_copy_str(arena, ranges[i].start.key);
        ranges[i].end.key = ms_arena_copy_str(arena, ranges[i].end.key);
    }
    own->rows.ranges = ranges;
    own->page_rows_max = options->page_rows_max != 0 ? options->page_rows_max : DEFAULT_PAGE_ROWS;
    own->page_bytes_max =
        options->page_bytes_max != 0 ? options->page_bytes_max : DEFAULT_PAGE_BYTES;
}

static void fill_page(msi_pages *flow, int index)
{
    ms_bt_read *read = (ms_bt_read *)(void *)((char *)flow - offsetof(ms_bt_read, flow));
    ms_bt_page_reset(&read->pages[index], read->options.page_bytes_max);
    read->attempt.page = &read->pages[index];
    transport_of(read)->class->read_fill(transport_of(read), &read->attempt);
}

/* Life. */

static ms_bt_read *create_read(ms_bt_client *client)
{
    ms_bt_read *read = ms_mem_calloc(1, sizeof(*read));
    read->client = client;
    ms_arena_init(&read->arena, 0);
    for (int i = 0; i < MSI_PAGES; i++) {
        ms_bt_page_init(&read->pages[i]);
    }
    return read;
}

static void free_read(ms_spare *spare)
{
    ms_bt_read *read = (ms_bt_read *)(void *)spare;
    for (int i = 0; i < MSI_PAGES; i++) {
        ms_bt_page_release(&read->pages[i]);
    }
    ms_arena_release(&read->arena);
    ms_mem_free(read);
}

void msi_client_init_reads(ms_bt_client *client)
{
    ms_spares_init(&client->reads, SPARE_READS_MAX, sizeof(ms_bt_read));
}

void msi_client_free_reads(ms_bt_client *client)
{
    ms_spares_release(&client->reads, free_read);
}

/* A read, counted as open. */
static ms_bt_read *open_read(ms_bt_client *client)
{
    msi_client_add_open(client);
    ms_spare *spare = ms_spares_take(&client->reads);
    return spare != NULL ? (ms_bt_read *)(void *)spare : create_read(client);
}

static void clear_page(ms_bt_page *page)
{
    ms_bt_page_reset(page, SPARE_PAGE_BYTES);
    page->families = NULL;
    page->family_count = 0;
    page->labels = NULL;
    page->label_count = 0;
}

/* Leaves of a read that is over what the next one uses. */
static void clear_read(ms_bt_read *read)
{
    ms_arena_trim(&read->arena, SPARE_ARENA_BYTES);
    for (int i = 0; i < MSI_PAGES; i++) {
        clear_page(&read->pages[i]);
    }
    memset(&read->options, 0, sizeof(*read) - offsetof(ms_bt_read, options));
}

static void destroy_read(ms_bt_read *read)
{
    ms_bt_client *client = read->client;
    transport_of(read)->class->read_close(transport_of(read), &read->attempt);
    clear_read(read);
    if (!ms_spares_give(&client->reads, &read->spare)) {
        free_read(&read->spare);
    }
    msi_client_remove_open(client);
}

static void deliver_fill(ms_mail *mail)
{
    ms_bt_attempt *attempt = MS_MAIL_OWNER(mail, ms_bt_attempt, mail);
    ms_bt_read *read = (ms_bt_read *)(void *)((char *)attempt - offsetof(ms_bt_read, attempt));
    int index = msi_pages_filled(&read->flow);
    if (index < 0) {
        msi_pages flow = read->flow;
        destroy_read(read);
        msi_pages_tell_closed(&flow);
        return;
    }
    read->stats = attempt->stats;
    read->incarnation = attempt->incarnation;
    const ms_bt_page *page = &read->pages[index];
    bool has_failed = !ms_bt_status_is_ok(&attempt->status);
    bool has_rows = !has_failed && (page->row_count > 0 || ms_bt_page_scanned(page).bytes > 0);
    msi_pages_put(&read->flow, index, has_rows, has_failed || attempt->is_at_end);
}

void ms_bt_attempt_finish(ms_bt_attempt *attempt)
{
    ms_mailbox_push(attempt->mailbox, &attempt->mail);
}

void ms_bt_attempt_finish_in(ms_bt_attempt *attempt, ms_outbox *outbox)
{
    ms_outbox_put(outbox, attempt->mailbox, &attempt->mail);
}

ms_bt_read *ms_bt_client_read_rows(ms_bt_client *client, const ms_bt_read_options *options,
                                   ms_mailbox *mailbox, void (*wake)(void *arg), void *arg)
{
    ms_bt_read *read = open_read(client);
    msi_pages_init(&read->flow, fill_page, wake, arg);
    msi_client_copy_read_options(&read->arena, options, &read->options);
    read->attempt.options = &read->options;
    read->attempt.mailbox = mailbox;
    read->attempt.mail.deliver = deliver_fill;
    client->transport->class->read_open(client->transport, &read->attempt);
    msi_pages_start(&read->flow);
    return read;
}

ms_bt_poll ms_bt_read_poll(ms_bt_read *read, const ms_bt_page **page_out)
{
    int index = -1;
    ms_bt_poll poll = msi_pages_take(&read->flow, &read->attempt.status, &index);
    *page_out = index >= 0 ? &read->pages[index] : NULL;
    return poll;
}

void ms_bt_read_return(ms_bt_read *read, const ms_bt_page *page)
{
    msi_pages_return(&read->flow, page - read->pages);
}

const ms_bt_status *ms_bt_read_status(const ms_bt_read *read)
{
    return &read->attempt.status;
}

ms_str ms_bt_read_large_row(const ms_bt_read *read)
{
    return read->attempt.large_row;
}

uint32_t ms_bt_read_incarnation(const ms_bt_read *read)
{
    return read->incarnation;
}

ms_bt_read_stats ms_bt_read_get_stats(const ms_bt_read *read)
{
    return read->stats;
}

ms_bt_poll ms_bt_read_wait(ms_bt_read *read, ms_parker *parker, const ms_bt_page **page_out)
{
    for (;;) {
        ms_bt_poll poll = ms_bt_read_poll(read, page_out);
        if (poll != MS_BT_POLL_PENDING) {
            return poll;
        }
        if (ms_mailbox_deliver(read->attempt.mailbox, WAIT_MAILS) == 0) {
            ms_parker_park(parker, MS_PARK_FOREVER);
        }
    }
}

bool ms_bt_read_close(ms_bt_read *read, void (*closed)(void *arg), void *arg)
{
    if (!msi_pages_close(&read->flow, closed, arg)) {
        transport_of(read)->class->read_cancel(transport_of(read), &read->attempt);
        return false;
    }
    destroy_read(read);
    return true;
}
