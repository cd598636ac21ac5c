/* base.c: raising and memory (base.h). */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE = 2000 };

bool ffi_fail(dvx_vm *vm, dvx_error error, const char *format, ...) {
    char text[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vm->api->raise(vm, error, text);
    return false;
}

dvx_value ffi_raise(dvx_vm *vm, dvx_error error, const char *format, ...) {
    char text[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return vm->api->raise(vm, error, text);
}

const char *ffi_class_name(dvx_vm *vm, dvx_value v, char buffer[FFI_NAME]) {
    dvx_value class_ = vm->api->class_of(vm, v);
    dvx_value name = dvx_failed(class_) ? class_ : vm->api->get_attribute(vm, class_, "__name__");
    size_t size;
    if (dvx_failed(name) || !vm->api->read_str(vm, name, buffer, FFI_NAME, &size)) {
        vm->api->clear_error(vm);
        size = FFI_NAME;
    }
    if (size >= FFI_NAME) memcpy(buffer, "object", sizeof "object");
    vm->api->release(vm, class_);
    vm->api->release(vm, name);
    return buffer;
}

void *ffi_new(dvx_vm *vm, size_t size) {
    void *block = vm->api->allocate(vm, size);
    if (block) memset(block, 0, size);
    return block;
}

char *ffi_text(dvx_vm *vm, dvx_value str, size_t *size) {
    if (!vm->api->read_str(vm, str, NULL, 0, size)) return NULL;
    char *text = vm->api->allocate(vm, *size + 1);
    if (!text) return NULL;
    if (vm->api->read_str(vm, str, text, *size + 1, size)) return text;
    vm->api->deallocate(vm, text, *size + 1);
    return NULL;
}

bool ffi_grow(dvx_vm *vm, void **array, uint32_t count, uint32_t *capacity, size_t entry) {
    if (count < *capacity) return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 8;
    void *larger = *array ? vm->api->resize(vm, *array, *capacity * entry, wanted * entry)
                          : vm->api->allocate(vm, wanted * entry);
    if (!larger) return false;
    *array = larger;
    *capacity = wanted;
    return true;
}

bool ffi_forget(dvx_vm *vm, dvx_value result) {
    vm->api->release(vm, result);
    return !dvx_failed(result);
}
