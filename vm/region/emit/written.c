/* written.c: cells of regions that somebody has written (written.h), by the builder's means. */
#include "region/emit/written.h"

#include "region/analyse/build.h"

static void add_op(dv_build *b, const dv_written_op *op) {
    const dv_region_facts *facts = &dv_region_facts_of[op->op - DV_OP_FIRST_REGION];
    const uint32_t at = dv_region_emit(b, op->op, op->slots[0], op->slots[1], op->slots[2]);
    if (b->failed) return;
    dv_cell *cell = &b->cells.data[at];
    /* Where the operand stack ends is above all that it may hold. */
    if (!facts->publishes) cell[1].o.d = op->slots[3];
    if (facts->constant != DV_TAKES_NOTHING) cell[2] = op->constant;
    if (op->op == DV_OP_R_EXIT) {
        cell[1].o.a = op->is_new;
        cell[2].i = op->exit;
    } else if (op->exit != DV_NO_EXIT) {
        dv_point_add(b, at, op->exit, true, facts->polls, false);
    }
}

/* The cells of the instructions' targets, when all instructions have cells. */
static void set_targets(dv_build *b, const dv_written_region *written) {
    for (uint32_t i = 0; i < written->op_count && !b->failed; i++) {
        const dv_written_op *op = &written->ops[i];
        const dv_region_facts *facts = &dv_region_facts_of[op->op - DV_OP_FIRST_REGION];
        for (uint32_t k = 0; k < 2; k++) {
            if (!((facts->jumps | facts->exits) >> k & 1)) continue;
            const uint32_t cell = b->starts.data[i] + 3 + k;
            b->cells.data[cell].i = b->starts.data[op->targets[k]];
            DV_PUSH(b, label_uses, cell);
        }
    }
}

static void add_tables(dv_build *b, const dv_written_region *written, const dv_thread *thread) {
    for (uint32_t i = 0; i < written->item_count; i++) DV_PUSH(b, items, written->items[i]);
    for (uint32_t i = 0; i < written->entry_item_count; i++)
        DV_PUSH(b, entry_items, written->entry_items[i]);
    for (uint32_t i = 0; i < written->exit_count; i++) {
        const dv_written_exit *x = &written->exits[i];
        const dv_code *code = thread->code;
        const int32_t depth = code->states[code->state_at[x->pc]].depth;
        DV_PUSH(b, exits,
                (dv_exit){.pc = x->pc,
                          .learns = DV_NO_PC,
                          .thread = thread,
                          .first_item = x->first_item,
                          .item_count = x->item_count,
                          .top = dv_home(b, b->locals + depth),
                          .counts = x->counts});
    }
    for (uint32_t i = 0; i < written->entry_count && !b->failed; i++) {
        const dv_written_entry *e = &written->entries[i];
        DV_PUSH(b, entries,
                (dv_entry){.back = thread->cells + thread->cell_at[e->back],
                           .cell = b->starts.data[e->op],
                           .first_item = e->first_item,
                           .item_count = e->item_count});
    }
}

static void build(dv_build *b, const dv_written_region *written, const dv_thread *thread) {
    b->locals = (int32_t)thread->local_count;
    b->stack_base = (int32_t)thread->stack_base;
    b->entry_limit = b->top = b->locals + (int32_t)thread->code->max_stack;
    b->emitting = true;
    for (uint32_t i = 0; i < written->op_count && !b->failed; i++) add_op(b, &written->ops[i]);
    set_targets(b, written);
    if (!b->failed) add_tables(b, written, thread);
    if (!b->failed) dv_build_finish(b);
}

dv_region *dv_region_from_text(dv_vm *vm, dv_thread *thread, uint32_t back) {
    const dv_written_region *written = thread->code->written;
    while (written && written->back != back) written = written->next;
    if (!written) return NULL;
    dv_region *region = dv_heap_alloc(&vm->heap, sizeof *region);
    dv_build *b = region ? dv_heap_alloc(&vm->heap, sizeof *b) : NULL;
    dv_refusal failed = DV_REFUSED_MEMORY;
    if (region) memset(region, 0, sizeof *region);
    if (b) {
        memset(b, 0, offsetof(dv_build, work));
        region->dependent.invalidate = dv_region_invalidate;
        region->thread = thread, region->begin = written->head, region->end = back + 1;
        region->removed = written->removed;
        b->vm = vm, b->region = region;
        build(b, written, thread);
        failed = b->failed;
        dv_build_end(b);
        dv_heap_free(&vm->heap, b, sizeof *b);
    }
    if (region && failed) {
        dv_region_free(vm, region);
        region = NULL;
    }
    return region;
}
