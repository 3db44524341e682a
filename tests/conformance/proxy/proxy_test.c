/* SPDX-License-Identifier: Apache-2.0 */
/* The test proxy over its service, in front of the scripted server: what each method asks of the
 * server, and what it tells the suite. */
#include "../client_testing.h"

#include "bigtable/wire/mutation.h"
#include "bigtable/wire/row.h"
#include "bigtable/wire/time.h"
#include "net/grpc_client.h"
#include "proxy_priv.h"

#define METHOD(name) "/google.bigtable.testproxy.CloudBigtableV2TestProxy/" name
#define TABLE_PATH "projects/p/instances/i/tables/t"

typedef struct proxied {
    rig it; /* the server and what lies in the arena; without a client of its own */
    proxy *proxy;
    ms_grpc_channel *channel;
} proxied;

/* A call of the suite. */
typedef struct asked {
    proxied *own;
    const char *path;
    ms_str request;
    ms_grpc_code code;
    ms_str answer;
    ms_arena arena; /* of the answer; the loop's until the end */
    ms_parker done;
    _Atomic bool is_done;
} asked;

static void open_channel(void *arg)
{
    proxied *own = arg;
    char target[32];
    ms_status st = {0};
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)proxy_port(own->proxy));
    assert_ok(ms_grpc_channel_create(own->it.loop,
                                     &(ms_grpc_channel_options){.target = ms_str_cstr(target)},
                                     &own->channel, &st));
}

static void close_channel(void *arg)
{
    ms_grpc_channel_destroy(((proxied *)arg)->channel);
}

static void open_proxy(proxied *own, const mock_answer *script, size_t count)
{
    ms_status st = {0};
    own->it.server = mock_create(script, count);
    assert_ok(ms_loop_create("suite", &own->it.loop, &st));
    assert_ok(proxy_create(ms_str_lit("127.0.0.1:0"), &own->proxy, &st));
    ms_loop_call(own->it.loop, open_channel, own);
}

static void close_proxy(proxied *own)
{
    ms_loop_call(own->it.loop, close_channel, own);
    proxy_destroy(own->proxy);
    rig_close(&own->it);
}

static void got_answer(ms_grpc_call *call, ms_str message, void *arg)
{
    (void)call;
    asked *ask = arg;
    ask->answer = ms_arena_copy_str(&ask->arena, message);
}

static void got_end(ms_grpc_call *call, const ms_grpc_result *result, void *arg)
{
    (void)call;
    asked *ask = arg;
    ask->code = result->code;
    ask->is_done = true;
    ms_parker_unpark(&ask->done);
}

static const ms_grpc_call_events ask_events = {.on_message = got_answer, .on_done = got_end};

static void start_call(void *arg)
{
    asked *ask = arg;
    ms_grpc_message request = {.bytes = ask->request};
    (void)ms_grpc_call_start(ask->own->channel,
                             &(ms_grpc_call_options){.path = ms_str_cstr(ask->path),
                                                     .request = &request,
                                                     .events = &ask_events,
                                                     .arg = ask});
}

static void begin_ask(proxied *own, asked *ask, const char *path, const ProtobufCMessage *request)
{
    *ask = (asked){.own = own, .path = path, .request = packed(&own->it, request)};
    ms_arena_init(&ask->arena, 0);
    ms_parker_init(&ask->done);
    ms_loop_call(own->it.loop, start_call, ask);
}

static ms_grpc_code wait_ask(asked *ask)
{
    /* By the wake-up, which is the last that the loop does with it. */
    while (!ms_parker_park(&ask->done, MS_PARK_FOREVER)) {
    }
    assert_true(ask->is_done);
    ask->answer = ms_arena_copy_str(&ask->own->it.arena, ask->answer);
    ms_arena_release(&ask->arena);
    return ask->code;
}

static ms_grpc_code ask_for(proxied *own, const char *path, const ProtobufCMessage *request,
                            ms_str *answer_out)
{
    asked ask;
    begin_ask(own, &ask, path, request);
    ms_grpc_code code = wait_ask(&ask);
    *answer_out = ask.answer;
    return code;
}

/* Clients. */

static proxy_create_client_request *client_request(proxied *own, const char *id)
{
    ms_arena *arena = &own->it.arena;
    proxy_create_client_request *in = proxy_new(arena, create_client_request);
    in->client_id = ms_wire_text(arena, ms_str_cstr(id));
    in->data_target = ms_wire_text(arena, mock_target(own->it.server));
    in->app_profile_id = ms_wire_text(arena, ms_str_lit("one"));
    return in;
}

static ms_grpc_code create_as(proxied *own, const proxy_create_client_request *in)
{
    ms_str answer;
    return ask_for(own, METHOD("CreateClient"), &in->base, &answer);
}

static void create_client(proxied *own, const char *id)
{
    assert_int_equal(create_as(own, client_request(own, id)), MS_GRPC_OK);
}

/* With client "c". */
static void open_with_client(proxied *own, const mock_answer *script, size_t count)
{
    open_proxy(own, script, count);
    create_client(own, "c");
}

static ms_grpc_code close_client(proxied *own, const char *id)
{
    ms_str answer;
    proxy_close_client_request *in = proxy_new(&own->it.arena, close_client_request);
    in->client_id = ms_wire_text(&own->it.arena, ms_str_cstr(id));
    return ask_for(own, METHOD("CloseClient"), &in->base, &answer);
}

static ms_grpc_code remove_client(proxied *own, const char *id)
{
    ms_str answer;
    proxy_remove_client_request *in = proxy_new(&own->it.arena, remove_client_request);
    in->client_id = ms_wire_text(&own->it.arena, ms_str_cstr(id));
    return ask_for(own, METHOD("RemoveClient"), &in->base, &answer);
}

static proxy_read_row_request *row_request(proxied *own, const char *id, const char *key)
{
    ms_arena *arena = &own->it.arena;
    proxy_read_row_request *in = proxy_new(arena, read_row_request);
    in->client_id = ms_wire_text(arena, ms_str_cstr(id));
    in->table_name = ms_wire_text(arena, ms_str_lit(TABLE_PATH));
    in->row_key = ms_wire_text(arena, ms_str_cstr(key));
    return in;
}

/* The requests that have one of the service's in them, of the same name. */
#define DEFINE_REQUEST(maker, name)                                                                \
    static proxy_##name *maker(proxied *own, const char *id)                                       \
    {                                                                                              \
        ms_arena *arena = &own->it.arena;                                                          \
        proxy_##name *in = proxy_new(arena, name);                                                 \
        in->client_id = ms_wire_text(arena, ms_str_cstr(id));                                      \
        in->request = ms_pb_new(arena, name);                                                      \
        in->request->table_name = ms_wire_text(arena, ms_str_lit(TABLE_PATH));                     \
        return in;                                                                                 \
    }

DEFINE_REQUEST(rows_request, read_rows_request)
DEFINE_REQUEST(write_request, mutate_row_request)
DEFINE_REQUEST(bulk_request, mutate_rows_request)
DEFINE_REQUEST(check_request, check_and_mutate_row_request)
DEFINE_REQUEST(modify_request, read_modify_write_row_request)
DEFINE_REQUEST(sample_request, sample_row_keys_request)

static void a_client_lives_from_its_creation_to_its_removal(void **state)
{
    (void)state;
    proxied own = {0};
    ms_str answer;
    rig_init(&own.it);
    open_proxy(&own, NULL, 0);
    const ProtobufCMessage *read = &row_request(&own, "c", "r")->base;
    assert_int_equal(ask_for(&own, METHOD("ReadRow"), read, &answer), MS_GRPC_NOT_FOUND);
    assert_int_equal(close_client(&own, "c"), MS_GRPC_NOT_FOUND);
    create_client(&own, "c");
    create_client(&own, "d");
    assert_int_equal(create_as(&own, client_request(&own, "c")), MS_GRPC_ALREADY_EXISTS);
    assert_int_equal(close_client(&own, "c"), MS_GRPC_OK);
    assert_int_equal(close_client(&own, "c"), MS_GRPC_OK);
    assert_int_equal(ask_for(&own, METHOD("ReadRow"), read, &answer), MS_GRPC_FAILED_PRECONDITION);
    assert_int_equal(remove_client(&own, "c"), MS_GRPC_OK);
    assert_int_equal(remove_client(&own, "c"), MS_GRPC_NOT_FOUND);
    create_client(&own, "c");
    assert_int_equal(mock_request_count(own.it.server), 0);
    close_proxy(&own);
}

static void what_no_client_can_be_is_refused(void **state)
{
    (void)state;
    proxied own = {0};
    ms_str answer;
    rig_init(&own.it);
    open_proxy(&own, NULL, 0);
    proxy_create_client_request *in = client_request(&own, "");
    assert_int_equal(create_as(&own, in), MS_GRPC_INVALID_ARGUMENT);
    in = client_request(&own, "c");
    in->data_target = ms_wire_text(&own.it.arena, ms_str_lit(""));
    assert_int_equal(create_as(&own, in), MS_GRPC_INVALID_ARGUMENT);
    in = client_request(&own, "c");
    in->data_target = ms_wire_text(&own.it.arena, ms_str_lit("bigtable.example:443"));
    assert_int_equal(create_as(&own, in), MS_GRPC_INVALID_ARGUMENT);
    in = client_request(&own, "c");
    in->security_options =
        (Google__Bigtable__Testproxy__CreateClientRequest__SecurityOptions *)ms_wire_make(
            &own.it.arena,
            &google__bigtable__testproxy__create_client_request__security_options__descriptor);
    in->security_options->use_ssl = true;
    assert_int_equal(create_as(&own, in), MS_GRPC_UNIMPLEMENTED);
    assert_int_equal(ask_for(&own, METHOD("ExecuteQuery"), &in->base, &answer),
                     MS_GRPC_UNIMPLEMENTED);
    close_proxy(&own);
}

/* The address of an emulator comes from the environment. */
static void a_client_of_the_emulator_asks_there(void **state)
{
    (void)state;
    proxied own = {0};
    ms_str answer;
    rig_init(&own.it);
    mock_answer script[] = {{.messages = {rows_message(&own.it, "r")}}};
    open_proxy(&own, script, 1);
    char target[32];
    snprintf(target, sizeof(target), "%.*s", MS_STR_ARG(mock_target(own.it.server)));
    setenv("BIGTABLE_EMULATOR_HOST", target, 1);
    proxy_create_client_request *in = client_request(&own, "c");
    in->data_target = ms_wire_text(&own.it.arena, ms_str_lit("emulator"));
    assert_int_equal(create_as(&own, in), MS_GRPC_OK);
    unsetenv("BIGTABLE_EMULATOR_HOST");
    const ProtobufCMessage *read = &row_request(&own, "c", "r")->base;
    assert_int_equal(ask_for(&own, METHOD("ReadRow"), read, &answer), MS_GRPC_OK);
    assert_int_equal(mock_request_count(own.it.server), 1);
    close_proxy(&own);
}

static void a_client_announces_all_features_where_that_is_wanted(void **state)
{
    (void)state;
    for (int all = 0; all <= 1; all++) {
        proxied own = {0};
        ms_str answer;
        uint32_t features = 0;
        rig_init(&own.it);
        mock_answer script[] = {{.messages = {rows_message(&own.it, "r")}}};
        open_proxy(&own, script, 1);
        proxy_create_client_request *in = client_request(&own, "c");
        in->optional_feature_config = all;
        assert_int_equal(create_as(&own, in), MS_GRPC_OK);
        const ProtobufCMessage *read = &row_request(&own, "c", "r")->base;
        assert_int_equal(ask_for(&own, METHOD("ReadRow"), read, &answer), MS_GRPC_OK);
        const mock_request *request = mock_request_at(own.it.server, 0);
        assert_true(ms_wire_features_decode(header_of(request, "bigtable-features"), &features));
        assert_int_equal(features == MS_WIRE_FEATURES_ALL, all);
        close_proxy(&own);
    }
}

/* Reading. */

#define DATA_METHOD(name) "/google.bigtable.v2.Bigtable/" name

static proxy_row_result *ask_row(proxied *own, const char *path, const ProtobufCMessage *request)
{
    ms_str answer;
    ms_bt_status bt = {0};
    assert_int_equal(ask_for(own, path, request, &answer), MS_GRPC_OK);
    proxy_row_result *out = proxy_unpack(row_result, answer, &own->it.arena, &bt);
    assert_non_null(out);
    assert_non_null(out->status);
    return out;
}

static void read_row_gives_the_row_or_none_or_a_failure(void **state)
{
    (void)state;
    proxied own = {0};
    ms_bt_status bt = {0};
    rig_init(&own.it);
    mock_answer script[] = {{.messages = {rows_message(&own.it, "r")}},
                            {.code = MS_BT_OK},
                            {.code = MS_BT_PERMISSION_DENIED, .text = "not you"}};
    open_with_client(&own, script, 3);
    proxy_read_row_request *in = row_request(&own, "c", "r");
    in->filter = ms_pb_new(&own.it.arena, row_filter);
    in->filter->filter_case = GOOGLE__BIGTABLE__V2__ROW_FILTER__FILTER_CELLS_PER_ROW_LIMIT_FILTER;
    in->filter->cells_per_row_limit_filter = 7;
    proxy_row_result *out = ask_row(&own, METHOD("ReadRow"), &in->base);
    assert_int_equal(out->status->code, MS_BT_OK);
    assert_str_equal(ms_wire_bytes_view(out->row->key), "r");
    assert_int_equal(out->row->n_families, 1);
    assert_string_equal(out->row->families[0]->name, "f");
    assert_str_equal(ms_wire_bytes_view(out->row->families[0]->columns[0]->cells[0]->value), "v");
    const mock_request *request = mock_request_at(own.it.server, 0);
    assert_string_equal(describe_read(&own.it, request), "r limit 1");
    assert_has_headers(request, DATA_METHOD("ReadRows"),
                       "table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft&app_profile_id=one");
    ms_pb_read_rows_request *asked_for = ms_pb_unpack(read_rows_request, request->message,
                                                      &ms_wire_request_limits, &own.it.arena, &bt);
    assert_int_equal(asked_for->filter->cells_per_row_limit_filter, 7);

    out = ask_row(&own, METHOD("ReadRow"), &in->base);
    assert_int_equal(out->status->code, MS_BT_OK);
    assert_null(out->row);

    out = ask_row(&own, METHOD("ReadRow"), &in->base);
    assert_int_equal(out->status->code, MS_BT_PERMISSION_DENIED);
    assert_string_equal(out->status->message, "not you");
    close_proxy(&own);
}

static void read_rows_stops_when_the_suite_has_enough(void **state)
{
    (void)state;
    static const int wanted[] = {0, 2};
    static const size_t rows[] = {3, 2};
    for (size_t i = 0; i < 2; i++) {
        proxied own = {0};
        ms_str answer;
        ms_bt_status bt = {0};
        rig_init(&own.it);
        ms_arena *arena = &own.it.arena;
        mock_answer script[] = {
            {.messages = {rows_message(&own.it, "c b a")}, .is_silent = wanted[i] > 0}};
        open_with_client(&own, script, 1);
        proxy_read_rows_request *in = rows_request(&own, "c");
        in->cancel_after_rows = wanted[i];
        in->request->reversed = true;
        in->request->rows_limit = 5;
        ms_bt_range range = ms_bt_range_make(ms_str_lit("a"), ms_str_lit("d"));
        in->request->rows =
            ms_wire_row_set_to_pb(&(ms_bt_row_set){.ranges = &range, .range_count = 1}, arena);
        assert_int_equal(ask_for(&own, METHOD("ReadRows"), &in->base, &answer), MS_GRPC_OK);
        proxy_rows_result *out = proxy_unpack(rows_result, answer, arena, &bt);
        assert_int_equal(out->status->code, MS_BT_OK);
        assert_int_equal(out->n_rows, rows[i]);
        assert_str_equal(ms_wire_bytes_view(out->rows[0]->key), "c");
        assert_str_equal(ms_wire_bytes_view(out->rows[1]->key), "b");
        assert_string_equal(describe_read(&own.it, mock_request_at(own.it.server, 0)),
                            "[a,d) limit 5 reversed");
        close_proxy(&own);
    }
}

/* Writing. */

static ms_pb_mutation **delete_row(ms_arena *arena)
{
    ms_pb_mutation **list = ms_arena_array(arena, ms_pb_mutation *, 1);
    list[0] = ms_pb_new(arena, mutation);
    list[0]->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_ROW;
    list[0]->delete_from_row = ms_pb_new(arena, mutation_delete_from_row);
    return list;
}

static void mutate_row_is_sent_as_it_is(void **state)
{
    (void)state;
    proxied own = {0};
    ms_str answer;
    ms_bt_status bt = {0};
    rig_init(&own.it);
    ms_arena *arena = &own.it.arena;
    mock_answer script[] = {{.messages = {{"", 0}}}, {.code = MS_BT_NOT_FOUND}};
    open_with_client(&own, script, 2);
    proxy_mutate_row_request *in = write_request(&own, "c");
    in->request->row_key = ms_wire_bytes(ms_str_lit("\xff\x01"));
    in->request->mutations = delete_row(arena);
    in->request->n_mutations = 1;
    static const ms_bt_code codes[] = {MS_BT_OK, MS_BT_NOT_FOUND};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ask_for(&own, METHOD("MutateRow"), &in->base, &answer), MS_GRPC_OK);
        proxy_mutate_row_result *out = proxy_unpack(mutate_row_result, answer, arena, &bt);
        assert_int_equal(out->status->code, codes[i]);
    }
    const mock_request *request = mock_request_at(own.it.server, 0);
    assert_str_equal(request->path, DATA_METHOD("MutateRow"));
    ms_pb_mutate_row_request *sent =
        ms_pb_unpack(mutate_row_request, request->message, &ms_wire_request_limits, arena, &bt);
    assert_str_equal(ms_wire_bytes_view(sent->row_key), "\xff\x01");
    assert_int_equal(sent->n_mutations, 1);
    close_proxy(&own);
}

/* An entry for each letter. */
static void fill_bulk(ms_pb_mutate_rows_request *request, const char *keys, ms_arena *arena)
{
    request->n_entries = strlen(keys);
    request->entries = ms_arena_array(arena, ms_pb_mutate_rows_request_entry *, request->n_entries);
    for (size_t i = 0; i < request->n_entries; i++) {
        request->entries[i] = ms_pb_new(arena, mutate_rows_request_entry);
        request->entries[i]->row_key = ms_wire_bytes(ms_str_make(&keys[i], 1));
        request->entries[i]->mutations = delete_row(arena);
        request->entries[i]->n_mutations = 1;
    }
}

static proxy_mutate_rows_result *ask_bulk(proxied *own, const char *keys)
{
    ms_str answer;
    ms_bt_status bt = {0};
    ms_arena *arena = &own->it.arena;
    proxy_mutate_rows_request *in = bulk_request(own, "c");
    fill_bulk(in->request, keys, arena);
    assert_int_equal(ask_for(own, METHOD("BulkMutateRows"), &in->base, &answer), MS_GRPC_OK);
    proxy_mutate_rows_result *out = proxy_unpack(mutate_rows_result, answer, arena, &bt);
    assert_non_null(out);
    return out;
}

static void bulk_mutate_rows_tells_of_entries_that_failed(void **state)
{
    (void)state;
    proxied own = {0};
    rig_init(&own.it);
    int codes[] = {MS_BT_OK, MS_BT_PERMISSION_DENIED, MS_BT_OK, MS_BT_NOT_FOUND, -1};
    mock_answer script[] = {{.messages = {entries_message(&own.it, codes)}},
                            {.code = MS_BT_PERMISSION_DENIED, .text = "not you"}};
    open_with_client(&own, script, 2);
    proxy_mutate_rows_result *out = ask_bulk(&own, "abcd");
    assert_int_equal(out->status->code, MS_BT_OK);
    assert_int_equal(out->n_entries, 2);
    assert_int_equal(out->entries[0]->index, 1);
    assert_int_equal(out->entries[0]->status->code, MS_BT_PERMISSION_DENIED);
    assert_int_equal(out->entries[1]->index, 3);
    assert_int_equal(out->entries[1]->status->code, MS_BT_NOT_FOUND);

    /* The request as a whole: so does every entry. */
    out = ask_bulk(&own, "xy");
    assert_int_equal(out->status->code, MS_BT_PERMISSION_DENIED);
    assert_int_equal(out->n_entries, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(out->entries[i]->index, i);
        assert_string_equal(out->entries[i]->status->message, "not you");
    }
    assert_int_equal(mock_request_count(own.it.server), 2);
    close_proxy(&own);
}

/* Calls on a row. */

static void check_and_mutate_row_sends_both_branches(void **state)
{
    (void)state;
    proxied own = {0};
    ms_str answer;
    ms_bt_status bt = {0};
    rig_init(&own.it);
    ms_arena *arena = &own.it.arena;
    ms_pb_check_and_mutate_row_response *matched = ms_pb_new(arena, check_and_mutate_row_response);
    matched->predicate_matched = true;
    mock_answer script[] = {{.messages = {packed(&own.it, &matched->base)}},
                            {.code = MS_BT_UNAVAILABLE}};
    open_with_client(&own, script, 2);
    proxy_check_and_mutate_row_request *in = check_request(&own, "c");
    in->request->row_key = ms_wire_bytes(ms_str_lit("r"));
    in->request->true_mutations = delete_row(arena);
    in->request->n_true_mutations = 1;
    in->request->false_mutations = delete_row(arena);
    in->request->n_false_mutations = 1;
    assert_int_equal(ask_for(&own, METHOD("CheckAndMutateRow"), &in->base, &answer), MS_GRPC_OK);
    proxy_check_and_mutate_row_result *out =
        proxy_unpack(check_and_mutate_row_result, answer, arena, &bt);
    assert_int_equal(out->status->code, MS_BT_OK);
    assert_true(out->result->predicate_matched);
    ms_pb_check_and_mutate_row_request *sent =
        ms_pb_unpack(check_and_mutate_row_request, mock_request_at(own.it.server, 0)->message,
                     &ms_wire_request_limits, arena, &bt);
    assert_str_equal(ms_wire_bytes_view(sent->row_key), "r");
    assert_int_equal(sent->n_true_mutations, 1);
    assert_int_equal(sent->n_false_mutations, 1);

    assert_int_equal(ask_for(&own, METHOD("CheckAndMutateRow"), &in->base, &answer), MS_GRPC_OK);
    out = proxy_unpack(check_and_mutate_row_result, answer, arena, &bt);
    assert_int_equal(out->status->code, MS_BT_UNAVAILABLE);
    assert_null(out->result);
    close_proxy(&own);
}

static void read_modify_write_row_gives_the_row(void **state)
{
    (void)state;
    proxied own = {0};
    ms_bt_status bt = {0};
    rig_init(&own.it);
    ms_arena *arena = &own.it.arena;
    ms_pb_read_modify_write_row_response *made = ms_pb_new(arena, read_modify_write_row_response);
    ms_bt_page page;
    ms_status st = {0};
    ms_str family = ms_str_lit("f");
    ms_bt_page_init(&page);
    page.families = &family;
    page.family_count = 1;
    assert_ok(ms_bt_page_reserve_row(&page, 1, &st));
    assert_ok(ms_bt_page_reserve_cell(&page, 2, &st));
    page.rows[page.row_count++] =
        (ms_bt_row){.key_at = ms_bt_page_put(&page, "r", 1), .key_bytes = 1, .cell_count = 1};
    page.cells[page.cell_count++] = (ms_bt_cell){.timestamp_micros = 1000,
                                                 .qualifier_at = ms_bt_page_put(&page, "q", 1),
                                                 .qualifier_bytes = 1,
                                                 .value_at = ms_bt_page_put(&page, "w", 1),
                                                 .value_bytes = 1};
    made->row = ms_wire_row_to_pb(&page, &page.rows[0], arena);
    mock_answer script[] = {{.messages = {packed(&own.it, &made->base)}}};
    ms_bt_page_release(&page);
    open_with_client(&own, script, 1);
    proxy_read_modify_write_row_request *in = modify_request(&own, "c");
    in->request->row_key = ms_wire_bytes(ms_str_lit("r"));
    ms_bt_rule rule = {.kind = MS_BT_RULE_APPEND,
                       .family = ms_str_lit("f"),
                       .qualifier = ms_str_lit("q"),
                       .append = ms_str_lit("more")};
    in->request->rules = ms_wire_rules_to_pb(&rule, 1, arena);
    in->request->n_rules = 1;
    proxy_row_result *out = ask_row(&own, METHOD("ReadModifyWriteRow"), &in->base);
    assert_int_equal(out->status->code, MS_BT_OK);
    assert_str_equal(ms_wire_bytes_view(out->row->families[0]->columns[0]->cells[0]->value), "w");
    ms_pb_read_modify_write_row_request *sent =
        ms_pb_unpack(read_modify_write_row_request, mock_request_at(own.it.server, 0)->message,
                     &ms_wire_request_limits, arena, &bt);
    assert_str_equal(ms_wire_bytes_view(sent->rules[0]->append_value), "more");
    close_proxy(&own);
}

static void sample_row_keys_gives_the_samples(void **state)
{
    (void)state;
    proxied own = {0};
    ms_str answer;
    ms_bt_status bt = {0};
    rig_init(&own.it);
    ms_arena *arena = &own.it.arena;
    ms_pb_sample_row_keys_response *sample = ms_pb_new(arena, sample_row_keys_response);
    sample->row_key = ms_wire_bytes(ms_str_lit("m"));
    sample->offset_bytes = 42;
    mock_answer script[] = {{.messages = {packed(&own.it, &sample->base)}}};
    open_with_client(&own, script, 1);
    proxy_sample_row_keys_request *in = sample_request(&own, "c");
    assert_int_equal(ask_for(&own, METHOD("SampleRowKeys"), &in->base, &answer), MS_GRPC_OK);
    proxy_sample_row_keys_result *out = proxy_unpack(sample_row_keys_result, answer, arena, &bt);
    assert_int_equal(out->status->code, MS_BT_OK);
    assert_int_equal(out->n_samples, 1);
    assert_str_equal(ms_wire_bytes_view(out->samples[0]->row_key), "m");
    assert_int_equal(out->samples[0]->offset_bytes, 42);
    close_proxy(&own);
}

/* Ends. */

static void an_operation_has_the_time_of_its_client(void **state)
{
    (void)state;
    proxied own = {0};
    rig_init(&own.it);
    mock_answer script[] = {{.is_silent = true}};
    open_proxy(&own, script, 1);
    proxy_create_client_request *in = client_request(&own, "c");
    in->per_operation_timeout = ms_wire_duration_to_pb(250000, &own.it.arena);
    assert_int_equal(create_as(&own, in), MS_GRPC_OK);
    int64_t start_ns = ms_env_mono_ns();
    proxy_row_result *out = ask_row(&own, METHOD("ReadRow"), &row_request(&own, "c", "r")->base);
    assert_int_equal(out->status->code, MS_BT_DEADLINE_EXCEEDED);
    assert_true(ms_env_mono_ns() - start_ns >= 250 * MS_NS);
    close_proxy(&own);
}

/* A request of each method. */
static const ProtobufCMessage *request_of(proxied *own, size_t method)
{
    ms_arena *arena = &own->it.arena;
    ProtobufCBinaryData key = ms_wire_bytes(ms_str_lit("first"));
    switch (method) {
    case 0:
        return &row_request(own, "c", "first")->base;
    case 1:
        return &rows_request(own, "c")->base;
    case 2: {
        proxy_mutate_row_request *in = write_request(own, "c");
        in->request->row_key = key;
        in->request->mutations = delete_row(arena);
        in->request->n_mutations = 1;
        return &in->base;
    }
    case 3: {
        proxy_mutate_rows_request *in = bulk_request(own, "c");
        fill_bulk(in->request, "f", arena);
        return &in->base;
    }
    case 4: {
        proxy_check_and_mutate_row_request *in = check_request(own, "c");
        in->request->row_key = key;
        return &in->base;
    }
    case 5: {
        proxy_read_modify_write_row_request *in = modify_request(own, "c");
        in->request->row_key = key;
        return &in->base;
    }
    default:
        return &sample_request(own, "c")->base;
    }
}

/* Closed, the client finishes what is under way and begins nothing. The server answers it when
 * another client asks. */
static void a_closed_client_finishes_what_is_under_way_and_begins_nothing(void **state)
{
    (void)state;
    static const char *const paths[] = {METHOD("ReadRow"),           METHOD("ReadRows"),
                                        METHOD("MutateRow"),         METHOD("BulkMutateRows"),
                                        METHOD("CheckAndMutateRow"), METHOD("ReadModifyWriteRow"),
                                        METHOD("SampleRowKeys")};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        proxied own = {0};
        ms_bt_status bt = {0};
        ms_str answer;
        rig_init(&own.it);
        mock_answer script[] = {
            {.when = ms_str_lit("second"), .messages = {rows_message(&own.it, "second")}},
            {.messages = {i < 2    ? rows_message(&own.it, "first")
                          : i == 3 ? entries_message(&own.it, (int[]){0, -1})
                                   : ms_str_lit("")}}};
        open_proxy(&own, script, 2);
        mock_gather(own.it.server, 2);
        create_client(&own, "c");
        create_client(&own, "d");
        asked first;
        begin_ask(&own, &first, paths[i], request_of(&own, i));
        mock_wait_requests(own.it.server, 1);
        assert_int_equal(close_client(&own, "c"), MS_GRPC_OK);
        assert_int_equal(ask_for(&own, paths[i], request_of(&own, i), &answer),
                         MS_GRPC_FAILED_PRECONDITION);
        assert_int_equal(remove_client(&own, "c"), MS_GRPC_OK);
        (void)ask_row(&own, METHOD("ReadRow"), &row_request(&own, "d", "second")->base);
        assert_int_equal(wait_ask(&first), MS_GRPC_OK);
        /* The status comes first in all results. */
        proxy_mutate_row_result *out =
            proxy_unpack(mutate_row_result, first.answer, &own.it.arena, &bt);
        assert_int_equal(out->status->code, MS_BT_OK);
        assert_int_equal(mock_request_count(own.it.server), 2);
        close_proxy(&own);
    }
}

/* The proxy ends while the server is silent: nobody waits for the operation's own end. */
static void a_proxy_that_ends_gives_up_what_is_under_way(void **state)
{
    (void)state;
    proxied own = {0};
    rig_init(&own.it);
    mock_answer script[] = {{.is_silent = true}, {.is_silent = true}};
    open_with_client(&own, script, 2);
    asked read;
    asked sample;
    proxy_sample_row_keys_request *in = sample_request(&own, "c");
    begin_ask(&own, &sample, METHOD("SampleRowKeys"), &in->base);
    begin_ask(&own, &read, METHOD("ReadRow"), &row_request(&own, "c", "r")->base);
    mock_wait_requests(own.it.server, 2);
    proxy_destroy(own.proxy);
    own.proxy = NULL;
    assert_int_not_equal(wait_ask(&read), MS_GRPC_OK);
    assert_int_not_equal(wait_ask(&sample), MS_GRPC_OK);
    mock_wait_canceled(own.it.server, 2);
    close_proxy(&own);
}

static void only_this_machine_can_be_listened_to(void **state)
{
    (void)state;
    ms_status st = {0};
    proxy *it = NULL;
    assert_int_equal(proxy_create(ms_str_lit("0.0.0.0:0"), &it, &st), MS_INVALID_OPTION);
    assert_null(it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_lives_from_its_creation_to_its_removal),
        cmocka_unit_test(what_no_client_can_be_is_refused),
        cmocka_unit_test(a_client_of_the_emulator_asks_there),
        cmocka_unit_test(a_client_announces_all_features_where_that_is_wanted),
        cmocka_unit_test(read_row_gives_the_row_or_none_or_a_failure),
        cmocka_unit_test(read_rows_stops_when_the_suite_has_enough),
        cmocka_unit_test(mutate_row_is_sent_as_it_is),
        cmocka_unit_test(bulk_mutate_rows_tells_of_entries_that_failed),
        cmocka_unit_test(check_and_mutate_row_sends_both_branches),
        cmocka_unit_test(read_modify_write_row_gives_the_row),
        cmocka_unit_test(sample_row_keys_gives_the_samples),
        cmocka_unit_test(an_operation_has_the_time_of_its_client),
        cmocka_unit_test(a_closed_client_finishes_what_is_under_way_and_begins_nothing),
        cmocka_unit_test(a_proxy_that_ends_gives_up_what_is_under_way),
        cmocka_unit_test(only_this_machine_can_be_listened_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
