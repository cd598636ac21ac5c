/* wrapper_number.h: special methods of numbers (__abs__, __round__, __trunc__, ...) that their
 * types have no slot for; entries of the table in wrapper.c. */
#ifndef DV_TYPES_WRAPPER_NUMBER_H
#define DV_TYPES_WRAPPER_NUMBER_H

#include "core/vm.h"

#define DV_SLOT(name)                                                                    \
    dv_value dv_slot_##name(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type, \
                            const dv_value *args, uint32_t count)

DV_SLOT(abs);
DV_SLOT(int); /* __int__, __index__, __trunc__ */
DV_SLOT(float);
DV_SLOT(floor);
DV_SLOT(ceil);
DV_SLOT(round);
DV_SLOT(getnewargs);
DV_SLOT(plain); /* self, as a value of exactly the type */

#undef DV_SLOT

/* round() of an int or float; digits may be None. */
dv_value dv_number_round(dv_vm *vm, dv_value number, dv_value digits);

#endif
