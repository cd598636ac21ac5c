/* dtype.h: the types of elements, the objects that name them (dtype('float64'), np.float64), and
 * what they are to each other.
 *
 * Invariants
 *  1. There is one constant nd_dtype for each type, so that they are compared by address; `num` is
 *     its index in nd_dtypes.
 *  2. The order of nd_type is NumPy's of type numbers: a type never promotes to one before it. */
#ifndef ND_DTYPE_H
#define ND_DTYPE_H

#include "base.h"

typedef enum nd_type {
    ND_BOOL,
    ND_INT8,
    ND_UINT8,
    ND_INT16,
    ND_UINT16,
    ND_INT32,
    ND_UINT32,
    ND_INT64,
    ND_UINT64,
    ND_FLOAT16,
    ND_FLOAT32,
    ND_FLOAT64,
    ND_COMPLEX64,
    ND_COMPLEX128
} nd_type;

/* The dtypes that have derivatives (site), in their order; the others are rare. */
typedef enum nd_hot {
    ND_RARE = -1,
    ND_HOT_BOOL,
    ND_HOT_UINT8,
    ND_HOT_INT32,
    ND_HOT_INT64,
    ND_HOT_FLOAT32,
    ND_HOT_FLOAT64,
    ND_HOT_COMPLEX128,
    ND_HOT_TYPES
} nd_hot;

typedef struct nd_complex {
    double real, imag;
} nd_complex;
typedef struct nd_complex64 {
    float real, imag;
} nd_complex64;
typedef uint16_t nd_half; /* the bits of a float16 (loops/half.h) */

typedef struct nd_dtype {
    nd_type num;
    char kind; /* b u i f c */
    char code; /* ? b B h H i I l L e f d F D */
    uint8_t size;
    uint8_t alignment;
    uint8_t element; /* dvx_element; DVX_NO_ELEMENT: what has none */
    const char *name;
    const char *text; /* "<f8" */
    int8_t hot;       /* nd_hot */
    uint8_t number;   /* NumPy's */
} nd_dtype;

extern const nd_dtype nd_dtypes[ND_TYPES];
#define ND_DTYPE(type) (&nd_dtypes[type])

static inline bool dtype_is_integer(const nd_dtype *d) { return d->num <= ND_UINT64; }
static inline bool type_is_inexact(nd_type type) { return type > ND_UINT64; }

/* The float that holds all ints of the type; of complex numbers that of their parts. */
static inline nd_type type_as_float(nd_type type) {
    if (type == ND_COMPLEX64) return ND_FLOAT32;
    if (type_is_inexact(type)) return type == ND_COMPLEX128 ? ND_FLOAT64 : type;
    return type <= ND_UINT8 ? ND_FLOAT16 : type <= ND_UINT16 ? ND_FLOAT32 : ND_FLOAT64;
}
/* The type of complex numbers with such parts. */
static inline nd_type type_as_complex(nd_type type) {
    return type_as_float(type) == ND_FLOAT64 ? ND_COMPLEX128 : ND_COMPLEX64;
}

/* Is the int an element of the type, if that is one of ints? */
static inline bool type_holds(nd_type type, int64_t i) {
    switch (type) {
    case ND_INT8: return i == (int8_t)i;
    case ND_UINT8: return i == (uint8_t)i;
    case ND_INT16: return i == (int16_t)i;
    case ND_UINT16: return i == (uint16_t)i;
    case ND_INT32: return i == (int32_t)i;
    case ND_UINT32: return i == (uint32_t)i;
    case ND_UINT64: return i >= 0;
    default: return true;
    }
}
/* An element of a type of ints; the bits of uint64. */
static inline int64_t type_int(nd_type type, const void *at) {
    switch (type) {
    case ND_BOOL:
    case ND_UINT8: return *(const uint8_t *)at;
    case ND_INT8: return *(const int8_t *)at;
    case ND_INT16: return *(const int16_t *)at;
    case ND_UINT16: return *(const uint16_t *)at;
    case ND_INT32: return *(const int32_t *)at;
    case ND_UINT32: return *(const uint32_t *)at;
    default: return *(const int64_t *)at;
    }
}

/* The dtype that an argument names: a dtype, np.float64, a class of dl, a str; None is float64.
 * TypeError. */
const nd_dtype *dtype_read(dvx_vm *vm, dvx_value v);
/* The same for an argument that may be missing or None: then `otherwise`, which may be NULL. False:
 * raised. */
bool dtype_read_given(dvx_vm *vm, dvx_value v, const nd_dtype *otherwise, const nd_dtype **out);
/* dtype('float64'): new */
dvx_value dtype_object(dvx_vm *vm, const nd_dtype *d);
/* The dtype of np.float64, or of dtype('float64'); NULL: v is neither, nothing is raised. */
const nd_dtype *dtype_of_object(dvx_vm *vm, dvx_value v);

/* Is it np.float64 or its like? */
bool dtype_is_class(dvx_vm *vm, dvx_value v);
/* What calling that of `d` with v gives: a number, a scalar or an array. */
dvx_value dtype_convert(dvx_vm *vm, const nd_dtype *d, dvx_value v);

/* The smallest type that holds all values of both, as NumPy's result_type of arrays. */
const nd_dtype *dtype_promote(const nd_dtype *a, const nd_dtype *b);
/* casting='safe' and 'same_kind' */
bool dtype_is_safe(const nd_dtype *from, const nd_dtype *to);
bool dtype_is_same_kind(const nd_dtype *from, const nd_dtype *to);
/* May elements be cast as `casting` says, or else `word`, which becomes the rule?  1, 0, -1:
 * ValueError. */
int dtype_casts(dvx_vm *vm, const nd_dtype *from, const nd_dtype *to, dvx_value casting,
                char word[32]);

#endif
