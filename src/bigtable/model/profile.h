/* SPDX-License-Identifier: Apache-2.0 */
/*
 * App profiles: how the calls of an application are routed and what they may do. The embedded
 * Bigtable has one cluster, MS_BT_LOCAL_CLUSTER, unless an instance was made with others; the
 * profile "default" exists in every instance: single cluster, transactions allowed.
 *
 * Ownership: a profile borrows its texts; ms_bt_profile_copy makes one that an arena owns. Thread:
 * any; never changed once it is shared.
 */
#ifndef MS_BIGTABLE_MODEL_PROFILE_H
#define MS_BIGTABLE_MODEL_PROFILE_H

#include "base/str.h"
#include "bigtable/model/limits.h"
#include "bigtable/model/status.h"

#define MS_BT_LOCAL_CLUSTER "local-c1"
#define MS_BT_DEFAULT_PROFILE "default"

/* The numbers are stored. */
typedef enum ms_bt_routing {
    MS_BT_ROUTING_SINGLE_CLUSTER = 1,
    MS_BT_ROUTING_MULTI_CLUSTER = 2
} ms_bt_routing;

/* The numbers are the wire's, and stored. */
typedef enum ms_bt_priority {
    MS_BT_PRIORITY_UNSPECIFIED = 0,
    MS_BT_PRIORITY_LOW = 1,
    MS_BT_PRIORITY_MEDIUM = 2,
    MS_BT_PRIORITY_HIGH = 3
} ms_bt_priority;

typedef struct ms_bt_profile {
    ms_str project;
    ms_str instance;
    ms_str id;
    ms_str description;
    ms_bt_routing routing;
    ms_str cluster;           /* SINGLE_CLUSTER */
    bool allows_transactions; /* SINGLE_CLUSTER: CheckAndMutateRow and ReadModifyWriteRow */
    const ms_str *clusters;   /* MULTI_CLUSTER: those it may use; none: all */
    size_t cluster_count;
    bool is_data_boost; /* reads only, and no point reads */
    ms_bt_priority priority;
} ms_bt_profile;

const ms_bt_profile *ms_bt_profile_copy(ms_arena *arena, const ms_bt_profile *profile);

/* 1 to 50 of [_a-zA-Z0-9][-_.a-zA-Z0-9]*; INVALID_ARGUMENT otherwise. */
ms_bt_code ms_bt_profile_id_check(ms_str id, ms_bt_status *bt);

/* The id, and that what was set fits the routing. INVALID_ARGUMENT otherwise. */
ms_bt_code ms_bt_profile_check(const ms_bt_profile *profile, ms_bt_status *bt);

#endif
