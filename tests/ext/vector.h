/* vector.h: what the two files of extension `vector` share: the payload of Vector, its state, and
 * the work that the type's slots (vector.c) and its derivatives (vector_sites.c) both do.
 *
 * Invariants
 *  1. `spatial` is `count == 3`: who changes one changes both (resize_vector).
 *  2. Slots and derivatives compute with the same functions, so that no result depends on which of
 *     them ran. */
#ifndef VECTOR_H
#define VECTOR_H

#include <dynvm_ext.h>

#include <math.h>
#include <string.h>

typedef struct vector {
    double *data;
    int64_t count;
    bool spatial; /* the type's `meta`: three elements */
} vector;

typedef struct state {
    double tolerance;      /* within which elements count as equal */
    dvx_assumption *exact; /* it is 0 */
} state;

/* What an operand is for an operator: a vector, or the same number again and again. */
typedef struct operand {
    const vector *v;
    double number;
} operand;

extern const dvx_type vector_type;

static inline vector *as_vector(dvx_vm *vm, dvx_value v) {
    return vm->api->payload(vm, v, &vector_type);
}
static inline state *state_of(dvx_vm *vm) { return vm->api->state(vm, &dvx_extension); }

static inline void resize_vector(vector *v, double *data, int64_t count) {
    *v = (vector){data, count, count == 3};
}

static inline double apply(dvx_binary op, double a, double b) {
    return op == DVX_ADD ? a + b : op == DVX_SUB ? a - b : a * b;
}

static inline double at(const operand *o, int64_t i) { return o->v ? o->v->data[i] : o->number; }

static inline double dot(const vector *a, const vector *b) {
    double sum = 0;
    for (int64_t i = 0; i < a->count; i++) sum += a->data[i] * b->data[i];
    return sum;
}

static inline bool is_near(const vector *a, const vector *b, double tolerance) {
    bool near = a->count == b->count;
    for (int64_t i = 0; i < a->count && near; i++)
        near = a->data[i] == b->data[i] || fabs(a->data[i] - b->data[i]) <= tolerance;
    return near;
}

/* vector.c; the last two are the instructions themselves. */
dvx_value new_vector(dvx_vm *vm, int64_t count, vector **made);
int look(dvx_vm *vm, dvx_value v, operand *out);            /* 1, 0: neither, -1: raised */
int64_t coordinate(dvx_vm *vm, dvx_value name);             /* of x, y, z; -1: another name */
double *element(dvx_vm *vm, dvx_value self, dvx_value key); /* NULL: raised */
dvx_value times_plus(dvx_vm *vm, const dvx_value *args, uint32_t count);

#endif
