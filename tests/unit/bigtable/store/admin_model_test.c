/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random administration against a naive model: tables, families, rules of garbage collection,
 * tablets, streams, protection, dropped rows, app profiles, over restarts. The model is arrays that
 * are looked through; the store must answer with the same code, and hold the same tables and cells,
 * after every step. The seed is printed by a failure; MS_SEED repeats it.
 */
#include "change_testing.h"

#define TABLES 3
#define FAMILIES 4
#define ROWS 8
#define TIMES 4
#define KEYS 8 /* at which tablets begin */
#define PROFILES 3
#define STEPS 1500

typedef struct model_family {
    bool exists;
    int versions; /* 0: no rule */
} model_family;

typedef struct model_table {
    bool exists;
    bool is_protected;
    int retention_days;
    bool splits[KEYS];
    model_family families[FAMILIES];
    bool cells[ROWS][FAMILIES][TIMES];
} model_table;

typedef struct model {
    timed *t;
    ms_env_random random;
    model_table tables[TABLES];
    bool profiles[PROFILES];
    int step;
} model;

static int below(model *m, int bound)
{
    return (int)ms_env_random_below(&m->random, (uint64_t)bound);
}

static const char *const table_names[TABLES] = {"t0", "t1", "t2"};
static const char *const family_names[FAMILIES] = {"a", "b", "c", "d"};
static const char *const row_keys[ROWS] = {"a", "aa", "ab", "b", "ba", "c", "ca", "d"};
static const char *const split_keys[KEYS] = {"a", "aa", "ab", "b", "bb", "c", "cc", "e"};
static const char *const profile_names[PROFILES] = {"p0", "p1", "p2"};

static bool any_profile(const model *m)
{
    bool any = false;
    for (int i = 0; i < PROFILES; i++) {
        any = any || m->profiles[i];
    }
    return any;
}

static bool has_instance(const model *m)
{
    bool any = any_profile(m);
    for (int i = 0; i < TABLES; i++) {
        any = any || m->tables[i].exists;
    }
    return any;
}

static void assert_code(model *m, const ms_bt_status *bt, ms_bt_code expected, const char *what)
{
    if (bt->code != expected) {
        fail_msg("step %d, %s: %s (%s) instead of %s", m->step, what, ms_bt_code_name(bt->code),
                 bt->text, ms_bt_code_name(expected));
    }
}

/* Steps: each does one thing to both. */

static void create_table_step(model *m, model_table *table)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_family families[FAMILIES] = {0};
    model_table fresh = {.exists = true};
    size_t count = 0;
    ms_str splits[KEYS];
    size_t split_count = 0;
    for (int i = 0; i < FAMILIES; i++) {
        if (below(m, 2) == 0) {
            fresh.families[i] = (model_family){true, below(m, 3)};
            families[count].name = ms_str_cstr(family_names[i]);
            families[count++].gc_rule =
                fresh.families[i].versions == 0
                    ? NULL
                    : ms_bt_gc_rule_max_versions(&arena, fresh.families[i].versions);
        }
    }
    for (int i = 0; i < KEYS; i++) {
        if (below(m, 4) == 0) {
            fresh.splits[i] = true;
            splits[split_count++] = ms_str_cstr(split_keys[i]);
        }
    }
    fresh.retention_days = below(m, 3);
    ms_bt_table def = {.name = m->t->f.table,
                       .families = families,
                       .family_count = count,
                       .splits = splits,
                       .split_count = split_count,
                       .change_retention_micros = fresh.retention_days * DAY_MICROS};
    ms_bt_table_call call = admin_call_of(&m->t->f);
    call.table = &def;
    ms_bt_status bt = admin_call(&m->t->f, &call, ms_bt_client_create_table);
    assert_code(m, &bt, table->exists ? MS_BT_ALREADY_EXISTS : MS_BT_OK, "create");
    if (!table->exists) {
        *table = fresh;
    }
    ms_bt_table_call_release(&call);
    ms_arena_release(&arena);
}

static void drop_table_step(model *m, model_table *table)
{
    ms_bt_status bt = call_with_key(&m->t->f, "", ms_bt_client_drop_table);
    assert_code(m, &bt,
                !table->exists        ? MS_BT_NOT_FOUND
                : table->is_protected ? MS_BT_FAILED_PRECONDITION
                                      : MS_BT_OK,
                "drop");
    if (table->exists && !table->is_protected) {
        *table = (model_table){0};
    }
}

/* Applies one change to a copy of the model's families; what it comes to. */
static ms_bt_code modify_model(model_table *table, ms_bt_family_change_kind kind, int family,
                               int versions)
{
    model_family *at = &table->families[family];
    if (kind == MS_BT_FAMILY_CREATE) {
        if (at->exists) {
            return MS_BT_ALREADY_EXISTS;
        }
        *at = (model_family){true, versions};
        return MS_BT_OK;
    }
    if (!at->exists) {
        return MS_BT_NOT_FOUND;
    }
    if (kind == MS_BT_FAMILY_UPDATE) {
        at->versions = versions;
        return MS_BT_OK;
    }
    if (table->is_protected) {
        return MS_BT_FAILED_PRECONDITION;
    }
    *at = (model_family){0};
    for (int row = 0; row < ROWS; row++) {
        memset(table->cells[row][family], 0, sizeof(table->cells[row][family]));
    }
    return MS_BT_OK;
}

static void modify_step(model *m, model_table *table)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_family_change changes[4] = {0};
    size_t count = 1 + (size_t)below(m, 4);
    model_table after = *table;
    ms_bt_code expected = table->exists ? MS_BT_OK : MS_BT_NOT_FOUND;
    for (size_t i = 0; i < count; i++) {
        int family = below(m, FAMILIES);
        int versions = below(m, 3);
        changes[i].kind = (ms_bt_family_change_kind)below(m, 3);
        changes[i].family.name = ms_str_cstr(family_names[family]);
        changes[i].family.gc_rule =
            versions == 0 ? NULL : ms_bt_gc_rule_max_versions(&arena, versions);
        if (expected == MS_BT_OK) {
            expected = modify_model(&after, changes[i].kind, family, versions);
        }
    }
    ms_bt_table_call call = admin_call_of(&m->t->f);
    call.changes = changes;
    call.change_count = count;
    ms_bt_status bt = admin_call(&m->t->f, &call, ms_bt_client_modify_families);
    assert_code(m, &bt, expected, "modify");
    if (expected == MS_BT_OK) {
        *table = after;
    }
    ms_bt_table_call_release(&call);
    ms_arena_release(&arena);
}

static void update_step(model *m, model_table *table)
{
    uint32_t mask = 1 + (uint32_t)below(m, 3);
    int days = below(m, 4);
    bool is_protected = below(m, 3) == 0;
    ms_bt_table def = {.change_retention_micros = days * DAY_MICROS, .is_protected = is_protected};
    ms_bt_table_call call = admin_call_of(&m->t->f);
    call.table = &def;
    call.update_mask = mask;
    ms_bt_status bt = admin_call(&m->t->f, &call, ms_bt_client_update_table);
    assert_code(m, &bt, table->exists ? MS_BT_OK : MS_BT_NOT_FOUND, "update");
    if (table->exists && (mask & MS_BT_UPDATE_CHANGE_STREAM) != 0) {
        table->retention_days = days;
    }
    if (table->exists && (mask & MS_BT_UPDATE_PROTECTION) != 0) {
        table->is_protected = is_protected;
    }
    ms_bt_table_call_release(&call);
}

static void tablet_step(model *m, model_table *table, bool splits)
{
    int key = below(m, KEYS);
    ms_bt_status bt = call_with_key(
        &m->t->f, split_keys[key], splits ? ms_bt_client_split_tablet : ms_bt_client_merge_tablets);
    bool can = table->splits[key] != splits;
    assert_code(m, &bt,
                !table->exists ? MS_BT_NOT_FOUND
                : can          ? MS_BT_OK
                               : MS_BT_FAILED_PRECONDITION,
                splits ? "split" : "merge");
    if (table->exists) {
        table->splits[key] = splits;
    }
}

static void write_step(model *m, model_table *table)
{
    int row = below(m, ROWS);
    int family = below(m, FAMILIES);
    int time = below(m, TIMES);
    ms_bt_status bt =
        set_cell(&m->t->f, row_keys[row], family_names[family], "q", time * 1000, "v");
    bool can = table->exists && table->families[family].exists;
    assert_code(m, &bt, can ? MS_BT_OK : MS_BT_NOT_FOUND, "write");
    if (can) {
        table->cells[row][family][time] = true;
    }
}

static void drop_rows_step(model *m, model_table *table)
{
    const char *prefix = below(m, 8) == 0 ? "" : split_keys[below(m, KEYS)];
    ms_bt_status bt = call_with_key(&m->t->f, prefix, ms_bt_client_drop_rows);
    assert_code(m, &bt, table->exists ? MS_BT_OK : MS_BT_NOT_FOUND, "drop rows");
    for (int row = 0; row < ROWS; row++) {
        if (strncmp(row_keys[row], prefix, strlen(prefix)) == 0) {
            memset(table->cells[row], 0, sizeof(table->cells[row]));
        }
    }
}

static void collect_step(model *m, model_table *table)
{
    uint64_t expected = 0;
    for (int row = 0; row < ROWS; row++) {
        for (int family = 0; family < FAMILIES; family++) {
            int versions = table->families[family].versions;
            int seen = 0;
            for (int time = TIMES - 1; time >= 0; time--) {
                bool *cell = &table->cells[row][family][time];
                seen += *cell;
                if (*cell && versions != 0 && seen > versions) {
                    *cell = false;
                    expected++;
                }
            }
        }
    }
    ms_bt_table_call call = admin_call_of(&m->t->f);
    ms_bt_status bt = admin_call(&m->t->f, &call, ms_bt_client_collect_garbage);
    assert_code(m, &bt, table->exists ? MS_BT_OK : MS_BT_NOT_FOUND, "collect");
    assert_int_equal(call.count, expected);
    ms_bt_table_call_release(&call);
}

static void profile_step(model *m)
{
    int index = below(m, PROFILES);
    bool creates = below(m, 2) == 0;
    ms_bt_profile_call call;
    ms_bt_profile_call_init(&call, &m->t->f.mailbox, done_nothing, NULL);
    call.profile = (ms_bt_profile){.project = m->t->f.table.project,
                                   .instance = m->t->f.table.instance,
                                   .id = ms_str_cstr(profile_names[index]),
                                   .routing = MS_BT_ROUTING_SINGLE_CLUSTER,
                                   .cluster = ms_str_lit(MS_BT_LOCAL_CLUSTER)};
    if (creates) {
        ms_bt_client_create_profile(m->t->f.client, &call);
    } else {
        ms_bt_client_delete_profile(m->t->f.client, &call);
    }
    ms_bt_call_wait(&call.call, &m->t->f.parker);
    ms_bt_code wrong = creates ? MS_BT_ALREADY_EXISTS : MS_BT_NOT_FOUND;
    assert_code(m, &call.call.status, m->profiles[index] == creates ? wrong : MS_BT_OK, "profile");
    m->profiles[index] = creates;
    ms_bt_profile_call_release(&call);
}

/* Comparing. */

static void expect_table(const model_table *table, ms_buf *out)
{
    for (int i = 0; i < FAMILIES; i++) {
        if (table->families[i].exists) {
            append_format(out, "%s:%d ", family_names[i], table->families[i].versions);
        }
    }
    for (int i = 0; i < KEYS; i++) {
        if (table->splits[i]) {
            append_format(out, "|%s", split_keys[i]);
        }
    }
    append_format(out, " %d%s", table->retention_days, table->is_protected ? " protected" : "");
}

static void append_table(const ms_bt_table *table, ms_buf *out)
{
    for (size_t i = 0; i < table->family_count; i++) {
        const ms_bt_gc_rule *rule = table->families[i].gc_rule;
        append_format(out, "%.*s:%d ", MS_STR_ARG(table->families[i].name),
                      rule == NULL ? 0 : rule->max_versions);
    }
    for (size_t i = 0; i < table->split_count; i++) {
        append_format(out, "|%.*s", MS_STR_ARG(table->splits[i]));
    }
    append_format(out, " %d%s", (int)(table->change_retention_micros / DAY_MICROS),
                  table->is_protected ? " protected" : "");
}

static void assert_same(model *m, const ms_buf *expected, const ms_buf *found, const char *what)
{
    if (!ms_str_equals(ms_buf_view(expected), ms_buf_view(found))) {
        fail_msg("step %d, %s: \"%.*s\" instead of \"%.*s\"", m->step, what,
                 MS_STR_ARG(ms_buf_view(found)), MS_STR_ARG(ms_buf_view(expected)));
    }
}

static void expect_rows(const model_table *table, ms_buf *out)
{
    for (int row = 0; row < ROWS; row++) {
        bool is_first = true;
        for (int family = 0; family < FAMILIES; family++) {
            for (int time = TIMES - 1; time >= 0; time--) {
                if (table->cells[row][family][time]) {
                    append_format(out, "%s%s%s:q@%d=v", is_first ? row_keys[row] : "",
                                  is_first ? "{" : ",", family_names[family], time * 1000);
                    is_first = false;
                }
            }
        }
        append_format(out, "%s", is_first ? "" : "}");
    }
}

static void compare_table(model *m, const model_table *table)
{
    ms_buf expected;
    ms_buf found;
    ms_buf_init(&expected, 1u << 16);
    ms_buf_init(&found, 1u << 16);
    ms_bt_table_call call = admin_call_of(&m->t->f);
    ms_bt_status bt = admin_call(&m->t->f, &call, ms_bt_client_get_table);
    assert_code(m, &bt, table->exists ? MS_BT_OK : MS_BT_NOT_FOUND, "get");
    if (table->exists) {
        expect_table(table, &expected);
        append_table(call.table, &found);
        assert_same(m, &expected, &found, "table");
        ms_buf_reset(&expected);
        ms_buf_reset(&found);
        expect_rows(table, &expected);
        ms_bt_read_options options = {.table = m->t->f.table};
        bt = read_text(&m->t->f, &options, &found);
        assert_code(m, &bt, MS_BT_OK, "read");
        assert_same(m, &expected, &found, "rows");
    }
    ms_bt_table_call_release(&call);
    ms_buf_release(&expected);
    ms_buf_release(&found);
}

static void compare_lists(model *m)
{
    ms_bt_table_call call = admin_call_of(&m->t->f);
    ms_bt_status bt = admin_call(&m->t->f, &call, ms_bt_client_list_tables);
    assert_code(m, &bt, has_instance(m) ? MS_BT_OK : MS_BT_NOT_FOUND, "list");
    size_t at = 0;
    for (int i = 0; i < TABLES; i++) {
        if (m->tables[i].exists) {
            assert_true(at < call.name_count);
            assert_str_equal(call.names[at++], table_names[i]);
        }
    }
    assert_int_equal(at, call.name_count);
    ms_bt_table_call_release(&call);
}

static void take_step(model *m)
{
    int index = below(m, TABLES);
    model_table *table = &m->tables[index];
    m->t->f.table.table = ms_str_cstr(table_names[index]);
    int what = below(m, 40);
    if (what < 3) {
        create_table_step(m, table);
    } else if (what < 4) {
        drop_table_step(m, table);
    } else if (what < 8) {
        modify_step(m, table);
    } else if (what < 11) {
        update_step(m, table);
    } else if (what < 15) {
        tablet_step(m, table, what < 13);
    } else if (what < 33) {
        write_step(m, table);
    } else if (what < 35) {
        drop_rows_step(m, table);
    } else if (what < 37) {
        collect_step(m, table);
    } else if (what < 39) {
        profile_step(m);
    } else if (below(m, 4) == 0) {
        fixture_close(&m->t->f);
        fixture_open(&m->t->f);
    } else {
        ms_env_clock_advance_us(&m->t->clock, DAY_MICROS / 2);
        ms_bt_store_tick(m->t->f.store);
    }
    compare_table(m, table);
    compare_lists(m);
}

static void random_administration_agrees_with_the_model(void **state)
{
    model *m = calloc(1, sizeof(*m));
    m->t = *state;
    m->t->f.gc_period_ms = -1;
    fixture_close(&m->t->f);
    fixture_open(&m->t->f);
    uint64_t seed = ms_env_next_seed();
    print_message("seed %" PRIu64 "\n", seed);
    ms_env_random_init(&m->random, seed);
    for (m->step = 0; m->step < STEPS; m->step++) {
        take_step(m);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_administration_agrees_with_the_model, timed_setup,
                                        timed_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
