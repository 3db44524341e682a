/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of when free pages go back to the system. */
#include "testing.h"

#include "base/memory.h"
#include "base/trim.h"

#define MIB ((uint64_t)1 << 20)
#define SECOND INT64_C(1000000000)

typedef struct process {
    ms_trim trim;
    int64_t cpu_ns;
    int64_t mono_ns;
} process;

/* 40 MiB of it are no heap. */
static process begin(void)
{
    process p = {.mono_ns = SECOND};
    assert_false(ms_trim_is_quiet(&p.trim, 0, p.mono_ns));
    assert_false(ms_trim_is_worth(&p.trim, 100 * MIB, 60 * MIB, false));
    return p;
}

/* Five seconds later, after so much work. */
static bool is_quiet(process *p, int64_t cpu_ns)
{
    p->cpu_ns += cpu_ns;
    p->mono_ns += 5 * SECOND;
    return ms_trim_is_quiet(&p->trim, p->cpu_ns, p->mono_ns);
}

static bool is_worth(process *p, uint64_t resident, uint64_t used)
{
    return ms_trim_is_worth(&p->trim, resident * MIB, used * MIB, false);
}

static void given_back(process *p, uint64_t resident, uint64_t used)
{
    assert_false(ms_trim_is_worth(&p->trim, resident * MIB, used * MIB, true));
}

static void what_is_in_use_is_no_reason(void **state)
{
    (void)state;
    process p = begin();
    assert_false(is_worth(&p, 2000, 1960));
    /* It was freed. */
    assert_true(is_worth(&p, 2000, 60));
    given_back(&p, 110, 60);
    assert_false(is_worth(&p, 110, 60));
}

static void quiet_is_little_work_since_the_look_before(void **state)
{
    (void)state;
    process p = begin();
    assert_false(is_quiet(&p, 2 * SECOND));
    assert_false(is_quiet(&p, SECOND + SECOND / 4));
    assert_true(is_quiet(&p, SECOND));
    assert_false(is_quiet(&p, 2 * SECOND));
    assert_true(is_quiet(&p, 0));
}

static void little_is_not_worth_it(void **state)
{
    (void)state;
    process p = begin();
    assert_false(is_worth(&p, 163, 60));
    assert_true(is_worth(&p, 164, 60));
}

static void what_did_not_go_back_is_tried_once(void **state)
{
    (void)state;
    process p = begin();
    assert_true(is_worth(&p, 1000, 60));
    given_back(&p, 900, 60);
    assert_false(is_worth(&p, 900, 60));
    assert_false(is_worth(&p, 963, 60));
    assert_true(is_worth(&p, 964, 60));
    given_back(&p, 900, 60);
    /* Once it is used again, the rule begins from there. */
    assert_false(is_worth(&p, 900, 860));
    assert_true(is_worth(&p, 900, 60));
}

static void a_heap_that_does_not_say_what_is_in_use_is_left_alone(void **state)
{
    (void)state;
    ms_trim trim = {0};
    assert_false(ms_trim_is_worth(&trim, 100 * MIB, UINT64_MAX, false));
    assert_false(ms_trim_is_worth(&trim, 9000 * MIB, UINT64_MAX, false));
}

/* Of this process. */
static void a_look_keeps_what_is_in_use(void **state)
{
    (void)state;
    ms_trim trim = {0};
    ms_trim_look(&trim);
    char *bytes = ms_mem_alloc(1000);
    memset(bytes, 'x', 1000);
    ms_mem_trim();
    ms_trim_look(&trim);
    assert_int_equal(bytes[999], 'x');
    ms_mem_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_use_is_no_reason),
        cmocka_unit_test(quiet_is_little_work_since_the_look_before),
        cmocka_unit_test(little_is_not_worth_it),
        cmocka_unit_test(what_did_not_go_back_is_tried_once),
        cmocka_unit_test(a_heap_that_does_not_say_what_is_in_use_is_left_alone),
        cmocka_unit_test(a_look_keeps_what_is_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
