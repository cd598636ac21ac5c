/* format.h: the one formatter behind f-strings, format(), str.format and %. */
#ifndef DV_TYPES_FORMAT_H
#define DV_TYPES_FORMAT_H

#include "core/vm.h"
#include "types/text/str.h"

/* format(v, spec); spec is a str.  An empty one gives str(v). */
dv_value dv_format_int(dv_vm *vm, dv_value v, dv_value spec); /* int and bool */
dv_value dv_format_float(dv_vm *vm, dv_value self, double d, dv_value spec);
dv_value dv_format_complex(dv_vm *vm, dv_value v, dv_value spec);
dv_value dv_format_str(dv_vm *vm, dv_value s, dv_value spec);

/* str.format; args without self, the last ones are the keywords'. */
dv_value dv_format_method(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                          dv_value keywords);
dv_value dv_format_map(dv_vm *vm, dv_value self, dv_value mapping);    /* str.format_map */
dv_value dv_format_percent(dv_vm *vm, dv_value format, dv_value args); /* str % args */
dv_value dv_format_ascii(dv_vm *vm, dv_value v);                       /* ascii(v) */
/* CPython gives back the object itself, of whatever subclass of str, where the last part written
 * is one whole str, and nothing stands before it.  Call it before `length` code points of s are
 * written as the last part; *whole: the result then, owned, EMPTY before. */
void dv_format_whole(const dv_builder *b, dv_value s, int64_t length, dv_value *whole);

#endif
