/* SPDX-License-Identifier: Apache-2.0 */
/* App profiles as messages: there and back, updates by mask, and etags. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/profile.h"

#define ROUTING(name)                                                                              \
    GOOGLE__BIGTABLE__ADMIN__V2__APP_PROFILE__MULTI_CLUSTER_ROUTING_USE_ANY__##name

static const ms_str clusters[] = {{"c1", 2}, {"c2", 2}};

static const ms_bt_profile samples[] = {
    {.project = {"p", 1},
     .instance = {"i", 1},
     .id = {"single", 6},
     .description = {"One", 3},
     .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
     .cluster = {"c1", 2},
     .allows_transactions = true,
     .priority = MS_BT_PRIORITY_HIGH},
    {.project = {"p", 1},
     .instance = {"i", 1},
     .id = {"multi", 5},
     .routing = MS_BT_ROUTING_MULTI_CLUSTER,
     .clusters = clusters,
     .cluster_count = 2},
    {.project = {"p", 1},
     .instance = {"i", 1},
     .id = {"boost", 5},
     .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
     .cluster = {"c1", 2},
     .is_data_boost = true},
};
#define SAMPLE_COUNT (sizeof(samples) / sizeof(samples[0]))

static void assert_same_profile(const ms_bt_profile *a, const ms_bt_profile *b)
{
    assert_true(ms_str_equals(a->project, b->project));
    assert_true(ms_str_equals(a->instance, b->instance));
    assert_true(ms_str_equals(a->id, b->id));
    assert_true(ms_str_equals(a->description, b->description));
    assert_int_equal(a->routing, b->routing);
    assert_true(ms_str_equals(a->cluster, b->cluster));
    assert_int_equal(a->allows_transactions, b->allows_transactions);
    assert_int_equal(a->cluster_count, b->cluster_count);
    for (size_t i = 0; i < a->cluster_count; i++) {
        assert_true(ms_str_equals(a->clusters[i], b->clusters[i]));
    }
    assert_int_equal(a->is_data_boost, b->is_data_boost);
    assert_int_equal(a->priority, b->priority);
}

static void profiles_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        ms_bt_profile back;
        ms_str bytes = packed(&ms_wire_profile_to_pb(&samples[i], &arena)->base);
        assert_bt_ok(ms_wire_profile_from_pb(
            ms_pb_unpack(app_profile, bytes, &ms_wire_response_limits, &arena, &bt), &arena, &back,
            &bt));
        assert_same_profile(&back, &samples[i]);
        bytes = packed(&ms_wire_create_profile_to_pb(&samples[i], &arena)->base);
        assert_bt_ok(ms_wire_create_profile_from_pb(
            ms_pb_unpack(create_app_profile_request, bytes, &ms_wire_request_limits, &arena, &bt),
            &arena, &back, &bt));
        assert_same_profile(&back, &samples[i]);
    }
}

static void a_profile_says_how_it_routes(void **state)
{
    (void)state;
    ms_bt_profile back;
    ms_pb_app_profile *message = ms_wire_profile_to_pb(&samples[0], &arena);
    message->routing_policy_case = 0;
    assert_bt_fails(ms_wire_profile_from_pb(message, &arena, &back, &bt), MS_BT_INVALID_ARGUMENT,
                    "a routing policy must be set");
    message = ms_wire_profile_to_pb(&samples[1], &arena);
    message->multi_cluster_routing_use_any->affinity_case = ROUTING(AFFINITY_ROW_AFFINITY);
    assert_bt_fails(ms_wire_profile_from_pb(message, &arena, &back, &bt), MS_BT_UNIMPLEMENTED,
                    "row_affinity");
    message = ms_wire_profile_to_pb(&samples[0], &arena);
    message->name = ms_wire_text(&arena, ms_str_lit("projects/p/instances/i/tables/t"));
    assert_bt_fails(ms_wire_profile_from_pb(message, &arena, &back, &bt), MS_BT_INVALID_ARGUMENT,
                    "appProfiles");
    ms_pb_create_app_profile_request *request = ms_wire_create_profile_to_pb(&samples[0], &arena);
    request->app_profile = NULL;
    assert_bt_fails(ms_wire_create_profile_from_pb(request, &arena, &back, &bt),
                    MS_BT_INVALID_ARGUMENT, "'app_profile' : not set");
}

static void both_ways_to_say_a_priority_are_taken(void **state)
{
    (void)state;
    ms_bt_profile back;
    ms_pb_app_profile *message = ms_wire_profile_to_pb(&samples[1], &arena);
    message->isolation_case = GOOGLE__BIGTABLE__ADMIN__V2__APP_PROFILE__ISOLATION_PRIORITY;
    message->priority = GOOGLE__BIGTABLE__ADMIN__V2__APP_PROFILE__PRIORITY__PRIORITY_LOW;
    assert_bt_ok(ms_wire_profile_from_pb(message, &arena, &back, &bt));
    assert_int_equal(back.priority, MS_BT_PRIORITY_LOW);
    message->priority = (Google__Bigtable__Admin__V2__AppProfile__Priority)9;
    assert_bt_fails(ms_wire_profile_from_pb(message, &arena, &back, &bt), MS_BT_INVALID_ARGUMENT,
                    "9 is no priority");
    message->isolation_case = 0;
    assert_bt_ok(ms_wire_profile_from_pb(message, &arena, &back, &bt));
    assert_int_equal(back.priority, MS_BT_PRIORITY_UNSPECIFIED);
}

static void an_update_of_ours_replaces_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        for (size_t j = 0; j < SAMPLE_COUNT; j++) {
            ms_bt_profile wanted = samples[i];
            wanted.id = samples[j].id;
            ms_bt_profile back;
            ms_str bytes = packed(&ms_wire_update_profile_to_pb(&wanted, &arena)->base);
            assert_bt_ok(
                ms_wire_update_profile_from_pb(ms_pb_unpack(update_app_profile_request, bytes,
                                                            &ms_wire_request_limits, &arena, &bt),
                                               &samples[j], &arena, &back, &bt));
            assert_same_profile(&back, &wanted);
        }
    }
}

/* An update of the first sample by one path of a message made from another. */
static ms_bt_code update(const char *path, const char *etag, ms_bt_profile *profile_out)
{
    ms_pb_update_app_profile_request *message = ms_pb_new(&arena, update_app_profile_request);
    message->app_profile = ms_wire_profile_to_pb(&samples[1], &arena);
    message->app_profile->etag = ms_wire_text(&arena, ms_str_cstr(etag));
    message->app_profile->description = ms_wire_text(&arena, ms_str_lit("new"));
    message->update_mask = ms_pb_new(&arena, field_mask);
    char *paths[] = {ms_wire_text(&arena, ms_str_cstr(path))};
    message->update_mask->paths = paths;
    message->update_mask->n_paths = path[0] == '\0' ? 0 : 1;
    return ms_wire_update_profile_from_pb(message, &samples[0], &arena, profile_out, &bt);
}

static void a_mask_says_what_is_replaced(void **state)
{
    (void)state;
    ms_bt_profile back;
    assert_bt_ok(update("description", "", &back));
    assert_str_equal(back.description, "new");
    assert_int_equal(back.routing, MS_BT_ROUTING_SINGLE_CLUSTER);
    assert_int_equal(back.priority, MS_BT_PRIORITY_HIGH);
    assert_bt_ok(update("multi_cluster_routing_use_any", "", &back));
    assert_str_equal(back.description, "One");
    assert_int_equal(back.routing, MS_BT_ROUTING_MULTI_CLUSTER);
    assert_false(back.allows_transactions);
    assert_bt_ok(update("standard_isolation.priority", "", &back));
    assert_int_equal(back.priority, MS_BT_PRIORITY_UNSPECIFIED);
    assert_bt_fails(update("name", "", &back), MS_BT_INVALID_ARGUMENT, "incorrect path 'name'");
    assert_bt_fails(update("descriptions", "", &back), MS_BT_INVALID_ARGUMENT, "incorrect path");
    assert_bt_fails(update("", "", &back), MS_BT_INVALID_ARGUMENT, "'update_mask' : not set");
}

static void an_etag_is_that_of_the_profile_as_it_is(void **state)
{
    (void)state;
    ms_bt_profile back;
    const char *current = ms_wire_profile_to_pb(&samples[0], &arena)->etag;
    const char *other = ms_wire_profile_to_pb(&samples[2], &arena)->etag;
    assert_string_not_equal(current, other);
    assert_bt_ok(update("description", current, &back));
    assert_bt_fails(update("description", other, &back), MS_BT_ABORTED, "etag");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(profiles_come_back),
        TEST(a_profile_says_how_it_routes),
        TEST(both_ways_to_say_a_priority_are_taken),
        TEST(an_update_of_ours_replaces_all),
        TEST(a_mask_says_what_is_replaced),
        TEST(an_etag_is_that_of_the_profile_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
