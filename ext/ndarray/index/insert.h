/* insert.h: insert, delete, resize, take_along_axis, put_along_axis. */
#ifndef ND_INSERT_H
#define ND_INSERT_H

#include "array/array.h"

bool insert_register(dvx_vm *vm, dvx_value module);

#endif
