/* str_case.h: methods of str about case and kinds of characters. */
#ifndef DV_TYPES_STR_CASE_H
#define DV_TYPES_STR_CASE_H

#include "types/text/str.h"

#define DV_STR_ENTRY(name) dv_value name(dv_vm *vm, const dv_value *args, uint32_t count)

DV_STR_ENTRY(dv_str_upper);
DV_STR_ENTRY(dv_str_lower);
DV_STR_ENTRY(dv_str_title);
DV_STR_ENTRY(dv_str_capitalize);
DV_STR_ENTRY(dv_str_casefold);
DV_STR_ENTRY(dv_str_swapcase);
DV_STR_ENTRY(dv_str_isalpha);
DV_STR_ENTRY(dv_str_isalnum);
DV_STR_ENTRY(dv_str_isdecimal);
DV_STR_ENTRY(dv_str_isdigit);
DV_STR_ENTRY(dv_str_isnumeric);
DV_STR_ENTRY(dv_str_isspace);
DV_STR_ENTRY(dv_str_isprintable);
DV_STR_ENTRY(dv_str_isascii);
DV_STR_ENTRY(dv_str_isidentifier);
DV_STR_ENTRY(dv_str_islower);
DV_STR_ENTRY(dv_str_isupper);
DV_STR_ENTRY(dv_str_istitle);

#endif
