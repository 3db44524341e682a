/* SPDX-License-Identifier: Apache-2.0 */
#include "type/hash.h"

#include "base/memory.h"
#include "type/random_data.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const ms_type bigint_type = {.kind = MS_TYPE_BIGINT, .nullable = true, .phys = MS_PHYS_I64};
static const ms_type int_type = {.kind = MS_TYPE_INT, .nullable = true, .phys = MS_PHYS_I32};
static const ms_type double_type = {.kind = MS_TYPE_DOUBLE, .nullable = true, .phys = MS_PHYS_F64};
static const ms_type float_type = {.kind = MS_TYPE_FLOAT, .nullable = true, .phys = MS_PHYS_F32};
static const ms_type string_type = {
    .kind = MS_TYPE_VARCHAR, .nullable = true, .phys = MS_PHYS_STR, .precision = INT32_MAX};
static const ms_type decimal_type = {
    .kind = MS_TYPE_DECIMAL, .nullable = true, .phys = MS_PHYS_I128, .precision = 38};
static const ms_type ts_type = {
    .kind = MS_TYPE_TIMESTAMP, .nullable = true, .phys = MS_PHYS_TS16, .precision = 9};

static uint64_t hash_of(ms_value value)
{
    return ms_hash_values(&value, 1);
}

static uint64_t hash_of_text(const char *text)
{
    return hash_of(ms_value_str(&string_type, ms_str_cstr(text)));
}

/*
 * These numbers are part of the format of checkpoints. They were worked out from the definition in
 * hash.h by a program of its own, and a change that breaks one of them breaks every checkpoint.
 */
static void the_hash_is_frozen(void **state)
{
    (void)state;
    assert_true(hash_of(ms_value_null(&bigint_type)) == UINT64_C(0xD1E1BA6DA58D1EF4));
    assert_true(hash_of(ms_value_int(&bigint_type, 0)) == UINT64_C(0x0F6C3B65EC038BA5));
    assert_true(hash_of(ms_value_int(&bigint_type, 1)) == UINT64_C(0x8845D76C6D8CA557));
    assert_true(hash_of(ms_value_int(&int_type, -1)) == UINT64_C(0xF920E29016BC79CD));
    assert_true(hash_of(ms_value_int(&bigint_type, INT64_MIN)) == UINT64_C(0x60633D0862E8FD3F));
    assert_true(hash_of(ms_value_double(&double_type, 1.5)) == UINT64_C(0xB4C315CB68C86C4E));
    assert_true(hash_of(ms_value_double(&double_type, -0.0)) == UINT64_C(0x0F6C3B65EC038BA5));
    assert_true(hash_of(ms_value_double(&double_type, NAN)) == UINT64_C(0x1FC3F1CE8D2181A7));
    assert_true(hash_of_text("") == UINT64_C(0x0F6C3B65EC038BA5));
    assert_true(hash_of_text("a") == UINT64_C(0xAE80223346B3F2D5));
    assert_true(hash_of_text("twelve bytes") == UINT64_C(0x1EAF4DEB422E5CE2));
    assert_true(hash_of_text("thirteen byte") == UINT64_C(0xB3EDC4F405101905));
    assert_true(hash_of_text("a text that is longer than sixteen bytes") ==
                UINT64_C(0xC2E58DF32B6F9D33));
    ms_value wide = {.type = &decimal_type, .u.dec = (ms_i128)1 << 64};
    assert_true(hash_of(wide) == UINT64_C(0x2896E68C762316CA));
    ms_value ts = {.type = &ts_type, .u.ts = {-1, 999999}};
    assert_true(hash_of(ts) == UINT64_C(0xF920E29016BC79CD));
    ms_value row[] = {ms_value_int(&bigint_type, 42), ms_value_null(&int_type),
                      ms_value_str(&string_type, ms_str_lit("key"))};
    assert_true(ms_hash_values(row, 3) == UINT64_C(0x9C98598C1FD93BD2));
    ms_type array_type = {.kind = MS_TYPE_ARRAY, .phys = MS_PHYS_LIST};
    ms_value array = {.type = &array_type, .item_count = 3, .u.items = row};
    assert_true(hash_of(array) == UINT64_C(0xC0B0270A41E462C8));
    ms_type map_type = {.kind = MS_TYPE_MAP, .phys = MS_PHYS_LIST};
    ms_value map = {.type = &map_type, .item_count = 2, .u.items = row};
    assert_true(hash_of(map) == UINT64_C(0x42328383E1A0C81A));
}

static void equal_values_have_equal_hashes(void **state)
{
    (void)state;
    assert_true(hash_of(ms_value_int(&int_type, -7)) == hash_of(ms_value_int(&bigint_type, -7)));
    assert_true(hash_of(ms_value_double(&double_type, 0.0)) ==
                hash_of(ms_value_double(&double_type, -0.0)));
    assert_true(hash_of(ms_value_double(&double_type, NAN)) ==
                hash_of(ms_value_double(&double_type, -NAN)));
    assert_true(hash_of(ms_value_double(&float_type, 0.5)) ==
                hash_of(ms_value_double(&double_type, 0.5)));
    ms_value wide = {.type = &decimal_type, .u.dec = -7};
    assert_true(hash_of(wide) == hash_of(ms_value_int(&bigint_type, -7)));
    wide.u.dec = ((ms_i128)1 << 64) - 7;
    assert_true(hash_of(wide) != hash_of(ms_value_int(&bigint_type, -7)));
    assert_true(ms_hash_bytes(ms_str_lit("abc")) == hash_of_text("abc"));
}

/* Vectors of any encoding and values agree. */
static void rows_have_the_hashes_of_their_values(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        rnd r = {.values = &arena, .vectors = &arena};
        ms_env_random_init(&r.random, seed);
        ms_schema schema = rnd_schema(&r, 4, 3);
        uint32_t rows = 1 + rnd_below(&r, 200);
        ms_batch frame;
        ms_value **values;
        rnd_frame(&r, &frame, &schema, rows, &values);
        const ms_vec *columns[4];
        for (uint32_t c = 0; c < schema.column_count; c++) {
            columns[c] = &frame.columns[c];
        }
        uint64_t hashes[200];
        uint32_t live = ms_batch_live(&frame);
        ms_hash_rows(columns, schema.column_count, frame.sel, live, hashes);
        for (uint32_t k = 0; k < live; k++) {
            ms_value row[4];
            for (uint32_t c = 0; c < schema.column_count; c++) {
                row[c] = values[c][ms_batch_row(&frame, k)];
            }
            assert_true(hashes[k] == ms_hash_values(row, schema.column_count));
        }
        ms_arena_release(&arena);
    }
}

static void maps_hash_the_same_in_any_order(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    rnd r = {.values = &arena, .vectors = &arena};
    ms_env_random_init(&r.random, 3);
    const ms_type *type = ms_type_map(&arena, &int_type, &string_type, true);
    for (int i = 0; i < 1000; i++) {
        ms_value a[8];
        ms_value b[8];
        for (int k = 0; k < 4; k++) {
            a[2 * k] = rnd_value(&r, &int_type);
            a[2 * k + 1] = rnd_value(&r, &string_type);
        }
        for (int k = 0; k < 4; k++) {
            int from = (k * 3 + i) % 4;
            b[2 * k] = a[2 * from];
            b[2 * k + 1] = a[2 * from + 1];
        }
        ms_value map_a = {.type = type, .item_count = 8, .u.items = a};
        ms_value map_b = {.type = type, .item_count = 8, .u.items = b};
        assert_true(hash_of(map_a) == hash_of(map_b));
    }
    ms_arena_release(&arena);
}

static void columns_do_not_commute(void **state)
{
    (void)state;
    ms_value a[] = {ms_value_int(&bigint_type, 1), ms_value_int(&bigint_type, 2)};
    ms_value b[] = {ms_value_int(&bigint_type, 2), ms_value_int(&bigint_type, 1)};
    assert_true(ms_hash_values(a, 2) != ms_hash_values(b, 2));
    assert_true(hash_of_text("") != hash_of(ms_value_null(&string_type)));
    assert_true(ms_hash_values(a, 0) == MS_HASH_SEED);
}

/* Each bit of the input turns each bit of the hash in about half of the cases. */
static void single_bits_spread(void **state)
{
    (void)state;
    static int turned[64][64];
    memset(turned, 0, sizeof(turned));
    rnd r = {0};
    ms_env_random_init(&r.random, 8);
    for (int i = 0; i < 2000; i++) {
        int64_t value = (int64_t)ms_env_random_next(&r.random);
        uint64_t hash = hash_of(ms_value_int(&bigint_type, value));
        for (int in = 0; in < 64; in++) {
            uint64_t other =
                hash_of(ms_value_int(&bigint_type, (int64_t)((uint64_t)value ^ UINT64_C(1) << in)));
            for (int out = 0; out < 64; out++) {
                turned[in][out] += (int)((hash ^ other) >> out & 1);
            }
        }
    }
    for (int in = 0; in < 64; in++) {
        for (int out = 0; out < 64; out++) {
            assert_in_range(turned[in][out], 850, 1150); /* 1000 and six standard deviations */
        }
    }
}

/* Linear probing at three quarters: the mean length of a search is 2.5 (Knuth, volume 3, 6.4). */
static double mean_probes(const uint64_t *hashes, size_t count)
{
    size_t slots = 1;
    while (slots * 3 / 4 < count) {
        slots *= 2;
    }
    bool *taken = ms_mem_calloc(slots, sizeof(*taken));
    size_t probes = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = ms_hash_slot(hashes[i]) & (slots - 1);
        probes++;
        while (taken[at]) {
            at = (at + 1) & (slots - 1);
            probes++;
        }
        taken[at] = true;
    }
    ms_mem_free(taken);
    return (double)probes / (double)count;
}

/*
 * The tables of a subtask hold the rows of its key groups only. Were their slots made of the bits
 * that name the group, the rows would crowd into a part of the table and be searched for long.
 */
enum { PROBED_ROWS = 400000 };

static void check_subtask(const char *keys, const uint64_t *hashes, uint64_t *own, uint32_t subtask,
                          uint32_t parallelism)
{
    size_t count = 0;
    for (int i = 0; i < PROBED_ROWS; i++) {
        if (ms_hash_group_owner(ms_hash_key_group(hashes[i]), parallelism) == subtask) {
            own[count++] = hashes[i];
        }
    }
    /* Even shares, within a tenth. */
    double share = (double)count * parallelism / PROBED_ROWS;
    double probes = mean_probes(own, count);
    if (share < 0.9 || share > 1.1 || probes > 2.6) {
        fail_msg("%s, subtask %u of %u: share %.3f, %.2f probes", keys, subtask, parallelism, share,
                 probes);
    }
}

static uint64_t probed_hash(int kind, int i)
{
    char text[32];
    snprintf(text, sizeof(text), "customer-%d", i);
    return kind == 2   ? hash_of_text(text)
           : kind == 1 ? hash_of(ms_value_int(&bigint_type, (int64_t)i << 20))
                       : hash_of(ms_value_int(&bigint_type, i));
}

static void probes_stay_short_within_key_groups(void **state)
{
    (void)state;
    static const char *const keys[] = {"sequence", "stride", "text"};
    static const uint32_t parallelisms[] = {1, 2, 4, 16, 128};
    uint64_t *hashes = ms_mem_calloc(PROBED_ROWS, sizeof(*hashes));
    uint64_t *own = ms_mem_calloc(PROBED_ROWS, sizeof(*own));
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < PROBED_ROWS; i++) {
            hashes[i] = probed_hash(kind, i);
        }
        for (size_t p = 0; p < 5; p++) {
            uint32_t step = 1 + parallelisms[p] / 5;
            for (uint32_t subtask = 0; subtask < parallelisms[p]; subtask += step) {
                check_subtask(keys[kind], hashes, own, subtask, parallelisms[p]);
            }
        }
    }
    ms_mem_free(own);
    ms_mem_free(hashes);
}

static void bit_ranges_are_disjoint(void **state)
{
    (void)state;
    uint64_t all = UINT64_MAX;
    uint64_t joined = (uint64_t)ms_hash_slot(all) | (uint64_t)ms_hash_preagg_slot(all) << 32 |
                      (uint64_t)ms_hash_tag(all) << 48 | (uint64_t)ms_hash_key_group(all) << 57;
    assert_true(joined == UINT64_MAX);
    assert_int_equal(ms_hash_key_group(all), MS_KEY_GROUPS - 1);
}

static void every_key_group_has_one_owner(void **state)
{
    (void)state;
    for (uint32_t parallelism = 1; parallelism <= MS_KEY_GROUPS; parallelism++) {
        for (uint32_t subtask = 0; subtask < parallelism; subtask++) {
            uint32_t first = ms_hash_group_first(subtask, parallelism);
            uint32_t end = ms_hash_group_first(subtask + 1, parallelism);
            assert_true(first < end);
            for (uint32_t group = first; group < end; group++) {
                assert_int_equal(ms_hash_group_owner(group, parallelism), subtask);
            }
        }
        assert_int_equal(ms_hash_group_first(0, parallelism), 0);
        assert_int_equal(ms_hash_group_first(parallelism, parallelism), MS_KEY_GROUPS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_frozen),
        cmocka_unit_test(equal_values_have_equal_hashes),
        cmocka_unit_test(rows_have_the_hashes_of_their_values),
        cmocka_unit_test(maps_hash_the_same_in_any_order),
        cmocka_unit_test(columns_do_not_commute),
        cmocka_unit_test(single_bits_spread),
        cmocka_unit_test(probes_stay_short_within_key_groups),
        cmocka_unit_test(bit_ranges_are_disjoint),
        cmocka_unit_test(every_key_group_has_one_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
