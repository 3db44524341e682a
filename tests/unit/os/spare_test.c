/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/memory.h"
#include "os/spare.h"

typedef struct object {
    ms_spare spare;
    int users; /* at a time: one */
    uint64_t uses;
} object;

static int freed;

static object *create_object(void)
{
    return ms_mem_calloc(1, sizeof(object));
}

static void free_object(ms_spare *spare)
{
    freed++;
    ms_mem_free(spare);
}

static void what_was_given_last_is_taken_first(void **state)
{
    (void)state;
    ms_spares spares;
    ms_spares_init(&spares, 8, sizeof(object));
    assert_null(ms_spares_take(&spares));
    object *first = create_object();
    object *second = create_object();
    first->uses = 7;
    assert_true(ms_spares_give(&spares, &first->spare));
    assert_true(ms_spares_give(&spares, &second->spare));
    assert_ptr_equal(ms_spares_take(&spares), second);
    assert_ptr_equal(ms_spares_take(&spares), first);
    assert_null(ms_spares_take(&spares));
    assert_int_equal(first->uses, 7);
    free_object(&first->spare);
    free_object(&second->spare);
    ms_spares_release(&spares, free_object);
}

static void a_full_list_takes_no_more_and_frees_what_it_has(void **state)
{
    (void)state;
    ms_spares spares;
    ms_spares_init(&spares, 2, sizeof(object));
    object *objects[3];
    for (int i = 0; i < 3; i++) {
        objects[i] = create_object();
    }
    assert_true(ms_spares_give(&spares, &objects[0]->spare));
    assert_true(ms_spares_give(&spares, &objects[1]->spare));
    assert_false(ms_spares_give(&spares, &objects[2]->spare));
    free_object(&objects[2]->spare);
    freed = 0;
    ms_spares_release(&spares, free_object);
    assert_int_equal(freed, 2);
}

/* Threads that take and give: each object has one user at a time, which plain memory would show. */

#define THREADS 3
#define ROUNDS 20000

static void use_objects(void *arg)
{
    ms_spares *spares = arg;
    for (int i = 0; i < ROUNDS; i++) {
        ms_spare *spare = ms_spares_take(spares);
        object *it = spare != NULL ? (object *)(void *)spare : create_object();
        it->users++;
        it->uses++;
        assert_int_equal(it->users, 1);
        it->users--;
        if (!ms_spares_give(spares, &it->spare)) {
            ms_mem_free(it);
        }
    }
}

static void an_object_has_one_user_at_a_time(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_spares spares;
    ms_thread threads[THREADS];
    ms_spares_init(&spares, 2, sizeof(object));
    for (int i = 0; i < THREADS; i++) {
        assert_ok(ms_thread_start(&threads[i], "user", use_objects, &spares, &st));
    }
    for (int i = 0; i < THREADS; i++) {
        ms_thread_join(&threads[i]);
    }
    ms_spares_release(&spares, free_object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_last_is_taken_first),
        cmocka_unit_test(a_full_list_takes_no_more_and_frees_what_it_has),
        cmocka_unit_test(an_object_has_one_user_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
