/* decimal.h: what all files of the extension share: numbers, contexts, the state of a VM.
 *
 * Invariants
 *  1. A number is `sign` and coefficient times 10^exponent.  The coefficient is `c` below 10^38, or
 *     `big`, an int of dl from there on.  Infinities have none; that of a NaN is its payload.
 *  2. What is not in C is in lang/lib/data/_decimal_*.dl, whose numbers for kinds, roundings and
 *     conditions are those here.  `state->rest` is the module that has its functions.
 *  3. A function that returns a dvx_value fails with DVX_FAILED and one that returns bool with
 *     false; the error has then been raised.  `fast` functions say false where large.c is to do it,
 *     and have had no effect then. */
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
    IS_DIVISION_IMPOSSIBLE = 0x8,
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
    bool filled; /* of an object: it has its value, and keeps it; else `big` may be any int */
} number;

typedef struct context {
    int64_t precision, emin, emax, rounding, capitals, clamp;
    uint32_t traps, status;
} context;

typedef struct power_of_ten {
    int64_t exponent;
    dvx_value value; /* 10^exponent */
} power_of_ten;

typedef struct decimal_state {
    power_of_ten powers[16]; /* by their exponents: what was wanted last */
    dvx_value rest;          /* the module _decimal_types */
    dvx_value current;       /* the Context */
    context *now;            /* its payload */
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

/* Does the operation for small numbers, with the conditions in *status; false: it does not. */
bool decimal_fast(operation op, const context *with, const number *a, const number *b, number *out,
                  uint32_t *status);
/* -1, 0 or 1; false: a NaN, or a large number. */
bool decimal_fast_compare(const number *a, const number *b, int *out);

/* Is a quotient rounded away from 0?  Something was lost, which is less than (-1), equal to or more
 * (1) than half of a unit; `fifth`: of ROUND_05UP, the last digit is 0 or 5. */
static inline bool decimal_goes_up(int64_t rounding, uint32_t sign, int half, bool odd,
                                   bool fifth) {
    switch (rounding) {
    case ROUND_UP: return true;
    case ROUND_DOWN: return false;
    case ROUND_CEILING: return !sign;
    case ROUND_FLOOR: return sign;
    case ROUND_HALF_UP: return half >= 0;
    case ROUND_HALF_DOWN: return half > 0;
    case ROUND_HALF_EVEN: return half > 0 || (half == 0 && odd);
    default: return fifth;
    }
}

/* ---- whole.c ---- */

enum { NEAR = 200 }; /* limbs: some 3,800 digits */
/* A natural number: for one function, which drops it, and never moves it. */
typedef struct whole {
    const uint64_t *limbs; /* the last one is not 0 */
    int64_t count;
    dvx_value value; /* the int of dl that it is, or DVX_FAILED */
    uint64_t near[NEAR];
} whole;

/* It can be dropped from now on; results are written to such a one. */
static inline void whole_clear(whole *w) {
    w->value = DVX_FAILED;
    w->count = 0;
}
static inline void whole_drop(dvx_vm *vm, whole *w) { vm->api->release(vm, w->value); }
void whole_set(whole *w, u128 c);
void whole_of(dvx_vm *vm, const number *n, whole *w); /* its coefficient */
dvx_value whole_value(dvx_vm *vm, whole *w);          /* as an int: borrowed */
void whole_move(whole *from, whole *to);              /* `from` need not be dropped any more */
/* As the coefficient of n, whose `big` is a new reference. */
bool whole_store(dvx_vm *vm, whole *w, number *n);
/* false: raised */
bool whole_add(dvx_vm *vm, whole *a, whole *b, whole *out);
bool whole_subtract(dvx_vm *vm, whole *a, whole *b, whole *out); /* a >= b */
bool whole_multiply(dvx_vm *vm, whole *a, whole *b, whole *out);
bool whole_divide(dvx_vm *vm, whole *a, whole *b, whole *quotient, whole *rest);
bool whole_root(dvx_vm *vm, whole *a, whole *root, bool *exact);
bool whole_ten(dvx_vm *vm, int64_t k, whole *out);             /* 10^k */
bool whole_scale(dvx_vm *vm, whole *a, int64_t k, whole *out); /* a * 10^k */
bool whole_digits(dvx_vm *vm, const whole *a, int64_t *out);   /* 1 if it is 0 */
/* Its last `count` digits, with zeros before them. */
bool whole_write(dvx_vm *vm, whole *a, char *out, int64_t count);
bool whole_read(dvx_vm *vm, const char *digits, size_t count, whole *out);
int whole_compare(const whole *a, const whole *b);
uint32_t whole_modulo(const whole *a, uint32_t m);
int64_t whole_twos(const whole *a); /* how often 2 divides it */

/* ---- large.c ---- */

typedef struct job {
    dvx_vm *vm;
    const context *with;
    uint32_t status;
} job;

#define LAST_IN_C OP_sqrt
/* The operation up to LAST_IN_C; of OPERATIONS, only rounds.  divmod gives two numbers. */
bool decimal_compute(job *j, operation op, const number *a, const number *b, number out[2]);
bool decimal_compare(dvx_vm *vm, const number *a, const number *b, int *out); /* no NaN */
/* A finite number, rounded to a whole one, as coefficient and sign. */
bool decimal_whole(job *j, const number *a, number *out);
static inline void decimal_drop(dvx_vm *vm, number *n) {
    if (n->is_big) vm->api->release(vm, n->big);
}

/* ---- perform.c ---- */

/* The number of a Decimal, or of an int in *space; NULL: v is neither (nothing is raised). */
const number *decimal_read(dvx_vm *vm, dvx_value v, number *space);
dvx_value decimal_make(dvx_vm *vm, const number *n);
/* Adds the conditions to the context; raises if one is trapped. */
bool decimal_signal(dvx_vm *vm, context *with, uint32_t status);
/* The operation of that name; OPERATIONS: there is none. */
operation decimal_find(const char *name);
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
/* PLAIN: without exponent, for an exponent from -MOST_PLACES to 0. */
typedef enum notation { SCIENTIFIC, ENGINEERING, PLAIN } notation;
enum { MOST_PLACES = 30 };
/* The text of a small number as str() has it, at most MOST_TEXT bytes; how many. */
size_t decimal_write(const number *n, notation how, bool capital, char *out);
/* The same of any number, or its repr, as a str. */
dvx_value decimal_text(dvx_vm *vm, const number *n, bool repr, notation how, bool capital);
/* The number of a text, which is overwritten, with a new reference to `big`.  1; 0: dl is to look
 * at it; -1: raised. */
int decimal_parse(dvx_vm *vm, char *text, size_t size, number *out);

/* ---- format.c ---- */

/* format(self, given), of the number that it has. */
dvx_value decimal_format_text(dvx_vm *vm, dvx_value self, const number *n, dvx_value given);

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
