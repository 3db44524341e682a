/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/limits.h"
#include "base/rank.h"

static void ascending_ranks_may_be_held_together(void **state)
{
    (void)state;
    ms_rank_enter(MS_RANK_JOB, 0);
    ms_rank_enter(MS_RANK_STORE_STRIPE, 3);
    ms_rank_enter(MS_RANK_STORE_STRIPE, 7);
    ms_rank_enter(MS_RANK_LOG, 0);
#ifdef MS_DEBUG
    assert_int_equal(ms_rank_held_count(), 4);
#endif
    /* Given back in another order than taken. */
    ms_rank_leave(MS_RANK_STORE_STRIPE, 3);
    ms_rank_leave(MS_RANK_LOG, 0);
    ms_rank_leave(MS_RANK_JOB, 0);
    ms_rank_enter(MS_RANK_MAILBOX, 0);
    ms_rank_leave(MS_RANK_MAILBOX, 0);
    ms_rank_leave(MS_RANK_STORE_STRIPE, 7);
    assert_int_equal(ms_rank_held_count(), 0);
}

#ifdef MS_DEBUG

static void descend(void *arg)
{
    (void)arg;
    ms_rank_enter(MS_RANK_LOG, 0);
    ms_rank_enter(MS_RANK_JOB, 0);
}

static void take_twice(void *arg)
{
    (void)arg;
    ms_rank_enter(MS_RANK_JOB, 0);
    ms_rank_enter(MS_RANK_JOB, 0);
}

static void take_stripes_downward(void *arg)
{
    (void)arg;
    ms_rank_enter(MS_RANK_STORE_STRIPE, 2);
    ms_rank_enter(MS_RANK_STORE_STRIPE, 1);
}

static void leave_what_is_not_held(void *arg)
{
    (void)arg;
    ms_rank_enter(MS_RANK_JOB, 0);
    ms_rank_leave(MS_RANK_ENGINE, 0);
}

static void a_breach_aborts(void **state)
{
    (void)state;
    assert_aborts(descend, NULL);
    assert_aborts(take_twice, NULL);
    assert_aborts(take_stripes_downward, NULL);
    assert_aborts(leave_what_is_not_held, NULL);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascending_ranks_may_be_held_together),
#ifdef MS_DEBUG
        cmocka_unit_test(a_breach_aborts),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
