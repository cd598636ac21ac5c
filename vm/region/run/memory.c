/* memory.c: accounting for regions, and making room (memory.h). */
#include "region/run/memory.h"

enum {
    DEFAULT_LIMIT = 4 << 20,
    SHARE = 8, /* of the VM's memory: one in so many bytes, where that is less */
    FREED = 4  /* room is made for more than one: until one in so many bytes is free */
};

static size_t size_of(const dv_region *region) {
    return sizeof *region + region->cell_count * sizeof *region->cells +
           region->exit_count * sizeof *region->exits + region->item_count * sizeof *region->items +
           region->frame_count * sizeof *region->frames +
           region->point_count * sizeof *region->points +
           region->entry_count * sizeof *region->entries +
           region->entry_item_count * sizeof *region->entry_items +
           region->mark_count * sizeof *region->marks +
           region->origin_count * sizeof *region->origins +
           (region->steps ? region->cell_count * sizeof *region->steps : 0) +
           region->held_count * sizeof *region->held +
           region->source_count * sizeof *region->sources;
}

static size_t limit_of(dv_vm *vm) {
    if (!vm->regions.limit) {
        const size_t share = vm->heap.limit / SHARE;
        vm->regions.limit = share < DEFAULT_LIMIT ? share : DEFAULT_LIMIT;
    }
    return vm->regions.limit;
}

/* The one that was entered least lately, the oldest of these; NULL: somebody is in each. */
static dv_region *find_coldest(const dv_vm *vm) {
    dv_region *coldest = NULL;
    for (const dv_thread *thread = vm->codes; thread; thread = thread->next)
        for (dv_region *region = thread->regions; region; region = region->next)
            if (!region->active && (!coldest || region->entered <= coldest->entered))
                coldest = region;
    return coldest;
}

/* So that what was hot once does not stay so. */
static void cool(const dv_vm *vm) {
    for (const dv_thread *thread = vm->codes; thread; thread = thread->next)
        for (dv_region *region = thread->regions; region; region = region->next)
            region->entered /= 2;
}

static void make_room(dv_vm *vm, size_t size, size_t limit) {
    const size_t wanted = limit - limit / FREED;
    dv_region *coldest = NULL;
    while (vm->regions.bytes + size > wanted && (coldest = find_coldest(vm)) != NULL) {
        dv_region_give_up(vm, coldest, DV_REFUSED_ROOM);
        vm->regions.evicted++;
    }
    cool(vm);
}

bool dv_region_admit(dv_vm *vm, dv_region *region) {
    const size_t size = size_of(region), limit = limit_of(vm);
    if (size > limit) return false; /* all others would go for nothing */
    if (vm->regions.bytes + size > limit) make_room(vm, size, limit);
    if (vm->regions.bytes + size > limit) return false;
    region->bytes = size;
    vm->regions.bytes += size;
    if (vm->regions.bytes > vm->regions.most) vm->regions.most = vm->regions.bytes;
    vm->regions.count++;
    vm->regions.made++;
    return true;
}

void dv_region_discharge(dv_vm *vm, dv_region *region) {
    if (!region->bytes) return; /* not admitted */
    vm->regions.bytes -= region->bytes;
    vm->regions.count--;
    region->bytes = 0;
}
