/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a table is made of: its name, its families with the type of their values and their rule of
 * garbage collection, its timestamp granularity and the keys it is split at. The same description
 * creates a table and is what a look at one returns.
 *
 * Ownership: a description borrows everything; ms_bt_table_copy makes one that an arena owns.
 * Thread: any; never changed once it is shared.
 */
#ifndef MS_BIGTABLE_MODEL_TABLE_H
#define MS_BIGTABLE_MODEL_TABLE_H

#include "bigtable/model/gc_rule.h"
#include "bigtable/model/name.h"

/* The numbers are stored. A family keeps the type it was created with. */
typedef enum ms_bt_value_type {
    MS_BT_VALUE_RAW = 0,
    MS_BT_VALUE_INT64_SUM = 1,
    MS_BT_VALUE_INT64_MIN = 2,
    MS_BT_VALUE_INT64_MAX = 3,
    MS_BT_VALUE_INT64_HLL = 4,
    MS_BT_VALUE_COUNT
} ms_bt_value_type;

/* "raw", "int64-sum", ... as the command line and the connector spell them. */
const char *ms_bt_value_type_name(ms_bt_value_type type);

/* Without case; false when there is no such type. */
bool ms_bt_value_type_parse(ms_str text, ms_bt_value_type *type_out);

typedef struct ms_bt_family {
    ms_str name;
    ms_bt_value_type type;
    const ms_bt_gc_rule *gc_rule; /* NULL: keep everything */
} ms_bt_family;

#define MS_BT_GRANULARITY_MILLIS 1000
#define MS_BT_GRANULARITY_MICROS 1

typedef struct ms_bt_table {
    ms_bt_table_name name;
    const ms_bt_family *families; /* ascending by name in what a store returns */
    size_t family_count;
    int64_t granularity_micros; /* one of the two above; 0 at creation: MILLIS */
    const ms_str *splits;       /* keys at which tablets begin, ascending */
    size_t split_count;
    int64_t change_retention_micros; /* of the change stream: 1 to 7 days; 0: there is none */
    bool is_protected;               /* against deletion */
} ms_bt_table;

/* NULL when the table has no such family. */
const ms_bt_family *ms_bt_table_family(const ms_bt_table *table, ms_str name);

const ms_bt_table *ms_bt_table_copy(ms_arena *arena, const ms_bt_table *table);

/*
 * Whether a table may be created like this: names, rules, families named once, splits not empty and
 * not too long, the retention. INVALID_ARGUMENT otherwise.
 */
ms_bt_code ms_bt_table_check(const ms_bt_table *table, ms_bt_status *bt);

/* The retention of a change stream: 0 for none, else 1 to 7 days. */
ms_bt_code ms_bt_retention_check(int64_t retention_micros, ms_bt_status *bt);

/* Same for one family. */
ms_bt_code ms_bt_family_check(const ms_bt_family *family, ms_bt_status *bt);

#endif
