/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of net/ need of a loop beyond net/loop.h: libuv's loop, for sockets and names; two
 * queues of tasks that run within the turn; a buffer that all connections read into, one after the
 * other; and a pool of memory.
 *
 * A turn:   sockets -> mails -> timers -> soon tasks -> last tasks -> outbox -> wait
 *
 * Soon tasks are callbacks that may not run inside the function that caused them. Last tasks send:
 * whatever a turn produced for a connection goes out in one write. What the last tasks cause is for
 * the next turn, which then begins without waiting.
 */
#ifndef MS_NET_LOOP_PRIV_H
#define MS_NET_LOOP_PRIV_H

#include "net/loop.h"
#include "net/pool_priv.h"

#include <uv.h>

#define MSI_LOOP_BUFFER_BYTES (128u << 10) /* eight full TLS records, or DATA frames */

/* Part of what it belongs to. Zero-initialized but for run. */
typedef struct msi_loop_task {
    struct msi_loop_task *next;
    struct msi_loop_task *prev; /* NULL: not queued */
    void (*run)(struct msi_loop_task *task);
} msi_loop_task;

/* The struct that holds a task, or anything else, as a member. */
#define MSI_OWNER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

uv_loop_t *msi_loop_uv(ms_loop *loop);

/* MSI_LOOP_BUFFER_BYTES; used from a read to the end of what the bytes lead to. */
char *msi_loop_buffer(ms_loop *loop);

/* For small things that come and go, of what lives on this loop. */
msi_pool *msi_loop_pool(ms_loop *loop);

/* Queues a task, unless it is queued. It runs once. */
void msi_loop_soon(ms_loop *loop, msi_loop_task *task);
void msi_loop_last(ms_loop *loop, msi_loop_task *task);

/* Takes a task out of its queue, if it is in one. */
void msi_loop_cancel(msi_loop_task *task);

#endif
