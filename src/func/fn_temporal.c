/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TO_TIMESTAMP(text[, pattern]): TIMESTAMP(3), NULL for text that is no timestamp. The text is read
 * by the pattern, or as CAST reads it; when that fails, once more by the lenient form that Flink
 * falls back to. A constant pattern is compiled once.
 */
/* tidy: no-unit-test: function_test.c of expr/ has its table */
#include "func/datepattern.h"
#include "func/func_priv.h"
#include "type/text.h"

typedef struct pattern_state {
    const ms_datepattern *pattern; /* NULL: each row has its own */
} pattern_state;

/* Reads text without a pattern, strictly and then leniently. */
static bool read_plain(ms_str text, bool strict_first, int64_t *us_out)
{
    ms_ts16 ts;
    return ((strict_first && ms_text_cast_timestamp(text, &ts)) ||
            ms_text_parse_timestamp_lenient(text, &ts)) &&
           ms_time_us_from_ts(ts, us_out);
}

/* The result has milliseconds. */
static bool read_text(const ms_datepattern *pattern, ms_str text, int64_t *us_out)
{
    bool ok = pattern != NULL
                  ? ms_datepattern_parse(pattern, text, us_out) || read_plain(text, false, us_out)
                  : read_plain(text, true, us_out);
    *us_out = ok ? ms_time_truncate_us(*us_out, 3) : 0;
    return ok;
}

static void eval_fixed(ms_fn_call *call)
{
    const pattern_state *state = call->state;
    ms_arg text = ms_arg_of(call, 0);
    int64_t *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        if (!read_text(state->pattern, ms_view_str(MS_ARG_AT(text, ms_view, row)), &out[row])) {
            ms_call_null(call, row);
        }
    });
}

static void eval_varying(ms_fn_call *call)
{
    ms_arg text = ms_arg_of(call, 0);
    ms_arg pattern = ms_arg_of(call, 1);
    int64_t *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        const ms_datepattern *of_row = NULL;
        ms_status st = {0};
        ms_rc rc = ms_datepattern_compile(
            call->memory->arena, ms_view_str(MS_ARG_AT(pattern, ms_view, row)), &of_row, &st);
        if (rc != MS_OK) {
            ms_call_fail(call, row, rc);
        } else if (!read_text(of_row, ms_view_str(MS_ARG_AT(text, ms_view, row)), &out[row])) {
            ms_call_null(call, row);
        }
    });
}

static ms_rc specialize_to_timestamp(ms_fn_plan *plan, ms_status *st)
{
    pattern_state *state = MSI_PLAN_NEW(plan, pattern_state);
    plan->state = state;
    plan->eval = eval_fixed;
    plan->can_fail = false;
    if (plan->arg_count == 1) {
        return MS_OK;
    }
    if (plan->constants[1] == NULL || plan->constants[1]->is_null) {
        plan->eval = eval_varying;
        plan->can_fail = true;
        return MS_OK;
    }
    return ms_datepattern_compile(plan->memory->arena, plan->constants[1]->u.str, &state->pattern,
                                  st);
}

static ms_rc scalar_to_timestamp(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    const ms_datepattern *pattern = NULL;
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    if (call->arg_count == 2) {
        MS_TRY(ms_datepattern_compile(call->arena, call->args[1].u.str, &pattern, st));
    }
    out->is_null = !read_text(pattern, call->args[0].u.str, &out->u.i);
    return MS_OK;
}

static const ms_fn_signature signatures_to_timestamp[] = {
    {"character, character?", "TIMESTAMP(3)"}};

const ms_fn msi_fns_temporal[] = {
    {.desc = &(const ms_fn_desc){MSI_SCALAR("TO_TIMESTAMP"), .flags = MSI_STRICT,
                                 .nullability = MS_FN_NULLABLE_ALWAYS,
                                 MSI_SIGNATURES(signatures_to_timestamp),
                                 .specialize = specialize_to_timestamp},
     .scalar = scalar_to_timestamp},
    {NULL, MS_FORM_NONE, NULL},
};
