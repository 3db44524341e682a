/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a function describes itself to the engine. Built-in functions and plugins fill the same
 * records, so that the interface of plugins is exercised by every query.
 *
 *     static void add_one(ms_fn_call *call) { ... one loop over call->rows or call->sel ... }
 *     static const ms_fn_signature add_one_signatures[] = {{"BIGINT", "BIGINT"}};
 *     static const ms_fn_desc add_one_desc = {
 *         .struct_bytes = sizeof(ms_fn_desc), .api_level = MS_UDF_API_LEVEL,
 *         .name = "ADD_ONE", .kind = MS_FN_SCALAR,
 *         .flags = MS_FN_DETERMINISTIC | MS_FN_PURE | MS_FN_STRICT | MS_FN_COERCES,
 *         .nullability = MS_FN_NULLABLE_IF_ANY,
 *         .signatures = add_one_signatures, .signature_count = 1, .eval = add_one};
 *
 * A scalar function lives through three steps. Planning calls infer (or matches the signatures)
 * once per call in the SQL text. Preparing calls specialize once per program: it may look at
 * constant arguments, precompute, and choose the loop that will run. Running calls eval once per
 * batch.
 *
 * Functions work on vectors. Vectors, types and values are opaque; plugins reach them through the
 * host table. A plugin sees flat vectors only.
 *
 * Every record starts with struct_bytes, the size its writer was compiled with; fields are only
 * ever appended, and a reader takes what lies beyond as zero.
 *
 * Ownership: descriptors and all they point to are static or outlive every plan that uses them.
 * What specialize allocates belongs to the program. What eval allocates lives until the next eval
 * of the same program instance. Thread: infer and specialize: the planning thread; eval: any, with
 * different calls at the same time, so state is read only.
 */
#ifndef MS_MILLSTREAM_UDF_H
#define MS_MILLSTREAM_UDF_H

#include "millstream/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MS_UDF_API_LEVEL 1u

typedef struct ms_type ms_type;           /* a SQL type */
typedef struct ms_vec ms_vec;             /* a column of values */
typedef struct ms_value ms_value;         /* one value */
typedef struct ms_fn_lane ms_fn_lane;     /* the rows of a call that failed */
typedef struct ms_fn_memory ms_fn_memory; /* memory of a planning step or of a batch */

typedef enum ms_fn_kind {
    MS_FN_SCALAR,
    MS_FN_AGGREGATE, /* signatures only: plugins cannot bring aggregates yet */
    MS_FN_TABLE,     /* declared: refused at registration */
    MS_FN_ASYNC      /* declared: refused at registration; see ms_fn_async */
} ms_fn_kind;

/* Flags of a function. */
#define MS_FN_DETERMINISTIC 0x01u /* equal arguments give equal results: may be folded and shared */
#define MS_FN_PURE 0x02u          /* no side effects: may be dropped when its result is not used */
#define MS_FN_STRICT 0x04u        /* a NULL argument makes the result NULL */
#define MS_FN_COERCES 0x08u       /* arguments may be cast implicitly to the types of a signature */
#define MS_FN_TAKES_CONSTANTS 0x10u /* eval accepts constant vectors, not only flat ones */

/* How the nullability of the result follows from the arguments. */
typedef enum ms_fn_nullability {
    MS_FN_NULLABLE_IF_ANY, /* nullable when an argument is */
    MS_FN_NULLABLE_ALWAYS,
    MS_FN_NULLABLE_NEVER
} ms_fn_nullability;

/*
 * One accepted list of arguments, as text. A word in upper case is a type as SQL writes it
 * ("DECIMAL(10, 2)", "STRING", "ARRAY<INT>"); one in lower case is a family: any, boolean,
 * integer (TINYINT to BIGINT), exact (integer or DECIMAL), numeric, character, binary, string
 * (character or binary), date, time, timestamp, interval, array, map, row. "?" behind an argument
 * makes it and all after it optional; a last argument "family..." repeats from one time on.
 * Empty text: no arguments. The result is a type, or "$n": the type of argument n (from 1).
 */
typedef struct ms_fn_signature {
    const char *args;
    const char *result;
} ms_fn_signature;

/* What infer is given and what it answers. */
typedef struct ms_fn_infer {
    uint32_t struct_bytes;
    uint32_t arg_count;
    const ms_type *const *arg_types;
    const ms_value *const *constants; /* entry NULL: not a constant */
    ms_fn_memory *memory;
    const ms_type *
        *wanted; /* out: the type that argument i is to be cast to; preset to arg_types */
    const ms_type *result_type; /* out */
} ms_fn_infer;

typedef struct ms_fn_call ms_fn_call;
typedef void (*ms_fn_eval)(ms_fn_call *call);

/* What specialize is given and what it answers. */
typedef struct ms_fn_plan {
    uint32_t struct_bytes;
    uint32_t arg_count;
    const ms_type *const *arg_types;
    const ms_value *const *constants; /* entry NULL: not a constant */
    const ms_type *result_type;
    ms_str time_zone;       /* the session's, an IANA name or an offset */
    bool overflow_is_error; /* the session's millstream.arithmetic.overflow */
    ms_fn_memory *memory;   /* lives as long as the program */
    ms_fn_eval eval;        /* out: preset to the descriptor's */
    const void *state;      /* out: read by eval */
    bool can_fail;          /* out: eval may report failed rows; preset to true */
    bool is_total; /* out: eval may run on rows that are not selected or NULL; preset to false */
} ms_fn_plan;

/*
 * One call of eval: fill result at the live rows. Live are sel[0] .. sel[sel_count - 1], or all
 * rows 0 .. rows - 1 when sel is NULL. Positions in args, result and sel are the same positions.
 *
 * For a STRICT function the validity of the result is already the conjunction of the arguments';
 * rows that are NULL there are skipped unless the function is total, since what stands in data
 * under a NULL is unspecified. Other functions start from a result without NULLs.
 */
struct ms_fn_call {
    uint32_t struct_bytes;
    uint32_t arg_count;
    const void *state;
    const ms_vec *const *args;
    ms_vec *result;
    uint32_t rows;
    uint32_t sel_count;
    const uint16_t *sel;
    ms_fn_lane *lane;     /* NULL when can_fail is false */
    ms_fn_memory *memory; /* lives until the next batch */
    uint64_t overflows;   /* counted by arithmetic for the metric of the same name */
};

/*
 * The interface of asynchronous functions: calls that end later, on another thread. It is fixed
 * here so that connectors and plugins can be written against it; the operator that drives it is not
 * built yet, and registration refuses such a function by name.
 *
 * invoke starts a call for one row and returns at once. The call ends when complete or fail is
 * called on its handle, from any thread; the first one counts, later ones are counted and dropped.
 * A handle is retained by who keeps it beyond invoke, and outlives close. timeout, where there is
 * one, is called once when the deadline over all attempts has passed, on the task's thread, and
 * must complete the call before it returns.
 */
typedef struct ms_fn_pending ms_fn_pending; /* the handle of one call */

typedef struct ms_fn_async_host {
    uint32_t struct_bytes;
    void (*retain)(ms_fn_pending *pending);
    void (*drop)(ms_fn_pending *pending);
    /* Ends the call with rows of values, row by row; none for a table function without a match. */
    void (*complete)(ms_fn_pending *pending, const ms_value *cells, uint32_t row_count);
    void (*fail)(ms_fn_pending *pending, const ms_status *st);
} ms_fn_async_host;

typedef struct ms_fn_async {
    uint32_t struct_bytes;
    /* parameter(host_arg, key) reads a job parameter; *instance_out is given to the others. */
    ms_rc (*open)(ms_str (*parameter)(void *host_arg, ms_str key), void *host_arg,
                  void **instance_out, ms_status *st);
    void (*invoke)(void *instance, const ms_value *args, uint32_t arg_count, ms_fn_pending *pending,
                   const ms_fn_async_host *host);
    void (*timeout)(void *instance, const ms_value *args, uint32_t arg_count,
                    ms_fn_pending *pending, const ms_fn_async_host *host);
    void (*close)(void *instance);
} ms_fn_async;

/* The descriptor. Unused hooks are NULL. */
typedef struct ms_fn_desc {
    uint32_t struct_bytes;
    uint32_t api_level;
    const char *name; /* upper case; looked up without case */
    ms_fn_kind kind;
    uint32_t flags;
    ms_fn_nullability nullability;
    const ms_fn_signature *signatures;
    uint32_t signature_count;
    ms_rc (*infer)(ms_fn_infer *in, ms_status *st); /* instead of signatures */
    ms_rc (*specialize)(ms_fn_plan *plan, ms_status *st);
    ms_fn_eval eval;          /* needed unless specialize always sets one */
    const ms_fn_async *async; /* of MS_FN_ASYNC */
} ms_fn_desc;

/*
 * What a plugin may call: a table that only grows. Take what struct_bytes covers.
 */
typedef struct ms_fn_host {
    uint32_t struct_bytes;
    uint32_t api_level;

    /* Memory of a step; never NULL, not given back one by one. */
    void *(*alloc)(ms_fn_memory *memory, size_t bytes);

    /* Types: reads "DECIMAL(10, 2) NOT NULL"; NULL with a status when the text is not a type. */
    const ms_type *(*type_parse)(ms_fn_memory *memory, ms_str text, ms_status *st);
    ms_str (*type_text)(ms_fn_memory *memory, const ms_type *type);
    bool (*type_is_nullable)(const ms_type *type);

    /*
     * Flat vectors: the values in the layout of their type, and the validity bitmap (NULL: no
     * NULLs).
     */
    const void *(*data)(const ms_vec *vec);
    const uint64_t *(*validity)(const ms_vec *vec);
    ms_str (*string_at)(const ms_vec *vec, uint32_t row);

    /* The result of a call. set_string copies. set_null may be called for any live row. */
    void *(*result_data)(ms_fn_call *call);
    void (*set_string)(ms_fn_call *call, uint32_t row, ms_str text);
    void (*set_null)(ms_fn_call *call, uint32_t row);

    /* Reports that a row failed; the first report of a row stays. The message is a static text. */
    void (*fail)(ms_fn_call *call, uint32_t row, ms_rc code, const char *message);
} ms_fn_host;

#ifdef __cplusplus
}
#endif

#endif
