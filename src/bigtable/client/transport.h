/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies below the client: a transport carries calls and reads to a Bigtable and brings the
 * answers back. The embedded store is one; gRPC is another. A transport knows nothing of flow
 * control, mailboxes of callers or pages held by consumers; it starts what it is given, from any
 * thread, without blocking, and says when it is over, from any thread.
 *
 * A call: start is called once; the transport fills the answers of the typed call (client.h) and
 * ends it with ms_bt_call_finish, after which the object is no longer its own. It keeps what it
 * needs in between in call->transport_state.
 *
 * A read: read_open once; then read_fill again and again, one at a time, each ended by
 * ms_bt_attempt_finish; read_close once, when no fill is under way. Everything about a read happens
 * on the consumer's thread except the work on a fill.
 *
 * Ownership: a transport belongs to whoever made it and outlives its clients. Thread: as said.
 */
#ifndef MS_BIGTABLE_CLIENT_TRANSPORT_H
#define MS_BIGTABLE_CLIENT_TRANSPORT_H

#include "bigtable/client/admin.h"
#include "bigtable/client/change.h"
#include "bigtable/client/client.h"
#include "bigtable/client/single_row.h"
#include "os/mailbox.h"

typedef struct ms_bt_transport ms_bt_transport;
typedef struct ms_bt_attempt ms_bt_attempt;
typedef struct ms_bt_change_attempt ms_bt_change_attempt;

typedef struct ms_bt_transport_class {
    /* Are writes applied in the order of their starts? Not where they go by several connections and
     * are repeated. */
    bool keeps_order;
    /* Has the other side named itself as Millstream, in an answer so far? NULL: it is our store. */
    bool (*is_millstream)(const ms_bt_transport *transport);
    void (*start)(ms_bt_transport *transport, ms_bt_call *call);
    /* Says that ms_bt_call_is_canceled has become true of a call that is started or about to be;
     * it may be over already, but was not delivered. NULL: nobody needs to be told. */
    void (*cancel)(ms_bt_transport *transport, ms_bt_call *call);
    void (*read_open)(ms_bt_transport *transport, ms_bt_attempt *attempt);
    void (*read_fill)(ms_bt_transport *transport, ms_bt_attempt *attempt);
    void (*read_cancel)(ms_bt_transport *transport, ms_bt_attempt *attempt);
    void (*read_close)(ms_bt_transport *transport, ms_bt_attempt *attempt);
    /* Reads of changes: as the four above. A fill ends when there is a change or a heartbeat. */
    void (*change_open)(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
    void (*change_fill)(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
    void (*change_cancel)(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
    void (*change_close)(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
} ms_bt_transport_class;

/* What every transport begins with. */
struct ms_bt_transport {
    const ms_bt_transport_class *class;
};

/* Calls. */

/* The call is over: status and answers are filled. Thread: any. */
void ms_bt_call_finish(ms_bt_call *call);

/* Same, for who ends several calls: the caller hears of it when the outbox is sent. Thread: the
 * outbox's. */
void ms_bt_call_finish_in(ms_bt_call *call, ms_outbox *outbox);

/* Does the caller want the call to end soon? Thread: any. */
static inline bool ms_bt_call_is_canceled(ms_bt_call *call)
{
    /* Order relaxed: a wish, which guards no other memory. */
    return atomic_load_explicit(&call->is_canceled, memory_order_relaxed);
}

/* The typed call of a call object. */
static inline ms_bt_mutate_rows *ms_bt_call_mutate_rows(ms_bt_call *call)
{
    MS_ASSERT(call->kind == MS_BT_CALL_MUTATE_ROWS);
    return (ms_bt_mutate_rows *)(void *)((char *)call - offsetof(ms_bt_mutate_rows, call));
}

static inline ms_bt_sample_row_keys *ms_bt_call_sample_row_keys(ms_bt_call *call)
{
    MS_ASSERT(call->kind == MS_BT_CALL_SAMPLE_ROW_KEYS);
    return (ms_bt_sample_row_keys *)(void *)((char *)call - offsetof(ms_bt_sample_row_keys, call));
}

static inline ms_bt_check_and_mutate *ms_bt_call_check_and_mutate(ms_bt_call *call)
{
    MS_ASSERT(call->kind == MS_BT_CALL_CHECK_AND_MUTATE);
    return (ms_bt_check_and_mutate *)(void *)((char *)call -
                                              offsetof(ms_bt_check_and_mutate, call));
}

static inline ms_bt_read_modify_write *ms_bt_call_read_modify_write(ms_bt_call *call)
{
    MS_ASSERT(call->kind == MS_BT_CALL_READ_MODIFY_WRITE);
    return (ms_bt_read_modify_write *)(void *)((char *)call -
                                               offsetof(ms_bt_read_modify_write, call));
}

static inline ms_bt_ping *ms_bt_call_ping(ms_bt_call *call)
{
    MS_ASSERT(call->kind == MS_BT_CALL_PING);
    return (ms_bt_ping *)(void *)((char *)call - offsetof(ms_bt_ping, call));
}

static inline ms_bt_partitions *ms_bt_call_partitions(ms_bt_call *call)
{
    MS_ASSERT(call->kind == MS_BT_CALL_PARTITIONS);
    return (ms_bt_partitions *)(void *)((char *)call - offsetof(ms_bt_partitions, call));
}

/* All calls on profiles share one type. */
static inline ms_bt_profile_call *ms_bt_call_profile(ms_bt_call *call)
{
    MS_ASSERT(call->kind >= MS_BT_CALL_CREATE_PROFILE && call->kind <= MS_BT_CALL_DELETE_PROFILE);
    return (ms_bt_profile_call *)(void *)((char *)call - offsetof(ms_bt_profile_call, call));
}

/* All calls on tables share one type. */
static inline ms_bt_table_call *ms_bt_call_table(ms_bt_call *call)
{
    MS_ASSERT(call->kind >= MS_BT_CALL_CREATE_TABLE && call->kind <= MS_BT_CALL_COLLECT_GARBAGE);
    return (ms_bt_table_call *)(void *)((char *)call - offsetof(ms_bt_table_call, call));
}

/* Records that an entry failed. Indexes ascend. Thread: the transport's, before it finishes. */
ms_rc ms_bt_failures_add(ms_bt_failures *failures, uint32_t index, ms_bt_code code, ms_str text,
                         ms_status *st) MS_MUST_USE;

/* Reads. */

struct ms_bt_attempt {
    /* Set before read_open. */
    const ms_bt_read_options *options;
    ms_mailbox *mailbox;
    ms_mail mail; /* the client's */

    /* Set before read_fill: an empty page. The fill appends rows up to the limits of options, and
     * may end with none before the end of the data, when looking took too long. */
    ms_bt_page *page;

    /* Set by the transport before ms_bt_attempt_finish. */
    ms_bt_status status; /* failed: the page is ignored, and no other fill follows */
    ms_str large_row;    /* failed because this row is too large; lives until read_close */
    bool is_at_end;      /* no other fill follows; the page counts */
    ms_bt_read_stats stats;
    uint32_t incarnation; /* of the table; 0: not known */

    void *transport_data;
};

/* The fill is over. Thread: any. */
void ms_bt_attempt_finish(ms_bt_attempt *attempt);

/* Same, when the outbox is sent. Thread: the outbox's. */
void ms_bt_attempt_finish_in(ms_bt_attempt *attempt, ms_outbox *outbox);

/* Reads of changes. */

struct ms_bt_change_attempt {
    /* Set before change_open. */
    const ms_bt_change_options *options;
    ms_mailbox *mailbox;
    ms_mail mail; /* the client's */

    /* Set before change_fill: an empty page. */
    ms_bt_change_page *page;

    /* Set by the transport before ms_bt_change_attempt_finish. */
    ms_bt_status status; /* failed: the page is ignored, and no other fill follows */
    bool is_at_end;      /* the page ends with a CLOSE; no other fill follows */

    void *transport_data;
};

/* The fill is over. Thread: any. */
void ms_bt_change_attempt_finish(ms_bt_change_attempt *attempt);

/* Same, when the outbox is sent. Thread: the outbox's. */
void ms_bt_change_attempt_finish_in(ms_bt_change_attempt *attempt, ms_outbox *outbox);

#endif
