/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the change log, and the forms of its records and tokens. The leader builds one record at
 * a time in a buffer that it keeps, puts it into the batch of the cells it speaks of, and notes
 * which tablets the group wrote to, so that only their readers are woken when it is published.
 *
 * A row's deletion masks what its entry did before it; of several in one entry only the last is
 * kept, with what follows it, since each becomes a delete of every family.
 */
#include "bigtable/store/change_log.h"

#include "base/memory.h"
#include "base/num.h"
#include "bigtable/store/store_priv.h"

#include <stdio.h>

#define RECORD_VERSION 1u
/* An entry, and a deletion of a thousand families beside it. */
#define RECORD_BYTES_MAX ((size_t)MS_BT_LIMIT_BATCH_BYTES + ((size_t)64 << 20))
/* A buffer that one large record left behind is given back. */
#define RECORD_BYTES_KEPT ((size_t)1 << 20)

struct msi_log {
    ms_buf record;
    const msi_table *table;
    ms_str row;
    ms_str cluster;
    size_t head_bytes; /* of the record, before its mutations */
    bool has_row_delete;
    msi_log_position last; /* numbers of the last record */
    msi_touched touched;
};

/* Keys. */

char *msi_log_put_key(char to[MSI_LOG_KEY_BYTES], uint32_t table, const msi_log_position *position)
{
    char *at = msi_log_put_tablet(to, table, position->tablet);
    uint64_t micros = __builtin_bswap64((uint64_t)position->micros);
    memcpy(at, &micros, sizeof(micros));
    return msi_key_put_u32(at + sizeof(micros), position->sequence);
}

bool msi_log_read_key(ms_str key, msi_log_position *position_out)
{
    if (key.bytes != MSI_LOG_KEY_BYTES) {
        return false;
    }
    uint64_t micros;
    memcpy(&micros, key.ptr + 8, sizeof(micros));
    *position_out = (msi_log_position){.tablet = msi_key_u32(key.ptr + 4),
                                       .micros = (int64_t)__builtin_bswap64(micros),
                                       .sequence = msi_key_u32(key.ptr + 16)};
    return true;
}

/* Writing. */

struct msi_log *msi_log_create(void)
{
    struct msi_log *log = ms_mem_calloc(1, sizeof(*log));
    ms_buf_init(&log->record, RECORD_BYTES_MAX);
    return log;
}

void msi_log_destroy(struct msi_log *log)
{
    if (log != NULL) {
        ms_buf_release(&log->record);
        ms_mem_free(log);
    }
}

void msi_log_begin(ms_bt_store *store, const msi_table *table, ms_str row, ms_str cluster)
{
    struct msi_log *log = store->commit.log;
    if (log->record.capacity_bytes > RECORD_BYTES_KEPT) {
        ms_buf_release(&log->record);
        ms_buf_init(&log->record, RECORD_BYTES_MAX);
    }
    ms_buf_reset(&log->record);
    log->table = table;
    log->row = row;
    log->cluster = cluster;
    log->head_bytes = 0;
    log->has_row_delete = false;
}

static ms_rc put_head(struct msi_log *log, ms_status *st)
{
    ms_buf_reset(&log->record);
    MS_TRY(ms_codec_put_u8(&log->record, RECORD_VERSION, st));
    MS_TRY(ms_codec_put_str(&log->record, log->row, st));
    MS_TRY(ms_codec_put_str(&log->record, log->cluster, st));
    log->head_bytes = log->record.bytes;
    return MS_OK;
}

static ms_rc put_mutation(struct msi_log *log, ms_bt_mutation_kind kind, ms_str family,
                          const msi_log_mutation *mutation, ms_status *st)
{
    ms_buf *record = &log->record;
    MS_TRY(ms_codec_put_u8(record, (uint8_t)kind, st));
    MS_TRY(ms_codec_put_str(record, family, st));
    MS_TRY(ms_codec_put_str(record, mutation->qualifier, st));
    MS_TRY(ms_codec_put_signed(record, mutation->timestamp_micros, st));
    MS_TRY(ms_codec_put_signed(record, mutation->end_micros, st));
    return ms_codec_put_str(record, mutation->value, st);
}

static ms_rc put_row_delete(struct msi_log *log, ms_status *st)
{
    if (log->has_row_delete) {
        log->record.bytes = log->head_bytes;
    }
    log->has_row_delete = true;
    static const msi_log_mutation none;
    for (size_t i = 0; i < log->table->def->family_count; i++) {
        MS_TRY(put_mutation(log, MS_BT_MUTATION_DELETE_FROM_FAMILY,
                            log->table->def->families[i].name, &none, st));
    }
    return MS_OK;
}

ms_rc msi_log_add(ms_bt_store *store, const msi_log_mutation *mutation, ms_status *st)
{
    struct msi_log *log = store->commit.log;
    if (log->head_bytes == 0) {
        MS_TRY(put_head(log, st));
    }
    if (mutation->kind == MS_BT_MUTATION_DELETE_FROM_ROW) {
        return put_row_delete(log, st);
    }
    uint32_t index = msi_table_family_index(log->table, mutation->family_id);
    MS_ASSERT(index != UINT32_MAX);
    return put_mutation(log, mutation->kind, log->table->def->families[index].name, mutation, st);
}

static void touch(msi_touched *touched, uint32_t table, uint32_t tablet)
{
    for (uint32_t i = touched->count; i > 0; i--) {
        if (touched->list[i - 1].table == table && touched->list[i - 1].tablet == tablet) {
            return;
        }
    }
    if (touched->count == MSI_TOUCHED_MAX) {
        touched->is_full = true;
        return;
    }
    touched->list[touched->count].table = table;
    touched->list[touched->count++].tablet = tablet;
}

ms_rc msi_log_end(ms_bt_store *store, ms_status *st)
{
    (void)st;
    msi_commit *commit = &store->commit;
    struct msi_log *log = commit->log;
    if (log->record.bytes == log->head_bytes) {
        return MS_OK;
    }
    bool is_same_batch = log->last.micros == commit->micros;
    log->last.sequence = is_same_batch ? log->last.sequence + 1 : 0;
    log->last.micros = commit->micros;
    log->last.tablet = msi_table_tablet(log->table, log->row)->id;
    char key[MSI_LOG_KEY_BYTES];
    msi_log_put_key(key, log->table->id, &log->last);
    ms_kv_batch_put(commit->batch, ms_str_make(key, sizeof(key)), ms_buf_view(&log->record));
    commit->batch_bytes += log->record.bytes;
    touch(&log->touched, log->table->id, log->last.tablet);
    return MS_OK;
}

void msi_log_touch_table(ms_bt_store *store, uint32_t table)
{
    touch(&store->commit.log->touched, table, 0);
}

void msi_log_publish(ms_bt_store *store)
{
    msi_touched *touched = &store->commit.log->touched;
    if (touched->count == 0 && store->commit.last_micros == msi_store_safe_micros(store)) {
        return;
    }
    /* Order release: pairs with msi_store_safe_micros. Who sees the time sees the catalog and the
     * records up to it. */
    atomic_store_explicit(&store->safe_micros, store->commit.last_micros, memory_order_release);
    msi_change_wake(store, touched);
    touched->count = 0;
    touched->is_full = false;
}

/* Reading. */

static ms_codec_reader begin_read(ms_str value, ms_str *row_out, uint8_t *version_out)
{
    ms_codec_reader reader = ms_codec_reader_make(value);
    *version_out = ms_codec_reader_u8(&reader);
    *row_out = ms_codec_reader_str(&reader);
    return reader;
}

ms_str msi_log_read_row(ms_str value)
{
    ms_str row;
    uint8_t version = 0;
    (void)begin_read(value, &row, &version);
    return row;
}

static uint32_t count_mutations(ms_codec_reader reader)
{
    uint32_t count = 0;
    while (ms_codec_reader_is_ok(&reader) && ms_codec_reader_left_bytes(&reader) > 0) {
        (void)ms_codec_reader_u8(&reader);
        (void)ms_codec_reader_str(&reader);
        (void)ms_codec_reader_str(&reader);
        (void)ms_codec_reader_signed(&reader);
        (void)ms_codec_reader_signed(&reader);
        (void)ms_codec_reader_str(&reader);
        count++;
    }
    return count;
}

ms_rc msi_log_read(ms_str value, ms_arena *arena, ms_bt_change *change, ms_status *st)
{
    ms_str row;
    uint8_t version = 0;
    ms_codec_reader reader = begin_read(value, &row, &version);
    if (version != RECORD_VERSION && ms_codec_reader_is_ok(&reader)) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "the change log of the embedded store has records of version %u; this "
                             "Millstream knows %u",
                             version, RECORD_VERSION);
    }
    change->kind = MS_BT_CHANGE_DATA;
    change->row_key = ms_arena_copy_str(arena, row);
    change->source_cluster = ms_arena_copy_str(arena, ms_codec_reader_str(&reader));
    change->is_garbage_collection = change->source_cluster.bytes == 0;
    change->mutation_count = count_mutations(reader);
    ms_bt_change_mutation *list =
        ms_arena_array(arena, ms_bt_change_mutation, change->mutation_count);
    for (uint32_t i = 0; i < change->mutation_count; i++) {
        list[i].kind = (ms_bt_mutation_kind)ms_codec_reader_u8(&reader);
        list[i].family = ms_arena_copy_str(arena, ms_codec_reader_str(&reader));
        list[i].qualifier = ms_arena_copy_str(arena, ms_codec_reader_str(&reader));
        list[i].timestamp_micros = ms_codec_reader_signed(&reader);
        list[i].end_micros = ms_codec_reader_signed(&reader);
        list[i].value = ms_arena_copy_str(arena, ms_codec_reader_str(&reader));
        if ((unsigned)list[i].kind >= MS_BT_MUTATION_COUNT) {
            reader.failed = true;
        }
    }
    change->mutations = list;
    return ms_codec_reader_finish(&reader, "a record of the change log", st);
}

/* Tokens. */

#define TOKEN_MARK "ms1."
#define TOKEN_FIELDS 4u

size_t msi_token_print(const msi_token *token, char text_out[MSI_TOKEN_BYTES])
{
    const msi_log_position *at = &token->position;
    int bytes = snprintf(text_out, MSI_TOKEN_BYTES, TOKEN_MARK "%u.%u.%lld.%u", token->table,
                         at->tablet, (long long)at->micros, at->sequence);
    return (size_t)bytes;
}

/* Takes a number off the text, and the dot behind it where more follows. */
static bool take_number(ms_str *text, uint64_t max, uint64_t *number_out)
{
    size_t digits = ms_num_count_digits(*text, 0);
    if (!ms_num_scan_u64(ms_str_slice(*text, 0, digits), number_out) || *number_out > max) {
        return false;
    }
    if (digits == text->bytes) {
        *text = (ms_str){NULL, 0};
        return true;
    }
    bool is_dot = text->ptr[digits] == '.' && digits + 1 < text->bytes;
    *text = ms_str_slice(*text, digits + 1, text->bytes);
    return is_dot;
}

bool msi_token_parse(ms_str text, msi_token *token_out)
{
    const ms_str mark = ms_str_lit(TOKEN_MARK);
    if (text.bytes > MSI_TOKEN_BYTES || !ms_str_starts_with(text, mark)) {
        return false;
    }
    text = ms_str_slice(text, mark.bytes, text.bytes);
    static const uint64_t maxima[TOKEN_FIELDS] = {UINT32_MAX, UINT32_MAX, INT64_MAX, UINT32_MAX};
    uint64_t numbers[TOKEN_FIELDS] = {0};
    uint32_t count = 0;
    while (text.bytes > 0) {
        if (count == TOKEN_FIELDS || !take_number(&text, maxima[count], &numbers[count])) {
            return false;
        }
        count++;
    }
    *token_out = (msi_token){(uint32_t)numbers[0],
                             {(uint32_t)numbers[1], (int64_t)numbers[2], (uint32_t)numbers[3]}};
    return count == TOKEN_FIELDS;
}
