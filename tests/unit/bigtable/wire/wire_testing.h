/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of this folder share: an arena, a buffer and the statuses, and comparing messages
 * by their bytes.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_WIRE_WIRE_TESTING_H
#define MS_TESTS_UNIT_BIGTABLE_WIRE_WIRE_TESTING_H

#include "testing.h"

#include "bigtable/wire/wire_random.h"

static ms_arena arena;
static ms_buf buf;
static ms_status st;
static ms_bt_status bt;

static inline int wire_setup(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    ms_buf_init(&buf, 1u << 30);
    ms_status_clear(&st);
    ms_bt_status_clear(&bt);
    return 0;
}

static inline int wire_teardown(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    ms_buf_release(&buf);
    return 0;
}

#define assert_bt_ok(call)                                                                         \
    do {                                                                                           \
        if ((call) != MS_BT_OK) {                                                                  \
            fail_msg("%s: %s", #call, bt.text);                                                    \
        }                                                                                          \
    } while (0)

/* The call fails with this code and a text that contains this; the status is cleared again. */
#define assert_bt_fails(call, expected_code, part)                                                 \
    do {                                                                                           \
        ms_bt_status_clear(&bt);                                                                   \
        assert_int_equal((call), (expected_code));                                                 \
        assert_int_equal(bt.code, (expected_code));                                                \
        if (strstr(bt.text, (part)) == NULL) {                                                     \
            fail_msg("%s: \"%s\" does not say \"%s\"", #call, bt.text, (part));                    \
        }                                                                                          \
        ms_bt_status_clear(&bt);                                                                   \
    } while (0)

/* The bytes of a message, in the arena. */
static inline ms_str packed(const ProtobufCMessage *message)
{
    ms_buf bytes;
    ms_buf_init(&bytes, 1u << 30);
    assert_ok(ms_wire_pack(message, &bytes, &st));
    ms_str copy = ms_arena_copy_str(&arena, ms_buf_view(&bytes));
    ms_buf_release(&bytes);
    return copy;
}

static inline void assert_same_bytes(ms_str a, ms_str b)
{
    assert_int_equal(a.bytes, b.bytes);
    if (a.bytes > 0) {
        assert_memory_equal(a.ptr, b.ptr, a.bytes);
    }
}

#define assert_same_message(a, b) assert_same_bytes(packed(&(a)->base), packed(&(b)->base))

/* Bytes with a length that strlen would not find. */
#define bytes_lit(literal) ((ms_str){(literal), sizeof(literal) - 1})

static inline wire_choices choices_of(uint64_t seed)
{
    wire_choices c = {.arena = &arena};
    ms_env_random_init(&c.random, seed);
    return c;
}

#endif
