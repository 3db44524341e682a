/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, records and tokens of the change log. What is logged when, change_read_test.c tells. */
#include "testing.h"

#include "base/codec.h"
#include "base/env.h"
#include "bigtable/store/change_log.h"

static ms_str key_of(char to[MSI_LOG_KEY_BYTES], uint32_t table, msi_log_position position)
{
    char *end = msi_log_put_key(to, table, &position);
    assert_ptr_equal(end, to + MSI_LOG_KEY_BYTES);
    return ms_str_make(to, MSI_LOG_KEY_BYTES);
}

static void keys_sort_by_table_tablet_time_and_sequence(void **state)
{
    (void)state;
    const struct {
        uint32_t table;
        msi_log_position position;
    } ascending[] = {
        {1, {1, 5, 0}},
        {1, {1, 5, 1}},
        {1, {1, 5, UINT32_MAX}},
        {1, {1, 256, 0}},
        {1, {1, INT64_C(1) << 50, 0}},
        {1, {2, 1, 0}},
        {1, {256, 0, 0}},
        {2, {1, 0, 0}},
        {0x7FFFFFFF, {0, 0, 0}},
    };
    char before[MSI_LOG_KEY_BYTES];
    char after[MSI_LOG_KEY_BYTES];
    for (size_t i = 1; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
        ms_str a = key_of(before, ascending[i - 1].table, ascending[i - 1].position);
        ms_str b = key_of(after, ascending[i].table, ascending[i].position);
        assert_true(ms_str_compare(a, b) < 0);
    }
}

static void keys_are_read_back(void **state)
{
    (void)state;
    char key[MSI_LOG_KEY_BYTES];
    msi_log_position position = {7, INT64_C(1700000000000001), 42};
    ms_str text = key_of(key, 3, position);
    assert_memory_equal(key, "\x80\0\0\x03\0\0\0\x07", 8);
    msi_log_position read;
    assert_true(msi_log_read_key(text, &read));
    assert_int_equal(read.tablet, 7);
    assert_int_equal(read.micros, position.micros);
    assert_int_equal(read.sequence, 42);
    assert_false(msi_log_read_key(ms_str_slice(text, 0, MSI_LOG_KEY_BYTES - 1), &read));
}

/* A record with a cell and a deletion. */
static void make_record(ms_buf *buf, uint8_t version, const char *cluster)
{
    ms_status st = {0};
    ms_buf_init(buf, 1024);
    assert_ok(ms_codec_put_u8(buf, version, &st));
    assert_ok(ms_codec_put_str(buf, ms_str_lit("row"), &st));
    assert_ok(ms_codec_put_str(buf, ms_str_cstr(cluster), &st));
    for (int i = 0; i < 2; i++) {
        assert_ok(ms_codec_put_u8(
            buf, i == 0 ? MS_BT_MUTATION_SET_CELL : MS_BT_MUTATION_DELETE_FROM_COLUMN, &st));
        assert_ok(ms_codec_put_str(buf, ms_str_lit("f"), &st));
        assert_ok(ms_codec_put_str(buf, ms_str_lit("q"), &st));
        assert_ok(ms_codec_put_signed(buf, 1000, &st));
        assert_ok(ms_codec_put_signed(buf, i * 2000, &st));
        assert_ok(ms_codec_put_str(buf, ms_str_cstr(i == 0 ? "v" : ""), &st));
    }
}

static void records_are_read_whole(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf buf;
    make_record(&buf, 1, "c1");
    assert_str_equal(msi_log_read_row(ms_buf_view(&buf)), "row");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_change change = {0};
    assert_ok(msi_log_read(ms_buf_view(&buf), &arena, &change, &st));
    assert_int_equal(change.kind, MS_BT_CHANGE_DATA);
    assert_false(change.is_garbage_collection);
    assert_str_equal(change.row_key, "row");
    assert_str_equal(change.source_cluster, "c1");
    assert_int_equal(change.mutation_count, 2);
    assert_int_equal(change.mutations[0].kind, MS_BT_MUTATION_SET_CELL);
    assert_str_equal(change.mutations[0].family, "f");
    assert_str_equal(change.mutations[0].qualifier, "q");
    assert_str_equal(change.mutations[0].value, "v");
    assert_int_equal(change.mutations[1].kind, MS_BT_MUTATION_DELETE_FROM_COLUMN);
    assert_int_equal(change.mutations[1].timestamp_micros, 1000);
    assert_int_equal(change.mutations[1].end_micros, 2000);
    ms_buf_release(&buf);
    make_record(&buf, 1, "");
    assert_ok(msi_log_read(ms_buf_view(&buf), &arena, &change, &st));
    assert_true(change.is_garbage_collection);
    ms_buf_release(&buf);
    ms_arena_release(&arena);
}

static void damaged_records_are_refused(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_buf buf;
    make_record(&buf, 1, "c1");
    ms_str record = ms_buf_view(&buf);
    /* Every cut but those between two mutations, where a shorter record ends. */
    size_t head = 1 + 4 + 3;
    size_t mutation = 1 + 2 + 2 + 2 + 1 + 2;
    for (size_t bytes = 0; bytes < record.bytes; bytes++) {
        ms_status st = {0};
        ms_bt_change change = {0};
        ms_rc rc = msi_log_read(ms_str_slice(record, 0, bytes), &arena, &change, &st);
        bool is_whole = bytes == head || bytes == head + mutation;
        assert_int_equal(rc, is_whole ? MS_OK : MS_CORRUPT_DATA);
    }
    ms_status st = {0};
    ms_bt_change change = {0};
    buf.ptr[head] = MS_BT_MUTATION_COUNT;
    assert_int_equal(msi_log_read(ms_buf_view(&buf), &arena, &change, &st), MS_CORRUPT_DATA);
    ms_buf_release(&buf);
    ms_status_clear(&st);
    make_record(&buf, 2, "c1");
    assert_int_equal(msi_log_read(ms_buf_view(&buf), &arena, &change, &st), MS_NOT_SUPPORTED);
    ms_buf_release(&buf);
    ms_arena_release(&arena);
}

static void assert_token(const msi_token *token, const char *text)
{
    char printed[MSI_TOKEN_BYTES];
    size_t bytes = msi_token_print(token, printed);
    assert_str_equal(ms_str_make(printed, bytes), text);
    msi_token read;
    assert_true(msi_token_parse(ms_str_cstr(text), &read));
    assert_int_equal(read.table, token->table);
    assert_int_equal(read.position.tablet, token->position.tablet);
    assert_int_equal(read.position.micros, token->position.micros);
    assert_int_equal(read.position.sequence, token->position.sequence);
}

static void tokens_are_text_and_read_back(void **state)
{
    (void)state;
    assert_token(&(msi_token){1, {2, 3, 4}}, "ms1.1.2.3.4");
    assert_token(&(msi_token){UINT32_MAX, {UINT32_MAX, INT64_MAX, UINT32_MAX}},
                 "ms1.4294967295.4294967295.9223372036854775807.4294967295");
}

static void texts_that_are_no_tokens_are_told(void **state)
{
    (void)state;
    const char *const texts[] = {
        "",
        "ms1",
        "ms1.",
        "ms1.1",
        "ms1.1.2.3",
        "ms1.1.2.3.",
        "ms1.1.2.3.4.",
        "ms1.1.2.3.4.1",
        "ms1.1.2.3.4.1.",
        "ms1.1.2.3.4.1.5.6",
        "ms1..2.3.4",
        "ms1.1.2.3.4 ",
        " ms1.1.2.3.4",
        "ms1.-1.2.3.4",
        "ms1.+1.2.3.4",
        "ms1.1.2.3.4294967296",
        "ms1.4294967296.2.3.4",
        "ms1.1.2.9223372036854775808.4",
        "ms1.1.2.99999999999999999999999.4",
        "ms2.1.2.3.4",
        "ms1.1.2.3.4.1.5",
        "ms1.1.2.3.4\n",
    };
    msi_token token;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (msi_token_parse(ms_str_cstr(texts[i]), &token)) {
            fail_msg("\"%s\" is taken for a token", texts[i]);
        }
    }
    char zeros[1024];
    memset(zeros, '0', sizeof(zeros));
    memcpy(zeros, "ms1.", 4);
    assert_false(msi_token_parse(ms_str_make(zeros, sizeof(zeros)), &token));
}

/* Whatever is read as a token prints as one that is read alike. */
static void random_texts_never_lead_astray(void **state)
{
    (void)state;
    ms_env_random random;
    uint64_t seed = ms_env_next_seed();
    ms_env_random_init(&random, seed);
    const char alphabet[] = "ms1.0129.-x";
    for (int i = 0; i < 200000; i++) {
        char text[40] = "ms1.1.2.3.4.1.7";
        size_t bytes = 4 + ms_env_random_below(&random, 20);
        for (size_t j = ms_env_random_below(&random, bytes); j < bytes; j++) {
            text[j] = alphabet[ms_env_random_below(&random, sizeof(alphabet) - 1)];
        }
        msi_token token;
        if (msi_token_parse(ms_str_make(text, bytes), &token)) {
            char printed[MSI_TOKEN_BYTES];
            msi_token again;
            size_t length = msi_token_print(&token, printed);
            if (!msi_token_parse(ms_str_make(printed, length), &again) ||
                token.table != again.table || token.position.tablet != again.position.tablet ||
                token.position.micros != again.position.micros ||
                token.position.sequence != again.position.sequence) {
                fail_msg("seed %llu: \"%.*s\"", (unsigned long long)seed, (int)bytes, text);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_sort_by_table_tablet_time_and_sequence),
        cmocka_unit_test(keys_are_read_back),
        cmocka_unit_test(records_are_read_whole),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(tokens_are_text_and_read_back),
        cmocka_unit_test(texts_that_are_no_tokens_are_told),
        cmocka_unit_test(random_texts_never_lead_astray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
