/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strided splits, sets of them, and their enumerator. The enumerator's snapshot has the form of a
 * reader's: the splits that were not handed out yet.
 */
#include "catalog/stride.h"

#include "base/codec.h"
#include "base/limits.h"

#define SPLIT_VERSION 1u
#define SNAPSHOT_VERSION 1u

#define SPLIT_BYTES_MAX (1u + 6u * MS_CODEC_VARINT_BYTES)

/* Splits. */

static size_t encode(const ms_stride *stride, char *bytes_out)
{
    size_t size = 0;
    bytes_out[size++] = SPLIT_VERSION;
    size += ms_codec_store_varint(stride->seed, bytes_out + size);
    size += ms_codec_store_varint(stride->first, bytes_out + size);
    size += ms_codec_store_varint(stride->stride, bytes_out + size);
    size += ms_codec_store_varint(stride->count, bytes_out + size);
    size += ms_codec_store_varint(stride->next, bytes_out + size);
    size += ms_codec_store_varint(stride->part, bytes_out + size);
    return size;
}

ms_rc ms_stride_write(const ms_stride *stride, ms_buf *out, ms_status *st)
{
    char bytes[SPLIT_BYTES_MAX];
    size_t size = encode(stride, bytes);
    return ms_buf_append(out, ms_str_make(bytes, size), st);
}

ms_rc ms_stride_read(ms_str bytes, ms_stride *stride_out, ms_status *st)
{
    *stride_out = (ms_stride){0};
    ms_codec_reader reader = ms_codec_reader_make(bytes);
    uint8_t version = ms_codec_reader_u8(&reader);
    ms_stride stride = {.seed = ms_codec_reader_varint(&reader)};
    stride.first = ms_codec_reader_varint(&reader);
    stride.stride = ms_codec_reader_varint(&reader);
    stride.count = ms_codec_reader_varint(&reader);
    stride.next = ms_codec_reader_varint(&reader);
    stride.part = ms_codec_reader_varint(&reader);
    MS_TRY(ms_codec_reader_finish(&reader, "a split of numbered units", st));
    if (version != SPLIT_VERSION || stride.stride == 0 || stride.next > stride.count) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a split of numbered units is damaged");
    }
    *stride_out = stride;
    return MS_OK;
}

/* Sets. */

void ms_stride_set_release(ms_stride_set *set)
{
    ms_mem_free(set->items);
    *set = (ms_stride_set){0};
}

static void append(ms_stride_set *set, const ms_stride *stride)
{
    if (set->count == set->capacity) {
        set->capacity = set->capacity == 0 ? 4 : 2 * set->capacity;
        set->items = ms_mem_realloc(set->items, set->capacity * sizeof(*set->items));
    }
    set->items[set->count++] = *stride;
}

ms_rc ms_stride_set_add(ms_stride_set *set, ms_str split, ms_status *st)
{
    ms_stride stride;
    MS_TRY(ms_stride_read(split, &stride, st));
    if (set->count >= MS_LIMIT_PARALLELISM) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a source has more splits than a job has subtasks");
    }
    append(set, &stride);
    return MS_OK;
}

static void remove_at(ms_stride_set *set, uint32_t index)
{
    set->count--;
    memmove(&set->items[index], &set->items[index + 1], (set->count - index) * sizeof(*set->items));
}

ms_stride *ms_stride_set_pick(ms_stride_set *set)
{
    for (uint32_t i = set->count; i-- > 0;) {
        if (ms_stride_left(&set->items[i]) == 0) {
            remove_at(set, i);
        }
    }
    if (set->count == 0) {
        return NULL;
    }
    set->turn = (set->turn + 1) % set->count;
    return &set->items[set->turn];
}

bool ms_stride_set_wants(const ms_stride_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (ms_stride_left(&set->items[i]) > 0) {
            return false;
        }
    }
    return !set->is_complete;
}

ms_rc ms_stride_set_snapshot(const ms_stride_set *set, ms_buf *out, ms_status *st)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        left += ms_stride_left(&set->items[i]) > 0;
    }
    MS_TRY(ms_codec_put_u32(out, left, st));
    for (uint32_t i = 0; i < set->count; i++) {
        if (ms_stride_left(&set->items[i]) > 0) {
            char bytes[SPLIT_BYTES_MAX];
            size_t size = encode(&set->items[i], bytes);
            MS_TRY(ms_codec_put_str(out, ms_str_make(bytes, size), st));
        }
    }
    return MS_OK;
}

/* The enumerator. */

typedef struct stride_enumerator {
    ms_enumerator enumerator;
    ms_enumerator_env *env;
    uint64_t total;
    uint64_t seed;
    ms_stride_set unassigned;
} stride_enumerator;

static void make_splits(stride_enumerator *self)
{
    uint64_t parallelism = self->env->task.parallelism;
    bool is_bounded = self->total != MS_STRIDE_UNBOUNDED;
    for (uint64_t i = 0; i < parallelism; i++) {
        uint64_t count = self->total / parallelism + (i < self->total % parallelism);
        ms_stride stride = {.seed = self->seed,
                            .first = i,
                            .stride = parallelism,
                            .count = is_bounded ? count : MS_STRIDE_UNBOUNDED};
        if (stride.count > 0) {
            append(&self->unassigned, &stride);
        }
    }
}

static ms_rc read_splits(stride_enumerator *self, ms_str restored, ms_status *st)
{
    ms_codec_reader reader = ms_codec_reader_make(restored);
    uint8_t version = ms_codec_reader_u8(&reader);
    uint32_t count = ms_codec_reader_u32(&reader);
    if (version != SNAPSHOT_VERSION) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "the snapshot of an enumerator is damaged");
    }
    for (uint32_t i = 0; i < count && ms_codec_reader_is_ok(&reader); i++) {
        ms_str split = ms_codec_reader_str(&reader);
        MS_TRY(ms_codec_reader_check(&reader, "the snapshot of an enumerator", st));
        MS_TRY(ms_stride_set_add(&self->unassigned, split, st));
    }
    return ms_codec_reader_finish(&reader, "the snapshot of an enumerator", st);
}

static ms_rc enumerator_start(ms_enumerator *enumerator, ms_enumerator_env *env, ms_str restored,
                              ms_status *st)
{
    stride_enumerator *self = (stride_enumerator *)enumerator;
    self->env = env;
    if (restored.ptr != NULL) {
        return read_splits(self, restored, st);
    }
    make_splits(self);
    return MS_OK;
}

static void enumerator_request(ms_enumerator *enumerator, uint32_t subtask)
{
    stride_enumerator *self = (stride_enumerator *)enumerator;
    ms_stride_set *set = &self->unassigned;
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->items[i].first % self->env->task.parallelism != subtask) {
            continue;
        }
        char bytes[SPLIT_BYTES_MAX];
        size_t size = encode(&set->items[i], bytes);
        remove_at(set, i);
        self->env->assign(self->env, subtask, ms_str_make(bytes, size));
        return;
    }
    self->env->no_more_splits(self->env, subtask);
}

static void enumerator_resume(ms_enumerator *enumerator)
{
    (void)enumerator;
}

static ms_rc enumerator_snapshot(ms_enumerator *enumerator, ms_buf *out, ms_status *st)
{
    stride_enumerator *self = (stride_enumerator *)enumerator;
    MS_TRY(ms_codec_put_u8(out, SNAPSHOT_VERSION, st));
    return ms_stride_set_snapshot(&self->unassigned, out, st);
}

static void enumerator_close(ms_enumerator *enumerator)
{
    stride_enumerator *self = (stride_enumerator *)enumerator;
    ms_stride_set_release(&self->unassigned);
    ms_mem_free(self);
}

static const ms_enumerator_class stride_enumerator_class = {
    .start = enumerator_start,
    .request = enumerator_request,
    .resume = enumerator_resume,
    .snapshot = enumerator_snapshot,
    .close = enumerator_close,
};

ms_enumerator *ms_stride_enumerator_create(uint64_t total, uint64_t seed)
{
    stride_enumerator *self = ms_mem_calloc(1, sizeof(*self));
    self->enumerator.klass = &stride_enumerator_class;
    self->total = total;
    self->seed = seed;
    return &self->enumerator;
}
