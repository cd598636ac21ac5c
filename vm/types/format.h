/* format.h: the one formatter behind f-strings, format(), str.format and %. */
#ifndef DV_TYPES_FORMAT_H
#define DV_TYPES_FORMAT_H

#include "core/vm.h"

/* Python's format specification mini-language. */
typedef struct dv_format_spec {
    uint32_t fill; /* code point; ' ' by default */
    char align;    /* '<' '>' '=' '^', 0: not given */
    char sign;     /* '+' '-' ' ', 0: not given */
    bool no_negative_zero, alternate, zero;
    char grouping;            /* ',' '_', 0 */
    int64_t width, precision; /* -1: not given */
    uint32_t type;            /* code point of the presentation type, 0: not given */
} dv_format_spec;

/* Parses; ValueError with CPython's message ("Invalid format specifier ..."). */
bool dv_format_parse(dv_vm *vm, dv_value spec, dv_format_spec *out) DV_MUST_CHECK;
dv_value dv_format_int(dv_vm *vm, dv_value v, dv_value spec); /* int and bool */
dv_value dv_format_float(dv_vm *vm, double d, dv_value spec);
dv_value dv_format_str(dv_vm *vm, dv_value s, dv_value spec);
dv_value dv_format_method(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                          dv_value keywords);                          /* str.format */
dv_value dv_format_percent(dv_vm *vm, dv_value format, dv_value args); /* str % args */

#endif
