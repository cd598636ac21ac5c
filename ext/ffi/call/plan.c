/* plan.c: libffi's description of calls (plan.h). */
#include "call/plan.h"

#include "call/call.h"
#include "ctype/layout.h"

static size_t round_up(size_t n) { return (n + PLAN_STRIDE - 1) / PLAN_STRIDE * PLAN_STRIDE; }

void call_plan_free(dvx_vm *vm, struct call_plan *plan) {
    vm->api->deallocate(vm, plan->types, (plan->count + 1) * sizeof *plan->types);
    vm->api->deallocate(vm, plan->offsets, (plan->count + 1) * sizeof *plan->offsets);
    vm->api->deallocate(vm, plan, sizeof *plan);
}

static bool describe(dvx_vm *vm, struct call_plan *plan, ctype *const *types) {
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->types[i] = layout_foreign(vm, types[i], "argument");
        if (!plan->types[i]) return false;
        plan->offsets[i] = plan->size;
        plan->size += round_up((size_t)types[i]->size);
    }
    return true;
}

static struct call_plan *make(dvx_vm *vm, ctype *function, ctype *const *types, uint32_t count) {
    struct call_plan *plan = ffi_new(vm, sizeof *plan);
    if (!plan) return NULL;
    plan->count = count;
    plan->types = ffi_new(vm, (count + 1) * sizeof *plan->types);
    plan->offsets = plan->types ? ffi_new(vm, (count + 1) * sizeof *plan->offsets) : NULL;
    ffi_type *result = plan->offsets ? layout_foreign(vm, function->item, "return value") : NULL;
    if (result) {
        int64_t size = function->item->size;
        plan->size = round_up(size > 16 ? (size_t)size : 16);
        if (describe(vm, plan, types)) {
            ffi_status status =
                function->ellipsis
                    ? ffi_prep_cif_var(&plan->cif, FFI_DEFAULT_ABI, function->parameter_count,
                                       count, result, plan->types)
                    : ffi_prep_cif(&plan->cif, FFI_DEFAULT_ABI, count, result, plan->types);
            if (status == FFI_OK) return plan;
            vm->api->raise(vm, DVX_SYSTEM_ERROR, "libffi failed to build this function type");
        }
    }
    if (!plan->types) plan->count = 0;
    if (plan->types && !plan->offsets)
        vm->api->deallocate(vm, plan->types, (count + 1) * sizeof *plan->types), plan->types = NULL;
    call_plan_free(vm, plan);
    return NULL;
}

/* A letter for what the ABI does with a type; 0: no trampoline passes it. */
static char letter_of(const ctype *type) {
    if (ctype_is_pointer(type)) return 'n';
    switch (type->kind) {
    case CTYPE_VOID: return 'v';
    case CTYPE_FLOAT: return type->size == sizeof(double) ? 'd' : 'f';
    case CTYPE_SIGNED:
    case CTYPE_UNSIGNED:
    case CTYPE_ENUM: return type->size >= 4 ? 'n' : 0; /* (ABIs disagree about smaller ones) */
    default: return 0;
    }
}

static plan_trampoline find_trampoline(const ctype *function) {
    char signature[16];
    uint32_t count = function->parameter_count;
    if (count + 3 > sizeof signature) return NULL;
    signature[0] = letter_of(function->item);
    signature[1] = ':';
    for (uint32_t i = 0; i < count; i++) signature[i + 2] = letter_of(function->parameters[i]);
    signature[count + 2] = 0;
    if (!signature[0] || strlen(signature) != count + 2) return NULL;
    return plan_find_trampoline(signature);
}

struct call_plan *plan_of(dvx_vm *vm, ctype *function) {
    if (function->plan) return function->plan;
    struct call_plan *plan = make(vm, function, function->parameters, function->parameter_count);
    if (plan) plan->trampoline = find_trampoline(function);
    return function->plan = plan;
}

struct call_plan *plan_variadic(dvx_vm *vm, ctype *function, ctype *const *types, uint32_t count) {
    return make(vm, function, types, count);
}
