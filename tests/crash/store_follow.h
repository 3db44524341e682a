/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following the change stream of a table through splits, merges and restarts, as the official
 * connectors do: every partition is read by one stream; when that closes, each new partition waits
 * for the tokens of all its parts and is read behind them.
 *
 *     follow f;
 *     follow_init(&f, client, &mailbox, &table, on_change, arg);
 *     if (!follow_load(&f, path)) { follow_partitions(&f, start_micros); }
 *     follow_until(&f, end_micros, &parker);
 *     follow_save(&f, path);
 *
 * What was followed up to now is in tokens, which follow_save writes and follow_load reads.
 *
 * Ownership: the caller's; follow_release. Thread: that of the mailbox. Any failure ends the
 * process with a sentence.
 */
#ifndef MS_TESTS_CRASH_STORE_FOLLOW_H
#define MS_TESTS_CRASH_STORE_FOLLOW_H

#include "bigtable/client/change.h"
#include "os/mailbox.h"

/* A partition that is read, or waits for the tokens of its parts. */
typedef struct follow_partition {
    ms_bt_range range;
    ms_bt_change_token *tokens;
    size_t token_count;
    ms_bt_change_read *read; /* NULL: it waits, or its end time has come */
    bool has_ended;
} follow_partition;

typedef void (*follow_fn)(void *arg, const ms_bt_change *change);

typedef struct follow {
    ms_bt_client *client;
    ms_mailbox *mailbox;
    const ms_bt_table_name *table;
    follow_fn on_change; /* of every change of data */
    void *arg;
    int64_t start_micros;
    int64_t end_micros; /* 0: none */
    follow_partition *list;
    size_t count;
    size_t capacity;
    ms_arena arena;  /* of bounds and tokens */
    uint64_t closed; /* streams, by splits and merges */
} follow;

void follow_init(follow *f, ms_bt_client *client, ms_mailbox *mailbox,
                 const ms_bt_table_name *table, follow_fn on_change, void *arg);

/* Closes what is open. */
void follow_release(follow *f, ms_parker *parker);

/* The partitions as they are now, each from a time on (0: now). False: there is no such table. */
bool follow_partitions(follow *f, int64_t start_micros, ms_parker *parker);

/* Reads every partition that may be read, up to an end time (0: without end). */
void follow_open(follow *f, int64_t end_micros);

/* Takes what is there; false when it was nothing. Waits for nothing. */
bool follow_some(follow *f);

/* Follows until every partition has come to the end time. */
void follow_until(follow *f, int64_t end_micros, ms_parker *parker);

/* False: there is no such file. */
bool follow_load(follow *f, const char *path);
void follow_save(const follow *f, const char *path);

#endif
