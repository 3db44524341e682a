/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread holds, in the order in which it took it: an ascending list of places, a place
 * being rank and index in one number. A mutex may be given back in any order, which keeps the list
 * ascending.
 */
#include "base/rank.h"

#ifdef MS_DEBUG

#include "base/status.h"

static _Thread_local struct {
    int places[MS_RANK_HELD_MAX];
    int count;
} held;

static int place_of(int rank, int index)
{
    MS_ASSERT(index >= 0 && index < MS_RANK_STRIPES);
    return rank * MS_RANK_STRIPES + index;
}

void ms_rank_enter(int rank, int index)
{
    int place = place_of(rank, index);
    /* Taking this mutex after that one can deadlock with a thread that takes them in order. */
    MS_ASSERT(held.count == 0 || held.places[held.count - 1] < place);
    MS_ASSERT(held.count < MS_RANK_HELD_MAX);
    held.places[held.count++] = place;
}

void ms_rank_leave(int rank, int index)
{
    int place = place_of(rank, index);
    int at = held.count - 1;
    while (at >= 0 && held.places[at] != place) {
        at--;
    }
    /* The thread unlocks what it did not lock. */
    MS_ASSERT(at >= 0);
    for (; at < held.count - 1; at++) {
        held.places[at] = held.places[at + 1];
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
