/* fuse.c: fusions come and go with the derivatives that they include (fuse.h). */
#include "quicken/fuse.h"

#include "dv_ops.h"
#include "run/frame.h"

static uint32_t op_at(const dv_thread *thread, uint32_t pc) {
    return thread->code->words[pc] & 0xFF;
}

/* The words of an instruction share one cell number. */
static uint32_t previous(const dv_thread *thread, uint32_t pc) {
    const uint32_t *cell_at = thread->cell_at;
    pc--;
    while (pc > 0 && cell_at[pc - 1] == cell_at[pc]) pc--;
    return pc;
}

/* The cell of the first load of a fusion with the derivative at pc; NULL: the instructions around
 * pc are others. */
static dv_cell *place_of(const dv_thread *thread, uint32_t pc, const dv_op_info *fusion) {
    if (fusion->stores) {
        uint32_t behind = dv_thread_next(thread, pc);
        if (behind >= thread->code->word_count || op_at(thread, behind) != DV_OP_STORE_LOCAL)
            return NULL;
    }
    for (uint32_t i = 0; i < fusion->load_count; i++) {
        if (pc == 0) return NULL;
        pc = previous(thread, pc);
        if (op_at(thread, pc) != fusion->loads[i]) return NULL;
    }
    return thread->cells + thread->cell_at[pc];
}

/* Takes away what fusions with the site's old form left in the cells of loads. */
static void unfuse(dv_vm *vm, dv_thread *thread, uint32_t pc, const dv_op_info *old) {
    for (uint32_t i = 0; i < old->fusion_count; i++) {
        uint32_t op = old->first_fusion + i;
        const dv_op_info *fusion = &dv_op_infos[op];
        dv_cell *place = place_of(thread, pc, fusion);
        if (!place || dv_op_of(vm, place->h) != op) continue; /* also where its form is longer */
        const uint32_t load = fusion->loads[fusion->load_count - 1];
        place->h = dv_handler_of(vm, place, dv_op_variant(vm, NULL, 0, place, load));
    }
}

/* The fusion that stands for most instructions. */
static void fuse(dv_vm *vm, dv_thread *thread, uint32_t pc, const dv_op_info *derivative) {
    dv_cell *best = NULL;
    uint32_t best_op = 0, most = 0;
    for (uint32_t i = 0; i < derivative->fusion_count; i++) {
        uint32_t op = derivative->first_fusion + i;
        const dv_op_info *fusion = &dv_op_infos[op];
        uint32_t parts = fusion->load_count + fusion->stores;
        dv_cell *place = parts > most ? place_of(thread, pc, fusion) : NULL;
        if (!place) continue;
        best = place;
        best_op = op;
        most = parts;
    }
    if (!best) return;
    const dv_cell *site = thread->cells + thread->cell_at[pc];
    best->h = dv_handler_of(vm, best, dv_op_variant(vm, thread, pc, site, best_op));
}

static dv_thread *owner_of(dv_vm *vm, const dv_cell *ip) {
    dv_thread *running = dv_frame_thread(vm->fp);
    if (dv_thread_owns(running, ip)) return running;
    for (dv_thread *thread = vm->codes; thread; thread = thread->next)
        if (thread->cells && dv_thread_owns(thread, ip)) return thread;
    return NULL;
}

void dv_site_put(dv_vm *vm, dv_thread *thread, dv_cell *ip, uint32_t op) {
    uint32_t old = dv_op_of(vm, ip->h);
    const dv_op_info *before = old < DV_OP_COUNT ? &dv_op_infos[old] : NULL;
    const dv_op_info *after = &dv_op_infos[op];
    if (DV_UNLIKELY(vm->hooks.inspect.changed != NULL)) vm->hooks.inspect.changed(vm, ip, old, op);
    ip->h = dv_handler_of(vm, ip, dv_op_variant(vm, NULL, 0, ip, op));
    const bool looks_around =
        after->fusion_count ||
        (after->variant_count && dv_variants[after->first_variant].behind_count);
    if (!(before && before->fusion_count) && !looks_around) return;
    if (!thread) thread = owner_of(vm, ip);
    if (!thread) return;
    uint32_t pc = dv_thread_pc(thread, ip);
    if (before && before->fusion_count) unfuse(vm, thread, pc, before);
    if (!looks_around) return;
    ip->h = dv_handler_of(vm, ip, dv_op_variant(vm, thread, pc, ip, op));
    fuse(vm, thread, pc, after);
}
