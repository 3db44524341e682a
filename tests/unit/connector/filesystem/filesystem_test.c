/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the filesystem connector, and what its planning faces say.
 */
#include "connector/filesystem/fs_host.h"

static void check_option(const char *key, const char *value, ms_rc rc, const char *part)
{
    host h;
    host_init(&h, "in", "json");
    host_option(&h, key, value);
    assert_int_equal(host_plan_scan(&h), rc);
    if (rc != MS_OK && strstr(h.st.message, part) == NULL) {
        fail_msg("\"%s\" has no \"%s\"", h.st.message, part);
    }
    host_release(&h);
}

static void options_are_checked_by_name_and_value(void **state)
{
    (void)state;
    check_option("json.ignore-parse-errors", "true", MS_OK, "");
    check_option("json.ignore-parse-errors", "maybe", MS_INVALID_OPTION, "ignore-parse-errors");
    check_option("csv.null-literal", "x", MS_UNKNOWN_OPTION, "csv.null-literal");
    check_option("source.monitor-interval", "1s", MS_NOT_SUPPORTED, "source.monitor-interval");
    check_option("sink.partition-commit.policy.kind", "x", MS_NOT_SUPPORTED, "policy.kind");
    check_option("scan.parallelism", "0", MS_INVALID_OPTION, "scan.parallelism");
    check_option("pth", "x", MS_UNKNOWN_OPTION, "pth");
}

static void a_path_is_one_of_this_machine(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *path; /* NULL: refused */
    } paths[] = {
        {"/a/b", "/a/b"},  {"/a/b//", "/a/b"},       {"file:///a/b", "/a/b"},
        {"file:/a", "/a"}, {"rel/x", "/base/rel/x"}, {"-", "-"},
        {"/", "/"},        {"s3://bucket/x", NULL},  {"hdfs://h/x", NULL},
        {"", NULL},        {"file://", NULL},        {"a:b", "/base/a:b"},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        host h;
        host_init(&h, "in", "json");
        h.options[1].value = ms_str_cstr(paths[i].text);
        ms_plan_env env = {.arena = &h.job->arena,
                           .base_dir = ms_str_lit("/base"),
                           .local_time_zone = ms_str_lit("UTC"),
                           .find_format = host_find_format};
        ms_rc rc = ms_connector_filesystem.scan_create(&ms_connector_filesystem, &h.table, &env,
                                                       &h.job->scan, &h.st);
        assert_int_equal(rc, paths[i].path != NULL ? MS_OK : MS_INVALID_OPTION);
        if (rc == MS_OK) {
            assert_str_equal(((msi_fs_scan *)h.job->scan)->table.path, paths[i].path);
        }
        host_release(&h);
    }
}

static void a_format_is_needed_and_must_exist(void **state)
{
    (void)state;
    host h;
    host_init(&h, "in", "avro");
    assert_int_equal(host_plan_scan(&h), MS_INVALID_OPTION);
    assert_non_null(strstr(h.st.message, "avro"));
    host_release(&h);
    host_init(&h, "in", "json");
    h.table.options.count = 2;
    assert_int_equal(host_plan_scan(&h), MS_MISSING_OPTION);
    host_release(&h);
}

static void one_file_keeps_its_order_and_runs_alone(void **state)
{
    (void)state;
    host h;
    host_init(&h, "in", "json");
    host_option(&h, "scan.parallelism", "3");
    write_file(path_of("in"), "");
    host_ok(&h, host_plan_scan(&h));
    assert_true(h.job->scan->keeps_order && h.job->scan->is_bounded);
    assert_int_equal(h.job->scan->parallelism, 1);
    ms_buf text;
    ms_buf_init(&text, 5000);
    host_ok(&h, h.job->scan->klass->describe(h.job->scan, &text, &h.st));
    assert_true(ms_str_ends_with(ms_buf_view(&text), ms_str_lit("/in, format=json")));
    ms_buf_release(&text);
    host_release(&h);
    host_init(&h, "", "json");
    host_option(&h, "scan.parallelism", "3");
    host_ok(&h, host_plan_scan(&h));
    assert_false(h.job->scan->keeps_order);
    assert_int_equal(h.job->scan->parallelism, 3);
    host_release(&h);
}

static void a_sink_takes_only_new_rows(void **state)
{
    (void)state;
    host h;
    host_init(&h, "out", "json");
    host_ok(&h, host_plan_sink(&h));
    ms_sink *sink = h.job->sink;
    ms_changelog wanted = 0;
    bool key_only = true;
    assert_int_equal(sink->guarantee, MS_EXACTLY_ONCE);
    host_ok(&h, sink->klass->negotiate(sink, MS_CHANGELOG_INSERT, &wanted, &key_only, &h.st));
    assert_int_equal(wanted, MS_CHANGELOG_INSERT);
    assert_false(key_only);
    assert_int_equal(sink->klass->negotiate(sink, MS_CHANGELOG_ALL, &wanted, &key_only, &h.st),
                     MS_INVALID_QUERY);
    assert_non_null(strstr(h.st.message, "\"t\""));
    ms_status_clear(&h.st);
    host_ok(&h, sink->klass->prepare(sink, &h.st));
    assert_int_equal(info_of(path_of("out")).kind, MS_FILE_KIND_DIR);
    host_release(&h);
    host_init(&h, "-", "json");
    host_ok(&h, host_plan_sink(&h));
    assert_int_equal(h.job->sink->guarantee, MS_AT_LEAST_ONCE);
    host_release(&h);
}

static void metadata_columns_are_refused_by_place(void **state)
{
    (void)state;
    host h;
    host_init(&h, "in", "json");
    h.columns[1].kind = MS_COLUMN_METADATA;
    h.columns[1].span = (ms_span){5, 9};
    assert_int_equal(host_plan_scan(&h), MS_NOT_SUPPORTED);
    assert_int_equal(h.st.span.start, 5);
    host_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(options_are_checked_by_name_and_value),
        scratch_test(a_path_is_one_of_this_machine),
        scratch_test(a_format_is_needed_and_must_exist),
        scratch_test(one_file_keeps_its_order_and_runs_alone),
        scratch_test(a_sink_takes_only_new_rows),
        scratch_test(metadata_columns_are_refused_by_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
