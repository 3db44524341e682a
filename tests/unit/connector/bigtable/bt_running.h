/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running faces by hand: batches for writers, a coordinator for enumerators, and reading a scan to
 * its end as text.
 */
#ifndef MS_TESTS_UNIT_CONNECTOR_BIGTABLE_BT_RUNNING_H
#define MS_TESTS_UNIT_CONNECTOR_BIGTABLE_BT_RUNNING_H

#include "bt_testing.h"

#include "type/text.h"
#include "type/value.h"
#include "type/zone.h"

/* Batches. */

/*
 * A frame of rows written as text, one value a column, in the arena: numbers, 'texts', NULL, and
 * (a b c) for a ROW. A row may begin with its kind: +I (the default), +U, -D, -U.
 */
typedef struct batch_maker {
    ms_arena *arena;
    const ms_schema *schema;
    uint32_t capacity;
    ms_batch batch;
    uint8_t *kinds;
} batch_maker;

static inline void batch_init(batch_maker *b, ms_arena *arena, const ms_schema *schema,
                              uint32_t capacity)
{
    *b = (batch_maker){.arena = arena, .schema = schema, .capacity = capacity};
    b->batch.column_count = schema->column_count;
    b->batch.columns = ms_arena_array(arena, ms_vec, schema->column_count);
    for (uint32_t c = 0; c < schema->column_count; c++) {
        ms_vec_alloc(&b->batch.columns[c], schema->columns[c].type, capacity, arena);
    }
    b->kinds = ms_arena_array(arena, uint8_t, capacity);
}

static inline ms_value read_value(ms_arena *arena, const ms_type *type, const char **at)
{
    while (**at == ' ') {
        *at += 1;
    }
    if (strncmp(*at, "NULL", 4) == 0) {
        *at += 4;
        return ms_value_null(type);
    }
    if (**at == '(') {
        *at += 1;
        ms_value *items = ms_arena_array(arena, ms_value, type->child_count);
        for (uint32_t i = 0; i < type->child_count; i++) {
            items[i] = read_value(arena, type->children[i], at);
        }
        *at += strcspn(*at, ")") + 1;
        ms_value row = {.type = type, .item_count = type->child_count};
        row.u.items = items;
        return row;
    }
    if (**at == '\'') {
        const char *start = *at + 1;
        size_t bytes = strcspn(start, "'");
        *at = start + bytes + 1;
        return ms_value_str(type, ms_arena_copy_str(arena, ms_str_make(start, bytes)));
    }
    char *end = NULL;
    if (type->phys == MS_PHYS_F32 || type->phys == MS_PHYS_F64) {
        double f = strtod(*at, &end);
        *at = end;
        return ms_value_double(type, f);
    }
    int64_t i = strtoll(*at, &end, 10);
    assert_true(end != *at);
    *at = end;
    return ms_value_int(type, i);
}

static inline void batch_row(batch_maker *b, const char *text)
{
    static const char *const kinds[] = {"+I", "-U", "+U", "-D"};
    uint32_t row = b->batch.rows++;
    assert_true(row < b->capacity);
    for (uint8_t k = 0; k < 4; k++) {
        if (strncmp(text, kinds[k], 2) == 0) {
            b->kinds[row] = k;
            b->batch.kinds = b->kinds;
            text += 2;
            break;
        }
    }
    for (uint32_t c = 0; c < b->schema->column_count; c++) {
        ms_value value = read_value(b->arena, b->schema->columns[c].type, &text);
        ms_value_to_vec(b->arena, &value, &b->batch.columns[c], row, b->capacity);
    }
}

/* Appends the rows of a batch as text: "[a, (1, b)]". */
static inline void batch_text(const ms_batch *batch, ms_buf *out)
{
    ms_status st = {0};
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        assert_ok(ms_buf_append_byte(out, '[', &st));
        for (uint32_t c = 0; c < batch->column_count; c++) {
            assert_ok(ms_buf_append(out, c > 0 ? ms_str_lit(", ") : ms_str_lit(""), &st));
            assert_ok(ms_text_vec(out, &batch->columns[c], ms_batch_row(batch, k), MS_TEXT_DISPLAY,
                                  ms_zone_utc(), &st));
        }
        assert_ok(ms_buf_append_byte(out, ']', &st));
    }
}

/* The coordinator. */

typedef struct coordinator {
    ms_enumerator_env env;
    world *world;
    ms_enumerator *enumerator;
    ms_arena arena;
    ms_str splits[256]; /* handed out, in order */
    uint32_t takers[256];
    uint32_t split_count;
    bool is_complete[16]; /* a subtask: told that no more come */
    ms_status failure;
} coordinator;

static inline void coordinator_assign(ms_enumerator_env *env, uint32_t subtask, ms_str split)
{
    coordinator *c = (coordinator *)env;
    c->takers[c->split_count] = subtask;
    c->splits[c->split_count++] = ms_arena_copy_str(&c->arena, split);
}

static inline void coordinator_no_more(ms_enumerator_env *env, uint32_t subtask)
{
    ((coordinator *)env)->is_complete[subtask] = true;
}

static inline void coordinator_fail(ms_enumerator_env *env, const ms_status *st)
{
    ((coordinator *)env)->failure = *st;
}

static inline void coordinator_init(coordinator *c, world *w, const ms_scan *scan,
                                    uint32_t parallelism, ms_str restored)
{
    memset(c, 0, sizeof(*c));
    c->world = w;
    ms_arena_init(&c->arena, 0);
    c->env = (ms_enumerator_env){.task = w->env,
                                 .assign = coordinator_assign,
                                 .no_more_splits = coordinator_no_more,
                                 .fail = coordinator_fail};
    c->env.task.parallelism = parallelism;
    ms_status st = {0};
    assert_ok(scan->klass->enumerator_create(scan, &c->enumerator, &st));
    assert_ok(c->enumerator->klass->start(c->enumerator, &c->env, restored, &st));
}

/* Asks for a split and waits for the answer. */
static inline void coordinator_request(coordinator *c, uint32_t subtask)
{
    uint32_t before = c->split_count;
    c->enumerator->klass->request(c->enumerator, subtask);
    for (int i = 0; i < 200 && c->split_count == before && !c->is_complete[subtask] &&
                    c->failure.code == MS_OK;
         i++) {
        world_turn(c->world);
        c->enumerator->klass->resume(c->enumerator);
    }
}

static inline void coordinator_release(coordinator *c)
{
    c->enumerator->klass->close(c->enumerator);
    ms_arena_release(&c->arena);
}

/* Reading. */

/* Polls until something other than PENDING. */
static inline ms_read poll_reader(world *w, ms_reader *reader, ms_batch **batch_out, ms_status *st)
{
    for (int i = 0; i < 500; i++) {
        ms_read read = reader->klass->poll(reader, batch_out, st);
        if (read != MS_READ_PENDING) {
            return read;
        }
        world_turn(w);
    }
    fail_msg("the reader stays pending");
    return MS_READ_PENDING;
}

/* Reads a whole scan with one reader; rows as text, or ends in a failure. */
static inline ms_read read_scan(world *w, const ms_scan *scan, ms_buf *out, ms_status *st)
{
    coordinator c;
    coordinator_init(&c, w, scan, 1, (ms_str){NULL, 0});
    ms_reader *reader = NULL;
    ms_read read = MS_READ_FAILED;
    if (scan->klass->reader_create(scan, &w->env, &reader, st) == MS_OK) {
        for (;;) {
            if (reader->klass->wants_split(reader)) {
                uint32_t before = c.split_count;
                coordinator_request(&c, 0);
                if (c.split_count > before) {
                    assert_int_equal(reader->klass->add_split(reader, c.splits[before], st), MS_OK);
                } else {
                    reader->klass->no_more_splits(reader);
                }
            }
            ms_batch *batch = NULL;
            read = reader->klass->poll(reader, &batch, st);
            if (read == MS_READ_BATCH) {
                assert_true(ms_batch_live(batch) <= w->env.batch_rows);
                batch_text(batch, out);
            } else if (read == MS_READ_PENDING) {
                world_turn(w);
            } else {
                break;
            }
        }
        reader->klass->close(reader);
    }
    coordinator_release(&c);
    return read;
}

static inline void assert_scan(world *w, const ms_scan *scan, const char *expected)
{
    ms_status st = {0};
    ms_buf out;
    ms_buf_init(&out, 64u << 20);
    ms_read read = read_scan(w, scan, &out, &st);
    if (read != MS_READ_END) {
        fail_msg("%s (%s)", st.message, st.detail);
    }
    assert_ok(ms_buf_append_byte(&out, '\0', &st));
    assert_string_equal(out.ptr, expected);
    ms_buf_release(&out);
}

/* Writing. */

typedef struct completion {
    ms_completion face;
    bool is_done;
    ms_rc rc;
    ms_status st;
} completion;

static inline void completion_done(ms_completion *face, ms_rc rc, const ms_status *st)
{
    completion *c = (completion *)face;
    assert_false(c->is_done);
    c->is_done = true;
    c->rc = rc;
    if (st != NULL) {
        c->st = *st;
    }
}

/* Writes a batch, waiting while the writer is blocked. */
static inline ms_write write_rows(world *w, ms_writer *writer, const ms_batch *batch, ms_status *st)
{
    for (int i = 0; i < 500; i++) {
        ms_write write = writer->klass->write(writer, batch, st);
        if (write != MS_WRITE_BLOCKED) {
            return write;
        }
        uint32_t wakes = w->wakes;
        for (int k = 0; k < 500 && w->wakes == wakes; k++) {
            world_turn(w);
        }
        assert_true(w->wakes > wakes);
    }
    fail_msg("the writer stays blocked");
    return MS_WRITE_BLOCKED;
}

/* Cuts, persists and waits for the answer. */
static inline ms_rc persist(world *w, ms_writer *writer, uint64_t checkpoint, ms_status *st)
{
    completion done = {.face = {completion_done}};
    ms_rc rc = writer->klass->cut(writer, checkpoint, false, st);
    assert_int_equal(rc, MS_OK);
    writer->klass->persist(writer, checkpoint, &done.face);
    for (int i = 0; i < 500 && !done.is_done; i++) {
        world_turn(w);
    }
    assert_true(done.is_done);
    if (done.rc != MS_OK) {
        *st = done.st;
    }
    return done.rc;
}

static inline ms_writer *create_writer(world *w, const ms_sink *sink)
{
    ms_status st = {0};
    ms_writer *writer = NULL;
    assert_ok(sink->klass->writer_create(sink, &w->env, &writer, &st));
    return writer;
}

#endif
