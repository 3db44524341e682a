/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keywords of Flink's dialect. A word of the text is looked up once, by the lexer; the parser
 * then compares numbers. Keywords are not case-sensitive. The enumerators MS_KW_<WORD> are in
 * the order of their texts; those with MS_KEYWORD_ are no words.
 *
 * Thread: any.
 */
#ifndef MS_SQL_KEYWORD_H
#define MS_SQL_KEYWORD_H

#include "millstream/base.h"

typedef enum ms_keyword {
    MS_KEYWORD_NONE, /* not a keyword */
#define X(word, class) MS_KW_##word,
#include "sql/keyword.def"
#undef X
    MS_KEYWORD_COUNT
} ms_keyword;

/* The keyword that a word is, in any case, or MS_KEYWORD_NONE. */
ms_keyword ms_keyword_find(ms_str word);

/* "SELECT"; "" for MS_KEYWORD_NONE. Static. */
const char *ms_keyword_text(ms_keyword keyword);

/* True when the word is a name only in back-ticks. */
bool ms_keyword_is_reserved(ms_keyword keyword);

/* True when the word may name a function without back-ticks: SUM( though SUM is reserved. */
bool ms_keyword_may_name_function(ms_keyword keyword);

#endif
