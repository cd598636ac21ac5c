/* int_bytes.h: int.to_bytes and int.from_bytes. */
#ifndef DV_TYPES_INT_BYTES_H
#define DV_TYPES_INT_BYTES_H

#include "core/vm.h"

dv_value dv_int_to_bytes(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
/* args[0] is the class. */
dv_value dv_int_from_bytes(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);

#endif
