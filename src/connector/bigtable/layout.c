/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns to row key, families and qualifiers, and every reason against it.
 */
#include "connector/bigtable/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct layouter {
    ms_arena *arena;
    const ms_table *table;
    const msi_bt_codec_options *options;
    msi_bt_layout *layout;
    msi_bt_family *families;
    const ms_column *key; /* NULL: none seen yet */
    ms_status *st;
} layouter;

static ms_rc refuse_type(layouter *l, const ms_column *column, const char *what, ms_str name,
                         const ms_type *type, const char *why)
{
    ms_str text = ms_type_text_bare(l->arena, type);
    ms_status_set(l->st, MS_INVALID_TABLE_DEFINITION, column->span,
                  "%s \"%.*s\" cannot have the type %.*s: %s", what, MS_STR_ARG(name),
                  MS_STR_ARG(text), why);
    return l->st->code;
}

static ms_rc take_key(layouter *l, const ms_column *column, uint32_t ordinal)
{
    if (l->key != NULL) {
        ms_status_set(l->st, MS_INVALID_TABLE_DEFINITION, column->span,
                      "both \"%.*s\" and \"%.*s\" would be the row key", MS_STR_ARG(l->key->name),
                      MS_STR_ARG(column->name));
        return ms_status_hint(l->st, "Exactly one column is no ROW; a ROW column is a column "
                                     "family, its fields are the qualifiers.");
    }
    const char *why = msi_bt_codec_refusal(column->type);
    if (why != NULL) {
        return refuse_type(l, column, "row-key column", column->name, column->type, why);
    }
    l->key = column;
    l->layout->key_column = ordinal;
    msi_bt_codec_init(&l->layout->key, column->type, true, l->options);
    return MS_OK;
}

static int compare_fields(const void *a, const void *b)
{
    const msi_bt_field *const *left = a;
    const msi_bt_field *const *right = b;
    return ms_str_compare((*left)->qualifier, (*right)->qualifier);
}

/* The fields ascending by qualifier, none twice. */
static ms_rc order_fields(layouter *l, const ms_column *column, msi_bt_family *family)
{
    uint32_t count = family->field_count;
    const msi_bt_field **order = ms_arena_array(l->arena, const msi_bt_field *, count);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = &family->fields[i];
    }
    if (count > 1) {
        qsort(order, count, sizeof(*order), compare_fields);
    }
    for (uint32_t i = 1; i < count; i++) {
        if (ms_str_equals(order[i - 1]->qualifier, order[i]->qualifier)) {
            return ms_status_set(l->st, MS_INVALID_TABLE_DEFINITION, column->span,
                                 "qualifier \"%.*s\" is twice in family \"%.*s\"",
                                 MS_STR_ARG(order[i]->qualifier), MS_STR_ARG(family->name));
        }
    }
    family->fields_in_order = order;
    return MS_OK;
}

static ms_rc check_family(layouter *l, const ms_column *column)
{
    if (ms_str_find_byte(column->name, ':', 0) == SIZE_MAX) {
        return MS_OK;
    }
    ms_status_set(l->st, MS_INVALID_TABLE_DEFINITION, column->span,
                  "column family \"%.*s\" cannot have a \":\" in its name",
                  MS_STR_ARG(column->name));
    return ms_status_hint(l->st, "Bigtable's filters cannot select such a family.");
}

static ms_rc check_qualifier(layouter *l, const ms_column *column, ms_str qualifier,
                             const ms_type *type)
{
    ms_str name =
        ms_arena_format(l->arena, "%.*s.%.*s", MS_STR_ARG(column->name), MS_STR_ARG(qualifier));
    const char *why = msi_bt_codec_refusal(type);
    if (why != NULL) {
        return refuse_type(l, column, "qualifier", name, type, why);
    }
    if (qualifier.bytes > MS_BT_LIMIT_QUALIFIER_BYTES) {
        return ms_status_set(l->st, MS_INVALID_TABLE_DEFINITION, column->span,
                             "a qualifier of family \"%.*s\" has %zu bytes, more than %u",
                             MS_STR_ARG(column->name), qualifier.bytes,
                             MS_BT_LIMIT_QUALIFIER_BYTES);
    }
    return MS_OK;
}

static ms_rc take_family(layouter *l, const ms_column *column, uint32_t ordinal)
{
    MS_TRY(check_family(l, column));
    const ms_type *type = column->type;
    msi_bt_field *fields = ms_arena_array(l->arena, msi_bt_field, type->child_count);
    for (uint32_t i = 0; i < type->child_count; i++) {
        MS_TRY(check_qualifier(l, column, type->names[i], type->children[i]));
        fields[i].qualifier = type->names[i];
        msi_bt_codec_init(&fields[i].codec, type->children[i], false, l->options);
    }
    msi_bt_family *family = &l->families[l->layout->family_count++];
    *family = (msi_bt_family){.name = column->name,
                              .column = ordinal,
                              .type = type,
                              .field_count = type->child_count,
                              .fields = fields};
    l->layout->field_count += type->child_count;
    return order_fields(l, column, family);
}

static ms_rc take_column(layouter *l, const ms_column *column, uint32_t ordinal)
{
    if (column->type->kind == MS_TYPE_ROW) {
        return take_family(l, column, ordinal);
    }
    if (column->type->kind == MS_TYPE_MAP) {
        return ms_status_set(l->st, MS_NOT_SUPPORTED, column->span,
                             "column family \"%.*s\" as a MAP is not supported yet",
                             MS_STR_ARG(column->name));
    }
    return take_key(l, column, ordinal);
}

static ms_rc refuse_metadata(layouter *l, const ms_column *column)
{
    if (ms_str_equals(column->metadata_key, ms_str_lit("timestamp"))) {
        return ms_status_set(l->st, MS_NOT_SUPPORTED, column->span,
                             "metadata \"timestamp\" of connector \"bigtable\" is not supported "
                             "yet");
    }
    ms_status_set(l->st, MS_INVALID_TABLE_DEFINITION, column->span,
                  "connector \"bigtable\" has no metadata \"%.*s\"",
                  MS_STR_ARG(column->metadata_key));
    return ms_status_hint(l->st, "Its only metadata is \"timestamp\".");
}

static ms_rc check_primary_key(const layouter *l)
{
    const ms_table *table = l->table;
    if (table->key_count == 0) {
        return MS_OK;
    }
    for (uint32_t i = 0; i < table->key_count; i++) {
        const ms_column *column = &table->columns[table->key_columns[i]];
        if (column != l->key) {
            return ms_status_set(l->st, MS_INVALID_TABLE_DEFINITION, column->span,
                                 "column \"%.*s\" cannot be in the PRIMARY KEY: that of a "
                                 "bigtable table is its row key, \"%.*s\", alone",
                                 MS_STR_ARG(column->name), MS_STR_ARG(l->key->name));
        }
    }
    l->layout->has_primary_key = true;
    return MS_OK;
}

ms_rc msi_bt_layout_make(ms_arena *arena, const ms_table *table,
                         const ms_bt_table_name *destination, const msi_bt_codec_options *options,
                         msi_bt_layout *layout_out, ms_status *st)
{
    *layout_out = (msi_bt_layout){.destination = *destination,
                                  .schema = ms_table_stored_schema(arena, table)};
    layouter l = {.arena = arena,
                  .table = table,
                  .options = options,
                  .layout = layout_out,
                  .families = ms_arena_array(arena, msi_bt_family, table->column_count),
                  .st = st};
    layout_out->families = l.families;
    uint32_t ordinal = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const ms_column *column = &table->columns[i];
        if (column->kind == MS_COLUMN_METADATA) {
            return refuse_metadata(&l, column);
        }
        if (column->kind == MS_COLUMN_PHYSICAL) {
            MS_TRY(take_column(&l, column, ordinal));
            ordinal++;
        }
    }
    if (l.key == NULL) {
        ms_status_set(st, MS_INVALID_TABLE_DEFINITION, ms_span_none,
                      "table \"%.*s\" has no row key", MS_STR_ARG(table->name));
        return ms_status_hint(st, "Exactly one column is no ROW; it is the row key.");
    }
    return check_primary_key(&l);
}

const msi_bt_family *msi_bt_layout_family(const msi_bt_layout *layout, uint32_t column)
{
    for (uint32_t i = 0; i < layout->family_count; i++) {
        if (layout->families[i].column == column) {
            return &layout->families[i];
        }
    }
    return NULL;
}

const char *msi_bt_destination_text(const ms_bt_table_name *name,
                                    char text_out[MSI_BT_DESTINATION_BYTES])
{
    (void)snprintf(text_out, MSI_BT_DESTINATION_BYTES, "%.*s.%.*s.%.*s", MS_STR_ARG(name->project),
                   MS_STR_ARG(name->instance), MS_STR_ARG(name->table));
    return text_out;
}

ms_rc msi_bt_destination_report(const ms_bt_table_name *name, const char *verb,
                                const ms_bt_status *bt, ms_status *st)
{
    char destination[MSI_BT_DESTINATION_BYTES];
    ms_bt_status_report(bt, st, "could not %s table \"%s\"", verb,
                        msi_bt_destination_text(name, destination));
    if (bt->code == MS_BT_NOT_FOUND && strstr(bt->text, "/appProfiles/") != NULL) {
        return ms_status_hint(st, "App profiles are made by millstream bigtable create-profile.");
    }
    if (bt->code == MS_BT_NOT_FOUND) {
        ms_status_hint(st, "Tables and families are made by an INSERT into a table with "
                           "'sink.create-disposition' = 'create-if-needed', or by millstream "
                           "bigtable create-table.");
    }
    return st->code;
}

ms_bt_table_name msi_bt_destination_copy(ms_arena *arena, const ms_bt_table_name *name)
{
    return (ms_bt_table_name){ms_arena_copy_str(arena, name->project),
                              ms_arena_copy_str(arena, name->instance),
                              ms_arena_copy_str(arena, name->table)};
}
