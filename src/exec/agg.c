/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The aggregates: one table row a function and physical form of its argument. A row has a loop that
 * takes values (add), one that gives them back (where there is one), and how the result is made.
 * Filtering, NULLs and encodings are taken care of before, by turning the rows into positions.
 */
#include "exec/agg.h"

#include "exec/agg_kernels.h"
#include "type/decimal.h"
#include "type/time.h"

/* The values of one update: data[pos[i]], or data[i] when pos is NULL. */
typedef struct run {
    const void *data;
    const uint16_t *pos;
    uint32_t count;
} run;

struct msi_agg_class {
    ms_agg_kind kind;
    ms_phys phys; /* of the argument */
    bool can_retract;
    /* False: a sum left its type. */
    bool (*take)(const msi_agg *agg, msi_agg_acc *acc, const run *values, bool retracts);
    /* Writes the result; false: NULL. */
    bool (*result)(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row);
};

/* COUNT. */

static bool take_count(const msi_agg *agg, msi_agg_acc *acc, const run *values, bool retracts)
{
    (void)agg;
    (void)acc;
    (void)values;
    (void)retracts;
    return true; /* the caller counts */
}

static bool result_count(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row)
{
    (void)agg;
    MS_VEC_DATA(vec, int64_t)[row] = acc->count;
    return true;
}

/* Sums of integers. */

static int64_t wrap(ms_i128 exact, ms_phys phys)
{
    switch (phys) {
    case MS_PHYS_I8:
        return (int8_t)exact;
    case MS_PHYS_I16:
        return (int16_t)exact;
    case MS_PHYS_I32:
        return (int32_t)exact;
    case MS_PHYS_I64:
        return (int64_t)exact;
    case MS_PHYS_NONE:
    case MS_PHYS_BOOL:
    case MS_PHYS_I128:
    case MS_PHYS_F32:
    case MS_PHYS_F64:
    case MS_PHYS_TS16:
    case MS_PHYS_STR:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static bool add_integers(const msi_agg *agg, msi_agg_acc *acc, ms_i128 delta, bool retracts)
{
    ms_i128 exact = (ms_i128)acc->u.i + (retracts ? -delta : delta);
    acc->u.i = wrap(exact, agg->value_type->phys);
    acc->is_set = true;
    return acc->u.i == exact;
}

#define DEFINE_TAKE_SUM(name, kernel)                                                              \
    static bool name(const msi_agg *agg, msi_agg_acc *acc, const run *values, bool retracts)       \
    {                                                                                              \
        ms_i128 delta = kernel(values->data, values->pos, values->count);                          \
        return add_integers(agg, acc, delta, retracts);                                            \
    }

DEFINE_TAKE_SUM(take_sum_i8, msi_sum_i8)
DEFINE_TAKE_SUM(take_sum_i16, msi_sum_i16)
DEFINE_TAKE_SUM(take_sum_i32, msi_sum_i32)
DEFINE_TAKE_SUM(take_sum_i64, msi_sum_i64)

static void write_integer(ms_vec *vec, uint32_t row, int64_t value)
{
    switch (vec->phys) {
    case MS_PHYS_BOOL:
        MS_VEC_DATA(vec, uint8_t)[row] = (uint8_t)value;
        return;
    case MS_PHYS_I8:
        MS_VEC_DATA(vec, int8_t)[row] = (int8_t)value;
        return;
    case MS_PHYS_I16:
        MS_VEC_DATA(vec, int16_t)[row] = (int16_t)value;
        return;
    case MS_PHYS_I32:
        MS_VEC_DATA(vec, int32_t)[row] = (int32_t)value;
        return;
    case MS_PHYS_I64:
        MS_VEC_DATA(vec, int64_t)[row] = value;
        return;
    case MS_PHYS_NONE:
    case MS_PHYS_I128:
    case MS_PHYS_F32:
    case MS_PHYS_F64:
    case MS_PHYS_TS16:
    case MS_PHYS_STR:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static bool result_integer(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row)
{
    (void)agg;
    write_integer(vec, row, acc->u.i);
    return acc->count != 0;
}

/* The quotient is no larger than the sum, and INT64_MIN / -1 needs a negative count. */
static bool result_integer_average(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec,
                                   uint32_t row)
{
    (void)agg;
    bool has_rows = acc->count > 0;
    write_integer(vec, row, has_rows ? acc->u.i / acc->count : 0);
    return has_rows;
}

/* Sums of decimals: exact in 128 bits, whether or not they have 38 digits. */

static bool take_sum_decimal_i64(const msi_agg *agg, msi_agg_acc *acc, const run *values,
                                 bool retracts)
{
    (void)agg;
    ms_i128 delta = msi_sum_i64(values->data, values->pos, values->count);
    acc->is_lost |= __builtin_add_overflow(acc->u.dec, retracts ? -delta : delta, &acc->u.dec);
    acc->is_set = true;
    return !acc->is_lost && ms_decimal_fits(acc->u.dec, MS_TYPE_DECIMAL_PRECISION_MAX);
}

static bool take_sum_decimal_i128(const msi_agg *agg, msi_agg_acc *acc, const run *values,
                                  bool retracts)
{
    (void)agg;
    ms_i128 sign = retracts ? -1 : 1;
    acc->is_lost |= !msi_sum_i128(&acc->u.dec, sign, values->data, values->pos, values->count);
    acc->is_set = true;
    return !acc->is_lost && ms_decimal_fits(acc->u.dec, MS_TYPE_DECIMAL_PRECISION_MAX);
}

static bool result_decimal(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row)
{
    (void)agg;
    bool fits = !acc->is_lost && ms_decimal_fits(acc->u.dec, vec->type->precision);
    MS_VEC_DATA(vec, ms_i128)[row] = fits ? acc->u.dec : 0;
    return acc->count != 0 && fits;
}

static bool result_decimal_average(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec,
                                   uint32_t row)
{
    if (acc->count <= 0 || acc->is_lost ||
        !ms_decimal_fits(acc->u.dec, MS_TYPE_DECIMAL_PRECISION_MAX)) {
        return false;
    }
    ms_decimal sum = {acc->u.dec, agg->arg_type->scale};
    ms_decimal count = {acc->count, 0};
    return ms_decimal_divide(sum, count, vec->type->precision, vec->type->scale,
                             &MS_VEC_DATA(vec, ms_i128)[row]);
}

/* Sums of floats. The first value replaces the empty sum, so that -0.0 alone stays -0.0; the sum of
 * an average starts from 0.0. */

static double float_sign(bool retracts)
{
    return retracts ? -1.0 : 1.0;
}

/* What the sum is so far. */
static double float_start(const msi_agg_acc *acc, bool is_average, bool retracts)
{
    return acc->is_set ? acc->u.f : is_average || retracts ? 0.0 : -0.0;
}

static bool set_float(msi_agg_acc *acc, double sum)
{
    acc->u.f = sum;
    acc->is_set = true;
    return true;
}

static bool take_sum_f32(const msi_agg *agg, msi_agg_acc *acc, const run *values, bool retracts)
{
    (void)agg;
    float start = (float)float_start(acc, false, retracts);
    return set_float(acc, (double)msi_sum_f32(start, (float)float_sign(retracts), values->data,
                                              values->pos, values->count));
}

#define DEFINE_TAKE_FLOATS(name, kernel, is_average)                                               \
    static bool name(const msi_agg *agg, msi_agg_acc *acc, const run *values, bool retracts)       \
    {                                                                                              \
        (void)agg;                                                                                 \
        double start = float_start(acc, is_average, retracts);                                     \
        return set_float(                                                                          \
            acc, kernel(start, float_sign(retracts), values->data, values->pos, values->count));   \
    }

DEFINE_TAKE_FLOATS(take_sum_f64, msi_sum_f64, false)
DEFINE_TAKE_FLOATS(take_average_f32, msi_sum_f32_wide, true)
DEFINE_TAKE_FLOATS(take_average_f64, msi_sum_f64, true)

static void write_float(ms_vec *vec, uint32_t row, double value)
{
    if (vec->phys == MS_PHYS_F32) {
        MS_VEC_DATA(vec, float)[row] = (float)value;
    } else {
        MS_VEC_DATA(vec, double)[row] = value;
    }
}

static bool result_float(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row)
{
    (void)agg;
    write_float(vec, row, acc->u.f);
    return acc->count != 0;
}

static bool result_float_average(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec,
                                 uint32_t row)
{
    (void)agg;
    bool has_rows = acc->count > 0;
    write_float(vec, row, has_rows ? acc->u.f / (double)acc->count : 0.0);
    return has_rows;
}

/* MIN and MAX. The first value is the best so far. */

#define DEFINE_TAKE_BEST(name, kernel, ctype, field)                                               \
    static bool name(const msi_agg *agg, msi_agg_acc *acc, const run *values, bool retracts)       \
    {                                                                                              \
        (void)agg;                                                                                 \
        (void)retracts;                                                                            \
        if (!acc->is_set) {                                                                        \
            const ctype *data = values->data;                                                      \
            acc->u.field = data[values->pos != NULL ? values->pos[0] : 0];                         \
            acc->is_set = true;                                                                    \
        }                                                                                          \
        acc->u.field = kernel(acc->u.field, values->data, values->pos, values->count);             \
        return true;                                                                               \
    }

DEFINE_TAKE_BEST(take_min_bool, msi_min_u8, uint8_t, i)
DEFINE_TAKE_BEST(take_max_bool, msi_max_u8, uint8_t, i)
DEFINE_TAKE_BEST(take_min_i8, msi_min_i8, int8_t, i)
DEFINE_TAKE_BEST(take_max_i8, msi_max_i8, int8_t, i)
DEFINE_TAKE_BEST(take_min_i16, msi_min_i16, int16_t, i)
DEFINE_TAKE_BEST(take_max_i16, msi_max_i16, int16_t, i)
DEFINE_TAKE_BEST(take_min_i32, msi_min_i32, int32_t, i)
DEFINE_TAKE_BEST(take_max_i32, msi_max_i32, int32_t, i)
DEFINE_TAKE_BEST(take_min_i64, msi_min_i64, int64_t, i)
DEFINE_TAKE_BEST(take_max_i64, msi_max_i64, int64_t, i)
DEFINE_TAKE_BEST(take_min_i128, msi_min_i128, ms_i128, dec)
DEFINE_TAKE_BEST(take_max_i128, msi_max_i128, ms_i128, dec)
DEFINE_TAKE_BEST(take_min_f32, msi_min_f32, float, f)
DEFINE_TAKE_BEST(take_max_f32, msi_max_f32, float, f)
DEFINE_TAKE_BEST(take_min_f64, msi_min_f64, double, f)
DEFINE_TAKE_BEST(take_max_f64, msi_max_f64, double, f)

static int best_sign(const msi_agg *agg)
{
    return agg->call->kind == MS_AGG_MAX ? 1 : -1;
}

static bool take_best_str(const msi_agg *agg, msi_agg_acc *acc, const run *values, bool retracts)
{
    (void)retracts;
    const ms_view *data = values->data;
    ms_view best = acc->is_set ? acc->u.str : data[values->pos != NULL ? values->pos[0] : 0];
    acc->u.str = msi_best_view(best, best_sign(agg), data, values->pos, values->count);
    acc->is_set = true;
    return true;
}

static bool take_best_ts16(const msi_agg *agg, msi_agg_acc *acc, const run *values, bool retracts)
{
    (void)retracts;
    const ms_ts16 *data = values->data;
    ms_ts16 best = acc->is_set ? acc->u.ts : data[values->pos != NULL ? values->pos[0] : 0];
    acc->u.ts = msi_best_ts16(best, best_sign(agg), data, values->pos, values->count);
    acc->is_set = true;
    return true;
}

static bool result_wide(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row)
{
    (void)agg;
    MS_VEC_DATA(vec, ms_i128)[row] = acc->u.dec;
    return acc->count != 0;
}

static bool result_str(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row)
{
    (void)agg;
    MS_VEC_DATA(vec, ms_view)[row] = acc->u.str;
    return acc->count != 0;
}

static bool result_ts16(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row)
{
    (void)agg;
    MS_VEC_DATA(vec, ms_ts16)[row] = acc->u.ts;
    return acc->count != 0;
}

/* The table. DECIMAL shares its forms with BIGINT and is told apart by the type of the argument. */

static const msi_agg_class count_class = {MS_AGG_COUNT, MS_PHYS_NONE, true, take_count,
                                          result_count};

static const msi_agg_class decimal_classes[] = {
    {MS_AGG_SUM, MS_PHYS_I64, true, take_sum_decimal_i64, result_decimal},
    {MS_AGG_SUM, MS_PHYS_I128, true, take_sum_decimal_i128, result_decimal},
    {MS_AGG_AVG, MS_PHYS_I64, true, take_sum_decimal_i64, result_decimal_average},
    {MS_AGG_AVG, MS_PHYS_I128, true, take_sum_decimal_i128, result_decimal_average},
};

static const msi_agg_class number_classes[] = {
    {MS_AGG_SUM, MS_PHYS_I8, true, take_sum_i8, result_integer},
    {MS_AGG_SUM, MS_PHYS_I16, true, take_sum_i16, result_integer},
    {MS_AGG_SUM, MS_PHYS_I32, true, take_sum_i32, result_integer},
    {MS_AGG_SUM, MS_PHYS_I64, true, take_sum_i64, result_integer},
    {MS_AGG_SUM, MS_PHYS_F32, true, take_sum_f32, result_float},
    {MS_AGG_SUM, MS_PHYS_F64, true, take_sum_f64, result_float},
    {MS_AGG_AVG, MS_PHYS_I8, true, take_sum_i8, result_integer_average},
    {MS_AGG_AVG, MS_PHYS_I16, true, take_sum_i16, result_integer_average},
    {MS_AGG_AVG, MS_PHYS_I32, true, take_sum_i32, result_integer_average},
    {MS_AGG_AVG, MS_PHYS_I64, true, take_sum_i64, result_integer_average},
    {MS_AGG_AVG, MS_PHYS_F32, true, take_average_f32, result_float_average},
    {MS_AGG_AVG, MS_PHYS_F64, true, take_average_f64, result_float_average},
};

static const msi_agg_class best_classes[] = {
    {MS_AGG_MIN, MS_PHYS_BOOL, false, take_min_bool, result_integer},
    {MS_AGG_MAX, MS_PHYS_BOOL, false, take_max_bool, result_integer},
    {MS_AGG_MIN, MS_PHYS_I8, false, take_min_i8, result_integer},
    {MS_AGG_MAX, MS_PHYS_I8, false, take_max_i8, result_integer},
    {MS_AGG_MIN, MS_PHYS_I16, false, take_min_i16, result_integer},
    {MS_AGG_MAX, MS_PHYS_I16, false, take_max_i16, result_integer},
    {MS_AGG_MIN, MS_PHYS_I32, false, take_min_i32, result_integer},
    {MS_AGG_MAX, MS_PHYS_I32, false, take_max_i32, result_integer},
    {MS_AGG_MIN, MS_PHYS_I64, false, take_min_i64, result_integer},
    {MS_AGG_MAX, MS_PHYS_I64, false, take_max_i64, result_integer},
    {MS_AGG_MIN, MS_PHYS_I128, false, take_min_i128, result_wide},
    {MS_AGG_MAX, MS_PHYS_I128, false, take_max_i128, result_wide},
    {MS_AGG_MIN, MS_PHYS_F32, false, take_min_f32, result_float},
    {MS_AGG_MAX, MS_PHYS_F32, false, take_max_f32, result_float},
    {MS_AGG_MIN, MS_PHYS_F64, false, take_min_f64, result_float},
    {MS_AGG_MAX, MS_PHYS_F64, false, take_max_f64, result_float},
    {MS_AGG_MIN, MS_PHYS_STR, false, take_best_str, result_str},
    {MS_AGG_MAX, MS_PHYS_STR, false, take_best_str, result_str},
    {MS_AGG_MIN, MS_PHYS_TS16, false, take_best_ts16, result_ts16},
    {MS_AGG_MAX, MS_PHYS_TS16, false, take_best_ts16, result_ts16},
};

#define FIND_IN(table, kind, phys) find_in(table, sizeof(table) / sizeof((table)[0]), kind, phys)

static const msi_agg_class *find_in(const msi_agg_class *table, size_t count, ms_agg_kind kind,
                                    ms_phys phys)
{
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == kind && table[i].phys == phys) {
            return &table[i];
        }
    }
    return NULL;
}

static const msi_agg_class *find_class(ms_agg_kind kind, const ms_type *arg)
{
    switch (kind) {
    case MS_AGG_COUNT_STAR:
    case MS_AGG_COUNT:
        return &count_class;
    case MS_AGG_MIN:
    case MS_AGG_MAX:
        return FIND_IN(best_classes, kind, arg->phys);
    case MS_AGG_SUM:
    case MS_AGG_AVG:
        if (arg->kind == MS_TYPE_DECIMAL) {
            return FIND_IN(decimal_classes, kind, arg->phys);
        }
        return ms_type_is_numeric(arg) ? FIND_IN(number_classes, kind, arg->phys) : NULL;
    case MS_AGG_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* The type of what an accumulator holds. */
static const ms_type *value_type(ms_agg_kind kind, const ms_type *arg, ms_arena *arena)
{
    bool is_best = kind == MS_AGG_MIN || kind == MS_AGG_MAX;
    if (is_best) {
        return ms_type_as_nullable(arena, arg, true);
    }
    if (arg->kind == MS_TYPE_DECIMAL) {
        return ms_type_decimal(arena, MS_TYPE_DECIMAL_PRECISION_MAX, arg->scale, true);
    }
    if (kind == MS_AGG_SUM) {
        return ms_type_as_nullable(arena, arg, true);
    }
    return ms_type_simple(arena, ms_type_is_integer(arg) ? MS_TYPE_BIGINT : MS_TYPE_DOUBLE, true);
}

ms_rc msi_agg_init(msi_agg *agg, const ms_agg_call *call, const ms_schema *input,
                   bool overflow_is_error, ms_arena *arena, ms_status *st)
{
    *agg = (msi_agg){.call = call, .overflow_is_error = overflow_is_error};
    if (call->kind != MS_AGG_COUNT_STAR) {
        agg->arg_type = input->columns[call->arg].type;
    }
    agg->klass = find_class(call->kind, agg->arg_type);
    if (agg->klass == NULL) {
        return ms_status_set(st, MS_NOT_SUPPORTED, call->span,
                             "aggregate %s over %.*s is not supported", ms_agg_name(call->kind),
                             MS_STR_ARG(ms_type_text_bare(arena, agg->arg_type)));
    }
    if (agg->klass != &count_class) {
        agg->value_type = value_type(call->kind, agg->arg_type, arena);
    }
    return MS_OK;
}

bool msi_agg_can_retract(const msi_agg *agg)
{
    return agg->klass->can_retract;
}

/* Rows to positions. */

static run find_values(const msi_agg *agg, const msi_agg_rows *in, msi_agg_scratch *scratch)
{
    const ms_batch *batch = in->batch;
    const uint16_t *rows = batch->sel != NULL ? batch->sel + in->first : NULL;
    uint32_t first = in->first;
    uint32_t count = in->end - in->first;
    if (agg->call->filter != UINT32_MAX) {
        const ms_vec *flags = &batch->columns[agg->call->filter];
        count = msi_keep_true(flags, rows, first, count, scratch->pos);
        rows = scratch->pos;
    }
    if (agg->arg_type == NULL) {
        return (run){.count = count};
    }
    const ms_vec *vec = &batch->columns[agg->call->arg];
    if (vec->valid != NULL || vec->encoding != MS_ENC_FLAT) {
        count = msi_keep_values(vec, rows, first, count, scratch->pos);
        return (run){vec->data, scratch->pos, count};
    }
    if (rows != NULL) {
        return (run){vec->data, rows, count};
    }
    return (run){(const char *)vec->data + first * ms_phys_bytes(vec->phys), NULL, count};
}

ms_rc msi_agg_update(const msi_agg *agg, msi_agg_acc *acc, const msi_agg_rows *rows, bool retracts,
                     msi_agg_scratch *scratch, ms_status *st)
{
    MS_ASSERT(!retracts || agg->klass->can_retract);
    run values = find_values(agg, rows, scratch);
    if (values.count == 0) {
        return MS_OK;
    }
    acc->count += retracts ? -(int64_t)values.count : (int64_t)values.count;
    bool fits = agg->klass->take(agg, acc, &values, retracts);
    if (fits || !agg->overflow_is_error) {
        return MS_OK;
    }
    return ms_status_set(st, MS_NUMERIC_OUT_OF_RANGE, agg->call->span,
                         "aggregate %s: the sum does not fit its type",
                         ms_agg_name(agg->call->kind));
}

/* Results. */

void msi_agg_result(const msi_agg *agg, const msi_agg_acc *acc, ms_vec *vec, uint32_t row)
{
    if (agg->klass->result(agg, acc, vec, row)) {
        if (vec->valid != NULL) {
            ms_bit_set(vec->valid, row);
        }
        return;
    }
    size_t width = ms_phys_bytes(vec->phys);
    memset((char *)vec->data + row * width, 0, width);
    ms_bit_clear(ms_vec_validity(vec), row);
}

/* Strings. */

bool msi_agg_borrows(const msi_agg *agg, const msi_agg_acc *acc, const ms_buf *store)
{
    return agg->klass->result == result_str && acc->is_set && acc->u.str.bytes > MS_VIEW_INLINE &&
           acc->u.str.u.ptr != store->ptr;
}

ms_rc msi_agg_keep(const msi_agg *agg, msi_agg_acc *acc, ms_buf *store, ms_status *st)
{
    if (!msi_agg_borrows(agg, acc, store)) {
        return MS_OK;
    }
    ms_buf_reset(store);
    MS_TRY(ms_buf_append(store, ms_view_str(&acc->u.str), st));
    acc->u.str = ms_view_make(store->ptr, acc->u.str.bytes);
    return MS_OK;
}

/* State. */

uint32_t msi_agg_state_fields(const msi_agg *agg, uint32_t index, ms_field *fields, ms_arena *arena)
{
    fields[0] = (ms_field){ms_arena_format(arena, "count%u", index),
                           ms_type_simple(arena, MS_TYPE_BIGINT, false)};
    if (agg->value_type == NULL) {
        return 1;
    }
    fields[1] = (ms_field){ms_arena_format(arena, "value%u", index), agg->value_type};
    return 2;
}

/* Which member of an accumulator's union has the value of a physical form. */
typedef enum held { HELD_NOT, HELD_I, HELD_F, HELD_DEC, HELD_TS, HELD_STR } held;

static held held_of(const msi_agg *agg)
{
    static const uint8_t helds[MS_PHYS_COUNT] = {
        [MS_PHYS_BOOL] = HELD_I,  [MS_PHYS_I8] = HELD_I,     [MS_PHYS_I16] = HELD_I,
        [MS_PHYS_I32] = HELD_I,   [MS_PHYS_I64] = HELD_I,    [MS_PHYS_F32] = HELD_F,
        [MS_PHYS_F64] = HELD_F,   [MS_PHYS_I128] = HELD_DEC, [MS_PHYS_TS16] = HELD_TS,
        [MS_PHYS_STR] = HELD_STR,
    };
    return (held)helds[agg->value_type->phys];
}

static ms_value value_of(const msi_agg *agg, const msi_agg_acc *acc)
{
    ms_value value = {.type = agg->value_type};
    switch (held_of(agg)) {
    case HELD_I:
        value.u.i = acc->u.i;
        return value;
    case HELD_F:
        value.u.f = acc->u.f;
        return value;
    case HELD_DEC:
        value.u.dec = acc->u.dec;
        return value;
    case HELD_TS:
        value.u.ts = acc->u.ts;
        return value;
    case HELD_STR:
        value.u.str = ms_view_str(&acc->u.str);
        return value;
    case HELD_NOT:
        break;
    }
    MS_UNREACHABLE();
}

static void hold_value(const msi_agg *agg, msi_agg_acc *acc, const ms_value *value)
{
    switch (held_of(agg)) {
    case HELD_I:
        acc->u.i = value->u.i;
        return;
    case HELD_F:
        acc->u.f = value->u.f;
        return;
    case HELD_DEC:
        acc->u.dec = value->u.dec;
        return;
    case HELD_TS:
        acc->u.ts = value->u.ts;
        return;
    case HELD_STR:
        acc->u.str = ms_view_make(value->u.str.ptr, (uint32_t)value->u.str.bytes);
        return;
    case HELD_NOT:
        break;
    }
    MS_UNREACHABLE();
}

static uint32_t column_count(const msi_agg *agg)
{
    return agg->value_type == NULL ? 1 : 2;
}

uint32_t msi_agg_save(const msi_agg *agg, const msi_agg_acc *acc, const ms_field *fields,
                      ms_value *values)
{
    values[0] = ms_value_int(fields[0].type, acc->count);
    if (agg->value_type != NULL) {
        bool has_value = acc->is_set && !acc->is_lost;
        values[1] = has_value ? value_of(agg, acc) : ms_value_null(agg->value_type);
    }
    return column_count(agg);
}

/* A sum that is NULL though values count is one that was lost. */
uint32_t msi_agg_load(const msi_agg *agg, msi_agg_acc *acc, const ms_value *values)
{
    *acc = (msi_agg_acc){.count = values[0].u.i};
    if (agg->value_type != NULL) {
        acc->is_set = !values[1].is_null;
        acc->is_lost = values[1].is_null && acc->count != 0;
        if (acc->is_set) {
            hold_value(agg, acc, &values[1]);
        }
    }
    return column_count(agg);
}
