/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the manifest's bytes: what is written is read, and no damage goes unnoticed. */
#include "testing.h"

#include "base/codec.h"
#include "base/env.h"
#include "runtime/runtime_priv.h"

static const msi_state_file files[] = {
    {ms_str_lit("state-1-000-1"), 100, 0xdeadbeef},
    {ms_str_lit("state-1-000-2"), UINT64_MAX, 7},
};

static const msi_manifest_op ops[] = {
    {.node_id = UINT64_MAX, .subtask = 127, .has_snapshot = true, .snapshot = ms_str_lit("snap")},
    {.node_id = 2, .file_count = 2, .files = files},
    {.node_id = 3, .is_finished = true},
    {.node_id = 4, .has_snapshot = true},
};

static const msi_manifest_blob enumerators[] = {{9, ms_str_lit("splits")}};
static const msi_manifest_blob committables[] = {
    {5, ms_str_lit("a")}, {5, ms_str_lit("bytes\0with zero")}, {6, ms_str_lit("")}};

static const msi_manifest sample = {.id = 42,
                                    .job_name = ms_str_lit("job"),
                                    .plan_text = ms_str_lit("plan 1\n"),
                                    .sql = ms_str_lit("INSERT INTO t SELECT 1"),
                                    .rows_read = 1234567890123,
                                    .op_count = 4,
                                    .ops = ops,
                                    .enumerator_count = 1,
                                    .enumerators = enumerators,
                                    .committable_count = 3,
                                    .committables = committables};

static void encode(ms_buf *bytes)
{
    ms_status st = {0};
    ms_buf_init(bytes, 1u << 20);
    assert_ok(msi_manifest_encode(&sample, bytes, &st));
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf bytes;
    ms_arena arena;
    msi_manifest m;
    encode(&bytes);
    ms_arena_init(&arena, 0);
    assert_ok(msi_manifest_decode(ms_buf_view(&bytes), &arena, &m, &st));
    assert_int_equal(m.id, 42);
    assert_str_equal(m.job_name, "job");
    assert_str_equal(m.plan_text, "plan 1\n");
    assert_str_equal(m.sql, "INSERT INTO t SELECT 1");
    assert_int_equal(m.rows_read, 1234567890123);
    assert_int_equal(m.op_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(m.ops[i].node_id, ops[i].node_id);
        assert_int_equal(m.ops[i].subtask, ops[i].subtask);
        assert_int_equal(m.ops[i].is_finished, ops[i].is_finished);
        assert_int_equal(m.ops[i].has_snapshot, ops[i].has_snapshot);
        assert_true(ms_str_equals(m.ops[i].snapshot, ops[i].snapshot));
        assert_int_equal(m.ops[i].file_count, ops[i].file_count);
        for (uint32_t f = 0; f < m.ops[i].file_count; f++) {
            assert_true(ms_str_equals(m.ops[i].files[f].name, files[f].name));
            assert_int_equal(m.ops[i].files[f].bytes, files[f].bytes);
            assert_int_equal(m.ops[i].files[f].crc, files[f].crc);
        }
    }
    assert_int_equal(m.enumerator_count, 1);
    assert_str_equal(m.enumerators[0].bytes, "splits");
    assert_int_equal(m.committable_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(m.committables[i].node_id, committables[i].node_id);
        assert_true(ms_str_equals(m.committables[i].bytes, committables[i].bytes));
    }
    ms_arena_release(&arena);
    ms_buf_release(&bytes);
}

static ms_rc decode(ms_str bytes, ms_status *st)
{
    ms_arena arena;
    msi_manifest m;
    ms_arena_init(&arena, 0);
    ms_status_clear(st);
    ms_rc rc = msi_manifest_decode(bytes, &arena, &m, st);
    ms_arena_release(&arena);
    return rc;
}

static void any_wrong_byte_and_any_cut_is_noticed(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf bytes;
    encode(&bytes);
    for (size_t i = 0; i < bytes.bytes; i++) {
        bytes.ptr[i] ^= 0x10;
        assert_int_equal(decode(ms_buf_view(&bytes), &st), MS_CORRUPT_DATA);
        bytes.ptr[i] ^= 0x10;
        assert_int_equal(decode(ms_str_make(bytes.ptr, i), &st), MS_CORRUPT_DATA);
    }
    assert_ok(decode(ms_buf_view(&bytes), &st));
    ms_buf_release(&bytes);
}

static void seal(ms_buf *bytes)
{
    ms_codec_store_u32(bytes->ptr + bytes->bytes - 4,
                       ms_crc32c(0, ms_str_make(bytes->ptr, bytes->bytes - 4)));
}

static void a_later_version_is_refused_by_number(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf bytes;
    encode(&bytes);
    bytes.ptr[4] = 2;
    seal(&bytes);
    assert_int_equal(decode(ms_buf_view(&bytes), &st), MS_NOT_SUPPORTED);
    assert_non_null(strstr(st.message, "version 2"));
    ms_buf_release(&bytes);
}

/* With a right CRC in front, wrong bytes reach the decoder: it must stay inside them. */
static void wrong_bytes_with_a_right_crc_are_safe(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_env_random random;
    ms_env_random_init(&random, 1);
    for (uint32_t i = 0; i < 20000; i++) {
        ms_buf bytes;
        encode(&bytes);
        uint32_t changes = 1 + (uint32_t)ms_env_random_below(&random, 4);
        for (uint32_t c = 0; c < changes; c++) {
            size_t at = 6 + ms_env_random_below(&random, bytes.bytes - 10);
            bytes.ptr[at] = (char)ms_env_random_next(&random);
        }
        seal(&bytes);
        (void)decode(ms_buf_view(&bytes), &st);
        ms_buf_release(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(any_wrong_byte_and_any_cut_is_noticed),
        cmocka_unit_test(a_later_version_is_refused_by_number),
        cmocka_unit_test(wrong_bytes_with_a_right_crc_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
