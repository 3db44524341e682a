/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving memory back to the system. The heap keeps the pages that were freed in the middle of its
 * arenas, and a server whose clients were slow once would stay as large as they made it. Someone
 * who has nothing else to do looks from time to time; a look gives free pages back when the process
 * was quiet since the look before, and many of them have come together.
 *
 *     ms_trim trim = {0};
 *     ...                        every MS_TRIM_PERIOD_NS, on a thread that serves nobody:
 *     ms_trim_look(&trim);
 *
 * Giving back takes the locks of the heap, a tenth of a second for a GiB, which is why it waits for
 * quiet. It does nothing where the C library cannot tell what is free.
 *
 * Thread: one at a time for each ms_trim, of which a process has one.
 */
#ifndef MS_BASE_TRIM_H
#define MS_BASE_TRIM_H

#include <stdbool.h>
#include <stdint.h>

#define MS_TRIM_PERIOD_NS INT64_C(5000000000)

/* Zero is a good start. Fields are private. */
typedef struct ms_trim {
    uint64_t floor_bytes; /* what was idle after the last time, or later and less */
    int64_t cpu_ns;       /* at the look before */
    int64_t mono_ns;
    bool has_floor;
} ms_trim;

void ms_trim_look(ms_trim *trim);

/* The rule, in two parts: was it quiet since the look before, with so much processor time used so
 * far? It was not before the first. And is so much of the heap idle, of what is resident, that
 * giving it back is worth the while? is_after: it was given back just now. */
bool ms_trim_is_quiet(ms_trim *trim, int64_t cpu_ns, int64_t mono_ns);
bool ms_trim_is_worth(ms_trim *trim, uint64_t resident_bytes, uint64_t used_bytes, bool is_after);

#endif
