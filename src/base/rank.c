/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks that each thread holds, in the order in which it took them: an ascending list. A mutex
 * may be given back in any order, which keeps the list ascending.
 */
#include "base/rank.h"

#ifdef MS_DEBUG

#include "base/status.h"

static _Thread_local struct {
    int ranks[MS_RANK_HELD_MAX];
    int count;
} held;

void ms_rank_enter(int rank)
{
    /* Taking this mutex after that one can deadlock with a thread that takes them in order. */
    MS_ASSERT(held.count == 0 || held.ranks[held.count - 1] < rank);
    MS_ASSERT(held.count < MS_RANK_HELD_MAX);
    held.ranks[held.count++] = rank;
}

void ms_rank_leave(int rank)
{
    int at = held.count - 1;
    while (at >= 0 && held.ranks[at] != rank) {
        at--;
    }
    /* The thread unlocks what it did not lock. */
    MS_ASSERT(at >= 0);
    for (; at < held.count - 1; at++) {
        held.ranks[at] = held.ranks[at + 1];
    }
    held.count--;
}

int ms_rank_held_count(void)
{
    return held.count;
}

#else

/* C17 wants a declaration in every file. */
typedef int ms_rank_is_inline;

#endif
