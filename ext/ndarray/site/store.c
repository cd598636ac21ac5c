/* store.c: overlaps of what is stored to with what is read (store.h). */
#include "site/store.h"

bool store_is_apart(const nd_array *to, const nd_array *from) {
    if (!array_may_overlap(to, from)) return true;
    if (to->data != from->data || to->dtype != from->dtype || to->ndim != from->ndim) return false;
    for (int i = 0; i < to->ndim; i++)
        if (to->axes[i].count != from->axes[i].count || to->axes[i].stride != from->axes[i].stride)
            return false;
    return true;
}
