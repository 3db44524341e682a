/* SPDX-License-Identifier: Apache-2.0 */
/*
 * App profiles as messages. An update is carried out here, on the profile as it is, so that the
 * store needs to know whole profiles only.
 */
#include "bigtable/wire/profile.h"

#include "base/codec.h"
#include "bigtable/wire/resource.h"

#define ROUTING(name) GOOGLE__BIGTABLE__ADMIN__V2__APP_PROFILE__ROUTING_POLICY_##name
#define ISOLATION(name) GOOGLE__BIGTABLE__ADMIN__V2__APP_PROFILE__ISOLATION_##name

#define BOOST(name) GOOGLE__BIGTABLE__ADMIN__V2__APP_PROFILE__DATA_BOOST_ISOLATION_READ_ONLY__##name

#define COLLECTION "appProfiles"

/* From messages. */

static ms_bt_code routing_from_pb(const ms_pb_app_profile *message, ms_arena *arena,
                                  ms_bt_profile *profile, ms_bt_status *bt)
{
    profile->cluster = (ms_str){NULL, 0};
    profile->allows_transactions = false;
    profile->clusters = NULL;
    profile->cluster_count = 0;
    switch ((int)message->routing_policy_case) {
    case ROUTING(SINGLE_CLUSTER_ROUTING):
        profile->routing = MS_BT_ROUTING_SINGLE_CLUSTER;
        profile->cluster = ms_wire_text_view(message->single_cluster_routing->cluster_id);
        profile->allows_transactions = message->single_cluster_routing->allow_transactional_writes;
        return MS_BT_OK;
    case ROUTING(MULTI_CLUSTER_ROUTING_USE_ANY): {
        const ms_pb_app_profile_multi_cluster_routing_use_any *any =
            message->multi_cluster_routing_use_any;
        if (any->affinity_case != 0) {
            return ms_bt_status_set(bt, MS_BT_UNIMPLEMENTED,
                                    "row_affinity of an app profile is not built");
        }
        ms_str *clusters = ms_arena_array(arena, ms_str, any->n_cluster_ids);
        for (size_t i = 0; i < any->n_cluster_ids; i++) {
            clusters[i] = ms_wire_text_view(any->cluster_ids[i]);
        }
        profile->routing = MS_BT_ROUTING_MULTI_CLUSTER;
        profile->clusters = clusters;
        profile->cluster_count = any->n_cluster_ids;
        return MS_BT_OK;
    }
    default:
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'routing_policy' : a routing policy must be set");
    }
}

static ms_bt_code isolation_from_pb(const ms_pb_app_profile *message, ms_bt_profile *profile,
                                    ms_bt_status *bt)
{
    int priority = MS_BT_PRIORITY_UNSPECIFIED;
    profile->is_data_boost = false;
    switch ((int)message->isolation_case) {
    case ISOLATION(PRIORITY):
        priority = (int)message->priority;
        break;
    case ISOLATION(STANDARD_ISOLATION):
        priority = (int)message->standard_isolation->priority;
        break;
    case ISOLATION(DATA_BOOST_ISOLATION_READ_ONLY):
        profile->is_data_boost = true;
        break;
    default:
        break;
    }
    if (priority < MS_BT_PRIORITY_UNSPECIFIED || priority > MS_BT_PRIORITY_HIGH) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'isolation' : %d is no priority", priority);
    }
    profile->priority = (ms_bt_priority)priority;
    return MS_BT_OK;
}

static ms_bt_code name_from_pb(const ms_pb_app_profile *message, ms_bt_profile *profile,
                               ms_bt_status *bt)
{
    ms_wire_resource name;
    MS_BT_TRY(ms_wire_resource_parse(ms_wire_text_view(message->name), COLLECTION, &name, bt));
    profile->project = name.project;
    profile->instance = name.instance;
    profile->id = name.id;
    return MS_BT_OK;
}

/* All but the name. */
static ms_bt_code description_from_pb(const ms_pb_app_profile *message, ms_arena *arena,
                                      ms_bt_profile *profile, ms_bt_status *bt)
{
    profile->description = ms_wire_text_view(message->description);
    MS_BT_TRY(routing_from_pb(message, arena, profile, bt));
    return isolation_from_pb(message, profile, bt);
}

ms_bt_code ms_wire_profile_from_pb(const ms_pb_app_profile *message, ms_arena *arena,
                                   ms_bt_profile *profile_out, ms_bt_status *bt)
{
    *profile_out = (ms_bt_profile){.routing = MS_BT_ROUTING_SINGLE_CLUSTER};
    MS_BT_TRY(name_from_pb(message, profile_out, bt));
    return description_from_pb(message, arena, profile_out, bt);
}

/* To messages. */

static void isolation_to_pb(const ms_bt_profile *profile, ms_arena *arena,
                            ms_pb_app_profile *message)
{
    if (profile->is_data_boost) {
        ms_pb_app_profile_data_boost_isolation_read_only *boost =
            ms_pb_new(arena, app_profile_data_boost_isolation_read_only);
        boost->opt_compute_billing_owner_case =
            BOOST(OPT_COMPUTE_BILLING_OWNER_COMPUTE_BILLING_OWNER);
        boost->compute_billing_owner = BOOST(COMPUTE_BILLING_OWNER__HOST_PAYS);
        message->isolation_case = ISOLATION(DATA_BOOST_ISOLATION_READ_ONLY);
        message->data_boost_isolation_read_only = boost;
        return;
    }
    message->isolation_case = ISOLATION(STANDARD_ISOLATION);
    message->standard_isolation = ms_pb_new(arena, app_profile_standard_isolation);
    message->standard_isolation->priority =
        (Google__Bigtable__Admin__V2__AppProfile__Priority)(int)profile->priority;
}

static void routing_to_pb(const ms_bt_profile *profile, ms_arena *arena, ms_pb_app_profile *message)
{
    if (profile->routing == MS_BT_ROUTING_SINGLE_CLUSTER) {
        message->routing_policy_case = ROUTING(SINGLE_CLUSTER_ROUTING);
        message->single_cluster_routing = ms_pb_new(arena, app_profile_single_cluster_routing);
        message->single_cluster_routing->cluster_id = ms_wire_text(arena, profile->cluster);
        message->single_cluster_routing->allow_transactional_writes = profile->allows_transactions;
        return;
    }
    ms_pb_app_profile_multi_cluster_routing_use_any *any =
        ms_pb_new(arena, app_profile_multi_cluster_routing_use_any);
    any->n_cluster_ids = profile->cluster_count;
    any->cluster_ids = ms_arena_array(arena, char *, profile->cluster_count);
    for (size_t i = 0; i < profile->cluster_count; i++) {
        any->cluster_ids[i] = ms_wire_text(arena, profile->clusters[i]);
    }
    message->routing_policy_case = ROUTING(MULTI_CLUSTER_ROUTING_USE_ANY);
    message->multi_cluster_routing_use_any = any;
}

/* Without an etag. */
static ms_pb_app_profile *plain_to_pb(const ms_bt_profile *profile, ms_arena *arena)
{
    ms_pb_app_profile *message = ms_pb_new(arena, app_profile);
    message->name =
        ms_wire_resource_path(arena, profile->project, profile->instance, COLLECTION, profile->id);
    message->description = ms_wire_text(arena, profile->description);
    routing_to_pb(profile, arena, message);
    isolation_to_pb(profile, arena, message);
    return message;
}

/* Changes when anything in the profile does. */
static char *etag(const ms_pb_app_profile *plain, ms_arena *arena)
{
    size_t bytes = protobuf_c_message_get_packed_size(&plain->base);
    char *packed = ms_arena_alloc(arena, bytes, 1);
    (void)protobuf_c_message_pack(&plain->base, (uint8_t *)packed);
    return ms_wire_text(arena,
                        ms_arena_format(arena, "%08x", ms_crc32c(0, ms_str_make(packed, bytes))));
}

ms_pb_app_profile *ms_wire_profile_to_pb(const ms_bt_profile *profile, ms_arena *arena)
{
    ms_pb_app_profile *message = plain_to_pb(profile, arena);
    message->etag = etag(message, arena);
    return message;
}

/* Creating. */

ms_bt_code ms_wire_create_profile_from_pb(const ms_pb_create_app_profile_request *message,
                                          ms_arena *arena, ms_bt_profile *profile_out,
                                          ms_bt_status *bt)
{
    *profile_out = (ms_bt_profile){.routing = MS_BT_ROUTING_SINGLE_CLUSTER};
    ms_bt_table_name instance;
    MS_BT_TRY(ms_wire_instance_parse(ms_wire_text_view(message->parent), &instance, bt));
    if (message->app_profile == NULL) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'app_profile' : not set");
    }
    profile_out->project = instance.project;
    profile_out->instance = instance.instance;
    profile_out->id = ms_wire_text_view(message->app_profile_id);
    return description_from_pb(message->app_profile, arena, profile_out, bt);
}

ms_pb_create_app_profile_request *ms_wire_create_profile_to_pb(const ms_bt_profile *profile,
                                                               ms_arena *arena)
{
    ms_pb_create_app_profile_request *message = ms_pb_new(arena, create_app_profile_request);
    message->parent = ms_wire_instance_path(arena, profile->project, profile->instance);
    message->app_profile_id = ms_wire_text(arena, profile->id);
    message->app_profile = plain_to_pb(profile, arena);
    message->app_profile->name = ms_wire_text(arena, (ms_str){NULL, 0});
    return message;
}

/* Updating. */

/* What a path of a mask replaces. */
typedef enum profile_part {
    PART_NONE,
    PART_DESCRIPTION,
    PART_ROUTING,
    PART_ISOLATION
} profile_part;

static profile_part part_of(const char *path)
{
    static const struct {
        const char *path;
        profile_part part;
    } parts[] = {
        {"description", PART_DESCRIPTION},
        {"routing_policy", PART_ROUTING},
        {"single_cluster_routing", PART_ROUTING},
        {"multi_cluster_routing_use_any", PART_ROUTING},
        {"isolation", PART_ISOLATION},
        {"priority", PART_ISOLATION},
        {"standard_isolation", PART_ISOLATION},
        {"data_boost_isolation_read_only", PART_ISOLATION},
    };
    ms_str text = ms_wire_text_view(path);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        /* A path below replaces the whole: what it names is all that there is, or comes along. */
        ms_str name = ms_str_cstr(parts[i].path);
        if (ms_str_starts_with(text, name) &&
            (text.bytes == name.bytes || text.ptr[name.bytes] == '.')) {
            return parts[i].part;
        }
    }
    return PART_NONE;
}

static ms_bt_code apply(const char *path, const ms_pb_app_profile *message, ms_arena *arena,
                        ms_bt_profile *profile, ms_bt_status *bt)
{
    switch (part_of(path)) {
    case PART_DESCRIPTION:
        profile->description = ms_wire_text_view(message->description);
        return MS_BT_OK;
    case PART_ROUTING:
        return routing_from_pb(message, arena, profile, bt);
    case PART_ISOLATION:
        return isolation_from_pb(message, profile, bt);
    case PART_NONE:
        break;
    }
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                            "Error in field 'update_mask' : incorrect path '%.64s'", path);
}

ms_bt_code ms_wire_update_profile_from_pb(const ms_pb_update_app_profile_request *message,
                                          const ms_bt_profile *current, ms_arena *arena,
                                          ms_bt_profile *profile_out, ms_bt_status *bt)
{
    *profile_out = *current;
    if (message->app_profile == NULL) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'app_profile' : not set");
    }
    if (message->update_mask == NULL || message->update_mask->n_paths == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'update_mask' : not set");
    }
    ms_str sent = ms_wire_text_view(message->app_profile->etag);
    if (sent.bytes > 0 &&
        !ms_str_equals(sent, ms_str_cstr(etag(plain_to_pb(current, arena), arena)))) {
        return ms_bt_status_set(bt, MS_BT_ABORTED,
                                "The app profile has changed: its etag is not '%.64s'", sent.ptr);
    }
    for (size_t i = 0; i < message->update_mask->n_paths; i++) {
        MS_BT_TRY(
            apply(message->update_mask->paths[i], message->app_profile, arena, profile_out, bt));
    }
    return MS_BT_OK;
}

ms_pb_update_app_profile_request *ms_wire_update_profile_to_pb(const ms_bt_profile *profile,
                                                               ms_arena *arena)
{
    ms_pb_update_app_profile_request *message = ms_pb_new(arena, update_app_profile_request);
    message->app_profile = plain_to_pb(profile, arena);
    const char *routing = profile->routing == MS_BT_ROUTING_SINGLE_CLUSTER
                              ? "single_cluster_routing"
                              : "multi_cluster_routing_use_any";
    const char *isolation =
        profile->is_data_boost ? "data_boost_isolation_read_only" : "standard_isolation";
    message->update_mask = ms_pb_new(arena, field_mask);
    message->update_mask->n_paths = 3;
    message->update_mask->paths = ms_arena_array(arena, char *, 3);
    message->update_mask->paths[0] = ms_wire_text(arena, ms_str_lit("description"));
    message->update_mask->paths[1] = ms_wire_text(arena, ms_str_cstr(routing));
    message->update_mask->paths[2] = ms_wire_text(arena, ms_str_cstr(isolation));
    /* The caller knows what it replaces. */
    message->ignore_warnings = true;
    return message;
}
