/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of messages. The first byte chooses a class, the rest is the message, or, with an odd
 * second byte, chooses what is in it. What the scan passes must unpack, come back from its own
 * bytes, and go through the translation that its class has, there and back, without a fault.
 */
#include "base/memory.h"
#include "bigtable/wire/change_merge.h"
#include "bigtable/wire/filter.h"
#include "bigtable/wire/header.h"
#include "bigtable/wire/mutation.h"
#include "bigtable/wire/profile.h"
#include "bigtable/wire/range.h"
#include "bigtable/wire/resource.h"
#include "bigtable/wire/row.h"
#include "bigtable/wire/rpc_status.h"
#include "bigtable/wire/schema.h"
#include "bigtable/wire/time.h"
#include "bigtable/wire/wire_random.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MESSAGE_BYTES_MAX (64u << 20)

static ms_arena arena;
static ms_bt_status bt;

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

static ms_str packed(const ProtobufCMessage *message)
{
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, MESSAGE_BYTES_MAX);
    demand(ms_wire_pack(message, &buf, &st) == MS_OK);
    ms_str copy = ms_arena_copy_str(&arena, ms_buf_view(&buf));
    ms_buf_release(&buf);
    return copy;
}

/* Translations: each takes a message of its class; what is refused is, what is not comes back. */

static void try_filter(const void *message)
{
    const ms_bt_filter *filter = ms_wire_filter_from_pb(message, &arena);
    ms_str bytes = packed(&ms_wire_filter_to_pb(filter, &arena)->base);
    demand(bytes.bytes == ms_bt_filter_wire_bytes(filter));
    (void)ms_bt_filter_check(filter, &bt);
}

static void try_read_rows(const void *message)
{
    const ms_pb_read_rows_request *request = message;
    ms_bt_row_set set = ms_wire_row_set_from_pb(request->rows, &arena);
    (void)ms_wire_row_set_to_pb(&set, &arena);
    (void)ms_bt_row_set_check(&set, &bt);
    if (request->filter != NULL) {
        try_filter(request->filter);
    }
}

static void try_mutate_row(const void *message)
{
    const ms_pb_mutate_row_request *request = message;
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, MESSAGE_BYTES_MAX);
    if (ms_wire_mutations_from_pb(ms_wire_bytes_view(request->row_key), request->mutations,
                                  request->n_mutations, &batch, &bt) == MS_BT_OK) {
        size_t count;
        (void)ms_wire_mutations_to_pb(&batch, &arena, &count);
        demand(count == request->n_mutations);
        (void)ms_bt_mutation_batch_check(&batch, 1000, &bt);
    }
    ms_bt_mutation_batch_release(&batch);
}

static void try_rules(const void *message)
{
    const ms_pb_read_modify_write_row_request *request = message;
    const ms_bt_rule *rules;
    if (ms_wire_rules_from_pb(request->rules, request->n_rules, &arena, &rules, &bt) == MS_BT_OK) {
        (void)ms_wire_rules_to_pb(rules, request->n_rules, &arena);
    }
}

static void try_create_table(const void *message)
{
    ms_bt_table table;
    if (ms_wire_create_table_from_pb(message, &arena, &table, &bt) == MS_BT_OK) {
        (void)packed(&ms_wire_create_table_to_pb(&table, &arena)->base);
        (void)ms_bt_table_check(&table, &bt);
    }
}

static void try_table(const void *message)
{
    ms_bt_table table;
    if (ms_wire_table_from_pb(message, &arena, &table, &bt) == MS_BT_OK) {
        (void)packed(&ms_wire_table_to_pb(&table, MS_WIRE_TABLE_FULL, &arena)->base);
    }
}

static void try_update_table(const void *message)
{
    ms_bt_table table;
    uint32_t mask;
    if (ms_wire_update_table_from_pb(message, &arena, &table, &mask, &bt) == MS_BT_OK) {
        (void)packed(&ms_wire_update_table_to_pb(&table, mask, &arena)->base);
    }
}

static void try_modify_families(const void *message)
{
    const ms_pb_modify_column_families_request *request = message;
    for (size_t i = 0; i < request->n_modifications; i++) {
        ms_wire_family_action action;
        ms_bt_family family;
        if (ms_wire_modification_from_pb(request->modifications[i], &arena, &action, &family,
                                         &bt) == MS_BT_OK) {
            (void)packed(&ms_wire_modification_to_pb(action, &family, &arena)->base);
        }
    }
}

static void try_profile(const void *message)
{
    ms_bt_profile profile;
    if (ms_wire_profile_from_pb(message, &arena, &profile, &bt) == MS_BT_OK) {
        ms_bt_profile back;
        demand(ms_wire_profile_from_pb(ms_wire_profile_to_pb(&profile, &arena), &arena, &back,
                                       &bt) == MS_BT_OK);
        (void)ms_bt_profile_check(&profile, &bt);
    }
}

static void try_update_profile(const void *message)
{
    const ms_bt_profile current = {.project = {"p", 1},
                                   .instance = {"i", 1},
                                   .id = {"x", 1},
                                   .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
                                   .cluster = {"c", 1}};
    ms_bt_profile profile;
    if (ms_wire_update_profile_from_pb(message, &current, &arena, &profile, &bt) == MS_BT_OK) {
        (void)ms_wire_update_profile_to_pb(&profile, &arena);
    }
}

/* What is taken comes back. */
static void try_tokens(const ms_pb_stream_continuation_tokens *tokens)
{
    for (size_t i = 0; i < tokens->n_tokens; i++) {
        ms_bt_change_token token;
        ms_bt_change_token back;
        ms_bt_status_clear(&bt);
        if (ms_wire_token_from_pb(tokens->tokens[i], &token, &bt) == MS_BT_OK) {
            demand(ms_wire_token_from_pb(ms_wire_token_to_pb(&token, &arena), &back, &bt) ==
                   MS_BT_OK);
            demand(ms_str_equals(back.token, token.token) &&
                   ms_bt_range_equals(&back.partition, &token.partition));
        }
    }
}

static void try_change_request(const void *message)
{
    const ms_pb_read_change_stream_request *request = message;
    ms_bt_range partition;
    if (ms_wire_partition_from_pb(request->partition, &partition, &bt) == MS_BT_OK) {
        (void)ms_wire_partition_to_pb(&partition, &arena);
    }
    (void)ms_wire_timestamp_micros(request->end_time);
    (void)ms_wire_duration_micros(request->heartbeat_duration);
    if (request->start_from_case ==
        GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_REQUEST__START_FROM_CONTINUATION_TOKENS) {
        try_tokens(request->continuation_tokens);
    }
}

static void try_row(const void *message)
{
    ms_bt_page page;
    ms_bt_page_init(&page);
    if (ms_wire_row_from_pb(message, &page, &arena, &bt) == MS_BT_OK && page.row_count > 0) {
        (void)packed(&ms_wire_row_to_pb(&page, &page.rows[0], &arena)->base);
    }
    ms_bt_page_release(&page);
}

static void try_status(const void *message)
{
    const ms_pb_rpc_status *status = message;
    ms_wire_status decoded;
    demand(ms_wire_status_decode(packed(&status->base), &arena, &decoded));
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, MESSAGE_BYTES_MAX);
    demand(ms_wire_status_encode(&decoded, &arena, &buf, &st) == MS_OK);
    ms_buf_release(&buf);
}

static void try_change(const void *message)
{
    ms_wire_change_merger merger;
    ms_bt_change_page page;
    ms_wire_change_merger_init(&merger);
    ms_bt_change_page_init(&page);
    /* Twice: a change may go on. */
    if (ms_wire_change_merger_read(&merger, message, &page, &bt) == MS_BT_OK) {
        (void)ms_wire_change_merger_read(&merger, message, &page, &bt);
    }
    (void)ms_wire_change_merger_end(&merger, &bt);
    ms_bt_change_page_release(&page);
    ms_wire_change_merger_release(&merger);
}

static void try_translation(const ProtobufCMessageDescriptor *class, const void *message)
{
    const struct {
        const ProtobufCMessageDescriptor *class;
        void (*try)(const void *message);
    } translations[] = {
        {ms_pb_row_filter_class(), try_filter},
        {ms_pb_read_rows_request_class(), try_read_rows},
        {ms_pb_mutate_row_request_class(), try_mutate_row},
        {ms_pb_read_modify_write_row_request_class(), try_rules},
        {ms_pb_create_table_request_class(), try_create_table},
        {ms_pb_table_class(), try_table},
        {ms_pb_update_table_request_class(), try_update_table},
        {ms_pb_modify_column_families_request_class(), try_modify_families},
        {ms_pb_app_profile_class(), try_profile},
        {ms_pb_update_app_profile_request_class(), try_update_profile},
        {ms_pb_read_change_stream_request_class(), try_change_request},
        {ms_pb_row_class(), try_row},
        {ms_pb_rpc_status_class(), try_status},
        {ms_pb_read_change_stream_response_class(), try_change},
    };
    for (size_t i = 0; i < sizeof(translations) / sizeof(translations[0]); i++) {
        if (translations[i].class == class) {
            ms_bt_status_clear(&bt);
            translations[i].try(message);
        }
    }
}

/* Headers and paths have no class. */
static void try_texts(ms_str text)
{
    uint32_t features;
    ms_wire_resource resource;
    (void)ms_wire_features_decode(text, &features);
    (void)ms_wire_resource_parse(text, "appProfiles", &resource, &bt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 2) {
        return 0;
    }
    const ProtobufCMessageDescriptor *class = wire_classes[data[0] % WIRE_CLASS_COUNT];
    ms_arena_init(&arena, 0);
    ms_bt_status_clear(&bt);
    ms_str text = ms_str_make((const char *)data + 2, bytes - 2);
    try_texts(text);
    if (data[1] % 2 != 0) {
        wire_choices c = {.bytes = data + 2, .left = bytes - 2, .arena = &arena};
        text = packed(wire_pick_message(&c, class, 6));
    }
    ms_bt_status_clear(&bt);
    if (ms_wire_check(class, text, &ms_wire_request_limits, &bt) == MS_BT_OK) {
        const ProtobufCMessage *message =
            ms_wire_unpack(class, text, &ms_wire_request_limits, &arena, &bt);
        demand(message != NULL);
        ms_str again = packed(message);
        const ProtobufCMessage *back =
            ms_wire_unpack(class, again, &ms_wire_request_limits, &arena, &bt);
        demand(back != NULL && ms_str_equals(packed(back), again));
        try_translation(class, message);
    }
    ms_arena_release(&arena);
    return 0;
}
