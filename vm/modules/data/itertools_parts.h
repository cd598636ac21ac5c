/* itertools_parts.h: the parts of the module itertools that have files of their own. */
#ifndef DV_MODULES_ITERTOOLS_PARTS_H
#define DV_MODULES_ITERTOOLS_PARTS_H

#include "types/file/module.h"

/* Fills the new module itertools with its classes and tee(). */
bool dv_itertools_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;

/* itertools_group.c */
extern const dv_type dv_groupby_type, dv_grouper_type, dv_tee_type, dv_tee_block_type;
extern const dv_cfunction_def dv_itertools_functions[]; /* up to an entry without a name */

/* itertools_combine.c */
extern const dv_type dv_product_type, dv_permutations_type, dv_combinations_type,
    dv_combinations_repeating_type, dv_zip_longest_type;

#endif
