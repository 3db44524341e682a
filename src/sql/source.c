/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text, replacement of ${NAME}, and the way back from bytes to lines and carets. No line table is
 * kept: a place is asked for once or twice in the life of a script, and counting line feeds in
 * 16 MiB takes two milliseconds.
 */
#include "sql/source.h"

#include "base/limits.h"
#include "base/str.h"

#include <inttypes.h>

#define TAB_COLUMNS 4
#define WINDOW_COLUMNS 100 /* of a source line, "..." included: fits a terminal beside the indent */
#define WINDOW_LEAD 32     /* columns kept left of the span in a window */
#define CUT_COLUMNS 3      /* of "..." */
#define MARK_BYTES 1024    /* combining marks are shown while the line is shorter than this */
#define RENDER_BYTES 2048  /* marks, 4 bytes a column, blanks and carets */

#define REPLACEMENT 0xFFFDu

/* UTF-8. */

/*
 * Decodes the code point at ptr; sets the bytes it takes. A byte that starts no well-formed
 * sequence is one unit and reads as U+FFFD with valid false.
 */
static uint32_t decode_utf8(const unsigned char *ptr, size_t bytes, size_t *taken_out,
                            bool *valid_out)
{
    static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = ptr[0];
    *taken_out = 1;
    *valid_out = true;
    if (lead < 0x80) {
        return lead;
    }
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead >= 0xC0 && lead < 0xF8 && length <= bytes) {
        uint32_t point = lead & (0x7Fu >> length);
        size_t i = 1;
        for (; i < length && (ptr[i] & 0xC0) == 0x80; i++) {
            point = point << 6 | (ptr[i] & 0x3Fu);
        }
        bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
        if (i == length && point >= lowest[length] && point <= 0x10FFFF && !is_surrogate) {
            *taken_out = length;
            return point;
        }
    }
    *valid_out = false;
    return REPLACEMENT;
}

static ms_rc check_utf8(ms_str text, ms_status *st)
{
    if (ms_str_is_utf8(text)) {
        return MS_OK;
    }
    size_t at = 0;
    while (at < text.bytes) {
        size_t taken = 0;
        bool valid = false;
        (void)decode_utf8((const unsigned char *)text.ptr + at, text.bytes - at, &taken, &valid);
        if (!valid) {
            break;
        }
        at += taken;
    }
    ms_span span = {(uint32_t)at, (uint32_t)at + 1};
    ms_status_set(st, MS_SYNTAX_ERROR, span, "byte 0x%02x is not valid UTF-8",
                  at < text.bytes ? (unsigned)(unsigned char)text.ptr[at] : 0u);
    return ms_status_hint(st, "Scripts are UTF-8; convert the file.");
}

/* Life. */

ms_rc ms_source_init(ms_source *source, ms_str name, ms_str text, ms_status *st)
{
    *source = (ms_source){.name = name, .text = text, .expanded = text};
    if (text.bytes > MS_LIMIT_SCRIPT_BYTES) {
        return ms_status_set(st, MS_STATEMENT_TOO_LARGE, ms_span_none,
                             "the text has %zu bytes, more than the limit of %u", text.bytes,
                             MS_LIMIT_SCRIPT_BYTES);
    }
    return check_utf8(text, st);
}

/* Where the replacement stands in the text: what the lexer would make of the bytes so far. */
typedef enum scan_state {
    SCAN_PLAIN,
    SCAN_STRING,
    SCAN_NAME,
    SCAN_LINE_COMMENT,
    SCAN_BLOCK_START, /* after the slash and star: a plus makes it a hint, which is plain text */
    SCAN_BLOCK_COMMENT,
} scan_state;

typedef struct scan {
    scan_state state;
    char last; /* the byte before, when it may be half of a two-byte mark, else 0 */
} scan;

static void scan_plain(scan *at, char c)
{
    char last = at->last;
    at->last = 0;
    if ((last == '-' && c == '-') || (last == '/' && c == '/')) {
        at->state = SCAN_LINE_COMMENT;
    } else if (last == '/' && c == '*') {
        at->state = SCAN_BLOCK_START;
    } else if (c == '\'') {
        at->state = SCAN_STRING;
    } else if (c == '`') {
        at->state = SCAN_NAME;
    } else {
        at->last = c;
    }
}

static void scan_byte(scan *at, char c)
{
    char last = at->last;
    switch (at->state) {
    case SCAN_PLAIN:
        scan_plain(at, c);
        break;
    case SCAN_STRING:
    case SCAN_NAME:
        if (c == (at->state == SCAN_STRING ? '\'' : '`')) {
            at->state = SCAN_PLAIN;
        }
        break;
    case SCAN_LINE_COMMENT:
        if (c == '\n' || c == '\r') {
            at->state = SCAN_PLAIN;
        }
        break;
    case SCAN_BLOCK_START:
        at->state = c == '+' ? SCAN_PLAIN : SCAN_BLOCK_COMMENT;
        at->last = c == '+' ? (char)0 : c;
        break;
    case SCAN_BLOCK_COMMENT:
        at->state = last == '*' && c == '/' ? SCAN_PLAIN : SCAN_BLOCK_COMMENT;
        at->last = at->state == SCAN_PLAIN ? (char)0 : c;
        break;
    }
}

static void scan_text(scan *at, ms_str text)
{
    for (size_t i = 0; i < text.bytes; i++) {
        scan_byte(at, text.ptr[i]);
    }
}

static bool scan_in_comment(const scan *at)
{
    return at->state == SCAN_LINE_COMMENT || at->state == SCAN_BLOCK_START ||
           at->state == SCAN_BLOCK_COMMENT;
}

/* The work of one replacement. */
typedef struct expansion {
    ms_source *source;
    const ms_variable *variables;
    size_t variable_count;
    ms_arena *arena;
    ms_status *st;
    scan scan;
    ms_buf expanded;
    ms_source_piece *pieces;
    uint32_t piece_count;
    uint32_t piece_capacity;
    uint32_t use_count;
} expansion;

static void add_piece(expansion *ex, ms_span original, bool is_value)
{
    if (ex->piece_count == ex->piece_capacity) {
        uint32_t capacity = ex->piece_capacity == 0 ? 16 : ex->piece_capacity * 2;
        ms_source_piece *pieces = ms_arena_array(ex->arena, ms_source_piece, capacity);
        if (ex->piece_count > 0) {
            memcpy(pieces, ex->pieces, ex->piece_count * sizeof(*pieces));
        }
        ex->pieces = pieces;
        ex->piece_capacity = capacity;
    }
    ex->pieces[ex->piece_count++] = (ms_source_piece){
        .expanded_start = (uint32_t)ex->expanded.bytes,
        .original = original,
        .is_value = is_value,
    };
}

static ms_rc append_expanded(expansion *ex, ms_str text, ms_span span)
{
    if (text.bytes > MS_LIMIT_SCRIPT_BYTES - ex->expanded.bytes) {
        return ms_status_set(ex->st, MS_STATEMENT_TOO_LARGE, span,
                             "the text exceeds the limit of %u bytes after replacement",
                             MS_LIMIT_SCRIPT_BYTES);
    }
    scan_text(&ex->scan, text);
    return ms_buf_append(&ex->expanded, text, ex->st);
}

static bool is_name_byte(char c, bool is_first)
{
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return is_letter || (!is_first && c >= '0' && c <= '9');
}

/* Finds the name of the ${NAME} at start. */
static ms_rc read_variable_name(const expansion *ex, size_t start, ms_str *name_out)
{
    ms_str text = ex->source->text;
    size_t end = start + 2;
    while (end < text.bytes && is_name_byte(text.ptr[end], end == start + 2)) {
        end++;
    }
    *name_out = ms_str_slice(text, start + 2, end);
    if (name_out->bytes > 0 && end < text.bytes && text.ptr[end] == '}') {
        return MS_OK;
    }
    ms_span span = {(uint32_t)start, (uint32_t)end};
    ms_status_set(ex->st, MS_SYNTAX_ERROR, span, "\"${\" is not followed by a name and \"}\"");
    return ms_status_hint(ex->st, "Write ${NAME} for a variable, $${ for the characters ${.");
}

static ms_rc find_variable(const expansion *ex, ms_str name, ms_span span, ms_str *value_out)
{
    for (size_t i = 0; i < ex->variable_count; i++) {
        if (ms_str_equals(ex->variables[i].name, name)) {
            *value_out = ex->variables[i].value;
            return MS_OK;
        }
    }
    ms_status_set(ex->st, MS_UNDEFINED_VARIABLE, span, "variable \"%.*s\" has no value",
                  MS_STR_ARG(name));
    return ms_status_hint(ex->st, "Give it one with --define %.*s=VALUE.", MS_STR_ARG(name));
}

/* Replaces the ${NAME} at start; end_out is behind it. */
static ms_rc expand_variable(expansion *ex, size_t start, size_t *end_out)
{
    ms_str name = {NULL, 0};
    ms_str value = {NULL, 0};
    MS_TRY(read_variable_name(ex, start, &name));
    *end_out = start + name.bytes + 3;
    ms_span span = {(uint32_t)start, (uint32_t)*end_out};
    MS_TRY(find_variable(ex, name, span, &value));
    if (!ms_str_is_utf8(value)) {
        return ms_status_set(ex->st, MS_SYNTAX_ERROR, span,
                             "the value of variable \"%.*s\" is not valid UTF-8", MS_STR_ARG(name));
    }
    if (++ex->use_count > MS_LIMIT_LIST_ITEMS) {
        return ms_status_set(ex->st, MS_STATEMENT_TOO_LARGE, span,
                             "a script may use at most %u variables", MS_LIMIT_LIST_ITEMS);
    }
    add_piece(ex, span, true);
    MS_TRY(append_expanded(ex, value, span));
    uint32_t text_bytes = (uint32_t)ex->source->text.bytes;
    add_piece(ex, (ms_span){(uint32_t)*end_out, text_bytes}, false);
    return MS_OK;
}

/* Copies the text, one stretch without "$" at a time. */
static ms_rc expand_text(expansion *ex)
{
    ms_str text = ex->source->text;
    ms_span whole = {0, (uint32_t)text.bytes};
    add_piece(ex, whole, false);
    size_t at = 0;
    while (at < text.bytes) {
        size_t dollar = ms_str_find_byte(text, '$', at);
        size_t stop = dollar == SIZE_MAX ? text.bytes : dollar;
        MS_TRY(append_expanded(ex, ms_str_slice(text, at, stop), whole));
        at = stop;
        ms_str rest = ms_str_slice(text, at, text.bytes);
        if (ms_str_starts_with(rest, ms_str_lit("${")) && !scan_in_comment(&ex->scan)) {
            MS_TRY(expand_variable(ex, at, &at));
        } else if (ms_str_starts_with(rest, ms_str_lit("$${")) && !scan_in_comment(&ex->scan)) {
            add_piece(ex, (ms_span){(uint32_t)at + 1, whole.end}, false);
            MS_TRY(append_expanded(ex, ms_str_lit("${"), whole));
            at += 3;
        } else if (at < text.bytes) {
            MS_TRY(append_expanded(ex, ms_str_slice(text, at, at + 1), whole));
            at++;
        }
    }
    return MS_OK;
}

ms_rc ms_source_substitute(ms_source *source, const ms_variable *variables, size_t variable_count,
                           ms_arena *arena, ms_status *st)
{
    bool has_mark = false;
    for (size_t at = 0; (at = ms_str_find_byte(source->text, '$', at)) != SIZE_MAX; at++) {
        has_mark = has_mark || (at + 1 < source->text.bytes && source->text.ptr[at + 1] == '{');
    }
    if (!has_mark) {
        return MS_OK;
    }
    expansion ex = {
        .source = source,
        .variables = variables,
        .variable_count = variable_count,
        .arena = arena,
        .st = st,
    };
    ms_buf_init(&ex.expanded, MS_LIMIT_SCRIPT_BYTES);
    ms_rc rc = expand_text(&ex);
    if (rc == MS_OK) {
        source->expanded = ms_arena_copy_str(arena, ms_buf_view(&ex.expanded));
        source->pieces = ex.pieces;
        source->piece_count = ex.piece_count;
    }
    ms_buf_release(&ex.expanded);
    return rc;
}

/* Use. */

/* The last piece that starts at or before the offset. */
static const ms_source_piece *find_piece(const ms_source *source, uint32_t offset)
{
    uint32_t low = 0;
    uint32_t high = source->piece_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->pieces[middle].expanded_start <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &source->pieces[low];
}

ms_span ms_source_original(const ms_source *source, uint32_t expanded_start, uint32_t expanded_end)
{
    if (source->piece_count == 0) {
        return (ms_span){expanded_start, expanded_end};
    }
    ms_span span = {(uint32_t)source->text.bytes, (uint32_t)source->text.bytes};
    if (expanded_start < source->expanded.bytes) {
        const ms_source_piece *piece = find_piece(source, expanded_start);
        uint32_t into = piece->is_value ? 0 : expanded_start - piece->expanded_start;
        span.start = piece->original.start + into;
        span.end = span.start;
    }
    if (expanded_end > expanded_start) {
        const ms_source_piece *piece = find_piece(source, expanded_end - 1);
        span.end = piece->is_value ? piece->original.end
                                   : piece->original.start + (expanded_end - piece->expanded_start);
    }
    return span;
}

/* The first byte of the line that an offset lies in. */
static size_t find_line_start(ms_str text, size_t offset)
{
    while (offset > 0 && text.ptr[offset - 1] != '\n') {
        offset--;
    }
    return offset;
}

static bool starts_with_bom(ms_str text)
{
    return ms_str_starts_with(text, ms_str_lit("\xEF\xBB\xBF"));
}

ms_source_place ms_source_locate(const ms_source *source, uint32_t offset)
{
    ms_str text = source->text;
    size_t end = offset < text.bytes ? offset : text.bytes;
    ms_source_place place = {1, 1};
    for (size_t at = 0; (at = ms_str_find_byte(text, '\n', at)) < end; at++) {
        place.line++;
    }
    size_t at = find_line_start(text, end);
    if (at == 0 && starts_with_bom(text)) {
        at = 3;
    }
    while (at < end) {
        size_t taken = 0;
        bool valid = false;
        (void)decode_utf8((const unsigned char *)text.ptr + at, text.bytes - at, &taken, &valid);
        at += taken;
        place.column++;
    }
    return place;
}

ms_str ms_source_slice(const ms_source *source, ms_span span)
{
    return ms_str_slice(source->text, span.start, span.end);
}

/* Rendering. Columns here are those of a terminal with a fixed pitch, from 0. */

typedef struct code_range {
    uint32_t first;
    uint32_t last;
} code_range;

/* Unicode Standard Annex 11: the large blocks that are Wide or Fullwidth. */
static const code_range wide_ranges[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

/* Combining marks, joiners and variation selectors, which take no column. */
static const code_range zero_ranges[] = {
    {0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
};

static bool is_in_ranges(uint32_t point, const code_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (point >= ranges[i].first && point <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* One character as it is shown. */
typedef struct glyph {
    ms_str text; /* empty for a tab, which is blanks only */
    size_t taken;
    uint32_t columns;
} glyph;

static glyph read_glyph(ms_str line, size_t at, uint32_t column)
{
    glyph shown = {.columns = 1};
    bool valid = false;
    uint32_t point =
        decode_utf8((const unsigned char *)line.ptr + at, line.bytes - at, &shown.taken, &valid);
    shown.text = ms_str_slice(line, at, at + shown.taken);
    if (point == '\t') {
        shown.text = ms_str_lit("");
        shown.columns = TAB_COLUMNS - column % TAB_COLUMNS;
    } else if (!valid || point < 0x20 || (point >= 0x7F && point < 0xA0)) {
        shown.text = ms_str_lit("\xEF\xBF\xBD");
    } else if (is_in_ranges(point, zero_ranges, sizeof(zero_ranges) / sizeof(zero_ranges[0]))) {
        shown.columns = 0;
    } else if (is_in_ranges(point, wide_ranges, sizeof(wide_ranges) / sizeof(wide_ranges[0]))) {
        shown.columns = 2;
    }
    return shown;
}

/* The columns that the first bytes of a line take. */
static uint32_t measure(ms_str line, size_t bytes)
{
    uint32_t column = 0;
    for (size_t at = 0; at < bytes && at < line.bytes;) {
        glyph shown = read_glyph(line, at, column);
        column += shown.columns;
        at += shown.taken;
    }
    return column;
}

/* A text of at most RENDER_BYTES: a window of one line. */
typedef struct line_writer {
    char *ptr;
    size_t bytes;
} line_writer;

static void put(line_writer *out, ms_str text)
{
    if (text.bytes > 0) {
        memcpy(out->ptr + out->bytes, text.ptr, text.bytes);
        out->bytes += text.bytes;
    }
}

static void put_repeated(line_writer *out, char c, uint32_t count)
{
    memset(out->ptr + out->bytes, c, count);
    out->bytes += count;
}

/* The columns [from, to) of a line that are shown, the cuts included. */
typedef struct window {
    uint32_t from;
    uint32_t to;
    bool cut_left;
    bool cut_right;
} window;

static window choose_window(uint32_t width, uint32_t start)
{
    if (width <= WINDOW_COLUMNS) {
        return (window){.from = 0, .to = width};
    }
    uint32_t from = start > WINDOW_LEAD ? start - WINDOW_LEAD : 0;
    from = from > width - WINDOW_COLUMNS ? width - WINDOW_COLUMNS : from;
    uint32_t to = from + WINDOW_COLUMNS;
    return (window){.from = from, .to = to, .cut_left = from > 0, .cut_right = to < width};
}

/* Writes the characters of columns [from, to); half a wide character becomes a blank. */
static void put_columns(line_writer *out, ms_str line, uint32_t from, uint32_t to)
{
    uint32_t column = 0;
    for (size_t at = 0; at < line.bytes && column < to;) {
        glyph shown = read_glyph(line, at, column);
        uint32_t end = column + shown.columns;
        uint32_t visible_from = column > from ? column : from;
        uint32_t visible_to = end < to ? end : to;
        bool is_dropped = shown.columns == 0 && out->bytes >= MARK_BYTES;
        if (shown.text.bytes > 0 && column >= from && end <= to && !is_dropped) {
            put(out, shown.text);
        } else if (visible_to > visible_from) {
            put_repeated(out, ' ', visible_to - visible_from);
        }
        column = end;
        at += shown.taken;
    }
}

static ms_str render_line(ms_str line, size_t start, size_t end, ms_arena *arena)
{
    uint32_t start_column = measure(line, start);
    uint32_t end_column = measure(line, end);
    window shown = choose_window(measure(line, line.bytes), start_column);
    uint32_t from = shown.from + (shown.cut_left ? CUT_COLUMNS : 0);
    uint32_t to = shown.to - (shown.cut_right ? CUT_COLUMNS : 0);
    line_writer out = {.ptr = ms_arena_alloc(arena, RENDER_BYTES, 1)};
    put(&out, ms_str_lit("  "));
    put(&out, shown.cut_left ? ms_str_lit("...") : ms_str_lit(""));
    put_columns(&out, line, from, to);
    put(&out, shown.cut_right ? ms_str_lit("...\n") : ms_str_lit("\n"));
    uint32_t caret_end = end_column > to ? to : end_column;
    uint32_t carets = caret_end > start_column ? caret_end - start_column : 1;
    put_repeated(&out, ' ', 2 + start_column - shown.from);
    put_repeated(&out, '^', carets);
    put(&out, ms_str_lit("\n"));
    return (ms_str){out.ptr, out.bytes};
}

ms_str ms_source_render(const ms_source *source, ms_span span, ms_arena *arena)
{
    if (span.start == 0 && span.end == 0) {
        return ms_str_lit("");
    }
    ms_str text = source->text;
    size_t start = span.start < text.bytes ? span.start : text.bytes;
    size_t end = span.end > start ? span.end : start;
    size_t line_start = find_line_start(text, start);
    size_t line_end = ms_str_find_byte(text, '\n', start);
    line_end = line_end == SIZE_MAX ? text.bytes : line_end;
    if (line_start == 0 && starts_with_bom(text)) {
        line_start = 3;
        start = start < 3 ? 3 : start;
    }
    ms_str line = ms_str_slice(text, line_start, line_end);
    if (ms_str_ends_with(line, ms_str_lit("\r"))) {
        line.bytes--;
    }
    end = end > line_start + line.bytes ? line_start + line.bytes : end;
    ms_source_place place = ms_source_locate(source, (uint32_t)start);
    ms_str shown = render_line(line, start - line_start, end > start ? end - line_start : 0, arena);
    return ms_arena_format(arena, "%.*s:%" PRIu32 ":%" PRIu32 "\n%.*s", MS_STR_ARG(source->name),
                           place.line, place.column, MS_STR_ARG(shown));
}
