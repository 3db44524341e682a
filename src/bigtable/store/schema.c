/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of the catalog. A snapshot is three sorted lists. Tables are counted one by one, each
 * with an arena of its own, because a change concerns one and there may be thousands; profiles and
 * instances are few and small, and are copied with every change.
 */
#include "bigtable/store/schema.h"

#include "base/memory.h"
#include "bigtable/store/key.h"
#include "bigtable/store/record.h"

#include <stdlib.h>

/* Tables. */

/* What snapshots share of a table: it, what it consists of, and how many of them there are. */
struct msi_table_owner {
    msi_table table;
    _Atomic uint32_t references;
    ms_arena arena;
};

static const msi_table *retain_table(const msi_table *table)
{
    /* Order relaxed: whoever retains holds a snapshot that holds the table. */
    atomic_fetch_add_explicit(&table->owner->references, 1, memory_order_relaxed);
    return table;
}

static void drop_table(const msi_table *table)
{
    struct msi_table_owner *owner = table->owner;
    /* Order acq_rel: the last one sees what all others did before it frees. */
    if (atomic_fetch_sub_explicit(&owner->references, 1, memory_order_acq_rel) == 1) {
        ms_arena_release(&owner->arena);
        ms_mem_free(owner);
    }
}

typedef struct family_slot {
    ms_bt_family def;
    uint32_t id; /* 0: none yet */
} family_slot;

static int compare_slots(const void *left, const void *right)
{
    const family_slot *a = left;
    const family_slot *b = right;
    return ms_str_compare(a->def.name, b->def.name);
}

/* The families of a table, whose def is its own already, with what is derived from them. Those
 * without an incarnation get theirs in the order of names, so that scans give families in that
 * order for free. */
static void make_families(msi_table *table, const uint32_t *draft_ids, ms_bt_table *def,
                          ms_arena *arena)
{
    size_t count = def->family_count;
    family_slot *slots = ms_arena_array(arena, family_slot, count);
    for (size_t i = 0; i < count; i++) {
        slots[i] = (family_slot){def->families[i], draft_ids != NULL ? draft_ids[i] : 0};
    }
    qsort(slots, count, sizeof(*slots), compare_slots);
    ms_bt_family *families = ms_arena_array(arena, ms_bt_family, count);
    uint32_t *ids = ms_arena_array(arena, uint32_t, count);
    ms_str *names = ms_arena_array(arena, ms_str, count);
    uint32_t *by_id = ms_arena_array(arena, uint32_t, count);
    table->ids_ascend = true;
    for (uint32_t i = 0; i < count; i++) {
        families[i] = slots[i].def;
        names[i] = slots[i].def.name;
        ids[i] = slots[i].id != 0 ? slots[i].id : table->next_family_id++;
        table->ids_ascend = table->ids_ascend && (i == 0 || ids[i - 1] < ids[i]);
        /* Insertion: families are few, and usually come in order. */
        uint32_t at = i;
        while (at > 0 && ids[by_id[at - 1]] > ids[i]) {
            by_id[at] = by_id[at - 1];
            at--;
        }
        by_id[at] = i;
    }
    def->families = families;
    table->family_ids = ids;
    table->family_names = names;
    table->by_id = by_id;
}

static const msi_tablet *copy_tablets(const msi_tablet *tablets, size_t count, ms_arena *arena)
{
    msi_tablet *copy = ms_arena_array(arena, msi_tablet, count);
    for (size_t i = 0; i < count; i++) {
        copy[i] = tablets[i];
        copy[i].start = ms_arena_copy_str(arena, tablets[i].start);
        copy[i].end = ms_arena_copy_str(arena, tablets[i].end);
    }
    return copy;
}

static const ms_str *make_splits(const msi_table *table, ms_arena *arena)
{
    ms_str *splits = ms_arena_array(arena, ms_str, table->tablet_count - 1);
    for (size_t i = 1; i < table->tablet_count; i++) {
        splits[i - 1] = table->tablets[i].start;
    }
    return splits;
}

/* A table with one reference; everything of the draft is copied. */
static msi_table *create_table(const msi_table *draft)
{
    struct msi_table_owner *owner = ms_mem_calloc(1, sizeof(*owner));
    atomic_init(&owner->references, 1);
    ms_arena *arena = &owner->arena;
    ms_arena_init(arena, 0);
    msi_table *table = &owner->table;
    *table = *draft;
    table->owner = owner;
    ms_bt_table plain = *draft->def;
    plain.split_count = 0;
    ms_bt_table *def = ms_arena_new(arena, ms_bt_table);
    *def = *ms_bt_table_copy(arena, &plain);
    if (def->granularity_micros == 0) {
        def->granularity_micros = MS_BT_GRANULARITY_MILLIS;
    }
    make_families(table, draft->family_ids, def, arena);
    table->tablets = copy_tablets(draft->tablets, draft->tablet_count, arena);
    table->past = copy_tablets(draft->past, draft->past_count, arena);
    def->splits = make_splits(table, arena);
    def->split_count = table->tablet_count - 1;
    table->def = def;
    table->is_logged = table->stream_micros != 0;
    return table;
}

uint32_t msi_table_family_index(const msi_table *table, uint32_t family_id)
{
    size_t low = 0;
    size_t high = table->def->family_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t index = table->by_id[middle];
        if (table->family_ids[index] == family_id) {
            return index;
        }
        if (table->family_ids[index] < family_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return UINT32_MAX;
}

/* Names. */

static int compare_names(const ms_bt_table_name *a, const ms_bt_table_name *b)
{
    int order = ms_str_compare(a->project, b->project);
    if (order == 0) {
        order = ms_str_compare(a->instance, b->instance);
    }
    return order != 0 ? order : ms_str_compare(a->table, b->table);
}

static ms_bt_table_name profile_name(const ms_bt_profile *profile)
{
    return (ms_bt_table_name){profile->project, profile->instance, profile->id};
}

static ms_bt_table_name instance_name(const ms_bt_instance *instance)
{
    return (ms_bt_table_name){instance->project, instance->id, {NULL, 0}};
}

/* The three lists of a snapshot are ordered alike: by the name of the i-th thing. */
typedef ms_bt_table_name (*name_fn)(const msi_schema *schema, size_t i);

static ms_bt_table_name nth_table(const msi_schema *schema, size_t i)
{
    return schema->tables[i]->def->name;
}

static ms_bt_table_name nth_profile(const msi_schema *schema, size_t i)
{
    return profile_name(schema->profiles[i]);
}

static ms_bt_table_name nth_instance(const msi_schema *schema, size_t i)
{
    return instance_name(schema->instances[i]);
}

/* The first thing whose name is not below name. */
static size_t lower_bound(const msi_schema *schema, name_fn nth, size_t count,
                          const ms_bt_table_name *name)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        ms_bt_table_name there = nth(schema, middle);
        if (compare_names(&there, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Finds a name: *at_out is where it is, or belongs. */
static bool find_name(const msi_schema *schema, name_fn nth, size_t count,
                      const ms_bt_table_name *name, size_t *at_out)
{
    *at_out = lower_bound(schema, nth, count, name);
    if (*at_out == count) {
        return false;
    }
    ms_bt_table_name there = nth(schema, *at_out);
    return compare_names(&there, name) == 0;
}

/* How many things of an instance there are from the first on. */
static size_t count_of_instance(const msi_schema *schema, name_fn nth, size_t count,
                                const ms_bt_table_name *instance, size_t *first_out)
{
    ms_bt_table_name name = {instance->project, instance->instance, {NULL, 0}};
    size_t first = lower_bound(schema, nth, count, &name);
    size_t end = first;
    while (end < count) {
        ms_bt_table_name there = nth(schema, end);
        if (!ms_str_equals(there.project, instance->project) ||
            !ms_str_equals(there.instance, instance->instance)) {
            break;
        }
        end++;
    }
    *first_out = first;
    return end - first;
}

const msi_table *msi_schema_find(const msi_schema *schema, const ms_bt_table_name *name)
{
    size_t at = 0;
    return find_name(schema, nth_table, schema->table_count, name, &at) ? schema->tables[at] : NULL;
}

const ms_bt_profile *msi_schema_profile(const msi_schema *schema, const ms_bt_table_name *instance,
                                        ms_str id)
{
    size_t at = 0;
    ms_bt_table_name name = {instance->project, instance->instance, id};
    return find_name(schema, nth_profile, schema->profile_count, &name, &at) ? schema->profiles[at]
                                                                             : NULL;
}

const ms_bt_instance *msi_schema_instance_record(const msi_schema *schema,
                                                 const ms_bt_table_name *instance)
{
    size_t at = 0;
    ms_bt_table_name name = {instance->project, instance->instance, {NULL, 0}};
    return find_name(schema, nth_instance, schema->instance_count, &name, &at)
               ? schema->instances[at]
               : NULL;
}

size_t msi_schema_instance(const msi_schema *schema, const ms_bt_table_name *instance,
                           size_t *first_out)
{
    return count_of_instance(schema, nth_table, schema->table_count, instance, first_out);
}

size_t msi_schema_profiles(const msi_schema *schema, const ms_bt_table_name *instance,
                           size_t *first_out)
{
    return count_of_instance(schema, nth_profile, schema->profile_count, instance, first_out);
}

bool msi_schema_has_instance(const msi_schema *schema, const ms_bt_table_name *instance)
{
    size_t first = 0;
    return msi_schema_instance(schema, instance, &first) > 0 ||
           msi_schema_profiles(schema, instance, &first) > 0 ||
           msi_schema_instance_record(schema, instance) != NULL;
}

/* Takes the instance of the i-th thing when it is of the project and below the least so far. */
static void take_least(const msi_schema *schema, name_fn nth, size_t count,
                       const ms_bt_table_name *behind, ms_str *least)
{
    size_t at = lower_bound(schema, nth, count, behind);
    if (at < count) {
        ms_bt_table_name there = nth(schema, at);
        if (ms_str_equals(there.project, behind->project) &&
            (least->bytes == 0 || ms_str_compare(there.instance, *least) < 0)) {
            *least = there.instance;
        }
    }
}

bool msi_schema_next_instance(const msi_schema *schema, ms_str project, ms_str after,
                              ms_str *instance_out)
{
    /* No instance has a NUL in its name, so this is just behind all things of the one before. */
    char text[MS_BT_LIMIT_INSTANCE_BYTES + 1] = {0};
    MS_ASSERT(after.bytes <= MS_BT_LIMIT_INSTANCE_BYTES);
    if (after.bytes > 0) {
        memcpy(text, after.ptr, after.bytes);
    }
    ms_bt_table_name behind = {project, ms_str_make(text, after.bytes + 1), {NULL, 0}};
    ms_str least = {NULL, 0};
    take_least(schema, nth_table, schema->table_count, &behind, &least);
    take_least(schema, nth_profile, schema->profile_count, &behind, &least);
    take_least(schema, nth_instance, schema->instance_count, &behind, &least);
    *instance_out = least;
    return least.bytes > 0;
}

/* Snapshots. */

typedef struct rooms {
    size_t tables;
    size_t profiles;
    size_t instances;
} rooms;

/* The lists of a snapshot under construction, which may still be written. */
typedef struct lists {
    msi_schema *schema;
    const ms_bt_profile **profiles;
    const ms_bt_instance **instances;
} lists;

static lists create_schema(rooms room)
{
    msi_schema *schema = ms_mem_calloc(1, sizeof(*schema));
    atomic_init(&schema->references, 1);
    ms_arena_init(&schema->arena, 0);
    schema->tables = ms_arena_array(&schema->arena, const msi_table *, room.tables);
    lists made = {
        .schema = schema,
        .profiles = ms_arena_array(&schema->arena, const ms_bt_profile *, room.profiles),
        .instances = ms_arena_array(&schema->arena, const ms_bt_instance *, room.instances),
    };
    schema->profiles = made.profiles;
    schema->instances = made.instances;
    schema->next_table_id = MSI_FIRST_TABLE_ID;
    return made;
}

msi_schema *msi_schema_retain(msi_schema *schema)
{
    /* Order relaxed: whoever retains holds a reference or the mutex that guards one. */
    atomic_fetch_add_explicit(&schema->references, 1, memory_order_relaxed);
    return schema;
}

void msi_schema_drop(msi_schema *schema)
{
    /* Order acq_rel: the last one sees what all others did before it frees. */
    if (schema != NULL &&
        atomic_fetch_sub_explicit(&schema->references, 1, memory_order_acq_rel) == 1) {
        for (size_t i = 0; i < schema->table_count; i++) {
            drop_table(schema->tables[i]);
        }
        ms_arena_release(&schema->arena);
        ms_mem_free(schema);
    }
}

/* What a copy leaves out; each may be NULL. */
typedef struct skips {
    const msi_table *table;
    const ms_bt_profile *profile;
    const ms_bt_instance *instance;
    const ms_bt_table_name *all_of; /* everything of this instance */
} skips;

static bool is_of(const ms_bt_table_name *instance, const ms_bt_table_name *name)
{
    return instance != NULL && ms_str_equals(instance->project, name->project) &&
           ms_str_equals(instance->instance, name->instance);
}

/* A copy with room for one thing more of each kind. */
static lists copy_schema(const msi_schema *schema, const skips *skip)
{
    lists copy = create_schema(
        (rooms){schema->table_count + 1, schema->profile_count + 1, schema->instance_count + 1});
    msi_schema *next = copy.schema;
    next->next_table_id = schema->next_table_id;
    for (size_t i = 0; i < schema->table_count; i++) {
        ms_bt_table_name name = nth_table(schema, i);
        if (schema->tables[i] != skip->table && !is_of(skip->all_of, &name)) {
            next->tables[next->table_count++] = retain_table(schema->tables[i]);
        }
    }
    for (size_t i = 0; i < schema->profile_count; i++) {
        ms_bt_table_name name = nth_profile(schema, i);
        if (schema->profiles[i] != skip->profile && !is_of(skip->all_of, &name)) {
            copy.profiles[next->profile_count++] =
                ms_bt_profile_copy(&next->arena, schema->profiles[i]);
        }
    }
    for (size_t i = 0; i < schema->instance_count; i++) {
        ms_bt_table_name name = nth_instance(schema, i);
        if (schema->instances[i] != skip->instance && !is_of(skip->all_of, &name)) {
            copy.instances[next->instance_count++] =
                ms_bt_instance_copy(&next->arena, schema->instances[i]);
        }
    }
    return copy;
}

static void insert_table(msi_schema *schema, const msi_table *table)
{
    size_t at = lower_bound(schema, nth_table, schema->table_count, &table->def->name);
    memmove(schema->tables + at + 1, schema->tables + at,
            (schema->table_count - at) * sizeof(schema->tables[0]));
    schema->tables[at] = table;
    schema->table_count++;
}

static void insert_profile(lists *to, const ms_bt_profile *profile)
{
    msi_schema *schema = to->schema;
    ms_bt_table_name name = profile_name(profile);
    size_t at = lower_bound(schema, nth_profile, schema->profile_count, &name);
    memmove(to->profiles + at + 1, to->profiles + at,
            (schema->profile_count - at) * sizeof(to->profiles[0]));
    to->profiles[at] = ms_bt_profile_copy(&schema->arena, profile);
    schema->profile_count++;
}

static void insert_instance(lists *to, const ms_bt_instance *instance)
{
    msi_schema *schema = to->schema;
    ms_bt_table_name name = instance_name(instance);
    size_t at = lower_bound(schema, nth_instance, schema->instance_count, &name);
    memmove(to->instances + at + 1, to->instances + at,
            (schema->instance_count - at) * sizeof(to->instances[0]));
    to->instances[at] = ms_bt_instance_copy(&schema->arena, instance);
    schema->instance_count++;
}

/* Changes. */

static msi_schema *finish_change(msi_schema *next, ms_rc rc)
{
    if (rc != MS_OK) {
        msi_schema_drop(next);
        return NULL;
    }
    return next;
}

msi_schema *msi_schema_put_table(const msi_schema *schema, const msi_table *draft,
                                 ms_kv_batch *batch, ms_status *st)
{
    const msi_table *before = msi_schema_find(schema, &draft->def->name);
    MS_ASSERT((before == NULL) == (draft->id == 0));
    if (before == NULL && (schema->table_count >= MS_BT_LIMIT_TABLES ||
                           schema->next_table_id >= MSI_KEY_TABLES_END)) {
        ms_status_set(st, MS_LIMIT, ms_span_none, "the embedded store holds at most %u tables",
                      MS_BT_LIMIT_TABLES);
        return NULL;
    }
    msi_schema *next = copy_schema(schema, &(skips){.table = before}).schema;
    msi_table own = *draft;
    if (before == NULL) {
        own.id = next->next_table_id++;
        own.next_family_id = MSI_FIRST_FAMILY_ID;
    }
    const msi_table *table = create_table(&own);
    insert_table(next, table);
    ms_rc rc = msi_record_put_table(table, batch, st);
    if (rc == MS_OK && before == NULL) {
        rc = msi_record_put_next_table(next->next_table_id, batch, st);
    }
    return finish_change(next, rc);
}

msi_schema *msi_schema_put_profile(const msi_schema *schema, const ms_bt_profile *profile,
                                   ms_kv_batch *batch, ms_status *st)
{
    ms_bt_table_name name = profile_name(profile);
    const ms_bt_profile *before = msi_schema_profile(schema, &name, profile->id);
    if (before == NULL && schema->profile_count >= MSI_PROFILES_MAX) {
        ms_status_set(st, MS_LIMIT, ms_span_none,
                      "the embedded store holds at most %u app profiles", MSI_PROFILES_MAX);
        return NULL;
    }
    lists next = copy_schema(schema, &(skips){.profile = before});
    insert_profile(&next, profile);
    return finish_change(next.schema, msi_record_put_profile(profile, batch, st));
}

msi_schema *msi_schema_put_instance(const msi_schema *schema, const ms_bt_instance *instance,
                                    ms_kv_batch *batch, ms_status *st)
{
    ms_bt_table_name name = instance_name(instance);
    const ms_bt_instance *before = msi_schema_instance_record(schema, &name);
    if (before == NULL && schema->instance_count >= MSI_INSTANCES_MAX) {
        ms_status_set(st, MS_LIMIT, ms_span_none, "the embedded store holds at most %u instances",
                      MSI_INSTANCES_MAX);
        return NULL;
    }
    lists next = copy_schema(schema, &(skips){.instance = before});
    insert_instance(&next, instance);
    return finish_change(next.schema, msi_record_put_instance(instance, batch, st));
}

msi_schema *msi_schema_remove_table(const msi_schema *schema, const msi_table *table,
                                    ms_kv_batch *batch)
{
    msi_record_delete(MSI_RECORD_TABLE, &table->def->name, batch);
    return copy_schema(schema, &(skips){.table = table}).schema;
}

msi_schema *msi_schema_remove_profile(const msi_schema *schema, const ms_bt_profile *profile,
                                      ms_kv_batch *batch)
{
    ms_bt_table_name name = profile_name(profile);
    msi_record_delete(MSI_RECORD_PROFILE, &name, batch);
    return copy_schema(schema, &(skips){.profile = profile}).schema;
}

msi_schema *msi_schema_remove_instance(const msi_schema *schema, const ms_bt_table_name *instance,
                                       ms_kv_batch *batch)
{
    size_t first = 0;
    size_t tables = msi_schema_instance(schema, instance, &first);
    for (size_t i = first; i < first + tables; i++) {
        msi_record_delete(MSI_RECORD_TABLE, &schema->tables[i]->def->name, batch);
    }
    size_t profiles = msi_schema_profiles(schema, instance, &first);
    for (size_t i = first; i < first + profiles; i++) {
        ms_bt_table_name name = nth_profile(schema, i);
        msi_record_delete(MSI_RECORD_PROFILE, &name, batch);
    }
    ms_bt_table_name name = {instance->project, instance->instance, {NULL, 0}};
    msi_record_delete(MSI_RECORD_INSTANCE, &name, batch);
    return copy_schema(schema, &(skips){.all_of = instance}).schema;
}

/* Loading. */

typedef struct loading {
    lists to;
    ms_arena scratch;
} loading;

static ms_rc too_many(const char *what, unsigned limit, ms_status *st)
{
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                         "the embedded store has more than %u %s", limit, what);
}

static ms_rc add_table(void *arg, ms_codec_reader *payload, uint16_t version, ms_status *st)
{
    loading *load = arg;
    msi_schema *schema = load->to.schema;
    msi_table draft;
    ms_arena_reset(&load->scratch);
    MS_TRY(msi_record_read_table(payload, version, &load->scratch, &draft, st));
    if (schema->table_count == MS_BT_LIMIT_TABLES) {
        return too_many("tables", MS_BT_LIMIT_TABLES, st);
    }
    insert_table(schema, create_table(&draft));
    return MS_OK;
}

static ms_rc add_profile(void *arg, ms_codec_reader *payload, uint16_t version, ms_status *st)
{
    (void)version;
    loading *load = arg;
    const ms_bt_profile *profile = NULL;
    ms_arena_reset(&load->scratch);
    MS_TRY(msi_record_read_profile(payload, &load->scratch, &profile, st));
    if (load->to.schema->profile_count == MSI_PROFILES_MAX) {
        return too_many("app profiles", MSI_PROFILES_MAX, st);
    }
    insert_profile(&load->to, profile);
    return MS_OK;
}

static ms_rc add_instance(void *arg, ms_codec_reader *payload, uint16_t version, ms_status *st)
{
    (void)version;
    loading *load = arg;
    const ms_bt_instance *instance = NULL;
    ms_arena_reset(&load->scratch);
    MS_TRY(msi_record_read_instance(payload, &load->scratch, &instance, st));
    if (load->to.schema->instance_count == MSI_INSTANCES_MAX) {
        return too_many("instances", MSI_INSTANCES_MAX, st);
    }
    insert_instance(&load->to, instance);
    return MS_OK;
}

/* Writes everything that an older format has otherwise, and the format itself. */
static ms_rc upgrade(ms_kv *kv, const msi_schema *schema, ms_kv_batch *batch, ms_status *st)
{
    for (size_t i = 0; i < schema->table_count; i++) {
        MS_TRY(msi_record_put_table(schema->tables[i], batch, st));
    }
    MS_TRY(msi_record_put_format(batch, st));
    return ms_kv_write(kv, batch, MS_KV_SYNC, st);
}

static ms_rc load_all(ms_kv *kv, loading *load, ms_status *st)
{
    uint32_t format = 0;
    MS_TRY(msi_record_format(kv, &format, st));
    if (format > MSI_FORMAT_VERSION) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "the embedded store has format %u; this Millstream knows %u", format,
                             MSI_FORMAT_VERSION);
    }
    MS_TRY(msi_record_each(kv, MSI_RECORD_TABLE, add_table, load, st));
    MS_TRY(msi_record_each(kv, MSI_RECORD_PROFILE, add_profile, load, st));
    MS_TRY(msi_record_each(kv, MSI_RECORD_INSTANCE, add_instance, load, st));
    MS_TRY(msi_record_next_table(kv, &load->to.schema->next_table_id, st));
    if (format == MSI_FORMAT_VERSION) {
        return MS_OK;
    }
    ms_kv_batch *batch = ms_kv_batch_create();
    ms_rc rc = upgrade(kv, load->to.schema, batch, st);
    ms_kv_batch_destroy(batch);
    return rc;
}

ms_rc msi_schema_load(ms_kv *kv, msi_schema **schema_out, ms_status *st)
{
    *schema_out = NULL;
    loading load = {
        .to = create_schema((rooms){MS_BT_LIMIT_TABLES, MSI_PROFILES_MAX, MSI_INSTANCES_MAX})};
    ms_arena_init(&load.scratch, 0);
    ms_rc rc = load_all(kv, &load, st);
    ms_arena_release(&load.scratch);
    *schema_out = finish_change(load.to.schema, rc);
    return rc;
}
