/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning a sink: options and schema are checked, and what it says to the planner.
 */
#include "connector/bigtable/sink.h"

static ms_rc sink_negotiate(ms_sink *sink, ms_changelog input, ms_changelog *wanted_out,
                            bool *key_only_deletes_out, ms_status *st)
{
    (void)st;
    const msi_bt_sink *self = (const msi_bt_sink *)sink;
    bool is_insert_only = self->options.is_insert_only && input == MS_CHANGELOG_INSERT;
    *wanted_out = is_insert_only ? MS_CHANGELOG_INSERT : MS_CHANGELOG_UPSERT;
    /* Only a declared key says that the query's key is the row key. */
    *key_only_deletes_out = self->layout.has_primary_key;
    return MS_OK;
}

static ms_rc sink_describe(const ms_sink *sink, ms_buf *out, ms_status *st)
{
    const msi_bt_sink *self = (const msi_bt_sink *)sink;
    char destination[MSI_BT_DESTINATION_BYTES];
    MS_TRY(ms_buf_format(out, st, "to=[%s], writeMode=[upsert]",
                         msi_bt_destination_text(&self->layout.destination, destination)));
    if (!self->options.creates) {
        return MS_OK;
    }
    MS_TRY(ms_buf_append(out, ms_str_lit(", createIfNeeded=["), st));
    MS_TRY(ms_bt_gc_rule_render(self->options.gc_rule, out, st));
    return ms_buf_append_byte(out, ']', st);
}

static ms_rc sink_prepare(const ms_sink *sink, ms_status *st)
{
    const msi_bt_sink *self = (const msi_bt_sink *)sink;
    return self->service->open(self->service, &self->place, true, self->client, st);
}

static ms_rc sink_committer_create(const ms_sink *sink, const ms_task_env *env,
                                   ms_committer **committer_out, ms_status *st)
{
    (void)sink;
    (void)env;
    (void)st;
    *committer_out = NULL;
    return MS_OK;
}

static const ms_sink_class sink_class = {
    .negotiate = sink_negotiate,
    .describe = sink_describe,
    .prepare = sink_prepare,
    .writer_create = msi_bt_writer_create,
    .committer_create = sink_committer_create,
};

static ms_rc check_cells(const ms_table *table, const msi_bt_layout *layout, ms_status *st)
{
    if (layout->field_count == 0) {
        ms_status_set(st, MS_INVALID_TABLE_DEFINITION, ms_span_none,
                      "table \"%.*s\" has no column family with a qualifier, so nothing can be "
                      "written to it",
                      MS_STR_ARG(table->name));
        return ms_status_hint(st, "Declare a column such as cf ROW<q STRING>.");
    }
    if (layout->field_count >= MS_BT_LIMIT_MUTATIONS) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "table \"%.*s\" has %u qualifiers, and a row can be written with less "
                             "than %u",
                             MS_STR_ARG(table->name), layout->field_count, MS_BT_LIMIT_MUTATIONS);
    }
    return MS_OK;
}

/* What creation would be refused for is said before anything runs. */
static ms_rc check_families(const ms_table *table, const msi_bt_layout *layout, ms_status *st)
{
    for (uint32_t i = 0; i < layout->family_count; i++) {
        ms_bt_status bt = {0};
        ms_str name = layout->families[i].name;
        if (ms_bt_family_name_check(name, &bt) != MS_BT_OK) {
            ms_span span = ms_span_none;
            for (uint32_t c = 0; c < table->column_count; c++) {
                span = ms_str_equals(table->columns[c].name, name) ? table->columns[c].span : span;
            }
            ms_status_set(st, MS_INVALID_TABLE_DEFINITION, span,
                          "column family \"%.*s\" cannot be created", MS_STR_ARG(name));
            return ms_status_detail(st, "%s: %s", ms_bt_code_name(bt.code), bt.text);
        }
    }
    return MS_OK;
}

ms_rc msi_bt_sink_create(const ms_connector *connector, const ms_table *table, ms_plan_env *env,
                         const uint32_t *target_columns, uint32_t target_count, ms_sink **sink_out,
                         ms_status *st)
{
    (void)connector;
    /* Columns that the INSERT does not name come as NULL: a family is then left as it is. */
    (void)target_columns;
    (void)target_count;
    msi_bt_common_options common;
    msi_bt_sink *self = ms_arena_new(env->arena, msi_bt_sink);
    MS_TRY(msi_bt_options_check_sink_mode(table, st));
    MS_TRY(msi_bt_options_check(table, st));
    MS_TRY(msi_bt_options_common(env->arena, table, &common, st));
    MS_TRY(msi_bt_layout_make(env->arena, table, &common.destination, &common.codec, &self->layout,
                              st));
    MS_TRY(check_cells(table, &self->layout, st));
    MS_TRY(msi_bt_options_sink(env->arena, table, &self->options, st));
    if (self->options.creates) {
        MS_TRY(check_families(table, &self->layout, st));
    }
    self->sink = (ms_sink){.klass = &sink_class,
                           .input = self->layout.schema,
                           .guarantee = MS_AT_LEAST_ONCE,
                           .parallelism = self->options.parallelism};
    self->place = common.place;
    self->service = env->service;
    self->client = ms_arena_new(env->arena, ms_bt_client *);
    *sink_out = &self->sink;
    return MS_OK;
}
