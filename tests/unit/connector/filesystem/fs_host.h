/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host for the faces of the filesystem connector: a directory of its own, a stepped I/O pool, a
 * mailbox, and a table {id BIGINT, text STRING} planned with real options and the real formats.
 *
 * host_end_job() frees what ends with a job (plan, account, environment) while the pool may still
 * have a job of a face that was closed.
 */
#ifndef MS_TESTS_UNIT_CONNECTOR_FILESYSTEM_FS_HOST_H
#define MS_TESTS_UNIT_CONNECTOR_FILESYSTEM_FS_HOST_H

#include "base/codec.h"
#include "base/env.h"
#include "base/memory.h"
#include "connector/filesystem/filesystem.h"
#include "connector/filesystem/filesystem_priv.h"
#include "format/csv.h"
#include "format/json.h"
#include "os/scratch_dir.h"

/* What ends with a job. */
typedef struct host_job {
    ms_arena arena;
    ms_account account;
    ms_task_env env;
    ms_scan *scan;
    ms_sink *sink;
} host_job;

typedef struct host {
    ms_status st;
    ms_arena arena; /* of the table */
    ms_parker parker;
    ms_mailbox mailbox;
    ms_iopool *pool;
    ms_column columns[3];
    ms_option options[8];
    ms_table table;
    host_job *job;
    uint32_t wakes;
} host;

/* A completion that remembers its answer. */
typedef struct host_done {
    ms_completion head;
    uint32_t count;
    ms_rc rc;
    ms_status st;
} host_done;

__attribute__((unused)) static void host_on_done(ms_completion *completion, ms_rc rc,
                                                 const ms_status *st)
{
    host_done *done = (host_done *)completion;
    done->count++;
    done->rc = rc;
    if (st != NULL) {
        done->st = *st;
    }
}

static inline host_done host_done_make(void)
{
    return (host_done){.head = {.done = host_on_done}};
}

static void host_on_wake(void *task)
{
    ((host *)task)->wakes++;
}

static const ms_format *host_find_format(void *registry, ms_str name)
{
    (void)registry;
    return ms_str_equals(name, ms_str_lit("csv"))    ? &ms_format_csv
           : ms_str_equals(name, ms_str_lit("json")) ? &ms_format_json
                                                     : NULL;
}

static inline void host_option(host *h, const char *key, const char *value)
{
    h->options[h->table.options.count++] =
        (ms_option){.key = ms_str_cstr(key), .value = ms_str_cstr(value)};
    h->table.options.items = h->options;
}

static inline void host_begin_job(host *h, const char *name)
{
    h->job = calloc(1, sizeof *h->job);
    ms_arena_init(&h->job->arena, 0);
    ms_account_init(&h->job->account, NULL, "test", NULL, MS_ACCOUNT_UNLIMITED);
    h->job->env = (ms_task_env){.waker = {.task = h, .wake = host_on_wake},
                                .mailbox = &h->mailbox,
                                .iopool = h->pool,
                                .account = &h->job->account,
                                .parallelism = 1,
                                .batch_rows = 8,
                                .job_name = ms_arena_copy_str(&h->job->arena, ms_str_cstr(name)),
                                .checkpoint_dir = ms_str_lit("/checkpoints/job"),
                                .local_time_zone = ms_str_lit("UTC")};
}

static inline void host_end_job(host *h)
{
    ms_account_release(&h->job->account);
    ms_arena_release(&h->job->arena);
    free(h->job);
    h->job = NULL;
}

/* A table on a path (under the scratch directory unless "-") in a format. */
static inline void host_init(host *h, const char *path, const char *format)
{
    *h = (host){.st = {0}};
    ms_arena_init(&h->arena, 0);
    ms_parker_init(&h->parker);
    ms_mailbox_init(&h->mailbox, &h->parker);
    assert_int_equal(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &h->pool, &h->st),
                     MS_OK);
    h->columns[0] = (ms_column){.name = ms_str_lit("id"),
                                .type = ms_type_simple(&h->arena, MS_TYPE_BIGINT, true)};
    h->columns[1] =
        (ms_column){.name = ms_str_lit("text"), .type = ms_type_string(&h->arena, true)};
    h->table = (ms_table){.name = ms_str_lit("t"), .column_count = 2, .columns = h->columns};
    host_option(h, "connector", "filesystem");
    host_option(h, "path", strcmp(path, "-") == 0 ? path : path_of(path));
    host_option(h, "format", format);
    host_begin_job(h, "job");
}

/* Runs what the pool and the mailbox have. */
static inline void host_run(host *h)
{
    bool moved = true;
    while (moved) {
        moved = ms_iopool_step(h->pool);
        moved |= ms_mailbox_deliver(&h->mailbox, 10) > 0;
    }
}

static inline void host_release(host *h)
{
    if (h->job != NULL) {
        host_end_job(h);
    }
    host_run(h);
    ms_iopool_destroy(h->pool);
    (void)ms_mailbox_deliver(&h->mailbox, 1000);
    ms_mailbox_release(&h->mailbox);
    ms_arena_release(&h->arena);
}

static inline ms_rc host_plan_scan(host *h)
{
    ms_plan_env env = {.arena = &h->job->arena,
                       .local_time_zone = ms_str_lit("UTC"),
                       .find_format = host_find_format};
    return ms_connector_filesystem.scan_create(&ms_connector_filesystem, &h->table, &env,
                                               &h->job->scan, &h->st);
}

static inline ms_rc host_plan_sink(host *h)
{
    ms_plan_env env = {.arena = &h->job->arena,
                       .local_time_zone = ms_str_lit("UTC"),
                       .find_format = host_find_format};
    static const uint32_t targets[] = {0, 1};
    return ms_connector_filesystem.sink_create(&ms_connector_filesystem, &h->table, &env, targets,
                                               2, &h->job->sink, &h->st);
}

#define host_ok(h, call)                                                                           \
    do {                                                                                           \
        if ((call) != MS_OK) {                                                                     \
            fail_msg("%s: %s (%s)", #call, (h)->st.message, (h)->st.detail);                       \
        }                                                                                          \
    } while (0)

#endif
