/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of text made at once.
 */
#include "testing.h"

#include "engine/engine_priv.h"

static void cells_are_copied_and_null_is_told_from_empty(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    ms_arena arena;
    msi_listing listing = {.is_taken = true};
    ms_arena_init(&arena, 0);
    msi_listing_init(&listing, &arena, names, 2, 2);
    assert_false(listing.is_taken);
    char text[] = "a text too long for a view";
    ms_str cells[] = {ms_str_cstr(text), {NULL, 0}};
    msi_listing_add(&listing, cells);
    text[0] = 'X';
    cells[0] = ms_str_lit("");
    cells[1] = ms_str_lit("y");
    msi_listing_add(&listing, cells);
    const ms_vec *columns = listing.batch->columns;
    assert_int_equal(listing.batch->rows, 2);
    assert_str_equal(listing.schema.columns[1].name, "b");
    assert_str_equal(ms_view_str(&MS_VEC_DATA(&columns[0], ms_view)[0]),
                     "a text too long for a view");
    assert_true(ms_vec_is_null(&columns[1], 0));
    assert_false(ms_vec_is_null(&columns[0], 1));
    assert_false(ms_vec_is_null(&columns[1], 1));
    msi_listing_release(&listing);
    msi_listing_release(&listing);
    ms_arena_release(&arena);
}

static void a_listing_without_rows_is_fine(void **state)
{
    (void)state;
    static const char *const names[] = {"a"};
    ms_arena arena;
    msi_listing listing;
    ms_arena_init(&arena, 0);
    msi_listing_init(&listing, &arena, names, 1, 0);
    assert_int_equal(listing.batch->rows, 0);
    msi_listing_release(&listing);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_copied_and_null_is_told_from_empty),
        cmocka_unit_test(a_listing_without_rows_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
