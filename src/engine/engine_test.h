/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests and benchmarks may ask of an engine beyond include/millstream/millstream.h: connectors
 * of their own, such as the memory connector with batches made before; operators of their own, such
 * as sources that stop at a given row; the job behind an execution, to take a checkpoint of it; and
 * the number of calls at a server, to know that they came there.
 *
 *     ms_memory_service *service = ms_memory_service_create();
 *     MS_TRY(ms_memory_add_source(service, ms_str_lit("bid"), &bids, st));
 *     ms_engine_add_connector(engine, &ms_connector_memory, service);
 *
 * Ownership: the connector and its service are borrowed and outlive the engine. Thread: that which
 * opened the engine, before the first session is opened. Limits: MS_REGISTRY_ENTRIES_MAX.
 */
#ifndef MS_ENGINE_ENGINE_TEST_H
#define MS_ENGINE_ENGINE_TEST_H

#include "catalog/connector.h"
#include "millstream/millstream.h"

struct ms_bigtable_server;
struct ms_job;
struct ms_op;
struct ms_pnode;

void ms_engine_add_connector(ms_engine *engine, const ms_connector *connector, void *service);

/* Makes the operators of the jobs that start from now on, in place of ms_op_create. */
void ms_engine_set_make_op(ms_engine *engine,
                           struct ms_op *(*make_op)(const struct ms_pnode *node, ms_arena *arena));

/* The job of a statement, which lives as long as the execution; NULL when it has none. */
struct ms_job *ms_execution_job(ms_execution *execution);

/* The calls that a server has received. */
uint64_t ms_bigtable_server_call_count(const struct ms_bigtable_server *server);

#endif
