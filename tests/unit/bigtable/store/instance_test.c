/* SPDX-License-Identifier: Apache-2.0 */
/* Instances and clusters: what exists because of what, what is kept, and what cannot go. */
#include "change_testing.h"

#include "bigtable/store/instance.h"

typedef void (*submit_fn)(ms_bt_store *, ms_bt_instance_call *);

static ms_bt_instance instance_of(const char *id)
{
    return (ms_bt_instance){.project = ms_str_lit("p"), .id = ms_str_cstr(id)};
}

/* Answers as "id(name){cluster/location,...}". */
static ms_bt_status instance_call(fixture *f, const ms_bt_instance *instance,
                                  const ms_bt_cluster *cluster, submit_fn submit, ms_buf *out)
{
    ms_status st = {0};
    ms_bt_instance_call call;
    ms_bt_instance_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.instance = *instance;
    if (cluster != NULL) {
        call.cluster = *cluster;
    }
    submit(f->store, &call);
    assert_true(ms_bt_call_is_outstanding(&call.call));
    ms_bt_call_wait(&call.call, &f->parker);
    for (size_t i = 0; out != NULL && i < call.answer_count; i++) {
        const ms_bt_instance *answer = call.answers[i];
        assert_ok(ms_buf_format(out, &st, "%s%.*s(%.*s){", i == 0 ? "" : " ",
                                MS_STR_ARG(answer->id), MS_STR_ARG(answer->display_name)));
        for (size_t j = 0; j < answer->cluster_count; j++) {
            assert_ok(ms_buf_format(out, &st, "%s%.*s/%.*s", j == 0 ? "" : ",",
                                    MS_STR_ARG(answer->clusters[j].id),
                                    MS_STR_ARG(answer->clusters[j].location)));
        }
        assert_ok(ms_buf_append_byte(out, '}', &st));
    }
    ms_bt_status bt = call.call.status;
    ms_bt_instance_call_release(&call);
    return bt;
}

static void assert_answer(fixture *f, const ms_bt_instance *instance, submit_fn submit,
                          const char *expected)
{
    ms_buf out;
    ms_buf_init(&out, 1u << 16);
    ms_bt_status bt = instance_call(f, instance, NULL, submit, &out);
    assert_bt(&bt, MS_BT_OK);
    assert_str_equal(ms_buf_view(&out), expected);
    ms_buf_release(&out);
}

static void assert_refused(fixture *f, const ms_bt_instance *instance, submit_fn submit,
                           ms_bt_code code)
{
    ms_bt_status bt = instance_call(f, instance, NULL, submit, NULL);
    assert_bt(&bt, code);
}

static ms_bt_status cluster_call(fixture *f, const char *instance, const char *cluster,
                                 submit_fn submit)
{
    ms_bt_instance named = instance_of(instance);
    ms_bt_cluster one = {.id = ms_str_cstr(cluster), .location = ms_str_lit("new")};
    return instance_call(f, &named, &one, submit, NULL);
}

static void a_table_makes_its_instance_exist(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_bt_instance i = instance_of("i");
    assert_refused(f, &i, ms_bt_store_get_instance, MS_BT_NOT_FOUND);
    assert_answer(f, &i, ms_bt_store_list_instances, "");
    create_stream_table(f, NULL, 0);
    assert_answer(f, &i, ms_bt_store_get_instance, "i(i){local-c1/}");
    assert_answer(f, &i, ms_bt_store_list_instances, "i(i){local-c1/}");
    ms_bt_status bt = call_with_key(f, "", ms_bt_client_drop_table);
    assert_bt(&bt, MS_BT_OK);
    assert_refused(f, &i, ms_bt_store_get_instance, MS_BT_NOT_FOUND);
}

static void instances_are_made_changed_and_listed(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    const ms_bt_cluster clusters[] = {{.id = ms_str_lit("c2"), .location = ms_str_lit("b")},
                                      {.id = ms_str_lit("c1"), .location = ms_str_lit("a")}};
    ms_bt_instance i = instance_of("made");
    i.display_name = ms_str_lit("Made");
    assert_refused(f, &i, ms_bt_store_create_instance, MS_BT_INVALID_ARGUMENT);
    i.clusters = clusters;
    i.cluster_count = 2;
    assert_answer(f, &i, ms_bt_store_create_instance, "made(Made){c1/a,c2/b}");
    assert_refused(f, &i, ms_bt_store_create_instance, MS_BT_ALREADY_EXISTS);
    create_stream_table(f, NULL, 0);
    ms_bt_instance implied = instance_of("i");
    implied.clusters = clusters;
    implied.cluster_count = 1;
    assert_refused(f, &implied, ms_bt_store_create_instance, MS_BT_ALREADY_EXISTS);
    ms_bt_profile_call profile;
    ms_bt_profile_call_init(&profile, &f->mailbox, done_nothing, NULL);
    profile.profile = (ms_bt_profile){.project = ms_str_lit("p"),
                                      .instance = ms_str_lit("other"),
                                      .id = ms_str_lit("x"),
                                      .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
                                      .cluster = ms_str_lit("local-c1")};
    ms_bt_client_create_profile(f->client, &profile);
    ms_bt_call_wait(&profile.call, &f->parker);
    assert_bt(&profile.call.status, MS_BT_OK);
    ms_bt_profile_call_release(&profile);
    fixture_close(f);
    fixture_open(f);
    assert_answer(f, &i, ms_bt_store_list_instances,
                  "i(i){local-c1/} made(Made){c1/a,c2/b} other(other){local-c1/}");
    i.display_name = ms_str_lit("Renamed");
    assert_answer(f, &i, ms_bt_store_update_instance, "made(Renamed){c1/a,c2/b}");
    ms_bt_instance none = instance_of("none");
    assert_refused(f, &none, ms_bt_store_update_instance, MS_BT_NOT_FOUND);
    ms_bt_instance elsewhere = {.project = ms_str_lit("q")};
    assert_answer(f, &elsewhere, ms_bt_store_list_instances, "");
    assert_answer(f, &i, ms_bt_store_get_instance, "made(Renamed){c1/a,c2/b}");
}

static void clusters_come_and_go(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    ms_bt_instance i = instance_of("i");
    ms_bt_status bt = cluster_call(f, "i", "c0", ms_bt_store_create_cluster);
    assert_bt(&bt, MS_BT_OK);
    assert_answer(f, &i, ms_bt_store_get_instance, "i(i){c0/new,local-c1/}");
    bt = cluster_call(f, "i", "c0", ms_bt_store_create_cluster);
    assert_bt(&bt, MS_BT_ALREADY_EXISTS);
    bt = cluster_call(f, "i", "a/b", ms_bt_store_create_cluster);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    bt = cluster_call(f, "none", "c", ms_bt_store_create_cluster);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    bt = cluster_call(f, "i", "none", ms_bt_store_delete_cluster);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    ms_bt_profile_call profile;
    ms_bt_profile_call_init(&profile, &f->mailbox, done_nothing, NULL);
    profile.profile = (ms_bt_profile){.project = ms_str_lit("p"),
                                      .instance = ms_str_lit("i"),
                                      .id = ms_str_lit("x"),
                                      .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
                                      .cluster = ms_str_lit("none")};
    ms_bt_client_create_profile(f->client, &profile);
    ms_bt_call_wait(&profile.call, &f->parker);
    assert_bt(&profile.call.status, MS_BT_NOT_FOUND);
    profile.profile.cluster = ms_str_lit("c0");
    ms_bt_client_create_profile(f->client, &profile);
    ms_bt_call_wait(&profile.call, &f->parker);
    assert_bt(&profile.call.status, MS_BT_OK);
    bt = cluster_call(f, "i", "c0", ms_bt_store_delete_cluster);
    assert_bt(&bt, MS_BT_FAILED_PRECONDITION);
    bt = cluster_call(f, "i", "local-c1", ms_bt_store_delete_cluster);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_client_delete_profile(f->client, &profile);
    ms_bt_call_wait(&profile.call, &f->parker);
    assert_bt(&profile.call.status, MS_BT_OK);
    /* What would make it again names a cluster that is there. */
    ms_bt_client_delete_profile(f->client, &profile);
    ms_bt_call_wait(&profile.call, &f->parker);
    assert_bt(&profile.call.status, MS_BT_NOT_FOUND);
    assert_string_equal(profile.call.status.text,
                        "App profile \"projects/p/instances/i/appProfiles/x\" not found; this "
                        "makes it: millstream bigtable create-profile p/i/x --cluster c0");
    ms_bt_profile_call_release(&profile);
    bt = cluster_call(f, "i", "c0", ms_bt_store_delete_cluster);
    assert_bt(&bt, MS_BT_FAILED_PRECONDITION);
    assert_answer(f, &i, ms_bt_store_get_instance, "i(i){c0/new}");
}

static ms_bt_status protect(fixture *f, bool is_protected)
{
    ms_bt_table table = {.is_protected = is_protected};
    ms_bt_table_call call = admin_call_of(f);
    call.table = &table;
    call.update_mask = MS_BT_UPDATE_PROTECTION;
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_update_table);
    ms_bt_table_call_release(&call);
    return bt;
}

static void an_instance_goes_with_all_that_is_in_it_unless_that_must_stay(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    put(f, "a", "1");
    ms_bt_instance i = instance_of("i");
    assert_refused(f, &i, ms_bt_store_delete_instance, MS_BT_FAILED_PRECONDITION);
    ms_bt_status bt = set_retention(f, 0);
    assert_bt(&bt, MS_BT_OK);
    bt = protect(f, true);
    assert_bt(&bt, MS_BT_OK);
    assert_refused(f, &i, ms_bt_store_delete_instance, MS_BT_FAILED_PRECONDITION);
    assert_rows(f, "a{f:q@1000000=1}");
    bt = protect(f, false);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table other = {.name = {ms_str_lit("p"), ms_str_lit("i2"), ms_str_lit("t")}};
    ms_bt_table_call call = admin_call_of(f);
    call.table = &other;
    bt = admin_call(f, &call, ms_bt_client_create_table);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table_call_release(&call);
    assert_answer(f, &i, ms_bt_store_delete_instance, "");
    assert_refused(f, &i, ms_bt_store_delete_instance, MS_BT_NOT_FOUND);
    assert_answer(f, &i, ms_bt_store_list_instances, "i2(i2){local-c1/}");
    fixture_close(f);
    fixture_open(f);
    assert_answer(f, &i, ms_bt_store_list_instances, "i2(i2){local-c1/}");
    create_stream_table(f, NULL, 0);
    assert_rows(f, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, timed_setup, timed_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_table_makes_its_instance_exist),
        TEST(instances_are_made_changed_and_listed),
        TEST(clusters_come_and_go),
        TEST(an_instance_goes_with_all_that_is_in_it_unless_that_must_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
