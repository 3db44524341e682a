/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the json format share.
 */
#ifndef MS_FORMAT_JSON_PRIV_H
#define MS_FORMAT_JSON_PRIV_H

#include "format/format_priv.h"
#include "format/json_shim.h"

/* How timestamps are written in the documents. */
typedef enum msi_json_timestamps {
    MSI_JSON_TIMESTAMP_SQL,
    MSI_JSON_TIMESTAMP_ISO
} msi_json_timestamps;

typedef enum msi_json_null_keys {
    MSI_JSON_NULL_KEY_FAIL,
    MSI_JSON_NULL_KEY_DROP,
    MSI_JSON_NULL_KEY_LITERAL
} msi_json_null_keys;

typedef struct msi_json_options {
    bool fail_on_missing_field;
    bool ignore_parse_errors;
    bool plain_decimals;
    bool ignore_null_fields;
    msi_json_timestamps timestamps;
    msi_json_null_keys null_keys;
    ms_str null_key_literal;
} msi_json_options;

ms_rc msi_json_read_options(const ms_option_list *list, ms_arena *arena, msi_json_options *options,
                            ms_status *st) MS_MUST_USE;

/* A scalar from a token; false when it is none of the type. *null_out: it became NULL. */
bool msi_json_scalar(const msi_json_options *options, const ms_type *type, ms_str text,
                     msi_json_token token, ms_value *value_out, bool *null_out, ms_arena *arena);

/* A DATE, TIMESTAMP or TIMESTAMP_LTZ of up to six digits from the text of a string. */
bool msi_json_temporal(const msi_json_options *options, const ms_type *type, ms_str text,
                       int64_t *value_out);

/*
 * A value of any type from a node. Strings and items live in the arena. False when the node does
 * not fit; with ignore_parse_errors it becomes NULL instead.
 */
bool msi_json_value_of(const msi_json_options *options, const ms_type *type,
                       const msi_json_node *node, ms_arena *arena, ms_value *value_out);

/* MS_NOT_SUPPORTED when json cannot carry the type of a column. */
ms_rc msi_json_check_type(const ms_field *field, const ms_type *type, ms_arena *arena,
                          ms_status *st) MS_MUST_USE;

ms_rc msi_json_encoder_create(const ms_schema *schema, const ms_option_list *options,
                              ms_str time_zone, ms_encoder **encoder_out,
                              ms_status *st) MS_MUST_USE;

#endif
