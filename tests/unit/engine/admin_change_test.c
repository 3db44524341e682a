/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of a Bigtable that is not Millstream's: what only Millstream has is refused as
 * such, and nothing else is.
 */
#include "engine/engine_host.h"

#include "millstream/bigtable.h"
#include "mock/mock.h"

#define PATH ms_str_lit("p/i/t")
#define KEY ms_str_lit("k")

static ms_rc split(ms_session *session, uint64_t *count_out, ms_status *st)
{
    return ms_bigtable_split_tablet(session, PATH, KEY, count_out, st);
}

static ms_rc merge(ms_session *session, uint64_t *count_out, ms_status *st)
{
    return ms_bigtable_merge_tablets(session, PATH, KEY, count_out, st);
}

static ms_rc collect(ms_session *session, uint64_t *count_out, ms_status *st)
{
    return ms_bigtable_collect_garbage(session, PATH, count_out, st);
}

static ms_rc drop(ms_session *session, uint64_t *count_out, ms_status *st)
{
    *count_out = 0;
    return ms_bigtable_drop_table(session, PATH, st);
}

typedef struct admin_case {
    ms_rc (*run)(ms_session *session, uint64_t *count_out, ms_status *st);
    bool is_named; /* the server names itself as Millstream */
    ms_bt_code code;
    ms_rc rc;
    const char *message;
} admin_case;

static const admin_case cases[] = {
    {split, false, MS_BT_UNIMPLEMENTED, MS_NOT_SUPPORTED,
     "could not split a tablet of table \"t\": this Bigtable is not Millstream's"},
    {merge, false, MS_BT_UNIMPLEMENTED, MS_NOT_SUPPORTED,
     "could not merge tablets of table \"t\": this Bigtable is not Millstream's"},
    {collect, false, MS_BT_UNIMPLEMENTED, MS_NOT_SUPPORTED,
     "could not collect garbage of table \"t\": this Bigtable is not Millstream's"},
    {split, true, MS_BT_UNIMPLEMENTED, MS_NOT_SUPPORTED, "could not split a tablet of table \"t\""},
    {split, false, MS_BT_NOT_FOUND, MS_BIGTABLE_NOT_FOUND,
     "could not split a tablet of table \"t\""},
    {drop, false, MS_BT_UNIMPLEMENTED, MS_NOT_SUPPORTED, "could not drop table \"t\""},
};

static void what_only_millstream_has_is_refused_as_that(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const admin_case *c = &cases[i];
        mock_answer answer = {.code = c->code, .text = "Unknown method"};
        if (c->is_named) {
            answer.trailers[0] =
                (ms_grpc_pair){ms_str_lit("x-millstream-version"), ms_str_lit("7")};
        }
        mock *server = mock_create(&answer, 1);
        engine_host h;
        host_open(&h);
        ms_status st = {0};
        assert_ok(
            ms_session_set(h.session, ms_str_lit("bigtable.backend"), mock_target(server), &h.st));
        uint64_t count = 0;
        assert_int_equal(c->run(h.session, &count, &st), c->rc);
        assert_string_equal(st.message, c->message);
        assert_non_null(strstr(st.detail, ": Unknown method"));
        bool is_refused = strstr(c->message, "Millstream") != NULL;
        assert_int_equal(strstr(st.hint, "millstream serve") != NULL, is_refused);
        assert_int_equal(mock_request_count(server), 1);
        host_close(&h);
        mock_destroy(server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(what_only_millstream_has_is_refused_as_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
