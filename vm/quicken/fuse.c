/* fuse.c: fusions come and go with the derivatives that they include (fuse.h). */
#include "quicken/fuse.h"

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

static uint32_t next(const dv_thread *thread, uint32_t pc) {
    uint32_t words = dv_op_infos[op_at(thread, pc)].operand_count;
    return pc + (words > 1 ? words : 1);
}

/* The cell of the first load of a fusion with the derivative at pc; NULL: the instructions around
 * pc are others. */
static dv_cell *place_of(const dv_thread *thread, uint32_t pc, const dv_op_info *fusion) {
    if (fusion->stores) {
        uint32_t behind = next(thread, pc);
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

/* Forms of derivatives and fusions that do the work of the instructions behind them, too, where
 * these have become what they say; to everybody else they are `plain` (run/thread.c). */
typedef struct form {
    uint32_t plain, longer, behind[3];
} form;
static const form forms[] = {
    {DV_OP_LOAD_METHOD_SHAPE, DV_OP_LOAD_METHOD_SHAPE_CALL, {DV_OP_CALL_METHOD, DV_OP_COUNT}},
    {DV_OP_LOAD_METHOD_POLY, DV_OP_LOAD_METHOD_POLY_CALL, {DV_OP_CALL_METHOD, DV_OP_COUNT}},
    {DV_OP_O_LOAD_METHOD_SHAPE, DV_OP_O_LOAD_METHOD_SHAPE_CALL, {DV_OP_CALL_METHOD, DV_OP_COUNT}},
    {DV_OP_O_LOAD_METHOD_POLY, DV_OP_O_LOAD_METHOD_POLY_CALL, {DV_OP_CALL_METHOD, DV_OP_COUNT}},
    {DV_OP_L_LOAD_ATTR_SLOT,
     DV_OP_L_LOAD_ATTR_SLOT_TWICE,
     {DV_OP_LOAD_LOCAL_B, DV_OP_LOAD_ATTR, DV_OP_COUNT}},
    {DV_OP_L_LOAD_ATTR_SLOT, DV_OP_L_LOAD_ATTR_SLOT_CHAIN, {DV_OP_LOAD_ATTR, DV_OP_COUNT}},
    {DV_OP_LOAD_GLOBAL_CALLEE_BUILTIN,
     DV_OP_LOAD_GLOBAL_CALLEE_ISINSTANCE,
     {DV_OP_LOAD_LOCAL, DV_OP_LOAD_GLOBAL, DV_OP_CALL}},
};

static bool is_behind(const dv_thread *thread, uint32_t pc, const uint32_t behind[3]) {
    for (int i = 0; i < 3 && behind[i] != DV_OP_COUNT; i++) {
        pc = next(thread, pc);
        if (pc >= thread->code->word_count || op_at(thread, pc) != behind[i]) return false;
        const dv_cell *cell = thread->cells + thread->cell_at[pc];
        if (behind[i] == DV_OP_CALL_METHOD && cell[2].i != 0) return false; /* has arguments */
    }
    return true;
}

/* The form that the derivative at pc, or the fusion with it, takes there.  (Who counts what is
 * executed sees each by itself.) */
static uint32_t form_at(const dv_vm *vm, const dv_thread *thread, uint32_t pc, uint32_t op) {
    if (DV_UNLIKELY(vm->hooks.step != NULL)) return op;
    if (op == DV_OP_LOAD_METHOD_SHAPE || op == DV_OP_O_LOAD_METHOD_SHAPE) {
        const dv_cell *site = thread->cells + thread->cell_at[pc];
        const uint32_t callee = (uint32_t)site[dv_op_infos[op].cache_cell].s.b;
        if (callee != DV_T_FUNCTION) return op; /* nothing to enter */
    }
    for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].plain == op && is_behind(thread, pc, forms[i].behind)) return forms[i].longer;
    return op;
}

uint32_t dv_form_behind(uint32_t op) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].longer == op)
            while (count < 3 && forms[i].behind[count] != DV_OP_COUNT) count++;
    return count;
}

/* Takes away what fusions with the site's old form left in the cells of loads. */
static void unfuse(dv_vm *vm, dv_thread *thread, uint32_t pc, const dv_op_info *old) {
    for (uint32_t i = 0; i < old->fusion_count; i++) {
        uint32_t op = old->first_fusion + i;
        const dv_op_info *fusion = &dv_op_infos[op];
        dv_cell *place = place_of(thread, pc, fusion);
        if (!place || dv_op_of(vm, place->h) != op) continue; /* also where its form is longer */
        const uint32_t load = fusion->loads[fusion->load_count - 1];
        place->h = dv_handler_of(vm, place, dv_op_threaded(place, load));
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
    if (best) best->h = dv_handler_of(vm, best, form_at(vm, thread, pc, best_op));
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
    if (DV_UNLIKELY(vm->hooks.changed != NULL)) vm->hooks.changed(vm, ip, old, op);
    ip->h = dv_handler_of(vm, ip, dv_op_threaded(ip, op));
    const bool may_be_longer = after->fusion_count || op == DV_OP_LOAD_GLOBAL_CALLEE_BUILTIN;
    if (!(before && before->fusion_count) && !may_be_longer) return;
    if (!thread) thread = owner_of(vm, ip);
    if (!thread) return;
    uint32_t pc = dv_thread_pc(thread, ip);
    if (before && before->fusion_count) unfuse(vm, thread, pc, before);
    if (!may_be_longer) return;
    uint32_t longer = form_at(vm, thread, pc, op);
    if (longer != op) ip->h = dv_handler_of(vm, ip, longer);
    fuse(vm, thread, pc, after);
}
