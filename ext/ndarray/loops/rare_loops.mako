/* Generated from ext/ndarray/loops/rare_loops.mako by kernels.py: the loops of dtypes that few programs have (RARE), and those which
 * gain little by vectors (ONCE): one plain loop for each, compiled once, for the instruction set that all machines have. */
#include "loops/arith.h"
#include "loops/divide.h"
#include "loops/half.h"
#include "loops/loops.h"
#include "loops/to_ints.h"
#include "rare.inc"
<%! from kernels import ALL, C_TYPES, COMPUTED_AS, NUMBERS, cast, loaded, shares_cast, stored, RARE, TWINS, UFUNCS, folds, is_own, loop_name, rare_loops %>\

#define AT(T, p) (*(T *)(void *)(p))

% for ufunc in UFUNCS:
% for kernel in [kernel for kernel in rare_loops(ufunc) if is_own(ufunc, kernel)]:
<%
    E, R = C_TYPES[kernel.type], C_TYPES[kernel.result]
    T = C_TYPES[COMPUTED_AS.get(kernel.type, kernel.type)]
%>\
void ${loop_name(ufunc, kernel)}(char **args, int64_t count, const int64_t *strides) {
    typedef ${T} T;
    const int64_t s0 = strides[0]${", s1 = strides[1]" if ufunc.inputs == 2 else ""}, to = strides[${ufunc.inputs}];
    const char *p0 = args[0]${", *p1 = args[1]" if ufunc.inputs == 2 else ""};
    char *out = args[${ufunc.inputs}];
% if kernel.noted:
    bool noted = false;
% endif
    for (int64_t i = 0; i < count; i++) {
        const T a = ${loaded(kernel.type, f"AT({E}, p0 + i * s0)")};
        (void)a;
% if ufunc.inputs == 2:
        const T b = ${loaded(kernel.type, f"AT({E}, p1 + i * s1)")};
% endif
        AT(${R}, out + i * to) = ${stored(kernel.result, kernel.expression)};
% if kernel.noted:
        noted |= ${kernel.noted};
% endif
    }
% if kernel.noted:
    if (noted) arith_flag(${kernel.flags});
% endif
}
% if folds(ufunc, kernel) and not (ufunc.name == "add" and kernel.type in COMPUTED_AS):
void rare_fold${loop_name(ufunc, kernel)[4:]}(char *to, const char *from, int64_t count, int64_t stride) {
    typedef ${T} T;
% if kernel.type == "e" and ufunc.name in ("subtract", "multiply", "divide"):
    T a = ${loaded(kernel.type, f"AT({E}, to)")}; /* (Rounded once, in the end, as NumPy does it.) */
    for (; count > 0; count--, from += stride) {
        const T b = ${loaded(kernel.type, f"AT({E}, from)")};
        a = ${kernel.expression};
    }
    AT(${E}, to) = ${stored(kernel.type, "a")};
}
<% continue %>\
% endif
    for (; count > 0; count--, from += stride) {
        const T a = ${loaded(kernel.type, f"AT({E}, to)")}, b = ${loaded(kernel.type, f"AT({E}, from)")};
        AT(${E}, to) = ${stored(kernel.type, kernel.expression)};
    }
}
% endif
% endfor
% endfor

/* Sums, as NumPy adds them (loops.mako): of float16 as float32, complex64 as four numbers side by side. */
void rare_fold_add_float16(char *to, const char *from, int64_t count, int64_t stride) {
    enum { MOST = 1 << 13 };
    const nd_fold add = loops_best()[ND_UFUNC_add].kernels[ND_FLOAT32].fold;
    for (int64_t n; count > 0; count -= n, from += n * stride) {
        float row[MOST], sum = half_value(AT(nd_half, to));
        n = count < MOST ? count : MOST;
        for (int64_t i = 0; i < n; i++) row[i] = half_value(AT(nd_half, from + i * stride));
        add((char *)&sum, (const char *)row, n, sizeof sum);
        AT(nd_half, to) = half_of(sum);
    }
}
static nd_complex64 sum_pairs(const char *from, int64_t count, int64_t stride) {
    enum { FEW = 4, BLOCK = 64 };
    nd_complex64 sum = {0, 0}, part[FEW];
    if (count > BLOCK) {
        const int64_t half = count / 2 - count / 2 % FEW;
        const nd_complex64 a = sum_pairs(from, half, stride), b = sum_pairs(from + half * stride, count - half, stride);
        return (nd_complex64){a.real + b.real, a.imag + b.imag};
    }
    int64_t i = 0;
    if (count >= FEW) {
        for (; i < FEW; i++) part[i] = AT(nd_complex64, from + i * stride);
        for (; i < count - count % FEW; i++) {
            const nd_complex64 x = AT(nd_complex64, from + i * stride);
            part[i % FEW].real += x.real;
            part[i % FEW].imag += x.imag;
        }
        sum.real = (part[0].real + part[1].real) + (part[2].real + part[3].real);
        sum.imag = (part[0].imag + part[1].imag) + (part[2].imag + part[3].imag);
    }
    for (; i < count; i++) {
        const nd_complex64 x = AT(nd_complex64, from + i * stride);
        sum.real += x.real;
        sum.imag += x.imag;
    }
    return sum;
}
void rare_fold_add_complex64(char *to, const char *from, int64_t count, int64_t stride) {
    const nd_complex64 a = AT(nd_complex64, to), b = sum_pairs(from, count, stride);
    AT(nd_complex64, to) = (nd_complex64){a.real + b.real, a.imag + b.imag};
}

% for letter in RARE:
% if letter not in TWINS:
int64_t rare_find_${NUMBERS[letter].lower()}(const void *sought, const char *at, int64_t count) {
    typedef ${C_TYPES[COMPUTED_AS.get(letter, letter)]} T;
    const T x = ${loaded(letter, f"AT({C_TYPES[letter]}, sought)")};
    for (int64_t i = 0; i < count; i++, at += sizeof(${C_TYPES[letter]})) {
        const T y = ${loaded(letter, f"AT({C_TYPES[letter]}, at)")};
% if letter == "F":
        if (complex_equal(x, y) || (complex_nan(x) && complex_nan(y))) return i;
% else:
        if (x == y${" || (x != x && y != y)" if letter == "e" else ""}) return i;
% endif
    }
    return -1;
}
% endif
% endfor

/* ---- Casts ---- */

% for source in ALL:
% for target in ALL:
% if not shares_cast(source, target):
static void cast_${NUMBERS[source].lower()}_${NUMBERS[target].lower()}(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t count) {
    typedef ${C_TYPES[source]} T;
    for (int64_t i = 0; i < count; i++) {
        const T x = AT(const T, from + i * from_stride);
        AT(${C_TYPES[target]}, to + i * to_stride) = ${cast(source, target)};
    }
}
% endif
% endfor
% endfor

const nd_cast loops_rare_casts[ND_TYPES][ND_TYPES] = {
% for source in ALL:
    [ND_${NUMBERS[source]}] = {
% for target in ALL:
% if not shares_cast(source, target):
        [ND_${NUMBERS[target]}] = cast_${NUMBERS[source].lower()}_${NUMBERS[target].lower()},
% endif
% endfor
    },
% endfor
};
