/* SPDX-License-Identifier: Apache-2.0 */
/* Reading change streams: what is said, from where on, when it ends, and what is refused. */
#include "change_testing.h"

#include "bigtable/store/store_priv.h"

static const char *const at_m[] = {"m"};

/* Saying. */

static void changes_come_in_the_order_of_their_commits(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    stream s = stream_from(&t->f, "", "", START_MICROS);
    put(&t->f, "b", "1");
    put(&t->f, "a", "2");
    put(&t->f, "b", "3");
    assert_changes(&s, 3, "b{f:q@1000000=1} a{f:q@1000000=2} b{f:q@1000000=3}");
    put(&t->f, "a", "4");
    assert_changes(&s, 1, "a{f:q@1000000=4}");
    assert_silent(&s, &t->clock);
    stream_close(&s);
}

static void every_kind_of_mutation_is_said_as_it_was_applied(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    create_stream_table(f, NULL, 0);
    stream s = stream_from(f, "", "", START_MICROS);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("f"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("a"), &st));
    ms_str q = ms_str_lit("q");
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, q, MS_BT_TIMESTAMP_SERVER,
                                            ms_str_lit("v"), &st));
    assert_ok(ms_bt_mutation_batch_delete_column(&batch, family, q, 1000, 2000, &st));
    assert_ok(ms_bt_mutation_batch_delete_column(&batch, family, q, 0, 0, &st));
    assert_ok(ms_bt_mutation_batch_delete_family(&batch, family, &st));
    ms_bt_mutation_batch_end_row(&batch);
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("b"), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, q, 0, ms_str_lit("old"), &st));
    assert_ok(ms_bt_mutation_batch_delete_row(&batch, &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, q, 1000, ms_str_lit("new"), &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_status bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    assert_changes(&s, 2,
                   "a{f:q@1700000000000000=v,-f:q[1000,2000),-f:q[0,0),-f} "
                   "b{f:q@0=old,-f,-g,f:q@1000=new}");
    /* Of several deletions of a row the last one counts. */
    ms_bt_mutation_batch_reset(&batch);
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("c"), &st));
    assert_ok(ms_bt_mutation_batch_delete_row(&batch, &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, q, 0, ms_str_lit("old"), &st));
    assert_ok(ms_bt_mutation_batch_delete_row(&batch, &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, q, 1000, ms_str_lit("new"), &st));
    ms_bt_mutation_batch_end_row(&batch);
    bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    assert_changes(&s, 1, "c{-f,-g,f:q@1000=new}");
    ms_bt_mutation_batch_release(&batch);
    stream_close(&s);
}

static void single_row_calls_are_said_with_their_results(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    create_stream_table(f, NULL, 0);
    stream s = stream_from(f, "", "", START_MICROS);
    ms_bt_rule rule = {.kind = MS_BT_RULE_APPEND,
                       .family = ms_str_lit("f"),
                       .qualifier = ms_str_lit("q"),
                       .append = ms_str_lit("x")};
    ms_bt_read_modify_write modify;
    ms_bt_read_modify_write_init(&modify, &f->mailbox, done_nothing, NULL);
    modify.table = &f->table;
    modify.row_key = ms_str_lit("a");
    modify.rules = &rule;
    modify.rule_count = 1;
    ms_bt_client_read_modify_write(f->client, &modify);
    ms_bt_call_wait(&modify.call, &f->parker);
    assert_bt(&modify.call.status, MS_BT_OK);
    assert_changes(&s, 1, "a{f:q@1700000000000000=x}");
    ms_bt_client_read_modify_write(f->client, &modify);
    ms_bt_call_wait(&modify.call, &f->parker);
    assert_bt(&modify.call.status, MS_BT_OK);
    assert_changes(&s, 1, "a{f:q@1700000000000000=xx}");
    ms_bt_read_modify_write_release(&modify);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("g"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("a"), &st));
    assert_ok(ms_bt_mutation_batch_delete_family(&batch, family, &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_check_and_mutate check;
    ms_bt_check_and_mutate_init(&check, &f->mailbox, done_nothing, NULL);
    check.table = &f->table;
    check.row_key = ms_str_lit("a");
    check.if_true = &batch;
    ms_bt_client_check_and_mutate(f->client, &check);
    ms_bt_call_wait(&check.call, &f->parker);
    assert_bt(&check.call.status, MS_BT_OK);
    assert_true(check.predicate_matched);
    assert_changes(&s, 1, "a{-g}");
    /* The branch that was not chosen is not there. */
    check.row_key = ms_str_lit("none");
    check.if_true = NULL;
    check.if_false = NULL;
    ms_bt_mutation_batch other;
    ms_bt_mutation_batch_init(&other, 1u << 20);
    assert_ok(ms_bt_mutation_batch_family(&other, ms_str_lit("g"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&other, ms_str_lit("none"), &st));
    assert_ok(ms_bt_mutation_batch_delete_family(&other, family, &st));
    ms_bt_mutation_batch_end_row(&other);
    check.if_true = &other;
    ms_bt_client_check_and_mutate(f->client, &check);
    ms_bt_call_wait(&check.call, &f->parker);
    assert_bt(&check.call.status, MS_BT_OK);
    assert_false(check.predicate_matched);
    assert_silent(&s, &t->clock);
    ms_bt_check_and_mutate_release(&check);
    ms_bt_mutation_batch_release(&other);
    ms_bt_mutation_batch_release(&batch);
    stream_close(&s);
}

static void refused_writes_are_not_said(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    stream s = stream_from(&t->f, "", "", START_MICROS);
    ms_bt_status bt = set_cell(&t->f, "a", "none", "q", 0, "v");
    assert_bt(&bt, MS_BT_NOT_FOUND);
    put(&t->f, "b", "1");
    assert_changes(&s, 1, "b{f:q@1000000=1}");
    stream_close(&s);
}

static void large_values_arrive_whole(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    create_stream_table(f, NULL, 0);
    stream s = stream_from(f, "", "", START_MICROS);
    size_t bytes = 8u << 20;
    char *value = malloc(bytes);
    memset(value, 'x', bytes);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 16u << 20);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("f"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("a"), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("q"), 0,
                                            ms_str_make(value, bytes), &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_status bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    const ms_bt_change_page *page = NULL;
    assert_int_equal(ms_bt_change_read_wait(s.read, &f->parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->change_count, 1);
    ms_str got = page->changes[0].mutations[0].value;
    assert_int_equal(got.bytes, bytes);
    assert_memory_equal(got.ptr, value, bytes);
    ms_bt_change_read_return(s.read, page);
    ms_bt_mutation_batch_release(&batch);
    free(value);
    stream_close(&s);
}

static void pages_end_at_their_size(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    for (int i = 0; i < 20; i++) {
        put(&t->f, "a", "0123456789012345678901234567890123456789");
    }
    stream s = stream_open(
        &t->f, &(ms_bt_change_options){.start_micros = START_MICROS, .page_bytes_max = 100});
    const ms_bt_change_page *page = NULL;
    assert_int_equal(ms_bt_change_read_wait(s.read, &t->f.parker, &page), MS_BT_POLL_PAGE);
    assert_true(page->change_count >= 1 && page->change_count <= 2);
    size_t seen = page->change_count;
    ms_bt_change_read_return(s.read, page);
    while (seen < 20) {
        assert_int_equal(ms_bt_change_read_wait(s.read, &t->f.parker, &page), MS_BT_POLL_PAGE);
        seen += page->change_count;
        ms_bt_change_read_return(s.read, page);
    }
    assert_int_equal(seen, 20);
    stream_close(&s);
}

/* Heartbeats and times. */

static void heartbeats_say_that_nothing_happened(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    put(&t->f, "a", "1");
    stream s = stream_open(
        &t->f, &(ms_bt_change_options){.start_micros = START_MICROS, .heartbeat_ms = 1000});
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    assert_int_equal(s.watermark_micros, s.commit_micros);
    ms_env_clock_advance_us(&t->clock, 1000000);
    assert_stream_of(&s, 1, true, "heartbeat");
    assert_int_equal(s.watermark_micros, START_MICROS + 1000000);
    ms_env_clock_advance_us(&t->clock, 1000000);
    assert_stream_of(&s, 1, true, "heartbeat");
    assert_int_equal(s.watermark_micros, START_MICROS + 2000000);
    /* What comes later is later than the watermark, though the clock stood still. */
    put(&t->f, "a", "2");
    assert_changes(&s, 1, "a{f:q@1000000=2}");
    assert_true(s.commit_micros > START_MICROS + 2000000);
    stream_close(&s);
}

static void watermark_holds_though_the_clock_steps_back_over_a_restart(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    stream s = stream_from(&t->f, "", "", START_MICROS);
    ms_env_clock_advance_us(&t->clock, 3600 * INT64_C(1000000));
    assert_stream_of(&s, 1, true, "heartbeat");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str token = ms_arena_copy_str(&arena, s.token);
    int64_t watermark = s.watermark_micros;
    stream_close(&s);
    fixture_close(&t->f);
    ms_env_clock_advance_us(&t->clock, -1800 * INT64_C(1000000));
    fixture_open(&t->f);
    put(&t->f, "a", "1");
    s = stream_behind(&t->f, range_of("", ""), token);
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    assert_true(s.commit_micros > watermark);
    stream_close(&s);
    ms_arena_release(&arena);
}

/* The store's clock never goes back, so it is ahead once the machine's was and was set right. */
static void a_stream_begun_when_the_clock_had_stepped_back_is_read_from_now(void **state)
{
    timed *t = *state;
    const int64_t second = 1000000;
    ms_env_clock_advance_us(&t->clock, 3600 * second);
    create_stream_table(&t->f, NULL, 0);
    ms_bt_status bt = call_with_key(&t->f, "", ms_bt_client_drop_table);
    assert_bt(&bt, MS_BT_OK);
    ms_env_clock_advance_us(&t->clock, -1800 * second);
    const int64_t created = START_MICROS + 1800 * second;
    const char *const families[] = {"f"};
    create_table(&t->f, families, 1);
    ms_env_clock_advance_us(&t->clock, 60 * second);
    bt = set_retention(&t->f, DAY_MICROS);
    assert_bt(&bt, MS_BT_OK);
    put(&t->f, "a", "2");
    for (int turn = 0; turn < 3; turn++) {
        stream s = stream_from(&t->f, "", "", created - 1);
        assert_stream_fails(&s, MS_BT_INVALID_ARGUMENT, "is before the table was created");
        stream_close(&s);
        s = stream_from(&t->f, "", "", created + 60 * second - 1000);
        assert_stream_fails(&s, MS_BT_OUT_OF_RANGE, "older than the changes that are retained");
        stream_close(&s);
        s = stream_from(&t->f, "", "", created + 60 * second);
        assert_changes(&s, 1, "a{f:q@1000000=2}");
        stream_close(&s);
        if (turn == 0) {
            fixture_close(&t->f);
            fixture_open(&t->f);
        }
        /* At the last turn the machine's clock has come past the store's. */
        ms_env_clock_advance_us(&t->clock, 900 * second);
    }
}

static void stream_ends_with_its_end_time(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    put(&t->f, "a", "1");
    stream s = stream_from(&t->f, "", "", START_MICROS);
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    int64_t first = s.commit_micros;
    stream_close(&s);
    put(&t->f, "a", "2");
    put(&t->f, "a", "3");
    /* The end is inclusive. */
    s = stream_open(&t->f, &(ms_bt_change_options){.start_micros = first, .end_micros = first + 1});
    assert_changes(&s, 3, "a{f:q@1000000=1} a{f:q@1000000=2} close OK");
    const ms_bt_change_page *page = NULL;
    assert_int_equal(ms_bt_change_read_poll(s.read, &page), MS_BT_POLL_END);
    stream_close(&s);
    /* An end that nobody has reached comes with the time, without a write. */
    s = stream_open(&t->f, &(ms_bt_change_options){.start_micros = first,
                                                   .end_micros = START_MICROS + 2000000});
    assert_changes(&s, 3, "a{f:q@1000000=1} a{f:q@1000000=2} a{f:q@1000000=3}");
    ms_env_clock_advance_us(&t->clock, 2000001);
    assert_stream_of(&s, 1, true, "close OK");
    stream_close(&s);
    /* And one that is past at once, though the last commit is older. */
    s = stream_open(&t->f, &(ms_bt_change_options){.start_micros = first,
                                                   .end_micros = START_MICROS + 1000000});
    assert_stream_of(&s, 4, true, "a{f:q@1000000=1} a{f:q@1000000=2} a{f:q@1000000=3} close OK");
    stream_close(&s);
}

static void stream_without_a_start_begins_now(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    put(&t->f, "a", "1");
    stream s = stream_from_now(&t->f, "", "");
    assert_silent(&s, &t->clock);
    put(&t->f, "a", "2");
    assert_changes(&s, 1, "a{f:q@1000000=2}");
    stream_close(&s);
}

/* Tokens. */

static void tokens_go_on_behind_their_change_also_after_a_restart(void **state)
{
    timed *t = *state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    create_stream_table(&t->f, at_m, 1);
    put(&t->f, "a", "1");
    put(&t->f, "z", "other");
    put(&t->f, "a", "2");
    put(&t->f, "a", "3");
    stream s = stream_open(&t->f, &(ms_bt_change_options){.partition = range_of("", "m"),
                                                          .start_micros = START_MICROS,
                                                          .page_bytes_max = 1});
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    ms_str token = ms_arena_copy_str(&arena, s.token);
    stream_close(&s);
    fixture_close(&t->f);
    fixture_open(&t->f);
    s = stream_behind(&t->f, range_of("", "m"), token);
    assert_changes(&s, 2, "a{f:q@1000000=2} a{f:q@1000000=3}");
    assert_silent(&s, &t->clock);
    /* The token of a heartbeat is one too. */
    token = ms_arena_copy_str(&arena, s.token);
    stream_close(&s);
    put(&t->f, "a", "4");
    s = stream_behind(&t->f, range_of("", "m"), token);
    assert_changes(&s, 1, "a{f:q@1000000=4}");
    stream_close(&s);
    ms_arena_release(&arena);
}

static void partitions_are_the_tablets(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    ms_bt_partitions call;
    ms_bt_partitions_init(&call, &t->f.mailbox, done_nothing, NULL);
    call.table = &t->f.table;
    ms_bt_client_partitions(t->f.client, &call);
    ms_bt_call_wait(&call.call, &t->f.parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_buf out;
    ms_buf_init(&out, 1024);
    for (size_t i = 0; i < call.partition_count; i++) {
        append_range(&out, &call.partitions[i]);
    }
    assert_str_equal(ms_buf_view(&out), "[,m)[m,)");
    ms_buf_release(&out);
    ms_bt_status bt = set_retention(&t->f, 0);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_client_partitions(t->f.client, &call);
    ms_bt_call_wait(&call.call, &t->f.parker);
    assert_bt(&call.call.status, MS_BT_FAILED_PRECONDITION);
    ms_bt_partitions_release(&call);
}

static void partitions_say_only_their_rows(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    stream left = stream_from(&t->f, "", "m", START_MICROS);
    stream right = stream_from(&t->f, "m", "", START_MICROS);
    put(&t->f, "a", "1");
    put(&t->f, "m", "2");
    put(&t->f, "z", "3");
    assert_changes(&left, 1, "a{f:q@1000000=1}");
    assert_changes(&right, 2, "m{f:q@1000000=2} z{f:q@1000000=3}");
    assert_silent(&left, &t->clock);
    assert_silent(&right, &t->clock);
    stream_close(&left);
    stream_close(&right);
}

/* Splits and merges. */

static void a_split_closes_the_stream_with_a_token_for_each_part(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    stream s = stream_from(&t->f, "", "", START_MICROS);
    put(&t->f, "a", "1");
    put(&t->f, "z", "2");
    split(&t->f, "m");
    put(&t->f, "a", "3");
    put(&t->f, "z", "4");
    assert_changes(&s, 3, "a{f:q@1000000=1} z{f:q@1000000=2} close [,m)>[,m) [m,)>[m,)");
    stream left = stream_behind(&t->f, s.partitions[0], s.tokens[0].token);
    stream right = stream_behind(&t->f, s.partitions[1], s.tokens[1].token);
    assert_changes(&left, 1, "a{f:q@1000000=3}");
    assert_changes(&right, 1, "z{f:q@1000000=4}");
    stream_close(&left);
    stream_close(&right);
    stream_close(&s);
}

static void a_waiting_stream_hears_of_a_split(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    stream s = stream_from(&t->f, "", "", START_MICROS);
    put(&t->f, "a", "1");
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    split(&t->f, "m");
    assert_changes(&s, 1, "close [,m)>[,m) [m,)>[m,)");
    stream_close(&s);
}

static void a_merge_gives_every_part_a_token_for_the_whole(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    stream left = stream_from(&t->f, "", "m", START_MICROS);
    stream right = stream_from(&t->f, "m", "", START_MICROS);
    put(&t->f, "a", "1");
    put(&t->f, "z", "2");
    merge(&t->f, "m");
    put(&t->f, "a", "3");
    put(&t->f, "z", "4");
    assert_changes(&left, 2, "a{f:q@1000000=1} close [,m)>[,)");
    assert_changes(&right, 2, "z{f:q@1000000=2} close [m,)>[,)");
    ms_bt_change_token tokens[] = {right.tokens[0], left.tokens[0]};
    stream s = stream_open(&t->f, &(ms_bt_change_options){.tokens = tokens, .token_count = 2});
    assert_changes(&s, 2, "a{f:q@1000000=3} z{f:q@1000000=4}");
    assert_silent(&s, &t->clock);
    stream_close(&s);
    /* A part may also be read alone, and then says its rows only. */
    s = stream_behind(&t->f, left.tokens[0].partition, left.tokens[0].token);
    assert_changes(&s, 1, "a{f:q@1000000=3}");
    assert_silent(&s, &t->clock);
    stream_close(&s);
    stream_close(&left);
    stream_close(&right);
}

static void parts_that_are_read_alone_meet_again_when_their_tablet_ends(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    stream left = stream_from(&t->f, "", "m", START_MICROS);
    stream right = stream_from(&t->f, "m", "", START_MICROS);
    merge(&t->f, "m");
    assert_changes(&left, 1, "close [,m)>[,)");
    assert_changes(&right, 1, "close [m,)>[,)");
    stream one = stream_behind(&t->f, left.tokens[0].partition, left.tokens[0].token);
    stream two = stream_behind(&t->f, right.tokens[0].partition, right.tokens[0].token);
    put(&t->f, "a", "1");
    put(&t->f, "z", "2");
    split(&t->f, "p");
    /* [m,) lies in both new tablets, of which [,p) needs the tokens of both parts. */
    assert_changes(&one, 2, "a{f:q@1000000=1} close [,m)>[,p)");
    assert_changes(&two, 2, "z{f:q@1000000=2} close [m,p)>[,p) [p,)>[p,)");
    put(&t->f, "n", "3");
    ms_bt_change_token tokens[] = {one.tokens[0], two.tokens[0]};
    stream s =
        stream_open(&t->f, &(ms_bt_change_options){
                               .partition = range_of("", "p"), .tokens = tokens, .token_count = 2});
    assert_changes(&s, 1, "n{f:q@1000000=3}");
    stream_close(&s);
    stream_close(&one);
    stream_close(&two);
    stream_close(&left);
    stream_close(&right);
}

static void tokens_from_before_a_split_and_a_merge_lead_to_the_present(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    put(&t->f, "a", "1");
    stream s = stream_open(
        &t->f, &(ms_bt_change_options){.start_micros = START_MICROS, .page_bytes_max = 1});
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str token = ms_arena_copy_str(&arena, s.token);
    stream_close(&s);
    put(&t->f, "z", "2");
    split(&t->f, "m");
    put(&t->f, "a", "3");
    fixture_close(&t->f);
    fixture_open(&t->f);
    put(&t->f, "z", "4");
    merge(&t->f, "m");
    put(&t->f, "z", "5");
    s = stream_behind(&t->f, range_of("", ""), token);
    assert_changes(&s, 2, "z{f:q@1000000=2} close [,m)>[,m) [m,)>[m,)");
    stream left = stream_behind(&t->f, s.partitions[0], s.tokens[0].token);
    stream right = stream_behind(&t->f, s.partitions[1], s.tokens[1].token);
    assert_changes(&left, 2, "a{f:q@1000000=3} close [,m)>[,)");
    assert_changes(&right, 2, "z{f:q@1000000=4} close [m,)>[,)");
    ms_bt_change_token tokens[] = {left.tokens[0], right.tokens[0]};
    stream whole = stream_open(&t->f, &(ms_bt_change_options){.tokens = tokens, .token_count = 2});
    assert_changes(&whole, 1, "z{f:q@1000000=5}");
    stream_close(&whole);
    stream_close(&left);
    stream_close(&right);
    stream_close(&s);
    ms_arena_release(&arena);
}

static void a_partition_read_from_the_past_comes_through_what_it_was(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    put(&t->f, "a", "1");
    put(&t->f, "z", "other");
    split(&t->f, "m");
    put(&t->f, "a", "2");
    split(&t->f, "c");
    put(&t->f, "a", "3");
    merge(&t->f, "c");
    put(&t->f, "a", "4");
    split(&t->f, "b");
    put(&t->f, "a", "5");
    put(&t->f, "b", "other");
    /* [,b) was in [,), [,m), [,c), [,m) again, and is [,b) now. */
    static const char *const expected[] = {
        "a{f:q@1000000=1} close [,b)>[,m)", "a{f:q@1000000=2} close [,b)>[,c)",
        "a{f:q@1000000=3} close [,b)>[,m)", "a{f:q@1000000=4} close [,b)>[,b)"};
    stream s = stream_from(&t->f, "", "b", START_MICROS);
    for (size_t i = 0; i < 4; i++) {
        assert_changes(&s, 2, expected[i]);
        stream next = stream_behind(&t->f, range_of("", "b"), s.tokens[0].token);
        stream_close(&s);
        s = next;
    }
    assert_changes(&s, 1, "a{f:q@1000000=5}");
    assert_silent(&s, &t->clock);
    split(&t->f, "aa");
    assert_changes(&s, 1, "close [,aa)>[,aa) [aa,b)>[aa,b)");
    stream_close(&s);
}

static void a_merged_partition_read_from_the_past_is_taken_apart_and_put_together(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    put(&t->f, "a", "1");
    put(&t->f, "z", "2");
    put(&t->f, "a", "3");
    merge(&t->f, "m");
    put(&t->f, "z", "4");
    stream s = stream_from(&t->f, "", "", START_MICROS);
    assert_changes(&s, 1, "close [,m)>[,m) [m,)>[m,)");
    stream left = stream_behind(&t->f, s.partitions[0], s.tokens[0].token);
    stream right = stream_behind(&t->f, s.partitions[1], s.tokens[1].token);
    assert_changes(&left, 3, "a{f:q@1000000=1} a{f:q@1000000=3} close [,m)>[,)");
    assert_changes(&right, 2, "z{f:q@1000000=2} close [m,)>[,)");
    ms_bt_change_token tokens[] = {left.tokens[0], right.tokens[0]};
    stream whole = stream_open(&t->f, &(ms_bt_change_options){.tokens = tokens, .token_count = 2});
    assert_changes(&whole, 1, "z{f:q@1000000=4}");
    assert_silent(&whole, &t->clock);
    stream_close(&whole);
    stream_close(&left);
    stream_close(&right);
    stream_close(&s);
}

/* Partitions of one time lead to the same places whenever they are opened, so that what waits for
 * all its tokens gets them: here one is opened before a merge, and one when the same tablets were
 * made again. */
static void partitions_that_are_opened_around_a_merge_meet_in_it(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    put(&t->f, "a", "1");
    put(&t->f, "z", "2");
    stream right = stream_from(&t->f, "m", "", START_MICROS);
    assert_changes(&right, 1, "z{f:q@1000000=2}");
    merge(&t->f, "m");
    put(&t->f, "z", "3");
    split(&t->f, "m");
    put(&t->f, "a", "4");
    stream left = stream_from(&t->f, "", "m", START_MICROS);
    assert_changes(&right, 1, "close [m,)>[,)");
    assert_changes(&left, 2, "a{f:q@1000000=1} close [,m)>[,)");
    ms_bt_change_token tokens[] = {right.tokens[0], left.tokens[0]};
    stream whole = stream_open(&t->f, &(ms_bt_change_options){.tokens = tokens, .token_count = 2});
    assert_changes(&whole, 2, "z{f:q@1000000=3} close [,m)>[,m) [m,)>[m,)");
    stream again = stream_behind(&t->f, whole.partitions[0], whole.tokens[0].token);
    assert_changes(&again, 1, "a{f:q@1000000=4}");
    stream_close(&again);
    stream_close(&whole);
    stream_close(&left);
    stream_close(&right);
}

static void a_range_that_is_no_partition_is_read_within_its_tablet(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    stream s = stream_from(&t->f, "b", "d", START_MICROS);
    put(&t->f, "a", "1");
    put(&t->f, "b", "2");
    put(&t->f, "d", "3");
    put(&t->f, "c", "4");
    assert_changes(&s, 2, "b{f:q@1000000=2} c{f:q@1000000=4}");
    split(&t->f, "c");
    assert_changes(&s, 1, "close [b,c)>[,c) [c,d)>[c,m)");
    stream_close(&s);
}

static void a_range_over_several_tablets_is_taken_apart(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    put(&t->f, "c", "1");
    put(&t->f, "z", "2");
    stream s = stream_from(&t->f, "b", "", START_MICROS);
    assert_changes(&s, 1, "close [b,m)>[b,m) [m,)>[m,)");
    stream left = stream_behind(&t->f, s.partitions[0], s.tokens[0].token);
    stream right = stream_behind(&t->f, s.partitions[1], s.tokens[1].token);
    assert_changes(&left, 1, "c{f:q@1000000=1}");
    assert_changes(&right, 1, "z{f:q@1000000=2}");
    stream_close(&left);
    stream_close(&right);
    stream_close(&s);
}

static void a_partition_that_was_split_before_it_was_opened_leads_to_its_parts(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    put(&t->f, "a", "1");
    split(&t->f, "m");
    put(&t->f, "a", "2");
    ms_env_clock_advance_us(&t->clock, 1000000);
    put(&t->f, "a", "3");
    /* From a time when it was there, and from one when it was not. */
    stream s = stream_from(&t->f, "", "", START_MICROS);
    assert_changes(&s, 2, "a{f:q@1000000=1} close [,m)>[,m) [m,)>[m,)");
    stream_close(&s);
    s = stream_from(&t->f, "", "", START_MICROS + 500000);
    assert_changes(&s, 1, "close [,m)>[,m) [m,)>[m,)");
    stream left = stream_behind(&t->f, s.partitions[0], s.tokens[0].token);
    assert_changes(&left, 1, "a{f:q@1000000=3}");
    stream_close(&left);
    stream_close(&s);
}

static void tokens_of_different_places_are_given_back_one_by_one(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, at_m, 1);
    stream left = stream_from(&t->f, "", "m", START_MICROS);
    stream right = stream_from(&t->f, "m", "", START_MICROS);
    put(&t->f, "a", "1");
    put(&t->f, "z", "2");
    put(&t->f, "z", "3");
    assert_changes(&left, 1, "a{f:q@1000000=1}");
    assert_changes(&right, 2, "z{f:q@1000000=2} z{f:q@1000000=3}");
    ms_bt_change_token tokens[] = {{range_of("m", ""), right.token},
                                   {range_of("", "m"), left.token}};
    stream s = stream_open(&t->f, &(ms_bt_change_options){.tokens = tokens, .token_count = 2});
    assert_changes(&s, 1, "close [,m)>[,m) [m,)>[m,)");
    put(&t->f, "z", "4");
    stream again = stream_behind(&t->f, s.partitions[1], s.tokens[1].token);
    assert_changes(&again, 1, "z{f:q@1000000=4}");
    stream_close(&again);
    stream_close(&s);
    stream_close(&left);
    stream_close(&right);
}

static void an_end_time_before_a_split_ends_the_stream_without_tokens(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    put(&t->f, "a", "1");
    ms_env_clock_advance_us(&t->clock, 1000000);
    split(&t->f, "m");
    stream s = stream_open(&t->f, &(ms_bt_change_options){.start_micros = START_MICROS,
                                                          .end_micros = START_MICROS + 500000});
    assert_changes(&s, 2, "a{f:q@1000000=1} close OK");
    stream_close(&s);
    s = stream_open(&t->f, &(ms_bt_change_options){.start_micros = START_MICROS,
                                                   .end_micros = START_MICROS + 1000000});
    assert_changes(&s, 2, "a{f:q@1000000=1} close [,m)>[,m) [m,)>[m,)");
    stream_close(&s);
}

/* Refusals. */

static void positions_that_cannot_be_are_refused(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, at_m, 1);
    struct {
        ms_bt_change_options options;
        ms_bt_code code;
        const char *text;
    } cases[] = {
        {{.start_micros = START_MICROS + 9}, MS_BT_INVALID_ARGUMENT, "start_time"},
        {{.start_micros = START_MICROS - 1},
         MS_BT_INVALID_ARGUMENT,
         "before the table was created"},
        {{.start_micros = -1}, MS_BT_INVALID_ARGUMENT, "start_time"},
        {{.end_micros = -1}, MS_BT_INVALID_ARGUMENT, "end_time"},
        {{.partition = range_of("b", "a")}, MS_BT_INVALID_ARGUMENT, "partition.row_range"},
        {{.partition = range_of("a", "a")}, MS_BT_INVALID_ARGUMENT, "partition.row_range"},
        {{.partition = {{MS_BT_BOUND_OPEN, ms_str_lit("a")}, {0}}},
         MS_BT_INVALID_ARGUMENT,
         "partition.row_range"},
        {{.partition = {{0}, {MS_BT_BOUND_CLOSED, ms_str_lit("a")}}},
         MS_BT_INVALID_ARGUMENT,
         "partition.row_range"},
        {{.app_profile = ms_str_lit("none")}, MS_BT_NOT_FOUND, "create-profile p/i/none"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        stream s = stream_open(f, &cases[i].options);
        assert_stream_fails(&s, cases[i].code, cases[i].text);
        stream_close(&s);
    }
}

static void tokens_that_do_not_fit_are_refused(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, at_m, 1);
    put(f, "a", "1");
    stream left = stream_from(f, "", "m", START_MICROS);
    assert_changes(&left, 1, "a{f:q@1000000=1}");
    ms_bt_change_token good = {range_of("", "m"), left.token};
    struct {
        ms_bt_range partition;
        ms_bt_change_token tokens[2];
        size_t count;
        const char *text;
    } cases[] = {
        {range_of("", "m"), {{range_of("", "m"), ms_str_lit("nonsense")}}, 1, "is no token"},
        {range_of("", "m"), {{range_of("", "m"), ms_str_lit("")}}, 1, "is no token"},
        {range_of("", "m"), {{range_of("", "m"), ms_str_lit("ms1.7.1.5.0")}}, 1, "another table"},
        {range_of("", "m"), {{range_of("", "m"), ms_str_lit("ms1.1.99.5.0")}}, 1, "no tablet"},
        {range_of("m", ""), {{range_of("m", ""), left.token}}, 1, "another partition"},
        {range_of("", "n"), {good}, 1, "must tile"},
        {range_of("", ""), {good}, 1, "must tile"},
        {range_of("", "m"), {good, good}, 2, "must tile"},
        {range_of("", "m"),
         {{range_of("", "c"), left.token}, {range_of("d", "m"), left.token}},
         2,
         "must tile"},
        {range_of("", "m"),
         {{{{MS_BT_BOUND_OPEN, ms_str_lit("")}, {0}}, left.token}},
         1,
         "partition.row_range"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        stream s = stream_open(f, &(ms_bt_change_options){.partition = cases[i].partition,
                                                          .tokens = cases[i].tokens,
                                                          .token_count = cases[i].count});
        assert_stream_fails(&s, MS_BT_INVALID_ARGUMENT, cases[i].text);
        stream_close(&s);
    }
    stream_close(&left);
}

/* Writes a first row, and reads it: the token behind it. */
static ms_str token_behind_first(fixture *f, ms_arena *arena)
{
    put(f, "a", "1");
    stream s = stream_from(f, "", "", START_MICROS);
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    ms_str token = ms_arena_copy_str(arena, s.token);
    stream_close(&s);
    return token;
}

static void positions_beyond_the_retention_are_out_of_range(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str old = token_behind_first(f, &arena);
    ms_env_clock_advance_us(&t->clock, DAY_MICROS - 1000);
    put(f, "a", "2");
    stream s = stream_behind(f, range_of("", ""), old);
    assert_changes(&s, 1, "a{f:q@1000000=2}");
    stream_close(&s);
    ms_env_clock_advance_us(&t->clock, 2000);
    s = stream_behind(f, range_of("", ""), old);
    assert_stream_fails(&s, MS_BT_OUT_OF_RANGE, "older than the changes that are retained");
    stream_close(&s);
    s = stream_from(f, "", "", START_MICROS);
    assert_stream_fails(&s, MS_BT_OUT_OF_RANGE, "older than the changes that are retained");
    stream_close(&s);
    ms_arena_release(&arena);
}

static void a_longer_retention_brings_no_position_back(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str old = token_behind_first(f, &arena);
    split(f, "m");
    ms_env_clock_advance_us(&t->clock, 2 * DAY_MICROS);
    put(f, "a", "2");
    ms_bt_store_tick(f->store); /* removes what is older than a day, and forgets the first tablet */
    ms_bt_status bt = set_retention(f, 7 * DAY_MICROS);
    assert_bt(&bt, MS_BT_OK);
    stream s = stream_behind(f, range_of("", ""), old);
    assert_stream_fails(&s, MS_BT_OUT_OF_RANGE, "older than the changes that are retained");
    stream_close(&s);
    s = stream_from(f, "", "", START_MICROS);
    assert_stream_fails(&s, MS_BT_OUT_OF_RANGE, "older than the changes that are retained");
    stream_close(&s);
    /* What was retained so far is retained longer. */
    ms_env_clock_advance_us(&t->clock, 3 * DAY_MICROS);
    s = stream_from(f, "", "m", START_MICROS + 2 * DAY_MICROS - 1000);
    assert_changes(&s, 1, "a{f:q@1000000=2}");
    stream_close(&s);
    ms_arena_release(&arena);
}

static void a_reader_that_is_too_slow_is_told(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    for (int i = 0; i < 10; i++) {
        put(f, "a", "1");
    }
    stream s =
        stream_open(f, &(ms_bt_change_options){.start_micros = START_MICROS, .page_bytes_max = 1});
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    ms_env_clock_advance_us(&t->clock, 2 * DAY_MICROS);
    ms_bt_store_tick(f->store);
    const ms_bt_change_page *page = NULL;
    ms_bt_poll poll = ms_bt_change_read_wait(s.read, &f->parker, &page);
    while (poll == MS_BT_POLL_PAGE) {
        ms_bt_change_read_return(s.read, page);
        poll = ms_bt_change_read_wait(s.read, &f->parker, &page);
    }
    assert_int_equal(poll, MS_BT_POLL_FAILED);
    assert_bt(ms_bt_change_read_status(s.read), MS_BT_OUT_OF_RANGE);
    stream_close(&s);
}

static void an_idle_reader_does_not_grow_old(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    stream s = stream_from(f, "", "", START_MICROS);
    for (int i = 0; i < 60; i++) {
        ms_env_clock_advance_us(&t->clock, INT64_C(3600) * 1000000);
        assert_stream_of(&s, 1, true, "heartbeat");
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str token = ms_arena_copy_str(&arena, s.token);
    stream_close(&s);
    put(f, "a", "1");
    s = stream_behind(f, range_of("", ""), token);
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    stream_close(&s);
    ms_arena_release(&arena);
}

/* Switching streams off and on. */

static void a_stream_that_is_switched_off_ends_its_readers(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    put(f, "a", "1");
    stream s = stream_from(f, "", "", START_MICROS);
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str old = ms_arena_copy_str(&arena, s.token);
    ms_bt_status bt = set_retention(f, 0);
    assert_bt(&bt, MS_BT_OK);
    assert_stream_fails(&s, MS_BT_FAILED_PRECONDITION, "Change stream is not enabled for table");
    stream_close(&s);
    put(f, "a", "2");
    ms_env_clock_advance_us(&t->clock, 1000000);
    bt = set_retention(f, 7 * DAY_MICROS);
    assert_bt(&bt, MS_BT_OK);
    put(f, "a", "3");
    /* What was written without a stream is in none, and the old position is gone. */
    s = stream_behind(f, range_of("", ""), old);
    assert_stream_fails(&s, MS_BT_OUT_OF_RANGE, "older than the changes");
    stream_close(&s);
    s = stream_from(f, "", "", START_MICROS + 1000000);
    assert_changes(&s, 1, "a{f:q@1000000=3}");
    stream_close(&s);
    ms_arena_release(&arena);
}

static void a_dropped_table_ends_its_readers(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    put(f, "a", "1");
    stream s = stream_from(f, "", "", START_MICROS);
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str old = ms_arena_copy_str(&arena, s.token);
    ms_bt_status bt = call_with_key(f, "", ms_bt_client_drop_table);
    assert_bt(&bt, MS_BT_OK);
    assert_stream_fails(&s, MS_BT_NOT_FOUND, "No tables found");
    stream_close(&s);
    /* A new table of the name has another log. */
    create_stream_table(f, NULL, 0);
    s = stream_behind(f, range_of("", ""), old);
    assert_stream_fails(&s, MS_BT_INVALID_ARGUMENT, "is of another table");
    stream_close(&s);
    ms_arena_release(&arena);
}

static void dropped_rows_are_said(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, at_m, 1);
    put(f, "aa", "1");
    put(f, "ab", "2");
    put(f, "b", "3");
    stream s = stream_from_now(f, "", "m");
    drop_rows(f, "a");
    assert_changes(&s, 2, "aa{-f,-g} ab{-f,-g}");
    assert_rows(f, "b{f:q@1000000=3}");
    assert_silent(&s, &t->clock);
    drop_rows(f, "");
    assert_changes(&s, 1, "b{-f,-g}");
    assert_rows(f, "");
    stream_close(&s);
}

/* The safe time as it was before the last commits, as a reader finds it that looks while they are
 * written but not published. The next split publishes them all, and wakes all readers. */
static void set_safe(fixture *f, int64_t micros)
{
    /* The leader publishes once more after it has answered. */
    msi_commit_drain(f->store);
    atomic_store(&f->store->safe_micros, micros);
}

static void changes_are_read_only_up_to_the_safe_time(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    put(f, "a", "1");
    int64_t safe = msi_store_safe_micros(f->store);
    put(f, "a", "2");
    split(f, "m");
    set_safe(f, safe);
    /* The whole, which has ended since; its left half, which was a part of it; and from now on. */
    stream now = stream_from_now(f, "", "m");
    stream whole = stream_from(f, "", "", START_MICROS);
    stream left = stream_from(f, "", "m", START_MICROS);
    const ms_bt_change_page *page = NULL;
    stream *both[] = {&whole, &left};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ms_bt_change_read_wait(both[i]->read, &f->parker, &page), MS_BT_POLL_PAGE);
        assert_int_equal(page->change_count, 1);
        assert_str_equal(page->changes[0].mutations[0].value, "1");
        ms_bt_change_read_return(both[i]->read, page);
    }
    split(f, "x");
    put(f, "a", "3");
    assert_changes(&whole, 2, "a{f:q@1000000=2} close [,m)>[,m) [m,)>[m,)");
    assert_changes(&left, 2, "a{f:q@1000000=2} close [,m)>[,m)");
    assert_changes(&now, 2, "a{f:q@1000000=2} close [,m)>[,m)");
    stream next = stream_behind(f, now.partitions[0], now.tokens[0].token);
    assert_changes(&next, 1, "a{f:q@1000000=3}");
    stream_close(&next);
    stream_close(&whole);
    stream_close(&left);
    stream_close(&now);
}

/* Without heartbeats, a reader that overheard a commit would wait for ever. */
static void a_commit_while_a_reader_looks_is_not_missed(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    create_stream_table(f, NULL, 0);
    stream s = stream_open(
        f, &(ms_bt_change_options){.start_micros = START_MICROS, .heartbeat_ms = INT64_MAX});
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 16);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("f"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("a"), &st));
    assert_ok(
        ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("q"), 0, ms_str_lit("v"), &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    call.batch = &batch;
    for (int i = 0; i < 3000; i++) {
        /* The reader looks for more while the commit is made. */
        ms_bt_client_mutate_rows(f->client, &call);
        assert_changes(&s, 1, "a{f:q@0=v}");
        ms_bt_call_wait(&call.call, &f->parker);
        assert_bt(&call.call.status, MS_BT_OK);
    }
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
    stream_close(&s);
}

static void a_canceled_reader_comes_back(void **state)
{
    timed *t = *state;
    create_stream_table(&t->f, NULL, 0);
    /* Closed while it waits, while it has a page, and before anything. */
    stream s = stream_from(&t->f, "", "", START_MICROS);
    put(&t->f, "a", "1");
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    stream_close(&s);
    s = stream_from(&t->f, "", "", START_MICROS);
    const ms_bt_change_page *page = NULL;
    assert_int_equal(ms_bt_change_read_wait(s.read, &t->f.parker, &page), MS_BT_POLL_PAGE);
    stream_close(&s);
    s = stream_from(&t->f, "", "", START_MICROS);
    stream_close(&s);
}

static void many_waiting_readers_hold_no_thread(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    enum { READERS = 200 };
    stream *streams = calloc(READERS, sizeof(*streams));
    for (int i = 0; i < READERS; i++) {
        streams[i] = stream_from(f, "", "", START_MICROS);
    }
    /* The pool has three threads; writes and scans get through. */
    put(f, "a", "1");
    assert_rows(f, "a{f:q@1000000=1}");
    for (int i = 0; i < READERS; i++) {
        assert_changes(&streams[i], 1, "a{f:q@1000000=1}");
        stream_close(&streams[i]);
    }
    free(streams);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, timed_setup, timed_teardown)
    const struct CMUnitTest tests[] = {
        TEST(changes_come_in_the_order_of_their_commits),
        TEST(every_kind_of_mutation_is_said_as_it_was_applied),
        TEST(single_row_calls_are_said_with_their_results),
        TEST(refused_writes_are_not_said),
        TEST(large_values_arrive_whole),
        TEST(pages_end_at_their_size),
        TEST(heartbeats_say_that_nothing_happened),
        TEST(watermark_holds_though_the_clock_steps_back_over_a_restart),
        TEST(a_stream_begun_when_the_clock_had_stepped_back_is_read_from_now),
        TEST(stream_ends_with_its_end_time),
        TEST(stream_without_a_start_begins_now),
        TEST(tokens_go_on_behind_their_change_also_after_a_restart),
        TEST(partitions_are_the_tablets),
        TEST(partitions_say_only_their_rows),
        TEST(a_split_closes_the_stream_with_a_token_for_each_part),
        TEST(a_waiting_stream_hears_of_a_split),
        TEST(a_merge_gives_every_part_a_token_for_the_whole),
        TEST(parts_that_are_read_alone_meet_again_when_their_tablet_ends),
        TEST(tokens_from_before_a_split_and_a_merge_lead_to_the_present),
        TEST(a_partition_read_from_the_past_comes_through_what_it_was),
        TEST(a_merged_partition_read_from_the_past_is_taken_apart_and_put_together),
        TEST(partitions_that_are_opened_around_a_merge_meet_in_it),
        TEST(a_range_that_is_no_partition_is_read_within_its_tablet),
        TEST(a_range_over_several_tablets_is_taken_apart),
        TEST(a_partition_that_was_split_before_it_was_opened_leads_to_its_parts),
        TEST(tokens_of_different_places_are_given_back_one_by_one),
        TEST(an_end_time_before_a_split_ends_the_stream_without_tokens),
        TEST(positions_that_cannot_be_are_refused),
        TEST(tokens_that_do_not_fit_are_refused),
        TEST(positions_beyond_the_retention_are_out_of_range),
        TEST(a_longer_retention_brings_no_position_back),
        TEST(a_reader_that_is_too_slow_is_told),
        TEST(an_idle_reader_does_not_grow_old),
        TEST(a_stream_that_is_switched_off_ends_its_readers),
        TEST(a_dropped_table_ends_its_readers),
        TEST(dropped_rows_are_said),
        TEST(changes_are_read_only_up_to_the_safe_time),
        TEST(a_commit_while_a_reader_looks_is_not_missed),
        TEST(a_canceled_reader_comes_back),
        TEST(many_waiting_readers_hold_no_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
