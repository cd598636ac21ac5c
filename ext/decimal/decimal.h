/* decimal.h: what all files of the extension share: numbers, contexts, the state of a VM.
 *
 * Invariants
 *  1. A number is `sign` and coefficient times 10^exponent.  The coefficient is `c` below 10^38, or
 *     `big`, an int of dl from there on.  Infinities have none; that of a NaN is its payload.
 *  2. What is not in C is in lang/lib/data/_decimal_*.dl, whose numbers for kinds, roundings and
 *     conditions are those here.  `state->rest` is the module that has its functions.
 *  3. A function that returns a dvx_value fails with DVX_FAILED and one that returns bool with
 *     false; the error has then been raised.  `fast` functions say false where dl is to do it, and
 *     have had no effect then. */
#ifndef DECIMAL_H
#define DECIMAL_H

#include <dynvm_ext.h>

#define LENGTH_OF(array) (sizeof(array) / sizeof *(array))

__extension__ typedef unsigned __int128 u128;

enum { FINITE, INFINITE, QUIET_NAN, SIGNALLING_NAN };
enum {
    ROUND_UP,
    ROUND_DOWN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_05UP,
    ROUNDINGS
};

/* Conditions; as bits they are those of libmpdec. */
enum {
    IS_CLAMPED = 0x1,
    IS_CONVERSION_SYNTAX = 0x2,
    IS_DIVISION_BY_ZERO = 0x4,
    IS_DIVISION_UNDEFINED = 0x10,
    IS_INEXACT = 0x40,
    IS_INVALID = 0x100,
    IS_OVERFLOW = 0x800,
    IS_ROUNDED = 0x1000,
    IS_SUBNORMAL = 0x2000,
    IS_UNDERFLOW = 0x4000
};

enum {
    SMALL_DIGITS = 38, /* of `c` */
    FAST_PRECISION = 35
};
#define MOST_EXPONENT ((int64_t)999999999999999999)

typedef struct number {
    u128 c;
    dvx_value big; /* where is_big */
    int64_t exponent;
    uint8_t kind, sign;
    bool is_big;
    bool filled; /* of an object: it has its value, and keeps it */
} number;

typedef struct context {
    int64_t precision, emin, emax, rounding, capitals, clamp;
    uint32_t traps, status;
} context;

typedef struct decimal_state {
    dvx_value limit;   /* 10^38 */
    dvx_value rest;    /* the module _decimal_types */
    dvx_value current; /* the Context */
    context *now;      /* its payload */
} decimal_state;

extern const dvx_type decimal_type, context_type;
enum { ROUNDING_OF_CONTEXT = -1 };

static inline decimal_state *decimal_state_of(dvx_vm *vm) {
    return vm->api->state(vm, &dvx_extension);
}

/* ---- number.c ---- */

extern const u128 decimal_powers[SMALL_DIGITS + 1]; /* of ten */

uint32_t decimal_digits(u128 c); /* 1 if it is 0 */

/* The operations, as sites of both types know them; the order is that of decimal_operations. */
typedef enum operation {
#define OPERATION(name, operands, parameters) OP_##name,
#include "operations.inc"
#undef OPERATION
    OPERATIONS
} operation;

/* Does the operation for small numbers, with the conditions in *status. */
bool decimal_fast(operation op, const context *with, const number *a, const number *b, number *out,
                  uint32_t *status);
/* -1, 0 or 1; false: a NaN, or a large number. */
bool decimal_fast_compare(const number *a, const number *b, int *out);

/* ---- perform.c ---- */

/* The number of a Decimal, or of an int in *space; NULL: v is neither (nothing is raised). */
const number *decimal_read(dvx_vm *vm, dvx_value v, number *space);
dvx_value decimal_make(dvx_vm *vm, const number *n);
/* Adds the conditions to the context; raises if one is trapped. */
bool decimal_signal(dvx_vm *vm, context *with, uint32_t status);
/* The operation on Decimals and ints; of what is neither, TypeError. */
dvx_value decimal_perform(dvx_vm *vm, operation op, dvx_value with, int64_t rounding,
                          const dvx_value *operands, uint32_t count);
/* One of ROUND_..., or of the context where v is None or was not given; false: raised. */
bool decimal_read_rounding(dvx_vm *vm, dvx_value v, int64_t *out);
/* A function of state->rest; arguments that were not given are None. */
dvx_value decimal_call(dvx_vm *vm, const char *name, const dvx_value *args, uint32_t count);
/* Defines an entry that is a function of state->rest. */
#define IN_DL(name)                                                            \
    static dvx_value name(dvx_vm *vm, const dvx_value *args, uint32_t count) { \
        return decimal_call(vm, #name, args, count);                           \
    }

/* ---- text.c ---- */

enum { MOST_TEXT = 96 };
/* The text of a number as str() has it, at most MOST_TEXT bytes; 0: it is a large one. */
size_t decimal_write(const number *n, bool engineering, bool capital, char *out);
bool decimal_parse(const char *text, size_t size, number *out);

/* A method of `inputs` arguments beside self. */
#define METHOD(id, function, inputs)                              \
    static const dvx_function id = {.size = sizeof(dvx_function), \
                                    .name = #function,            \
                                    .entry = function,            \
                                    .min = 1 + (inputs),          \
                                    .max = 1 + (inputs)}

/* ---- Methods, for both types ---- */

#define PARAMETERS(name, given, optional, ...)               \
    static const char *const name##_names[] = {__VA_ARGS__}; \
    static const dvx_parameters name = {                     \
        .size = sizeof(dvx_parameters),                      \
        .names = name##_names,                               \
        .count = (given) + (optional),                       \
        .positional = (given) + (optional),                  \
        .required = (given),                                 \
    }
#endif
