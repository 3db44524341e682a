/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of changes: a growing array beside an arena.
 */
#include "bigtable/model/change.h"

#include "base/memory.h"

#define FIRST_CAPACITY 16u

void ms_bt_change_page_init(ms_bt_change_page *page)
{
    memset(page, 0, sizeof(*page));
    ms_arena_init(&page->arena, 0);
}

void ms_bt_change_page_release(ms_bt_change_page *page)
{
    ms_mem_free(page->changes);
    ms_arena_release(&page->arena);
}

void ms_bt_change_page_reset(ms_bt_change_page *page)
{
    page->change_count = 0;
    page->bytes = 0;
    ms_arena_reset(&page->arena);
}

ms_bt_change *ms_bt_change_page_add(ms_bt_change_page *page)
{
    if (page->change_count == page->change_capacity) {
        page->change_capacity =
            page->change_capacity == 0 ? FIRST_CAPACITY : 2 * page->change_capacity;
        page->changes =
            ms_mem_realloc(page->changes, page->change_capacity * sizeof(*page->changes));
    }
    ms_bt_change *change = &page->changes[page->change_count++];
    memset(change, 0, sizeof(*change));
    return change;
}
