/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filesystem connector: tables on files of a format.
 *
 *     CREATE TABLE t (...) WITH ('connector' = 'filesystem', 'path' = 'in/', 'format' = 'json');
 *
 * Reading: path is a file, a directory (read recursively; names that begin with "." or "_" are
 * invisible), a glob, or "-" for standard input. One split is one file, in ascending order of
 * names; a position is a byte offset behind a whole record.
 *
 * Writing: path is a directory, made when missing, or "-" for standard output. A writer's rows go
 * to hidden files, which are renamed to part-<run>-<subtask>-<n> after the checkpoint that covers
 * them is complete, or at the end of a job without checkpoints: exactly once. Standard output is
 * at-least-once.
 *
 * Thread: as the contracts of catalog/connector.h say.
 */
#ifndef MS_CONNECTOR_FILESYSTEM_FILESYSTEM_H
#define MS_CONNECTOR_FILESYSTEM_FILESYSTEM_H

#include "catalog/connector.h"

extern const ms_connector ms_connector_filesystem;

#endif
