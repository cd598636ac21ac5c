/* str_split.h: methods of str that take text apart, put it together, or replace parts of it. */
#ifndef DV_TYPES_STR_SPLIT_H
#define DV_TYPES_STR_SPLIT_H

#include "types/text/str.h"

dv_value dv_str_split(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_str_rsplit(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_str_splitlines(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_str_partition(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_rpartition(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_join_method(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_replace(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_strip(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_lstrip(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_rstrip(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_removeprefix(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_str_removesuffix(dv_vm *vm, const dv_value *args, uint32_t count);

#endif
