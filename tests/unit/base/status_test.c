/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/status.h"

#include <errno.h>

static void the_first_cause_wins(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_int_equal(ms_status_set(&st, MS_UNDEFINED_COLUMN, (ms_span){3, 7}, "no \"%s\"", "a"),
                     MS_UNDEFINED_COLUMN);
    assert_int_equal(ms_status_set(&st, MS_INTERNAL, ms_span_none, "later"), MS_UNDEFINED_COLUMN);
    assert_int_equal(ms_status_set_errno(&st, ENOSPC, "later"), MS_UNDEFINED_COLUMN);
    assert_string_equal(st.message, "no \"a\"");
    assert_string_equal(st.detail, "");
    assert_int_equal(st.span.start, 3);
    assert_int_equal(st.span.end, 7);
}

static void detail_hint_and_place_need_a_failure_and_stay(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_int_equal(ms_status_detail(&st, "x"), MS_OK);
    assert_int_equal(ms_status_hint(&st, "x"), MS_OK);
    assert_int_equal(ms_status_place(&st, (ms_span){1, 2}), MS_OK);
    assert_string_equal(st.detail, "");
    assert_string_equal(st.hint, "");
    assert_int_equal(st.span.end, 0);

    ms_status_set(&st, MS_LIMIT, ms_span_none, "m");
    assert_int_equal(ms_status_detail(&st, "first"), MS_LIMIT);
    ms_status_detail(&st, "second");
    ms_status_hint(&st, "first");
    ms_status_hint(&st, "second");
    ms_status_place(&st, (ms_span){1, 2});
    ms_status_place(&st, (ms_span){3, 4});
    assert_string_equal(st.detail, "first");
    assert_string_equal(st.hint, "first");
    assert_int_equal(st.span.start, 1);
}

static void clear_makes_a_success(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_status_set_errno(&st, EAGAIN, "m");
    assert_true(st.retriable);
    ms_status_clear(&st);
    assert_true(ms_status_is_ok(&st));
    assert_false(st.retriable);
    assert_string_equal(st.message, "");
    assert_string_equal(st.detail, "");
}

static void a_long_text_is_cut_at_a_character(void **state)
{
    (void)state;
    char text[1000];
    for (size_t lead = 0; lead < 4; lead++) {
        /* A euro sign, three bytes, at every place relative to the cut. */
        memset(text, 'x', lead);
        for (size_t at = lead; at + 4 < sizeof(text); at += 3) {
            memcpy(text + at, "\xE2\x82\xAC", 4);
        }
        ms_status st = {0};
        ms_status_set(&st, MS_INTERNAL, ms_span_none, "%s", text);
        size_t bytes = strlen(st.message);
        assert_in_range(bytes, sizeof(st.message) - 4, sizeof(st.message) - 1);
        assert_string_equal(st.message + bytes - 3, "...");
        assert_true(ms_str_is_utf8(ms_str_cstr(st.message)));
    }
}

static void a_text_that_just_fits_is_whole(void **state)
{
    (void)state;
    char text[240];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    ms_status st = {0};
    ms_status_set(&st, MS_INTERNAL, ms_span_none, "%s", text);
    assert_string_equal(st.message, text);
}

static void text_that_is_not_utf8_is_cut_too(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 0x80, sizeof(text));
    text[sizeof(text) - 1] = '\0';
    ms_status st = {0};
    ms_status_set(&st, MS_INTERNAL, ms_span_none, "%s", text);
    assert_int_equal(strlen(st.message), sizeof(st.message) - 1);
}

static void errno_chooses_the_code_and_gives_the_detail(void **state)
{
    (void)state;
    const struct {
        int errno_value;
        ms_rc code;
    } cases[] = {{ENOENT, MS_FILE_NOT_FOUND}, {ENOSPC, MS_DISK_FULL}, {EDQUOT, MS_DISK_FULL},
                 {ENOMEM, MS_NO_MEMORY},      {EACCES, MS_IO_ERROR},  {EIO, MS_IO_ERROR}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_status st = {0};
        assert_int_equal(ms_status_set_errno(&st, cases[i].errno_value, "could not open \"f\""),
                         cases[i].code);
        assert_string_equal(st.message, "could not open \"f\"");
        assert_string_equal(st.detail, strerror(cases[i].errno_value));
    }
}

static void every_code_has_a_name_a_sqlstate_and_a_meaning(void **state)
{
    (void)state;
    assert_string_equal(ms_rc_name(MS_OK), "OK");
    assert_string_equal(ms_rc_name(MS_UNDEFINED_COLUMN), "UNDEFINED_COLUMN");
    assert_string_equal(ms_rc_sqlstate(MS_UNDEFINED_COLUMN), "42703");
    for (int code = 0; code < MS_RC_COUNT; code++) {
        assert_true(strlen(ms_rc_name((ms_rc)code)) > 1);
        assert_int_equal(strlen(ms_rc_sqlstate((ms_rc)code)), 5);
        assert_true(strlen(ms_rc_meaning((ms_rc)code)) > 5);
        for (int other = 0; other < code; other++) {
            assert_string_not_equal(ms_rc_name((ms_rc)code), ms_rc_name((ms_rc)other));
        }
    }
    assert_string_equal(ms_rc_name(MS_RC_COUNT), "INTERNAL");
    assert_string_equal(ms_rc_name((ms_rc)-1), "INTERNAL");
}

static void warnings_are_the_codes_of_sqlstate_class_01(void **state)
{
    (void)state;
    uint32_t warnings = 0;
    for (int code = 0; code < MS_RC_COUNT; code++) {
        bool is_warning = strncmp(ms_rc_sqlstate((ms_rc)code), "01", 2) == 0;
        assert_int_equal(ms_rc_is_warning((ms_rc)code), is_warning);
        warnings += is_warning;
    }
    assert_true(warnings > 0);
    assert_true(ms_rc_is_warning(MS_SETTING_WITHOUT_EFFECT));
    assert_false(ms_rc_is_warning(MS_OK));
    assert_false(ms_rc_is_warning(MS_INTERNAL));
    assert_false(ms_rc_is_warning(MS_RC_COUNT));
}

static ms_rc fail_after(int steps, int *taken, ms_status *st)
{
    for (int i = 0; i < 3; i++) {
        MS_TRY(i == steps ? ms_status_set(st, MS_LIMIT, ms_span_none, "step %d", i) : MS_OK);
        (*taken)++;
    }
    return MS_OK;
}

static void try_returns_at_the_first_failure(void **state)
{
    (void)state;
    ms_status st = {0};
    int taken = 0;
    assert_int_equal(fail_after(1, &taken, &st), MS_LIMIT);
    assert_int_equal(taken, 1);
    assert_string_equal(st.message, "step 1");
}

static void break_an_invariant(void *arg)
{
    MS_ASSERT(arg == NULL);
}

static void set_success(void *arg)
{
    ms_status_set(arg, MS_OK, ms_span_none, "nothing");
}

static void a_bug_aborts(void **state)
{
    (void)state;
    int something = 0;
    ms_status st = {0};
    assert_aborts(break_an_invariant, &something);
    assert_aborts(set_success, &st);
    assert_int_equal(run_in_child(break_an_invariant, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cause_wins),
        cmocka_unit_test(detail_hint_and_place_need_a_failure_and_stay),
        cmocka_unit_test(clear_makes_a_success),
        cmocka_unit_test(a_long_text_is_cut_at_a_character),
        cmocka_unit_test(a_text_that_just_fits_is_whole),
        cmocka_unit_test(text_that_is_not_utf8_is_cut_too),
        cmocka_unit_test(errno_chooses_the_code_and_gives_the_detail),
        cmocka_unit_test(every_code_has_a_name_a_sqlstate_and_a_meaning),
        cmocka_unit_test(warnings_are_the_codes_of_sqlstate_class_01),
        cmocka_unit_test(try_returns_at_the_first_failure),
        cmocka_unit_test(a_bug_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
