/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "func/call.h"
#include "func/host.h"
#include "func/registry.h"
#include "func/typing.h"

static ms_arena arena;

static ms_status resolve(const char *name, const char *const *types, uint32_t count,
                         ms_fn_resolved *out)
{
    const ms_type *parsed[8];
    ms_status st = {0};
    for (uint32_t i = 0; i < count; i++) {
        parsed[i] = ms_typing_parse(&arena, ms_str_cstr(types[i]));
        assert_non_null(parsed[i]);
    }
    ms_fn_args args = {count, parsed, NULL};
    ms_rc rc = ms_fn_resolve(&arena, ms_str_cstr(name), &args, (ms_span){2, 8}, out, &st);
    assert_int_equal(rc, st.code);
    return st;
}

static void names_are_found_without_case(void **state)
{
    (void)state;
    assert_non_null(ms_fn_find(ms_str_lit("upper")));
    assert_ptr_equal(ms_fn_find(ms_str_lit("upper")), ms_fn_find(ms_str_lit("UPPER")));
    assert_null(ms_fn_find(ms_str_lit("no_such")));
    for (uint32_t n = 0; ms_fn_at(n) != NULL; n++) {
        assert_ptr_equal(ms_fn_find(ms_fn_name(ms_fn_at(n))), ms_fn_at(n));
    }
}

static void unknown_names_get_the_nearest_as_hint(void **state)
{
    (void)state;
    ms_fn_resolved out;
    ms_status st = resolve("UPER", (const char *[]){"STRING"}, 1, &out);
    assert_int_equal(st.code, MS_UNDEFINED_FUNCTION);
    assert_string_equal(st.message, "function \"UPER\" does not exist");
    assert_string_equal(st.hint, "Did you mean UPPER?");
    assert_int_equal(st.span.start, 2);
    st = resolve("REGEXP_REPLAC", NULL, 0, &out);
    assert_string_equal(st.hint, "Did you mean REGEXP_REPLACE?");
    st = resolve("completely_different", NULL, 0, &out);
    assert_string_equal(st.hint, "");
}

static void names_of_flink_that_are_not_built_are_refused_by_name(void **state)
{
    (void)state;
    ms_fn_resolved out;
    ms_status st = resolve("regexp_extract", (const char *[]){"STRING", "STRING"}, 2, &out);
    assert_int_equal(st.code, MS_NOT_SUPPORTED);
    assert_string_equal(st.message, "function \"regexp_extract\" is not supported yet");
}

static void wrong_arguments_list_the_candidates(void **state)
{
    (void)state;
    ms_fn_resolved out;
    ms_status st = resolve("UPPER", (const char *[]){"INT"}, 1, &out);
    assert_int_equal(st.code, MS_UNDEFINED_FUNCTION);
    assert_string_equal(st.message, "function UPPER does not take (INT)");
    assert_string_equal(st.detail, "candidates: UPPER(character)");
    st = resolve("+", (const char *[]){"BOOLEAN", "INT"}, 2, &out);
    assert_string_equal(st.message, "operator + does not take (BOOLEAN, INT)");
    st = resolve("UPPER", (const char *[]){"NULL"}, 1, &out);
    assert_string_equal(st.hint, "Give NULL a type: CAST(NULL AS ...).");
    st = resolve("UPPER", (const char *[]){"STRING", "STRING"}, 2, &out);
    assert_int_equal(st.code, MS_UNDEFINED_FUNCTION);
    st = resolve("UPPER", NULL, 0, &out);
    assert_int_equal(st.code, MS_UNDEFINED_FUNCTION);
}

static void wide_timestamps_are_refused(void **state)
{
    (void)state;
    ms_fn_resolved out;
    ms_status st = resolve("=", (const char *[]){"TIMESTAMP(9)", "TIMESTAMP(9)"}, 2, &out);
    assert_int_equal(st.code, MS_NOT_SUPPORTED);
}

static void operands_are_to_be_cast_to_a_common_type(void **state)
{
    (void)state;
    ms_fn_resolved out;
    ms_status st = resolve("+", (const char *[]){"INT NOT NULL", "BIGINT"}, 2, &out);
    assert_int_equal(st.code, MS_OK);
    assert_str_equal(ms_type_text(&arena, out.arg_types[0]), "BIGINT NOT NULL");
    assert_str_equal(ms_type_text(&arena, out.result_type), "BIGINT");
    /* Beside a decimal, integers only widen: the kernels take them as they are. */
    st = resolve("*", (const char *[]){"INT", "DECIMAL(5, 2)"}, 2, &out);
    assert_str_equal(ms_type_text(&arena, out.arg_types[0]), "BIGINT");
    assert_str_equal(ms_type_text(&arena, out.arg_types[1]), "DECIMAL(5, 2)");
    assert_str_equal(ms_type_text(&arena, out.result_type), "DECIMAL(16, 2)");
}

/* A function as a plugin would bring it. */

static const ms_fn_host *host;

static void repeat_text(ms_fn_call *call)
{
    uint32_t live = call->sel != NULL ? call->sel_count : call->rows;
    for (uint32_t k = 0; k < live; k++) {
        uint32_t row = call->sel != NULL ? call->sel[k] : k;
        const uint64_t *valid = host->validity(call->args[0]);
        if (valid != NULL && (valid[row >> 6] >> (row & 63) & 1u) == 0) {
            continue;
        }
        ms_str text = host->string_at(call->args[0], row);
        int64_t times = ((const int64_t *)host->data(call->args[1]))[row];
        if (times < 0) {
            (host->fail)(call, row, MS_INVALID_ARGUMENT, "the count is negative");
            continue;
        }
        char *out = host->alloc(call->memory, text.bytes * (size_t)times + 1);
        for (int64_t i = 0; i < times; i++) {
            memcpy(out + (size_t)i * text.bytes, text.ptr, text.bytes);
        }
        host->set_string(call, row, ms_str_make(out, text.bytes * (size_t)times));
    }
}

static const ms_fn_signature repeat_signatures[] = {{"STRING, BIGINT", "STRING"}};

static ms_fn_desc repeat_desc(void)
{
    return (ms_fn_desc){.struct_bytes = sizeof(ms_fn_desc),
                        .api_level = MS_UDF_API_LEVEL,
                        .name = "MY_REPEAT",
                        .kind = MS_FN_SCALAR,
                        .flags = MS_FN_DETERMINISTIC | MS_FN_PURE | MS_FN_STRICT | MS_FN_COERCES,
                        .signatures = repeat_signatures,
                        .signature_count = 1,
                        .eval = repeat_text};
}

static ms_rc call_row(const ms_fn *fn, const char *text, int64_t times, ms_value *out,
                      ms_status *st)
{
    ms_value args[2] = {
        ms_value_str(ms_typing_parse(&arena, ms_str_lit("STRING")), ms_str_cstr(text)),
        ms_value_int(ms_typing_parse(&arena, ms_str_lit("BIGINT")), times)};
    ms_eval_config config = {0};
    ms_fn_scalar_call call = {args, 2, args[0].type, &config, &arena};
    return ms_fn_eval_row(fn, &call, out, st);
}

static void descriptors_of_plugins_resolve_and_run(void **state)
{
    (void)state;
    ms_fn_desc desc = repeat_desc();
    const ms_fn *fn = NULL;
    ms_status st = {0};
    host = ms_fn_host_table();
    assert_true(host->api_level >= 1 && host->struct_bytes == sizeof(*host));
    assert_ok(ms_fn_make(&arena, &desc, &fn, &st));
    const ms_type *types[2] = {ms_typing_parse(&arena, ms_str_lit("CHAR(2) NOT NULL")),
                               ms_typing_parse(&arena, ms_str_lit("INT"))};
    ms_fn_args args = {2, types, NULL};
    ms_fn_resolved resolved;
    assert_ok(ms_fn_resolve_fn(&arena, fn, &args, ms_span_none, &resolved, &st));
    assert_str_equal(ms_type_text(&arena, resolved.arg_types[0]), "STRING NOT NULL");
    assert_str_equal(ms_type_text(&arena, resolved.arg_types[1]), "BIGINT");
    assert_str_equal(ms_type_text(&arena, resolved.result_type), "STRING");
    ms_value out;
    assert_ok(call_row(fn, "ab", 3, &out, &st));
    assert_str_equal(out.u.str, "ababab");
    assert_ok(call_row(fn, "abcdefgh", 3, &out, &st));
    assert_str_equal(out.u.str, "abcdefghabcdefghabcdefgh");
    assert_int_equal(call_row(fn, "ab", -1, &out, &st), MS_INVALID_ARGUMENT);
    assert_string_equal(st.message, "the count is negative");
}

static void host_reads_and_prints_types(void **state)
{
    (void)state;
    const ms_fn_host *table = ms_fn_host_table();
    ms_status st = {0};
    ms_fn_memory memory = {&arena, NULL};
    const ms_type *type = table->type_parse(&memory, ms_str_lit("INT NOT NULL"), &st);
    assert_false(table->type_is_nullable(type));
    assert_str_equal(table->type_text(&memory, type), "INT NOT NULL");
    assert_null(table->type_parse(&memory, ms_str_lit("INTS"), &st));
    assert_int_equal(st.code, MS_INVALID_ARGUMENT);
}

static void expect_refused(ms_fn_desc desc, const char *words)
{
    const ms_fn *fn = NULL;
    ms_status st = {0};
    assert_int_not_equal(ms_fn_make(&arena, &desc, &fn, &st), MS_OK);
    if (strstr(st.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", st.message, words);
    }
}

static void bad_descriptors_are_refused(void **state)
{
    (void)state;
    ms_fn_desc desc = repeat_desc();
    desc.struct_bytes = 8;
    expect_refused(desc, "too short");
    desc = repeat_desc();
    desc.api_level = 99;
    expect_refused(desc, "version");
    desc = repeat_desc();
    desc.name = "$HIDDEN";
    expect_refused(desc, "name");
    desc = repeat_desc();
    desc.kind = MS_FN_TABLE;
    expect_refused(desc, "scalar");
    desc = repeat_desc();
    desc.eval = NULL;
    expect_refused(desc, "eval");
    desc = repeat_desc();
    desc.signature_count = 0;
    expect_refused(desc, "signatures");
    static const ms_fn_signature bad[] = {{"STRING, NONSENSE", "STRING"}};
    static const ms_fn_signature far[] = {{"STRING", "$2"}};
    static const ms_fn_signature early[] = {{"any..., INT", "STRING"}};
    const ms_fn_signature *const lists[] = {bad, far, early};
    for (size_t i = 0; i < 3; i++) {
        desc = repeat_desc();
        desc.signatures = lists[i];
        expect_refused(desc, "signature");
    }
}

static void signatures_have_optional_and_repeated_parameters(void **state)
{
    (void)state;
    static const ms_fn_signature signatures[] = {{"character, integer?, INT?", "$1"},
                                                 {"DECIMAL(10, 2), numeric...", "INT"}};
    ms_fn_desc desc = repeat_desc();
    desc.signatures = signatures;
    desc.signature_count = 2;
    const ms_fn *fn = NULL;
    ms_status st = {0};
    assert_ok(ms_fn_make(&arena, &desc, &fn, &st));
    static const struct {
        const char *types[4];
        uint32_t count;
        const char *result;
    } cases[] = {
        {{"CHAR(3)"}, 1, "CHAR(3)"},
        {{"CHAR(3)", "BIGINT"}, 2, "CHAR(3)"},
        {{"CHAR(3)", "BIGINT", "TINYINT"}, 3, "CHAR(3)"},
        {{"CHAR(3)", "BIGINT", "BIGINT"}, 3, NULL},
        {{"CHAR(3)", "BIGINT", "INT", "INT"}, 4, NULL},
        {{"INT", "INT"}, 2, "INT"},
        {{"INT", "INT", "DOUBLE", "FLOAT"}, 4, "INT"},
        {{"INT", "STRING"}, 2, NULL},
        {{"NULL", "INT"}, 2, "INT"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_type *types[4];
        for (uint32_t k = 0; k < cases[i].count; k++) {
            types[k] = ms_typing_parse(&arena, ms_str_cstr(cases[i].types[k]));
        }
        ms_fn_args args = {cases[i].count, types, NULL};
        ms_fn_resolved out;
        ms_status_clear(&st);
        ms_rc rc = ms_fn_resolve_fn(&arena, fn, &args, ms_span_none, &out, &st);
        assert_int_equal(rc == MS_OK, cases[i].result != NULL);
        if (rc == MS_OK) {
            assert_str_equal(ms_type_text_bare(&arena, out.result_type), cases[i].result);
        }
    }
}

static int open_arena(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_without_case),
        cmocka_unit_test(unknown_names_get_the_nearest_as_hint),
        cmocka_unit_test(names_of_flink_that_are_not_built_are_refused_by_name),
        cmocka_unit_test(wrong_arguments_list_the_candidates),
        cmocka_unit_test(wide_timestamps_are_refused),
        cmocka_unit_test(operands_are_to_be_cast_to_a_common_type),
        cmocka_unit_test(descriptors_of_plugins_resolve_and_run),
        cmocka_unit_test(host_reads_and_prints_types),
        cmocka_unit_test(bad_descriptors_are_refused),
        cmocka_unit_test(signatures_have_optional_and_repeated_parameters),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
