/* liveness.c: which locals a program may still read: backwards over the code until nothing changes.
 *
 * Invariants
 *  1. Sets only grow, so the number of rounds is bounded.  After the first round only what lies
 *     between the targets of backward ways and their origins can change, and it does only if such a
 *     target's set has grown since it was looked at.
 *  2. Whatever names a local and is not a plain store (or clears it) counts as reading it: deleting
 *     (which raises if it is unassigned), and everything about cells.
 *  3. An instruction that an exception handler covers may go on there, before its own effect or
 *     behind it. */
#include "code/liveness.h"

#include "dv_ops.h"

enum { MOST_BACKWARD = 32 };

typedef struct flow {
    const dv_code *code;
    uint64_t *live;
    uint32_t first, end; /* pcs between which backward ways lie */
    bool grown; /* the set at the target of one was another when it was looked at in this round */
    uint32_t count;
    struct {
        uint32_t target;
        uint64_t seen;
    } backward[MOST_BACKWARD]; /* of this round */
} flow;

/* What is needed where control goes on from pc. */
static uint64_t needed_behind(flow *f, uint32_t pc, uint32_t target) {
    uint64_t set = f->live[target];
    if (target > pc) return set;
    if (target < f->first) f->first = target;
    if (pc >= f->end) f->end = pc + 1;
    if (f->count < MOST_BACKWARD) {
        f->backward[f->count].target = target;
        f->backward[f->count++].seen = set;
    } else {
        f->grown = true; /* too many to be remembered: until nothing changes at all */
    }
    return set;
}

/* The locals that free variables of an inner function begin with. */
static uint64_t locals_taken(const dv_code *code, uint32_t constant) {
    const dv_code *inner = code->constants[constant].as.code;
    uint64_t set = 0;
    for (uint32_t i = 0; i < inner->free_count; i++) {
        const uint32_t local = inner->free_from[i] & ~DV_FREE_VALUE;
        if (local < DV_LIVENESS_LOCALS) set |= UINT64_C(1) << local;
    }
    return set;
}

/* What the instruction at pc needs, from what is needed at the places where control goes on. */
static uint64_t needed_at(flow *f, uint32_t pc) {
    const dv_code *code = f->code;
    const uint32_t op = code->words[pc] & 0xFF;
    const dv_op_info *info = &dv_op_infos[op];
    const uint32_t count = info->operand_count;
    uint64_t set = info->ends ? 0 : f->live[pc + (count > 1 ? count : 1)], read = 0;
    uint32_t i = 0;
    do { /* most have one or none, which then is none of the two */
        const uint32_t operand = i == 0 ? code->words[pc] >> 8 : code->words[pc + i];
        if (info->operands[i] == DV_OPERAND_JUMP) {
            set |= needed_behind(f, pc, operand);
        } else if (info->operands[i] == DV_OPERAND_LOCAL && operand < DV_LIVENESS_LOCALS) {
            if (op == DV_OP_STORE_LOCAL || op == DV_OP_CLEAR_LOCAL ||
                op == DV_OP_LEAVE_COMPREHENSION)
                set &= ~(UINT64_C(1) << operand);
            else
                read |= UINT64_C(1) << operand;
        }
    } while (++i < count);
    if (op == DV_OP_MAKE_CLOSURE || op == DV_OP_MAKE_CLOSURE_BY_VALUE)
        read |= locals_taken(code, code->words[pc] >> 8);
    const dv_exception_entry *handler = code->exception_count ? dv_code_handler(code, pc) : NULL;
    return set | read | (handler ? needed_behind(f, pc, handler->handler) : 0);
}

/* One round, backwards; true: another one may change something. */
static bool go_round(flow *f, uint32_t first, uint32_t end) {
    bool changed = false;
    f->count = 0, f->grown = false;
    for (uint32_t pc = end; pc-- > first;) {
        if (f->code->state_at[pc] == DV_NO_STATE) continue;
        uint64_t set = needed_at(f, pc);
        changed |= set != f->live[pc];
        f->live[pc] = set;
    }
    if (f->grown) return changed;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->live[f->backward[i].target] != f->backward[i].seen) return true;
    return false;
}

void dv_code_liveness(const dv_code *code, uint64_t *live) {
    /* Local 0 of a class is read by other instructions, too; what sees the frame reads all. */
    bool all = code->flags & (DV_CODE_CLASS | DV_CODE_SEES_FRAME);
    for (uint32_t pc = 0; pc < code->word_count; pc++) live[pc] = all ? UINT64_MAX : 0;
    if (all) return;
    flow f = {.code = code, .live = live, .first = code->word_count};
    if (!go_round(&f, 0, code->word_count)) return;
    while (go_round(&f, f.first, f.end)) continue;
    go_round(&f, 0, f.first); /* what lies before all loops has seen them unfinished */
}
