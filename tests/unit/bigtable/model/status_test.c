/* SPDX-License-Identifier: Apache-2.0 */
/* The service's status: first cause, cutting, and how it becomes an error of ours. */
#include "testing.h"

#include "bigtable/model/status.h"

static void first_cause_wins(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    assert_true(ms_bt_status_is_ok(&bt));
    assert_int_equal(ms_bt_status_set(&bt, MS_BT_NOT_FOUND, "table \"%s\"", "t"), MS_BT_NOT_FOUND);
    assert_int_equal(ms_bt_status_set(&bt, MS_BT_INTERNAL, "later"), MS_BT_NOT_FOUND);
    assert_string_equal(bt.text, "table \"t\"");
    ms_bt_status_clear(&bt);
    assert_int_equal(ms_bt_status_set_text(&bt, MS_BT_ABORTED, ms_str_lit("100 %s")),
                     MS_BT_ABORTED);
    assert_string_equal(bt.text, "100 %s");
}

static void long_text_is_cut_at_a_character(void **state)
{
    (void)state;
    char text[2 * MS_BT_STATUS_TEXT_BYTES];
    for (size_t i = 0; i + 1 < sizeof(text); i += 2) {
        memcpy(text + i, "\xC3\xA9", 2);
    }
    ms_bt_status bt = {0};
    ms_bt_status_set_text(&bt, MS_BT_INTERNAL, ms_str_make(text, sizeof(text)));
    ms_str cut = ms_str_cstr(bt.text);
    assert_true(cut.bytes < MS_BT_STATUS_TEXT_BYTES);
    assert_true(ms_str_ends_with(cut, ms_str_lit("...")));
    assert_true(ms_str_is_utf8(cut));
}

static void every_code_has_a_name_and_becomes_an_error(void **state)
{
    (void)state;
    for (int code = 1; code < MS_BT_CODE_COUNT; code++) {
        ms_bt_status bt = {.code = (ms_bt_code)code, .text = "why"};
        ms_status st = {0};
        ms_rc rc = ms_bt_status_report(&bt, &st, "could not read table \"%s\"", "p.i.t");
        assert_int_not_equal(rc, MS_OK);
        assert_string_equal(st.message, "could not read table \"p.i.t\"");
        char detail[64];
        snprintf(detail, sizeof(detail), "%s: why", ms_bt_code_name((ms_bt_code)code));
        assert_string_equal(st.detail, detail);
        assert_int_equal(st.retriable, rc == MS_BIGTABLE_UNAVAILABLE);
    }
    assert_string_equal(ms_bt_code_name((ms_bt_code)99), "UNKNOWN");
}

static ms_rc report(ms_bt_code code)
{
    ms_bt_status bt = {.code = code};
    ms_status st = {0};
    return ms_bt_status_report(&bt, &st, "x");
}

static void classes_of_codes(void **state)
{
    (void)state;
    assert_int_equal(report(MS_BT_NOT_FOUND), MS_BIGTABLE_NOT_FOUND);
    assert_int_equal(report(MS_BT_UNAVAILABLE), MS_BIGTABLE_UNAVAILABLE);
    assert_int_equal(report(MS_BT_DEADLINE_EXCEEDED), MS_BIGTABLE_UNAVAILABLE);
    assert_int_equal(report(MS_BT_ABORTED), MS_BIGTABLE_UNAVAILABLE);
    assert_int_equal(report(MS_BT_UNIMPLEMENTED), MS_NOT_SUPPORTED);
    assert_int_equal(report(MS_BT_CANCELLED), MS_CANCELED);
    assert_int_equal(report(MS_BT_INVALID_ARGUMENT), MS_BIGTABLE_ERROR);
}

static void failure_of_ours_keeps_its_detail(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_status_set(&st, MS_IO_ERROR, ms_span_none, "could not write");
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_status_from(&bt, MS_BT_UNAVAILABLE, &st), MS_BT_UNAVAILABLE);
    assert_string_equal(bt.text, "could not write");
    ms_status_detail(&st, "disk on fire");
    ms_bt_status_clear(&bt);
    ms_bt_status_from(&bt, MS_BT_UNAVAILABLE, &st);
    assert_string_equal(bt.text, "could not write: disk on fire");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_cause_wins),
        cmocka_unit_test(long_text_is_cut_at_a_character),
        cmocka_unit_test(every_code_has_a_name_and_becomes_an_error),
        cmocka_unit_test(classes_of_codes),
        cmocka_unit_test(failure_of_ours_keeps_its_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
