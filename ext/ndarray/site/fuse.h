/* fuse.h: whole expressions of elementwise operations as one instruction (ext/SITES.md, "Whole
 * expressions"). */
#ifndef ND_FUSE_H
#define ND_FUSE_H

#include "array/array.h"

/* Behind `specialise` of an elementwise site: takes the largest expression that ends in it, if it
 * is one of arrays and numbers. */
void fuse_site(dvx_vm *vm, dvx_site *site);
/* Gives the kept buffers back. */
void fuse_finish(dvx_vm *vm);

#endif
