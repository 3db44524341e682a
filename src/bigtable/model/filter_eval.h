/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of rows, which is model/page.h's; filters are run by model/filter_run.h.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_EVAL_H
#define MS_BIGTABLE_MODEL_FILTER_EVAL_H

#include "bigtable/model/page.h"

#endif
