/* value.h: the 64-bit word that holds every dl value (NaN-boxing; why: vm/core/README.md).
 *
 * Invariants
 *  1. A double is its own bits.  All NaNs in the system are canonical (DV_NAN or hardware-made),
 * never in the tag space: foreign doubles pass through dv_float_foreign.
 *  2. Bits from DV_TAG_FIRST up are not doubles; the upper 16 bits tell what the word is:
 *         0xFFFC  pointer to a dv_object (lower 48 bits)
 *         0xFFFD  None, False, True, Ellipsis, NotImplemented, EMPTY
 *         0xFFFF  48-bit signed int (lower 48 bits)
 *  3. An int that fits in 48 bits is never a heap object, so equal small ints have equal bits.
 *  4. EMPTY is not a dl value: it marks unassigned locals and empty cells, and as a function's
 * result it means "failed, the exception is in vm->error". */
#ifndef DV_CORE_VALUE_H
#define DV_CORE_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct dv_vm dv_vm;
typedef struct dv_object dv_object;

typedef struct dv_value {
    uint64_t bits;
} dv_value;

#define DV_TAG_FIRST   0xFFF9000000000000u
#define DV_TAG_OBJECT  0xFFFC000000000000u
#define DV_TAG_SPECIAL 0xFFFD000000000000u
#define DV_TAG_INT     0xFFFF000000000000u
#define DV_PAYLOAD     0x0000FFFFFFFFFFFFu

#define DV_EMPTY          ((dv_value){DV_TAG_SPECIAL | 0})
#define DV_NONE           ((dv_value){DV_TAG_SPECIAL | 1})
#define DV_FALSE          ((dv_value){DV_TAG_SPECIAL | 2})
#define DV_TRUE           ((dv_value){DV_TAG_SPECIAL | 3})
#define DV_ELLIPSIS       ((dv_value){DV_TAG_SPECIAL | 4})
#define DV_NOTIMPLEMENTED ((dv_value){DV_TAG_SPECIAL | 5})

#define DV_INT_MAX (((int64_t)1 << 47) - 1)
#define DV_INT_MIN (-((int64_t)1 << 47))

/* A function with this mark has a result that must not be ignored: it may have failed. */
#define DV_MUST_CHECK  __attribute__((warn_unused_result))
#define DV_LIKELY(x)   __builtin_expect(!!(x), 1)
#define DV_UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline bool dv_same(dv_value a, dv_value b) { return a.bits == b.bits; }
static inline bool dv_is_empty(dv_value v) { return v.bits == DV_EMPTY.bits; }
static inline bool dv_is_none(dv_value v) { return v.bits == DV_NONE.bits; }
static inline bool dv_is_bool(dv_value v) { return (v.bits | 1) == DV_TRUE.bits; }
static inline dv_value dv_bool(bool b) { return (dv_value){DV_FALSE.bits | (uint64_t)b}; }

/* Ints: only the 48-bit kind; types/number/int.h has those of any size. */
static inline bool dv_is_int(dv_value v) { return v.bits >= DV_TAG_INT; }
static inline bool dv_are_ints(dv_value a, dv_value b) { return (a.bits & b.bits) >= DV_TAG_INT; }
static inline bool dv_fits_int(int64_t i) { return i >= DV_INT_MIN && i <= DV_INT_MAX; }
static inline dv_value dv_int(int64_t i) {
    return (dv_value){DV_TAG_INT | ((uint64_t)i & DV_PAYLOAD)};
}
static inline int64_t dv_as_int(dv_value v) { return (int64_t)(v.bits << 16) >> 16; }

static inline bool dv_is_float(dv_value v) { return v.bits < DV_TAG_FIRST; }
static inline dv_value dv_float(double d) {
    dv_value v;
    memcpy(&v.bits, &d, sizeof d);
    return v;
}
static inline double dv_as_float(dv_value v) {
    double d;
    memcpy(&d, &v.bits, sizeof d);
    return d;
}
/* A double that did not come from dl arithmetic (invariant 1). */
static inline dv_value dv_float_foreign(double d) {
    return d == d ? dv_float(d) : (dv_value){0x7FF8000000000000u};
}

/* Is it one, and which: both by a subtraction that the compiler makes once (measured: one
 * instruction less for each object that a handler looks at than by a shift and a mask). */
static inline bool dv_is_object(dv_value v) { return (v.bits - DV_TAG_OBJECT) >> 48 == 0; }
static inline dv_object *dv_as_object(dv_value v) {
    return (dv_object *)(uintptr_t)(v.bits - DV_TAG_OBJECT);
}
static inline dv_value dv_object_value(const void *object) {
    return (dv_value){DV_TAG_OBJECT | (uint64_t)(uintptr_t)object};
}

#endif
