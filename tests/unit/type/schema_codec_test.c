/* SPDX-License-Identifier: Apache-2.0 */
#include "type/random_data.h"
#include "type/rowcodec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void start(rnd *r, ms_arena *arena, uint64_t seed)
{
    ms_arena_init(arena, 0);
    *r = (rnd){.values = arena, .vectors = arena};
    ms_env_random_init(&r->random, seed);
}

static void schemas_survive_their_descriptor(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 500; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        ms_schema schema = rnd_schema(&r, 8, 5);
        ms_buf buf;
        ms_status st = {0};
        ms_buf_init(&buf, 1 << 20);
        assert_int_equal(ms_schema_encode(&schema, &buf, &st), MS_OK);
        ms_schema got;
        assert_int_equal(ms_schema_decode(ms_buf_view(&buf), &arena, &got, &st), MS_OK);
        assert_true(ms_schema_equals(&schema, &got));
        assert_int_equal(ms_schema_check(&schema, &got, &st), MS_OK);
        ms_buf_release(&buf);
        ms_arena_release(&arena);
    }
}

static void every_kind_has_its_code_for_ever(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *integer = ms_type_simple(&arena, MS_TYPE_INT, false);
    ms_field fields[] = {{ms_str_lit("f"), integer}};
    ms_field columns[] = {
        {ms_str_lit("a"), ms_type_decimal(&arena, 10, 2, true)},
        {ms_str_lit("b"), ms_type_sized(&arena, MS_TYPE_VARCHAR, 300, false)},
        {ms_str_lit("c"), ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 3, true)},
        {ms_str_lit("d"), ms_type_map(&arena, integer, integer, true)},
        {ms_str_lit("e"), ms_type_row(&arena, fields, 1, true)},
        {ms_str_lit("g"), ms_type_simple(&arena, MS_TYPE_INTERVAL_SECOND, true)},
    };
    ms_schema schema = {6, columns};
    static const char expected[] = "\x01\x06"
                                   "\x01"
                                   "a\x09\x01\x0a\x02"
                                   "\x01"
                                   "b\x0b\x00\xac\x02"
                                   "\x01"
                                   "c\x11\x01\x03"
                                   "\x01"
                                   "d\x15\x01\x05\x00\x05\x00"
                                   "\x01"
                                   "e\x17\x01\x01\x01"
                                   "f\x05\x00"
                                   "\x01"
                                   "g\x13\x01";
    ms_buf buf;
    ms_status st = {0};
    ms_buf_init(&buf, 1000);
    assert_int_equal(ms_schema_encode(&schema, &buf, &st), MS_OK);
    assert_int_equal(buf.bytes, sizeof(expected) - 1);
    assert_memory_equal(buf.ptr, expected, buf.bytes);
    ms_buf_release(&buf);
    ms_arena_release(&arena);
}

static void damaged_descriptors_are_refused_or_read(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 5000; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        ms_schema schema = rnd_schema(&r, 4, 3);
        ms_buf buf;
        ms_status st = {0};
        ms_buf_init(&buf, 1 << 20);
        assert_int_equal(ms_schema_encode(&schema, &buf, &st), MS_OK);
        for (size_t i = 0; i < buf.bytes; i++) {
            buf.ptr[i] = rnd_chance(&r, 10) ? (char)rnd_below(&r, 256) : buf.ptr[i];
        }
        size_t bytes = rnd_chance(&r, 50) ? buf.bytes : rnd_below(&r, (uint32_t)buf.bytes);
        ms_schema got;
        ms_rc rc = ms_schema_decode(ms_str_make(buf.ptr, bytes), &arena, &got, &st);
        assert_true(rc == MS_OK || rc == MS_CORRUPT_DATA);
        if (rc == MS_OK) {
            /* Whatever was read is a schema: it prints, and comes back. */
            ms_buf again;
            ms_buf_init(&again, 1 << 20);
            assert_int_equal(ms_schema_encode(&got, &again, &st), MS_OK);
            ms_schema twice;
            assert_int_equal(ms_schema_decode(ms_buf_view(&again), &arena, &twice, &st), MS_OK);
            assert_true(ms_schema_equals(&got, &twice));
            ms_buf_release(&again);
        }
        ms_buf_release(&buf);
        ms_arena_release(&arena);
    }
}

static void refusals_have_their_reason(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t count;
    } cases[] = {
        {"", 0},
        {"\x02\x00", 2},                      /* another version */
        {"\x01\x01\x01x\x09\x01\x00\x00", 8}, /* DECIMAL(0, 0) */
        {"\x01\x01\x01x\x09\x01\x27\x00", 8}, /* DECIMAL(39, 0) */
        {"\x01\x01\x01x\x09\x01\x02\x03", 8}, /* DECIMAL(2, 3) */
        {"\x01\x01\x01x\x10\x01\x0a", 7},     /* TIMESTAMP(10) */
        {"\x01\x01\x01x\x18\x01", 6},         /* no such code */
        {"\x01\x01\x01x\x00\x01", 6},
        {"\x01\x01\x01x\x05\x01\x00", 7}, /* a byte too many */
    };
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_schema got;
        ms_status st = {0};
        assert_int_equal(
            ms_schema_decode(ms_str_make(cases[i].bytes, cases[i].count), &arena, &got, &st),
            MS_CORRUPT_DATA);
        assert_int_equal(got.column_count, 0);
    }
    /* Nested beyond the limit: ARRAY of ARRAY of ... */
    char deep[100] = "\x01\x01\x01x";
    for (int i = 0; i < 40; i++) {
        deep[4 + 2 * i] = 20;
        deep[5 + 2 * i] = 1;
    }
    deep[84] = 5;
    ms_schema got;
    ms_status st = {0};
    assert_int_equal(ms_schema_decode(ms_str_make(deep, 86), &arena, &got, &st), MS_CORRUPT_DATA);
    ms_arena_release(&arena);
}

static void a_mismatch_names_the_first_difference(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *integer = ms_type_simple(&arena, MS_TYPE_INT, true);
    const ms_type *bigint = ms_type_simple(&arena, MS_TYPE_BIGINT, true);
    ms_field a[] = {{ms_str_lit("id"), integer}, {ms_str_lit("n"), integer}};
    ms_field b[] = {{ms_str_lit("id"), integer}, {ms_str_lit("n"), bigint}};
    ms_schema stored = {2, a};
    ms_schema current = {2, b};
    ms_status st = {0};
    assert_false(ms_schema_equals(&stored, &current));
    assert_int_equal(ms_schema_check(&stored, &current, &st), MS_PLAN_MISMATCH);
    assert_non_null(strstr(st.message, "\"n\""));
    assert_string_equal(st.detail, "stored: n INT; statement: n BIGINT");
    ms_schema shorter = {1, a};
    ms_status_clear(&st);
    assert_int_equal(ms_schema_check(&stored, &shorter, &st), MS_PLAN_MISMATCH);
    assert_false(ms_schema_equals(&stored, &shorter));
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_survive_their_descriptor),
        cmocka_unit_test(every_kind_has_its_code_for_ever),
        cmocka_unit_test(damaged_descriptors_are_refused_or_read),
        cmocka_unit_test(refusals_have_their_reason),
        cmocka_unit_test(a_mismatch_names_the_first_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
