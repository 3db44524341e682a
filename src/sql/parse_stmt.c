/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements other than CREATE and DROP, and the refusals of those that Flink has and Millstream
 * does not.
 */
#include "sql/sql_priv.h"

static ms_rc finish_stmt(ms_parser *p, ms_ast_stmt *head, ms_ast_stmt_kind kind, uint32_t start,
                         const ms_ast_stmt **stmt_out)
{
    head->kind = kind;
    head->span = msi_parse_span(p, start);
    *stmt_out = head;
    return MS_OK;
}

/* Queries. */

static ms_rc parse_query_stmt(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_query_stmt *stmt = msi_parse_new(p, ms_ast_query_stmt);
    MS_TRY(msi_parse_query(p, &stmt->query));
    return finish_stmt(p, &stmt->head, MS_AST_QUERY_STMT, start, stmt_out);
}

/* INSERT and STATEMENT SET. */

/* PARTITION (column = value, ...). */
static ms_rc parse_insert_partition(ms_parser *p, ms_ast_insert *insert)
{
    uint32_t start = p->token.span.start;
    ms_parse_list items = {0};
    bool more = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_PARTITION, &more));
    if (!more) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    while (more) {
        ms_ast_partition_item item = {0};
        MS_TRY(msi_parse_name(p, "a column name", &item.column));
        MS_TRY(msi_parse_expect(p, MS_TOKEN_EQUAL));
        MS_TRY(msi_parse_operand(p, &item.value));
        MS_TRY(msi_parse_push(p, &items, &item, sizeof(item)));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    insert->partition = items.items;
    insert->partition_count = items.count;
    insert->partition_span = msi_parse_span(p, start);
    return MS_OK;
}

/* (a, b.c, ...); a parenthesis that begins a query is left alone. */
static ms_rc parse_insert_columns(ms_parser *p, ms_ast_insert *insert)
{
    ms_keyword next = p->ahead.keyword;
    bool is_query = next == MS_KW_SELECT || next == MS_KW_VALUES || next == MS_KW_WITH ||
                    next == MS_KW_TABLE || p->ahead.kind == MS_TOKEN_LPAREN;
    ms_parse_list columns = {0};
    bool more = false;
    if (!is_query) {
        MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &more));
    }
    while (more) {
        ms_ast_path column = {0};
        MS_TRY(msi_parse_path(p, "a column name", &column));
        MS_TRY(msi_parse_push(p, &columns, &column, sizeof(column)));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    insert->columns = columns.items;
    insert->column_count = columns.count;
    return MS_OK;
}

/* ON CONFLICT DO NOTHING | ERROR | DEDUPLICATE. */
static ms_rc parse_conflict(ms_parser *p, ms_ast_insert *insert)
{
    static const struct {
        ms_keyword word;
        ms_ast_conflict conflict;
    } words[] = {
        {MS_KW_NOTHING, MS_AST_CONFLICT_NOTHING},
        {MS_KW_ERROR, MS_AST_CONFLICT_ERROR},
        {MS_KW_DEDUPLICATE, MS_AST_CONFLICT_DEDUPLICATE},
    };
    uint32_t start = p->token.span.start;
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_ON, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_CONFLICT));
    MS_TRY(msi_parse_expect_word(p, MS_KW_DO));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (msi_parse_at_word(p, words[i].word)) {
            insert->conflict = words[i].conflict;
            MS_TRY(msi_parse_advance(p));
            insert->conflict_span = msi_parse_span(p, start);
            return MS_OK;
        }
    }
    return msi_parse_fail(p, "NOTHING, ERROR or DEDUPLICATE");
}

static ms_rc parse_insert(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_insert *insert = msi_parse_new(p, ms_ast_insert);
    MS_TRY(msi_parse_expect_word(p, MS_KW_INSERT));
    insert->overwrite = msi_parse_at_word(p, MS_KW_OVERWRITE);
    if (!insert->overwrite && !msi_parse_at_word(p, MS_KW_INTO)) {
        return msi_parse_fail(p, "INTO or OVERWRITE");
    }
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_path(p, "a table", &insert->target));
    MS_TRY(msi_parse_hints(p, &insert->hints, &insert->hint_count));
    MS_TRY(parse_insert_partition(p, insert));
    MS_TRY(parse_insert_columns(p, insert));
    if (!msi_parse_at_query(p) && !msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_fail(p, "a query or VALUES");
    }
    MS_TRY(msi_parse_query(p, &insert->query));
    MS_TRY(parse_conflict(p, insert));
    return finish_stmt(p, &insert->head, MS_AST_INSERT, start, stmt_out);
}

/* insert; insert; END. */
static ms_rc parse_set_body(ms_parser *p, uint32_t start, const ms_ast_stmt **stmt_out)
{
    ms_ast_statement_set *set = msi_parse_new(p, ms_ast_statement_set);
    ms_parse_list inserts = {0};
    bool done = false;
    do {
        const ms_ast_stmt *stmt = NULL;
        if (!msi_parse_at_word(p, MS_KW_INSERT)) {
            return msi_parse_fail(p, inserts.count == 0 ? "INSERT" : "INSERT or END");
        }
        MS_TRY(parse_insert(p, &stmt));
        const ms_ast_insert *insert = ms_ast_insert_of(stmt);
        MS_TRY(msi_parse_push(p, &inserts, &insert, sizeof(insert)));
        MS_TRY(msi_parse_expect(p, MS_TOKEN_SEMICOLON));
        MS_TRY(msi_parse_accept_word(p, MS_KW_END, &done));
    } while (!done);
    set->inserts = inserts.items;
    set->insert_count = inserts.count;
    return finish_stmt(p, &set->head, MS_AST_STATEMENT_SET, start, stmt_out);
}

/* STATEMENT SET BEGIN ... END; the word in hand is STATEMENT. */
static ms_rc parse_statement_set(ms_parser *p, uint32_t start, const ms_ast_stmt **stmt_out)
{
    MS_TRY(msi_parse_expect_word(p, MS_KW_STATEMENT));
    MS_TRY(msi_parse_expect_word(p, MS_KW_SET));
    MS_TRY(msi_parse_expect_word(p, MS_KW_BEGIN));
    return parse_set_body(p, start, stmt_out);
}

/* EXECUTE INSERT ..., EXECUTE STATEMENT SET .... */
static ms_rc parse_execute(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    if (p->ahead.keyword == MS_KW_PLAN) {
        return msi_parse_refuse_stmt(p, 2, "A checkpoint stores the plan of its job.");
    }
    MS_TRY(msi_parse_advance(p));
    if (msi_parse_at_word(p, MS_KW_INSERT)) {
        return parse_insert(p, stmt_out);
    }
    if (!msi_parse_at_word(p, MS_KW_STATEMENT)) {
        return msi_parse_fail(p, "INSERT or STATEMENT SET");
    }
    return parse_statement_set(p, start, stmt_out);
}

/* BEGIN STATEMENT SET; ... END. */
static ms_rc parse_begin(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect_word(p, MS_KW_STATEMENT));
    MS_TRY(msi_parse_expect_word(p, MS_KW_SET));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_SEMICOLON));
    return parse_set_body(p, start, stmt_out);
}

/* EXPLAIN. */

static ms_rc parse_explain_details(ms_parser *p, ms_ast_explain *explain)
{
    static const struct {
        ms_keyword word;
        uint32_t detail;
    } words[] = {
        {MS_KW_ESTIMATED_COST, MS_AST_EXPLAIN_ESTIMATED_COST},
        {MS_KW_CHANGELOG_MODE, MS_AST_EXPLAIN_CHANGELOG_MODE},
        {MS_KW_PLAN_ADVICE, MS_AST_EXPLAIN_PLAN_ADVICE},
        {MS_KW_JSON_EXECUTION_PLAN, MS_AST_EXPLAIN_JSON_EXECUTION_PLAN},
    };
    uint32_t start = p->token.span.start;
    bool more = true;
    while (more) {
        uint32_t detail = 0;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            detail |= msi_parse_at_word(p, words[i].word) ? words[i].detail : 0;
        }
        if (detail == 0 && explain->details == 0) {
            return MS_OK;
        }
        if (detail == 0) {
            return msi_parse_fail(p, "ESTIMATED_COST, CHANGELOG_MODE, PLAN_ADVICE or "
                                     "JSON_EXECUTION_PLAN");
        }
        explain->details |= detail;
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
    }
    explain->details_span = msi_parse_span(p, start);
    return MS_OK;
}

static ms_rc parse_explain(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_explain *explain = msi_parse_new(p, ms_ast_explain);
    MS_TRY(msi_parse_advance(p));
    if (msi_parse_at_words(p, MS_KW_PLAN, MS_KW_FOR)) {
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_advance(p));
    } else {
        MS_TRY(parse_explain_details(p, explain));
    }
    uint32_t inner_start = p->token.span.start;
    if (msi_parse_at_word(p, MS_KW_INSERT)) {
        MS_TRY(parse_insert(p, &explain->stmt));
    } else if (msi_parse_at_word(p, MS_KW_STATEMENT)) {
        MS_TRY(parse_statement_set(p, inner_start, &explain->stmt));
    } else if (msi_parse_at_word(p, MS_KW_EXECUTE)) {
        MS_TRY(parse_execute(p, &explain->stmt));
    } else if (msi_parse_at_query(p) || msi_parse_at(p, MS_TOKEN_LPAREN)) {
        MS_TRY(parse_query_stmt(p, &explain->stmt));
    } else {
        return msi_parse_fail(p, "a query, INSERT or STATEMENT SET");
    }
    return finish_stmt(p, &explain->head, MS_AST_EXPLAIN, start, stmt_out);
}

/* SHOW and DESCRIBE. */

/* What may follow the words of SHOW. */
typedef enum show_form {
    SHOW_ALONE,
    SHOW_LIKE,      /* [[NOT] LIKE 'pattern'] */
    SHOW_FROM_LIKE, /* [FROM | IN name] [[NOT] LIKE 'pattern'] */
    SHOW_OF_LIKE,   /* FROM | IN name [[NOT] LIKE 'pattern'] */
    SHOW_NAME,      /* name */
} show_form;

typedef struct show_words {
    ms_keyword first;
    ms_keyword second; /* MS_KEYWORD_NONE: one word only */
    ms_ast_show_what what;
    show_form form;
} show_words;

static const show_words shows[] = {
    {MS_KW_TABLES, MS_KEYWORD_NONE, MS_AST_SHOW_TABLES, SHOW_FROM_LIKE},
    {MS_KW_VIEWS, MS_KEYWORD_NONE, MS_AST_SHOW_VIEWS, SHOW_FROM_LIKE},
    {MS_KW_COLUMNS, MS_KEYWORD_NONE, MS_AST_SHOW_COLUMNS, SHOW_OF_LIKE},
    {MS_KW_FUNCTIONS, MS_KEYWORD_NONE, MS_AST_SHOW_FUNCTIONS, SHOW_FROM_LIKE},
    {MS_KW_USER, MS_KW_FUNCTIONS, MS_AST_SHOW_USER_FUNCTIONS, SHOW_FROM_LIKE},
    {MS_KW_CATALOGS, MS_KEYWORD_NONE, MS_AST_SHOW_CATALOGS, SHOW_LIKE},
    {MS_KW_DATABASES, MS_KEYWORD_NONE, MS_AST_SHOW_DATABASES, SHOW_FROM_LIKE},
    {MS_KW_CURRENT, MS_KW_CATALOG, MS_AST_SHOW_CURRENT_CATALOG, SHOW_ALONE},
    {MS_KW_CURRENT, MS_KW_DATABASE, MS_AST_SHOW_CURRENT_DATABASE, SHOW_ALONE},
    {MS_KW_CREATE, MS_KW_TABLE, MS_AST_SHOW_CREATE_TABLE, SHOW_NAME},
    {MS_KW_CREATE, MS_KW_VIEW, MS_AST_SHOW_CREATE_VIEW, SHOW_NAME},
    {MS_KW_JOBS, MS_KEYWORD_NONE, MS_AST_SHOW_JOBS, SHOW_ALONE},
};

static ms_rc parse_show_pattern(ms_parser *p, ms_ast_show *show)
{
    MS_TRY(msi_parse_accept_word(p, MS_KW_NOT, &show->pattern_negated));
    show->pattern_nocase = msi_parse_at_word(p, MS_KW_ILIKE);
    if (!show->pattern_nocase && !msi_parse_at_word(p, MS_KW_LIKE)) {
        return show->pattern_negated ? msi_parse_fail(p, "LIKE or ILIKE") : MS_OK;
    }
    MS_TRY(msi_parse_advance(p));
    return msi_parse_text(p, "a pattern", &show->pattern);
}

static ms_rc parse_show_rest(ms_parser *p, show_form form, ms_ast_show *show)
{
    if (form == SHOW_ALONE) {
        return MS_OK;
    }
    if (form == SHOW_NAME) {
        return msi_parse_path(p, "a name", &show->name);
    }
    bool has_from = msi_parse_at_word(p, MS_KW_FROM) || msi_parse_at_word(p, MS_KW_IN);
    if (form == SHOW_OF_LIKE && !has_from) {
        return msi_parse_fail(p, "FROM or IN");
    }
    if (form != SHOW_LIKE && has_from) {
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_path(p, "a name", &show->name));
    }
    return parse_show_pattern(p, show);
}

/* The other things that Flink shows; some have two words. */
static ms_rc refuse_show(ms_parser *p, uint32_t start)
{
    static const struct {
        ms_keyword word;
        bool is_double;
    } words[] = {
        {MS_KW_PARTITIONS, false}, {MS_KW_PROCEDURES, false}, {MS_KW_MODULES, false},
        {MS_KW_MODELS, false},     {MS_KW_JARS, false},       {MS_KW_CONNECTIONS, false},
        {MS_KW_FULL, true},        {MS_KW_CREATE, true},      {MS_KW_MATERIALIZED, true},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!msi_parse_at_word(p, words[i].word)) {
            continue;
        }
        bool is_double = words[i].is_double && p->ahead.kind == MS_TOKEN_WORD;
        ms_str what = ms_arena_format(p->arena, "SHOW %s%s%s", ms_keyword_text(words[i].word),
                                      is_double ? " " : "",
                                      is_double ? ms_keyword_text(p->ahead.keyword) : "");
        uint32_t end = is_double ? p->ahead.span.end : p->token.span.end;
        return msi_parse_refuse(p, (ms_span){start, end}, what.ptr, NULL);
    }
    return msi_parse_fail(p, "TABLES, VIEWS, COLUMNS, FUNCTIONS, CATALOGS, DATABASES, JOBS, "
                             "CREATE TABLE, CREATE VIEW or CURRENT CATALOG");
}

static ms_rc parse_show(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    MS_TRY(msi_parse_advance(p));
    for (size_t i = 0; i < sizeof(shows) / sizeof(shows[0]); i++) {
        bool is_single = shows[i].second == MS_KEYWORD_NONE;
        if (!msi_parse_at_word(p, shows[i].first) ||
            (!is_single && p->ahead.keyword != shows[i].second)) {
            continue;
        }
        ms_ast_show *show = msi_parse_new(p, ms_ast_show);
        show->what = shows[i].what;
        MS_TRY(msi_parse_advance(p));
        if (!is_single) {
            MS_TRY(msi_parse_advance(p));
        }
        MS_TRY(parse_show_rest(p, shows[i].form, show));
        return finish_stmt(p, &show->head, MS_AST_SHOW, start, stmt_out);
    }
    return refuse_show(p, start);
}

/* DESCRIBE CATALOG c: what Flink describes besides tables. A table may have such a name too. */
static bool at_refused_describe(const ms_parser *p)
{
    static const ms_keyword words[] = {
        MS_KW_CATALOG, MS_KW_DATABASE, MS_KW_FUNCTION, MS_KW_MODEL, MS_KW_JOB,
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        bool is_object = p->ahead.kind == MS_TOKEN_WORD || p->ahead.kind == MS_TOKEN_QUOTED ||
                         p->ahead.kind == MS_TOKEN_STRING;
        if (msi_parse_at_word(p, words[i]) && is_object) {
            return true;
        }
    }
    return false;
}

static ms_rc parse_describe(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_describe *describe = msi_parse_new(p, ms_ast_describe);
    MS_TRY(msi_parse_advance(p));
    if (at_refused_describe(p)) {
        ms_str what = ms_arena_format(p->arena, "DESCRIBE %s", ms_keyword_text(p->token.keyword));
        return msi_parse_refuse(p, (ms_span){start, p->token.span.end}, what.ptr, NULL);
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_EXTENDED, &describe->extended));
    MS_TRY(msi_parse_path(p, "a table or view", &describe->name));
    return finish_stmt(p, &describe->head, MS_AST_DESCRIBE, start, stmt_out);
}

/* SET, RESET, ADD JAR. */

static ms_rc fail_setting(ms_parser *p, const char *expected)
{
    msi_parse_fail(p, "%s", expected);
    return ms_status_hint(p->st, "Write SET 'key' = 'value', with both in single quotes.");
}

static ms_rc parse_set(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_set *set = msi_parse_new(p, ms_ast_set);
    MS_TRY(msi_parse_advance(p));
    if (msi_parse_at(p, MS_TOKEN_END) || msi_parse_at(p, MS_TOKEN_SEMICOLON)) {
        return finish_stmt(p, &set->head, MS_AST_SET, start, stmt_out);
    }
    if (!msi_parse_at(p, MS_TOKEN_STRING)) {
        return fail_setting(p, "a key in single quotes");
    }
    MS_TRY(msi_parse_text(p, "a key", &set->option.key));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_EQUAL));
    if (!msi_parse_at(p, MS_TOKEN_STRING)) {
        return fail_setting(p, "a value in single quotes");
    }
    MS_TRY(msi_parse_text(p, "a value", &set->option.value));
    return finish_stmt(p, &set->head, MS_AST_SET, start, stmt_out);
}

static ms_rc parse_reset(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_reset *reset = msi_parse_new(p, ms_ast_reset);
    MS_TRY(msi_parse_advance(p));
    if (!msi_parse_at(p, MS_TOKEN_END) && !msi_parse_at(p, MS_TOKEN_SEMICOLON)) {
        MS_TRY(msi_parse_text(p, "a key", &reset->key));
    }
    return finish_stmt(p, &reset->head, MS_AST_RESET, start, stmt_out);
}

static ms_rc parse_add(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_add_jar *add = msi_parse_new(p, ms_ast_add_jar);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect_word(p, MS_KW_JAR));
    MS_TRY(msi_parse_text(p, "a path", &add->path));
    return finish_stmt(p, &add->head, MS_AST_ADD_JAR, start, stmt_out);
}

/* Refusals. */

ms_rc msi_parse_refuse_stmt(ms_parser *p, uint32_t word_count, const char *hint)
{
    uint32_t start = p->token.span.start;
    ms_str what = ms_str_lit("");
    for (uint32_t i = 0; i < word_count && msi_parse_at(p, MS_TOKEN_WORD); i++) {
        bool is_name = p->token.keyword == MS_KEYWORD_NONE;
        what =
            ms_arena_format(p->arena, "%.*s%s%.*s", MS_STR_ARG(what), i == 0 ? "" : " ",
                            MS_STR_ARG(is_name ? ms_str_lit("...")
                                               : ms_str_cstr(ms_keyword_text(p->token.keyword))));
        MS_TRY(msi_parse_advance(p));
    }
    return msi_parse_refuse(p, msi_parse_span(p, start), what.ptr, hint);
}

typedef struct refused_stmt {
    ms_keyword word;
    uint32_t word_count; /* how many words name the construct */
    const char *hint;
} refused_stmt;

static const refused_stmt refused_stmts[] = {
    {MS_KW_ALTER, 2, "Drop the object and create it anew."},
    {MS_KW_ANALYZE, 2, NULL},
    {MS_KW_CALL, 1, NULL},
    {MS_KW_COMPILE, 2, "A checkpoint stores the plan of its job."},
    {MS_KW_DELETE, 1, "Rows are deleted by INSERT INTO an upsert sink from a query that deletes."},
    {MS_KW_LOAD, 2, "All functions are built in; there are no modules."},
    {MS_KW_MERGE, 1, "INSERT INTO a table with a primary key updates the rows that exist."},
    {MS_KW_REMOVE, 2, "Connectors are built in; no JAR is ever loaded."},
    {MS_KW_REPLACE, 2, "Drop the table and create it anew."},
    {MS_KW_STOP, 2, NULL},
    {MS_KW_TRUNCATE, 2, "Empty the table where it is stored: its files, or its Bigtable table."},
    {MS_KW_UNLOAD, 2, "All functions are built in; there are no modules."},
    {MS_KW_UPDATE, 1, "INSERT INTO a table with a primary key updates the rows that exist."},
    {MS_KW_UPSERT, 2, "INSERT INTO a table with a primary key updates the rows that exist."},
    {MS_KW_USE, 2, "Write the full name: catalog.database.table."},
};

static ms_rc parse_other(ms_parser *p)
{
    for (size_t i = 0; i < sizeof(refused_stmts) / sizeof(refused_stmts[0]); i++) {
        if (msi_parse_at_word(p, refused_stmts[i].word)) {
            return msi_parse_refuse_stmt(p, refused_stmts[i].word_count, refused_stmts[i].hint);
        }
    }
    return msi_parse_fail(p, "a statement");
}

static const struct {
    ms_keyword word;
    ms_rc (*parse)(ms_parser *p, const ms_ast_stmt **stmt_out);
} stmt_parsers[] = {
    {MS_KW_SELECT, parse_query_stmt}, {MS_KW_WITH, parse_query_stmt},
    {MS_KW_VALUES, parse_query_stmt}, {MS_KW_TABLE, parse_query_stmt},
    {MS_KW_CREATE, msi_parse_create}, {MS_KW_DROP, msi_parse_drop},
    {MS_KW_INSERT, parse_insert},     {MS_KW_EXECUTE, parse_execute},
    {MS_KW_BEGIN, parse_begin},       {MS_KW_EXPLAIN, parse_explain},
    {MS_KW_SHOW, parse_show},         {MS_KW_DESCRIBE, parse_describe},
    {MS_KW_DESC, parse_describe},     {MS_KW_SET, parse_set},
    {MS_KW_RESET, parse_reset},       {MS_KW_ADD, parse_add},
};

ms_rc msi_parse_stmt(ms_parser *p, const ms_ast_stmt **stmt_out)
{
    if (msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return parse_query_stmt(p, stmt_out);
    }
    for (size_t i = 0; i < sizeof(stmt_parsers) / sizeof(stmt_parsers[0]); i++) {
        if (msi_parse_at_word(p, stmt_parsers[i].word)) {
            return stmt_parsers[i].parse(p, stmt_out);
        }
    }
    return parse_other(p);
}
