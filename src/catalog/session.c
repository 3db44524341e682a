/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of known settings, one of Flink's keys that mean nothing here, and two maps of texts,
 * one a level. Values are parsed again when they are read: settings are read a few times a
 * statement.
 */
#include "catalog/session.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#define DESC(setting) [setting] =
static const ms_option_desc known[MS_SETTING_COUNT] = {
    DESC(MS_SETTING_RUNTIME_MODE){.key = "execution.runtime-mode",
                                  .kind = MS_OPT_ENUM,
                                  .values = "streaming|batch",
                                  .fallback = "streaming"},
    DESC(MS_SETTING_PARALLELISM){
        .key = "parallelism.default", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
    DESC(MS_SETTING_JOB_NAME){.key = "pipeline.name", .kind = MS_OPT_STRING},
    DESC(MS_SETTING_LOCAL_TIME_ZONE){.key = "table.local-time-zone", .kind = MS_OPT_STRING},
    DESC(MS_SETTING_CHECKPOINT_INTERVAL){.key = "execution.checkpointing.interval",
                                         .kind = MS_OPT_DURATION,
                                         .min = 0,
                                         .max = INT64_MAX,
                                         .fallback = "0 ms"},
    DESC(MS_SETTING_CHECKPOINT_DIR){.key = "execution.checkpointing.dir", .kind = MS_OPT_STRING},
    DESC(MS_SETTING_WATERMARK_INTERVAL){.key = "pipeline.auto-watermark-interval",
                                        .kind = MS_OPT_DURATION,
                                        .min = 0,
                                        .max = INT64_MAX,
                                        .fallback = "200 ms"},
    DESC(MS_SETTING_COALESCE){.key = "table.exec.changelog.coalesce",
                              .kind = MS_OPT_ENUM,
                              .values = "auto|never",
                              .fallback = "auto"},
    DESC(MS_SETTING_OVERFLOW){.key = "millstream.arithmetic.overflow",
                              .kind = MS_OPT_ENUM,
                              .values = "wrap|error",
                              .fallback = "wrap"},
    DESC(MS_SETTING_NOT_NULL_ENFORCER){.key = "table.exec.sink.not-null-enforcer",
                                       .kind = MS_OPT_ENUM,
                                       .values = "error",
                                       .fallback = "error",
                                       .hint = "Only ERROR is built; filter NULLs in the query."},
    DESC(MS_SETTING_DML_SYNC){.key = "table.dml-sync",
                              .kind = MS_OPT_ENUM,
                              .values = "true",
                              .fallback = "true",
                              .hint = "A bounded INSERT always runs to its end before the next "
                                      "statement; an unbounded one never does."},
    DESC(MS_SETTING_OPTIMIZER){
        .key = "millstream.optimizer.enabled", .kind = MS_OPT_BOOL, .fallback = "true"},
    DESC(MS_SETTING_BATCH_ROWS){.key = "millstream.batch.rows",
                                .kind = MS_OPT_I64,
                                .min = 1,
                                .max = MS_BATCH_ROWS_MAX,
                                .fallback = "2048"},
    DESC(MS_SETTING_RING_SLOTS){.key = "millstream.ring.slots",
                                .kind = MS_OPT_I64,
                                .min = 2,
                                .max = 1024,
                                .fallback = "64"},
    DESC(MS_SETTING_RECYCLE_BATCHES){.key = "millstream.exchange.batches",
                                     .kind = MS_OPT_I64,
                                     .min = 0,
                                     .max = 4096,
                                     .fallback = "0"},
    DESC(MS_SETTING_MEMORY_LIMIT){.key = "millstream.memory.job-limit",
                                  .kind = MS_OPT_BYTES,
                                  .min = 1 << 20,
                                  .max = INT64_MAX,
                                  .fallback = "4 gb"},
    DESC(MS_SETTING_BIGTABLE_BACKEND){
        .key = "bigtable.backend", .kind = MS_OPT_STRING, .fallback = "embedded"},
    DESC(MS_SETTING_BIGTABLE_TLS_CA){
        .key = "bigtable.tls-ca", .kind = MS_OPT_STRING, .fallback = ""},
    DESC(MS_SETTING_BIGTABLE_TOKEN_FILE){
        .key = "bigtable.token-file", .kind = MS_OPT_STRING, .fallback = ""},
    DESC(MS_SETTING_BIGTABLE_SYNC){.key = "bigtable.embedded.sync",
                                   .kind = MS_OPT_ENUM,
                                   .values = "group|checkpoint|os",
                                   .fallback = "checkpoint"},
    DESC(MS_SETTING_RESULT_MAX_WIDTH){.key = "table.display.max-column-width",
                                      .kind = MS_OPT_I64,
                                      .min = 1,
                                      .max = 10000,
                                      .fallback = "30"},
};
#undef DESC

/* Flink's keys that ask for what Millstream does anyway or has no counterpart for. */
static const char *const without_effect[] = {
    "execution.checkpointing.mode",
    "execution.checkpointing.timeout",
    "execution.checkpointing.min-pause",
    "execution.checkpointing.unaligned.enabled",
    "execution.target",
    "execution.attached",
    "pipeline.max-parallelism",
    "pipeline.object-reuse",
    "pipeline.operator-chaining.enabled",
    "pipeline.jars",
    "pipeline.classpaths",
    "pipeline.generic-types",
    "sql-client.verbose",
    "sql-client.execution.result-mode",
    "sql-client.execution.max-table-result.rows",
    "sql-client.display.color-schema",
    "table.exec.mini-batch.enabled",
    "table.exec.mini-batch.allow-latency",
    "table.exec.mini-batch.size",
    "table.exec.state.ttl",
    "table.exec.async-state.enabled",
    "table.exec.resource.default-parallelism",
    "table.exec.spill-compression.enabled",
    "table.exec.operator-fusion-codegen.enabled",
    "table.optimizer.agg-phase-strategy",
    "table.optimizer.reuse-source-enabled",
    "table.optimizer.reuse-sub-plan-enabled",
    "table.optimizer.join-reorder-enabled",
    "table.planner",
};

/* First components under which a key that nobody knows is a misspelling, not a job parameter. */
static const char *const reserved_roots[] = {"table.",       "execution.", "bigtable.",
                                             "parallelism.", "pipeline.",  "sql-client.",
                                             "millstream.",  "lineage.",   "state."};

/* The one open namespace under a reserved root: named function configurations. */
#define FUNCTIONS_ROOT "bigtable.functions."

struct ms_settings {
    ms_arena arena;
    ms_map levels[MS_SET_LEVEL_COUNT]; /* key to ms_str * */
};

ms_settings *ms_settings_create(void)
{
    ms_settings *settings = ms_mem_alloc(sizeof *settings);
    ms_arena_init(&settings->arena, 0);
    for (int level = 0; level < MS_SET_LEVEL_COUNT; level++) {
        ms_map_init(&settings->levels[level], &settings->arena);
    }
    return settings;
}

static void put(ms_settings *settings, ms_set_level level, ms_str key, ms_str value)
{
    ms_str *kept = ms_arena_new(&settings->arena, ms_str);
    *kept = ms_arena_copy_str(&settings->arena, value);
    ms_map_put(&settings->levels[level], ms_arena_copy_str(&settings->arena, key), kept);
}

ms_settings *ms_settings_copy(const ms_settings *settings)
{
    ms_settings *copy = ms_settings_create();
    for (int level = 0; level < MS_SET_LEVEL_COUNT; level++) {
        const ms_map *map = &settings->levels[level];
        for (uint32_t i = 0; i < map->count; i++) {
            const ms_str *value = map->entries[i].value;
            put(copy, (ms_set_level)level, map->entries[i].key, *value);
        }
    }
    return copy;
}

void ms_settings_destroy(ms_settings *settings)
{
    if (settings != NULL) {
        ms_arena_release(&settings->arena);
        ms_mem_free(settings);
    }
}

const char *ms_setting_nearest(ms_str key)
{
    return ms_option_nearest(known, MS_SETTING_COUNT, key);
}

const char *ms_setting_key(ms_setting setting)
{
    return known[setting].key;
}

static bool is_without_effect(ms_str key)
{
    for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++) {
        if (ms_str_equals(key, ms_str_cstr(without_effect[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_under_reserved_root(ms_str key)
{
    if (ms_str_starts_with(key, ms_str_lit(FUNCTIONS_ROOT))) {
        return false;
    }
    for (size_t i = 0; i < sizeof reserved_roots / sizeof *reserved_roots; i++) {
        if (ms_str_starts_with(key, ms_str_cstr(reserved_roots[i]))) {
            return true;
        }
    }
    return false;
}

/* When no key is near, those that begin as this one does. */
static ms_rc hint_of_root(ms_str key, ms_status *st)
{
    char text[sizeof st->hint] = "";
    size_t bytes = 0;
    ms_str root = ms_str_slice(key, 0, ms_str_find_byte(key, '.', 0) + 1);
    for (size_t i = 0; i < MS_SETTING_COUNT && bytes < sizeof text; i++) {
        if (ms_str_starts_with(ms_str_cstr(known[i].key), root)) {
            int more = snprintf(text + bytes, sizeof text - bytes, "%s%s",
                                bytes == 0 ? "There are " : ", ", known[i].key);
            bytes += more > 0 ? (size_t)more : 0;
        }
    }
    return bytes == 0 ? st->code : ms_status_hint(st, "%s.", text);
}

static ms_rc classify(ms_str key, ms_span span, ms_set_note *note_out, ms_status *st)
{
    if (ms_option_find(known, MS_SETTING_COUNT, key) != NULL) {
        *note_out = MS_SET_KNOWN;
        return MS_OK;
    }
    if (is_without_effect(key)) {
        *note_out = MS_SET_NO_EFFECT;
        return MS_OK;
    }
    const char *near = ms_setting_nearest(key);
    if (!is_under_reserved_root(key)) {
        *note_out = near != NULL ? MS_SET_MISSPELT : MS_SET_PARAMETER;
        return MS_OK;
    }
    ms_status_set(st, MS_UNKNOWN_OPTION, span, "there is no setting \"%.*s\"", MS_STR_ARG(key));
    return near != NULL ? ms_status_hint(st, "Did you mean \"%s\"?", near) : hint_of_root(key, st);
}

/* The value of a known setting, when it is set. */
static ms_rc check_value(const ms_option_desc *desc, ms_str value, ms_span span, ms_status *st)
{
    ms_option_value parsed;
    MS_TRY(ms_option_parse(desc, ms_str_cstr(desc->key), value, span, "setting", &parsed, st));
    /* Checkpoints are kept in a directory of the job's name. */
    if (desc == &known[MS_SETTING_JOB_NAME] && ms_str_trim(value).bytes == 0) {
        return ms_status_set(st, MS_INVALID_OPTION, span,
                             "setting \"%s\" cannot be empty: it names the job", desc->key);
    }
    return MS_OK;
}

ms_rc ms_settings_set(ms_settings *settings, ms_set_level level, ms_str key, ms_str value,
                      ms_span key_span, ms_span value_span, ms_set_note *note_out, ms_status *st)
{
    MS_TRY(classify(key, key_span, note_out, st));
    if (*note_out == MS_SET_KNOWN) {
        MS_TRY(check_value(ms_option_find(known, MS_SETTING_COUNT, key), value, value_span, st));
    }
    put(settings, level, key, value);
    return MS_OK;
}

ms_rc ms_settings_reset(ms_settings *settings, ms_str key, ms_span span, ms_status *st)
{
    ms_map *script = &settings->levels[MS_SET_BY_SCRIPT];
    if (key.ptr == NULL) {
        ms_map_init(script, &settings->arena);
        return MS_OK;
    }
    ms_set_note note;
    MS_TRY(classify(key, span, &note, st));
    (void)ms_map_remove(script, key); /* resetting a key that is not set is fine */
    return MS_OK;
}

ms_str ms_settings_parameter(const ms_settings *settings, ms_str key)
{
    for (int level = MS_SET_LEVEL_COUNT; level-- > 0;) {
        const ms_str *value = ms_map_get(&settings->levels[level], key);
        if (value != NULL) {
            return *value;
        }
    }
    return (ms_str){NULL, 0};
}

ms_option_value ms_settings_value(const ms_settings *settings, ms_setting setting)
{
    const ms_option_desc *desc = &known[setting];
    ms_option_value value = {0};
    ms_str text = ms_settings_parameter(settings, ms_str_cstr(desc->key));
    bool is_set = text.ptr != NULL;
    if (!is_set && desc->fallback == NULL) {
        return value;
    }
    ms_status st = {0};
    ms_rc rc =
        ms_option_parse(desc, ms_str_cstr(desc->key), is_set ? text : ms_str_cstr(desc->fallback),
                        ms_span_none, "setting", &value, &st);
    MS_ASSERT(rc == MS_OK); /* checked when it was set */
    value.is_set = is_set;
    return value;
}

static int by_key(const void *a, const void *b)
{
    return ms_str_compare(((const ms_option *)a)->key, ((const ms_option *)b)->key);
}

const ms_option *ms_settings_list(const ms_settings *settings, ms_arena *arena, uint32_t *count_out)
{
    const ms_map *script = &settings->levels[MS_SET_BY_SCRIPT];
    const ms_map *flags = &settings->levels[MS_SET_BY_FLAG];
    ms_option *items = ms_arena_array(arena, ms_option, script->count + flags->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < script->count; i++) {
        const ms_str *value = script->entries[i].value;
        items[count++] = (ms_option){.key = script->entries[i].key, .value = *value};
    }
    for (uint32_t i = 0; i < flags->count; i++) {
        const ms_str *value = flags->entries[i].value;
        if (ms_map_find(script, flags->entries[i].key) == NULL) {
            items[count++] = (ms_option){.key = flags->entries[i].key, .value = *value};
        }
    }
    if (count > 1) {
        qsort(items, count, sizeof *items, by_key);
    }
    *count_out = count;
    return items;
}
