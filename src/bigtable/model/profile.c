/* SPDX-License-Identifier: Apache-2.0 */
/*
 * App profiles: copies and checks.
 */
#include "bigtable/model/profile.h"

#include "bigtable/model/name.h"

#define ID_BYTES_MAX 50u

const ms_bt_profile *ms_bt_profile_copy(ms_arena *arena, const ms_bt_profile *profile)
{
    ms_bt_profile *copy = ms_arena_array(arena, ms_bt_profile, 1);
    *copy = *profile;
    copy->project = ms_arena_copy_str(arena, profile->project);
    copy->instance = ms_arena_copy_str(arena, profile->instance);
    copy->id = ms_arena_copy_str(arena, profile->id);
    copy->description = ms_arena_copy_str(arena, profile->description);
    copy->cluster = ms_arena_copy_str(arena, profile->cluster);
    ms_str *clusters = ms_arena_array(arena, ms_str, profile->cluster_count);
    for (size_t i = 0; i < profile->cluster_count; i++) {
        clusters[i] = ms_arena_copy_str(arena, profile->clusters[i]);
    }
    copy->clusters = clusters;
    return copy;
}

static bool is_id_byte(char c, bool is_first)
{
    bool is_word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return is_word || (!is_first && (c == '-' || c == '.'));
}

ms_bt_code ms_bt_profile_id_check(ms_str id, ms_bt_status *bt)
{
    bool is_valid = id.bytes > 0 && id.bytes <= ID_BYTES_MAX;
    for (size_t i = 0; is_valid && i < id.bytes; i++) {
        is_valid = is_id_byte(id.ptr[i], i == 0);
    }
    if (is_valid) {
        return MS_BT_OK;
    }
    char text[128];
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                            "Error in field 'app_profile_id' : \"%s\" is not 1 to %u of "
                            "[_a-zA-Z0-9][-_.a-zA-Z0-9]*",
                            ms_bt_bytes_text(id, text, sizeof(text)), ID_BYTES_MAX);
}

ms_bt_code ms_bt_profile_check(const ms_bt_profile *profile, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_profile_id_check(profile->id, bt));
    if (profile->is_data_boost && profile->allows_transactions) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'data_boost_isolation_read_only' : Data Boost has "
                                "no transactional writes");
    }
    if (profile->routing == MS_BT_ROUTING_SINGLE_CLUSTER) {
        return profile->cluster.bytes > 0
                   ? MS_BT_OK
                   : ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                      "Error in field 'single_cluster_routing' : cluster_id is "
                                      "missing");
    }
    if (profile->routing != MS_BT_ROUTING_MULTI_CLUSTER) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'routing_policy' : a routing policy must be set");
    }
    if (profile->allows_transactions) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'routing_policy' : transactional writes need "
                                "single-cluster routing");
    }
    return MS_BT_OK;
}
