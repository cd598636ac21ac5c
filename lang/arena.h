/* arena.h: memory that is allocated piece by piece and released at once.
 *
 * Invariants
 *  1. Blocks are zeroed and aligned for every type used here.
 *  2. A failed allocation leaves the arena as it was. */
#ifndef DV_LANG_ARENA_H
#define DV_LANG_ARENA_H

#include "lang/lang.h"

typedef struct dv_arena dv_arena;

/* NULL when memory runs out. */
dv_arena *dv_arena_new(const dv_lang_allocator *allocator);
void dv_arena_free(dv_arena *arena);

/* NULL when memory runs out. */
void *dv_arena_alloc(dv_arena *arena, size_t size);

/* A block of new_size bytes that begins with the old_size bytes of `block`, which must not be used
 * any more; the last block allocated grows in place where its chunk has room. */
void *dv_arena_grow(dv_arena *arena, void *block, size_t old_size, size_t new_size);

#endif
