/* drop.c: operands that a derivative does not need are not loaded (occurrence.h;
 * vm/plugin/README.md).
 *
 * Nothing is deleted: the load pushes EMPTY instead, and loads directly in front of the site become
 * one instruction in the first one's cell.  A jump between them finds the others as they were, and
 * the derivative takes what it does not need in either form.
 *
 * A tuple or slice of constants is made by several instructions that follow each other, of which
 * nobody else sees anything: the first one's cell pushes EMPTY and goes on behind the last one.
 *
 * Conditions.  Nothing copies the value.  The load is a constant, whatever else lies in between; a
 * local to which nothing stores in between, or a global under the assumption that it keeps its
 * value: then control must come straight from the load to the site.
 *
 * Invariants
 *  1. While a load pushes EMPTY, its site has the derivative, or the handler that refills: nothing
 *     else sees these entries but what drops the stack when an exception passes.
 *  2. A global is dropped for one value in the life of a site, which the occurrence keeps: what is
 *     refilled is what was loaded, although the global may have changed meanwhile. */
#include "dv_ops.h"
#include "plugin/handlers.h"
#include "plugin/origin.h"

/* ---- May it be dropped? ---- */

static bool is_stored(const dv_code *code, uint32_t from, uint32_t to, uint32_t local) {
    for (uint32_t pc = from; pc < to; pc = dv_origin_next(code, pc)) {
        uint32_t op = code->words[pc] & 0xFF;
        bool stores = op == DV_OP_STORE_LOCAL || op == DV_OP_CLEAR_LOCAL ||
                      op == DV_OP_LEAVE_COMPREHENSION || op == DV_OP_DELETE_LOCAL;
        if (stores && code->words[pc] >> 8 == local) return true;
    }
    return false;
}

/* Is a value that is on the stack all the way perhaps used twice, as in `a + (t := 2.0)`? */
static bool is_copied(const dv_code *code, uint32_t from, uint32_t to) {
    for (uint32_t pc = from; pc < to; pc = dv_origin_next(code, pc))
        if ((code->words[pc] & 0xFF) == DV_OP_COPY) return true;
    return false;
}

dv_global_cell *dv_drop_global(dv_vm *vm, const dv_cell *load) {
    uint32_t op = dv_op_of(vm, load->h);
    if (op >= DV_OP_COUNT) return NULL;
    const dv_op_info *info = &dv_op_infos[op];
    return info->saw == DV_SAW_GLOBAL ? (dv_global_cell *)load[info->cache_cell].p : NULL;
}

static bool prepare_global(dv_vm *vm, dv_drop *drop, const char **reason) {
    drop->global = dv_drop_global(vm, drop->load);
    *reason = "an operand to be dropped is no global of the module that keeps its value";
    if (!drop->global || dv_is_empty(drop->global->value) || drop->global->constant.broken)
        return false;
    drop->original = dv_retain(drop->global->value);
    return true;
}

enum { MOST_INSTRUCTIONS = 32 }; /* that make a constant key */

static bool makes_constants(uint32_t op) {
    return op == DV_OP_LOAD_CONST || op == DV_OP_LOAD_CONST_B || op == DV_OP_BUILD_SLICE ||
           op == DV_OP_BUILD_TUPLE || op == DV_OP_BUILD_KEY;
}

/* The first of the instructions that follow each other and make what the last one pushes of nothing
 * but constants; DV_NO_PC: there are none. */
static uint32_t group_start(const dv_code *code, uint32_t last) {
    uint32_t pcs[MOST_INSTRUCTIONS], count = 0, missing = 1;
    for (uint32_t pc = 0; pc <= last; pc = dv_origin_next(code, pc)) {
        if (!makes_constants(code->words[pc] & 0xFF)) {
            count = 0;
            continue;
        }
        if (count == MOST_INSTRUCTIONS) memmove(pcs, pcs + 1, --count * sizeof *pcs);
        pcs[count++] = pc;
    }
    while (count-- > 0) {
        uint32_t op = code->words[pcs[count]] & 0xFF;
        bool builds = op == DV_OP_BUILD_SLICE || op == DV_OP_BUILD_TUPLE || op == DV_OP_BUILD_KEY;
        missing += builds ? code->words[pcs[count]] >> 8 : 0;
        if (--missing == 0) return pcs[count];
    }
    return DV_NO_PC;
}

/* `value` is what the instruction has made this time; the next time it would be equal. */
static bool prepare_group(dv_thread *thread, uint32_t last, uint32_t site, dv_value value,
                          dv_drop *drop, const char **reason) {
    *reason = "an operand to be dropped is not made of constants, directly in front of its use";
    bool direct = dv_origin_next(thread->code, last) == site;
    uint32_t start = direct ? group_start(thread->code, last) : DV_NO_PC;
    if (start == DV_NO_PC) return false;
    uint32_t cells = thread->cell_at[site] - thread->cell_at[start];
    if (cells < DV_LEAST_GROUP || cells > DV_MOST_GROUP) return false;
    drop->load = thread->cells + thread->cell_at[start];
    drop->cells = cells;
    drop->original = dv_retain(value);
    return true;
}

bool dv_drop_prepare(dv_vm *vm, dv_thread *thread, uint32_t load, uint32_t site, uint32_t straight,
                     dv_value value, dv_drop *drop, const char **reason) {
    const dv_code *code = thread->code;
    uint32_t op = code->words[load] & 0xFF, local = code->words[load] >> 8;
    *drop = (dv_drop){.load = thread->cells + thread->cell_at[load], .original = DV_EMPTY};
    *reason = "a value is copied between an operand to be dropped and its use";
    if (is_copied(code, load, site)) return false;
    switch (op) {
    case DV_OP_LOAD_CONST:
    case DV_OP_LOAD_CONST_B: drop->original = dv_retain(drop->load[1].v); return true;
    case DV_OP_BUILD_SLICE:
    case DV_OP_BUILD_TUPLE:
    case DV_OP_BUILD_KEY: return prepare_group(thread, load, site, value, drop, reason);
    case DV_OP_LOAD_LOCAL:
    case DV_OP_LOAD_LOCAL_B:
        *reason = "an operand to be dropped is a local that is stored to in between";
        drop->local = drop->load[1].i;
        if (is_stored(code, load, site, local)) return false;
        break;
    case DV_OP_LOAD_GLOBAL:
    case DV_OP_LOAD_GLOBAL_CALLEE:
        if (!prepare_global(vm, drop, reason)) return false;
        break;
    default:
        *reason = "an operand to be dropped is neither constant, local nor global";
        return false;
    }
    if (load >= straight && load < site) return true;
    *reason = "the code branches between an operand to be dropped and its use";
    dv_value original = drop->original;
    drop->original = DV_EMPTY;
    dv_release(vm, original);
    return false;
}

/* ---- Loads ---- */

static bool is_callee(dv_vm *vm, const dv_drop *drop) {
    return dv_op_infos[dv_op_of(vm, drop->was)].family == DV_OP_LOAD_GLOBAL_CALLEE;
}

/* How many dropped loads stand directly in front of the site, the last ones first in the list. */
static uint32_t adjacent(const dv_extension_site *o, dv_drop *const *drops, uint32_t count) {
    uint32_t n = 0;
    while (n < count && n < 3 && !drops[n]->global &&
           drops[n]->load == o->cell - DV_DROP_LENGTH * (n + 1))
        n++;
    return n;
}

void dv_drop_install(dv_vm *vm, dv_extension_site *o) {
    dv_drop *dropped[DV_MOST_OPERANDS];
    uint32_t count = 0;
    for (uint32_t i = DV_MOST_OPERANDS; i-- > 0;)
        if (o->drops[i].load) dropped[count++] = &o->drops[i];
    for (uint32_t i = 0; i < count; i++) {
        dv_drop *drop = dropped[i];
        dv_extension_handler which = DV_X_dropped_1;
        drop->was = drop->load->h;
        if (drop->cells)
            which =
                (dv_extension_handler)(DV_X_dropped_group_5 + (int)drop->cells - DV_LEAST_GROUP);
        if (drop->global) which = is_callee(vm, drop) ? DV_X_dropped_callee : DV_X_dropped_global;
        drop->now = dv_extension_handler_of(vm, drop->load, which);
    }
    uint32_t group = adjacent(o, dropped, count);
    if (group > 1)
        dropped[group - 1]->now = dv_extension_handler_of(
            vm, dropped[group - 1]->load, group == 2 ? DV_X_dropped_2 : DV_X_dropped_3);
    for (uint32_t i = 0; i < count; i++) dropped[i]->load->h = dropped[i]->now;
    o->unloads |= count > 0;
}

void dv_drop_restore(dv_extension_site *o) {
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) {
        dv_drop *drop = &o->drops[i];
        if (drop->load && drop->load->h == drop->now) drop->load->h = drop->was;
    }
}

bool dv_drop_covers(const dv_extension_site *former, const dv_extension_site *o) {
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) {
        const dv_drop *before = &former->drops[i], *now = &o->drops[i];
        /* (A tuple or slice that has been made again is equal.) */
        bool same = before->load == now->load &&
                    (before->cells || before->original.bits == now->original.bits);
        if (before->load && !same) return false;
    }
    return true;
}

/* Operand 0 of a CALL is the callee, which stands elsewhere (operate.c). */
void dv_drop_refill(const dv_extension_site *o, const dv_cell *ip, dv_value *operands,
                    const dv_value *fp) {
    bool call = o->kind == DVX_SITE_CALL || o->kind == DVX_SITE_METHOD;
    uint8_t own = call || o->family == DV_OP_LOAD_METHOD ? 0xFF : ip[1].extended.own;
    for (uint32_t i = o->kind == DVX_SITE_CALL; i < o->seen.count; i++) {
        const dv_drop *drop = &o->drops[i];
        if (!drop->load || !dv_is_empty(operands[i])) continue;
        operands[i] = dv_is_empty(drop->original)
                          ? *(const dv_value *)(const void *)((const char *)fp + drop->local)
                          : drop->original;
        if (own >> i & 1) dv_retain(operands[i]);
    }
}
