/* value.c: what the host does with values (dynvm.h, "Making values" and after).
 *
 * Every function takes references to the values of its handles, calls the machine, gives them back,
 * and makes a handle or a status of what came of it (handle.h). */
#include <string.h>

#include "api/compile.h"
#include "api/handle.h"
#include "api/path.h"
#include "core/upcall.h"
#include "plugin/table.h"
#include "run/call.h"
#include "types/binary/bytes.h"
#include "types/number/float.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* ---- Ends of calls: of those with operands, which are given back ---- */

static dynvm_value made(dynvm_vm *self, const dv_value *operands, size_t count, dv_value result) {
    dynvm_value handle = dv_host_made(self, result);
    dv_host_give_back(self, operands, count);
    return handle;
}

static dynvm_status done(dynvm_vm *self, const dv_value *operands, size_t count, bool good) {
    if (!good) dv_host_failed(self);
    dv_host_give_back(self, operands, count);
    return good ? DYNVM_OK : DYNVM_ERROR;
}

/* 1, 0, or -1: failed. */
static int decided(dynvm_vm *self, const dv_value *operands, size_t count, int answer) {
    if (answer < 0) dv_host_failed(self);
    dv_host_give_back(self, operands, count);
    return answer;
}

/* The same with a value where the answer is not negative, unless it is EMPTY. */
static int answered(dynvm_vm *self, const dv_value *operands, size_t count, int answer,
                    dv_value result, dynvm_value *out) {
    if (answer >= 0 && !dv_is_empty(result)) {
        *out = dv_host_made(self, result);
        if (dynvm_failed(*out)) answer = -1;
    }
    return decided(self, operands, count, answer);
}

/* ---- Many handles ---- */

enum { FEW = 8 };

/* The values of `count` handles: in `few`, or on the heap. */
typedef struct operands {
    dv_value few[FEW], *all;
    size_t count;
} operands;

static bool take_all(dynvm_vm *self, operands *o, dynvm_value first, const dynvm_value *rest,
                     size_t count) {
    if (!dv_host_begin(self)) return false;
    o->all = o->few;
    o->count = count + 1;
    if (count > UINT32_MAX / 2) {
        dv_host_refuse(self, "the host passes too many values");
        return false;
    }
    if (o->count > FEW && !(o->all = dv_heap_alloc(&self->vm->heap, o->count * sizeof *o->all))) {
        dv_raise_memory(self->vm);
        dv_host_failed(self);
        return false;
    }
    if (dv_host_look(self, &first, o->all, 1)) {
        if (dv_host_look(self, rest, o->all + 1, count)) return true;
        dv_host_give_back(self, o->all, 1);
    }
    if (o->all != o->few) dv_heap_free(&self->vm->heap, o->all, o->count * sizeof *o->all);
    return false;
}

static dynvm_value made_of_all(dynvm_vm *self, operands *o, dv_value result) {
    dynvm_value handle = made(self, o->all, o->count, result);
    if (o->all != o->few) dv_heap_free(&self->vm->heap, o->all, o->count * sizeof *o->all);
    return handle;
}

/* ---- Making: nothing here runs dl code ---- */

static size_t size_of(const char *text, size_t size) {
    return size == DYNVM_TO_ZERO ? strlen(text) : size;
}

dynvm_value dynvm_make_none(dynvm_vm *self) { return dv_host_made(self, DV_NONE); }

dynvm_value dynvm_make_bool(dynvm_vm *self, int b) { return dv_host_made(self, dv_bool(b != 0)); }

dynvm_value dynvm_make_int(dynvm_vm *self, int64_t i) {
    return dv_host_made(self, dv_int_from_int64(self->vm, i));
}

dynvm_value dynvm_make_int_text(dynvm_vm *self, const char *text, size_t size, int base) {
    return dv_host_made(self, dv_api_make_int_text(self->vm, text, size_of(text, size), base));
}

dynvm_value dynvm_make_float(dynvm_vm *self, double d) {
    return dv_host_made(self, dv_float_foreign(d));
}

dynvm_value dynvm_make_str(dynvm_vm *self, const char *text, size_t size) {
    return dv_host_made(self, dv_api_make_str(self->vm, text, size_of(text, size)));
}

dynvm_value dynvm_make_bytes(dynvm_vm *self, const void *data, size_t size) {
    return dv_host_made(self, dv_api_make_bytes(self->vm, data, size));
}

/* The sequence of the items alone: `first` of the operands stands for nothing. */
static dynvm_value make_sequence(dynvm_vm *self, const dynvm_value *items, size_t count,
                                 dv_value (*make)(dv_vm *, const dv_value *, int64_t)) {
    operands o;
    if (count == 0)
        return dv_host_begin(self) ? dv_host_made(self, make(self->vm, NULL, 0)) : DV_NO_HANDLE;
    if (!take_all(self, &o, items[0], items + 1, count - 1)) return DV_NO_HANDLE;
    return made_of_all(self, &o, make(self->vm, o.all, (int64_t)count));
}

dynvm_value dynvm_make_list(dynvm_vm *self, const dynvm_value *items, size_t count) {
    return make_sequence(self, items, count, dv_list_new);
}

dynvm_value dynvm_make_tuple(dynvm_vm *self, const dynvm_value *items, size_t count) {
    return make_sequence(self, items, count, dv_tuple_new);
}

dynvm_value dynvm_make_dict(dynvm_vm *self) {
    return dv_host_made(self, dv_api_make_dict(self->vm));
}

/* ---- Reading ---- */

dynvm_kind dynvm_kind_of(dynvm_vm *self, dynvm_value v) {
    static const uint8_t kinds[] = {
        [DVX_NONE] = DYNVM_KIND_NONE, [DVX_BOOL] = DYNVM_KIND_BOOL,
        [DVX_INT] = DYNVM_KIND_INT,   [DVX_FLOAT] = DYNVM_KIND_FLOAT,
        [DVX_STR] = DYNVM_KIND_STR,   [DVX_BYTES] = DYNVM_KIND_BYTES,
        [DVX_LIST] = DYNVM_KIND_LIST, [DVX_TUPLE] = DYNVM_KIND_TUPLE,
        [DVX_DICT] = DYNVM_KIND_DICT,
    };
    const dv_value value = dv_host_see(self, v);
    if (dv_is_empty(value)) return DYNVM_KIND_FAILED;
    const size_t kind = dv_extension_api.kind(self->vm, value);
    return kind < sizeof kinds && kinds[kind] ? (dynvm_kind)kinds[kind] : DYNVM_KIND_OTHER;
}

dynvm_status dynvm_read_int(dynvm_vm *self, dynvm_value v, int64_t *out) {
    const dv_value value = dv_host_see(self, v);
    return done(self, NULL, 0,
                !dv_is_empty(value) && dv_extension_api.read_int(self->vm, value, out));
}

dynvm_status dynvm_read_float(dynvm_vm *self, dynvm_value v, double *out) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return DYNVM_ERROR;
    return done(self, &value, 1, dv_as_double(self->vm, value, out));
}

/* The text or the bytes of a value with a zero byte behind them, as a bytes object. */
static dv_str *text_of(dv_vm *vm, dv_value v) {
    dv_value bytes = dv_is_str(v)          ? dv_encode(vm, v, DV_EMPTY, DV_EMPTY)
                     : dv_is_bytes_like(v) ? dv_retain(dv_bytes_of(v))
                                           : DV_EMPTY;
    if (dv_is_empty(bytes)) {
        if (dv_is_empty(vm->error))
            dv_raise(vm, DV_E_TYPE_ERROR, "a str or bytes is required, not %T", v);
        return NULL;
    }
    const dv_str *from = dv_as_bytes(bytes);
    dv_str *text = dv_bytes_alloc(vm, from->length + 1);
    if (text) {
        memcpy(text->data, from->data, (size_t)from->length);
        text->data[from->length] = 0;
    }
    dv_release(vm, bytes);
    return text;
}

/* What the host gets lies in an object that the scope holds by a handle. */
const char *dynvm_text(dynvm_vm *self, dynvm_value v, size_t *size) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return NULL;
    dv_str *text = text_of(self->vm, value);
    dynvm_value held = made(self, &value, 1, text ? dv_object_value(text) : DV_EMPTY);
    if (dynvm_failed(held)) return NULL;
    if (size) *size = (size_t)text->length - 1;
    return text->data;
}

int dynvm_truth(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return -1;
    return decided(self, &value, 1, dv_truth(self->vm, value));
}

/* ---- Names ---- */

dynvm_value dynvm_get_global(dynvm_vm *self, const char *name) {
    if (!dv_host_begin(self)) return DV_NO_HANDLE;
    dv_vm *vm = self->vm;
    dv_value key = dv_api_make_str(vm, name, strlen(name));
    if (dv_is_empty(key)) return dv_host_made(self, DV_EMPTY);
    dv_value interned = dv_str_intern_value(vm, key), result = DV_EMPTY;
    dv_release(vm, key);
    if (!dv_is_empty(interned)) {
        const dv_global_cell *cell = dv_namespace_find(&dv_as_module(vm->main)->names, interned);
        result = cell && !dv_is_empty(cell->value)
                     ? dv_retain(cell->value)
                     : dv_raise(vm, DV_E_NAME_ERROR, "name '%S' is not defined", interned);
    }
    dv_release(vm, interned);
    return dv_host_made(self, result);
}

dynvm_status dynvm_set_global(dynvm_vm *self, const char *name, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return DYNVM_ERROR;
    return done(self, &value, 1, dv_api_set_attribute(self->vm, self->vm->main, name, value));
}

dynvm_value dynvm_builtin(dynvm_vm *self, const char *name) {
    return dv_host_begin(self) ? dv_host_made(self, dv_api_builtin(self->vm, name)) : DV_NO_HANDLE;
}

dynvm_value dynvm_import(dynvm_vm *self, const char *name) {
    if (!dv_host_begin(self)) return DV_NO_HANDLE;
    bool ready = dv_path_begin(self->vm, NULL);
    return dv_host_made(self, ready ? dv_api_import(self->vm, name) : DV_EMPTY);
}

dynvm_value dynvm_load_text(dynvm_vm *self, const char *text, size_t size, const char *filename) {
    if (!dv_host_begin(self)) return DV_NO_HANDLE;
    dv_vm *vm = self->vm;
    bool ready = dv_path_begin(vm, NULL);
    dv_unit *unit = ready ? dv_compile(vm, text, size_of(text, size), filename) : NULL;
    return dv_host_made(self, unit ? dv_unit_function(vm, unit, vm->main) : DV_EMPTY);
}

/* ---- Calls ---- */

dynvm_value dynvm_call(dynvm_vm *self, dynvm_value callee, const dynvm_value *args, size_t count) {
    operands o;
    if (!take_all(self, &o, callee, args, count)) return DV_NO_HANDLE;
    return made_of_all(self, &o, dv_call(self->vm, o.all[0], o.all + 1, (uint32_t)count, DV_EMPTY));
}

/* A tuple of interned names. */
static dv_value make_names(dv_vm *vm, const char *const *names, size_t count) {
    dv_tuple *tuple = dv_tuple_alloc(vm, (int64_t)count);
    if (!tuple) return DV_EMPTY;
    for (size_t i = 0; i < count; i++) tuple->items[i] = DV_EMPTY;
    for (size_t i = 0; i < count; i++) {
        tuple->items[i] = dv_str_intern(vm, names[i], strlen(names[i]));
        if (!dv_is_empty(tuple->items[i])) continue;
        dv_release(vm, dv_object_value(tuple));
        return DV_EMPTY;
    }
    return dv_object_value(tuple);
}

dynvm_value dynvm_call_keywords(dynvm_vm *self, dynvm_value callee, const dynvm_value *args,
                                size_t count, const char *const *names, size_t named) {
    operands o;
    if (!take_all(self, &o, callee, args, count)) return DV_NO_HANDLE;
    dv_vm *vm = self->vm;
    dv_value tuple = make_names(vm, names, named);
    dv_value result = dv_is_empty(tuple)
                          ? DV_EMPTY
                          : dv_api_call_keywords(vm, o.all[0], o.all + 1, (uint32_t)count, tuple);
    dv_release(vm, tuple);
    return made_of_all(self, &o, result);
}

dynvm_value dynvm_call_method(dynvm_vm *self, dynvm_value v, const char *name,
                              const dynvm_value *args, size_t count) {
    operands o;
    if (!take_all(self, &o, v, args, count)) return DV_NO_HANDLE;
    return made_of_all(self, &o,
                       dv_api_call_method(self->vm, o.all[0], name, o.all + 1, (uint32_t)count));
}

/* ---- Attributes and items ---- */

dynvm_value dynvm_get_attribute(dynvm_vm *self, dynvm_value v, const char *name) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return DV_NO_HANDLE;
    return made(self, &value, 1, dv_api_get_attribute(self->vm, value, name));
}

int dynvm_find_attribute(dynvm_vm *self, dynvm_value v, const char *name, dynvm_value *out) {
    dv_value value, found;
    *out = DV_NO_HANDLE;
    if (!dv_host_take(self, &v, &value, 1)) return -1;
    const int answer = dv_api_find_attribute(self->vm, value, name, &found);
    return answered(self, &value, 1, answer, found, out);
}

dynvm_status dynvm_set_attribute(dynvm_vm *self, dynvm_value v, const char *name, dynvm_value set) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){v, set}, all, 2)) return DYNVM_ERROR;
    return done(self, all, 2, dv_api_set_attribute(self->vm, all[0], name, all[1]));
}

dynvm_status dynvm_delete_attribute(dynvm_vm *self, dynvm_value v, const char *name) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return DYNVM_ERROR;
    return done(self, &value, 1, dv_api_delete_attribute(self->vm, value, name));
}

int64_t dynvm_length(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return -1;
    const int64_t length = dv_length(self->vm, value);
    decided(self, &value, 1, length < 0 ? -1 : 0);
    return length;
}

dynvm_value dynvm_get_item(dynvm_vm *self, dynvm_value v, dynvm_value key) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){v, key}, all, 2)) return DV_NO_HANDLE;
    return made(self, all, 2, dv_get_item(self->vm, all[0], all[1]));
}

dynvm_value dynvm_get_index(dynvm_vm *self, dynvm_value v, int64_t index) {
    dv_value all[2];
    if (!dv_host_take(self, &v, all, 1)) return DV_NO_HANDLE;
    all[1] = dv_int_from_int64(self->vm, index);
    return made(self, all, 2,
                dv_is_empty(all[1]) ? DV_EMPTY : dv_get_item(self->vm, all[0], all[1]));
}

dynvm_status dynvm_set_item(dynvm_vm *self, dynvm_value v, dynvm_value key, dynvm_value set) {
    dv_value all[3];
    if (!dv_host_take(self, (const dynvm_value[]){v, key, set}, all, 3)) return DYNVM_ERROR;
    return done(self, all, 3, dv_api_set_item(self->vm, all[0], all[1], all[2]));
}

dynvm_status dynvm_delete_item(dynvm_vm *self, dynvm_value v, dynvm_value key) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){v, key}, all, 2)) return DYNVM_ERROR;
    return done(self, all, 2, dv_api_delete_item(self->vm, all[0], all[1]));
}

int dynvm_contains(dynvm_vm *self, dynvm_value v, dynvm_value item) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){v, item}, all, 2)) return -1;
    return decided(self, all, 2, dv_contains(self->vm, all[0], all[1]));
}

dynvm_status dynvm_append(dynvm_vm *self, dynvm_value list, dynvm_value item) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){list, item}, all, 2)) return DYNVM_ERROR;
    return done(self, all, 2, dv_api_append(self->vm, all[0], all[1]));
}

/* ---- Iteration ---- */

dynvm_value dynvm_iterate(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return DV_NO_HANDLE;
    return made(self, &value, 1, dv_iterate(self->vm, value));
}

int dynvm_next(dynvm_vm *self, dynvm_value iterator, dynvm_value *out) {
    dv_value value, item;
    *out = DV_NO_HANDLE;
    if (!dv_host_take(self, &iterator, &value, 1)) return -1;
    const int answer = dv_api_next(self->vm, value, &item);
    return answered(self, &value, 1, answer, item, out);
}

int dynvm_send(dynvm_vm *self, dynvm_value generator, dynvm_value sent, dynvm_value *out) {
    dv_value all[2], result = DV_EMPTY;
    *out = DV_NO_HANDLE;
    if (!dv_host_take(self, (const dynvm_value[]){generator, sent}, all, 2)) return -1;
    const int answer = dv_send(self->vm, all[0], all[1], &result);
    return answered(self, all, 2, answer, result, out);
}

/* ---- Text, comparison, classes ---- */

dynvm_value dynvm_repr(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return DV_NO_HANDLE;
    return made(self, &value, 1, dv_repr(self->vm, value));
}

dynvm_value dynvm_str(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return DV_NO_HANDLE;
    return made(self, &value, 1, dv_to_str(self->vm, value));
}

int dynvm_same(dynvm_vm *self, dynvm_value a, dynvm_value b) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){a, b}, all, 2)) return -1;
    return decided(self, all, 2, dv_same(all[0], all[1]));
}

int dynvm_equal(dynvm_vm *self, dynvm_value a, dynvm_value b) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){a, b}, all, 2)) return -1;
    return decided(self, all, 2, dv_equal(self->vm, all[0], all[1]));
}

int dynvm_less(dynvm_vm *self, dynvm_value a, dynvm_value b) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){a, b}, all, 2)) return -1;
    return decided(self, all, 2, dv_less(self->vm, all[0], all[1]));
}

dynvm_value dynvm_class_of(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return DV_NO_HANDLE;
    return made(self, &value, 1, dv_api_class_of(self->vm, value));
}

int dynvm_is_instance(dynvm_vm *self, dynvm_value v, dynvm_value classes) {
    dv_value all[2];
    if (!dv_host_take(self, (const dynvm_value[]){v, classes}, all, 2)) return -1;
    return decided(self, all, 2, dv_api_is_instance(self->vm, all[0], all[1]));
}
