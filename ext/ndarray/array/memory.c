/* memory.c: blocks for elements, kept for the next array (memory.h). */
#include "array/memory.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

/* The VM's own free lists serve the small ones; large ones have room for up to an eighth more. */
enum { SMALL = ND_UNALIGNED, LARGE = 1 << 16, HUGE = 1 << 22, PAGE = 4096 };

/* So there is room for a beginning at a line of the cache, and arrays whose lengths change a little
 * (a window) find a block of the same size again; pages that nobody writes to cost nothing. */
static size_t room_for(size_t size) {
    size += ND_LINE;
    if (size < LARGE) return size;
    size_t step = (size_t)1 << (60 - __builtin_clzll(size));
    return (size + step - 1) / step * step;
}

/* Asks for huge pages, as NumPy does: a fault for 2 MB, not for 4 kB, and fewer misses of the TLB
 * where an expression goes through several arrays.  (That the system has none is no failure.) */
static void advise(char *block, size_t size) {
#ifdef MADV_HUGEPAGE
    const size_t before = -(uintptr_t)block & (PAGE - 1);
    madvise(block + before, (size - before) & ~(size_t)(PAGE - 1), MADV_HUGEPAGE);
#else
    (void)block;
    (void)size;
#endif
}

static nd_kept *kept_of(dvx_vm *vm) { return &nd_state_of(vm)->kept; }

/* Takes block i out of the list. */
static char *take_out(nd_kept *kept, uint32_t i) {
    char *block = kept->blocks[i].data;
    kept->bytes -= kept->blocks[i].size;
    kept->count--;
    memmove(kept->blocks + i, kept->blocks + i + 1, (kept->count - i) * sizeof *kept->blocks);
    return block;
}

/* The kept block that fits best, the last one of its size; `count`: none.  Large ones serve for
 * half of their size, too: lengths of what a mask selects fall from one array to the next, and
 * pages of a new block cost more than a pass over it. */
static uint32_t find(const nd_kept *kept, size_t size) {
    const size_t most = size < LARGE ? size : 2 * size;
    uint32_t best = kept->count;
    for (uint32_t i = kept->count; i-- > 0;) {
        const size_t has = kept->blocks[i].size;
        if (has == size) return i;
        if (has > size && has <= most && (best == kept->count || has < kept->blocks[best].size))
            best = i;
    }
    return best;
}

char *memory_take(dvx_vm *vm, size_t *bytes) {
    size_t size = *bytes;
    if (size <= SMALL) return vm->api->allocate(vm, size);
    nd_kept *kept = kept_of(vm);
    if (size >= LARGE) vm->api->heavy(vm);
    size = room_for(size);
    const uint32_t at = find(kept, size);
    kept->foreign = at == kept->count;
    if (!kept->foreign) {
        kept->alive += *bytes = kept->blocks[at].size;
        return take_out(kept, at);
    }
    kept->alive += *bytes = size;
    char *block = vm->api->allocate(vm, size);
    if (UNLIKELY(!block) && kept->count) {
        vm->api->clear_error(vm);
        memory_drop(vm);
        block = vm->api->allocate(vm, size);
    }
    if (UNLIKELY(!block))
        kept->alive -= size;
    else if (size >= HUGE)
        advise(block, size);
    return block;
}

bool memory_is_foreign(dvx_vm *vm) { return kept_of(vm)->foreign; }

/* The oldest ones go where there are too many. */
static void drop_oldest(dvx_vm *vm, nd_kept *kept) {
    size_t size = kept->blocks[0].size;
    vm->api->deallocate(vm, take_out(kept, 0), size);
}

void memory_give(dvx_vm *vm, char *block, size_t size) {
    if (size <= SMALL) {
        vm->api->deallocate(vm, block, size);
        return;
    }
    nd_kept *kept = kept_of(vm);
    kept->alive -= size;
    size_t most = kept->alive > ND_KEPT_ALWAYS ? kept->alive : ND_KEPT_ALWAYS;
    while (kept->count && (kept->count == ND_KEPT || kept->bytes + size > most))
        drop_oldest(vm, kept);
    if (size > ND_KEPT_MOST || size > most) {
        vm->api->deallocate(vm, block, size);
        return;
    }
    kept->blocks[kept->count].data = block;
    kept->blocks[kept->count++].size = size;
    kept->bytes += size;
}

void memory_drop(dvx_vm *vm) {
    nd_kept *kept = kept_of(vm);
    while (kept->count) drop_oldest(vm, kept);
}
