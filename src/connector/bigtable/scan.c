/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning a scan: options and schema are checked, predicates become ranges, columns become
 * families.
 */
#include "connector/bigtable/scan.h"

#include "connector/bigtable/options.h"
#include "connector/bigtable/predicate.h"

#include <inttypes.h>

#define RANGES_SHOWN 16u /* EXPLAIN is for reading: of more, a count and a checksum are shown */

static ms_rc scan_push_projection(ms_scan *scan, const uint32_t *columns, uint32_t count,
                                  ms_status *st)
{
    (void)st;
    msi_bt_scan *self = (msi_bt_scan *)scan;
    ms_field *fields = ms_arena_array(self->arena, ms_field, count);
    uint32_t *kept = ms_arena_array(self->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = scan->output.columns[columns[i]];
        kept[i] = self->columns[columns[i]];
    }
    scan->output = (ms_schema){count, fields};
    self->columns = kept;
    return MS_OK;
}

static ms_rc scan_push_filters(ms_scan *scan, const ms_expr *const *conjuncts, uint32_t count,
                               bool *exact_out, ms_status *st)
{
    (void)st;
    msi_bt_scan *self = (msi_bt_scan *)scan;
    ms_bt_ranges *lists = ms_arena_array(self->arena, ms_bt_ranges, (size_t)count + 1);
    size_t list_count = 0;
    lists[list_count++] = self->ranges;
    for (uint32_t i = 0; i < count; i++) {
        exact_out[i] =
            msi_bt_predicate_ranges(self->arena, &self->layout, conjuncts[i], &lists[list_count]);
        list_count += exact_out[i] ? 1 : 0;
    }
    self->ranges = msi_bt_predicate_common(self->arena, lists, list_count);
    return MS_OK;
}

static void scan_push_limit(ms_scan *scan, uint64_t rows)
{
    ((msi_bt_scan *)scan)->limit = rows;
}

/* Explaining. */

static bool is_everything(const ms_bt_ranges *ranges)
{
    return ranges->count == 1 && ranges->list[0].start.kind == MS_BT_BOUND_NONE &&
           ranges->list[0].end.kind == MS_BT_BOUND_NONE;
}

/* A plan is recognized by this text: ranges that are not shown count by their checksum. */
static ms_rc describe_rest(const ms_bt_ranges *ranges, ms_buf *out, ms_status *st)
{
    size_t start = out->bytes;
    for (size_t i = RANGES_SHOWN; i < ranges->count; i++) {
        MS_TRY(ms_bt_range_render(&ranges->list[i], out, st));
    }
    uint32_t crc = ms_crc32c(0, ms_str_make(out->ptr + start, out->bytes - start));
    out->bytes = start;
    return ms_buf_format(out, st, ", and %zu more with checksum %08" PRIx32,
                         ranges->count - RANGES_SHOWN, crc);
}

static ms_rc describe_ranges(const ms_bt_ranges *ranges, ms_buf *out, ms_status *st)
{
    MS_TRY(ms_buf_append(out, ms_str_lit(", ranges=["), st));
    for (size_t i = 0; i < ranges->count && i < RANGES_SHOWN; i++) {
        MS_TRY(ms_buf_append(out, i > 0 ? ms_str_lit(", ") : ms_str_lit(""), st));
        MS_TRY(ms_bt_range_render(&ranges->list[i], out, st));
    }
    if (ranges->count > RANGES_SHOWN) {
        MS_TRY(describe_rest(ranges, out, st));
    }
    return ms_buf_append_byte(out, ']', st);
}

static ms_rc scan_describe(const ms_scan *scan, ms_buf *out, ms_status *st)
{
    const msi_bt_scan *self = (const msi_bt_scan *)scan;
    char destination[MSI_BT_DESTINATION_BYTES];
    MS_TRY(ms_buf_format(out, st, "from=[%s]",
                         msi_bt_destination_text(&self->layout.destination, destination)));
    if (!is_everything(&self->ranges)) {
        MS_TRY(describe_ranges(&self->ranges, out, st));
    }
    bool has_family = false;
    for (uint32_t i = 0; i < scan->output.column_count; i++) {
        const msi_bt_family *family = msi_bt_layout_family(&self->layout, self->columns[i]);
        if (family != NULL) {
            MS_TRY(ms_buf_format(out, st, "%s%.*s", has_family ? ", " : ", families=[",
                                 MS_STR_ARG(family->name)));
            has_family = true;
        }
    }
    MS_TRY(ms_buf_append(out, has_family ? ms_str_lit("]") : ms_str_lit(", keysOnly"), st));
    return self->limit == UINT64_MAX ? MS_OK
                                     : ms_buf_format(out, st, ", limit=[%" PRIu64 "]", self->limit);
}

/* Running. */

static ms_rc scan_prepare(const ms_scan *scan, ms_status *st)
{
    const msi_bt_scan *self = (const msi_bt_scan *)scan;
    if (self->service->open(self->service, &self->place, false, self->client, st) ==
        MS_BIGTABLE_NOT_FOUND) {
        /* A store that is not made yet answers as one that is empty, here or behind a server. */
        ms_bt_status bt = {0};
        ms_bt_instance_name_missing(&self->layout.destination, &bt);
        ms_status_clear(st);
        return msi_bt_destination_report(&self->layout.destination, "read", &bt, st);
    }
    return st->code;
}

const ms_bt_filter *msi_bt_scan_filter(ms_arena *arena, const msi_bt_scan *scan)
{
    uint32_t count = 0;
    ms_str *families = ms_arena_array(arena, ms_str, scan->scan.output.column_count);
    for (uint32_t i = 0; i < scan->scan.output.column_count; i++) {
        const msi_bt_family *family = msi_bt_layout_family(&scan->layout, scan->columns[i]);
        if (family != NULL) {
            families[count++] = family->name;
        }
    }
    if (count == 0) {
        const ms_bt_filter *keys[2] = {ms_bt_filter_cells_per_row(arena, 1),
                                       ms_bt_filter_strip_value(arena)};
        return ms_bt_filter_chain(arena, keys, 2);
    }
    const ms_bt_filter *newest[2] = {ms_bt_filter_families(arena, families, count),
                                     ms_bt_filter_cells_per_column(arena, 1)};
    return ms_bt_filter_chain(arena, newest, 2);
}

static const ms_scan_class scan_class = {
    .push_projection = scan_push_projection,
    .push_filters = scan_push_filters,
    .push_limit = scan_push_limit,
    .describe = scan_describe,
    .prepare = scan_prepare,
    .enumerator_create = msi_bt_enumerator_create,
    .reader_create = msi_bt_reader_create,
};

ms_rc msi_bt_scan_create(const ms_connector *connector, const ms_table *table, ms_plan_env *env,
                         ms_scan **scan_out, ms_status *st)
{
    (void)connector;
    msi_bt_common_options common;
    msi_bt_scan_options options;
    msi_bt_scan *self = ms_arena_new(env->arena, msi_bt_scan);
    MS_TRY(msi_bt_options_check(table, st));
    MS_TRY(msi_bt_options_common(env->arena, table, &common, st));
    MS_TRY(msi_bt_layout_make(env->arena, table, &common.destination, &common.codec, &self->layout,
                              st));
    MS_TRY(msi_bt_options_scan(env->arena, table, &options, st));
    self->scan = (ms_scan){.klass = &scan_class,
                           .output = self->layout.schema,
                           .is_bounded = true,
                           .parallelism = options.parallelism,
                           .changelog = MS_CHANGELOG_INSERT};
    self->arena = env->arena;
    self->ranges = options.ranges;
    self->app_profile = options.app_profile;
    self->limit = UINT64_MAX;
    self->place = common.place;
    self->service = env->service;
    self->client = ms_arena_new(env->arena, ms_bt_client *);
    uint32_t count = self->layout.schema.column_count;
    self->columns = ms_arena_array(env->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        self->columns[i] = i;
    }
    *scan_out = &self->scan;
    return MS_OK;
}
