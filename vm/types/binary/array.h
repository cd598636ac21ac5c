/* array.h: array.array: numbers of one kind in a plain C buffer.
 *
 * Invariants
 *  1. `data` has room for `capacity` elements of `kind->size` bytes, the first `count` of them
 * used; it is NULL when capacity is 0.
 *  2. Whatever may run dl code (a conversion, an iterator) may change the array: data and count are
 *     read again after it.
 *  3. The kind is that of the array's whole life: regions look at it once. */
#ifndef DV_TYPES_ARRAY_H
#define DV_TYPES_ARRAY_H

#include "core/machine.h"
#include "types/binary/buffer.h"

typedef struct dv_array_kind {
    char code; /* as in Python: 'b' ... 'd', 'u' */
    uint8_t size;
    bool is_signed, is_float;
    uint8_t element; /* dv_element; DV_ELEMENTS: characters */
} dv_array_kind;

typedef struct dv_array {
    dv_object header;
    char *data;
    int64_t count, capacity;
    const dv_array_kind *kind;
    uint32_t exports; /* views of the elements (types/binary/buffer.h): while there are, count and
                         data stay */
    uint32_t element; /* kind->element */
} dv_array;

extern const dv_type dv_array_type;

static inline bool dv_is_array(dv_value v) { return dv_has_layout(v, DV_T_ARRAY); }
static inline dv_array *dv_as_array(dv_value v) { return (dv_array *)dv_as_object(v); }
/* Is v an array of exactly that type, with elements of this kind? */
static inline bool dv_is_array_of(dv_value v, uint32_t element) {
    return dv_is_shape(v, DV_T_ARRAY) && dv_as_array(v)->element == element;
}

/* An element as a double whose bits are those of a value (core/value.h, invariant 1).  A branch,
 * that is what the asm is for: a conditional move would make all that is computed with it wait. */
static inline double dv_element_double(double d) {
    if (DV_UNLIKELY(d != d)) {
        d = __builtin_nan("");
        __asm__("" : "+" DV_FLOAT_REGISTER(d));
    }
    return d;
}

/* A kind by its code; NULL: there is none. */
const dv_array_kind *dv_array_kind_of(uint32_t code);
const dv_array_kind *dv_array_kind_with(uint32_t element);
/* The element at p, which is aligned. */
dv_value dv_array_load(dv_vm *vm, const dv_array_kind *kind, const void *p);
/* v as the bytes of an element, of which the first kind->size count. */
bool dv_array_encode(dv_vm *vm, const dv_array_kind *kind, dv_value v, void *out) DV_MUST_CHECK;
dv_value dv_array_new(dv_vm *vm, const dv_array_kind *kind, int64_t count); /* of zeros */
dv_value dv_array_get(dv_vm *vm, const dv_array *array, int64_t i);
/* 1, 0, or -1: raised.  Elements are new objects in CPython, so that a NaN among them equals
 * nothing. */
static inline int dv_array_equal(dv_vm *vm, dv_value element, dv_value v) {
    if (dv_is_float(element) && dv_is_float(v)) return dv_as_float(element) == dv_as_float(v);
    return dv_equal(vm, element, v);
}
/* Converts v and stores it to element i, if that is still there after the conversion. */
bool dv_array_put(dv_vm *vm, dv_array *array, int64_t i, dv_value v) DV_MUST_CHECK;
bool dv_array_append(dv_vm *vm, dv_value array, dv_value v) DV_MUST_CHECK;
/* Replaces elements [start, stop) by `count` others (NULL: by nothing yet), which must not lie in
 * the array itself. */
bool dv_array_splice(dv_vm *vm, dv_array *array, int64_t start, int64_t stop, const char *data,
                     int64_t count) DV_MUST_CHECK;
bool dv_array_extend(dv_vm *vm, dv_value array, dv_value with) DV_MUST_CHECK;
/* Appends the elements whose bytes these are; ValueError. */
bool dv_array_append_bytes(dv_vm *vm, dv_array *array, const char *bytes,
                           int64_t size) DV_MUST_CHECK;

/* Of an array of characters: its text; ValueError where one is none. */
dv_value dv_array_text(dv_vm *vm, const dv_array *array);
/* The contents as bytes: new. */
dv_value dv_array_bytes(dv_vm *vm, dv_value array);

/* array_methods.c */
extern const dv_cfunction_def dv_array_methods[];

#endif
