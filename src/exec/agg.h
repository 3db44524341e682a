/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The aggregate functions COUNT, SUM, MIN, MAX and AVG, without a word about groups, state tables
 * or changelogs: an accumulator takes and gives back rows of batches, and writes its result into a
 * vector. The operators keep the accumulators and decide when results flow.
 *
 *     msi_agg agg;
 *     MS_TRY(msi_agg_init(&agg, call, &input_schema, overflow_is_error, arena, st));
 *     msi_agg_acc acc = {0};                                        an accumulator without rows
 *     MS_TRY(msi_agg_update(&agg, &acc, &rows, false, &scratch, st));
 *     msi_agg_result(&agg, &acc, vec, 0);
 *
 * Results follow Flink's rules. NULL arguments are skipped, as are rows whose FILTER is not TRUE.
 * Without rows that count, COUNT is 0 and the others are NULL.
 *
 *     SUM of integers      in the argument's own type, wrapping
 *     SUM of FLOAT         in FLOAT, in the order of the rows; of DOUBLE in DOUBLE
 *     SUM of DECIMAL(p,s)  DECIMAL(38,s); NULL when it does not fit
 *     AVG of integers      the sum in BIGINT, wrapping; divided, truncated, in the argument's type
 *     AVG of FLOAT         the sum in DOUBLE
 *     AVG of DECIMAL(p,s)  DECIMAL(38,max(6,s))
 *     MIN, MAX             the first value stays until a later one is strictly better: a NaN that
 *                          came first stays, one that comes later never wins
 *
 * With overflow_is_error a sum that does not fit is an error instead; it is looked for after each
 * call of msi_agg_update, not after each row.
 *
 * Ownership: an accumulator is a value. The string of a MIN or MAX is a view that borrows from the
 * batch until msi_agg_keep copies it. Thread: task.
 */
#ifndef MS_EXEC_AGG_H
#define MS_EXEC_AGG_H

#include "plan/physical.h"

typedef struct msi_agg_acc {
    int64_t count; /* values that count, those taken less those given back */
    bool is_set;   /* `u` holds a sum, or the best value so far */
    bool is_lost;  /* a DECIMAL sum left 128 bits: NULL for good */
    union {
        int64_t i;
        double f; /* FLOAT too, as the double of the same value */
        ms_i128 dec;
        ms_view str;
        ms_ts16 ts;
    } u;
} msi_agg_acc;

/* The live rows [first, end) of a batch. */
typedef struct msi_agg_rows {
    const ms_batch *batch;
    uint32_t first;
    uint32_t end;
} msi_agg_rows;

typedef struct msi_agg_scratch {
    uint16_t pos[MS_BATCH_ROWS_MAX];
} msi_agg_scratch;

typedef struct msi_agg_class msi_agg_class;

/* One call, prepared. Fields are private to agg.c. */
typedef struct msi_agg {
    const ms_agg_call *call;
    const msi_agg_class *klass;
    const ms_type *arg_type;   /* NULL: COUNT(*) */
    const ms_type *value_type; /* of what `u` holds, for state; NULL: it holds nothing */
    bool overflow_is_error;
} msi_agg;

/* MS_NOT_SUPPORTED for an argument type without this aggregate. The call is borrowed. */
ms_rc msi_agg_init(msi_agg *agg, const ms_agg_call *call, const ms_schema *input,
                   bool overflow_is_error, ms_arena *arena, ms_status *st) MS_MUST_USE;

/* True when rows can be given back: all but MIN and MAX. */
bool msi_agg_can_retract(const msi_agg *agg);

/* Takes rows in, or gives them back. Errors: MS_NUMERIC_OUT_OF_RANGE, with the call's span. */
ms_rc msi_agg_update(const msi_agg *agg, msi_agg_acc *acc, const msi_agg_rows *rows, bool retracts,
                     msi_agg_scratch *scratch, ms_status *st) MS_MUST_USE;

/*
 * Writes the result as row `row` of a flat vector of the call's result type, made by ms_vec_alloc.
 */
void msi_agg_result(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row);

/*
 * Makes the string of a MIN or MAX the accumulator's own, in `store`, unless it is there already.
 * Views of what `store` held before die.
 */
ms_rc msi_agg_keep(const msi_agg *agg, msi_agg_acc *acc, ms_buf *store, ms_status *st) MS_MUST_USE;

/* True when msi_agg_keep would copy. */
bool msi_agg_borrows(const msi_agg *agg, const msi_agg_acc *acc, const ms_buf *store);

/* State: an accumulator as up to two columns. */

/*
 * Appends the columns to fields, which has room for two; index makes their names. Returns how many.
 */
uint32_t msi_agg_state_fields(const msi_agg *agg, uint32_t index, ms_field *fields,
                              ms_arena *arena);

/* To and from the values of these columns. A string borrows. Return how many columns there are. */
uint32_t msi_agg_save(const msi_agg *agg, const msi_agg_acc *acc, const ms_field *fields,
                      ms_value *values);
uint32_t msi_agg_load(const msi_agg *agg, msi_agg_acc *acc, const ms_value *values);

#endif
