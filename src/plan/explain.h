/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXPLAIN: the plans of a statement as text, in Flink's layout. The text is stable: the same
 * statement over the same tables with the same settings gives the same text, so golden files can
 * hold it.
 *
 *     == Abstract Syntax Tree ==
 *     LogicalProject(a=[$0], EXPR$1=[$1 * 2])
 *     +- LogicalFilter(condition=[$0 > 3])
 *        +- LogicalTableScan(table=[[default_catalog, default_database, t]])
 *
 *     == Optimized Physical Plan ==
 *     Collect(fields=[a, EXPR$1], parallelism=[1])
 *     +- Calc(select=[a, b * 2 AS EXPR$1], where=[a > 3], parallelism=[1])
 *        +- TableSourceScan(table=[t], fields=[a, b], filter=[a > 0], parallelism=[1])
 *
 * The first tree is the statement as bound, before any rule; the second is what runs. What follows
 * fields in a scan or a sink is the connector's own account of what was pushed into it. A part that
 * two consumers share is printed once, with reuse_id, and again as Reused(reference_id=[n]).
 *
 * Thread: that of the session.
 */
#ifndef MS_PLAN_EXPLAIN_H
#define MS_PLAN_EXPLAIN_H

#include "plan/logical.h"
#include "plan/physical.h"

typedef struct ms_explain_options {
    bool changelog_mode; /* adds changelogMode=[I,UB,UA,D] to every physical node */
} ms_explain_options;

/* Both plans. Fails only when out passes its maximum, or when a connector's describe fails. */
ms_rc ms_explain_write(const ms_lplan *logical, const ms_plan *physical,
                       const ms_explain_options *options, ms_buf *out, ms_status *st) MS_MUST_USE;

/* One of them, without its title. */
ms_rc ms_explain_write_logical(const ms_lplan *logical, ms_buf *out, ms_status *st) MS_MUST_USE;
ms_rc ms_explain_write_physical(const ms_plan *physical, const ms_explain_options *options,
                                ms_buf *out, ms_status *st) MS_MUST_USE;

#endif
