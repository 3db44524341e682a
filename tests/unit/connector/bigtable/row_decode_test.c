/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding pages that no embedded store would make: families in any order, qualifiers that come
 * again, families that the page learns late.
 */
#include "bt_running.h"

#include "connector/bigtable/row_decode.h"

typedef struct fixture {
    ms_arena arena;
    table_maker maker;
    msi_bt_layout layout;
    ms_bt_page page;
    ms_str families[8];
} fixture;

static void fixture_init(fixture *f)
{
    memset(f, 0, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    maker_init(&f->maker, &f->arena);
    maker_column(&f->maker, "k", make_type(&f->arena, "STRING"));
    maker_family(&f->maker, "a", "z STRING, m STRING, b STRING");
    maker_family(&f->maker, "b", "q STRING");
    f->layout = make_layout(&f->maker);
    ms_bt_page_init(&f->page);
    f->page.families = f->families;
}

static void fixture_release(fixture *f)
{
    ms_bt_page_release(&f->page);
    ms_arena_release(&f->arena);
}

static void add_family(fixture *f, const char *name)
{
    f->families[f->page.family_count++] = ms_str_cstr(name);
}

static void add_row(fixture *f, const char *key)
{
    ms_status st = {0};
    ms_bt_page *page = &f->page;
    assert_ok(ms_bt_page_reserve_row(page, strlen(key), &st));
    page->rows[page->row_count++] = (ms_bt_row){.key_at = ms_bt_page_put(page, key, strlen(key)),
                                                .key_bytes = (uint32_t)strlen(key),
                                                .first_cell = page->cell_count};
}

static void add_cell(fixture *f, uint16_t family, const char *qualifier, const char *value)
{
    ms_status st = {0};
    ms_bt_page *page = &f->page;
    size_t bytes = strlen(qualifier) + strlen(value);
    assert_ok(ms_bt_page_reserve_cell(page, bytes, &st));
    page->cells[page->cell_count++] =
        (ms_bt_cell){.family = family,
                     .qualifier_at = ms_bt_page_put(page, qualifier, strlen(qualifier)),
                     .qualifier_bytes = (uint32_t)strlen(qualifier),
                     .value_at = ms_bt_page_put(page, value, strlen(value)),
                     .value_bytes = (uint32_t)strlen(value)};
    page->rows[page->row_count - 1].cell_count++;
}

static void assert_frame(ms_batch *frame, const char *expected)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, 1u << 20);
    batch_text(frame, &text);
    assert_ok(ms_buf_append_byte(&text, '\0', &st));
    assert_string_equal(text.ptr, expected);
    ms_buf_release(&text);
}

static void the_first_cell_of_a_qualifier_counts_wherever_others_stand(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    add_family(&f, "b");
    add_family(&f, "a");
    add_row(&f, "k1");
    add_cell(&f, 1, "m", "new");
    add_cell(&f, 0, "q", "other family");
    add_cell(&f, 1, "m", "old");
    add_cell(&f, 1, "z", "last declared first");
    add_cell(&f, 1, "b", "first");
    add_cell(&f, 1, "bb", "undeclared");
    add_cell(&f, 1, "", "undeclared");
    msi_bt_decoder *d = msi_bt_decoder_create(&f.layout, (const uint32_t[]){0, 1, 2}, 3, 4);
    assert_frame(msi_bt_decoder_rows(d, &f.page, 0, 1),
                 "[k1, (last declared first, new, first), (other family)]");
    assert_true(msi_bt_decoder_bytes(d) > 0);
    msi_bt_decoder_destroy(d);
    fixture_release(&f);
}

static void families_that_appear_late_are_learned_and_forgotten(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    add_family(&f, "x");
    add_row(&f, "k1");
    add_cell(&f, 0, "q", "v");
    add_row(&f, "k2");
    add_cell(&f, 1, "m", "v");
    msi_bt_decoder *d = msi_bt_decoder_create(&f.layout, (const uint32_t[]){0, 1, 2}, 3, 4);
    assert_frame(msi_bt_decoder_rows(d, &f.page, 0, 1), "[k1, NULL, NULL]");
    add_family(&f, "a");
    assert_frame(msi_bt_decoder_rows(d, &f.page, 1, 1), "[k2, (NULL, v, NULL), NULL]");
    /* In another read the numbers mean other families. */
    f.page.family_count = 0;
    add_family(&f, "a");
    add_family(&f, "b");
    msi_bt_decoder_restart(d);
    assert_frame(msi_bt_decoder_rows(d, &f.page, 1, 1), "[k2, NULL, NULL]");
    add_cell(&f, 1, "q", "w");
    assert_frame(msi_bt_decoder_rows(d, &f.page, 1, 1), "[k2, NULL, (w)]");
    msi_bt_decoder_destroy(d);
    fixture_release(&f);
}

static void columns_may_come_in_any_choice(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    add_family(&f, "a");
    add_family(&f, "b");
    add_row(&f, "k1");
    add_cell(&f, 0, "m", "v");
    add_cell(&f, 1, "q", "w");
    msi_bt_decoder *d = msi_bt_decoder_create(&f.layout, (const uint32_t[]){2}, 1, 4);
    assert_frame(msi_bt_decoder_rows(d, &f.page, 0, 1), "[(w)]");
    msi_bt_decoder_destroy(d);
    d = msi_bt_decoder_create(&f.layout, NULL, 0, 4);
    assert_frame(msi_bt_decoder_rows(d, &f.page, 0, 1), "[]");
    msi_bt_decoder_destroy(d);
    fixture_release(&f);
}

/* NULLs of one frame do not stay in the next. */
static void frames_do_not_remember(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    add_family(&f, "a");
    add_family(&f, "b");
    for (int i = 0; i < 130; i++) {
        char key[8];
        snprintf(key, sizeof(key), "k%03d", i);
        add_row(&f, key);
        if (i % 2 == 0) {
            add_cell(&f, 0, "m", "even");
        } else {
            add_cell(&f, 1, "q", "odd");
        }
    }
    msi_bt_decoder *d = msi_bt_decoder_create(&f.layout, (const uint32_t[]){0, 1, 2}, 3, 65);
    for (uint32_t first = 0; first < 2; first++) {
        ms_batch *frame = msi_bt_decoder_rows(d, &f.page, first * 65, 65);
        assert_int_equal(frame->rows, 65);
        for (uint32_t i = 0; i < 65; i++) {
            bool is_even = (first * 65 + i) % 2 == 0;
            assert_int_equal(ms_vec_is_null(&frame->columns[1], i), !is_even);
            assert_int_equal(ms_vec_is_null(&frame->columns[2], i), is_even);
        }
    }
    msi_bt_decoder_destroy(d);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cell_of_a_qualifier_counts_wherever_others_stand),
        cmocka_unit_test(families_that_appear_late_are_learned_and_forgotten),
        cmocka_unit_test(columns_may_come_in_any_choice),
        cmocka_unit_test(frames_do_not_remember),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
