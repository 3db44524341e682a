/* SPDX-License-Identifier: Apache-2.0 */
/* The scan: what it refuses and why, and that protobuf-c takes whatever it passes. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/wire_priv.h"

static void assert_refused(const ProtobufCMessageDescriptor *class, ms_str bytes, const char *why)
{
    assert_bt_fails(ms_wire_check(class, bytes, &ms_wire_request_limits, &bt),
                    MS_BT_INVALID_ARGUMENT, why);
    assert_null(ms_wire_unpack(class, bytes, &ms_wire_request_limits, &arena, &bt));
    ms_bt_status_clear(&bt);
}

#define assert_takes(class, bytes)                                                                 \
    assert_bt_ok(ms_wire_check((class), (bytes), &ms_wire_request_limits, &bt))

static void an_empty_message_is_a_message(void **state)
{
    (void)state;
    const ms_str none = {NULL, 0};
    const ms_pb_read_rows_request *request =
        ms_pb_unpack(read_rows_request, none, &ms_wire_request_limits, &arena, &bt);
    assert_non_null(request);
    assert_string_equal(request->table_name, "");
    assert_null(request->filter);
}

static void what_is_cut_short_is_refused(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *class = ms_pb_read_rows_request_class();
    static const char cut[] = "cut short";
    assert_refused(class, bytes_lit("\x0a"), cut);                     /* no length */
    assert_refused(class, bytes_lit("\x0a\x05tabl"), cut);             /* a byte is missing */
    assert_refused(class, bytes_lit("\x8a"), cut);                     /* half a tag */
    assert_refused(class, bytes_lit("\x20"), cut);                     /* no number */
    assert_refused(class, bytes_lit("\x20\x80"), cut);                 /* half a number */
    assert_refused(class, bytes_lit("\xa9\x06\x01\x02\x03"), cut);     /* unknown, 8 bytes */
    assert_refused(class, bytes_lit("\xad\x06\x01\x02"), cut);         /* unknown, 4 bytes */
    assert_refused(class, bytes_lit("\xaa\x06\x05x"), cut);            /* unknown, a length */
    assert_refused(class, bytes_lit("\x12\x04\x0a\x05key"), cut);      /* in a message */
    assert_refused(class, bytes_lit("\x0a\xff\xff\xff\xff\x0f"), cut); /* 4 GiB to come */
}

static void numbers_and_tags_are_not_too_long(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *class = ms_pb_read_rows_request_class();
    assert_takes(class, bytes_lit("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    assert_refused(class, bytes_lit("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "field");
    assert_takes(class, bytes_lit("\xa0\x80\x80\x80\x00\x01"));
    assert_refused(class, bytes_lit("\xa0\x80\x80\x80\x80\x00\x01"), "wrong tag");
    assert_refused(class, bytes_lit("\x00\x01"), "wrong tag");                 /* field 0 */
    assert_refused(class, bytes_lit("\x02\x00"), "wrong tag");                 /* field 0, too */
    assert_refused(class, bytes_lit("\xf8\xff\xff\xff\x1f\x01"), "wrong tag"); /* above 2^29 */
}

static void groups_are_refused(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *class = ms_pb_read_rows_request_class();
    assert_refused(class, bytes_lit("\xa3\x06\xa4\x06"), "wrong tag");
    assert_refused(class, bytes_lit("\x0b\x0c"), "wrong type");
    assert_refused(class, bytes_lit("\xa6\x06"), "wrong tag"); /* wire type 6 */
}

static void a_field_of_the_wrong_type_is_refused(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *class = ms_pb_read_rows_request_class();
    assert_refused(class, bytes_lit("\x08\x01"), "wrong type");
    assert_refused(class, bytes_lit("\x22\x01x"), "wrong type");
    assert_refused(class, bytes_lit("\x10\x01"), "wrong type");
    assert_refused(ms_pb_row_filter_class(), bytes_lit("\x70\x01"), "wrong type");
}

static void texts_are_utf8_without_nul(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *class = ms_pb_read_rows_request_class();
    assert_takes(class, bytes_lit("\x0a\x02\xc3\xa9"));
    assert_refused(class, bytes_lit("\x0a\x02\xc3\x28"), "UTF-8");
    assert_refused(class,
                   bytes_lit("\x0a\x03"
                             "a\0b"),
                   "NUL");
    /* Keys are bytes. */
    assert_takes(ms_pb_row_set_class(), bytes_lit("\x0a\x03\x00\xff\xc3"));
}

static void a_message_that_belongs_once_occurs_once(void **state)
{
    (void)state;
    assert_refused(ms_pb_read_rows_request_class(), bytes_lit("\x12\x00\x12\x00"), "twice");
    /* Of a oneof too, whichever of its messages. */
    assert_refused(ms_pb_row_filter_class(), bytes_lit("\x0a\x00\x12\x00"), "twice");
    assert_refused(ms_pb_row_filter_class(), bytes_lit("\x12\x00\x0a\x00"), "twice");
    /* Repeated ones, others elsewhere, and plain fields may. */
    assert_takes(ms_pb_row_set_class(), bytes_lit("\x12\x00\x12\x00\x0a\x00\x0a\x00"));
    assert_takes(ms_pb_row_filter_condition_class(), bytes_lit("\x0a\x00\x12\x00\x1a\x00"));
    assert_takes(ms_pb_read_rows_request_class(), bytes_lit("\x20\x01\x20\x02\x0a\x00\x0a\x00"));
    assert_takes(ms_pb_row_filter_class(), bytes_lit("\x0a\x00\x80\x01\x01"));
}

/* A chain of filters, each in the one before: two messages a level. */
static ms_str nested(unsigned levels)
{
    ms_pb_row_filter *filter = ms_pb_new(&arena, row_filter);
    for (unsigned i = 0; i < levels; i++) {
        ms_pb_row_filter *outer = ms_pb_new(&arena, row_filter);
        outer->filter_case = GOOGLE__BIGTABLE__V2__ROW_FILTER__FILTER_CHAIN;
        outer->chain = ms_pb_new(&arena, row_filter_chain);
        outer->chain->filters = ms_arena_array(&arena, ms_pb_row_filter *, 1);
        outer->chain->filters[0] = filter;
        outer->chain->n_filters = 1;
        filter = outer;
    }
    return packed(&filter->base);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *class = ms_pb_row_filter_class();
    /* The outermost message, and two for each level. */
    assert_takes(class, nested(31));
    assert_refused(class, nested(32), "nested too deep");
    ms_wire_limits limits = ms_wire_request_limits;
    limits.depth_max = 5;
    assert_bt_ok(ms_wire_check(class, nested(2), &limits, &bt));
    assert_bt_fails(ms_wire_check(class, nested(3), &limits, &bt), MS_BT_INVALID_ARGUMENT, "deep");
}

/* Lengths that each fit, written from the inside out: far deeper than any stack. */
static void no_depth_exhausts_the_stack(void **state)
{
    (void)state;
    enum { LEVELS = 100000 };
    size_t room = (size_t)LEVELS * 6;
    char *bytes = ms_arena_alloc(&arena, room, 1);
    char *at = bytes + room;
    for (unsigned i = 0; i < LEVELS; i++) {
        char head[8 + MSI_WIRE_SLACK];
        size_t inside = (size_t)(bytes + room - at);
        char *end = msi_wire_put_head(head, 1, inside);
        at -= end - head;
        memcpy(at, head, (size_t)(end - head));
    }
    assert_refused(ms_pb_row_filter_class(), ms_str_make(at, (size_t)(bytes + room - at)), "deep");
}

static void size_fields_and_memory_are_bounded(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *class = ms_pb_row_set_class();
    ms_str keys = bytes_lit("\x0a\x01"
                            "a\x0a\x01"
                            "b\x0a\x01"
                            "c");
    ms_wire_limits limits = ms_wire_request_limits;
    limits.bytes_max = 9;
    assert_bt_ok(ms_wire_check(class, keys, &limits, &bt));
    limits.bytes_max = 8;
    assert_bt_fails(ms_wire_check(class, keys, &limits, &bt), MS_BT_RESOURCE_EXHAUSTED,
                    "larger than max (9 vs. 8)");
    limits = ms_wire_request_limits;
    limits.fields_max = 3;
    assert_bt_ok(ms_wire_check(class, keys, &limits, &bt));
    limits.fields_max = 2;
    assert_bt_fails(ms_wire_check(class, keys, &limits, &bt), MS_BT_INVALID_ARGUMENT,
                    "too many fields");
    limits = ms_wire_response_limits;
    limits.overhead_max = 100;
    assert_bt_fails(ms_wire_check(class, keys, &limits, &bt), MS_BT_INTERNAL, "too much memory");
}

/* The estimate of memory is not below what is taken, here for many of the same field. */
static void assert_covered(const ProtobufCMessageDescriptor *class, ms_str field)
{
    enum { COUNT = 3000 };
    ms_buf_reset(&buf);
    for (size_t i = 0; i < COUNT; i++) {
        assert_ok(ms_buf_append(&buf, field, &st));
    }
    ms_arena own;
    ms_arena_init(&own, 0);
    assert_non_null(ms_wire_unpack(class, ms_buf_view(&buf), &ms_wire_request_limits, &own, &bt));
    ms_wire_limits limits = ms_wire_request_limits;
    limits.overhead_max = ms_arena_used_bytes(&own);
    ms_arena_release(&own);
    assert_bt_fails(ms_wire_check(class, ms_buf_view(&buf), &limits, &bt), MS_BT_INVALID_ARGUMENT,
                    "too much memory");
}

static void overhead_covers_what_is_allocated(void **state)
{
    (void)state;
    assert_covered(ms_pb_row_filter_chain_class(), bytes_lit("\x0a\x00")); /* empty messages */
    assert_covered(ms_pb_list_tables_response_class(), bytes_lit("\x0a\x00"));
    assert_covered(ms_pb_row_set_class(), bytes_lit("\x0a\x00"));     /* empty bytes */
    assert_covered(ms_pb_cell_class(), bytes_lit("\x1a\x00"));        /* empty texts */
    assert_covered(ms_pb_row_set_class(), bytes_lit("\xa0\x06\x01")); /* unknown fields */
    assert_covered(ms_pb_row_set_class(), bytes_lit("\xa2\x06\x00"));
    assert_covered(ms_pb_read_rows_request_class(), bytes_lit("\x20\x01")); /* the same again */
}

static void the_first_member_of_a_message_is_not_the_last_word(void **state)
{
    (void)state;
    /* A scalar twice, and two members of a oneof: the later counts. */
    const ms_pb_row_filter *filter = ms_pb_unpack(row_filter, bytes_lit("\x80\x01\x01\x88\x01\x01"),
                                                  &ms_wire_request_limits, &arena, &bt);
    assert_non_null(filter);
    assert_int_equal(filter->filter_case, GOOGLE__BIGTABLE__V2__ROW_FILTER__FILTER_PASS_ALL_FILTER);
}

static void messages_of_all_classes_come_back_as_they_were(void **state)
{
    (void)state;
    for (size_t i = 0; i < WIRE_CLASS_COUNT; i++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            wire_choices c = choices_of(seed * 1000 + i);
            ms_str bytes = packed(wire_pick_message(&c, wire_classes[i], 8));
            assert_takes(wire_classes[i], bytes);
            ms_arena own;
            ms_arena_init(&own, 0);
            const ProtobufCMessage *message =
                ms_wire_unpack(wire_classes[i], bytes, &ms_wire_request_limits, &own, &bt);
            assert_non_null(message);
            assert_same_bytes(packed(message), bytes);
            ms_arena_release(&own);
        }
        ms_arena_reset(&arena);
    }
}

static void what_passes_the_scan_unpacks(void **state)
{
    (void)state;
    unsigned passed = 0;
    for (uint64_t seed = 0; seed < 30000; seed++) {
        wire_choices c = choices_of(seed);
        const ProtobufCMessageDescriptor *class = wire_classes[wire_pick(&c, WIRE_CLASS_COUNT)];
        ms_buf_reset(&buf);
        assert_ok(ms_wire_pack(wire_pick_message(&c, class, 6), &buf, &st));
        wire_spoil(&c, &buf);
        ms_bt_status_clear(&bt);
        if (ms_wire_check(class, ms_buf_view(&buf), &ms_wire_request_limits, &bt) == MS_BT_OK) {
            passed++;
            assert_non_null(
                ms_wire_unpack(class, ms_buf_view(&buf), &ms_wire_request_limits, &arena, &bt));
        }
        ms_arena_reset(&arena);
    }
    assert_true(passed > 1000);
}

static void a_full_buffer_takes_no_message(void **state)
{
    (void)state;
    ms_buf small;
    ms_buf_init(&small, 4);
    ms_pb_read_rows_request *request = ms_pb_new(&arena, read_rows_request);
    request->table_name = ms_wire_text(&arena, ms_str_lit("table"));
    assert_int_equal(ms_pb_pack(request, &small, &st), MS_LIMIT);
    assert_int_equal(small.bytes, 0);
    ms_buf_release(&small);
}

static void varints_know_their_length(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 63; bits++) {
        const uint64_t around[] = {(1ull << bits) - 1, 1ull << bits, (1ull << bits) + 1};
        for (size_t i = 0; i < 3; i++) {
            char bytes[MSI_WIRE_VARINT_BYTES + MSI_WIRE_SLACK];
            uint64_t value = 0;
            size_t length = (size_t)(msi_wire_put_varint(bytes, around[i]) - bytes);
            assert_int_equal(msi_wire_varint_bytes(around[i]), length);
            assert_ptr_equal(msi_wire_get_varint(bytes, bytes + length, &value), bytes + length);
            assert_int_equal(value, around[i]);
            /* Also where eight bytes cannot be read at once. */
            assert_ptr_equal(
                msi_wire_get_long_varint(bytes, bytes + length, MSI_WIRE_VARINT_BYTES, &value),
                bytes + length);
            assert_int_equal(value, around[i]);
            memset(bytes + length, 0xff, sizeof(bytes) - length);
            assert_ptr_equal(msi_wire_get_varint(bytes, bytes + sizeof(bytes), &value),
                             bytes + length);
            assert_int_equal(value, around[i]);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_empty_message_is_a_message),
        TEST(what_is_cut_short_is_refused),
        TEST(numbers_and_tags_are_not_too_long),
        TEST(groups_are_refused),
        TEST(a_field_of_the_wrong_type_is_refused),
        TEST(texts_are_utf8_without_nul),
        TEST(a_message_that_belongs_once_occurs_once),
        TEST(depth_is_bounded),
        TEST(no_depth_exhausts_the_stack),
        TEST(size_fields_and_memory_are_bounded),
        TEST(overhead_covers_what_is_allocated),
        TEST(the_first_member_of_a_message_is_not_the_last_word),
        TEST(messages_of_all_classes_come_back_as_they_were),
        TEST(what_passes_the_scan_unpacks),
        TEST(a_full_buffer_takes_no_message),
        TEST(varints_know_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
