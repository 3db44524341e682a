/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing of queries and of the items of FROM. A branch of a set operation that is one itself is
 * always put in parentheses, though INTERSECT would not need them.
 */
#include "sql/unparse.h"

#include "sql/sql_priv.h"

/* Hints. */

static void print_hint(ms_printer *w, const ms_ast_hint *hint)
{
    msi_print_plain_name(w, hint->name.text);
    for (uint32_t i = 0; i < hint->arg_count; i++) {
        msi_print_word(w, i == 0 ? "(" : ", ");
        msi_print_text(w, hint->args[i].key.text);
        if (!ms_ast_text_is_absent(hint->args[i].value)) {
            msi_print_word(w, " = ");
            msi_print_text(w, hint->args[i].value.text);
        }
    }
    msi_print_word(w, hint->arg_count == 0 ? "" : ")");
}

void msi_print_hints(ms_printer *w, const ms_ast_hint *hints, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        msi_print_word(w, i == 0 ? " /*+ " : ", ");
        print_hint(w, &hints[i]);
    }
    msi_print_word(w, count == 0 ? "" : " */");
}

/* FROM. */

static void print_alias(ms_printer *w, const ms_ast_alias *alias)
{
    if (!ms_ast_ident_is_absent(alias->name)) {
        msi_print_word(w, " AS ");
        msi_print_name(w, alias->name.text);
        msi_print_name_list(w, " ", alias->columns, alias->column_count);
    }
}

static void print_from_table(ms_printer *w, const ms_ast_from_table *table)
{
    msi_print_path(w, &table->name);
    msi_print_hints(w, table->hints, table->hint_count);
    if (table->system_time != NULL) {
        msi_print_word(w, " FOR SYSTEM_TIME AS OF ");
        msi_print_expr(w, table->system_time);
    }
}

static void print_from_query(ms_printer *w, const ms_ast_from_query *item)
{
    msi_print_word(w, item->lateral ? "LATERAL (" : "(");
    msi_print_query(w, item->query);
    msi_print_word(w, ")");
}

static void print_from_call(ms_printer *w, const ms_ast_from_call *item)
{
    msi_print_word(w, item->lateral ? "LATERAL TABLE(" : "TABLE(");
    msi_print_call(w, item->call);
    msi_print_word(w, ")");
}

static void print_from_unnest(ms_printer *w, const ms_ast_from_unnest *unnest)
{
    msi_print_word(w, "UNNEST(");
    msi_print_exprs(w, unnest->operands, unnest->operand_count);
    msi_print_word(w, unnest->ordinality ? ") WITH ORDINALITY" : ")");
}

static void print_from_join(ms_printer *w, const ms_ast_from_join *join)
{
    static const char *const types[MS_AST_JOIN_TYPE_COUNT] = {
        [MS_AST_JOIN_INNER] = "INNER JOIN ", [MS_AST_JOIN_LEFT] = "LEFT JOIN ",
        [MS_AST_JOIN_RIGHT] = "RIGHT JOIN ", [MS_AST_JOIN_FULL] = "FULL JOIN ",
        [MS_AST_JOIN_CROSS] = "CROSS JOIN ",
    };
    bool is_nested = join->right->kind == MS_AST_FROM_JOIN;
    msi_print_from(w, join->left);
    msi_print_word(w, join->natural ? " NATURAL " : " ");
    msi_print_word(w, types[join->type]);
    msi_print_word(w, is_nested ? "(" : "");
    msi_print_from(w, join->right);
    msi_print_word(w, is_nested ? ")" : "");
    if (join->on != NULL) {
        msi_print_word(w, " ON ");
        msi_print_expr(w, join->on);
    }
    if (join->using_count > 0) {
        msi_print_word(w, " USING");
        msi_print_name_list(w, " ", join->using_columns, join->using_count);
    }
}

void msi_print_from(ms_printer *w, const ms_ast_from *from)
{
    switch (from->kind) {
    case MS_AST_FROM_TABLE:
        print_from_table(w, ms_ast_from_table_of(from));
        break;
    case MS_AST_FROM_QUERY:
        print_from_query(w, ms_ast_from_query_of(from));
        break;
    case MS_AST_FROM_CALL:
        print_from_call(w, ms_ast_from_call_of(from));
        break;
    case MS_AST_FROM_UNNEST:
        print_from_unnest(w, ms_ast_from_unnest_of(from));
        break;
    case MS_AST_FROM_JOIN:
        print_from_join(w, ms_ast_from_join_of(from));
        break;
    case MS_AST_FROM_KIND_COUNT:
        MS_UNREACHABLE();
    }
    print_alias(w, &from->alias);
}

/* SELECT. */

static void print_select_items(ms_printer *w, const ms_ast_select *select)
{
    for (uint32_t i = 0; i < select->item_count; i++) {
        const ms_ast_select_item *item = &select->items[i];
        msi_print_comma(w, i);
        if (item->expr == NULL) {
            msi_print_path(w, &item->qualifier);
            msi_print_word(w, item->qualifier.count == 0 ? "*" : ".*");
            continue;
        }
        msi_print_expr(w, item->expr);
        if (!ms_ast_ident_is_absent(item->alias)) {
            msi_print_word(w, " AS ");
            msi_print_name(w, item->alias.text);
        }
    }
}

static void print_groups(ms_printer *w, const ms_ast_group *groups, uint32_t count);

static void print_group(ms_printer *w, const ms_ast_group *group)
{
    static const char *const words[MS_AST_GROUP_KIND_COUNT] = {
        [MS_AST_GROUP_ROLLUP] = "ROLLUP(",
        [MS_AST_GROUP_CUBE] = "CUBE(",
        [MS_AST_GROUP_SETS] = "GROUPING SETS (",
    };
    if (group->kind == MS_AST_GROUP_EXPRS) {
        bool is_single = group->expr_count == 1;
        msi_print_word(w, is_single ? "" : "(");
        msi_print_exprs(w, group->exprs, group->expr_count);
        msi_print_word(w, is_single ? "" : ")");
        return;
    }
    msi_print_word(w, words[group->kind]);
    print_groups(w, group->sets, group->set_count);
    msi_print_word(w, ")");
}

static void print_groups(ms_printer *w, const ms_ast_group *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        msi_print_comma(w, i);
        print_group(w, &groups[i]);
    }
}

/* A word and a condition, or nothing. */
static void print_condition(ms_printer *w, const char *word, const ms_ast_expr *condition)
{
    if (condition != NULL) {
        msi_print_word(w, word);
        msi_print_expr(w, condition);
    }
}

static void print_select(ms_printer *w, const ms_ast_select *select)
{
    msi_print_word(w, "SELECT");
    msi_print_hints(w, select->hints, select->hint_count);
    msi_print_word(w, select->distinct ? " DISTINCT " : " ");
    print_select_items(w, select);
    for (uint32_t i = 0; i < select->from_count; i++) {
        msi_print_word(w, i == 0 ? " FROM " : ", ");
        msi_print_from(w, select->from[i]);
    }
    print_condition(w, " WHERE ", select->where);
    if (select->group_count > 0) {
        msi_print_word(w, " GROUP BY ");
        print_groups(w, select->groups, select->group_count);
    }
    print_condition(w, " HAVING ", select->having);
    for (uint32_t i = 0; i < select->window_count; i++) {
        msi_print_word(w, i == 0 ? " WINDOW " : ", ");
        msi_print_name(w, select->windows[i].name.text);
        msi_print_word(w, " AS ");
        msi_print_window(w, select->windows[i].window);
    }
}

/* Bodies. */

static void print_values(ms_printer *w, const ms_ast_values *values)
{
    msi_print_word(w, "VALUES ");
    for (uint32_t i = 0; i < values->row_count; i++) {
        const ms_ast_values_row *row = &values->rows[i];
        /* ((a, b)) would read as the row (a, b). */
        bool is_row = row->item_count == 1 && row->items[0]->kind == MS_AST_ROW;
        msi_print_comma(w, i);
        msi_print_word(w, is_row ? "ROW(" : "(");
        msi_print_exprs(w, row->items, row->item_count);
        msi_print_word(w, ")");
    }
}

static void print_body(ms_printer *w, const ms_ast_body *body);

static void print_set_op(ms_printer *w, const ms_ast_set_op *set_op)
{
    static const char *const words[MS_AST_SET_OP_KIND_COUNT] = {
        [MS_AST_UNION] = " UNION ",
        [MS_AST_INTERSECT] = " INTERSECT ",
        [MS_AST_EXCEPT] = " EXCEPT ",
    };
    for (uint32_t i = 0; i < set_op->branch_count; i++) {
        bool is_nested = set_op->branches[i]->kind == MS_AST_SET_OP;
        msi_print_word(w, i == 0 ? "" : words[set_op->op]);
        msi_print_word(w, i > 0 && set_op->all ? "ALL " : "");
        msi_print_word(w, is_nested ? "(" : "");
        print_body(w, set_op->branches[i]);
        msi_print_word(w, is_nested ? ")" : "");
    }
}

static void print_body(ms_printer *w, const ms_ast_body *body)
{
    switch (body->kind) {
    case MS_AST_SELECT:
        print_select(w, ms_ast_select_of(body));
        return;
    case MS_AST_VALUES:
        print_values(w, ms_ast_values_of(body));
        return;
    case MS_AST_TABLE:
        msi_print_word(w, "TABLE ");
        msi_print_path(w, &ms_ast_table_of(body)->name);
        return;
    case MS_AST_SET_OP:
        print_set_op(w, ms_ast_set_op_of(body));
        return;
    case MS_AST_NESTED:
        msi_print_word(w, "(");
        msi_print_query(w, ms_ast_nested_of(body)->query);
        msi_print_word(w, ")");
        return;
    case MS_AST_BODY_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

void msi_print_query(ms_printer *w, const ms_ast_query *query)
{
    for (uint32_t i = 0; i < query->cte_count; i++) {
        const ms_ast_cte *cte = &query->ctes[i];
        msi_print_word(w, i == 0 ? "WITH " : ", ");
        msi_print_name(w, cte->name.text);
        msi_print_name_list(w, " ", cte->columns, cte->column_count);
        msi_print_word(w, " AS (");
        msi_print_query(w, cte->query);
        msi_print_word(w, ")");
    }
    msi_print_word(w, query->cte_count == 0 ? "" : " ");
    print_body(w, query->body);
    if (query->order_count > 0) {
        msi_print_word(w, " ORDER BY ");
        msi_print_order(w, query->order, query->order_count);
    }
    print_condition(w, " LIMIT ", query->limit);
    print_condition(w, " OFFSET ", query->offset);
}

ms_str ms_sql_unparse_query(const ms_ast_query *query, ms_arena *arena)
{
    ms_printer w = {.arena = arena};
    msi_print_query(&w, query);
    return msi_print_finish(&w);
}
