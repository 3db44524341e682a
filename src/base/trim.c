/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When free pages go back to the system. What is resident and not in use by the heap is idle, give
 * or take the program itself: the rule is about how much more of it there is than after the last
 * time, so that pages which cannot be given back are tried once and not again.
 */
#include "base/trim.h"

#include "base/env.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Less is not worth a walk over the heap. */
#define WORTH_BYTES ((uint64_t)64 << 20)
/* Quiet is less than a quarter of one processor. */
#define QUIET_DIVISOR 4

bool ms_trim_is_quiet(ms_trim *trim, int64_t cpu_ns, int64_t mono_ns)
{
    bool is_first = trim->mono_ns == 0;
    int64_t worked_ns = cpu_ns - trim->cpu_ns;
    int64_t passed_ns = mono_ns - trim->mono_ns;
    trim->cpu_ns = cpu_ns;
    trim->mono_ns = mono_ns;
    return !is_first && worked_ns < passed_ns / QUIET_DIVISOR;
}

bool ms_trim_is_worth(ms_trim *trim, uint64_t resident_bytes, uint64_t used_bytes, bool is_after)
{
    uint64_t idle = resident_bytes > used_bytes ? resident_bytes - used_bytes : 0;
    if (!trim->has_floor || is_after || idle < trim->floor_bytes) {
        trim->floor_bytes = idle;
        trim->has_floor = true;
    }
    return idle - trim->floor_bytes >= WORTH_BYTES;
}

/* 0: not known. */
static uint64_t resident_bytes(void)
{
    uint64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL) {
        if (fscanf(file, "%*u %" SCNu64, &pages) != 1) {
            pages = 0;
        }
        (void)fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int64_t ns_of(struct timeval time)
{
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

static int64_t cpu_ns(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    return ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

void ms_trim_look(ms_trim *trim)
{
    bool is_quiet = ms_trim_is_quiet(trim, cpu_ns(), ms_env_mono_ns());
    /* The first look is for the floor. */
    if ((is_quiet || !trim->has_floor) &&
        ms_trim_is_worth(trim, resident_bytes(), ms_mem_used_bytes(), false)) {
        ms_mem_trim();
        (void)ms_trim_is_worth(trim, resident_bytes(), ms_mem_used_bytes(), true);
    }
}
