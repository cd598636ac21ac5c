/* memory.h: the memory of elements.
 *
 * Blocks that arrays leave are kept for the next ones of their size, the last one first: it is
 * still in the caches, and its pages are mapped.
 *
 * Invariants
 *  1. A kept block is not larger than ND_KEPT_MOST, and there are at most ND_KEPT of them, with no
 * more bytes than the arrays that are alive have, or ND_KEPT_ALWAYS.
 *  2. Where memory runs out they are given back before anything is raised. */
#ifndef ND_MEMORY_H
#define ND_MEMORY_H

#include "base.h"

/* A block for elements; NULL: MemoryError. */
char *memory_take(dvx_vm *vm, size_t size);
void memory_give(dvx_vm *vm, char *block, size_t size);
/* Gives all kept blocks back. */
void memory_drop(dvx_vm *vm);

#endif
