/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the kind of a physical node to its operator: one row a kind. EXCHANGE has no operator, since
 * channels belong to the driver (runtime/).
 */
#include "exec/operator.h"

#include "exec/exec_priv.h"

typedef ms_op *(*create_fn)(const ms_pnode *node, ms_arena *job_arena);

static const create_fn creators[] = {
    [MS_PNODE_SOURCE] = msi_op_source_create,
    [MS_PNODE_VALUES] = msi_op_values_create,
    [MS_PNODE_CALC] = msi_op_calc_create,
    [MS_PNODE_WATERMARK] = msi_op_watermark_create,
    [MS_PNODE_AGGREGATE] = msi_op_aggregate_create,
    [MS_PNODE_UNION] = msi_op_union_create,
    [MS_PNODE_EXCHANGE] = NULL,
    [MS_PNODE_SORT] = msi_op_sort_create,
    [MS_PNODE_LIMIT] = msi_op_limit_create,
    [MS_PNODE_SINK] = msi_op_sink_create,
    [MS_PNODE_COLLECT] = msi_op_collect_create,
};
_Static_assert(sizeof(creators) / sizeof(creators[0]) == MS_PNODE_COUNT, "one row a kind");

ms_op *ms_op_create(const ms_pnode *node, ms_arena *job_arena)
{
    MS_ASSERT(node->kind < MS_PNODE_COUNT && creators[node->kind] != NULL);
    ms_op *op = creators[node->kind](node, job_arena);
    op->node = node;
    return op;
}
