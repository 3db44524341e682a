/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the gRPC transport share. Who owns what:
 *
 *     any thread      pushes mails: an operation to start, a sweep for those canceled; takes and
 *                     returns spare operations (mutex)
 *     the loop        everything else: the channels, the operations, their attempts and timers
 *
 * An operation is one call or read of the client with all its attempts on the network. It knows how
 * to try again; what is asked and what the answer means is its class's matter, one file a family of
 * methods. An operation of a call goes with the call's end. That of a read goes with the read.
 */
#ifndef MS_BIGTABLE_CLIENT_GRPC_PRIV_H
#define MS_BIGTABLE_CLIENT_GRPC_PRIV_H

#include "bigtable/client/grpc.h"
#include "bigtable/client/rate.h"
#include "bigtable/client/retry.h"
#include "bigtable/client/transport.h"
#include "bigtable/wire/header.h"
#include "net/grpc_client.h"
#include "os/spare.h"

/* Routing cookies of one operation that are kept; more are ignored. */
#define MSI_COOKIES_MAX 8u
#define MSI_COOKIE_BYTES_MAX 4096u

typedef struct msi_grpc msi_grpc;
typedef struct msi_op msi_op;

/* What the operation does after the class has looked at the end of an attempt. */
typedef enum msi_op_next {
    MSI_OP_FINISH, /* op->status is the outcome */
    MSI_OP_AGAIN,  /* it failed: once more, if the rules of retry agree */
    MSI_OP_NEXT    /* it went well, and another request follows after op->pause_ns */
} msi_op_next;

typedef struct msi_op_class {
    const char *path;
    bool is_admin;
    bool is_paced; /* the service may say how fast these begin */
    msi_retry_policy policy;

    /* Appends the request of the next attempt. Anything but OK ends the operation with it. */
    ms_bt_code (*request)(msi_op *op, ms_buf *message, ms_bt_status *bt);

    /* A message of the answer. A failure ends the attempt with it. */
    ms_bt_code (*message)(msi_op *op, ms_str message, ms_bt_status *bt);

    /* The attempt is over; op->status has its end. NULL: OK finishes, a failure asks to be
     * repeated. Called before the rules of retry, which have the last word on AGAIN. */
    msi_op_next (*end)(msi_op *op);

    /* The operation is over, op->status is final: hands the outcome over. The last call. */
    void (*finish)(msi_op *op);
} msi_op_class;

/*
 * The part of an operation that all have. The class's struct begins with it, and is no larger than
 * MSI_OP_BYTES, because operations that are over leave their memory to those that come: they begin
 * on one thread and end on another, which an allocator pays for dearly.
 */
#define MSI_OP_BYTES ((size_t)2560)

struct msi_op {
    ms_spare spare; /* first */
    msi_grpc *grpc;
    ms_arena arena;      /* params */
    ms_buf request;      /* of the attempt under way */
    ms_buf cookie_bytes; /* of the cookies, one behind the other */

    /* Zero in a new one, from here on to the end of the class's struct. */
    const msi_op_class *class_of;
    msi_op *next; /* ring of the transport's operations, on the loop */
    msi_op *prev;
    ms_mail start_mail;
    _Atomic bool *is_canceled; /* of the call or read */
    ms_str params;             /* x-goog-request-params */
    const char *path;          /* in place of the class's where set */
    int64_t timeout_ms;        /* the caller's wish */
    int64_t reach_ms;          /* another one; 0: none */
    int64_t lost_ns;           /* since when no server was reached; while one is: a past attempt */

    msi_retry retry;
    ms_loop_timer timer;
    ms_grpc_call *call; /* of the attempt under way */
    ms_bt_status status;
    ms_str large_row;       /* where that is why the read failed; in the arena */
    int64_t retry_delay_ns; /* what the last answer asked for; below 0: nothing */
    int64_t pause_ns;       /* before the next step */
    bool is_ended;          /* by the class, while the attempt is still being canceled */
    bool is_hopeless;       /* the last attempt found an obstacle that stays */
    uint32_t cookie_count;
    ms_grpc_pair cookies[MSI_COOKIES_MAX];
};

_Static_assert(offsetof(msi_op, grpc) < offsetof(msi_op, class_of) &&
                   offsetof(msi_op, arena) < offsetof(msi_op, class_of) &&
                   offsetof(msi_op, request) < offsetof(msi_op, class_of) &&
                   offsetof(msi_op, cookie_bytes) < offsetof(msi_op, class_of),
               "a spare operation keeps what comes before its class");

struct msi_grpc {
    ms_bt_transport transport; /* first: it is one */
    ms_loop *loop;
    ms_grpc_channel *channel;
    ms_grpc_channel *admin_channel; /* may be the same */
    ms_str features;                /* of the header */
    char features_text[MS_WIRE_FEATURES_TEXT_BYTES];
    msi_op ring;      /* head of the operations; loop */
    ms_arena scratch; /* of one request or message; loop */
    ms_mail sweep_mail;
    _Atomic bool is_sweeping;
    _Atomic bool is_millstream;
    ms_bt_grpc_hints hints;
    msi_rate rate;    /* of MutateRows; loop */
    ms_spares spares; /* operations */
};

/* grpc_op.c */

/* An operation that is not started yet, of MSI_OP_BYTES. The caller sets is_canceled, which is
 * where it will say that it wants the end. Thread: any. */
msi_op *msi_op_create(msi_grpc *grpc, const msi_op_class *class_of, int64_t timeout_ms);

/* Of one that is over. Thread: any. */
void msi_op_destroy(msi_op *op);
void msi_op_init_spares(msi_grpc *grpc);
void msi_op_free_spares(msi_grpc *grpc);

/* The arena for what is forgotten when the request is packed or the message read: it is reset by
 * each call of this. Thread: loop. */
ms_arena *msi_op_fresh_scratch(const msi_op *op);

/* What the call is routed by: key ("table_name") and name, and the app profile of data calls. */
void msi_op_set_params(msi_op *op, const char *key, ms_str name, ms_str app_profile);
void msi_op_set_table(msi_op *op, const ms_bt_table_name *table, ms_str app_profile);

/* Starts it through a mail to the loop, resp. at once on the loop. */
void msi_op_start(msi_op *op);
void msi_op_start_here(msi_op *op);

/* Ends those operations whose callers do not want them any more. Thread: loop. */
void msi_op_sweep(msi_grpc *grpc);

/* Asks the loop to look for canceled operations. Thread: any. */
void msi_grpc_sweep(msi_grpc *grpc);

/* grpc_*.c: how each kind of call starts; the call is handed over. */
void msi_grpc_mutate_rows(msi_grpc *grpc, ms_bt_call *call);
void msi_grpc_check_and_mutate(msi_grpc *grpc, ms_bt_call *call);
void msi_grpc_read_modify_write(msi_grpc *grpc, ms_bt_call *call);
void msi_grpc_ping(msi_grpc *grpc, ms_bt_call *call);
void msi_grpc_sample_row_keys(msi_grpc *grpc, ms_bt_call *call);
void msi_grpc_partitions(msi_grpc *grpc, ms_bt_call *call);
void msi_grpc_table(msi_grpc *grpc, ms_bt_call *call);
void msi_grpc_profile(msi_grpc *grpc, ms_bt_call *call);

/* grpc_read.c, grpc_change.c: slots of the transport. */
void msi_grpc_read_open(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_grpc_read_fill(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_grpc_read_cancel(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_grpc_read_close(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_grpc_change_open(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
void msi_grpc_change_fill(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
void msi_grpc_change_cancel(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
void msi_grpc_change_close(ms_bt_transport *transport, ms_bt_change_attempt *attempt);

#endif
