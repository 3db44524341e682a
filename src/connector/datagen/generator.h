/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generators: one a column, a tree for a nested one, made from the options of the table. A
 * generator is const and makes the value of any row at any time, from the seed and the number of
 * the row.
 *
 * Ownership: generators live in the plan's arena and borrow its types; values in the arena of the
 * call. Thread: any.
 */
#ifndef MS_CONNECTOR_DATAGEN_GENERATOR_H
#define MS_CONNECTOR_DATAGEN_GENERATOR_H

#include "catalog/connector.h"
#include "type/value.h"

typedef struct msi_generator msi_generator;
struct msi_generator {
    const ms_type *type;
    bool is_sequence;
    uint64_t salt; /* tells the columns, and the parts of one, apart */

    int64_t start; /* sequence */
    int64_t end;

    int64_t min; /* integers, intervals */
    int64_t max;
    double real_min; /* FLOAT, DOUBLE, DECIMAL */
    double real_max;
    int64_t max_past_ms; /* timestamps */
    uint32_t length;     /* strings, collections */
    bool is_varied;
    double null_rate;

    const msi_generator *children; /* element; key, value; fields */
    uint32_t child_count;
};

/* What a value is made in: the clock as it is for the batch, and memory for strings and items. */
typedef struct msi_generator_env {
    ms_arena *arena;
    uint64_t seed;
    int64_t now_us;   /* UTC */
    int64_t local_us; /* the wall clock of table.local-time-zone */
} msi_generator_env;

/* The value of a row. */
ms_value msi_generator_value(const msi_generator *generator, const msi_generator_env *env,
                             uint64_t row);

/* The number of values of a sequence; UINT64_MAX for a random generator. */
uint64_t msi_generator_rows(const msi_generator *generator);

/* True when values of the type follow the local clock (DATE, TIME). */
bool msi_generator_needs_clock(const msi_generator *generator);

/* About how much memory one value takes, saturating. */
uint64_t msi_generator_bytes(const msi_generator *generator);

/*
 * Makes the generators of a table's physical columns and checks every option that begins with
 * "fields.": unknown columns, options that a type does not have, values out of range.
 */
ms_rc msi_generators_make(const ms_table *table, const ms_schema *schema, ms_arena *arena,
                          const msi_generator **generators_out, ms_status *st) MS_MUST_USE;

#endif
