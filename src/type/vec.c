/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views, validity bitmaps, and the memory of vectors (layout in type_priv.h). Copying rows from
 * vector to vector is in append.c; flattening, which shares strings and list children instead of
 * copying them, is here.
 */
#include "type/vec.h"

#include "base/memory.h"
#include "type/type_priv.h"

/* The first room made for the elements of a list column; they double from there. */
#define LIST_FIRST_CAPACITY 64u

const ms_type msi_type_count = {.kind = MS_TYPE_INT, .nullable = false, .phys = MS_PHYS_I32};

/* Views. */

static uint64_t view_word(const ms_view *view, size_t index)
{
    uint64_t word;
    memcpy(&word, (const char *)view + index * sizeof(word), sizeof(word));
    return word;
}

bool ms_view_equals(const ms_view *a, const ms_view *b)
{
    /* The first word is length and prefix: most unequal strings differ there. */
    if (view_word(a, 0) != view_word(b, 0)) {
        return false;
    }
    if (view_word(a, 1) == view_word(b, 1)) {
        return true;
    }
    return a->bytes > MS_VIEW_INLINE && memcmp(a->u.ptr, b->u.ptr, a->bytes) == 0;
}

static uint32_t prefix_big_endian(const ms_view *view)
{
    uint32_t prefix;
    memcpy(&prefix, view->prefix, sizeof(prefix));
    return __builtin_bswap32(prefix);
}

int ms_view_compare(const ms_view *a, const ms_view *b)
{
    /* Prefixes are padded with zeros, so a difference between them decides. */
    uint32_t prefix_a = prefix_big_endian(a);
    uint32_t prefix_b = prefix_big_endian(b);
    if (prefix_a != prefix_b) {
        return prefix_a < prefix_b ? -1 : 1;
    }
    uint32_t common = a->bytes < b->bytes ? a->bytes : b->bytes;
    int order = common > 4 ? memcmp(ms_view_ptr(a) + 4, ms_view_ptr(b) + 4, common - 4) : 0;
    return order != 0 ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Bitmaps. */

void ms_bitmap_fill(uint64_t *bits, uint32_t rows)
{
    memset(bits, 0xFF, (size_t)(rows / 64) * sizeof(uint64_t));
    if (rows % 64 != 0) {
        bits[rows / 64] = (UINT64_C(1) << (rows % 64)) - 1;
    }
}

/* The memory of vectors. */

uint32_t msi_vec_child_count(const ms_type *type)
{
    return type->kind == MS_TYPE_MULTISET ? 2 : type->child_count;
}

const ms_type *msi_vec_child_type(const ms_type *type, uint32_t child)
{
    return child < type->child_count ? type->children[child] : &msi_type_count;
}

static void *new_block(size_t bytes, ms_arena *arena)
{
    return arena != NULL ? ms_arena_alloc(arena, bytes, MSI_VEC_ALIGN)
                         : ms_mem_alloc_aligned(bytes, MSI_VEC_ALIGN);
}

static ms_vec *new_children(uint32_t count, ms_arena *arena)
{
    return arena != NULL ? ms_arena_array(arena, ms_vec, count)
                         : ms_mem_calloc(count, sizeof(ms_vec));
}

void msi_vec_init(ms_vec *vec, const ms_type *type, uint32_t capacity, ms_arena *arena)
{
    *vec = (ms_vec){.type = type, .phys = type->phys, .encoding = MS_ENC_FLAT};
    vec->owned = arena == NULL;
    vec->capacity = capacity;
    vec->child_count = msi_vec_child_count(type);
    if (capacity > 0) {
        vec->data = new_block(msi_vec_block_bytes(vec->phys, capacity), arena);
    }
    if (vec->child_count > 0) {
        /* Elements of lists are not as many as rows: their room is made as they come. */
        uint32_t child_capacity = vec->phys == MS_PHYS_ROW ? capacity : 0;
        vec->children = new_children(vec->child_count, arena);
        for (uint32_t c = 0; c < vec->child_count; c++) {
            msi_vec_init(&vec->children[c], msi_vec_child_type(type, c), child_capacity, arena);
        }
    }
}

void msi_vec_release(ms_vec *vec)
{
    for (uint32_t c = 0; c < vec->child_count; c++) {
        msi_vec_release(&vec->children[c]);
    }
    ms_mem_free(vec->children);
    ms_mem_free(vec->data);
    *vec = (ms_vec){0};
}

void msi_vec_reset(ms_vec *vec)
{
    vec->valid = NULL;
    vec->child_rows = 0;
    for (uint32_t c = 0; c < vec->child_count; c++) {
        msi_vec_reset(&vec->children[c]);
    }
}

static uint64_t *bitmap_of(const ms_vec *vec)
{
    return (uint64_t *)((char *)vec->data + msi_vec_data_bytes(vec->phys, vec->capacity));
}

void msi_vec_grow(ms_vec *vec, uint32_t capacity, ms_arena *arena)
{
    if (capacity <= vec->capacity) {
        return;
    }
    MS_ASSERT(vec->owned || arena != NULL);
    uint32_t old_capacity = vec->capacity;
    void *old_data = vec->data;
    uint64_t *old_valid = vec->valid;
    vec->capacity = capacity;
    vec->valid = NULL;
    vec->data = new_block(msi_vec_block_bytes(vec->phys, capacity), vec->owned ? NULL : arena);
    if (old_capacity > 0) {
        memcpy(vec->data, old_data, ms_phys_bytes(vec->phys) * old_capacity);
    }
    if (old_valid != NULL) {
        msi_bits_copy(ms_vec_validity(vec), 0, old_valid, (msi_rows){NULL, 0, old_capacity});
    }
    if (vec->owned) {
        ms_mem_free(old_data);
    }
    for (uint32_t c = 0; c < vec->child_count && vec->phys == MS_PHYS_ROW; c++) {
        msi_vec_grow(&vec->children[c], capacity, arena);
    }
}

size_t msi_vec_held_bytes(const ms_vec *vec)
{
    size_t bytes = vec->capacity > 0 ? msi_vec_block_bytes(vec->phys, vec->capacity) : 0;
    for (uint32_t c = 0; c < vec->child_count; c++) {
        bytes += sizeof(ms_vec) + msi_vec_held_bytes(&vec->children[c]);
    }
    return bytes;
}

void msi_vec_poison(ms_vec *vec)
{
#ifdef MS_DEBUG
    if (vec->capacity > 0) {
        memset(vec->data, 0xDB, msi_vec_block_bytes(vec->phys, vec->capacity));
    }
    for (uint32_t c = 0; c < vec->child_count; c++) {
        msi_vec_poison(&vec->children[c]);
    }
#else
    (void)vec;
#endif
}

void ms_vec_alloc(ms_vec *out, const ms_type *type, uint32_t capacity, ms_arena *arena)
{
    MS_ASSERT(arena != NULL);
    msi_vec_init(out, type, capacity, arena);
}

uint64_t *ms_vec_validity(ms_vec *vec)
{
    MS_ASSERT(vec->encoding == MS_ENC_FLAT && vec->capacity > 0);
    if (vec->valid == NULL) {
        vec->valid = bitmap_of(vec);
        ms_bitmap_fill(vec->valid, vec->capacity);
    }
    return vec->valid;
}

uint32_t ms_vec_list_reserve(ms_vec *vec, uint32_t count, ms_arena *arena)
{
    MS_ASSERT(vec->phys == MS_PHYS_LIST && vec->encoding == MS_ENC_FLAT);
    MS_ASSERT(count <= UINT32_MAX / 2 - vec->child_rows);
    uint32_t first = vec->child_rows;
    uint32_t needed = first + count;
    for (uint32_t c = 0; c < vec->child_count; c++) {
        ms_vec *child = &vec->children[c];
        if (needed > child->capacity) {
            uint32_t doubled = child->capacity < LIST_FIRST_CAPACITY / 2 ? LIST_FIRST_CAPACITY
                                                                         : child->capacity * 2;
            msi_vec_grow(child, needed > doubled ? needed : doubled, arena);
        }
    }
    vec->child_rows = needed;
    return first;
}

void msi_vec_set_nulls(ms_vec *vec, uint32_t at, uint32_t count)
{
    if (count == 0) {
        return;
    }
    uint64_t *valid = ms_vec_validity(vec);
    for (uint32_t i = 0; i < count; i++) {
        ms_bit_clear(valid, at + i);
    }
    size_t width = ms_phys_bytes(vec->phys);
    memset((char *)vec->data + at * width, 0, count * width);
    for (uint32_t c = 0; c < vec->child_count && vec->phys == MS_PHYS_ROW; c++) {
        msi_vec_set_nulls(&vec->children[c], at, count);
    }
}

/* The end of the elements that the first rows of a list vector use. */
static uint32_t elements_end(const ms_vec *vec, uint32_t rows)
{
    uint32_t end = 0;
    const ms_list *lists = vec->data;
    for (uint32_t i = 0; i < rows; i++) {
        bool is_null = vec->valid != NULL && !ms_bit_get(vec->valid, i);
        if (!is_null && lists[i].length > 0 && lists[i].offset + lists[i].length > end) {
            end = lists[i].offset + lists[i].length;
        }
    }
    return end;
}

void msi_vec_truncate(ms_vec *vec, uint32_t rows)
{
    if (vec->valid != NULL) {
        msi_bits_set(vec->valid, rows, vec->capacity - rows);
    }
    uint32_t child_rows = rows;
    if (vec->phys == MS_PHYS_LIST) {
        child_rows = elements_end(vec, rows);
        vec->child_rows = child_rows;
    }
    for (uint32_t c = 0; c < vec->child_count; c++) {
        msi_vec_truncate(&vec->children[c], child_rows);
    }
}

/* Flattening. */

/* The positions in data of the rows: sel applied, then the encoding. */
static uint32_t *flat_positions(const ms_vec *vec, const uint16_t *sel, uint32_t rows,
                                ms_arena *arena)
{
    uint32_t *pos = ms_arena_alloc(arena, rows * sizeof(uint32_t), sizeof(uint32_t));
    for (uint32_t k = 0; k < rows; k++) {
        pos[k] = ms_vec_pos(vec, sel != NULL ? sel[k] : k);
    }
    return pos;
}

/* The children of a ROW are at the positions of its own values, so these select in them. */
static void flatten_fields(ms_vec *out, const ms_vec *vec, const uint32_t *pos, uint32_t rows,
                           ms_arena *arena)
{
    uint16_t *sel = ms_arena_alloc(arena, rows * sizeof(uint16_t), sizeof(uint16_t));
    for (uint32_t k = 0; k < rows; k++) {
        MS_ASSERT_SLOW(pos[k] <= UINT16_MAX);
        sel[k] = (uint16_t)pos[k];
    }
    out->children = ms_arena_array(arena, ms_vec, vec->child_count);
    for (uint32_t c = 0; c < vec->child_count; c++) {
        ms_vec_flatten(&out->children[c], &vec->children[c], sel, rows, arena);
    }
}

void ms_vec_flatten(ms_vec *out, const ms_vec *vec, const uint16_t *sel, uint32_t rows,
                    ms_arena *arena)
{
    if (vec->encoding == MS_ENC_FLAT && sel == NULL) {
        *out = *vec;
        return;
    }
    ms_vec flat = *vec;
    flat.encoding = MS_ENC_FLAT;
    flat.owned = false;
    flat.index = NULL;
    flat.capacity = 0;
    flat.data = NULL;
    flat.valid = NULL;
    uint32_t *pos = flat_positions(vec, sel, rows, arena);
    msi_rows from = {pos, 0, rows};
    size_t width = ms_phys_bytes(vec->phys);
    if (width > 0) {
        flat.data = ms_arena_alloc(arena, width * rows, MSI_VEC_ALIGN);
        msi_copy_values(flat.data, vec->data, width, from);
    }
    if (vec->valid != NULL && !msi_bits_are_set(vec->valid, from)) {
        flat.valid =
            ms_arena_alloc(arena, MS_BITMAP_WORDS(rows) * sizeof(uint64_t), sizeof(uint64_t));
        ms_bitmap_fill(flat.valid, rows);
        msi_bits_copy(flat.valid, 0, vec->valid, from);
    }
    if (vec->phys == MS_PHYS_ROW) {
        flatten_fields(&flat, vec, pos, rows, arena);
    }
    *out = flat;
}
