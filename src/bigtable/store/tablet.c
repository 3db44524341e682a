/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tablets: the pieces that a table's keys are cut into, of which each has a log of changes. Splits
 * and merges end tablets and begin others at one moment; those that ended are remembered as long as
 * somebody may still read their changes.
 *
 *     time    |---- 1 [,) ----|---- 2 [,m) ----|
 *             |               |                |---- 4 [,) ----
 *             |               |---- 3 [m,) ----|
 *
 * The incarnations of the tablets that ever held a row ascend with time, which is what lets a
 * reader go through them in order.
 */
#include "bigtable/store/schema.h"

#include <stdlib.h>

const msi_tablet *msi_table_tablet(const msi_table *table, ms_str row)
{
    size_t low = 0;
    size_t high = table->tablet_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (ms_str_compare(table->tablets[middle].start, row) <= 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &table->tablets[low];
}

const msi_tablet *msi_table_tablet_by_id(const msi_table *table, uint32_t id)
{
    for (size_t i = 0; i < table->tablet_count; i++) {
        if (table->tablets[i].id == id) {
            return &table->tablets[i];
        }
    }
    for (size_t i = 0; i < table->past_count; i++) {
        if (table->past[i].id == id) {
            return &table->past[i];
        }
    }
    return NULL;
}

/* Is key, an exclusive end, at or before start? The empty end is behind everything. */
static bool is_end_before(ms_str end, ms_str start)
{
    return end.bytes > 0 && ms_str_compare(end, start) <= 0;
}

bool msi_tablet_overlaps(const msi_tablet *tablet, ms_str start, ms_str end)
{
    return !is_end_before(tablet->end, start) && !is_end_before(end, tablet->start);
}

bool msi_tablet_contains(const msi_tablet *tablet, ms_str start, ms_str end)
{
    return ms_str_compare(tablet->start, start) <= 0 &&
           (tablet->end.bytes == 0 || (end.bytes > 0 && ms_str_compare(end, tablet->end) <= 0));
}

/* Making. */

static int compare_keys(const void *left, const void *right)
{
    return ms_str_compare(*(const ms_str *)left, *(const ms_str *)right);
}

void msi_table_first_tablets(msi_table *draft, const ms_str *splits, size_t split_count,
                             int64_t micros, ms_arena *arena)
{
    ms_str *sorted = ms_arena_array(arena, ms_str, split_count);
    for (size_t i = 0; i < split_count; i++) {
        sorted[i] = splits[i];
    }
    if (split_count > 1) {
        qsort(sorted, split_count, sizeof(*sorted), compare_keys);
    }
    msi_tablet *tablets = ms_arena_array(arena, msi_tablet, split_count + 1);
    size_t count = 1;
    for (size_t i = 0; i < split_count; i++) {
        if (!ms_str_equals(tablets[count - 1].start, sorted[i])) {
            tablets[count - 1].end = sorted[i];
            tablets[count++].start = sorted[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        tablets[i].id = draft->next_tablet_id++;
        tablets[i].begin_micros = micros;
    }
    draft->tablets = tablets;
    draft->tablet_count = count;
    draft->past = NULL;
    draft->past_count = 0;
}

/* Changing. */

/* Ends a living tablet. Only where changes are logged does anybody ask for it again. */
static void end_tablet(msi_table *draft, const msi_tablet *tablet, int64_t micros, ms_arena *arena)
{
    if (draft->stream_micros == 0) {
        return;
    }
    msi_tablet *past = ms_arena_array(arena, msi_tablet, draft->past_count + 1);
    size_t at = 0;
    while (at < draft->past_count && draft->past[at].id < tablet->id) {
        past[at] = draft->past[at];
        at++;
    }
    past[at] = *tablet;
    past[at].end_micros = micros;
    for (size_t i = at; i < draft->past_count; i++) {
        past[i + 1] = draft->past[i];
    }
    draft->past = past;
    draft->past_count++;
}

/* Puts new tablets in the place of others: those of [first, first + gone) end. */
static void replace(msi_table *draft, size_t first, size_t gone, msi_tablet *fresh,
                    size_t fresh_count, int64_t micros, ms_arena *arena)
{
    msi_tablet *tablets =
        ms_arena_array(arena, msi_tablet, draft->tablet_count - gone + fresh_count);
    size_t count = 0;
    for (size_t i = 0; i < first; i++) {
        tablets[count++] = draft->tablets[i];
    }
    for (size_t i = 0; i < fresh_count; i++) {
        fresh[i].id = draft->next_tablet_id++;
        fresh[i].begin_micros = micros;
        tablets[count++] = fresh[i];
    }
    for (size_t i = first; i < first + gone; i++) {
        end_tablet(draft, &draft->tablets[i], micros, arena);
    }
    for (size_t i = first + gone; i < draft->tablet_count; i++) {
        tablets[count++] = draft->tablets[i];
    }
    draft->tablets = tablets;
    draft->tablet_count = count;
}

static ms_bt_code check_room(const msi_table *draft, size_t ends, ms_bt_status *bt)
{
    if (draft->past_count + ends > MSI_TABLETS_MAX) {
        return ms_bt_status_set(bt, MS_BT_RESOURCE_EXHAUSTED,
                                "%zu tablets were split or merged within the retention of the "
                                "change stream; limit %u",
                                draft->past_count, MSI_TABLETS_MAX);
    }
    if (draft->next_tablet_id >= UINT32_MAX - 2) {
        return ms_bt_status_set(bt, MS_BT_RESOURCE_EXHAUSTED,
                                "The table has no incarnations of tablets left");
    }
    return MS_BT_OK;
}

ms_bt_code msi_table_split(msi_table *draft, ms_str key, int64_t micros, ms_arena *arena,
                           ms_bt_status *bt)
{
    char text[128];
    if (key.bytes == 0 || key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "A split key has 1 to %u bytes",
                                MS_BT_LIMIT_ROW_KEY_BYTES);
    }
    const msi_tablet *before = msi_table_tablet(draft, key);
    if (ms_str_equals(before->start, key)) {
        return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION,
                                "A tablet begins at key '%s' already",
                                ms_bt_bytes_text(key, text, sizeof(text)));
    }
    if (draft->tablet_count >= MSI_TABLETS_MAX) {
        return ms_bt_status_set(bt, MS_BT_RESOURCE_EXHAUSTED, "A table has at most %u tablets",
                                MSI_TABLETS_MAX);
    }
    MS_BT_TRY(check_room(draft, 1, bt));
    msi_tablet fresh[2] = {{.start = before->start, .end = key},
                           {.start = key, .end = before->end}};
    replace(draft, (size_t)(before - draft->tablets), 1, fresh, 2, micros, arena);
    return MS_BT_OK;
}

ms_bt_code msi_table_merge(msi_table *draft, ms_str key, int64_t micros, ms_arena *arena,
                           ms_bt_status *bt)
{
    const msi_tablet *right = msi_table_tablet(draft, key);
    if (key.bytes == 0 || !ms_str_equals(right->start, key)) {
        char text[128];
        return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION, "No tablet begins at key '%s'",
                                ms_bt_bytes_text(key, text, sizeof(text)));
    }
    MS_BT_TRY(check_room(draft, 2, bt));
    const msi_tablet *left = right - 1;
    msi_tablet fresh = {.start = left->start, .end = right->end};
    replace(draft, (size_t)(left - draft->tablets), 2, &fresh, 1, micros, arena);
    return MS_BT_OK;
}

bool msi_table_forget(msi_table *draft, int64_t micros, ms_arena *arena)
{
    msi_tablet *kept = ms_arena_array(arena, msi_tablet, draft->past_count);
    size_t count = 0;
    for (size_t i = 0; i < draft->past_count; i++) {
        if (draft->past[i].end_micros >= micros) {
            kept[count++] = draft->past[i];
        }
    }
    bool has_forgotten = count < draft->past_count;
    draft->past = kept;
    draft->past_count = count;
    return has_forgotten;
}
