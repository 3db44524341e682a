/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs against the interpreter, over random expressions and batches: every value, and of
 * failures the first row, its code and its place. MS_TEST_SEEDS sets how many seeds are run,
 * MS_TEST_SEED the first one.
 */
#include "testing.h"

#include "expr/interp.h"
#include "expr/program.h"
#include "random_expr.h"
#include "type/text.h"

#include "random_expr.c"

#define OUTPUTS_MAX 3u

/* What was compared, so that a test that compares nothing does not pass. */
static struct {
    uint64_t values;
    uint64_t nulls;
    uint64_t failures;
    uint64_t late_failures; /* behind the first live row */
} counted;

typedef struct run {
    ms_arena arena;
    uint64_t seed;
    random_input input;
    const ms_expr *filter;
    const ms_expr *outputs[OUTPUTS_MAX];
    uint32_t output_count;
    ms_eval_config config;
} run;

static ms_str value_text(ms_arena *arena, const ms_value *value)
{
    ms_buf buf;
    ms_status st = {0};
    ms_buf_init(&buf, 1 << 20);
    ms_rc rc = ms_text_value(&buf, value, MS_TEXT_DISPLAY, ms_zone_utc(), &st);
    ms_str text = rc == MS_OK ? ms_arena_copy_str(arena, ms_buf_view(&buf)) : ms_str_lit("?");
    ms_buf_release(&buf);
    return text;
}

static void fail_run(run *r, const ms_program *program, const char *what, uint32_t row,
                     uint32_t output)
{
    ms_arena *arena = &r->arena;
    fprintf(stderr, "seed %llu: %s, row %u, output %u\n", (unsigned long long)r->seed, what, row,
            output);
    if (r->filter != NULL) {
        ms_str text = ms_expr_text(arena, r->filter, &r->input.schema);
        fprintf(stderr, "filter %.*s\n", MS_STR_ARG(text));
    }
    for (uint32_t i = 0; i < r->output_count; i++) {
        ms_str text = ms_expr_text(arena, r->outputs[i], &r->input.schema);
        fprintf(stderr, "output %u: %.*s\n", i, MS_STR_ARG(text));
    }
    ms_str text = ms_program_text(arena, program);
    fprintf(stderr, "%.*s", MS_STR_ARG(text));
    fail();
}

/* The first failure of a row in the order of the rules; code MS_OK when there is none. */
static ms_eval_error interpret_row(run *r, uint32_t row, bool *is_kept_out, ms_value *values)
{
    ms_eval_error error = {.code = MS_OK, .row = row};
    ms_status st = {0};
    ms_value condition;
    *is_kept_out = true;
    if (r->filter != NULL) {
        if (ms_interp_eval_row(&r->arena, &r->config, r->filter, &r->input.batch, row, &condition,
                               &st) != MS_OK) {
            return (ms_eval_error){st.code, row, st.span, false};
        }
        *is_kept_out = !condition.is_null && condition.u.i != 0;
    }
    for (uint32_t i = 0; i < r->output_count && *is_kept_out; i++) {
        ms_status_clear(&st);
        if (ms_interp_eval_row(&r->arena, &r->config, r->outputs[i], &r->input.batch, row,
                               &values[i], &st) != MS_OK) {
            bool is_left = error.code == MS_OK || st.span.start < error.span.start ||
                           (st.span.start == error.span.start && st.span.end < error.span.end);
            error = is_left ? (ms_eval_error){st.code, row, st.span, false} : error;
        }
    }
    return error;
}

static void compare(run *r, const ms_program *program, const ms_batch *frame,
                    const ms_eval_error *error)
{
    const ms_batch *batch = &r->input.batch;
    uint32_t at = 0;
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        uint32_t row = ms_batch_row(batch, k);
        bool is_kept = false;
        ms_value expected[OUTPUTS_MAX];
        ms_eval_error wanted = interpret_row(r, row, &is_kept, expected);
        if (wanted.code != MS_OK) {
            if (error->code != wanted.code || error->row != row ||
                error->span.start != wanted.span.start || error->span.end != wanted.span.end) {
                fprintf(stderr, "wanted %s at %u..%u of row %u, got %s at %u..%u of row %u\n",
                        ms_rc_name(wanted.code), wanted.span.start, wanted.span.end, row,
                        ms_rc_name(error->code), error->span.start, error->span.end, error->row);
                fail_run(r, program, "another failure", row, 0);
            }
            if (at != ms_batch_live(frame)) {
                fail_run(r, program, "another number of rows before the failure", row, 0);
            }
            counted.failures++;
            counted.late_failures += k > 0;
            return;
        }
        if (error->code != MS_OK && error->row <= row) {
            fprintf(stderr, "got %s at %u\n", ms_rc_name(error->code), error->span.start);
            fail_run(r, program, "a failure that is none", error->row, 0);
        }
        if (!is_kept) {
            continue;
        }
        if (at >= ms_batch_live(frame) || ms_batch_row(frame, at) != row) {
            fail_run(r, program, "a row is missing", row, 0);
        }
        for (uint32_t i = 0; i < r->output_count; i++) {
            ms_value got = ms_value_from_vec(&r->arena, &frame->columns[i], row);
            if (!ms_value_equals(&got, &expected[i])) {
                ms_str a = value_text(&r->arena, &expected[i]);
                ms_str b = value_text(&r->arena, &got);
                fprintf(stderr, "wanted %.*s\ngot %.*s\n", MS_STR_ARG(a), MS_STR_ARG(b));
                fail_run(r, program, "another value", row, i);
            }
            counted.values++;
            counted.nulls += got.is_null;
        }
        at++;
    }
    if (at != ms_batch_live(frame) || error->code != MS_OK) {
        fail_run(r, program, "too many rows, or a failure that is none", 0, 0);
    }
}

static void make_expressions(run *r, rng *random)
{
    const ms_schema *schema = &r->input.schema;
    r->output_count = 1 + rng_below(random, OUTPUTS_MAX);
    r->filter = rng_chance(random, 40) ? random_condition(&r->arena, random, schema, 3) : NULL;
    for (uint32_t i = 0; i < r->output_count; i++) {
        uint32_t depth = 1 + rng_below(random, 5);
        /* Now and then the same again, so that parts are shared. */
        bool is_same = i > 0 && rng_chance(random, 15);
        r->outputs[i] = is_same ? r->outputs[i - 1] : random_expr(&r->arena, random, schema, depth);
    }
}

/* As after a restart: the expression is what its stored form says. */
static const ms_expr *stored_and_read(ms_arena *arena, const ms_expr *expr)
{
    ms_buf buf;
    ms_status st = {0};
    const ms_expr *read = NULL;
    ms_buf_init(&buf, 1 << 24);
    assert_ok(ms_expr_write(&buf, expr, &st));
    ms_str text = ms_buf_view(&buf);
    assert_ok(ms_expr_read(arena, &text, &read, &st));
    ms_buf_release(&buf);
    return read;
}

static void run_seed(uint64_t seed)
{
    rng random = {seed};
    run r = {.seed = seed};
    ms_arena_init(&r.arena, 0);
    ms_arena job;
    ms_arena_init(&job, 0);
    random_input_make(&r.arena, &random, &r.input);
    make_expressions(&r, &random);
    for (uint32_t i = 0; i < r.output_count && rng_chance(&random, 20); i++) {
        r.outputs[i] = stored_and_read(&r.arena, r.outputs[i]);
    }
    r.config.overflow_is_error = rng_chance(&random, 30);
    ms_status st = {0};
    r.config.time_zone = rng_chance(&random, 50) ? ms_str_lit("") : ms_str_lit("Europe/Berlin");
    ms_program_spec spec = {.filter = r.filter,
                            .outputs = r.outputs,
                            .output_count = r.output_count,
                            .input = &r.input.schema,
                            .config = r.config};
    const ms_program *program = NULL;
    assert_ok(ms_program_compile(&job, &spec, &program, &st));
    assert_ok(ms_eval_config_make(&job, &spec.config, &r.config, &st));
    ms_evaluator *ev = ms_evaluator_create(program, 2048);
    ms_batch frame;
    ms_eval_error error;
    /* Twice: the second run meets the remains of the first. */
    ms_evaluator_run(ev, &r.input.batch, &frame, &error);
    ms_evaluator_run(ev, &r.input.batch, &frame, &error);
    compare(&r, program, &frame, &error);
    if (error.code != MS_OK) {
        ms_status explained = {0};
        ms_evaluator_explain(ev, &r.input.batch, &error, &explained);
        assert_int_equal(explained.code, error.code);
        assert_int_equal(explained.span.start, error.span.start);
        assert_true(explained.message[0] != '\0');
    }
    ms_evaluator_destroy(ev);
    ms_arena_release(&job);
    ms_arena_release(&r.arena);
}

static void programs_agree_with_the_interpreter(void **state)
{
    (void)state;
    uint64_t first = number_of("MS_TEST_SEED", 1);
    uint64_t seeds = number_of("MS_TEST_SEEDS", 1500);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        run_seed(seed);
    }
    print_message("%llu values, %llu of them NULL; %llu failures, %llu not in the first row\n",
                  (unsigned long long)counted.values, (unsigned long long)counted.nulls,
                  (unsigned long long)counted.failures, (unsigned long long)counted.late_failures);
    if (seeds >= 1500) {
        assert_true(counted.values > 5000 && counted.nulls > 500);
        assert_true(counted.failures > 20 && counted.late_failures > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_agree_with_the_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
