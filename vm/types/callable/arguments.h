/* arguments.h: sorting positional and keyword arguments of C functions into parameters. */
#ifndef DV_TYPES_ARGUMENTS_H
#define DV_TYPES_ARGUMENTS_H

#include "core/vm.h"

typedef struct dv_parameters {
    const char *function;     /* as messages name it */
    const char *const *names; /* of all parameters; the positional ones first */
    uint32_t count;
    uint32_t positional; /* so many can be given by position */
    uint32_t required;   /* the first so many must be given */
} dv_parameters;

/* Fills out[0 .. count-1] with borrowed arguments, EMPTY where none was given; TypeError with
 * CPython's messages where they do not fit.  `args`, `count` and `keywords` as a
 * dv_cfunction_keyword_entry has them. */
bool dv_arguments_sort(dv_vm *vm, const dv_parameters *parameters, const dv_value *args,
                       uint32_t count, dv_value keywords, dv_value *out) DV_MUST_CHECK;

/* The same for what is a Python function in CPython, with the messages that such functions have. */
bool dv_arguments_bind(dv_vm *vm, const dv_parameters *parameters, const dv_value *args,
                       uint32_t count, dv_value keywords, dv_value *out) DV_MUST_CHECK;

/* Refuses keywords: "f() takes no keyword arguments". */
bool dv_arguments_no_keywords(dv_vm *vm, const char *function, dv_value keywords) DV_MUST_CHECK;

/* Checks the number of positional arguments: "f expected at most 1 argument, got 2". */
bool dv_arguments_count(dv_vm *vm, const char *function, uint32_t count, uint32_t min,
                        uint32_t max) DV_MUST_CHECK;
/* TypeError: "<what> must be <wanted>, not <type of v>". */
dv_value dv_arguments_refuse(dv_vm *vm, const char *what, const char *wanted, dv_value v);

#endif
