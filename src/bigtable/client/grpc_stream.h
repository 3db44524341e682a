/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads over gRPC: what a scan and a read of changes have in common. The consumer asks for one page
 * after the other; the stream fills the page from messages that come when they like. While no page
 * is wanted the call is paused, and what was received stays in the backlog.
 *
 *     fill    the page is wanted: first the backlog, then the network
 *     message goes into the page; a page that is full, or has something when the turn of the loop
 *             ends, is delivered
 *     close   the attempt under way is canceled; the read goes when it has ended
 *
 * Ownership: the read belongs to the loop from open until it is freed there. Thread: fill, cancel
 * and close come from the consumer's thread as mails; everything else is the loop's.
 */
#ifndef MS_BIGTABLE_CLIENT_GRPC_STREAM_H
#define MS_BIGTABLE_CLIENT_GRPC_STREAM_H

#include "bigtable/client/grpc_priv.h"

typedef struct msi_bt_stream msi_bt_stream;

typedef struct msi_bt_stream_class {
    /* Reads a message from *at on, until it is used up or the page is full. */
    ms_bt_code (*take)(msi_bt_stream *stream, ms_str message, size_t *at, ms_bt_status *bt);

    /* Has the page something that may be delivered as it is, resp. is it full? */
    bool (*has_output)(const msi_bt_stream *stream);
    bool (*is_full)(const msi_bt_stream *stream);

    /* The messages ended well and were read: may they end here? */
    ms_bt_code (*check_end)(const msi_bt_stream *stream, ms_bt_status *bt);

    /* The read has failed: takes out of the page what will never be complete. NULL: nothing is. */
    void (*drop_partial)(msi_bt_stream *stream);

    /* Hands the page over. A failure comes with an empty page only. */
    void (*deliver)(msi_bt_stream *stream, const ms_bt_status *bt, bool is_at_end);

    /* The last call. */
    void (*destroy)(msi_bt_stream *stream);
} msi_bt_stream_class;

/* The part that both have. The class's struct begins with it. */
struct msi_bt_stream {
    msi_op op; /* first */
    const msi_bt_stream_class *class_of;
    _Atomic bool is_canceled;
    ms_mail fill_mail;
    ms_mail close_mail;
    ms_loop_timer flush;
    ms_buf backlog; /* of messages, each with its length in front */
    size_t backlog_at;
    size_t message_at; /* read so far of the first */
    bool is_wanted;    /* a fill is outstanding */
    bool is_started;
    bool is_over; /* op.status is final */
    bool is_closing;
    bool is_paused;
};

/* Prepares the common part behind msi_op_create; frees the whole. */
void msi_bt_stream_init(msi_bt_stream *stream, const msi_bt_stream_class *class_of);
void msi_bt_stream_destroy(msi_bt_stream *stream);

/* From the consumer's thread. */
void msi_bt_stream_fill(msi_bt_stream *stream);
void msi_bt_stream_cancel(msi_bt_stream *stream);
void msi_bt_stream_close(msi_bt_stream *stream);

/* For the classes of operations. */
ms_bt_code msi_bt_stream_message(msi_op *op, ms_str message, ms_bt_status *bt);
void msi_bt_stream_finish(msi_op *op);

/* Another attempt begins: what the last one brought and nobody read is asked for again. */
void msi_bt_stream_restart(msi_bt_stream *stream);

#endif
