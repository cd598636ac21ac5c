/* emit.h: instructions, labels and tables of one code object under construction.
 *
 * Invariants
 *  1. Nothing is emitted where control cannot come: after a jump, return or raise the emitter is
 *     silent until a label is placed that something refers to.
 *  2. Out of memory is sticky (front->status); emitting then does nothing, so callers need not
 * check each call, only the status now and then.
 *  3. Each instruction belongs to at most one exception handler, the innermost; the exception table
 * is made of runs of instructions with the same one, so its entries never overlap. */
#ifndef DV_LANG_EMIT_H
#define DV_LANG_EMIT_H

#include "lang/front/ast.h"

#include "dv_ops.h"

typedef uint32_t dv_label;

#define DV_NO_HANDLER UINT32_MAX

typedef struct dv_instruction {
    uint8_t op, operand_count;
    uint32_t a, b; /* a of a jump: its label */
    uint32_t range;
    uint32_t handler;
} dv_instruction;

/* Where exceptions go, and how many entries of the operand stack stay. */
typedef struct dv_handler_entry {
    dv_label label;
    uint32_t depth;
    bool used;
} dv_handler_entry;

typedef struct dv_constant_table {
    dv_const *items;
    uint32_t count, capacity;
    uint32_t *slots; /* hash table of indices + 1 */
    uint32_t slot_count;
} dv_constant_table;

typedef struct dv_emitter {
    dv_front *front;
    dv_instruction *items;
    uint32_t count, capacity;
    dv_range *ranges; /* of instructions; neighbours share */
    uint32_t range_count, range_capacity;
    uint32_t *labels; /* position, or DV_NO_INDEX while not placed */
    bool *label_used;
    uint32_t label_count, label_capacity, used_capacity;
    dv_handler_entry *handlers;
    uint32_t handler_count, handler_capacity;
    uint32_t handler; /* the current one, or DV_NO_HANDLER */
    bool reachable;
    bool has_loop;
    dv_inlined_code *inlined; /* pcs are positions in `items` */
    uint32_t inlined_count, inlined_capacity;
    dv_constant_table constants;
    dv_text *names;
    dv_index_map name_map;
    uint32_t name_count, name_capacity;
} dv_emitter;

void dv_emit_begin(dv_emitter *e, dv_front *front);

/* Instructions with no, one and two operands. */
void dv_emit(dv_emitter *e, uint8_t op, dv_range at);
void dv_emit_a(dv_emitter *e, uint8_t op, uint32_t a, dv_range at);
void dv_emit_ab(dv_emitter *e, uint8_t op, uint32_t a, uint32_t b, dv_range at);

/* Jumps; `own` is for the conditional jumps that have it. */
void dv_emit_jump(dv_emitter *e, uint8_t op, dv_label target, dv_range at);
void dv_emit_branch(dv_emitter *e, uint8_t op, dv_label target, uint32_t own, dv_range at);

dv_label dv_emit_new_label(dv_emitter *e);
void dv_emit_place(dv_emitter *e, dv_label label);

/* A label for a loop's head, placed here. */
dv_label dv_emit_head(dv_emitter *e);

uint32_t dv_emit_new_handler(dv_emitter *e, uint32_t depth);
/* Places a handler's code; reachable if something can raise into it or falls into it. */
void dv_emit_place_handler(dv_emitter *e, uint32_t handler);
dv_label dv_emit_handler_label(const dv_emitter *e, uint32_t handler);

/* The instructions since position `place->begin` were those of an inlined comprehension. */
void dv_emit_inlined(dv_emitter *e, const dv_inlined_code *place);

/* The range of the last instruction; `otherwise` if it has none. */
dv_range dv_emit_last_range(const dv_emitter *e, dv_range otherwise);

uint32_t dv_emit_constant(dv_emitter *e, const dv_literal *literal);
uint32_t dv_emit_none(dv_emitter *e);
uint32_t dv_emit_text(dv_emitter *e, dv_text text); /* a str constant */
uint32_t dv_emit_code(dv_emitter *e, const dv_code *code);
uint32_t dv_emit_name(dv_emitter *e, const dv_name *name);

/* Threads jumps, drops what has become unreachable, and writes the tables of `code`. */
bool dv_emit_finish(dv_emitter *e, dv_code *code);

#endif
