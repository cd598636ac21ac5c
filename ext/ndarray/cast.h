/* cast.h: copying elements with a cast from one dtype to another. */
#ifndef ND_CAST_H
#define ND_CAST_H

#include "dtype.h"

/* `count` elements, each `to_stride` (`from_stride`) bytes behind the one before. */
typedef void (*nd_cast)(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                        int64_t count);
nd_cast cast_between(const nd_dtype *from, const nd_dtype *to);

/* `size` bytes that do not overlap. */
void cast_copy(char *to, const char *from, size_t size);

#endif
