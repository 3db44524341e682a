/* SPDX-License-Identifier: Apache-2.0 */
/* Following a change stream; see the header. The file of tokens has one line a thing, in hex. */
/* tidy: no-unit-test: a part of the crash tests, which fail when it does */
#include "store_follow.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINE_BYTES 4096
#define HEX_BYTES 1024
#define IDLE_NS INT64_C(1000000)
#define HEARTBEAT_MS 50

static void fail(const char *what, const char *text)
{
    fprintf(stderr, "following changes: %s: %s\n", what, text);
    exit(1);
}

void follow_init(follow *f, ms_bt_client *client, ms_mailbox *mailbox,
                 const ms_bt_table_name *table, follow_fn on_change, void *arg)
{
    *f = (follow){
        .client = client, .mailbox = mailbox, .table = table, .on_change = on_change, .arg = arg};
    ms_arena_init(&f->arena, 0);
}

static ms_bt_range copy_range(follow *f, const ms_bt_range *range)
{
    return ms_bt_range_make(ms_arena_copy_str(&f->arena, range->start.key),
                            ms_arena_copy_str(&f->arena, range->end.key));
}

static follow_partition *add_partition(follow *f, const ms_bt_range *range)
{
    if (f->count == f->capacity) {
        f->capacity = f->capacity == 0 ? 16 : 2 * f->capacity;
        f->list = ms_mem_realloc(f->list, f->capacity * sizeof(*f->list));
    }
    f->list[f->count] = (follow_partition){.range = copy_range(f, range)};
    return &f->list[f->count++];
}

static void add_token(follow *f, follow_partition *at, const ms_bt_change_token *token)
{
    ms_bt_change_token *tokens = ms_arena_array(&f->arena, ms_bt_change_token, at->token_count + 1);
    for (size_t i = 0; i < at->token_count; i++) {
        tokens[i] = at->tokens[i];
    }
    tokens[at->token_count++] =
        (ms_bt_change_token){.partition = copy_range(f, &token->partition),
                             .token = ms_arena_copy_str(&f->arena, token->token)};
    at->tokens = tokens;
}

/* Reading. */

static void wake(void *arg)
{
    (void)arg;
}

/* Do the tokens tile the partition? Without any, it begins at a time. */
static bool is_ready(const follow_partition *at)
{
    ms_str end = at->range.start.key;
    size_t taken = 0;
    for (bool any = true; any && taken < at->token_count;) {
        any = false;
        for (size_t i = 0; i < at->token_count && !any; i++) {
            if (ms_str_equals(at->tokens[i].partition.start.key, end)) {
                end = at->tokens[i].partition.end.key;
                taken++;
                any = true;
            }
        }
    }
    return taken == at->token_count && (taken == 0 || ms_str_equals(end, at->range.end.key));
}

static void open_partition(follow *f, follow_partition *at)
{
    ms_bt_change_options options = {.table = *f->table,
                                    .partition = at->range,
                                    .tokens = at->tokens,
                                    .token_count = at->token_count,
                                    .start_micros = f->start_micros,
                                    .end_micros = f->end_micros,
                                    .heartbeat_ms = HEARTBEAT_MS};
    at->has_ended = false;
    at->read = ms_bt_client_read_changes(f->client, &options, f->mailbox, wake, NULL);
}

void follow_open(follow *f, int64_t end_micros)
{
    f->end_micros = end_micros;
    for (size_t i = 0; i < f->count; i++) {
        if (is_ready(&f->list[i])) {
            open_partition(f, &f->list[i]);
        }
    }
}

static follow_partition *find_waiting(follow *f, const ms_bt_range *range)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i].read == NULL && !f->list[i].has_ended &&
            ms_bt_range_equals(&f->list[i].range, range)) {
            return &f->list[i];
        }
    }
    return add_partition(f, range);
}

/* The partition was split or merged: its tokens go to those that took its place. */
static void follow_close(follow *f, const ms_bt_change *change)
{
    for (uint32_t i = 0; i < change->token_count; i++) {
        follow_partition *next = find_waiting(f, &change->new_partitions[i]);
        add_token(f, next, &change->tokens[i]);
        if (is_ready(next)) {
            open_partition(f, next);
        }
    }
}

static void keep_token(follow *f, follow_partition *at, ms_str text)
{
    ms_bt_change_token token = {at->range, text};
    at->token_count = 0;
    add_token(f, at, &token);
}

/* Takes a page of the index-th partition, which may be another one then. */
static void take_page(follow *f, size_t index, const ms_bt_change_page *page)
{
    ms_bt_change_read *read = f->list[index].read;
    for (uint32_t i = 0; i < page->change_count; i++) {
        const ms_bt_change *change = &page->changes[i];
        if (change->kind == MS_BT_CHANGE_DATA) {
            f->on_change(f->arg, change);
        }
        if (change->kind != MS_BT_CHANGE_CLOSE) {
            keep_token(f, &f->list[index], change->token);
            continue;
        }
        f->list[index].read = NULL;
        f->list[index].has_ended = change->token_count == 0;
        if (change->token_count > 0) {
            f->closed++;
            f->list[index] = f->list[--f->count];
            follow_close(f, change);
        }
        ms_bt_change_read_return(read, page);
        if (!ms_bt_change_read_close(read, NULL, NULL)) {
            fail("a stream", "does not end with its close");
        }
        return;
    }
    ms_bt_change_read_return(read, page);
}

bool follow_some(follow *f)
{
    bool any = ms_mailbox_deliver(f->mailbox, 64) > 0;
    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i].read == NULL) {
            continue;
        }
        const ms_bt_change_page *page = NULL;
        ms_bt_poll poll = ms_bt_change_read_poll(f->list[i].read, &page);
        if (poll == MS_BT_POLL_PAGE) {
            take_page(f, i, page);
            any = true;
        } else if (poll != MS_BT_POLL_PENDING) {
            fail("a stream", ms_bt_change_read_status(f->list[i].read)->text);
        }
    }
    return any;
}

static bool is_over(const follow *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i].read != NULL) {
            return false;
        }
    }
    return true;
}

void follow_until(follow *f, int64_t end_micros, ms_parker *parker)
{
    follow_open(f, end_micros);
    while (!is_over(f)) {
        if (!follow_some(f)) {
            ms_parker_park(parker, IDLE_NS);
        }
    }
    for (size_t i = 0; i < f->count; i++) {
        if (!f->list[i].has_ended) {
            fail("a partition", "waits for a part that nobody reads");
        }
    }
}

static void closed(void *arg)
{
    *(bool *)arg = true;
}

void follow_release(follow *f, ms_parker *parker)
{
    for (size_t i = 0; i < f->count; i++) {
        bool is_closed =
            f->list[i].read == NULL || ms_bt_change_read_close(f->list[i].read, closed, &is_closed);
        while (!is_closed) {
            if (ms_mailbox_deliver(f->mailbox, 64) == 0) {
                ms_parker_park(parker, IDLE_NS);
            }
        }
    }
    ms_mem_free(f->list);
    ms_arena_release(&f->arena);
}

static void done(ms_bt_call *call, void *arg)
{
    (void)call;
    (void)arg;
}

bool follow_partitions(follow *f, int64_t start_micros, ms_parker *parker)
{
    ms_bt_partitions call;
    ms_bt_partitions_init(&call, f->mailbox, done, NULL);
    call.table = f->table;
    ms_bt_client_partitions(f->client, &call);
    ms_bt_call_wait(&call.call, parker);
    bool is_found = call.call.status.code != MS_BT_NOT_FOUND;
    if (is_found && !ms_bt_status_is_ok(&call.call.status)) {
        fail("the partitions", call.call.status.text);
    }
    f->start_micros = start_micros;
    for (size_t i = 0; i < call.partition_count; i++) {
        (void)add_partition(f, &call.partitions[i]);
    }
    ms_bt_partitions_release(&call);
    return is_found;
}

/* The file. */

/* Two hex digits a byte, and "-" for nothing. */
static const char *to_hex(ms_str text, char to[HEX_BYTES])
{
    size_t at = 0;
    to[at++] = '-';
    for (size_t i = 0; i < text.bytes && at + 3 < HEX_BYTES; i++) {
        at += (size_t)snprintf(to + at, 3, "%02x", (unsigned)(unsigned char)text.ptr[i]);
    }
    to[at] = '\0';
    return to;
}

static ms_str from_hex(follow *f, const char *text)
{
    size_t bytes = (strlen(text) - 1) / 2;
    char *to = ms_arena_alloc(&f->arena, bytes + 1, 1);
    for (size_t i = 0; i < bytes; i++) {
        char digits[3] = {text[1 + 2 * i], text[2 + 2 * i], '\0'};
        to[i] = (char)strtoul(digits, NULL, 16);
    }
    return ms_str_make(to, bytes);
}

void follow_save(const follow *f, const char *path)
{
    char fresh[LINE_BYTES];
    char hex[2][HEX_BYTES];
    snprintf(fresh, sizeof(fresh), "%s.new", path);
    FILE *file = fopen(fresh, "w");
    if (file == NULL) {
        fail("cannot write", fresh);
    }
    fprintf(file, "start %" PRId64 "\n", f->start_micros);
    for (size_t i = 0; i < f->count; i++) {
        const follow_partition *at = &f->list[i];
        fprintf(file, "partition %s %s\n", to_hex(at->range.start.key, hex[0]),
                to_hex(at->range.end.key, hex[1]));
        for (size_t j = 0; j < at->token_count; j++) {
            fprintf(file, "token %s %s %.*s\n", to_hex(at->tokens[j].partition.start.key, hex[0]),
                    to_hex(at->tokens[j].partition.end.key, hex[1]),
                    MS_STR_ARG(at->tokens[j].token));
        }
    }
    if (fclose(file) != 0 || rename(fresh, path) != 0) {
        fail("cannot write", path);
    }
}

static void load_line(follow *f, const char *line)
{
    char start[HEX_BYTES];
    char end[HEX_BYTES];
    char text[256];
    if (sscanf(line, "start %" SCNd64, &f->start_micros) == 1) {
        return;
    }
    if (sscanf(line, "partition %1023s %1023s", start, end) == 2) {
        ms_bt_range range = ms_bt_range_make(from_hex(f, start), from_hex(f, end));
        (void)add_partition(f, &range);
    } else if (sscanf(line, "token %1023s %1023s %255s", start, end, text) == 3 && f->count > 0) {
        ms_bt_change_token token = {ms_bt_range_make(from_hex(f, start), from_hex(f, end)),
                                    ms_str_cstr(text)};
        add_token(f, &f->list[f->count - 1], &token);
    } else {
        fail("a damaged file of tokens", line);
    }
}

bool follow_load(follow *f, const char *path)
{
    char line[LINE_BYTES];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        load_line(f, line);
    }
    fclose(file);
    return true;
}
