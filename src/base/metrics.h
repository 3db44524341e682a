/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that a running engine shows: counters that only grow and gauges that go up and down.
 * A registry holds the metrics of one job, or of the process; every metric has a scope, which says
 * whose it is, and a name, which says what is counted.
 *
 *     ms_metric *rows_in = ms_metrics_counter(metrics, "op=3 subtask=0", "rows_in");
 *     ms_metric_add(rows_in, batch->row_count);                          once a batch, not per row
 *     uint64_t total = ms_metrics_sum(metrics, "rows_in");               over all scopes
 *
 * Whoever updates a metric keeps the pointer: looking one up takes the registry's mutex (rank
 * MS_RANK_METRICS), updating it takes none. Each metric has a cache line of its own, so subtasks
 * that give their own scope never disturb each other.
 *
 * Ownership: a registry owns its metrics, which live until it is destroyed; scopes and names are
 * copied. Thread: any.
 */
#ifndef MS_BASE_METRICS_H
#define MS_BASE_METRICS_H

#include "base/arena.h"

#include <stdatomic.h>

typedef struct ms_metrics ms_metrics;

typedef enum ms_metric_kind { MS_METRIC_COUNTER, MS_METRIC_GAUGE } ms_metric_kind;

/* Fields are private. */
typedef struct ms_metric {
    _Alignas(64) _Atomic int64_t value;
} ms_metric;

/* One metric as it was at one moment. */
typedef struct ms_metric_sample {
    ms_str scope;
    ms_str name;
    ms_metric_kind kind;
    int64_t value;
} ms_metric_sample;

/* Life. */

ms_metrics *ms_metrics_create(void);
void ms_metrics_destroy(ms_metrics *metrics);

/*
 * The counter or gauge of this scope and name, made at the first call with value 0. A name is a
 * counter everywhere or a gauge everywhere.
 */
ms_metric *ms_metrics_counter(ms_metrics *metrics, const char *scope, const char *name);
ms_metric *ms_metrics_gauge(ms_metrics *metrics, const char *scope, const char *name);

/* Use. Order relaxed throughout: a metric guards no other memory. */

/* Adds to a counter, or moves a gauge by a positive or negative step. */
static inline void ms_metric_add(ms_metric *metric, int64_t step)
{
    atomic_fetch_add_explicit(&metric->value, step, memory_order_relaxed);
}

/* Gives a gauge its value. */
static inline void ms_metric_set(ms_metric *metric, int64_t value)
{
    atomic_store_explicit(&metric->value, value, memory_order_relaxed);
}

static inline int64_t ms_metric_value(const ms_metric *metric)
{
    return atomic_load_explicit(&metric->value, memory_order_relaxed);
}

/* Inspection. */

/* The sum of all metrics of this name; 0 when there is none. */
int64_t ms_metrics_sum(ms_metrics *metrics, const char *name);

/*
 * Copies all metrics, ordered by name and then scope, into the arena. The values are not of one
 * instant: each was true at some moment during the call.
 */
const ms_metric_sample *ms_metrics_snapshot(ms_metrics *metrics, ms_arena *arena,
                                            size_t *count_out);

#endif
