/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of csv as fields. A record is split from its first byte on; where the input ends inside
 * it, the splitter keeps its place and goes on from there once more has come, so that every byte is
 * looked at about once, however small the portions are.
 *
 *     msi_csv_split split = msi_csv_split_record(&splitter, record, at_end);
 *     if (split == MSI_CSV_CUT) {
 *         ... come back with the same bytes and more behind them, wherever they stand then ...
 *     }
 *     for (uint32_t i = 0; i < splitter.field_count && i < fields_max; i++) {
 *         ms_str text = msi_csv_field_text(&splitter, i);
 *     }
 *
 * Private to this folder. Ownership: options are borrowed; texts are views of the input or of the
 * splitter and live until the next record. Thread: one at a time.
 */
#ifndef MS_FORMAT_CSV_SPLIT_H
#define MS_FORMAT_CSV_SPLIT_H

#include "format/format_priv.h"

typedef enum msi_csv_split {
    MSI_CSV_RECORD,
    MSI_CSV_CUT,       /* the input ends inside the record */
    MSI_CSV_NOTHING,   /* a comment, or, where there are comments, a line of blanks */
    MSI_CSV_MALFORMED, /* no record; ends with the line at which that was seen */
} msi_csv_split;

typedef struct msi_csv_field {
    size_t at; /* of its text: in the record, or in the copies */
    size_t bytes;
    bool is_copied; /* had escapes or doubled quotes */
    bool is_quoted;
} msi_csv_field;

/* Where a record stands. Private. */
typedef enum msi_csv_place {
    MSI_CSV_AT_RECORD,
    MSI_CSV_IN_MARGIN,
    MSI_CSV_IN_COMMENT,
    MSI_CSV_AT_FIELD,
    MSI_CSV_IN_PLAIN,
    MSI_CSV_IN_QUOTED,
    MSI_CSV_BEHIND_FIELD,
    MSI_CSV_IN_REST /* of a line that is skipped */
} msi_csv_place;

/* Fields are private but for those read as in the example, and the counts at the end. */
typedef struct msi_csv_splitter {
    const msi_csv_options *options;
    uint32_t fields_max;
    msi_csv_field *fields;
    ms_buf copies;
    msi_csv_place place;
    size_t run_at;    /* the text of the field at hand from here on is not copied */
    size_t copied_at; /* its copied text */
    const char *record;

    const char *why;       /* a record is malformed: what follows "the record " */
    uint32_t field_count;  /* of the record, also beyond fields_max */
    size_t bytes;          /* looked at of the record: its length once it is whole */
    uint64_t bytes_looked; /* in all, for tests: about as many as there were */
} msi_csv_splitter;

/* Keeps up to fields_max fields of a record; fields has room for them. */
void msi_csv_splitter_init(msi_csv_splitter *splitter, const msi_csv_options *options,
                           msi_csv_field *fields, uint32_t fields_max);
void msi_csv_splitter_release(msi_csv_splitter *splitter);

/* Forgets a record that was cut. */
void msi_csv_splitter_reset(msi_csv_splitter *splitter);

/*
 * Splits the record that input begins with, after MSI_CSV_CUT the same one. input is not empty.
 * at_end: nothing comes behind it. A record behind whose closing quote stands text is malformed,
 * and ends with that line; one without a closing quote ends with its first line. Blanks in front
 * of a record are no text of it where options allow comments. The carriage return and line feed
 * behind it are of a record.
 */
msi_csv_split msi_csv_split_record(msi_csv_splitter *splitter, ms_str input, bool at_end);

/* index < field_count and < fields_max. */
ms_str msi_csv_field_text(const msi_csv_splitter *splitter, uint32_t index);

#endif
