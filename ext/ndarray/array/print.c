/* print.c: str, repr and format of arrays and scalars (print.h): what is more than a number's text
 * is dl code, lib/text.dl. */
#include "array/print.h"

#include "array/convert.h"

static dvx_value in_dl(dvx_vm *vm, const char *name, dvx_value self) {
    return nd_call_library(vm, "_ndarray.text", name, &self, 1);
}

dvx_value print_scalar(dvx_vm *vm, dvx_value self) {
    const nd_array *a = array_self(vm, self);
    const nd_type type = a->dtype->num;
    if (type == ND_FLOAT16 || type == ND_FLOAT32 || type == ND_COMPLEX64)
        return in_dl(vm, "scalar_text", self);
    dvx_value number = convert_to_list(vm, a), text = vm->api->str(vm, number);
    vm->api->release(vm, number);
    return text;
}

dvx_value print_array_str(dvx_vm *vm, dvx_value self) {
    return array_self(vm, self)->ndim ? in_dl(vm, "text_of", self) : print_scalar(vm, self);
}

dvx_value print_array_repr(dvx_vm *vm, dvx_value self) { return in_dl(vm, "repr_of", self); }

dvx_value print_scalar_format(dvx_vm *vm, dvx_value self, dvx_value spec) {
    char word[32];
    size_t size;
    const nd_array *a = array_self(vm, self);
    if (!vm->api->read_str(vm, spec, word, sizeof word, &size)) return DVX_FAILED;
    if (size == 0 && a->ndim) return print_array_str(vm, self);
    if (size >= sizeof word) return nd_raise(vm, DVX_VALUE_ERROR, "Invalid format specifier");
    dvx_value number = convert_to_list(vm, a), text = vm->api->format(vm, number, word);
    vm->api->release(vm, number);
    return text;
}

dvx_value print_array_format(dvx_vm *vm, dvx_value self, dvx_value spec) {
    size_t size;
    char word[32];
    const nd_array *a = array_self(vm, self);
    if (!vm->api->read_str(vm, spec, word, sizeof word, &size)) return DVX_FAILED;
    if (a->ndim == 0 || size == 0) return print_scalar_format(vm, self, spec);
    return nd_raise(vm, DVX_TYPE_ERROR,
                    "unsupported format string passed to numpy.ndarray.__format__");
}
