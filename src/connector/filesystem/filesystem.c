/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connector: options, and the planning faces of both directions.
 */
#include "connector/filesystem/filesystem.h"

#include "base/limits.h"
#include "connector/filesystem/filesystem_priv.h"
#include "os/file.h"

#include <stdatomic.h>

static const ms_option_desc options[] = {
    {.key = "connector", .kind = MS_OPT_STRING, .required = true},
    {.key = "path", .kind = MS_OPT_STRING, .required = true},
    {.key = "format", .kind = MS_OPT_STRING, .required = true},
    {.key = "scan.parallelism", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
    {.key = "sink.parallelism", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
    {.key = "sink.rolling-policy.file-size",
     .kind = MS_OPT_BYTES,
     .min = 1,
     .max = INT64_MAX,
     .fallback = "128mb"},
    {.key = "sink.rolling-policy.rollover-interval", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "sink.rolling-policy.inactivity-interval", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "sink.rolling-policy.check-interval", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "sink.shuffle-by-partition.enable", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "sink.partition-commit.#", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "sink.partition-commit.#.#", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "partition.#", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "partition.#.#", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "source.monitor-interval", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "source.path.regex-pattern",
     .kind = MS_OPT_STRING,
     .unsupported = true,
     .hint = "A path may be a glob: 'in/*.json'."},
    {.key = "source.report-statistics", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "auto-compaction", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "compaction.#", .kind = MS_OPT_STRING, .unsupported = true},
};
#define OPTION_COUNT ((uint32_t)(sizeof options / sizeof *options))

static ms_rc get(const ms_table *table, const char *key, ms_option_value *value_out, ms_status *st)
{
    return ms_option_get(&table->options, options, OPTION_COUNT, key, value_out, st);
}

static bool is_format_key(void *arg, ms_str key)
{
    const ms_str *prefix = arg;
    return ms_str_starts_with(key, *prefix);
}

static ms_rc find_format(const ms_table *table, ms_plan_env *env, const ms_format **format_out,
                         ms_str *prefix_out, ms_status *st)
{
    ms_option_value name;
    MS_TRY(get(table, "format", &name, st));
    *prefix_out = ms_str_lit("\x01"); /* no key begins so, while there is no format */
    *format_out = NULL;
    if (name.has_value) {
        *format_out = env->find_format(env->registry, name.text);
        *prefix_out = ms_arena_format(env->arena, "%.*s.", MS_STR_ARG(name.text));
    }
    if (name.has_value && *format_out == NULL) {
        ms_status_set(st, MS_INVALID_OPTION, name.span, "there is no format \"%.*s\"",
                      MS_STR_ARG(name.text));
        return ms_status_hint(st, "Built in are csv and json.");
    }
    return MS_OK;
}

/* "file:///a", "file:/a" and "/a" are one; relative paths are taken from the base directory. */
static ms_rc resolve_path(const ms_option_value *value, ms_plan_env *env, ms_str *path_out,
                          ms_status *st)
{
    ms_str path = value->text;
    if (ms_str_starts_with(path, ms_str_lit("file://"))) {
        path = ms_str_slice(path, 7, path.bytes);
    } else if (ms_str_starts_with(path, ms_str_lit("file:"))) {
        path = ms_str_slice(path, 5, path.bytes);
    }
    size_t colon = ms_str_find_byte(path, ':', 0);
    bool has_scheme = colon != SIZE_MAX &&
                      ms_str_starts_with(ms_str_slice(path, colon, path.bytes), ms_str_lit("://"));
    if (path.bytes == 0 || has_scheme) {
        ms_status_set(st, MS_INVALID_OPTION, value->span, "option \"path\" cannot be \"%.*s\"",
                      MS_STR_ARG(value->text));
        return ms_status_hint(st, "Use a path of this machine, or \"-\".");
    }
    while (path.bytes > 1 && path.ptr[path.bytes - 1] == '/') {
        path.bytes--;
    }
    bool is_relative = path.ptr[0] != '/' && !ms_str_equals(path, ms_str_lit("-"));
    *path_out =
        is_relative && env->base_dir.bytes > 0
            ? ms_arena_format(env->arena, "%.*s/%.*s", MS_STR_ARG(env->base_dir), MS_STR_ARG(path))
            : ms_arena_copy_str(env->arena, path);
    if (path_out->bytes + 128 > MSI_FS_PATH_BYTES) {
        return ms_status_set(st, MS_LIMIT, value->span, "option \"path\" is too long");
    }
    return MS_OK;
}

static ms_rc read_table(const ms_table *table, ms_plan_env *env, const char *parallelism_key,
                        msi_fs_table *out, ms_status *st)
{
    ms_str prefix;
    MS_TRY(find_format(table, env, &out->format, &prefix, st));
    MS_TRY(ms_options_check(&table->options, options, OPTION_COUNT, is_format_key, &prefix,
                            "connector \"filesystem\"", st));
    ms_option_value path;
    ms_option_value roll;
    ms_option_value parallelism;
    MS_TRY(get(table, "path", &path, st));
    MS_TRY(get(table, "sink.rolling-policy.file-size", &roll, st));
    MS_TRY(get(table, parallelism_key, &parallelism, st));
    MS_TRY(resolve_path(&path, env, &out->path, st));
    out->name = ms_arena_copy_str(env->arena, table->name);
    out->is_standard = ms_str_equals(out->path, ms_str_lit("-"));
    out->format_options = ms_options_with_prefix(env->arena, &table->options, prefix);
    out->time_zone = ms_arena_copy_str(env->arena, env->local_time_zone);
    out->roll_bytes = (uint64_t)roll.i64;
    out->parallelism = parallelism.has_value ? (uint32_t)parallelism.i64 : 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == MS_COLUMN_METADATA) {
            return ms_status_set(st, MS_NOT_SUPPORTED, table->columns[i].span,
                                 "metadata columns of connector \"filesystem\" are not supported "
                                 "yet");
        }
    }
    return MS_OK;
}

/* Reading. */

static ms_rc push_projection(ms_scan *scan, const uint32_t *columns, uint32_t count, ms_status *st)
{
    (void)st;
    msi_fs_scan *self = (msi_fs_scan *)scan;
    ms_field *fields = ms_arena_array(self->arena, ms_field, count);
    uint32_t *wanted = ms_arena_array(self->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = self->stored.columns[columns[i]];
        wanted[i] = columns[i];
    }
    scan->output = (ms_schema){count, fields};
    self->wanted = wanted;
    return MS_OK;
}

static ms_rc describe_scan(const ms_scan *scan, ms_buf *out, ms_status *st)
{
    const msi_fs_scan *self = (const msi_fs_scan *)scan;
    return ms_buf_format(out, st, "path=%.*s, format=%s", MS_STR_ARG(self->table.path),
                         self->table.format->name);
}

/*
 * Standard input is the process's, and what one job has read of it no other can: the second would
 * see the rest, or nothing, as if that were the table.
 */
static _Atomic bool standard_input_is_taken;

static ms_rc prepare_scan(const ms_scan *scan, ms_status *st)
{
    const msi_fs_scan *self = (const msi_fs_scan *)scan;
    if (!self->table.is_standard || !atomic_exchange(&standard_input_is_taken, true)) {
        return MS_OK;
    }
    ms_status_set(st, MS_INVALID_QUERY, ms_span_none, "standard input is read twice");
    return ms_status_hint(st, "It can be read once: insert its rows into a table, and query that; "
                              "or put the INSERTs that read it into one STATEMENT SET.");
}

static const ms_scan_class scan_class = {
    .push_projection = push_projection,
    .describe = describe_scan,
    .prepare = prepare_scan,
    .enumerator_create = msi_fs_enumerator_create,
    .reader_create = msi_fs_reader_create,
};

/* Lets the format look at its options and types before the job starts. */
static ms_rc try_decoder(const msi_fs_scan *self, ms_status *st)
{
    ms_decoder *decoder = NULL;
    MS_TRY(self->table.format->decoder_create(&self->stored, self->wanted, &self->head.output,
                                              &self->table.format_options, self->table.time_zone,
                                              &decoder, st));
    decoder->klass->close(decoder);
    return MS_OK;
}

static const char *not_in_flink(const msi_fs_table *table, ms_file_kind kind)
{
    if (table->is_standard) {
        return "path \"-\"";
    }
    bool is_pattern = msi_fs_is_pattern(table->path) && kind == MS_FILE_KIND_NONE;
    return is_pattern ? "a glob as path" : NULL;
}

static ms_rc scan_create(const ms_connector *connector, const ms_table *table, ms_plan_env *env,
                         ms_scan **scan_out, ms_status *st)
{
    (void)connector;
    msi_fs_scan *self = ms_arena_new(env->arena, msi_fs_scan);
    self->arena = env->arena;
    MS_TRY(read_table(table, env, "scan.parallelism", &self->table, st));
    self->stored = ms_table_stored_schema(env->arena, table);
    uint32_t *all = ms_arena_array(env->arena, uint32_t, self->stored.column_count);
    for (uint32_t i = 0; i < self->stored.column_count; i++) {
        all[i] = i;
    }
    self->wanted = all;
    self->head.klass = &scan_class;
    self->head.output = self->stored;
    self->head.is_bounded = true;
    self->head.changelog = MS_CHANGELOG_INSERT;
    self->head.parallelism = self->table.parallelism;
    ms_file_info info = {.kind = MS_FILE_KIND_NONE};
    if (!self->table.is_standard) {
        MS_TRY(ms_file_stat(self->table.path.ptr, &info, st));
    }
    if (info.kind == MS_FILE_KIND_OTHER) {
        ms_option_value path;
        MS_TRY(get(table, "path", &path, st));
        return msi_fs_refuse_irregular(self->table.path, path.span, st);
    }
    self->head.not_in_flink = not_in_flink(&self->table, info.kind);
    bool is_one = self->table.is_standard || info.kind == MS_FILE_KIND_FILE;
    self->head.keeps_order = is_one;
    self->head.parallelism = is_one ? 1 : self->head.parallelism;
    *scan_out = &self->head;
    return try_decoder(self, st);
}

/* Writing. */

static ms_rc negotiate(ms_sink *sink, ms_changelog input, ms_changelog *wanted_out,
                       bool *key_only_deletes_out, ms_status *st)
{
    const msi_fs_sink *self = (const msi_fs_sink *)sink;
    *wanted_out = MS_CHANGELOG_INSERT;
    *key_only_deletes_out = false;
    if (input == MS_CHANGELOG_INSERT) {
        return MS_OK;
    }
    ms_status_set(st, MS_INVALID_QUERY, ms_span_none,
                  "table \"%.*s\" takes only new rows, and the query also changes rows",
                  MS_STR_ARG(self->table.name));
    return ms_status_hint(st,
                          "Files of format %s hold rows, not changes; use a bigtable or print "
                          "table, or batch mode.",
                          self->table.format->name);
}

static ms_rc describe_sink(const ms_sink *sink, ms_buf *out, ms_status *st)
{
    const msi_fs_sink *self = (const msi_fs_sink *)sink;
    return ms_buf_format(out, st, "path=%.*s, format=%s", MS_STR_ARG(self->table.path),
                         self->table.format->name);
}

/* The directory is made before the job, so that its name is durable before any file's. */
static ms_rc prepare_sink(const ms_sink *sink, ms_status *st)
{
    const msi_fs_sink *self = (const msi_fs_sink *)sink;
    if (self->table.is_standard) {
        return MS_OK;
    }
    ms_file_info info;
    MS_TRY(ms_file_stat(self->table.path.ptr, &info, st));
    if (info.kind == MS_FILE_KIND_FILE || info.kind == MS_FILE_KIND_OTHER) {
        return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                             "\"%.*s\" is a file, and a table is written to a directory",
                             MS_STR_ARG(self->table.path));
    }
    return ms_dir_create_shared(self->table.path.ptr, st);
}

static const ms_sink_class sink_class = {
    .negotiate = negotiate,
    .describe = describe_sink,
    .prepare = prepare_sink,
    .writer_create = msi_fs_writer_create,
    .committer_create = msi_fs_committer_create,
};

static ms_rc try_encoder(const msi_fs_sink *self, ms_status *st)
{
    ms_encoder *encoder = NULL;
    MS_TRY(self->table.format->encoder_create(&self->head.input, &self->table.format_options,
                                              self->table.time_zone, &encoder, st));
    encoder->klass->close(encoder);
    return MS_OK;
}

static ms_rc sink_create(const ms_connector *connector, const ms_table *table, ms_plan_env *env,
                         const uint32_t *target_columns, uint32_t target_count, ms_sink **sink_out,
                         ms_status *st)
{
    (void)connector;
    (void)target_columns; /* the others are NULL in the rows */
    (void)target_count;
    msi_fs_sink *self = ms_arena_new(env->arena, msi_fs_sink);
    MS_TRY(read_table(table, env, "sink.parallelism", &self->table, st));
    ms_option_value path;
    MS_TRY(get(table, "path", &path, st));
    if (msi_fs_is_pattern(path.text)) {
        ms_status_set(st, MS_INVALID_OPTION, path.span, "rows cannot be written to a glob");
        return ms_status_hint(st, "Write to a directory: files get their names from the job.");
    }
    self->head.klass = &sink_class;
    self->head.input = ms_table_sink_schema(env->arena, table);
    self->head.guarantee = self->table.is_standard ? MS_AT_LEAST_ONCE : MS_EXACTLY_ONCE;
    self->head.keeps_order = self->table.is_standard;
    self->head.not_in_flink = self->table.is_standard ? "path \"-\"" : NULL;
    self->head.parallelism = self->table.parallelism;
    *sink_out = &self->head;
    return try_encoder(self, st);
}

const ms_connector ms_connector_filesystem = {
    .name = "filesystem",
    .options = options,
    .option_count = OPTION_COUNT,
    .scan_create = scan_create,
    .sink_create = sink_create,
};
