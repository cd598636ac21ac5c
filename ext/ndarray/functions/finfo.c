/* finfo.c: iinfo, finfo, promote_types, result_type, can_cast, isscalar, iscomplexobj, isrealobj
 * (finfo.h).
 *
 * Invariants
 *  1. The payload of iinfo and finfo is a dtype; NULL, as in one of zeros, counts as int64 or
 *     float64. */
#include "functions/finfo.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "array/convert.h"
#include "array/methods.h"
#include "loops/cast.h"

typedef struct limits {
    const nd_dtype *dtype;
} limits;

static const dvx_type iinfo_type, finfo_type;

/* The dtype that v names or, if it names none, is of; NULL: neither, and nothing is raised. */
static const nd_dtype *dtype_of(dvx_vm *vm, dvx_value v) {
    const nd_array *a = array_of(vm, v);
    if (a) return a->dtype;
    const nd_dtype *d = convert_kind(vm, v);
    if (d) return d;
    d = dtype_read(vm, v);
    if (!d) vm->api->clear_error(vm);
    return d;
}

/* ---- iinfo ---- */

static bool make_iinfo(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)count;
    limits *l = vm->api->payload(vm, self, &iinfo_type);
    const nd_array *a = vm->api->payload(vm, args[0], &array_type);
    const nd_dtype *d = dtype_of(vm, args[0]);
    if (a || !d) return nd_fail(vm, DVX_VALUE_ERROR, "Invalid integer data type 'O'.");
    if (d->kind != 'i' && d->kind != 'u')
        return nd_fail(vm, DVX_VALUE_ERROR, "Invalid integer data type '%c'.", d->kind);
    l->dtype = d;
    return true;
}

static const nd_dtype *int_of(dvx_vm *vm, dvx_value self) {
    const limits *l = vm->api->payload(vm, self, &iinfo_type);
    return l->dtype ? l->dtype : ND_DTYPE(ND_INT64);
}
static int64_t least(const nd_dtype *d) {
    return d->kind == 'u' ? 0 : INT64_MIN >> (64 - 8 * d->size);
}
static uint64_t most(const nd_dtype *d) {
    return UINT64_MAX >> (64 - 8 * d->size + (d->kind == 'i'));
}

#define GET(of, variable, name_, value)                                              \
    static dvx_value get_##variable(dvx_vm *vm, dvx_value self) {                    \
        const nd_dtype *d = of(vm, self);                                            \
        return value;                                                                \
    }                                                                                \
    static const dvx_attribute attribute_##variable = {sizeof(dvx_attribute), name_, \
                                                       get_##variable, NULL}
GET(int_of, imin, "min", vm->api->make_int(vm, least(d)));
GET(int_of, imax, "max", vm->api->make_uint(vm, most(d)));
GET(int_of, ibits, "bits", vm->api->make_int(vm, 8 * d->size));
GET(int_of, idtype, "dtype", dtype_object(vm, d));
GET(int_of, ikind, "kind", vm->api->make_str(vm, &d->kind, 1));
static dvx_value get_key(dvx_vm *vm, dvx_value self) {
    char text[16];
    const nd_dtype *d = int_of(vm, self);
    snprintf(text, sizeof text, "%c%d", d->kind, 8 * d->size);
    return nd_str(vm, text);
}
static const dvx_attribute attribute_key = {sizeof(dvx_attribute), "key", get_key, NULL};

static dvx_value show_iinfo(dvx_vm *vm, dvx_value self) {
    char text[128];
    const nd_dtype *d = int_of(vm, self);
    snprintf(text, sizeof text, "iinfo(min=%lld, max=%llu, dtype=%s)", (long long)least(d),
             (unsigned long long)most(d), d->name);
    return nd_str(vm, text);
}
#define LINE "---------------------------------------------------------------\n"
static dvx_value describe_iinfo(dvx_vm *vm, dvx_value self) {
    char text[400];
    const nd_dtype *d = int_of(vm, self);
    snprintf(text, sizeof text, "Machine parameters for %s\n" LINE "min = %lld\nmax = %llu\n" LINE,
             d->name, (long long)least(d), (unsigned long long)most(d));
    return nd_str(vm, text);
}

/* ---- finfo ---- */

static bool make_finfo(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)count;
    limits *l = vm->api->payload(vm, self, &finfo_type);
    const nd_dtype *d = dtype_of(vm, args[0]);
    if (!d) return dtype_read(vm, args[0]) != NULL;
    if (dtype_is_integer(d))
        return nd_fail(vm, DVX_VALUE_ERROR, "data type <class 'numpy.%s%s'> not inexact", d->name,
                       d->num == ND_BOOL ? "_" : "");
    l->dtype = ND_DTYPE(type_as_float(d->num));
    return true;
}

static const nd_dtype *float_of(dvx_vm *vm, dvx_value self) {
    const limits *l = vm->api->payload(vm, self, &finfo_type);
    return l->dtype ? l->dtype : ND_DTYPE(ND_FLOAT64);
}

/* Of float16, float32 and float64. */
#define OF(d, half, single, full) \
    ((d)->num == ND_FLOAT16 ? (half) : (d)->num == ND_FLOAT32 ? (single) : (full))
static dvx_value number(dvx_vm *vm, const nd_dtype *d, double x) {
    char element[sizeof x];
    cast_between(ND_DTYPE(ND_FLOAT64), d)(element, 0, (const char *)&x, 0, 1);
    return array_element(vm, d, element);
}
#define NUMBER(variable, name, half, single, full) \
    GET(float_of, variable, name, number(vm, d, OF(d, half, (double)(single), full)))
#define WHOLE(variable, name, half, single, full) \
    GET(float_of, variable, name, vm->api->make_int(vm, OF(d, half, single, full)))
NUMBER(fmin, "min", -65504.0, -FLT_MAX, -DBL_MAX);
NUMBER(fmax, "max", 65504.0, FLT_MAX, DBL_MAX);
NUMBER(eps, "eps", 0x1p-10, FLT_EPSILON, DBL_EPSILON);
NUMBER(epsneg, "epsneg", 0x1p-11, FLT_EPSILON / 2, DBL_EPSILON / 2);
NUMBER(tiny, "tiny", 0x1p-14, FLT_MIN, DBL_MIN);
NUMBER(normal, "smallest_normal", 0x1p-14, FLT_MIN, DBL_MIN);
NUMBER(subnormal, "smallest_subnormal", 0x1p-24, FLT_TRUE_MIN, DBL_TRUE_MIN);
NUMBER(resolution, "resolution", 1e-3, 1e-6f, 1e-15);
WHOLE(fbits, "bits", 16, 32, 64);
WHOLE(precision, "precision", 3, 6, 15);
WHOLE(nmant, "nmant", 10, 23, 52);
WHOLE(nexp, "nexp", 5, 8, 11);
WHOLE(iexp, "iexp", 5, 8, 11);
WHOLE(maxexp, "maxexp", 16, 128, 1024);
WHOLE(minexp, "minexp", -14, -126, -1022);
WHOLE(machep, "machep", -10, -23, -52);
WHOLE(negep, "negep", -11, -24, -53);
GET(float_of, fdtype, "dtype", dtype_object(vm, d));

static dvx_value show_finfo(dvx_vm *vm, dvx_value self) {
    const nd_dtype *d = float_of(vm, self);
    return nd_str(vm,
                  OF(d, "finfo(resolution=0.001, min=-6.55040e+04, max=6.55040e+04, dtype=float16)",
                     "finfo(resolution=1e-06, min=-3.4028235e+38, max=3.4028235e+38, "
                     "dtype=float32)",
                     "finfo(resolution=1e-15, min=-1.7976931348623157e+308, "
                     "max=1.7976931348623157e+308, dtype=float64)"));
}
static dvx_value describe_finfo(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->raise(vm, DVX_TYPE_ERROR, "str() of finfo is not part of ndarray");
}

/* ---- Types of results ---- */

static dvx_value promote_types(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const nd_dtype *a = dtype_read(vm, args[0]), *b = a ? dtype_read(vm, args[1]) : NULL;
    return b ? dtype_object(vm, dtype_promote(a, b)) : DVX_FAILED;
}

/* Numbers take the type of arrays and dtypes beside them, as far as their kind allows. */
static dvx_value result_type(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *strong = NULL, *weak = NULL, *result;
    if (!count)
        return vm->api->raise(vm, DVX_VALUE_ERROR, "at least one array or dtype is required");
    for (uint32_t i = 0; i < count; i++) {
        const nd_array *a = array_of(vm, args[i]);
        const nd_dtype *d = a ? a->dtype : convert_kind(vm, args[i]);
        const bool is_number = !a && d;
        if (!d && !(d = dtype_read(vm, args[i]))) return DVX_FAILED;
        const nd_dtype **kind = is_number && d->num != ND_BOOL ? &weak : &strong;
        *kind = *kind ? dtype_promote(*kind, d) : d;
    }
    result = strong ? strong : weak;
    if (strong && weak) {
        if (weak->kind == 'c') {
            result = dtype_is_integer(strong) ? weak : ND_DTYPE(type_as_complex(strong->num));
        } else if (weak->kind == 'f') {
            result = dtype_is_integer(strong) ? weak : strong;
        } else {
            result = strong->num == ND_BOOL ? weak : strong;
        }
    }
    return dtype_object(vm, result);
}

/* from_, to, casting */
static dvx_value can_cast(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char word[32] = "safe";
    (void)count;
    const nd_array *a = array_of(vm, args[0]);
    const nd_dtype *from = a ? a->dtype : convert_kind(vm, args[0]), *to;
    if (!from && !(from = dtype_read(vm, args[0]))) return DVX_FAILED;
    if (!(to = dtype_read(vm, args[1]))) return DVX_FAILED;
    if (!dvx_failed(args[2])) nd_word(vm, args[2], word);
    bool good = true;
    if (!strcmp(word, "safe"))
        good = dtype_is_safe(from, to);
    else if (!strcmp(word, "same_kind"))
        good = dtype_is_same_kind(from, to);
    else if (!strcmp(word, "no") || !strcmp(word, "equiv"))
        good = from == to;
    else if (strcmp(word, "unsafe"))
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' "
                        "(got '%s')",
                        word);
    return vm->api->make_bool(vm, good);
}

/* ---- Questions ---- */

ND_PARAMETERS(of_element, 1, "element");
static dvx_value isscalar(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    switch (vm->api->kind(vm, args[0])) {
    case DVX_BOOL:
    case DVX_INT:
    case DVX_FLOAT:
    case DVX_COMPLEX:
    case DVX_STR:
    case DVX_BYTES: return vm->api->make_bool(vm, true);
    case DVX_ANY:
        if (!array_of(vm, args[0])) return nd_wider(vm, "isscalar", &of_element, args);
        return vm->api->make_bool(vm, array_is_scalar(vm, args[0]));
    default: return vm->api->make_bool(vm, false);
    }
}

/* Is it complex: 1, 0, or -1: raised. */
static int is_complex(dvx_vm *vm, dvx_value v) {
    nd_array *a;
    dvx_value held = array_operand(vm, v, NULL, &a);
    if (dvx_failed(held)) return -1;
    const int answer = a->dtype->kind == 'c';
    vm->api->release(vm, held);
    return answer;
}
static dvx_value iscomplexobj(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const int answer = is_complex(vm, args[0]);
    return answer < 0 ? DVX_FAILED : vm->api->make_bool(vm, answer);
}
static dvx_value isrealobj(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const int answer = is_complex(vm, args[0]);
    return answer < 0 ? DVX_FAILED : vm->api->make_bool(vm, !answer);
}

/* ---- Tables ---- */

static const dvx_attribute *const iinfo_attributes[] = {&attribute_imin,  &attribute_imax,
                                                        &attribute_ibits, &attribute_idtype,
                                                        &attribute_ikind, &attribute_key};
static const dvx_attribute *const finfo_attributes[] = {
    &attribute_fmin,  &attribute_fmax,      &attribute_eps,       &attribute_epsneg,
    &attribute_tiny,  &attribute_normal,    &attribute_subnormal, &attribute_resolution,
    &attribute_fbits, &attribute_precision, &attribute_nmant,     &attribute_nexp,
    &attribute_iexp,  &attribute_maxexp,    &attribute_minexp,    &attribute_machep,
    &attribute_negep, &attribute_fdtype};

ND_PARAMETERS(of_iinfo, 1, "int_type");
ND_PARAMETERS(of_finfo, 1, "dtype");
static const dvx_type iinfo_type = {.size = sizeof(dvx_type),
                                    .name = "iinfo",
                                    .payload = sizeof(limits),
                                    .initialise = make_iinfo,
                                    .parameters = &of_iinfo,
                                    .repr = show_iinfo,
                                    .str = describe_iinfo,
                                    .attribute_count = LENGTH_OF(iinfo_attributes),
                                    .attributes = iinfo_attributes};
static const dvx_type finfo_type = {.size = sizeof(dvx_type),
                                    .name = "finfo",
                                    .payload = sizeof(limits),
                                    .initialise = make_finfo,
                                    .parameters = &of_finfo,
                                    .repr = show_finfo,
                                    .str = describe_finfo,
                                    .attribute_count = LENGTH_OF(finfo_attributes),
                                    .attributes = finfo_attributes};

ND_PARAMETERS(of_can_cast, 2, "from_", "to", "casting");
ND_PARAMETERS(of_x, 1, "x");
static const dvx_function functions[] = {
    ND_PLAIN("promote_types", promote_types, 2, 2), ND_PLAIN("result_type", result_type, 0, ND_ANY),
    ND_NAMED("can_cast", can_cast, of_can_cast),    ND_NAMED("isscalar", isscalar, of_element),
    ND_NAMED("iscomplexobj", iscomplexobj, of_x),   ND_NAMED("isrealobj", isrealobj, of_x),
};

bool finfo_register(dvx_vm *vm, dvx_value module) {
    return ND_ADD_ALL(functions) && vm->api->add_type(vm, module, &iinfo_type) &&
           vm->api->add_type(vm, module, &finfo_type);
}
