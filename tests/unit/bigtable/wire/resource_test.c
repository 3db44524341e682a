/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of what belongs to instances, messages of any type, and operations. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/resource.h"
#include "bigtable/wire/rpc_status.h"

static void paths_come_back(void **state)
{
    (void)state;
    char *path = ms_wire_resource_path(&arena, ms_str_lit("p"), ms_str_lit("i"), "appProfiles",
                                       ms_str_lit("x"));
    assert_string_equal(path, "projects/p/instances/i/appProfiles/x");
    ms_wire_resource back;
    assert_bt_ok(ms_wire_resource_parse(ms_str_cstr(path), "appProfiles", &back, &bt));
    assert_str_equal(back.project, "p");
    assert_str_equal(back.instance, "i");
    assert_str_equal(back.id, "x");
    ms_bt_table_name name;
    path = ms_wire_instance_path(&arena, ms_str_lit("example.com:p"), ms_str_lit("i"));
    assert_bt_ok(ms_wire_instance_parse(ms_str_cstr(path), &name, &bt));
    assert_str_equal(name.project, "example.com:p");
    assert_str_equal(name.instance, "i");
    assert_int_equal(name.table.bytes, 0);
    name.table = ms_str_lit("t");
    assert_string_equal(ms_wire_table_path(&arena, &name),
                        "projects/example.com:p/instances/i/tables/t");
    ms_str project;
    assert_bt_ok(ms_wire_project_parse(ms_str_lit("projects/p"), &project, &bt));
    assert_str_equal(project, "p");
}

static void what_is_no_path_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "projects",
                                        "projects/",
                                        "projects/p",
                                        "projects/p/instances",
                                        "projects/p/instances/",
                                        "projects/p/instances/i",
                                        "projects/p/instances/i/appProfiles",
                                        "projects/p/instances/i/appProfiles/",
                                        "projects/p/instances/i/appProfiles/x/",
                                        "projects/p/instances/i/appProfiles/x/y",
                                        "projects/p/instances/i/tables/x",
                                        "projects//instances/i/appProfiles/x",
                                        "projects/p/instances//appProfiles/x",
                                        "project/p/instances/i/appProfiles/x",
                                        "/projects/p/instances/i/appProfiles/x",
                                        "projects/p q/instances/i/appProfiles/x"};
    ms_wire_resource resource;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_bt_fails(
            ms_wire_resource_parse(ms_str_cstr(wrong[i]), "appProfiles", &resource, &bt),
            MS_BT_INVALID_ARGUMENT, "");
        assert_int_equal(resource.id.bytes, 0);
    }
    assert_bt_fails(ms_wire_resource_parse(ms_str_lit("x"), "clusters", &resource, &bt),
                    MS_BT_INVALID_ARGUMENT,
                    "Invalid name 'x': expected "
                    "projects/<project>/instances/<instance>/clusters/<id>");
    ms_bt_table_name name;
    ms_str project;
    assert_bt_fails(ms_wire_instance_parse(ms_str_lit("projects/p/instances/i/"), &name, &bt),
                    MS_BT_INVALID_ARGUMENT, "expected projects/<project>/instances/<instance>");
    assert_bt_fails(
        ms_wire_instance_parse(ms_str_lit("projects/p/instances/i/tables/t"), &name, &bt),
        MS_BT_INVALID_ARGUMENT, "expected");
    assert_bt_fails(ms_wire_project_parse(ms_str_lit("projects/p/instances/i"), &project, &bt),
                    MS_BT_INVALID_ARGUMENT, "expected projects/<project>");
}

static void instances_and_clusters_are_ready(void **state)
{
    (void)state;
    const ms_pb_instance *instance =
        ms_wire_instance_to_pb(ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("An instance"), &arena);
    assert_string_equal(instance->name, "projects/p/instances/i");
    assert_string_equal(instance->display_name, "An instance");
    assert_int_equal(instance->state, GOOGLE__BIGTABLE__ADMIN__V2__INSTANCE__STATE__READY);
    const ms_pb_cluster *cluster = ms_wire_cluster_to_pb(ms_str_lit("p"), ms_str_lit("i"),
                                                         ms_str_lit("c"), ms_str_lit("z"), &arena);
    assert_string_equal(cluster->name, "projects/p/instances/i/clusters/c");
    assert_string_equal(cluster->location, "projects/p/locations/z");
    assert_int_equal(cluster->serve_nodes, 1);
}

static void a_location_is_a_path_or_a_zone_or_the_local_one(void **state)
{
    static const char *const cases[][2] = {
        {"projects/other/locations/z", "projects/other/locations/z"},
        {"z", "projects/p/locations/z"},
        {"", "projects/p/locations/local"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_pb_cluster *cluster = ms_wire_cluster_to_pb(
            ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("c"), ms_str_cstr(cases[i][0]), &arena);
        assert_string_equal(cluster->location, cases[i][1]);
    }
}

static void a_message_of_any_type_is_taken_as_its_own_only(void **state)
{
    (void)state;
    ms_pb_retry_info *info = ms_pb_new(&arena, retry_info);
    info->retry_delay = ms_pb_new(&arena, duration);
    info->retry_delay->seconds = 3;
    ms_pb_any *any = ms_wire_any_to_pb(&info->base, &arena);
    assert_string_equal(any->type_url, "type.googleapis.com/google.rpc.RetryInfo");
    const ms_pb_retry_info *back =
        ms_wire_any_unpack(any, ms_pb_retry_info_class(), &ms_wire_response_limits, &arena, &bt);
    assert_non_null(back);
    assert_int_equal(back->retry_delay->seconds, 3);
    assert_null(
        ms_wire_any_unpack(any, ms_pb_error_info_class(), &ms_wire_response_limits, &arena, &bt));
    assert_int_equal(bt.code, MS_BT_OK);
    any->value.len--;
    assert_null(
        ms_wire_any_unpack(any, ms_pb_retry_info_class(), &ms_wire_response_limits, &arena, &bt));
    assert_int_equal(bt.code, MS_BT_INTERNAL);
}

static void an_operation_is_done_well_or_not(void **state)
{
    (void)state;
    const ms_pb_empty *empty = ms_pb_new(&arena, empty);
    const ms_pb_operation *good = ms_wire_operation_to_pb(ms_str_lit("operations/1"), &empty->base,
                                                          &empty->base, &bt, &arena);
    assert_true(good->done);
    assert_int_equal(good->result_case, GOOGLE__LONGRUNNING__OPERATION__RESULT_RESPONSE);
    assert_string_equal(good->response->type_url, "type.googleapis.com/google.protobuf.Empty");
    assert_non_null(good->metadata);
    ms_bt_status_set(&bt, MS_BT_NOT_FOUND, "no table");
    const ms_pb_operation *bad =
        ms_wire_operation_to_pb(ms_str_lit("operations/2"), NULL, NULL, &bt, &arena);
    assert_int_equal(bad->result_case, GOOGLE__LONGRUNNING__OPERATION__RESULT_ERROR);
    assert_int_equal(bad->error->code, MS_BT_NOT_FOUND);
    assert_string_equal(bad->error->message, "no table");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(paths_come_back),
        TEST(what_is_no_path_is_refused),
        TEST(instances_and_clusters_are_ready),
        TEST(a_location_is_a_path_or_a_zone_or_the_local_one),
        TEST(a_message_of_any_type_is_taken_as_its_own_only),
        TEST(an_operation_is_done_well_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
