/* producer.c: the generator that a loop walks as part of the loop's region (producer.h).
 *
 * Only one YIELD may be reached again and again, so that what the generator keeps while the loop's
 * body runs is the same in each round, and where it goes on. */
#include "region/step/producer.h"

#include "core/weak.h"
#include "region/step/step.h"
#include "types/number/range.h"

static uint32_t op_at(const dv_code *code, uint32_t pc) { return code->words[pc] & 0xFF; }

static uint32_t words_at(const dv_code *code, uint32_t pc) {
    const uint32_t n = dv_op_infos[op_at(code, pc)].operand_count;
    return n > 1 ? n : 1;
}

/* The first pc that control may come to once the generator goes on at pc. */
static uint32_t lowest_from(const dv_code *code, uint32_t pc) {
    uint32_t lowest = pc;
    for (; pc < code->word_count; pc += words_at(code, pc))
        if (op_at(code, pc) == DV_OP_JUMP_BACK && code->words[pc] >> 8 < lowest)
            lowest = pc = code->words[pc] >> 8;
    return lowest;
}

/* What works on the frame, which is not where the instruction would look for it, or leaves it
 * elsewhere than at the one YIELD. */
static bool is_in_the_way(uint32_t op) {
    return dv_op_yields(op) || op == DV_OP_SEND || op == DV_OP_YIELD_FROM ||
           op == DV_OP_STORE_CELL || op == DV_OP_DELETE_CELL || op == DV_OP_MAKE_FUNCTION ||
           op == DV_OP_MAKE_CLOSURE || op == DV_OP_MAKE_CLOSURE_BY_VALUE || op == DV_OP_BUILD_CLASS;
}

/* Can the code be part of a region when it goes on behind the YIELD at pc? */
static bool may_produce(const dv_thread *thread, uint32_t at) {
    const dv_code *code = thread->code;
    if (!thread->warm || code->flags & DV_CODE_SEES_FRAME || code->word_count > DV_MOST_WORDS)
        return false;
    for (uint32_t pc = 0; op_at(code, pc) != DV_OP_MAKE_GENERATOR; pc += words_at(code, pc))
        if (op_at(code, pc) == DV_OP_MAKE_CELL) return false;
    for (uint32_t pc = lowest_from(code, at); pc < code->word_count; pc += words_at(code, pc))
        if (pc != at && is_in_the_way(op_at(code, pc))) return false;
    return true;
}

bool dv_producer_is_ready(dv_vm *vm, const dv_generator *g, const dv_thread *thread,
                          const dv_cell *at, uint32_t references) {
    return dv_generator_thread(g) == thread && g->at == at && g->state == DV_GENERATOR_SUSPENDED &&
           g->header.references == references && dv_is_none(g->handled) &&
           !dv_weak_first(vm, &g->header);
}

static dv_value iterator_at(const dv_thread *thread, const dv_value *fp, uint32_t head) {
    const dv_code *code = thread->code;
    return fp[thread->stack_base + code->states[code->state_at[head]].depth - 1];
}

int16_t dv_producer_twin(dv_vm *vm, dv_thread *thread, const dv_value *fp, uint32_t head) {
    const uint64_t *live = dv_thread_live(vm, thread);
    return dv_build_twin(fp, thread->local_count, live ? &live[head] : NULL,
                         iterator_at(thread, fp, head));
}

const dv_generator *dv_producer_walked(dv_vm *vm, dv_thread *thread, const dv_value *fp,
                                       uint32_t head) {
    if (op_at(thread->code, head) != DV_OP_FOR_ITER || vm->nama > DV_NAMA_INLINE) return NULL;
    const dv_value iterator = iterator_at(thread, fp, head);
    if (!dv_is_generator(iterator)) return NULL;
    const dv_generator *g = dv_as_generator(iterator);
    const dv_thread *from = dv_generator_thread(g);
    if (from == thread || from->module != thread->module) return NULL;
    const uint32_t twins = dv_producer_twin(vm, thread, fp, head) >= 0;
    if (!dv_producer_is_ready(vm, g, from, g->at, 1 + twins)) return NULL;
    const uint32_t at = dv_thread_pc(from, g->at);
    return op_at(from->code, at) == DV_OP_YIELD && may_produce(from, at) ? g : NULL;
}

/* Does the instruction append to a list, set or dict that is further down? */
static bool appends(uint32_t op) {
    return op == DV_OP_LIST_APPEND || op == DV_OP_SET_ADD || op == DV_OP_DICT_ADD;
}

static bool is_in_body(const dv_build *b) {
    return !b->context->parent && dv_producer_waits(b, b->context);
}

bool dv_producer_is_passed(const dv_build *b) {
    if (!is_in_body(b)) return false;
    const uint32_t op = dv_step_op(b, b->pc);
    const int32_t takes = op == DV_OP_DICT_ADD ? 2 : 1;
    return appends(op) &&
           b->top - takes - (int32_t)dv_word_operand(b, b->pc, 0) < b->producer.floor;
}

bool dv_producer_is_left(const dv_build *b) {
    if (!is_in_body(b) || b->pc == b->producer.context->call_pc) return false;
    const uint32_t op = dv_step_op(b, b->pc);
    const dv_op_info *info = &dv_op_infos[op];
    const uint32_t n = info->operand_count > 0 ? dv_word_operand(b, b->pc, 0) : 0,
                   m = info->operand_count > 1 ? dv_word_operand(b, b->pc, 1) : 0;
    const bool reaches = op == DV_OP_COPY || op == DV_OP_SWAP;
    const int32_t takes = reaches ? (int32_t)n : (int32_t)dv_op_takes(info, n, m);
    return b->top - takes < b->producer.floor;
}

/* Is its value i, which becomes the next entry, such an iterator? */
static bool is_own_range(dv_build *b, const dv_generator *g, uint32_t i) {
    const dv_context *c = b->producer.context;
    const uint32_t locals = c->thread->local_count;
    const dv_value v = g->slots[i];
    if (i < locals || !dv_is_shape(v, DV_T_RANGE_ITERATOR)) return false;
    const uint64_t *live = dv_thread_live(b->vm, c->thread);
    const int32_t twin = dv_build_twin(g->slots, locals, live ? &live[b->producer.at] : NULL, v);
    return dv_build_is_own_range(b, b->top, v, twin < 0 ? -1 : c->base + twin);
}

void dv_producer_begin(dv_build *b) {
    const dv_context *c = b->producer.context;
    const dv_generator *g = dv_as_generator(b->frame[dv_home(b, c->base - 4)]);
    const uint32_t locals = c->thread->local_count;
    for (int32_t i = 0; i < 3; i++) dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    for (uint32_t i = 0; i < locals + g->saved; i++) {
        if (i >= locals && dv_build_is_reserved(c->thread->code, b->producer.at, i - locals)) {
            dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
        } else if (is_own_range(b, g, i)) {
            dv_push_known(b, DV_K_RANGE, DV_AT_HOME, dv_triple(b, b->top), DV_EMPTY);
        } else {
            dv_push_known(b, dv_kind_of(g->slots[i]), DV_AT_HOME, 0, DV_EMPTY);
        }
    }
}

uint32_t dv_step_return_generator(dv_build *b, uint32_t next_pc) {
    (void)next_pc;
    dv_region_emit_exit(b, b->context, b->pc, false); /* the loop ends, as it may */
    return b->pc;
}

uint32_t dv_producer_resume(dv_build *b) {
    dv_step_count(b, true);
    b->context = b->producer.context;
    b->version++;
    dv_push_constant(b, DV_NONE); /* what is sent */
    return b->producer.at + 1;
}

uint32_t dv_producer_yield(dv_build *b) {
    dv_step_count(b, true);
    const uint32_t next = b->context->return_pc;
    b->context = b->context->parent;
    b->version++;
    return next;
}
