/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over cells looks up qualifiers by position first: a page has the cells of a family in
 * the order of their qualifiers, so that the next cell most often is the next declared qualifier.
 */
#include "connector/bigtable/row_decode.h"

#include "base/memory.h"

/* A wanted family: where its fields' slots begin, and what the current row has of it. */
typedef struct wanted_family {
    const msi_bt_family *family;
    uint32_t output;      /* column of the frame */
    uint32_t first_field; /* of its fields in slots */
    uint32_t present;     /* rows with a cell in it */
} wanted_family;

typedef struct bad_value {
    const msi_bt_family *family; /* NULL: the row key */
    const msi_bt_field *field;
    msi_bt_fault fault;
    uint32_t row; /* of the page */
    uint32_t bytes;
} bad_value;

struct msi_bt_decoder {
    ms_arena arena;
    const msi_bt_layout *layout;
    uint32_t capacity;
    uint32_t column_count;
    ms_vec *columns;
    ms_batch frame;
    bool has_key;    /* the key is a column of the frame */
    bool checks_key; /* it is not, and must be readable all the same */
    uint32_t key_output;
    ms_vec checked_key; /* where a key goes that is only checked */
    wanted_family *families;
    uint32_t family_count;
    uint32_t field_count;
    msi_bt_slot *slots;     /* capacity for each field */
    msi_bt_slot *key_slots; /* capacity */
    uint64_t *present;      /* a bitmap of capacity for each family */
    uint32_t *family_at;    /* of the page's index: index in families plus 1, or 0 */
    uint32_t family_at_count;
    uint32_t family_at_capacity;
    const ms_bt_page *page; /* of the last call, for reporting */
    bad_value bad;
};

static uint32_t words_of(const msi_bt_decoder *d)
{
    return MS_BITMAP_WORDS(d->capacity);
}

/* Life. */

static void add_output(msi_bt_decoder *d, uint32_t output, uint32_t column)
{
    const ms_type *type = d->layout->schema.columns[column].type;
    ms_vec_alloc(&d->columns[output], type, d->capacity, &d->arena);
    const msi_bt_family *family = msi_bt_layout_family(d->layout, column);
    if (family == NULL) {
        d->has_key = true;
        d->key_output = output;
        return;
    }
    d->families[d->family_count++] =
        (wanted_family){.family = family, .output = output, .first_field = d->field_count};
    d->field_count += family->field_count;
}

msi_bt_decoder *msi_bt_decoder_create(const msi_bt_layout *layout, const uint32_t *columns,
                                      uint32_t column_count, uint32_t capacity)
{
    msi_bt_decoder *d = ms_mem_calloc(1, sizeof(*d));
    ms_arena_init(&d->arena, 0);
    d->layout = layout;
    d->capacity = capacity;
    d->column_count = column_count;
    d->columns = ms_arena_array(&d->arena, ms_vec, column_count);
    d->families = ms_arena_array(&d->arena, wanted_family, column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        add_output(d, i, columns[i]);
    }
    const msi_bt_codec *key = &layout->key;
    d->checks_key = !d->has_key && key->rejects_tail && key->width > 0;
    if (d->checks_key) {
        ms_vec_alloc(&d->checked_key, key->type, capacity, &d->arena);
    }
    d->slots = ms_arena_array(&d->arena, msi_bt_slot, (size_t)capacity * d->field_count);
    d->key_slots = ms_arena_array(&d->arena, msi_bt_slot, capacity);
    d->present = ms_arena_array(&d->arena, uint64_t, (size_t)words_of(d) * d->family_count);
    return d;
}

void msi_bt_decoder_destroy(msi_bt_decoder *decoder)
{
    if (decoder == NULL) {
        return;
    }
    ms_mem_free(decoder->family_at);
    ms_arena_release(&decoder->arena);
    ms_mem_free(decoder);
}

void msi_bt_decoder_restart(msi_bt_decoder *decoder)
{
    decoder->family_at_count = 0;
}

size_t msi_bt_decoder_bytes(const msi_bt_decoder *decoder)
{
    return ms_arena_used_bytes(&decoder->arena) +
           decoder->family_at_capacity * sizeof(*decoder->family_at);
}

/* The walk over cells. */

/* Learns the families that the page has named since. */
static void map_families(msi_bt_decoder *d, const ms_bt_page *page)
{
    if (page->family_count > d->family_at_capacity) {
        d->family_at_capacity = page->family_count;
        d->family_at = ms_mem_realloc(d->family_at, d->family_at_capacity * sizeof(*d->family_at));
    }
    for (; d->family_at_count < page->family_count; d->family_at_count++) {
        uint32_t found = 0;
        for (uint32_t f = 0; f < d->family_count; f++) {
            if (ms_str_equals(d->families[f].family->name, page->families[d->family_at_count])) {
                found = f + 1;
            }
        }
        d->family_at[d->family_at_count] = found;
    }
}

/* The index among the ordered fields of a family; field_count when it has no such qualifier. */
static uint32_t find_field(const msi_bt_family *family, ms_str qualifier, uint32_t hint)
{
    uint32_t count = family->field_count;
    if (hint < count && ms_str_equals(family->fields_in_order[hint]->qualifier, qualifier)) {
        return hint;
    }
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = ms_str_compare(family->fields_in_order[middle]->qualifier, qualifier);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return count;
}

/* Notes the cells of row i of the frame. */
static void note_row(msi_bt_decoder *d, const ms_bt_page *page, const ms_bt_row *row, uint32_t i)
{
    const ms_bt_cell *cell = &page->cells[row->first_cell];
    const ms_bt_cell *end = cell + row->cell_count;
    uint32_t last = UINT32_MAX;
    wanted_family *wanted = NULL;
    uint64_t *present = NULL;
    uint32_t hint = 0;
    for (; cell < end; cell++) {
        if (cell->family != last) {
            last = cell->family;
            hint = 0;
            uint32_t at = d->family_at[last];
            wanted = at == 0 ? NULL : &d->families[at - 1];
            present = at == 0 ? NULL : d->present + (size_t)(at - 1) * words_of(d);
        }
        if (wanted == NULL) {
            continue;
        }
        const msi_bt_family *family = wanted->family;
        uint32_t found = find_field(family, ms_bt_page_qualifier(page, cell), hint);
        if (found == family->field_count) {
            continue;
        }
        hint = found + 1;
        uint32_t field = (uint32_t)(family->fields_in_order[found] - family->fields);
        msi_bt_slot *slot = &d->slots[(size_t)(wanted->first_field + field) * d->capacity + i];
        if (slot->bytes == MSI_BT_ABSENT) {
            *slot = (msi_bt_slot){cell->value_at, cell->value_bytes};
        }
        wanted->present += !ms_bit_get(present, i);
        ms_bit_set(present, i);
    }
}

static void note_rows(msi_bt_decoder *d, const ms_bt_page *page, uint32_t first, uint32_t count)
{
    map_families(d, page);
    for (uint32_t f = 0; f < d->field_count; f++) {
        memset(&d->slots[(size_t)f * d->capacity], 0xFF, count * sizeof(msi_bt_slot));
    }
    for (uint32_t f = 0; f < d->family_count; f++) {
        d->families[f].present = 0;
    }
    memset(d->present, 0, (size_t)words_of(d) * d->family_count * sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++) {
        const ms_bt_row *row = &page->rows[first + i];
        d->key_slots[i] = (msi_bt_slot){row->key_at, row->key_bytes};
        if (d->family_count > 0) {
            note_row(d, page, row, i);
        }
    }
}

/* The columns. */

static uint32_t decode(msi_bt_decoder *d, const msi_bt_codec *codec, const msi_bt_slot *slots,
                       uint32_t count, ms_vec *vec)
{
    vec->valid = NULL;
    return codec->decode(codec, d->page->bytes.ptr, slots, count, vec, &d->bad.fault);
}

static uint32_t decode_key(msi_bt_decoder *d, uint32_t first, uint32_t count)
{
    ms_vec *vec = d->has_key ? &d->columns[d->key_output] : &d->checked_key;
    uint32_t good = decode(d, &d->layout->key, d->key_slots, count, vec);
    if (good < count) {
        d->bad.family = NULL;
        d->bad.row = first + good;
        d->bad.bytes = d->key_slots[good].bytes;
    }
    return good;
}

static uint32_t decode_family(msi_bt_decoder *d, uint32_t f, uint32_t first, uint32_t count)
{
    const wanted_family *wanted = &d->families[f];
    const msi_bt_family *family = wanted->family;
    ms_vec *vec = &d->columns[wanted->output];
    uint32_t good = count;
    for (uint32_t i = 0; i < family->field_count; i++) {
        const msi_bt_slot *slots = &d->slots[(size_t)(wanted->first_field + i) * d->capacity];
        uint32_t before = good;
        good = decode(d, &family->fields[i].codec, slots, good, &vec->children[i]);
        if (good < before) {
            d->bad.family = family;
            d->bad.field = &family->fields[i];
            d->bad.row = first + good;
            d->bad.bytes = slots[good].bytes;
        }
    }
    vec->valid = NULL;
    if (wanted->present < count) {
        memcpy(ms_vec_validity(vec), d->present + (size_t)f * words_of(d),
               MS_BITMAP_WORDS(count) * sizeof(uint64_t));
    }
    return good;
}

/*
 * A later column is decoded only as far as those before it were good. So what is reported is in the
 * lowest row, and of several in that row in the leftmost column, however large batches are.
 */
ms_batch *msi_bt_decoder_rows(msi_bt_decoder *decoder, const ms_bt_page *page, uint32_t first,
                              uint32_t count)
{
    msi_bt_decoder *d = decoder;
    MS_ASSERT(count <= d->capacity && first + count <= page->row_count);
    d->page = page;
    d->bad = (bad_value){0};
    note_rows(d, page, first, count);
    uint32_t good = d->checks_key ? decode_key(d, first, count) : count;
    uint32_t f = 0;
    for (uint32_t c = 0; c < d->column_count; c++) {
        if (d->has_key && c == d->key_output) {
            good = decode_key(d, first, good);
        } else {
            good = decode_family(d, f, first, good);
            f++;
        }
    }
    d->frame = (ms_batch){.rows = good, .column_count = d->column_count, .columns = d->columns};
    return &d->frame;
}

ms_rc msi_bt_decoder_report(const msi_bt_decoder *decoder, ms_status *st)
{
    const bad_value *bad = &decoder->bad;
    const msi_bt_layout *layout = decoder->layout;
    MS_ASSERT(bad->fault != MSI_BT_FAULT_NONE);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    if (bad->family != NULL) {
        ms_str subject =
            ms_arena_format(&arena, "cell \"%.*s:%.*s\"", MS_STR_ARG(bad->family->name),
                            MS_STR_ARG(bad->field->qualifier));
        msi_bt_codec_report(&bad->field->codec, bad->fault, bad->bytes, st, subject.ptr);
    } else {
        ms_str column = layout->schema.columns[layout->key_column].name;
        ms_str subject = ms_arena_format(&arena, "row-key column \"%.*s\"", MS_STR_ARG(column));
        msi_bt_codec_report(&layout->key, bad->fault, bad->bytes, st, subject.ptr);
    }
    ms_arena_release(&arena);
    char destination[MSI_BT_DESTINATION_BYTES];
    char key[512];
    ms_str row_key = ms_bt_page_key(decoder->page, &decoder->page->rows[bad->row]);
    return ms_status_detail(st, "row key \"%s\" of table \"%s\"",
                            ms_bt_bytes_text(row_key, key, sizeof(key)),
                            msi_bt_destination_text(&layout->destination, destination));
}
