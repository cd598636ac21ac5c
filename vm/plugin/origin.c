/* origin.c: the data flow of origins (origin.h).
 *
 * The stack before an instruction is a chain of nodes, each an entry and what is below it, as the
 * verifier's states are (code/verify.h), whose depths are taken from there.  Where two chains meet,
 * entries that differ come from DV_NO_PC.  An entry can change but once, so this ends.
 *
 * Invariant 1: node 0 is the empty stack; nodes never change. */
#include "plugin/origin.h"

#include "dv_ops.h"

enum { NONE = 0, UNREACHED = UINT32_MAX };

typedef struct node {
    uint32_t below, maker;
} node;

/* What is known of the code that was asked about last, and the room to find it out. */
typedef struct dv_origins {
    uint64_t serial; /* of its thread, which is gone if no other thread has this number */
    const dv_code *code;
    size_t room;      /* of `before`, `work` and `queued` */
    uint32_t *before; /* by pc: the stack before it */
    uint32_t *work;   /* pcs whose stack has changed */
    uint32_t work_count;
    bool *queued;
    node *nodes;
    uint32_t count, capacity;
    bool failed; /* out of memory */
} origins;

static uint32_t operand(const dv_code *code, uint32_t pc, uint32_t i) {
    return i == 0 ? code->words[pc] >> 8 : code->words[pc + i];
}

uint32_t dv_origin_next(const dv_code *code, uint32_t pc) {
    uint32_t words = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return pc + (words > 1 ? words : 1);
}

/* ---- Stacks ---- */

static uint32_t push(dv_vm *vm, origins *o, uint32_t below, uint32_t maker) {
    if (o->count == o->capacity) {
        uint32_t more = o->capacity ? o->capacity * 2 : 64;
        node *nodes = dv_heap_alloc(&vm->heap, more * sizeof *nodes);
        if (!nodes) return o->failed = true, NONE;
        if (o->count) memcpy(nodes, o->nodes, o->count * sizeof *nodes);
        if (o->nodes) dv_heap_free(&vm->heap, o->nodes, o->capacity * sizeof *nodes);
        o->nodes = nodes;
        o->capacity = more;
        if (o->count == 0) o->nodes[o->count++] = (node){NONE, DV_NO_PC};
    }
    o->nodes[o->count] = (node){below, maker};
    return o->count++;
}

static uint32_t pop(const origins *o, uint32_t stack, uint32_t n) {
    while (n-- > 0) stack = o->nodes[stack].below;
    return stack;
}

static uint32_t depth_before(const dv_code *code, uint32_t pc) {
    return code->states[code->state_at[pc]].depth;
}

/* The deepest entry that differs is `differing` entries below the tops; 0: none does. */
static uint32_t differing(const origins *o, uint32_t a, uint32_t b) {
    uint32_t n = 0;
    for (uint32_t depth = 1; a != b; depth++) {
        if (o->nodes[a].maker != o->nodes[b].maker) n = depth;
        a = o->nodes[a].below;
        b = o->nodes[b].below;
    }
    return n;
}

/* `a` where its n topmost entries agree with those of b, else entries from nowhere. */
static uint32_t meet(dv_vm *vm, origins *o, uint32_t a, uint32_t b, uint32_t n) {
    uint32_t stack = pop(o, a, n);
    for (uint32_t i = n; i > 0; i--) {
        uint32_t left = o->nodes[pop(o, a, i - 1)].maker, right = o->nodes[pop(o, b, i - 1)].maker;
        stack = push(vm, o, stack, left == right ? left : DV_NO_PC);
    }
    return stack;
}

/* Control may come to `target` with this stack. */
static void flow(dv_vm *vm, origins *o, uint32_t target, uint32_t stack) {
    uint32_t known = o->before[target];
    if (known != UNREACHED) {
        uint32_t n = differing(o, known, stack);
        stack = n ? meet(vm, o, known, stack, n) : known;
        if (!n || !differing(o, known, stack)) return;
    }
    o->before[target] = stack;
    if (!o->queued[target]) o->work[o->work_count++] = target;
    o->queued[target] = true;
}

/* ---- Instructions ---- */

/* How many entries an instruction takes. */
static uint32_t taken(const dv_code *code, uint32_t pc, const dv_op_info *info) {
    const uint32_t n = info->operand_count ? operand(code, pc, 0) : 0;
    const uint32_t m = info->operand_count > 1 ? operand(code, pc, 1) : 0;
    return (uint32_t)dv_op_takes(info, n, m); /* verified */
}

static uint32_t swapped(dv_vm *vm, origins *o, uint32_t stack, uint32_t n) {
    uint32_t result = pop(o, stack, n), top = o->nodes[stack].maker;
    uint32_t low = o->nodes[pop(o, stack, n - 1)].maker;
    result = push(vm, o, result, top);
    for (uint32_t i = n - 1; i > 1; i--)
        result = push(vm, o, result, o->nodes[pop(o, stack, i - 1)].maker);
    return push(vm, o, result, low);
}

/* The stack behind the instruction, which has `depth` entries. */
static uint32_t behind(dv_vm *vm, origins *o, uint32_t pc, uint32_t depth) {
    const dv_code *code = o->code;
    uint32_t op = code->words[pc] & 0xFF, stack = o->before[pc];
    const dv_op_info *info = &dv_op_infos[op];
    if (op == DV_OP_SWAP) return swapped(vm, o, stack, operand(code, pc, 0));
    uint32_t inputs = taken(code, pc, info), first = o->nodes[stack].maker;
    uint32_t maker = pc;
    if (op == DV_OP_COPY) maker = o->nodes[pop(o, stack, operand(code, pc, 0) - 1)].maker;
    uint32_t left = depth_before(code, pc) - inputs;
    stack = pop(o, stack, inputs);
    for (; left < depth; left++) stack = push(vm, o, stack, maker);
    /* What LOAD_METHOD leaves on top is the object. */
    if (op == DV_OP_LOAD_METHOD) stack = push(vm, o, pop(o, stack, 1), first);
    return stack;
}

/* The stack with which the instruction jumps, which has `depth` entries. */
static uint32_t jumping(dv_vm *vm, origins *o, uint32_t pc, uint32_t depth) {
    uint32_t op = o->code->words[pc] & 0xFF, before = depth_before(o->code, pc);
    uint32_t stack = pop(o, o->before[pc], before > depth ? before - depth : 0);
    if (op == DV_OP_SEND || op == DV_OP_YIELD_FROM) stack = push(vm, o, pop(o, stack, 1), DV_NO_PC);
    for (; before < depth; before++) stack = push(vm, o, stack, DV_NO_PC);
    return stack;
}

static bool is_reached(const dv_code *code, uint32_t pc) {
    return pc < code->word_count && code->state_at[pc] != DV_NO_STATE;
}

static void visit(dv_vm *vm, origins *o, uint32_t pc) {
    const dv_code *code = o->code;
    const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
    uint32_t next = dv_origin_next(code, pc);
    for (uint32_t i = 0; i < info->operand_count; i++) {
        uint32_t target = operand(code, pc, i);
        if (info->operands[i] == DV_OPERAND_JUMP && is_reached(code, target))
            flow(vm, o, target, jumping(vm, o, pc, depth_before(code, target)));
    }
    bool falls = !info->ends && is_reached(code, next);
    if (falls) flow(vm, o, next, behind(vm, o, pc, depth_before(code, next)));
}

/* Where exceptions are caught nothing is known of the stack. */
static void begin(dv_vm *vm, origins *o) {
    for (uint32_t i = 0; i < o->code->exception_count; i++) {
        uint32_t handler = o->code->exceptions[i].handler, stack = NONE;
        if (!is_reached(o->code, handler)) continue;
        for (uint32_t d = depth_before(o->code, handler); d > 0; d--)
            stack = push(vm, o, stack, DV_NO_PC);
        flow(vm, o, handler, stack);
    }
    flow(vm, o, 0, NONE);
}

/* ---- Asking ---- */

static size_t room_of(const dv_code *code) {
    return code->word_count * (2 * sizeof(uint32_t) + sizeof(bool));
}

void dv_origin_forget(dv_vm *vm) {
    origins *o = vm->extensions.plugins->origins;
    vm->extensions.plugins->origins = NULL;
    if (!o) return;
    if (o->before) dv_heap_free(&vm->heap, o->before, o->room);
    if (o->nodes) dv_heap_free(&vm->heap, o->nodes, o->capacity * sizeof *o->nodes);
    dv_heap_free(&vm->heap, o, sizeof *o);
}

static bool find_all(dv_vm *vm, origins *o) {
    const dv_code *code = o->code;
    o->before = dv_heap_alloc(&vm->heap, o->room);
    if (!o->before) return false;
    o->work = o->before + code->word_count;
    o->queued = (bool *)(o->work + code->word_count);
    for (uint32_t pc = 0; pc < code->word_count; pc++)
        o->before[pc] = UNREACHED, o->queued[pc] = false;
    (void)push(vm, o, NONE, DV_NO_PC); /* makes node 0, too */
    if (!o->failed) begin(vm, o);
    while (o->work_count && !o->failed) {
        uint32_t pc = o->work[--o->work_count];
        o->queued[pc] = false;
        visit(vm, o, pc);
    }
    return !o->failed;
}

/* NULL: out of memory. */
static const origins *origins_of(dv_vm *vm, const dv_thread *thread) {
    origins *o = vm->extensions.plugins->origins;
    if (o && o->serial == thread->serial) return o;
    dv_origin_forget(vm);
    o = dv_heap_alloc(&vm->heap, sizeof *o);
    if (!o) return NULL;
    *o = (origins){.serial = thread->serial, .code = thread->code, .room = room_of(thread->code)};
    vm->extensions.plugins->origins = o;
    if (find_all(vm, o)) return o;
    dv_origin_forget(vm);
    return NULL;
}

bool dv_origin_find(dv_vm *vm, const dv_thread *thread, uint32_t pc, uint32_t n, uint32_t *makers) {
    const origins *o = origins_of(vm, thread);
    if (!o || o->before[pc] == UNREACHED) return false;
    uint32_t stack = o->before[pc];
    for (uint32_t i = n; i > 0; i--) {
        makers[i - 1] = o->nodes[stack].maker;
        stack = o->nodes[stack].below;
    }
    return true;
}

uint32_t dv_origin_straight(const dv_code *code, uint32_t to) {
    uint32_t from = 0;
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const uint32_t handler = code->exceptions[i].handler;
        if (handler <= to && handler > from) from = handler;
    }
    for (uint32_t pc = 0; pc < code->word_count; pc = dv_origin_next(code, pc)) {
        const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
        if (info->ends && pc < to && pc > from) from = pc;
        for (uint32_t i = 0; i < info->operand_count; i++) {
            uint32_t target = operand(code, pc, i);
            if (info->operands[i] == DV_OPERAND_JUMP && target <= to && target > from)
                from = target;
        }
    }
    return from;
}
