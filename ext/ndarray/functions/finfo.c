/* finfo.c: promote_types, result_type, can_cast (finfo.h). */
#include "functions/finfo.h"

#include <string.h>

#include "array/convert.h"
#include "array/methods.h"

/* ---- Types of results ---- */

static dvx_value promote_types(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const nd_dtype *a = dtype_read(vm, args[0]), *b = a ? dtype_read(vm, args[1]) : NULL;
    return b ? dtype_object(vm, dtype_promote(a, b)) : DVX_FAILED;
}

/* Numbers take the type of arrays and dtypes beside them, as far as their kind allows. */
static dvx_value result_type(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *strong = NULL, *weak = NULL, *result;
    if (!count)
        return vm->api->raise(vm, DVX_VALUE_ERROR, "at least one array or dtype is required");
    for (uint32_t i = 0; i < count; i++) {
        const nd_array *a = array_of(vm, args[i]);
        const nd_dtype *d = a ? a->dtype : convert_kind(vm, args[i]);
        const bool is_number = !a && d;
        if (!d && !(d = dtype_read(vm, args[i]))) return DVX_FAILED;
        const nd_dtype **kind = is_number && d->num != ND_BOOL ? &weak : &strong;
        *kind = *kind ? dtype_promote(*kind, d) : d;
    }
    result = strong ? strong : weak;
    if (strong && weak) {
        if (weak->kind == 'c') {
            result = dtype_is_integer(strong) ? weak : ND_DTYPE(type_as_complex(strong->num));
        } else if (weak->kind == 'f') {
            result = dtype_is_integer(strong) ? weak : strong;
        } else {
            result = strong->num == ND_BOOL ? weak : strong;
        }
    }
    return dtype_object(vm, result);
}

int finfo_casts(dvx_vm *vm, const nd_dtype *from, const nd_dtype *to, dvx_value casting,
                char word[32]) {
    if (!dvx_failed(casting)) nd_word(vm, casting, word);
    if (!strcmp(word, "safe")) return dtype_is_safe(from, to);
    if (!strcmp(word, "same_kind")) return dtype_is_same_kind(from, to);
    if (!strcmp(word, "no") || !strcmp(word, "equiv")) return from == to;
    if (!strcmp(word, "unsafe")) return true;
    nd_fail(vm, DVX_VALUE_ERROR,
            "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '%s')",
            word);
    return -1;
}

/* from_, to, casting */
static dvx_value can_cast(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char word[32] = "safe";
    (void)count;
    const nd_array *a = array_of(vm, args[0]);
    const nd_dtype *from = a ? a->dtype : convert_kind(vm, args[0]), *to;
    if (!from && !(from = dtype_read(vm, args[0]))) return DVX_FAILED;
    if (!(to = dtype_read(vm, args[1]))) return DVX_FAILED;
    const int good = finfo_casts(vm, from, to, args[2], word);
    return good < 0 ? DVX_FAILED : vm->api->make_bool(vm, good);
}

/* ---- Tables ---- */

ND_PARAMETERS(of_can_cast, 2, "from_", "to", "casting");
static const dvx_function functions[] = {
    ND_PLAIN("promote_types", promote_types, 2, 2),
    ND_PLAIN("result_type", result_type, 0, ND_ANY),
    ND_NAMED("can_cast", can_cast, of_can_cast),
};

bool finfo_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
