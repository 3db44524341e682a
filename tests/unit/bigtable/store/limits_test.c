/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a store, a table and an instance hold: the last one that fits, the first that does not,
 * and that there is room again when one is gone. Catalogs that are nearly full are written as
 * records, past the calls that would take minutes.
 */
#include "change_testing.h"

#include "bigtable/store/instance.h"
#include "bigtable/store/record.h"

/* Filling a catalog while the store is closed. */

typedef struct filling {
    ms_kv *kv;
    ms_kv_batch *batch;
} filling;

static filling begin_filling(fixture *f)
{
    ms_status st = {0};
    filling to = {.batch = ms_kv_batch_create()};
    fixture_close(f);
    assert_ok(ms_kv_open(&(ms_kv_options){.path = f->path}, &to.kv, &st));
    return to;
}

/* Writes what was added, and gives what opening the store says to it. */
static ms_status end_filling(fixture *f, filling *to)
{
    ms_status st = {0};
    assert_ok(ms_kv_write(to->kv, to->batch, MS_KV_NO_SYNC, &st));
    ms_kv_batch_destroy(to->batch);
    ms_kv_close(to->kv);
    ms_bt_store_options options = {.path = f->path, .pool = f->pool, .has_no_thread = true};
    ms_bt_store *store = NULL;
    ms_status opened = {0};
    if (ms_bt_store_open(&options, &store, &opened) == MS_OK) {
        assert_ok(ms_bt_store_close(store, &st));
        fixture_open(f);
    }
    return opened;
}

static ms_bt_table_name nth_name(uint32_t n, char text[16])
{
    snprintf(text, 16, "t%05" PRIu32, n);
    return (ms_bt_table_name){ms_str_lit("p"), ms_str_lit("i"), ms_str_cstr(text)};
}

static void put_tables(filling *to, uint32_t first, uint32_t count)
{
    ms_status st = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (uint32_t n = first; n < first + count; n++) {
        char text[16];
        ms_bt_table def = {.name = nth_name(n, text), .granularity_micros = 1000};
        msi_table draft = {.def = &def,
                           .id = n + 1,
                           .next_family_id = MSI_FIRST_FAMILY_ID,
                           .next_tablet_id = MSI_FIRST_TABLET_ID,
                           .created_micros = 1};
        msi_table_first_tablets(&draft, NULL, 0, 1, &arena);
        assert_ok(msi_record_put_table(&draft, to->batch, &st));
    }
    assert_ok(msi_record_put_next_table(first + count + 1, to->batch, &st));
    ms_arena_release(&arena);
}

static ms_bt_profile nth_profile(uint32_t n, char text[16])
{
    ms_bt_table_name name = nth_name(n, text);
    return (ms_bt_profile){.project = name.project,
                           .instance = name.instance,
                           .id = name.table,
                           .routing = MS_BT_ROUTING_MULTI_CLUSTER};
}

static void put_profiles(filling *to, uint32_t first, uint32_t count)
{
    ms_status st = {0};
    for (uint32_t n = first; n < first + count; n++) {
        char text[16];
        ms_bt_profile profile = nth_profile(n, text);
        assert_ok(msi_record_put_profile(&profile, to->batch, &st));
    }
}

static const ms_bt_cluster one_cluster = {.id = {"c", 1}};

static ms_bt_instance nth_instance(uint32_t n, char text[16])
{
    ms_bt_table_name name = nth_name(n, text);
    return (ms_bt_instance){.project = name.project,
                            .id = name.table,
                            .clusters = &one_cluster,
                            .cluster_count = 1,
                            .created_micros = 1};
}

static void put_instances(filling *to, uint32_t first, uint32_t count)
{
    ms_status st = {0};
    for (uint32_t n = first; n < first + count; n++) {
        char text[16];
        ms_bt_instance instance = nth_instance(n, text);
        assert_ok(msi_record_put_instance(&instance, to->batch, &st));
    }
}

/* Calls. */

static ms_bt_status create_nth(fixture *f, uint32_t n)
{
    char text[16];
    ms_bt_table table = {.name = nth_name(n, text)};
    ms_bt_table_call call = admin_call_of(f);
    call.table = &table;
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_create_table);
    ms_bt_table_call_release(&call);
    return bt;
}

static ms_bt_status profile_nth(fixture *f, uint32_t n,
                                void (*submit)(ms_bt_client *, ms_bt_profile_call *))
{
    char text[16];
    ms_bt_profile_call call;
    ms_bt_profile_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.profile = nth_profile(n, text);
    submit(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    ms_bt_status bt = call.call.status;
    ms_bt_profile_call_release(&call);
    return bt;
}

static ms_bt_status instance_call(fixture *f, const ms_bt_instance *instance,
                                  const ms_bt_cluster *cluster,
                                  void (*submit)(ms_bt_store *, ms_bt_instance_call *))
{
    ms_bt_instance_call call;
    ms_bt_instance_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.instance = *instance;
    call.cluster = *cluster;
    submit(f->store, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    ms_bt_status bt = call.call.status;
    ms_bt_instance_call_release(&call);
    return bt;
}

#define assert_full(bt, expected)                                                                  \
    do {                                                                                           \
        assert_bt(bt, MS_BT_RESOURCE_EXHAUSTED);                                                   \
        assert_string_equal((bt)->text, expected);                                                 \
    } while (0)

/* What a store holds. */

static void store_holds_ten_thousand_tables(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    filling to = begin_filling(f);
    put_tables(&to, 0, 9999);
    assert_int_equal(end_filling(f, &to).code, MS_OK);
    ms_bt_status bt = create_nth(f, 9999);
    assert_bt(&bt, MS_BT_OK);
    bt = create_nth(f, 10000);
    assert_full(&bt, "the embedded store holds at most 10000 tables");
    ms_bt_table_call call = admin_call_of(f);
    bt = admin_call(f, &call, ms_bt_client_list_tables);
    assert_bt(&bt, MS_BT_OK);
    assert_int_equal(call.name_count, 10000);
    assert_str_equal(call.names[9999], "t09999");
    ms_bt_table_call_release(&call);
    /* Those that are there can change, and go. */
    f->table.table = ms_str_lit("t05000");
    add_family(f, "f");
    call = admin_call_of(f);
    bt = admin_call(f, &call, ms_bt_client_drop_table);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table_call_release(&call);
    bt = create_nth(f, 10000);
    assert_bt(&bt, MS_BT_OK);
}

static void store_holds_ten_thousand_profiles(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    filling to = begin_filling(f);
    put_profiles(&to, 0, 9999);
    assert_int_equal(end_filling(f, &to).code, MS_OK);
    ms_bt_status bt = profile_nth(f, 9999, ms_bt_client_create_profile);
    assert_bt(&bt, MS_BT_OK);
    bt = profile_nth(f, 10000, ms_bt_client_create_profile);
    assert_full(&bt, "the embedded store holds at most 10000 app profiles");
    bt = profile_nth(f, 5000, ms_bt_client_update_profile);
    assert_bt(&bt, MS_BT_OK);
    bt = profile_nth(f, 5000, ms_bt_client_delete_profile);
    assert_bt(&bt, MS_BT_OK);
    bt = profile_nth(f, 10000, ms_bt_client_create_profile);
    assert_bt(&bt, MS_BT_OK);
}

static void store_holds_a_thousand_instances(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    char text[16];
    filling to = begin_filling(f);
    put_instances(&to, 0, 999);
    assert_int_equal(end_filling(f, &to).code, MS_OK);
    ms_bt_instance instance = nth_instance(999, text);
    ms_bt_status bt = instance_call(f, &instance, &one_cluster, ms_bt_store_create_instance);
    assert_bt(&bt, MS_BT_OK);
    instance = nth_instance(1000, text);
    bt = instance_call(f, &instance, &one_cluster, ms_bt_store_create_instance);
    assert_full(&bt, "the embedded store holds at most 1000 instances");
    instance = nth_instance(500, text);
    bt = instance_call(f, &instance, &one_cluster, ms_bt_store_delete_instance);
    assert_bt(&bt, MS_BT_OK);
    bt = instance_call(f, &instance, &one_cluster, ms_bt_store_create_instance);
    assert_bt(&bt, MS_BT_OK);
}

static void catalog_of_more_is_refused(void **state)
{
    static const struct {
        void (*put)(filling *, uint32_t, uint32_t);
        uint32_t count;
        const char *text;
    } cases[] = {
        {put_tables, 10001, "the embedded store has more than 10000 tables"},
        {put_profiles, 10001, "the embedded store has more than 10000 app profiles"},
        {put_instances, 1001, "the embedded store has more than 1000 instances"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture f;
        fixture_init(&f, MS_BT_SYNC_CHECKPOINT);
        filling to = begin_filling(&f);
        cases[i].put(&to, 0, cases[i].count);
        ms_status st = end_filling(&f, &to);
        assert_int_equal(st.code, MS_CORRUPT_DATA);
        assert_string_equal(st.message, cases[i].text);
        fixture_release(&f);
    }
}

/* What an instance and a table hold. */

static void instance_has_clusters_labels_and_texts_up_to_a_limit(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    char texts[65][16];
    char long_text[1026];
    ms_bt_cluster clusters[65];
    ms_bt_label labels[65];
    memset(long_text, 'x', sizeof(long_text));
    for (uint32_t i = 0; i < 65; i++) {
        clusters[i] = (ms_bt_cluster){.id = nth_name(i, texts[i]).table};
        labels[i] = (ms_bt_label){clusters[i].id, ms_str_make(long_text, 1024)};
    }
    ms_bt_instance most = {.project = ms_str_lit("p"),
                           .id = ms_str_lit("most"),
                           .display_name = ms_str_make(long_text, 1024),
                           .labels = labels,
                           .label_count = 64,
                           .clusters = clusters,
                           .cluster_count = 64};
    const char *many = "An instance has at most 64 labels and 64 clusters";
    ms_bt_status bt = instance_call(f, &most, &one_cluster, ms_bt_store_create_instance);
    assert_bt(&bt, MS_BT_OK);
    bt = instance_call(f, &most, &clusters[64], ms_bt_store_create_cluster);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, many);
    most.id = ms_str_lit("more");
    most.cluster_count = 65;
    bt = instance_call(f, &most, &one_cluster, ms_bt_store_create_instance);
    assert_string_equal(bt.text, many);
    most.cluster_count = 1;
    most.label_count = 65;
    bt = instance_call(f, &most, &one_cluster, ms_bt_store_create_instance);
    assert_string_equal(bt.text, many);
    most.label_count = 64;
    labels[63].value = ms_str_make(long_text, 1025);
    bt = instance_call(f, &most, &one_cluster, ms_bt_store_create_instance);
    assert_string_equal(bt.text, "Error in field 'labels' : 1025 bytes; limit 1024");
    labels[63].value = ms_str_lit("");
    most.display_name = ms_str_make(long_text, 1025);
    bt = instance_call(f, &most, &one_cluster, ms_bt_store_create_instance);
    assert_string_equal(bt.text, "Error in field 'display_name' : 1025 bytes; limit 1024");
    most.display_name = ms_str_lit("");
    clusters[0].location = ms_str_make(long_text, 1025);
    bt = instance_call(f, &most, &one_cluster, ms_bt_store_create_instance);
    assert_string_equal(bt.text, "Error in field 'location' : 1025 bytes; limit 1024");
}

static void table_grows_to_a_thousand_families(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_bt_family *families = calloc(1000, sizeof(*families));
    char(*texts)[16] = calloc(1000, sizeof(*texts));
    for (uint32_t i = 0; i < 1000; i++) {
        families[i].name = nth_name(i, texts[i]).table;
    }
    create_table_of(f, families, 999, 0);
    add_family_of(f, &families[999]);
    ms_bt_family more = {.name = ms_str_lit("more")};
    ms_bt_table_call call = admin_call_of(f);
    call.families = &more;
    call.family_count = 1;
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_add_families);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Error in field 'column_families' : 1001 families; limit 1000");
    ms_bt_table_call_release(&call);
    free(texts);
    free(families);
}

static void table_is_cut_into_ten_thousand_and_one_tablets(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_str *splits = calloc(10000, sizeof(*splits));
    char(*texts)[16] = calloc(10000, sizeof(*texts));
    for (uint32_t i = 0; i < 10000; i++) {
        splits[i] = nth_name(i, texts[i]).table;
    }
    ms_bt_table table = {.name = f->table, .splits = splits, .split_count = 10000};
    ms_bt_table_call call = admin_call_of(f);
    call.table = &table;
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_create_table);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table_call_release(&call);
    bt = call_with_key(f, "a", ms_bt_client_split_tablet);
    assert_full(&bt, "A table has at most 10001 tablets");
    merge(f, "t00000");
    split(f, "a");
    free(texts);
    free(splits);
}

/* What waits. */

static void a_million_mutations_may_wait(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    static const char *const families[] = {"f"};
    create_table(f, families, 1);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 64u << 20);
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("k"), &st));
    for (int i = 0; i < 100000; i++) {
        assert_ok(ms_bt_mutation_batch_delete_row(&batch, &st));
    }
    ms_bt_mutation_batch_end_row(&batch);
    held_pool held;
    pool_hold(f, &held);
    /* One that keeps nothing back. */
    ms_bt_client_options open = {.in_flight_mutations_max = 2000000};
    ms_bt_client *client = ms_bt_client_create(ms_bt_store_transport(f->store), &open);
    ms_bt_mutate_rows calls[11];
    for (int i = 0; i < 11; i++) {
        ms_bt_mutate_rows_init(&calls[i], &f->mailbox, done_nothing, NULL);
        calls[i].table = &f->table;
        calls[i].batch = &batch;
        ms_bt_client_mutate_rows(client, &calls[i]);
    }
    /* The last one is told while all others wait. */
    ms_bt_call_wait(&calls[10].call, &f->parker);
    assert_full(&calls[10].call.status,
                "You have reached the limit of total mutations in your queue. Throttle your usage "
                "and wait for operations to finish.");
    for (int i = 0; i < 10; i++) {
        assert_true(ms_bt_call_is_outstanding(&calls[i].call));
    }
    pool_let_go(&held);
    for (int i = 0; i < 11; i++) {
        if (i < 10) {
            ms_bt_call_wait(&calls[i].call, &f->parker);
            assert_bt(&calls[i].call.status, MS_BT_OK);
        }
        ms_bt_mutate_rows_release(&calls[i]);
    }
    ms_bt_client_destroy(client);
    ms_bt_mutation_batch_release(&batch);
    sem_destroy(&held.gate);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, timed_setup, timed_teardown)
    const struct CMUnitTest tests[] = {
        TEST(store_holds_ten_thousand_tables),
        TEST(store_holds_ten_thousand_profiles),
        TEST(store_holds_a_thousand_instances),
        cmocka_unit_test(catalog_of_more_is_refused),
        TEST(instance_has_clusters_labels_and_texts_up_to_a_limit),
        TEST(table_grows_to_a_thousand_families),
        TEST(table_is_cut_into_ten_thousand_and_one_tablets),
        TEST(a_million_mutations_may_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
