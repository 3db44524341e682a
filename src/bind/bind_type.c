/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types as written to types. What Flink has and Millstream does not build is refused here by name:
 * for columns of tables more than for targets of CAST, since a column must also be stored and read
 * back.
 */
/* tidy: no-unit-test: covered by bind_ddl_test.c and bind_error_test.c, through whole statements */
#include "base/limits.h"
#include "bind/bind_priv.h"

#define TIMESTAMP_PRECISION 6 /* Flink's default, and the most that is built */

static ms_rc refuse_type(msi_binder *binder, const ms_ast_type *type, const char *hint)
{
    ms_status_set(binder->st, MS_NOT_SUPPORTED, type->span, "type %s is not supported",
                  ms_ast_type_kind_name(type->kind));
    return hint != NULL ? ms_status_hint(binder->st, "%s", hint) : binder->st->code;
}

static ms_rc bind_sized(msi_binder *binder, const ms_ast_type *type, ms_type_kind kind,
                        int32_t unset, bool nullable, const ms_type **type_out)
{
    int32_t length = type->precision == MS_AST_UNSET ? unset : type->precision;
    if (length < 1) {
        return ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, type->span,
                             "the length of %s is at least 1", ms_ast_type_kind_name(type->kind));
    }
    *type_out = ms_type_sized(binder->arena, kind, length, nullable);
    return MS_OK;
}

static ms_rc bind_decimal(msi_binder *binder, const ms_ast_type *type, bool column_use,
                          bool nullable, const ms_type **type_out)
{
    int32_t precision = type->precision == MS_AST_UNSET ? 10 : type->precision;
    int32_t scale = type->scale == MS_AST_UNSET ? 0 : type->scale;
    if (precision < 1 || precision > MS_TYPE_DECIMAL_PRECISION_MAX) {
        return ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, type->span,
                             "the precision of DECIMAL is from 1 to %d",
                             MS_TYPE_DECIMAL_PRECISION_MAX);
    }
    if (scale < 0 || scale > precision) {
        return ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, type->span,
                             "the scale of DECIMAL is from 0 to its precision, %d", precision);
    }
    if (column_use && precision > MS_TYPE_DECIMAL_I64_PRECISION) {
        ms_status_set(binder->st, MS_NOT_SUPPORTED, type->span,
                      "a column of type DECIMAL(%d, %d) is not supported", precision, scale);
        return ms_status_hint(binder->st, "Columns have up to %d digits.",
                              MS_TYPE_DECIMAL_I64_PRECISION);
    }
    *type_out = ms_type_decimal(binder->arena, precision, scale, nullable);
    return MS_OK;
}

static ms_rc bind_timestamp(msi_binder *binder, const ms_ast_type *type, ms_type_kind kind,
                            bool nullable, const ms_type **type_out)
{
    int32_t precision = type->precision == MS_AST_UNSET ? TIMESTAMP_PRECISION : type->precision;
    if (precision < 0 || precision > 9) {
        return ms_status_set(binder->st, MS_INVALID_TABLE_DEFINITION, type->span,
                             "the precision of %s is from 0 to 9",
                             ms_ast_type_kind_name(type->kind));
    }
    if (precision > TIMESTAMP_PRECISION) {
        ms_status_set(binder->st, MS_NOT_SUPPORTED, type->span, "type %s(%d) is not supported",
                      ms_ast_type_kind_name(type->kind), precision);
        return ms_status_hint(binder->st, "Timestamps have up to %d fraction digits.",
                              TIMESTAMP_PRECISION);
    }
    *type_out = ms_type_temporal(binder->arena, kind, precision, nullable);
    return MS_OK;
}

static ms_rc bind_row(msi_binder *binder, const ms_ast_type *type, bool column_use, bool nullable,
                      const ms_type **type_out)
{
    ms_field *fields = ms_arena_array(binder->arena, ms_field, type->field_count);
    ms_map names;
    ms_map_init(&names, binder->arena);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ms_ast_type_field *field = &type->fields[i];
        fields[i].name = field->name.text;
        if (!ms_map_add(&names, field->name.text, NULL)) {
            return ms_status_set(binder->st, MS_DUPLICATE_COLUMN, field->name.span,
                                 "field \"%.*s\" is named twice", MS_STR_ARG(field->name.text));
        }
        MS_TRY(msi_bind_type(binder, field->type, column_use, &fields[i].type));
    }
    *type_out = ms_type_row(binder->arena, fields, type->field_count, nullable);
    return MS_OK;
}

static ms_rc bind_array(msi_binder *binder, const ms_ast_type *type, bool column_use, bool nullable,
                        const ms_type **type_out)
{
    const ms_type *element;
    MS_TRY(msi_bind_type(binder, type->element, column_use, &element));
    *type_out = ms_type_array(binder->arena, element, nullable);
    return MS_OK;
}

static ms_rc bind_map(msi_binder *binder, const ms_ast_type *type, bool column_use, bool nullable,
                      const ms_type **type_out)
{
    const ms_type *key;
    const ms_type *value;
    MS_TRY(msi_bind_type(binder, type->key, column_use, &key));
    MS_TRY(msi_bind_type(binder, type->element, column_use, &value));
    *type_out = ms_type_map(binder->arena, key, value, nullable);
    return MS_OK;
}

static ms_rc bind_simple(msi_binder *binder, ms_type_kind kind, bool nullable,
                         const ms_type **type_out)
{
    *type_out = ms_type_simple(binder->arena, kind, nullable);
    return MS_OK;
}

static ms_rc bind_char(msi_binder *binder, const ms_ast_type *type, bool column_use, bool nullable,
                       const ms_type **type_out)
{
    bool is_text = type->kind == MS_AST_TYPE_CHAR;
    if (column_use) {
        return refuse_type(binder, type,
                           is_text ? "Use STRING or VARCHAR(n)." : "Use BYTES or VARBINARY(n).");
    }
    return bind_sized(binder, type, is_text ? MS_TYPE_CHAR : MS_TYPE_BINARY, 1, nullable, type_out);
}

ms_rc msi_bind_type(msi_binder *binder, const ms_ast_type *type, bool column_use,
                    const ms_type **type_out)
{
    bool nullable = type->nullability != MS_AST_NULLABILITY_NOT_NULL;
    switch (type->kind) {
    case MS_AST_TYPE_BOOLEAN:
        return bind_simple(binder, MS_TYPE_BOOLEAN, nullable, type_out);
    case MS_AST_TYPE_TINYINT:
        return bind_simple(binder, MS_TYPE_TINYINT, nullable, type_out);
    case MS_AST_TYPE_SMALLINT:
        return bind_simple(binder, MS_TYPE_SMALLINT, nullable, type_out);
    case MS_AST_TYPE_INT:
        return bind_simple(binder, MS_TYPE_INT, nullable, type_out);
    case MS_AST_TYPE_BIGINT:
        return bind_simple(binder, MS_TYPE_BIGINT, nullable, type_out);
    case MS_AST_TYPE_FLOAT:
        return bind_simple(binder, MS_TYPE_FLOAT, nullable, type_out);
    case MS_AST_TYPE_DOUBLE:
        return bind_simple(binder, MS_TYPE_DOUBLE, nullable, type_out);
    case MS_AST_TYPE_DATE:
        return bind_simple(binder, MS_TYPE_DATE, nullable, type_out);
    case MS_AST_TYPE_DECIMAL:
        return bind_decimal(binder, type, column_use, nullable, type_out);
    case MS_AST_TYPE_CHAR:
    case MS_AST_TYPE_BINARY:
        return bind_char(binder, type, column_use, nullable, type_out);
    case MS_AST_TYPE_VARCHAR:
    case MS_AST_TYPE_STRING:
        return bind_sized(binder, type, MS_TYPE_VARCHAR, MS_TYPE_LENGTH_MAX, nullable, type_out);
    case MS_AST_TYPE_VARBINARY:
    case MS_AST_TYPE_BYTES:
        return bind_sized(binder, type, MS_TYPE_VARBINARY, MS_TYPE_LENGTH_MAX, nullable, type_out);
    case MS_AST_TYPE_TIMESTAMP:
        return bind_timestamp(binder, type, MS_TYPE_TIMESTAMP, nullable, type_out);
    case MS_AST_TYPE_TIMESTAMP_LTZ:
        return bind_timestamp(binder, type, MS_TYPE_TIMESTAMP_LTZ, nullable, type_out);
    case MS_AST_TYPE_ARRAY:
        return bind_array(binder, type, column_use, nullable, type_out);
    case MS_AST_TYPE_MAP:
        return bind_map(binder, type, column_use, nullable, type_out);
    case MS_AST_TYPE_ROW:
        return bind_row(binder, type, column_use, nullable, type_out);
    case MS_AST_TYPE_TIMESTAMP_TZ:
        return refuse_type(binder, type, "Flink has no such values either. Use TIMESTAMP_LTZ(3).");
    case MS_AST_TYPE_TIME:
    case MS_AST_TYPE_INTERVAL:
    case MS_AST_TYPE_MULTISET:
    case MS_AST_TYPE_RAW:
    case MS_AST_TYPE_NULL:
        return refuse_type(binder, type, NULL);
    case MS_AST_TYPE_NAMED:
        return ms_status_set(binder->st, MS_NOT_SUPPORTED, type->span,
                             "type \"%.*s\" is not supported",
                             MS_STR_ARG(type->name.parts[type->name.count - 1].text));
    case MS_AST_TYPE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static uint32_t type_depth(const ms_type *type)
{
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < type->child_count; i++) {
        uint32_t depth = type_depth(type->children[i]);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

ms_rc msi_check_type_depth(msi_binder *binder, const ms_type *type, ms_span span)
{
    if (type_depth(type) > MS_LIMIT_TYPE_DEPTH) {
        return ms_status_set(binder->st, MS_STATEMENT_TOO_LARGE, span,
                             "a type nests deeper than %u levels", MS_LIMIT_TYPE_DEPTH);
    }
    return MS_OK;
}

ms_rc msi_bind_names_of(msi_binder *binder, const ms_expr *expr, const ms_type *type, ms_span span,
                        const ms_expr **expr_out)
{
    *expr_out = expr;
    const ms_type *wanted = ms_type_with_names(binder->arena, expr->type, type);
    return ms_type_equals(wanted, expr->type)
               ? MS_OK
               : ms_build_cast(&binder->build, expr, wanted, MS_BUILD_CAST, span, expr_out);
}
