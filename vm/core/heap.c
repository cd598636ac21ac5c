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

/* What is kept for handlers: this part of the limit, but no more than that many bytes. */
#define KEPT_SHARE 16u
#define KEPT_MAX   ((size_t)1 << 20)
/* Looking for free pages visits every free block.  It is done when there are many more of them than
 * the last time left; and where that was more than TRIM_CHEAP bytes, once in as many allocations as
 * there are pieces of so many bytes in the heap, so that it costs each of them a few visits. */
#define TRIM_CHEAP ((size_t)1 << 20)
#define TRIM_PIECE 4096u

/* Otherwise one and a half times what was alive after the last one.  While a heap grows,
 * collections then walk it, all in all, 1.1 times; at once what was alive they would 1.4 times (1 /
 * ln of what it grows by in between), and at twice 0.9 times, for which more garbage lies about. */
static size_t one_and_a_half(size_t size) { return size + size / 2; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

struct dv_heap_page {
    dv_heap_page *next;
    uint32_t size;  /* of the page */
    uint16_t block; /* size of its blocks */
    uint16_t free;  /* while free pages are looked for: of its blocks */
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
    heap->kept = smaller(limit / KEPT_SHARE, KEPT_MAX);
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

static bool fits(const dv_heap *heap, size_t size, size_t limit) {
    return size <= limit && heap->used <= limit - size;
}

static void trim(dv_heap *heap);

/* May so many bytes more be taken from the host? */
static bool has_room(dv_heap *heap, size_t size) {
    if (fits(heap, size, heap->limit - heap->kept)) return true;
    trim(heap);
    return fits(heap, size, heap->limit - heap->kept) ||
           (heap->in_need && heap->in_need(heap) && fits(heap, size, heap->limit));
}

/* Takes memory from the host within the limit. */
static void *take(dv_heap *heap, size_t size) {
    if (!has_room(heap, size)) return NULL;
    void *memory = heap->resize(heap->context, NULL, 0, size);
    if (!memory) return NULL;
    heap->used += size;
    if (heap->taken) heap->taken(heap, size);
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
    if (!has_room(heap, more)) return NULL;
    dv_heap_part *part = &heap->parts[DV_HEAP_PLAIN];
    unlink_large(part, large);
    dv_heap_large *moved = heap->resize(heap->context, large, old, new);
    link_large(part, moved ? moved : large);
    if (!moved) return NULL;
    moved->size = new;
    heap->used = heap->used - old + new;
    if (heap->taken && more) heap->taken(heap, more);
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
    if (!page) page = take(heap, size = FIRST_PAGE); /* memory is scarce */
    if (!page) return false;
    *page = (dv_heap_page){part->pages, (uint32_t)size, (uint16_t)block_size(class_), 0};
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

/* Gives the page at *at back to the host; the next one is there then. */
static void drop_page(dv_heap *heap, dv_heap_part *part, dv_heap_page **at) {
    dv_heap_page *page = *at;
    size_t class_ = class_of(page->block);
    if (part->bump_end[class_] == (char *)page + page->size)
        part->bump[class_] = part->bump_end[class_] = NULL;
    *at = page->next;
    give(heap, page, page->size);
}

void dv_heap_settle(dv_heap *heap) {
    dv_heap_part *part = &heap->parts[DV_HEAP_OBJECTS];
    size_t alive = 0;
    memset(part->free, 0, sizeof part->free);
    memset(part->reserve, 0, sizeof part->reserve);
    for (dv_heap_page **at = &part->pages; *at;) {
        size_t here = settle_page(part, *at);
        alive += here;
        if (here)
            at = &(*at)->next;
        else
            drop_page(heap, part, at);
    }
    /* Half of what is left below the limit at most: garbage is to be no reason to fail. */
    size_t room = (heap->limit - smaller(heap->limit, heap->used)) / 2;
    heap->new_bytes = 0;
    heap->new_limit = larger(smaller(one_and_a_half(alive), room), NEW_MIN);
    heap->used_limit =
        larger(heap->used + smaller(one_and_a_half(heap->used), larger(room, NEW_MIN)), USED_MIN);
}

void dv_heap_postpone(dv_heap *heap) {
    heap->new_bytes = 0;
    heap->new_limit = NEW_MIN;
    heap->used_limit = heap->used > SIZE_MAX - USED_MIN ? SIZE_MAX : heap->used + USED_MIN;
}

/* Free pages ------------------------------------------------------------------------------------
 */

typedef struct page_table {
    dv_heap_page **pages; /* of a part, by address */
    size_t count;
} page_table;

/* The page that a block lies in. */
static dv_heap_page *page_of(const page_table *table, const void *block) {
    size_t low = 0, high = table->count; /* the page is in [low, high) */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)table->pages[middle] <= (uintptr_t)block)
            low = middle;
        else
            high = middle;
    }
    return table->pages[low];
}

/* Shell's method: there are thousands of pages at most, and nothing may be allocated. */
static void sort_pages(page_table *table) {
    dv_heap_page **pages = table->pages;
    for (size_t gap = table->count / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (size_t i = gap; i < table->count; i++) {
            dv_heap_page *page = pages[i];
            size_t j = i;
            for (; j >= gap && (uintptr_t)pages[j - gap] > (uintptr_t)page; j -= gap)
                pages[j] = pages[j - gap];
            pages[j] = page;
        }
}

static bool is_free(const dv_heap_part *part, const dv_heap_page *page) {
    size_t carved = (size_t)(carved_end(part, page) - (const char *)(page + 1));
    return page->free == carved / page->block;
}

/* Takes the blocks of free pages out of a list. */
static void unlist(const dv_heap_part *part, const page_table *table, dv_free_block **at) {
    while (*at)
        if (is_free(part, page_of(table, *at)))
            *at = (*at)->next;
        else
            at = &(*at)->next;
}

static void trim_part(dv_heap *heap, dv_heap_part *part) {
    page_table table = {NULL, 0};
    for (dv_heap_page *page = part->pages; page; page = page->next) page->free = 0, table.count++;
    size_t size = table.count * sizeof *table.pages;
    if (!size || !fits(heap, size, heap->limit)) return;
    table.pages = heap->resize(heap->context, NULL, 0, size);
    if (!table.pages) return;
    size_t count = 0;
    for (dv_heap_page *page = part->pages; page; page = page->next) table.pages[count++] = page;
    sort_pages(&table);
    for (size_t i = 0; i < DV_HEAP_CLASSES; i++) {
        for (dv_free_block *b = part->free[i]; b; b = b->next) page_of(&table, b)->free++;
        for (dv_free_block *b = part->reserve[i]; b; b = b->next) page_of(&table, b)->free++;
    }
    for (size_t i = 0; i < DV_HEAP_CLASSES; i++) {
        unlist(part, &table, &part->free[i]);
        unlist(part, &table, &part->reserve[i]);
    }
    for (dv_heap_page **at = &part->pages; *at;)
        if (is_free(part, *at))
            drop_page(heap, part, at);
        else
            at = &(*at)->next;
    heap->resize(heap->context, table.pages, size, 0);
}

/* Bytes on the free lists; no longer counted when they are more than `most`. */
static size_t free_bytes(const dv_heap *heap, size_t most) {
    size_t sum = 0;
    for (int p = 0; p < DV_HEAP_PARTS; p++)
        for (size_t i = 0; i < DV_HEAP_CLASSES; i++) {
            const dv_heap_part *part = &heap->parts[p];
            for (dv_free_block *b = part->free[i]; b && sum <= most; b = b->next)
                sum += block_size(i);
            for (dv_free_block *b = part->reserve[i]; b && sum <= most; b = b->next)
                sum += block_size(i);
        }
    return sum;
}

static void trim(dv_heap *heap) {
    if (heap->walked) return;
    if (heap->left_free > TRIM_CHEAP && heap->allocations < heap->next_trim) return;
    const size_t few = heap->left_free + heap->left_free / 2 + LAST_PAGE;
    if (free_bytes(heap, few) <= few) return;
    heap->next_trim = heap->allocations + heap->used / TRIM_PIECE;
    for (int i = 0; i < DV_HEAP_PARTS; i++) trim_part(heap, &heap->parts[i]);
    heap->left_free = free_bytes(heap, SIZE_MAX);
}
