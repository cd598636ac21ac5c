/* polymorphic.c: caches of sites that see objects of several shapes (polymorphic.h). */
#include "quicken/polymorphic.h"

#include "dv_ops.h"
#include "quicken/fuse.h"
#include "quicken/site.h"

bool dv_is_poly(uint32_t op) {
    return op < DV_OP_COUNT && dv_op_infos[op].cached[0] == DV_CACHED_ENTRIES;
}

bool dv_poly_begins(dv_cell *ip, uint32_t op) {
    bool poly = dv_is_poly(op);
    if (!poly && !(op < DV_OP_COUNT && dv_op_infos[op].several)) return false;
    ip[1].site.reason = poly ? DV_REASON_ENTRIES : DV_REASON_SHAPES;
    return true;
}

static dv_poly *new_poly(dv_vm *vm) {
    dv_poly *poly = dv_heap_alloc(&vm->heap, sizeof *poly);
    if (!poly) return NULL;
    *poly = (dv_poly){.block.size = sizeof *poly};
    dv_thread *thread = dv_frame_thread(vm->fp);
    poly->block.next = thread->blocks;
    thread->blocks = &poly->block;
    return poly;
}

dv_poly_entry *dv_poly_entry_for(dv_vm *vm, dv_cell *ip, dv_cell *cache, uint32_t shape,
                                 bool *several) {
    dv_site *site = &ip[1].site;
    *several = site->reason == DV_REASON_SHAPES || site->reason == DV_REASON_ENTRIES;
    if (!*several) return NULL;
    if (site->reason == DV_REASON_SHAPES) {
        dv_poly *poly = new_poly(vm);
        if (!poly) {
            dv_site_megamorphic(vm, ip);
            return NULL;
        }
        cache[0].p = poly;
        site->reason = DV_REASON_ENTRIES;
    }
    dv_poly *poly = (dv_poly *)cache[0].p;
    for (int i = 0; i < DV_POLY_ENTRIES; i++)
        if (poly->entries[i].shape == 0 || poly->entries[i].shape == shape)
            return &poly->entries[i];
    dv_site_megamorphic(vm, ip);
    return NULL;
}

void dv_poly_become(dv_vm *vm, dv_cell *ip, uint32_t op) {
    dv_site_become(vm, ip, op);
    ip[1].site.misses = 1; /* the next shape gets its entry at once */
}

void dv_poly_forget(dv_vm *vm, dv_thread *thread, dv_cell *ip, uint32_t op) {
    dv_poly *poly = (dv_poly *)ip[dv_op_infos[op].cache_cell].p;
    for (int i = 0; i < DV_POLY_ENTRIES; i++) poly->entries[i] = (dv_poly_entry){0};
    dv_site_put(vm, thread, ip, dv_op_infos[op].adaptive);
    ip[1].site.wait = 0;
    ip[1].site.reason = DV_REASON_ENTRIES;
}
