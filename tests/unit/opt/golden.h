/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of statements and the plans that they become.
 */
#ifndef MS_TESTS_UNIT_OPT_GOLDEN_H
#define MS_TESTS_UNIT_OPT_GOLDEN_H

#include "opt/planner.h"

typedef struct golden {
    const char *sql;
    const char *plan;
} golden;

/*
 * t takes everything, w has a watermark, p takes nothing, f is one file, k takes upserts, o writes.
 */
static const char tables[] =
    "CREATE TABLE t (a INT, b STRING, c DOUBLE NOT NULL, d AS a + 1, r ROW<x INT, y STRING>) WITH "
    "('connector' = 'fake'); "
    "CREATE TABLE w (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH "
    "('connector' = 'fake'); "
    "CREATE TABLE p (a INT, b STRING, c DOUBLE NOT NULL) WITH ('connector' = 'plain'); "
    "CREATE TABLE f (a INT, b STRING) WITH ('connector' = 'plain', 'ordered' = 'true'); "
    "CREATE TABLE k (id BIGINT, v STRING, n BIGINT NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH "
    "('connector' = 'fake', 'takes' = 'upsert'); "
    "CREATE TABLE o (a INT, n BIGINT) WITH ('connector' = 'writes'); ";

static inline void open_tables(planner *p)
{
    planner_open(p);
    planner_run(p, tables);
}

static inline void check_plans(planner *p, const golden *cases, size_t count, bool changelog_mode)
{
    for (size_t i = 0; i < count; i++) {
        planner_run(p, cases[i].sql);
        assert_string_equal(planner_explain_with(p, changelog_mode), cases[i].plan);
    }
}

#define CHECK_PLANS(p, cases) check_plans((p), (cases), sizeof(cases) / sizeof((cases)[0]), false)
#define CHECK_CHANGES(p, cases) check_plans((p), (cases), sizeof(cases) / sizeof((cases)[0]), true)

/* Runs the optimizer over a plan made by hand. */
static inline ms_rc optimize_by_hand(planner *p, const ms_lnode *root)
{
    const ms_lnode **roots = ms_arena_array(&p->arena, const ms_lnode *, 1);
    roots[0] = root;
    ms_lplan *logical = ms_arena_new(&p->arena, ms_lplan);
    *logical = (ms_lplan){.is_streaming = p->is_streaming, .root_count = 1, .roots = roots};
    p->logical = logical;
    ms_opt_env env = {.arena = &p->arena,
                      .job_arena = &p->job_arena,
                      .registry = &p->registry,
                      .settings = p->settings};
    ms_status_clear(&p->st);
    return ms_opt_plan(&env, logical, &p->plan, &p->st);
}

/* A function of one INT that nobody may run more or less often than it is written. */
static inline const ms_fn *side_fn(planner *p, uint32_t flags)
{
    static const ms_fn_signature signatures[] = {{"INT", "INT"}};
    static ms_fn_desc descs[2];
    ms_fn_desc *desc = &descs[flags == 0 ? 0 : 1];
    *desc = (ms_fn_desc){.struct_bytes = sizeof(ms_fn_desc),
                         .api_level = MS_UDF_API_LEVEL,
                         .name = flags == 0 ? "SIDE" : "RANDOM",
                         .kind = MS_FN_SCALAR,
                         .flags = flags,
                         .signatures = signatures,
                         .signature_count = 1,
                         .eval = NULL};
    ms_fn *fn = ms_arena_new(&p->arena, ms_fn);
    fn->desc = desc;
    return fn;
}

static inline const ms_expr *call_of(planner *p, const ms_fn *fn, const ms_expr *arg)
{
    return ms_expr_node(&p->arena, MS_EXPR_CALL, fn, arg->type, &arg, 1, ms_span_none);
}

/* Acts, and gives another value each time: SIDE. Only the latter: RANDOM. */
static inline const ms_expr *side(planner *p, const ms_expr *arg)
{
    return call_of(p, side_fn(p, 0), arg);
}

static inline const ms_expr *random_of(planner *p, const ms_expr *arg)
{
    return call_of(p, side_fn(p, MS_FN_PURE), arg);
}

/* The scan of a table, and its columns. */
static inline const ms_lnode *scan_of(planner *p, const char *name)
{
    ms_ltable of = {.table = ms_catalog_find(p->catalog, ms_str_cstr(name))};
    assert_non_null(of.table);
    return ms_lnode_scan(&p->arena, &of);
}

static inline const ms_expr *column_of(planner *p, const ms_lnode *node, uint32_t ordinal)
{
    return ms_expr_column(&p->arena, ordinal, node->schema.columns[ordinal].type, ms_span_none);
}

static inline const ms_expr *int_const(planner *p, int64_t value)
{
    ms_value one = ms_value_int(ms_type_simple(&p->arena, MS_TYPE_INT, false), value);
    return ms_expr_const(&p->arena, &one, ms_span_none);
}

static inline const ms_expr *binary(planner *p, const char *name, const ms_expr *left,
                                    const ms_expr *right)
{
    ms_status st = {0};
    ms_expr_builder build = {.arena = &p->arena, .st = &st};
    const ms_expr *expr = NULL;
    assert_ok(ms_build_binary(&build, name, left, right, ms_span_none, &expr));
    return expr;
}

/* PROJECT exprs AS x, y ... */
static inline const ms_lnode *project_of(planner *p, const ms_lnode *input,
                                         const ms_expr *const *exprs, uint32_t count)
{
    static const ms_str names[] = {{"x", 1}, {"y", 1}, {"z", 1}};
    return ms_lnode_project(&p->arena, input, exprs, names, count, ms_span_none);
}

static inline const ms_lnode *collect_of(planner *p, const ms_lnode *input)
{
    ms_str *names = ms_arena_array(&p->arena, ms_str, input->schema.column_count);
    for (uint32_t i = 0; i < input->schema.column_count; i++) {
        names[i] = input->schema.columns[i].name;
    }
    return ms_lnode_collect(&p->arena, input, names, ms_span_none);
}

#endif
