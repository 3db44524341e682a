/* SPDX-License-Identifier: Apache-2.0 */
/* The overlay: cells are found again, however many there are, and forgotten by a reset. */
#include "testing.h"

#include "bigtable/store/key.h"
#include "bigtable/store/overlay.h"
#include "os/file.h"

#define CELLS 5000u

static ms_str key_of(uint32_t number, char text[16])
{
    snprintf(text, 16, "key%u", number);
    return ms_str_cstr(text);
}

static void cells_are_found_until_reset(void **state)
{
    (void)state;
    msi_overlay *overlay = msi_overlay_create();
    char text[16];
    /* Few, many, few: both ways of emptying the table. */
    static const uint32_t counts[] = {3, CELLS, 3, 70, 1};
    for (size_t round = 0; round < sizeof(counts) / sizeof(counts[0]); round++) {
        for (uint32_t i = 0; i < counts[round]; i++) {
            assert_null(msi_overlay_find(overlay, key_of(i, text)));
            bool is_new = false;
            msi_overlay_cell *cell = msi_overlay_at(overlay, key_of(i, text), &is_new);
            assert_true(is_new);
            assert_false(cell->exists);
            assert_int_equal(cell->number, 0);
            assert_int_equal(cell->bytes.bytes, 0);
            cell->number = i;
            cell->exists = true;
        }
        assert_int_equal(msi_overlay_count(overlay), counts[round]);
        for (uint32_t i = 0; i < counts[round]; i++) {
            bool is_new = true;
            assert_int_equal(msi_overlay_at(overlay, key_of(i, text), &is_new)->number, i);
            assert_false(is_new);
            assert_int_equal(msi_overlay_cell_at(overlay, i)->number, i);
        }
        msi_overlay_reset(overlay);
        assert_int_equal(msi_overlay_count(overlay), 0);
    }
    msi_overlay_destroy(overlay);
}

static void large_cell_gives_its_memory_back(void **state)
{
    (void)state;
    ms_status st = {0};
    msi_overlay *overlay = msi_overlay_create();
    bool is_new = false;
    char value[5000] = {0};
    msi_overlay_cell *cell = msi_overlay_at(overlay, ms_str_lit("k"), &is_new);
    assert_ok(ms_buf_append(&cell->bytes, ms_str_make(value, sizeof(value)), &st));
    msi_overlay_reset(overlay);
    cell = msi_overlay_at(overlay, ms_str_lit("k"), &is_new);
    assert_true(is_new);
    assert_int_equal(cell->bytes.capacity_bytes, 0);
    msi_overlay_destroy(overlay);
}

static void cells_that_exist_are_put(void **state)
{
    (void)state;
    ms_status st = {0};
    msi_overlay *overlay = msi_overlay_create();
    bool is_new = false;
    msi_overlay_cell *cell = msi_overlay_at(overlay, ms_str_lit("number"), &is_new);
    cell->exists = true;
    cell->number = 258;
    cell = msi_overlay_at(overlay, ms_str_lit("gone"), &is_new);
    cell = msi_overlay_at(overlay, ms_str_lit("column"), &is_new);
    cell->kind = MSI_OVERLAY_COLUMN;
    cell->exists = true;
    cell->micros = 1000;
    assert_ok(ms_buf_append(&cell->bytes, ms_str_lit("v"), &st));

    char path[] = "/tmp/overlay-test-XXXXXX";
    assert_non_null(mkdtemp(path));
    ms_kv *kv = NULL;
    assert_ok(ms_kv_open(&(ms_kv_options){.path = path, .create = true}, &kv, &st));
    ms_kv_batch *batch = ms_kv_batch_create();
    assert_ok(msi_overlay_put(overlay, batch, &st));
    assert_int_equal(ms_kv_batch_count(batch), 2);
    assert_ok(ms_kv_write(kv, batch, MS_KV_NO_SYNC, &st));
    ms_buf value;
    ms_buf_init(&value, 100);
    bool is_found = false;
    assert_ok(ms_kv_get(kv, ms_str_lit("number"), &value, &is_found, &st));
    assert_true(is_found);
    assert_memory_equal(value.ptr, "\0\0\0\0\0\0\1\2", 8);
    ms_buf_reset(&value);
    assert_ok(ms_kv_get(kv, ms_str_lit("column\xFF\xFF\xFF\xFF\xFF\xFF\xFC\x17"), &value, &is_found,
                        &st));
    assert_true(is_found);
    assert_str_equal(ms_buf_view(&value), "v");
    ms_buf_release(&value);
    ms_kv_batch_destroy(batch);
    ms_kv_close(kv);
    assert_ok(ms_dir_remove(path, &st));
    msi_overlay_destroy(overlay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_found_until_reset),
        cmocka_unit_test(large_cell_gives_its_memory_back),
        cmocka_unit_test(cells_that_exist_are_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
