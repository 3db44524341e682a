/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog: snapshots stay what they were, and records are checked when they are read. */
#include "testing.h"

#include "base/codec.h"
#include "bigtable/store/record.h"
#include "bigtable/store/schema.h"
#include "os/file.h"

typedef struct fixture {
    char path[64];
    ms_kv *kv;
    ms_kv_batch *batch;
    msi_schema *schema;
} fixture;

static ms_rc load(fixture *f, ms_status *st)
{
    msi_schema_drop(f->schema);
    return msi_schema_load(f->kv, &f->schema, st);
}

static int setup(void **state)
{
    ms_status st = {0};
    fixture *f = calloc(1, sizeof(*f));
    snprintf(f->path, sizeof(f->path), "/tmp/schema-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    assert_ok(ms_kv_open(&(ms_kv_options){.path = f->path, .create = true}, &f->kv, &st));
    f->batch = ms_kv_batch_create();
    assert_ok(load(f, &st));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    ms_status st = {0};
    fixture *f = *state;
    msi_schema_drop(f->schema);
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

/* Writes what makes a snapshot, and puts it in the place of the one before. */
static void publish(fixture *f, msi_schema *next)
{
    assert_non_null(next);
    write_batch(f);
    msi_schema_drop(f->schema);
    f->schema = next;
}

static ms_bt_table_name name_of(const char *instance, const char *table)
{
    return (ms_bt_table_name){ms_str_lit("p"), ms_str_cstr(instance), ms_str_cstr(table)};
}

/* Adds a table with two families, z before a. */
static void add_table(fixture *f, const char *instance, const char *table)
{
    ms_status st = {0};
    static const ms_bt_family families[] = {{.name = {"z", 1}}, {.name = {"a", 1}}};
    static const ms_str splits[] = {{"m", 1}, {"c", 1}, {"m", 1}};
    ms_bt_table def = {.name = name_of(instance, table), .families = families, .family_count = 2};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    msi_table draft = {.def = &def, .next_tablet_id = 1};
    msi_table_first_tablets(&draft, splits, 3, 500, &arena);
    publish(f, msi_schema_put_table(f->schema, &draft, f->batch, &st));
    ms_arena_release(&arena);
}

static void table_survives_a_load(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    add_table(f, "i", "t");
    assert_ok(load(f, &st));
    ms_bt_table_name name = name_of("i", "t");
    const msi_table *table = msi_schema_find(f->schema, &name);
    assert_non_null(table);
    assert_int_equal(table->id, 1);
    assert_int_equal(table->def->family_count, 2);
    assert_str_equal(table->def->families[0].name, "a");
    assert_str_equal(table->family_names[1], "z");
    assert_true(table->ids_ascend);
    assert_int_equal(table->def->granularity_micros, MS_BT_GRANULARITY_MILLIS);
    assert_int_equal(table->def->split_count, 2);
    assert_str_equal(table->def->splits[0], "c");
    assert_int_equal(f->schema->next_table_id, 2);
}

static void incarnations_are_never_used_again(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    add_table(f, "i", "t");
    ms_bt_table_name name = name_of("i", "t");
    const msi_table *before = msi_schema_find(f->schema, &name);
    const ms_bt_family more[] = {
        before->def->families[0], before->def->families[1], {.name = {"b", 1}}};
    const uint32_t ids[] = {before->family_ids[0], before->family_ids[1], 0};
    ms_bt_table def = *before->def;
    def.families = more;
    def.family_count = 3;
    msi_table draft = *before;
    draft.def = &def;
    draft.family_ids = ids;
    msi_schema *next = msi_schema_put_table(f->schema, &draft, f->batch, &st);
    assert_non_null(next);
    write_batch(f);
    const msi_table *after = msi_schema_find(next, &name);
    assert_int_equal(before->def->family_count, 2);
    assert_int_equal(after->def->family_count, 3);
    assert_int_equal(after->family_ids[0], 1);
    assert_int_equal(after->family_ids[1], 3);
    assert_int_equal(after->family_ids[2], 2);
    assert_false(after->ids_ascend);
    assert_int_equal(msi_table_family_index(after, 2), 2);
    assert_int_equal(msi_table_family_index(after, 3), 1);
    assert_int_equal(msi_table_family_index(after, 4), UINT32_MAX);
    msi_schema_drop(next);
    assert_ok(load(f, &st));
    add_table(f, "i", "u");
    name = name_of("i", "u");
    assert_int_equal(msi_schema_find(f->schema, &name)->id, 2);
}

static void tables_are_found_by_instance(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    add_table(f, "i2", "b");
    add_table(f, "i2", "a");
    add_table(f, "i", "z");
    add_table(f, "i3", "x");
    assert_ok(load(f, &st));
    size_t first = 0;
    ms_bt_table_name instance = name_of("i2", "");
    assert_int_equal(msi_schema_instance(f->schema, &instance, &first), 2);
    assert_str_equal(f->schema->tables[first]->def->name.table, "a");
    assert_str_equal(f->schema->tables[first + 1]->def->name.table, "b");
    instance = name_of("none", "");
    assert_int_equal(msi_schema_instance(f->schema, &instance, &first), 0);
}

/* Changes the one table record: flips a bit at an offset, or replaces it by a shorter one. */
static void damage(fixture *f, size_t offset, size_t keep_bytes)
{
    ms_status st = {0};
    ms_kv_iter *iter = ms_kv_iter_create(f->kv, &(ms_kv_iter_options){0});
    ms_kv_entry entry;
    assert_true(ms_kv_iter_seek(iter, ms_str_make("\0\0\0\0T", 5), &entry));
    char value[1024];
    memcpy(value, entry.value.ptr, entry.value.bytes);
    size_t bytes = keep_bytes < entry.value.bytes ? keep_bytes : entry.value.bytes;
    value[offset] ^= 1;
    ms_kv_batch_put(f->batch, entry.key, ms_str_make(value, bytes));
    ms_kv_iter_destroy(iter);
    assert_ok(ms_kv_write(f->kv, f->batch, MS_KV_NO_SYNC, &st));
    ms_kv_batch_reset(f->batch);
}

static void damaged_record_is_refused(void **state)
{
    fixture *f = *state;
    add_table(f, "i", "t");
    const size_t offsets[] = {0, 2, 10, 20};
    for (size_t i = 0; i < 4; i++) {
        ms_status st = {0};
        damage(f, offsets[i], SIZE_MAX);
        assert_int_equal(load(f, &st), MS_CORRUPT_DATA);
        damage(f, offsets[i], SIZE_MAX);
        ms_status_clear(&st);
        assert_ok(load(f, &st));
    }
    ms_status st = {0};
    damage(f, 0, 3);
    assert_int_equal(load(f, &st), MS_CORRUPT_DATA);
}

static void newer_format_is_refused(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    const ms_str key = {"\0\0\0\0F", 5};
    char record[10];
    ms_codec_store_u16(record, 1);
    ms_codec_store_u32(record + 2, 4);
    ms_codec_store_u32(record + 6, ms_crc32c(ms_crc32c(0, key), ms_str_make(record, 6)));
    ms_kv_batch_put(f->batch, key, ms_str_make(record, sizeof(record)));
    write_batch(f);
    assert_int_equal(load(f, &st), MS_NOT_SUPPORTED);
    assert_string_equal(st.message, "the embedded store has format 4; this Millstream knows 3");
}

static void clock_survives(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    int64_t micros = -1;
    assert_ok(msi_clock_load(f->kv, &micros, &st));
    assert_int_equal(micros, 0);
    msi_clock_put(f->batch, 123456789);
    write_batch(f);
    assert_ok(msi_clock_load(f->kv, &micros, &st));
    assert_int_equal(micros, 123456789);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(table_survives_a_load),        TEST(incarnations_are_never_used_again),
        TEST(tables_are_found_by_instance), TEST(damaged_record_is_refused),
        TEST(newer_format_is_refused),      TEST(clock_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
