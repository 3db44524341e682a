/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types: the names of scalar types with their parameters, the constructors ARRAY, MAP, MULTISET and
 * ROW, and nullability. Ranges of precision and length are not checked here: they depend on what a
 * type is used for.
 */
#include "sql/sql_priv.h"

typedef enum type_params {
    PARAMS_NONE,
    PARAMS_ONE,  /* (precision) or (length) */
    PARAMS_TWO,  /* (precision [, scale]) */
    PARAMS_TIME, /* (precision), and perhaps WITH or WITHOUT TIME ZONE */
} type_params;

typedef struct type_word {
    ms_keyword word;
    ms_ast_type_kind kind;
    type_params params;
} type_word;

static const type_word type_words[] = {
    {MS_KW_BOOLEAN, MS_AST_TYPE_BOOLEAN, PARAMS_NONE},
    {MS_KW_TINYINT, MS_AST_TYPE_TINYINT, PARAMS_NONE},
    {MS_KW_SMALLINT, MS_AST_TYPE_SMALLINT, PARAMS_NONE},
    {MS_KW_INT, MS_AST_TYPE_INT, PARAMS_NONE},
    {MS_KW_INTEGER, MS_AST_TYPE_INT, PARAMS_NONE},
    {MS_KW_BIGINT, MS_AST_TYPE_BIGINT, PARAMS_NONE},
    {MS_KW_FLOAT, MS_AST_TYPE_FLOAT, PARAMS_NONE},
    {MS_KW_DOUBLE, MS_AST_TYPE_DOUBLE, PARAMS_NONE},
    {MS_KW_DECIMAL, MS_AST_TYPE_DECIMAL, PARAMS_TWO},
    {MS_KW_DEC, MS_AST_TYPE_DECIMAL, PARAMS_TWO},
    {MS_KW_NUMERIC, MS_AST_TYPE_DECIMAL, PARAMS_TWO},
    {MS_KW_CHAR, MS_AST_TYPE_CHAR, PARAMS_ONE},
    {MS_KW_CHARACTER, MS_AST_TYPE_CHAR, PARAMS_ONE},
    {MS_KW_VARCHAR, MS_AST_TYPE_VARCHAR, PARAMS_ONE},
    {MS_KW_STRING, MS_AST_TYPE_STRING, PARAMS_NONE},
    {MS_KW_BINARY, MS_AST_TYPE_BINARY, PARAMS_ONE},
    {MS_KW_VARBINARY, MS_AST_TYPE_VARBINARY, PARAMS_ONE},
    {MS_KW_BYTES, MS_AST_TYPE_BYTES, PARAMS_NONE},
    {MS_KW_DATE, MS_AST_TYPE_DATE, PARAMS_NONE},
    {MS_KW_TIME, MS_AST_TYPE_TIME, PARAMS_TIME},
    {MS_KW_TIMESTAMP, MS_AST_TYPE_TIMESTAMP, PARAMS_TIME},
    {MS_KW_TIMESTAMP_LTZ, MS_AST_TYPE_TIMESTAMP_LTZ, PARAMS_ONE},
    {MS_KW_NULL, MS_AST_TYPE_NULL, PARAMS_NONE},
};

static ms_rc parse_number(ms_parser *p, int32_t *value_out)
{
    int64_t value = 0;
    MS_TRY(msi_parse_integer(p, "an integer", INT32_MAX, &value));
    *value_out = (int32_t)value;
    return MS_OK;
}

/* (precision [, scale]), when the token is the opening parenthesis. */
static ms_rc parse_params(ms_parser *p, bool with_scale, ms_ast_type *type)
{
    bool found = false;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(parse_number(p, &type->precision));
    if (with_scale) {
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &found));
        if (found) {
            MS_TRY(parse_number(p, &type->scale));
        }
    }
    return msi_parse_expect(p, MS_TOKEN_RPAREN);
}

/* [WITHOUT TIME ZONE | WITH [LOCAL] TIME ZONE] of TIME and TIMESTAMP. */
static ms_rc parse_time_zone(ms_parser *p, ms_ast_type *type)
{
    ms_span with_span = p->token.span;
    bool without = false;
    bool with = false;
    bool local = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_WITHOUT, &without));
    if (!without && (msi_parse_at_words(p, MS_KW_WITH, MS_KW_TIME) ||
                     msi_parse_at_words(p, MS_KW_WITH, MS_KW_LOCAL))) {
        MS_TRY(msi_parse_accept_word(p, MS_KW_WITH, &with));
        MS_TRY(msi_parse_accept_word(p, MS_KW_LOCAL, &local));
    }
    if (!with && !without) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_TIME));
    MS_TRY(msi_parse_expect_word(p, MS_KW_ZONE));
    if (with && type->kind == MS_AST_TYPE_TIME) {
        with_span.end = p->last.end;
        return msi_parse_refuse(p, with_span, "TIME with a time zone", NULL);
    }
    if (with) {
        type->kind = local ? MS_AST_TYPE_TIMESTAMP_LTZ : MS_AST_TYPE_TIMESTAMP_TZ;
    }
    return MS_OK;
}

static ms_rc parse_scalar(ms_parser *p, const type_word *word, ms_ast_type *type)
{
    bool found = false;
    type->kind = word->kind;
    MS_TRY(msi_parse_advance(p));
    if (word->kind == MS_AST_TYPE_DOUBLE) {
        return msi_parse_accept_word(p, MS_KW_PRECISION, &found);
    }
    if (word->kind == MS_AST_TYPE_CHAR || word->kind == MS_AST_TYPE_BINARY) {
        MS_TRY(msi_parse_accept_word(p, MS_KW_VARYING, &found));
        ms_ast_type_kind varying =
            word->kind == MS_AST_TYPE_CHAR ? MS_AST_TYPE_VARCHAR : MS_AST_TYPE_VARBINARY;
        type->kind = found ? varying : type->kind;
    }
    if (word->params != PARAMS_NONE) {
        MS_TRY(parse_params(p, word->params == PARAMS_TWO, type));
    }
    return word->params == PARAMS_TIME ? parse_time_zone(p, type) : MS_OK;
}

/* A child of a constructed type. */
static ms_rc parse_child(ms_parser *p, const ms_ast_type **child_out, uint32_t *child_height)
{
    MS_TRY(msi_parse_type(p, child_out));
    *child_height = msi_parse_max(*child_height, (*child_out)->height);
    return MS_OK;
}

/* <element>, <key, value>. */
static ms_rc parse_element(ms_parser *p, bool with_key, ms_ast_type *type, uint32_t *child_height)
{
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LESS));
    if (with_key) {
        MS_TRY(parse_child(p, &type->key, child_height));
        MS_TRY(msi_parse_expect(p, MS_TOKEN_COMMA));
    }
    MS_TRY(parse_child(p, &type->element, child_height));
    return msi_parse_expect(p, MS_TOKEN_GREATER);
}

static ms_rc parse_fields(ms_parser *p, ms_token_kind closing, ms_ast_type *type,
                          uint32_t *child_height)
{
    ms_parse_list fields = {0};
    for (bool more = true; more;) {
        ms_ast_type_field field = {0};
        MS_TRY(msi_parse_name(p, "the name of a field", &field.name));
        MS_TRY(parse_child(p, &field.type, child_height));
        if (msi_parse_at(p, MS_TOKEN_STRING)) {
            MS_TRY(msi_parse_text(p, "a comment", &field.comment));
        }
        if (fields.count >= MS_LIMIT_COLUMNS) {
            return msi_parse_too_large(p, field.name.span, "a row type has more fields than",
                                       MS_LIMIT_COLUMNS);
        }
        MS_TRY(msi_parse_push(p, &fields, &field, sizeof(field)));
        MS_TRY(msi_parse_next_item(p, closing, &more));
    }
    type->fields = fields.items;
    type->field_count = fields.count;
    return MS_OK;
}

/* ROW<name type, ...>, ROW(name type, ...), ROW<>. */
static ms_rc parse_row(ms_parser *p, ms_ast_type *type, uint32_t *child_height)
{
    bool is_empty = false;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept(p, MS_TOKEN_NOT_EQUAL, &is_empty));
    if (is_empty) {
        return MS_OK;
    }
    bool is_paren = msi_parse_at(p, MS_TOKEN_LPAREN);
    if (!is_paren && !msi_parse_at(p, MS_TOKEN_LESS)) {
        return msi_parse_fail(p, "\"<\" and the fields of the row");
    }
    MS_TRY(msi_parse_advance(p));
    return parse_fields(p, is_paren ? MS_TOKEN_RPAREN : MS_TOKEN_GREATER, type, child_height);
}

static ms_rc parse_raw(ms_parser *p, ms_ast_type *type)
{
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_text(p, "a class", &type->raw_class));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_COMMA));
    MS_TRY(msi_parse_text(p, "a serializer", &type->raw_serializer));
    return msi_parse_expect(p, MS_TOKEN_RPAREN);
}

static ms_rc parse_interval(ms_parser *p, ms_ast_type *type)
{
    MS_TRY(msi_parse_advance(p));
    return msi_parse_qualifier(p, false, &type->qualifier);
}

/* Words of standard SQL that name no type of Flink's. */
static ms_rc refuse_type(ms_parser *p)
{
    static const struct {
        ms_keyword word;
        const char *hint;
    } words[] = {
        {MS_KW_REAL, "Write FLOAT."},           {MS_KW_DATETIME, "Write TIMESTAMP(3)."},
        {MS_KW_CLOB, "Write STRING."},          {MS_KW_BLOB, "Write BYTES."},
        {MS_KW_BIT, "Write BOOLEAN or BYTES."}, {MS_KW_NCHAR, "Write CHAR: strings are UTF-8."},
        {MS_KW_STRUCTURED, "Write ROW<...>."},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (msi_parse_at_word(p, words[i].word)) {
            ms_str what = ms_arena_format(p->arena, "the type %s", ms_keyword_text(words[i].word));
            return msi_parse_refuse(p, p->token.span, what.ptr, words[i].hint);
        }
    }
    return msi_parse_fail_name(p, "a type");
}

static ms_rc parse_base(ms_parser *p, ms_ast_type *type, uint32_t *child_height)
{
    for (size_t i = 0; i < sizeof(type_words) / sizeof(type_words[0]); i++) {
        if (msi_parse_at_word(p, type_words[i].word)) {
            return parse_scalar(p, &type_words[i], type);
        }
    }
    bool is_map = msi_parse_at_word(p, MS_KW_MAP) && p->ahead.kind == MS_TOKEN_LESS;
    if (msi_parse_at_word(p, MS_KW_ARRAY) || msi_parse_at_word(p, MS_KW_MULTISET) || is_map) {
        type->kind = is_map                              ? MS_AST_TYPE_MAP
                     : msi_parse_at_word(p, MS_KW_ARRAY) ? MS_AST_TYPE_ARRAY
                                                         : MS_AST_TYPE_MULTISET;
        return parse_element(p, is_map, type, child_height);
    }
    if (msi_parse_at_word(p, MS_KW_ROW)) {
        type->kind = MS_AST_TYPE_ROW;
        return parse_row(p, type, child_height);
    }
    if (msi_parse_at_word(p, MS_KW_RAW)) {
        type->kind = MS_AST_TYPE_RAW;
        return parse_raw(p, type);
    }
    if (msi_parse_at_word(p, MS_KW_INTERVAL)) {
        type->kind = MS_AST_TYPE_INTERVAL;
        return parse_interval(p, type);
    }
    if (!msi_parse_at_name(p)) {
        return refuse_type(p);
    }
    type->kind = MS_AST_TYPE_NAMED;
    return msi_parse_path(p, "a type", &type->name);
}

static ms_rc parse_nullability(ms_parser *p, ms_ast_type *type)
{
    bool found = false;
    if (msi_parse_at_words(p, MS_KW_NOT, MS_KW_NULL)) {
        MS_TRY(msi_parse_advance(p));
        type->nullability = MS_AST_NULLABILITY_NOT_NULL;
        return msi_parse_advance(p);
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_NULL, &found));
    type->nullability = found ? MS_AST_NULLABILITY_NULL : MS_AST_NULLABILITY_UNSAID;
    return MS_OK;
}

static ms_rc finish_type(ms_parser *p, uint32_t start, uint32_t child_height, ms_ast_type *type)
{
    MS_TRY(parse_nullability(p, type));
    type->span = msi_parse_span(p, start);
    type->height = child_height + 1;
    if (type->height > MS_LIMIT_TYPE_DEPTH) {
        return msi_parse_too_large(p, type->span, "a type nests deeper than", MS_LIMIT_TYPE_DEPTH);
    }
    return MS_OK;
}

static ms_ast_type *new_type(ms_parser *p)
{
    ms_ast_type *type = msi_parse_new(p, ms_ast_type);
    type->precision = MS_AST_UNSET;
    type->scale = MS_AST_UNSET;
    return type;
}

ms_rc msi_parse_type(ms_parser *p, const ms_ast_type **type_out)
{
    uint32_t start = p->token.span.start;
    uint32_t child_height = 0;
    ms_ast_type *type = new_type(p);
    MS_TRY(msi_parse_enter(p));
    MS_TRY(parse_base(p, type, &child_height));
    msi_parse_leave(p);
    MS_TRY(finish_type(p, start, child_height, type));
    while (msi_parse_at_word(p, MS_KW_ARRAY) || msi_parse_at_word(p, MS_KW_MULTISET)) {
        ms_ast_type *outer = new_type(p);
        outer->kind = msi_parse_at_word(p, MS_KW_ARRAY) ? MS_AST_TYPE_ARRAY : MS_AST_TYPE_MULTISET;
        outer->element = type;
        MS_TRY(msi_parse_advance(p));
        MS_TRY(finish_type(p, start, type->height, outer));
        type = outer;
    }
    *type_out = type;
    return MS_OK;
}
