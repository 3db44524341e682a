/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contracts between the engine and its connectors and formats. A connector is a table of
 * functions that engine/ registers by name; nothing here includes runtime/ or exec/, and a
 * connector sees nothing of them.
 *
 * A source has a planning face and two running faces:
 *
 *     ms_scan        made by the planner from a table; takes pushed projections, filters, limits;
 * const once sealed ms_enumerator  one a job, on the coordinator: finds splits and hands them to
 * readers; checkpointed ms_reader      one a subtask, on its worker: turns splits into batches,
 * polled
 *
 * A sink likewise:
 *
 *     ms_sink        the planning face: says which changes it takes and what it guarantees
 *     ms_writer      one a subtask: takes batches; at a barrier hands over a committable
 *     ms_committer   one a job, on the coordinator: commits committables after the checkpoint is
 * complete; idempotent
 *
 * Rules that hold for every function here. Nothing may block a worker, the coordinator or the loop:
 * file and store calls go to the I/O pool (os/iopool) or to the Bigtable client and complete
 * through the mailbox. A function that starts something returns at once; what it started calls back
 * through ms_wake or ms_done, never inline. Nothing is allocated per row. All texts of split,
 * committable and state codecs begin with their version.
 *
 * Planning functions run on the session's thread; the others name theirs. Every create has a close
 * that is always called, in any state, and emits nothing.
 */
#ifndef MS_CATALOG_CONNECTOR_H
#define MS_CATALOG_CONNECTOR_H

#include "base/memory.h"
#include "catalog/option.h"
#include "catalog/table.h"
#include "os/iopool.h"
#include "os/mailbox.h"
#include "type/batch.h"

typedef struct ms_connector ms_connector;
typedef struct ms_format ms_format;

/* Which row kinds flow on an edge: a set of bits 1 << ms_row_kind. */
typedef uint8_t ms_changelog;
#define MS_CHANGELOG_INSERT ((ms_changelog)(1u << MS_ROW_INSERT))
#define MS_CHANGELOG_UPSERT                                                                        \
    ((ms_changelog)(1u << MS_ROW_INSERT | 1u << MS_ROW_UPDATE_AFTER | 1u << MS_ROW_DELETE))
#define MS_CHANGELOG_ALL ((ms_changelog)0x0f)

/*
 * How a running face makes its task run again: call it from any thread, any number of times, as
 * long as the face is open; it is cheap when the task is awake.
 *
 * wake_at is for a face that has to wait for the clock (a rate limit): the task runs again at that
 * time of ms_env_mono_ns(), or soon after. Of several times the earliest counts, and the task may
 * run for other reasons before: a face that is asked too early asks again. Thread: task.
 */
typedef struct ms_waker {
    void (*wake)(void *task);
    void *task;
    void (*wake_at)(void *task, int64_t mono_ns);
} ms_waker;

static inline void ms_wake(const ms_waker *waker)
{
    waker->wake(waker->task);
}

static inline void ms_wake_at(const ms_waker *waker, int64_t mono_ns)
{
    waker->wake_at(waker->task, mono_ns);
}

/*
 * A completion token: handed to a call that ends later. Calling ms_done once, from any thread,
 * delivers rc and, when it is not MS_OK, the status, to the owner through its mailbox; a second
 * call is ignored and counted. The token may outlive its owner's interest: a late completion is
 * dropped.
 */
typedef struct ms_completion ms_completion;
struct ms_completion {
    void (*done)(ms_completion *completion, ms_rc rc, const ms_status *st);
};

static inline void ms_done(ms_completion *completion, ms_rc rc, const ms_status *st)
{
    completion->done(completion, rc, st);
}

/* What every running face may use; lives as long as the job. */
typedef struct ms_task_env {
    ms_waker waker;
    ms_mailbox *mailbox; /* of the worker the face runs on: completions arrive here */
    ms_iopool *iopool;
    ms_account *account; /* charge what you keep */
    uint32_t subtask;    /* 0 .. parallelism - 1 */
    uint32_t parallelism;
    uint32_t batch_rows;          /* rows a batch may have at most */
    const _Atomic bool *canceled; /* polled by long loops; order relaxed will do */
    ms_str job_name;
    ms_str checkpoint_dir; /* of this job alone while it runs; empty: it keeps no checkpoints, so
                              nobody will go on from what it has not committed */
    uint64_t run_id;       /* random: another one every time a job starts */
    ms_str local_time_zone;
} ms_task_env;

/* ---- Sources: planning ---- */

typedef struct ms_scan ms_scan;
typedef struct ms_enumerator ms_enumerator;
typedef struct ms_reader ms_reader;
typedef struct ms_enumerator_env ms_enumerator_env;

typedef struct ms_scan_class {
    /*
     * Keeps only these columns (ordinals of the stored schema, ascending), in this order, as the
     * output schema. NULL when the connector always produces all: the engine then projects.
     */
    ms_rc (*push_projection)(ms_scan *scan, const uint32_t *columns, uint32_t count, ms_status *st);

    /*
     * Offers conjuncts over the stored schema; exact_out[i] says that the connector evaluates
     * conjunct i fully, so that the engine drops it. A connector may use a conjunct and leave it
     * inexact. NULL: takes none.
     */
    ms_rc (*push_filters)(ms_scan *scan, const ms_expr *const *conjuncts, uint32_t count,
                          bool *exact_out, ms_status *st);

    /* A hint that no more than rows are needed in all. NULL: not used. */
    void (*push_limit)(ms_scan *scan, uint64_t rows);

    /* Appends what EXPLAIN shows in brackets: "ranges=[...], families=[...]". NULL: nothing. */
    ms_rc (*describe)(const ms_scan *scan, ms_buf *out, ms_status *st);

    /*
     * Called once before a job starts, on the session's thread, where it may block: opens a store.
     * NULL: nothing to do.
     */
    ms_rc (*prepare)(const ms_scan *scan, ms_status *st);

    ms_rc (*enumerator_create)(const ms_scan *scan, ms_enumerator **enumerator_out, ms_status *st);
    ms_rc (*reader_create)(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                           ms_status *st);
} ms_scan_class;

/* The head of every scan; the connector's own struct begins with it. Lives in the arena given to
 * scan_create. */
struct ms_scan {
    const ms_scan_class *klass;
    ms_schema output; /* follows push_projection */
    bool is_bounded;
    bool keeps_order; /* with one reader the rows come in an order that users rely on: a single file
                       */
    uint32_t parallelism;     /* 0: the job's; else scan.parallelism or what the input allows */
    const char *not_in_flink; /* what of the table Flink does not have, for check; NULL: nothing */
    ms_changelog changelog;
};

/* ---- Sources: running ---- */

/* What an enumerator may do. Calls are made on the coordinator's thread only. */
struct ms_enumerator_env {
    ms_task_env task;
    /* Hands a split to a reader; the bytes are copied. */
    void (*assign)(ms_enumerator_env *env, uint32_t subtask, ms_str split);
    void (*no_more_splits)(ms_enumerator_env *env, uint32_t subtask);
    void (*fail)(ms_enumerator_env *env, const ms_status *st);
};

/* Thread: coordinator. */
typedef struct ms_enumerator_class {
    /* restored.ptr is NULL on a fresh start. May start asynchronous work. env lives until close. */
    ms_rc (*start)(ms_enumerator *enumerator, ms_enumerator_env *env, ms_str restored,
                   ms_status *st);
    /* A reader has room for a split: answer with assign or no_more_splits, now or later. */
    void (*request)(ms_enumerator *enumerator, uint32_t subtask);
    /* The task was woken by something that the enumerator started. */
    void (*resume)(ms_enumerator *enumerator);
    /* Splits not handed out yet and what is needed to find more. */
    ms_rc (*snapshot)(ms_enumerator *enumerator, ms_buf *out, ms_status *st);
    void (*close)(ms_enumerator *enumerator);
} ms_enumerator_class;

struct ms_enumerator {
    const ms_enumerator_class *klass;
};

typedef enum ms_read {
    /* *batch_out is set, a new reference or a frame valid until the next call. A reader that makes
     * batches adds no row once ms_batch_is_full(), or has an equal bound of its own. */
    MS_READ_BATCH,
    MS_READ_PENDING, /* nothing now: the waker will be called; or more splits are needed */
    MS_READ_END,     /* no more splits will come and all are read */
    MS_READ_FAILED   /* the status says why */
} ms_read;

/* Thread: task. */
typedef struct ms_reader_class {
    /* Adds a split handed out by the enumerator, or one of a snapshot. */
    ms_rc (*add_split)(ms_reader *reader, ms_str split, ms_status *st);
    void (*no_more_splits)(ms_reader *reader);
    /* True when another split should be requested. */
    bool (*wants_split)(const ms_reader *reader);
    ms_read (*poll)(ms_reader *reader, ms_batch **batch_out, ms_status *st);
    /*
     * Every split that is not finished, each with the position behind the last row that poll gave
     * out, so that reading on from it repeats nothing and loses nothing: u32 count, then
     * length-prefixed splits (base/codec).
     */
    ms_rc (*snapshot)(ms_reader *reader, ms_buf *out, ms_status *st);
    void (*close)(ms_reader *reader);
} ms_reader_class;

struct ms_reader {
    const ms_reader_class *klass;
    uint64_t rows_read; /* given out by poll since open; for metrics and crash tests */
    uint64_t bytes_read;
    uint64_t bytes_held; /* memory for data; the job's account is charged after each poll */
};

/* ---- Sinks: planning ---- */

typedef struct ms_sink ms_sink;
typedef struct ms_writer ms_writer;
typedef struct ms_committer ms_committer;

typedef enum ms_guarantee { MS_AT_LEAST_ONCE, MS_EXACTLY_ONCE } ms_guarantee;

typedef struct ms_sink_class {
    /*
     * Says which kinds the sink wants, given those that the query produces. A sink that cannot take
     * them fails with a message that names the table. key_only_deletes_out: a -D needs only the
     * primary key's columns. NULL: it takes what comes, whole.
     */
    ms_rc (*negotiate)(ms_sink *sink, ms_changelog input, ms_changelog *wanted_out,
                       bool *key_only_deletes_out, ms_status *st);
    /* As those of a scan. */
    ms_rc (*describe)(const ms_sink *sink, ms_buf *out, ms_status *st);
    ms_rc (*prepare)(const ms_sink *sink, ms_status *st);
    ms_rc (*writer_create)(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                           ms_status *st);
    /* NULL, or a committer of NULL: the sink has nothing to commit. */
    ms_rc (*committer_create)(const ms_sink *sink, const ms_task_env *env,
                              ms_committer **committer_out, ms_status *st);
} ms_sink_class;

struct ms_sink {
    const ms_sink_class *klass;
    uint64_t id; /* of its operator: tells it from the plan's other sinks, and is the same when the
                    plan is resumed; set when the plan is sealed */
    const char *not_in_flink; /* as that of a scan */
    ms_schema input;          /* the sink schema of the table */
    ms_guarantee guarantee;   /* with checkpoints on */
    bool keeps_order;         /* one terminal or file: run at parallelism 1 unless told otherwise */
    uint32_t parallelism;     /* 0: the job's */
};

/* ---- Sinks: running ---- */

typedef enum ms_write {
    MS_WRITE_DONE,    /* the batch is taken (copied or consumed) */
    MS_WRITE_BLOCKED, /* nothing of it was taken: offer it again after a wake */
    MS_WRITE_FAILED
} ms_write;

/* Thread: task. All but write and close may be NULL: nothing is to be done then. */
typedef struct ms_writer_class {
    ms_write (*write)(ms_writer *writer, const ms_batch *batch, ms_status *st);
    /*
     * Cuts at a barrier, in microseconds: what was written so far belongs to the checkpoint.
     * is_final: no row follows. Then persist() makes it durable and reports through the completion
     * (NULL: it is durable at once); the committable is asked for after that.
     */
    ms_rc (*cut)(ms_writer *writer, uint64_t checkpoint, bool is_final, ms_status *st);
    void (*persist)(ms_writer *writer, uint64_t checkpoint, ms_completion *completion);
    /* What the committer needs for this checkpoint; empty when nothing. */
    ms_rc (*committable)(ms_writer *writer, uint64_t checkpoint, ms_buf *out, ms_status *st);
    /* State to restore a writer from, taken with the committable (for example an open file and its
     * length). */
    ms_rc (*snapshot)(ms_writer *writer, uint64_t checkpoint, ms_buf *out, ms_status *st);
    ms_rc (*restore)(ms_writer *writer, ms_str state, ms_status *st);
    void (*close)(ms_writer *writer);
} ms_writer_class;

struct ms_writer {
    const ms_writer_class *klass;
    uint64_t rows_written;
    uint64_t bytes_written;
};

/* Thread: coordinator. */
typedef struct ms_committer_class {
    /*
     * Commits what the writers handed over for a completed checkpoint; reports through the
     * completion. Committing the same committables twice has the effect of once.
     */
    void (*commit)(ms_committer *committer, uint64_t checkpoint, const ms_str *committables,
                   uint32_t count, ms_completion *completion);
    /*
     * At the start of a job, before any writer is made: commits what the restored checkpoint (0:
     * there is none) covers, and removes what runs that have ended left behind and nobody will
     * commit: for a job with checkpoints its own orphans newer than that checkpoint.
     */
    void (*recover)(ms_committer *committer, uint64_t checkpoint, const ms_str *committables,
                    uint32_t count, ms_completion *completion);
    void (*close)(ms_committer *committer);
} ms_committer_class;

struct ms_committer {
    const ms_committer_class *klass;
};

/* ---- Lookups (temporal joins against an external table) ---- */

typedef struct ms_lookup ms_lookup;

/* Thread: task. A lookup answers key batches with row batches; it completes through the mailbox. */
typedef struct ms_lookup_class {
    /* keys has the key columns; result rows carry in their first column the INT ordinal of their
     * key row. */
    void (*lookup)(ms_lookup *lookup, const ms_batch *keys, ms_batch **rows_out,
                   ms_completion *completion);
    void (*close)(ms_lookup *lookup);
} ms_lookup_class;

struct ms_lookup {
    const ms_lookup_class *klass;
};

/* ---- Catalogs that list tables of a service ---- */

typedef struct ms_catalog_source ms_catalog_source;

/* Thread: session. Completion through the mailbox; names and table live in the arena given. */
typedef struct ms_catalog_source_class {
    void (*list_tables)(ms_catalog_source *source, ms_arena *arena, ms_str **names_out,
                        uint32_t *count_out, ms_completion *completion);
    void (*get_table)(ms_catalog_source *source, ms_arena *arena, ms_str name, ms_table **table_out,
                      ms_completion *completion);
    void (*close)(ms_catalog_source *source);
} ms_catalog_source_class;

struct ms_catalog_source {
    const ms_catalog_source_class *klass;
};

/* ---- Lineage ---- */

/* One physical resource that a scan or sink touches, as OpenLineage names data sets. */
typedef struct ms_lineage {
    ms_str lineage_namespace; /* "bigtable://project/instance", "file" */
    ms_str name;
    ms_str kind; /* "bigtable-table", "file" */
    bool is_bounded;
} ms_lineage;

/* ---- Formats: bytes of a record stream to rows and back ---- */

typedef struct ms_decoder ms_decoder;
typedef struct ms_encoder ms_encoder;

/* Thread: one at a time (a pool job or a task). */
typedef struct ms_decoder_class {
    /*
     * Decodes whole records from the front of input into batch (unique, pooled, of the schema given
     * at create) until the batch is full or no whole record is left. consumed_out counts the bytes
     * of the records decoded; rows are appended. at_end: input holds the last bytes of the file,
     * and its last record may lack a newline. input has MS_DECODE_PADDING readable bytes behind it.
     * Until reset it begins with all that the call before did not consume, so that a decoder may
     * go on where it was in a record that was cut.
     * A bad record fails with MS_BAD_RECORD, its ordinal within input and its offset in detail;
     * rows before it are in the batch.
     */
    ms_rc (*decode)(ms_decoder *decoder, ms_str input, bool at_end, ms_batch *batch,
                    size_t *consumed_out, ms_status *st);
    /* Another file; at_start: from its first byte, else from behind a record. */
    void (*reset)(ms_decoder *decoder, bool at_start);
    void (*close)(ms_decoder *decoder);
} ms_decoder_class;

#define MS_DECODE_PADDING 64u

struct ms_decoder {
    const ms_decoder_class *klass;
};

typedef struct ms_encoder_class {
    /* Appends the live rows as records. */
    ms_rc (*encode)(ms_encoder *encoder, const ms_batch *batch, ms_buf *out, ms_status *st);
    void (*close)(ms_encoder *encoder);
} ms_encoder_class;

struct ms_encoder {
    const ms_encoder_class *klass;
};

struct ms_format {
    const char *name;
    /* Options of the format, keys without the "json." prefix. */
    const ms_option_desc *options;
    uint32_t option_count;
    /* schema: the columns to decode, by position in the file for csv and by name for json.
     * file_schema: all columns of the record; wanted[i] is the ordinal in it of schema column i. */
    ms_rc (*decoder_create)(const ms_schema *file_schema, const uint32_t *wanted,
                            const ms_schema *schema, const ms_option_list *options,
                            ms_str time_zone, ms_decoder **decoder_out, ms_status *st);
    ms_rc (*encoder_create)(const ms_schema *schema, const ms_option_list *options,
                            ms_str time_zone, ms_encoder **encoder_out, ms_status *st);
};

/* ---- The connector ---- */

/* What a connector may use while a statement is planned. */
typedef struct ms_plan_env {
    ms_arena *arena; /* of the plan: scans, sinks and all they keep */
    bool is_streaming;
    ms_str base_dir; /* relative paths are resolved against it */
    ms_str local_time_zone;
    const ms_format *(*find_format)(void *registry, ms_str name);
    void *registry;
    void *service; /* what engine/ bound to the connector: the Bigtable backend, memory tables */
} ms_plan_env;

struct ms_connector {
    const char *name;
    const ms_option_desc *options;
    uint32_t option_count;
    /*
     * Validates the table's options and schema and makes the planning face. Errors name the option
     * key as the user wrote it, with its span. NULL: the connector cannot be read, or written.
     */
    ms_rc (*scan_create)(const ms_connector *connector, const ms_table *table, ms_plan_env *env,
                         ms_scan **scan_out, ms_status *st);
    /* target_columns: the sink columns that the INSERT names, ascending; the others get NULL. */
    ms_rc (*sink_create)(const ms_connector *connector, const ms_table *table, ms_plan_env *env,
                         const uint32_t *target_columns, uint32_t target_count, ms_sink **sink_out,
                         ms_status *st);
};

/* The registry that engine/ fills. Thread: session; read only once filled. */
#define MS_REGISTRY_ENTRIES_MAX 64u

typedef struct ms_registry {
    const ms_connector *connectors[MS_REGISTRY_ENTRIES_MAX];
    void *services[MS_REGISTRY_ENTRIES_MAX];
    uint32_t connector_count;
    const ms_format *formats[MS_REGISTRY_ENTRIES_MAX];
    uint32_t format_count;
} ms_registry;

void ms_registry_add_connector(ms_registry *registry, const ms_connector *connector, void *service);
void ms_registry_add_format(ms_registry *registry, const ms_format *format);

/* NULL when there is none of this name. service_out may be NULL. */
const ms_connector *ms_registry_connector(const ms_registry *registry, ms_str name,
                                          void **service_out);
const ms_format *ms_registry_format(const ms_registry *registry, ms_str name);

#endif
