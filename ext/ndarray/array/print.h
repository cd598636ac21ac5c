/* print.h: arrays as text, as NumPy prints them. */
#ifndef ND_PRINT_H
#define ND_PRINT_H

#include "array/array.h"

/* Slots of the types. */
dvx_value print_array_str(dvx_vm *vm, dvx_value self);
dvx_value print_array_repr(dvx_vm *vm, dvx_value self);
dvx_value print_scalar(dvx_vm *vm, dvx_value self);
dvx_value print_array_format(dvx_vm *vm, dvx_value self, dvx_value spec);
dvx_value print_scalar_format(dvx_vm *vm, dvx_value self, dvx_value spec);

#endif
