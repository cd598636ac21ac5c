/* itertools_group.c: itertools.groupby and itertools.tee.
 *
 * Invariants
 *  1. The iterators that tee() makes share a chain of blocks.  A block that is not full is the last
 *     one; only then is the source asked for more.  So what all of them have passed is freed. */
#include "modules/data/itertools_parts.h"

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/sequence/iterator.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

static dv_value self_iterate(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

/* Puts a new value (owned) in the place of an old one. */
static void replace(dv_vm *vm, dv_value *place, dv_value value) {
    dv_value old = *place;
    *place = value;
    dv_release(vm, old);
}

/* groupby ----------------------------------------------------------------------------------------
 */

typedef struct groupby {
    dv_object header;
    dv_value source, function; /* function EMPTY: the items are their own keys */
    dv_value target;           /* key of the group that was handed out last, or EMPTY */
    dv_value key, item;        /* read ahead from the source; item EMPTY: taken by the group */
    const dv_object *grouper;  /* the group that may still read; an identity, not a reference */
} groupby;

/* The iterator over one group. */
typedef struct grouper {
    dv_object header;
    dv_value parent; /* a groupby */
    dv_value target;
} grouper;

static groupby *as_groupby(dv_value v) { return (groupby *)dv_as_object(v); }
static grouper *as_grouper(dv_value v) { return (grouper *)dv_as_object(v); }

static void groupby_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const groupby *g = (const groupby *)object;
    visit(vm, g->source, context);
    visit(vm, g->function, context);
    visit(vm, g->target, context);
    visit(vm, g->key, context);
    visit(vm, g->item, context);
}

static void groupby_clear(dv_vm *vm, dv_object *object) {
    groupby *g = (groupby *)object;
    replace(vm, &g->target, DV_EMPTY);
    replace(vm, &g->key, DV_EMPTY);
    replace(vm, &g->item, DV_EMPTY);
}

static void groupby_release(dv_vm *vm, dv_object *object) {
    groupby *g = (groupby *)object;
    dv_release(vm, g->source);
    dv_release(vm, g->function);
    dv_release(vm, g->target);
    dv_release(vm, g->key);
    dv_release(vm, g->item);
    dv_base_free(vm, object, sizeof *g);
}

static dv_value groupby_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    static const char *const names[] = {"iterable", "key"};
    const dv_parameters parameters = {"groupby", names, 2, 2, 1};
    dv_value out[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    dv_value source = dv_iterate(vm, out[0]);
    if (dv_is_empty(source)) return DV_EMPTY;
    groupby *g = dv_container_new(vm, sizeof *g, DV_T_GROUPBY);
    if (!g) {
        dv_release(vm, source);
        return DV_EMPTY;
    }
    g->source = source;
    g->function = dv_is_none(out[1]) ? DV_EMPTY : dv_retain(out[1]);
    g->target = g->key = g->item = DV_EMPTY;
    g->grouper = NULL;
    return dv_object_value(g);
}

static dv_value groupby_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    return dv_subclass_share(vm, class_, exact, sizeof(groupby));
}

/* Reads an item ahead; false: the source is exhausted, or raised. */
static bool groupby_step(dv_vm *vm, groupby *g) {
    dv_value item = dv_step(vm, g->source);
    if (dv_is_empty(item)) return false;
    dv_value key = dv_retain(item);
    if (!dv_is_empty(g->function)) {
        dv_release(vm, key);
        key = dv_call(vm, g->function, &item, 1, DV_EMPTY);
    }
    if (dv_is_empty(key)) {
        dv_release(vm, item);
        return false;
    }
    replace(vm, &g->item, item);
    replace(vm, &g->key, key);
    return true;
}

/* dv_equal of values that dl code may replace meanwhile. */
static int equal(dv_vm *vm, dv_value a, dv_value b) {
    dv_retain(a);
    dv_retain(b);
    int result = dv_equal(vm, a, b);
    dv_release(vm, a);
    dv_release(vm, b);
    return result;
}

/* Reads on to the first item of another group. */
static bool groupby_skip(dv_vm *vm, groupby *g) {
    for (;;) {
        if (!dv_is_empty(g->key)) {
            if (dv_is_empty(g->target)) return true;
            int same = equal(vm, g->target, g->key);
            if (same <= 0) return same == 0;
        }
        if (!groupby_step(vm, g)) return false;
    }
}

static dv_value groupby_next(dv_vm *vm, dv_value self) {
    groupby *g = as_groupby(self);
    g->grouper = NULL;
    if (!groupby_skip(vm, g)) return DV_EMPTY;
    replace(vm, &g->target, dv_retain(g->key));
    grouper *group = dv_container_new(vm, sizeof *group, DV_T_GROUPER);
    if (!group) return DV_EMPTY;
    group->parent = dv_retain(self);
    group->target = dv_retain(g->target);
    g->grouper = &group->header;
    return dv_tuple_take(vm, (dv_value[]){dv_retain(g->key), dv_object_value(group)}, 2);
}

const dv_type dv_groupby_type = {.name = "itertools.groupby",
                                 .id = DV_T_GROUPBY,
                                 .traverse = groupby_traverse,
                                 .clear = groupby_clear,
                                 .release = groupby_release,
                                 .iterate = self_iterate,
                                 .next = groupby_next,
                                 .construct = groupby_construct,
                                 .adopt = groupby_adopt};

static void grouper_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const grouper *group = (const grouper *)object;
    visit(vm, group->parent, context);
    visit(vm, group->target, context);
}

static void grouper_release(dv_vm *vm, dv_object *object) {
    grouper *group = (grouper *)object;
    dv_release(vm, group->parent);
    dv_release(vm, group->target);
    dv_container_free(vm, group, sizeof *group);
}

static dv_value grouper_next(dv_vm *vm, dv_value self) {
    const grouper *group = as_grouper(self);
    groupby *g = as_groupby(group->parent);
    if (g->grouper != &group->header) return DV_EMPTY;
    if (dv_is_empty(g->item) && !groupby_step(vm, g)) return DV_EMPTY;
    if (equal(vm, group->target, g->key) <= 0) return DV_EMPTY;
    dv_value item = g->item;
    g->item = DV_EMPTY;
    replace(vm, &g->key, DV_EMPTY);
    return item;
}

const dv_type dv_grouper_type = {.name = "itertools._grouper",
                                 .id = DV_T_GROUPER,
                                 .traverse = grouper_traverse,
                                 .release = grouper_release,
                                 .iterate = self_iterate,
                                 .next = grouper_next};

/* tee --------------------------------------------------------------------------------------------
 */

#define BLOCK_ITEMS 57

typedef struct tee_block {
    dv_object header;
    dv_value source;
    dv_value next;  /* the block behind, or EMPTY */
    uint32_t count; /* items read */
    bool reading;
    dv_value items[BLOCK_ITEMS];
} tee_block;

typedef struct tee {
    dv_object header;
    dv_value block;
    uint32_t next; /* position in the block */
} tee;

static tee_block *as_block(dv_value v) { return (tee_block *)dv_as_object(v); }
static tee *as_tee(dv_value v) { return (tee *)dv_as_object(v); }

static void block_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const tee_block *block = (const tee_block *)object;
    for (uint32_t i = 0; i < block->count; i++) visit(vm, block->items[i], context);
    visit(vm, block->source, context);
    visit(vm, block->next, context);
}

static void block_clear(dv_vm *vm, dv_object *object) {
    tee_block *block = (tee_block *)object;
    while (block->count > 0) dv_release(vm, block->items[--block->count]);
}

static void block_release(dv_vm *vm, dv_object *object) {
    tee_block *block = (tee_block *)object;
    for (uint32_t i = 0; i < block->count; i++) dv_release(vm, block->items[i]);
    dv_release(vm, block->source);
    dv_release(vm, block->next);
    dv_container_free(vm, block, sizeof *block);
}

const dv_type dv_tee_block_type = {.name = "itertools._tee_dataobject",
                                   .id = DV_T_TEE_BLOCK,
                                   .traverse = block_traverse,
                                   .clear = block_clear,
                                   .release = block_release};

static dv_value block_new(dv_vm *vm, dv_value source) {
    tee_block *block = dv_container_new(vm, sizeof *block, DV_T_TEE_BLOCK);
    if (!block) return DV_EMPTY;
    block->source = dv_retain(source);
    block->next = DV_EMPTY;
    block->count = 0;
    block->reading = false;
    return dv_object_value(block);
}

static void tee_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const tee *t = (const tee *)object;
    visit(vm, t->block, context);
}

static void tee_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((tee *)object)->block);
    dv_container_free(vm, object, sizeof(tee));
}

/* Takes the block (EMPTY: making it failed). */
static dv_value tee_new(dv_vm *vm, dv_value block, uint32_t next) {
    if (dv_is_empty(block)) return DV_EMPTY;
    tee *t = dv_container_new(vm, sizeof *t, DV_T_TEE);
    if (!t) {
        dv_release(vm, block);
        return DV_EMPTY;
    }
    t->block = block;
    t->next = next;
    return dv_object_value(t);
}

/* A new iterator over an iterable; of a tee a copy, which shares its blocks. */
static dv_value tee_over(dv_vm *vm, dv_value iterable) {
    dv_value source = dv_iterate(vm, iterable);
    if (dv_is_empty(source)) return DV_EMPTY;
    dv_value result;
    if (dv_is_shape(source, DV_T_TEE))
        result = tee_new(vm, dv_retain(as_tee(source)->block), as_tee(source)->next);
    else
        result = tee_new(vm, block_new(vm, source), 0);
    dv_release(vm, source);
    return result;
}

/* Reads one more item into the last block. */
static bool block_read(dv_vm *vm, tee_block *block) {
    if (block->reading) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "cannot re-enter the tee iterator");
        return false;
    }
    block->reading = true;
    dv_value item = dv_step(vm, block->source);
    block->reading = false;
    if (dv_is_empty(item)) return false;
    block->items[block->count++] = item;
    return true;
}

/* From the end of a full block to the beginning of the one behind it. */
static bool tee_advance(dv_vm *vm, tee *t) {
    tee_block *block = as_block(t->block);
    if (dv_is_empty(block->next)) {
        block->next = block_new(vm, block->source);
        if (dv_is_empty(block->next)) return false;
    }
    t->next = 0;
    replace(vm, &t->block, dv_retain(block->next));
    return true;
}

static dv_value tee_next(dv_vm *vm, dv_value self) {
    tee *t = as_tee(self);
    if (t->next == BLOCK_ITEMS && !tee_advance(vm, t)) return DV_EMPTY;
    dv_value held = t->block;
    tee_block *block = as_block(held);
    if (t->next == block->count) {
        dv_retain(held);
        bool read = block_read(vm, block);
        dv_release(vm, held);
        if (!read) return DV_EMPTY;
    }
    return dv_retain(as_block(t->block)->items[t->next++]);
}

static dv_value tee_copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return tee_over(vm, args[0]);
}

static dv_value tee_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "_tee", keywords) ||
        !dv_arguments_count(vm, "_tee", count, 1, 1))
        return DV_EMPTY;
    return tee_over(vm, args[0]);
}

static const dv_cfunction_def tee_methods[] = {
    {.name = "__copy__", .entry = tee_copy, .min = 1, .max = 1}, {.name = NULL}};

const dv_type dv_tee_type = {.name = "itertools._tee",
                             .id = DV_T_TEE,
                             .weakly = true,
                             .traverse = tee_traverse,
                             .release = tee_release,
                             .iterate = self_iterate,
                             .next = tee_next,
                             .construct = tee_construct,
                             .methods = tee_methods};

/* The method __copy__ of an iterator that can be copied, else EMPTY (without vm->error). */
static dv_value copy_method(dv_vm *vm, dv_value iterator) {
    dv_value name = dv_str_intern(vm, "__copy__", 8);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value method = dv_find_attribute(vm, iterator, name);
    dv_release(vm, name);
    return method;
}

/* The iterators of tee(): the first one and copies of it. */
static dv_value tee_all(dv_vm *vm, dv_value first, dv_value copy, int64_t number) {
    dv_tuple *tuple = dv_tuple_alloc(vm, number);
    if (!tuple) return DV_EMPTY;
    for (int64_t i = 0; i < number; i++) tuple->items[i] = DV_NONE;
    tuple->items[0] = dv_retain(first);
    for (int64_t i = 1; i < number; i++) {
        dv_value other = dv_call(vm, copy, NULL, 0, DV_EMPTY);
        if (dv_is_empty(other)) {
            dv_release_object(vm, &tuple->header);
            return DV_EMPTY;
        }
        tuple->items[i] = other;
    }
    return dv_object_value(tuple);
}

static dv_value itertools_tee(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t number = 2;
    if (count == 2 && !dv_size_argument(vm, args[1], &number)) return DV_EMPTY;
    if (number < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "n must be >= 0");
    if (number == 0) return dv_tuple_new(vm, NULL, 0);
    dv_value first = dv_iterate(vm, args[0]);
    if (dv_is_empty(first)) return DV_EMPTY;
    dv_value copy = copy_method(vm, first), result = DV_EMPTY;
    if (dv_is_empty(copy) && dv_is_empty(vm->error)) {
        replace(vm, &first, tee_over(vm, first));
        if (!dv_is_empty(first)) copy = copy_method(vm, first);
    }
    if (!dv_is_empty(copy)) result = tee_all(vm, first, copy, number);
    dv_release(vm, copy);
    dv_release(vm, first);
    return result;
}

const dv_cfunction_def dv_itertools_functions[] = {
    {.name = "tee", .entry = itertools_tee, .min = 1, .max = 2}, {.name = NULL}};
