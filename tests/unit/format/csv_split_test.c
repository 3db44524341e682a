/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting records: wherever the input is cut, the fields are the same, and the work grows with
 * the length of the record alone.
 */
#include "testing.h"

#include "base/memory.h"
#include "format/csv_split.h"

#define FIELDS_MAX 8u

typedef struct fixture {
    msi_csv_options options;
    msi_csv_field fields[FIELDS_MAX];
    msi_csv_splitter splitter;
} fixture;

static void init(fixture *f, const msi_csv_options *options)
{
    f->options = *options;
    msi_csv_splitter_init(&f->splitter, &f->options, f->fields, FIELDS_MAX);
}

static const msi_csv_options plain = {.delimiter = ',', .quote = '"', .has_quote = true};
static const msi_csv_options rich = {.delimiter = ',',
                                     .quote = '"',
                                     .has_quote = true,
                                     .escape = '\\',
                                     .has_escape = true,
                                     .allow_comments = true};

/* A delimiter that is the escape character too. */
static const msi_csv_options escaped = {
    .delimiter = ',', .quote = '"', .has_quote = true, .escape = ',', .has_escape = true};

static const msi_csv_options trimmed = {
    .delimiter = ',', .quote = '"', .has_quote = true, .trim_spaces = true};

/*
 * Splits the record that input begins with, seen in portions of so many bytes, each time at another
 * place in memory; the text has the outcome, the fields and how long the record is.
 */
static void describe(fixture *f, ms_str input, size_t portion, ms_buf *text)
{
    ms_status st = {0};
    msi_csv_split split = MSI_CSV_CUT;
    char *copy = NULL;
    for (size_t seen = portion; split == MSI_CSV_CUT; seen += portion) {
        size_t bytes = seen < input.bytes ? seen : input.bytes;
        char *next = ms_mem_alloc(bytes);
        memcpy(next, input.ptr, bytes);
        ms_mem_free(copy);
        copy = next;
        split = msi_csv_split_record(&f->splitter, ms_str_make(copy, bytes), bytes == input.bytes);
    }
    assert_ok(ms_buf_format(text, &st, "%d %zu ", split, f->splitter.bytes));
    for (uint32_t i = 0; split == MSI_CSV_RECORD && i < f->splitter.field_count; i++) {
        if (i < FIELDS_MAX) {
            ms_str field = msi_csv_field_text(&f->splitter, i);
            assert_ok(ms_buf_format(text, &st, "%s[%.*s]", f->fields[i].is_quoted ? "q" : "",
                                    MS_STR_ARG(field)));
        } else {
            assert_ok(ms_buf_append(text, ms_str_lit("+"), &st));
        }
    }
    ms_mem_free(copy);
}

static void assert_split(const msi_csv_options *options, const char *input, const char *expected)
{
    fixture f;
    ms_buf text;
    init(&f, options);
    ms_buf_init(&text, 1000);
    for (size_t portion = 1; portion <= strlen(input); portion++) {
        ms_buf_reset(&text);
        describe(&f, ms_str_cstr(input), portion, &text);
        assert_str_equal(ms_buf_view(&text), expected);
    }
    ms_buf_release(&text);
    msi_csv_splitter_release(&f.splitter);
}

static void fields_are_the_same_wherever_the_input_is_cut(void **state)
{
    (void)state;
    assert_split(&plain, "a,b\nnext", "0 4 [a][b]");
    assert_split(&plain, "a,b\r\nnext", "0 5 [a][b]");
    assert_split(&plain, "\"a\"\"b\",\"\"\n", "0 10 q[a\"b]q[]");
    assert_split(&plain, "\"a\nb\",c", "0 7 q[a\nb][c]");
    assert_split(&plain, ",,\n", "0 3 [][][]");
    assert_split(&plain, "1,2,3,4,5,6,7,8,9,10\n", "0 21 [1][2][3][4][5][6][7][8]++");
    assert_split(&plain, "\"a\"b,\"c\nd", "3 8 ");
    assert_split(&plain, "\"a\nb", "3 3 ");
    assert_split(&plain, "\"a\"\t ,\"b\"  ", "0 11 q[a]q[b]");
    assert_split(&plain, "#a, #b\n", "0 7 [#a][ #b]");
    assert_split(&rich, "#a,\"b\r\nnext", "2 7 ");
    assert_split(&rich, "  #a", "2 4 ");
    assert_split(&rich, "  \r\nnext", "2 4 ");
    assert_split(&rich, "   ", "2 3 ");
    assert_split(&rich, "  \"a\", b\n", "0 9 q[a][ b]");
    assert_split(&rich, "\t#a\n", "0 4 [\t#a]");
    assert_split(&rich, "a\\,b\\\nc,d\\\\", "0 11 [a,b\nc][d\\]");
    assert_split(&rich, "a\\,b\\\nc,d\\", "3 10 ");
    assert_split(&trimmed, " \t\"a\" ,\" b\", c d , \n", "0 20 q[a]q[ b][c d][]");
    assert_split(&trimmed, "  ", "0 2 []");
    assert_split(&escaped, "a,b\n", "0 4 [a][b]");
    assert_split(&escaped, "\"a,n,,\",b", "0 9 q[a\n,][b]");
    assert_split(&rich, "\"\\\"\"\n", "0 5 q[\"]");
}

static void random_records_are_the_same_wherever_the_input_is_cut(void **state)
{
    (void)state;
    static const msi_csv_options *const variants[] = {&plain, &rich, &escaped, &trimmed};
    static const char alphabet[] = "ab,,\"\"\\\n\r#  ";
    uint64_t random = 1;
    ms_buf whole;
    ms_buf cut;
    ms_buf_init(&whole, 1000);
    ms_buf_init(&cut, 1000);
    for (int round = 0; round < 3000; round++) {
        char input[16];
        for (size_t i = 0; i < sizeof input; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            input[i] = alphabet[(random >> 33) % (sizeof alphabet - 1)];
        }
        fixture f;
        init(&f, variants[round % 4]);
        ms_buf_reset(&whole);
        describe(&f, ms_str_make(input, sizeof input), sizeof input, &whole);
        for (size_t portion = 1; portion < 5; portion++) {
            ms_buf_reset(&cut);
            describe(&f, ms_str_make(input, sizeof input), portion, &cut);
            assert_true(ms_str_equals(ms_buf_view(&whole), ms_buf_view(&cut)));
        }
        msi_csv_splitter_release(&f.splitter);
    }
    ms_buf_release(&whole);
    ms_buf_release(&cut);
}

/* A record of a head, many times a middle, and a tail, seen in a thousand portions. */
static void assert_work_is_linear(const char *head, const char *middle, const char *tail)
{
    fixture f;
    ms_buf record;
    ms_status st = {0};
    init(&f, &rich);
    ms_buf_init(&record, 1u << 20);
    assert_ok(ms_buf_append(&record, ms_str_cstr(head), &st));
    while (record.bytes < 100000) {
        assert_ok(ms_buf_append(&record, ms_str_cstr(middle), &st));
    }
    assert_ok(ms_buf_append(&record, ms_str_cstr(tail), &st));
    msi_csv_split split = MSI_CSV_CUT;
    size_t seen = 0;
    while (split == MSI_CSV_CUT) {
        seen = seen + 100 < record.bytes ? seen + 100 : record.bytes;
        split =
            msi_csv_split_record(&f.splitter, ms_str_make(record.ptr, seen), seen == record.bytes);
    }
    assert_int_equal(seen, record.bytes);
    assert_true(f.splitter.bytes_looked >= record.bytes - strlen(tail));
    assert_true(f.splitter.bytes_looked <= record.bytes + record.bytes / 50);
    ms_buf_release(&record);
    msi_csv_splitter_release(&f.splitter);
}

static void every_byte_of_a_long_record_is_looked_at_once(void **state)
{
    (void)state;
    assert_work_is_linear("", "text ", "\n");
    assert_work_is_linear("\"", "text ", "\"\n");
    assert_work_is_linear("\"", "doubled \"\" and, escaped \\\" \r\n", "\"\n");
    assert_work_is_linear("", "many,\"fields\",", "\n");
    assert_work_is_linear("", "escaped\\\n", "\n");
    assert_work_is_linear("#", "a comment", "\n");
    assert_work_is_linear("\"a\"", "behind a quote", "\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_the_same_wherever_the_input_is_cut),
        cmocka_unit_test(random_records_are_the_same_wherever_the_input_is_cut),
        cmocka_unit_test(every_byte_of_a_long_record_is_looked_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
