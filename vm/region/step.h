/* step.h: the transfer function of instructions (step.c; calls in call.c) and what its parts share
 * (internal to region/). */
#ifndef DV_REGION_STEP_H
#define DV_REGION_STEP_H

#include "region/build.h"

/* Raw form of an int or bool constant. */
static inline int64_t dv_raw_int(dv_value v) {
    return dv_is_int(v) ? dv_as_int(v) : v.bits == DV_TRUE.bits;
}

uint32_t dv_word_operand(const dv_build *b, uint32_t pc, uint32_t i);
const dv_cell *dv_site_cell(const dv_build *b, uint32_t pc);
/* Raw entry q into r or d. */
void dv_load_register(dv_build *b, int32_t q);
/* Entry q, an int or a boxed number (guard), into d as a double.  The entry stays what it is: if
 * the instruction that takes the double leaves the region, INCA code finds what the program gave
 * it. */
void dv_load_double(dv_build *b, int32_t q);
/* The n topmost entries become RESERVED. */
void dv_mark_reserved(dv_build *b, int32_t n);
void dv_push_constant(dv_build *b, dv_value v);
/* The value of a global as a constant under an assumption; EMPTY: not constant. */
dv_value dv_constant_global(dv_build *b, dv_global_cell *cell);
/* The value of the attribute that the site at b->pc names, if the object is known to be a certain
 * module, or an object whose attributes last; EMPTY: not constant. */
dv_value dv_attribute_constant(dv_build *b, const dv_known_value *object);
static inline bool dv_is_raw_number(const dv_known_value *e) {
    return e->kind == DV_K_INT || e->kind == DV_K_FLOAT;
}

uint32_t dv_step_length(const dv_build *b, uint32_t pc); /* of the instruction, in words */
/* The instruction at pc follows directly in the same block: it may be taken together with this one.
 */
bool dv_step_follows(dv_build *b, uint32_t pc, uint32_t op);
/* Weighs an instruction for the decision whether the region is worth it. */
void dv_step_count(dv_build *b, bool typed);
/* The instruction stays as it is, on the operand stack; cold ones become exits.  Result: the next
 * pc. */
uint32_t dv_step_embed(dv_build *b, int32_t inputs, int32_t outputs, uint32_t next_pc);
/* The region ends here. */
uint32_t dv_step_leave(dv_build *b);
/* The instruction just emitted may have called out: the world is looked at again before the next
 * one. */
void dv_step_point_after(dv_build *b, uint32_t next_pc);
/* A raw result that cell `at` has put into r or d (DV_NO_CELL: no form of it puts it into a slot),
 * or into local `target`, for `inputs` entries.  Result: the next pc. */
uint32_t dv_finish_raw(dv_build *b, uint32_t at, int32_t inputs, dv_kind kind, int32_t target,
                       uint32_t next_pc);

/* If the instruction at pc stores into a local that can take a raw value at once: its entry, else
 * -1.  `inputs` entries on top are consumed before. */
int32_t dv_step_direct_target(dv_build *b, uint32_t pc, int32_t inputs);

/* attribute.c */
uint32_t dv_step_load_slot(dv_build *b, uint32_t next_pc);
uint32_t dv_step_store_slot(dv_build *b, uint32_t next_pc);
/* object.name(...): a dl function of the class of the shape that the site saw becomes a constant,
 * and the object self; false: it is another kind of method. */
bool dv_step_method(dv_build *b);

/* call.c */
uint32_t dv_step_call(dv_build *b, int32_t n, int32_t self, uint32_t next_pc);
uint32_t dv_step_load_method(dv_build *b, uint32_t next_pc);
uint32_t dv_step_return(dv_build *b);

#endif
