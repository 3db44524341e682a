/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "net/credentials.h"

#include <stdatomic.h>

#define MS_NS INT64_C(1000000)

/* Credentials whose tokens are numbered, or that fail, as the test says. The pool is stepped: a
 * fetch runs when the test lets it. */
typedef struct numbered {
    ms_credentials base;
    int fetches;
    bool fails;
    int64_t lifetime_ms;
    _Atomic bool *destroyed;
} numbered;

static ms_rc fetch_number(ms_credentials *credentials, ms_credentials_token *token_out,
                          ms_status *st)
{
    numbered *own = (numbered *)credentials;
    char text[32];
    own->fetches++;
    if (own->fails) {
        return ms_status_set(st, MS_IO_ERROR, ms_span_none, "no token today");
    }
    snprintf(text, sizeof(text), "Bearer %d", own->fetches);
    ms_secret_set(&token_out->authorization, ms_str_cstr(text));
    token_out->expires_wall_ms = ms_env_wall_ms() + own->lifetime_ms;
    return MS_OK;
}

static void destroy_numbered(ms_credentials *credentials)
{
    numbered *own = (numbered *)credentials;
    *own->destroyed = true;
    ms_mem_free(own);
}

static const ms_credentials_class numbered_class = {
    .name = "numbered", .fetch = fetch_number, .destroy = destroy_numbered};

typedef struct fixture {
    ms_env_clock clock;
    ms_loop *loop;
    ms_iopool *pool;
    numbered *credentials;
    _Atomic bool destroyed;
    /* Of one question. */
    ms_credentials_answer answer;
    char text[32];
} fixture;

typedef struct waiter {
    ms_credentials_wait wait;
    int calls;
    ms_rc rc;
    char text[32];
} waiter;

static void note_ready(ms_credentials_wait *wait, ms_str authorization, const ms_status *st)
{
    waiter *own = MS_MAIL_OWNER(wait, waiter, wait);
    own->calls++;
    own->rc = st->code;
    snprintf(own->text, sizeof(own->text), "%.*s", MS_STR_ARG(authorization));
}

static void open_fixture(fixture *own)
{
    ms_status st = {0};
    *own = (fixture){.clock = {.wall_us = 1700000000000000, .mono_ns = 1000000000}};
    ms_env_set_clock(&own->clock);
    assert_ok(ms_loop_create("loop", &own->loop, &st));
    assert_ok(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &own->pool, &st));
    own->credentials = ms_mem_calloc(1, sizeof(numbered));
    ms_credentials_init(&own->credentials->base, &numbered_class, own->loop, own->pool);
    own->credentials->lifetime_ms = 3600000;
    own->credentials->destroyed = &own->destroyed;
}

static void destroy_now(void *arg)
{
    fixture *own = arg;
    ms_credentials_destroy(&own->credentials->base);
}

static void close_fixture(fixture *own)
{
    ms_loop_call(own->loop, destroy_now, own);
    ms_iopool_destroy(own->pool);
    ms_loop_destroy(own->loop);
    assert_true(own->destroyed);
    ms_env_set_clock(NULL);
}

typedef struct question {
    fixture *own;
    waiter *waiter;
} question;

static void ask_now(void *arg)
{
    question *asked = arg;
    ms_str authorization = {0};
    ms_status st = {0};
    asked->own->answer = ms_credentials_get(&asked->own->credentials->base, &asked->waiter->wait,
                                            &authorization, &st);
    assert_int_equal(asked->own->answer == MS_CREDENTIALS_FAILED, st.code != MS_OK);
    snprintf(asked->own->text, sizeof(asked->own->text), "%.*s", MS_STR_ARG(authorization));
}

static ms_credentials_answer ask(fixture *own, waiter *of)
{
    of->wait = (ms_credentials_wait){.ready = note_ready};
    ms_loop_call(own->loop, ask_now, &(question){own, of});
    return own->answer;
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* Lets a fetch that was asked for run. */
static bool step(fixture *own)
{
    bool ran = ms_iopool_step(own->pool);
    ms_loop_call(own->loop, do_nothing, NULL);
    return ran;
}

static void all_wait_for_one_fetch(void **state)
{
    (void)state;
    fixture own;
    waiter waiters[10] = {0};
    open_fixture(&own);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(ask(&own, &waiters[i]), MS_CREDENTIALS_PENDING);
    }
    assert_true(step(&own));
    assert_false(step(&own));
    for (int i = 0; i < 10; i++) {
        assert_int_equal(waiters[i].calls, 1);
        assert_int_equal(waiters[i].rc, MS_OK);
        assert_string_equal(waiters[i].text, "Bearer 1");
    }
    assert_int_equal(ask(&own, &waiters[0]), MS_CREDENTIALS_READY);
    assert_string_equal(own.text, "Bearer 1");
    assert_int_equal(own.credentials->fetches, 1);
    close_fixture(&own);
}

static void a_token_is_renewed_before_it_expires(void **state)
{
    (void)state;
    fixture own;
    waiter one = {0};
    open_fixture(&own);
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_PENDING);
    assert_true(step(&own));
    /* Five minutes before the end: the old one is given while the new one comes. */
    ms_env_clock_advance_us(&own.clock, INT64_C(3299000000));
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    assert_false(step(&own));
    ms_env_clock_advance_us(&own.clock, 2000000);
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    assert_string_equal(own.text, "Bearer 1");
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    assert_true(step(&own));
    assert_false(step(&own));
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    assert_string_equal(own.text, "Bearer 2");
    /* Nobody asked for long: one that is about to expire is not given. */
    ms_env_clock_advance_us(&own.clock, INT64_C(3591000000));
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_PENDING);
    assert_true(step(&own));
    assert_string_equal(one.text, "Bearer 3");
    close_fixture(&own);
}

static void a_failure_is_told_to_all_and_remembered_for_a_moment(void **state)
{
    (void)state;
    fixture own;
    waiter waiters[2] = {0};
    open_fixture(&own);
    own.credentials->fails = true;
    assert_int_equal(ask(&own, &waiters[0]), MS_CREDENTIALS_PENDING);
    assert_int_equal(ask(&own, &waiters[1]), MS_CREDENTIALS_PENDING);
    assert_true(step(&own));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(waiters[i].calls, 1);
        assert_int_equal(waiters[i].rc, MS_IO_ERROR);
        assert_string_equal(waiters[i].text, "");
    }
    assert_int_equal(ask(&own, &waiters[0]), MS_CREDENTIALS_FAILED);
    assert_false(step(&own));
    own.credentials->fails = false;
    ms_env_clock_advance_us(&own.clock, 1000000);
    assert_int_equal(ask(&own, &waiters[0]), MS_CREDENTIALS_PENDING);
    assert_true(step(&own));
    assert_string_equal(waiters[0].text, "Bearer 2");
    close_fixture(&own);
}

static void a_failed_renewal_does_not_hurt_while_the_old_token_lasts(void **state)
{
    (void)state;
    fixture own;
    waiter one = {0};
    open_fixture(&own);
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_PENDING);
    assert_true(step(&own));
    own.credentials->fails = true;
    ms_env_clock_advance_us(&own.clock, INT64_C(3400000000));
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    assert_true(step(&own));
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    assert_string_equal(own.text, "Bearer 1");
    assert_false(step(&own)); /* not again within a second */
    ms_env_clock_advance_us(&own.clock, 1000000);
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    assert_true(step(&own));
    close_fixture(&own);
}

static void reject_now(void *arg)
{
    fixture *own = arg;
    ms_credentials_reject(&own->credentials->base, ms_str_cstr(own->text));
}

static void a_token_that_was_refused_is_not_given_again(void **state)
{
    (void)state;
    fixture own;
    waiter one = {0};
    open_fixture(&own);
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_PENDING);
    assert_true(step(&own));
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    ms_loop_call(own.loop, reject_now, &own);
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_PENDING);
    assert_true(step(&own));
    assert_string_equal(one.text, "Bearer 2");
    /* A late refusal of the first one does not touch the second. */
    snprintf(own.text, sizeof(own.text), "Bearer 1");
    ms_loop_call(own.loop, reject_now, &own);
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_READY);
    close_fixture(&own);
}

static void cancel_now(void *arg)
{
    question *asked = arg;
    ms_credentials_cancel_wait(&asked->own->credentials->base, &asked->waiter->wait);
    ms_credentials_cancel_wait(&asked->own->credentials->base, &asked->waiter->wait);
}

static void a_wait_may_be_taken_back(void **state)
{
    (void)state;
    fixture own;
    waiter waiters[2] = {0};
    open_fixture(&own);
    assert_int_equal(ask(&own, &waiters[0]), MS_CREDENTIALS_PENDING);
    assert_int_equal(ask(&own, &waiters[1]), MS_CREDENTIALS_PENDING);
    ms_loop_call(own.loop, cancel_now, &(question){&own, &waiters[0]});
    assert_true(step(&own));
    assert_int_equal(waiters[0].calls, 0);
    assert_int_equal(waiters[1].calls, 1);
    close_fixture(&own);
}

static void credentials_may_go_while_they_are_fetched(void **state)
{
    (void)state;
    fixture own;
    waiter one = {0};
    open_fixture(&own);
    assert_int_equal(ask(&own, &one), MS_CREDENTIALS_PENDING);
    ms_loop_call(own.loop, cancel_now, &(question){&own, &one});
    ms_loop_call(own.loop, destroy_now, &own);
    assert_false(own.destroyed);
    assert_true(step(&own));
    assert_true(own.destroyed);
    ms_iopool_destroy(own.pool);
    ms_loop_destroy(own.loop);
    ms_env_set_clock(NULL);
}

static void destroy_plain(void *arg)
{
    ms_credentials_destroy(arg);
}

static void fixed_credentials_are_always_ready(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_loop *loop = NULL;
    ms_secret token = {0};
    ms_str authorization;
    assert_ok(ms_loop_create("loop", &loop, &st));
    ms_secret_set(&token, ms_str_lit("tok3n"));
    ms_credentials *fixed = ms_credentials_create_static(loop, &token);
    ms_credentials *none = ms_credentials_create_none(loop);
    ms_secret_release(&token);
    assert_int_equal(ms_credentials_get(fixed, NULL, &authorization, &st), MS_CREDENTIALS_READY);
    assert_str_equal(authorization, "Bearer tok3n");
    ms_credentials_reject(fixed, authorization);
    assert_int_equal(ms_credentials_get(fixed, NULL, &authorization, &st), MS_CREDENTIALS_READY);
    assert_str_equal(authorization, "Bearer tok3n");
    assert_string_equal(ms_credentials_name(fixed), "token");
    assert_int_equal(ms_credentials_get(none, NULL, &authorization, &st), MS_CREDENTIALS_READY);
    assert_str_equal(authorization, "");
    ms_loop_call(loop, destroy_plain, fixed);
    ms_loop_call(loop, destroy_plain, none);
    ms_loop_call(loop, destroy_plain, NULL);
    ms_loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_wait_for_one_fetch),
        cmocka_unit_test(a_token_is_renewed_before_it_expires),
        cmocka_unit_test(a_failure_is_told_to_all_and_remembered_for_a_moment),
        cmocka_unit_test(a_failed_renewal_does_not_hurt_while_the_old_token_lasts),
        cmocka_unit_test(a_token_that_was_refused_is_not_given_again),
        cmocka_unit_test(a_wait_may_be_taken_back),
        cmocka_unit_test(credentials_may_go_while_they_are_fetched),
        cmocka_unit_test(fixed_credentials_are_always_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
