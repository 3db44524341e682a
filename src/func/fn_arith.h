/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the operators of arithmetic hand over to dates, timestamps and intervals (fn_interval.c) when
 * their operands are not two numbers.
 *
 * Thread: any.
 */
#ifndef MS_FUNC_FN_ARITH_H
#define MS_FUNC_FN_ARITH_H

#include "func/registry.h"
#include "func/typing.h"

ms_rc msi_infer_temporal(ms_fn_infer *in, ms_arith op, ms_status *st);
ms_rc msi_specialize_temporal(ms_fn_plan *plan, ms_arith op, ms_status *st);

/* No argument is NULL. */
ms_rc msi_scalar_temporal(const ms_fn_scalar_call *call, ms_arith op, ms_value *out, ms_status *st);

#endif
