/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table that the engine hands to plugins (millstream/udf.h).
 *
 * Thread: any.
 */
#ifndef MS_FUNC_HOST_H
#define MS_FUNC_HOST_H

#include "millstream/udf.h"

const ms_fn_host *ms_fn_host_table(void);

#endif
