/* SPDX-License-Identifier: Apache-2.0 */
/* App profiles: what is there, what they let calls do, and that they stay. */
#include "change_testing.h"

#include "bigtable/client/single_row.h"
#include "bigtable/store/instance.h"

static ms_bt_profile profile_of(const char *id)
{
    return (ms_bt_profile){.project = ms_str_lit("p"),
                           .instance = ms_str_lit("i"),
                           .id = ms_str_cstr(id),
                           .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
                           .cluster = ms_str_lit("local-c1")};
}

static ms_bt_status profile_call(fixture *f, const ms_bt_profile *profile,
                                 void (*submit)(ms_bt_client *, ms_bt_profile_call *), ms_buf *out)
{
    ms_status st = {0};
    ms_bt_profile_call call;
    ms_bt_profile_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.profile = *profile;
    submit(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    for (size_t i = 0; out != NULL && i < call.answer_count; i++) {
        const ms_bt_profile *p = call.answers[i];
        assert_ok(ms_buf_format(out, &st, "%s%.*s:%.*s%s%s%s", i == 0 ? "" : " ", MS_STR_ARG(p->id),
                                MS_STR_ARG(p->cluster),
                                p->routing == MS_BT_ROUTING_MULTI_CLUSTER ? "*" : "",
                                p->allows_transactions ? "+" : "", p->is_data_boost ? "!" : ""));
    }
    ms_bt_status bt = call.call.status;
    ms_bt_profile_call_release(&call);
    return bt;
}

static void create(fixture *f, const ms_bt_profile *profile)
{
    ms_bt_status bt = profile_call(f, profile, ms_bt_client_create_profile, NULL);
    assert_bt(&bt, MS_BT_OK);
}

static void assert_profiles(fixture *f, const char *expected)
{
    ms_buf out;
    ms_buf_init(&out, 4096);
    ms_bt_profile any = profile_of("");
    ms_bt_status bt = profile_call(f, &any, ms_bt_client_list_profiles, &out);
    assert_bt(&bt, MS_BT_OK);
    assert_str_equal(ms_buf_view(&out), expected);
    ms_buf_release(&out);
}

static void profiles_are_made_shown_changed_and_deleted(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_bt_profile profile = profile_of("x");
    ms_bt_status bt = profile_call(f, &profile, ms_bt_client_list_profiles, NULL);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    /* A profile makes its instance exist, and "default" with it. */
    create(f, &profile);
    assert_profiles(f, "default:local-c1+ x:local-c1");
    bt = profile_call(f, &profile, ms_bt_client_create_profile, NULL);
    assert_bt(&bt, MS_BT_ALREADY_EXISTS);
    profile.allows_transactions = true;
    bt = profile_call(f, &profile, ms_bt_client_update_profile, NULL);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_profile multi = profile_of("a");
    multi.routing = MS_BT_ROUTING_MULTI_CLUSTER;
    multi.cluster = (ms_str){NULL, 0};
    create(f, &multi);
    fixture_close(f);
    fixture_open(f);
    assert_profiles(f, "a:* default:local-c1+ x:local-c1+");
    ms_buf out;
    ms_buf_init(&out, 4096);
    bt = profile_call(f, &profile, ms_bt_client_get_profile, &out);
    assert_bt(&bt, MS_BT_OK);
    assert_str_equal(ms_buf_view(&out), "x:local-c1+");
    ms_buf_release(&out);
    bt = profile_call(f, &profile, ms_bt_client_delete_profile, NULL);
    assert_bt(&bt, MS_BT_OK);
    bt = profile_call(f, &profile, ms_bt_client_delete_profile, NULL);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    bt = profile_call(f, &profile, ms_bt_client_get_profile, NULL);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    bt = profile_call(f, &profile, ms_bt_client_update_profile, NULL);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    assert_profiles(f, "a:* default:local-c1+");
}

static void add_cluster(fixture *f, const char *id)
{
    ms_bt_instance_call call;
    ms_bt_instance_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.instance = (ms_bt_instance){.project = ms_str_lit("p"), .id = ms_str_lit("i")};
    call.cluster = (ms_bt_cluster){.id = ms_str_cstr(id)};
    ms_bt_store_create_cluster(f->store, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_instance_call_release(&call);
}

static void assert_refused(fixture *f, const ms_bt_profile *profile, const char *text)
{
    ms_bt_status bt = profile_call(f, profile, ms_bt_client_create_profile, NULL);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    assert_string_equal(bt.text, text);
}

static void a_profile_routes_to_clusters_that_exist(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    const ms_str both[] = {ms_str_lit("local-c1"), ms_str_lit("z9")};
    ms_bt_profile single = profile_of("single");
    single.cluster = ms_str_lit("z9");
    ms_bt_profile multi = profile_of("multi");
    multi.routing = MS_BT_ROUTING_MULTI_CLUSTER;
    multi.cluster = (ms_str){NULL, 0};
    multi.clusters = both;
    multi.cluster_count = 2;
    const char *text = "cluster \"projects/p/instances/i/clusters/z9\" not found";
    /* Neither where the profile would make the instance, nor in one that is there. */
    assert_refused(f, &single, text);
    assert_refused(f, &multi, text);
    ms_bt_status bt = profile_call(f, &single, ms_bt_client_list_profiles, NULL);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    create_stream_table(f, NULL, 0);
    assert_refused(f, &single, text);
    assert_refused(f, &multi, text);
    ms_bt_profile changed = profile_of("default");
    changed.cluster = ms_str_lit("z9");
    bt = profile_call(f, &changed, ms_bt_client_update_profile, NULL);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    assert_profiles(f, "default:local-c1+");
    add_cluster(f, "z9");
    create(f, &single);
    create(f, &multi);
    assert_profiles(f, "default:local-c1+ multi:* single:z9");
}

static void the_default_profile_can_be_changed_but_not_deleted(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    add_cluster(f, "z9");
    ms_bt_profile profile = profile_of("default");
    profile.cluster = ms_str_lit("z9");
    ms_bt_status bt = profile_call(f, &profile, ms_bt_client_create_profile, NULL);
    assert_bt(&bt, MS_BT_ALREADY_EXISTS);
    bt = profile_call(f, &profile, ms_bt_client_delete_profile, NULL);
    assert_bt(&bt, MS_BT_FAILED_PRECONDITION);
    bt = profile_call(f, &profile, ms_bt_client_update_profile, NULL);
    assert_bt(&bt, MS_BT_OK);
    assert_profiles(f, "default:z9");
    /* Changes come from its cluster now. */
    stream s = stream_from_now(f, "", "");
    put(f, "a", "1");
    const ms_bt_change_page *page = NULL;
    assert_int_equal(ms_bt_change_read_wait(s.read, &f->parker, &page), MS_BT_POLL_PAGE);
    assert_str_equal(page->changes[0].source_cluster, "z9");
    ms_bt_change_read_return(s.read, page);
    stream_close(&s);
}

static void wrong_profiles_are_refused(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_bt_profile profile = profile_of("-x");
    ms_bt_status bt = profile_call(f, &profile, ms_bt_client_create_profile, NULL);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    profile = profile_of("x");
    profile.project = ms_str_lit("a/b");
    bt = profile_call(f, &profile, ms_bt_client_create_profile, NULL);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    profile = profile_of("x");
    profile.is_data_boost = true;
    profile.allows_transactions = true;
    bt = profile_call(f, &profile, ms_bt_client_create_profile, NULL);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    bt = profile_call(f, &profile, ms_bt_client_list_profiles, NULL);
    assert_bt(&bt, MS_BT_NOT_FOUND);
}

/* What calls may do. */

static ms_bt_status write_as(fixture *f, const char *id)
{
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 16);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("f"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("a"), &st));
    assert_ok(
        ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("q"), 0, ms_str_lit("v"), &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &f->mailbox, done_nothing, NULL);
    call.call.app_profile = ms_str_cstr(id);
    call.table = &f->table;
    call.batch = &batch;
    ms_bt_client_mutate_rows(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    ms_bt_status bt = status_of(&call);
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
    return bt;
}

static ms_bt_status modify_as(fixture *f, const char *id)
{
    ms_bt_rule rule = {.kind = MS_BT_RULE_APPEND,
                       .family = ms_str_lit("f"),
                       .qualifier = ms_str_lit("q"),
                       .append = ms_str_lit("x")};
    ms_bt_read_modify_write call;
    ms_bt_read_modify_write_init(&call, &f->mailbox, done_nothing, NULL);
    call.call.app_profile = ms_str_cstr(id);
    call.table = &f->table;
    call.row_key = ms_str_lit("a");
    call.rules = &rule;
    call.rule_count = 1;
    ms_bt_client_read_modify_write(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    ms_bt_status bt = call.call.status;
    ms_bt_read_modify_write_release(&call);
    return bt;
}

static ms_bt_status read_as(fixture *f, const char *id, bool is_point)
{
    ms_str key = ms_str_lit("a");
    ms_bt_read_options options = {.table = f->table, .app_profile = ms_str_cstr(id)};
    options.rows = (ms_bt_row_set){.keys = &key, .key_count = is_point ? 1 : 0};
    ms_buf out;
    ms_buf_init(&out, 1u << 16);
    ms_bt_status bt = read_text(f, &options, &out);
    ms_buf_release(&out);
    return bt;
}

static ms_bt_code changes_as(fixture *f, const char *id)
{
    stream s = stream_open(f, &(ms_bt_change_options){.app_profile = ms_str_cstr(id),
                                                      .start_micros = START_MICROS,
                                                      .end_micros = START_MICROS});
    const ms_bt_change_page *page = NULL;
    ms_bt_poll poll = stream_wait(&s, &page, true);
    ms_bt_code code = poll == MS_BT_POLL_PAGE ? MS_BT_OK : ms_bt_change_read_status(s.read)->code;
    stream_close(&s);
    return code;
}

static void calls_do_what_their_profile_allows(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    ms_bt_profile plain = profile_of("plain");
    create(f, &plain);
    ms_bt_profile multi = profile_of("multi");
    multi.routing = MS_BT_ROUTING_MULTI_CLUSTER;
    multi.cluster = (ms_str){NULL, 0};
    create(f, &multi);
    ms_bt_profile boost = profile_of("boost");
    boost.is_data_boost = true;
    create(f, &boost);
    const struct {
        const char *id;
        ms_bt_code write, modify, scan, point, changes;
    } cases[] = {
        {"", MS_BT_OK, MS_BT_OK, MS_BT_OK, MS_BT_OK, MS_BT_OK},
        {"default", MS_BT_OK, MS_BT_OK, MS_BT_OK, MS_BT_OK, MS_BT_OK},
        {"plain", MS_BT_OK, MS_BT_FAILED_PRECONDITION, MS_BT_OK, MS_BT_OK, MS_BT_OK},
        {"multi", MS_BT_OK, MS_BT_FAILED_PRECONDITION, MS_BT_OK, MS_BT_OK,
         MS_BT_FAILED_PRECONDITION},
        {"boost", MS_BT_FAILED_PRECONDITION, MS_BT_FAILED_PRECONDITION, MS_BT_OK,
         MS_BT_FAILED_PRECONDITION, MS_BT_FAILED_PRECONDITION},
        {"none", MS_BT_NOT_FOUND, MS_BT_NOT_FOUND, MS_BT_NOT_FOUND, MS_BT_NOT_FOUND,
         MS_BT_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_bt_status bt = write_as(f, cases[i].id);
        assert_bt(&bt, cases[i].write);
        bt = modify_as(f, cases[i].id);
        assert_bt(&bt, cases[i].modify);
        bt = read_as(f, cases[i].id, false);
        assert_bt(&bt, cases[i].scan);
        bt = read_as(f, cases[i].id, true);
        assert_bt(&bt, cases[i].point);
        assert_int_equal(changes_as(f, cases[i].id), cases[i].changes);
    }
    ms_bt_status bt = modify_as(f, "plain");
    assert_string_equal(bt.text, "Single-row transactions are not allowed by this app profile");
    bt = write_as(f, "none");
    assert_string_equal(bt.text,
                        "App profile \"projects/p/instances/i/appProfiles/none\" not found; this "
                        "makes it: millstream bigtable create-profile p/i/none --cluster local-c1");
}

static void ping_asks_for_the_instance(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_bt_ping call;
    ms_bt_ping_init(&call, &f->mailbox, done_nothing, NULL);
    call.instance = &f->table;
    ms_bt_client_ping(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_NOT_FOUND);
    create_stream_table(f, NULL, 0);
    ms_bt_client_ping(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    call.call.app_profile = ms_str_lit("none");
    ms_bt_client_ping(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_NOT_FOUND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, timed_setup, timed_teardown)
    const struct CMUnitTest tests[] = {
        TEST(profiles_are_made_shown_changed_and_deleted),
        TEST(a_profile_routes_to_clusters_that_exist),
        TEST(the_default_profile_can_be_changed_but_not_deleted),
        TEST(wrong_profiles_are_refused),
        TEST(calls_do_what_their_profile_allows),
        TEST(ping_asks_for_the_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
