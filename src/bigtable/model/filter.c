/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter tree: making, copying, checking, measuring and showing. How a filter acts on cells is
 * filter_eval's business.
 *
 * Every walk is recursive and bounded: filters made by this folder's makers are as deep as their
 * caller's code, and those from elsewhere pass ms_bt_filter_check first, which stops at the limit.
 */
#include "bigtable/model/filter.h"

#include "bigtable/model/model_priv.h"
#include "bigtable/model/name.h"

/* Name and wire number of each kind; whether the store evaluates it. */
typedef struct filter_kind {
    const char *name;
    uint32_t field;
    bool is_built;
} filter_kind;

static const filter_kind kinds[MS_BT_FILTER_COUNT] = {
    [MS_BT_FILTER_PASS_ALL] = {"pass_all_filter", 17, true},
    [MS_BT_FILTER_BLOCK_ALL] = {"block_all_filter", 18, true},
    [MS_BT_FILTER_CHAIN] = {"chain", 1, true},
    [MS_BT_FILTER_INTERLEAVE] = {"interleave", 2, true},
    [MS_BT_FILTER_CONDITION] = {"condition", 3, false},
    [MS_BT_FILTER_SINK] = {"sink", 16, false},
    [MS_BT_FILTER_ROW_KEY_REGEX] = {"row_key_regex_filter", 4, false},
    [MS_BT_FILTER_ROW_SAMPLE] = {"row_sample_filter", 14, false},
    [MS_BT_FILTER_FAMILY] = {"family", 5, true},
    [MS_BT_FILTER_FAMILY_REGEX] = {"family_name_regex_filter", 5, false},
    [MS_BT_FILTER_QUALIFIER_REGEX] = {"column_qualifier_regex_filter", 6, false},
    [MS_BT_FILTER_COLUMN_RANGE] = {"column_range_filter", 7, false},
    [MS_BT_FILTER_TIMESTAMP_RANGE] = {"timestamp_range_filter", 8, false},
    [MS_BT_FILTER_VALUE_REGEX] = {"value_regex_filter", 9, false},
    [MS_BT_FILTER_VALUE_RANGE] = {"value_range_filter", 15, false},
    [MS_BT_FILTER_VALUE_BITMASK] = {"value_bitmask_filter", 20, false},
    [MS_BT_FILTER_CELLS_PER_ROW_OFFSET] = {"cells_per_row_offset_filter", 10, true},
    [MS_BT_FILTER_CELLS_PER_ROW_LIMIT] = {"cells_per_row_limit_filter", 11, true},
    [MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT] = {"cells_per_column_limit_filter", 12, true},
    [MS_BT_FILTER_STRIP_VALUE] = {"strip_value_transformer", 13, true},
    [MS_BT_FILTER_APPLY_LABEL] = {"apply_label_transformer", 19, false},
};

const char *ms_bt_filter_kind_name(ms_bt_filter_kind kind)
{
    MS_ASSERT((unsigned)kind < MS_BT_FILTER_COUNT);
    return kinds[kind].name;
}

static ms_bt_filter *make(ms_arena *arena, ms_bt_filter_kind kind)
{
    ms_bt_filter *filter = ms_arena_new(arena, ms_bt_filter);
    filter->kind = kind;
    return filter;
}

static const ms_bt_filter *make_count(ms_arena *arena, ms_bt_filter_kind kind, int32_t count)
{
    ms_bt_filter *filter = make(arena, kind);
    filter->count = count;
    return filter;
}

static const ms_bt_filter *make_list(ms_arena *arena, ms_bt_filter_kind kind,
                                     const ms_bt_filter *const *children, size_t count)
{
    if (count == 1) {
        return children[0];
    }
    ms_bt_filter *filter = make(arena, kind);
    const ms_bt_filter **list = ms_arena_array(arena, const ms_bt_filter *, count);
    for (size_t i = 0; i < count; i++) {
        list[i] = children[i];
    }
    filter->children = list;
    filter->child_count = count;
    return filter;
}

const ms_bt_filter *ms_bt_filter_pass_all(ms_arena *arena)
{
    return make(arena, MS_BT_FILTER_PASS_ALL);
}

const ms_bt_filter *ms_bt_filter_block_all(ms_arena *arena)
{
    return make(arena, MS_BT_FILTER_BLOCK_ALL);
}

const ms_bt_filter *ms_bt_filter_family(ms_arena *arena, ms_str family)
{
    ms_bt_filter *filter = make(arena, MS_BT_FILTER_FAMILY);
    filter->text = family;
    return filter;
}

const ms_bt_filter *ms_bt_filter_cells_per_row(ms_arena *arena, int32_t limit)
{
    return make_count(arena, MS_BT_FILTER_CELLS_PER_ROW_LIMIT, limit);
}

const ms_bt_filter *ms_bt_filter_cells_per_row_offset(ms_arena *arena, int32_t offset)
{
    return make_count(arena, MS_BT_FILTER_CELLS_PER_ROW_OFFSET, offset);
}

const ms_bt_filter *ms_bt_filter_cells_per_column(ms_arena *arena, int32_t limit)
{
    return make_count(arena, MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT, limit);
}

const ms_bt_filter *ms_bt_filter_strip_value(ms_arena *arena)
{
    return make(arena, MS_BT_FILTER_STRIP_VALUE);
}

const ms_bt_filter *ms_bt_filter_chain(ms_arena *arena, const ms_bt_filter *const *children,
                                       size_t count)
{
    return make_list(arena, MS_BT_FILTER_CHAIN, children, count);
}

const ms_bt_filter *ms_bt_filter_interleave(ms_arena *arena, const ms_bt_filter *const *children,
                                            size_t count)
{
    return make_list(arena, MS_BT_FILTER_INTERLEAVE, children, count);
}

const ms_bt_filter *ms_bt_filter_families(ms_arena *arena, const ms_str *families, size_t count)
{
    MS_ASSERT(count > 0);
    const ms_bt_filter **list = ms_arena_array(arena, const ms_bt_filter *, count);
    for (size_t i = 0; i < count; i++) {
        list[i] = ms_bt_filter_family(arena, families[i]);
    }
    return ms_bt_filter_interleave(arena, list, count);
}

const ms_bt_filter *ms_bt_filter_copy(ms_arena *arena, const ms_bt_filter *filter)
{
    if (filter == NULL) {
        return NULL;
    }
    ms_bt_filter *copy = make(arena, filter->kind);
    copy->count = filter->count;
    copy->text = ms_arena_copy_str(arena, filter->text);
    const ms_bt_filter **list = ms_arena_array(arena, const ms_bt_filter *, filter->child_count);
    for (size_t i = 0; i < filter->child_count; i++) {
        list[i] = ms_bt_filter_copy(arena, filter->children[i]);
    }
    copy->children = list;
    copy->child_count = filter->child_count;
    return copy;
}

/* Checks. */

static ms_bt_code check_node(const ms_bt_filter *filter, ms_bt_status *bt)
{
    switch (filter->kind) {
    case MS_BT_FILTER_CHAIN:
    case MS_BT_FILTER_INTERLEAVE:
        if (filter->child_count < 2) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "%s must contain at least two RowFilters",
                                    filter->kind == MS_BT_FILTER_CHAIN ? "Chain" : "Interleave");
        }
        break;
    case MS_BT_FILTER_CELLS_PER_ROW_OFFSET:
    case MS_BT_FILTER_CELLS_PER_ROW_LIMIT:
    case MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT:
        if (filter->count <= 0) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field '%s' : argument must be > 0",
                                    kinds[filter->kind].name);
        }
        break;
    case MS_BT_FILTER_PASS_ALL:
    case MS_BT_FILTER_BLOCK_ALL:
    case MS_BT_FILTER_CONDITION:
    case MS_BT_FILTER_SINK:
    case MS_BT_FILTER_ROW_KEY_REGEX:
    case MS_BT_FILTER_ROW_SAMPLE:
    case MS_BT_FILTER_FAMILY:
    case MS_BT_FILTER_FAMILY_REGEX:
    case MS_BT_FILTER_QUALIFIER_REGEX:
    case MS_BT_FILTER_COLUMN_RANGE:
    case MS_BT_FILTER_TIMESTAMP_RANGE:
    case MS_BT_FILTER_VALUE_REGEX:
    case MS_BT_FILTER_VALUE_RANGE:
    case MS_BT_FILTER_VALUE_BITMASK:
    case MS_BT_FILTER_STRIP_VALUE:
    case MS_BT_FILTER_APPLY_LABEL:
    case MS_BT_FILTER_COUNT:
        break;
    }
    return MS_BT_OK;
}

static ms_bt_code check_depth(const ms_bt_filter *filter, unsigned depth, ms_bt_status *bt)
{
    if (depth > MS_BT_LIMIT_FILTER_DEPTH) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Row filter is nested more than %u deep", MS_BT_LIMIT_FILTER_DEPTH);
    }
    MS_BT_TRY(check_node(filter, bt));
    for (size_t i = 0; i < filter->child_count; i++) {
        if (filter->children[i] != NULL) {
            MS_BT_TRY(check_depth(filter->children[i], depth + 1, bt));
        }
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_filter_check(const ms_bt_filter *filter, ms_bt_status *bt)
{
    if (filter == NULL) {
        return MS_BT_OK;
    }
    MS_BT_TRY(check_depth(filter, 1, bt));
    if (ms_bt_filter_wire_bytes(filter) > MS_BT_LIMIT_FILTER_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Row filter exceeds maximum size of %u bytes",
                                MS_BT_LIMIT_FILTER_BYTES);
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_filter_check_built(const ms_bt_filter *filter, ms_bt_status *bt)
{
    if (filter == NULL) {
        return MS_BT_OK;
    }
    if (!kinds[filter->kind].is_built) {
        return ms_bt_status_set(bt, MS_BT_UNIMPLEMENTED, "The filter %s is not supported yet",
                                kinds[filter->kind].name);
    }
    for (size_t i = 0; i < filter->child_count; i++) {
        MS_BT_TRY(ms_bt_filter_check_built(filter->children[i], bt));
    }
    return MS_BT_OK;
}

/* Measuring. */

/* Letters, digits and _ stand for themselves in RE2; '-' and '.' of family names are escaped. */
static size_t escaped_bytes(ms_str family)
{
    size_t bytes = family.bytes;
    for (size_t i = 0; i < family.bytes; i++) {
        bytes += family.ptr[i] == '-' || family.ptr[i] == '.';
    }
    return bytes;
}

size_t ms_bt_filter_wire_bytes(const ms_bt_filter *filter)
{
    if (filter == NULL) {
        return 0;
    }
    uint32_t field = kinds[filter->kind].field;
    switch (filter->kind) {
    case MS_BT_FILTER_CHAIN:
    case MS_BT_FILTER_INTERLEAVE:
    case MS_BT_FILTER_CONDITION: {
        size_t bytes = 0;
        for (size_t i = 0; i < filter->child_count; i++) {
            /* The fields of all three messages have one-byte tags. */
            if (filter->children[i] != NULL) {
                bytes += msi_model_field_bytes(1, ms_bt_filter_wire_bytes(filter->children[i]));
            }
        }
        return msi_model_field_bytes(field, bytes);
    }
    case MS_BT_FILTER_FAMILY:
        return msi_model_field_bytes(field, escaped_bytes(filter->text));
    case MS_BT_FILTER_CELLS_PER_ROW_OFFSET:
    case MS_BT_FILTER_CELLS_PER_ROW_LIMIT:
    case MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT:
        return msi_model_int_field_bytes(field, filter->count);
    case MS_BT_FILTER_PASS_ALL:
    case MS_BT_FILTER_BLOCK_ALL:
    case MS_BT_FILTER_SINK:
    case MS_BT_FILTER_STRIP_VALUE:
        return msi_model_int_field_bytes(field, 1);
    case MS_BT_FILTER_ROW_KEY_REGEX:
    case MS_BT_FILTER_ROW_SAMPLE:
    case MS_BT_FILTER_FAMILY_REGEX:
    case MS_BT_FILTER_QUALIFIER_REGEX:
    case MS_BT_FILTER_COLUMN_RANGE:
    case MS_BT_FILTER_TIMESTAMP_RANGE:
    case MS_BT_FILTER_VALUE_REGEX:
    case MS_BT_FILTER_VALUE_RANGE:
    case MS_BT_FILTER_VALUE_BITMASK:
    case MS_BT_FILTER_APPLY_LABEL:
    case MS_BT_FILTER_COUNT:
        break;
    }
    return msi_model_field_bytes(field, filter->text.bytes);
}

/* Showing. */

static bool has_count(ms_bt_filter_kind kind)
{
    return kind == MS_BT_FILTER_CELLS_PER_ROW_OFFSET || kind == MS_BT_FILTER_CELLS_PER_ROW_LIMIT ||
           kind == MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT;
}

/* The service's name without the word that says that it is a filter. */
static ms_str short_name(ms_bt_filter_kind kind)
{
    ms_str name = ms_str_cstr(kinds[kind].name);
    const ms_str endings[] = {ms_str_lit("_filter"), ms_str_lit("_transformer")};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (ms_str_ends_with(name, endings[i])) {
            return ms_str_slice(name, 0, name.bytes - endings[i].bytes);
        }
    }
    return name;
}

ms_rc ms_bt_filter_render(const ms_bt_filter *filter, ms_buf *buf, ms_status *st)
{
    if (filter == NULL) {
        return ms_buf_append(buf, ms_str_lit("pass_all"), st);
    }
    MS_TRY(ms_buf_append(buf, short_name(filter->kind), st));
    if (has_count(filter->kind)) {
        return ms_buf_format(buf, st, "(%d)", (int)filter->count);
    }
    if (filter->child_count == 0) {
        char text[256];
        return filter->text.bytes == 0
                   ? MS_OK
                   : ms_buf_format(buf, st, "(%s)",
                                   ms_bt_bytes_text(filter->text, text, sizeof(text)));
    }
    for (size_t i = 0; i < filter->child_count; i++) {
        MS_TRY(ms_buf_append(buf, i == 0 ? ms_str_lit("(") : ms_str_lit(", "), st));
        MS_TRY(ms_bt_filter_render(filter->children[i], buf, st));
    }
    return ms_buf_append_byte(buf, ')', st);
}
