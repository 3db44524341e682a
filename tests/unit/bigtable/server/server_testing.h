/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server with tables of all kinds and one good row, tables of bad requests for it, and the look
 * at it after each: it answers a good request, and nothing of the bad one was written.
 *
 *     table    families, stream                 profiles   plain: one cluster, no transactions
 *     t        cf, sum, hll; stream; split m               multi: any cluster
 *     t2       cf                                          boost: Data Boost
 *     t3       cf; protected
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_SERVER_SERVER_TESTING_H
#define MS_TESTS_UNIT_BIGTABLE_SERVER_SERVER_TESTING_H

#include "bigtable/server/raw_call.h"

#include "bigtable/model/limits.h"
#include "bigtable/wire/pb.h"
#include "bigtable/wire/rpc_status.h"

#define DATA "google.bigtable.v2.Bigtable/"
#define ADMIN "google.bigtable.admin.v2.BigtableTableAdmin/"
#define INSTANCES "google.bigtable.admin.v2.BigtableInstanceAdmin/"
#define INSTANCE "projects/p/instances/i"
#define TABLE INSTANCE "/tables/t"

/* Field 1 of most requests, and a mutation that is good. */
#define T "1'" TABLE "' "
#define SET_OK "1{1'cf' 2'q' 4'v'}"

typedef struct bad_request {
    const char *what;
    const char *path;
    const char *text;
    ms_grpc_code code;
    const char *message;
    int entries; /* above 0: the call is OK, and so many entries fail so */
} bad_request;

/* What they are sent to. */

static inline void make(caller *c, const char *path, const char *text)
{
    caller_call(c, path, text);
    if (c->code != MS_GRPC_OK) {
        fail_msg("%s: %s: %s", path, ms_grpc_code_name(c->code), c->message);
    }
}

#define GOOD_ROW "good{cf:q@0=v}"

static inline int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    caller *c = calloc(1, sizeof(*c));
    fixture_init(f, MS_BT_SYNC_OS);
    caller_open(c, f);
    make(c, ADMIN "CreateTable",
         "1'" INSTANCE "' 2't' 3{3{1'cf' 2{}} 3{1'sum' 2{3{6{1{5{1{1{}}}} 4{}}}}} "
         "3{1'hll' 2{3{6{1{5{1{1{}}}} 5{}}}}} 8{1{1#86400}}} 4{1'm'}");
    make(c, ADMIN "CreateTable", "1'" INSTANCE "' 2't2' 3{3{1'cf' 2{}}}");
    make(c, ADMIN "CreateTable", "1'" INSTANCE "' 2't3' 3{3{1'cf' 2{}} 9#1}");
    make(c, INSTANCES "CreateAppProfile", "1'" INSTANCE "' 2'plain' 3{6{1'local-c1'}}");
    make(c, INSTANCES "CreateAppProfile", "1'" INSTANCE "' 2'multi' 3{5{}}");
    make(c, INSTANCES "CreateAppProfile", "1'" INSTANCE "' 2'boost' 3{6{1'local-c1'} 10{1#1}}");
    make(c, DATA "MutateRow", T "2'good' 3{" SET_OK "}");
    *state = c;
    return 0;
}

static inline int teardown(void **state)
{
    caller *c = *state;
    fixture *f = c->f;
    caller_close(c);
    fixture_release(f);
    free(f);
    free(c);
    return 0;
}

/* Opens the store and the server once more, with the options that the fixture has by now. */
static inline void reopen(caller *c)
{
    fixture *f = c->f;
    caller_close(c);
    fixture_close(f);
    fixture_open(f);
    caller_open(c, f);
}

/* Each entry of the answer has this status. */
static inline void check_entries(const caller *c, const bad_request *bad)
{
    ms_arena arena;
    ms_bt_status bt = {0};
    ms_arena_init(&arena, 0);
    const ms_pb_mutate_rows_response *response = ms_pb_unpack(
        mutate_rows_response, ms_buf_view(&c->answer), &ms_wire_response_limits, &arena, &bt);
    assert_non_null(response);
    assert_int_equal(response->n_entries, bad->entries);
    for (size_t i = 0; i < response->n_entries; i++) {
        assert_int_equal(response->entries[i]->index, i);
        assert_int_equal(response->entries[i]->status->code, bad->code);
        assert_string_equal(response->entries[i]->status->message, bad->message);
    }
    ms_arena_release(&arena);
}

/* All rows of the table, each of which a bad request may not have touched. */
static inline void check_server(caller *c, const char *what)
{
    ms_buf out;
    ms_status st = {0};
    ms_buf_init(&out, 1u << 20);
    ms_bt_status bt = read_text(c->f, &(ms_bt_read_options){.table = c->f->table}, &out);
    assert_bt(&bt, MS_BT_OK);
    assert_ok(ms_buf_append_byte(&out, '\0', &st));
    if (strcmp(out.ptr, GOOD_ROW) != 0) {
        fail_msg("%s: the table has %s", what, out.ptr);
    }
    ms_buf_release(&out);
}

static inline bool is_as_wanted(const caller *c, const bad_request *bad)
{
    ms_grpc_code code = bad->entries > 0 ? MS_GRPC_OK : bad->code;
    return c->code == code && (bad->entries > 0 || strcmp(c->message, bad->message) == 0);
}

static inline void check_all(caller *c, const bad_request *list, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const bad_request *bad = &list[i];
        caller_call(c, bad->path, bad->text);
        if (!is_as_wanted(c, bad)) {
            print_error("%s: %s: %s\n", bad->what, ms_grpc_code_name(c->code), c->message);
            wrong++;
        } else if (bad->entries > 0) {
            check_entries(c, bad);
        }
        check_server(c, bad->what);
    }
    assert_int_equal(wrong, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
