/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests and benchmarks may ask of an engine beyond include/millstream/millstream.h: connectors
 * of their own, such as the memory connector with batches made before.
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

void ms_engine_add_connector(ms_engine *engine, const ms_connector *connector, void *service);

#endif
