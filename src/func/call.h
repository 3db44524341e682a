/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the inside of a vector function needs: the memory behind ms_fn_memory, access to arguments
 * that are flat or constant, iteration over live rows, and reporting NULLs and failures of single
 * rows. Built-in functions and expr/ use it; plugins have the host table instead.
 *
 *     ms_arg text = ms_arg_of(call, 0);
 *     ms_view *out = call->result->data;
 *     MS_CALL_ROWS(call, row, {
 *         const ms_view *view = MS_ARG_AT(text, ms_view, row);
 *         out[row] = ...;
 *     });
 *
 * MS_CALL_ROWS visits the live rows that are not NULL in the result so far: for a STRICT function,
 * those whose arguments all have values.
 *
 * Thread: that of the call.
 */
#ifndef MS_FUNC_CALL_H
#define MS_FUNC_CALL_H

#include "base/arena.h"
#include "func/lane.h"
#include "millstream/udf.h"
#include "type/heap.h"
#include "type/vec.h"

#include <stdatomic.h>

/* Planning steps have an arena only; calls have both. */
struct ms_fn_memory {
    ms_arena *arena;
    ms_heap *heap;
    uint32_t first_row;           /* of the run: has room whatever it takes; see ms_call_leave */
    const _Atomic bool *canceled; /* NULL: nobody cancels; see ms_call_is_canceled */
    ms_arena *scratch;            /* of one call, which resets it; not of planning steps */
};

/*
 * Bytes that the strings of one row may take in an evaluator, before it fails with MS_LIMIT: some
 * strings of the largest size, and no more than a small machine has.
 */
#define MS_CALL_HEAP_BYTES_MAX (512u << 20)

/* Code for three generations of x86-64, chosen at start. Empty where resolvers cannot run. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(MS_TSAN)
#define MS_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define MS_CLONES
#endif

/* An argument: value of row i is at data[i & mask]. */
typedef struct ms_arg {
    const void *data;
    const uint64_t *valid;
    uint32_t mask;
} ms_arg;

static inline ms_arg ms_arg_of(const ms_fn_call *call, uint32_t index)
{
    const ms_vec *vec = call->args[index];
    return (ms_arg){vec->data, vec->valid, vec->encoding == MS_ENC_CONST ? 0u : UINT32_MAX};
}

static inline bool ms_arg_is_const(ms_arg arg)
{
    return arg.mask == 0;
}

static inline bool ms_arg_is_null(ms_arg arg, uint32_t row)
{
    return arg.valid != NULL && !ms_bit_get(arg.valid, row & arg.mask);
}

#define MS_ARG_AT(arg, ctype, row) (&((const ctype *)(arg).data)[(row) & (arg).mask])

/* The number of live rows. */
static inline uint32_t ms_call_live(const ms_fn_call *call)
{
    return call->sel != NULL ? call->sel_count : call->rows;
}

/*
 * True when a total function should run over all positions, selected or not: the loop without a
 * selection does some eight rows in the time of one gathered row.
 */
static inline bool ms_call_is_dense(const ms_fn_call *call)
{
    return call->sel == NULL || call->sel_count >= call->rows / 8;
}

static inline bool ms_call_skips(const ms_fn_call *call, uint32_t row)
{
    return call->result->valid != NULL && !ms_bit_get(call->result->valid, row);
}

/* Runs the body for each live row that is not NULL so far; continue works. */
#define MS_CALL_ROWS(call, row, ...)                                                               \
    do {                                                                                           \
        uint32_t ms_live = ms_call_live(call);                                                     \
        for (uint32_t ms_k = 0; ms_k < ms_live; ms_k++) {                                          \
            uint32_t row = (call)->sel != NULL ? (call)->sel[ms_k] : ms_k;                         \
            if (ms_call_skips((call), row)) {                                                      \
                continue;                                                                          \
            }                                                                                      \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } while (0)

/* The result of the row is NULL. */
static inline void ms_call_null(ms_fn_call *call, uint32_t row)
{
    ms_bit_clear(ms_vec_validity(call->result), row);
}

/* The row failed. */
static inline void ms_call_fail(ms_fn_call *call, uint32_t row, ms_rc code)
{
    ms_lane_fail_at(call->lane, row, code, call->lane->site);
    ms_call_null(call, row);
}

/*
 * Makes the validity of the result the conjunction of the arguments'. False when that leaves no
 * row, because a constant argument is NULL; the result is all NULL then.
 */
bool ms_call_join_validity(ms_fn_call *call);

/*
 * Leaves the row, and with it all behind it, for another run of the program. It looks like a
 * failure of the row, with a code that is none, and goes where failures go; the run then ends
 * before the row. So what a run makes is bounded by MS_BATCH_BYTES_TARGET, or is that of one row.
 */
#define MS_CALL_LEFT MS_RC_COUNT
static inline void ms_call_leave(ms_fn_call *call, uint32_t row)
{
    ms_call_fail(call, row, MS_CALL_LEFT);
}

/* True when the strings of the run leave room for so many other bytes; else the row is left. */
bool ms_call_has_room(ms_fn_call *call, uint32_t row, size_t bytes);

/*
 * True once the job is canceled: a function that may take long over one batch, because its time is
 * not in proportion to the bytes, looks now and then and leaves its result as it is. Nobody looks
 * at what came of the run.
 */
static inline bool ms_call_is_canceled(const ms_fn_call *call)
{
    const _Atomic bool *canceled = call->memory->canceled;
    /* Order relaxed: the results are dropped, nothing is read on the strength of it. */
    return canceled != NULL && atomic_load_explicit(canceled, memory_order_relaxed);
}

/*
 * Room for the bytes of one result string; NULL after having left the row, or failed it with
 * MS_LIMIT.
 */
char *ms_call_string(ms_fn_call *call, uint32_t row, size_t bytes);

#endif
