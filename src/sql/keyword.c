/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keyword table and its binary search. The words and their classes are data (keyword.def); this
 * file knows none of them.
 */
#include "sql/keyword.h"

#include <string.h>

/* The classes of keyword.def. */
typedef enum keyword_class {
    CLASS_R,
    CLASS_F,
    CLASS_N,
    CLASS_L,
} keyword_class;

typedef struct keyword_row {
    const char *text;
    uint8_t bytes;
    uint8_t class;
} keyword_row;

static const keyword_row keywords[] = {
    {"", 0, CLASS_N},
#define X(word, class) {#word, sizeof(#word) - 1, CLASS_##class},
#include "sql/keyword.def"
#undef X
};

_Static_assert(sizeof(keywords) / sizeof(keywords[0]) == MS_KEYWORD_COUNT, "one row a keyword");

/* Compares a word in any case with a keyword in capitals: <0, 0, >0. */
static int compare_word(ms_str word, const keyword_row *row)
{
    for (size_t i = 0; i < word.bytes && i < row->bytes; i++) {
        unsigned char c = (unsigned char)word.ptr[i];
        if (c >= 'a' && c <= 'z') {
            c = (unsigned char)(c - ('a' - 'A'));
        }
        int order = (int)c - (int)(unsigned char)row->text[i];
        if (order != 0) {
            return order;
        }
    }
    return (word.bytes > row->bytes) - (word.bytes < row->bytes);
}

ms_keyword ms_keyword_find(ms_str word)
{
    size_t low = 1;
    size_t high = MS_KEYWORD_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_word(word, &keywords[middle]);
        if (order == 0) {
            return (ms_keyword)middle;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return MS_KEYWORD_NONE;
}

const char *ms_keyword_text(ms_keyword keyword)
{
    return keywords[keyword].text;
}

bool ms_keyword_is_reserved(ms_keyword keyword)
{
    return keywords[keyword].class == CLASS_R || keywords[keyword].class == CLASS_F;
}

bool ms_keyword_may_name_function(ms_keyword keyword)
{
    return keywords[keyword].class != CLASS_R;
}
