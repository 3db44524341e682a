/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters as messages. Both walks recurse; messages are at most MS_WIRE_DEPTH_MAX deep, and filters
 * of ours as deep as ms_bt_filter_check allows.
 */
#include "bigtable/wire/filter.h"

/* Short names for what protoc-c calls the fields of the oneof. */
#define CASE(name) GOOGLE__BIGTABLE__V2__ROW_FILTER__FILTER_##name

/* What a kind is called on the wire, and how its field is filled. Members of the oneof that have
 * one type share one place. */
typedef enum field_form {
    FORM_MESSAGE,
    FORM_FLAG,
    FORM_BYTES,
    FORM_TEXT,
    FORM_COUNT,
    FORM_PROBABILITY,
    FORM_LITERAL /* the text as a regular expression that matches nothing else */
} field_form;

static const struct {
    int field;
    field_form form;
} forms[MS_BT_FILTER_COUNT] = {
    [MS_BT_FILTER_PASS_ALL] = {CASE(PASS_ALL_FILTER), FORM_FLAG},
    [MS_BT_FILTER_BLOCK_ALL] = {CASE(BLOCK_ALL_FILTER), FORM_FLAG},
    [MS_BT_FILTER_CHAIN] = {CASE(CHAIN), FORM_MESSAGE},
    [MS_BT_FILTER_INTERLEAVE] = {CASE(INTERLEAVE), FORM_MESSAGE},
    [MS_BT_FILTER_CONDITION] = {CASE(CONDITION), FORM_MESSAGE},
    [MS_BT_FILTER_SINK] = {CASE(SINK), FORM_FLAG},
    [MS_BT_FILTER_ROW_KEY_REGEX] = {CASE(ROW_KEY_REGEX_FILTER), FORM_BYTES},
    [MS_BT_FILTER_ROW_SAMPLE] = {CASE(ROW_SAMPLE_FILTER), FORM_PROBABILITY},
    [MS_BT_FILTER_FAMILY] = {CASE(FAMILY_NAME_REGEX_FILTER), FORM_LITERAL},
    [MS_BT_FILTER_FAMILY_REGEX] = {CASE(FAMILY_NAME_REGEX_FILTER), FORM_TEXT},
    [MS_BT_FILTER_QUALIFIER_REGEX] = {CASE(COLUMN_QUALIFIER_REGEX_FILTER), FORM_BYTES},
    [MS_BT_FILTER_COLUMN_RANGE] = {CASE(COLUMN_RANGE_FILTER), FORM_MESSAGE},
    [MS_BT_FILTER_TIMESTAMP_RANGE] = {CASE(TIMESTAMP_RANGE_FILTER), FORM_MESSAGE},
    [MS_BT_FILTER_VALUE_REGEX] = {CASE(VALUE_REGEX_FILTER), FORM_BYTES},
    [MS_BT_FILTER_VALUE_RANGE] = {CASE(VALUE_RANGE_FILTER), FORM_MESSAGE},
    [MS_BT_FILTER_VALUE_BITMASK] = {CASE(VALUE_BITMASK_FILTER), FORM_MESSAGE},
    [MS_BT_FILTER_CELLS_PER_ROW_OFFSET] = {CASE(CELLS_PER_ROW_OFFSET_FILTER), FORM_COUNT},
    [MS_BT_FILTER_CELLS_PER_ROW_LIMIT] = {CASE(CELLS_PER_ROW_LIMIT_FILTER), FORM_COUNT},
    [MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT] = {CASE(CELLS_PER_COLUMN_LIMIT_FILTER), FORM_COUNT},
    [MS_BT_FILTER_STRIP_VALUE] = {CASE(STRIP_VALUE_TRANSFORMER), FORM_FLAG},
    [MS_BT_FILTER_APPLY_LABEL] = {CASE(APPLY_LABEL_TRANSFORMER), FORM_TEXT},
};

/* From messages. */

static const ms_bt_filter *list_from_pb(ms_bt_filter_kind kind, ms_pb_row_filter *const *filters,
                                        size_t count, ms_arena *arena)
{
    const ms_bt_filter **children = ms_arena_array(arena, const ms_bt_filter *, count);
    for (size_t i = 0; i < count; i++) {
        children[i] = ms_wire_filter_from_pb(filters[i], arena);
    }
    return ms_bt_filter_list(arena, kind, children, count);
}

static const ms_bt_filter *condition_from_pb(const ms_pb_row_filter_condition *condition,
                                             ms_arena *arena)
{
    return ms_bt_filter_condition(arena, ms_wire_filter_from_pb(condition->predicate_filter, arena),
                                  ms_wire_filter_from_pb(condition->true_filter, arena),
                                  ms_wire_filter_from_pb(condition->false_filter, arena));
}

static const ms_bt_filter *column_range_from_pb(const ms_pb_column_range *range, ms_arena *arena)
{
    ms_bt_range bounds = {0};
    switch ((int)range->start_qualifier_case) {
    case GOOGLE__BIGTABLE__V2__COLUMN_RANGE__START_QUALIFIER_START_QUALIFIER_CLOSED:
        bounds.start =
            (ms_bt_bound){MS_BT_BOUND_CLOSED, ms_wire_bytes_view(range->start_qualifier_closed)};
        break;
    case GOOGLE__BIGTABLE__V2__COLUMN_RANGE__START_QUALIFIER_START_QUALIFIER_OPEN:
        bounds.start =
            (ms_bt_bound){MS_BT_BOUND_OPEN, ms_wire_bytes_view(range->start_qualifier_open)};
        break;
    default:
        break;
    }
    switch ((int)range->end_qualifier_case) {
    case GOOGLE__BIGTABLE__V2__COLUMN_RANGE__END_QUALIFIER_END_QUALIFIER_CLOSED:
        bounds.end =
            (ms_bt_bound){MS_BT_BOUND_CLOSED, ms_wire_bytes_view(range->end_qualifier_closed)};
        break;
    case GOOGLE__BIGTABLE__V2__COLUMN_RANGE__END_QUALIFIER_END_QUALIFIER_OPEN:
        bounds.end = (ms_bt_bound){MS_BT_BOUND_OPEN, ms_wire_bytes_view(range->end_qualifier_open)};
        break;
    default:
        break;
    }
    return ms_bt_filter_column_range(arena, ms_wire_text_view(range->family_name), &bounds);
}

static const ms_bt_filter *value_range_from_pb(const ms_pb_value_range *range, ms_arena *arena)
{
    ms_bt_range bounds = {0};
    switch ((int)range->start_value_case) {
    case GOOGLE__BIGTABLE__V2__VALUE_RANGE__START_VALUE_START_VALUE_CLOSED:
        bounds.start =
            (ms_bt_bound){MS_BT_BOUND_CLOSED, ms_wire_bytes_view(range->start_value_closed)};
        break;
    case GOOGLE__BIGTABLE__V2__VALUE_RANGE__START_VALUE_START_VALUE_OPEN:
        bounds.start = (ms_bt_bound){MS_BT_BOUND_OPEN, ms_wire_bytes_view(range->start_value_open)};
        break;
    default:
        break;
    }
    switch ((int)range->end_value_case) {
    case GOOGLE__BIGTABLE__V2__VALUE_RANGE__END_VALUE_END_VALUE_CLOSED:
        bounds.end = (ms_bt_bound){MS_BT_BOUND_CLOSED, ms_wire_bytes_view(range->end_value_closed)};
        break;
    case GOOGLE__BIGTABLE__V2__VALUE_RANGE__END_VALUE_END_VALUE_OPEN:
        bounds.end = (ms_bt_bound){MS_BT_BOUND_OPEN, ms_wire_bytes_view(range->end_value_open)};
        break;
    default:
        break;
    }
    return ms_bt_filter_value_range(arena, &bounds);
}

/* The kinds that are messages of their own. */
static const ms_bt_filter *message_from_pb(ms_bt_filter_kind kind, const ms_pb_row_filter *message,
                                           ms_arena *arena)
{
    switch ((int)message->filter_case) {
    case CASE(CHAIN):
        return list_from_pb(kind, message->chain->filters, message->chain->n_filters, arena);
    case CASE(INTERLEAVE):
        return list_from_pb(kind, message->interleave->filters, message->interleave->n_filters,
                            arena);
    case CASE(CONDITION):
        return condition_from_pb(message->condition, arena);
    case CASE(COLUMN_RANGE_FILTER):
        return column_range_from_pb(message->column_range_filter, arena);
    case CASE(TIMESTAMP_RANGE_FILTER):
        return ms_bt_filter_timestamp_range(arena,
                                            message->timestamp_range_filter->start_timestamp_micros,
                                            message->timestamp_range_filter->end_timestamp_micros);
    case CASE(VALUE_RANGE_FILTER):
        return value_range_from_pb(message->value_range_filter, arena);
    default:
        return ms_bt_filter_value_bitmask(arena,
                                          ms_wire_bytes_view(message->value_bitmask_filter->mask));
    }
}

/* The kind of a field; MS_BT_FILTER_COUNT when nothing is set. */
static ms_bt_filter_kind kind_of(int field)
{
    unsigned kind = 0;
    while (kind < MS_BT_FILTER_COUNT &&
           (forms[kind].field != field || forms[kind].form == FORM_LITERAL)) {
        kind++;
    }
    return (ms_bt_filter_kind)kind;
}

const ms_bt_filter *ms_wire_filter_from_pb(const ms_pb_row_filter *message, ms_arena *arena)
{
    if (message == NULL) {
        return NULL;
    }
    ms_bt_filter_kind kind = kind_of((int)message->filter_case);
    if (kind == MS_BT_FILTER_COUNT) {
        return ms_bt_filter_pass_all(arena);
    }
    switch (forms[kind].form) {
    case FORM_MESSAGE:
        return message_from_pb(kind, message, arena);
    case FORM_FLAG:
        return ms_bt_filter_flag(arena, kind, message->pass_all_filter);
    case FORM_BYTES:
        return ms_bt_filter_regex(arena, kind, ms_wire_bytes_view(message->row_key_regex_filter));
    case FORM_TEXT: {
        ms_str text = ms_wire_text_view(message->apply_label_transformer);
        return kind == MS_BT_FILTER_APPLY_LABEL ? ms_bt_filter_apply_label(arena, text)
                                                : ms_bt_filter_regex(arena, kind, text);
    }
    case FORM_COUNT:
        return ms_bt_filter_cells(arena, kind, message->cells_per_row_limit_filter);
    case FORM_PROBABILITY:
        return ms_bt_filter_row_sample(arena, message->row_sample_filter);
    case FORM_LITERAL:
        break;
    }
    MS_UNREACHABLE();
}

/* To messages. */

static ms_pb_row_filter **list_to_pb(const ms_bt_filter *filter, ms_arena *arena)
{
    ms_pb_row_filter **filters = ms_arena_array(arena, ms_pb_row_filter *, filter->child_count);
    for (size_t i = 0; i < filter->child_count; i++) {
        const ms_bt_filter *child = filter->children[i];
        filters[i] =
            child == NULL ? ms_pb_new(arena, row_filter) : ms_wire_filter_to_pb(child, arena);
    }
    return filters;
}

static ms_pb_row_filter_condition *condition_to_pb(const ms_bt_filter *filter, ms_arena *arena)
{
    ms_pb_row_filter_condition *condition = ms_pb_new(arena, row_filter_condition);
    condition->predicate_filter = ms_wire_filter_to_pb(filter->children[0], arena);
    condition->true_filter = ms_wire_filter_to_pb(filter->children[1], arena);
    condition->false_filter = ms_wire_filter_to_pb(filter->children[2], arena);
    return condition;
}

static ms_pb_column_range *column_range_to_pb(const ms_bt_filter *filter, ms_arena *arena)
{
    ms_pb_column_range *range = ms_pb_new(arena, column_range);
    range->family_name = ms_wire_text(arena, filter->text);
    /* The members of a oneof of bytes share their place. */
    if (filter->bounds.start.kind != MS_BT_BOUND_NONE) {
        range->start_qualifier_closed = ms_wire_bytes(filter->bounds.start.key);
        range->start_qualifier_case =
            filter->bounds.start.kind == MS_BT_BOUND_CLOSED
                ? GOOGLE__BIGTABLE__V2__COLUMN_RANGE__START_QUALIFIER_START_QUALIFIER_CLOSED
                : GOOGLE__BIGTABLE__V2__COLUMN_RANGE__START_QUALIFIER_START_QUALIFIER_OPEN;
    }
    if (filter->bounds.end.kind != MS_BT_BOUND_NONE) {
        range->end_qualifier_closed = ms_wire_bytes(filter->bounds.end.key);
        range->end_qualifier_case =
            filter->bounds.end.kind == MS_BT_BOUND_CLOSED
                ? GOOGLE__BIGTABLE__V2__COLUMN_RANGE__END_QUALIFIER_END_QUALIFIER_CLOSED
                : GOOGLE__BIGTABLE__V2__COLUMN_RANGE__END_QUALIFIER_END_QUALIFIER_OPEN;
    }
    return range;
}

static ms_pb_value_range *value_range_to_pb(const ms_bt_filter *filter, ms_arena *arena)
{
    ms_pb_value_range *range = ms_pb_new(arena, value_range);
    if (filter->bounds.start.kind != MS_BT_BOUND_NONE) {
        range->start_value_closed = ms_wire_bytes(filter->bounds.start.key);
        range->start_value_case =
            filter->bounds.start.kind == MS_BT_BOUND_CLOSED
                ? GOOGLE__BIGTABLE__V2__VALUE_RANGE__START_VALUE_START_VALUE_CLOSED
                : GOOGLE__BIGTABLE__V2__VALUE_RANGE__START_VALUE_START_VALUE_OPEN;
    }
    if (filter->bounds.end.kind != MS_BT_BOUND_NONE) {
        range->end_value_closed = ms_wire_bytes(filter->bounds.end.key);
        range->end_value_case = filter->bounds.end.kind == MS_BT_BOUND_CLOSED
                                    ? GOOGLE__BIGTABLE__V2__VALUE_RANGE__END_VALUE_END_VALUE_CLOSED
                                    : GOOGLE__BIGTABLE__V2__VALUE_RANGE__END_VALUE_END_VALUE_OPEN;
    }
    return range;
}

/* The kinds that are messages of their own. */
static void message_to_pb(const ms_bt_filter *filter, ms_pb_row_filter *message, ms_arena *arena)
{
    switch (filter->kind) {
    case MS_BT_FILTER_CHAIN:
        message->chain = ms_pb_new(arena, row_filter_chain);
        message->chain->filters = list_to_pb(filter, arena);
        message->chain->n_filters = filter->child_count;
        break;
    case MS_BT_FILTER_INTERLEAVE:
        message->interleave = ms_pb_new(arena, row_filter_interleave);
        message->interleave->filters = list_to_pb(filter, arena);
        message->interleave->n_filters = filter->child_count;
        break;
    case MS_BT_FILTER_CONDITION:
        message->condition = condition_to_pb(filter, arena);
        break;
    case MS_BT_FILTER_COLUMN_RANGE:
        message->column_range_filter = column_range_to_pb(filter, arena);
        break;
    case MS_BT_FILTER_TIMESTAMP_RANGE:
        message->timestamp_range_filter = ms_pb_new(arena, timestamp_range);
        message->timestamp_range_filter->start_timestamp_micros = filter->start_micros;
        message->timestamp_range_filter->end_timestamp_micros = filter->end_micros;
        break;
    case MS_BT_FILTER_VALUE_RANGE:
        message->value_range_filter = value_range_to_pb(filter, arena);
        break;
    case MS_BT_FILTER_VALUE_BITMASK:
        message->value_bitmask_filter = ms_pb_new(arena, value_bitmask);
        message->value_bitmask_filter->mask = ms_wire_bytes(filter->text);
        break;
    case MS_BT_FILTER_PASS_ALL:
    case MS_BT_FILTER_BLOCK_ALL:
    case MS_BT_FILTER_SINK:
    case MS_BT_FILTER_ROW_KEY_REGEX:
    case MS_BT_FILTER_ROW_SAMPLE:
    case MS_BT_FILTER_FAMILY:
    case MS_BT_FILTER_FAMILY_REGEX:
    case MS_BT_FILTER_QUALIFIER_REGEX:
    case MS_BT_FILTER_VALUE_REGEX:
    case MS_BT_FILTER_CELLS_PER_ROW_OFFSET:
    case MS_BT_FILTER_CELLS_PER_ROW_LIMIT:
    case MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT:
    case MS_BT_FILTER_STRIP_VALUE:
    case MS_BT_FILTER_APPLY_LABEL:
    case MS_BT_FILTER_COUNT:
        MS_UNREACHABLE();
    }
}

ms_pb_row_filter *ms_wire_filter_to_pb(const ms_bt_filter *filter, ms_arena *arena)
{
    if (filter == NULL) {
        return NULL;
    }
    ms_pb_row_filter *message = ms_pb_new(arena, row_filter);
    message->filter_case = (Google__Bigtable__V2__RowFilter__FilterCase)forms[filter->kind].field;
    switch (forms[filter->kind].form) {
    case FORM_MESSAGE:
        message_to_pb(filter, message, arena);
        break;
    case FORM_FLAG:
        message->pass_all_filter = !filter->is_false;
        break;
    case FORM_BYTES:
        message->row_key_regex_filter = ms_wire_bytes(filter->text);
        break;
    case FORM_TEXT:
        message->apply_label_transformer = ms_wire_text(arena, filter->text);
        break;
    case FORM_COUNT:
        message->cells_per_row_limit_filter = filter->count;
        break;
    case FORM_PROBABILITY:
        message->row_sample_filter = filter->probability;
        break;
    case FORM_LITERAL:
        message->family_name_regex_filter =
            ms_wire_text(arena, ms_bt_filter_quote(arena, filter->text));
        break;
    }
    return message;
}
