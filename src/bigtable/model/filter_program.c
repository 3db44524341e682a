/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From tree to graph. Nodes are made from the end to the beginning: what a filter leads to exists
 * before the filter's own node does, so that what is known of the rest (its facts) is complete when
 * a node is made, and the list of nodes, read backwards, is in the order in which cells pass them.
 */
#include "bigtable/model/filter_program.h"

#include "bigtable/model/filter_graph.h"

/* Lists of key ranges longer than this are given up: they stand in every fork of the graph. */
#define KEY_RANGES_MAX 32u
/* Size times bytes, for all names and all regular expressions: some seconds at worst. */
#define FAMILY_WORK_MAX (UINT64_C(1) << 30)

typedef struct builder {
    ms_arena *arena;
    const ms_bt_table *table;
    size_t regex_bytes;
    bool lacks_family;   /* one that the filter names */
    uint64_t regex_work; /* done at compile time, on names of families */
    ms_bt_filter_program *program;
    msi_filter_node **nodes;
    uint32_t node_capacity;
    const msi_filter_condition **conditions;
    ms_str *labels;
    ms_bt_status *bt;
} builder;

/* Where in the tree a filter stands. */
typedef struct place {
    const msi_filter_condition *parent;
    unsigned child;
} place;

/* Sets of families: one bit each. */

static size_t family_words(const builder *b)
{
    return (b->table->family_count + 63) / 64;
}

static uint64_t *no_families(const builder *b)
{
    return ms_arena_array(b->arena, uint64_t, family_words(b) + 1);
}

static void add_family(uint64_t *families, size_t index)
{
    families[index / 64] |= UINT64_C(1) << (index % 64);
}

static bool is_none(const builder *b, const uint64_t *families)
{
    if (families == NULL) {
        return b->table->family_count == 0;
    }
    for (size_t i = 0; i < family_words(b); i++) {
        if (families[i] != 0) {
            return false;
        }
    }
    return true;
}

static const uint64_t *combine(const builder *b, const uint64_t *left, const uint64_t *right,
                               bool is_union)
{
    if (left == NULL || right == NULL) {
        if (is_union) {
            return NULL;
        }
        return left == NULL ? right : left;
    }
    uint64_t *both = no_families(b);
    for (size_t i = 0; i < family_words(b); i++) {
        both[i] = is_union ? left[i] | right[i] : left[i] & right[i];
    }
    return both;
}

/* Facts. */

static msi_filter_facts nothing_passes(const builder *b)
{
    /* Not less than any text, and less than all but the empty one. */
    static const ms_bt_range no_text = {{MS_BT_BOUND_OPEN, {"", 0}}, {MS_BT_BOUND_CLOSED, {"", 0}}};
    return (msi_filter_facts){.has_keys = true, .families = no_families(b), .qualifiers = no_text};
}

static void limit_keys(builder *b, msi_filter_facts *facts, const ms_bt_ranges *keys)
{
    facts->keys = facts->has_keys ? ms_bt_ranges_intersect(&facts->keys, keys, b->arena) : *keys;
    facts->has_keys = facts->keys.count <= KEY_RANGES_MAX;
}

/* The smallest range around both, unless one has nothing in it. */
static ms_bt_range hull(const ms_bt_range *a, const ms_bt_range *b)
{
    if (ms_bt_range_is_empty(a) || ms_bt_range_is_empty(b)) {
        return ms_bt_range_is_empty(a) ? *b : *a;
    }
    return (ms_bt_range){ms_bt_range_compare_start(a, b) <= 0 ? a->start : b->start,
                         ms_bt_range_compare_end(a, b) >= 0 ? a->end : b->end};
}

/* What is known when cells go both ways. */
static msi_filter_facts either(builder *b, const msi_filter_facts *left,
                               const msi_filter_facts *right)
{
    msi_filter_facts facts = {
        .has_keys = left->has_keys && right->has_keys,
        .families = combine(b, left->families, right->families, true),
        .qualifiers = hull(&left->qualifiers, &right->qualifiers),
        .tests_values = left->tests_values || right->tests_values,
        .gives_values = left->gives_values || right->gives_values,
    };
    if (!facts.has_keys) {
        return facts;
    }
    size_t count = left->keys.count + right->keys.count;
    ms_bt_range *list = ms_arena_array(b->arena, ms_bt_range, count);
    for (size_t i = 0; i < count; i++) {
        list[i] =
            i < left->keys.count ? left->keys.list[i] : right->keys.list[i - left->keys.count];
    }
    facts.keys = ms_bt_ranges_coalesce(list, count, b->arena);
    facts.has_keys = facts.keys.count <= KEY_RANGES_MAX;
    return facts;
}

/* A row gives something by the predicate and its branch, or by the other branch. */
static msi_filter_facts condition_facts(builder *b, const msi_filter_node *node)
{
    const msi_filter_facts *predicate = &node->children[MSI_CONDITION_PREDICATE]->facts;
    msi_filter_facts then = node->children[MSI_CONDITION_THEN]->facts;
    if (predicate->has_keys) {
        limit_keys(b, &then, &predicate->keys);
    }
    msi_filter_facts facts = either(b, &then, &node->children[MSI_CONDITION_OTHERWISE]->facts);
    facts.families = combine(b, facts.families, predicate->families, true);
    facts.qualifiers = hull(&facts.qualifiers, &predicate->qualifiers);
    facts.tests_values = facts.tests_values || predicate->tests_values;
    return facts;
}

static void limit_to_regex(builder *b, msi_filter_facts *facts, const msi_filter_node *node)
{
    /* No row has the empty key. */
    bool is_empty = node->regex->is_literal && node->regex->literal.bytes == 0;
    ms_bt_ranges keys = ms_bt_ranges_coalesce(&node->bounds, is_empty ? 0 : 1, b->arena);
    bool is_all =
        node->bounds.start.kind == MS_BT_BOUND_NONE && node->bounds.end.kind == MS_BT_BOUND_NONE;
    if (!is_all) {
        limit_keys(b, facts, &keys);
    }
}

static msi_filter_facts find_facts(builder *b, const msi_filter_node *node)
{
    msi_filter_facts facts = {0};
    if (node->next != NULL) {
        facts = node->next->facts;
    }
    switch (node->op) {
    case MSI_OP_EMIT:
        return (msi_filter_facts){.gives_values = true};
    case MSI_OP_MATCH:
        return (msi_filter_facts){0};
    case MSI_OP_BLOCK:
        return nothing_passes(b);
    case MSI_OP_FORK:
        facts = node->children[0]->facts;
        for (uint32_t i = 1; i < node->child_count; i++) {
            facts = either(b, &facts, &node->children[i]->facts);
        }
        return facts;
    case MSI_OP_CONDITION:
        return condition_facts(b, node);
    case MSI_OP_ROW_REGEX:
        limit_to_regex(b, &facts, node);
        return facts;
    case MSI_OP_FAMILIES:
        facts.families = combine(b, facts.families, node->families, false);
        return facts;
    case MSI_OP_VALUE_REGEX:
    case MSI_OP_VALUE_RANGE:
    case MSI_OP_VALUE_BITMASK:
        facts.tests_values = true;
        return facts;
    case MSI_OP_ROW_OFFSET:
    case MSI_OP_ROW_LIMIT:
        /* Cells of every family are counted, unless nothing comes of it anyway. */
        if (!is_none(b, facts.families)) {
            facts.families = NULL;
            facts.qualifiers = (ms_bt_range){0};
        }
        return facts;
    case MSI_OP_STRIP:
        /* What is tested behind it is the empty value. */
        facts.tests_values = false;
        facts.gives_values = false;
        return facts;
    case MSI_OP_QUALIFIER_REGEX:
    case MSI_OP_QUALIFIER_RANGE:
        facts.qualifiers = ms_bt_range_intersect(&facts.qualifiers, &node->bounds);
        return facts;
    case MSI_OP_ROW_SAMPLE:
    case MSI_OP_TIMES:
    case MSI_OP_COLUMN_LIMIT:
    case MSI_OP_LABEL:
        break;
    }
    return facts;
}

/* Nodes. */

/* Puts a finished node into the list. */
static const msi_filter_node *add(builder *b, const msi_filter_node *made)
{
    msi_filter_node *node = ms_arena_new(b->arena, msi_filter_node);
    *node = *made;
    node->facts = find_facts(b, node);
    node->number = b->program->node_count++;
    MS_ASSERT(node->number < b->node_capacity);
    b->nodes[node->number] = node;
    return node;
}

static ms_bt_bound plain_bound(const ms_bt_bound *bound)
{
    return ms_bt_bound_make(bound->kind, bound->key);
}

static ms_bt_range plain_bounds(const ms_bt_filter *filter)
{
    return (ms_bt_range){plain_bound(&filter->bounds.start), plain_bound(&filter->bounds.end)};
}

/* The set of the one family of this name. That it is missing is said last: what is wrong with the
 * filter whatever the table goes before. */
static const uint64_t *named_family(builder *b, ms_str name)
{
    const ms_bt_family *family = ms_bt_table_family(b->table, name);
    uint64_t *families = no_families(b);
    if (family == NULL) {
        b->lacks_family = true;
    } else {
        add_family(families, (size_t)(family - b->table->families));
    }
    return families;
}

static ms_bt_code no_family(builder *b)
{
    char path[MS_BT_TABLE_PATH_BYTES];
    ms_bt_table_name_path(&b->table->name, path);
    return ms_bt_status_set(b->bt, MS_BT_NOT_FOUND,
                            "Error while reading table '%s' : Requested column family not found",
                            path);
}

/* Families are matched once, here. */
static ms_bt_code matching_families(builder *b, const ms_bt_filter *filter,
                                    const uint64_t **families_out)
{
    const msi_regex *regex = NULL;
    MS_BT_TRY(msi_filter_compile_regex(filter, b->regex_bytes, b->arena, &regex, b->bt));
    if (regex->is_literal) {
        *families_out = named_family(b, regex->literal);
        return MS_BT_OK;
    }
    uint64_t *families = no_families(b);
    for (size_t i = 0; i < b->table->family_count; i++) {
        ms_str name = b->table->families[i].name;
        b->regex_work += regex->size * (name.bytes + 1);
        if (b->regex_work > FAMILY_WORK_MAX) {
            return ms_bt_status_set(b->bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field '%s' : too large for the number of families",
                                    ms_bt_filter_kind_name(filter->kind));
        }
        int matches = msi_regex_match(regex, name);
        if (matches < 0) {
            return ms_bt_status_set(b->bt, MS_BT_RESOURCE_EXHAUSTED, "Out of memory");
        }
        if (matches > 0) {
            add_family(families, i);
        }
    }
    *families_out = families;
    return MS_BT_OK;
}

/* The index of a label, whose texts are listed once. */
static uint16_t label_index(builder *b, ms_str label)
{
    uint32_t index = 1;
    while (index < b->program->label_count && !ms_str_equals(b->labels[index], label)) {
        index++;
    }
    if (index == b->program->label_count) {
        b->labels[index] = label;
        b->program->label_count++;
    }
    return (uint16_t)index;
}

static ms_bt_code build(builder *b, const ms_bt_filter *filter, const msi_filter_node *next,
                        place at, const msi_filter_node **node_out);

static ms_bt_code build_fork(builder *b, const ms_bt_filter *filter, const msi_filter_node *next,
                             place at, const msi_filter_node **node_out)
{
    const msi_filter_node **children =
        ms_arena_array(b->arena, const msi_filter_node *, filter->child_count);
    for (size_t i = 0; i < filter->child_count; i++) {
        MS_BT_TRY(build(b, filter->children[i], next, at, &children[i]));
    }
    b->program->way_count += (uint32_t)filter->child_count - 1;
    *node_out = add(b, &(msi_filter_node){.op = MSI_OP_FORK,
                                          .children = children,
                                          .child_count = (uint32_t)filter->child_count});
    return MS_BT_OK;
}

/*
 * The branches first, then the number, then the predicate: so the numbers of conditions in the
 * predicate are higher, and of those in the branches and behind lower.
 */
static ms_bt_code build_condition(builder *b, const ms_bt_filter *filter,
                                  const msi_filter_node *next, place at,
                                  const msi_filter_node **node_out)
{
    msi_filter_condition *condition = ms_arena_new(b->arena, msi_filter_condition);
    condition->parent = at.parent;
    condition->place = at.child;
    const msi_filter_node **children =
        ms_arena_array(b->arena, const msi_filter_node *, MSI_CONDITION_CHILDREN);
    for (unsigned i = MSI_CONDITION_CHILDREN; i-- > 0;) {
        const msi_filter_node *child_next = next;
        if (i == MSI_CONDITION_PREDICATE) {
            condition->index = b->program->condition_count++;
            b->conditions[condition->index] = condition;
            child_next = add(b, &(msi_filter_node){.op = MSI_OP_MATCH, .condition = condition});
        } else if (filter->children[i] == NULL) {
            children[i] = add(b, &(msi_filter_node){.op = MSI_OP_BLOCK});
            continue;
        }
        place inside = {condition, i};
        MS_BT_TRY(build(b, filter->children[i], child_next, inside, &children[i]));
    }
    *node_out = add(b, &(msi_filter_node){.op = MSI_OP_CONDITION,
                                          .children = children,
                                          .child_count = MSI_CONDITION_CHILDREN,
                                          .condition = condition});
    condition->node = *node_out;
    return MS_BT_OK;
}

/* What a kind that becomes one node becomes. */
typedef struct leaf_kind {
    msi_filter_op op;
    bool has_state;
    bool tests_qualifiers;
    bool counts_rows;
} leaf_kind;

static const leaf_kind leaves[MS_BT_FILTER_COUNT] = {
    [MS_BT_FILTER_BLOCK_ALL] = {.op = MSI_OP_BLOCK},
    [MS_BT_FILTER_ROW_KEY_REGEX] = {.op = MSI_OP_ROW_REGEX, .has_state = true},
    [MS_BT_FILTER_ROW_SAMPLE] = {.op = MSI_OP_ROW_SAMPLE, .has_state = true},
    [MS_BT_FILTER_FAMILY] = {.op = MSI_OP_FAMILIES},
    [MS_BT_FILTER_FAMILY_REGEX] = {.op = MSI_OP_FAMILIES},
    [MS_BT_FILTER_QUALIFIER_REGEX] = {.op = MSI_OP_QUALIFIER_REGEX,
                                      .has_state = true,
                                      .tests_qualifiers = true},
    [MS_BT_FILTER_COLUMN_RANGE] = {.op = MSI_OP_FAMILIES, .tests_qualifiers = true},
    [MS_BT_FILTER_TIMESTAMP_RANGE] = {.op = MSI_OP_TIMES},
    [MS_BT_FILTER_VALUE_REGEX] = {.op = MSI_OP_VALUE_REGEX},
    [MS_BT_FILTER_VALUE_RANGE] = {.op = MSI_OP_VALUE_RANGE},
    [MS_BT_FILTER_VALUE_BITMASK] = {.op = MSI_OP_VALUE_BITMASK},
    [MS_BT_FILTER_CELLS_PER_ROW_OFFSET] = {.op = MSI_OP_ROW_OFFSET,
                                           .has_state = true,
                                           .counts_rows = true},
    [MS_BT_FILTER_CELLS_PER_ROW_LIMIT] = {.op = MSI_OP_ROW_LIMIT,
                                          .has_state = true,
                                          .counts_rows = true},
    [MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT] = {.op = MSI_OP_COLUMN_LIMIT, .has_state = true},
    [MS_BT_FILTER_STRIP_VALUE] = {.op = MSI_OP_STRIP},
    [MS_BT_FILTER_APPLY_LABEL] = {.op = MSI_OP_LABEL},
};

static ms_bt_code build_leaf(builder *b, const ms_bt_filter *filter, const msi_filter_node *next,
                             const msi_filter_node **node_out)
{
    const leaf_kind *leaf = &leaves[filter->kind];
    ms_bt_filter_program *program = b->program;
    msi_filter_node node = {.op = leaf->op,
                            .filter = filter,
                            .next = next,
                            .limit = (uint32_t)filter->count,
                            .bounds = plain_bounds(filter)};
    node.state = leaf->has_state ? program->state_count++ : 0;
    program->tests_qualifiers = program->tests_qualifiers || leaf->tests_qualifiers;
    program->counts_rows = program->counts_rows || leaf->counts_rows;
    if (filter->kind == MS_BT_FILTER_FAMILY) {
        node.families = named_family(b, filter->text);
    } else if (filter->kind == MS_BT_FILTER_FAMILY_REGEX) {
        MS_BT_TRY(matching_families(b, filter, &node.families));
    } else if (filter->kind == MS_BT_FILTER_COLUMN_RANGE) {
        node.next = add(b, &(msi_filter_node){
                               .op = MSI_OP_QUALIFIER_RANGE, .next = next, .bounds = node.bounds});
        node.families = named_family(b, filter->text);
    } else if (filter->kind == MS_BT_FILTER_APPLY_LABEL) {
        node.label = label_index(b, filter->text);
    } else if (msi_filter_is_regex(filter->kind)) {
        MS_BT_TRY(msi_filter_compile_regex(filter, b->regex_bytes, b->arena, &node.regex, b->bt));
        node.bounds = msi_regex_range(node.regex, b->arena);
    }
    *node_out = add(b, &node);
    return MS_BT_OK;
}

/* The node at which cells enter the filter; what it gives goes to next. */
static ms_bt_code build(builder *b, const ms_bt_filter *filter, const msi_filter_node *next,
                        place at, const msi_filter_node **node_out)
{
    if (filter == NULL || filter->kind == MS_BT_FILTER_PASS_ALL) {
        *node_out = next;
        return MS_BT_OK;
    }
    if (filter->kind == MS_BT_FILTER_SINK) {
        *node_out = b->nodes[0];
        return MS_BT_OK;
    }
    if (filter->kind == MS_BT_FILTER_CHAIN) {
        for (size_t i = filter->child_count; i-- > 0;) {
            MS_BT_TRY(build(b, filter->children[i], next, at, &next));
        }
        *node_out = next;
        return MS_BT_OK;
    }
    if (filter->kind == MS_BT_FILTER_INTERLEAVE) {
        return build_fork(b, filter, next, at, node_out);
    }
    if (filter->kind == MS_BT_FILTER_CONDITION) {
        return build_condition(b, filter, next, at, node_out);
    }
    return build_leaf(b, filter, next, node_out);
}

/* The whole. */

typedef struct census {
    size_t filters;
    size_t conditions;
    size_t labels;
} census;

static void take_census(const ms_bt_filter *filter, census *counts)
{
    if (filter == NULL) {
        return;
    }
    counts->filters++;
    counts->conditions += filter->kind == MS_BT_FILTER_CONDITION;
    counts->labels += filter->kind == MS_BT_FILTER_APPLY_LABEL;
    for (size_t i = 0; i < filter->child_count; i++) {
        take_census(filter->children[i], counts);
    }
}

static void mark(builder *b, const msi_filter_node *node, bool is_behind)
{
    if (node != NULL && is_behind) {
        b->nodes[node->number]->is_behind_counter = true;
    }
}

/* Backwards through the list is the order of cells, so one pass is enough. */
static void find_counters(builder *b)
{
    for (uint32_t i = b->program->node_count; i-- > 0;) {
        const msi_filter_node *node = b->nodes[i];
        bool is_behind = node->is_behind_counter || node->op == MSI_OP_ROW_OFFSET ||
                         node->op == MSI_OP_ROW_LIMIT;
        mark(b, node->next, is_behind);
        for (uint32_t child = 0; child < node->child_count; child++) {
            mark(b, node->children[child], is_behind);
        }
    }
}

static void finish(builder *b, const msi_filter_node *entry)
{
    static const ms_bt_range every_key = {0};
    ms_bt_filter_program *program = b->program;
    program->entry = entry;
    program->conditions = b->conditions;
    program->needs_rows = program->condition_count > 0;
    program->passes = entry->op == MSI_OP_EMIT;
    program->blocks = is_none(b, entry->facts.families) ||
                      (entry->facts.has_keys && entry->facts.keys.count == 0);
    program->keys = entry->facts.has_keys ? entry->facts.keys : (ms_bt_ranges){&every_key, 1};
    if (program->blocks) {
        program->keys.count = 0;
    }
    program->families = entry->facts.families;
    program->qualifiers = entry->facts.qualifiers;
    program->tests_values = entry->facts.tests_values;
    program->gives_values = entry->facts.gives_values;
    program->labels = program->label_count > 1 ? b->labels : NULL;
    program->label_count = program->label_count > 1 ? program->label_count : 0;
}

ms_bt_code ms_bt_filter_compile(const ms_bt_filter *filter, const ms_bt_table *table,
                                ms_arena *arena, const ms_bt_filter_program **program_out,
                                ms_bt_status *bt)
{
    MS_BT_TRY(msi_filter_check_tree(filter, bt));
    census counts = {0};
    take_census(filter, &counts);
    /* EMIT, and at most: two nodes a filter, and three more a condition. */
    uint32_t capacity = (uint32_t)(1 + 2 * counts.filters + 3 * counts.conditions);
    builder b = {.arena = arena,
                 .table = table,
                 .regex_bytes = msi_filter_regex_bytes(filter),
                 .program = ms_arena_new(arena, ms_bt_filter_program),
                 .nodes = ms_arena_array(arena, msi_filter_node *, capacity),
                 .node_capacity = capacity,
                 .conditions =
                     ms_arena_array(arena, const msi_filter_condition *, counts.conditions),
                 .labels = ms_arena_array(arena, ms_str, 1 + counts.labels),
                 .bt = bt};
    b.program->label_count = 1;
    const msi_filter_node *entry = add(&b, &(msi_filter_node){.op = MSI_OP_EMIT});
    MS_BT_TRY(build(&b, filter, entry, (place){0}, &entry));
    if (b.lacks_family) {
        return no_family(&b);
    }
    find_counters(&b);
    finish(&b, entry);
    *program_out = b.program;
    return MS_BT_OK;
}
