/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables, families and rules of garbage collection as messages, with the requests that create and
 * change them.
 *
 * What the model cannot express is refused: a type of values that is neither plain bytes nor an
 * aggregate of 64-bit integers (UNIMPLEMENTED), a rule in a union or intersection in which nothing
 * is set, a path of an update that cannot be updated (INVALID_ARGUMENT, or UNIMPLEMENTED where the
 * service says so). What is merely wrong is the model's to refuse.
 *
 * Ownership: results live in the arena and borrow the texts of what they were made from. Thread:
 * any.
 */
#ifndef MS_BIGTABLE_WIRE_SCHEMA_H
#define MS_BIGTABLE_WIRE_SCHEMA_H

#include "bigtable/model/table.h"
#include "bigtable/wire/pb.h"

/* Rules; NULL is "keep everything" in both directions. */
ms_bt_code ms_wire_gc_rule_from_pb(const ms_pb_gc_rule *message, ms_arena *arena,
                                   const ms_bt_gc_rule **rule_out, ms_bt_status *bt);
ms_pb_gc_rule *ms_wire_gc_rule_to_pb(const ms_bt_gc_rule *rule, ms_arena *arena);

/* Families. message may be NULL: a family without rule and type. */
ms_bt_code ms_wire_family_from_pb(ms_str name, const ms_pb_column_family *message, ms_arena *arena,
                                  ms_bt_family *family_out, ms_bt_status *bt);
ms_pb_column_family *ms_wire_family_to_pb(const ms_bt_family *family, ms_arena *arena);

/* One step of ModifyColumnFamilies. The numbers are those of ms_bt_family_change_kind. */
typedef enum ms_wire_family_action {
    MS_WIRE_FAMILY_CREATE,
    MS_WIRE_FAMILY_UPDATE, /* the rule of garbage collection; a type only if it is what it was */
    MS_WIRE_FAMILY_DROP    /* the name alone */
} ms_wire_family_action;

/* INVALID_ARGUMENT for a step that says nothing, or would change a family's type. */
ms_bt_code ms_wire_modification_from_pb(const ms_pb_modify_column_families_request_modification *m,
                                        ms_arena *arena, ms_wire_family_action *action_out,
                                        ms_bt_family *family_out, ms_bt_status *bt);
ms_pb_modify_column_families_request_modification *
ms_wire_modification_to_pb(ms_wire_family_action action, const ms_bt_family *family,
                           ms_arena *arena);

/* How much of a table a message shows. */
typedef enum ms_wire_table_view {
    MS_WIRE_TABLE_NAME,
    MS_WIRE_TABLE_SCHEMA,
    MS_WIRE_TABLE_REPLICATION, /* the name and the states of clusters */
    MS_WIRE_TABLE_FULL         /* schema and the states of clusters */
} ms_wire_table_view;

/* What a request's view (enum Table.View) shows; unspecified gives fallback. INVALID_ARGUMENT for a
 * number that is none. */
ms_bt_code ms_wire_table_view_from_pb(int view, ms_wire_table_view fallback,
                                      ms_wire_table_view *view_out, ms_bt_status *bt);

/* Tables. The name of a message is checked; splits are no part of it. The states of clusters are
 * added to a message that has none: each has the table, whole. */
ms_bt_code ms_wire_table_from_pb(const ms_pb_table *message, ms_arena *arena,
                                 ms_bt_table *table_out, ms_bt_status *bt);
ms_pb_table *ms_wire_table_to_pb(const ms_bt_table *table, ms_wire_table_view view,
                                 ms_arena *arena);
bool ms_wire_table_view_has_clusters(ms_wire_table_view view);
void ms_wire_table_add_clusters(ms_pb_table *message, const ms_str *ids, size_t count,
                                ms_arena *arena);

/* CreateTableRequest: name and splits included. */
ms_bt_code ms_wire_create_table_from_pb(const ms_pb_create_table_request *message, ms_arena *arena,
                                        ms_bt_table *table_out, ms_bt_status *bt);
ms_pb_create_table_request *ms_wire_create_table_to_pb(const ms_bt_table *table, ms_arena *arena);

/* UpdateTableRequest. What is updated, as bits with the numbers of MS_BT_UPDATE_... */
#define MS_WIRE_UPDATE_CHANGE_STREAM 1u
#define MS_WIRE_UPDATE_PROTECTION 2u

ms_bt_code ms_wire_update_table_from_pb(const ms_pb_update_table_request *message, ms_arena *arena,
                                        ms_bt_table *table_out, uint32_t *mask_out,
                                        ms_bt_status *bt);
ms_pb_update_table_request *ms_wire_update_table_to_pb(const ms_bt_table *table, uint32_t mask,
                                                       ms_arena *arena);

#endif
