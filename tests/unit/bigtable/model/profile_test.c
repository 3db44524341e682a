/* SPDX-License-Identifier: Apache-2.0 */
/* App profiles: copies own everything, and what fits together is told from what does not. */
#include "testing.h"

#include "bigtable/model/profile.h"

static ms_bt_profile valid(void)
{
    return (ms_bt_profile){.project = ms_str_lit("p"),
                           .instance = ms_str_lit("i"),
                           .id = ms_str_lit("x"),
                           .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
                           .cluster = ms_str_lit("c")};
}

static void assert_check(const ms_bt_profile *profile, ms_bt_code code, const char *text)
{
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_profile_check(profile, &bt), code);
    assert_int_equal(bt.code, code);
    if (strstr(bt.text, text) == NULL) {
        assert_string_equal(bt.text, text);
    }
}

static void copy_owns_everything(void **state)
{
    (void)state;
    char texts[6][3] = {"p1", "i1", "x1", "d1", "c1", "k1"};
    ms_str clusters[] = {ms_str_cstr(texts[5])};
    ms_bt_profile profile = {.project = ms_str_cstr(texts[0]),
                             .instance = ms_str_cstr(texts[1]),
                             .id = ms_str_cstr(texts[2]),
                             .description = ms_str_cstr(texts[3]),
                             .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
                             .cluster = ms_str_cstr(texts[4]),
                             .allows_transactions = true,
                             .clusters = clusters,
                             .cluster_count = 1,
                             .priority = MS_BT_PRIORITY_HIGH};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_bt_profile *copy = ms_bt_profile_copy(&arena, &profile);
    memset(texts, 'z', sizeof(texts));
    clusters[0] = (ms_str){NULL, 0};
    assert_str_equal(copy->project, "p1");
    assert_str_equal(copy->instance, "i1");
    assert_str_equal(copy->id, "x1");
    assert_str_equal(copy->description, "d1");
    assert_str_equal(copy->cluster, "c1");
    assert_str_equal(copy->clusters[0], "k1");
    assert_true(copy->allows_transactions);
    assert_int_equal(copy->priority, MS_BT_PRIORITY_HIGH);
    ms_arena_release(&arena);
}

static void ids_are_checked(void **state)
{
    (void)state;
    const struct {
        const char *id;
        bool is_valid;
    } cases[] = {
        {"x", true},
        {"_", true},
        {"0-_.Az", true},
        {"01234567890123456789012345678901234567890123456789", true},
        {"012345678901234567890123456789012345678901234567890", false},
        {"", false},
        {"-x", false},
        {".x", false},
        {"a b", false},
        {"a/b", false},
        {"\xc3\xa4", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_bt_profile profile = valid();
        profile.id = ms_str_cstr(cases[i].id);
        assert_check(&profile, cases[i].is_valid ? MS_BT_OK : MS_BT_INVALID_ARGUMENT,
                     cases[i].is_valid ? "" : "app_profile_id");
    }
}

static void routing_and_what_depends_on_it_are_checked(void **state)
{
    (void)state;
    ms_bt_profile profile = valid();
    profile.allows_transactions = true;
    assert_check(&profile, MS_BT_OK, "");
    profile.cluster = (ms_str){NULL, 0};
    assert_check(&profile, MS_BT_INVALID_ARGUMENT, "cluster_id is missing");
    profile = valid();
    profile.routing = 0;
    assert_check(&profile, MS_BT_INVALID_ARGUMENT, "a routing policy must be set");
    profile.routing = MS_BT_ROUTING_MULTI_CLUSTER;
    assert_check(&profile, MS_BT_OK, "");
    profile.allows_transactions = true;
    assert_check(&profile, MS_BT_INVALID_ARGUMENT, "single-cluster routing");
    profile = valid();
    profile.is_data_boost = true;
    assert_check(&profile, MS_BT_OK, "");
    profile.allows_transactions = true;
    assert_check(&profile, MS_BT_INVALID_ARGUMENT, "data_boost_isolation_read_only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_owns_everything),
        cmocka_unit_test(ids_are_checked),
        cmocka_unit_test(routing_and_what_depends_on_it_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
