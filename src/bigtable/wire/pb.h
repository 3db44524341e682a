/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of the API under short names. protoc-c makes a struct of each message of proto/, for
 * instance Google__Bigtable__V2__ReadRowsRequest; here it is ms_pb_read_rows_request. pb.def lists
 * them. Two macros make and take apart whatever is named:
 *
 *     ms_pb_read_rows_request *request = ms_pb_new(arena, read_rows_request);
 *     request->table_name = ms_wire_text(arena, path);
 *     MS_TRY(ms_pb_pack(request, &buf, st));
 *
 *     ms_pb_read_rows_request *got =
 *         ms_pb_unpack(read_rows_request, bytes, &ms_wire_request_limits, arena, bt);
 *     if (got == NULL) { bt says why }
 *
 * Messages are trees of plain structs in an arena; fields are read and written freely. A string
 * field is never NULL in an unpacked message (the empty text instead), a message field is NULL when
 * it is absent, and a oneof has a field <name>_case. Nothing is freed one by one: the arena's reset
 * is the end of them all.
 *
 * Constants and the values of oneofs keep the names that protoc-c gives.
 */
#ifndef MS_BIGTABLE_WIRE_PB_H
#define MS_BIGTABLE_WIRE_PB_H

#include "bigtable/wire/scan.h"

#include <google/bigtable/admin/v2/bigtable_instance_admin.pb-c.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.pb-c.h>
#include <google/bigtable/v2/bigtable.pb-c.h>
#include <google/bigtable/v2/feature_flags.pb-c.h>
#include <google/bigtable/v2/peer_info.pb-c.h>
#include <google/bigtable/v2/response_params.pb-c.h>
#include <google/longrunning/operations.pb-c.h>
#include <google/protobuf/wrappers.pb-c.h>
#include <google/rpc/error_details.pb-c.h>
#include <millstream/bigtable/v1/tablets.pb-c.h>

/* ms_pb_<name>, and ms_pb_<name>_class(): what protobuf-c knows of it. */
#define X(name, type, prefix)                                                                      \
    typedef type ms_pb_##name;                                                                     \
    static inline const ProtobufCMessageDescriptor *ms_pb_##name##_class(void)                     \
    {                                                                                              \
        return &prefix##__descriptor;                                                              \
    }
#include "bigtable/wire/pb.def"
#undef X

/* An empty message in the arena. */
#define ms_pb_new(arena, name) ((ms_pb_##name *)ms_wire_make((arena), ms_pb_##name##_class()))

/* Checks and unpacks; NULL when the bytes are refused, which bt then says. */
#define ms_pb_unpack(name, bytes, limits, arena, bt)                                               \
    ((ms_pb_##name *)ms_wire_unpack(ms_pb_##name##_class(), (bytes), (limits), (arena), (bt)))

/* Appends the bytes of a message to a buffer. */
#define ms_pb_pack(message, buf, st) ms_wire_pack(&(message)->base, (buf), (st))

#endif
