/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a table and its families when they are missing, whoever else is doing the same:
 *
 *     create the table with all families
 *        already exists -> look at it -> add the families that it lacks, in one request
 *                             ^  already exists: somebody added one in between
 *
 * Families that are there keep their rules of garbage collection.
 *
 * Ownership: the object copies what it needs. Thread: that of the mailbox; done is called there,
 * never inline.
 */
#ifndef MS_CONNECTOR_BIGTABLE_ENSURE_H
#define MS_CONNECTOR_BIGTABLE_ENSURE_H

#include "bigtable/client/admin.h"
#include "connector/bigtable/layout.h"

typedef void (*msi_bt_ensured_fn)(void *arg);

/* Read status in and after done; the rest is private. */
typedef struct msi_bt_ensure {
    ms_bt_status status;
    ms_bt_client *client;
    ms_arena arena;
    ms_bt_table table; /* as it is to be */
    ms_bt_table_call call;
    ms_bt_family *missing;
    uint32_t rounds_left; /* looks at the table */
    bool is_canceled;
    msi_bt_ensured_fn done;
    void *arg;
} msi_bt_ensure;

/* gc_rule goes to every family. */
void msi_bt_ensure_init(msi_bt_ensure *ensure, ms_bt_client *client, struct ms_mailbox *mailbox,
                        const msi_bt_layout *layout, const ms_bt_gc_rule *gc_rule,
                        msi_bt_ensured_fn done, void *arg);

/* Nothing is outstanding. */
void msi_bt_ensure_release(msi_bt_ensure *ensure);

void msi_bt_ensure_start(msi_bt_ensure *ensure);

/* Asks it to end soon; done is called all the same. */
void msi_bt_ensure_cancel(msi_bt_ensure *ensure);

#endif
