/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of projects, instances, tables and families, and the path that the service knows a table
 * by: projects/P/instances/I/tables/T. Messages of ours call the same table P.I.T.
 *
 *     ms_bt_table_name name;
 *     MS_BT_TRY(ms_bt_table_name_parse(&name, path, bt));
 *     ms_buf_...: ms_bt_table_name_append_path(&name, &buf, st)
 *
 * Ownership: a table name borrows its three parts. Thread: any.
 */
#ifndef MS_BIGTABLE_MODEL_NAME_H
#define MS_BIGTABLE_MODEL_NAME_H

#include "base/str.h"
#include "bigtable/model/limits.h"
#include "bigtable/model/status.h"

typedef struct ms_bt_table_name {
    ms_str project;
    ms_str instance;
    ms_str table;
} ms_bt_table_name;

/* Room for any valid path and its NUL. */
#define MS_BT_TABLE_PATH_BYTES                                                                     \
    (MS_BT_LIMIT_PROJECT_BYTES + MS_BT_LIMIT_INSTANCE_BYTES + MS_BT_LIMIT_TABLE_ID_BYTES + 64u)

/* True when all three parts are equal. */
bool ms_bt_table_name_equals(const ms_bt_table_name *a, const ms_bt_table_name *b);

/*
 * Checks the three parts: project and instance non-empty, within their limits, of letters, digits
 * and "-._:" (projects may carry a domain, "example.com:name"); the table id as the service wants
 * it. INVALID_ARGUMENT otherwise, with the service's text.
 */
ms_bt_code ms_bt_table_name_check(const ms_bt_table_name *name, ms_bt_status *bt);

/* Only the project and the instance, for calls on an instance. */
ms_bt_code ms_bt_instance_name_check(const ms_bt_table_name *name, ms_bt_status *bt);

/* NOT_FOUND, for an instance in which there is nothing. */
ms_bt_code ms_bt_instance_name_missing(const ms_bt_table_name *name, ms_bt_status *bt);

/* Splits a path; the parts borrow from it and are checked. */
ms_bt_code ms_bt_table_name_parse(ms_bt_table_name *name_out, ms_str path, ms_bt_status *bt);

/* Writes the path with its NUL and returns its length. The name must be valid. */
size_t ms_bt_table_name_path(const ms_bt_table_name *name, char path_out[MS_BT_TABLE_PATH_BYTES]);

/* Checks a family name: 1 to 64 of [-_.a-zA-Z0-9]. INVALID_ARGUMENT with the service's text. */
ms_bt_code ms_bt_family_name_check(ms_str family, ms_bt_status *bt);

/*
 * Writes bytes as text for messages: printable ASCII as it is, the backslash doubled, every other
 * byte as \xNN; a text that does not fit ends in "...". Returns text_out.
 */
const char *ms_bt_bytes_text(ms_str bytes, char *text_out, size_t text_bytes);

#endif
