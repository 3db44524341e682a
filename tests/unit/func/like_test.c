/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "func/like.h"
#include "func/utf8.h"

static const ms_str no_escape = {NULL, 0};

static bool matches(const char *text, const char *pattern)
{
    ms_arena arena;
    ms_like like;
    size_t at = 0;
    ms_arena_init(&arena, 0);
    assert_int_equal(ms_like_compile(&arena, ms_str_cstr(pattern), no_escape, &like, &at),
                     MS_LIKE_OK);
    bool found = ms_like_matches(&like, ms_str_cstr(text), NULL, NULL);
    ms_arena_release(&arena);
    return found;
}

static void patterns_match_whole_texts(void **state)
{
    (void)state;
    assert_true(matches("", ""));
    assert_false(matches("a", ""));
    assert_true(matches("", "%"));
    assert_true(matches("", "%%"));
    assert_true(matches("abc", "abc"));
    assert_false(matches("abcd", "abc"));
    assert_true(matches("abcd", "abc%"));
    assert_true(matches("xabc", "%abc"));
    assert_false(matches("xabcx", "%abc"));
    assert_true(matches("xxabcxx", "%abc%"));
    assert_true(matches("abab", "%ab"));
    assert_true(matches("aXbXc", "a%b%c"));
    assert_false(matches("aXc", "a%b%c"));
    assert_true(matches("abc", "a_c"));
    assert_false(matches("ac", "a_c"));
    assert_true(matches("abc", "___"));
    assert_false(matches("abc", "____"));
    assert_true(matches("aab", "%a_"));
    assert_true(matches("a\\b", "a\\b"));
}

static void one_character_is_one_code_point_and_no_line_end(void **state)
{
    (void)state;
    assert_true(matches("\xC3\xA9", "_"));
    assert_true(matches("x\xF0\x9F\x98\x80y", "x_y"));
    assert_false(matches("a\nb", "a_b"));
    assert_false(matches("a\xE2\x80\xA8"
                         "b",
                         "a_b"));
    assert_false(matches("a\xC2\x85"
                         "b",
                         "a_b"));
    assert_true(matches("a\nb", "a%b"));
    assert_false(matches("\xC2\x85", "%_"));
    assert_false(matches("\xC3\xA9\xC3\xA9", "%___"));
    assert_true(matches("\xC3\xA9\xC3\xA9", "%__"));
}

static void recognized_shapes_are_the_fast_ones(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        ms_like_kind kind;
    } cases[] = {
        {"abc", MS_LIKE_EQUALS},     {"abc%", MS_LIKE_PREFIX}, {"%abc", MS_LIKE_SUFFIX},
        {"%abc%", MS_LIKE_CONTAINS}, {"%", MS_LIKE_CONTAINS},  {"", MS_LIKE_EQUALS},
        {"a%b", MS_LIKE_GENERAL},    {"a_", MS_LIKE_GENERAL},  {"%%abc%%", MS_LIKE_CONTAINS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_arena arena;
        ms_like like;
        size_t at = 0;
        ms_arena_init(&arena, 0);
        ms_like_compile(&arena, ms_str_cstr(cases[i].pattern), no_escape, &like, &at);
        assert_int_equal(like.kind, cases[i].kind);
        ms_arena_release(&arena);
    }
}

static void escapes_make_marks_literal(void **state)
{
    (void)state;
    ms_arena arena;
    ms_like like;
    size_t at = 0;
    ms_str mark = ms_str_lit("!");
    ms_arena_init(&arena, 0);
    assert_int_equal(ms_like_compile(&arena, ms_str_lit("10!%!!!_"), mark, &like, &at), MS_LIKE_OK);
    assert_int_equal(like.kind, MS_LIKE_EQUALS);
    assert_true(ms_like_matches(&like, ms_str_lit("10%!_"), NULL, NULL));
    assert_int_equal(ms_like_compile(&arena, ms_str_lit("a!b"), mark, &like, &at),
                     MS_LIKE_BAD_SEQUENCE);
    assert_int_equal(at, 1);
    assert_int_equal(ms_like_compile(&arena, ms_str_lit("ab!"), mark, &like, &at),
                     MS_LIKE_BAD_SEQUENCE);
    assert_int_equal(ms_like_compile(&arena, ms_str_lit("a"), ms_str_lit("!!"), &like, &at),
                     MS_LIKE_BAD_ESCAPE);
    assert_int_equal(ms_like_compile(&arena, ms_str_lit("a"), ms_str_lit(""), &like, &at),
                     MS_LIKE_BAD_ESCAPE);
    assert_int_equal(
        ms_like_compile(&arena, ms_str_lit("\xC3\xA9%"), ms_str_lit("\xC3\xA9"), &like, &at),
        MS_LIKE_OK);
    assert_true(ms_like_matches(&like, ms_str_lit("%"), NULL, NULL));
    ms_arena_release(&arena);
}

/* What a pattern begins with: a mark, or a byte that stands for itself. */
typedef struct piece {
    bool is_mark;
    bool is_bad; /* an escape in front of nothing that it may escape */
    char byte;
    size_t bytes; /* of the pattern */
} piece;

static piece piece_at(ms_str pattern, size_t p, ms_str escape)
{
    ms_str rest = ms_str_slice(pattern, p, pattern.bytes);
    char byte = rest.ptr[0];
    if (escape.bytes == 0 || !ms_str_starts_with(rest, escape)) {
        return (piece){.is_mark = byte == '%' || byte == '_', .byte = byte, .bytes = 1};
    }
    ms_str next = ms_str_slice(rest, escape.bytes, rest.bytes);
    if (ms_str_starts_with(next, escape)) {
        /* Of an escape of two bytes the first is escaped here, the second stands for itself. */
        return (piece){.byte = next.ptr[0], .bytes = escape.bytes + 1};
    }
    bool is_bad = next.bytes == 0 || (next.ptr[0] != '%' && next.ptr[0] != '_');
    return (piece){
        .is_bad = is_bad, .byte = is_bad ? '\0' : next.ptr[0], .bytes = escape.bytes + 1};
}

static bool is_mark_at(ms_str pattern, size_t p, ms_str escape, char mark)
{
    piece at = p < pattern.bytes ? piece_at(pattern, p, escape) : (piece){0};
    return at.is_mark && at.byte == mark;
}

/* Tries everything. */
static bool reference(ms_str pattern, size_t p, ms_str text, size_t t, ms_str escape)
{
    if (p == pattern.bytes) {
        return t == text.bytes;
    }
    piece first = piece_at(pattern, p, escape);
    if (first.is_mark && first.byte == '%') {
        while (is_mark_at(pattern, p + 1, escape, '%')) {
            p++;
        }
        bool takes_character = is_mark_at(pattern, p + 1, escape, '_');
        for (size_t at = t;; at++) {
            bool is_within = at > t && at < text.bytes && ms_utf8_is_continuation(text.ptr[at]);
            if (!(takes_character && is_within) && reference(pattern, p + 1, text, at, escape)) {
                return true;
            }
            if (at >= text.bytes) {
                return false;
            }
        }
    }
    if (t >= text.bytes) {
        return false;
    }
    if (first.is_mark) {
        size_t next = ms_utf8_next(text, t);
        ms_str character = ms_str_make(text.ptr + t, next - t);
        bool is_line_end = ms_str_equals(character, ms_str_lit("\n")) ||
                           ms_str_equals(character, ms_str_lit("\xC2\x85"));
        return !is_line_end && reference(pattern, p + 1, text, next, escape);
    }
    return first.byte == text.ptr[t] && reference(pattern, p + first.bytes, text, t + 1, escape);
}

/* Where the first escape is that escapes nothing; SIZE_MAX: nowhere. */
static size_t bad_escape(ms_str pattern, ms_str escape)
{
    for (size_t p = 0; p < pattern.bytes;) {
        piece next = piece_at(pattern, p, escape);
        if (next.is_bad) {
            return p;
        }
        p += next.bytes;
    }
    return SIZE_MAX;
}

/* Numbers that look random, the same in each run. */
static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* Up to eight parts, one after the other. */
static ms_str draw_text(uint64_t *seed, const char *const *parts, uint32_t count, char *out)
{
    size_t bytes = 0;
    for (uint32_t left = draw(seed, 9); left > 0; left--) {
        const char *part = parts[draw(seed, count)];
        memcpy(out + bytes, part, strlen(part));
        bytes += strlen(part);
    }
    return ms_str_make(out, bytes);
}

static void check_against_reference(ms_str text, ms_str pattern, ms_str escape)
{
    ms_arena arena;
    ms_like like;
    size_t at = SIZE_MAX;
    ms_arena_init(&arena, 0);
    size_t bad = bad_escape(pattern, escape);
    ms_like_fault fault = ms_like_compile(&arena, pattern, escape, &like, &at);
    bool is_same = bad == SIZE_MAX
                       ? fault == MS_LIKE_OK && ms_like_matches(&like, text, NULL, NULL) ==
                                                    reference(pattern, 0, text, 0, escape)
                       : fault == MS_LIKE_BAD_SEQUENCE && at == bad;
    if (!is_same) {
        fail_msg("'%.*s' LIKE '%.*s' ESCAPE '%.*s'", MS_STR_ARG(text), MS_STR_ARG(pattern),
                 MS_STR_ARG(escape));
    }
    ms_arena_release(&arena);
}

static void random_patterns_agree_with_trying_everything(void **state)
{
    (void)state;
    static const char *const of_text[] = {"a", "b", "a", "\xC3\xA9", "\x80", "\n", "\xC2\x85"};
    static const char *const of_pattern[] = {"a",  "b",        "%", "_", "\xC3\xA9", "\x80",
                                             "\n", "\xC2\x85", "%", "_", "%",        "_"};
    uint64_t seed = 7;
    for (int round = 0; round < 50000; round++) {
        char pattern[32];
        char text[32];
        ms_str p = draw_text(&seed, of_pattern, 12, pattern);
        ms_str t = draw_text(&seed, of_text, 7, text);
        check_against_reference(t, p, no_escape);
    }
}

static void random_escapes_agree_with_trying_everything(void **state)
{
    (void)state;
    static const char *const of_text[] = {"a", "%", "_", "!", "\xC3\xA9", "\xC3"};
    static const char *const of_pattern[] = {
        "a",  "%",  "_",         "!%",        "!_",
        "!!", "%",  "\xC3\xA9%", "\xC3\xA9_", "\xC3\xA9\xC3\xA9",
        "a",  "!a", "\xC3",      "!\xC3\xA9"};
    static const char *const escapes[] = {"!", "\xC3\xA9", "%", "_", "a"};
    uint64_t seed = 11;
    uint32_t good = 0;
    for (int round = 0; round < 100000; round++) {
        char pattern[64];
        char text[32];
        /* Without the last three most patterns are good. */
        ms_str p = draw_text(&seed, of_pattern, round % 4 == 0 ? 14 : 11, pattern);
        ms_str t = draw_text(&seed, of_text, 6, text);
        ms_str escape = ms_str_cstr(escapes[draw(&seed, round % 8 == 0 ? 5 : 2)]);
        good += bad_escape(p, escape) == SIZE_MAX;
        check_against_reference(t, p, escape);
    }
    assert_true(good > 30000);
}

/* A pattern of `count` times `item` between `before` and `after`. */
static ms_str repeat(ms_arena *arena, const char *before, const char *item, uint32_t count,
                     const char *after)
{
    size_t bytes = strlen(before) + count * strlen(item) + strlen(after);
    char *text = ms_arena_alloc(arena, bytes + 1, 1);
    size_t at = (size_t)snprintf(text, bytes + 1, "%s", before);
    for (uint32_t i = 0; i < count; i++) {
        at += (size_t)snprintf(text + at, bytes + 1 - at, "%s", item);
    }
    snprintf(text + at, bytes + 1 - at, "%s", after);
    return ms_str_make(text, bytes);
}

/* Parts of all lengths around those of a word, and beyond what a table is made for. */
static void long_parts_are_found_as_short_ones_are(void **state)
{
    (void)state;
    static const uint32_t counts[] = {31, 32, 33, 63, 64, 65, 100, 2047, 2048, 2049, 3000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        ms_arena arena;
        ms_like like;
        size_t at = 0;
        ms_arena_init(&arena, 0);
        ms_str pattern = repeat(&arena, "%", "a_", counts[i], "b%");
        ms_str text = repeat(&arena, "xxax", "a\xC3\xA9", counts[i], "bxx");
        ms_str other = repeat(&arena, "xxax", "a\xC3\xA9", counts[i], "cb");
        ms_str end = repeat(&arena, "%", "a_", counts[i], "b");
        assert_int_equal(ms_like_compile(&arena, pattern, no_escape, &like, &at), MS_LIKE_OK);
        assert_true(ms_like_matches(&like, text, NULL, NULL));
        assert_false(ms_like_matches(&like, other, NULL, NULL));
        assert_int_equal(ms_like_compile(&arena, end, no_escape, &like, &at), MS_LIKE_OK);
        assert_false(ms_like_matches(&like, text, NULL, NULL));
        text.bytes -= 2;
        assert_true(ms_like_matches(&like, text, NULL, NULL));
        ms_arena_release(&arena);
    }
}

/* A thousand parts are more than tables are made for; those without are found all the same. */
static void tables_take_bounded_memory(void **state)
{
    (void)state;
    ms_arena arena;
    ms_like like;
    size_t at = 0;
    ms_arena_init(&arena, 0);
    ms_str pattern = repeat(&arena, "", "%a_", 1000, "b%");
    ms_str text = repeat(&arena, "", "xa\xC3\xA9", 1000, "b");
    ms_str other = repeat(&arena, "", "xa\xC3\xA9", 999, "b");
    size_t used = ms_arena_used_bytes(&arena);
    assert_int_equal(ms_like_compile(&arena, pattern, no_escape, &like, &at), MS_LIKE_OK);
    assert_true(ms_arena_used_bytes(&arena) - used < MS_LIKE_TABLE_BYTES_MAX * 2);
    assert_true(ms_like_matches(&like, text, NULL, NULL));
    assert_false(ms_like_matches(&like, other, NULL, NULL));
    ms_arena_release(&arena);
}

/* Steps for a text of so many "a" and a part of so many "a_" that is nearly everywhere. */
static uint64_t steps_of(uint32_t text_bytes, uint32_t pairs)
{
    ms_arena arena;
    ms_like like;
    size_t at = 0;
    uint64_t steps = 0;
    ms_arena_init(&arena, 0);
    ms_str pattern = repeat(&arena, "%", "a_", pairs, "b%z");
    ms_str text = repeat(&arena, "", "a", text_bytes, "");
    assert_int_equal(ms_like_compile(&arena, pattern, no_escape, &like, &at), MS_LIKE_OK);
    assert_false(ms_like_matches(&like, text, NULL, &steps));
    ms_arena_release(&arena);
    return steps;
}

static void work_does_not_grow_with_the_product_of_the_lengths(void **state)
{
    (void)state;
    assert_int_equal(steps_of(100000, 3), 100000);
    assert_int_equal(steps_of(100000, 31), 100000);
    assert_int_equal(steps_of(100000, 320), 100000 * 11);
    assert_int_equal(steps_of(200000, 320), 200000 * 11);
    assert_int_equal(steps_of(1000000, 32), 1000000 * 2);
}

static void a_search_that_is_canceled_ends(void **state)
{
    (void)state;
    ms_arena arena;
    ms_like like;
    size_t at = 0;
    uint64_t steps = 0;
    const _Atomic bool canceled = true;
    ms_arena_init(&arena, 0);
    ms_str pattern = repeat(&arena, "%", "a_", 5000, "b%");
    ms_str text = repeat(&arena, "", "a", 1000000, "");
    assert_int_equal(ms_like_compile(&arena, pattern, no_escape, &like, &at), MS_LIKE_OK);
    (void)ms_like_matches(&like, text, &canceled, &steps);
    assert_true(steps < 100000);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_whole_texts),
        cmocka_unit_test(one_character_is_one_code_point_and_no_line_end),
        cmocka_unit_test(recognized_shapes_are_the_fast_ones),
        cmocka_unit_test(escapes_make_marks_literal),
        cmocka_unit_test(random_patterns_agree_with_trying_everything),
        cmocka_unit_test(random_escapes_agree_with_trying_everything),
        cmocka_unit_test(long_parts_are_found_as_short_ones_are),
        cmocka_unit_test(tables_take_bounded_memory),
        cmocka_unit_test(work_does_not_grow_with_the_product_of_the_lengths),
        cmocka_unit_test(a_search_that_is_canceled_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
