/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of app profiles over gRPC. The rules of repeating are those of tables
 * (grpc_admin.c); an update is an operation whose end is asked after.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/client/grpc_call.h"

#include "bigtable/wire/profile.h"
#include "bigtable/wire/resource.h"

#include <stdlib.h>

#define SERVICE "/google.bigtable.admin.v2.BigtableInstanceAdmin/"

static ms_bt_profile_call *call_of(msi_op *op)
{
    return ms_bt_call_profile(((msi_unary *)(void *)op)->call);
}

static char *profile_path(const ms_bt_profile *profile, ms_arena *arena)
{
    return ms_wire_resource_path(arena, profile->project, profile->instance, "appProfiles",
                                 profile->id);
}

/* Answers. */

static ms_bt_code keep_profile(msi_op *op, const ms_pb_app_profile *message, ms_bt_status *bt)
{
    msi_unary *unary = (msi_unary *)(void *)op;
    ms_bt_profile_call *call = call_of(op);
    ms_bt_profile *profile = ms_arena_new(&call->answer, ms_bt_profile);
    MS_BT_TRY(ms_wire_profile_from_pb(message, &call->answer, profile, bt));
    const ms_bt_profile **list =
        msi_unary_list(unary, call->answer_count, sizeof(*list), &call->answer);
    list[call->answer_count++] = profile;
    call->answers = list;
    return MS_BT_OK;
}

static ms_bt_code profile_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    ms_pb_app_profile *in =
        ms_pb_unpack(app_profile, message, &ms_wire_response_limits, &call_of(op)->answer, bt);
    return in == NULL ? bt->code : keep_profile(op, in, bt);
}

/* Requests. */

static ms_bt_code create_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_create_app_profile_request *out =
        ms_wire_create_profile_to_pb(&call_of(op)->profile, arena);
    out->ignore_warnings = true;
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code get_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_get_app_profile_request *out = ms_pb_new(arena, get_app_profile_request);
    out->name = profile_path(&call_of(op)->profile, arena);
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code delete_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_delete_app_profile_request *out = ms_pb_new(arena, delete_app_profile_request);
    out->name = profile_path(&call_of(op)->profile, arena);
    out->ignore_warnings = true;
    return msi_unary_pack(&out->base, message, bt);
}

/* Lists, page after page. */

static ms_bt_code list_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    const ms_bt_profile *profile = &call_of(op)->profile;
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_list_app_profiles_request *out = ms_pb_new(arena, list_app_profiles_request);
    out->parent = ms_wire_instance_path(arena, profile->project, profile->instance);
    out->page_token = ms_wire_text(arena, ((msi_unary *)(void *)op)->page_token);
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code list_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    ms_pb_list_app_profiles_response *in = ms_pb_unpack(
        list_app_profiles_response, message, &ms_wire_response_limits, &call_of(op)->answer, bt);
    if (in == NULL) {
        return bt->code;
    }
    for (size_t i = 0; i < in->n_app_profiles; i++) {
        MS_BT_TRY(keep_profile(op, in->app_profiles[i], bt));
    }
    ((msi_unary *)(void *)op)->page_token = ms_wire_text_view(in->next_page_token);
    return MS_BT_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const ms_bt_profile *const *left = a;
    const ms_bt_profile *const *right = b;
    return ms_str_compare((*left)->id, (*right)->id);
}

static msi_op_next list_end(msi_op *op)
{
    const ms_bt_profile_call *call = call_of(op);
    msi_op_next next = msi_unary_pages_end(op);
    if (next == MSI_OP_FINISH && call->answer_count > 0) {
        qsort(((msi_unary *)(void *)op)->list, call->answer_count, sizeof(void *), compare_ids);
    }
    return next;
}

/* Updates. */

static ms_bt_code update_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    if (msi_unary_is_polling(op)) {
        return msi_unary_poll_request(op, message, bt);
    }
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_update_app_profile_request *out =
        ms_wire_update_profile_to_pb(&call_of(op)->profile, arena);
    out->ignore_warnings = true;
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code update_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    ms_arena *answer = &call_of(op)->answer;
    ms_pb_any *response = NULL;
    MS_BT_TRY(msi_unary_operation(op, message, answer, &response, bt));
    if (response == NULL) {
        return MS_BT_OK;
    }
    ms_pb_app_profile *profile = ms_wire_any_unpack(response, ms_pb_app_profile_class(),
                                                    &ms_wire_response_limits, answer, bt);
    return profile == NULL ? bt->code : keep_profile(op, profile, bt);
}

/* Classes. */

static const msi_op_class create_profile = {.path = SERVICE "CreateAppProfile",
                                            .is_admin = true,
                                            .policy = MSI_CHANGING_POLICY,
                                            .request = create_request,
                                            .message = msi_unary_ignore,
                                            .finish = msi_unary_finish};
static const msi_op_class get_profile = {.path = SERVICE "GetAppProfile",
                                         .is_admin = true,
                                         .policy = MSI_LOOKING_POLICY,
                                         .request = get_request,
                                         .message = profile_message,
                                         .finish = msi_unary_finish};
static const msi_op_class list_profiles = {.path = SERVICE "ListAppProfiles",
                                           .is_admin = true,
                                           .policy = MSI_LOOKING_POLICY,
                                           .request = list_request,
                                           .message = list_message,
                                           .end = list_end,
                                           .finish = msi_unary_finish};
static const msi_op_class update_profile = {.path = SERVICE "UpdateAppProfile",
                                            .is_admin = true,
                                            .policy = MSI_CHANGING_POLICY,
                                            .request = update_request,
                                            .message = update_message,
                                            .end = msi_unary_operation_end,
                                            .finish = msi_unary_finish};
static const msi_op_class delete_profile = {.path = SERVICE "DeleteAppProfile",
                                            .is_admin = true,
                                            .policy = MSI_CHANGING_POLICY,
                                            .request = delete_request,
                                            .message = msi_unary_ignore,
                                            .finish = msi_unary_finish};

static const msi_op_class *class_of_kind(ms_bt_call_kind kind)
{
    static const msi_op_class *const classes[] = {
        [MS_BT_CALL_CREATE_PROFILE] = &create_profile,
        [MS_BT_CALL_GET_PROFILE] = &get_profile,
        [MS_BT_CALL_LIST_PROFILES] = &list_profiles,
        [MS_BT_CALL_UPDATE_PROFILE] = &update_profile,
        [MS_BT_CALL_DELETE_PROFILE] = &delete_profile,
    };
    MS_ASSERT(kind < sizeof(classes) / sizeof(classes[0]) && classes[kind] != NULL);
    return classes[kind];
}

void msi_grpc_profile(msi_grpc *grpc, ms_bt_call *base)
{
    const ms_bt_profile *profile = &ms_bt_call_profile(base)->profile;
    msi_unary *unary = msi_unary_create(grpc, class_of_kind(base->kind), base);
    msi_op *op = &unary->op;
    bool is_of_instance =
        base->kind == MS_BT_CALL_CREATE_PROFILE || base->kind == MS_BT_CALL_LIST_PROFILES;
    char *path = is_of_instance
                     ? ms_wire_instance_path(&op->arena, profile->project, profile->instance)
                     : profile_path(profile, &op->arena);
    msi_op_set_params(op, is_of_instance ? "parent" : "name", ms_str_cstr(path), (ms_str){NULL, 0});
    msi_op_start(op);
}
