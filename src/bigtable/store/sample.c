/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SampleRowKeys: keys that cut a table, or a range of its rows, into parts of about equal size. The
 * keys at which tablets start are always among them, as the service samples its tablets. Between
 * them:
 *
 *     a table of which the files hold little is walked through once, since most of it may still be
 *     in memory, where nobody counts bytes by key;
 *     a larger one is cut by asking the files how many bytes lie before a key, and halving the
 *     space of keys until the answer is the wanted one. The cuts need not be rows.
 *
 * Large values are apart from the keys, where nobody counts them. A walk that comes upon many gives
 * up, and the table is cut by its keys: into parts of equal size as far as its values are.
 *
 * The answer depends on the data only, so that a scan that is split twice is split alike. Offsets
 * count from the start of the range, and its end is the last key.
 */
#include "bigtable/store/store_priv.h"

#include <stdlib.h>

/* A smaller part is not worth a reader of its own. */
#define PART_BYTES_MIN ((uint64_t)64 << 10)
#define PARTS_MAX 64u
/* Tables below this are walked: a tenth of a second at most. */
#define WALK_BYTES ((uint64_t)32 << 20)
/* A walk notes a candidate about this often, and thins the list when it is full. */
#define WALK_STRIDE ((uint64_t)16 << 10)
#define CANDIDATES_MAX 1024u
/* A walk through more than this much memory stops; what is behind is one part. */
#define WALK_BYTES_MAX ((uint64_t)512 << 20)
/* A walk reads so much of large values, and so do the searches for cuts, at one value each. */
#define LARGE_BYTES_MAX ((uint64_t)64 << 20)
/* Bytes of a key that the halving works on, behind what all keys of the table share. */
#define CUT_BYTES 8u

typedef struct candidate {
    ms_str row;
    uint64_t bytes; /* before it */
} candidate;

typedef struct sampler {
    ms_bt_store *store;
    const msi_table *table;
    ms_bt_sample_row_keys *call;
    ms_arena scratch;
    char *key;    /* MSI_KEY_BYTES_MAX */
    ms_str start; /* keys from here */
    ms_str end;   /* to before here */
    candidate *list;
    size_t count;
    size_t capacity;
    uint64_t total_bytes;
    uint64_t large_bytes; /* of large values that were read */
    bool is_by_keys;      /* values are not counted */
} sampler;

/* The key where a bound of the range lies: table + offset where there is none. */
static ms_str bound_key(sampler *s, const ms_bt_bound *bound, uint32_t offset, int end)
{
    char *to = bound->kind == MS_BT_BOUND_NONE
                   ? msi_key_put_u32(s->key, s->table->id + offset)
                   : msi_key_put_row(s->key, s->table->id, bound->key, end);
    return ms_arena_copy_str(&s->scratch, ms_str_make(s->key, (size_t)(to - s->key)));
}

static void set_bounds(sampler *s)
{
    const ms_bt_range *range = &s->call->range;
    s->start = bound_key(s, &range->start, 0,
                         range->start.kind == MS_BT_BOUND_OPEN ? MSI_KEY_BEHIND : MSI_KEY_END);
    s->end = bound_key(s, &range->end, 1,
                       range->end.kind == MS_BT_BOUND_OPEN ? MSI_KEY_END : MSI_KEY_BEHIND);
}

/* Does a key cut the range: is it in it, and none of its ends? */
static bool cuts_range(const sampler *s, ms_str key)
{
    const ms_bt_range *range = &s->call->range;
    bool is_end = (range->start.kind != MS_BT_BOUND_NONE && ms_str_equals(range->start.key, key)) ||
                  (range->end.kind != MS_BT_BOUND_NONE && ms_str_equals(range->end.key, key));
    return !is_end && ms_bt_range_contains(range, key);
}

/* The row of a key, unescaped; an empty text when the key is damaged. */
static ms_str row_of(sampler *s, ms_str key)
{
    size_t end = msi_key_text_end(key, MSI_KEY_TABLE_BYTES);
    if (end == 0) {
        return (ms_str){NULL, 0};
    }
    size_t escaped_bytes = end - MSI_KEY_TABLE_BYTES - MSI_KEY_END_BYTES;
    char *row = ms_arena_alloc(&s->scratch, escaped_bytes + 1, 1);
    size_t bytes = msi_key_unescape(row, ms_str_make(key.ptr + MSI_KEY_TABLE_BYTES, escaped_bytes));
    return ms_str_make(row, bytes);
}

static void add_candidate(sampler *s, ms_str row, uint64_t bytes)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity == 0 ? CANDIDATES_MAX : s->capacity * 2;
        candidate *list = ms_arena_array(&s->scratch, candidate, capacity);
        if (s->count > 0) {
            memcpy(list, s->list, s->count * sizeof(*list));
        }
        s->list = list;
        s->capacity = capacity;
    }
    s->list[s->count++] = (candidate){row, bytes};
}

/* Small tables. */

static void thin(sampler *s)
{
    size_t kept = 0;
    for (size_t i = 1; i < s->count; i += 2) {
        s->list[kept++] = s->list[i];
    }
    s->count = kept;
}

static void note_large(sampler *s, const ms_kv_entry *entry)
{
    s->large_bytes += entry->value.bytes >= MS_KV_LARGE_VALUE_BYTES ? entry->value.bytes : 0;
}

static ms_rc walk(sampler *s, ms_kv_iter *iter, ms_status *st)
{
    uint64_t stride = WALK_STRIDE;
    uint64_t next = stride;
    ms_kv_entry entry;
    size_t row_bytes = 0;
    for (bool valid = ms_kv_iter_seek(iter, s->start, &entry); valid;
         valid = ms_kv_iter_next(iter, &entry)) {
        bool is_new_row = row_bytes == 0 || entry.key.bytes <= row_bytes ||
                          memcmp(entry.key.ptr, s->key, row_bytes) != 0;
        if (is_new_row) {
            row_bytes = msi_key_text_end(entry.key, MSI_KEY_TABLE_BYTES);
            memcpy(s->key, entry.key.ptr, row_bytes);
            if (s->total_bytes >= next) {
                add_candidate(s, row_of(s, entry.key), s->total_bytes);
                next = s->total_bytes + stride;
            }
            if (s->count == CANDIDATES_MAX) {
                thin(s);
                stride *= 2;
            }
        }
        s->total_bytes += entry.key.bytes + entry.value.bytes;
        note_large(s, &entry);
        if (s->total_bytes > WALK_BYTES_MAX || s->large_bytes > LARGE_BYTES_MAX) {
            break;
        }
    }
    return ms_kv_iter_check(iter, st);
}

/* Large tables. */

static ms_str encode_cut(sampler *s, ms_str shared, uint64_t cut)
{
    char *to = s->key;
    memcpy(to, shared.ptr, shared.bytes);
    to += shared.bytes;
    cut = __builtin_bswap64(cut);
    memcpy(to, &cut, CUT_BYTES);
    return ms_str_make(s->key, shared.bytes + CUT_BYTES);
}

/* The eight bytes of a key behind what is shared, as a number; missing ones are 0. */
static uint64_t cut_of(ms_str key, size_t shared_bytes)
{
    unsigned char bytes[CUT_BYTES] = {0};
    if (key.bytes > shared_bytes) {
        size_t have = key.bytes - shared_bytes;
        memcpy(bytes, key.ptr + shared_bytes, have < CUT_BYTES ? have : CUT_BYTES);
    }
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return __builtin_bswap64(value);
}

/* Finds the row at which about wanted bytes lie before it, at or behind low. */
static uint64_t find_cut(sampler *s, ms_str first, ms_str shared, uint64_t low, uint64_t high,
                         uint64_t wanted)
{
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        uint64_t before = ms_kv_file_bytes(s->store->kv, first, encode_cut(s, shared, middle));
        if (before < wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

static ms_rc bisect(sampler *s, ms_kv_iter *iter, ms_status *st)
{
    ms_kv_entry entry;
    if (!ms_kv_iter_seek(iter, s->start, &entry)) {
        return ms_kv_iter_check(iter, st);
    }
    ms_str first = ms_arena_copy_str(&s->scratch, entry.key);
    if (!ms_kv_iter_seek_last(iter, &entry)) {
        return ms_kv_iter_check(iter, st);
    }
    ms_str last = ms_arena_copy_str(&s->scratch, entry.key);
    size_t shared_bytes = 0;
    while (shared_bytes < first.bytes && shared_bytes < last.bytes &&
           first.ptr[shared_bytes] == last.ptr[shared_bytes]) {
        shared_bytes++;
    }
    ms_str shared = ms_str_make(first.ptr, shared_bytes);
    uint64_t low = cut_of(first, shared_bytes);
    uint64_t high = cut_of(last, shared_bytes);
    uint64_t part = s->total_bytes / PARTS_MAX;
    s->large_bytes = 0;
    for (unsigned i = 1; i < PARTS_MAX && s->large_bytes <= LARGE_BYTES_MAX; i++) {
        low = find_cut(s, first, shared, low, high, part * i);
        /* The row that the cut falls into, or the next one. */
        if (ms_kv_iter_seek(iter, encode_cut(s, shared, low), &entry)) {
            add_candidate(s, row_of(s, entry.key), part * i);
            note_large(s, &entry);
        }
    }
    return ms_kv_iter_check(iter, st);
}

/* The answer. */

static int compare_candidates(const void *left, const void *right)
{
    const candidate *a = left;
    const candidate *b = right;
    return ms_str_compare(a->row, b->row);
}

/* An answer under construction. */
typedef struct answer_list {
    ms_bt_row_key_sample *list;
    size_t count;
    uint64_t last_bytes; /* before the last of them */
} answer_list;

static void add_sample(sampler *s, answer_list *out, ms_str key, uint64_t bytes)
{
    out->list[out->count++] =
        (ms_bt_row_key_sample){ms_arena_copy_str(&s->call->answer, key), (int64_t)bytes};
    out->last_bytes = bytes;
}

/* Chooses among the candidates: a part is at least part_bytes, but splits are always kept. */
static void answer(sampler *s)
{
    ms_bt_sample_row_keys *call = s->call;
    const ms_bt_table *def = s->table->def;
    uint64_t part = s->total_bytes / PARTS_MAX;
    part = part < PART_BYTES_MIN && !s->is_by_keys ? PART_BYTES_MIN : part;
    answer_list out = {
        ms_arena_array(&call->answer, ms_bt_row_key_sample, s->count + def->split_count + 1)};
    size_t split = 0;
    for (size_t i = 0; i <= s->count; i++) {
        bool is_end = i == s->count;
        while (split < def->split_count &&
               (is_end || ms_str_compare(def->splits[split], s->list[i].row) <= 0)) {
            uint64_t bytes = is_end ? s->total_bytes : (i == 0 ? 0 : s->list[i].bytes);
            if (cuts_range(s, def->splits[split])) {
                add_sample(s, &out, def->splits[split], bytes);
            }
            split++;
        }
        if (is_end) {
            break;
        }
        const candidate *at = &s->list[i];
        bool is_new = out.count == 0 || ms_str_compare(out.list[out.count - 1].key, at->row) < 0;
        if (is_new && cuts_range(s, at->row) && at->bytes - out.last_bytes >= part &&
            s->total_bytes - at->bytes >= part / 2) {
            add_sample(s, &out, at->row, at->bytes);
        }
    }
    ms_str last =
        call->range.end.kind == MS_BT_BOUND_NONE ? ms_str_make("", 0) : call->range.end.key;
    add_sample(s, &out, last, s->total_bytes);
    call->samples = out.list;
    call->sample_count = out.count;
}

static ms_rc sample_table(sampler *s, ms_status *st)
{
    set_bounds(s);
    uint64_t file_bytes = ms_kv_file_bytes(s->store->kv, s->start, s->end);
    ms_kv_iter_options bounds = {.lower = s->start, .upper = s->end, .no_fill_cache = true};
    msi_view *view = NULL;
    ms_kv_iter *iter = msi_view_iter(s->store, &bounds, &view);
    ms_rc rc = MS_OK;
    if (file_bytes < WALK_BYTES) {
        rc = walk(s, iter, st);
        s->is_by_keys = s->large_bytes > LARGE_BYTES_MAX && file_bytes > 0;
    }
    if (rc == MS_OK && (file_bytes >= WALK_BYTES || s->is_by_keys)) {
        s->count = 0;
        s->total_bytes = file_bytes;
        rc = bisect(s, iter, st);
    }
    ms_kv_iter_destroy(iter);
    msi_view_drop(s->store, view);
    return rc;
}

static ms_bt_code check_call(const msi_schema *schema, const ms_bt_sample_row_keys *call,
                             const msi_table **table_out, ms_bt_status *bt)
{
    *table_out = msi_schema_find(schema, call->table);
    if (*table_out == NULL) {
        return msi_store_no_table(schema, call->table, bt);
    }
    MS_BT_TRY(
        msi_profile_check(schema, call->table, call->call.app_profile, MSI_ACCESS_READ, NULL, bt));
    const ms_bt_range *range = &call->range;
    /* A key with a zero behind it is how the end of a single row is written. */
    if (range->start.key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES + 1 ||
        range->end.key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES + 1) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'row_range' : a key is longer than %u bytes",
                                MS_BT_LIMIT_ROW_KEY_BYTES);
    }
    if (ms_bt_range_is_empty(range)) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'row_range' : start_key must be less than end_key");
    }
    return MS_BT_OK;
}

void msi_sample_run(ms_bt_store *store, ms_bt_sample_row_keys *call)
{
    ms_bt_status *bt = &call->call.status;
    if (ms_bt_table_name_check(call->table, bt) != MS_BT_OK) {
        return;
    }
    uint64_t changes = msi_store_catalog_changes(store);
    msi_schema *schema = msi_store_schema(store);
    sampler s = {.store = store, .call = call};
    ms_arena_init(&s.scratch, 0);
    if (check_call(schema, call, &s.table, bt) == MS_BT_OK) {
        s.key = ms_arena_alloc(&s.scratch, MSI_KEY_BYTES_MAX + CUT_BYTES, 1);
        ms_status st = {0};
        if (sample_table(&s, &st) != MS_OK) {
            ms_bt_status_from(bt, MS_BT_INTERNAL, &st);
        } else if (msi_store_check_table(store, s.table, changes, bt) == MS_BT_OK) {
            if (s.count > 1) {
                qsort(s.list, s.count, sizeof(*s.list), compare_candidates);
            }
            answer(&s);
            call->incarnation = s.table->id;
        }
    }
    ms_arena_release(&s.scratch);
    msi_schema_drop(schema);
}
