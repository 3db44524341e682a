/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Garbage-collection rules: making, checking, showing and storing. Every walk is bounded by the
 * depth that the check allows; decoding bounds it again, because stored bytes may be damaged.
 */
#include "bigtable/model/gc_rule.h"

#include "base/num.h"
#include "bigtable/model/model_priv.h"

static const ms_bt_gc_rule *make_list(ms_arena *arena, ms_bt_gc_rule_kind kind,
                                      const ms_bt_gc_rule *const *rules, size_t count)
{
    ms_bt_gc_rule *rule = ms_arena_new(arena, ms_bt_gc_rule);
    const ms_bt_gc_rule **list = ms_arena_array(arena, const ms_bt_gc_rule *, count);
    for (size_t i = 0; i < count; i++) {
        list[i] = rules[i];
    }
    *rule = (ms_bt_gc_rule){.kind = kind, .rules = list, .rule_count = count};
    return rule;
}

const ms_bt_gc_rule *ms_bt_gc_rule_max_versions(ms_arena *arena, int32_t max_versions)
{
    ms_bt_gc_rule *rule = ms_arena_new(arena, ms_bt_gc_rule);
    *rule = (ms_bt_gc_rule){.kind = MS_BT_GC_MAX_VERSIONS, .max_versions = max_versions};
    return rule;
}

const ms_bt_gc_rule *ms_bt_gc_rule_max_age(ms_arena *arena, int64_t max_age_micros)
{
    ms_bt_gc_rule *rule = ms_arena_new(arena, ms_bt_gc_rule);
    *rule = (ms_bt_gc_rule){.kind = MS_BT_GC_MAX_AGE, .max_age_micros = max_age_micros};
    return rule;
}

const ms_bt_gc_rule *ms_bt_gc_rule_union(ms_arena *arena, const ms_bt_gc_rule *const *rules,
                                         size_t count)
{
    return make_list(arena, MS_BT_GC_UNION, rules, count);
}

const ms_bt_gc_rule *ms_bt_gc_rule_intersection(ms_arena *arena, const ms_bt_gc_rule *const *rules,
                                                size_t count)
{
    return make_list(arena, MS_BT_GC_INTERSECTION, rules, count);
}

static bool is_list(const ms_bt_gc_rule *rule)
{
    return rule->kind == MS_BT_GC_UNION || rule->kind == MS_BT_GC_INTERSECTION;
}

const ms_bt_gc_rule *ms_bt_gc_rule_copy(ms_arena *arena, const ms_bt_gc_rule *rule)
{
    if (rule == NULL) {
        return NULL;
    }
    ms_bt_gc_rule *copy = ms_arena_new(arena, ms_bt_gc_rule);
    *copy = *rule;
    const ms_bt_gc_rule **list = ms_arena_array(arena, const ms_bt_gc_rule *, rule->rule_count);
    for (size_t i = 0; i < rule->rule_count; i++) {
        list[i] = ms_bt_gc_rule_copy(arena, rule->rules[i]);
    }
    copy->rules = list;
    return copy;
}

bool ms_bt_gc_rule_equals(const ms_bt_gc_rule *a, const ms_bt_gc_rule *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    if (a->kind != b->kind || a->max_versions != b->max_versions ||
        a->max_age_micros != b->max_age_micros || a->rule_count != b->rule_count) {
        return false;
    }
    for (size_t i = 0; i < a->rule_count; i++) {
        if (!ms_bt_gc_rule_equals(a->rules[i], b->rules[i])) {
            return false;
        }
    }
    return true;
}

bool ms_bt_gc_rule_collects(const ms_bt_gc_rule *rule, uint64_t index, int64_t cell_micros,
                            int64_t now_micros)
{
    if (rule == NULL) {
        return false;
    }
    switch (rule->kind) {
    case MS_BT_GC_MAX_VERSIONS:
        return index >= (uint64_t)rule->max_versions;
    case MS_BT_GC_MAX_AGE:
        /* Cells of the future and of before 1970 are of any age; now and ages are not negative. */
        return cell_micros < now_micros - rule->max_age_micros;
    case MS_BT_GC_INTERSECTION:
    case MS_BT_GC_UNION:
        break;
    }
    bool is_union = rule->kind == MS_BT_GC_UNION;
    for (size_t i = 0; i < rule->rule_count; i++) {
        if (ms_bt_gc_rule_collects(rule->rules[i], index, cell_micros, now_micros) == is_union) {
            return is_union;
        }
    }
    return !is_union;
}

static ms_bt_code check_depth(const ms_bt_gc_rule *rule, unsigned depth, ms_bt_status *bt)
{
    if (depth > MS_BT_LIMIT_GC_RULE_DEPTH) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'gc_rule' : nested more than %u deep",
                                MS_BT_LIMIT_GC_RULE_DEPTH);
    }
    if (rule->kind == MS_BT_GC_MAX_VERSIONS && rule->max_versions < 1) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'gc_rule.max_num_versions' : must be at least 1, "
                                "but got %d",
                                (int)rule->max_versions);
    }
    if (rule->kind == MS_BT_GC_MAX_AGE && rule->max_age_micros < 1000) {
        return ms_bt_status_set(
            bt, MS_BT_INVALID_ARGUMENT,
            "Error in field 'gc_rule.max_age' : must be at least 1 millisecond");
    }
    if (is_list(rule) && rule->rule_count == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'gc_rule' : a union or intersection needs at least "
                                "one rule");
    }
    for (size_t i = 0; i < rule->rule_count; i++) {
        MS_BT_TRY(check_depth(rule->rules[i], depth + 1, bt));
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_gc_rule_check(const ms_bt_gc_rule *rule, ms_bt_status *bt)
{
    if (rule == NULL) {
        return MS_BT_OK;
    }
    MS_BT_TRY(check_depth(rule, 1, bt));
    size_t bytes = ms_bt_gc_rule_wire_bytes(rule);
    if (bytes > MS_BT_LIMIT_GC_RULE_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'gc_rule' : %zu serialized bytes; limit %u", bytes,
                                MS_BT_LIMIT_GC_RULE_BYTES);
    }
    return MS_BT_OK;
}

ms_rc ms_bt_gc_rule_render(const ms_bt_gc_rule *rule, ms_buf *buf, ms_status *st)
{
    if (rule == NULL) {
        return ms_buf_append(buf, ms_str_lit("never"), st);
    }
    if (rule->kind == MS_BT_GC_MAX_VERSIONS) {
        return ms_buf_format(buf, st, "versions() > %d", (int)rule->max_versions);
    }
    if (rule->kind == MS_BT_GC_MAX_AGE) {
        char text[MS_NUM_BYTES];
        int64_t ns = 0;
        if (__builtin_mul_overflow(rule->max_age_micros, 1000, &ns)) {
            ns = INT64_MAX;
        }
        size_t bytes = ms_num_print_duration_ns(ns, text);
        return ms_buf_format(buf, st, "age() > %.*s", (int)bytes, text);
    }
    MS_TRY(ms_buf_append_byte(buf, '(', st));
    for (size_t i = 0; i < rule->rule_count; i++) {
        if (i > 0) {
            MS_TRY(ms_buf_format(buf, st, "%s", rule->kind == MS_BT_GC_UNION ? " || " : " && "));
        }
        MS_TRY(ms_bt_gc_rule_render(rule->rules[i], buf, st));
    }
    return ms_buf_append_byte(buf, ')', st);
}

ms_rc ms_bt_gc_rule_encode(const ms_bt_gc_rule *rule, ms_buf *buf, ms_status *st)
{
    if (rule == NULL) {
        return ms_codec_put_u8(buf, 0, st);
    }
    MS_TRY(ms_codec_put_u8(buf, (uint8_t)rule->kind, st));
    if (rule->kind == MS_BT_GC_MAX_VERSIONS) {
        return ms_codec_put_signed(buf, rule->max_versions, st);
    }
    if (rule->kind == MS_BT_GC_MAX_AGE) {
        return ms_codec_put_signed(buf, rule->max_age_micros, st);
    }
    MS_TRY(ms_codec_put_varint(buf, rule->rule_count, st));
    for (size_t i = 0; i < rule->rule_count; i++) {
        MS_TRY(ms_bt_gc_rule_encode(rule->rules[i], buf, st));
    }
    return MS_OK;
}

static const ms_bt_gc_rule *decode_depth(ms_codec_reader *reader, ms_arena *arena, unsigned depth)
{
    uint8_t kind = ms_codec_reader_u8(reader);
    if (kind == 0) {
        return NULL;
    }
    if (kind > MS_BT_GC_UNION || depth > MS_BT_LIMIT_GC_RULE_DEPTH) {
        reader->failed = true;
        return NULL;
    }
    ms_bt_gc_rule *rule = ms_arena_new(arena, ms_bt_gc_rule);
    rule->kind = (ms_bt_gc_rule_kind)kind;
    if (!is_list(rule)) {
        int64_t value = ms_codec_reader_signed(reader);
        if (rule->kind == MS_BT_GC_MAX_VERSIONS) {
            rule->max_versions = (int32_t)value;
        } else {
            rule->max_age_micros = value;
        }
        return rule;
    }
    rule->rule_count = ms_codec_reader_count(reader, 1);
    const ms_bt_gc_rule **list = ms_arena_array(arena, const ms_bt_gc_rule *, rule->rule_count);
    rule->rules = list;
    for (size_t i = 0; i < rule->rule_count; i++) {
        list[i] = decode_depth(reader, arena, depth + 1);
        if (list[i] == NULL) {
            reader->failed = true;
            return NULL;
        }
    }
    return rule;
}

const ms_bt_gc_rule *ms_bt_gc_rule_decode(ms_codec_reader *reader, ms_arena *arena)
{
    const ms_bt_gc_rule *rule = decode_depth(reader, arena, 1);
    return ms_codec_reader_is_ok(reader) ? rule : NULL;
}

size_t ms_bt_gc_rule_wire_bytes(const ms_bt_gc_rule *rule)
{
    switch (rule->kind) {
    case MS_BT_GC_MAX_VERSIONS:
        return msi_model_int_field_bytes(1, rule->max_versions);
    case MS_BT_GC_MAX_AGE: {
        /* google.protobuf.Duration: seconds = 1, nanos = 2; zero fields are absent. */
        int64_t seconds = rule->max_age_micros / 1000000;
        int64_t nanos = rule->max_age_micros % 1000000 * 1000;
        size_t bytes = (seconds == 0 ? 0 : msi_model_int_field_bytes(1, seconds)) +
                       (nanos == 0 ? 0 : msi_model_int_field_bytes(2, nanos));
        return msi_model_field_bytes(2, bytes);
    }
    case MS_BT_GC_INTERSECTION:
    case MS_BT_GC_UNION:
        break;
    }
    size_t bytes = 0;
    for (size_t i = 0; i < rule->rule_count; i++) {
        bytes += msi_model_field_bytes(1, ms_bt_gc_rule_wire_bytes(rule->rules[i]));
    }
    return msi_model_field_bytes(rule->kind == MS_BT_GC_INTERSECTION ? 3 : 4, bytes);
}
