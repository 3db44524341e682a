/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A registry is a map from "name NUL scope" to metrics, on an arena that goes with it. Sums walk
 * all of it: readers are a status line once a second and tests, writers never come here.
 */
#include "base/metrics.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/rank.h"
#include "base/str.h"

#include <pthread.h>
#include <stdlib.h>

/* A metric and what it is called. */
typedef struct registered {
    ms_metric metric; /* first: it wants the cache line */
    ms_str scope;
    ms_str name;
    ms_metric_kind kind;
} registered;

struct ms_metrics {
    pthread_mutex_t mutex; /* guards arena and by_key; the metrics themselves are atomics */
    ms_arena arena;
    ms_map by_key;
};

static void lock(ms_metrics *metrics)
{
    ms_rank_enter(MS_RANK_METRICS, 0);
    pthread_mutex_lock(&metrics->mutex);
}

static void unlock(ms_metrics *metrics)
{
    pthread_mutex_unlock(&metrics->mutex);
    ms_rank_leave(MS_RANK_METRICS, 0);
}

ms_metrics *ms_metrics_create(void)
{
    ms_metrics *metrics = ms_mem_alloc(sizeof(*metrics));
    pthread_mutex_init(&metrics->mutex, NULL);
    ms_arena_init(&metrics->arena, 0);
    ms_map_init(&metrics->by_key, &metrics->arena);
    return metrics;
}

void ms_metrics_destroy(ms_metrics *metrics)
{
    if (metrics == NULL) {
        return;
    }
    ms_arena_release(&metrics->arena);
    pthread_mutex_destroy(&metrics->mutex);
    ms_mem_free(metrics);
}

static registered *add(ms_metrics *metrics, ms_str key, size_t name_bytes, ms_metric_kind kind)
{
    registered *entry = ms_arena_new(&metrics->arena, registered);
    entry->name = ms_str_slice(key, 0, name_bytes);
    entry->scope = ms_str_slice(key, name_bytes + 1, key.bytes);
    entry->kind = kind;
    ms_map_put(&metrics->by_key, key, entry);
    return entry;
}

static ms_metric *get_or_add(ms_metrics *metrics, const char *scope, const char *name,
                             ms_metric_kind kind)
{
    lock(metrics);
    /* The key stays in the arena also when the metric is there: callers look up once, at start. */
    ms_str key = ms_arena_format(&metrics->arena, "%s%c%s", name, '\0', scope);
    registered *entry = ms_map_get(&metrics->by_key, key);
    if (entry == NULL) {
        entry = add(metrics, key, strlen(name), kind);
    }
    unlock(metrics);
    MS_ASSERT(entry->kind == kind);
    return &entry->metric;
}

ms_metric *ms_metrics_counter(ms_metrics *metrics, const char *scope, const char *name)
{
    return get_or_add(metrics, scope, name, MS_METRIC_COUNTER);
}

ms_metric *ms_metrics_gauge(ms_metrics *metrics, const char *scope, const char *name)
{
    return get_or_add(metrics, scope, name, MS_METRIC_GAUGE);
}

int64_t ms_metrics_sum(ms_metrics *metrics, const char *name)
{
    int64_t sum = 0;
    lock(metrics);
    for (uint32_t i = 0; i < metrics->by_key.count; i++) {
        const registered *entry = metrics->by_key.entries[i].value;
        if (ms_str_equals(entry->name, ms_str_cstr(name))) {
            sum += ms_metric_value(&entry->metric);
        }
    }
    unlock(metrics);
    return sum;
}

static int compare_samples(const void *left, const void *right)
{
    const ms_metric_sample *a = left;
    const ms_metric_sample *b = right;
    int order = ms_str_compare(a->name, b->name);
    return order != 0 ? order : ms_str_compare(a->scope, b->scope);
}

const ms_metric_sample *ms_metrics_snapshot(ms_metrics *metrics, ms_arena *arena, size_t *count_out)
{
    lock(metrics);
    size_t count = metrics->by_key.count;
    ms_metric_sample *samples = ms_arena_array(arena, ms_metric_sample, count);
    for (size_t i = 0; i < count; i++) {
        const registered *entry = metrics->by_key.entries[i].value;
        samples[i].scope = ms_arena_copy_str(arena, entry->scope);
        samples[i].name = ms_arena_copy_str(arena, entry->name);
        samples[i].kind = entry->kind;
        samples[i].value = ms_metric_value(&entry->metric);
    }
    unlock(metrics);
    qsort(samples, count, sizeof(samples[0]), compare_samples);
    *count_out = count;
    return samples;
}
