/* source.h: MT19937 and PCG64, the sources of random bits, as objects: made from seeds, and their
 * states.  What few programs use of them is dl: lib/random.dl. */
#ifndef ND_SOURCE_H
#define ND_SOURCE_H

#include "functions/bits.h"

#define SOURCE_LIBRARY "_ndarray.random"

extern const dvx_type mt19937_type, pcg64_type;

typedef struct source {
    nd_bits bits;
    dvx_value seed; /* what it was made from: an int, bytes, or a SeedSequence */
    bool has_seed;
} source;

/* NULL: v is none; nothing is raised. */
source *source_of(dvx_vm *vm, dvx_value v);

/* Bits that nobody can foresee, or at least the time. */
void source_surprise(uint32_t words[4]);
/* Room for the state of MT19937. */
bool source_has_room(dvx_vm *vm, source *s);
/* Seeds PCG64 with an int of at most 64 bits, or None; *known: it was one of them. */
bool source_seed(dvx_vm *vm, source *s, dvx_value seed, bool *known);
/* The constructor. */
bool source_fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count);

/* What dl has of an object of np.random (`find` of the library): 1, 0, -1. */
int source_attribute(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out);

bool source_register(dvx_vm *vm, dvx_value module);

#endif
