/* bridge.c: the host as an extension of its own VM (dynvm.h, "The host is an extension"), and
 * errors as values.
 *
 * What passes between the two headers goes through here: a dvx_value is a value of the VM, or what
 * the debug table has made of it, and a dynvm_value a handle on one. */
#include "api/error.h"
#include "api/handle.h"
#include "core/native.h"
#include "core/upcall.h"
#include "plugin/debug.h"
#include "plugin/plugin.h"
#include "plugin/table.h"
#include "types/exception/exception.h"

/* As dynvm_ext.h has it without DVX_NATIVE. */
struct dvx_value {
    uint64_t bits;
};

static dv_value value_of(struct dvx_value v) { return (dv_value){v.bits}; }

/* ---- Registering ---- */

/* The host's `init` in the terms of this room. */
_Static_assert(sizeof(struct dvx_value) == sizeof(dv_value), "both are one word");

dynvm_status dynvm_add_extension(dynvm_vm *self, const char *name,
                                 bool (*init)(struct dvx_vm *vm, struct dvx_value module)) {
    if (!dv_host_begin(self)) return DYNVM_ERROR;
    bool good = dv_plugin_add(self->vm, name, (dv_plugin_init *)(void (*)(void))init);
    if (!good) dv_host_failed(self);
    return good ? DYNVM_OK : DYNVM_ERROR;
}

struct dvx_vm *dynvm_extension_vm(dynvm_vm *self) {
    return (struct dvx_vm *)(void *)self->vm;
}

dynvm_vm *dynvm_of_extension(struct dvx_vm *vm) { return ((dv_vm *)(void *)vm)->host; }

/* ---- Values ---- */

/* The value that an extension's word stands for, borrowed. */
static dv_value used(dv_vm *vm, dv_value v) {
    if (DV_LIKELY(!vm->extensions.plugins->debug)) return v;
    dv_debug_call call = dv_debug_called(vm, "dynvm_wrap");
    v = dv_debug_use(&call, v, true);
    return dv_debug_allowed(&call, true) ? v : DV_EMPTY;
}

dynvm_value dynvm_wrap(dynvm_vm *self, struct dvx_value v) {
    dv_native_attach(self->vm);
    dv_value value = used(self->vm, value_of(v));
    if (!dv_is_empty(value)) return dv_host_made(self, dv_retain(value));
    dv_host_failed(self);
    return DV_NO_HANDLE;
}

/* The failure is raised: the function of the host that returns now has failed. */
static dv_value raise_failure(dynvm_vm *self) {
    dv_vm *vm = self->vm;
    if (dv_is_empty(vm->error)) {
        vm->error = self->failure;
        self->failure = DV_EMPTY;
    }
    return DV_EMPTY;
}

struct dvx_value dynvm_unwrap(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) value = raise_failure(self);
    if (self->vm->extensions.plugins->debug) {
        dv_debug_call call = dv_debug_called(self->vm, "dynvm_unwrap");
        value = dv_debug_made(&call, value);
    }
    return (struct dvx_value){value.bits};
}

dynvm_value dynvm_make_object(dynvm_vm *self, const struct dvx_type *type, void **payload) {
    *payload = NULL;
    if (!dv_host_begin(self)) return DV_NO_HANDLE;
    return dv_host_made(self, dv_api_make_object(self->vm, type, payload));
}

void *dynvm_payload(dynvm_vm *self, dynvm_value v, const struct dvx_type *type) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return NULL;
    void *payload = dv_api_check_payload(self->vm, value, type);
    if (!payload) dv_host_failed(self);
    dv_host_give_back(self, &value, 1);
    return payload;
}

/* ---- Errors ---- */

dynvm_value dynvm_take_exception(dynvm_vm *self) {
    dv_value exception = self->failure;
    if (dv_is_empty(exception) || !dv_host_begin(self)) return DV_NO_HANDLE;
    self->failure = DV_EMPTY;
    return dv_host_made(self, exception);
}

dynvm_error *dynvm_describe_exception(dynvm_vm *self, dynvm_value v) {
    dv_value value;
    if (!dv_host_take(self, &v, &value, 1)) return NULL;
    dynvm_error *error = dv_is_exception(value) ? dv_error_describe(self->vm, value) : NULL;
    dv_host_give_back(self, &value, 1);
    return error;
}
