/* table.c: the stable table of extensions (include/dynvm_ext.h): the functions of ABI 1.0, and the
 * table itself.
 *
 * Invariant 1: dvx_api grows at its end only; what a member does never changes within an ABI major.
 */
#include "plugin/extension.h"
#include "plugin/specialise.h"
#include "plugin/table.h"

#include "core/upcall.h"
#include "types/number/float.h"
#include "types/number/int.h"
#include "types/file/module.h"
#include "types/text/str.h"

static dvx_value retain(dvx_vm *vm, dvx_value v) {
    return dv_api_given(vm, v) ? dv_retain(v) : DV_EMPTY;
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

dvx_value dv_api_make_str(dvx_vm *vm, const char *utf8, size_t size) {
    for (size_t i = 0; i < size;) {
        size_t length = utf8_sequence((const unsigned char *)utf8 + i, size - i);
        if (!length) return dv_raise(vm, DV_E_VALUE_ERROR, "the text is not UTF-8");
        i += length;
    }
    return dv_str_new(vm, utf8, size);
}

/* ---- Reading values ---- */

/* By the type, or that which the object's class derives from; of others: DVX_ANY, which is 0. */
static dvx_kind kind_of_object(dvx_value v) {
    static const uint8_t kinds[] = {
        [DV_T_STR] = DVX_STR,   [DV_T_LIST] = DVX_LIST,   [DV_T_TUPLE] = DVX_TUPLE,
        [DV_T_DICT] = DVX_DICT, [DV_T_BYTES] = DVX_BYTES, [DV_T_BYTEARRAY] = DVX_BYTEARRAY,
        [DV_T_SET] = DVX_SET,   [DV_T_SLICE] = DVX_SLICE, [DV_T_FROZENSET] = DVX_FROZENSET,
        [DV_T_INT] = DVX_INT,   [DV_T_CLASS] = DVX_CLASS, [DV_T_COMPLEX] = DVX_COMPLEX};
    const uint32_t shape = dv_as_object(v)->shape, layout = shape >> DV_LAYOUT_SHIFT;
    const uint32_t type = layout ? layout : shape;
    return type < sizeof kinds ? (dvx_kind)kinds[type] : DVX_ANY;
}

static dvx_kind kind(dvx_vm *vm, dvx_value v) {
    (void)vm;
    if (dv_is_float(v)) return DVX_FLOAT;
    if (dv_is_int(v)) return DVX_INT;
    if (dv_is_object(v)) return kind_of_object(v);
    if (dv_is_bool(v)) return DVX_BOOL;
    if (dv_is_none(v)) return DVX_NONE;
    if (dv_same(v, DV_ELLIPSIS)) return DVX_ELLIPSIS;
    return dv_same(v, DV_NOTIMPLEMENTED) ? DVX_NOT_IMPLEMENTED : DVX_ANY;
}

static bool read_int(dvx_vm *vm, dvx_value v, int64_t *out) {
    if (DV_LIKELY(dv_is_int(v))) return *out = dv_as_int(v), true;
    if (!dv_api_given(vm, v)) return false;
    if (!dv_is_integral(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object cannot be interpreted as an integer", v);
        return false;
    }
    if (dv_int_to_int64(v, out)) return true;
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C long");
    return false;
}

static bool read_float(dvx_vm *vm, dvx_value v, double *out) {
    return dv_api_given(vm, v) && dv_as_double(vm, v, out);
}

static bool read_str(dvx_vm *vm, dvx_value v, char *buffer, size_t capacity, size_t *size) {
    if (!dv_api_given(vm, v)) return false;
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

static int truth(dvx_vm *vm, dvx_value v) { return dv_api_given(vm, v) ? dv_truth(vm, v) : -1; }
static int less(dvx_vm *vm, dvx_value a, dvx_value b) {
    return dv_api_given(vm, a) && dv_api_given(vm, b) ? dv_less(vm, a, b) : -1;
}

/* ---- Raising ---- */

static dvx_value raise(dvx_vm *vm, dvx_error error, const char *message) {
    return dv_raise(vm, dv_extension_error(error), "%s", message);
}

/* ---- Filling a module ---- */

static bool add_function(dvx_vm *vm, dvx_value module, const dvx_function *function) {
    dv_extension *extension = vm->extensions.plugins->loading;
    if (!extension) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "an extension adds its functions while it is imported");
        return false;
    }
    dv_extension_function *made = dv_extension_describe(vm, extension, function, false);
    if (!made) return false;
    dv_value value = dv_cfunction_new(vm, &made->def, DV_EMPTY, module);
    if (dv_is_empty(value)) return false;
    return dv_namespace_set(vm, &dv_as_module(module)->names, made->def.name, value);
}

static bool add_constant(dvx_vm *vm, dvx_value module, const char *name, dvx_value value) {
    return dv_api_given(vm, value) &&
           dv_namespace_set(vm, &dv_as_module(module)->names, name, dv_retain(value));
}

/* ---- The host ---- */

static bool allows_foreign(dvx_vm *vm) { return vm->extensions.foreign && !vm->sandboxed; }

const dvx_api dv_extension_api = {
    .size = sizeof(dvx_api),
    .retain = retain,
    .release = release,
    .make_none = make_none,
    .make_bool = make_bool,
    .make_int = make_int,
    .make_float = make_float,
    .make_str = dv_api_make_str,
    .kind = kind,
    .read_int = read_int,
    .read_float = read_float,
    .read_str = read_str,
    .truth = truth,
    .less = less,
    .raise = raise,
    .add_function = add_function,
    .add_constant = add_constant,
    .make_uint = dv_api_make_uint,
    .make_int_text = dv_api_make_int_text,
    .make_complex = dv_api_make_complex,
    .make_bytes = dv_api_make_bytes,
    .make_tuple = dv_api_make_tuple,
    .make_list = dv_api_make_list,
    .make_set = dv_api_make_set,
    .make_dict = dv_api_make_dict,
    .make_ellipsis = dv_api_make_ellipsis,
    .make_not_implemented = dv_api_make_not_implemented,
    .read_uint = dv_api_read_uint,
    .read_index = dv_api_read_index,
    .read_complex = dv_api_read_complex,
    .read_bytes = dv_api_read_bytes,
    .read_slice = dv_api_read_slice,
    .get_attribute = dv_api_get_attribute,
    .find_attribute = dv_api_find_attribute,
    .set_attribute = dv_api_set_attribute,
    .delete_attribute = dv_api_delete_attribute,
    .length = dv_api_length,
    .get_item = dv_api_get_item,
    .set_item = dv_api_set_item,
    .delete_item = dv_api_delete_item,
    .contains = dv_api_contains,
    .append = dv_api_append,
    .call = dv_api_call,
    .call_keywords = dv_api_call_keywords,
    .call_method = dv_api_call_method,
    .iterate = dv_api_iterate,
    .next = dv_api_next,
    .binary = dv_api_binary,
    .inplace = dv_api_inplace,
    .unary = dv_api_unary,
    .compare = dv_api_compare,
    .equal = dv_api_equal,
    .same = dv_api_same,
    .hash = dv_api_hash,
    .repr = dv_api_repr,
    .str = dv_api_str,
    .format = dv_api_format,
    .class_of = dv_api_class_of,
    .is_instance = dv_api_is_instance,
    .is_subclass = dv_api_is_subclass,
    .import = dv_api_import,
    .builtin = dv_api_builtin,
    .error_class = dv_api_error_class,
    .raise_format = dv_api_raise_format,
    .raise_error = dv_api_raise_error,
    .error_matches = dv_api_error_matches,
    .fetch_error = dv_api_fetch_error,
    .clear_error = dv_api_clear_error,
    .allocate = dv_api_allocate,
    .resize = dv_api_resize,
    .deallocate = dv_api_deallocate,
    .poll = dv_api_poll,
    .enter = dv_api_enter,
    .leave = dv_api_leave,
    .state = dv_api_state,
    .add_type = dv_api_add_type,
    .type_class = dv_api_type_class,
    .make_object = dv_api_make_object,
    .payload = dv_api_payload,
    .check_payload = dv_api_check_payload,
    .buffer_get = dv_api_buffer_get,
    .buffer_release = dv_api_buffer_release,
    .allows_foreign = allows_foreign,
    .report_error = dv_api_report_error,
    .specialise = dv_api_specialise,
    .drop_operand = dv_api_drop_operand,
    .decline = dv_api_decline,
    .make_assumption = dv_api_make_assumption,
    .assume = dv_api_assume,
    .break_assumption = dv_api_break_assumption,
    .is_unique = dv_api_is_unique,
    .warn = dv_api_warn,
    .expression = dv_api_expression,
    .smaller_expression = dv_api_smaller_expression,
    .fuse = dv_api_fuse,
    .at_node = dv_api_at_node,
    .note = dv_api_note,
    .read_row = dv_api_read_row,
    .make_row = dv_api_make_row,
    .heavy = dv_api_heavy,
    .work = dv_api_work,
    .number_attributes = dv_api_number_attributes,
    .count = dv_api_count,
    .int_limbs = dv_api_int_limbs,
    .make_int_limbs = dv_api_make_int_limbs,
};
