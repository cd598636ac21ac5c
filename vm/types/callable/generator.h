/* generator.h: generators: suspended calls of dl functions.
 *
 * A generator holds what its frame held: locals and operand stack are copied into the machine's
 * stack when it is resumed, and out again when it yields (run/generator.h).
 *
 * Invariants
 *  1. `function` is counted until the generator has finished, and EMPTY afterwards; while it runs
 * the frame shares that one reference.
 *  2. slots: local_count locals, then `saved` entries of the operand stack, none of which borrows
 * from a local (code/verify.c).  They mean something only while the generator is new or suspended.
 *  3. The generators that run form a list by `outer`, from vm->generator, the innermost one; but
 * for those that are part of a region, whose frame that has (region/step/producer.h).
 *  4. `handled` is the exception that the generator itself is handling while it is suspended;
 * `outer_handled` what the code around it is handling while it runs.  One of them is None. */
#ifndef DV_TYPES_GENERATOR_H
#define DV_TYPES_GENERATOR_H

#include "core/vm.h"

typedef enum dv_generator_state {
    DV_GENERATOR_NEW,
    DV_GENERATOR_SUSPENDED,
    DV_GENERATOR_RUNNING,
    DV_GENERATOR_FINISHED
} dv_generator_state;

/* Who resumed a running generator: what happens to the value that it returns. */
typedef enum dv_resumer { DV_RESUMER_C, DV_RESUMER_FOR, DV_RESUMER_SEND } dv_resumer;

typedef struct dv_generator {
    dv_object header;
    uint8_t state, resumer;
    bool delegates; /* suspended in `yield from`: the topmost saved entry is the receiver */
    uint32_t capacity, saved;
    uint32_t serial;     /* order of creation, if its code has handlers; else 0 */
    const dv_cell *at;   /* the instruction that suspended it */
    const dv_cell *next; /* where it goes on */
    const dv_cell *end;  /* running for FOR_ITER or SEND: where control goes when it has finished */
    dv_value *fp;        /* running: its frame */
    struct dv_generator *outer;
    dv_value handled, outer_handled;
    dv_value function, name, qualname;
    dv_object *code; /* dv_thread, counted */
    dv_value slots[];
} dv_generator;

extern const dv_type dv_generator_type;

static inline bool dv_is_generator(dv_value v) { return dv_is_shape(v, DV_T_GENERATOR); }
static inline dv_generator *dv_as_generator(dv_value v) { return (dv_generator *)dv_as_object(v); }

/* Without a frame yet, with room for so many values.  Takes the reference to the function. */
dv_generator *dv_generator_new(dv_vm *vm, dv_value function, uint32_t capacity);

/* The exception that is being handled, by the innermost generator or around it, or None: what
 * sys.exc_info() tells.  Borrowed. */
dv_value dv_handled_exception(const dv_vm *vm);

#endif
