/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks, medians and lines of the benchmarks. MS_BENCH_FLAGS is given by the build.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

double bench_user_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds(usage.ru_utime);
}

double bench_cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

void bench_report(const bench_result *result)
{
    printf("result | %s | %.3g %s | ", result->name, result->ours, result->unit);
    if (result->yardstick_name != NULL) {
        printf("%.3g %s | %.2fx | ", result->yardstick, result->yardstick_name,
               result->ours / result->yardstick);
    } else {
        printf("- | - | ");
    }
    printf("at most %.3g | %s\n", result->bound, result->ours <= result->bound ? "pass" : "ALARM");
    fflush(stdout);
}

void bench_print_machine(const char *program)
{
    char line[256];
    char model[256] = "unknown processor\n";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(model, sizeof model, "%s", colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    printf("%s: %.*s; compiled by gcc %s: %s\n", program, (int)strcspn(model, "\n"), model,
           __VERSION__, MS_BENCH_FLAGS);
}

void bench_must(ms_rc rc, const ms_status *st)
{
    if (rc != MS_OK) {
        bench_fail(st->message, st->detail);
    }
}

void bench_fail(const char *message, const char *detail)
{
    fflush(stdout);
    fprintf(stderr, "error: %s %s\n", message, detail);
    exit(1);
}
