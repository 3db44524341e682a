/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime mode cannot run: sorting what never ends. The check comes before any rule that
 * may be off, so that the answer does not depend on a setting.
 */
/* tidy: no-unit-test: covered by opt_test.c, with the fake connector */
#include "opt/opt_priv.h"

static ms_rc check_sort(msi_opt *opt, const ms_lnode *node, const ms_lnode *parent)
{
    const ms_lnode *input = node->inputs[0];
    if (input->props.is_bounded) {
        return MS_OK;
    }
    const ms_sort_key *first = &node->u.sort.keys[0];
    if (parent != NULL && parent->kind == MS_LNODE_LIMIT) {
        ms_status_set(opt->st, MS_NOT_SUPPORTED, node->span,
                      "ORDER BY with LIMIT over an unbounded query is not supported");
        return ms_status_hint(opt->st, "Bound the source by its options.");
    }
    if (input->props.columns[first->column].time_attr == MS_TIME_ATTR_ROWTIME &&
        !first->descending) {
        ms_status_set(opt->st, MS_NOT_SUPPORTED, node->span,
                      "ORDER BY a time attribute of an unbounded query is not supported");
        return ms_status_hint(opt->st, "Bound the source by its options.");
    }
    ms_status_set(opt->st, MS_INVALID_QUERY, node->span,
                  "ORDER BY needs the end of its input, and this query never ends");
    ms_status_detail(opt->st, "Sort on a non-time-attribute field is not supported.");
    return ms_status_hint(opt->st, "Leave ORDER BY out, or bound the source by its options.");
}

static ms_rc validate(msi_opt *opt, const ms_lnode *node, const ms_lnode *parent)
{
    if (node->kind == MS_LNODE_SORT) {
        MS_TRY(check_sort(opt, node, parent));
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        MS_TRY(validate(opt, node->inputs[i], node));
    }
    return MS_OK;
}

ms_rc msi_validate(msi_opt *opt)
{
    for (uint32_t i = 0; i < opt->root_count; i++) {
        MS_TRY(validate(opt, opt->roots[i], NULL));
    }
    return MS_OK;
}
