/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every limit of the engine, with its name and the reason for its number. A limit that a user can
 * meet is also in the message that reports it. The ranks of the mutexes are at the end, outermost
 * first.
 */
#ifndef MS_BASE_LIMITS_H
#define MS_BASE_LIMITS_H

/* Text of scripts and statements. */
#define MS_LIMIT_SCRIPT_BYTES (16u << 20) /* a script: the contract of the command line */
#define MS_LIMIT_AST_NODES 200000u        /* nodes of one statement: about 40 MB of arena */
#define MS_LIMIT_SCRIPT_NODES 2000000u    /* nodes of a script: about 400 MB of arena */
#define MS_LIMIT_EXPR_DEPTH 200u /* nesting: one level costs at most about 1 KiB of stack */
#define MS_LIMIT_COLUMNS 1600u   /* columns of a table or query: as PostgreSQL's tuples */
#define MS_LIMIT_IDENTIFIER_BYTES 255u
#define MS_LIMIT_LIST_ITEMS 20000u       /* elements of an IN list, rows of VALUES */
#define MS_LIMIT_VARIABLES 256u          /* --define */
#define MS_LIMIT_VIEW_DEPTH 64u          /* views inside views */
#define MS_LIMIT_PLAN_BYTES (1ull << 30) /* memory of binding one statement: views multiply texts */
#define MS_LIMIT_PLAN_DEPTH 1000u        /* operators on the way from a root to a scan */

/* Batches. */
#define MS_BATCH_ROWS_DEFAULT 2048u /* the knee of the measured curve */
#define MS_BATCH_ROWS_MAX 4096u
/* Strings and elements of a batch, after which a producer adds no row: few batches fill a ring's
 * credit, and 2 KiB a row are far from it. One row may be larger. */
#define MS_BATCH_BYTES_TARGET (4u << 20)
#define MS_BATCH_HEAPS_MAX 8u
#define MS_LIMIT_TYPE_DEPTH 16u /* nesting of ROW, ARRAY, MAP */

/* Values. */
#define MS_LIMIT_STRING_BYTES (100u << 20) /* one STRING or BYTES value: as a Bigtable cell */
#define MS_LIMIT_RECORD_BYTES (128u << 20) /* one input record of a format */

/* Jobs. */
#define MS_LIMIT_PARALLELISM 128 /* the number of key groups */
#define MS_KEY_GROUPS 128u
#define MS_LIMIT_OPS_PER_JOB 4096u
#define MS_LIMIT_CHECKPOINT_BYTES (4ull << 30)
#define MS_LIMIT_SNAPSHOT_BYTES (64u << 20) /* of one operator in one subtask: a million splits */

/* Mutex ranks: a thread may take a mutex only when it holds none of an equal or higher rank. */
#define MS_RANK_ENGINE 10
#define MS_RANK_JOB 20
#define MS_RANK_BT_SERVER 23
#define MS_RANK_BT_CLIENT 25
#define MS_RANK_STORE_STRIPE 30
#define MS_RANK_STORE_QUEUE 40
#define MS_RANK_STORE_SCHEMA 50
#define MS_RANK_STORE_VIEW 52
#define MS_RANK_STORE_WAITING 55
#define MS_RANK_KV 57
#define MS_RANK_IOPOOL 60
#define MS_RANK_MAILBOX 70
#define MS_RANK_SPARES 72
#define MS_RANK_METRICS 75
#define MS_RANK_LOG 80

#endif
