/* SPDX-License-Identifier: Apache-2.0 */
/* Names and paths, and bytes as text. */
#include "testing.h"

#include "bigtable/model/name.h"

static void path_goes_there_and_back(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    ms_bt_table_name name;
    const char *path = "projects/example.com:p/instances/i-1/tables/_t.2";
    assert_int_equal(ms_bt_table_name_parse(&name, ms_str_cstr(path), &bt), MS_BT_OK);
    assert_str_equal(name.project, "example.com:p");
    assert_str_equal(name.instance, "i-1");
    assert_str_equal(name.table, "_t.2");
    char text[MS_BT_TABLE_PATH_BYTES];
    assert_int_equal(ms_bt_table_name_path(&name, text), strlen(path));
    assert_string_equal(text, path);
}

static void wrong_paths_are_refused(void **state)
{
    (void)state;
    const char *paths[] = {"",
                           "projects/p",
                           "projects/p/instances/i",
                           "projects/p/instances/i/tables/",
                           "projects//instances/i/tables/t",
                           "projects/p/instances/i/tables/t/x",
                           "projects/p/instances/i/tables/-t",
                           "projects/p/instances/i i/tables/t",
                           "p.i.t"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        ms_bt_status bt = {0};
        ms_bt_table_name name;
        assert_int_equal(ms_bt_table_name_parse(&name, ms_str_cstr(paths[i]), &bt),
                         MS_BT_INVALID_ARGUMENT);
    }
}

static void table_ids_have_the_limits_of_the_service(void **state)
{
    (void)state;
    char id[52];
    memset(id, 'x', sizeof(id));
    ms_bt_table_name name = {ms_str_lit("p"), ms_str_lit("i"), {id, 50}};
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_table_name_check(&name, &bt), MS_BT_OK);
    name.table.bytes = 51;
    assert_int_equal(ms_bt_table_name_check(&name, &bt), MS_BT_INVALID_ARGUMENT);
    assert_non_null(strstr(bt.text, "Invalid id for collection tables : Length should be between "
                                    "[1,50]"));
}

static void family_names_have_the_limits_of_the_service(void **state)
{
    (void)state;
    char id[65];
    memset(id, 'f', sizeof(id));
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_family_name_check(ms_str_make(id, 64), &bt), MS_BT_OK);
    assert_int_equal(ms_bt_family_name_check(ms_str_lit("-a.B_9"), &bt), MS_BT_OK);
    assert_int_equal(ms_bt_family_name_check(ms_str_make(id, 65), &bt), MS_BT_INVALID_ARGUMENT);
    ms_bt_status_clear(&bt);
    assert_int_equal(ms_bt_family_name_check(ms_str_lit("a:b"), &bt), MS_BT_INVALID_ARGUMENT);
    ms_bt_status_clear(&bt);
    assert_int_equal(ms_bt_family_name_check(ms_str_lit(""), &bt), MS_BT_INVALID_ARGUMENT);
}

static void bytes_show_as_text(void **state)
{
    (void)state;
    char text[64];
    ms_str bytes = ms_str_make("a\0\xff\\z", 5);
    assert_string_equal(ms_bt_bytes_text(bytes, text, sizeof(text)), "a\\x00\\xff\\\\z");
    assert_string_equal(ms_bt_bytes_text(ms_str_lit(""), text, sizeof(text)), "");
    char small[12];
    /* Whatever the bytes: never more than there is room for. */
    static const char kinds[] = {'a', '\\', '\xff'};
    for (size_t length = 1; length < 16; length++) {
        for (size_t i = 0; i < sizeof(kinds) * sizeof(kinds); i++) {
            char raw[16];
            char guarded[13];
            memset(raw, kinds[i / sizeof(kinds)], sizeof(raw));
            memset(guarded, '#', sizeof(guarded));
            raw[length - 1] = kinds[i % sizeof(kinds)];
            ms_bt_bytes_text(ms_str_make(raw, length), guarded, 12);
            assert_int_equal(guarded[12], '#');
            assert_true(strlen(guarded) < 12);
        }
    }
    assert_string_equal(ms_bt_bytes_text(ms_str_lit("abcdefghijklmnop"), small, sizeof(small)),
                        "abcde...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_goes_there_and_back),
        cmocka_unit_test(wrong_paths_are_refused),
        cmocka_unit_test(table_ids_have_the_limits_of_the_service),
        cmocka_unit_test(family_names_have_the_limits_of_the_service),
        cmocka_unit_test(bytes_show_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
