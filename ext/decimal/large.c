/* large.c: arithmetic on numbers of any size, in any context, as libmpdec does it.
 *
 * Invariants
 *  1. A function of a `job` gives a number whose `big` is a new reference; false: raised, and the
 *     number has no reference.  Conditions go into job->status.
 *  2. `finish` is the only place that rounds a finite result to the context. */
#include "decimal.h"

enum { FAR = 10000 }; /* so many zeros behind an operand are only appended if they must be */

static bool is_zero(const number *n) { return n->kind == FINITE && !n->is_big && !n->c; }
static bool is_nan(const number *n) { return n->kind >= QUIET_NAN; }

static bool special(number *out, uint32_t kind, uint32_t sign) {
    *out = (number){.kind = (uint8_t)kind, .sign = (uint8_t)sign};
    return true;
}

static bool fail(job *j, uint32_t condition, number *out) {
    j->status |= condition;
    return special(out, QUIET_NAN, 0);
}

/* c without its last k digits, rounded.  *inexact: does c go on behind its end, or has it been so
 * before?  *up: is the result above it? */
static bool cut(job *j, uint32_t sign, whole *c, int64_t k, whole *out, bool *inexact, bool *up) {
    enum { MOST_OF_LIMB = 20 };
    whole unit, quotient, rest, twice, one;
    const int64_t rounding = j->with->rounding;
    const bool before = *inexact;
    *up = false;
    whole_set(out, 0);
    if (!c->count) return true;
    if (k > c->count * MOST_OF_LIMB + 1) { /* all of it, and less than half a unit */
        *inexact = true;
        *up = decimal_goes_up(rounding, sign, -1, false, true);
        whole_set(out, *up);
        return true;
    }
    whole_clear(&quotient), whole_clear(&rest), whole_clear(&twice);
    bool good = whole_ten(j->vm, k, &unit) && whole_divide(j->vm, c, &unit, &quotient, &rest) &&
                whole_add(j->vm, &rest, &rest, &twice);
    if (good && (rest.count || before)) {
        const int half = whole_compare(&twice, &unit);
        *inexact = true;
        *up = decimal_goes_up(rounding, sign, half ? half : before,
                              quotient.count && (quotient.limbs[0] & 1),
                              rounding == ROUND_05UP && whole_modulo(&quotient, 5) == 0);
    }
    whole_set(&one, 1);
    if (*up)
        good = good && whole_add(j->vm, &quotient, &one, out);
    else
        whole_move(&quotient, out);
    whole_drop(j->vm, &unit), whole_drop(j->vm, &quotient);
    whole_drop(j->vm, &rest), whole_drop(j->vm, &twice), whole_drop(j->vm, &one);
    return good;
}

static bool overflow(job *j, uint32_t sign, number *out) {
    const context *with = j->with;
    int64_t rounding = with->rounding;
    whole limit, one, nines;
    j->status |= IS_OVERFLOW | IS_INEXACT | IS_ROUNDED;
    special(out, INFINITE, sign);
    if (rounding != ROUND_DOWN && rounding != ROUND_05UP && !(rounding == ROUND_CEILING && sign) &&
        !(rounding == ROUND_FLOOR && !sign))
        return true;
    special(out, FINITE, sign);
    out->exponent = with->emax - with->precision + 1;
    whole_set(&one, 1);
    whole_clear(&limit), whole_clear(&nines);
    bool good = whole_ten(j->vm, with->precision, &limit) &&
                whole_subtract(j->vm, &limit, &one, &nines) && whole_store(j->vm, &nines, out);
    whole_drop(j->vm, &limit), whole_drop(j->vm, &one), whole_drop(j->vm, &nines);
    return good;
}

static bool finish_zero(job *j, uint32_t sign, int64_t e, number *out) {
    const context *with = j->with;
    int64_t tiny = with->emin - with->precision + 1;
    int64_t top = with->clamp ? with->emax - with->precision + 1 : with->emax;
    if (e < tiny || e > top) j->status |= IS_CLAMPED;
    special(out, FINITE, sign);
    out->exponent = e < tiny ? tiny : e > top ? top : e;
    return true;
}

/* The finite number, rounded to the context.  `inexact`: it is a bit more than that, and has more
 * digits than the context. */
static bool finish_inexact(job *j, uint32_t sign, whole *c, int64_t e, bool inexact, number *out) {
    const context *with = j->with;
    const int64_t top = with->emax - with->precision + 1;
    int64_t digits, low = with->emin - with->precision + 1;
    bool up = false, good = true;
    whole shorter, longer, *result = c;
    if (!c->count) return finish_zero(j, sign, e, out);
    if (!whole_digits(j->vm, c, &digits)) return false;
    int64_t leading = e + digits - 1;
    if (leading > with->emax) return overflow(j, sign, out);
    if (low < leading + 1 - with->precision) low = leading + 1 - with->precision;
    whole_clear(&shorter), whole_clear(&longer);
    if (e < low) {
        good = cut(j, sign, c, low - e, &shorter, &inexact, &up);
        result = &shorter;
        e = low;
        j->status |= IS_ROUNDED;
        if (good && up && (good = whole_digits(j->vm, result, &digits)) &&
            digits > with->precision) { /* it is a power of ten */
            good = whole_ten(j->vm, with->precision - 1, &longer);
            whole_drop(j->vm, &shorter);
            whole_clear(&shorter);
            result = &longer;
            e++;
            if (good && e + with->precision - 1 > with->emax) {
                whole_drop(j->vm, &longer);
                return overflow(j, sign, out);
            }
        }
        if (inexact) j->status |= IS_INEXACT | (leading < with->emin ? IS_UNDERFLOW : 0);
        if (good && !result->count) j->status |= IS_CLAMPED;
    }
    if (leading < with->emin) j->status |= IS_SUBNORMAL;
    if (good && with->clamp && e > top) {
        j->status |= IS_CLAMPED;
        good = whole_scale(j->vm, result, e - top, &longer);
        result = &longer;
        e = top;
    }
    special(out, FINITE, sign);
    out->exponent = e;
    good = good && whole_store(j->vm, result, out);
    whole_drop(j->vm, &shorter), whole_drop(j->vm, &longer);
    return good;
}

static bool finish(job *j, uint32_t sign, whole *c, int64_t e, number *out) {
    return finish_inexact(j, sign, c, e, false, out);
}

/* A NaN, quiet, whose payload fits. */
static bool shorten(job *j, const number *a, number *out) {
    const int64_t room = j->with->precision - j->with->clamp;
    int64_t digits;
    whole c, unit, quotient, rest;
    special(out, QUIET_NAN, a->sign);
    whole_of(j->vm, a, &c);
    whole_clear(&unit), whole_clear(&quotient), whole_clear(&rest);
    bool good = whole_digits(j->vm, &c, &digits);
    if (good && c.count && digits > room)
        good = whole_ten(j->vm, room, &unit) && whole_divide(j->vm, &c, &unit, &quotient, &rest) &&
               whole_store(j->vm, &rest, out);
    else
        good = good && whole_store(j->vm, &c, out);
    whole_drop(j->vm, &c), whole_drop(j->vm, &unit);
    whole_drop(j->vm, &quotient), whole_drop(j->vm, &rest);
    return good;
}

/* What an operation gives where an operand is a NaN. */
static bool nan_among(job *j, const number *a, const number *b, number *out) {
    const number *first = is_nan(a) ? a : b;
    if (a->kind == SIGNALLING_NAN || (b && b->kind == SIGNALLING_NAN)) {
        j->status |= IS_INVALID;
        first = a->kind == SIGNALLING_NAN ? a : b;
    }
    return shorten(j, first, out);
}

static bool finish_number(job *j, uint32_t sign, const number *a, number *out) {
    whole c;
    if (is_nan(a)) return nan_among(j, a, NULL, out);
    if (a->kind == INFINITE) return special(out, INFINITE, sign);
    whole_of(j->vm, a, &c);
    bool good = finish(j, sign, &c, a->exponent, out);
    whole_drop(j->vm, &c);
    return good;
}

static bool change_sign(job *j, operation op, const number *a, number *out) {
    uint32_t sign = op == OP_abs ? 0 : op == OP_minus ? !a->sign : a->sign;
    if (is_zero(a) && op != OP_abs) sign = j->with->rounding == ROUND_FLOOR && sign;
    return finish_number(j, sign, a, out);
}

/* ---- Sums ---- */

/* x + y, of signs, and perhaps a bit more than that. */
static bool add_wholes(job *j, whole *x, uint32_t x_sign, whole *y, uint32_t y_sign, int64_t e,
                       bool inexact, number *out) {
    whole sum;
    bool good, less = whole_compare(x, y) < 0;
    whole_clear(&sum);
    if (x_sign == y_sign)
        good = whole_add(j->vm, x, y, &sum);
    else
        good = less ? whole_subtract(j->vm, y, x, &sum) : whole_subtract(j->vm, x, y, &sum);
    if (good && !sum.count) x_sign = j->with->rounding == ROUND_FLOOR;
    good = good && finish_inexact(j, less ? y_sign : x_sign, &sum, e, inexact, out);
    whole_drop(j->vm, &sum);
    return good;
}

/* a + 0, whose exponent is e. */
static bool add_zero(job *j, const number *a, uint32_t sign, int64_t e, number *out) {
    const int64_t tiny = j->with->emin - j->with->precision + 1;
    int64_t low = e;
    whole c, longer;
    whole_clear(&longer);
    whole_of(j->vm, a, &c);
    /* So many zeros, and those that `finish` takes away again. */
    if (low < a->exponent - j->with->precision - 1) low = a->exponent - j->with->precision - 1;
    if (low > a->exponent) low = a->exponent;
    if (low < tiny - 1 && a->exponent >= tiny) low = tiny - 1;
    bool good =
        whole_scale(j->vm, &c, a->exponent - low, &longer) && finish(j, sign, &longer, low, out);
    whole_drop(j->vm, &c), whole_drop(j->vm, &longer);
    return good;
}

/* c without its last k digits, one more if `up` and something else than zeros was lost. */
static bool without_tail(job *j, whole *c, int64_t digits, int64_t k, bool up, whole *out,
                         bool *lost) {
    whole unit, quotient, rest, one;
    whole_clear(&unit), whole_clear(&rest);
    whole_set(&quotient, 0);
    whole_set(&one, 1);
    *lost = true;
    bool good = true;
    if (k < digits) {
        good = whole_ten(j->vm, k, &unit) && whole_divide(j->vm, c, &unit, &quotient, &rest);
        *lost = good && rest.count;
    }
    if (*lost && up)
        good = whole_add(j->vm, &quotient, &one, out);
    else
        whole_move(&quotient, out);
    whole_drop(j->vm, &unit), whole_drop(j->vm, &quotient);
    whole_drop(j->vm, &rest), whole_drop(j->vm, &one);
    return good;
}

static bool add_finite(job *j, const number *a, const number *b, uint32_t b_sign, number *out) {
    const int64_t e = a->exponent < b->exponent ? a->exponent : b->exponent;
    if (is_zero(a) && is_zero(b))
        return finish_zero(j, a->sign == b_sign ? a->sign : j->with->rounding == ROUND_FLOOR, e,
                           out);
    if (is_zero(a)) return add_zero(j, b, b_sign, e, out);
    if (is_zero(b)) return add_zero(j, a, a->sign, e, out);
    const bool swap = a->exponent < b->exponent;
    const number *high = swap ? b : a, *low = swap ? a : b;
    const uint32_t high_sign = swap ? b_sign : a->sign, low_sign = swap ? a->sign : b_sign;
    int64_t at = low->exponent, gap = high->exponent - at, digits, y_digits;
    whole x, y, scaled, rest, *sum = &x, *tail = &y;
    bool good = true, inexact = false;
    whole_of(j->vm, high, &x), whole_of(j->vm, low, &y);
    whole_clear(&scaled), whole_clear(&rest);
    if (gap && (good = whole_digits(j->vm, &x, &digits) && whole_digits(j->vm, &y, &y_digits))) {
        /* So far digits can count: two more than the context has, or those of the high one. */
        int64_t reach = digits - j->with->precision - 2;
        reach = high->exponent + (reach < -1 ? reach : -1);
        if (at < reach && (high_sign == low_sign || at + y_digits <= high->exponent + digits - 2 ||
                           at + y_digits < reach)) {
            good =
                without_tail(j, &y, y_digits, reach - at, high_sign != low_sign, &rest, &inexact);
            tail = &rest;
            at = reach;
        }
        good = good && whole_scale(j->vm, &x, high->exponent - at, &scaled);
        sum = &scaled;
    }
    good = good && add_wholes(j, sum, high_sign, tail, low_sign, at, inexact, out);
    whole_drop(j->vm, &x), whole_drop(j->vm, &y);
    whole_drop(j->vm, &scaled), whole_drop(j->vm, &rest);
    return good;
}

static bool add(job *j, const number *a, const number *b, uint32_t b_sign, number *out) {
    if (is_nan(a) || is_nan(b)) return nan_among(j, a, b, out);
    if (a->kind == INFINITE && b->kind == INFINITE && a->sign != b_sign)
        return fail(j, IS_INVALID, out);
    if (a->kind == INFINITE) return special(out, INFINITE, a->sign);
    if (b->kind == INFINITE) return special(out, INFINITE, b_sign);
    return add_finite(j, a, b, b_sign, out);
}

/* ---- Products and quotients ---- */

static bool multiply(job *j, const number *a, const number *b, number *out) {
    const uint32_t sign = a->sign ^ b->sign;
    whole x, y, product;
    if (is_nan(a) || is_nan(b)) return nan_among(j, a, b, out);
    if (a->kind == INFINITE || b->kind == INFINITE)
        return is_zero(a) || is_zero(b) ? fail(j, IS_INVALID, out) : special(out, INFINITE, sign);
    whole_of(j->vm, a, &x), whole_of(j->vm, b, &y);
    whole_clear(&product);
    bool good = whole_multiply(j->vm, &x, &y, &product) &&
                finish(j, sign, &product, a->exponent + b->exponent, out);
    whole_drop(j->vm, &x), whole_drop(j->vm, &y), whole_drop(j->vm, &product);
    return good;
}

/* Where so many zeros are more than make the quotient exact, fewer. */
static bool least_shift(job *j, whole *a, whole *b, int64_t *shift) {
    if (*shift <= FAR) return true;
    dvx_value args[] = {whole_value(j->vm, a), DVX_FAILED, DVX_FAILED}, least = DVX_FAILED;
    if (!dvx_failed(args[0])) args[1] = whole_value(j->vm, b);
    if (!dvx_failed(args[1])) args[2] = j->vm->api->make_int(j->vm, *shift);
    if (!dvx_failed(args[2])) least = decimal_call(j->vm, "least_shift", args, 3);
    bool good = !dvx_failed(least) && j->vm->api->read_int(j->vm, least, shift);
    j->vm->api->release(j->vm, args[2]);
    j->vm->api->release(j->vm, least);
    return good;
}

/* Cuts trailing zeros in two wholes that take turns, as long as *e stays at most `ideal`: *c is
 * where the number is then. */
static bool strip(job *j, whole **c, whole **other, int64_t *e, int64_t ideal) {
    int64_t most = whole_twos(*c), step = 1;
    if (most > ideal - *e) most = ideal - *e;
    while (2 * step <= most) step *= 2;
    for (; step && *e < ideal; step /= 2) {
        whole unit, rest;
        if (step > ideal - *e || step > most) continue;
        whole_clear(&unit), whole_clear(&rest), whole_clear(*other);
        bool good = whole_ten(j->vm, step, &unit) && whole_divide(j->vm, *c, &unit, *other, &rest);
        bool exact = good && !rest.count;
        whole_drop(j->vm, &unit), whole_drop(j->vm, &rest);
        whole_drop(j->vm, exact ? *c : *other);
        if (exact) {
            whole *free = *c;
            *c = *other;
            *other = free;
            *e += step;
        }
        whole_clear(*other);
        if (!good) return false;
    }
    return true;
}

/* a / b, neither of them 0. */
static bool divide_finite(job *j, const number *a, const number *b, number *out) {
    const int64_t ideal = a->exponent - b->exponent;
    int64_t a_digits, b_digits;
    whole x, y, longer, spaces[2], rest, *quotient = &spaces[0], *other = &spaces[1];
    whole_of(j->vm, a, &x), whole_of(j->vm, b, &y);
    whole_clear(&longer), whole_clear(&rest), whole_clear(quotient), whole_clear(other);
    bool good = whole_digits(j->vm, &x, &a_digits) && whole_digits(j->vm, &y, &b_digits);
    int64_t shift = good ? b_digits - a_digits + j->with->precision + 1 : 0;
    good = good && least_shift(j, &x, &y, &shift);
    if (shift >= 0)
        good = good && whole_scale(j->vm, &x, shift, &longer) &&
               whole_divide(j->vm, &longer, &y, quotient, &rest);
    else
        good = good && whole_scale(j->vm, &y, -shift, &longer) &&
               whole_divide(j->vm, &x, &longer, quotient, &rest);
    int64_t e = ideal - shift;
    if (good && !rest.count) good = strip(j, &quotient, &other, &e, ideal);
    good = good && finish_inexact(j, a->sign ^ b->sign, quotient, e, rest.count, out);
    whole_drop(j->vm, &x), whole_drop(j->vm, &y), whole_drop(j->vm, &longer);
    whole_drop(j->vm, &rest), whole_drop(j->vm, quotient), whole_drop(j->vm, other);
    return good;
}

static bool divide_by_zero(job *j, const number *a, const number *b, number *out) {
    if (is_zero(a)) return fail(j, IS_DIVISION_UNDEFINED, out);
    j->status |= IS_DIVISION_BY_ZERO;
    return special(out, INFINITE, a->sign ^ b->sign);
}

static bool divide(job *j, const number *a, const number *b, number *out) {
    const uint32_t sign = a->sign ^ b->sign;
    if (is_nan(a) || is_nan(b)) return nan_among(j, a, b, out);
    if (a->kind == INFINITE)
        return b->kind == INFINITE ? fail(j, IS_INVALID, out) : special(out, INFINITE, sign);
    if (b->kind == INFINITE) {
        j->status |= IS_CLAMPED;
        special(out, FINITE, sign);
        out->exponent = j->with->emin - j->with->precision + 1;
        return true;
    }
    if (is_zero(b)) return divide_by_zero(j, a, b, out);
    if (is_zero(a)) return finish_zero(j, sign, a->exponent - b->exponent, out);
    return divide_finite(j, a, b, out);
}

/* Where the first digit stands. */
static bool adjusted(job *j, const number *a, int64_t *out) {
    whole c;
    whole_of(j->vm, a, &c);
    bool good = whole_digits(j->vm, &c, out);
    *out += a->exponent - 1;
    whole_drop(j->vm, &c);
    return good;
}

/* Quotient and remainder of finite numbers, b not 0: whole, the remainder with the smaller of the
 * exponents; *possible false: the quotient is too long. */
static bool divide_wholes(job *j, const number *a, const number *b, whole *quotient, whole *rest,
                          bool *possible) {
    const int64_t e = a->exponent < b->exponent ? a->exponent : b->exponent;
    int64_t a_place, b_place, digits;
    whole x, y, x_longer, y_longer;
    whole_set(quotient, 0), whole_set(rest, 0);
    *possible = true;
    if (!adjusted(j, a, &a_place) || !adjusted(j, b, &b_place)) return false;
    *possible = is_zero(a) || a_place - b_place <= j->with->precision;
    if (is_zero(a) || !*possible) return true;
    whole_of(j->vm, a, &x), whole_of(j->vm, b, &y);
    whole_clear(&x_longer), whole_clear(&y_longer);
    bool good;
    if (a_place - b_place <= -2)
        good = whole_scale(j->vm, &x, a->exponent - e, rest);
    else
        good = whole_scale(j->vm, &x, a->exponent - e, &x_longer) &&
               whole_scale(j->vm, &y, b->exponent - e, &y_longer) &&
               whole_divide(j->vm, &x_longer, &y_longer, quotient, rest) &&
               whole_digits(j->vm, quotient, &digits);
    if (good && quotient->count) *possible = digits <= j->with->precision;
    whole_drop(j->vm, &x), whole_drop(j->vm, &y);
    whole_drop(j->vm, &x_longer), whole_drop(j->vm, &y_longer);
    return good;
}

/* Of the quotient and the remainder, those that are not NULL. */
static bool divide_both(job *j, const number *a, const number *b, number *quotient,
                        number *remainder) {
    const int64_t e = a->exponent < b->exponent ? a->exponent : b->exponent;
    whole q, r;
    bool possible;
    if (!divide_wholes(j, a, b, &q, &r, &possible)) {
        whole_drop(j->vm, &q), whole_drop(j->vm, &r);
        return false;
    }
    if (!possible) j->status |= IS_DIVISION_IMPOSSIBLE;
    bool good = true;
    if (quotient) {
        special(quotient, QUIET_NAN, 0);
        if (possible) good = finish(j, a->sign ^ b->sign, &q, 0, quotient);
    }
    if (remainder && good) {
        special(remainder, QUIET_NAN, 0);
        if (possible) good = finish(j, a->sign, &r, e, remainder);
        if (!good && quotient) decimal_drop(j->vm, quotient);
    }
    whole_drop(j->vm, &q), whole_drop(j->vm, &r);
    return good;
}

static bool divide_int(job *j, const number *a, const number *b, number *out) {
    const uint32_t sign = a->sign ^ b->sign;
    if (is_nan(a) || is_nan(b)) return nan_among(j, a, b, out);
    if (a->kind == INFINITE)
        return b->kind == INFINITE ? fail(j, IS_INVALID, out) : special(out, INFINITE, sign);
    if (b->kind == INFINITE) return special(out, FINITE, sign);
    return is_zero(b) ? divide_by_zero(j, a, b, out) : divide_both(j, a, b, out, NULL);
}

static bool modulo(job *j, const number *a, const number *b, number *out) {
    if (is_nan(a) || is_nan(b)) return nan_among(j, a, b, out);
    if (a->kind == INFINITE) return fail(j, IS_INVALID, out);
    if (b->kind == INFINITE) return finish_number(j, a->sign, a, out);
    if (is_zero(b)) return fail(j, is_zero(a) ? IS_DIVISION_UNDEFINED : IS_INVALID, out);
    return divide_both(j, a, b, NULL, out);
}

static bool divide_modulo(job *j, const number *a, const number *b, number out[2]) {
    if (is_nan(a) || is_nan(b)) {
        if (!nan_among(j, a, b, &out[0])) return false;
        out[1] = out[0];
        if (out[1].is_big) j->vm->api->retain(j->vm, out[1].big);
        return true;
    }
    if (a->kind == FINITE && b->kind == FINITE && !is_zero(b))
        return divide_both(j, a, b, &out[0], &out[1]);
    if (!divide_int(j, a, b, &out[0])) return false;
    if (a->kind == FINITE && b->kind == INFINITE) return finish_number(j, a->sign, a, &out[1]);
    return fail(j, is_nan(&out[0]) ? 0 : IS_INVALID, &out[1]);
}

/* ---- Order, quantum, root ---- */

/* Of numbers above 0. */
static bool compare_sizes(job *j, const number *a, const number *b, int *out) {
    int64_t gap = 0, b_place = 0;
    *out = (a->kind == INFINITE) - (b->kind == INFINITE);
    if (a->kind == INFINITE || b->kind == INFINITE) return true;
    if (a->exponent != b->exponent && (!adjusted(j, a, &gap) || !adjusted(j, b, &b_place)))
        return false;
    gap -= b_place;
    *out = (gap > 0) - (gap < 0);
    if (gap) return true;
    whole x, y, x_longer, y_longer;
    const int64_t e = a->exponent < b->exponent ? a->exponent : b->exponent;
    whole_of(j->vm, a, &x), whole_of(j->vm, b, &y);
    whole_clear(&x_longer), whole_clear(&y_longer);
    bool good = whole_scale(j->vm, &x, a->exponent - e, &x_longer) &&
                whole_scale(j->vm, &y, b->exponent - e, &y_longer);
    if (good) *out = whole_compare(&x_longer, &y_longer);
    whole_drop(j->vm, &x), whole_drop(j->vm, &y);
    whole_drop(j->vm, &x_longer), whole_drop(j->vm, &y_longer);
    return good;
}

bool decimal_compare(dvx_vm *vm, const number *a, const number *b, int *out) {
    int x = is_zero(a) ? 0 : a->sign ? -1 : 1, y = is_zero(b) ? 0 : b->sign ? -1 : 1;
    *out = (x > y) - (x < y);
    if (*out || !x) return true;
    job j = {.vm = vm};
    if (!compare_sizes(&j, a, b, out)) return false;
    *out *= x;
    return true;
}

static bool compare(job *j, const number *a, const number *b, number *out) {
    int order;
    if (is_nan(a) || is_nan(b)) return nan_among(j, a, b, out);
    if (!decimal_compare(j->vm, a, b, &order)) return false;
    *out = (number){.c = order != 0, .sign = order < 0};
    return true;
}

/* a with the exponent e. */
static bool rescale(job *j, const number *a, int64_t e, number *out) {
    const context *with = j->with;
    int64_t place, digits;
    if (e > with->emax || e < with->emin - with->precision + 1) return fail(j, IS_INVALID, out);
    if (is_zero(a)) return finish_zero(j, a->sign, e, out);
    if (!adjusted(j, a, &place)) return false;
    if (place > with->emax || place - e + 1 > with->precision) return fail(j, IS_INVALID, out);
    whole c, moved;
    bool inexact = false, up;
    whole_of(j->vm, a, &c);
    whole_clear(&moved);
    bool good = e <= a->exponent ? whole_scale(j->vm, &c, a->exponent - e, &moved)
                                 : cut(j, a->sign, &c, e - a->exponent, &moved, &inexact, &up);
    good = good && whole_digits(j->vm, &moved, &digits);
    if (good && moved.count && (e + digits - 1 > with->emax || digits > with->precision))
        fail(j, IS_INVALID, out);
    else if (good) {
        j->status |= (e > a->exponent ? IS_ROUNDED : 0) | (inexact ? IS_INEXACT : 0);
        good = finish(j, a->sign, &moved, e, out);
        j->status &= ~(uint32_t)IS_UNDERFLOW;
    }
    whole_drop(j->vm, &c), whole_drop(j->vm, &moved);
    return good;
}

static bool quantize(job *j, const number *a, const number *b, number *out) {
    if (is_nan(a) || is_nan(b)) return nan_among(j, a, b, out);
    if (a->kind == INFINITE && b->kind == INFINITE) return special(out, INFINITE, a->sign);
    if (a->kind == INFINITE || b->kind == INFINITE) return fail(j, IS_INVALID, out);
    return rescale(j, a, b->exponent, out);
}

/* The root of c * 10^e, e even, with more digits than the context has; `k` pairs of zeros make it
 * so long, or so many pairs of digits are cut. */
static bool root_with(job *j, whole *c, int64_t e, int64_t k, number *out) {
    whole moved, rest, spaces[2], unit, *root = &spaces[0], *other = &spaces[1];
    bool exact = true;
    whole_clear(&moved), whole_clear(&rest), whole_clear(root), whole_clear(other);
    whole_clear(&unit);
    bool good =
        k >= 0 ? whole_scale(j->vm, c, 2 * k, &moved)
               : whole_ten(j->vm, -2 * k, &unit) && whole_divide(j->vm, c, &unit, &moved, &rest);
    const bool lost = k < 0 && good && rest.count;
    good = good && whole_root(j->vm, &moved, root, &exact);
    int64_t at = e / 2 - k;
    if (exact && !lost) good = good && strip(j, &root, &other, &at, e / 2);
    good = good && finish_inexact(j, 0, root, at, !exact || lost, out);
    whole_drop(j->vm, &moved), whole_drop(j->vm, &rest), whole_drop(j->vm, &unit);
    whole_drop(j->vm, root), whole_drop(j->vm, other);
    return good;
}

static bool square_root(job *j, const number *a, number *out) {
    if (is_nan(a)) return nan_among(j, a, NULL, out);
    const int64_t half = a->exponent >> 1, odd = a->exponent & 1;
    context even = *j->with;
    int64_t digits;
    whole c, longer, root;
    bool exact = false;
    if (is_zero(a)) return finish_zero(j, a->sign, half, out);
    if (a->sign) return fail(j, IS_INVALID, out);
    if (a->kind == INFINITE) return special(out, INFINITE, 0);
    even.rounding = ROUND_HALF_EVEN;
    job inner = {.vm = j->vm, .with = &even, .status = j->status};
    whole_of(j->vm, a, &c);
    whole_clear(&longer), whole_clear(&root);
    bool good = whole_scale(j->vm, &c, odd, &longer) && whole_digits(j->vm, &longer, &digits);
    const int64_t k = good ? j->with->precision + 1 - (digits + 1) / 2 : 0;
    if (k > FAR) good = good && whole_root(j->vm, &longer, &root, &exact);
    if (exact)
        good = good && finish(&inner, 0, &root, half, out);
    else
        good = good && root_with(&inner, &longer, 2 * half, k, out);
    j->status = inner.status;
    whole_drop(j->vm, &c), whole_drop(j->vm, &longer), whole_drop(j->vm, &root);
    return good;
}

/* ---- All of them ---- */

bool decimal_compute(job *j, operation op, const number *a, const number *b, number out[2]) {
    switch (op) {
    case OP_add: return add(j, a, b, b->sign, out);
    case OP_subtract: return add(j, a, b, !b->sign, out);
    case OP_multiply: return multiply(j, a, b, out);
    case OP_divide: return divide(j, a, b, out);
    case OP_quantize: return quantize(j, a, b, out);
    case OP_plus:
    case OP_minus:
    case OP_abs: return change_sign(j, op, a, out);
    case OP_divide_int: return divide_int(j, a, b, out);
    case OP_remainder: return modulo(j, a, b, out);
    case OP_divmod: return divide_modulo(j, a, b, out);
    case OP_compare: return compare(j, a, b, out);
    case OP_sqrt: return square_root(j, a, out);
    default: return finish_number(j, a->sign, a, out);
    }
}

bool decimal_whole(job *j, const number *a, number *out) {
    whole c, moved;
    bool inexact = false, up;
    whole_of(j->vm, a, &c);
    whole_clear(&moved);
    special(out, FINITE, a->sign);
    bool good = a->exponent >= 0 ? whole_scale(j->vm, &c, a->exponent, &moved)
                                 : cut(j, a->sign, &c, -a->exponent, &moved, &inexact, &up);
    good = good && whole_store(j->vm, &moved, out);
    whole_drop(j->vm, &c), whole_drop(j->vm, &moved);
    return good;
}
