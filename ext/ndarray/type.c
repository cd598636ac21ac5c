/* type.c: the types `ndarray` and `generic` (scalars), put together from the files that have their
 * methods (methods.h). */
#include "array/convert.h"
#include "array/create.h"
#include "site/derive.h"
#include "index/index.h"
#include "index/iterate.h"
#include "array/memory.h"
#include "array/methods.h"
#include "ufunc/operators.h"
#include "array/print.h"

static void release(dvx_vm *vm, void *payload) {
    nd_array *a = payload;
    if (a->memory) memory_give(vm, a->memory, a->memory_size);
    if (UNLIKELY(a->axes != a->few && a->axes))
        vm->api->deallocate(vm, a->axes, (size_t)a->ndim * sizeof *a->axes);
    if (a->flags & (ND_HAS_BASE | ND_RESIZED))
        vm->api->release(vm, a->base);
    else if (UNLIKELY(a->flags & ND_LENT))
        vm->api->buffer_release(vm, &(dvx_view){.owner = a->base});
}

#define ADDRESS_METHOD(name)    &method_##name,
#define ADDRESS_ATTRIBUTE(name) &attribute_##name,
static const dvx_function *const array_methods[] = {ND_COMMON_METHODS(ADDRESS_METHOD)
                                                        ND_ARRAY_METHODS(ADDRESS_METHOD)};
static const dvx_function *const scalar_methods[] = {ND_COMMON_METHODS(ADDRESS_METHOD)
                                                         ADDRESS_METHOD(__round__)};
static const dvx_attribute *const attributes[] = {ND_ATTRIBUTES(ADDRESS_ATTRIBUTE)};

/* The rest of what a scalar has (lib/scalars.dl): 1, 0, -1. */
static int find_attribute(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    const dvx_value args[2] = {self, name};
    *out = nd_call_library(vm, "_ndarray.scalars", "find", args, 2);
    if (dvx_failed(*out)) return -1;
    if (vm->api->kind(vm, *out) != DVX_NOT_IMPLEMENTED) return 1;
    vm->api->release(vm, *out);
    *out = DVX_FAILED;
    return 0;
}

/* As the number that it is. */
static bool hash(dvx_vm *vm, dvx_value self, int64_t *out) {
    dvx_value number = convert_to_list(vm, array_of(vm, self));
    const bool good = !dvx_failed(number) && vm->api->hash(vm, number, out);
    vm->api->release(vm, number);
    return good;
}

/* What both types have. */
#define COMMON(methods_)                                                                   \
    .size = sizeof(dvx_type), .payload = sizeof(nd_array), .release = release,             \
    .method_count = LENGTH_OF(methods_), .methods = methods_,                              \
    .attribute_count = LENGTH_OF(attributes), .attributes = attributes,                    \
    .buffer = offsetof(nd_array, data), .buffer_axes = ND_FEW, .binary = operators_binary, \
    .inplace = operators_inplace, .unary = operators_unary, .compare = operators_compare,  \
    .binary_operators = OPERATORS_BINARY, .inplace_operators = OPERATORS_INPLACE,          \
    .unary_operators = OPERATORS_UNARY

const dvx_type array_type = {COMMON(array_methods),
                             .name = "ndarray",
                             .decide = attributes_truth,
                             .initialise = create_empty,
                             .parameters = &create_empty_parameters,
                             .repr = print_array_repr,
                             .str = print_array_str,
                             .format = print_array_format,
                             .traits = DVX_BUFFER_ITEMS | DVX_OWN_ITEMS | DVX_NUMBER_ITEMS,
                             .specialise = derive_array,
                             .length = iterate_length,
                             .iterate = iterate_start,
                             .contains = iterate_contains,
                             .get_item = index_get,
                             .set_item = index_set,
                             .delete_item = index_delete};
const dvx_type scalar_type = {COMMON(scalar_methods),
                              .name = "generic",
                              .truth = attributes_scalar_truth,
                              .hash = hash,
                              .find_attribute = find_attribute,
                              .specialise = derive_scalars,
                              .repr = print_scalar,
                              .format = print_scalar_format,
                              .get_item = index_get_scalar};

bool nd_add_all(dvx_vm *vm, dvx_value module, const dvx_function *functions, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!vm->api->add_function(vm, module, &functions[i])) return false;
    return true;
}

bool array_register(dvx_vm *vm, dvx_value module) {
    return vm->api->add_type(vm, module, &array_type) &&
           vm->api->add_type(vm, module, &scalar_type) && array_make_truths(vm, module);
}
