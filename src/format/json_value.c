/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens and nodes of JSON as values, by Flink's rules: BOOLEAN never fails, INT and BIGINT take a
 * fractional number and cut it, numbers in quotes are read as numbers, a STRING takes anything.
 */
#include "format/json_priv.h"

#include "base/map.h"
#include "type/decimal.h"

/* The bounds of an integer type by its physical form. */
static void integer_range(const ms_type *type, int64_t *min_out, int64_t *max_out)
{
    int bits = type->phys == MS_PHYS_I8 ? 8 : type->phys == MS_PHYS_I16 ? 16 : 64;
    bits = type->phys == MS_PHYS_I32 ? 32 : bits;
    *max_out = INT64_MAX >> (64 - bits);
    *min_out = -*max_out - 1;
}

/*
 * The whole part of a number as JSON writes it: the digits before the point once the exponent has
 * moved it. False beyond int64.
 */
static bool whole_part(ms_str text, int64_t *i_out)
{
    bool is_negative = text.ptr[0] == '-';
    size_t e = is_negative ? 1 : 0;
    int64_t exponent = 0;
    int64_t point = -1; /* digits before it; -1: none seen */
    int64_t digits = 0;
    for (; e < text.bytes && text.ptr[e] != 'e' && text.ptr[e] != 'E'; e++) {
        point = text.ptr[e] == '.' ? digits : point;
        digits += text.ptr[e] == '.' ? 0 : 1;
    }
    if (e < text.bytes && !ms_text_parse_i64(ms_str_slice(text, e + 1, text.bytes), &exponent)) {
        exponent = text.ptr[e + 1] == '-' ? -INT32_MAX : INT32_MAX;
    }
    exponent = exponent > INT32_MAX ? INT32_MAX : exponent < -INT32_MAX ? -INT32_MAX : exponent;
    int64_t left = (point < 0 ? digits : point) + exponent; /* digits of the whole part */
    uint64_t max = is_negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t whole = 0;
    for (size_t i = is_negative ? 1 : 0; left > 0 && (i < e || whole > 0); i++) {
        if (i < e && text.ptr[i] == '.') {
            continue;
        }
        uint64_t digit = i < e ? (uint64_t)(text.ptr[i] - '0') : 0;
        if (whole > (max - digit) / 10) {
            return false;
        }
        whole = whole * 10 + digit;
        left--;
    }
    *i_out = is_negative ? (int64_t)(0 - whole) : (int64_t)whole;
    return true;
}

/* An integer token, or for INT and BIGINT a fractional one that is cut toward zero. */
static bool integer_value(const ms_type *type, ms_str text, msi_json_token token, int64_t *i_out)
{
    int64_t min = 0;
    int64_t max = 0;
    bool is_number = token == MSI_JSON_TOKEN_NUMBER;
    bool is_text = token == MSI_JSON_TOKEN_STRING;
    integer_range(type, &min, &max);
    if (!is_number && !is_text) {
        return false;
    }
    bool is_whole = ms_text_parse_i64(msi_cell_trim(text), i_out);
    if (!is_whole && is_number && type->kind == MS_TYPE_INT) {
        double wide = 0;
        bool fits = ms_text_parse_f64(text, &wide) && wide >= (double)min && wide <= (double)max;
        *i_out = fits ? (int64_t)wide : 0;
        return fits;
    }
    bool cuts = is_number && type->kind == MS_TYPE_BIGINT;
    bool parsed = is_whole || (cuts && whole_part(text, i_out));
    return parsed && *i_out >= min && *i_out <= max;
}

bool msi_json_temporal(const msi_json_options *options, const ms_type *type, ms_str text,
                       int64_t *value_out)
{
    bool iso = options->timestamps == MSI_JSON_TIMESTAMP_ISO;
    if (type->kind == MS_TYPE_DATE) {
        int32_t days = 0;
        bool ok = ms_text_parse_date(text, &days);
        *value_out = days;
        return ok;
    }
    bool ltz = type->kind == MS_TYPE_TIMESTAMP_LTZ;
    ms_text_timestamp_form form =
        iso ? (ltz ? MS_TEXT_ISO_Z : MS_TEXT_ISO) : (ltz ? MS_TEXT_SQL_Z : MS_TEXT_SQL);
    return ms_text_parse_timestamp_us(text, form, type->precision, value_out);
}

static bool decimal_value(const ms_type *type, ms_str text, ms_value *value, bool *null_out)
{
    ms_i128 unscaled = 0;
    ms_text_result result =
        ms_text_parse_decimal(msi_cell_trim(text), type->precision, type->scale, &unscaled);
    *null_out = result == MS_TEXT_RANGE;
    if (type->phys == MS_PHYS_I64) {
        value->u.i = (int64_t)unscaled;
    } else {
        value->u.dec = unscaled;
    }
    return result != MS_TEXT_MALFORMED;
}

static bool bytes_value(ms_str text, ms_value *value, ms_arena *arena)
{
    char *out = ms_arena_alloc(arena, text.bytes / 4 * 3 + 3, 1);
    size_t bytes = 0;
    bool ok = ms_text_base64_decode_loose(text, out, &bytes);
    value->u.str = ms_str_make(out, bytes);
    return ok;
}

bool msi_json_scalar(const msi_json_options *options, const ms_type *type, ms_str text,
                     msi_json_token token, ms_value *value_out, bool *null_out, ms_arena *arena)
{
    *value_out = (ms_value){.type = type};
    *null_out = false;
    bool is_nested = token == MSI_JSON_TOKEN_NESTED;
    bool is_number_like = token == MSI_JSON_TOKEN_NUMBER || token == MSI_JSON_TOKEN_STRING;
    float single = 0;
    switch (type->kind) {
    case MS_TYPE_BOOLEAN:
        value_out->u.i = ms_str_equals_nocase(msi_cell_trim(text), ms_str_lit("true"));
        return true;
    case MS_TYPE_TINYINT:
    case MS_TYPE_SMALLINT:
    case MS_TYPE_INT:
    case MS_TYPE_BIGINT:
        return integer_value(type, text, token, &value_out->u.i);
    case MS_TYPE_FLOAT:
        if (!is_number_like || !ms_text_parse_f32(msi_cell_trim(text), &single)) {
            return false;
        }
        value_out->u.f = (double)single;
        return true;
    case MS_TYPE_DOUBLE:
        return is_number_like && ms_text_parse_f64(msi_cell_trim(text), &value_out->u.f);
    case MS_TYPE_DECIMAL:
        return is_number_like && decimal_value(type, text, value_out, null_out);
    case MS_TYPE_CHAR:
    case MS_TYPE_VARCHAR:
        value_out->u.str = ms_arena_copy_str(arena, text);
        return true;
    case MS_TYPE_BINARY:
    case MS_TYPE_VARBINARY:
        return token == MSI_JSON_TOKEN_STRING && bytes_value(text, value_out, arena);
    case MS_TYPE_DATE:
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
        return token == MSI_JSON_TOKEN_STRING && !is_nested &&
               msi_json_temporal(options, type, text, &value_out->u.i);
    case MS_TYPE_NULL:
    case MS_TYPE_TIME:
    case MS_TYPE_INTERVAL_MONTH:
    case MS_TYPE_INTERVAL_SECOND:
    case MS_TYPE_ARRAY:
    case MS_TYPE_MAP:
    case MS_TYPE_MULTISET:
    case MS_TYPE_ROW:
    case MS_TYPE_RAW:
    case MS_TYPE_TIMESTAMP_TZ:
    case MS_TYPE_KIND_COUNT:
        break;
    }
    return false;
}

/* Nodes. */

typedef struct list_walk {
    const msi_json_options *options;
    const ms_type *type;
    ms_arena *arena;
    ms_value *items;
    ms_map keys; /* of a MAP: to the pair in items */
    uint32_t count;
} list_walk;

static bool array_item(void *arg, const char *name, size_t name_bytes, const msi_json_node *item)
{
    list_walk *walk = arg;
    (void)name;
    (void)name_bytes;
    return msi_json_value_of(walk->options, walk->type->children[0], item, walk->arena,
                             &walk->items[walk->count++]);
}

/* The last of two entries with one key counts. */
static bool map_item(void *arg, const char *name, size_t name_bytes, const msi_json_node *item)
{
    list_walk *walk = arg;
    ms_str key = ms_arena_copy_str(walk->arena, ms_str_make(name, name_bytes));
    const ms_map_entry *entry = ms_map_find(&walk->keys, key);
    ms_value *pair = entry != NULL ? entry->value : &walk->items[2 * walk->count];
    if (entry == NULL) {
        ms_map_put(&walk->keys, key, pair);
        walk->count++;
    }
    pair[0] = ms_value_str(walk->type->children[0], key);
    return msi_json_value_of(walk->options, walk->type->children[1], item, walk->arena, &pair[1]);
}

static bool list_value(list_walk *walk, const msi_json_node *node, ms_value *value_out)
{
    bool is_array = walk->type->kind == MS_TYPE_ARRAY;
    msi_json_kind wanted = is_array ? MSI_JSON_KIND_ARRAY : MSI_JSON_KIND_OBJECT;
    if (msi_json_node_kind(node) != wanted) {
        return false;
    }
    size_t room = msi_json_node_count(node) * (is_array ? 1 : 2);
    walk->items = ms_arena_array(walk->arena, ms_value, room + 1);
    if (!msi_json_node_each(node, is_array ? array_item : map_item, walk)) {
        return false;
    }
    value_out->u.items = walk->items;
    value_out->item_count = walk->count * (is_array ? 1 : 2);
    return true;
}

static bool row_value(const list_walk *walk, const msi_json_node *node, ms_value *value_out)
{
    if (msi_json_node_kind(node) != MSI_JSON_KIND_OBJECT) {
        return false;
    }
    const ms_type *type = walk->type;
    ms_value *items = ms_arena_array(walk->arena, ms_value, type->child_count + 1);
    for (uint32_t i = 0; i < type->child_count; i++) {
        msi_json_node member;
        items[i] = ms_value_null(type->children[i]);
        bool found = msi_json_node_member(node, type->names[i].ptr, type->names[i].bytes, &member);
        if (!found && walk->options->fail_on_missing_field) {
            return false;
        }
        if (found &&
            !msi_json_value_of(walk->options, type->children[i], &member, walk->arena, &items[i])) {
            return false;
        }
    }
    value_out->u.items = items;
    value_out->item_count = type->child_count;
    return true;
}

static bool scalar_node(const list_walk *walk, const msi_json_node *node, ms_value *value_out)
{
    static const msi_json_token tokens[] = {
        [MSI_JSON_KIND_NULL] = MSI_JSON_TOKEN_NESTED, /* asked for before */
        [MSI_JSON_KIND_BOOL] = MSI_JSON_TOKEN_BOOL,
        [MSI_JSON_KIND_NUMBER] = MSI_JSON_TOKEN_NUMBER,
        [MSI_JSON_KIND_STRING] = MSI_JSON_TOKEN_STRING,
        [MSI_JSON_KIND_ARRAY] = MSI_JSON_TOKEN_NESTED,
        [MSI_JSON_KIND_OBJECT] = MSI_JSON_TOKEN_NESTED,
    };
    size_t bytes = 0;
    const char *text = msi_json_node_text(node, &bytes);
    bool is_null = false;
    bool ok = msi_json_scalar(walk->options, walk->type, ms_str_make(text, bytes),
                              tokens[msi_json_node_kind(node)], value_out, &is_null, walk->arena);
    value_out->is_null = is_null;
    return ok;
}

bool msi_json_value_of(const msi_json_options *options, const ms_type *type,
                       const msi_json_node *node, ms_arena *arena, ms_value *value_out)
{
    *value_out = ms_value_null(type);
    if (msi_json_node_kind(node) == MSI_JSON_KIND_NULL) {
        return true;
    }
    list_walk walk = {.options = options, .type = type, .arena = arena};
    ms_map_init(&walk.keys, arena);
    ms_value value = {.type = type};
    bool is_list = type->kind == MS_TYPE_ARRAY || type->kind == MS_TYPE_MAP;
    bool ok = is_list                     ? list_value(&walk, node, &value)
              : type->kind == MS_TYPE_ROW ? row_value(&walk, node, &value)
                                          : scalar_node(&walk, node, &value);
    if (ok) {
        *value_out = value;
    }
    return ok || options->ignore_parse_errors;
}
