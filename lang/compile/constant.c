/* constant.c: what CPython's compiler computes (constant.h).
 *
 * fold.c makes constants of ints and bools from this.  What else CPython folds, dl leaves to the
 * machine, and only CPython's SyntaxWarnings show it: of texts and tuples the sizes are enough for
 * them, and of ints beyond 127 bits, where CPython multiplies nothing any more, about how large
 * they are.
 *
 * Invariants
 *  1. No more than DEPTH expressions within each other are looked into: the C stack is bounded.
 *  2. An operation that would raise is not computed: the result is DV_FOLDED_NOT.
 *  3. Of two literals, or of one, an int or bool is exact unless it is marked as huge.
 */
#include "lang/compile/constant.h"

#include <math.h>

#define DEPTH          50
#define MAX_INT_BITS   128 /* CPython's limits of products, powers and shifts */
#define MAX_ITEMS      256
#define MAX_CHARACTERS 4096
#define MAX_TOTAL      1024
#define FLOAT_BITS     1024 /* no float has more before its point */

static const dv_folded nothing = {.kind = DV_FOLDED_NOT};

/* ---- Making them ---- */

static dv_folded make_int(__int128 value) {
    dv_folded made = {.kind = DV_FOLDED_INT, .integer = value, .negative = value < 0};
    for (unsigned __int128 rest = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
         rest; rest >>= 1)
        made.bits++;
    return made;
}

static dv_folded make_bool(bool value) {
    dv_folded made = make_int(value);
    made.kind = DV_FOLDED_BOOL;
    return made;
}

static dv_folded make_huge(bool negative, int64_t bits) {
    return (dv_folded){.kind = DV_FOLDED_INT, .huge = true, .negative = negative, .bits = bits};
}

static dv_folded make_float(double value) {
    return (dv_folded){.kind = DV_FOLDED_FLOAT, .real = value};
}

static dv_folded make_complex(double real, double imag) {
    return (dv_folded){.kind = DV_FOLDED_COMPLEX, .real = real, .imag = imag};
}

static dv_folded make_sequence(dv_folded_kind kind, int64_t size, int64_t total) {
    return (dv_folded){.kind = kind, .size = size, .total = total};
}

/* Hexadecimal digits, as the parser writes ints beyond int64. */
static dv_folded big_literal(dv_text text) {
    bool negative = text.size && text.data[0] == '-';
    unsigned __int128 value = 0;
    uint32_t digits = text.size - negative;
    if (digits > 31) return make_huge(negative, 4 * (int64_t)digits);
    for (uint32_t i = negative; i < text.size; i++) {
        char c = text.data[i];
        value = value << 4 | (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return make_int(negative ? -(__int128)value : (__int128)value);
}

/* The code points of a text in UTF-8. */
static int64_t characters(dv_text text) {
    int64_t count = 0;
    for (uint32_t i = 0; i < text.size; i++) count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

static dv_folded of_literal(const dv_literal *literal, int depth) {
    dv_folded made = nothing;
    switch (literal->kind) {
    case DV_CONST_NONE: made.kind = DV_FOLDED_NONE; break;
    case DV_CONST_ELLIPSIS: made.kind = DV_FOLDED_ELLIPSIS; break;
    case DV_CONST_FALSE: return make_bool(false);
    case DV_CONST_TRUE: return make_bool(true);
    case DV_CONST_INT: return make_int(literal->as.integer);
    case DV_CONST_BIGINT: return big_literal(literal->as.text);
    case DV_CONST_FLOAT: return make_float(literal->as.real);
    case DV_CONST_COMPLEX: return make_complex(0, literal->as.real);
    case DV_CONST_STR: made = make_sequence(DV_FOLDED_STR, characters(literal->as.text), 0); break;
    case DV_CONST_BYTES: made = make_sequence(DV_FOLDED_BYTES, literal->as.text.size, 0); break;
    case DV_CONST_TUPLE:
    case DV_CONST_FROZENSET:
        made =
            make_sequence(literal->kind == DV_CONST_TUPLE ? DV_FOLDED_TUPLE : DV_FOLDED_FROZENSET,
                          literal->as.tuple.count, literal->as.tuple.count);
        for (uint32_t i = 0; i < literal->as.tuple.count && depth > 0; i++)
            made.total += of_literal(&literal->as.tuple.items[i], depth - 1).total;
        break;
    default: break;
    }
    made.from = literal;
    return made;
}

/* ---- Questions ---- */

static bool is_int(const dv_folded *x) {
    return x->kind == DV_FOLDED_INT || x->kind == DV_FOLDED_BOOL;
}
static bool is_number(const dv_folded *x) {
    return x->kind >= DV_FOLDED_BOOL && x->kind <= DV_FOLDED_COMPLEX;
}
static bool is_sequence(const dv_folded *x) {
    return x->kind >= DV_FOLDED_STR && x->kind <= DV_FOLDED_TUPLE;
}

static bool is_zero(const dv_folded *x) {
    return is_int(x) ? x->bits == 0 : x->real == 0 && x->imag == 0;
}

static bool truth(const dv_folded *x) {
    if (is_number(x)) return !is_zero(x);
    return x->kind == DV_FOLDED_ELLIPSIS || x->size > 0;
}

/* An int as a float; false: it is too large. */
static bool as_float(const dv_folded *x, double *value) {
    if (!is_int(x))
        *value = x->real;
    else if (!x->huge)
        *value = (double)x->integer;
    else if (x->bits > FLOAT_BITS)
        return false;
    else
        *value = ldexp(x->negative ? -1 : 1, (int)x->bits - 1);
    return true;
}

/* ---- Ints ---- */

static dv_folded add_ints(const dv_folded *a, const dv_folded *b, bool subtract) {
    __int128 sum;
    bool over = a->huge || b->huge ||
                (subtract ? __builtin_sub_overflow(a->integer, b->integer, &sum)
                          : __builtin_add_overflow(a->integer, b->integer, &sum));
    if (!over) return make_int(sum);
    const dv_folded *larger = a->bits >= b->bits ? a : b;
    return make_huge(larger->negative != (subtract && larger == b), larger->bits + 1);
}

static dv_folded multiply_ints(const dv_folded *a, const dv_folded *b) {
    if (!a->bits || !b->bits) return make_int(0);
    if (a->bits + b->bits > MAX_INT_BITS) return nothing;
    __int128 product;
    if (!__builtin_mul_overflow(a->integer, b->integer, &product)) return make_int(product);
    return make_huge(a->negative != b->negative, a->bits + b->bits);
}

/* a // b or a % b, b not being 0. */
static dv_folded divide_ints(const dv_folded *a, const dv_folded *b, bool rest) {
    if (a->huge || b->huge) {
        int64_t bits = rest ? b->bits : a->bits - b->bits + 1;
        bool negative = rest ? b->negative : a->negative != b->negative;
        return make_huge(negative, bits > 0 ? bits : rest); /* invariant 3: zero or one, about */
    }
    __int128 quotient = a->integer / b->integer, left = a->integer % b->integer;
    if (left != 0 && (left < 0) != b->negative) {
        quotient--;
        left += b->integer;
    }
    return make_int(rest ? left : quotient);
}

static dv_folded power_ints(const dv_folded *a, const dv_folded *b) {
    if (b->huge || (a->bits && a->bits * b->integer > MAX_INT_BITS)) return nothing;
    dv_folded power = make_int(1);
    for (__int128 i = 0; i < b->integer && a->bits && power.kind == DV_FOLDED_INT; i++) {
        __int128 product;
        if (power.huge || a->huge || __builtin_mul_overflow(power.integer, a->integer, &product))
            power = make_huge(a->negative && b->integer % 2, a->bits * (int64_t)b->integer);
        else
            power = make_int(product);
    }
    return a->bits || !b->integer ? power : make_int(0);
}

static dv_folded shift_left(const dv_folded *a, const dv_folded *b) {
    if (b->negative) return nothing;
    if (!a->bits) return make_int(0);
    if (!b->bits) return a->huge ? *a : make_int(a->integer);
    if (b->huge || b->integer > MAX_INT_BITS || a->bits + b->integer > MAX_INT_BITS) return nothing;
    if (a->bits + b->integer > 127) return make_huge(a->negative, a->bits + (int64_t)b->integer);
    return make_int(a->integer * ((__int128)1 << (int)b->integer));
}

static dv_folded shift_right(const dv_folded *a, const dv_folded *b) {
    if (b->negative) return nothing;
    if (b->huge || b->integer >= a->bits) return make_int(a->negative ? -1 : 0);
    if (a->huge) return make_huge(a->negative, a->bits - (int64_t)b->integer);
    return make_int(a->integer >> (int)b->integer);
}

static dv_folded combine_bits(dv_operator op, const dv_folded *a, const dv_folded *b) {
    if (a->huge || b->huge) return make_huge(a->negative, a->bits > b->bits ? a->bits : b->bits);
    __int128 value = op == DV_OPERATOR_AND  ? a->integer & b->integer
                     : op == DV_OPERATOR_OR ? a->integer | b->integer
                                            : a->integer ^ b->integer;
    bool bools = a->kind == DV_FOLDED_BOOL && b->kind == DV_FOLDED_BOOL;
    return bools ? make_bool(value != 0) : make_int(value);
}

/* ---- Floats and complex numbers ---- */

static dv_folded power_floats(double a, double b) {
    if (a == 0 && b < 0) return nothing;
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b)) return make_complex(1, 1);
    double power = pow(a, b);
    return isinf(power) && isfinite(a) && isfinite(b) ? nothing : make_float(power);
}

static dv_folded float_operation(dv_operator op, double a, double b) {
    switch (op) {
    case DV_OPERATOR_ADD: return make_float(a + b);
    case DV_OPERATOR_SUB: return make_float(a - b);
    case DV_OPERATOR_MUL: return make_float(a * b);
    case DV_OPERATOR_TRUEDIV: return b == 0 ? nothing : make_float(a / b);
    case DV_OPERATOR_FLOORDIV: return b == 0 ? nothing : make_float(floor(a / b));
    case DV_OPERATOR_MOD: return b == 0 ? nothing : make_float(a - b * floor(a / b));
    case DV_OPERATOR_POW: return power_floats(a, b);
    default: return nothing;
    }
}

static dv_folded power_complex(const dv_folded *a, const dv_folded *b) {
    if (is_zero(b)) return make_complex(1, 0);
    if (is_zero(a)) return b->imag != 0 || b->real < 0 ? nothing : make_complex(0, 0);
    double length = hypot(a->real, a->imag), angle = atan2(a->imag, a->real);
    double power = pow(length, b->real) * exp(-angle * b->imag);
    double turn = angle * b->real + b->imag * log(length);
    if (isinf(power) || isinf(turn)) return nothing;
    return make_complex(power * cos(turn), power * sin(turn));
}

static dv_folded complex_operation(dv_operator op, const dv_folded *a, const dv_folded *b) {
    double scale = b->real * b->real + b->imag * b->imag;
    switch (op) {
    case DV_OPERATOR_ADD: return make_complex(a->real + b->real, a->imag + b->imag);
    case DV_OPERATOR_SUB: return make_complex(a->real - b->real, a->imag - b->imag);
    case DV_OPERATOR_MUL:
        return make_complex(a->real * b->real - a->imag * b->imag,
                            a->real * b->imag + a->imag * b->real);
    case DV_OPERATOR_TRUEDIV:
        if (is_zero(b)) return nothing;
        return make_complex((a->real * b->real + a->imag * b->imag) / scale,
                            (a->imag * b->real - a->real * b->imag) / scale);
    case DV_OPERATOR_POW: return power_complex(a, b);
    default: return nothing;
    }
}

static dv_folded inexact_operation(dv_operator op, const dv_folded *a, const dv_folded *b) {
    dv_folded x = *a, y = *b;
    if (!as_float(a, &x.real) || !as_float(b, &y.real)) return nothing;
    bool complex = a->kind == DV_FOLDED_COMPLEX || b->kind == DV_FOLDED_COMPLEX;
    if (!complex) return float_operation(op, x.real, y.real);
    x.kind = y.kind = DV_FOLDED_COMPLEX;
    return complex_operation(op, &x, &y);
}

static dv_folded int_operation(dv_operator op, const dv_folded *a, const dv_folded *b) {
    bool divides = op == DV_OPERATOR_TRUEDIV || op == DV_OPERATOR_FLOORDIV || op == DV_OPERATOR_MOD;
    if (divides && is_zero(b)) return nothing;
    switch (op) {
    case DV_OPERATOR_ADD:
    case DV_OPERATOR_SUB: return add_ints(a, b, op == DV_OPERATOR_SUB);
    case DV_OPERATOR_MUL: return multiply_ints(a, b);
    case DV_OPERATOR_TRUEDIV:
        if (a->bits - b->bits > FLOAT_BITS) return nothing;
        if (a->huge || b->huge) return make_float(1);
        return make_float((double)a->integer / (double)b->integer);
    case DV_OPERATOR_FLOORDIV:
    case DV_OPERATOR_MOD: return divide_ints(a, b, op == DV_OPERATOR_MOD);
    case DV_OPERATOR_POW: return b->negative ? inexact_operation(op, a, b) : power_ints(a, b);
    case DV_OPERATOR_LSHIFT: return shift_left(a, b);
    case DV_OPERATOR_RSHIFT: return shift_right(a, b);
    case DV_OPERATOR_AND:
    case DV_OPERATOR_OR:
    case DV_OPERATOR_XOR: return combine_bits(op, a, b);
    default: return nothing;
    }
}

/* ---- Sequences ---- */

static dv_folded repeat(const dv_folded *sequence, const dv_folded *times) {
    bool tuple = sequence->kind == DV_FOLDED_TUPLE;
    dv_folded made = make_sequence(sequence->kind, 0, 0);
    if (times->bits > 63) return nothing;
    if (!sequence->size) return made;
    if (times->negative) return nothing;
    if (times->integer > (tuple ? MAX_ITEMS : MAX_CHARACTERS) / sequence->size) return nothing;
    int64_t n = (int64_t)times->integer;
    if (tuple && n && sequence->total > MAX_TOTAL / n) return nothing;
    made.size = sequence->size * n;
    made.total = sequence->total * n;
    return made;
}

static dv_folded operation(dv_operator op, const dv_folded *a, const dv_folded *b) {
    if (is_int(a) && is_int(b)) return int_operation(op, a, b);
    if (is_number(a) && is_number(b)) return inexact_operation(op, a, b);
    if (op == DV_OPERATOR_ADD && is_sequence(a) && a->kind == b->kind)
        return make_sequence(a->kind, a->size + b->size, a->total + b->total);
    if (op == DV_OPERATOR_MUL && is_sequence(a) && is_int(b)) return repeat(a, b);
    if (op == DV_OPERATOR_MUL && is_int(a) && is_sequence(b)) return repeat(b, a);
    return nothing;
}

/* ---- Expressions ---- */

static dv_folded evaluate(const dv_expr *expr, int depth);

static dv_folded unary(const dv_expr *expr, int depth) {
    dv_folded x = evaluate(expr->as.child, depth);
    if (x.kind == DV_FOLDED_NOT) return nothing;
    if (expr->op == DV_UNARY_NOT) return make_bool(!truth(&x));
    if (!is_number(&x) || (expr->op == DV_UNARY_INVERT && !is_int(&x))) return nothing;
    if (!is_int(&x)) {
        bool minus = expr->op == DV_UNARY_NEG;
        return minus ? (dv_folded){.kind = x.kind, .real = -x.real, .imag = -x.imag} : x;
    }
    if (x.huge) return expr->op == DV_UNARY_POS ? x : make_huge(!x.negative, x.bits);
    return make_int(expr->op == DV_UNARY_POS   ? x.integer
                    : expr->op == DV_UNARY_NEG ? -x.integer
                                               : ~x.integer);
}

/* One item of a constant: of what is computed itself, only the type of text is known. */
static dv_folded subscript(const dv_expr *expr, int depth) {
    const dv_expr *container = expr->as.subscript.container;
    dv_folded sequence = evaluate(container, depth);
    if (!is_sequence(&sequence)) return nothing;
    dv_folded index = evaluate(expr->as.subscript.index, depth);
    if (!is_int(&index) || index.huge) return nothing;
    __int128 i = index.integer + (index.negative ? sequence.size : 0);
    if (i < 0 || i >= sequence.size) return nothing;
    if (sequence.kind == DV_FOLDED_STR) return make_sequence(DV_FOLDED_STR, 1, 0);
    if (container->kind == DV_EXPR_TUPLE)
        return evaluate(container->as.list.items[(size_t)i], depth);
    if (!sequence.from) return nothing;
    if (sequence.kind == DV_FOLDED_BYTES)
        return make_int((unsigned char)sequence.from->as.text.data[(size_t)i]);
    return of_literal(&sequence.from->as.tuple.items[(size_t)i], depth);
}

static dv_folded display(const dv_expr *expr, int depth) {
    dv_folded made = make_sequence(DV_FOLDED_TUPLE, expr->as.list.count, expr->as.list.count);
    for (uint32_t i = 0; i < expr->as.list.count; i++) {
        dv_folded item = evaluate(expr->as.list.items[i], depth);
        if (item.kind == DV_FOLDED_NOT) return nothing;
        made.total += item.total;
    }
    return made;
}

static dv_folded evaluate(const dv_expr *expr, int depth) {
    if (depth == 0) return nothing;
    switch (expr->kind) {
    case DV_EXPR_CONSTANT: return of_literal(&expr->as.constant, depth - 1);
    case DV_EXPR_UNARY: return unary(expr, depth - 1);
    case DV_EXPR_SUBSCRIPT: return subscript(expr, depth - 1);
    case DV_EXPR_TUPLE: return display(expr, depth - 1);
    case DV_EXPR_BINARY: {
        dv_folded right = evaluate(expr->as.binary.right, depth - 1);
        if (right.kind == DV_FOLDED_NOT) return nothing;
        dv_folded left = evaluate(expr->as.binary.left, depth - 1);
        return operation((dv_operator)expr->op, &left, &right);
    }
    default: return nothing;
    }
}

dv_folded dv_constant_of(const dv_expr *expr) { return evaluate(expr, DEPTH); }
