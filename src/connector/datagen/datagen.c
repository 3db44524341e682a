/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The datagen connector: planning face and reader. Splits and enumerator are those of numbered
 * units (catalog/stride.h); a unit is a row.
 *
 * The rate is kept by credit: it grows with the clock, as many rows a second as the reader's splits
 * are of the table's, and every row spends one. A reader without credit asks to be woken when there
 * is some again, a few milliseconds later at the earliest, so that a rate of ten thousand rows a
 * second is a batch of fifty rows every five milliseconds.
 */
#include "connector/datagen/datagen.h"

#include "base/env.h"
#include "catalog/stride.h"
#include "connector/datagen/generator.h"
#include "type/zone.h"

/* A latency that nobody sees, and a few hundred wake-ups a second. */
#define TICK_NS INT64_C(5000000)
#define SECOND_NS INT64_C(1000000000)

/* A batch of large values has fewer rows. */
#define BATCH_BYTES_MAX (16u << 20)

static const ms_option_desc options[] = {
    {.key = "connector", .kind = MS_OPT_STRING, .required = true},
    {.key = "rows-per-second",
     .kind = MS_OPT_I64,
     .min = 1,
     .max = INT64_C(1000000000000),
     .fallback = "10000"},
    {.key = "number-of-rows", .kind = MS_OPT_I64, .min = 1, .max = INT64_MAX},
    {.key = "scan.parallelism", .kind = MS_OPT_I64, .min = 1, .max = MS_LIMIT_PARALLELISM},
    {.key = "scan.watermark.#", .kind = MS_OPT_STRING, .unsupported = true},
    {.key = "scan.watermark.#.#", .kind = MS_OPT_STRING, .unsupported = true},
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

typedef struct datagen_scan {
    ms_scan scan;
    ms_arena *arena;
    const msi_generator *all;         /* of every column of the table */
    const msi_generator **generators; /* one a column of the output */
    uint64_t total;                   /* rows; MS_STRIDE_UNBOUNDED */
    int64_t rows_per_second;
} datagen_scan;

/* The reader. */

typedef struct datagen_reader {
    ms_reader reader;
    const datagen_scan *plan;
    ms_waker waker;
    uint32_t rows_max;
    ms_stride_set splits;
    double credit;   /* rows that may be made now */
    int64_t then_ns; /* when the credit was counted */
    bool needs_local_time;
    ms_arena zone_arena;
    ms_zone_cursor cursor;
    ms_arena memory; /* of the batch */
    ms_vec *columns;
    ms_batch frame;
} datagen_reader;

static ms_rc reader_add_split(ms_reader *reader, ms_str split, ms_status *st)
{
    return ms_stride_set_add(&((datagen_reader *)reader)->splits, split, st);
}

static void reader_no_more_splits(ms_reader *reader)
{
    ((datagen_reader *)reader)->splits.is_complete = true;
}

static bool reader_wants_split(const ms_reader *reader)
{
    return ms_stride_set_wants(&((const datagen_reader *)reader)->splits);
}

/* Rows a second of this reader: its share of the splits is its share of the rate. */
static double rate_of(const datagen_reader *self)
{
    double rate = 0;
    for (uint32_t i = 0; i < self->splits.count; i++) {
        if (ms_stride_left(&self->splits.items[i]) > 0) {
            rate += (double)self->plan->rows_per_second / (double)self->splits.items[i].stride;
        }
    }
    return rate;
}

/*
 * Counts the credit up to now. At most a second of it is kept, as what was held up by a slow
 * consumer is not to come as a flood; the first row needs none.
 */
static void earn(datagen_reader *self, double rate, int64_t now_ns)
{
    if (self->then_ns == 0) {
        self->credit = 1;
    } else {
        self->credit += rate * (double)(now_ns - self->then_ns) / (double)SECOND_NS;
    }
    double most = rate > 1 ? rate : 1;
    self->credit = self->credit > most ? most : self->credit;
    self->then_ns = now_ns;
}

static void wait_for_credit(datagen_reader *self, double rate, int64_t now_ns)
{
    double wait_ns = (1 - self->credit) / rate * (double)SECOND_NS;
    int64_t pause_ns = wait_ns > (double)TICK_NS ? (int64_t)wait_ns + 1 : TICK_NS;
    ms_wake_at(&self->waker, now_ns + pause_ns);
}

static uint32_t count_rows(const datagen_reader *self, const ms_stride *stride)
{
    uint64_t rows = (uint64_t)self->credit;
    rows = rows > self->rows_max ? self->rows_max : rows;
    return (uint32_t)(rows > ms_stride_left(stride) ? ms_stride_left(stride) : rows);
}

/* Makes the next rows of a split. The columns live until the next batch. */
static void fill(datagen_reader *self, ms_stride *stride, uint32_t rows)
{
    ms_arena_reset(&self->memory);
    msi_generator_env env = {
        .arena = &self->memory, .seed = stride->seed, .now_us = ms_env_wall_us()};
    if (self->needs_local_time) {
        env.local_us = ms_zone_local_from_utc_us(&self->cursor, env.now_us);
    }
    const ms_schema *schema = &self->plan->scan.output;
    for (uint32_t c = 0; c < schema->column_count; c++) {
        const msi_generator *generator = self->plan->generators[c];
        ms_vec_alloc(&self->columns[c], schema->columns[c].type, rows, &self->memory);
        for (uint32_t i = 0; i < rows; i++) {
            ms_value value = msi_generator_value(generator, &env, ms_stride_unit(stride, i));
            ms_value_to_vec(&self->memory, &value, &self->columns[c], i, rows);
        }
    }
    self->frame =
        (ms_batch){.rows = rows, .columns = self->columns, .column_count = schema->column_count};
}

static ms_read reader_poll(ms_reader *reader, ms_batch **batch_out, ms_status *st)
{
    (void)st;
    datagen_reader *self = (datagen_reader *)reader;
    ms_stride *stride = ms_stride_set_pick(&self->splits);
    if (stride == NULL) {
        return self->splits.is_complete ? MS_READ_END : MS_READ_PENDING;
    }
    double rate = rate_of(self);
    int64_t now_ns = ms_env_mono_ns();
    earn(self, rate, now_ns);
    uint32_t rows = count_rows(self, stride);
    if (rows == 0) {
        wait_for_credit(self, rate, now_ns);
        return MS_READ_PENDING;
    }
    fill(self, stride, rows);
    self->credit -= rows;
    stride->next += rows;
    reader->rows_read += rows;
    *batch_out = &self->frame;
    return MS_READ_BATCH;
}

static ms_rc reader_snapshot(ms_reader *reader, ms_buf *out, ms_status *st)
{
    return ms_stride_set_snapshot(&((datagen_reader *)reader)->splits, out, st);
}

static void reader_close(ms_reader *reader)
{
    datagen_reader *self = (datagen_reader *)reader;
    ms_stride_set_release(&self->splits);
    ms_arena_release(&self->memory);
    ms_arena_release(&self->zone_arena);
    ms_mem_free(self->columns);
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

/* How many rows a batch may have, so that its values do not take too much memory. */
static uint32_t rows_per_batch(const datagen_scan *plan, uint32_t batch_rows)
{
    uint64_t row_bytes = 1;
    for (uint32_t c = 0; c < plan->scan.output.column_count; c++) {
        row_bytes += msi_generator_bytes(plan->generators[c]);
    }
    uint64_t rows = BATCH_BYTES_MAX / row_bytes;
    rows = rows == 0 ? 1 : rows;
    return rows > batch_rows ? batch_rows : (uint32_t)rows;
}

static ms_rc open_clock(datagen_reader *self, const ms_task_env *env, ms_status *st)
{
    for (uint32_t c = 0; c < self->plan->scan.output.column_count; c++) {
        self->needs_local_time |= msi_generator_needs_clock(self->plan->generators[c]);
    }
    if (!self->needs_local_time) {
        return MS_OK;
    }
    const ms_zone *zone = NULL;
    MS_TRY(ms_zone_make(&self->zone_arena, env->local_time_zone, &zone, st));
    self->cursor = ms_zone_cursor_make(zone);
    return MS_OK;
}

static ms_rc scan_reader_create(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                                ms_status *st)
{
    datagen_reader *self = ms_mem_calloc(1, sizeof(*self));
    self->reader.klass = &reader_class;
    self->plan = (const datagen_scan *)scan;
    self->waker = env->waker;
    self->rows_max = rows_per_batch(self->plan, env->batch_rows);
    self->columns = ms_mem_calloc(scan->output.column_count, sizeof(*self->columns));
    ms_arena_init(&self->zone_arena, 0);
    ms_arena_init(&self->memory, 0);
    if (open_clock(self, env, st) != MS_OK) {
        reader_close(&self->reader);
        return st->code;
    }
    *reader_out = &self->reader;
    return MS_OK;
}

/* Planning. */

static ms_rc scan_push_projection(ms_scan *scan, const uint32_t *columns, uint32_t count,
                                  ms_status *st)
{
    (void)st;
    datagen_scan *self = (datagen_scan *)scan;
    ms_field *fields = ms_arena_array(self->arena, ms_field, count);
    const msi_generator **kept = ms_arena_array(self->arena, const msi_generator *, count);
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = scan->output.columns[columns[i]];
        kept[i] = self->generators[columns[i]];
    }
    scan->output = (ms_schema){count, fields};
    self->generators = kept;
    return MS_OK;
}

static ms_rc scan_describe(const ms_scan *scan, ms_buf *out, ms_status *st)
{
    const datagen_scan *self = (const datagen_scan *)scan;
    MS_TRY(ms_buf_format(out, st, "rows-per-second=%lld", (long long)self->rows_per_second));
    if (scan->is_bounded) {
        return ms_buf_format(out, st, ", rows=%llu", (unsigned long long)self->total);
    }
    return MS_OK;
}

static ms_rc scan_enumerator_create(const ms_scan *scan, ms_enumerator **enumerator_out,
                                    ms_status *st)
{
    (void)st;
    const datagen_scan *self = (const datagen_scan *)scan;
    *enumerator_out = ms_stride_enumerator_create(self->total, ms_env_next_seed());
    return MS_OK;
}

static const ms_scan_class scan_class = {
    .push_projection = scan_push_projection,
    .describe = scan_describe,
    .enumerator_create = scan_enumerator_create,
    .reader_create = scan_reader_create,
};

/* Keys of fields are checked with their generators. */
static bool is_field_key(void *arg, ms_str key)
{
    (void)arg;
    return ms_str_starts_with(key, ms_str_lit("fields."));
}

static ms_rc read_options(datagen_scan *self, const ms_table *table, ms_status *st)
{
    const ms_option_list *list = &table->options;
    MS_TRY(ms_options_check(list, options, OPTION_COUNT, is_field_key, NULL,
                            "connector \"datagen\"", st));
    ms_option_value rate;
    ms_option_value rows;
    ms_option_value parallelism;
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "rows-per-second", &rate, st));
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "number-of-rows", &rows, st));
    MS_TRY(ms_option_get(list, options, OPTION_COUNT, "scan.parallelism", &parallelism, st));
    self->rows_per_second = rate.i64;
    self->total = rows.has_value ? (uint64_t)rows.i64 : MS_STRIDE_UNBOUNDED;
    self->scan.parallelism = parallelism.has_value ? (uint32_t)parallelism.i64 : 0;
    return MS_OK;
}

static ms_rc check_row_bytes(const datagen_scan *self, ms_status *st)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < self->scan.output.column_count; c++) {
        uint64_t column = msi_generator_bytes(&self->all[c]);
        bytes = bytes > UINT64_MAX - column ? UINT64_MAX : bytes + column;
    }
    if (bytes > MS_LIMIT_RECORD_BYTES) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "a row of connector \"datagen\" would take more than %u MiB",
                             MS_LIMIT_RECORD_BYTES >> 20);
    }
    return MS_OK;
}

static ms_rc datagen_scan_create(const ms_connector *connector, const ms_table *table,
                                 ms_plan_env *env, ms_scan **scan_out, ms_status *st)
{
    (void)connector;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == MS_COLUMN_METADATA) {
            return ms_status_set(st, MS_NOT_SUPPORTED, table->columns[i].span,
                                 "connector \"datagen\" has no metadata columns");
        }
    }
    datagen_scan *self = ms_arena_new(env->arena, datagen_scan);
    self->arena = env->arena;
    self->scan.klass = &scan_class;
    self->scan.changelog = MS_CHANGELOG_INSERT;
    self->scan.output = ms_table_stored_schema(env->arena, table);
    MS_TRY(read_options(self, table, st));
    MS_TRY(msi_generators_make(table, &self->scan.output, env->arena, &self->all, st));
    MS_TRY(check_row_bytes(self, st));
    uint32_t count = self->scan.output.column_count;
    self->generators = ms_arena_array(env->arena, const msi_generator *, count);
    for (uint32_t c = 0; c < count; c++) {
        uint64_t rows = msi_generator_rows(&self->all[c]);
        self->total = rows < self->total ? rows : self->total;
        self->generators[c] = &self->all[c];
    }
    self->scan.is_bounded = self->total != MS_STRIDE_UNBOUNDED;
    *scan_out = &self->scan;
    return MS_OK;
}

const ms_connector ms_connector_datagen = {
    .name = "datagen",
    .options = options,
    .option_count = OPTION_COUNT,
    .scan_create = datagen_scan_create,
};
