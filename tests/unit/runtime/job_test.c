/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of whole jobs: pipelines, results, the four ways to end, failures, idle cost. */
#include "unit/runtime/fake.h"

static void one_task_runs_from_source_to_sink(void **state)
{
    (void)state;
    fake_engine engine;
    fake_world world;
    fake_plan plan;
    fake_engine_init(&engine, 2);
    fake_world_init(&world, 1);
    fake_plan_init(&plan, &world);
    const ms_pnode *source = fake_add_source(&plan, fake_scan_make(&world, 0, 3, 5000, 10), 1);
    fake_add_sink(&plan, fake_sink_make(&world), 1, source);
    ms_status st = {0};
    ms_job_totals totals;
    assert_ok(fake_run(&engine, &plan, (ms_job_options){0}, &totals, &st));
    fake_expect_ids(&world, 0, 15000);
    assert_int_equal(totals.rows_read, 15000);
    assert_int_equal(totals.rows_written, 15000);
    assert_int_equal(totals.rows_uncommitted, 0);
    fake_world_release(&world);
    fake_engine_release(&engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_task_runs_from_source_to_sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
