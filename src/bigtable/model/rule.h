/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of ReadModifyWriteRow: what is made of the latest cell of a column. Rules apply in
 * order, each seeing what those before it made.
 *
 * Ownership: a rule borrows its texts. Thread: any.
 */
#ifndef MS_BIGTABLE_MODEL_RULE_H
#define MS_BIGTABLE_MODEL_RULE_H

#include "base/str.h"

typedef enum ms_bt_rule_kind {
    MS_BT_RULE_APPEND,   /* the latest cell of the column, or nothing, with append behind */
    MS_BT_RULE_INCREMENT /* the latest cell, eight bytes big-endian, or 0, plus increment; wraps */
} ms_bt_rule_kind;

typedef struct ms_bt_rule {
    ms_bt_rule_kind kind;
    ms_str family;
    ms_str qualifier;
    ms_str append;
    int64_t increment;
} ms_bt_rule;

#endif
