/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular expression of a filter: RE2's syntax over bytes, matched against whole texts. Most of
 * those that clients send are a text with its punctuation escaped; these are recognized and
 * compared instead of run.
 *
 * Private to this folder. Ownership: it lives in an arena and ends with it. Thread: any.
 */
#ifndef MS_BIGTABLE_MODEL_REGEX_H
#define MS_BIGTABLE_MODEL_REGEX_H

#include "bigtable/model/range.h"

struct msi_re2;

/* Read is_literal, literal and size freely; the rest is private. */
typedef struct msi_regex {
    bool is_literal;
    ms_str literal;      /* the one text that matches */
    uint32_t size;       /* what a byte of text costs at worst; 0 for a literal */
    struct msi_re2 *re2; /* NULL for a literal */
} msi_regex;

/* The text that the pattern stands for, if it is a text with escapes and no more. */
bool msi_regex_literal(ms_str pattern, ms_arena *arena, ms_str *literal_out);

/* NULL when the pattern is wrong or too large for memory_max: text_out, of text_bytes, says why,
 * in ASCII. */
const msi_regex *msi_regex_make(ms_str pattern, size_t memory_max, ms_arena *arena, char *text_out,
                                size_t text_bytes);

/* 1 or 0; -1: out of memory. */
int msi_regex_match(const msi_regex *regex, ms_str text);

/* A range that holds every text that matches; unbounded when no other is known. Of the literal that
 * is empty, it ends closed at the empty text. */
ms_bt_range msi_regex_range(const msi_regex *regex, ms_arena *arena);

#endif
