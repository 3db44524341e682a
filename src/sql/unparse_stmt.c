/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing of statements. The order of clauses is that of the grammar; what a statement leaves out
 * is not printed, so that a default stays a default when the text is read again.
 */
#include "sql/unparse.h"

#include "sql/sql_priv.h"

/* word 'text', or nothing. */
static void print_text_clause(ms_printer *w, const char *word, const ms_ast_text *text)
{
    if (!ms_ast_text_is_absent(*text)) {
        msi_print_word(w, word);
        msi_print_text(w, text->text);
    }
}

static void print_option(ms_printer *w, const ms_ast_option *option)
{
    msi_print_text(w, option->key.text);
    msi_print_word(w, " = ");
    msi_print_text(w, option->value.text);
}

/* CREATE TABLE. */

static void print_column(ms_printer *w, const ms_ast_column *column)
{
    msi_print_name(w, column->name.text);
    msi_print_word(w, " ");
    if (column->kind == MS_AST_COLUMN_COMPUTED) {
        msi_print_word(w, "AS ");
        msi_print_expr(w, column->expr);
    } else {
        msi_print_type(w, column->type);
    }
    if (column->kind == MS_AST_COLUMN_METADATA) {
        msi_print_word(w, " METADATA");
        print_text_clause(w, " FROM ", &column->metadata_key);
        msi_print_word(w, column->is_virtual ? " VIRTUAL" : "");
    }
    print_text_clause(w, " COMMENT ", &column->comment);
}

static void print_primary_key(ms_printer *w, const ms_ast_primary_key *key)
{
    if (!ms_ast_ident_is_absent(key->name)) {
        msi_print_word(w, "CONSTRAINT ");
        msi_print_name(w, key->name.text);
        msi_print_word(w, " ");
    }
    msi_print_word(w, "PRIMARY KEY");
    msi_print_name_list(w, " ", key->columns, key->column_count);
    msi_print_word(w, " NOT ENFORCED");
}

/* (columns, watermarks, keys), or nothing. */
static void print_table_parts(ms_printer *w, const ms_ast_create_table *create)
{
    uint32_t index = 0;
    uint32_t count = create->column_count + create->watermark_count + create->primary_key_count;
    msi_print_word(w, count == 0 ? "" : " (");
    for (uint32_t i = 0; i < create->column_count; i++) {
        msi_print_comma(w, index++);
        print_column(w, &create->columns[i]);
    }
    for (uint32_t i = 0; i < create->watermark_count; i++) {
        msi_print_comma(w, index++);
        msi_print_word(w, "WATERMARK FOR ");
        msi_print_path(w, &create->watermarks[i].column);
        msi_print_word(w, " AS ");
        msi_print_expr(w, create->watermarks[i].expr);
    }
    for (uint32_t i = 0; i < create->primary_key_count; i++) {
        msi_print_comma(w, index++);
        print_primary_key(w, &create->primary_keys[i]);
    }
    msi_print_word(w, count == 0 ? "" : ")");
}

static void print_distribution(ms_printer *w, const ms_ast_distribution *distribution)
{
    if (distribution->kind == MS_AST_DISTRIBUTION_NONE) {
        return;
    }
    msi_print_word(w, " DISTRIBUTED");
    if (distribution->column_count > 0) {
        const char *words = distribution->kind == MS_AST_DISTRIBUTION_HASH    ? " BY HASH"
                            : distribution->kind == MS_AST_DISTRIBUTION_RANGE ? " BY RANGE"
                                                                              : " BY ";
        msi_print_name_list(w, words, distribution->columns, distribution->column_count);
    }
    if (distribution->buckets != MS_AST_UNSET) {
        msi_print_word(w, " INTO ");
        msi_print_integer(w, distribution->buckets);
        msi_print_word(w, " BUCKETS");
    }
}

static void print_like_clause(ms_printer *w, const ms_ast_like_clause *like)
{
    static const char *const actions[MS_AST_LIKE_ACTION_COUNT] = {"INCLUDING ", "EXCLUDING ",
                                                                  "OVERWRITING "};
    static const char *const features[MS_AST_LIKE_FEATURE_COUNT] = {
        [MS_AST_LIKE_ALL] = "ALL",
        [MS_AST_LIKE_CONSTRAINTS] = "CONSTRAINTS",
        [MS_AST_LIKE_DISTRIBUTION] = "DISTRIBUTION",
        [MS_AST_LIKE_GENERATED] = "GENERATED",
        [MS_AST_LIKE_METADATA] = "METADATA",
        [MS_AST_LIKE_OPTIONS] = "OPTIONS",
        [MS_AST_LIKE_PARTITIONS] = "PARTITIONS",
        [MS_AST_LIKE_WATERMARKS] = "WATERMARKS",
    };
    msi_print_word(w, " LIKE ");
    msi_print_path(w, &like->table);
    for (uint32_t i = 0; i < like->option_count; i++) {
        msi_print_word(w, i == 0 ? " (" : " ");
        msi_print_word(w, actions[like->options[i].action]);
        msi_print_word(w, features[like->options[i].feature]);
    }
    msi_print_word(w, like->option_count == 0 ? "" : ")");
}

static void print_create_table(ms_printer *w, const ms_ast_create_table *create)
{
    msi_print_word(w, create->temporary ? "CREATE TEMPORARY TABLE " : "CREATE TABLE ");
    msi_print_word(w, create->if_not_exists ? "IF NOT EXISTS " : "");
    msi_print_path(w, &create->name);
    print_table_parts(w, create);
    print_text_clause(w, " COMMENT ", &create->comment);
    print_distribution(w, &create->distribution);
    if (create->partition_count > 0) {
        msi_print_word(w, " PARTITIONED BY");
        msi_print_name_list(w, " ", create->partition, create->partition_count);
    }
    if (create->options_span.end > 0) {
        msi_print_word(w, " WITH (");
        for (uint32_t i = 0; i < create->option_count; i++) {
            msi_print_comma(w, i);
            print_option(w, &create->options[i]);
        }
        msi_print_word(w, ")");
    }
    if (create->like != NULL) {
        print_like_clause(w, create->like);
    }
    if (create->as_query != NULL) {
        msi_print_word(w, " AS ");
        msi_print_query(w, create->as_query);
    }
}

static void print_create_view(ms_printer *w, const ms_ast_create_view *create)
{
    msi_print_word(w, create->temporary ? "CREATE TEMPORARY VIEW " : "CREATE VIEW ");
    msi_print_word(w, create->if_not_exists ? "IF NOT EXISTS " : "");
    msi_print_path(w, &create->name);
    msi_print_name_list(w, " ", create->columns, create->column_count);
    print_text_clause(w, " COMMENT ", &create->comment);
    msi_print_word(w, " AS ");
    msi_print_query(w, create->query);
}

static void print_drop(ms_printer *w, const ms_ast_drop *drop)
{
    msi_print_word(w, drop->temporary ? "DROP TEMPORARY " : "DROP ");
    msi_print_word(w, drop->is_view ? "VIEW " : "TABLE ");
    msi_print_word(w, drop->if_exists ? "IF EXISTS " : "");
    msi_print_path(w, &drop->name);
}

/* INSERT and sets of it. */

static void print_insert(ms_printer *w, const ms_ast_insert *insert)
{
    static const char *const conflicts[MS_AST_CONFLICT_COUNT] = {
        [MS_AST_CONFLICT_UNSAID] = "",
        [MS_AST_CONFLICT_NOTHING] = " ON CONFLICT DO NOTHING",
        [MS_AST_CONFLICT_ERROR] = " ON CONFLICT DO ERROR",
        [MS_AST_CONFLICT_DEDUPLICATE] = " ON CONFLICT DO DEDUPLICATE",
    };
    msi_print_word(w, insert->overwrite ? "INSERT OVERWRITE " : "INSERT INTO ");
    msi_print_path(w, &insert->target);
    msi_print_hints(w, insert->hints, insert->hint_count);
    for (uint32_t i = 0; i < insert->partition_count; i++) {
        msi_print_word(w, i == 0 ? " PARTITION (" : ", ");
        msi_print_name(w, insert->partition[i].column.text);
        msi_print_word(w, " = ");
        msi_print_expr(w, insert->partition[i].value);
    }
    msi_print_word(w, insert->partition_count == 0 ? "" : ")");
    for (uint32_t i = 0; i < insert->column_count; i++) {
        msi_print_word(w, i == 0 ? " (" : ", ");
        msi_print_path(w, &insert->columns[i]);
    }
    msi_print_word(w, insert->column_count == 0 ? " " : ") ");
    msi_print_query(w, insert->query);
    msi_print_word(w, conflicts[insert->conflict]);
}

static void print_statement_set(ms_printer *w, const ms_ast_statement_set *set)
{
    msi_print_word(w, "STATEMENT SET BEGIN ");
    for (uint32_t i = 0; i < set->insert_count; i++) {
        print_insert(w, set->inserts[i]);
        msi_print_word(w, "; ");
    }
    msi_print_word(w, "END");
}

static void print_stmt(ms_printer *w, const ms_ast_stmt *stmt, bool is_explained);

static void print_explain(ms_printer *w, const ms_ast_explain *explain)
{
    static const struct {
        uint32_t detail;
        const char *word;
    } details[] = {
        {MS_AST_EXPLAIN_ESTIMATED_COST, "ESTIMATED_COST"},
        {MS_AST_EXPLAIN_CHANGELOG_MODE, "CHANGELOG_MODE"},
        {MS_AST_EXPLAIN_PLAN_ADVICE, "PLAN_ADVICE"},
        {MS_AST_EXPLAIN_JSON_EXECUTION_PLAN, "JSON_EXECUTION_PLAN"},
    };
    uint32_t printed = 0;
    msi_print_word(w, "EXPLAIN ");
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
        if ((explain->details & details[i].detail) != 0) {
            msi_print_comma(w, printed++);
            msi_print_word(w, details[i].word);
        }
    }
    msi_print_word(w, printed == 0 ? "" : " ");
    print_stmt(w, explain->stmt, true);
}

/* The small statements. */

static void print_show(ms_printer *w, const ms_ast_show *show)
{
    static const char *const words[MS_AST_SHOW_WHAT_COUNT] = {
        [MS_AST_SHOW_TABLES] = "SHOW TABLES",
        [MS_AST_SHOW_VIEWS] = "SHOW VIEWS",
        [MS_AST_SHOW_COLUMNS] = "SHOW COLUMNS",
        [MS_AST_SHOW_FUNCTIONS] = "SHOW FUNCTIONS",
        [MS_AST_SHOW_USER_FUNCTIONS] = "SHOW USER FUNCTIONS",
        [MS_AST_SHOW_CATALOGS] = "SHOW CATALOGS",
        [MS_AST_SHOW_DATABASES] = "SHOW DATABASES",
        [MS_AST_SHOW_CURRENT_CATALOG] = "SHOW CURRENT CATALOG",
        [MS_AST_SHOW_CURRENT_DATABASE] = "SHOW CURRENT DATABASE",
        [MS_AST_SHOW_CREATE_TABLE] = "SHOW CREATE TABLE",
        [MS_AST_SHOW_CREATE_VIEW] = "SHOW CREATE VIEW",
        [MS_AST_SHOW_JOBS] = "SHOW JOBS",
    };
    bool is_object =
        show->what == MS_AST_SHOW_CREATE_TABLE || show->what == MS_AST_SHOW_CREATE_VIEW;
    msi_print_word(w, words[show->what]);
    if (show->name.count > 0) {
        msi_print_word(w, is_object ? " " : " FROM ");
        msi_print_path(w, &show->name);
    }
    if (!ms_ast_text_is_absent(show->pattern)) {
        msi_print_word(w, show->pattern_negated ? " NOT" : "");
        msi_print_word(w, show->pattern_nocase ? " ILIKE " : " LIKE ");
        msi_print_text(w, show->pattern.text);
    }
}

static void print_describe(ms_printer *w, const ms_ast_describe *describe)
{
    msi_print_word(w, describe->extended ? "DESCRIBE EXTENDED " : "DESCRIBE ");
    msi_print_path(w, &describe->name);
}

static void print_set(ms_printer *w, const ms_ast_set *set)
{
    msi_print_word(w, "SET");
    if (!ms_ast_text_is_absent(set->option.key)) {
        msi_print_word(w, " ");
        print_option(w, &set->option);
    }
}

static void print_stmt(ms_printer *w, const ms_ast_stmt *stmt, bool is_explained)
{
    switch (stmt->kind) {
    case MS_AST_QUERY_STMT:
        msi_print_query(w, ms_ast_query_stmt_of(stmt)->query);
        return;
    case MS_AST_CREATE_TABLE:
        print_create_table(w, ms_ast_create_table_of(stmt));
        return;
    case MS_AST_CREATE_VIEW:
        print_create_view(w, ms_ast_create_view_of(stmt));
        return;
    case MS_AST_DROP:
        print_drop(w, ms_ast_drop_of(stmt));
        return;
    case MS_AST_INSERT:
        print_insert(w, ms_ast_insert_of(stmt));
        return;
    case MS_AST_STATEMENT_SET:
        msi_print_word(w, is_explained ? "" : "EXECUTE ");
        print_statement_set(w, ms_ast_statement_set_of(stmt));
        return;
    case MS_AST_EXPLAIN:
        print_explain(w, ms_ast_explain_of(stmt));
        return;
    case MS_AST_SHOW:
        print_show(w, ms_ast_show_of(stmt));
        return;
    case MS_AST_DESCRIBE:
        print_describe(w, ms_ast_describe_of(stmt));
        return;
    case MS_AST_SET:
        print_set(w, ms_ast_set_of(stmt));
        return;
    case MS_AST_RESET:
        msi_print_word(w, "RESET");
        print_text_clause(w, " ", &ms_ast_reset_of(stmt)->key);
        return;
    case MS_AST_ADD_JAR:
        print_text_clause(w, "ADD JAR ", &ms_ast_add_jar_of(stmt)->path);
        return;
    case MS_AST_STMT_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

ms_str ms_sql_unparse_stmt(const ms_ast_stmt *stmt, ms_arena *arena)
{
    ms_printer w = {.arena = arena};
    print_stmt(&w, stmt, false);
    return msi_print_finish(&w);
}
