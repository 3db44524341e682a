/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows from chunks: the vectors of other clients where they are at hand, cases of our own, random
 * streams against a plain second merger, and what only a page has: being full, moving, restarting.
 */
#include "bigtable/wire/rows_testing.h"

#include "bigtable/wire/read_rows_merge.h"
#include "bigtable/wire/vectors.h"

static ms_bt_page page;
static ms_wire_rows_merger merger;
static ms_buf seen; /* what the merger has delivered, as text */

static int setup(void **state)
{
    ms_bt_page_init(&page);
    ms_wire_rows_merger_init(&merger, false);
    ms_buf_init(&seen, 1u << 30);
    return wire_setup(state);
}

static int teardown(void **state)
{
    ms_bt_page_release(&page);
    ms_wire_rows_merger_release(&merger);
    ms_buf_release(&seen);
    return wire_teardown(state);
}

static void restart_all(bool is_reversed)
{
    ms_bt_page_reset(&page, SIZE_MAX);
    ms_wire_rows_merger_release(&merger);
    ms_wire_rows_merger_init(&merger, is_reversed);
    ms_buf_reset(&seen);
    ms_bt_status_clear(&bt);
}

/* Reads a message whole; pages never end. */
static ms_bt_code feed(ms_str message)
{
    size_t at = 0;
    MS_BT_TRY(ms_wire_rows_merger_read(&merger, message, &at, &page, UINT32_MAX, SIZE_MAX, &bt));
    assert_int_equal(at, message.bytes);
    return MS_BT_OK;
}

/* A message of one chunk, from the chunk's bytes. */
static ms_str message_of_chunk(ms_str chunk)
{
    ms_buf_reset(&buf);
    ms_pb_read_rows_response *message = ms_pb_new(&arena, read_rows_response);
    ms_pb_read_rows_response_cell_chunk *inner =
        ms_pb_unpack(read_rows_response_cell_chunk, chunk, &ms_wire_response_limits, &arena, &bt);
    assert_non_null(inner);
    message->n_chunks = 1;
    message->chunks = &inner;
    return packed(&message->base);
}

/* Vectors. */

static ms_pb_read_rows_response_cell_chunk *chunk_of(const json_t *from)
{
    ms_pb_read_rows_response_cell_chunk *c = ms_pb_new(&arena, read_rows_response_cell_chunk);
    c->row_key = ms_wire_bytes(bytes_at(from, "rowKey"));
    if (json_object_get(from, "familyName") != NULL) {
        c->family_name = ms_pb_new(&arena, string_value);
        c->family_name->value = ms_wire_text(&arena, text_at(from, "familyName"));
    }
    if (json_object_get(from, "qualifier") != NULL) {
        c->qualifier = ms_pb_new(&arena, bytes_value);
        c->qualifier->value = ms_wire_bytes(bytes_at(from, "qualifier"));
    }
    c->timestamp_micros = number_at(from, "timestampMicros");
    const json_t *labels = json_object_get(from, "labels");
    c->labels = ms_arena_array(&arena, char *, json_array_size(labels) + 1);
    for (size_t i = 0; i < json_array_size(labels); i++) {
        c->labels[c->n_labels++] =
            ms_wire_text(&arena, ms_str_cstr(json_string_value(json_array_get(labels, i))));
    }
    c->value = ms_wire_bytes(bytes_at(from, "value"));
    c->value_size = (int32_t)number_at(from, "valueSize");
    if (flag_at(from, "resetRow")) {
        c->row_status_case =
            GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_RESET_ROW;
        c->reset_row = true;
    } else if (json_object_get(from, "commitRow") != NULL) {
        c->row_status_case =
            GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_COMMIT_ROW;
        c->commit_row = flag_at(from, "commitRow");
    }
    return c;
}

/* The cells of all rows, without the marks of their ends. */
static ms_str cells_seen(void)
{
    ms_buf_reset(&seen);
    naive_put_page(&seen, &page);
    char *text = ms_arena_alloc(&arena, seen.bytes + 1, 1);
    size_t bytes = 0;
    for (size_t i = 0; i < seen.bytes; i++) {
        if (seen.ptr[i] == '-' && seen.bytes - i >= 3 && memcmp(seen.ptr + i, "--\n", 3) == 0) {
            i += 2;
        } else {
            text[bytes++] = seen.ptr[i];
        }
    }
    return ms_str_make(text, bytes);
}

/* Feeds chunks, all in one message or one by one: true when the stream is legal. */
static bool merge_chunks(ms_pb_read_rows_response_cell_chunk **chunks, size_t count,
                         bool one_by_one)
{
    ms_pb_read_rows_response *message = ms_pb_new(&arena, read_rows_response);
    size_t step = one_by_one ? 1 : count;
    for (size_t i = 0; i < count; i += step) {
        message->chunks = chunks + i;
        message->n_chunks = step;
        if (feed(packed(&message->base)) != MS_BT_OK) {
            return false;
        }
    }
    return ms_wire_rows_merger_end(&merger, &bt) == MS_BT_OK;
}

static void vectors_of_all_clients_pass(void **state)
{
    (void)state;
    json_t *root = load_vectors("readrows.conformance-tests.json");
    if (root == NULL) {
        skip();
    }
    const json_t *tests = json_object_get(root, "readRowsTests");
    assert_int_equal(json_array_size(tests), 48);
    for (size_t i = 0; i < 2 * json_array_size(tests); i++) {
        const json_t *test = json_array_get(tests, i / 2);
        const json_t *results = json_object_get(test, "results");
        ms_buf expected;
        ms_buf_init(&expected, 1u << 20);
        bool is_legal = true;
        for (size_t j = 0; j < json_array_size(results); j++) {
            const json_t *r = json_array_get(results, j);
            if (flag_at(r, "error")) {
                is_legal = false;
                continue;
            }
            naive_put_cell(&expected, text_at(r, "rowKey"), text_at(r, "familyName"),
                           text_at(r, "qualifier"), number_at(r, "timestampMicros"),
                           text_at(r, "value"), text_at(r, "label"));
        }
        restart_all(false);
        const json_t *chunks = json_object_get(test, "chunks");
        ms_pb_read_rows_response_cell_chunk *list[64];
        assert_true(json_array_size(chunks) <= 64);
        for (size_t j = 0; j < json_array_size(chunks); j++) {
            list[j] = chunk_of(json_array_get(chunks, j));
        }
        bool got = merge_chunks(list, json_array_size(chunks), i % 2 == 0);
        if (got != is_legal) {
            fail_msg("%s: %s", text_at(test, "description").ptr, bt.text);
        }
        assert_same_bytes(cells_seen(), ms_buf_view(&expected));
        ms_buf_release(&expected);
    }
    json_decref(root);
}

/* The chunks of these vectors announce ten bytes for every value that is cut, whatever its length;
 * clients did not look at that then. Here it is put right. */
static void correct_sizes(ms_pb_read_rows_response_cell_chunk **chunks, size_t count)
{
    size_t first = SIZE_MAX;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_reset =
            chunks[i]->row_status_case ==
                GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_RESET_ROW &&
            chunks[i]->reset_row;
        if (chunks[i]->value_size > 0 && first == SIZE_MAX) {
            first = i;
            bytes = 0;
        }
        bytes += chunks[i]->value.len;
        if (chunks[i]->value_size > 0 || first == SIZE_MAX) {
            continue;
        }
        for (size_t j = first; j < i && !is_reset; j++) {
            chunks[j]->value_size = (int32_t)bytes;
        }
        first = SIZE_MAX;
    }
}

static void binary_vectors_pass(void **state)
{
    (void)state;
    json_t *root = load_vectors("read-rows-acceptance-test.nodejs.json");
    if (root == NULL) {
        skip();
    }
    const json_t *tests = json_object_get(root, "tests");
    assert_true(json_array_size(tests) > 40);
    for (size_t i = 0; i < json_array_size(tests); i++) {
        const json_t *test = json_array_get(tests, i);
        const json_t *results = json_object_get(test, "results");
        ms_buf expected;
        ms_buf_init(&expected, 1u << 20);
        bool is_legal = true;
        for (size_t j = 0; j < json_array_size(results); j++) {
            const json_t *r = json_array_get(results, j);
            if (flag_at(r, "error")) {
                is_legal = false;
                continue;
            }
            naive_put_cell(&expected, text_at(r, "rk"), text_at(r, "fm"), text_at(r, "qual"),
                           number_at(r, "ts"), text_at(r, "value"), text_at(r, "label"));
        }
        restart_all(false);
        const json_t *chunks = json_object_get(test, "chunks_base64");
        ms_pb_read_rows_response_cell_chunk *list[64];
        size_t count = json_array_size(chunks);
        assert_true(count <= 64);
        for (size_t j = 0; j < count; j++) {
            ms_str chunk = base64(ms_str_cstr(json_string_value(json_array_get(chunks, j))));
            list[j] = ms_pb_unpack(read_rows_response_cell_chunk, chunk, &ms_wire_response_limits,
                                   &arena, &bt);
        }
        correct_sizes(list, count);
        bool got = merge_chunks(list, count, true);
        if (got != is_legal) {
            fail_msg("%s: %s", text_at(test, "name").ptr, bt.text);
        }
        /* Of a broken stream these list fewer rows than were complete. */
        assert_true(is_legal ? ms_str_equals(cells_seen(), ms_buf_view(&expected))
                             : ms_str_starts_with(cells_seen(), ms_buf_view(&expected)));
        ms_buf_release(&expected);
    }
    json_decref(root);
}

/* Cases of our own: the bytes of chunks, and what breaks. */

#define KEY(key) "\x0a\x01" key
#define FAMILY(name) "\x12\x03\x0a\x01" name
#define NO_NAME_FAMILY "\x12\x00"
#define QUALIFIER(name) "\x1a\x03\x0a\x01" name
#define EMPTY_QUALIFIER "\x1a\x00"
#define MICROS "\x20\x05"
#define LABEL(name) "\x2a\x01" name
#define VALUE(byte) "\x32\x01" byte
#define SIZE(size) "\x38" size
#define NEGATIVE_SIZE "\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
#define RESET "\x40\x01"
#define COMMIT "\x48\x01"
#define NO_COMMIT "\x48\x00"
#define CELL(key) KEY(key) FAMILY("f") QUALIFIER("q")

static ms_bt_code feed_chunk(ms_str chunk)
{
    return feed(message_of_chunk(chunk));
}

static void each_rule_is_broken_by_name(void **state)
{
    (void)state;
    const struct {
        ms_str first;
        ms_str second; /* the one that breaks the rule */
        const char *why;
    } cases[] = {
        {bytes_lit(""), bytes_lit(FAMILY("f") QUALIFIER("q") COMMIT), "begins without a key"},
        {bytes_lit(""), bytes_lit(KEY("a") QUALIFIER("q") COMMIT), "without a family"},
        {bytes_lit(""), bytes_lit(KEY("a") FAMILY("f") COMMIT), "without a family or a qualifier"},
        {bytes_lit(""), bytes_lit(RESET), "reset before it began"},
        {bytes_lit(CELL("b") COMMIT), bytes_lit(CELL("a") COMMIT), "strictly increasing"},
        {bytes_lit(CELL("b") COMMIT), bytes_lit(CELL("b") COMMIT), "strictly increasing"},
        {bytes_lit(CELL("a")), bytes_lit(CELL("b") COMMIT), "before the one before it ended"},
        {bytes_lit(CELL("a")), bytes_lit(FAMILY("g") COMMIT), "a family comes without"},
        {bytes_lit(CELL("a")), bytes_lit(RESET VALUE("v")), "resets a row has contents"},
        {bytes_lit(CELL("a")), bytes_lit(RESET MICROS), "resets a row has contents"},
        {bytes_lit(CELL("a")), bytes_lit(RESET KEY("a")), "resets a row has contents"},
        {bytes_lit(CELL("a")), bytes_lit(SIZE("\x05") COMMIT VALUE("v")), "ends inside a value"},
        {bytes_lit(CELL("a")), bytes_lit(SIZE("\x05")), "a piece of a value is empty"},
        {bytes_lit(CELL("a")), bytes_lit(SIZE("\x01") VALUE("v")), "longer than announced"},
        {bytes_lit(CELL("a")), bytes_lit(NEGATIVE_SIZE VALUE("v")), "negative"},
        {bytes_lit(CELL("a") SIZE("\x03") VALUE("v")), bytes_lit(KEY("a") VALUE("v")), "names"},
        {bytes_lit(CELL("a") SIZE("\x03") VALUE("v")), bytes_lit(FAMILY("f")), "names a cell"},
        {bytes_lit(CELL("a") SIZE("\x03") VALUE("v")), bytes_lit(EMPTY_QUALIFIER), "names a cell"},
        {bytes_lit(CELL("a") SIZE("\x03") VALUE("v")), bytes_lit(MICROS), "names a cell"},
        {bytes_lit(CELL("a") SIZE("\x03") VALUE("v")), bytes_lit(LABEL("l")), "names a cell"},
        {bytes_lit(CELL("a") SIZE("\x03") VALUE("v")), bytes_lit(SIZE("\x04") VALUE("v")),
         "the size of a value changes"},
        {bytes_lit(CELL("a") SIZE("\x03") VALUE("v")), bytes_lit(VALUE("v")), "not as long"},
        {bytes_lit(CELL("a") SIZE("\x03") VALUE("v")), bytes_lit(COMMIT), "not as long"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        restart_all(false);
        if (cases[i].first.bytes > 0) {
            assert_bt_ok(feed_chunk(cases[i].first));
        }
        assert_bt_fails(feed_chunk(cases[i].second), MS_BT_INTERNAL, cases[i].why);
    }
}

static void a_stream_ends_between_rows(void **state)
{
    (void)state;
    assert_bt_ok(ms_wire_rows_merger_end(&merger, &bt));
    assert_bt_ok(feed_chunk(bytes_lit(CELL("a") VALUE("v"))));
    assert_bt_fails(ms_wire_rows_merger_end(&merger, &bt), MS_BT_INTERNAL, "inside a row");
    assert_bt_ok(feed_chunk(bytes_lit(RESET)));
    assert_bt_ok(ms_wire_rows_merger_end(&merger, &bt));
    assert_int_equal(page.row_count, 0);
    assert_int_equal(page.cell_count, 0);
}

static void a_flag_that_is_false_is_none(void **state)
{
    (void)state;
    assert_bt_ok(feed_chunk(bytes_lit(CELL("a") VALUE("v") NO_COMMIT)));
    assert_int_equal(page.row_count, 0);
    assert_bt_ok(feed_chunk(bytes_lit(VALUE("w") "\x40\x00")));
    assert_bt_ok(feed_chunk(bytes_lit(COMMIT)));
    assert_int_equal(page.row_count, 1);
    assert_int_equal(page.rows[0].cell_count, 3);
    /* A bare commit is a cell itself. */
    assert_int_equal(page.cells[2].value_bytes, 0);
    assert_int_equal(page.cells[2].timestamp_micros, 0);
}

static void names_may_be_empty(void **state)
{
    (void)state;
    assert_bt_ok(feed_chunk(bytes_lit(KEY("a") NO_NAME_FAMILY EMPTY_QUALIFIER VALUE("v") COMMIT)));
    assert_int_equal(page.row_count, 1);
    assert_int_equal(ms_bt_page_family(&page, &page.cells[0]).bytes, 0);
    assert_int_equal(page.cells[0].qualifier_bytes, 0);
}

static void a_reversed_read_descends(void **state)
{
    (void)state;
    restart_all(true);
    assert_bt_ok(feed_chunk(bytes_lit(CELL("b") COMMIT)));
    assert_bt_ok(feed_chunk(bytes_lit(CELL("a") COMMIT)));
    assert_bt_fails(feed_chunk(bytes_lit(CELL("b") COMMIT)), MS_BT_INTERNAL,
                    "row keys must be strictly decreasing");
}

static void a_scanned_key_counts_for_order_and_resumption(void **state)
{
    (void)state;
    ms_str key;
    assert_false(ms_wire_rows_merger_last_key(&merger, &key));
    assert_bt_ok(feed_chunk(bytes_lit(CELL("a") COMMIT)));
    assert_true(ms_wire_rows_merger_last_key(&merger, &key));
    assert_str_equal(key, "a");
    assert_bt_ok(feed(bytes_lit("\x12\x01"
                                "c")));
    assert_true(ms_wire_rows_merger_last_key(&merger, &key));
    assert_str_equal(key, "c");
    assert_str_equal(ms_bt_page_scanned(&page), "c");
    assert_int_equal(page.row_count, 1);
    /* One that is behind already changes nothing. */
    assert_bt_ok(feed(bytes_lit("\x12\x01"
                                "b")));
    assert_true(ms_wire_rows_merger_last_key(&merger, &key));
    assert_str_equal(key, "c");
    assert_bt_fails(feed_chunk(bytes_lit(CELL("b") COMMIT)), MS_BT_INTERNAL, "increasing");
    restart_all(false);
    assert_bt_ok(feed_chunk(bytes_lit(CELL("a"))));
    assert_bt_fails(feed(bytes_lit("\x12\x01"
                                   "c")),
                    MS_BT_INTERNAL, "scanned inside a row");
}

static void reports_of_scanned_keys_do_not_pile_up(void **state)
{
    (void)state;
    assert_bt_ok(feed_chunk(bytes_lit(CELL("a") COMMIT)));
    size_t bytes = page.bytes.bytes;
    for (char key = 'b'; key <= 'z'; key++) {
        const char report[] = {0x12, 1, key};
        assert_bt_ok(feed(ms_str_make(report, 3)));
        assert_int_equal(ms_bt_page_scanned(&page).ptr[0], key);
    }
    assert_int_equal(page.bytes.bytes, bytes + 1);
    assert_str_equal(ms_bt_page_key(&page, &page.rows[0]), "a");
}

static void malformed_bytes_are_the_servers_fault(void **state)
{
    (void)state;
    const ms_str wrong[] = {
        bytes_lit("\x0a"),         bytes_lit("\x0a\x05"),     bytes_lit("\x08\x01"),
        bytes_lit("\x0b"),         bytes_lit("\x0a\x02\x0a"), bytes_lit("\x0a\x02\x08\x01"),
        bytes_lit("\x0a\x02\x20"), bytes_lit("\x1a\x02\x08"), bytes_lit("\x00"),
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        size_t at = 0;
        restart_all(false);
        assert_bt_fails(ms_wire_rows_merger_read(&merger, wrong[i], &at, &page, 10, 1000, &bt),
                        MS_BT_INTERNAL, "malformed");
    }
    /* Families are texts; a family or a qualifier is there once. */
    restart_all(false);
    size_t at = 0;
    ms_str family = bytes_lit("\x0a\x0d\x0a\x01"
                              "a\x12\x03\x0a\x01\xff\x1a\x03\x0a\x01q");
    assert_bt_fails(ms_wire_rows_merger_read(&merger, family, &at, &page, 10, 1000, &bt),
                    MS_BT_INTERNAL, "UTF-8");
    at = 0;
    assert_bt_fails(ms_wire_rows_merger_read(&merger, bytes_lit("\x0a\x04\x1a\x00\x1a\x00"), &at,
                                             &page, 10, 1000, &bt),
                    MS_BT_INTERNAL, "malformed");
}

static void rows_before_a_failure_are_good(void **state)
{
    (void)state;
    ms_str row = message_of_chunk(bytes_lit(CELL("a") LABEL("l") VALUE("v") COMMIT));
    ms_buf_reset(&buf);
    assert_ok(ms_buf_append(&buf, row, &st));
    assert_ok(ms_buf_append(&buf, bytes_lit("\x0a"), &st));
    assert_bt_fails(feed(ms_buf_view(&buf)), MS_BT_INTERNAL, "malformed");
    naive_put_page(&seen, &page);
    assert_str_equal(ms_buf_view(&seen), "61 66 71 0 76 6c \n--\n");
}

static void statistics_are_noted(void **state)
{
    (void)state;
    const ms_wire_read_stats stats = {10, 5, 200, 20, 1500};
    assert_ok(ms_wire_read_stats_encode(&stats, &buf, &st));
    assert_false(merger.has_stats);
    size_t at = 0;
    assert_bt_ok(ms_wire_rows_merger_read(&merger, ms_buf_view(&buf), &at, &page, 10, 1000, &bt));
    assert_true(merger.has_stats);
    assert_memory_equal(&merger.stats, &stats, sizeof(stats));
}

/* Pages. */

/* The bytes of some rows, "a" to "e", in one message. */
static ms_str five_rows(void)
{
    ms_buf message;
    ms_buf_init(&message, 1u << 20);
    for (char key = 'a'; key <= 'e'; key++) {
        char chunk[] = CELL("?") VALUE("v") COMMIT;
        *strchr(chunk, '?') = key;
        ms_str one = message_of_chunk(ms_str_make(chunk, sizeof(chunk) - 1));
        assert_ok(ms_buf_append(&message, one, &st));
    }
    ms_str copy = ms_arena_copy_str(&arena, ms_buf_view(&message));
    ms_buf_release(&message);
    return copy;
}

static void reading_stops_when_the_page_is_full(void **state)
{
    (void)state;
    ms_str message = five_rows();
    size_t at = 0;
    assert_bt_ok(ms_wire_rows_merger_read(&merger, message, &at, &page, 2, SIZE_MAX, &bt));
    assert_int_equal(page.row_count, 2);
    assert_true(at < message.bytes);
    assert_false(ms_wire_rows_merger_has_row(&merger));
    ms_bt_page_reset(&page, SIZE_MAX);
    /* By bytes: each row is 32 of its cell, and three. */
    assert_bt_ok(ms_wire_rows_merger_read(&merger, message, &at, &page, 100, 70, &bt));
    assert_int_equal(page.row_count, 2);
    ms_bt_page_reset(&page, SIZE_MAX);
    assert_bt_ok(ms_wire_rows_merger_read(&merger, message, &at, &page, 100, SIZE_MAX, &bt));
    assert_int_equal(page.row_count, 1);
    assert_int_equal(at, message.bytes);
    assert_int_equal(merger.rows, 5);
    ms_str key;
    assert_true(ms_wire_rows_merger_last_key(&merger, &key));
    assert_str_equal(key, "e");
}

static void an_open_row_moves_to_the_next_page(void **state)
{
    (void)state;
    ms_bt_page other;
    ms_bt_page_init(&other);
    assert_bt_ok(feed_chunk(bytes_lit(CELL("a") VALUE("v") COMMIT)));
    assert_bt_ok(feed_chunk(bytes_lit(CELL("b") VALUE("w"))));
    assert_bt_ok(feed_chunk(bytes_lit(SIZE("\x02") VALUE("x"))));
    assert_ok(ms_wire_rows_merger_move(&merger, &page, &other, &st));
    assert_int_equal(page.row_count, 1);
    assert_int_equal(page.cell_count, 1);
    size_t at = 0;
    ms_str rest = message_of_chunk(bytes_lit(VALUE("y") COMMIT));
    assert_bt_ok(ms_wire_rows_merger_read(&merger, rest, &at, &other, 10, 1000, &bt));
    naive_put_page(&seen, &other);
    assert_str_equal(ms_buf_view(&seen), "62 66 71 0 77  \n62 66 71 0 7879  \n--\n");
    /* Into a page that is not empty, and without a row: nothing happens. */
    assert_ok(ms_wire_rows_merger_move(&merger, &page, &other, &st));
    assert_int_equal(other.row_count, 1);
    ms_bt_page_release(&other);
}

static void another_attempt_drops_the_open_row(void **state)
{
    (void)state;
    assert_bt_ok(feed_chunk(bytes_lit(CELL("a") VALUE("v") COMMIT)));
    assert_bt_ok(feed_chunk(bytes_lit(CELL("b") SIZE("\x09") VALUE("w"))));
    ms_wire_rows_merger_restart(&merger, &page);
    assert_int_equal(page.cell_count, 1);
    assert_false(ms_wire_rows_merger_has_row(&merger));
    assert_bt_ok(feed_chunk(bytes_lit(CELL("b") VALUE("x") COMMIT)));
    assert_int_equal(page.row_count, 2);
    ms_wire_rows_merger_restart(&merger, &page);
    assert_bt_fails(feed_chunk(bytes_lit(CELL("a") COMMIT)), MS_BT_INTERNAL, "increasing");
}

static void names_keep_their_indexes(void **state)
{
    (void)state;
    const ms_str *families = NULL;
    for (unsigned i = 0; i < 100; i++) {
        char chunk[] = KEY("\x7f") FAMILY("\x7e") QUALIFIER("q") LABEL("\x7d") COMMIT;
        *strchr(chunk, '\x7f') = (char)(1 + i);
        *strchr(chunk, '\x7e') = (char)(1 + i % 50);
        *strchr(chunk, '\x7d') = (char)(1 + i % 30);
        assert_bt_ok(feed_chunk(ms_str_make(chunk, sizeof(chunk) - 1)));
        families = families == NULL ? page.families : families;
        const ms_bt_cell *cell = &page.cells[i];
        assert_int_equal(cell->family, i % 50);
        assert_int_equal(ms_bt_page_family(&page, cell).ptr[0], 1 + i % 50);
        assert_int_equal(ms_bt_page_label(&page, cell).ptr[0], 1 + i % 30);
    }
    /* The first list stays as it is, for those who have it. */
    assert_int_equal(families[0].ptr[0], 1);
}

static void more_names_than_the_limit_are_refused(void **state)
{
    (void)state;
    ms_bt_code code = MS_BT_OK;
    for (unsigned i = 0; i <= MS_WIRE_NAMES_MAX && code == MS_BT_OK; i++) {
        ms_pb_read_rows_response *message = ms_pb_new(&arena, read_rows_response);
        ms_pb_read_rows_response_cell_chunk *c = ms_pb_new(&arena, read_rows_response_cell_chunk);
        char text[16];
        (void)snprintf(text, sizeof(text), "%08u", i);
        message->n_chunks = 1;
        message->chunks = &c;
        c->row_key = ms_wire_bytes(ms_str_cstr(text));
        c->family_name = ms_pb_new(&arena, string_value);
        c->family_name->value = text;
        c->qualifier = ms_pb_new(&arena, bytes_value);
        c->row_status_case =
            GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_COMMIT_ROW;
        c->commit_row = true;
        code = feed(packed(&message->base));
        assert_true(code == MS_BT_OK || i == MS_WIRE_NAMES_MAX);
    }
    assert_int_equal(code, MS_BT_RESOURCE_EXHAUSTED);
}

/* Random streams. */

/* The chunks of a page, in messages of their own. */
static size_t chunks_of_page(const ms_wire_rows_options *options, const ms_bt_page *from,
                             ms_pb_read_rows_response_cell_chunk **list, size_t max)
{
    ms_wire_rows_writer writer;
    size_t count = 0;
    ms_wire_rows_writer_init(&writer, options);
    ms_wire_rows_writer_begin(&writer, from);
    while (!ms_wire_rows_writer_is_done(&writer)) {
        ms_buf_reset(&buf);
        assert_ok(ms_wire_rows_writer_next(&writer, &buf, &st));
        const ms_pb_read_rows_response *message = ms_pb_unpack(
            read_rows_response, ms_buf_view(&buf), &ms_wire_response_limits, &arena, &bt);
        for (size_t i = 0; i < message->n_chunks && count < max; i++) {
            list[count++] = message->chunks[i];
        }
    }
    return count;
}

static void set_status(ms_pb_read_rows_response_cell_chunk *c, int status, bool value)
{
    c->row_status_case = (Google__Bigtable__V2__ReadRowsResponse__CellChunk__RowStatusCase)status;
    c->commit_row = value;
}

/* Makes something else of a chunk, mostly something illegal. */
static void edit_chunk(wire_choices *c, ms_pb_read_rows_response_cell_chunk *chunk)
{
    switch (wire_pick(c, 10)) {
    case 0:
        *chunk = *(ms_pb_read_rows_response_cell_chunk *)ms_pb_new(&arena,
                                                                   read_rows_response_cell_chunk);
        set_status(chunk,
                   GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_RESET_ROW,
                   true);
        break;
    case 1:
        set_status(chunk,
                   GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_COMMIT_ROW,
                   wire_pick(c, 2) == 0);
        break;
    case 2:
        set_status(chunk,
                   GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_RESET_ROW,
                   wire_pick(c, 2) == 0);
        break;
    case 3:
        chunk->value_size = (int32_t)wire_pick(c, 20) - 2;
        break;
    case 4:
        chunk->row_key = ms_wire_bytes(wire_pick_bytes(c));
        break;
    case 5:
        chunk->family_name = wire_pick(c, 2) == 0 ? NULL : ms_pb_new(&arena, string_value);
        break;
    case 6:
        chunk->qualifier = wire_pick(c, 2) == 0 ? NULL : ms_pb_new(&arena, bytes_value);
        break;
    case 7:
        chunk->timestamp_micros = wire_pick(c, 2);
        break;
    case 8:
        chunk->value.len = 0;
        break;
    default:
        chunk->row_key.len = 0;
        break;
    }
}

/* Feeds both mergers; true when the stream is legal. */
static bool both_take(naive_rows *n, const ms_pb_read_rows_response *message, wire_choices *c)
{
    ms_str bytes = packed(&message->base);
    bool expected = naive_take_message(n, message);
    size_t at = 0;
    ms_bt_status_clear(&bt);
    do {
        ms_bt_code code = ms_wire_rows_merger_read(&merger, bytes, &at, &page, 1 + wire_pick(c, 4),
                                                   SIZE_MAX, &bt);
        if (code != MS_BT_OK) {
            break;
        }
        ms_bt_page next;
        ms_bt_page_init(&next);
        assert_ok(ms_wire_rows_merger_move(&merger, &page, &next, &st));
        naive_put_page(&seen, &page);
        ms_bt_page_release(&page);
        page = next;
    } while (at < bytes.bytes);
    naive_put_page(&seen, &page);
    if (ms_bt_status_is_ok(&bt) != expected) {
        fail_msg("%s, but: %s", expected ? "legal" : "illegal", bt.text);
    }
    return expected;
}

static void random_streams_are_merged_as_the_rules_say(void **state)
{
    (void)state;
    enum { CHUNKS_MAX = 400 };
    unsigned legal = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        wire_choices c = choices_of(seed);
        ms_pb_read_rows_response_cell_chunk **list =
            ms_arena_array(&arena, ms_pb_read_rows_response_cell_chunk *, CHUNKS_MAX);
        ms_bt_page from;
        naive_rows n;
        ms_bt_page_init(&from);
        naive_rows_init(&n, false);
        restart_all(false);
        pick_page(&c, 1 + wire_pick(&c, 6), &from);
        const ms_wire_rows_options options = {.piece_bytes = 1 + wire_pick(&c, 100)};
        size_t count = chunks_of_page(&options, &from, list, CHUNKS_MAX);
        for (unsigned edits = wire_pick(&c, 3); edits > 0; edits--) {
            edit_chunk(&c, list[wire_pick(&c, (unsigned)count)]);
        }
        bool is_legal = true;
        for (size_t i = 0; i < count && is_legal;) {
            ms_pb_read_rows_response *message = ms_pb_new(&arena, read_rows_response);
            message->chunks = list + i;
            while (i < count && message->n_chunks < 1 + wire_pick(&c, 8)) {
                message->n_chunks++;
                i++;
            }
            is_legal = both_take(&n, message, &c);
        }
        assert_same_bytes(ms_buf_view(&seen), ms_buf_view(&n.out));
        if (is_legal) {
            assert_int_equal(ms_wire_rows_merger_has_row(&merger), n.in_row);
            legal++;
        }
        naive_rows_release(&n);
        ms_bt_page_release(&from);
        ms_arena_reset(&arena);
    }
    assert_true(legal > 1000 && legal < 3500);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(vectors_of_all_clients_pass),
        TEST(binary_vectors_pass),
        TEST(each_rule_is_broken_by_name),
        TEST(a_stream_ends_between_rows),
        TEST(a_flag_that_is_false_is_none),
        TEST(names_may_be_empty),
        TEST(a_reversed_read_descends),
        TEST(a_scanned_key_counts_for_order_and_resumption),
        TEST(reports_of_scanned_keys_do_not_pile_up),
        TEST(malformed_bytes_are_the_servers_fault),
        TEST(rows_before_a_failure_are_good),
        TEST(statistics_are_noted),
        TEST(reading_stops_when_the_page_is_full),
        TEST(an_open_row_moves_to_the_next_page),
        TEST(another_attempt_drops_the_open_row),
        TEST(names_keep_their_indexes),
        TEST(more_names_than_the_limit_are_refused),
        TEST(random_streams_are_merged_as_the_rules_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
