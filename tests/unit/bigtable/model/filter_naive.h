/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters a second time, for tests: random trees of them, and what they mean, written down in the
 * plainest way there is. A filter takes a list of cells and gives a list; each cell it gives knows
 * from which one it came. Nothing here is shared with what is tested, regular expressions included:
 * these are random trees as well, matched by following every position that they can reach.
 *
 * Choices come from a generator or, in fuzzing, from the input. Everything lives in one arena.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_MODEL_FILTER_NAIVE_H
#define MS_TESTS_UNIT_BIGTABLE_MODEL_FILTER_NAIVE_H

#include "base/arena.h"
#include "base/env.h"
#include "bigtable/model/filter.h"
#include "bigtable/model/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Choices. */

typedef struct naive_choices {
    ms_env_random random;
    const uint8_t *bytes; /* NULL: random */
    size_t left;
} naive_choices;

/* Below bound; 0 once the input is used up. */
static inline unsigned naive_pick(naive_choices *choices, unsigned bound)
{
    if (choices->bytes == NULL) {
        return (unsigned)ms_env_random_below(&choices->random, bound);
    }
    if (choices->left == 0) {
        return 0;
    }
    choices->left--;
    return *choices->bytes++ % bound;
}

/* Regular expressions. */

typedef enum naive_regex_kind {
    NAIVE_EMPTY,
    NAIVE_BYTE,
    NAIVE_DOT,
    NAIVE_ANY,
    NAIVE_CLASS,
    NAIVE_CONCAT,
    NAIVE_EITHER,
    NAIVE_REPEAT,
    NAIVE_NOCASE,
    NAIVE_DOTALL,
    NAIVE_REGEX_KINDS
} naive_regex_kind;

#define NAIVE_MANY 99u

typedef struct naive_regex {
    naive_regex_kind kind;
    unsigned char byte;
    unsigned char class[3];
    bool is_negated;
    unsigned least;
    unsigned most; /* NAIVE_MANY: no end */
    const struct naive_regex *left;
    const struct naive_regex *right;
} naive_regex;

static const unsigned char naive_alphabet[] = {'a', 'B', '\n', 0xe9, 0xc9};
#define NAIVE_LETTERS ((unsigned)sizeof(naive_alphabet))

static inline const naive_regex *naive_regex_grow(naive_choices *choices, ms_arena *arena,
                                                  unsigned depth)
{
    naive_regex *t = ms_arena_new(arena, naive_regex);
    t->kind = (naive_regex_kind)naive_pick(choices, depth == 0 ? NAIVE_CONCAT : NAIVE_REGEX_KINDS);
    t->byte = naive_alphabet[naive_pick(choices, NAIVE_LETTERS)];
    t->is_negated = naive_pick(choices, 2) == 0;
    for (int i = 0; i < 3; i++) {
        t->class[i] = naive_alphabet[naive_pick(choices, NAIVE_LETTERS)];
    }
    t->least = naive_pick(choices, 3);
    t->most = naive_pick(choices, 2) == 0 ? NAIVE_MANY : t->least + naive_pick(choices, 2);
    if (t->kind >= NAIVE_CONCAT) {
        t->left = naive_regex_grow(choices, arena, depth - 1);
        t->right = naive_regex_grow(choices, arena, depth - 1);
    }
    return t;
}

static inline void naive_put(ms_buf *to, const char *text)
{
    ms_status st = {0};
    if (ms_buf_append(to, ms_str_cstr(text), &st) != MS_OK) {
        abort();
    }
}

/* Both spellings of a byte are used: as it is, and escaped. */
static inline void naive_put_byte(ms_buf *to, unsigned char byte)
{
    const char plain[2] = {(char)byte, '\0'};
    naive_put(to, byte == '\n' ? "\\n" : byte == 0xe9 ? "\\xe9" : plain);
}

/* At the top, alternatives stand bare: what is around a pattern must not get between them. There
 * are no colons, which family names may not have. */
static inline void naive_regex_print(const naive_regex *t, ms_buf *to, bool is_top)
{
    char text[32];
    switch (t->kind) {
    case NAIVE_EMPTY:
        naive_put(to, "()");
        return;
    case NAIVE_BYTE:
        naive_put_byte(to, t->byte);
        return;
    case NAIVE_DOT:
        naive_put(to, ".");
        return;
    case NAIVE_ANY:
        naive_put(to, "\\C");
        return;
    case NAIVE_CLASS:
        naive_put(to, t->is_negated ? "[^" : "[");
        for (int i = 0; i < 3; i++) {
            naive_put_byte(to, t->class[i]);
        }
        naive_put(to, "]");
        return;
    case NAIVE_CONCAT:
    case NAIVE_EITHER:
        naive_put(to, is_top && t->kind == NAIVE_EITHER ? "" : "(");
        naive_regex_print(t->left, to, false);
        naive_put(to, t->kind == NAIVE_EITHER ? "|" : ")(");
        naive_regex_print(t->right, to, false);
        naive_put(to, is_top && t->kind == NAIVE_EITHER ? "" : ")");
        return;
    case NAIVE_REPEAT:
        naive_put(to, "(");
        naive_regex_print(t->left, to, false);
        snprintf(text, sizeof(text), t->most == NAIVE_MANY ? "){%u,}" : "){%u,%u}", t->least,
                 t->most);
        naive_put(to, text);
        return;
    case NAIVE_NOCASE:
    case NAIVE_DOTALL:
        naive_put(to, t->kind == NAIVE_NOCASE ? "((?i)" : "((?s)");
        naive_regex_print(t->left, to, false);
        naive_put(to, ")");
        return;
    case NAIVE_REGEX_KINDS:
        break;
    }
    abort();
}

/* The pattern of a tree. */
static inline ms_str naive_regex_text(const naive_regex *t, ms_arena *arena)
{
    ms_buf text;
    ms_buf_init(&text, 1u << 16);
    naive_regex_print(t, &text, true);
    ms_str pattern = ms_arena_copy_str(arena, ms_buf_view(&text));
    ms_buf_release(&text);
    return pattern;
}

static inline unsigned char naive_lower(unsigned char c)
{
    return (unsigned char)((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ? c + 32
                                                                                           : c);
}

static inline bool naive_same(unsigned char a, unsigned char b, bool nocase)
{
    return nocase ? naive_lower(a) == naive_lower(b) : a == b;
}

static inline bool naive_takes(const naive_regex *t, unsigned char c, bool nocase, bool dotall)
{
    if (t->kind == NAIVE_ANY || t->kind == NAIVE_DOT) {
        return t->kind == NAIVE_ANY || dotall || c != '\n';
    }
    if (t->kind == NAIVE_BYTE) {
        return naive_same(c, t->byte, nocase);
    }
    return (naive_same(c, t->class[0], nocase) || naive_same(c, t->class[1], nocase) ||
            naive_same(c, t->class[2], nocase)) != t->is_negated;
}

/* The positions, as bits, at which a match can end that starts at one of those given. */
static inline uint64_t naive_reach(const naive_regex *t, ms_str text, uint64_t starts, bool nocase,
                                   bool dotall)
{
    uint64_t ends = 0;
    switch (t->kind) {
    case NAIVE_EMPTY:
        return starts;
    case NAIVE_BYTE:
    case NAIVE_DOT:
    case NAIVE_ANY:
    case NAIVE_CLASS:
        for (size_t i = 0; i < text.bytes; i++) {
            if ((starts >> i & 1) != 0 &&
                naive_takes(t, (unsigned char)text.ptr[i], nocase, dotall)) {
                ends |= UINT64_C(2) << i;
            }
        }
        return ends;
    case NAIVE_CONCAT:
        starts = naive_reach(t->left, text, starts, nocase, dotall);
        return naive_reach(t->right, text, starts, nocase, dotall);
    case NAIVE_EITHER:
        return naive_reach(t->left, text, starts, nocase, dotall) |
               naive_reach(t->right, text, starts, nocase, dotall);
    case NAIVE_REPEAT: {
        unsigned most = t->most == NAIVE_MANY ? t->least + (unsigned)text.bytes + 1 : t->most;
        for (unsigned i = 0; i <= most; i++) {
            ends |= i >= t->least ? starts : 0;
            starts = naive_reach(t->left, text, starts, nocase, dotall);
        }
        return ends;
    }
    case NAIVE_NOCASE:
        return naive_reach(t->left, text, starts, true, dotall);
    case NAIVE_DOTALL:
        return naive_reach(t->left, text, starts, nocase, true);
    case NAIVE_REGEX_KINDS:
        break;
    }
    abort();
}

/* Texts have less than 64 bytes. */
static inline bool naive_regex_matches(const naive_regex *t, ms_str text)
{
    return (naive_reach(t, text, 1, false, false) >> text.bytes & 1) != 0;
}

/* Filters. */

/* A regular expression of a filter; found by its text. */
typedef struct naive_pattern {
    ms_str text;
    const naive_regex *regex;
    struct naive_pattern *next;
} naive_pattern;

typedef struct naive_cell {
    uint32_t family;
    ms_str qualifier;
    int64_t micros;
    ms_str value;
    ms_str label;
    size_t from; /* the cell that it came from, by its place in the list before */
} naive_cell;

typedef struct naive_cells {
    naive_cell *list;
    size_t count;
} naive_cells;

typedef struct naive {
    ms_arena *arena;
    naive_choices choices;
    const ms_bt_table *table;
    naive_pattern *patterns;
    ms_str key; /* of the row in question */
    naive_cells sunk;
    bool is_too_large; /* the filter makes too many copies for a plain evaluator */
} naive;

#define NAIVE_CELLS_MAX 2000u

static inline ms_str naive_text(naive *n, unsigned bytes_min, unsigned bytes_max)
{
    char text[16];
    size_t bytes = bytes_min + naive_pick(&n->choices, bytes_max - bytes_min + 1);
    for (size_t i = 0; i < bytes; i++) {
        text[i] = (char)naive_alphabet[naive_pick(&n->choices, NAIVE_LETTERS)];
    }
    return ms_arena_copy_str(n->arena, ms_str_make(text, bytes));
}

static inline ms_str naive_family(naive *n)
{
    return n->table->families[naive_pick(&n->choices, (unsigned)n->table->family_count)].name;
}

static inline ms_bt_range naive_range(naive *n)
{
    ms_bt_range range;
    range.start.kind = (ms_bt_bound_kind)naive_pick(&n->choices, MS_BT_BOUND_COUNT);
    range.end.kind = (ms_bt_bound_kind)naive_pick(&n->choices, MS_BT_BOUND_COUNT);
    range.start.key =
        range.start.kind == MS_BT_BOUND_NONE ? (ms_str){NULL, 0} : naive_text(n, 0, 2);
    range.end.key = range.end.kind == MS_BT_BOUND_NONE ? (ms_str){NULL, 0} : naive_text(n, 0, 2);
    return range;
}

static inline const ms_bt_filter *naive_regex_filter(naive *n, ms_bt_filter_kind kind)
{
    naive_pattern *pattern = ms_arena_new(n->arena, naive_pattern);
    pattern->regex = naive_regex_grow(&n->choices, n->arena, naive_pick(&n->choices, 4));
    pattern->text = naive_regex_text(pattern->regex, n->arena);
    pattern->next = n->patterns;
    n->patterns = pattern;
    return ms_bt_filter_regex(n->arena, kind, pattern->text);
}

static inline const ms_bt_filter *naive_grow(naive *n, unsigned depth);

static inline const ms_bt_filter *naive_grow_parent(naive *n, ms_bt_filter_kind kind,
                                                    unsigned depth)
{
    const ms_bt_filter *children[4];
    size_t count = kind == MS_BT_FILTER_CONDITION ? 3 : 2 + naive_pick(&n->choices, 3);
    for (size_t i = 0; i < count; i++) {
        children[i] = naive_pick(&n->choices, 12) == 0 ? NULL : naive_grow(n, depth - 1);
    }
    return kind == MS_BT_FILTER_CONDITION
               ? ms_bt_filter_condition(n->arena, children[0], children[1], children[2])
               : ms_bt_filter_list(n->arena, kind, children, count);
}

/* A random filter; the check may refuse it, for its labels and sinks and for a family regex that is
 * a name that the table lacks. */
static inline const ms_bt_filter *naive_grow(naive *n, unsigned depth)
{
    ms_bt_filter_kind kind = (ms_bt_filter_kind)naive_pick(&n->choices, MS_BT_FILTER_COUNT);
    if (depth > 0 && naive_pick(&n->choices, 2) == 0) {
        static const ms_bt_filter_kind parents[] = {MS_BT_FILTER_CHAIN, MS_BT_FILTER_INTERLEAVE,
                                                    MS_BT_FILTER_CONDITION};
        kind = parents[naive_pick(&n->choices, 3)];
    }
    switch (kind) {
    case MS_BT_FILTER_CHAIN:
    case MS_BT_FILTER_INTERLEAVE:
    case MS_BT_FILTER_CONDITION:
        return depth == 0 ? NULL : naive_grow_parent(n, kind, depth);
    case MS_BT_FILTER_PASS_ALL:
    case MS_BT_FILTER_BLOCK_ALL:
    case MS_BT_FILTER_SINK:
    case MS_BT_FILTER_STRIP_VALUE:
        return ms_bt_filter_flag(n->arena, kind, true);
    case MS_BT_FILTER_ROW_KEY_REGEX:
    case MS_BT_FILTER_FAMILY_REGEX:
    case MS_BT_FILTER_QUALIFIER_REGEX:
    case MS_BT_FILTER_VALUE_REGEX:
        return naive_regex_filter(n, kind);
    case MS_BT_FILTER_ROW_SAMPLE:
        /* As good as never, and as good as always. */
        return ms_bt_filter_row_sample(
            n->arena, naive_pick(&n->choices, 3) == 0 ? 1e-300 : 1.0 - 1.0 / (1ull << 53));
    case MS_BT_FILTER_FAMILY:
        return ms_bt_filter_family(n->arena, naive_family(n));
    case MS_BT_FILTER_COLUMN_RANGE: {
        ms_str family = naive_family(n);
        ms_bt_range range = naive_range(n);
        return ms_bt_filter_column_range(n->arena, family, &range);
    }
    case MS_BT_FILTER_VALUE_RANGE: {
        ms_bt_range range = naive_range(n);
        return ms_bt_filter_value_range(n->arena, &range);
    }
    case MS_BT_FILTER_TIMESTAMP_RANGE: {
        int64_t start = naive_pick(&n->choices, 4);
        return ms_bt_filter_timestamp_range(n->arena, start, naive_pick(&n->choices, 4));
    }
    case MS_BT_FILTER_VALUE_BITMASK:
        return ms_bt_filter_value_bitmask(n->arena, naive_text(n, 1, 2));
    case MS_BT_FILTER_CELLS_PER_ROW_OFFSET:
    case MS_BT_FILTER_CELLS_PER_ROW_LIMIT:
    case MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT:
        return ms_bt_filter_cells(n->arena, kind, 1 + (int32_t)naive_pick(&n->choices, 4));
    case MS_BT_FILTER_APPLY_LABEL:
        return ms_bt_filter_apply_label(
            n->arena, naive_pick(&n->choices, 2) == 0 ? ms_str_lit("one") : ms_str_lit("two"));
    case MS_BT_FILTER_COUNT:
        break;
    }
    abort();
}

/* Meaning. */

static inline bool naive_matches(const naive *n, const ms_bt_filter *filter, ms_str text)
{
    for (const naive_pattern *pattern = n->patterns; pattern != NULL; pattern = pattern->next) {
        if (ms_str_equals(pattern->text, filter->text)) {
            return naive_regex_matches(pattern->regex, text);
        }
    }
    abort();
}

static inline bool naive_in_range(const ms_bt_range *range, ms_str text)
{
    int start = range->start.key.bytes == 0 ? 1 : ms_str_compare(text, range->start.key);
    int end = range->end.key.bytes == 0 ? -1 : ms_str_compare(text, range->end.key);
    return (start > 0 || (start == 0 && range->start.kind == MS_BT_BOUND_CLOSED)) &&
           (end < 0 || (end == 0 && range->end.kind == MS_BT_BOUND_CLOSED));
}

static inline bool naive_has_bits(ms_str value, ms_str mask)
{
    bool has = value.bytes == mask.bytes;
    for (size_t i = 0; has && i < mask.bytes; i++) {
        has = (value.ptr[i] & mask.ptr[i]) == mask.ptr[i];
    }
    return has;
}

/* How many cells before this one are in its column. */
static inline size_t naive_place_in_column(const naive_cells *in, size_t index)
{
    size_t before = 0;
    for (size_t i = 0; i < index; i++) {
        before += in->list[i].family == in->list[index].family &&
                  ms_str_equals(in->list[i].qualifier, in->list[index].qualifier);
    }
    return before;
}

/* Whether a filter that gives each cell once or not gives this one. */
static inline bool naive_keeps(const naive *n, const ms_bt_filter *filter, const naive_cells *in,
                               size_t index)
{
    const naive_cell *cell = &in->list[index];
    ms_str family = n->table->families[cell->family].name;
    switch (filter->kind) {
    case MS_BT_FILTER_BLOCK_ALL:
        return false;
    case MS_BT_FILTER_ROW_KEY_REGEX:
        return naive_matches(n, filter, n->key);
    case MS_BT_FILTER_ROW_SAMPLE:
        return filter->probability > 0.5;
    case MS_BT_FILTER_FAMILY:
        return ms_str_equals(family, filter->text);
    case MS_BT_FILTER_FAMILY_REGEX:
        return naive_matches(n, filter, family);
    case MS_BT_FILTER_QUALIFIER_REGEX:
        return naive_matches(n, filter, cell->qualifier);
    case MS_BT_FILTER_COLUMN_RANGE:
        return ms_str_equals(family, filter->text) &&
               naive_in_range(&filter->bounds, cell->qualifier);
    case MS_BT_FILTER_TIMESTAMP_RANGE:
        return cell->micros >= filter->start_micros &&
               (filter->end_micros == 0 || cell->micros < filter->end_micros);
    case MS_BT_FILTER_VALUE_REGEX:
        return naive_matches(n, filter, cell->value);
    case MS_BT_FILTER_VALUE_RANGE:
        return naive_in_range(&filter->bounds, cell->value);
    case MS_BT_FILTER_VALUE_BITMASK:
        return naive_has_bits(cell->value, filter->text);
    case MS_BT_FILTER_CELLS_PER_ROW_OFFSET:
        return index >= (size_t)filter->count;
    case MS_BT_FILTER_CELLS_PER_ROW_LIMIT:
        return index < (size_t)filter->count;
    case MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT:
        return naive_place_in_column(in, index) < (size_t)filter->count;
    case MS_BT_FILTER_PASS_ALL:
    case MS_BT_FILTER_STRIP_VALUE:
    case MS_BT_FILTER_APPLY_LABEL:
        return true;
    case MS_BT_FILTER_CHAIN:
    case MS_BT_FILTER_INTERLEAVE:
    case MS_BT_FILTER_CONDITION:
    case MS_BT_FILTER_SINK:
    case MS_BT_FILTER_COUNT:
        break;
    }
    abort();
}

static inline naive_cells naive_apply(naive *n, const ms_bt_filter *filter, const naive_cells *in);

static inline naive_cells naive_chain(naive *n, const ms_bt_filter *filter, const naive_cells *in)
{
    naive_cells now = {ms_arena_array(n->arena, naive_cell, in->count), in->count};
    for (size_t i = 0; i < in->count; i++) {
        now.list[i] = in->list[i];
        now.list[i].from = i;
    }
    for (size_t child = 0; child < filter->child_count; child++) {
        naive_cells after = naive_apply(n, filter->children[child], &now);
        for (size_t i = 0; i < after.count; i++) {
            after.list[i].from = now.list[after.list[i].from].from;
        }
        now = after;
    }
    return now;
}

/* For each cell of the input, what the branches gave for it, in their order. */
static inline naive_cells naive_interleave(naive *n, const ms_bt_filter *filter,
                                           const naive_cells *in)
{
    naive_cells branches[8];
    size_t total = 0;
    for (size_t child = 0; child < filter->child_count; child++) {
        branches[child] = naive_apply(n, filter->children[child], in);
        total += branches[child].count;
    }
    if (total > NAIVE_CELLS_MAX) {
        n->is_too_large = true;
        return (naive_cells){NULL, 0};
    }
    naive_cells out = {ms_arena_array(n->arena, naive_cell, total), 0};
    for (size_t from = 0; from < in->count; from++) {
        for (size_t child = 0; child < filter->child_count; child++) {
            for (size_t i = 0; i < branches[child].count; i++) {
                if (branches[child].list[i].from == from) {
                    out.list[out.count++] = branches[child].list[i];
                }
            }
        }
    }
    return out;
}

static inline naive_cells naive_apply(naive *n, const ms_bt_filter *filter, const naive_cells *in)
{
    static const ms_bt_filter pass = {.kind = MS_BT_FILTER_PASS_ALL};
    filter = filter == NULL ? &pass : filter;
    naive_cells out = {ms_arena_array(n->arena, naive_cell, in->count), 0};
    if (filter->kind == MS_BT_FILTER_CHAIN) {
        return naive_chain(n, filter, in);
    }
    if (filter->kind == MS_BT_FILTER_INTERLEAVE) {
        return naive_interleave(n, filter, in);
    }
    if (filter->kind == MS_BT_FILTER_CONDITION) {
        bool holds = naive_apply(n, filter->children[0], in).count > 0;
        const ms_bt_filter *branch = filter->children[holds ? 1 : 2];
        return branch == NULL ? out : naive_apply(n, branch, in);
    }
    for (size_t i = 0; i < in->count; i++) {
        naive_cell cell = in->list[i];
        cell.from = i;
        if (filter->kind == MS_BT_FILTER_SINK) {
            n->is_too_large = n->is_too_large || n->sunk.count == NAIVE_CELLS_MAX;
            if (!n->is_too_large) {
                n->sunk.list[n->sunk.count++] = cell;
            }
            continue;
        }
        cell.value.bytes = filter->kind == MS_BT_FILTER_STRIP_VALUE ? 0 : cell.value.bytes;
        cell.label = filter->kind == MS_BT_FILTER_APPLY_LABEL ? filter->text : cell.label;
        if (naive_keeps(n, filter, in, i)) {
            out.list[out.count++] = cell;
        }
    }
    return out;
}

/* What a read gives of a row, unless is_too_large. */
static inline naive_cells naive_row(naive *n, const ms_bt_filter *filter, const naive_cells *in)
{
    n->is_too_large = false;
    n->sunk.count = 0;
    if (n->sunk.list == NULL) {
        n->sunk.list = ms_arena_array(n->arena, naive_cell, NAIVE_CELLS_MAX);
    }
    naive_cells given = naive_apply(n, filter, in);
    naive_cells out = {ms_arena_array(n->arena, naive_cell, given.count + n->sunk.count), 0};
    for (size_t i = 0; i < given.count; i++) {
        out.list[out.count++] = given.list[i];
    }
    for (size_t i = 0; i < n->sunk.count; i++) {
        out.list[out.count++] = n->sunk.list[i];
    }
    return out;
}

/* Rows, and comparing them. */

#define NAIVE_ROW_CELLS_MAX 12u

/* The families of a table by their rank in order of names. */
static inline uint32_t naive_family_at(const ms_bt_table *table, size_t rank)
{
    for (size_t i = 0; i < table->family_count; i++) {
        size_t below = 0;
        for (size_t j = 0; j < table->family_count; j++) {
            below += ms_str_compare(table->families[j].name, table->families[i].name) < 0;
        }
        if (below == rank) {
            return (uint32_t)i;
        }
    }
    abort();
}

/* A row in order: by family name, qualifier, newest first, without duplicates. */
static inline naive_cells naive_random_row(naive *n)
{
    naive_cells row = {ms_arena_array(n->arena, naive_cell, NAIVE_ROW_CELLS_MAX), 0};
    unsigned columns = 1 + naive_pick(&n->choices, 2);
    for (size_t f = 0; f < n->table->family_count; f++) {
        ms_str qualifier = {NULL, 0};
        for (unsigned c = 0; c < columns; c++) {
            ms_str next = naive_text(n, c > 0, 2);
            if (c > 0 && ms_str_compare(next, qualifier) <= 0) {
                continue;
            }
            qualifier = next;
            for (int64_t micros = 4; micros-- > 0 && row.count < NAIVE_ROW_CELLS_MAX;) {
                if (naive_pick(&n->choices, 2) == 0) {
                    row.list[row.count++] = (naive_cell){
                        .family = naive_family_at(n->table, f),
                        .qualifier = qualifier,
                        .micros = micros,
                        .value = naive_text(n, 0, 2),
                    };
                }
            }
        }
    }
    return row;
}

static inline ms_str naive_family_name(const naive *n, const naive_cell *cell)
{
    return n->table->families[cell->family].name;
}

/* By place in the row. */
static inline int naive_compare_places(const naive *n, const naive_cell *a, const naive_cell *b)
{
    int order = ms_str_compare(naive_family_name(n, a), naive_family_name(n, b));
    order = order != 0 ? order : ms_str_compare(a->qualifier, b->qualifier);
    return order != 0 ? order : (a->micros < b->micros) - (a->micros > b->micros);
}

/* By everything. */
static inline int naive_compare(const naive *n, const naive_cell *a, const naive_cell *b)
{
    int order = naive_compare_places(n, a, b);
    order = order != 0 ? order : ms_str_compare(a->label, b->label);
    return order != 0 ? order : ms_str_compare(a->value, b->value);
}

static inline bool naive_is_in_order(const naive *n, const naive_cells *cells)
{
    for (size_t i = 1; i < cells->count; i++) {
        if (naive_compare_places(n, &cells->list[i - 1], &cells->list[i]) > 0) {
            return false;
        }
    }
    return true;
}

/* Whether two lists hold the same cells, in whatever order: the service promises none among copies
 * of the same column and time. */
static inline bool naive_same_cells(const naive *n, const naive_cells *a, const naive_cells *b)
{
    if (a->count != b->count) {
        return false;
    }
    bool *is_taken = ms_arena_array(n->arena, bool, b->count);
    for (size_t i = 0; i < a->count; i++) {
        size_t j = 0;
        while (j < b->count && (is_taken[j] || naive_compare(n, &a->list[i], &b->list[j]) != 0)) {
            j++;
        }
        if (j == b->count) {
            return false;
        }
        is_taken[j] = true;
    }
    return true;
}

#endif
