/* wrapper_number.c: special methods of numbers that have no slot of their own (wrapper_number.h).
 */
#include "types/class/wrapper_number.h"

#include <math.h>

#include "core/upcall.h"
#include "types/number/complex.h"
#include "types/number/float.h"
#include "types/number/int.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

#define SLOT(name)                                                                       \
    dv_value dv_slot_##name(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type, \
                            const dv_value *args, uint32_t count)

SLOT(abs) {
    (void)def, (void)count;
    dv_value v = dv_number_of(args[0]);
    if (type->id == DV_T_FLOAT) return dv_float(fabs(dv_as_float(v)));
    if (type->id == DV_T_COMPLEX) return dv_complex_abs(vm, v);
    return type->unary(vm, dv_int_sign(v) < 0 ? DV_UNARY_NEG : DV_UNARY_POS, v);
}

/* __int__, __index__, __trunc__, ...: of ints the int itself, of floats what int() says. */
SLOT(int) {
    (void)def, (void)count;
    if (type->id == DV_T_INT) return type->unary(vm, DV_UNARY_POS, args[0]);
    dv_value number = dv_number_of(args[0]);
    return vm->types[DV_T_INT]->construct(vm, &number, 1, DV_EMPTY);
}

SLOT(float) {
    (void)def, (void)count;
    if (type->id == DV_T_FLOAT) return dv_number_of(args[0]);
    dv_value exact = type->unary(vm, DV_UNARY_POS, args[0]);
    if (dv_is_empty(exact)) return DV_EMPTY;
    double d;
    bool done = dv_as_double(vm, exact, &d);
    dv_release(vm, exact);
    return done ? dv_float(d) : DV_EMPTY;
}

static dv_value float_edge(dv_vm *vm, const dv_type *type, dv_value v, double (*edge)(double)) {
    if (type->id == DV_T_INT) return type->unary(vm, DV_UNARY_POS, v);
    dv_value number = dv_float(edge(dv_as_float(dv_number_of(v))));
    return vm->types[DV_T_INT]->construct(vm, &number, 1, DV_EMPTY);
}

SLOT(floor) {
    (void)def, (void)count;
    return float_edge(vm, type, args[0], floor);
}

SLOT(ceil) {
    (void)def, (void)count;
    return float_edge(vm, type, args[0], ceil);
}

static dv_value round_float(dv_vm *vm, double d, dv_value digits) {
    if (dv_is_none(digits)) return dv_float_round(vm, d, false, 0);
    dv_value whole = dv_int_index(vm, digits);
    if (dv_is_empty(whole)) return DV_EMPTY;
    int64_t n;
    if (!dv_int_to_int64(whole, &n)) n = dv_int_sign(whole) < 0 ? INT32_MIN : INT32_MAX;
    dv_release(vm, whole);
    return dv_float_round(vm, d, true, n);
}

static dv_value round_int(dv_vm *vm, dv_value v, dv_value digits) {
    dv_value whole = dv_int_index(vm, digits);
    if (dv_is_empty(whole)) return DV_EMPTY;
    dv_value result = dv_int_round(vm, v, whole);
    dv_release(vm, whole);
    return result;
}

dv_value dv_number_round(dv_vm *vm, dv_value number, dv_value digits) {
    dv_value v = dv_number_of(number);
    if (dv_is_float(v)) return round_float(vm, dv_as_float(v), digits);
    return dv_is_none(digits) ? dv_int_index(vm, number) : round_int(vm, number, digits);
}

SLOT(round) {
    (void)def;
    if (count == 1) return dv_number_round(vm, args[0], DV_NONE);
    return type->id == DV_T_INT ? round_int(vm, args[0], args[1])
                                : dv_number_round(vm, args[0], args[1]);
}

/* __getnewargs__: what makes an equal value of exactly the type. */
SLOT(getnewargs) {
    (void)def, (void)count;
    dv_value parts[2];
    if (type->id == DV_T_COMPLEX) {
        parts[0] = dv_float(dv_as_complex(args[0])->real);
        parts[1] = dv_float(dv_as_complex(args[0])->imag);
        return dv_tuple_take(vm, parts, 2);
    }
    parts[0] =
        type->id == DV_T_INT ? type->unary(vm, DV_UNARY_POS, args[0]) : dv_plain_copy(vm, args[0]);
    return dv_is_empty(parts[0]) ? DV_EMPTY : dv_tuple_take(vm, parts, 1);
}

/* __complex__ of a complex, __bytes__ of bytes */
SLOT(plain) {
    (void)def, (void)type, (void)count;
    return dv_plain(vm, args[0]);
}
