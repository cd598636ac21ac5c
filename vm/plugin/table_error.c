/* table_error.c: the stable table: errors, and what extensions need of the machine itself
 * (table.h). */
#include "plugin/table.h"

#include "core/native.h"
#include "core/work.h"
#include "run/thread.h"
#include "types/class/class.h"
#include "types/exception/exception.h"
#include "types/exception/hook.h"
#include "types/exception/warning.h"
#include "types/text/str.h"

/* ---- Raising ---- */

dv_error_class dv_extension_error(dvx_error error) {
    static const dv_error_class classes[] = {
        [DVX_TYPE_ERROR] = DV_E_TYPE_ERROR,
        [DVX_VALUE_ERROR] = DV_E_VALUE_ERROR,
        [DVX_INDEX_ERROR] = DV_E_INDEX_ERROR,
        [DVX_KEY_ERROR] = DV_E_KEY_ERROR,
        [DVX_ZERO_DIVISION_ERROR] = DV_E_ZERO_DIVISION_ERROR,
        [DVX_OVERFLOW_ERROR] = DV_E_OVERFLOW_ERROR,
        [DVX_RUNTIME_ERROR] = DV_E_RUNTIME_ERROR,
        [DVX_OS_ERROR] = DV_E_OS_ERROR,
        [DVX_ATTRIBUTE_ERROR] = DV_E_ATTRIBUTE_ERROR,
        [DVX_NAME_ERROR] = DV_E_NAME_ERROR,
        [DVX_LOOKUP_ERROR] = DV_E_LOOKUP_ERROR,
        [DVX_ARITHMETIC_ERROR] = DV_E_ARITHMETIC_ERROR,
        [DVX_ASSERTION_ERROR] = DV_E_ASSERTION_ERROR,
        [DVX_BUFFER_ERROR] = DV_E_BUFFER_ERROR,
        [DVX_EOF_ERROR] = DV_E_EOF_ERROR,
        [DVX_IMPORT_ERROR] = DV_E_IMPORT_ERROR,
        [DVX_MEMORY_ERROR] = DV_E_MEMORY_ERROR,
        [DVX_NOT_IMPLEMENTED_ERROR] = DV_E_NOT_IMPLEMENTED_ERROR,
        [DVX_STOP_ITERATION] = DV_E_STOP_ITERATION,
        [DVX_SYSTEM_ERROR] = DV_E_SYSTEM_ERROR,
        [DVX_UNICODE_ERROR] = DV_E_UNICODE_ERROR,
    };
    bool known = (size_t)error < sizeof classes / sizeof *classes;
    return known ? classes[error] : DV_E_SYSTEM_ERROR;
}

dvx_value dv_api_error_class(dvx_vm *vm, dvx_error error) {
    return dv_retain(dv_object_value(dv_exception_class(vm, dv_extension_error(error))));
}

bool dv_api_is_format(const char *format) {
    while ((format = strchr(format, '%'))) {
        format += 1 + strspn(format + 1, "0123456789-+ #.lz");
        if (!*format || !strchr("scdiuxXpVST%", *format)) return false;
        format++;
    }
    return true;
}

void dv_api_raise_message(dv_vm *vm, dv_value class_, dv_value message) {
    bool fits = dv_is_class(class_) && dv_as_class(class_)->type == DV_T_EXCEPTION;
    if (!fits) dv_raise(vm, DV_E_TYPE_ERROR, "exceptions must derive from BaseException");
    dv_value error = !fits ? DV_EMPTY : dv_call(vm, class_, &message, 1, DV_EMPTY);
    dv_release(vm, message);
    if (dv_is_empty(error)) return;
    dv_exception_raise(vm, error, DV_EMPTY);
    dv_release(vm, error);
}

dvx_value dv_api_raise_format_list(dvx_vm *vm, dvx_value class_, const char *format,
                                   va_list arguments) {
    if (!dv_api_given(vm, class_)) return DV_EMPTY;
    if (!dv_api_is_format(format))
        return dv_raise(vm, DV_E_SYSTEM_ERROR, "an extension's error has the bad format '%s'",
                        format);
    dv_value message = dv_str_vprintf(vm, format, arguments);
    if (!dv_is_empty(message)) dv_api_raise_message(vm, class_, message);
    return DV_EMPTY;
}

dvx_value dv_api_raise_format(dvx_vm *vm, dvx_value class_, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    dvx_value failed = dv_api_raise_format_list(vm, class_, format, arguments);
    va_end(arguments);
    return failed;
}

dvx_value dv_api_raise_error(dvx_vm *vm, dvx_value error) {
    if (dv_api_given(vm, error)) dv_exception_raise(vm, error, DV_EMPTY);
    return DV_EMPTY;
}

/* ---- The pending error ---- */

bool dv_api_error_matches(dvx_vm *vm, dvx_value classes) {
    dv_value error = vm->error;
    if (dv_is_empty(error) || dv_is_empty(classes)) return false;
    vm->error = DV_EMPTY;
    int matches = dv_exception_match(vm, error, classes);
    dv_error_clear(vm);
    vm->error = error;
    return matches > 0;
}

dvx_value dv_api_fetch_error(dvx_vm *vm) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    return error;
}

void dv_api_clear_error(dvx_vm *vm) { dv_error_clear(vm); }

void dv_api_report_error(dvx_vm *vm, const char *message) {
    if (dv_is_empty(vm->error)) return;
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    dv_value text = dv_api_make_str(vm, message, strlen(message));
    dv_error_clear(vm);
    vm->error = error;
    dv_hook_unraisable(vm, dv_is_empty(text) ? DV_NONE : text, DV_NONE);
    dv_release(vm, text);
}

/* ---- Warnings ---- */

bool dv_api_warn(dvx_vm *vm, dvx_value class_, const char *message) {
    if (!dv_api_given(vm, class_)) return false;
    dv_api_effect(vm);
    return dv_warn_here(vm, class_, message);
}

/* ---- Memory, time, stack, state ---- */

void *dv_api_allocate(dvx_vm *vm, size_t size) {
    void *block = dv_heap_alloc(&vm->heap, size);
    if (!block) dv_raise_memory(vm);
    return block;
}

void *dv_api_resize(dvx_vm *vm, void *block, size_t old_size, size_t new_size) {
    void *moved = dv_heap_resize(&vm->heap, block, old_size, new_size);
    if (!moved) dv_raise_memory(vm);
    return moved;
}

void dv_api_deallocate(dvx_vm *vm, void *block, size_t size) {
    if (block) dv_heap_free(&vm->heap, block, size);
}

bool dv_api_poll(dvx_vm *vm) { return dv_work_poll(vm); }
_Static_assert(!offsetof(dv_vm, api) && offsetof(dv_vm, work_left) == sizeof(void *),
               "extensions know these two members (dvx_vm)");
bool dv_api_work(dvx_vm *vm, int64_t units) { return dv_work(vm, units); }

void dv_api_heavy(dvx_vm *vm) {
    if (vm->fp != vm->stack) dv_thread_hasten(dv_frame_thread(vm->fp));
}

bool dv_api_enter(dvx_vm *vm) { return dv_enter_native(vm); }
void dv_api_leave(dvx_vm *vm) { dv_leave_native(vm); }

void *dv_api_state(dvx_vm *vm, const struct dvx_extension *extension) {
    for (const dv_extension *e = vm->extensions.plugins->extensions; e; e = e->next)
        if (e->descriptor == extension) return e->state;
    return NULL;
}
