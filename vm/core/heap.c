/* heap.c: the allocator of a VM (heap.h).
 *
 * A size class takes its memory in pages that grow from 4 KB to 64 KB, and carves a few blocks at a
 * time off its newest page, so that a small VM stays small and memory that is not needed is never
 * touched. */
#include "core/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/object.h"

#define FIRST_PAGE 4096u
#define LAST_PAGE  65536u
#define CARVE      16u /* blocks put on the free list at once */

/* New containers between two collections, at least; and new memory of all kinds. */
#define NEW_MIN  ((size_t)1 << 20)
#define USED_MIN ((size_t)8 << 20)

/* Otherwise one and a half times what was alive after the last one.  While a heap grows,
 * collections then walk it, all in all, 1.1 times; at once what was alive they would 1.4 times (1 /
 * ln of what it grows by in between), and at twice 0.9 times, for which more garbage lies about. */
static size_t one_and_a_half(size_t size) { return size + size / 2; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

struct dv_heap_page {
    dv_heap_page *next;
    uint32_t size;  /* of the page */
    uint32_t block; /* size of its blocks */
};

/* In front of every large block. */
struct dv_heap_large {
    dv_heap_large *next, *previous;
    size_t size; /* with this header: what the host is told, whatever an extension says */
    size_t unused;
};

_Static_assert(sizeof(dv_heap_page) % DV_HEAP_GRAIN == 0 &&
                   sizeof(dv_heap_large) % DV_HEAP_GRAIN == 0,
               "blocks are aligned");

static void *c_library_resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

void dv_heap_init(dv_heap *heap, dv_host_resize resize, void *context, size_t limit) {
    memset(heap, 0, sizeof *heap);
    heap->resize = resize ? resize : c_library_resize;
    heap->context = context;
    heap->limit = limit;
    heap->new_limit = NEW_MIN;
    heap->used_limit = USED_MIN;
}

static void count_new(dv_heap *heap, size_t size) {
    heap->new_bytes += size;
    if (heap->new_bytes < heap->new_limit || !heap->full) return;
    heap->new_limit = SIZE_MAX;
    heap->full(heap);
}

static void note_use(dv_heap *heap) {
    if (heap->used > heap->peak) heap->peak = heap->used;
    if (heap->used < heap->used_limit || !heap->full) return;
    heap->used_limit = SIZE_MAX;
    heap->full(heap);
}

/* Takes memory from the host within the limit. */
static void *take(dv_heap *heap, size_t size) {
    if (size > heap->limit || heap->used > heap->limit - size) return NULL;
    void *memory = heap->resize(heap->context, NULL, 0, size);
    if (!memory) return NULL;
    heap->used += size;
    note_use(heap);
    return memory;
}

static void give(dv_heap *heap, void *memory, size_t size) {
    heap->resize(heap->context, memory, size, 0);
    heap->used -= size;
}

void dv_heap_destroy(dv_heap *heap) {
    for (int i = 0; i < DV_HEAP_PARTS; i++) {
        dv_heap_part *part = &heap->parts[i];
        for (dv_heap_page *page = part->pages, *next; page; page = next) {
            next = page->next;
            heap->resize(heap->context, page, page->size, 0);
        }
        for (dv_heap_large *large = part->large, *next; large; large = next) {
            next = large->next;
            heap->resize(heap->context, large, large->size, 0);
        }
        part->pages = NULL;
        part->large = NULL;
    }
    heap->used = 0;
}

/* Large blocks ----------------------------------------------------------------------------------
 */

static void link_large(dv_heap_part *part, dv_heap_large *large) {
    large->previous = NULL;
    large->next = part->large;
    if (large->next) large->next->previous = large;
    part->large = large;
}

static void unlink_large(dv_heap_part *part, dv_heap_large *large) {
    if (large->next) large->next->previous = large->previous;
    if (large->previous)
        large->previous->next = large->next;
    else
        part->large = large->next;
}

static void *alloc_large(dv_heap *heap, dv_heap_part_id part, size_t size) {
    if (size > SIZE_MAX - sizeof(dv_heap_large)) return NULL;
    dv_heap_large *large = take(heap, size + sizeof *large);
    if (!large) return NULL;
    large->size = size + sizeof *large;
    link_large(&heap->parts[part], large);
    if (part == DV_HEAP_OBJECTS) count_new(heap, size);
    return large + 1;
}

void dv_heap_free_large(dv_heap *heap, dv_heap_part_id part, void *block, size_t size) {
    dv_heap_large *large = (dv_heap_large *)block - 1;
    assert(large->size == size + sizeof *large);
    (void)size;
    unlink_large(&heap->parts[part], large);
    give(heap, large, large->size);
}

static void *resize_large(dv_heap *heap, void *block, size_t old_size, size_t new_size) {
    if (new_size > SIZE_MAX - sizeof(dv_heap_large)) return NULL;
    dv_heap_large *large = (dv_heap_large *)block - 1;
    const size_t old = large->size, new = new_size + sizeof *large;
    assert(old == old_size + sizeof *large);
    (void)old_size;
    size_t more = new > old ? new - old : 0;
    if (more > heap->limit || heap->used > heap->limit - more) return NULL;
    dv_heap_part *part = &heap->parts[DV_HEAP_PLAIN];
    unlink_large(part, large);
    dv_heap_large *moved = heap->resize(heap->context, large, old, new);
    link_large(part, moved ? moved : large);
    if (!moved) return NULL;
    moved->size = new;
    heap->used = heap->used - old + new;
    note_use(heap);
    return moved + 1;
}

/* Small blocks ----------------------------------------------------------------------------------
 */

static size_t class_of(size_t size) { return (size + DV_HEAP_GRAIN - 1) / DV_HEAP_GRAIN; }

/* Requests of no bytes get the smallest block. */
static size_t block_size(size_t class_) { return (class_ ? class_ : 1) * DV_HEAP_GRAIN; }

static bool add_page(dv_heap *heap, dv_heap_part *part, size_t class_) {
    size_t size = FIRST_PAGE << part->page_count[class_];
    if (size < LAST_PAGE) part->page_count[class_]++;
    dv_heap_page *page = take(heap, size);
    if (!page) return false;
    *page = (dv_heap_page){part->pages, (uint32_t)size, (uint32_t)block_size(class_)};
    part->pages = page;
    part->bump[class_] = (char *)(page + 1);
    part->bump_end[class_] = (char *)page + size;
    return true;
}

/* Carves the next blocks off the page: one for the caller, the others for the free list. */
static void *carve(dv_heap *heap, dv_heap_part *part, size_t class_, size_t *count) {
    size_t size = block_size(class_);
    if ((size_t)(part->bump_end[class_] - part->bump[class_]) < size &&
        !add_page(heap, part, class_))
        return NULL;
    char *block = part->bump[class_], *at = block + size;
    *count = (size_t)(part->bump_end[class_] - at) / size;
    if (*count > CARVE) *count = CARVE;
    if (heap->fail_at) *count = 0;
    dv_free_block **tail = &part->free[class_];
    for (size_t i = 0; i < *count; i++, at += size) {
        dv_free_block *free_block = (dv_free_block *)(void *)at;
        free_block->header = 0;
        *tail = free_block;
        tail = &free_block->next;
    }
    *tail = NULL;
    part->bump[class_] = at;
    ((dv_free_block *)(void *)block)->header = 0;
    return block;
}

/* The same from the reserve. */
static void *draw(dv_heap_part *part, size_t class_, size_t *count) {
    dv_free_block *block = part->reserve[class_], *last = block;
    for (*count = 0; *count < CARVE && last->next; (*count)++) last = last->next;
    part->reserve[class_] = last->next;
    last->next = NULL;
    part->free[class_] = block->next;
    return block;
}

static void *alloc_small(dv_heap *heap, dv_heap_part_id id, size_t class_) {
    dv_heap_part *part = &heap->parts[id];
    size_t more = 0;
    void *block =
        part->reserve[class_] ? draw(part, class_, &more) : carve(heap, part, class_, &more);
    if (block && id == DV_HEAP_OBJECTS) count_new(heap, (more + 1) * block_size(class_));
    return block;
}

void *dv_heap_alloc_slow(dv_heap *heap, dv_heap_part_id part, size_t size) {
    if (++heap->allocations == heap->fail_at) return NULL;
    return size <= DV_HEAP_SMALL ? alloc_small(heap, part, class_of(size))
                                 : alloc_large(heap, part, size);
}

void *dv_heap_resize(dv_heap *heap, void *block, size_t old_size, size_t new_size) {
    if (!block) return dv_heap_alloc(heap, new_size);
    bool old_small = old_size <= DV_HEAP_SMALL, new_small = new_size <= DV_HEAP_SMALL;
    if (old_small && new_small && block_size(class_of(old_size)) == block_size(class_of(new_size)))
        return block;
    if (!old_small && !new_small) {
        if (++heap->allocations == heap->fail_at) return NULL;
        return resize_large(heap, block, old_size, new_size);
    }
    void *moved = dv_heap_alloc(heap, new_size);
    if (!moved) return NULL;
    memcpy(moved, block, old_size < new_size ? old_size : new_size);
    dv_heap_free(heap, block, old_size);
    return moved;
}

/* Containers ------------------------------------------------------------------------------------
 */

/* Where the blocks of a page end that were carved off so far. */
static char *carved_end(const dv_heap_part *part, const dv_heap_page *page) {
    size_t class_ = class_of(page->block);
    char *end = (char *)(uintptr_t)page + page->size;
    if (part->bump_end[class_] == end) return part->bump[class_];
    size_t room = page->size - sizeof *page;
    return end - room % page->block;
}

static void enter_page(dv_heap_walk *walk, dv_heap_page *page) {
    walk->page = page;
    if (!page) return;
    walk->at = (char *)(page + 1);
    walk->end = carved_end(walk->part, page);
}

dv_heap_walk dv_heap_walk_part(dv_heap *heap, dv_heap_part_id id) {
    dv_heap_part *part = &heap->parts[id];
    dv_heap_walk walk = {.part = part, .large = part->large};
    enter_page(&walk, part->pages);
    return walk;
}

dv_heap_walk dv_heap_walk_objects(dv_heap *heap) {
    return dv_heap_walk_part(heap, DV_HEAP_OBJECTS);
}

/* The living object of a block; NULL: none. */
static dv_object *object_in(void *block) {
    dv_object *object = block;
    if (object->references >= DV_HEAP_PREFIX_MARK)
        object = (dv_object *)(void *)((char *)block + DV_HEAP_PREFIX_SIZE);
    return object->references ? object : NULL;
}

dv_object *dv_heap_next_object(dv_heap_walk *walk) {
    for (; walk->page; enter_page(walk, walk->page->next))
        while (walk->at < walk->end) {
            dv_object *object = object_in(walk->at);
            walk->at += walk->page->block;
            if (object) return object;
        }
    while (walk->large) {
        dv_object *object = object_in(walk->large + 1);
        walk->large = walk->large->next;
        if (object) return object;
    }
    return NULL;
}

/* Puts the free blocks of a page on the reserve; the bytes of the others. */
static size_t settle_page(dv_heap_part *part, dv_heap_page *page) {
    dv_free_block **reserve = &part->reserve[class_of(page->block)], *before = *reserve;
    char *end = carved_end(part, page);
    size_t alive = 0;
    for (char *at = (char *)(page + 1); at < end; at += page->block) {
        dv_free_block *block = (dv_free_block *)(void *)at;
        if ((uint32_t)block->header) {
            alive += page->block;
            continue;
        }
        block->next = *reserve;
        *reserve = block;
    }
    if (!alive) *reserve = before;
    return alive;
}

void dv_heap_settle(dv_heap *heap) {
    dv_heap_part *part = &heap->parts[DV_HEAP_OBJECTS];
    size_t alive = 0;
    memset(part->free, 0, sizeof part->free);
    memset(part->reserve, 0, sizeof part->reserve);
    for (dv_heap_page **at = &part->pages; *at;) {
        dv_heap_page *page = *at;
        size_t class_ = class_of(page->block), here = settle_page(part, page);
        alive += here;
        if (here) {
            at = &page->next;
            continue;
        }
        if (part->bump_end[class_] == (char *)page + page->size)
            part->bump[class_] = part->bump_end[class_] = NULL;
        *at = page->next;
        give(heap, page, page->size);
    }
    heap->new_bytes = 0;
    heap->new_limit = larger(one_and_a_half(alive), NEW_MIN);
    heap->used_limit = larger(heap->used + one_and_a_half(heap->used), USED_MIN);
}

void dv_heap_postpone(dv_heap *heap) {
    heap->new_bytes = 0;
    heap->new_limit = NEW_MIN;
    heap->used_limit = heap->used > SIZE_MAX - USED_MIN ? SIZE_MAX : heap->used + USED_MIN;
}
