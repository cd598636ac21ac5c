/* Generated from ext/ndarray/loops/rare_loops.mako by kernels.py: the loops of dtypes that few programs have (RARE): one plain
 * loop for each, compiled once, for the instruction set that all machines have. */
#include "loops/arith.h"
#include "loops/loops.h"
#include "loops/to_ints.h"
#include "rare.inc"
<%! from kernels import ALL, C_TYPES, NUMBERS, cast, shares_cast, RARE, TWINS, UFUNCS, folds, loop_name, rare_loops %>\

#define AT(T, p) (*(T *)(void *)(p))

% for ufunc in UFUNCS:
% for kernel in rare_loops(ufunc):
<% T, R = C_TYPES[kernel.type], C_TYPES[kernel.result] %>\
void ${loop_name(ufunc, kernel)}(char **args, int64_t count, const int64_t *strides) {
    typedef ${T} T;
    const int64_t s0 = strides[0]${", s1 = strides[1]" if ufunc.inputs == 2 else ""}, to = strides[${ufunc.inputs}];
    const char *p0 = args[0]${", *p1 = args[1]" if ufunc.inputs == 2 else ""};
    char *out = args[${ufunc.inputs}];
% if kernel.noted:
    bool noted = false;
% endif
    for (int64_t i = 0; i < count; i++) {
        const T a = AT(const T, p0 + i * s0);
        (void)a;
% if ufunc.inputs == 2:
        const T b = AT(const T, p1 + i * s1);
% endif
        AT(${R}, out + i * to) = (${R})(${kernel.expression});
% if kernel.noted:
        noted |= ${kernel.noted};
% endif
    }
% if kernel.noted:
    if (noted) arith_flag(${kernel.flags});
% endif
}
% if folds(ufunc, kernel):
void rare_fold${loop_name(ufunc, kernel)[4:]}(char *to, const char *from, int64_t count, int64_t stride) {
    typedef ${T} T;
    T a = AT(T, to);
    for (; count > 0; count--, from += stride) {
        const T b = AT(const T, from);
        a = (T)(${kernel.expression});
    }
    AT(T, to) = a;
}
% endif
% endfor
% endfor

% for letter in RARE:
% if letter not in TWINS:
int64_t rare_find_${NUMBERS[letter].lower()}(const void *sought, const char *at, int64_t count) {
    const ${C_TYPES[letter]} x = AT(const ${C_TYPES[letter]}, sought), *row = (const void *)at;
    for (int64_t i = 0; i < count; i++)
        if (row[i] == x) return i;
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
