/* partition.c: partition and argpartition.
 *
 * Invariants
 *  1. The algorithm is NumPy's introselect, step by step, so that the other elements come to lie
 *     where they do there: a pivot of three elements, of medians of five where that has been bad
 *     too often; the least elements by looking for each; and pivots kept for the next place. */
#include "array/compose.h"
#include "array/convert.h"
#include "array/methods.h"
#include "sort/order.h"

#define BEFORE_INT(a, b) ((a) < (b))

/* Places that elements are known to have, the least one last. */
enum { MOST_PIVOTS = 50, FEW = 3 };
typedef struct pivots {
    int count;
    int64_t places[MOST_PIVOTS];
} pivots;

static void keep_pivot(pivots *p, int64_t place, int64_t sought) {
    if (!p) return;
    if (place == sought && p->count == MOST_PIVOTS)
        p->places[MOST_PIVOTS - 1] = place;
    else if (place >= sought && p->count < MOST_PIVOTS)
        p->places[p->count++] = place;
}

/* The part that is left for a place; false: the element is there already. */
static bool narrow(pivots *p, int64_t sought, int64_t *low, int64_t *high) {
    while (p && p->count > 0) {
        const int64_t place = p->places[p->count - 1];
        if (place > sought) {
            *high = place - 1;
            return true;
        }
        if (place == sought) return false;
        *low = place + 1;
        p->count--;
    }
    return true;
}

static int rounds_for(int64_t n) {
    int bits = 0;
    for (; n > 1; n >>= 1) bits++;
    return 2 * bits;
}

#define SWAP(S, i, j)         \
    {                         \
        const S other = v[i]; \
        v[i] = v[j];          \
        v[j] = other;         \
    }

/* S: what is moved, elements or their places; `at` gives the element of one; INEXACT: has nans. */
#define SELECTION(T, S, name, before, at, INEXACT)                                           \
    static int64_t middle_of_five_##name(const T *of, S *v) {                                \
        (void)of;                                                                            \
        if (before(at(v[1]), at(v[0]))) SWAP(S, 1, 0)                                        \
        if (before(at(v[4]), at(v[3]))) SWAP(S, 4, 3)                                        \
        if (before(at(v[3]), at(v[0]))) SWAP(S, 3, 0)                                        \
        if (before(at(v[4]), at(v[1]))) SWAP(S, 4, 1)                                        \
        if (before(at(v[2]), at(v[1]))) SWAP(S, 2, 1)                                        \
        if (before(at(v[3]), at(v[2]))) return before(at(v[3]), at(v[1])) ? 1 : 3;           \
        return 2;                                                                            \
    }                                                                                        \
    static void select_##name(const T *of, S *v, int64_t n, int64_t sought, pivots *known) { \
        int64_t low = 0, high = n - 1;                                                       \
        (void)of;                                                                            \
        if (!narrow(known, sought, &low, &high)) return;                                     \
        if (sought - low < FEW) {                                                            \
            for (int64_t i = low; i <= sought; i++) {                                        \
                int64_t least = i;                                                           \
                T x = at(v[i]);                                                              \
                for (int64_t k = i + 1; k <= high; k++) {                                    \
                    if (!before(at(v[k]), x)) continue;                                      \
                    least = k;                                                               \
                    x = at(v[k]);                                                            \
                }                                                                            \
                SWAP(S, i, least)                                                            \
            }                                                                                \
            keep_pivot(known, sought, sought);                                               \
            return;                                                                          \
        }                                                                                    \
        if (INEXACT && sought == n - 1) {                                                    \
            int64_t most = low;                                                              \
            T x = at(v[low]);                                                                \
            for (int64_t k = low + 1; k < n; k++) {                                          \
                if (before(at(v[k]), x)) continue;                                           \
                most = k;                                                                    \
                x = at(v[k]);                                                                \
            }                                                                                \
            SWAP(S, sought, most)                                                            \
            return;                                                                          \
        }                                                                                    \
        for (int rounds = rounds_for(n); low + 1 < high; rounds--) {                         \
            int64_t left = low + 1, right = high;                                            \
            if (rounds > 0 || right - left < 5) {                                            \
                const int64_t middle = low + (high - low) / 2;                               \
                if (before(at(v[high]), at(v[middle]))) SWAP(S, high, middle)                \
                if (before(at(v[high]), at(v[low]))) SWAP(S, high, low)                      \
                if (before(at(v[low]), at(v[middle]))) SWAP(S, low, middle)                  \
                SWAP(S, middle, low + 1)                                                     \
            } else {                                                                         \
                const int64_t fives = (right - left) / 5;                                    \
                S *row = v + left;                                                           \
                for (int64_t i = 0; i < fives; i++) {                                        \
                    const int64_t m = 5 * i + middle_of_five_##name(of, row + 5 * i);        \
                    const S other = row[m];                                                  \
                    row[m] = row[i];                                                         \
                    row[i] = other;                                                          \
                }                                                                            \
                if (fives > 2) select_##name(of, row, fives, fives / 2, NULL);               \
                SWAP(S, left + fives / 2, low)                                               \
                left--;                                                                      \
                right++;                                                                     \
            }                                                                                \
            const T pivot = at(v[low]);                                                      \
            for (;;) {                                                                       \
                do left++;                                                                   \
                while (before(at(v[left]), pivot));                                          \
                do right--;                                                                  \
                while (before(pivot, at(v[right])));                                         \
                if (right < left) break;                                                     \
                SWAP(S, left, right)                                                         \
            }                                                                                \
            SWAP(S, low, right)                                                              \
            if (right != sought) keep_pivot(known, right, sought);                           \
            if (right >= sought) high = right - 1;                                           \
            if (right <= sought) low = left;                                                 \
        }                                                                                    \
        if (high == low + 1 && before(at(v[high]), at(v[low]))) SWAP(S, high, low)           \
        keep_pivot(known, sought, sought);                                                   \
    }
#define ITSELF(x) (x)
#define OF(x)     (of[x])
#define SELECTIONS(T, name, before, INEXACT)                                                   \
    SELECTION(T, T, name, before, ITSELF, INEXACT)                                             \
    SELECTION(T, int64_t, places_##name, before, OF, INEXACT)                                  \
    static void in_place_##name(char *data, int64_t n, const int64_t *sought, int64_t count) { \
        pivots known = {.count = 0};                                                           \
        for (int64_t i = 0; i < count; i++)                                                    \
            select_##name(NULL, (T *)(void *)data, n, sought[i], &known);                      \
    }                                                                                          \
    static void by_places_##name(const char *data, int64_t *places, int64_t n,                 \
                                 const int64_t *sought, int64_t count) {                       \
        pivots known = {.count = 0};                                                           \
        for (int64_t i = 0; i < count; i++)                                                    \
            select_places_##name((const T *)(const void *)data, places, n, sought[i], &known); \
    }
SELECTIONS(int32_t, int32, BEFORE_INT, false)
SELECTIONS(int64_t, int64, BEFORE_INT, false)
SELECTIONS(uint64_t, uint64, BEFORE_INT, false)
SELECTIONS(float, float32, BEFORE_FLOAT, true)
SELECTIONS(double, float64, BEFORE_FLOAT, true)
SELECTIONS(nd_complex, complex128, before_complex, true)

#define ENTRY(name) \
    { in_place_##name, by_places_##name }
static const struct {
    void (*in_place)(char *data, int64_t n, const int64_t *sought, int64_t count);
    void (*by_places)(const char *data, int64_t *places, int64_t n, const int64_t *sought,
                      int64_t count);
} selections[ND_TYPES] = {[ND_INT32] = ENTRY(int32),     [ND_INT64] = ENTRY(int64),
                          [ND_UINT64] = ENTRY(uint64),   [ND_FLOAT32] = ENTRY(float32),
                          [ND_FLOAT64] = ENTRY(float64), [ND_COMPLEX128] = ENTRY(complex128)};
/* What the others become, which are in the same order there. */
static const nd_type selected_as[ND_TYPES] = {
    ND_INT32, ND_INT32,  ND_INT32,   ND_INT32,   ND_INT32,   ND_INT32,      ND_INT64,
    ND_INT64, ND_UINT64, ND_FLOAT32, ND_FLOAT32, ND_FLOAT64, ND_COMPLEX128, ND_COMPLEX128};

/* ---- Calls ---- */

static bool read_kind(dvx_vm *vm, dvx_value v) {
    char word[32] = "introselect";
    if (!dvx_failed(v)) nd_word(vm, v, word);
    return !strcmp(word, "introselect") ||
           nd_fail(vm, DVX_VALUE_ERROR, "select kind must be 'introselect' (got '%s')", word);
}

/* The places that are sought, in lines of `n` elements: sorted. */
static dvx_value read_sought(dvx_vm *vm, dvx_value v, int64_t n, nd_array **out) {
    nd_array *a;
    dvx_value given = array_operand(vm, v, NULL, &a);
    if (dvx_failed(given)) return given;
    if (!dtype_is_integer(a->dtype))
        nd_fail(vm, DVX_TYPE_ERROR, "Partition index must be integer");
    else if (a->ndim > 1)
        nd_fail(vm, DVX_VALUE_ERROR, "object too deep for desired array");
    else
        goto good;
    vm->api->release(vm, given);
    return DVX_FAILED;
good:;
    dvx_value made = compose_first(vm, array_copy(vm, a, ND_DTYPE(ND_INT64), 'C'), given);
    if (dvx_failed(made)) return made;
    *out = array_of(vm, made);
    int64_t *sought = (int64_t *)(void *)(*out)->data;
    for (int64_t i = 0; n && i < (*out)->size; i++) {
        if (sought[i] < 0) sought[i] += n;
        if (sought[i] >= 0 && sought[i] < n) continue;
        nd_fail(vm, DVX_VALUE_ERROR, "kth(=%lld) out of bounds (%lld)", (long long)sought[i],
                (long long)n);
        return compose_first(vm, DVX_FAILED, made);
    }
    if (!order_sort(vm, (*out)->dtype, (*out)->data, (*out)->size))
        return compose_first(vm, DVX_FAILED, made);
    return made;
}

/* args: a, kth, axis, kind */
static dvx_value partition_of(dvx_vm *vm, const dvx_value *args, bool places) {
    nd_array *a, *sought = NULL, *out;
    int axis;
    int64_t shape[ND_MOST];
    if (!read_kind(vm, args[3])) return DVX_FAILED;
    dvx_value lines = order_lines(vm, args[0], args[2], &axis, &a), made = DVX_FAILED;
    if (dvx_failed(lines)) return lines;
    const nd_dtype *own = a->dtype, *wide = ND_DTYPE(selected_as[own->num]);
    if (wide != own) {
        lines = compose_first(vm, array_copy(vm, a, wide, 'C'), lines);
        if (dvx_failed(lines)) return lines;
        a = array_of(vm, lines);
    }
    const int64_t n = a->axes[a->ndim - 1].count, size = n * a->dtype->size;
    dvx_value held = read_sought(vm, args[1], n, &sought);
    array_shape(a, shape);
    if (!dvx_failed(held))
        made = places ? array_new(vm, ND_DTYPE(ND_INT64), a->ndim, shape, &out)
                      : vm->api->retain(vm, lines);
    bool good = !dvx_failed(made);
    for (int64_t i = 0; good && n && i < a->size / n; i++) {
        const int64_t *which = (const int64_t *)(const void *)sought->data;
        char *line = a->data + i * size;
        if (places) {
            int64_t *to = (int64_t *)(void *)out->data + i * n;
            for (int64_t k = 0; k < n; k++) to[k] = k;
            selections[a->dtype->num].by_places(line, to, n, which, sought->size);
        } else {
            selections[a->dtype->num].in_place(line, n, which, sought->size);
        }
        good = nd_work(vm, 16 * n);
    }
    vm->api->release(vm, held);
    vm->api->release(vm, lines);
    if (!good) {
        vm->api->release(vm, made);
        return DVX_FAILED;
    }
    if (wide != own && !places)
        made = compose_first(vm, array_copy(vm, array_of(vm, made), own, 'C'), made);
    if (dvx_failed(made)) return made;
    return order_turned_back(vm, made, axis);
}

/* The result lies in memory as the array does. */
static dvx_value partition(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *out;
    (void)count;
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(array)) return array;
    const dvx_value given[4] = {array, args[1], args[2], args[3]};
    dvx_value made = partition_of(vm, given, false);
    if (!dvx_failed(made) && a->ndim > 1 && !(a->flags & ND_C_CONTIGUOUS) &&
        array_of(vm, made)->ndim > 1) {
        dvx_value turned = array_new_like(vm, a->dtype, a, &out);
        if (!dvx_failed(turned)) array_spread(out, array_of(vm, made));
        vm->api->release(vm, made);
        made = turned;
    }
    vm->api->release(vm, array);
    return made;
}
static dvx_value argpartition(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return partition_of(vm, args, true);
}
static dvx_value partition_in_place(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *self = array_self(vm, args[0]);
    (void)count;
    if (self->read_only) return nd_raise(vm, DVX_VALUE_ERROR, "partition array is read-only");
    if (!dvx_failed(args[2]) && nd_is_none(vm, args[2]))
        return nd_raise(vm, DVX_TYPE_ERROR,
                        "'NoneType' object cannot be interpreted as an integer");
    dvx_value made = partition_of(vm, args, false);
    if (dvx_failed(made)) return made;
    const bool good = array_assign(vm, self, array_of(vm, made));
    vm->api->release(vm, made);
    return good ? nd_none(vm) : DVX_FAILED;
}

/* ---- What lib/statistics.dl makes medians and quantiles of ---- */

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

/* ---- Tables ---- */

ND_PARAMETERS(of_partition, 2, "a", "kth", "axis", "kind");
ND_PARAMETERS(of_partition_method, 1, "kth", "axis", "kind");
ND_METHOD(partition, ND_NAMED("partition", partition_in_place, of_partition_method));
ND_METHOD(argpartition, ND_NAMED("argpartition", argpartition, of_partition_method));

static const dvx_function functions[] = {
    ND_NAMED("partition", partition, of_partition),
    ND_NAMED("argpartition", argpartition, of_partition),
    ND_PLAIN("_select", select_in_lines, 2, 2),
};

bool partition_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
