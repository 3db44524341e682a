/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over many lines against one line at a time, on random lines, valid and broken: whatever
 * stands around a line, and however the input is cut, a line gives the same row or none.
 */
#include "format/format_testing.h"

#include "format/json.h"

#define LINES 12u
#define ROUNDS 600u

static uint64_t random_state;

static uint32_t pick(uint32_t count)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % count;
}

static const char *const names[] = {"a", "b", "c", "d", "e", "other", "\\u0061", "a\\n"};
static const char *const tokens[] = {"1",
                                     "-2",
                                     "2.5",
                                     "1e3",
                                     "null",
                                     "true",
                                     "false",
                                     "\"x\"",
                                     "\"12\"",
                                     "\"\"",
                                     "[]",
                                     "{}",
                                     "[1,2]",
                                     "{\"a\":1}",
                                     "\"\\\"}{\\n\"",
                                     "99999999999999999999",
                                     "\"a text that is too long for a view\"",
                                     "\"2024-01-01\"",
                                     "1.5e400",
                                     "\"\xC3\xA9\""};

static void append(ms_buf *buf, const char *text)
{
    ms_status st = {0};
    assert_ok(ms_buf_append(buf, ms_str_cstr(text), &st));
}

static const char *blank(void)
{
    static const char *const blanks[] = {"", "", "", "", " ", "\t", "  "};
    return blanks[pick(7)];
}

static void random_object(ms_buf *line)
{
    append(line, blank());
    append(line, "{");
    uint32_t fields = pick(7);
    for (uint32_t i = 0; i < fields; i++) {
        append(line, i > 0 ? "," : "");
        append(line, blank());
        append(line, "\"");
        append(line, names[pick(8)]);
        append(line, "\"");
        append(line, blank());
        append(line, ":");
        append(line, blank());
        append(line, tokens[pick(20)]);
        append(line, blank());
    }
    append(line, "}");
    append(line, blank());
}

/* One byte removed, doubled or replaced by something that means something in JSON. */
static void damage(ms_buf *line)
{
    static const char bytes[] = "{}[]\",:\\ \t\r0e-x\xFF\x01";
    ms_status st = {0};
    if (line->bytes == 0) {
        return;
    }
    size_t at = pick((uint32_t)line->bytes);
    char c = bytes[pick(sizeof bytes - 1)];
    switch (pick(4)) {
    case 0:
        memmove(line->ptr + at, line->ptr + at + 1, line->bytes - at - 1);
        line->bytes--;
        break;
    case 1:
        line->ptr[at] = c;
        break;
    case 2:
        line->bytes = at;
        break;
    default:
        assert_ok(ms_buf_append_byte(line, c, &st));
        break;
    }
}

static void random_line(ms_buf *line)
{
    ms_buf_reset(line);
    uint32_t kind = pick(20);
    if (kind == 0) {
        return;
    }
    random_object(line);
    if (kind == 1) {
        random_object(line);
    }
    if (kind < 6) {
        damage(line);
    }
    append(line, pick(8) == 0 ? "\r" : "");
}

/* Each line alone, through a decoder of its own. */
static void naive(bench *b, const ms_buf *lines, uint32_t count, ms_buf *text)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t before = text->bytes;
        bench_decode(b, ms_buf_view(&lines[i]), 0, lines[i].bytes, 1, 4, text, NULL);
        if (memchr(text->ptr + before, '!', text->bytes - before) != NULL) {
            text->bytes = before + 1; /* "!" and nothing more: what is wrong is not compared */
            return;
        }
    }
}

static void compare(bench *b, ms_str all, ms_buf *expected)
{
    static const uint32_t capacities[] = {1, 2, 7, 2048};
    ms_buf text;
    ms_buf_init(&text, 1u << 24);
    for (uint32_t k = 0; k < 8; k++) {
        size_t step = k < 4 ? all.bytes + 1 : 1 + pick(200);
        bench_decode(b, all, 0, step, step, capacities[k % 4], &text, NULL);
        const char *failure = text.bytes > 0 ? memchr(text.ptr, '!', text.bytes) : NULL;
        text.bytes = failure != NULL ? (size_t)(failure - text.ptr) + 1 : text.bytes;
        if (!ms_str_equals(ms_buf_view(&text), ms_buf_view(expected))) {
            fail_msg("capacity %u, step %zu:\n%.*s\nhas\n%.*s\nexpected\n%.*s", capacities[k % 4],
                     step, MS_STR_ARG(all), MS_STR_ARG(ms_buf_view(&text)),
                     MS_STR_ARG(ms_buf_view(expected)));
        }
        ms_buf_reset(&text);
    }
    ms_buf_release(&text);
}

static void run_rounds(const char *options, const char *columns)
{
    bench b;
    ms_status st = {0};
    ms_buf lines[LINES];
    ms_buf all;
    ms_buf expected;
    bench_init(&b, &ms_format_json, options, columns);
    ms_buf_init(&all, 1u << 24);
    ms_buf_init(&expected, 1u << 24);
    for (uint32_t i = 0; i < LINES; i++) {
        ms_buf_init(&lines[i], 1u << 20);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        random_state = round * 7919u + 1;
        ms_buf_reset(&all);
        ms_buf_reset(&expected);
        uint32_t count = 1 + pick(LINES);
        for (uint32_t i = 0; i < count; i++) {
            random_line(&lines[i]);
            assert_ok(ms_buf_append(&all, ms_buf_view(&lines[i]), &st));
            append(&all, i + 1 < count || pick(2) == 0 ? "\n" : "");
        }
        naive(&b, lines, count, &expected);
        compare(&b, ms_buf_view(&all), &expected);
    }
    for (uint32_t i = 0; i < LINES; i++) {
        ms_buf_release(&lines[i]);
    }
    ms_buf_release(&all);
    ms_buf_release(&expected);
    bench_release(&b);
}

static void lines_give_the_same_rows_together_and_alone(void **state)
{
    (void)state;
    run_rounds("ignore-parse-errors=true", "itdbD");
    run_rounds("", "ttttt");
    run_rounds("ignore-parse-errors=true", "lnxsf");
}

static void trees_agree_with_themselves_at_any_portion(void **state)
{
    (void)state;
    run_rounds("ignore-parse-errors=true", "iAtMR");
}

/*
 * The walk of flat schemas against trees. The names of unknown fields are not damaged here, for the
 * walk does not look into what it skips.
 */
static void flat_rows_are_those_of_trees(void **state)
{
    (void)state;
    bench flat;
    bench tree;
    ms_buf line;
    ms_buf flat_text;
    ms_buf tree_text;
    bench_init(&flat, &ms_format_json, "ignore-parse-errors=true", "itdbD");
    bench_init(&tree, &ms_format_json, "ignore-parse-errors=true", "itdbDA");
    ms_buf_init(&line, 1u << 20);
    ms_buf_init(&flat_text, 1u << 20);
    ms_buf_init(&tree_text, 1u << 20);
    for (uint32_t round = 0; round < 6000; round++) {
        random_state = round * 104729u + 5;
        random_line(&line);
        ms_str text = ms_buf_view(&line);
        bool has_other = false;
        for (size_t i = 0; i + 5 <= text.bytes; i++) {
            has_other |= memcmp(text.ptr + i, "other", 5) == 0 || text.ptr[i] == '\\';
        }
        if (has_other) {
            continue;
        }
        ms_buf_reset(&flat_text);
        ms_buf_reset(&tree_text);
        bench_decode(&flat, text, 0, text.bytes, 1, 4, &flat_text, NULL);
        bench_decode(&tree, text, 0, text.bytes, 1, 4, &tree_text, NULL);
        size_t shared = tree_text.bytes >= 3 ? tree_text.bytes - 3 : 0;
        bool same = flat_text.bytes == 0 ? tree_text.bytes == 0
                                         : flat_text.bytes == shared + 1 &&
                                               memcmp(flat_text.ptr, tree_text.ptr, shared) == 0;
        if (!same) {
            fail_msg("%.*s\nis %.*sand as a tree %.*s", MS_STR_ARG(text),
                     MS_STR_ARG(ms_buf_view(&flat_text)), MS_STR_ARG(ms_buf_view(&tree_text)));
        }
    }
    ms_buf_release(&line);
    ms_buf_release(&flat_text);
    ms_buf_release(&tree_text);
    bench_release(&flat);
    bench_release(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_give_the_same_rows_together_and_alone),
        cmocka_unit_test(trees_agree_with_themselves_at_any_portion),
        cmocka_unit_test(flat_rows_are_those_of_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
