/* arena.c: chunked memory (arena.h).  Chunks are in a list, newest first; only the newest has room.
 */
#include "lang/arena.h"

#include <string.h>

enum { ALIGNMENT = 16, FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

typedef struct chunk {
    struct chunk *older;
    size_t size; /* of the whole chunk, this header included */
    size_t used;
    size_t padding;
} chunk;

struct dv_arena {
    chunk *newest;
    dv_lang_allocator allocator;
};

static size_t aligned(size_t size) { return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

static chunk *new_chunk(const dv_lang_allocator *allocator, size_t size, chunk *older) {
    chunk *made = allocator->resize(allocator->context, NULL, 0, size);
    if (made == NULL) return NULL;
    made->older = older;
    made->size = size;
    made->used = aligned(sizeof(chunk));
    return made;
}

/* The arena itself is the first block of its first chunk. */
dv_arena *dv_arena_new(const dv_lang_allocator *allocator) {
    chunk *first = new_chunk(allocator, FIRST_CHUNK, NULL);
    if (first == NULL) return NULL;
    dv_arena *arena = (dv_arena *)((char *)first + first->used);
    first->used += aligned(sizeof(dv_arena));
    arena->newest = first;
    arena->allocator = *allocator;
    return arena;
}

void dv_arena_free(dv_arena *arena) {
    dv_lang_allocator allocator = arena->allocator;
    chunk *each = arena->newest;
    while (each != NULL) {
        chunk *older = each->older;
        allocator.resize(allocator.context, each, each->size, 0);
        each = older;
    }
}

static size_t next_chunk_size(const dv_arena *arena, size_t needed) {
    size_t size = arena->newest->size * 2;
    if (size > LARGEST_CHUNK) size = LARGEST_CHUNK;
    size_t least = aligned(sizeof(chunk)) + needed;
    return size < least ? least : size;
}

void *dv_arena_alloc(dv_arena *arena, size_t size) {
    if (size > SIZE_MAX / 4) return NULL;
    size = aligned(size);
    if (arena->newest->size - arena->newest->used < size) {
        size_t wanted = next_chunk_size(arena, size);
        chunk *made = new_chunk(&arena->allocator, wanted, arena->newest);
        if (made == NULL) return NULL;
        arena->newest = made;
    }
    char *block = (char *)arena->newest + arena->newest->used;
    arena->newest->used += size;
    memset(block, 0, size);
    return block;
}

void *dv_arena_grow(dv_arena *arena, void *block, size_t old_size, size_t new_size) {
    chunk *newest = arena->newest;
    bool last = block != NULL && (char *)block + aligned(old_size) == (char *)newest + newest->used;
    size_t more = aligned(new_size) - aligned(old_size);
    if (last && new_size <= SIZE_MAX / 4 && newest->size - newest->used >= more) {
        memset((char *)block + old_size, 0, aligned(new_size) - old_size);
        newest->used += more;
        return block;
    }
    void *moved = dv_arena_alloc(arena, new_size);
    if (moved != NULL && old_size != 0) memcpy(moved, block, old_size);
    return moved;
}
