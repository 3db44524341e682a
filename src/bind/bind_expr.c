/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: each kind of syntax node to a typed expression through expr/build.h, which resolves
 * functions, checks types and adds casts. What is decided here is only what the syntax says: which
 * function an operator is, how a literal is read, what is refused.
 */
/* tidy: no-unit-test: covered by bind_test.c and bind_error_test.c, through whole statements */
#include "bind/bind_priv.h"

ms_rc msi_bind_exprs(msi_binder *binder, msi_scope *scope, const ms_ast_expr *const *exprs,
                     uint32_t count, const ms_expr *const **exprs_out)
{
    const ms_expr **bound = ms_arena_array(binder->arena, const ms_expr *, count);
    for (uint32_t i = 0; i < count; i++) {
        MS_TRY(msi_bind_expr(binder, scope, exprs[i], &bound[i]));
    }
    *exprs_out = bound;
    return MS_OK;
}

ms_rc msi_bind_condition(msi_binder *binder, msi_scope *scope, const ms_ast_expr *expr,
                         const char *what, const ms_expr **expr_out)
{
    const ms_expr *bound;
    MS_TRY(msi_bind_expr(binder, scope, expr, &bound));
    if (bound->type->kind == MS_TYPE_NULL) {
        const ms_type *type = ms_type_simple(binder->arena, MS_TYPE_BOOLEAN, true);
        return ms_build_cast(&binder->build, bound, type, MS_BUILD_IMPLICIT, expr->span, expr_out);
    }
    if (bound->type->kind != MS_TYPE_BOOLEAN) {
        ms_str type = ms_type_text_bare(binder->arena, bound->type);
        return ms_status_set(binder->st, MS_TYPE_MISMATCH, expr->span,
                             "%s needs a BOOLEAN, not %.*s", what, MS_STR_ARG(type));
    }
    *expr_out = bound;
    return MS_OK;
}

/* Literals. */

static const ms_interval_unit no_unit = MS_UNIT_SECOND;

static bool interval_unit(ms_ast_unit unit, ms_interval_unit *unit_out)
{
    static const struct {
        ms_ast_unit from;
        ms_interval_unit to;
    } units[] = {
        {MS_AST_UNIT_YEAR, MS_UNIT_YEAR},     {MS_AST_UNIT_QUARTER, MS_UNIT_QUARTER},
        {MS_AST_UNIT_MONTH, MS_UNIT_MONTH},   {MS_AST_UNIT_WEEK, MS_UNIT_WEEK},
        {MS_AST_UNIT_DAY, MS_UNIT_DAY},       {MS_AST_UNIT_HOUR, MS_UNIT_HOUR},
        {MS_AST_UNIT_MINUTE, MS_UNIT_MINUTE}, {MS_AST_UNIT_SECOND, MS_UNIT_SECOND},
    };
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (units[i].from == unit) {
            *unit_out = units[i].to;
            return true;
        }
    }
    *unit_out = no_unit;
    return false;
}

static ms_rc bind_qualifier(msi_binder *binder, const ms_ast_qualifier *qualifier,
                            ms_interval_qualifier *qualifier_out)
{
    ms_interval_qualifier bound = {.precision = qualifier->precision,
                                   .fraction = qualifier->fraction};
    bool is_known = interval_unit(qualifier->start, &bound.from);
    bound.to = bound.from;
    if (qualifier->end != MS_AST_UNIT_NONE) {
        is_known = is_known && interval_unit(qualifier->end, &bound.to);
    }
    if (!is_known) {
        return ms_status_set(binder->st, MS_INVALID_LITERAL, qualifier->span,
                             "an interval cannot be counted in %s",
                             ms_ast_unit_name(qualifier->start));
    }
    *qualifier_out = bound;
    return MS_OK;
}

static ms_rc bind_interval_literal(msi_binder *binder, const ms_ast_literal *literal,
                                   const ms_expr **expr_out)
{
    ms_interval_qualifier qualifier;
    MS_TRY(bind_qualifier(binder, &literal->qualifier, &qualifier));
    return ms_build_interval(&binder->build, literal->text, literal->negative, &qualifier,
                             literal->head.span, expr_out);
}

static ms_rc bind_interval(msi_binder *binder, msi_scope *scope, const ms_ast_interval *interval,
                           const ms_expr **expr_out)
{
    ms_span span = interval->head.span;
    ms_interval_qualifier qualifier;
    MS_TRY(bind_qualifier(binder, &interval->qualifier, &qualifier));
    const ms_expr *count;
    MS_TRY(msi_bind_expr(binder, scope, interval->operand, &count));
    if (interval->negative) {
        MS_TRY(ms_build_unary(&binder->build, "-", count, span, &count));
    }
    return ms_build_interval_of(&binder->build, count, qualifier.from, span, expr_out);
}

static const ms_expr *bind_unknown(msi_binder *binder, ms_span span)
{
    ms_value value = ms_value_null(ms_type_simple(binder->arena, MS_TYPE_BOOLEAN, true));
    return ms_expr_const(binder->arena, &value, span);
}

static const ms_expr *bind_binary_literal(msi_binder *binder, const ms_ast_literal *literal)
{
    const ms_type *type =
        ms_type_sized(binder->arena, MS_TYPE_BINARY, (int32_t)literal->text.bytes, false);
    ms_value value = ms_value_str(type, literal->text);
    return ms_expr_const(binder->arena, &value, literal->head.span);
}

static ms_rc bind_literal(msi_binder *binder, const ms_ast_literal *literal,
                          const ms_expr **expr_out)
{
    ms_expr_builder *build = &binder->build;
    ms_span span = literal->head.span;
    switch (literal->type) {
    case MS_AST_LITERAL_NULL:
        *expr_out = ms_build_null(build, span);
        return MS_OK;
    case MS_AST_LITERAL_TRUE:
    case MS_AST_LITERAL_FALSE:
        *expr_out = ms_build_bool(build, literal->type == MS_AST_LITERAL_TRUE, span);
        return MS_OK;
    case MS_AST_LITERAL_UNKNOWN:
        *expr_out = bind_unknown(binder, span);
        return MS_OK;
    case MS_AST_LITERAL_INTEGER:
    case MS_AST_LITERAL_DECIMAL:
    case MS_AST_LITERAL_DOUBLE:
        return ms_build_number(build, literal->text, false, span, expr_out);
    case MS_AST_LITERAL_STRING:
        *expr_out = ms_build_text(build, literal->text, span);
        return MS_OK;
    case MS_AST_LITERAL_BINARY:
        *expr_out = bind_binary_literal(binder, literal);
        return MS_OK;
    case MS_AST_LITERAL_DATE:
        return ms_build_temporal(build, MS_TYPE_DATE, literal->text, span, expr_out);
    case MS_AST_LITERAL_TIME:
        return ms_build_temporal(build, MS_TYPE_TIME, literal->text, span, expr_out);
    case MS_AST_LITERAL_TIMESTAMP:
        return ms_build_temporal(build, MS_TYPE_TIMESTAMP, literal->text, span, expr_out);
    case MS_AST_LITERAL_INTERVAL:
        return bind_interval_literal(binder, literal, expr_out);
    case MS_AST_LITERAL_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* Operators. */

static bool is_number(const ms_ast_expr *expr)
{
    if (expr->kind != MS_AST_LITERAL) {
        return false;
    }
    ms_ast_literal_type type = ms_ast_literal_of(expr)->type;
    return type == MS_AST_LITERAL_INTEGER || type == MS_AST_LITERAL_DECIMAL ||
           type == MS_AST_LITERAL_DOUBLE;
}

static ms_rc bind_unary(msi_binder *binder, msi_scope *scope, const ms_ast_unary *unary,
                        const ms_expr **expr_out)
{
    static const char *const names[] = {
        [MS_AST_OP_NOT] = "NOT", [MS_AST_OP_NEGATE] = "-", [MS_AST_OP_PLUS] = "+"};
    _Static_assert(sizeof(names) / sizeof(names[0]) == MS_AST_UNARY_OP_COUNT, "a name an operator");
    ms_span span = unary->head.span;
    /* The sign belongs to the number, so that -2147483648 is an INT. */
    if (unary->op == MS_AST_OP_NEGATE && is_number(unary->operand)) {
        return ms_build_number(&binder->build, ms_ast_literal_of(unary->operand)->text, true, span,
                               expr_out);
    }
    const ms_expr *operand;
    MS_TRY(msi_bind_expr(binder, scope, unary->operand, &operand));
    return ms_build_unary(&binder->build, names[unary->op], operand, span, expr_out);
}

static ms_rc bind_binary(msi_binder *binder, msi_scope *scope, const ms_ast_binary *binary,
                         const ms_expr **expr_out)
{
    if (binary->op == MS_AST_OP_OVERLAPS) {
        return msi_refuse(binder, binary->op_span, "OVERLAPS");
    }
    const ms_expr *left;
    const ms_expr *right;
    MS_TRY(msi_bind_expr(binder, scope, binary->left, &left));
    MS_TRY(msi_bind_expr(binder, scope, binary->right, &right));
    return ms_build_binary(&binder->build, ms_ast_binary_op_name(binary->op), left, right,
                           binary->head.span, expr_out);
}

static ms_rc bind_logic(msi_binder *binder, msi_scope *scope, const ms_ast_logic *logic,
                        const ms_expr **expr_out)
{
    const ms_expr *const *operands;
    MS_TRY(msi_bind_exprs(binder, scope, logic->operands, logic->operand_count, &operands));
    ms_str name = logic->op == MS_AST_OP_AND ? ms_str_lit("AND") : ms_str_lit("OR");
    return ms_build_call(&binder->build, name, operands, logic->operand_count, logic->head.span,
                         expr_out);
}

static ms_rc bind_is(msi_binder *binder, msi_scope *scope, const ms_ast_is *is,
                     const ms_expr **expr_out)
{
    static const char *const names[][2] = {
        [MS_AST_IS_NULL] = {"IS NULL", "IS NOT NULL"},
        [MS_AST_IS_TRUE] = {"IS TRUE", "IS NOT TRUE"},
        [MS_AST_IS_FALSE] = {"IS FALSE", "IS NOT FALSE"},
        [MS_AST_IS_UNKNOWN] = {"IS UNKNOWN", "IS NOT UNKNOWN"},
        [MS_AST_IS_JSON_VALUE] = {"IS JSON", "IS NOT JSON"},
        [MS_AST_IS_JSON_SCALAR] = {"IS JSON SCALAR", "IS NOT JSON SCALAR"},
        [MS_AST_IS_JSON_ARRAY] = {"IS JSON ARRAY", "IS NOT JSON ARRAY"},
        [MS_AST_IS_JSON_OBJECT] = {"IS JSON OBJECT", "IS NOT JSON OBJECT"},
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == MS_AST_IS_TEST_COUNT, "two names a test");
    const char *name = names[is->test][is->negated ? 1 : 0];
    if (is->test >= MS_AST_IS_JSON_VALUE) {
        return msi_refuse(binder, is->head.span, name);
    }
    const ms_expr *operand;
    MS_TRY(msi_bind_expr(binder, scope, is->operand, &operand));
    return ms_build_unary(&binder->build, name, operand, is->head.span, expr_out);
}

static ms_rc bind_between(msi_binder *binder, msi_scope *scope, const ms_ast_between *between,
                          const ms_expr **expr_out)
{
    const ms_expr *args[3];
    MS_TRY(msi_bind_expr(binder, scope, between->operand, &args[0]));
    MS_TRY(msi_bind_expr(binder, scope, between->low, &args[1]));
    MS_TRY(msi_bind_expr(binder, scope, between->high, &args[2]));
    const char *name = between->symmetric ? "BETWEEN SYMMETRIC" : "BETWEEN";
    if (between->negated) {
        name = between->symmetric ? "NOT BETWEEN SYMMETRIC" : "NOT BETWEEN";
    }
    return ms_build_call(&binder->build, ms_str_cstr(name), args, 3, between->head.span, expr_out);
}

static ms_rc bind_like(msi_binder *binder, msi_scope *scope, const ms_ast_like *like,
                       const ms_expr **expr_out)
{
    if (like->similar) {
        return msi_refuse(binder, like->op_span, "SIMILAR TO");
    }
    const ms_expr *args[3];
    uint32_t count = 2;
    MS_TRY(msi_bind_expr(binder, scope, like->operand, &args[0]));
    MS_TRY(msi_bind_expr(binder, scope, like->pattern, &args[1]));
    if (like->escape != NULL) {
        MS_TRY(msi_bind_expr(binder, scope, like->escape, &args[2]));
        count = 3;
    }
    ms_str name = like->negated ? ms_str_lit("NOT LIKE") : ms_str_lit("LIKE");
    return ms_build_call(&binder->build, name, args, count, like->head.span, expr_out);
}

static ms_rc bind_in(msi_binder *binder, msi_scope *scope, const ms_ast_in *in,
                     const ms_expr **expr_out)
{
    if (in->query != NULL) {
        return msi_refuse(binder, in->head.span, in->negated ? "NOT IN (query)" : "IN (query)");
    }
    const ms_expr **args = ms_arena_array(binder->arena, const ms_expr *, in->item_count + 1);
    MS_TRY(msi_bind_expr(binder, scope, in->operand, &args[0]));
    for (uint32_t i = 0; i < in->item_count; i++) {
        MS_TRY(msi_bind_expr(binder, scope, in->items[i], &args[i + 1]));
    }
    ms_str name = in->negated ? ms_str_lit("NOT IN") : ms_str_lit("IN");
    return ms_build_call(&binder->build, name, args, in->item_count + 1, in->head.span, expr_out);
}

/* WHEN a, b THEN r is two arms; r is bound for each, so that no part of it is shared unasked. */
static ms_rc bind_case(msi_binder *binder, msi_scope *scope, const ms_ast_case *node,
                       const ms_expr **expr_out)
{
    uint32_t arm_count = 0;
    for (uint32_t i = 0; i < node->when_count; i++) {
        arm_count += node->whens[i].condition_count;
    }
    const ms_expr *operand = NULL;
    if (node->operand != NULL) {
        MS_TRY(msi_bind_expr(binder, scope, node->operand, &operand));
    }
    const ms_expr **whens = ms_arena_array(binder->arena, const ms_expr *, arm_count);
    const ms_expr **thens = ms_arena_array(binder->arena, const ms_expr *, arm_count);
    uint32_t arm = 0;
    for (uint32_t i = 0; i < node->when_count; i++) {
        const ms_ast_when *when = &node->whens[i];
        for (uint32_t c = 0; c < when->condition_count; c++) {
            MS_TRY(msi_bind_expr(binder, scope, when->conditions[c], &whens[arm]));
            MS_TRY(msi_bind_expr(binder, scope, when->result, &thens[arm]));
            arm++;
        }
    }
    const ms_expr *otherwise = NULL;
    if (node->otherwise != NULL) {
        MS_TRY(msi_bind_expr(binder, scope, node->otherwise, &otherwise));
    }
    return ms_build_case(&binder->build, operand, whens, thens, arm_count, otherwise,
                         node->head.span, expr_out);
}

static ms_rc bind_cast(msi_binder *binder, msi_scope *scope, const ms_ast_cast *cast,
                       const ms_expr **expr_out)
{
    const ms_type *target;
    const ms_expr *operand;
    MS_TRY(msi_bind_type(binder, cast->type, false, &target));
    MS_TRY(msi_bind_expr(binder, scope, cast->operand, &operand));
    return ms_build_cast(&binder->build, operand, target,
                         cast->is_try ? MS_BUILD_TRY_CAST : MS_BUILD_CAST, cast->head.span,
                         expr_out);
}

/* Constructors and access. */

static ms_rc bind_constructor(msi_binder *binder, msi_scope *scope, const char *name,
                              const ms_ast_expr *const *items, uint32_t item_count, ms_span span,
                              const ms_expr **expr_out)
{
    const ms_expr *const *args;
    MS_TRY(msi_bind_exprs(binder, scope, items, item_count, &args));
    MS_TRY(ms_build_call(&binder->build, ms_str_cstr(name), args, item_count, span, expr_out));
    return msi_check_type_depth(binder, (*expr_out)->type, span);
}

static ms_rc bind_field(msi_binder *binder, msi_scope *scope, const ms_ast_field *field,
                        const ms_expr **expr_out)
{
    const ms_expr *row;
    MS_TRY(msi_bind_expr(binder, scope, field->operand, &row));
    if (row->type->kind != MS_TYPE_ROW) {
        ms_str type = ms_type_text_bare(binder->arena, row->type);
        return ms_status_set(binder->st, MS_TYPE_MISMATCH, field->field.span,
                             "field \"%.*s\" of %.*s: only a ROW has fields",
                             MS_STR_ARG(field->field.text), MS_STR_ARG(type));
    }
    return ms_build_field(&binder->build, row, field->field.text, field->head.span, expr_out);
}

static ms_rc bind_item(msi_binder *binder, msi_scope *scope, const ms_ast_item *item,
                       const ms_expr **expr_out)
{
    const ms_expr *args[2];
    MS_TRY(msi_bind_expr(binder, scope, item->operand, &args[0]));
    MS_TRY(msi_bind_expr(binder, scope, item->index, &args[1]));
    return ms_build_call(&binder->build, ms_str_lit("ITEM"), args, 2, item->head.span, expr_out);
}

static ms_rc bind_kind(msi_binder *binder, msi_scope *scope, const ms_ast_expr *expr,
                       const ms_expr **expr_out)
{
    switch (expr->kind) {
    case MS_AST_LITERAL:
        return bind_literal(binder, ms_ast_literal_of(expr), expr_out);
    case MS_AST_INTERVAL:
        return bind_interval(binder, scope, ms_ast_interval_of(expr), expr_out);
    case MS_AST_NAME:
        return msi_bind_name(binder, scope, ms_ast_name_of(expr), expr_out);
    case MS_AST_FIELD:
        return bind_field(binder, scope, ms_ast_field_of(expr), expr_out);
    case MS_AST_ITEM:
        return bind_item(binder, scope, ms_ast_item_of(expr), expr_out);
    case MS_AST_UNARY:
        return bind_unary(binder, scope, ms_ast_unary_of(expr), expr_out);
    case MS_AST_BINARY:
        return bind_binary(binder, scope, ms_ast_binary_of(expr), expr_out);
    case MS_AST_LOGIC:
        return bind_logic(binder, scope, ms_ast_logic_of(expr), expr_out);
    case MS_AST_IS:
        return bind_is(binder, scope, ms_ast_is_of(expr), expr_out);
    case MS_AST_BETWEEN:
        return bind_between(binder, scope, ms_ast_between_of(expr), expr_out);
    case MS_AST_LIKE:
        return bind_like(binder, scope, ms_ast_like_of(expr), expr_out);
    case MS_AST_IN:
        return bind_in(binder, scope, ms_ast_in_of(expr), expr_out);
    case MS_AST_QUANTIFIED:
        return msi_refuse(binder, ms_ast_quantified_of(expr)->op_span,
                          ms_ast_quantified_of(expr)->all ? "comparison with ALL"
                                                          : "comparison with ANY");
    case MS_AST_EXISTS:
        return msi_refuse(binder, expr->span, "EXISTS");
    case MS_AST_SUBQUERY:
        return msi_refuse(binder, expr->span, "a query as a value");
    case MS_AST_CASE:
        return bind_case(binder, scope, ms_ast_case_of(expr), expr_out);
    case MS_AST_CAST:
        return bind_cast(binder, scope, ms_ast_cast_of(expr), expr_out);
    case MS_AST_CALL:
        return msi_bind_call(binder, scope, ms_ast_call_of(expr), expr_out);
    case MS_AST_SYMBOL:
        return msi_refuse(binder, expr->span, "a unit of time as an argument");
    case MS_AST_ROW: {
        const ms_ast_row *row = ms_ast_row_of(expr);
        return bind_constructor(binder, scope, "ROW", row->items, row->item_count, expr->span,
                                expr_out);
    }
    case MS_AST_ARRAY: {
        const ms_ast_array *array = ms_ast_array_of(expr);
        return bind_constructor(binder, scope, "ARRAY", array->items, array->item_count, expr->span,
                                expr_out);
    }
    case MS_AST_MAP: {
        const ms_ast_map *map = ms_ast_map_of(expr);
        return bind_constructor(binder, scope, "MAP", map->items, map->item_count, expr->span,
                                expr_out);
    }
    case MS_AST_DESCRIPTOR:
        return msi_refuse(binder, expr->span, "DESCRIPTOR");
    case MS_AST_TABLE_ARG:
        return msi_refuse(binder, expr->span, "a table as an argument");
    case MS_AST_EXPR_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

ms_rc msi_bind_expr(msi_binder *binder, msi_scope *scope, const ms_ast_expr *expr,
                    const ms_expr **expr_out)
{
    MS_TRY(msi_binder_enter(binder, expr->span));
    MS_TRY(bind_kind(binder, scope, expr, expr_out));
    msi_binder_leave(binder);
    return MS_OK;
}
