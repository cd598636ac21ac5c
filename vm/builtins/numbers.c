/* numbers.c: builtins about numbers: abs, round, divmod, pow, sum, min, max, hex, chr, ... */
#include "builtins/builtins.h"

#include <math.h>
#include <string.h>

#include "core/raw.h"
#include "types/binary/bytes.h"
#include "types/callable/arguments.h"
#include "types/number/complex.h"
#include "types/number/float.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"
#include "types/class/wrapper_number.h"

static dv_value builtin_abs(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value v = args[0];
    bool found;
    dv_value result = dv_number_special(vm, v, vm->known.abs, &found);
    if (found) return result;
    if (dv_is_float(dv_number_of(v))) return dv_float(fabs(dv_as_float(dv_number_of(v))));
    if (dv_is_instance(v) && dv_is_integral(v)) { /* not through the __neg__ of its class */
        dv_value plain = dv_int_index(vm, v);
        result = dv_is_empty(plain) ? plain : builtin_abs(vm, &plain, 1);
        dv_release(vm, plain);
        return result;
    }
    if (dv_is_integral(v)) return dv_unary(vm, dv_int_sign(v) < 0 ? DV_UNARY_NEG : DV_UNARY_POS, v);
    if (dv_is_complex(v)) return dv_complex_abs(vm, v);
    return dv_raise(vm, DV_E_TYPE_ERROR, "bad operand type for abs(): '%T'", v);
}

static dv_value call_special(dv_vm *vm, dv_value self, const char *name, const dv_value *args,
                             uint32_t count, bool *found) {
    *found = true;
    dv_value text = dv_str_intern(vm, name, strlen(name));
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value result = dv_special_call(vm, self, text, args, count, found);
    dv_release(vm, text);
    return result;
}

static bool is_number(dv_value v) { return dv_is_float(dv_number_of(v)) || dv_is_integral(v); }

static dv_value builtin_round(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"number", "ndigits"};
    static const dv_parameters parameters = {"round", names, 2, 2, 1};
    dv_value given[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    dv_value digits = dv_is_empty(given[1]) ? DV_NONE : given[1];
    bool found = false;
    dv_value result = DV_EMPTY;
    if (dv_has_methods(given[0]) || dv_is_foreign(given[0]))
        result = call_special(vm, given[0], "__round__", &digits, !dv_is_none(digits), &found);
    if (found) return result;
    if (is_number(given[0])) return dv_number_round(vm, given[0], digits);
    return dv_raise(vm, DV_E_TYPE_ERROR, "type %T doesn't define __round__ method", given[0]);
}

static dv_value builtin_divmod(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_binary(vm, DV_BINARY_DIVMOD, args[0], args[1]);
}

static dv_value builtin_pow(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"base", "exp", "mod"};
    static const dv_parameters parameters = {"pow", names, 3, 3, 2};
    dv_value given[3];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    return dv_power(vm, given[0], given[1], given[2]);
}

/* total + item; takes total. */
static dv_value add_item(dv_vm *vm, dv_value total, dv_value item) {
    dv_value sum = dv_binary(vm, DV_BINARY_ADD, total, item);
    dv_release(vm, total);
    return sum;
}

/* Adds up what is a small int as long as *total is one; the result is the first item that is not
 * (EMPTY: the end, or raised). */
static dv_value sum_ints(dv_vm *vm, dv_value iterator, dv_value *total) {
    dv_value item = dv_step(vm, iterator);
    if (!dv_are_ints(*total, item)) return item;
    int64_t sum = dv_as_int(*total), count = 0;
    do {
        int64_t more = sum + dv_as_int(item);
        if (DV_UNLIKELY(!dv_fits_int(more))) break;
        sum = more;
        item = dv_step(vm, iterator);
        /* Each has counted a unit: half are given back, a few at a time, as the program must still
         * be looked at in time. */
        if ((++count & 31) == 0) vm->work_left += 16;
    } while (dv_is_int(item));
    *total = dv_int(sum);
    return item;
}

/* Text is no number: CPython says what to call instead. */
static bool is_summable(dv_vm *vm, dv_value start) {
    if (dv_is_str(start))
        dv_raise(vm, DV_E_TYPE_ERROR, "sum() can't sum strings [use ''.join(seq) instead]");
    else if (dv_has_layout(start, DV_T_BYTES))
        dv_raise(vm, DV_E_TYPE_ERROR, "sum() can't sum bytes [use b''.join(seq) instead]");
    else if (dv_has_layout(start, DV_T_BYTEARRAY))
        dv_raise(vm, DV_E_TYPE_ERROR, "sum() can't sum bytearray [use b''.join(seq) instead]");
    else
        return true;
    return false;
}

static dv_value sum_items(dv_vm *vm, dv_value iterable, dv_value start) {
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return DV_EMPTY;
    if (!is_summable(vm, start)) {
        dv_release(vm, iterator);
        return DV_EMPTY;
    }
    dv_value total = dv_retain(start);
    for (;;) {
        dv_value item = sum_ints(vm, iterator, &total);
        if (dv_is_empty(item)) break;
        total = add_item(vm, total, item);
        dv_release(vm, item);
        if (dv_is_empty(total)) break;
    }
    dv_release(vm, iterator);
    if (dv_is_empty(vm->error)) return total;
    dv_release(vm, total);
    return DV_EMPTY;
}

static dv_value builtin_sum(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"iterable", "start"};
    static const dv_parameters parameters = {"sum", names, 2, 2, 1};
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (count == named)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "sum() takes at least 1 positional argument (%d given)",
                        (int)(count - named));
    dv_value given[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    dv_value start = dv_is_empty(given[1]) ? dv_int(0) : given[1];
    return sum_items(vm, given[0], start);
}

/* min and max -----------------------------------------------------------------------------------
 */

typedef struct extreme {
    dv_compare_op op; /* item op best: item is the better one */
    dv_value key;
    dv_value best, best_key; /* owned; EMPTY before the first item */
} extreme;

/* Takes item; false: raised. */
static bool consider(dv_vm *vm, extreme *e, dv_value item) {
    dv_value key = dv_is_empty(e->key) ? dv_retain(item) : dv_call(vm, e->key, &item, 1, DV_EMPTY);
    int better = dv_is_empty(key) ? -1 : 1;
    if (better > 0 && !dv_is_empty(e->best)) {
        dv_value result = dv_compare(vm, e->op, key, e->best_key);
        better = dv_is_empty(result) ? -1 : dv_truth(vm, result);
        dv_release(vm, result);
    }
    if (better > 0) {
        dv_release(vm, e->best);
        dv_release(vm, e->best_key);
        e->best = item;
        e->best_key = key;
        return true;
    }
    dv_release(vm, item);
    dv_release(vm, key);
    return better == 0;
}

static bool consider_all(dv_vm *vm, extreme *e, dv_value iterable) {
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return false;
    for (;;) {
        dv_value item = dv_step(vm, iterator);
        if (dv_is_empty(item) || !consider(vm, e, item)) break;
    }
    dv_release(vm, iterator);
    return dv_is_empty(vm->error);
}

static dv_value find_extreme(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                             dv_compare_op op, const char *function) {
    static const char *const names[] = {"key", "default", NULL};
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    uint32_t positional = count - named;
    if (positional == 0)
        return dv_raise(vm, DV_E_TYPE_ERROR, "%s expected at least 1 argument, got 0", function);
    if (!dv_is_empty(keywords) && dv_as_tuple(keywords)->count > 2)
        return dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes at most 2 keyword arguments (%d given)",
                        function, (int)dv_as_tuple(keywords)->count);
    if (!dv_check_keywords(vm, keywords, names, function)) return DV_EMPTY;
    dv_value otherwise = dv_keyword_argument(args, positional, keywords, "default");
    extreme e = {op, dv_keyword_argument(args, positional, keywords, "key"), DV_EMPTY, DV_EMPTY};
    if (dv_is_none(e.key)) e.key = DV_EMPTY;
    if (positional > 1 && !dv_is_empty(otherwise))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "Cannot specify a default for %s() with multiple positional arguments",
                        function);
    bool good = true;
    if (positional == 1)
        good = consider_all(vm, &e, args[0]);
    else
        for (uint32_t i = 0; i < positional && good; i++)
            good = consider(vm, &e, dv_retain(args[i]));
    dv_release(vm, e.best_key);
    if (good && !dv_is_empty(e.best)) return e.best;
    dv_release(vm, e.best);
    if (!good) return DV_EMPTY;
    if (!dv_is_empty(otherwise)) return dv_retain(otherwise);
    return dv_raise(vm, DV_E_VALUE_ERROR, "%s() arg is an empty sequence", function);
}

static dv_value builtin_min(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return find_extreme(vm, args, count, keywords, DV_LT, "min");
}

static dv_value builtin_max(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return find_extreme(vm, args, count, keywords, DV_GT, "max");
}

/* Text of ints ----------------------------------------------------------------------------------
 */

static dv_value to_base(dv_vm *vm, dv_value v, int base) {
    dv_value whole = dv_int_index(vm, v);
    if (dv_is_empty(whole)) return DV_EMPTY;
    dv_value text = dv_int_to_str(vm, whole, base, true);
    dv_release(vm, whole);
    return text;
}

static dv_value builtin_hex(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return to_base(vm, args[0], 16);
}

static dv_value builtin_oct(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return to_base(vm, args[0], 8);
}

static dv_value builtin_bin(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return to_base(vm, args[0], 2);
}

static dv_value builtin_chr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value whole = dv_int_index(vm, args[0]);
    if (dv_is_empty(whole)) return DV_EMPTY;
    int64_t i;
    bool fits = dv_int_to_int64(whole, &i) && i >= INT32_MIN && i <= INT32_MAX;
    dv_release(vm, whole);
    if (!fits) return dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C int");
    if (i < 0 || i > 0x10FFFF)
        return dv_raise(vm, DV_E_VALUE_ERROR, "chr() arg not in range(0x110000)");
    return dv_str_char(vm, (uint32_t)i);
}

static dv_value builtin_ord(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    bool bytes = dv_is_bytes_like(args[0]);
    if (!dv_is_str(args[0]) && !bytes)
        return dv_raise(vm, DV_E_TYPE_ERROR, "ord() expected string of length 1, but %T found",
                        args[0]);
    const dv_str *s = bytes ? dv_as_bytes(args[0]) : dv_as_str(args[0]);
    if (s->length == 1) return dv_int(dv_str_at(s, 0));
    return dv_raise(vm, DV_E_TYPE_ERROR,
                    "ord() expected a character, but string of length %lld found",
                    (long long)s->length);
}

static int64_t abs_int64(int64_t i) { return i < 0 ? (int64_t)(0 - (uint64_t)i) : i; }
static bool is_not_negative(const dv_raw_value *arguments, dv_raw_value result) {
    (void)arguments;
    return result.i >= 0;
}
static const dv_raw raw_abs[] = {
    {"q(q)", (dv_raw_entry)abs_int64, true, is_not_negative, NULL},
    {"d(d)", (dv_raw_entry)(double (*)(double))fabs, true, NULL, NULL},
    {0},
};

const dv_cfunction_def dv_builtin_numbers[] = {
    {.name = "abs", .entry = builtin_abs, .min = 1, .max = 1, .raw = raw_abs},
    {.name = "round",
     .keyword_entry = builtin_round,
     .min = 0,
     .max = UINT32_MAX,
     .raw = dv_round_raws},
    {.name = "divmod", .entry = builtin_divmod, .min = 2, .max = 2},
    {.name = "pow", .keyword_entry = builtin_pow, .min = 0, .max = UINT32_MAX},
    {.name = "sum",
     .keyword_entry = builtin_sum,
     .min = 0,
     .max = UINT32_MAX,
     .inlined = DV_INLINED_SUM},
    {.name = "min",
     .keyword_entry = builtin_min,
     .min = 0,
     .max = UINT32_MAX,
     .inlined = DV_INLINED_MIN},
    {.name = "max",
     .keyword_entry = builtin_max,
     .min = 0,
     .max = UINT32_MAX,
     .inlined = DV_INLINED_MAX},
    {.name = "hex", .entry = builtin_hex, .min = 1, .max = 1},
    {.name = "oct", .entry = builtin_oct, .min = 1, .max = 1},
    {.name = "bin", .entry = builtin_bin, .min = 1, .max = 1},
    {.name = "chr", .entry = builtin_chr, .min = 1, .max = 1, .inlined = DV_INLINED_CHR},
    {.name = "ord", .entry = builtin_ord, .min = 1, .max = 1, .inlined = DV_INLINED_ORD},
    {.name = NULL}};
