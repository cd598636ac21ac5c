/* base.c: raising, small readings of arguments (base.h). */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>

#include "array/array.h"

static void raise_text(dvx_vm *vm, dvx_error error, const char *format, va_list rest) {
    char text[2048];
    vsnprintf(text, sizeof text, format, rest);
    vm->api->raise(vm, error, text);
}

bool nd_fail(dvx_vm *vm, dvx_error error, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    raise_text(vm, error, format, rest);
    va_end(rest);
    return false;
}

dvx_value nd_raise(dvx_vm *vm, dvx_error error, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    raise_text(vm, error, format, rest);
    va_end(rest);
    return DVX_FAILED;
}

const char *nd_class_name(dvx_vm *vm, dvx_value v, char buffer[ND_NAME]) {
    size_t size;
    dvx_value class_ = vm->api->class_of(vm, v),
              name = vm->api->get_attribute(vm, class_, "__name__");
    buffer[0] = 0;
    if (dvx_failed(name) || !vm->api->read_str(vm, name, buffer, ND_NAME, &size))
        vm->api->clear_error(vm);
    buffer[ND_NAME - 1] = 0;
    vm->api->release(vm, name);
    vm->api->release(vm, class_);
    return buffer;
}

const char *nd_word(dvx_vm *vm, dvx_value v, char buffer[32]) {
    size_t size;
    buffer[0] = 0;
    if (dvx_failed(v) || vm->api->kind(vm, v) != DVX_STR) return buffer;
    if (!vm->api->read_str(vm, v, buffer, 32, &size)) vm->api->clear_error(vm);
    if (size >= 32) buffer[0] = 0;
    return buffer;
}

bool nd_axis_named(dvx_vm *vm, int64_t axis, int ndim, const char *what, int *out) {
    if (axis >= -ndim && axis < ndim) {
        *out = (int)(axis < 0 ? axis + ndim : axis);
        return true;
    }
    vm->api->raise_format(vm, nd_state_of(vm)->axis_error,
                          "%saxis %lld is out of bounds for array of dimension %d", what,
                          (long long)axis, ndim);
    return false;
}

bool nd_deprecated(dvx_vm *vm, const char *text) {
    const dvx_value class_ = vm->api->builtin(vm, "DeprecationWarning");
    const bool good = !dvx_failed(class_) && vm->api->warn(vm, class_, text);
    vm->api->release(vm, class_);
    return good;
}

bool nd_axis(dvx_vm *vm, int64_t axis, int ndim, int *out) {
    return nd_axis_named(vm, axis, ndim, "", out);
}

bool nd_axis_of(dvx_vm *vm, dvx_value axis, int ndim, int *out) {
    int64_t i;
    return nd_read_index(vm, axis, &i) && nd_axis(vm, i, ndim, out);
}

bool nd_axis_no_bool(dvx_vm *vm, dvx_value axis, int ndim, int *out) {
    if (vm->api->kind(vm, axis) == DVX_BOOL || array_is_truth(vm, axis))
        return nd_fail(vm, DVX_TYPE_ERROR, "an integer is required for the axis");
    return nd_axis_of(vm, axis, ndim, out);
}

bool nd_read_int_no_bool(dvx_vm *vm, dvx_value v, int64_t *out) {
    if (vm->api->kind(vm, v) == DVX_BOOL || array_is_truth(vm, v))
        return nd_fail(vm, DVX_TYPE_ERROR, "an integer is required");
    return nd_read_index(vm, v, out);
}

bool nd_read_index(dvx_vm *vm, dvx_value v, int64_t *out) {
    nd_state *state = nd_state_of(vm);
    state->busy++;
    bool good = vm->api->read_index(vm, v, out);
    state->busy--;
    return good;
}

dvx_value nd_call(dvx_vm *vm, dvx_value callee, dvx_value argument) {
    nd_state *state = nd_state_of(vm);
    state->busy++;
    dvx_value result = vm->api->call(vm, callee, &argument, 1);
    state->busy--;
    return result;
}

dvx_value nd_library(dvx_vm *vm, const char *module, const char *name,
                     const dvx_parameters *parameters, const dvx_value *args, uint32_t before) {
    enum { MOST = 16 };
    dvx_value given[MOST], names[MOST], result = DVX_FAILED;
    uint32_t count = 0, named = 0;
    /* (Names that begin with no letter are for arguments by position alone.) */
    for (uint32_t i = 0; i < before + parameters->count && count < MOST; i++) {
        if (dvx_failed(args[i])) continue;
        given[count++] = args[i];
        const char *own = i < before ? "" : parameters->names[i - before];
        if (i >= before + parameters->required && own[0] >= 'A') names[named++] = nd_str(vm, own);
    }
    dvx_value keywords = vm->api->make_tuple(vm, names, named);
    dvx_value library = vm->api->import(vm, module), callee = DVX_FAILED;
    if (!dvx_failed(library)) callee = vm->api->get_attribute(vm, library, name);
    if (!dvx_failed(callee) && !dvx_failed(keywords))
        result = vm->api->call_keywords(vm, callee, given, count, keywords);
    for (uint32_t i = 0; i < named; i++) vm->api->release(vm, names[i]);
    vm->api->release(vm, keywords);
    vm->api->release(vm, callee);
    vm->api->release(vm, library);
    return result;
}

dvx_value nd_call_library(dvx_vm *vm, const char *module, const char *name, const dvx_value *args,
                          uint32_t count) {
    dvx_value library = vm->api->import(vm, module), callee = DVX_FAILED, result = DVX_FAILED;
    if (!dvx_failed(library)) callee = vm->api->get_attribute(vm, library, name);
    if (!dvx_failed(callee)) result = vm->api->call(vm, callee, args, count);
    vm->api->release(vm, callee);
    vm->api->release(vm, library);
    return result;
}

void *nd_room(dvx_vm *vm, int64_t count, size_t size) {
    size_t bytes;
    if (count >= 0 && !__builtin_mul_overflow((size_t)count, size, &bytes))
        return vm->api->allocate(vm, bytes);
    vm->api->raise(vm, DVX_MEMORY_ERROR, "");
    return NULL;
}

/* ---- Long loops ---- */

enum { BLOCK = 1 << 16, CLEARED = 1 << 24 };

bool nd_next_block(dvx_vm *vm, nd_blocks *b) {
    if (!nd_work(vm, b->quick ? b->count / 8 : b->count)) b->stopped = true;
    b->at += b->count;
    const int64_t left = b->total - b->at;
    b->count = left < BLOCK ? left : BLOCK;
    return b->count > 0 && !b->stopped;
}

bool nd_clear(dvx_vm *vm, char *data, size_t bytes) {
    for (; bytes > CLEARED; data += CLEARED, bytes -= CLEARED) {
        memset(data, 0, CLEARED);
        if (!nd_work(vm, CLEARED / 64)) return false;
    }
    memset(data, 0, bytes);
    return nd_work(vm, (int64_t)(bytes / 64));
}
