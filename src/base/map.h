/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash map from strings to pointers for the front end: names in a scope, options of a table,
 * settings of a session. It lives on an arena, keeps the order of insertion, and is meant for up to
 * some ten thousand entries; state and joins have tables of their own.
 *
 *     ms_map columns;
 *     ms_map_init(&columns, stmt_arena);
 *     if (!ms_map_add(&columns, column->name, column)) { ... there is one of this name ... }
 *     ms_column *found = ms_map_get(&columns, name);
 *     for (uint32_t i = 0; i < columns.count; i++) {
 *         use(columns.entries[i].key, columns.entries[i].value);
 *     }
 *
 * Ownership: the map's tables belong to the arena; keys and values are borrowed, and their bytes
 * must outlive the map. Thread: one at a time; a map that is no longer changed may be shared.
 */
#ifndef MS_BASE_MAP_H
#define MS_BASE_MAP_H

#include "base/arena.h"

typedef struct ms_map_entry {
    ms_str key;
    void *value;
    uint64_t hash; /* private */
} ms_map_entry;

/* Read entries and count freely, in order of insertion; write through the functions. */
typedef struct ms_map {
    ms_arena *arena;
    ms_map_entry *entries;
    uint32_t *slots; /* index of an entry plus 1; 0 is free */
    uint32_t count;
    uint32_t entry_capacity;
    uint32_t slot_count; /* a power of two */
} ms_map;

/* Starts an empty map; allocates nothing yet. There is no release: the arena does it. */
void ms_map_init(ms_map *map, ms_arena *arena);

/* The value of key; NULL when there is none. */
void *ms_map_get(const ms_map *map, ms_str key);

/* The entry of key, which tells an absent key from a NULL value. Valid until the map changes. */
const ms_map_entry *ms_map_find(const ms_map *map, ms_str key);

/* Adds an entry at the end. When key is there already, changes nothing and returns false. */
bool ms_map_add(ms_map *map, ms_str key, void *value) MS_MUST_USE;

/* Adds an entry at the end, or replaces the value of the one that is there, which keeps its place.
 */
void ms_map_put(ms_map *map, ms_str key, void *value);

/* Removes an entry, keeping the order of the others; false when there is none. Takes time linear in
 * the number of entries. */
bool ms_map_remove(ms_map *map, ms_str key);

#endif
