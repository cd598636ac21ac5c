/* str_methods.h: methods of str that search, align and translate. */
#ifndef DV_TYPES_STR_METHODS_H
#define DV_TYPES_STR_METHODS_H

#include "core/upcall.h"
#include "types/text/str.h"

dv_value dv_str_find_method(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_rfind_method(dv_vm *vm, const dv_value *args, uint32_t count);
extern const dv_declared dv_str_index_raises; /* of index and rindex */
dv_value dv_str_index_method(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_rindex_method(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_count_method(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_startswith(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_endswith(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_center(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_ljust(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_rjust(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_zfill(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_expandtabs(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_str_translate(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_maketrans(dv_vm *vm, const dv_value *args, uint32_t count);

#endif
