/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status record and the error table. Everything here works without allocating, so that
 * exhaustion of memory can be reported like any other trouble. How a status is shown to a user,
 * with the line of SQL and its carets, is not decided here but in sql/source and engine/.
 */
#include "base/status.h"

#include "base/str.h"

#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A frame more than this deep says nothing that the ones above it do not. */
#define BACKTRACE_FRAMES 48

typedef struct rc_entry {
    const char *name;
    const char *sqlstate;
    const char *meaning;
} rc_entry;

static const rc_entry rc_table[] = {
#define X(name, sqlstate, meaning) {#name, sqlstate, meaning},
#include "millstream/errcode.def"
#undef X
};

_Static_assert(sizeof(rc_table) / sizeof(rc_table[0]) == MS_RC_COUNT, "one entry per code");

static const rc_entry *rc_lookup(ms_rc code)
{
    unsigned index = (unsigned)code;
    return &rc_table[index < MS_RC_COUNT ? index : (unsigned)MS_INTERNAL];
}

const char *ms_rc_name(ms_rc code)
{
    return rc_lookup(code)->name;
}

const char *ms_rc_sqlstate(ms_rc code)
{
    return rc_lookup(code)->sqlstate;
}

const char *ms_rc_meaning(ms_rc code)
{
    return rc_lookup(code)->meaning;
}

bool ms_rc_is_warning(ms_rc code)
{
    return strncmp(ms_rc_sqlstate(code), "01", 2) == 0;
}

/* Formats into field; a text that does not fit is cut at a character and ends in "...". */
__attribute__((format(printf, 3, 0))) static void format_field(char *field, size_t field_bytes,
                                                               const char *format, va_list args)
{
    int bytes = vsnprintf(field, field_bytes, format, args);
    if (bytes < 0) {
        field[0] = '\0';
        return;
    }
    if ((size_t)bytes >= field_bytes) {
        ms_str whole = ms_str_make(field, field_bytes - 1);
        ms_str kept = ms_str_head(whole, field_bytes - sizeof("..."));
        memcpy(field + kept.bytes, "...", sizeof("..."));
    }
}

void ms_status_clear(ms_status *st)
{
    st->code = MS_OK;
    st->retriable = false;
    st->span = ms_span_none;
    st->message[0] = '\0';
    st->detail[0] = '\0';
    st->hint[0] = '\0';
}

ms_rc ms_status_set(ms_status *st, ms_rc code, ms_span span, const char *format, ...)
{
    MS_ASSERT(code != MS_OK);
    if (st->code != MS_OK) {
        return st->code;
    }
    ms_status_clear(st);
    st->code = code;
    st->span = span;
    va_list args;
    va_start(args, format);
    format_field(st->message, sizeof(st->message), format, args);
    va_end(args);
    return code;
}

static ms_rc code_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOENT:
        return MS_FILE_NOT_FOUND;
    case ENOSPC:
    case EDQUOT:
        return MS_DISK_FULL;
    case ENOMEM:
        return MS_NO_MEMORY;
    default:
        return MS_IO_ERROR;
    }
}

/* Shortages pass; a missing file, a refused permission or a broken device does not. */
static bool errno_is_retriable(int errno_value)
{
    switch (errno_value) {
    case EAGAIN:
    case EINTR:
    case EBUSY:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case ETIMEDOUT:
        return true;
    default:
        return false;
    }
}

ms_rc ms_status_set_errno(ms_status *st, int errno_value, const char *format, ...)
{
    if (st->code != MS_OK) {
        return st->code;
    }
    ms_status_clear(st);
    st->code = code_of_errno(errno_value);
    st->retriable = errno_is_retriable(errno_value);
    va_list args;
    va_start(args, format);
    format_field(st->message, sizeof(st->message), format, args);
    va_end(args);
    char text[128];
    return ms_status_detail(st, "%s", strerror_r(errno_value, text, sizeof(text)));
}

ms_rc ms_status_detail(ms_status *st, const char *format, ...)
{
    if (st->code != MS_OK && st->detail[0] == '\0') {
        va_list args;
        va_start(args, format);
        format_field(st->detail, sizeof(st->detail), format, args);
        va_end(args);
    }
    return st->code;
}

ms_rc ms_status_hint(ms_status *st, const char *format, ...)
{
    if (st->code != MS_OK && st->hint[0] == '\0') {
        va_list args;
        va_start(args, format);
        format_field(st->hint, sizeof(st->hint), format, args);
        va_end(args);
    }
    return st->code;
}

ms_rc ms_status_place(ms_status *st, ms_span span)
{
    if (st->code != MS_OK && st->span.start == 0 && st->span.end == 0) {
        st->span = span;
    }
    return st->code;
}

void ms_assert_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "millstream: assertion failed: %s (%s:%d)\n", condition, file, line);
    fflush(stderr);
    void *frames[BACKTRACE_FRAMES];
    int count = backtrace(frames, BACKTRACE_FRAMES);
    backtrace_symbols_fd(frames, count, STDERR_FILENO);
    abort();
}
