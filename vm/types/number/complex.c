/* complex.c: the type complex: operators, comparison, construction, methods (complex.h).
 *
 * Invariants
 *  1. The same operations on doubles in the same order as CPython's, so that zeros have the same
 *     signs and special values go the same ways.
 *  2. A real operand counts as a complex number whose imaginary part is 0. */
#include "types/number/complex.h"

#include <math.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/number/float.h"
#include "types/text/format.h"
#include "types/class/instance.h"
#include "types/class/instance_dict.h"
#include "types/number/int.h"
#include "types/text/str.h"
#include "types/class/subclass.h"

#define HASH_IMAG 1000003u
#define POWER_MAX 100.0 /* whole exponents up to here are multiplied out */

typedef struct pair {
    double re, im;
} pair;

static dv_value make(dv_vm *vm, pair z) { return dv_complex_new(vm, z.re, z.im); }

dv_value dv_complex_new(dv_vm *vm, double real, double imag) {
    dv_complex *z = dv_object_new(vm, sizeof *z, DV_T_COMPLEX);
    if (!z) return DV_EMPTY;
    z->real = real;
    z->imag = imag;
    return dv_object_value(z);
}

/* Nobody but the operator has the number. */
static bool dies(dv_value v) {
    return dv_is_shape(v, DV_T_COMPLEX) && dv_as_object(v)->references == 1;
}

dv_value dv_complex_over(dv_vm *vm, double real, double imag, dv_value a, dv_value b) {
    if (!dies(a) && dies(b)) {
        dv_value t = a;
        a = b;
        b = t;
    }
    dv_value result = a;
    if (dies(a)) {
        dv_as_complex(a)->real = real;
        dv_as_complex(a)->imag = imag;
    } else {
        result = dv_complex_new(vm, real, imag);
        if (dv_is_empty(result)) return result;
        dv_release(vm, a);
    }
    dv_release(vm, b);
    return result;
}

static void complex_release(dv_vm *vm, dv_object *object) {
    dv_object_free(vm, object, sizeof(dv_complex));
}

static dv_value complex_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_complex *z = dv_subclass_alloc(vm, class_, sizeof *z);
    if (!z) return DV_EMPTY;
    z->real = dv_as_complex(exact)->real;
    z->imag = dv_as_complex(exact)->imag;
    return dv_object_value(z);
}

/* ---- Conversion -------------------------------------------------------------------------------*/

/* __complex__ of an instance; false with *found false: it has none. */
static bool special_complex(dv_vm *vm, dv_value v, pair *out, bool *found) {
    dv_value r = dv_number_special(vm, v, vm->known.complex_, found);
    if (!*found || dv_is_empty(r)) return false;
    bool good = dv_is_complex(r);
    if (good)
        *out = (pair){dv_as_complex(r)->real, dv_as_complex(r)->imag};
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "__complex__ returned non-complex (type %T)", r);
    dv_release(vm, r);
    return good;
}

bool dv_complex_take(dv_vm *vm, dv_value v, double *real, double *imag) {
    if (dv_is_complex(v)) {
        *real = dv_as_complex(v)->real;
        *imag = dv_as_complex(v)->imag;
        return true;
    }
    pair z = {0.0, 0.0};
    bool found = false;
    bool good = !dv_is_float(v) && special_complex(vm, v, &z, &found);
    if (!found) good = dv_as_double(vm, v, &z.re);
    *real = z.re;
    *imag = z.im;
    return good;
}

static bool is_real(dv_vm *vm, dv_value v) {
    return dv_is_float(dv_number_of(v)) || dv_is_integral(v) ||
           (dv_has_methods(v) &&
            (dv_has_special(vm, v, vm->known.float_) || dv_has_special(vm, v, vm->known.index)));
}

/* A number among the arguments of complex(); *is_complex: it had an imaginary part.  Only the first
 * argument is asked for __complex__. */
static bool take_part(dv_vm *vm, dv_value v, bool first, pair *out, bool *is_complex) {
    *out = (pair){0.0, 0.0};
    *is_complex = dv_is_complex(v);
    bool found = false;
    if (first && (dv_has_methods(v) || dv_is_foreign(v)) && special_complex(vm, v, out, &found))
        return true;
    if (found) return false;
    if (!*is_complex && is_real(vm, v)) return dv_float_convert(vm, v, &out->re);
    if (*is_complex) return dv_complex_take(vm, v, &out->re, &out->im);
    if (!dv_is_empty(vm->error)) return false;
    dv_raise(vm, DV_E_TYPE_ERROR,
             first ? "complex() first argument must be a string or a number, not '%T'"
                   : "complex() second argument must be a number, not '%T'",
             v);
    return false;
}

static dv_value complex_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    static const char *const names[] = {"real", "imag"};
    static const dv_parameters parameters = {"complex", names, 2, 2, 0};
    dv_value given[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    bool has_imag = !dv_is_empty(given[1]);
    if (dv_is_empty(given[0])) given[0] = dv_int(0);
    if (dv_is_shape(given[0], DV_T_COMPLEX) && !has_imag) return dv_retain(given[0]);
    if (dv_is_str(given[0])) {
        if (!has_imag) return dv_complex_from_str(vm, given[0]);
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "complex() can't take second arg if first is a string");
    }
    if (has_imag && dv_is_str(given[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "complex() second arg can't be a string");
    pair r, i = {0.0, 0.0};
    bool r_complex, i_complex = false;
    if (!take_part(vm, given[0], true, &r, &r_complex) ||
        (has_imag && !take_part(vm, given[1], false, &i, &i_complex)))
        return DV_EMPTY;
    if (!has_imag) return make(vm, r);
    if (i_complex) r.re -= i.im;
    if (r_complex) i.re += r.im;
    return dv_complex_new(vm, r.re, i.re);
}

/* ---- Hash and comparison ----------------------------------------------------------------------*/

static bool complex_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    const dv_complex *z = dv_as_complex(self);
    uint64_t h =
        (uint64_t)dv_float_hash(vm, z->real) + HASH_IMAG * (uint64_t)dv_float_hash(vm, z->imag);
    *hash = h == UINT64_MAX ? -2 : (int64_t)h;
    return true;
}

static dv_value complex_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (op != DV_EQ && op != DV_NE) return DV_NOTIMPLEMENTED;
    if (!dv_is_complex(a)) {
        dv_value t = a;
        a = b;
        b = t;
    }
    const dv_complex *z = dv_as_complex(a);
    bool equal;
    b = dv_number_of(b);
    if (dv_is_complex(b))
        equal = z->real == dv_as_complex(b)->real && z->imag == dv_as_complex(b)->imag;
    else if (dv_is_float(b) || dv_is_integral(b))
        equal = z->imag == 0.0 &&
                dv_same(dv_float_type.compare(vm, DV_EQ, dv_float(z->real), b), DV_TRUE);
    else
        return DV_NOTIMPLEMENTED;
    return dv_bool(equal == (op == DV_EQ));
}

/* ---- Operators --------------------------------------------------------------------------------*/

static pair product(pair a, pair b) {
    return (pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* False: division by zero. */
static bool quotient(pair a, pair b, pair *out) {
    *out = (pair){NAN, NAN};
    if (b.re == 0.0 && b.im == 0.0) return false;
    const dv_complex_parts q = dv_complex_quotient(a.re, a.im, b.re, b.im);
    *out = (pair){q.real, q.imag};
    return true;
}

bool dv_complex_divide(double *real, double *imag, double b_real, double b_imag) {
    pair r;
    bool good = quotient((pair){*real, *imag}, (pair){b_real, b_imag}, &r);
    *real = r.re;
    *imag = r.im;
    return good;
}

/* By squaring; n in -100 .. 100.  False: 0 to a negative power. */
static bool whole_power(pair base, int n, pair *out) {
    pair r = {1.0, 0.0}, p = base;
    unsigned exponent = (unsigned)(n < 0 ? -n : n);
    for (unsigned mask = 1; exponent >= mask; mask <<= 1) {
        if (exponent & mask) r = product(r, p);
        p = product(p, p);
    }
    if (n > 0) {
        *out = r;
        return true;
    }
    return quotient((pair){1.0, 0.0}, r, out);
}

/* False: 0 to a negative or complex power. */
static bool power(pair a, pair b, pair *out) {
    *out = (pair){1.0, 0.0};
    if (b.re == 0.0 && b.im == 0.0) return true;
    *out = (pair){0.0, 0.0};
    if (a.re == 0.0 && a.im == 0.0) return b.im == 0.0 && !(b.re < 0.0);
    double magnitude = hypot(a.re, a.im), length = pow(magnitude, b.re);
    double angle = atan2(a.im, a.re), phase = angle * b.re;
    if (b.im != 0.0) {
        length /= exp(angle * b.im);
        phase += b.im * log(magnitude);
    }
    *out = (pair){length * cos(phase), length * sin(phase)};
    return true;
}

/* False: 0 to a negative or complex power. */
static bool any_power(pair a, pair b, pair *out) {
    const bool whole = b.im == 0.0 && b.re == floor(b.re) && fabs(b.re) <= POWER_MAX;
    return whole ? whole_power(a, (int)b.re, out) : power(a, b, out);
}

dv_complex_parts dv_complex_power(double real, double imag, double b_real, double b_imag) {
    pair r;
    if (!any_power((pair){real, imag}, (pair){b_real, b_imag}, &r)) r.re = INFINITY;
    return (dv_complex_parts){r.re, r.im};
}

static dv_value power_of(dv_vm *vm, pair a, pair b) {
    pair r;
    if (!any_power(a, b, &r))
        return dv_raise(vm, DV_E_ZERO_DIVISION_ERROR, "0.0 to a negative or complex power");
    if (isinf(r.re) || isinf(r.im))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "complex exponentiation");
    return make(vm, r);
}

dv_value dv_complex_pow(dv_vm *vm, double real, double imag, double b_real, double b_imag) {
    return power_of(vm, (pair){real, imag}, (pair){b_real, b_imag});
}

/* 1: *out is the operand; 0: not a number; -1: raised. */
static int operand(dv_vm *vm, dv_value v, pair *out) {
    *out = (pair){0.0, 0.0};
    if (dv_is_complex(v)) {
        *out = (pair){dv_as_complex(v)->real, dv_as_complex(v)->imag};
        return 1;
    }
    if (dv_is_float(v)) {
        out->re = dv_as_float(v);
        return 1;
    }
    if (!dv_is_integral(v)) return 0;
    return dv_int_to_double(vm, v, &out->re) ? 1 : -1;
}

static dv_value complex_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    pair x, y, r;
    int left = operand(vm, a, &x);
    int right = left == 1 ? operand(vm, b, &y) : left;
    if (right != 1) return right < 0 ? DV_EMPTY : DV_NOTIMPLEMENTED;
    switch (op) {
    case DV_BINARY_ADD: return dv_complex_new(vm, x.re + y.re, x.im + y.im);
    case DV_BINARY_SUB: return dv_complex_new(vm, x.re - y.re, x.im - y.im);
    case DV_BINARY_MUL: return make(vm, product(x, y));
    case DV_BINARY_TRUEDIV:
        if (quotient(x, y, &r)) return make(vm, r);
        return dv_raise(vm, DV_E_ZERO_DIVISION_ERROR, "complex division by zero");
    case DV_BINARY_POW: return power_of(vm, x, y);
    default: return DV_NOTIMPLEMENTED;
    }
}

static dv_value complex_unary(dv_vm *vm, dv_unary_op op, dv_value a) {
    const dv_complex *z = dv_as_complex(a);
    if (op == DV_UNARY_POS) return dv_plain(vm, a);
    if (op == DV_UNARY_NEG) return dv_complex_new(vm, -z->real, -z->imag);
    return DV_NOTIMPLEMENTED;
}

static bool complex_truth(dv_value self) {
    return dv_as_complex(self)->real != 0.0 || dv_as_complex(self)->imag != 0.0;
}

dv_value dv_complex_abs(dv_vm *vm, dv_value v) {
    const dv_complex *z = dv_as_complex(v);
    double r = hypot(z->real, z->imag);
    if (isinf(r) && isfinite(z->real) && isfinite(z->imag))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "absolute value too large");
    return dv_float(r);
}

/* ---- Attributes and the type ------------------------------------------------------------------*/

static dv_value conjugate(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_complex_new(vm, dv_as_complex(args[0])->real, -dv_as_complex(args[0])->imag);
}

static dv_value itself(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_plain(vm, args[0]);
}

static const dv_cfunction_def methods[] = {
    {.name = "__complex__", .entry = itself, .min = 1, .max = 1},
    {.name = "conjugate", .entry = conjugate, .min = 1, .max = 1},
    {.name = NULL}};

/* EMPTY without vm->error: none of the data attributes. */
static dv_value get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    (void)vm;
    if (dv_str_is(name, "real")) return dv_float(dv_as_complex(self)->real);
    if (dv_str_is(name, "imag")) return dv_float(dv_as_complex(self)->imag);
    return DV_EMPTY;
}

static bool set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    if (dv_str_is(name, "real") || dv_str_is(name, "imag"))
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "readonly attribute");
    else if (dv_is_instance(self))
        return dv_instance_set_attribute(vm, self, name, value);
    else
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '%S'", self, name);
    return false;
}

const dv_type dv_complex_type = {
    .name = "complex",
    .id = DV_T_COMPLEX,
    .release = complex_release,
    .repr = dv_complex_repr,
    .hash = complex_hash,
    .compare = complex_compare,
    .binary = complex_binary,
    .unary = complex_unary,
    .truth = complex_truth,
    .get_attribute = get_attribute,
    .set_attribute = set_attribute,
    .format = dv_format_complex,
    .construct = complex_construct,
    .adopt = complex_adopt,
    .methods = methods,
};
