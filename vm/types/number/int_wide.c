/* int_wide.c: operators on ints of one or two limbs (int_wide.h).
 *
 * Invariants
 *  1. An operation is sign and magnitude, as heap ints are (int.h, 2), and its result exact, or
 * there is none: what needs a third limb is int_arith.c's.
 *  2. Both operands are read before the result is written: its block may be that of either. */
#include "types/number/int_wide.h"

#include "core/upcall.h"
#include "types/number/int_arith.h"

/* Each operator has a copy of what is quick, where its name is known; but where nothing is
 * optimised there is one, so that coverage counts it once. */
#ifdef __OPTIMIZE__
#define INLINE inline __attribute__((always_inline))
#else
#define INLINE inline
#endif

#define LIMB_BITS 64

typedef unsigned __int128 magnitude;

typedef struct wide {
    magnitude m;
    bool negative; /* 0 may be, too */
} wide;

static inline int bits_of(magnitude m) {
    uint64_t high = (uint64_t)(m >> 64), low = (uint64_t)m;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* False: v has more limbs. */
static inline bool look(dv_value v, wide *out) {
    if (!dv_is_object(v)) {
        int64_t i = dv_is_int(v) ? dv_as_int(v) : dv_same(v, DV_TRUE);
        *out = (wide){i < 0 ? -(uint64_t)i : (uint64_t)i, i < 0};
        return true;
    }
    const dv_bigint *b = (const dv_bigint *)dv_as_object(v);
    uint32_t count = (uint32_t)(b->size < 0 ? -b->size : b->size);
    if (count > 2) return false;
    magnitude low = count ? b->limbs[0] : 0;
    *out = (wide){count == 2 ? (magnitude)b->limbs[1] << 64 | low : low, b->size < 0};
    return true;
}

static bool add(wide a, wide b, wide *r) {
    *r = a;
    if (a.negative == b.negative) return !__builtin_add_overflow(a.m, b.m, &r->m);
    if (a.m < b.m) *r = b;
    r->m = a.m < b.m ? b.m - a.m : a.m - b.m;
    return true;
}

static bool multiply(wide a, wide b, wide *r) {
    if ((a.m | b.m) >> 64) return false;
    *r = (wide){(magnitude)(uint64_t)a.m * (uint64_t)b.m, a.negative != b.negative};
    return true;
}

/* Floor division: what is left has the sign of b. */
static bool divide(wide a, wide b, wide *quotient, wide *rest) {
    if (b.m == 0) return false;
    magnitude q, r;
    if ((a.m | b.m) >> 64) {
        q = a.m / b.m;
        r = a.m - q * b.m;
    } else {
        q = (uint64_t)a.m / (uint64_t)b.m;
        r = (uint64_t)a.m % (uint64_t)b.m;
    }
    const bool down = a.negative != b.negative;
    if (down && r != 0) {
        q++;
        r = b.m - r;
    }
    *quotient = (wide){q, down};
    *rest = (wide){r, b.negative};
    return true;
}

static bool shift_left(wide a, wide b, wide *r) {
    if ((b.negative && b.m) || b.m > 127 || bits_of(a.m) + (int)b.m > 128) return false;
    *r = (wide){a.m << (int)b.m, a.negative};
    return true;
}

static bool shift_right(wide a, wide b, wide *r) {
    if (b.negative && b.m) return false;
    const int n = b.m > 127 ? 127 : (int)b.m; /* (once more by one, then) */
    *r = (wide){b.m > 127 ? 0 : a.m >> n, a.negative};
    if (a.negative && (b.m > 127 ? a.m != 0 : r->m << n != a.m)) r->m++;
    return true;
}

static inline __int128 complement_of(wide a) { return a.negative ? -(__int128)a.m : (__int128)a.m; }

static bool combine(dv_binary_op op, wide a, wide b, wide *r) {
    if (!a.negative && !b.negative) {
        r->negative = false;
        r->m = op == DV_BINARY_AND ? a.m & b.m : op == DV_BINARY_OR ? a.m | b.m : a.m ^ b.m;
        return true;
    }
    if ((a.m | b.m) >> 127) return false;
    const __int128 x = complement_of(a), y = complement_of(b);
    const __int128 s = op == DV_BINARY_AND ? x & y : op == DV_BINARY_OR ? x | y : x ^ y;
    *r = (wide){s < 0 ? -(magnitude)s : (magnitude)s, s < 0};
    return true;
}

/* False: there is no result of two limbs. */
static bool compute(dv_binary_op op, wide a, wide b, wide *r) {
    wide unused;
    switch (op) {
    case DV_BINARY_SUB: b.negative = !b.negative; return add(a, b, r);
    case DV_BINARY_ADD: return add(a, b, r);
    case DV_BINARY_MUL: return multiply(a, b, r);
    case DV_BINARY_FLOORDIV: return divide(a, b, r, &unused);
    case DV_BINARY_MOD: return divide(a, b, &unused, r);
    case DV_BINARY_LSHIFT: return shift_left(a, b, r);
    case DV_BINARY_RSHIFT: return shift_right(a, b, r);
    case DV_BINARY_AND:
    case DV_BINARY_OR:
    case DV_BINARY_XOR: return combine(op, a, b, r);
    default: return false;
    }
}

/* Is it a heap int that nobody else has, with room for the result? */
static inline bool may_hold(dv_value v) {
    if (!dv_is_object(v) || dv_as_object(v)->references != 1) return false;
    return ((const dv_bigint *)dv_as_object(v))->capacity >= 2;
}

static inline void drop(dv_vm *vm, dv_value v) {
    if (dv_is_object(v) && --dv_as_object(v)->references == 0)
        dv_bigint_free(vm, (dv_bigint *)dv_as_object(v));
}

static void store(dv_bigint *block, wide r) {
    block->limbs[0] = (uint64_t)r.m;
    block->limbs[1] = (uint64_t)(r.m >> 64);
    const int32_t count = block->limbs[1] ? 2 : 1;
    block->size = r.negative ? -count : count;
}

/* The value of a result, which takes the block of what dies; EMPTY: raised, and nothing is
 * consumed. */
static INLINE dv_value finish(dv_vm *vm, wide r, dv_value a, dv_value b, uint32_t own) {
    dv_value result;
    if (r.m <= (magnitude)DV_INT_MAX + r.negative) {
        result = dv_int(r.negative ? -(int64_t)r.m : (int64_t)r.m);
    } else {
        dv_bigint *block;
        if (own & 1 && may_hold(a)) {
            block = (dv_bigint *)dv_as_object(a);
            own &= ~1u;
        } else if (own & 2 && may_hold(b)) {
            block = (dv_bigint *)dv_as_object(b);
            own &= ~2u;
        } else {
            block = dv_bigint_new(vm, 2);
            if (DV_UNLIKELY(!block)) return DV_EMPTY;
        }
        store(block, r);
        result = dv_object_value(block);
    }
    if (own & 1) drop(vm, a);
    if (own & 2) drop(vm, b);
    return result;
}

bool dv_int_wide(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, dv_value *out) {
    wide x, y, r;
    if (!look(a, &x) || !look(b, &y) || !compute(op, x, y, &r)) return false;
    *out = finish(vm, r, a, b, 0);
    return true;
}

bool dv_int_outgrows(dv_binary_op op, dv_value a, dv_value b) {
    wide x, y, r;
    if (!look(a, &x) || !look(b, &y) || !compute(op, x, y, &r)) return true;
    return r.m > (magnitude)DV_INT_MAX + r.negative;
}

/* ---- One limb, and not negative: most ints of such programs -----------------------------------*/

static inline bool look_at_once(dv_value v, uint64_t *out) {
    if (dv_is_int(v)) {
        *out = (uint64_t)dv_as_int(v);
        return dv_as_int(v) >= 0;
    }
    const dv_bigint *b = (const dv_bigint *)dv_as_object(v);
    *out = b->limbs[0];
    return b->size == 1;
}

static INLINE bool compute_at_once(dv_binary_op op, uint64_t a, uint64_t b, magnitude *r) {
    switch (op) {
    case DV_BINARY_ADD: *r = (magnitude)a + b; return true;
    case DV_BINARY_SUB: *r = a - b; return a >= b;
    case DV_BINARY_MUL: *r = (magnitude)a * b; return true;
    case DV_BINARY_LSHIFT: *r = (magnitude)a << (b & 63); return b < LIMB_BITS;
    case DV_BINARY_RSHIFT: *r = a >> (b & 63); return b < LIMB_BITS;
    case DV_BINARY_OR: *r = a | b; return true;
    case DV_BINARY_XOR: *r = a ^ b; return true;
    default: return false;
    }
}

/* Of an int that is not negative, the lowest limb. */
static inline bool look_low(dv_value v, uint64_t *out, bool *more) {
    *more = dv_is_object(v) && ((const dv_bigint *)dv_as_object(v))->size > 1;
    return look_at_once(v, out) || *more;
}

/* Of ints that are longer, or negative. */
static dv_value operate(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, uint32_t own) {
    wide x, y, r;
    if (look(a, &x) && look(b, &y) && compute(op, x, y, &r)) return finish(vm, r, a, b, own);
    const dv_value result = dv_int_binary(vm, op, a, b);
    if (DV_UNLIKELY(dv_is_empty(result))) return result;
    if (own & 1) dv_release(vm, a);
    if (own & 2) dv_release(vm, b);
    return result;
}

/* Of an int that is not negative, two limbs. */
static inline bool look_two(dv_value v, magnitude *out) {
    uint64_t low;
    if (look_at_once(v, &low)) return *out = low, true;
    const dv_bigint *b = (const dv_bigint *)dv_as_object(v);
    if (!dv_is_object(v) || b->size != 2) return false;
    return *out = (magnitude)b->limbs[1] << 64 | low, true;
}

static INLINE bool operate_at_once(dv_binary_op op, dv_value a, dv_value b, magnitude *r) {
    uint64_t m, n;
    magnitude p;
    bool more_m, more_n;
    switch (op) {
    case DV_BINARY_AND: /* a mask cuts a product */
        if (!look_low(a, &m, &more_m) || !look_low(b, &n, &more_n) || (more_m && more_n))
            return false;
        *r = m & n;
        return true;
    case DV_BINARY_FLOORDIV:
    case DV_BINARY_MOD: /* of a product, too */
        if (!look_two(a, &p) || !look_at_once(b, &n) || n == 0) return false;
        *r = op == DV_BINARY_MOD ? p % n : p / n;
        return true;
    default: return look_at_once(a, &m) && look_at_once(b, &n) && compute_at_once(op, m, n, r);
    }
}

#define OPERATOR(name)                                                \
    DV_INT_DO(name) {                                                 \
        wide r = {0, false};                                          \
        if (DV_LIKELY(operate_at_once(DV_BINARY_##name, a, b, &r.m))) \
            return finish(vm, r, a, b, own);                          \
        return operate(vm, DV_BINARY_##name, a, b, own);              \
    }
OPERATOR(ADD)
OPERATOR(SUB)
OPERATOR(MUL)
OPERATOR(FLOORDIV)
OPERATOR(MOD)
OPERATOR(LSHIFT)
OPERATOR(RSHIFT)
OPERATOR(AND)
OPERATOR(OR)
OPERATOR(XOR)
