/* table.c: the stable table of extensions (include/dynvm_ext.h): the functions behind vm->api.
 *
 * Invariant 1: dvx_api grows at its end only; what a member does never changes within an ABI major.
 */
#include "plugin/extension.h"

#include "core/upcall.h"
#include "types/float.h"
#include "types/int.h"
#include "types/module.h"
#include "types/str.h"

static dvx_value retain(dvx_vm *vm, dvx_value v) {
    (void)vm;
    return dv_retain(v);
}

static void release(dvx_vm *vm, dvx_value v) { dv_release(vm, v); }

/* ---- Making values ---- */

static dvx_value make_none(dvx_vm *vm) {
    (void)vm;
    return DV_NONE;
}

static dvx_value make_bool(dvx_vm *vm, bool b) {
    (void)vm;
    return dv_bool(b);
}

static dvx_value make_int(dvx_vm *vm, int64_t i) { return dv_int_from_int64(vm, i); }

static dvx_value make_float(dvx_vm *vm, double d) {
    (void)vm;
    return dv_float_foreign(d);
}

/* Length of the well-formed sequence at text (Unicode 15, table 3-7); 0: there is none. */
static size_t utf8_sequence(const unsigned char *text, size_t size) {
    unsigned char lead = text[0];
    if (lead < 0x80) return 1;
    size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || length > size) return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    if ((lead == 0xE0 && text[1] < 0xA0) || (lead == 0xED && text[1] > 0x9F)) return 0;
    if ((lead == 0xF0 && text[1] < 0x90) || (lead == 0xF4 && text[1] > 0x8F)) return 0;
    return length;
}

static dvx_value make_str(dvx_vm *vm, const char *utf8, size_t size) {
    for (size_t i = 0; i < size;) {
        size_t length = utf8_sequence((const unsigned char *)utf8 + i, size - i);
        if (!length) return dv_raise(vm, DV_E_VALUE_ERROR, "text of an extension is not UTF-8");
        i += length;
    }
    return dv_str_new(vm, utf8, size);
}

/* ---- Reading values ---- */

static dvx_kind kind(dvx_vm *vm, dvx_value v) {
    (void)vm;
    if (dv_is_float(v)) return DVX_FLOAT;
    if (dv_is_any_int(v)) return DVX_INT;
    if (dv_is_bool(v)) return DVX_BOOL;
    if (dv_is_none(v)) return DVX_NONE;
    return dv_is_str(v) ? DVX_STR : DVX_ANY;
}

static bool read_int(dvx_vm *vm, dvx_value v, int64_t *out) {
    if (!dv_is_integral(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object cannot be interpreted as an integer", v);
        return false;
    }
    if (dv_int_to_int64(v, out)) return true;
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C long");
    return false;
}

static bool read_float(dvx_vm *vm, dvx_value v, double *out) { return dv_as_double(vm, v, out); }

static bool read_str(dvx_vm *vm, dvx_value v, char *buffer, size_t capacity, size_t *size) {
    if (!dv_is_str(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "a str is required, not %T", v);
        return false;
    }
    char *utf8 = dv_str_utf8(vm, v, size);
    if (!utf8) return false;
    if (*size < capacity) memcpy(buffer, utf8, *size + 1);
    dv_heap_free(&vm->heap, utf8, *size + 1);
    return true;
}

static int truth(dvx_vm *vm, dvx_value v) { return dv_truth(vm, v); }
static int less(dvx_vm *vm, dvx_value a, dvx_value b) { return dv_less(vm, a, b); }

/* ---- Raising ---- */

static dvx_value raise(dvx_vm *vm, dvx_error error, const char *message) {
    static const dv_error_class classes[] = {
        [DVX_TYPE_ERROR] = DV_E_TYPE_ERROR,
        [DVX_VALUE_ERROR] = DV_E_VALUE_ERROR,
        [DVX_INDEX_ERROR] = DV_E_INDEX_ERROR,
        [DVX_KEY_ERROR] = DV_E_KEY_ERROR,
        [DVX_ZERO_DIVISION_ERROR] = DV_E_ZERO_DIVISION_ERROR,
        [DVX_OVERFLOW_ERROR] = DV_E_OVERFLOW_ERROR,
        [DVX_RUNTIME_ERROR] = DV_E_RUNTIME_ERROR,
        [DVX_OS_ERROR] = DV_E_OS_ERROR,
    };
    bool known = (size_t)error < sizeof classes / sizeof *classes;
    return dv_raise(vm, known ? classes[error] : DV_E_SYSTEM_ERROR, "%s", message);
}

/* ---- Filling a module ---- */

static bool is_well_formed(const dvx_function *function) {
    if (function->size < sizeof *function || !function->name || !function->entry) return false;
    for (uint32_t i = 0; i < function->derivative_count; i++) {
        const dvx_derivative *d = function->derivatives[i];
        if (d->size < sizeof *d || !d->name || !d->guard || !d->run) return false;
    }
    return true;
}

static dv_extension_function *describe(dvx_vm *vm, const dvx_function *function) {
    uint32_t count = function->derivative_count;
    dv_extension_function *made =
        dv_heap_alloc(&vm->heap, sizeof *made + count * sizeof *made->cases);
    if (!made) {
        dv_raise_memory(vm);
        return NULL;
    }
    made->def = (dv_cfunction_def){.name = function->name,
                                   .entry = function->entry,
                                   .min = function->min,
                                   .max = function->max};
    made->described = function;
    for (uint32_t i = 0; i < count; i++)
        made->cases[i] = (dv_extension_case){&made->def, function->derivatives[i]};
    return made;
}

static bool add_function(dvx_vm *vm, dvx_value module, const dvx_function *function) {
    dv_extension *extension = vm->plugins->loading;
    if (!extension) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "an extension adds its functions while it is imported");
        return false;
    }
    if (!is_well_formed(function)) {
        dv_raise(vm, DV_E_SYSTEM_ERROR, "malformed function of extension %s",
                 extension->descriptor->name);
        return false;
    }
    dv_extension_function *made = describe(vm, function);
    if (!made) return false;
    made->next = extension->functions;
    extension->functions = made;
    dv_value value = dv_cfunction_new(vm, &made->def, DV_EMPTY, module);
    if (dv_is_empty(value)) return false;
    return dv_namespace_set(vm, &dv_as_module(module)->names, function->name, value);
}

static bool add_constant(dvx_vm *vm, dvx_value module, const char *name, dvx_value value) {
    return dv_namespace_set(vm, &dv_as_module(module)->names, name, dv_retain(value));
}

const dvx_api dv_extension_api = {
    .size = sizeof(dvx_api),
    .retain = retain,
    .release = release,
    .make_none = make_none,
    .make_bool = make_bool,
    .make_int = make_int,
    .make_float = make_float,
    .make_str = make_str,
    .kind = kind,
    .read_int = read_int,
    .read_float = read_float,
    .read_str = read_str,
    .truth = truth,
    .less = less,
    .raise = raise,
    .add_function = add_function,
    .add_constant = add_constant,
};
