/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sorter: chunks of records, sorted runs of entries, and a heap that merges the runs.
 *
 * An entry carries the first eight bytes of its key, and so does a place in the heap, so that most
 * comparisons touch no record and no run. The sort inside a run is a merge sort (stable); between
 * runs the older one wins a tie, which keeps the whole stable.
 */
#include "exec/sorter.h"

#include "base/codec.h"

/* Chunks double up to this size; a larger record has a chunk of its own. */
#define CHUNK_BYTES_MIN (16u << 10)
#define CHUNK_BYTES_MAX (1u << 20)

/* Runs of at most this many entries are sorted by insertion. */
#define INSERTION_ROWS 16u

#define RECORD_ALIGN 8u

struct msi_sorter_record {
    uint32_t key_bytes;
    uint32_t row_bytes;
    bool takes_back;
    char bytes[]; /* the key, then the row */
};

struct msi_sorter_chunk {
    msi_sorter_chunk *next;
    size_t capacity_bytes;
    size_t used_bytes;
    _Alignas(RECORD_ALIGN) char data[];
};

struct msi_sorter_entry {
    uint64_t prefix; /* of the key, big-endian, padded with zeros */
    const msi_sorter_record *record;
};

struct msi_sorter_run {
    msi_sorter_entry *entries;
    uint32_t count;
    uint32_t next;
};

struct msi_sorter_head {
    uint64_t prefix; /* of the run's next entry */
    uint32_t run;
};

/* Memory. */

static void *take_memory(msi_sorter *sorter, size_t bytes, ms_status *st)
{
    if (ms_account_reserve(sorter->account, bytes, st) != MS_OK) {
        return NULL;
    }
    void *memory = ms_mem_try_alloc(bytes);
    if (memory == NULL) {
        ms_account_unreserve(sorter->account, bytes);
        ms_mem_refuse(bytes, st);
        return NULL;
    }
    sorter->reserved_bytes += bytes;
    return memory;
}

static void give_memory(msi_sorter *sorter, void *memory, size_t bytes)
{
    if (memory != NULL) {
        ms_mem_free(memory);
        ms_account_unreserve(sorter->account, bytes);
        sorter->reserved_bytes -= bytes;
    }
}

void msi_sorter_init(msi_sorter *sorter, const msi_sorter_options *options)
{
    *sorter = (msi_sorter){.account = options->account, .folds = options->folds};
    if (options->rows_max <= MSI_SORTER_ROWS_MAX && !options->folds) {
        sorter->rows_max = (uint32_t)options->rows_max;
    }
}

static void free_chunks(msi_sorter *sorter, msi_sorter_chunk *chunk)
{
    while (chunk != NULL) {
        msi_sorter_chunk *next = chunk->next;
        give_memory(sorter, chunk, sizeof(*chunk) + chunk->capacity_bytes);
        chunk = next;
    }
}

void msi_sorter_release(msi_sorter *sorter)
{
    const size_t run_bytes = MSI_SORTER_RUN_ROWS * sizeof(msi_sorter_entry);
    free_chunks(sorter, sorter->first_chunk);
    give_memory(sorter, sorter->entries, run_bytes);
    give_memory(sorter, sorter->spare, run_bytes);
    for (uint32_t i = 0; i < sorter->run_count; i++) {
        give_memory(sorter, sorter->runs[i].entries, run_bytes);
    }
    give_memory(sorter, sorter->runs, sorter->run_capacity * sizeof(*sorter->runs));
    give_memory(sorter, sorter->heap, sorter->run_capacity * sizeof(*sorter->heap));
    MS_ASSERT(sorter->reserved_bytes == 0);
    *sorter = (msi_sorter){.account = sorter->account};
}

/* Records. */

static size_t record_bytes(size_t key_bytes, size_t row_bytes)
{
    size_t bytes = offsetof(msi_sorter_record, bytes) + key_bytes + row_bytes;
    return (bytes + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
}

static ms_rc add_chunk(msi_sorter *sorter, size_t record, ms_status *st)
{
    size_t bytes = CHUNK_BYTES_MIN;
    if (sorter->last_chunk != NULL) {
        bytes = 2 * sorter->last_chunk->capacity_bytes;
        bytes = bytes > CHUNK_BYTES_MAX ? CHUNK_BYTES_MAX : bytes;
    }
    bytes = bytes < record ? record : bytes;
    msi_sorter_chunk *chunk = take_memory(sorter, sizeof(*chunk) + bytes, st);
    if (chunk == NULL) {
        return st->code;
    }
    *chunk = (msi_sorter_chunk){.capacity_bytes = bytes};
    if (sorter->last_chunk != NULL) {
        sorter->last_chunk->next = chunk;
    } else {
        sorter->first_chunk = chunk;
    }
    sorter->last_chunk = chunk;
    return MS_OK;
}

static ms_rc copy_record(msi_sorter *sorter, ms_str key, ms_str row, bool takes_back,
                         const msi_sorter_record **record_out, ms_status *st)
{
    size_t bytes = record_bytes(key.bytes, row.bytes);
    msi_sorter_chunk *chunk = sorter->last_chunk;
    if (chunk == NULL || bytes > chunk->capacity_bytes - chunk->used_bytes) {
        MS_TRY(add_chunk(sorter, bytes, st));
        chunk = sorter->last_chunk;
    }
    msi_sorter_record *record = (void *)(chunk->data + chunk->used_bytes);
    chunk->used_bytes += bytes;
    record->key_bytes = (uint32_t)key.bytes;
    record->row_bytes = (uint32_t)row.bytes;
    record->takes_back = takes_back;
    if (key.bytes > 0) {
        memcpy(record->bytes, key.ptr, key.bytes);
    }
    if (row.bytes > 0) {
        memcpy(record->bytes + key.bytes, row.ptr, row.bytes);
    }
    sorter->records++;
    *record_out = record;
    return MS_OK;
}

static ms_str key_of(const msi_sorter_record *record)
{
    return ms_str_make(record->bytes, record->key_bytes);
}

static ms_str row_of(const msi_sorter_record *record)
{
    return ms_str_make(record->bytes + record->key_bytes, record->row_bytes);
}

/* Comparing. */

static uint64_t prefix_of(ms_str key)
{
    unsigned char bytes[sizeof(uint64_t)] = {0};
    if (key.bytes > 0) {
        memcpy(bytes, key.ptr, key.bytes < sizeof(bytes) ? key.bytes : sizeof(bytes));
    }
    uint64_t prefix;
    memcpy(&prefix, bytes, sizeof(prefix));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    prefix = __builtin_bswap64(prefix);
#endif
    return prefix;
}

/* What records are ordered by: the key, and with folds the row behind it. */
static ms_str order_bytes(const msi_sorter *sorter, const msi_sorter_record *record)
{
    return ms_str_make(record->bytes, record->key_bytes + (sorter->folds ? record->row_bytes : 0u));
}

static int compare(const msi_sorter *sorter, const msi_sorter_entry *a, const msi_sorter_entry *b)
{
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix ? -1 : 1;
    }
    return ms_str_compare(order_bytes(sorter, a->record), order_bytes(sorter, b->record));
}

/* Sorting a run. */

static void insertion_sort(const msi_sorter *sorter, msi_sorter_entry *entries, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        msi_sorter_entry entry = entries[i];
        uint32_t at = i;
        for (; at > 0 && compare(sorter, &entry, &entries[at - 1]) < 0; at--) {
            entries[at] = entries[at - 1];
        }
        entries[at] = entry;
    }
}

/* Merges from[0 .. middle) and from[middle .. end) to `to`; of equal entries the left one first. */
static void merge(const msi_sorter *sorter, const msi_sorter_entry *from, uint32_t middle,
                  uint32_t end, msi_sorter_entry *to)
{
    uint32_t left = 0;
    uint32_t right = middle;
    for (uint32_t at = 0; at < end; at++) {
        bool takes_right =
            left == middle || (right < end && compare(sorter, &from[right], &from[left]) < 0);
        to[at] = takes_right ? from[right++] : from[left++];
    }
}

static void sort_entries(msi_sorter *sorter)
{
    uint32_t count = sorter->entry_count;
    for (uint32_t at = 0; at < count; at += INSERTION_ROWS) {
        uint32_t rows = count - at < INSERTION_ROWS ? count - at : INSERTION_ROWS;
        insertion_sort(sorter, sorter->entries + at, rows);
    }
    for (uint32_t width = INSERTION_ROWS; width < count; width *= 2) {
        for (uint32_t at = 0; at < count; at += 2 * width) {
            uint32_t rows = count - at < 2 * width ? count - at : 2 * width;
            uint32_t middle = rows < width ? rows : width;
            merge(sorter, sorter->entries + at, middle, rows, sorter->spare + at);
        }
        msi_sorter_entry *sorted = sorter->spare;
        sorter->spare = sorter->entries;
        sorter->entries = sorted;
    }
}

/* Runs. */

static ms_rc need_entries(msi_sorter *sorter, ms_status *st)
{
    const size_t bytes = MSI_SORTER_RUN_ROWS * sizeof(msi_sorter_entry);
    if (sorter->entries == NULL) {
        sorter->entries = take_memory(sorter, bytes, st);
    }
    if (sorter->spare == NULL) {
        sorter->spare = take_memory(sorter, bytes, st);
    }
    return sorter->entries != NULL && sorter->spare != NULL ? MS_OK : st->code;
}

static ms_rc grow_runs(msi_sorter *sorter, ms_status *st)
{
    uint32_t capacity = sorter->run_capacity == 0 ? 16 : 2 * sorter->run_capacity;
    msi_sorter_run *runs = take_memory(sorter, capacity * sizeof(*runs), st);
    if (runs == NULL) {
        return st->code;
    }
    if (sorter->run_count > 0) {
        memcpy(runs, sorter->runs, sorter->run_count * sizeof(*runs));
    }
    give_memory(sorter, sorter->runs, sorter->run_capacity * sizeof(*runs));
    sorter->runs = runs;
    sorter->run_capacity = capacity;
    return MS_OK;
}

/* Sorts the entries at hand and puts them away as a run. */
static ms_rc close_run(msi_sorter *sorter, ms_status *st)
{
    if (sorter->run_count == sorter->run_capacity) {
        MS_TRY(grow_runs(sorter, st));
    }
    sort_entries(sorter);
    sorter->runs[sorter->run_count++] = (msi_sorter_run){sorter->entries, sorter->entry_count, 0};
    sorter->entries = NULL;
    sorter->entry_count = 0;
    return MS_OK;
}

/* Keeps the first rows_max rows, moved to new chunks, and frees the memory of the others. */
static ms_rc cut(msi_sorter *sorter, ms_status *st)
{
    sort_entries(sorter);
    msi_sorter_chunk *old = sorter->first_chunk;
    uint64_t old_records = sorter->records;
    sorter->first_chunk = NULL;
    sorter->last_chunk = NULL;
    sorter->records = 0;
    for (uint32_t i = 0; i < sorter->rows_max; i++) {
        const msi_sorter_record *record = sorter->entries[i].record;
        if (copy_record(sorter, key_of(record), row_of(record), false, &sorter->entries[i].record,
                        st) != MS_OK) {
            /* The entries point into both lists of chunks: keep both. */
            if (sorter->last_chunk != NULL) {
                sorter->last_chunk->next = old;
            } else {
                sorter->first_chunk = old;
            }
            sorter->records = old_records;
            return st->code;
        }
    }
    free_chunks(sorter, old);
    sorter->entry_count = sorter->rows_max;
    sorter->cutoff = sorter->rows_max > 0 ? sorter->entries[sorter->rows_max - 1].record : NULL;
    return MS_OK;
}

static bool is_beyond_cutoff(const msi_sorter *sorter, ms_str key)
{
    return sorter->cutoff != NULL && ms_str_compare(key, key_of(sorter->cutoff)) >= 0;
}

ms_rc msi_sorter_add(msi_sorter *sorter, ms_str key, ms_str row, bool takes_back, ms_status *st)
{
    MS_ASSERT(key.bytes <= UINT32_MAX && row.bytes <= UINT32_MAX);
    MS_ASSERT(!takes_back || sorter->folds);
    if (is_beyond_cutoff(sorter, key)) {
        return MS_OK;
    }
    MS_TRY(need_entries(sorter, st));
    msi_sorter_entry entry = {.prefix = prefix_of(key)};
    MS_TRY(copy_record(sorter, key, row, takes_back, &entry.record, st));
    sorter->entries[sorter->entry_count++] = entry;
    if (sorter->rows_max > 0) {
        bool is_full = sorter->entry_count == 2 * sorter->rows_max;
        return is_full ? cut(sorter, st) : MS_OK;
    }
    return sorter->entry_count == MSI_SORTER_RUN_ROWS ? close_run(sorter, st) : MS_OK;
}

/* Merging the runs. */

/* How far ahead of its use a record is fetched: some hundred nanoseconds of merging. */
#define PREFETCH_ROWS 4u

static const msi_sorter_entry *next_of(const msi_sorter *sorter, uint32_t run)
{
    return &sorter->runs[run].entries[sorter->runs[run].next];
}

/* True when the next entry of the run at a comes before that of the run at b. */
static bool comes_before(const msi_sorter *sorter, const msi_sorter_head *a,
                         const msi_sorter_head *b)
{
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix;
    }
    int order = compare(sorter, next_of(sorter, a->run), next_of(sorter, b->run));
    return order != 0 ? order < 0 : a->run < b->run;
}

static void sift_down(msi_sorter *sorter, uint32_t at)
{
    msi_sorter_head *heap = sorter->heap;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= sorter->heap_count) {
            return;
        }
        if (child + 1 < sorter->heap_count &&
            comes_before(sorter, &heap[child + 1], &heap[child])) {
            child++;
        }
        if (!comes_before(sorter, &heap[child], &heap[at])) {
            return;
        }
        msi_sorter_head head = heap[at];
        heap[at] = heap[child];
        heap[child] = head;
        at = child;
    }
}

ms_rc msi_sorter_seal(msi_sorter *sorter, ms_status *st)
{
    if (sorter->entry_count > 0) {
        MS_TRY(close_run(sorter, st));
    }
    if (sorter->run_count == 0) {
        return MS_OK;
    }
    sorter->heap = take_memory(sorter, sorter->run_capacity * sizeof(*sorter->heap), st);
    if (sorter->heap == NULL) {
        return st->code;
    }
    for (uint32_t i = 0; i < sorter->run_count; i++) {
        sorter->heap[i] = (msi_sorter_head){next_of(sorter, i)->prefix, i};
    }
    sorter->heap_count = sorter->run_count;
    for (uint32_t i = sorter->heap_count / 2; i-- > 0;) {
        sift_down(sorter, i);
    }
    return MS_OK;
}

static const msi_sorter_record *peek(const msi_sorter *sorter)
{
    return sorter->heap_count > 0 ? next_of(sorter, sorter->heap[0].run)->record : NULL;
}

static void pop(msi_sorter *sorter)
{
    msi_sorter_head *head = &sorter->heap[0];
    msi_sorter_run *run = &sorter->runs[head->run];
    if (++run->next == run->count) {
        *head = sorter->heap[--sorter->heap_count];
    } else {
        head->prefix = run->entries[run->next].prefix;
        if (run->next + PREFETCH_ROWS < run->count) {
            __builtin_prefetch(run->entries[run->next + PREFETCH_ROWS].record);
        }
    }
    sift_down(sorter, 0);
}

/* One step of folding: takes a record into the group at hand, or ends the group. */
static msi_sorted fold_step(msi_sorter *sorter, ms_str *row_out)
{
    if (sorter->repeats > 0) {
        sorter->repeats--;
        *row_out = row_of(sorter->group);
        return MSI_SORTED_ROW;
    }
    const msi_sorter_record *record = peek(sorter);
    bool continues = record != NULL && sorter->is_group_open &&
                     ms_str_equals(order_bytes(sorter, record), order_bytes(sorter, sorter->group));
    if (sorter->is_group_open && !continues) {
        sorter->is_group_open = false;
        sorter->repeats = sorter->group_rows > 0 ? (uint64_t)sorter->group_rows : 0;
        return MSI_SORTED_NONE;
    }
    if (record == NULL) {
        return MSI_SORTED_END;
    }
    if (!continues) {
        sorter->group = record;
        sorter->group_rows = 0;
        sorter->is_group_open = true;
    }
    sorter->group_rows += record->takes_back ? -1 : 1;
    pop(sorter);
    return MSI_SORTED_NONE;
}

msi_sorted msi_sorter_step(msi_sorter *sorter, ms_str *row_out)
{
    if (sorter->folds) {
        return fold_step(sorter, row_out);
    }
    const msi_sorter_record *record = peek(sorter);
    if (record == NULL) {
        return MSI_SORTED_END;
    }
    *row_out = row_of(record);
    pop(sorter);
    return MSI_SORTED_ROW;
}

/* Snapshots. */

uint64_t msi_sorter_records(const msi_sorter *sorter)
{
    return sorter->records;
}

static ms_rc save_record(const msi_sorter_record *record, ms_buf *out, ms_status *st)
{
    MS_TRY(ms_codec_put_u8(out, record->takes_back ? 1 : 0, st));
    MS_TRY(ms_codec_put_str(out, key_of(record), st));
    return ms_codec_put_str(out, row_of(record), st);
}

ms_rc msi_sorter_save(const msi_sorter *sorter, uint64_t records, ms_buf *out, ms_status *st)
{
    MS_TRY(ms_codec_put_varint(out, records, st));
    uint64_t saved = 0;
    for (const msi_sorter_chunk *chunk = sorter->first_chunk; chunk != NULL; chunk = chunk->next) {
        for (size_t at = 0; at < chunk->used_bytes && saved < records; saved++) {
            const msi_sorter_record *record = (const void *)(chunk->data + at);
            MS_TRY(save_record(record, out, st));
            at += record_bytes(record->key_bytes, record->row_bytes);
        }
    }
    MS_ASSERT(saved == records);
    return MS_OK;
}

ms_rc msi_sorter_load(msi_sorter *sorter, ms_str saved, ms_status *st)
{
    ms_codec_reader reader = ms_codec_reader_make(saved);
    size_t count = ms_codec_reader_count(&reader, 3);
    for (size_t i = 0; i < count; i++) {
        uint8_t flag = ms_codec_reader_u8(&reader);
        ms_str key = ms_codec_reader_str(&reader);
        ms_str row = ms_codec_reader_str(&reader);
        MS_TRY(ms_codec_reader_check(&reader, "the rows of a sort", st));
        MS_TRY(msi_sorter_add(sorter, key, row, flag != 0 && sorter->folds, st));
    }
    return ms_codec_reader_finish(&reader, "the rows of a sort", st);
}
