/* callback.c: libffi's closures around functions of dl (callback.h). */
#include "call/callback.h"

#include <errno.h>
#include <stdlib.h>

#include "data/convert.h"
#include "call/plan.h"

struct callback {
    dvx_vm *vm;
    ctype *function;
    ffi_closure *closure;
    cdata *owner;
    bool has_onerror; /* the owner's second value is one */
    size_t result_size;
    char *error_result; /* result_size bytes: what C gets after an error */
};

/* ---- The result ---- */

/* Writes what libffi expects: small integers as a whole register. */
static bool put_result(dvx_vm *vm, const struct callback *cb, char *to, dvx_value v) {
    ctype *type = cb->function->item;
    if (type->kind == CTYPE_VOID) {
        if (vm->api->kind(vm, v) == DVX_NONE) return true;
        return ffi_fail(vm, DVX_TYPE_ERROR,
                        "callback with the return type 'void' must return None");
    }
    if (!convert_write(vm, type, to, v)) return false;
    bool small = (ctype_is_integer(type) || type->kind == CTYPE_CHAR) &&
                 type->size < (int64_t)sizeof(ffi_arg);
    if (!small) return true;
    uint64_t bits = type->is_signed ? (uint64_t)convert_load_signed(to, type->size)
                                    : convert_load_unsigned(to, type->size);
    convert_store(to, sizeof(ffi_arg), bits);
    return true;
}

/* ---- Errors ---- */

static const char from_callback[] = "Exception ignored from cffi callback ";

/* The error is told to sys.unraisablehook. */
static void tell(dvx_vm *vm, const struct callback *cb, const char *after) {
    cdata_unraisable(vm, from_callback, cb->owner->first, after);
}

/* onerror(class, error, traceback), whose result may be C's. */
static void ask_onerror(dvx_vm *vm, const struct callback *cb, char *to, const char *after) {
    dvx_value error = vm->api->fetch_error(vm);
    dvx_value args[] = {vm->api->class_of(vm, error), error,
                        vm->api->get_attribute(vm, error, "__traceback__")};
    dvx_value answer = vm->api->call(vm, cb->owner->second, args, 3);
    bool good = !dvx_failed(answer) &&
                (vm->api->kind(vm, answer) == DVX_NONE || put_result(vm, cb, to, answer));
    vm->api->release(vm, answer);
    if (!good) {
        dvx_value second = vm->api->fetch_error(vm);
        memcpy(to, cb->error_result, cb->result_size);
        vm->api->raise_error(vm, error);
        tell(vm, cb, after);
        vm->api->raise_error(vm, second);
        cdata_unraisable(vm,
                         "Exception ignored during handling of the above exception by 'onerror'",
                         DVX_FAILED, "");
        vm->api->release(vm, second);
    }
    vm->api->release(vm, args[0]);
    vm->api->release(vm, args[2]);
    vm->api->release(vm, error);
}

static void failed(dvx_vm *vm, const struct callback *cb, char *to, const char *after) {
    memcpy(to, cb->error_result, cb->result_size);
    if (cb->has_onerror)
        ask_onerror(vm, cb, to, after);
    else
        tell(vm, cb, after);
}

/* ---- What C calls ---- */

/* A struct argument lies in libffi's memory, which ends with the call. */
static dvx_value argument(dvx_vm *vm, ctype *type, char *data) {
    if (!ctype_is_record(type)) return convert_read(vm, type, data, NULL);
    cdata_block *block = cdata_new_block(vm, (size_t)type->size);
    if (!block) return DVX_FAILED;
    memcpy(block->data, data, (size_t)type->size);
    cdata *made;
    dvx_value v = cdata_make_at(vm, type, block->data, block, &made);
    if (!dvx_failed(v)) made->role = CDATA_OWNING;
    cdata_drop_block(vm, block);
    return v;
}

static dvx_value call_dl(dvx_vm *vm, const struct callback *cb, void **values) {
    dvx_value few[8], *args = few;
    uint32_t count = cb->function->parameter_count, i;
    if (count > LENGTH_OF(few)) args = vm->api->allocate(vm, count * sizeof *args);
    if (!args) return DVX_FAILED;
    dvx_value result = DVX_FAILED;
    for (i = 0; i < count; i++) {
        args[i] = argument(vm, cb->function->parameters[i], values[i]);
        if (dvx_failed(args[i])) break;
    }
    if (i == count) result = vm->api->call(vm, cb->owner->first, args, count);
    while (i > 0) vm->api->release(vm, args[--i]);
    if (args != few) vm->api->deallocate(vm, args, count * sizeof *args);
    return result;
}

static void enter(ffi_cif *cif, void *result, void **values, void *context) {
    (void)cif;
    struct callback *cb = context;
    dvx_vm *vm = cb->vm;
    ffi_state *state = cb->function->state;
    state->saved_errno = errno;
    dvx_value keep = vm->api->retain(vm, cb->owner->first); /* the callback may end in its call */
    if (vm->api->enter(vm)) {
        dvx_value made = call_dl(vm, cb, values);
        vm->api->leave(vm);
        if (dvx_failed(made))
            failed(vm, cb, result, "");
        else if (!put_result(vm, cb, result, made))
            failed(vm, cb, result, ", trying to convert the result back to C");
        vm->api->release(vm, made);
    } else {
        failed(vm, cb, result, "");
    }
    vm->api->release(vm, keep);
    errno = state->saved_errno;
}

/* ---- Making ---- */

void callback_free(dvx_vm *vm, struct callback *cb) {
    if (cb->closure) ffi_closure_free(cb->closure);
    vm->api->deallocate(vm, cb->error_result, cb->result_size);
    vm->api->deallocate(vm, cb, sizeof *cb);
}

static bool is_callable(dvx_vm *vm, dvx_value v) {
    dvx_value callable = vm->api->builtin(vm, "callable"),
              answer = vm->api->call(vm, callable, &v, 1);
    bool good = !dvx_failed(answer) && vm->api->truth(vm, answer) > 0;
    vm->api->release(vm, callable);
    vm->api->release(vm, answer);
    return good;
}

static bool check(dvx_vm *vm, const ctype *type, dvx_value function, dvx_value onerror) {
    char name[FFI_NAME];
    if (type->kind != CTYPE_FUNCTION_POINTER)
        return ffi_fail(vm, DVX_TYPE_ERROR, "expected a function ctype, got '%s'", type->name);
    if (!is_callable(vm, function))
        return ffi_fail(vm, DVX_TYPE_ERROR, "expected a callable object, not %s",
                        ffi_class_name(vm, function, name));
    if (vm->api->kind(vm, onerror) != DVX_NONE && !is_callable(vm, onerror))
        return ffi_fail(vm, DVX_TYPE_ERROR, "expected a callable object for 'onerror', not %s",
                        ffi_class_name(vm, onerror, name));
    return true;
}

static void refuse_callback(dvx_vm *vm, const ctype *type) {
    ffi_fail(vm, DVX_NOT_IMPLEMENTED_ERROR,
             "%s: callback with unsupported argument or return type or with '...'", type->name);
}

static struct call_plan *plan_callback(dvx_vm *vm, const ctype *type) {
    if (type->item->ellipsis) return refuse_callback(vm, type), NULL;
    dvx_value unsupported = vm->api->error_class(vm, DVX_NOT_IMPLEMENTED_ERROR);
    struct call_plan *plan = dvx_failed(unsupported) ? NULL : plan_of(vm, type->item);
    if (!plan && vm->api->error_matches(vm, unsupported)) {
        vm->api->clear_error(vm);
        refuse_callback(vm, type);
    }
    vm->api->release(vm, unsupported);
    return plan;
}

static bool prepare(dvx_vm *vm, struct callback *cb, ctype *type, dvx_value error, void **code) {
    struct call_plan *plan = plan_callback(vm, type);
    if (!plan) return false;
    int64_t size = type->item->item->size;
    cb->vm = vm;
    cb->function = type->item;
    cb->result_size = size > (int64_t)sizeof(ffi_arg) ? (size_t)size : sizeof(ffi_arg);
    cb->error_result = ffi_new(vm, cb->result_size);
    if (!cb->error_result) return false;
    if (vm->api->kind(vm, error) != DVX_NONE && !put_result(vm, cb, cb->error_result, error))
        return false;
    cb->closure = ffi_closure_alloc(sizeof *cb->closure, code);
    if (!cb->closure) {
        vm->api->raise(
            vm, DVX_MEMORY_ERROR,
            "Cannot allocate write+execute memory for ffi.callback(). You might be running on a "
            "system that prevents this. For more information, see "
            "https://cffi.readthedocs.io/en/latest/using.html#callbacks");
        return false;
    }
    if (ffi_prep_closure_loc(cb->closure, &plan->cif, enter, cb, *code) == FFI_OK) return true;
    return ffi_fail(vm, DVX_SYSTEM_ERROR, "libffi failed to build this callback");
}

dvx_value callback_new(dvx_vm *vm, ctype *type, dvx_value function, dvx_value error,
                       dvx_value onerror) {
    void *code = NULL;
    cdata *made;
    if (!check(vm, type, function, onerror)) return DVX_FAILED;
    struct callback *cb = ffi_new(vm, sizeof *cb);
    if (!cb) return DVX_FAILED;
    dvx_value v = prepare(vm, cb, type, error, &code) ? cdata_make_at(vm, type, code, NULL, &made)
                                                      : DVX_FAILED;
    if (dvx_failed(v)) {
        callback_free(vm, cb);
        return v;
    }
    cb->owner = made;
    cb->has_onerror = vm->api->kind(vm, onerror) != DVX_NONE;
    made->first = vm->api->retain(vm, function);
    made->second = vm->api->retain(vm, onerror);
    made->callback = cb;
    made->role = CDATA_CALLBACK;
    return v;
}
