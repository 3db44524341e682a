/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one seam through which nondeterminism enters: clocks, random numbers and injected faults.
 * Nobody else asks the system for the time or for randomness, so that a test can replace both and a
 * run can be replayed from its seed. (Scheduling enters through os/.)
 *
 * A fault point is a named place where a test may kill the process or make an operation fail:
 *
 *     if (ms_env_fault("checkpoint.before_rename")) {
 *         return ms_status_set_errno(st, EIO, "could not rename \"%s\"", path);
 *     }
 *
 * The environment variable MS_FAULT arms points: "name:n:action", several separated by commas. The
 * n-th passage (from 1) does the action: kill ends the process with SIGKILL, as a power switch
 * would; fail makes ms_env_fault() return true, once. Without MS_FAULT a point costs one predicted
 * branch. A point that cannot fail, only be killed at, ignores the result: (void)ms_env_fault(...).
 *
 * Thread: any, except for the functions under "Tests", which are called while no other thread of
 * the process uses this header.
 */
#ifndef MS_BASE_ENV_H
#define MS_BASE_ENV_H

#include "base/status.h"

#include <stdatomic.h>

/* Clocks. */

/* Time since 1970-01-01 00:00 UTC. May step back when the system's clock is set. */
int64_t ms_env_wall_ms(void);
int64_t ms_env_wall_us(void);

/* Time since some fixed moment; never steps back. For intervals, deadlines and measurements. */
int64_t ms_env_mono_ns(void);

/* Random numbers. */

/*
 * A generator (xoshiro256**, by Blackman and Vigna). Not for secrets. Fields are private. Thread:
 * one at a time; whoever needs random numbers has a generator of its own.
 */
typedef struct ms_env_random {
    uint64_t word[4];
} ms_env_random;

/* The same seed gives the same sequence, on every machine and in every version. */
void ms_env_random_init(ms_env_random *random, uint64_t seed);
uint64_t ms_env_random_next(ms_env_random *random);

/* Uniform in [0, bound); bound is not 0. */
uint64_t ms_env_random_below(ms_env_random *random, uint64_t bound);

/* Uniform in [0, 1), with 53 random bits. */
double ms_env_random_unit(ms_env_random *random);

/*
 * A seed for a generator that nobody asked to be repeatable: the next of a sequence that starts
 * from the process seed. The process seed is MS_SEED (decimal) where set, else entropy.
 */
uint64_t ms_env_next_seed(void);

/* Fault points. */

/* True until MS_FAULT was looked at and arms nothing. Private. */
extern _Atomic bool ms_env_faults_armed;

/* The uncommon path of ms_env_fault. */
bool ms_env_fault_slow(const char *point);

/* Passes a fault point. True: the caller behaves as if the system had refused the operation. */
static inline bool ms_env_fault(const char *point)
{
    /* Order relaxed: the flag only saves work; what it guards has a lock of its own. */
    return __builtin_expect(atomic_load_explicit(&ms_env_faults_armed, memory_order_relaxed), 0) &&
           ms_env_fault_slow(point);
}

/* Tests. */

/*
 * Arms the points of a text as in MS_FAULT, in place of all that were armed, and counts passages
 * from 0; an empty text disarms. At most 16 points.
 */
ms_rc ms_env_faults_set(ms_str spec, ms_status *st) MS_MUST_USE;

/* How many faults fired since ms_env_faults_set: a loop over n ends when one run has none. */
uint64_t ms_env_faults_fired(void);

/* A clock that a test moves by hand. Thread: set and advanced by one, read by any. */
typedef struct ms_env_clock {
    _Atomic int64_t wall_us;
    _Atomic int64_t mono_ns;
} ms_env_clock;

/* Puts this clock in place of the system's; NULL takes it away. Borrowed until then. */
void ms_env_set_clock(ms_env_clock *clock);

/* Moves both times of a clock forward. */
void ms_env_clock_advance_us(ms_env_clock *clock, int64_t by_us);

#endif
