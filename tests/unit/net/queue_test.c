/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "net/grpc_frame.h"
#include "net/queue_priv.h"

static int released;

static void count_release(void *arg)
{
    released++;
    ms_mem_free(arg);
}

/* Pushes a message of that many bytes, all of them c. */
static void push(msi_queue *queue, size_t bytes, char c, bool borrowed)
{
    char *text = ms_mem_alloc(bytes + 1);
    memset(text, c, bytes);
    ms_grpc_message message = {.bytes = {text, bytes}};
    if (borrowed) {
        message.release = count_release;
        message.arg = text;
    }
    msi_queue_push(queue, &message);
    if (!borrowed) {
        ms_mem_free(text);
    }
}

/* Takes the next message, in pieces, and checks it. */
static void check_next(msi_queue *queue, size_t bytes, char c, size_t piece_bytes)
{
    size_t total = bytes + MS_GRPC_FRAME_HEADER_BYTES;
    char *out = ms_mem_alloc(total);
    char header[MS_GRPC_FRAME_HEADER_BYTES];
    for (size_t at = 0; at < total; at += piece_bytes) {
        msi_queue_take(queue, out + at, total - at < piece_bytes ? total - at : piece_bytes);
    }
    ms_grpc_frame_write_header((uint32_t)bytes, header);
    assert_memory_equal(out, header, sizeof(header));
    for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(out[sizeof(header) + i], c);
    }
    ms_mem_free(out);
}

static void messages_come_out_in_order_whatever_their_kind(void **state)
{
    (void)state;
    for (int kinds = 0; kinds < 16; kinds++) {
        for (size_t piece = 1; piece < 40; piece += 3) {
            msi_queue queue;
            released = 0;
            msi_queue_init(&queue);
            size_t unsent = 0;
            for (int i = 0; i < 4; i++) {
                push(&queue, (size_t)(i * 7), (char)('a' + i), (kinds >> i & 1) != 0);
                unsent += (size_t)(i * 7) + 5;
            }
            assert_int_equal(queue.unsent_bytes, unsent);
            for (int i = 0; i < 4; i++) {
                check_next(&queue, (size_t)(i * 7), (char)('a' + i), piece);
            }
            assert_int_equal(queue.unsent_bytes, 0);
            assert_int_equal(released, __builtin_popcount((unsigned)kinds));
            assert_int_equal(queue.message_count, 4);
            msi_queue_release(&queue);
            assert_int_equal(released, __builtin_popcount((unsigned)kinds));
        }
    }
}

static void an_empty_borrowed_message_is_released_when_its_header_is_out(void **state)
{
    (void)state;
    msi_queue queue;
    released = 0;
    msi_queue_init(&queue);
    push(&queue, 0, 'x', true);
    assert_int_equal(released, 0);
    check_next(&queue, 0, 'x', 5);
    assert_int_equal(released, 1);
    msi_queue_release(&queue);
}

static void what_was_not_sent_is_released_with_the_queue(void **state)
{
    (void)state;
    msi_queue queue;
    released = 0;
    msi_queue_init(&queue);
    push(&queue, 10, 'x', true);
    push(&queue, 10, 'y', true);
    check_next(&queue, 10, 'x', 5);
    assert_int_equal(released, 1);
    msi_queue_reset(&queue);
    assert_int_equal(released, 2);
    assert_int_equal(queue.unsent_bytes, 0);
    push(&queue, 3, 'z', false);
    check_next(&queue, 3, 'z', 8);
    msi_queue_release(&queue);
}

static void a_queue_that_keeps_can_send_again(void **state)
{
    (void)state;
    msi_queue queue;
    released = 0;
    msi_queue_init(&queue);
    msi_queue_set_keeps(&queue, true);
    push(&queue, 100, 'a', false);
    push(&queue, 200, 'b', true);
    push(&queue, 300, 'c', false);
    for (int i = 0; i < 3; i++) {
        check_next(&queue, 100, 'a', 7);
        check_next(&queue, 200, 'b', 1000);
        if (i == 1) {
            char out[50];
            msi_queue_take(&queue, out, 50); /* in the middle */
        } else {
            check_next(&queue, 300, 'c', 9);
        }
        assert_int_equal(released, 0);
        msi_queue_rewind(&queue);
        assert_int_equal(queue.unsent_bytes, 615);
    }
    check_next(&queue, 100, 'a', 105);
    msi_queue_set_keeps(&queue, false);
    assert_int_equal(released, 0);
    check_next(&queue, 200, 'b', 205);
    assert_int_equal(released, 1);
    check_next(&queue, 300, 'c', 305);
    msi_queue_release(&queue);
}

/* A stream that is never quite sent: memory follows what is unsent, not what was. */
static void a_queue_that_never_drains_does_not_grow(void **state)
{
    (void)state;
    msi_queue queue;
    ms_env_random random;
    released = 0;
    ms_env_random_init(&random, 3);
    msi_queue_init(&queue);
    push(&queue, 100, 0, false);
    for (int i = 1; i < 20000; i++) {
        push(&queue, 100, (char)(i % 100), i % 3 == 0);
        check_next(&queue, 100, (char)((i - 1) % 100), 1 + ms_env_random_below(&random, 200));
        assert_true(queue.segment_count < 1000);
        assert_true(queue.copied.bytes < 400000);
    }
    assert_true(released >= 6600);
    msi_queue_release(&queue);
}

static void memory_is_kept_up_to_a_bound(void **state)
{
    (void)state;
    msi_queue queue;
    msi_queue_init(&queue);
    push(&queue, 1000, 'x', false);
    msi_queue_reset(&queue);
    uint64_t before = ms_mem_allocation_count();
    ms_grpc_message message = {.bytes = ms_str_lit("small")};
    msi_queue_push(&queue, &message);
    assert_int_equal(ms_mem_allocation_count(), before);
    push(&queue, 100000, 'x', false);
    msi_queue_reset(&queue);
    assert_int_equal(queue.copied.capacity_bytes, 0);
    msi_queue_release(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_out_in_order_whatever_their_kind),
        cmocka_unit_test(an_empty_borrowed_message_is_released_when_its_header_is_out),
        cmocka_unit_test(what_was_not_sent_is_released_with_the_queue),
        cmocka_unit_test(a_queue_that_keeps_can_send_again),
        cmocka_unit_test(a_queue_that_never_drains_does_not_grow),
        cmocka_unit_test(memory_is_kept_up_to_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
