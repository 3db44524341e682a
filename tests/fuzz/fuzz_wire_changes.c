/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of merging changes over several messages. The first byte chooses what happens before:
 * nothing, the messages of a stream with some of them lost, repeated, exchanged or spoilt, or a few
 * messages of any content. Whatever that was, a merger that is started again makes of the messages
 * of a stream the changes that it was written from, with its pages taken away between any two.
 */
#include "bigtable/wire/change.h"
#include "bigtable/wire/change_merge.h"
#include "bigtable/wire/change_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define BUF_BYTES_MAX (64u << 20)
#define CHANGES_MAX 5u
#define MESSAGES_MAX 2048u
#define LONG_BYTES 700u

static ms_arena arena;
static ms_bt_status bt;
static ms_status st;

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Changes of every kind. */

static ms_bt_range pick_partition(wire_choices *c)
{
    static const char *const keys[] = {"", "a", "m", "z"};
    return ms_bt_range_make(ms_str_cstr(keys[wire_pick(c, 3)]), ms_str_cstr(keys[wire_pick(c, 4)]));
}

static ms_bt_change pick_close(wire_choices *c)
{
    ms_bt_change change = {.kind = MS_BT_CHANGE_CLOSE, .token_count = wire_pick(c, 4)};
    ms_bt_change_token *tokens = ms_arena_array(&arena, ms_bt_change_token, change.token_count);
    ms_bt_range *partitions = ms_arena_array(&arena, ms_bt_range, change.token_count);
    for (uint32_t i = 0; i < change.token_count; i++) {
        tokens[i] = (ms_bt_change_token){pick_partition(c), ms_wire_text_view(wire_pick_text(c))};
        partitions[i] = pick_partition(c);
    }
    if (change.token_count > 0) {
        ms_bt_status_set(&change.status, MS_BT_OUT_OF_RANGE, "split");
    }
    change.tokens = tokens;
    change.new_partitions = partitions;
    return change;
}

/* Some data has a value of many pieces. */
static ms_bt_change pick_long(wire_choices *c)
{
    ms_bt_change change = pick_data(c);
    size_t bytes = wire_pick(c, LONG_BYTES);
    char *value = ms_arena_alloc(&arena, bytes + 1, 1);
    for (size_t i = 0; i < bytes; i++) {
        value[i] = (char)(i * 7);
    }
    ms_bt_change_mutation *list =
        ms_arena_array(&arena, ms_bt_change_mutation, change.mutation_count + 1);
    for (uint32_t i = 0; i < change.mutation_count; i++) {
        list[i] = change.mutations[i];
    }
    list[change.mutation_count++] = (ms_bt_change_mutation){.kind = MS_BT_MUTATION_SET_CELL,
                                                            .family = ms_str_lit("cf"),
                                                            .value = ms_str_make(value, bytes)};
    change.mutations = list;
    return change;
}

static ms_bt_change pick_change(wire_choices *c)
{
    switch (wire_pick(c, 5)) {
    case 0:
        return (ms_bt_change){.kind = MS_BT_CHANGE_HEARTBEAT,
                              .token = ms_wire_text_view(wire_pick_text(c)),
                              .low_watermark_micros = 1656633500000000 + wire_pick(c, 256)};
    case 1:
        return pick_close(c);
    case 2:
        return pick_long(c);
    default:
        return pick_data(c);
    }
}

/* Streams. */

typedef struct messages {
    ms_str list[MESSAGES_MAX];
    size_t count;
} messages;

/* Writes changes; expected gets them as text. */
static void write_stream(wire_choices *c, messages *out, ms_buf *expected)
{
    const ms_bt_range partition = ms_bt_range_make(ms_str_lit("a"), ms_str_lit("z"));
    const ms_wire_change_options options = {32 + wire_pick(c, 250), 1 + wire_pick(c, 200)};
    ms_wire_change_writer writer;
    ms_buf buf;
    ms_buf_init(&buf, BUF_BYTES_MAX);
    ms_wire_change_writer_init(&writer, &options);
    for (unsigned i = 1 + wire_pick(c, CHANGES_MAX); i > 0; i--) {
        ms_bt_change change = pick_change(c);
        ms_wire_change_writer_begin(&writer, &change, &partition);
        while (!ms_wire_change_writer_is_done(&writer)) {
            ms_buf_reset(&buf);
            demand(ms_wire_change_writer_next(&writer, &arena, &buf, &st) == MS_OK);
            demand(out->count < MESSAGES_MAX);
            out->list[out->count++] = ms_arena_copy_str(&arena, ms_buf_view(&buf));
        }
        put_change(expected, &change);
    }
    ms_buf_release(&buf);
}

static void damage(wire_choices *c, messages *in)
{
    for (unsigned times = 1 + wire_pick(c, 3); times > 0 && in->count > 0; times--) {
        size_t at = wire_pick(c, 256) * in->count / 256;
        ms_buf buf;
        switch (wire_pick(c, 4)) {
        case 0:
            in->count--;
            memmove(&in->list[at], &in->list[at + 1], (in->count - at) * sizeof(in->list[0]));
            break;
        case 1:
            in->list[at] = in->list[in->count - 1];
            break;
        case 2: {
            ms_str other = in->list[0];
            in->list[0] = in->list[at];
            in->list[at] = other;
            break;
        }
        default:
            ms_buf_init(&buf, BUF_BYTES_MAX);
            demand(ms_buf_append(&buf, in->list[at], &st) == MS_OK);
            wire_spoil(c, &buf);
            in->list[at] = ms_arena_copy_str(&arena, ms_buf_view(&buf));
            ms_buf_release(&buf);
            break;
        }
    }
}

static void pick_messages(wire_choices *c, messages *out)
{
    ms_buf buf;
    ms_buf_init(&buf, BUF_BYTES_MAX);
    for (unsigned i = 1 + wire_pick(c, 6); i > 0; i--) {
        ms_buf_reset(&buf);
        demand(ms_wire_pack(wire_pick_message(c, ms_pb_read_change_stream_response_class(), 6),
                            &buf, &st) == MS_OK);
        out->list[out->count++] = ms_arena_copy_str(&arena, ms_buf_view(&buf));
    }
    ms_buf_release(&buf);
}

/* Reads to the end or the first failure; each message is gone when the next one comes. seen gets
 * every page as text, which looks at all that it holds. */
static ms_bt_code merge(wire_choices *c, ms_wire_change_merger *merger, const messages *in,
                        ms_buf *seen)
{
    ms_bt_change_page page;
    ms_bt_change_page_init(&page);
    ms_bt_code code = MS_BT_OK;
    for (size_t i = 0; i < in->count && code == MS_BT_OK; i++) {
        ms_arena own;
        ms_arena_init(&own, 0);
        ms_pb_read_change_stream_response *message = ms_pb_unpack(
            read_change_stream_response, in->list[i], &ms_wire_response_limits, &own, &bt);
        uint32_t before = page.change_count;
        code = message == NULL ? bt.code : ms_wire_change_merger_read(merger, message, &page, &bt);
        ms_arena_release(&own);
        demand(page.change_count <= before + 1);
        if (wire_pick(c, 3) == 0) {
            put_changes(seen, &page);
            ms_bt_change_page_reset(&page);
        }
    }
    put_changes(seen, &page);
    ms_bt_change_page_release(&page);
    return code == MS_BT_OK ? ms_wire_change_merger_end(merger, &bt) : code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 1) {
        return 0;
    }
    static messages first;
    static messages intact;
    ms_wire_change_merger merger;
    ms_buf ignored;
    ms_buf expected;
    ms_buf seen;
    first.count = 0;
    intact.count = 0;
    ms_arena_init(&arena, 0);
    ms_buf_init(&ignored, BUF_BYTES_MAX);
    ms_buf_init(&expected, BUF_BYTES_MAX);
    ms_buf_init(&seen, BUF_BYTES_MAX);
    ms_wire_change_merger_init(&merger);
    wire_choices c = {.bytes = data + 1, .left = bytes - 1, .arena = &arena};
    if (data[0] % 3 == 1) {
        write_stream(&c, &first, &ignored);
        damage(&c, &first);
    } else if (data[0] % 3 == 2) {
        pick_messages(&c, &first);
    }
    ms_bt_status_clear(&bt);
    (void)merge(&c, &merger, &first, &ignored);
    ms_wire_change_merger_restart(&merger);
    ms_bt_status_clear(&bt);
    write_stream(&c, &intact, &expected);
    demand(merge(&c, &merger, &intact, &seen) == MS_BT_OK);
    demand(ms_str_equals(ms_buf_view(&seen), ms_buf_view(&expected)));
    ms_wire_change_merger_release(&merger);
    ms_buf_release(&ignored);
    ms_buf_release(&expected);
    ms_buf_release(&seen);
    ms_arena_release(&arena);
    return 0;
}
