/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scalar interpreter: one recursive function over the kinds of nodes. A call evaluates all its
 * arguments, also after one failed, because the fault that counts is the leftmost of the row, not
 * the first one met.
 */
#include "expr/interp.h"

#include "func/cast.h"

/*
 * A fault is a status in the arena; NULL is none. Statuses are large, so they stay off the stack.
 */
typedef const ms_status *fault;

/* The values of LETs, innermost first. A fault is kept, too: it counts where it is referred to. */
typedef struct binding {
    uint32_t id;
    fault fault;
    ms_value value;
    const struct binding *outer;
} binding;

typedef struct context {
    const ms_interp *in;
    ms_status *spare; /* what functions report into; a success between calls */
    const binding *bindings;
} context;

static fault eval(const context *c, const ms_expr *expr, ms_value *out);

/* Takes the fault that a function left in the spare status. */
static fault take_fault(const context *c, ms_span span)
{
    ms_status *kept = ms_arena_new(c->in->arena, ms_status);
    *kept = *c->spare;
    kept->span = span;
    ms_status_clear(c->spare);
    return kept;
}

static bool is_further_left(fault a, fault b)
{
    return a->span.start < b->span.start ||
           (a->span.start == b->span.start && a->span.end < b->span.end);
}

/* Calls. */

static fault apply(const context *c, const ms_expr *expr, const ms_value *args, ms_value *out)
{
    ms_fn_scalar_call call = {.args = args,
                              .arg_count = expr->child_count,
                              .result_type = expr->type,
                              .config = &c->in->config,
                              .arena = c->in->arena};
    *out = (ms_value){.type = expr->type};
    ms_rc rc = expr->fn->scalar != NULL ? expr->fn->scalar(&call, out, c->spare)
                                        : ms_fn_eval_row(expr->fn, &call, out, c->spare);
    return rc == MS_OK ? NULL : take_fault(c, expr->span);
}

static fault eval_call(const context *c, const ms_expr *expr, ms_value *out)
{
    ms_value *args = ms_arena_array(c->in->arena, ms_value, expr->child_count);
    fault worst = NULL;
    for (uint32_t i = 0; i < expr->child_count; i++) {
        fault found = eval(c, expr->children[i], &args[i]);
        if (found != NULL && (worst == NULL || is_further_left(found, worst))) {
            worst = found;
        }
    }
    return worst != NULL ? worst : apply(c, expr, args, out);
}

/* Forms. */

/* AND stops at FALSE, OR at TRUE; NULL remains unless one of those comes. */
static fault eval_logic(const context *c, const ms_expr *expr, ms_value *out)
{
    bool stops_at = expr->kind == MS_EXPR_OR;
    ms_value result = ms_value_int(expr->type, !stops_at);
    for (uint32_t i = 0; i < expr->child_count; i++) {
        ms_value value;
        fault found = eval(c, expr->children[i], &value);
        if (found != NULL) {
            return found;
        }
        if (value.is_null) {
            result = ms_value_null(expr->type);
        } else if ((value.u.i != 0) == stops_at) {
            *out = ms_value_int(expr->type, stops_at);
            return NULL;
        }
    }
    *out = result;
    return NULL;
}

static fault eval_case(const context *c, const ms_expr *expr, ms_value *out)
{
    uint32_t last = expr->child_count - 1;
    for (uint32_t i = 0; i < last; i += 2) {
        ms_value condition;
        fault found = eval(c, expr->children[i], &condition);
        if (found != NULL) {
            return found;
        }
        if (!condition.is_null && condition.u.i != 0) {
            return eval(c, expr->children[i + 1], out);
        }
    }
    return eval(c, expr->children[last], out);
}

static fault eval_coalesce(const context *c, const ms_expr *expr, ms_value *out)
{
    for (uint32_t i = 0; i < expr->child_count; i++) {
        fault found = eval(c, expr->children[i], out);
        if (found != NULL || !out->is_null) {
            return found;
        }
    }
    return NULL;
}

static fault eval_cast(const context *c, const ms_expr *expr, ms_value *out)
{
    ms_value value;
    fault found = eval(c, expr->children[0], &value);
    if (found != NULL) {
        return found;
    }
    if (ms_cast_value(c->in->arena, &c->in->config, &value, expr->type, out, c->spare) == MS_OK) {
        return NULL;
    }
    if (expr->kind == MS_EXPR_TRY_CAST) {
        ms_status_clear(c->spare);
        *out = ms_value_null(expr->type);
        return NULL;
    }
    return take_fault(c, expr->span);
}

static fault eval_field(const context *c, const ms_expr *expr, ms_value *out)
{
    ms_value row;
    fault found = eval(c, expr->children[0], &row);
    if (found == NULL) {
        *out = row.is_null ? ms_value_null(expr->type) : row.u.items[expr->index];
    }
    return found;
}

static fault eval_let(const context *c, const ms_expr *expr, ms_value *out)
{
    binding own = {.id = expr->index, .outer = c->bindings};
    own.fault = eval(c, expr->children[0], &own.value);
    context inner = {c->in, c->spare, &own};
    return eval(&inner, expr->children[1], out);
}

static fault eval_ref(const context *c, const ms_expr *expr, ms_value *out)
{
    const binding *found = c->bindings;
    while (found != NULL && found->id != expr->index) {
        found = found->outer;
    }
    MS_ASSERT(found != NULL);
    *out = found->value;
    return found->fault;
}

static fault eval_kind(const context *c, const ms_expr *expr, ms_value *out)
{
    switch (expr->kind) {
    case MS_EXPR_COLUMN:
        MS_ASSERT(c->in->column != NULL);
        *out = c->in->column(c->in->ctx, c->in->arena, expr->index);
        return NULL;
    case MS_EXPR_CONST:
        *out = *expr->value;
        return NULL;
    case MS_EXPR_CALL:
        return eval_call(c, expr, out);
    case MS_EXPR_AND:
    case MS_EXPR_OR:
        return eval_logic(c, expr, out);
    case MS_EXPR_CASE:
    case MS_EXPR_IF:
        return eval_case(c, expr, out);
    case MS_EXPR_COALESCE:
        return eval_coalesce(c, expr, out);
    case MS_EXPR_CAST:
    case MS_EXPR_TRY_CAST:
        return eval_cast(c, expr, out);
    case MS_EXPR_FIELD:
        return eval_field(c, expr, out);
    case MS_EXPR_LET:
        return eval_let(c, expr, out);
    case MS_EXPR_REF:
        return eval_ref(c, expr, out);
    case MS_EXPR_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static fault eval(const context *c, const ms_expr *expr, ms_value *out)
{
    fault found = eval_kind(c, expr, out);
    out->type = expr->type;
    return found;
}

ms_rc ms_interp_eval(const ms_interp *in, const ms_expr *expr, ms_value *value_out, ms_status *st)
{
    ms_status spare = {0};
    context c = {in, &spare, NULL};
    *value_out = (ms_value){.type = expr->type};
    fault found = eval(&c, expr, value_out);
    if (found == NULL) {
        return MS_OK;
    }
    if (ms_status_is_ok(st)) {
        *st = *found;
    }
    return st->code;
}

/* Rows of batches. */

typedef struct batch_row {
    const ms_batch *batch;
    uint32_t row;
} batch_row;

static ms_value read_column(void *ctx, ms_arena *arena, uint32_t index)
{
    const batch_row *at = ctx;
    return ms_value_from_vec(arena, &at->batch->columns[index], at->row);
}

ms_rc ms_interp_eval_row(ms_arena *arena, const ms_eval_config *config, const ms_expr *expr,
                         const ms_batch *batch, uint32_t row, ms_value *value_out, ms_status *st)
{
    batch_row at = {batch, row};
    ms_interp in = {.arena = arena, .config = *config, .column = read_column, .ctx = &at};
    return ms_interp_eval(&in, expr, value_out, st);
}

/* Folding. */

const ms_expr *ms_interp_fold(ms_arena *arena, const ms_eval_config *config, const ms_expr *expr)
{
    if (expr->kind == MS_EXPR_CONST || !ms_expr_is_constant(expr) ||
        !ms_expr_is_deterministic(expr)) {
        return expr;
    }
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_interp in = {.arena = &scratch, .config = *config};
    ms_status st = {0};
    ms_value value;
    const ms_expr *folded = expr;
    if (ms_interp_eval(&in, expr, &value, &st) == MS_OK) {
        value.type = expr->type;
        folded = ms_expr_const(arena, &value, expr->span);
    }
    ms_arena_release(&scratch);
    return folded;
}
