/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source is a named text: a script, a line of the shell, the stored query of a view. It answers
 * two questions: what the lexer reads (the text after ${NAME} was replaced) and where a span lies
 * in what the user wrote (line, column, carets).
 *
 *     ms_source source;
 *     MS_TRY(ms_source_init(&source, ms_str_lit("orders.sql"), text, st));
 *     MS_TRY(ms_source_substitute(&source, variables, count, arena, st));
 *     if (ms_sql_parse_script(&source, arena, &script, st) != MS_OK) {
 *         ms_str place = ms_source_render(&source, st->span, arena);
 *
 * which reads
 *
 *     orders.sql:3:8
 *       SELECT nmae FROM orders
 *              ^^^^
 *
 * Spans are always offsets into the text as written. A piece of text that came out of a variable
 * has the span of its ${NAME}.
 *
 * Ownership: a source borrows its name and text; the replaced text lives in the arena. Thread: any;
 * it is never written once made. Limits: MS_LIMIT_SCRIPT_BYTES before and after replacement.
 */
#ifndef MS_SQL_SOURCE_H
#define MS_SQL_SOURCE_H

#include "base/arena.h"
#include "base/status.h"

/* One value of --define. */
typedef struct ms_variable {
    ms_str name;
    ms_str value;
} ms_variable;

/* A run of expanded text: where it begins there, and what it stands for in the text as written. */
typedef struct ms_source_piece {
    uint32_t expanded_start;
    ms_span original;
    bool is_value; /* every byte of the piece has the whole span */
} ms_source_piece;

/* Read freely, write through the functions. */
typedef struct ms_source {
    ms_str name;                   /* shown before the line: a file name, "-" */
    ms_str text;                   /* as written */
    ms_str expanded;               /* what the lexer reads */
    const ms_source_piece *pieces; /* in order; none when nothing was replaced */
    uint32_t piece_count;
} ms_source;

/* A place for people: line and column count from 1, the column in code points. */
typedef struct ms_source_place {
    uint32_t line;
    uint32_t column;
} ms_source_place;

/* Life. */

/* Wraps a text. Fails when it is longer than the limit or is not UTF-8 (with the place). */
ms_rc ms_source_init(ms_source *source, ms_str name, ms_str text, ms_status *st) MS_MUST_USE;

/*
 * Replaces ${NAME} by its value everywhere but in comments, strings included; values are not
 * searched again. $${ stands for ${. NAME is letters, digits and underscores, no digit first.
 * Fails with MS_UNDEFINED_VARIABLE at a name without value, with MS_SYNTAX_ERROR at ${ without a
 * name and a closing brace.
 */
ms_rc ms_source_substitute(ms_source *source, const ms_variable *variables, size_t variable_count,
                           ms_arena *arena, ms_status *st) MS_MUST_USE;

/* Use. */

/* Translates a span of the expanded text to the text as written. */
ms_span ms_source_original(const ms_source *source, uint32_t expanded_start, uint32_t expanded_end);

/* The place of a byte of the text as written; offsets past the end read as the end. */
ms_source_place ms_source_locate(const ms_source *source, uint32_t offset);

/* The bytes of a span, clamped to the text. */
ms_str ms_source_slice(const ms_source *source, ms_span span);

/*
 * "name:line:column", the line and the carets, each ending in a line feed, the last two indented by
 * two blanks. Only the first line of a longer span is shown; an empty span gets one caret. Lines
 * wider than 100 columns are cut to a window around the span, with "..." at the cut; tabs become
 * blanks; control bytes and bytes that are not UTF-8 become U+FFFD. Empty for the span {0, 0},
 * which means no place.
 */
ms_str ms_source_render(const ms_source *source, ms_span span, ms_arena *arena);

#endif
