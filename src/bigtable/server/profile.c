/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of app profiles.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/server/server_priv.h"

#include "bigtable/wire/profile.h"
#include "bigtable/wire/resource.h"

typedef struct profile_call {
    msi_call call; /* first */
    ms_bt_profile_call profile;
    const ms_pb_update_app_profile_request *update;
    ms_str after; /* ListAppProfiles: the last id of the page before; empty: none */
    size_t page_size;
} profile_call;

static profile_call *handler_of(msi_call *call)
{
    return (profile_call *)(void *)call;
}

static bool has_failed(profile_call *handler, const ms_bt_call *store_call)
{
    handler->call.store_call = NULL;
    if (ms_bt_status_is_ok(&store_call->status)) {
        return false;
    }
    msi_call_finish(&handler->call, &store_call->status);
    return true;
}

static void init_call(profile_call *handler, ms_bt_done_fn done)
{
    ms_bt_profile_call_init(&handler->profile, msi_call_mailbox(&handler->call), done, handler);
}

static void submit(profile_call *handler,
                   void (*fn)(ms_bt_client *client, ms_bt_profile_call *call))
{
    handler->call.store_call = &handler->profile.call;
    fn(handler->call.server->client, &handler->profile);
}

static void release(msi_call *call)
{
    if (call->has_request) {
        ms_bt_profile_call_release(&handler_of(call)->profile);
    }
}

/* Names the profile by its path; false when the call is over. */
static bool set_name(profile_call *handler, const char *path)
{
    ms_wire_resource name;
    ms_bt_status bt = {0};
    if (ms_wire_resource_parse(ms_wire_text_view(path), "appProfiles", &name, &bt) != MS_BT_OK) {
        msi_call_finish(&handler->call, &bt);
        return false;
    }
    handler->profile.profile.project = name.project;
    handler->profile.profile.instance = name.instance;
    handler->profile.profile.id = name.id;
    return true;
}

/* Answers. */

static void done_profile(ms_bt_call *store_call, void *arg)
{
    profile_call *handler = arg;
    if (!has_failed(handler, store_call)) {
        msi_call_reply(
            &handler->call,
            &ms_wire_profile_to_pb(handler->profile.answers[0], &handler->call.arena)->base);
    }
}

static void created(ms_bt_call *store_call, void *arg)
{
    profile_call *handler = arg;
    if (!has_failed(handler, store_call)) {
        msi_call_reply(
            &handler->call,
            &ms_wire_profile_to_pb(&handler->profile.profile, &handler->call.arena)->base);
    }
}

static void deleted(ms_bt_call *store_call, void *arg)
{
    profile_call *handler = arg;
    if (!has_failed(handler, store_call)) {
        msi_call_reply_empty(&handler->call);
    }
}

static void listed(ms_bt_call *store_call, void *arg)
{
    profile_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    const ms_bt_profile *const *profiles = handler->profile.answers;
    size_t count = handler->profile.answer_count;
    size_t next = 0;
    while (next < count && handler->after.bytes > 0 &&
           ms_str_compare(profiles[next]->id, handler->after) <= 0) {
        next++;
    }
    size_t end = next + (count - next < handler->page_size ? count - next : handler->page_size);
    ms_pb_list_app_profiles_response *out = ms_pb_new(arena, list_app_profiles_response);
    out->app_profiles = ms_arena_array(arena, ms_pb_app_profile *, end - next);
    while (next < end) {
        out->app_profiles[out->n_app_profiles++] = ms_wire_profile_to_pb(profiles[next++], arena);
    }
    if (end < count) {
        out->next_page_token = ms_wire_text(arena, profiles[end - 1]->id);
    }
    msi_call_reply(&handler->call, &out->base);
}

/* Requests. */

static void create_profile(msi_call *call, ms_str message)
{
    profile_call *handler = handler_of(call);
    ms_bt_status bt = {0};
    init_call(handler, created);
    ms_pb_create_app_profile_request *in =
        msi_call_request(call, create_app_profile_request, message);
    if (in == NULL) {
        return;
    }
    if (ms_wire_create_profile_from_pb(in, &call->arena, &handler->profile.profile, &bt) !=
        MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    submit(handler, ms_bt_client_create_profile);
}

static void get_profile(msi_call *call, ms_str message)
{
    profile_call *handler = handler_of(call);
    init_call(handler, done_profile);
    ms_pb_get_app_profile_request *in = msi_call_request(call, get_app_profile_request, message);
    if (in != NULL && set_name(handler, in->name)) {
        submit(handler, ms_bt_client_get_profile);
    }
}

static void delete_profile(msi_call *call, ms_str message)
{
    profile_call *handler = handler_of(call);
    init_call(handler, deleted);
    ms_pb_delete_app_profile_request *in =
        msi_call_request(call, delete_app_profile_request, message);
    if (in == NULL || !set_name(handler, in->name)) {
        return;
    }
    if (!in->ignore_warnings) {
        msi_call_fail(call, MS_BT_FAILED_PRECONDITION,
                      "Clients that use the profile will fail; set ignore_warnings to delete it");
        return;
    }
    submit(handler, ms_bt_client_delete_profile);
}

static void list_profiles(msi_call *call, ms_str message)
{
    profile_call *handler = handler_of(call);
    ms_bt_table_name instance;
    ms_bt_status bt = {0};
    init_call(handler, listed);
    ms_pb_list_app_profiles_request *in =
        msi_call_request(call, list_app_profiles_request, message);
    if (in == NULL) {
        return;
    }
    if (in->page_size < 0) {
        msi_call_fail(call, MS_BT_INVALID_ARGUMENT,
                      "Error in field 'page_size' : must not be negative");
        return;
    }
    if (ms_wire_instance_parse(ms_wire_text_view(in->parent), &instance, &bt) != MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    handler->after = ms_wire_text_view(in->page_token);
    handler->page_size = in->page_size == 0 ? SIZE_MAX : (size_t)in->page_size;
    handler->profile.profile.project = instance.project;
    handler->profile.profile.instance = instance.instance;
    submit(handler, ms_bt_client_list_profiles);
}

/* An update is the profile as it is, with what the mask names replaced. */

static void updated(ms_bt_call *store_call, void *arg)
{
    profile_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_pb_update_app_profile_metadata *metadata = ms_pb_new(arena, update_app_profile_metadata);
    ms_pb_app_profile *profile = ms_wire_profile_to_pb(handler->profile.answers[0], arena);
    msi_call_reply_operation(&handler->call, ms_str_cstr(profile->name), &metadata->base,
                             &profile->base);
}

/* What the service warns of: calls that clients make with the profile would fail. */
static ms_bt_code check_warnings(const ms_bt_profile *current, const ms_bt_profile *next,
                                 ms_bt_status *bt)
{
    return current->allows_transactions && next->routing == MS_BT_ROUTING_MULTI_CLUSTER
               ? ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION,
                                  "App profile \"%.*s\" allows single-row transactions, which "
                                  "multi-cluster routing does not; set ignore_warnings to update "
                                  "it",
                                  MS_STR_ARG(current->id))
               : MS_BT_OK;
}

static void found(ms_bt_call *store_call, void *arg)
{
    profile_call *handler = arg;
    msi_call *call = &handler->call;
    ms_bt_status bt = {0};
    ms_bt_profile next;
    if (has_failed(handler, store_call)) {
        return;
    }
    const ms_bt_profile *current = ms_bt_profile_copy(&call->arena, handler->profile.answers[0]);
    if (ms_wire_update_profile_from_pb(handler->update, current, &call->arena, &next, &bt) !=
            MS_BT_OK ||
        (!handler->update->ignore_warnings && check_warnings(current, &next, &bt) != MS_BT_OK)) {
        msi_call_finish(call, &bt);
        return;
    }
    ms_bt_profile_call_release(&handler->profile);
    init_call(handler, updated);
    handler->profile.profile = next;
    submit(handler, ms_bt_client_update_profile);
}

static void update_profile(msi_call *call, ms_str message)
{
    profile_call *handler = handler_of(call);
    init_call(handler, found);
    ms_pb_update_app_profile_request *in =
        msi_call_request(call, update_app_profile_request, message);
    if (in == NULL) {
        return;
    }
    if (in->app_profile == NULL) {
        msi_call_fail(call, MS_BT_INVALID_ARGUMENT, "Error in field 'app_profile' : must be set");
        return;
    }
    if (set_name(handler, in->app_profile->name)) {
        handler->update = in;
        submit(handler, ms_bt_client_get_profile);
    }
}

/* The table. */

#define SERVICE "/google.bigtable.admin.v2.BigtableInstanceAdmin/"
#define METHOD(name, function)                                                                     \
    {                                                                                              \
        .path = SERVICE name, .bytes = sizeof(profile_call), .begin = function, .release = release \
    }

const msi_method msi_methods_profile[] = {
    METHOD("CreateAppProfile", create_profile), METHOD("GetAppProfile", get_profile),
    METHOD("ListAppProfiles", list_profiles),   METHOD("UpdateAppProfile", update_profile),
    METHOD("DeleteAppProfile", delete_profile),
};
const size_t msi_methods_profile_count =
    sizeof(msi_methods_profile) / sizeof(msi_methods_profile[0]);
