/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of runtime/ share, from the bottom up: actors, which are what a worker runs;
 * channels between tasks; the driver of a task with its operators, tails and cuts; the coordinator
 * of a job; and the job itself.
 *
 *     job ---- coordinator (actor)          commands ---->  task (actor)
 *      |         enumerators, committers    <---- events      nodes: operators, upstream first
 *      |         checkpoint in progress                        tails: to channels
 *      +------ graph: stages, tasks, channels                  cuts on their way to disk
 *
 * Everything that crosses a thread is a mail, an item of a channel, or a wake of an actor. Mails
 * only enqueue; the actor takes what came at its own pace, in order.
 */
#ifndef MS_RUNTIME_RUNTIME_PRIV_H
#define MS_RUNTIME_RUNTIME_PRIV_H

#include "exec/operator.h"
#include "os/file.h"
#include "os/thread.h"
#include "runtime/job.h"

#include <stdatomic.h>

typedef struct msi_worker msi_worker;
typedef struct msi_actor msi_actor;
typedef struct msi_channel msi_channel;
typedef struct msi_task msi_task;
typedef struct msi_node msi_node;
typedef struct msi_tail msi_tail;
typedef struct msi_cut msi_cut;
typedef struct msi_coordinator msi_coordinator;

/* ---- Actors (workers.c) ---- */

/*
 * Something that a worker runs in bounded turns: a task or a coordinator. It stays on one worker.
 * Waking is idempotent and never lost: a wake during a turn causes another turn.
 */
struct msi_actor {
    ms_mail mail;           /* takes the actor into its worker's run queue */
    _Atomic uint32_t state; /* SCHEDULED while queued or running, NOTIFIED since a wake */
    msi_worker *worker;
    const void *owner; /* the job; see msi_workers_retire */
    /* Runs one turn; woken: somebody asked for it. True: more to do, run again soon. */
    bool (*run)(msi_actor *actor, bool woken);
    msi_actor *next; /* in the run queue */
    /* Among runnable sources of one job, the one with the smallest rank runs first. */
    bool is_source;
    int64_t rank;
    int64_t deadline_ns; /* INT64_MAX: none; in the worker's list of timers otherwise */
    msi_actor *timer_next;
};

void msi_actor_init(msi_actor *actor, msi_worker *worker, const void *owner,
                    bool (*run)(msi_actor *actor, bool woken));

/* Thread: any. */
void msi_actor_wake(msi_actor *actor);

/* Wakes the actor at a time of ms_env_mono_ns, or at an earlier one asked for. Thread: its
 * worker's. */
void msi_actor_wake_at(msi_actor *actor, int64_t mono_ns);

ms_mailbox *msi_worker_mailbox(msi_worker *worker);

/* Delivers what has arrived by now. Thread: the worker's, between calls of handlers. */
void msi_worker_deliver(msi_worker *worker);

/* The worker for a placement number, with its thread started. */
ms_rc msi_workers_place(ms_workers *workers, uint32_t placement, msi_worker **worker_out,
                        ms_status *st) MS_MUST_USE;

/* Where the tasks of the next job begin, so that small jobs spread. */
uint32_t msi_workers_next_base(ms_workers *workers);
ms_iopool *msi_workers_iopool(const ms_workers *workers);
bool msi_workers_is_stepped(const ms_workers *workers);

/* Returns when no worker holds an actor of this owner any more; nobody wakes them by then. */
void msi_workers_retire(ms_workers *workers, const void *owner);

/* ---- Completion tokens (completion.c) ---- */

/*
 * A token made by `owner`; when it is done, deliver(token) runs on the owner's worker, unless the
 * owner was detached. Tokens outlive their owners.
 */
typedef struct msi_token {
    ms_completion completion; /* first: a completion is the start of its token */
    ms_mail mail;
    _Atomic bool is_done;
    msi_worker *worker;
    void (*deliver)(struct msi_token *token);
    void *owner; /* NULL: detached */
    ms_rc rc;
    ms_status *failure; /* of a call that failed */
    struct msi_token *next;
    struct msi_token *prev;
} msi_token;

/* The tokens that an owner waits for. Thread: the owner's worker. */
typedef struct msi_token_list {
    msi_token *first;
    uint32_t count;
    msi_token *spent; /* oldest first */
    msi_token *newest_spent;
    uint32_t spent_count;
} msi_token_list;

msi_token *msi_token_make(msi_token_list *list, msi_worker *worker, void *owner,
                          void (*deliver)(msi_token *token));

/* A token was delivered and is used up. */
void msi_token_free(msi_token_list *list, msi_token *token);

/* The owner goes away, with no delivered token left unused: what comes later is dropped. */
void msi_token_detach_all(msi_token_list *list);

/* How the call ended: a success, or the failure it reported. */
const ms_status *msi_token_status(const msi_token *token);

/* Counting of tokens that are out, for ms_workers_destroy (workers.c). */
void msi_workers_token_made(msi_worker *worker);
void msi_workers_token_gone(msi_worker *worker);

/* ---- Items and channels (channel.c) ---- */

typedef enum msi_item_kind {
    MSI_ITEM_BATCH,
    MSI_ITEM_WATERMARK,
    MSI_ITEM_BARRIER,
    MSI_ITEM_END
} msi_item_kind;

typedef struct msi_item {
    msi_item_kind kind;
    uint32_t input;   /* of the operator that takes it */
    bool is_final;    /* BARRIER: no row follows */
    ms_ending ending; /* END */
    union {
        ms_batch *batch;
        ms_time_ms watermark;
        ms_checkpoint_id checkpoint;
    } u;
    uint64_t bytes; /* BATCH in a channel: what was charged */
} msi_item;

/* Control items in flight on one channel: a watermark, a barrier, an ending, and one to spare. */
#define MSI_CONTROL_SLOTS 4u

/*
 * A ring from one task to another. The producer may have `data_slots` batches in flight, counted
 * from the push until the consumer has released them, and beyond two of them only as many bytes as
 * the consumer takes in about 100 ms; control items have slots of their own.
 */
struct msi_channel {
    msi_item *items;
    uint32_t mask;
    uint32_t data_slots;
    ms_account *account;
    msi_actor *producer;
    msi_actor *consumer;
    uint32_t input; /* of the consumer's root operator */
    /* Written by the producer. */
    _Alignas(64) _Atomic uint64_t tail;
    uint64_t pushed_batches;
    uint64_t pushed_bytes;
    uint64_t pushed_controls;
    /* Written by the consumer. */
    _Alignas(64) _Atomic uint64_t released_batches;
    _Atomic uint64_t released_bytes;
    _Atomic uint64_t released_controls;
    _Atomic uint64_t credit_bytes;
    uint64_t head;
    bool is_aligned; /* its barrier has come, those of others have not */
    bool has_ended;
    ms_time_ms watermark;
    /* Written by both: the producer sleeps until something is released. */
    _Alignas(64) _Atomic bool producer_waits;
};

void msi_channel_init(msi_channel *channel, uint32_t data_slots, uint64_t credit_bytes,
                      ms_account *account);

/* Nothing is in flight. */
void msi_channel_release(msi_channel *channel);

/* Producer. */

bool msi_channel_has_credit(const msi_channel *channel);
bool msi_channel_has_control_slot(const msi_channel *channel);
bool msi_channel_is_drained(const msi_channel *channel); /* no batch is in flight */
bool msi_channel_was_used(const msi_channel *channel);   /* a batch was sent */

/*
 * Sends a batch with a reference; there is credit. False when the memory budget has no room and
 * something is in flight whose release will make some; fails when nothing is.
 */
bool msi_channel_push_batch(msi_channel *channel, ms_batch *batch, ms_status *st) MS_MUST_USE;

/* Sends a control item; there is a slot. */
void msi_channel_push_control(msi_channel *channel, const msi_item *item);

/*
 * Asks to be woken at the next release. Returns true when it asked already and nothing was released
 * since; else the caller looks once more before it sleeps.
 */
bool msi_channel_await_release(msi_channel *channel);

/* Consumer. */

bool msi_channel_pop(msi_channel *channel, msi_item *item_out) MS_MUST_USE;
bool msi_channel_is_empty(const msi_channel *channel);

/* The batch that was popped is done with, and dropped. */
void msi_channel_release_batch(msi_channel *channel, uint64_t bytes);

/* Drops what is in flight. The producer has stopped. */
void msi_channel_drain(msi_channel *channel);

/* Wakes the producer when it waits. */
void msi_channel_wake_producer(msi_channel *channel);

/* ---- Tasks (task.c, driver.c, host.c, cut.c, tail.c) ---- */

/* What waits for an operator or tail: at most a watermark, a batch, a watermark and an ending of
 * one call, or an ending and a barrier. */
#define MSI_INBOX_ITEMS 4u

typedef struct msi_inbox {
    msi_item items[MSI_INBOX_ITEMS];
    uint32_t first;
    uint32_t count;
    bool in_complete; /* its operator answered MORE to a completion */
} msi_inbox;

static inline msi_item *msi_inbox_head(msi_inbox *inbox)
{
    return &inbox->items[inbox->first];
}

void msi_inbox_push(msi_inbox *inbox, msi_item item);
void msi_inbox_pop(msi_inbox *inbox);

/* Numbers that other threads read while the task runs. Order relaxed: they guard nothing. */
typedef struct msi_gauges {
    _Atomic uint64_t rows_in;
    _Atomic uint64_t rows_out;
    _Atomic uint64_t rows_late;
    _Atomic uint64_t restored_entries;
    _Atomic uint64_t state_entries;
    _Atomic uint64_t state_bytes;
    _Atomic int64_t watermark;
    _Atomic uint64_t rows_in_committed;   /* at the newest committed cut */
    _Atomic uint64_t rows_out_checkpoint; /* at the newest complete checkpoint */
} msi_gauges;

/* Tokens that were delivered and wait for complete(), oldest first: a ring. */
typedef struct msi_finished {
    msi_token **tokens;
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
} msi_finished;

/* One operator in one subtask. */
struct msi_node {
    ms_op *op;
    ms_op_ctx ctx;
    const ms_pnode *pnode;
    msi_task *task;
    uint32_t index; /* in the task */
    uint32_t input_count;
    uint32_t inputs_ended;
    msi_inbox inbox;
    msi_inbox **outputs; /* of operators and tails that consume it */
    uint32_t output_count;
    msi_inbox **below; /* of all operators and tails downstream in the task */
    uint32_t below_count;
    ms_batch *emitted; /* a pooled batch that the consumers look at */
    bool is_open;      /* open was called: close must be */
    bool in_call;      /* the head item, or poll, answered MORE */
    bool is_blocked;   /* batch answered BLOCKED and nothing has changed since */
    bool is_satisfied; /* it said so */
    bool is_prepared;  /* before_barrier has answered DONE for the head barrier */
    msi_token_list tokens;
    msi_finished finished;
    uint32_t increments; /* writes of state since the last full one */
    bool needs_full;     /* the next write is a full one */
    bool commits;        /* a sink with a committer */
    bool was_finished;   /* in a checkpoint that was restored */
    msi_gauges *gauges;
    const struct msi_restored_op *restored; /* NULL: a fresh start */
};

typedef enum msi_tail_kind {
    MSI_TAIL_FORWARD,
    MSI_TAIL_GATHER,
    MSI_TAIL_REBALANCE,
    MSI_TAIL_HASH
} msi_tail_kind;

/* The end of a task towards another stage: moves what an operator emits into channels. */
struct msi_tail {
    msi_task *task;
    msi_tail_kind kind;
    msi_inbox inbox;
    const ms_schema *schema;
    uint32_t channel_count;
    msi_channel **channels;
    uint32_t open_count; /* HASH: one a channel; else 1 */
    ms_batch **open;     /* batches being filled; NULL: none */
    ms_batch_pool *pool;
    uint32_t next;   /* REBALANCE: the channel whose turn it is; HASH: the one being filled */
    uint32_t taken;  /* live rows of the head batch that were moved; HASH: of this channel */
    bool is_waiting; /* for credit, a slot or a batch */
    bool has_ended;
    /* HASH: the rows of the head batch, by channel. */
    bool is_parted;
    uint32_t key_count;
    const uint32_t *keys;
    const ms_vec **key_columns;
    uint64_t *hashes;
    uint16_t *rows;
    uint32_t *starts;
};

void msi_tail_open(msi_tail *tail);

/* Works on the head item. True when something was done; false: is_waiting. */
bool msi_tail_step(msi_tail *tail, ms_status *st) MS_MUST_USE;

/* Sends batches that are not full, as far as there is credit. True when one was sent. */
bool msi_tail_flush(msi_tail *tail, ms_status *st);
bool msi_tail_has_open_rows(const msi_tail *tail);

/* Gives back what it holds; then the pool can be destroyed once consumers have done so too. */
void msi_tail_halt(msi_tail *tail);
void msi_tail_close(msi_tail *tail);

/* What a cut of one operator leaves. */
typedef struct msi_cut_part {
    bool is_persisted;
    bool has_snapshot;
    ms_buf snapshot;
    bool has_committable;
    ms_buf committable;
    bool is_writing; /* a pool job writes its state */
    bool has_file;
    bool is_full;
    uint64_t file_bytes;
    uint32_t file_crc;
    uint64_t rows_in;
    uint64_t rows_out;
} msi_cut_part;

/* A barrier in one task, from the first operator it reaches until all is durable. */
struct msi_cut {
    msi_cut *next; /* newer */
    ms_checkpoint_id id;
    bool is_final;
    bool has_ended;   /* the task had ended before: this is its last cut */
    uint32_t pending; /* parts that are not cut, not persisted, or being written */
    ms_status st;     /* the first failure */
    uint32_t part_count;
    msi_cut_part *parts; /* by node of the task */
};

void msi_cut_destroy(msi_cut *cut);

typedef enum msi_command_kind {
    MSI_COMMAND_START,
    MSI_COMMAND_SPLIT,
    MSI_COMMAND_NO_MORE_SPLITS,
    MSI_COMMAND_TRIGGER, /* a source takes a barrier; so does an ended task */
    MSI_COMMAND_ABORTED, /* a checkpoint was given up: its increments are lost */
    MSI_COMMAND_DRAIN,
    MSI_COMMAND_ENOUGH, /* nobody wants more rows of this source */
    MSI_COMMAND_HALT,   /* run no operator any more */
    MSI_COMMAND_CLOSE   /* after HALT, consumers first */
} msi_command_kind;

/* From the coordinator to a task. */
typedef struct msi_command {
    ms_mail mail;
    struct msi_command *next;
    msi_task *task;
    msi_command_kind kind;
    ms_checkpoint_id checkpoint;
    bool is_final;
    ms_str bytes; /* SPLIT; behind the command */
} msi_command;

typedef enum msi_task_phase {
    MSI_TASK_NEW,
    MSI_TASK_RUNNING,
    MSI_TASK_FAILED, /* finishes what is downstream of the failure */
    MSI_TASK_HALTED,
    MSI_TASK_CLOSED
} msi_task_phase;

struct msi_task {
    msi_actor actor; /* first: an actor of a task is the start of it */
    ms_job *job;
    uint32_t index; /* in the job */
    uint32_t stage;
    uint32_t subtask;
    uint32_t parallelism;
    msi_task_phase phase;
    bool is_source;
    bool is_finished; /* in a checkpoint that was restored: never runs */
    ms_arena arena;   /* operators; as long as the job */
    ms_arena scratch;
    ms_task_env env;
    ms_status st;      /* of the handlers */
    ms_status failure; /* the first, while what is downstream of it is finished */
    msi_node *failed;  /* where it happened; NULL: before any item */
    uint32_t node_count;
    msi_node *nodes; /* upstream first; [0] is the root */
    uint32_t tail_count;
    msi_tail *tails;
    uint32_t channel_count;
    msi_channel **channels;    /* inputs of the root */
    uint32_t next_channel;     /* round robin */
    uint32_t *open_channels;   /* by input: channels that have not ended */
    uint32_t first_input;      /* inputs before it were looked at for having no channel */
    ms_time_ms watermark;      /* the minimum of the channels, as given to the root */
    ms_checkpoint_id aligning; /* the barrier that some channels have brought; 0: none */
    bool aligning_is_final;
    msi_item held;             /* the batch from a channel that is being worked on */
    msi_channel *held_channel; /* NULL: none */
    /* Sources. */
    bool is_pending;   /* poll found nothing, and nothing has changed since */
    bool source_ended; /* the operator said so */
    bool is_drained;
    bool is_enough;
    bool is_stopped; /* a final barrier was taken: no more rows */
    bool root_ended; /* the root has passed its ending on */
    bool has_ended;  /* and it has left through all tails */
    ms_checkpoint_id last_barrier;
    ms_checkpoint_id aborted; /* the newest checkpoint that was given up */
    msi_command *commands;    /* oldest first */
    msi_command **commands_end;
    bool wants_halt;
    bool wants_close;
    uint32_t pool_jobs;  /* writes of state on their way */
    msi_cut *cuts;       /* oldest first */
    uint64_t turn_bytes; /* taken from channels in this turn */
    double rate;         /* bytes a second that the task takes when it works */
    _Atomic uint64_t turns;
};

bool msi_task_run(msi_actor *actor, bool woken);

/* Lets the channels of the task have so many bytes in flight, all together. */
void msi_task_give_credit(msi_task *task, double bytes);

/* The driver: one step of a running task. False when there is nothing to do now. */
bool msi_driver_step(msi_task *task);
bool msi_driver_is_quiet(const msi_task *task);

/* Drops the batch that the root worked on. The tree below is quiet. */
void msi_driver_release_held(msi_task *task);

/* Takes the oldest command. The task is quiet. */
void msi_task_take_command(msi_task *task);

extern const ms_op_host msi_host;

/* Cuts (cut.c). */

/* Begins the cut of a barrier at the root. */
void msi_cut_begin(msi_task *task, ms_checkpoint_id id, bool is_final);

/* The barrier has reached a node: cut it, and start making it durable. */
void msi_cut_node(msi_node *node, ms_checkpoint_id id, bool is_final);

/* Where a snapshot or committable of a node goes; NULL when the cut is gone. */
msi_cut_part *msi_cut_part_of(msi_node *node, ms_checkpoint_id id);
void msi_cut_persisted(msi_node *node, ms_checkpoint_id id);

/* Frees all cuts. No pool job works for the task. */
void msi_cut_drop_all(msi_task *task);

/* ---- Manifests and the directory of a job (manifest.c, store.c) ---- */

typedef struct msi_state_file {
    ms_str name;
    uint64_t bytes;
    uint32_t crc;
} msi_state_file;

/* An operator in a subtask, as stored. */
typedef struct msi_manifest_op {
    uint64_t node_id;
    uint32_t subtask;
    bool is_finished;
    bool has_snapshot;
    ms_str snapshot;
    uint32_t file_count; /* a full one, then increments */
    const msi_state_file *files;
} msi_manifest_op;

/* The state of an enumerator, or a committable of a sink. */
typedef struct msi_manifest_blob {
    uint64_t node_id;
    ms_str bytes;
} msi_manifest_blob;

typedef struct msi_manifest {
    ms_checkpoint_id id;
    ms_str job_name;
    ms_str plan_text;
    ms_str sql;
    uint64_t rows_read; /* by all sources in all runs */
    uint32_t op_count;
    const msi_manifest_op *ops;
    uint32_t enumerator_count;
    const msi_manifest_blob *enumerators;
    uint32_t committable_count;
    const msi_manifest_blob *committables;
} msi_manifest;

ms_rc msi_manifest_encode(const msi_manifest *manifest, ms_buf *out, ms_status *st) MS_MUST_USE;

/* Texts borrow from bytes, arrays come from the arena. Any bytes are safe. */
ms_rc msi_manifest_decode(ms_str bytes, ms_arena *arena, msi_manifest *manifest_out,
                          ms_status *st) MS_MUST_USE;

/* What a job that reached its end leaves. */
typedef struct msi_progress {
    ms_checkpoint_id id; /* of the last checkpoint */
    uint64_t rows_read;
} msi_progress;

/* A job's directory. All calls but init, path and release may block on files. */
typedef struct msi_store {
    ms_str dir; /* empty: checkpoints are off */
    ms_lockfile *lock;
    ms_buf bytes;          /* of the manifest that was read */
    ms_checkpoint_id last; /* the highest id that the directory has seen */
} msi_store;

#define MSI_PATH_BYTES 4096u

/* Makes and locks the directory, unless the store has its lock. */
ms_rc msi_store_open(msi_store *store, ms_str dir, ms_status *st) MS_MUST_USE;
void msi_store_close(msi_store *store);

/* dir/name in path_out, which has MSI_PATH_BYTES. */
ms_rc msi_store_path(ms_str dir, ms_str name, char *path_out, ms_status *st) MS_MUST_USE;

/* What is there; *manifest_id_out is 0 when there is no checkpoint. progress_out->id likewise. */
ms_rc msi_store_look(ms_str dir, ms_checkpoint_id *manifest_id_out, ms_checkpoint_id *last_out,
                     msi_progress *progress_out, ms_status *st) MS_MUST_USE;
ms_rc msi_store_read(msi_store *store, ms_checkpoint_id id, ms_arena *arena,
                     msi_manifest *manifest_out, ms_status *st) MS_MUST_USE;

/* The bytes of a state file, checked against length and CRC. */
ms_rc msi_store_read_file(const msi_store *store, const msi_state_file *file, ms_buf *out,
                          ms_status *st) MS_MUST_USE;

/* The name of the state file of an operator, in arena. */
ms_str msi_store_state_name(ms_arena *arena, uint64_t node_id, uint32_t subtask,
                            ms_checkpoint_id id);

/* Writes and syncs a new file. One whose sync failed is removed. */
ms_rc msi_store_write_file(ms_str dir, ms_str name, ms_str bytes, ms_status *st) MS_MUST_USE;

/* Makes the names of data files durable, then the manifest in one step. */
ms_rc msi_store_write_manifest(ms_str dir, ms_checkpoint_id id, ms_str bytes,
                               ms_status *st) MS_MUST_USE;

/* Removes everything of ours but the lock and what these manifests name; a 0 names nothing. */
ms_rc msi_store_sweep(ms_str dir, const ms_checkpoint_id *keep, uint32_t keep_count,
                      ms_status *st) MS_MUST_USE;

/* Writes the progress record, then removes the checkpoints. */
ms_rc msi_store_finish(ms_str dir, const msi_progress *progress, ms_status *st) MS_MUST_USE;

/* ---- Recovery (recovery.c) ---- */

/* What a manifest has for one operator in one subtask of the job that resumes. */
typedef struct msi_restored_op {
    uint32_t snapshot_count;
    ms_str *snapshots;
    uint32_t log_count;
    ms_str *logs; /* bytes of state files, in the order in which they are applied */
} msi_restored_op;

/* The bytes of one state file that was read. */
typedef struct msi_log_bytes {
    struct msi_log_bytes *next;
    ms_buf bytes;
} msi_log_bytes;

/* Reads the checkpoint and hands its parts to the nodes of the graph. */
ms_rc msi_recovery_load(ms_job *job, const msi_manifest *manifest, ms_status *st) MS_MUST_USE;

/* Frees the bytes of state files: every task has restored. */
void msi_recovery_release(ms_job *job);

/* ---- The collector (collector.c) ---- */

typedef struct msi_collector msi_collector;

msi_collector *msi_collector_create(const ms_schema *schema, uint32_t batch_rows,
                                    uint64_t bytes_max, ms_account *parent);
void msi_collector_destroy(msi_collector *collector);

/*
 * Copies live rows from `first` on, as many as there is room for, and returns how many; when those
 * are not all, the actor is woken later. Thread: task.
 */
uint32_t msi_collector_put(msi_collector *collector, const ms_batch *batch, uint32_t first,
                           msi_actor *actor, ms_status *st);

/* No more rows will come. Thread: any. */
void msi_collector_end(msi_collector *collector);

/* The next rows; NULL at the end or, with *timed_out_out, when the time ran out. */
ms_batch *msi_collector_take(msi_collector *collector, int64_t timeout_ns, bool *timed_out_out);

/* ---- Jobs (job.c, graph.c) ---- */

typedef enum msi_event_kind {
    MSI_EVENT_STARTED,
    MSI_EVENT_FAILED,
    MSI_EVENT_REQUEST_SPLIT,
    MSI_EVENT_ENDED,
    MSI_EVENT_SATISFIED, /* an operator drops whatever comes */
    MSI_EVENT_CUT,
    MSI_EVENT_HALTED,
    MSI_EVENT_CLOSED,
    MSI_EVENT_STOP,
    MSI_EVENT_DRAIN,
    MSI_EVENT_CANCEL,
    MSI_EVENT_CHECKPOINT
} msi_event_kind;

/* From a task or a caller to the coordinator. */
typedef struct msi_event {
    ms_mail mail;
    struct msi_event *next;
    msi_coordinator *coordinator;
    msi_event_kind kind;
    msi_task *task;
    uint64_t node_id;  /* REQUEST_SPLIT, SATISFIED */
    msi_cut *cut;      /* CUT */
    ms_status *status; /* FAILED */
} msi_event;

/* A set of operators that run in one task: a tree with one root. */
typedef struct msi_stage {
    uint32_t parallelism;
    uint32_t pnode_count;
    const ms_pnode **pnodes; /* upstream first */
    uint32_t first_task;     /* in the job */
} msi_stage;

struct ms_job {
    ms_workers *workers;
    const ms_plan *plan;
    ms_job_options options;
    uint64_t run_id; /* of ms_task_env */
    ms_arena arena;
    ms_account account;
    ms_account state_account;
    ms_account ring_account;
    ms_account op_account;
    _Atomic bool canceled;
    uint32_t stage_count;
    msi_stage *stages;
    uint32_t task_count;
    msi_task *tasks;
    uint32_t node_count; /* operators in all subtasks */
    msi_node **nodes;    /* in plan order */
    msi_gauges *gauges;
    uint32_t channel_count;
    msi_channel *channels;
    msi_collector *collector;
    msi_coordinator *coordinator;
    msi_store store;
    bool is_restored;
    msi_manifest restored;
    msi_log_bytes *logs;
    ms_str plan_text;
    /* Written by the coordinator, read by callers. Order relaxed. */
    _Atomic uint64_t checkpoints_completed;
    _Atomic uint64_t checkpoints_aborted;
    _Atomic uint64_t checkpoint_id;
    _Atomic uint64_t restored_splits;
    _Atomic uint64_t restored_snapshots;
    /* Guarded by the mutex. */
    ms_mutex mutex;
    ms_cond cond;
    ms_job_state state;
    bool was_started;
    ms_status failure;
    uint64_t wanted_tickets; /* checkpoints asked for */
    uint64_t served_tickets;
    ms_checkpoint_id served_checkpoint;
    ms_status served_status;
    bool early_stop; /* asked for before the start */
    bool early_drain;
    bool early_cancel;
};

/* Cuts the plan into stages and makes tasks, operators' records and channels. */
ms_rc msi_graph_build(ms_job *job, ms_status *st) MS_MUST_USE;

/* Gives back what msi_graph_build made. */
void msi_graph_release(ms_job *job);

/* The parallelism of a node in this job. */
uint32_t msi_graph_parallelism(const ms_job *job, const ms_pnode *pnode);

/* Sends an event to the coordinator; cut and status are given over. Thread: any. */
void msi_event_send(ms_job *job, msi_event_kind kind, msi_task *task, uint64_t node_id,
                    msi_cut *cut, const ms_status *status);

/* Sends a command to a task. Thread: the coordinator's. */
void msi_command_send(msi_task *task, msi_command_kind kind, ms_checkpoint_id checkpoint,
                      bool is_final, ms_str bytes);

/* Sets the job's final state and wakes everybody who waits. */
void msi_job_ended(ms_job *job, ms_job_state state, const ms_status *failure);

/* Answers callers of ms_job_checkpoint up to this ticket. */
void msi_job_served(ms_job *job, uint64_t ticket, ms_checkpoint_id checkpoint,
                    const ms_status *status);

/* ---- The coordinator (coordinator.c, checkpoint.c) ---- */

typedef enum msi_coordinator_phase {
    MSI_COORDINATOR_NEW,
    MSI_COORDINATOR_RECOVERING, /* committers commit what the restored checkpoint holds */
    MSI_COORDINATOR_RUNNING,
    MSI_COORDINATOR_HALTING, /* tasks stop to run */
    MSI_COORDINATOR_CLOSING, /* tasks close, consumers first */
    MSI_COORDINATOR_DONE
} msi_coordinator_phase;

/* The enumerator of one source. */
typedef struct msi_source {
    ms_enumerator_env env; /* first: an env is the start of its source */
    msi_coordinator *coordinator;
    const ms_pnode *pnode;
    const msi_stage *stage;
    ms_enumerator *enumerator; /* NULL: the scan has none */
    _Atomic bool is_woken;
    int64_t wake_ns; /* INT64_MAX: no time asked for */
    ms_str restored; /* ptr NULL: a fresh start */
    ms_buf snapshot; /* of the checkpoint in progress */
} msi_source;

/* Bytes that a writer handed over. */
typedef struct msi_committable {
    struct msi_committable *next;
    ms_buf bytes;
} msi_committable;

/* The committer of one sink. */
typedef struct msi_target {
    const ms_pnode *pnode;
    ms_task_env env;
    ms_committer *committer;  /* NULL: nothing is committed */
    msi_committable *waiting; /* oldest first: to be committed with the next complete checkpoint */
    msi_committable **waiting_end;
    uint32_t waiting_count;
    ms_str *committing; /* what the committer was given; lives until it is done */
} msi_target;

/* What the coordinator knows of a task. */
typedef struct msi_task_record {
    bool has_ended;
    bool is_finished; /* a complete checkpoint has its final cut */
    bool is_halted;
    bool is_closed;
    msi_cut *cut;            /* of the checkpoint in progress */
    ms_checkpoint_id newest; /* the newest cut that came back */
} msi_task_record;

/* State files of one operator in one subtask: a full one, then increments. */
typedef struct msi_chain {
    uint32_t count;
    uint32_t capacity;
    struct msi_chain_file {
        ms_checkpoint_id id;
        uint64_t bytes;
        uint32_t crc;
    } * files;
} msi_chain;

typedef enum msi_checkpoint_phase {
    MSI_CHECKPOINT_NONE,
    MSI_CHECKPOINT_COLLECTING, /* cuts of tasks */
    MSI_CHECKPOINT_WRITING,    /* the manifest */
    MSI_CHECKPOINT_COMMITTING,
    MSI_CHECKPOINT_SWEEPING /* old files, or the progress record at the end */
} msi_checkpoint_phase;

/* A piece of file work of the coordinator on the I/O pool; one at a time. */
typedef struct msi_store_work {
    ms_iojob job;
    bool is_running;
    bool is_back; /* and not yet looked at */
    ms_buf bytes; /* of a manifest */
    ms_str dir;
    ms_checkpoint_id id;
    ms_checkpoint_id keep[2];
    msi_progress progress;
    ms_rc rc;
    ms_status st;
} msi_store_work;

#define MSI_ABORTED_MAX 4u /* given up, and some task still works on its cut */

struct msi_coordinator {
    msi_actor actor; /* first: the actor of a coordinator is the start of it */
    ms_job *job;
    ms_arena arena;
    msi_coordinator_phase phase;
    msi_event *events; /* oldest first */
    msi_event **events_end;
    ms_task_env env;
    ms_job_state ending; /* how the job will have ended */
    ms_status failure;
    uint32_t source_count;
    msi_source *sources;
    uint32_t target_count;
    msi_target *targets;
    msi_token_list tokens;
    uint32_t tokens_out; /* of recover or commit calls that have not come back */
    msi_task_record *tasks;
    uint32_t started_count;
    uint32_t halted_count;
    uint32_t closing_stage; /* from the last down */
    uint32_t closed_count;  /* of that stage */
    /* Requests. */
    bool wants_stop;
    bool wants_drain;
    bool is_finishing; /* every task is finished: the progress record is being written */
    /* The checkpoint in progress. */
    msi_checkpoint_phase checkpoint;
    ms_checkpoint_id id;
    ms_checkpoint_id last_id;
    ms_checkpoint_id complete[2]; /* the newest two, newest first */
    bool is_stop;
    uint64_t ticket; /* callers that this checkpoint serves */
    int64_t deadline_ns;
    int64_t next_ns;   /* of the interval */
    uint32_t failures; /* in a row */
    ms_checkpoint_id aborted[MSI_ABORTED_MAX];
    uint32_t aborted_count;
    msi_chain *chains;  /* by operator in plan order and subtask */
    bool *is_satisfied; /* likewise */
    msi_store_work work;
};

msi_coordinator *msi_coordinator_create(ms_job *job);
void msi_coordinator_destroy(msi_coordinator *coordinator);

/* Gives the coordinator its worker; its first turn starts the job. */
void msi_coordinator_place(msi_coordinator *coordinator, msi_worker *worker);

/* The job ends: with a failure when st is one, else as `ending` says. The first reason stays. */
void msi_coordinator_end(msi_coordinator *coordinator, ms_job_state ending, const ms_status *st);

/* A token that the coordinator hands to recover or commit; checkpoint.c and coordinator.c look at
 * tokens_out when it has come back. */
ms_completion *msi_coordinator_token(msi_coordinator *coordinator);

/* Begins, times out and advances checkpoints. Called once a turn while the job runs. */
void msi_checkpoint_tick(msi_coordinator *coordinator);

/* A cut has come back from a task. */
void msi_checkpoint_take_cut(msi_coordinator *coordinator, msi_task *task, msi_cut *cut);

/* A task has ended. */
void msi_checkpoint_task_ended(msi_coordinator *coordinator, msi_task *task);

/* Hands committables of the restored checkpoint to their sinks. */
ms_rc msi_checkpoint_recover(msi_coordinator *coordinator, ms_status *st) MS_MUST_USE;

/* Forgets the checkpoint in progress: the job ends. */
void msi_checkpoint_drop(msi_coordinator *coordinator);

#endif
