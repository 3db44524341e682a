/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of value tables: against a naive map with cuts while changing, restore, damage, budgets. */
#include "testing.h"

#include "base/env.h"
#include "os/thread.h"
#include "state/state.h"
#include "type/hash.h"

typedef struct fixture {
    ms_arena arena;
    ms_account account;
    ms_schema schema;
    ms_status st;
} fixture;

static void fixture_init(fixture *f)
{
    *f = (fixture){0};
    ms_arena_init(&f->arena, 0);
    ms_account_init(&f->account, NULL, "state", "millstream.state.memory", MS_ACCOUNT_UNLIMITED);
    ms_field *columns = ms_arena_array(&f->arena, ms_field, 1);
    columns[0] = (ms_field){ms_str_lit("a"), ms_type_string(&f->arena, true)};
    f->schema = (ms_schema){1, columns};
}

static void fixture_release(fixture *f)
{
    assert_int_equal(ms_account_used_bytes(&f->account), 0);
    ms_account_release(&f->account);
    ms_arena_release(&f->arena);
}

static ms_value_table *open_table(fixture *f, ms_state *state)
{
    ms_status st = {0};
    ms_value_table *table = NULL;
    assert_ok(ms_state_value_table(state, ms_str_lit("t"), &f->schema, &table, &st));
    return table;
}

/* ---- The naive map ---- */

#define KEYS 200u

/* The row of a key, or absent. */
typedef struct model {
    bool is_present[KEYS];
    char rows[KEYS][24];
    uint32_t bytes[KEYS];
} model;

static ms_str key_of(uint32_t k, char *text)
{
    int bytes = snprintf(text, 32, k % 3 == 0 ? "%u" : "a key with some length %u", k);
    return ms_str_make(text, (size_t)bytes);
}

static uint32_t group_of(uint32_t k)
{
    return (k * 7) % MS_KEY_GROUPS;
}

static void change(ms_env_random *random, ms_value_table *table, model *m, uint32_t changes)
{
    ms_status st = {0};
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t k = (uint32_t)ms_env_random_below(random, KEYS);
        char text[32];
        ms_str key = key_of(k, text);
        if (ms_env_random_below(random, 3) == 0) {
            ms_value_table_delete(table, group_of(k), key);
            m->is_present[k] = false;
            continue;
        }
        m->is_present[k] = true;
        m->bytes[k] = (uint32_t)ms_env_random_below(random, sizeof(m->rows[k]) + 1);
        memset(m->rows[k], (int)ms_env_random_below(random, 256), m->bytes[k]);
        assert_ok(
            ms_value_table_put(table, group_of(k), key, ms_str_make(m->rows[k], m->bytes[k]), &st));
    }
}

static void expect_equal(ms_value_table *table, const ms_state *state, const model *m,
                         uint32_t first, uint32_t end)
{
    uint64_t count = 0;
    for (uint32_t k = 0; k < KEYS; k++) {
        if (group_of(k) < first || group_of(k) >= end) {
            continue;
        }
        char text[32];
        ms_str row = ms_value_table_get(table, group_of(k), key_of(k, text));
        assert_int_equal(row.ptr != NULL, m->is_present[k]);
        if (m->is_present[k]) {
            count++;
            assert_int_equal(row.bytes, m->bytes[k]);
            assert_memory_equal(row.ptr, m->rows[k], row.bytes);
        }
    }
    assert_int_equal(ms_state_entries(state), count);
}

/* ---- The property ---- */

typedef struct writing {
    ms_state *state;
    uint64_t checkpoint;
    bool full;
    ms_buf *out;
    ms_status st;
} writing;

static void write_in_thread(void *arg)
{
    writing *w = arg;
    ms_rc rc = ms_state_write(w->state, w->checkpoint, w->full, w->out, &w->st);
    assert_int_equal(rc, MS_OK);
}

static void restore_and_compare(fixture *f, ms_str log, const model *m, uint32_t first,
                                uint32_t end)
{
    ms_status st = {0};
    ms_state *state = ms_state_create(&f->account, first, end);
    assert_ok(ms_state_restore(state, log, &st));
    expect_equal(open_table(f, state), state, m, first, end);
    ms_state_destroy(state);
}

static void run_history(fixture *f, uint64_t seed)
{
    ms_status st = {0};
    ms_env_random random;
    ms_env_random_init(&random, seed);
    ms_state *state = ms_state_create(&f->account, 0, MS_KEY_GROUPS);
    ms_value_table *table = open_table(f, state);
    model m = {0};
    ms_buf log;
    ms_buf_init(&log, 1u << 26);
    bool needs_full = true;
    for (uint64_t checkpoint = 1; checkpoint <= 12; checkpoint++) {
        change(&random, table, &m, (uint32_t)ms_env_random_below(&random, 150));
        ms_state_cut(state, checkpoint);
        model at_cut = m;
        /* The cut is written by another thread while the table goes on changing. */
        bool full = needs_full || ms_env_random_below(&random, 4) == 0;
        ms_buf out;
        ms_buf_init(&out, 1u << 26);
        writing w = {.state = state, .checkpoint = checkpoint, .full = full, .out = &out};
        ms_thread thread;
        assert_ok(ms_thread_start(&thread, "writer", write_in_thread, &w, &st));
        change(&random, table, &m, 100);
        expect_equal(table, state, &m, 0, MS_KEY_GROUPS);
        ms_thread_join(&thread);
        ms_state_release_cut(state, checkpoint);
        bool is_given_up = ms_env_random_below(&random, 5) == 0;
        needs_full = is_given_up;
        if (!is_given_up) {
            if (full) {
                ms_buf_reset(&log);
            }
            assert_ok(ms_buf_append(&log, ms_buf_view(&out), &st));
            restore_and_compare(f, ms_buf_view(&log), &at_cut, 0, MS_KEY_GROUPS);
            restore_and_compare(f, ms_buf_view(&log), &at_cut, 0, 50);
            restore_and_compare(f, ms_buf_view(&log), &at_cut, 50, MS_KEY_GROUPS);
        }
        ms_buf_release(&out);
    }
    ms_buf_release(&log);
    ms_state_destroy(state);
}

static void agrees_with_a_naive_map_while_cuts_are_written(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        run_history(&f, seed);
    }
    fixture_release(&f);
}

static void two_cuts_stand_side_by_side(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_env_random random;
    ms_env_random_init(&random, 7);
    ms_state *s = ms_state_create(&f.account, 0, MS_KEY_GROUPS);
    ms_value_table *table = open_table(&f, s);
    model first = {0};
    change(&random, table, &first, 300);
    ms_state_cut(s, 1);
    model second = first;
    change(&random, table, &second, 300);
    ms_state_cut(s, 2);
    model now = second;
    change(&random, table, &now, 300);
    ms_buf out;
    ms_buf_init(&out, 1u << 26);
    assert_ok(ms_state_write(s, 1, true, &out, &st));
    restore_and_compare(&f, ms_buf_view(&out), &first, 0, MS_KEY_GROUPS);
    assert_ok(ms_state_write(s, 2, false, &out, &st));
    restore_and_compare(&f, ms_buf_view(&out), &second, 0, MS_KEY_GROUPS);
    ms_state_release_cut(s, 1);
    expect_equal(table, s, &now, 0, MS_KEY_GROUPS);
    ms_buf_release(&out);
    ms_state_destroy(s);
    fixture_release(&f);
}

static void restored_entries_that_are_deleted_are_written_as_deleted(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_env_random random;
    ms_env_random_init(&random, 3);
    model m = {0};
    ms_state *s = ms_state_create(&f.account, 0, MS_KEY_GROUPS);
    change(&random, open_table(&f, s), &m, 300);
    ms_state_cut(s, 1);
    ms_buf log;
    ms_buf_init(&log, 1u << 26);
    assert_ok(ms_state_write(s, 1, true, &log, &st));
    ms_state_destroy(s);

    s = ms_state_create(&f.account, 0, MS_KEY_GROUPS);
    assert_ok(ms_state_restore(s, ms_buf_view(&log), &st));
    change(&random, open_table(&f, s), &m, 300);
    ms_state_cut(s, 2);
    assert_ok(ms_state_write(s, 2, false, &log, &st));
    restore_and_compare(&f, ms_buf_view(&log), &m, 0, MS_KEY_GROUPS);
    ms_state_destroy(s);
    ms_buf_release(&log);
    fixture_release(&f);
}

/* ---- The rest ---- */

static void an_absent_key_is_told_from_an_empty_row(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_state *s = ms_state_create(&f.account, 0, 1);
    ms_value_table *table = open_table(&f, s);
    assert_null(ms_value_table_get(table, 0, (ms_str){0}).ptr);
    assert_ok(ms_value_table_put(table, 0, (ms_str){0}, (ms_str){0}, &st));
    ms_str row = ms_value_table_get(table, 0, (ms_str){0});
    assert_non_null(row.ptr);
    assert_int_equal(row.bytes, 0);
    ms_value_table_delete(table, 0, (ms_str){0});
    assert_null(ms_value_table_get(table, 0, (ms_str){0}).ptr);
    assert_int_equal(ms_state_entries(s), 0);
    ms_state_destroy(s);
    fixture_release(&f);
}

static void a_table_of_another_schema_is_refused_by_name(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_state *s = ms_state_create(&f.account, 0, 1);
    assert_ok(ms_value_table_put(open_table(&f, s), 0, ms_str_lit("k"), ms_str_lit("v"), &st));
    ms_state_cut(s, 1);
    ms_buf log;
    ms_buf_init(&log, 1u << 20);
    assert_ok(ms_state_write(s, 1, true, &log, &st));
    ms_state_destroy(s);

    ms_field column = {ms_str_lit("a"), ms_type_simple(&f.arena, MS_TYPE_BIGINT, true)};
    ms_schema other = {1, &column};
    ms_value_table *table = NULL;
    s = ms_state_create(&f.account, 0, 1);
    assert_ok(ms_state_restore(s, ms_buf_view(&log), &st));
    assert_int_equal(ms_state_value_table(s, ms_str_lit("t"), &other, &table, &st),
                     MS_PLAN_MISMATCH);
    assert_non_null(strstr(st.message, "\"t\""));
    assert_null(table);
    ms_state_destroy(s);

    /* The other way round: the table is there first. */
    ms_status_clear(&st);
    s = ms_state_create(&f.account, 0, 1);
    assert_ok(ms_state_value_table(s, ms_str_lit("t"), &other, &table, &st));
    assert_int_equal(ms_state_restore(s, ms_buf_view(&log), &st), MS_PLAN_MISMATCH);
    ms_state_destroy(s);
    ms_buf_release(&log);
    fixture_release(&f);
}

static void a_damaged_log_is_refused_whatever_byte_is_wrong(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_state *s = ms_state_create(&f.account, 0, 4);
    ms_value_table *table = open_table(&f, s);
    for (uint32_t k = 0; k < 4; k++) {
        assert_ok(ms_value_table_put(table, k, ms_str_lit("key"), ms_str_lit("a row"), &st));
    }
    ms_state_cut(s, 1);
    ms_buf log;
    ms_buf_init(&log, 1u << 20);
    assert_ok(ms_state_write(s, 1, true, &log, &st));
    ms_state_destroy(s);
    /* Of the head only magic and version are checked: 4 + 2 bytes; flag and id are for people. */
    for (size_t i = 0; i < log.bytes; i++) {
        if (i >= 6 && i < 15) {
            continue;
        }
        log.ptr[i] ^= 0x20;
        s = ms_state_create(&f.account, 0, 4);
        ms_status_clear(&st);
        assert_int_not_equal(ms_state_restore(s, ms_buf_view(&log), &st), MS_OK);
        ms_state_destroy(s);
        log.ptr[i] ^= 0x20;
    }
    for (size_t bytes = 1; bytes < log.bytes; bytes++) {
        s = ms_state_create(&f.account, 0, 4);
        ms_status_clear(&st);
        assert_int_not_equal(ms_state_restore(s, ms_str_make(log.ptr, bytes), &st), MS_OK);
        ms_state_destroy(s);
    }
    ms_buf_release(&log);
    fixture_release(&f);
}

static void beyond_the_budget_a_put_fails_and_a_delete_does_not(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_account_set_limit(&f.account, 16384);
    ms_state *s = ms_state_create(&f.account, 0, 1);
    ms_value_table *table = open_table(&f, s);
    uint32_t count = 0;
    char key[32];
    while (ms_value_table_put(table, 0, ms_str_make(key, (size_t)snprintf(key, 32, "%u", count)),
                              ms_str_lit("twenty bytes of row."), &st) == MS_OK) {
        count++;
    }
    assert_int_equal(st.code, MS_NO_MEMORY);
    assert_non_null(strstr(st.message, "state"));
    assert_in_range(count, 50, 400);
    assert_int_equal(ms_state_entries(s), count);
    /* A cut holds everything: deleting takes memory, and must not fail. */
    ms_state_cut(s, 1);
    for (uint32_t i = 0; i < count; i++) {
        ms_value_table_delete(table, 0, ms_str_make(key, (size_t)snprintf(key, 32, "%u", i)));
    }
    assert_int_equal(ms_state_entries(s), 0);
    ms_status_clear(&st);
    assert_int_equal(ms_value_table_put(table, 0, ms_str_lit("k"), ms_str_lit("v"), &st),
                     MS_NO_MEMORY);
    ms_state_release_cut(s, 1);
    ms_status_clear(&st);
    assert_ok(ms_value_table_put(table, 0, ms_str_lit("k"), ms_str_lit("v"), &st));
    ms_state_destroy(s);
    fixture_release(&f);
}

static void every_failing_allocation_leaves_the_state_whole(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    for (uint32_t n = 1; n < 60; n++) {
        ms_state *s = ms_state_create(&f.account, 0, 1);
        ms_value_table *table = open_table(&f, s);
        char spec[64];
        snprintf(spec, sizeof(spec), "memory.try:%u:fail", n);
        assert_ok(ms_env_faults_set(ms_str_cstr(spec), &st));
        uint32_t done = 0;
        for (uint32_t i = 0; i < 30; i++) {
            char key[32];
            ms_status ignored = {0};
            ms_str name = ms_str_make(key, (size_t)snprintf(key, 32, "%u", i));
            done += ms_value_table_put(table, 0, name, name, &ignored) == MS_OK ? 1 : 0;
        }
        assert_int_equal(ms_state_entries(s), done);
        assert_ok(ms_env_faults_set((ms_str){0}, &st));
        ms_state_destroy(s);
    }
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_naive_map_while_cuts_are_written),
        cmocka_unit_test(two_cuts_stand_side_by_side),
        cmocka_unit_test(restored_entries_that_are_deleted_are_written_as_deleted),
        cmocka_unit_test(an_absent_key_is_told_from_an_empty_row),
        cmocka_unit_test(a_table_of_another_schema_is_refused_by_name),
        cmocka_unit_test(a_damaged_log_is_refused_whatever_byte_is_wrong),
        cmocka_unit_test(beyond_the_budget_a_put_fails_and_a_delete_does_not),
        cmocka_unit_test(every_failing_allocation_leaves_the_state_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
