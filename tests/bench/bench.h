/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmarks share: user time, medians, the line that each result is printed as, and the
 * line that says where it was measured.
 *
 *     double start = bench_user_s();
 *     run();
 *     double ns = (bench_user_s() - start) / rows * 1e9;
 *     bench_report(&(bench_result){.name = "q0", .unit = "ns/event", .ours = ns, ...});
 *
 * A result line is read by run.sh, which gathers them at the end:
 *
 *     result | q0 | 3.01 ns/event | 2.87 nxq | 1.05x | at most 8.87 | pass
 *
 * Thread: main.
 */
#ifndef MS_TESTS_BENCH_BENCH_H
#define MS_TESTS_BENCH_BENCH_H

#include "millstream/base.h"

typedef struct bench_result {
    const char *name;
    const char *unit;
    double ours;
    double yardstick;           /* 0: the bound is absolute */
    const char *yardstick_name; /* NULL: none */
    double bound;               /* in the unit; ours beyond it is an alarm */
} bench_result;

/* Seconds of user time of this process so far, all threads together. */
double bench_user_s(void);

/* Seconds of user and system time of this process so far. */
double bench_cpu_s(void);

/* The middle one; sorts the values. */
double bench_median(double *values, int count);

/* Prints the result line. */
void bench_report(const bench_result *result);

/* Prints the program's name, the processor and the flags that the program was compiled with. */
void bench_print_machine(const char *program);

/* Prints the status and ends the program when rc is a failure. */
void bench_must(ms_rc rc, const ms_status *st);

/* Ends the program with a message. */
_Noreturn void bench_fail(const char *message, const char *detail);

#endif
