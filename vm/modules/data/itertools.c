/* itertools.c: the module itertools: the iterators over one or two others.
 *
 * Invariants
 *  1. They share one layout, `iter`; what its parts mean is said where each type begins.
 *  2. A part that has been given up (an iterator that is exhausted for good) is EMPTY. */
#include "modules/data/itertools_parts.h"

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

typedef struct iter {
    dv_object header;
    dv_value source; /* mostly the iterator */
    dv_value function;
    dv_value extra;
    bool started;
    int64_t next, stop, step, taken;
} iter;

static iter *as_iter(dv_value v) { return (iter *)dv_as_object(v); }

static void iter_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const iter *it = (const iter *)object;
    visit(vm, it->source, context);
    visit(vm, it->function, context);
    visit(vm, it->extra, context);
}

/* `extra` may be what a function of the program has returned. */
static void iter_clear(dv_vm *vm, dv_object *object) {
    iter *it = (iter *)object;
    dv_value old = it->extra;
    it->extra = DV_EMPTY;
    dv_release(vm, old);
}

static void iter_release(dv_vm *vm, dv_object *object) {
    iter *it = (iter *)object;
    dv_release(vm, it->source);
    dv_release(vm, it->function);
    dv_release(vm, it->extra);
    dv_base_free(vm, object, sizeof *it);
}

static dv_value iter_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    return dv_subclass_share(vm, class_, exact, sizeof(iter));
}

/* Takes the source (EMPTY: making it failed), retains the function. */
static dv_value iter_new(dv_vm *vm, dv_type_id type, dv_value source, dv_value function) {
    if (dv_is_empty(source)) return DV_EMPTY;
    iter *it = dv_container_new(vm, sizeof *it, type);
    if (!it) {
        dv_release(vm, source);
        return DV_EMPTY;
    }
    it->source = source;
    it->function = dv_retain(function);
    it->extra = DV_EMPTY;
    it->started = false;
    it->next = it->stop = it->step = it->taken = 0;
    return dv_object_value(it);
}

static dv_value self_iterate(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static void drop(dv_vm *vm, dv_value *place) {
    dv_value old = *place;
    *place = DV_EMPTY;
    dv_release(vm, old);
}

/* The next item of a part that may be given up meanwhile, when its code advances the iterator that
 * is being advanced. */
static dv_value advance(dv_vm *vm, dv_value part) {
    dv_retain(part);
    dv_value item = dv_step(vm, part);
    dv_release(vm, part);
    return item;
}

/* Puts a new value (owned) in the place of an old one. */
static void replace(dv_vm *vm, dv_value *place, dv_value value) {
    dv_value old = *place;
    *place = value;
    dv_release(vm, old);
}

/* The arguments of a class without keywords. */
static bool plain_arguments(dv_vm *vm, const char *name, uint32_t count, dv_value keywords,
                            uint32_t min, uint32_t max) {
    return dv_arguments_no_keywords(vm, name, keywords) &&
           dv_arguments_count(vm, name, count, min, max);
}

/* Is the result of function(item) true?  -1: raised. */
static int test(dv_vm *vm, dv_value function, dv_value item) {
    dv_value result = dv_call(vm, function, &item, 1, DV_EMPTY);
    if (dv_is_bool(result)) return dv_same(result, DV_TRUE);
    if (dv_is_empty(result)) return -1;
    int truth = dv_truth(vm, result);
    dv_release(vm, result);
    return truth;
}

/* count: source the next number, extra the step --------------------------------------------------
 */

static bool check_number(dv_vm *vm, dv_value v) {
    int number = dv_is_number(vm, v);
    if (number == 0) dv_raise(vm, DV_E_TYPE_ERROR, "a number is required");
    return number > 0;
}

static bool is_one(dv_value v) { return dv_same(v, dv_int(1)) || dv_same(v, DV_TRUE); }

/* The first number (new).  CPython counts by one in a C int, which has no class. */
static dv_value first_count(dv_vm *vm, dv_value start, dv_value step) {
    if (!dv_is_integral(start) || !dv_is_integral(step)) return dv_retain(start);
    dv_value one = dv_int_index(vm, step);
    bool by_one = is_one(one);
    dv_release(vm, one);
    dv_value number = by_one ? dv_int_index(vm, start) : dv_retain(start);
    int64_t fits;
    if (!by_one || dv_is_empty(number) || dv_int_to_int64(number, &fits)) return number;
    dv_release(vm, number);
    return dv_retain(start);
}

static dv_value count_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const char *const names[] = {"start", "step"};
    const dv_parameters parameters = {"count", names, 2, 2, 0};
    dv_value out[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    dv_value start = dv_is_empty(out[0]) ? dv_int(0) : out[0];
    dv_value step = dv_is_empty(out[1]) ? dv_int(1) : out[1];
    if (!check_number(vm, start) || !check_number(vm, step)) return DV_EMPTY;
    start = first_count(vm, start, step);
    if (dv_is_empty(start)) return DV_EMPTY;
    dv_value self = iter_new(vm, DV_T_COUNTER, start, DV_EMPTY);
    if (!dv_is_empty(self)) as_iter(self)->extra = dv_retain(step);
    return self;
}

static dv_value count_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    dv_value number = it->source;
    if (DV_LIKELY(dv_are_ints(number, it->extra))) {
        int64_t next = dv_as_int(number) + dv_as_int(it->extra);
        if (dv_fits_int(next)) {
            it->source = dv_int(next);
            return number;
        }
    }
    dv_value next = dv_binary(vm, DV_BINARY_ADD, number, it->extra);
    if (dv_is_empty(next)) return DV_EMPTY;
    it->source = next; /* the old one goes to the caller */
    return number;
}

static dv_value count_repr(dv_vm *vm, dv_value self) {
    const iter *it = as_iter(self);
    dv_value name = dv_class_of(vm, self)->name;
    if (is_one(it->extra)) return dv_str_printf(vm, "%S(%V)", name, it->source);
    return dv_str_printf(vm, "%S(%V, %V)", name, it->source, it->extra);
}

static const dv_type count_type = {.name = "itertools.count",
                                   .id = DV_T_COUNTER,
                                   .traverse = iter_traverse,
                                   .clear = iter_clear,
                                   .release = iter_release,
                                   .repr = count_repr,
                                   .iterate = self_iterate,
                                   .next = count_next,
                                   .construct = count_construct,
                                   .adopt = iter_adopt};

/* cycle: source the iterator in the first round, extra the list of its items ---------------------
 */

static dv_value cycle_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!plain_arguments(vm, "cycle", count, keywords, 1, 1)) return DV_EMPTY;
    dv_value self = iter_new(vm, DV_T_CYCLE, dv_iterate(vm, args[0]), DV_EMPTY);
    if (dv_is_empty(self)) return DV_EMPTY;
    as_iter(self)->extra = dv_list_new(vm, NULL, 0);
    if (!dv_is_empty(as_iter(self)->extra)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

static dv_value cycle_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    if (!dv_is_empty(it->source)) {
        dv_value item = advance(vm, it->source);
        if (!dv_is_empty(item)) {
            if (dv_list_append(vm, it->extra, item)) return item;
            dv_release(vm, item);
            return DV_EMPTY;
        }
        if (!dv_is_empty(vm->error)) return DV_EMPTY;
        drop(vm, &it->source);
    }
    const dv_list *items = dv_as_list(it->extra);
    if (items->count == 0) return DV_EMPTY;
    dv_value item = items->items[it->next++];
    if (it->next >= items->count) it->next = 0;
    return dv_retain(item);
}

static const dv_type cycle_type = {.name = "itertools.cycle",
                                   .id = DV_T_CYCLE,
                                   .traverse = iter_traverse,
                                   .clear = iter_clear,
                                   .release = iter_release,
                                   .iterate = self_iterate,
                                   .next = cycle_next,
                                   .construct = cycle_construct,
                                   .adopt = iter_adopt,
                                   .ignores_keywords = true};

/* repeat: source the value; `next` times more, or for ever if that is -1 -------------------------
 */

static dv_value repeat_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    static const char *const names[] = {"object", "times"};
    const dv_parameters parameters = {"repeat", names, 2, 2, 1};
    dv_value out[2];
    int64_t times = -1;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    if (!dv_is_empty(out[1])) {
        if (!dv_size_argument(vm, out[1], &times)) return DV_EMPTY;
        if (times < 0) times = 0;
    }
    dv_value self = iter_new(vm, DV_T_REPEAT, dv_retain(out[0]), DV_EMPTY);
    if (!dv_is_empty(self)) as_iter(self)->next = times;
    return self;
}

static dv_value repeat_next(dv_vm *vm, dv_value self) {
    (void)vm;
    iter *it = as_iter(self);
    if (it->next == 0) return DV_EMPTY;
    if (it->next > 0) it->next--;
    return dv_retain(it->source);
}

static dv_value repeat_repr(dv_vm *vm, dv_value self) {
    const iter *it = as_iter(self);
    dv_value name = dv_class_of(vm, self)->name;
    if (it->next < 0) return dv_str_printf(vm, "%S(%V)", name, it->source);
    return dv_str_printf(vm, "%S(%V, %lld)", name, it->source, (long long)it->next);
}

static dv_value repeat_length_hint(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const iter *it = as_iter(args[0]);
    if (it->next < 0) return dv_raise(vm, DV_E_TYPE_ERROR, "len() of unsized object");
    return dv_int_from_int64(vm, it->next);
}

static const dv_cfunction_def repeat_methods[] = {
    {.name = "__length_hint__", .entry = repeat_length_hint, .min = 1, .max = 1}, {.name = NULL}};

static const dv_type repeat_type = {.name = "itertools.repeat",
                                    .id = DV_T_REPEAT,
                                    .traverse = iter_traverse,
                                    .clear = iter_clear,
                                    .release = iter_release,
                                    .repr = repeat_repr,
                                    .iterate = self_iterate,
                                    .next = repeat_next,
                                    .construct = repeat_construct,
                                    .adopt = iter_adopt,
                                    .methods = repeat_methods};

/* accumulate: extra the total so far; not started: extra is what `initial` was ------------------
 */

static dv_value accumulate_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                     dv_value keywords) {
    static const char *const names[] = {"iterable", "func", "initial"};
    const dv_parameters parameters = {"accumulate", names, 3, 2, 1};
    dv_value out[3];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    dv_value function = dv_is_none(out[1]) ? DV_EMPTY : out[1];
    dv_value self = iter_new(vm, DV_T_ACCUMULATE, dv_iterate(vm, out[0]), function);
    if (!dv_is_empty(self) && !dv_is_none(out[2])) as_iter(self)->extra = dv_retain(out[2]);
    return self;
}

static dv_value accumulate_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    bool first = !it->started;
    if (first && !dv_is_empty(it->extra)) {
        it->started = true;
        return dv_retain(it->extra);
    }
    dv_value item = dv_step(vm, it->source);
    if (dv_is_empty(item)) return DV_EMPTY;
    dv_value total = item;
    /* The source may have advanced this very iterator. */
    if (!dv_is_empty(it->extra)) {
        dv_value before = dv_retain(it->extra);
        total = dv_is_empty(it->function)
                    ? dv_binary(vm, DV_BINARY_ADD, before, item)
                    : dv_call(vm, it->function, (dv_value[]){before, item}, 2, DV_EMPTY);
        dv_release(vm, before);
        dv_release(vm, item);
        if (dv_is_empty(total)) return DV_EMPTY;
    }
    it->started = true;
    replace(vm, &it->extra, dv_retain(total));
    return total;
}

static const dv_type accumulate_type = {.name = "itertools.accumulate",
                                        .id = DV_T_ACCUMULATE,
                                        .traverse = iter_traverse,
                                        .clear = iter_clear,
                                        .release = iter_release,
                                        .iterate = self_iterate,
                                        .next = accumulate_next,
                                        .construct = accumulate_construct,
                                        .adopt = iter_adopt};

/* chain: source the iterator of iterables, extra the iterator of the current one -----------------
 */

static dv_value chain_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "chain", keywords)) return DV_EMPTY;
    dv_value all = dv_tuple_new(vm, args, count);
    if (dv_is_empty(all)) return DV_EMPTY;
    dv_value source = dv_iterate(vm, all);
    dv_release(vm, all);
    return iter_new(vm, DV_T_CHAIN, source, DV_EMPTY);
}

static dv_value chain_from_iterable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return iter_new(vm, DV_T_CHAIN, dv_iterate(vm, args[1]), DV_EMPTY);
}

/* Goes on to the next iterable; false: there is none, or raised. */
static bool chain_advance(dv_vm *vm, iter *it) {
    dv_value iterable = advance(vm, it->source);
    dv_value active = DV_EMPTY;
    if (!dv_is_empty(iterable)) {
        active = dv_iterate(vm, iterable);
        dv_release(vm, iterable);
    }
    if (dv_is_empty(active)) drop(vm, &it->source);
    replace(vm, &it->extra, active);
    return !dv_is_empty(active);
}

static dv_value chain_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    while (!dv_is_empty(it->source)) {
        if (dv_is_empty(it->extra) && !chain_advance(vm, it)) return DV_EMPTY;
        dv_value item = advance(vm, it->extra);
        if (!dv_is_empty(item) || !dv_is_empty(vm->error)) return item;
        drop(vm, &it->extra);
    }
    return DV_EMPTY;
}

static const dv_cfunction_def chain_methods[] = {{.name = "from_iterable",
                                                  .entry = chain_from_iterable,
                                                  .min = 2,
                                                  .max = 2,
                                                  .flags = DV_CFUNCTION_CLASS},
                                                 {.name = NULL}};

static const dv_type chain_type = {.name = "itertools.chain",
                                   .id = DV_T_CHAIN,
                                   .traverse = iter_traverse,
                                   .clear = iter_clear,
                                   .release = iter_release,
                                   .iterate = self_iterate,
                                   .next = chain_next,
                                   .construct = chain_construct,
                                   .adopt = iter_adopt,
                                   .ignores_keywords = true,
                                   .methods = chain_methods};

/* compress: source the data, extra the selectors -------------------------------------------------
 */

static dv_value compress_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    static const char *const names[] = {"data", "selectors"};
    const dv_parameters parameters = {"compress", names, 2, 2, 2};
    dv_value out[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    dv_value data = dv_iterate(vm, out[0]);
    if (dv_is_empty(data)) return DV_EMPTY;
    dv_value selectors = dv_iterate(vm, out[1]);
    if (dv_is_empty(selectors)) {
        dv_release(vm, data);
        return DV_EMPTY;
    }
    dv_value self = iter_new(vm, DV_T_COMPRESS, data, DV_EMPTY);
    if (dv_is_empty(self))
        dv_release(vm, selectors);
    else
        as_iter(self)->extra = selectors;
    return self;
}

static dv_value compress_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    for (;;) {
        dv_value item = dv_step(vm, it->source);
        if (dv_is_empty(item)) return DV_EMPTY;
        dv_value selector = dv_step(vm, it->extra);
        int chosen = dv_is_empty(selector) ? -1 : dv_truth(vm, selector);
        dv_release(vm, selector);
        if (chosen > 0) return item;
        dv_release(vm, item);
        if (chosen < 0) return DV_EMPTY;
    }
}

static const dv_type compress_type = {.name = "itertools.compress",
                                      .id = DV_T_COMPRESS,
                                      .traverse = iter_traverse,
                                      .clear = iter_clear,
                                      .release = iter_release,
                                      .iterate = self_iterate,
                                      .next = compress_next,
                                      .construct = compress_construct,
                                      .adopt = iter_adopt};

/* dropwhile, filterfalse, starmap, takewhile: a function and an iterator -------------------------
 */

static dv_value function_construct(dv_vm *vm, dv_type_id type, const char *name,
                                   const dv_value *args, uint32_t count, dv_value keywords) {
    if (!plain_arguments(vm, name, count, keywords, 2, 2)) return DV_EMPTY;
    return iter_new(vm, type, dv_iterate(vm, args[1]), args[0]);
}

static dv_value dropwhile_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    return function_construct(vm, DV_T_DROPWHILE, "dropwhile", args, count, keywords);
}

static dv_value dropwhile_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    for (;;) {
        dv_value item = dv_step(vm, it->source);
        if (dv_is_empty(item) || it->started) return item;
        int drops = test(vm, it->function, item);
        if (drops == 0) {
            it->started = true;
            return item;
        }
        dv_release(vm, item);
        if (drops < 0) return DV_EMPTY;
    }
}

static const dv_type dropwhile_type = {.name = "itertools.dropwhile",
                                       .id = DV_T_DROPWHILE,
                                       .traverse = iter_traverse,
                                       .clear = iter_clear,
                                       .release = iter_release,
                                       .iterate = self_iterate,
                                       .next = dropwhile_next,
                                       .construct = dropwhile_construct,
                                       .adopt = iter_adopt,
                                       .ignores_keywords = true};

static dv_value filterfalse_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                      dv_value keywords) {
    return function_construct(vm, DV_T_FILTERFALSE, "filterfalse", args, count, keywords);
}

static dv_value filterfalse_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    for (;;) {
        dv_value item = dv_step(vm, it->source);
        if (dv_is_empty(item)) return DV_EMPTY;
        int truth = dv_is_none(it->function) ? dv_truth(vm, item) : test(vm, it->function, item);
        if (truth == 0) return item;
        dv_release(vm, item);
        if (truth < 0) return DV_EMPTY;
    }
}

static const dv_type filterfalse_type = {.name = "itertools.filterfalse",
                                         .id = DV_T_FILTERFALSE,
                                         .traverse = iter_traverse,
                                         .clear = iter_clear,
                                         .release = iter_release,
                                         .iterate = self_iterate,
                                         .next = filterfalse_next,
                                         .construct = filterfalse_construct,
                                         .adopt = iter_adopt,
                                         .ignores_keywords = true};

static dv_value starmap_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    return function_construct(vm, DV_T_STARMAP, "starmap", args, count, keywords);
}

static dv_value starmap_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    dv_value item = dv_step(vm, it->source);
    if (dv_is_empty(item)) return DV_EMPTY;
    dv_value all = dv_tuple_from(vm, item);
    dv_release(vm, item);
    if (dv_is_empty(all)) return DV_EMPTY;
    const dv_tuple *tuple = dv_as_tuple(all);
    dv_value result = dv_call(vm, it->function, tuple->items, (uint32_t)tuple->count, DV_EMPTY);
    dv_release(vm, all);
    return result;
}

static const dv_type starmap_type = {.name = "itertools.starmap",
                                     .id = DV_T_STARMAP,
                                     .traverse = iter_traverse,
                                     .clear = iter_clear,
                                     .release = iter_release,
                                     .iterate = self_iterate,
                                     .next = starmap_next,
                                     .construct = starmap_construct,
                                     .adopt = iter_adopt,
                                     .ignores_keywords = true};

static dv_value takewhile_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    return function_construct(vm, DV_T_TAKEWHILE, "takewhile", args, count, keywords);
}

/* `started` says that it has ended. */
static dv_value takewhile_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    if (it->started) return DV_EMPTY;
    dv_value item = dv_step(vm, it->source);
    if (dv_is_empty(item)) return DV_EMPTY;
    int takes = test(vm, it->function, item);
    if (takes > 0) return item;
    dv_release(vm, item);
    if (takes == 0) it->started = true;
    return DV_EMPTY;
}

static const dv_type takewhile_type = {.name = "itertools.takewhile",
                                       .id = DV_T_TAKEWHILE,
                                       .traverse = iter_traverse,
                                       .clear = iter_clear,
                                       .release = iter_release,
                                       .iterate = self_iterate,
                                       .next = takewhile_next,
                                       .construct = takewhile_construct,
                                       .adopt = iter_adopt,
                                       .ignores_keywords = true};

/* islice: `next` is the number of the item that is wanted next, `stop` the bound or -1; `taken`
 * items have been taken from the source
 * ----------------------------------------------------------------
 */

#define SLICE_BOUNDS " must be None or an integer: 0 <= x <= sys.maxsize."

/* A bound of islice; *valid is false where it is no number, or too large. */
static int64_t slice_bound(dv_vm *vm, dv_value v, bool *valid) {
    int64_t bound = -1;
    *valid = dv_size_argument(vm, v, &bound);
    if (*valid) return bound;
    dv_error_clear(vm);
    return -1;
}

/* Sets next, stop and step from the arguments behind the iterable. */
static bool slice_bounds(dv_vm *vm, const dv_value *args, uint32_t count, int64_t *start,
                         int64_t *stop, int64_t *step) {
    bool valid;
    *start = 0;
    *stop = -1;
    *step = 1;
    if (count > 1 && !dv_is_none(args[0])) *start = slice_bound(vm, args[0], &valid);
    dv_value last = args[count > 1 ? 1 : 0];
    if (!dv_is_none(last)) {
        *stop = slice_bound(vm, last, &valid);
        if (*stop == -1) {
            dv_raise(vm, DV_E_VALUE_ERROR, "Stop argument for islice()" SLICE_BOUNDS);
            return false;
        }
    }
    if (*start < 0 || *stop < -1) {
        dv_raise(vm, DV_E_VALUE_ERROR, "Indices for islice()" SLICE_BOUNDS);
        return false;
    }
    if (count > 2 && !dv_is_none(args[2])) *step = slice_bound(vm, args[2], &valid);
    if (*step >= 1) return true;
    dv_raise(vm, DV_E_VALUE_ERROR, "Step for islice() must be a positive integer or None.");
    return false;
}

static dv_value islice_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    int64_t start, stop, step;
    if (!plain_arguments(vm, "islice", count, keywords, 2, 4) ||
        !slice_bounds(vm, args + 1, count - 1, &start, &stop, &step))
        return DV_EMPTY;
    dv_value self = iter_new(vm, DV_T_ISLICE, dv_iterate(vm, args[0]), DV_EMPTY);
    if (dv_is_empty(self)) return DV_EMPTY;
    as_iter(self)->next = start;
    as_iter(self)->stop = stop;
    as_iter(self)->step = step;
    return self;
}

/* The next item of the source, whose end (or exception) ends the slice. */
static dv_value islice_take(dv_vm *vm, iter *it) {
    dv_value item = dv_is_empty(it->source) ? DV_EMPTY : advance(vm, it->source);
    if (dv_is_empty(item))
        drop(vm, &it->source);
    else
        it->taken++;
    return item;
}

static dv_value islice_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    while (it->taken < it->next) {
        dv_value skipped = islice_take(vm, it);
        if (dv_is_empty(skipped)) return DV_EMPTY;
        dv_release(vm, skipped);
    }
    if (it->stop != -1 && it->taken >= it->stop) {
        drop(vm, &it->source);
        return DV_EMPTY;
    }
    dv_value item = islice_take(vm, it);
    if (dv_is_empty(item)) return DV_EMPTY;
    if (__builtin_add_overflow(it->next, it->step, &it->next) ||
        (it->stop != -1 && it->next > it->stop))
        it->next = it->stop == -1 ? INT64_MAX : it->stop;
    return item;
}

static const dv_type islice_type = {.name = "itertools.islice",
                                    .id = DV_T_ISLICE,
                                    .traverse = iter_traverse,
                                    .clear = iter_clear,
                                    .release = iter_release,
                                    .iterate = self_iterate,
                                    .next = islice_next,
                                    .construct = islice_construct,
                                    .adopt = iter_adopt,
                                    .ignores_keywords = true};

/* pairwise: extra the last item ------------------------------------------------------------------
 */

static dv_value pairwise_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    if (!plain_arguments(vm, "pairwise", count, keywords, 1, 1)) return DV_EMPTY;
    return iter_new(vm, DV_T_PAIRWISE, dv_iterate(vm, args[0]), DV_EMPTY);
}

static dv_value pairwise_end(dv_vm *vm, iter *it) {
    drop(vm, &it->source);
    drop(vm, &it->extra);
    return DV_EMPTY;
}

static dv_value pairwise_next(dv_vm *vm, dv_value self) {
    iter *it = as_iter(self);
    if (dv_is_empty(it->source)) return DV_EMPTY;
    if (dv_is_empty(it->extra)) {
        dv_value first = advance(vm, it->source);
        if (dv_is_empty(first) || dv_is_empty(it->source)) {
            dv_release(vm, first);
            return pairwise_end(vm, it);
        }
        replace(vm, &it->extra, first);
    }
    dv_value left = dv_retain(it->extra);
    dv_value right = advance(vm, it->source);
    if (dv_is_empty(right)) {
        dv_release(vm, left);
        return pairwise_end(vm, it);
    }
    replace(vm, &it->extra, dv_retain(right));
    return dv_tuple_take(vm, (dv_value[]){left, right}, 2);
}

static const dv_type pairwise_type = {.name = "itertools.pairwise",
                                      .id = DV_T_PAIRWISE,
                                      .traverse = iter_traverse,
                                      .clear = iter_clear,
                                      .release = iter_release,
                                      .iterate = self_iterate,
                                      .next = pairwise_next,
                                      .construct = pairwise_construct,
                                      .adopt = iter_adopt,
                                      .ignores_keywords = true};

/* The module -------------------------------------------------------------------------------------
 */

bool dv_itertools_fill(dv_vm *vm, dv_module *module) {
    static const dv_type *const types[] = {
        &accumulate_type,      &chain_type,          &compress_type,
        &count_type,           &cycle_type,          &dropwhile_type,
        &filterfalse_type,     &islice_type,         &pairwise_type,
        &repeat_type,          &starmap_type,        &takewhile_type,
        &dv_groupby_type,      &dv_product_type,     &dv_permutations_type,
        &dv_combinations_type, &dv_zip_longest_type, &dv_combinations_repeating_type,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!dv_module_add_type(vm, module, types[i])) return false;
    return dv_module_know_type(vm, &dv_grouper_type) && dv_module_know_type(vm, &dv_tee_type) &&
           dv_module_know_type(vm, &dv_tee_block_type) &&
           dv_module_add_functions(vm, module, dv_itertools_functions);
}
