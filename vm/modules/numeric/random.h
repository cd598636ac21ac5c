/* random.h: what the files of the module random share. */
#ifndef DV_MODULES_RANDOM_H
#define DV_MODULES_RANDOM_H

#include "core/vm.h"
#include "base/twister.h"
#include "types/callable/arguments.h"

typedef struct dv_random {
    dv_object header;
    bool has_gauss; /* gauss() makes two numbers at a time */
    double gauss_next;
    dv_twister twister;
} dv_random;

extern const dv_type dv_random_type;

static inline dv_random *dv_as_random(dv_value v) { return (dv_random *)dv_as_object(v); }

/* Uniform below n (not 0), from as many bits as n has, as often as it takes. */
uint64_t dv_random_below(dv_random *r, uint64_t n);

/* Methods of the other files. */
#define DV_RANDOM_DISTRIBUTIONS(X) \
    X(uniform)                     \
    X(triangular)                  \
    X(normalvariate)               \
    X(gauss)                       \
    X(lognormvariate)              \
    X(expovariate)                 \
    X(vonmisesvariate)             \
    X(gammavariate)                \
    X(betavariate)                 \
    X(paretovariate)               \
    X(weibullvariate)
#define DV_RANDOM_CHOICES(X) \
    X(choice)                \
    X(shuffle)               \
    X(sample)                \
    X(choices)
#define DV_RANDOM_DECLARE(name) \
    dv_value dv_random_##name(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
DV_RANDOM_DISTRIBUTIONS(DV_RANDOM_DECLARE)
DV_RANDOM_CHOICES(DV_RANDOM_DECLARE)

/* Binds the arguments of Random.NAME; `names` begins with "self". */
#define DV_RANDOM_BIND(name_, required_, positional_, ...)                                      \
    static const char *const parameter_names[] = {"self", __VA_ARGS__};                         \
    enum { parameter_count = sizeof parameter_names / sizeof *parameter_names };                \
    static const dv_parameters parameters = {"Random." name_, parameter_names, parameter_count, \
                                             positional_, required_};                           \
    dv_value given[parameter_count];                                                            \
    if (!dv_arguments_bind(vm, &parameters, args, count, keywords, given)) return DV_EMPTY

#endif
