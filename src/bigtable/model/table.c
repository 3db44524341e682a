/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions of tables: looking a family up, copying, and whether one may be created. Changing a
 * table that exists is the store's business.
 */
#include "bigtable/model/table.h"

static const char *const value_type_names[MS_BT_VALUE_COUNT] = {
    [MS_BT_VALUE_RAW] = "raw",
    [MS_BT_VALUE_INT64_SUM] = "int64-sum",
    [MS_BT_VALUE_INT64_MIN] = "int64-min",
    [MS_BT_VALUE_INT64_MAX] = "int64-max",
    [MS_BT_VALUE_INT64_HLL] = "int64-hll",
};

const char *ms_bt_value_type_name(ms_bt_value_type type)
{
    MS_ASSERT((unsigned)type < MS_BT_VALUE_COUNT);
    return value_type_names[type];
}

bool ms_bt_value_type_parse(ms_str text, ms_bt_value_type *type_out)
{
    for (unsigned i = 0; i < MS_BT_VALUE_COUNT; i++) {
        if (ms_str_equals_nocase(text, ms_str_cstr(value_type_names[i]))) {
            *type_out = (ms_bt_value_type)i;
            return true;
        }
    }
    return false;
}

const ms_bt_family *ms_bt_table_family(const ms_bt_table *table, ms_str name)
{
    for (size_t i = 0; i < table->family_count; i++) {
        if (ms_str_equals(table->families[i].name, name)) {
            return &table->families[i];
        }
    }
    return NULL;
}

const ms_bt_table *ms_bt_table_copy(ms_arena *arena, const ms_bt_table *table)
{
    ms_bt_table *copy = ms_arena_new(arena, ms_bt_table);
    *copy = *table;
    copy->name.project = ms_arena_copy_str(arena, table->name.project);
    copy->name.instance = ms_arena_copy_str(arena, table->name.instance);
    copy->name.table = ms_arena_copy_str(arena, table->name.table);
    ms_bt_family *families = ms_arena_array(arena, ms_bt_family, table->family_count);
    for (size_t i = 0; i < table->family_count; i++) {
        families[i] = (ms_bt_family){
            .name = ms_arena_copy_str(arena, table->families[i].name),
            .type = table->families[i].type,
            .gc_rule = ms_bt_gc_rule_copy(arena, table->families[i].gc_rule),
        };
    }
    copy->families = families;
    ms_str *splits = ms_arena_array(arena, ms_str, table->split_count);
    for (size_t i = 0; i < table->split_count; i++) {
        splits[i] = ms_arena_copy_str(arena, table->splits[i]);
    }
    copy->splits = splits;
    return copy;
}

ms_bt_code ms_bt_family_check(const ms_bt_family *family, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_family_name_check(family->name, bt));
    if ((unsigned)family->type >= MS_BT_VALUE_COUNT) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'value_type' : there is no type %d",
                                (int)family->type);
    }
    return ms_bt_gc_rule_check(family->gc_rule, bt);
}

ms_bt_code ms_bt_retention_check(int64_t retention_micros, ms_bt_status *bt)
{
    const int64_t day = INT64_C(86400) * 1000000;
    if (retention_micros != 0 && (retention_micros < day || retention_micros > 7 * day)) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'change_stream_config.retention_period' : must be "
                                "1 to 7 days");
    }
    return MS_BT_OK;
}

static ms_bt_code check_splits(const ms_bt_table *table, ms_bt_status *bt)
{
    if (table->split_count > MS_BT_LIMIT_SPLITS) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'initial_splits' : %zu splits; limit %u",
                                table->split_count, MS_BT_LIMIT_SPLITS);
    }
    for (size_t i = 0; i < table->split_count; i++) {
        if (table->splits[i].bytes == 0 || table->splits[i].bytes > MS_BT_LIMIT_ROW_KEY_BYTES) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'initial_splits' : Error in element #%zu : "
                                    "a key has 1 to %u bytes",
                                    i, MS_BT_LIMIT_ROW_KEY_BYTES);
        }
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_table_check(const ms_bt_table *table, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_table_name_check(&table->name, bt));
    if (table->granularity_micros != 0 && table->granularity_micros != MS_BT_GRANULARITY_MILLIS &&
        table->granularity_micros != MS_BT_GRANULARITY_MICROS) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'granularity' : %lld microseconds",
                                (long long)table->granularity_micros);
    }
    if (table->family_count > MS_BT_LIMIT_FAMILIES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'column_families' : %zu families; limit %u",
                                table->family_count, MS_BT_LIMIT_FAMILIES);
    }
    for (size_t i = 0; i < table->family_count; i++) {
        MS_BT_TRY(ms_bt_family_check(&table->families[i], bt));
        for (size_t j = 0; j < i; j++) {
            if (ms_str_equals(table->families[i].name, table->families[j].name)) {
                return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                        "Error in field 'column_families' : '%.*s' is named twice",
                                        MS_STR_ARG(table->families[i].name));
            }
        }
    }
    MS_BT_TRY(ms_bt_retention_check(table->change_retention_micros, bt));
    return check_splits(table, bt);
}
