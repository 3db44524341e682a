/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two maps, temporary before permanent. Dropped tables leave the maps, not the arena.
 */
#include "catalog/catalog.h"

#include "base/memory.h"

#include <stdlib.h>

/* How many edits a misspelt table name may be away to be offered as a hint. */
#define NEAR_EDITS 2u

struct ms_catalog {
    ms_arena arena;
    ms_map temporary;
    ms_map permanent;
};

ms_catalog *ms_catalog_create(void)
{
    ms_catalog *catalog = ms_mem_alloc(sizeof *catalog);
    ms_arena_init(&catalog->arena, 0);
    ms_map_init(&catalog->temporary, &catalog->arena);
    ms_map_init(&catalog->permanent, &catalog->arena);
    return catalog;
}

static void copy_entries(ms_map *to, const ms_map *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        ms_map_put(to, from->entries[i].key, from->entries[i].value);
    }
}

ms_catalog *ms_catalog_copy(const ms_catalog *catalog)
{
    ms_catalog *copy = ms_catalog_create();
    copy_entries(&copy->temporary, &catalog->temporary);
    copy_entries(&copy->permanent, &catalog->permanent);
    return copy;
}

void ms_catalog_destroy(ms_catalog *catalog)
{
    if (catalog != NULL) {
        ms_arena_release(&catalog->arena);
        ms_mem_free(catalog);
    }
}

ms_arena *ms_catalog_arena(ms_catalog *catalog)
{
    return &catalog->arena;
}

/* The map holds const tables; the cast is kept in one place. */
static void *as_entry(const ms_table *table)
{
    union {
        const ms_table *table;
        void *entry;
    } pun = {.table = table};
    return pun.entry;
}

static const char *sort_name(const ms_table *table)
{
    return table->is_view ? "view" : "table";
}

ms_rc ms_catalog_add(ms_catalog *catalog, const ms_table *table, bool if_not_exists, ms_span span,
                     ms_status *st)
{
    ms_map *map = table->is_temporary ? &catalog->temporary : &catalog->permanent;
    if (ms_map_add(map, table->name, as_entry(table)) || if_not_exists) {
        return MS_OK;
    }
    const ms_table *there = ms_map_get(map, table->name);
    ms_status_set(st, MS_DUPLICATE_TABLE, span, "%s \"%.*s\" exists already", sort_name(there),
                  MS_STR_ARG(table->name));
    return ms_status_hint(st, "Use CREATE %s IF NOT EXISTS, or drop it first.",
                          table->is_view ? "VIEW" : "TABLE");
}

static ms_rc undefined(const ms_catalog *catalog, ms_str name, bool is_view, ms_span span,
                       ms_status *st)
{
    ms_status_set(st, MS_UNDEFINED_TABLE, span, "%s \"%.*s\" does not exist",
                  is_view ? "view" : "table", MS_STR_ARG(name));
    ms_str near = ms_catalog_nearest(catalog, name);
    if (near.bytes > 0) {
        ms_status_hint(st, "Did you mean \"%.*s\"?", MS_STR_ARG(near));
    }
    return st->code;
}

ms_rc ms_catalog_drop(ms_catalog *catalog, ms_str name, bool is_view, bool is_temporary,
                      bool if_exists, ms_span span, ms_status *st)
{
    ms_map *map = is_temporary ? &catalog->temporary : &catalog->permanent;
    const ms_table *table = ms_map_get(map, name);
    if (table == NULL) {
        const ms_map *other = is_temporary ? &catalog->permanent : &catalog->temporary;
        const ms_table *there = ms_map_get(other, name);
        if (there != NULL) {
            ms_status_set(st, MS_UNDEFINED_TABLE, span, "\"%.*s\" is a %s%s", MS_STR_ARG(name),
                          is_temporary ? "permanent " : "temporary ", sort_name(there));
            return ms_status_hint(st, "Use DROP %s%s.", is_temporary ? "" : "TEMPORARY ",
                                  there->is_view ? "VIEW" : "TABLE");
        }
        return if_exists ? MS_OK : undefined(catalog, name, is_view, span, st);
    }
    if (table->is_view != is_view) {
        ms_status_set(st, MS_TYPE_MISMATCH, span, "\"%.*s\" is a %s, not a %s", MS_STR_ARG(name),
                      sort_name(table), is_view ? "view" : "table");
        return ms_status_hint(st, "Use DROP %s.", table->is_view ? "VIEW" : "TABLE");
    }
    bool removed = ms_map_remove(map, name);
    MS_ASSERT(removed);
    return MS_OK;
}

const ms_table *ms_catalog_find(const ms_catalog *catalog, ms_str name)
{
    const ms_table *table = ms_map_get(&catalog->temporary, name);
    return table != NULL ? table : ms_map_get(&catalog->permanent, name);
}

ms_str ms_catalog_nearest(const ms_catalog *catalog, ms_str name)
{
    const ms_map *maps[] = {&catalog->temporary, &catalog->permanent};
    ms_str best = {NULL, 0};
    unsigned best_edits = NEAR_EDITS + 1;
    for (size_t m = 0; m < 2; m++) {
        for (uint32_t i = 0; i < maps[m]->count; i++) {
            unsigned edits = ms_str_distance(name, maps[m]->entries[i].key, NEAR_EDITS);
            if (edits < best_edits) {
                best = maps[m]->entries[i].key;
                best_edits = edits;
            }
        }
    }
    return best;
}

static int by_name(const void *a, const void *b)
{
    const ms_table *const *left = a;
    const ms_table *const *right = b;
    return ms_str_compare((*left)->name, (*right)->name);
}

const ms_table *const *ms_catalog_list(const ms_catalog *catalog, ms_arena *arena,
                                       uint32_t *count_out)
{
    const ms_map *temporary = &catalog->temporary;
    const ms_map *permanent = &catalog->permanent;
    const ms_table **tables =
        ms_arena_array(arena, const ms_table *, temporary->count + permanent->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < temporary->count; i++) {
        tables[count++] = temporary->entries[i].value;
    }
    for (uint32_t i = 0; i < permanent->count; i++) {
        if (ms_map_get(temporary, permanent->entries[i].key) == NULL) {
            tables[count++] = permanent->entries[i].value;
        }
    }
    if (count > 1) {
        qsort(tables, count, sizeof *tables, by_name);
    }
    *count_out = count;
    return tables;
}
