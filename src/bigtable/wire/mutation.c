/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations and rules as messages. An aggregate's qualifier, timestamp and input are values of any
 * type in the API; only some of them mean something, and the others are refused here, because the
 * model has no room for them.
 */
#include "bigtable/wire/mutation.h"

#include "base/codec.h"
#include "bigtable/wire/wire_priv.h"

/* Aggregates. */

static ms_bt_code refuse_aggregate(ms_bt_mutation_kind kind, uint32_t index, const char *why,
                                   ms_bt_status *bt)
{
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, MSI_WIRE_IN_LIST "%s %s", index,
                            kind == MS_BT_MUTATION_ADD_TO_CELL ? "AddToCell" : "MergeToCell", why);
}

/* An integer as the model has it. */
static ms_str number_bytes(msi_wire_aggregate *aggregate)
{
    uint64_t number = __builtin_bswap64((uint64_t)aggregate->input.number);
    ms_codec_store_u64(aggregate->number, number);
    return ms_str_make(aggregate->number, sizeof(aggregate->number));
}

ms_bt_code msi_wire_take_aggregate(msi_wire_aggregate *aggregate, uint32_t index,
                                   ms_bt_mutation *mutation, ms_bt_status *bt)
{
    ms_bt_mutation_kind kind = mutation->kind;
    if (aggregate->qualifier.kind != MSI_WIRE_VALUE_RAW) {
        return refuse_aggregate(kind, index, "must have a column_qualifier with a raw_value", bt);
    }
    if (aggregate->timestamp.kind != MSI_WIRE_VALUE_RAW_TIME) {
        return refuse_aggregate(kind, index, "must have a timestamp with raw_timestamp_micros", bt);
    }
    mutation->qualifier = aggregate->qualifier.bytes;
    mutation->timestamp_micros = aggregate->timestamp.number;
    bool is_state = kind == MS_BT_MUTATION_MERGE_TO_CELL;
    switch (aggregate->input.kind) {
    case MSI_WIRE_VALUE_INT:
        mutation->value = number_bytes(aggregate);
        return MS_BT_OK;
    case MSI_WIRE_VALUE_RAW:
    case MSI_WIRE_VALUE_BYTES:
        mutation->value = aggregate->input.bytes;
        return is_state ? MS_BT_OK
                        : refuse_aggregate(kind, index, "must have an input with an int_value", bt);
    case MSI_WIRE_VALUE_NONE:
        mutation->value = (ms_str){NULL, 0};
        return is_state ? MS_BT_OK
                        : refuse_aggregate(kind, index, "must have an input with an int_value", bt);
    case MSI_WIRE_VALUE_RAW_TIME:
    case MSI_WIRE_VALUE_OTHER:
        break;
    }
    return refuse_aggregate(kind, index,
                            is_state ? "must have an input with a raw_value"
                                     : "must have an input with an int_value",
                            bt);
}

msi_wire_value msi_wire_value_from_pb(const ms_pb_value *message)
{
    msi_wire_value value = {.kind = MSI_WIRE_VALUE_NONE};
    if (message == NULL) {
        return value;
    }
    switch ((int)message->kind_case) {
    case GOOGLE__BIGTABLE__V2__VALUE__KIND__NOT_SET:
        break;
    case GOOGLE__BIGTABLE__V2__VALUE__KIND_RAW_VALUE:
        value.kind = MSI_WIRE_VALUE_RAW;
        value.bytes = ms_wire_bytes_view(message->raw_value);
        break;
    case GOOGLE__BIGTABLE__V2__VALUE__KIND_RAW_TIMESTAMP_MICROS:
        value.kind = MSI_WIRE_VALUE_RAW_TIME;
        value.number = message->raw_timestamp_micros;
        break;
    case GOOGLE__BIGTABLE__V2__VALUE__KIND_BYTES_VALUE:
        value.kind = MSI_WIRE_VALUE_BYTES;
        value.bytes = ms_wire_bytes_view(message->bytes_value);
        break;
    case GOOGLE__BIGTABLE__V2__VALUE__KIND_INT_VALUE:
        value.kind = MSI_WIRE_VALUE_INT;
        value.number = message->int_value;
        break;
    default:
        value.kind = MSI_WIRE_VALUE_OTHER;
        break;
    }
    return value;
}

/* From messages. */

/* Where the mutations of a message go. */
typedef struct target {
    ms_bt_mutation_batch *batch;
    uint32_t index; /* of the mutation */
    ms_bt_status *bt;
} target;

static ms_bt_code append(target *to, const char *family, ms_bt_mutation *mutation)
{
    ms_status st = {0};
    if (ms_bt_mutation_batch_family(to->batch, ms_wire_text_view(family), &mutation->family, &st) !=
            MS_OK ||
        ms_bt_mutation_batch_append(to->batch, mutation, &st) != MS_OK) {
        return ms_bt_status_from(to->bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    return MS_BT_OK;
}

static ms_bt_code take_aggregate(target *to, ms_bt_mutation *mutation, const char *family,
                                 const ms_pb_value *qualifier, const ms_pb_value *timestamp,
                                 const ms_pb_value *input)
{
    msi_wire_aggregate aggregate = {.qualifier = msi_wire_value_from_pb(qualifier),
                                    .timestamp = msi_wire_value_from_pb(timestamp),
                                    .input = msi_wire_value_from_pb(input)};
    MS_BT_TRY(msi_wire_take_aggregate(&aggregate, to->index, mutation, to->bt));
    return append(to, family, mutation);
}

static ms_bt_code take_mutation(target *to, const ms_pb_mutation *message)
{
    ms_bt_mutation mutation = {.origin = (ms_bt_timestamp_origin)message->timestamp_origin};
    if ((unsigned)message->timestamp_origin >= MS_BT_TIMESTAMP_ORIGIN_COUNT) {
        mutation.origin = MS_BT_TIMESTAMP_UNSPECIFIED;
    }
    switch ((int)message->mutation_case) {
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_SET_CELL:
        mutation.kind = MS_BT_MUTATION_SET_CELL;
        mutation.qualifier = ms_wire_bytes_view(message->set_cell->column_qualifier);
        mutation.timestamp_micros = message->set_cell->timestamp_micros;
        mutation.value = ms_wire_bytes_view(message->set_cell->value);
        return append(to, message->set_cell->family_name, &mutation);
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_ADD_TO_CELL:
        mutation.kind = MS_BT_MUTATION_ADD_TO_CELL;
        return take_aggregate(to, &mutation, message->add_to_cell->family_name,
                              message->add_to_cell->column_qualifier,
                              message->add_to_cell->timestamp, message->add_to_cell->input);
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_MERGE_TO_CELL:
        mutation.kind = MS_BT_MUTATION_MERGE_TO_CELL;
        return take_aggregate(to, &mutation, message->merge_to_cell->family_name,
                              message->merge_to_cell->column_qualifier,
                              message->merge_to_cell->timestamp, message->merge_to_cell->input);
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_COLUMN: {
        const ms_pb_timestamp_range *range = message->delete_from_column->time_range;
        mutation.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN;
        mutation.qualifier = ms_wire_bytes_view(message->delete_from_column->column_qualifier);
        mutation.timestamp_micros = range == NULL ? 0 : range->start_timestamp_micros;
        mutation.end_micros = range == NULL ? 0 : range->end_timestamp_micros;
        return append(to, message->delete_from_column->family_name, &mutation);
    }
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_FAMILY:
        mutation.kind = MS_BT_MUTATION_DELETE_FROM_FAMILY;
        return append(to, message->delete_from_family->family_name, &mutation);
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_ROW: {
        mutation.kind = MS_BT_MUTATION_DELETE_FROM_ROW;
        ms_status st = {0};
        return ms_bt_mutation_batch_append(to->batch, &mutation, &st) == MS_OK
                   ? MS_BT_OK
                   : ms_bt_status_from(to->bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    default:
        return ms_bt_status_set(to->bt, MS_BT_INVALID_ARGUMENT,
                                MSI_WIRE_IN_LIST "No mutation is set", to->index);
    }
}

ms_bt_code ms_wire_mutations_from_pb(ms_str row_key, ms_pb_mutation *const *mutations, size_t count,
                                     ms_bt_mutation_batch *batch, ms_bt_status *bt)
{
    ms_status st = {0};
    if (ms_bt_mutation_batch_begin_row(batch, row_key, &st) != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    target to = {.batch = batch, .bt = bt};
    for (size_t i = 0; i < count; i++) {
        to.index = (uint32_t)i;
        ms_bt_code code = take_mutation(&to, mutations[i]);
        if (code != MS_BT_OK) {
            ms_bt_mutation_batch_cancel_row(batch);
            return code;
        }
    }
    ms_bt_mutation_batch_end_row(batch);
    return MS_BT_OK;
}

/* To messages. */

static ms_pb_value *raw_value(ms_str bytes, ms_arena *arena)
{
    ms_pb_value *value = ms_pb_new(arena, value);
    value->kind_case = GOOGLE__BIGTABLE__V2__VALUE__KIND_RAW_VALUE;
    value->raw_value = ms_wire_bytes(bytes);
    return value;
}

static ms_pb_value *raw_time(int64_t micros, ms_arena *arena)
{
    ms_pb_value *value = ms_pb_new(arena, value);
    value->kind_case = GOOGLE__BIGTABLE__V2__VALUE__KIND_RAW_TIMESTAMP_MICROS;
    value->raw_timestamp_micros = micros;
    return value;
}

/* An input is an integer; one that is not of eight bytes goes as it is, for the peer to refuse. */
static ms_pb_value *input_value(ms_str bytes, ms_arena *arena)
{
    if (bytes.bytes != sizeof(uint64_t)) {
        return raw_value(bytes, arena);
    }
    ms_pb_value *value = ms_pb_new(arena, value);
    value->kind_case = GOOGLE__BIGTABLE__V2__VALUE__KIND_INT_VALUE;
    value->int_value = (int64_t)__builtin_bswap64(ms_codec_load_u64(bytes.ptr));
    return value;
}

static void aggregate_to_pb(const ms_bt_mutation *mutation, char *family, ms_arena *arena,
                            ms_pb_mutation *message)
{
    /* The two messages have the same fields. */
    if (mutation->kind == MS_BT_MUTATION_ADD_TO_CELL) {
        ms_pb_mutation_add_to_cell *add = ms_pb_new(arena, mutation_add_to_cell);
        add->family_name = family;
        add->column_qualifier = raw_value(mutation->qualifier, arena);
        add->timestamp = raw_time(mutation->timestamp_micros, arena);
        add->input = input_value(mutation->value, arena);
        message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_ADD_TO_CELL;
        message->add_to_cell = add;
        return;
    }
    ms_pb_mutation_merge_to_cell *merge = ms_pb_new(arena, mutation_merge_to_cell);
    merge->family_name = family;
    merge->column_qualifier = raw_value(mutation->qualifier, arena);
    merge->timestamp = raw_time(mutation->timestamp_micros, arena);
    /* A value in which nothing is set is NULL. */
    merge->input =
        mutation->value.bytes == 0 ? ms_pb_new(arena, value) : raw_value(mutation->value, arena);
    message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_MERGE_TO_CELL;
    message->merge_to_cell = merge;
}

static void set_cell_to_pb(const ms_bt_mutation *mutation, char *family, ms_arena *arena,
                           ms_pb_mutation *message)
{
    ms_pb_mutation_set_cell *set = ms_pb_new(arena, mutation_set_cell);
    set->family_name = family;
    set->column_qualifier = ms_wire_bytes(mutation->qualifier);
    set->timestamp_micros = mutation->timestamp_micros;
    set->value = ms_wire_bytes(mutation->value);
    message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_SET_CELL;
    message->set_cell = set;
}

static void delete_column_to_pb(const ms_bt_mutation *mutation, char *family, ms_arena *arena,
                                ms_pb_mutation *message)
{
    ms_pb_mutation_delete_from_column *delete = ms_pb_new(arena, mutation_delete_from_column);
    delete->family_name = family;
    delete->column_qualifier = ms_wire_bytes(mutation->qualifier);
    if (mutation->timestamp_micros != 0 || mutation->end_micros != 0) {
        delete->time_range = ms_pb_new(arena, timestamp_range);
        delete->time_range->start_timestamp_micros = mutation->timestamp_micros;
        delete->time_range->end_timestamp_micros = mutation->end_micros;
    }
    message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_COLUMN;
    message->delete_from_column = delete;
}

ms_pb_mutation *msi_wire_mutation_to_pb(const ms_bt_mutation *mutation, ms_str family,
                                        ms_arena *arena)
{
    ms_pb_mutation *message = ms_pb_new(arena, mutation);
    message->timestamp_origin =
        (Google__Bigtable__V2__Mutation__TimestampOrigin)(int)mutation->origin;
    char *name = ms_wire_text(arena, family);
    switch (mutation->kind) {
    case MS_BT_MUTATION_SET_CELL:
        set_cell_to_pb(mutation, name, arena, message);
        break;
    case MS_BT_MUTATION_ADD_TO_CELL:
    case MS_BT_MUTATION_MERGE_TO_CELL:
        aggregate_to_pb(mutation, name, arena, message);
        break;
    case MS_BT_MUTATION_DELETE_FROM_COLUMN:
        delete_column_to_pb(mutation, name, arena, message);
        break;
    case MS_BT_MUTATION_DELETE_FROM_FAMILY:
        message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_FAMILY;
        message->delete_from_family = ms_pb_new(arena, mutation_delete_from_family);
        message->delete_from_family->family_name = name;
        break;
    case MS_BT_MUTATION_DELETE_FROM_ROW:
        message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_ROW;
        message->delete_from_row = ms_pb_new(arena, mutation_delete_from_row);
        break;
    case MS_BT_MUTATION_COUNT:
        MS_UNREACHABLE();
    }
    return message;
}

ms_pb_mutation **ms_wire_mutations_to_pb(const ms_bt_mutation_batch *batch, ms_arena *arena,
                                         size_t *count_out)
{
    *count_out = 0;
    ms_bt_mutation_cursor cursor;
    ms_bt_mutation_entry entry;
    if (batch == NULL) {
        return NULL;
    }
    cursor = ms_bt_mutation_cursor_make(batch);
    if (!ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        return NULL;
    }
    ms_pb_mutation **list = ms_arena_array(arena, ms_pb_mutation *, entry.mutation_count);
    ms_bt_mutation mutation;
    for (size_t i = 0; ms_bt_mutation_cursor_next(&cursor, &mutation); i++) {
        ms_str family = mutation.kind == MS_BT_MUTATION_DELETE_FROM_ROW
                            ? (ms_str){NULL, 0}
                            : ms_bt_mutation_batch_family_name(batch, mutation.family);
        list[i] = msi_wire_mutation_to_pb(&mutation, family, arena);
    }
    *count_out = entry.mutation_count;
    return list;
}

/* Rules. */

ms_bt_code ms_wire_rules_from_pb(ms_pb_read_modify_write_rule *const *rules, size_t count,
                                 ms_arena *arena, const ms_bt_rule **rules_out, ms_bt_status *bt)
{
    *rules_out = NULL;
    ms_bt_rule *list = ms_arena_array(arena, ms_bt_rule, count);
    for (size_t i = 0; i < count; i++) {
        const ms_pb_read_modify_write_rule *rule = rules[i];
        list[i].family = ms_wire_text_view(rule->family_name);
        list[i].qualifier = ms_wire_bytes_view(rule->column_qualifier);
        switch ((int)rule->rule_case) {
        case GOOGLE__BIGTABLE__V2__READ_MODIFY_WRITE_RULE__RULE_APPEND_VALUE:
            list[i].kind = MS_BT_RULE_APPEND;
            list[i].append = ms_wire_bytes_view(rule->append_value);
            break;
        case GOOGLE__BIGTABLE__V2__READ_MODIFY_WRITE_RULE__RULE_INCREMENT_AMOUNT:
            list[i].kind = MS_BT_RULE_INCREMENT;
            list[i].increment = rule->increment_amount;
            break;
        default:
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'rules' : Error in element #%zu : No rule is "
                                    "set",
                                    i);
        }
    }
    *rules_out = list;
    return MS_BT_OK;
}

ms_pb_read_modify_write_rule **ms_wire_rules_to_pb(const ms_bt_rule *rules, size_t count,
                                                   ms_arena *arena)
{
    ms_pb_read_modify_write_rule **list =
        ms_arena_array(arena, ms_pb_read_modify_write_rule *, count);
    for (size_t i = 0; i < count; i++) {
        list[i] = ms_pb_new(arena, read_modify_write_rule);
        list[i]->family_name = ms_wire_text(arena, rules[i].family);
        list[i]->column_qualifier = ms_wire_bytes(rules[i].qualifier);
        switch (rules[i].kind) {
        case MS_BT_RULE_APPEND:
            list[i]->rule_case = GOOGLE__BIGTABLE__V2__READ_MODIFY_WRITE_RULE__RULE_APPEND_VALUE;
            list[i]->append_value = ms_wire_bytes(rules[i].append);
            break;
        case MS_BT_RULE_INCREMENT:
            list[i]->rule_case =
                GOOGLE__BIGTABLE__V2__READ_MODIFY_WRITE_RULE__RULE_INCREMENT_AMOUNT;
            list[i]->increment_amount = rules[i].increment;
            break;
        }
    }
    return list;
}
