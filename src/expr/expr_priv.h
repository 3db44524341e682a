/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share about building expressions.
 *
 * Thread: the planning thread.
 */
#ifndef MS_EXPR_EXPR_PRIV_H
#define MS_EXPR_EXPR_PRIV_H

#include "expr/build.h"

/* A call of a function that is no form: resolves, casts the arguments. */
ms_rc msi_build_function(ms_expr_builder *b, const ms_fn *fn, const ms_expr *const *args,
                         uint32_t count, ms_span span, const ms_expr **expr_out) MS_MUST_USE;

/* A form: AND, OR, IF, COALESCE, IFNULL, NULLIF, BETWEEN, IN. */
ms_rc msi_build_form(ms_expr_builder *b, const ms_fn *fn, const ms_expr *const *args,
                     uint32_t count, ms_span span, const ms_expr **expr_out) MS_MUST_USE;

/*
 * Makes the argument one of the wanted type: nothing, a typed NULL, a cast. Text that meets a date
 * or timestamp is read at once when it is constant, and otherwise by TRY_CAST.
 */
ms_rc msi_build_convert(ms_expr_builder *b, const ms_expr *expr, const ms_type *wanted,
                        const ms_expr **expr_out) MS_MUST_USE;

/* A CONST when the expression is constant, cannot fail, and depends on no setting; else itself. */
const ms_expr *msi_build_fold(ms_expr_builder *b, const ms_expr *expr);

/*
 * An operand that is used more than once: *use_out is what to write in its place. When *let_out is
 * not UINT32_MAX, the result must be wrapped by msi_build_let.
 */
typedef struct msi_shared {
    const ms_expr *value;
    const ms_expr *use;
    bool is_let;
    uint32_t id;
} msi_shared;
msi_shared msi_build_share(ms_expr_builder *b, const ms_expr *expr);
const ms_expr *msi_build_let(ms_expr_builder *b, const msi_shared *shared, const ms_expr *body);

#endif
