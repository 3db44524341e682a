/* SPDX-License-Identifier: Apache-2.0 */
/*
 * App profiles: what calls may do, and the calls that make, show, change and delete them.
 */
#include "bigtable/model/profile.h"

#include "bigtable/store/store_priv.h"

/* What every instance has unless it was changed. */
static const ms_bt_profile default_profile = {
    .id = {MS_BT_DEFAULT_PROFILE, sizeof(MS_BT_DEFAULT_PROFILE) - 1},
    .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
    .cluster = {MS_BT_LOCAL_CLUSTER, sizeof(MS_BT_LOCAL_CLUSTER) - 1},
    .allows_transactions = true,
};

static ms_bt_code refuse(const ms_bt_profile *profile, const char *what, ms_bt_status *bt)
{
    return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION, "App profile \"%.*s\" %s",
                            MS_STR_ARG(profile->id), what);
}

static ms_bt_code check_access(const ms_bt_profile *profile, msi_access access, ms_bt_status *bt)
{
    switch (access) {
    case MSI_ACCESS_READ:
        return MS_BT_OK;
    case MSI_ACCESS_POINT_READ:
        return profile->is_data_boost
                   ? refuse(profile, "is for Data Boost, which reads no single rows", bt)
                   : MS_BT_OK;
    case MSI_ACCESS_WRITE:
        return profile->is_data_boost ? refuse(profile, "is for Data Boost, which only reads", bt)
                                      : MS_BT_OK;
    case MSI_ACCESS_TRANSACTION:
        return profile->allows_transactions
                   ? MS_BT_OK
                   : ms_bt_status_set(
                         bt, MS_BT_FAILED_PRECONDITION,
                         "Single-row transactions are not allowed by this app profile");
    case MSI_ACCESS_CHANGES:
        if (profile->is_data_boost) {
            return refuse(profile, "is for Data Boost, which reads no change streams", bt);
        }
        return profile->routing == MS_BT_ROUTING_SINGLE_CLUSTER
                   ? MS_BT_OK
                   : refuse(profile, "has no single-cluster routing, which change streams need",
                            bt);
    }
    MS_UNREACHABLE();
}

/* Finding. */

/* The profile of this id in an instance that exists; NULL when it has none. */
static const ms_bt_profile *find_profile(const msi_schema *schema, const ms_bt_table_name *name,
                                         ms_str id)
{
    id = id.bytes == 0 ? default_profile.id : id;
    const ms_bt_profile *profile = msi_schema_profile(schema, name, id);
    return profile == NULL && ms_str_equals(id, default_profile.id) ? &default_profile : profile;
}

/* The first cluster of an instance; one without a record has that of the default profile. */
static ms_str first_cluster(const msi_schema *schema, const ms_bt_table_name *name)
{
    const ms_bt_instance *instance = msi_schema_instance_record(schema, name);
    return instance != NULL ? instance->clusters[0].id : default_profile.cluster;
}

/* The cluster that a profile's changes come from: its own, or the instance's first. */
static ms_str source_cluster(const msi_schema *schema, const ms_bt_table_name *name,
                             const ms_bt_profile *profile)
{
    if (profile->cluster.bytes > 0 && profile != &default_profile) {
        return profile->cluster;
    }
    if (profile->cluster_count > 0) {
        return profile->clusters[0];
    }
    return first_cluster(schema, name);
}

static ms_bt_code no_profile(const msi_schema *schema, const ms_bt_table_name *name, ms_str id,
                             ms_bt_status *bt)
{
    char text[128];
    ms_str cluster = first_cluster(schema, name);
    ms_bt_bytes_text(id, text, sizeof(text));
    return ms_bt_status_set(
        bt, MS_BT_NOT_FOUND,
        "App profile \"projects/%.*s/instances/%.*s/appProfiles/%s\" not found; "
        "this makes it: millstream bigtable create-profile %.*s/%.*s/%s "
        "--cluster %.*s",
        MS_STR_ARG(name->project), MS_STR_ARG(name->instance), text, MS_STR_ARG(name->project),
        MS_STR_ARG(name->instance), text, MS_STR_ARG(cluster));
}

ms_bt_code msi_profile_check(const msi_schema *schema, const ms_bt_table_name *name,
                             ms_str app_profile, msi_access access, ms_str *cluster_out,
                             ms_bt_status *bt)
{
    const ms_bt_profile *profile = find_profile(schema, name, app_profile);
    if (profile == NULL) {
        return no_profile(schema, name, app_profile, bt);
    }
    if (cluster_out != NULL) {
        *cluster_out = source_cluster(schema, name, profile);
    }
    return check_access(profile, access, bt);
}

/* Calls. */

static ms_bt_table_name instance_of(const ms_bt_profile *profile)
{
    return (ms_bt_table_name){profile->project, profile->instance, {NULL, 0}};
}

/* The default profile as it shows in an instance. */
static ms_bt_profile show_default(const msi_schema *schema, const ms_bt_table_name *name)
{
    ms_bt_profile shown = default_profile;
    shown.project = name->project;
    shown.instance = name->instance;
    shown.cluster = source_cluster(schema, name, &default_profile);
    return shown;
}

/* Is a cluster one of the instance's? One without a record, or that the profile makes, has one. */
static ms_bt_code check_cluster(const msi_schema *schema, const ms_bt_table_name *name,
                                ms_str cluster, ms_bt_status *bt)
{
    const ms_bt_instance *instance = msi_schema_instance_record(schema, name);
    bool is_there = instance == NULL && ms_str_equals(cluster, default_profile.cluster);
    for (size_t i = 0; instance != NULL && !is_there && i < instance->cluster_count; i++) {
        is_there = ms_str_equals(instance->clusters[i].id, cluster);
    }
    char text[128];
    return is_there ? MS_BT_OK
                    : ms_bt_status_set(bt, MS_BT_NOT_FOUND,
                                       "cluster \"projects/%.*s/instances/%.*s/clusters/%s\" "
                                       "not found",
                                       MS_STR_ARG(name->project), MS_STR_ARG(name->instance),
                                       ms_bt_bytes_text(cluster, text, sizeof(text)));
}

static ms_bt_code check_put(const msi_schema *schema, const ms_bt_profile *profile, bool is_new,
                            ms_bt_status *bt)
{
    ms_bt_table_name name = instance_of(profile);
    MS_BT_TRY(ms_bt_instance_name_check(&name, bt));
    MS_BT_TRY(ms_bt_profile_check(profile, bt));
    bool exists = msi_schema_has_instance(schema, &name)
                      ? find_profile(schema, &name, profile->id) != NULL
                      : false;
    if (exists && is_new) {
        return ms_bt_status_set(bt, MS_BT_ALREADY_EXISTS,
                                "App profile \"projects/%.*s/instances/%.*s/appProfiles/%.*s\" "
                                "already exists",
                                MS_STR_ARG(name.project), MS_STR_ARG(name.instance),
                                MS_STR_ARG(profile->id));
    }
    if (!exists && !is_new) {
        return no_profile(schema, &name, profile->id, bt);
    }
    if (profile->routing == MS_BT_ROUTING_SINGLE_CLUSTER) {
        MS_BT_TRY(check_cluster(schema, &name, profile->cluster, bt));
    }
    for (size_t i = 0; i < profile->cluster_count; i++) {
        MS_BT_TRY(check_cluster(schema, &name, profile->clusters[i], bt));
    }
    return MS_BT_OK;
}

static ms_bt_code check_delete(const msi_schema *schema, const ms_bt_profile *profile,
                               ms_bt_status *bt)
{
    ms_bt_table_name name = instance_of(profile);
    MS_BT_TRY(ms_bt_instance_name_check(&name, bt));
    if (ms_str_equals(profile->id, default_profile.id)) {
        return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION,
                                "App profile \"" MS_BT_DEFAULT_PROFILE "\" cannot be deleted");
    }
    return msi_schema_profile(schema, &name, profile->id) != NULL
               ? MS_BT_OK
               : no_profile(schema, &name, profile->id, bt);
}

static void answer_one(ms_bt_profile_call *call, const ms_bt_profile *profile)
{
    const ms_bt_profile **answers = ms_arena_array(&call->answer, const ms_bt_profile *, 1);
    answers[0] = ms_bt_profile_copy(&call->answer, profile);
    call->answers = answers;
    call->answer_count = 1;
}

bool msi_profile_change(ms_bt_store *store, ms_bt_call *base, ms_status *st)
{
    ms_bt_profile_call *call = ms_bt_call_profile(base);
    ms_bt_profile *profile = &call->profile;
    msi_schema *schema = msi_store_schema(store);
    msi_schema *next = NULL;
    ms_status refused = {0};
    if (base->kind == MS_BT_CALL_DELETE_PROFILE) {
        if (check_delete(schema, profile, &base->status) == MS_BT_OK) {
            ms_bt_table_name name = instance_of(profile);
            next = msi_schema_remove_profile(schema, msi_schema_profile(schema, &name, profile->id),
                                             store->commit.batch);
        }
    } else if (check_put(schema, profile, base->kind == MS_BT_CALL_CREATE_PROFILE, &base->status) ==
               MS_BT_OK) {
        next = msi_schema_put_profile(schema, profile, store->commit.batch, &refused);
        answer_one(call, profile);
    }
    msi_admin_finish_change(store, next, &refused, &base->status, st);
    msi_schema_drop(schema);
    return true;
}

static ms_bt_code get_profile(const msi_schema *schema, ms_bt_profile_call *call, ms_bt_status *bt)
{
    ms_bt_table_name name = instance_of(&call->profile);
    MS_BT_TRY(ms_bt_instance_name_check(&name, bt));
    if (!msi_schema_has_instance(schema, &name)) {
        return ms_bt_instance_name_missing(&name, bt);
    }
    const ms_bt_profile *profile = find_profile(schema, &name, call->profile.id);
    if (profile == NULL) {
        return no_profile(schema, &name, call->profile.id, bt);
    }
    ms_bt_profile shown = show_default(schema, &name);
    answer_one(call, profile == &default_profile ? &shown : profile);
    return MS_BT_OK;
}

static ms_bt_code list_profiles(const msi_schema *schema, ms_bt_profile_call *call,
                                ms_bt_status *bt)
{
    ms_bt_table_name name = instance_of(&call->profile);
    MS_BT_TRY(ms_bt_instance_name_check(&name, bt));
    if (!msi_schema_has_instance(schema, &name)) {
        return ms_bt_instance_name_missing(&name, bt);
    }
    size_t first = 0;
    size_t count = msi_schema_profiles(schema, &name, &first);
    const ms_bt_profile **answers = ms_arena_array(&call->answer, const ms_bt_profile *, count + 1);
    bool shows_default = msi_schema_profile(schema, &name, default_profile.id) != NULL;
    for (size_t i = 0; i <= count; i++) {
        bool is_end = i == count;
        if (!shows_default &&
            (is_end || ms_str_compare(schema->profiles[first + i]->id, default_profile.id) > 0)) {
            ms_bt_profile shown = show_default(schema, &name);
            answers[call->answer_count++] = ms_bt_profile_copy(&call->answer, &shown);
            shows_default = true;
        }
        if (!is_end) {
            answers[call->answer_count++] =
                ms_bt_profile_copy(&call->answer, schema->profiles[first + i]);
        }
    }
    call->answers = answers;
    return MS_BT_OK;
}

void msi_profile_look(ms_bt_store *store, ms_bt_call *base)
{
    ms_bt_profile_call *call = ms_bt_call_profile(base);
    msi_schema *schema = msi_store_schema(store);
    if (base->kind == MS_BT_CALL_GET_PROFILE) {
        (void)get_profile(schema, call, &base->status);
    } else {
        (void)list_profiles(schema, call, &base->status);
    }
    msi_schema_drop(schema);
    ms_bt_call_finish(base);
}
