/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of one operator in one subtask, their cuts, and the log of changes that a checkpoint
 * stores.
 *
 * A cut takes a reference to every segment of every table and opens the next epoch; what was
 * changed is found later, by the pool job that writes the cut, from the epochs in segments and
 * entries. So the cut costs a few hundred increments whatever the size of the state.
 *
 * The log, written by ms_state_write and read by ms_state_restore:
 *
 *     head     magic "MSSL", u16 version, u8 1 when full, u64 checkpoint
 *     record   u8 kind, varint bytes, payload, u32 CRC-32C of kind and payload
 *
 *     TABLE    name, schema descriptor          the records behind it are of this table
 *     PUT      varint group, key, row
 *     DEL      varint group, key
 *     END      varint number of PUT and DEL records
 *
 * The mutex guards only the list of cuts: a pool job looks its cut up while the task may add the
 * next one. What a cut points to needs no lock (state_priv.h).
 */
#include "state/state.h"

#include "base/codec.h"
#include "os/thread.h"
#include "state/state_priv.h"
#include "type/rowcodec.h"

#define LOG_VERSION 1u
#define TABLES_MAX 64u /* of one operator: a multi-way join has two a side */

typedef enum record_kind { RECORD_TABLE = 1, RECORD_PUT, RECORD_DEL, RECORD_END } record_kind;

static const char log_magic[4] = {'M', 'S', 'S', 'L'};

struct ms_value_table {
    ms_state *state;
    ms_str name;
    ms_str descriptor; /* the schema, encoded */
    ms_schema schema;
    uint64_t entries;
    msi_segment **segments;
};

typedef struct cut {
    struct cut *next;
    uint64_t checkpoint;
    uint64_t epoch;
    uint32_t table_count;
    msi_segment **segments; /* table_count times the groups */
} cut;

struct ms_state {
    msi_heap heap;
    ms_arena arena; /* names and schemas */
    uint32_t group_first;
    uint32_t group_count;
    uint64_t epoch; /* of changes made now; restored entries have 0 */
    uint32_t table_count;
    ms_value_table *tables[TABLES_MAX];
    ms_mutex mutex; /* guards cuts */
    cut *cuts;
};

/* Life. */

ms_state *ms_state_create(ms_account *account, uint32_t group_first, uint32_t group_end)
{
    ms_state *state = ms_mem_calloc(1, sizeof(ms_state));
    state->heap.account = account;
    ms_arena_init(&state->arena, 0);
    state->group_first = group_first;
    state->group_count = group_end - group_first;
    state->epoch = 1;
    ms_mutex_init(&state->mutex, MS_RANK_JOB);
    return state;
}

static void cut_free(ms_state *state, cut *done)
{
    for (uint32_t i = 0; i < done->table_count * state->group_count; i++) {
        msi_segment_drop(done->segments[i], &state->heap);
    }
    ms_mem_free(done->segments);
    ms_mem_free(done);
}

void ms_state_destroy(ms_state *state)
{
    if (state == NULL) {
        return;
    }
    while (state->cuts != NULL) {
        cut *next = state->cuts->next;
        cut_free(state, state->cuts);
        state->cuts = next;
    }
    for (uint32_t t = 0; t < state->table_count; t++) {
        for (uint32_t g = 0; g < state->group_count; g++) {
            msi_segment_drop(state->tables[t]->segments[g], &state->heap);
        }
        ms_mem_free(state->tables[t]->segments);
    }
    MS_ASSERT(state->heap.used_bytes == 0);
    ms_mutex_release(&state->mutex);
    ms_arena_release(&state->arena);
    ms_mem_free(state);
}

/* Tables. */

static ms_value_table *find_table(const ms_state *state, ms_str name)
{
    for (uint32_t t = 0; t < state->table_count; t++) {
        if (ms_str_equals(state->tables[t]->name, name)) {
            return state->tables[t];
        }
    }
    return NULL;
}

/* Adds a table of an encoded schema. */
static ms_rc add_table(ms_state *state, ms_str name, ms_str descriptor, ms_value_table **table_out,
                       ms_status *st)
{
    if (state->table_count == TABLES_MAX) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "an operator has more than %u state tables", TABLES_MAX);
    }
    ms_value_table *table = ms_arena_new(&state->arena, ms_value_table);
    table->state = state;
    table->name = ms_arena_copy_str(&state->arena, name);
    table->descriptor = ms_arena_copy_str(&state->arena, descriptor);
    MS_TRY(ms_schema_decode(table->descriptor, &state->arena, &table->schema, st));
    table->segments = ms_mem_calloc(state->group_count, sizeof(msi_segment *));
    state->tables[state->table_count++] = table;
    *table_out = table;
    return MS_OK;
}

/* Fails naming the table, then the column. */
static ms_rc check_schema(ms_str table, const ms_schema *stored, const ms_schema *current,
                          ms_status *st)
{
    ms_status why = {0};
    if (ms_schema_check(stored, current, &why) == MS_OK) {
        return MS_OK;
    }
    ms_status_set(st, why.code, ms_span_none, "state table \"%.*s\" was stored differently: %s",
                  MS_STR_ARG(table), why.message);
    return ms_status_detail(st, "%s", why.detail);
}

ms_rc ms_state_value_table(ms_state *state, ms_str name, const ms_schema *schema,
                           ms_value_table **table_out, ms_status *st)
{
    *table_out = NULL;
    ms_value_table *table = find_table(state, name);
    if (table != NULL) {
        MS_TRY(check_schema(table->name, &table->schema, schema, st));
        *table_out = table;
        return MS_OK;
    }
    ms_buf descriptor;
    ms_buf_init(&descriptor, MS_LIMIT_RECORD_BYTES);
    ms_rc rc = ms_schema_encode(schema, &descriptor, st);
    if (rc == MS_OK) {
        rc = add_table(state, name, ms_buf_view(&descriptor), table_out, st);
    }
    ms_buf_release(&descriptor);
    return rc;
}

static msi_segment **segment_of(ms_value_table *table, uint32_t group)
{
    MS_ASSERT(group - table->state->group_first < table->state->group_count);
    return &table->segments[group - table->state->group_first];
}

ms_str ms_value_table_get(ms_value_table *table, uint32_t group, ms_str key)
{
    const msi_entry *entry = msi_segment_find(*segment_of(table, group), key);
    return entry != NULL ? msi_entry_row(entry) : (ms_str){NULL, 0};
}

static ms_rc put_at(ms_value_table *table, uint32_t group, uint64_t epoch, ms_str key, ms_str row,
                    ms_status *st)
{
    if (key.bytes > MS_LIMIT_RECORD_BYTES || row.bytes > MS_LIMIT_RECORD_BYTES) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "a row of state table \"%.*s\" has more than %u bytes",
                             MS_STR_ARG(table->name), MS_LIMIT_RECORD_BYTES);
    }
    bool added = false;
    MS_TRY(msi_segment_put(segment_of(table, group), &table->state->heap, epoch, key, row, &added,
                           st));
    table->entries += added ? 1 : 0;
    return MS_OK;
}

ms_rc ms_value_table_put(ms_value_table *table, uint32_t group, ms_str key, ms_str row,
                         ms_status *st)
{
    return put_at(table, group, table->state->epoch, key, row, st);
}

void ms_value_table_delete(ms_value_table *table, uint32_t group, ms_str key)
{
    ms_state *state = table->state;
    if (msi_segment_delete(segment_of(table, group), &state->heap, state->epoch, key)) {
        table->entries--;
    }
}

/* Cuts. */

void ms_state_cut(ms_state *state, uint64_t checkpoint)
{
    cut *made = ms_mem_calloc(1, sizeof(cut));
    made->checkpoint = checkpoint;
    made->epoch = state->epoch++;
    made->table_count = state->table_count;
    made->segments =
        ms_mem_calloc((size_t)state->table_count * state->group_count, sizeof(msi_segment *));
    for (uint32_t t = 0; t < state->table_count; t++) {
        for (uint32_t g = 0; g < state->group_count; g++) {
            msi_segment *segment = state->tables[t]->segments[g];
            if (segment != NULL) {
                segment->refs++;
            }
            made->segments[t * state->group_count + g] = segment;
        }
    }
    ms_mutex_lock(&state->mutex);
    made->next = state->cuts;
    state->cuts = made;
    ms_mutex_unlock(&state->mutex);
}

static const cut *find_cut(ms_state *state, uint64_t checkpoint)
{
    ms_mutex_lock(&state->mutex);
    const cut *found = state->cuts;
    while (found != NULL && found->checkpoint != checkpoint) {
        found = found->next;
    }
    ms_mutex_unlock(&state->mutex);
    return found;
}

void ms_state_release_cut(ms_state *state, uint64_t checkpoint)
{
    ms_mutex_lock(&state->mutex);
    cut **link = &state->cuts;
    while (*link != NULL && (*link)->checkpoint != checkpoint) {
        link = &(*link)->next;
    }
    cut *done = *link;
    if (done != NULL) {
        *link = done->next;
    }
    ms_mutex_unlock(&state->mutex);
    if (done != NULL) {
        cut_free(state, done);
    }
}

/* Writing. */

/* Appends kind, length and CRC around what was put into payload, and empties it. */
static ms_rc put_record(ms_buf *out, record_kind kind, ms_buf *payload, ms_status *st)
{
    char kind_byte = (char)kind;
    uint32_t crc = ms_crc32c(ms_crc32c(0, (ms_str){&kind_byte, 1}), ms_buf_view(payload));
    MS_TRY(ms_codec_put_u8(out, (uint8_t)kind, st));
    MS_TRY(ms_codec_put_str(out, ms_buf_view(payload), st));
    ms_buf_reset(payload);
    return ms_codec_put_u32(out, crc, st);
}

static ms_rc write_entry(ms_buf *out, uint32_t group, const msi_entry *entry, ms_buf *payload,
                         ms_status *st)
{
    MS_TRY(ms_codec_put_varint(payload, group, st));
    MS_TRY(ms_codec_put_str(payload, msi_entry_key(entry), st));
    if (entry->is_deleted) {
        return put_record(out, RECORD_DEL, payload, st);
    }
    MS_TRY(ms_codec_put_str(payload, msi_entry_row(entry), st));
    return put_record(out, RECORD_PUT, payload, st);
}

/* What a cut writes of an entry: in full, all that lives; else what changed in its epoch. */
static bool is_written(const msi_entry *entry, uint64_t epoch, bool full)
{
    return full ? !entry->is_deleted : entry->changed == epoch;
}

static ms_rc write_segment(ms_buf *out, uint32_t group, const msi_segment *segment, uint64_t epoch,
                           bool full, uint64_t *count, ms_buf *payload, ms_status *st)
{
    if (segment == NULL || (!full && segment->changed != epoch)) {
        return MS_OK;
    }
    for (uint32_t i = 0; i < segment->slot_count; i++) {
        const msi_entry *entry = segment->slots[i].entry;
        if (entry != NULL && is_written(entry, epoch, full)) {
            MS_TRY(write_entry(out, group, entry, payload, st));
            (*count)++;
        }
    }
    return MS_OK;
}

static ms_rc write_cut(const ms_state *state, const cut *frozen, bool full, ms_buf *out,
                       ms_buf *payload, ms_status *st)
{
    MS_TRY(ms_buf_append(out, (ms_str){log_magic, sizeof(log_magic)}, st));
    MS_TRY(ms_codec_put_u16(out, LOG_VERSION, st));
    MS_TRY(ms_codec_put_u8(out, full ? 1 : 0, st));
    MS_TRY(ms_codec_put_u64(out, frozen->checkpoint, st));
    uint64_t count = 0;
    for (uint32_t t = 0; t < frozen->table_count; t++) {
        MS_TRY(ms_codec_put_str(payload, state->tables[t]->name, st));
        MS_TRY(ms_codec_put_str(payload, state->tables[t]->descriptor, st));
        MS_TRY(put_record(out, RECORD_TABLE, payload, st));
        for (uint32_t g = 0; g < state->group_count; g++) {
            MS_TRY(write_segment(out, state->group_first + g,
                                 frozen->segments[t * state->group_count + g], frozen->epoch, full,
                                 &count, payload, st));
        }
    }
    MS_TRY(ms_codec_put_varint(payload, count, st));
    return put_record(out, RECORD_END, payload, st);
}

ms_rc ms_state_write(ms_state *state, uint64_t checkpoint, bool full, ms_buf *out, ms_status *st)
{
    const cut *frozen = find_cut(state, checkpoint);
    MS_ASSERT(frozen != NULL);
    ms_buf payload;
    /* A key, a row and their lengths. */
    ms_buf_init(&payload, 2u * MS_LIMIT_RECORD_BYTES + 64u);
    ms_rc rc = write_cut(state, frozen, full, out, &payload, st);
    ms_buf_release(&payload);
    return rc;
}

/* Restoring. */

typedef struct restore {
    ms_state *state;
    ms_value_table *table; /* of the newest TABLE record */
    uint64_t count;
    bool ended;
} restore;

static ms_rc corrupt(ms_status *st, const char *why)
{
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "a state file is damaged: %s", why);
}

static ms_rc restore_table(restore *in, ms_codec_reader *reader, ms_status *st)
{
    ms_str name = ms_codec_reader_str(reader);
    ms_str descriptor = ms_codec_reader_str(reader);
    MS_TRY(ms_codec_reader_finish(reader, "a table record of a state file", st));
    in->table = find_table(in->state, name);
    if (in->table == NULL) {
        return add_table(in->state, name, descriptor, &in->table, st);
    }
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_schema stored;
    ms_rc rc = ms_schema_decode(descriptor, &scratch, &stored, st);
    if (rc == MS_OK) {
        rc = check_schema(name, &stored, &in->table->schema, st);
    }
    ms_arena_release(&scratch);
    return rc;
}

static ms_rc restore_entry(restore *in, record_kind kind, ms_codec_reader *reader, ms_status *st)
{
    uint64_t group = ms_codec_reader_varint(reader);
    ms_str key = ms_codec_reader_str(reader);
    ms_str row = kind == RECORD_PUT ? ms_codec_reader_str(reader) : (ms_str){0};
    MS_TRY(ms_codec_reader_finish(reader, "a record of a state file", st));
    if (in->table == NULL || group >= MS_KEY_GROUPS) {
        return corrupt(st, "a record belongs to no table");
    }
    in->count++;
    ms_state *state = in->state;
    if (group < state->group_first || group - state->group_first >= state->group_count) {
        return MS_OK;
    }
    if (kind == RECORD_PUT) {
        return put_at(in->table, (uint32_t)group, 0, key, row, st);
    }
    if (msi_segment_delete(segment_of(in->table, (uint32_t)group), &state->heap, 0, key)) {
        in->table->entries--;
    }
    return MS_OK;
}

static ms_rc restore_record(restore *in, ms_codec_reader *log, ms_status *st)
{
    char kind = (char)ms_codec_reader_u8(log);
    ms_str payload = ms_codec_reader_str(log);
    uint32_t crc = ms_codec_reader_u32(log);
    MS_TRY(ms_codec_reader_check(log, "a state file", st));
    if (crc != ms_crc32c(ms_crc32c(0, (ms_str){&kind, 1}), payload)) {
        return corrupt(st, "a record fails its check");
    }
    ms_codec_reader reader = ms_codec_reader_make(payload);
    switch (kind) {
    case RECORD_TABLE:
        return restore_table(in, &reader, st);
    case RECORD_PUT:
    case RECORD_DEL:
        return restore_entry(in, (record_kind)kind, &reader, st);
    case RECORD_END:
        in->ended = true;
        if (ms_codec_reader_varint(&reader) != in->count || !ms_codec_reader_is_ok(&reader)) {
            return corrupt(st, "records are missing");
        }
        return MS_OK;
    default:
        return corrupt(st, "a record has an unknown kind");
    }
}

static ms_rc restore_log(restore *in, ms_codec_reader *log, ms_status *st)
{
    ms_str magic = ms_codec_reader_bytes(log, sizeof(log_magic));
    uint16_t version = ms_codec_reader_u16(log);
    (void)ms_codec_reader_u8(log);
    (void)ms_codec_reader_u64(log);
    if (!ms_str_equals(magic, (ms_str){log_magic, sizeof(log_magic)})) {
        return corrupt(st, "it does not begin as one");
    }
    if (version != LOG_VERSION) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "a state file has version %u; this program reads version %u", version,
                             LOG_VERSION);
    }
    in->table = NULL;
    in->count = 0;
    in->ended = false;
    while (!in->ended) {
        MS_TRY(restore_record(in, log, st));
    }
    return MS_OK;
}

ms_rc ms_state_restore(ms_state *state, ms_str records, ms_status *st)
{
    restore in = {.state = state};
    ms_codec_reader log = ms_codec_reader_make(records);
    while (ms_codec_reader_left_bytes(&log) > 0) {
        MS_TRY(restore_log(&in, &log, st));
    }
    return MS_OK;
}

/* Inspection. */

bool ms_state_is_used(const ms_state *state)
{
    return state->table_count > 0;
}

uint64_t ms_state_entries(const ms_state *state)
{
    uint64_t entries = 0;
    for (uint32_t t = 0; t < state->table_count; t++) {
        entries += state->tables[t]->entries;
    }
    return entries;
}

size_t ms_state_bytes(const ms_state *state)
{
    return state->heap.used_bytes;
}
