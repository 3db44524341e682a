/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/memory.h"
#include "net/grpc_frame.h"

#define RAW(text) ((ms_str){(text), sizeof(text) - 1})

/* "abc", "", "xy" and "q" */
static const char four[] = "\0\0\0\0\x03"
                           "abc\0\0\0\0\0\0\0\0\0\x02xy\0\0\0\0\x01q";
#define FOUR ((ms_str){four, sizeof(four) - 1})

/* Reads all messages of a piece; appends them to out, each with a bar behind it. */
static ms_grpc_frame_result read_all(ms_grpc_frame_reader *reader, ms_str piece, char *out)
{
    ms_str message;
    ms_grpc_frame_result result = MS_GRPC_FRAME_MORE;
    /* Bytes that end where their memory does: reading beyond shows. */
    char *copy = ms_mem_alloc(piece.bytes);
    memcpy(copy, piece.ptr, piece.bytes);
    ms_str left = {copy, piece.bytes};
    while ((result = ms_grpc_frame_next(reader, &left, &message)) == MS_GRPC_FRAME_MESSAGE) {
        strncat(out, message.bytes > 0 ? message.ptr : "", message.bytes);
        strncat(out, "|", 2);
    }
    ms_mem_free(copy);
    return result;
}

static void messages_may_be_cut_at_any_two_places(void **state)
{
    (void)state;
    size_t end = FOUR.bytes;
    for (size_t i = 0; i <= end; i++) {
        for (size_t j = i; j <= end; j++) {
            ms_grpc_frame_reader reader;
            char out[64] = "";
            ms_grpc_frame_init(&reader, 100);
            assert_int_equal(read_all(&reader, ms_str_slice(FOUR, 0, i), out), MS_GRPC_FRAME_MORE);
            assert_int_equal(read_all(&reader, ms_str_slice(FOUR, i, j), out), MS_GRPC_FRAME_MORE);
            assert_int_equal(read_all(&reader, ms_str_slice(FOUR, j, end), out),
                             MS_GRPC_FRAME_MORE);
            assert_string_equal(out, "abc||xy|q|");
            assert_true(ms_grpc_frame_is_between(&reader));
            assert_int_equal(ms_grpc_frame_held_bytes(&reader), 0);
            ms_grpc_frame_release(&reader);
        }
    }
}

static void messages_may_come_byte_by_byte(void **state)
{
    (void)state;
    ms_grpc_frame_reader reader;
    char out[64] = "";
    ms_grpc_frame_init(&reader, 3);
    for (size_t i = 0; i < FOUR.bytes; i++) {
        assert_int_equal(read_all(&reader, ms_str_slice(FOUR, i, i + 1), out), MS_GRPC_FRAME_MORE);
    }
    assert_string_equal(out, "abc||xy|q|");
    ms_grpc_frame_release(&reader);
}

static void a_whole_message_is_a_view_of_its_piece(void **state)
{
    (void)state;
    ms_grpc_frame_reader reader;
    ms_str bytes = FOUR;
    ms_str message;
    ms_grpc_frame_init(&reader, 100);
    uint64_t before = ms_mem_allocation_count();
    assert_int_equal(ms_grpc_frame_next(&reader, &bytes, &message), MS_GRPC_FRAME_MESSAGE);
    assert_ptr_equal(message.ptr, four + 5);
    assert_int_equal(ms_mem_allocation_count(), before);
    ms_grpc_frame_release(&reader);
}

static void a_message_above_the_maximum_is_refused_by_its_header(void **state)
{
    (void)state;
    ms_grpc_frame_reader reader;
    char out[64] = "";
    ms_grpc_frame_init(&reader, 2);
    assert_int_equal(read_all(&reader, RAW("\0\0\0\0\x02xy\0\0\0"), out), MS_GRPC_FRAME_MORE);
    assert_int_equal(read_all(&reader, RAW("\0\x03"), out), MS_GRPC_FRAME_TOO_LARGE);
    assert_int_equal(ms_grpc_frame_length(&reader), 3);
    assert_string_equal(out, "xy|");
    ms_grpc_frame_reset(&reader);
    assert_int_equal(read_all(&reader, RAW("\0\xff\xff\xff\xff"), out), MS_GRPC_FRAME_TOO_LARGE);
    assert_int_equal(ms_grpc_frame_length(&reader), UINT32_MAX);
    ms_grpc_frame_release(&reader);
}

static void flags_are_checked_with_the_first_byte(void **state)
{
    (void)state;
    ms_grpc_frame_reader reader;
    char out[64] = "";
    ms_grpc_frame_init(&reader, 100);
    assert_int_equal(read_all(&reader, RAW("\x01"), out), MS_GRPC_FRAME_COMPRESSED);
    ms_grpc_frame_reset(&reader);
    assert_int_equal(read_all(&reader, RAW("\x02"), out), MS_GRPC_FRAME_BAD_FLAG);
    ms_grpc_frame_reset(&reader);
    assert_int_equal(read_all(&reader, RAW("\x80\0\0"), out), MS_GRPC_FRAME_BAD_FLAG);
    ms_grpc_frame_release(&reader);
}

static void memory_follows_what_came_not_what_was_announced(void **state)
{
    (void)state;
    ms_grpc_frame_reader reader;
    char out[64] = "";
    ms_grpc_frame_init(&reader, 256u << 20);
    assert_int_equal(read_all(&reader, RAW("\0\x0f\0\0\0xyz"), out), MS_GRPC_FRAME_MORE);
    assert_true(reader.partial.capacity_bytes < 4096);
    assert_int_equal(ms_grpc_frame_held_bytes(&reader), 3);
    assert_false(ms_grpc_frame_is_between(&reader));
    ms_grpc_frame_release(&reader);
}

static void a_large_buffer_is_not_kept(void **state)
{
    (void)state;
    ms_grpc_frame_reader reader;
    char *bytes = ms_mem_calloc(1, 100005);
    ms_str message;
    ms_grpc_frame_init(&reader, 1 << 20);
    ms_grpc_frame_write_header(100000, bytes);
    ms_str first = {bytes, 50000};
    ms_str second = {bytes + 50000, 50005};
    assert_int_equal(ms_grpc_frame_next(&reader, &first, &message), MS_GRPC_FRAME_MORE);
    assert_int_equal(ms_grpc_frame_next(&reader, &second, &message), MS_GRPC_FRAME_MESSAGE);
    assert_int_equal(message.bytes, 100000);
    assert_int_equal(ms_grpc_frame_held_bytes(&reader), 0);
    assert_int_equal(ms_grpc_frame_next(&reader, &second, &message), MS_GRPC_FRAME_MORE);
    assert_int_equal(reader.partial.capacity_bytes, 0);
    ms_mem_free(bytes);
    ms_grpc_frame_release(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_may_be_cut_at_any_two_places),
        cmocka_unit_test(messages_may_come_byte_by_byte),
        cmocka_unit_test(a_whole_message_is_a_view_of_its_piece),
        cmocka_unit_test(a_message_above_the_maximum_is_refused_by_its_header),
        cmocka_unit_test(flags_are_checked_with_the_first_byte),
        cmocka_unit_test(memory_follows_what_came_not_what_was_announced),
        cmocka_unit_test(a_large_buffer_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
