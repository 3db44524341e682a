/* SPDX-License-Identifier: Apache-2.0 */
/*
 * App profiles as messages, with the requests that create and change them. An etag is a digest of
 * the profile, so that nobody has to store one.
 *
 * What the model cannot express is refused (row affinity: UNIMPLEMENTED). What is merely wrong is
 * ms_bt_profile_check's to refuse.
 *
 * Ownership: results live in the arena and borrow the texts of what they were made from. Thread:
 * any.
 */
#ifndef MS_BIGTABLE_WIRE_PROFILE_H
#define MS_BIGTABLE_WIRE_PROFILE_H

#include "bigtable/model/profile.h"
#include "bigtable/wire/pb.h"

/* The name of a message is taken apart and must be one. */
ms_bt_code ms_wire_profile_from_pb(const ms_pb_app_profile *message, ms_arena *arena,
                                   ms_bt_profile *profile_out, ms_bt_status *bt);
ms_pb_app_profile *ms_wire_profile_to_pb(const ms_bt_profile *profile, ms_arena *arena);

/* CreateAppProfileRequest: name from parent and id. */
ms_bt_code ms_wire_create_profile_from_pb(const ms_pb_create_app_profile_request *message,
                                          ms_arena *arena, ms_bt_profile *profile_out,
                                          ms_bt_status *bt);
ms_pb_create_app_profile_request *ms_wire_create_profile_to_pb(const ms_bt_profile *profile,
                                                               ms_arena *arena);

/*
 * UpdateAppProfileRequest: current, with what the mask names replaced. An empty mask, or a path
 * that cannot be updated, is INVALID_ARGUMENT; an etag that is not current's is ABORTED. The
 * request that is made replaces all.
 */
ms_bt_code ms_wire_update_profile_from_pb(const ms_pb_update_app_profile_request *message,
                                          const ms_bt_profile *current, ms_arena *arena,
                                          ms_bt_profile *profile_out, ms_bt_status *bt);
ms_pb_update_app_profile_request *ms_wire_update_profile_to_pb(const ms_bt_profile *profile,
                                                               ms_arena *arena);

#endif
