/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Bigtable client: the one way by which connectors, functions and commands reach a Bigtable,
 * whichever transport lies below (client/transport.h): the embedded store in process, or gRPC
 * (client/grpc.h). It checks nothing that the service checks, and bounds what is outstanding.
 * This header has the life of calls, writing and scans; single_row.h, change.h and admin.h have
 * the others.
 *
 * Every call is asynchronous. The caller owns a call object, submits it, and gets its done function
 * called later, on the thread that drains the mailbox that the call names: never inline, never on
 * another thread. The object, and what it points to, stay untouched from submission to done.
 *
 *     static void written(ms_bt_call *call, void *arg) { ... look at call->status ... }
 *
 *     ms_bt_mutate_rows write;
 *     ms_bt_mutate_rows_init(&write, mailbox, written, sink);
 *     write.table = &sink->table;
 *     write.batch = &sink->batch;
 *     ms_bt_client_mutate_rows(client, &write);
 *     ...                                    the mailbox delivers: written(&write.call, sink)
 *     ms_bt_mutate_rows_release(&write);
 *
 * A call object is used again after done without another init. A call cannot be abandoned: whoever
 * closes early cancels it and drains the mailbox until it is done. In process that takes at most
 * one turn of the store.
 *
 * Ownership: as said at each type. Thread: a client is shared by all threads; a call or a read
 * belongs to the thread of its mailbox.
 */
#ifndef MS_BIGTABLE_CLIENT_CLIENT_H
#define MS_BIGTABLE_CLIENT_CLIENT_H

#include "bigtable/model/filter.h"
#include "bigtable/model/mutation.h"
#include "bigtable/model/name.h"
#include "bigtable/model/page.h"
#include "bigtable/model/range.h"
#include "bigtable/model/table.h"

#include <stdatomic.h>

struct ms_mailbox;
struct ms_parker;
struct ms_bt_transport;

typedef struct ms_bt_client ms_bt_client;

/* Life of the client. */

typedef struct ms_bt_client_options {
    /* Mutations and bytes of mutate_rows calls that the transport holds at one time. Calls beyond
     * wait their turn in the client, in order; a call that alone exceeds a bound goes when nothing
     * else is outstanding. 0: the defaults below. */
    uint32_t in_flight_mutations_max;
    uint64_t in_flight_bytes_max;
} ms_bt_client_options;

#define MS_BT_CLIENT_IN_FLIGHT_MUTATIONS 300000u    /* what a service front end takes */
#define MS_BT_CLIENT_IN_FLIGHT_BYTES (256ull << 20) /* the largest single request */

/* Makes a client over a transport, which it borrows; options may be NULL. */
ms_bt_client *ms_bt_client_create(struct ms_bt_transport *transport,
                                  const ms_bt_client_options *options);

/*
 * Waits until no call is outstanding and no read is open: those of a job that has gone come back by
 * themselves, through mailboxes that other threads drain. Takes NULL. Thread: any but these.
 */
void ms_bt_client_drain(ms_bt_client *client);

/* Takes NULL. No call is outstanding and no read is open; and no done function of a call is
 * running, after which the client still has something to do. */
void ms_bt_client_destroy(ms_bt_client *client);

/* Are writes applied in the order in which they were submitted? What is under way at the same time
 * may otherwise be applied in any. */
bool ms_bt_client_keeps_order(const ms_bt_client *client);

/*
 * Is it Millstream that answers: the embedded store, or a server that has named itself so in an
 * answer? False before the first one. Whoever needs what no other Bigtable has looks here after a
 * call, to tell a server that has no such thing from a call that was wrong.
 */
bool ms_bt_client_is_millstream(const ms_bt_client *client);

/* Calls. */

typedef enum ms_bt_call_kind {
    MS_BT_CALL_MUTATE_ROWS,
    MS_BT_CALL_SAMPLE_ROW_KEYS,
    MS_BT_CALL_SYNC,
    MS_BT_CALL_CHECK_AND_MUTATE, /* single_row.h */
    MS_BT_CALL_READ_MODIFY_WRITE,
    MS_BT_CALL_PING,
    MS_BT_CALL_PARTITIONS,   /* change.h */
    MS_BT_CALL_CREATE_TABLE, /* admin.h: ms_bt_table_call from here */
    MS_BT_CALL_GET_TABLE,
    MS_BT_CALL_LIST_TABLES,
    MS_BT_CALL_ADD_FAMILIES,
    MS_BT_CALL_MODIFY_FAMILIES,
    MS_BT_CALL_UPDATE_TABLE,
    MS_BT_CALL_DROP_TABLE,
    MS_BT_CALL_DROP_ROWS,
    MS_BT_CALL_SPLIT_TABLET,
    MS_BT_CALL_MERGE_TABLETS,
    MS_BT_CALL_COLLECT_GARBAGE, /* to here */
    MS_BT_CALL_CREATE_PROFILE,  /* ms_bt_profile_call from here */
    MS_BT_CALL_GET_PROFILE,
    MS_BT_CALL_LIST_PROFILES,
    MS_BT_CALL_UPDATE_PROFILE,
    MS_BT_CALL_DELETE_PROFILE, /* to here */
    MS_BT_CALL_COUNT
} ms_bt_call_kind;

typedef struct ms_bt_call ms_bt_call;
typedef void (*ms_bt_done_fn)(ms_bt_call *call, void *arg);

#define MS_BT_CALL_PRIVATE_BYTES 256

/*
 * What all calls begin with. Set app_profile, timeout_ms and reach_ms after init where wanted; read
 * status in and after done; the rest is private.
 */
struct ms_bt_call {
    ms_str app_profile; /* borrowed; empty: "default" */
    int64_t timeout_ms; /* for all attempts together; 0: the transport's default */
    int64_t reach_ms;   /* no server reached for so long: no more attempts; 0: as many as else */
    ms_bt_status status;
    ms_bt_call_kind kind;
    bool outstanding;
    _Atomic bool is_canceled;
    struct ms_mailbox *mailbox;
    ms_bt_done_fn done;
    void *arg;
    ms_bt_client *client;
    _Alignas(16) char client_state[MS_BT_CALL_PRIVATE_BYTES];
    _Alignas(16) char transport_state[MS_BT_CALL_PRIVATE_BYTES];
};

/* True from submission until done is entered. */
static inline bool ms_bt_call_is_outstanding(const ms_bt_call *call)
{
    return call->outstanding;
}

/*
 * Asks an outstanding call to end soon. It still completes through the mailbox, with CANCELLED if
 * it had no effect yet, else with its real outcome. No effect on a call that is not outstanding.
 */
void ms_bt_call_cancel(ms_bt_call *call);

/* Drains the mailbox of a call, sleeping on its parker, until the call is done. For commands and
 * tests; a worker never waits. */
void ms_bt_call_wait(ms_bt_call *call, struct ms_parker *parker);

/* Writing. */

/* Entries that failed, ascending by index; equal texts are kept once. Fields are private. */
typedef struct ms_bt_failures {
    struct ms_bt_failure *list;
    uint32_t count;
    uint32_t capacity;
    ms_buf texts;
} ms_bt_failures;

/*
 * MutateRows. Set table and batch (no entry open) before submission; both are borrowed until done.
 *
 * status is OK when the request was taken: then each entry has an outcome of its own, and failures
 * lists those that failed. Else the request as a whole failed and no entry has another outcome.
 * Every entry is applied whole or not at all. UNAVAILABLE and DEADLINE_EXCEEDED mean that the
 * outcome is unknown.
 */
typedef struct ms_bt_mutate_rows {
    ms_bt_call call;
    bool is_single; /* MutateRow: one entry, whose failure is the call's own status */
    const ms_bt_table_name *table;
    const ms_bt_mutation_batch *batch;
    ms_bt_failures failures;
} ms_bt_mutate_rows;

void ms_bt_mutate_rows_init(ms_bt_mutate_rows *call, struct ms_mailbox *mailbox, ms_bt_done_fn done,
                            void *arg);
void ms_bt_mutate_rows_release(ms_bt_mutate_rows *call);
void ms_bt_client_mutate_rows(ms_bt_client *client, ms_bt_mutate_rows *call);

static inline uint32_t ms_bt_mutate_rows_failure_count(const ms_bt_mutate_rows *call)
{
    return call->failures.count;
}

/* The i-th failed entry: its index in the batch, and its status. */
uint32_t ms_bt_mutate_rows_failure(const ms_bt_mutate_rows *call, uint32_t i,
                                   ms_bt_status *status_out);

/*
 * Makes everything that was acknowledged before this call survive the loss of power, where the
 * transport leaves that to the caller (the embedded store in sync mode "checkpoint"); elsewhere it
 * succeeds at once. A sink calls it when it persists a checkpoint.
 */
typedef struct ms_bt_sync {
    ms_bt_call call;
} ms_bt_sync;

void ms_bt_sync_init(ms_bt_sync *call, struct ms_mailbox *mailbox, ms_bt_done_fn done, void *arg);
void ms_bt_client_sync(ms_bt_client *client, ms_bt_sync *call);

/* Reading. */

typedef struct ms_bt_read_options {
    ms_bt_table_name table;
    ms_str app_profile;         /* empty: "default" */
    ms_bt_row_set rows;         /* neither keys nor ranges: every row */
    const ms_bt_filter *filter; /* NULL: every cell */
    int64_t rows_limit;         /* 0: all */
    bool is_reversed;           /* rows in descending order; cells of a row as ever */
    bool wants_stats;           /* rows and cells seen, where the transport must ask for them */
    bool wants_progress;        /* pages say how far they come (ms_bt_page_scanned), and one without
                                 * rows comes when a filter drops many */
    uint32_t incarnation;       /* not 0: NOT_FOUND when the table of this name is another than the
                                 * one that an answer named so (ms_bt_read_incarnation); a
                                 * transport that names none takes any */
    int64_t timeout_ms;         /* for all attempts together; 0: the transport's default */
    int64_t reach_ms;           /* as of a call */
    uint32_t page_rows_max;     /* a page ends after this many rows; 0: 1000 */
    size_t page_bytes_max;      /* or with the row that reaches this; 0: 1 MiB */
} ms_bt_read_options;

typedef enum ms_bt_poll {
    MS_BT_POLL_PAGE,    /* a page is there */
    MS_BT_POLL_PENDING, /* wake will be called */
    MS_BT_POLL_END,     /* all rows were delivered */
    MS_BT_POLL_FAILED   /* ms_bt_read_status says why */
} ms_bt_poll;

/* A scan under way. */
typedef struct ms_bt_read ms_bt_read;

/*
 * Starts a scan; options are copied whole, filter and keys included. Rows come in the order
 * of their keys, each once, as pages; one page is filled ahead while the consumer works on another.
 * A row is never half of one moment and half of another; two rows may be.
 *
 * wake(arg) is called through the mailbox after MS_BT_POLL_PENDING, when polling again makes sense.
 * Nothing is reported here: a request that the service refuses fails at the first poll that is not
 * PENDING.
 */
ms_bt_read *ms_bt_client_read_rows(ms_bt_client *client, const ms_bt_read_options *options,
                                   struct ms_mailbox *mailbox, void (*wake)(void *arg), void *arg);

/* The next page, which the consumer holds until it gives it back. At most one page is held, and it
 * has at least one row, unless the read wants progress. */
ms_bt_poll ms_bt_read_poll(ms_bt_read *read, const ms_bt_page **page_out);

/* Gives the held page back. */
void ms_bt_read_return(ms_bt_read *read, const ms_bt_page *page);

/* Why the read failed; valid after MS_BT_POLL_FAILED. */
const ms_bt_status *ms_bt_read_status(const ms_bt_read *read);

/* The row that is too large to be read, where that is why the read failed; else empty. Whoever can
 * do without it reads on behind it. Lives until the read is closed. */
ms_str ms_bt_read_large_row(const ms_bt_read *read);

/* Which of the tables that ever had this name is read, as of the last page that has come; 0 where
 * the transport does not know: the wire has no such thing. */
uint32_t ms_bt_read_incarnation(const ms_bt_read *read);

/* Rows and cells that the store looked at so far, where it says so; for request statistics. */
typedef struct ms_bt_read_stats {
    uint64_t rows_seen;
    uint64_t cells_seen;
    uint64_t bytes_seen; /* of keys and values in the store */
    uint64_t rows_returned;
    uint64_t cells_returned;
} ms_bt_read_stats;

ms_bt_read_stats ms_bt_read_get_stats(const ms_bt_read *read);

/* Like ms_bt_call_wait: drains the mailbox until polling gives something else than PENDING. */
ms_bt_poll ms_bt_read_wait(ms_bt_read *read, struct ms_parker *parker, const ms_bt_page **page_out);

/*
 * Ends a read in any state; a held page is gone, and wake is not called any more. True: all is
 * over. False: the transport still works on a page; the read ends, and closed(arg) is called where
 * it is not NULL, when the mailbox delivers that, so the mailbox must live and be drained until
 * then.
 */
bool ms_bt_read_close(ms_bt_read *read, void (*closed)(void *arg), void *arg);

/*
 * SampleRowKeys: keys that cut the table in parts of about equal size, ascending, with the bytes
 * before each; the last is the empty key, the end of the table. Set table; the answer lives until
 * the next submission or release.
 */
typedef struct ms_bt_row_key_sample {
    ms_str key;
    int64_t offset_bytes;
} ms_bt_row_key_sample;

typedef struct ms_bt_sample_row_keys {
    ms_bt_call call;
    const ms_bt_table_name *table;
    ms_bt_range range; /* zero: the whole table */
    const ms_bt_row_key_sample *samples;
    size_t sample_count;
    uint32_t incarnation; /* of the table, as of a read; 0: not known */
    ms_arena answer;
} ms_bt_sample_row_keys;

void ms_bt_sample_row_keys_init(ms_bt_sample_row_keys *call, struct ms_mailbox *mailbox,
                                ms_bt_done_fn done, void *arg);
void ms_bt_sample_row_keys_release(ms_bt_sample_row_keys *call);
void ms_bt_client_sample_row_keys(ms_bt_client *client, ms_bt_sample_row_keys *call);

#endif
