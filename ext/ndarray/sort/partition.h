/* partition.h: partition and argpartition. */
#ifndef ND_PARTITION_H
#define ND_PARTITION_H

#include "array/array.h"

bool partition_register(dvx_vm *vm, dvx_value module);

#endif
