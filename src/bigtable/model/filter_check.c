/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service's rules for filters, with its texts. Where only the rule is known and not the text,
 * the text is ours and follows the others' form. The walk stops at the limit of nesting, so that it
 * is safe on whatever a client sent.
 */
#include "bigtable/model/filter_priv.h"
#include "bigtable/model/filter_program.h"
#include "bigtable/model/name.h"

/* Of one regular expression, program and caches: the most that any gets, and what each gets even
 * when there are very many. RE2 needs some dozen KiB to be fast. */
#define REGEX_BYTES_MOST ((size_t)1 << 20)
#define REGEX_BYTES_LEAST ((size_t)64 << 10)

/* Is there a filter of this kind in the tree? */
static bool contains(const ms_bt_filter *filter, ms_bt_filter_kind kind)
{
    if (filter == NULL) {
        return false;
    }
    bool found = filter->kind == kind;
    for (size_t i = 0; i < filter->child_count && !found; i++) {
        found = contains(filter->children[i], kind);
    }
    return found;
}

static ms_bt_code check_list(const ms_bt_filter *filter, ms_bt_status *bt)
{
    bool is_chain = filter->kind == MS_BT_FILTER_CHAIN;
    if (filter->child_count < 2) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "%s must contain at least two RowFilters",
                                is_chain ? "Chain" : "Interleave");
    }
    unsigned labels = 0;
    for (size_t i = 0; i < filter->child_count && is_chain; i++) {
        labels += contains(filter->children[i], MS_BT_FILTER_APPLY_LABEL);
    }
    if (labels > 1) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Chain must contain at most one RowFilter with an "
                                "apply_label_transformer");
    }
    return MS_BT_OK;
}

static ms_bt_code check_condition(const ms_bt_filter *filter, ms_bt_status *bt)
{
    static const char *const places[MSI_CONDITION_CHILDREN] = {"predicate", "true filter",
                                                               "false filter"};
    for (size_t i = 0; i < filter->child_count; i++) {
        if (contains(filter->children[i], MS_BT_FILTER_SINK)) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'condition filter %s' : sink cannot be nested "
                                    "in a condition filter",
                                    places[i]);
        }
    }
    return MS_BT_OK;
}

static ms_bt_code check_label(ms_str label, ms_bt_status *bt)
{
    bool is_good = label.bytes > 0;
    for (size_t i = 0; i < label.bytes; i++) {
        char c = label.ptr[i];
        is_good = is_good && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
    }
    if (!is_good) {
        char text[128];
        return ms_bt_status_set(
            bt, MS_BT_INVALID_ARGUMENT,
            "apply_label_transformer must match RE2([a-z0-9\\-]+), but found %s",
            ms_bt_bytes_text(label, text, sizeof(text)));
    }
    if (label.bytes > MS_BT_LIMIT_LABEL_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "apply_label_transformer must have at most %u characters, but "
                                "found %zu",
                                MS_BT_LIMIT_LABEL_BYTES, label.bytes);
    }
    return MS_BT_OK;
}

static ms_bt_code check_flag(const ms_bt_filter *filter, ms_bt_status *bt)
{
    return filter->is_false ? ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "%s must be true if set",
                                               ms_bt_filter_kind_name(filter->kind))
                            : MS_BT_OK;
}

static ms_bt_code check_count(const ms_bt_filter *filter, ms_bt_status *bt)
{
    return filter->count <= 0 ? ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                                 "Error in field '%s' : argument must be > 0",
                                                 ms_bt_filter_kind_name(filter->kind))
                              : MS_BT_OK;
}

/* Whether it compiles is found out last, or by whoever compiles it. */
static ms_bt_code check_regex(const ms_bt_filter *filter, ms_bt_status *bt)
{
    if (filter->kind == MS_BT_FILTER_FAMILY_REGEX &&
        ms_str_find_byte(filter->text, ':', 0) < filter->text.bytes) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field '%s' : must not contain ':'",
                                ms_bt_filter_kind_name(filter->kind));
    }
    return MS_BT_OK;
}

static ms_bt_code check_node(const ms_bt_filter *filter, ms_bt_status *bt)
{
    switch (filter->kind) {
    case MS_BT_FILTER_CHAIN:
    case MS_BT_FILTER_INTERLEAVE:
        return check_list(filter, bt);
    case MS_BT_FILTER_CONDITION:
        return check_condition(filter, bt);
    case MS_BT_FILTER_PASS_ALL:
    case MS_BT_FILTER_BLOCK_ALL:
    case MS_BT_FILTER_SINK:
    case MS_BT_FILTER_STRIP_VALUE:
        return check_flag(filter, bt);
    case MS_BT_FILTER_CELLS_PER_ROW_OFFSET:
    case MS_BT_FILTER_CELLS_PER_ROW_LIMIT:
    case MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT:
        return check_count(filter, bt);
    case MS_BT_FILTER_ROW_SAMPLE:
        /* Written so that NaN fails. */
        if (!(filter->probability > 0.0 && filter->probability < 1.0)) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "row_sample_filter argument must be between 0.0 and 1.0");
        }
        return MS_BT_OK;
    case MS_BT_FILTER_ROW_KEY_REGEX:
    case MS_BT_FILTER_FAMILY_REGEX:
    case MS_BT_FILTER_QUALIFIER_REGEX:
    case MS_BT_FILTER_VALUE_REGEX:
        return check_regex(filter, bt);
    case MS_BT_FILTER_VALUE_BITMASK:
        return filter->text.bytes == 0
                   ? ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                      "Error in field '%s' : mask must not be empty",
                                      ms_bt_filter_kind_name(filter->kind))
                   : MS_BT_OK;
    case MS_BT_FILTER_APPLY_LABEL:
        return check_label(filter->text, bt);
    case MS_BT_FILTER_FAMILY:
    case MS_BT_FILTER_COLUMN_RANGE:
    case MS_BT_FILTER_TIMESTAMP_RANGE:
    case MS_BT_FILTER_VALUE_RANGE:
    case MS_BT_FILTER_COUNT:
        break;
    }
    return MS_BT_OK;
}

static ms_bt_code check_depth(const ms_bt_filter *filter, unsigned depth, ms_bt_status *bt)
{
    if (filter == NULL) {
        return MS_BT_OK;
    }
    if (depth > MS_BT_LIMIT_FILTER_DEPTH) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Row filter is nested more than %u deep", MS_BT_LIMIT_FILTER_DEPTH);
    }
    for (size_t i = 0; i < filter->child_count; i++) {
        MS_BT_TRY(check_depth(filter->children[i], depth + 1, bt));
    }
    return MS_BT_OK;
}

static ms_bt_code check_tree(const ms_bt_filter *filter, ms_bt_status *bt)
{
    if (filter == NULL) {
        return MS_BT_OK;
    }
    MS_BT_TRY(check_node(filter, bt));
    for (size_t i = 0; i < filter->child_count; i++) {
        MS_BT_TRY(check_tree(filter->children[i], bt));
    }
    return MS_BT_OK;
}

ms_bt_code msi_filter_check_tree(const ms_bt_filter *filter, ms_bt_status *bt)
{
    MS_BT_TRY(check_depth(filter, 1, bt));
    if (ms_bt_filter_wire_bytes(filter) > MS_BT_LIMIT_FILTER_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Row filter exceeds maximum size of %u bytes",
                                MS_BT_LIMIT_FILTER_BYTES);
    }
    return check_tree(filter, bt);
}

/* Regular expressions. */

static size_t count_regexes(const ms_bt_filter *filter)
{
    if (filter == NULL) {
        return 0;
    }
    size_t count = msi_filter_is_regex(filter->kind);
    for (size_t i = 0; i < filter->child_count; i++) {
        count += count_regexes(filter->children[i]);
    }
    return count;
}

size_t msi_filter_regex_bytes(const ms_bt_filter *filter)
{
    size_t count = count_regexes(filter);
    size_t share = MS_BT_FILTER_REGEX_BYTES_MAX / (count == 0 ? 1 : count);
    size_t floored = share < REGEX_BYTES_LEAST ? REGEX_BYTES_LEAST : share;
    return floored > REGEX_BYTES_MOST ? REGEX_BYTES_MOST : floored;
}

ms_bt_code msi_filter_compile_regex(const ms_bt_filter *filter, size_t memory_max, ms_arena *arena,
                                    const msi_regex **regex_out, ms_bt_status *bt)
{
    char text[256];
    *regex_out = msi_regex_make(filter->text, memory_max, arena, text, sizeof(text));
    return *regex_out == NULL
               ? ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Error in field '%s' : %s",
                                  ms_bt_filter_kind_name(filter->kind), text)
               : MS_BT_OK;
}

/* Compiles each and forgets it. */
static ms_bt_code check_regexes(const ms_bt_filter *filter, size_t memory_max, ms_arena *scratch,
                                ms_bt_status *bt)
{
    if (filter == NULL) {
        return MS_BT_OK;
    }
    if (msi_filter_is_regex(filter->kind)) {
        const msi_regex *regex = NULL;
        ms_arena_reset(scratch);
        MS_BT_TRY(msi_filter_compile_regex(filter, memory_max, scratch, &regex, bt));
    }
    for (size_t i = 0; i < filter->child_count; i++) {
        MS_BT_TRY(check_regexes(filter->children[i], memory_max, scratch, bt));
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_filter_check(const ms_bt_filter *filter, ms_bt_status *bt)
{
    MS_BT_TRY(msi_filter_check_tree(filter, bt));
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_bt_code code = check_regexes(filter, msi_filter_regex_bytes(filter), &scratch, bt);
    ms_arena_release(&scratch);
    return code;
}
