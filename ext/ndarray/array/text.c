/* text.c: text that grows, digits of numbers (text.h). */
#include "array/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "loops/half.h"

/* ---- Text ---- */

static bool reserve(dvx_vm *vm, nd_text *t, size_t more) {
    if (t->failed) return false;
    if (t->size + more <= t->capacity) return true;
    size_t capacity = t->capacity * 2 + more + 64;
    char *data = t->data ? vm->api->resize(vm, t->data, t->capacity, capacity)
                         : vm->api->allocate(vm, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_add(dvx_vm *vm, nd_text *t, const char *bytes, size_t size) {
    if (!size || !reserve(vm, t, size)) return;
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
}

void text_words(dvx_vm *vm, nd_text *t, const char *words) {
    text_add(vm, t, words, strlen(words));
}

void text_spaces(dvx_vm *vm, nd_text *t, int64_t count) {
    if (count <= 0 || !reserve(vm, t, (size_t)count)) return;
    memset(t->data + t->size, ' ', (size_t)count);
    t->size += (size_t)count;
}

void text_drop(dvx_vm *vm, nd_text *t) {
    if (t->data) vm->api->deallocate(vm, t->data, t->capacity);
    *t = (nd_text){0};
}

dvx_value text_finish(dvx_vm *vm, nd_text *t) {
    dvx_value str = t->failed ? DVX_FAILED : vm->api->make_str(vm, t->data ? t->data : "", t->size);
    text_drop(vm, t);
    return str;
}

/* ---- Digits ---- */

/* Takes the digits out of what repr or format made of a number, which is released. */
static bool take_digits(dvx_vm *vm, dvx_value text, nd_decimal *out) {
    char word[ND_DIGITS];
    size_t size;
    bool good = !dvx_failed(text) && vm->api->read_str(vm, text, word, sizeof word, &size);
    vm->api->release(vm, text);
    if (!good) return false;
    out->count = out->point = 0;
    out->negative = word[0] == '-';
    const char *at = word + out->negative;
    bool behind = false;
    for (; *at && *at != 'e'; at++) {
        if (*at == '.') {
            behind = true;
        } else if (*at != '0' || out->count) {
            out->digits[out->count++] = *at;
            out->point += !behind;
        } else {
            out->point -= behind;
        }
    }
    if (*at == 'e') out->point += atoi(at + 1);
    while (out->count && out->digits[out->count - 1] == '0') out->count--;
    return true;
}

bool text_exact(dvx_vm *vm, double x, int64_t precision, char how, nd_decimal *out) {
    char spec[24];
    snprintf(spec, sizeof spec, ".%d%c", (int)precision, how);
    dvx_value v = vm->api->make_float(vm, x), text = vm->api->format(vm, v, spec);
    vm->api->release(vm, v);
    return take_digits(vm, text, out);
}

/* Does the text of these digits make the float (of 16 bits, if `half`) again? */
static bool is_float(dvx_vm *vm, const nd_decimal *d, float x, bool half, bool *same) {
    /* An int below 2**53 times or by a power of ten that is a float is rounded once. */
    enum { EXACT_DIGITS = 15, EXACT_POWER = 22 };
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char word[ND_DIGITS + 24];
    double made;
    const int power = d->point - d->count;
    if (d->count <= EXACT_DIGITS && power >= -EXACT_POWER && power <= EXACT_POWER) {
        int64_t digits = 0;
        for (int i = 0; i < d->count; i++) digits = digits * 10 + (d->digits[i] - '0');
        if (d->negative) digits = -digits;
        made = power < 0 ? (double)digits / powers[-power] : (double)digits * powers[power];
        *same = (half ? half_value(half_of(made)) : (float)made) == x;
        return true;
    }
    snprintf(word, sizeof word, "%s.%.*se%d", d->negative ? "-" : "", d->count, d->digits,
             d->point);
    dvx_value text = nd_str(vm, d->count ? word : "0");
    dvx_value v = dvx_failed(text) ? text : vm->api->call(vm, nd_state_of(vm)->float_, &text, 1);
    bool good = !dvx_failed(v) && vm->api->read_float(vm, v, &made);
    vm->api->release(vm, text);
    vm->api->release(vm, v);
    if (good) *same = (half ? half_value(half_of(made)) : (float)made) == x;
    return good;
}

/* What FLT_DIG digits or fewer can say of a normal float, exactly so many say, too, and end in
 * zeros then, which are dropped: there is no need to try fewer. */
static bool shortest_float(dvx_vm *vm, double x, nd_type type, nd_decimal *out) {
    bool same = false;
    const bool half = type == ND_FLOAT16;
    enum { HALF_DIG = 3 };
    const int known = half ? HALF_DIG : FLT_DIG;
    for (int digits = fabs(x) < (half ? 0x1p-14 : (double)FLT_MIN) ? 0 : known - 1;
         digits < 9 && !same; digits++)
        if (!text_exact(vm, x, digits, 'e', out) || !is_float(vm, out, (float)x, half, &same))
            return false;
    return true;
}

static bool shortest(dvx_vm *vm, double x, nd_decimal *out) {
    dvx_value v = vm->api->make_float(vm, x), text = vm->api->repr(vm, v);
    vm->api->release(vm, v);
    return take_digits(vm, text, out);
}

bool text_decimal(dvx_vm *vm, double x, nd_type type, bool scientific, int64_t precision,
                  nd_decimal *out) {
    if (!(type == ND_FLOAT64 ? shortest(vm, x, out) : shortest_float(vm, x, type, out)))
        return false;
    int behind = out->count - (scientific ? 1 : out->point);
    if (precision < 0 || behind <= precision) return true;
    bool negative = out->negative;
    if (!text_exact(vm, x, precision, scientific ? 'e' : 'f', out)) return false;
    out->negative = negative;
    return true;
}
