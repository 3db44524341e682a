/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encodings against the byte arrays that other implementations of them write, both ways, and
 * every way in which bytes can be no value.
 */
#include "bt_testing.h"

#include "connector/bigtable/codec.h"
#include "type/text.h"
#include "type/value.h"

static msi_bt_codec_options defaults = {.null_literal = {"null", 4}};

/* An integer (or unscaled decimal, milliseconds for timestamps in micros), a double, or a text. */
typedef struct golden {
    const char *type;
    int64_t i;
    double f;
    const char *text; /* hex digits for BYTES */
    const char *hex;
} golden;

static const golden goldens[] = {
    {"STRING", .text = "abc", .hex = "616263"},
    {"STRING", .text = "\xe3\x81\x82", .hex = "e38182"},
    {"STRING", .text = "", .hex = ""},
    {"CHAR 5", .text = "ab", .hex = "6162"},
    {"VARCHAR 3", .text = "a longer text than inline",
     .hex = "61206c6f6e6765722074657874207468616e"
            "20696e6c696e65"},
    {"BOOLEAN", .i = 1, .hex = "ff"},
    {"BOOLEAN", .i = 0, .hex = "00"},
    {"!BYTES", .text = "\x01\xfe", .hex = "01fe"},
    {"BINARY 2", .text = "\x01\xfe", .hex = "01fe"},
    {"DECIMAL 5 2", .i = 12345, .hex = "000000023039"},
    {"DECIMAL 5 2", .i = -100, .hex = "000000029c"},
    {"DECIMAL 5 2", .i = 0, .hex = "0000000200"},
    {"DECIMAL 5 2", .i = 127, .hex = "000000027f"},
    {"DECIMAL 5 2", .i = 128, .hex = "000000020080"},
    {"DECIMAL 5 2", .i = -128, .hex = "0000000280"},
    {"DECIMAL 5 2", .i = -129, .hex = "00000002ff7f"},
    {"DECIMAL 18 0", .i = 999999999999999999, .hex = "000000000de0b6b3a763ffff"},
    {"DECIMAL 38 10", .i = -1, .hex = "0000000aff"},
    {"TINYINT", .i = 42, .hex = "2a"},
    {"TINYINT", .i = -1, .hex = "ff"},
    {"SMALLINT", .i = 258, .hex = "0102"},
    {"SMALLINT", .i = -2, .hex = "fffe"},
    {"INT", .i = 66051, .hex = "00010203"},
    {"INT", .i = -2, .hex = "fffffffe"},
    {"BIGINT", .i = 1, .hex = "0000000000000001"},
    {"BIGINT", .i = -2, .hex = "fffffffffffffffe"},
    {"FLOAT", .f = 1.0, .hex = "3f800000"},
    {"DOUBLE", .f = 1.0, .hex = "3ff0000000000000"},
    {"DOUBLE", .f = -0.0, .hex = "8000000000000000"},
    {"DATE", .i = 19723, .hex = "00004d0b"},
    {"DATE", .i = -1, .hex = "ffffffff"},
    {"TIME 3", .i = 3600000, .hex = "0036ee80"},
    {"TIMESTAMP 3", .i = 1700000000000000, .hex = "0000018bcfe56800"},
    {"TIMESTAMP_LTZ 3", .i = 1700000000000000, .hex = "0000018bcfe56800"},
    {"TIMESTAMP 0", .i = -1000, .hex = "ffffffffffffffff"},
    {"MONTHS", .i = 14, .hex = "0000000e"},
    {"SECONDS", .i = 1500, .hex = "00000000000005dc"},
};

static ms_value golden_value(const golden *g, const ms_type *type)
{
    if (g->text != NULL) {
        return ms_value_str(type, ms_str_cstr(g->text));
    }
    if (type->phys == MS_PHYS_F32 || type->phys == MS_PHYS_F64) {
        return ms_value_double(type, g->f);
    }
    ms_value value = ms_value_int(type, g->i);
    if (type->phys == MS_PHYS_I128) {
        value.u.dec = g->i;
    }
    return value;
}

static ms_str hex_of(ms_arena *arena, ms_str bytes)
{
    char *text = ms_arena_alloc(arena, bytes.bytes * 2 + 1, 1);
    return (ms_str){text, ms_text_hex_encode(text, bytes, false)};
}

static ms_str bytes_of(ms_arena *arena, const char *hex)
{
    char *bytes = ms_arena_alloc(arena, strlen(hex) + 1, 1);
    size_t count = 0;
    assert_true(ms_text_hex_decode(ms_str_cstr(hex), bytes, &count));
    return (ms_str){bytes, count};
}

static ms_str encode_one(ms_arena *arena, const msi_bt_codec *codec, const ms_value *value)
{
    ms_vec vec;
    ms_vec_alloc(&vec, codec->type, 8, arena);
    ms_value_to_vec(arena, value, &vec, 5, 8);
    static const uint32_t pos = 5;
    char *scratch = ms_arena_alloc(arena, codec->scratch_bytes + 1, 1);
    ms_str cell;
    codec->encode(codec, &vec, &pos, 1, scratch, &cell);
    return cell;
}

/* The value of a cell; the fault when it has none. */
static msi_bt_fault decode_one(ms_arena *arena, const msi_bt_codec *codec, ms_str cell,
                               ms_value *value_out)
{
    ms_vec vec;
    ms_vec_alloc(&vec, codec->type, 8, arena);
    ms_str padded = ms_arena_format(arena, "..%.*s", 0, "");
    char *base = ms_arena_alloc(arena, cell.bytes + 2, 1);
    (void)padded;
    memcpy(base + 2, cell.ptr != NULL ? cell.ptr : "", cell.bytes);
    msi_bt_slot slots[2] = {{2, (uint32_t)cell.bytes}, {2, (uint32_t)cell.bytes}};
    msi_bt_fault fault = MSI_BT_FAULT_NONE;
    uint32_t good = codec->decode(codec, base, slots, 2, &vec, &fault);
    if (fault != MSI_BT_FAULT_NONE) {
        assert_int_equal(good, 0);
        return fault;
    }
    assert_int_equal(good, 2);
    *value_out = ms_value_from_vec(arena, &vec, 1);
    return fault;
}

static msi_bt_codec codec_of(ms_arena *arena, const char *type)
{
    msi_bt_codec codec;
    msi_bt_codec_init(&codec, make_type(arena, type), false, &defaults);
    return codec;
}

static void values_have_the_golden_bytes(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
        const golden *g = &goldens[i];
        msi_bt_codec codec = codec_of(&arena, g->type);
        ms_value value = golden_value(g, codec.type);
        ms_str hex = hex_of(&arena, encode_one(&arena, &codec, &value));
        if (!ms_str_equals(hex, ms_str_cstr(g->hex))) {
            fail_msg("%s: %.*s instead of %s", g->type, MS_STR_ARG(hex), g->hex);
        }
    }
    ms_arena_release(&arena);
}

static void the_golden_bytes_are_read_back(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
        const golden *g = &goldens[i];
        msi_bt_codec codec = codec_of(&arena, g->type);
        ms_value value = golden_value(g, codec.type);
        ms_value back;
        assert_int_equal(decode_one(&arena, &codec, bytes_of(&arena, g->hex), &back),
                         MSI_BT_FAULT_NONE);
        if (!ms_value_equals(&value, &back)) {
            fail_msg("%s: %s does not read back", g->type, g->hex);
        }
    }
    ms_arena_release(&arena);
}

/* Bytes that nobody here writes. */
static const struct {
    const char *type;
    const char *hex;
    bool rejects_tail;
    int64_t i;
    msi_bt_fault fault;
} odd[] = {
    {"BOOLEAN", "01", false, 1, MSI_BT_FAULT_NONE},
    {"BOOLEAN", "0100", false, 0, MSI_BT_FAULT_LENGTH},
    {"BOOLEAN", "0100", true, 0, MSI_BT_FAULT_LENGTH},
    {"!BOOLEAN", "", false, 0, MSI_BT_FAULT_LENGTH},
    {"DECIMAL 5 2", "0000000104d2", false, 12340, MSI_BT_FAULT_NONE},
    {"DECIMAL 5 2", "0000000201869f", false, 99999, MSI_BT_FAULT_NONE},
    {"DECIMAL 5 2", "00000002499602d2", false, 0, MSI_BT_FAULT_RANGE},
    {"DECIMAL 5 2", "000000030f423b", false, 0, MSI_BT_FAULT_RANGE},
    {"DECIMAL 5 2", "000000030f423a", false, 99999, MSI_BT_FAULT_NONE},
    {"DECIMAL 5 2", "00000003fff0bdc5", false, 0, MSI_BT_FAULT_RANGE},
    {"DECIMAL 5 2", "00000003fff0bdc6", false, -99999, MSI_BT_FAULT_NONE},
    {"DECIMAL 5 2", "00000002", false, 0, MSI_BT_FAULT_DECIMAL},
    {"DECIMAL 5 2", "000002", false, 0, MSI_BT_FAULT_DECIMAL},
    {"DECIMAL 5 2", "fffffffe01", false, 10000, MSI_BT_FAULT_NONE}, /* 1E+2 */
    {"DECIMAL 5 2", "fffffffd01", false, 0, MSI_BT_FAULT_RANGE},    /* 1E+3 is 1000.00 */
    {"DECIMAL 5 2", "8000000001", false, 0, MSI_BT_FAULT_RANGE},
    {"DECIMAL 5 2", "8000000000", false, 0, MSI_BT_FAULT_NONE},
    {"DECIMAL 5 2", "7fffffff7f", false, 0, MSI_BT_FAULT_NONE}, /* rounds to nothing */
    {"DECIMAL 5 2", "000000020000000000000000000000000000000000000000003039", false, 12345,
     MSI_BT_FAULT_NONE}, /* signs repeated */
    {"DECIMAL 5 2", "00000002ffffffffffffffffffffffffffffffffffffffffcfc7", false, -12345,
     MSI_BT_FAULT_NONE},
    /* 10^40 with 40 digits behind the point is 1; 5 * 10^41 with 44 is 0.01 after rounding. */
    {"DECIMAL 5 2", "000000281d6329f1c35ca4bfabb9f5610000000000", false, 100, MSI_BT_FAULT_NONE},
    {"DECIMAL 5 2", "00000028e29cd60e3ca35b4054460a9f0000000000", false, -100, MSI_BT_FAULT_NONE},
    {"DECIMAL 5 2", "000000021d6329f1c35ca4bfabb9f5610000000000", false, 0, MSI_BT_FAULT_RANGE},
    {"DECIMAL 5 2", "7fffffff1d6329f1c35ca4bfabb9f5610000000000", false, 0, MSI_BT_FAULT_NONE},
    {"TINYINT", "2a7f", false, 42, MSI_BT_FAULT_NONE},
    {"TINYINT", "2a7f", true, 0, MSI_BT_FAULT_LENGTH},
    {"SMALLINT", "01027f", false, 258, MSI_BT_FAULT_NONE},
    {"SMALLINT", "01027f", true, 0, MSI_BT_FAULT_LENGTH},
    {"SMALLINT", "01", false, 0, MSI_BT_FAULT_LENGTH},
    {"INT", "000102037f", false, 66051, MSI_BT_FAULT_NONE},
    {"INT", "000102037f", true, 0, MSI_BT_FAULT_LENGTH},
    {"INT", "000102", false, 0, MSI_BT_FAULT_LENGTH},
    {"!INT", "", false, 0, MSI_BT_FAULT_LENGTH},
    {"BIGINT", "00000000000000017f", false, 1, MSI_BT_FAULT_NONE},
    {"BIGINT", "00000000000000017f", true, 0, MSI_BT_FAULT_LENGTH},
    {"BIGINT", "0000000000000001", true, 1, MSI_BT_FAULT_NONE},
    {"FLOAT", "3f8000", false, 0, MSI_BT_FAULT_LENGTH},
    {"DOUBLE", "3ff00000000000", false, 0, MSI_BT_FAULT_LENGTH},
    {"DATE", "00004d", false, 0, MSI_BT_FAULT_LENGTH},
    {"TIMESTAMP 3", "0000018bcfe568007f", false, 1700000000000000, MSI_BT_FAULT_NONE},
    {"TIMESTAMP 3", "0000018bcfe568007f", true, 0, MSI_BT_FAULT_LENGTH},
    {"TIMESTAMP 3", "7fffffffffffffff", false, 0, MSI_BT_FAULT_RANGE},
    {"TIMESTAMP 3", "8000000000000000", false, 0, MSI_BT_FAULT_RANGE},
};

static void odd_bytes_are_read_or_refused(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        msi_bt_codec_options options = {defaults.null_literal, odd[i].rejects_tail};
        msi_bt_codec codec;
        msi_bt_codec_init(&codec, make_type(&arena, odd[i].type), false, &options);
        ms_value back = {0};
        msi_bt_fault fault = decode_one(&arena, &codec, bytes_of(&arena, odd[i].hex), &back);
        if (fault != odd[i].fault || (fault == MSI_BT_FAULT_NONE && back.u.i != odd[i].i)) {
            fail_msg("%s of %s: fault %d, value %" PRId64, odd[i].type, odd[i].hex, (int)fault,
                     back.u.i);
        }
    }
    ms_arena_release(&arena);
}

static void a_null_is_an_empty_cell_or_the_literal(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    static const struct {
        const char *type;
        const char *cell;
    } nulls[] = {{"STRING", "null"},  {"CHAR 9", "null"}, {"BYTES", ""}, {"VARBINARY 9", ""},
                 {"BOOLEAN", ""},     {"TINYINT", ""},    {"INT", ""},   {"DECIMAL 5 2", ""},
                 {"TIMESTAMP 3", ""}, {"DOUBLE", ""},     {"DATE", ""}};
    for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++) {
        msi_bt_codec codec = codec_of(&arena, nulls[i].type);
        ms_value null = ms_value_null(codec.type);
        ms_str cell = encode_one(&arena, &codec, &null);
        assert_true(ms_str_equals(cell, ms_str_cstr(nulls[i].cell)));
        ms_value back;
        assert_int_equal(decode_one(&arena, &codec, cell, &back), MSI_BT_FAULT_NONE);
        assert_true(back.is_null);
    }
    msi_bt_codec text = codec_of(&arena, "STRING");
    ms_value back;
    assert_int_equal(decode_one(&arena, &text, ms_str_lit(""), &back), MSI_BT_FAULT_NONE);
    assert_false(back.is_null);
    assert_int_equal(back.u.str.bytes, 0);
    ms_arena_release(&arena);
}

static void a_not_null_column_and_a_key_have_no_null(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    static const char *const types[] = {"!STRING",  "!BYTES",       "!INT",
                                        "!BOOLEAN", "!DECIMAL 5 2", "!TIMESTAMP 3"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        msi_bt_codec codec = codec_of(&arena, types[i]);
        ms_value null = ms_value_null(codec.type);
        assert_true(encode_one(&arena, &codec, &null).bytes == MSI_BT_UNENCODABLE);
    }
    ms_value back;
    msi_bt_codec text = codec_of(&arena, "!STRING");
    assert_int_equal(decode_one(&arena, &text, ms_str_lit("null"), &back), MSI_BT_FAULT_NONE);
    assert_str_equal(back.u.str, "null");
    msi_bt_codec bytes = codec_of(&arena, "!BYTES");
    assert_int_equal(decode_one(&arena, &bytes, ms_str_lit(""), &back), MSI_BT_FAULT_NONE);
    assert_false(back.is_null);
    msi_bt_codec key;
    msi_bt_codec_init(&key, make_type(&arena, "STRING"), true, &defaults);
    assert_int_equal(decode_one(&arena, &key, ms_str_lit("null"), &back), MSI_BT_FAULT_NONE);
    assert_str_equal(back.u.str, "null");
    ms_value null = ms_value_null(key.type);
    assert_true(encode_one(&arena, &key, &null).bytes == MSI_BT_UNENCODABLE);
    ms_arena_release(&arena);
}

static void another_null_literal_counts_both_ways(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    msi_bt_codec_options options = {.null_literal = ms_str_lit("\\N")};
    msi_bt_codec codec;
    msi_bt_codec_init(&codec, make_type(&arena, "STRING"), false, &options);
    ms_value back;
    ms_value null = ms_value_null(codec.type);
    assert_str_equal(encode_one(&arena, &codec, &null), "\\N");
    assert_int_equal(decode_one(&arena, &codec, ms_str_lit("\\N"), &back), MSI_BT_FAULT_NONE);
    assert_true(back.is_null);
    assert_int_equal(decode_one(&arena, &codec, ms_str_lit("null"), &back), MSI_BT_FAULT_NONE);
    assert_str_equal(back.u.str, "null");
    ms_arena_release(&arena);
}

static void an_absent_cell_is_null_even_where_that_is_not_declared(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    static const char *const types[] = {"!STRING", "!INT", "!BOOLEAN", "!DECIMAL 5 2"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        msi_bt_codec codec = codec_of(&arena, types[i]);
        ms_vec vec;
        ms_vec_alloc(&vec, codec.type, 4, &arena);
        msi_bt_slot slots[2] = {{0, MSI_BT_ABSENT}, {0, MSI_BT_ABSENT}};
        msi_bt_fault fault = MSI_BT_FAULT_NONE;
        assert_int_equal(codec.decode(&codec, "", slots, 2, &vec, &fault), 2);
        assert_true(ms_vec_is_null(&vec, 0) && ms_vec_is_null(&vec, 1));
    }
    ms_arena_release(&arena);
}

static void types_without_an_encoding_are_refused(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *text = ms_type_string(&arena, true);
    const ms_type *row = make_row(&arena, "a INT", true);
    assert_non_null(msi_bt_codec_refusal(row));
    assert_non_null(msi_bt_codec_refusal(ms_type_array(&arena, text, true)));
    assert_non_null(msi_bt_codec_refusal(ms_type_map(&arena, text, text, true)));
    assert_non_null(msi_bt_codec_refusal(ms_type_multiset(&arena, text, true)));
    assert_non_null(msi_bt_codec_refusal(make_type(&arena, "TIMESTAMP 4")));
    assert_non_null(msi_bt_codec_refusal(make_type(&arena, "TIMESTAMP_LTZ 9")));
    assert_non_null(msi_bt_codec_refusal(make_type(&arena, "TIME 6")));
    assert_null(msi_bt_codec_refusal(make_type(&arena, "TIMESTAMP 3")));
    assert_null(msi_bt_codec_refusal(make_type(&arena, "TIME 3")));
    ms_arena_release(&arena);
}

static void a_report_names_the_type_and_the_bytes(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    msi_bt_codec codec = codec_of(&arena, "INT");
    ms_status st = {0};
    assert_int_equal(msi_bt_codec_report(&codec, MSI_BT_FAULT_LENGTH, 3, &st, "cell \"f:q\""),
                     MS_BAD_RECORD);
    assert_string_equal(st.message,
                        "cell \"f:q\" cannot be read as INT: it has 3 bytes, but INT takes 4");
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_the_golden_bytes),
        cmocka_unit_test(the_golden_bytes_are_read_back),
        cmocka_unit_test(odd_bytes_are_read_or_refused),
        cmocka_unit_test(a_null_is_an_empty_cell_or_the_literal),
        cmocka_unit_test(a_not_null_column_and_a_key_have_no_null),
        cmocka_unit_test(another_null_literal_counts_both_ways),
        cmocka_unit_test(an_absent_cell_is_null_even_where_that_is_not_declared),
        cmocka_unit_test(types_without_an_encoding_are_refused),
        cmocka_unit_test(a_report_names_the_type_and_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
