/* pattern.h: what the patterns of match statements ask of values.
 *
 * Invariants
 *  1. What counts as a sequence or mapping is a property of the class (dv_class.collection), which
 *     it inherits from a built-in type or from collections.abc, or gets when it is registered
 *     there: no method of the program is asked.
 *  2. Results are in reverse: the last one first, so that on the stack the first is on top. */
#ifndef DV_TYPES_PATTERN_H
#define DV_TYPES_PATTERN_H

#include "core/shape.h"
#include "core/vm.h"

/* A sequence of exactly n >> 1 items, or, if n is odd, of at least that many?  1, 0, -1 raised. */
int dv_pattern_sequence(dv_vm *vm, dv_value v, int64_t n);

/* v[len(v) - n], new. */
dv_value dv_pattern_item(dv_vm *vm, dv_value v, int64_t n);

/* A mapping of at least n items?  1, 0, -1 raised. */
int dv_pattern_mapping(dv_vm *vm, dv_value v, int64_t n);

/* The values of n keys, new; `literals`: they are known to differ.  0: one is not there, and all
 * results are None. */
int dv_pattern_keys(dv_vm *vm, dv_value mapping, const dv_value *keys, int64_t n, bool literals,
                    dv_value *out);

/* Of an instance of the class the n attributes that the pattern looks at, new: the first ones are
 * those that __match_args__ names, for the last ones there is a tuple of names.  0: it is none, or
 * lacks one, and all results are None. */
int dv_pattern_class(dv_vm *vm, dv_value subject, dv_value class_, int64_t n, dv_value names,
                     dv_value *out);

#endif
