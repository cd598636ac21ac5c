/* builtins.h: the builtin functions, and the iterator types that belong to them. */
#ifndef DV_BUILTINS_BUILTINS_H
#define DV_BUILTINS_BUILTINS_H

#include "core/upcall.h"
#include "core/vm.h"

extern const dv_type dv_zip_type, dv_map_type, dv_filter_type, dv_reversed_type,
    dv_call_iterator_type, dv_list_reverse_type;

/* Tables of functions, each up to an entry without a name. */
extern const dv_cfunction_def dv_builtin_output[];  /* output.c: print, input */
extern const dv_cfunction_def dv_builtin_numbers[]; /* numbers.c: abs, round, sum, chr, ... */
extern const dv_cfunction_def dv_builtin_objects[]; /* objects.c: len, repr, getattr, ... */

/* Puts functions, classes and constants into vm->builtins; the exceptions are there already. */
bool dv_builtins_setup(dv_vm *vm) DV_MUST_CHECK;

/* iter(callable, sentinel) */
dv_value dv_call_iterator_new(dv_vm *vm, dv_value callable, dv_value sentinel);

/* The value of a keyword argument, borrowed; EMPTY: not given.  `positional` is the number of
 * arguments before the named ones. */
dv_value dv_keyword_argument(const dv_value *args, uint32_t positional, dv_value keywords,
                             const char *name);
/* TypeError unless all keywords are among `names` (which ends with NULL). */
bool dv_check_keywords(dv_vm *vm, dv_value keywords, const char *const *names,
                       const char *function) DV_MUST_CHECK;

#endif
