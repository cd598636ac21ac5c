/* whole.c: natural numbers of any size: what coefficients are where they are not small.
 *
 * Invariants
 *  1. Up to NEAR limbs GMP works in the caller's frame, without any allocation.  What is longer is
 *     an int of dl, and an operator of dl makes it: that counts memory and work, and can be
 *     stopped. */
#include "decimal.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

void whole_set(whole *w, u128 c) {
    w->near[0] = (uint64_t)c;
    w->near[1] = (uint64_t)(c >> 64);
    w->limbs = w->near;
    w->count = w->near[1] ? 2 : w->near[0] != 0;
    w->value = DVX_FAILED;
}

/* An int of dl, which is the number's from now on. */
static bool take(dvx_vm *vm, whole *w, dvx_value v) {
    w->value = v;
    w->limbs = dvx_failed(v) ? NULL : vm->api->int_limbs(vm, v, w->near, &w->count);
    return w->limbs;
}

void whole_of(dvx_vm *vm, const number *n, whole *w) {
    whole_set(w, n->c);
    if (!n->is_big) return;
    if (n->filled) {
        take(vm, w, vm->api->retain(vm, n->big));
        return;
    }
    w->limbs = vm->api->int_limbs(vm, n->big, w->near, &w->count);
    if (w->count < 0) w->count = -w->count;
}

dvx_value whole_value(dvx_vm *vm, whole *w) {
    if (dvx_failed(w->value)) w->value = vm->api->make_int_limbs(vm, w->limbs, w->count);
    return w->value;
}

bool whole_store(dvx_vm *vm, whole *w, number *n) {
    if (w->count <= 2) {
        n->c = ((u128)(w->count > 1 ? w->limbs[1] : 0) << 64) | (w->count ? w->limbs[0] : 0);
        if (n->c < decimal_powers[SMALL_DIGITS]) return true;
        n->c = 0;
    }
    n->big = whole_value(vm, w);
    n->is_big = !dvx_failed(n->big);
    if (n->is_big) vm->api->retain(vm, n->big);
    return n->is_big;
}

/* The first `count` limbs of `near`. */
static bool settle(whole *w, int64_t count) {
    while (count && !w->near[count - 1]) count--;
    w->limbs = w->near;
    w->count = count;
    w->value = DVX_FAILED;
    return true;
}

static bool operate(dvx_vm *vm, dvx_binary op, whole *a, whole *b, whole *out) {
    dvx_value x = whole_value(vm, a), y = dvx_failed(x) ? DVX_FAILED : whole_value(vm, b);
    return take(vm, out, dvx_failed(y) ? DVX_FAILED : vm->api->binary(vm, op, x, y));
}

int whole_compare(const whole *a, const whole *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    return a->count ? mpn_cmp(a->limbs, b->limbs, a->count) : 0;
}

void whole_move(whole *from, whole *to) {
    to->count = from->count;
    to->value = from->value;
    to->limbs = from->limbs == from->near ? to->near : from->limbs;
    if (from->limbs == from->near)
        memcpy(to->near, from->near, (size_t)from->count * sizeof *from->near);
    from->value = DVX_FAILED;
}

/* GMP's time in place for so many products of limbs. */
static bool count_work(dvx_vm *vm, int64_t products) {
    return products < 512 || dvx_work(vm, products / 16);
}

bool whole_add(dvx_vm *vm, whole *a, whole *b, whole *out) {
    if (a->count < b->count) return whole_add(vm, b, a, out);
    if (a->count >= NEAR) return operate(vm, DVX_ADD, a, b, out);
    out->near[a->count] = 0;
    if (a->count) out->near[a->count] = mpn_add(out->near, a->limbs, a->count, b->limbs, b->count);
    return settle(out, a->count + 1);
}

bool whole_subtract(dvx_vm *vm, whole *a, whole *b, whole *out) {
    if (a->count > NEAR) return operate(vm, DVX_SUB, a, b, out);
    if (a->count) mpn_sub(out->near, a->limbs, a->count, b->limbs, b->count);
    return settle(out, a->count);
}

bool whole_multiply(dvx_vm *vm, whole *a, whole *b, whole *out) {
    if (a->count < b->count) return whole_multiply(vm, b, a, out);
    if (!b->count) return settle(out, 0);
    if (a->count + b->count > NEAR) return operate(vm, DVX_MUL, a, b, out);
    if (!count_work(vm, a->count * b->count)) return false;
    mpn_mul(out->near, a->limbs, a->count, b->limbs, b->count);
    return settle(out, a->count + b->count);
}

static bool divide_values(dvx_vm *vm, whole *a, whole *b, whole *quotient, whole *rest) {
    whole both = {.value = DVX_FAILED};
    dvx_value x = whole_value(vm, a), y = dvx_failed(x) ? DVX_FAILED : whole_value(vm, b);
    if (dvx_failed(y)) return false;
    both.value = vm->api->binary(vm, DVX_DIVMOD, x, y);
    if (dvx_failed(both.value)) return false;
    dvx_value zero = vm->api->make_int(vm, 0), one = vm->api->make_int(vm, 1);
    bool good = take(vm, quotient, vm->api->get_item(vm, both.value, zero)) &&
                take(vm, rest, vm->api->get_item(vm, both.value, one));
    whole_drop(vm, &both);
    return good;
}

bool whole_divide(dvx_vm *vm, whole *a, whole *b, whole *quotient, whole *rest) {
    settle(quotient, 0);
    settle(rest, 0);
    if (a->count > NEAR || b->count > NEAR) return divide_values(vm, a, b, quotient, rest);
    if (a->count < b->count) {
        memcpy(rest->near, a->limbs, (size_t)a->count * sizeof *a->limbs);
        return settle(rest, a->count);
    }
    if (!count_work(vm, (a->count - b->count + 1) * b->count)) return false;
    mpn_tdiv_qr(quotient->near, rest->near, 0, a->limbs, a->count, b->limbs, b->count);
    settle(quotient, a->count - b->count + 1);
    return settle(rest, b->count);
}

bool whole_ten(dvx_vm *vm, int64_t k, whole *out) {
    whole_set(out, k <= SMALL_DIGITS ? decimal_powers[k] : 0);
    if (k <= SMALL_DIGITS) return true;
    decimal_state *state = decimal_state_of(vm);
    power_of_ten *known = &state->powers[k % (int64_t)LENGTH_OF(state->powers)];
    if (known->exponent != k) {
        dvx_value ten = vm->api->make_int(vm, 10), exponent = vm->api->make_int(vm, k);
        dvx_value value = vm->api->binary(vm, DVX_POW, ten, exponent);
        vm->api->release(vm, exponent);
        if (dvx_failed(value)) return false;
        vm->api->release(vm, known->value);
        *known = (power_of_ten){.exponent = k, .value = value};
    }
    return take(vm, out, vm->api->retain(vm, known->value));
}

bool whole_scale(dvx_vm *vm, whole *a, int64_t k, whole *out) {
    whole unit;
    if (!a->count) return settle(out, 0);
    bool good = whole_ten(vm, k, &unit) && whole_multiply(vm, a, &unit, out);
    whole_drop(vm, &unit);
    return good;
}

bool whole_digits(dvx_vm *vm, const whole *a, int64_t *out) {
    if (a->count <= 1) {
        *out = decimal_digits(a->count ? a->limbs[0] : 0);
        return true;
    }
    const uint64_t top = a->limbs[a->count - 1], next = a->limbs[a->count - 2];
    double leading = (double)top * 0x1p64 + (double)next;
    double about = log10(leading) + (double)(a->count - 2) * 19.265919722494796; /* log10(2^64) */
    int64_t n = (int64_t)about;
    if (about - (double)n < 1e-5 || about - (double)n > 1 - 1e-5) {
        whole unit;
        n = (int64_t)(about + 0.5);
        if (!whole_ten(vm, n, &unit)) return false;
        if (whole_compare(a, &unit) < 0) n--;
        whole_drop(vm, &unit);
    }
    *out = n + 1;
    return true;
}

bool whole_root(dvx_vm *vm, whole *a, whole *root, bool *exact) {
    if (a->count <= NEAR) {
        if (!count_work(vm, a->count * a->count)) return false;
        *exact = !a->count || !mpn_sqrtrem(root->near, NULL, a->limbs, a->count);
        return settle(root, (a->count + 1) / 2);
    }
    whole square = {.value = DVX_FAILED};
    dvx_value v = whole_value(vm, a);
    settle(root, 0);
    bool good = !dvx_failed(v) && take(vm, root, decimal_call(vm, "isqrt", &v, 1)) &&
                whole_multiply(vm, root, root, &square);
    *exact = good && whole_compare(&square, a) == 0;
    whole_drop(vm, &square);
    return good;
}

uint32_t whole_modulo(const whole *a, uint32_t m) {
    return a->count ? (uint32_t)mpn_mod_1(a->limbs, a->count, m) : 0;
}

int64_t whole_twos(const whole *a) { return a->count ? (int64_t)mpn_scan1(a->limbs, 0) : 0; }

/* ---- Text ---- */

enum { TEXT_LIMBS = 256, TEXT_DIGITS = TEXT_LIMBS * 19, TEXT_ROOM = TEXT_LIMBS * 20 };

bool whole_write(dvx_vm *vm, whole *w, char *out, int64_t count) {
    if (w->count > TEXT_LIMBS) {
        whole unit, high, low;
        const int64_t half = count / 2;
        whole_clear(&unit), whole_clear(&high), whole_clear(&low);
        bool good = whole_ten(vm, half, &unit) && whole_divide(vm, w, &unit, &high, &low) &&
                    whole_write(vm, &high, out, count - half) &&
                    whole_write(vm, &low, out + count - half, half);
        whole_drop(vm, &unit), whole_drop(vm, &high), whole_drop(vm, &low);
        return good;
    }
    uint64_t limbs[TEXT_LIMBS + 1]; /* GMP overwrites them */
    unsigned char digits[TEXT_ROOM];
    size_t size = 0;
    if (!count_work(vm, w->count * w->count)) return false;
    if (w->count) {
        memcpy(limbs, w->limbs, (size_t)w->count * sizeof *limbs);
        size = mpn_get_str(digits, 10, limbs, w->count);
    }
    const size_t zeros = (size_t)count - (size < (size_t)count ? size : (size_t)count);
    memset(out, '0', zeros);
    for (size_t i = zeros; i < (size_t)count; i++)
        out[i] = (char)('0' + digits[size - (size_t)count + i]);
    return true;
}

bool whole_read(dvx_vm *vm, const char *text, size_t count, whole *out) {
    if (count > TEXT_DIGITS) {
        whole high, low, moved;
        const size_t half = count / 2;
        whole_clear(&high), whole_clear(&low), whole_clear(&moved);
        bool good = whole_read(vm, text, count - half, &high) &&
                    whole_read(vm, text + count - half, half, &low) &&
                    whole_scale(vm, &high, (int64_t)half, &moved) &&
                    whole_add(vm, &moved, &low, out);
        whole_drop(vm, &high), whole_drop(vm, &low), whole_drop(vm, &moved);
        return good;
    }
    unsigned char digits[TEXT_DIGITS];
    uint64_t limbs[TEXT_LIMBS + 1];
    for (size_t i = 0; i < count; i++) digits[i] = (unsigned char)(text[i] - '0');
    int64_t size = count ? mpn_set_str(limbs, digits, count, 10) : 0;
    while (size && !limbs[size - 1]) size--;
    if (!count_work(vm, size * size)) return false;
    if (size > NEAR) return take(vm, out, vm->api->make_int_limbs(vm, limbs, size));
    memcpy(out->near, limbs, (size_t)size * sizeof *limbs);
    return settle(out, size);
}
