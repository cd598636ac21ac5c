/* handle.c: ffi.new_handle and ffi.from_handle: objects of dl behind a void * (cdata.h).
 *
 * The pointer is the address of the cdata's payload, which C only passes around.  Live handles are
 * found by address, so that a pointer to one that is gone is detected and never used. */
#include "data/cdata.h"

#include <stdint.h>

static cdata **bucket(const ffi_state *state, const char *address) {
    uint64_t hash = ((uint64_t)(uintptr_t)address >> 4) * 0x9E3779B97F4A7C15u;
    return &state->handles[hash >> 32 & (state->handle_size - 1)];
}

static bool reserve(dvx_vm *vm, ffi_state *state) {
    if (state->handle_count < state->handle_size) return true;
    uint32_t old_size = state->handle_size, size = old_size ? old_size * 2 : 16;
    cdata **old = state->handles, **table = ffi_new(vm, size * sizeof *table), *next;
    if (!table) return false;
    state->handles = table;
    state->handle_size = size;
    for (uint32_t i = 0; i < old_size; i++)
        for (cdata *c = old[i]; c; c = next) {
            cdata **head = bucket(state, c->data);
            next = c->chained;
            c->chained = *head;
            *head = c;
        }
    vm->api->deallocate(vm, old, old_size * sizeof *old);
    return true;
}

dvx_value handle_new(dvx_vm *vm, dvx_value object) {
    ffi_state *state = ffi_state_of(vm);
    cdata *c;
    if (!reserve(vm, state)) return DVX_FAILED;
    dvx_value made = cdata_make_at(vm, state->void_pointer, NULL, NULL, &c);
    if (dvx_failed(made)) return made;
    c->data = (char *)c;
    c->role = CDATA_HANDLE;
    c->first = vm->api->retain(vm, object);
    cdata **head = bucket(state, c->data);
    c->chained = *head;
    *head = c;
    state->handle_count++;
    return made;
}

dvx_value handle_find(dvx_vm *vm, const cdata *c) {
    ffi_state *state = ffi_state_of(vm);
    if (!ctype_is_void_pointer(c->type))
        return ffi_raise(vm, DVX_TYPE_ERROR,
                         "expected a 'cdata' object with a 'void *' out of new_handle(), got '%s'",
                         c->type->name);
    if (!c->data)
        return ffi_raise(vm, DVX_RUNTIME_ERROR, "cannot use from_handle() on NULL pointer");
    cdata *found = state->handle_size ? *bucket(state, c->data) : NULL;
    while (found && found->data != c->data) found = found->chained;
    if (found) return vm->api->retain(vm, found->first);
    return ffi_raise(vm, DVX_SYSTEM_ERROR,
                     "ffi.from_handle() detected that the address passed points to garbage. If it "
                     "is really the result of ffi.new_handle(), then the Python object has already "
                     "been garbage collected");
}

void handle_forget(dvx_vm *vm, cdata *c) {
    ffi_state *state = ffi_state_of(vm);
    cdata **at = bucket(state, c->data);
    while (*at && *at != c) at = &(*at)->chained;
    if (!*at) return;
    *at = c->chained;
    state->handle_count--;
}
