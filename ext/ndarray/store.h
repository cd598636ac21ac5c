/* store.h: stores of whole expressions, `a[...] = b * c + d`: the site of the store by itself, and
 * where a fused expression may write (fuse.h). */
#ifndef ND_STORE_H
#define ND_STORE_H

#include "array.h"

/* Specialises a SET_ITEM whose value is computed and whose key is a constant, and fuses it with
 * what computes the value; else declines it. */
void store_site(dvx_vm *vm, dvx_site *site);
/* Is each element of `from` read before that of `to` at the same index is written, and no other? */
bool store_is_apart(const nd_array *to, const nd_array *from);

#endif
