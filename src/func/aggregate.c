/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures of aggregate functions. What they do with rows is exec/'s; here is which argument
 * types they take and what comes out: SUM keeps integers and floats and widens decimals to 38
 * digits, AVG of integers is an integer, MIN and MAX keep the type, and everything but COUNT is
 * nullable when no row may have a value.
 */
#include "func/registry.h"
#include "func/typing.h"

static const struct {
    const char *name;
    ms_agg_kind kind;
} built[] = {
    {"COUNT", MS_AGG_COUNT}, {"SUM", MS_AGG_SUM}, {"MIN", MS_AGG_MIN},
    {"MAX", MS_AGG_MAX},     {"AVG", MS_AGG_AVG},
};

static const char *const known[] = {
#define X(name, kind) MS_FN_##kind == MS_FN_AGGREGATE ? #name : NULL,
#include "func/flink_names.def"
#undef X
};

bool ms_agg_is_name(ms_str name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i] != NULL && ms_str_equals_nocase(ms_str_cstr(known[i]), name)) {
            return true;
        }
    }
    return false;
}

const char *ms_agg_name(ms_agg_kind kind)
{
    for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++) {
        if (built[i].kind == kind) {
            return built[i].name;
        }
    }
    return "COUNT";
}

static ms_rc refuse_argument(ms_arena *arena, ms_str name, const ms_fn_args *args, ms_span span,
                             const char *candidates, ms_status *st)
{
    ms_str type = args->count > 0 ? ms_type_text_bare(arena, args->types[0]) : ms_str_lit("");
    if (args->count > 1) {
        ms_status_set(st, MS_UNDEFINED_FUNCTION, span, "function %.*s takes one argument, not %u",
                      MS_STR_ARG(name), args->count);
    } else {
        ms_status_set(st, MS_UNDEFINED_FUNCTION, span, "function %.*s does not take (%.*s)",
                      MS_STR_ARG(name), MS_STR_ARG(type));
    }
    return ms_status_detail(st, "candidates: %.*s(%s)", MS_STR_ARG(name), candidates);
}

/* The type without regard to nullability; NULL when the argument does not fit. */
static const ms_type *result_of(ms_arena *arena, ms_agg_kind kind, const ms_type *arg)
{
    bool is_decimal = arg->kind == MS_TYPE_DECIMAL;
    switch (kind) {
    case MS_AGG_SUM:
        return !ms_type_is_numeric(arg) ? NULL
               : is_decimal
                   ? ms_type_decimal(arena, MS_TYPE_DECIMAL_PRECISION_MAX, arg->scale, true)
                   : arg;
    case MS_AGG_AVG:
        return !ms_type_is_numeric(arg) ? NULL
               : is_decimal             ? ms_type_decimal(arena, MS_TYPE_DECIMAL_PRECISION_MAX,
                                              arg->scale > 6 ? arg->scale : 6, true)
                                        : arg;
    case MS_AGG_MIN:
    case MS_AGG_MAX:
        return ms_typing_is_comparable(arg, arg, MS_COMPARE_ORDER) && arg->kind != MS_TYPE_NULL &&
                       !ms_type_is_nested(arg)
                   ? arg
                   : NULL;
    case MS_AGG_COUNT_STAR:
    case MS_AGG_COUNT:
    case MS_AGG_KIND_COUNT:
        break;
    }
    return NULL;
}

static ms_rc resolve_count(ms_arena *arena, const ms_fn_args *args, ms_span span,
                           ms_agg_resolved *out, ms_status *st)
{
    if (args->count > 1) {
        return ms_status_set(st, MS_NOT_SUPPORTED, span,
                             "COUNT of more than one argument is not supported");
    }
    out->kind = args->count == 0 ? MS_AGG_COUNT_STAR : MS_AGG_COUNT;
    out->result_type = ms_type_simple(arena, MS_TYPE_BIGINT, false);
    out->arg_count = args->count;
    out->arg_types[0] = args->count == 1 ? args->types[0] : NULL;
    if (args->count == 1 && args->types[0]->kind == MS_TYPE_NULL) {
        out->arg_types[0] = ms_type_simple(arena, MS_TYPE_BOOLEAN, true);
    }
    return MS_OK;
}

ms_rc ms_agg_resolve(ms_arena *arena, ms_str name, const ms_fn_args *args, const ms_agg_use *use,
                     ms_span span, ms_agg_resolved *resolved_out, ms_status *st)
{
    size_t at = 0;
    while (at < sizeof(built) / sizeof(built[0]) &&
           !ms_str_equals_nocase(ms_str_cstr(built[at].name), name)) {
        at++;
    }
    *resolved_out = (ms_agg_resolved){0};
    if (at == sizeof(built) / sizeof(built[0])) {
        return ms_fn_report_unknown(name, span, st);
    }
    if (use->is_distinct) {
        return ms_status_set(st, MS_NOT_SUPPORTED, span, "%s(DISTINCT ...) is not supported yet",
                             built[at].name);
    }
    if (built[at].kind == MS_AGG_COUNT) {
        return resolve_count(arena, args, span, resolved_out, st);
    }
    const ms_type *arg = args->count == 1 ? args->types[0] : NULL;
    const ms_type *result = arg != NULL ? result_of(arena, built[at].kind, arg) : NULL;
    if (result == NULL) {
        bool sums = built[at].kind == MS_AGG_SUM || built[at].kind == MS_AGG_AVG;
        return refuse_argument(arena, name, args, span, sums ? "numeric" : "any with an order", st);
    }
    if (arg->phys == MS_PHYS_TS16) {
        return ms_status_set(st, MS_NOT_SUPPORTED, span,
                             "%s over timestamps of more than 6 fraction digits is not supported",
                             built[at].name);
    }
    bool nullable = arg->nullable || !use->is_grouped || use->has_filter ||
                    (built[at].kind == MS_AGG_SUM && arg->kind == MS_TYPE_DECIMAL);
    resolved_out->kind = built[at].kind;
    resolved_out->result_type = ms_type_as_nullable(arena, result, nullable);
    resolved_out->arg_count = 1;
    resolved_out->arg_types[0] = arg;
    return MS_OK;
}
