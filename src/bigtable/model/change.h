/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a change stream says: data changes, heartbeats and the end of a partition, and the page in
 * which they travel from a transport to a consumer.
 *
 * A partition is a half-open range of row keys; its bounds, like those of tokens, are written
 * closed(start), open(end), NONE at the ends of the table. A token names a place in the changes of
 * one partition; it is opaque, and stays valid until what is behind it is older than the retention.
 *
 *     for (uint32_t i = 0; i < page->change_count; i++) {
 *         const ms_bt_change *change = &page->changes[i];
 *         switch (change->kind) { ... }
 *     }
 *
 * Ownership: a page owns everything that its changes point to; the read owns the page, as with
 * model/page.h. Thread: the consumer's.
 */
#ifndef MS_BIGTABLE_MODEL_CHANGE_H
#define MS_BIGTABLE_MODEL_CHANGE_H

#include "bigtable/model/mutation.h"
#include "bigtable/model/range.h"

/* A place in a partition from which reading goes on. */
typedef struct ms_bt_change_token {
    ms_bt_range partition;
    ms_str token;
} ms_bt_change_token;

/* One mutation of a change; kinds as in a batch, but never DELETE_FROM_ROW, which the service
 * writes as a DELETE_FROM_FAMILY of each family. Timestamps are those assigned, never SERVER. */
typedef struct ms_bt_change_mutation {
    ms_bt_mutation_kind kind;
    int64_t timestamp_micros; /* SET_CELL, aggregates; DELETE_FROM_COLUMN: inclusive start */
    int64_t end_micros;       /* DELETE_FROM_COLUMN: exclusive end, 0 for none */
    ms_str family;
    ms_str qualifier;
    ms_str value; /* aggregates: the input, resp. the state, as eight bytes big-endian */
} ms_bt_change_mutation;

typedef enum ms_bt_change_kind {
    MS_BT_CHANGE_DATA,      /* one committed change of one row */
    MS_BT_CHANGE_HEARTBEAT, /* nothing happened up to the watermark */
    MS_BT_CHANGE_CLOSE      /* the partition is over; always the last change of a read */
} ms_bt_change_kind;

typedef struct ms_bt_change {
    ms_bt_change_kind kind;

    /* DATA */
    bool is_garbage_collection; /* else a user's */
    ms_str row_key;
    ms_str source_cluster; /* empty for garbage collection */
    int64_t commit_micros;
    int32_t tiebreaker;
    const ms_bt_change_mutation *mutations;
    uint32_t mutation_count;

    /* DATA and HEARTBEAT: where to go on behind this change, and an estimate of the lowest commit
     * time still to come. */
    ms_str token;
    int64_t low_watermark_micros;

    /* CLOSE: OK without tokens when the end time was reached; else tokens[i] goes on with the piece
     * of the partition that new_partitions[i] covers. A new partition that several partitions
     * became (a merge) may be read once the tokens of all its parts are at hand. */
    ms_bt_status status;
    const ms_bt_change_token *tokens;
    uint32_t token_count;
    const ms_bt_range *new_partitions; /* as many as tokens */
} ms_bt_change;

/* Read change_count and changes freely; the rest is private. */
typedef struct ms_bt_change_page {
    ms_bt_change *changes;
    uint32_t change_count;
    uint32_t change_capacity;
    size_t bytes; /* of keys and values in it */
    ms_arena arena;
} ms_bt_change_page;

void ms_bt_change_page_init(ms_bt_change_page *page);
void ms_bt_change_page_release(ms_bt_change_page *page);

/* Empties the page; its arena is reset. */
void ms_bt_change_page_reset(ms_bt_change_page *page);

/* For transports: a zeroed change at the end of the page, whose texts the caller takes from
 * page->arena. Valid until the next add. */
ms_bt_change *ms_bt_change_page_add(ms_bt_change_page *page);

#endif
