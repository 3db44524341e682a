/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CREATE TABLE, CREATE VIEW and DROP. The order of the clauses of CREATE TABLE is Flink's: columns,
 * COMMENT, DISTRIBUTED, PARTITIONED BY, WITH, and LIKE or AS at the end.
 */
#include "sql/sql_priv.h"

/* Columns. */

/* [FROM 'key'] [VIRTUAL] behind METADATA. */
static ms_rc parse_metadata(ms_parser *p, ms_ast_column *column)
{
    bool found = false;
    column->kind = MS_AST_COLUMN_METADATA;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_FROM, &found));
    if (found) {
        MS_TRY(msi_parse_text(p, "a metadata key", &column->metadata_key));
    }
    return msi_parse_accept_word(p, MS_KW_VIRTUAL, &column->is_virtual);
}

static ms_rc parse_comment(ms_parser *p, ms_ast_text *comment)
{
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_COMMENT, &found));
    return found ? msi_parse_text(p, "a comment", comment) : MS_OK;
}

/* NOT ENFORCED, which Flink demands: nobody checks the key. */
static ms_rc parse_not_enforced(ms_parser *p, ms_span key_span)
{
    bool is_enforced = msi_parse_at_word(p, MS_KW_ENFORCED);
    if (!is_enforced && msi_parse_at_words(p, MS_KW_NOT, MS_KW_ENFORCED)) {
        MS_TRY(msi_parse_advance(p));
        return msi_parse_advance(p);
    }
    ms_span span = is_enforced ? p->token.span : key_span;
    msi_parse_refuse(p, span, "a PRIMARY KEY that is enforced", NULL);
    return ms_status_hint(p->st, "Write PRIMARY KEY ... NOT ENFORCED: the key is trusted, not "
                                 "checked.");
}

/* UNIQUE, DEFAULT and the like: Flink does not have them either. */
static ms_rc refuse_constraint(ms_parser *p)
{
    ms_str what = ms_arena_format(p->arena, "%s in a table", ms_keyword_text(p->token.keyword));
    return msi_parse_refuse(p, p->token.span, what.ptr, NULL);
}

/* Behind the type of a column. */
static ms_rc check_column_constraint(ms_parser *p)
{
    static const ms_keyword words[] = {
        MS_KW_UNIQUE, MS_KW_CHECK, MS_KW_REFERENCES, MS_KW_DEFAULT, MS_KW_COLLATE, MS_KW_IDENTITY,
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (msi_parse_at_word(p, words[i])) {
            return refuse_constraint(p);
        }
    }
    return MS_OK;
}

/* Where a column may begin too: then the word is a name that lacks its back-ticks. */
static ms_rc check_table_constraint(ms_parser *p)
{
    bool is_word = msi_parse_at_word(p, MS_KW_UNIQUE) || msi_parse_at_word(p, MS_KW_CHECK);
    bool is_refused = (is_word && p->ahead.kind == MS_TOKEN_LPAREN) ||
                      msi_parse_at_words(p, MS_KW_FOREIGN, MS_KW_KEY);
    return is_refused ? refuse_constraint(p) : MS_OK;
}

/* What the parts of a table's parentheses are collected in. */
typedef struct table_parts {
    ms_parse_list columns;
    ms_parse_list watermarks;
    ms_parse_list primary_keys;
} table_parts;

/* [CONSTRAINT name] PRIMARY KEY NOT ENFORCED behind the type of a column. */
static ms_rc parse_column_key(ms_parser *p, const ms_ast_ident *column, table_parts *parts)
{
    uint32_t start = p->token.span.start;
    ms_ast_primary_key key = {.columns = column, .column_count = 1};
    bool named = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_CONSTRAINT, &named));
    if (named) {
        MS_TRY(msi_parse_name(p, "the name of a constraint", &key.name));
    }
    MS_TRY(check_column_constraint(p));
    if (!named && !msi_parse_at_word(p, MS_KW_PRIMARY)) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_PRIMARY));
    MS_TRY(msi_parse_expect_word(p, MS_KW_KEY));
    MS_TRY(parse_not_enforced(p, msi_parse_span(p, start)));
    key.span = msi_parse_span(p, start);
    return msi_parse_push(p, &parts->primary_keys, &key, sizeof(key));
}

static ms_rc push_column(ms_parser *p, uint32_t start, ms_ast_column *column, table_parts *parts)
{
    column->span = msi_parse_span(p, start);
    if (parts->columns.count >= MS_LIMIT_COLUMNS) {
        return msi_parse_too_large(p, column->span, "a table has more columns than",
                                   MS_LIMIT_COLUMNS);
    }
    return msi_parse_push(p, &parts->columns, column, sizeof(*column));
}

/* name type ..., name AS expr. */
static ms_rc parse_column(ms_parser *p, table_parts *parts)
{
    uint32_t start = p->token.span.start;
    ms_ast_column column = {0};
    bool is_computed = false;
    MS_TRY(msi_parse_name(p, "a column name", &column.name));
    if (msi_parse_at(p, MS_TOKEN_COMMA) || msi_parse_at(p, MS_TOKEN_RPAREN)) {
        msi_parse_refuse(p, column.name.span, "a column without a type", NULL);
        return ms_status_hint(p->st, "Write name type, or leave the list out before AS.");
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_AS, &is_computed));
    if (is_computed) {
        column.kind = MS_AST_COLUMN_COMPUTED;
        MS_TRY(msi_parse_expr(p, &column.expr));
    } else {
        ms_ast_ident *name = msi_parse_new(p, ms_ast_ident);
        *name = column.name;
        MS_TRY(msi_parse_type(p, &column.type));
        MS_TRY(parse_column_key(p, name, parts));
        if (msi_parse_at_word(p, MS_KW_METADATA)) {
            MS_TRY(parse_metadata(p, &column));
        }
    }
    MS_TRY(parse_comment(p, &column.comment));
    return push_column(p, start, &column, parts);
}

/* WATERMARK FOR column AS expr. */
static ms_rc parse_watermark(ms_parser *p, table_parts *parts)
{
    uint32_t start = p->token.span.start;
    ms_ast_watermark watermark = {0};
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect_word(p, MS_KW_FOR));
    MS_TRY(msi_parse_path(p, "a column name", &watermark.column));
    MS_TRY(msi_parse_expect_word(p, MS_KW_AS));
    MS_TRY(msi_parse_expr(p, &watermark.expr));
    watermark.span = msi_parse_span(p, start);
    return msi_parse_push(p, &parts->watermarks, &watermark, sizeof(watermark));
}

/* [CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED. */
static ms_rc parse_table_key(ms_parser *p, table_parts *parts)
{
    uint32_t start = p->token.span.start;
    ms_ast_primary_key key = {0};
    bool named = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_CONSTRAINT, &named));
    if (named) {
        MS_TRY(msi_parse_name(p, "the name of a constraint", &key.name));
    }
    MS_TRY(check_table_constraint(p));
    MS_TRY(msi_parse_expect_word(p, MS_KW_PRIMARY));
    MS_TRY(msi_parse_expect_word(p, MS_KW_KEY));
    if (!msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_fail(p, "\"(\" and the columns of the key");
    }
    MS_TRY(msi_parse_name_list(p, "a column name", &key.columns, &key.column_count));
    MS_TRY(parse_not_enforced(p, msi_parse_span(p, start)));
    key.span = msi_parse_span(p, start);
    return msi_parse_push(p, &parts->primary_keys, &key, sizeof(key));
}

static ms_rc parse_table_part(ms_parser *p, table_parts *parts)
{
    MS_TRY(check_table_constraint(p));
    if (msi_parse_at_word(p, MS_KW_WATERMARK)) {
        return parse_watermark(p, parts);
    }
    if (msi_parse_at_word(p, MS_KW_PRIMARY) || msi_parse_at_word(p, MS_KW_CONSTRAINT)) {
        return parse_table_key(p, parts);
    }
    return parse_column(p, parts);
}

/* (columns, watermark, key), when the token is the opening parenthesis. */
static ms_rc parse_table_parts(ms_parser *p, ms_ast_create_table *create)
{
    table_parts parts = {0};
    bool more = false;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &more));
    while (more) {
        MS_TRY(parse_table_part(p, &parts));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    create->columns = parts.columns.items;
    create->column_count = parts.columns.count;
    create->watermarks = parts.watermarks.items;
    create->watermark_count = parts.watermarks.count;
    create->primary_keys = parts.primary_keys.items;
    create->primary_key_count = parts.primary_keys.count;
    return MS_OK;
}

/* The clauses behind the columns. */

static ms_rc parse_buckets(ms_parser *p, ms_ast_distribution *distribution)
{
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_INTO, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(msi_parse_integer(p, "a number of buckets", INT32_MAX, &distribution->buckets));
    return msi_parse_expect_word(p, MS_KW_BUCKETS);
}

/* DISTRIBUTED BY [HASH | RANGE] (columns) [INTO n BUCKETS], DISTRIBUTED INTO n BUCKETS. */
static ms_rc parse_distribution(ms_parser *p, ms_ast_distribution *distribution)
{
    uint32_t start = p->token.span.start;
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_DISTRIBUTED, &found));
    if (!found) {
        return MS_OK;
    }
    distribution->kind = MS_AST_DISTRIBUTION_UNSAID;
    distribution->buckets = MS_AST_UNSET;
    MS_TRY(msi_parse_accept_word(p, MS_KW_BY, &found));
    if (!found && !msi_parse_at_word(p, MS_KW_INTO)) {
        return msi_parse_fail(p, "BY or INTO");
    }
    if (found) {
        bool is_hash = msi_parse_at_word(p, MS_KW_HASH);
        if (is_hash || msi_parse_at_word(p, MS_KW_RANGE)) {
            distribution->kind = is_hash ? MS_AST_DISTRIBUTION_HASH : MS_AST_DISTRIBUTION_RANGE;
            MS_TRY(msi_parse_advance(p));
        }
        if (!msi_parse_at(p, MS_TOKEN_LPAREN)) {
            return msi_parse_fail(p, "\"(\" and the columns");
        }
        MS_TRY(msi_parse_name_list(p, "a column name", &distribution->columns,
                                   &distribution->column_count));
    }
    MS_TRY(parse_buckets(p, distribution));
    distribution->span = msi_parse_span(p, start);
    return MS_OK;
}

static ms_rc parse_partitioned(ms_parser *p, ms_ast_create_table *create)
{
    uint32_t start = p->token.span.start;
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_PARTITIONED, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_BY));
    if (!msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_fail(p, "\"(\" and the columns");
    }
    MS_TRY(msi_parse_name_list(p, "a column name", &create->partition, &create->partition_count));
    create->partition_span = msi_parse_span(p, start);
    return MS_OK;
}

static ms_rc parse_with(ms_parser *p, ms_ast_create_table *create)
{
    uint32_t start = p->token.span.start;
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_WITH, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_options(p, &create->options, &create->option_count));
    create->options_span = msi_parse_span(p, start);
    return MS_OK;
}

static const struct {
    ms_keyword word;
    ms_ast_like_action action;
} like_actions[] = {
    {MS_KW_INCLUDING, MS_AST_LIKE_INCLUDING},
    {MS_KW_EXCLUDING, MS_AST_LIKE_EXCLUDING},
    {MS_KW_OVERWRITING, MS_AST_LIKE_OVERWRITING},
};

static const struct {
    ms_keyword word;
    ms_ast_like_feature feature;
    bool may_overwrite;
} like_features[] = {
    {MS_KW_ALL, MS_AST_LIKE_ALL, false},
    {MS_KW_CONSTRAINTS, MS_AST_LIKE_CONSTRAINTS, false},
    {MS_KW_DISTRIBUTION, MS_AST_LIKE_DISTRIBUTION, false},
    {MS_KW_GENERATED, MS_AST_LIKE_GENERATED, true},
    {MS_KW_METADATA, MS_AST_LIKE_METADATA, true},
    {MS_KW_OPTIONS, MS_AST_LIKE_OPTIONS, true},
    {MS_KW_PARTITIONS, MS_AST_LIKE_PARTITIONS, false},
    {MS_KW_WATERMARKS, MS_AST_LIKE_WATERMARKS, true},
};

/* INCLUDING ALL, OVERWRITING OPTIONS. */
static ms_rc parse_like_option(ms_parser *p, ms_ast_like_option *option)
{
    uint32_t start = p->token.span.start;
    option->action = MS_AST_LIKE_ACTION_COUNT;
    option->feature = MS_AST_LIKE_FEATURE_COUNT;
    for (size_t i = 0; i < sizeof(like_actions) / sizeof(like_actions[0]); i++) {
        if (msi_parse_at_word(p, like_actions[i].word)) {
            option->action = like_actions[i].action;
        }
    }
    if (option->action == MS_AST_LIKE_ACTION_COUNT) {
        return msi_parse_fail(p, "INCLUDING, EXCLUDING or OVERWRITING");
    }
    MS_TRY(msi_parse_advance(p));
    for (size_t i = 0; i < sizeof(like_features) / sizeof(like_features[0]); i++) {
        bool fits = option->action != MS_AST_LIKE_OVERWRITING || like_features[i].may_overwrite;
        if (msi_parse_at_word(p, like_features[i].word) && fits) {
            option->feature = like_features[i].feature;
        }
    }
    if (option->feature == MS_AST_LIKE_FEATURE_COUNT) {
        bool may_overwrite = option->action == MS_AST_LIKE_OVERWRITING;
        return msi_parse_fail(p, "%sGENERATED, METADATA, OPTIONS or WATERMARKS",
                              may_overwrite ? "" : "ALL, CONSTRAINTS, DISTRIBUTION, PARTITIONS, ");
    }
    MS_TRY(msi_parse_advance(p));
    option->span = msi_parse_span(p, start);
    return MS_OK;
}

/* LIKE table [(options)]; the word is read. */
static ms_rc parse_like(ms_parser *p, uint32_t start, ms_ast_create_table *create)
{
    ms_ast_like_clause *like = msi_parse_new(p, ms_ast_like_clause);
    ms_parse_list options = {0};
    bool found = false;
    MS_TRY(msi_parse_path(p, "a table", &like->table));
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &found));
    while (found && !msi_parse_at(p, MS_TOKEN_RPAREN)) {
        ms_ast_like_option option;
        MS_TRY(parse_like_option(p, &option));
        MS_TRY(msi_parse_push(p, &options, &option, sizeof(option)));
    }
    if (found) {
        MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    }
    like->options = options.items;
    like->option_count = options.count;
    like->span = msi_parse_span(p, start);
    create->like = like;
    return MS_OK;
}

static ms_rc parse_table_source(ms_parser *p, ms_ast_create_table *create)
{
    uint32_t start = p->token.span.start;
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_LIKE, &found));
    if (found) {
        return parse_like(p, start, create);
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_AS, &found));
    return found ? msi_parse_query(p, &create->as_query) : MS_OK;
}

/* What CREATE TABLE and CREATE VIEW have in common. */
typedef struct create_start {
    uint32_t start;
    bool temporary;
} create_start;

static ms_rc parse_if_not_exists(ms_parser *p, bool *found_out)
{
    MS_TRY(msi_parse_accept_word(p, MS_KW_IF, found_out));
    if (!*found_out) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_NOT));
    return msi_parse_expect_word(p, MS_KW_EXISTS);
}

/* A clause behind one that it must precede. */
static ms_rc check_clause_order(ms_parser *p)
{
    bool is_late = msi_parse_at_word(p, MS_KW_COMMENT) || msi_parse_at_word(p, MS_KW_DISTRIBUTED) ||
                   msi_parse_at_word(p, MS_KW_PARTITIONED) || msi_parse_at_word(p, MS_KW_WITH) ||
                   msi_parse_at_word(p, MS_KW_LIKE);
    if (!is_late) {
        return MS_OK;
    }
    msi_parse_fail(p, "the end of the statement");
    return ms_status_hint(p->st,
                          "The order is columns, COMMENT, DISTRIBUTED, PARTITIONED BY, WITH, "
                          "and then LIKE or AS.");
}

static ms_rc parse_create_table(ms_parser *p, create_start at, const ms_ast_stmt **stmt_out)
{
    ms_ast_create_table *create = msi_parse_new(p, ms_ast_create_table);
    create->temporary = at.temporary;
    MS_TRY(msi_parse_expect_word(p, MS_KW_TABLE));
    MS_TRY(parse_if_not_exists(p, &create->if_not_exists));
    MS_TRY(msi_parse_path(p, "a table name", &create->name));
    MS_TRY(parse_table_parts(p, create));
    MS_TRY(parse_comment(p, &create->comment));
    MS_TRY(parse_distribution(p, &create->distribution));
    MS_TRY(parse_partitioned(p, create));
    MS_TRY(parse_with(p, create));
    MS_TRY(parse_table_source(p, create));
    MS_TRY(check_clause_order(p));
    create->head.kind = MS_AST_CREATE_TABLE;
    create->head.span = msi_parse_span(p, at.start);
    *stmt_out = &create->head;
    return MS_OK;
}

static ms_rc parse_create_view(ms_parser *p, create_start at, const ms_ast_stmt **stmt_out)
{
    ms_ast_create_view *create = msi_parse_new(p, ms_ast_create_view);
    create->temporary = at.temporary;
    MS_TRY(msi_parse_expect_word(p, MS_KW_VIEW));
    MS_TRY(parse_if_not_exists(p, &create->if_not_exists));
    MS_TRY(msi_parse_path(p, "a view name", &create->name));
    MS_TRY(msi_parse_name_list(p, "a column name", &create->columns, &create->column_count));
    MS_TRY(parse_comment(p, &create->comment));
    MS_TRY(msi_parse_expect_word(p, MS_KW_AS));
    MS_TRY(msi_parse_query(p, &create->query));
    create->head.kind = MS_AST_CREATE_VIEW;
    create->head.span = msi_parse_span(p, at.start);
    *stmt_out = &create->head;
    return MS_OK;
}

/* Objects of Flink's that do not exist here. */
static const struct {
    ms_keyword word;
    const char *hint;
} refused_objects[] = {
    {MS_KW_CATALOG, "Tables live in default_catalog."},
    {MS_KW_DATABASE, "Tables live in default_database."},
    {MS_KW_FUNCTION, "Functions of Java, Scala and Python cannot be loaded."},
    {MS_KW_MODEL, NULL},
    {MS_KW_MATERIALIZED, "Create a table and INSERT INTO it."},
    {MS_KW_CONNECTION, NULL},
    {MS_KW_SYSTEM, NULL},
};

/* "CREATE FUNCTION is not supported": the span takes in the words from the first one on. */
static ms_rc refuse_object(ms_parser *p, const char *verb, uint32_t start)
{
    for (size_t i = 0; i < sizeof(refused_objects) / sizeof(refused_objects[0]); i++) {
        if (msi_parse_at_word(p, refused_objects[i].word)) {
            bool is_system = msi_parse_at_word(p, MS_KW_SYSTEM);
            const char *text =
                is_system ? "TEMPORARY SYSTEM FUNCTION" : ms_keyword_text(p->token.keyword);
            bool is_table = msi_parse_at_word(p, MS_KW_MATERIALIZED);
            ms_str what =
                ms_arena_format(p->arena, "%s %s%s", verb, text, is_table ? " TABLE" : "");
            ms_span span = {start, p->token.span.end};
            return msi_parse_refuse(p, span, what.ptr, refused_objects[i].hint);
        }
    }
    return msi_parse_fail(p, "TABLE or VIEW");
}

ms_rc msi_parse_create(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    create_start at = {.start = p->token.span.start};
    if (p->ahead.keyword == MS_KW_OR) {
        return msi_parse_refuse_stmt(p, 3, "Drop the object first: DROP ... IF EXISTS.");
    }
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_TEMPORARY, &at.temporary));
    if (msi_parse_at_word(p, MS_KW_TABLE)) {
        return parse_create_table(p, at, stmt_out);
    }
    if (msi_parse_at_word(p, MS_KW_VIEW)) {
        return parse_create_view(p, at, stmt_out);
    }
    return refuse_object(p, "CREATE", at.start);
}

ms_rc msi_parse_drop(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_drop *drop = msi_parse_new(p, ms_ast_drop);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_TEMPORARY, &drop->temporary));
    drop->is_view = msi_parse_at_word(p, MS_KW_VIEW);
    if (!drop->is_view && !msi_parse_at_word(p, MS_KW_TABLE)) {
        return refuse_object(p, "DROP", start);
    }
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_IF, &drop->if_exists));
    if (drop->if_exists) {
        MS_TRY(msi_parse_expect_word(p, MS_KW_EXISTS));
    }
    MS_TRY(msi_parse_path(p, drop->is_view ? "a view name" : "a table name", &drop->name));
    drop->head.kind = MS_AST_DROP;
    drop->head.span = msi_parse_span(p, start);
    *stmt_out = &drop->head;
    return MS_OK;
}
