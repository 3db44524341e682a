/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of pages, and nothing else.
 */
/* tidy: no-unit-test: exercised through read_test.c and the store's tests of change reads */
#include "bigtable/client/pages_priv.h"

/* The first page in this state, or -1. */
static int find(const msi_pages *pages, msi_page_state state)
{
    for (int i = 0; i < MSI_PAGES; i++) {
        if (pages->states[i] == state) {
            return i;
        }
    }
    return -1;
}

/* Starts the next fill when there is a page to fill and something left to read. */
static void fill_next(msi_pages *pages)
{
    int index = find(pages, MSI_PAGE_FREE);
    if (index >= 0 && !pages->is_filling && !pages->is_over) {
        pages->states[index] = MSI_PAGE_FILLING;
        pages->is_filling = true;
        pages->fill(pages, index);
    }
}

void msi_pages_init(msi_pages *pages, void (*fill)(msi_pages *pages, int index),
                    void (*wake)(void *arg), void *arg)
{
    *pages = (msi_pages){.fill = fill, .wake = wake, .wake_arg = arg};
}

void msi_pages_start(msi_pages *pages)
{
    fill_next(pages);
}

int msi_pages_filled(msi_pages *pages)
{
    pages->is_filling = false;
    return pages->is_closing ? -1 : find(pages, MSI_PAGE_FILLING);
}

void msi_pages_put(msi_pages *pages, int index, bool has_content, bool is_over)
{
    int other_ready = find(pages, MSI_PAGE_READY);
    pages->is_over = is_over;
    pages->states[index] = has_content ? MSI_PAGE_READY : MSI_PAGE_FREE;
    pages->oldest_ready = other_ready >= 0 ? other_ready : index;
    fill_next(pages);
    if (pages->is_waiting && (has_content || is_over)) {
        pages->is_waiting = false;
        pages->wake(pages->wake_arg);
    }
}

ms_bt_poll msi_pages_take(msi_pages *pages, const ms_bt_status *status, int *index_out)
{
    MS_ASSERT(find(pages, MSI_PAGE_HELD) < 0);
    *index_out = -1;
    if (find(pages, MSI_PAGE_READY) >= 0) {
        *index_out = pages->oldest_ready;
        pages->states[*index_out] = MSI_PAGE_HELD;
        pages->oldest_ready = find(pages, MSI_PAGE_READY);
        return MS_BT_POLL_PAGE;
    }
    if (!pages->is_over) {
        pages->is_waiting = true;
        return MS_BT_POLL_PENDING;
    }
    return ms_bt_status_is_ok(status) ? MS_BT_POLL_END : MS_BT_POLL_FAILED;
}

void msi_pages_return(msi_pages *pages, ptrdiff_t index)
{
    MS_ASSERT(index >= 0 && index < MSI_PAGES && pages->states[index] == MSI_PAGE_HELD);
    pages->states[index] = MSI_PAGE_FREE;
    fill_next(pages);
}

bool msi_pages_close(msi_pages *pages, void (*closed)(void *arg), void *arg)
{
    pages->is_closing = true;
    pages->closed = closed;
    pages->closed_arg = arg;
    return !pages->is_filling;
}

void msi_pages_tell_closed(const msi_pages *pages)
{
    if (pages->closed != NULL) {
        pages->closed(pages->closed_arg);
    }
}
