/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the ring: order, credit in batches and bytes, control slots, wakes under stress. */
#include "runtime/fake_job.h"

#include "runtime/runtime_priv.h"

typedef struct fixture {
    ms_arena arena;
    ms_account account;
    ms_workers *workers;
    msi_worker *worker;
    msi_actor producer;
    msi_actor consumer;
    msi_channel channel;
    ms_batch_pool *pool;
} fixture;

static bool run_nothing(msi_actor *actor, bool woken)
{
    (void)actor;
    (void)woken;
    return false;
}

/* Stepped workers: nothing runs while the test pushes and pops by hand. */
static void fixture_init(fixture *f, uint32_t slots, uint64_t credit_bytes)
{
    ms_status st = {0};
    memset(f, 0, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    ms_account_init(&f->account, NULL, "rings", NULL, MS_ACCOUNT_UNLIMITED);
    assert_ok(ms_workers_create(&(ms_workers_options){.is_stepped = true}, &f->workers, &st));
    assert_ok(msi_workers_place(f->workers, 0, &f->worker, &st));
    msi_actor_init(&f->producer, f->worker, f, run_nothing);
    msi_actor_init(&f->consumer, f->worker, f, run_nothing);
    msi_channel_init(&f->channel, slots, credit_bytes, &f->account);
    f->channel.producer = &f->producer;
    f->channel.consumer = &f->consumer;
    ms_field *columns = ms_arena_array(&f->arena, ms_field, 1);
    columns[0] = (ms_field){ms_str_lit("a"), ms_type_simple(&f->arena, MS_TYPE_BIGINT, true)};
    ms_schema schema = {1, columns};
    f->pool = ms_batch_pool_create(&schema, 16, 16);
}

static void fixture_release(fixture *f)
{
    msi_channel_drain(&f->channel);
    msi_channel_release(&f->channel);
    assert_int_equal(ms_account_used_bytes(&f->account), 0);
    msi_workers_retire(f->workers, f);
    ms_workers_destroy(f->workers);
    ms_batch_pool_destroy(f->pool);
    ms_account_release(&f->account);
    ms_arena_release(&f->arena);
}

static void push(fixture *f, int64_t value)
{
    ms_status st = {0};
    ms_batch *batch = ms_batch_pool_take(f->pool);
    assert_non_null(batch);
    MS_VEC_DATA(&batch->columns[0], int64_t)[0] = value;
    batch->rows = 1;
    assert_true(msi_channel_push_batch(&f->channel, batch, &st));
}

static int64_t pop(fixture *f, msi_item *item)
{
    assert_true(msi_channel_pop(&f->channel, item));
    assert_int_equal(item->kind, MSI_ITEM_BATCH);
    return MS_VEC_DATA(&item->u.batch->columns[0], int64_t)[0];
}

static void finish(fixture *f, const msi_item *item)
{
    ms_batch_drop(item->u.batch);
    msi_channel_release_batch(&f->channel, item->bytes);
}

static void items_come_in_order(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 4, 1u << 20);
    msi_item item;
    assert_false(msi_channel_pop(&f.channel, &item));
    push(&f, 1);
    msi_channel_push_control(&f.channel, &(msi_item){.kind = MSI_ITEM_WATERMARK, .u.watermark = 7});
    push(&f, 2);
    assert_int_equal(pop(&f, &item), 1);
    finish(&f, &item);
    assert_true(msi_channel_pop(&f.channel, &item));
    assert_int_equal(item.kind, MSI_ITEM_WATERMARK);
    assert_int_equal(item.u.watermark, 7);
    assert_int_equal(pop(&f, &item), 2);
    finish(&f, &item);
    fixture_release(&f);
}

static void credit_lasts_until_a_batch_is_released_not_popped(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 2, 1u << 20);
    push(&f, 1);
    assert_true(msi_channel_has_credit(&f.channel));
    push(&f, 2);
    assert_false(msi_channel_has_credit(&f.channel));
    /* Control items have slots of their own. */
    for (uint32_t i = 0; i < MSI_CONTROL_SLOTS; i++) {
        assert_true(msi_channel_has_control_slot(&f.channel));
        msi_channel_push_control(&f.channel, &(msi_item){.kind = MSI_ITEM_WATERMARK});
    }
    assert_false(msi_channel_has_control_slot(&f.channel));
    msi_item item;
    (void)pop(&f, &item);
    assert_false(msi_channel_has_credit(&f.channel));
    finish(&f, &item);
    assert_true(msi_channel_has_credit(&f.channel));
    fixture_release(&f);
}

static void two_batches_may_fly_whatever_their_bytes(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 8, 1);
    push(&f, 1);
    assert_true(msi_channel_has_credit(&f.channel));
    push(&f, 2);
    assert_false(msi_channel_has_credit(&f.channel));
    fixture_release(&f);
}

static void a_full_account_holds_the_producer_back_or_fails_it(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 8, 1u << 20);
    push(&f, 1);
    ms_account_set_limit(&f.account, ms_account_used_bytes(&f.account));
    ms_status st = {0};
    ms_batch *batch = ms_batch_pool_take(f.pool);
    batch->rows = 1;
    assert_false(msi_channel_push_batch(&f.channel, batch, &st));
    assert_int_equal(st.code, MS_OK);
    msi_channel_drain(&f.channel);
    ms_account_set_limit(&f.account, 1);
    assert_false(msi_channel_push_batch(&f.channel, batch, &st));
    assert_int_equal(st.code, MS_NO_MEMORY);
    ms_batch_drop(batch);
    fixture_release(&f);
}

static void a_waiting_producer_is_asked_once(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 2, 1u << 20);
    push(&f, 1);
    assert_false(msi_channel_await_release(&f.channel));
    assert_true(msi_channel_await_release(&f.channel));
    msi_item item;
    (void)pop(&f, &item);
    assert_true(msi_channel_await_release(&f.channel));
    finish(&f, &item);
    assert_false(msi_channel_await_release(&f.channel));
    fixture_release(&f);
}

/* ---- Two threads ---- */

#define STRESS_ITEMS 200000

/* Actors without workers: a wake is an unpark of the thread that plays the actor. */
typedef struct stress {
    ms_workers *workers;
    msi_channel channel;
    msi_actor producer;
    msi_actor consumer;
    _Atomic int64_t next;
    int64_t sent;
    int64_t got;
    _Atomic bool is_over;
} stress;

/* Sends control items until there is no slot; sleeps by asking for a release. */
static bool run_producer(msi_actor *actor, bool woken)
{
    (void)woken;
    stress *s = (stress *)((char *)actor - offsetof(stress, producer));
    for (;;) {
        while (s->sent < STRESS_ITEMS && msi_channel_has_control_slot(&s->channel)) {
            msi_channel_push_control(
                &s->channel, &(msi_item){.kind = MSI_ITEM_WATERMARK, .u.watermark = s->sent++});
        }
        if (s->sent == STRESS_ITEMS || msi_channel_await_release(&s->channel)) {
            return false;
        }
    }
}

static bool run_consumer(msi_actor *actor, bool woken)
{
    (void)woken;
    stress *s = (stress *)((char *)actor - offsetof(stress, consumer));
    msi_item item;
    while (msi_channel_pop(&s->channel, &item)) {
        MS_ASSERT(item.u.watermark == s->got);
        s->got++;
    }
    if (s->got == STRESS_ITEMS) {
        atomic_store(&s->is_over, true);
    }
    return false;
}

static void no_wake_is_lost_between_two_workers(void **state)
{
    (void)state;
    ms_status st = {0};
    stress *s = ms_mem_alloc_aligned(sizeof(stress), 64);
    memset(s, 0, sizeof(*s));
    ms_account account;
    ms_account_init(&account, NULL, "rings", NULL, MS_ACCOUNT_UNLIMITED);
    assert_ok(ms_workers_create(&(ms_workers_options){.count = 2}, &s->workers, &st));
    msi_worker *first = NULL;
    msi_worker *second = NULL;
    assert_ok(msi_workers_place(s->workers, 0, &first, &st));
    assert_ok(msi_workers_place(s->workers, 1, &second, &st));
    msi_channel_init(&s->channel, 2, 1000, &account);
    msi_actor_init(&s->producer, first, s, run_producer);
    msi_actor_init(&s->consumer, second, s, run_consumer);
    s->channel.producer = &s->producer;
    s->channel.consumer = &s->consumer;
    msi_actor_wake(&s->producer);
    for (int tries = 0; !atomic_load(&s->is_over); tries++) {
        assert_true(tries < 30000);
        fake_sleep_ms(1);
    }
    msi_workers_retire(s->workers, s);
    ms_workers_destroy(s->workers);
    msi_channel_release(&s->channel);
    ms_account_release(&account);
    ms_mem_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_in_order),
        cmocka_unit_test(credit_lasts_until_a_batch_is_released_not_popped),
        cmocka_unit_test(two_batches_may_fly_whatever_their_bytes),
        cmocka_unit_test(a_full_account_holds_the_producer_back_or_fails_it),
        cmocka_unit_test(a_waiting_producer_is_asked_once),
        cmocka_unit_test(no_wake_is_lost_between_two_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
