/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on tables. Those that change the catalog run as a step of the leader, between the writes
 * before and after them; each is one batch, synced in every mode but OS, because a table that came
 * and went would take data with it. Those that only look are answered at once from the snapshot.
 *
 * What a table or range of rows held is deleted as a range, at once; cells of a dropped family stay
 * in the rows of others, hidden by their incarnation, until garbage is collected (gc.c). Where
 * changes are logged, dropping rows goes row by row, in steps, since each row is a change.
 */
#include "bigtable/store/change_log.h"
#include "bigtable/store/store_priv.h"

/* Rows that one step of dropping logs: some milliseconds of the leader. */
#define DROP_STEP_ROWS 1000u

/* The parts of a change. */

static ms_kv_sync_mode sync_mode(const ms_bt_store *store)
{
    return store->sync_mode == MS_BT_SYNC_OS ? MS_KV_NO_SYNC : MS_KV_SYNC;
}

void msi_admin_finish_change(ms_bt_store *store, msi_schema *next, const ms_status *refused,
                             ms_bt_status *bt, ms_status *st)
{
    if (next == NULL) {
        ms_kv_batch_reset(store->commit.batch);
        if (refused->code != MS_OK) {
            ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, refused);
        }
        return;
    }
    /* Order sequential, twice: who reads what the batch does sees that a change is under way, and
     * who sees it ended finds its catalog. */
    atomic_fetch_add(&store->catalog_changes, 1);
    if (msi_commit_write(store, sync_mode(store), st) == MS_OK) {
        msi_store_publish(store, next);
    } else {
        msi_schema_drop(next);
    }
    atomic_fetch_add(&store->catalog_changes, 1);
}

/* One change under way. */
typedef struct change {
    ms_bt_store *store;
    ms_bt_table_call *call;
    ms_bt_status *bt;
    const msi_schema *schema;
    const msi_table *before; /* NULL: a new table */
    msi_table draft;         /* of the table as it will be, with def */
    ms_bt_table def;
    ms_arena scratch;
    bool ends_readers; /* those of changes must look at the catalog again */
} change;

typedef ms_bt_code (*change_fn)(change *c);

static int64_t commit_micros(const change *c)
{
    return c->store->commit.micros;
}

static int64_t wall_micros(const change *c)
{
    return c->store->commit.wall_micros;
}

static void begin_stream(change *c)
{
    c->draft.stream_micros = commit_micros(c);
    c->draft.stream_wall_micros = wall_micros(c);
}

/* [first key of the table, first key of the next]: of its cells, resp. of its change log. */
static void delete_all(ms_bt_store *store, uint32_t table)
{
    char start[MSI_KEY_TABLE_BYTES];
    char end[MSI_KEY_TABLE_BYTES];
    msi_key_put_u32(start, table);
    msi_key_put_u32(end, table + 1);
    ms_kv_batch_delete_range(store->commit.batch, ms_str_make(start, sizeof(start)),
                             ms_str_make(end, sizeof(end)));
}

void msi_admin_delete_cells(ms_bt_store *store, const msi_table *table)
{
    delete_all(store, table->id);
    if (table->is_logged) {
        delete_all(store, MSI_KEY_TABLES_END + table->id);
    }
}

/* Creating. */

static ms_bt_code check_create(change *c)
{
    const ms_bt_table *table = c->call->table;
    MS_BT_TRY(ms_bt_table_check(table, c->bt));
    if (msi_schema_find(c->schema, &table->name) != NULL) {
        char path[MS_BT_TABLE_PATH_BYTES];
        ms_bt_table_name_path(&table->name, path);
        return ms_bt_status_set(c->bt, MS_BT_ALREADY_EXISTS, "table \"%s\" already exists", path);
    }
    c->def = *table;
    c->draft = (msi_table){.def = &c->def, .next_tablet_id = 1, .created_micros = wall_micros(c)};
    if (table->change_retention_micros != 0) {
        begin_stream(c);
    }
    msi_table_first_tablets(&c->draft, table->splits, table->split_count, commit_micros(c),
                            &c->scratch);
    return MS_BT_OK;
}

/* Families. */

/* The families of the draft with room for more, where both arrays may be changed. */
static ms_bt_code begin_families(change *c, size_t more, ms_bt_family **families_out,
                                 uint32_t **ids_out)
{
    size_t count = c->def.family_count;
    ms_bt_family *families = ms_arena_array(&c->scratch, ms_bt_family, count + more);
    uint32_t *ids = ms_arena_array(&c->scratch, uint32_t, count + more);
    for (size_t i = 0; i < count; i++) {
        families[i] = c->def.families[i];
        ids[i] = c->draft.family_ids[i];
    }
    c->def.families = families;
    c->draft.family_ids = ids;
    *families_out = families;
    *ids_out = ids;
    return MS_BT_OK;
}

static size_t find_family(const ms_bt_family *families, size_t count, ms_str name)
{
    size_t i = 0;
    while (i < count && !ms_str_equals(families[i].name, name)) {
        i++;
    }
    return i;
}

static ms_bt_code append_family(change *c, ms_bt_family *families, const ms_bt_family *family)
{
    MS_BT_TRY(ms_bt_family_check(family, c->bt));
    if (find_family(families, c->def.family_count, family->name) < c->def.family_count) {
        return ms_bt_status_set(c->bt, MS_BT_ALREADY_EXISTS, "family \"%.*s\" already exists",
                                MS_STR_ARG(family->name));
    }
    families[c->def.family_count++] = *family;
    return MS_BT_OK;
}

static ms_bt_code check_family_count(const change *c)
{
    return c->def.family_count <= MS_BT_LIMIT_FAMILIES
               ? MS_BT_OK
               : ms_bt_status_set(c->bt, MS_BT_INVALID_ARGUMENT,
                                  "Error in field 'column_families' : %zu families; limit %u",
                                  c->def.family_count, MS_BT_LIMIT_FAMILIES);
}

static ms_bt_code check_add(change *c)
{
    ms_bt_family *families = NULL;
    uint32_t *ids = NULL;
    if (c->call->family_count > MS_BT_LIMIT_FAMILIES) {
        c->def.family_count += c->call->family_count;
        return check_family_count(c);
    }
    MS_BT_TRY(begin_families(c, c->call->family_count, &families, &ids));
    for (size_t i = 0; i < c->call->family_count; i++) {
        MS_BT_TRY(append_family(c, families, &c->call->families[i]));
    }
    return check_family_count(c);
}

static ms_bt_code no_family(const change *c, ms_str name)
{
    char text[128];
    return ms_bt_status_set(c->bt, MS_BT_NOT_FOUND, "family \"%s\" not found",
                            ms_bt_bytes_text(name, text, sizeof(text)));
}

static ms_bt_code update_family(const change *c, ms_bt_family *family, const ms_bt_family *wanted)
{
    MS_BT_TRY(ms_bt_gc_rule_check(wanted->gc_rule, c->bt));
    if (wanted->type != MS_BT_VALUE_RAW && wanted->type != family->type) {
        return ms_bt_status_set(c->bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'value_type' : family \"%.*s\" is %s, which cannot "
                                "be changed",
                                MS_STR_ARG(family->name), ms_bt_value_type_name(family->type));
    }
    family->gc_rule = wanted->gc_rule;
    return MS_BT_OK;
}

static ms_bt_code drop_family(change *c, ms_bt_family *families, uint32_t *ids, size_t at)
{
    if (c->def.is_protected) {
        return ms_bt_status_set(c->bt, MS_BT_FAILED_PRECONDITION,
                                "The table is protected against deletion, and so are its families");
    }
    c->def.family_count--;
    for (size_t i = at; i < c->def.family_count; i++) {
        families[i] = families[i + 1];
        ids[i] = ids[i + 1];
    }
    ids[c->def.family_count] = 0;
    c->draft.dropped_families++;
    return MS_BT_OK;
}

static ms_bt_code check_modify(change *c)
{
    ms_bt_table_call *call = c->call;
    if (call->change_count == 0 || call->change_count > 2 * (size_t)MS_BT_LIMIT_FAMILIES) {
        return ms_bt_status_set(c->bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'modifications' : %zu modifications; at least 1, "
                                "limit %u",
                                call->change_count, 2 * MS_BT_LIMIT_FAMILIES);
    }
    ms_bt_family *families = NULL;
    uint32_t *ids = NULL;
    MS_BT_TRY(begin_families(c, call->change_count, &families, &ids));
    for (size_t i = 0; i < call->change_count; i++) {
        const ms_bt_family_change *one = &call->changes[i];
        if (one->kind == MS_BT_FAMILY_CREATE) {
            MS_BT_TRY(append_family(c, families, &one->family));
            continue;
        }
        size_t at = find_family(families, c->def.family_count, one->family.name);
        if (at == c->def.family_count) {
            return no_family(c, one->family.name);
        }
        MS_BT_TRY(one->kind == MS_BT_FAMILY_UPDATE ? update_family(c, &families[at], &one->family)
                                                   : drop_family(c, families, ids, at));
    }
    return check_family_count(c);
}

/* Tables. */

static ms_bt_code check_update(change *c)
{
    const ms_bt_table_call *call = c->call;
    const uint32_t known = MS_BT_UPDATE_CHANGE_STREAM | MS_BT_UPDATE_PROTECTION;
    if (call->update_mask == 0 || (call->update_mask & ~known) != 0) {
        return ms_bt_status_set(c->bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'update_mask' : names nothing that can be updated");
    }
    if ((call->update_mask & MS_BT_UPDATE_PROTECTION) != 0) {
        c->def.is_protected = call->table->is_protected;
    }
    if ((call->update_mask & MS_BT_UPDATE_CHANGE_STREAM) == 0) {
        return MS_BT_OK;
    }
    int64_t retention = call->table->change_retention_micros;
    MS_BT_TRY(ms_bt_retention_check(retention, c->bt));
    c->def.change_retention_micros = retention;
    if (retention == 0 && c->before->is_logged) {
        c->draft.stream_micros = 0;
        c->draft.stream_wall_micros = 0;
        c->draft.past_count = 0;
        c->ends_readers = true;
        delete_all(c->store, MSI_KEY_TABLES_END + c->before->id);
    } else if (retention != 0 && !c->before->is_logged) {
        begin_stream(c);
    } else if (retention != 0) {
        /* What is older may be gone, and a longer retention does not bring it back. */
        int64_t kept = commit_micros(c) - c->before->def->change_retention_micros;
        if (kept > c->before->stream_micros) {
            c->draft.stream_micros = kept;
            c->draft.stream_wall_micros = kept;
        }
    }
    return MS_BT_OK;
}

static ms_bt_code check_split(change *c)
{
    c->ends_readers = true;
    return msi_table_split(&c->draft, c->call->key, commit_micros(c), &c->scratch, c->bt);
}

static ms_bt_code check_merge(change *c)
{
    c->ends_readers = true;
    return msi_table_merge(&c->draft, c->call->key, commit_micros(c), &c->scratch, c->bt);
}

static ms_bt_code find_before(change *c)
{
    MS_BT_TRY(ms_bt_table_name_check(&c->call->name, c->bt));
    c->before = msi_schema_find(c->schema, &c->call->name);
    if (c->before == NULL) {
        return msi_store_no_table(c->schema, &c->call->name, c->bt);
    }
    c->draft = *c->before;
    c->def = *c->before->def;
    c->draft.def = &c->def;
    return MS_BT_OK;
}

/* What a call of a kind does to the draft. */
static change_fn change_of(ms_bt_call_kind kind)
{
    static const change_fn table[MS_BT_CALL_COUNT] = {
        [MS_BT_CALL_ADD_FAMILIES] = check_add,    [MS_BT_CALL_MODIFY_FAMILIES] = check_modify,
        [MS_BT_CALL_UPDATE_TABLE] = check_update, [MS_BT_CALL_SPLIT_TABLET] = check_split,
        [MS_BT_CALL_MERGE_TABLETS] = check_merge,
    };
    return table[kind];
}

static ms_bt_code check_drop(change *c)
{
    if (c->before->def->is_protected) {
        return ms_bt_status_set(c->bt, MS_BT_FAILED_PRECONDITION,
                                "The table is protected against deletion");
    }
    return MS_BT_OK;
}

/* Checks a change and makes the snapshot and the batch that carry it out; NULL when it is refused,
 * with the reason in bt. */
static msi_schema *prepare(change *c, ms_status *refused)
{
    ms_bt_call_kind kind = c->call->call.kind;
    if (kind == MS_BT_CALL_CREATE_TABLE) {
        if (check_create(c) != MS_BT_OK) {
            return NULL;
        }
    } else if (find_before(c) != MS_BT_OK) {
        return NULL;
    } else if (kind == MS_BT_CALL_DROP_TABLE) {
        if (check_drop(c) != MS_BT_OK) {
            return NULL;
        }
        c->ends_readers = c->before->is_logged;
        msi_admin_delete_cells(c->store, c->before);
        return msi_schema_remove_table(c->schema, c->before, c->store->commit.batch);
    } else if (change_of(kind)(c) != MS_BT_OK) {
        return NULL;
    }
    return msi_schema_put_table(c->schema, &c->draft, c->store->commit.batch, refused);
}

/* Does a call answer with the table? */
static bool shows_table(ms_bt_call_kind kind)
{
    return kind == MS_BT_CALL_ADD_FAMILIES || kind == MS_BT_CALL_MODIFY_FAMILIES ||
           kind == MS_BT_CALL_UPDATE_TABLE;
}

bool msi_admin_change(ms_bt_store *store, ms_bt_call *base, ms_status *st)
{
    ms_bt_table_call *call = ms_bt_call_table(base);
    msi_schema *schema = msi_store_schema(store);
    change c = {.store = store, .call = call, .bt = &base->status, .schema = schema};
    ms_arena_init(&c.scratch, 0);
    ms_status refused = {0};
    msi_schema *next = prepare(&c, &refused);
    const msi_table *after =
        next != NULL && c.before != NULL ? msi_schema_find(next, &call->name) : NULL;
    if (after != NULL && shows_table(base->kind)) {
        call->table = ms_bt_table_copy(&call->answer, after->def);
    }
    if (base->kind == MS_BT_CALL_SPLIT_TABLET || base->kind == MS_BT_CALL_MERGE_TABLETS) {
        call->count = after != NULL ? after->tablet_count : 0;
    }
    if (c.ends_readers && c.before != NULL) {
        msi_log_touch_table(store, c.before->id);
    }
    msi_admin_finish_change(store, next, &refused, &base->status, st);
    ms_arena_release(&c.scratch);
    msi_schema_drop(schema);
    return true;
}

/* Dropping rows. */

/* Between the steps of one call: in its answer. */
typedef struct drop_state {
    uint32_t table;
    ms_str next; /* the key where the next step begins */
    ms_str end;  /* exclusive */
    char *key;   /* MSI_KEY_BYTES_MAX: where next is */
} drop_state;

/* The keys of all rows that begin with a prefix: [start, end). */
static void prefix_bounds(uint32_t table, ms_str prefix, ms_arena *arena, ms_str *start_out,
                          ms_str *end_out)
{
    size_t room = MSI_KEY_TABLE_BYTES + 2 * prefix.bytes;
    char *start = ms_arena_alloc(arena, room, 1);
    char *behind = msi_key_put_escaped(msi_key_put_u32(start, table), prefix);
    *start_out = ms_str_make(start, (size_t)(behind - start));
    char *end = ms_arena_alloc(arena, room, 1);
    memcpy(end, start, start_out->bytes);
    size_t bytes = start_out->bytes;
    while (bytes > 0 && (unsigned char)end[bytes - 1] == 0xFF) {
        bytes--;
    }
    /* The number of a table never consists of FF alone. */
    MS_ASSERT(bytes > 0);
    end[bytes - 1] = (char)((unsigned char)end[bytes - 1] + 1);
    *end_out = ms_str_make(end, bytes);
}

static ms_bt_code begin_drop(ms_bt_store *store, ms_bt_table_call *call, const msi_schema *schema,
                             ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_table_name_check(&call->name, bt));
    const msi_table *table = msi_schema_find(schema, &call->name);
    if (table == NULL) {
        return msi_store_no_table(schema, &call->name, bt);
    }
    if (call->key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'row_key_prefix' : %zu bytes; limit %u",
                                call->key.bytes, MS_BT_LIMIT_ROW_KEY_BYTES);
    }
    drop_state *state = ms_arena_new(&call->answer, drop_state);
    state->table = table->id;
    prefix_bounds(table->id, call->key, &call->answer, &state->next, &state->end);
    state->key = ms_arena_alloc(&call->answer, MSI_KEY_BYTES_MAX, 1);
    (void)store;
    msi_store_item(&call->call)->step_state = state;
    return MS_BT_OK;
}

/* Has the row that the iterator is in a cell of a family that is there? Moves within the row. */
static bool has_live_cell(const msi_table *table, ms_kv_iter *iter, ms_kv_entry *entry,
                          size_t row_bytes, ms_str row_part)
{
    bool valid = true;
    while (valid && entry->key.bytes > row_bytes + MSI_KEY_FAMILY_BYTES &&
           memcmp(entry->key.ptr, row_part.ptr, row_bytes) == 0) {
        if (msi_table_family_index(table, msi_key_u32(entry->key.ptr + row_bytes)) != UINT32_MAX) {
            return true;
        }
        valid = ms_kv_iter_next(iter, entry);
    }
    return false;
}

/* Logs the deletion of rows from state->next on, and moves that behind them. */
static ms_rc log_rows(ms_bt_store *store, drop_state *state, const msi_table *table, ms_str cluster,
                      bool *is_over_out, ms_status *st)
{
    ms_kv_iter *iter = ms_kv_iter_create(store->kv, &(ms_kv_iter_options){.upper = state->end});
    ms_kv_entry entry;
    ms_rc rc = MS_OK;
    bool valid = ms_kv_iter_seek(iter, state->next, &entry);
    for (uint32_t rows = 0; valid && rc == MS_OK && rows < DROP_STEP_ROWS; rows++) {
        size_t row_bytes = msi_key_text_end(entry.key, MSI_KEY_TABLE_BYTES);
        if (row_bytes == 0 || row_bytes > MSI_KEY_ROW_BYTES_MAX) {
            rc = ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                               "a cell of the embedded store has a damaged key");
            break;
        }
        memcpy(state->key, entry.key.ptr, row_bytes);
        ms_str row_part = ms_str_make(state->key, row_bytes);
        if (has_live_cell(table, iter, &entry, row_bytes, row_part)) {
            char *row = store->commit.bound;
            size_t escaped = row_bytes - MSI_KEY_TABLE_BYTES - MSI_KEY_END_BYTES;
            size_t bytes = msi_key_unescape(
                row, ms_str_slice(row_part, MSI_KEY_TABLE_BYTES, MSI_KEY_TABLE_BYTES + escaped));
            msi_log_begin(store, table, ms_str_make(row, bytes), cluster);
            rc =
                msi_log_add(store, &(msi_log_mutation){.kind = MS_BT_MUTATION_DELETE_FROM_ROW}, st);
            rc = rc == MS_OK ? msi_log_end(store, st) : rc;
        }
        msi_key_put_end(state->key + row_bytes - MSI_KEY_END_BYTES, MSI_KEY_BEHIND);
        state->next = ms_str_make(state->key, row_bytes);
        valid = ms_kv_iter_seek(iter, state->next, &entry);
    }
    rc = rc == MS_OK ? ms_kv_iter_check(iter, st) : rc;
    ms_kv_iter_destroy(iter);
    *is_over_out = !valid;
    return rc;
}

/* Deletes the rows of one step; the call is over when none is left. */
static ms_rc drop_some(ms_bt_store *store, drop_state *state, const msi_schema *schema,
                       const msi_table *table, bool *is_over_out, ms_status *st)
{
    ms_str start = state->next;
    char *copy = store->commit.key;
    memcpy(copy, start.ptr, start.bytes);
    start.ptr = copy;
    *is_over_out = true;
    if (table->is_logged) {
        ms_str cluster = {NULL, 0};
        ms_bt_status bt = {0};
        (void)msi_profile_check(schema, &table->def->name, (ms_str){NULL, 0}, MSI_ACCESS_READ,
                                &cluster, &bt);
        MS_TRY(log_rows(store, state, table, cluster, is_over_out, st));
    }
    ms_kv_batch_delete_range(store->commit.batch, start, *is_over_out ? state->end : state->next);
    return msi_commit_write(store, sync_mode(store), st);
}

bool msi_admin_drop_rows(ms_bt_store *store, ms_bt_call *base, ms_status *st)
{
    ms_bt_table_call *call = ms_bt_call_table(base);
    msi_item *item = msi_store_item(base);
    msi_schema *schema = msi_store_schema(store);
    bool is_over = true;
    if (item->step_state != NULL || begin_drop(store, call, schema, &base->status) == MS_BT_OK) {
        drop_state *state = item->step_state;
        const msi_table *table = msi_schema_find(schema, &call->name);
        if (table == NULL || table->id != state->table) {
            (void)msi_store_no_table(schema, &call->name, &base->status);
        } else {
            (void)drop_some(store, state, schema, table, &is_over, st);
        }
    }
    msi_schema_drop(schema);
    return is_over;
}

/* Looking. */

static ms_bt_code get_table(const msi_schema *schema, ms_bt_table_call *call, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_table_name_check(&call->name, bt));
    const msi_table *table = msi_schema_find(schema, &call->name);
    if (table == NULL) {
        return msi_store_no_table(schema, &call->name, bt);
    }
    call->table = ms_bt_table_copy(&call->answer, table->def);
    return MS_BT_OK;
}

static ms_bt_code list_tables(const msi_schema *schema, ms_bt_table_call *call, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_instance_name_check(&call->name, bt));
    if (!msi_schema_has_instance(schema, &call->name)) {
        return ms_bt_instance_name_missing(&call->name, bt);
    }
    size_t first = 0;
    size_t count = msi_schema_instance(schema, &call->name, &first);
    ms_str *names = ms_arena_array(&call->answer, ms_str, count);
    for (size_t i = 0; i < count; i++) {
        names[i] = ms_arena_copy_str(&call->answer, schema->tables[first + i]->def->name.table);
    }
    call->names = names;
    call->name_count = count;
    return MS_BT_OK;
}

void msi_admin_look(ms_bt_store *store, ms_bt_call *base)
{
    ms_bt_table_call *call = ms_bt_call_table(base);
    msi_schema *schema = msi_store_schema(store);
    if (base->kind == MS_BT_CALL_GET_TABLE) {
        (void)get_table(schema, call, &base->status);
    } else {
        (void)list_tables(schema, call, &base->status);
    }
    msi_schema_drop(schema);
    ms_bt_call_finish(base);
}
