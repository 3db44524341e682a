/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiling expressions into a program. Constant parts are folded first; then one walk emits
 * instructions, with local value numbering: the same function of the same registers is computed
 * once, if the first place runs over all rows that the second one needs and their faults have one
 * place. Nothing moves out of a branch that may not be taken. Buffers are assigned at the end
 * (allocate.c).
 */
#include "base/limits.h"
#include "expr/interp.h"
#include "expr/program_priv.h"
#include "func/cast.h"
#include "func/typing.h"
#include "type/hash.h"

/* An expression bound by LET. */
typedef struct binding {
    uint32_t id;
    uint32_t reg;
    const struct binding *outer;
} binding;

/* A growing array in the arena. */
#define LIST(type)                                                                                 \
    struct {                                                                                       \
        type *items;                                                                               \
        uint32_t count;                                                                            \
        uint32_t capacity;                                                                         \
    }

typedef struct compiler {
    ms_arena *arena;
    ms_status *st;
    const ms_eval_config *config;
    const ms_schema *input;
    LIST(msi_instr) instrs;
    LIST(msi_reg) regs;
    LIST(msi_sel) sels;
    LIST(ms_span) sites;
    const binding *bindings;
    uint32_t *columns;  /* register of each input column, MSI_NONE so far */
    uint32_t *numbered; /* hash table of instructions, index plus 1 */
    uint32_t numbered_mask;
    uint32_t numbered_count;
    uint32_t depth;
} compiler;

#define PUSH(c, list, type, value)                                                                 \
    do {                                                                                           \
        if ((c)->list.count == (c)->list.capacity) {                                               \
            uint32_t doubled = (c)->list.capacity < 16 ? 16 : (c)->list.capacity * 2;              \
            type *more = ms_arena_array((c)->arena, type, doubled);                                \
            if ((c)->list.count > 0) {                                                             \
                memcpy(more, (c)->list.items, (c)->list.count * sizeof(type));                     \
            }                                                                                      \
            (c)->list.items = more;                                                                \
            (c)->list.capacity = doubled;                                                          \
        }                                                                                          \
        (c)->list.items[(c)->list.count++] = (value);                                              \
    } while (0)

static ms_rc compile_expr(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out);

/* Registers, selections, sites. */

static uint32_t new_reg(compiler *c, const ms_type *type, bool can_fail)
{
    msi_reg reg = {.source = MSI_FROM_INSTR,
                   .type = type,
                   .can_fail = can_fail,
                   .buffer = MSI_NONE,
                   .lane = MSI_NONE};
    PUSH(c, regs, msi_reg, reg);
    return c->regs.count - 1;
}

static uint32_t new_sel(compiler *c, uint32_t parent)
{
    msi_sel sel = {.parent = parent, .buffer = MSI_NONE};
    PUSH(c, sels, msi_sel, sel);
    return c->sels.count - 1;
}

static ms_rc new_site(compiler *c, ms_span span, uint16_t *site_out)
{
    if (c->sites.count > UINT16_MAX) {
        return ms_status_set(c->st, MS_STATEMENT_TOO_LARGE, span,
                             "more than %u operations that can fail", UINT16_MAX);
    }
    *site_out = (uint16_t)c->sites.count;
    PUSH(c, sites, ms_span, span);
    return MS_OK;
}

static bool can_fail(const compiler *c, uint32_t reg)
{
    return c->regs.items[reg].can_fail;
}

/* True when every row of inner is a row of outer. */
static bool is_within(const compiler *c, uint32_t inner, uint32_t outer)
{
    while (inner > outer) {
        inner = c->sels.items[inner].parent;
    }
    return inner == outer;
}

/* Leaves. */

/* A stored plan may be damaged; a column that is not there must not be read. */
static bool is_input_column(const compiler *c, const ms_expr *expr)
{
    if (expr->index >= c->input->column_count) {
        return false;
    }
    const ms_type *type = c->input->columns[expr->index].type;
    return ms_type_is_nested(type) ? ms_type_same_shape(type, expr->type)
                                   : type->phys == expr->type->phys;
}

static uint32_t column_reg(compiler *c, const ms_expr *expr)
{
    uint32_t *known = &c->columns[expr->index];
    if (*known == MSI_NONE) {
        *known = new_reg(c, expr->type, false);
        c->regs.items[*known].source = MSI_FROM_COLUMN;
        c->regs.items[*known].column = expr->index;
    }
    return *known;
}

static uint32_t const_reg(compiler *c, const ms_expr *expr)
{
    ms_vec *vec = ms_arena_new(c->arena, ms_vec);
    ms_vec_alloc(vec, expr->type, 1, c->arena);
    if (expr->type->phys == MS_PHYS_NONE) {
        ms_bit_clear(ms_vec_validity(vec), 0);
    } else {
        ms_value_to_vec(c->arena, expr->value, vec, 0, 1);
    }
    vec->encoding = MS_ENC_CONST;
    uint32_t reg = new_reg(c, expr->type, false);
    c->regs.items[reg].source = MSI_FROM_CONST;
    c->regs.items[reg].constant = vec;
    return reg;
}

/* Value numbering. */

static uint64_t hash_instr(const msi_instr *instr)
{
    uint64_t hash = ms_hash_mix((uint64_t)instr->op * 31 + instr->index);
    hash = ms_hash_mix(hash ^ (uint64_t)(uintptr_t)instr->fn);
    for (uint32_t i = 0; i < instr->arg_count; i++) {
        hash = ms_hash_mix(hash + instr->args[i]);
    }
    return hash;
}

static bool same_site(const compiler *c, uint16_t a, uint16_t b)
{
    return c->sites.items[a].start == c->sites.items[b].start &&
           c->sites.items[a].end == c->sites.items[b].end;
}

static bool same_instr(const compiler *c, const msi_instr *a, const msi_instr *b,
                       const ms_type *type)
{
    if (a->op != b->op || a->fn != b->fn || a->index != b->index || a->is_or != b->is_or ||
        a->arg_count != b->arg_count || !ms_type_equals(c->regs.items[a->out].type, type)) {
        return false;
    }
    /* What can fail is shared only if its faults would have one place; and two casts to one type
     * differ when one of them fails and the other gives NULL. */
    if (a->op == MSI_OP_CALL && (a->prepared.can_fail != b->prepared.can_fail ||
                                 (a->prepared.can_fail && !same_site(c, a->site, b->site)))) {
        return false;
    }
    return memcmp(a->args, b->args, a->arg_count * sizeof(uint32_t)) == 0;
}

static void remember(compiler *c, uint32_t index)
{
    if (2 * (c->numbered_count + 1) > c->numbered_mask) {
        uint32_t *old = c->numbered;
        uint32_t old_capacity = old != NULL ? c->numbered_mask + 1 : 0;
        c->numbered_mask = old_capacity == 0 ? 63 : old_capacity * 2 - 1;
        c->numbered = ms_arena_array(c->arena, uint32_t, (size_t)c->numbered_mask + 1);
        c->numbered_count = 0;
        for (uint32_t i = 0; i < old_capacity; i++) {
            if (old[i] != 0) {
                remember(c, old[i] - 1);
            }
        }
    }
    uint32_t slot = (uint32_t)hash_instr(&c->instrs.items[index]) & c->numbered_mask;
    while (c->numbered[slot] != 0) {
        slot = (slot + 1) & c->numbered_mask;
    }
    c->numbered[slot] = index + 1;
    c->numbered_count++;
}

/* A register that has the same value in all rows of the selection; MSI_NONE when there is none. */
static uint32_t find_same(const compiler *c, const msi_instr *instr, const ms_type *type)
{
    if (c->numbered == NULL) {
        return MSI_NONE;
    }
    uint32_t slot = (uint32_t)hash_instr(instr) & c->numbered_mask;
    for (; c->numbered[slot] != 0; slot = (slot + 1) & c->numbered_mask) {
        const msi_instr *known = &c->instrs.items[c->numbered[slot] - 1];
        if (same_instr(c, known, instr, type) && is_within(c, instr->sel, known->sel)) {
            return known->out;
        }
    }
    return MSI_NONE;
}

/* Emits an instruction with a result, or finds one that has it already. */
static uint32_t emit(compiler *c, msi_instr *instr, const ms_type *type, bool fails, bool is_shared)
{
    uint32_t known = is_shared ? find_same(c, instr, type) : MSI_NONE;
    if (known != MSI_NONE) {
        return known;
    }
    for (uint32_t i = 0; i < instr->arg_count; i++) {
        fails = fails || can_fail(c, instr->args[i]);
    }
    instr->out = new_reg(c, type, fails);
    PUSH(c, instrs, msi_instr, *instr);
    if (is_shared) {
        remember(c, c->instrs.count - 1);
    }
    return instr->out;
}

/* Calls and casts. */

static ms_rc compile_args(compiler *c, const ms_expr *expr, uint32_t sel, const uint32_t **args_out)
{
    uint32_t *args = ms_arena_array(c->arena, uint32_t, expr->child_count);
    for (uint32_t i = 0; i < expr->child_count; i++) {
        MS_TRY(compile_expr(c, expr->children[i], sel, &args[i]));
    }
    *args_out = args;
    return MS_OK;
}

static ms_rc prepare_call(compiler *c, const ms_expr *expr, ms_fn_prepared *prepared_out)
{
    const ms_type **types = ms_arena_array(c->arena, const ms_type *, expr->child_count);
    const ms_value **constants = ms_arena_array(c->arena, const ms_value *, expr->child_count);
    for (uint32_t i = 0; i < expr->child_count; i++) {
        types[i] = expr->children[i]->type;
        constants[i] = expr->children[i]->value;
    }
    ms_fn_args args = {expr->child_count, types, constants};
    ms_rc rc = ms_fn_prepare(c->arena, expr->fn, &args, expr->type, c->config, prepared_out, c->st);
    if (rc != MS_OK) {
        ms_status_place(c->st, expr->span);
    }
    return rc;
}

static ms_rc compile_call(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    msi_instr instr = {.op = MSI_OP_CALL,
                       .sel = sel,
                       .arg_count = expr->child_count,
                       .fn = expr->fn,
                       .is_strict = ms_fn_has(expr->fn, MS_FN_STRICT),
                       .takes_constants = ms_fn_has(expr->fn, MS_FN_TAKES_CONSTANTS)};
    MS_TRY(compile_args(c, expr, sel, &instr.args));
    MS_TRY(prepare_call(c, expr, &instr.prepared));
    if (instr.prepared.can_fail) {
        MS_TRY(new_site(c, expr->span, &instr.site));
    }
    bool is_shared = ms_fn_has(expr->fn, MS_FN_DETERMINISTIC) && ms_fn_has(expr->fn, MS_FN_PURE);
    *reg_out = emit(c, &instr, expr->type, instr.prepared.can_fail, is_shared);
    return MS_OK;
}

/* True when the cast changes names and nullability only, and demands nothing that may not be. */
static bool is_relabeling(const ms_type *from, const ms_type *to)
{
    if (!ms_type_same_shape(from, to)) {
        return false;
    }
    for (uint32_t i = 0; i < from->child_count; i++) {
        if ((from->children[i]->nullable && !to->children[i]->nullable) ||
            !is_relabeling(from->children[i], to->children[i])) {
            return false;
        }
    }
    return true;
}

static ms_rc compile_cast(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    const ms_type *from = expr->children[0]->type;
    msi_instr instr = {
        .op = MSI_OP_CALL, .sel = sel, .arg_count = 1, .is_strict = true, .takes_constants = true};
    MS_TRY(compile_args(c, expr, sel, &instr.args));
    if (is_relabeling(from, expr->type)) {
        instr.op = MSI_OP_ALIAS;
        *reg_out = emit(c, &instr, expr->type, false, true);
        return MS_OK;
    }
    bool is_try = expr->kind == MS_EXPR_TRY_CAST;
    ms_rc rc =
        ms_cast_prepare(c->arena, from, expr->type, is_try, c->config, &instr.prepared, c->st);
    if (rc != MS_OK) {
        return ms_status_place(c->st, expr->span);
    }
    if (instr.prepared.can_fail) {
        MS_TRY(new_site(c, expr->span, &instr.site));
    }
    *reg_out = emit(c, &instr, expr->type, instr.prepared.can_fail, true);
    return MS_OK;
}

static ms_rc compile_field(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    msi_instr instr = {.op = MSI_OP_FIELD, .sel = sel, .arg_count = 1, .index = expr->index};
    MS_TRY(compile_args(c, expr, sel, &instr.args));
    *reg_out = emit(c, &instr, expr->type, false, true);
    return MS_OK;
}

/* Forms. */

static const uint32_t *one_arg(compiler *c, uint32_t reg)
{
    uint32_t *args = ms_arena_array(c->arena, uint32_t, 1);
    args[0] = reg;
    return args;
}

static uint32_t emit_clear(compiler *c, const ms_type *type, uint32_t sel)
{
    msi_instr instr = {.op = MSI_OP_CLEAR, .sel = sel};
    return emit(c, &instr, type, false, false);
}

/* A merge or a logic step: writes into a register that CLEAR or another one made. */
static void emit_into(compiler *c, msi_op op, uint32_t out, uint32_t reg, uint32_t sel, bool is_or)
{
    msi_instr instr = {
        .op = op, .out = out, .sel = sel, .arg_count = 1, .args = one_arg(c, reg), .is_or = is_or};
    c->regs.items[out].can_fail = c->regs.items[out].can_fail || can_fail(c, reg);
    PUSH(c, instrs, msi_instr, instr);
}

/* Splits; failures of the condition become failures of out, when there is one. */
static void emit_split(compiler *c, uint32_t reg, msi_test test, uint32_t sel, uint32_t out,
                       uint32_t *yes_out, uint32_t *no_out)
{
    msi_instr instr = {.op = MSI_OP_SPLIT,
                       .out = out,
                       .sel = sel,
                       .arg_count = 1,
                       .args = one_arg(c, reg),
                       .test = test,
                       .yes = MSI_NONE,
                       .no = MSI_NONE};
    if (yes_out != NULL) {
        instr.yes = *yes_out = new_sel(c, sel);
    }
    if (no_out != NULL) {
        instr.no = *no_out = new_sel(c, sel);
    }
    if (out != MSI_NONE) {
        c->regs.items[out].can_fail = c->regs.items[out].can_fail || can_fail(c, reg);
    }
    PUSH(c, instrs, msi_instr, instr);
}

/* CASE and IF: each condition runs where none before it was TRUE or failed. */
static ms_rc compile_case(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    uint32_t last = expr->child_count - 1;
    uint32_t out = emit_clear(c, expr->type, sel);
    uint32_t rest = sel;
    uint32_t reg = 0;
    for (uint32_t i = 0; i < last; i += 2) {
        uint32_t yes = 0;
        uint32_t no = 0;
        MS_TRY(compile_expr(c, expr->children[i], rest, &reg));
        emit_split(c, reg, MSI_TEST_TRUE, rest, out, &yes, &no);
        MS_TRY(compile_expr(c, expr->children[i + 1], yes, &reg));
        emit_into(c, MSI_OP_MERGE, out, reg, yes, false);
        rest = no;
    }
    MS_TRY(compile_expr(c, expr->children[last], rest, &reg));
    emit_into(c, MSI_OP_MERGE, out, reg, rest, false);
    *reg_out = out;
    return MS_OK;
}

/* COALESCE: each argument runs where all before it were NULL. */
static ms_rc compile_coalesce(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    uint32_t out = emit_clear(c, expr->type, sel);
    uint32_t rest = sel;
    for (uint32_t i = 0; i < expr->child_count; i++) {
        uint32_t reg = 0;
        MS_TRY(compile_expr(c, expr->children[i], rest, &reg));
        emit_into(c, MSI_OP_MERGE, out, reg, rest, false);
        if (i + 1 < expr->child_count) {
            uint32_t nulls = 0;
            emit_split(c, reg, MSI_TEST_NULL, rest, MSI_NONE, &nulls, NULL);
            rest = nulls;
        }
    }
    *reg_out = out;
    return MS_OK;
}

/* So cheap, and so harmless, that running it for all rows costs less than choosing them. */
static bool is_cheap(compiler *c, const ms_expr *expr, uint32_t depth)
{
    ms_fn_prepared prepared;
    ms_status st = {0};
    if (expr->kind == MS_EXPR_COLUMN || expr->kind == MS_EXPR_CONST) {
        return true;
    }
    if (expr->kind != MS_EXPR_CALL || depth == 0 || expr->child_count > 2 ||
        !ms_fn_has(expr->fn, MS_FN_DETERMINISTIC | MS_FN_PURE)) {
        return false;
    }
    ms_status *kept = c->st;
    c->st = &st;
    bool is_total =
        prepare_call(c, expr, &prepared) == MS_OK && prepared.is_total && !prepared.can_fail;
    c->st = kept;
    for (uint32_t i = 0; i < expr->child_count && is_total; i++) {
        is_total = is_cheap(c, expr->children[i], depth - 1);
    }
    return is_total;
}

static ms_rc compile_logic(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    bool is_or = expr->kind == MS_EXPR_OR;
    msi_test stop = is_or ? MSI_TEST_TRUE : MSI_TEST_FALSE;
    uint32_t out = 0;
    uint32_t rest = sel;
    MS_TRY(compile_expr(c, expr->children[0], sel, &out));
    bool is_pair = !can_fail(c, out);
    for (uint32_t i = 1; i < expr->child_count; i++) {
        uint32_t reg = 0;
        /* As long as nothing can fail, plain columns of truth values are combined. */
        if (is_pair && is_cheap(c, expr->children[i], 3)) {
            msi_instr pair = {.op = MSI_OP_PAIR, .sel = sel, .arg_count = 2, .is_or = is_or};
            MS_TRY(compile_expr(c, expr->children[i], sel, &reg));
            uint32_t *args = ms_arena_array(c->arena, uint32_t, 2);
            args[0] = out;
            args[1] = reg;
            pair.args = args;
            out = emit(c, &pair, expr->type, false, true);
            continue;
        }
        if (rest == sel) {
            uint32_t first = out;
            out = emit_clear(c, expr->type, sel);
            emit_into(c, MSI_OP_MERGE, out, first, sel, false);
        }
        is_pair = false;
        uint32_t next = 0;
        emit_split(c, out, stop, rest, MSI_NONE, NULL, &next);
        rest = next;
        MS_TRY(compile_expr(c, expr->children[i], rest, &reg));
        emit_into(c, MSI_OP_LOGIC, out, reg, rest, is_or);
    }
    *reg_out = out;
    return MS_OK;
}

static ms_rc compile_let(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    binding own = {.id = expr->index, .outer = c->bindings};
    MS_TRY(compile_expr(c, expr->children[0], sel, &own.reg));
    c->bindings = &own;
    ms_rc rc = compile_expr(c, expr->children[1], sel, reg_out);
    c->bindings = own.outer;
    return rc;
}

static ms_rc compile_ref(compiler *c, const ms_expr *expr, uint32_t *reg_out)
{
    const binding *found = c->bindings;
    while (found != NULL && found->id != expr->index) {
        found = found->outer;
    }
    if (found == NULL) {
        return ms_status_set(c->st, MS_INTERNAL, expr->span, "a reference without its LET");
    }
    *reg_out = found->reg;
    return MS_OK;
}

static ms_rc compile_kind(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    switch (expr->kind) {
    case MS_EXPR_COLUMN:
        if (!is_input_column(c, expr)) {
            return ms_status_set(c->st, MS_INTERNAL, expr->span,
                                 "column %u is not in the input with its type", expr->index);
        }
        *reg_out = column_reg(c, expr);
        return MS_OK;
    case MS_EXPR_CONST:
        *reg_out = const_reg(c, expr);
        return MS_OK;
    case MS_EXPR_CALL:
        return compile_call(c, expr, sel, reg_out);
    case MS_EXPR_AND:
    case MS_EXPR_OR:
        return compile_logic(c, expr, sel, reg_out);
    case MS_EXPR_CASE:
    case MS_EXPR_IF:
        return compile_case(c, expr, sel, reg_out);
    case MS_EXPR_COALESCE:
        return compile_coalesce(c, expr, sel, reg_out);
    case MS_EXPR_CAST:
    case MS_EXPR_TRY_CAST:
        return compile_cast(c, expr, sel, reg_out);
    case MS_EXPR_FIELD:
        return compile_field(c, expr, sel, reg_out);
    case MS_EXPR_LET:
        return compile_let(c, expr, sel, reg_out);
    case MS_EXPR_REF:
        return compile_ref(c, expr, reg_out);
    case MS_EXPR_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static ms_rc compile_expr(compiler *c, const ms_expr *expr, uint32_t sel, uint32_t *reg_out)
{
    /* Rewriting stacks trees on trees; the parser's limit holds for each alone. */
    if (c->depth >= 4 * MS_LIMIT_EXPR_DEPTH) {
        return ms_status_set(c->st, MS_STATEMENT_TOO_LARGE, expr->span,
                             "an expression nests deeper than %u", 4 * MS_LIMIT_EXPR_DEPTH);
    }
    c->depth++;
    ms_rc rc = compile_kind(c, expr, sel, reg_out);
    c->depth--;
    return rc;
}

/* Before compiling: constants, and x % d = 0. */

static bool is_int_const(const ms_expr *expr)
{
    return expr->kind == MS_EXPR_CONST && !expr->value->is_null && ms_type_is_integer(expr->type);
}

static bool is_modulo(const ms_expr *expr)
{
    return (ms_expr_is_call_of(expr, "%") || ms_expr_is_call_of(expr, "MOD")) &&
           is_int_const(expr->children[1]) && expr->children[1]->value->u.i != 0 &&
           (expr->children[0]->type->phys == MS_PHYS_I32 ||
            expr->children[0]->type->phys == MS_PHYS_I64);
}

/* x % d = 0 asks for divisibility only, which is cheaper than the remainder. */
static const ms_expr *ask_divisible(ms_arena *arena, const ms_expr *expr)
{
    bool is_equal = ms_expr_is_call_of(expr, "=");
    if ((!is_equal && !ms_expr_is_call_of(expr, "<>")) || !is_int_const(expr->children[1]) ||
        expr->children[1]->value->u.i != 0) {
        return expr;
    }
    const ms_expr *left = expr->children[0];
    /* The remainder may have been widened to the type of the 0; that keeps zeros. */
    while (left->kind == MS_EXPR_CAST && ms_type_is_integer(left->type) &&
           ms_type_is_integer(left->children[0]->type) &&
           left->type->kind >= left->children[0]->type->kind) {
        left = left->children[0];
    }
    if (!is_modulo(left)) {
        return expr;
    }
    const ms_fn *divisible = ms_fn_find(ms_str_lit("$DIVISIBLE"));
    const ms_expr *test =
        ms_expr_node(arena, MS_EXPR_CALL, divisible, expr->type, left->children, 2, expr->span);
    if (is_equal) {
        return test;
    }
    return ms_expr_node(arena, MS_EXPR_CALL, ms_fn_find(ms_str_lit("NOT")), expr->type, &test, 1,
                        expr->span);
}

static const ms_expr *simplify(void *ctx, ms_arena *arena, const ms_expr *expr)
{
    const ms_eval_config *config = ctx;
    bool is_foldable = expr->child_count > 0 && expr->kind != MS_EXPR_LET;
    for (uint32_t i = 0; i < expr->child_count && is_foldable; i++) {
        is_foldable = expr->children[i]->kind == MS_EXPR_CONST;
    }
    if (is_foldable && (expr->fn == NULL || ms_fn_has(expr->fn, MS_FN_DETERMINISTIC))) {
        return ms_interp_fold(arena, config, expr);
    }
    return expr->kind == MS_EXPR_CALL && expr->child_count == 2 ? ask_divisible(arena, expr) : expr;
}

/* Finishing. */

static void make_schema(ms_program *program, ms_arena *arena)
{
    ms_field *fields = ms_arena_array(arena, ms_field, program->output_count);
    for (uint32_t i = 0; i < program->output_count; i++) {
        fields[i].name = ms_arena_format(arena, "EXPR$%u", i);
        fields[i].type = program->outputs[i]->type;
    }
    program->schema = (ms_schema){program->output_count, fields};
    if (program->output_count == 0) {
        program->schema = program->input;
    }
}

static void copy_spec(ms_program *program, ms_arena *arena, const ms_program_spec *spec)
{
    ms_field *input = ms_arena_array(arena, ms_field, spec->input->column_count);
    const ms_expr **outputs = ms_arena_array(arena, const ms_expr *, spec->output_count);
    for (uint32_t i = 0; i < spec->input->column_count; i++) {
        input[i].name = ms_arena_copy_str(arena, spec->input->columns[i].name);
        input[i].type = ms_type_copy(arena, spec->input->columns[i].type);
    }
    for (uint32_t i = 0; i < spec->output_count; i++) {
        outputs[i] = ms_expr_copy(arena, spec->outputs[i]);
    }
    program->input = (ms_schema){spec->input->column_count, input};
    program->filter = spec->filter != NULL ? ms_expr_copy(arena, spec->filter) : NULL;
    program->outputs = outputs;
    program->output_count = spec->output_count;
}

static ms_rc compile_program(compiler *c, ms_program *program)
{
    uint32_t *regs = ms_arena_array(c->arena, uint32_t, program->output_count);
    uint32_t sel = 0;
    program->filter_reg = MSI_NONE;
    if (program->filter != NULL) {
        const ms_expr *filter =
            ms_expr_rewrite(c->arena, program->filter, simplify, &program->config);
        MS_TRY(compile_expr(c, filter, 0, &program->filter_reg));
        emit_split(c, program->filter_reg, MSI_TEST_TRUE, 0, MSI_NONE, &sel, NULL);
    }
    program->filter_sel = sel;
    for (uint32_t i = 0; i < program->output_count; i++) {
        const ms_expr *output =
            ms_expr_rewrite(c->arena, program->outputs[i], simplify, &program->config);
        MS_TRY(compile_expr(c, output, sel, &regs[i]));
        program->can_fail = program->can_fail || can_fail(c, regs[i]);
    }
    program->output_regs = regs;
    program->can_fail =
        program->can_fail || (program->filter_reg != MSI_NONE && can_fail(c, program->filter_reg));
    return MS_OK;
}

/* What the lists that calls make of their operands take in a row. */
static uint64_t list_bytes(const ms_program *program)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < program->instr_count; i++) {
        const msi_instr *instr = &program->instrs[i];
        if (instr->op != MSI_OP_CALL || program->regs[instr->out].type->phys != MS_PHYS_LIST) {
            continue;
        }
        const ms_type *type = program->regs[instr->out].type;
        for (uint32_t c = 0; c < type->child_count; c++) {
            bytes += (uint64_t)instr->arg_count * ms_phys_bytes(type->children[c]->phys);
        }
    }
    return bytes;
}

static uint32_t rows_max(const ms_program *program)
{
    uint64_t bytes = list_bytes(program);
    uint64_t rows = bytes == 0 ? MS_BATCH_ROWS_MAX : MS_BATCH_BYTES_TARGET / bytes;
    return rows == 0 ? 1 : rows > MS_BATCH_ROWS_MAX ? MS_BATCH_ROWS_MAX : (uint32_t)rows;
}

ms_rc ms_program_compile(ms_arena *job_arena, const ms_program_spec *spec,
                         const ms_program **program_out, ms_status *st)
{
    ms_program *program = ms_arena_new(job_arena, ms_program);
    MS_TRY(ms_eval_config_make(job_arena, &spec->config, &program->config, st));
    copy_spec(program, job_arena, spec);
    make_schema(program, job_arena);
    compiler c = {
        .arena = job_arena, .st = st, .config = &program->config, .input = &program->input};
    c.columns = ms_arena_array(job_arena, uint32_t, program->input.column_count);
    for (uint32_t i = 0; i < program->input.column_count; i++) {
        c.columns[i] = MSI_NONE;
    }
    msi_sel all = {.parent = MSI_NONE, .buffer = MSI_NONE};
    PUSH(&c, sels, msi_sel, all);
    MS_TRY(compile_program(&c, program));
    program->instrs = c.instrs.items;
    program->instr_count = c.instrs.count;
    program->regs = c.regs.items;
    program->reg_count = c.regs.count;
    program->sels = c.sels.items;
    program->sel_count = c.sels.count;
    program->sites = c.sites.items;
    program->site_count = c.sites.count;
    program->rows_max = rows_max(program);
    msi_program_allocate(job_arena, program, c.instrs.items, c.regs.items, c.sels.items);
    *program_out = program;
    return MS_OK;
}

const ms_schema *ms_program_output(const ms_program *program)
{
    return &program->schema;
}

bool ms_program_can_fail(const ms_program *program)
{
    return program->can_fail;
}

uint32_t ms_program_rows_max(const ms_program *program)
{
    return program->rows_max;
}
