/* SPDX-License-Identifier: Apache-2.0 */
/* Failed entries: each keeps its index, code and text; equal texts are kept once. */
#include "fake_transport.h"

static void failures_keep_their_own_words(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_bt_mutate_rows call;
    fake *f = fake_create(NULL);
    ms_bt_mutate_rows_init(&call, &f->mailbox, NULL, NULL);
    for (uint32_t i = 0; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "text %u", i / 100);
        assert_ok(ms_bt_failures_add(&call.failures, i * 2,
                                     i % 2 == 0 ? MS_BT_ABORTED : MS_BT_INTERNAL, ms_str_cstr(text),
                                     &st));
    }
    assert_int_equal(ms_bt_mutate_rows_failure_count(&call), 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "text %u", i / 100);
        ms_bt_status bt = {0};
        assert_int_equal(ms_bt_mutate_rows_failure(&call, i, &bt), i * 2);
        assert_int_equal(bt.code, i % 2 == 0 ? MS_BT_ABORTED : MS_BT_INTERNAL);
        assert_string_equal(bt.text, text);
    }
    assert_int_equal(call.failures.texts.bytes, 10 * strlen("text 0"));
    ms_bt_mutate_rows_release(&call);
    fake_destroy(f);
}

static void failures_without_words_are_failures_too(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_bt_mutate_rows call;
    fake *f = fake_create(NULL);
    ms_bt_mutate_rows_init(&call, &f->mailbox, NULL, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(ms_bt_failures_add(&call.failures, i, MS_BT_NOT_FOUND, (ms_str){NULL, 0}, &st));
    }
    for (uint32_t i = 0; i < 2; i++) {
        ms_bt_status bt = {0};
        assert_int_equal(ms_bt_mutate_rows_failure(&call, i, &bt), i);
        assert_int_equal(bt.code, MS_BT_NOT_FOUND);
        assert_string_equal(bt.text, "");
    }
    ms_bt_mutate_rows_release(&call);
    fake_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_keep_their_own_words),
        cmocka_unit_test(failures_without_words_are_failures_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
