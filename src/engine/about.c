/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this build and process are: for "millstream version -v".
 */
#include "engine/engine_priv.h"

#include "type/zone.h"

#include <stdio.h>
#include <unicode/uvernum.h>

size_t ms_about(char *out, size_t size)
{
    if (size == 0) {
        return 0;
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str zone = ms_zone_host_name(&arena);
    ms_str database = ms_zone_database_version(&arena);
    int bytes = snprintf(out, size,
                         "version %s\ncompiler %s\nicu %s\nprocessors %d\n"
                         "local-time-zone %.*s\ntime-zone-database %.*s\n",
                         MS_VERSION, __VERSION__, U_ICU_VERSION, ms_thread_cpu_count(),
                         MS_STR_ARG(zone), MS_STR_ARG(database));
    ms_arena_release(&arena);
    return bytes < 0 ? 0 : (size_t)bytes < size ? (size_t)bytes : size - 1;
}
