/* maker.h: what an exception of a program's class has when the call of the class is done (internal
 * to region/).
 *
 * Most such classes have an __init__ that passes some of its arguments on, and keeps others as
 * attributes.  This is read from its code, so that nothing is left to be executed: an exception
 * that is not made (raised.h) has the values, one that is made late gets them.
 *
 * Invariants
 *  1. Nothing in such an __init__ calls out, fails, or can be seen before it is done.
 *  2. What the code relies on (the classes' functions, the global `super`, that stores go to the
 *     exception's own attributes) are assumptions of the region. */
#ifndef DV_REGION_MAKER_H
#define DV_REGION_MAKER_H

#include "region/step/step.h"

/* An argument of the call, by number, or, if that is -1, a constant. */
typedef struct dv_kept {
    int32_t argument;
    dv_value value;
} dv_kept;

typedef struct dv_maker {
    uint32_t count, attribute_count;  /* of `args`; of attributes */
    dv_kept kept[DV_SOURCE_VALUES];   /* those of `args` first */
    dv_value names[DV_SOURCE_VALUES]; /* of attributes, in the order of the stores */
    int32_t depth;                    /* functions that call one another */
} dv_maker;

/* Of a call with n arguments of an exception class without a __new__; false: there is more to it.
 */
bool dv_maker_find(dv_build *b, dv_class *class_, int32_t n, dv_maker *maker);

#endif
