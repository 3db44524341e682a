/* SPDX-License-Identifier: Apache-2.0 */
/* Sketches: bytes as ZetaSketch writes them, errors within bounds, merging as if all values had
 * gone into one sketch. */
#include "testing.h"

#include "base/env.h"
#include "bigtable/model/hll.h"

#include <math.h>

/* Empty sketches of precision 12 and 17, of 15 and none, and of 15 and 16. */
#define EMPTY_12_17                                                                                \
    "08701000180220088207"                                                                         \
    "06180c20113200"
#define EMPTY_15_0                                                                                 \
    "08701000180220088207"                                                                         \
    "02180f"
#define EMPTY_15_16                                                                                \
    "08701000180220088207"                                                                         \
    "06180f20103200"

static int64_t hex_byte(const char *text)
{
    char digits[3] = {text[0], text[1], '\0'};
    return strtol(digits, NULL, 16);
}

static ms_str unhex(const char *text, char *out)
{
    size_t bytes = strlen(text) / 2;
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (char)hex_byte(text + 2 * i);
    }
    return ms_str_make(out, bytes);
}

static ms_bt_hll make(ms_str state)
{
    ms_bt_hll hll;
    ms_bt_status bt = {0};
    if (ms_bt_hll_init(&hll, state, &bt) != MS_BT_OK) {
        fail_msg("%s", bt.text);
    }
    return hll;
}

static ms_bt_hll make_hex(const char *text)
{
    char bytes[256];
    return make(unhex(text, bytes));
}

static ms_bt_hll make_empty(void)
{
    return make((ms_str){NULL, 0});
}

static void add(ms_bt_hll *hll, int64_t value)
{
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_hll_add_int64(hll, value, &bt), MS_BT_OK);
}

static void merge(ms_bt_hll *hll, const ms_bt_hll *other)
{
    ms_bt_status bt = {0};
    if (ms_bt_hll_merge(hll, other, &bt) != MS_BT_OK) {
        fail_msg("%s", bt.text);
    }
}

static ms_buf state_of(ms_bt_hll *hll)
{
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 32u << 20);
    assert_ok(ms_bt_hll_write(hll, &buf, &st));
    return buf;
}

static void assert_hex(ms_bt_hll *hll, const char *expected)
{
    ms_buf buf = state_of(hll);
    char text[512] = "";
    for (size_t i = 0; i < buf.bytes; i++) {
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)buf.ptr[i]);
    }
    assert_string_equal(text, expected);
    ms_buf_release(&buf);
}

static void assert_same_state(ms_bt_hll *a, ms_bt_hll *b)
{
    ms_buf left = state_of(a);
    ms_buf right = state_of(b);
    assert_int_equal(left.bytes, right.bytes);
    assert_memory_equal(left.ptr, right.ptr, left.bytes);
    ms_buf_release(&left);
    ms_buf_release(&right);
}

/* Like assert_same_state, but repeated values may have been counted apart. */
static void assert_same_sketch(ms_bt_hll *a, ms_bt_hll *b)
{
    a->value_count = b->value_count;
    assert_same_state(a, b);
}

static void hashes_are_those_of_zetasketch(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        uint64_t hash;
    } cases[] = {
        {0, UINT64_C(0x853a22bd6e14a48f)},   {42, UINT64_C(0x583b2b9df8e0eb60)},
        {-15, UINT64_C(0x539414f287f11e37)}, {1, UINT64_C(0xb91968b83211c978)},
        {2, UINT64_C(0x83e2c1afe085d87a)},   {3, UINT64_C(0xa088087ce3ba7453)},
        {-1, UINT64_C(0xda13d4a9f7078f79)},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(ms_bt_hll_hash_int64(cases[i].value) == cases[i].hash);
    }
}

static void states_are_those_of_zetasketch(void **state)
{
    (void)state;
    static const struct {
        const char *state;
        int count;
        int64_t values[3];
    } cases[] = {
        {"08701000180220088207061"
         "80f20143200",
         0,
         {0}},
        {"087010011802200882070b1001180f2014320396a32e", 1, {1}},
        {"087010011802200882070c1001180f2014320481a2d001", 1, {3}},
        {"087010011802200882070b1001180f20143203b28716", 1, {42}},
        {"08701003180220088207121003180f2014320aacfc20eaa60debfea101", 3, {1, 2, 3}},
        {"087010031802200882070b1001180f2014320396a32e", 3, {1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_bt_hll hll = make_empty();
        for (int v = 0; v < cases[i].count; v++) {
            add(&hll, cases[i].values[v]);
        }
        assert_hex(&hll, cases[i].state);
        ms_bt_hll again = make_hex(cases[i].state);
        assert_hex(&again, cases[i].state);
        ms_bt_hll_release(&again);
        ms_bt_hll_release(&hll);
    }
    ms_bt_hll ten = make_empty();
    for (int64_t v = 0; v < 10; v++) {
        add(&ten, v);
    }
    assert_hex(&ten,
               "0870100a18022008820723100a180f2014321ba3a605c1d102907eb88618f62aec840c8877c3e9"
               "08966a92ab9801");
    assert_int_equal(ms_bt_hll_estimate(&ten), 10);
    ms_bt_hll_release(&ten);
}

/* The standard error with 2^15 registers is 0.575 %; the values are always the same, so that the
 * bound of four of them holds or does not. */
static void estimates_are_within_bounds(void **state)
{
    (void)state;
    ms_bt_hll hll = make_empty();
    int64_t next = 10;
    assert_int_equal(ms_bt_hll_estimate(&hll), 0);
    for (int64_t n = 1; n <= 600000; n++) {
        add(&hll, n * 977);
        if (n < next) {
            continue;
        }
        double error = fabs((double)ms_bt_hll_estimate(&hll) - (double)n) / (double)n;
        if (error > (hll.registers == NULL ? 0.005 : 0.023)) {
            fail_msg("%lld values: %lld", (long long)n, (long long)ms_bt_hll_estimate(&hll));
        }
        next += next / 3;
    }
    assert_non_null(hll.registers);
    ms_bt_hll_release(&hll);
}

/* Across many sets of values, without lists: no bias, and the spread that theory has. */
static void estimates_have_no_bias(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1000, 40000, 100000};
    for (size_t s = 0; s < 3; s++) {
        double sum = 0.0;
        double squares = 0.0;
        enum { SETS = 16 };
        for (int64_t set = 0; set < SETS; set++) {
            ms_bt_hll hll = make_hex(EMPTY_15_0);
            for (int64_t i = 0; i < sizes[s]; i++) {
                add(&hll, set << 40 | i);
            }
            double error = (double)ms_bt_hll_estimate(&hll) / (double)sizes[s] - 1.0;
            sum += error;
            squares += error * error;
            ms_bt_hll_release(&hll);
        }
        /* Four standard deviations of the mean; the root of the mean square within a third. */
        assert_true(fabs(sum / SETS) < 4 * 0.00575 / sqrt((double)SETS));
        assert_true(sqrt(squares / SETS) < 0.00575 * 4 / 3);
    }
}

static void repeated_values_change_nothing_but_their_count(void **state)
{
    (void)state;
    ms_bt_hll once = make_empty();
    ms_bt_hll often = make_empty();
    for (int64_t i = 0; i < 50000; i++) {
        add(&once, i);
        add(&often, i);
        add(&often, i / 2);
    }
    assert_int_equal(often.value_count, 100000);
    assert_same_sketch(&often, &once);
    ms_bt_hll_release(&once);
    ms_bt_hll_release(&often);
}

static void a_sketch_becomes_registers_when_that_is_shorter(void **state)
{
    (void)state;
    ms_bt_hll hll = make_empty();
    size_t longest = 0;
    bool was_sparse = true;
    for (int64_t i = 0; i < 30000; i++) {
        add(&hll, i);
        if (i % 100 != 99) {
            continue;
        }
        ms_buf buf = state_of(&hll);
        assert_true(was_sparse || hll.registers != NULL);
        was_sparse = hll.registers == NULL;
        longest = was_sparse && buf.bytes > longest ? buf.bytes : longest;
        assert_int_equal(!was_sparse, buf.bytes > 32768);
        /* And reads back as it is. */
        ms_bt_hll again = make(ms_buf_view(&buf));
        assert_same_state(&hll, &again);
        assert_true(ms_bt_hll_estimate(&hll) == ms_bt_hll_estimate(&again));
        ms_bt_hll_release(&again);
        ms_buf_release(&buf);
    }
    assert_false(was_sparse);
    assert_in_range(longest, 24000, 24576 + 32);
    ms_bt_hll_release(&hll);
}

/* Sketches of all sizes, each with each: as if their values had gone into one. */
static void merging_is_adding_everything(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 3, 700, 30000};
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < 5; b++) {
            ms_bt_hll left = make_empty();
            ms_bt_hll right = make_empty();
            ms_bt_hll both = make_empty();
            for (int64_t i = 0; i < sizes[a]; i++) {
                add(&left, i);
                add(&both, i);
            }
            for (int64_t i = sizes[a] / 2; i < sizes[a] / 2 + sizes[b]; i++) {
                add(&right, i);
                add(&both, i);
            }
            merge(&left, &right);
            assert_same_state(&left, &both);
            merge(&left, &right);
            assert_same_sketch(&left, &both);
            ms_bt_hll_release(&left);
            ms_bt_hll_release(&right);
            ms_bt_hll_release(&both);
        }
    }
}

static void merging_takes_the_lower_precision(void **state)
{
    (void)state;
    static const char *const lower[] = {EMPTY_12_17, EMPTY_15_0, EMPTY_15_16};
    static const int64_t sizes[] = {0, 10, 2000, 6000, 40000};
    for (size_t l = 0; l < 3; l++) {
        for (size_t s = 0; s < 5; s++) {
            ms_bt_hll high = make_empty();
            ms_bt_hll low = make_hex(lower[l]);
            for (int64_t i = 0; i < sizes[s]; i++) {
                add(&high, i);
                add(&low, i);
            }
            ms_bt_hll from_high = make_hex(lower[l]);
            merge(&from_high, &high);
            assert_same_state(&from_high, &low);
            ms_bt_hll empty = make_hex(lower[l]);
            merge(&high, &empty);
            assert_same_state(&high, &low);
            assert_true(s == 0 ||
                        fabs((double)ms_bt_hll_estimate(&low) / (double)sizes[s] - 1) < 0.08);
            ms_bt_hll_release(&high);
            ms_bt_hll_release(&low);
            ms_bt_hll_release(&from_high);
            ms_bt_hll_release(&empty);
        }
    }
}

static void precisions_must_be_lower_both(void **state)
{
    (void)state;
    ms_bt_hll a = make_hex(EMPTY_12_17);
    ms_bt_hll b = make_hex(EMPTY_15_16);
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_hll_merge(&a, &b, &bt), MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Precisions of the HLL sketches are not compatible: 12 and 15, "
                                 "sparse 17 and 16");
    ms_bt_hll_release(&a);
    ms_bt_hll_release(&b);
}

static void what_is_no_sketch_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "00",                                 /* no field */
        "0870",                               /* no state */
        "0870100018022008820705180f201432",   /* cut */
        "0870100018022008820706180f2014",     /* shorter than it says */
        "0871100018022008820706180f20143200", /* another type */
        "0870100018012008820706180f20143200", /* another encoding */
        "08701000180220"
        "0b820706180f20143200",                         /* of strings */
        "0870100018022008820706180920143200",           /* precision 9 */
        "0870100018022008820706181920193200",           /* precision 25 */
        "0870100018022008820706180f200e3200",           /* sparse 14 below 15 */
        "0870100018022008820706180f201a3200",           /* sparse 26 */
        "087010011802200882070b1001180f2014320396a340", /* beyond the flag's room */
        "08701001180220088207091001180f20143201"
        "20", /* plain, lower part zero */
        "087010011802200882070b1001180f201432038080"
        "80",                                           /* an endless number */
        "087010011802200882070b1001180f20143203c08080", /* likewise */
        "08701001180220088207071001180f2a0105",         /* one register of 32,768 */
        "087010ffffffffffffffffff01180220088207"
        "06180f20143200", /* -1 values */
        "ffffffffffffffffffffffff",
        "8207ffffffffffffffffff01",
        "0b0c",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char bytes[256];
        ms_bt_hll hll;
        ms_bt_status bt = {0};
        if (ms_bt_hll_init(&hll, unhex(wrong[i], bytes), &bt) != MS_BT_INVALID_ARGUMENT) {
            fail_msg("%s", wrong[i]);
        }
        assert_memory_equal(bt.text, "The value is not an HLL sketch: ", 32);
    }
}

static void a_register_beyond_its_range_is_refused(void **state)
{
    (void)state;
    ms_bt_hll hll = make_empty();
    for (int64_t i = 0; i < 40000; i++) {
        add(&hll, i);
    }
    ms_buf buf = state_of(&hll);
    ms_bt_status bt = {0};
    ms_bt_hll again;
    buf.ptr[buf.bytes - 7] = 51;
    assert_int_equal(ms_bt_hll_init(&again, ms_buf_view(&buf), &bt), MS_BT_INVALID_ARGUMENT);
    buf.ptr[buf.bytes - 7] = 50;
    ms_bt_status_clear(&bt);
    assert_int_equal(ms_bt_hll_init(&again, ms_buf_view(&buf), &bt), MS_BT_OK);
    assert_true(ms_bt_hll_estimate(&again) > 0);
    ms_bt_hll_release(&again);
    ms_bt_hll_release(&hll);
    ms_buf_release(&buf);
}

static void foreign_states_are_read_leniently(void **state)
{
    (void)state;
    /* Value type 4 and none; a count of the list that is wrong; unknown fields of all kinds. */
    static const char *const states[] = {
        "087010011802200482070b1001180f2014320396a32e",
        "08701001180282070b1001180f2014320396a32e",
        "087010011802200882070b1009180f2014320396a32e",
        "6801"
        "71ffffffffffffffff"
        "7dffffffff"
        "7a02aabb"
        "087010011802200882070b1001180f20143203"
        "96a32e",
    };
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        ms_bt_hll hll = make_hex(states[i]);
        assert_hex(&hll, "087010011802200882070b1001180f2014320396a32e");
        ms_bt_hll_release(&hll);
    }
}

/* Damaged states are refused, or read as some sketch that then behaves. */
static void damaged_states_do_no_harm(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 3);
    unsigned read = 0;
    for (int round = 0; round < 20000; round++) {
        char bytes[64];
        ms_str good = unhex("0870100a18022008820723100a180f2014321ba3a605c1d102907eb88618f62aec840c"
                            "8877c3e908966a92ab9801",
                            bytes);
        for (int i = 0; i < 3; i++) {
            bytes[ms_env_random_below(&random, good.bytes)] = (char)ms_env_random_next(&random);
        }
        ms_bt_hll hll;
        ms_bt_status bt = {0};
        if (ms_bt_hll_init(&hll, good, &bt) != MS_BT_OK) {
            continue;
        }
        read++;
        add(&hll, round);
        assert_true(ms_bt_hll_estimate(&hll) >= 0);
        ms_buf buf = state_of(&hll);
        ms_bt_hll again = make(ms_buf_view(&buf));
        assert_same_state(&hll, &again);
        ms_buf_release(&buf);
        ms_bt_hll_release(&again);
        ms_bt_hll_release(&hll);
    }
    assert_true(read > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_zetasketch),
        cmocka_unit_test(states_are_those_of_zetasketch),
        cmocka_unit_test(estimates_are_within_bounds),
        cmocka_unit_test(estimates_have_no_bias),
        cmocka_unit_test(repeated_values_change_nothing_but_their_count),
        cmocka_unit_test(a_sketch_becomes_registers_when_that_is_shorter),
        cmocka_unit_test(merging_is_adding_everything),
        cmocka_unit_test(merging_takes_the_lower_precision),
        cmocka_unit_test(precisions_must_be_lower_both),
        cmocka_unit_test(what_is_no_sketch_is_refused),
        cmocka_unit_test(a_register_beyond_its_range_is_refused),
        cmocka_unit_test(foreign_states_are_read_leniently),
        cmocka_unit_test(damaged_states_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
