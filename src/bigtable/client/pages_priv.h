/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two pages of a read, of rows or of changes: which of them is where, while they go around
 * between the transport, which fills one at a time, and the consumer, which holds one at a time.
 *
 *     free -> filling -> ready -> held -> free
 *
 * All of it happens on the consumer's thread: a fill that is over arrives as a mail. So there is no
 * lock, and the transport is idle whenever the consumer is slow: both pages are then ready or held,
 * and nothing in the store is pinned. The pages themselves are the read's, which knows them by
 * index.
 */
#ifndef MS_BIGTABLE_CLIENT_PAGES_PRIV_H
#define MS_BIGTABLE_CLIENT_PAGES_PRIV_H

#include "bigtable/client/client.h"

#define MSI_PAGES 2

typedef enum msi_page_state {
    MSI_PAGE_FREE,
    MSI_PAGE_FILLING,
    MSI_PAGE_READY,
    MSI_PAGE_HELD
} msi_page_state;

typedef struct msi_pages msi_pages;

/* Fields are private. */
struct msi_pages {
    void (*fill)(msi_pages *pages, int index);
    void (*wake)(void *arg);
    void *wake_arg;
    void (*closed)(void *arg);
    void *closed_arg;
    msi_page_state states[MSI_PAGES];
    int oldest_ready; /* of two ready pages, the one filled first */
    bool is_filling;
    bool is_over;    /* no fill follows: at the end, or failed */
    bool is_waiting; /* the consumer saw PENDING */
    bool is_closing;
};

/* fill starts the transport on an empty page; wake tells the consumer to poll again. Both pages are
 * free. */
void msi_pages_init(msi_pages *pages, void (*fill)(msi_pages *pages, int index),
                    void (*wake)(void *arg), void *arg);

/* Starts the first fill. */
void msi_pages_start(msi_pages *pages);

/* The fill is over, of this page; -1: the read is being closed, and ends now. */
int msi_pages_filled(msi_pages *pages);

/* What came of it: nothing for the consumer, or a page; and perhaps the end. Starts the next
 * fill. */
void msi_pages_put(msi_pages *pages, int index, bool has_content, bool is_over);

/* The answer to a poll, given how the last fill ended; *index_out is the page that the consumer
 * holds from now on, -1 for none. */
ms_bt_poll msi_pages_take(msi_pages *pages, const ms_bt_status *status, int *index_out);

/* The consumer gives back the page that it holds. */
void msi_pages_return(msi_pages *pages, ptrdiff_t index);

/* False: a fill is under way; the read is destroyed at its end, and msi_pages_tell_closed called
 * then, on a copy. */
bool msi_pages_close(msi_pages *pages, void (*closed)(void *arg), void *arg);
void msi_pages_tell_closed(const msi_pages *pages);

#endif
