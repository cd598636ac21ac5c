/* format_number.c: doubles as text in all of format's and printf's styles.
 *
 * The digits come from base/dtoa.c; here is where the point, the exponent and the zeros go. */
#include "types/text/format_number.h"

#include <math.h>

#include "base/dtoa.h"
#include "core/upcall.h"
#include "types/number/float.h"

/* From this precision on all further digits of a double are 0. */
#define EXACT_PRECISION 1100

bool dv_number_text_room(dv_vm *vm, dv_number_text *out, size_t capacity) {
    out->size = 0;
    out->data = out->room;
    out->capacity = sizeof out->room;
    if (capacity <= sizeof out->room) return true;
    out->data = dv_heap_alloc(&vm->heap, capacity);
    out->capacity = capacity;
    if (!out->data) dv_raise_memory(vm);
    return out->data != NULL;
}

void dv_number_text_drop(dv_vm *vm, dv_number_text *text) {
    if (text->data != text->room) dv_heap_free(&vm->heap, text->data, text->capacity);
}

/* Digits of a number and how they are to be laid out. */
typedef struct layout {
    char digits[DV_DTOA_DIGITS];
    int64_t count; /* digits there are */
    int64_t end;   /* digits to write, filled up with zeros */
    int64_t point; /* the point stands before this digit; may be negative or beyond `end` */
    int exponent;
    bool has_exponent;
} layout;

/* As CPython's format_float_short decides. */
static void lay_out(layout *l, double d, char type, int precision, unsigned flags) {
    int point, asked = precision < EXACT_PRECISION ? precision : EXACT_PRECISION;
    if (type == 'g' && asked == 0) asked = precision = 1;
    char mode = type == 'r' ? 'r' : type == 'f' ? 'f' : 'e';
    l->count = (int64_t)dv_dtoa_digits(d, mode, asked + (type == 'e'), l->digits, sizeof l->digits,
                                       &point);
    l->end = l->count;
    l->has_exponent = type == 'e';
    if (type == 'r') l->has_exponent = point <= -4 || point > 16;
    if (type == 'e') l->end = (int64_t)precision + 1;
    if (type == 'f') l->end = (int64_t)point + precision;
    if (type == 'g') {
        bool point_zero = flags & DV_DOUBLE_POINT_ZERO;
        l->has_exponent = point <= -4 || point > precision - point_zero;
        if (flags & DV_DOUBLE_ALTERNATE) l->end = precision;
    }
    l->exponent = point - 1;
    l->point = l->has_exponent ? 1 : point;
    int64_t least = l->point + (!l->has_exponent && (flags & DV_DOUBLE_POINT_ZERO));
    if (l->end < least) l->end = least;
}

/* digits[from .. to), with zeros where there are none. */
static char *write_digits(const layout *l, int64_t from, int64_t to, char *p) {
    if (from < 0) {
        int64_t zeros = (to < 0 ? to : 0) - from;
        memset(p, '0', (size_t)zeros);
        p += zeros;
        from += zeros;
    }
    int64_t there = (to < l->count ? to : l->count) - from;
    if (there > 0) {
        memcpy(p, l->digits + from, (size_t)there);
        p += there;
        from += there;
    }
    if (from < to) {
        memset(p, '0', (size_t)(to - from));
        p += to - from;
    }
    return p;
}

static char *write_special(double d, bool upper, char *p) {
    if (isinf(d) && d < 0) *p++ = '-';
    memcpy(p, isnan(d) ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf"), 3);
    return p + 3;
}

static char *write_finite(const layout *l, bool upper, unsigned flags, char *p) {
    p = write_digits(l, l->point <= 0 ? l->point - 1 : 0, l->point, p);
    *p++ = '.';
    char *fraction = p;
    p = write_digits(l, l->point, l->end, p);
    if (p == fraction && !(flags & DV_DOUBLE_ALTERNATE)) p--;
    if (l->has_exponent) p += dv_float_write_exponent(l->exponent, upper ? 'E' : 'e', p);
    return p;
}

bool dv_number_text_double(dv_vm *vm, dv_number_text *out, double d, char type, int precision,
                           unsigned flags) {
    bool upper = type < 'a';
    char *p;
    if (!isfinite(d)) {
        if (!dv_number_text_room(vm, out, 0)) return false;
        p = write_special(d, upper, out->data);
    } else {
        layout l;
        lay_out(&l, d, (char)(type | 32), precision, flags);
        int64_t before = l.point > 0 ? l.point : 1, behind = l.end - l.point;
        if (!dv_number_text_room(vm, out, (size_t)(before + behind + 12))) return false;
        p = out->data;
        bool zero = l.count == 1 && l.digits[0] == '0';
        if (signbit(d) && !(zero && (flags & DV_DOUBLE_NO_NEGATIVE_ZERO))) *p++ = '-';
        p = write_finite(&l, upper, flags, p);
    }
    if (flags & DV_DOUBLE_PERCENT) *p++ = '%';
    out->size = (size_t)(p - out->data);
    return true;
}
