/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a table: what is taken, and how every other key and value is refused, for scans
 * and for sinks.
 */
#include "bt_testing.h"

#include "connector/bigtable/options.h"

typedef enum face_kind { SCAN, SINK, BOTH } face_kind;

static const struct {
    face_kind face;
    const char *key;
    const char *value;
    const char *key2;
    const char *value2;
    ms_rc code;
    const char *message;
} refused[] = {
    /* Misspelled. */
    {BOTH, "tabel", "x", NULL, NULL, MS_UNKNOWN_OPTION,
     "connector \"bigtable\" has no option \"tabel\""},
    {BOTH, "scan.row-prefixes", "x", NULL, NULL, MS_UNKNOWN_OPTION,
     "connector \"bigtable\" has no option \"scan.row-prefixes\""},
    {BOTH, "sink.conditional.predicate.x", "x", NULL, NULL, MS_UNKNOWN_OPTION,
     "connector \"bigtable\" has no option \"sink.conditional.predicate.x\""},
    {BOTH, "Sink.Write-Mode", "upsert", NULL, NULL, MS_UNKNOWN_OPTION,
     "connector \"bigtable\" has no option \"Sink.Write-Mode\""},
    /* Where the table is. */
    {BOTH, "emulator-endpoint", "localhost", NULL, NULL, MS_INVALID_OPTION,
     "option \"emulator-endpoint\" cannot be \"localhost\""},
    {BOTH, "emulator-endpoint", "localhost:0", NULL, NULL, MS_INVALID_OPTION,
     "option \"emulator-endpoint\" cannot be \"localhost:0\""},
    {BOTH, "emulator-endpoint", "localhost:8086", "service-account-key-file", "/x",
     MS_OPTION_CONFLICT,
     "an emulator takes no credentials, so 'service-account-key-file' cannot go with "
     "'emulator-endpoint'"},
    {BOTH, "service-account-key-file", " ", NULL, NULL, MS_INVALID_OPTION,
     "option \"service-account-key-file\" must not be blank"},
    /* Known and not built. */
    {BOTH, "lookup.cache", "NONE", NULL, NULL, MS_NOT_SUPPORTED,
     "option \"lookup.cache\" of connector \"bigtable\" is not supported yet"},
    {BOTH, "lookup.full-cache.timed-reload.iso-time", "x", NULL, NULL, MS_NOT_SUPPORTED,
     "option \"lookup.full-cache.timed-reload.iso-time\" of connector \"bigtable\" is not "
     "supported yet"},
    {BOTH, "sink.delivery-guarantee", "at-least-once", NULL, NULL, MS_NOT_SUPPORTED,
     "option \"sink.delivery-guarantee\" of connector \"bigtable\" is not supported yet"},
    {BOTH, "sink.batching.element-count-threshold", "1", NULL, NULL, MS_NOT_SUPPORTED,
     "option \"sink.batching.element-count-threshold\" of connector \"bigtable\" is not supported "
     "yet"},
    {BOTH, "sink.conditional.then.0.operation", "set-cell", NULL, NULL, MS_NOT_SUPPORTED,
     "option \"sink.conditional.then.0.operation\" of connector \"bigtable\" is not supported yet"},
    {BOTH, "sink.aggregate.column-family-types.cf", "int64-sum", NULL, NULL, MS_NOT_SUPPORTED,
     "option \"sink.aggregate.column-family-types.cf\" of connector \"bigtable\" is not supported "
     "yet"},
    {BOTH, "value.json.fail-on-missing-field", "true", NULL, NULL, MS_NOT_SUPPORTED,
     "option \"value.json.fail-on-missing-field\" of connector \"bigtable\" is not supported yet"},
    {BOTH, "sink.write-mode", "keep-latest", NULL, NULL, MS_NOT_SUPPORTED,
     "'sink.write-mode' = 'keep-latest' of connector \"bigtable\" is not supported yet"},
    {BOTH, "sink.write-mode", "Conditional", NULL, NULL, MS_NOT_SUPPORTED,
     "'sink.write-mode' = 'Conditional' of connector \"bigtable\" is not supported yet"},
    {SCAN, "scan.mode", "change-stream", NULL, NULL, MS_NOT_SUPPORTED,
     "'scan.mode' = 'change-stream' of connector \"bigtable\" is not supported yet"},
    {SINK, "value.format", "json", "scan.mode", "change-stream", MS_INVALID_QUERY,
     "table \"t\" reads a change stream ('scan.mode' = 'change-stream'), so it cannot be written"},
    /* Values. */
    {BOTH, "sink.write-mode", "insert", NULL, NULL, MS_INVALID_OPTION,
     "option \"sink.write-mode\" cannot be \"insert\""},
    {BOTH, "scan.mode", "changes", NULL, NULL, MS_INVALID_OPTION,
     "option \"scan.mode\" cannot be \"changes\""},
    {BOTH, "decode.trailing-bytes", "drop", NULL, NULL, MS_INVALID_OPTION,
     "option \"decode.trailing-bytes\" cannot be \"drop\""},
    {BOTH, "scan.row-key-encoding", "HEX", NULL, NULL, MS_INVALID_OPTION,
     "option \"scan.row-key-encoding\" cannot be \"HEX\""},
    {BOTH, "scan.parallelism", "0", NULL, NULL, MS_INVALID_OPTION,
     "option \"scan.parallelism\" cannot be \"0\": it must be from 1 to 128"},
    {BOTH, "sink.parallelism", "many", NULL, NULL, MS_INVALID_OPTION,
     "option \"sink.parallelism\" cannot be \"many\": it takes an integer"},
    {BOTH, "sink.create-disposition", "always", NULL, NULL, MS_INVALID_OPTION,
     "option \"sink.create-disposition\" cannot be \"always\""},
    {BOTH, "sink.table-create.gc-rule.max-versions", "0", NULL, NULL, MS_INVALID_OPTION,
     "option \"sink.table-create.gc-rule.max-versions\" cannot be \"0\": it must be from 1 to "
     "2147483647"},
    {BOTH, "sink.table-create.gc-rule.max-age", "soon", NULL, NULL, MS_INVALID_OPTION,
     "option \"sink.table-create.gc-rule.max-age\" cannot be \"soon\": it takes a duration such as "
     "\"500 ms\" or \"1 min\""},
    {BOTH, "sink.insert-only-input-mode", "append", NULL, NULL, MS_INVALID_OPTION,
     "option \"sink.insert-only-input-mode\" cannot be \"append\""},
    {BOTH, "project", " ", NULL, NULL, MS_INVALID_OPTION,
     "option \"project\" cannot be \" \": it must not be blank"},
    {BOTH, "instance", "a/b", NULL, NULL, MS_INVALID_OPTION,
     "option \"instance\" cannot be \"a/b\": it must not contain a \"/\""},
    {BOTH, "table", "a b", NULL, NULL, MS_INVALID_OPTION,
     "option \"table\" cannot be \"a b\": the service takes no such name"},
    {BOTH, "instance", "a b", NULL, NULL, MS_INVALID_OPTION,
     "option \"instance\" cannot be \"a b\": the service takes no such name"},
    {SCAN, "scan.row-prefix", "a;;b", NULL, NULL, MS_INVALID_OPTION,
     "option \"scan.row-prefix\", entry 2: a prefix cannot be empty"},
    {SCAN, "scan.row-ranges", "[b,a)", NULL, NULL, MS_INVALID_OPTION,
     "option \"scan.row-ranges\", entry 1: the start of a range is behind its end"},
    /* Together. */
    {SINK, "sink.create-disposition", "create-if-needed", NULL, NULL, MS_MISSING_OPTION,
     "'sink.create-disposition' = 'create-if-needed' needs a rule of garbage collection for the "
     "families that it creates"},
    {SINK, "sink.table-create.gc-rule.max-versions", "1", NULL, NULL, MS_OPTION_CONFLICT,
     "nothing is created, so that there is no use for 'sink.table-create.gc-rule.max-versions'"},
    {SINK, "sink.table-create.gc-rule.max-versions", "1", "sink.table-create.gc-rule.max-age",
     "1 d", MS_OPTION_CONFLICT,
     "nothing is created, so that there is no use for 'sink.table-create.gc-rule.max-versions', "
     "'sink.table-create.gc-rule.max-age'"},
    {SINK, "sink.create-disposition", "create-never", "sink.table-create.gc-rule.max-age", "1 d",
     MS_OPTION_CONFLICT,
     "nothing is created, so that there is no use for 'sink.table-create.gc-rule.max-age'"},
};

static void make_table(table_maker *m, ms_arena *arena)
{
    maker_init(m, arena);
    maker_column(m, "k", make_type(arena, "STRING"));
    maker_family(m, "cf", "q INT");
}

static ms_rc plan(table_maker *m, face_kind face, ms_status *st)
{
    ms_plan_env env = {.arena = m->arena, .is_streaming = true};
    const ms_connector *connector = &ms_connector_bigtable;
    if (face == SCAN) {
        ms_scan *scan = NULL;
        return connector->scan_create(connector, &m->table, &env, &scan, st);
    }
    ms_sink *sink = NULL;
    return connector->sink_create(connector, &m->table, &env, NULL, 0, &sink, st);
}

static void check_refused(size_t i, face_kind face)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    make_table(&m, &arena);
    maker_option(&m, refused[i].key, refused[i].value);
    if (refused[i].key2 != NULL) {
        maker_option(&m, refused[i].key2, refused[i].value2);
    }
    ms_status st = {0};
    ms_rc code = plan(&m, face, &st);
    if (code != refused[i].code || strcmp(st.message, refused[i].message) != 0) {
        fail_msg("%s = %s: %s: %s", refused[i].key, refused[i].value, ms_rc_name(code), st.message);
    }
    /* Every one has a place: an option that the user wrote. */
    assert_true(st.span.start == 1004 || st.span.start == 2004 || st.span.start == 2005);
    ms_arena_release(&arena);
}

static void wrong_options_are_refused_with_their_place(void **state)
{
    (void)state;
    assert_true(sizeof(refused) / sizeof(refused[0]) >= 30);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (refused[i].face != SINK) {
            check_refused(i, SCAN);
        }
        if (refused[i].face != SCAN) {
            check_refused(i, SINK);
        }
    }
}

static void a_misspelled_key_gets_the_nearest_as_hint(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    make_table(&m, &arena);
    maker_option(&m, "scan.row-prefx", "a");
    ms_status st = {0};
    assert_int_equal(plan(&m, SCAN, &st), MS_UNKNOWN_OPTION);
    assert_string_equal(st.hint, "Did you mean \"scan.row-prefix\"?");
    ms_arena_release(&arena);
}

static void the_destination_is_required(void **state)
{
    (void)state;
    static const char *const keys[] = {"project", "instance", "table"};
    for (size_t i = 0; i < 3; i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        table_maker m;
        make_table(&m, &arena);
        uint32_t kept = 0;
        for (uint32_t o = 0; o < m.table.options.count; o++) {
            if (!ms_str_equals(m.options[o].key, ms_str_cstr(keys[i]))) {
                m.options[kept++] = m.options[o];
            }
        }
        m.table.options.count = kept;
        ms_status st = {0};
        assert_int_equal(plan(&m, SCAN, &st), MS_MISSING_OPTION);
        ms_arena_release(&arena);
    }
}

static void sink_options_are_read(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    make_table(&m, &arena);
    maker_option(&m, "sink.create-disposition", "CREATE-IF-NEEDED");
    maker_option(&m, "sink.table-create.gc-rule.max-versions", "3");
    maker_option(&m, "sink.table-create.gc-rule.max-age", "2 d");
    maker_option(&m, "sink.insert-only-input-mode", "insert-only");
    maker_option(&m, "sink.parallelism", "4");
    ms_status st = {0};
    msi_bt_sink_options options;
    assert_ok(msi_bt_options_sink(&arena, &m.table, &options, &st));
    assert_true(options.creates && options.is_insert_only);
    assert_int_equal(options.parallelism, 4);
    assert_int_equal(options.gc_rule->kind, MS_BT_GC_UNION);
    assert_int_equal(options.gc_rule->rules[0]->max_versions, 3);
    assert_int_equal(options.gc_rule->rules[1]->max_age_micros, INT64_C(172800000000));
    ms_arena_release(&arena);
}

static void scan_and_common_options_are_read(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    make_table(&m, &arena);
    maker_option(&m, "scan.row-key-encoding", "base64");
    maker_option(&m, "scan.row-prefix", "YQ==");
    maker_option(&m, "scan.parallelism", "7");
    maker_option(&m, "null-string-literal", "");
    maker_option(&m, "decode.trailing-bytes", "reject");
    ms_status st = {0};
    msi_bt_scan_options scan;
    assert_ok(msi_bt_options_scan(&arena, &m.table, &scan, &st));
    assert_int_equal(scan.parallelism, 7);
    assert_int_equal(scan.ranges.count, 1);
    assert_str_equal(scan.ranges.list[0].start.key, "a");
    msi_bt_common_options common;
    assert_ok(msi_bt_options_common(&arena, &m.table, &common, &st));
    assert_true(common.codec.rejects_tail);
    assert_int_equal(common.codec.null_literal.bytes, 0);
    assert_str_equal(common.destination.instance, "i");
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_options_are_refused_with_their_place),
        cmocka_unit_test(a_misspelled_key_gets_the_nearest_as_hint),
        cmocka_unit_test(the_destination_is_required),
        cmocka_unit_test(sink_options_are_read),
        cmocka_unit_test(scan_and_common_options_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
