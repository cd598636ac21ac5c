/* promise.c: what a loop promises: the derivatives in its INCA code say which of its work could be
 * done without boxes.
 *
 * Invariants
 *  1. This costs a twentieth of an analysis, and decides only when a loop is analysed, not what
 * becomes of it: sites that never ran and calls count for nothing, but
 *     for functions that may be inlined. */
#include "region/promise.h"

#include "region/operator.h"
#include "types/function.h"

typedef enum verdict { UNKNOWN, TYPED, BOXED } verdict;

enum { MOST_LOOPS = 16, HEAVIEST = 512, MOST_CALLS = 2 };

/* The loops within the loop, and itself. */
typedef struct loops {
    uint32_t head[MOST_LOOPS], back[MOST_LOOPS];
    uint32_t count;
} loops;

static uint32_t words_at(const dv_code *code, uint32_t pc) {
    uint32_t n = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return n > 1 ? n : 1;
}

static loops find_loops(const dv_code *code, uint32_t begin, uint32_t end) {
    loops found = {.count = 0};
    for (uint32_t pc = begin; pc < end && found.count < MOST_LOOPS; pc += words_at(code, pc))
        if ((code->words[pc] & 0xFF) == DV_OP_JUMP_BACK) {
            found.head[found.count] = code->words[pc] >> 8;
            found.back[found.count++] = pc;
        }
    return found;
}

static uint32_t weight_at(const loops *in, uint32_t pc) {
    uint32_t weight = 1;
    for (uint32_t i = 0; i < in->count && weight < HEAVIEST; i++)
        if (in->head[i] <= pc && pc <= in->back[i]) weight *= 8;
    return weight;
}

static bool is_number(uint32_t type) {
    return type == DV_RESULT_INT || type == DV_RESULT_FLOAT || type == DV_RESULT_COMPLEX;
}

static verdict judge_seen(const dv_site *site) {
    return site->seen == DV_SEEN_INT || site->seen == DV_SEEN_FLOAT ? TYPED : BOXED;
}

static verdict judge_derivative(uint32_t op, const dv_site *site) {
    const dv_op_info *info = &dv_op_infos[op];
    switch (info->family) {
    case DV_OP_FOR_ITER: return is_number(info->result) ? TYPED : judge_seen(site);
    case DV_OP_LOAD_ATTR:
        if (op == DV_OP_LOAD_ATTR_MODULE) return UNKNOWN;
        return is_number(info->result) ? TYPED : judge_seen(site);
    case DV_OP_LOAD_GLOBAL:
    case DV_OP_LOAD_GLOBAL_CALLEE:
    case DV_OP_LOAD_METHOD:
    case DV_OP_STORE_ATTR:
    case DV_OP_GET_ITER:
    case DV_OP_CALL:
    case DV_OP_CALL_METHOD:
    case DV_OP_JUMP_BACK:
    case DV_OP_JUMP_IF_FALSE:
    case DV_OP_JUMP_IF_TRUE: return UNKNOWN;
    default: break;
    }
    return is_number(info->types[0]) || is_number(info->types[1]) || is_number(info->types[2])
               ? TYPED
               : BOXED;
}

static verdict judge(dv_vm *vm, const dv_cell *cell, uint32_t generic, uint32_t op) {
    if (op >= DV_OP_COUNT) return UNKNOWN; /* an extension's */
    const dv_site *site = &cell[1].site;
    if (dv_operator_is_entered(vm, cell)) return UNKNOWN;
    if (dv_op_infos[op].kind == DV_KIND_DERIVATIVE) return judge_derivative(op, site);
    if (op == generic) return BOXED;
    /* What extensions' objects have, constants and functions with raw arguments, has no
     * derivatives. */
    bool foreign = generic == DV_OP_LOAD_METHOD || generic == DV_OP_LOAD_ATTR ||
                   generic == DV_OP_CALL || generic == DV_OP_CALL_METHOD;
    bool found_nothing = site->reason != DV_REASON_COVERED && site->backoff > 0;
    return found_nothing && !foreign ? BOXED : UNKNOWN;
}

typedef struct scan {
    dv_vm *vm;
    dv_promise *promise;
    uint32_t heaviest;
    int depth; /* of calls */
} scan;

static void scan_code(scan *s, const dv_thread *thread, uint32_t begin, uint32_t end,
                      uint32_t weight);

/* The function that the site loads to be called, or enters itself; EMPTY: none. */
static dv_value callee_of(dv_vm *vm, const dv_cell *cell, uint32_t op) {
    if (op != DV_OP_LOAD_METHOD_SHAPE && op != DV_OP_LOAD_GLOBAL_CALLEE_CELL)
        return dv_operator_met(vm, cell);
    const dv_cell *cache = cell + dv_op_infos[op].cache_cell + (op == DV_OP_LOAD_METHOD_SHAPE);
    return ((const dv_global_cell *)cache->p)->value;
}

/* What is called there is part of the loop, if it may be inlined. */
static void scan_callee(scan *s, const dv_cell *cell, uint32_t op, const dv_thread *caller,
                        uint32_t weight) {
    const dv_value callee = callee_of(s->vm, cell, op);
    if (dv_is_empty(callee) || !dv_is_function(callee) || s->depth >= MOST_CALLS) return;
    const dv_thread *thread = dv_function_thread(dv_as_function(callee));
    const dv_code *code = thread->code;
    if (thread == caller || !thread->warm || code->word_count > DV_INLINE_WORDS ||
        code->exception_count || code->flags & DV_CODE_HAS_LOOP)
        return;
    s->depth++;
    scan_code(s, thread, 0, code->word_count, weight);
    s->depth--;
}

static void count_yield(scan *s, uint32_t pc, uint32_t weighs) {
    weighs *= DV_YIELD_WEIGHS;
    s->promise->boxed += weighs;
    if (weighs > s->heaviest) s->heaviest = weighs, s->promise->pc = pc;
}

static void scan_code(scan *s, const dv_thread *thread, uint32_t begin, uint32_t end,
                      uint32_t weight) {
    const dv_code *code = thread->code;
    const loops within = find_loops(code, begin, end);
    for (uint32_t pc = begin; pc < end; pc += words_at(code, pc)) {
        const dv_cell *cell = thread->cells + thread->cell_at[pc];
        uint32_t generic = code->words[pc] & 0xFF;
        if (dv_op_yields(generic)) count_yield(s, pc, weight * weight_at(&within, pc));
        if (dv_op_infos[generic].adaptive == generic) continue;
        uint32_t op = dv_op_of(s->vm, cell->h), weighs = weight * weight_at(&within, pc);
        verdict v = judge(s->vm, cell, generic, op);
        if (v == UNKNOWN) {
            scan_callee(s, cell, op, thread, weighs);
            continue;
        }
        *(v == TYPED ? &s->promise->typed : &s->promise->boxed) += weighs;
        if (v == BOXED && weighs > s->heaviest && s->depth == 0)
            s->heaviest = weighs, s->promise->pc = pc;
    }
}

dv_promise dv_region_promise(dv_vm *vm, const dv_thread *thread, uint32_t head, uint32_t back) {
    dv_promise promise = {.pc = back};
    scan s = {.vm = vm, .promise = &promise};
    scan_code(&s, thread, head, back + 1, 1);
    return promise;
}
