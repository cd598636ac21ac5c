/* calculus.c: sums of two rows that slide along each other: loops of convolve and correlate
 * (lib/calculus.dl). */
#include "array/compose.h"
#include "linear/matmul.h"
#include "array/methods.h"

/* ---- convolve ---- */

/* Of the shorter row, as far as it slides along the other one; OpenBLAS is better at longer ones.
 */
enum { SHORT = 64 };

/* The places where the shorter row lies over the other one as a whole are one product: of the
 * shorter one, from its end, and a matrix whose rows are the other one from each of its places on.
 */
static bool slide_inside(dvx_vm *vm, const nd_array *a, const nd_array *b, int64_t first,
                         int64_t count, char *out) {
    const int64_t size = a->dtype->size;
    const nd_slide along = nd_state_of(vm)->tiles->slide[a->dtype->num];
    if (along) {
        char turned[SHORT * sizeof(double)];
        for (int64_t i = 0; i < b->size; i++)
            memcpy(turned + i * size, b->data + (b->size - 1 - i) * size, (size_t)size);
        along(out, a->data + first * size, turned, b->size, count);
        return vm->api->poll(vm);
    }
    const nd_matrix x = {b->data + (b->size - 1) * size, 1, b->size, 0, -size};
    const nd_matrix y = {a->data + first * size, b->size, count, size, size};
    return matmul_in_order(vm, a->dtype->num, &x, &y, out);
}

/* Sums of products where a row and a shorter one, of `size` elements each, lie over each other. */
static bool slide(dvx_vm *vm, const nd_array *a, const nd_array *b, int64_t first, nd_array *out) {
    enum { MANY = 16 };
    const int64_t size = a->dtype->size, end = first + out->size;
    /* The places of the product; none: from is `end`. */
    int64_t from = first < b->size - 1 ? b->size - 1 : first, to = end < a->size ? end : a->size;
    if (b->size > SHORT || to - from < MANY) from = to = end;
    if (from < to &&
        !slide_inside(vm, a, b, from - b->size + 1, to - from, out->data + (from - first) * size))
        return false;
    for (int64_t i = 0; i < out->size; i++) {
        if (first + i == from) i += to - from;
        if (i >= out->size) break;
        const int64_t place = first + i, low = place < b->size - 1 ? 0 : place - b->size + 1;
        const int64_t high = place < a->size - 1 ? place : a->size - 1;
        /* The second row runs backwards. */
        const nd_matrix x = {a->data + low * size, 1, high - low + 1, 0, size};
        const nd_matrix y = {b->data + (place - low) * size, high - low + 1, 1, -size, 0};
        if (!matmul_into(vm, a->dtype->num, &x, &y, out->data + i * size)) return false;
    }
    return true;
}

/* _convolve(a, b, first, size): two rows of one dtype; so many of their common places. */
static dvx_value convolve(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *b, *out;
    int64_t first, size;
    (void)count;
    dvx_value held[2] = {array_row(vm, args[0], NULL, &a), DVX_FAILED}, made = DVX_FAILED;
    if (!dvx_failed(held[0])) held[1] = array_row(vm, args[1], NULL, &b);
    bool good = !dvx_failed(held[1]) && vm->api->read_index(vm, args[2], &first) &&
                vm->api->read_index(vm, args[3], &size);
    if (good && (a->ndim != 1 || b->ndim != 1 || a->dtype != b->dtype || !a->size || !b->size ||
                 first < 0 || size < 0 || first > a->size + b->size - 1 - size))
        good = nd_fail(vm, DVX_VALUE_ERROR, "two rows and their places are needed");
    if (good) made = array_new(vm, a->dtype, 1, &size, &out);
    if (!dvx_failed(made) && !slide(vm, a, b, first, out))
        made = compose_first(vm, DVX_FAILED, made);
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return made;
}

/* ---- Tables ---- */

static const dvx_function functions[] = {
    ND_PLAIN("_convolve", convolve, 4, 4),
};

bool calculus_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
