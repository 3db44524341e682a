/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every option of Flink's connector is in the table, in its page's order, so that what is not built
 * is told from what is misspelled.
 */
#include "connector/bigtable/options.h"

#include "base/limits.h"
#include "base/num.h"

#define UNBUILT(name)                                                                              \
    {                                                                                              \
        .key = (name), .unsupported = true                                                         \
    }

#define MICROS_PER_MILLI 1000

const ms_option_desc msi_bt_options[MSI_BT_OPTION_COUNT] = {
    {.key = "connector", .kind = MS_OPT_STRING, .required = true},
    {.key = "project", .kind = MS_OPT_STRING, .required = true},
    {.key = "instance", .kind = MS_OPT_STRING, .required = true},
    {.key = "table", .kind = MS_OPT_STRING, .required = true},
    {.key = "emulator-endpoint", .kind = MS_OPT_STRING},
    {.key = "service-account-key-file", .kind = MS_OPT_STRING},
    {.key = "null-string-literal", .kind = MS_OPT_STRING, .fallback = "null"},
    {.key = "decode.trailing-bytes",
     .kind = MS_OPT_ENUM,
     .values = "ignore|reject",
     .fallback = "ignore"},
    /* Bounded scans. */
    {.key = "scan.mode",
     .kind = MS_OPT_ENUM,
     .values = "bounded|change-stream",
     .fallback = "bounded"},
    {.key = "scan.row-key-encoding",
     .kind = MS_OPT_ENUM,
     .values = "UTF8|BASE64",
     .fallback = "UTF8"},
    {.key = "scan.row-prefix", .kind = MS_OPT_LIST},
    {.key = "scan.row-range.start-closed", .kind = MS_OPT_STRING},
    {.key = "scan.row-range.end-open", .kind = MS_OPT_STRING},
    {.key = "scan.row-ranges", .kind = MS_OPT_STRING},
    {.key = "scan.parallelism", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
    {.key = "scan.app-profile-id", .kind = MS_OPT_STRING},
    UNBUILT("scan.max-rows-per-fetch"),
    UNBUILT("scan.max-bytes-per-fetch"),
    /* Change streams. */
    UNBUILT("scan.change-stream.changelog-mode"),
    UNBUILT("scan.change-stream.selected-cell.family"),
    UNBUILT("scan.change-stream.selected-cell.qualifier-base64"),
    UNBUILT("scan.change-stream.selected-cell.source-cluster-id"),
    UNBUILT("scan.startup.mode"),
    UNBUILT("scan.startup.timestamp-millis"),
    UNBUILT("scan.resume-fallback.mode"),
    UNBUILT("scan.resume-fallback.timestamp-millis"),
    UNBUILT("scan.bounded.timestamp-millis"),
    UNBUILT("scan.max-concurrent-streams-per-subtask"),
    UNBUILT("value.format"),
    UNBUILT("value.#.#"),
    /* Lookups. */
    UNBUILT("lookup.async"),
    UNBUILT("lookup.cache"),
    UNBUILT("lookup.max-retries"),
    UNBUILT("lookup.partial-cache.max-rows"),
    UNBUILT("lookup.partial-cache.expire-after-access"),
    UNBUILT("lookup.partial-cache.expire-after-write"),
    UNBUILT("lookup.partial-cache.cache-missing-key"),
    UNBUILT("lookup.full-cache.reload-strategy"),
    UNBUILT("lookup.full-cache.periodic-reload.interval"),
    UNBUILT("lookup.full-cache.periodic-reload.schedule-mode"),
    UNBUILT("lookup.full-cache.timed-reload.iso-time"),
    UNBUILT("lookup.full-cache.timed-reload.interval-in-days"),
    /* Sinks. */
    {.key = "sink.write-mode",
     .kind = MS_OPT_ENUM,
     .values = "upsert|insert-if-absent|keep-latest|append|increment|aggregate|conditional",
     .fallback = "upsert"},
    {.key = "sink.insert-only-input-mode",
     .kind = MS_OPT_ENUM,
     .values = "upsert|insert-only",
     .fallback = "upsert"},
    {.key = "sink.create-disposition",
     .kind = MS_OPT_ENUM,
     .values = "create-never|create-if-needed",
     .fallback = "create-never"},
    {.key = "sink.table-create.gc-rule.max-versions",
     .kind = MS_OPT_I64,
     .min = 1,
     .max = INT32_MAX},
    {.key = "sink.table-create.gc-rule.max-age",
     .kind = MS_OPT_DURATION,
     .min = 1,
     .max = INT64_MAX / MICROS_PER_MILLI},
    {.key = "sink.parallelism", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
    UNBUILT("sink.delivery-guarantee"),
    {.key = "sink.app-profile-id", .kind = MS_OPT_STRING},
    UNBUILT("sink.cell-timestamp.truncate-to-millis"),
    UNBUILT("sink.destination-idle-timeout"),
    UNBUILT("sink.max-active-instances"),
    UNBUILT("sink.metrics.per-destination"),
    UNBUILT("sink.batching.element-count-threshold"),
    UNBUILT("sink.batching.request-byte-threshold"),
    UNBUILT("sink.in-flight.max-entries"),
    UNBUILT("sink.in-flight.max-bytes"),
    UNBUILT("sink.in-flight.max-requests"),
    UNBUILT("sink.max-consecutive-rejections"),
    UNBUILT("sink.recovery.initial-backoff"),
    UNBUILT("sink.recovery.max-backoff"),
    UNBUILT("sink.recovery.max-attempts"),
    UNBUILT("sink.request-timeout"),
    UNBUILT("sink.aggregate.column-family-types"),
    UNBUILT("sink.aggregate.column-family-types.#"),
    UNBUILT("sink.map-family.update-mode"),
    UNBUILT("sink.staged.marker-family"),
    UNBUILT("sink.staged.max-entries"),
    UNBUILT("sink.staged.max-bytes"),
    UNBUILT("sink.conditional.empty-branch-policy"),
    UNBUILT("sink.conditional.row-key-column"),
    UNBUILT("sink.conditional.predicate"),
    UNBUILT("sink.conditional.predicate.family"),
    UNBUILT("sink.conditional.predicate.qualifier"),
    UNBUILT("sink.conditional.predicate.qualifier-base64"),
    UNBUILT("sink.conditional.predicate.value-column"),
    UNBUILT("sink.conditional.predicate.value-utf8"),
    UNBUILT("sink.conditional.predicate.value-base64"),
    UNBUILT("sink.conditional.predicate.value-int64"),
    UNBUILT("sink.conditional.then"),
    UNBUILT("sink.conditional.then.#.#"),
    UNBUILT("sink.conditional.otherwise"),
    UNBUILT("sink.conditional.otherwise.#.#"),
};

enum { MODE_BOUNDED, MODE_CHANGE_STREAM };
enum { WRITE_UPSERT };

static ms_rc get(const ms_table *table, const char *key, ms_option_value *value_out, ms_status *st)
{
    return ms_option_get(&table->options, msi_bt_options, MSI_BT_OPTION_COUNT, key, value_out, st);
}

/* A value that is known and not built. */
static ms_rc refuse_value(const char *key, const ms_option_value *value, ms_status *st)
{
    return ms_status_set(st, MS_NOT_SUPPORTED, value->span,
                         "'%s' = '%.*s' of connector \"bigtable\" is not supported yet", key,
                         MS_STR_ARG(value->text));
}

ms_rc msi_bt_options_check_sink_mode(const ms_table *table, ms_status *st)
{
    ms_str mode = ms_table_option(table, ms_str_lit("scan.mode"));
    if (mode.ptr != NULL && ms_str_equals_nocase(mode, ms_str_lit("change-stream"))) {
        ms_option_value value;
        MS_TRY(get(table, "scan.mode", &value, st));
        return ms_status_set(st, MS_INVALID_QUERY, value.span,
                             "table \"%.*s\" reads a change stream ('scan.mode' = "
                             "'change-stream'), so it cannot be written",
                             MS_STR_ARG(table->name));
    }
    return MS_OK;
}

ms_rc msi_bt_options_check(const ms_table *table, ms_status *st)
{
    MS_TRY(ms_options_check(&table->options, msi_bt_options, MSI_BT_OPTION_COUNT, NULL, NULL,
                            "connector \"bigtable\"", st));
    ms_option_value value;
    MS_TRY(get(table, "scan.mode", &value, st));
    if (value.i64 == MODE_CHANGE_STREAM) {
        return refuse_value("scan.mode", &value, st);
    }
    MS_TRY(get(table, "sink.write-mode", &value, st));
    return value.i64 == WRITE_UPSERT ? MS_OK : refuse_value("sink.write-mode", &value, st);
}

/* The destination. */

/* One component of the service's path. */
static ms_rc get_component(ms_arena *arena, const ms_table *table, const char *key,
                           ms_str *component_out, ms_status *st)
{
    ms_option_value value;
    MS_TRY(get(table, key, &value, st));
    const char *why = ms_str_trim(value.text).bytes == 0 ? "it must not be blank"
                      : ms_str_find_byte(value.text, '/', 0) != SIZE_MAX
                          ? "it must not contain a \"/\""
                          : NULL;
    if (why != NULL) {
        return ms_status_set(st, MS_INVALID_OPTION, value.span,
                             "option \"%s\" cannot be \"%.*s\": %s", key, MS_STR_ARG(value.text),
                             why);
    }
    *component_out = ms_arena_copy_str(arena, value.text);
    return MS_OK;
}

/* probe has stand-ins where nothing was read yet, so that what is wrong is the part just read. */
static ms_rc check_component(const ms_table *table, const char *key, const ms_bt_table_name *probe,
                             ms_status *st)
{
    ms_bt_status bt = {0};
    if (ms_bt_table_name_check(probe, &bt) == MS_BT_OK) {
        return MS_OK;
    }
    ms_option_value value;
    MS_TRY(get(table, key, &value, st));
    ms_status_set(st, MS_INVALID_OPTION, value.span,
                  "option \"%s\" cannot be \"%.*s\": the service takes no such name", key,
                  MS_STR_ARG(value.text));
    return ms_status_detail(st, "%s: %s", ms_bt_code_name(bt.code), bt.text);
}

/* Where it is. */

/* A text that is there and says something. */
static ms_rc get_not_blank(ms_arena *arena, const ms_table *table, const char *key,
                           ms_option_value *value_out, ms_status *st)
{
    MS_TRY(get(table, key, value_out, st));
    if (value_out->has_value && ms_str_trim(value_out->text).bytes == 0) {
        return ms_status_set(st, MS_INVALID_OPTION, value_out->span,
                             "option \"%s\" must not be blank", key);
    }
    value_out->text = ms_arena_copy_str(arena, value_out->text);
    return MS_OK;
}

static ms_rc check_endpoint(const ms_option_value *value, ms_status *st)
{
    size_t colon = SIZE_MAX;
    for (size_t at = ms_str_find_byte(value->text, ':', 0); at != SIZE_MAX;
         at = ms_str_find_byte(value->text, ':', at + 1)) {
        colon = at;
    }
    uint64_t port = 0;
    bool is_valid =
        colon != SIZE_MAX && colon > 0 &&
        ms_num_scan_u64(ms_str_slice(value->text, colon + 1, value->text.bytes), &port) &&
        port >= 1 && port <= UINT16_MAX;
    if (is_valid) {
        return MS_OK;
    }
    ms_status_set(st, MS_INVALID_OPTION, value->span,
                  "option \"emulator-endpoint\" cannot be \"%.*s\"", MS_STR_ARG(value->text));
    return ms_status_hint(st, "Write host:port, with a port from 1 to 65535.");
}

static ms_rc get_place(ms_arena *arena, const ms_table *table, ms_bigtable_place *place_out,
                       ms_status *st)
{
    ms_option_value endpoint;
    ms_option_value key_file;
    MS_TRY(get_not_blank(arena, table, "emulator-endpoint", &endpoint, st));
    MS_TRY(get_not_blank(arena, table, "service-account-key-file", &key_file, st));
    if (endpoint.has_value && key_file.has_value) {
        ms_status_set(st, MS_OPTION_CONFLICT, key_file.span,
                      "an emulator takes no credentials, so 'service-account-key-file' cannot go "
                      "with 'emulator-endpoint'");
        return ms_status_hint(st, "Leave one of them out.");
    }
    if (endpoint.has_value) {
        MS_TRY(check_endpoint(&endpoint, st));
        place_out->emulator_endpoint = endpoint.text;
    }
    if (key_file.has_value) {
        place_out->key_file = key_file.text;
    }
    return MS_OK;
}

ms_rc msi_bt_options_common(ms_arena *arena, const ms_table *table,
                            msi_bt_common_options *options_out, ms_status *st)
{
    *options_out = (msi_bt_common_options){0};
    ms_bt_table_name name = {ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")};
    const struct {
        const char *key;
        ms_str *part;
    } parts[] = {{"project", &name.project}, {"instance", &name.instance}, {"table", &name.table}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        MS_TRY(get_component(arena, table, parts[i].key, parts[i].part, st));
        MS_TRY(check_component(table, parts[i].key, &name, st));
    }
    options_out->destination = name;
    ms_option_value value;
    MS_TRY(get(table, "null-string-literal", &value, st));
    options_out->codec.null_literal = ms_arena_copy_str(arena, value.text);
    MS_TRY(get(table, "decode.trailing-bytes", &value, st));
    options_out->codec.rejects_tail = value.i64 != 0;
    return get_place(arena, table, &options_out->place, st);
}

/* Scans. */

static ms_rc get_text(ms_arena *arena, const ms_table *table, const char *key,
                      ms_option_value *value_out, ms_status *st)
{
    MS_TRY(get(table, key, value_out, st));
    value_out->text = ms_arena_copy_str(arena, value_out->text);
    return MS_OK;
}

static ms_rc get_parallelism(const ms_table *table, const char *key, uint32_t *parallelism_out,
                             ms_status *st)
{
    ms_option_value value;
    MS_TRY(get(table, key, &value, st));
    *parallelism_out = value.has_value ? (uint32_t)value.i64 : 0;
    return MS_OK;
}

ms_rc msi_bt_options_scan(ms_arena *arena, const ms_table *table, msi_bt_scan_options *options_out,
                          ms_status *st)
{
    *options_out = (msi_bt_scan_options){0};
    msi_bt_range_options ranges = {0};
    ms_option_value encoding;
    MS_TRY(get(table, "scan.row-key-encoding", &encoding, st));
    ranges.is_base64 = encoding.i64 != 0;
    MS_TRY(get_text(arena, table, "scan.row-prefix", &ranges.prefixes, st));
    MS_TRY(get_text(arena, table, "scan.row-range.start-closed", &ranges.start_closed, st));
    MS_TRY(get_text(arena, table, "scan.row-range.end-open", &ranges.end_open, st));
    MS_TRY(get_text(arena, table, "scan.row-ranges", &ranges.ranges, st));
    MS_TRY(msi_bt_row_ranges_make(arena, &ranges, &options_out->ranges, st));
    ms_option_value profile;
    MS_TRY(get_not_blank(arena, table, "scan.app-profile-id", &profile, st));
    options_out->app_profile = profile.text;
    return get_parallelism(table, "scan.parallelism", &options_out->parallelism, st);
}

/* Sinks. */

/* Both rules together collect what either would. */
static const ms_bt_gc_rule *make_gc_rule(ms_arena *arena, const ms_option_value *max_versions,
                                         const ms_option_value *max_age)
{
    const ms_bt_gc_rule *rules[2];
    size_t count = 0;
    if (max_versions->has_value) {
        rules[count++] = ms_bt_gc_rule_max_versions(arena, (int32_t)max_versions->i64);
    }
    if (max_age->has_value) {
        rules[count++] = ms_bt_gc_rule_max_age(arena, max_age->i64 * MICROS_PER_MILLI);
    }
    return count == 1 ? rules[0] : ms_bt_gc_rule_union(arena, rules, count);
}

static ms_rc check_creation(const ms_option_value *disposition, bool creates,
                            const ms_option_value *max_versions, const ms_option_value *max_age,
                            ms_status *st)
{
    bool has_rule = max_versions->has_value || max_age->has_value;
    if (creates && !has_rule) {
        ms_status_set(st, MS_MISSING_OPTION, disposition->span,
                      "'sink.create-disposition' = 'create-if-needed' needs a rule of garbage "
                      "collection for the families that it creates");
        return ms_status_hint(st, "Set 'sink.table-create.gc-rule.max-versions', "
                                  "'sink.table-create.gc-rule.max-age', or both.");
    }
    if (!creates && has_rule) {
        const ms_option_value *first = max_versions->has_value ? max_versions : max_age;
        bool has_both = max_versions->has_value && max_age->has_value;
        ms_status_set(st, MS_OPTION_CONFLICT, first->span,
                      "nothing is created, so that there is no use for %s%s%s",
                      max_versions->has_value ? "'sink.table-create.gc-rule.max-versions'" : "",
                      has_both ? ", " : "",
                      max_age->has_value ? "'sink.table-create.gc-rule.max-age'" : "");
        return ms_status_hint(st, "Set 'sink.create-disposition' = 'create-if-needed', or leave "
                                  "them out.");
    }
    return MS_OK;
}

ms_rc msi_bt_options_sink(ms_arena *arena, const ms_table *table, msi_bt_sink_options *options_out,
                          ms_status *st)
{
    *options_out = (msi_bt_sink_options){0};
    ms_option_value value;
    ms_option_value max_versions;
    ms_option_value max_age;
    MS_TRY(get(table, "sink.insert-only-input-mode", &value, st));
    options_out->is_insert_only = value.i64 != 0;
    MS_TRY(get(table, "sink.table-create.gc-rule.max-versions", &max_versions, st));
    MS_TRY(get(table, "sink.table-create.gc-rule.max-age", &max_age, st));
    MS_TRY(get(table, "sink.create-disposition", &value, st));
    options_out->creates = value.i64 != 0;
    MS_TRY(check_creation(&value, options_out->creates, &max_versions, &max_age, st));
    if (options_out->creates) {
        options_out->gc_rule = make_gc_rule(arena, &max_versions, &max_age);
    }
    MS_TRY(get_not_blank(arena, table, "sink.app-profile-id", &value, st));
    options_out->app_profile = value.text;
    return get_parallelism(table, "sink.parallelism", &options_out->parallelism, st);
}
