/* heap.c: the allocator of a VM (heap.h).
 *
 * A size class takes its memory in pages that grow from 4 KB to 64 KB, and carves a few blocks at a
 * time off its newest page, so that a small VM stays small and memory that is not needed is never
 * touched. */
#include "core/heap.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PAGE 4096u
#define LAST_PAGE  65536u
#define CARVE      16u /* blocks put on the free list at once */

struct dv_heap_page {
    dv_heap_page *next;
    size_t size;
};

/* In front of every large block. */
struct dv_heap_large {
    dv_heap_large *next, *previous;
};

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
}

/* Takes memory from the host within the limit. */
static void *take(dv_heap *heap, size_t size) {
    if (size > heap->limit || heap->used > heap->limit - size) return NULL;
    void *memory = heap->resize(heap->context, NULL, 0, size);
    if (!memory) return NULL;
    heap->used += size;
    if (heap->used > heap->peak) heap->peak = heap->used;
    return memory;
}

static void give(dv_heap *heap, void *memory, size_t size) {
    heap->resize(heap->context, memory, size, 0);
    heap->used -= size;
}

void dv_heap_destroy(dv_heap *heap) {
    for (dv_heap_page *page = heap->pages, *next; page; page = next) {
        next = page->next;
        heap->resize(heap->context, page, page->size, 0);
    }
    for (dv_heap_large *large = heap->large, *next; large; large = next) {
        next = large->next;
        heap->resize(heap->context, large, 0, 0);
    }
    heap->pages = NULL;
    heap->large = NULL;
    heap->used = 0;
}

/* Large blocks ----------------------------------------------------------------------------------
 */

static void link_large(dv_heap *heap, dv_heap_large *large) {
    large->previous = NULL;
    large->next = heap->large;
    if (large->next) large->next->previous = large;
    heap->large = large;
}

static void unlink_large(dv_heap *heap, dv_heap_large *large) {
    if (large->next) large->next->previous = large->previous;
    if (large->previous)
        large->previous->next = large->next;
    else
        heap->large = large->next;
}

static void *alloc_large(dv_heap *heap, size_t size) {
    if (size > SIZE_MAX - sizeof(dv_heap_large)) return NULL;
    dv_heap_large *large = take(heap, size + sizeof *large);
    if (!large) return NULL;
    link_large(heap, large);
    return large + 1;
}

void dv_heap_free_large(dv_heap *heap, void *block, size_t size) {
    dv_heap_large *large = (dv_heap_large *)block - 1;
    unlink_large(heap, large);
    give(heap, large, size + sizeof *large);
}

static void *resize_large(dv_heap *heap, void *block, size_t old_size, size_t new_size) {
    if (new_size > SIZE_MAX - sizeof(dv_heap_large)) return NULL;
    size_t more = new_size > old_size ? new_size - old_size : 0;
    if (more > heap->limit || heap->used > heap->limit - more) return NULL;
    dv_heap_large *large = (dv_heap_large *)block - 1;
    unlink_large(heap, large);
    dv_heap_large *moved =
        heap->resize(heap->context, large, old_size + sizeof *large, new_size + sizeof *large);
    link_large(heap, moved ? moved : large);
    if (!moved) return NULL;
    heap->used = heap->used - old_size + new_size;
    if (heap->used > heap->peak) heap->peak = heap->used;
    return moved + 1;
}

/* Small blocks ----------------------------------------------------------------------------------
 */

static size_t class_of(size_t size) { return (size + DV_HEAP_GRAIN - 1) / DV_HEAP_GRAIN; }

/* Requests of no bytes get the smallest block. */
static size_t block_size(size_t class_) { return (class_ ? class_ : 1) * DV_HEAP_GRAIN; }

static bool add_page(dv_heap *heap, size_t class_) {
    size_t size = FIRST_PAGE << heap->page_count[class_];
    if (size < LAST_PAGE) heap->page_count[class_]++;
    dv_heap_page *page = take(heap, size);
    if (!page) return false;
    page->next = heap->pages;
    page->size = size;
    heap->pages = page;
    heap->bump[class_] = (char *)(page + 1);
    heap->bump_end[class_] = (char *)page + size;
    return true;
}

/* Carves the next blocks off the page: one for the caller, the others for the free list. */
static void *carve(dv_heap *heap, size_t class_) {
    size_t size = block_size(class_);
    if ((size_t)(heap->bump_end[class_] - heap->bump[class_]) < size && !add_page(heap, class_))
        return NULL;
    char *block = heap->bump[class_], *at = block + size;
    size_t count = (size_t)(heap->bump_end[class_] - at) / size;
    if (count > CARVE) count = CARVE;
    if (heap->fail_at) count = 0;
    dv_free_block **tail = &heap->free[class_];
    for (size_t i = 0; i < count; i++, at += size) {
        dv_free_block *free_block = (dv_free_block *)(void *)at;
        free_block->header = 0;
        *tail = free_block;
        tail = &free_block->next;
    }
    *tail = NULL;
    heap->bump[class_] = at;
    return block;
}

void *dv_heap_alloc_slow(dv_heap *heap, size_t size) {
    if (++heap->allocations == heap->fail_at) return NULL;
    return size <= DV_HEAP_SMALL ? carve(heap, class_of(size)) : alloc_large(heap, size);
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
