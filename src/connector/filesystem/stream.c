/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output as a sink: records as they come, at-least-once. A checkpoint waits until the
 * records before it are out.
 */
#include "connector/filesystem/filesystem_priv.h"

#include "catalog/outlet.h"

#include <unistd.h>

typedef struct stream_writer {
    ms_writer head;
    ms_encoder *encoder;
    ms_outlet *outlet;
} stream_writer;

static ms_write stream_write(ms_writer *writer, const ms_batch *batch, ms_status *st)
{
    stream_writer *self = (stream_writer *)writer;
    const ms_status *failed = ms_outlet_status(self->outlet);
    if (!ms_status_is_ok(failed)) {
        *st = *failed;
        return MS_WRITE_FAILED;
    }
    if (!ms_outlet_has_room(self->outlet)) {
        return MS_WRITE_BLOCKED;
    }
    ms_buf *lines = ms_outlet_lines(self->outlet);
    size_t before = lines->bytes;
    if (self->encoder->klass->encode(self->encoder, batch, lines, st) != MS_OK) {
        return MS_WRITE_FAILED;
    }
    writer->rows_written += ms_batch_live(batch);
    writer->bytes_written += lines->bytes - before;
    ms_outlet_flush(self->outlet);
    return MS_WRITE_DONE;
}

static void stream_persist(ms_writer *writer, uint64_t checkpoint, ms_completion *completion)
{
    (void)checkpoint;
    ms_outlet_when_idle(((stream_writer *)writer)->outlet, completion);
}

static void stream_close(ms_writer *writer)
{
    stream_writer *self = (stream_writer *)writer;
    ms_outlet_destroy(self->outlet);
    if (self->encoder != NULL) {
        self->encoder->klass->close(self->encoder);
    }
    ms_mem_free(self);
}

static const ms_writer_class stream_class = {
    .write = stream_write,
    .persist = stream_persist,
    .close = stream_close,
};

ms_rc msi_fs_stream_writer_create(const ms_sink *sink, const ms_task_env *env,
                                  ms_writer **writer_out, ms_status *st)
{
    const msi_fs_sink *plan = (const msi_fs_sink *)sink;
    stream_writer *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &stream_class;
    ms_rc rc = plan->table.format->encoder_create(&sink->input, &plan->table.format_options,
                                                  plan->table.time_zone, &self->encoder, st);
    if (rc != MS_OK) {
        stream_close(&self->head);
        return rc;
    }
    self->outlet = ms_outlet_create(STDOUT_FILENO, env);
    *writer_out = &self->head;
    return MS_OK;
}
