/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of completion tokens: delivery, failures, double and late completion. */
#include "base/log.h"
#include "runtime/fake_job.h"
#include "runtime/runtime_priv.h"

typedef struct owner {
    msi_token_list list;
    uint32_t delivered;
    ms_rc rc;
    char message[240]; /* as in a status */
} owner;

static void delivered(msi_token *token)
{
    owner *o = token->owner;
    const ms_status *st = msi_token_status(token);
    o->delivered++;
    o->rc = st->code;
    snprintf(o->message, sizeof(o->message), "%s", st->message);
    msi_token_free(&o->list, token);
}

typedef struct fixture {
    ms_workers *workers;
    msi_worker *worker;
    owner owner;
} fixture;

static void fixture_init(fixture *f)
{
    ms_status st = {0};
    memset(f, 0, sizeof(*f));
    assert_ok(ms_workers_create(&(ms_workers_options){.is_stepped = true}, &f->workers, &st));
    assert_ok(msi_workers_place(f->workers, 0, &f->worker, &st));
}

static void fixture_release(fixture *f)
{
    msi_token_detach_all(&f->owner.list);
    ms_workers_destroy(f->workers);
}

static ms_completion *make(fixture *f)
{
    return &msi_token_make(&f->owner.list, f->worker, &f->owner, delivered)->completion;
}

static void a_completion_is_delivered_later_never_inline(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_completion *completion = make(&f);
    ms_done(completion, MS_OK, NULL);
    assert_int_equal(f.owner.delivered, 0);
    assert_true(ms_workers_step(f.workers));
    assert_int_equal(f.owner.delivered, 1);
    assert_int_equal(f.owner.rc, MS_OK);
    assert_int_equal(f.owner.list.count, 0);
    fixture_release(&f);
}

static void a_failure_brings_its_status(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_status st = {0};
    ms_status_set(&st, MS_BIGTABLE_UNAVAILABLE, ms_span_none, "nobody answers");
    ms_done(make(&f), st.code, &st);
    /* The caller's status may go at once. */
    ms_status_clear(&st);
    assert_true(ms_workers_step(f.workers));
    assert_int_equal(f.owner.rc, MS_BIGTABLE_UNAVAILABLE);
    assert_string_equal(f.owner.message, "nobody answers");
    /* A code without a status is a failure too. */
    ms_done(make(&f), MS_IO_ERROR, NULL);
    assert_true(ms_workers_step(f.workers));
    assert_int_equal(f.owner.rc, MS_IO_ERROR);
    fixture_release(&f);
}

static void a_second_completion_is_ignored(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_completion *completion = make(&f);
    ms_done(completion, MS_OK, NULL);
    ms_done(completion, MS_IO_ERROR, NULL);
    assert_true(ms_workers_step(f.workers));
    /* Also after the first was delivered. */
    ms_done(completion, MS_IO_ERROR, NULL);
    assert_false(ms_workers_step(f.workers));
    assert_int_equal(f.owner.delivered, 1);
    assert_int_equal(f.owner.rc, MS_OK);
    fixture_release(&f);
}

static void a_late_completion_is_dropped(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_completion *early = make(&f);
    ms_completion *late = make(&f);
    ms_done(early, MS_OK, NULL);
    msi_token_detach_all(&f.owner.list);
    ms_done(late, MS_OK, NULL);
    while (ms_workers_step(f.workers)) {
    }
    assert_int_equal(f.owner.delivered, 0);
    fixture_release(&f);
}

static void many_tokens_do_not_pile_up(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    for (uint32_t i = 0; i < 1000; i++) {
        ms_done(make(&f), MS_OK, NULL);
        assert_true(ms_workers_step(f.workers));
    }
    assert_int_equal(f.owner.delivered, 1000);
    assert_in_range(f.owner.list.spent_count, 1, 100);
    fixture_release(&f);
}

/* A thread that completes while its owner's pool is being destroyed: destroy waits for it. */
static void complete_soon(void *arg)
{
    fake_sleep_ms(20);
    ms_done(arg, MS_OK, NULL);
}

static void destroying_the_workers_waits_for_what_is_out(void **state)
{
    (void)state;
    ms_status st = {0};
    fixture f;
    ms_thread thread;
    memset(&f, 0, sizeof(f));
    assert_ok(ms_workers_create(&(ms_workers_options){.count = 2}, &f.workers, &st));
    assert_ok(msi_workers_place(f.workers, 1, &f.worker, &st));
    ms_completion *completion = make(&f);
    msi_token_detach_all(&f.owner.list);
    assert_ok(ms_thread_start(&thread, "late", complete_soon, completion, &st));
    ms_workers_destroy(f.workers);
    ms_thread_join(&thread);
    assert_int_equal(f.owner.delivered, 0);
}

int main(void)
{
    ms_log_set_level(MS_LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_completion_is_delivered_later_never_inline),
        cmocka_unit_test(a_failure_brings_its_status),
        cmocka_unit_test(a_second_completion_is_ignored),
        cmocka_unit_test(a_late_completion_is_dropped),
        cmocka_unit_test(many_tokens_do_not_pile_up),
        cmocka_unit_test(destroying_the_workers_waits_for_what_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
