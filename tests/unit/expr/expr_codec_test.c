/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "fixture.h"

#include "random_expr.c"

static void random_expressions_survive_writing_and_reading(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= number_of("MS_TEST_SEEDS", 500); seed++) {
        rng r = {seed};
        ms_arena arena;
        ms_status st = {0};
        random_input input;
        ms_buf buf;
        ms_buf again;
        ms_arena_init(&arena, 0);
        ms_buf_init(&buf, 1 << 24);
        ms_buf_init(&again, 1 << 24);
        random_input_make(&arena, &r, &input);
        const ms_expr *expr = random_expr(&arena, &r, &input.schema, 1 + (uint32_t)(seed % 5));
        const ms_expr *read = NULL;
        assert_ok(ms_expr_write(&buf, expr, &st));
        assert_ok(ms_buf_append(&buf, ms_str_lit(" rest"), &st));
        ms_str text = ms_buf_view(&buf);
        if (ms_expr_read(&arena, &text, &read, &st) != MS_OK) {
            ms_str shown = ms_expr_text(&arena, expr, NULL);
            fail_msg("seed %llu: %s: %.*s\n%.*s", (unsigned long long)seed, st.message,
                     MS_STR_ARG(shown), MS_STR_ARG(ms_buf_view(&buf)));
        }
        assert_str_equal(text, " rest");
        assert_true(ms_expr_equals(read, expr));
        assert_ok(ms_expr_write(&again, read, &st));
        assert_ok(ms_buf_append(&again, ms_str_lit(" rest"), &st));
        assert_true(ms_str_equals(ms_buf_view(&again), ms_buf_view(&buf)));
        ms_buf_release(&buf);
        ms_buf_release(&again);
        ms_arena_release(&arena);
    }
}

static void the_form_is_the_documented_one(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 4096);
    const ms_expr *args[2] = {ms_expr_column(&f.arena, 2, type_of(&f, "BIGINT"), (ms_span){7, 12}),
                              NULL};
    assert_int_equal(
        ms_build_number(&f.build, ms_str_lit("0.908"), false, (ms_span){15, 20}, &args[1]), MS_OK);
    const ms_expr *product = NULL;
    assert_int_equal(ms_build_call(&f.build, ms_str_lit("*"), args, 2, (ms_span){7, 20}, &product),
                     MS_OK);
    assert_ok(ms_expr_write(&buf, product, &st));
    assert_str_equal(ms_buf_view(&buf),
                     "(call \"*\" \"DECIMAL(23, 3)\" 7 20 (col 2 \"BIGINT\" 7 12) "
                     "(const \"DECIMAL(3, 3) NOT NULL\" 15 20 \"908\"))");
    ms_buf_release(&buf);
    fixture_close(&f);
}

static void damaged_texts_are_refused(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "",
        "(",
        "(col 1 \"INT\" 0 0",
        "(column 1 \"INT\" 0 0)",
        "(col 1 \"NOTHING\" 0 0)",
        "(col 99999 \"INT\" 0 0)",
        "(col x \"INT\" 0 0)",
        "(col 1 \"INT\" 0 99999999999)",
        "(const \"INT\" 0 0 \"abc\")",
        "(const \"INT\" 0 0 \"99999999999\")",
        "(const \"BOOLEAN\" 0 0 \"7\")",
        "(const \"DECIMAL(2, 0)\" 0 0 \"100\")",
        "(const \"ROW<`a` INT>\" 0 0 (\"1\" \"2\"))",
        "(const \"MAP<INT, INT>\" 0 0 (\"1\"))",
        "(const \"BYTES\" 0 0 \"0\")",
        "(const \"DOUBLE\" 0 0 \"1.5\")",
        "(call \"NO_SUCH\" \"INT\" 0 0)",
        "(call \"AND\" \"BOOLEAN\" 0 0 (col 1 \"BOOLEAN\" 0 0) (col 1 \"BOOLEAN\" 0 0))",
        "(call \"+\" \"BIGINT\" 0 0 (col 1 \"INT\" 0 0) (col 1 \"INT\" 0 0))",
        "(call \"+\" \"BIGINT\" 0 0 (col 1 \"INT\" 0 0) (col 1 \"BIGINT\" 0 0))",
        "(call \"UPPER\" \"STRING\" 0 0 (col 1 \"INT\" 0 0))",
        "(call \"$DIVISIBLE\" \"BOOLEAN\" 0 0 (col 1 \"STRING\" 0 0) (col 1 \"INT\" 0 0))",
        "(and \"BOOLEAN\" 0 0 (col 1 \"BOOLEAN\" 0 0))",
        "(and \"BOOLEAN\" 0 0 (col 1 \"BOOLEAN\" 0 0) (col 1 \"INT\" 0 0))",
        "(case \"INT\" 0 0 (col 1 \"BOOLEAN\" 0 0) (col 1 \"INT\" 0 0))",
        "(case \"INT\" 0 0 (col 1 \"BOOLEAN\" 0 0) (col 1 \"INT\" 0 0) (col 1 \"BIGINT\" 0 0))",
        "(if \"INT\" 0 0 (col 1 \"INT\" 0 0) (col 1 \"INT\" 0 0) (col 1 \"INT\" 0 0))",
        "(coalesce \"INT\" 0 0)",
        "(cast \"DATE\" 0 0 (col 1 \"INT\" 0 0))",
        "(field 1 \"INT\" 0 0 (col 1 \"ROW<`a` INT>\" 0 0))",
        "(field 0 \"STRING\" 0 0 (col 1 \"ROW<`a` INT>\" 0 0))",
        "(ref 0 \"INT\" 0 0)",
        "(let 0 \"INT\" 0 0 (col 1 \"INT\" 0 0) (ref 1 \"INT\" 0 0))",
        "(let 0 \"INT\" 0 0 (col 1 \"INT\" 0 0) (ref 0 \"BIGINT\" 0 0))",
        "(let 0 \"INT\" 0 0 (ref 0 \"INT\" 0 0) (ref 0 \"INT\" 0 0))",
    };
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        ms_arena arena;
        ms_status st = {0};
        const ms_expr *expr = NULL;
        ms_str text = ms_str_cstr(damaged[i]);
        ms_arena_init(&arena, 0);
        if (ms_expr_read(&arena, &text, &expr, &st) != MS_CORRUPT_DATA) {
            fail_msg("%s was read", damaged[i]);
        }
        ms_arena_release(&arena);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    ms_buf buf;
    ms_status st = {0};
    ms_arena arena;
    const ms_expr *expr = NULL;
    ms_buf_init(&buf, 1 << 24);
    for (int i = 0; i < 100000; i++) {
        assert_ok(ms_buf_append(&buf, ms_str_lit("(call \"NOT\" \"BOOLEAN\" 0 0 "), &st));
    }
    ms_str text = ms_buf_view(&buf);
    ms_arena_init(&arena, 0);
    assert_int_equal(ms_expr_read(&arena, &text, &expr, &st), MS_CORRUPT_DATA);
    ms_arena_release(&arena);
    ms_buf_release(&buf);
}

/* Single bytes changed: nothing crashes, and what is read can be compiled and run. */
static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= number_of("MS_TEST_SEEDS", 150); seed++) {
        rng r = {seed + 5000};
        ms_arena arena;
        ms_status st = {0};
        random_input input;
        ms_buf buf;
        ms_arena_init(&arena, 0);
        ms_buf_init(&buf, 1 << 24);
        random_input_make(&arena, &r, &input);
        assert_ok(ms_expr_write(&buf, random_expr(&arena, &r, &input.schema, 3), &st));
        for (int round = 0; round < 40; round++) {
            char *bytes = ms_arena_alloc(&arena, buf.bytes, 1);
            memcpy(bytes, buf.ptr, buf.bytes);
            bytes[rng_below(&r, (uint32_t)buf.bytes)] = (char)(32 + rng_below(&r, 95));
            ms_str text = ms_str_make(bytes, buf.bytes);
            const ms_expr *expr = NULL;
            ms_status_clear(&st);
            if (ms_expr_read(&arena, &text, &expr, &st) != MS_OK) {
                continue;
            }
            ms_program_spec spec = {.outputs = &expr, .output_count = 1, .input = &input.schema};
            const ms_program *program = NULL;
            ms_rc rc = ms_program_compile(&arena, &spec, &program, &st);
            if (rc != MS_OK) {
                continue;
            }
            ms_evaluator *ev = ms_evaluator_create(program, 2048);
            ms_batch frame;
            ms_eval_error error;
            ms_evaluator_run(ev, &input.batch, &frame, &error);
            ms_evaluator_destroy(ev);
        }
        ms_buf_release(&buf);
        ms_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_expressions_survive_writing_and_reading),
        cmocka_unit_test(the_form_is_the_documented_one),
        cmocka_unit_test(damaged_texts_are_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(changed_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
