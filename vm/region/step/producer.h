/* producer.h: a generator that the region's loop walks, analysed as part of the region.
 *
 * While control is in the region the generator runs, as far as it itself knows: its frame lies
 * above the loop's iterator, as FOR_ITER would put it there, and stays there when it yields.  So
 * the operand stack of the loop's body is above it, and a yield, or a round's begin, is no more
 * than a change of the context.  Exits put back what is above, and the frame into the generator.
 *
 * Only a generator is taken to which nothing but a dead local refers: nobody can see that it runs.
 */
#ifndef DV_REGION_PRODUCER_H
#define DV_REGION_PRODUCER_H

#include "region/analyse/build.h"
#include "run/generator.h"

/* The generator that the loop with this head walks, by what the frame at fp holds, if it can be
 * part of the region; NULL: it is none, or cannot.  It waits at a YIELD. */
const dv_generator *dv_producer_walked(dv_vm *vm, dv_thread *thread, const dv_value *fp,
                                       uint32_t head);
/* The dead local that has the iterator of the loop, too; -1: none does. */
int16_t dv_producer_twin(dv_vm *vm, dv_thread *thread, const dv_value *fp, uint32_t head);
/* May it be entered: does it wait at this YIELD, and is there no other reference to it than these?
 */
bool dv_producer_is_ready(dv_vm *vm, const dv_generator *g, const dv_thread *thread,
                          const dv_cell *at, uint32_t references);

/* The frame's entries: what is reserved for its header, locals, what it keeps on its stack. */
static inline int32_t dv_producer_entries(const dv_build *b) {
    return b->producer.floor - (b->producer.base - 3);
}
/* Is it the generator's context, or a branch of that by shape? */
static inline bool dv_producer_is(const dv_build *b, const dv_context *context) {
    while (context->joins) context = context->joins;
    return context == b->producer.context;
}
/* Is the code of the context executed while the generator waits? */
static inline bool dv_producer_waits(const dv_build *b, const dv_context *context) {
    if (!b->producer.context || b->top < b->producer.floor) return false;
    while (context && !dv_producer_is(b, context)) context = context->parent;
    return !context;
}
/* A dv_exit's `folds`. */
static inline int16_t dv_producer_folds(const dv_build *b, const dv_context *context) {
    if (!dv_producer_waits(b, context)) return 0;
    return (int16_t)(dv_home(b, b->producer.floor) - dv_home(b, b->producer.base - 3));
}
/* The entry that INCA code has n below the top; those of the generator's frame do not count. */
static inline int32_t dv_producer_below(const dv_build *b, int32_t n) {
    const int32_t q = b->top - n;
    const bool passes =
        !b->context->parent && dv_producer_waits(b, b->context) && q < b->producer.floor;
    return passes ? q - dv_producer_entries(b) : q;
}

/* Does the instruction at b->pc append to what is below the loop's iterator? */
bool dv_producer_is_passed(const dv_build *b);
/* Does it do something else there, as the one that drops the iterator? */
bool dv_producer_is_left(const dv_build *b);
/* The entries of the generator's frame, as it waits now. */
void dv_producer_begin(dv_build *b);
/* FOR_ITER, and YIELD.  Result: the next pc in the other context. */
uint32_t dv_producer_resume(dv_build *b);
uint32_t dv_producer_yield(dv_build *b);

#endif
