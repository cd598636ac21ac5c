/* methods.h: the methods and attributes of arrays.  Each is a constant of the file that has its
 * code, made with ND_METHOD or ND_ATTRIBUTE; type.c puts them all into the types by the lists here.
 *
 * Invariants
 *  1. A method gets self, an array or a scalar, in args[0]; DVX_FAILED stands for what the call
 *     leaves out. */
#ifndef ND_METHODS_H
#define ND_METHODS_H

#include "array/array.h"

/* Parameters by name: ND_PARAMETERS(sum_parameters, required, "axis", "dtype", "out", "keepdims");
 */
#define ND_PARAMETERS(list, required, ...)                                                \
    static const char *const list##_names[] = {__VA_ARGS__};                              \
    static const dvx_parameters list = {sizeof(dvx_parameters), list##_names,             \
                                        LENGTH_OF(list##_names), LENGTH_OF(list##_names), \
                                        required}

/* A function of the module with a list of parameters, or (ND_PLAIN) so many arguments by position.
 */
#define ND_NAMED(name_, entry_, list) \
    { .size = sizeof(dvx_function), .name = name_, .entry = entry_, .parameters = &(list) }
#define ND_SHOWN(name_, entry_, list)                                                        \
    {                                                                                        \
        .size = sizeof(dvx_function), .name = name_, .entry = entry_, .parameters = &(list), \
        .shown = true                                                                        \
    }
#define ND_DERIVED(name_, entry_, list, derivatives_)                                        \
    {                                                                                        \
        .size = sizeof(dvx_function), .name = name_, .entry = entry_, .parameters = &(list), \
        .derivatives = derivatives_, .derivative_count = LENGTH_OF(derivatives_)             \
    }
#define ND_PLAIN(name_, entry_, min_, max_) \
    { .size = sizeof(dvx_function), .name = name_, .entry = entry_, .min = min_, .max = max_ }
#define ND_ANY UINT32_MAX

/* Adds each function of an array to the module. */
#define ND_ADD_ALL(functions) nd_add_all(vm, module, functions, LENGTH_OF(functions))
bool nd_add_all(dvx_vm *vm, dvx_value module, const dvx_function *functions, size_t count);

#define ND_METHOD(name, ...) const dvx_function method_##name = __VA_ARGS__
#define ND_ATTRIBUTE(name, g, s) \
    const dvx_attribute attribute_##name = {sizeof(dvx_attribute), #name, g, s}

/* (One to a line, so that additions do not meet.) */
/* clang-format off */
/* Of both types. */
#define ND_COMMON_METHODS(X) \
    X(absolute) \
    X(conj) \
    X(conjugate) \
    X(max) \
    X(min) \
    X(any) \
    X(all) \
    X(argmax) \
    X(argmin) \
    X(clip) \
    X(round) \
    X(__int__) \
    X(__float__) \
    X(__complex__) \
    X(__index__) \
    X(__copy__) \
    X(__deepcopy__) \
    X(reshape) \
    X(ravel) \
    X(flatten) \
    X(repeat) \
    X(nonzero) \
    X(tolist) \
    X(item) \
    X(astype) \
    X(copy) \
    X(tobytes)

/* Of arrays; those that scalars have, too, come to them by lib/scalars.dl. */
#define ND_ARRAY_METHODS(X) \
    X(sum) \
    X(prod) \
    X(ptp) \
    X(mean) \
    X(var) \
    X(std) \
    X(cumsum) \
    X(cumprod) \
    X(dot) \
    X(sort) \
    X(argsort) \
    X(resize) \
    X(partition) \
    X(argpartition) \
    X(searchsorted) \
    X(trace) \
    X(transpose) \
    X(view) \
    X(tofile) \
    X(swapaxes) \
    X(squeeze) \
    X(diagonal) \
    X(take) \
    X(put) \
    X(compress) \
    X(choose) \
    X(setflags) \
    X(fill)

#define ND_ATTRIBUTES(X) \
    X(shape) \
    X(strides) \
    X(ndim) \
    X(size) \
    X(itemsize) \
    X(nbytes) \
    X(dtype) \
    X(base) \
    X(T) \
    X(flat) \
    X(real) \
    X(imag) \
    X(flags) \
    X(_readable) \
    X(_writable) \
    X(_number)
/* What adds the functions, types and constants of a file to the module: X_register. */
#define ND_REGISTRATIONS(X) \
    X(dtype) \
    X(array) \
    X(error) \
    X(ufunc) \
    X(reductions) \
    X(matmul) \
    X(order) \
    X(partition) \
    X(random) \
    X(linalg) \
    X(calculus) \
    X(histogram) \
    X(select) \
    X(create) \
    X(iterate) \
    X(shape) \
    X(join) \
    X(arrange) \
    X(extra)
/* clang-format on */

/* The slot `decide` of both types. */
int attributes_truth(dvx_vm *vm, dvx_value self);
bool attributes_scalar_truth(const void *payload);

#define ND_DECLARE_METHOD(name)       extern const dvx_function method_##name;
#define ND_DECLARE_ATTRIBUTE(name)    extern const dvx_attribute attribute_##name;
#define ND_DECLARE_REGISTRATION(name) bool name##_register(dvx_vm *vm, dvx_value module);
ND_COMMON_METHODS(ND_DECLARE_METHOD)
ND_ARRAY_METHODS(ND_DECLARE_METHOD)
ND_DECLARE_METHOD(__round__)
ND_ATTRIBUTES(ND_DECLARE_ATTRIBUTE)
ND_REGISTRATIONS(ND_DECLARE_REGISTRATION)

#endif
