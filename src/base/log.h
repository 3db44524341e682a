/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line an event on standard error, for operators of a job and for those who look into
 * a failure. What a user did wrong is a status, not a log line.
 *
 *     ms_log(MS_LOG_INFO, "checkpoint", "completed", "id=%" PRIu64 " bytes=%" PRIu64, id, bytes);
 *
 *     2025-03-01T09:30:00.123Z info checkpoint event=completed id=7 bytes=8192
 *
 * The format is printf's and makes key=value pairs; texts that may hold blanks are written
 * key=\"%s\". Bytes below 0x20 are escaped, so that a line is one line. A line longer than
 * MS_LOG_LINE_BYTES is cut and ends in "...". A line is written with one call to write().
 *
 * The level comes from the environment variable MILLSTREAM_LOG: error, warn (the default), info,
 * debug. A line below it costs a branch: its arguments are not evaluated.
 *
 * Thread: any. Takes a mutex of rank MS_RANK_LOG, so that it may be called under any other.
 */
#ifndef MS_BASE_LOG_H
#define MS_BASE_LOG_H

#include "base/status.h"

#include <stdatomic.h>

#define MS_LOG_LINE_BYTES 2048

typedef enum ms_log_level {
    MS_LOG_ERROR,
    MS_LOG_WARN,
    MS_LOG_INFO,
    MS_LOG_DEBUG,
    MS_LOG_LEVEL_COUNT
} ms_log_level;

/* The level in force, or -1 before the environment was looked at. Private. */
extern _Atomic int ms_log_threshold;

/* Reads the environment, once. Returns the level in force. */
int ms_log_threshold_slow(void);

static inline bool ms_log_is_on(ms_log_level level)
{
    /* Order relaxed: a line more or less while the level changes harms nobody. */
    int threshold = atomic_load_explicit(&ms_log_threshold, memory_order_relaxed);
    if (__builtin_expect(threshold < 0, 0)) {
        threshold = ms_log_threshold_slow();
    }
    return (int)level <= threshold;
}

/* Writes one line, whatever the level in force; use ms_log. */
void ms_log_write(ms_log_level level, const char *module, const char *event, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

#define ms_log(level, module, event, ...)                                                          \
    (ms_log_is_on(level) ? ms_log_write((level), (module), (event), __VA_ARGS__) : (void)0)

/* Replaces the level from the environment. */
void ms_log_set_level(ms_log_level level);

/*
 * Sends lines, each with its line feed, to fn instead of standard error; NULL sends them back
 * there. fn runs under the log's mutex and must not log.
 */
void ms_log_set_sink(void (*fn)(ms_str line, void *arg), void *arg);

#endif
