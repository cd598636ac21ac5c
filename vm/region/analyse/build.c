/* build.c: driving the region builder (build.h): contexts, the fixed point, emission, finishing. */
#include "region/analyse/build.h"

#include "code/liveness.h"
#include "region/step/complex.h"
#include "region/emit/pair.h"
#include "region/run/entry.h"
#include "region/step/producer.h"
#include "region/step/raised.h"
#include "region/step/step.h"
#include "region/step/virtual.h"
#include "types/callable/variable.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"

enum {
    MOST_SLOTS = 8000,  /* of the frame of a loop that is analysed */
    INLINE_DEPTH = 4,   /* callees in callees that are analysed inline */
    MOST_CELLS = 30000, /* of a region */
    EXTRA_ENTRIES = 40, /* beyond the locals and the stack, for what is inlined; ... */
    CALLS_ENTRIES = 12, /* ... with DV_SHADOW_CALLS */
    BLOCK_SIZE = 8192,  /* of memory that the builder asks for */
    MOST_WEIGHT = 512,  /* of an instruction in loops of loops */
    MOST_JUMPS = 4,     /* from one to the next that are gone through in advance */
    MOST_BRANCHES = 24, /* by shape or kind, of a region; ... */
    BRANCH_DEPTH = 2,   /* ... and in such branches */
    EXAMINED = 64       /* items of a list, to find out of what kind they are */
};
_Static_assert(sizeof(dv_block) % 8 == 0, "what follows the header is aligned");

static void fail_at(dv_build *b, dv_refusal why, const dv_code *in, uint32_t pc) {
    if (!b->failed) b->failed = why, b->failed_in = in, b->failed_pc = pc;
    b->ended = true;
}

void dv_build_fail(dv_build *b, dv_refusal why) {
    fail_at(b, why, b->context ? b->context->thread->code : NULL, b->pc);
}

/* Not cleared; NULL and b->failed when memory runs out. */
static void *take(dv_build *b, size_t size) {
    size = (size + 7) & ~(size_t)7;
    dv_block *block = b->blocks;
    if (!block || block->size - block->used < size) {
        size_t least = sizeof *block + size, whole = least > BLOCK_SIZE ? least : BLOCK_SIZE;
        block = dv_heap_alloc(&b->vm->heap, whole);
        if (!block) {
            dv_build_fail(b, DV_REFUSED_MEMORY);
            return NULL;
        }
        *block = (dv_block){b->blocks, whole, sizeof *block};
        b->blocks = block;
    }
    void *memory = (char *)block + block->used;
    block->used += size;
    return memory;
}

void *dv_build_get(dv_build *b, size_t size) {
    void *memory = take(b, size);
    return memory ? memset(memory, 0, size) : NULL;
}

bool dv_build_grow(dv_build *b, void *vector, size_t size) {
    DV_VECTOR(char) *v = vector;
    uint32_t capacity = v->capacity ? v->capacity * 2 : 32;
    char *data = take(b, capacity * size);
    if (!data) return false;
    if (v->count) memcpy(data, v->data, v->count * size);
    v->data = data;
    v->capacity = capacity;
    return true;
}

bool dv_build_depends(dv_build *b, dv_assumption *assumption) {
    if (dv_assumption_depend(b->vm, assumption, &b->region->dependent)) return true;
    dv_build_fail(b, DV_REFUSED_MEMORY);
    return false;
}

/* Contexts
 * ------------------------------------------------------------------------------------------------
 */

void dv_build_mark(dv_build *b, dv_made kind) {
    if (b->emitting && b->vm->profile) DV_PUSH(b, marks, (dv_mark){b->cells.count, kind});
}

void dv_build_cut(dv_build *b, uint32_t at) {
    b->cells.count = at;
    for (uint32_t i = b->marks.count; i-- > 0 && b->marks.data[i].cell > at;)
        b->marks.data[i].cell = at;
    while (b->origins.count && b->origins.data[b->origins.count - 1].cell >= at)
        b->known.count -= b->origins.data[--b->origins.count].known_count;
}

static void note_known(dv_build *b, uint32_t pc, int32_t q) {
    const dv_known_value *e = &b->e[q];
    dv_placed placed = {dv_home(b, q), e->slot, e->kind, e->where, false, e->value};
    if (e->where == DV_AT_ALIAS) placed.slot = dv_home(b, e->slot);
    placed.dead = dv_build_is_dead(b, pc, q);
    DV_PUSH(b, known, placed);
}

/* In VMs that count or keep facts: the cells from here on stand for the instruction at b->pc.
 * `knows`: the entries say what is known in front of it. */
static void note_origin(dv_build *b, bool knows) {
    if (!b->emitting || b->failed || !(b->vm->profile || b->vm->keeps_facts)) return;
    dv_origin origin = {
        .cell = b->cells.count, .pc = b->pc, .thread = (dv_thread *)b->context->thread};
    const uint32_t count = b->origins.count;
    if (count && b->origins.data[count - 1].cell == origin.cell) {
        b->origins.count--;
        b->known.count -= b->origins.data[count - 1].known_count;
    }
    origin.base = (int16_t)b->context->base;
    origin.first_known = b->known.count;
    const dv_context *root = b->context;
    uint32_t pc = b->pc; /* in the region's own function */
    for (; root->parent; root = root->parent) pc = root->call_pc;
    for (int32_t q = 0; knows && b->vm->keeps_facts && q < b->top; q++) note_known(b, pc, q);
    origin.known_count = b->known.count - origin.first_known;
    DV_PUSH(b, origins, origin);
}

bool dv_build_is_marked(const dv_build *b, uint32_t cell) {
    uint32_t i = b->marks.count;
    while (i > 0 && b->marks.data[i - 1].cell > cell) i--;
    return i > 0 && b->marks.data[i - 1].cell == cell;
}

static uint32_t length_of(const dv_code *code, uint32_t pc) {
    uint32_t n = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return n > 1 ? n : 1;
}

enum { LOOP_WEIGHT = 8 /* of one in a loop, relative to one around it */ };

/* The instructions of a loop, which ends in the JUMP_BACK at `back`, weigh more than those around
 * it. */
static void weigh_loop(dv_context *context, uint32_t head, uint32_t back) {
    for (uint32_t pc = head < context->begin ? context->begin : head; pc <= back; pc++) {
        dv_snapshot *at = &context->at[pc - context->begin];
        if (at->weight < MOST_WEIGHT) at->weight = (uint16_t)(at->weight * LOOP_WEIGHT);
    }
}

static void find_leaders(dv_context *context) {
    const dv_code *code = context->thread->code;
    for (uint32_t pc = context->begin; pc < context->end; pc += length_of(code, pc)) {
        const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
        if (info->operand_count == 0 || info->operands[0] != DV_OPERAND_JUMP) continue;
        dv_snapshot *target = dv_snapshot_at(context, code->words[pc] >> 8);
        if (target) target->leader = true;
        if (target && (code->words[pc] & 0xFF) == DV_OP_JUMP_BACK) target->head = true;
        context->branches = true;
        if ((code->words[pc] & 0xFF) == DV_OP_JUMP_BACK)
            weigh_loop(context, code->words[pc] >> 8, pc);
    }
}

static dv_context *new_context(dv_build *b, dv_thread *thread, uint32_t begin, uint32_t end,
                               int32_t base, uint32_t weight) {
    dv_context *context = dv_build_get(b, sizeof *context);
    dv_snapshot *at = context ? dv_build_get(b, (end - begin) * sizeof *at) : NULL;
    if (!at) return NULL;
    *context = (dv_context){.thread = thread, .begin = begin, .end = end, .base = base, .at = at};
    for (uint32_t i = 0; i < end - begin; i++)
        at[i].label = at[i].body = -1, at[i].weight = (uint16_t)weight;
    find_leaders(context);
    context->branches |= thread->code->exception_count > 0;
    return context;
}

/* An inlined context whose blocks are emitted one by one.  The call in its parent then ends a block
 * as well, so a parent that was taken for straight is not. */
static void set_branching(dv_build *b, dv_context *context) {
    for (dv_context *parent = context->parent; parent; context = parent, parent = context->parent) {
        context->branches = true;
        const dv_code *code = parent->thread->code;
        dv_snapshot *after =
            dv_snapshot_at(parent, context->call_pc + length_of(code, context->call_pc));
        if (after) after->leader = true;
        if (!parent->parent || parent->branches) return;
        b->again = true;
    }
}

/* The context of the call of that at b->pc, if it was entered before; else NULL.  (While less was
 * known of the receiver, or more, the call may have entered another method.) */
static dv_context *find_inlined(const dv_build *b, const dv_thread *callee) {
    dv_context *c = b->context->inlined;
    while (c && (c->joins || c->call_pc != b->pc || c->thread != callee)) c = c->siblings;
    return c;
}

dv_context *dv_build_inline(dv_build *b, dv_thread *callee) {
    dv_context *parent = b->context, *context = find_inlined(b, callee);
    if (context) return context;
    context = new_context(b, callee, 0, callee->code->word_count,
                          b->top - (int32_t)callee->argument_count,
                          dv_snapshot_at(parent, b->pc)->weight);
    if (!context) return NULL;
    context->parent = parent;
    context->call_pc = b->pc;
    context->depth = parent->depth + 1;
    context->siblings = parent->inlined;
    parent->inlined = context;
    if (context->branches) set_branching(b, context);
    return context;
}

/* Branches by shape or kind
 * -----------------------------------------------------------------------------------------------
 */

/* May control divide here?  The arguments of an __init__ may lie where they can only stay as long
 * as it does not (virtual.c). */
static bool may_branch(const dv_build *b, const dv_context *from) {
    int depth = 0;
    for (const dv_context *c = from; c; c = c->parent)
        if (c->entering == DV_ENTERS_INIT || c->entering == DV_ENTERS_NEW) return false;
    for (const dv_context *c = from->joins; c; c = c->joins) depth++;
    return depth < BRANCH_DEPTH && b->branches < MOST_BRANCHES && !b->emitting;
}

/* From `begin` to the next leader. */
static dv_context *new_branch(dv_build *b, dv_context *from, uint32_t begin, uint32_t choice) {
    const dv_code *code = from->thread->code;
    uint32_t end = begin;
    do end += length_of(code, end);
    while (end < from->end && !from->at[end - from->begin].leader);
    dv_context *branch = new_context(b, from->thread, begin, end, from->base, 1);
    if (!branch) return NULL;
    for (uint32_t pc = begin; pc < end; pc++)
        branch->at[pc - begin].weight = from->at[pc - from->begin].weight;
    branch->parent = from->parent;
    branch->call_pc = from->call_pc, branch->return_pc = from->return_pc;
    branch->entering = from->entering, branch->method = from->method;
    branch->depth = from->depth, branch->branches = from->branches;
    branch->joins = from, branch->choice = choice;
    branch->at[0].leader = true;
    dv_context **last = &from->inlined; /* the next choice comes behind this one */
    while (*last) last = &(*last)->siblings;
    *last = branch;
    b->branches++;
    return branch;
}

/* Do all ways out of the inlined function, or the generator, meet behind the call? */
static bool meets_behind(const dv_context *from) {
    const dv_snapshot *after = dv_snapshot_at(from->parent, from->return_pc);
    return from->branches && (!after || after->leader);
}

dv_context *dv_build_branch(dv_build *b, uint32_t choice) {
    const bool is_begin = b->context->joins && b->context->begin == b->pc;
    dv_context *from = is_begin ? b->context->joins : b->context, *branch = from->inlined;
    while (branch && (branch->joins != from || branch->begin != b->pc || branch->choice != choice))
        branch = branch->siblings;
    if (branch) return branch;
    if (!may_branch(b, from)) return NULL;
    if (from->parent && !meets_behind(from)) {
        set_branching(b, from);
        b->again = b->ended = true;
        return NULL;
    }
    return new_branch(b, from, b->pc, choice);
}

static bool has_instructions_for_inlining(const dv_code *code) {
    bool copies = false, changes = false;
    for (uint32_t pc = 0; pc < code->word_count; pc += length_of(code, pc)) {
        uint32_t op = code->words[pc] & 0xFF;
        const bool makes = op == DV_OP_MAKE_FUNCTION || op == DV_OP_MAKE_CLOSURE;
        if (makes && code->words[pc + 1]) return false; /* with defaults */
        if (op == DV_OP_MAKE_CLOSURE_BY_VALUE || op == DV_OP_BUILD_CLASS ||
            op == DV_OP_SET_DEFAULTS || op == DV_OP_SET_ANNOTATIONS || op == DV_OP_BEFORE_WITH ||
            op == DV_OP_MAKE_GENERATOR || op == DV_OP_DELETE_CELL)
            return false;
        copies |= op == DV_OP_COPY_FREE;
        changes |= op == DV_OP_STORE_CELL;
    }
    return !(copies && changes); /* of a cell that somebody else made, or holds */
}

bool dv_build_may_inline(dv_build *b, const dv_thread *callee, uint32_t arguments) {
    const dv_code *code = callee->code;
    if (b->vm->nama > DV_NAMA_INLINE) return false;
    if (callee->exact_arguments != (int64_t)arguments || !callee->warm) return false;
    if (code->word_count > DV_INLINE_WORDS || code->flags & (DV_CODE_HAS_LOOP | DV_CODE_SEES_FRAME))
        return false;
    if (b->context->depth >= INLINE_DEPTH) return false;
    for (const dv_context *c = b->context; c; c = c->parent)
        if (c->thread == callee) return false;
    if (b->top + (int32_t)code->local_count + (int32_t)code->max_stack >= b->entry_limit)
        return false;
    return has_instructions_for_inlining(code);
}

/* Flow
 * ----------------------------------------------------------------------------------------------------
 */

/* The entry that says which shape the object has: that of the local of which this one is an alias.
 */
static const dv_known_value *shaped(const dv_build *b, const dv_known_value *e) {
    return e->kind == DV_K_ANY && e->where == DV_AT_ALIAS ? &b->e[e->slot] : e;
}

static dv_known_value canonical(dv_build *b, int32_t q, const dv_known_value *e) {
    dv_known_value c = {e->kind, DV_AT_HOME, 0, DV_EMPTY};
    if (b->vm->nama == DV_NAMA_SEQUENCE && e->kind <= DV_K_ANY) { /* nothing lasts over a jump */
        c.kind = DV_K_ANY;
        return c;
    }
    if (dv_kind_is_raw(e->kind)) c.where = DV_AT_SLOT, c.slot = dv_shadow(b, q);
    if (e->kind == DV_K_COMPLEX) c.where = DV_AT_SLOT, c.slot = dv_complex_slot(b, q);
    if (e->kind == DV_K_CONSTANT) c.where = DV_AT_VALUE, c.value = e->value;
    if (e->kind == DV_K_RANGE) c.where = DV_AT_NOWHERE, c.slot = e->slot;
    if (e->kind == DV_K_WALK) c.slot = e->slot, c.value = e->value;
    if (dv_is_raised(e)) c = *e;
    if (e->kind == DV_K_RESERVED) c.where = DV_AT_NOWHERE;
    if (e->kind == DV_K_VIRTUAL) c.kind = DV_K_ANY;
    if (dv_has_known_shape(shaped(b, e))) c.value = shaped(b, e)->value;
    return c;
}

static void enqueue(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    if (at->queued) return;
    if (b->work_count == sizeof b->work / sizeof *b->work) {
        dv_build_fail(b, DV_REFUSED_SIZE);
        return;
    }
    at->queued = true;
    b->work[b->work_count].context = context;
    b->work[b->work_count++].pc = pc;
}

static dv_kind join_entries(dv_build *b, const dv_known_value *a, const dv_known_value *c) {
    if (a->kind == DV_K_CONSTANT && c->kind == DV_K_CONSTANT && dv_same(a->value, c->value))
        return DV_K_CONSTANT;
    if (a->kind == DV_K_RANGE && c->kind == DV_K_RANGE && a->slot != c->slot) return DV_K_CONFLICT;
    /* What is virtual on one way only is made there, or forgotten (dv_convert). */
    dv_kind kind = c->kind == DV_K_VIRTUAL ? DV_K_ANY : (dv_kind)c->kind;
    if (dv_is_raised(a) || dv_is_raised(c)) return dv_raised_join(b, a, c);
    if (a->kind == DV_K_WALK && kind == DV_K_WALK && a->slot != c->slot) return DV_K_CONFLICT;
    if (a->kind == DV_K_WALK && kind != DV_K_WALK) dv_walk_need(b, a);
    if (a->kind != DV_K_WALK && kind == DV_K_WALK) dv_walk_need(b, c);
    return dv_kind_join((dv_kind)a->kind, kind);
}

static bool has_same_shape(const dv_known_value *known, const dv_known_value *other) {
    return dv_has_known_shape(other) && dv_same(known->value, other->value);
}

/* The first way to a leader: what is known on it. */
static void arrive(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    at->entries = take(b, (size_t)(b->entry_limit + 1) * sizeof *at->entries);
    if (!at->entries) return;
    at->top = b->top;
    at->leader = true;
    if (at->head) dv_forget_shapes(b); /* the VM polls at back edges */
    for (int32_t q = 0; q < b->top; q++) at->entries[q] = canonical(b, q, &b->e[q]);
    dv_virtual_arrive(b, context, pc, at);
}

/* Is it a dead local, a number of one kind here and of another one there?  Nobody looks at it. */
static bool is_either(const dv_build *b, const dv_context *context, uint32_t pc, int32_t q,
                      const dv_known_value *known) {
    return dv_kind_is_raw((dv_kind)known->kind) && dv_kind_is_raw((dv_kind)b->e[q].kind) &&
           dv_build_is_dead_in(b, context, pc, q);
}

/* Another way to a leader: what is known on all of them.  Is it less than before? */
static bool join(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    bool changed = dv_virtual_join(b, context, pc, at);
    for (int32_t q = 0; q < b->top; q++) {
        if (dv_has_record(&at->entries[q])) continue;
        dv_kind kind = join_entries(b, &at->entries[q], &b->e[q]);
        if (is_either(b, context, pc, q, &at->entries[q])) continue;
        if (dv_has_known_shape(&at->entries[q]) &&
            !has_same_shape(&at->entries[q], shaped(b, &b->e[q]))) {
            at->entries[q].value = DV_EMPTY;
            changed = true;
        }
        if (kind == at->entries[q].kind) continue;
        if (kind == DV_K_CONFLICT) {
            dv_build_fail(b, DV_REFUSED_MEETING);
            return false;
        }
        dv_known_value joined = {(uint8_t)kind, DV_AT_HOME, at->entries[q].slot,
                                 at->entries[q].value};
        at->entries[q] = canonical(b, q, &joined);
        changed = true;
    }
    return changed;
}

void dv_build_branch_off(dv_build *b, uint32_t test, dv_context *branch) {
    dv_snapshot *at = &branch->at[0];
    const uint32_t records = b->emitting ? 0 : b->virtuals.count; /* emission keeps them all */
    dv_virtual_disturb(b);
    if (branch->origin && branch->origin != b->block) dv_build_fail(b, DV_REFUSED_MEETING);
    branch->origin = b->block;
    if (!at->entries) at->entries = take(b, (size_t)(b->entry_limit + 1) * sizeof *at->entries);
    if (records) at->records = take(b, records * sizeof *at->records);
    if (b->failed) return;
    memcpy(at->entries, b->e, (size_t)b->top * sizeof *b->e);
    if (records) memcpy(at->records, b->virtuals.data, records * sizeof *at->records);
    at->top = b->top, at->record_count = records;
    if (!b->emitting) {
        enqueue(b, branch, branch->begin, at);
        return;
    }
    branch->emitted = true;
    DV_PUSH(b, edges, (dv_edge){test + 3, branch, branch->begin, NULL, 0, false, -1, NULL});
}

void dv_build_reach(dv_build *b, dv_context *context, uint32_t pc) {
    dv_virtual_disturb(b);
    context = dv_context_to(context, pc);
    dv_snapshot *at = dv_snapshot_at(context, pc);
    if (b->emitting || !at || b->failed) return;
    if (!at->entries) {
        arrive(b, context, pc, at);
        if (!b->failed) enqueue(b, context, pc, at);
    } else if (at->top != b->top) {
        dv_build_fail(b, DV_REFUSED_MEETING);
    } else if (join(b, context, pc, at)) {
        enqueue(b, context, pc, at);
    }
}

/* Do ways meet in front of a store to a local of the loop's function, and the value is an instance
 * that is not made?  Each has its own store then: in a local it may stay so (virtual_join.c). */
static bool stores_virtual(const dv_build *b, dv_context *context, uint32_t pc) {
    const dv_snapshot *at = dv_snapshot_at(context, pc);
    const dv_context *c = dv_context_at(context, pc);
    return at && at->leader && !at->head && !c->parent && b->top > b->locals &&
           b->e[b->top - 1].kind == DV_K_VIRTUAL &&
           (c->thread->code->words[pc] & 0xFF) == DV_OP_STORE_LOCAL;
}

/* The store; the pc behind it, where ways meet instead. */
static uint32_t store_virtual(dv_build *b, dv_context *context, uint32_t pc) {
    const uint32_t saved_pc = b->pc;
    dv_context *saved = b->context;
    b->pc = pc, b->context = dv_context_at(context, pc);
    pc = dv_step_store_local(b, pc + length_of(b->context->thread->code, pc));
    dv_snapshot *after = dv_snapshot_at(b->context, pc);
    if (after && !after->leader) after->leader = b->again = true;
    b->pc = saved_pc, b->context = saved;
    return pc;
}

void dv_build_flow(dv_build *b, dv_context *context, uint32_t pc) {
    if (stores_virtual(b, context, pc)) pc = store_virtual(b, context, pc);
    dv_virtual_disturb(b);
    context = dv_context_to(context, pc);
    dv_snapshot *at = dv_snapshot_at(context, pc);
    if (!b->emitting) {
        dv_build_reach(b, context, pc);
        b->ended = true;
        return;
    }
    if (!at) { /* out of the loop */
        dv_context *saved = b->context;
        b->context = context;
        dv_region_emit_exit(b, context, pc, false);
        b->context = saved;
        return;
    }
    uint32_t saved_pc = b->pc;
    dv_context *saved = b->context;
    b->pc = pc, b->context = context; /* conversions happen at the target's doorstep */
    dv_convert(b, at);
    b->pc = saved_pc, b->context = saved;
    uint32_t cell = dv_region_emit(b, DV_OP_R_JUMP, 0, 0, 0);
    DV_PUSH(b, edges, (dv_edge){cell + 3, context, pc, NULL, 0, false, -1, NULL});
    b->ended = true;
}

/* Runs over instructions from a leader to where control goes elsewhere or reaches a leader. */
static uint32_t run_block(dv_build *b) {
    for (;;) {
        note_origin(b, true);
        uint32_t next = dv_step(b);
        if (b->ended || b->failed) return DV_NO_PC;
        dv_snapshot *at = dv_snapshot_at(b->context, next);
        if (!at) {
            dv_build_flow(b, b->context, next);
            return DV_NO_PC;
        }
        if (stores_virtual(b, b->context, next)) {
            dv_build_flow(b, b->context, next);
            return DV_NO_PC;
        }
        b->pc = next;
        if (at->leader) return next;
    }
}

static void load(dv_build *b, dv_context *context, uint32_t pc) {
    dv_snapshot *at = dv_snapshot_at(context, pc);
    memcpy(b->e, at->entries, (size_t)at->top * sizeof *b->e);
    b->top = at->top;
    b->context = context;
    b->pc = pc;
    b->ended = false;
    b->sp = -1;
    b->last_result = DV_NO_CELL;
    b->version++;
    b->quiet = NULL;
    b->block = at;
    b->weight = at->weight;
    at->typed = at->boxed = at->converted = 0;
    dv_virtual_load(b, at);
}

/* Leaders stay: they are why the fixed point is to be found anew. */
static void forget(dv_context *context) {
    for (uint32_t i = 0; i < context->end - context->begin; i++) {
        context->at[i].entries = NULL;
        context->at[i].queued = false;
        context->at[i].kept = 0;
    }
    context->origin = NULL;
    for (dv_context *c = context->inlined; c; c = c->siblings) forget(c);
}

/* Goes on where all is to be found anew: what else is learnt on the way saves another time. */
static void interpret(dv_build *b) {
    while (b->work_count > 0 && !b->failed) {
        b->work_count--;
        dv_context *context = b->work[b->work_count].context;
        uint32_t pc = b->work[b->work_count].pc;
        dv_snapshot_at(context, pc)->queued = false;
        load(b, context, pc);
        if (b->failed) return; /* no memory for what is known there */
        uint32_t next = run_block(b);
        if (next != DV_NO_PC) dv_build_reach(b, b->context, next);
    }
}

/* Those of the context that something jumps to by now; false: none is left. */
static bool emit_branches(dv_build *b, dv_context *context) {
    bool found = false;
    for (dv_context *c = context->inlined; c && !b->failed; c = c->siblings) {
        if (!c->joins || !c->emitted || c->at[0].label >= 0) continue;
        dv_build_range(b, c);
        found = true;
    }
    return found;
}

void dv_build_range(dv_build *b, dv_context *context) {
    const dv_code *code = context->thread->code;
    for (uint32_t pc = context->begin; pc < context->end && !b->failed; pc += length_of(code, pc)) {
        dv_snapshot *at = dv_snapshot_at(context, pc);
        if (!at->entries) continue;
        load(b, context, pc);
        at->label = (int32_t)b->cells.count;
        if (b->failed) return; /* no memory for what is known there */
        uint32_t next = run_block(b);
        if (next == DV_NO_PC) continue;
        /* Falls into the next leader, which is emitted next if it is of this context.  Others come
         * to that, too: what is marked gets a cell of its own. */
        dv_snapshot *after = dv_snapshot_at(b->context, next);
        if (b->context != context || next >= context->end || !after->entries || after->label >= 0 ||
            dv_build_is_marked(b, b->cells.count))
            dv_build_flow(b, b->context, next);
        else
            dv_convert(b, after);
        if (b->cells.count > MOST_CELLS) dv_build_fail(b, DV_REFUSED_SIZE);
    }
    while (emit_branches(b, context)) continue;
}

/* Finishing
 * -----------------------------------------------------------------------------------------------
 */

static void emit_stub(dv_build *b, dv_edge edge) {
    dv_snapshot *to = dv_snapshot_at(edge.context, edge.pc);
    uint32_t label = b->cells.count;
    if (edge.entries) {
        memcpy(b->e, edge.entries, (size_t)edge.top * sizeof *b->e);
        b->top = edge.top;
    }
    b->context = dv_context_at(edge.context, edge.pc);
    b->pc = edge.pc, b->sp = -1, b->ended = false;
    note_origin(b, edge.entries != NULL);
    b->last_result = DV_NO_CELL;
    b->version++;
    bool straight = to && !edge.raising && edge.release < 0 && !edge.resumes &&
                    (!edge.entries || !dv_conversion_needed(b, edge.entries, edge.top, to));
    if (straight) {
        label = (uint32_t)to->label;
    } else if (edge.raising) {
        dv_raised_stub(b, edge.raising);
    } else {
        if (edge.release >= 0) dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, edge.release), 0, 0);
        if (edge.resumes)
            dv_point_add(b, b->cells.count, dv_exit_make(b, edge.context, edge.pc, false), false,
                         true, false);
        if (!to) {
            dv_region_emit_exit(b, edge.context, edge.pc, false);
        } else {
            dv_convert(b, to);
            uint32_t at = dv_region_emit(b, DV_OP_R_JUMP, 0, 0, 0);
            if (b->failed) return;
            b->cells.data[at + 3].i = to->label;
            DV_PUSH(b, label_uses, at + 3);
        }
    }
    if (b->failed) return;
    b->cells.data[edge.cell].i = label;
    DV_PUSH(b, label_uses, edge.cell);
}

/* Guards name their exit by number; each such exit gets one R_EXIT at the end. */
static void emit_exits(dv_build *b) {
    uint32_t *label = dv_build_get(b, (b->exits.count + 1) * sizeof *label);
    for (uint32_t i = 0; i < b->exit_uses.count && !b->failed; i++) {
        uint32_t use = b->exit_uses.data[i], exit = (uint32_t)b->cells.data[use].i;
        if (!label[exit]) {
            uint32_t at = dv_region_emit(b, DV_OP_R_EXIT, 0, 0, 0);
            if (b->failed) return;
            b->cells.data[at + 2].i = exit;
            label[exit] = at;
        }
        b->cells.data[use].i = label[exit];
        DV_PUSH(b, label_uses, use);
    }
}

static void *keep(dv_build *b, const void *data, size_t size) {
    void *copy = dv_heap_alloc(&b->vm->heap, size ? size : 1);
    if (!copy)
        dv_build_fail(b, DV_REFUSED_MEMORY);
    else if (size)
        memcpy(copy, data, size);
    return copy;
}

static int by_cell(const dv_point *a, const dv_point *c) {
    return a->cell < c->cell ? -1 : a->cell > c->cell;
}

static void sort_points(dv_build *b) {
    for (uint32_t i = 1; i < b->points.count; i++)
        for (uint32_t k = i; k > 0 && by_cell(&b->points.data[k - 1], &b->points.data[k]) > 0;
             k--) {
            dv_point t = b->points.data[k];
            b->points.data[k] = b->points.data[k - 1];
            b->points.data[k - 1] = t;
        }
}

#define KEEP(field, number)                                                          \
    (region->field = keep(b, b->field.data, b->field.count * sizeof *b->field.data), \
     region->number = b->field.count)

static uint64_t *count_from_zero(dv_build *b) {
    const size_t size = b->cells.count * sizeof(uint64_t);
    uint64_t *steps = dv_heap_alloc(&b->vm->heap, size ? size : 1);
    if (steps)
        memset(steps, 0, size);
    else
        dv_build_fail(b, DV_REFUSED_MEMORY);
    return steps;
}

static void note_producer(dv_build *b) {
    const dv_context *c = b->producer.context;
    const int32_t stack = c->base + (int32_t)c->thread->local_count;
    const dv_cell *walks = c->parent->thread->cells + c->parent->thread->cell_at[c->call_pc];
    b->region->producer = (dv_producer){.thread = c->thread,
                                        .at = c->thread->cells + c->thread->cell_at[b->producer.at],
                                        .end = walks[2].target,
                                        .base = dv_home(b, c->base),
                                        .stack = dv_home(b, stack),
                                        .twin = b->producer.twin,
                                        .saved = (uint16_t)(b->producer.floor - stack)};
}

static bool is_resumed(const dv_build *b, uint32_t cell) {
    for (uint32_t i = 0; i < b->points.count && b->points.data[i].cell <= cell; i++)
        if (b->points.data[i].cell == cell && b->points.data[i].resumes) return true;
    return false;
}

/* Where control comes to that goes to the cell: a jump there is not executed, unless who comes may
 * have called out, so that the region may be left there. */
static uint32_t behind_jumps(const dv_build *b, uint32_t cell) {
    for (int i = 0; i < MOST_JUMPS; i++) {
        if (b->cells.data[cell].i != DV_OP_R_JUMP) break;
        if (dv_build_is_marked(b, cell) || is_resumed(b, cell)) break;
        cell = (uint32_t)b->cells.data[cell + 3].i;
    }
    return cell;
}

void dv_build_finish(dv_build *b) {
    dv_region *region = b->region;
    sort_points(b);
    KEEP(cells, cell_count);
    KEEP(exits, exit_count);
    KEEP(items, item_count);
    KEEP(frames, frame_count);
    KEEP(points, point_count);
    KEEP(entries, entry_count);
    KEEP(entry_items, entry_item_count);
    KEEP(marks, mark_count);
    KEEP(origins, origin_count);
    KEEP(known, known_count);
    KEEP(held, held_count);
    KEEP(sources, source_count);
    if (b->vm->profile) region->steps = count_from_zero(b);
    if (b->failed) return;
    dv_pair_join(region, b->starts.data, b->starts.count);
    for (uint32_t i = 0; i < b->starts.count; i++) {
        dv_cell *cell = &region->cells[b->starts.data[i]];
        uint32_t op = (uint32_t)cell->i;
        if (op == DV_OP_R_EXIT) cell[2].p = &region->exits[cell[2].i];
        if (op == DV_OP_R_RAISE || op == DV_OP_R_RAISE_OBJECT)
            cell[2].p = &region->sources[cell[2].i];
        if (dv_op_makes(op)) cell[2].p = &region->items[cell[2].i];
        cell->h = dv_handler_of(b->vm, cell, op);
    }
    for (uint32_t i = 0; i < b->label_uses.count; i++) {
        dv_cell *cell = &region->cells[b->label_uses.data[i]];
        cell->target = &region->cells[behind_jumps(b, (uint32_t)cell->i)];
    }
    for (uint32_t i = 0; i < region->entry_count; i++) region->entries[i].region = region;
    for (uint32_t i = 0; i < region->exit_count; i++) region->exits[i].region = region;
    region->extent = (int16_t)(dv_home(b, b->entry_limit) + 8);
    if (region->extent < b->extent) region->extent = b->extent;
    region->gate = b->gate;
    if (b->producer.context) note_producer(b);
}

void dv_build_end(dv_build *b) {
    while (b->blocks) {
        dv_block *next = b->blocks->next;
        dv_heap_free(&b->vm->heap, b->blocks, b->blocks->size);
        b->blocks = next;
    }
}

bool dv_build_is_dead(const dv_build *b, uint32_t pc, int32_t q) {
    return q < b->locals && b->live && !dv_is_live(b->live[pc], (uint32_t)q);
}

bool dv_build_is_dead_in(const dv_build *b, const dv_context *context, uint32_t pc, int32_t q) {
    for (; context->parent; context = context->parent) pc = context->call_pc;
    return dv_build_is_dead(b, pc, q);
}

static int16_t twin_at(const dv_build *b, uint32_t pc, int32_t q) {
    const int16_t twin = b->twin_of[q];
    if (twin >= b->locals) return dv_home(b, twin); /* the producer's, which waits where it did */
    return twin >= 0 && dv_build_is_dead(b, pc, twin) ? twin : -1;
}

/* The slots for objects of an instance that has faded: who enters brings none. */
static void add_ready_items(dv_build *b, const dv_virtual *records, int32_t number) {
    dv_reached all = {.count = 0};
    dv_virtual_reach(records, number, &all);
    for (int32_t k = 0; k < all.count; k++) {
        const dv_virtual *record = &records[all.numbers[k]];
        for (uint32_t i = 0; i < record->shape->count; i++) {
            const dv_entry_item ready = {
                .raw = record->values[i].slot, .kind = DV_K_VIRTUAL, .twin = -1};
            if (record->values[i].where == DV_AT_HOME) DV_PUSH(b, entry_items, ready);
        }
    }
}

/* A dead local that has at the head what local q carries; -1: none. */
static int16_t shares_with(const dv_build *b, const dv_snapshot *head, int32_t q) {
    for (int16_t other = 0; other < b->locals; other++)
        if (dv_is_faded(&head->entries[other]) &&
            head->entries[other].slot == head->entries[q].slot)
            return other;
    return -1;
}

/* The attributes of an instance that the loop carries in local q. */
static void add_carried_items(dv_build *b, const dv_snapshot *head, int32_t q) {
    const dv_virtual *record = &head->records[head->entries[q].slot];
    const int16_t twin = shares_with(b, head, q);
    for (uint32_t i = 0; i < record->shape->count; i++)
        DV_PUSH(b, entry_items,
                (dv_entry_item){.home = dv_home(b, q),
                                .raw = record->values[i].slot,
                                .kind = DV_K_VIRTUAL,
                                .twin = twin,
                                .attribute = (uint8_t)i,
                                .of = record->values[i].kind,
                                .items = (uint8_t)record->shape->count,
                                .shape = record->shape->number});
}

static uint32_t depth_at(const dv_code *code, uint32_t pc) {
    return code->state_at[pc] == DV_NO_STATE ? 0 : code->states[code->state_at[pc]].depth;
}

/* Does the frame have entry q as long as the region runs?  A local that the loop does not store to,
 * and the iterator of the outermost loop. */
static bool is_lasting(const dv_build *b, int32_t q) {
    if (b->parameters) return false;
    if (q < b->locals) return !(b->local_uses[q] & DV_LOCAL_STORED);
    const dv_code *code = b->root->thread->code;
    return (code->words[b->root->begin] & 0xFF) == DV_OP_FOR_ITER &&
           q + 1 == b->locals + (int32_t)depth_at(code, b->root->begin);
}

dv_value dv_build_lasting(const dv_build *b, int32_t q) {
    if (b->e[q].where == DV_AT_ALIAS) q = b->e[q].slot;
    return is_lasting(b, q) ? b->frame[dv_home(b, q)] : DV_EMPTY;
}

bool dv_build_is_wide(const dv_build *b, int32_t q) {
    if (dv_site_cell(b, b->pc)[1].site.seen & DV_SEEN_OTHER) return true;
    const bool constant = b->e[q].where == DV_AT_VALUE;
    return dv_is_wide_text(constant ? b->e[q].value : dv_build_lasting(b, q));
}

uint16_t dv_build_items(dv_build *b, int32_t q, uint16_t saw) {
    const uint16_t numbers = DV_SEEN_INT | DV_SEEN_FLOAT;
    const dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_ALIAS) q = e->slot;
    if (saw & ~numbers && saw & numbers) return saw;
    if (!is_lasting(b, q)) return saw;
    int64_t count;
    const dv_value *items = dv_items_within(b->frame[dv_home(b, q)], &count);
    if (!count) return saw;
    uint16_t all = dv_seen(items[count - 1]);
    for (int64_t i = 0; i < count && i < EXAMINED; i++) all |= dv_seen(items[i]);
    if (saw & ~numbers) return saw | (all & numbers);
    if (all != DV_SEEN_INT && all != DV_SEEN_FLOAT) return saw;
    b->first_items[q] = (uint8_t)all;
    return all;
}

/* Each loop head in the region is an entry: what its snapshot expects of the frame. */
static void add_entries(dv_build *b) {
    const dv_thread *thread = b->root->thread;
    const dv_code *code = thread->code;
    for (uint32_t pc = b->root->begin; pc < b->root->end && !b->failed; pc += length_of(code, pc)) {
        if ((code->words[pc] & 0xFF) != DV_OP_JUMP_BACK) continue;
        uint32_t pc_of_head = code->words[pc] >> 8;
        const dv_snapshot *head = dv_snapshot_at(b->root, pc_of_head);
        if (!head || head->label < 0) continue;
        dv_entry entry = {
            .back = thread->cells + thread->cell_at[pc],
            .cell = (uint32_t)head->label,
            .first_item = b->entry_items.count,
            .above = (uint16_t)(depth_at(code, pc_of_head) - depth_at(code, b->root->begin))};
        bool possible = true;
        for (int32_t q = 0; q < head->top; q++) {
            const dv_known_value *e = &head->entries[q];
            const bool unboxed = e->kind == DV_K_COMPLEX || e->kind == DV_K_CHAR;
            if (e->kind == DV_K_CONSTANT || dv_is_raised(e) || (unboxed && q >= b->locals))
                possible = false;
            if (e->kind == DV_K_RESERVED) continue; /* of a call around the loop */
            if (dv_is_carried(e)) {
                add_carried_items(b, head, q);
                continue;
            }
            if (dv_is_faded(e)) {
                add_ready_items(b, head->records, e->slot);
                continue;
            }
            const bool checked =
                q < b->locals ? b->local_uses[q] & DV_LOCAL_CHECKED : b->producer.context != NULL;
            const uint8_t first = b->first_items[q];
            if (e->kind == DV_K_UNSET || (e->kind == DV_K_ANY && !checked && !first)) continue;
            const bool stored = q < b->locals && b->local_uses[q] & DV_LOCAL_STORED;
            const bool word = e->kind == DV_K_INT && q < b->locals;
            const bool walks = e->kind == DV_K_WALK;
            entry.takes |= (unboxed && stored) || walks;
            DV_PUSH(
                b, entry_items,
                (dv_entry_item){.home = dv_home(b, q),
                                .raw = e->slot,
                                .kind = e->kind,
                                .dead = dv_build_is_dead(b, pc_of_head, q),
                                .taken = walks || ((unboxed || word) && stored),
                                .wide = word && (stored || !b->parameters),
                                .first = first,
                                .twin = e->kind == DV_K_RANGE ? twin_at(b, pc_of_head, q) : -1});
        }
        entry.item_count = b->entry_items.count - entry.first_item;
        if (possible) DV_PUSH(b, entries, entry);
    }
}

int16_t dv_build_twin(const dv_value *locals, uint32_t count, const uint64_t *live, dv_value v) {
    for (uint32_t i = 0; live && i < count; i++)
        if (dv_same(locals[i], v) && !dv_is_live(*live, i)) return (int16_t)i;
    return -1;
}

bool dv_build_is_own_range(dv_build *b, int32_t q, dv_value v, int32_t twin) {
    b->twin_of[q] = (int16_t)twin;
    return dv_is_shape(v, DV_T_RANGE_ITERATOR) && b->vm->nama != DV_NAMA_SEQUENCE &&
           dv_as_object(v)->references == (twin >= 0 ? 2 : 1);
}

/* Is the entry of the operand stack, `k` from its bottom, reserved for a call around the loop? */
bool dv_build_is_reserved(const dv_code *code, uint32_t head, uint32_t k) {
    uint32_t state = code->state_at[head];
    while (code->states[state].depth > k + 1) state = code->states[state].below;
    return code->states[state].kind == DV_SLOT_RESERVED;
}

/* Is it one of Latin-1, in a local to which the region stores?  A dead local may have any str: it
 * gives it up, and nobody sees a str go. */
static bool is_char(const dv_build *b, dv_value v, uint32_t head, int32_t q) {
    if (!dv_is_shape(v, DV_T_STR) || !(b->local_uses[q] & DV_LOCAL_STORED)) return false;
    const dv_str *s = dv_as_str(v);
    return (s->length == 1 && s->kind == 1) || dv_build_is_dead(b, head, q);
}

/* Entry state: what the frame holds at the head of the loop that just went round.  Of the operand
 * stack the region uses the iterator of its outermost loop, and the list below it that a
 * comprehension makes; what is further down stays there. */
static void start_from_frame(dv_build *b, const dv_value *fp, uint32_t head) {
    const dv_code *code = b->root->thread->code;
    const uint32_t depth = depth_at(code, head), outer = depth_at(code, b->root->begin);
    const uint32_t used = code->local_count + (outer > 2 ? outer - 2 : 0);
    b->top = 0;
    b->begun = 0;
    b->virtuals.count = 0;
    for (uint32_t i = 0; i < code->local_count + depth; i++) {
        if (i >= code->local_count && dv_build_is_reserved(code, head, i - code->local_count)) {
            dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
            continue;
        }
        if (i >= code->local_count && i < used) {
            dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
            continue;
        }
        const uint32_t shift = i < code->local_count ? 0 : b->stack_base - code->local_count;
        const dv_value v = fp[i + shift];
        if (i < code->local_count && dv_virtual_begin(b, v, head)) continue;
        dv_kind kind = dv_kind_of(v);
        if (!dv_is_object(v) && dv_build_is_dead(b, head, (int32_t)i)) kind = DV_K_NOTHING;
        if (dv_is_shape(v, DV_T_COMPLEX) && i < code->local_count) kind = DV_K_COMPLEX;
        if (i < code->local_count && is_char(b, v, head, (int32_t)i)) kind = DV_K_CHAR;
        if (i < code->local_count && !b->parameters && dv_int_is_word(v)) kind = DV_K_INT;
        if (i < code->local_count && !b->local_uses[i] && kind != DV_K_UNSET)
            kind = DV_K_ANY; /* it stays where it is */
        const bool is_range = i >= code->local_count && dv_is_shape(v, DV_T_RANGE_ITERATOR);
        if (is_range && dv_build_is_own_range(b, b->top, v,
                                              dv_build_twin(fp, code->local_count,
                                                            b->live ? &b->live[head] : NULL, v)))
            kind = DV_K_RANGE;
        if (i >= code->local_count + outer && b->vm->nama == DV_NAMA_VIRTUAL && dv_walk_is_own(v))
            kind = DV_K_WALK;
        if (b->parameters) kind = dv_function_begins(b, i, kind);
        const bool has_triple = kind == DV_K_RANGE || kind == DV_K_WALK;
        dv_push_known(b, kind, DV_AT_HOME, has_triple ? dv_triple(b, b->top) : 0, DV_EMPTY);
        if (b->producer.context && b->top == b->producer.base - 3) dv_producer_begin(b);
    }
    b->context = b->root;
    dv_build_reach(b, b->root, head);
}

static void find_fixed_point(dv_build *b, const dv_value *fp, uint32_t now) {
    do {
        b->again = false;
        for (uint32_t i = 0; i < b->handlers.count; i++) b->handlers.data[i].entered = false;
        b->work_count = 0;
        b->heaviest = 0;
        forget(b->root);
        b->result_changed = false;
        start_from_frame(b, fp, now);
        interpret(b);
        if (b->parameters && !b->again && !b->failed) b->again = dv_function_differs(b);
    } while (b->again && !b->failed);
}

typedef struct work {
    uint64_t typed, boxed, converted;
} work;

static void add_work(const dv_context *context, work *sum) {
    for (uint32_t i = 0; i < context->end - context->begin; i++) {
        if (!context->at[i].entries) continue;
        sum->typed += context->at[i].typed;
        sum->boxed += context->at[i].boxed;
        sum->converted += context->at[i].converted;
    }
    for (const dv_context *c = context->inlined; c; c = c->siblings) add_work(c, sum);
}

/* What a round saves, weighted; 0: nothing. */
static uint64_t saved_work(const dv_build *b) {
    work sum = {0, 0, 0};
    add_work(b->root, &sum);
    const uint64_t saved = sum.typed * DV_TYPED_SAVES;
    const uint64_t lost = (sum.converted + sum.boxed) * DV_BOXED_COSTS;
    return saved > lost ? saved - lost : 0;
}

/* What a round of the innermost loops weighs. */
static uint32_t deepest_weight(const dv_context *root) {
    uint32_t deepest = 1;
    for (uint32_t i = 0; i < root->end - root->begin; i++)
        if (root->at[i].weight > deepest) deepest = root->at[i].weight;
    return deepest;
}

/* Rounds in DV_REGION_WINDOW entries that pay for entering and leaving; in a nest, for the
 * beginnings and ends of its inner loops as well.  Regions that do without objects are left alone,
 * until exceptions end their rounds. */
static uint32_t least_rounds(const dv_build *b) {
    enum { ENTRY = 100, NEST = 600, VALUE = 35 }; /* instructions; README.md */
    uint32_t values = 0;
    if (b->entries.count == 0 || b->vm->nama == DV_NAMA_SEQUENCE) return 0;
    for (uint32_t i = 0; i < b->entries.count; i++)
        if (b->entries.data[i].item_count > values) values = b->entries.data[i].item_count;
    const uint32_t deepest = deepest_weight(b->root);
    const uint64_t costs = (deepest > LOOP_WEIGHT ? NEST : ENTRY) + VALUE * (uint64_t)values;
    const uint64_t saved = saved_work(b);
    return (uint32_t)(DV_REGION_WINDOW * costs * deepest / (saved ? saved : 1));
}

/* What straight code gains is little: to be measured, it is always taken. */
static bool is_worth_it(const dv_build *b) {
    work sum = {0, 0, 0};
    if (b->vm->nama != DV_NAMA_SEQUENCE) return saved_work(b) > 0;
    add_work(b->root, &sum);
    return sum.typed > 0;
}

static void emit_all(dv_build *b) {
    b->emitting = true;
    b->virtuals.count = 0;
    if (b->parameters) dv_function_open(b);
    /* First, so that its loops begin before the loop's body, which goes round in them. */
    if (b->producer.context) dv_build_range(b, b->producer.context);
    if (!b->failed) dv_build_range(b, b->root);
    while (b->producer.context && emit_branches(b, b->producer.context)) continue;
    for (uint32_t i = 0; i < b->edges.count && !b->failed; i++) emit_stub(b, b->edges.data[i]);
    if (!b->failed) add_entries(b);
    if (!b->failed) emit_exits(b);
    if (!b->failed && b->parameters)
        b->region->begins = (uint32_t)dv_snapshot_at(b->root, 0)->label;
    if (!b->failed && b->entries.count == 0 && !b->parameters)
        fail_at(b, DV_REFUSED_ENTRY, NULL, 0);
    if (!b->failed) dv_build_finish(b);
    if (!b->failed) b->region->removed += dv_virtual_count(b->root);
    if (!b->failed && !b->parameters) b->region->pays_from = least_rounds(b);
    if (!b->region->removed) b->region->least_rounds = b->region->pays_from;
}

/* What the loop does with the locals. */
static void find_uses(dv_build *b, const dv_code *code, uint32_t head, uint32_t end) {
    b->local_uses = dv_build_get(b, code->local_count + 1);
    for (uint32_t pc = head; pc < end && !b->failed; pc += length_of(code, pc)) {
        uint32_t op = code->words[pc] & 0xFF, local = code->words[pc] >> 8;
        const dv_op_info *info = &dv_op_infos[op];
        if (info->operand_count == 0 || info->operands[0] != DV_OPERAND_LOCAL) continue;
        bool reads = op == DV_OP_LOAD_LOCAL || op == DV_OP_LOAD_LOCAL_B;
        b->local_uses[local] |= DV_LOCAL_USED;
        if (op == DV_OP_LOAD_LOCAL_CHECK || op == DV_OP_LOAD_OUTER_CHECK)
            b->local_uses[local] |= DV_LOCAL_CHECKED;
        else if (!reads)
            b->local_uses[local] |= DV_LOCAL_STORED;
    }
}

enum {
    MOST_HELD = 12, /* variables that a region holds */
    DISTURBED = 2   /* what others changed more often while they were in one is not held again */
};

static bool is_held(const dv_build *b, const dv_global_cell *cell, int32_t local) {
    for (uint32_t i = 0; i < b->held.count; i++)
        if (b->held.data[i].cell == cell && b->held.data[i].local == local) return true;
    return false;
}

/* The variable has the value now. */
static void add_held(dv_build *b, dv_global_cell *cell, int32_t local, dv_value value) {
    const dv_kind kind = dv_is_int(value)     ? DV_K_INT
                         : dv_is_float(value) ? DV_K_FLOAT
                         : dv_is_bool(value)  ? DV_K_BOOL
                                              : DV_K_NOTHING;
    const bool fits = b->held.count < MOST_HELD && b->triples < b->triple_limit;
    if (kind == DV_K_NOTHING || !fits || is_held(b, cell, local)) return;
    DV_PUSH(b, held, (dv_held){cell, (int16_t)local, (int16_t)b->triples, (uint8_t)kind});
    b->triples++;
}

/* Variables of numbers, global or shared, that the loop stores to. */
static void find_held(dv_build *b, uint32_t head, uint32_t end) {
    const dv_thread *thread = b->root->thread;
    const dv_code *code = thread->code;
    if (b->vm->nama == DV_NAMA_SEQUENCE) return;
    for (uint32_t pc = head; pc < end && !b->failed; pc += length_of(code, pc)) {
        const uint32_t op = code->words[pc] & 0xFF, operand = code->words[pc] >> 8;
        if (op == DV_OP_STORE_GLOBAL) {
            dv_global_cell *cell =
                dv_namespace_find(&thread->module->names, thread->names[operand]);
            if (cell && cell->disturbed <= DISTURBED) add_held(b, cell, -1, cell->value);
        } else if (op == DV_OP_STORE_CELL && thread->disturbed <= DISTURBED) {
            add_held(b, NULL, (int32_t)operand, dv_as_variable(b->frame[operand])->value);
        }
    }
}

static bool prepare(dv_build *b, dv_thread *thread, uint32_t head, uint32_t end) {
    const dv_code *code = thread->code;
    if (thread->stack_base > MOST_SLOTS || end - head > DV_MOST_WORDS) {
        dv_build_fail(b, DV_REFUSED_SIZE);
        return false;
    }
    if (code->flags & DV_CODE_SEES_FRAME) { /* raw locals would not be seen */
        dv_build_fail(b, DV_REFUSED_FRAME);
        return false;
    }
    b->locals = (int32_t)code->local_count;
    b->stack_base = (int32_t)thread->stack_base;
    const bool wide = dv_code_shadow(code) == DV_SHADOW_EXTRA;
    b->entry_limit = b->locals + (int32_t)code->max_stack + (wide ? EXTRA_ENTRIES : CALLS_ENTRIES);
    b->scratch = (int16_t)(b->locals + b->entry_limit);
    b->return_slot = (int16_t)(b->stack_base - 1); /* the last one */
    b->attribute_slots = b->scratch + DV_SCRATCH_SLOTS;
    b->attribute_count = wide ? DV_ATTRIBUTE_SLOTS : DV_ATTRIBUTE_CALLS;
    b->triples = b->attribute_slots + b->attribute_count;
    b->triple_limit = b->return_slot;
    b->e = dv_build_get(b, (size_t)(b->entry_limit + 8) * sizeof *b->e);
    b->triple_of = dv_build_get(b, (size_t)(b->entry_limit + 8) * sizeof *b->triple_of);
    b->twin_of = dv_build_get(b, (size_t)(b->entry_limit + 8) * sizeof *b->twin_of);
    b->complex_of = dv_build_get(b, (size_t)(b->entry_limit + 8) * sizeof *b->complex_of);
    for (int32_t q = 0; b->twin_of && q < b->entry_limit; q++) b->twin_of[q] = -1;
    find_uses(b, code, head, end);
    b->root = new_context(b, thread, head, end, 0, 1);
    b->live = dv_thread_live(b->vm, thread);
    b->first_items = dv_build_get(b, (size_t)(b->entry_limit + 8));
    return !b->failed;
}

/* Where the loop walks a generator that can be part of the region, it gets a context, as what is
 * inlined has. */
static void find_producer(dv_build *b, const dv_value *fp, uint32_t head) {
    const dv_generator *g = dv_producer_walked(b->vm, b->root->thread, fp, head);
    if (!g) return;
    dv_thread *thread = (dv_thread *)g->code;
    const dv_code *code = b->root->thread->code, *from = thread->code;
    const int32_t base = b->locals + (int32_t)depth_at(code, head) + 3;
    const int32_t locals = (int32_t)thread->local_count;
    const uint32_t stack = code->max_stack > from->max_stack ? code->max_stack : from->max_stack;
    const bool fits = base + locals + (int32_t)stack < b->entry_limit;
    if (!fits || !dv_function_lasts(b, thread)) return;
    dv_context *context = new_context(b, thread, 0, from->word_count, base, 1);
    if (!context) return;
    context->parent = b->root;
    context->call_pc = head, context->return_pc = head + length_of(code, head);
    context->depth = 1;
    context->branches = true;
    context->siblings = b->root->inlined;
    b->root->inlined = context;
    b->producer.context = context;
    b->producer.twin = dv_producer_twin(b->vm, b->root->thread, fp, head);
    b->producer.at = dv_thread_pc(thread, g->at);
    b->producer.base = base, b->producer.floor = base + locals + (int32_t)g->saved;
    b->gap_at = base + locals, b->gap = (int32_t)(thread->stack_base - thread->local_count);
    b->region->inlined = 1;
}

/* Of the code from `head` to `end`, which the frame at fp is about to execute at `now`. */
static dv_region *build(dv_vm *vm, dv_thread *thread, const dv_value *fp, uint32_t head,
                        uint32_t end, uint32_t now, bool is_function, dv_loop_event *event) {
    dv_region *region = dv_heap_alloc(&vm->heap, sizeof *region);
    dv_build *b = dv_heap_alloc(&vm->heap, sizeof *b);
    event->why = DV_REFUSED_MEMORY;
    if (region) memset(region, 0, sizeof *region);
    if (b && region) {
        memset(b, 0, offsetof(dv_build, work));
        region->dependent.invalidate = dv_region_invalidate;
        region->thread = thread, region->begin = head, region->end = end;
        region->active = 1; /* who breaks an assumption meanwhile leaves it alone */
        b->vm = vm, b->region = region, b->frame = fp, b->learns = DV_NO_PC;
        if (prepare(b, thread, head, end) && (!is_function || dv_function_prepare(b))) {
            if (!is_function) find_held(b, head, end);
            if (!is_function && !b->failed) find_producer(b, fp, head);
            find_fixed_point(b, fp, now);
            if (!b->failed && !is_worth_it(b))
                fail_at(b, DV_REFUSED_BOXED, b->heaviest_in, b->heaviest_pc);
            if (!b->failed) emit_all(b);
        }
        event->why = b->failed, event->in = b->failed_in, event->pc = b->failed_pc;
        dv_function_wanted(vm, b->wanted, !b->failed);
        dv_build_end(b);
    }
    if (region) region->active = 0;
    if (region && event->why) {
        dv_region_free(vm, region);
        region = NULL;
    }
    if (b) dv_heap_free(&vm->heap, b, sizeof *b);
    return region;
}

dv_region *dv_region_build(dv_vm *vm, dv_thread *thread, const dv_value *fp, uint32_t head,
                           uint32_t back, uint32_t now, dv_loop_event *event) {
    uint32_t end = back + length_of(thread->code, back);
    return build(vm, thread, fp, head, end, now, false, event);
}

dv_region *dv_region_build_function(dv_vm *vm, dv_thread *thread, const dv_value *fp,
                                    dv_loop_event *event) {
    return build(vm, thread, fp, 0, thread->code->word_count, 0, true, event);
}
