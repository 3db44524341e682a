/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row kinds on every edge, upwards and downwards.
 */
#include "opt/golden.h"

static const golden streaming[] = {
    {"SELECT a FROM p",
     "Collect(fields=[a], changelogMode=[I], parallelism=[1])\n"
     "+- Calc(select=[a], changelogMode=[I], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], parallelism=[1])\n"},
    {"SELECT SUM(a) FROM p",
     "Collect(fields=[EXPR$0], changelogMode=[I,UB,UA], parallelism=[1])\n"
     "+- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], changelogMode=[I,UB,UA], "
     "parallelism=[1])\n"
     "   +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "      +- Calc(select=[a], changelogMode=[I], parallelism=[2])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"},
    {"INSERT INTO o SELECT SUM(a), COUNT(*) FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], changelogMode=[I,UB,UA], "
     "parallelism=[1])\n"
     "+- GroupAggregate(select=[SUM(a) AS agg$0, COUNT(*) AS agg$1], state=[value], "
     "changelogMode=[I,UB,UA], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "      +- Calc(select=[a], changelogMode=[I], parallelism=[2])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"},
    {"INSERT INTO k SELECT 7, 'x', COUNT(*) FROM p",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], changelogMode=[I,UA], "
     "parallelism=[1])\n"
     "+- Calc(select=[7 AS id, 'x' AS v, agg$0 AS n], changelogMode=[I,UA], parallelism=[1])\n"
     "   +- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], changelogMode=[I,UA], "
     "parallelism=[1])\n"
     "      +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"},
    {"INSERT INTO k SELECT CAST(7 AS BIGINT), MAX(b), COUNT(*) FROM p",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], changelogMode=[I,UA], "
     "parallelism=[1])\n"
     "+- Calc(select=[7 AS EXPR$0, agg$0 AS EXPR$1, agg$1 AS EXPR$2], changelogMode=[I,UA], "
     "parallelism=[1])\n"
     "   +- GroupAggregate(select=[MAX(b) AS agg$0, COUNT(*) AS agg$1], state=[value], "
     "changelogMode=[I,UA], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "         +- Calc(select=[b], changelogMode=[I], parallelism=[2])\n"
     "            +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"},
    {"SELECT SUM(a) FROM p UNION ALL SELECT a FROM p",
     "Collect(fields=[EXPR$0], changelogMode=[I,UB,UA], parallelism=[1])\n"
     "+- Union(all=[true], union=[EXPR$0], changelogMode=[I,UB,UA], parallelism=[1])\n"
     "   :- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], changelogMode=[I,UB,UA], "
     "parallelism=[1])\n"
     "   :  +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "   :     +- Calc(select=[a], changelogMode=[I], parallelism=[2])\n"
     "   :        +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"
     "   +- Calc(select=[a], changelogMode=[I], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], parallelism=[1])\n"},
    {"SELECT SUM(a) AS s FROM p UNION ALL SELECT 1 ORDER BY s",
     "Collect(fields=[s], changelogMode=[I], parallelism=[1])\n"
     "+- Sort(orderBy=[s ASC], changelogMode=[I], parallelism=[1])\n"
     "   +- Union(all=[true], union=[s], changelogMode=[I,UB,UA], parallelism=[1])\n"
     "      :- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], changelogMode=[I,UB,UA], "
     "parallelism=[1])\n"
     "      :  +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "      :     +- Calc(select=[a], changelogMode=[I], parallelism=[2])\n"
     "      :        +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"
     "      +- Values(rows=[1], fields=[EXPR$0], changelogMode=[I], parallelism=[1])\n"},
    {"SELECT a FROM p /*+ OPTIONS('changelog' = 'retract') */ WHERE a > 1",
     "Collect(fields=[a], changelogMode=[I,UB,UA,D], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 1], changelogMode=[I,UB,UA,D], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I,UB,UA,D], "
     "parallelism=[1])\n"},
};

static void streams_carry_updates(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_CHANGES(&p, streaming);
    planner_close(&p);
}

static const golden batch[] = {
    {"SELECT SUM(a) FROM p",
     "Collect(fields=[EXPR$0], changelogMode=[I], parallelism=[1])\n"
     "+- GroupAggregate(select=[SUM(a) AS agg$0], changelogMode=[I], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "      +- Calc(select=[a], changelogMode=[I], parallelism=[2])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"},
    {"INSERT INTO k SELECT MAX(a), 'x', COUNT(*) FROM p",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id], "
     "changelogMode=[I], parallelism=[1])\n"
     "+- Calc(select=[CAST(agg$0 AS BIGINT) AS id, 'x' AS v, agg$1 AS n], changelogMode=[I], "
     "parallelism=[1])\n"
     "   +- GroupAggregate(select=[MAX(a) AS agg$0, COUNT(*) AS agg$1], changelogMode=[I], "
     "parallelism=[1])\n"
     "      +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "         +- Calc(select=[a], changelogMode=[I], parallelism=[2])\n"
     "            +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"},
    {"SELECT SUM(a) FROM p UNION ALL (SELECT a FROM p LIMIT 3)",
     "Collect(fields=[EXPR$0], changelogMode=[I], parallelism=[1])\n"
     "+- Union(all=[true], union=[EXPR$0], changelogMode=[I], parallelism=[1])\n"
     "   :- GroupAggregate(select=[SUM(a) AS agg$0], changelogMode=[I], parallelism=[1])\n"
     "   :  +- Exchange(distribution=[single], changelogMode=[I], parallelism=[1])\n"
     "   :     +- Calc(select=[a], changelogMode=[I], parallelism=[2])\n"
     "   :        +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[2])\n"
     "   +- Limit(fetch=[3], changelogMode=[I], parallelism=[1])\n"
     "      +- Calc(select=[a], changelogMode=[I], parallelism=[1])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], changelogMode=[I], "
     "parallelism=[1])\n"},
};

static void batches_have_inserts_only(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.is_streaming = false;
    CHECK_CHANGES(&p, batch);
    planner_close(&p);
}

typedef struct refusal {
    const char *sql;
    ms_rc code;
    const char *place;
    const char *message;
    const char *hint;
} refusal;

static const refusal refusals[] = {
    {"INSERT INTO o /*+ OPTIONS('takes' = 'I') */ SELECT SUM(a), 1 FROM p", MS_INVALID_QUERY, "o",
     "table \"o\" takes inserts only", ""},
    {"INSERT INTO k SELECT COUNT(*), 'x', 1 FROM p", MS_NOT_SUPPORTED, "k",
     "the primary key of table \"k\" is not the key of the query's updates",
     "Make the key of the table the columns that identify a row of the query."},
    {"INSERT INTO k SELECT 1, 'x', COUNT(*) FROM p HAVING COUNT(*) > 3", MS_NOT_SUPPORTED,
     "SELECT 1, 'x', COUNT(*) FROM p HAVING COUNT(*) > 3",
     "a filter over rows that are updated is not supported for the upserts of table \"k\"", ""},
    {"INSERT INTO k SELECT SUM(a), 'x', 1 FROM p UNION ALL SELECT a, b, 2 FROM p", MS_NOT_SUPPORTED,
     "k", "the primary key of table \"k\" is not the key of the query's updates",
     "Make the key of the table the columns that identify a row of the query."},
    {"SELECT SUM(a) FROM p /*+ OPTIONS('changelog' = 'retract') */", MS_NOT_SUPPORTED,
     "SELECT SUM(a) FROM p /*+ OPTIONS('changelog' = 'retract') */",
     "an aggregate over rows that are updated is not supported", ""},
    {"SELECT a FROM p /*+ OPTIONS('changelog' = 'retract') */ LIMIT 3", MS_NOT_SUPPORTED, "3",
     "LIMIT over rows that are updated is not supported", ""},
    {"SELECT * FROM (SELECT SUM(a) FROM p UNION ALL SELECT a FROM p) LIMIT 3", MS_NOT_SUPPORTED,
     "3", "LIMIT over rows that are updated is not supported",
     "In batch mode an aggregate gives one row and no updates: SET 'execution.runtime-mode' = "
     "'batch'."},
    {"SELECT MAX(s) FROM (SELECT SUM(a) AS s FROM p)", MS_NOT_SUPPORTED,
     "SELECT MAX(s) FROM (SELECT SUM(a) AS s FROM p)",
     "an aggregate over rows that are updated is not supported",
     "In batch mode an aggregate gives one row and no updates: SET 'execution.runtime-mode' = "
     "'batch'."},
};

static void what_would_lose_rows_is_refused(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const refusal *one = &refusals[i];
        if (planner_try(&p, one->sql) == MS_OK) {
            fail_msg("accepted: %s", one->sql);
        }
        assert_string_equal(ms_rc_name(p.st.code), ms_rc_name(one->code));
        assert_string_equal(p.st.message, one->message);
        assert_string_equal(planner_place(&p), one->place);
        assert_string_equal(p.st.hint, one->hint);
        assert_null(p.plan);
    }
    planner_close(&p);
}

static void the_detail_has_the_words_of_flink(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    assert_int_equal(planner_try(&p, refusals[0].sql), MS_INVALID_QUERY);
    assert_string_equal(p.st.detail,
                        "Table sink 'default_catalog.default_database.o' doesn't support consuming "
                        "update changes which is produced by node GroupAggregate");
    assert_int_equal(planner_try(&p, refusals[4].sql), MS_NOT_SUPPORTED);
    assert_string_equal(p.st.detail,
                        "GroupAggregate doesn't support consuming update and delete changes which "
                        "is produced by node TableSourceScan");
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_carry_updates),
        cmocka_unit_test(batches_have_inserts_only),
        cmocka_unit_test(what_would_lose_rows_is_refused),
        cmocka_unit_test(the_detail_has_the_words_of_flink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
