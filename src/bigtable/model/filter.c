/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter tree: making, copying, measuring and showing. The service's rules are in
 * filter_check.c; how a filter acts on cells is filter_run's business.
 *
 * Every walk is recursive and bounded: filters made by this folder's makers are as deep as their
 * caller's code, and those from elsewhere were bounded by whoever unpacked them.
 */
#include "bigtable/model/filter.h"

#include "bigtable/model/filter_priv.h"
#include "bigtable/model/model_priv.h"
#include "bigtable/model/name.h"

/* Name and wire number of each kind. */
typedef struct filter_kind {
    const char *name;
    uint32_t field;
} filter_kind;

static const filter_kind kinds[MS_BT_FILTER_COUNT] = {
    [MS_BT_FILTER_PASS_ALL] = {"pass_all_filter", 17},
    [MS_BT_FILTER_BLOCK_ALL] = {"block_all_filter", 18},
    [MS_BT_FILTER_CHAIN] = {"chain", 1},
    [MS_BT_FILTER_INTERLEAVE] = {"interleave", 2},
    [MS_BT_FILTER_CONDITION] = {"condition", 3},
    [MS_BT_FILTER_SINK] = {"sink", 16},
    [MS_BT_FILTER_ROW_KEY_REGEX] = {"row_key_regex_filter", 4},
    [MS_BT_FILTER_ROW_SAMPLE] = {"row_sample_filter", 14},
    [MS_BT_FILTER_FAMILY] = {"family", 5},
    [MS_BT_FILTER_FAMILY_REGEX] = {"family_name_regex_filter", 5},
    [MS_BT_FILTER_QUALIFIER_REGEX] = {"column_qualifier_regex_filter", 6},
    [MS_BT_FILTER_COLUMN_RANGE] = {"column_range_filter", 7},
    [MS_BT_FILTER_TIMESTAMP_RANGE] = {"timestamp_range_filter", 8},
    [MS_BT_FILTER_VALUE_REGEX] = {"value_regex_filter", 9},
    [MS_BT_FILTER_VALUE_RANGE] = {"value_range_filter", 15},
    [MS_BT_FILTER_VALUE_BITMASK] = {"value_bitmask_filter", 20},
    [MS_BT_FILTER_CELLS_PER_ROW_OFFSET] = {"cells_per_row_offset_filter", 10},
    [MS_BT_FILTER_CELLS_PER_ROW_LIMIT] = {"cells_per_row_limit_filter", 11},
    [MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT] = {"cells_per_column_limit_filter", 12},
    [MS_BT_FILTER_STRIP_VALUE] = {"strip_value_transformer", 13},
    [MS_BT_FILTER_APPLY_LABEL] = {"apply_label_transformer", 19},
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

static const ms_bt_filter *make_text(ms_arena *arena, ms_bt_filter_kind kind, ms_str text)
{
    ms_bt_filter *filter = make(arena, kind);
    filter->text = text;
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

const ms_bt_filter *ms_bt_filter_strip_value(ms_arena *arena)
{
    return make(arena, MS_BT_FILTER_STRIP_VALUE);
}

const ms_bt_filter *ms_bt_filter_sink(ms_arena *arena)
{
    return make(arena, MS_BT_FILTER_SINK);
}

const ms_bt_filter *ms_bt_filter_flag(ms_arena *arena, ms_bt_filter_kind kind, bool value)
{
    MS_ASSERT(msi_filter_is_flag(kind));
    ms_bt_filter *filter = make(arena, kind);
    filter->is_false = !value;
    return filter;
}

const ms_bt_filter *ms_bt_filter_family(ms_arena *arena, ms_str family)
{
    return make_text(arena, MS_BT_FILTER_FAMILY, family);
}

const ms_bt_filter *ms_bt_filter_regex(ms_arena *arena, ms_bt_filter_kind kind, ms_str pattern)
{
    MS_ASSERT(msi_filter_is_regex(kind));
    return make_text(arena, kind, pattern);
}

const ms_bt_filter *ms_bt_filter_value_bitmask(ms_arena *arena, ms_str mask)
{
    return make_text(arena, MS_BT_FILTER_VALUE_BITMASK, mask);
}

const ms_bt_filter *ms_bt_filter_apply_label(ms_arena *arena, ms_str label)
{
    return make_text(arena, MS_BT_FILTER_APPLY_LABEL, label);
}

const ms_bt_filter *ms_bt_filter_row_sample(ms_arena *arena, double probability)
{
    ms_bt_filter *filter = make(arena, MS_BT_FILTER_ROW_SAMPLE);
    filter->probability = probability;
    return filter;
}

const ms_bt_filter *ms_bt_filter_column_range(ms_arena *arena, ms_str family,
                                              const ms_bt_range *qualifiers)
{
    ms_bt_filter *filter = make(arena, MS_BT_FILTER_COLUMN_RANGE);
    filter->text = family;
    filter->bounds = *qualifiers;
    return filter;
}

const ms_bt_filter *ms_bt_filter_value_range(ms_arena *arena, const ms_bt_range *values)
{
    ms_bt_filter *filter = make(arena, MS_BT_FILTER_VALUE_RANGE);
    filter->bounds = *values;
    return filter;
}

const ms_bt_filter *ms_bt_filter_timestamp_range(ms_arena *arena, int64_t start_micros,
                                                 int64_t end_micros)
{
    ms_bt_filter *filter = make(arena, MS_BT_FILTER_TIMESTAMP_RANGE);
    filter->start_micros = start_micros;
    filter->end_micros = end_micros;
    return filter;
}

const ms_bt_filter *ms_bt_filter_cells(ms_arena *arena, ms_bt_filter_kind kind, int32_t count)
{
    MS_ASSERT(msi_filter_is_count(kind));
    ms_bt_filter *filter = make(arena, kind);
    filter->count = count;
    return filter;
}

const ms_bt_filter *ms_bt_filter_cells_per_row(ms_arena *arena, int32_t limit)
{
    return ms_bt_filter_cells(arena, MS_BT_FILTER_CELLS_PER_ROW_LIMIT, limit);
}

const ms_bt_filter *ms_bt_filter_cells_per_row_offset(ms_arena *arena, int32_t offset)
{
    return ms_bt_filter_cells(arena, MS_BT_FILTER_CELLS_PER_ROW_OFFSET, offset);
}

const ms_bt_filter *ms_bt_filter_cells_per_column(ms_arena *arena, int32_t limit)
{
    return ms_bt_filter_cells(arena, MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT, limit);
}

static const ms_bt_filter *make_parent(ms_arena *arena, ms_bt_filter_kind kind,
                                       const ms_bt_filter *const *children, size_t count)
{
    ms_bt_filter *filter = make(arena, kind);
    const ms_bt_filter **list = ms_arena_array(arena, const ms_bt_filter *, count);
    for (size_t i = 0; i < count; i++) {
        list[i] = children[i];
    }
    filter->children = list;
    filter->child_count = count;
    return filter;
}

const ms_bt_filter *ms_bt_filter_condition(ms_arena *arena, const ms_bt_filter *predicate,
                                           const ms_bt_filter *then, const ms_bt_filter *otherwise)
{
    const ms_bt_filter *children[MSI_CONDITION_CHILDREN] = {predicate, then, otherwise};
    return make_parent(arena, MS_BT_FILTER_CONDITION, children, MSI_CONDITION_CHILDREN);
}

const ms_bt_filter *ms_bt_filter_list(ms_arena *arena, ms_bt_filter_kind kind,
                                      const ms_bt_filter *const *children, size_t count)
{
    MS_ASSERT(kind == MS_BT_FILTER_CHAIN || kind == MS_BT_FILTER_INTERLEAVE);
    return make_parent(arena, kind, children, count);
}

const ms_bt_filter *ms_bt_filter_chain(ms_arena *arena, const ms_bt_filter *const *children,
                                       size_t count)
{
    return count == 1 ? children[0] : ms_bt_filter_list(arena, MS_BT_FILTER_CHAIN, children, count);
}

const ms_bt_filter *ms_bt_filter_interleave(ms_arena *arena, const ms_bt_filter *const *children,
                                            size_t count)
{
    return count == 1 ? children[0]
                      : ms_bt_filter_list(arena, MS_BT_FILTER_INTERLEAVE, children, count);
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
    *copy = *filter;
    copy->text = ms_arena_copy_str(arena, filter->text);
    copy->bounds.start.key = ms_arena_copy_str(arena, filter->bounds.start.key);
    copy->bounds.end.key = ms_arena_copy_str(arena, filter->bounds.end.key);
    const ms_bt_filter **list = ms_arena_array(arena, const ms_bt_filter *, filter->child_count);
    for (size_t i = 0; i < filter->child_count; i++) {
        list[i] = ms_bt_filter_copy(arena, filter->children[i]);
    }
    copy->children = list;
    return copy;
}

/* Measuring. */

/* Letters, digits, _ and what is not ASCII stand for themselves; NUL has no short escape that a
 * digit behind it could not lengthen. */
static size_t quoted_byte(char c, char *to)
{
    unsigned char byte = (unsigned char)c;
    bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                    (byte >= '0' && byte <= '9') || byte == '_' || byte >= 0x80;
    if (byte == 0) {
        memcpy(to, "\\x00", 4);
        return 4;
    }
    to[0] = '\\';
    to[is_plain ? 0 : 1] = c;
    return is_plain ? 1 : 2;
}

ms_str ms_bt_filter_quote(ms_arena *arena, ms_str literal)
{
    char *text = ms_arena_alloc(arena, literal.bytes * 4, 1);
    size_t bytes = 0;
    for (size_t i = 0; i < literal.bytes; i++) {
        bytes += quoted_byte(literal.ptr[i], text + bytes);
    }
    return ms_str_make(text, bytes);
}

static size_t quoted_bytes(ms_str literal)
{
    char byte[4];
    size_t bytes = 0;
    for (size_t i = 0; i < literal.bytes; i++) {
        bytes += quoted_byte(literal.ptr[i], byte);
    }
    return bytes;
}

/* The numbers of the fields below do not matter: all have tags of one byte. */

/* A field that is left out when it is empty, resp. 0. */
static size_t plain_bytes(ms_str text)
{
    return text.bytes == 0 ? 0 : msi_model_field_bytes(1, text.bytes);
}

static size_t plain_int_bytes(int64_t value)
{
    return value == 0 ? 0 : msi_model_int_field_bytes(1, value);
}

static size_t bounds_bytes(const ms_bt_range *range)
{
    const ms_bt_bound *bounds[] = {&range->start, &range->end};
    size_t bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        if (bounds[i]->kind != MS_BT_BOUND_NONE) {
            bytes += msi_model_field_bytes(1, bounds[i]->key.bytes);
        }
    }
    return bytes;
}

static size_t children_bytes(const ms_bt_filter *filter)
{
    size_t bytes = 0;
    for (size_t i = 0; i < filter->child_count; i++) {
        if (filter->children[i] != NULL || filter->kind != MS_BT_FILTER_CONDITION) {
            bytes += msi_model_field_bytes(1, ms_bt_filter_wire_bytes(filter->children[i]));
        }
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
    case MS_BT_FILTER_CONDITION:
        return msi_model_field_bytes(field, children_bytes(filter));
    case MS_BT_FILTER_FAMILY:
        return msi_model_field_bytes(field, quoted_bytes(filter->text));
    case MS_BT_FILTER_CELLS_PER_ROW_OFFSET:
    case MS_BT_FILTER_CELLS_PER_ROW_LIMIT:
    case MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT:
        return msi_model_int_field_bytes(field, filter->count);
    case MS_BT_FILTER_PASS_ALL:
    case MS_BT_FILTER_BLOCK_ALL:
    case MS_BT_FILTER_SINK:
    case MS_BT_FILTER_STRIP_VALUE:
        return msi_model_int_field_bytes(field, filter->is_false ? 0 : 1);
    case MS_BT_FILTER_ROW_SAMPLE:
        return msi_model_tag_bytes(field) + sizeof(filter->probability);
    case MS_BT_FILTER_COLUMN_RANGE:
        return msi_model_field_bytes(field,
                                     plain_bytes(filter->text) + bounds_bytes(&filter->bounds));
    case MS_BT_FILTER_VALUE_RANGE:
        return msi_model_field_bytes(field, bounds_bytes(&filter->bounds));
    case MS_BT_FILTER_TIMESTAMP_RANGE:
        return msi_model_field_bytes(field, plain_int_bytes(filter->start_micros) +
                                                plain_int_bytes(filter->end_micros));
    case MS_BT_FILTER_VALUE_BITMASK:
        return msi_model_field_bytes(field, plain_bytes(filter->text));
    case MS_BT_FILTER_ROW_KEY_REGEX:
    case MS_BT_FILTER_FAMILY_REGEX:
    case MS_BT_FILTER_QUALIFIER_REGEX:
    case MS_BT_FILTER_VALUE_REGEX:
    case MS_BT_FILTER_APPLY_LABEL:
    case MS_BT_FILTER_COUNT:
        break;
    }
    return msi_model_field_bytes(field, filter->text.bytes);
}

/* Showing. */

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

static ms_rc render_text(const ms_bt_filter *filter, ms_buf *buf, ms_status *st)
{
    char text[256];
    return ms_buf_format(buf, st, "(%s", ms_bt_bytes_text(filter->text, text, sizeof(text)));
}

/* What is between the parentheses, with the first of them. */
static ms_rc render_fields(const ms_bt_filter *filter, ms_buf *buf, ms_status *st)
{
    if (filter->child_count > 0) {
        for (size_t i = 0; i < filter->child_count; i++) {
            MS_TRY(ms_buf_append(buf, i == 0 ? ms_str_lit("(") : ms_str_lit(", "), st));
            bool is_no_branch =
                filter->children[i] == NULL && i > 0 && filter->kind == MS_BT_FILTER_CONDITION;
            MS_TRY(is_no_branch ? ms_buf_append(buf, ms_str_lit("none"), st)
                                : ms_bt_filter_render(filter->children[i], buf, st));
        }
        return MS_OK;
    }
    if (msi_filter_is_count(filter->kind)) {
        return ms_buf_format(buf, st, "(%d", (int)filter->count);
    }
    if (filter->kind == MS_BT_FILTER_ROW_SAMPLE) {
        return ms_buf_format(buf, st, "(%.17g", filter->probability);
    }
    if (filter->kind == MS_BT_FILTER_TIMESTAMP_RANGE) {
        MS_TRY(ms_buf_format(buf, st, "([%lld,", (long long)filter->start_micros));
        return filter->end_micros == 0
                   ? ms_buf_append(buf, ms_str_lit("*)"), st)
                   : ms_buf_format(buf, st, "%lld)", (long long)filter->end_micros);
    }
    if (filter->kind == MS_BT_FILTER_VALUE_RANGE) {
        MS_TRY(ms_buf_append_byte(buf, '(', st));
        return ms_bt_range_render(&filter->bounds, buf, st);
    }
    MS_TRY(render_text(filter, buf, st));
    if (filter->kind == MS_BT_FILTER_COLUMN_RANGE) {
        MS_TRY(ms_buf_append_byte(buf, ' ', st));
        return ms_bt_range_render(&filter->bounds, buf, st);
    }
    return MS_OK;
}

ms_rc ms_bt_filter_render(const ms_bt_filter *filter, ms_buf *buf, ms_status *st)
{
    if (filter == NULL) {
        return ms_buf_append(buf, ms_str_lit("pass_all"), st);
    }
    MS_TRY(ms_buf_append(buf, short_name(filter->kind), st));
    if (msi_filter_is_flag(filter->kind)) {
        return filter->is_false ? ms_buf_append(buf, ms_str_lit("(false)"), st) : MS_OK;
    }
    MS_TRY(render_fields(filter, buf, st));
    return ms_buf_append_byte(buf, ')', st);
}
