/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of the catalog and their records. A record is
 *
 *     u16 version, payload, u32 CRC-32C of key, version and payload
 *
 * so that a record under the wrong key is as damaged as one with a flipped bit. Keys are the meta
 * prefix, a letter, and for tables the path.
 */
#include "bigtable/store/schema.h"

#include "base/memory.h"
#include "bigtable/store/key.h"

#include <stdlib.h>

#define FORMAT_VERSION 1u
#define RECORD_VERSION 1u
#define RECORD_BYTES_MAX ((size_t)16 << 20) /* a thousand families, ten thousand long splits */
#define FIRST_TABLE_ID 1u
#define FIRST_FAMILY_ID 1u

#define META_BYTES 5u
#define KEY_FORMAT 'F'
#define KEY_NEXT_TABLE 'N'
#define KEY_CLOCK 'C'
#define KEY_TABLE 'T'

typedef struct meta_key {
    char bytes[META_BYTES + MS_BT_TABLE_PATH_BYTES];
    size_t length;
} meta_key;

static ms_str key_view(const meta_key *key)
{
    return (ms_str){key->bytes, key->length};
}

static meta_key make_key(char kind)
{
    meta_key key = {.length = META_BYTES};
    msi_key_put_u32(key.bytes, MSI_KEY_META);
    key.bytes[META_BYTES - 1] = kind;
    return key;
}

static meta_key make_table_key(const ms_bt_table_name *name)
{
    meta_key key = make_key(KEY_TABLE);
    key.length += ms_bt_table_name_path(name, key.bytes + META_BYTES);
    return key;
}

/* Records. */

/* Starts a record: the payload is appended to buf behind this. */
static ms_rc begin_record(ms_buf *buf, ms_status *st)
{
    ms_buf_init(buf, RECORD_BYTES_MAX);
    return ms_codec_put_u16(buf, RECORD_VERSION, st);
}

static ms_rc end_record(ms_buf *buf, const meta_key *key, ms_kv_batch *batch, ms_status *st)
{
    uint32_t crc = ms_crc32c(ms_crc32c(0, key_view(key)), ms_buf_view(buf));
    MS_TRY(ms_codec_put_u32(buf, crc, st));
    ms_kv_batch_put(batch, key_view(key), ms_buf_view(buf));
    return MS_OK;
}

/* Checks version and CRC of a record and gives its payload. */
static ms_rc open_record(ms_str key, ms_str record, ms_codec_reader *payload_out, ms_status *st)
{
    const size_t frame = sizeof(uint16_t) + sizeof(uint32_t);
    if (record.bytes < frame) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a catalog record of the embedded store is too short");
    }
    ms_str body = ms_str_slice(record, 0, record.bytes - sizeof(uint32_t));
    uint32_t crc = ms_codec_load_u32(record.ptr + body.bytes);
    if (crc != ms_crc32c(ms_crc32c(0, key), body)) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a catalog record of the embedded store fails its check");
    }
    *payload_out = ms_codec_reader_make(body);
    uint16_t version = ms_codec_reader_u16(payload_out);
    if (version != RECORD_VERSION) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "the embedded store was written by another Millstream (catalog record "
                             "version %u; this one knows %u)",
                             version, RECORD_VERSION);
    }
    return MS_OK;
}

static ms_rc put_u32_record(ms_kv_batch *batch, char kind, uint32_t value, ms_status *st)
{
    meta_key key = make_key(kind);
    ms_buf buf;
    ms_rc rc = begin_record(&buf, st);
    if (rc == MS_OK) {
        rc = ms_codec_put_u32(&buf, value, st);
    }
    if (rc == MS_OK) {
        rc = end_record(&buf, &key, batch, st);
    }
    ms_buf_release(&buf);
    return rc;
}

/* Tables: derived arrays. */

static int compare_names(const ms_bt_table_name *a, const ms_bt_table_name *b)
{
    int order = ms_str_compare(a->project, b->project);
    if (order == 0) {
        order = ms_str_compare(a->instance, b->instance);
    }
    return order != 0 ? order : ms_str_compare(a->table, b->table);
}

typedef struct family_slot {
    ms_bt_family def;
    uint32_t id;
} family_slot;

static int compare_slots(const void *left, const void *right)
{
    const family_slot *a = left;
    const family_slot *b = right;
    return ms_str_compare(a->def.name, b->def.name);
}

/* Makes a table whose families are sorted by name; what slots and def point to stays borrowed. */
static msi_table *make_table(ms_arena *arena, const ms_bt_table *def, family_slot *slots,
                             size_t count)
{
    qsort(slots, count, sizeof(*slots), compare_slots);
    ms_bt_family *families = ms_arena_array(arena, ms_bt_family, count);
    uint32_t *ids = ms_arena_array(arena, uint32_t, count);
    ms_str *names = ms_arena_array(arena, ms_str, count);
    uint32_t *by_id = ms_arena_array(arena, uint32_t, count);
    msi_table *table = ms_arena_new(arena, msi_table);
    table->ids_ascend = true;
    for (uint32_t i = 0; i < count; i++) {
        families[i] = slots[i].def;
        names[i] = slots[i].def.name;
        ids[i] = slots[i].id;
        table->ids_ascend = table->ids_ascend && (i == 0 || ids[i - 1] < ids[i]);
        /* Insertion: families are few, and usually come in order. */
        uint32_t at = i;
        while (at > 0 && ids[by_id[at - 1]] > ids[i]) {
            by_id[at] = by_id[at - 1];
            at--;
        }
        by_id[at] = i;
    }
    ms_bt_table *own = ms_arena_new(arena, ms_bt_table);
    *own = *def;
    own->families = families;
    own->family_count = count;
    table->def = own;
    table->family_ids = ids;
    table->family_names = names;
    table->by_id = by_id;
    return table;
}

static family_slot *slots_of(ms_arena *arena, const msi_table *table, size_t room)
{
    family_slot *slots = ms_arena_array(arena, family_slot, table->def->family_count + room);
    for (size_t i = 0; i < table->def->family_count; i++) {
        slots[i] = (family_slot){table->def->families[i], table->family_ids[i]};
    }
    return slots;
}

static msi_table *copy_table(ms_arena *arena, const msi_table *table)
{
    const ms_bt_table *def = ms_bt_table_copy(arena, table->def);
    family_slot *slots = ms_arena_array(arena, family_slot, def->family_count);
    for (size_t i = 0; i < def->family_count; i++) {
        slots[i] = (family_slot){def->families[i], table->family_ids[i]};
    }
    msi_table *copy = make_table(arena, def, slots, def->family_count);
    copy->id = table->id;
    copy->next_family_id = table->next_family_id;
    return copy;
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

/* Tables: records. */

static ms_rc put_table_payload(const msi_table *table, ms_buf *buf, ms_status *st)
{
    const ms_bt_table *def = table->def;
    MS_TRY(ms_codec_put_u32(buf, table->id, st));
    MS_TRY(ms_codec_put_u32(buf, table->next_family_id, st));
    MS_TRY(ms_codec_put_str(buf, def->name.project, st));
    MS_TRY(ms_codec_put_str(buf, def->name.instance, st));
    MS_TRY(ms_codec_put_str(buf, def->name.table, st));
    MS_TRY(ms_codec_put_signed(buf, def->granularity_micros, st));
    MS_TRY(ms_codec_put_varint(buf, def->family_count, st));
    for (size_t i = 0; i < def->family_count; i++) {
        MS_TRY(ms_codec_put_str(buf, def->families[i].name, st));
        MS_TRY(ms_codec_put_u32(buf, table->family_ids[i], st));
        MS_TRY(ms_codec_put_u8(buf, (uint8_t)def->families[i].type, st));
        MS_TRY(ms_bt_gc_rule_encode(def->families[i].gc_rule, buf, st));
    }
    MS_TRY(ms_codec_put_varint(buf, def->split_count, st));
    for (size_t i = 0; i < def->split_count; i++) {
        MS_TRY(ms_codec_put_str(buf, def->splits[i], st));
    }
    return MS_OK;
}

static ms_rc put_table(const msi_table *table, ms_kv_batch *batch, ms_status *st)
{
    meta_key key = make_table_key(&table->def->name);
    ms_buf buf;
    ms_rc rc = begin_record(&buf, st);
    if (rc == MS_OK) {
        rc = put_table_payload(table, &buf, st);
    }
    if (rc == MS_OK) {
        rc = end_record(&buf, &key, batch, st);
    }
    ms_buf_release(&buf);
    return rc;
}

static ms_rc read_table(ms_codec_reader *reader, ms_arena *arena, const msi_table **table_out,
                        ms_status *st)
{
    ms_bt_table def = {0};
    uint32_t id = ms_codec_reader_u32(reader);
    uint32_t next_family_id = ms_codec_reader_u32(reader);
    def.name.project = ms_arena_copy_str(arena, ms_codec_reader_str(reader));
    def.name.instance = ms_arena_copy_str(arena, ms_codec_reader_str(reader));
    def.name.table = ms_arena_copy_str(arena, ms_codec_reader_str(reader));
    def.granularity_micros = ms_codec_reader_signed(reader);
    size_t families = ms_codec_reader_count(reader, 7);
    family_slot *slots = ms_arena_array(arena, family_slot, families);
    for (size_t i = 0; i < families; i++) {
        slots[i].def.name = ms_arena_copy_str(arena, ms_codec_reader_str(reader));
        slots[i].id = ms_codec_reader_u32(reader);
        slots[i].def.type = (ms_bt_value_type)ms_codec_reader_u8(reader);
        slots[i].def.gc_rule = ms_bt_gc_rule_decode(reader, arena);
    }
    def.split_count = ms_codec_reader_count(reader, 1);
    ms_str *splits = ms_arena_array(arena, ms_str, def.split_count);
    for (size_t i = 0; i < def.split_count; i++) {
        splits[i] = ms_arena_copy_str(arena, ms_codec_reader_str(reader));
    }
    def.splits = splits;
    MS_TRY(ms_codec_reader_finish(reader, "a table of the embedded store", st));
    ms_bt_status bt = {0};
    bool is_sane = ms_bt_table_name_check(&def.name, &bt) == MS_BT_OK && def.granularity_micros > 0;
    for (size_t i = 0; i < families; i++) {
        is_sane = is_sane && (unsigned)slots[i].def.type < MS_BT_VALUE_COUNT;
    }
    if (!is_sane) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a table of the embedded store has an impossible description");
    }
    msi_table *table = make_table(arena, &def, slots, families);
    table->id = id;
    table->next_family_id = next_family_id;
    *table_out = table;
    return MS_OK;
}

/* Snapshots. */

static msi_schema *create_schema(size_t table_room)
{
    msi_schema *schema = ms_mem_calloc(1, sizeof(*schema));
    atomic_init(&schema->references, 1);
    ms_arena_init(&schema->arena, 0);
    schema->tables = ms_arena_array(&schema->arena, const msi_table *, table_room);
    schema->next_table_id = FIRST_TABLE_ID;
    return schema;
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
        ms_arena_release(&schema->arena);
        ms_mem_free(schema);
    }
}

/* The first table whose name is not below name. */
static size_t lower_bound(const msi_schema *schema, const ms_bt_table_name *name)
{
    size_t low = 0;
    size_t high = schema->table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(&schema->tables[middle]->def->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const msi_table *msi_schema_find(const msi_schema *schema, const ms_bt_table_name *name)
{
    size_t at = lower_bound(schema, name);
    bool is_found =
        at < schema->table_count && ms_bt_table_name_equals(&schema->tables[at]->def->name, name);
    return is_found ? schema->tables[at] : NULL;
}

size_t msi_schema_instance(const msi_schema *schema, const ms_bt_table_name *instance,
                           size_t *first_out)
{
    ms_bt_table_name name = {instance->project, instance->instance, {NULL, 0}};
    size_t first = lower_bound(schema, &name);
    size_t end = first;
    while (end < schema->table_count &&
           ms_str_equals(schema->tables[end]->def->name.project, instance->project) &&
           ms_str_equals(schema->tables[end]->def->name.instance, instance->instance)) {
        end++;
    }
    *first_out = first;
    return end - first;
}

/* A copy with room for one table more; the copies of all tables but skip. */
static msi_schema *copy_schema(const msi_schema *schema, const msi_table *skip)
{
    msi_schema *copy = create_schema(schema->table_count + 1);
    copy->next_table_id = schema->next_table_id;
    for (size_t i = 0; i < schema->table_count; i++) {
        if (schema->tables[i] != skip) {
            copy->tables[copy->table_count++] = copy_table(&copy->arena, schema->tables[i]);
        }
    }
    return copy;
}

static void insert_table(msi_schema *schema, const msi_table *table)
{
    size_t at = lower_bound(schema, &table->def->name);
    memmove(schema->tables + at + 1, schema->tables + at,
            (schema->table_count - at) * sizeof(schema->tables[0]));
    schema->tables[at] = table;
    schema->table_count++;
}

static int compare_splits(const void *left, const void *right)
{
    return ms_str_compare(*(const ms_str *)left, *(const ms_str *)right);
}

/* Sorts the splits of a table and drops equal ones. */
static void sort_splits(ms_arena *arena, ms_bt_table *def)
{
    ms_str *splits = ms_arena_array(arena, ms_str, def->split_count);
    if (def->split_count > 0) {
        memcpy(splits, def->splits, def->split_count * sizeof(*splits));
        qsort(splits, def->split_count, sizeof(*splits), compare_splits);
    }
    size_t kept = 0;
    for (size_t i = 0; i < def->split_count; i++) {
        if (kept == 0 || !ms_str_equals(splits[kept - 1], splits[i])) {
            splits[kept++] = splits[i];
        }
    }
    def->splits = splits;
    def->split_count = kept;
}

ms_rc msi_schema_add_table(const msi_schema *schema, const ms_bt_table *def, ms_kv_batch *batch,
                           msi_schema **schema_out, ms_status *st)
{
    *schema_out = NULL;
    if (schema->table_count >= MS_BT_LIMIT_TABLES || schema->next_table_id >= MSI_KEY_TABLES_END) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "the embedded store holds at most %u tables", MS_BT_LIMIT_TABLES);
    }
    msi_schema *next = copy_schema(schema, NULL);
    ms_bt_table own = *ms_bt_table_copy(&next->arena, def);
    own.granularity_micros =
        def->granularity_micros != 0 ? def->granularity_micros : MS_BT_GRANULARITY_MILLIS;
    sort_splits(&next->arena, &own);
    /* Ids in the order of names, so that scans give families in that order for free. */
    family_slot *slots = ms_arena_array(&next->arena, family_slot, own.family_count);
    for (size_t i = 0; i < own.family_count; i++) {
        slots[i].def = own.families[i];
    }
    qsort(slots, own.family_count, sizeof(*slots), compare_slots);
    for (uint32_t i = 0; i < own.family_count; i++) {
        slots[i].id = FIRST_FAMILY_ID + i;
    }
    msi_table *table = make_table(&next->arena, &own, slots, own.family_count);
    table->id = next->next_table_id++;
    table->next_family_id = FIRST_FAMILY_ID + (uint32_t)own.family_count;
    insert_table(next, table);
    ms_rc rc = put_table(table, batch, st);
    if (rc == MS_OK) {
        rc = put_u32_record(batch, KEY_NEXT_TABLE, next->next_table_id, st);
    }
    if (rc != MS_OK) {
        msi_schema_drop(next);
        return rc;
    }
    *schema_out = next;
    return MS_OK;
}

ms_rc msi_schema_add_families(const msi_schema *schema, const ms_bt_table_name *name,
                              const ms_bt_family *families, size_t count, ms_kv_batch *batch,
                              msi_schema **schema_out, ms_status *st)
{
    *schema_out = NULL;
    const msi_table *before = msi_schema_find(schema, name);
    MS_ASSERT(before != NULL);
    msi_schema *next = copy_schema(schema, before);
    msi_table *copy = copy_table(&next->arena, before);
    size_t have = copy->def->family_count;
    family_slot *slots = slots_of(&next->arena, copy, count);
    for (uint32_t i = 0; i < count; i++) {
        slots[have + i] = (family_slot){
            .def = {.name = ms_arena_copy_str(&next->arena, families[i].name),
                    .type = families[i].type,
                    .gc_rule = ms_bt_gc_rule_copy(&next->arena, families[i].gc_rule)},
            .id = before->next_family_id + i,
        };
    }
    msi_table *table = make_table(&next->arena, copy->def, slots, have + count);
    table->id = before->id;
    table->next_family_id = before->next_family_id + (uint32_t)count;
    insert_table(next, table);
    ms_rc rc = put_table(table, batch, st);
    if (rc != MS_OK) {
        msi_schema_drop(next);
        return rc;
    }
    *schema_out = next;
    return MS_OK;
}

/* Loading. */

/* Reads one record into *value_out; *found_out tells a missing one. */
static ms_rc get_u32_record(ms_kv *kv, char kind, const char *what, uint32_t *value_out,
                            bool *found_out, ms_status *st)
{
    meta_key key = make_key(kind);
    ms_buf buf;
    ms_buf_init(&buf, RECORD_BYTES_MAX);
    ms_codec_reader payload;
    ms_rc rc = ms_kv_get(kv, key_view(&key), &buf, found_out, st);
    if (rc == MS_OK && *found_out) {
        rc = open_record(key_view(&key), ms_buf_view(&buf), &payload, st);
        if (rc == MS_OK) {
            *value_out = ms_codec_reader_u32(&payload);
            rc = ms_codec_reader_finish(&payload, what, st);
        }
    }
    ms_buf_release(&buf);
    return rc;
}

static ms_rc check_format(ms_kv *kv, ms_status *st)
{
    uint32_t version = 0;
    bool found = false;
    MS_TRY(
        get_u32_record(kv, KEY_FORMAT, "the format of the embedded store", &version, &found, st));
    if (!found) {
        ms_kv_batch *batch = ms_kv_batch_create();
        ms_rc rc = put_u32_record(batch, KEY_FORMAT, FORMAT_VERSION, st);
        if (rc == MS_OK) {
            rc = ms_kv_write(kv, batch, MS_KV_SYNC, st);
        }
        ms_kv_batch_destroy(batch);
        return rc;
    }
    if (version != FORMAT_VERSION) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "the embedded store has format %u; this Millstream knows %u", version,
                             FORMAT_VERSION);
    }
    return MS_OK;
}

static ms_rc read_table_record(const ms_kv_entry *entry, ms_arena *arena,
                               const msi_table **table_out, ms_status *st)
{
    ms_codec_reader payload;
    MS_TRY(open_record(entry->key, entry->value, &payload, st));
    return read_table(&payload, arena, table_out, st);
}

static ms_rc load_tables(ms_kv *kv, ms_kv_iter *iter, msi_schema **schema_out, ms_status *st)
{
    meta_key start = make_key(KEY_TABLE);
    msi_schema *schema = create_schema(MS_BT_LIMIT_TABLES);
    ms_kv_entry entry;
    ms_rc rc = MS_OK;
    bool valid = ms_kv_iter_seek(iter, key_view(&start), &entry);
    while (valid && rc == MS_OK) {
        const msi_table *table = NULL;
        rc = read_table_record(&entry, &schema->arena, &table, st);
        if (rc == MS_OK && schema->table_count == MS_BT_LIMIT_TABLES) {
            rc = ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                               "the embedded store has more than %u tables", MS_BT_LIMIT_TABLES);
        }
        if (rc == MS_OK) {
            insert_table(schema, table);
            valid = ms_kv_iter_next(iter, &entry);
        }
    }
    if (rc == MS_OK) {
        rc = ms_kv_iter_check(iter, st);
    }
    bool found = false;
    if (rc == MS_OK) {
        rc = get_u32_record(kv, KEY_NEXT_TABLE, "the next table of the embedded store",
                            &schema->next_table_id, &found, st);
    }
    if (rc != MS_OK) {
        msi_schema_drop(schema);
        return rc;
    }
    *schema_out = schema;
    return MS_OK;
}

ms_rc msi_schema_load(ms_kv *kv, msi_schema **schema_out, ms_status *st)
{
    *schema_out = NULL;
    MS_TRY(check_format(kv, st));
    meta_key start = make_key(KEY_TABLE);
    meta_key end = make_key(KEY_TABLE + 1);
    ms_kv_iter *iter = ms_kv_iter_create(
        kv, &(ms_kv_iter_options){.lower = key_view(&start), .upper = key_view(&end)});
    ms_rc rc = load_tables(kv, iter, schema_out, st);
    ms_kv_iter_destroy(iter);
    return rc;
}

/* The clock. Written with every batch, so it is a fixed frame without a growing buffer. */

#define CLOCK_BYTES (sizeof(uint16_t) + sizeof(uint64_t) + sizeof(uint32_t))

void msi_clock_put(ms_kv_batch *batch, int64_t micros)
{
    meta_key key = make_key(KEY_CLOCK);
    char record[CLOCK_BYTES];
    ms_codec_store_u16(record, RECORD_VERSION);
    ms_codec_store_u64(record + sizeof(uint16_t), (uint64_t)micros);
    ms_str body = {record, sizeof(uint16_t) + sizeof(uint64_t)};
    uint32_t crc = ms_crc32c(ms_crc32c(0, key_view(&key)), body);
    ms_codec_store_u32(record + body.bytes, crc);
    ms_kv_batch_put(batch, key_view(&key), (ms_str){record, sizeof(record)});
}

ms_rc msi_clock_load(ms_kv *kv, int64_t *micros_out, ms_status *st)
{
    *micros_out = 0;
    meta_key key = make_key(KEY_CLOCK);
    ms_buf buf;
    ms_buf_init(&buf, RECORD_BYTES_MAX);
    bool found = false;
    ms_rc rc = ms_kv_get(kv, key_view(&key), &buf, &found, st);
    if (rc == MS_OK && found) {
        ms_codec_reader payload;
        rc = open_record(key_view(&key), ms_buf_view(&buf), &payload, st);
        if (rc == MS_OK) {
            *micros_out = (int64_t)ms_codec_reader_u64(&payload);
            rc = ms_codec_reader_finish(&payload, "the clock of the embedded store", st);
        }
    }
    ms_buf_release(&buf);
    return rc;
}
