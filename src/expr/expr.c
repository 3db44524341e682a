/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, comparing, walking and rewriting expression trees. All functions recurse along the tree,
 * whose depth the parser and the reader of plan texts bound.
 */
#include "expr/expr.h"

#include "func/typing.h"
#include "type/hash.h"

/* Making. */

static const ms_expr *const *copy_children(ms_arena *arena, const ms_expr *const *children,
                                           uint32_t count)
{
    const ms_expr **copy = ms_arena_array(arena, const ms_expr *, count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = children[i];
    }
    return copy;
}

const ms_expr *ms_expr_column(ms_arena *arena, uint32_t index, const ms_type *type, ms_span span)
{
    ms_expr *expr = ms_arena_new(arena, ms_expr);
    *expr = (ms_expr){.kind = MS_EXPR_COLUMN, .index = index, .span = span, .type = type};
    return expr;
}

const ms_expr *ms_expr_const(ms_arena *arena, const ms_value *value, ms_span span)
{
    ms_value *copy = ms_arena_new(arena, ms_value);
    *copy = ms_value_copy(arena, value);
    ms_expr *expr = ms_arena_new(arena, ms_expr);
    *expr = (ms_expr){.kind = MS_EXPR_CONST, .span = span, .type = copy->type, .value = copy};
    return expr;
}

const ms_expr *ms_expr_node(ms_arena *arena, ms_expr_kind kind, const ms_fn *fn,
                            const ms_type *type, const ms_expr *const *children,
                            uint32_t child_count, ms_span span)
{
    ms_expr *expr = ms_arena_new(arena, ms_expr);
    *expr = (ms_expr){.kind = kind,
                      .span = span,
                      .type = type,
                      .fn = fn,
                      .child_count = child_count,
                      .children = copy_children(arena, children, child_count)};
    return expr;
}

const ms_expr *ms_expr_field(ms_arena *arena, const ms_expr *row, uint32_t index,
                             const ms_type *type, ms_span span)
{
    ms_expr *expr = ms_arena_new(arena, ms_expr);
    *expr = (ms_expr){.kind = MS_EXPR_FIELD,
                      .index = index,
                      .span = span,
                      .type = type,
                      .child_count = 1,
                      .children = copy_children(arena, &row, 1)};
    return expr;
}

const ms_expr *ms_expr_with_children(ms_arena *arena, const ms_expr *expr,
                                     const ms_expr *const *children)
{
    ms_expr *copy = ms_arena_new(arena, ms_expr);
    *copy = *expr;
    copy->children = copy_children(arena, children, expr->child_count);
    return copy;
}

/* Inspection. */

/* As ms_value_equals, but -0.0 is not 0.0: dividing by them differs. */
static bool same_constant(const ms_value *a, const ms_value *b)
{
    if (!ms_value_equals(a, b) || a->is_null) {
        return a->is_null && b->is_null;
    }
    if (a->type->phys == MS_PHYS_F32 || a->type->phys == MS_PHYS_F64) {
        return __builtin_signbit(a->u.f) == __builtin_signbit(b->u.f);
    }
    for (uint32_t i = 0; ms_type_is_nested(a->type) && i < a->item_count; i++) {
        if (!same_constant(&a->u.items[i], &b->u.items[i])) {
            return false;
        }
    }
    return true;
}

bool ms_expr_equals(const ms_expr *a, const ms_expr *b)
{
    if (a == b) {
        return true;
    }
    if (a->kind != b->kind || a->index != b->index || a->fn != b->fn ||
        a->child_count != b->child_count || !ms_type_equals(a->type, b->type)) {
        return false;
    }
    if (a->kind == MS_EXPR_CONST && !same_constant(a->value, b->value)) {
        return false;
    }
    for (uint32_t i = 0; i < a->child_count; i++) {
        if (!ms_expr_equals(a->children[i], b->children[i])) {
            return false;
        }
    }
    return true;
}

uint64_t ms_expr_hash(const ms_expr *expr)
{
    uint64_t hash = ms_hash_mix(((uint64_t)expr->kind << 32) + expr->index);
    hash = ms_hash_mix(hash ^ (uint64_t)(uintptr_t)expr->fn);
    hash = ms_hash_mix(hash ^ (uint64_t)expr->type->kind);
    if (expr->kind == MS_EXPR_CONST) {
        hash = ms_hash_mix(hash ^ ms_hash_values(expr->value, 1));
    }
    for (uint32_t i = 0; i < expr->child_count; i++) {
        hash = ms_hash_mix(hash + ms_expr_hash(expr->children[i]));
    }
    return hash;
}

bool ms_expr_is_constant(const ms_expr *expr)
{
    for (uint32_t i = 0; i < expr->child_count; i++) {
        if (!ms_expr_is_constant(expr->children[i])) {
            return false;
        }
    }
    return expr->kind != MS_EXPR_COLUMN && expr->kind != MS_EXPR_REF;
}

/* True when every function below has the flags. */
static bool all_have(const ms_expr *expr, uint32_t flags)
{
    if (expr->fn != NULL && (expr->fn->desc->flags & flags) != flags) {
        return false;
    }
    for (uint32_t i = 0; i < expr->child_count; i++) {
        if (!all_have(expr->children[i], flags)) {
            return false;
        }
    }
    return true;
}

bool ms_expr_is_deterministic(const ms_expr *expr)
{
    return all_have(expr, MS_FN_DETERMINISTIC);
}

bool ms_expr_is_pure(const ms_expr *expr)
{
    return all_have(expr, MS_FN_PURE);
}

bool ms_expr_is_shareable(const ms_expr *expr)
{
    return all_have(expr, MS_FN_DETERMINISTIC | MS_FN_PURE);
}

/* Asks the function, as a program would. */
static bool call_can_fail(const ms_expr *expr)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type **types = ms_arena_array(&arena, const ms_type *, expr->child_count);
    const ms_value **constants = ms_arena_array(&arena, const ms_value *, expr->child_count);
    for (uint32_t i = 0; i < expr->child_count; i++) {
        types[i] = expr->children[i]->type;
        constants[i] = expr->children[i]->value;
    }
    ms_fn_args args = {expr->child_count, types, constants};
    /* Overflow counts as a failure, since the session may say so. */
    ms_eval_config config = {.overflow_is_error = true};
    ms_fn_prepared prepared = {.can_fail = true};
    ms_status st = {0};
    ms_rc rc = ms_fn_prepare(&arena, expr->fn, &args, expr->type, &config, &prepared, &st);
    bool can_fail = rc != MS_OK || prepared.can_fail;
    ms_arena_release(&arena);
    return can_fail;
}

bool ms_expr_can_fail(const ms_expr *expr)
{
    for (uint32_t i = 0; i < expr->child_count; i++) {
        if (ms_expr_can_fail(expr->children[i])) {
            return true;
        }
    }
    if (expr->kind == MS_EXPR_CAST) {
        const ms_type *from = expr->children[0]->type;
        return ms_typing_cast_class(from, expr->type) != MS_CAST_INFALLIBLE;
    }
    return expr->kind == MS_EXPR_CALL && call_can_fail(expr);
}

bool ms_expr_is_literal_bool(const ms_expr *expr, bool value)
{
    return expr->kind == MS_EXPR_CONST && expr->type->kind == MS_TYPE_BOOLEAN &&
           !expr->value->is_null && (expr->value->u.i != 0) == value;
}

bool ms_expr_is_null_literal(const ms_expr *expr)
{
    return expr->kind == MS_EXPR_CONST && expr->value->is_null;
}

bool ms_expr_is_call_of(const ms_expr *expr, const char *name)
{
    return expr->kind == MS_EXPR_CALL && strcmp(expr->fn->desc->name, name) == 0;
}

/* Walking. */

void ms_expr_walk(const ms_expr *expr, ms_expr_visit visit, void *ctx)
{
    if (!visit(ctx, expr)) {
        return;
    }
    for (uint32_t i = 0; i < expr->child_count; i++) {
        ms_expr_walk(expr->children[i], visit, ctx);
    }
}

static bool mark_column(void *ctx, const ms_expr *expr)
{
    uint64_t *bits = ctx;
    if (expr->kind == MS_EXPR_COLUMN) {
        ms_bit_set(bits, expr->index);
    }
    return true;
}

void ms_expr_columns(const ms_expr *expr, uint64_t *bits)
{
    ms_expr_walk(expr, mark_column, bits);
}

uint32_t ms_expr_conjuncts(const ms_expr *expr, const ms_expr **list, uint32_t list_max)
{
    if (expr->kind != MS_EXPR_AND) {
        if (list_max > 0) {
            list[0] = expr;
        }
        return 1;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < expr->child_count; i++) {
        uint32_t room = list_max > count ? list_max - count : 0;
        count += ms_expr_conjuncts(expr->children[i], room > 0 ? list + count : NULL, room);
    }
    return count;
}

/* Rewriting. */

const ms_expr *ms_expr_rewrite(ms_arena *arena, const ms_expr *expr, ms_expr_replace replace,
                               void *ctx)
{
    const ms_expr **children = NULL;
    for (uint32_t i = 0; i < expr->child_count; i++) {
        const ms_expr *child = ms_expr_rewrite(arena, expr->children[i], replace, ctx);
        if (child != expr->children[i] && children == NULL) {
            children = ms_arena_array(arena, const ms_expr *, expr->child_count);
            for (uint32_t k = 0; k < expr->child_count; k++) {
                children[k] = expr->children[k];
            }
        }
        if (children != NULL) {
            children[i] = child;
        }
    }
    return replace(ctx, arena,
                   children != NULL ? ms_expr_with_children(arena, expr, children) : expr);
}

static const ms_expr *remap_column(void *ctx, ms_arena *arena, const ms_expr *expr)
{
    const uint32_t *map = ctx;
    if (expr->kind != MS_EXPR_COLUMN || map[expr->index] == expr->index) {
        return expr;
    }
    return ms_expr_column(arena, map[expr->index], expr->type, expr->span);
}

const ms_expr *ms_expr_remap(ms_arena *arena, const ms_expr *expr, const uint32_t *map)
{
    /* The callback only reads. */
    union {
        const uint32_t *in;
        void *out;
    } ctx = {.in = map};
    return ms_expr_rewrite(arena, expr, remap_column, ctx.out);
}

static const ms_expr *substitute_column(void *ctx, ms_arena *arena, const ms_expr *expr)
{
    const ms_expr *const *columns = ctx;
    (void)arena;
    return expr->kind == MS_EXPR_COLUMN ? columns[expr->index] : expr;
}

const ms_expr *ms_expr_substitute(ms_arena *arena, const ms_expr *expr,
                                  const ms_expr *const *columns)
{
    union {
        const ms_expr *const *in;
        void *out;
    } ctx = {.in = columns};
    return ms_expr_rewrite(arena, expr, substitute_column, ctx.out);
}

/* Copying: a table from originals to copies keeps sharing. */

typedef struct copied {
    const ms_expr *from;
    const ms_expr *to;
} copied;

typedef struct copier {
    ms_arena *arena;
    ms_arena scratch;
    copied *slots;
    uint32_t count;
    uint32_t mask;
} copier;

static copied *find_copy(const copier *c, const ms_expr *expr)
{
    uint32_t slot = (uint32_t)ms_hash_mix((uint64_t)(uintptr_t)expr) & c->mask;
    while (c->slots[slot].from != NULL && c->slots[slot].from != expr) {
        slot = (slot + 1) & c->mask;
    }
    return &c->slots[slot];
}

static void grow_copies(copier *c)
{
    copied *old = c->slots;
    uint32_t old_capacity = c->slots != NULL ? c->mask + 1 : 0;
    c->mask = old_capacity == 0 ? 63 : old_capacity * 2 - 1;
    c->slots = ms_arena_array(&c->scratch, copied, (size_t)c->mask + 1);
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i].from != NULL) {
            *find_copy(c, old[i].from) = old[i];
        }
    }
}

/* A copy of a value whose types are those of the copied type. */
static ms_value copy_value(ms_arena *arena, const ms_value *value, const ms_type *type)
{
    ms_value copy = *value;
    copy.type = type;
    if (value->is_null || !ms_type_is_nested(type)) {
        copy = ms_value_copy(arena, value);
        copy.type = type;
        return copy;
    }
    ms_value *items = ms_arena_array(arena, ms_value, value->item_count);
    for (uint32_t i = 0; i < value->item_count; i++) {
        uint32_t child = type->kind == MS_TYPE_ROW ? i : i % type->child_count;
        bool is_count = type->kind == MS_TYPE_MULTISET && i % 2 == 1;
        const ms_type *item_type = is_count ? value->u.items[i].type : type->children[child];
        items[i] = copy_value(arena, &value->u.items[i], item_type);
    }
    copy.u.items = items;
    return copy;
}

static const ms_expr *copy_expr(copier *c, const ms_expr *expr)
{
    copied *known = find_copy(c, expr);
    if (known->from != NULL) {
        return known->to;
    }
    ms_expr *copy = ms_arena_new(c->arena, ms_expr);
    *copy = *expr;
    copy->type = ms_type_copy(c->arena, expr->type);
    if (expr->value != NULL) {
        ms_value *value = ms_arena_new(c->arena, ms_value);
        *value = copy_value(c->arena, expr->value, copy->type);
        copy->value = value;
    }
    const ms_expr **children = ms_arena_array(c->arena, const ms_expr *, expr->child_count);
    for (uint32_t i = 0; i < expr->child_count; i++) {
        children[i] = copy_expr(c, expr->children[i]);
    }
    copy->children = children;
    if (++c->count > c->mask / 2) {
        grow_copies(c);
    }
    *find_copy(c, expr) = (copied){expr, copy};
    return copy;
}

const ms_expr *ms_expr_copy(ms_arena *arena, const ms_expr *expr)
{
    copier c = {.arena = arena};
    ms_arena_init(&c.scratch, 0);
    grow_copies(&c);
    const ms_expr *copy = copy_expr(&c, expr);
    ms_arena_release(&c.scratch);
    return copy;
}
