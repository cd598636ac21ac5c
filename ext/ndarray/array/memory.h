/* memory.h: the memory of elements.
 *
 * Blocks that arrays leave are kept for the next ones of their size (large ones, of half their size
 * and more), the last one first: it is still in the caches, and its pages are mapped.
 *
 * Invariants
 *  1. A kept block is not larger than ND_KEPT_MOST, and there are at most ND_KEPT of them, with no
 * more bytes than the arrays that are alive have, or ND_KEPT_ALWAYS.
 *  2. The elements of larger arrays begin at a line of the caches, so that no load of a vector
 * touches two.
 *  3. Where memory runs out they are given back before anything is raised. */
#ifndef ND_MEMORY_H
#define ND_MEMORY_H

#include "base.h"

enum { ND_UNALIGNED = 512, ND_LINE = 64 };

/* A block for so many bytes of elements; NULL: MemoryError.  *bytes is then what it is given back
 * with. */
char *memory_take(dvx_vm *vm, size_t *bytes);
/* Where its elements begin. */
static inline char *memory_begin(char *block, size_t size) {
    return size <= ND_UNALIGNED ? block : block + (-(uintptr_t)block & (ND_LINE - 1));
}
/* Whether the last block of more than ND_UNALIGNED bytes was none that an array of the VM had. */
bool memory_is_foreign(dvx_vm *vm);
void memory_give(dvx_vm *vm, char *block, size_t size);
/* Gives all kept blocks back. */
void memory_drop(dvx_vm *vm);

#endif
