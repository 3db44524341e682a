/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of plan/ share: the derivation of properties (props.c), called by the constructors
 * of logical nodes (logical.c), and the walk over a physical plan that leaves exchanges out.
 */
#ifndef MS_PLAN_PLAN_PRIV_H
#define MS_PLAN_PLAN_PRIV_H

#include "plan/logical.h"

/* Fills node->props from the node and the properties of its inputs. */
void msi_plan_derive(ms_arena *arena, ms_lnode *node);

/* The node whose rows an input brings, past exchanges. */
const ms_pnode *msi_plan_skip_exchanges(const ms_pnode *node);

/* Appends what the connector of a SOURCE or SINK says of its face; nothing when it has no say. */
ms_rc msi_plan_describe(const ms_pnode *node, ms_buf *out, ms_status *st) MS_MUST_USE;

/* Appends "[I,UB,UA,D]", the kinds that are in the set. */
ms_rc msi_plan_write_changelog(ms_buf *out, ms_changelog changelog, ms_status *st) MS_MUST_USE;

#endif
