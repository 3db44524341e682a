/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making what is missing, against a transport that answers as the test says: every order in which
 * somebody else may have been faster.
 */
#include "bt_testing.h"

#include "bigtable/client/fake_transport.h"
#include "connector/bigtable/ensure.h"

typedef struct fixture {
    fake *fake;
    ms_arena arena;
    table_maker maker;
    msi_bt_layout layout;
    msi_bt_ensure ensure;
    bool is_done;
} fixture;

static void ensured(void *arg)
{
    fixture *f = arg;
    assert_false(f->is_done);
    f->is_done = true;
}

static void fixture_init(fixture *f)
{
    memset(f, 0, sizeof(*f));
    f->fake = fake_create(NULL);
    ms_arena_init(&f->arena, 0);
    maker_init(&f->maker, &f->arena);
    maker_column(&f->maker, "k", make_type(&f->arena, "STRING"));
    maker_family(&f->maker, "a", "q INT");
    maker_family(&f->maker, "b", "q INT");
    f->layout = make_layout(&f->maker);
    msi_bt_ensure_init(&f->ensure, f->fake->client, &f->fake->mailbox, &f->layout,
                       ms_bt_gc_rule_max_versions(&f->arena, 2), ensured, f);
    msi_bt_ensure_start(&f->ensure);
}

static void fixture_release(fixture *f)
{
    msi_bt_ensure_release(&f->ensure);
    fake_destroy(f->fake);
    ms_arena_release(&f->arena);
}

/* The call that was started last, which must be of this kind. */
static ms_bt_table_call *last_call(fixture *f, ms_bt_call_kind kind)
{
    ms_bt_call *call = f->fake->started[f->fake->started_count - 1];
    assert_int_equal(call->kind, kind);
    return ms_bt_call_table(call);
}

static void answer(fixture *f, ms_bt_call_kind kind, ms_bt_code code)
{
    ms_bt_table_call *call = last_call(f, kind);
    if (code != MS_BT_OK) {
        ms_bt_status_set(&call->call.status, code, "as the test says");
    }
    ms_bt_call_finish(&call->call);
    fake_deliver(f->fake);
}

/* Answers a look with these families. */
static void show(fixture *f, const char *const *families, size_t count)
{
    ms_bt_table_call *call = last_call(f, MS_BT_CALL_GET_TABLE);
    ms_bt_table *table = ms_arena_new(&f->arena, ms_bt_table);
    ms_bt_family *list = ms_arena_array(&f->arena, ms_bt_family, count);
    for (size_t i = 0; i < count; i++) {
        list[i].name = ms_str_cstr(families[i]);
    }
    table->families = list;
    table->family_count = count;
    call->table = table;
    answer(f, MS_BT_CALL_GET_TABLE, MS_BT_OK);
}

static void a_table_is_made_with_all_families_and_the_rule(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    const ms_bt_table *table = last_call(&f, MS_BT_CALL_CREATE_TABLE)->table;
    assert_str_equal(table->name.table, "t");
    assert_int_equal(table->family_count, 2);
    assert_str_equal(table->families[1].name, "b");
    assert_int_equal(table->families[1].gc_rule->max_versions, 2);
    answer(&f, MS_BT_CALL_CREATE_TABLE, MS_BT_OK);
    assert_true(f.is_done && ms_bt_status_is_ok(&f.ensure.status));
    fixture_release(&f);
}

static void a_table_that_is_complete_is_left_alone(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    answer(&f, MS_BT_CALL_CREATE_TABLE, MS_BT_ALREADY_EXISTS);
    show(&f, (const char *const[]){"a", "b", "c"}, 3);
    assert_true(f.is_done && ms_bt_status_is_ok(&f.ensure.status));
    assert_int_equal(f.fake->started_count, 2);
    fixture_release(&f);
}

static void only_what_is_missing_is_added_also_after_a_lost_race(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    answer(&f, MS_BT_CALL_CREATE_TABLE, MS_BT_ALREADY_EXISTS);
    show(&f, NULL, 0);
    assert_int_equal(last_call(&f, MS_BT_CALL_ADD_FAMILIES)->family_count, 2);
    answer(&f, MS_BT_CALL_ADD_FAMILIES, MS_BT_ALREADY_EXISTS);
    show(&f, (const char *const[]){"b"}, 1);
    const ms_bt_table_call *add = last_call(&f, MS_BT_CALL_ADD_FAMILIES);
    assert_int_equal(add->family_count, 1);
    assert_str_equal(add->families[0].name, "a");
    assert_int_equal(add->families[0].gc_rule->max_versions, 2);
    answer(&f, MS_BT_CALL_ADD_FAMILIES, MS_BT_OK);
    assert_true(f.is_done && ms_bt_status_is_ok(&f.ensure.status));
    fixture_release(&f);
}

static void lost_races_have_an_end(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    answer(&f, MS_BT_CALL_CREATE_TABLE, MS_BT_ALREADY_EXISTS);
    int rounds = 0;
    while (!f.is_done) {
        assert_true(++rounds <= 3);
        show(&f, NULL, 0);
        answer(&f, MS_BT_CALL_ADD_FAMILIES, MS_BT_ALREADY_EXISTS);
    }
    assert_int_equal(rounds, 3);
    assert_int_equal(f.ensure.status.code, MS_BT_ABORTED);
    fixture_release(&f);
}

static void any_other_answer_is_a_failure(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    answer(&f, MS_BT_CALL_CREATE_TABLE, MS_BT_PERMISSION_DENIED);
    assert_int_equal(f.ensure.status.code, MS_BT_PERMISSION_DENIED);
    fixture_release(&f);
    fixture_init(&f);
    answer(&f, MS_BT_CALL_CREATE_TABLE, MS_BT_ALREADY_EXISTS);
    answer(&f, MS_BT_CALL_GET_TABLE, MS_BT_NOT_FOUND);
    assert_true(f.is_done);
    assert_int_equal(f.ensure.status.code, MS_BT_NOT_FOUND);
    fixture_release(&f);
}

static void it_can_be_canceled_and_still_comes_back(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    msi_bt_ensure_cancel(&f.ensure);
    assert_int_equal(f.fake->cancel_count, 1);
    /* Whatever the answer, nothing else is started. */
    answer(&f, MS_BT_CALL_CREATE_TABLE, MS_BT_ALREADY_EXISTS);
    assert_true(f.is_done);
    assert_int_equal(f.ensure.status.code, MS_BT_CANCELLED);
    assert_int_equal(f.fake->started_count, 1);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_made_with_all_families_and_the_rule),
        cmocka_unit_test(a_table_that_is_complete_is_left_alone),
        cmocka_unit_test(only_what_is_missing_is_added_also_after_a_lost_race),
        cmocka_unit_test(lost_races_have_an_end),
        cmocka_unit_test(any_other_answer_is_a_failure),
        cmocka_unit_test(it_can_be_canceled_and_still_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
