/* store.h: where a fused expression that stores, or computes in place, may write (fuse.h). */
#ifndef ND_STORE_H
#define ND_STORE_H

#include "array/array.h"

/* Is each element of `from` read before that of `to` at the same index is written, and no other? */
bool store_is_apart(const nd_array *to, const nd_array *from);

#endif
