/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of what the tree holds. The tree itself needs no code: the parser makes it, the binder
 * reads it.
 */
#include "sql/ast.h"

static const char *const unit_names[MS_AST_UNIT_COUNT] = {
    [MS_AST_UNIT_NONE] = "",
    [MS_AST_UNIT_NANOSECOND] = "NANOSECOND",
    [MS_AST_UNIT_MICROSECOND] = "MICROSECOND",
    [MS_AST_UNIT_MILLISECOND] = "MILLISECOND",
    [MS_AST_UNIT_SECOND] = "SECOND",
    [MS_AST_UNIT_MINUTE] = "MINUTE",
    [MS_AST_UNIT_HOUR] = "HOUR",
    [MS_AST_UNIT_DAY] = "DAY",
    [MS_AST_UNIT_WEEK] = "WEEK",
    [MS_AST_UNIT_MONTH] = "MONTH",
    [MS_AST_UNIT_QUARTER] = "QUARTER",
    [MS_AST_UNIT_YEAR] = "YEAR",
    [MS_AST_UNIT_DECADE] = "DECADE",
    [MS_AST_UNIT_CENTURY] = "CENTURY",
    [MS_AST_UNIT_MILLENNIUM] = "MILLENNIUM",
    [MS_AST_UNIT_DOW] = "DOW",
    [MS_AST_UNIT_ISODOW] = "ISODOW",
    [MS_AST_UNIT_DOY] = "DOY",
    [MS_AST_UNIT_ISOYEAR] = "ISOYEAR",
    [MS_AST_UNIT_EPOCH] = "EPOCH",
};

const char *ms_ast_unit_name(ms_ast_unit unit)
{
    return unit_names[unit];
}

static const char *const binary_op_names[MS_AST_BINARY_OP_COUNT] = {
    [MS_AST_OP_ADD] = "+",
    [MS_AST_OP_SUBTRACT] = "-",
    [MS_AST_OP_MULTIPLY] = "*",
    [MS_AST_OP_DIVIDE] = "/",
    [MS_AST_OP_MODULO] = "%",
    [MS_AST_OP_CONCAT] = "||",
    [MS_AST_OP_EQUAL] = "=",
    [MS_AST_OP_NOT_EQUAL] = "<>",
    [MS_AST_OP_LESS] = "<",
    [MS_AST_OP_LESS_EQUAL] = "<=",
    [MS_AST_OP_GREATER] = ">",
    [MS_AST_OP_GREATER_EQUAL] = ">=",
    [MS_AST_OP_DISTINCT] = "IS DISTINCT FROM",
    [MS_AST_OP_NOT_DISTINCT] = "IS NOT DISTINCT FROM",
    [MS_AST_OP_OVERLAPS] = "OVERLAPS",
};

const char *ms_ast_binary_op_name(ms_ast_binary_op op)
{
    return binary_op_names[op];
}

static const char *const type_kind_names[MS_AST_TYPE_KIND_COUNT] = {
    [MS_AST_TYPE_BOOLEAN] = "BOOLEAN",
    [MS_AST_TYPE_TINYINT] = "TINYINT",
    [MS_AST_TYPE_SMALLINT] = "SMALLINT",
    [MS_AST_TYPE_INT] = "INT",
    [MS_AST_TYPE_BIGINT] = "BIGINT",
    [MS_AST_TYPE_FLOAT] = "FLOAT",
    [MS_AST_TYPE_DOUBLE] = "DOUBLE",
    [MS_AST_TYPE_DECIMAL] = "DECIMAL",
    [MS_AST_TYPE_CHAR] = "CHAR",
    [MS_AST_TYPE_VARCHAR] = "VARCHAR",
    [MS_AST_TYPE_STRING] = "STRING",
    [MS_AST_TYPE_BINARY] = "BINARY",
    [MS_AST_TYPE_VARBINARY] = "VARBINARY",
    [MS_AST_TYPE_BYTES] = "BYTES",
    [MS_AST_TYPE_DATE] = "DATE",
    [MS_AST_TYPE_TIME] = "TIME",
    [MS_AST_TYPE_TIMESTAMP] = "TIMESTAMP",
    [MS_AST_TYPE_TIMESTAMP_LTZ] = "TIMESTAMP_LTZ",
    [MS_AST_TYPE_TIMESTAMP_TZ] = "TIMESTAMP WITH TIME ZONE",
    [MS_AST_TYPE_INTERVAL] = "INTERVAL",
    [MS_AST_TYPE_ARRAY] = "ARRAY",
    [MS_AST_TYPE_MULTISET] = "MULTISET",
    [MS_AST_TYPE_MAP] = "MAP",
    [MS_AST_TYPE_ROW] = "ROW",
    [MS_AST_TYPE_RAW] = "RAW",
    [MS_AST_TYPE_NULL] = "NULL",
    [MS_AST_TYPE_NAMED] = "user-defined type",
};

const char *ms_ast_type_kind_name(ms_ast_type_kind kind)
{
    return type_kind_names[kind];
}

const char *ms_ast_stmt_name(const ms_ast_stmt *stmt)
{
    switch (stmt->kind) {
    case MS_AST_QUERY_STMT:
        return "SELECT";
    case MS_AST_CREATE_TABLE:
        return "CREATE TABLE";
    case MS_AST_CREATE_VIEW:
        return "CREATE VIEW";
    case MS_AST_DROP:
        return ms_ast_drop_of(stmt)->is_view ? "DROP VIEW" : "DROP TABLE";
    case MS_AST_INSERT:
        return "INSERT";
    case MS_AST_STATEMENT_SET:
        return "STATEMENT SET";
    case MS_AST_EXPLAIN:
        return "EXPLAIN";
    case MS_AST_SHOW:
        return "SHOW";
    case MS_AST_DESCRIBE:
        return "DESCRIBE";
    case MS_AST_SET:
        return "SET";
    case MS_AST_RESET:
        return "RESET";
    case MS_AST_ADD_JAR:
        return "ADD JAR";
    case MS_AST_STMT_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}
