/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A read: two pages that go around between the transport, which fills one at a time, and the
 * consumer, which holds one at a time.
 *
 *     free -> filling -> ready -> held -> free
 *
 * All states change on the consumer's thread: a fill that is over arrives as a mail. So there is
 * no lock, and the transport is idle whenever the consumer is slow: both pages are then ready or
 * held, and nothing in the store is pinned.
 *
 * A read that is closed leaves its memory to the next one that the client opens. Pages are filled
 * on other threads than they are let go on, which an allocator pays for dearly: a read of one row
 * spends less time in the store than it would there.
 */
#include "base/memory.h"
#include "bigtable/client/client_priv.h"

#define DEFAULT_PAGE_ROWS 1000u
#define DEFAULT_PAGE_BYTES ((size_t)1 << 20)
#define PAGES 2
#define WAIT_MAILS 64
/* What is kept of reads that are closed: as many as are likely to be open at a time, each with what
 * small reads need. */
#define SPARE_READS_MAX 64u
#define SPARE_PAGE_BYTES ((size_t)8 << 10)
#define SPARE_ARENA_BYTES ((size_t)16 << 10)

typedef enum page_state { PAGE_FREE, PAGE_FILLING, PAGE_READY, PAGE_HELD } page_state;

struct ms_bt_read {
    ms_spare spare; /* first */
    ms_bt_client *client;
    ms_arena arena; /* the copy of the options */
    ms_bt_page pages[PAGES];
    /* Zero in a spare one, from here on. */
    ms_bt_read_options options;
    ms_bt_attempt attempt;
    page_state states[PAGES];
    int oldest_ready;       /* of two ready pages, the one filled first */
    ms_bt_read_stats stats; /* as of the last fill that is over, as the next */
    uint32_t incarnation;
    bool is_filling;
    bool is_over;    /* no fill follows: at the end, or failed */
    bool is_waiting; /* the consumer saw PENDING */
    bool is_closing;
    void (*wake)(void *arg);
    void *wake_arg;
    void (*closed)(void *arg);
    void *closed_arg;
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

/* The first page in this state, or -1. */
static int find_page(const ms_bt_read *read, page_state state)
{
    for (int i = 0; i < PAGES; i++) {
        if (read->states[i] == state) {
            return i;
        }
    }
    return -1;
}

static void fill_page(ms_bt_read *read, int index)
{
    ms_bt_page *page = &read->pages[index];
    ms_bt_page_reset(page, read->options.page_bytes_max);
    read->states[index] = PAGE_FILLING;
    read->is_filling = true;
    read->attempt.page = page;
    transport_of(read)->class->read_fill(transport_of(read), &read->attempt);
}

/* Starts the next fill when there is a page to fill and something left to read. */
static void fill_next(ms_bt_read *read)
{
    int index = find_page(read, PAGE_FREE);
    if (index >= 0 && !read->is_filling && !read->is_over) {
        fill_page(read, index);
    }
}

/* Life. */

static ms_bt_read *create_read(ms_bt_client *client)
{
    ms_bt_read *read = ms_mem_calloc(1, sizeof(*read));
    read->client = client;
    ms_arena_init(&read->arena, 0);
    for (int i = 0; i < PAGES; i++) {
        ms_bt_page_init(&read->pages[i]);
    }
    return read;
}

static void free_read(ms_spare *spare)
{
    ms_bt_read *read = (ms_bt_read *)(void *)spare;
    for (int i = 0; i < PAGES; i++) {
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
    for (int i = 0; i < PAGES; i++) {
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
    read->stats = attempt->stats;
    read->incarnation = attempt->incarnation;
    int index = find_page(read, PAGE_FILLING);
    bool has_failed = !ms_bt_status_is_ok(&attempt->status);
    read->is_over = has_failed || attempt->is_at_end;
    bool has_rows = !has_failed && (read->pages[index].row_count > 0 ||
                                    ms_bt_page_scanned(&read->pages[index]).bytes > 0);
    int other_ready = find_page(read, PAGE_READY);
    read->states[index] = has_rows ? PAGE_READY : PAGE_FREE;
    read->oldest_ready = other_ready >= 0 ? other_ready : index;
    fill_next(read);
    if (read->is_waiting && (has_rows || read->is_over)) {
        read->is_waiting = false;
        read->wake(read->wake_arg);
    }
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
    read->wake = wake;
    read->wake_arg = arg;
    msi_client_copy_read_options(&read->arena, options, &read->options);
    read->attempt.options = &read->options;
    read->attempt.mailbox = mailbox;
    read->attempt.mail.deliver = deliver_fill;
    client->transport->class->read_open(client->transport, &read->attempt);
    fill_next(read);
    return read;
}

ms_bt_poll ms_bt_read_poll(ms_bt_read *read, const ms_bt_page **page_out)
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

void ms_bt_read_return(ms_bt_read *read, const ms_bt_page *page)
{
    int index = find_page(read, PAGE_HELD);
    MS_ASSERT(index >= 0 && page == &read->pages[index]);
    read->states[index] = PAGE_FREE;
    fill_next(read);
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
    if (read->is_filling) {
        read->is_closing = true;
        read->closed = closed;
        read->closed_arg = arg;
        transport_of(read)->class->read_cancel(transport_of(read), &read->attempt);
        return false;
    }
    destroy_read(read);
    return true;
}
