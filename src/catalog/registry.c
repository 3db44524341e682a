/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of connectors and formats: filled once by engine/, read by the planner.
 */
#include "catalog/connector.h"

void ms_registry_add_connector(ms_registry *registry, const ms_connector *connector, void *service)
{
    MS_ASSERT(registry->connector_count < MS_REGISTRY_ENTRIES_MAX);
    registry->connectors[registry->connector_count] = connector;
    registry->services[registry->connector_count] = service;
    registry->connector_count++;
}

void ms_registry_add_format(ms_registry *registry, const ms_format *format)
{
    MS_ASSERT(registry->format_count < MS_REGISTRY_ENTRIES_MAX);
    registry->formats[registry->format_count++] = format;
}

const ms_connector *ms_registry_connector(const ms_registry *registry, ms_str name,
                                          void **service_out)
{
    for (uint32_t i = 0; i < registry->connector_count; i++) {
        if (ms_str_equals(ms_str_cstr(registry->connectors[i]->name), name)) {
            if (service_out != NULL) {
                *service_out = registry->services[i];
            }
            return registry->connectors[i];
        }
    }
    return NULL;
}

const ms_format *ms_registry_format(const ms_registry *registry, ms_str name)
{
    for (uint32_t i = 0; i < registry->format_count; i++) {
        if (ms_str_equals(ms_str_cstr(registry->formats[i]->name), name)) {
            return registry->formats[i];
        }
    }
    return NULL;
}
