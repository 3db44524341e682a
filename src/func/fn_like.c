/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIKE and NOT LIKE as functions (text, pattern[, escape]). A constant pattern is compiled once,
 * and a bad one is refused at planning; a pattern from a column is compiled for each row, and a bad
 * one fails its row.
 */
/* tidy: no-unit-test: function_test.c of expr/ has its table */
#include "func/func_priv.h"
#include "func/like.h"

typedef struct like_state {
    bool is_constant;
    bool wanted;
    ms_like like;
} like_state;

static ms_str escape_at(const ms_fn_call *call, uint32_t row)
{
    if (call->arg_count < 3) {
        return (ms_str){NULL, 0};
    }
    ms_arg escape = ms_arg_of(call, 2);
    return ms_view_str(MS_ARG_AT(escape, ms_view, row));
}

static bool matches(const ms_fn_call *call, const ms_like *like, const ms_view *text)
{
    return ms_like_matches(like, ms_view_str(text), call->memory->canceled, NULL);
}

/* Patterns of a column live as long as their row: they may be long, and there are many. */
static void eval_patterns(ms_fn_call *call)
{
    const like_state *state = call->state;
    ms_arena *scratch = call->memory->scratch;
    ms_arg text = ms_arg_of(call, 0);
    ms_arg pattern = ms_arg_of(call, 1);
    uint8_t *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        ms_like like;
        size_t at = 0;
        ms_str of_row = ms_view_str(MS_ARG_AT(pattern, ms_view, row));
        ms_arena_reset(scratch);
        if (ms_like_compile(scratch, of_row, escape_at(call, row), &like, &at) != MS_LIKE_OK) {
            ms_call_fail(call, row, MS_INVALID_ARGUMENT);
            continue;
        }
        out[row] = matches(call, &like, MS_ARG_AT(text, ms_view, row)) == state->wanted;
        if (ms_call_is_canceled(call)) {
            break;
        }
    });
}

static void eval_like(ms_fn_call *call)
{
    const like_state *state = call->state;
    ms_arg text = ms_arg_of(call, 0);
    uint8_t *out = call->result->data;
    if (!state->is_constant) {
        eval_patterns(call);
        return;
    }
    MS_CALL_ROWS(call, row, {
        out[row] = matches(call, &state->like, MS_ARG_AT(text, ms_view, row)) == state->wanted;
        if (ms_call_is_canceled(call)) {
            break;
        }
    });
}

static bool is_text_constant(const ms_value *value)
{
    return value != NULL && !value->is_null;
}

static ms_rc specialize_like(ms_fn_plan *plan, bool wanted, ms_status *st)
{
    like_state *state = MSI_PLAN_NEW(plan, like_state);
    bool has_escape = plan->arg_count == 3;
    state->wanted = wanted;
    state->is_constant = is_text_constant(plan->constants[1]) &&
                         (!has_escape || is_text_constant(plan->constants[2]));
    plan->state = state;
    plan->can_fail = !state->is_constant;
    if (!state->is_constant) {
        return MS_OK;
    }
    size_t at = 0;
    ms_str pattern = plan->constants[1]->u.str;
    ms_str escape = has_escape ? plan->constants[2]->u.str : (ms_str){NULL, 0};
    ms_like_fault fault = ms_like_compile(plan->memory->arena, pattern, escape, &state->like, &at);
    return ms_like_report(fault, pattern, escape, at, st);
}

static ms_rc scalar_match(const ms_fn_scalar_call *call, bool wanted, ms_value *out, ms_status *st)
{
    ms_like like;
    size_t at = 0;
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    ms_str pattern = call->args[1].u.str;
    ms_str escape = call->arg_count == 3 ? call->args[2].u.str : (ms_str){NULL, 0};
    ms_like_fault fault = ms_like_compile(call->arena, pattern, escape, &like, &at);
    MS_TRY(ms_like_report(fault, pattern, escape, at, st));
    out->u.i = ms_like_matches(&like, call->args[0].u.str, NULL, NULL) == wanted;
    return MS_OK;
}

static ms_rc specialize_is_like(ms_fn_plan *plan, ms_status *st)
{
    return specialize_like(plan, true, st);
}

static ms_rc specialize_not_like(ms_fn_plan *plan, ms_status *st)
{
    return specialize_like(plan, false, st);
}

static ms_rc scalar_is_like(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return scalar_match(call, true, out, st);
}

static ms_rc scalar_not_like(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return scalar_match(call, false, out, st);
}

static const ms_fn_signature signatures_like[] = {{"character, character, character?", "BOOLEAN"}};

const ms_fn msi_fns_like[] = {
    {.desc = &(const ms_fn_desc){MSI_SCALAR("LIKE"), .flags = MSI_STRICT,
                                 MSI_SIGNATURES(signatures_like), .specialize = specialize_is_like,
                                 .eval = eval_like},
     .scalar = scalar_is_like},
    {.desc = &(const ms_fn_desc){MSI_SCALAR("NOT LIKE"), .flags = MSI_STRICT,
                                 MSI_SIGNATURES(signatures_like), .specialize = specialize_not_like,
                                 .eval = eval_like},
     .scalar = scalar_not_like},
    {NULL, MS_FORM_NONE, NULL},
};
