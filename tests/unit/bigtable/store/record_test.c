/* SPDX-License-Identifier: Apache-2.0 */
/* Records: everything survives, damage is seen, older formats are brought to the present one. */
#include "testing.h"

#include "base/codec.h"
#include "bigtable/store/key.h"
#include "bigtable/store/record.h"
#include "os/file.h"

typedef struct fixture {
    char path[64];
    ms_kv *kv;
    ms_kv_batch *batch;
    ms_arena arena;
    size_t count; /* records that visit saw */
} fixture;

static int setup(void **state)
{
    ms_status st = {0};
    fixture *f = calloc(1, sizeof(*f));
    snprintf(f->path, sizeof(f->path), "/tmp/record-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    assert_ok(ms_kv_open(&(ms_kv_options){.path = f->path, .create = true}, &f->kv, &st));
    f->batch = ms_kv_batch_create();
    ms_arena_init(&f->arena, 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    ms_status st = {0};
    fixture *f = *state;
    ms_arena_release(&f->arena);
    ms_kv_batch_destroy(f->batch);
    ms_kv_close(f->kv);
    assert_ok(ms_dir_remove(f->path, &st));
    free(f);
    return 0;
}

static void write_batch(fixture *f)
{
    ms_status st = {0};
    assert_ok(ms_kv_write(f->kv, f->batch, MS_KV_NO_SYNC, &st));
    ms_kv_batch_reset(f->batch);
}

static msi_table table_draft(fixture *f, ms_bt_table *def)
{
    static const ms_bt_family families[] = {
        {.name = {"sum", 3}, .type = MS_BT_VALUE_INT64_SUM},
        {.name = {"raw", 3}},
    };
    static const uint32_t ids[] = {4, 2};
    static const msi_tablet tablets[] = {{7, {NULL, 0}, {"m", 1}, 10, 0},
                                         {9, {"m", 1}, {NULL, 0}, 20, 0}};
    static const msi_tablet past[] = {{3, {NULL, 0}, {NULL, 0}, 5, 10}};
    *def = (ms_bt_table){.name = {ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")},
                         .families = families,
                         .family_count = 2,
                         .granularity_micros = MS_BT_GRANULARITY_MICROS,
                         .change_retention_micros = 86400000000,
                         .is_protected = true};
    (void)f;
    return (msi_table){.def = def,
                       .id = 3,
                       .next_family_id = 5,
                       .next_tablet_id = 10,
                       .dropped_families = 2,
                       .family_ids = ids,
                       .tablets = tablets,
                       .tablet_count = 2,
                       .past = past,
                       .past_count = 1,
                       .created_micros = 5,
                       .stream_micros = 6,
                       .stream_wall_micros = 4};
}

static ms_rc check_table(void *arg, ms_codec_reader *payload, uint16_t version, ms_status *st)
{
    fixture *f = arg;
    f->count++;
    msi_table got;
    MS_TRY(msi_record_read_table(payload, version, &f->arena, &got, st));
    assert_int_equal(version, 3);
    assert_int_equal(got.id, 3);
    assert_int_equal(got.next_family_id, 5);
    assert_int_equal(got.next_tablet_id, 10);
    assert_int_equal(got.dropped_families, 2);
    assert_int_equal(got.created_micros, 5);
    assert_int_equal(got.stream_micros, 6);
    assert_int_equal(got.stream_wall_micros, 4);
    assert_int_equal(got.def->family_count, 2);
    assert_str_equal(got.def->families[0].name, "sum");
    assert_int_equal(got.def->families[0].type, MS_BT_VALUE_INT64_SUM);
    assert_int_equal(got.family_ids[0], 4);
    assert_int_equal(got.def->granularity_micros, 1);
    assert_int_equal(got.def->change_retention_micros, 86400000000);
    assert_true(got.def->is_protected);
    assert_int_equal(got.tablet_count, 2);
    assert_int_equal(got.tablets[1].id, 9);
    assert_str_equal(got.tablets[1].start, "m");
    assert_int_equal(got.tablets[1].begin_micros, 20);
    assert_int_equal(got.past_count, 1);
    assert_int_equal(got.past[0].end_micros, 10);
    return MS_OK;
}

static void tables_survive_whole(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    ms_bt_table def;
    msi_table draft = table_draft(f, &def);
    assert_ok(msi_record_put_table(&draft, f->batch, &st));
    write_batch(f);
    assert_ok(msi_record_each(f->kv, MSI_RECORD_TABLE, check_table, f, &st));
    assert_int_equal(f->count, 1);
    uint32_t id = 0;
    assert_ok(msi_record_table_id(f->kv, &def.name, &id, &st));
    assert_int_equal(id, draft.id);
    assert_true(id != 0);
    msi_record_delete(MSI_RECORD_TABLE, &def.name, f->batch);
    write_batch(f);
    assert_ok(msi_record_table_id(f->kv, &def.name, &id, &st));
    assert_int_equal(id, 0);
    assert_ok(msi_record_each(f->kv, MSI_RECORD_TABLE, check_table, f, &st));
    assert_int_equal(f->count, 1);
}

static ms_rc read_table(void *arg, ms_codec_reader *payload, uint16_t version, ms_status *st)
{
    fixture *f = arg;
    msi_table got;
    return msi_record_read_table(payload, version, &f->arena, &got, st);
}

static void impossible_tables_are_refused(void **state)
{
    fixture *f = *state;
    const msi_tablet gap[] = {{1, {NULL, 0}, {"c", 1}, 1, 0}, {2, {"m", 1}, {NULL, 0}, 1, 0}};
    const msi_tablet open[] = {{1, {NULL, 0}, {"c", 1}, 1, 0}};
    const msi_tablet future[] = {{99, {NULL, 0}, {NULL, 0}, 1, 0}};
    const msi_tablet ended[] = {{1, {NULL, 0}, {NULL, 0}, 1, 5}};
    const msi_tablet living[] = {{1, {NULL, 0}, {NULL, 0}, 1, 0}};
    const uint32_t ids[] = {4, 7};
    for (int i = 0; i < 9; i++) {
        ms_status st = {0};
        ms_bt_table def;
        msi_table draft = table_draft(f, &def);
        draft.tablets = i == 0 ? gap : i == 1 ? open : i == 2 ? future : i == 3 ? ended : living;
        draft.tablet_count = i == 0 ? 2 : i == 4 ? 0 : 1;
        draft.past = i == 5 ? living : draft.past;
        draft.id = i == 6 ? 0 : draft.id;
        def.granularity_micros = i == 7 ? 17 : 1;
        draft.family_ids = i == 8 ? ids : draft.family_ids;
        assert_ok(msi_record_put_table(&draft, f->batch, &st));
        write_batch(f);
        assert_int_equal(msi_record_each(f->kv, MSI_RECORD_TABLE, read_table, f, &st),
                         MS_CORRUPT_DATA);
    }
}

static ms_rc check_profile(void *arg, ms_codec_reader *payload, uint16_t version, ms_status *st)
{
    fixture *f = arg;
    f->count++;
    (void)version;
    const ms_bt_profile *got = NULL;
    MS_TRY(msi_record_read_profile(payload, &f->arena, &got, st));
    assert_str_equal(got->project, "p");
    assert_str_equal(got->instance, "i");
    assert_str_equal(got->id, "x");
    assert_str_equal(got->description, "text");
    assert_int_equal(got->routing, MS_BT_ROUTING_MULTI_CLUSTER);
    assert_int_equal(got->cluster_count, 2);
    assert_str_equal(got->clusters[1], "c2");
    assert_true(got->is_data_boost);
    assert_int_equal(got->priority, MS_BT_PRIORITY_LOW);
    return MS_OK;
}

static ms_rc check_instance(void *arg, ms_codec_reader *payload, uint16_t version, ms_status *st)
{
    fixture *f = arg;
    f->count++;
    (void)version;
    const ms_bt_instance *got = NULL;
    MS_TRY(msi_record_read_instance(payload, &f->arena, &got, st));
    assert_str_equal(got->project, "p");
    assert_str_equal(got->id, "i");
    assert_str_equal(got->display_name, "The I");
    assert_int_equal(got->type, 1);
    assert_int_equal(got->created_micros, 77);
    assert_int_equal(got->label_count, 1);
    assert_str_equal(got->labels[0].value, "v");
    assert_int_equal(got->cluster_count, 1);
    assert_str_equal(got->clusters[0].location, "here");
    assert_int_equal(got->clusters[0].serve_nodes, 3);
    return MS_OK;
}

static void profiles_and_instances_survive_beside_a_table_of_their_name(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    const ms_str clusters[] = {ms_str_lit("c1"), ms_str_lit("c2")};
    ms_bt_profile profile = {.project = ms_str_lit("p"),
                             .instance = ms_str_lit("i"),
                             .id = ms_str_lit("x"),
                             .description = ms_str_lit("text"),
                             .routing = MS_BT_ROUTING_MULTI_CLUSTER,
                             .clusters = clusters,
                             .cluster_count = 2,
                             .is_data_boost = true,
                             .priority = MS_BT_PRIORITY_LOW};
    const ms_bt_label labels[] = {{ms_str_lit("k"), ms_str_lit("v")}};
    const ms_bt_cluster own[] = {{ms_str_lit("c1"), ms_str_lit("here"), 3, 1}};
    ms_bt_instance instance = {.project = ms_str_lit("p"),
                               .id = ms_str_lit("i"),
                               .display_name = ms_str_lit("The I"),
                               .type = 1,
                               .labels = labels,
                               .label_count = 1,
                               .clusters = own,
                               .cluster_count = 1,
                               .created_micros = 77};
    ms_bt_table def;
    msi_table draft = table_draft(f, &def);
    def.name.table = ms_str_lit("x");
    assert_ok(msi_record_put_table(&draft, f->batch, &st));
    assert_ok(msi_record_put_profile(&profile, f->batch, &st));
    assert_ok(msi_record_put_instance(&instance, f->batch, &st));
    write_batch(f);
    assert_ok(msi_record_each(f->kv, MSI_RECORD_PROFILE, check_profile, f, &st));
    assert_ok(msi_record_each(f->kv, MSI_RECORD_INSTANCE, check_instance, f, &st));
    assert_ok(msi_record_each(f->kv, MSI_RECORD_TABLE, check_table, f, &st));
    assert_int_equal(f->count, 3);
}

/* Formats 1 and 2, written byte by byte: stores that older programs left. */

static void put_old_record(fixture *f, ms_str key, ms_buf *payload)
{
    ms_status st = {0};
    uint32_t crc = ms_crc32c(ms_crc32c(0, key), ms_buf_view(payload));
    assert_ok(ms_codec_put_u32(payload, crc, &st));
    ms_kv_batch_put(f->batch, key, ms_buf_view(payload));
    ms_buf_release(payload);
}

static void put_old_number(fixture *f, const char *key, uint32_t number)
{
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 64);
    assert_ok(ms_codec_put_u16(&buf, 1, &st));
    assert_ok(ms_codec_put_u32(&buf, number, &st));
    put_old_record(f, ms_str_make(key, 5), &buf);
}

static void put_old_splits(ms_buf *buf)
{
    ms_status st = {0};
    assert_ok(ms_codec_put_varint(buf, 2, &st));
    assert_ok(ms_codec_put_str(buf, ms_str_lit("c"), &st));
    assert_ok(ms_codec_put_str(buf, ms_str_lit("m"), &st));
}

/* A stream of a day since 7, in a table made at 6, with the same splits. */
static void put_old_tablets(ms_buf *buf)
{
    static const char *const keys[] = {"", "c", "m", ""};
    ms_status st = {0};
    assert_ok(ms_codec_put_signed(buf, 86400000000, &st));
    assert_ok(ms_codec_put_u8(buf, 0, &st));
    assert_ok(ms_codec_put_signed(buf, 6, &st));
    assert_ok(ms_codec_put_signed(buf, 7, &st));
    assert_ok(ms_codec_put_u32(buf, 0, &st));
    assert_ok(ms_codec_put_u32(buf, 4, &st));
    assert_ok(ms_codec_put_varint(buf, 3, &st));
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(ms_codec_put_u32(buf, i + 1, &st));
        assert_ok(ms_codec_put_str(buf, ms_str_cstr(keys[i]), &st));
        assert_ok(ms_codec_put_str(buf, ms_str_cstr(keys[i + 1]), &st));
        assert_ok(ms_codec_put_signed(buf, 6, &st));
        assert_ok(ms_codec_put_signed(buf, 0, &st));
    }
    assert_ok(ms_codec_put_varint(buf, 0, &st));
}

/* Table versions are those of the format. */
static void write_old_store(fixture *f, uint16_t format)
{
    ms_status st = {0};
    put_old_number(f, "\0\0\0\0F", format);
    put_old_number(f, "\0\0\0\0N", 4);
    ms_buf buf;
    ms_buf_init(&buf, 1024);
    assert_ok(ms_codec_put_u16(&buf, format, &st));
    assert_ok(ms_codec_put_u32(&buf, 3, &st));
    assert_ok(ms_codec_put_u32(&buf, 3, &st));
    assert_ok(ms_codec_put_str(&buf, ms_str_lit("p"), &st));
    assert_ok(ms_codec_put_str(&buf, ms_str_lit("i"), &st));
    assert_ok(ms_codec_put_str(&buf, ms_str_lit("t"), &st));
    assert_ok(ms_codec_put_signed(&buf, 1000, &st));
    assert_ok(ms_codec_put_varint(&buf, 2, &st));
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(ms_codec_put_str(&buf, ms_str_cstr(i == 0 ? "a" : "b"), &st));
        assert_ok(ms_codec_put_u32(&buf, i + 1, &st));
        assert_ok(ms_codec_put_u8(&buf, 0, &st));
        const ms_bt_gc_rule *rule = ms_bt_gc_rule_max_versions(&f->arena, 2);
        assert_ok(ms_bt_gc_rule_encode(i == 0 ? NULL : rule, &buf, &st));
    }
    if (format == 1) {
        put_old_splits(&buf);
    } else {
        put_old_tablets(&buf);
    }
    const char key[] = "\0\0\0\0Tprojects/p/instances/i/tables/t";
    put_old_record(f, ms_str_make(key, sizeof(key) - 1), &buf);
    write_batch(f);
}

/* Of what both formats have. */
static void assert_upgraded(fixture *f, int64_t created_micros, int64_t stream_micros)
{
    ms_status st = {0};
    msi_schema *schema = NULL;
    assert_ok(msi_schema_load(f->kv, &schema, &st));
    uint32_t format = 0;
    assert_ok(msi_record_format(f->kv, &format, &st));
    assert_int_equal(format, 3);
    assert_int_equal(schema->next_table_id, 4);
    assert_int_equal(schema->table_count, 1);
    const msi_table *table = schema->tables[0];
    assert_int_equal(table->id, 3);
    assert_int_equal(table->def->family_count, 2);
    assert_int_equal(table->family_ids[1], 2);
    assert_int_equal(table->def->families[1].gc_rule->max_versions, 2);
    assert_int_equal(table->tablet_count, 3);
    assert_int_equal(table->tablets[2].id, 3);
    assert_int_equal(table->def->split_count, 2);
    assert_str_equal(table->def->splits[1], "m");
    assert_int_equal(table->is_logged, stream_micros != 0);
    assert_int_equal(table->created_micros, created_micros);
    assert_int_equal(table->stream_micros, stream_micros);
    assert_int_equal(table->stream_wall_micros, stream_micros);
    msi_schema_drop(schema);
}

static void a_store_of_format_1_opens_and_is_of_format_3_then(void **state)
{
    fixture *f = *state;
    write_old_store(f, 1);
    assert_upgraded(f, 0, 0);
    assert_upgraded(f, 0, 0);
}

static void a_store_of_format_2_opens_and_is_of_format_3_then(void **state)
{
    fixture *f = *state;
    write_old_store(f, 2);
    assert_upgraded(f, 6, 7);
    assert_upgraded(f, 6, 7);
}

static void an_empty_store_gets_the_format(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    uint32_t format = 9;
    assert_ok(msi_record_format(f->kv, &format, &st));
    assert_int_equal(format, 0);
    msi_schema *schema = NULL;
    assert_ok(msi_schema_load(f->kv, &schema, &st));
    msi_schema_drop(schema);
    assert_ok(msi_record_format(f->kv, &format, &st));
    assert_int_equal(format, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(tables_survive_whole),
        TEST(impossible_tables_are_refused),
        TEST(profiles_and_instances_survive_beside_a_table_of_their_name),
        TEST(a_store_of_format_1_opens_and_is_of_format_3_then),
        TEST(a_store_of_format_2_opens_and_is_of_format_3_then),
        TEST(an_empty_store_gets_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
