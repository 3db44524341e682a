/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter made ready for one table: checked, its regular expressions compiled, its families
 * looked up, and turned into a graph through which cells run one by one (model/filter_run.h). What
 * a scan can know beforehand stands in the fields: the keys, families and values that matter.
 *
 *     const ms_bt_filter_program *program;
 *     MS_BT_TRY(ms_bt_filter_compile(filter, table, arena, &program, bt));
 *     ... intersect the rows wanted with program->keys ...
 *
 * Ownership: the program lives in the arena, its regular expressions end with it; filter and table
 * must live as long. Thread: any number of runs, on any threads, share one program. Limits: the
 * regular expressions of one program share MS_BT_FILTER_REGEX_BYTES_MAX, caches included; when
 * there are hundreds, each still gets the little that RE2 needs.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_PROGRAM_H
#define MS_BIGTABLE_MODEL_FILTER_PROGRAM_H

#include "bigtable/model/filter.h"
#include "bigtable/model/table.h"

struct msi_filter_condition;
struct msi_filter_node;

#define MS_BT_FILTER_REGEX_BYTES_MAX ((size_t)16 << 20)

/* Read freely up to node_count; the rest is private. Families are meant by their index in the
 * table's list. */
typedef struct ms_bt_filter_program {
    /* Rows with other keys give nothing; coalesced. One unbounded range: nothing is known. */
    ms_bt_ranges keys;

    /* One bit a family: 0 when its cells can be passed over unseen. NULL: all matter. */
    const uint64_t *families;

    /* Cells with other qualifiers can be passed over unseen, too. */
    ms_bt_range qualifiers;

    /* No row gives anything; keys is empty then. */
    bool blocks;

    /* Every cell of every row passes as it is. */
    bool passes;

    /* Needs each row twice, so it is run on whole rows (ms_bt_filter_run_row) and not cell by
     * cell. */
    bool needs_rows;

    /* Counts cells of a row over its families, so that these must come in order of their names. */
    bool counts_rows;

    /* Looks at qualifiers, resp. at values; whether values are in what it gives. When neither
     * tests_values nor gives_values holds, cells may be run with empty values. */
    bool tests_qualifiers;
    bool tests_values;
    bool gives_values;

    /* What labels of cells mean, for ms_bt_page.labels; NULL when the filter applies none. */
    const ms_str *labels;
    uint32_t label_count;

    uint32_t node_count;
    uint32_t way_count; /* what forks may leave on the stack of a run, all together */
    uint32_t state_count;
    uint32_t condition_count;
    const struct msi_filter_node *entry;
    const struct msi_filter_condition *const *conditions;
} ms_bt_filter_program;

static inline bool ms_bt_filter_program_wants(const ms_bt_filter_program *program, uint32_t family)
{
    return program->families == NULL || (program->families[family / 64] >> (family % 64) & 1) != 0;
}

/*
 * INVALID_ARGUMENT as ms_bt_filter_check, which need not be called before; NOT_FOUND when the
 * filter names a family that the table lacks, by FAMILY, COLUMN_RANGE or a FAMILY_REGEX that is a
 * plain name. filter may be NULL.
 */
ms_bt_code ms_bt_filter_compile(const ms_bt_filter *filter, const ms_bt_table *table,
                                ms_arena *arena, const ms_bt_filter_program **program_out,
                                ms_bt_status *bt);

#endif
