/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables, families and rules of garbage collection as messages. Rules recurse; messages are at most
 * MS_WIRE_DEPTH_MAX deep, and rules of ours as deep as ms_bt_gc_rule_check allows.
 */
#include "bigtable/wire/schema.h"

#include "bigtable/wire/resource.h"
#include "bigtable/wire/time.h"

#include <stdlib.h>

/* Rules. */

static ms_bt_code rules_from_pb(ms_bt_gc_rule_kind kind, ms_pb_gc_rule *const *rules, size_t count,
                                ms_arena *arena, const ms_bt_gc_rule **rule_out, ms_bt_status *bt)
{
    const ms_bt_gc_rule **list = ms_arena_array(arena, const ms_bt_gc_rule *, count);
    for (size_t i = 0; i < count; i++) {
        MS_BT_TRY(ms_wire_gc_rule_from_pb(rules[i], arena, &list[i], bt));
        if (list[i] == NULL) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'gc_rule' : a rule in a union or intersection "
                                    "is not set");
        }
    }
    *rule_out = kind == MS_BT_GC_UNION ? ms_bt_gc_rule_union(arena, list, count)
                                       : ms_bt_gc_rule_intersection(arena, list, count);
    return MS_BT_OK;
}

ms_bt_code ms_wire_gc_rule_from_pb(const ms_pb_gc_rule *message, ms_arena *arena,
                                   const ms_bt_gc_rule **rule_out, ms_bt_status *bt)
{
    *rule_out = NULL;
    if (message == NULL) {
        return MS_BT_OK;
    }
    switch ((int)message->rule_case) {
    case GOOGLE__BIGTABLE__ADMIN__V2__GC_RULE__RULE_MAX_NUM_VERSIONS:
        *rule_out = ms_bt_gc_rule_max_versions(arena, message->max_num_versions);
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__GC_RULE__RULE_MAX_AGE:
        *rule_out = ms_bt_gc_rule_max_age(arena, ms_wire_duration_micros(message->max_age));
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__GC_RULE__RULE_INTERSECTION:
        return rules_from_pb(MS_BT_GC_INTERSECTION, message->intersection->rules,
                             message->intersection->n_rules, arena, rule_out, bt);
    case GOOGLE__BIGTABLE__ADMIN__V2__GC_RULE__RULE_UNION:
        return rules_from_pb(MS_BT_GC_UNION, message->union_->rules, message->union_->n_rules,
                             arena, rule_out, bt);
    default:
        return MS_BT_OK;
    }
}

static ms_pb_gc_rule **rules_to_pb(const ms_bt_gc_rule *rule, ms_arena *arena)
{
    ms_pb_gc_rule **list = ms_arena_array(arena, ms_pb_gc_rule *, rule->rule_count);
    for (size_t i = 0; i < rule->rule_count; i++) {
        list[i] = ms_wire_gc_rule_to_pb(rule->rules[i], arena);
    }
    return list;
}

ms_pb_gc_rule *ms_wire_gc_rule_to_pb(const ms_bt_gc_rule *rule, ms_arena *arena)
{
    if (rule == NULL) {
        return NULL;
    }
    ms_pb_gc_rule *message = ms_pb_new(arena, gc_rule);
    switch (rule->kind) {
    case MS_BT_GC_MAX_VERSIONS:
        message->rule_case = GOOGLE__BIGTABLE__ADMIN__V2__GC_RULE__RULE_MAX_NUM_VERSIONS;
        message->max_num_versions = rule->max_versions;
        break;
    case MS_BT_GC_MAX_AGE:
        message->rule_case = GOOGLE__BIGTABLE__ADMIN__V2__GC_RULE__RULE_MAX_AGE;
        message->max_age = ms_wire_duration_to_pb(rule->max_age_micros, arena);
        break;
    case MS_BT_GC_INTERSECTION:
        message->rule_case = GOOGLE__BIGTABLE__ADMIN__V2__GC_RULE__RULE_INTERSECTION;
        message->intersection = ms_pb_new(arena, gc_rule_intersection);
        message->intersection->rules = rules_to_pb(rule, arena);
        message->intersection->n_rules = rule->rule_count;
        break;
    case MS_BT_GC_UNION:
        message->rule_case = GOOGLE__BIGTABLE__ADMIN__V2__GC_RULE__RULE_UNION;
        message->union_ = ms_pb_new(arena, gc_rule_union);
        message->union_->rules = rules_to_pb(rule, arena);
        message->union_->n_rules = rule->rule_count;
        break;
    }
    return message;
}

/* Types of values. */

static ms_bt_code refuse_type(ms_str family, const char *why, ms_bt_status *bt)
{
    char text[192];
    return ms_bt_status_set(bt, MS_BT_UNIMPLEMENTED,
                            "The value_type of family '%s' is not built: %s",
                            ms_bt_bytes_text(family, text, sizeof(text)), why);
}

static bool is_big_endian_int64(const ms_pb_admin_type *type)
{
    if (type == NULL || type->kind_case != GOOGLE__BIGTABLE__ADMIN__V2__TYPE__KIND_INT64_TYPE) {
        return false;
    }
    const ms_pb_admin_type_int64_encoding *encoding = type->int64_type->encoding;
    return encoding == NULL ||
           encoding->encoding_case !=
               GOOGLE__BIGTABLE__ADMIN__V2__TYPE__INT64__ENCODING__ENCODING_ORDERED_CODE_BYTES;
}

static ms_bt_code type_from_pb(ms_str family, const ms_pb_admin_type *message,
                               ms_bt_value_type *type_out, ms_bt_status *bt)
{
    *type_out = MS_BT_VALUE_RAW;
    if (message == NULL || message->kind_case == GOOGLE__BIGTABLE__ADMIN__V2__TYPE__KIND__NOT_SET ||
        message->kind_case == GOOGLE__BIGTABLE__ADMIN__V2__TYPE__KIND_BYTES_TYPE) {
        return MS_BT_OK;
    }
    if (message->kind_case != GOOGLE__BIGTABLE__ADMIN__V2__TYPE__KIND_AGGREGATE_TYPE) {
        return refuse_type(family, "only bytes and aggregates are", bt);
    }
    const ms_pb_admin_type_aggregate *aggregate = message->aggregate_type;
    if (!is_big_endian_int64(aggregate->input_type)) {
        return refuse_type(family, "only aggregates of big-endian 64-bit integers are", bt);
    }
    switch ((int)aggregate->aggregator_case) {
    case GOOGLE__BIGTABLE__ADMIN__V2__TYPE__AGGREGATE__AGGREGATOR_SUM:
        *type_out = MS_BT_VALUE_INT64_SUM;
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__TYPE__AGGREGATE__AGGREGATOR_MIN:
        *type_out = MS_BT_VALUE_INT64_MIN;
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__TYPE__AGGREGATE__AGGREGATOR_MAX:
        *type_out = MS_BT_VALUE_INT64_MAX;
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__TYPE__AGGREGATE__AGGREGATOR_HLLPP_UNIQUE_COUNT:
        *type_out = MS_BT_VALUE_INT64_HLL;
        return MS_BT_OK;
    default:
        break;
    }
    char text[192];
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                            "Error in field 'value_type' : the aggregate of family '%s' has no "
                            "aggregator",
                            ms_bt_bytes_text(family, text, sizeof(text)));
}

static ms_pb_admin_type *int64_type(ms_arena *arena)
{
    ms_pb_admin_type *type = ms_pb_new(arena, admin_type);
    type->kind_case = GOOGLE__BIGTABLE__ADMIN__V2__TYPE__KIND_INT64_TYPE;
    type->int64_type = ms_pb_new(arena, admin_type_int64);
    type->int64_type->encoding = ms_pb_new(arena, admin_type_int64_encoding);
    type->int64_type->encoding->encoding_case =
        GOOGLE__BIGTABLE__ADMIN__V2__TYPE__INT64__ENCODING__ENCODING_BIG_ENDIAN_BYTES;
    type->int64_type->encoding->big_endian_bytes =
        ms_pb_new(arena, admin_type_int64_encoding_big_endian_bytes);
    return type;
}

static ms_pb_admin_type *bytes_type(ms_arena *arena)
{
    ms_pb_admin_type *type = ms_pb_new(arena, admin_type);
    type->kind_case = GOOGLE__BIGTABLE__ADMIN__V2__TYPE__KIND_BYTES_TYPE;
    type->bytes_type = ms_pb_new(arena, admin_type_bytes);
    type->bytes_type->encoding = ms_pb_new(arena, admin_type_bytes_encoding);
    type->bytes_type->encoding->encoding_case =
        GOOGLE__BIGTABLE__ADMIN__V2__TYPE__BYTES__ENCODING__ENCODING_RAW;
    type->bytes_type->encoding->raw = ms_pb_new(arena, admin_type_bytes_encoding_raw);
    return type;
}

/* NULL for plain bytes. */
static ms_pb_admin_type *type_to_pb(ms_bt_value_type type, ms_arena *arena)
{
    ms_pb_admin_type_aggregate *aggregate = ms_pb_new(arena, admin_type_aggregate);
    aggregate->input_type = int64_type(arena);
    aggregate->state_type = type == MS_BT_VALUE_INT64_HLL ? bytes_type(arena) : int64_type(arena);
    switch (type) {
    case MS_BT_VALUE_INT64_SUM:
        aggregate->aggregator_case = GOOGLE__BIGTABLE__ADMIN__V2__TYPE__AGGREGATE__AGGREGATOR_SUM;
        aggregate->sum = ms_pb_new(arena, admin_type_aggregate_sum);
        break;
    case MS_BT_VALUE_INT64_MIN:
        aggregate->aggregator_case = GOOGLE__BIGTABLE__ADMIN__V2__TYPE__AGGREGATE__AGGREGATOR_MIN;
        aggregate->min = ms_pb_new(arena, admin_type_aggregate_min);
        break;
    case MS_BT_VALUE_INT64_MAX:
        aggregate->aggregator_case = GOOGLE__BIGTABLE__ADMIN__V2__TYPE__AGGREGATE__AGGREGATOR_MAX;
        aggregate->max = ms_pb_new(arena, admin_type_aggregate_max);
        break;
    case MS_BT_VALUE_INT64_HLL:
        aggregate->aggregator_case =
            GOOGLE__BIGTABLE__ADMIN__V2__TYPE__AGGREGATE__AGGREGATOR_HLLPP_UNIQUE_COUNT;
        aggregate->hllpp_unique_count =
            ms_pb_new(arena, admin_type_aggregate_hyper_log_log_plus_plus_unique_count);
        break;
    case MS_BT_VALUE_RAW:
    case MS_BT_VALUE_COUNT:
        return NULL;
    }
    ms_pb_admin_type *message = ms_pb_new(arena, admin_type);
    message->kind_case = GOOGLE__BIGTABLE__ADMIN__V2__TYPE__KIND_AGGREGATE_TYPE;
    message->aggregate_type = aggregate;
    return message;
}

/* Families. */

ms_bt_code ms_wire_family_from_pb(ms_str name, const ms_pb_column_family *message, ms_arena *arena,
                                  ms_bt_family *family_out, ms_bt_status *bt)
{
    *family_out = (ms_bt_family){.name = name};
    if (message == NULL) {
        return MS_BT_OK;
    }
    MS_BT_TRY(type_from_pb(name, message->value_type, &family_out->type, bt));
    return ms_wire_gc_rule_from_pb(message->gc_rule, arena, &family_out->gc_rule, bt);
}

ms_pb_column_family *ms_wire_family_to_pb(const ms_bt_family *family, ms_arena *arena)
{
    ms_pb_column_family *message = ms_pb_new(arena, column_family);
    message->gc_rule = ms_wire_gc_rule_to_pb(family->gc_rule, arena);
    message->value_type = type_to_pb(family->type, arena);
    return message;
}

/* An update sets the rule; a mask may say so, and nothing else. */
static ms_bt_code check_family_mask(const ms_pb_field_mask *mask, ms_bt_status *bt)
{
    for (size_t i = 0; mask != NULL && i < mask->n_paths; i++) {
        if (!ms_str_equals(ms_wire_text_view(mask->paths[i]), ms_str_lit("gc_rule"))) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'update_mask' : '%.64s' of a family cannot be "
                                    "updated",
                                    mask->paths[i]);
        }
    }
    return MS_BT_OK;
}

#define MOD_CASE(name)                                                                             \
    GOOGLE__BIGTABLE__ADMIN__V2__MODIFY_COLUMN_FAMILIES_REQUEST__MODIFICATION__MOD_##name

ms_bt_code ms_wire_modification_from_pb(const ms_pb_modify_column_families_request_modification *m,
                                        ms_arena *arena, ms_wire_family_action *action_out,
                                        ms_bt_family *family_out, ms_bt_status *bt)
{
    *action_out = MS_WIRE_FAMILY_DROP;
    *family_out = (ms_bt_family){0};
    ms_str name = ms_wire_text_view(m->id);
    switch ((int)m->mod_case) {
    case MOD_CASE(CREATE):
        *action_out = MS_WIRE_FAMILY_CREATE;
        return ms_wire_family_from_pb(name, m->create, arena, family_out, bt);
    case MOD_CASE(UPDATE):
        *action_out = MS_WIRE_FAMILY_UPDATE;
        MS_BT_TRY(check_family_mask(m->update_mask, bt));
        return ms_wire_family_from_pb(name, m->update, arena, family_out, bt);
    case MOD_CASE(DROP):
        if (m->drop) {
            family_out->name = name;
            return MS_BT_OK;
        }
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'modifications' : drop must be true if set");
    default:
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'modifications' : a modification is not set");
    }
}

ms_pb_modify_column_families_request_modification *
ms_wire_modification_to_pb(ms_wire_family_action action, const ms_bt_family *family,
                           ms_arena *arena)
{
    ms_pb_modify_column_families_request_modification *message =
        ms_pb_new(arena, modify_column_families_request_modification);
    message->id = ms_wire_text(arena, family->name);
    switch (action) {
    case MS_WIRE_FAMILY_CREATE:
        message->mod_case = MOD_CASE(CREATE);
        message->create = ms_wire_family_to_pb(family, arena);
        break;
    case MS_WIRE_FAMILY_UPDATE:
        message->mod_case = MOD_CASE(UPDATE);
        message->update = ms_wire_family_to_pb(family, arena);
        break;
    case MS_WIRE_FAMILY_DROP:
        message->mod_case = MOD_CASE(DROP);
        message->drop = true;
        break;
    }
    return message;
}

/* Tables. */

ms_bt_code ms_wire_table_view_from_pb(int view, ms_wire_table_view fallback,
                                      ms_wire_table_view *view_out, ms_bt_status *bt)
{
    *view_out = fallback;
    switch (view) {
    case GOOGLE__BIGTABLE__ADMIN__V2__TABLE__VIEW__VIEW_UNSPECIFIED:
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__TABLE__VIEW__NAME_ONLY:
    /* Nothing is encrypted with keys of a client. */
    case GOOGLE__BIGTABLE__ADMIN__V2__TABLE__VIEW__ENCRYPTION_VIEW:
        *view_out = MS_WIRE_TABLE_NAME;
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__TABLE__VIEW__SCHEMA_VIEW:
        *view_out = MS_WIRE_TABLE_SCHEMA;
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__TABLE__VIEW__REPLICATION_VIEW:
        *view_out = MS_WIRE_TABLE_REPLICATION;
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__ADMIN__V2__TABLE__VIEW__FULL:
        *view_out = MS_WIRE_TABLE_FULL;
        return MS_BT_OK;
    default:
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'view' : %d is no view of a table", view);
    }
}

static int compare_families(const void *a, const void *b)
{
    return ms_str_compare(((const ms_bt_family *)a)->name, ((const ms_bt_family *)b)->name);
}

/* A map has no order; descriptions of tables have one. */
static ms_bt_code families_from_pb(const ms_pb_table *message, ms_arena *arena, ms_bt_table *table,
                                   ms_bt_status *bt)
{
    ms_bt_family *list = ms_arena_array(arena, ms_bt_family, message->n_column_families);
    for (size_t i = 0; i < message->n_column_families; i++) {
        const ms_pb_table_column_families_entry *entry = message->column_families[i];
        MS_BT_TRY(ms_wire_family_from_pb(ms_wire_text_view(entry->key), entry->value, arena,
                                         &list[i], bt));
    }
    if (message->n_column_families > 1) {
        qsort(list, message->n_column_families, sizeof(list[0]), compare_families);
    }
    table->families = list;
    table->family_count = message->n_column_families;
    return MS_BT_OK;
}

#define GRANULARITY(name) GOOGLE__BIGTABLE__ADMIN__V2__TABLE__TIMESTAMP_GRANULARITY__##name

static ms_bt_code granularity_from_pb(int granularity, int64_t *micros_out, ms_bt_status *bt)
{
    switch (granularity) {
    case GRANULARITY(TIMESTAMP_GRANULARITY_UNSPECIFIED):
        *micros_out = 0;
        return MS_BT_OK;
    case GRANULARITY(MILLIS):
        *micros_out = MS_BT_GRANULARITY_MILLIS;
        return MS_BT_OK;
    case GRANULARITY(MICROS):
        *micros_out = MS_BT_GRANULARITY_MICROS;
        return MS_BT_OK;
    default:
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'granularity' : %d is no granularity", granularity);
    }
}

/* A stream without a period would read as no stream. */
static ms_bt_code change_stream_from_pb(const ms_pb_change_stream_config *config,
                                        int64_t *micros_out, ms_bt_status *bt)
{
    *micros_out = config == NULL ? 0 : ms_wire_duration_micros(config->retention_period);
    return config == NULL || *micros_out != 0
               ? MS_BT_OK
               : ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                  "Error in field 'change_stream_config' : retention_period must "
                                  "be between 1 and 7 days");
}

/* All but the name. */
static ms_bt_code description_from_pb(const ms_pb_table *message, ms_arena *arena,
                                      ms_bt_table *table, ms_bt_status *bt)
{
    MS_BT_TRY(families_from_pb(message, arena, table, bt));
    MS_BT_TRY(granularity_from_pb((int)message->granularity, &table->granularity_micros, bt));
    MS_BT_TRY(
        change_stream_from_pb(message->change_stream_config, &table->change_retention_micros, bt));
    table->is_protected = message->deletion_protection;
    return MS_BT_OK;
}

/* What a request must not ask for, because it is not built. */
static ms_bt_code check_built(const ms_pb_table *message, ms_bt_status *bt)
{
    const struct {
        bool is_set;
        const char *name;
    } fields[] = {
        {message->automated_backup_config_case !=
             GOOGLE__BIGTABLE__ADMIN__V2__TABLE__AUTOMATED_BACKUP_CONFIG__NOT_SET,
         "automated_backup_policy"},
        {message->tiered_storage_config != NULL, "tiered_storage_config"},
        {message->row_key_schema != NULL, "row_key_schema"},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (fields[i].is_set) {
            return ms_bt_status_set(bt, MS_BT_UNIMPLEMENTED, "%s of a table is not built",
                                    fields[i].name);
        }
    }
    return MS_BT_OK;
}

ms_bt_code ms_wire_table_from_pb(const ms_pb_table *message, ms_arena *arena,
                                 ms_bt_table *table_out, ms_bt_status *bt)
{
    *table_out = (ms_bt_table){0};
    MS_BT_TRY(ms_bt_table_name_parse(&table_out->name, ms_wire_text_view(message->name), bt));
    return description_from_pb(message, arena, table_out, bt);
}

bool ms_wire_table_view_has_clusters(ms_wire_table_view view)
{
    return view == MS_WIRE_TABLE_REPLICATION || view == MS_WIRE_TABLE_FULL;
}

void ms_wire_table_add_clusters(ms_pb_table *message, const ms_str *ids, size_t count,
                                ms_arena *arena)
{
    message->n_cluster_states = count;
    message->cluster_states = ms_arena_array(arena, ms_pb_table_cluster_states_entry *, count);
    for (size_t i = 0; i < count; i++) {
        ms_pb_table_cluster_states_entry *entry = ms_pb_new(arena, table_cluster_states_entry);
        entry->key = ms_wire_text(arena, ids[i]);
        entry->value = ms_pb_new(arena, table_cluster_state);
        entry->value->replication_state =
            GOOGLE__BIGTABLE__ADMIN__V2__TABLE__CLUSTER_STATE__REPLICATION_STATE__READY;
        message->cluster_states[i] = entry;
    }
}

static void description_to_pb(const ms_bt_table *table, ms_arena *arena, ms_pb_table *message)
{
    message->n_column_families = table->family_count;
    message->column_families =
        ms_arena_array(arena, ms_pb_table_column_families_entry *, table->family_count);
    for (size_t i = 0; i < table->family_count; i++) {
        ms_pb_table_column_families_entry *entry = ms_pb_new(arena, table_column_families_entry);
        entry->key = ms_wire_text(arena, table->families[i].name);
        entry->value = ms_wire_family_to_pb(&table->families[i], arena);
        message->column_families[i] = entry;
    }
    message->granularity = table->granularity_micros == MS_BT_GRANULARITY_MICROS
                               ? GRANULARITY(MICROS)
                               : GRANULARITY(MILLIS);
    if (table->change_retention_micros != 0) {
        message->change_stream_config = ms_pb_new(arena, change_stream_config);
        message->change_stream_config->retention_period =
            ms_wire_duration_to_pb(table->change_retention_micros, arena);
    }
    message->deletion_protection = table->is_protected;
}

ms_pb_table *ms_wire_table_to_pb(const ms_bt_table *table, ms_wire_table_view view, ms_arena *arena)
{
    ms_pb_table *message = ms_pb_new(arena, table);
    message->name = ms_wire_table_path(arena, &table->name);
    if (view == MS_WIRE_TABLE_SCHEMA || view == MS_WIRE_TABLE_FULL) {
        description_to_pb(table, arena, message);
    }
    return message;
}

/* Creating. */

ms_bt_code ms_wire_create_table_from_pb(const ms_pb_create_table_request *message, ms_arena *arena,
                                        ms_bt_table *table_out, ms_bt_status *bt)
{
    *table_out = (ms_bt_table){0};
    MS_BT_TRY(ms_wire_instance_parse(ms_wire_text_view(message->parent), &table_out->name, bt));
    table_out->name.table = ms_wire_text_view(message->table_id);
    MS_BT_TRY(ms_bt_table_name_check(&table_out->name, bt));
    if (message->table != NULL) {
        MS_BT_TRY(check_built(message->table, bt));
        MS_BT_TRY(description_from_pb(message->table, arena, table_out, bt));
    }
    ms_str *splits = ms_arena_array(arena, ms_str, message->n_initial_splits);
    for (size_t i = 0; i < message->n_initial_splits; i++) {
        splits[i] = ms_wire_bytes_view(message->initial_splits[i]->key);
    }
    table_out->splits = splits;
    table_out->split_count = message->n_initial_splits;
    return MS_BT_OK;
}

ms_pb_create_table_request *ms_wire_create_table_to_pb(const ms_bt_table *table, ms_arena *arena)
{
    ms_pb_create_table_request *message = ms_pb_new(arena, create_table_request);
    message->parent = ms_wire_instance_path(arena, table->name.project, table->name.instance);
    message->table_id = ms_wire_text(arena, table->name.table);
    message->table = ms_pb_new(arena, table);
    description_to_pb(table, arena, message->table);
    message->n_initial_splits = table->split_count;
    message->initial_splits =
        ms_arena_array(arena, ms_pb_create_table_request_split *, table->split_count);
    for (size_t i = 0; i < table->split_count; i++) {
        message->initial_splits[i] = ms_pb_new(arena, create_table_request_split);
        message->initial_splits[i]->key = ms_wire_bytes(table->splits[i]);
    }
    return message;
}

/* Updating. */

#define PATH_STREAM "change_stream_config"
#define PATH_RETENTION "change_stream_config.retention_period"
#define PATH_PROTECTION "deletion_protection"

static ms_bt_code path_from_pb(const char *path, uint32_t *mask, ms_bt_status *bt)
{
    static const char *const refused[] = {"column_families", "row_key_schema", "granularity",
                                          "automated_backup_policy", "tiered_storage_config"};
    ms_str text = ms_wire_text_view(path);
    if (ms_str_equals(text, ms_str_lit(PATH_STREAM)) ||
        ms_str_equals(text, ms_str_lit(PATH_RETENTION))) {
        *mask |= MS_WIRE_UPDATE_CHANGE_STREAM;
        return MS_BT_OK;
    }
    if (ms_str_equals(text, ms_str_lit(PATH_PROTECTION))) {
        *mask |= MS_WIRE_UPDATE_PROTECTION;
        return MS_BT_OK;
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        /* With what lies below it. */
        ms_str name = ms_str_cstr(refused[i]);
        if (ms_str_starts_with(text, name) &&
            (text.bytes == name.bytes || text.ptr[name.bytes] == '.')) {
            return ms_bt_status_set(bt, MS_BT_UNIMPLEMENTED,
                                    "Error in field 'update_mask' : %s cannot be updated",
                                    refused[i]);
        }
    }
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                            "Error in field 'update_mask' : incorrect path '%.64s'", path);
}

ms_bt_code ms_wire_update_table_from_pb(const ms_pb_update_table_request *message, ms_arena *arena,
                                        ms_bt_table *table_out, uint32_t *mask_out,
                                        ms_bt_status *bt)
{
    *table_out = (ms_bt_table){0};
    *mask_out = 0;
    if (message->table == NULL) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Error in field 'table' : not set");
    }
    if (message->update_mask == NULL || message->update_mask->n_paths == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'update_mask' : not set");
    }
    for (size_t i = 0; i < message->update_mask->n_paths; i++) {
        MS_BT_TRY(path_from_pb(message->update_mask->paths[i], mask_out, bt));
    }
    return ms_wire_table_from_pb(message->table, arena, table_out, bt);
}

ms_pb_update_table_request *ms_wire_update_table_to_pb(const ms_bt_table *table, uint32_t mask,
                                                       ms_arena *arena)
{
    ms_pb_update_table_request *message = ms_pb_new(arena, update_table_request);
    message->table = ms_pb_new(arena, table);
    message->table->name = ms_wire_table_path(arena, &table->name);
    message->update_mask = ms_pb_new(arena, field_mask);
    message->update_mask->paths = ms_arena_array(arena, char *, 2);
    size_t count = 0;
    if ((mask & MS_WIRE_UPDATE_CHANGE_STREAM) != 0) {
        message->update_mask->paths[count++] = ms_wire_text(arena, ms_str_lit(PATH_STREAM));
        if (table->change_retention_micros != 0) {
            message->table->change_stream_config = ms_pb_new(arena, change_stream_config);
            message->table->change_stream_config->retention_period =
                ms_wire_duration_to_pb(table->change_retention_micros, arena);
        }
    }
    if ((mask & MS_WIRE_UPDATE_PROTECTION) != 0) {
        message->update_mask->paths[count++] = ms_wire_text(arena, ms_str_lit(PATH_PROTECTION));
        message->table->deletion_protection = table->is_protected;
    }
    message->update_mask->n_paths = count;
    return message;
}
