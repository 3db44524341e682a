/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures as text (ms_fn_signature): matching argument types against them, and checking that a
 * text is one. Included by the registry only.
 *
 * Thread: any.
 */
#ifndef MS_FUNC_SIGNATURE_H
#define MS_FUNC_SIGNATURE_H

#include "func/registry.h"

/*
 * Matches the arguments against one signature. On true the wanted types are set and *result_out is
 * the result type without regard to nullability.
 */
bool msi_signature_matches(ms_arena *arena, const ms_fn_signature *signature, uint32_t fn_flags,
                           const ms_fn_args *args, const ms_type **wanted,
                           const ms_type **result_out);

/* True when the texts are well formed. */
bool msi_signature_is_valid(ms_arena *arena, const ms_fn_signature *signature);

#endif
