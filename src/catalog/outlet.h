/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An outlet carries lines from a worker to a file descriptor that may be a terminal, a pipe or a
 * file, without ever blocking the worker: lines are gathered in one buffer while a job of the I/O
 * pool writes the other.
 *
 *     if (!ms_outlet_has_room(outlet)) { ... blocked: the task will be woken ... }
 *     ... append lines to ms_outlet_lines(outlet) ...
 *     ms_outlet_flush(outlet);
 *     ms_outlet_when_idle(outlet, completion);      a checkpoint waits until all is written
 *
 * The job does not wait either: it writes what the descriptor takes now, and where that is not all,
 * the next one is queued when the descriptor can take more. A terminal that is stopped, or a pipe
 * that nobody reads, holds up its own writer and nobody else.
 *
 * Lines of at most PIPE_BUF bytes are written whole, so that the lines of several subtasks do not
 * mix; longer ones may, on a pipe.
 *
 * Ownership: one writer's; after destroy the memory goes when the pool has given its job back.
 * Thread: task.
 */
#ifndef MS_CATALOG_OUTLET_H
#define MS_CATALOG_OUTLET_H

#include "catalog/connector.h"

typedef struct ms_outlet ms_outlet;

/*
 * The descriptor is borrowed and stays open as long as the process may write to it. The task is
 * woken whenever a write has come to an end.
 */
ms_outlet *ms_outlet_create(int fd, const ms_task_env *env);

/*
 * Writes what the descriptor takes at once, and drops the rest; who still waits is answered with
 * MS_CANCELED. NULL is fine.
 */
void ms_outlet_destroy(ms_outlet *outlet);

/* False when so much waits that no lines should be added. */
bool ms_outlet_has_room(const ms_outlet *outlet);

/* Where lines are appended, each with its line feed. */
ms_buf *ms_outlet_lines(ms_outlet *outlet);

/* Starts writing, where nothing is being written. */
void ms_outlet_flush(ms_outlet *outlet);

/* Everything that was added is written, or writing has failed. */
bool ms_outlet_is_idle(const ms_outlet *outlet);

/*
 * Answers the completion when the outlet is idle, with the failure of writing if there was one.
 * Lines added later may hold the answer up; none is given too early. More than
 * MS_OUTLET_WAITS_MAX that wait are refused with MS_LIMIT.
 */
void ms_outlet_when_idle(ms_outlet *outlet, ms_completion *completion);

#define MS_OUTLET_WAITS_MAX 64u

/* The failure of writing, once there was one; the first stays. */
const ms_status *ms_outlet_status(const ms_outlet *outlet);

#endif
