/* consume.h: builtins that take all that a generator yields (sum, all, any, min, max, sorted, list,
 * tuple, set, str.join), without recursion of C:
 *
 *     callee R R [self] generator | kind | total | next ip | function R R frame of the generator
 *
 * The call's own entries stay where they are, as the state of its pc says, so that the unwinder
 * needs to know of `total` alone.  The generator's frame returns to CONSUMED
 * (gen/ops/control.mako), with what it yields or, once it has finished, what it returns.
 *
 * Invariants
 *  1. fp[-4] is the next ip, fp[-5] the total, owned (or EMPTY), fp[-6] the kind, and fp[-7] the
 * generator, where fp is the generator's frame and dv_frame_link(fp) is dv_consume_cell.
 *  2. What can be taken without running any code is taken while the generator's frame stays
 * (dv_consume_quickly); all else is taken when it is suspended, as CPython does it. */
#ifndef DV_RUN_CONSUME_H
#define DV_RUN_CONSUME_H

#include "run/generator.h"
#include "types/mapping/dict.h"
#include "types/sequence/list.h"
#include "types/text/str.h"

typedef enum dv_consume_kind {
    DV_CONSUME_NOT,
    DV_CONSUME_SUM,
    DV_CONSUME_ALL,
    DV_CONSUME_ANY,
    DV_CONSUME_MIN,
    DV_CONSUME_MAX,
    DV_CONSUME_SET,
    DV_CONSUME_LIST, /* from here on a list is the total */
    DV_CONSUME_TUPLE,
    DV_CONSUME_SORTED,
    DV_CONSUME_JOIN
} dv_consume_kind;

/* Which one a C function is, or a class. */
static inline dv_consume_kind dv_consume_function(const dv_cfunction_def *def) {
    switch (def->inlined) {
    case DV_INLINED_SUM: return DV_CONSUME_SUM;
    case DV_INLINED_ALL: return DV_CONSUME_ALL;
    case DV_INLINED_ANY: return DV_CONSUME_ANY;
    case DV_INLINED_MIN: return DV_CONSUME_MIN;
    case DV_INLINED_MAX: return DV_CONSUME_MAX;
    case DV_INLINED_SORTED: return DV_CONSUME_SORTED;
    case DV_INLINED_JOIN: return DV_CONSUME_JOIN;
    default: return DV_CONSUME_NOT;
    }
}
static inline dv_consume_kind dv_consume_class(const dv_vm *vm, const dv_class *class_) {
    return class_ == vm->classes[DV_T_LIST]    ? DV_CONSUME_LIST
           : class_ == vm->classes[DV_T_TUPLE] ? DV_CONSUME_TUPLE
           : class_ == vm->classes[DV_T_SET]   ? DV_CONSUME_SET
                                               : DV_CONSUME_NOT;
}

/* Can the generator, the topmost entry of the stack, be consumed? */
static inline bool dv_consume_fits(const dv_vm *vm, const dv_value *sp) {
    return dv_is_generator(sp[-1]) && dv_generator_fits(vm, dv_as_generator(sp[-1]), sp + 6);
}

/* Enters the generator on top of the stack; the result is its frame, *sp its operand stack. */
static inline dv_value *dv_consume_enter(dv_vm *vm, dv_consume_kind kind, dv_value total,
                                         const dv_cell *behind, dv_value *fp, dv_value **sp) {
    dv_value *top = *sp, *frame = top + 6;
    dv_generator *g = dv_as_generator(top[-1]);
    top[0] = dv_int(kind);
    top[1] = total;
    top[2] = dv_raw_pointer(behind);
    top = dv_generator_enter(vm, g, frame, fp, dv_consume_cell, DV_RESUMER_C, NULL);
    *top++ = DV_NONE;
    *sp = top;
    return frame;
}

/* Is the value true without anybody being asked, and does it go without dying? */
static inline bool dv_consume_true(dv_value v) {
    if (v.bits == DV_TRUE.bits || (dv_is_int(v) && dv_as_int(v) != 0)) return true;
    if (!dv_is_object(v) || dv_as_object(v)->references == 1) return false;
    const bool truth = dv_is_shape(v, DV_T_DICT)   ? dv_as_dict(v)->count != 0
                       : dv_is_shape(v, DV_T_STR)  ? dv_as_str(v)->length != 0
                       : dv_is_shape(v, DV_T_LIST) ? dv_as_list(v)->count != 0
                                                   : false;
    dv_as_object(v)->references -= truth;
    return truth;
}

/* Takes what the generator with the frame at fp yields, if no code runs for that. */
static inline bool dv_consume_quickly(dv_value *fp, dv_value v) {
    const dv_value total = fp[-5];
    const dv_consume_kind kind = (dv_consume_kind)dv_as_int(fp[-6]);
    if (kind >= DV_CONSUME_LIST) {
        dv_list *list = dv_as_list(total);
        if (DV_UNLIKELY(list->count == list->capacity)) return false;
        list->items[list->count++] = v;
        return true;
    }
    if (kind == DV_CONSUME_SUM) {
        if (dv_are_ints(total, v)) {
            const int64_t sum = dv_as_int(total) + dv_as_int(v);
            if (DV_UNLIKELY(!dv_fits_int(sum))) return false;
            fp[-5] = dv_int(sum);
            return true;
        }
        if (dv_is_int(total) && (v.bits == DV_TRUE.bits || v.bits == DV_FALSE.bits)) {
            const int64_t sum = dv_as_int(total) + (v.bits == DV_TRUE.bits);
            if (DV_UNLIKELY(!dv_fits_int(sum))) return false;
            fp[-5] = dv_int(sum);
            return true;
        }
        if (!dv_is_float(v) || !(dv_is_float(total) || dv_is_int(total))) return false;
        const double before = dv_is_int(total) ? (double)dv_as_int(total) : dv_as_float(total);
        fp[-5] = dv_float(before + dv_as_float(v)); /* the first is added to the int 0 */
        return true;
    }
    if (kind == DV_CONSUME_ALL) return dv_consume_true(v);
    if (kind == DV_CONSUME_ANY) return v.bits == DV_FALSE.bits || v.bits == DV_NONE.bits;
    if (kind == DV_CONSUME_SET) return false;
    if (dv_is_empty(total)) { /* the first */
        fp[-5] = v;
        return true;
    }
    const bool least = kind == DV_CONSUME_MIN;
    if (dv_are_ints(total, v)) {
        const int64_t a = dv_as_int(total), b = dv_as_int(v);
        if (least ? b < a : b > a) fp[-5] = v;
        return true;
    }
    if (!dv_is_float(total) || !dv_is_float(v)) return false;
    const double a = dv_as_float(total), b = dv_as_float(v);
    if (least ? b < a : b > a) fp[-5] = v;
    return true;
}

/* Behind a call of what consumes the generator on top; r: dv_consume_kind. */
const dv_cell *dv_slow_consume(DV_HANDLER_PARAMETERS);
const dv_cell *dv_slow_yield(DV_HANDLER_PARAMETERS);    /* YIELD of what is not taken quickly */
const dv_cell *dv_slow_consumed(DV_HANDLER_PARAMETERS); /* CONSUMED */

#endif
