/* table_value.c: the stable table: making and reading values (table.h). */
#include "plugin/table.h"

#include "types/binary/bytes.h"
#include "types/number/complex.h"
#include "types/mapping/dict.h"
#include "types/number/float.h"
#include "types/number/int_arith.h"
#include "types/sequence/list.h"
#include "types/number/range.h"
#include "types/mapping/set.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

bool dv_api_given_slow(dv_vm *vm) {
    if (dv_is_empty(vm->error))
        dv_raise(vm, DV_E_SYSTEM_ERROR, "an extension passed DVX_FAILED as a value");
    return false;
}

bool dv_api_all_given(dv_vm *vm, const dv_value *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!dv_api_given(vm, values[i])) return false;
    return true;
}

/* ---- Making ---- */

dvx_value dv_api_make_uint(dvx_vm *vm, uint64_t i) { return dv_int_from_uint64(vm, i); }

/* The ValueError that int(text, base) has. */
static dvx_value refuse_text(dvx_vm *vm, const char *text, size_t size, int base) {
    dv_value shown = dv_api_make_str(vm, text, size);
    if (!dv_is_empty(shown)) dv_int_raise_invalid(vm, shown, base);
    dv_release(vm, shown);
    return DV_EMPTY;
}

dvx_value dv_api_make_int_text(dvx_vm *vm, const char *text, size_t size, int base) {
    if (base != 0 && (base < 2 || base > 36))
        return dv_raise(vm, DV_E_VALUE_ERROR, "int() base must be >= 2 and <= 36, or 0");
    bool valid = true;
    dv_value result = dv_int_from_text(vm, text, size, base, &valid);
    return valid ? result : refuse_text(vm, text, size, base);
}

dvx_value dv_api_make_int_limbs(dvx_vm *vm, const uint64_t *limbs, int64_t size) {
    dv_int_view view = {.limbs = limbs, .count = size < 0 ? -size : size, .negative = size < 0};
    while (view.count && !limbs[view.count - 1]) view.count--;
    return view.count ? dv_int_copy(vm, &view) : dv_int(0);
}

const uint64_t *dv_api_int_limbs(dvx_vm *vm, dvx_value v, uint64_t *word, int64_t *size) {
    if (!dv_api_given(vm, v)) return NULL;
    if (!dv_is_integral(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object cannot be interpreted as an integer", v);
        return NULL;
    }
    dv_int_view view;
    dv_int_look(v, &view);
    *size = view.negative ? -view.count : view.count;
    *word = view.limbs == &view.word ? view.word : 0;
    return view.limbs == &view.word ? word : view.limbs;
}

dvx_value dv_api_make_complex(dvx_vm *vm, double real, double imag) {
    return dv_complex_new(vm, dv_as_float(dv_float_foreign(real)),
                          dv_as_float(dv_float_foreign(imag)));
}

/* No sequence can be longer, so that sizes below are safe as int64. */
static bool is_size(dvx_vm *vm, size_t size) {
    if (size <= (size_t)PTRDIFF_MAX / sizeof(dv_value)) return true;
    dv_raise_memory(vm);
    return false;
}

dvx_value dv_api_make_bytes(dvx_vm *vm, const void *data, size_t size) {
    return is_size(vm, size) ? dv_bytes_new(vm, data, (int64_t)size) : DV_EMPTY;
}

dvx_value dv_api_make_tuple(dvx_vm *vm, const dvx_value *items, size_t count) {
    if (!is_size(vm, count) || !dv_api_all_given(vm, items, count)) return DV_EMPTY;
    return dv_tuple_new(vm, items, (int64_t)count);
}

dvx_value dv_api_make_list(dvx_vm *vm, const dvx_value *items, size_t count) {
    if (!is_size(vm, count) || !dv_api_all_given(vm, items, count)) return DV_EMPTY;
    return dv_list_new(vm, items, (int64_t)count);
}

dvx_value dv_api_make_set(dvx_vm *vm, const dvx_value *items, size_t count) {
    if (!dv_api_all_given(vm, items, count)) return DV_EMPTY;
    dv_value set = dv_set_new(vm);
    bool done = !dv_is_empty(set);
    for (size_t i = 0; i < count && done; i++) done = dv_set_add(vm, set, items[i]);
    if (done) return set;
    dv_release(vm, set);
    return DV_EMPTY;
}

dvx_value dv_api_make_dict(dvx_vm *vm) { return dv_dict_new(vm); }

dvx_value dv_api_make_ellipsis(dvx_vm *vm) {
    (void)vm;
    return DV_ELLIPSIS;
}

dvx_value dv_api_make_not_implemented(dvx_vm *vm) {
    (void)vm;
    return DV_NOTIMPLEMENTED;
}

/* ---- Reading ---- */

static bool negative(dvx_vm *vm) {
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "can't convert negative int to unsigned");
    return false;
}

/* An int beyond int64: v - 2^63 fits, if v fits into uint64. */
static bool read_upper_half(dvx_vm *vm, dvx_value v, uint64_t *out) {
    dv_value half = dv_int_from_uint64(vm, (uint64_t)1 << 63);
    dv_value rest = dv_is_empty(half) ? DV_EMPTY : dv_int_binary(vm, DV_BINARY_SUB, v, half);
    dv_release(vm, half);
    if (dv_is_empty(rest)) return false;
    int64_t low;
    bool fits = dv_int_to_int64(rest, &low) && low >= 0;
    dv_release(vm, rest);
    if (fits)
        *out = (uint64_t)low + ((uint64_t)1 << 63);
    else
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "int too large to convert to C unsigned long");
    return fits;
}

bool dv_api_read_uint(dvx_vm *vm, dvx_value v, uint64_t *out) {
    if (!dv_api_given(vm, v)) return false;
    if (!dv_is_integral(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object cannot be interpreted as an integer", v);
        return false;
    }
    int64_t i;
    if (dv_int_to_int64(v, &i)) {
        *out = (uint64_t)i;
        return i >= 0 || negative(vm);
    }
    return dv_int_sign(v) < 0 ? negative(vm) : read_upper_half(vm, v, out);
}

bool dv_api_read_index(dvx_vm *vm, dvx_value v, int64_t *out) {
    return dv_api_given(vm, v) && dv_as_index(vm, v, out);
}

bool dv_api_read_complex(dvx_vm *vm, dvx_value v, double *real, double *imag) {
    if (!dv_api_given(vm, v)) return false;
    if (dv_is_complex(v)) {
        *real = dv_as_complex(v)->real;
        *imag = dv_as_complex(v)->imag;
        return true;
    }
    *imag = 0;
    return dv_as_double(vm, v, real);
}

bool dv_api_read_bytes(dvx_vm *vm, dvx_value v, void *buffer, size_t capacity, size_t *size) {
    if (!dv_api_given(vm, v)) return false;
    if (!dv_is_bytes_like(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "a bytes-like object is required, not '%T'", v);
        return false;
    }
    const dv_str *bytes = dv_as_bytes(v);
    *size = (size_t)bytes->length;
    if (*size && *size <= capacity) memcpy(buffer, bytes->data, *size);
    return true;
}

bool dv_api_read_slice(dvx_vm *vm, dvx_value slice, int64_t length, int64_t *start, int64_t *step,
                       int64_t *count) {
    if (!dv_api_given(vm, slice)) return false;
    if (!dv_is_shape(slice, DV_T_SLICE)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "a slice is required, not %T", slice);
        return false;
    }
    int64_t stop;
    return dv_slice_indices(vm, slice, length < 0 ? 0 : length, start, &stop, step, count);
}
