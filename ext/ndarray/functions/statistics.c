/* statistics.c: selection in lines of arrays, of which lib/statistics.dl makes medians and
 * quantiles. */

#include "array/methods.h"
#include "sort/order.h"

/* _select(lines, place): of an array in C order, along the last axis, in place: elements `place`,
 * the next one and the last one of each line are as in a sorted one; of a place below 0, all. */
static dvx_value select_in_lines(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    enum { STEPS = 3 }; /* for nd_work, of an element */
    nd_array *a = vm->api->payload(vm, args[0], &array_type);
    int64_t place;
    (void)count;
    if (!vm->api->read_index(vm, args[1], &place)) return DVX_FAILED;
    const int64_t length = a && a->ndim ? a->axes[a->ndim - 1].count : 0;
    if (!length || place >= length || !(a->flags & ND_C_CONTIGUOUS) || !array_writable(vm, a))
        return nd_raise(vm, DVX_VALUE_ERROR, "lines in C order are needed");
    const int64_t size = length * a->dtype->size;
    for (int64_t i = 0; i < a->size / length; i++) {
        char *line = a->data + i * size;
        const bool good = place < 0 ? order_sort(vm, a->dtype, line, length)
                                    : order_select(vm, a->dtype, line, length, place);
        if (!good || !nd_work(vm, STEPS * length)) return DVX_FAILED;
    }
    return nd_none(vm);
}

static const dvx_function functions[] = {ND_PLAIN("_select", select_in_lines, 2, 2)};

bool statistics_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
