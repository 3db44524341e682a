/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of change streams and of administration: a clock that stands still, calls that wait,
 * and streams that are read as text.
 *
 *     a{f:q@1000=v,-f:q[0,2000),-f}     a user's: a cell, deletes of a column and of a family
 *     gc a{-f:q[0,2000)}                garbage that was collected
 *     heartbeat
 *     close OK
 *     close [,m)>[,m) [m,)>[m,)         token for a piece of the partition > new partition
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_STORE_CHANGE_TESTING_H
#define MS_TESTS_UNIT_BIGTABLE_STORE_CHANGE_TESTING_H

#include "store_testing.h"

#include "bigtable/client/change.h"
#include "bigtable/store/store_priv.h"

#include <sched.h>

#define DAY_MICROS (INT64_C(86400) * 1000000)
#define START_MICROS (INT64_C(1700000000) * 1000000)

/* A stream under way, and the tokens that it gave last. */
typedef struct stream {
    fixture *f;
    ms_bt_change_read *read;
    ms_arena arena;
    ms_str token; /* behind the last change */
    int64_t watermark_micros;
    int64_t commit_micros; /* of the last data */
    ms_bt_change_token tokens[8];
    ms_bt_range partitions[8];
    size_t token_count;
    bool is_closed;
} stream;

/* Calls on tables. */

static inline ms_bt_status admin_call(fixture *f, ms_bt_table_call *call,
                                      void (*submit)(ms_bt_client *, ms_bt_table_call *))
{
    submit(f->client, call);
    ms_bt_call_wait(&call->call, &f->parker);
    return call->call.status;
}

static inline ms_bt_table_call admin_call_of(fixture *f)
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.name = f->table;
    return call;
}

static inline ms_bt_status call_with_key(fixture *f, const char *key,
                                         void (*submit)(ms_bt_client *, ms_bt_table_call *))
{
    ms_bt_table_call call = admin_call_of(f);
    call.key = ms_str_cstr(key);
    ms_bt_status bt = admin_call(f, &call, submit);
    ms_bt_table_call_release(&call);
    return bt;
}

static inline void split(fixture *f, const char *key)
{
    ms_bt_status bt = call_with_key(f, key, ms_bt_client_split_tablet);
    assert_bt(&bt, MS_BT_OK);
}

static inline void merge(fixture *f, const char *key)
{
    ms_bt_status bt = call_with_key(f, key, ms_bt_client_merge_tablets);
    assert_bt(&bt, MS_BT_OK);
}

static inline void drop_rows(fixture *f, const char *prefix)
{
    ms_bt_status bt = call_with_key(f, prefix, ms_bt_client_drop_rows);
    assert_bt(&bt, MS_BT_OK);
}

static inline uint64_t collect_garbage(fixture *f)
{
    ms_bt_table_call call = admin_call_of(f);
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_collect_garbage);
    assert_bt(&bt, MS_BT_OK);
    uint64_t count = call.count;
    ms_bt_table_call_release(&call);
    return count;
}

static inline ms_bt_status set_retention(fixture *f, int64_t micros)
{
    ms_bt_table table = {.change_retention_micros = micros};
    ms_bt_table_call call = admin_call_of(f);
    call.table = &table;
    call.update_mask = MS_BT_UPDATE_CHANGE_STREAM;
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_update_table);
    ms_bt_table_call_release(&call);
    return bt;
}

/* Creates the fixture's table with families f and g and a change stream of a day. */
static inline void create_stream_table(fixture *f, const char *const *splits, size_t count)
{
    ms_bt_family families[] = {{.name = ms_str_lit("f")}, {.name = ms_str_lit("g")}};
    ms_str keys[8] = {0};
    for (size_t i = 0; i < count; i++) {
        keys[i] = ms_str_cstr(splits[i]);
    }
    ms_bt_table table = {.name = f->table,
                         .families = families,
                         .family_count = 2,
                         .splits = keys,
                         .split_count = count,
                         .change_retention_micros = DAY_MICROS};
    ms_bt_table_call call = admin_call_of(f);
    call.table = &table;
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_create_table);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

/* Writes "v" into f:q of a row, at one second. */
static inline void put(fixture *f, const char *key, const char *value)
{
    ms_bt_status bt = set_cell(f, key, "f", "q", 1000000, value);
    assert_bt(&bt, MS_BT_OK);
}

/* Text. */

__attribute__((format(printf, 2, 3))) static inline void append_format(ms_buf *out,
                                                                       const char *format, ...)
{
    char text[1024];
    ms_status st = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_ok(ms_buf_append(out, ms_str_cstr(text), &st));
}

static inline const char *bytes_text(ms_str bytes, char text[256])
{
    return ms_bt_bytes_text(bytes, text, 256);
}

static inline void append_range(ms_buf *out, const ms_bt_range *range)
{
    char text[2][256];
    assert_int_not_equal(range->start.kind, MS_BT_BOUND_OPEN);
    assert_int_not_equal(range->end.kind, MS_BT_BOUND_CLOSED);
    append_format(out, "[%s,%s)", bytes_text(range->start.key, text[0]),
                  bytes_text(range->end.key, text[1]));
}

static inline void append_mutation(ms_buf *out, const ms_bt_change_mutation *m)
{
    char text[2][256];
    const char *qualifier = bytes_text(m->qualifier, text[0]);
    const char *value = bytes_text(m->value, text[1]);
    switch (m->kind) {
    case MS_BT_MUTATION_SET_CELL:
        append_format(out, "%.*s:%s@%lld=%s", MS_STR_ARG(m->family), qualifier,
                      (long long)m->timestamp_micros, value);
        return;
    case MS_BT_MUTATION_DELETE_FROM_COLUMN:
        append_format(out, "-%.*s:%s[%lld,%lld)", MS_STR_ARG(m->family), qualifier,
                      (long long)m->timestamp_micros, (long long)m->end_micros);
        return;
    case MS_BT_MUTATION_DELETE_FROM_FAMILY:
        append_format(out, "-%.*s", MS_STR_ARG(m->family));
        return;
    case MS_BT_MUTATION_ADD_TO_CELL:
    case MS_BT_MUTATION_MERGE_TO_CELL:
        append_format(out, "%.*s:%s@%lld%s%s", MS_STR_ARG(m->family), qualifier,
                      (long long)m->timestamp_micros,
                      m->kind == MS_BT_MUTATION_ADD_TO_CELL ? "+=" : "~=", value);
        return;
    case MS_BT_MUTATION_DELETE_FROM_ROW:
    case MS_BT_MUTATION_COUNT:
        break;
    }
    fail_msg("a change has a mutation of kind %d", (int)m->kind);
}

static inline void append_data(ms_buf *out, const ms_bt_change *change)
{
    char text[256];
    append_format(out, "%s%s{", change->is_garbage_collection ? "gc " : "",
                  bytes_text(change->row_key, text));
    for (uint32_t i = 0; i < change->mutation_count; i++) {
        append_format(out, "%s", i == 0 ? "" : ",");
        append_mutation(out, &change->mutations[i]);
    }
    append_format(out, "}");
    /* A user's change says where it comes from; garbage says nothing. */
    assert_int_equal(change->source_cluster.bytes == 0, change->is_garbage_collection);
}

static inline ms_bt_range copy_range(ms_arena *arena, const ms_bt_range *range)
{
    return ms_bt_range_make(ms_arena_copy_str(arena, range->start.key),
                            ms_arena_copy_str(arena, range->end.key));
}

static inline void take_close(stream *s, const ms_bt_change *change, ms_buf *out)
{
    s->is_closed = true;
    append_format(out, "close%s", change->token_count == 0 ? " OK" : "");
    assert_int_equal(change->status.code, change->token_count == 0 ? MS_BT_OK : MS_BT_OUT_OF_RANGE);
    assert_true(change->token_count <= 8);
    for (uint32_t i = 0; i < change->token_count; i++) {
        append_format(out, " ");
        append_range(out, &change->tokens[i].partition);
        append_format(out, ">");
        append_range(out, &change->new_partitions[i]);
        s->tokens[i].partition = copy_range(&s->arena, &change->tokens[i].partition);
        s->tokens[i].token = ms_arena_copy_str(&s->arena, change->tokens[i].token);
        s->partitions[i] = copy_range(&s->arena, &change->new_partitions[i]);
    }
    s->token_count = change->token_count;
}

static inline void take_change(stream *s, const ms_bt_change *change, ms_buf *out)
{
    if (change->kind == MS_BT_CHANGE_CLOSE) {
        take_close(s, change, out);
        return;
    }
    s->token = ms_arena_copy_str(&s->arena, change->token);
    s->watermark_micros = change->low_watermark_micros;
    if (change->kind == MS_BT_CHANGE_HEARTBEAT) {
        append_format(out, "heartbeat");
        return;
    }
    s->commit_micros = change->commit_micros;
    append_data(out, change);
}

/* Streams. */

static inline ms_bt_range range_of(const char *start, const char *end)
{
    return ms_bt_range_make(ms_str_cstr(start), ms_str_cstr(end));
}

static inline stream stream_open(fixture *f, const ms_bt_change_options *options)
{
    stream s = {.f = f};
    ms_bt_change_options own = *options;
    own.table = f->table;
    ms_arena_init(&s.arena, 0);
    s.read = ms_bt_client_read_changes(f->client, &own, &f->mailbox, wake_nothing, NULL);
    return s;
}

/* Waits until a stream waits in the store. A stream without a start begins when it is first looked
 * at, so that a test that writes at once must know that it has begun. No other one waits. */
static inline void stream_settle(stream *s)
{
    msi_waiting *waiting = &s->f->store->waiting;
    for (bool waits = false; !waits; sched_yield()) {
        ms_mutex_lock(&waiting->mutex);
        waits = msi_change_next_due(s->f->store) != INT64_MAX;
        ms_mutex_unlock(&waiting->mutex);
    }
}

static inline stream stream_from(fixture *f, const char *start, const char *end, int64_t micros);

/* From now on: what is written after the call is in it. */
static inline stream stream_from_now(fixture *f, const char *start, const char *end)
{
    stream s = stream_from(f, start, end, 0);
    stream_settle(&s);
    return s;
}

/* From a time on. */
static inline stream stream_from(fixture *f, const char *start, const char *end, int64_t micros)
{
    return stream_open(
        f, &(ms_bt_change_options){.partition = range_of(start, end), .start_micros = micros});
}

/* Behind a token. */
static inline stream stream_behind(fixture *f, ms_bt_range partition, ms_str token)
{
    ms_bt_change_token tokens[] = {{partition, token}};
    return stream_open(
        f, &(ms_bt_change_options){.partition = partition, .tokens = tokens, .token_count = 1});
}

static inline void no_more(void *arg)
{
    *(bool *)arg = true;
}

static inline void stream_close(stream *s)
{
    bool is_over = false;
    if (!ms_bt_change_read_close(s->read, no_more, &is_over)) {
        while (!is_over) {
            if (ms_mailbox_deliver(&s->f->mailbox, 16) == 0) {
                ms_parker_park(&s->f->parker, MS_PARK_FOREVER);
            }
        }
    }
    ms_arena_release(&s->arena);
}

/* The next page, while time stands still or, when ticks is set, maintenance looks around. */
static inline ms_bt_poll stream_wait(stream *s, const ms_bt_change_page **page_out, bool ticks)
{
    if (!ticks) {
        return ms_bt_change_read_wait(s->read, &s->f->parker, page_out);
    }
    for (;;) {
        ms_bt_poll poll = ms_bt_change_read_poll(s->read, page_out);
        if (poll != MS_BT_POLL_PENDING) {
            return poll;
        }
        if (ms_mailbox_deliver(&s->f->mailbox, 16) == 0) {
            ms_bt_store_tick(s->f->store);
            sched_yield();
        }
    }
}

/* Appends the changes up to the count-th, or to the end of the stream. */
static inline void stream_take(stream *s, size_t count, bool ticks, ms_buf *out)
{
    size_t taken = 0;
    while (taken < count && !s->is_closed) {
        const ms_bt_change_page *page = NULL;
        ms_bt_poll poll = stream_wait(s, &page, ticks);
        if (poll != MS_BT_POLL_PAGE) {
            fail_msg("poll gives %d: %s after %.*s", (int)poll,
                     ms_bt_change_read_status(s->read)->text, (int)out->bytes,
                     out->ptr == NULL ? "" : out->ptr);
        }
        for (uint32_t i = 0; i < page->change_count; i++) {
            append_format(out, "%s", out->bytes == 0 ? "" : " ");
            take_change(s, &page->changes[i], out);
            taken++;
        }
        ms_bt_change_read_return(s->read, page);
    }
    assert_true(taken >= count || s->is_closed);
}

static inline void assert_stream_of(stream *s, size_t count, bool ticks, const char *expected)
{
    ms_buf out;
    ms_buf_init(&out, 16u << 20);
    stream_take(s, count, ticks, &out);
    ms_status st = {0};
    assert_ok(ms_buf_append_byte(&out, '\0', &st));
    assert_string_equal(out.ptr, expected);
    ms_buf_release(&out);
}

/* The next changes, which are this many, are these. */
static inline void assert_changes(stream *s, size_t count, const char *expected)
{
    assert_stream_of(s, count, false, expected);
}

/* Nothing comes before the next heartbeat. */
static inline void assert_silent(stream *s, ms_env_clock *clock)
{
    ms_env_clock_advance_us(clock, INT64_C(6000000));
    assert_stream_of(s, 1, true, "heartbeat");
}

static inline void assert_stream_fails(stream *s, ms_bt_code code, const char *text)
{
    const ms_bt_change_page *page = NULL;
    ms_bt_poll poll = ms_bt_change_read_wait(s->read, &s->f->parker, &page);
    assert_int_equal(poll, MS_BT_POLL_FAILED);
    assert_bt(ms_bt_change_read_status(s->read), code);
    if (strstr(ms_bt_change_read_status(s->read)->text, text) == NULL) {
        assert_string_equal(ms_bt_change_read_status(s->read)->text, text);
    }
}

/* A fixture whose clock stands still at START_MICROS. */
typedef struct timed {
    fixture f;
    ms_env_clock clock;
} timed;

static inline int timed_setup(void **state)
{
    timed *t = calloc(1, sizeof(*t));
    t->clock.wall_us = START_MICROS;
    ms_env_set_clock(&t->clock);
    fixture_init(&t->f, MS_BT_SYNC_CHECKPOINT);
    *state = t;
    return 0;
}

static inline int timed_teardown(void **state)
{
    timed *t = *state;
    fixture_release(&t->f);
    ms_env_set_clock(NULL);
    free(t);
    return 0;
}

#endif
