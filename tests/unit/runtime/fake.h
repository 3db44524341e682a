/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source, a sink and a few operators for tests of the runtime. Plans of them: fake_job.h.
 * The source and the sink are connectors (catalog/connector.h) under the real SOURCE and SINK
 * operators; a world holds what they share with the test.
 *
 *     source   `splits` splits of `rows_per_split` rows {id BIGINT, key BIGINT, text STRING}; id is
 *              unique, key = id mod keys, text is id in more bytes than a view holds inline. A gate
 *              stops all readers after so many rows of a split; an unbounded one never ends.
 *     sink     keeps the ids of the rows written since its last cut as the committable of the cut;
 *              the committer adds them to the world, once per committable. With world.commit_dir
 *              it writes a file per committable instead, so that a process that was killed can be
 *              looked at.
 *     calc     in place of CALC: passes every row on in one of several ways, at random.
 *     mark     in place of WATERMARK: emits the largest id as the watermark behind every batch.
 *     count    in place of AGGREGATE: counts rows and sums ids in a value table, by key modulo 16,
 *              and emits {count, sum, "total"} for each at its end.
 *
 * What runs on workers checks with MS_ASSERT: cmocka's checks are for the main thread.
 */
#ifndef MS_TESTS_UNIT_RUNTIME_FAKE_H
#define MS_TESTS_UNIT_RUNTIME_FAKE_H

#include "testing.h"

#include "base/codec.h"
#include "base/env.h"
#include "exec/operator.h"
#include "os/file.h"
#include "os/thread.h"
#include "runtime/job.h"
#include "type/hash.h"

#define FAKE_TASKS_MAX 1024u
#define FAKE_COUNT_KEYS 16u
#define FAKE_DIRS_MAX 4u

typedef struct fake_world {
    ms_arena arena;
    const ms_type *bigint;
    const ms_type *string;
    ms_schema schema;
    uint64_t seed;
    bool is_wild;           /* calc and sink block, split, copy and answer late, at random */
    _Atomic bool hold_calc; /* calc takes no batch, until it is false again and the gate moves */
    bool hang_persist;      /* writers never finish persist, until it is false again */
    bool gives_up;          /* calc fails once it sees that the job is canceled */
    uint32_t fail_at_id;    /* calc fails when it sees this id; 0: never */
    uint32_t pool_batches;  /* of the reader */
    uint32_t batch_rows;    /* of the reader; 0: the job's */
    uint32_t text_bytes;    /* of a row's text at least: blanks are added */
    _Atomic uint64_t widest_bytes; /* strings of the largest batch that a calc was given */
    const char *commit_dir;
    ms_mutex mutex;        /* guards all below */
    _Atomic uint64_t gate; /* rows of each split that may be read now */
    ms_waker wakers[FAKE_TASKS_MAX];
    uint32_t waker_count;
    uint64_t *ids; /* committed */
    size_t id_count;
    size_t id_capacity;
    uint64_t *commits; /* hashes of committables that were committed */
    size_t commit_count;
    uint64_t totals[2]; /* of committed rows whose text is "total": sum of ids, of keys */
    ms_completion *hung[FAKE_TASKS_MAX];
    uint32_t hung_count;
    uint32_t writers_open;
    uint32_t readers_open;
    const char *dirs[FAKE_DIRS_MAX]; /* removed with the world */
    uint32_t dir_count;
} fake_world;

#define FAKE_GATE_OPEN UINT64_MAX

__attribute__((unused)) static void fake_world_init(fake_world *world, uint64_t seed)
{
    *world = (fake_world){.seed = seed, .pool_batches = 3};
    ms_arena_init(&world->arena, 0);
    world->bigint = ms_type_simple(&world->arena, MS_TYPE_BIGINT, false);
    world->string = ms_type_string(&world->arena, false);
    ms_field *columns = ms_arena_array(&world->arena, ms_field, 3);
    columns[0] = (ms_field){ms_str_lit("id"), world->bigint};
    columns[1] = (ms_field){ms_str_lit("key"), world->bigint};
    columns[2] = (ms_field){ms_str_lit("text"), world->string};
    world->schema = (ms_schema){3, columns};
    ms_mutex_init(&world->mutex, MS_RANK_MAILBOX);
    atomic_init(&world->gate, FAKE_GATE_OPEN);
    atomic_init(&world->hold_calc, false);
}

__attribute__((unused)) static void fake_world_release(fake_world *world)
{
    assert_int_equal(world->writers_open, 0);
    assert_int_equal(world->readers_open, 0);
    for (uint32_t i = 0; i < world->dir_count; i++) {
        ms_status st = {0};
        assert_int_equal(ms_dir_remove(world->dirs[i], &st), MS_OK);
    }
    free(world->ids);
    free(world->commits);
    ms_mutex_release(&world->mutex);
    ms_arena_release(&world->arena);
}

/* Lets readers give out rows of each split up to this one, and wakes them. */
__attribute__((unused)) static void fake_open_gate(fake_world *world, uint64_t rows)
{
    ms_mutex_lock(&world->mutex);
    atomic_store(&world->gate, rows);
    for (uint32_t i = 0; i < world->waker_count; i++) {
        ms_wake(&world->wakers[i]);
    }
    ms_mutex_unlock(&world->mutex);
}

static void fake_add_waker(fake_world *world, const ms_waker *waker)
{
    ms_mutex_lock(&world->mutex);
    MS_ASSERT(world->waker_count < FAKE_TASKS_MAX);
    world->wakers[world->waker_count++] = *waker;
    ms_mutex_unlock(&world->mutex);
}

static void fake_remove_waker(fake_world *world, void *task)
{
    ms_mutex_lock(&world->mutex);
    for (uint32_t i = 0; i < world->waker_count; i++) {
        if (world->wakers[i].task == task) {
            world->wakers[i] = world->wakers[--world->waker_count];
            break;
        }
    }
    ms_mutex_unlock(&world->mutex);
}

/* ---- The source ---- */

typedef struct fake_scan {
    ms_scan scan;
    fake_world *world;
    uint64_t first_id;
    uint32_t splits;
    uint64_t rows_per_split;
    uint64_t keys;
} fake_scan;

typedef struct fake_split {
    uint64_t index;
    uint64_t at; /* the next row */
} fake_split;

typedef struct fake_enumerator {
    ms_enumerator enumerator;
    const fake_scan *scan;
    ms_enumerator_env *env;
    uint64_t next;
    uint32_t waiting[FAKE_TASKS_MAX]; /* subtasks that asked and get their answer in resume */
    uint32_t waiting_count;
} fake_enumerator;

static ms_rc fake_enumerator_start(ms_enumerator *enumerator, ms_enumerator_env *env,
                                   ms_str restored, ms_status *st)
{
    fake_enumerator *self = (fake_enumerator *)enumerator;
    self->env = env;
    if (restored.ptr != NULL) {
        ms_codec_reader reader = ms_codec_reader_make(restored);
        self->next = ms_codec_reader_u64(&reader);
        return ms_codec_reader_finish(&reader, "a fake enumerator", st);
    }
    return MS_OK;
}

static void fake_enumerator_request(ms_enumerator *enumerator, uint32_t subtask)
{
    fake_enumerator *self = (fake_enumerator *)enumerator;
    self->waiting[self->waiting_count++] = subtask;
    ms_wake(&self->env->task.waker);
}

static void fake_enumerator_resume(ms_enumerator *enumerator)
{
    fake_enumerator *self = (fake_enumerator *)enumerator;
    for (uint32_t i = 0; i < self->waiting_count; i++) {
        if (self->next == self->scan->splits) {
            self->env->no_more_splits(self->env, self->waiting[i]);
            continue;
        }
        uint64_t split[2] = {self->next++, 0};
        self->env->assign(self->env, self->waiting[i], ms_str_make((char *)split, sizeof(split)));
    }
    self->waiting_count = 0;
}

static ms_rc fake_enumerator_snapshot(ms_enumerator *enumerator, ms_buf *out, ms_status *st)
{
    return ms_codec_put_u64(out, ((fake_enumerator *)enumerator)->next, st);
}

static void fake_enumerator_close(ms_enumerator *enumerator)
{
    ms_mem_free(enumerator);
}

static const ms_enumerator_class fake_enumerator_class = {.start = fake_enumerator_start,
                                                          .request = fake_enumerator_request,
                                                          .resume = fake_enumerator_resume,
                                                          .snapshot = fake_enumerator_snapshot,
                                                          .close = fake_enumerator_close};

static ms_rc fake_enumerator_create(const ms_scan *scan, ms_enumerator **enumerator_out,
                                    ms_status *st)
{
    (void)st;
    fake_enumerator *self = ms_mem_calloc(1, sizeof(*self));
    self->enumerator.klass = &fake_enumerator_class;
    self->scan = (const fake_scan *)scan;
    *enumerator_out = &self->enumerator;
    return MS_OK;
}

#define FAKE_SPLITS_MAX 64u

typedef struct fake_reader {
    ms_reader reader;
    const fake_scan *scan;
    const ms_task_env *env;
    ms_batch_pool *pool;
    fake_split splits[FAKE_SPLITS_MAX];
    uint32_t split_count;
    bool no_more;
} fake_reader;

static ms_rc fake_reader_add_split(ms_reader *reader, ms_str split, ms_status *st)
{
    (void)st;
    fake_reader *self = (fake_reader *)reader;
    MS_ASSERT(self->split_count < FAKE_SPLITS_MAX && split.bytes == sizeof(fake_split));
    memcpy(&self->splits[self->split_count++], split.ptr, sizeof(fake_split));
    return MS_OK;
}

static void fake_reader_no_more_splits(ms_reader *reader)
{
    ((fake_reader *)reader)->no_more = true;
}

static bool fake_reader_wants_split(const ms_reader *reader)
{
    const fake_reader *self = (const fake_reader *)reader;
    return self->split_count == 0 && !self->no_more;
}

static void fake_fill(const fake_scan *scan, const fake_split *split, ms_batch *batch,
                      uint32_t rows)
{
    int64_t *ids = MS_VEC_DATA(&batch->columns[0], int64_t);
    int64_t *keys = MS_VEC_DATA(&batch->columns[1], int64_t);
    ms_view *texts = MS_VEC_DATA(&batch->columns[2], ms_view);
    size_t text_bytes = scan->world->text_bytes > 40 ? scan->world->text_bytes : 40;
    char *text = malloc(text_bytes);
    memset(text, ' ', text_bytes);
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t id = scan->first_id + split->index * scan->rows_per_split + split->at + i;
        ids[i] = (int64_t)id;
        keys[i] = (int64_t)(id % scan->keys);
        size_t bytes = (size_t)snprintf(text, 40, "the row of id %llu", (unsigned long long)id);
        text[bytes] = ' ';
        bytes = scan->world->text_bytes > bytes ? scan->world->text_bytes : bytes;
        texts[i] = ms_batch_put_str(batch, ms_str_make(text, bytes));
    }
    free(text);
    batch->rows = rows;
}

static ms_read fake_reader_poll(ms_reader *reader, ms_batch **batch_out, ms_status *st)
{
    (void)st;
    fake_reader *self = (fake_reader *)reader;
    const fake_scan *scan = self->scan;
    if (self->split_count == 0) {
        return self->no_more ? MS_READ_END : MS_READ_PENDING;
    }
    fake_split *split = &self->splits[0];
    uint64_t end = scan->rows_per_split;
    uint64_t gate = atomic_load(&scan->world->gate);
    end = gate < end ? gate : end;
    if (split->at >= end) {
        return MS_READ_PENDING;
    }
    ms_batch *batch = ms_batch_pool_take(self->pool);
    if (batch == NULL) {
        return MS_READ_PENDING;
    }
    uint64_t rows = end - split->at < batch->capacity ? end - split->at : batch->capacity;
    fake_fill(scan, split, batch, (uint32_t)rows);
    split->at += rows;
    if (split->at == scan->rows_per_split) {
        *split = self->splits[--self->split_count];
    }
    self->reader.rows_read += rows;
    *batch_out = batch;
    return MS_READ_BATCH;
}

static ms_rc fake_reader_snapshot(ms_reader *reader, ms_buf *out, ms_status *st)
{
    fake_reader *self = (fake_reader *)reader;
    MS_TRY(ms_codec_put_u32(out, self->split_count, st));
    for (uint32_t i = 0; i < self->split_count; i++) {
        MS_TRY(
            ms_codec_put_str(out, ms_str_make((char *)&self->splits[i], sizeof(fake_split)), st));
    }
    return MS_OK;
}

static void fake_reader_close(ms_reader *reader)
{
    fake_reader *self = (fake_reader *)reader;
    fake_remove_waker(self->scan->world, self->env->waker.task);
    ms_mutex_lock(&self->scan->world->mutex);
    self->scan->world->readers_open--;
    ms_mutex_unlock(&self->scan->world->mutex);
    ms_batch_pool_destroy(self->pool);
    ms_mem_free(self);
}

static const ms_reader_class fake_reader_class = {.add_split = fake_reader_add_split,
                                                  .no_more_splits = fake_reader_no_more_splits,
                                                  .wants_split = fake_reader_wants_split,
                                                  .poll = fake_reader_poll,
                                                  .snapshot = fake_reader_snapshot,
                                                  .close = fake_reader_close};

static ms_rc fake_reader_create(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                                ms_status *st)
{
    (void)st;
    fake_reader *self = ms_mem_calloc(1, sizeof(*self));
    self->reader.klass = &fake_reader_class;
    self->scan = (const fake_scan *)scan;
    self->env = env;
    fake_world *world = self->scan->world;
    uint32_t rows = world->batch_rows != 0 ? world->batch_rows : env->batch_rows;
    self->pool = ms_batch_pool_create(&scan->output, rows, world->pool_batches);
    fake_add_waker(world, &env->waker);
    ms_mutex_lock(&world->mutex);
    world->readers_open++;
    ms_mutex_unlock(&world->mutex);
    *reader_out = &self->reader;
    return MS_OK;
}

static const ms_scan_class fake_scan_class = {.enumerator_create = fake_enumerator_create,
                                              .reader_create = fake_reader_create};

__attribute__((unused)) static fake_scan *fake_scan_make(fake_world *world, uint64_t first_id,
                                                         uint32_t splits, uint64_t rows_per_split,
                                                         uint64_t keys)
{
    fake_scan *scan = ms_arena_new(&world->arena, fake_scan);
    *scan = (fake_scan){.scan = {.klass = &fake_scan_class,
                                 .output = world->schema,
                                 .is_bounded = true,
                                 .changelog = MS_CHANGELOG_INSERT},
                        .world = world,
                        .first_id = first_id,
                        .splits = splits,
                        .rows_per_split = rows_per_split,
                        .keys = keys};
    return scan;
}

/* ---- The sink ---- */

typedef struct fake_sink {
    ms_sink sink;
    fake_world *world;
} fake_sink;

/* The rows between two cuts. */
typedef struct fake_part {
    struct fake_part *next;
    uint64_t checkpoint; /* 0: not cut yet */
    ms_buf rows;         /* id, key, 1 when the text is "total": 24 bytes each */
} fake_part;

typedef struct fake_writer {
    ms_writer writer;
    const fake_sink *sink;
    const ms_task_env *env;
    fake_part *parts; /* newest first */
    ms_env_random random;
    bool is_blocking;
    uint64_t cuts;
} fake_writer;

static fake_part *fake_part_add(fake_writer *self)
{
    fake_part *part = ms_mem_calloc(1, sizeof(*part));
    ms_buf_init(&part->rows, 1u << 30);
    part->next = self->parts;
    self->parts = part;
    return part;
}

static ms_write fake_writer_write(ms_writer *writer, const ms_batch *batch, ms_status *st)
{
    fake_writer *self = (fake_writer *)writer;
    if (self->sink->world->is_wild && !self->is_blocking &&
        ms_env_random_below(&self->random, 4) == 0) {
        self->is_blocking = true;
        ms_wake_at(&self->env->waker, ms_env_mono_ns() + 1000);
        return MS_WRITE_BLOCKED;
    }
    self->is_blocking = false;
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        uint32_t row = ms_batch_row(batch, k);
        int64_t id = MS_VEC_DATA(&batch->columns[0], int64_t)[ms_vec_pos(&batch->columns[0], row)];
        int64_t key = MS_VEC_DATA(&batch->columns[1], int64_t)[ms_vec_pos(&batch->columns[1], row)];
        ms_str text = ms_view_str(
            &MS_VEC_DATA(&batch->columns[2], ms_view)[ms_vec_pos(&batch->columns[2], row)]);
        bool is_total = ms_str_equals(text, ms_str_lit("total"));
        if (!is_total) {
            char expected[40];
            snprintf(expected, sizeof(expected), "the row of id %llu", (unsigned long long)id);
            MS_ASSERT(ms_str_equals(ms_str_trim(text), ms_str_cstr(expected)));
        }
        uint64_t words[3] = {(uint64_t)id, (uint64_t)key, is_total ? 1 : 0};
        if (ms_buf_append(&self->parts->rows, ms_str_make((char *)words, sizeof(words)), st) !=
            MS_OK) {
            return MS_WRITE_FAILED;
        }
    }
    self->writer.rows_written += ms_batch_live(batch);
    return MS_WRITE_DONE;
}

static ms_rc fake_writer_cut(ms_writer *writer, uint64_t checkpoint, bool is_final, ms_status *st)
{
    (void)is_final;
    (void)st;
    fake_writer *self = (fake_writer *)writer;
    self->parts->checkpoint = checkpoint;
    self->cuts++;
    fake_part_add(self);
    return MS_OK;
}

static void fake_writer_persist(ms_writer *writer, uint64_t checkpoint, ms_completion *completion)
{
    (void)checkpoint;
    fake_writer *self = (fake_writer *)writer;
    fake_world *world = self->sink->world;
    ms_mutex_lock(&world->mutex);
    bool hang = world->hang_persist;
    if (hang) {
        world->hung[world->hung_count++] = completion;
    }
    ms_mutex_unlock(&world->mutex);
    if (!hang) {
        ms_done(completion, MS_OK, NULL);
    }
}

/* Completes what hangs, and hangs no more. */
__attribute__((unused)) static void fake_unhang(fake_world *world)
{
    ms_mutex_lock(&world->mutex);
    world->hang_persist = false;
    for (uint32_t i = 0; i < world->hung_count; i++) {
        ms_done(world->hung[i], MS_OK, NULL);
    }
    world->hung_count = 0;
    ms_mutex_unlock(&world->mutex);
}

static fake_part **fake_find_part(fake_writer *self, uint64_t checkpoint)
{
    fake_part **link = &self->parts;
    while ((*link)->checkpoint != checkpoint) {
        link = &(*link)->next;
        MS_ASSERT(*link != NULL);
    }
    return link;
}

static ms_rc fake_writer_committable(ms_writer *writer, uint64_t checkpoint, ms_buf *out,
                                     ms_status *st)
{
    fake_writer *self = (fake_writer *)writer;
    fake_part **link = fake_find_part(self, checkpoint);
    fake_part *part = *link;
    *link = part->next;
    ms_rc rc = MS_OK;
    if (part->rows.bytes > 0) {
        uint64_t words[2] = {checkpoint, self->env->subtask};
        rc = ms_buf_append(out, ms_str_make((char *)words, sizeof(words)), st);
        if (rc == MS_OK) {
            rc = ms_buf_append(out, ms_buf_view(&part->rows), st);
        }
    }
    ms_buf_release(&part->rows);
    ms_mem_free(part);
    return rc;
}

static void fake_writer_close(ms_writer *writer)
{
    fake_writer *self = (fake_writer *)writer;
    while (self->parts != NULL) {
        fake_part *next = self->parts->next;
        ms_buf_release(&self->parts->rows);
        ms_mem_free(self->parts);
        self->parts = next;
    }
    ms_mutex_lock(&self->sink->world->mutex);
    self->sink->world->writers_open--;
    ms_mutex_unlock(&self->sink->world->mutex);
    ms_mem_free(self);
}

static const ms_writer_class fake_writer_class = {.write = fake_writer_write,
                                                  .cut = fake_writer_cut,
                                                  .persist = fake_writer_persist,
                                                  .committable = fake_writer_committable,
                                                  .close = fake_writer_close};

static ms_rc fake_writer_create(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                                ms_status *st)
{
    (void)st;
    fake_writer *self = ms_mem_calloc(1, sizeof(*self));
    self->writer.klass = &fake_writer_class;
    self->sink = (const fake_sink *)sink;
    self->env = env;
    ms_env_random_init(&self->random, self->sink->world->seed + env->subtask);
    fake_part_add(self);
    ms_mutex_lock(&self->sink->world->mutex);
    self->sink->world->writers_open++;
    ms_mutex_unlock(&self->sink->world->mutex);
    *writer_out = &self->writer;
    return MS_OK;
}

typedef struct fake_committer {
    ms_committer committer;
    fake_world *world;
    uint64_t sink_id;
} fake_committer;

static void fake_add_rows(fake_world *world, ms_str rows)
{
    for (size_t at = 0; at + 24 <= rows.bytes; at += 24) {
        uint64_t words[3];
        memcpy(words, rows.ptr + at, sizeof(words));
        if (words[2] == 1) {
            world->totals[0] += words[0];
            world->totals[1] += words[1];
            continue;
        }
        if (world->id_count == world->id_capacity) {
            world->id_capacity = world->id_capacity > 0 ? world->id_capacity * 2 : 1024;
            world->ids = realloc(world->ids, world->id_capacity * sizeof(uint64_t));
        }
        world->ids[world->id_count++] = words[0];
    }
}

/* Adds the rows of a committable to the world, unless they are there. */
static void fake_commit_one(fake_world *world, uint64_t sink_id, ms_str bytes)
{
    uint64_t hash = ms_hash_bytes(bytes) ^ sink_id;
    if (world->commit_dir != NULL) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%016llx", world->commit_dir, (unsigned long long)hash);
        ms_status st = {0};
        MS_ASSERT(ms_file_replace(path, bytes, &st) == MS_OK);
        return;
    }
    for (size_t i = 0; i < world->commit_count; i++) {
        if (world->commits[i] == hash) {
            return;
        }
    }
    world->commits = realloc(world->commits, (world->commit_count + 1) * sizeof(uint64_t));
    world->commits[world->commit_count++] = hash;
    fake_add_rows(world, ms_str_make(bytes.ptr + 16, bytes.bytes - 16));
}

static void fake_committer_commit(ms_committer *committer, uint64_t checkpoint,
                                  const ms_str *committables, uint32_t count,
                                  ms_completion *completion)
{
    (void)checkpoint;
    fake_committer *self = (fake_committer *)committer;
    ms_mutex_lock(&self->world->mutex);
    for (uint32_t i = 0; i < count; i++) {
        fake_commit_one(self->world, self->sink_id, committables[i]);
    }
    ms_mutex_unlock(&self->world->mutex);
    ms_done(completion, MS_OK, NULL);
}

static void fake_committer_close(ms_committer *committer)
{
    ms_mem_free(committer);
}

static const ms_committer_class fake_committer_class = {.commit = fake_committer_commit,
                                                        .recover = fake_committer_commit,
                                                        .close = fake_committer_close};

static ms_rc fake_committer_create(const ms_sink *sink, const ms_task_env *env,
                                   ms_committer **committer_out, ms_status *st)
{
    (void)env;
    (void)st;
    fake_committer *self = ms_mem_calloc(1, sizeof(*self));
    self->committer.klass = &fake_committer_class;
    self->world = ((const fake_sink *)sink)->world;
    self->sink_id = 0;
    *committer_out = &self->committer;
    return MS_OK;
}

static const ms_sink_class fake_sink_class = {.writer_create = fake_writer_create,
                                              .committer_create = fake_committer_create};

__attribute__((unused)) static fake_sink *fake_sink_make(fake_world *world)
{
    fake_sink *sink = ms_arena_new(&world->arena, fake_sink);
    *sink =
        (fake_sink){.sink = {.klass = &fake_sink_class, .input = world->schema}, .world = world};
    return sink;
}

static int fake_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The committed ids are [first, first + count), each once. */
__attribute__((unused)) static void fake_expect_ids(fake_world *world, uint64_t first,
                                                    uint64_t count)
{
    if (world->id_count > 0) {
        qsort(world->ids, world->id_count, sizeof(uint64_t), fake_compare);
    }
    assert_int_equal(world->id_count, count);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(world->ids[i], first + i);
    }
}

/* ---- calc ---- */

typedef struct fake_calc {
    ms_op op;
    fake_world *world;
    ms_env_random random;
    ms_batch frame;
    ms_batch_pool *pool;
    uint16_t sel[MS_BATCH_ROWS_MAX];
    uint32_t taken;
    bool is_splitting;
    bool is_blocking;
    /* A batch whose rows are answered by a completion. */
    ms_batch *kept;
    ms_completion *token;
} fake_calc;

/* The world of the operators that fake_make_op makes; a test runs one world at a time. */
static fake_world *fake_current;

static ms_rc fake_calc_open(ms_op *op, ms_op_ctx *ctx)
{
    fake_calc *self = (fake_calc *)op;
    ms_env_random_init(&self->random, self->world->seed * 31 + ctx->env->subtask + op->node->id);
    self->pool = ms_batch_pool_create(&op->node->schema, MS_BATCH_ROWS_MAX, 3);
    fake_add_waker(self->world, &ctx->env->waker);
    return MS_OK;
}

static bool fake_calc_fails(fake_calc *self, const ms_batch *batch, uint32_t *before_out)
{
    if (self->world->fail_at_id == 0) {
        return false;
    }
    const ms_vec *ids = &batch->columns[0];
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        if (MS_VEC_DATA(ids, int64_t)[ms_vec_pos(ids, ms_batch_row(batch, k))] ==
            (int64_t)self->world->fail_at_id) {
            *before_out = k;
            return true;
        }
    }
    return false;
}

/* Emits the live rows [first, first + count) as a frame with a selection. */
static void fake_calc_slice(fake_calc *self, const ms_batch *batch, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        self->sel[i] = (uint16_t)ms_batch_row(batch, first + i);
    }
    ms_batch_frame(&self->frame, batch, batch->columns, batch->column_count);
    self->frame.sel = self->sel;
    self->frame.sel_count = count;
    ms_op_emit(&self->op, 0, &self->frame);
}

/* Hands out the first part of what is left, and says whether there is more. */
static ms_step fake_calc_split(fake_calc *self, const ms_batch *batch)
{
    uint32_t left = ms_batch_live(batch) - self->taken;
    uint32_t count = 1 + (uint32_t)ms_env_random_below(&self->random, left);
    fake_calc_slice(self, batch, self->taken, count);
    self->taken += count;
    self->is_splitting = self->taken < ms_batch_live(batch);
    return self->is_splitting ? MS_MORE : MS_DONE;
}

/* Keeps a copy until a completion that comes through the mailbox. */
static ms_step fake_calc_keep(fake_calc *self, const ms_batch *batch)
{
    ms_batch *copy = ms_batch_pool_take(self->pool);
    if (copy == NULL) {
        ms_batch_frame(&self->frame, batch, batch->columns, batch->column_count);
        ms_op_emit(&self->op, 0, &self->frame);
        return MS_DONE;
    }
    (void)ms_batch_append(copy, batch, 0, ms_batch_live(batch));
    self->kept = copy;
    self->token = self->op.host->completion(&self->op);
    ms_done(self->token, MS_OK, NULL);
    return MS_DONE;
}

static void fake_calc_measure(fake_calc *self, const ms_batch *batch)
{
    const ms_vec *texts = &batch->columns[2];
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        bytes += MS_VEC_DATA(texts, ms_view)[ms_vec_pos(texts, ms_batch_row(batch, k))].bytes;
    }
    uint64_t widest = atomic_load(&self->world->widest_bytes);
    while (bytes > widest &&
           !atomic_compare_exchange_weak(&self->world->widest_bytes, &widest, bytes)) {
    }
}

static ms_step fake_calc_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    fake_calc *self = (fake_calc *)op;
    uint32_t before = 0;
    fake_calc_measure(self, batch);
    if (fake_calc_fails(self, batch, &before)) {
        fake_calc_slice(self, batch, 0, before);
        return ms_op_fail(op, MS_DIVISION_BY_ZERO, op->node->span, "the id is %u",
                          self->world->fail_at_id);
    }
    if (self->world->gives_up && atomic_load(op->ctx->env->canceled)) {
        return ms_op_fail(op, MS_CANCELED, op->node->span, "the evaluation was canceled");
    }
    if (self->kept != NULL || atomic_load(&self->world->hold_calc)) {
        return MS_BLOCKED; /* until complete, or a wake */
    }
    if (self->is_splitting) {
        return fake_calc_split(self, batch);
    }
    uint64_t way = self->world->is_wild ? ms_env_random_below(&self->random, 8) : 0;
    if (way == 1 && !self->is_blocking) {
        self->is_blocking = true;
        ms_wake_at(&op->ctx->env->waker, ms_env_mono_ns() + 1000);
        return MS_BLOCKED;
    }
    self->is_blocking = false;
    if (way == 2 || way == 3) {
        self->taken = 0;
        return fake_calc_split(self, batch);
    }
    if (way == 4) {
        return fake_calc_keep(self, batch);
    }
    if (way == 5) {
        ms_batch *own = ms_batch_own(batch, self->pool);
        if (own != NULL) {
            ms_op_emit(op, 0, own);
            return MS_DONE;
        }
    }
    ms_batch_frame(&self->frame, batch, batch->columns, batch->column_count);
    ms_op_emit(op, 0, &self->frame);
    return MS_DONE;
}

/* What is kept must not stay behind the barrier, or the ending. */
static ms_step fake_calc_flush(fake_calc *self)
{
    ms_batch *kept = self->kept;
    self->kept = NULL;
    self->token = NULL;
    if (kept != NULL) {
        ms_op_emit(&self->op, 0, kept);
    }
    return MS_DONE;
}

static ms_step fake_calc_complete(ms_op *op, ms_completion *done)
{
    fake_calc *self = (fake_calc *)op;
    MS_ASSERT(op->host->completion_status(done)->code == MS_OK);
    if (done != self->token) {
        return MS_DONE; /* what it answers was flushed by a barrier before */
    }
    return fake_calc_flush(self);
}

static ms_step fake_calc_before_barrier(ms_op *op, ms_checkpoint_id id)
{
    (void)id;
    return fake_calc_flush((fake_calc *)op);
}

static ms_step fake_calc_end(ms_op *op, uint32_t input, ms_ending ending)
{
    (void)input;
    (void)ending;
    return fake_calc_flush((fake_calc *)op);
}

static void fake_calc_close(ms_op *op)
{
    fake_calc *self = (fake_calc *)op;
    fake_remove_waker(self->world, op->ctx->env->waker.task);
    ms_batch_drop(self->kept);
    self->kept = NULL;
    ms_batch_pool_destroy(self->pool);
    self->pool = NULL;
}

static const ms_op_class fake_calc_class = {.name = "FakeCalc",
                                            .open = fake_calc_open,
                                            .batch = fake_calc_batch,
                                            .complete = fake_calc_complete,
                                            .end = fake_calc_end,
                                            .before_barrier = fake_calc_before_barrier,
                                            .close = fake_calc_close};

/* ---- mark ---- */

typedef struct fake_mark {
    ms_op op;
    ms_batch frame;
} fake_mark;

static ms_rc fake_mark_open(ms_op *op, ms_op_ctx *ctx)
{
    (void)op;
    (void)ctx;
    return MS_OK;
}

static ms_step fake_mark_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    fake_mark *self = (fake_mark *)op;
    uint32_t last = ms_batch_row(batch, ms_batch_live(batch) - 1);
    int64_t id = MS_VEC_DATA(&batch->columns[0], int64_t)[last];
    ms_batch_frame(&self->frame, batch, batch->columns, batch->column_count);
    ms_op_emit(op, 0, &self->frame);
    ms_op_emit_watermark(op, id);
    return MS_DONE;
}

static void fake_mark_close(ms_op *op)
{
    (void)op;
}

static const ms_op_class fake_mark_class = {
    .name = "FakeMark", .open = fake_mark_open, .batch = fake_mark_batch, .close = fake_mark_close};

/* ---- count ---- */

typedef struct fake_count {
    ms_op op;
    fake_world *world;
    ms_value_table *table;
    ms_batch_pool *pool;
    uint32_t next; /* group to emit at the end */
    bool is_passing;
} fake_count;

static ms_rc fake_count_open(ms_op *op, ms_op_ctx *ctx)
{
    fake_count *self = (fake_count *)op;
    ms_field *columns = ms_arena_array(ctx->job_arena, ms_field, 2);
    columns[0] = (ms_field){ms_str_lit("count"), self->world->bigint};
    columns[1] = (ms_field){ms_str_lit("sum"), self->world->bigint};
    ms_schema schema = {2, columns};
    self->pool = ms_batch_pool_create(&op->node->schema, 1, 2);
    return ms_state_value_table(ctx->state, ms_str_lit("counts"), &schema, &self->table, ctx->st);
}

/* The key group of a key, as a hash exchange over column 1 has it. */
static uint32_t fake_group(int64_t key, const ms_type *type)
{
    ms_value value = ms_value_int(type, key);
    return ms_hash_key_group(ms_hash_values(&value, 1));
}

static ms_step fake_count_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    fake_count *self = (fake_count *)op;
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        uint32_t row = ms_batch_row(batch, k);
        int64_t id = MS_VEC_DATA(&batch->columns[0], int64_t)[row];
        int64_t key = MS_VEC_DATA(&batch->columns[1], int64_t)[row];
        uint32_t group = fake_group(key, self->world->bigint);
        ms_str name = {(char *)&key, sizeof(key)};
        ms_str old = ms_value_table_get(self->table, group, name);
        uint64_t words[2] = {0, 0};
        if (old.ptr != NULL) {
            memcpy(words, old.ptr, sizeof(words));
        }
        words[0]++;
        words[1] += (uint64_t)id;
        if (ms_value_table_put(self->table, group, name, ms_str_make((char *)words, 16),
                               op->ctx->st) != MS_OK) {
            return MS_DONE;
        }
    }
    return MS_DONE;
}

/* Emits a row {count, sum, "total"} for every key below FAKE_COUNT_KEYS that it has. */
static ms_step fake_count_end(ms_op *op, uint32_t input, ms_ending ending)
{
    (void)input;
    (void)ending;
    fake_count *self = (fake_count *)op;
    for (; self->next < FAKE_COUNT_KEYS; self->next++) {
        int64_t key = self->next;
        uint32_t group = fake_group(key, self->world->bigint);
        uint32_t owner = ms_hash_group_owner(group, op->ctx->env->parallelism);
        if (owner != op->ctx->env->subtask) {
            continue;
        }
        ms_str row = ms_value_table_get(self->table, group, ms_str_make((char *)&key, 8));
        if (row.ptr == NULL) {
            continue;
        }
        ms_batch *batch = ms_batch_pool_take(self->pool);
        MS_ASSERT(batch != NULL);
        memcpy(batch->columns[0].data, row.ptr, 8);
        memcpy(batch->columns[1].data, row.ptr + 8, 8);
        MS_VEC_DATA(&batch->columns[2], ms_view)[0] = ms_view_make("total", 5);
        batch->rows = 1;
        ms_op_emit(op, 0, batch);
        self->next++;
        return MS_MORE;
    }
    return MS_DONE;
}

static void fake_count_close(ms_op *op)
{
    fake_count *self = (fake_count *)op;
    ms_batch_pool_destroy(self->pool);
    self->pool = NULL;
}

static const ms_op_class fake_count_class = {.name = "FakeCount",
                                             .open = fake_count_open,
                                             .batch = fake_count_batch,
                                             .end = fake_count_end,
                                             .close = fake_count_close};

__attribute__((unused)) static ms_op *fake_make_op(const ms_pnode *node, ms_arena *arena)
{
    if (node->kind == MS_PNODE_CALC) {
        fake_calc *calc = ms_arena_new(arena, fake_calc);
        calc->op.klass = &fake_calc_class;
        calc->op.node = node;
        calc->world = fake_current;
        return &calc->op;
    }
    if (node->kind == MS_PNODE_WATERMARK) {
        fake_mark *mark = ms_arena_new(arena, fake_mark);
        mark->op.klass = &fake_mark_class;
        mark->op.node = node;
        return &mark->op;
    }
    if (node->kind == MS_PNODE_AGGREGATE) {
        fake_count *count = ms_arena_new(arena, fake_count);
        count->op.klass = &fake_count_class;
        count->op.node = node;
        count->world = fake_current;
        return &count->op;
    }
    return ms_op_create(node, arena);
}

#endif
