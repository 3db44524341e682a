/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer of the filesystem connector in a host: batches of rows, checkpoints, committables.
 */
#ifndef MS_TESTS_UNIT_CONNECTOR_FILESYSTEM_WRITER_HOST_H
#define MS_TESTS_UNIT_CONNECTOR_FILESYSTEM_WRITER_HOST_H

#include "connector/filesystem/fs_host.h"

/* Every writer is one of another run. */
__attribute__((unused)) static ms_writer *open_writer(host *h)
{
    h->job->env.run_id++;
    ms_writer *writer = NULL;
    if (h->job->sink == NULL) {
        host_ok(h, host_plan_sink(h));
        host_ok(h, h->job->sink->klass->prepare(h->job->sink, &h->st));
    }
    host_ok(h, h->job->sink->klass->writer_create(h->job->sink, &h->job->env, &writer, &h->st));
    return writer;
}

/* Writes rows first .. first + count - 1 with a text of so many bytes. */
__attribute__((unused)) static ms_write write_rows(host *h, ms_writer *writer, int64_t first,
                                                   uint32_t count, size_t text_bytes)
{
    ms_batch_pool *pool = ms_batch_pool_create(&h->job->sink->input, count, 1);
    ms_batch *batch = ms_batch_pool_take(pool);
    char *text = malloc(text_bytes + 1);
    memset(text, 'x', text_bytes + 1);
    for (uint32_t i = 0; i < count; i++) {
        MS_VEC_DATA(&batch->columns[0], int64_t)[i] = first + i;
        MS_VEC_DATA(&batch->columns[1], ms_view)
        [i] = ms_batch_put_str(batch, ms_str_make(text, text_bytes));
    }
    batch->rows = count;
    ms_write answer = writer->klass->write(writer, batch, &h->st);
    free(text);
    ms_batch_drop(batch);
    ms_batch_pool_destroy(pool);
    return answer;
}

/* Cuts, persists and waits; the answer of persist. */
__attribute__((unused)) static ms_rc checkpoint(host *h, ms_writer *writer, uint64_t id,
                                                ms_buf *committable)
{
    host_done done = host_done_make();
    host_ok(h, writer->klass->cut(writer, id, false, &h->st));
    writer->klass->persist(writer, id, &done.head);
    host_run(h);
    assert_int_equal(done.count, 1);
    h->st = done.st;
    if (done.rc == MS_OK) {
        ms_buf_reset(committable);
        host_ok(h, writer->klass->committable(writer, id, committable, &h->st));
    }
    return done.rc;
}

/* How many names a directory has that begin with prefix; bytes_out (may be NULL) their sizes. */
__attribute__((unused)) static size_t count_files(const char *dir, const char *prefix,
                                                  uint64_t *bytes_out)
{
    ms_status st = {0};
    ms_arena arena;
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    size_t found = 0;
    uint64_t bytes = 0;
    ms_arena_init(&arena, 0);
    assert_ok(ms_dir_list(path_of(dir), &arena, &entries, &count, &st));
    for (size_t i = 0; i < count; i++) {
        if (ms_str_starts_with(entries[i].name, ms_str_cstr(prefix))) {
            ms_str path = ms_arena_format(&arena, "%s/%s/%.*s", scratch_dir, dir,
                                          MS_STR_ARG(entries[i].name));
            found++;
            bytes += (uint64_t)info_of(path.ptr).bytes;
        }
    }
    ms_arena_release(&arena);
    if (bytes_out != NULL) {
        *bytes_out = bytes;
    }
    return found;
}

#endif
