/* itertools_combine.c: product, permutations, combinations, and zip_longest.
 *
 * Invariants
 *  1. A combination's result is kept and changed in place for the next one when nobody else has it.
 *  2. The pools keep every item of the result, so that replacing one runs no dl code. */
#include "modules/data/itertools_parts.h"

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

typedef struct combiner {
    dv_object header;
    dv_value pools;  /* tuple of the items; of product a tuple of such tuples */
    dv_value result; /* EMPTY before the first */
    bool stopped;
    int64_t length;    /* items of a result */
    int64_t count;     /* items of the pool; of product: pools that are there */
    int64_t indices[]; /* of permutations `count` indices, then `length` cycles; else `length` */
} combiner;

static combiner *as_combiner(dv_value v) { return (combiner *)dv_as_object(v); }

static dv_value self_iterate(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static size_t combiner_size(dv_type_id type, int64_t length, int64_t count) {
    size_t numbers = (size_t)length + (type == DV_T_PERMUTATIONS ? (size_t)count : 0);
    return sizeof(combiner) + numbers * sizeof(int64_t);
}

static void combiner_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const combiner *c = (const combiner *)object;
    visit(vm, c->pools, context);
    visit(vm, c->result, context);
}

static void combiner_release(dv_vm *vm, dv_object *object) {
    combiner *c = (combiner *)object;
    dv_release(vm, c->pools);
    dv_release(vm, c->result);
    dv_type_id type = dv_type_of(vm, dv_object_value(object));
    dv_base_free(vm, object, combiner_size(type, c->length, c->count));
}

static dv_value combiner_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    const combiner *c = as_combiner(exact);
    dv_type_id type = dv_type_of(vm, exact);
    return dv_subclass_share(vm, class_, exact, combiner_size(type, c->length, c->count));
}

/* Takes the pools.  NULL: raised. */
static combiner *combiner_new(dv_vm *vm, dv_type_id type, dv_value pools, int64_t length,
                              int64_t count) {
    combiner *c = NULL;
    if (length > INT32_MAX)
        dv_raise_memory(vm);
    else
        c = dv_container_new(vm, combiner_size(type, length, count), type);
    if (!c) {
        dv_release(vm, pools);
        return NULL;
    }
    c->pools = pools;
    c->result = DV_EMPTY;
    c->stopped = false;
    c->length = length;
    c->count = count;
    return c;
}

/* The result as a tuple that may be changed. */
static dv_tuple *own_result(dv_vm *vm, combiner *c) {
    dv_work_owe(vm, 2);
    if (!dv_is_empty(c->result) && dv_as_object(c->result)->references == 1)
        return dv_as_tuple(c->result);
    dv_tuple *tuple = dv_tuple_alloc(vm, c->length);
    if (!tuple) return NULL;
    for (int64_t i = 0; i < c->length; i++)
        tuple->items[i] =
            dv_is_empty(c->result) ? DV_NONE : dv_retain(dv_as_tuple(c->result)->items[i]);
    dv_release(vm, c->result);
    c->result = dv_object_value(tuple);
    return tuple;
}

static void put(dv_vm *vm, dv_value *place, dv_value item) {
    dv_retain(item);
    dv_release(vm, *place);
    *place = item;
}

/* The result with its items from number `from` on made anew from the indices. */
static dv_value result_from(dv_vm *vm, combiner *c, int64_t from) {
    if (c->length == 0) {
        c->result = dv_retain(vm->known.empty_tuple);
        return dv_retain(c->result);
    }
    dv_tuple *tuple = own_result(vm, c);
    if (!tuple) return DV_EMPTY;
    const dv_value *pool = dv_as_tuple(c->pools)->items;
    for (int64_t i = from; i < c->length; i++) put(vm, &tuple->items[i], pool[c->indices[i]]);
    return dv_retain(c->result);
}

static dv_value stop(dv_vm *vm, combiner *c) {
    dv_value last = c->result;
    c->stopped = true;
    c->result = DV_EMPTY;
    dv_release(vm, last);
    return DV_EMPTY;
}

/* product ----------------------------------------------------------------------------------------
 */

/* The tuple of pools of a product; EMPTY: raised. */
static dv_value product_pools(dv_vm *vm, const dv_value *args, int64_t count) {
    dv_tuple *pools = dv_tuple_alloc(vm, count);
    if (!pools) return DV_EMPTY;
    for (int64_t i = 0; i < count; i++) pools->items[i] = DV_NONE;
    for (int64_t i = 0; i < count; i++) {
        dv_value pool = dv_tuple_from(vm, args[i]);
        if (dv_is_empty(pool)) {
            dv_release_object(vm, &pools->header);
            return DV_EMPTY;
        }
        pools->items[i] = pool;
    }
    return dv_object_value(pools);
}

/* The keyword argument `repeat` behind `positional` arguments. */
static bool product_repeat(dv_vm *vm, const dv_value *args, uint32_t positional, dv_value keywords,
                           int64_t *repeat) {
    static const char *const names[] = {"repeat"};
    const dv_parameters parameters = {"product", names, 1, 1, 0};
    dv_value given;
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    *repeat = 1;
    if (!dv_arguments_sort(vm, &parameters, args + positional, named, keywords, &given) ||
        (!dv_is_empty(given) && !dv_size_argument(vm, given, repeat)))
        return false;
    if (*repeat < 0) dv_raise(vm, DV_E_VALUE_ERROR, "repeat argument cannot be negative");
    return *repeat >= 0;
}

static dv_value product_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    int64_t repeat, length, given = count - named;
    if (!product_repeat(vm, args, count - named, keywords, &repeat)) return DV_EMPTY;
    if (repeat == 0) given = 0;
    if (__builtin_mul_overflow(given, repeat, &length) || length > INT64_MAX / 8)
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "repeat argument too large");
    dv_value pools = product_pools(vm, args, given);
    if (dv_is_empty(pools)) return DV_EMPTY;
    combiner *c = combiner_new(vm, DV_T_PRODUCT, pools, length, given);
    if (!c) return DV_EMPTY;
    for (int64_t i = 0; i < length; i++) c->indices[i] = 0;
    return dv_object_value(c);
}

static const dv_tuple *product_pool(const combiner *c, int64_t i) {
    int64_t number = c->count == c->length ? i : i % c->count;
    return dv_as_tuple(dv_as_tuple(c->pools)->items[number]);
}

static dv_value product_first(dv_vm *vm, combiner *c) {
    for (int64_t i = 0; i < c->length; i++)
        if (product_pool(c, i)->count == 0) return stop(vm, c);
    if (c->length == 0) return result_from(vm, c, 0);
    dv_tuple *tuple = own_result(vm, c);
    if (!tuple) return DV_EMPTY;
    for (int64_t i = 0; i < c->length; i++) put(vm, &tuple->items[i], product_pool(c, i)->items[0]);
    return dv_retain(c->result);
}

static dv_value product_next(dv_vm *vm, dv_value self) {
    combiner *c = as_combiner(self);
    if (c->stopped) return DV_EMPTY;
    if (dv_is_empty(c->result)) return product_first(vm, c);
    if (c->length == 0) return stop(vm, c);
    dv_tuple *tuple = own_result(vm, c);
    if (!tuple) return DV_EMPTY;
    for (int64_t i = c->length - 1; i >= 0; i--) {
        const dv_tuple *pool = product_pool(c, i);
        bool carries = ++c->indices[i] == pool->count;
        if (carries) c->indices[i] = 0;
        put(vm, &tuple->items[i], pool->items[c->indices[i]]);
        if (!carries) return dv_retain(c->result);
    }
    return stop(vm, c);
}

const dv_type dv_product_type = {.name = "itertools.product",
                                 .id = DV_T_PRODUCT,
                                 .traverse = combiner_traverse,
                                 .release = combiner_release,
                                 .iterate = self_iterate,
                                 .next = product_next,
                                 .construct = product_construct,
                                 .adopt = combiner_adopt};

/* permutations -----------------------------------------------------------------------------------
 */

/* permutations' r: None, or an int. */
static bool permutation_length(dv_vm *vm, dv_value r, int64_t *length) {
    if (!dv_is_empty(r) && !dv_is_none(r)) {
        if (!dv_is_integral(r)) {
            dv_raise(vm, DV_E_TYPE_ERROR, "Expected int as r");
            return false;
        }
        if (!dv_size_argument(vm, r, length)) return false;
    }
    if (*length < 0) dv_raise(vm, DV_E_VALUE_ERROR, "r must be non-negative");
    return *length >= 0;
}

static dv_value permutations_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                       dv_value keywords) {
    static const char *const names[] = {"iterable", "r"};
    const dv_parameters parameters = {"permutations", names, 2, 2, 1};
    dv_value out[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    dv_value pool = dv_tuple_from(vm, out[0]);
    if (dv_is_empty(pool)) return DV_EMPTY;
    int64_t n = dv_as_tuple(pool)->count, r = n;
    if (!permutation_length(vm, out[1], &r)) {
        dv_release(vm, pool);
        return DV_EMPTY;
    }
    combiner *c = combiner_new(vm, DV_T_PERMUTATIONS, pool, r > n ? 0 : r, n);
    if (!c) return DV_EMPTY;
    c->stopped = r > n;
    for (int64_t i = 0; i < n; i++) c->indices[i] = i;
    for (int64_t i = 0; i < c->length; i++) c->indices[n + i] = n - i;
    return dv_object_value(c);
}

/* The next permutation's indices; the result is the first position that changed, -1 at the end. */
static int64_t permute(combiner *c) {
    int64_t n = c->count, *indices = c->indices, *cycles = indices + n;
    for (int64_t i = c->length - 1; i >= 0; i--) {
        int64_t index = indices[i];
        if (--cycles[i] > 0) {
            int64_t j = n - cycles[i];
            indices[i] = indices[j];
            indices[j] = index;
            return i;
        }
        /* A whole round: the index goes behind the others. */
        memmove(indices + i, indices + i + 1, (size_t)(n - 1 - i) * sizeof *indices);
        indices[n - 1] = index;
        cycles[i] = n - i;
    }
    return -1;
}

static dv_value permutations_next(dv_vm *vm, dv_value self) {
    combiner *c = as_combiner(self);
    if (c->stopped) return DV_EMPTY;
    if (dv_is_empty(c->result)) return result_from(vm, c, 0);
    int64_t from = permute(c);
    return from < 0 ? stop(vm, c) : result_from(vm, c, from);
}

const dv_type dv_permutations_type = {.name = "itertools.permutations",
                                      .id = DV_T_PERMUTATIONS,
                                      .traverse = combiner_traverse,
                                      .release = combiner_release,
                                      .iterate = self_iterate,
                                      .next = permutations_next,
                                      .construct = permutations_construct,
                                      .adopt = combiner_adopt};

/* combinations, without and with repetition ------------------------------------------------------
 */

static dv_value choose_construct(dv_vm *vm, dv_type_id type, const char *function,
                                 const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"iterable", "r"};
    const dv_parameters parameters = {function, names, 2, 2, 2};
    dv_value out[2];
    int64_t r;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out) ||
        !dv_size_argument(vm, out[1], &r))
        return DV_EMPTY;
    dv_value pool = dv_tuple_from(vm, out[0]);
    if (dv_is_empty(pool)) return DV_EMPTY;
    if (r < 0) {
        dv_release(vm, pool);
        return dv_raise(vm, DV_E_VALUE_ERROR, "r must be non-negative");
    }
    int64_t n = dv_as_tuple(pool)->count;
    bool repeating = type == DV_T_COMBINATIONS_REPEATING;
    bool none = repeating ? n == 0 && r > 0 : r > n;
    combiner *c = combiner_new(vm, type, pool, none ? 0 : r, n);
    if (!c) return DV_EMPTY;
    c->stopped = none;
    for (int64_t i = 0; i < c->length; i++) c->indices[i] = repeating ? 0 : i;
    return dv_object_value(c);
}

static dv_value combinations_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                       dv_value keywords) {
    return choose_construct(vm, DV_T_COMBINATIONS, "combinations", args, count, keywords);
}

static dv_value combinations_next(dv_vm *vm, dv_value self) {
    combiner *c = as_combiner(self);
    if (c->stopped) return DV_EMPTY;
    if (dv_is_empty(c->result)) return result_from(vm, c, 0);
    int64_t i = c->length - 1, spare = c->count - c->length;
    while (i >= 0 && c->indices[i] == i + spare) i--;
    if (i < 0) return stop(vm, c);
    c->indices[i]++;
    for (int64_t j = i + 1; j < c->length; j++) c->indices[j] = c->indices[j - 1] + 1;
    return result_from(vm, c, i);
}

const dv_type dv_combinations_type = {.name = "itertools.combinations",
                                      .id = DV_T_COMBINATIONS,
                                      .traverse = combiner_traverse,
                                      .release = combiner_release,
                                      .iterate = self_iterate,
                                      .next = combinations_next,
                                      .construct = combinations_construct,
                                      .adopt = combiner_adopt};

static dv_value repeating_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    return choose_construct(vm, DV_T_COMBINATIONS_REPEATING, "combinations_with_replacement", args,
                            count, keywords);
}

static dv_value repeating_next(dv_vm *vm, dv_value self) {
    combiner *c = as_combiner(self);
    if (c->stopped) return DV_EMPTY;
    if (dv_is_empty(c->result)) return result_from(vm, c, 0);
    int64_t i = c->length - 1;
    while (i >= 0 && c->indices[i] == c->count - 1) i--;
    if (i < 0) return stop(vm, c);
    int64_t index = c->indices[i] + 1;
    for (int64_t j = i; j < c->length; j++) c->indices[j] = index;
    return result_from(vm, c, i);
}

const dv_type dv_combinations_repeating_type = {.name = "itertools.combinations_with_replacement",
                                                .id = DV_T_COMBINATIONS_REPEATING,
                                                .traverse = combiner_traverse,
                                                .release = combiner_release,
                                                .iterate = self_iterate,
                                                .next = repeating_next,
                                                .construct = repeating_construct,
                                                .adopt = combiner_adopt};

/* zip_longest ------------------------------------------------------------------------------------
 */

typedef struct longest {
    dv_object header;
    dv_value fill;
    uint32_t count, active;
    dv_value iterators[]; /* EMPTY: exhausted */
} longest;

static size_t longest_size(uint32_t count) { return sizeof(longest) + count * sizeof(dv_value); }

static void longest_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const longest *z = (const longest *)object;
    for (uint32_t i = 0; i < z->count; i++) visit(vm, z->iterators[i], context);
    visit(vm, z->fill, context);
}

static void longest_release(dv_vm *vm, dv_object *object) {
    longest *z = (longest *)object;
    for (uint32_t i = 0; i < z->count; i++) dv_release(vm, z->iterators[i]);
    dv_release(vm, z->fill);
    dv_base_free(vm, object, longest_size(z->count));
}

static dv_value longest_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (named > 1 || (named == 1 && !dv_str_is(dv_as_tuple(keywords)->items[0], "fillvalue")))
        return dv_raise(vm, DV_E_TYPE_ERROR, "zip_longest() got an unexpected keyword argument");
    uint32_t number = count - named;
    longest *z = dv_container_new(vm, longest_size(number), DV_T_ZIP_LONGEST);
    if (!z) return DV_EMPTY;
    z->fill = named ? dv_retain(args[number]) : DV_NONE;
    z->count = z->active = number;
    for (uint32_t i = 0; i < number; i++) z->iterators[i] = DV_EMPTY;
    for (uint32_t i = 0; i < number; i++) {
        z->iterators[i] = dv_iterate(vm, args[i]);
        if (!dv_is_empty(z->iterators[i])) continue;
        dv_release_object(vm, &z->header);
        return DV_EMPTY;
    }
    return dv_object_value(z);
}

static dv_value longest_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    uint32_t count = ((const longest *)dv_as_object(exact))->count;
    return dv_subclass_share(vm, class_, exact, longest_size(count));
}

/* The next item of iterator number i, or what stands in for it; EMPTY: all have ended, or raised.
 */
static dv_value longest_item(dv_vm *vm, longest *z, uint32_t i) {
    dv_value iterator = z->iterators[i];
    if (dv_is_empty(iterator)) return dv_retain(z->fill);
    dv_retain(iterator);
    dv_value item = dv_step(vm, iterator);
    dv_release(vm, iterator);
    if (!dv_is_empty(item)) return item;
    if (z->active > 0) z->active--;
    if (z->active == 0 || !dv_is_empty(vm->error)) {
        z->active = 0;
        return DV_EMPTY;
    }
    iterator = z->iterators[i];
    z->iterators[i] = DV_EMPTY;
    dv_release(vm, iterator);
    return dv_retain(z->fill);
}

static dv_value longest_next(dv_vm *vm, dv_value self) {
    longest *z = (longest *)dv_as_object(self);
    if (z->active == 0) return DV_EMPTY;
    dv_tuple *tuple = dv_tuple_alloc(vm, z->count);
    if (!tuple) return DV_EMPTY;
    for (uint32_t i = 0; i < z->count; i++) tuple->items[i] = DV_NONE;
    for (uint32_t i = 0; i < z->count; i++) {
        dv_value item = longest_item(vm, z, i);
        if (dv_is_empty(item)) {
            dv_release_object(vm, &tuple->header);
            return DV_EMPTY;
        }
        tuple->items[i] = item;
    }
    return dv_object_value(tuple);
}

const dv_type dv_zip_longest_type = {.name = "itertools.zip_longest",
                                     .id = DV_T_ZIP_LONGEST,
                                     .traverse = longest_traverse,
                                     .release = longest_release,
                                     .iterate = self_iterate,
                                     .next = longest_next,
                                     .construct = longest_construct,
                                     .adopt = longest_adopt};
