/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CAST and TRY_CAST: as a prepared vector function of one argument, and over values. Which casts
 * exist is func/typing.h's; what they do is Flink's:
 *
 *     integers wrap; floats become integers cut and saturated; decimals round half up, and are NULL
 *     when they do not fit; text is read as type/text.h reads it, and fails (TRY_CAST: NULL) when
 *     it is
 *     malformed or out of range; text of every type has Flink's form; CHAR(n) pads and cuts,
 *     VARCHAR(n)
 *     cuts, in code points; BINARY(n) pads with zeros; bytes become text only if they are UTF-8;
 *     TIMESTAMP_LTZ is read and shown in the session's zone. NaN and infinities as DECIMAL are
 *     NULL;
 *     dates beyond the years of a timestamp become the nearest timestamp.
 *
 * Thread: prepare: the planning thread; the rest: any.
 */
#ifndef MS_FUNC_CAST_H
#define MS_FUNC_CAST_H

#include "func/registry.h"

/* The cast exists and is built (ms_typing_cast_class). */
ms_rc ms_cast_prepare(ms_arena *arena, const ms_type *from, const ms_type *to, bool is_try,
                      const ms_eval_config *config, ms_fn_prepared *prepared_out,
                      ms_status *st) MS_MUST_USE;

/*
 * Casts one value; NULL stays NULL. Failing sets st, without a span; for TRY_CAST the caller makes
 * NULL of it. The result borrows from the argument or from the arena.
 */
ms_rc ms_cast_value(ms_arena *arena, const ms_eval_config *config, const ms_value *value,
                    const ms_type *to, ms_value *value_out, ms_status *st) MS_MUST_USE;

#endif
