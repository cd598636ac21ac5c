/* heap.h: the allocator of a VM: size classes with free lists, large blocks from the host, every
 * byte accounted.
 *
 * Invariants
 *  1. Blocks up to DV_HEAP_SMALL bytes come from pages of one size class; a page is charged to the
 *     limit as a whole when it is taken from the host.  Larger blocks are charged exactly.
 *  2. Freeing needs the size that was asked for (sized free): small blocks have no header.  Large
 *     ones are linked, so that destroying the heap frees them even if nobody did.
 *  3. Objects that may hold references (*containers*) have pages and a list of large blocks of
 * their own, the part DV_HEAP_OBJECTS, so that the cycle collector finds them (core/collect.h): a
 *     block there is an object iff the first 32 bits, its reference count, are not 0.
 *  4. A request that would exceed the limit fails like a host that is out of memory: the result is
 * NULL and nothing else has changed.  dv_heap_* never raise; the callers raise MemoryError
 *     (dv_raise_memory), for which a preallocated exception exists.
 *  5. The last `kept` bytes below the limit are for handlers: they are given out while `in_need`
 * says that a MemoryError is on its way or being handled.
 *  6. Before a request fails, pages of which all blocks are free go back to the host. */
#ifndef DV_CORE_HEAP_H
#define DV_CORE_HEAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include "core/value.h"

#define DV_HEAP_GRAIN 16u
/* Where AddressSanitizer watches, every block is one of the host's, so that it sees what is used
 * after it was freed; and every allocation can be made to fail, which is why builds that measure
 * coverage ask for the same (CMakeLists.txt: clang does not tell of its sanitizers by a macro). */
#ifdef DYNVM_HOST_BLOCKS
#define DV_HEAP_SMALL 0u
#else
#define DV_HEAP_SMALL 512u
#endif
#define DV_HEAP_CLASSES (DV_HEAP_SMALL / DV_HEAP_GRAIN + 1)

/* The host's memory: resize(context, NULL, 0, n) allocates, (.., p, old, 0) frees. */
typedef void *(*dv_host_resize)(void *context, void *block, size_t old_size, size_t new_size);

/* From here on a first word says that the block of a container begins with something else, of
 * DV_HEAP_PREFIX_SIZE bytes, and that the object stands behind it. */
#define DV_HEAP_PREFIX_MARK 0xFF000000u
#define DV_HEAP_PREFIX_SIZE 16u

typedef struct dv_free_block {
    uint64_t header; /* 0: where an object has its reference count */
    struct dv_free_block *next;
} dv_free_block;

typedef struct dv_heap_page dv_heap_page;
typedef struct dv_heap_large dv_heap_large;

/* DV_HEAP_KEPT: objects that are no containers, but must be found when the VM ends, as they may
 * hold what is not in its heap. */
typedef enum dv_heap_part_id {
    DV_HEAP_PLAIN,
    DV_HEAP_OBJECTS,
    DV_HEAP_KEPT,
    DV_HEAP_PARTS
} dv_heap_part_id;

typedef struct dv_heap_part {
    dv_free_block *free[DV_HEAP_CLASSES];
    /* Free blocks that count as new memory when they are used: what the last collection found. */
    dv_free_block *reserve[DV_HEAP_CLASSES];
    char *bump[DV_HEAP_CLASSES]; /* rest of the newest page of the class, never used so far */
    char *bump_end[DV_HEAP_CLASSES];
    uint8_t page_count[DV_HEAP_CLASSES]; /* pages grow from 4 KB to 64 KB */
    dv_heap_page *pages;
    dv_heap_large *large;
} dv_heap_part;

typedef struct dv_heap {
    dv_heap_part parts[DV_HEAP_PARTS];
    size_t used, peak, limit; /* bytes taken from the host; limit SIZE_MAX: none */
    size_t kept;              /* of the limit, for handlers of MemoryError */
    bool (*in_need)(const struct dv_heap *heap); /* NULL: nobody is */
    bool walked;        /* what allocates during a dv_heap_walk: no page goes away meanwhile */
    size_t left_free;   /* bytes on free lists after free pages were looked for */
    uint64_t next_trim; /* `allocations` from which on free pages are looked for again */
    /* Bytes of containers taken since the last collection, net of those freed meanwhile.  When
     * they exceed `new_limit`, or `used` exceeds `used_limit`, `full` is called once. */
    size_t new_bytes, new_limit, used_limit;
    void (*full)(struct dv_heap *heap);
    /* Told of every large block and page that is taken, as who fills them works. */
    void (*taken)(struct dv_heap *heap, size_t size);
    uint64_t fail_at;     /* faults: the allocation with this number fails; 0: none */
    uint64_t allocations; /* calls of the slow path, counted for fail_at */
    dv_host_resize resize;
    void *context;
} dv_heap;

void dv_heap_init(dv_heap *heap, dv_host_resize resize, void *context, size_t limit);
void dv_heap_destroy(dv_heap *heap); /* frees everything that was allocated from it */

void *dv_heap_alloc_slow(dv_heap *heap, dv_heap_part_id part, size_t size);
void dv_heap_free_large(dv_heap *heap, dv_heap_part_id part, void *block, size_t size);

/* A free block, without a call; NULL: there is none, or the size is beyond blocks, as all are where
 * errors of memory are looked for. */
static inline void *dv_heap_part_take(dv_heap *heap, dv_heap_part_id part, size_t size) {
    if (__builtin_expect(size > DV_HEAP_SMALL, 0)) return NULL;
    dv_free_block **list = &heap->parts[part].free[(size + DV_HEAP_GRAIN - 1) / DV_HEAP_GRAIN];
    dv_free_block *block = *list;
    if (__builtin_expect(block != NULL, 1)) *list = block->next;
    return block;
}

static inline void *dv_heap_part_alloc(dv_heap *heap, dv_heap_part_id part, size_t size) {
    void *block = dv_heap_part_take(heap, part, size);
    return __builtin_expect(block != NULL, 1) ? block : dv_heap_alloc_slow(heap, part, size);
}

static inline void dv_heap_part_free(dv_heap *heap, dv_heap_part_id part, void *memory,
                                     size_t size) {
    if (__builtin_expect(size <= DV_HEAP_SMALL, 1)) {
        dv_free_block **list = &heap->parts[part].free[(size + DV_HEAP_GRAIN - 1) / DV_HEAP_GRAIN];
        dv_free_block *block = memory;
        block->header = 0;
        block->next = *list;
        *list = block;
        return;
    }
    dv_heap_free_large(heap, part, memory, size);
}

/* Uninitialised memory, 16-byte aligned; NULL when memory or the limit runs out. */
static inline void *dv_heap_alloc(dv_heap *heap, size_t size) {
    return dv_heap_part_alloc(heap, DV_HEAP_PLAIN, size);
}

static inline void dv_heap_free(dv_heap *heap, void *memory, size_t size) {
    dv_heap_part_free(heap, DV_HEAP_PLAIN, memory, size);
}

/* Grows or shrinks a plain block; on failure the result is NULL and the old block is untouched.
 * block may be NULL with old_size 0.  new_size must not be 0. */
void *dv_heap_resize(dv_heap *heap, void *block, size_t old_size, size_t new_size);

/* Walks the objects of a part, DV_HEAP_OBJECTS (containers) or DV_HEAP_KEPT.  While it goes on,
 * none may be made or freed there. */
typedef struct dv_heap_walk {
    dv_heap_part *part;
    dv_heap_page *page; /* of the block at `at` */
    char *at, *end;
    dv_heap_large *large; /* the next one, after all pages */
} dv_heap_walk;

dv_heap_walk dv_heap_walk_part(dv_heap *heap, dv_heap_part_id part);
dv_heap_walk dv_heap_walk_objects(dv_heap *heap);
dv_object *dv_heap_next_object(dv_heap_walk *walk); /* NULL: that was the last */

/* After a collection: all free blocks of containers count as new memory from now on, pages without
 * objects go back to the host, and the limits of new memory follow from what is alive. */
void dv_heap_settle(dv_heap *heap);
/* There was no collection: `full` is called again after some more new memory. */
void dv_heap_postpone(dv_heap *heap);

#endif
