/* join.h: several arrays become one, and one is repeated. */
#ifndef ND_JOIN_H
#define ND_JOIN_H

#include "array/array.h"

bool join_register(dvx_vm *vm, dvx_value module);

#endif
