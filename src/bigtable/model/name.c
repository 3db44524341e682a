/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and paths. The rules for tables and families are the service's; those for projects and
 * instances are only what a path can carry, because who may own which name is decided elsewhere.
 */
#include "bigtable/model/name.h"

#include <stdio.h>

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_family_char(char c)
{
    return is_word(c) || c == '-' || c == '.';
}

static bool is_owner_char(char c)
{
    return is_family_char(c) || c == ':';
}

static bool all_chars(ms_str text, bool (*is_char)(char c))
{
    for (size_t i = 0; i < text.bytes; i++) {
        if (!is_char(text.ptr[i])) {
            return false;
        }
    }
    return true;
}

bool ms_bt_table_name_equals(const ms_bt_table_name *a, const ms_bt_table_name *b)
{
    return ms_str_equals(a->table, b->table) && ms_str_equals(a->instance, b->instance) &&
           ms_str_equals(a->project, b->project);
}

/* The service reports a wrong id by the field it came in and the collection it would join. */
static ms_bt_code refuse_id(ms_str id, const char *field, const char *collection, const char *rule,
                            ms_bt_status *bt)
{
    char text[128];
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                            "Error in field '%s' : Invalid id for collection %s : %s, but found "
                            "'%s'",
                            field, collection, rule, ms_bt_bytes_text(id, text, sizeof(text)));
}

static ms_bt_code check_id(ms_str id, size_t max_bytes, bool (*is_char)(char c), const char *field,
                           const char *collection, const char *pattern, ms_bt_status *bt)
{
    char rule[96];
    if (id.bytes == 0 || id.bytes > max_bytes) {
        (void)snprintf(rule, sizeof(rule), "Length should be between [1,%zu]", max_bytes);
        return refuse_id(id, field, collection, rule, bt);
    }
    if (!all_chars(id, is_char)) {
        (void)snprintf(rule, sizeof(rule), "Should match %s", pattern);
        return refuse_id(id, field, collection, rule, bt);
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_instance_name_check(const ms_bt_table_name *name, ms_bt_status *bt)
{
    MS_BT_TRY(check_id(name->project, MS_BT_LIMIT_PROJECT_BYTES, is_owner_char, "project_id",
                       "projects", "[-_.:a-zA-Z0-9]+", bt));
    return check_id(name->instance, MS_BT_LIMIT_INSTANCE_BYTES, is_family_char, "instance_id",
                    "instances", "[-_.a-zA-Z0-9]+", bt);
}

ms_bt_code ms_bt_table_name_check(const ms_bt_table_name *name, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_instance_name_check(name, bt));
    const char *pattern = "[_a-zA-Z0-9][-_.a-zA-Z0-9]*";
    MS_BT_TRY(check_id(name->table, MS_BT_LIMIT_TABLE_ID_BYTES, is_family_char, "table_id",
                       "tables", pattern, bt));
    if (!is_word(name->table.ptr[0])) {
        return refuse_id(name->table, "table_id", "tables",
                         "Should match "
                         "[_a-zA-Z0-9][-_.a-zA-Z0-9]*",
                         bt);
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_instance_name_missing(const ms_bt_table_name *name, ms_bt_status *bt)
{
    return ms_bt_status_set(bt, MS_BT_NOT_FOUND,
                            "No tables found for instance projects/%.*s/instances/%.*s",
                            MS_STR_ARG(name->project), MS_STR_ARG(name->instance));
}

ms_bt_code ms_bt_family_name_check(ms_str family, ms_bt_status *bt)
{
    return check_id(family, MS_BT_LIMIT_FAMILY_BYTES, is_family_char, "column_family_id",
                    "columnFamilies", "[-_.a-zA-Z0-9]+", bt);
}

/* Takes "collection/ID" and the slash behind it off the front of the path. */
static bool take_part(ms_str *path, const char *collection, ms_str *id_out)
{
    ms_str prefix = ms_str_cstr(collection);
    if (!ms_str_starts_with(*path, prefix)) {
        return false;
    }
    size_t slash = ms_str_find_byte(*path, '/', prefix.bytes);
    size_t end = slash == SIZE_MAX ? path->bytes : slash;
    *id_out = ms_str_slice(*path, prefix.bytes, end);
    *path = ms_str_slice(*path, slash == SIZE_MAX ? end : end + 1, path->bytes);
    return true;
}

ms_bt_code ms_bt_table_name_parse(ms_bt_table_name *name_out, ms_str path, ms_bt_status *bt)
{
    *name_out = (ms_bt_table_name){0};
    ms_bt_table_name name = {0};
    ms_str rest = path;
    if (!take_part(&rest, "projects/", &name.project) ||
        !take_part(&rest, "instances/", &name.instance) ||
        !take_part(&rest, "tables/", &name.table) || rest.bytes != 0) {
        char text[256];
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'table_name' : Should be of the form "
                                "projects/<project>/instances/<instance>/tables/<table>, but found "
                                "'%s'",
                                ms_bt_bytes_text(path, text, sizeof(text)));
    }
    MS_BT_TRY(ms_bt_table_name_check(&name, bt));
    *name_out = name;
    return MS_BT_OK;
}

static char *put(char *to, ms_str text)
{
    if (text.bytes > 0) {
        memcpy(to, text.ptr, text.bytes);
    }
    return to + text.bytes;
}

/* Every call has one, so it is not left to a formatter. */
size_t ms_bt_table_name_path(const ms_bt_table_name *name, char path_out[MS_BT_TABLE_PATH_BYTES])
{
    ms_str projects = ms_str_lit("projects/");
    ms_str instances = ms_str_lit("/instances/");
    ms_str tables = ms_str_lit("/tables/");
    size_t bytes = projects.bytes + name->project.bytes + instances.bytes + name->instance.bytes +
                   tables.bytes + name->table.bytes;
    MS_ASSERT(bytes < MS_BT_TABLE_PATH_BYTES);
    char *to = put(path_out, projects);
    to = put(to, name->project);
    to = put(to, instances);
    to = put(to, name->instance);
    to = put(to, tables);
    to = put(to, name->table);
    *to = '\0';
    return bytes;
}

static size_t shown_bytes(unsigned char c)
{
    if (c == '\\') {
        return 2;
    }
    return c >= 0x20 && c < 0x7F ? 1 : 4;
}

const char *ms_bt_bytes_text(ms_str bytes, char *text_out, size_t text_bytes)
{
    static const char hex[] = "0123456789abcdef";
    MS_ASSERT(text_bytes >= 8);
    size_t at = 0;
    for (size_t i = 0; i < bytes.bytes; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        size_t wanted = i + 1 == bytes.bytes ? shown_bytes(c) + sizeof("") : 4 + sizeof("...");
        if (at + wanted > text_bytes) {
            memcpy(text_out + at, "...", sizeof("..."));
            return text_out;
        }
        if (shown_bytes(c) == 1) {
            text_out[at++] = (char)c;
        } else if (c == '\\') {
            text_out[at++] = '\\';
            text_out[at++] = '\\';
        } else {
            text_out[at++] = '\\';
            text_out[at++] = 'x';
            text_out[at++] = hex[c >> 4];
            text_out[at++] = hex[c & 15u];
        }
    }
    text_out[at] = '\0';
    return text_out;
}
