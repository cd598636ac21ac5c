/* Generated from ext/ndarray/loops/loops.mako by kernels.py: loops for one instruction set (loops.h).  It is
 * compiled once for each, with ND_TABLE the name of the table, and ND_WIDTH the bytes of a vector. */
#include <float.h>

#include "loops/arith.h"
#include "loops/divide.h"
#include "loops/ints.h"
#include "loops/loops.h"
<%!
from kernels import (C_TYPES, HOT, INTS, NUMBERS, OWN, PLACED, RANGES, RARE, UFUNCS, folds, hot_loops, is_own, loop_name,
                     rare_loops, stacks, suffix, twin_loops, TWINS)

DIVISIONS = {"fmod": "ND_FMOD", "remainder": "ND_REMAINDER", "floor_divide": "ND_FLOOR"}

EXTREMES = "maximum minimum fmax fmin".split()

def regroups(ufunc, kernel):
    """May a fold have several parts, which come together in the end?  What they begin with, or nothing."""
    if ufunc.name in EXTREMES and kernel.type != "D" or ufunc.name in "logical_and logical_or bitwise_and bitwise_or".split():
        return "a"
    if kernel.type in "?Bil" and ufunc.name in "add multiply logical_xor bitwise_xor".split():
        return "1" if ufunc.name == "multiply" else "a" if kernel.type == "?" and ufunc.name == "add" else "0"
    return ""

def decides(ufunc, kernel):
    """The bool that nothing can change any more."""
    if kernel.type != "?":
        return ""
    return {"logical_or": "1", "maximum": "1", "add": "1", "logical_and": "0", "minimum": "0", "multiply": "0",
            "fmax": "1", "fmin": "0", "bitwise_or": "1", "bitwise_and": "0"}.get(ufunc.name, "")

def turned(ufunc, kernel):
    """What gives the same with both inputs exchanged: then rows with a number in front need no loop of their own."""
    if ufunc.name in ("maximum", "minimum"):
        return ufunc.name if kernel.type in "?" + INTS else ""
    itself = "add multiply equal not_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor".split()
    return TURNED.get(ufunc.name, ufunc.name if ufunc.name in itself and kernel.type != "D" else "")

TURNED = {"less": "greater", "greater": "less", "less_equal": "greater_equal", "greater_equal": "less_equal"}

def inexact(kernel):
    if (kernel.vector, kernel.type) in OWN:
        return f"ND_WIDTH < {OWN[kernel.vector, kernel.type]}"
    return str(bool(kernel.vector)).lower()

def note(kernel, indent):
    return " " * indent + f"noted |= {kernel.noted};\n" if kernel.noted else ""

def noting(kernel):
    return "    unsigned noted = 0;\n" if kernel.noted else ""

def finish(kernel, indent):
    return " " * indent + f"if (noted) arith_flag({kernel.flags});\n" if kernel.noted else ""

COMPUTED = "sqrt divide reciprocal".split()

def costs(ufunc, kernel):
    """Is an element's operation, in a row's own loop, much faster than without vectors, so that a copy into a row is worth it?"""
    if kernel.type == "D":
        return ufunc.name in ("multiply", "divide", "square")
    return (kernel.type in "fd" and ufunc.name in COMPUTED + ["sign"] or bool(kernel.vector) or ufunc.name in DIVISIONS and (kernel.type in "fd" or ufunc.name != "fmod")
            or ufunc.name == "power")

def moves(ufunc, kernel):
    """Does a loop of large arrays do nothing but wait for memory, which it writes as much of as it reads?"""
    return kernel.wide and kernel.result == kernel.type and not kernel.vector and ufunc.name not in COMPUTED

def in_pairs(width, first, second):
    """Places of both in each pair of doubles of a vector."""
    return ", ".join(f"{pair + first}, {pair + second}" for pair in range(0, width // 8, 2))

def vectors():
    found = {}
    for u in UFUNCS:
        for kernel in hot_loops(u):
            if kernel.vector:
                found[kernel.vector, kernel.type, u.inputs] = None
    return list(found)
%>
#ifdef ND_LIBMVEC
#include <immintrin.h>
/* glibc's vector functions by their mangled names: b, d, e are the instruction sets. */
#if ND_WIDTH == 64
#define MANGLED(lanes, letters, name) _ZGVeN##lanes##letters##_##name
#elif ND_WIDTH == 32
#define MANGLED(lanes, letters, name) _ZGVdN##lanes##letters##_##name
#else
#define MANGLED(lanes, letters, name) _ZGVbN##lanes##letters##_##name
#endif
#define MANGLE(lanes, letters, name) MANGLED(lanes, letters, name)
#if ND_WIDTH == 64
#define LANES_double 8
#define LANES_float  16
#elif ND_WIDTH == 32
#define LANES_double 4
#define LANES_float  8
#else
#define LANES_double 2
#define LANES_float  4
#endif
typedef double double_v __attribute__((vector_size(ND_WIDTH)));
typedef float float_v __attribute__((vector_size(ND_WIDTH)));

/* `lanes` elements, or fewer: then the others are the first one.  (Many that do not lie in a row: in_blocks.) */
#define GATHER(T)                                                                                                    \
    static __attribute__((noinline)) T##_v gather_few_##T(const char *p, int64_t stride, int64_t count) {            \
        if (stride == 0) return *(const T *)(const void *)p - (T##_v){0}; /* (-0.0, too) */                          \
        T##_v v;                                                                                                     \
        for (int64_t i = 0; i < LANES_##T; i++) v[i] = *(const T *)(const void *)(p + (i < count ? i * stride : 0)); \
        return v;                                                                                                    \
    }                                                                                                                \
    static inline T##_v gather_##T(const char *p, int64_t stride, int64_t count) {                                   \
        if (UNLIKELY(stride != sizeof(T) || count < LANES_##T)) return gather_few_##T(p, stride, count);             \
        T##_v v;                                                                                                     \
        memcpy(&v, p, sizeof v);                                                                                     \
        return v;                                                                                                    \
    }                                                                                                                \
    static __attribute__((noinline)) void scatter_few_##T(char *p, int64_t stride, int64_t count, T##_v v) {         \
        for (int64_t i = 0; i < LANES_##T && i < count; i++) *(T *)(void *)(p + i * stride) = v[i];                  \
    }                                                                                                                \
    static inline void scatter_##T(char *p, int64_t stride, int64_t count, T##_v v) {                                \
        if (LIKELY(stride == sizeof(T) && count >= LANES_##T))                                                       \
            memcpy(p, &v, sizeof v);                                                                                 \
        else                                                                                                         \
            scatter_few_##T(p, stride, count, v);                                                                    \
    }
GATHER(double)
GATHER(float)

/* Elements as masks: all bits, or none. */
typedef int64_t double_m __attribute__((vector_size(ND_WIDTH)));
typedef int32_t float_m __attribute__((vector_size(ND_WIDTH)));
#define MASKS(T)                                                      \
    static inline T##_v choose_##T(T##_m mask, T##_v yes, T##_v no) { \
        return (T##_v)(((T##_m)yes & mask) | ((T##_m)no & ~mask));    \
    }
MASKS(double)
MASKS(float)
/* Whether an element is negative (of a mask: whether there is one).  C has no operator for it. */
#if ND_WIDTH == 64
static inline bool any_double(double_m mask) { return _mm512_movepi64_mask((__m512i)mask); }
static inline bool any_float(float_m mask) { return _mm512_movepi32_mask((__m512i)mask); }
#elif ND_WIDTH == 32
static inline bool any_double(double_m mask) { return _mm256_movemask_pd((__m256d)mask); }
static inline bool any_float(float_m mask) { return _mm256_movemask_ps((__m256)mask); }
#else
static inline bool any_double(double_m mask) { return _mm_movemask_pd((__m128d)mask); }
static inline bool any_float(float_m mask) { return _mm_movemask_ps((__m128)mask); }
#endif
#include "loops/elementary.h"
/* A vector of one number, of the type T. */
#define SPLAT(number) ((V){0} + (T)(number))

% for name, letter, inputs in vectors():
<% T = C_TYPES[letter] %>\
${T}_v MANGLE(LANES_${T}, ${"v" * inputs}, ${name}${suffix(letter)})(${", ".join([T + "_v"] * inputs)});
% endfor
#endif

#define AT(T, p) (*(T *)(void *)(p))

/* ---- Complex products ---- */

#if ND_WIDTH >= 32
/* complex_multiply of a row and a row, or (`step` is 0) one number for all. */
static void multiply_row(nd_complex *out, const nd_complex *a, const nd_complex *b, int64_t step, int64_t count) {
    enum { LANES = ND_WIDTH / sizeof(nd_complex) };
    typedef double V __attribute__((vector_size(ND_WIDTH)));
    typedef int64_t M __attribute__((vector_size(ND_WIDTH)));
% for width in 64, 32:
#if ND_WIDTH == ${width}
#define REALS(v)   __builtin_shufflevector(v, v, ${in_pairs(width, 0, 0)})
#define IMAGS(v)   __builtin_shufflevector(v, v, ${in_pairs(width, 1, 1)})
#define SWAPPED(v) __builtin_shufflevector(v, v, ${in_pairs(width, 1, 0)})
    const M sign = {${", ".join(["INT64_MIN, 0"] * (width // 16))}};
#endif
% endfor
    nd_complex same[LANES];
    for (int i = 0; !step && i < LANES; i++) same[i] = *b;
    for (; count >= LANES; count -= LANES, a += LANES, b += LANES * step, out += LANES) {
        V x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, step ? b : same, sizeof y);
        const V first = REALS(x) * y, second = IMAGS(x) * SWAPPED(y);
        const V both = first + (V)((M)second ^ sign);
        memcpy(out, &both, sizeof both);
    }
    for (int64_t i = 0; i < count; i++) out[i] = complex_multiply(a[i], b[i * step]);
}
#endif
#if ND_WIDTH >= 32 && defined(ND_LIBMVEC)
/* complex_divide, likewise (and of one number by a row): real and imaginary parts in vectors of their
 * own, two divisions for all of them. */
static void divide_complex_row(nd_complex *out, const nd_complex *a, int64_t step_a, const nd_complex *b, int64_t step_b,
                               int64_t count) {
    enum { LANES = LANES_double };
% for width in 64, 32:
<% lanes = width // 8 %>\
#if ND_WIDTH == ${width}
#define EVEN(v, w)   __builtin_shufflevector(v, w, ${", ".join(str(2 * i) for i in range(lanes))})
#define ODD(v, w)    __builtin_shufflevector(v, w, ${", ".join(str(2 * i + 1) for i in range(lanes))})
#define FIRST(v, w)  __builtin_shufflevector(v, w, ${", ".join(f"{i}, {i + lanes}" for i in range(lanes // 2))})
#define SECOND(v, w) __builtin_shufflevector(v, w, ${", ".join(f"{i}, {i + lanes}" for i in range(lanes // 2, lanes))})
#endif
% endfor
    nd_complex same_a[LANES], same_b[LANES];
    for (int i = 0; !step_a && i < LANES; i++) same_a[i] = *a;
    for (int i = 0; !step_b && i < LANES; i++) same_b[i] = *b;
    for (; count >= LANES; count -= LANES, a += LANES * step_a, b += LANES * step_b, out += LANES) {
        double_v x[2], y[2];
        memcpy(x, step_a ? a : same_a, sizeof x);
        memcpy(y, step_b ? b : same_b, sizeof y);
        const double_v a_real = EVEN(x[0], x[1]), a_imag = ODD(x[0], x[1]);
        const double_v b_real = EVEN(y[0], y[1]), b_imag = ODD(y[0], y[1]);
        const double_m wide = (double_v)((double_m)b_real & INT64_MAX) >= (double_v)((double_m)b_imag & INT64_MAX);
        const double_v small = choose_double(wide, b_imag, b_real);
        double_v large = choose_double(wide, b_real, b_imag);
        const double_m none = (large == 0) & (small == 0);
        const bool by_zero = any_double(none);
        if (UNLIKELY(by_zero)) large = choose_double(none, (double_v){0} + 1, large);
        const double_v ratio = small / large, scale = 1.0 / (large + small * ratio);
        const double_v first = choose_double(wide, a_real, a_imag), second = choose_double(wide, a_imag, a_real);
        const double_v part = first * ratio;
        const double_v rest = choose_double(wide, second, part) - choose_double(wide, part, second);
        double_v real = (first + second * ratio) * scale, imag = rest * scale;
        if (UNLIKELY(by_zero)) {
            /* Both parts by the real one without its sign. */
            const double_v zero = choose_double(none, (double_v){0}, (double_v){0} + 1);
            real = choose_double(none, a_real / zero, real);
            imag = choose_double(none, a_imag / zero, imag);
        }
        x[0] = FIRST(real, imag);
        x[1] = SECOND(real, imag);
        memcpy(out, x, sizeof x);
    }
    for (int64_t i = 0; i < count; i++) out[i] = complex_divide(a[i * step_a], b[i * step_b]);
}
#endif
#ifdef ND_LIBMVEC
/* Functions beyond the range in which libmvec is fast (kernels.py). */
#define BITS(x) ((M)(x))
#define SIZE(x) ((M)(x) & ~BITS(-SPLAT(0)))
enum { MOST_KNOWN = 3 };
% for name, letter, inputs in vectors():
% if name in RANGES[letter]:
<% T, r = C_TYPES[letter], RANGES[letter][name] %>\
/* Negative where the function is slow. */
static inline ${T}_m slow_${name}_${T}(${T}_v x) {
    typedef ${T}_v V;
    typedef ${T}_m M;
    typedef ${T} T;
    return ${r.slow};
}
/* The function, without a call for elements where it is known: these are noted in `seen`. */
static inline ${T}_v careful_${name}_${T}(${T}_v given, ${T}_m *seen) {
    typedef ${T}_v V;
    typedef ${T}_m M;
    typedef ${T} T;
    const M slow = slow_${name}_${T}(given) < 0, nan = SIZE(given) > BITS(SPLAT(INFINITY));
    const V x = choose_${T}(nan, SPLAT(${r.harmless}), given);
% for i, (condition, value, flag) in enumerate(r.known):
    const M known${i} = ${condition};
% endfor
    const M other = slow & ~(nan${"".join(f" | known{i}" for i in range(len(r.known)))});
    const bool others = any_${T}(other);
% if r.own:
#if ND_WIDTH >= ${r.own}
    if (others && !any_${T}(~other)) return large_${name}_${T}(given);
#else
% endif
    if (others) return MANGLE(LANES_${T}, v, ${name}${suffix(letter)})(given);
% if r.own:
#endif
% endif
    V y = MANGLE(LANES_${T}, v, ${name}${suffix(letter)})(choose_${T}(slow, SPLAT(${r.harmless}), x));
% if r.own:
#if ND_WIDTH >= ${r.own}
    if (others) y = choose_${T}(other, large_${name}_${T}(choose_${T}(other, given, SPLAT(1))), y);
#endif
% endif
% for i, (condition, value, flag) in enumerate(r.known):
    y = choose_${T}(known${i}, SPLAT(${value}), y);
    seen[${i}] |= known${i};
% endfor
    return choose_${T}(nan, given, y);
}
static inline void flag_${name}_${T}(const ${T}_m *seen) {
% for i, (condition, value, flag) in enumerate(r.known):
% if flag != "0":
    if (any_${T}(seen[${i}])) arith_flag(${flag});
% endif
% endfor
}
% endif
% endfor
#endif
/* The elements of a loop depend on each other in no way, though output and input may be one.  (clang,
 * when it is told, complains of each loop that it does not vectorise.) */
#ifdef __clang__
#define ND_INDEPENDENT
#else
#define ND_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* ---- Elements that do not lie in rows ---- */

/* Bytes of any elements. */
% for size in 1, 4, 8:
typedef uint${8 * size}_t bytes${size} __attribute__((may_alias));
% endfor
typedef uint64_t bytes16 __attribute__((vector_size(16), aligned(8), may_alias));

/* The strides, in elements, that copies into a row are vectorised for. */
#if ND_WIDTH >= 32
enum { MOST_QUICK = 3 };
#else
enum { MOST_QUICK = 2 };
#endif
% for size in 1, 4, 8, 16:
static void pick_${size}(char *to, const char *from, int64_t stride, int64_t count) {
    typedef bytes${size} T;
    T *restrict row = (T *)(void *)to;
% if size < 16:
    const T *restrict at = (const T *)(const void *)from;
% for step in (-1, 2, 3):
% if step == 3:
#if ND_WIDTH >= 32
% endif
    if (stride == ${step} * (int64_t)sizeof(T)) {
        for (int64_t i = 0; i < count; i++) row[i] = at[${step} * i];
        return;
    }
% if step == 3:
#endif
% endif
% endfor
% endif
    for (; count >= 4; count -= 4, row += 4, from += 4 * stride) {
% for j in range(4):
        row[${j}] = AT(const T, from + ${j} * stride);
% endfor
    }
    for (; count > 0; count--, row++, from += stride) *row = AT(const T, from);
}
static void put_${size}(char *to, const char *from, int64_t stride, int64_t count) {
    typedef bytes${size} T;
    const T *row = (const T *)(const void *)from;
    for (; count >= 4; count -= 4, row += 4, to += 4 * stride) {
% for j in range(4):
        AT(T, to + ${j} * stride) = row[${j}];
% endfor
    }
    for (; count > 0; count--, row++, to += stride) AT(T, to) = *row;
}
% endfor

/* Runs a loop on blocks of what does not lie in rows: inputs are copied into one before, outputs out of one
 * after it.  False: they lie in rows, or that is not worth it.  `costly`: always worth it where rows have a loop
 * of their own; what does little for each element gains where copies are quick, and none is needed behind it. */
typedef void (*pick)(char *to, const char *from, int64_t stride, int64_t count);
enum { LEAST_PICKED = 24 };
static __attribute__((noinline)) bool in_blocks(nd_loop loop, int inputs, char **args, int64_t count, const int64_t *strides,
                                                int64_t size, int64_t result_size, bool costly) {
    enum { BLOCK = 256, MOST_OPERANDS = 3 };
    static const pick picks[] = {[1] = pick_1, [4] = pick_4, [8] = pick_8, [16] = pick_16};
    static const pick puts[] = {[1] = put_1, [4] = put_4, [8] = put_8, [16] = put_16};
    _Alignas(64) char rows[MOST_OPERANDS][BLOCK * sizeof(nd_complex)];
    char *at[MOST_OPERANDS], *row[MOST_OPERANDS];
    int64_t steps[MOST_OPERANDS];
    bool apart[MOST_OPERANDS], any = false;
    for (int i = 0; i <= inputs; i++) {
        const int64_t own = i < inputs ? size : result_size;
        at[i] = args[i];
        apart[i] = strides[i] != own && (strides[i] || i == inputs);
        steps[i] = apart[i] ? own : strides[i];
        any |= apart[i];
        if (!apart[i] || costly) continue;
        if (i == inputs || (strides[i] != -own && (strides[i] < 0 || strides[i] > MOST_QUICK * own))) return false;
    }
    for (int64_t n; any && count > 0; count -= n) {
        n = count < BLOCK ? count : BLOCK;
        for (int i = 0; i <= inputs; i++) row[i] = apart[i] ? rows[i] : at[i];
        for (int i = 0; i < inputs; i++)
            if (apart[i]) picks[size](rows[i], at[i], strides[i], n);
        loop(row, n, steps);
        if (apart[inputs]) puts[result_size](at[inputs], rows[inputs], strides[inputs], n);
        for (int i = 0; i <= inputs; i++) at[i] += n * strides[i];
    }
    return any;
}
<%def name="blocks(ufunc, kernel, name, costly)">\
<%
    T, R = C_TYPES[kernel.type], C_TYPES[kernel.result]
    lies = " || ".join([f"strides[{i}] != sizeof({T})" for i in range(ufunc.inputs)] + [f"strides[{ufunc.inputs}] != sizeof({R})"])
%>\
    if (count >= LEAST_PICKED && (${lies}) &&
        in_blocks(${name}, ${ufunc.inputs}, args, count, strides, sizeof(${T}), sizeof(${R}), ${str(costly).lower()}))
        return;
</%def>\
#if ND_WIDTH == 64
/* What is beyond a core's own caches comes faster into vectors of 32 bytes. */
enum { FAR_BYTES = 1 << 19 };
extern const nd_kernels loops_avx2[ND_UFUNCS];
#endif

/* The last elements of a row, fewer than a vector has: the others are the first of them, for no flags but theirs. */
#if ND_WIDTH == 64 && defined(ND_LIBMVEC)
#define MASKED_ENDS
% for T, parts, lanes in ("uint8_t", "epi8", 64), ("int32_t", "epi32", 16), ("int64_t", "epi64", 8), ("float", "ps", 16), ("double", "pd", 8):
<% store = f"_mm512_storeu_{parts}" if parts[0] == "p" else "_mm512_storeu_si512" %>\
static inline void load_few_${T}(${T} *to, const char *from, int64_t count) {
    ${store}(to, _mm512_mask_loadu_${parts}(_mm512_set1_${parts}(AT(const ${T}, from)), (__mmask${lanes})((1ull << count) - 1), from));
}
static inline void store_few_${T}(${T} *to, const ${T} *from, int64_t count) {
    _mm512_mask_storeu_${parts}(to, (__mmask${lanes})((1ull << count) - 1), ${store.replace("store", "load")}(from));
}
% endfor
#endif
<%def name="row(kernel, **rows)">\
<%
    T = C_TYPES[kernel.type]
    expression = kernel.expression.replace("(T)", f"({T})")
    masked = T == C_TYPES[kernel.result] and not kernel.noted and kernel.type != "D"
%>\
% if masked:
#ifdef MASKED_ENDS
            enum { LANES = 64 / sizeof(T) };
            const int64_t rest = count & (LANES - 1), whole = count & ~(int64_t)(LANES - 1);
#else
            const int64_t whole = count;
#endif
% endif
ND_INDEPENDENT
            for (int64_t i = 0; i < ${"whole" if masked else "count"}; i++) {
% for x, at in rows.items():
                const T ${x} = AT(T, ${at} + i * (int64_t)sizeof(T));
                (void)${x};
% endfor
                out[i] = ${expression};
${note(kernel, 16)}\
            }
% if masked:
#ifdef MASKED_ENDS
            if (rest) {
                T ${", ".join(f"few_{x}[LANES]" for x in rows)};
% for x, at in rows.items():
                load_few_${T}(few_${x}, ${at} + whole * (int64_t)sizeof(T), rest);
% endfor
                for (int64_t i = 0; i < LANES; i++) {
% for x in rows:
                    const T ${x} = few_${x}[i];
                    (void)${x};
% endfor
                    few_${list(rows)[0]}[i] = ${expression};
                }
                store_few_${T}(out + whole, few_${list(rows)[0]}, rest);
            }
#endif
% endif
${finish(kernel, 12)}\
            return;
</%def>\

% for ufunc in UFUNCS:
% for kernel in [kernel for kernel in hot_loops(ufunc) if is_own(ufunc, kernel)]:
<%
    T, R = C_TYPES[kernel.type], C_TYPES[kernel.result]
    name = loop_name(ufunc, kernel)
    lanes = "LANES_" + T
    expression = kernel.expression.replace("(T)", f"({T})")
%>\
% if ufunc.name in TURNED:
<% dtype = NUMBERS[kernel.type].lower() %>\
% if ufunc.name.startswith("greater"):
/* Rows, in front of rows and of a number; the other way round it is ${TURNED[ufunc.name]}. */
static void with_number_${TURNED[ufunc.name]}_${dtype}(${R} *out, const char *p, ${T} b, int64_t count);
static __attribute__((noinline)) void with_row_${name}(${R} *out, const char *p, const char *q, int64_t count) {
    typedef ${T} T;
${noting(kernel)}\
    {
${row(kernel, a="p", b="q")}\
    }
}
% endif
static __attribute__((noinline)) void with_number_${name}(${R} *out, const char *p, ${T} b, int64_t count) {
    typedef ${T} T;
${noting(kernel)}\
    {
${row(kernel, a="p")}\
    }
}
% endif
% if (kernel.vector, kernel.type) in OWN:
#if defined(ND_LIBMVEC) && ND_WIDTH >= ${OWN[kernel.vector, kernel.type]}
static void ${name}(char **args, int64_t count, const int64_t *strides) {
${blocks(ufunc, kernel, name, True)}\
% for i in range(ufunc.inputs + 1):
    char *p${i} = args[${i}];
    const int64_t s${i} = strides[${i}];
% endfor
    for (; count > 0; count -= ${lanes}) {
        scatter_${T}(p${ufunc.inputs}, s${ufunc.inputs}, count, own_${kernel.vector}_${T}(
            ${", ".join(f"gather_{T}(p{i}, s{i}, count)" for i in range(ufunc.inputs))}));
% for i in range(ufunc.inputs + 1):
        p${i} += ${lanes} * s${i};
% endfor
    }
}
#else
% endif
% if kernel.vector:
#ifdef ND_LIBMVEC
static void ${name}(char **args, int64_t count, const int64_t *strides) {
${blocks(ufunc, kernel, name, True)}\
% for i in range(ufunc.inputs + 1):
    char *p${i} = args[${i}];
    const int64_t s${i} = strides[${i}];
% endfor
% if kernel.vector in RANGES.get(kernel.type, ()):
    ${T}_m seen[MOST_KNOWN] = {{0}};
    bool careful = false;
    for (; count > 0; count -= ${lanes}) {
        const ${T}_v x = gather_${T}(p0, s0, count);
        if (LIKELY(!any_${T}(slow_${kernel.vector}_${T}(x)))) {
            scatter_${T}(p1, s1, count, MANGLE(${lanes}, v, ${kernel.vector}${suffix(kernel.type)})(x));
        } else {
            scatter_${T}(p1, s1, count, careful_${kernel.vector}_${T}(x, seen));
            careful = true;
        }
        p0 += ${lanes} * s0;
        p1 += ${lanes} * s1;
    }
    if (careful) flag_${kernel.vector}_${T}(seen);
}
#else
% else:
    for (; count > 0; count -= ${lanes}) {
        scatter_${T}(p${ufunc.inputs}, s${ufunc.inputs}, count,
            MANGLE(${lanes}, ${"v" * ufunc.inputs}, ${kernel.vector}${suffix(kernel.type)})(
                ${", ".join(f"gather_{T}(p{i}, s{i}, count)" for i in range(ufunc.inputs))}));
% for i in range(ufunc.inputs + 1):
        p${i} += ${lanes} * s${i};
% endfor
    }
}
#else
% endif
% endif
static void ${name}(char **args, int64_t count, const int64_t *strides) {
    typedef ${T} T;
${noting(kernel)}\
% if moves(ufunc, kernel):
#if ND_WIDTH == 64
    if (UNLIKELY(count >= FAR_BYTES / (int64_t)sizeof(T)) && ${' && '.join(f'strides[{i}] >= 0' for i in range(ufunc.inputs))}) {
        loops_avx2[ND_UFUNC_${ufunc.name}].kernels[ND_${NUMBERS[kernel.type]}].loop(args, count, strides);
        return;
    }
#endif
% endif
% if ufunc.inputs == 2:
    char *p = args[0], *q = args[1], *r = args[2];
    ${"" if turned(ufunc, kernel) == ufunc.name else "const "}int64_t s = strides[0], t = strides[1], u = strides[2];
% if ufunc.name in ("floor_divide", "remainder") and kernel.type in INTS:
<% rest = str(ufunc.name == "remainder").lower() %>\
    if (t == 0 && s == sizeof(T) && u == sizeof(T) && count > 8 &&
        ${NUMBERS[kernel.type].lower()}_divide_row((T *)(void *)r, (const T *)(const void *)p, count, AT(T, q), ${rest}))
        return;
% if kernel.type != "l":
    if (count > 8 && u == sizeof(T) && (s == sizeof(T) || s == 0) && t == sizeof(T)) {
        ${NUMBERS[kernel.type].lower()}_divide_rows((T *)(void *)r, (const T *)(const void *)p, s != 0, (const T *)(const void *)q, count, ${rest});
        return;
    }
% endif
% endif
% if ufunc.name == "power" and kernel.type in INTS:
    if (count > 8 && u == sizeof(T) && (s == sizeof(T) || s == 0) && (t == sizeof(T) || t == 0)) {
        ${NUMBERS[kernel.type].lower()}_power_row((T *)(void *)r, (const T *)(const void *)p, s != 0, (const T *)(const void *)q, t != 0, count);
        return;
    }
% endif
% if ufunc.name in DIVISIONS and kernel.type in "fd":
    if (count >= 16 && u == sizeof(T) && (s == sizeof(T) || s == 0) && (t == sizeof(T) || t == 0)) {
        divide_row${suffix(kernel.type)}(${DIVISIONS[ufunc.name]}, (T *)(void *)r, (const T *)(const void *)p, s != 0,
            (const T *)(const void *)q, t != 0, count);
        return;
    }
% endif
% if name == "divide_complex128":
#if ND_WIDTH >= 32 && defined(ND_LIBMVEC)
    if ((s == sizeof(T) || s == 0) && (t == sizeof(T) || t == 0) && u == sizeof(T) && count) {
        divide_complex_row((T *)(void *)r, (const T *)(const void *)p, s != 0, (const T *)(const void *)q, t != 0, count);
        return;
    }
#endif
% endif
% if name == "multiply_complex128":
#if ND_WIDTH >= 32
    if (s == sizeof(T) && (t == sizeof(T) || t == 0) && u == sizeof(T) && count) {
        multiply_row((T *)(void *)r, (const T *)(const void *)p, (const T *)(const void *)q, t != 0, count);
        return;
    }
    if (s == 0 && t == sizeof(T) && u == sizeof(T) && count) {
        multiply_row((T *)(void *)r, (const T *)(const void *)q, (const T *)(const void *)p, 0, count);
        return;
    }
#endif
% endif
% if costs(ufunc, kernel):
${blocks(ufunc, kernel, name, True)}\
% endif
% if kernel.wide and turned(ufunc, kernel) == ufunc.name:
    if (s == 0 && t == sizeof(T) && u == sizeof(${R})) {
        char *const number = p;
        p = q, q = number;
        s = sizeof(T), t = 0;
    }
% endif
% if kernel.wide and ufunc.name in TURNED:
<% dtype, other = NUMBERS[kernel.type].lower(), TURNED[ufunc.name] %>\
    if (u == sizeof(${R})) {
        if (s == sizeof(T) && t == sizeof(T)) {
            with_row_${f"{name}((void *)r, p, q, count)" if ufunc.name.startswith("greater") else f"{other}_{dtype}((void *)r, q, p, count)"};
            return;
        }
        if (s == sizeof(T) && t == 0 && count) {
            with_number_${name}((void *)r, p, AT(T, q), count);
            return;
        }
        if (s == 0 && t == sizeof(T) && count) {
            with_number_${other}_${dtype}((void *)r, q, AT(T, p), count);
            return;
        }
    }
% elif kernel.wide:
    if (u == sizeof(${R})) {
        ${R} *out = (void *)r;
        if (s == sizeof(T) && t == sizeof(T)) {
${row(kernel, a="p", b="q")}\
        }
        if (s == sizeof(T) && t == 0 && count) {
            const T b = AT(T, q);
${row(kernel, a="p")}\
        }
% if not turned(ufunc, kernel):
        if (s == 0 && t == sizeof(T) && count) {
            const T a = AT(T, p);
${row(kernel, b="q")}\
        }
% endif
    }
% endif
% if kernel.wide:
% if not costs(ufunc, kernel):
${blocks(ufunc, kernel, name, kernel.type == "D")}\
% endif
    /* (Three additions for four elements, not for each.) */
    for (; count >= 4; count -= 4, p += 4 * s, q += 4 * t, r += 4 * u) {
% for j in range(4):
        {
            const T a = AT(T, p + ${j} * s), b = AT(T, q + ${j} * t);
            AT(${R}, r + ${j} * u) = ${expression};
        }
% endfor
    }
% endif
    for (; count > 0; count--, p += s, q += t, r += u) {
        const T a = AT(T, p), b = AT(T, q);
        AT(${R}, r) = ${expression};
${note(kernel, 8)}\
    }
${finish(kernel, 4)}\
% else:
    char *p = args[0], *r = args[1];
    const int64_t s = strides[0], u = strides[1];
% if name == "square_complex128":
#if ND_WIDTH >= 32
    if (s == sizeof(T) && u == sizeof(T)) {
        multiply_row((T *)(void *)r, (const T *)(const void *)p, (const T *)(const void *)p, 1, count);
        return;
    }
#endif
% endif
% if name == "absolute_complex128":
#if defined(ND_LIBMVEC) && ND_WIDTH == 64
    if (count >= LEAST_PICKED && in_blocks(${name}, 1, args, count, strides, sizeof(T), sizeof(double), true)) return;
    /* Eight at a time; those that do not lie in a row, and the last ones, with zeros, from a copy. */
    for (; count > 0; count -= 8, p += 8 * s, r += 8 * u) {
        const bool row = s == sizeof(T) && count >= 8;
        T few[8] = {{0, 0}};
        for (int64_t i = 0; !row && i < 8 && i < count; i++) few[i] = AT(T, p + i * s);
        scatter_double(r, u, count, own_size(row ? p : (const char *)few));
    }
#endif
% endif
% if costs(ufunc, kernel):
${blocks(ufunc, kernel, name, True)}\
% endif
% if kernel.wide:
    if (s == sizeof(T) && u == sizeof(${R})) {
        ${R} *out = (void *)r;
${row(kernel, a="p")}\
    }
% if not costs(ufunc, kernel):
${blocks(ufunc, kernel, name, kernel.type == "D")}\
% endif
    for (; count >= 4; count -= 4, p += 4 * s, r += 4 * u) {
% for j in range(4):
        {
            const T a = AT(T, p + ${j} * s);
            (void)a;
            AT(${R}, r + ${j} * u) = ${expression};
        }
% endfor
    }
% endif
    for (; count > 0; count--, p += s, r += u) {
        const T a = AT(T, p);
        (void)a;
        AT(${R}, r) = ${expression};
${note(kernel, 8)}\
    }
${finish(kernel, 4)}\
% endif
}
% if kernel.vector:
#endif
% endif
% if (kernel.vector, kernel.type) in OWN:
#endif
% endif

% endfor
% endfor
/* ---- Folds ---- */


% for T, name in ("double", "float64"), ("float", "float32"):
/* ${name}: eight running sums in blocks of up to 128, halves of what is longer. */
static ${T} sum_block_${name}(const char *p, int64_t count, int64_t stride) {
    typedef ${T} T;
    if (count < 8) {
        T sum = -0.0; /* (which adds nothing to -0.0, either) */
        for (int64_t i = 0; i < count; i++) sum += AT(const T, p + i * stride);
        return sum;
    }
    typedef T eight __attribute__((vector_size(8 * sizeof(T))));
    eight sums, next = {0};
    const int64_t even = count - count % 8;
    int64_t i = 8;
    if (stride == sizeof(T)) {
        memcpy(&sums, p, sizeof sums);
        for (; i < even; i += 8) {
            memcpy(&next, p + i * (int64_t)sizeof(T), sizeof next);
            sums += next;
        }
    } else if (stride == -(int64_t)sizeof(T)) {
        /* (The last one of eight is the first one in memory.) */
        memcpy(&next, p + 7 * stride, sizeof next);
        sums = __builtin_shufflevector(next, next, 7, 6, 5, 4, 3, 2, 1, 0);
        for (; i < even; i += 8) {
            memcpy(&next, p + (i + 7) * stride, sizeof next);
            sums += __builtin_shufflevector(next, next, 7, 6, 5, 4, 3, 2, 1, 0);
        }
    } else if (stride == 2 * sizeof(T)) {
        /* Every second one of sixteen neighbours.  (There may be none behind the last element: what
         * ends with it is taken from one place before.) */
        eight two[2];
        if (count > 8) {
            memcpy(two, p, sizeof two);
            sums = __builtin_shufflevector(two[0], two[1], 0, 2, 4, 6, 8, 10, 12, 14);
        } else {
            for (int j = 0; j < 8; j++) sums[j] = AT(const T, p + j * stride);
        }
        for (; i < even && i + 8 < count; i += 8) {
            memcpy(two, p + i * stride, sizeof two);
            sums += __builtin_shufflevector(two[0], two[1], 0, 2, 4, 6, 8, 10, 12, 14);
        }
        if (i < even) {
            memcpy(two, p + i * stride - (int64_t)sizeof(T), sizeof two);
            sums += __builtin_shufflevector(two[0], two[1], 1, 3, 5, 7, 9, 11, 13, 15);
            i += 8;
        }
    } else {
        for (int j = 0; j < 8; j++) sums[j] = AT(const T, p + j * stride);
        for (; i < even; i += 8) {
            for (int j = 0; j < 8; j++) next[j] = AT(const T, p + (i + j) * stride);
            sums += next;
        }
    }
    T sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (; i < count; i++) sum += AT(const T, p + i * stride);
    return sum;
}
static ${T} sum_${name}(const char *p, int64_t count, int64_t stride) {
    if (count <= 128) return sum_block_${name}(p, count, stride);
    int64_t half = count / 2;
    half -= half % 8;
    return sum_${name}(p, half, stride) + sum_${name}(p + half * stride, count - half, stride);
}
static void fold_add_${name}(char *to, const char *from, int64_t count, int64_t stride) {
    AT(${T}, to) += sum_${name}(from, count, stride);
}
% endfor

/* The same for complex numbers, whose parts count as two: blocks of 64, four running sums. */
static nd_complex sum_complex128(const char *p, int64_t count, int64_t stride) {
    typedef nd_complex T;
    nd_complex sum = {-0.0, -0.0};
    if (count < 4) {
        for (int64_t i = 0; i < count; i++) sum = complex_add(sum, AT(const T, p + i * stride));
        return sum;
    }
    if (count > 64) {
        int64_t half = count / 2;
        half -= half % 4;
        return complex_add(sum_complex128(p, half, stride),
                           sum_complex128(p + half * stride, count - half, stride));
    }
    nd_complex sums[4];
    const int64_t even = count - count % 4;
    int64_t i = 4;
    if (stride == sizeof(T)) {
        typedef double eight __attribute__((vector_size(8 * sizeof(double)))); /* as in NumPy */
        eight parts, next;
        memcpy(&parts, p, sizeof parts);
        for (; i < even; i += 4) {
            memcpy(&next, p + i * stride, sizeof next);
            parts += next;
        }
        memcpy(sums, &parts, sizeof sums);
    } else {
        for (int j = 0; j < 4; j++) sums[j] = AT(const T, p + j * stride);
        for (; i < even; i += 4)
            for (int j = 0; j < 4; j++) sums[j] = complex_add(sums[j], AT(const T, p + (i + j) * stride));
    }
    sum = complex_add(complex_add(sums[0], sums[1]), complex_add(sums[2], sums[3]));
    for (; i < count; i++) sum = complex_add(sum, AT(const T, p + i * stride));
    return sum;
}
static void fold_add_complex128(char *to, const char *from, int64_t count, int64_t stride) {
    AT(nd_complex, to) = complex_add(AT(nd_complex, to), sum_complex128(from, count, stride));
}

/* The greater (smaller) elements of two vectors, the second one's where they are equal, or one is a
 * nan, into the first one; and notes of nans in two vectors.  (By pointers: other ways to pass such
 * vectors depend on the instruction set.) */
% for T, lanes in ("double", 8), ("float", 16):
<% V, letter = ("__m512d", "d") if T == "double" else ("__m512", "s") %>\
#if ND_WIDTH == 64 && defined(ND_LIBMVEC)
typedef ${T} ${T}_lanes __attribute__((vector_size(64)));
typedef __mmask${lanes} ${T}_nans;
% for name in "maximum", "minimum":
static inline ${T} reduce_${name}_${T}(const ${T}_lanes *v) {
    /* (The later one of those that are equal, as where there are no such vectors.) */
% if T == "double":
    const __m256d half = _mm256_${name[:3]}_pd(_mm512_castpd512_pd256((__m512d)*v), _mm512_extractf64x4_pd((__m512d)*v, 1));
    const __m128d few = _mm_${name[:3]}_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
% else:
    const __m256 half = _mm256_${name[:3]}_ps(_mm512_castps512_ps256((__m512)*v), _mm512_extractf32x8_ps((__m512)*v, 1));
    const __m128 four = _mm_${name[:3]}_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    const __m128 few = _mm_${name[:3]}_ps(four, _mm_movehl_ps(four, four));
% endif
    return few[0] ${">" if name == "maximum" else "<"} few[1] ? few[0] : few[1];
}
static inline void keep_${name}_${T}(${T}_lanes *a, const ${T}_lanes *b) {
    *a = (${T}_lanes)_mm512_${name[:3]}_p${letter}((${V})*a, (${V})*b);
}
% endfor
static inline void note_nans_${T}(${T}_nans *nans, const ${T}_lanes *a, const ${T}_lanes *b) {
    *nans |= _mm512_cmp_p${letter}_mask((${V})*a, (${V})*b, _CMP_UNORD_Q);
}
static inline bool any_nan_${T}(const ${T}_nans *nans) { return *nans; }
#else
/* (Of vectors that the processor has not, gcc would compare the elements one by one.  Sixty-four bytes they are
 * everywhere, so that of 0.0 and -0.0 the same one comes out.) */
typedef ${T} ${T}_part __attribute__((vector_size(ND_WIDTH)));
typedef ${"int64_t" if T == "double" else "int32_t"} ${T}_nans __attribute__((vector_size(ND_WIDTH)));
enum { ${T.upper()}_PARTS = 64 / ND_WIDTH };
typedef struct ${T}_lanes {
    ${T}_part parts[${T.upper()}_PARTS];
} ${T}_lanes;
% for name, sign in ("maximum", ">"), ("minimum", "<"):
static inline ${T} reduce_${name}_${T}(const ${T}_lanes *v) {
    ${T} each[${lanes}];
    memcpy(each, v, sizeof each);
    for (int half = ${lanes} / 2; half; half /= 2)
        for (int j = 0; j < half; j++) each[j] = each[j] ${sign} each[j + half] ? each[j] : each[j + half];
    return each[0];
}
static inline void keep_${name}_${T}(${T}_lanes *a, const ${T}_lanes *b) {
    for (int k = 0; k < ${T.upper()}_PARTS; k++) {
        const ${T}_part x = a->parts[k], y = b->parts[k];
        const ${T}_nans better = x ${sign} y;
        a->parts[k] = (${T}_part)(((${T}_nans)x & better) | ((${T}_nans)y & ~better));
    }
}
% endfor
static inline void note_nans_${T}(${T}_nans *nans, const ${T}_lanes *a, const ${T}_lanes *b) {
    for (int k = 0; k < ${T.upper()}_PARTS; k++)
        *nans |= (a->parts[k] != a->parts[k]) | (b->parts[k] != b->parts[k]);
}
static inline bool any_nan_${T}(const ${T}_nans *nans) {
    bool any = false;
    for (size_t i = 0; i < ND_WIDTH / sizeof(${T}); i++) any |= (*nans)[i] != 0;
    return any;
}
#endif
% endfor

/* complex_stays_..., with jumps: mostly the real parts of two numbers decide.  (Which of both comes
 * out changes rarely from one element to the next.) */
% for name, sign in ("maximum", ">"), ("minimum", "<"):
static inline bool stays_${name}(nd_complex a, nd_complex b) {
    if ((a.real ${sign} b.real) & (b.imag == b.imag)) return true;
    if ((b.real ${sign} a.real) & (a.imag == a.imag)) return false;
    return complex_stays_${name}(a, b);
}
% endfor
% for name in "fmax", "fmin":
static inline bool stays_${name}(nd_complex a, nd_complex b) { return complex_stays_${name}(a, b); }
% endfor

% for ufunc in UFUNCS:
% for kernel in hot_loops(ufunc):
% if folds(ufunc, kernel) and is_own(ufunc, kernel) and not (ufunc.name == "add" and kernel.type in "fdD"):
<%
    T = C_TYPES[kernel.type]
    expression = kernel.expression.replace("(T)", f"({T})")
    extreme = ufunc.name in ("maximum", "minimum") and kernel.type in "fd"
    sign = ">" if ufunc.name == "maximum" else "<"
%>\
static void fold_${loop_name(ufunc, kernel)}(char *to, const char *from, int64_t count, int64_t stride) {
    typedef ${T} T;
    T a = AT(T, to);
% if ufunc.name in EXTREMES and kernel.type == "D":
    for (; count > 0; count--, from += stride) {
        const T b = AT(const T, from);
        if (!stays_${ufunc.name}(a, b)) a = b;
    }
    AT(T, to) = a;
}
<% continue %>\
% endif
% if regroups(ufunc, kernel):
    /* What may be regrouped may also begin at the end. */
    if (stride == -(int64_t)sizeof(T)) from += (count - 1) * stride, stride = sizeof(T);
% endif
% if decides(ufunc, kernel):
    /* One element decides; nothing behind it is looked at. */
    if (a == ${decides(ufunc, kernel)}) return;
    if (stride == sizeof(T)) {
        if (memchr(from, ${decides(ufunc, kernel)}, (size_t)count)) AT(T, to) = ${decides(ufunc, kernel)};
        return;
    }
% endif
% if ufunc.name in EXTREMES and kernel.type in "fd":
    enum { LANES = 64 / sizeof(T), STEP = 4 * LANES };
% endif
% if extreme:
    /* Vectors, four at a time: the order matters to nans alone, which stay once they are there.  The
     * last one has elements for a second time. */
    if (stride == sizeof(T) && count >= LANES) {
        ${T}_lanes best[4], next[4];
        ${T}_nans nans = {0};
        const char *const last = from + (count - LANES) * (int64_t)sizeof(T);
        memcpy(&best[0], last, sizeof best[0]);
        note_nans_${T}(&nans, &best[0], &best[0]);
        if (count >= 2 * STEP) {
            /* The first one, too, so that the others are aligned. */
            const int64_t skip = LANES - (int64_t)((uintptr_t)from % 64 / sizeof(T));
            memcpy(&next[0], from, sizeof next[0]);
            note_nans_${T}(&nans, &next[0], &next[0]);
            keep_${ufunc.name}_${T}(&best[0], &next[0]);
            from += skip * (int64_t)sizeof(T);
            count -= skip;
            for (int j = 1; j < 4; j++) best[j] = best[0];
            for (; count >= STEP; count -= STEP, from += sizeof next) {
                /* (Each by itself: all of them at once would come by way of memory.) */
% for j in range(4):
                memcpy(&next[${j}], from + ${j} * sizeof next[0], sizeof next[0]);
% endfor
                note_nans_${T}(&nans, &next[0], &next[1]);
                note_nans_${T}(&nans, &next[2], &next[3]);
% for j in range(4):
                keep_${ufunc.name}_${T}(&best[${j}], &next[${j}]);
% endfor
            }
            for (int j = 1; j < 4; j++) keep_${ufunc.name}_${T}(&best[0], &best[j]);
        }
        for (; count > LANES; count -= LANES, from += sizeof next[0]) {
            memcpy(&next[0], from, sizeof next[0]);
            note_nans_${T}(&nans, &next[0], &next[0]);
            keep_${ufunc.name}_${T}(&best[0], &next[0]);
        }
        if (any_nan_${T}(&nans)) a = (T)NAN;
        const T b = reduce_${ufunc.name}_${T}(&best[0]);
        a = ${expression};
        AT(T, to) = a;
        return;
    }
% endif
% if ufunc.name in EXTREMES and kernel.type in "fd":
    /* Every second one: side by side, a block at a time. */
    enum { BLOCK = 512 };
    if (stride == 2 * sizeof(T) && count >= LANES) {
        T row[BLOCK];
        for (int64_t n; count > 0; count -= n, from += n * stride) {
            n = count < BLOCK ? count : BLOCK;
            for (int64_t i = 0; i < n; i++) row[i] = AT(const T, from + 2 * i * (int64_t)sizeof(T));
            fold_${loop_name(ufunc, kernel)}(to, (const char *)row, n, sizeof(T));
        }
        return;
    }
% endif
% if ufunc.name in ("fmax", "fmin") and kernel.type in "fd":
<% what = {"fmax": "maximum", "fmin": "minimum"}[ufunc.name] %>\
    /* Vectors, four at a time, which begin with what nothing is worse than: comparing keeps them where
     * the other one is a nan.  The last one has elements for a second time. */
    if (stride == sizeof(T) && count >= LANES) {
        const T worst = ${"-" if ufunc.name == "fmax" else ""}(T)INFINITY;
        ${T}_lanes best[4], next[4];
        T all[LANES];
        for (int k = 0; k < LANES; k++) all[k] = worst;
        for (int j = 0; j < 4; j++) memcpy(&best[j], all, sizeof all);
        int64_t i = 0;
        if (count >= 2 * STEP) {
            /* The first one, so that the others are aligned. */
            memcpy(&next[0], from, sizeof next[0]);
            keep_${what}_${T}(&next[0], &best[0]);
            best[0] = next[0];
            i = LANES - (int64_t)((uintptr_t)from % 64 / sizeof(T));
        }
        for (; i + STEP <= count; i += STEP) {
% for j in range(4):
            memcpy(&next[${j}], from + i * (int64_t)sizeof(T) + ${j} * sizeof next[0], sizeof next[0]);
            keep_${what}_${T}(&next[${j}], &best[${j}]);
            best[${j}] = next[${j}];
% endfor
        }
        for (; i < count; i += LANES) {
            const int64_t at = i + LANES <= count ? i : count - LANES;
            memcpy(&next[0], from + at * (int64_t)sizeof(T), sizeof next[0]);
            keep_${what}_${T}(&next[0], &best[0]);
            best[0] = next[0];
        }
        for (int j = 1; j < 4; j++) keep_${what}_${T}(&best[0], &best[j]);
        T b = reduce_${what}_${T}(&best[0]);
        /* Was there such a number, or nothing but nans? */
        if (b == worst) {
            for (i = 0; i < count && AT(const T, from + i * (int64_t)sizeof(T)) != AT(const T, from + i * (int64_t)sizeof(T));) i++;
            if (i == count) b = AT(const T, from);
        }
        a = ${expression};
        AT(T, to) = a;
        return;
    }
% endif
    if (stride == sizeof(T)) {
        for (int64_t i = 0; i < count; i++) {
            const T b = AT(const T, from + i * (int64_t)sizeof(T));
            a = ${expression};
        }
    } else {
% if regroups(ufunc, kernel):
        /* Four parts, none of which waits for another one. */
        T parts[4] = {a, ${", ".join([regroups(ufunc, kernel)] * 3)}};
        for (; count >= 4; count -= 4, from += 4 * stride) {
% for j in range(4):
            {
                const T a = parts[${j}], b = AT(const T, from + ${j} * stride);
                parts[${j}] = ${expression};
            }
% endfor
% if decides(ufunc, kernel):
            if ((parts[0] == ${decides(ufunc, kernel)}) | (parts[1] == ${decides(ufunc, kernel)}) | (parts[2] == ${decides(ufunc, kernel)}) |
                (parts[3] == ${decides(ufunc, kernel)}))
                break;
% endif
        }
        a = parts[0];
        for (int j = 1; j < 4; j++) {
            const T b = parts[j];
            a = ${expression};
        }
% endif
        for (; count > 0; count--, from += stride) {
            const T b = AT(const T, from);
            a = ${expression};
% if decides(ufunc, kernel):
            if (a == ${decides(ufunc, kernel)}) break;
% endif
        }
    }
    AT(T, to) = a;
}
% endif
% endfor
% endfor

/* ---- Rows onto a row ---- */

% for ufunc in UFUNCS:
% for kernel in hot_loops(ufunc):
% if stacks(ufunc, kernel) and is_own(ufunc, kernel):
<%
    T = C_TYPES[kernel.type]
    expression = kernel.expression.replace("(T)", f"({T})")
%>\
static void rows_${loop_name(ufunc, kernel)}(char *to, const char *from, int64_t count, int64_t rows, int64_t stride) {
    typedef ${T} T;
    T *out = (T *)(void *)to;
% if kernel.type == "D":
    for (; rows > 0; rows--, from += stride)
        for (int64_t i = 0; i < count; i++) {
            const T b = AT(const T, from + i * (int64_t)sizeof(T));
            if (!stays_${ufunc.name}(out[i], b)) out[i] = b;
        }
}
<% continue %>\
% endif
% if kernel.type in "fd" and ufunc.name in ("maximum", "minimum"):
    /* (gcc makes no vectors of several such choices, one behind the other.) */
    typedef T V __attribute__((vector_size(ND_WIDTH)));
    enum { LANES = ND_WIDTH / sizeof(T) };
    for (; rows >= 4; rows -= 4, from += 4 * stride) {
        int64_t i = 0;
        for (; i + LANES <= count; i += LANES) {
            V a, b;
            memcpy(&a, out + i, sizeof a);
% for j in range(4):
            memcpy(&b, from + ${j} * stride + i * (int64_t)sizeof(T), sizeof b);
            {
                const __auto_type first = (a ${">" if ufunc.name == "maximum" else "<"} b) | (a != a);
                a = (V)(((__typeof__(first))a & first) | ((__typeof__(first))b & ~first));
            }
% endfor
            memcpy(out + i, &a, sizeof a);
        }
        for (; i < count; i++) {
            T a = out[i];
            for (int j = 0; j < 4; j++) {
                const T b = AT(const T, from + j * stride + i * (int64_t)sizeof(T));
                a = ${expression};
            }
            out[i] = a;
        }
    }
% endif
% for several in 4, 1:
    for (; rows >= ${several}; rows -= ${several}, from += ${several} * stride) {
% for j in range(several):
        const char *p${j} = from + ${j} * stride;
% endfor
ND_INDEPENDENT
        for (int64_t i = 0; i < count; i++) {
            T a = out[i], b;
% for j in range(several):
            b = AT(const T, p${j} + i * (int64_t)sizeof(T));
            a = ${expression};
% endfor
            out[i] = a;
        }
    }
% endfor
}
% endif
% endfor
% endfor

/* ---- Sums of small ints as int64 ---- */
#include "loops/small_sums.h"

/* ---- Tiles of matrix products ---- */

/* A few elements, without a call. */
static inline void store_few(char *to, const char *from, int64_t bytes) {
    for (; bytes >= 32; bytes -= 32, to += 32, from += 32) memcpy(to, from, 32);
    for (; bytes >= 8; bytes -= 8, to += 8, from += 8) memcpy(to, from, 8);
    if (bytes) memcpy(to, from, 4);
}

% for T, name in ("double", "float64"), ("float", "float32"):
typedef ${T} ${T}_panel __attribute__((vector_size(64)));
/* Four rows of the result at a time stay in registers, as many vectors of each as have columns; only one where there
 * are but 16 registers. */
% for used in 1, 2, 3, 4:
% if used == 2:
#if ND_WIDTH == 64
% endif
static void gemm${used}_${name}(char *c, int64_t c_row, const char *a, int64_t a_row, int64_t a_column,
                         const char *b, int64_t inner, int64_t rows, int64_t columns) {
    typedef ${T} T;
    typedef ${T}_panel V;
    while (rows > 0) {
% for tile in 4, 3, 2, 1:
        ${f"if (rows >= {tile})" if tile > 1 else ""} {
            V sums[${tile}][${used}] = {0};
            const char *from = a;
            for (int64_t k = 0; k < inner; k++, from += a_column) {
                const V *panel = (const V *)(const void *)(b + k * ND_PANEL);
% for i in range(tile):
                const T x${i} = AT(const T, from + ${i} * a_row);
% endfor
                for (int j = 0; j < ${used}; j++) {
                    const V p = panel[j];
% for i in range(tile):
                    sums[${i}][j] += x${i} * p;
% endfor
                }
            }
            for (int i = 0; i < ${tile}; i++) {
                if (columns * sizeof(T) == sizeof sums[i])
                    memcpy(c, sums[i], sizeof sums[i]);
                else
                    store_few(c, (const char *)sums[i], columns * (int64_t)sizeof(T));
                c += c_row;
            }
            a += ${tile} * a_row;
            rows -= ${tile};
            ${"continue;" if tile > 1 else ""}
        }
% endfor
    }
}
% endfor
#endif
static void gemm_${name}(char *c, int64_t c_row, const char *a, int64_t a_row, int64_t a_column,
                         const char *b, int64_t inner, int64_t rows, int64_t columns) {
#if ND_WIDTH == 64
    static const nd_gemm by_vectors[] = {${", ".join(f"gemm{v}_{name}" for v in (1, 2, 3, 4))}};
    const int64_t vectors = (columns * (int64_t)sizeof(${T}) + 63) / 64;
    if (vectors) by_vectors[vectors - 1](c, c_row, a, a_row, a_column, b, inner, rows, columns);
#else
    enum { MOST = sizeof(${T}_panel) / sizeof(${T}) };
    for (; columns > 0; columns -= MOST, c += sizeof(${T}_panel), b += sizeof(${T}_panel))
        gemm1_${name}(c, c_row, a, a_row, a_column, b, inner, rows, columns < MOST ? columns : MOST);
#endif
}
% endfor

/* Of complex numbers: a row of the panel is real parts, then imaginary ones, in a half each. */
% for T, name in ("double", "complex128"), ("float", "complex64"):
static void gemm_${name}(char *c, int64_t c_row, const char *a, int64_t a_row, int64_t a_column,
                         const char *b, int64_t inner, int64_t rows, int64_t columns) {
    typedef ${T} T;
    typedef ${T}_panel V;
    enum { HALF = ND_PANEL / 2 / sizeof(V) };
    while (rows > 0) {
% for tile in 2, 1:
        ${f"if (rows >= {tile})" if tile > 1 else ""} {
            V re[${tile}][HALF] = {0}, im[${tile}][HALF] = {0};
            const char *from = a;
            for (int64_t k = 0; k < inner; k++, from += a_column) {
                const V *panel = (const V *)(const void *)(b + k * ND_PANEL);
% for i in range(tile):
                const T x${i} = AT(const T, from + ${i} * a_row), y${i} = AT(const T, from + ${i} * a_row + sizeof(T));
% endfor
                for (int j = 0; j < HALF; j++) {
                    const V p = panel[j], q = panel[HALF + j];
% for i in range(tile):
                    re[${i}][j] += x${i} * p - y${i} * q;
                    im[${i}][j] += x${i} * q + y${i} * p;
% endfor
                }
            }
            for (int i = 0; i < ${tile}; i++, c += c_row) {
                T *to = (T *)(void *)c;
                for (int64_t j = 0; j < columns; j++) {
                    to[2 * j] = ((const T *)re[i])[j];
                    to[2 * j + 1] = ((const T *)im[i])[j];
                }
            }
            a += ${tile} * a_row;
            rows -= ${tile};
            ${"continue;" if tile > 1 else ""}
        }
% endfor
    }
}
% endfor

/* ---- Sums of products of a row and a short one that slides along it ---- */

% for T, name in ("double", "float64"), ("float", "float32"):
static void slide_${name}(char *to, const char *from, const char *short_row, int64_t inner, int64_t count) {
    typedef ${T} T;
    typedef ${T}_panel V;
    enum { VECTORS = 4, LANES = 64 / sizeof(T), STEP = VECTORS * LANES };
    int64_t i = 0;
    for (; i + STEP <= count; i += STEP) {
        V sums[VECTORS] = {0};
        for (int64_t k = 0; k < inner; k++) {
            const T x = AT(const T, short_row + k * (int64_t)sizeof(T));
            for (int j = 0; j < VECTORS; j++) {
                V p;
                memcpy(&p, from + (i + k + j * LANES) * (int64_t)sizeof(T), sizeof p);
                sums[j] += x * p;
            }
        }
        memcpy(to + i * (int64_t)sizeof(T), sums, sizeof sums);
    }
    for (; i < count; i++) {
        T sum = 0;
        for (int64_t k = 0; k < inner; k++)
            sum += AT(const T, short_row + k * (int64_t)sizeof(T)) * AT(const T, from + (i + k) * (int64_t)sizeof(T));
        AT(T, to + i * (int64_t)sizeof(T)) = sum;
    }
}
% endfor

/* ---- Places of elements, of those that are not 0, and of extremes ---- */
#include "places.inc"

/* ---- Ranks ---- */

/* How many elements come before each: all lanes are compared with one element after the other. */
#if ND_WIDTH >= 32
static void rank_uint8(const char *from, int64_t count, uint8_t *places) {
    typedef uint8_t V __attribute__((vector_size(ND_RANKED)));
    static const V numbers = {${", ".join(str(i) for i in range(32))}};
    V v, sums = {0};
    uint8_t x[ND_RANKED] = {0};
    for (int64_t i = 0; i < count; i++) x[i] = (uint8_t)from[i];
    memcpy(&v, x, sizeof v);
    for (int64_t j = 0; j < count; j++) sums -= (V)((v > x[j]) | ((v == x[j]) & (numbers > (uint8_t)j)));
    memcpy(places, &sums, sizeof sums);
}
#define rank_bool rank_uint8
#endif
#if ND_WIDTH == 64
% for letter, M, parts, R, K, whole in PLACED:
<% T, name = C_TYPES[letter], NUMBERS[letter].lower() %>\
static void rank_${name}(const char *from, int64_t count, uint8_t *places) {
    enum { LANES = 64 / sizeof(${T}), PARTS = ND_RANKED / LANES };
    static const ${name}_steps numbers = {${", ".join(str(i) for i in range(16 if letter in "if" else 8))}};
    ${T} x[ND_RANKED] = {0};
    ${M} before[ND_RANKED];
    ${name}_lanes v[PARTS];
    ${name}_steps sums[PARTS] = {0};
    for (int64_t i = 0; i < count; i++) x[i] = AT(const ${T}, from + i * (int64_t)sizeof(${T}));
    memcpy(v, x, sizeof v);
    /* (Of equal elements the first one comes first: those of later vectors are behind it.) */
<% count = 2 if letter in "if" else 4 %>\
% for own in range(count):
    for (int64_t j = ${own} * LANES; j < ${own + 1} * LANES && j < count; j++) {
        const ${T} y = x[j];
% for p in range(count):
% if p == own:
        sums[${p}] -= (v[${p}] > y) | ((v[${p}] == y) & (numbers > (${M})(j - ${own} * LANES)));
% else:
        sums[${p}] -= v[${p}] ${">=" if p > own else ">"} y;
% endif
% endfor
    }
% endfor
    memcpy(before, sums, sizeof before);
    for (int i = 0; i < ND_RANKED; i++) places[i] = (uint8_t)before[i];
}
% endfor

/* ---- Parts of a row ---- */

/* What goes before is put in front at once, which what has been read makes room for; the rest waits
 * in `room`. */
% for letter, M, parts, R, K, whole in PLACED:
<% T, name, lanes = C_TYPES[letter], NUMBERS[letter].lower(), 16 if letter in "if" else 8 %>\
<% load = "epi32" if letter == "i" else "epi64" if letter == "l" else parts %>\
static int64_t part_${name}(void *data, void *room, int64_t count, const void *middle, bool equal) {
    enum { LANES = ${lanes} };
    ${T} *row = data, *rest = room;
    const __auto_type y = _mm512_set1_${parts}(*(const ${T} *)middle);
    int64_t used = 0, left = 0;
    for (int64_t i = 0; i < count; i += LANES) {
        const unsigned all = count - i < LANES ? (1u << (count - i)) - 1 : ${"0xffff" if lanes == 16 else "0xff"};
        const __auto_type x = _mm512_maskz_loadu_${load}((${K})all, row + i);
% if letter in "fd":
        const unsigned before = equal ? _mm512_mask_cmp_${parts}_mask((${K})all, x, y, _CMP_LE_OQ)
                                      : _mm512_mask_cmp_${parts}_mask((${K})all, x, y, _CMP_LT_OQ);
% else:
        const unsigned before = equal ? _mm512_mask_cmp_${parts}_mask((${K})all, x, y, _MM_CMPINT_LE)
                                      : _mm512_mask_cmp_${parts}_mask((${K})all, x, y, _MM_CMPINT_LT);
% endif
        const int these = __builtin_popcount(before);
        _mm512_mask_storeu_${load}(row + used, (${K})((1u << these) - 1), _mm512_maskz_compress_${load}((${K})before, x));
        const int others = __builtin_popcount(all) - these;
        _mm512_mask_storeu_${load}(rest + left, (${K})((1u << others) - 1), _mm512_maskz_compress_${load}((${K})(all & ~before), x));
        used += these;
        left += others;
    }
    memcpy(row + used, rest, (size_t)left * sizeof *row);
    return used;
}
% endfor
#endif

/* ---- Lines of a few elements ---- */
#include "networks.inc"

#include "rare.inc"
#define TILES_OF(table) table##_tiles
#define TILES(table)    TILES_OF(table)
extern const nd_tiles TILES(ND_TABLE);
<%def name="by_type(function, letters='ilfd')">{
% for letter in letters:
    [ND_${NUMBERS[letter]}] = ${function}_${NUMBERS[letter].lower()},
% endfor
}</%def>\
const nd_tiles TILES(ND_TABLE) = {.float64 = gemm_float64, .float32 = gemm_float32,
    .complex128 = gemm_complex128, .complex64 = gemm_complex64,
#if ND_WIDTH == 64
    .rank = ${by_type("rank", "?Bilfd")}, .part = ${by_type("part")},
#elif ND_WIDTH == 32
    .rank = ${by_type("rank", "?B")},
#endif
#if ND_WIDTH >= 32
    .sort_lines = ${by_type("sort_lines")}, .place_lines = ${by_type("place_lines")},
#endif
    .sum = {[ND_BOOL] = sum_bytes, [ND_UINT8] = sum_bytes, [ND_INT32] = sum_ints},
    .slide = {[ND_FLOAT64] = slide_float64, [ND_FLOAT32] = slide_float32},
    .place_maximum = ${by_type("place_maximum", "?BilfdD")}, .place_minimum = ${by_type("place_minimum", "?BilfdD")},
    .count = ${by_type("count", "Bilfd")},
    .choose = {[1] = choose_1, [2] = choose_2, [4] = choose_4, [8] = choose_8, [16] = choose_16},
    .places_maximum = ${by_type("places_maximum", "?ilfdD")}, .places_minimum = ${by_type("places_minimum", "?ilfdD")}, .find = {
% for letter in HOT:
    [ND_${NUMBERS[letter]}] = find_${NUMBERS["B" if letter == "?" else letter].lower()},
% endfor
% for letter in RARE:
    [ND_${NUMBERS[letter]}] = ${f"find_{NUMBERS[TWINS[letter]].lower()}" if letter in TWINS else f"rare_find_{NUMBERS[letter].lower()}"},
% endfor
}};

extern const nd_kernels ND_TABLE[ND_UFUNCS];
const nd_kernels ND_TABLE[ND_UFUNCS] = {
% for ufunc in UFUNCS:
    [ND_UFUNC_${ufunc.name}] = {.kernels = {
% for own, kernel in [(kernel, kernel) for kernel in hot_loops(ufunc)] + twin_loops(ufunc):
        [ND_${NUMBERS[own.type]}] = {${loop_name(ufunc, kernel)}, ${"fold_" + loop_name(ufunc, kernel) if folds(ufunc, kernel) else "NULL"}, ${"rows_" + loop_name(ufunc, kernel) if stacks(ufunc, kernel) else "NULL"}, ND_${NUMBERS[own.result]}, ${str(kernel.compares).lower()}, ${inexact(kernel)}},
% endfor
% for kernel in rare_loops(ufunc):
        [ND_${NUMBERS[kernel.type]}] = {${loop_name(ufunc, kernel)}, ${"rare_fold" + loop_name(ufunc, kernel)[4:] if folds(ufunc, kernel) else "NULL"}, NULL, ND_${NUMBERS[kernel.result]}, ${str(kernel.compares).lower()}, false},
% endfor
    }},
% endfor
};
