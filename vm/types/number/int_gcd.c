/* int_gcd.c: greatest common divisors. */
#include "types/number/int_arith.h"

#include <gmp.h>

#include "core/upcall.h"
#include "core/work.h"

/* Numbers of more limbs are not left to GMP, which cannot be interrupted; and bits of those whose
 * steps are found in machine words. */
enum { LONG = 4096, SHORT = 124 };

static mp_limb_t *limbs_of(dv_bigint *b) { return (mp_limb_t *)b->limbs; }
static const mp_limb_t *seen(const dv_int_view *v) { return (const mp_limb_t *)v->limbs; }

static uint64_t gcd_words(uint64_t a, uint64_t b) {
    if (!a || !b) return a | b;
    int twos = __builtin_ctzll(a | b);
    a >>= __builtin_ctzll(a);
    while (b) {
        b >>= __builtin_ctzll(b);
        if (a > b) {
            uint64_t t = a;
            a = b;
            b = t;
        }
        b -= a;
    }
    return a << twos;
}

/* |a| without its factors of two, in a new block; *twos is their number. */
static dv_bigint *odd_part(dv_vm *vm, const dv_int_view *a, uint64_t *twos, int64_t *count) {
    *twos = mpn_scan1(seen(a), 0);
    int64_t words = (int64_t)(*twos / 64);
    unsigned rest = *twos % 64;
    *count = a->count - words;
    dv_bigint *r = dv_bigint_new(vm, *count);
    if (!r) return NULL;
    if (rest)
        mpn_rshift(limbs_of(r), seen(a) + words, *count, rest);
    else
        mpn_copyi(limbs_of(r), seen(a) + words, *count);
    while (r->limbs[*count - 1] == 0) --*count;
    return r;
}

int64_t dv_int64s_gcd(int64_t a, int64_t b) {
    return (int64_t)gcd_words(a < 0 ? 0 - (uint64_t)a : (uint64_t)a,
                              b < 0 ? 0 - (uint64_t)b : (uint64_t)b);
}

/* ---- Long numbers -----------------------------------------------------------------------------
 *
 * Euclid's steps depend on the highest bits for long.  So the steps of the upper halves are found
 * first (recursively), as a matrix of determinant 1 or -1, and made with the whole numbers at once.
 * Such a matrix never changes the greatest common divisor, so it does not matter if the last of the
 * steps were others than Euclid's.
 *
 * Where something raised, values are 0 from there on, for which nothing is left to do: only the
 * last step asks whether there is a result. */

typedef struct dv_pair {
    dv_value v[2];
} dv_pair;

typedef struct dv_matrix {
    dv_value m[4]; /* in rows */
} dv_matrix;

static bool failed(const dv_vm *vm) { return !dv_is_empty(vm->error); }

static dv_value or_zero(dv_value v) { return dv_is_empty(v) ? dv_int(0) : v; }

static dv_value operate(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    return failed(vm) ? dv_int(0) : or_zero(dv_int_binary(vm, op, a, b));
}

static void replace(dv_vm *vm, dv_value *place, dv_value v) {
    dv_release(vm, *place);
    *place = v;
}

static void swap(dv_value *a, dv_value *b) {
    dv_value t = *a;
    *a = *b;
    *b = t;
}

static void release_all(dv_vm *vm, dv_value *values, int count) {
    for (int i = 0; i < count; i++) replace(vm, &values[i], dv_int(0));
}

/* x * a + y * b */
static dv_value combine(dv_vm *vm, dv_value x, dv_value a, dv_value y, dv_value b) {
    dv_value p = operate(vm, DV_BINARY_MUL, x, a), q = operate(vm, DV_BINARY_MUL, y, b);
    dv_value sum = operate(vm, DV_BINARY_ADD, p, q);
    dv_release(vm, p);
    dv_release(vm, q);
    return sum;
}

static void transform(dv_vm *vm, const dv_matrix *by, dv_value *a, dv_value *b) {
    dv_value x = combine(vm, by->m[0], *a, by->m[1], *b);
    replace(vm, b, combine(vm, by->m[2], *a, by->m[3], *b));
    replace(vm, a, x);
}

static void negate(dv_vm *vm, dv_value *v) {
    replace(vm, v, operate(vm, DV_BINARY_SUB, dv_int(0), *v));
}

/* The matrix makes (a, b) of what it was made for; they shall not be negative, and a >= b. */
static void put_in_order(dv_vm *vm, dv_pair *p, dv_matrix *m) {
    for (int i = 0; i < 2; i++) {
        if (dv_int_sign(p->v[i]) >= 0) continue;
        /* Row i and number i change their signs. */
        negate(vm, &p->v[i]);
        negate(vm, &m->m[2 * i]);
        negate(vm, &m->m[2 * i + 1]);
    }
    if (!dv_same(dv_int_compare(vm, DV_LT, p->v[0], p->v[1]), DV_TRUE)) return;
    swap(&p->v[0], &p->v[1]);
    swap(&m->m[0], &m->m[2]);
    swap(&m->m[1], &m->m[3]);
}

/* One of Euclid's steps; b is not 0. */
static void divide_once(dv_vm *vm, dv_pair *p, dv_matrix *m) {
    dv_value q = operate(vm, DV_BINARY_FLOORDIV, p->v[0], p->v[1]);
    negate(vm, &q);
    dv_value *pairs[3][2] = {{&p->v[0], &p->v[1]}, {&m->m[0], &m->m[2]}, {&m->m[1], &m->m[3]}};
    for (int i = 0; i < 3; i++) {
        replace(vm, pairs[i][0], combine(vm, dv_int(1), *pairs[i][0], q, *pairs[i][1]));
        swap(pairs[i][0], pairs[i][1]);
    }
    dv_release(vm, q);
}

typedef unsigned __int128 dv_wide;

static dv_wide wide_of(dv_value v) {
    dv_int_view view;
    dv_int_look(v, &view);
    return (view.count > 0 ? view.limbs[0] : 0) | (dv_wide)(view.count > 1 ? view.limbs[1] : 0)
                                                      << 64;
}

/* Of numbers of at most SHORT bits: until b has half of them. */
static dv_matrix halve_short(dv_vm *vm, dv_value a, dv_value b, uint64_t bits) {
    dv_wide x = wide_of(a), y = wide_of(b);
    int64_t m[4] = {1, 0, 0, 1};
    while (y >> (bits / 2)) {
        const int64_t q = (int64_t)(x / y);
        const dv_wide rest = x - (dv_wide)q * y;
        const int64_t r0 = m[0] - q * m[2], r1 = m[1] - q * m[3];
        m[0] = m[2], m[1] = m[3], m[2] = r0, m[3] = r1;
        x = y;
        y = rest;
    }
    dv_matrix result;
    for (int i = 0; i < 4; i++) result.m[i] = or_zero(dv_int_from_int64(vm, m[i]));
    return result;
}

static dv_matrix halve(dv_vm *vm, dv_value a, dv_value b);

/* The matrix for what is left of the numbers without `cut` bits. */
static dv_matrix halve_above(dv_vm *vm, dv_value a, dv_value b, uint64_t cut) {
    dv_value x = operate(vm, DV_BINARY_RSHIFT, a, dv_int((int64_t)cut));
    dv_value y = operate(vm, DV_BINARY_RSHIFT, b, dv_int((int64_t)cut));
    dv_matrix m = halve(vm, x, y);
    dv_release(vm, x);
    dv_release(vm, y);
    return m;
}

/* A matrix after which the numbers, a >= b >= 0, have about half of a's bits. */
static dv_matrix halve(dv_vm *vm, dv_value a, dv_value b) {
    const uint64_t bits = dv_int_bit_length(a), half = bits / 2;
    if (bits <= SHORT) return halve_short(vm, a, b, bits);
    if (dv_int_bit_length(b) <= half || !dv_work(vm, 100))
        return (dv_matrix){{dv_int(1), dv_int(0), dv_int(0), dv_int(1)}};
    dv_matrix m = halve_above(vm, a, b, half);
    dv_pair p = {{dv_retain(a), dv_retain(b)}};
    transform(vm, &m, &p.v[0], &p.v[1]);
    put_in_order(vm, &p, &m);
    if (dv_int_bit_length(p.v[1]) > half) divide_once(vm, &p, &m);
    if (dv_int_bit_length(p.v[1]) > half) {
        const uint64_t left = dv_int_bit_length(p.v[0]);
        dv_matrix next = halve_above(vm, p.v[0], p.v[1], left < 2 * half ? 2 * half - left : 0);
        transform(vm, &next, &m.m[0], &m.m[2]);
        transform(vm, &next, &m.m[1], &m.m[3]);
        release_all(vm, next.m, 4);
    }
    release_all(vm, p.v, 2);
    return m;
}

static dv_value long_gcd(dv_vm *vm, dv_value a, dv_value b) {
    dv_pair p = {{dv_retain(a), dv_retain(b)}};
    dv_matrix unused = {{dv_int(0), dv_int(0), dv_int(0), dv_int(0)}};
    put_in_order(vm, &p, &unused);
    while (dv_int_bit_length(p.v[1]) > LONG * 64) {
        divide_once(vm, &p, &unused);
        dv_matrix m = halve(vm, p.v[0], p.v[1]);
        transform(vm, &m, &p.v[0], &p.v[1]);
        put_in_order(vm, &p, &unused);
        release_all(vm, m.m, 4);
    }
    if (dv_int_sign(p.v[1]) != 0) divide_once(vm, &p, &unused);
    dv_value r = failed(vm) ? DV_EMPTY : dv_int_gcd(vm, p.v[0], p.v[1]);
    release_all(vm, p.v, 2);
    return r;
}

dv_value dv_int_gcd(dv_vm *vm, dv_value a, dv_value b) {
    dv_int_view x, y;
    dv_int_look(a, &x);
    dv_int_look(b, &y);
    if (x.count <= 1 && y.count <= 1)
        return dv_int_from_uint64(vm,
                                  gcd_words(x.count ? x.limbs[0] : 0, y.count ? y.limbs[0] : 0));
    x.negative = y.negative = false;
    if (y.count == 0) return dv_int_copy(vm, &x);
    if (x.count == 0) return dv_int_copy(vm, &y);
    if (x.count > LONG || y.count > LONG) return long_gcd(vm, a, b);
    /* (The longer one is divided at first, in a line.) */
    const int64_t longer = x.count < y.count ? y.count : x.count,
                  shorter = x.count + y.count - longer;
    if (!dv_work(vm, longer / 4 + shorter * (shorter < 4 ? 4 : 32))) return DV_EMPTY;
    uint64_t x_twos, y_twos;
    int64_t x_count, y_count;
    dv_bigint *p = odd_part(vm, &x, &x_twos, &x_count);
    if (!p) return DV_EMPTY;
    dv_bigint *q = odd_part(vm, &y, &y_twos, &y_count);
    dv_bigint *g = q ? dv_bigint_new(vm, x_count < y_count ? x_count : y_count) : NULL;
    dv_int_reserve reserve;
    dv_value r = DV_EMPTY;
    if (g && dv_int_reserve_take(vm, &reserve, x_count + y_count)) {
        int64_t count = x_count >= y_count
                            ? mpn_gcd(limbs_of(g), limbs_of(p), x_count, limbs_of(q), y_count)
                            : mpn_gcd(limbs_of(g), limbs_of(q), y_count, limbs_of(p), x_count);
        dv_int_reserve_drop(vm, &reserve);
        dv_int_view odd = {g->limbs, count, false, 0};
        r = dv_int_shift_left(vm, &odd, x_twos < y_twos ? x_twos : y_twos);
    }
    dv_bigint_free(vm, p);
    if (q) dv_bigint_free(vm, q);
    if (g) dv_bigint_free(vm, g);
    return r;
}
