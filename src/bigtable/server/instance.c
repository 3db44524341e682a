/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instance administration, as far as clients and tools need it: instances and their clusters, which
 * are names here. Those calls go to the store directly, since no other Bigtable is administered
 * through the client.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/server/server_priv.h"

#include "base/env.h"
#include "bigtable/store/instance.h"
#include "bigtable/wire/resource.h"
#include "bigtable/wire/time.h"

typedef struct instance_call {
    msi_call call; /* first */
    ms_bt_instance_call instance;
} instance_call;

/* Common. */

static instance_call *handler_of(msi_call *call)
{
    return (instance_call *)(void *)call;
}

static bool has_failed(instance_call *handler, const ms_bt_call *store_call)
{
    if (ms_bt_status_is_ok(&store_call->status)) {
        return false;
    }
    msi_call_finish(&handler->call, &store_call->status);
    return true;
}

static void init_call(instance_call *handler, ms_bt_done_fn done)
{
    ms_bt_instance_call_init(&handler->instance, msi_call_mailbox(&handler->call), done, handler);
}

static void submit(instance_call *handler,
                   void (*fn)(struct ms_bt_store *store, ms_bt_instance_call *call))
{
    fn(handler->call.server->store, &handler->instance);
}

static void release(msi_call *call)
{
    if (call->has_request) {
        ms_bt_instance_call_release(&handler_of(call)->instance);
    }
}

static bool set_project(instance_call *handler, const char *path)
{
    ms_bt_status bt = {0};
    if (ms_wire_project_parse(ms_wire_text_view(path), &handler->instance.instance.project, &bt) !=
        MS_BT_OK) {
        msi_call_finish(&handler->call, &bt);
        return false;
    }
    return true;
}

static bool set_instance(instance_call *handler, const char *path)
{
    ms_bt_status bt = {0};
    ms_bt_table_name name;
    if (ms_wire_instance_parse(ms_wire_text_view(path), &name, &bt) != MS_BT_OK) {
        msi_call_finish(&handler->call, &bt);
        return false;
    }
    handler->instance.instance.project = name.project;
    handler->instance.instance.id = name.instance;
    return true;
}

static bool set_cluster(instance_call *handler, const char *path)
{
    ms_bt_status bt = {0};
    ms_wire_resource name;
    if (ms_wire_resource_parse(ms_wire_text_view(path), "clusters", &name, &bt) != MS_BT_OK) {
        msi_call_finish(&handler->call, &bt);
        return false;
    }
    handler->instance.instance.project = name.project;
    handler->instance.instance.id = name.instance;
    handler->instance.cluster.id = name.id;
    return true;
}

/* Translation. */

static ms_pb_instance *instance_to_pb(const ms_bt_instance *instance, ms_arena *arena)
{
    ms_pb_instance *out =
        ms_wire_instance_to_pb(instance->project, instance->id, instance->display_name, arena);
    out->type = instance->type == GOOGLE__BIGTABLE__ADMIN__V2__INSTANCE__TYPE__DEVELOPMENT
                    ? GOOGLE__BIGTABLE__ADMIN__V2__INSTANCE__TYPE__DEVELOPMENT
                    : GOOGLE__BIGTABLE__ADMIN__V2__INSTANCE__TYPE__PRODUCTION;
    out->labels = ms_arena_array(arena, ms_pb_instance_labels_entry *, instance->label_count);
    out->n_labels = instance->label_count;
    for (size_t i = 0; i < instance->label_count; i++) {
        out->labels[i] = ms_pb_new(arena, instance_labels_entry);
        out->labels[i]->key = ms_wire_text(arena, instance->labels[i].key);
        out->labels[i]->value = ms_wire_text(arena, instance->labels[i].value);
    }
    if (instance->created_micros > 0) {
        out->create_time = ms_wire_timestamp_to_pb(instance->created_micros, arena);
    }
    return out;
}

static ms_pb_cluster *cluster_to_pb(const ms_bt_instance *instance, const ms_bt_cluster *cluster,
                                    ms_arena *arena)
{
    ms_pb_cluster *out = ms_wire_cluster_to_pb(instance->project, instance->id, cluster->id,
                                               cluster->location, arena);
    if (cluster->serve_nodes > 0) {
        out->serve_nodes = cluster->serve_nodes;
    }
    if (cluster->storage_type == GOOGLE__BIGTABLE__ADMIN__V2__STORAGE_TYPE__HDD) {
        out->default_storage_type = GOOGLE__BIGTABLE__ADMIN__V2__STORAGE_TYPE__HDD;
    }
    return out;
}

static void read_instance(const ms_pb_instance *in, ms_arena *arena, ms_bt_instance *instance)
{
    ms_bt_label *labels = ms_arena_array(arena, ms_bt_label, in->n_labels);
    for (size_t i = 0; i < in->n_labels; i++) {
        labels[i] = (ms_bt_label){ms_wire_text_view(in->labels[i]->key),
                                  ms_wire_text_view(in->labels[i]->value)};
    }
    instance->display_name = ms_wire_text_view(in->display_name);
    instance->type = (int32_t)in->type;
    instance->labels = labels;
    instance->label_count = in->n_labels;
}

/* What a request must not ask for, because it is not built; NULL: it does not. */
static const char *not_built(const ms_pb_cluster *in)
{
    if (in->config_case != GOOGLE__BIGTABLE__ADMIN__V2__CLUSTER__CONFIG__NOT_SET) {
        return "cluster_config of a cluster is not built";
    }
    if (in->node_scaling_factor ==
        GOOGLE__BIGTABLE__ADMIN__V2__CLUSTER__NODE_SCALING_FACTOR__NODE_SCALING_FACTOR_2X) {
        return "node_scaling_factor of a cluster is not built";
    }
    return in->encryption_config != NULL ? "encryption_config of a cluster is not built" : NULL;
}

/* false: it was refused, and the call is over. */
static bool read_cluster(msi_call *call, const char *id, const ms_pb_cluster *in,
                         ms_bt_cluster *cluster)
{
    *cluster = (ms_bt_cluster){.id = ms_wire_text_view(id)};
    if (in == NULL) {
        return true;
    }
    const char *reason = not_built(in);
    if (reason != NULL) {
        msi_call_fail(call, MS_BT_UNIMPLEMENTED, reason);
        return false;
    }
    cluster->location = ms_wire_text_view(in->location);
    cluster->serve_nodes = in->serve_nodes;
    cluster->storage_type = (int32_t)in->default_storage_type;
    return true;
}

/* Instances. */

static void reply_instance(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    if (!has_failed(handler, store_call)) {
        ms_pb_instance *out = instance_to_pb(handler->instance.answers[0], &handler->call.arena);
        msi_call_reply(&handler->call, &out->base);
    }
}

static void instance_created(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_pb_instance *out = instance_to_pb(handler->instance.answers[0], arena);
    ms_pb_create_instance_metadata *metadata = ms_pb_new(arena, create_instance_metadata);
    metadata->request_time = ms_wire_timestamp_to_pb(ms_env_wall_us(), arena);
    metadata->finish_time = metadata->request_time;
    msi_call_reply_operation(&handler->call, ms_str_cstr(out->name), &metadata->base, &out->base);
}

static void reply_empty(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    if (!has_failed(handler, store_call)) {
        msi_call_reply_empty(&handler->call);
    }
}

static void create_instance(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    ms_bt_instance *instance = &handler->instance.instance;
    init_call(handler, instance_created);
    ms_pb_create_instance_request *in = msi_call_request(call, create_instance_request, message);
    if (in == NULL || !set_project(handler, in->parent)) {
        return;
    }
    instance->id = ms_wire_text_view(in->instance_id);
    if (in->instance != NULL) {
        read_instance(in->instance, &call->arena, instance);
    }
    ms_bt_cluster *clusters = ms_arena_array(&call->arena, ms_bt_cluster, in->n_clusters);
    for (size_t i = 0; i < in->n_clusters; i++) {
        if (!read_cluster(call, in->clusters[i]->key, in->clusters[i]->value, &clusters[i])) {
            return;
        }
    }
    instance->clusters = clusters;
    instance->cluster_count = in->n_clusters;
    submit(handler, ms_bt_store_create_instance);
}

static void get_instance(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, reply_instance);
    ms_pb_get_instance_request *in = msi_call_request(call, get_instance_request, message);
    if (in != NULL && set_instance(handler, in->name)) {
        submit(handler, ms_bt_store_get_instance);
    }
}

static void delete_instance(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, reply_empty);
    ms_pb_delete_instance_request *in = msi_call_request(call, delete_instance_request, message);
    if (in != NULL && set_instance(handler, in->name)) {
        submit(handler, ms_bt_store_delete_instance);
    }
}

static void instances_listed(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    size_t count = handler->instance.answer_count;
    ms_pb_list_instances_response *out = ms_pb_new(arena, list_instances_response);
    out->instances = ms_arena_array(arena, ms_pb_instance *, count);
    out->n_instances = count;
    for (size_t i = 0; i < count; i++) {
        out->instances[i] = instance_to_pb(handler->instance.answers[i], arena);
    }
    msi_call_reply(&handler->call, &out->base);
}

static void list_instances(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, instances_listed);
    ms_pb_list_instances_request *in = msi_call_request(call, list_instances_request, message);
    if (in != NULL && set_project(handler, in->parent)) {
        submit(handler, ms_bt_store_list_instances);
    }
}

/* UpdateInstance: the whole instance is the request. */
static void update_instance(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, reply_instance);
    ms_pb_instance *in = msi_call_request(call, instance, message);
    if (in != NULL && set_instance(handler, in->name)) {
        read_instance(in, &call->arena, &handler->instance.instance);
        submit(handler, ms_bt_store_update_instance);
    }
}

/* PartialUpdateInstance: the instance as it is, with what the mask names replaced. */

typedef struct partial_call {
    instance_call handler; /* first */
    const ms_pb_partial_update_instance_request *request;
} partial_call;

static bool apply_mask(const ms_pb_partial_update_instance_request *in, ms_bt_instance *instance,
                       ms_arena *arena, ms_bt_status *bt)
{
    ms_bt_instance wanted = *instance;
    read_instance(in->instance, arena, &wanted);
    for (size_t i = 0; i < in->update_mask->n_paths; i++) {
        const char *path = in->update_mask->paths[i];
        if (strcmp(path, "display_name") == 0) {
            instance->display_name = wanted.display_name;
        } else if (strcmp(path, "labels") == 0) {
            instance->labels = wanted.labels;
            instance->label_count = wanted.label_count;
        } else if (strcmp(path, "type") == 0) {
            instance->type = wanted.type;
        } else {
            ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                             "Error in field 'update_mask' : an instance's \"%s\" cannot be "
                             "updated",
                             path);
            return false;
        }
    }
    return true;
}

static void partly_updated(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_pb_instance *out = instance_to_pb(handler->instance.answers[0], arena);
    ms_pb_update_instance_metadata *metadata = ms_pb_new(arena, update_instance_metadata);
    metadata->request_time = ms_wire_timestamp_to_pb(ms_env_wall_us(), arena);
    metadata->finish_time = metadata->request_time;
    msi_call_reply_operation(&handler->call, ms_str_cstr(out->name), &metadata->base, &out->base);
}

static void partial_found(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    msi_call *call = &handler->call;
    ms_bt_status bt = {0};
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_bt_instance next = *ms_bt_instance_copy(&call->arena, handler->instance.answers[0]);
    if (!apply_mask(((partial_call *)(void *)call)->request, &next, &call->arena, &bt)) {
        msi_call_finish(call, &bt);
        return;
    }
    ms_bt_instance_call_release(&handler->instance);
    init_call(handler, partly_updated);
    handler->instance.instance = next;
    submit(handler, ms_bt_store_update_instance);
}

static void partial_update(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, partial_found);
    ms_pb_partial_update_instance_request *in =
        msi_call_request(call, partial_update_instance_request, message);
    if (in == NULL) {
        return;
    }
    if (in->instance == NULL || in->update_mask == NULL || in->update_mask->n_paths == 0) {
        msi_call_fail(call, MS_BT_INVALID_ARGUMENT, "instance and update_mask must be set");
        return;
    }
    if (set_instance(handler, in->instance->name)) {
        ((partial_call *)(void *)call)->request = in;
        submit(handler, ms_bt_store_get_instance);
    }
}

/* Clusters. */

static void reply_cluster_operation(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_pb_cluster *out =
        cluster_to_pb(handler->instance.answers[0], &handler->instance.cluster, arena);
    ms_pb_create_cluster_metadata *metadata = ms_pb_new(arena, create_cluster_metadata);
    metadata->request_time = ms_wire_timestamp_to_pb(ms_env_wall_us(), arena);
    metadata->finish_time = metadata->request_time;
    msi_call_reply_operation(&handler->call, ms_str_cstr(out->name), &metadata->base, &out->base);
}

static void create_cluster(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, reply_cluster_operation);
    ms_pb_create_cluster_request *in = msi_call_request(call, create_cluster_request, message);
    if (in != NULL && set_instance(handler, in->parent) &&
        read_cluster(call, in->cluster_id, in->cluster, &handler->instance.cluster)) {
        submit(handler, ms_bt_store_create_cluster);
    }
}

static void cluster_found(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    if (has_failed(handler, store_call)) {
        return;
    }
    const ms_bt_instance *instance = handler->instance.answers[0];
    for (size_t i = 0; i < instance->cluster_count; i++) {
        if (ms_str_equals(instance->clusters[i].id, handler->instance.cluster.id)) {
            ms_pb_cluster *out =
                cluster_to_pb(instance, &instance->clusters[i], &handler->call.arena);
            msi_call_reply(&handler->call, &out->base);
            return;
        }
    }
    msi_call_fail(&handler->call, MS_BT_NOT_FOUND, "The instance has no such cluster");
}

static void get_cluster(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, cluster_found);
    ms_pb_get_cluster_request *in = msi_call_request(call, get_cluster_request, message);
    if (in != NULL && set_cluster(handler, in->name)) {
        submit(handler, ms_bt_store_get_instance);
    }
}

static void delete_cluster(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, reply_empty);
    ms_pb_delete_cluster_request *in = msi_call_request(call, delete_cluster_request, message);
    if (in != NULL && set_cluster(handler, in->name)) {
        submit(handler, ms_bt_store_delete_cluster);
    }
}

static void clusters_listed(ms_bt_call *store_call, void *arg)
{
    instance_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < handler->instance.answer_count; i++) {
        count += handler->instance.answers[i]->cluster_count;
    }
    ms_pb_list_clusters_response *out = ms_pb_new(arena, list_clusters_response);
    out->clusters = ms_arena_array(arena, ms_pb_cluster *, count);
    for (size_t i = 0; i < handler->instance.answer_count; i++) {
        const ms_bt_instance *instance = handler->instance.answers[i];
        for (size_t j = 0; j < instance->cluster_count; j++) {
            out->clusters[out->n_clusters++] =
                cluster_to_pb(instance, &instance->clusters[j], arena);
        }
    }
    msi_call_reply(&handler->call, &out->base);
}

static void list_clusters(msi_call *call, ms_str message)
{
    instance_call *handler = handler_of(call);
    init_call(handler, clusters_listed);
    ms_pb_list_clusters_request *in = msi_call_request(call, list_clusters_request, message);
    if (in == NULL) {
        return;
    }
    /* "projects/P/instances/-" asks for those of all instances. */
    ms_str parent = ms_wire_text_view(in->parent);
    ms_str all = ms_str_lit("/instances/-");
    if (ms_str_ends_with(parent, all)) {
        char *project =
            ms_wire_text(&call->arena, ms_str_slice(parent, 0, parent.bytes - all.bytes));
        if (set_project(handler, project)) {
            submit(handler, ms_bt_store_list_instances);
        }
        return;
    }
    if (set_instance(handler, in->parent)) {
        submit(handler, ms_bt_store_get_instance);
    }
}

/* The table. */

#define SERVICE "/google.bigtable.admin.v2.BigtableInstanceAdmin/"
#define METHOD(name, type, function)                                                               \
    {                                                                                              \
        .path = SERVICE name, .bytes = sizeof(type), .begin = function, .release = release         \
    }

const msi_method msi_methods_instance[] = {
    METHOD("CreateInstance", instance_call, create_instance),
    METHOD("GetInstance", instance_call, get_instance),
    METHOD("ListInstances", instance_call, list_instances),
    METHOD("UpdateInstance", instance_call, update_instance),
    METHOD("PartialUpdateInstance", partial_call, partial_update),
    METHOD("DeleteInstance", instance_call, delete_instance),
    METHOD("CreateCluster", instance_call, create_cluster),
    METHOD("GetCluster", instance_call, get_cluster),
    METHOD("ListClusters", instance_call, list_clusters),
    METHOD("DeleteCluster", instance_call, delete_cluster),
};
const size_t msi_methods_instance_count =
    sizeof(msi_methods_instance) / sizeof(msi_methods_instance[0]);
