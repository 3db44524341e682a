/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The print connector: planning face and writer. Rows become lines here (their text is that of
 * type/text.h in the PRINT style), and an outlet carries them to the descriptor.
 */
#include "connector/print/print.h"

#include "catalog/outlet.h"
#include "type/text.h"

#include <unistd.h>

static const ms_option_desc options[] = {
    {.key = "connector", .kind = MS_OPT_STRING, .required = true},
    {.key = "print-identifier", .kind = MS_OPT_STRING},
    {.key = "standard-error", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "sink.parallelism", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

typedef struct print_sink {
    ms_sink sink;
    ms_str identifier;
    int fd;
} print_sink;

/* The writer. */

typedef struct print_writer {
    ms_writer writer;
    ms_outlet *outlet;
    ms_buf prefix;
} print_writer;

static const char *const kind_texts[] = {
    [MS_ROW_INSERT] = "+I[",
    [MS_ROW_UPDATE_BEFORE] = "-U[",
    [MS_ROW_UPDATE_AFTER] = "+U[",
    [MS_ROW_DELETE] = "-D[",
};

static ms_rc append_row(print_writer *self, const ms_batch *batch, uint32_t row, ms_status *st)
{
    ms_buf *lines = ms_outlet_lines(self->outlet);
    MS_TRY(ms_buf_append(lines, ms_buf_view(&self->prefix), st));
    MS_TRY(ms_buf_append(lines, ms_str_make(kind_texts[ms_batch_kind(batch, row)], 3), st));
    for (uint32_t c = 0; c < batch->column_count; c++) {
        if (c > 0) {
            MS_TRY(ms_buf_append(lines, ms_str_lit(", "), st));
        }
        MS_TRY(ms_text_vec(lines, &batch->columns[c], row, MS_TEXT_PRINT, ms_zone_utc(), st));
    }
    return ms_buf_append(lines, ms_str_lit("]\n"), st);
}

static ms_write writer_write(ms_writer *writer, const ms_batch *batch, ms_status *st)
{
    print_writer *self = (print_writer *)writer;
    const ms_status *outlet_st = ms_outlet_status(self->outlet);
    if (outlet_st->code != MS_OK) {
        *st = *outlet_st;
        return MS_WRITE_FAILED;
    }
    if (!ms_outlet_has_room(self->outlet)) {
        return MS_WRITE_BLOCKED;
    }
    ms_buf *lines = ms_outlet_lines(self->outlet);
    size_t before = lines->bytes;
    uint32_t live = ms_batch_live(batch);
    for (uint32_t k = 0; k < live; k++) {
        if (append_row(self, batch, ms_batch_row(batch, k), st) != MS_OK) {
            return MS_WRITE_FAILED;
        }
    }
    writer->rows_written += live;
    writer->bytes_written += lines->bytes - before;
    ms_outlet_flush(self->outlet);
    return MS_WRITE_DONE;
}

/* Rows written after the cut may hold the answer up. */
static void writer_persist(ms_writer *writer, uint64_t checkpoint, ms_completion *completion)
{
    (void)checkpoint;
    ms_outlet_when_idle(((print_writer *)writer)->outlet, completion);
}

static void writer_close(ms_writer *writer)
{
    print_writer *self = (print_writer *)writer;
    ms_outlet_destroy(self->outlet);
    ms_buf_release(&self->prefix);
    ms_mem_free(self);
}

static const ms_writer_class writer_class = {
    .write = writer_write,
    .persist = writer_persist,
    .close = writer_close,
};

/* Flink's prefixes: "", "2> ", "name> ", "name:2> ". */
static ms_rc make_prefix(ms_buf *prefix, ms_str identifier, const ms_task_env *env, ms_status *st)
{
    bool is_parallel = env->parallelism > 1;
    ms_buf_init(prefix, MS_LIMIT_STRING_BYTES);
    MS_TRY(ms_buf_append(prefix, identifier, st));
    if (is_parallel) {
        MS_TRY(
            ms_buf_format(prefix, st, "%s%u", identifier.bytes > 0 ? ":" : "", env->subtask + 1));
    }
    if (is_parallel || identifier.bytes > 0) {
        MS_TRY(ms_buf_append(prefix, ms_str_lit("> "), st));
    }
    return MS_OK;
}

/* Planning. */

static ms_rc sink_describe(const ms_sink *sink, ms_buf *out, ms_status *st)
{
    const print_sink *self = (const print_sink *)sink;
    MS_TRY(
        ms_buf_format(out, st, "to=standard-%s", self->fd == STDERR_FILENO ? "error" : "output"));
    if (self->identifier.bytes > 0) {
        MS_TRY(ms_buf_format(out, st, ", print-identifier=%.*s", MS_STR_ARG(self->identifier)));
    }
    return MS_OK;
}

static ms_rc sink_writer_create(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                                ms_status *st)
{
    const print_sink *plan = (const print_sink *)sink;
    print_writer *self = ms_mem_calloc(1, sizeof(*self));
    self->writer.klass = &writer_class;
    if (make_prefix(&self->prefix, plan->identifier, env, st) != MS_OK) {
        writer_close(&self->writer);
        return st->code;
    }
    self->outlet = ms_outlet_create(plan->fd, env);
    *writer_out = &self->writer;
    return MS_OK;
}

static const ms_sink_class sink_class = {
    .describe = sink_describe,
    .writer_create = sink_writer_create,
};

static int choose_fd(const ms_print_service *service, bool wants_error)
{
    const ms_print_service defaults = {0};
    service = service != NULL ? service : &defaults;
    if (wants_error || service->stdout_is_result) {
        return service->err_fd != 0 ? service->err_fd : STDERR_FILENO;
    }
    return service->out_fd != 0 ? service->out_fd : STDOUT_FILENO;
}

static ms_rc print_sink_create(const ms_connector *connector, const ms_table *table,
                               ms_plan_env *env, const uint32_t *target_columns,
                               uint32_t target_count, ms_sink **sink_out, ms_status *st)
{
    (void)connector;
    (void)target_columns;
    (void)target_count;
    const ms_option_list *list = &table->options;
    ms_option_value identifier;
    ms_option_value standard_error;
    ms_option_value parallelism;
    MS_TRY(ms_options_check(list, options, OPTION_COUNT, NULL, NULL, "connector \"print\"", st));
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "print-identifier", &identifier, st));
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "standard-error", &standard_error, st));
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "sink.parallelism", &parallelism, st));
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == MS_COLUMN_METADATA) {
            return ms_status_set(st, MS_NOT_SUPPORTED, table->columns[i].span,
                                 "connector \"print\" has no metadata columns");
        }
    }
    print_sink *self = ms_arena_new(env->arena, print_sink);
    self->sink.klass = &sink_class;
    self->sink.input = ms_table_sink_schema(env->arena, table);
    self->sink.guarantee = MS_AT_LEAST_ONCE;
    self->sink.keeps_order = true;
    self->sink.parallelism = parallelism.has_value ? (uint32_t)parallelism.i64 : 0;
    self->identifier = ms_arena_copy_str(env->arena, identifier.text);
    self->fd = choose_fd(env->service, standard_error.i64 != 0);
    *sink_out = &self->sink;
    return MS_OK;
}

const ms_connector ms_connector_print = {
    .name = "print",
    .options = options,
    .option_count = OPTION_COUNT,
    .sink_create = print_sink_create,
};
