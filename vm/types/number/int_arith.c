/* int_arith.c: arithmetic on ints of any size, as sign and magnitude, through GMP's mpn_*.
 *
 * Invariants
 *  1. Memory is charged to the VM before GMP is called; where GMP takes scratch memory for itself,
 *     as much is held in reserve during the call.
 *  2. Results are normalised by dv_bigint_finish, so that invariant 1 of int.h holds. */
#include "types/number/int_arith.h"

#include <gmp.h>
#include <math.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/number/int_split.h"

_Static_assert(sizeof(mp_limb_t) == sizeof(uint64_t), "GMP with 64-bit limbs");

#define LIMB_BITS 64

/* From this many limbs on GMP's scratch memory is reserved. */
#define RESERVE_FROM 1024
/* From this many limbs on roots are not left to GMP, which cannot be interrupted. */
#define LONG_ROOT 16384

static mp_limb_t *limbs_of(dv_bigint *b) { return (mp_limb_t *)b->limbs; }
static const mp_limb_t *seen(const dv_int_view *v) { return (const mp_limb_t *)v->limbs; }

/* ---- Blocks and views -------------------------------------------------------------------------*/

void dv_int_look(dv_value v, dv_int_view *view) {
    if (dv_is_object(v)) {
        dv_bigint *b = (dv_bigint *)dv_as_object(v);
        view->limbs = b->limbs;
        view->negative = b->size < 0;
        view->count = view->negative ? -(int64_t)b->size : b->size;
        return;
    }
    int64_t i = dv_is_int(v) ? dv_as_int(v) : dv_same(v, DV_TRUE);
    view->word = i < 0 ? (uint64_t)-i : (uint64_t)i;
    view->limbs = &view->word;
    view->negative = i < 0;
    view->count = i != 0;
}

uint64_t dv_int_view_bits(const dv_int_view *view) {
    if (view->count == 0) return 0;
    return (uint64_t)view->count * LIMB_BITS -
           (uint64_t)__builtin_clzll(view->limbs[view->count - 1]);
}

size_t dv_bigint_size(int64_t limbs) {
    return sizeof(dv_bigint) + (size_t)limbs * sizeof(uint64_t);
}

dv_bigint *dv_bigint_new(dv_vm *vm, int64_t limbs) {
    if (limbs > DV_INT_MAX_LIMBS) {
        dv_raise_memory(vm);
        return NULL;
    }
    if (limbs < 1) limbs = 1;
    dv_work_call(vm, 4); /* so operators on ints of few limbs need not count */
    dv_bigint *b = dv_object_new(vm, dv_bigint_size(limbs), DV_T_INT);
    if (b) b->capacity = (uint32_t)limbs;
    return b;
}

void dv_bigint_free(dv_vm *vm, dv_bigint *b) {
    dv_heap_free(&vm->heap, b, dv_bigint_size(b->capacity));
}

dv_value dv_bigint_finish(dv_vm *vm, dv_bigint *b, int64_t count, bool negative) {
    while (count > 0 && b->limbs[count - 1] == 0) count--;
    if (count <= 1) {
        uint64_t word = count ? b->limbs[0] : 0;
        if (word <= (uint64_t)DV_INT_MAX + negative) {
            dv_bigint_free(vm, b);
            return dv_int(negative ? -(int64_t)word : (int64_t)word);
        }
    }
    if (b->capacity > (uint64_t)count + 8) {
        dv_bigint *smaller =
            dv_heap_resize(&vm->heap, b, dv_bigint_size(b->capacity), dv_bigint_size(count));
        if (smaller) {
            b = smaller;
            b->capacity = (uint32_t)count;
        }
    }
    b->size = negative ? -(int32_t)count : (int32_t)count;
    return dv_object_value(b);
}

static dv_value from_words(dv_vm *vm, uint64_t low, uint64_t high, bool negative) {
    dv_bigint *b = dv_bigint_new(vm, high ? 2 : 1);
    if (!b) return DV_EMPTY;
    b->limbs[0] = low;
    if (high) b->limbs[1] = high;
    return dv_bigint_finish(vm, b, high ? 2 : 1, negative);
}

dv_value dv_int_from_int64(dv_vm *vm, int64_t i) {
    if (DV_LIKELY(dv_fits_int(i))) return dv_int(i);
    return from_words(vm, i < 0 ? -(uint64_t)i : (uint64_t)i, 0, i < 0);
}

bool dv_int_is_word(dv_value v) {
    int64_t word;
    return dv_int_to_word(v, &word);
}

/* Takes one reference from a heap int: its block, if that was the last one; else NULL. */
static inline dv_bigint *take_block(dv_value v) {
    const bool dies = dv_is_object(v) && --dv_as_object(v)->references == 0;
    return dies ? (dv_bigint *)dv_as_object(v) : NULL;
}

dv_value dv_int_over(dv_vm *vm, int64_t i, dv_value a, dv_value b) {
    dv_bigint *block = take_block(a), *other = take_block(b);
    if (!block)
        block = other;
    else if (DV_UNLIKELY(other != NULL))
        dv_bigint_free(vm, other);
    if (dv_fits_int(i)) {
        if (block) dv_bigint_free(vm, block);
        return dv_int(i);
    }
    if (!block) {
        block = dv_bigint_new(vm, 1);
        if (DV_UNLIKELY(!block)) { /* both live, and stay the caller's */
            dv_retain(a);
            dv_retain(b);
            return DV_EMPTY;
        }
    }
    block->header.references = 1;
    block->size = i < 0 ? -1 : 1;
    block->limbs[0] = i < 0 ? -(uint64_t)i : (uint64_t)i;
    return dv_object_value(block);
}

dv_value dv_int_from_uint64(dv_vm *vm, uint64_t i) {
    if (DV_LIKELY(i <= (uint64_t)DV_INT_MAX)) return dv_int((int64_t)i);
    return from_words(vm, i, 0, false);
}

dv_value dv_int_from_int128(dv_vm *vm, __int128 i) {
    if (i >= DV_INT_MIN && i <= DV_INT_MAX) return dv_int((int64_t)i);
    unsigned __int128 magnitude = i < 0 ? -(unsigned __int128)i : (unsigned __int128)i;
    return from_words(vm, (uint64_t)magnitude, (uint64_t)(magnitude >> 64), i < 0);
}

bool dv_int_reserve_take(dv_vm *vm, dv_int_reserve *reserve, int64_t limbs) {
    *reserve = (dv_int_reserve){NULL, 0};
    if (limbs < RESERVE_FROM) return true;
    reserve->size = (size_t)limbs * 4 * sizeof(uint64_t);
    reserve->block = dv_heap_alloc(&vm->heap, reserve->size);
    if (!reserve->block) dv_raise_memory(vm);
    return reserve->block != NULL;
}

void dv_int_reserve_drop(dv_vm *vm, dv_int_reserve *reserve) {
    if (reserve->block) dv_heap_free(&vm->heap, reserve->block, reserve->size);
}

/* ---- Doubles ----------------------------------------------------------------------------------*/

double dv_int_scale(uint64_t mantissa, int64_t exponent) {
    if (mantissa == 0 || exponent < -1200) return 0.0;
    if (exponent > 1100) return INFINITY;
    int bits = 64 - __builtin_clzll(mantissa);
    int64_t lowest = bits + exponent - 53;
    if (lowest < -1074) lowest = -1074;
    int64_t drop = lowest - exponent;
    if (drop > 0) {
        if (drop > 64) return 0.0;
        uint64_t half = (uint64_t)1 << (drop - 1);
        uint64_t rest = drop == 64 ? mantissa : mantissa & (2 * half - 1);
        mantissa = drop == 64 ? 0 : mantissa >> drop;
        mantissa += rest > half || (rest == half && (mantissa & 1));
        exponent = lowest;
    }
    return ldexp((double)mantissa, (int)exponent);
}

uint64_t dv_int_leading(const dv_int_view *view, int64_t *exponent) {
    int64_t n = view->count;
    *exponent = 0;
    if (n == 0) return 0;
    uint64_t top = view->limbs[n - 1];
    if (n == 1) return top;
    int shift = __builtin_clzll(top);
    uint64_t next = view->limbs[n - 2];
    uint64_t lost = shift ? next << shift : next;
    if (shift) top = top << shift | next >> (LIMB_BITS - shift);
    for (int64_t i = n - 3; i >= 0 && !lost; i--) lost = view->limbs[i];
    *exponent = (n - 1) * LIMB_BITS - shift;
    return top | (lost != 0);
}

/* ---- Addition and multiplication --------------------------------------------------------------*/

static int compare_magnitudes(const dv_int_view *a, const dv_int_view *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    return a->count ? mpn_cmp(seen(a), seen(b), a->count) : 0;
}

dv_value dv_int_add(dv_vm *vm, const dv_int_view *a, const dv_int_view *b, bool subtract) {
    bool b_negative = b->negative != subtract, negative = a->negative;
    if (a->negative == b_negative) {
        const dv_int_view *longer = a->count >= b->count ? a : b;
        const dv_int_view *shorter = longer == a ? b : a;
        dv_bigint *r = dv_bigint_new(vm, longer->count + 1);
        if (!r) return DV_EMPTY;
        mp_limb_t carry =
            mpn_add(limbs_of(r), seen(longer), longer->count, seen(shorter), shorter->count);
        r->limbs[longer->count] = carry;
        return dv_bigint_finish(vm, r, longer->count + 1, negative);
    }
    int order = compare_magnitudes(a, b);
    if (order == 0) return dv_int(0);
    const dv_int_view *larger = order > 0 ? a : b, *smaller = order > 0 ? b : a;
    if (order < 0) negative = b_negative;
    dv_bigint *r = dv_bigint_new(vm, larger->count);
    if (!r) return DV_EMPTY;
    mpn_sub(limbs_of(r), seen(larger), larger->count, seen(smaller), smaller->count);
    return dv_bigint_finish(vm, r, larger->count, negative);
}

dv_value dv_int_multiply(dv_vm *vm, const dv_int_view *a, const dv_int_view *b) {
    if (a->count < b->count) {
        const dv_int_view *t = a;
        a = b;
        b = t;
    }
    if (b->count == 0) return dv_int(0);
    int64_t count = a->count + b->count;
    dv_bigint *r = dv_bigint_new(vm, count);
    if (!r) return DV_EMPTY;
    if (b->count == 1) {
        r->limbs[a->count] = mpn_mul_1(limbs_of(r), seen(a), a->count, b->limbs[0]);
    } else {
        dv_int_reserve reserve;
        bool good = dv_int_reserve_take(vm, &reserve, count);
        if (good) {
            good = dv_limbs_multiply(vm, limbs_of(r), seen(a), a->count, seen(b), b->count);
            dv_int_reserve_drop(vm, &reserve);
        }
        if (!good) {
            dv_bigint_free(vm, r);
            return DV_EMPTY;
        }
    }
    return dv_bigint_finish(vm, r, count, a->negative != b->negative);
}

dv_value dv_int_negate(dv_vm *vm, const dv_int_view *a) {
    dv_bigint *r = dv_bigint_new(vm, a->count);
    if (!r) return DV_EMPTY;
    if (a->count) mpn_copyi(limbs_of(r), seen(a), a->count);
    return dv_bigint_finish(vm, r, a->count, !a->negative);
}

/* ---- Division ---------------------------------------------------------------------------------*/

/* Magnitudes of a / b and a % b, truncated; q has a->count - b->count + 2 limbs (the top one 0), r
 * has b->count.  |a| >= |b| in limbs. */
static bool divide_magnitudes(dv_vm *vm, const dv_int_view *a, const dv_int_view *b, dv_bigint **q,
                              dv_bigint **r) {
    int64_t q_count = a->count - b->count + 1;
    *r = NULL;
    *q = dv_bigint_new(vm, q_count + 1);
    if (*q) *r = dv_bigint_new(vm, b->count);
    dv_int_reserve reserve;
    bool good = *r && dv_int_reserve_take(vm, &reserve, a->count);
    if (good) {
        good =
            dv_limbs_divide(vm, limbs_of(*q), limbs_of(*r), seen(a), a->count, seen(b), b->count);
        (*q)->limbs[q_count] = 0;
        dv_int_reserve_drop(vm, &reserve);
    }
    if (good) return true;
    if (*q) dv_bigint_free(vm, *q);
    if (*r) dv_bigint_free(vm, *r);
    return false;
}

dv_value dv_int_copy(dv_vm *vm, const dv_int_view *a) {
    dv_bigint *r = dv_bigint_new(vm, a->count);
    if (!r) return DV_EMPTY;
    if (a->count) mpn_copyi(limbs_of(r), seen(a), a->count);
    return dv_bigint_finish(vm, r, a->count, a->negative);
}

/* a // b and a % b where a has fewer limbs than b. */
static bool divide_short(dv_vm *vm, const dv_int_view *a, const dv_int_view *b, dv_value *quotient,
                         dv_value *remainder) {
    bool down = a->count && a->negative != b->negative;
    if (remainder) {
        *remainder = down ? dv_int_add(vm, a, b, false) : dv_int_copy(vm, a);
        if (dv_is_empty(*remainder)) return false;
    }
    if (quotient) *quotient = dv_int(down ? -1 : 0);
    return true;
}

bool dv_int_divide(dv_vm *vm, const dv_int_view *a, const dv_int_view *b, dv_value *quotient,
                   dv_value *remainder) {
    if (a->count < b->count) return divide_short(vm, a, b, quotient, remainder);
    dv_bigint *q, *r;
    if (!divide_magnitudes(vm, a, b, &q, &r)) return false;
    int64_t q_count = a->count - b->count + 2;
    if (a->negative != b->negative && !mpn_zero_p(limbs_of(r), b->count)) {
        mpn_add_1(limbs_of(q), limbs_of(q), q_count, 1);
        mpn_sub_n(limbs_of(r), seen(b), limbs_of(r), b->count);
    }
    if (quotient)
        *quotient = dv_bigint_finish(vm, q, q_count, a->negative != b->negative);
    else
        dv_bigint_free(vm, q);
    if (remainder)
        *remainder = dv_bigint_finish(vm, r, b->count, b->negative);
    else
        dv_bigint_free(vm, r);
    return true;
}

/* The quotient of magnitudes, scaled to 62 or 63 bits, with a sticky lowest bit: a / b =
 * result * 2^-shift. */
static bool scaled_quotient(dv_vm *vm, const dv_int_view *a, const dv_int_view *b, int64_t shift,
                            uint64_t *out) {
    dv_int_view n, d;
    dv_value scaled = shift >= 0 ? dv_int_shift_left(vm, a, (uint64_t)shift)
                                 : dv_int_shift_left(vm, b, (uint64_t)-shift);
    if (dv_is_empty(scaled)) return false;
    dv_int_look(scaled, shift >= 0 ? &n : &d);
    const dv_int_view *numerator = shift >= 0 ? &n : a, *denominator = shift >= 0 ? b : &d;
    dv_bigint *q, *r;
    bool ok = divide_magnitudes(vm, numerator, denominator, &q, &r);
    if (ok) {
        *out = q->limbs[0] | !mpn_zero_p(limbs_of(r), denominator->count);
        dv_bigint_free(vm, q);
        dv_bigint_free(vm, r);
    }
    dv_release(vm, scaled);
    return ok;
}

dv_value dv_int_true_divide(dv_vm *vm, const dv_int_view *a, const dv_int_view *b) {
    if (b->count == 0) return dv_raise(vm, DV_E_ZERO_DIVISION_ERROR, "division by zero");
    bool negative = a->negative != b->negative;
    double result = 0.0;
    uint64_t a_bits = dv_int_view_bits(a), b_bits = dv_int_view_bits(b);
    int64_t difference = (int64_t)(a_bits - b_bits);
    if (a_bits <= 53 && b_bits <= 53) {
        result = (double)(a->count ? a->limbs[0] : 0) / (double)b->limbs[0];
    } else if (a->count && difference > 1024) {
        result = INFINITY;
    } else if (a->count && difference >= -1080) {
        uint64_t quotient;
        if (!scaled_quotient(vm, a, b, 62 - difference, &quotient)) return DV_EMPTY;
        result = dv_int_scale(quotient, difference - 62);
    }
    if (isinf(result))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "integer division result too large for a float");
    return dv_float(negative ? -result : result);
}

/* ---- Shifts -----------------------------------------------------------------------------------*/

dv_value dv_int_shift_left(dv_vm *vm, const dv_int_view *a, uint64_t bits) {
    if (a->count == 0) return dv_int(0);
    uint64_t words = bits / LIMB_BITS, rest = bits % LIMB_BITS;
    if (words > (uint64_t)DV_INT_MAX_LIMBS) return dv_raise_memory(vm);
    int64_t count = a->count + (int64_t)words + 1;
    dv_bigint *r = dv_bigint_new(vm, count);
    if (!r) return DV_EMPTY;
    mp_limb_t *limbs = limbs_of(r);
    if (words) mpn_zero(limbs, (mp_size_t)words);
    if (rest) {
        limbs[count - 1] = mpn_lshift(limbs + words, seen(a), a->count, (unsigned)rest);
    } else {
        mpn_copyi(limbs + words, seen(a), a->count);
        limbs[count - 1] = 0;
    }
    return dv_bigint_finish(vm, r, count, a->negative);
}

dv_value dv_int_shift_right(dv_vm *vm, const dv_int_view *a, uint64_t bits) {
    uint64_t words = bits / LIMB_BITS, rest = bits % LIMB_BITS;
    if (words >= (uint64_t)a->count) return dv_int(a->negative ? -1 : 0);
    int64_t count = a->count - (int64_t)words;
    dv_bigint *r = dv_bigint_new(vm, count + 1);
    if (!r) return DV_EMPTY;
    mp_limb_t *limbs = limbs_of(r), lost = 0;
    if (rest)
        lost = mpn_rshift(limbs, seen(a) + words, count, (unsigned)rest);
    else
        mpn_copyi(limbs, seen(a) + words, count);
    limbs[count] = 0;
    for (uint64_t i = 0; i < words && !lost; i++) lost = a->limbs[i];
    if (a->negative && lost) mpn_add_1(limbs, limbs, count + 1, 1);
    return dv_bigint_finish(vm, r, count + 1, a->negative);
}

/* ---- Bits -------------------------------------------------------------------------------------*/

/* The limbs of a number in two's complement, one after the other. */
typedef struct complement {
    const dv_int_view *view;
    int64_t next;
    bool carry;
} complement;

static uint64_t complement_next(complement *c) {
    uint64_t limb = c->next < c->view->count ? c->view->limbs[c->next] : 0;
    c->next++;
    if (!c->view->negative) return limb;
    limb = ~limb + c->carry;
    c->carry = c->carry && limb == 0;
    return limb;
}

static uint64_t apply(dv_binary_op op, uint64_t a, uint64_t b) {
    return op == DV_BINARY_AND ? a & b : op == DV_BINARY_OR ? a | b : a ^ b;
}

dv_value dv_int_bitwise(dv_vm *vm, dv_binary_op op, const dv_int_view *a, const dv_int_view *b) {
    int64_t count = a->count > b->count ? a->count : b->count;
    if (op == DV_BINARY_AND && !b->negative) count = b->count;
    if (op == DV_BINARY_AND && !a->negative && a->count < b->count) count = a->count;
    count++; /* for the sign */
    dv_bigint *r = dv_bigint_new(vm, count);
    if (!r) return DV_EMPTY;
    complement x = {a, 0, true}, y = {b, 0, true};
    for (int64_t i = 0; i < count; i++)
        r->limbs[i] = apply(op, complement_next(&x), complement_next(&y));
    bool negative = apply(op, a->negative, b->negative);
    if (negative) mpn_neg(limbs_of(r), limbs_of(r), count);
    return dv_bigint_finish(vm, r, count, negative);
}

/* ---- Powers -----------------------------------------------------------------------------------*/

/* Consumes a; a or b may be EMPTY after a failure. */
static dv_value multiply_values(dv_vm *vm, dv_value a, dv_value b) {
    if (dv_is_empty(a)) return a;
    dv_int_view x, y;
    dv_int_look(a, &x);
    dv_int_look(b, &y);
    dv_value r = dv_int_multiply(vm, &x, dv_same(a, b) ? &x : &y);
    dv_release(vm, a);
    return r;
}

/* base ** exponent, exponent >= 1, by squaring from the top bit. */
static dv_value power_plain(dv_vm *vm, dv_value base, uint64_t exponent) {
    dv_value r = dv_retain(base);
    for (int bit = 62 - __builtin_clzll(exponent); bit >= 0; bit--) {
        r = multiply_values(vm, r, r);
        if (exponent >> bit & 1) r = multiply_values(vm, r, base);
    }
    return r;
}

dv_value dv_int_power(dv_vm *vm, dv_value base, dv_value exponent) {
    dv_int_view b, e;
    dv_int_look(base, &b);
    dv_int_look(exponent, &e);
    if (e.count == 0) return dv_int(1);
    if (b.count == 0) return dv_int(0);
    bool negative = b.negative && (e.limbs[0] & 1);
    if (b.count == 1 && b.limbs[0] == 1) return dv_int(negative ? -1 : 1);
    uint64_t bits = dv_int_view_bits(&b), size;
    if (e.count > 1 || __builtin_mul_overflow(bits - 1, e.limbs[0], &size) ||
        size / LIMB_BITS > (uint64_t)DV_INT_MAX_LIMBS)
        return dv_raise_memory(vm);
    uint64_t n = e.limbs[0];
    if (b.count > 1) return power_plain(vm, base, n);
    /* The factors of two are a shift at the end. */
    int twos = __builtin_ctzll(b.limbs[0]);
    dv_value odd = dv_int_from_uint64(vm, b.limbs[0] >> twos);
    if (dv_is_empty(odd)) return odd;
    dv_value r = b.limbs[0] >> twos == 1 ? dv_int(1) : power_plain(vm, odd, n);
    dv_release(vm, odd);
    if (dv_is_empty(r) || (!twos && !negative)) return r;
    dv_int_view view;
    dv_int_look(r, &view);
    view.negative = negative;
    dv_value shifted = dv_int_shift_left(vm, &view, n * (uint64_t)twos);
    dv_release(vm, r);
    return shifted;
}

/* The inverse of a modulo m (m > 1, 0 <= a < m), or EMPTY: raised. */
static dv_value inverse_mod(dv_vm *vm, dv_value a, dv_value m) {
    dv_value r0 = dv_retain(m), r1 = dv_retain(a), t0 = dv_int(0), t1 = dv_int(1);
    bool ok = true;
    while (ok && dv_int_sign(r1) != 0) {
        if (!dv_work(vm, 10)) {
            ok = false;
            break;
        }
        dv_value q = DV_EMPTY, r = DV_EMPTY, product = DV_EMPTY, t = DV_EMPTY;
        ok = dv_int_divmod(vm, r0, r1, &q, &r);
        if (ok) product = dv_int_binary(vm, DV_BINARY_MUL, q, t1);
        if (!dv_is_empty(product)) t = dv_int_binary(vm, DV_BINARY_SUB, t0, product);
        dv_release(vm, q);
        dv_release(vm, product);
        ok = !dv_is_empty(t);
        if (!ok) {
            dv_release(vm, r);
            break;
        }
        dv_release(vm, r0);
        dv_release(vm, t0);
        r0 = r1;
        r1 = r;
        t0 = t1;
        t1 = t;
    }
    dv_value result = DV_EMPTY;
    if (ok && dv_same(r0, dv_int(1)))
        result = dv_int_binary(vm, DV_BINARY_MOD, t0, m);
    else if (ok)
        dv_raise(vm, DV_E_VALUE_ERROR, "base is not invertible for the given modulus");
    dv_release(vm, r0);
    dv_release(vm, r1);
    dv_release(vm, t0);
    dv_release(vm, t1);
    return result;
}

/* a * b % m, consuming a. */
static dv_value multiply_mod(dv_vm *vm, dv_value a, dv_value b, dv_value m) {
    dv_value product = multiply_values(vm, a, b);
    if (dv_is_empty(product)) return product;
    dv_value r = dv_int_binary(vm, DV_BINARY_MOD, product, m);
    dv_release(vm, product);
    return r;
}

typedef unsigned __int128 dv_wide;

static inline uint64_t multiply_words_mod(uint64_t a, uint64_t b, uint64_t m) {
    if (m <= UINT32_MAX) return a * b % m;
    return (uint64_t)((dv_wide)a * b % m);
}

/* power_mod where m is one limb: no int is made on the way. */
static uint64_t power_word_mod(dv_vm *vm, uint64_t base, const dv_int_view *exponent, uint64_t m) {
    uint64_t r = 1 % m;
    dv_work_owe(vm, exponent->count * 16);
    for (int64_t bit = (int64_t)dv_int_view_bits(exponent) - 1; bit >= 0; bit--) {
        r = multiply_words_mod(r, r, m);
        if (exponent->limbs[bit / LIMB_BITS] >> (bit % LIMB_BITS) & 1)
            r = multiply_words_mod(r, base, m);
    }
    return r;
}

/* base ** |exponent| % m for 0 <= base < m. */
static dv_value power_mod(dv_vm *vm, dv_value base, const dv_int_view *exponent, dv_value m) {
    dv_int_view small, modulus;
    dv_int_look(base, &small);
    dv_int_look(m, &modulus);
    if (modulus.count == 1)
        return dv_int_from_uint64(
            vm, power_word_mod(vm, small.count ? small.limbs[0] : 0, exponent, modulus.limbs[0]));
    dv_value r = dv_int_binary(vm, DV_BINARY_MOD, dv_int(1), m);
    for (int64_t bit = (int64_t)dv_int_view_bits(exponent) - 1; bit >= 0 && !dv_is_empty(r);
         bit--) {
        if (!dv_work(vm, 10)) {
            dv_release(vm, r);
            return DV_EMPTY;
        }
        r = multiply_mod(vm, r, r, m);
        if (!dv_is_empty(r) && exponent->limbs[bit / LIMB_BITS] >> (bit % LIMB_BITS) & 1)
            r = multiply_mod(vm, r, base, m);
    }
    return r;
}

dv_value dv_int_pow_mod(dv_vm *vm, dv_value a, dv_value b, dv_value c) {
    if (dv_int_sign(c) == 0)
        return dv_raise(vm, DV_E_VALUE_ERROR, "pow() 3rd argument cannot be 0");
    dv_int_view exponent, modulus;
    dv_int_look(b, &exponent);
    dv_int_look(c, &modulus);
    dv_value m = modulus.negative ? dv_int_negate(vm, &modulus) : dv_retain(c);
    if (dv_is_empty(m)) return m;
    dv_value r = DV_EMPTY, base = dv_int_binary(vm, DV_BINARY_MOD, a, m);
    bool trivial = modulus.count == 1 && modulus.limbs[0] == 1;
    if (!dv_is_empty(base) && exponent.negative && !trivial) {
        dv_value inverse = inverse_mod(vm, base, m);
        dv_release(vm, base);
        base = inverse;
    }
    if (!dv_is_empty(base)) r = power_mod(vm, base, &exponent, m);
    if (!dv_is_empty(r) && modulus.negative && dv_int_sign(r) != 0) {
        dv_value moved = dv_int_binary(vm, DV_BINARY_ADD, r, c);
        dv_release(vm, r);
        r = moved;
    }
    dv_release(vm, base);
    dv_release(vm, m);
    return r;
}

/* ---- Square roots -----------------------------------------------------------------------------*/

/* a op b; EMPTY where one of them is, and a call has raised. */
static dv_value operate(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    return dv_is_empty(a) || dv_is_empty(b) ? DV_EMPTY : dv_int_binary(vm, op, a, b);
}

/* One step of Newton's method from above: the root of what is left of a without half of its limbs
 * is right in the upper half of the limbs that are looked for. */
static dv_value long_isqrt(dv_vm *vm, dv_value a, int64_t limbs) {
    const dv_value cut = dv_int(limbs / 4 * LIMB_BITS - 1);
    dv_value top = dv_int_binary(vm, DV_BINARY_RSHIFT, a, dv_int(2 * dv_as_int(cut)));
    dv_value root = dv_is_empty(top) ? top : dv_int_isqrt(vm, top);
    dv_value above = operate(vm, DV_BINARY_ADD, root, dv_int(1));
    dv_value first = operate(vm, DV_BINARY_LSHIFT, above, cut);
    dv_value other = operate(vm, DV_BINARY_FLOORDIV, a, first);
    dv_value sum = operate(vm, DV_BINARY_ADD, first, other);
    dv_value r = operate(vm, DV_BINARY_RSHIFT, sum, dv_int(1));
    const dv_value used[] = {top, root, above, first, other, sum};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) dv_release(vm, used[i]);
    while (!dv_is_empty(r)) { /* it is 0 or 1 too large */
        dv_value square = dv_int_binary(vm, DV_BINARY_MUL, r, r);
        const bool fits =
            !dv_is_empty(square) && !dv_same(dv_int_compare(vm, DV_GT, square, a), DV_TRUE);
        const bool failed = dv_is_empty(square);
        dv_release(vm, square);
        if (fits) break;
        dv_value less = failed ? DV_EMPTY : dv_int_binary(vm, DV_BINARY_SUB, r, dv_int(1));
        dv_release(vm, r);
        r = less;
    }
    return r;
}

dv_value dv_int_isqrt(dv_vm *vm, dv_value a) {
    dv_int_view v;
    dv_int_look(a, &v);
    if (v.count == 0) return dv_int(0);
    if (v.count > LONG_ROOT) return long_isqrt(vm, a, v.count);
    dv_bigint *r = dv_work(vm, v.count * 16) ? dv_bigint_new(vm, (v.count + 1) / 2) : NULL;
    if (!r) return DV_EMPTY;
    dv_int_reserve reserve;
    if (!dv_int_reserve_take(vm, &reserve, v.count)) {
        dv_bigint_free(vm, r);
        return DV_EMPTY;
    }
    mpn_sqrtrem(limbs_of(r), NULL, seen(&v), v.count);
    dv_int_reserve_drop(vm, &reserve);
    return dv_bigint_finish(vm, r, (v.count + 1) / 2, false);
}
