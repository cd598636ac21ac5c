/* derive.h: what hot sites with arrays become: derivatives (ext/SITES.md).
 *
 *     derive.c             the hooks of the types, and who is asked
 *     derive_elements.c    operators, comparisons, in-place operators and calls of ufuncs; their
 *                          descriptors are generated from derivatives.py
 *     derive_scalars.c     operators and comparisons of scalars
 *     derive_out.c         calls of ufuncs with an output
 *     derive_items.c       subscripts that give elements and views
 *     derive_stores.c      stores to these
 *     derive_key.c         what their keys are
 *     derive_views.c       views that sites keep
 *     derive_reads.c       attributes and reductions
 *
 * Invariants
 *  1. A derivative does exactly what the slot does: results, errors and warnings.  Where shapes,
 *     overlaps or flags make it difficult, `run` calls the function of the slot; it deoptimises
 * where dtypes are others than the site has seen, so that the hook is asked again.
 *  2. A result is put into an operand only if that is a temporary that dies, owns its elements,
 *     and if nothing can go wrong any more that would need it. */
#ifndef ND_DERIVE_H
#define ND_DERIVE_H

#include "array/array.h"
#include "loops/loops.h"

/* The slots `specialise` of ndarray, generic, ufunc, and of np.float64 and its like. */
void derive_array(dvx_vm *vm, dvx_site *site);
void derive_scalars(dvx_vm *vm, dvx_site *site);
void derive_ufunc(dvx_vm *vm, dvx_site *site);
void derive_class(dvx_vm *vm, dvx_site *site);

/* Asks a hook whose derivatives do not look for underflow. */
void derive_quiet(dvx_vm *vm, dvx_site *site, void (*hook)(dvx_vm *vm, dvx_site *site));

/* Each of these specialises the site, or declines it. */
void derive_elements(dvx_vm *vm, dvx_site *site);
/* False: it is no call of a ufunc with an output. */
bool derive_out(dvx_vm *vm, dvx_site *site);
void derive_items(dvx_vm *vm, dvx_site *site);
void derive_stores(dvx_vm *vm, dvx_site *site);
void derive_attribute(dvx_vm *vm, dvx_site *site);
void derive_method(dvx_vm *vm, dvx_site *site);

/* A reduction of all elements, by a method without arguments; or along an axis, its argument. */
typedef struct nd_whole {
    const dvx_function *method;
    const nd_dtype *dtype;
    nd_ufunc_number number;
    nd_fold fold;
    bool identity, warns, mean; /* identity: it begins with `first`, else with the first element */
    bool along;                 /* (dtype, fold and what is of all elements say nothing) */
    int64_t first;
} nd_whole;
/* What the derivative of a method does; false: it is no such. */
bool derive_whole(dvx_vm *vm, const dvx_specialisation *by, nd_whole *out);
/* What the derivative of a call of three arguments is of. */
typedef enum nd_three { ND_NO_THREE, ND_WHERE, ND_CLIP } nd_three;
nd_three derive_three(const dvx_specialisation *by);
/* The function itself, with the first arguments (and self), and no others. */
dvx_outcome derive_call(dvx_vm *vm, const dvx_function *function, const dvx_value *given,
                        uint32_t count, dvx_value *result);
/* Is this the one keyword of a call, if there are any? */
bool derive_names(dvx_vm *vm, dvx_value keywords, const char *name);
/* Sums of floats are added piece by piece, of so many elements each (reduce.c). */
enum { ND_PIECE = 8192 };

static inline dvx_outcome derive_outcome(dvx_value result, dvx_value *out) {
    *out = result;
    return dvx_failed(result) ? DVX_ERROR : DVX_DONE;
}

/* The int or float as an element of the loop's type; false: ufunc.c shall say what is wrong. */
bool derive_read_number(dvx_vm *vm, dvx_value v, nd_type type, char *element);
/* Of an int itself, not of a class that derives from it. */
bool derive_is_int(dvx_vm *vm, dvx_value v);
/* Is this what gives elements by keys that vary? */
bool derive_is_element(const dvx_specialisation *by);

#endif
