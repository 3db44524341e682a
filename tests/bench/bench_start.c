/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program costs where no rows flow: SELECT 1 from start to exit, planning, and a job that
 * waits.
 *
 *     bench_start PROGRAM
 *
 * SELECT 1 runs the program again and again, files in the page cache; its wall time and its largest
 * resident set are measured. Planning is parsing, binding and planning of an INSERT of 100 columns
 * from files to blackhole, in this process. The waiting job makes one row a second; its CPU time,
 * that of all threads, is counted for some seconds. All bounds are absolute.
 */
#include "base/env.h"
#include "base/str.h"
#include "bench.h"
#include "sql.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STARTS 41
#define PLANS 21
#define COLUMNS 100
#define TEXT_BYTES_MAX 65536u
#define IDLE_S 5
#define SETTLE_S 1

static double wall_s(void)
{
    return (double)ms_env_mono_ns() / 1e9;
}

/* SELECT 1. */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        bench_fail("could not write", path);
    }
}

/* Runs the script once, its output dropped. */
static void start_once(const char *program, const char *script, double *ms_out, double *mb_out)
{
    double start = wall_s();
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execl(program, program, "run", script, (char *)NULL);
        _exit(127);
    }
    int outcome = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &outcome, 0, &usage) != child || outcome != 0) {
        bench_fail("could not run", program);
    }
    *ms_out = (wall_s() - start) * 1e3;
    *mb_out = (double)usage.ru_maxrss / 1024;
}

static void run_starts(const char *program)
{
    char directory[] = "/tmp/bench-start-XXXXXX";
    char script[sizeof directory + 16];
    double ms[STARTS];
    double mb[STARTS];
    if (mkdtemp(directory) == NULL) {
        bench_fail("could not make", directory);
    }
    snprintf(script, sizeof script, "%s/one.sql", directory);
    write_file(script, "SELECT 1;\n");
    start_once(program, script, &ms[0], &mb[0]); /* the files are in the cache from here on */
    for (int i = 0; i < STARTS; i++) {
        start_once(program, script, &ms[i], &mb[i]);
    }
    unlink(script);
    rmdir(directory);
    bench_report(&(bench_result){
        .name = "SELECT 1, wall", .unit = "ms", .ours = bench_median(ms, STARTS), .bound = 30});
    bench_report(&(bench_result){
        .name = "SELECT 1, memory", .unit = "MB", .ours = bench_median(mb, STARTS), .bound = 40});
}

/* Planning. */

/* "c0" and the suffix, "c1" and the suffix, and so on, between head and tail. */
static void make_text(ms_buf *text, const char *head, const char *suffix, const char *tail)
{
    ms_status st = {0};
    ms_buf_reset(text);
    bench_must(ms_buf_append(text, ms_str_cstr(head), &st), &st);
    for (int i = 0; i < COLUMNS; i++) {
        bench_must(ms_buf_format(text, &st, "%sc%d%s", i == 0 ? "" : ", ", i, suffix), &st);
    }
    bench_must(ms_buf_append(text, ms_str_make(tail, strlen(tail) + 1), &st), &st);
}

static void run_plans(void)
{
    double ms[PLANS];
    sql_host host;
    ms_buf text;
    ms_buf_init(&text, TEXT_BYTES_MAX);
    sql_open(&host, 1);
    make_text(&text, "CREATE TABLE wide (", " BIGINT",
              ") WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json')");
    sql_run(&host, text.ptr);
    make_text(&text, "CREATE TABLE wide_sink (", " BIGINT", ") WITH ('connector' = 'blackhole')");
    sql_run(&host, text.ptr);
    make_text(&text, "INSERT INTO wide_sink SELECT ", " + 1", " FROM wide WHERE c1 > 0");
    for (int i = 0; i < PLANS; i++) {
        double start = wall_s();
        sql_check(&host, text.ptr);
        ms[i] = (wall_s() - start) * 1e3;
    }
    sql_close(&host);
    ms_buf_release(&text);
    bench_report(&(bench_result){
        .name = "planning 100 columns", .unit = "ms", .ours = bench_median(ms, PLANS), .bound = 5});
}

/* Waiting. */

static void sleep_s(int seconds)
{
    struct timespec pause = {.tv_sec = seconds};
    nanosleep(&pause, NULL);
}

static void run_idle(void)
{
    sql_host host;
    sql_open(&host, 2);
    sql_run(&host, "CREATE TABLE drip (n BIGINT) WITH ('connector' = 'datagen', "
                   "'rows-per-second' = '1');"
                   "CREATE TABLE sink (n BIGINT) WITH ('connector' = 'blackhole')");
    sql_job job;
    sql_start(&host, "INSERT INTO sink SELECT n FROM drip", &job);
    sleep_s(SETTLE_S);
    double cpu = bench_cpu_s();
    double wall = wall_s();
    sleep_s(IDLE_S);
    double share = (bench_cpu_s() - cpu) / (wall_s() - wall) * 100;
    sql_cancel(&host, &job);
    sql_close(&host);
    bench_report(
        &(bench_result){.name = "idle job, 2 workers", .unit = "% CPU", .ours = share, .bound = 1});
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench_start PROGRAM\n");
        return 2;
    }
    bench_print_machine("bench_start");
    printf("warm page cache; medians of %d starts and %d plans; %d s of waiting\n", STARTS, PLANS,
           IDLE_S);
    run_starts(argv[1]);
    run_plans();
    run_idle();
    return 0;
}
