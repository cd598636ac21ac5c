/* grid.h: arrays of indices: indices, meshgrid, ix_, fromfunction, nonzero. */
#ifndef ND_GRID_H
#define ND_GRID_H

#include "array/array.h"

bool grid_register(dvx_vm *vm, dvx_value module);

#endif
