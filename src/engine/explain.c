/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXPLAIN: the text of the plan as one row of one column, as Flink gives it.
 */
/* tidy: no-unit-test: tests/slt/plan compares its texts */
#include "engine/engine_priv.h"

#include "plan/explain.h"

#define EXPLAIN_BYTES_MAX (64u << 20)

ms_rc msi_execute_explain(ms_execution *execution, const ms_lplan *logical, bool changelog_mode,
                          ms_status *st)
{
    ms_explain_options options = {.changelog_mode = changelog_mode};
    static const char *const names[] = {"result"};
    ms_buf text;
    ms_buf_init(&text, EXPLAIN_BYTES_MAX);
    ms_rc rc = ms_explain_write(logical, execution->plan, &options, &text, st);
    if (rc == MS_OK) {
        msi_listing_init(&execution->listing, &execution->arena, names, 1, 1);
        ms_str cell = ms_buf_view(&text);
        msi_listing_add(&execution->listing, &cell);
        execution->schema = execution->listing.schema;
        execution->has_rows = true;
        execution->is_listing = true;
    }
    ms_buf_release(&text);
    return rc;
}
