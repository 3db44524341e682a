/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which mutexes may be taken. Every mutex has a rank from base/limits.h; a thread may
 * take one only when it holds none of an equal or higher rank, so no two threads can wait for each
 * other. Debug builds keep the ranks that a thread holds and abort on the first breach, whether or
 * not it would have met another thread; release builds compile this to nothing.
 *
 *     ms_rank_enter(MS_RANK_LOG, 0);          before locking
 *     pthread_mutex_lock(&mutex);
 *     ...
 *     pthread_mutex_unlock(&mutex);
 *     ms_rank_leave(MS_RANK_LOG, 0);          after unlocking
 *
 * os/thread.h does this for everybody; only base/, which cannot see os/, calls it itself.
 *
 * Thread: any; each thread has its own list.
 */
#ifndef MS_BASE_RANK_H
#define MS_BASE_RANK_H

/* A rank may be that of a set of mutexes, which are then taken in ascending order of index. */
#define MS_RANK_STRIPES 1024

/* More than this many mutexes held at once is a bug by itself: one full set, and some. */
#define MS_RANK_HELD_MAX (MS_RANK_STRIPES + 16)

#ifdef MS_DEBUG

/* index tells the mutexes of a set apart, below MS_RANK_STRIPES; 0 for one that is alone. */
void ms_rank_enter(int rank, int index);
void ms_rank_leave(int rank, int index);

/* How many mutexes the calling thread holds. For tests, and for asserting that it holds none. */
int ms_rank_held_count(void);

#else

static inline void ms_rank_enter(int rank, int index)
{
    (void)rank;
    (void)index;
}

static inline void ms_rank_leave(int rank, int index)
{
    (void)rank;
    (void)index;
}

static inline int ms_rank_held_count(void)
{
    return 0;
}

#endif

#endif
