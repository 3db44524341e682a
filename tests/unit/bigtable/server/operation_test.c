/* SPDX-License-Identifier: Apache-2.0 */
/* Operations can be asked after by their names, until there are too many newer ones. */
#include "bigtable/server/server_testing.h"

#define OPERATIONS "google.longrunning.Operations/"
#define PROFILE INSTANCE "/appProfiles/plain"
#define KEPT 256

static void update(caller *c)
{
    make(c, INSTANCES "UpdateAppProfile", "1{1'" PROFILE "' 3'new'} 2{1'description'}");
}

static ms_grpc_code ask(caller *c, const char *method, int number)
{
    char path[64];
    char text[160];
    snprintf(path, sizeof(path), OPERATIONS "%s", method);
    snprintf(text, sizeof(text), "1'operations/" PROFILE "/operations/%d'", number);
    caller_call(c, path, text);
    return c->code;
}

static void only_the_newest_operations_are_kept(void **state)
{
    caller *c = *state;
    for (int i = 1; i <= KEPT; i++) {
        update(c);
    }
    assert_int_equal(ask(c, "GetOperation", 1), MS_GRPC_OK);
    assert_int_equal(ask(c, "GetOperation", KEPT), MS_GRPC_OK);
    assert_int_equal(ask(c, "GetOperation", KEPT + 1), MS_GRPC_NOT_FOUND);
    update(c);
    assert_int_equal(ask(c, "GetOperation", 1), MS_GRPC_NOT_FOUND);
    assert_int_equal(ask(c, "GetOperation", 2), MS_GRPC_OK);
    assert_int_equal(ask(c, "GetOperation", KEPT + 1), MS_GRPC_OK);
    ms_bt_status bt = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    caller_call(c, OPERATIONS "ListOperations", "4'operations'");
    assert_int_equal(c->code, MS_GRPC_OK);
    ms_pb_list_operations_response *list = ms_pb_unpack(
        list_operations_response, ms_buf_view(&c->answer), &ms_wire_response_limits, &arena, &bt);
    assert_non_null(list);
    assert_int_equal(list->n_operations, KEPT);
    ms_arena_release(&arena);
}

static void all_methods_find_an_operation_that_is_kept(void **state)
{
    caller *c = *state;
    static const char *const methods[] = {"GetOperation", "WaitOperation", "CancelOperation"};
    update(c);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ask(c, methods[i], 1), MS_GRPC_OK);
        assert_int_equal(ask(c, methods[i], 2), MS_GRPC_NOT_FOUND);
    }
}

static void a_deleted_operation_is_gone_and_no_other(void **state)
{
    caller *c = *state;
    for (int i = 1; i <= 3; i++) {
        update(c);
    }
    assert_int_equal(ask(c, "DeleteOperation", 2), MS_GRPC_OK);
    assert_int_equal(ask(c, "DeleteOperation", 2), MS_GRPC_NOT_FOUND);
    assert_int_equal(ask(c, "GetOperation", 2), MS_GRPC_NOT_FOUND);
    assert_int_equal(ask(c, "GetOperation", 1), MS_GRPC_OK);
    assert_int_equal(ask(c, "GetOperation", 3), MS_GRPC_OK);
    /* Its place is taken again in its turn. */
    for (int i = 4; i <= KEPT + 2; i++) {
        update(c);
    }
    assert_int_equal(ask(c, "GetOperation", KEPT + 2), MS_GRPC_OK);
    assert_int_equal(ask(c, "GetOperation", 2), MS_GRPC_NOT_FOUND);
    assert_int_equal(ask(c, "GetOperation", 3), MS_GRPC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_the_newest_operations_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(all_methods_find_an_operation_that_is_kept, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_deleted_operation_is_gone_and_no_other, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
