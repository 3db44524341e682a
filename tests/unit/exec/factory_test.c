/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of node but EXCHANGE has an operator.
 */
#include "op_host.h"

static void every_kind_but_exchange_has_an_operator(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (int kind = 0; kind < MS_PNODE_COUNT; kind++) {
        if (kind == MS_PNODE_EXCHANGE) {
            continue;
        }
        ms_pnode node = {.kind = (ms_pnode_kind)kind};
        ms_op *op = ms_op_create(&node, &arena);
        assert_ptr_equal(op->node, &node);
        assert_non_null(op->klass->name);
        assert_non_null(op->klass->open);
        assert_non_null(op->klass->close);
        bool is_source = kind == MS_PNODE_SOURCE || kind == MS_PNODE_VALUES;
        assert_true((op->klass->poll != NULL) == is_source);
        assert_true((op->klass->batch != NULL) == !is_source);
        /* An operator that was never opened can be closed. */
        op->klass->close(op);
    }
    ms_arena_release(&arena);
}

static void create_exchange(void *arena)
{
    ms_pnode node = {.kind = MS_PNODE_EXCHANGE};
    ms_op_create(&node, arena);
}

static void an_exchange_is_not_an_operator(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    assert_aborts(create_exchange, &arena);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_but_exchange_has_an_operator),
        cmocka_unit_test(an_exchange_is_not_an_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
