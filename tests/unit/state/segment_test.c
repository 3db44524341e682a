/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the hash table of one key group: probes stay short at every parallelism. */
#include "testing.h"

#include "state/state_priv.h"
#include "type/hash.h"

#define KEYS 20000u

/*
 * Keys that one subtask owns, put into the tables of its key groups: the bits that chose the group
 * must not be the ones that choose the slot, or the tables would be a few long runs.
 */
static uint32_t longest_probe(uint32_t parallelism)
{
    ms_account account;
    ms_account_init(&account, NULL, "state", NULL, MS_ACCOUNT_UNLIMITED);
    msi_heap heap = {.account = &account};
    msi_segment *segments[MS_KEY_GROUPS] = {0};
    ms_status st = {0};
    for (uint64_t k = 0; k < KEYS; k++) {
        ms_str key = {(char *)&k, sizeof(k)};
        uint32_t group = ms_hash_key_group(ms_hash_bytes(key));
        if (ms_hash_group_owner(group, parallelism) == 0) {
            bool added = false;
            assert_ok(msi_segment_put(&segments[group], &heap, 1, key, key, &added, &st));
            assert_true(added);
        }
    }
    uint32_t longest = 0;
    for (uint32_t g = 0; g < MS_KEY_GROUPS; g++) {
        uint32_t probe = msi_segment_longest_probe(segments[g]);
        longest = probe > longest ? probe : longest;
        msi_segment_drop(segments[g], &heap);
    }
    assert_int_equal(ms_account_used_bytes(&account), 0);
    ms_account_release(&account);
    return longest;
}

static void probes_stay_short_at_every_parallelism(void **state)
{
    (void)state;
    static const uint32_t parallelisms[] = {1, 2, 4, 16};
    for (size_t i = 0; i < 4; i++) {
        /* Linear probing at three quarters full: long runs are rare, a run of 60 never seen. */
        assert_in_range(longest_probe(parallelisms[i]), 1, 60);
    }
}

static void a_shared_segment_is_cloned_before_it_changes(void **state)
{
    (void)state;
    ms_account account;
    ms_account_init(&account, NULL, "state", NULL, MS_ACCOUNT_UNLIMITED);
    msi_heap heap = {.account = &account};
    ms_status st = {0};
    bool added = false;
    msi_segment *mine = NULL;
    assert_ok(msi_segment_put(&mine, &heap, 1, ms_str_lit("k"), ms_str_lit("old"), &added, &st));
    msi_segment *frozen = mine;
    frozen->refs++;
    assert_ok(msi_segment_put(&mine, &heap, 2, ms_str_lit("k"), ms_str_lit("new"), &added, &st));
    assert_false(added);
    assert_ptr_not_equal(mine, frozen);
    assert_str_equal(msi_entry_row(msi_segment_find(frozen, ms_str_lit("k"))), "old");
    assert_str_equal(msi_entry_row(msi_segment_find(mine, ms_str_lit("k"))), "new");
    assert_true(msi_segment_delete(&mine, &heap, 2, ms_str_lit("k")));
    assert_null(msi_segment_find(mine, ms_str_lit("k")));
    assert_false(msi_segment_delete(&mine, &heap, 2, ms_str_lit("k")));
    assert_str_equal(msi_entry_row(msi_segment_find(frozen, ms_str_lit("k"))), "old");
    msi_segment_drop(frozen, &heap);
    /* The tombstone is gone with the next change of a later epoch. */
    assert_int_equal(mine->tombstones, 1);
    assert_ok(msi_segment_put(&mine, &heap, 3, ms_str_lit("l"), ms_str_lit("x"), &added, &st));
    assert_int_equal(mine->tombstones, 0);
    assert_int_equal(mine->used, 1);
    msi_segment_drop(mine, &heap);
    ms_account_release(&account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_stay_short_at_every_parallelism),
        cmocka_unit_test(a_shared_segment_is_cloned_before_it_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
