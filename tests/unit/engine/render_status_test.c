/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors and warnings as text and as JSON.
 */
#include "engine/engine_host.h"

static void an_error_has_place_line_and_carets(void **state)
{
    (void)state;
    engine_host h;
    char text[2000];
    host_open(&h);
    ms_script *script =
        host_parse(&h, "f.sql", "SELECT 1;\nSELECT nope FROM (VALUES (1)) AS t(a);");
    ms_execution *execution = NULL;
    assert_int_equal(ms_script_execute(script, 1, false, &execution, &h.st), MS_UNDEFINED_COLUMN);
    assert_null(execution);
    size_t bytes = ms_status_render(&h.st, script, 1, MS_ERROR_TEXT, text, sizeof text);
    assert_int_equal(bytes, strlen(text));
    assert_true(ms_str_starts_with(ms_str_cstr(text), ms_str_lit("error[UNDEFINED_COLUMN]: ")));
    assert_non_null(strstr(text, "f.sql:2:8"));
    assert_non_null(strstr(text, "SELECT nope FROM"));
    assert_non_null(strstr(text, "^^^^"));
    ms_status_render(&h.st, script, 1, MS_ERROR_JSON, text, sizeof text);
    assert_true(ms_str_starts_with(ms_str_cstr(text),
                                   ms_str_lit("{\"error\":{\"code\":\"UNDEFINED_COLUMN\",")));
    assert_non_null(strstr(text, "\"file\":\"f.sql\",\"line\":2,\"column\":8,\"statement\":2}}\n"));
    ms_script_close(script);
    host_close(&h);
}

static void a_status_without_a_script_has_no_place(void **state)
{
    (void)state;
    char text[2000];
    ms_status st = {0};
    ms_status_set(&st, MS_IO_ERROR, (ms_span){1, 2}, "it \"broke\"");
    ms_status_detail(&st, "here");
    ms_status_hint(&st, "mend it");
    ms_status_render(&st, NULL, 0, MS_ERROR_TEXT, text, sizeof text);
    assert_string_equal(text, "error[IO_ERROR]: it \"broke\"\ndetail: here\nhint: mend it\n");
    ms_status_render(&st, NULL, 0, MS_ERROR_JSON, text, sizeof text);
    assert_non_null(strstr(text, "{\"error\":{\"code\":\"IO_ERROR\","));
    assert_non_null(strstr(text, "\"message\":\"it \\\"broke\\\"\",\"detail\":\"here\",\"hint\":"
                                 "\"mend it\",\"file\":null,\"line\":null,\"column\":null"));
}

static void a_warning_is_named_so(void **state)
{
    (void)state;
    char text[2000];
    ms_status st = {0};
    ms_status_set(&st, MS_SETTING_WITHOUT_EFFECT, ms_span_none, "nothing happens");
    ms_status_hint(&st, "Leave it out.");
    ms_status_render(&st, NULL, 0, MS_ERROR_TEXT, text, sizeof text);
    assert_string_equal(text, "warning[SETTING_WITHOUT_EFFECT]: nothing happens\n"
                              "hint: Leave it out.\n");
    ms_status_render(&st, NULL, 0, MS_ERROR_JSON, text, sizeof text);
    assert_true(ms_str_starts_with(
        ms_str_cstr(text),
        ms_str_lit("{\"warning\":{\"code\":\"SETTING_WITHOUT_EFFECT\",\"sqlstate\":\"01")));
}

static void a_note_has_no_code(void **state)
{
    (void)state;
    char text[2000];
    ms_status st = {0};
    snprintf(st.message, sizeof st.message, "bigtable: here");
    ms_status_render(&st, NULL, 0, MS_ERROR_TEXT, text, sizeof text);
    assert_string_equal(text, "bigtable: here\n");
}

static void the_text_is_cut_to_its_room(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_status_set(&st, MS_IO_ERROR, ms_span_none, "broken");
    char whole[200];
    size_t bytes = ms_status_render(&st, NULL, 0, MS_ERROR_TEXT, whole, sizeof whole);
    for (size_t size = 0; size <= bytes + 1; size++) {
        char text[200];
        memset(text, 'x', sizeof text);
        size_t got = ms_status_render(&st, NULL, 0, MS_ERROR_TEXT, text, size);
        assert_int_equal(got, size == 0 ? 0 : size - 1);
        assert_memory_equal(text, whole, got);
        assert_int_equal(text[got], size == 0 ? 'x' : '\0');
        assert_int_equal(text[got + 1], 'x');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(an_error_has_place_line_and_carets),
        cmocka_unit_test(a_status_without_a_script_has_no_place),
        cmocka_unit_test(a_warning_is_named_so),
        cmocka_unit_test(a_note_has_no_code),
        cmocka_unit_test(the_text_is_cut_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
