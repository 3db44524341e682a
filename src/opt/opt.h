/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The optimizer: a logical plan to a sealed physical plan. It asks the connectors for scans and
 * sinks, rewrites the plan, chooses operators, exchanges and parallelism, settles which row kinds
 * flow on every edge, and copies the result into the arena of the job.
 *
 *     ms_opt_env env = {.arena = &stmt_arena, .job_arena = &job->arena, .registry = registry,
 *                       .settings = {.parallelism = 2, .optimize = true, .coalesce = true}};
 *     const ms_plan *plan = NULL;
 *     MS_TRY(ms_opt_plan(&env, logical, &plan, st));
 *
 * Three groups of rules:
 *
 *     normalize   always: one form for equal meanings; nothing here looks at data or cost
 *     optimize    unless switched off: constant folding, pushing filters and limits down and into
 *                 scans, pruning columns, sharing scans between the sinks of a statement set
 *     implement   always: physical operators, calc merging, parallelism, exchanges, row kinds
 *
 * No rule evaluates a function with side effects, or one that is not deterministic, more often or
 * less often than the statement says.
 *
 * Ownership: the logical plan is only read, and stays valid; the physical plan lives in job_arena
 * and borrows nothing from the statement. Thread: that of the session.
 */
#ifndef MS_OPT_OPT_H
#define MS_OPT_OPT_H

#include "plan/logical.h"
#include "plan/physical.h"

/* What the session decides. */
typedef struct ms_opt_settings {
    uint32_t parallelism;          /* of the job: 1 .. MS_LIMIT_PARALLELISM */
    bool parallelism_is_explicit;  /* the user said it: pipelines that would run at 1 to keep their
                                     order run at it, but for the collector */
    bool overflow_is_error;        /* millstream.arithmetic.overflow = error */
    bool coalesce;                 /* table.exec.changelog.coalesce = auto */
    bool optimize;                 /* the optimize group is on */
    bool result_is_changelog;      /* --result changelog: a bounded query is not folded */
    int64_t watermark_interval_ms; /* pipeline.auto-watermark-interval */
    ms_str local_time_zone;        /* an IANA name or an offset */
    ms_str base_dir;               /* relative paths of connectors are resolved against it */
} ms_opt_settings;

typedef struct ms_opt_env {
    ms_arena *arena;     /* the statement's: everything in between */
    ms_arena *job_arena; /* the plan, its scans and its sinks */
    const ms_registry *registry;
    ms_str sql;         /* the text that spans point into; copied */
    uint64_t source_id; /* its number: a table defined in another text has no places in it */
    ms_opt_settings settings;
} ms_opt_env;

/*
 * Plans a statement. Errors: what connectors say of options and schemas, with their spans;
 * MS_MISSING_OPTION for a table without 'connector'; MS_INVALID_QUERY for a query that the runtime
 * mode cannot run; MS_NOT_SUPPORTED for what is not built. *plan_out is NULL on failure.
 */
ms_rc ms_opt_plan(const ms_opt_env *env, const ms_lplan *logical, const ms_plan **plan_out,
                  ms_status *st) MS_MUST_USE;

#endif
