/* derive_elements.h: what a site with a derivative of derive_elements.c knows, and its native twins
 * (derive_native.h).
 *
 * Invariants
 *  1. A *kept* result is an array in one block, of the dtype of the results, that the site has made
 *     and holds a reference to.  Where that is the only one, the array is as good as new, and takes
 * the next result: what is dropped at once, or stored where the one before was, is never freed.
 * (Two are enough for that, and an array of that size is not worth a count of bytes.) */
#ifndef ND_DERIVE_ELEMENTS_H
#define ND_DERIVE_ELEMENTS_H

#include "loops/arith.h"
#include "loops/cast.h"
#include "site/derive.h"
#include "loops/loops.h"

typedef enum form { ARRAYS, RIGHT, LEFT, RIGHT_CONST, LEFT_CONST, ONE, FORMS } form;
#define FORM_ARRAYS      ARRAYS
#define FORM_RIGHT       RIGHT
#define FORM_LEFT        LEFT
#define FORM_RIGHT_CONST RIGHT_CONST
#define FORM_LEFT_CONST  LEFT_CONST
#define FORM_ONE         ONE

enum { ELEMENTS_KEPT = 2 };

/* What `stats` counts of them. */
#define KEPT_AGAIN   "a kept result was used again"
#define KEPT_NONE    "no result was kept yet: a new one"
#define KEPT_OWNED   "kept results have another owner: a new one"
#define KEPT_SHAPED  "kept results have another shape: a new one"
#define KEPT_NO_MORE "results are kept no more: a new one"

typedef struct elementwise {
    dvx_value kept[ELEMENTS_KEPT]; /* DVX_FAILED: none */
    uint32_t waste;                /* so often no kept result could be used */
    uint8_t inputs, first;         /* input i is operand i + first */
    uint8_t temporaries; /* bit i: the site drops input i, and the result may be put there */
    bool inplace, warns, inexact, casting, keeps;
    bool constant, constant_is_int; /* the number is known, and not loaded */
    nd_loop loop;
    const nd_dtype *dtypes[2]; /* of the inputs; NULL: it is a number */
    const nd_dtype *result;
    _Alignas(16) char element[sizeof(nd_complex)]; /* the number, if constant */
    nd_cast casts[2];                              /* NULL: none */
    nd_type type;                                  /* that the loop computes in */
    nd_ufunc_number number;
    double as_float;
    int64_t as_int;
} elementwise;

/* In a row, with at least one axis. */
static inline bool elements_is_row(const nd_array *a) {
    return a->flags & ND_C_CONTIGUOUS && a->ndim > 0;
}
/* One that a loop is done with in some ms; longer ones are ufunc.c's, which looks at interrupts. */
static inline bool elements_is_short(const nd_array *a) {
    return elements_is_row(a) && a->size <= 1 << 21;
}

static inline bool elements_same_shape(const nd_array *a, const nd_array *b) {
    if (a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != b->axes[i].count) return false;
    return true;
}

/* Before a loop. */
static inline void elements_begin(const elementwise *d) {
    if (d->warns && UNLIKELY(arith_flags())) arith_clear();
}

#endif
