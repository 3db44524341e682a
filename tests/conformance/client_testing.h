/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client over gRPC in front of the scripted server, messages as a server makes them, and requests
 * and results as short texts, so that a case is a script and the texts that it must lead to.
 *
 * Everything that a test makes lies in its rig's arena. Thread: the test's.
 */
#ifndef MS_TESTS_CONFORMANCE_CLIENT_TESTING_H
#define MS_TESTS_CONFORMANCE_CLIENT_TESTING_H

#include "testing.h"

#include "base/arena.h"
#include "base/env.h"
#include "bigtable/client/change.h"
#include "bigtable/client/grpc.h"
#include "bigtable/client/single_row.h"
#include "bigtable/wire/header.h"
#include "bigtable/wire/mutate_rows.h"
#include "bigtable/wire/pb.h"
#include "bigtable/wire/range.h"
#include "mock/mock.h"
#include "net/loop.h"
#include "os/mailbox.h"

#define BYTES_MAX ((size_t)1 << 20)
#define SERVICE "/google.bigtable.v2.Bigtable/"
#define COOKIE "x-goog-cbt-cookie-routing"
#define MS_NS INT64_C(1000000)

static const ms_bt_table_name table = {{"p", 1}, {"i", 1}, {"t", 1}};

typedef struct rig {
    mock *server;
    ms_loop *loop;
    struct ms_bt_transport *transport;
    ms_bt_client *client;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_arena arena;
} rig;

/* The arena comes first, because scripts are made in it. */
static inline void rig_init(rig *it)
{
    *it = (rig){0};
    ms_arena_init(&it->arena, 0);
    ms_parker_init(&it->parker);
    ms_mailbox_init(&it->mailbox, &it->parker);
}

/* Without a scripted server: the target is the test's. */
static inline void rig_connect(rig *it, ms_str target, bool all_features)
{
    ms_status st = {0};
    assert_ok(ms_loop_create("client", &it->loop, &st));
    ms_bt_grpc_options options = {.loop = it->loop, .target = target, .all_features = all_features};
    assert_ok(ms_bt_grpc_create(&options, &it->transport, &st));
    it->client = ms_bt_client_create(it->transport, NULL);
}

static inline void rig_open_with(rig *it, const mock_answer *script, size_t count,
                                 bool all_features)
{
    it->server = mock_create(script, count);
    rig_connect(it, mock_target(it->server), all_features);
}

static inline void rig_open(rig *it, const mock_answer *script, size_t count)
{
    rig_open_with(it, script, count, false);
}

static inline void rig_close(rig *it)
{
    ms_bt_client_destroy(it->client);
    ms_bt_grpc_destroy(it->transport);
    ms_loop_destroy(it->loop);
    mock_destroy(it->server);
    ms_mailbox_release(&it->mailbox);
    ms_arena_release(&it->arena);
}

/* Calls are looked at when they are done; nobody waits for a signal. */
static inline void done_nothing(ms_bt_call *call, void *arg)
{
    (void)call;
    (void)arg;
}

static inline void wake_nothing(void *arg)
{
    (void)arg;
}

/* Messages of a server. */

static inline ms_str packed(rig *it, const ProtobufCMessage *message)
{
    ms_status st = {0};
    ms_buf bytes;
    ms_buf_init(&bytes, BYTES_MAX);
    assert_ok(ms_wire_pack(message, &bytes, &st));
    ms_str copy = ms_arena_copy_str(&it->arena, ms_buf_view(&bytes));
    ms_buf_release(&bytes);
    return copy;
}

/* A chunk of column q of this family; the key only where a row begins. */
static inline ms_pb_read_rows_response_cell_chunk *make_chunk(rig *it, const char *key,
                                                              const char *family, bool commits)
{
    ms_pb_read_rows_response_cell_chunk *chunk =
        ms_pb_new(&it->arena, read_rows_response_cell_chunk);
    chunk->row_key = ms_wire_bytes(ms_str_cstr(key));
    chunk->family_name = ms_pb_new(&it->arena, string_value);
    chunk->family_name->value = ms_wire_text(&it->arena, ms_str_cstr(family));
    chunk->qualifier = ms_pb_new(&it->arena, bytes_value);
    chunk->qualifier->value = ms_wire_bytes(ms_str_lit("q"));
    chunk->timestamp_micros = 1000;
    chunk->value = ms_wire_bytes(ms_str_lit("v"));
    if (commits) {
        chunk->row_status_case =
            GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_COMMIT_ROW;
        chunk->commit_row = true;
    }
    return chunk;
}

static inline ms_str chunk_message(rig *it, const char *key, const char *family, bool commits)
{
    ms_pb_read_rows_response *out = ms_pb_new(&it->arena, read_rows_response);
    out->n_chunks = 1;
    out->chunks = ms_arena_array(&it->arena, ms_pb_read_rows_response_cell_chunk *, 1);
    out->chunks[0] = make_chunk(it, key, family, commits);
    return packed(it, &out->base);
}

/* One message with a row, of one cell, for each word. */
static inline ms_str rows_message(rig *it, const char *words)
{
    ms_pb_read_rows_response *out = ms_pb_new(&it->arena, read_rows_response);
    out->chunks = ms_arena_array(&it->arena, ms_pb_read_rows_response_cell_chunk *, strlen(words));
    char *text = ms_wire_text(&it->arena, ms_str_cstr(words));
    char *rest = NULL;
    for (char *key = strtok_r(text, " ", &rest); key != NULL; key = strtok_r(NULL, " ", &rest)) {
        out->chunks[out->n_chunks++] = make_chunk(it, key, "f", true);
    }
    return packed(it, &out->base);
}

static inline ms_str scanned_message(rig *it, const char *key)
{
    ms_pb_read_rows_response *out = ms_pb_new(&it->arena, read_rows_response);
    out->last_scanned_row_key = ms_wire_bytes(ms_str_cstr(key));
    return packed(it, &out->base);
}

/* Entries of MutateRows with these codes, up to the first below 0. */
static inline ms_str entries_message(rig *it, const int *codes)
{
    ms_pb_mutate_rows_response *out = ms_pb_new(&it->arena, mutate_rows_response);
    while (codes[out->n_entries] >= 0) {
        out->n_entries++;
    }
    out->entries = ms_arena_array(&it->arena, ms_pb_mutate_rows_response_entry *, out->n_entries);
    for (size_t i = 0; i < out->n_entries; i++) {
        out->entries[i] = ms_pb_new(&it->arena, mutate_rows_response_entry);
        out->entries[i]->index = (int64_t)i;
        out->entries[i]->status = ms_pb_new(&it->arena, rpc_status);
        out->entries[i]->status->code = codes[i];
    }
    return packed(it, &out->base);
}

/* Writes. */

/* A write of rows, each with one cell of column f:q. */
typedef struct write_call {
    ms_bt_mutate_rows call;
    ms_bt_mutation_batch batch;
} write_call;

/* A row for each word; one that begins with "@" lets the server choose the time. */
static inline void write_init(rig *it, write_call *write, const char *words)
{
    ms_status st = {0};
    uint16_t family = 0;
    memset(write, 0, sizeof(*write));
    ms_bt_mutate_rows_init(&write->call, &it->mailbox, done_nothing, NULL);
    ms_bt_mutation_batch_init(&write->batch, BYTES_MAX);
    assert_ok(ms_bt_mutation_batch_family(&write->batch, ms_str_lit("f"), &family, &st));
    char *text = ms_wire_text(&it->arena, ms_str_cstr(words));
    char *rest = NULL;
    for (char *key = strtok_r(text, " ", &rest); key != NULL; key = strtok_r(NULL, " ", &rest)) {
        int64_t micros = key[0] == '@' ? MS_BT_TIMESTAMP_SERVER : 1000;
        assert_ok(ms_bt_mutation_batch_begin_row(&write->batch, ms_str_cstr(key), &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&write->batch, family, ms_str_lit("q"), micros,
                                                ms_str_lit("v"), &st));
        ms_bt_mutation_batch_end_row(&write->batch);
    }
    write->call.table = &table;
    write->call.batch = &write->batch;
}

static inline void write_release(write_call *write)
{
    ms_bt_mutate_rows_release(&write->call);
    ms_bt_mutation_batch_release(&write->batch);
}

/* Texts. */

/* Grows in the arena of the rig. */
typedef struct story {
    rig *it;
    const char *ptr;
} story;

static inline void story_add(story *to, ms_str more)
{
    const char *gap = to->ptr[0] == '\0' ? "" : " ";
    to->ptr = ms_arena_format(&to->it->arena, "%s%s%.*s", to->ptr, gap, MS_STR_ARG(more)).ptr;
}

static inline void story_add_status(story *to, const ms_bt_status *bt)
{
    story_add(to, ms_str_lit("|"));
    story_add(to, ms_str_cstr(ms_bt_code_name(bt->code)));
}

static inline void story_add_range(story *to, const ms_bt_range *range)
{
    ms_status st = {0};
    ms_buf bytes;
    ms_buf_init(&bytes, BYTES_MAX);
    assert_ok(ms_bt_range_render(range, &bytes, &st));
    story_add(to, ms_buf_view(&bytes));
    ms_buf_release(&bytes);
}

/* A ReadRows request: keys, ranges, "limit 3", "reversed"; "everything" for all rows. */
static inline const char *describe_read(rig *it, const mock_request *request)
{
    ms_bt_status bt = {0};
    story out = {it, ""};
    assert_str_equal(request->path, SERVICE "ReadRows");
    ms_pb_read_rows_request *in =
        ms_pb_unpack(read_rows_request, request->message, &ms_wire_request_limits, &it->arena, &bt);
    assert_non_null(in);
    assert_string_equal(in->table_name, "projects/p/instances/i/tables/t");
    ms_bt_row_set rows = ms_wire_row_set_from_pb(in->rows, &it->arena);
    for (size_t i = 0; i < rows.key_count; i++) {
        story_add(&out, rows.keys[i]);
    }
    for (size_t i = 0; i < rows.range_count; i++) {
        story_add_range(&out, &rows.ranges[i]);
    }
    if (rows.key_count + rows.range_count == 0) {
        story_add(&out, ms_str_lit("everything"));
    }
    if (in->rows_limit > 0) {
        story_add(&out, ms_arena_format(&it->arena, "limit %d", (int)in->rows_limit));
    }
    if (in->reversed) {
        story_add(&out, ms_str_lit("reversed"));
    }
    return out.ptr;
}

/* Reads to the end: "a b | OK", or "a | INTERNAL: why". */
static inline const char *read_all(rig *it, const ms_bt_read_options *options)
{
    story out = {it, ""};
    ms_bt_read *read =
        ms_bt_client_read_rows(it->client, options, &it->mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    ms_bt_poll poll;
    while ((poll = ms_bt_read_wait(read, &it->parker, &page)) == MS_BT_POLL_PAGE) {
        for (uint32_t i = 0; i < page->row_count; i++) {
            story_add(&out, ms_bt_page_key(page, &page->rows[i]));
        }
        ms_bt_read_return(read, page);
    }
    ms_bt_status bt = {0};
    story_add_status(&out, poll == MS_BT_POLL_END ? &bt : ms_bt_read_status(read));
    if (poll != MS_BT_POLL_END) {
        out.ptr = ms_arena_format(&it->arena, "%s: %s", out.ptr, ms_bt_read_status(read)->text).ptr;
    }
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return out.ptr;
}

/* The text begins so: what follows is the wording of a failure. */
static inline void assert_begins(const char *whole, const char *begin)
{
    if (strncmp(whole, begin, strlen(begin)) != 0) {
        fail_msg("\"%s\" does not begin with \"%s\"", whole, begin);
    }
}

static inline ms_str header_of(const mock_request *request, const char *key)
{
    ms_str value = {NULL, 0};
    (void)ms_grpc_metadata_find(request->metadata, ms_str_cstr(key), &value);
    return value;
}

/* What every call on data carries. */
static inline void assert_has_headers(const mock_request *request, const char *method,
                                      const char *params)
{
    uint32_t features = 0;
    assert_str_equal(request->path, method);
    assert_str_equal(header_of(request, "x-goog-request-params"), params);
    assert_true(header_of(request, "x-goog-api-client").bytes > 0);
    assert_true(ms_wire_features_decode(header_of(request, "bigtable-features"), &features));
    assert_true((features & MS_WIRE_FEATURE_REVERSE_SCANS) != 0);
    assert_true((features & MS_WIRE_FEATURE_ROUTING_COOKIE) != 0);
    assert_true((features & MS_WIRE_FEATURE_RETRY_INFO) != 0);
}

#endif
