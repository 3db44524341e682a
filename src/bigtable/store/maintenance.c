/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store does by itself: it lets readers of changes say that nothing happened (heartbeats),
 * collects garbage by a period, removes changes that are older than their retention, and notices
 * when its directory was removed or renamed, which no write does before a file is full. One thread
 * sees to it; all it does is to begin things, which the leader and the pool carry out, and to sleep
 * until the next is due. Tests have no thread and call ms_bt_store_tick instead.
 *
 * A heartbeat says that no change up to some time is missing, so the safe time must go on while
 * nobody writes: the leader makes an empty commit, which is a record of the clock. The clock is on
 * record before a token names its time, so that not even a clock that steps back over a restart can
 * give a later change a time that a reader has passed.
 */
#include "base/env.h"
#include "base/limits.h"
#include "base/memory.h"
#include "bigtable/store/change_log.h"
#include "bigtable/store/store_priv.h"

#define NS_PER_MS INT64_C(1000000)
/* Writes of so long may be acknowledged in a directory that is gone. */
#define DIR_PERIOD_MS INT64_C(1000)
#define GC_PERIOD_MS (INT64_C(3600) * 1000)
/* Changes stay up to this much longer than their retention. */
#define TRIM_PERIOD_MS (INT64_C(600) * 1000)
/* A clock that steps back by less does not make a reader miss what was removed. */
#define TRIM_SLACK_MICROS (INT64_C(60) * 1000000)
/* Tablets that one step looks at. */
#define TRIM_TABLETS 256u

/* One kind of thing that is done from time to time: at most one is under way. */
typedef struct chore {
    ms_bt_call call; /* what the commit queue holds */
    bool is_under_way;
} chore;

struct msi_maintenance {
    ms_bt_store *store;
    ms_thread thread;
    bool wants_thread;
    bool has_thread;
    int64_t gc_period_ms;

    /* Guarded by the store's waiting.mutex. */
    int64_t next_gc_ns;
    int64_t next_trim_ns;
    int64_t next_dir_ns;
    chore advance;
    chore trim;
    bool is_collecting;

    /* Of the trimming under way. */
    uint32_t trim_table; /* tables from this incarnation on are left */
    uint32_t trim_tablet;

    /* Of the collection under way. */
    ms_bt_table_call gc_call;
    ms_arena gc_arena;
    const ms_bt_table_name *gc_names;
    size_t gc_count;
    size_t gc_index;
};

/* A time of the monotonic clock that lies so much later; INT64_MAX where that is never. */
static int64_t later(int64_t now_ns, int64_t by_ms)
{
    int64_t by_ns = 0;
    int64_t at_ns = 0;
    bool is_never = __builtin_mul_overflow(by_ms, NS_PER_MS, &by_ns) ||
                    __builtin_add_overflow(now_ns, by_ns, &at_ns);
    return is_never ? INT64_MAX : at_ns;
}

/* Chores. */

static bool begin_chore(msi_maintenance *m, bool *is_under_way)
{
    ms_mutex_lock(&m->store->waiting.mutex);
    bool begins = !*is_under_way;
    *is_under_way = true;
    ms_mutex_unlock(&m->store->waiting.mutex);
    return begins;
}

static void end_chore(msi_maintenance *m, bool *is_under_way)
{
    msi_waiting *waiting = &m->store->waiting;
    ms_mutex_lock(&waiting->mutex);
    *is_under_way = false;
    ms_cond_broadcast(&waiting->changed);
    ms_mutex_unlock(&waiting->mutex);
}

static msi_maintenance *maintenance_of(ms_bt_call *call)
{
    return msi_store_item(call)->store->maintenance;
}

/* Advancing the safe time. */

static void begin_advance(msi_maintenance *m);

/* An empty commit, of a time that is late enough for all readers that wait for one by now. */
static bool run_advance(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    (void)call;
    int64_t wanted = msi_change_wanted(store);
    if (store->commit.micros < wanted) {
        store->commit.micros = wanted;
    }
    /* A failure is in st. */
    return msi_commit_write(store, MS_KV_NO_SYNC, st) == MS_OK;
}

static void advance_finished(ms_bt_call *call)
{
    msi_maintenance *m = maintenance_of(call);
    bool has_failed = !ms_bt_status_is_ok(&call->status);
    end_chore(m, &m->advance.is_under_way);
    if (has_failed) {
        /* The store takes no writes; readers say what they know. */
        msi_change_wake(m->store, NULL);
    } else if (msi_change_wanted(m->store) != 0) {
        /* Somebody came after the commit and before its end, and began nothing. */
        begin_advance(m);
    }
}

static void begin_advance(msi_maintenance *m)
{
    if (begin_chore(m, &m->advance.is_under_way)) {
        ms_bt_status_clear(&m->advance.call.status);
        msi_store_begin_item(m->store, &m->advance.call, run_advance, advance_finished);
        msi_commit_enqueue(m->store, &m->advance.call);
    }
}

/* Trimming the change log. */

/* The logged table of the lowest incarnation from trim_table on; NULL at the end. */
static const msi_table *next_logged(const msi_maintenance *m, const msi_schema *schema)
{
    const msi_table *found = NULL;
    for (size_t i = 0; i < schema->table_count; i++) {
        const msi_table *table = schema->tables[i];
        if (table->is_logged && table->id >= m->trim_table &&
            (found == NULL || table->id < found->id)) {
            found = table;
        }
    }
    return found;
}

/* Puts into the batch what removes the old changes of some tablets; true: of the last of them. */
static ms_rc trim_tablets(msi_maintenance *m, const msi_table *table, int64_t cutoff_micros,
                          bool *is_done_out, ms_status *st)
{
    char key[MSI_LOG_KEY_BYTES];
    char cut[MSI_LOG_KEY_BYTES];
    char upper[MSI_KEY_TABLE_BYTES];
    msi_key_put_u32(upper, MSI_KEY_TABLES_END + table->id + 1);
    ms_kv_iter_options bounds = {.upper = ms_str_make(upper, sizeof(upper)), .no_fill_cache = true};
    ms_kv_iter *iter = ms_kv_iter_create(m->store->kv, &bounds);
    ms_kv_entry entry;
    bool valid = true;
    uint32_t seen = 0;
    for (; valid && seen < TRIM_TABLETS; seen++) {
        char *end = msi_log_put_tablet(key, table->id, m->trim_tablet);
        ms_str start = ms_str_make(key, (size_t)(end - key));
        msi_log_position first;
        valid = ms_kv_iter_seek(iter, start, &entry) && msi_log_read_key(entry.key, &first);
        if (valid && first.micros < cutoff_micros) {
            msi_log_position cutoff = {first.tablet, cutoff_micros, 0};
            msi_log_put_key(cut, table->id, &cutoff);
            ms_kv_batch_delete_range(m->store->commit.batch, entry.key,
                                     ms_str_make(cut, sizeof(cut)));
        }
        m->trim_tablet = valid ? first.tablet + 1 : m->trim_tablet;
    }
    *is_done_out = !valid;
    ms_rc rc = ms_kv_iter_check(iter, st);
    ms_kv_iter_destroy(iter);
    return rc;
}

/* Forgets the tablets that ended before the changes that are kept. */
static void forget_past(msi_maintenance *m, const msi_schema *schema, const msi_table *table,
                        int64_t cutoff_micros, ms_status *st)
{
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    msi_table draft = *table;
    if (msi_table_forget(&draft, cutoff_micros, &scratch)) {
        ms_status refused = {0};
        ms_bt_status bt = {0};
        msi_schema *next = msi_schema_put_table(schema, &draft, m->store->commit.batch, &refused);
        msi_admin_finish_change(m->store, next, &refused, &bt, st);
    }
    ms_arena_release(&scratch);
}

/* One step: some tablets of a table, and with the last of them the tablets that are past. */
static ms_rc trim_some(msi_maintenance *m, const msi_schema *schema, const msi_table *table,
                       ms_status *st)
{
    int64_t cutoff = ms_env_wall_us() - table->def->change_retention_micros - TRIM_SLACK_MICROS;
    m->trim_table = table->id;
    bool is_done = false;
    MS_TRY(trim_tablets(m, table, cutoff, &is_done, st));
    if (is_done) {
        m->trim_table++;
        m->trim_tablet = 0;
        forget_past(m, schema, table, cutoff, st);
    }
    if (st->code == MS_OK && ms_kv_batch_count(m->store->commit.batch) > 0) {
        return msi_commit_write(m->store, MS_KV_NO_SYNC, st);
    }
    return st->code;
}

static bool run_trim(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    msi_maintenance *m = maintenance_of(call);
    msi_schema *schema = msi_store_schema(store);
    const msi_table *table = next_logged(m, schema);
    if (table != NULL) {
        if (table->id > m->trim_table) {
            m->trim_tablet = 0;
        }
        (void)trim_some(m, schema, table, st);
    }
    msi_schema_drop(schema);
    return table == NULL;
}

static void trim_finished(ms_bt_call *call)
{
    msi_maintenance *m = maintenance_of(call);
    end_chore(m, &m->trim.is_under_way);
}

static void begin_trim(msi_maintenance *m)
{
    if (begin_chore(m, &m->trim.is_under_way)) {
        m->trim_table = 0;
        m->trim_tablet = 0;
        ms_bt_status_clear(&m->trim.call.status);
        msi_store_begin_item(m->store, &m->trim.call, run_trim, trim_finished);
        msi_commit_enqueue(m->store, &m->trim.call);
    }
}

/* Collecting garbage, table by table. */

static void collect_next(msi_maintenance *m);

static void table_collected(ms_bt_call *call)
{
    /* A table that is gone, or another failure, is no reason to leave the others out. */
    collect_next(maintenance_of(call));
}

static bool is_stopping(const msi_maintenance *m)
{
    /* Order relaxed: a wish, which guards no other memory. */
    return atomic_load_explicit(&m->store->is_stopping, memory_order_relaxed);
}

static void collect_next(msi_maintenance *m)
{
    if (m->gc_index == m->gc_count || is_stopping(m)) {
        end_chore(m, &m->is_collecting);
        return;
    }
    m->gc_call.name = m->gc_names[m->gc_index++];
    ms_bt_status_clear(&m->gc_call.call.status);
    msi_store_begin_item(m->store, &m->gc_call.call, NULL, table_collected);
    msi_gc_start(m->store, &m->gc_call.call);
}

static void begin_collection(msi_maintenance *m)
{
    if (!begin_chore(m, &m->is_collecting)) {
        return;
    }
    ms_arena_reset(&m->gc_arena);
    msi_schema *schema = msi_store_schema(m->store);
    ms_bt_table_name *names = ms_arena_array(&m->gc_arena, ms_bt_table_name, schema->table_count);
    for (size_t i = 0; i < schema->table_count; i++) {
        names[i] = ms_bt_table_copy(&m->gc_arena, schema->tables[i]->def)->name;
    }
    m->gc_names = names;
    m->gc_count = schema->table_count;
    m->gc_index = 0;
    msi_schema_drop(schema);
    collect_next(m);
}

/* What is due. */

/* Begins everything whose time has come. */
static void look_around(msi_maintenance *m)
{
    msi_waiting *waiting = &m->store->waiting;
    int64_t now = ms_env_mono_ns();
    if (msi_change_take_due(m->store)) {
        begin_advance(m);
    }
    ms_mutex_lock(&waiting->mutex);
    bool trims = now >= m->next_trim_ns;
    if (trims) {
        m->next_trim_ns = later(now, TRIM_PERIOD_MS);
    }
    bool looks = now >= m->next_dir_ns;
    if (looks) {
        m->next_dir_ns = later(now, DIR_PERIOD_MS);
    }
    bool collects = now >= m->next_gc_ns;
    if (collects) {
        m->next_gc_ns = later(now, m->gc_period_ms);
    }
    ms_mutex_unlock(&waiting->mutex);
    if (looks && !msi_store_check_dir(m->store)) {
        ms_mutex_lock(&waiting->mutex);
        m->next_dir_ns = INT64_MAX;
        ms_mutex_unlock(&waiting->mutex);
    }
    if (trims) {
        begin_trim(m);
    }
    if (collects) {
        begin_collection(m);
    }
}

/* Sleeps until the next thing is due. What is due is found out and announced under the mutex that
 * readers take when they begin to wait, so that none that is due earlier is overheard. */
static void sleep_until_due(msi_maintenance *m)
{
    msi_waiting *waiting = &m->store->waiting;
    ms_mutex_lock(&waiting->mutex);
    int64_t next = msi_change_next_due(m->store);
    next = m->next_trim_ns < next ? m->next_trim_ns : next;
    next = m->next_gc_ns < next ? m->next_gc_ns : next;
    next = m->next_dir_ns < next ? m->next_dir_ns : next;
    waiting->next_look_ns = next;
    int64_t left = INT64_MAX;
    (void)__builtin_sub_overflow(next, ms_env_mono_ns(), &left);
    if (left > 0 && !is_stopping(m)) {
        (void)ms_cond_wait_for(&waiting->changed, &waiting->mutex, left);
    }
    ms_mutex_unlock(&waiting->mutex);
}

static void run_thread(void *arg)
{
    msi_maintenance *m = arg;
    while (!is_stopping(m)) {
        look_around(m);
        sleep_until_due(m);
    }
}

/* Waits for the end of everything that was begun. */
static void wait_chores(msi_maintenance *m)
{
    msi_waiting *waiting = &m->store->waiting;
    ms_mutex_lock(&waiting->mutex);
    while (m->advance.is_under_way || m->trim.is_under_way || m->is_collecting) {
        ms_cond_wait(&waiting->changed, &waiting->mutex);
    }
    ms_mutex_unlock(&waiting->mutex);
}

void ms_bt_store_tick(ms_bt_store *store)
{
    look_around(store->maintenance);
    wait_chores(store->maintenance);
}

/* Life. */

void msi_maintenance_init(ms_bt_store *store, const ms_bt_store_options *options)
{
    msi_maintenance *m = ms_mem_calloc(1, sizeof(*m));
    m->store = store;
    m->wants_thread = !options->has_no_thread;
    m->gc_period_ms = options->gc_period_ms != 0 ? options->gc_period_ms : GC_PERIOD_MS;
    int64_t now = ms_env_mono_ns();
    m->next_gc_ns = m->gc_period_ms > 0 ? later(now, m->gc_period_ms) : INT64_MAX;
    m->next_trim_ns = now;
    m->next_dir_ns = later(now, DIR_PERIOD_MS);
    m->advance.call.kind = MS_BT_CALL_COUNT;
    m->trim.call.kind = MS_BT_CALL_COUNT;
    m->gc_call.call.kind = MS_BT_CALL_COLLECT_GARBAGE;
    ms_arena_init(&m->gc_arena, 0);
    ms_arena_init(&m->gc_call.answer, 0);
    store->maintenance = m;
}

ms_rc msi_maintenance_start(ms_bt_store *store, ms_status *st)
{
    msi_maintenance *m = store->maintenance;
    if (m->wants_thread) {
        MS_TRY(ms_thread_start(&m->thread, "bigtable", run_thread, m, st));
        m->has_thread = true;
    }
    return MS_OK;
}

void msi_maintenance_stop(ms_bt_store *store)
{
    msi_maintenance *m = store->maintenance;
    msi_waiting *waiting = &store->waiting;
    ms_mutex_lock(&waiting->mutex);
    /* Order relaxed: see is_stopping. */
    atomic_store_explicit(&store->is_stopping, true, memory_order_relaxed);
    ms_cond_broadcast(&waiting->changed);
    ms_mutex_unlock(&waiting->mutex);
    if (m->has_thread) {
        ms_thread_join(&m->thread);
        m->has_thread = false;
    }
    wait_chores(m);
}

void msi_maintenance_release(ms_bt_store *store)
{
    msi_maintenance *m = store->maintenance;
    if (m != NULL) {
        ms_arena_release(&m->gc_call.answer);
        ms_arena_release(&m->gc_arena);
        ms_mem_free(m);
    }
}
