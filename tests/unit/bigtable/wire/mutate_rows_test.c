/* SPDX-License-Identifier: Apache-2.0 */
/* The codec of MutateRow and MutateRows against protobuf-c: the same bytes, the same batches. */
#include "bigtable/wire/batch_testing.h"

#include "bigtable/wire/mutate_rows.h"
#include "bigtable/wire/mutation.h"
#include "bigtable/wire/time.h"
#include "bigtable/wire/wire_priv.h"

static ms_bt_mutation_batch batch;
static ms_bt_mutation_batch again;
static ms_bt_mutation_batch oracle;

/* A batch keeps its families when it is reset, and there are many here. */
static void renew(ms_bt_mutation_batch *b)
{
    ms_bt_mutation_batch_release(b);
    ms_bt_mutation_batch_init(b, 1u << 24);
}

static int setup(void **state)
{
    ms_bt_mutation_batch_init(&batch, 1u << 24);
    ms_bt_mutation_batch_init(&again, 1u << 24);
    ms_bt_mutation_batch_init(&oracle, 1u << 24);
    return wire_setup(state);
}

static int teardown(void **state)
{
    ms_bt_mutation_batch_release(&batch);
    ms_bt_mutation_batch_release(&again);
    ms_bt_mutation_batch_release(&oracle);
    return wire_teardown(state);
}

/* What protobuf-c makes of a batch. */

static ms_pb_idempotency *idempotency_of(const ms_bt_mutation_entry *entry)
{
    if (entry->token.bytes == 0) {
        return NULL;
    }
    ms_pb_idempotency *message = ms_pb_new(&arena, idempotency);
    message->token = ms_wire_bytes(entry->token);
    message->start_time = ms_wire_timestamp_to_pb(entry->token_start_micros, &arena);
    return message;
}

static ms_pb_mutation **mutations_of(ms_bt_mutation_cursor *cursor, size_t *count_out)
{
    ms_pb_mutation **list = ms_arena_array(&arena, ms_pb_mutation *, 16);
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_SET_CELL};
    *count_out = 0;
    while (ms_bt_mutation_cursor_next(cursor, &mutation)) {
        ms_str family = mutation.kind == MS_BT_MUTATION_DELETE_FROM_ROW
                            ? ms_str_lit("")
                            : ms_bt_mutation_batch_family_name(&batch, mutation.family);
        list[(*count_out)++] = msi_wire_mutation_to_pb(&mutation, family, &arena);
    }
    return list;
}

static ms_pb_mutate_rows_request *rows_of(const ms_wire_mutate_head *head, const uint32_t *indexes,
                                          size_t count)
{
    ms_pb_mutate_rows_request *request = ms_pb_new(&arena, mutate_rows_request);
    request->table_name = ms_wire_text(&arena, head->table);
    request->app_profile_id = ms_wire_text(&arena, head->app_profile);
    request->authorized_view_name = ms_wire_text(&arena, head->authorized_view);
    request->entries = ms_arena_array(&arena, ms_pb_mutate_rows_request_entry *,
                                      ms_bt_mutation_batch_entries(&batch) + 1);
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&batch);
    ms_bt_mutation_entry entry = {0};
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        bool is_wanted = indexes == NULL;
        for (size_t i = 0; i < count; i++) {
            is_wanted = is_wanted || indexes[i] == entry.index;
        }
        if (is_wanted) {
            ms_pb_mutate_rows_request_entry *message = ms_pb_new(&arena, mutate_rows_request_entry);
            message->row_key = ms_wire_bytes(entry.key);
            message->mutations = mutations_of(&cursor, &message->n_mutations);
            message->idempotency = idempotency_of(&entry);
            request->entries[request->n_entries++] = message;
        }
    }
    return request;
}

static ms_pb_mutate_row_request *row_of(const ms_wire_mutate_head *head)
{
    ms_pb_mutate_row_request *request = ms_pb_new(&arena, mutate_row_request);
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&batch);
    ms_bt_mutation_entry entry = {0};
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    request->table_name = ms_wire_text(&arena, head->table);
    request->app_profile_id = ms_wire_text(&arena, head->app_profile);
    request->authorized_view_name = ms_wire_text(&arena, head->authorized_view);
    request->row_key = ms_wire_bytes(entry.key);
    request->mutations = mutations_of(&cursor, &request->n_mutations);
    request->idempotency = idempotency_of(&entry);
    return request;
}

static ms_wire_mutate_head pick_head(wire_choices *c)
{
    return (ms_wire_mutate_head){ms_wire_text_view(wire_pick_text(c)),
                                 ms_wire_text_view(wire_pick_text(c)),
                                 ms_wire_text_view(wire_pick_text(c))};
}

static void assert_same_head(const ms_wire_mutate_head *a, const ms_wire_mutate_head *b)
{
    assert_same_bytes(a->table, b->table);
    assert_same_bytes(a->app_profile, b->app_profile);
    assert_same_bytes(a->authorized_view, b->authorized_view);
}

static void batches_are_written_as_protobuf_writes_them(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        wire_choices c = choices_of(seed);
        ms_wire_mutate_head head = pick_head(&c);
        ms_wire_mutate_head back;
        renew(&batch);
        renew(&again);
        ms_buf_reset(&buf);
        pick_batch(&c, wire_pick(&c, 6), &batch);
        assert_ok(ms_wire_mutate_rows_encode(&head, &batch, NULL, 0, &buf, &st));
        assert_same_bytes(ms_buf_view(&buf), packed(&rows_of(&head, NULL, 0)->base));
        assert_bt_ok(ms_wire_mutate_rows_decode(ms_buf_view(&buf), &ms_wire_request_limits, &again,
                                                &back, &bt));
        assert_same_batch(&batch, &again);
        assert_same_head(&head, &back);
        ms_arena_reset(&arena);
    }
}

static void single_rows_are_written_as_protobuf_writes_them(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        wire_choices c = choices_of(seed);
        ms_wire_mutate_head head = pick_head(&c);
        ms_wire_mutate_head back;
        renew(&batch);
        renew(&again);
        ms_buf_reset(&buf);
        pick_batch(&c, 1, &batch);
        assert_ok(ms_wire_mutate_row_encode(&head, &batch, &buf, &st));
        assert_same_bytes(ms_buf_view(&buf), packed(&row_of(&head)->base));
        assert_bt_ok(ms_wire_mutate_row_decode(ms_buf_view(&buf), &ms_wire_request_limits, &again,
                                               &back, &bt));
        assert_same_batch(&batch, &again);
        assert_same_head(&head, &back);
        ms_arena_reset(&arena);
    }
}

static void some_entries_can_be_sent_again(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        wire_choices c = choices_of(seed);
        ms_wire_mutate_head head = pick_head(&c);
        uint32_t indexes[8];
        size_t count = 0;
        renew(&batch);
        ms_buf_reset(&buf);
        pick_batch(&c, 8, &batch);
        for (uint32_t i = 0; i < 8; i++) {
            if (wire_pick(&c, 2) == 0) {
                indexes[count++] = i;
            }
        }
        assert_ok(ms_wire_mutate_rows_encode(&head, &batch, indexes, count, &buf, &st));
        assert_same_bytes(ms_buf_view(&buf), packed(&rows_of(&head, indexes, count)->base));
        ms_arena_reset(&arena);
    }
}

/* The way over protobuf-c: into the oracle batch. Tokens are noted beside it. */

typedef struct noted_tokens {
    ms_str list[16];
    int64_t starts[16];
} noted_tokens;

static void note_token(const ms_pb_idempotency *message, size_t index, noted_tokens *tokens)
{
    tokens->list[index] = ms_str_lit("");
    tokens->starts[index] = 0;
    if (message != NULL) {
        tokens->list[index] = ms_wire_bytes_view(message->token);
        tokens->starts[index] = ms_wire_timestamp_micros(message->start_time);
    }
}

static ms_bt_code rows_slowly(ms_str bytes, ms_wire_mutate_head *head, noted_tokens *tokens)
{
    const ms_pb_mutate_rows_request *request =
        ms_pb_unpack(mutate_rows_request, bytes, &ms_wire_request_limits, &arena, &bt);
    if (request == NULL) {
        return bt.code;
    }
    *head = (ms_wire_mutate_head){ms_wire_text_view(request->table_name),
                                  ms_wire_text_view(request->authorized_view_name),
                                  ms_wire_text_view(request->app_profile_id)};
    assert_true(request->n_entries <= 16);
    for (size_t i = 0; i < request->n_entries; i++) {
        const ms_pb_mutate_rows_request_entry *entry = request->entries[i];
        note_token(entry->idempotency, i, tokens);
        MS_BT_TRY(ms_wire_mutations_from_pb(ms_wire_bytes_view(entry->row_key), entry->mutations,
                                            entry->n_mutations, &oracle, &bt));
    }
    return MS_BT_OK;
}

static ms_bt_code row_slowly(ms_str bytes, ms_wire_mutate_head *head, noted_tokens *tokens)
{
    const ms_pb_mutate_row_request *request =
        ms_pb_unpack(mutate_row_request, bytes, &ms_wire_request_limits, &arena, &bt);
    if (request == NULL) {
        return bt.code;
    }
    *head = (ms_wire_mutate_head){ms_wire_text_view(request->table_name),
                                  ms_wire_text_view(request->authorized_view_name),
                                  ms_wire_text_view(request->app_profile_id)};
    note_token(request->idempotency, 0, tokens);
    return ms_wire_mutations_from_pb(ms_wire_bytes_view(request->row_key), request->mutations,
                                     request->n_mutations, &oracle, &bt);
}

static void assert_same_tokens(const noted_tokens *tokens)
{
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&again);
    ms_bt_mutation_entry entry = {0};
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        assert_same_bytes(entry.token, tokens->list[entry.index]);
        if (entry.token.bytes > 0) {
            assert_int_equal(entry.token_start_micros, tokens->starts[entry.index]);
        }
    }
}

static void assert_same_mutations(void)
{
    ms_bt_mutation_cursor x = ms_bt_mutation_cursor_make(&again);
    ms_bt_mutation_cursor y = ms_bt_mutation_cursor_make(&oracle);
    ms_bt_mutation_entry e = {0};
    ms_bt_mutation_entry f = {0};
    while (ms_bt_mutation_cursor_next_entry(&x, &e)) {
        assert_true(ms_bt_mutation_cursor_next_entry(&y, &f));
        assert_same_bytes(e.key, f.key);
        assert_int_equal(e.mutation_count, f.mutation_count);
        ms_bt_mutation m = {.kind = MS_BT_MUTATION_SET_CELL};
        ms_bt_mutation n = {.kind = MS_BT_MUTATION_SET_CELL};
        while (ms_bt_mutation_cursor_next(&x, &m)) {
            assert_true(ms_bt_mutation_cursor_next(&y, &n));
            assert_same_mutation(&again, &m, &oracle, &n);
        }
    }
}

/* Both ways agree on what is refused, and on what it says. */
static bool assert_both_agree(ms_str bytes, bool is_single)
{
    ms_wire_mutate_head fast;
    ms_wire_mutate_head slow = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    noted_tokens tokens;
    renew(&again);
    renew(&oracle);
    ms_bt_status_clear(&bt);
    ms_bt_code expected =
        is_single ? row_slowly(bytes, &slow, &tokens) : rows_slowly(bytes, &slow, &tokens);
    ms_bt_status_clear(&bt);
    const ms_wire_limits *limits = &ms_wire_request_limits;
    ms_bt_code got = is_single ? ms_wire_mutate_row_decode(bytes, limits, &again, &fast, &bt)
                               : ms_wire_mutate_rows_decode(bytes, limits, &again, &fast, &bt);
    if (got != expected) {
        fail_msg("%d instead of %d: %s", (int)got, (int)expected, bt.text);
    }
    if (got != MS_BT_OK) {
        return false;
    }
    assert_same_head(&fast, &slow);
    assert_int_equal(ms_bt_mutation_batch_entries(&again), ms_bt_mutation_batch_entries(&oracle));
    assert_same_tokens(&tokens);
    assert_same_mutations();
    return true;
}

static void random_requests_are_read_as_protobuf_reads_them(void **state)
{
    (void)state;
    unsigned taken = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        wire_choices c = choices_of(seed);
        const ProtobufCMessageDescriptor *class =
            seed % 2 == 0 ? ms_pb_mutate_rows_request_class() : ms_pb_mutate_row_request_class();
        ms_str bytes = packed(wire_pick_message(&c, class, 3 + seed % 5));
        taken += assert_both_agree(bytes, seed % 2 != 0);
        ms_arena_reset(&arena);
    }
    assert_true(taken > 100);
}

static void spoiled_requests_are_read_as_protobuf_reads_them(void **state)
{
    (void)state;
    unsigned taken = 0;
    const ms_wire_mutate_head head = {ms_str_lit("table"), ms_str_lit(""), ms_str_lit("profile")};
    for (uint64_t seed = 0; seed < 20000; seed++) {
        wire_choices c = choices_of(seed);
        bool is_single = seed % 2 != 0;
        renew(&batch);
        ms_buf_reset(&buf);
        pick_batch(&c, is_single ? 1 : 2, &batch);
        assert_ok(is_single ? ms_wire_mutate_row_encode(&head, &batch, &buf, &st)
                            : ms_wire_mutate_rows_encode(&head, &batch, NULL, 0, &buf, &st));
        wire_spoil(&c, &buf);
        taken += assert_both_agree(ms_buf_view(&buf), is_single);
        ms_arena_reset(&arena);
    }
    assert_true(taken > 1000);
}

static void fields_may_come_in_any_order(void **state)
{
    (void)state;
    /* Mutations before the key; the origin before the cell; the value before the family. */
    ms_wire_mutate_head head;
    ms_str bytes = bytes_lit("\x12\x12\x12\x0d\x38\x01\x0a\x09\x22\x01"
                             "v\x18\x07\x0a\x02"
                             "cf\x0a\x01"
                             "k\x0a\x01"
                             "t");
    assert_bt_ok(ms_wire_mutate_rows_decode(bytes, &ms_wire_request_limits, &again, &head, &bt));
    assert_str_equal(head.table, "t");
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&again);
    ms_bt_mutation_entry entry = {0};
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_SET_CELL};
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    assert_str_equal(entry.key, "k");
    assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
    assert_str_equal(mutation.value, "v");
    assert_int_equal(mutation.origin, MS_BT_TIMESTAMP_USER);
    assert_int_equal(mutation.timestamp_micros, 7);
    assert_str_equal(ms_bt_mutation_batch_family_name(&again, mutation.family), "cf");
}

static void what_is_refused_is_called_by_its_name(void **state)
{
    (void)state;
    const struct {
        ms_str bytes;
        const char *why;
    } cases[] = {
        {bytes_lit("\x12\x02\x12\x00"),
         "Error in Mutation list : Error in element #0 : No mutation is set"},
        {bytes_lit("\x12\x04\x12\x02\x0a\x05"), "cut short"},
        {bytes_lit("\x12\x06\x12\x04\x0a\x00\x22\x00"), "a mutation is two"},
        {bytes_lit("\x12\x06\x12\x04\x0a\x00\x0a\x00"), "a mutation is two"},
        {bytes_lit("\x12\x07\x12\x05\x0a\x03\x0a\x01\xff"), "UTF-8"},
        {bytes_lit("\x0a\x01\xff"), "UTF-8"},
        {bytes_lit("\x12\x04\x1a\x00\x1a\x00"), "a field occurs twice"},
        {bytes_lit("\x08\x01"), "cut short or has a wrong tag"},
        {bytes_lit("\x12\x02\x08\x01"), "cut short or has a wrong tag"},
        {bytes_lit("\x12\x04\x12\x02\x08\x01"), "wrong type"},
    };
    ms_wire_mutate_head head;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        renew(&again);
        assert_bt_fails(
            ms_wire_mutate_rows_decode(cases[i].bytes, &ms_wire_request_limits, &again, &head, &bt),
            MS_BT_INVALID_ARGUMENT, cases[i].why);
        assert_int_equal(ms_bt_mutation_batch_entries(&again), 0);
    }
    ms_wire_limits limits = ms_wire_request_limits;
    limits.bytes_max = 3;
    assert_bt_fails(
        ms_wire_mutate_rows_decode(bytes_lit("\x0a\x02tt"), &limits, &again, &head, &bt),
        MS_BT_RESOURCE_EXHAUSTED, "larger than max (4 vs. 3)");
    assert_bt_fails(ms_wire_mutate_row_decode(bytes_lit("\x0a\x02tt"), &limits, &again, &head, &bt),
                    MS_BT_RESOURCE_EXHAUSTED, "larger than max (4 vs. 3)");
    assert_bt_fails(ms_wire_mutate_row_decode(bytes_lit("\x1a\x02\x0a\x05"),
                                              &ms_wire_request_limits, &again, &head, &bt),
                    MS_BT_INVALID_ARGUMENT, "google.bigtable.v2.MutateRowRequest is malformed");
}

static void a_full_batch_is_exhaustion(void **state)
{
    (void)state;
    const ms_wire_mutate_head head = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    ms_wire_mutate_head back;
    ms_bt_mutation_batch small;
    ms_bt_mutation_batch_init(&small, 256);
    wire_choices c = choices_of(3);
    pick_batch(&c, 20, &batch);
    assert_ok(ms_wire_mutate_rows_encode(&head, &batch, NULL, 0, &buf, &st));
    assert_bt_fails(
        ms_wire_mutate_rows_decode(ms_buf_view(&buf), &ms_wire_request_limits, &small, &back, &bt),
        MS_BT_RESOURCE_EXHAUSTED, "");
    ms_bt_mutation_batch_release(&small);
}

static void a_full_buffer_takes_no_more(void **state)
{
    (void)state;
    const ms_wire_mutate_head head = {ms_str_lit("t"), {NULL, 0}, {NULL, 0}};
    ms_buf small;
    ms_buf_init(&small, 64);
    wire_choices c = choices_of(3);
    pick_batch(&c, 20, &batch);
    assert_int_equal(ms_wire_mutate_rows_encode(&head, &batch, NULL, 0, &small, &st), MS_LIMIT);
    ms_buf_release(&small);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(batches_are_written_as_protobuf_writes_them),
        TEST(single_rows_are_written_as_protobuf_writes_them),
        TEST(some_entries_can_be_sent_again),
        TEST(random_requests_are_read_as_protobuf_reads_them),
        TEST(spoiled_requests_are_read_as_protobuf_reads_them),
        TEST(fields_may_come_in_any_order),
        TEST(what_is_refused_is_called_by_its_name),
        TEST(a_full_batch_is_exhaustion),
        TEST(a_full_buffer_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
