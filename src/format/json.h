/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The json format of tables, as Flink reads and writes it: one object a line, columns by name. A
 * missing field is NULL, an unknown one is skipped, of two with one name the last counts. Options
 * as in docs/sql/formats.md.
 *
 * Ownership: decoders and encoders own what they need; the schema's types outlive them.
 * Thread: one at a time. Limits: MS_LIMIT_RECORD_BYTES a record.
 */
#ifndef MS_FORMAT_JSON_H
#define MS_FORMAT_JSON_H

#include "catalog/connector.h"

extern const ms_format ms_format_json;

#endif
