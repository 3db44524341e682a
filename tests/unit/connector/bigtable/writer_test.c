/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers against an embedded store: requests, blocking, checkpoints, creation, failures, and being
 * closed in the middle of it.
 */
#include "bt_running.h"

static void make_table(table_maker *m, world *w, bool creates)
{
    maker_init(m, &w->arena);
    maker_column(m, "k", make_type(&w->arena, "STRING"));
    maker_family(m, "a", "q STRING, r INT");
    maker_family(m, "b", "q STRING");
    maker_key(m, 0);
    if (creates) {
        maker_option(m, "sink.create-disposition", "create-if-needed");
        maker_option(m, "sink.table-create.gc-rule.max-versions", "1");
    }
}

static void rows_are_written_with_every_qualifier_of_their_families(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, 8);
    batch_row(&b, "'k1' ('x' 1) ('y')");
    batch_row(&b, "'k2' (NULL NULL) NULL");
    batch_row(&b, "+U 'k3' NULL ('')");
    ms_status st = {0};
    assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
    assert_ok(persist(&w, writer, 1, &st));
    assert_table(&w, "k1{a:q=x,a:r=\\x00\\x00\\x00\\x01,b:q=y}"
                     "k2{a:q=null,a:r=}"
                     "k3{b:q=}");
    assert_int_equal(writer->rows_written, 3);
    assert_true(writer->bytes_written > 0);
    writer->klass->close(writer);
    world_release(&w);
}

static void a_delete_removes_the_whole_row(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b", "other"}, 3);
    world_set(&w, ms_str_lit("k1"), "other", "q", 1000, ms_str_lit("v"));
    world_set(&w, ms_str_lit("k2"), "other", "q", 1000, ms_str_lit("v"));
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, 8);
    batch_row(&b, "'k3' ('x' 1) NULL");
    batch_row(&b, "-D 'k1' NULL NULL");
    batch_row(&b, "-D 'k3' ('x' 1) NULL");
    batch_row(&b, "-D 'k4' NULL NULL");
    batch_row(&b, "'k4' ('x' 1) NULL");
    ms_status st = {0};
    assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
    assert_ok(persist(&w, writer, 1, &st));
    assert_table(&w, "k2{other:q=v}k4{a:q=x,a:r=\\x00\\x00\\x00\\x01}");
    writer->klass->close(writer);
    world_release(&w);
}

static void selections_and_encodings_are_followed(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, 8);
    batch_row(&b, "'k0' ('zero' 0) ('c')");
    batch_row(&b, "'k1' ('one' 1) NULL");
    batch_row(&b, "'k2' NULL NULL");
    batch_row(&b, "'k3' ('three' 3) NULL");
    /* Live rows 1 and 3; family a through an index that turns it round, b the same for all. */
    static const uint16_t sel[] = {1, 3};
    static const uint16_t turned[] = {3, 3, 2, 1};
    static const uint16_t child_turned[] = {0, 0, 2, 1};
    b.batch.sel = sel;
    b.batch.sel_count = 2;
    b.batch.columns[1].encoding = MS_ENC_INDEX;
    b.batch.columns[1].index = turned;
    b.batch.columns[1].children[1].encoding = MS_ENC_INDEX;
    b.batch.columns[1].children[1].index = child_turned;
    b.batch.columns[2].encoding = MS_ENC_CONST;
    b.batch.columns[2].children[0].encoding = MS_ENC_CONST;
    ms_status st = {0};
    assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
    assert_ok(persist(&w, writer, 1, &st));
    assert_table(&w, "k1{a:q=three,a:r=\\x00\\x00\\x00\\x01,b:q=c}"
                     "k3{a:q=one,a:r=\\x00\\x00\\x00\\x00,b:q=c}");
    writer->klass->close(writer);
    world_release(&w);
}

static void a_missing_table_is_made_when_that_is_asked_for(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    table_maker m;
    make_table(&m, &w, true);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, 8);
    batch_row(&b, "'k1' ('x' NULL) NULL");
    ms_status st = {0};
    assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
    assert_ok(persist(&w, writer, 1, &st));
    assert_table(&w, "k1{a:q=x,a:r=}");
    ms_bt_table_call look;
    ms_bt_table_call_init(&look, &w.mailbox, done_nothing, NULL);
    look.name = w.name;
    ms_bt_client_get_table(w.client, &look);
    ms_bt_call_wait(&look.call, &w.parker);
    assert_int_equal(look.table->family_count, 2);
    assert_int_equal(look.table->families[1].gc_rule->max_versions, 1);
    ms_bt_table_call_release(&look);
    writer->klass->close(writer);
    world_release(&w);
}

static void missing_families_are_added_to_those_there(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"b", "other"}, 2);
    table_maker m;
    make_table(&m, &w, true);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, 8);
    batch_row(&b, "'k1' NULL ('there')");
    ms_status st = {0};
    assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
    assert_ok(persist(&w, writer, 1, &st));
    batch_maker c;
    batch_init(&c, &w.arena, &sink->input, 8);
    batch_row(&c, "'k2' ('new' 1) NULL");
    assert_int_equal(write_rows(&w, writer, &c.batch, &st), MS_WRITE_DONE);
    assert_ok(persist(&w, writer, 2, &st));
    assert_table(&w, "k1{b:q=there}k2{a:q=new,a:r=\\x00\\x00\\x00\\x01}");
    writer->klass->close(writer);
    world_release(&w);
}

/* All find the table missing before any of them makes it. */
static void writers_that_race_to_create_all_succeed(void **state)
{
    (void)state;
    enum { WRITERS = 8 };
    world w;
    world_init(&w);
    table_maker m;
    make_table(&m, &w, true);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writers[WRITERS];
    completion done[WRITERS];
    ms_status st = {0};
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = create_writer(&w, sink);
        batch_maker b;
        batch_init(&b, &w.arena, &sink->input, 2);
        char row[64];
        snprintf(row, sizeof(row), "'k%d' ('x' %d) NULL", i, i);
        batch_row(&b, row);
        assert_int_equal(writers[i]->klass->write(writers[i], &b.batch, &st), MS_WRITE_DONE);
        assert_ok(writers[i]->klass->cut(writers[i], 1, true, &st));
        done[i] = (completion){.face = {completion_done}};
        writers[i]->klass->persist(writers[i], 1, &done[i].face);
    }
    for (int i = 0; i < WRITERS; i++) {
        for (int k = 0; k < 500 && !done[i].is_done; k++) {
            world_turn(&w);
        }
        assert_true(done[i].is_done);
        assert_int_equal(done[i].rc, MS_OK);
        writers[i]->klass->close(writers[i]);
    }
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    world_dump(&w, &out);
    uint32_t rows = 0;
    for (size_t i = 0; i < out.bytes; i++) {
        rows += out.ptr[i] == '{';
    }
    assert_int_equal(rows, WRITERS);
    ms_buf_release(&out);
    world_release(&w);
}

static void without_creation_a_missing_table_fails_the_job(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, 8);
    batch_row(&b, "'k1' ('x' NULL) NULL");
    ms_status st = {0};
    assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
    assert_int_equal(persist(&w, writer, 1, &st), MS_BIGTABLE_NOT_FOUND);
    assert_string_equal(st.message, "could not write to table \"p.i.t\"");
    assert_non_null(strstr(st.detail, "NOT_FOUND: "));
    assert_non_null(strstr(st.hint, "create-if-needed"));
    /* The failure stays. */
    ms_status again = {0};
    assert_int_equal(writer->klass->write(writer, &b.batch, &again), MS_WRITE_FAILED);
    assert_int_equal(again.code, MS_BIGTABLE_NOT_FOUND);
    writer->klass->close(writer);
    world_release(&w);
}

static void what_cannot_be_written_names_the_row(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        ms_rc code;
        const char *message;
        const char *detail;
    } bad[] = {
        {"NULL ('x' 1) NULL", MS_NOT_NULL_VIOLATION, "row-key column \"k\" is NULL in a row",
         "table \"p.i.t\""},
        {"'' ('x' 1) NULL", MS_BIGTABLE_ERROR, "row-key column \"k\" is empty in a row",
         "table \"p.i.t\""},
        {"-D '' NULL NULL", MS_BIGTABLE_ERROR, "row-key column \"k\" is empty in a row",
         "table \"p.i.t\""},
        {"-D NULL NULL NULL", MS_NOT_NULL_VIOLATION, "row-key column \"k\" is NULL in a row",
         "table \"p.i.t\""},
        {"'a\\b' NULL NULL", MS_BIGTABLE_ERROR,
         "every column family of a row is NULL, so that no cell would be written",
         "row key \"a\\\\b\" of table \"p.i.t\""},
        {"-U 'k' ('x' 1) NULL", MS_INTERNAL, "a -U row reached a bigtable sink, which takes none",
         "row key \"k\" of table \"p.i.t\""},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        world w;
        world_init(&w);
        world_create_table(&w, (const char *const[]){"a", "b"}, 2);
        table_maker m;
        make_table(&m, &w, false);
        ms_sink *sink = plan_sink(&w, &m);
        ms_writer *writer = create_writer(&w, sink);
        batch_maker b;
        batch_init(&b, &w.arena, &sink->input, 8);
        batch_row(&b, "'good' ('x' 1) NULL");
        batch_row(&b, bad[i].row);
        ms_status st = {0};
        assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_FAILED);
        assert_int_equal(st.code, bad[i].code);
        assert_string_equal(st.message, bad[i].message);
        assert_string_equal(st.detail, bad[i].detail);
        ms_status later = {0};
        assert_int_equal(persist(&w, writer, 1, &later), bad[i].code);
        writer->klass->close(writer);
        world_release(&w);
    }
}

static void a_null_in_a_not_null_qualifier_is_refused(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a"}, 1);
    table_maker m;
    maker_init(&m, &w.arena);
    maker_column(&m, "k", make_type(&w.arena, "STRING"));
    maker_family(&m, "a", "q !STRING");
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, 8);
    batch_row(&b, "'k' (NULL)");
    ms_status st = {0};
    assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_FAILED);
    assert_int_equal(st.code, MS_NOT_NULL_VIOLATION);
    assert_string_equal(st.message, "qualifier \"a.q\" is NOT NULL, but a row has NULL there");
    writer->klass->close(writer);
    world_release(&w);
}

static void a_key_that_is_too_long_is_refused(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, 8);
    char row[5000];
    memset(row, 'k', sizeof(row));
    snprintf(row, 2, "'");
    row[1] = 'k';
    snprintf(row + 4098, 32, "' ('x' 1) NULL");
    batch_row(&b, row);
    ms_status st = {0};
    assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_FAILED);
    assert_string_equal(st.message, "row-key column \"k\" has 4097 bytes in a row, more than 4096");
    writer->klass->close(writer);
    world_release(&w);
}

/* More rows than two requests hold: the writer blocks, wakes, and loses nothing. */
static void a_full_writer_blocks_and_wakes(void **state)
{
    (void)state;
    enum { BATCHES = 40, ROWS = 1000 };
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    uint32_t blocked = 0;
    for (uint32_t i = 0; i < BATCHES; i++) {
        batch_maker b;
        batch_init(&b, &arena, &sink->input, ROWS);
        for (uint32_t r = 0; r < ROWS; r++) {
            char row[128];
            snprintf(row, sizeof(row), "'key%06u' ('%060u' %u) NULL", i * ROWS + r, r, r);
            batch_row(&b, row);
        }
        ms_write write = writer->klass->write(writer, &b.batch, &st);
        if (write == MS_WRITE_BLOCKED) {
            blocked++;
            write = write_rows(&w, writer, &b.batch, &st);
        }
        assert_int_equal(write, MS_WRITE_DONE);
        ms_arena_reset(&arena);
    }
    assert_ok(persist(&w, writer, 1, &st));
    assert_int_equal(writer->rows_written, BATCHES * ROWS);
    ms_scan *scan = plan_scan(&w, &m);
    const uint32_t key[] = {0};
    assert_ok(scan->klass->push_projection(scan, key, 1, &st));
    ms_buf out;
    ms_buf_init(&out, 64u << 20);
    assert_int_equal(read_scan(&w, scan, &out, &st), MS_READ_END);
    uint32_t rows = 0;
    for (size_t i = 0; i < out.bytes; i++) {
        rows += out.ptr[i] == '[';
    }
    assert_int_equal(rows, BATCHES * ROWS);
    assert_true(blocked > 0);
    ms_buf_release(&out);
    ms_arena_release(&arena);
    writer->klass->close(writer);
    world_release(&w);
}

/* Rows written after a cut do not belong to it, and several cuts may wait at a time. */
static void cuts_are_persisted_in_order(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    completion done[4];
    ms_status st = {0};
    for (uint32_t i = 0; i < 4; i++) {
        batch_maker b;
        batch_init(&b, &w.arena, &sink->input, 2);
        char row[64];
        snprintf(row, sizeof(row), "'k%u' ('x' %u) NULL", i, i);
        batch_row(&b, row);
        assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
        assert_ok(writer->klass->cut(writer, i + 1, false, &st));
        done[i] = (completion){.face = {completion_done}};
        writer->klass->persist(writer, i + 1, &done[i].face);
    }
    for (uint32_t i = 0; i < 4; i++) {
        for (int k = 0; k < 500 && !done[i].is_done; k++) {
            world_turn(&w);
        }
        assert_true(done[i].is_done && done[i].rc == MS_OK);
    }
    /* With nothing new there is nothing to wait for. */
    completion idle = {.face = {completion_done}};
    assert_ok(writer->klass->cut(writer, 5, false, &st));
    writer->klass->persist(writer, 5, &idle.face);
    assert_true(idle.is_done && idle.rc == MS_OK);
    writer->klass->close(writer);
    world_release(&w);
}

static void a_writer_that_is_closed_early_answers_and_goes_away(void **state)
{
    (void)state;
    for (int creates = 0; creates < 2; creates++) {
        world w;
        world_init(&w);
        table_maker m;
        make_table(&m, &w, creates != 0);
        ms_sink *sink = plan_sink(&w, &m);
        ms_writer *writer = create_writer(&w, sink);
        batch_maker b;
        batch_init(&b, &w.arena, &sink->input, 2);
        batch_row(&b, "'k' ('x' 1) NULL");
        ms_status st = {0};
        assert_int_equal(writer->klass->write(writer, &b.batch, &st), MS_WRITE_DONE);
        completion done = {.face = {completion_done}};
        assert_ok(writer->klass->cut(writer, 1, false, &st));
        writer->klass->persist(writer, 1, &done.face);
        writer->klass->close(writer);
        assert_true(done.is_done);
        assert_int_equal(done.rc, MS_CANCELED);
        for (int i = 0; i < 10; i++) {
            world_turn(&w);
        }
        world_release(&w);
    }
}

static void nothing_is_allocated_per_row(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_writer *writer = create_writer(&w, sink);
    batch_maker b;
    batch_init(&b, &w.arena, &sink->input, ROWS);
    for (uint32_t r = 0; r < ROWS; r++) {
        char row[64];
        snprintf(row, sizeof(row), "'key%06u' ('x' %u) NULL", r, r);
        batch_row(&b, row);
    }
    ms_status st = {0};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
    }
    assert_ok(persist(&w, writer, 1, &st));
    uint64_t before = ms_mem_allocation_count();
    for (int i = 0; i < 8; i++) {
        assert_int_equal(write_rows(&w, writer, &b.batch, &st), MS_WRITE_DONE);
    }
    assert_ok(persist(&w, writer, 2, &st));
    assert_true(ms_mem_allocation_count() - before < 100);
    writer->klass->close(writer);
    world_release(&w);
}

static void a_writer_without_memory_says_so(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    table_maker m;
    make_table(&m, &w, false);
    ms_sink *sink = plan_sink(&w, &m);
    ms_account_set_limit(&w.account, 1000);
    ms_writer *writer = NULL;
    ms_status st = {0};
    assert_int_equal(sink->klass->writer_create(sink, &w.env, &writer, &st), MS_NO_MEMORY);
    assert_null(writer);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_written_with_every_qualifier_of_their_families),
        cmocka_unit_test(a_delete_removes_the_whole_row),
        cmocka_unit_test(selections_and_encodings_are_followed),
        cmocka_unit_test(a_missing_table_is_made_when_that_is_asked_for),
        cmocka_unit_test(missing_families_are_added_to_those_there),
        cmocka_unit_test(writers_that_race_to_create_all_succeed),
        cmocka_unit_test(without_creation_a_missing_table_fails_the_job),
        cmocka_unit_test(what_cannot_be_written_names_the_row),
        cmocka_unit_test(a_null_in_a_not_null_qualifier_is_refused),
        cmocka_unit_test(a_key_that_is_too_long_is_refused),
        cmocka_unit_test(a_full_writer_blocks_and_wakes),
        cmocka_unit_test(cuts_are_persisted_in_order),
        cmocka_unit_test(a_writer_that_is_closed_early_answers_and_goes_away),
        cmocka_unit_test(nothing_is_allocated_per_row),
        cmocka_unit_test(a_writer_without_memory_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
