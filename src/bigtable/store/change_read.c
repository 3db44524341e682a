/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading change streams. A reader is a place in the log and a range of rows; between fills it
 * holds nothing of the store, and a fill that finds nothing waits in a list, without a thread,
 * until the leader publishes something for its tablet, its heartbeat is due, or it is canceled.
 *
 * Every reader has a home, the tablet that its partition is, or lies in. When the home ends, the
 * stream closes, with a token for every tablet that took its place. A reader that begins in the
 * past begins in the tablet of that time, and comes to the present by closes: so those who read
 * all partitions from one time on always have all the tokens that lead to a tablet, whenever each
 * of them was opened.
 *
 *     log of 1 [,)     ......|
 *     log of 2 [,m)          |......              a reader of [,m) from the first dot on: 1, then 2
 *
 * What may be read when is a matter of order: the safe time first, then the iterator, then the
 * catalog and the wall clock. So an ended tablet that the safe time knows of is known to be ended,
 * and nothing was removed for its age that the clock does not know to be too old.
 */
#include "base/env.h"
#include "base/memory.h"
#include "bigtable/store/change_log.h"
#include "bigtable/store/store_priv.h"

#include <stdlib.h>

/* As a scan's: what a pool thread and an iterator are held for. */
#define TURN_BYTES ((uint64_t)8 << 20)
#define TURN_NS INT64_C(20000000)
/* Records between two looks at the clock, less one. */
#define CLOCK_MASK 63u

#define SEQUENCE_END UINT32_MAX

typedef enum fill_state {
    FILL_NONE,    /* no fill is under way */
    FILL_RUNNING, /* a pool job is queued or runs */
    FILL_WAITING
} fill_state;

struct msi_change_read {
    ms_iojob job;
    ms_bt_store *store;
    ms_bt_change_attempt *attempt;
    ms_arena arena; /* of the range */
    bool is_open;
    ms_str start; /* the partition: [start, end) */
    ms_str end;
    msi_token place;

    int64_t said_ns;  /* when a fill last had something */
    bool had_advance; /* the safe time went on since the heartbeat was due */

    /* Guarded by the store's waiting.mutex. */
    msi_change_read *before; /* in the list of fills under way */
    msi_change_read *after;
    msi_change_read *next_woken;
    fill_state state;
    bool is_signaled;     /* something was published while the fill ran */
    bool is_canceled;     /* by its consumer */
    int64_t wants_micros; /* its time has come, and it waits for the safe time to be so; 0: not */
    uint32_t table;       /* what it waits for; 0: not known yet */
    uint32_t home;
    int64_t due_ns; /* when it has something to say in any case */
};

/* One look at the log. */
typedef struct look {
    msi_change_read *read;
    ms_bt_change_page *page;
    int64_t safe_micros;
    ms_kv_iter *iter;
    const msi_table *table;
    uint64_t bytes_seen;
    uint64_t records_seen;
    int64_t end_ns;
} look;

/* What a look came to. */
typedef enum look_result {
    LOOK_PAGE,    /* the page has something, or there is more to look at */
    LOOK_NOTHING, /* nothing up to the safe time */
    LOOK_FAILED
} look_result;

/* Ranges. */

static ms_str later_start(ms_str a, ms_str b)
{
    return ms_str_compare(a, b) >= 0 ? a : b;
}

static ms_str earlier_end(ms_str a, ms_str b)
{
    if (a.bytes == 0 || b.bytes == 0) {
        return a.bytes == 0 ? b : a;
    }
    return ms_str_compare(a, b) <= 0 ? a : b;
}

/* [start, end) as the model has it, copied into the arena. */
static ms_bt_range make_range(ms_str start, ms_str end, ms_arena *arena)
{
    return ms_bt_range_make(ms_arena_copy_str(arena, start), ms_arena_copy_str(arena, end));
}

/* Takes [start, end) out of a range of that form. */
static ms_bt_code take_range(const ms_bt_range *range, ms_str *start_out, ms_str *end_out,
                             ms_bt_status *bt)
{
    *start_out = range->start.key;
    *end_out = range->end.key;
    bool has_form = range->start.kind != MS_BT_BOUND_OPEN && range->end.kind != MS_BT_BOUND_CLOSED;
    if (!has_form || (end_out->bytes > 0 && ms_str_compare(*start_out, *end_out) >= 0)) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "partition.row_range must be the form of [start_key, end_key)");
    }
    return MS_BT_OK;
}

static bool holds_row(const msi_change_read *read, ms_str row)
{
    return ms_str_compare(read->start, row) <= 0 &&
           (read->end.bytes == 0 || ms_str_compare(row, read->end) < 0);
}

/* The tablet that holds, or held, a key behind a time. */
static const msi_tablet *tablet_behind(const msi_table *table, int64_t micros, ms_str key)
{
    /* Ascending by incarnation, so that the first is the one. */
    for (size_t i = 0; i < table->past_count; i++) {
        const msi_tablet *tablet = &table->past[i];
        if (tablet->end_micros > micros && ms_str_compare(tablet->start, key) <= 0 &&
            (tablet->end.bytes == 0 || ms_str_compare(key, tablet->end) < 0)) {
            return tablet;
        }
    }
    return msi_table_tablet(table, key);
}

/* Has the tablet everything before this end of a range that begins in it? */
static bool reaches(const msi_tablet *tablet, ms_str end)
{
    return tablet->end.bytes == 0 || (end.bytes > 0 && ms_str_compare(end, tablet->end) <= 0);
}

/* The place in front of what a tablet has from a time on. */
static msi_token enter_tablet(const msi_table *table, const msi_tablet *tablet,
                              int64_t since_micros)
{
    int64_t micros = since_micros - 1;
    micros = micros > tablet->begin_micros ? micros : tablet->begin_micros;
    return (msi_token){table->id, {tablet->id, micros, SEQUENCE_END}};
}

/* Saying. */

static ms_str token_text(const msi_token *place, ms_arena *arena)
{
    char text[MSI_TOKEN_BYTES];
    size_t bytes = msi_token_print(place, text);
    return ms_arena_copy_str(arena, ms_str_make(text, bytes));
}

static void say_heartbeat(msi_change_read *read)
{
    ms_bt_change_page *page = read->attempt->page;
    ms_bt_change *change = ms_bt_change_page_add(page);
    change->kind = MS_BT_CHANGE_HEARTBEAT;
    change->token = token_text(&read->place, &page->arena);
    change->low_watermark_micros = read->place.position.micros;
}

/* A close, so far without tokens; room for as many as pieces. */
typedef struct closing {
    ms_bt_change *change;
    ms_bt_change_token *tokens;
    ms_bt_range *partitions;
    ms_arena *arena;
} closing;

static closing begin_close(msi_change_read *read, size_t pieces)
{
    ms_bt_change_page *page = read->attempt->page;
    closing c = {.change = ms_bt_change_page_add(page), .arena = &page->arena};
    c.change->kind = MS_BT_CHANGE_CLOSE;
    c.change->low_watermark_micros = read->place.position.micros;
    if (pieces > 0) {
        c.tokens = ms_arena_array(c.arena, ms_bt_change_token, pieces);
        c.partitions = ms_arena_array(c.arena, ms_bt_range, pieces);
        c.change->tokens = c.tokens;
        c.change->new_partitions = c.partitions;
        ms_bt_status_set(&c.change->status, MS_BT_OUT_OF_RANGE,
                         "The partition was split or merged; go on with the new partitions");
    }
    read->attempt->is_at_end = true;
    return c;
}

/* [start, end) of the partition goes on at place, as part of the new partition. */
static void add_piece(closing *c, ms_str start, ms_str end, const msi_token *place,
                      ms_bt_range partition)
{
    c->tokens[c->change->token_count] = (ms_bt_change_token){
        .partition = make_range(start, end, c->arena), .token = token_text(place, c->arena)};
    c->partitions[c->change->token_count++] = partition;
}

/* The home has ended: the tablets that took its place, in the order of their keys. */
static void say_successors(msi_change_read *read, const msi_table *table, const msi_tablet *home)
{
    int64_t micros = read->place.position.micros;
    micros = micros > home->end_micros ? micros : home->end_micros;
    /* A split makes two of one. */
    closing c = begin_close(read, 2);
    const msi_tablet *next = tablet_behind(table, home->end_micros, read->start);
    for (;;) {
        msi_token place = {table->id, {next->id, micros, SEQUENCE_END}};
        MS_ASSERT(c.change->token_count < 2);
        add_piece(&c, later_start(read->start, next->start), earlier_end(read->end, next->end),
                  &place, make_range(next->start, next->end, c.arena));
        if (reaches(next, read->end)) {
            return;
        }
        next = tablet_behind(table, home->end_micros, next->end);
    }
}

/* Opening. */

static ms_bt_code check_age(const msi_table *table, int64_t micros, ms_bt_status *bt)
{
    int64_t oldest = ms_env_wall_us() - table->def->change_retention_micros;
    if (micros < table->stream_micros - 1 || micros < oldest - 1) {
        return ms_bt_status_set(bt, MS_BT_OUT_OF_RANGE,
                                "The position is older than the changes that are retained");
    }
    return MS_BT_OK;
}

/* The partition lay in several tablets: it is closed at once, with a token for its part of each. */
static void open_in_pieces(msi_change_read *read, const msi_table *table, int64_t since_micros)
{
    closing c = begin_close(read, table->tablet_count + table->past_count);
    ms_str start = read->start;
    for (;;) {
        const msi_tablet *tablet = tablet_behind(table, since_micros, start);
        ms_str end = earlier_end(read->end, tablet->end);
        msi_token place = enter_tablet(table, tablet, since_micros);
        add_piece(&c, start, end, &place, make_range(start, end, c.arena));
        if (reaches(tablet, read->end)) {
            return;
        }
        start = tablet->end;
    }
}

static ms_bt_code open_at_time(msi_change_read *read, const msi_table *table, int64_t safe_micros,
                               ms_bt_status *bt)
{
    int64_t start = read->attempt->options->start_micros;
    /* Commits may be ahead of the clock. */
    if (start < 0 || (start > ms_env_wall_us() && start > safe_micros)) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'start_time' : must not be in the future");
    }
    if (start != 0 && start < table->created_micros) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'start_time' : is before the table was created");
    }
    int64_t since = start != 0 ? start : safe_micros + 1;
    /* The store's clock may have been ahead of the wall clock when the stream began. */
    if (since < table->stream_micros && (start == 0 || start >= table->stream_wall_micros)) {
        since = table->stream_micros;
    }
    MS_BT_TRY(check_age(table, since, bt));
    const msi_tablet *home = tablet_behind(table, since, read->start);
    read->place = enter_tablet(table, home, since);
    if (!msi_tablet_contains(home, read->start, read->end)) {
        open_in_pieces(read, table, since);
    }
    return MS_BT_OK;
}

static int compare_tokens(const void *left, const void *right)
{
    const ms_bt_change_token *a = left;
    const ms_bt_change_token *b = right;
    return ms_str_compare(a->partition.start.key, b->partition.start.key);
}

/* The tokens by where they start, which must tile the partition. */
static ms_bt_code check_tiling(msi_change_read *read, ms_bt_change_token *sorted, ms_bt_status *bt)
{
    const ms_bt_change_options *options = read->attempt->options;
    size_t count = options->token_count;
    ms_str at = read->start;
    bool tiles = true;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = options->tokens[i];
    }
    qsort(sorted, count, sizeof(*sorted), compare_tokens);
    for (size_t i = 0; i < count; i++) {
        ms_str start;
        ms_str end;
        MS_BT_TRY(take_range(&sorted[i].partition, &start, &end, bt));
        tiles = tiles && ms_str_equals(start, at) && (i + 1 == count || end.bytes > 0);
        at = end;
    }
    return tiles && ms_str_equals(at, read->end)
               ? MS_BT_OK
               : ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                  "Error in field 'continuation_tokens' : the partitions of the "
                                  "tokens must tile the partition of the request");
}

static ms_bt_code check_token(const msi_table *table, const ms_bt_change_token *token,
                              msi_token *place_out, ms_bt_status *bt)
{
    const char *wrong = NULL;
    const msi_tablet *home = NULL;
    if (!msi_token_parse(token->token, place_out)) {
        wrong = "is no token";
    } else if (place_out->table != table->id) {
        wrong = "is of another table";
    } else if (place_out->position.tablet == 0 ||
               place_out->position.tablet >= table->next_tablet_id) {
        wrong = "is of no tablet of the table";
    } else {
        home = msi_table_tablet_by_id(table, place_out->position.tablet);
        if (home != NULL &&
            !msi_tablet_contains(home, token->partition.start.key, token->partition.end.key)) {
            wrong = "is of another partition";
        }
    }
    if (wrong != NULL) {
        char text[MSI_TOKEN_BYTES];
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'continuation_tokens' : \"%s\" %s",
                                ms_bt_bytes_text(token->token, text, sizeof(text)), wrong);
    }
    return check_age(table, home != NULL ? place_out->position.micros : 0, bt);
}

static bool is_same_place(const msi_log_position *a, const msi_log_position *b)
{
    return a->tablet == b->tablet && a->micros == b->micros && a->sequence == b->sequence;
}

/* Tokens of different places are given back, each for a reader of its own. */
static ms_bt_code open_at_tokens(msi_change_read *read, const msi_table *table, ms_bt_status *bt)
{
    size_t count = read->attempt->options->token_count;
    ms_bt_change_token *sorted = ms_arena_array(&read->arena, ms_bt_change_token, count);
    msi_token *places = ms_arena_array(&read->arena, msi_token, count);
    MS_BT_TRY(check_tiling(read, sorted, bt));
    bool is_one = true;
    for (size_t i = 0; i < count; i++) {
        MS_BT_TRY(check_token(table, &sorted[i], &places[i], bt));
        is_one = is_one && is_same_place(&places[i].position, &places[0].position);
    }
    read->place = places[0];
    if (is_one) {
        return MS_BT_OK;
    }
    closing c = begin_close(read, count);
    for (size_t i = 0; i < count; i++) {
        ms_str start = sorted[i].partition.start.key;
        ms_str end = sorted[i].partition.end.key;
        add_piece(&c, start, end, &places[i], make_range(start, end, c.arena));
    }
    return MS_BT_OK;
}

static ms_bt_code check_logged(const msi_table *table, ms_bt_status *bt)
{
    if (!table->is_logged) {
        char path[MS_BT_TABLE_PATH_BYTES];
        ms_bt_table_name_path(&table->def->name, path);
        return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION,
                                "Change stream is not enabled for table \"%s\"", path);
    }
    return MS_BT_OK;
}

static ms_bt_code check_table(const msi_change_read *read, const msi_schema *schema,
                              const msi_table **table_out, ms_bt_status *bt)
{
    const ms_bt_change_options *options = read->attempt->options;
    const msi_table *table = msi_schema_find(schema, &options->table);
    if (table == NULL || (read->is_open && table->id != read->place.table)) {
        return msi_store_no_table(schema, &options->table, bt);
    }
    *table_out = table;
    return check_logged(table, bt);
}

static ms_bt_code open_read(msi_change_read *read, const msi_schema *schema, int64_t safe_micros,
                            ms_bt_status *bt)
{
    const ms_bt_change_options *options = read->attempt->options;
    const msi_table *table = NULL;
    MS_BT_TRY(ms_bt_table_name_check(&options->table, bt));
    MS_BT_TRY(check_table(read, schema, &table, bt));
    MS_BT_TRY(msi_profile_check(schema, &options->table, options->app_profile, MSI_ACCESS_CHANGES,
                                NULL, bt));
    MS_BT_TRY(take_range(&options->partition, &read->start, &read->end, bt));
    if (options->end_micros < 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'end_time' : must not be negative");
    }
    MS_BT_TRY(options->token_count > 0 ? open_at_tokens(read, table, bt)
                                       : open_at_time(read, table, safe_micros, bt));
    read->is_open = true;
    return MS_BT_OK;
}

/* Looking. */

static bool is_look_over(look *l)
{
    size_t page_bytes_max = l->read->attempt->options->page_bytes_max;
    if (l->page->bytes >= page_bytes_max || l->bytes_seen >= TURN_BYTES) {
        return true;
    }
    return (l->records_seen & CLOCK_MASK) == CLOCK_MASK && ms_env_mono_ns() >= l->end_ns;
}

static ms_rc add_record(look *l, const msi_log_position *position, ms_str value, ms_status *st)
{
    ms_bt_change *change = ms_bt_change_page_add(l->page);
    if (msi_log_read(value, &l->page->arena, change, st) != MS_OK) {
        return st->code;
    }
    change->commit_micros = position->micros;
    change->tiebreaker = (int32_t)(position->sequence & INT32_MAX);
    change->token = token_text(&l->read->place, &l->page->arena);
    change->low_watermark_micros = position->micros;
    l->page->bytes += value.bytes;
    return MS_OK;
}

/*
 * Reads the log of the tablet that the place is in, up to a time. *is_done_out: nothing is left of
 * it; else the page is full, or enough was looked at.
 */
static ms_rc read_tablet(look *l, int64_t limit_micros, bool *is_done_out, ms_status *st)
{
    msi_log_position *at = &l->read->place.position;
    *is_done_out = true;
    if (at->micros >= limit_micros && at->sequence == SEQUENCE_END) {
        return MS_OK;
    }
    msi_log_position next = *at;
    next.micros += next.sequence == SEQUENCE_END ? 1 : 0;
    next.sequence = next.sequence == SEQUENCE_END ? 0 : next.sequence + 1;
    char key[MSI_LOG_KEY_BYTES];
    msi_log_put_key(key, l->table->id, &next);
    ms_kv_entry entry;
    bool valid = ms_kv_iter_seek(l->iter, ms_str_make(key, sizeof(key)), &entry);
    while (valid) {
        msi_log_position position;
        if (!msi_log_read_key(entry.key, &position)) {
            return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                                 "the change log of the embedded store has a damaged key");
        }
        if (position.tablet != at->tablet || position.micros > limit_micros) {
            break;
        }
        *at = position;
        l->bytes_seen += entry.value.bytes;
        l->records_seen++;
        if (holds_row(l->read, msi_log_read_row(entry.value))) {
            MS_TRY(add_record(l, &position, entry.value, st));
        }
        if (is_look_over(l)) {
            *is_done_out = false;
            return MS_OK;
        }
        valid = ms_kv_iter_next(l->iter, &entry);
    }
    MS_TRY(ms_kv_iter_check(l->iter, st));
    if (limit_micros >= at->micros) {
        *at = (msi_log_position){at->tablet, limit_micros, SEQUENCE_END};
    }
    return MS_OK;
}

/* The time up to which changes in a tablet are wanted and there. */
static int64_t limit_of(const look *l, const msi_tablet *tablet)
{
    int64_t limit = l->safe_micros;
    int64_t end = l->read->attempt->options->end_micros;
    if (end != 0 && end < limit) {
        limit = end;
    }
    if (tablet->end_micros != 0 && tablet->end_micros - 1 < limit) {
        limit = tablet->end_micros - 1;
    }
    return limit;
}

/* Everything of the home was read up to a limit: is the stream over with that? */
static bool close_at_home(look *l, const msi_tablet *home)
{
    msi_change_read *read = l->read;
    int64_t end = read->attempt->options->end_micros;
    bool has_ended = home->end_micros != 0 && home->end_micros <= l->safe_micros;
    if (end != 0 && end <= l->safe_micros && (!has_ended || end < home->end_micros)) {
        (void)begin_close(read, 0);
        return true;
    }
    if (has_ended) {
        say_successors(read, l->table, home);
    }
    return has_ended;
}

/* Reads the log of the home, and says so when that has ended. */
static ms_rc read_home(look *l, look_result *result_out, ms_status *st)
{
    const msi_change_read *read = l->read;
    const msi_tablet *home = msi_table_tablet_by_id(l->table, read->place.position.tablet);
    bool is_over = false;
    *result_out = LOOK_PAGE;
    if (home != NULL) {
        bool is_done = false;
        MS_TRY(read_tablet(l, limit_of(l, home), &is_done, st));
        if (!is_done) {
            return MS_OK;
        }
        is_over = close_at_home(l, home);
    }
    /* A page ends with the close, or has something, or there was nothing. */
    *result_out = is_over || l->page->change_count > 0 ? LOOK_PAGE : LOOK_NOTHING;
    return MS_OK;
}

static look_result look_at_log(look *l, const msi_schema *schema, ms_bt_status *bt)
{
    msi_change_read *read = l->read;
    if (!read->is_open && open_read(read, schema, l->safe_micros, bt) != MS_BT_OK) {
        return LOOK_FAILED;
    }
    if (read->attempt->is_at_end) {
        return LOOK_PAGE;
    }
    if (check_table(read, schema, &l->table, bt) != MS_BT_OK ||
        check_age(l->table, read->place.position.micros, bt) != MS_BT_OK) {
        return LOOK_FAILED;
    }
    ms_status st = {0};
    look_result result = LOOK_NOTHING;
    if (read_home(l, &result, &st) != MS_OK) {
        ms_bt_status_from(bt, st.code == MS_CORRUPT_DATA ? MS_BT_DATA_LOSS : MS_BT_INTERNAL, &st);
        return LOOK_FAILED;
    }
    return result;
}

/* One look, with everything in the order that it must have. */
static look_result look_once(msi_change_read *read)
{
    char lower[MSI_KEY_TABLE_BYTES];
    char upper[MSI_KEY_TABLE_BYTES];
    msi_key_put_u32(lower, MSI_KEY_TABLES_END);
    memset(upper, 0xFF, sizeof(upper));
    look l = {.read = read,
              .page = read->attempt->page,
              .safe_micros = msi_store_safe_micros(read->store),
              .end_ns = ms_env_mono_ns() + TURN_NS};
    ms_kv_iter_options bounds = {.lower = ms_str_make(lower, sizeof(lower)),
                                 .upper = ms_str_make(upper, sizeof(upper)),
                                 .no_fill_cache = true};
    l.iter = ms_kv_iter_create(read->store->kv, &bounds);
    msi_schema *schema = msi_store_schema(read->store);
    look_result result = look_at_log(&l, schema, &read->attempt->status);
    msi_schema_drop(schema);
    ms_kv_iter_destroy(l.iter);
    return result;
}

/* Fills. */

static void unlink_read(msi_change_read *read)
{
    msi_waiting *waiting = &read->store->waiting;
    if (read->before != NULL) {
        read->before->after = read->after;
    } else {
        waiting->first = read->after;
    }
    if (read->after != NULL) {
        read->after->before = read->before;
    }
    read->before = NULL;
    read->after = NULL;
    read->state = FILL_NONE;
}

/* Ends a fill; the reader is no longer its own. */
static void finish_fill(msi_change_read *read)
{
    if (read->attempt->page->change_count > 0) {
        read->said_ns = ms_env_mono_ns();
    }
    ms_mutex_lock(&read->store->waiting.mutex);
    unlink_read(read);
    ms_mutex_unlock(&read->store->waiting.mutex);
    ms_bt_change_attempt_finish(read->attempt);
}

static void fail_fill(msi_change_read *read, ms_bt_code code, const char *text)
{
    ms_bt_status_set(&read->attempt->status, code, "%s", text);
    finish_fill(read);
}

static void run_fill(ms_iojob *job);

static void submit_fill(msi_change_read *read)
{
    read->job = (ms_iojob){.run = run_fill};
    ms_status st = {0};
    if (ms_iopool_submit(read->store->pool, &read->job, &st) != MS_OK) {
        fail_fill(read, MS_BT_RESOURCE_EXHAUSTED, st.message);
    }
}

/* now + by * scale; INT64_MAX where that is never. */
static int64_t later(int64_t now_ns, int64_t by, int64_t scale_ns)
{
    int64_t by_ns = 0;
    int64_t at_ns = 0;
    bool is_never = __builtin_mul_overflow(by, scale_ns, &by_ns) ||
                    __builtin_add_overflow(now_ns, by_ns, &at_ns);
    return is_never ? INT64_MAX : at_ns;
}

/* When the stream has something to say whatever happens: a heartbeat, or that its end has come. */
static int64_t due_of(const msi_change_read *read)
{
    const ms_bt_change_options *options = read->attempt->options;
    int64_t due = later(read->said_ns, options->heartbeat_ms, 1000000);
    if (options->end_micros != 0) {
        int64_t left = options->end_micros - ms_env_wall_us();
        int64_t end = later(ms_env_mono_ns(), left < 0 ? 0 : left + 1, 1000);
        due = end < due ? end : due;
    }
    return due;
}

typedef enum wait_result { WAIT_WAITS, WAIT_AGAIN, WAIT_CANCELED } wait_result;

/* Puts a fill to sleep that found nothing, unless something happened meanwhile. */
static wait_result begin_wait(msi_change_read *read)
{
    msi_waiting *waiting = &read->store->waiting;
    wait_result result = WAIT_WAITS;
    int64_t due_ns = due_of(read);
    ms_mutex_lock(&waiting->mutex);
    read->table = read->place.table;
    read->home = read->place.position.tablet;
    read->due_ns = due_ns;
    if (read->is_canceled) {
        result = WAIT_CANCELED;
    } else if (read->is_signaled) {
        read->is_signaled = false;
        result = WAIT_AGAIN;
    } else {
        read->state = FILL_WAITING;
        if (due_ns < waiting->next_look_ns) {
            waiting->next_look_ns = due_ns;
            ms_cond_broadcast(&waiting->changed);
        }
    }
    ms_mutex_unlock(&waiting->mutex);
    return result;
}

static void run_fill(ms_iojob *job)
{
    msi_change_read *read = MS_MAIL_OWNER(job, msi_change_read, job);
    wait_result wait = WAIT_AGAIN;
    while (wait == WAIT_AGAIN) {
        look_result result = look_once(read);
        bool is_silent = result != LOOK_FAILED && read->attempt->page->change_count == 0;
        if (is_silent && (result == LOOK_PAGE || read->had_advance) &&
            ms_env_mono_ns() >= due_of(read)) {
            say_heartbeat(read);
            result = LOOK_PAGE;
        }
        if (result != LOOK_NOTHING) {
            finish_fill(read);
            return;
        }
        wait = begin_wait(read);
    }
    /* A reader that waits may be running elsewhere by now. */
    if (wait == WAIT_CANCELED) {
        fail_fill(read, MS_BT_CANCELLED, "The read was canceled");
    }
}

/* Waking. */

static bool is_touched(const msi_change_read *read, const msi_touched *touched)
{
    if (touched == NULL) {
        return read->wants_micros != 0;
    }
    if (touched->is_full || (read->table == 0 && touched->count > 0)) {
        return true;
    }
    for (uint32_t i = 0; i < touched->count; i++) {
        if (touched->list[i].table == read->table &&
            (touched->list[i].tablet == 0 || touched->list[i].tablet == read->home)) {
            return true;
        }
    }
    return false;
}

void msi_change_wake(ms_bt_store *store, const msi_touched *touched)
{
    msi_waiting *waiting = &store->waiting;
    msi_change_read *woken = NULL;
    int64_t safe_micros = msi_store_safe_micros(store);
    ms_mutex_lock(&waiting->mutex);
    for (msi_change_read *read = waiting->first; read != NULL; read = read->after) {
        bool has_time =
            read->wants_micros != 0 && (touched == NULL || safe_micros >= read->wants_micros);
        bool is_hit = has_time || is_touched(read, touched);
        if (is_hit && read->state == FILL_WAITING) {
            read->had_advance = read->had_advance || has_time;
            read->wants_micros = 0;
            read->state = FILL_RUNNING;
            read->next_woken = woken;
            woken = read;
        } else if (is_hit) {
            read->is_signaled = true;
        }
    }
    ms_mutex_unlock(&waiting->mutex);
    while (woken != NULL) {
        msi_change_read *read = woken;
        woken = read->next_woken;
        submit_fill(read);
    }
}

bool msi_change_take_due(ms_bt_store *store)
{
    msi_waiting *waiting = &store->waiting;
    int64_t now_ns = ms_env_mono_ns();
    int64_t now_micros = ms_env_wall_us();
    bool any = false;
    ms_mutex_lock(&waiting->mutex);
    for (msi_change_read *read = waiting->first; read != NULL; read = read->after) {
        if (read->state == FILL_WAITING && read->wants_micros == 0 && read->due_ns <= now_ns) {
            read->wants_micros = now_micros > 0 ? now_micros : 1;
            any = true;
        }
    }
    ms_mutex_unlock(&waiting->mutex);
    return any;
}

int64_t msi_change_wanted(ms_bt_store *store)
{
    int64_t wanted = 0;
    ms_mutex_lock(&store->waiting.mutex);
    for (msi_change_read *read = store->waiting.first; read != NULL; read = read->after) {
        wanted = read->wants_micros > wanted ? read->wants_micros : wanted;
    }
    ms_mutex_unlock(&store->waiting.mutex);
    return wanted;
}

int64_t msi_change_next_due(const ms_bt_store *store)
{
    int64_t next_ns = INT64_MAX;
    for (const msi_change_read *read = store->waiting.first; read != NULL; read = read->after) {
        bool counts = read->state == FILL_WAITING && read->wants_micros == 0;
        next_ns = counts && read->due_ns < next_ns ? read->due_ns : next_ns;
    }
    return next_ns;
}

/* The transport's part. */

void msi_change_open(ms_bt_transport *transport, ms_bt_change_attempt *attempt)
{
    msi_change_read *read = ms_mem_calloc(1, sizeof(*read));
    read->store = (ms_bt_store *)(void *)transport;
    read->attempt = attempt;
    read->said_ns = ms_env_mono_ns();
    ms_arena_init(&read->arena, 0);
    attempt->transport_data = read;
}

void msi_change_fill(ms_bt_transport *transport, ms_bt_change_attempt *attempt)
{
    (void)transport;
    msi_change_read *read = attempt->transport_data;
    msi_waiting *waiting = &read->store->waiting;
    read->had_advance = false;
    ms_mutex_lock(&waiting->mutex);
    read->state = FILL_RUNNING;
    read->is_signaled = false;
    read->before = NULL;
    read->after = waiting->first;
    if (waiting->first != NULL) {
        waiting->first->before = read;
    }
    waiting->first = read;
    ms_mutex_unlock(&waiting->mutex);
    submit_fill(read);
}

void msi_change_cancel(ms_bt_transport *transport, ms_bt_change_attempt *attempt)
{
    (void)transport;
    msi_change_read *read = attempt->transport_data;
    ms_mutex_lock(&read->store->waiting.mutex);
    read->is_canceled = true;
    bool was_waiting = read->state == FILL_WAITING;
    if (was_waiting) {
        read->state = FILL_RUNNING;
    }
    ms_mutex_unlock(&read->store->waiting.mutex);
    if (was_waiting) {
        fail_fill(read, MS_BT_CANCELLED, "The read was canceled");
    }
}

void msi_change_close(ms_bt_transport *transport, ms_bt_change_attempt *attempt)
{
    (void)transport;
    msi_change_read *read = attempt->transport_data;
    ms_arena_release(&read->arena);
    ms_mem_free(read);
}

/* Partitions. */

static ms_bt_code list_partitions(const msi_schema *schema, ms_bt_partitions *call,
                                  ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_table_name_check(call->table, bt));
    const msi_table *table = msi_schema_find(schema, call->table);
    if (table == NULL) {
        return msi_store_no_table(schema, call->table, bt);
    }
    MS_BT_TRY(msi_profile_check(schema, call->table, call->call.app_profile, MSI_ACCESS_CHANGES,
                                NULL, bt));
    MS_BT_TRY(check_logged(table, bt));
    ms_bt_range *partitions = ms_arena_array(&call->answer, ms_bt_range, table->tablet_count);
    for (size_t i = 0; i < table->tablet_count; i++) {
        partitions[i] = make_range(table->tablets[i].start, table->tablets[i].end, &call->answer);
    }
    call->partitions = partitions;
    call->partition_count = table->tablet_count;
    return MS_BT_OK;
}

void msi_change_partitions(ms_bt_store *store, ms_bt_call *base)
{
    msi_schema *schema = msi_store_schema(store);
    (void)list_partitions(schema, ms_bt_call_partitions(base), &base->status);
    msi_schema_drop(schema);
    ms_bt_call_finish(base);
}
