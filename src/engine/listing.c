/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of text that a statement makes at once: SHOW, DESCRIBE, EXPLAIN.
 */
#include "engine/engine_priv.h"

void msi_listing_init(msi_listing *listing, ms_arena *arena, const char *const *names,
                      uint32_t name_count, uint32_t rows_max)
{
    ms_field *fields = ms_arena_array(arena, ms_field, name_count);
    const ms_type *type = ms_type_string(arena, true);
    for (uint32_t i = 0; i < name_count; i++) {
        fields[i] = (ms_field){ms_str_cstr(names[i]), type};
    }
    listing->schema = (ms_schema){name_count, fields};
    listing->pool = ms_batch_pool_create(&listing->schema, rows_max == 0 ? 1 : rows_max, 1);
    listing->batch = ms_batch_pool_take(listing->pool);
    listing->is_taken = false;
}

void msi_listing_add(msi_listing *listing, const ms_str *cells)
{
    ms_batch *batch = listing->batch;
    MS_ASSERT(batch->rows < batch->capacity);
    uint32_t row = batch->rows++;
    for (uint32_t c = 0; c < listing->schema.column_count; c++) {
        ms_view *views = MS_VEC_DATA(&batch->columns[c], ms_view);
        if (cells[c].ptr == NULL) {
            ms_bit_clear(ms_batch_validity(batch, c), row);
            views[row] = ms_view_make("", 0);
        } else {
            views[row] = ms_batch_put_str(batch, cells[c]);
        }
    }
}

void msi_listing_release(msi_listing *listing)
{
    ms_batch_drop(listing->batch);
    ms_batch_pool_destroy(listing->pool);
    *listing = (msi_listing){0};
}
