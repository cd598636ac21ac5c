/* operate.h: operators of dl classes that enter the frame of their method, without recursion of C:
 *
 *     a b   becomes   a b | how | next ip | method R R self other
 *
 * and likewise with one operand (`not a`, `if a:`), with three (`a[b] = v`), with the callee and
 * the argument of len, or with a class and the arguments of its call.  a and b stay where they are,
 * as the state of the operator's pc says, so that the unwinder needs to know nothing else.  The
 * frame returns to OPERATED (gen/ops/control.mako), which makes of the method's result what the
 * operator does; NotImplemented goes on where the generic instruction would.
 *
 * Invariants
 *  1. A method is entered only where the generic instruction would ask it first.
 *  2. `how` holds all that OPERATED must know: it never reads the operator's cells. */
#ifndef DV_RUN_OPERATE_H
#define DV_RUN_OPERATE_H

#include "core/shape.h"
#include "run/frame.h"

typedef enum dv_operate_kind {
    DV_OPERATE_ITEM,      /* a[b]: the result, whatever it is */
    DV_OPERATE_BINARY,    /* a op b by __op__ */
    DV_OPERATE_FALLEN,    /* a op= b by __op__, because there is no __iop__ */
    DV_OPERATE_INPLACE,   /* a op= b by __iop__ */
    DV_OPERATE_REFLECTED, /* a op b by __rop__ of b, a being a number that knows nothing of b */
    DV_OPERATE_COMPARE,   /* a op b by the method of the same name */
    DV_OPERATE_OPPOSITE,  /* a != b by __eq__: from here on the truth of the result counts */
    DV_OPERATE_IN,        /* a in b */
    DV_OPERATE_OTHERS,    /* from here on dv_slow_operated does it all */
    DV_OPERATE_BOOL = DV_OPERATE_OTHERS, /* truth of a by __bool__; op: a dv_operate_use */
    DV_OPERATE_SIZE,                     /* truth of a by __len__; likewise */
    DV_OPERATE_LENGTH,                   /* len(a), the callee being below it */
    DV_OPERATE_UNARY,                    /* -a, +a, ~a: the result, whatever it is */
    DV_OPERATE_ITER,                     /* iter(a) of a for statement */
    DV_OPERATE_NEXT,  /* the next item of a, which stays below it; StopIteration: vm/run/unwind.c */
    DV_OPERATE_STORE, /* a[b] = v */
    DV_OPERATE_DELETE, /* del a[b] */
    DV_OPERATE_SET,    /* a.b = v by a property */
    DV_OPERATE_NEW,    /* a call of a class by its __new__, with op arguments */
    DV_OPERATE_COUNT   /* how many kinds there are */
} dv_operate_kind;

/* A call of a class with fewer arguments may be such an operator. */
enum { DV_OPERATE_ARGUMENTS = 28 };

/* What becomes of a truth. */
typedef enum dv_operate_use {
    DV_OPERATE_OPPOSITE_VALUE, /* not a */
    DV_OPERATE_JUMP_IF_FALSE,  /* the instruction's last cell is its target */
    DV_OPERATE_JUMP_IF_TRUE
} dv_operate_use;

/* own: the operator's site; op: its dv_binary_op or dv_compare_op. */
#define DV_OPERATE_HOW(kind, op, own) \
    ((uint64_t)(own) | (uint64_t)(kind) << 3 | (uint64_t)(op) << 8)
/* Is it what counts as a call of its own: a comparison, as dv_compare does, or the call of a class?
 */
#define DV_OPERATE_COUNTS(how)                                                                    \
    (DV_OPERATE_KIND(how) == DV_OPERATE_COMPARE || DV_OPERATE_KIND(how) == DV_OPERATE_OPPOSITE || \
     DV_OPERATE_KIND(how) == DV_OPERATE_NEW)
#define DV_OPERATE_KIND(how) ((dv_operate_kind)((how) >> 3 & 31))
#define DV_OPERATE_OP(how)   ((how) >> 8)

/* a op b, or a op= b: dv_binary or dv_inplace. */
dv_value dv_operate_either(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace);
/* The same where dv_operate_asks_types; NotImplemented where neither type knows it. */
dv_value dv_operate_types(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace);
/* dv_compare where dv_operate_compares_types. */
dv_value dv_operate_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b);

/* The operator's value (new, or EMPTY) from the method's result, which it takes. */
dv_value dv_operated(dv_vm *vm, uint32_t how, dv_value a, dv_value b, dv_value result);

/* What is known of a special method of an instance's class; NULL: nothing yet. */
static inline const dv_special *dv_operate_known(const dv_vm *vm, dv_value self, dv_value name) {
    const dv_class *class_ = dv_shape_at(vm, dv_as_object(self)->shape)->class_;
    const dv_special *known = dv_special_at(vm, class_, name);
    bool fits = known->class_ == class_ && dv_same(known->name, name) &&
                known->names_changed == vm->names_changed;
    return fits ? known : NULL;
}

/* May b's method come before that of the plain instance a?  It is then an instance of a class that
 * derives from a's; where there are several bases, nobody looks. */
static inline bool dv_operate_other(const dv_vm *vm, dv_value a, dv_value b) {
    if (!dv_is_instance(b) || dv_as_object(b)->shape == dv_as_object(a)->shape) return false;
    const dv_class *of_a = vm->shapes[dv_as_object(a)->shape]->class_;
    const dv_class *of_b = dv_shape_at(vm, dv_as_object(b)->shape)->class_;
    return of_a != of_b && (!of_b->linear || dv_class_derives_at_once(of_b, of_a));
}

/* The built-in type that v is exactly of, if v is an object; NULL: v is none, an instance, or of a
 * type of an extension. */
static inline const dv_type *dv_operate_type(const dv_vm *vm, dv_value v) {
    const bool built_in = dv_is_object(v) && dv_as_object(v)->shape < DV_T_EXTENSION;
    return built_in ? vm->types[dv_as_object(v)->shape] : NULL;
}

/* Is it nothing that a class of dl or an extension says, what an operator does with v?  (Classes
 * may have a metaclass that is asked.) */
static inline bool dv_operate_is_built_in(dv_value v) {
    return !dv_is_object(v) ||
           (dv_as_object(v)->shape < DV_T_EXTENSION && dv_as_object(v)->shape != DV_T_CLASS);
}

/* Does an operator ask nobody but built-in types?  (Two ints or floats that are no objects have
 * their own derivatives.) */
static inline bool dv_operate_asks_types(dv_value a, dv_value b) {
    return dv_operate_is_built_in(a) && dv_operate_is_built_in(b) &&
           !((dv_is_int(a) || dv_is_float(a)) && (dv_is_int(b) || dv_is_float(b)));
}
/* The same of a comparison; two strs have theirs, too. */
static inline bool dv_operate_compares_types(dv_value a, dv_value b) {
    if (!dv_is_object(a) || !dv_is_object(b)) return dv_operate_asks_types(a, b);
    return dv_operate_is_built_in(a) && dv_operate_is_built_in(b) &&
           !(dv_is_shape(a, DV_T_STR) && dv_is_shape(b, DV_T_STR));
}

/* Is v equal to None if it is None, and not if not?  (Proxies ask others.) */
static inline bool dv_operate_is_plain(dv_value v) {
    return !dv_is_object(v) || dv_as_object(v)->shape <= DV_T_RANGE;
}

/* The method that is known if a frame of it with so many arguments can be entered behind sp; NULL:
 * not so. */
static inline dv_function *dv_operate_enters(const dv_vm *vm, const dv_special *known,
                                             int64_t count, const dv_value *sp) {
    if (!known || !known->cell || !dv_is_function(known->cell->value)) return NULL;
    dv_function *method = dv_as_function(known->cell->value);
    const dv_thread *thread = dv_function_thread(method);
    return thread->exact_arguments == count && dv_frame_fits(vm, thread, sp + 5) ? method : NULL;
}
static inline dv_function *dv_operate_method(const dv_vm *vm, dv_value self, dv_value name,
                                             const dv_value *sp) {
    return dv_operate_enters(vm, dv_operate_known(vm, self, name), 2, sp);
}

/* Is it known that the class of the plain instance has no such method? */
static inline bool dv_operate_lacks(const dv_vm *vm, dv_value self, dv_value name) {
    const dv_special *known = dv_operate_known(vm, self, name);
    return known && !known->cell;
}

/* The built-in type that v's class derives from and leaves the method to: what this type does is
 * what the generic instruction would come to (types/class/instance.c).  NULL: not so. */
static inline const dv_type *dv_operate_base(dv_vm *vm, dv_value v, dv_value name) {
    if (!dv_is_subclass_instance(v)) return NULL;
    const uint32_t shape = dv_as_object(v)->shape;
    const dv_class *class_ = dv_shape_at(vm, shape)->class_;
    const dv_special *known = dv_special_at(vm, class_, name);
    const bool fits = known->class_ == class_ && dv_same(known->name, name) &&
                      known->names_changed == vm->names_changed;
    const dv_global_cell *cell = fits ? known->cell : dv_class_special_again(vm, class_, name);
    return cell ? NULL : vm->types[shape >> DV_LAYOUT_SHIFT];
}

/* Is v's class derived from a built-in type, and known to leave a method, one of DV_LEFT_..., to
 * it? Asks nobody: no means only that dv_operate_base must be asked, and what it says noted. */
static inline bool dv_operate_leaves(const dv_vm *vm, dv_value v, dv_type_id base, uint8_t method) {
    if (!dv_is_object(v) || dv_as_object(v)->shape >> DV_LAYOUT_SHIFT != base) return false;
    const dv_class *class_ = dv_shape_at(vm, dv_as_object(v)->shape)->class_;
    return class_->left & method && class_->left_then == vm->names_changed;
}
static inline void dv_operate_note_left(const dv_vm *vm, dv_value v, uint8_t method) {
    dv_class *class_ = dv_shape_at(vm, dv_as_object(v)->shape)->class_;
    class_->left = class_->left_then == vm->names_changed ? class_->left | method : method;
    class_->left_then = vm->names_changed;
}

/* A str, or of a class derived from it that leaves the comparison `name` to it. */
static inline bool dv_operate_compares_str(dv_vm *vm, dv_value v, dv_value name) {
    return dv_is_textual_asked(vm, v) || dv_operate_base(vm, v, name) == vm->types[DV_T_STR];
}

/* The built-in type that says alone whether v, an object, is true: its own, or one that has a
 * length and that its class derives from and leaves __bool__ and __len__ to. NULL: another one is
 * asked. */
const dv_type *dv_operate_truth_base(dv_vm *vm, dv_value v);
static inline const dv_type *dv_operate_truth_type(dv_vm *vm, dv_value v) {
    if (!dv_is_object(v)) return NULL;
    if (dv_as_object(v)->shape >= DV_T_COUNT) return dv_operate_truth_base(vm, v);
    const dv_type *type = vm->types[dv_as_object(v)->shape];
    return type && !type->decide && type->id != DV_T_EXCEPTION ? type : NULL;
}

/* What says whether the plain instance is true: __bool__, or else __len__; NULL: not known. */
static inline const dv_special *dv_operate_truth(const dv_vm *vm, dv_value self) {
    const dv_special *known = dv_operate_known(vm, self, vm->known.bool_);
    return known && !known->cell ? dv_operate_known(vm, self, vm->known.len) : known;
}
#define DV_OPERATE_TRUTH_BY(vm, known) \
    (dv_same((known)->name, (vm)->known.bool_) ? DV_OPERATE_BOOL : DV_OPERATE_SIZE)

/* The end of a handler: enters the method, a dv_function *. */
#define OPERATE(method, self, other, how) \
    OPERATE_WITH(method, 2, self, how, frame_[1] = dv_retain(other))
/* The same with two more operands, and with none. */
#define OPERATE3(method, self, other, third, how) \
    OPERATE_WITH(method, 3, self, how, (frame_[1] = dv_retain(other), frame_[2] = dv_retain(third)))
#define OPERATE1(method, self, how) OPERATE_WITH(method, 1, self, how, (void)0)
#define OPERATE_WITH(method, count, self, how, others)                                       \
    do {                                                                                     \
        dv_function *method_ = (method);                                                     \
        const dv_thread *thread_ = dv_function_thread(method_);                              \
        dv_value *frame_ = sp + 5;                                                           \
        sp[0] = (dv_value){DV_TAG_INT | (how)};                                              \
        sp[1] = dv_raw_pointer(ip + LEN);                                                    \
        method_->header.references++;                                                        \
        sp[2] = dv_object_value(method_);                                                    \
        frame_[0] = dv_retain(self);                                                         \
        others;                                                                              \
        sp = dv_frame_push_from(vm, thread_, frame_, frame_ + (count), fp, dv_operate_cell); \
        fp = frame_;                                                                         \
        JUMP(thread_->entry);                                                                \
    } while (0)

#endif
