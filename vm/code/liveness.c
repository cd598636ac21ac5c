/* liveness.c: which locals a program may still read: backwards over the code until nothing changes.
 *
 * Invariants
 *  1. Sets only grow, so the number of rounds is bounded; one round more than the deepest nesting
 *     of loops is enough.
 *  2. Whatever names a local and is not a plain store counts as reading it: deleting (which raises
 *     if it is unassigned), and everything about cells.
 *  3. An instruction that an exception handler covers may go on there, before its own effect or
 *     behind it. */
#include "code/liveness.h"

#include "dv_ops.h"

static uint32_t words_of(uint32_t op) {
    return dv_op_infos[op].operand_count > 1 ? dv_op_infos[op].operand_count : 1;
}

static uint32_t operand_of(const dv_code *code, uint32_t pc, uint32_t i) {
    return i == 0 ? code->words[pc] >> 8 : code->words[pc + i];
}

/* What the instruction at pc needs, from what is needed at the places where control goes on. */
static uint64_t needed_at(const dv_code *code, const uint64_t *live, uint32_t pc) {
    uint32_t op = code->words[pc] & 0xFF;
    const dv_op_info *info = &dv_op_infos[op];
    uint64_t set = info->ends ? 0 : live[pc + words_of(op)], read = 0;
    for (uint32_t i = 0; i < info->operand_count; i++) {
        uint32_t operand = operand_of(code, pc, i);
        if (info->operands[i] == DV_OPERAND_JUMP) set |= live[operand];
        if (info->operands[i] != DV_OPERAND_LOCAL || operand >= DV_LIVENESS_LOCALS) continue;
        if (op == DV_OP_STORE_LOCAL)
            set &= ~(UINT64_C(1) << operand);
        else
            read |= UINT64_C(1) << operand;
    }
    const dv_exception_entry *handler = code->exception_count ? dv_code_handler(code, pc) : NULL;
    return set | read | (handler ? live[handler->handler] : 0);
}

void dv_code_liveness(const dv_code *code, uint64_t *live) {
    bool all = code->flags & DV_CODE_CLASS; /* its local 0 is read by other instructions, too */
    for (uint32_t pc = 0; pc < code->word_count; pc++) live[pc] = all ? UINT64_MAX : 0;
    for (bool changed = !all; changed;) {
        changed = false;
        for (uint32_t pc = code->word_count; pc-- > 0;) {
            if (code->state_at[pc] == DV_NO_STATE) continue;
            uint64_t set = needed_at(code, live, pc);
            if (set == live[pc]) continue;
            live[pc] = set;
            changed = true;
        }
    }
}
