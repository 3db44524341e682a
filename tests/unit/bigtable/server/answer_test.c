/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that only the server makes, so that no test of the store sees them: which clusters there
 * are, what operations did, consistency tokens, the time of a read, pages of app profiles, how many
 * streams are open, and what is not built.
 */
#include "bigtable/server/server_testing.h"

#include "bigtable/server/server_priv.h"
#include "bigtable/wire/resource.h"
#include "net/raw.h"

/* A ReadRows of all rows of the table that begin with "b". */
#define READ_LARGE                                                                                 \
    "\x0a\x1f" TABLE "\x12\x08\x12\x06\x0a\x01"                                                    \
    "b\x1a\x01"                                                                                    \
    "c"
#define TABLETS "millstream.bigtable.v1.Tablets/"

/* Of the oneof, whose names are too long to read. */
#define CLOSE_STREAM GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__STREAM_RECORD_CLOSE_STREAM
#define OTHER "projects/p/instances/other"

typedef struct answer {
    caller *c;
    ms_arena arena;
} answer;

static void *unpack_answer(answer *a, const ProtobufCMessageDescriptor *class)
{
    ms_bt_status bt = {0};
    void *message =
        ms_wire_unpack(class, ms_buf_view(&a->c->answer), &ms_wire_response_limits, &a->arena, &bt);
    assert_non_null(message);
    return message;
}

/* The only answer to a call that is good. */
#define ASK(a, path, text, name)                                                                   \
    (make((a)->c, (path), (text)), (ms_pb_##name *)unpack_answer((a), ms_pb_##name##_class()))

static int setup_answer(void **state)
{
    answer *a = calloc(1, sizeof(*a));
    (void)setup(state);
    a->c = *state;
    ms_arena_init(&a->arena, 0);
    make(a->c, INSTANCES "CreateInstance",
         "1'projects/p' 2'other' 3{2'd'} "
         "4{1'c1' 2{2'projects/p/locations/us-east1-b' 4#3 5#2}} 4{1'c2' 2{4#1}}");
    *state = a;
    return 0;
}

static int teardown_answer(void **state)
{
    answer *a = *state;
    ms_arena_release(&a->arena);
    *state = a->c;
    free(a);
    return teardown(state);
}

static void clusters_are_where_they_were_made(void **state)
{
    answer *a = *state;
    ms_pb_list_clusters_response *list =
        ASK(a, INSTANCES "ListClusters", "1'" OTHER "'", list_clusters_response);
    assert_int_equal(list->n_clusters, 2);
    assert_string_equal(list->clusters[0]->location, "projects/p/locations/us-east1-b");
    assert_int_equal(list->clusters[0]->default_storage_type,
                     GOOGLE__BIGTABLE__ADMIN__V2__STORAGE_TYPE__HDD);
    assert_int_equal(list->clusters[0]->serve_nodes, 3);
    assert_string_equal(list->clusters[1]->location, "projects/p/locations/local");
    assert_int_equal(list->clusters[1]->default_storage_type,
                     GOOGLE__BIGTABLE__ADMIN__V2__STORAGE_TYPE__SSD);
    ms_pb_cluster *implied =
        ASK(a, INSTANCES "GetCluster", "1'" INSTANCE "/clusters/local-c1'", cluster);
    assert_string_equal(implied->location, "projects/p/locations/local");
}

static void assert_states(const ms_pb_table *table, size_t count, const char *const *clusters)
{
    assert_int_equal(table->n_cluster_states, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(table->cluster_states[i]->key, clusters[i]);
        assert_int_equal(
            table->cluster_states[i]->value->replication_state,
            GOOGLE__BIGTABLE__ADMIN__V2__TABLE__CLUSTER_STATE__REPLICATION_STATE__READY);
    }
}

static void tables_are_ready_in_the_clusters_of_their_instance(void **state)
{
    static const char *const two[] = {"c1", "c2"};
    static const char *const implied[] = {"local-c1"};
    answer *a = *state;
    make(a->c, ADMIN "CreateTable", "1'" OTHER "' 2't' 3{}");
    static const char *const views[] = {"3", "4"};
    for (size_t i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof(text), "1'" OTHER "/tables/t' 2#%s", views[i]);
        assert_states(ASK(a, ADMIN "GetTable", text, table), 2, two);
        snprintf(text, sizeof(text), "1'" OTHER "' 2#%s", views[i]);
        const ms_pb_list_tables_response *list =
            ASK(a, ADMIN "ListTables", text, list_tables_response);
        assert_int_equal(list->n_tables, 1);
        assert_states(list->tables[0], 2, two);
        snprintf(text, sizeof(text), "1'" TABLE "' 2#%s", views[i]);
        assert_states(ASK(a, ADMIN "GetTable", text, table), 1, implied);
    }
    assert_states(ASK(a, ADMIN "GetTable", "1'" OTHER "/tables/t' 2#2", table), 0, NULL);
}

static void operations_say_what_they_did(void **state)
{
    static const struct {
        const char *path;
        const char *text;
        const char *metadata;
    } cases[] = {
        {INSTANCES "CreateInstance", "1'projects/p' 2'new' 3{2'd'} 4{1'c' 2{}}",
         "CreateInstanceMetadata"},
        {INSTANCES "PartialUpdateInstance", "1{1'" OTHER "' 2'x'} 2{1'display_name'}",
         "UpdateInstanceMetadata"},
        {INSTANCES "CreateCluster", "1'" OTHER "' 2'c3' 3{}", "CreateClusterMetadata"},
        {INSTANCES "UpdateAppProfile",
         "1{1'" INSTANCE "/appProfiles/plain' 3'x'} 2{1'description'}", "UpdateAppProfileMetadata"},
        {INSTANCES "UpdateAppProfile",
         "1{1'" INSTANCE "/appProfiles/plain' 5{}} 2{1'multi_cluster_routing_use_any'}",
         "UpdateAppProfileMetadata"},
        {INSTANCES "UpdateAppProfile",
         "1{1'" INSTANCE "/appProfiles/default' 5{}} 2{1'multi_cluster_routing_use_any'} 3#1",
         "UpdateAppProfileMetadata"},
        {ADMIN "UpdateTable", "1{1'" TABLE "'} 2{1'deletion_protection'}", "UpdateTableMetadata"},
    };
    answer *a = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char url[128];
        ms_pb_operation *operation = ASK(a, cases[i].path, cases[i].text, operation);
        snprintf(url, sizeof(url), "%sgoogle.bigtable.admin.v2.%s", MS_WIRE_TYPE_URL_PREFIX,
                 cases[i].metadata);
        assert_true(operation->done);
        assert_string_equal(operation->metadata->type_url, url);
    }
}

static void every_write_is_consistent_at_once(void **state)
{
    answer *a = *state;
    char text[256];
    ms_pb_generate_consistency_token_response *made = ASK(
        a, ADMIN "GenerateConsistencyToken", "1'" TABLE "'", generate_consistency_token_response);
    /* Without a mode, and with either. */
    static const char *const modes[] = {"", "3{}", "4{}"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), T "2'%s' %s", made->consistency_token, modes[i]);
        assert_true(ASK(a, ADMIN "CheckConsistency", text, check_consistency_response)->consistent);
    }
}

static void statistics_tell_how_long_a_read_took(void **state)
{
    answer *a = *state;
    ms_pb_read_rows_response *last = ASK(a, DATA "ReadRows", T "6#2", read_rows_response);
    const ms_pb_full_read_stats_view *view = last->request_stats->full_read_stats_view;
    assert_int_equal(view->read_iteration_stats->rows_seen_count, 1);
    const ms_pb_duration *latency = view->request_latency_stats->frontend_server_latency;
    assert_true(latency->seconds > 0 || latency->nanos > 0);
}

static void profiles_are_listed_page_by_page(void **state)
{
    static const char *const pages[][2] = {{"boost", "default"}, {"multi", "plain"}};
    answer *a = *state;
    char text[256] = "1'" INSTANCE "' 3#2";
    for (size_t i = 0; i < 2; i++) {
        ms_pb_list_app_profiles_response *page =
            ASK(a, INSTANCES "ListAppProfiles", text, list_app_profiles_response);
        assert_int_equal(page->n_app_profiles, 2);
        for (size_t j = 0; j < 2; j++) {
            char name[128];
            snprintf(name, sizeof(name), INSTANCE "/appProfiles/%s", pages[i][j]);
            assert_string_equal(page->app_profiles[j]->name, name);
        }
        assert_int_equal(page->next_page_token[0] == '\0', i == 1);
        snprintf(text, sizeof(text), "1'" INSTANCE "' 3#2 2'%s'", page->next_page_token);
    }
}

static void a_change_stream_whose_end_is_long_over_ends_at_once(void **state)
{
    static const char *const ends[] = {"5{}", "5{1#-5}", "5{1#1}"};
    answer *a = *state;
    for (size_t i = 0; i < 3; i++) {
        char text[160];
        long long now = (long long)ms_env_wall_us();
        snprintf(text, sizeof(text), T "3{1{1'' 3'm'}} 4{1#%lld 2#%lld} %s", now / 1000000,
                 now % 1000000 * 1000, ends[i]);
        ms_pb_read_change_stream_response *only =
            ASK(a, DATA "ReadChangeStream", text, read_change_stream_response);
        assert_int_equal(
            only->stream_record_case,
            GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__STREAM_RECORD_CLOSE_STREAM);
        assert_int_equal(only->close_stream->status->code, MS_GRPC_OK);
    }
}

/* What the API has beside what is built, as clients and tools of today may ask for it. */
static void every_other_method_is_unimplemented(void **state)
{
    static const char *const methods[] = {
        DATA "PrepareQuery",
        DATA "ExecuteQuery",
        DATA "GetClientConfiguration",
        ADMIN "CreateTableFromSnapshot",
        ADMIN "UndeleteTable",
        ADMIN "CreateAuthorizedView",
        ADMIN "ListAuthorizedViews",
        ADMIN "GetAuthorizedView",
        ADMIN "UpdateAuthorizedView",
        ADMIN "DeleteAuthorizedView",
        ADMIN "SnapshotTable",
        ADMIN "GetSnapshot",
        ADMIN "ListSnapshots",
        ADMIN "DeleteSnapshot",
        ADMIN "CreateBackup",
        ADMIN "GetBackup",
        ADMIN "UpdateBackup",
        ADMIN "DeleteBackup",
        ADMIN "ListBackups",
        ADMIN "CopyBackup",
        ADMIN "RestoreTable",
        ADMIN "GetIamPolicy",
        ADMIN "SetIamPolicy",
        ADMIN "TestIamPermissions",
        ADMIN "CreateSchemaBundle",
        ADMIN "ListSchemaBundles",
        INSTANCES "UpdateCluster",
        INSTANCES "PartialUpdateCluster",
        INSTANCES "ListHotTablets",
        INSTANCES "CreateLogicalView",
        INSTANCES "ListLogicalViews",
        INSTANCES "CreateMaterializedView",
        INSTANCES "ListMaterializedViews",
        INSTANCES "GetIamPolicy",
        INSTANCES "SetIamPolicy",
        INSTANCES "TestIamPermissions",
        "grpc.health.v1.Health/Check",
        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "x/y",
    };
    answer *a = *state;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        char text[160];
        snprintf(text, sizeof(text), "Unknown method /%s", methods[i]);
        caller_call(a->c, methods[i], T);
        assert_int_equal(a->c->code, MS_GRPC_UNIMPLEMENTED);
        assert_string_equal(a->c->message, text);
        check_server(a->c, methods[i]);
    }
}

/* Begins to follow the changes of the first tablet from now on, on the channel of the caller. */
static void follow(caller *stream, const caller *c)
{
    char text[160];
    long long now = (long long)ms_env_wall_us();
    caller_init(stream, c->f, c->channel);
    snprintf(text, sizeof(text), T "3{1{1'' 3'm'}} 4{1#%lld 2#%lld}", now / 1000000,
             now % 1000000 * 1000);
    request_make(text, &stream->request);
    caller_begin(stream, DATA "ReadChangeStream");
}

static void streams_beyond_the_limit_are_refused_until_others_end(void **state)
{
    enum { STREAMS = 2 };
    answer *a = *state;
    caller *c = a->c;
    caller streams[STREAMS];
    c->f->reads_max = STREAMS;
    reopen(c);
    for (int i = 0; i < STREAMS; i++) {
        follow(&streams[i], c);
    }
    caller_call(c, DATA "ReadChangeStream", T "3{1{1'' 3'm'}} 4{1#1}");
    assert_int_equal(c->code, MS_GRPC_UNAVAILABLE);
    assert_string_equal(c->message, "2 streams of changes are open; limit 2");
    /* Those that end by themselves have room of their own. */
    make(c, DATA "ReadRows", T);
    make(c, TABLETS "SplitTablet", T "2'c'");
    for (int i = 0; i < STREAMS; i++) {
        caller_wait(&streams[i]);
        assert_int_equal(streams[i].code, MS_GRPC_OK);
        caller_release(&streams[i]);
    }
    for (int i = 0; i <= STREAMS; i++) {
        make(c, DATA "ReadRows", T);
    }
}

#define MIB ((size_t)1 << 20)
#define BUSY "Too many large rows wait for clients to read them"

static void large_rows_that_wait_to_be_read_are_bounded(void **state)
{
    static raw_peer slow;
    answer *a = *state;
    caller *c = a->c;
    c->f->large_bytes_max = 5 * MIB;
    reopen(c);
    for (int i = 0; i < 3; i++) {
        char text[96];
        snprintf(text, sizeof(text), T "2'big%d' 3{1{1'cf' 2'q' 4'v'*%zu}}", i, 2 * MIB);
        make(c, DATA "MutateRow", text);
    }
    /* A client that takes the first bytes of two rows and no more. */
    raw_connect(&slow, ms_bt_server_port(c->f->server));
    raw_start(&slow);
    raw_frame(&slow, NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\x10\0\0", 4); /* room for both streams */
    for (int i = 0; i < 2; i++) {
        raw_headers(&slow, RAW_END_HEADERS, 2 * i + 1, RAW_REQUEST("/" DATA "ReadRows"));
        raw_message(&slow, 2 * i + 1, NGHTTP2_FLAG_END_STREAM, READ_LARGE);
    }
    /* Both pages are counted when something of both has come. */
    uint32_t seen = 0;
    while (seen != 3) {
        assert_int_equal(raw_read_until(&slow, RAW_DATA), RAW_DATA);
        seen |= slow.stream == 1 ? 1 : 2;
    }
    caller_call(c, DATA "ReadRows", T "2{1'big1'}");
    assert_int_equal(c->code, MS_GRPC_UNAVAILABLE);
    assert_string_equal(c->message, BUSY);
    make(c, DATA "ReadRows", T "2{1'good'}");
    raw_close(&slow);
    do {
        caller_call(c, DATA "ReadRows", T "2{1'big1'}");
    } while (c->code == MS_GRPC_UNAVAILABLE && strcmp(c->message, BUSY) == 0);
    assert_int_equal(c->code, MS_GRPC_OK);
    assert_true(c->answer.bytes > 2 * MIB);
}

static void the_more_streams_are_open_the_smaller_are_their_pages(void **state)
{
    (void)state;
    size_t all = 0;
    size_t before = SIZE_MAX;
    for (uint32_t open = 1; open <= 2048; open++) {
        size_t bytes = msi_read_page_bytes(open);
        assert_true(bytes <= before && bytes >= (32u << 10));
        before = bytes;
        all += 2 * bytes;
    }
    assert_int_equal(msi_read_page_bytes(1), 256u << 10);
    assert_true(all < (size_t)768 << 20);
}

#define TEST_ANSWER(name) cmocka_unit_test_setup_teardown(name, setup_answer, teardown_answer)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_ANSWER(clusters_are_where_they_were_made),
        TEST_ANSWER(tables_are_ready_in_the_clusters_of_their_instance),
        TEST_ANSWER(operations_say_what_they_did),
        TEST_ANSWER(every_write_is_consistent_at_once),
        TEST_ANSWER(statistics_tell_how_long_a_read_took),
        TEST_ANSWER(profiles_are_listed_page_by_page),
        TEST_ANSWER(a_change_stream_whose_end_is_long_over_ends_at_once),
        TEST_ANSWER(every_other_method_is_unimplemented),
        TEST_ANSWER(streams_beyond_the_limit_are_refused_until_others_end),
        TEST_ANSWER(large_rows_that_wait_to_be_read_are_bounded),
        cmocka_unit_test(the_more_streams_are_open_the_smaller_are_their_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
