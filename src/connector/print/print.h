/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The print connector writes each row as a line of text, as Flink's does:
 *
 *     +I[1, abc, null]                print-identifier not set, parallelism 1
 *     2> -U[1, abc, null]             parallelism > 1: the subtask, from 1
 *     totals> +I[7]                   print-identifier = totals
 *     totals:2> +I[7]
 *
 *     CREATE TABLE t (...) WITH ('connector' = 'print', 'print-identifier' = 'totals');
 *
 * Options: print-identifier, standard-error (false), sink.parallelism. Lines go to standard output,
 * or to standard error when the option says so or when standard output carries results that a
 * program reads (the service's stdout_is_result). Rows of every kind are taken, at-least-once: a
 * checkpoint waits until the lines before it are written.
 *
 * Thread: as the contracts of catalog/connector.h say.
 */
#ifndef MS_CONNECTOR_PRINT_PRINT_H
#define MS_CONNECTOR_PRINT_PRINT_H

#include "catalog/connector.h"

extern const ms_connector ms_connector_print;

/* What engine/ binds to the connector; zero-initialized is fine. Outlives every job. */
typedef struct ms_print_service {
    bool stdout_is_result; /* results on standard output are json or csv: print elsewhere */
    int out_fd;            /* in place of standard output; 0: not set */
    int err_fd;            /* in place of standard error; 0: not set */
} ms_print_service;

#endif
