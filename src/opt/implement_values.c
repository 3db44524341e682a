/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of expressions to rows of constants. Every cell is evaluated now; one that fails, or that
 * gives another value each time, stays an expression in a CALC above, so that it fails or varies
 * when its row is made and not before. The CALC tells rows apart by a column with their number:
 *
 *     VALUES (1), (1 / 0)      CALC CASE row$ WHEN 1 THEN 1 / 0 ELSE c END
 *                                VALUES (row$ 0, c 1), (row$ 1, c NULL)
 */
#include "opt/opt_priv.h"

typedef struct folder {
    msi_opt *opt;
    const ms_lnode *node;
    uint32_t column_count;
    bool *is_open; /* per cell: it stays an expression */
    bool any_open;
} folder;

/* The value of a cell, typed as its column; false when it has to stay an expression. */
static bool fold_cell(msi_opt *opt, const ms_expr *cell, ms_value *value_out)
{
    if (cell->kind == MS_EXPR_CONST) {
        *value_out = *cell->value;
        return true;
    }
    if (!ms_expr_is_shareable(cell)) {
        return false;
    }
    const ms_expr *folded = ms_interp_fold(opt->arena, &opt->eval, cell);
    if (folded->kind != MS_EXPR_CONST) {
        return false;
    }
    *value_out = *folded->value;
    return true;
}

static const ms_value *fold_cells(folder *f)
{
    uint32_t row_count = f->node->u.values.row_count;
    size_t count = (size_t)row_count * f->column_count;
    ms_value *values = ms_arena_array(f->opt->arena, ms_value, count);
    f->is_open = ms_arena_array(f->opt->arena, bool, count);
    for (size_t i = 0; i < count; i++) {
        const ms_type *type = f->node->schema.columns[i % f->column_count].type;
        if (fold_cell(f->opt, f->node->u.values.cells[i], &values[i])) {
            values[i].type = type;
            continue;
        }
        f->is_open[i] = true;
        f->any_open = true;
        values[i] = ms_value_null(type);
    }
    return values;
}

/* Columns that hold a NULL in the place of an open cell are nullable here. */
static ms_schema values_schema(folder *f, uint32_t extra)
{
    ms_field *fields = ms_arena_array(f->opt->arena, ms_field, f->column_count + extra);
    for (uint32_t c = 0; c < f->column_count; c++) {
        fields[c] = f->node->schema.columns[c];
        for (uint32_t r = 0; r < f->node->u.values.row_count; r++) {
            if (f->is_open[(size_t)r * f->column_count + c]) {
                fields[c].type = ms_type_as_nullable(f->opt->arena, fields[c].type, true);
                break;
            }
        }
    }
    if (extra > 0) {
        fields[f->column_count] =
            (ms_field){ms_str_lit("row$"), ms_type_simple(f->opt->arena, MS_TYPE_INT, false)};
    }
    return (ms_schema){f->column_count + extra, fields};
}

/* The cells with the number of their row behind them. */
static const ms_value *number_rows(folder *f, const ms_value *values, const ms_type *type)
{
    uint32_t row_count = f->node->u.values.row_count;
    uint32_t width = f->column_count + 1;
    ms_value *cells = ms_arena_array(f->opt->arena, ms_value, (size_t)row_count * width);
    for (uint32_t r = 0; r < row_count; r++) {
        for (uint32_t c = 0; c < f->column_count; c++) {
            cells[(size_t)r * width + c] = values[(size_t)r * f->column_count + c];
        }
        cells[(size_t)r * width + f->column_count] = ms_value_int(type, r);
    }
    return cells;
}

/*
 * A column with its open cells: CASE WHEN row$ = r THEN cell ... ELSE column END, or the cell
 * itself when there is one row only.
 */
static const ms_expr *open_column(folder *f, const ms_schema *schema, uint32_t column)
{
    ms_arena *arena = f->opt->arena;
    uint32_t row_count = f->node->u.values.row_count;
    if (row_count == 1 && f->is_open[column]) {
        return f->node->u.values.cells[column];
    }
    const ms_field *field = &schema->columns[column];
    const ms_type *row_type = schema->columns[f->column_count].type;
    const ms_type *boolean = ms_type_simple(arena, MS_TYPE_BOOLEAN, false);
    const ms_expr *row = ms_expr_column(arena, f->column_count, row_type, f->node->span);
    const ms_expr **arms = ms_arena_array(arena, const ms_expr *, (size_t)row_count * 2 + 1);
    uint32_t count = 0;
    for (uint32_t r = 0; r < row_count; r++) {
        size_t at = (size_t)r * f->column_count + column;
        if (!f->is_open[at]) {
            continue;
        }
        ms_value number = ms_value_int(row_type, r);
        const ms_expr *sides[2] = {row, ms_expr_const(arena, &number, f->node->span)};
        arms[count++] = ms_expr_node(arena, MS_EXPR_CALL, ms_fn_find(ms_str_lit("=")), boolean,
                                     sides, 2, f->node->span);
        arms[count++] = f->node->u.values.cells[at];
    }
    const ms_expr *plain = ms_expr_column(arena, column, field->type, f->node->span);
    if (count == 0) {
        return plain;
    }
    arms[count++] = plain;
    return ms_expr_node(arena, MS_EXPR_CASE, NULL, f->node->schema.columns[column].type, arms,
                        count, f->node->span);
}

static msi_work *add_values(folder *f, msi_works *works, const ms_schema *schema,
                            const ms_value *cells)
{
    msi_work *work =
        msi_works_add(f->opt, works, MS_PNODE_VALUES, f->node->span, NULL, 0, &f->node->props);
    work->node.schema = *schema;
    work->node.u.values.row_count = f->node->u.values.row_count;
    work->node.u.values.cells = cells;
    return work;
}

msi_work *msi_implement_values(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    folder f = {.opt = opt, .node = node, .column_count = node->schema.column_count};
    const ms_value *values = f.column_count > 0 ? fold_cells(&f) : NULL;
    /* Every operator has a column: rows without any get their number. */
    if (f.column_count > 0 && !f.any_open) {
        ms_schema schema = values_schema(&f, 0);
        return add_values(&f, works, &schema, values);
    }
    ms_schema schema = values_schema(&f, 1);
    const ms_type *row_type = schema.columns[f.column_count].type;
    msi_work *rows = add_values(&f, works, &schema, number_rows(&f, values, row_type));
    if (f.column_count == 0) {
        return rows;
    }
    const ms_expr **exprs = ms_arena_array(opt->arena, const ms_expr *, f.column_count);
    for (uint32_t c = 0; c < f.column_count; c++) {
        exprs[c] = open_column(&f, &schema, c);
    }
    msi_work *work = msi_works_add(opt, works, MS_PNODE_CALC, node->span, &rows, 1, &node->props);
    work->node.schema = node->schema;
    work->node.u.calc.expr_count = f.column_count;
    work->node.u.calc.exprs = exprs;
    return work;
}
