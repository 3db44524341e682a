/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statuses and their particulars. Each kind of particular is a message inside a message of any
 * type; one that is malformed or unknown is passed over, because a failure must never be made worse
 * by what it says about itself.
 */
#include "bigtable/wire/rpc_status.h"

#include "bigtable/wire/resource.h"
#include "bigtable/wire/time.h"
#include "type/text.h"

ms_bt_code ms_wire_code(int32_t number)
{
    return number >= 0 && number < MS_BT_CODE_COUNT ? (ms_bt_code)number : MS_BT_UNKNOWN;
}

/* A copy with "?" for each byte that is not part of a character, and for NUL. */
static char *clean_text(ms_arena *arena, ms_str text)
{
    char *copy = ms_wire_text(arena, text);
    size_t at = 0;
    while (at < text.bytes) {
        size_t bytes = 1;
        while (bytes < 4 && at + bytes <= text.bytes &&
               !ms_str_is_utf8(ms_str_make(text.ptr + at, bytes))) {
            bytes++;
        }
        bool is_good = at + bytes <= text.bytes && copy[at] != '\0' &&
                       ms_str_is_utf8(ms_str_make(text.ptr + at, bytes));
        if (!is_good) {
            copy[at] = '?';
        }
        at += is_good ? bytes : 1;
    }
    return copy;
}

/* Encoding. */

static ms_pb_any *retry_info(const ms_wire_status *status, ms_arena *arena)
{
    ms_pb_retry_info *info = ms_pb_new(arena, retry_info);
    info->retry_delay = ms_wire_duration_to_pb(status->retry_delay_micros, arena);
    return ms_wire_any_to_pb(&info->base, arena);
}

static ms_pb_any *precondition_failure(const ms_wire_status *status, ms_arena *arena)
{
    ms_pb_precondition_failure *failure = ms_pb_new(arena, precondition_failure);
    failure->n_violations = status->violation_count;
    failure->violations =
        ms_arena_array(arena, ms_pb_precondition_failure_violation *, status->violation_count);
    for (size_t i = 0; i < status->violation_count; i++) {
        ms_pb_precondition_failure_violation *violation =
            ms_pb_new(arena, precondition_failure_violation);
        violation->type = clean_text(arena, status->violations[i].type);
        violation->subject = clean_text(arena, status->violations[i].subject);
        violation->description = clean_text(arena, status->violations[i].description);
        failure->violations[i] = violation;
    }
    return ms_wire_any_to_pb(&failure->base, arena);
}

static ms_pb_any *error_info(const ms_wire_status *status, ms_arena *arena)
{
    ms_pb_error_info *info = ms_pb_new(arena, error_info);
    info->reason = clean_text(arena, status->reason);
    info->domain = clean_text(arena, status->domain);
    info->n_metadata = status->metadata_count;
    info->metadata =
        ms_arena_array(arena, ms_pb_error_info_metadata_entry *, status->metadata_count);
    for (size_t i = 0; i < status->metadata_count; i++) {
        ms_pb_error_info_metadata_entry *entry = ms_pb_new(arena, error_info_metadata_entry);
        entry->key = clean_text(arena, status->metadata[i].key);
        entry->value = clean_text(arena, status->metadata[i].value);
        info->metadata[i] = entry;
    }
    return ms_wire_any_to_pb(&info->base, arena);
}

ms_rc ms_wire_status_encode(const ms_wire_status *status, ms_arena *arena, ms_buf *buf,
                            ms_status *st)
{
    ms_pb_any *details[3];
    ms_pb_rpc_status *message = ms_pb_new(arena, rpc_status);
    message->code = (int32_t)status->code;
    message->message = clean_text(arena, status->message);
    message->details = details;
    if (status->has_retry_delay) {
        details[message->n_details++] = retry_info(status, arena);
    }
    if (status->violation_count > 0) {
        details[message->n_details++] = precondition_failure(status, arena);
    }
    if (status->reason.bytes > 0) {
        details[message->n_details++] = error_info(status, arena);
    }
    return ms_pb_pack(message, buf, st);
}

/* Decoding. */

static void take_violations(const ms_pb_precondition_failure *failure, ms_arena *arena,
                            ms_wire_status *status)
{
    ms_wire_violation *list = ms_arena_array(arena, ms_wire_violation, failure->n_violations);
    for (size_t i = 0; i < failure->n_violations; i++) {
        list[i].type = ms_wire_text_view(failure->violations[i]->type);
        list[i].subject = ms_wire_text_view(failure->violations[i]->subject);
        list[i].description = ms_wire_text_view(failure->violations[i]->description);
    }
    status->violations = list;
    status->violation_count = failure->n_violations;
}

static void take_error_info(const ms_pb_error_info *info, ms_arena *arena, ms_wire_status *status)
{
    status->reason = ms_wire_text_view(info->reason);
    status->domain = ms_wire_text_view(info->domain);
    ms_wire_pair *list = ms_arena_array(arena, ms_wire_pair, info->n_metadata);
    for (size_t i = 0; i < info->n_metadata; i++) {
        list[i].key = ms_wire_text_view(info->metadata[i]->key);
        list[i].value = ms_wire_text_view(info->metadata[i]->value);
    }
    status->metadata = list;
    status->metadata_count = info->n_metadata;
}

static void take_detail(const ms_pb_any *any, ms_arena *arena, ms_wire_status *status)
{
    ms_bt_status ignored = {0};
    const ms_wire_limits *limits = &ms_wire_response_limits;
    const ms_pb_retry_info *retry =
        ms_wire_any_unpack(any, ms_pb_retry_info_class(), limits, arena, &ignored);
    if (retry != NULL) {
        status->has_retry_delay = true;
        status->retry_delay_micros = ms_wire_duration_micros(retry->retry_delay);
        return;
    }
    const ms_pb_precondition_failure *failure =
        ms_wire_any_unpack(any, ms_pb_precondition_failure_class(), limits, arena, &ignored);
    if (failure != NULL) {
        take_violations(failure, arena, status);
        return;
    }
    const ms_pb_error_info *info =
        ms_wire_any_unpack(any, ms_pb_error_info_class(), limits, arena, &ignored);
    if (info != NULL) {
        take_error_info(info, arena, status);
    }
}

bool ms_wire_status_decode(ms_str bytes, ms_arena *arena, ms_wire_status *status_out)
{
    *status_out = (ms_wire_status){0};
    ms_bt_status ignored = {0};
    const ms_pb_rpc_status *message =
        ms_pb_unpack(rpc_status, bytes, &ms_wire_response_limits, arena, &ignored);
    if (message == NULL) {
        return false;
    }
    status_out->code = ms_wire_code(message->code);
    status_out->message = ms_wire_text_view(message->message);
    for (size_t i = 0; i < message->n_details; i++) {
        take_detail(message->details[i], arena, status_out);
    }
    return true;
}

/* Rows that are too large. */

#define LARGE_ROW_REASON "LargeRowReadError"
#define LARGE_ROW_KEY "rowKeyBase64Encoded"

ms_rc ms_wire_large_row_encode(const ms_bt_status *bt, ms_str row_key, ms_arena *arena, ms_buf *buf,
                               ms_status *st)
{
    char *text = ms_arena_alloc(arena, ms_text_base64_bytes(row_key.bytes) + 1, 1);
    ms_wire_pair key = {ms_str_lit(LARGE_ROW_KEY),
                        ms_str_make(text, ms_text_base64_encode(text, row_key))};
    const ms_wire_status status = {.code = bt->code,
                                   .message = ms_str_cstr(bt->text),
                                   .reason = ms_str_lit(LARGE_ROW_REASON),
                                   .domain = ms_str_lit("bigtable.googleapis.com"),
                                   .metadata = &key,
                                   .metadata_count = 1};
    return ms_wire_status_encode(&status, arena, buf, st);
}

bool ms_wire_large_row_decode(const ms_wire_status *status, ms_arena *arena, ms_str *row_key_out)
{
    *row_key_out = (ms_str){NULL, 0};
    if (!ms_str_equals(status->reason, ms_str_lit(LARGE_ROW_REASON))) {
        return false;
    }
    for (size_t i = 0; i < status->metadata_count; i++) {
        ms_str text = status->metadata[i].value;
        size_t bytes = 0;
        if (!ms_str_equals(status->metadata[i].key, ms_str_lit(LARGE_ROW_KEY))) {
            continue;
        }
        char *key = ms_arena_alloc(arena, text.bytes + 1, 1);
        if (ms_text_base64_decode(text, key, &bytes) && bytes > 0) {
            *row_key_out = ms_str_make(key, bytes);
            return true;
        }
    }
    return false;
}

/* Without particulars. */

ms_pb_rpc_status *ms_wire_status_to_pb(const ms_bt_status *bt, ms_arena *arena)
{
    ms_pb_rpc_status *message = ms_pb_new(arena, rpc_status);
    message->code = (int32_t)bt->code;
    message->message = clean_text(arena, ms_str_cstr(bt->text));
    return message;
}

void ms_wire_status_from_pb(const ms_pb_rpc_status *message, ms_bt_status *bt_out)
{
    ms_bt_status_clear(bt_out);
    if (message != NULL && message->code != 0) {
        (void)ms_bt_status_set_text(bt_out, ms_wire_code(message->code),
                                    ms_wire_text_view(message->message));
    }
}
