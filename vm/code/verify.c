/* verify.c: proves by data flow over the instructions that a code object cannot break the machine.
 *
 * What is proved, for every path, exception edges included:
 *  1. Words are well formed: known opcodes, operands within their tables, jumps to instructions.
 *  2. At each pc the operand stack has one static state: depth, and for each entry whether it is
 * owned, borrowed (and covered by which local), or reserved for a call.
 *  3. `own` operands say exactly what the state says; all other inputs are owned.
 *  4. While an entry borrows from a local, the local is not stored to or deleted.
 *  5. LOAD_LOCAL and LOAD_LOCAL_B read locals that are assigned.
 *  6. Control never falls off the end.
 *  7. A local is made a cell in the prologue (the MAKE_CELL and COPY_FREE at the start, to which
 * nothing jumps and in which no exception is caught) or never; cell instructions use the former,
 * all others the latter.  Functions take their free variables from locals that hold cells.
 *
 *  8. Where an exception leaves an inlined comprehension its variables become unassigned: they are
 * no cells, and no entry that stays on the stack borrows from them.
 *
 *  9. A generator is made behind the prologue, once; no entry borrows from a local where it is
 * suspended; it does not RETURN.
 *
 * States are hash-consed in a tree (code.h), so equal stacks are equal numbers and a join is one
 * compare. */
#include "code/verify.h"

#include <stdio.h>
#include <string.h>

#include "dv_ops.h"

typedef struct verifier {
    dv_unit *unit;
    const dv_code *code;
    char *message;
    size_t message_size;
    dv_code_fault *fault;
    dv_stack_state *states;
    uint32_t state_count, state_capacity;
    uint32_t *buckets; /* hash of (below, kind, local) -> first state + 1 */
    uint32_t *chain;   /* next state with the same hash + 1 */
    uint32_t bucket_mask;
    uint32_t *state_at;
    uint64_t *assigned; /* set_words words for each pc */
    uint32_t set_words;
    uint32_t *work; /* pcs to visit */
    uint32_t work_count;
    uint8_t *queued;
    uint8_t *starts; /* is there an instruction at this pc? */
    uint64_t *current, *kept;
    uint64_t *cells; /* set of the locals that hold cells behind the prologue */
    uint32_t prologue_end;
    uint32_t pc, max_depth;
    bool out_of_memory;
} verifier;

static bool fail(verifier *v, const char *what) {
    snprintf(v->message, v->message_size, "%.*s: pc %u: %s", (int)v->code->qualname.size,
             v->code->qualname.data, v->pc, what);
    *v->fault = (dv_code_fault){v->code, v->pc};
    return false;
}

static void *get(verifier *v, size_t size) {
    void *p = v->unit->allocate(v->unit->arena, size ? size : 1);
    if (!p) {
        v->out_of_memory = true;
        snprintf(v->message, v->message_size, "out of memory");
        return NULL;
    }
    return memset(p, 0, size);
}

/* States
 * --------------------------------------------------------------------------------------------------
 */

static uint32_t hash_state(const verifier *v, uint32_t below, uint8_t kind, uint32_t local) {
    return (below * 2654435761u ^ (local * 40503u + kind) * 2246822519u) >> 7 & v->bucket_mask;
}

static bool grow_states(verifier *v) {
    uint32_t capacity = v->state_capacity * 2;
    dv_stack_state *states = get(v, capacity * sizeof *states);
    uint32_t *chain = get(v, capacity * sizeof *chain),
             *buckets = get(v, capacity * sizeof *buckets);
    if (!states || !chain || !buckets) return false;
    memcpy(states, v->states, v->state_count * sizeof *states);
    v->states = states, v->chain = chain, v->buckets = buckets;
    v->state_capacity = capacity, v->bucket_mask = capacity - 1;
    for (uint32_t i = 1; i < v->state_count; i++) {
        uint32_t *bucket =
            &buckets[hash_state(v, states[i].below, states[i].kind, states[i].local)];
        chain[i] = *bucket;
        *bucket = i + 1;
    }
    return true;
}

/* The state `below` with one more entry; DV_NO_STATE: failed. */
static uint32_t push(verifier *v, uint32_t below, dv_slot_kind kind, uint32_t local) {
    uint32_t *bucket = &v->buckets[hash_state(v, below, kind, local)];
    for (uint32_t i = *bucket; i; i = v->chain[i - 1]) {
        const dv_stack_state *s = &v->states[i - 1];
        if (s->below == below && s->kind == kind && s->local == local) return i - 1;
    }
    if (v->states[below].depth == UINT16_MAX)
        return fail(v, "operand stack deeper than 65535"), DV_NO_STATE;
    if (v->state_count == v->state_capacity) {
        if (!grow_states(v)) return DV_NO_STATE;
        bucket = &v->buckets[hash_state(v, below, kind, local)];
    }
    uint32_t number = v->state_count++;
    v->states[number] =
        (dv_stack_state){below, local, (uint16_t)(v->states[below].depth + 1), (uint8_t)kind};
    v->chain[number] = *bucket;
    *bucket = number + 1;
    if (v->states[number].depth > v->max_depth) v->max_depth = v->states[number].depth;
    return number;
}

/* Replaces the top `count` entries of *state by nothing, each of which must be of this kind. */
static bool pop(verifier *v, uint32_t *state, uint32_t count, dv_slot_kind kind) {
    for (; count > 0; count--) {
        if (*state == 0) return fail(v, "operand stack underflow");
        const dv_stack_state *entry = &v->states[*state];
        if (entry->kind != kind) return fail(v, "an input is not owned as the instruction needs");
        *state = entry->below;
    }
    return true;
}

static bool push_owned(verifier *v, uint32_t *state, uint32_t count) {
    for (; count > 0 && *state != DV_NO_STATE; count--)
        *state = push(v, *state, DV_SLOT_OWNED, DV_NO_LOCAL);
    return *state != DV_NO_STATE;
}

/* Inputs whose ownership the mask `own` states, the top one last. */
static bool pop_masked(verifier *v, uint32_t *state, uint32_t count, uint32_t own) {
    const uint32_t op = v->code->words[v->pc] & 0xFF;
    if (dv_op_among(op, DV_OP_ADD, DV_OP_XOR)) own &= ~(uint32_t)DV_OWN_INPLACE;
    if (own >> count) return fail(v, "the own mask names inputs that there are not");
    for (uint32_t i = count; i-- > 0;) {
        if (*state == 0) return fail(v, "operand stack underflow");
        const dv_stack_state *entry = &v->states[*state];
        if (entry->kind == DV_SLOT_RESERVED) return fail(v, "a reserved entry is used as a value");
        if ((entry->kind == DV_SLOT_OWNED) != (own >> i & 1))
            return fail(v, "the own mask differs from the stack's state");
        *state = entry->below;
    }
    return true;
}

static uint32_t entry_at(verifier *v, uint32_t state, uint32_t from_top) {
    while (from_top > 1 && state != 0) state = v->states[state].below, from_top--;
    return state;
}

/* The state with the top and the n-th entry exchanged. */
static bool swap(verifier *v, uint32_t *state, uint32_t n) {
    uint32_t low = entry_at(v, *state, n);
    if (n < 2 || low == 0) return fail(v, "SWAP out of range");
    dv_stack_state top = v->states[*state], other = v->states[low];
    if (top.kind == DV_SLOT_RESERVED || other.kind == DV_SLOT_RESERVED)
        return fail(v, "SWAP of a reserved entry");
    /* Rebuild from below `low`; the entries between stay as they are. */
    dv_stack_state between[64];
    if (n - 2 > 64) return fail(v, "SWAP too deep");
    uint32_t s = v->states[*state].below;
    for (uint32_t i = 0; i < n - 2; i++) between[i] = v->states[s], s = v->states[s].below;
    uint32_t built = push(v, other.below, top.kind, top.local);
    for (uint32_t i = n - 2; i-- > 0 && built != DV_NO_STATE;)
        built = push(v, built, between[i].kind, between[i].local);
    if (built != DV_NO_STATE) built = push(v, built, other.kind, other.local);
    *state = built;
    return built != DV_NO_STATE;
}

/* Locals
 * --------------------------------------------------------------------------------------------------
 */

static bool is_assigned(const verifier *v, uint32_t local) {
    return v->current[local / 64] >> (local % 64) & 1;
}

static bool is_cell(const verifier *v, uint32_t local) {
    return v->cells[local / 64] >> (local % 64) & 1;
}

static bool check_cover(verifier *v, uint32_t state, uint32_t local) {
    for (; state != 0; state = v->states[state].below)
        if (v->states[state].kind == DV_SLOT_BORROWED && v->states[state].local == local)
            return fail(v, "a local changes while the stack borrows from it");
    return true;
}

/* Flow
 * ----------------------------------------------------------------------------------------------------
 */

/* Control may come to `target` with this stack and the current assignments. */
static bool flow(verifier *v, uint32_t target, uint32_t state) {
    if (target >= v->code->word_count || !v->starts[target])
        return fail(v, "jump or fall to what is no instruction");
    if (target < v->prologue_end && v->pc >= v->prologue_end)
        return fail(v, "jump into the prologue");
    /* Control comes there from the beginning, once, before it comes anywhere else. */
    if (target == v->prologue_end && v->code->flags & DV_CODE_GENERATOR &&
        v->state_at[target] != DV_NO_STATE)
        return fail(v, "jump to where a generator is made");
    uint64_t *known = v->assigned + (size_t)target * v->set_words;
    bool changed = false;
    if (v->state_at[target] == DV_NO_STATE) {
        v->state_at[target] = state;
        memcpy(known, v->current, v->set_words * sizeof *known);
        changed = true;
    } else {
        if (v->state_at[target] != state)
            return fail(v, "paths join with different operand stacks");
        for (uint32_t i = 0; i < v->set_words; i++) {
            uint64_t both = known[i] & v->current[i];
            changed |= both != known[i];
            known[i] = both;
        }
    }
    if (changed && !v->queued[target]) {
        v->queued[target] = 1;
        v->work[v->work_count++] = target;
    }
    return true;
}

/* With `cut` left on the stack; what is inlined around the instruction loses its variables. */
static bool flow_to_handler(verifier *v, const dv_exception_entry *entry, uint32_t cut) {
    const size_t size = v->set_words * sizeof *v->current;
    const dv_inlined_code *inlined;
    memcpy(v->kept, v->current, size);
    for (uint32_t pc = v->pc; (inlined = dv_code_inlined(v->code, pc)) != NULL; pc = inlined->call)
        for (uint32_t i = 0; i < inlined->local_count; i++) {
            const uint32_t local = inlined->first_local + i;
            if (!check_cover(v, cut, local)) return false;
            v->current[local / 64] &= ~((uint64_t)1 << local % 64);
        }
    cut = push(v, cut, DV_SLOT_OWNED, DV_NO_LOCAL);
    const bool done = cut != DV_NO_STATE && flow(v, entry->handler, cut);
    memcpy(v->current, v->kept, size);
    return done;
}

static bool flow_to_handlers(verifier *v, uint32_t state) {
    for (uint32_t i = 0; i < v->code->exception_count; i++) {
        const dv_exception_entry *e = &v->code->exceptions[i];
        if (v->pc < e->begin || v->pc >= e->end) continue;
        uint32_t cut = state;
        while (v->states[cut].depth > e->depth) cut = v->states[cut].below;
        if (v->states[cut].depth != e->depth)
            return fail(v, "an exception entry is deeper than the stack");
        return flow_to_handler(v, e, cut);
    }
    return true;
}

static uint32_t operand(const verifier *v, uint32_t i) {
    return i == 0 ? v->code->words[v->pc] >> 8 : v->code->words[v->pc + i];
}

static uint32_t own_operand(const verifier *v, const dv_op_info *info) {
    for (uint32_t i = 0; i < info->operand_count; i++)
        if (info->operands[i] == DV_OPERAND_OWN) return operand(v, i);
    return UINT32_MAX;
}

/* The call instructions: callee, two reserved entries, [self,] arguments. */
static bool effect_call(verifier *v, uint32_t *state, uint32_t arguments) {
    return pop(v, state, arguments, DV_SLOT_OWNED) && pop(v, state, 2, DV_SLOT_RESERVED) &&
           pop(v, state, 1, DV_SLOT_OWNED) && push_owned(v, state, 1);
}

static bool effect_load(verifier *v, uint32_t op, uint32_t *state) {
    uint32_t a = operand(v, 0);
    bool local = op == DV_OP_LOAD_LOCAL || op == DV_OP_LOAD_LOCAL_B;
    if (local && !is_assigned(v, a)) return fail(v, "a local is read that may be unassigned");
    if (op == DV_OP_LOAD_LOCAL_B)
        *state = push(v, *state, DV_SLOT_BORROWED, a);
    else if (op == DV_OP_LOAD_CONST_B)
        *state = push(v, *state, DV_SLOT_BORROWED, DV_NO_LOCAL);
    else
        return push_owned(v, state, 1);
    return *state != DV_NO_STATE;
}

static bool effect_store(verifier *v, uint32_t op, uint32_t *state) {
    uint32_t a = operand(v, 0);
    if (op == DV_OP_STORE_LOCAL && !pop(v, state, 1, DV_SLOT_OWNED)) return false;
    if (!check_cover(v, *state, a)) return false;
    if (op == DV_OP_STORE_LOCAL)
        v->current[a / 64] |= (uint64_t)1 << (a % 64);
    else
        v->current[a / 64] &= ~((uint64_t)1 << (a % 64));
    return true;
}

static bool push_reserved(verifier *v, uint32_t *state) {
    for (int i = 0; i < 2 && *state != DV_NO_STATE; i++)
        *state = push(v, *state, DV_SLOT_RESERVED, DV_NO_LOCAL);
    return *state != DV_NO_STATE;
}

/* Applies the instruction to *state (fall-through) and says where else control may go. */
static bool effect(verifier *v, uint32_t op, const dv_op_info *info, uint32_t *state) {
    uint32_t a = info->operand_count ? operand(v, 0) : 0, own = own_operand(v, info);
    switch (op) {
    case DV_OP_LOAD_CONST:
    case DV_OP_LOAD_CONST_B:
    case DV_OP_LOAD_LOCAL:
    case DV_OP_LOAD_LOCAL_B:
    case DV_OP_LOAD_LOCAL_CHECK:
    case DV_OP_LOAD_OUTER_CHECK: return effect_load(v, op, state);
    case DV_OP_STORE_LOCAL:
    case DV_OP_CLEAR_LOCAL:
    case DV_OP_LEAVE_COMPREHENSION:
    case DV_OP_DELETE_LOCAL: return effect_store(v, op, state);
    case DV_OP_PREPARE_CALL:
        return pop(v, state, 1, DV_SLOT_OWNED) && push_owned(v, state, 1) &&
               push_reserved(v, state);
    case DV_OP_LOAD_GLOBAL_CALLEE: return push_owned(v, state, 1) && push_reserved(v, state);
    case DV_OP_LOAD_METHOD:
        return pop(v, state, 1, DV_SLOT_OWNED) && push_owned(v, state, 1) &&
               push_reserved(v, state) && push_owned(v, state, 1);
    case DV_OP_JUMP:
    case DV_OP_JUMP_BACK: return flow(v, a, *state);
    case DV_OP_JUMP_IF_FALSE:
    case DV_OP_JUMP_IF_TRUE: return pop_masked(v, state, 1, own) && flow(v, a, *state);
    case DV_OP_JUMP_IF_BUILTIN:
        if (operand(v, 1) == DV_CONSUMER_NONE || operand(v, 1) >= DV_CONSUMERS)
            return fail(v, "JUMP_IF_BUILTIN of no builtin");
        return pop(v, state, 1, DV_SLOT_OWNED) && flow(v, a, *state);
    case DV_OP_COPY: {
        uint32_t entry = entry_at(v, *state, a);
        if (a < 1 || entry == 0 || v->states[entry].kind == DV_SLOT_RESERVED)
            return fail(v, "COPY out of range");
        return push_owned(v, state, 1);
    }
    case DV_OP_SWAP: return swap(v, state, a);
    case DV_OP_COMPARE_ITEMS:
        if (a < 2 || a % 2 || operand(v, 1) > DV_OP_NE - DV_OP_LT)
            return fail(v, "COMPARE_ITEMS of no two tuples");
        break;
    default: break;
    }
    switch ((dv_effect)info->effect) {
    case DV_EFFECT_RAISE:
        if (a > 2) return fail(v, "RAISE of more than two");
        break;
    case DV_EFFECT_CALL: return effect_call(v, state, a);
    case DV_EFFECT_CALL_METHOD: return effect_call(v, state, a + 1);
    case DV_EFFECT_CALL_EX:
        return a <= 1 ? effect_call(v, state, a + 1) : fail(v, "CALL_EX of more than two");
    case DV_EFFECT_MERGE: {
        uint32_t call = *state;
        return effect_call(v, &call, 3) && pop(v, state, 1, DV_SLOT_OWNED);
    }
    case DV_EFFECT_APPEND:
    case DV_EFFECT_ADD_PAIR: {
        if (!pop(v, state, info->effect == DV_EFFECT_APPEND ? 1 : 2, DV_SLOT_OWNED)) return false;
        uint32_t entry = entry_at(v, *state, a);
        return (a >= 1 && entry != 0 && v->states[entry].kind == DV_SLOT_OWNED) ||
               fail(v, "what grows is not on the stack");
    }
    case DV_EFFECT_JUMP_OR_POP:
        if (*state == 0 || v->states[*state].kind != DV_SLOT_OWNED)
            return fail(v, "an input is not owned");
        return flow(v, a, *state) && pop(v, state, 1, DV_SLOT_OWNED);
    case DV_EFFECT_FOR_ITER: {
        uint32_t without = *state;
        return pop(v, &without, 1, DV_SLOT_OWNED) && flow(v, a, without) && push_owned(v, state, 1);
    }
    case DV_EFFECT_SEND: {
        uint32_t without = *state;
        return pop(v, &without, 2, DV_SLOT_OWNED) && push_owned(v, &without, 1) &&
               flow(v, a, without) && pop(v, state, 2, DV_SLOT_OWNED) && push_owned(v, state, 2);
    }
    case DV_EFFECT_YIELD_FROM:
        /* Where it goes on must be the SEND whose receiver is below (run/generator.c). */
        if (a >= v->code->word_count || (v->code->words[a] & 0xFF) != DV_OP_SEND)
            return fail(v, "YIELD_FROM without its SEND");
        return pop(v, state, 1, DV_SLOT_OWNED) && *state != 0 &&
               v->states[*state].kind == DV_SLOT_OWNED && push_owned(v, state, 1) &&
               flow(v, a, *state);
    default: break;
    }
    const uint32_t m = info->operand_count > 1 ? operand(v, 1) : 0;
    const uint64_t takes = dv_op_takes(info, a, m), puts = dv_op_puts(info, a, m);
    if (takes > UINT32_MAX || puts > UINT32_MAX) return fail(v, "too many entries");
    bool popped = own != UINT32_MAX ? pop_masked(v, state, info->inputs, own)
                                    : pop(v, state, (uint32_t)takes, DV_SLOT_OWNED);
    return popped && push_owned(v, state, (uint32_t)puts);
}

/* What a generator keeps while it is suspended: values, none of them borrowed from a local. */
static bool check_suspension(verifier *v, uint32_t op, uint32_t state) {
    if (op == DV_OP_MAKE_GENERATOR && (v->pc != v->prologue_end || state != 0))
        return fail(v, "a generator is made elsewhere than behind the prologue");
    for (; state != 0; state = v->states[state].below)
        if (v->states[state].kind == DV_SLOT_BORROWED && v->states[state].local != DV_NO_LOCAL)
            return fail(v, "an entry that borrows from a local lives across a yield");
    return true;
}

static bool is_suspension(uint32_t op) {
    return op == DV_OP_MAKE_GENERATOR || op == DV_OP_YIELD || op == DV_OP_YIELD_FROM;
}

static bool visit(verifier *v, uint32_t pc) {
    v->pc = pc;
    uint32_t op = v->code->words[pc] & 0xFF, state = v->state_at[pc];
    const dv_op_info *info = &dv_op_infos[op];
    memcpy(v->current, v->assigned + (size_t)pc * v->set_words, v->set_words * sizeof *v->current);
    if (is_suspension(op) && !check_suspension(v, op, state)) return false;
    if (!flow_to_handlers(v, state)) return false;
    if (!effect(v, op, info, &state)) return false;
    if (info->ends) return true;
    return flow(v, pc + (info->operand_count > 1 ? info->operand_count : 1), state);
}

/* Form
 * ----------------------------------------------------------------------------------------------------
 */

static bool check_operand(verifier *v, uint32_t kind, uint32_t value) {
    const dv_code *code = v->code;
    switch (kind) {
    case DV_OPERAND_CONST: return value < code->constant_count || fail(v, "constant out of range");
    case DV_OPERAND_CODE:
        return (value < code->constant_count && code->constants[value].kind == DV_CONST_CODE) ||
               fail(v, "not a code constant");
    case DV_OPERAND_LOCAL: return value < code->local_count || fail(v, "local out of range");
    case DV_OPERAND_NAME: return value < code->name_count || fail(v, "name out of range");
    default: return true;
    }
}

/* The instructions that use a local that holds a cell. */
static bool is_cell_op(uint32_t op) {
    return op == DV_OP_LOAD_CELL || op == DV_OP_STORE_CELL || op == DV_OP_DELETE_CELL ||
           op == DV_OP_STORE_CLASS_CELL;
}

static bool make_cell(verifier *v, uint32_t local) {
    if (local >= v->code->local_count) return fail(v, "local out of range");
    if (is_cell(v, local)) return fail(v, "a local is made a cell twice");
    v->cells[local / 64] |= (uint64_t)1 << (local % 64);
    return true;
}

/* Finds out which locals hold cells: those that the prologue makes. */
static bool check_prologue(verifier *v) {
    const dv_code *code = v->code;
    uint32_t pc = 0;
    bool copied = false;
    for (; pc < code->word_count; pc++) {
        uint32_t op = code->words[pc] & 0xFF, a = code->words[pc] >> 8;
        v->pc = pc;
        if (op == DV_OP_MAKE_CELL && !make_cell(v, a)) return false;
        if (op == DV_OP_COPY_FREE) {
            for (uint32_t i = 0; i < code->free_count; i++)
                if (!make_cell(v, code->local_count - 1 - i)) return false;
            copied = true;
        }
        if (op != DV_OP_MAKE_CELL && op != DV_OP_COPY_FREE) break;
    }
    if (!copied && code->free_count) return fail(v, "free variables without COPY_FREE");
    v->prologue_end = pc;
    for (uint32_t i = 0; i < code->exception_count; i++)
        if (code->exceptions[i].begin < pc) return fail(v, "exceptions of the prologue are caught");
    for (uint32_t i = 0; i < code->inlined_count; i++)
        for (uint32_t k = 0; k < code->inlined[i].local_count; k++)
            if (is_cell(v, code->inlined[i].first_local + k))
                return fail(v, "a variable of an inlined comprehension is a cell");
    return true;
}

/* Free variables of the function that is made come from locals that hold cells. */
static bool check_free(verifier *v, uint32_t op, uint32_t constant) {
    const dv_code *inner = v->code->constants[constant].as.code;
    const bool by_value = op == DV_OP_MAKE_CLOSURE_BY_VALUE;
    if ((op == DV_OP_MAKE_CLOSURE || by_value) != (inner->free_count != 0))
        return fail(v, "the function's free variables do not fit the instruction");
    for (uint32_t i = 0; i < inner->free_count; i++) {
        const bool value = by_value && inner->free_from[i] & DV_FREE_VALUE;
        const uint32_t from = value ? inner->free_from[i] & ~DV_FREE_VALUE : inner->free_from[i];
        if (from >= v->code->local_count || is_cell(v, from) == value)
            return fail(v, "a free variable does not come from a cell");
    }
    return true;
}

static bool check_cells(verifier *v, uint32_t op, const dv_op_info *info) {
    if ((op == DV_OP_MAKE_CELL || op == DV_OP_COPY_FREE) && v->pc >= v->prologue_end)
        return fail(v, "a cell is made behind the prologue");
    if (op == DV_OP_MAKE_CELL || op == DV_OP_COPY_FREE) return true;
    for (uint32_t i = 0; i < info->operand_count; i++) {
        if (info->operands[i] == DV_OPERAND_LOCAL && is_cell(v, operand(v, i)) != is_cell_op(op))
            return fail(v, "a cell is used as a plain local, or the reverse");
        if (info->operands[i] == DV_OPERAND_CODE && !check_free(v, op, operand(v, i))) return false;
    }
    return true;
}

/* Instructions that only generators have, and RETURN, which they have not. */
static bool check_generator(verifier *v, uint32_t op) {
    bool generator = v->code->flags & DV_CODE_GENERATOR;
    bool only = op == DV_OP_MAKE_GENERATOR || op == DV_OP_YIELD || op == DV_OP_YIELD_FROM ||
                op == DV_OP_SEND || op == DV_OP_RETURN_GENERATOR;
    if (only && !generator) return fail(v, "an instruction of generators in another function");
    if (op == DV_OP_RETURN && generator) return fail(v, "RETURN in a generator");
    if (generator && v->pc == v->prologue_end && op != DV_OP_MAKE_GENERATOR)
        return fail(v, "a generator that is not made");
    return true;
}

static bool check_words(verifier *v) {
    const dv_code *code = v->code;
    for (uint32_t pc = 0; pc < code->word_count;) {
        v->pc = pc;
        uint32_t op = code->words[pc] & 0xFF;
        if (op >= DV_OP_GENERIC_COUNT || op == DV_OP_ENTER || op == DV_OP_CONSTRUCTED ||
            op == DV_OP_OPERATED || op == DV_OP_CALLED || op == DV_OP_CONSUMED ||
            dv_op_infos[op].plain != op)
            return fail(v, "unknown opcode");
        const dv_op_info *info = &dv_op_infos[op];
        uint32_t words = info->operand_count > 1 ? info->operand_count : 1;
        if (words > code->word_count - pc) return fail(v, "instruction is cut off");
        for (uint32_t i = 0; i < info->operand_count; i++)
            if (!check_operand(v, info->operands[i], operand(v, i))) return false;
        if (!check_cells(v, op, info) || !check_generator(v, op)) return false;
        v->starts[pc] = 1;
        pc += words;
    }
    return true;
}

static uint32_t parameter_count(const dv_code *code) {
    return code->positional_count + code->keyword_only_count + !!(code->flags & DV_CODE_VARARGS) +
           !!(code->flags & DV_CODE_VARKEYWORDS);
}

static bool is_sequence(const dv_const *c) {
    return c->kind == DV_CONST_TUPLE || c->kind == DV_CONST_FROZENSET;
}

static bool check_tables(verifier *v) {
    const dv_code *code = v->code;
    if (code->word_count == 0) return fail(v, "no instructions");
    if (code->positional_count + code->keyword_only_count > code->local_count)
        return fail(v, "more parameters than locals");
    if (parameter_count(code) + code->free_count > code->local_count)
        return fail(v, "more free variables than locals");
    for (uint32_t i = 0; i < code->exception_count; i++)
        if (code->exceptions[i].handler >= code->word_count)
            return fail(v, "exception handler out of range");
    for (uint32_t i = 0; i < code->inlined_count; i++) {
        const dv_inlined_code *e = &code->inlined[i];
        if (e->call >= e->begin || e->begin >= e->end || e->end > code->word_count)
            return fail(v, "an inlined comprehension is no place behind its call");
        if (e->kind > DV_COMPREHENSION_GENERATOR) return fail(v, "unknown comprehension");
        if (e->taking != DV_NO_TAKING &&
            (e->taking < e->begin || e->taking >= e->taken || e->taken > e->end))
            return fail(v, "items of an inlined comprehension are taken elsewhere");
        if (e->local_count > code->local_count ||
            e->first_local > code->local_count - e->local_count)
            return fail(v, "variables of an inlined comprehension out of range");
    }
    for (uint32_t i = 0; i < code->constant_count; i++)
        for (uint32_t k = 0;
             is_sequence(&code->constants[i]) && k < code->constants[i].as.tuple.count; k++)
            if (code->constants[i].as.tuple.items[k] >= i)
                return fail(v, "a constant tuple refers forward");
    return true;
}

static bool prepare(verifier *v) {
    const dv_code *code = v->code;
    v->set_words = code->local_count / 64 + 1;
    v->state_capacity = 64, v->bucket_mask = 63, v->state_count = 1;
    v->states = get(v, 64 * sizeof *v->states);
    v->buckets = get(v, 64 * sizeof *v->buckets);
    v->chain = get(v, 64 * sizeof *v->chain);
    v->state_at = get(v, code->word_count * sizeof *v->state_at);
    v->assigned = get(v, (size_t)code->word_count * v->set_words * sizeof *v->assigned);
    v->work = get(v, code->word_count * sizeof *v->work);
    v->queued = get(v, code->word_count);
    v->starts = get(v, code->word_count);
    v->current = get(v, v->set_words * sizeof *v->current);
    v->kept = get(v, v->set_words * sizeof *v->kept);
    v->cells = get(v, v->set_words * sizeof *v->cells);
    if (v->out_of_memory) return false;
    v->states[0] = (dv_stack_state){0, DV_NO_LOCAL, 0, DV_SLOT_OWNED};
    for (uint32_t pc = 0; pc < code->word_count; pc++) v->state_at[pc] = DV_NO_STATE;
    return true;
}

/* Operators, and methods that may have some, of a function without loops that computes much. */
enum { MUCH_ARITHMETIC = 12 };

/* Is it a function whose calls may be worth a region?  (What is called by its name may of course be
 * another.) */
static bool has_hot_calls(const dv_code *code) {
    uint32_t computes = 0;
    if (code->flags & (DV_CODE_MODULE | DV_CODE_CLASS | DV_CODE_GENERATOR) || code->free_count)
        return false;
    for (uint32_t pc = 0; pc < code->word_count;) {
        const uint32_t op = code->words[pc] & 0xFF, a = code->words[pc] >> 8;
        const bool loads = op == DV_OP_LOAD_GLOBAL_CALLEE || op == DV_OP_LOAD_METHOD;
        if (loads && dv_text_is_same(code->names[a], code->name)) return true;
        computes += dv_op_among(op, DV_OP_ADD, DV_OP_XOR) || op == DV_OP_LOAD_METHOD;
        pc += dv_op_infos[op].operand_count > 1 ? dv_op_infos[op].operand_count : 1;
    }
    return computes >= MUCH_ARITHMETIC && code->word_count > DV_MUCH_CODE;
}

static bool verify(dv_unit *unit, dv_code *code, char *message, size_t size, dv_code_fault *fault,
                   uint32_t nesting) {
    verifier v = {
        .unit = unit, .code = code, .message = message, .message_size = size, .fault = fault};
    if (nesting > 200) return fail(&v, "code objects nested too deeply");
    if (!check_tables(&v) || !prepare(&v) || !check_prologue(&v) || !check_words(&v)) return false;
    for (uint32_t i = 0; i < parameter_count(code); i++)
        v.current[i / 64] |= (uint64_t)1 << (i % 64);
    v.pc = 0;
    if (!flow(&v, 0, 0)) return false;
    while (v.work_count > 0) {
        uint32_t pc = v.work[--v.work_count];
        v.queued[pc] = 0;
        if (!visit(&v, pc)) return false;
    }
    code->states = v.states;
    code->state_count = v.state_count;
    code->state_at = v.state_at;
    code->max_stack = v.max_depth;
    code->flags &= ~(uint32_t)DV_CODE_HOT_CALLS;
    if (has_hot_calls(code)) code->flags |= DV_CODE_HOT_CALLS;
    for (uint32_t i = 0; i < code->constant_count; i++)
        if (code->constants[i].kind == DV_CONST_CODE &&
            !verify(unit, (dv_code *)code->constants[i].as.code, message, size, fault, nesting + 1))
            return false;
    return true;
}

bool dv_code_verify_at(dv_unit *unit, char *message, size_t size, dv_code_fault *fault) {
    *fault = (dv_code_fault){NULL, 0};
    return verify(unit, (dv_code *)unit->code, message, size, fault, 0);
}

bool dv_code_verify(dv_unit *unit, char *message, size_t size) {
    dv_code_fault fault;
    return dv_code_verify_at(unit, message, size, &fault);
}
