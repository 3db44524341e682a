/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines are made on the stack and written whole: a line costs no allocation, so that the log can
 * report trouble with memory, and lines of several threads do not mix.
 */
#include "base/log.h"

#include "base/env.h"
#include "base/limits.h"
#include "base/rank.h"
#include "base/str.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};

_Static_assert(sizeof(level_names) / sizeof(level_names[0]) == MS_LOG_LEVEL_COUNT,
               "one name per level");

_Atomic int ms_log_threshold = -1;

/* The mutex guards the sink and keeps lines apart. */
static struct {
    pthread_mutex_t mutex;
    void (*fn)(ms_str line, void *arg);
    void *arg;
} sink = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void lock_sink(void)
{
    ms_rank_enter(MS_RANK_LOG, 0);
    pthread_mutex_lock(&sink.mutex);
}

static void unlock_sink(void)
{
    pthread_mutex_unlock(&sink.mutex);
    ms_rank_leave(MS_RANK_LOG, 0);
}

static bool find_level(ms_str name, ms_log_level *level_out)
{
    for (unsigned i = 0; i < MS_LOG_LEVEL_COUNT; i++) {
        if (ms_str_equals_nocase(name, ms_str_cstr(level_names[i]))) {
            *level_out = (ms_log_level)i;
            return true;
        }
    }
    return false;
}

/* Two threads may come here at once; both find the same. */
int ms_log_threshold_slow(void)
{
    const char *text = getenv("MILLSTREAM_LOG");
    ms_log_level level = MS_LOG_WARN;
    bool known = text == NULL || text[0] == '\0' || find_level(ms_str_cstr(text), &level);
    /* Order relaxed, as in the header: the level guards no other memory. */
    int unset = -1;
    bool first = atomic_compare_exchange_strong_explicit(
        &ms_log_threshold, &unset, (int)level, memory_order_relaxed, memory_order_relaxed);
    if (first && !known) {
        ms_log_write(MS_LOG_WARN, "log", "unknown_level",
                     "MILLSTREAM_LOG=\"%s\" known=error,warn,info,debug used=warn", text);
    }
    return atomic_load_explicit(&ms_log_threshold, memory_order_relaxed);
}

void ms_log_set_level(ms_log_level level)
{
    atomic_store_explicit(&ms_log_threshold, (int)level, memory_order_relaxed);
}

void ms_log_set_sink(void (*fn)(ms_str line, void *arg), void *arg)
{
    lock_sink();
    sink.fn = fn;
    sink.arg = arg;
    unlock_sink();
}

/* A line in the making. Text that does not fit is dropped and leaves a mark. */
typedef struct line {
    char text[MS_LOG_LINE_BYTES];
    size_t bytes;
    bool is_cut;
} line;

/* The room kept for "..." and the line feed. */
#define LINE_TAIL_BYTES 4

static void line_put(line *to, ms_str text)
{
    size_t room = sizeof(to->text) - LINE_TAIL_BYTES - to->bytes;
    if (to->is_cut || text.bytes > room) {
        to->is_cut = true;
        return;
    }
    memcpy(to->text + to->bytes, text.ptr, text.bytes);
    to->bytes += text.bytes;
}

static void line_put_escaped(line *to, ms_str text)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < text.bytes && !to->is_cut; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte >= 0x20 && byte != 0x7F) {
            line_put(to, ms_str_make(text.ptr + i, 1));
            continue;
        }
        const char escaped[] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
        line_put(to, ms_str_make(escaped, sizeof(escaped)));
    }
}

static void line_end(line *to)
{
    if (to->is_cut) {
        memcpy(to->text + to->bytes, "...", 3);
        to->bytes += 3;
    }
    to->text[to->bytes++] = '\n';
}

static void line_put_time(line *to)
{
    int64_t wall_ms = ms_env_wall_ms();
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    char text[64];
    if (gmtime_r(&seconds, &utc) == NULL) {
        return;
    }
    int bytes = snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                         utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                         utc.tm_sec, (int)(wall_ms % 1000));
    if (bytes > 0) {
        line_put(to, ms_str_make(text, (size_t)bytes));
    }
}

/* There is nobody to tell when standard error is gone. */
static void write_to_stderr(ms_str text)
{
    while (text.bytes != 0) {
        ssize_t written = write(STDERR_FILENO, text.ptr, text.bytes);
        if (written <= 0) {
            return;
        }
        text = ms_str_slice(text, (size_t)written, text.bytes);
    }
}

static void emit(ms_str text)
{
    lock_sink();
    if (sink.fn != NULL) {
        sink.fn(text, sink.arg);
    } else {
        write_to_stderr(text);
    }
    unlock_sink();
}

void ms_log_write(ms_log_level level, const char *module, const char *event, const char *format,
                  ...)
{
    char pairs[MS_LOG_LINE_BYTES];
    va_list args;
    va_start(args, format);
    int bytes = vsnprintf(pairs, sizeof(pairs), format, args);
    va_end(args);

    line to = {.bytes = 0};
    line_put_time(&to);
    line_put(&to, ms_str_lit(" "));
    line_put(&to, ms_str_cstr(level_names[level]));
    line_put(&to, ms_str_lit(" "));
    line_put(&to, ms_str_cstr(module));
    line_put(&to, ms_str_lit(" event="));
    line_put(&to, ms_str_cstr(event));
    if (bytes > 0) {
        line_put(&to, ms_str_lit(" "));
        line_put_escaped(&to, ms_str_cstr(pairs));
        to.is_cut |= (size_t)bytes >= sizeof(pairs);
    }
    line_end(&to);
    emit(ms_str_make(to.text, to.bytes));
}
