/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The property that the driver is built for: whatever the graph, and with rings of two slots,
 * recycling sets of two batches and batches of one row, a job ends, and every row arrives once.
 * Graphs, parallelisms, exchanges and the behavior of operators come from a seed; each graph also
 * runs on one stepped thread, where a failing seed can be run again.
 */
#include "runtime/fake_job.h"

#define GRAPHS 60u
#define GRAPHS_NIGHTLY 3000u

typedef struct builder {
    fake_world *world;
    fake_plan *plan;
    ms_env_random random;
    uint64_t rows; /* of all sources so far */
} builder;

static uint32_t below(builder *b, uint32_t bound)
{
    return (uint32_t)ms_env_random_below(&b->random, bound);
}

static uint32_t pick_parallelism(builder *b)
{
    return 1 + below(b, 6);
}

/* A node of which the rows are those of `node`, by another way. */
static const ms_pnode *extend(builder *b, const ms_pnode *node)
{
    uint32_t parallelism = pick_parallelism(b);
    switch (below(b, 6)) {
    case 0:
        return fake_add(b->plan, MS_PNODE_CALC, node->parallelism, node);
    case 1:
        return fake_add(b->plan, MS_PNODE_CALC, parallelism,
                        fake_add_exchange(b->plan, MS_EXCHANGE_HASH, parallelism, node));
    case 2:
        return fake_add(b->plan, MS_PNODE_CALC, parallelism,
                        fake_add_exchange(b->plan, MS_EXCHANGE_REBALANCE, parallelism, node));
    case 3:
        return fake_add(b->plan, MS_PNODE_CALC, parallelism,
                        fake_add_exchange(b->plan, MS_EXCHANGE_GATHER, parallelism, node));
    case 4:
        /* Another parallelism without an exchange. */
        return fake_add(b->plan, MS_PNODE_CALC, parallelism, node);
    default:
        return node;
    }
}

/* A random tree over sources; rows of it are [*first_out, b->rows). */
static const ms_pnode *make_tree(builder *b, uint32_t depth)
{
    if (depth == 0 || below(b, 3) == 0) {
        uint32_t splits = below(b, 4);
        uint64_t rows = 1 + below(b, 60);
        const fake_scan *scan = fake_scan_make(b->world, b->rows, splits, rows, 1 + below(b, 20));
        b->rows += splits * rows;
        return extend(b, fake_add_source(b->plan, scan, pick_parallelism(b)));
    }
    const ms_pnode *left = make_tree(b, depth - 1);
    const ms_pnode *right = make_tree(b, depth - 1);
    return extend(b, fake_add_union(b->plan, pick_parallelism(b), left, right));
}

static void run_graph(uint64_t seed, uint32_t workers)
{
    fake_rig f;
    fake_rig_init(&f, workers, seed);
    f.world.is_wild = true;
    f.world.pool_batches = 2;
    builder b = {.world = &f.world, .plan = &f.plan};
    ms_env_random_init(&b.random, seed);
    const ms_pnode *top = make_tree(&b, 2);
    /* A diamond: the same rows by two ways, into one union. */
    bool is_diamond = below(&b, 2) == 0;
    if (is_diamond) {
        const ms_pnode *left = extend(&b, top);
        const ms_pnode *right = extend(&b, top);
        top = fake_add_union(&f.plan, pick_parallelism(&b), left, right);
    }
    fake_add_sink(&f.plan, fake_sink_make(&f.world), pick_parallelism(&b), extend(&b, top));
    ms_job_options options = {.batch_rows = 1, .ring_slots = 2, .pool_batches = 2, .seed = seed};
    if (below(&b, 2) == 0) {
        options.batch_rows = 1 + below(&b, 8);
        options.ring_slots = 2 + below(&b, 3);
    }
    if (below(&b, 2) == 0) {
        options.checkpoint_dir = fake_dir(&f.world);
        options.checkpoint_interval_ms = 1;
    }
    ms_status st = {0};
    ms_rc rc = fake_run(&f.engine, &f.plan, options, NULL, &st);
    if (rc != MS_OK) {
        fail_msg("seed %llu, %u workers: %s", (unsigned long long)seed, workers, st.message);
    }
    assert_int_equal(f.world.id_count, b.rows * (is_diamond ? 2 : 1));
    if (!is_diamond) {
        fake_expect_ids(&f.world, 0, b.rows);
    }
    fake_rig_release(&f);
}

static uint32_t graph_count(void)
{
    return getenv("MS_NIGHTLY") != NULL ? GRAPHS_NIGHTLY : GRAPHS;
}

static void every_graph_ends_on_two_workers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= graph_count(); seed++) {
        run_graph(seed, 2);
    }
}

static void every_graph_ends_on_one_worker(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= graph_count() / 2; seed++) {
        run_graph(1000000 + seed, 1);
    }
}

static void every_graph_ends_on_one_stepped_thread(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= graph_count() / 2; seed++) {
        run_graph(2000000 + seed, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_graph_ends_on_two_workers),
        cmocka_unit_test(every_graph_ends_on_one_worker),
        cmocka_unit_test(every_graph_ends_on_one_stepped_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
