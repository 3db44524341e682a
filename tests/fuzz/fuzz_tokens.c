/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of reading changes from anywhere: tokens, partitions and times of a stranger's, on a
 * store whose table was split and merged. The input chooses texts of tokens, from raw bytes to
 * those of places that exist, and ranges; what the store takes must be changes of rows of the
 * partition, in order, and what it does not, refused in so many words. A text that is a token
 * prints as itself or as one that reads alike.
 */
#include "base/env.h"
#include "bigtable/client/admin.h"
#include "bigtable/client/change.h"
#include "bigtable/store/change_log.h"
#include "bigtable/store/store.h"
#include "os/file.h"
#include "os/iopool.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define START_MICROS (INT64_C(1700000000) * 1000000)
#define DAY_MICROS (INT64_C(86400) * 1000000)
#define TOKENS_MAX 4u
#define TEXT_BYTES 64u

static ms_env_clock clock_of_test = {.wall_us = START_MICROS, .mono_ns = 1000000000};
static char path[] = "/tmp/fuzz-tokens-XXXXXX";
static ms_iopool *pool; /* stepped: all is one thread */
static ms_bt_store *store;
static ms_bt_client *client;
static ms_parker parker;
static ms_mailbox mailbox;
static ms_status st;
static const ms_bt_table_name table = {{"p", 1}, {"i", 1}, {"t", 1}};

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Runs what is queued and delivers what came; false: nothing was there to do. */
static bool turn(void)
{
    bool any = ms_iopool_step(pool);
    return ms_mailbox_deliver(&mailbox, 64) > 0 || any;
}

/* The store, made once. */

static void done_nothing(ms_bt_call *call, void *arg)
{
    (void)call;
    (void)arg;
}

static void wake_nothing(void *arg)
{
    (void)arg;
}

static void wait_call(ms_bt_call *call)
{
    while (ms_bt_call_is_outstanding(call)) {
        demand(turn());
    }
    demand(ms_bt_status_is_ok(&call->status));
}

static void create_table(void)
{
    ms_bt_family family = {.name = ms_str_lit("f")};
    ms_str split = ms_str_lit("m");
    ms_bt_table of = {.name = table,
                      .families = &family,
                      .family_count = 1,
                      .splits = &split,
                      .split_count = 1,
                      .change_retention_micros = DAY_MICROS};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &mailbox, done_nothing, NULL);
    call.table = &of;
    ms_bt_client_create_table(client, &call);
    wait_call(&call.call);
    ms_bt_table_call_release(&call);
}

static void change_tablets(const char *key, void (*submit)(ms_bt_client *, ms_bt_table_call *))
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &mailbox, done_nothing, NULL);
    call.name = table;
    call.key = ms_str_cstr(key);
    submit(client, &call);
    wait_call(&call.call);
    ms_bt_table_call_release(&call);
}

static void put_rows(void)
{
    static const char *const keys[] = {"a", "c", "m", "t", "z"};
    ms_bt_mutate_rows call;
    ms_bt_mutation_batch batch;
    uint16_t family = 0;
    ms_bt_mutate_rows_init(&call, &mailbox, done_nothing, NULL);
    ms_bt_mutation_batch_init(&batch, 1u << 16);
    demand(ms_bt_mutation_batch_family(&batch, ms_str_lit("f"), &family, &st) == MS_OK);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        demand(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(keys[i]), &st) == MS_OK);
        demand(ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("q"), 1000, ms_str_lit("v"),
                                             &st) == MS_OK);
        ms_bt_mutation_batch_end_row(&batch);
    }
    call.table = &table;
    call.batch = &batch;
    ms_bt_client_mutate_rows(client, &call);
    wait_call(&call.call);
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
}

static void remove_store(void)
{
    ms_bt_client_destroy(client);
    (void)ms_bt_store_close(store, &st);
    ms_iopool_destroy(pool);
    (void)ms_dir_remove(path, &st);
}

static void make_store(void)
{
    ms_env_set_clock(&clock_of_test);
    demand(mkdtemp(path) != NULL);
    demand(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &pool, &st) == MS_OK);
    ms_parker_init(&parker);
    ms_mailbox_init(&mailbox, &parker);
    ms_bt_store_options options = {
        .path = path, .pool = pool, .create = true, .has_no_thread = true};
    demand(ms_bt_store_open(&options, &store, &st) == MS_OK);
    client = ms_bt_client_create(ms_bt_store_transport(store), NULL);
    atexit(remove_store);
    create_table();
    put_rows();
    change_tablets("m", ms_bt_client_merge_tablets);
    put_rows();
    change_tablets("c", ms_bt_client_split_tablet);
    change_tablets("m", ms_bt_client_split_tablet);
    put_rows();
}

/* Choices. */

typedef struct choices {
    const uint8_t *at;
    size_t left;
} choices;

static unsigned pick(choices *c, unsigned bound)
{
    if (c->left == 0) {
        return 0;
    }
    c->left--;
    return *c->at++ % bound;
}

static ms_bt_range pick_range(choices *c)
{
    static const char *const keys[] = {"", "a", "c", "d", "m", "t"};
    static const ms_bt_bound_kind kinds[] = {MS_BT_BOUND_CLOSED, MS_BT_BOUND_CLOSED,
                                             MS_BT_BOUND_OPEN};
    ms_str start = ms_str_cstr(keys[pick(c, 6)]);
    ms_str end = ms_str_cstr(keys[pick(c, 6)]);
    ms_bt_range range = ms_bt_range_make(start, end);
    /* Now and then one that is no partition's. */
    if (pick(c, 8) == 7 && start.bytes > 0) {
        range.start = ms_bt_bound_make(kinds[pick(c, 3)], start);
    }
    return range;
}

/* Raw bytes, or four or more numbers that are near those of real tokens. */
static ms_str pick_token(choices *c, char text[TEXT_BYTES])
{
    if (pick(c, 4) == 0) {
        size_t bytes = pick(c, TEXT_BYTES);
        bytes = bytes < c->left ? bytes : c->left;
        memcpy(text, c->at, bytes);
        c->at += bytes;
        c->left -= bytes;
        return ms_str_make(text, bytes);
    }
    static const long long bases[] = {0, START_MICROS, START_MICROS - DAY_MICROS, INT64_MAX - 255};
    unsigned table_id = pick(c, 3);
    unsigned tablet = pick(c, 9);
    long long micros = bases[pick(c, 4)] + pick(c, 255);
    unsigned sequence = pick(c, 2) == 0 ? pick(c, 8) : UINT32_MAX;
    int bytes = snprintf(text, TEXT_BYTES, "ms1.%u.%u.%lld.%u", table_id, tablet, micros, sequence);
    return ms_str_make(text, (size_t)bytes);
}

static void check_token(ms_str text)
{
    msi_token token;
    msi_token again;
    char printed[MSI_TOKEN_BYTES];
    if (!msi_token_parse(text, &token)) {
        return;
    }
    size_t bytes = msi_token_print(&token, printed);
    demand(bytes <= text.bytes && msi_token_parse(ms_str_make(printed, bytes), &again));
    demand(again.table == token.table && again.position.tablet == token.position.tablet &&
           again.position.micros == token.position.micros &&
           again.position.sequence == token.position.sequence);
}

/* Reading. */

static void check_page(const ms_bt_change_page *page, const ms_bt_range *partition)
{
    int64_t last_micros = 0;
    for (uint32_t i = 0; i < page->change_count; i++) {
        const ms_bt_change *change = &page->changes[i];
        if (change->kind == MS_BT_CHANGE_DATA) {
            demand(ms_bt_range_contains(partition, change->row_key));
            demand(change->commit_micros >= last_micros);
            last_micros = change->commit_micros;
        }
        if (change->kind != MS_BT_CHANGE_CLOSE) {
            msi_token token;
            demand(msi_token_parse(change->token, &token));
        }
        for (uint32_t j = 0; j < change->token_count; j++) {
            msi_token token;
            demand(msi_token_parse(change->tokens[j].token, &token));
        }
    }
}

static void note_closed(void *arg)
{
    *(bool *)arg = true;
}

/* Reads until the stream ends, fails or waits. */
static void read_changes(const ms_bt_change_options *options)
{
    ms_bt_change_read *read =
        ms_bt_client_read_changes(client, options, &mailbox, wake_nothing, NULL);
    ms_bt_poll poll = MS_BT_POLL_PENDING;
    const ms_bt_change_page *page = NULL;
    bool works = true;
    while (works) {
        poll = ms_bt_change_read_poll(read, &page);
        if (poll == MS_BT_POLL_PAGE) {
            check_page(page, &options->partition);
            ms_bt_change_read_return(read, page);
        } else {
            works = poll == MS_BT_POLL_PENDING && turn();
        }
    }
    if (poll == MS_BT_POLL_FAILED) {
        ms_bt_code code = ms_bt_change_read_status(read)->code;
        demand(code == MS_BT_INVALID_ARGUMENT || code == MS_BT_OUT_OF_RANGE);
    }
    bool is_closed = false;
    if (!ms_bt_change_read_close(read, note_closed, &is_closed)) {
        while (!is_closed) {
            demand(turn());
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (store == NULL) {
        make_store();
    }
    choices c = {data, bytes};
    char texts[TOKENS_MAX][TEXT_BYTES];
    ms_bt_change_token tokens[TOKENS_MAX];
    check_token(ms_str_make((const char *)data, bytes));
    ms_bt_change_options options = {.table = table,
                                    .partition = pick_range(&c),
                                    .tokens = tokens,
                                    .token_count = pick(&c, TOKENS_MAX + 1),
                                    .page_bytes_max = 1 + pick(&c, 255)};
    bool is_one = options.token_count == 1 && pick(&c, 4) != 0;
    for (size_t i = 0; i < options.token_count; i++) {
        tokens[i].partition = is_one ? options.partition : pick_range(&c);
        tokens[i].token = pick_token(&c, texts[i]);
        check_token(tokens[i].token);
    }
    if (options.token_count == 0) {
        options.start_micros = START_MICROS - 100 + pick(&c, 200);
    }
    if (pick(&c, 3) == 0) {
        options.end_micros = START_MICROS - 100 + pick(&c, 200);
    }
    read_changes(&options);
    return 0;
}
