/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting, merging and logic. Conditions are bytes; 64 of them are packed into a word first, so
 * that NULLs and failures are masked by words and a word without hits costs next to nothing. A word
 * with few hits is taken apart bit by bit; one with many is written without branches.
 */
/* tidy: no-unit-test: evaluate_test.c runs every loop */
#include "expr/kernels.h"

/* Above this many hits of 64 the loop without branches is faster than one iteration a hit. */
#define DENSE_HITS 24

/* The low bits of 8 bytes as 8 bits: each lands in the top byte of the product. */
static inline uint64_t pack8(const uint8_t *values)
{
    uint64_t word;
    memcpy(&word, values, sizeof(word));
    return ((word & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline uint64_t pack(const uint8_t *values, uint32_t count)
{
    uint64_t bits = 0;
    if (count == 64) {
        for (uint32_t i = 0; i < 8; i++) {
            bits |= pack8(values + (size_t)i * 8) << (i * 8);
        }
        return bits;
    }
    for (uint32_t i = 0; i < count; i++) {
        bits |= (uint64_t)(values[i] & 1u) << i;
    }
    return bits;
}

static inline uint32_t write_hits(uint16_t *out, uint32_t at, uint64_t word, uint32_t base)
{
    if (__builtin_popcountll(word) > DENSE_HITS) {
        for (uint32_t i = 0; i < 64; i++) {
            out[at] = (uint16_t)(base + i);
            at += (uint32_t)(word >> i & 1u);
        }
        return at;
    }
    while (word != 0) {
        out[at++] = (uint16_t)(base + (uint32_t)__builtin_ctzll(word));
        word &= word - 1;
    }
    return at;
}

/* The hits of rows base .. base + count - 1, as bits. */
static inline uint64_t hits_of(const msi_condition *c, uint32_t base, uint32_t count)
{
    uint64_t valid = c->valid != NULL ? c->valid[base >> 6] : UINT64_MAX;
    if (c->test == MSI_TEST_NULL) {
        return ~valid;
    }
    uint64_t values = pack(c->values + base, count);
    return (c->test == MSI_TEST_TRUE ? values : ~values) & valid;
}

MS_CLONES static void split_dense(const msi_condition *c, uint32_t rows, uint16_t *yes,
                                  uint32_t *yes_count, uint16_t *no, uint32_t *no_count)
{
    uint32_t at_yes = 0;
    uint32_t at_no = 0;
    for (uint32_t base = 0; base < rows; base += 64) {
        uint32_t count = rows - base < 64 ? rows - base : 64;
        uint64_t live = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
        uint64_t hits = hits_of(c, base, count);
        live &= c->failed != NULL ? ~c->failed[base >> 6] : UINT64_MAX;
        if (yes != NULL) {
            at_yes = write_hits(yes, at_yes, hits & live, base);
        }
        if (no != NULL) {
            at_no = write_hits(no, at_no, ~hits & live, base);
        }
    }
    *yes_count = at_yes;
    *no_count = at_no;
}

static inline bool is_hit(const msi_condition *c, uint32_t row)
{
    uint32_t at = c->is_constant ? 0 : row;
    bool valid = c->valid == NULL || ms_bit_get(c->valid, at);
    if (c->test == MSI_TEST_NULL || !valid) {
        return c->test == MSI_TEST_NULL && !valid;
    }
    return (c->values[at] != 0) == (c->test == MSI_TEST_TRUE);
}

static void split_sparse(const msi_condition *c, msi_rows in, uint16_t *yes, uint32_t *yes_count,
                         uint16_t *no, uint32_t *no_count)
{
    uint32_t at_yes = 0;
    uint32_t at_no = 0;
    for (uint32_t k = 0; k < in.count; k++) {
        uint32_t row = in.rows != NULL ? in.rows[k] : k;
        uint32_t live = c->failed == NULL || !ms_bit_get(c->failed, row);
        uint32_t hit = is_hit(c, row);
        if (yes != NULL) {
            yes[at_yes] = (uint16_t)row;
        }
        if (no != NULL) {
            no[at_no] = (uint16_t)row;
        }
        at_yes += live & hit;
        at_no += live & (hit ^ 1u);
    }
    *yes_count = at_yes;
    *no_count = at_no;
}

void msi_split(const msi_condition *condition, msi_rows in, uint16_t *yes, uint32_t *yes_count,
               uint16_t *no, uint32_t *no_count)
{
    if (in.rows == NULL && !condition->is_constant) {
        split_dense(condition, in.count, yes, yes_count, no, no_count);
    } else {
        split_sparse(condition, in, yes, yes_count, no, no_count);
    }
}

/* 16 bytes as two words. */
typedef struct wide {
    uint64_t words[2];
} wide;

#define MERGE(T)                                                                                   \
    for (uint32_t k = 0; k < in.count; k++) {                                                      \
        size_t row = in.rows != NULL ? in.rows[k] : k;                                             \
        memcpy((T *)dst + row, (const T *)src + row * step, sizeof(T));                            \
    }                                                                                              \
    return

void msi_merge_values(void *dst, const void *src, size_t bytes, size_t step, msi_rows in)
{
    if (in.rows == NULL && step == 1) {
        memcpy(dst, src, bytes * in.count);
        return;
    }
    switch (bytes) {
    case 1:
        MERGE(uint8_t);
    case 2:
        MERGE(uint16_t);
    case 4:
        MERGE(uint32_t);
    case 8:
        MERGE(uint64_t);
    case 16:
        MERGE(wide);
    default:
        MS_UNREACHABLE();
    }
}

MS_CLONES void msi_logic_values(uint8_t *restrict out, const uint8_t *restrict a,
                                const uint8_t *restrict b, bool is_or, uint32_t rows)
{
    if (is_or) {
        for (uint32_t i = 0; i < rows; i++) {
            out[i] = a[i] | b[i];
        }
        return;
    }
    for (uint32_t i = 0; i < rows; i++) {
        out[i] = a[i] & b[i];
    }
}

/*
 * Words of 64 rows: known TRUE and known FALSE of both sides, combined, then the values written
 * back.
 */
MS_CLONES void msi_logic_nullable(uint8_t *restrict out, uint64_t *restrict out_valid,
                                  const uint8_t *restrict a, const uint64_t *valid_a,
                                  const uint8_t *restrict b, const uint64_t *valid_b, bool is_or,
                                  uint32_t rows)
{
    for (uint32_t base = 0; base < rows; base += 64) {
        uint32_t count = rows - base < 64 ? rows - base : 64;
        uint64_t known_a = valid_a != NULL ? valid_a[base >> 6] : UINT64_MAX;
        uint64_t known_b = valid_b != NULL ? valid_b[base >> 6] : UINT64_MAX;
        uint64_t bits_a = pack(a + base, count);
        uint64_t bits_b = pack(b + base, count);
        uint64_t both_true = (bits_a & known_a) & (bits_b & known_b);
        uint64_t one_true = (bits_a & known_a) | (bits_b & known_b);
        uint64_t both_false = (~bits_a & known_a) & (~bits_b & known_b);
        uint64_t one_false = (~bits_a & known_a) | (~bits_b & known_b);
        uint64_t is_true = is_or ? one_true : both_true;
        out_valid[base >> 6] = is_true | (is_or ? both_false : one_false);
        for (uint32_t i = 0; i < count; i++) {
            out[base + i] = (uint8_t)(is_true >> i & 1u);
        }
    }
}
