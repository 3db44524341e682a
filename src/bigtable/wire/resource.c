/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths, instances, clusters and operations. A path is taken apart piece by piece; what its pieces
 * may be is the model's to say.
 */
#include "bigtable/wire/resource.h"

#include "bigtable/wire/rpc_status.h"

#include <stdio.h>

/* Takes "WORD/PIECE" and the slash behind it off the front of a path; false when it does not begin
 * so. The piece is not empty. */
static bool take(ms_str *path, ms_str word, ms_str *piece_out)
{
    ms_str rest = *path;
    if (!ms_str_starts_with(rest, word) || rest.bytes == word.bytes ||
        rest.ptr[word.bytes] != '/') {
        return false;
    }
    rest = ms_str_slice(rest, word.bytes + 1, rest.bytes);
    size_t slash = ms_str_find_byte(rest, '/', 0);
    *piece_out = ms_str_slice(rest, 0, slash);
    *path = slash == SIZE_MAX ? (ms_str){NULL, 0} : ms_str_slice(rest, slash + 1, rest.bytes);
    /* A slash at the end would leave an empty piece. */
    return piece_out->bytes > 0 && (slash == SIZE_MAX || path->bytes > 0);
}

static ms_bt_code refuse(ms_str path, const char *form, ms_bt_status *bt)
{
    char text[128];
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Invalid name '%s': expected %s",
                            ms_bt_bytes_text(path, text, sizeof(text)), form);
}

static bool take_instance(ms_str *path, ms_bt_table_name *name_out)
{
    return take(path, ms_str_lit("projects"), &name_out->project) &&
           take(path, ms_str_lit("instances"), &name_out->instance);
}

ms_bt_code ms_wire_resource_parse(ms_str path, const char *collection,
                                  ms_wire_resource *resource_out, ms_bt_status *bt)
{
    *resource_out = (ms_wire_resource){0};
    ms_bt_table_name name = {0};
    ms_str rest = path;
    ms_str id = {0};
    if (!take_instance(&rest, &name) || !take(&rest, ms_str_cstr(collection), &id) ||
        rest.bytes > 0) {
        char form[96];
        (void)snprintf(form, sizeof(form), "projects/<project>/instances/<instance>/%s/<id>",
                       collection);
        return refuse(path, form, bt);
    }
    MS_BT_TRY(ms_bt_instance_name_check(&name, bt));
    *resource_out = (ms_wire_resource){name.project, name.instance, id};
    return MS_BT_OK;
}

ms_bt_code ms_wire_instance_parse(ms_str path, ms_bt_table_name *instance_out, ms_bt_status *bt)
{
    *instance_out = (ms_bt_table_name){0};
    ms_bt_table_name name = {0};
    ms_str rest = path;
    if (!take_instance(&rest, &name) || rest.bytes > 0) {
        return refuse(path, "projects/<project>/instances/<instance>", bt);
    }
    MS_BT_TRY(ms_bt_instance_name_check(&name, bt));
    *instance_out = name;
    return MS_BT_OK;
}

ms_bt_code ms_wire_project_parse(ms_str path, ms_str *project_out, ms_bt_status *bt)
{
    *project_out = (ms_str){NULL, 0};
    ms_str rest = path;
    ms_str project;
    if (!take(&rest, ms_str_lit("projects"), &project) || rest.bytes > 0) {
        return refuse(path, "projects/<project>", bt);
    }
    *project_out = project;
    return MS_BT_OK;
}

/* Making paths: every call has one, so they are not left to a formatter. */

static char *join(ms_arena *arena, const ms_str *parts, size_t count)
{
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += parts[i].bytes;
    }
    char *path = ms_arena_alloc(arena, bytes, 1);
    char *to = path;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].bytes > 0) {
            memcpy(to, parts[i].ptr, parts[i].bytes);
            to += parts[i].bytes;
        }
    }
    *to = '\0';
    return path;
}

char *ms_wire_resource_path(ms_arena *arena, ms_str project, ms_str instance,
                            const char *collection, ms_str id)
{
    const ms_str parts[] = {ms_str_lit("projects/"),   project,
                            ms_str_lit("/instances/"), instance,
                            ms_str_lit("/"),           ms_str_cstr(collection),
                            ms_str_lit("/"),           id};
    return join(arena, parts, sizeof(parts) / sizeof(parts[0]));
}

char *ms_wire_instance_path(ms_arena *arena, ms_str project, ms_str instance)
{
    const ms_str parts[] = {ms_str_lit("projects/"), project, ms_str_lit("/instances/"), instance};
    return join(arena, parts, sizeof(parts) / sizeof(parts[0]));
}

char *ms_wire_table_path(ms_arena *arena, const ms_bt_table_name *name)
{
    return ms_wire_resource_path(arena, name->project, name->instance, "tables", name->table);
}

/* Instances and clusters. */

ms_pb_instance *ms_wire_instance_to_pb(ms_str project, ms_str instance, ms_str display_name,
                                       ms_arena *arena)
{
    ms_pb_instance *message = ms_pb_new(arena, instance);
    message->name = ms_wire_instance_path(arena, project, instance);
    message->display_name = ms_wire_text(arena, display_name);
    message->state = GOOGLE__BIGTABLE__ADMIN__V2__INSTANCE__STATE__READY;
    message->type = GOOGLE__BIGTABLE__ADMIN__V2__INSTANCE__TYPE__PRODUCTION;
    return message;
}

/* What clients say when they make a cluster is such a path already. */
static char *location_path(ms_str project, ms_str location, ms_arena *arena)
{
    if (ms_str_starts_with(location, ms_str_lit("projects/"))) {
        return ms_wire_text(arena, location);
    }
    const ms_str parts[] = {ms_str_lit("projects/"), project, ms_str_lit("/locations/"),
                            location.bytes > 0 ? location : ms_str_lit(MS_WIRE_LOCAL_ZONE)};
    return join(arena, parts, sizeof(parts) / sizeof(parts[0]));
}

ms_pb_cluster *ms_wire_cluster_to_pb(ms_str project, ms_str instance, ms_str cluster,
                                     ms_str location, ms_arena *arena)
{
    ms_pb_cluster *message = ms_pb_new(arena, cluster);
    message->name = ms_wire_resource_path(arena, project, instance, "clusters", cluster);
    message->location = location_path(project, location, arena);
    message->state = GOOGLE__BIGTABLE__ADMIN__V2__CLUSTER__STATE__READY;
    message->serve_nodes = 1;
    message->default_storage_type = GOOGLE__BIGTABLE__ADMIN__V2__STORAGE_TYPE__SSD;
    return message;
}

/* Operations. */

ms_pb_any *ms_wire_any_to_pb(const ProtobufCMessage *message, ms_arena *arena)
{
    ms_pb_any *any = ms_pb_new(arena, any);
    any->type_url = ms_wire_text(
        arena, ms_arena_format(arena, MS_WIRE_TYPE_URL_PREFIX "%s", message->descriptor->name));
    any->value.len = protobuf_c_message_get_packed_size(message);
    any->value.data = ms_arena_alloc(arena, any->value.len, 1);
    (void)protobuf_c_message_pack(message, any->value.data);
    return any;
}

void *ms_wire_any_unpack(const ms_pb_any *any, const ProtobufCMessageDescriptor *class,
                         const ms_wire_limits *limits, ms_arena *arena, ms_bt_status *bt)
{
    /* What stands before the last slash is where a description could be had; nobody asks there. */
    ms_str url = ms_wire_text_view(any->type_url);
    size_t name_at = 0;
    for (size_t i = 0; i < url.bytes; i++) {
        name_at = url.ptr[i] == '/' ? i + 1 : name_at;
    }
    if (!ms_str_equals(ms_str_slice(url, name_at, url.bytes), ms_str_cstr(class->name))) {
        return NULL;
    }
    return ms_wire_unpack(class, ms_wire_bytes_view(any->value), limits, arena, bt);
}

ms_pb_operation *ms_wire_operation_to_pb(ms_str name, const ProtobufCMessage *metadata,
                                         const ProtobufCMessage *response, const ms_bt_status *bt,
                                         ms_arena *arena)
{
    ms_pb_operation *message = ms_pb_new(arena, operation);
    message->name = ms_wire_text(arena, name);
    message->metadata = metadata == NULL ? NULL : ms_wire_any_to_pb(metadata, arena);
    message->done = true;
    if (ms_bt_status_is_ok(bt)) {
        message->result_case = GOOGLE__LONGRUNNING__OPERATION__RESULT_RESPONSE;
        message->response = ms_wire_any_to_pb(response, arena);
    } else {
        message->result_case = GOOGLE__LONGRUNNING__OPERATION__RESULT_ERROR;
        message->error = ms_wire_status_to_pb(bt, arena);
    }
    return message;
}
