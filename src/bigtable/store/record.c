/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing and reading the records of the catalog. Reading checks everything that the rest of the
 * store relies on: bytes that pass the CRC may still come from a program with a defect.
 */
#include "bigtable/store/record.h"

#include "bigtable/store/key.h"

#define RECORD_VERSION 1u
#define TABLE_VERSION 3u
#define RECORD_BYTES_MAX ((size_t)128 << 20) /* twenty thousand tablets with long keys */

#define META_BYTES 5u
#define KEY_FORMAT 'F'
#define KEY_NEXT_TABLE 'N'
#define KEY_CLOCK 'C'

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

/* Profiles and instances have the path of a table of their name; the letter keeps them apart. */
static meta_key make_path_key(char kind, const ms_bt_table_name *name)
{
    meta_key key = make_key(kind);
    key.length += ms_bt_table_name_path(name, key.bytes + META_BYTES);
    return key;
}

static uint16_t version_of(char kind)
{
    return kind == MSI_RECORD_TABLE ? TABLE_VERSION : RECORD_VERSION;
}

/* Records. */

/* Starts a record: the payload is appended to buf behind this. */
static ms_rc begin_record(ms_buf *buf, char kind, ms_status *st)
{
    ms_buf_init(buf, RECORD_BYTES_MAX);
    return ms_codec_put_u16(buf, version_of(kind), st);
}

/* Ends it, unless something failed before; the buffer is released either way. */
static ms_rc end_record(ms_buf *buf, const meta_key *key, ms_kv_batch *batch, ms_rc rc,
                        ms_status *st)
{
    if (rc == MS_OK) {
        uint32_t crc = ms_crc32c(ms_crc32c(0, key_view(key)), ms_buf_view(buf));
        rc = ms_codec_put_u32(buf, crc, st);
    }
    if (rc == MS_OK) {
        ms_kv_batch_put(batch, key_view(key), ms_buf_view(buf));
    }
    ms_buf_release(buf);
    return rc;
}

/* Checks version and CRC of a record and gives its payload. */
static ms_rc open_record(ms_str key, ms_str record, ms_codec_reader *payload_out,
                         uint16_t *version_out, ms_status *st)
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
    *version_out = ms_codec_reader_u16(payload_out);
    uint16_t known = version_of(key.ptr[META_BYTES - 1]);
    if (*version_out == 0 || *version_out > known) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "the embedded store was written by another Millstream (catalog record "
                             "version %u; this one knows %u)",
                             *version_out, known);
    }
    return MS_OK;
}

void msi_record_delete(char kind, const ms_bt_table_name *name, ms_kv_batch *batch)
{
    meta_key key = make_path_key(kind, name);
    ms_kv_batch_delete(batch, key_view(&key));
}

static ms_rc each_record(ms_kv_iter *iter, ms_str start, msi_record_fn fn, void *arg, ms_status *st)
{
    ms_kv_entry entry;
    for (bool valid = ms_kv_iter_seek(iter, start, &entry); valid;
         valid = ms_kv_iter_next(iter, &entry)) {
        ms_codec_reader payload;
        uint16_t version = 0;
        MS_TRY(open_record(entry.key, entry.value, &payload, &version, st));
        MS_TRY(fn(arg, &payload, version, st));
    }
    return ms_kv_iter_check(iter, st);
}

ms_rc msi_record_each(ms_kv *kv, char kind, msi_record_fn fn, void *arg, ms_status *st)
{
    meta_key start = make_key(kind);
    meta_key end = make_key((char)(kind + 1));
    ms_kv_iter *iter = ms_kv_iter_create(
        kv, &(ms_kv_iter_options){.lower = key_view(&start), .upper = key_view(&end)});
    ms_rc rc = each_record(iter, key_view(&start), fn, arg, st);
    ms_kv_iter_destroy(iter);
    return rc;
}

/* Numbers. */

static ms_rc put_u32_record(ms_kv_batch *batch, char kind, uint32_t value, ms_status *st)
{
    meta_key key = make_key(kind);
    ms_buf buf;
    ms_rc rc = begin_record(&buf, kind, st);
    if (rc == MS_OK) {
        rc = ms_codec_put_u32(&buf, value, st);
    }
    return end_record(&buf, &key, batch, rc, st);
}

/* The payload of a record, in buf; *found_out tells a missing one. */
static ms_rc get_record(ms_kv *kv, const meta_key *key, ms_buf *buf, ms_codec_reader *payload_out,
                        bool *found_out, ms_status *st)
{
    uint16_t version = 0;
    MS_TRY(ms_kv_get(kv, key_view(key), buf, found_out, st));
    return *found_out ? open_record(key_view(key), ms_buf_view(buf), payload_out, &version, st)
                      : MS_OK;
}

/* Leaves *value_out as it is when there is no such record. */
static ms_rc get_u32_record(ms_kv *kv, char kind, const char *what, uint32_t *value_out,
                            ms_status *st)
{
    ms_buf buf;
    ms_buf_init(&buf, RECORD_BYTES_MAX);
    ms_codec_reader payload;
    bool found = false;
    meta_key key = make_key(kind);
    ms_rc rc = get_record(kv, &key, &buf, &payload, &found, st);
    if (rc == MS_OK && found) {
        *value_out = ms_codec_reader_u32(&payload);
        rc = ms_codec_reader_finish(&payload, what, st);
    }
    ms_buf_release(&buf);
    return rc;
}

ms_rc msi_record_put_next_table(uint32_t id, ms_kv_batch *batch, ms_status *st)
{
    return put_u32_record(batch, KEY_NEXT_TABLE, id, st);
}

ms_rc msi_record_next_table(ms_kv *kv, uint32_t *id_out, ms_status *st)
{
    *id_out = MSI_FIRST_TABLE_ID;
    return get_u32_record(kv, KEY_NEXT_TABLE, "the next table of the embedded store", id_out, st);
}

ms_rc msi_record_put_format(ms_kv_batch *batch, ms_status *st)
{
    return put_u32_record(batch, KEY_FORMAT, MSI_FORMAT_VERSION, st);
}

ms_rc msi_record_format(ms_kv *kv, uint32_t *version_out, ms_status *st)
{
    *version_out = 0;
    return get_u32_record(kv, KEY_FORMAT, "the format of the embedded store", version_out, st);
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
    ms_buf buf;
    ms_buf_init(&buf, RECORD_BYTES_MAX);
    ms_codec_reader payload;
    bool found = false;
    meta_key key = make_key(KEY_CLOCK);
    ms_rc rc = get_record(kv, &key, &buf, &payload, &found, st);
    if (rc == MS_OK && found) {
        *micros_out = (int64_t)ms_codec_reader_u64(&payload);
        rc = ms_codec_reader_finish(&payload, "the clock of the embedded store", st);
    }
    ms_buf_release(&buf);
    return rc;
}

/* Tables. */

static ms_rc put_tablets(const msi_tablet *tablets, size_t count, ms_buf *buf, ms_status *st)
{
    MS_TRY(ms_codec_put_varint(buf, count, st));
    for (size_t i = 0; i < count; i++) {
        MS_TRY(ms_codec_put_u32(buf, tablets[i].id, st));
        MS_TRY(ms_codec_put_str(buf, tablets[i].start, st));
        MS_TRY(ms_codec_put_str(buf, tablets[i].end, st));
        MS_TRY(ms_codec_put_signed(buf, tablets[i].begin_micros, st));
        MS_TRY(ms_codec_put_signed(buf, tablets[i].end_micros, st));
    }
    return MS_OK;
}

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
    MS_TRY(ms_codec_put_signed(buf, def->change_retention_micros, st));
    MS_TRY(ms_codec_put_u8(buf, def->is_protected, st));
    MS_TRY(ms_codec_put_signed(buf, table->created_micros, st));
    MS_TRY(ms_codec_put_signed(buf, table->stream_micros, st));
    MS_TRY(ms_codec_put_signed(buf, table->stream_wall_micros, st));
    MS_TRY(ms_codec_put_u32(buf, table->dropped_families, st));
    MS_TRY(ms_codec_put_u32(buf, table->next_tablet_id, st));
    MS_TRY(put_tablets(table->tablets, table->tablet_count, buf, st));
    return put_tablets(table->past, table->past_count, buf, st);
}

ms_rc msi_record_put_table(const msi_table *table, ms_kv_batch *batch, ms_status *st)
{
    meta_key key = make_path_key(MSI_RECORD_TABLE, &table->def->name);
    ms_buf buf;
    ms_rc rc = begin_record(&buf, MSI_RECORD_TABLE, st);
    if (rc == MS_OK) {
        rc = put_table_payload(table, &buf, st);
    }
    return end_record(&buf, &key, batch, rc, st);
}

static ms_str read_str(ms_codec_reader *reader, ms_arena *arena)
{
    return ms_arena_copy_str(arena, ms_codec_reader_str(reader));
}

static const msi_tablet *read_tablets(ms_codec_reader *reader, ms_arena *arena, size_t *count_out)
{
    *count_out = ms_codec_reader_count(reader, 8);
    msi_tablet *tablets = ms_arena_array(arena, msi_tablet, *count_out);
    for (size_t i = 0; i < *count_out; i++) {
        tablets[i].id = ms_codec_reader_u32(reader);
        tablets[i].start = read_str(reader, arena);
        tablets[i].end = read_str(reader, arena);
        tablets[i].begin_micros = ms_codec_reader_signed(reader);
        tablets[i].end_micros = ms_codec_reader_signed(reader);
    }
    return tablets;
}

/* A table of version 1 has the keys that it was split at, and no more. */
static void read_splits(ms_codec_reader *reader, ms_arena *arena, msi_table *draft)
{
    size_t count = ms_codec_reader_count(reader, 1);
    ms_str *splits = ms_arena_array(arena, ms_str, count);
    for (size_t i = 0; i < count; i++) {
        splits[i] = read_str(reader, arena);
    }
    draft->next_tablet_id = MSI_FIRST_TABLET_ID;
    msi_table_first_tablets(draft, splits, count, 0, arena);
}

static void read_newer(ms_codec_reader *reader, uint16_t version, ms_arena *arena, ms_bt_table *def,
                       msi_table *draft)
{
    def->change_retention_micros = ms_codec_reader_signed(reader);
    def->is_protected = ms_codec_reader_u8(reader) != 0;
    draft->created_micros = ms_codec_reader_signed(reader);
    draft->stream_micros = ms_codec_reader_signed(reader);
    draft->stream_wall_micros = version < 3 ? draft->stream_micros : ms_codec_reader_signed(reader);
    draft->dropped_families = ms_codec_reader_u32(reader);
    draft->next_tablet_id = ms_codec_reader_u32(reader);
    draft->tablets = read_tablets(reader, arena, &draft->tablet_count);
    draft->past = read_tablets(reader, arena, &draft->past_count);
}

/* Do the living tablets tile the keys, and do incarnations ascend where they must? */
static bool are_tablets_sane(const msi_table *draft)
{
    ms_str at = {NULL, 0};
    for (size_t i = 0; i < draft->tablet_count; i++) {
        const msi_tablet *tablet = &draft->tablets[i];
        bool is_last = i + 1 == draft->tablet_count;
        if (!ms_str_equals(tablet->start, at) || (tablet->end.bytes == 0) != is_last ||
            (!is_last && ms_str_compare(tablet->start, tablet->end) >= 0) || tablet->id == 0 ||
            tablet->id >= draft->next_tablet_id || tablet->end_micros != 0) {
            return false;
        }
        at = tablet->end;
    }
    for (size_t i = 0; i < draft->past_count; i++) {
        if (draft->past[i].end_micros <= 0 || draft->past[i].id >= draft->next_tablet_id ||
            (i > 0 && draft->past[i - 1].id >= draft->past[i].id)) {
            return false;
        }
    }
    return draft->tablet_count > 0;
}

static bool is_table_sane(const msi_table *draft)
{
    ms_bt_status bt = {0};
    const ms_bt_table *def = draft->def;
    bool is_sane = ms_bt_table_name_check(&def->name, &bt) == MS_BT_OK &&
                   (def->granularity_micros == MS_BT_GRANULARITY_MILLIS ||
                    def->granularity_micros == MS_BT_GRANULARITY_MICROS) &&
                   def->change_retention_micros >= 0 && draft->id != 0 &&
                   draft->id < MSI_KEY_TABLES_END;
    for (size_t i = 0; i < def->family_count; i++) {
        is_sane = is_sane && (unsigned)def->families[i].type < MS_BT_VALUE_COUNT &&
                  draft->family_ids[i] != 0 && draft->family_ids[i] < draft->next_family_id;
    }
    return is_sane && are_tablets_sane(draft);
}

ms_rc msi_record_read_table(ms_codec_reader *reader, uint16_t version, ms_arena *arena,
                            msi_table *draft, ms_status *st)
{
    ms_bt_table *def = ms_arena_new(arena, ms_bt_table);
    *draft = (msi_table){.def = def};
    draft->id = ms_codec_reader_u32(reader);
    draft->next_family_id = ms_codec_reader_u32(reader);
    def->name.project = read_str(reader, arena);
    def->name.instance = read_str(reader, arena);
    def->name.table = read_str(reader, arena);
    def->granularity_micros = ms_codec_reader_signed(reader);
    def->family_count = ms_codec_reader_count(reader, 7);
    ms_bt_family *families = ms_arena_array(arena, ms_bt_family, def->family_count);
    uint32_t *ids = ms_arena_array(arena, uint32_t, def->family_count);
    for (size_t i = 0; i < def->family_count; i++) {
        families[i].name = read_str(reader, arena);
        ids[i] = ms_codec_reader_u32(reader);
        families[i].type = (ms_bt_value_type)ms_codec_reader_u8(reader);
        families[i].gc_rule = ms_bt_gc_rule_decode(reader, arena);
    }
    def->families = families;
    draft->family_ids = ids;
    if (version == 1) {
        read_splits(reader, arena, draft);
    } else {
        read_newer(reader, version, arena, def, draft);
    }
    MS_TRY(ms_codec_reader_finish(reader, "a table of the embedded store", st));
    if (!is_table_sane(draft)) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a table of the embedded store has an impossible description");
    }
    return MS_OK;
}

ms_rc msi_record_table_id(ms_kv *kv, const ms_bt_table_name *name, uint32_t *id_out, ms_status *st)
{
    *id_out = 0;
    meta_key key = make_path_key(MSI_RECORD_TABLE, name);
    ms_buf buf;
    ms_buf_init(&buf, RECORD_BYTES_MAX);
    ms_codec_reader payload;
    bool found = false;
    ms_rc rc = get_record(kv, &key, &buf, &payload, &found, st);
    if (rc == MS_OK && found) {
        *id_out = ms_codec_reader_u32(&payload);
    }
    ms_buf_release(&buf);
    return rc;
}

/* Profiles. */

static ms_rc put_profile_payload(const ms_bt_profile *profile, ms_buf *buf, ms_status *st)
{
    MS_TRY(ms_codec_put_str(buf, profile->project, st));
    MS_TRY(ms_codec_put_str(buf, profile->instance, st));
    MS_TRY(ms_codec_put_str(buf, profile->id, st));
    MS_TRY(ms_codec_put_str(buf, profile->description, st));
    MS_TRY(ms_codec_put_u8(buf, (uint8_t)profile->routing, st));
    MS_TRY(ms_codec_put_str(buf, profile->cluster, st));
    MS_TRY(ms_codec_put_u8(buf, profile->allows_transactions, st));
    MS_TRY(ms_codec_put_u8(buf, profile->is_data_boost, st));
    MS_TRY(ms_codec_put_u8(buf, (uint8_t)profile->priority, st));
    MS_TRY(ms_codec_put_varint(buf, profile->cluster_count, st));
    for (size_t i = 0; i < profile->cluster_count; i++) {
        MS_TRY(ms_codec_put_str(buf, profile->clusters[i], st));
    }
    return MS_OK;
}

ms_rc msi_record_put_profile(const ms_bt_profile *profile, ms_kv_batch *batch, ms_status *st)
{
    ms_bt_table_name name = {profile->project, profile->instance, profile->id};
    meta_key key = make_path_key(MSI_RECORD_PROFILE, &name);
    ms_buf buf;
    ms_rc rc = begin_record(&buf, MSI_RECORD_PROFILE, st);
    if (rc == MS_OK) {
        rc = put_profile_payload(profile, &buf, st);
    }
    return end_record(&buf, &key, batch, rc, st);
}

ms_rc msi_record_read_profile(ms_codec_reader *reader, ms_arena *arena,
                              const ms_bt_profile **profile_out, ms_status *st)
{
    ms_bt_profile *profile = ms_arena_new(arena, ms_bt_profile);
    profile->project = read_str(reader, arena);
    profile->instance = read_str(reader, arena);
    profile->id = read_str(reader, arena);
    profile->description = read_str(reader, arena);
    profile->routing = (ms_bt_routing)ms_codec_reader_u8(reader);
    profile->cluster = read_str(reader, arena);
    profile->allows_transactions = ms_codec_reader_u8(reader) != 0;
    profile->is_data_boost = ms_codec_reader_u8(reader) != 0;
    profile->priority = (ms_bt_priority)ms_codec_reader_u8(reader);
    profile->cluster_count = ms_codec_reader_count(reader, 1);
    ms_str *clusters = ms_arena_array(arena, ms_str, profile->cluster_count);
    for (size_t i = 0; i < profile->cluster_count; i++) {
        clusters[i] = read_str(reader, arena);
    }
    profile->clusters = clusters;
    MS_TRY(ms_codec_reader_finish(reader, "an app profile of the embedded store", st));
    ms_bt_status bt = {0};
    ms_bt_table_name name = {profile->project, profile->instance, profile->id};
    if (ms_bt_table_name_check(&name, &bt) != MS_BT_OK ||
        ms_bt_profile_check(profile, &bt) != MS_BT_OK) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "an app profile of the embedded store has an impossible description");
    }
    *profile_out = profile;
    return MS_OK;
}

/* Instances. */

static ms_bt_table_name instance_name(const ms_bt_instance *instance)
{
    return (ms_bt_table_name){instance->project, instance->id, {NULL, 0}};
}

static ms_rc put_instance_payload(const ms_bt_instance *instance, ms_buf *buf, ms_status *st)
{
    MS_TRY(ms_codec_put_str(buf, instance->project, st));
    MS_TRY(ms_codec_put_str(buf, instance->id, st));
    MS_TRY(ms_codec_put_str(buf, instance->display_name, st));
    MS_TRY(ms_codec_put_signed(buf, instance->type, st));
    MS_TRY(ms_codec_put_signed(buf, instance->created_micros, st));
    MS_TRY(ms_codec_put_varint(buf, instance->label_count, st));
    for (size_t i = 0; i < instance->label_count; i++) {
        MS_TRY(ms_codec_put_str(buf, instance->labels[i].key, st));
        MS_TRY(ms_codec_put_str(buf, instance->labels[i].value, st));
    }
    MS_TRY(ms_codec_put_varint(buf, instance->cluster_count, st));
    for (size_t i = 0; i < instance->cluster_count; i++) {
        MS_TRY(ms_codec_put_str(buf, instance->clusters[i].id, st));
        MS_TRY(ms_codec_put_str(buf, instance->clusters[i].location, st));
        MS_TRY(ms_codec_put_signed(buf, instance->clusters[i].serve_nodes, st));
        MS_TRY(ms_codec_put_signed(buf, instance->clusters[i].storage_type, st));
    }
    return MS_OK;
}

ms_rc msi_record_put_instance(const ms_bt_instance *instance, ms_kv_batch *batch, ms_status *st)
{
    ms_bt_table_name name = instance_name(instance);
    meta_key key = make_path_key(MSI_RECORD_INSTANCE, &name);
    ms_buf buf;
    ms_rc rc = begin_record(&buf, MSI_RECORD_INSTANCE, st);
    if (rc == MS_OK) {
        rc = put_instance_payload(instance, &buf, st);
    }
    return end_record(&buf, &key, batch, rc, st);
}

ms_rc msi_record_read_instance(ms_codec_reader *reader, ms_arena *arena,
                               const ms_bt_instance **instance_out, ms_status *st)
{
    ms_bt_instance *instance = ms_arena_new(arena, ms_bt_instance);
    instance->project = read_str(reader, arena);
    instance->id = read_str(reader, arena);
    instance->display_name = read_str(reader, arena);
    instance->type = (int32_t)ms_codec_reader_signed(reader);
    instance->created_micros = ms_codec_reader_signed(reader);
    instance->label_count = ms_codec_reader_count(reader, 2);
    ms_bt_label *labels = ms_arena_array(arena, ms_bt_label, instance->label_count);
    for (size_t i = 0; i < instance->label_count; i++) {
        labels[i].key = read_str(reader, arena);
        labels[i].value = read_str(reader, arena);
    }
    instance->labels = labels;
    instance->cluster_count = ms_codec_reader_count(reader, 4);
    ms_bt_cluster *clusters = ms_arena_array(arena, ms_bt_cluster, instance->cluster_count);
    for (size_t i = 0; i < instance->cluster_count; i++) {
        clusters[i].id = read_str(reader, arena);
        clusters[i].location = read_str(reader, arena);
        clusters[i].serve_nodes = (int32_t)ms_codec_reader_signed(reader);
        clusters[i].storage_type = (int32_t)ms_codec_reader_signed(reader);
    }
    instance->clusters = clusters;
    MS_TRY(ms_codec_reader_finish(reader, "an instance of the embedded store", st));
    ms_bt_status bt = {0};
    ms_bt_table_name name = instance_name(instance);
    if (ms_bt_instance_name_check(&name, &bt) != MS_BT_OK || instance->cluster_count == 0) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "an instance of the embedded store has an impossible description");
    }
    *instance_out = instance;
    return MS_OK;
}
