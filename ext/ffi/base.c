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
    API(raise, error, text);
    return false;
}

dvx_value ffi_raise(dvx_vm *vm, dvx_error error, const char *format, ...) {
    char text[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return API(raise, error, text);
}

const char *ffi_class_name(dvx_vm *vm, dvx_value v, char buffer[FFI_NAME]) {
    dvx_value class_ = API(class_of, v);
    dvx_value name = dvx_failed(class_) ? class_ : API(get_attribute, class_, "__name__");
    size_t size;
    if (dvx_failed(name) || !API(read_str, name, buffer, FFI_NAME, &size)) {
        vm->api->clear_error(vm);
        size = FFI_NAME;
    }
    if (size >= FFI_NAME) memcpy(buffer, "object", sizeof "object");
    API(release, class_);
    API(release, name);
    return buffer;
}

void *ffi_new(dvx_vm *vm, size_t size) {
    void *block = API(allocate, size);
    if (block) memset(block, 0, size);
    return block;
}

char *ffi_text(dvx_vm *vm, dvx_value str, size_t *size) {
    if (!API(read_str, str, NULL, 0, size)) return NULL;
    char *text = API(allocate, *size + 1);
    if (!text) return NULL;
    if (API(read_str, str, text, *size + 1, size)) return text;
    API(deallocate, text, *size + 1);
    return NULL;
}

bool ffi_grow(dvx_vm *vm, void **array, uint32_t count, uint32_t *capacity, size_t entry) {
    if (count < *capacity) return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 8;
    void *larger = *array ? API(resize, *array, *capacity * entry, wanted * entry)
                          : API(allocate, wanted * entry);
    if (!larger) return false;
    *array = larger;
    *capacity = wanted;
    return true;
}

bool ffi_forget(dvx_vm *vm, dvx_value result) {
    API(release, result);
    return !dvx_failed(result);
}
