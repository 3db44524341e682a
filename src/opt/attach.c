/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the connectors for the planning faces of all tables of a statement: this is where options
 * and schemas are validated, as in Flink. A table whose options a hint changes is copied with the
 * merged options into the arena of the job, where connectors may keep it; entries of the hint come
 * last and keep their own places in the text, so that an error points at the hint.
 */
/* tidy: no-unit-test: covered by opt_test.c, with the fake connector */
#include "opt/opt_priv.h"

/* The last entry wins. */
static const ms_option *find_option(const ms_option_list *options, ms_str key)
{
    for (uint32_t i = options->count; i-- > 0;) {
        if (ms_str_equals(options->items[i].key, key)) {
            return &options->items[i];
        }
    }
    return NULL;
}

static const ms_table *merge_hints(ms_arena *arena, const ms_ltable *of)
{
    if (of->hints.count == 0) {
        return of->table;
    }
    uint32_t own = 0;
    ms_option *items = ms_arena_array(arena, ms_option, of->table->options.count + of->hints.count);
    for (uint32_t i = 0; i < of->table->options.count; i++) {
        if (find_option(&of->hints, of->table->options.items[i].key) == NULL) {
            items[own++] = of->table->options.items[i];
        }
    }
    for (uint32_t i = 0; i < of->hints.count; i++) {
        items[own + i] = of->hints.items[i];
        items[own + i].key = ms_arena_copy_str(arena, of->hints.items[i].key);
        items[own + i].value = ms_arena_copy_str(arena, of->hints.items[i].value);
    }
    ms_table *merged = ms_arena_new(arena, ms_table);
    *merged = *of->table;
    merged->options = (ms_option_list){own + of->hints.count, items};
    return merged;
}

/* The table as its definition, without the places, which are of another text. */
static const ms_table *without_places(ms_arena *arena, const ms_table *table)
{
    ms_table *copy = ms_arena_new(arena, ms_table);
    ms_option *items = ms_arena_array(arena, ms_option, table->options.count);
    ms_column *columns = ms_arena_array(arena, ms_column, table->column_count);
    for (uint32_t i = 0; i < table->options.count; i++) {
        items[i] = table->options.items[i];
        items[i].key_span = ms_span_none;
        items[i].value_span = ms_span_none;
    }
    for (uint32_t i = 0; i < table->column_count; i++) {
        columns[i] = table->columns[i];
        columns[i].span = ms_span_none;
    }
    *copy = *table;
    copy->options.items = items;
    copy->columns = columns;
    return copy;
}

/*
 * What the connector is shown: the definition and the hints, with the places that are of this text.
 */
static const ms_table *table_for(msi_opt *opt, const ms_ltable *of)
{
    ms_arena *arena = opt->env->job_arena;
    ms_ltable own = *of;
    if (own.table->source_id != opt->env->source_id) {
        own.table = without_places(arena, own.table);
    }
    return merge_hints(arena, &own);
}

static ms_rc report_connector(msi_opt *opt, const ms_option *option)
{
    const ms_registry *registry = opt->env->registry;
    ms_str known = {NULL, 0};
    ms_str nearest = {NULL, 0};
    unsigned best = 3;
    for (uint32_t i = 0; i < registry->connector_count; i++) {
        ms_str name = ms_str_cstr(registry->connectors[i]->name);
        known = ms_arena_format(opt->arena, "%.*s%s%.*s", MS_STR_ARG(known), i == 0 ? "" : ", ",
                                MS_STR_ARG(name));
        unsigned distance = ms_str_distance(option->value, name, best);
        if (distance < best) {
            best = distance;
            nearest = name;
        }
    }
    ms_status_set(opt->st, MS_INVALID_OPTION, option->value_span,
                  "connector \"%.*s\" does not exist", MS_STR_ARG(option->value));
    ms_status_detail(opt->st, "connectors: %.*s", MS_STR_ARG(known));
    if (nearest.ptr != NULL) {
        return ms_status_hint(opt->st, "Did you mean \"%.*s\"?", MS_STR_ARG(nearest));
    }
    return opt->st->code;
}

static ms_rc find_connector(msi_opt *opt, const ms_ltable *of, const ms_table *table,
                            const ms_connector **connector_out, void **service_out)
{
    const ms_option *option = find_option(&table->options, ms_str_lit("connector"));
    if (option == NULL) {
        ms_status_set(opt->st, MS_MISSING_OPTION, of->span,
                      "table \"%.*s\" has no option \"connector\"", MS_STR_ARG(table->name));
        ms_status_detail(opt->st, "Table options do not contain an option key 'connector' for "
                                  "discovering a connector.");
        return ms_status_hint(opt->st, "Say in WITH which connector reads and writes the table.");
    }
    *connector_out = ms_registry_connector(opt->env->registry, option->value, service_out);
    return *connector_out != NULL ? MS_OK : report_connector(opt, option);
}

static const ms_format *find_format(void *registry, ms_str name)
{
    return ms_registry_format(registry, name);
}

/* The environment of one call. */
static ms_plan_env *plan_env(msi_opt *opt, void *service)
{
    ms_plan_env *env = ms_arena_new(opt->env->job_arena, ms_plan_env);
    *env = opt->plan_env;
    env->service = service;
    return env;
}

static ms_rc check_scan(msi_opt *opt, const ms_ltable *of, const ms_scan *scan)
{
    if (opt->is_streaming || scan->is_bounded) {
        return MS_OK;
    }
    ms_str name = of->table->name;
    ms_status_set(opt->st, MS_INVALID_QUERY, of->span,
                  "table \"%.*s\" is unbounded and cannot be read in batch mode", MS_STR_ARG(name));
    ms_status_detail(opt->st,
                     "Querying an unbounded table '%.*s' in batch mode is not allowed. "
                     "The table source is unbounded.",
                     MS_STR_ARG(name));
    return ms_status_hint(opt->st, "SET 'execution.runtime-mode' = 'streaming', or bound the "
                                   "source by its options.");
}

static ms_rc attach_scan(msi_opt *opt, const ms_lnode *node, const ms_lnode **node_out)
{
    const ms_ltable *of = &node->u.scan.of;
    const ms_table *table = table_for(opt, of);
    const ms_connector *connector;
    void *service;
    if (find_connector(opt, of, table, &connector, &service) != MS_OK) {
        return ms_status_place(opt->st, of->span);
    }
    if (connector->scan_create == NULL) {
        return ms_status_set(opt->st, MS_NOT_SUPPORTED, of->span,
                             "table \"%.*s\" cannot be read: connector \"%s\" only writes",
                             MS_STR_ARG(table->name), connector->name);
    }
    ms_scan *scan = NULL;
    if (connector->scan_create(connector, table, plan_env(opt, service), &scan, opt->st) != MS_OK) {
        return ms_status_place(opt->st, of->span);
    }
    MS_TRY(check_scan(opt, of, scan));
    *node_out =
        ms_lnode_scan_with(opt->arena, node, scan, node->u.scan.columns, node->schema.column_count);
    return MS_OK;
}

static ms_rc attach_sink(msi_opt *opt, const ms_lnode *node, const ms_lnode **node_out)
{
    ms_arena *arena = opt->env->job_arena;
    const ms_ltable *of = &node->u.sink.of;
    const ms_table *table = table_for(opt, of);
    const ms_connector *connector;
    void *service;
    if (find_connector(opt, of, table, &connector, &service) != MS_OK) {
        return ms_status_place(opt->st, of->span);
    }
    if (connector->sink_create == NULL) {
        return ms_status_set(opt->st, MS_NOT_SUPPORTED, of->span,
                             "table \"%.*s\" cannot be written: connector \"%s\" only reads",
                             MS_STR_ARG(table->name), connector->name);
    }
    uint32_t *target = ms_arena_array(arena, uint32_t, node->u.sink.target_count);
    for (uint32_t i = 0; i < node->u.sink.target_count; i++) {
        target[i] = node->u.sink.target[i];
    }
    ms_sink *sink = NULL;
    if (connector->sink_create(connector, table, plan_env(opt, service), target,
                               node->u.sink.target_count, &sink, opt->st) != MS_OK) {
        return ms_status_place(opt->st, of->span);
    }
    *node_out = ms_lnode_sink_with(opt->arena, node, sink);
    return MS_OK;
}

static ms_rc attach(msi_opt *opt, const ms_lnode *node, const ms_lnode **node_out)
{
    if (node->input_count > 0) {
        const ms_lnode **inputs = ms_arena_array(opt->arena, const ms_lnode *, node->input_count);
        for (uint32_t i = 0; i < node->input_count; i++) {
            MS_TRY(attach(opt, node->inputs[i], &inputs[i]));
        }
        node = ms_lnode_with_inputs(opt->arena, node, inputs);
    }
    if (node->kind == MS_LNODE_SCAN) {
        return attach_scan(opt, node, node_out);
    }
    if (node->kind == MS_LNODE_SINK) {
        return attach_sink(opt, node, node_out);
    }
    *node_out = node;
    return MS_OK;
}

ms_rc msi_attach(msi_opt *opt)
{
    ms_arena *arena = opt->env->job_arena;
    const ms_opt_settings *settings = &opt->env->settings;
    /* Connectors are handed the registry through a pointer that is not const: a copy, then. */
    ms_registry *registry = ms_arena_new(arena, ms_registry);
    *registry = *opt->env->registry;
    opt->plan_env =
        (ms_plan_env){.arena = arena,
                      .is_streaming = opt->is_streaming,
                      .base_dir = ms_arena_copy_str(arena, settings->base_dir),
                      .local_time_zone = ms_arena_copy_str(arena, settings->local_time_zone),
                      .find_format = find_format,
                      .registry = registry};
    for (uint32_t i = 0; i < opt->root_count; i++) {
        MS_TRY(attach(opt, opt->roots[i], &opt->roots[i]));
    }
    return MS_OK;
}
