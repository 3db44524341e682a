/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory connector replays typed batches that the host program made before: for benchmarks,
 * which must not measure a generator, and for programs that embed the engine and have their data in
 * memory. Nothing is copied: batches are handed out as further references, or as frames over the
 * same vectors where only some columns are wanted.
 *
 *     ms_memory_service *service = ms_memory_service_create();
 *     ms_memory_source bids = {.schema = &schema, .batches = batches, .batch_count = count};
 *     MS_TRY(ms_memory_add_source(service, ms_str_lit("bid"), &bids, st));
 *     ms_registry_add_connector(&registry, &ms_connector_memory, service);
 *
 *     CREATE TABLE bid (auction BIGINT, price BIGINT, ...) WITH ('connector' = 'memory');
 *
 * Columns of the table are found in the batches by name, in any order; not all need be there.
 * Option:
 *
 *     source             the name that the batches were added under; the table's own by default
 *     scan.parallelism   subtasks that share the batches; by default the job's parallelism
 *
 * The table is bounded. Subtask i of P replays the batches i, i + P, i + 2 P, ...
 *
 * Ownership: the service copies names and borrows schemas and batches, which stay unchanged until
 * it is destroyed; it outlives every job that reads from it. Thread: sources are added before the
 * first statement is planned; afterwards any.
 */
#ifndef MS_CONNECTOR_MEMORY_MEMORY_H
#define MS_CONNECTOR_MEMORY_MEMORY_H

#include "catalog/connector.h"

extern const ms_connector ms_connector_memory;

typedef struct ms_memory_service ms_memory_service;

typedef struct ms_memory_source {
    const ms_schema *schema;
    ms_batch *const *batches; /* pooled, complete, without selection and kinds */
    uint64_t batch_count;
    uint64_t repeats; /* how often all batches are replayed; 0 means once */
} ms_memory_source;

ms_memory_service *ms_memory_service_create(void);
void ms_memory_service_destroy(ms_memory_service *service); /* NULL is fine */

/* Adds batches under a name; MS_DUPLICATE_TABLE when it is taken. */
ms_rc ms_memory_add_source(ms_memory_service *service, ms_str name, const ms_memory_source *source,
                           ms_status *st) MS_MUST_USE;

#endif
