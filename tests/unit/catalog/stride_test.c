/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strided splits: what they number, how they survive, who gets them.
 */
#include "testing.h"

#include "catalog/stride.h"

/* An enumerator's environment that keeps the last answer. */
typedef struct fake_env {
    ms_enumerator_env env;
    ms_stride assigned;
    uint32_t assigned_to;
    uint32_t assignments;
    uint32_t endings;
} fake_env;

static void on_assign(ms_enumerator_env *env, uint32_t subtask, ms_str split)
{
    fake_env *fake = (fake_env *)env;
    ms_status st = {0};
    assert_ok(ms_stride_read(split, &fake->assigned, &st));
    fake->assigned_to = subtask;
    fake->assignments++;
}

static void on_no_more(ms_enumerator_env *env, uint32_t subtask)
{
    (void)subtask;
    ((fake_env *)env)->endings++;
}

static fake_env make_env(uint32_t parallelism)
{
    return (fake_env){.env = {.task = {.parallelism = parallelism},
                              .assign = on_assign,
                              .no_more_splits = on_no_more}};
}

static void every_unit_is_in_exactly_one_split(void **state)
{
    (void)state;
    ms_status st = {0};
    for (uint32_t parallelism = 1; parallelism <= 5; parallelism++) {
        uint32_t seen[8] = {0};
        fake_env fake = make_env(parallelism);
        ms_enumerator *enumerator = ms_stride_enumerator_create(8, 77);
        assert_ok(enumerator->klass->start(enumerator, &fake.env, (ms_str){0}, &st));
        for (uint32_t subtask = 0; subtask < parallelism; subtask++) {
            enumerator->klass->request(enumerator, subtask);
            assert_int_equal(fake.assigned_to, subtask);
            assert_int_equal(fake.assigned.seed, 77);
            assert_int_equal(fake.assigned.first, subtask);
            for (uint64_t i = 0; i < ms_stride_left(&fake.assigned); i++) {
                seen[ms_stride_unit(&fake.assigned, i)]++;
            }
            enumerator->klass->request(enumerator, subtask);
            assert_int_equal(fake.endings, subtask + 1);
        }
        for (uint32_t i = 0; i < 8; i++) {
            assert_int_equal(seen[i], 1);
        }
        enumerator->klass->close(enumerator);
    }
}

static void fewer_units_than_subtasks_leave_some_without_a_split(void **state)
{
    (void)state;
    ms_status st = {0};
    fake_env fake = make_env(4);
    ms_enumerator *enumerator = ms_stride_enumerator_create(2, 0);
    assert_ok(enumerator->klass->start(enumerator, &fake.env, (ms_str){0}, &st));
    for (uint32_t subtask = 0; subtask < 4; subtask++) {
        enumerator->klass->request(enumerator, subtask);
    }
    assert_int_equal(fake.assignments, 2);
    assert_int_equal(fake.endings, 2);
    enumerator->klass->close(enumerator);
}

static void a_restored_enumerator_hands_out_what_was_left_at_another_parallelism(void **state)
{
    (void)state;
    ms_status st = {0};
    fake_env fake = make_env(4);
    ms_enumerator *first = ms_stride_enumerator_create(MS_STRIDE_UNBOUNDED, 5);
    assert_ok(first->klass->start(first, &fake.env, (ms_str){0}, &st));
    first->klass->request(first, 1);
    ms_buf bytes;
    ms_buf_init(&bytes, 1000);
    assert_ok(first->klass->snapshot(first, &bytes, &st));
    first->klass->close(first);

    fake = make_env(2);
    ms_enumerator *second = ms_stride_enumerator_create(MS_STRIDE_UNBOUNDED, 6);
    assert_ok(second->klass->start(second, &fake.env, ms_buf_view(&bytes), &st));
    second->klass->request(second, 0);
    assert_int_equal(fake.assigned.first, 0);
    assert_int_equal(fake.assigned.stride, 4);
    assert_int_equal(fake.assigned.seed, 5);
    second->klass->request(second, 0);
    assert_int_equal(fake.assigned.first, 2);
    second->klass->request(second, 1);
    assert_int_equal(fake.assigned.first, 3);
    second->klass->request(second, 1);
    second->klass->request(second, 0);
    assert_int_equal(fake.assignments, 3);
    assert_int_equal(fake.endings, 2);
    second->klass->close(second);
    ms_buf_release(&bytes);
}

static void add(ms_stride_set *set, ms_stride stride)
{
    ms_status st = {0};
    ms_buf bytes;
    ms_buf_init(&bytes, 1000);
    assert_ok(ms_stride_write(&stride, &bytes, &st));
    assert_ok(ms_stride_set_add(set, ms_buf_view(&bytes), &st));
    ms_buf_release(&bytes);
}

static void a_set_takes_turns_and_forgets_what_is_finished(void **state)
{
    (void)state;
    ms_stride_set set = {0};
    assert_true(ms_stride_set_wants(&set));
    assert_null(ms_stride_set_pick(&set));
    add(&set, (ms_stride){.first = 0, .stride = 2, .count = 2});
    add(&set, (ms_stride){.first = 1, .stride = 2, .count = 1});
    assert_false(ms_stride_set_wants(&set));
    uint64_t order[3];
    for (uint32_t i = 0; i < 3; i++) {
        ms_stride *stride = ms_stride_set_pick(&set);
        order[i] = ms_stride_unit(stride, 0);
        stride->next++;
    }
    assert_int_equal(order[0] + order[1], 1);
    assert_int_equal(order[2], 2);
    assert_true(ms_stride_set_wants(&set));
    assert_null(ms_stride_set_pick(&set));
    set.is_complete = true;
    assert_false(ms_stride_set_wants(&set));
    ms_stride_set_release(&set);
}

static void a_snapshot_has_the_positions_of_unfinished_splits(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_stride_set set = {0};
    add(&set, (ms_stride){.seed = 9, .first = 0, .stride = 3, .count = 4, .next = 4});
    add(&set, (ms_stride){.seed = 9, .first = 1, .stride = 3, .count = 4, .next = 2});
    ms_buf bytes;
    ms_buf_init(&bytes, 1000);
    assert_ok(ms_stride_set_snapshot(&set, &bytes, &st));
    /* u32 count, then length-prefixed splits. */
    assert_int_equal(bytes.ptr[0], 1);
    ms_stride left;
    assert_int_equal(bytes.ptr[4], bytes.bytes - 5);
    assert_ok(ms_stride_read(ms_str_make(bytes.ptr + 5, bytes.bytes - 5), &left, &st));
    assert_int_equal(left.first, 1);
    assert_int_equal(left.next, 2);
    assert_int_equal(ms_stride_unit(&left, 0), 7);
    ms_buf_release(&bytes);
    ms_stride_set_release(&set);
}

static void damaged_splits_are_refused(void **state)
{
    (void)state;
    /* Empty, another version, a number too few, one too many, a position behind the end. */
    static const char *const damaged[] = {"", "\2\1\1\1\1\1\1", "\1\1\1\1\1\1", "\1\1\1\1\1\1\1\1",
                                          "\1\5\1\1\1\2\1"};
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        ms_status st = {0};
        ms_stride stride;
        assert_int_equal(ms_stride_read(ms_str_cstr(damaged[i]), &stride, &st), MS_CORRUPT_DATA);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_is_in_exactly_one_split),
        cmocka_unit_test(fewer_units_than_subtasks_leave_some_without_a_split),
        cmocka_unit_test(a_restored_enumerator_hands_out_what_was_left_at_another_parallelism),
        cmocka_unit_test(a_set_takes_turns_and_forgets_what_is_finished),
        cmocka_unit_test(a_snapshot_has_the_positions_of_unfinished_splits),
        cmocka_unit_test(damaged_splits_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
