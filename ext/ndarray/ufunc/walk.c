/* walk.c: walks over several arrays (walk.h). */
#include "ufunc/walk.h"

#include <stdlib.h>

/* Must axis i come before axis j (with i < j), by the strides of one operand after the other?  They
 * stay as they are where no operand tells. */
static bool is_out_of_order(const nd_walk *walk, int first, int i, int j) {
    for (int k = 0; k < walk->operands; k++) {
        const int64_t *strides = walk->strides[(first + k) % walk->operands];
        if (!strides[i] || !strides[j]) continue;
        return llabs(strides[i]) < llabs(strides[j]);
    }
    return false;
}

static void swap_axes(nd_walk *walk, int i, int j) {
    int64_t count = walk->shape[i];
    walk->shape[i] = walk->shape[j];
    walk->shape[j] = count;
    for (int k = 0; k < walk->operands; k++) {
        int64_t stride = walk->strides[k][i];
        walk->strides[k][i] = walk->strides[k][j];
        walk->strides[k][j] = stride;
    }
}

static void drop_single(nd_walk *walk) {
    int kept = 0;
    for (int i = 0; i < walk->ndim; i++) {
        if (walk->shape[i] == 1) continue;
        walk->shape[kept] = walk->shape[i];
        for (int k = 0; k < walk->operands; k++) walk->strides[k][kept] = walk->strides[k][i];
        kept++;
    }
    walk->ndim = kept;
}

static bool is_joined(const nd_walk *walk, int outer) {
    for (int k = 0; k < walk->operands; k++)
        if (walk->strides[k][outer] != walk->strides[k][outer + 1] * walk->shape[outer + 1])
            return false;
    return true;
}

static void join(nd_walk *walk) {
    for (int i = walk->ndim - 2; i >= 0; i--) {
        if (!is_joined(walk, i)) continue;
        walk->shape[i] *= walk->shape[i + 1];
        for (int k = 0; k < walk->operands; k++) walk->strides[k][i] = walk->strides[k][i + 1];
        for (int j = i + 1; j < walk->ndim - 1; j++) {
            walk->shape[j] = walk->shape[j + 1];
            for (int k = 0; k < walk->operands; k++) walk->strides[k][j] = walk->strides[k][j + 1];
        }
        walk->ndim--;
    }
}

bool walk_repeats(const nd_walk *walk) {
    const int outer = walk->ndim - 2;
    for (int k = 0; k < walk->operands; k++)
        if (walk->strides[k][outer] &&
            walk->strides[k][outer] != walk->strides[k][outer + 1] * walk->shape[outer + 1])
            return false;
    return true;
}

void walk_plan(nd_walk *walk, int first, bool swap) {
    drop_single(walk);
    if (walk->ndim < 2) return;
    for (int i = 1; i < walk->ndim; i++)
        for (int j = i; j > 0 && is_out_of_order(walk, first, j - 1, j); j--)
            swap_axes(walk, j - 1, j);
    join(walk);
    /* A row costs as much as some ten elements.  (Other short rows collect.h makes longer.) */
    int last = walk->ndim - 1;
    if (swap && last > 0 && walk->shape[last] < 4 &&
        walk->shape[last - 1] > 4 * walk->shape[last] && !walk_repeats(walk))
        swap_axes(walk, last - 1, last);
}

bool walk_masked(dvx_vm *vm, void *context, char *const *data, int64_t count,
                 const int64_t *strides) {
    const nd_masked *m = context;
    const char *mask = data[m->operand];
    const int64_t step = strides[m->operand];
    char *part[ND_MOST_OPERANDS];
    memcpy(part, data, sizeof part);
    for (int64_t i = 0; i < count;) {
        while (i < count && !mask[i * step]) i++;
        const int64_t first = i;
        while (i < count && mask[i * step]) i++;
        if (i == first) continue;
        for (int k = 0; k < m->operand; k++) part[k] = data[k] + first * strides[k];
        if (!m->row(vm, m->context, part, i - first, strides)) return false;
    }
    return true;
}

void walk_lines(nd_walk *walk, const nd_array *to, const nd_array *from, int axis) {
    walk_begin(walk, 2, 0);
    for (int i = 0; i < from->ndim; i++) {
        if (i == axis) continue;
        walk->shape[walk->ndim] = from->axes[i].count;
        walk->strides[0][walk->ndim] = to->axes[i].stride;
        walk->strides[1][walk->ndim++] = from->axes[i].stride;
    }
    walk->data[0] = to->data;
    walk->data[1] = from->data;
}

enum { LONG_ROW = 1 << 17 };

/* A row by parts, as long ones would be deaf to interrupts. */
static bool run_long(dvx_vm *vm, nd_row row, void *context, char *const *data, int64_t count,
                     const int64_t *strides, int operands, int64_t effort) {
    char *at[ND_MOST_OPERANDS];
    for (int64_t done = 0; done < count; done += LONG_ROW) {
        const int64_t n = count - done < LONG_ROW ? count - done : LONG_ROW;
        for (int k = 0; k < operands; k++) at[k] = data[k] + done * strides[k];
        if (!row(vm, context, at, n, strides) || !nd_work(vm, n / WALK_PART * effort)) return false;
    }
    return true;
}

bool walk_work(dvx_vm *vm, nd_walk *walk, int64_t effort, nd_row row, void *context) {
    int64_t index[ND_MOST] = {0}, strides[ND_MOST_OPERANDS] = {0}, done = 0;
    const int last = walk->ndim - 1, operands = walk->operands;
    char *data[ND_MOST_OPERANDS];
    for (int i = 0; i < walk->ndim; i++)
        if (!walk->shape[i]) return true;
    for (int k = 0; k < operands; k++) {
        data[k] = walk->data[k];
        if (last >= 0) strides[k] = walk->strides[k][last];
    }
    const int64_t count = last >= 0 ? walk->shape[last] : 1;
    for (;;) {
        if (!(count > LONG_ROW ? run_long(vm, row, context, data, count, strides, operands, effort)
                               : row(vm, context, data, count, strides)))
            return false;
        if ((done += (count > LONG_ROW ? 0 : count * effort / WALK_PART) + 16) > 1 << 16) {
            if (!nd_work(vm, done)) return false;
            done = 0;
        }
        int axis = last - 1;
        for (; axis >= 0; axis--) {
            for (int k = 0; k < operands; k++) data[k] += walk->strides[k][axis];
            if (++index[axis] < walk->shape[axis]) break;
            for (int k = 0; k < operands; k++)
                data[k] -= walk->strides[k][axis] * walk->shape[axis];
            index[axis] = 0;
        }
        if (axis < 0) return nd_work(vm, done);
    }
}
