/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random typed expressions and random batches for them, from a seed: what the differential test of
 * programs against the interpreter is made of. Batches have all encodings, selections, and garbage
 * wherever nobody may look: under NULLs and in rows that are not selected, views and list pairs
 * point nowhere and numbers are the ones that trap.
 */
#ifndef MS_TESTS_UNIT_EXPR_RANDOM_EXPR_H
#define MS_TESTS_UNIT_EXPR_RANDOM_EXPR_H

#include "expr/build.h"
#include "type/batch.h"

#include <stdlib.h>

typedef struct rng {
    uint64_t state;
} rng;

static inline uint64_t rng_next(rng *r)
{
    r->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = r->state;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* 0 .. bound - 1 */
static inline uint32_t rng_below(rng *r, uint32_t bound)
{
    return (uint32_t)(rng_next(r) % bound);
}

static inline bool rng_chance(rng *r, uint32_t percent)
{
    return rng_below(r, 100) < percent;
}

/* A number from the environment: MS_TEST_SEEDS, how many; MS_TEST_SEED, the first. */
static inline uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* A random input: schema and batch. */
typedef struct random_input {
    ms_schema schema;
    ms_batch batch;
} random_input;

void random_input_make(ms_arena *arena, rng *r, random_input *out);

/* A random expression of any type over the schema; depth bounds its height. */
const ms_expr *random_expr(ms_arena *arena, rng *r, const ms_schema *schema, uint32_t depth);

/* One of type BOOLEAN. */
const ms_expr *random_condition(ms_arena *arena, rng *r, const ms_schema *schema, uint32_t depth);

/* A random value of the type, NULL at times when it is nullable. */
ms_value random_value(ms_arena *arena, rng *r, const ms_type *type);

#endif
