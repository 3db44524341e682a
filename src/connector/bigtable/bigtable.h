/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bigtable connector: tables of Cloud Bigtable, read by bounded scans and written by upserts.
 * docs/sql/connector-bigtable.md is its reference; this is the short form.
 *
 *     CREATE TABLE profiles (
 *       rowkey STRING,                               the one column that is no ROW: the row key
 *       profile ROW<name STRING, email STRING>,      a column family with two qualifiers
 *       PRIMARY KEY (rowkey) NOT ENFORCED            optional; nothing else can be the key
 *     ) WITH (
 *       'connector' = 'bigtable',
 *       'project' = 'p', 'instance' = 'i', 'table' = 'profiles',
 *       'sink.create-disposition' = 'create-if-needed',
 *       'sink.table-create.gc-rule.max-versions' = '1'
 *     );
 *
 * Values are encoded as the HBase ecosystem does it. A scan reads the families that the query needs
 * and the row keys that it asks for; it is split at keys that the service samples and can be
 * resumed behind any row. The sink is at-least-once: an upsert that is repeated changes nothing,
 * and a checkpoint is complete when what was written before it is on the disk.
 *
 * Options that are built (values are checked when a statement is planned):
 *
 *     project, instance, table                 required
 *     null-string-literal                      what a NULL text is written as; "null"
 *     decode.trailing-bytes                    ignore, reject: values longer than their type
 *     scan.mode                                bounded
 *     scan.row-prefix, scan.row-ranges         which rows are read; see row_ranges.h
 *     scan.row-range.start-closed, .end-open
 *     scan.row-key-encoding                    UTF8, BASE64: of the four above
 *     scan.parallelism, sink.parallelism
 *     sink.write-mode                          upsert
 *     sink.insert-only-input-mode              upsert, insert-only
 *     sink.create-disposition                  create-never, create-if-needed
 *     sink.table-create.gc-rule.max-versions, .max-age
 *
 * All others of Flink's connector are known and refused by name.
 *
 * The service of the registry is an ms_bigtable_service (service.h): the engine's way to a client.
 */
#ifndef MS_CONNECTOR_BIGTABLE_BIGTABLE_H
#define MS_CONNECTOR_BIGTABLE_BIGTABLE_H

#include "catalog/connector.h"

extern const ms_connector ms_connector_bigtable;

#endif
