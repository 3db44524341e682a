/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the bigtable connector share: tables made from a few words, an embedded store
 * in a fresh directory with a client, a service and a task's environment around it.
 */
#ifndef MS_TESTS_UNIT_CONNECTOR_BIGTABLE_BT_TESTING_H
#define MS_TESTS_UNIT_CONNECTOR_BIGTABLE_BT_TESTING_H

#include "testing.h"

#include "base/codec.h"
#include "base/env.h"
#include "base/memory.h"
#include "bigtable/client/admin.h"
#include "bigtable/store/store.h"
#include "catalog/connector.h"
#include "connector/bigtable/bigtable.h"
#include "connector/bigtable/layout.h"
#include "connector/bigtable/service.h"
#include "os/file.h"
#include "os/iopool.h"
#include "os/mailbox.h"
#include "type/batch.h"

#include <inttypes.h>

/* Tables. */

typedef struct table_maker {
    ms_arena *arena;
    ms_column columns[32];
    ms_option options[32];
    uint32_t keys[8];
    ms_table table;
} table_maker;

static inline void maker_option(table_maker *m, const char *key, const char *value)
{
    uint32_t i = m->table.options.count++;
    /* Places that tests recognize: keys at 1000, values at 2000 and their number. */
    m->options[i] = (ms_option){.key = ms_str_cstr(key),
                                .value = ms_str_cstr(value),
                                .key_span = {1000 + i, 1001 + i},
                                .value_span = {2000 + i, 2001 + i}};
    m->table.options.items = m->options;
}

static inline void maker_init(table_maker *m, ms_arena *arena)
{
    memset(m, 0, sizeof(*m));
    m->arena = arena;
    m->table.name = ms_str_lit("t");
    m->table.columns = m->columns;
    m->table.key_columns = m->keys;
    maker_option(m, "connector", "bigtable");
    maker_option(m, "project", "p");
    maker_option(m, "instance", "i");
    maker_option(m, "table", "t");
}

static inline void maker_column(table_maker *m, const char *name, const ms_type *type)
{
    uint32_t i = m->table.column_count++;
    m->columns[i] =
        (ms_column){.name = ms_str_cstr(name), .type = type, .span = {100 + i, 101 + i}};
}

static inline void maker_key(table_maker *m, uint32_t column)
{
    m->keys[m->table.key_count++] = column;
}

/* A type from a few words: STRING, BYTES, INT, "DECIMAL 5 2", "TIMESTAMP 3"; "!" in front: NOT
 * NULL. */
static inline const ms_type *make_type(ms_arena *arena, const char *text)
{
    bool nullable = text[0] != '!';
    text += nullable ? 0 : 1;
    static const struct {
        const char *name;
        ms_type_kind kind;
    } simple[] = {{"BOOLEAN", MS_TYPE_BOOLEAN},       {"TINYINT", MS_TYPE_TINYINT},
                  {"SMALLINT", MS_TYPE_SMALLINT},     {"INT", MS_TYPE_INT},
                  {"BIGINT", MS_TYPE_BIGINT},         {"FLOAT", MS_TYPE_FLOAT},
                  {"DOUBLE", MS_TYPE_DOUBLE},         {"DATE", MS_TYPE_DATE},
                  {"MONTHS", MS_TYPE_INTERVAL_MONTH}, {"SECONDS", MS_TYPE_INTERVAL_SECOND}};
    for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++) {
        if (strcmp(simple[i].name, text) == 0) {
            return ms_type_simple(arena, simple[i].kind, nullable);
        }
    }
    if (strcmp(text, "STRING") == 0) {
        return ms_type_string(arena, nullable);
    }
    if (strcmp(text, "BYTES") == 0) {
        return ms_type_bytes(arena, nullable);
    }
    char word[32];
    int a = 0;
    int b = 0;
    assert_true(sscanf(text, "%31s %d %d", word, &a, &b) >= 2);
    if (strcmp(word, "DECIMAL") == 0) {
        return ms_type_decimal(arena, a, b, nullable);
    }
    ms_type_kind kind = strcmp(word, "CHAR") == 0            ? MS_TYPE_CHAR
                        : strcmp(word, "VARCHAR") == 0       ? MS_TYPE_VARCHAR
                        : strcmp(word, "BINARY") == 0        ? MS_TYPE_BINARY
                        : strcmp(word, "VARBINARY") == 0     ? MS_TYPE_VARBINARY
                        : strcmp(word, "TIME") == 0          ? MS_TYPE_TIME
                        : strcmp(word, "TIMESTAMP") == 0     ? MS_TYPE_TIMESTAMP
                        : strcmp(word, "TIMESTAMP_LTZ") == 0 ? MS_TYPE_TIMESTAMP_LTZ
                                                             : MS_TYPE_NULL;
    assert_int_not_equal(kind, MS_TYPE_NULL);
    return kind >= MS_TYPE_TIME ? ms_type_temporal(arena, kind, a, nullable)
                                : ms_type_sized(arena, kind, a, nullable);
}

/* A family from "name type, name type". */
static inline const ms_type *make_row(ms_arena *arena, const char *fields, bool nullable)
{
    ms_field list[64];
    uint32_t count = 0;
    ms_str rest = ms_str_cstr(fields);
    while (rest.bytes > 0) {
        size_t comma = ms_str_find_byte(rest, ',', 0);
        comma = comma == SIZE_MAX ? rest.bytes : comma;
        ms_str item = ms_str_trim(ms_str_slice(rest, 0, comma));
        size_t blank = ms_str_find_byte(item, ' ', 0);
        ms_str type = ms_arena_copy_str(arena, ms_str_slice(item, blank + 1, item.bytes));
        list[count++] = (ms_field){ms_arena_copy_str(arena, ms_str_slice(item, 0, blank)),
                                   make_type(arena, type.ptr)};
        rest = ms_str_slice(rest, comma + 1, rest.bytes);
    }
    return ms_type_row(arena, list, count, nullable);
}

static inline void maker_family(table_maker *m, const char *name, const char *fields)
{
    maker_column(m, name, make_row(m->arena, fields, true));
}

/* The layout of a maker's table with default options. */
static inline msi_bt_layout make_layout(table_maker *m)
{
    static const msi_bt_codec_options options = {.null_literal = {"null", 4}};
    static const ms_bt_table_name name = {{"p", 1}, {"i", 1}, {"t", 1}};
    ms_status st = {0};
    msi_bt_layout layout;
    assert_ok(msi_bt_layout_make(m->arena, &m->table, &name, &options, &layout, &st));
    return layout;
}

/* A store, and what runs on it. */

typedef struct world {
    ms_bigtable_service service;
    char path[64];
    ms_iopool *pool;
    ms_bt_store *store;
    ms_bt_client *client;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_account account;
    ms_arena arena; /* of plans */
    uint32_t wakes;
    ms_task_env env;
    ms_bt_table_name name;
} world;

static inline ms_rc world_open(ms_bigtable_service *service, const ms_bigtable_place *place,
                               bool for_write, ms_bt_client **client_out, ms_status *st)
{
    (void)place;
    (void)for_write;
    (void)st;
    *client_out = ((world *)service)->client;
    return MS_OK;
}

static inline void world_wake(void *task)
{
    ((world *)task)->wakes++;
}

static inline void world_wake_at(void *task, int64_t mono_ns)
{
    (void)task;
    (void)mono_ns;
}

/* row_bytes_max: of the store; 0 is the service's limit. */
static inline void world_init_with(world *w, uint32_t row_bytes_max)
{
    memset(w, 0, sizeof(*w));
    ms_status st = {0};
    snprintf(w->path, sizeof(w->path), "/tmp/btconn-test-XXXXXX");
    assert_non_null(mkdtemp(w->path));
    assert_ok(ms_iopool_create(&(ms_iopool_options){.threads = 2}, &w->pool, &st));
    ms_bt_store_options options = {.path = w->path,
                                   .pool = w->pool,
                                   .create = true,
                                   .sync_mode = MS_BT_SYNC_CHECKPOINT,
                                   .row_bytes_max = row_bytes_max,
                                   .cache_bytes = 8u << 20,
                                   .write_buffer_bytes = 4u << 20};
    assert_ok(ms_bt_store_open(&options, &w->store, &st));
    w->client = ms_bt_client_create(ms_bt_store_transport(w->store), NULL);
    ms_parker_init(&w->parker);
    ms_mailbox_init(&w->mailbox, &w->parker);
    ms_account_init(&w->account, NULL, "test", NULL, MS_ACCOUNT_UNLIMITED);
    ms_arena_init(&w->arena, 0);
    w->service.open = world_open;
    w->name = (ms_bt_table_name){ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")};
    w->env = (ms_task_env){.waker = {world_wake, w, world_wake_at},
                           .mailbox = &w->mailbox,
                           .iopool = w->pool,
                           .account = &w->account,
                           .parallelism = 1,
                           .batch_rows = 2048,
                           .job_name = ms_str_lit("job"),
                           .local_time_zone = ms_str_lit("UTC")};
}

static inline void world_init(world *w)
{
    world_init_with(w, 0);
}

/* Delivers mails; sleeps a moment when there are none. */
static inline void world_turn(world *w)
{
    if (ms_mailbox_deliver(&w->mailbox, 64) == 0) {
        (void)ms_parker_park(&w->parker, 20000000);
    }
}

static inline void world_release(world *w)
{
    ms_status st = {0};
    assert_int_equal(ms_account_used_bytes(&w->account), 0);
    for (int i = 0; i < 3; i++) {
        world_turn(w);
    }
    ms_bt_client_destroy(w->client);
    assert_ok(ms_bt_store_close(w->store, &st));
    ms_iopool_destroy(w->pool);
    ms_mailbox_release(&w->mailbox);
    ms_account_release(&w->account);
    ms_arena_release(&w->arena);
    assert_ok(ms_dir_remove(w->path, &st));
}

static inline void done_nothing(ms_bt_call *call, void *arg)
{
    (void)call;
    (void)arg;
}

static inline void wake_nothing(void *arg)
{
    (void)arg;
}

static inline void world_create_table(world *w, const char *const *families, size_t count)
{
    ms_bt_family list[16] = {0};
    for (size_t i = 0; i < count; i++) {
        list[i].name = ms_str_cstr(families[i]);
    }
    ms_bt_table table = {.name = w->name, .families = list, .family_count = count};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &w->mailbox, done_nothing, NULL);
    call.table = &table;
    ms_bt_client_create_table(w->client, &call);
    ms_bt_call_wait(&call.call, &w->parker);
    assert_int_equal(call.call.status.code, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

/* Writes one cell as it is. */
static inline void world_set(world *w, ms_str key, const char *family, const char *qualifier,
                             int64_t micros, ms_str value)
{
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    uint16_t index = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_cstr(family), &index, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, key, &st));
    assert_ok(
        ms_bt_mutation_batch_set_cell(&batch, index, ms_str_cstr(qualifier), micros, value, &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &w->mailbox, done_nothing, NULL);
    call.table = &w->name;
    call.batch = &batch;
    ms_bt_client_mutate_rows(w->client, &call);
    ms_bt_call_wait(&call.call, &w->parker);
    assert_int_equal(call.call.status.code, MS_BT_OK);
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
}

/* All rows of the table as text: "key{family:qualifier=value,...}". */
static inline void world_dump(world *w, ms_buf *out)
{
    ms_status st = {0};
    char text[3][256];
    ms_bt_read_options options = {.table = w->name};
    ms_bt_read *read = ms_bt_client_read_rows(w->client, &options, &w->mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    ms_bt_poll poll = ms_bt_read_wait(read, &w->parker, &page);
    while (poll == MS_BT_POLL_PAGE) {
        for (uint32_t r = 0; r < page->row_count; r++) {
            const ms_bt_row *row = &page->rows[r];
            ms_bt_bytes_text(ms_bt_page_key(page, row), text[0], sizeof(text[0]));
            assert_ok(ms_buf_format(out, &st, "%s{", text[0]));
            for (uint32_t c = 0; c < row->cell_count; c++) {
                const ms_bt_cell *cell = &page->cells[row->first_cell + c];
                assert_ok(ms_buf_format(
                    out, &st, "%s%.*s:%s=%s", c == 0 ? "" : ",",
                    MS_STR_ARG(ms_bt_page_family(page, cell)),
                    ms_bt_bytes_text(ms_bt_page_qualifier(page, cell), text[1], sizeof(text[1])),
                    ms_bt_bytes_text(ms_bt_page_value(page, cell), text[2], sizeof(text[2]))));
            }
            assert_ok(ms_buf_append_byte(out, '}', &st));
        }
        ms_bt_read_return(read, page);
        poll = ms_bt_read_wait(read, &w->parker, &page);
    }
    assert_int_equal(poll, MS_BT_POLL_END);
    assert_true(ms_bt_read_close(read, NULL, NULL));
}

static inline void assert_table(world *w, const char *expected)
{
    ms_status st = {0};
    ms_buf out;
    ms_buf_init(&out, 64u << 20);
    world_dump(w, &out);
    assert_ok(ms_buf_append_byte(&out, '\0', &st));
    assert_string_equal(out.ptr, expected);
    ms_buf_release(&out);
}

/* Planning. */

static inline ms_plan_env plan_env(world *w)
{
    return (ms_plan_env){.arena = &w->arena, .is_streaming = true, .service = &w->service};
}

static inline ms_scan *plan_scan(world *w, table_maker *m)
{
    ms_status st = {0};
    ms_scan *scan = NULL;
    ms_plan_env env = plan_env(w);
    assert_ok(
        ms_connector_bigtable.scan_create(&ms_connector_bigtable, &m->table, &env, &scan, &st));
    assert_ok(scan->klass->prepare(scan, &st));
    return scan;
}

static inline ms_sink *plan_sink(world *w, table_maker *m)
{
    ms_status st = {0};
    ms_sink *sink = NULL;
    ms_plan_env env = plan_env(w);
    assert_ok(ms_connector_bigtable.sink_create(&ms_connector_bigtable, &m->table, &env, NULL, 0,
                                                &sink, &st));
    assert_ok(sink->klass->prepare(sink, &st));
    return sink;
}

#endif
