/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting rows that are bytes: records with a key, kept in accounted memory and given out in the
 * order of the keys (memcmp), equal keys in the order of arrival.
 *
 *     msi_sorter sorter;
 *     msi_sorter_init(&sorter, &options);
 *     MS_TRY(msi_sorter_add(&sorter, key, row, false, st));             per row
 *     MS_TRY(msi_sorter_seal(&sorter, st));
 *     while ((got = msi_sorter_step(&sorter, &row)) != MSI_SORTED_END) {
 *         if (got == MSI_SORTED_ROW) { ... }
 *     }
 *     msi_sorter_release(&sorter);
 *
 * Work is spread so that no call takes long: rows are sorted in runs of MSI_SORTER_RUN_ROWS as they
 * come, and merged, row by row, as they go.
 *
 *     chunks   |rec|rec|rec   |  |rec|rec|  ...        append only
 *     runs     [prefix, rec][prefix, rec] ... sorted   [prefix, rec] ...
 *                    \______________ heap of runs ______________/  ->  rows in order
 *
 * With rows_max, only the first so many rows in order are kept: whenever twice as many have come,
 * they are sorted and cut, and from then on a row that is not below the last one kept is refused
 * at once.
 *
 * With folds, a row may take an earlier equal one back (key and row bytes the same). Rows come out
 * as often as they were added less taken back; equal keys then come in the order of the row bytes.
 *
 * Ownership: keys and rows are copied. Memory is reserved at the account, beyond whose budget
 * adding fails with MS_NO_MEMORY. Rows given out stay until release. Thread: task.
 */
#ifndef MS_EXEC_SORTER_H
#define MS_EXEC_SORTER_H

#include "base/memory.h"
#include "base/str.h"

#define MSI_SORTER_RUN_ROWS 16384u /* about a millisecond to sort */

/* Up to this many rows a limit is worth the pruning: two buffers of it make a run. */
#define MSI_SORTER_ROWS_MAX (MSI_SORTER_RUN_ROWS / 2)

typedef struct msi_sorter_options {
    ms_account *account;
    uint64_t rows_max; /* more than MSI_SORTER_ROWS_MAX: all are kept */
    bool folds;        /* excludes rows_max */
} msi_sorter_options;

typedef struct msi_sorter_record msi_sorter_record;
typedef struct msi_sorter_chunk msi_sorter_chunk;
typedef struct msi_sorter_entry msi_sorter_entry;
typedef struct msi_sorter_run msi_sorter_run;
typedef struct msi_sorter_head msi_sorter_head;

/* Fields are private; the struct is public so that it can be embedded. */
typedef struct msi_sorter {
    ms_account *account;
    uint64_t reserved_bytes;
    uint32_t rows_max; /* 0: all */
    bool folds;

    msi_sorter_chunk *first_chunk;
    msi_sorter_chunk *last_chunk;
    uint64_t records;

    msi_sorter_entry *entries; /* of the run that is being filled */
    msi_sorter_entry *spare;   /* for merging inside a run */
    uint32_t entry_count;
    const msi_sorter_record *cutoff; /* the last row kept, once there was a cut */

    msi_sorter_run *runs;
    uint32_t run_count;
    uint32_t run_capacity;
    msi_sorter_head *heap; /* of runs, smallest head first; after seal */
    uint32_t heap_count;

    const msi_sorter_record *group; /* folds: equal records seen so far */
    int64_t group_rows;
    uint64_t repeats; /* how often the group's row is still to be given out */
    bool is_group_open;
} msi_sorter;

typedef enum msi_sorted {
    MSI_SORTED_ROW,  /* *row_out is the next row */
    MSI_SORTED_NONE, /* one step was made, no row came of it */
    MSI_SORTED_END
} msi_sorted;

void msi_sorter_init(msi_sorter *sorter, const msi_sorter_options *options);
void msi_sorter_release(msi_sorter *sorter);

ms_rc msi_sorter_add(msi_sorter *sorter, ms_str key, ms_str row, bool takes_back,
                     ms_status *st) MS_MUST_USE;

/* No more rows come. */
ms_rc msi_sorter_seal(msi_sorter *sorter, ms_status *st) MS_MUST_USE;
msi_sorted msi_sorter_step(msi_sorter *sorter, ms_str *row_out);

/* Snapshots: the records in memory, in the order of arrival. */

/* How many records there are; with rows_max fewer than were added. */
uint64_t msi_sorter_records(const msi_sorter *sorter);

/*
 * Appends the first `records` records as bytes. Later additions do not disturb them, but a cut
 * does: with rows_max it is called at once.
 */
ms_rc msi_sorter_save(const msi_sorter *sorter, uint64_t records, ms_buf *out,
                      ms_status *st) MS_MUST_USE;

/* Adds the records of saved bytes. */
ms_rc msi_sorter_load(msi_sorter *sorter, ms_str saved, ms_status *st) MS_MUST_USE;

#endif
