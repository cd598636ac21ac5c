/* name.c: the table of identifiers, and maps from pointers to indices (name.h). */
#include "lang/front/name.h"

#include <string.h>

struct dv_name_table {
    dv_name **buckets;
    uint32_t count, capacity; /* capacity is a power of two */
};

uint32_t dv_hash_bytes(const void *data, size_t size, uint32_t seed) {
    const unsigned char *bytes = data;
    uint32_t hash = 2166136261u ^ seed;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 16777619u;
    return hash ^ hash >> 15;
}

bool dv_name_table_make(dv_front *front) {
    dv_name_table *table = dv_front_scratch(front, sizeof *table);
    if (table == NULL) return false;
    table->capacity = 128;
    table->buckets = dv_front_scratch(front, table->capacity * sizeof *table->buckets);
    front->names = table;
    return table->buckets != NULL;
}

static bool grow(dv_front *front, dv_name_table *table) {
    uint32_t capacity = table->capacity * 2;
    dv_name **buckets = dv_front_scratch(front, capacity * sizeof *buckets);
    if (buckets == NULL) return false;
    for (uint32_t i = 0; i < table->capacity; i++) {
        for (dv_name *each = table->buckets[i], *next; each != NULL; each = next) {
            next = each->next;
            each->next = buckets[each->hash & (capacity - 1)];
            buckets[each->hash & (capacity - 1)] = each;
        }
    }
    table->buckets = buckets;
    table->capacity = capacity;
    return true;
}

dv_name *dv_name_intern(dv_front *front, dv_text text) {
    dv_name_table *table = front->names;
    uint32_t hash = dv_hash_bytes(text.data, text.size, 0);
    for (dv_name *each = table->buckets[hash & (table->capacity - 1)]; each; each = each->next)
        if (each->hash == hash && each->text.size == text.size &&
            memcmp(each->text.data, text.data, text.size) == 0)
            return each;
    if (table->count >= table->capacity && !grow(front, table)) return NULL;
    dv_name *name = dv_front_scratch(front, sizeof *name);
    if (name == NULL) return NULL;
    dv_name **bucket = &table->buckets[hash & (table->capacity - 1)];
    *name = (dv_name){*bucket, text, hash, NULL};
    *bucket = name;
    table->count++;
    return name;
}

bool dv_name_is(const dv_name *name, const char *text) {
    return strlen(text) == name->text.size && memcmp(name->text.data, text, name->text.size) == 0;
}

struct dv_index_slot {
    const void *key;
    uint32_t index;
};

static struct dv_index_slot *find_slot(struct dv_index_slot *slots, uint32_t capacity,
                                       const void *key) {
    uint32_t mask = capacity - 1;
    uint32_t at = (uint32_t)((uintptr_t)key >> 4) * 2654435761u >> 7;
    while (slots[at & mask].key != NULL && slots[at & mask].key != key) at++;
    return &slots[at & mask];
}

uint32_t dv_index_map_get(const dv_index_map *map, const void *key) {
    if (map->capacity == 0) return DV_NO_INDEX;
    const struct dv_index_slot *slot = find_slot(map->slots, map->capacity, key);
    return slot->key == NULL ? DV_NO_INDEX : slot->index;
}

static bool grow_map(dv_front *front, dv_index_map *map) {
    uint32_t capacity = map->capacity == 0 ? 16 : map->capacity * 2;
    struct dv_index_slot *slots = dv_front_scratch(front, capacity * sizeof *slots);
    if (slots == NULL) return false;
    for (uint32_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key != NULL)
            *find_slot(slots, capacity, map->slots[i].key) = map->slots[i];
    map->slots = slots;
    map->capacity = capacity;
    return true;
}

bool dv_index_map_put(dv_front *front, dv_index_map *map, const void *key, uint32_t index) {
    if (map->used * 4 >= map->capacity * 3 && !grow_map(front, map)) return false;
    struct dv_index_slot *slot = find_slot(map->slots, map->capacity, key);
    if (slot->key == NULL) map->used++;
    *slot = (struct dv_index_slot){key, index};
    return true;
}
