/* site.c: life of a site (site.h). */
#include "quicken/site.h"

#include "dv_ops.h"
#include "quicken/choose.h"
#include "quicken/fuse.h"
#include "quicken/polymorphic.h"
#include "run/thread.h"

_Static_assert((uint32_t)DV_SITE_WAIT << DV_SITE_BACKOFF <= UINT16_MAX, "dv_site.wait has 16 bits");

/* Not in step with operands that change in turn, or a site would see the same ones each time. */
static uint16_t waiting(uint8_t backoff) {
    return (uint16_t)(((uint32_t)DV_SITE_WAIT
                       << (backoff < DV_SITE_BACKOFF ? backoff : DV_SITE_BACKOFF)) -
                      backoff);
}

void dv_site_become(dv_vm *vm, dv_cell *ip, uint32_t op) {
    dv_site_put(vm, NULL, ip, op);
    ip[1].site.misses = DV_SITE_MISSES;
    ip[1].site.reason = DV_REASON_NONE;
}

/* Has an extension made the site a derivative?  Only those whose objects are here are asked. */
static bool is_specialised(dv_vm *vm, dv_cell *ip) {
    const dv_op_info *info = &dv_op_infos[dv_op_of(vm, ip->h)];
    if (!dv_op_infos[info->family].open) return false; /* (calls: choose_call.c) */
    for (int i = 1; i <= info->inputs; i++)
        if (dv_is_foreign(vm->sp[-i])) return vm->hooks.plugin.site(vm, ip);
    return false;
}

static void wait(dv_vm *vm, dv_cell *ip) {
    dv_site *site = &ip[1].site;
    uint32_t adaptive = dv_op_infos[dv_op_of(vm, ip->h)].adaptive;
    site->reason = DV_REASON_TYPES;
    site->wait = waiting(site->backoff);
    if (site->backoff < DV_SITE_BACKOFF) site->backoff++;
    dv_site_put(vm, NULL, ip, adaptive);
}

void dv_site_unsuitable(dv_vm *vm, dv_cell *ip) {
    if (!is_specialised(vm, ip)) wait(vm, ip);
}

void dv_site_covered(dv_vm *vm, dv_cell *ip) {
    if (ip[1].site.backoff > 0) return;
    wait(vm, ip);
    ip[1].site.reason = DV_REASON_COVERED;
}

void dv_site_megamorphic(dv_vm *vm, dv_cell *ip) {
    dv_site_put(vm, NULL, ip, dv_op_infos[dv_op_of(vm, ip->h)].family);
    ip[1].site.reason = DV_REASON_MEGAMORPHIC;
}

uint32_t dv_site_family(dv_vm *vm, const dv_cell *ip) {
    uint32_t op = dv_op_of(vm, ip->h);
    return op < DV_OP_COUNT ? dv_op_infos[op].family : op;
}

dv_cell *dv_site_cache(dv_vm *vm, dv_cell *ip) {
    return ip + dv_op_infos[dv_op_of(vm, ip->h)].cache_cell;
}

void dv_site_refuse(dv_vm *vm, dv_cell *ip, dv_reason reason) {
    uint8_t before = ip[1].site.reason;
    if (before == DV_REASON_SHAPES || before == DV_REASON_ENTRIES) {
        dv_site_megamorphic(vm, ip);
        return;
    }
    if (is_specialised(vm, ip)) return;
    wait(vm, ip);
    ip[1].site.reason = (uint8_t)reason;
}

static void choose_shape(dv_vm *vm, dv_cell *ip) {
    ip[1].site.wait = 0;
    switch (dv_op_infos[dv_op_of(vm, ip->h)].family) {
    case DV_OP_LOAD_ATTR: dv_choose_attribute(vm, ip, vm->sp); break;
    case DV_OP_STORE_ATTR: dv_choose_store_attribute(vm, ip, vm->sp); break;
    default: dv_choose_method(vm, ip, vm->sp); break;
    }
}

void dv_site_missed(dv_vm *vm, dv_cell *ip, uint32_t adaptive_op) {
    dv_site *site = &ip[1].site;
    if (DV_UNLIKELY(vm->hooks.inspect.missed != NULL)) vm->hooks.inspect.missed(vm);
    if (site->misses > 0 && --site->misses > 0) return;
    bool keeps_more = dv_poly_begins(ip, dv_op_of(vm, ip->h));
    dv_site_put(vm, NULL, ip, adaptive_op);
    if (keeps_more) {
        /* Now, while the object that it has no entry for is there: at its next execution it may
         * be one that it knows already, again and again. */
        choose_shape(vm, ip);
        return;
    }
    site->wait = waiting(site->backoff);
    if (site->backoff < DV_SITE_BACKOFF) site->backoff++;
}

void dv_site_reconsider(dv_vm *vm, dv_thread *thread, dv_cell *ip) {
    uint32_t op = dv_op_of(vm, ip->h);
    if (op >= DV_OP_COUNT || dv_op_infos[op].kind != DV_KIND_DERIVATIVE ||
        dv_op_infos[op].family == DV_OP_JUMP_BACK)
        return;
    if (dv_is_poly(op)) {
        dv_poly_forget(vm, thread, ip, op);
        return;
    }
    dv_site_put(vm, thread, ip, dv_op_infos[op].adaptive);
    ip[1].site.wait = 0;
}

void dv_quicken_warm(dv_vm *vm, dv_object *object) {
    dv_thread *thread = (dv_thread *)object;
    if (thread->warm || !thread->cells) return;
    thread->warm = true;
    if (DV_UNLIKELY(vm->hooks.inspect.warmed != NULL)) vm->hooks.inspect.warmed(vm, thread);
    dv_thread_enter_at(vm, thread, thread->cells + dv_op_infos[DV_OP_ENTER].length);
    const dv_code *code = thread->code;
    for (uint32_t pc = 0; pc < code->word_count;) {
        uint32_t op = code->words[pc] & 0xFF;
        const dv_op_info *info = &dv_op_infos[op];
        dv_cell *cell = thread->cells + thread->cell_at[pc];
        if (op == DV_OP_JUMP_BACK) {
            bool counts = vm->level == DV_LEVEL_NAMA;
            cell->h =
                dv_handler_of(vm, cell, counts ? DV_OP_JUMP_BACK_COUNT : DV_OP_JUMP_BACK_QUIET);
            const uint16_t wait = vm->stress.quicken_at_once ? 2 : DV_HOT_ITERATIONS;
            cell[1].site.wait = counts ? wait : 0;
        } else if (info->adaptive != op) {
            cell->h = dv_handler_of(vm, cell, info->adaptive);
        }
        pc += info->operand_count > 1 ? info->operand_count : 1;
    }
    if (vm->hooks.region.warmed) vm->hooks.region.warmed(vm, object);
}

static bool depends_on_classes(uint32_t op) { return op < DV_OP_COUNT && dv_op_infos[op].of_class; }

/* Rare, and so for all sites at once; regions with such sites depend on the assumption. */
static void forget_classes(dv_vm *vm) {
    dv_assumption_break(vm, &vm->class_sites);
    for (dv_thread *thread = vm->codes; thread; thread = thread->next) {
        const dv_code *code = thread->code;
        for (uint32_t pc = 0; thread->warm && pc < code->word_count;) {
            const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
            dv_cell *cell = thread->cells + thread->cell_at[pc];
            if (depends_on_classes(dv_op_of(vm, cell->h))) dv_site_reconsider(vm, thread, cell);
            pc += info->operand_count > 1 ? info->operand_count : 1;
        }
    }
}

void dv_quicken_setup(dv_vm *vm) {
    vm->hooks.quicken.warm = dv_quicken_warm;
    vm->hooks.quicken.forget_classes = forget_classes;
}
