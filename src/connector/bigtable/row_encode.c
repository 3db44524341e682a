/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk of rows is encoded column by column, NULL families left out, so that what a codec sees is
 * dense; then rows are put together from the cells:
 *
 *     ordinals[family][i]   which of the family's encoded rows is row i of the chunk; NONE: NULL
 *     cells[field][ordinal] the encoded value
 */
#include "connector/bigtable/row_encode.h"

#include "base/env.h"
#include "base/memory.h"

/* Rows encoded at a time: cells of a dozen columns fit the first-level cache. */
#define CHUNK_ROWS 256u

#define NONE UINT16_MAX
#define MICROS_PER_MILLI 1000

struct msi_bt_encoder {
    ms_arena arena;
    const msi_bt_layout *layout;
    const ms_batch *batch;
    uint32_t live;       /* rows of the batch */
    uint32_t next;       /* of them: the next to encode */
    uint32_t chunk_rows; /* rows of the chunk */
    uint32_t chunk_at;   /* of them: the next to put together */
    int64_t micros;      /* the time of the chunk's cells */
    uint32_t *rows;      /* of the chunk, in the batch */
    uint32_t *pos;       /* scratch: positions in one column */
    uint32_t *field_pos;
    ms_str *keys;
    uint16_t *ordinals;        /* CHUNK_ROWS for each family */
    ms_str *cells;             /* CHUNK_ROWS for each field */
    char **scratch;            /* one for each field, then one for the key */
    ms_bt_mutation *templates; /* one for each field: all but time and value */
};

/* Life. */

static char *new_scratch(ms_arena *arena, const msi_bt_codec *codec)
{
    return ms_arena_alloc(arena, (size_t)codec->scratch_bytes * CHUNK_ROWS, 16);
}

msi_bt_encoder *msi_bt_encoder_create(const msi_bt_layout *layout)
{
    msi_bt_encoder *e = ms_mem_calloc(1, sizeof(*e));
    ms_arena *arena = &e->arena;
    ms_arena_init(arena, 0);
    e->layout = layout;
    e->rows = ms_arena_array(arena, uint32_t, CHUNK_ROWS);
    e->pos = ms_arena_array(arena, uint32_t, CHUNK_ROWS);
    e->field_pos = ms_arena_array(arena, uint32_t, CHUNK_ROWS);
    e->keys = ms_arena_array(arena, ms_str, CHUNK_ROWS);
    e->ordinals = ms_arena_array(arena, uint16_t, (size_t)layout->family_count * CHUNK_ROWS);
    e->cells = ms_arena_array(arena, ms_str, (size_t)layout->field_count * CHUNK_ROWS);
    e->scratch = ms_arena_array(arena, char *, (size_t)layout->field_count + 1);
    e->templates = ms_arena_array(arena, ms_bt_mutation, layout->field_count);
    uint32_t at = 0;
    for (uint32_t f = 0; f < layout->family_count; f++) {
        for (uint32_t i = 0; i < layout->families[f].field_count; i++) {
            const msi_bt_field *field = &layout->families[f].fields[i];
            e->scratch[at] = new_scratch(arena, &field->codec);
            e->templates[at] = (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL,
                                                .origin = MS_BT_TIMESTAMP_CLIENT,
                                                .family = (uint16_t)f,
                                                .qualifier = field->qualifier};
            at++;
        }
    }
    e->scratch[at] = new_scratch(arena, &layout->key);
    return e;
}

void msi_bt_encoder_destroy(msi_bt_encoder *encoder)
{
    if (encoder == NULL) {
        return;
    }
    ms_arena_release(&encoder->arena);
    ms_mem_free(encoder);
}

size_t msi_bt_encoder_bytes(const msi_bt_encoder *encoder)
{
    return ms_arena_used_bytes(&encoder->arena);
}

ms_rc msi_bt_encoder_adopt(const msi_bt_encoder *encoder, ms_bt_mutation_batch *mutations,
                           ms_status *st)
{
    const msi_bt_layout *layout = encoder->layout;
    for (uint32_t f = 0; f < layout->family_count; f++) {
        uint16_t index = 0;
        MS_TRY(ms_bt_mutation_batch_family(mutations, layout->families[f].name, &index, st));
        MS_ASSERT(index == f);
    }
    return MS_OK;
}

void msi_bt_encoder_begin(msi_bt_encoder *encoder, const ms_batch *batch)
{
    encoder->batch = batch;
    encoder->live = ms_batch_live(batch);
    encoder->next = 0;
    encoder->chunk_rows = 0;
    encoder->chunk_at = 0;
}

bool msi_bt_encoder_is_done(const msi_bt_encoder *encoder)
{
    return encoder->next == encoder->live && encoder->chunk_at == encoder->chunk_rows;
}

/* Columns. */

static bool has_cells(const msi_bt_encoder *e, uint32_t row)
{
    ms_row_kind kind = ms_batch_kind(e->batch, row);
    return kind == MS_ROW_INSERT || kind == MS_ROW_UPDATE_AFTER;
}

/* Encodes the rows of the chunk that have the family; first is its first field among all. */
static void encode_family(msi_bt_encoder *e, uint32_t f, uint32_t first)
{
    const msi_bt_family *family = &e->layout->families[f];
    const ms_vec *vec = &e->batch->columns[family->column];
    uint16_t *ordinals = e->ordinals + (size_t)f * CHUNK_ROWS;
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->chunk_rows; i++) {
        uint32_t row = e->rows[i];
        bool is_there = has_cells(e, row) && !ms_vec_is_null(vec, row);
        ordinals[i] = is_there ? (uint16_t)count : NONE;
        if (is_there) {
            e->pos[count++] = ms_vec_pos(vec, row);
        }
    }
    if (count == 0) {
        return;
    }
    for (uint32_t i = 0; i < family->field_count; i++) {
        const msi_bt_codec *codec = &family->fields[i].codec;
        const ms_vec *child = &vec->children[i];
        const uint32_t *pos = e->pos;
        if (child->encoding != MS_ENC_FLAT) {
            for (uint32_t k = 0; k < count; k++) {
                e->field_pos[k] = ms_vec_pos(child, e->pos[k]);
            }
            pos = e->field_pos;
        }
        codec->encode(codec, child, pos, count, e->scratch[first + i],
                      e->cells + (size_t)(first + i) * CHUNK_ROWS);
    }
}

int64_t msi_bt_encoder_stamp(msi_bt_encoder *encoder, bool is_later)
{
    int64_t now = ms_env_wall_ms() * MICROS_PER_MILLI;
    int64_t least = encoder->micros + (is_later ? MICROS_PER_MILLI : 0);
    encoder->micros = now > least ? now : least;
    return encoder->micros;
}

static void encode_chunk(msi_bt_encoder *e)
{
    uint32_t left = e->live - e->next;
    e->chunk_rows = left < CHUNK_ROWS ? left : CHUNK_ROWS;
    e->chunk_at = 0;
    (void)msi_bt_encoder_stamp(e, false);
    const msi_bt_codec *key = &e->layout->key;
    const ms_vec *vec = &e->batch->columns[e->layout->key_column];
    for (uint32_t i = 0; i < e->chunk_rows; i++) {
        e->rows[i] = ms_batch_row(e->batch, e->next + i);
        e->pos[i] = ms_vec_pos(vec, e->rows[i]);
    }
    key->encode(key, vec, e->pos, e->chunk_rows, e->scratch[e->layout->field_count], e->keys);
    uint32_t first = 0;
    for (uint32_t f = 0; f < e->layout->family_count; f++) {
        encode_family(e, f, first);
        first += e->layout->families[f].field_count;
    }
    e->next += e->chunk_rows;
}

/* What cannot be written. */

static ms_rc detail_row(const msi_bt_encoder *e, ms_str key, ms_status *st)
{
    char destination[MSI_BT_DESTINATION_BYTES];
    char text[512];
    return ms_status_detail(st, "row key \"%s\" of table \"%s\"",
                            ms_bt_bytes_text(key, text, sizeof(text)),
                            msi_bt_destination_text(&e->layout->destination, destination));
}

static ms_rc check_key(const msi_bt_encoder *e, ms_str key, ms_status *st)
{
    ms_str column = e->layout->schema.columns[e->layout->key_column].name;
    char destination[MSI_BT_DESTINATION_BYTES];
    msi_bt_destination_text(&e->layout->destination, destination);
    if (key.bytes == MSI_BT_UNENCODABLE) {
        ms_status_set(st, MS_NOT_NULL_VIOLATION, ms_span_none,
                      "row-key column \"%.*s\" is NULL in a row", MS_STR_ARG(column));
        return ms_status_detail(st, "table \"%s\"", destination);
    }
    if (key.bytes == 0) {
        ms_status_set(st, MS_BIGTABLE_ERROR, ms_span_none,
                      "row-key column \"%.*s\" is empty in a row", MS_STR_ARG(column));
        return ms_status_detail(st, "table \"%s\"", destination);
    }
    if (key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES) {
        ms_status_set(st, MS_BIGTABLE_ERROR, ms_span_none,
                      "row-key column \"%.*s\" has %zu bytes in a row, more than %u",
                      MS_STR_ARG(column), key.bytes, MS_BT_LIMIT_ROW_KEY_BYTES);
        return detail_row(e, key, st);
    }
    return MS_OK;
}

static ms_rc report_update_before(const msi_bt_encoder *e, ms_str key, ms_status *st)
{
    ms_status_set(st, MS_INTERNAL, ms_span_none,
                  "a -U row reached a bigtable sink, which takes none");
    return detail_row(e, key, st);
}

static ms_rc report_null(const msi_bt_encoder *e, const msi_bt_family *family, uint32_t field,
                         ms_str key, ms_status *st)
{
    ms_status_set(st, MS_NOT_NULL_VIOLATION, ms_span_none,
                  "qualifier \"%.*s.%.*s\" is NOT NULL, but a row has NULL there",
                  MS_STR_ARG(family->name), MS_STR_ARG(family->fields[field].qualifier));
    return detail_row(e, key, st);
}

static ms_rc report_nothing(const msi_bt_encoder *e, ms_str key, ms_status *st)
{
    ms_status_set(st, MS_BIGTABLE_ERROR, ms_span_none,
                  "every column family of a row is NULL, so that no cell would be written");
    return detail_row(e, key, st);
}

/* Rows. */

/* Appends the cells of row i to the open entry. */
static ms_rc put_cells(const msi_bt_encoder *e, uint32_t i, ms_bt_mutation_batch *mutations,
                       ms_status *st)
{
    uint32_t first = 0;
    bool has_cell = false;
    for (uint32_t f = 0; f < e->layout->family_count; f++) {
        const msi_bt_family *family = &e->layout->families[f];
        uint16_t ordinal = e->ordinals[(size_t)f * CHUNK_ROWS + i];
        for (uint32_t c = 0; ordinal != NONE && c < family->field_count; c++) {
            ms_bt_mutation *mutation = &e->templates[first + c];
            mutation->value = e->cells[(size_t)(first + c) * CHUNK_ROWS + ordinal];
            if (mutation->value.bytes == MSI_BT_UNENCODABLE) {
                return report_null(e, family, c, e->keys[i], st);
            }
            mutation->timestamp_micros = e->micros;
            MS_TRY(ms_bt_mutation_batch_append(mutations, mutation, st));
            has_cell = true;
        }
        first += family->field_count;
    }
    return has_cell ? MS_OK : report_nothing(e, e->keys[i], st);
}

static ms_rc put_mutations(const msi_bt_encoder *e, uint32_t i, ms_bt_mutation_batch *mutations,
                           ms_status *st)
{
    switch (ms_batch_kind(e->batch, e->rows[i])) {
    case MS_ROW_INSERT:
    case MS_ROW_UPDATE_AFTER:
        return put_cells(e, i, mutations, st);
    case MS_ROW_DELETE:
        return ms_bt_mutation_batch_delete_row(mutations, st);
    case MS_ROW_UPDATE_BEFORE:
        break;
    }
    return report_update_before(e, e->keys[i], st);
}

/* MS_LIMIT: the batch has no room for the row and is as it was. */
static ms_rc put_row(const msi_bt_encoder *e, uint32_t i, ms_bt_mutation_batch *mutations,
                     ms_status *st)
{
    MS_TRY(check_key(e, e->keys[i], st));
    MS_TRY(ms_bt_mutation_batch_begin_row(mutations, e->keys[i], st));
    ms_rc rc = put_mutations(e, i, mutations, st);
    if (rc != MS_OK) {
        ms_bt_mutation_batch_cancel_row(mutations);
        return rc;
    }
    ms_bt_mutation_batch_end_row(mutations);
    return MS_OK;
}

/* A row has at most a cell for each field, or one deletion. */
static bool is_full(const msi_bt_encoder *e, const ms_bt_mutation_batch *mutations)
{
    return ms_bt_mutation_batch_entries(mutations) > 0 &&
           (ms_bt_mutation_batch_bytes(mutations) >= MSI_BT_REQUEST_BYTES ||
            ms_bt_mutation_batch_mutations(mutations) + e->layout->field_count + 1 >
                MS_BT_LIMIT_MUTATIONS);
}

ms_rc msi_bt_encoder_rows(msi_bt_encoder *encoder, ms_bt_mutation_batch *mutations, ms_status *st)
{
    msi_bt_encoder *e = encoder;
    while (!msi_bt_encoder_is_done(e)) {
        if (e->chunk_at == e->chunk_rows) {
            encode_chunk(e);
        }
        if (is_full(e, mutations)) {
            return MS_OK;
        }
        ms_rc rc = put_row(e, e->chunk_at, mutations, st);
        if (rc == MS_LIMIT && ms_bt_mutation_batch_entries(mutations) > 0) {
            ms_status_clear(st);
            return MS_OK;
        }
        if (rc == MS_LIMIT) {
            ms_status_clear(st);
            ms_status_set(st, MS_LIMIT, ms_span_none,
                          "a row has more than %u MiB of cells, the most of one request",
                          MS_BT_LIMIT_BATCH_BYTES >> 20);
            return detail_row(e, e->keys[e->chunk_at], st);
        }
        MS_TRY(rc);
        e->chunk_at++;
    }
    return MS_OK;
}
