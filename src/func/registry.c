/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of built-ins, and resolving calls. The topics' tables are searched one after the other:
 * there are about a hundred functions, and a statement resolves some dozens of calls.
 */
#include "func/registry.h"

#include "base/limits.h"
#include "func/func_priv.h"
#include "func/signature.h"

/* A distance of more than this is not a misspelling. */
#define DISTANCE_MAX 2u

static const ms_fn *const topics[] = {
    msi_fns_form,   msi_fns_logic, msi_fns_compare,  msi_fns_arith,
    msi_fns_string, msi_fns_like,  msi_fns_temporal, msi_fns_nested,
};
#define TOPIC_COUNT (sizeof(topics) / sizeof(topics[0]))

typedef struct flink_name {
    const char *name;
    ms_fn_kind kind;
} flink_name;

static const flink_name flink_names[] = {
#define X(name, kind) {#name, MS_FN_##kind},
#include "func/flink_names.def"
#undef X
};
#define FLINK_NAME_COUNT (sizeof(flink_names) / sizeof(flink_names[0]))

/* Finding. */

const ms_fn *ms_fn_at(uint32_t n)
{
    for (size_t topic = 0; topic < TOPIC_COUNT; topic++) {
        for (const ms_fn *fn = topics[topic]; fn->desc != NULL; fn++) {
            if (n-- == 0) {
                return fn;
            }
        }
    }
    return NULL;
}

const ms_fn *ms_fn_find(ms_str name)
{
    for (size_t topic = 0; topic < TOPIC_COUNT; topic++) {
        for (const ms_fn *fn = topics[topic]; fn->desc != NULL; fn++) {
            if (ms_str_equals_nocase(ms_fn_name(fn), name)) {
                return fn;
            }
        }
    }
    return NULL;
}

static const flink_name *find_flink_name(ms_str name)
{
    for (size_t i = 0; i < FLINK_NAME_COUNT; i++) {
        if (ms_str_equals_nocase(ms_str_cstr(flink_names[i].name), name)) {
            return &flink_names[i];
        }
    }
    return NULL;
}

/* Remembers the name that is nearest so far. */
static void consider(ms_str name, const char *candidate, const char **best, unsigned *distance)
{
    unsigned d = ms_str_distance(name, ms_str_cstr(candidate), DISTANCE_MAX);
    if (d < *distance) {
        *distance = d;
        *best = candidate;
    }
}

ms_rc ms_fn_report_unknown(ms_str name, ms_span span, ms_status *st)
{
    if (find_flink_name(name) != NULL) {
        return ms_status_set(st, MS_NOT_SUPPORTED, span, "function \"%.*s\" is not supported yet",
                             MS_STR_ARG(name));
    }
    const char *best = NULL;
    /* Of a short name, half the letters would do. */
    unsigned distance = (name.bytes < 4 ? 1 : DISTANCE_MAX) + 1;
    for (uint32_t i = 0; ms_fn_at(i) != NULL; i++) {
        consider(name, ms_fn_at(i)->desc->name, &best, &distance);
    }
    for (size_t i = 0; i < FLINK_NAME_COUNT; i++) {
        consider(name, flink_names[i].name, &best, &distance);
    }
    ms_status_set(st, MS_UNDEFINED_FUNCTION, span, "function \"%.*s\" does not exist",
                  MS_STR_ARG(name));
    if (best != NULL) {
        ms_status_hint(st, "Did you mean %s?", best);
    }
    return st->code;
}

/* Making functions of descriptors. */

static ms_rc refuse_desc(const ms_fn_desc *desc, const char *why, ms_status *st)
{
    return ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none,
                         "the descriptor of function \"%s\" %s",
                         desc->name != NULL ? desc->name : "", why);
}

ms_rc ms_fn_make(ms_arena *arena, const ms_fn_desc *desc, const ms_fn **fn_out, ms_status *st)
{
    if (desc->struct_bytes < offsetof(ms_fn_desc, eval) + sizeof(ms_fn_eval)) {
        return refuse_desc(desc, "is too short", st);
    }
    if (desc->api_level < 1 || desc->api_level > MS_UDF_API_LEVEL) {
        return refuse_desc(desc, "needs another version of the interface", st);
    }
    if (desc->name == NULL || desc->name[0] == '\0' || desc->name[0] == '$') {
        return refuse_desc(desc, "has no usable name", st);
    }
    if (desc->kind != MS_FN_SCALAR) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "function \"%s\": only scalar functions can be added", desc->name);
    }
    if (desc->eval == NULL && desc->specialize == NULL) {
        return refuse_desc(desc, "has neither eval nor specialize", st);
    }
    if (desc->infer == NULL && desc->signature_count == 0) {
        return refuse_desc(desc, "has neither signatures nor infer", st);
    }
    for (uint32_t i = 0; i < desc->signature_count && desc->infer == NULL; i++) {
        if (!msi_signature_is_valid(arena, &desc->signatures[i])) {
            return refuse_desc(desc, "has a signature that cannot be read", st);
        }
    }
    ms_fn *fn = ms_arena_new(arena, ms_fn);
    fn->desc = desc;
    *fn_out = fn;
    return MS_OK;
}

/* Resolving. */

static bool is_word(const char *name)
{
    return name[0] >= 'A' && name[0] <= 'Z';
}

/* "INT, STRING NOT NULL". */
static ms_str types_text(ms_arena *arena, const ms_fn_args *args)
{
    ms_str text = ms_str_lit("");
    for (uint32_t i = 0; i < args->count; i++) {
        text = ms_arena_format(arena, "%.*s%s%.*s", MS_STR_ARG(text), i > 0 ? ", " : "",
                               MS_STR_ARG(ms_type_text_bare(arena, args->types[i])));
    }
    return text;
}

static ms_rc report_arguments(ms_arena *arena, const ms_fn *fn, const ms_fn_args *args,
                              ms_span span, ms_status *st)
{
    const ms_fn_desc *desc = fn->desc;
    ms_str candidates = ms_str_lit("");
    for (uint32_t i = 0; i < desc->signature_count; i++) {
        candidates = ms_arena_format(arena, "%.*s%s%s(%s)", MS_STR_ARG(candidates),
                                     i > 0 ? "; " : "", desc->name, desc->signatures[i].args);
    }
    ms_status_set(st, MS_UNDEFINED_FUNCTION, span, "%s %s does not take (%.*s)",
                  is_word(desc->name) ? "function" : "operator", desc->name,
                  MS_STR_ARG(types_text(arena, args)));
    ms_status_detail(st, "candidates: %.*s", MS_STR_ARG(candidates));
    for (uint32_t i = 0; i < args->count; i++) {
        if (args->types[i]->kind == MS_TYPE_NULL) {
            ms_status_hint(st, "Give NULL a type: CAST(NULL AS ...).");
        }
    }
    return st->code;
}

static bool has_wide_timestamp(const ms_type *type)
{
    if (type->phys == MS_PHYS_TS16) {
        return true;
    }
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (has_wide_timestamp(type->children[i])) {
            return true;
        }
    }
    return false;
}

static const ms_type *with_nullability(ms_arena *arena, const ms_fn_desc *desc,
                                       const ms_fn_args *args, const ms_type *type)
{
    bool nullable = desc->nullability == MS_FN_NULLABLE_ALWAYS;
    for (uint32_t i = 0; i < args->count && desc->nullability == MS_FN_NULLABLE_IF_ANY; i++) {
        nullable = nullable || args->types[i]->nullable || args->types[i]->kind == MS_TYPE_NULL;
    }
    return ms_type_as_nullable(arena, type, nullable);
}

static ms_rc infer_call(ms_arena *arena, const ms_fn *fn, const ms_fn_args *args,
                        const ms_type **wanted, const ms_type **result_out, ms_status *st)
{
    ms_fn_memory memory = {arena, NULL};
    const ms_value **none = ms_arena_array(arena, const ms_value *, args->count);
    ms_fn_infer in = {.struct_bytes = sizeof(in),
                      .arg_count = args->count,
                      .arg_types = args->types,
                      .constants =
                          args->constants != NULL ? args->constants : (const ms_value *const *)none,
                      .memory = &memory,
                      .wanted = wanted};
    MS_TRY(fn->desc->infer(&in, st));
    *result_out = in.result_type;
    return MS_OK;
}

ms_rc ms_fn_resolve_fn(ms_arena *arena, const ms_fn *fn, const ms_fn_args *args, ms_span span,
                       ms_fn_resolved *resolved_out, ms_status *st)
{
    const ms_fn_desc *desc = fn->desc;
    const ms_type **wanted = ms_arena_array(arena, const ms_type *, args->count);
    const ms_type *result = NULL;
    for (uint32_t i = 0; i < args->count; i++) {
        wanted[i] = args->types[i];
        if (has_wide_timestamp(args->types[i])) {
            return ms_status_set(st, MS_NOT_SUPPORTED, span,
                                 "%s over timestamps of more than 6 fraction digits is not "
                                 "supported",
                                 desc->name);
        }
    }
    *resolved_out = (ms_fn_resolved){.fn = fn, .arg_types = wanted};
    if (desc->infer != NULL) {
        ms_status local = {0};
        ms_rc rc = infer_call(arena, fn, args, wanted, &result, &local);
        if (rc == MS_UNDEFINED_FUNCTION) {
            return report_arguments(arena, fn, args, span, st);
        }
        if (rc != MS_OK) {
            local.span = span;
            if (ms_status_is_ok(st)) {
                *st = local;
            }
            return st->code;
        }
        resolved_out->result_type = result;
        return MS_OK;
    }
    for (uint32_t i = 0; i < desc->signature_count; i++) {
        if (msi_signature_matches(arena, &desc->signatures[i], desc->flags, args, wanted,
                                  &result)) {
            resolved_out->result_type = with_nullability(arena, desc, args, result);
            return MS_OK;
        }
    }
    return report_arguments(arena, fn, args, span, st);
}

ms_rc ms_fn_resolve(ms_arena *arena, ms_str name, const ms_fn_args *args, ms_span span,
                    ms_fn_resolved *resolved_out, ms_status *st)
{
    const ms_fn *fn = ms_fn_find(name);
    if (fn == NULL) {
        if (ms_agg_is_name(name)) {
            return ms_status_set(st, MS_GROUPING_ERROR, span,
                                 "aggregate function \"%.*s\" is not allowed here",
                                 MS_STR_ARG(name));
        }
        return ms_fn_report_unknown(name, span, st);
    }
    MS_ASSERT(fn->form == MS_FORM_NONE || fn->form == MS_FORM_IN);
    return ms_fn_resolve_fn(arena, fn, args, span, resolved_out, st);
}

/* Preparing. */

ms_rc ms_eval_config_make(ms_arena *arena, const ms_eval_config *config, ms_eval_config *config_out,
                          ms_status *st)
{
    const ms_zone *zone = config->zone != NULL ? config->zone : ms_zone_utc();
    if (config->zone == NULL && config->time_zone.bytes > 0) {
        MS_TRY(ms_zone_make(arena, config->time_zone, &zone, st));
    }
    *config_out = *config;
    config_out->time_zone = ms_arena_copy_str(arena, config->time_zone);
    config_out->zone = zone;
    return MS_OK;
}

ms_rc ms_fn_prepare(ms_arena *arena, const ms_fn *fn, const ms_fn_args *args,
                    const ms_type *result_type, const ms_eval_config *config,
                    ms_fn_prepared *prepared_out, ms_status *st)
{
    ms_fn_memory memory = {arena, NULL};
    const ms_value **none = ms_arena_array(arena, const ms_value *, args->count);
    ms_fn_plan plan = {
        .struct_bytes = sizeof(plan),
        .arg_count = args->count,
        .arg_types = args->types,
        .constants = args->constants != NULL ? args->constants : (const ms_value *const *)none,
        .result_type = result_type,
        .time_zone = config->zone != NULL ? ms_zone_name(config->zone) : ms_str_lit("UTC"),
        .overflow_is_error = config->overflow_is_error,
        .memory = &memory,
        .eval = fn->desc->eval,
        .can_fail = true};
    if (fn->desc->specialize != NULL) {
        MS_TRY(fn->desc->specialize(&plan, st));
    }
    if (plan.eval == NULL) {
        return ms_status_set(st, MS_INTERNAL, ms_span_none, "function \"%s\" has no eval",
                             fn->desc->name);
    }
    *prepared_out = (ms_fn_prepared){plan.eval, plan.state, plan.can_fail, plan.is_total};
    return MS_OK;
}
