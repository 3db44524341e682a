/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading rows: the cells of one row after the other come from an iterator, run through a filter,
 * and are laid into a page. Scans and the predicates of CheckAndMutateRow share this.
 *
 *     msi_row_reader reader = {.table = ..., .program = ..., .page = ..., .stats = ...};
 *     MS_TRY(msi_row_reader_init(&reader, ms_env_next_seed(), st));
 *     reader.iter = iter;
 *     reader.is_valid = ms_kv_iter_seek(iter, key, &reader.entry);
 *     while (reader.is_valid) {
 *         MS_TRY(msi_row_reader_read(&reader, st));
 *     }
 *     msi_row_reader_release(&reader);
 *
 * Ownership: the reader owns its scratch; everything that it is given outlives it. Thread: one at a
 * time.
 */
#ifndef MS_BIGTABLE_STORE_SCAN_ROW_H
#define MS_BIGTABLE_STORE_SCAN_ROW_H

#include "bigtable/client/client.h"
#include "bigtable/model/filter_run.h"
#include "bigtable/store/key.h"
#include "bigtable/store/scan_plan.h"
#include "bigtable/store/schema.h"

/* How cells run through the filter. */
typedef enum msi_read_mode {
    MSI_READ_ALL,    /* not at all: every cell passes */
    MSI_READ_STAGES, /* one by one, through a plan */
    MSI_READ_CELLS,  /* one by one, through the program */
    MSI_READ_ROWS    /* when the row is complete */
} msi_read_mode;

typedef struct msi_row_reader {
    /* Set before init. */
    const msi_table *table;
    const ms_bt_filter_program *program;
    msi_scan_plan *plan; /* of the same filter; NULL: it has none */
    ms_bt_page *page;
    ms_bt_read_stats *stats;
    const _Atomic bool *is_canceled; /* NULL: never */
    size_t row_bytes_max;            /* beyond, a row is too large to be read */

    /* Set before reading, and moved by it: the first cell of the row, resp. what is behind it. */
    ms_kv_iter *iter;
    ms_kv_entry entry;
    bool is_valid;

    /* After reading: the row part of the row's keys. Valid until the next row is read. */
    char *last; /* MSI_KEY_BYTES_MAX: the key before, and the target of a seek */
    size_t row_bytes;
    bool is_too_large; /* reading failed because the row is */

    /* Private. */
    msi_read_mode mode;
    bool sorts_rows; /* names of families and their incarnations are in other orders */
    ms_bt_filter_run run;
    char *key;       /* of the row, for the filter */
    char *qualifier; /* of the column, when the filter looks at it */
    bool tests_qualifiers;
    size_t column_bytes; /* of the key before, without its time; 0: none in this row */
    uint32_t family_id;  /* of the column before */
    uint32_t family;     /* its index; UINT32_MAX: none that the catalog knows */
    ms_bt_cell column;   /* where the page has the qualifier and the value, if it has */
    uint32_t steps;      /* entries passed over one after the other */
} msi_row_reader;

/* The seed is for filters that sample rows. */
ms_rc msi_row_reader_init(msi_row_reader *reader, uint64_t seed, ms_status *st) MS_MUST_USE;

/* Takes one that was never initialized, if it is zero. */
void msi_row_reader_release(msi_row_reader *reader);

/* As release, but for the buffers, which another init uses again: all else is zero then. */
void msi_row_reader_clear(msi_row_reader *reader);

/*
 * Reads the row of the entry and adds it to the page if the filter leaves anything of it; then the
 * entry is the first one behind the row. MS_LIMIT when the row is too large to be read or the
 * filter too expensive, MS_CANCELED, MS_NO_MEMORY, MS_CORRUPT_DATA. The page is lost then.
 */
ms_rc msi_row_reader_read(msi_row_reader *reader, ms_status *st) MS_MUST_USE;

/* What predicates use one after the other, so that none allocates it anew. */
typedef struct msi_row_matcher msi_row_matcher;

msi_row_matcher *msi_row_matcher_create(void);
void msi_row_matcher_destroy(msi_row_matcher *matcher);

/* Whether the filter gives any cell of a row, which ends the reading as soon as it does where the
 * filter allows. Only the part of the row that matters to the filter is read. Adds the bytes that
 * were looked at. */
ms_rc msi_row_matches(msi_row_matcher *matcher, ms_kv *kv, const msi_table *table,
                      const ms_bt_filter_program *program, ms_str row_key, bool *matches_out,
                      size_t *bytes, ms_status *st) MS_MUST_USE;

/* What the service calls a failure of the above. */
ms_bt_code msi_read_code(ms_rc rc);

#endif
