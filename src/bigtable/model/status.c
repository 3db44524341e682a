/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service's status: names of codes, the first cause, and the translation into errors of ours.
 * Which failures are retried is the client's policy, not decided here.
 */
#include "bigtable/model/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[MS_BT_CODE_COUNT] = {
    [MS_BT_OK] = "OK",
    [MS_BT_CANCELLED] = "CANCELLED",
    [MS_BT_UNKNOWN] = "UNKNOWN",
    [MS_BT_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
    [MS_BT_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
    [MS_BT_NOT_FOUND] = "NOT_FOUND",
    [MS_BT_ALREADY_EXISTS] = "ALREADY_EXISTS",
    [MS_BT_PERMISSION_DENIED] = "PERMISSION_DENIED",
    [MS_BT_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
    [MS_BT_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
    [MS_BT_ABORTED] = "ABORTED",
    [MS_BT_OUT_OF_RANGE] = "OUT_OF_RANGE",
    [MS_BT_UNIMPLEMENTED] = "UNIMPLEMENTED",
    [MS_BT_INTERNAL] = "INTERNAL",
    [MS_BT_UNAVAILABLE] = "UNAVAILABLE",
    [MS_BT_DATA_LOSS] = "DATA_LOSS",
    [MS_BT_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *ms_bt_code_name(ms_bt_code code)
{
    unsigned index = (unsigned)code;
    return index < MS_BT_CODE_COUNT ? code_names[index] : "UNKNOWN";
}

void ms_bt_status_clear(ms_bt_status *bt)
{
    bt->code = MS_BT_OK;
    bt->text[0] = '\0';
    bt->hint = NULL;
}

/* Replaces the end of a text that was cut by "...", at the start of a character. */
static void mark_cut(ms_bt_status *bt)
{
    size_t at = sizeof(bt->text) - sizeof("...");
    for (int back = 0; back < 3 && ((unsigned char)bt->text[at] & 0xC0u) == 0x80u; back++) {
        at--;
    }
    memcpy(bt->text + at, "...", sizeof("..."));
}

ms_bt_code ms_bt_status_set(ms_bt_status *bt, ms_bt_code code, const char *format, ...)
{
    MS_ASSERT(code != MS_BT_OK);
    if (bt->code != MS_BT_OK) {
        return bt->code;
    }
    bt->code = code;
    va_list args;
    va_start(args, format);
    int bytes = vsnprintf(bt->text, sizeof(bt->text), format, args);
    va_end(args);
    if (bytes >= (int)sizeof(bt->text)) {
        mark_cut(bt);
    }
    return code;
}

ms_bt_code ms_bt_status_set_text(ms_bt_status *bt, ms_bt_code code, ms_str text)
{
    return ms_bt_status_set(bt, code, "%.*s", (int)text.bytes, text.bytes == 0 ? "" : text.ptr);
}

static ms_rc report_code(ms_bt_code code)
{
    switch (code) {
    case MS_BT_NOT_FOUND:
        return MS_BIGTABLE_NOT_FOUND;
    case MS_BT_UNAVAILABLE:
    case MS_BT_DEADLINE_EXCEEDED:
    case MS_BT_ABORTED:
        return MS_BIGTABLE_UNAVAILABLE;
    case MS_BT_UNIMPLEMENTED:
        return MS_NOT_SUPPORTED;
    case MS_BT_CANCELLED:
        return MS_CANCELED;
    case MS_BT_OK:
    case MS_BT_UNKNOWN:
    case MS_BT_INVALID_ARGUMENT:
    case MS_BT_ALREADY_EXISTS:
    case MS_BT_PERMISSION_DENIED:
    case MS_BT_RESOURCE_EXHAUSTED:
    case MS_BT_FAILED_PRECONDITION:
    case MS_BT_OUT_OF_RANGE:
    case MS_BT_INTERNAL:
    case MS_BT_DATA_LOSS:
    case MS_BT_UNAUTHENTICATED:
    case MS_BT_CODE_COUNT:
        break;
    }
    return MS_BIGTABLE_ERROR;
}

ms_rc ms_bt_status_report(const ms_bt_status *bt, ms_status *st, const char *format, ...)
{
    MS_ASSERT(bt->code != MS_BT_OK);
    if (st->code != MS_OK) {
        return st->code;
    }
    char message[sizeof(st->message)];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    ms_rc code = report_code(bt->code);
    ms_status_set(st, code, ms_span_none, "%s", message);
    ms_status_detail(st, "%s: %s", ms_bt_code_name(bt->code), bt->text);
    st->retriable = code == MS_BIGTABLE_UNAVAILABLE && bt->hint == NULL;
    return bt->hint != NULL ? ms_status_hint(st, "%s", bt->hint) : code;
}

ms_bt_code ms_bt_status_from(ms_bt_status *bt, ms_bt_code code, const ms_status *st)
{
    MS_ASSERT(st->code != MS_OK);
    if (st->detail[0] == '\0') {
        return ms_bt_status_set(bt, code, "%s", st->message);
    }
    return ms_bt_status_set(bt, code, "%s: %s", st->message, st->detail);
}
