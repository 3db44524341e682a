/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The failed entries of a mutate_rows call. A service that refuses a request refuses all its
 * entries with one text, so a text equal to the one before is kept once.
 */
#include "base/memory.h"
#include "bigtable/client/client_priv.h"

struct ms_bt_failure {
    uint32_t index;
    ms_bt_code code;
    uint32_t text_at;
    uint32_t text_bytes;
};

/* Enough for a full request in which every entry fails in its own words. */
#define TEXTS_MAX ((size_t)64 << 20)

void msi_failures_init(ms_bt_failures *failures)
{
    *failures = (ms_bt_failures){0};
    ms_buf_init(&failures->texts, TEXTS_MAX);
}

void msi_failures_release(ms_bt_failures *failures)
{
    ms_mem_free(failures->list);
    ms_buf_release(&failures->texts);
    msi_failures_init(failures);
}

void msi_failures_reset(ms_bt_failures *failures)
{
    failures->count = 0;
    ms_buf_reset(&failures->texts);
}

static ms_rc reserve(ms_bt_failures *failures, ms_status *st)
{
    if (failures->count < failures->capacity) {
        return MS_OK;
    }
    uint32_t capacity = failures->capacity == 0 ? 16 : failures->capacity * 2;
    struct ms_bt_failure *list =
        ms_mem_try_realloc(failures->list, capacity * sizeof(struct ms_bt_failure));
    if (list == NULL) {
        return ms_mem_refuse(capacity * sizeof(struct ms_bt_failure), st);
    }
    failures->list = list;
    failures->capacity = capacity;
    return MS_OK;
}

/* Empty while no failure has a text, when there is no memory to point into. */
static ms_str text_of(const ms_bt_failures *failures, const struct ms_bt_failure *failure)
{
    return failure->text_bytes == 0
               ? (ms_str){NULL, 0}
               : ms_str_make(failures->texts.ptr + failure->text_at, failure->text_bytes);
}

ms_rc ms_bt_failures_add(ms_bt_failures *failures, uint32_t index, ms_bt_code code, ms_str text,
                         ms_status *st)
{
    MS_ASSERT(code != MS_BT_OK);
    MS_ASSERT(failures->count == 0 || failures->list[failures->count - 1].index < index);
    MS_TRY(reserve(failures, st));
    struct ms_bt_failure failure = {.index = index, .code = code};
    ms_str last = {NULL, 0};
    if (failures->count > 0) {
        const struct ms_bt_failure *before = &failures->list[failures->count - 1];
        failure.text_at = before->text_at;
        last = text_of(failures, before);
    }
    if (failures->count == 0 || !ms_str_equals(last, text)) {
        failure.text_at = (uint32_t)failures->texts.bytes;
        MS_TRY(ms_buf_append(&failures->texts, text, st));
    }
    failure.text_bytes = (uint32_t)text.bytes;
    failures->list[failures->count++] = failure;
    return MS_OK;
}

uint32_t msi_failures_get(const ms_bt_failures *failures, uint32_t i, ms_bt_status *status_out)
{
    MS_ASSERT(i < failures->count);
    const struct ms_bt_failure *failure = &failures->list[i];
    ms_bt_status_clear(status_out);
    ms_bt_status_set_text(status_out, failure->code, text_of(failures, failure));
    return failure->index;
}
