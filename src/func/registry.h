/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry finds a function or an operator by name and decides whether it takes these argument
 * types, what the arguments must be cast to, and what comes out.
 *
 *     ms_fn_resolved call;
 *     MS_TRY(ms_fn_resolve(arena, ms_str_lit("+"), &args, span, &call, st));
 *     for i: cast argument i to call.arg_types[i] unless it has that type already
 *
 * Operators are functions whose name is their sign: "+", "=", "||", "LIKE", "IS NULL", "NOT". Names
 * are looked up without case. The forms that decide which of their arguments run (CASE, AND, OR,
 * COALESCE, IF, NULLIF, IFNULL) and CAST are in the registry as well, marked by `form`: expr/
 * builds them.
 *
 * A name that nobody knows is UNDEFINED_FUNCTION with the nearest name as hint; one that Flink
 * knows and that is not built here is NOT_SUPPORTED; wrong arguments are UNDEFINED_FUNCTION with
 * the candidates as detail.
 *
 * Ownership: an ms_fn of the built-in table is static. Thread: any.
 */
#ifndef MS_FUNC_REGISTRY_H
#define MS_FUNC_REGISTRY_H

#include "base/arena.h"
#include "base/status.h"
#include "millstream/udf.h"
#include "type/value.h"
#include "type/zone.h"

/* What a session decides about the evaluation of expressions. */
typedef struct ms_eval_config {
    ms_str time_zone;       /* table.local-time-zone: an IANA name or an offset; empty means UTC */
    bool overflow_is_error; /* millstream.arithmetic.overflow = error */
    const ms_zone *zone;    /* that of time_zone; NULL: not looked up yet (ms_eval_config_make) */
} ms_eval_config;

/* The same with the zone looked up, in the arena. Programs do this themselves. */
ms_rc ms_eval_config_make(ms_arena *arena, const ms_eval_config *config, ms_eval_config *config_out,
                          ms_status *st) MS_MUST_USE;

/* The calls that expr/ turns into nodes of their own. */
typedef enum ms_fn_form {
    MS_FORM_NONE,
    MS_FORM_AND,
    MS_FORM_OR,
    MS_FORM_IF,
    MS_FORM_COALESCE,
    MS_FORM_IFNULL,
    MS_FORM_NULLIF,
    MS_FORM_BETWEEN,
    MS_FORM_IN
} ms_fn_form;

/*
 * The same function one row at a time, over values: the reference that vectors are checked against,
 * and what the scalar interpreter runs. Fills *out (its type is set already) with a value that
 * borrows from args, from arena, or from static memory. Failing sets st, without a span.
 */
typedef struct ms_fn_scalar_call {
    const ms_value *args;
    uint32_t arg_count;
    const ms_type *result_type;
    const ms_eval_config *config;
    ms_arena *arena;
} ms_fn_scalar_call;
typedef ms_rc (*ms_fn_scalar)(const ms_fn_scalar_call *call, ms_value *out, ms_status *st);

/* A registered function. Read only. */
typedef struct ms_fn {
    const ms_fn_desc *desc;
    ms_fn_form form;
    ms_fn_scalar scalar; /* NULL: the interpreter runs eval on a batch of one row */
} ms_fn;

/* Finding. */

/* NULL when there is no such built-in function. */
const ms_fn *ms_fn_find(ms_str name);

/* Checks a descriptor (sizes, flags, signature texts) and makes a function of it, in the arena. */
ms_rc ms_fn_make(ms_arena *arena, const ms_fn_desc *desc, const ms_fn **fn_out,
                 ms_status *st) MS_MUST_USE;

/* Reports that a name is not a function: UNDEFINED_FUNCTION or NOT_SUPPORTED, with hints. */
ms_rc ms_fn_report_unknown(ms_str name, ms_span span, ms_status *st);

/* The n-th built-in, by name; NULL behind the last. For SHOW FUNCTIONS and the tests. */
const ms_fn *ms_fn_at(uint32_t n);

static inline ms_str ms_fn_name(const ms_fn *fn)
{
    return ms_str_cstr(fn->desc->name);
}
static inline bool ms_fn_has(const ms_fn *fn, uint32_t flag)
{
    return (fn->desc->flags & flag) != 0;
}

/* Resolving. */

typedef struct ms_fn_args {
    uint32_t count;
    const ms_type *const *types; /* MS_TYPE_NULL for an untyped NULL literal */
    const ms_value *const
        *constants; /* NULL, or an entry per argument; entry NULL: not a constant */
} ms_fn_args;

typedef struct ms_fn_resolved {
    const ms_fn *fn;
    const ms_type *result_type;
    const ms_type *const *arg_types; /* argument i is to be cast to this */
} ms_fn_resolved;

/* Resolves a call of a scalar function that is not a form. Aggregates are refused here. */
ms_rc ms_fn_resolve(ms_arena *arena, ms_str name, const ms_fn_args *args, ms_span span,
                    ms_fn_resolved *resolved_out, ms_status *st) MS_MUST_USE;
ms_rc ms_fn_resolve_fn(ms_arena *arena, const ms_fn *fn, const ms_fn_args *args, ms_span span,
                       ms_fn_resolved *resolved_out, ms_status *st) MS_MUST_USE;

/* Preparing. */

/* What specialize settled about one call; see ms_fn_plan. */
typedef struct ms_fn_prepared {
    ms_fn_eval eval;
    const void *state;
    bool can_fail;
    bool is_total;
} ms_fn_prepared;

ms_rc ms_fn_prepare(ms_arena *arena, const ms_fn *fn, const ms_fn_args *args,
                    const ms_type *result_type, const ms_eval_config *config,
                    ms_fn_prepared *prepared_out, ms_status *st) MS_MUST_USE;

/* Runs eval on one row, for functions without a scalar form. */
ms_rc ms_fn_eval_row(const ms_fn *fn, const ms_fn_scalar_call *call, ms_value *out,
                     ms_status *st) MS_MUST_USE;

/* Aggregates. */

/* exec/agg implements them; the values are stored in plan texts by name only. */
typedef enum ms_agg_kind {
    MS_AGG_COUNT_STAR,
    MS_AGG_COUNT,
    MS_AGG_SUM,
    MS_AGG_MIN,
    MS_AGG_MAX,
    MS_AGG_AVG,
    MS_AGG_KIND_COUNT
} ms_agg_kind;

/* How an aggregate is written, as far as its type depends on it. */
typedef struct ms_agg_use {
    bool is_distinct;
    bool has_filter; /* FILTER (WHERE ...): the result is nullable then */
    bool is_grouped; /* there is a GROUP BY with at least one key */
} ms_agg_use;

typedef struct ms_agg_resolved {
    ms_agg_kind kind;
    const ms_type *result_type;
    uint32_t arg_count;
    const ms_type *arg_types[2]; /* argument i is to be cast to this */
} ms_agg_resolved;

/* True when the name is an aggregate function, built or not, so that the binder can tell. */
bool ms_agg_is_name(ms_str name);

/* Resolves an aggregate; COUNT(*) is COUNT without arguments. DISTINCT is refused by name. */
ms_rc ms_agg_resolve(ms_arena *arena, ms_str name, const ms_fn_args *args, const ms_agg_use *use,
                     ms_span span, ms_agg_resolved *resolved_out, ms_status *st) MS_MUST_USE;

/* "COUNT", "SUM" ...; COUNT_STAR reads "COUNT". */
const char *ms_agg_name(ms_agg_kind kind);

#endif
