/* constant.h: which expressions CPython's compiler computes, and to what kind of constant. */
#ifndef DV_LANG_CONSTANT_H
#define DV_LANG_CONSTANT_H

#include "lang/front/ast.h"

typedef enum dv_folded_kind {
    DV_FOLDED_NOT, /* no constant */
    DV_FOLDED_NONE,
    DV_FOLDED_ELLIPSIS,
    DV_FOLDED_BOOL,
    DV_FOLDED_INT,
    DV_FOLDED_FLOAT,
    DV_FOLDED_COMPLEX,
    DV_FOLDED_STR,
    DV_FOLDED_BYTES,
    DV_FOLDED_TUPLE,
    DV_FOLDED_FROZENSET
} dv_folded_kind;

/* What a constant is, as far as it decides whether operations on it can be computed. */
typedef struct dv_folded {
    dv_folded_kind kind;
    bool huge;              /* an int of which only `bits` and `negative` are known, and about */
    bool negative;          /* of a huge int */
    int64_t bits;           /* of an int: the number of bits of its absolute value */
    __int128 integer;       /* of an int or bool */
    double real, imag;      /* of a float or complex */
    int64_t size;           /* of a sequence */
    int64_t total;          /* of a tuple: items, with those of tuples in it */
    const dv_literal *from; /* of a sequence that stands in the text; else NULL */
} dv_folded;

/* The constant that CPython makes of the expression, whose children have been folded (fold.h). */
dv_folded dv_constant_of(const dv_expr *expr);

#endif
