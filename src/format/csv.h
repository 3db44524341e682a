/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The csv format of tables, as Flink reads and writes it: columns by position, records ended by
 * \n, \r\n or \r, fields quoted where they must be. Options as in docs/sql/formats.md.
 *
 * Ownership: decoders and encoders own what they need; the schema's types outlive them.
 * Thread: one at a time. Limits: MS_LIMIT_RECORD_BYTES a record.
 */
#ifndef MS_FORMAT_CSV_H
#define MS_FORMAT_CSV_H

#include "catalog/connector.h"

extern const ms_format ms_format_csv;

#endif
