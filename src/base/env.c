/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam itself. State here is global because what it stands for is: a process has one clock and
 * one environment. Everything global is a replaceable pointer, a counter, or set once.
 */
#include "base/env.h"

#include "base/num.h"
#include "base/str.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Clocks. */

/* Order: the release in ms_env_set_clock makes the clock's fields visible to the acquire here. */
static ms_env_clock *_Atomic test_clock;

static struct timespec system_time(clockid_t id)
{
    struct timespec now;
    int rc = clock_gettime(id, &now);
    MS_ASSERT(rc == 0);
    return now;
}

int64_t ms_env_wall_us(void)
{
    const ms_env_clock *clock = atomic_load_explicit(&test_clock, memory_order_acquire);
    if (clock != NULL) {
        return atomic_load_explicit(&clock->wall_us, memory_order_relaxed);
    }
    struct timespec now = system_time(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t ms_env_wall_ms(void)
{
    int64_t wall_us = ms_env_wall_us();
    /* Rounds down before 1970 too, where a division would round up. */
    return wall_us / 1000 - (wall_us % 1000 < 0);
}

int64_t ms_env_mono_ns(void)
{
    const ms_env_clock *clock = atomic_load_explicit(&test_clock, memory_order_acquire);
    if (clock != NULL) {
        return atomic_load_explicit(&clock->mono_ns, memory_order_relaxed);
    }
    struct timespec now = system_time(CLOCK_MONOTONIC);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void ms_env_set_clock(ms_env_clock *clock)
{
    atomic_store_explicit(&test_clock, clock, memory_order_release);
}

void ms_env_clock_advance_us(ms_env_clock *clock, int64_t by_us)
{
    /* Order relaxed: a time orders no other memory. */
    atomic_fetch_add_explicit(&clock->wall_us, by_us, memory_order_relaxed);
    atomic_fetch_add_explicit(&clock->mono_ns, by_us * 1000, memory_order_relaxed);
}

/* Random numbers. */

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators): spreads the bits
 * of a small seed over a generator's state. */
static uint64_t splitmix(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t value, unsigned by)
{
    return (value << by) | (value >> (64 - by));
}

void ms_env_random_init(ms_env_random *random, uint64_t seed)
{
    for (size_t i = 0; i < sizeof(random->word) / sizeof(random->word[0]); i++) {
        random->word[i] = splitmix(&seed);
    }
}

uint64_t ms_env_random_next(ms_env_random *random)
{
    uint64_t *word = random->word;
    uint64_t result = rotate_left(word[1] * 5, 7) * 9;
    uint64_t shifted = word[1] << 17;
    word[2] ^= word[0];
    word[3] ^= word[1];
    word[1] ^= word[2];
    word[0] ^= word[3];
    word[2] ^= shifted;
    word[3] = rotate_left(word[3], 45);
    return result;
}

/* Multiplies instead of dividing, and draws again in the rare case that would favor small numbers
 * (Lemire: Fast Random Integer Generation in an Interval). */
uint64_t ms_env_random_below(ms_env_random *random, uint64_t bound)
{
    MS_ASSERT(bound != 0);
    for (;;) {
        __extension__ unsigned __int128 product =
            (unsigned __int128)ms_env_random_next(random) * bound;
        uint64_t low = (uint64_t)product;
        if (low >= bound || low >= (0 - bound) % bound) {
            return (uint64_t)(product >> 64);
        }
    }
}

double ms_env_random_unit(ms_env_random *random)
{
    return (double)(ms_env_random_next(random) >> 11) * 0x1p-53;
}

static pthread_once_t seed_once = PTHREAD_ONCE_INIT;
static uint64_t process_seed;
static _Atomic uint64_t seeds_given;

static void choose_process_seed(void)
{
    const char *text = getenv("MS_SEED");
    if (text != NULL && ms_num_scan_u64(ms_str_cstr(text), &process_seed)) {
        return;
    }
    if (getrandom(&process_seed, sizeof(process_seed), 0) != (ssize_t)sizeof(process_seed)) {
        process_seed = (uint64_t)ms_env_mono_ns() ^ ((uint64_t)getpid() << 32);
    }
}

uint64_t ms_env_next_seed(void)
{
    pthread_once(&seed_once, choose_process_seed);
    /* Order relaxed: only that each number is given once matters. */
    uint64_t number = atomic_fetch_add_explicit(&seeds_given, 1, memory_order_relaxed);
    uint64_t state = process_seed + number * UINT64_C(0x9E3779B97F4A7C15);
    return splitmix(&state);
}

/* Fault points. */

#define FAULTS_MAX 16
#define FAULT_NAME_BYTES 64

typedef enum fault_action { FAULT_FAIL, FAULT_KILL } fault_action;

typedef struct fault {
    char name[FAULT_NAME_BYTES];
    uint64_t at_passage;
    fault_action action;
    _Atomic uint64_t passages;
} fault;

/* Written before points are passed by several threads (at first use, or by a test), then only
 * counted in. */
static struct {
    fault entries[FAULTS_MAX];
    size_t count;
    _Atomic uint64_t fired;
} faults;

_Atomic bool ms_env_faults_armed = true;

static pthread_once_t faults_once = PTHREAD_ONCE_INIT;

/* Splits the first piece, up to the separator, off a text. */
static ms_str take_piece(ms_str *text, char separator)
{
    size_t at = ms_str_find_byte(*text, separator, 0);
    size_t end = at == SIZE_MAX ? text->bytes : at;
    ms_str piece = ms_str_slice(*text, 0, end);
    *text = ms_str_slice(*text, end + 1, text->bytes);
    return piece;
}

/* Reads "name:n:action". */
static bool scan_fault(ms_str text, fault *fault_out)
{
    ms_str name = take_piece(&text, ':');
    ms_str passage = take_piece(&text, ':');
    bool kill_it = ms_str_equals(text, ms_str_lit("kill"));
    if (name.bytes == 0 || name.bytes >= FAULT_NAME_BYTES ||
        !ms_num_scan_u64(passage, &fault_out->at_passage) || fault_out->at_passage == 0 ||
        (!kill_it && !ms_str_equals(text, ms_str_lit("fail")))) {
        return false;
    }
    memcpy(fault_out->name, name.ptr, name.bytes);
    fault_out->name[name.bytes] = '\0';
    fault_out->action = kill_it ? FAULT_KILL : FAULT_FAIL;
    atomic_init(&fault_out->passages, 0);
    return true;
}

static ms_rc arm(ms_str spec, ms_status *st)
{
    faults.count = 0;
    atomic_store_explicit(&faults.fired, 0, memory_order_relaxed);
    while (spec.bytes != 0) {
        ms_str piece = take_piece(&spec, ',');
        if (faults.count == FAULTS_MAX || !scan_fault(piece, &faults.entries[faults.count])) {
            faults.count = 0;
            return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                                 "\"%.*s\" is not a fault of the form name:n:kill or name:n:fail, "
                                 "or is one too many",
                                 MS_STR_ARG(piece));
        }
        faults.count++;
    }
    atomic_store_explicit(&ms_env_faults_armed, faults.count != 0, memory_order_relaxed);
    return MS_OK;
}

/* A mistaken MS_FAULT would make a crash test pass that tests nothing, so it ends the process. */
static void arm_from_environment(void)
{
    ms_status st = {0};
    const char *spec = getenv("MS_FAULT");
    if (arm(ms_str_cstr(spec != NULL ? spec : ""), &st) != MS_OK) {
        fprintf(stderr, "millstream: MS_FAULT: %s\n", st.message);
        _exit(2);
    }
}

/* Counts a passage of one armed point; true when it is the one to fail. */
static bool pass(fault *at)
{
    /* Order relaxed: only that each passage has its own number matters. */
    uint64_t passage = 1 + atomic_fetch_add_explicit(&at->passages, 1, memory_order_relaxed);
    if (passage != at->at_passage) {
        return false;
    }
    atomic_fetch_add_explicit(&faults.fired, 1, memory_order_relaxed);
    if (at->action == FAULT_KILL) {
        kill(getpid(), SIGKILL);
        pause();
    }
    return true;
}

bool ms_env_fault_slow(const char *point)
{
    pthread_once(&faults_once, arm_from_environment);
    bool fails = false;
    for (size_t i = 0; i < faults.count; i++) {
        if (strcmp(faults.entries[i].name, point) == 0) {
            fails |= pass(&faults.entries[i]);
        }
    }
    return fails;
}

ms_rc ms_env_faults_set(ms_str spec, ms_status *st)
{
    pthread_once(&faults_once, arm_from_environment);
    return arm(spec, st);
}

uint64_t ms_env_faults_fired(void)
{
    return atomic_load_explicit(&faults.fired, memory_order_relaxed);
}
