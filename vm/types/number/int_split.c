/* int_split.c: products and quotients of long numbers, in steps between which work is counted
 * (int_split.h).
 *
 * GMP does not let itself be interrupted, so it gets no work of more than a few milliseconds.
 * Longer products are split by Karatsuba's rule, longer quotients are made digit by digit, where a
 * digit has STEP limbs. */
#include "types/number/int_split.h"

#include <assert.h>
#include "core/work.h"

/* Units of work that GMP does at once, and limbs whose product or quotient is about that. */
enum { WHOLE = 32768, MOST = WHOLE * 16, STEP = WHOLE / 2 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* a_count >= b_count */
static int64_t units_of(int64_t a_count, int64_t b_count) {
    return a_count * (b_count < 256 ? b_count : 256) / 16;
}

static mp_limb_t *take(dv_vm *vm, int64_t limbs) {
    mp_limb_t *block = dv_heap_alloc(&vm->heap, (size_t)limbs * sizeof(mp_limb_t));
    if (!block) dv_raise_memory(vm);
    return block;
}

static void drop(dv_vm *vm, mp_limb_t *block, int64_t limbs) {
    dv_heap_free(&vm->heap, block, (size_t)limbs * sizeof(mp_limb_t));
}

/* ---- Products ----------------------------------------------------------------------------------
 */

/* Where a is much longer: piece by piece. */
static bool multiply_pieces(dv_vm *vm, mp_limb_t *r, const mp_limb_t *a, int64_t a_count,
                            const mp_limb_t *b, int64_t b_count) {
    const int64_t piece = b_count > WHOLE ? b_count : WHOLE, room = piece + b_count;
    mp_limb_t *product = take(vm, room);
    if (!product) return false;
    bool good = true;
    mpn_zero(r, a_count + b_count);
    for (int64_t at = 0; good && at < a_count; at += piece) {
        const int64_t count = least(piece, a_count - at);
        good = count >= b_count ? dv_limbs_multiply(vm, product, a + at, count, b, b_count)
                                : dv_limbs_multiply(vm, product, b, b_count, a + at, count);
        if (good) mpn_add(r + at, product, count + b_count, r + at, b_count);
    }
    drop(vm, product, room);
    return good;
}

/* Karatsuba's rule; half < b_count <= a_count <= 2 * half.  `sums` has room for 4 * half + 4. */
static bool multiply_halves(dv_vm *vm, mp_limb_t *r, const mp_limb_t *a, int64_t a_count,
                            const mp_limb_t *b, int64_t b_count, int64_t half, mp_limb_t *sums) {
    const bool square = a == b;
    mp_limb_t *x = sums, *y = square ? x : x + half + 1, *middle = sums + 2 * (half + 1);
    const int64_t count = a_count + b_count;
    int64_t middle_count = 2 * (half + 1);
    x[half] = mpn_add(x, a, half, a + half, a_count - half);
    if (!square) y[half] = mpn_add(y, b, half, b + half, b_count - half);
    if (!dv_limbs_multiply(vm, r, a, half, b, half) ||
        !dv_limbs_multiply(vm, r + 2 * half, a + half, a_count - half, b + half, b_count - half) ||
        !dv_limbs_multiply(vm, middle, x, half + 1, y, half + 1))
        return false;
    mpn_sub(middle, middle, middle_count, r, 2 * half);
    mpn_sub(middle, middle, middle_count, r + 2 * half, count - 2 * half);
    while (middle_count > 0 && middle[middle_count - 1] == 0) middle_count--;
    if (middle_count) mpn_add(r + half, r + half, count - half, middle, middle_count);
    return true;
}

bool dv_limbs_multiply(dv_vm *vm, mp_limb_t *r, const mp_limb_t *a, int64_t a_count,
                       const mp_limb_t *b, int64_t b_count) {
    assert(a != b || a_count == b_count); /* invariant 2 */
    const int64_t units = units_of(a_count, b_count), half = (a_count + 1) / 2;
    if (units <= MOST) {
        if (!dv_work(vm, units)) return false;
        if (a == b)
            mpn_sqr(r, a, a_count);
        else
            mpn_mul(r, a, a_count, b, b_count);
        return true;
    }
    if (b_count <= half) return multiply_pieces(vm, r, a, a_count, b, b_count);
    const int64_t room = 4 * (half + 1);
    mp_limb_t *sums = take(vm, room);
    if (!sums) return false;
    const bool good = multiply_halves(vm, r, a, a_count, b, b_count, half, sums);
    drop(vm, sums, room);
    return good;
}

/* ---- Quotients ---------------------------------------------------------------------------------
 */

/* A division that is under way: u becomes the remainder; v, whose highest bit is set, the divisor;
 * and room for a digit and its product with v. */
typedef struct division {
    mp_limb_t *u, *v, *digit, *product;
    int64_t v_count;
} division;

/* u / v for the v_count + count limbs of u from `at` on, which are less than v * 2^(64 * count):
 * the digit of `count` limbs, with the remainder in place of these limbs. */
static bool divide_step(dv_vm *vm, const division *d, int64_t at, int64_t count) {
    mp_limb_t *u = d->u + at;
    const int64_t n = d->v_count;
    if (!dv_work(vm, 2 * units_of(count < n ? n : count, least(count, n)))) return false;
    if (n <= STEP) {
        mpn_tdiv_qr(d->digit, d->product, 0, u, n + count, d->v, n);
        mpn_copyi(u, d->product, n);
        mpn_zero(u + n, count);
        return true;
    }
    /* The highest limbs tell the digit, or one or two more than it. */
    mpn_tdiv_qr(d->digit, d->product, 0, u + n - count, 2 * count, d->v + n - count, count);
    if (d->digit[count])
        for (int64_t i = 0; i < count; i++) d->digit[i] = ~(mp_limb_t)0;
    if (!dv_limbs_multiply(vm, d->product, d->v, n, d->digit, count)) return false;
    mp_limb_t borrow = mpn_sub_n(u, u, d->product, n + count);
    while (borrow) {
        mpn_sub_1(d->digit, d->digit, count, 1);
        borrow -= mpn_add(u, u, n + count, d->v, n);
    }
    return true;
}

static bool divide_steps(dv_vm *vm, const division *d, mp_limb_t *q, int64_t q_count) {
    for (int64_t at = q_count, count; at > 0;) {
        count = least(STEP, at);
        at -= count;
        if (!divide_step(vm, d, at, count)) return false;
        mpn_copyi(q + at, d->digit, count);
    }
    return true;
}

/* to[count] = from << bits, and what is shifted out */
static mp_limb_t shift(mp_limb_t *to, const mp_limb_t *from, int64_t count, unsigned bits) {
    if (bits) return mpn_lshift(to, from, count, bits);
    mpn_copyi(to, from, count);
    return 0;
}

bool dv_limbs_divide(dv_vm *vm, mp_limb_t *q, mp_limb_t *r, const mp_limb_t *a, int64_t a_count,
                     const mp_limb_t *b, int64_t b_count) {
    const int64_t q_count = a_count - b_count + 1;
    const int64_t units =
        2 * (q_count > b_count ? units_of(q_count, b_count) : units_of(b_count, q_count));
    if (units <= MOST) {
        if (!dv_work(vm, units)) return false;
        mpn_tdiv_qr(q, r, 0, a, a_count, b, b_count);
        return true;
    }
    const int64_t room = a_count + 1 + b_count + STEP + 1 + b_count + STEP;
    const unsigned bits = (unsigned)__builtin_clzll(b[b_count - 1]);
    division d = {.u = take(vm, room), .v_count = b_count};
    if (!d.u) return false;
    d.v = d.u + a_count + 1;
    d.digit = d.v + b_count;
    d.product = d.digit + STEP + 1;
    d.u[a_count] = shift(d.u, a, a_count, bits);
    shift(d.v, b, b_count, bits);
    const bool good = divide_steps(vm, &d, q, q_count);
    if (good && bits)
        mpn_rshift(r, d.u, b_count, bits);
    else if (good)
        mpn_copyi(r, d.u, b_count);
    drop(vm, d.u, room);
    return good;
}
