/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blackhole connector: planning face and writer. It has nothing to make durable and nothing to
 * commit.
 */
#include "connector/blackhole/blackhole.h"

#include "connector/blackhole/consume.h"

static const ms_option_desc options[] = {
    {.key = "connector", .kind = MS_OPT_STRING, .required = true},
    {.key = "sink.parallelism", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* The writer. */

typedef struct blackhole_writer {
    ms_writer writer;
    uint64_t checksum;
} blackhole_writer;

static ms_write writer_write(ms_writer *writer, const ms_batch *batch, ms_status *st)
{
    (void)st;
    blackhole_writer *self = (blackhole_writer *)writer;
    self->checksum ^= msi_blackhole_consume(batch);
    writer->rows_written += ms_batch_live(batch);
    return MS_WRITE_DONE;
}

static void writer_close(ms_writer *writer)
{
    ms_mem_free(writer);
}

static const ms_writer_class writer_class = {
    .write = writer_write,
    .close = writer_close,
};

uint64_t ms_blackhole_checksum(const ms_writer *writer)
{
    MS_ASSERT(writer->klass == &writer_class);
    return ((const blackhole_writer *)writer)->checksum;
}

/* Planning. */

static ms_rc sink_writer_create(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                                ms_status *st)
{
    (void)sink;
    (void)env;
    (void)st;
    blackhole_writer *self = ms_mem_calloc(1, sizeof(*self));
    self->writer.klass = &writer_class;
    *writer_out = &self->writer;
    return MS_OK;
}

static const ms_sink_class sink_class = {
    .writer_create = sink_writer_create,
};

static ms_rc blackhole_sink_create(const ms_connector *connector, const ms_table *table,
                                   ms_plan_env *env, const uint32_t *target_columns,
                                   uint32_t target_count, ms_sink **sink_out, ms_status *st)
{
    (void)connector;
    (void)target_columns;
    (void)target_count;
    const ms_option_list *list = &table->options;
    ms_option_value parallelism;
    MS_TRY(
        ms_options_check(list, options, OPTION_COUNT, NULL, NULL, "connector \"blackhole\"", st));
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "sink.parallelism", &parallelism, st));
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == MS_COLUMN_METADATA) {
            return ms_status_set(st, MS_NOT_SUPPORTED, table->columns[i].span,
                                 "connector \"blackhole\" has no metadata columns");
        }
    }
    ms_sink *sink = ms_arena_new(env->arena, ms_sink);
    sink->klass = &sink_class;
    sink->input = ms_table_sink_schema(env->arena, table);
    sink->guarantee = MS_AT_LEAST_ONCE;
    sink->parallelism = parallelism.has_value ? (uint32_t)parallelism.i64 : 0;
    *sink_out = sink;
    return MS_OK;
}

const ms_connector ms_connector_blackhole = {
    .name = "blackhole",
    .options = options,
    .option_count = OPTION_COUNT,
    .sink_create = blackhole_sink_create,
};
