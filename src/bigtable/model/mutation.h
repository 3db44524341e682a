/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations, and the flat batch in which they travel. A batch is one growable buffer that its owner
 * fills row by row and reuses; the in-process transport hands the very bytes to the store, and the
 * gRPC transport encodes them on the way out. Nothing is allocated per row or per cell.
 *
 *     ms_bt_mutation_batch batch;
 *     ms_bt_mutation_batch_init(&batch, 20u << 20);
 *     MS_TRY(ms_bt_mutation_batch_family(&batch, ms_str_lit("cf"), &cf, st));    once
 *     MS_TRY(ms_bt_mutation_batch_begin_row(&batch, key, st));                   for each row
 *     MS_TRY(ms_bt_mutation_batch_set_cell(&batch, cf, qualifier, micros, value, st));
 *     ms_bt_mutation_batch_end_row(&batch);
 *     submit, wait until it is done, ms_bt_mutation_batch_reset(&batch)
 *
 * An entry (one row) is atomic and its mutations apply in order. Appending checks nothing but the
 * batch's own limit: the service's rules are one function, ms_bt_mutation_batch_check, which the
 * receiving side calls before anything is written.
 *
 * Layout of the buffer; integers are in the machine's order, nothing is aligned:
 *
 *     entry     u32 bytes of the entry, these four included, u32 mutations, u32 key bytes,
 *               u32 token bytes, u32 kinds, key, [i64 start of the token, token,] mutation...
 *     mutation  u32 qualifier bytes, u32 value bytes, i64 time, u16 family, u8 kind, u8 origin,
 *               [i64 end of time,] qualifier, value
 *
 * The end of time is there for DELETE_FROM_COLUMN only, the token where there is one. kinds has the
 * bits MS_BT_MUTATION_BIT of the kinds of the entry's mutations.
 *
 * Ownership: the batch owns its bytes; views that a cursor gives live until the next append, reset
 * or release. While a call carries the batch, nobody writes to it. Thread: one at a time.
 */
#ifndef MS_BIGTABLE_MODEL_MUTATION_H
#define MS_BIGTABLE_MODEL_MUTATION_H

#include "base/str.h"
#include "bigtable/model/limits.h"
#include "bigtable/model/status.h"
#include "bigtable/model/table.h"

/* The numbers are ours. */
typedef enum ms_bt_mutation_kind {
    MS_BT_MUTATION_SET_CELL,
    MS_BT_MUTATION_DELETE_FROM_COLUMN,
    MS_BT_MUTATION_DELETE_FROM_FAMILY,
    MS_BT_MUTATION_DELETE_FROM_ROW,
    MS_BT_MUTATION_ADD_TO_CELL,   /* value: the input, a 64-bit integer, eight bytes big-endian */
    MS_BT_MUTATION_MERGE_TO_CELL, /* value: a state; empty, which stands for NULL: no effect */
    MS_BT_MUTATION_COUNT
} ms_bt_mutation_kind;

#define MS_BT_MUTATION_BIT(kind) (1u << (unsigned)(kind))
#define MS_BT_MUTATION_DELETES                                                                     \
    (MS_BT_MUTATION_BIT(MS_BT_MUTATION_DELETE_FROM_COLUMN) |                                       \
     MS_BT_MUTATION_BIT(MS_BT_MUTATION_DELETE_FROM_FAMILY) |                                       \
     MS_BT_MUTATION_BIT(MS_BT_MUTATION_DELETE_FROM_ROW))
#define MS_BT_MUTATION_AGGREGATES                                                                  \
    (MS_BT_MUTATION_BIT(MS_BT_MUTATION_ADD_TO_CELL) |                                              \
     MS_BT_MUTATION_BIT(MS_BT_MUTATION_MERGE_TO_CELL))

/* How a timestamp came about; the numbers are the wire's. */
typedef enum ms_bt_timestamp_origin {
    MS_BT_TIMESTAMP_UNSPECIFIED = 0, /* as USER */
    MS_BT_TIMESTAMP_USER = 1,        /* a wrong granularity is refused */
    MS_BT_TIMESTAMP_CLIENT = 2,      /* a wrong granularity is truncated */
    MS_BT_TIMESTAMP_ORIGIN_COUNT
} ms_bt_timestamp_origin;

#define MS_BT_TIMESTAMP_SERVER (-1) /* SetCell: the server's clock, at the table's granularity */

/* One mutation as a cursor gives it. */
typedef struct ms_bt_mutation {
    ms_bt_mutation_kind kind;
    ms_bt_timestamp_origin origin;
    uint16_t family;          /* index in the batch's families; DELETE_FROM_ROW: 0 */
    int64_t timestamp_micros; /* SET_CELL, aggregates; DELETE_FROM_COLUMN: inclusive start */
    int64_t end_micros;       /* DELETE_FROM_COLUMN: exclusive end, 0 for none */
    ms_str qualifier;
    ms_str value;
} ms_bt_mutation;

/* Fields are private. The struct is public so that it can be embedded. */
typedef struct ms_bt_mutation_batch {
    ms_buf data;
    ms_arena names;
    ms_str *families;
    uint32_t family_count;
    uint32_t family_capacity;
    uint32_t entry_count;
    uint32_t mutation_count;
    size_t entry_at;          /* start of the open entry; SIZE_MAX: none is open */
    uint32_t entry_mutations; /* of the open entry */
    uint32_t entry_kinds;     /* likewise */
    uint32_t kinds;           /* of closed entries */
    bool has_tokens;          /* a closed entry has one */
} ms_bt_mutation_batch;

/* Life. */

/* max_bytes is at most MS_BT_LIMIT_BATCH_BYTES. Allocates nothing yet. */
void ms_bt_mutation_batch_init(ms_bt_mutation_batch *batch, size_t max_bytes);
void ms_bt_mutation_batch_release(ms_bt_mutation_batch *batch);

/* Forgets the entries; keeps the memory and the families with their indexes. */
void ms_bt_mutation_batch_reset(ms_bt_mutation_batch *batch);

/* Writing. All fail with MS_LIMIT when the batch is full (it is then as it was) or MS_NO_MEMORY. */

/* The index of a family in this batch, the same for every call with the same name. */
ms_rc ms_bt_mutation_batch_family(ms_bt_mutation_batch *batch, ms_str name, uint16_t *family_out,
                                  ms_status *st) MS_MUST_USE;

/* Opens an entry. None may be open. */
ms_rc ms_bt_mutation_batch_begin_row(ms_bt_mutation_batch *batch, ms_str key,
                                     ms_status *st) MS_MUST_USE;

/*
 * Same, for an entry that is applied once: one with the same key, token and start that was applied
 * within MS_BT_LIMIT_TOKEN_MICROS after start is acknowledged and has no effect. The service does
 * that for entries that add to aggregate cells, which alone could count twice.
 */
ms_rc ms_bt_mutation_batch_begin_row_once(ms_bt_mutation_batch *batch, ms_str key, ms_str token,
                                          int64_t start_micros, ms_status *st) MS_MUST_USE;

/* timestamp_micros may be MS_BT_TIMESTAMP_SERVER. */
ms_rc ms_bt_mutation_batch_set_cell(ms_bt_mutation_batch *batch, uint16_t family, ms_str qualifier,
                                    int64_t timestamp_micros, ms_str value,
                                    ms_status *st) MS_MUST_USE;

/* All versions in [start_micros, end_micros); end 0 means no end. */
ms_rc ms_bt_mutation_batch_delete_column(ms_bt_mutation_batch *batch, uint16_t family,
                                         ms_str qualifier, int64_t start_micros, int64_t end_micros,
                                         ms_status *st) MS_MUST_USE;
ms_rc ms_bt_mutation_batch_delete_family(ms_bt_mutation_batch *batch, uint16_t family,
                                         ms_status *st) MS_MUST_USE;
ms_rc ms_bt_mutation_batch_delete_row(ms_bt_mutation_batch *batch, ms_status *st) MS_MUST_USE;

/* Adds an input to, resp. merges a state into, the cell of an aggregate family; the timestamp is
 * the cell's and cannot be the server's. */
ms_rc ms_bt_mutation_batch_add_to_cell(ms_bt_mutation_batch *batch, uint16_t family,
                                       ms_str qualifier, int64_t timestamp_micros, int64_t input,
                                       ms_status *st) MS_MUST_USE;
ms_rc ms_bt_mutation_batch_merge_to_cell(ms_bt_mutation_batch *batch, uint16_t family,
                                         ms_str qualifier, int64_t timestamp_micros, ms_str state,
                                         ms_status *st) MS_MUST_USE;

/* The general form of those above. */
ms_rc ms_bt_mutation_batch_append(ms_bt_mutation_batch *batch, const ms_bt_mutation *mutation,
                                  ms_status *st) MS_MUST_USE;

/* Closes the entry, resp. drops it. Without mutations an entry is legal here; the service refuses
 * it. */
void ms_bt_mutation_batch_end_row(ms_bt_mutation_batch *batch);
void ms_bt_mutation_batch_cancel_row(ms_bt_mutation_batch *batch);

/* Inspection. */

/* Closed entries, and their mutations. */
static inline uint32_t ms_bt_mutation_batch_entries(const ms_bt_mutation_batch *batch)
{
    return batch->entry_count;
}

static inline uint32_t ms_bt_mutation_batch_mutations(const ms_bt_mutation_batch *batch)
{
    return batch->mutation_count;
}

/* Bytes of the buffer in use: within some percent of the bytes on the wire. */
static inline size_t ms_bt_mutation_batch_bytes(const ms_bt_mutation_batch *batch)
{
    return batch->data.bytes;
}

static inline uint32_t ms_bt_mutation_batch_family_count(const ms_bt_mutation_batch *batch)
{
    return batch->family_count;
}

static inline ms_str ms_bt_mutation_batch_family_name(const ms_bt_mutation_batch *batch,
                                                      uint16_t family)
{
    return batch->families[family];
}

/* The kinds of mutations in closed entries: bits MS_BT_MUTATION_BIT. */
static inline uint32_t ms_bt_mutation_batch_kinds(const ms_bt_mutation_batch *batch)
{
    return batch->kinds;
}

/* A closed entry deletes something: readers must then look at what the batch wrote before it. */
static inline bool ms_bt_mutation_batch_has_deletes(const ms_bt_mutation_batch *batch)
{
    return (batch->kinds & MS_BT_MUTATION_DELETES) != 0;
}

/* A closed entry has a token. */
static inline bool ms_bt_mutation_batch_has_tokens(const ms_bt_mutation_batch *batch)
{
    return batch->has_tokens;
}

/*
 * The service's rules that need no schema, in its order: at least one entry, at least one mutation
 * in each, the limit of mutations in all, row keys, tokens, qualifiers, values, timestamps and time
 * ranges at the given granularity (1000 for milliseconds, 1 for microseconds). The first violation
 * fails the whole request. No entry may be open.
 */
ms_bt_code ms_bt_mutation_batch_check(const ms_bt_mutation_batch *batch, int64_t granularity_micros,
                                      ms_bt_status *bt);

/* Whether a mutation, the index-th of its entry, fits the type of its family: an aggregate family
 * takes no SetCell, a raw one no AddToCell and no MergeToCell; a state has the form of its type. */
ms_bt_code ms_bt_mutation_check_type(const ms_bt_mutation *mutation, uint32_t index,
                                     const ms_bt_family *family, ms_bt_status *bt);

/* Reading: entry by entry, mutation by mutation. Inline, because the store and the encoders do
 * little more per mutation than this. */

#define MS_BT_ENTRY_HEAD_BYTES 20
#define MS_BT_MUTATION_HEAD_BYTES 20

/* Fields are private. */
typedef struct ms_bt_mutation_cursor {
    const char *next;
    const char *entry_end;
    const char *end;
    uint32_t entry_index;
} ms_bt_mutation_cursor;

typedef struct ms_bt_mutation_entry {
    uint32_t index;
    uint32_t mutation_count;
    uint32_t bytes; /* of the entry in the buffer */
    uint32_t kinds; /* of its mutations */
    ms_str key;
    ms_str token; /* empty: none */
    int64_t token_start_micros;
} ms_bt_mutation_entry;

/* Starts before the first entry. */
static inline ms_bt_mutation_cursor ms_bt_mutation_cursor_make(const ms_bt_mutation_batch *batch)
{
    const char *start = batch->data.ptr;
    const char *end = start == NULL ? NULL : start + batch->data.bytes;
    return (ms_bt_mutation_cursor){.next = start, .entry_end = start, .end = end};
}

/* False at the end. Skips what was not read of the entry before. */
static inline bool ms_bt_mutation_cursor_next_entry(ms_bt_mutation_cursor *cursor,
                                                    ms_bt_mutation_entry *entry_out)
{
    const char *at = cursor->entry_end;
    if (at == cursor->end) {
        return false;
    }
    uint32_t head[5];
    memcpy(head, at, sizeof(head));
    entry_out->index = cursor->entry_index++;
    entry_out->mutation_count = head[1];
    entry_out->bytes = head[0];
    entry_out->kinds = head[4];
    entry_out->key = (ms_str){at + MS_BT_ENTRY_HEAD_BYTES, head[2]};
    cursor->next = at + MS_BT_ENTRY_HEAD_BYTES + head[2];
    cursor->entry_end = at + head[0];
    entry_out->token = (ms_str){NULL, 0};
    if (head[3] > 0) {
        memcpy(&entry_out->token_start_micros, cursor->next, sizeof(int64_t));
        entry_out->token = (ms_str){cursor->next + sizeof(int64_t), head[3]};
        cursor->next += sizeof(int64_t) + head[3];
    }
    return true;
}

/* False at the end of the entry. */
static inline bool ms_bt_mutation_cursor_next(ms_bt_mutation_cursor *cursor,
                                              ms_bt_mutation *mutation_out)
{
    const char *at = cursor->next;
    if (at == cursor->entry_end) {
        return false;
    }
    uint32_t sizes[2];
    memcpy(sizes, at, sizeof(sizes));
    memcpy(&mutation_out->timestamp_micros, at + 8, sizeof(int64_t));
    memcpy(&mutation_out->family, at + 16, sizeof(uint16_t));
    mutation_out->kind = (ms_bt_mutation_kind)at[18];
    mutation_out->origin = (ms_bt_timestamp_origin)at[19];
    mutation_out->end_micros = 0;
    at += MS_BT_MUTATION_HEAD_BYTES;
    if (mutation_out->kind == MS_BT_MUTATION_DELETE_FROM_COLUMN) {
        memcpy(&mutation_out->end_micros, at, sizeof(int64_t));
        at += sizeof(int64_t);
    }
    mutation_out->qualifier = (ms_str){at, sizes[0]};
    mutation_out->value = (ms_str){at + sizes[0], sizes[1]};
    cursor->next = at + sizes[0] + sizes[1];
    return true;
}

#endif
