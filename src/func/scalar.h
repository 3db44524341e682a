/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equality and order of SQL values, as the operators have them: numbers of different types by
 * value, floats as IEEE 754, strings as unsigned bytes. (ms_value_compare of type/ is the total
 * order that sorting uses; it has NaN equal to itself and needs equal types.)
 *
 * Thread: any.
 */
#ifndef MS_FUNC_SCALAR_H
#define MS_FUNC_SCALAR_H

#include "type/value.h"

typedef enum ms_order { MS_ORDER_LESS, MS_ORDER_EQUAL, MS_ORDER_GREATER, MS_ORDER_NONE } ms_order;

/* Two values that are not NULL, of comparable types that are not nested. NONE with NaN. */
ms_order ms_scalar_order(const ms_value *a, const ms_value *b);

/*
 * Equality of values that are not NULL, nested ones too: item by item, where NULL equals NULL; maps
 * as sets of entries.
 */
bool ms_scalar_equals(ms_arena *scratch, const ms_value *a, const ms_value *b);

#endif
