/* error.c: exceptions as objects of the host (error.h).
 *
 * An error is one block: the struct, then its three texts.  It comes from the C library's malloc,
 * as it may outlive the VM and its allocator. */
#include "api/error.h"

#include <stdlib.h>

#include "core/work.h"
#include "report/text.h"
#include "types/exception/exception.h"
#include "types/text/str.h"
#include "types/file/stream.h"
#include "types/sequence/tuple.h"

enum { TYPE, MESSAGE, TRACEBACK, TEXTS };

struct dynvm_error {
    const char *texts[TEXTS];
    size_t traceback_size;
};

/* A text of the exception as a str without lone surrogates; what fails becomes empty. */
static dv_value text_of(dv_vm *vm, dv_value exception, int which, dv_value shown) {
    dv_value raw = which == TYPE      ? dv_exception_type_text(vm, exception)
                   : which == MESSAGE ? dv_to_str(vm, exception)
                                      : dv_retain(shown);
    dv_value text = dv_is_empty(raw) ? DV_EMPTY : dv_stream_escape(vm, raw);
    dv_release(vm, raw);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    return text;
}

/* A text on its way from the VM's heap to the host's. */
typedef struct passage {
    char *text; /* on the VM's heap; NULL: it could not be made */
    size_t size;
} passage;

/* Where there was no memory for a text: the name of the class, which is there already. */
static void write_name(const dv_exception *exception, size_t size, char *out) {
    const dv_str *name = dv_as_str(exception->class_->name);
    for (size_t i = 0; i < size; i++) {
        uint32_t c = dv_str_at(name, (int64_t)i);
        out[i] = c < 0x80 ? (char)c : '?';
    }
}

/* The passages become one block of the host. */
static dynvm_error *join(const dv_exception *exception, const passage *passages) {
    size_t name_size = (size_t)dv_as_str(exception->class_->name)->length;
    size_t size = sizeof(dynvm_error);
    for (int i = 0; i < TEXTS; i++) size += (passages[i].text ? passages[i].size : name_size) + 2;
    dynvm_error *error = malloc(size);
    if (!error) return NULL;
    char *at = (char *)(error + 1);
    for (int i = 0; i < TEXTS; i++) {
        const passage *p = &passages[i];
        size_t length = p->text ? p->size : i == MESSAGE ? 0 : name_size;
        error->texts[i] = at;
        if (p->text)
            memcpy(at, p->text, length);
        else
            write_name(exception, length, at);
        if (!p->text && i == TRACEBACK) at[length++] = '\n';
        if (i == TRACEBACK) error->traceback_size = length;
        at[length] = 0;
        at += length + 1;
    }
    return error;
}

dynvm_error *dv_error_take(dv_vm *vm, dv_value shown) {
    dv_value exception = vm->error;
    vm->error = DV_EMPTY;
    passage passages[TEXTS] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    for (int i = 0; i < TEXTS; i++) {
        dv_value text = text_of(vm, exception, i, shown);
        if (dv_is_empty(text)) continue;
        passages[i].text = dv_str_utf8(vm, text, &passages[i].size);
        if (!passages[i].text) dv_error_clear(vm);
        dv_release(vm, text);
    }
    dynvm_error *error = join(dv_as_exception(exception), passages);
    for (int i = 0; i < TEXTS; i++)
        if (passages[i].text) dv_heap_free(&vm->heap, passages[i].text, passages[i].size + 1);
    dv_release(vm, exception);
    dv_release(vm, shown);
    return error;
}

void dv_error_tell_stop(dv_vm *vm) {
    if (!dv_is_stopped(vm) || dv_is_empty(vm->error)) return;
    const char *why = dv_work_stop_message(vm);
    const dv_tuple *args = dv_as_tuple(dv_as_exception(vm->error)->args);
    if (args->count == 1 && dv_is_str(args->items[0]) && dv_str_is(args->items[0], why)) return;
    dv_error_clear(vm);
    dv_raise(vm, DV_E_RUNTIME_ERROR, "%s", why);
}

dynvm_error *dv_error_describe(dv_vm *vm, dv_value exception) {
    dv_value pending = vm->error;
    vm->error = DV_EMPTY;
    dv_value shown = dv_exception_text(vm, exception);
    dv_error_clear(vm);
    vm->error = dv_retain(exception);
    dynvm_error *error = dv_error_take(vm, shown);
    vm->error = pending;
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
