/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values from numbers. Every row of a column has a random sequence of its own, SplitMix64 started
 * from the seed, the column's salt and the row's number; so values can be made in any order, and a
 * column that is projected away does not change the others.
 */
#include "connector/datagen/generator.h"

#include "base/num.h"
#include "type/decimal.h"
#include "type/hash.h"
#include "type/time.h"

/* The increment of SplitMix64: 2^64 divided by the golden ratio. */
#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* Flink's bounds of the counts of a MULTISET. */
#define MULTISET_COUNT_MAX 10

typedef struct row_random {
    uint64_t state;
} row_random;

static row_random random_make(uint64_t seed, uint64_t salt, uint64_t row)
{
    return (row_random){ms_hash_mix(ms_hash_mix(seed ^ ms_hash_mix(salt)) + row * GOLDEN)};
}

static uint64_t random_next(row_random *draw)
{
    draw->state += GOLDEN;
    return ms_hash_mix(draw->state);
}

/* Uniform in [0, 1), with 53 random bits. */
static double random_unit(row_random *draw)
{
    return (double)(random_next(draw) >> 11) * 0x1p-53;
}

/* Uniform in [min, max]; the high half of a product of 128 bits has no bias worth the name. */
static int64_t random_between(row_random *draw, int64_t min, int64_t max)
{
    uint64_t bits = random_next(draw);
    uint64_t range = (uint64_t)max - (uint64_t)min + 1;
    if (range == 0) {
        return (int64_t)bits;
    }
    __extension__ unsigned __int128 product = (unsigned __int128)bits * range;
    return (int64_t)((uint64_t)min + (uint64_t)(product >> 64));
}

/* Written so that a range wider than the largest double does not overflow. */
static double random_real(row_random *draw, double min, double max)
{
    double unit = random_unit(draw);
    return min * (1.0 - unit) + max * unit;
}

/* Strings. */

static uint32_t random_length(const msi_generator *generator, row_random *draw)
{
    if (!generator->is_varied || generator->length < 3) {
        return generator->is_varied ? 1 : generator->length;
    }
    return (uint32_t)random_between(draw, 1, generator->length - 1);
}

static ms_str random_hex(row_random *draw, uint32_t length, ms_arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    char *text = ms_arena_alloc(arena, length, 1);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < length; i++) {
        bits = i % 16 == 0 ? random_next(draw) : bits >> 4;
        text[i] = digits[bits & 15];
    }
    return ms_str_make(text, length);
}

static ms_str random_bytes(row_random *draw, uint32_t length, ms_arena *arena)
{
    char *bytes = ms_arena_alloc(arena, length, 1);
    for (uint32_t i = 0; i < length; i += sizeof(uint64_t)) {
        uint64_t bits = random_next(draw);
        uint32_t left = length - i;
        memcpy(bytes + i, &bits, left < sizeof(bits) ? left : sizeof(bits));
    }
    return ms_str_make(bytes, length);
}

/* Numbers and times. */

static ms_value decimal_value(const ms_type *type, double real)
{
    ms_i128 unscaled = 0;
    if (!ms_decimal_from_double(real, type->precision, type->scale, &unscaled)) {
        unscaled = 0;
    }
    ms_value value = {.type = type};
    if (type->phys == MS_PHYS_I64) {
        value.u.i = (int64_t)unscaled;
    } else {
        value.u.dec = unscaled;
    }
    return value;
}

static ms_value real_value(const msi_generator *generator, row_random *draw)
{
    double real = random_real(draw, generator->real_min, generator->real_max);
    if (generator->type->kind == MS_TYPE_DECIMAL) {
        return decimal_value(generator->type, real);
    }
    return ms_value_double(generator->type,
                           generator->type->phys == MS_PHYS_F32 ? (double)(float)real : real);
}

/* Milliseconds, as Flink's: now, less up to max-past. */
static ms_value timestamp_value(const msi_generator *generator, const msi_generator_env *env,
                                row_random *draw)
{
    const ms_type *type = generator->type;
    int64_t ms = ms_time_ms_from_us(env->now_us);
    if (generator->max_past_ms > 0) {
        ms -= random_between(draw, 0, generator->max_past_ms);
    }
    ms_value value = {.type = type};
    if (type->phys == MS_PHYS_TS16) {
        value.u.ts = (ms_ts16){ms, 0};
    } else {
        value.u.i = ms_time_truncate_us(ms_time_us_from_ms(ms), type->precision);
    }
    return value;
}

/* Nested values: the parts draw from the random sequence of the whole. */

static ms_value random_value(const msi_generator *generator, const msi_generator_env *env,
                             row_random *draw);

static ms_value items_value(const ms_type *type, const ms_value *items, uint32_t count)
{
    return (ms_value){.type = type, .item_count = count, .u.items = items};
}

static ms_value array_value(const msi_generator *generator, const msi_generator_env *env,
                            row_random *draw)
{
    ms_value *items = ms_arena_array(env->arena, ms_value, generator->length);
    for (uint32_t i = 0; i < generator->length; i++) {
        items[i] = random_value(&generator->children[0], env, draw);
    }
    return items_value(generator->type, items, generator->length);
}

static bool has_key(const ms_value *items, uint32_t count, const ms_value *key)
{
    for (uint32_t i = 0; i < count; i += 2) {
        if (ms_value_equals(&items[i], key)) {
            return true;
        }
    }
    return false;
}

/* MAP and MULTISET: a key that was drawn before takes the newer value's place away. */
static ms_value map_value(const msi_generator *generator, const msi_generator_env *env,
                          row_random *draw)
{
    static const ms_type count_type = {.kind = MS_TYPE_INT, .phys = MS_PHYS_I32};
    ms_value *items = ms_arena_array(env->arena, ms_value, 2 * (size_t)generator->length);
    uint32_t count = 0;
    for (uint32_t i = 0; i < generator->length; i++) {
        ms_value key = random_value(&generator->children[0], env, draw);
        ms_value value =
            generator->child_count == 2
                ? random_value(&generator->children[1], env, draw)
                : ms_value_int(&count_type, random_between(draw, 0, MULTISET_COUNT_MAX));
        if (!has_key(items, count, &key)) {
            items[count++] = key;
            items[count++] = value;
        }
    }
    return items_value(generator->type, items, count);
}

static ms_value row_value(const msi_generator *generator, const msi_generator_env *env,
                          row_random *draw)
{
    ms_value *items = ms_arena_array(env->arena, ms_value, generator->child_count);
    for (uint32_t i = 0; i < generator->child_count; i++) {
        items[i] = random_value(&generator->children[i], env, draw);
    }
    return items_value(generator->type, items, generator->child_count);
}

static ms_value random_value(const msi_generator *generator, const msi_generator_env *env,
                             row_random *draw)
{
    const ms_type *type = generator->type;
    if (generator->null_rate > 0 && random_unit(draw) < generator->null_rate) {
        return ms_value_null(type);
    }
    switch (type->kind) {
    case MS_TYPE_BOOLEAN:
        return ms_value_int(type, (int64_t)(random_next(draw) >> 63));
    case MS_TYPE_TINYINT:
    case MS_TYPE_SMALLINT:
    case MS_TYPE_INT:
    case MS_TYPE_BIGINT:
    case MS_TYPE_INTERVAL_MONTH:
    case MS_TYPE_INTERVAL_SECOND:
        return ms_value_int(type, random_between(draw, generator->min, generator->max));
    case MS_TYPE_FLOAT:
    case MS_TYPE_DOUBLE:
    case MS_TYPE_DECIMAL:
        return real_value(generator, draw);
    case MS_TYPE_CHAR:
    case MS_TYPE_VARCHAR:
        return ms_value_str(type, random_hex(draw, random_length(generator, draw), env->arena));
    case MS_TYPE_BINARY:
    case MS_TYPE_VARBINARY:
        return ms_value_str(type, random_bytes(draw, random_length(generator, draw), env->arena));
    case MS_TYPE_DATE:
        return ms_value_int(type, ms_time_day_of_us(env->local_us));
    case MS_TYPE_TIME:
        return ms_value_int(type, ms_time_us_of_day(env->local_us) / 1000);
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
        return timestamp_value(generator, env, draw);
    case MS_TYPE_ARRAY:
        return array_value(generator, env, draw);
    case MS_TYPE_MAP:
    case MS_TYPE_MULTISET:
        return map_value(generator, env, draw);
    case MS_TYPE_ROW:
        return row_value(generator, env, draw);
    case MS_TYPE_NULL:
    case MS_TYPE_RAW:
    case MS_TYPE_TIMESTAMP_TZ:
    case MS_TYPE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* Sequences. */

static ms_value sequence_text(const ms_type *type, int64_t number, ms_arena *arena)
{
    char *text = ms_arena_alloc(arena, MS_NUM_BYTES, 1);
    size_t bytes = ms_num_print_i64(number, text);
    if (type->kind == MS_TYPE_CHAR && bytes < (size_t)type->precision) {
        char *padded = ms_arena_alloc(arena, (size_t)type->precision, 1);
        memcpy(padded, text, bytes);
        memset(padded + bytes, ' ', (size_t)type->precision - bytes);
        return ms_value_str(type, ms_str_make(padded, (size_t)type->precision));
    }
    return ms_value_str(type, ms_str_make(text, bytes));
}

static ms_value sequence_bytes(const ms_type *type, int64_t number, ms_arena *arena)
{
    char *bytes = ms_arena_alloc(arena, sizeof(number), 1);
    for (uint32_t i = 0; i < sizeof(number); i++) {
        bytes[i] = (char)((uint64_t)number >> (56 - 8 * i));
    }
    return ms_value_str(type, ms_str_make(bytes, sizeof(number)));
}

static ms_value sequence_decimal(const ms_type *type, int64_t number)
{
    ms_i128 unscaled = (ms_i128)number * ms_decimal_pow10[type->scale];
    ms_value value = {.type = type};
    if (type->phys == MS_PHYS_I64) {
        value.u.i = (int64_t)unscaled;
    } else {
        value.u.dec = unscaled;
    }
    return value;
}

static ms_value sequence_value(const msi_generator *generator, const msi_generator_env *env,
                               uint64_t row)
{
    const ms_type *type = generator->type;
    int64_t number = (int64_t)((uint64_t)generator->start + row);
    if (ms_type_is_character(type)) {
        return sequence_text(type, number, env->arena);
    }
    if (ms_type_is_binary(type)) {
        return sequence_bytes(type, number, env->arena);
    }
    if (type->kind == MS_TYPE_DECIMAL) {
        return sequence_decimal(type, number);
    }
    if (type->phys == MS_PHYS_F32) {
        return ms_value_double(type, (double)(float)number);
    }
    return type->phys == MS_PHYS_F64 ? ms_value_double(type, (double)number)
                                     : ms_value_int(type, number);
}

ms_value msi_generator_value(const msi_generator *generator, const msi_generator_env *env,
                             uint64_t row)
{
    row_random draw = random_make(env->seed, generator->salt, row);
    if (!generator->is_sequence || generator->type->kind == MS_TYPE_BOOLEAN) {
        return random_value(generator, env, &draw);
    }
    if (generator->null_rate > 0 && random_unit(&draw) < generator->null_rate) {
        return ms_value_null(generator->type);
    }
    return sequence_value(generator, env, row);
}

/* Inspection. */

uint64_t msi_generator_rows(const msi_generator *generator)
{
    if (!generator->is_sequence) {
        return UINT64_MAX;
    }
    uint64_t steps = (uint64_t)generator->end - (uint64_t)generator->start;
    /* Of a sequence over all 64 bits the last value is not reached. */
    return steps >= UINT64_MAX - 1 ? UINT64_MAX - 1 : steps + 1;
}

bool msi_generator_needs_clock(const msi_generator *generator)
{
    bool needs = generator->type->kind == MS_TYPE_DATE || generator->type->kind == MS_TYPE_TIME;
    for (uint32_t i = 0; i < generator->child_count && !needs; i++) {
        needs = msi_generator_needs_clock(&generator->children[i]);
    }
    return needs;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t msi_generator_bytes(const msi_generator *generator)
{
    const ms_type *type = generator->type;
    bool is_list =
        type->kind == MS_TYPE_ARRAY || type->kind == MS_TYPE_MAP || type->kind == MS_TYPE_MULTISET;
    uint64_t bytes = sizeof(ms_value);
    if (type->phys == MS_PHYS_STR) {
        return bytes + (generator->is_sequence ? MS_NUM_BYTES : generator->length);
    }
    uint64_t items = 0;
    for (uint32_t i = 0; i < generator->child_count; i++) {
        items = add_saturating(items, msi_generator_bytes(&generator->children[i]));
    }
    uint64_t all = 0;
    if (__builtin_mul_overflow(items, (uint64_t)(is_list ? generator->length : 1), &all)) {
        return UINT64_MAX;
    }
    return add_saturating(bytes, all);
}
