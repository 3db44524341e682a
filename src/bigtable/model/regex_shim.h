/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RE2 for C, cut to what filters need: patterns and texts are bytes (Latin-1), a match is of the
 * whole text, nothing is captured, nothing is logged, and no exception gets out. RE2 takes time
 * proportional to the text, and memory up to a bound that it is given.
 *
 * Private to this folder; model/regex.h is what filters use. Ownership: the creator destroys.
 * Thread: any number of threads may match with one expression.
 */
#ifndef MS_BIGTABLE_MODEL_REGEX_SHIM_H
#define MS_BIGTABLE_MODEL_REGEX_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct msi_re2 msi_re2;

/* NULL when the pattern is none, or its program does not fit the memory: text has why, cut to
 * text_bytes. */
msi_re2 *msi_re2_create(const char *pattern, size_t bytes, int64_t memory_max, char *text,
                        size_t text_bytes);
void msi_re2_destroy(msi_re2 *re2);

/* Instructions of the program: what a byte of text costs at worst. */
int msi_re2_size(const msi_re2 *re2);

/* 1 or 0; -1: out of memory. */
int msi_re2_match(const msi_re2 *re2, const char *text, size_t bytes);

/*
 * Bounds of all texts that match: min_out <= text <= max_out, each cut to bounds_max bytes (max_out
 * rounded up). False when nothing is known.
 */
bool msi_re2_bounds(const msi_re2 *re2, size_t bounds_max, char *min_out, size_t *min_bytes_out,
                    char *max_out, size_t *max_bytes_out);

#ifdef __cplusplus
}
#endif

#endif
