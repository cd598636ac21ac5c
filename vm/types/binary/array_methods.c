/* array_methods.c: the methods of array.array (array.h). */
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/binary/array.h"
#include "types/binary/bytes.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

static dv_array *self_of(const dv_value *args) { return dv_as_array(args[0]); }

static dv_value done(bool good) { return good ? DV_NONE : DV_EMPTY; }

/* ---- One element ------------------------------------------------------------------------------*/

static dv_value append(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return done(dv_array_append(vm, args[0], args[1]));
}

static dv_value insert(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t i;
    if (!dv_size_argument(vm, args[1], &i)) return DV_EMPTY;
    dv_value one = dv_array_new(vm, self_of(args)->kind, 0);
    bool good = !dv_is_empty(one) && dv_array_append(vm, one, args[2]);
    int64_t length = self_of(args)->count;
    if (i < 0) i = i < -length ? 0 : i + length;
    if (i > length) i = length;
    good = good && dv_array_splice(vm, self_of(args), i, i, dv_as_array(one)->data, 1);
    dv_release(vm, one);
    return done(good);
}

static dv_value pop(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t i = -1;
    if (count > 1 && !dv_size_argument(vm, args[1], &i)) return DV_EMPTY;
    dv_array *a = self_of(args);
    if (a->count == 0) return dv_raise(vm, DV_E_INDEX_ERROR, "pop from empty array");
    if (i < 0) i += a->count;
    if ((uint64_t)i >= (uint64_t)a->count)
        return dv_raise(vm, DV_E_INDEX_ERROR, "pop index out of range");
    dv_value element = dv_array_get(vm, a, i);
    if (dv_is_empty(element) || dv_array_splice(vm, a, i, i + 1, NULL, 0)) return element;
    dv_release(vm, element);
    return DV_EMPTY;
}

/* The first equal element in [start, stop); -1: none; -2: raised. */
static int64_t find(dv_vm *vm, const dv_array *a, dv_value item, int64_t start, int64_t stop) {
    for (int64_t i = start; i < stop && i < a->count; i++) {
        if (!dv_work(vm, 1)) return -2;
        dv_value element = dv_array_get(vm, a, i);
        int equal = dv_is_empty(element) ? -1 : dv_array_equal(vm, element, item);
        dv_release(vm, element);
        if (equal) return equal < 0 ? -2 : i;
    }
    return -1;
}

static dv_value index_(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t start, stop;
    dv_array *a = self_of(args);
    if (!dv_search_bounds(vm, args + 2, count - 2, a->count, false, &start, &stop)) return DV_EMPTY;
    int64_t i = find(vm, a, args[1], start, stop);
    if (i == -1) return dv_raise(vm, DV_E_VALUE_ERROR, "array.index(x): x not in array");
    return i < 0 ? DV_EMPTY : dv_int(i);
}

static dv_value remove_(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t i = find(vm, self_of(args), args[1], 0, INT64_MAX);
    if (i == -1) return dv_raise(vm, DV_E_VALUE_ERROR, "array.remove(x): x not in array");
    return done(i >= 0 && dv_array_splice(vm, self_of(args), i, i + 1, NULL, 0));
}

static dv_value count_(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t n = 0;
    for (int64_t i = -1; (i = find(vm, self_of(args), args[1], i + 1, INT64_MAX)) != -1; n++)
        if (i < 0) return DV_EMPTY;
    return dv_int(n);
}

/* ---- All elements -----------------------------------------------------------------------------*/

static dv_value extend(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return done(dv_array_extend(vm, args[0], args[1]));
}

static void swap_bytes(char *p, int64_t i, int64_t k) {
    char c = p[i];
    p[i] = p[k];
    p[k] = c;
}

static dv_value reverse(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_array *a = self_of(args);
    int64_t size = a->kind->size;
    dv_work_owe(vm, a->count / 2);
    for (int64_t i = 0, k = a->count - 1; i < k; i++, k--)
        for (int64_t b = 0; b < size; b++) swap_bytes(a->data, i * size + b, k * size + b);
    return DV_NONE;
}

static dv_value byteswap(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_array *a = self_of(args);
    int64_t size = a->kind->size;
    dv_work_owe(vm, a->count / 2);
    for (int64_t i = 0; i < a->count; i++)
        for (int64_t b = 0; b < size / 2; b++) swap_bytes(a->data + i * size, b, size - 1 - b);
    return DV_NONE;
}

static dv_value tolist(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_array *a = self_of(args);
    dv_value list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list) && dv_list_reserve(vm, dv_as_list(list), a->count);
    for (int64_t i = 0; good && i < a->count; i++) {
        dv_value element = dv_work(vm, 1) ? dv_array_get(vm, a, i) : DV_EMPTY;
        good = !dv_is_empty(element) && dv_list_push(vm, list, element);
    }
    if (good) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

static dv_value fromlist(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_array *a = self_of(args);
    int64_t before = a->count;
    if (!dv_is_list(args[1])) return dv_raise(vm, DV_E_TYPE_ERROR, "arg must be list");
    int64_t length = dv_as_list(args[1])->count;
    for (int64_t i = 0; i < length; i++) {
        dv_value item = dv_retain(dv_as_list(args[1])->items[i]);
        bool good = dv_work(vm, 1) && dv_array_append(vm, args[0], item);
        dv_release(vm, item);
        if (good && dv_as_list(args[1])->count != length) {
            dv_raise(vm, DV_E_RUNTIME_ERROR, "list changed size during iteration");
            good = false;
        }
        if (good) continue;
        if (a->count > before) a->count = before;
        return DV_EMPTY;
    }
    return DV_NONE;
}

static dv_value tobytes(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_array_bytes(vm, args[0]);
}

static dv_value frombytes(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (dv_is_array(args[1]) && dv_as_array(args[1])->kind->size != 1)
        return dv_raise(vm, DV_E_TYPE_ERROR, "a bytes-like object is required");
    dv_value bytes = dv_bytes_contents(vm, args[1]);
    if (dv_is_empty(bytes)) return DV_EMPTY;
    const dv_str *s = dv_as_str(bytes);
    bool good = dv_array_append_bytes(vm, self_of(args), s->data, s->length);
    dv_release(vm, bytes);
    return done(good);
}

static dv_value tounicode(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_array *a = self_of(args);
    if (a->kind->code == 'u') return dv_array_text(vm, a);
    return dv_raise(vm, DV_E_VALUE_ERROR, "tounicode() may only be called on unicode type arrays");
}

static dv_value fromunicode(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[1]))
        return dv_arguments_refuse(vm, "fromunicode() argument", "str", args[1]);
    if (self_of(args)->kind->code == 'u') return done(dv_array_extend(vm, args[0], args[1]));
    return dv_raise(vm, DV_E_VALUE_ERROR,
                    "fromunicode() may only be called on unicode type arrays");
}

static dv_value buffer_info(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_array *a = self_of(args);
    dv_value parts[2] = {dv_int((int64_t)dv_identity_of(vm, (uintptr_t)a->data)), dv_int(a->count)};
    return dv_tuple_new(vm, parts, 2);
}

static dv_value copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value result = dv_array_new(vm, self_of(args)->kind, 0);
    if (dv_is_empty(result) || dv_array_extend(vm, result, args[0])) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

/* file.name(argument) */
static dv_value call_method(dv_vm *vm, dv_value file, const char *name, dv_value argument) {
    dv_value text = dv_str_intern(vm, name, strlen(name));
    dv_value method = dv_is_empty(text) ? DV_EMPTY : dv_get_attribute(vm, file, text);
    dv_release(vm, text);
    if (dv_is_empty(method)) return DV_EMPTY;
    dv_value result = dv_call(vm, method, &argument, 1, DV_EMPTY);
    dv_release(vm, method);
    return result;
}

static dv_value tofile(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (self_of(args)->count == 0) return DV_NONE;
    dv_value bytes = dv_array_bytes(vm, args[0]);
    dv_value result = dv_is_empty(bytes) ? DV_EMPTY : call_method(vm, args[1], "write", bytes);
    dv_release(vm, bytes);
    if (dv_is_empty(result)) return DV_EMPTY;
    dv_release(vm, result);
    return DV_NONE;
}

/* What is there is appended before its shortness is complained about. */
static dv_value fromfile(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t wanted, size = self_of(args)->kind->size;
    if (!dv_size_argument(vm, args[2], &wanted)) return DV_EMPTY;
    if (wanted < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "negative count");
    if (wanted > INT64_MAX / size) return dv_raise_memory(vm);
    dv_value number = dv_int_from_int64(vm, wanted * size);
    dv_value data = dv_is_empty(number) ? DV_EMPTY : call_method(vm, args[1], "read", number);
    dv_release(vm, number);
    if (dv_is_empty(data)) return DV_EMPTY;
    bool good = false, whole = false;
    if (dv_is_bytes(data)) {
        const dv_str *bytes = dv_as_str(data);
        whole = bytes->length == wanted * size;
        good = dv_array_append_bytes(vm, self_of(args), bytes->data, bytes->length);
    } else {
        dv_raise(vm, DV_E_TYPE_ERROR, "read() didn't return bytes");
    }
    dv_release(vm, data);
    if (!good) return DV_EMPTY;
    return whole ? DV_NONE : dv_raise(vm, DV_E_EOF_ERROR, "read() didn't return enough bytes");
}

const dv_cfunction_def dv_array_methods[] = {
    {.name = "__copy__", .entry = copy, .min = 1, .max = 1},
    {.name = "__deepcopy__", .entry = copy, .min = 2, .max = 2},
    {.name = "append", .entry = append, .min = 2, .max = 2},
    {.name = "buffer_info", .entry = buffer_info, .min = 1, .max = 1},
    {.name = "byteswap", .entry = byteswap, .min = 1, .max = 1},
    {.name = "count", .entry = count_, .min = 2, .max = 2},
    {.name = "extend", .entry = extend, .min = 2, .max = 2},
    {.name = "fromfile", .entry = fromfile, .min = 3, .max = 3},
    {.name = "frombytes", .entry = frombytes, .min = 2, .max = 2},
    {.name = "fromlist", .entry = fromlist, .min = 2, .max = 2},
    {.name = "fromunicode", .entry = fromunicode, .min = 2, .max = 2},
    {.name = "index", .entry = index_, .min = 2, .max = 4},
    {.name = "insert", .entry = insert, .min = 3, .max = 3},
    {.name = "pop", .entry = pop, .min = 1, .max = 2},
    {.name = "remove", .entry = remove_, .min = 2, .max = 2},
    {.name = "reverse", .entry = reverse, .min = 1, .max = 1},
    {.name = "tobytes", .entry = tobytes, .min = 1, .max = 1},
    {.name = "tofile", .entry = tofile, .min = 2, .max = 2},
    {.name = "tolist", .entry = tolist, .min = 1, .max = 1},
    {.name = "tounicode", .entry = tounicode, .min = 1, .max = 1},
    {.name = NULL}};
