/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory connector: the service with its sources by name, the planning face, and the reader.
 * The enumerator is that of numbered units (catalog/stride.h): a unit is a batch of one replay.
 */
#include "connector/memory/memory.h"

#include "base/map.h"
#include "catalog/stride.h"

/* The service. */

struct ms_memory_service {
    ms_arena arena;
    ms_map sources; /* of ms_memory_source, by name */
};

ms_memory_service *ms_memory_service_create(void)
{
    ms_memory_service *service = ms_mem_calloc(1, sizeof(*service));
    ms_arena_init(&service->arena, 0);
    ms_map_init(&service->sources, &service->arena);
    return service;
}

void ms_memory_service_destroy(ms_memory_service *service)
{
    if (service != NULL) {
        ms_arena_release(&service->arena);
        ms_mem_free(service);
    }
}

ms_rc ms_memory_add_source(ms_memory_service *service, ms_str name, const ms_memory_source *source,
                           ms_status *st)
{
    ms_memory_source *copy = ms_arena_new(&service->arena, ms_memory_source);
    *copy = *source;
    copy->repeats = source->repeats == 0 ? 1 : source->repeats;
    for (uint64_t i = 0; i < source->batch_count; i++) {
        const ms_batch *batch = source->batches[i];
        MS_ASSERT(batch->pool != NULL && batch->sel == NULL && batch->kinds == NULL);
    }
    if (copy->batch_count > 0 && copy->repeats > (UINT64_MAX - 1) / copy->batch_count) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "a source replays too many batches");
    }
    if (!ms_map_add(&service->sources, ms_arena_copy_str(&service->arena, name), copy)) {
        return ms_status_set(st, MS_DUPLICATE_TABLE, ms_span_none,
                             "there are batches named \"%.*s\" already", MS_STR_ARG(name));
    }
    return MS_OK;
}

/* Planning. */

static const ms_option_desc options[] = {
    {.key = "connector", .kind = MS_OPT_STRING, .required = true},
    {.key = "source", .kind = MS_OPT_STRING},
    {.key = "scan.parallelism", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

typedef struct memory_scan {
    ms_scan scan;
    ms_arena *arena;
    ms_str name;
    const ms_memory_source *source;
    uint32_t *columns; /* of the source, one a column of the output */
} memory_scan;

static ms_rc scan_push_projection(ms_scan *scan, const uint32_t *columns, uint32_t count,
                                  ms_status *st)
{
    (void)st;
    memory_scan *self = (memory_scan *)scan;
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

static ms_rc scan_describe(const ms_scan *scan, ms_buf *out, ms_status *st)
{
    const memory_scan *self = (const memory_scan *)scan;
    return ms_buf_format(out, st, "source=%.*s", MS_STR_ARG(self->name));
}

static ms_rc scan_enumerator_create(const ms_scan *scan, ms_enumerator **enumerator_out,
                                    ms_status *st)
{
    (void)st;
    const ms_memory_source *source = ((const memory_scan *)scan)->source;
    *enumerator_out = ms_stride_enumerator_create(source->batch_count * source->repeats, 0);
    return MS_OK;
}

/* The reader. */

typedef struct memory_reader {
    ms_reader reader;
    const ms_memory_source *source;
    const uint32_t *columns;
    uint32_t column_count;
    bool takes_all; /* all columns of the source, in its order */
    uint32_t batch_rows;
    ms_stride_set splits;
    ms_vec *vecs;
    uint16_t *positions; /* 0, 1, 2, ... for batches that are larger than batch_rows */
    ms_batch frame;
} memory_reader;

static ms_rc reader_add_split(ms_reader *reader, ms_str split, ms_status *st)
{
    return ms_stride_set_add(&((memory_reader *)reader)->splits, split, st);
}

static void reader_no_more_splits(ms_reader *reader)
{
    ((memory_reader *)reader)->splits.is_complete = true;
}

static bool reader_wants_split(const ms_reader *reader)
{
    return ms_stride_set_wants(&((const memory_reader *)reader)->splits);
}

/* A frame over the wanted columns of the rows [first, first + count). */
static ms_batch *make_frame(memory_reader *self, const ms_batch *batch, uint32_t first,
                            uint32_t count)
{
    for (uint32_t i = 0; i < self->column_count; i++) {
        self->vecs[i] = batch->columns[self->columns[i]];
    }
    ms_batch_frame(&self->frame, batch, self->vecs, self->column_count);
    ms_batch_set_wide_bytes_max(&self->frame, ms_batch_wide_bytes_max(batch));
    if (count < batch->rows) {
        self->frame.sel = self->positions + first;
        self->frame.sel_count = count;
    }
    return &self->frame;
}

static ms_read reader_poll(ms_reader *reader, ms_batch **batch_out, ms_status *st)
{
    (void)st;
    memory_reader *self = (memory_reader *)reader;
    ms_stride *stride = ms_stride_set_pick(&self->splits);
    if (stride == NULL) {
        return self->splits.is_complete ? MS_READ_END : MS_READ_PENDING;
    }
    uint64_t unit = ms_stride_unit(stride, 0) % self->source->batch_count;
    ms_batch *batch = self->source->batches[unit];
    uint32_t first = stride->part < batch->rows ? (uint32_t)stride->part : batch->rows;
    uint32_t left = batch->rows - first;
    uint32_t count = left < self->batch_rows ? left : self->batch_rows;
    bool is_last = count == left;
    stride->next += is_last ? 1 : 0;
    stride->part = is_last ? 0 : first + count;
    reader->rows_read += count;
    if (self->takes_all && count == batch->rows) {
        ms_batch_retain(batch);
        *batch_out = batch;
    } else {
        *batch_out = make_frame(self, batch, first, count);
    }
    return MS_READ_BATCH;
}

static ms_rc reader_snapshot(ms_reader *reader, ms_buf *out, ms_status *st)
{
    return ms_stride_set_snapshot(&((memory_reader *)reader)->splits, out, st);
}

static void reader_close(ms_reader *reader)
{
    memory_reader *self = (memory_reader *)reader;
    ms_stride_set_release(&self->splits);
    ms_mem_free(self->vecs);
    ms_mem_free(self->positions);
    ms_mem_free(self);
}

static const ms_reader_class reader_class = {
    .add_split = reader_add_split,
    .no_more_splits = reader_no_more_splits,
    .wants_split = reader_wants_split,
    .poll = reader_poll,
    .snapshot = reader_snapshot,
    .close = reader_close,
};

static ms_rc scan_reader_create(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                                ms_status *st)
{
    (void)st;
    const memory_scan *plan = (const memory_scan *)scan;
    memory_reader *self = ms_mem_calloc(1, sizeof(*self));
    self->reader.klass = &reader_class;
    self->source = plan->source;
    self->columns = plan->columns;
    self->column_count = scan->output.column_count;
    self->batch_rows = env->batch_rows;
    self->takes_all = self->column_count == plan->source->schema->column_count;
    for (uint32_t i = 0; i < self->column_count; i++) {
        self->takes_all = self->takes_all && self->columns[i] == i;
    }
    self->vecs = ms_mem_calloc(self->column_count, sizeof(*self->vecs));
    self->positions = ms_mem_calloc(MS_BATCH_ROWS_MAX, sizeof(*self->positions));
    for (uint32_t i = 0; i < MS_BATCH_ROWS_MAX; i++) {
        self->positions[i] = (uint16_t)i;
    }
    *reader_out = &self->reader;
    return MS_OK;
}

static const ms_scan_class scan_class = {
    .push_projection = scan_push_projection,
    .describe = scan_describe,
    .enumerator_create = scan_enumerator_create,
    .reader_create = scan_reader_create,
};

/* Making a scan. */

static ms_rc map_column(memory_scan *self, const ms_field *field, uint32_t *column_out,
                        ms_span span, ms_status *st)
{
    const ms_schema *schema = self->source->schema;
    uint32_t at = ms_schema_find(schema, field->name);
    if (at == UINT32_MAX) {
        return ms_status_set(st, MS_UNDEFINED_COLUMN, span,
                             "the batches \"%.*s\" have no column \"%.*s\"", MS_STR_ARG(self->name),
                             MS_STR_ARG(field->name));
    }
    const ms_type *have = schema->columns[at].type;
    bool may_be_null = have->nullable && !field->type->nullable;
    if (!ms_type_same_shape(have, field->type) || may_be_null) {
        return ms_status_set(
            st, MS_TYPE_MISMATCH, span, "column \"%.*s\" is %.*s, but %.*s in the batches \"%.*s\"",
            MS_STR_ARG(field->name), MS_STR_ARG(ms_type_text(self->arena, field->type)),
            MS_STR_ARG(ms_type_text(self->arena, have)), MS_STR_ARG(self->name));
    }
    *column_out = at;
    return MS_OK;
}

static ms_rc map_columns(memory_scan *self, const ms_table *table, ms_status *st)
{
    self->scan.output = ms_table_stored_schema(self->arena, table);
    self->columns = ms_arena_array(self->arena, uint32_t, self->scan.output.column_count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const ms_column *column = &table->columns[i];
        if (column->kind == MS_COLUMN_METADATA) {
            return ms_status_set(st, MS_NOT_SUPPORTED, column->span,
                                 "connector \"memory\" has no metadata columns");
        }
        if (column->kind == MS_COLUMN_PHYSICAL) {
            const ms_field *field = &self->scan.output.columns[at];
            MS_TRY(map_column(self, field, &self->columns[at], column->span, st));
            at++;
        }
    }
    return MS_OK;
}

static ms_rc memory_scan_create(const ms_connector *connector, const ms_table *table,
                                ms_plan_env *env, ms_scan **scan_out, ms_status *st)
{
    (void)connector;
    const ms_option_list *list = &table->options;
    MS_TRY(ms_options_check(list, options, OPTION_COUNT, NULL, NULL, "connector \"memory\"", st));
    ms_option_value name;
    ms_option_value parallelism;
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "source", &name, st));
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "scan.parallelism", &parallelism, st));
    memory_scan *self = ms_arena_new(env->arena, memory_scan);
    self->arena = env->arena;
    self->name = ms_arena_copy_str(env->arena, name.has_value ? name.text : table->name);
    const ms_memory_service *service = env->service;
    self->source = service != NULL ? ms_map_get(&service->sources, self->name) : NULL;
    if (self->source == NULL) {
        ms_status_set(st, MS_UNDEFINED_TABLE, name.span, "there are no batches named \"%.*s\"",
                      MS_STR_ARG(self->name));
        return ms_status_hint(st, "The host program adds them with ms_memory_add_source.");
    }
    self->scan.klass = &scan_class;
    self->scan.is_bounded = true;
    self->scan.parallelism = parallelism.has_value ? (uint32_t)parallelism.i64 : 0;
    self->scan.changelog = MS_CHANGELOG_INSERT;
    MS_TRY(map_columns(self, table, st));
    *scan_out = &self->scan;
    return MS_OK;
}

const ms_connector ms_connector_memory = {
    .name = "memory",
    .options = options,
    .option_count = OPTION_COUNT,
    .scan_create = memory_scan_create,
};
