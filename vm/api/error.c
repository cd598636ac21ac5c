/* error.c: exceptions as objects of the host (error.h).
 *
 * An error is one block: the struct, then its three texts.  It comes from the C library's malloc,
 * as it may outlive the VM and its allocator. */
#include "api/error.h"

#include <stdlib.h>

#include "run/text.h"
#include "types/exception.h"
#include "types/str.h"

enum { TYPE, MESSAGE, TRACEBACK, TEXTS };

struct dynvm_error {
    const char *texts[TEXTS];
    size_t traceback_size;
};

/* A text of the exception as a str; what fails becomes empty. */
static dv_value text_of(dv_vm *vm, dv_value exception, int which) {
    dv_value text = which == TYPE      ? dv_exception_type_text(vm, exception)
                    : which == MESSAGE ? dv_to_str(vm, exception)
                                       : dv_exception_text(vm, exception);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    return text;
}

/* Copies of the texts in the VM's heap become one block of the host. */
static dynvm_error *join(char *const *texts, const size_t *sizes) {
    size_t size = sizeof(dynvm_error);
    for (int i = 0; i < TEXTS; i++) size += sizes[i] + 1;
    dynvm_error *error = malloc(size);
    if (!error) return NULL;
    char *at = (char *)(error + 1);
    for (int i = 0; i < TEXTS; i++) {
        error->texts[i] = at;
        if (texts[i]) memcpy(at, texts[i], sizes[i]);
        at[sizes[i]] = 0;
        at += sizes[i] + 1;
    }
    error->traceback_size = sizes[TRACEBACK];
    return error;
}

dynvm_error *dv_error_take(dv_vm *vm) {
    dv_value exception = vm->error;
    vm->error = DV_EMPTY;
    char *texts[TEXTS] = {NULL, NULL, NULL};
    size_t sizes[TEXTS] = {0, 0, 0};
    for (int i = 0; i < TEXTS; i++) {
        dv_value text = text_of(vm, exception, i);
        if (dv_is_empty(text)) continue;
        texts[i] = dv_str_utf8(vm, text, &sizes[i]);
        if (!texts[i]) dv_error_clear(vm);
        dv_release(vm, text);
    }
    dynvm_error *error = join(texts, sizes);
    for (int i = 0; i < TEXTS; i++)
        if (texts[i]) dv_heap_free(&vm->heap, texts[i], sizes[i] + 1);
    dv_release(vm, exception);
    return error;
}

void dynvm_error_free(dynvm_error *error) { free(error); }

const char *dynvm_error_type(const dynvm_error *error) { return error ? error->texts[TYPE] : ""; }

const char *dynvm_error_message(const dynvm_error *error) {
    return error ? error->texts[MESSAGE] : "";
}

const char *dynvm_error_traceback(const dynvm_error *error) {
    return error ? error->texts[TRACEBACK] : "";
}

size_t dynvm_error_traceback_size(const dynvm_error *error) {
    return error ? error->traceback_size : 0;
}
