/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries are an array in order of insertion; slots are an open-addressed index into it:
 *
 *     slots    [ 0 | 2 | 0 | 1 | 0 | 0 | 3 | 0 ]      entry index + 1, linear probing
 *     entries  [ "a" | "b" | "c" ]                     what callers iterate over
 *
 * Removal closes the gap in entries and builds the slots anew. That is linear, and right here:
 * DROP and RESET are rare, look-ups are not, and no tombstone ever slows one down.
 */
#include "base/map.h"

#include "base/str.h"

#include <string.h>

#define FIRST_ENTRIES 8u
#define NOT_FOUND UINT32_MAX

void ms_map_init(ms_map *map, ms_arena *arena)
{
    *map = (ms_map){.arena = arena};
}

static uint32_t find_index(const ms_map *map, ms_str key, uint64_t hash)
{
    if (map->slot_count == 0) {
        return NOT_FOUND;
    }
    uint32_t mask = map->slot_count - 1;
    for (uint32_t at = (uint32_t)hash & mask; map->slots[at] != 0; at = (at + 1) & mask) {
        const ms_map_entry *entry = &map->entries[map->slots[at] - 1];
        if (entry->hash == hash && ms_str_equals(entry->key, key)) {
            return map->slots[at] - 1;
        }
    }
    return NOT_FOUND;
}

static void index_entry(ms_map *map, uint32_t index)
{
    uint32_t mask = map->slot_count - 1;
    uint32_t at = (uint32_t)map->entries[index].hash & mask;
    while (map->slots[at] != 0) {
        at = (at + 1) & mask;
    }
    map->slots[at] = index + 1;
}

static void index_all(ms_map *map)
{
    memset(map->slots, 0, map->slot_count * sizeof(map->slots[0]));
    for (uint32_t i = 0; i < map->count; i++) {
        index_entry(map, i);
    }
}

/* Doubles both tables. Slots are twice the entries, so at most half are in use. */
static void grow(ms_map *map)
{
    MS_ASSERT(map->entry_capacity <= UINT32_MAX / 4);
    uint32_t capacity = map->entry_capacity == 0 ? FIRST_ENTRIES : map->entry_capacity * 2;
    ms_map_entry *entries = ms_arena_array(map->arena, ms_map_entry, capacity);
    if (map->count != 0) {
        memcpy(entries, map->entries, map->count * sizeof(entries[0]));
    }
    map->entries = entries;
    map->entry_capacity = capacity;
    map->slot_count = capacity * 2;
    map->slots = ms_arena_array(map->arena, uint32_t, map->slot_count);
    index_all(map);
}

static void append(ms_map *map, ms_str key, uint64_t hash, void *value)
{
    if (map->count == map->entry_capacity) {
        grow(map);
    }
    map->entries[map->count] = (ms_map_entry){key, value, hash};
    index_entry(map, map->count);
    map->count++;
}

const ms_map_entry *ms_map_find(const ms_map *map, ms_str key)
{
    uint32_t index = find_index(map, key, ms_str_hash(key));
    return index == NOT_FOUND ? NULL : &map->entries[index];
}

void *ms_map_get(const ms_map *map, ms_str key)
{
    const ms_map_entry *entry = ms_map_find(map, key);
    return entry == NULL ? NULL : entry->value;
}

bool ms_map_add(ms_map *map, ms_str key, void *value)
{
    uint64_t hash = ms_str_hash(key);
    if (find_index(map, key, hash) != NOT_FOUND) {
        return false;
    }
    append(map, key, hash, value);
    return true;
}

void ms_map_put(ms_map *map, ms_str key, void *value)
{
    uint64_t hash = ms_str_hash(key);
    uint32_t index = find_index(map, key, hash);
    if (index == NOT_FOUND) {
        append(map, key, hash, value);
        return;
    }
    map->entries[index].value = value;
}

bool ms_map_remove(ms_map *map, ms_str key)
{
    uint32_t index = find_index(map, key, ms_str_hash(key));
    if (index == NOT_FOUND) {
        return false;
    }
    memmove(&map->entries[index], &map->entries[index + 1],
            (map->count - index - 1) * sizeof(map->entries[0]));
    map->count--;
    index_all(map);
    return true;
}
