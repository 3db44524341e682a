/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of what belongs to an instance (projects/P/instances/I/COLLECTION/ID), the instances and
 * clusters themselves, and operations. Paths of tables are model/name.h's.
 *
 *     ms_wire_resource app;
 *     MS_BT_TRY(ms_wire_resource_parse(path, "appProfiles", &app, bt));
 *
 * Ownership: a parsed path borrows; messages live in the arena. Thread: any.
 */
#ifndef MS_BIGTABLE_WIRE_RESOURCE_H
#define MS_BIGTABLE_WIRE_RESOURCE_H

#include "bigtable/model/name.h"
#include "bigtable/wire/pb.h"

typedef struct ms_wire_resource {
    ms_str project;
    ms_str instance;
    ms_str id;
} ms_wire_resource;

/* INVALID_ARGUMENT for what is no such path; project and instance are checked, the id is not
 * empty and has no slash. */
ms_bt_code ms_wire_resource_parse(ms_str path, const char *collection,
                                  ms_wire_resource *resource_out, ms_bt_status *bt);

/* projects/P/instances/I; a table path's instance, too. The table part is left empty. */
ms_bt_code ms_wire_instance_parse(ms_str path, ms_bt_table_name *instance_out, ms_bt_status *bt);

/* projects/P alone: the parent of instances. */
ms_bt_code ms_wire_project_parse(ms_str path, ms_str *project_out, ms_bt_status *bt);

/* Paths with a NUL behind. */
char *ms_wire_resource_path(ms_arena *arena, ms_str project, ms_str instance,
                            const char *collection, ms_str id);
char *ms_wire_instance_path(ms_arena *arena, ms_str project, ms_str instance);
char *ms_wire_table_path(ms_arena *arena, const ms_bt_table_name *name);

/* Where a cluster is of which nothing else was said. */
#define MS_WIRE_LOCAL_ZONE "local"

/* An instance, resp. a cluster of one node with SSD, that is ready. The location is a path
 * (projects/P/locations/ZONE) or a zone alone; empty: the local one. */
ms_pb_instance *ms_wire_instance_to_pb(ms_str project, ms_str instance, ms_str display_name,
                                       ms_arena *arena);
ms_pb_cluster *ms_wire_cluster_to_pb(ms_str project, ms_str instance, ms_str cluster,
                                     ms_str location, ms_arena *arena);

/* Operations and messages of any type. */

#define MS_WIRE_TYPE_URL_PREFIX "type.googleapis.com/"

ms_pb_any *ms_wire_any_to_pb(const ProtobufCMessage *message, ms_arena *arena);

/* NULL when it is of another type (bt is untouched then) or malformed. */
void *ms_wire_any_unpack(const ms_pb_any *any, const ProtobufCMessageDescriptor *class,
                         const ms_wire_limits *limits, ms_arena *arena, ms_bt_status *bt);

/* An operation that is done, well or not: response resp. bt. metadata may be NULL. */
ms_pb_operation *ms_wire_operation_to_pb(ms_str name, const ProtobufCMessage *metadata,
                                         const ProtobufCMessage *response, const ms_bt_status *bt,
                                         ms_arena *arena);

#endif
