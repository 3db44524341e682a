/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who reads what: the ranges of a scan are cut at keys that the service samples, once, on a fresh
 * start, and the splits are handed to whichever reader asks next. What is checkpointed is what was
 * not handed out yet, so that a restored job never samples again.
 *
 * A scan that one reader will do in one request, or that looks up a few single keys, is not worth
 * sampling. All others are, even where nothing is cut: with the samples comes the incarnation of
 * the table, to which all splits of a scan are bound, so that a table that is dropped and made
 * again while they are read does not pass for the rest of it.
 *
 * The snapshot: u8 version 1, u8 whether the splits are planned, u32 splits, the splits as texts.
 * One that was taken while samples were on their way is restored as a fresh start.
 */
#include "connector/bigtable/scan.h"
#include "connector/bigtable/split.h"

#define SNAPSHOT_VERSION 1u

typedef struct bt_enumerator {
    ms_enumerator enumerator;
    ms_enumerator_env *env;
    ms_arena arena; /* everything below */
    ms_bt_client *client;
    ms_bt_table_name destination;
    ms_str app_profile;
    ms_bt_ranges ranges;
    ms_bt_sample_row_keys samples;
    bool *is_waiting; /* one a subtask: it asked before the splits were planned */
    ms_str *splits;   /* encoded */
    size_t split_count;
    size_t next;   /* the split to hand out next */
    bool has_call; /* samples was initialized */
    bool is_planned;
    bool is_sampled; /* the samples have come, and resume will look at them */
    bool is_closed;
} bt_enumerator;

static void release(bt_enumerator *self)
{
    if (self->has_call) {
        ms_bt_sample_row_keys_release(&self->samples);
    }
    ms_arena_release(&self->arena);
    ms_mem_free(self);
}

/* Handing out. */

static void answer(bt_enumerator *self, uint32_t subtask)
{
    if (self->next < self->split_count) {
        self->env->assign(self->env, subtask, self->splits[self->next++]);
    } else {
        self->env->no_more_splits(self->env, subtask);
    }
}

static void enumerator_request(ms_enumerator *enumerator, uint32_t subtask)
{
    bt_enumerator *self = (bt_enumerator *)enumerator;
    if (self->is_planned) {
        answer(self, subtask);
    } else {
        self->is_waiting[subtask] = true;
    }
}

/* Planning. */

/* The splits of the table of this incarnation (0: whichever has the name), as they are handed out.
 */
static ms_rc encode_splits(bt_enumerator *self, const ms_bt_ranges *splits, size_t count,
                           uint32_t incarnation, ms_status *st)
{
    self->split_count = count;
    self->splits = ms_arena_array(&self->arena, ms_str, self->split_count);
    ms_buf buf;
    ms_buf_init(&buf, MS_LIMIT_SNAPSHOT_BYTES);
    ms_rc rc = MS_OK;
    for (size_t i = 0; rc == MS_OK && i < self->split_count; i++) {
        ms_buf_reset(&buf);
        rc = msi_bt_split_write(&(msi_bt_split){splits[i], incarnation}, &buf, st);
        self->splits[i] = ms_arena_copy_str(&self->arena, ms_buf_view(&buf));
    }
    ms_buf_release(&buf);
    self->is_planned = rc == MS_OK;
    return rc;
}

static ms_rc plan_sampled(bt_enumerator *self, ms_status *st)
{
    const ms_bt_sample_row_keys *call = &self->samples;
    /* One reader reads everything: more splits would only be more requests. */
    size_t key_count = self->env->task.parallelism > 1 ? call->sample_count : 0;
    ms_str *keys = ms_arena_array(&self->arena, ms_str, key_count);
    for (size_t i = 0; i < key_count; i++) {
        keys[i] = ms_arena_copy_str(&self->arena, call->samples[i].key);
    }
    const ms_bt_ranges *splits = NULL;
    size_t count = msi_bt_splits_plan(&self->arena, &self->ranges, keys, key_count, &splits);
    return encode_splits(self, splits, count, call->incarnation, st);
}

static void samples_came(ms_bt_call *call, void *arg)
{
    (void)call;
    bt_enumerator *self = arg;
    if (self->is_closed) {
        release(self);
        return;
    }
    self->is_sampled = true;
    ms_wake(&self->env->task.waker);
}

static void enumerator_resume(ms_enumerator *enumerator)
{
    bt_enumerator *self = (bt_enumerator *)enumerator;
    if (!self->is_sampled) {
        return;
    }
    self->is_sampled = false;
    ms_status st = {0};
    const ms_bt_sample_row_keys *call = &self->samples;
    if (!ms_bt_status_is_ok(&call->call.status)) {
        msi_bt_destination_report(&self->destination, "read", &call->call.status, &st);
        self->env->fail(self->env, &st);
        return;
    }
    if (plan_sampled(self, &st) != MS_OK) {
        self->env->fail(self->env, &st);
        return;
    }
    for (uint32_t i = 0; i < self->env->task.parallelism; i++) {
        if (self->is_waiting[i]) {
            self->is_waiting[i] = false;
            answer(self, i);
        }
    }
}

/* split_count: of what is wanted, uncut. */
static bool needs_samples(const bt_enumerator *self, size_t split_count)
{
    if (split_count > 1 || self->env->task.parallelism == 1) {
        return split_count > 1;
    }
    for (size_t i = 0; i < self->ranges.count; i++) {
        if (!ms_bt_range_is_key(&self->ranges.list[i])) {
            return true;
        }
    }
    return false;
}

/* Life. */

static ms_rc restore(bt_enumerator *self, ms_str bytes, ms_status *st)
{
    ms_codec_reader reader = ms_codec_reader_make(bytes);
    uint8_t version = ms_codec_reader_u8(&reader);
    self->is_planned = ms_codec_reader_u8(&reader) != 0;
    uint32_t count = ms_codec_reader_u32(&reader);
    if (version != SNAPSHOT_VERSION || count > ms_codec_reader_left_bytes(&reader)) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "the snapshot of a bigtable scan is damaged");
    }
    self->splits = ms_arena_array(&self->arena, ms_str, count);
    for (uint32_t i = 0; i < count; i++) {
        ms_str split = ms_codec_reader_str(&reader);
        self->splits[self->split_count++] = ms_arena_copy_str(&self->arena, split);
    }
    return ms_codec_reader_finish(&reader, "the snapshot of a bigtable scan", st);
}

static ms_rc enumerator_start(ms_enumerator *enumerator, ms_enumerator_env *env, ms_str restored,
                              ms_status *st)
{
    bt_enumerator *self = (bt_enumerator *)enumerator;
    self->env = env;
    self->is_waiting = ms_arena_array(&self->arena, bool, env->task.parallelism);
    if (restored.ptr != NULL) {
        MS_TRY(restore(self, restored, st));
    }
    if (self->is_planned) {
        return MS_OK;
    }
    const ms_bt_ranges *uncut = NULL;
    size_t count = msi_bt_splits_plan(&self->arena, &self->ranges, NULL, 0, &uncut);
    if (!needs_samples(self, count)) {
        return encode_splits(self, uncut, count, 0, st);
    }
    ms_bt_sample_row_keys_init(&self->samples, env->task.mailbox, samples_came, self);
    self->has_call = true;
    self->samples.table = &self->destination;
    self->samples.call.app_profile = self->app_profile;
    ms_bt_client_sample_row_keys(self->client, &self->samples);
    return MS_OK;
}

static ms_rc enumerator_snapshot(ms_enumerator *enumerator, ms_buf *out, ms_status *st)
{
    const bt_enumerator *self = (const bt_enumerator *)enumerator;
    MS_TRY(ms_codec_put_u8(out, SNAPSHOT_VERSION, st));
    MS_TRY(ms_codec_put_u8(out, self->is_planned, st));
    MS_TRY(ms_codec_put_u32(out, (uint32_t)(self->split_count - self->next), st));
    for (size_t i = self->next; i < self->split_count; i++) {
        MS_TRY(ms_codec_put_str(out, self->splits[i], st));
    }
    return MS_OK;
}

static void enumerator_close(ms_enumerator *enumerator)
{
    bt_enumerator *self = (bt_enumerator *)enumerator;
    self->is_closed = true;
    if (self->has_call && ms_bt_call_is_outstanding(&self->samples.call)) {
        ms_bt_call_cancel(&self->samples.call);
    } else {
        release(self);
    }
}

static const ms_enumerator_class enumerator_class = {
    .start = enumerator_start,
    .request = enumerator_request,
    .resume = enumerator_resume,
    .snapshot = enumerator_snapshot,
    .close = enumerator_close,
};

static ms_bt_ranges copy_ranges(ms_arena *arena, const ms_bt_ranges *ranges)
{
    ms_bt_range *copy = ms_arena_array(arena, ms_bt_range, ranges->count);
    for (size_t i = 0; i < ranges->count; i++) {
        copy[i] = ranges->list[i];
        copy[i].start.key = ms_arena_copy_str(arena, copy[i].start.key);
        copy[i].end.key = ms_arena_copy_str(arena, copy[i].end.key);
    }
    return (ms_bt_ranges){copy, ranges->count};
}

ms_rc msi_bt_enumerator_create(const ms_scan *scan, ms_enumerator **enumerator_out, ms_status *st)
{
    (void)st;
    const msi_bt_scan *given = (const msi_bt_scan *)scan;
    bt_enumerator *self = ms_mem_calloc(1, sizeof(*self));
    self->enumerator.klass = &enumerator_class;
    ms_arena_init(&self->arena, 0);
    self->client = *given->client;
    self->destination = msi_bt_destination_copy(&self->arena, &given->layout.destination);
    self->app_profile = ms_arena_copy_str(&self->arena, given->app_profile);
    self->ranges = copy_ranges(&self->arena, &given->ranges);
    *enumerator_out = &self->enumerator;
    return MS_OK;
}
