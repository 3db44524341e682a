/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans over the source, the sink and the operators of fake.h, and what runs a job of them: an
 * engine of some workers, a world and a directory, together a rig.
 */
#ifndef MS_TESTS_UNIT_RUNTIME_FAKE_JOB_H
#define MS_TESTS_UNIT_RUNTIME_FAKE_JOB_H

#include "fake.h"

#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ---- Plans ---- */

#define FAKE_NODES_MAX 64u

typedef struct fake_plan {
    fake_world *world;
    ms_plan plan;
    const ms_pnode *nodes[FAKE_NODES_MAX];
    const ms_pnode *roots[FAKE_NODES_MAX];
} fake_plan;

__attribute__((unused)) static void fake_plan_init(fake_plan *plan, fake_world *world)
{
    *plan = (fake_plan){.world = world};
    plan->plan = (ms_plan){.sql = ms_str_lit("SELECT"),
                           .is_streaming = true,
                           .is_bounded = true,
                           .local_time_zone = ms_str_lit("UTC"),
                           .nodes = plan->nodes,
                           .roots = plan->roots};
    fake_current = world;
}

static ms_pnode *fake_node(fake_plan *plan, ms_pnode_kind kind, uint32_t parallelism,
                           const ms_pnode *a, const ms_pnode *b)
{
    fake_world *world = plan->world;
    ms_pnode *node = ms_arena_new(&world->arena, ms_pnode);
    const ms_pnode **inputs = ms_arena_array(&world->arena, const ms_pnode *, 2);
    node->kind = kind;
    node->id = 100 + plan->plan.node_count;
    node->schema = world->schema;
    node->changelog = MS_CHANGELOG_INSERT;
    node->parallelism = parallelism;
    inputs[0] = a;
    inputs[1] = b;
    node->input_count = a == NULL ? 0 : b == NULL ? 1 : 2;
    node->inputs = inputs;
    assert_true(plan->plan.node_count < FAKE_NODES_MAX);
    plan->nodes[plan->plan.node_count++] = node;
    if (kind == MS_PNODE_SINK || kind == MS_PNODE_COLLECT) {
        plan->roots[plan->plan.root_count++] = node;
    }
    return node;
}

__attribute__((unused)) static const ms_pnode *
fake_add_source(fake_plan *plan, const fake_scan *scan, uint32_t parallelism)
{
    ms_pnode *node = fake_node(plan, MS_PNODE_SOURCE, parallelism, NULL, NULL);
    node->u.source.scan = &scan->scan;
    node->u.source.table = ms_str_lit("source");
    return node;
}

__attribute__((unused)) static const ms_pnode *fake_add(fake_plan *plan, ms_pnode_kind kind,
                                                        uint32_t parallelism, const ms_pnode *input)
{
    return fake_node(plan, kind, parallelism, input, NULL);
}

__attribute__((unused)) static const ms_pnode *fake_add_union(fake_plan *plan, uint32_t parallelism,
                                                              const ms_pnode *a, const ms_pnode *b)
{
    return fake_node(plan, MS_PNODE_UNION, parallelism, a, b);
}

__attribute__((unused)) static const ms_pnode *fake_add_exchange(fake_plan *plan,
                                                                 ms_exchange_kind kind,
                                                                 uint32_t parallelism,
                                                                 const ms_pnode *input)
{
    ms_pnode *node = fake_node(plan, MS_PNODE_EXCHANGE, parallelism, input, NULL);
    uint32_t *keys = ms_arena_array(&plan->world->arena, uint32_t, 1);
    keys[0] = 1;
    node->u.exchange.kind = kind;
    node->u.exchange.key_count = kind == MS_EXCHANGE_HASH ? 1 : 0;
    node->u.exchange.keys = keys;
    return node;
}

__attribute__((unused)) static const ms_pnode *
fake_add_sink(fake_plan *plan, fake_sink *sink, uint32_t parallelism, const ms_pnode *input)
{
    ms_pnode *node = fake_node(plan, MS_PNODE_SINK, parallelism, input, NULL);
    node->u.sink.sink = &sink->sink;
    node->u.sink.table = ms_str_lit("sink");
    return node;
}

/* ---- The engine around a job ---- */

typedef struct fake_engine {
    ms_iopool *iopool;
    ms_workers *workers;
} fake_engine;

__attribute__((unused)) static void fake_engine_init(fake_engine *engine, uint32_t workers)
{
    ms_status st = {0};
    assert_ok(ms_iopool_create(&(ms_iopool_options){.threads = 2}, &engine->iopool, &st));
    assert_ok(ms_workers_create(&(ms_workers_options){.count = workers, .iopool = engine->iopool},
                                &engine->workers, &st));
}

/* One thread, repeated from its seed. */
__attribute__((unused)) static void fake_engine_init_stepped(fake_engine *engine, uint64_t seed)
{
    ms_status st = {0};
    assert_ok(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &engine->iopool, &st));
    assert_ok(ms_workers_create(
        &(ms_workers_options){.iopool = engine->iopool, .is_stepped = true, .seed = seed},
        &engine->workers, &st));
}

__attribute__((unused)) static void fake_engine_release(fake_engine *engine)
{
    ms_iopool_destroy(engine->iopool);
    ms_workers_destroy(engine->workers);
}

/* What most cases need: an engine, a world, an empty plan, and perhaps a directory. */
typedef struct fake_rig {
    fake_engine engine;
    fake_world world;
    fake_plan plan;
    ms_str dir; /* of the world; empty until a case makes one */
} fake_rig;

/* workers 0: one stepped thread. */
__attribute__((unused)) static void fake_rig_init(fake_rig *rig, uint32_t workers, uint64_t seed)
{
    if (workers > 0) {
        fake_engine_init(&rig->engine, workers);
    } else {
        fake_engine_init_stepped(&rig->engine, seed);
    }
    fake_world_init(&rig->world, seed);
    fake_plan_init(&rig->plan, &rig->world);
    rig->dir = (ms_str){0};
}

__attribute__((unused)) static void fake_rig_release(fake_rig *rig)
{
    fake_world_release(&rig->world);
    fake_engine_release(&rig->engine);
}

/* Makes a job of the plan and starts it. Operators are the fake ones, unless the options say. */
__attribute__((unused)) static ms_job *fake_start(fake_rig *rig, ms_job_options options)
{
    ms_status st = {0};
    ms_job *job = NULL;
    if (options.make_op == NULL) {
        options.make_op = fake_make_op;
    }
    assert_ok(ms_job_create(rig->engine.workers, &rig->plan.plan, &options, &job, &st));
    assert_ok(ms_job_start(job, &st));
    return job;
}

/* Runs a plan to its end. */
__attribute__((unused)) static ms_rc fake_run(fake_engine *engine, const fake_plan *plan,
                                              ms_job_options options, ms_job_totals *totals,
                                              ms_status *st)
{
    options.make_op = fake_make_op;
    ms_job *job = NULL;
    ms_job_totals unused;
    MS_TRY(ms_job_create(engine->workers, &plan->plan, &options, &job, st));
    ms_rc rc = ms_job_start(job, st);
    if (rc == MS_OK) {
        rc = ms_job_wait(job, 60000, st);
    }
    ms_job_totals_now(job, totals != NULL ? totals : &unused);
    ms_job_destroy(job);
    return rc;
}

/* Where the directories of all tests of the program are, also those of a test that fails. */
static char fake_root[64];
static pid_t fake_root_owner; /* not a process that a test forks */

static void fake_remove_root(void)
{
    ms_status st = {0};
    if (getpid() == fake_root_owner && ms_dir_remove(fake_root, &st) != MS_OK) {
        fprintf(stderr, "%s: %s\n", st.message, st.detail);
    }
}

/* A new directory, which goes with the world. */
__attribute__((unused)) static ms_str fake_dir(fake_world *world)
{
    if (fake_root_owner == 0) {
        snprintf(fake_root, sizeof(fake_root), "/tmp/millstream_test_XXXXXX");
        assert_non_null(mkdtemp(fake_root));
        fake_root_owner = getpid();
        assert_int_equal(atexit(fake_remove_root), 0);
    }
    char name[96];
    snprintf(name, sizeof(name), "%s/XXXXXX", fake_root);
    assert_non_null(mkdtemp(name));
    ms_str dir = ms_arena_copy_str(&world->arena, ms_str_cstr(name));
    assert_true(world->dir_count < FAKE_DIRS_MAX);
    world->dirs[world->dir_count++] = dir.ptr;
    return dir;
}

__attribute__((unused)) static void fake_sleep_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

#endif
