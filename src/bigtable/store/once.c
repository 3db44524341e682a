/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of entries. What the batch under way holds is known by hashes, as rows are; everything
 * else by a look into the store, which the bounded life of the records keeps small.
 */
#include "bigtable/store/once.h"

#include "base/memory.h"
#include "bigtable/store/key.h"
#include "bigtable/store/row_set.h"

#define KEY_ONCE 'O'
#define HEAD_BYTES (MSI_KEY_TABLE_BYTES + 1u)
#define START_BYTES 8u
#define KEY_BYTES_MAX                                                                              \
    (HEAD_BYTES + START_BYTES + MSI_KEY_TABLE_BYTES + 2u + MS_BT_LIMIT_TOKEN_BYTES +               \
     MS_BT_LIMIT_ROW_KEY_BYTES)
/* Old records are dropped as a range, of which there should be few. */
#define DROP_MICROS (INT64_C(60) * 1000000)

struct msi_once {
    msi_row_set *known; /* of the batch under way */
    int64_t dropped_micros;
    char key[KEY_BYTES_MAX];
};

msi_once *msi_once_create(void)
{
    msi_once *once = ms_mem_calloc(1, sizeof(*once));
    once->known = msi_row_set_create();
    return once;
}

void msi_once_destroy(msi_once *once)
{
    if (once != NULL) {
        msi_row_set_destroy(once->known);
        ms_mem_free(once);
    }
}

void msi_once_reset(msi_once *once)
{
    msi_row_set_reset(once->known);
}

/* Starts are not negative, so that their bytes sort as they do. */
static char *put_start(char *to, int64_t start_micros)
{
    to = msi_key_put_u32(to, MSI_KEY_META);
    *to++ = KEY_ONCE;
    uint64_t start = __builtin_bswap64((uint64_t)start_micros);
    memcpy(to, &start, sizeof(start));
    return to + sizeof(start);
}

static ms_str record_key(msi_once *once, uint32_t table, const ms_bt_mutation_entry *entry)
{
    char *to = put_start(once->key, entry->token_start_micros);
    to = msi_key_put_u32(to, table);
    *to++ = (char)(entry->token.bytes >> 8);
    *to++ = (char)entry->token.bytes;
    memcpy(to, entry->token.ptr, entry->token.bytes);
    to += entry->token.bytes;
    memcpy(to, entry->key.ptr, entry->key.bytes);
    to += entry->key.bytes;
    return ms_str_make(once->key, (size_t)(to - once->key));
}

/* Is the token so old that nobody needs to know it? */
static bool is_past(const ms_bt_mutation_entry *entry, int64_t now_micros)
{
    return entry->token_start_micros < now_micros - MS_BT_LIMIT_TOKEN_MICROS;
}

ms_rc msi_once_ask(msi_once *once, ms_kv *kv, uint32_t table, const ms_bt_mutation_entry *entry,
                   int64_t now_micros, msi_once_answer *answer_out, ms_status *st)
{
    *answer_out = MSI_ONCE_NEW;
    if (is_past(entry, now_micros)) {
        return MS_OK;
    }
    ms_str key = record_key(once, table, entry);
    if (!msi_row_set_add(once->known, table, key, MSI_ROW_LOOK)) {
        *answer_out = MSI_ONCE_UNKNOWN;
        return MS_OK;
    }
    ms_buf value;
    ms_buf_init(&value, 1);
    bool is_found = false;
    MS_TRY(ms_kv_get(kv, key, &value, &is_found, st));
    ms_buf_release(&value);
    if (is_found) {
        *answer_out = MSI_ONCE_APPLIED;
    }
    return MS_OK;
}

void msi_once_note(msi_once *once, ms_kv_batch *batch, uint32_t table,
                   const ms_bt_mutation_entry *entry, int64_t now_micros)
{
    if (now_micros - once->dropped_micros >= DROP_MICROS && now_micros > MS_BT_LIMIT_TOKEN_MICROS) {
        char start[HEAD_BYTES + START_BYTES];
        char end[HEAD_BYTES + START_BYTES];
        (void)put_start(start, 0);
        (void)put_start(end, now_micros - MS_BT_LIMIT_TOKEN_MICROS);
        ms_kv_batch_delete_range(batch, ms_str_make(start, sizeof(start)),
                                 ms_str_make(end, sizeof(end)));
        once->dropped_micros = now_micros;
    }
    if (is_past(entry, now_micros)) {
        return;
    }
    ms_str key = record_key(once, table, entry);
    /* Full only when nothing else fits into the batch either; then the record alone must do. */
    (void)msi_row_set_add(once->known, table, key, MSI_ROW_READ);
    ms_kv_batch_put(batch, key, (ms_str){NULL, 0});
}
