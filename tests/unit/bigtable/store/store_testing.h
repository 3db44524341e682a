/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store in a fresh directory with its pool and a client, and synchronous helpers around the
 * asynchronous client, for the tests of the store.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_STORE_STORE_TESTING_H
#define MS_TESTS_UNIT_BIGTABLE_STORE_STORE_TESTING_H

#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "bigtable/client/admin.h"
#include "bigtable/client/grpc.h"
#include "bigtable/client/single_row.h"
#include "bigtable/server/server.h"
#include "bigtable/store/store.h"
#include "net/loop.h"
#include "os/file.h"
#include "os/iopool.h"
#include "os/mailbox.h"

#include <inttypes.h>
#include <semaphore.h>

/* RocksDB is not built for ThreadSanitizer, which therefore does not see what orders its memory;
 * what it copies with memcpy and frees is left out. Our own code is checked in full. */
#ifdef MS_TSAN
const char *__tsan_default_options(void)
{
    return "ignore_noninstrumented_modules=1";
}
#endif

#define POOL_THREADS 3

typedef struct fixture {
    char path[64];
    ms_iopool *pool;
    ms_bt_store *store;
    ms_bt_client *client;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_bt_table_name table;
    ms_bt_sync_mode sync_mode;
    int64_t gc_period_ms; /* as in the options of the store */
    uint32_t queued_mutations_max;
    uint32_t row_bytes_max;
#ifdef MS_OVER_GRPC
    uint32_t reads_max; /* as in the options of the server */
    uint64_t large_bytes_max;
    ms_loop *server_loop;
    ms_loop *client_loop;
    ms_bt_server *server;
    struct ms_bt_transport *transport;
#endif
} fixture;

#define assert_bt(bt, expected)                                                                    \
    do {                                                                                           \
        if ((bt)->code != (expected)) {                                                            \
            fail_msg("%s: %s", ms_bt_code_name((bt)->code), (bt)->text);                           \
        }                                                                                          \
    } while (0)

static inline void done_nothing(ms_bt_call *call, void *arg)
{
    (void)call;
    (void)arg;
}

static inline void wake_nothing(void *arg)
{
    (void)arg;
}

/* The client, over the transport that this program tests. */
#ifdef MS_OVER_GRPC
static inline void fixture_connect(fixture *f)
{
    ms_status st = {0};
    char target[32];
    assert_ok(ms_loop_create("server", &f->server_loop, &st));
    assert_ok(ms_loop_create("client", &f->client_loop, &st));
    ms_bt_server_options server = {.loops = &f->server_loop,
                                   .loop_count = 1,
                                   .listen = ms_str_lit("127.0.0.1:0"),
                                   .store = f->store,
                                   .reads_max = f->reads_max,
                                   .large_bytes_max = f->large_bytes_max};
    assert_ok(ms_bt_server_create(&server, &f->server, &st));
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)ms_bt_server_port(f->server));
    ms_bt_grpc_options grpc = {.loop = f->client_loop, .target = ms_str_cstr(target)};
    assert_ok(ms_bt_grpc_create(&grpc, &f->transport, &st));
    f->client = ms_bt_client_create(f->transport, NULL);
}

static inline void fixture_disconnect(fixture *f)
{
    ms_bt_client_destroy(f->client);
    ms_bt_grpc_destroy(f->transport);
    ms_loop_destroy(f->client_loop);
    ms_bt_server_destroy(f->server, 0);
    ms_loop_destroy(f->server_loop);
}
#else
static inline void fixture_connect(fixture *f)
{
    f->client = ms_bt_client_create(ms_bt_store_transport(f->store), NULL);
}

static inline void fixture_disconnect(fixture *f)
{
    ms_bt_client_destroy(f->client);
}
#endif

static inline void fixture_open(fixture *f)
{
    ms_status st = {0};
    ms_bt_store_options options = {.path = f->path,
                                   .pool = f->pool,
                                   .create = true,
                                   .sync_mode = f->sync_mode,
                                   .queued_mutations_max = f->queued_mutations_max,
                                   .row_bytes_max = f->row_bytes_max,
                                   .cache_bytes = 8u << 20,
                                   .write_buffer_bytes = 1u << 20,
                                   .gc_period_ms = f->gc_period_ms,
                                   .has_no_thread = true};
    assert_ok(ms_bt_store_open(&options, &f->store, &st));
    fixture_connect(f);
}

static inline void fixture_close(fixture *f)
{
    ms_status st = {0};
    fixture_disconnect(f);
    (void)ms_bt_store_close(f->store, &st);
    f->client = NULL;
    f->store = NULL;
}

static inline void fixture_init(fixture *f, ms_bt_sync_mode mode)
{
    memset(f, 0, sizeof(*f));
    ms_status st = {0};
    snprintf(f->path, sizeof(f->path), "/tmp/store-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    f->sync_mode = mode;
    assert_ok(ms_iopool_create(&(ms_iopool_options){.threads = POOL_THREADS}, &f->pool, &st));
    ms_parker_init(&f->parker);
    ms_mailbox_init(&f->mailbox, &f->parker);
    f->table = (ms_bt_table_name){ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")};
    fixture_open(f);
}

static inline void fixture_release(fixture *f)
{
    ms_status st = {0};
    if (f->store != NULL) {
        fixture_close(f);
    }
    ms_iopool_destroy(f->pool);
    ms_mailbox_release(&f->mailbox);
    assert_ok(ms_dir_remove(f->path, &st));
}

/* Jobs that hold all threads of the pool, so that nothing is written, until they are let go. */

typedef struct held_thread {
    ms_iojob job;
    sem_t *gate;
} held_thread;

typedef struct held_pool {
    held_thread threads[POOL_THREADS];
    sem_t gate;
} held_pool;

static inline void hold_thread(ms_iojob *job)
{
    while (sem_wait(MS_MAIL_OWNER(job, held_thread, job)->gate) != 0) {
    }
}

static inline void pool_hold(fixture *f, held_pool *held)
{
    ms_status st = {0};
    assert_int_equal(sem_init(&held->gate, 0, 0), 0);
    for (int i = 0; i < POOL_THREADS; i++) {
        held->threads[i] = (held_thread){.job = {.run = hold_thread}, .gate = &held->gate};
        assert_ok(ms_iopool_submit(f->pool, &held->threads[i].job, &st));
    }
}

static inline void pool_let_go(held_pool *held)
{
    for (int i = 0; i < POOL_THREADS; i++) {
        sem_post(&held->gate);
    }
}

/* Creates the fixture's table; granularity 0 is that of milliseconds. */
static inline void create_table_of(fixture *f, const ms_bt_family *families, size_t count,
                                   int64_t granularity_micros)
{
    ms_bt_table table = {.name = f->table,
                         .families = families,
                         .family_count = count,
                         .granularity_micros = granularity_micros};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &table;
    ms_bt_client_create_table(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

/* Creates the fixture's table with these raw families, in this order. */
static inline void create_table(fixture *f, const char *const *families, size_t count)
{
    ms_bt_family list[16] = {0};
    for (size_t i = 0; i < count; i++) {
        list[i].name = ms_str_cstr(families[i]);
    }
    create_table_of(f, list, count, 0);
}

static inline void add_family_of(fixture *f, const ms_bt_family *family)
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.name = f->table;
    call.families = family;
    call.family_count = 1;
    ms_bt_client_add_families(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

static inline void add_family(fixture *f, const char *name)
{
    ms_bt_family family = {.name = ms_str_cstr(name)};
    add_family_of(f, &family);
}

/* The status of a write, or that of its first entry that failed: all of them fail alike. */
static inline ms_bt_status status_of(const ms_bt_mutate_rows *call)
{
    ms_bt_status status = call->call.status;
    uint32_t count = ms_bt_mutate_rows_failure_count(call);
    if (count > 0) {
        assert_bt(&call->call.status, MS_BT_OK);
        assert_int_equal(count, ms_bt_mutation_batch_entries(call->batch));
        assert_int_equal(ms_bt_mutate_rows_failure(call, 0, &status), 0);
    }
    return status;
}

/* Submits a batch and waits. */
static inline ms_bt_status write_batch(fixture *f, const ms_bt_mutation_batch *batch)
{
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    call.batch = batch;
    ms_bt_client_mutate_rows(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    ms_bt_status status = status_of(&call);
    ms_bt_mutate_rows_release(&call);
    return status;
}

static inline ms_bt_status set_cell(fixture *f, const char *key, const char *family,
                                    const char *qualifier, int64_t micros, const char *value)
{
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    uint16_t index = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_cstr(family), &index, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(key), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, index, ms_str_cstr(qualifier), micros,
                                            ms_str_cstr(value), &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_status status = write_batch(f, &batch);
    ms_bt_mutation_batch_release(&batch);
    return status;
}

/* Appends pages as text: "key{family:qualifier@micros=value,...}". */
static inline void append_page(const ms_bt_page *page, ms_buf *out)
{
    ms_status st = {0};
    char text[3][256];
    for (uint32_t r = 0; r < page->row_count; r++) {
        const ms_bt_row *row = &page->rows[r];
        assert_ok(
            ms_buf_format(out, &st, "%s{",
                          ms_bt_bytes_text(ms_bt_page_key(page, row), text[0], sizeof(text[0]))));
        for (uint32_t c = 0; c < row->cell_count; c++) {
            const ms_bt_cell *cell = &page->cells[row->first_cell + c];
            assert_ok(ms_buf_format(
                out, &st, "%s%.*s:%s@%" PRId64 "=%s", c == 0 ? "" : ",",
                MS_STR_ARG(ms_bt_page_family(page, cell)),
                ms_bt_bytes_text(ms_bt_page_qualifier(page, cell), text[1], sizeof(text[1])),
                cell->timestamp_micros,
                ms_bt_bytes_text(ms_bt_page_value(page, cell), text[2], sizeof(text[2]))));
        }
        assert_ok(ms_buf_append_byte(out, '}', &st));
    }
}

/* Reads to the end; rows as text, or the status when the read fails. */
static inline ms_bt_status read_text(fixture *f, const ms_bt_read_options *options, ms_buf *out)
{
    ms_bt_read *read = ms_bt_client_read_rows(f->client, options, &f->mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    ms_bt_poll poll = ms_bt_read_wait(read, &f->parker, &page);
    while (poll == MS_BT_POLL_PAGE) {
        append_page(page, out);
        ms_bt_read_return(read, page);
        poll = ms_bt_read_wait(read, &f->parker, &page);
    }
    ms_bt_status status = *ms_bt_read_status(read);
    assert_int_equal(poll, ms_bt_status_is_ok(&status) ? MS_BT_POLL_END : MS_BT_POLL_FAILED);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return status;
}

static inline void assert_rows_of(fixture *f, const ms_bt_read_options *options,
                                  const char *expected)
{
    ms_buf out;
    ms_buf_init(&out, 64u << 20);
    ms_bt_status status = read_text(f, options, &out);
    assert_bt(&status, MS_BT_OK);
    ms_status st = {0};
    assert_ok(ms_buf_append_byte(&out, '\0', &st));
    assert_string_equal(out.ptr, expected);
    ms_buf_release(&out);
}

static inline void assert_rows(fixture *f, const char *expected)
{
    assert_rows_of(f, &(ms_bt_read_options){.table = f->table}, expected);
}

#endif
