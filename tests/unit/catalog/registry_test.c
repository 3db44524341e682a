/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connectors and formats by name.
 */
#include "testing.h"

#include "catalog/connector.h"

static void what_was_added_is_found_with_its_service(void **state)
{
    (void)state;
    static const ms_connector one = {.name = "one"};
    static const ms_connector two = {.name = "two"};
    static const ms_format json = {.name = "json"};
    int service = 0;
    void *found = NULL;
    ms_registry registry = {.connector_count = 0};
    ms_registry_add_connector(&registry, &one, NULL);
    ms_registry_add_connector(&registry, &two, &service);
    ms_registry_add_format(&registry, &json);
    assert_ptr_equal(ms_registry_connector(&registry, ms_str_lit("two"), &found), &two);
    assert_ptr_equal(found, &service);
    assert_ptr_equal(ms_registry_connector(&registry, ms_str_lit("one"), NULL), &one);
    assert_null(ms_registry_connector(&registry, ms_str_lit("On"), NULL));
    assert_ptr_equal(ms_registry_format(&registry, ms_str_lit("json")), &json);
    assert_null(ms_registry_format(&registry, ms_str_lit("csv")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_found_with_its_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
