/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a table's columns lie in Bigtable: one column is the row key, every ROW column is a family,
 * its fields are the qualifiers. Everything that the schema can be wrong about is found here, when
 * a statement over the table is planned.
 *
 *     rowkey STRING, profile ROW<name STRING, email STRING>, usage ROW<requests BIGINT>
 *     key            family "profile": "name", "email"       family "usage": "requests"
 *
 * Columns are counted as in the stored schema, which is also the sink schema, since there are no
 * metadata columns yet.
 *
 * Ownership: a layout lives in the arena given and borrows names and types of the table. Thread:
 * any, const once made.
 */
#ifndef MS_CONNECTOR_BIGTABLE_LAYOUT_H
#define MS_CONNECTOR_BIGTABLE_LAYOUT_H

#include "bigtable/model/name.h"
#include "catalog/table.h"
#include "connector/bigtable/codec.h"

typedef struct msi_bt_field {
    ms_str qualifier;
    msi_bt_codec codec;
} msi_bt_field;

typedef struct msi_bt_family {
    ms_str name;
    uint32_t column;
    const ms_type *type;
    uint32_t field_count;
    const msi_bt_field *fields;           /* as declared */
    const msi_bt_field **fields_in_order; /* ascending by qualifier */
} msi_bt_family;

typedef struct msi_bt_layout {
    ms_bt_table_name destination;
    ms_schema schema;
    uint32_t key_column;
    msi_bt_codec key;
    bool has_primary_key;
    uint32_t family_count;
    const msi_bt_family *families; /* as declared */
    uint32_t field_count;          /* of all families */
} msi_bt_layout;

/*
 * Makes the layout of a table, or says what is wrong with its columns: MS_INVALID_TABLE_DEFINITION
 * for what has no meaning in Bigtable, MS_NOT_SUPPORTED for what is not built. destination is
 * borrowed.
 */
ms_rc msi_bt_layout_make(ms_arena *arena, const ms_table *table,
                         const ms_bt_table_name *destination, const msi_bt_codec_options *options,
                         msi_bt_layout *layout_out, ms_status *st) MS_MUST_USE;

/* The family whose column this is; NULL for the row key. */
const msi_bt_family *msi_bt_layout_family(const msi_bt_layout *layout, uint32_t column);

/* Writes "project.instance.table", as messages call it, with a NUL. Returns text_out. */
#define MSI_BT_DESTINATION_BYTES MS_BT_TABLE_PATH_BYTES
const char *msi_bt_destination_text(const ms_bt_table_name *name,
                                    char text_out[MSI_BT_DESTINATION_BYTES]);

/* Reports that the service refused: "could not <verb> table ...", with its code and text as detail
 * and, where something is missing, how it is made as hint. */
ms_rc msi_bt_destination_report(const ms_bt_table_name *name, const char *verb,
                                const ms_bt_status *bt, ms_status *st);

/* A name that an arena owns. */
ms_bt_table_name msi_bt_destination_copy(ms_arena *arena, const ms_bt_table_name *name);

#endif
