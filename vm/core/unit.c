/* unit.c: units that no front end made: their memory (unit.h). */
#include "core/unit.h"

/* Blocks grow: small units take little, large ones few blocks. */
enum { SMALLEST_BLOCK = 2048, LARGEST_BLOCK = 65536, ALIGNMENT = 16 };

typedef struct block {
    struct block *next;
    size_t size, used; /* with this header */
} block;

typedef struct arena {
    dv_heap *heap;
    block *blocks;
} arena;

static size_t aligned(size_t size) { return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

static size_t next_block(const arena *a) {
    if (!a->blocks) return SMALLEST_BLOCK;
    return a->blocks->size < LARGEST_BLOCK / 2 ? 2 * a->blocks->size : LARGEST_BLOCK;
}

static void *allocate(void *data, size_t size) {
    arena *a = data;
    block *b = a->blocks;
    const size_t header = aligned(sizeof *b);
    if (size > SIZE_MAX / 2) return NULL;
    size = aligned(size);
    if (!b || b->size - b->used < size) {
        const size_t usual = next_block(a), whole = header + size > usual ? header + size : usual;
        b = dv_heap_alloc(a->heap, whole);
        if (!b) return NULL;
        *b = (block){a->blocks, whole, header};
        a->blocks = b;
    }
    void *memory = (char *)b + b->used;
    b->used += size;
    return memory;
}

static void release(void *context, void *data) {
    (void)context;
    arena *a = data;
    dv_heap *heap = a->heap;
    while (a->blocks) {
        block *next = a->blocks->next;
        dv_heap_free(heap, a->blocks, a->blocks->size);
        a->blocks = next;
    }
    dv_heap_free(heap, a, sizeof *a);
}

dv_unit *dv_unit_new(dv_heap *heap) {
    arena *memory = dv_heap_alloc(heap, sizeof *memory);
    if (!memory) return NULL;
    *memory = (arena){heap, NULL};
    dv_unit *unit = allocate(memory, sizeof *unit);
    if (!unit) {
        release(NULL, memory);
        return NULL;
    }
    *unit =
        (dv_unit){.references = 1, .arena = memory, .allocate = allocate, .release_arena = release};
    return unit;
}

void dv_unit_release(dv_unit *unit) {
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
}
