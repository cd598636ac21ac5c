/* step.h: what the transfer functions of instructions share (internal to region/).  The functions
 * are declared in dv_steps.h, by the blocks of the instructions (`region` in gen/README.md). */
#ifndef DV_REGION_STEP_H
#define DV_REGION_STEP_H

#include "dv_steps.h"
#include "core/raw.h"
#include "region/analyse/build.h"

/* Raw form of an int or bool constant. */
static inline int64_t dv_raw_int(dv_value v) {
    return dv_is_int(v) ? dv_as_int(v) : v.bits == DV_TRUE.bits;
}

/* Comparisons of raw values, in the order in which gen/ops/region_number.mako makes them: operator,
 * mode of the operands, form. */
enum {
    DV_BRANCH_FORMS = 5,
    DV_BRANCH_MODES = 4,
    DV_BACK_FORMS = 3 /* the first three also at back edges, in the first two modes */
};

/* Is there an instruction for operands in these modes?  (gen/README.md, `lowers`) */
bool dv_step_has(uint32_t moded);

uint32_t dv_word_operand(const dv_build *b, uint32_t pc, uint32_t i);
const dv_cell *dv_site_cell(const dv_build *b, uint32_t pc);
/* The evidence for the site at b->pc: the derivative it has in INCA code; NULL: an extension's. */
const dv_op_info *dv_step_evidence(const dv_build *b);
/* Never executed since the function is warm: nothing is known, and it may never matter. */
bool dv_step_is_cold(const dv_build *b);
/* An entry that INCA saw as an int or float becomes raw, behind a guard. */
void dv_unbox(dv_build *b, int32_t q, dv_kind kind);
/* The same by the instruction `op`. */
void dv_unbox_by(dv_build *b, int32_t q, dv_kind kind, uint32_t op);
/* The topmost entry, a result at home, is expected to be of the raw kind.  It is looked at behind
 * the instruction: that is where the region leaves if it is not. */
void dv_step_take(dv_build *b, dv_kind kind, uint32_t next_pc);
/* Makes entry q raw of one of the number kinds, if it is or if the evidence says so. */
void dv_unbox_by_evidence(dv_build *b, int32_t q, uint32_t input);

/* An operand as a typed instruction takes it.  Entries stay as they are until the instruction is
 * emitted, so that its exit finds what INCA code expects. */
typedef struct dv_operand {
    char mode; /* S, K or R */
    int16_t slot;
    dv_cell k;
} dv_operand;

dv_operand dv_raw_operand(const dv_known_value *e);
/* Converts int entry q into d (the entry stays an int). */
dv_operand dv_converted(dv_build *b, int32_t q, bool exact);
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
/* The same of the module's name. */
dv_value dv_step_global(dv_build *b, dv_module *module, dv_value name);
/* The value of the attribute that the site at b->pc names, if the object is known to be a certain
 * module, or an object whose attributes last; EMPTY: not constant. */
dv_value dv_attribute_constant(dv_build *b, const dv_known_value *object);
static inline bool dv_is_raw_number(const dv_known_value *e) {
    return e->kind == DV_K_INT || e->kind == DV_K_FLOAT;
}

uint32_t dv_step_op(const dv_build *b, uint32_t pc); /* the generic instruction there */
uint32_t dv_step_op_in(const dv_context *context, uint32_t pc);
uint32_t dv_step_length(const dv_build *b, uint32_t pc); /* of the instruction, in words */
/* The instruction at pc follows directly in the same block: it may be taken together with this one.
 */
bool dv_step_follows(dv_build *b, uint32_t pc, uint32_t op);
/* The `inputs` topmost entries are used up, and the answer is known: a constant, or what an
 * attribute of one of them is, in its slot. */
uint32_t dv_step_answer(dv_build *b, int32_t inputs, dv_value answer, uint32_t next_pc);
uint32_t dv_step_replace(dv_build *b, int32_t inputs, const dv_known_value *v, uint32_t next_pc);
/* Weighs an instruction for the decision whether the region is worth it. */
void dv_step_count(dv_build *b, bool typed);
/* The instruction stays as it is, on the operand stack; cold ones become exits.  Result: the next
 * pc. */
uint32_t dv_step_embed(dv_build *b, int32_t inputs, int32_t outputs, uint32_t next_pc);
/* A derivative that makes a slice or key of so many parts, and right behind it the subscript, which
 * it goes over: what either takes is on the operand stack before. */
uint32_t dv_step_embed_both(dv_build *b, int32_t parts, uint32_t subscript);
/* Instructions that no region has, so that it leaves at each of them, and that are not rare: each
 * weighs as much as so many boxed ones. */
enum { DV_LEAVING_WEIGHT = 8 };
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
/* LOAD_ATTR of a property of dl: into its function, which is analysed inline; false: it is none, or
 * may not be. */
bool dv_step_load_property(dv_build *b, uint32_t next_pc);
/* Is the instruction at pc a typed access to items of the entry that lies below the `above` topmost
 * ones then?  (subscript.c) */
bool dv_subscripts_purely(dv_build *b, uint32_t pc, int32_t above);
/* object.name(...): a dl function of the class of the shape that the site saw becomes a constant,
 * and the object self, or the object is released, as it is a static or class method; false: it is
 * another kind of method. */
bool dv_step_method(dv_build *b, uint32_t next_pc);
/* LOAD_ATTR of a method: a bound method that is not made; false: it is made, or something else. */
bool dv_step_bind(dv_build *b, uint32_t next_pc);
/* What LOAD_METHOD leaves: what is called, and self, a constant, or EMPTY. */
void dv_step_push_call(dv_build *b, dv_value callee, dv_value self);
/* The type of which a method takes payloads, if it has such signatures (core/raw.h); else 0. */
uint32_t dv_payload_type(dv_value callee);
/* Is the object that entry q is known to have the shape?  Since the last moment when foreign code
 * may have run, that is, and since the loop's head. */
bool dv_shape_is_known(dv_build *b, int32_t q, uint32_t shape);
void dv_shape_note(dv_build *b, int32_t q, uint32_t shape);
/* Leaves unless the object at `home`, entry q, has the shape `where.s.a`. */
void dv_shape_guard(dv_build *b, int32_t q, int32_t home, dv_cell where);

/* Two entries of the operand stack change places, and so do their values where those are in slots
 * of their own. */
void dv_exchange(dv_build *b, int32_t low, int32_t top);

/* tuple.c */
/* LOAD_CONST of v in front of a return: a tuple that the caller unpacks becomes its items there;
 * false: it is none. */
bool dv_step_return_constants(dv_build *b, dv_value v, uint32_t *next_pc);

/* call.c */
/* An operator that is a call of a C function, on the two topmost entries, raw numbers. */
uint32_t dv_step_raw(dv_build *b, const dv_raw *raw, uint32_t next_pc);
/* The signatures by which a region may call a built-in class, or NULL. */
const dv_raw *dv_step_class_raws(const dv_vm *vm, const void *class_);
/* Entry q is a local of a function that has returned; false: it released nothing. */
bool dv_step_drop_local(dv_build *b, int32_t q);
/* The n topmost entries, none in a register, go up by so many, or down by one, to where a callee
 * has its parameters.  A raw one may stay in its slot: those of the entries that are reserved then
 * are nobody's. */
void dv_step_shift(dv_build *b, int32_t n, int32_t by);
/* Into a function that is analysed inline, whose arguments are on the operand stack.  Result: the
 * pc in it. */
uint32_t dv_step_enter(dv_build *b, dv_thread *callee, uint32_t next_pc, dv_entering entering);
/* It has returned, its result, if it is wanted, is the topmost entry; `released`: objects were.
 * Result: the pc in the caller. */
uint32_t dv_step_returned(dv_build *b, bool released);

/* expression.c: the expression of several sites of an extension that is executed at b->pc.  Result:
 * the pc behind it; DV_NO_PC: there is none. */
uint32_t dv_step_expression(dv_build *b);

/* function.c */
/* The region ends with the function's code at the latest; false: there is no memory. */
bool dv_function_lasts(dv_build *b, dv_thread *thread);
/* A call of the dl function with the n topmost entries, which enters its region; false: it has none
 * that these fit. */
bool dv_function_call(dv_build *b, dv_value function, int32_t n, uint32_t next_pc);
/* RETURN of the region's function. */
uint32_t dv_function_leave(dv_build *b);
/* The build is that of a function.  What a local holds where it begins, `kind` or what it has come
 * to in earlier passes; do these and the result still differ from what was found in the last one?
 * Then, before emission, its gate. */
bool dv_function_prepare(dv_build *b);
dv_kind dv_function_begins(dv_build *b, uint32_t local, dv_kind kind);
bool dv_function_differs(dv_build *b);
void dv_function_open(dv_build *b);
/* The region that wanted to enter these functions has been made, or refused. */
void dv_function_wanted(dv_vm *vm, dv_thread *wanted, bool made);

/* `missing` of the function's parameters have no argument: as many if there are defaults for them,
 * and no more than positional ones, else -1. */
int32_t dv_step_missing(dv_build *b, const dv_function *function, int64_t missing);
/* May a call with n arguments and `more`, which are not on the stack yet, be analysed inline? */
bool dv_step_may_inline(dv_build *b, const dv_function *function, int32_t n, int32_t more);
/* The call with n arguments is analysed inline, its first instruction next; false: it cannot be.
 * `bare`: below the arguments is the place of a self that there is not. */
bool dv_step_inline(dv_build *b, const dv_function *function, int32_t n, bool bare,
                    uint32_t next_pc);

/* bound.c: a call with n arguments of a bound method that a local or a constant holds; false: it
 * stays a call. */
bool dv_step_call_bound(dv_build *b, int32_t n, uint32_t *next_pc);

/* call.c */
/* Is it the built-in function, or range, that has this name? */
bool dv_step_is_builtin(const dv_build *b, dv_value v, const char *name);

/* closure.c: functions that the region makes, and their cells.  A call with n arguments of one that
 * has not been made: it is analysed inline; false: it is none, or cannot be. */
bool dv_closure_call(dv_build *b, int32_t n, uint32_t next_pc);
/* COPY_FREE in it; false: it is another function. */
bool dv_closure_copy(dv_build *b);
/* LOAD_CELL, and STORE_CELL if that is one, of a cell that has not been made. */
uint32_t dv_closure_load_cell(dv_build *b, int32_t cell, uint32_t next_pc);
bool dv_closure_store_cell(dv_build *b, uint32_t next_pc);

/* asked.c: a call with n arguments of a built-in that asks what is known; false: it is another one.
 */
bool dv_step_ask(dv_build *b, dv_value callee, int32_t n, uint32_t *next_pc);

/* named.c */
struct dv_plan;
/* The plan by which the call at b->pc of the function goes, with keywords; NULL: there is none that
 * lasts.  The entries behind local 0 of the frame for which it needs room.  And carrying it out,
 * with that local in entry `frame`: no argument is in a register. */
const struct dv_plan *dv_plan_met(dv_build *b, const dv_function *function);
int32_t dv_plan_room(const struct dv_plan *plan);
void dv_plan_place(dv_build *b, const struct dv_plan *plan, const dv_function *function,
                   int32_t frame);

/* subscript.c */
/* Is it the method list.append? */
bool dv_step_is_append(dv_value v);
/* Can the topmost entry, an argument, be moved into a list? */
bool dv_step_may_append(dv_build *b);
/* A call of it, of a known list: the topmost of `inputs` entries into the list that is entry q. */
uint32_t dv_step_append(dv_build *b, int32_t q, int32_t inputs, uint32_t next_pc);
/* A comparison of the two topmost entries. */
uint32_t dv_compare_entries(dv_build *b, dv_compare_op op, uint32_t next_pc);
/* The same, where they are these ints, or doubles. */
uint32_t dv_compare_raw(dv_build *b, dv_compare_op op, dv_operand left, dv_operand right,
                        bool doubles, uint32_t next_pc);
/* A jump unless entry q, a raw number that is no constant, is 0: its cell. */
uint32_t dv_step_unless_zero(dv_build *b, int32_t q);
/* len() of the topmost entry, to the int register, for `inputs` entries; false: it is no container
 * that is known. */
bool dv_step_length_of(dv_build *b, int32_t inputs);

#endif
