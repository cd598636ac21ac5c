/* math_integer.c: the number theory of the module math: gcd, lcm, factorial, comb, perm, isqrt. */
#include "core/raw.h"
#include "core/upcall.h"
#include "core/work.h"
#include "modules/numeric/math_parts.h"
#include "types/number/int_arith.h"

/* Products of this many small factors are made one by one. */
#define PRODUCT_LEAF 16

static dv_value raise_value(dv_vm *vm, const char *message) {
    return dv_raise(vm, DV_E_VALUE_ERROR, "%s", message);
}

/* a op b, consuming both; EMPTY in, EMPTY out. */
static dv_value combine(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    dv_value r = DV_EMPTY;
    if (!dv_is_empty(a) && !dv_is_empty(b)) r = dv_int_binary(vm, op, a, b);
    dv_release(vm, a);
    dv_release(vm, b);
    return r;
}

/* top * (top - 1) * ... : `count` factors from top - first on. */
static dv_value falling_product(dv_vm *vm, dv_value top, int64_t first, int64_t count) {
    if (count > PRODUCT_LEAF) {
        int64_t half = count / 2;
        dv_value a = falling_product(vm, top, first, half);
        if (dv_is_empty(a)) return a;
        return combine(vm, DV_BINARY_MUL, a, falling_product(vm, top, first + half, count - half));
    }
    if (!dv_work(vm, 4 * PRODUCT_LEAF)) return DV_EMPTY;
    int64_t i = first, n, word = 1, more;
    if (dv_int_to_int64(top, &n)) /* in words as long as they are enough */
        for (; i < first + count && !__builtin_mul_overflow(word, n - i, &more); i++) word = more;
    dv_value r = dv_int_from_int64(vm, word);
    for (; i < first + count && !dv_is_empty(r); i++) {
        dv_value step = dv_int_from_int64(vm, i);
        dv_value factor = combine(vm, DV_BINARY_SUB, dv_retain(top), step);
        r = combine(vm, DV_BINARY_MUL, r, factor);
    }
    return r;
}

/* A product of `count` factors of at least `bits` bits each must be possible at all. */
static bool check_size(dv_vm *vm, int64_t count, uint64_t bits) {
    uint64_t size;
    if (!__builtin_mul_overflow((uint64_t)count, bits, &size) &&
        size / 64 <= (uint64_t)DV_INT_MAX_LIMBS)
        return true;
    dv_raise_memory(vm);
    return false;
}

static dv_value factorial_of(dv_vm *vm, int64_t n) {
    /* at least half of the factors have one bit less than n */
    uint64_t bits = dv_int_bit_length(dv_int(n < DV_INT_MAX ? n : DV_INT_MAX));
    if (n > 2 && !check_size(vm, n / 2, bits - 1)) return DV_EMPTY;
    return falling_product(vm, dv_int(n), 0, n);
}

static dv_value factorial_value(dv_vm *vm, dv_value n) {
    int64_t word;
    if (dv_int_sign(n) < 0) return raise_value(vm, "factorial() not defined for negative values");
    if (!dv_int_to_int64(n, &word))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR,
                        "factorial() argument should not exceed 9223372036854775807");
    return factorial_of(vm, word);
}

static dv_value factorial(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value n = dv_int_index(vm, args[0]);
    if (dv_is_empty(n)) return n;
    dv_value r = factorial_value(vm, n);
    dv_release(vm, n);
    return r;
}

/* Checks n and k of comb and perm. */
static bool check_not_negative(dv_vm *vm, dv_value n, dv_value k) {
    if (dv_int_sign(n) < 0)
        raise_value(vm, "n must be a non-negative integer");
    else if (dv_int_sign(k) < 0)
        raise_value(vm, "k must be a non-negative integer");
    else
        return true;
    return false;
}

static dv_value falling_checked(dv_vm *vm, dv_value n, int64_t k) {
    uint64_t bits = dv_int_bit_length(n);
    if (k > 2 && !check_size(vm, k / 2, bits > 1 ? bits - 2 : 0)) return DV_EMPTY;
    return falling_product(vm, n, 0, k);
}

static dv_value perm_value(dv_vm *vm, dv_value n, dv_value k) {
    int64_t word;
    if (!check_not_negative(vm, n, k)) return DV_EMPTY;
    if (dv_same(dv_int_compare(vm, DV_LT, n, k), DV_TRUE)) return dv_int(0);
    if (!dv_int_to_int64(k, &word))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "k must not exceed 9223372036854775807");
    return falling_checked(vm, n, word);
}

static dv_value comb_of(dv_vm *vm, dv_value n, dv_value k) {
    int64_t word;
    if (!dv_int_to_int64(k, &word))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR,
                        "min(n - k, k) must not exceed 9223372036854775807");
    dv_value above = falling_checked(vm, n, word);
    if (dv_is_empty(above)) return above;
    return combine(vm, DV_BINARY_FLOORDIV, above, factorial_of(vm, word));
}

static dv_value comb_value(dv_vm *vm, dv_value n, dv_value k) {
    if (!check_not_negative(vm, n, k)) return DV_EMPTY;
    dv_value rest = dv_int_binary(vm, DV_BINARY_SUB, n, k);
    if (dv_is_empty(rest)) return rest;
    dv_value r = dv_int(0);
    if (dv_int_sign(rest) >= 0) {
        bool smaller = dv_same(dv_int_compare(vm, DV_LT, rest, k), DV_TRUE);
        r = comb_of(vm, n, smaller ? rest : k);
    }
    dv_release(vm, rest);
    return r;
}

static dv_value of_two(dv_vm *vm, const dv_value *args,
                       dv_value (*function)(dv_vm *vm, dv_value n, dv_value k)) {
    dv_value n = dv_int_index(vm, args[0]);
    if (dv_is_empty(n)) return n;
    dv_value r = DV_EMPTY, k = dv_int_index(vm, args[1]);
    if (!dv_is_empty(k)) r = function(vm, n, k);
    dv_release(vm, k);
    dv_release(vm, n);
    return r;
}

static dv_value perm(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 1 || dv_is_none(args[1])) return factorial(vm, args, 1);
    return of_two(vm, args, perm_value);
}

static dv_value comb(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return of_two(vm, args, comb_value);
}

static dv_value lcm_of(dv_vm *vm, dv_value a, dv_value b) {
    if (dv_int_sign(a) == 0 || dv_int_sign(b) == 0) return dv_int(0);
    dv_value g = dv_int_gcd(vm, a, b);
    if (dv_is_empty(g)) return g;
    dv_value r = combine(vm, DV_BINARY_FLOORDIV, dv_retain(a), g);
    r = combine(vm, DV_BINARY_MUL, r, dv_retain(b));
    if (dv_is_empty(r) || dv_int_sign(r) >= 0) return r;
    dv_value positive = dv_int_unary(vm, DV_UNARY_NEG, r);
    dv_release(vm, r);
    return positive;
}

/* Folds the arguments, all of which must be ints. */
static dv_value fold(dv_vm *vm, const dv_value *args, uint32_t count, dv_value start,
                     dv_value (*function)(dv_vm *vm, dv_value a, dv_value b)) {
    dv_value r = start;
    for (uint32_t i = 0; i < count && !dv_is_empty(r); i++) {
        dv_value next = DV_EMPTY, n = dv_work(vm, 1) ? dv_int_index(vm, args[i]) : DV_EMPTY;
        if (!dv_is_empty(n)) next = function(vm, r, n);
        dv_release(vm, n);
        dv_release(vm, r);
        r = next;
    }
    return r;
}

static dv_value gcd(dv_vm *vm, const dv_value *args, uint32_t count) {
    return fold(vm, args, count, dv_int(0), dv_int_gcd);
}

static dv_value lcm(dv_vm *vm, const dv_value *args, uint32_t count) {
    return fold(vm, args, count, dv_int(1), lcm_of);
}

static dv_value isqrt(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value n = dv_int_index(vm, args[0]);
    if (dv_is_empty(n)) return n;
    dv_value r = dv_int_sign(n) < 0 ? raise_value(vm, "isqrt() argument must be nonnegative")
                                    : dv_int_isqrt(vm, n);
    dv_release(vm, n);
    return r;
}

static bool is_not_negative(const dv_raw_value *arguments, dv_raw_value result) {
    (void)arguments;
    return result.i >= 0;
}
static const dv_raw raw_gcd[] = {
    {"q(qq)", (dv_raw_entry)dv_int64s_gcd, true, is_not_negative, NULL}, {0}};

const dv_cfunction_def dv_math_integer_functions[] = {
    {.name = "comb", .entry = comb, .min = 2, .max = 2},
    {.name = "factorial", .entry = factorial, .min = 1, .max = 1},
    {.name = "gcd", .entry = gcd, .min = 0, .max = UINT32_MAX, .raw = raw_gcd},
    {.name = "isqrt", .entry = isqrt, .min = 1, .max = 1},
    {.name = "lcm", .entry = lcm, .min = 0, .max = UINT32_MAX},
    {.name = "perm", .entry = perm, .min = 1, .max = 2},
    {.name = NULL},
};
