/* collect.c: the cycle collector (collect.h).
 *
 * Invariants
 *  1. Between dv_collect_mark and dv_collect_unmark every container has LIVE in its reference
 * count; a value that is visited and has it not is no container.
 *  2. REACHED: something that is alive refers to it; SCANNED: what it refers to is reached, too.
 *  3. The count below the marks is first reduced by the references from containers (subtract), and
 *     given each of them back when the container that holds it is scanned. */
#include "core/vm.h"
#include "core/work.h"

#define LIVE    DV_COLLECT_LIVE
#define REACHED 0x40000000u
#define SCANNED 0x20000000u
#define LISTED  0x10000000u
#define COUNT   0x0FFFFFFFu
#define HIGHEST 0x0EFFFFFFu /* of counts: with marks they stay below DV_HEAP_PREFIX_MARK */

/* Objects that are reached and wait to be scanned.  When there are more, they are found by walking
 * all containers again. */
#define WAITING 512u

/* Containers that were visited and are being fetched into the cache: a ring, in which each takes
 * the place of the one before by so many, whose turn it is then.  NULL: none. */
#define COMING 8u

typedef struct coming {
    dv_object *ring[COMING];
    uint32_t at;
} coming;

typedef struct collection {
    dv_object *waiting[WAITING];
    uint32_t count;
    bool overflow;
    size_t scanned, visited; /* objects; what they hold, for counting work */
    coming coming;
} collection;

static void request(dv_heap *heap) {
    dv_vm *vm = (dv_vm *)(void *)((char *)heap - offsetof(dv_vm, heap));
    vm->collector.wanted = true;
    dv_poll_soon(vm);
    dv_poll_at_back_edge(vm);
}

/* Somebody else than the VM has its MemoryError: it is on its way, or handled. */
static bool handles_memory_error(const dv_heap *heap) {
    const dv_vm *vm = (const dv_vm *)(const void *)((const char *)heap - offsetof(dv_vm, heap));
    return !dv_is_empty(vm->memory_error) && dv_as_object(vm->memory_error)->references > 1;
}

/* What fills memory, or copies it, is so counted without saying so; small blocks are made within
 * rounds that count.  Those that the C library gives back at once are new pages each time, which
 * takes several times longer. */
static void owe(dv_heap *heap, size_t size) {
    enum { SMALL = 4096, LARGE = 1 << 25 };
    if (size < SMALL) return;
    dv_vm *vm = (dv_vm *)(void *)((char *)heap - offsetof(dv_vm, heap));
    dv_work_owe(vm, (int64_t)(size / (size < LARGE ? 224 : 32)));
}

void dv_collector_init(dv_vm *vm) {
    vm->collector = (dv_collector){.threshold = {700, 10, 10}};
    vm->heap.full = request;
    vm->heap.in_need = handles_memory_error;
    vm->heap.taken = owe;
}

/* Traversing ------------------------------------------------------------------------------------
 */

static void traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    if (object->shape >> DV_LAYOUT_SHIFT)
        dv_subclass_traverse(vm, object, visit, context);
    else if (object->shape >= DV_T_COUNT)
        dv_instance_traverse(vm, object, visit, context);
    else if (vm->types[object->shape]->traverse)
        vm->types[object->shape]->traverse(vm, object, visit, context);
}

void dv_traverse(dv_vm *vm, dv_value v, dv_visit visit, void *context) {
    if (dv_is_object(v)) traverse(vm, dv_as_object(v), visit, context);
}

static void clear(dv_vm *vm, dv_object *object) {
    if (object->shape >> DV_LAYOUT_SHIFT)
        dv_subclass_clear(vm, object);
    else if (object->shape >= DV_T_COUNT)
        dv_instance_clear(vm, object);
    else if (vm->types[object->shape]->clear)
        vm->types[object->shape]->clear(vm, object);
}

/* Is this what CPython's collector may have to look at?  Static classes are not. */
static bool may_be_tracked(dv_vm *vm, dv_value v) {
    if (!dv_is_object(v)) return false;
    uint32_t shape = dv_as_object(v)->shape;
    if (shape == DV_T_CLASS) return !((const dv_class *)dv_as_object(v))->descriptor;
    return shape >= DV_T_COUNT || (shape != DV_T_CODE && vm->types[shape]->traverse);
}

typedef struct search {
    bool found;
} search;

static void find_tracked(dv_vm *vm, dv_value v, void *context) {
    search *s = context;
    if (!s->found) s->found = may_be_tracked(vm, v);
}

static bool refers_to_tracked(dv_vm *vm, dv_object *object) {
    search s = {false};
    traverse(vm, object, find_tracked, &s);
    return s.found;
}

bool dv_collect_tracks(dv_vm *vm, dv_value v) {
    if (!may_be_tracked(vm, v)) return false;
    dv_object *object = dv_as_object(v);
    if (object->shape == DV_T_DICT || object->shape == DV_T_TUPLE)
        return refers_to_tracked(vm, object);
    return true;
}

/* What CPython has a class consist of: the class, the tuples of its bases and of its resolution
 * order, its dict if that is tracked; and where __dict__ and __weakref__ are new, descriptors of
 * them in that dict. */
static int64_t count_class(dv_vm *vm, const dv_class *class_) {
    if (class_->base && class_->base->descriptor) return 6;
    search s = {false};
    dv_namespace_traverse(vm, &class_->attributes, find_tracked, &s);
    return s.found ? 4 : 3;
}

/* Some iterators of CPython keep tuples for their iterators and for the next result. */
static int64_t count_as_cpython(dv_vm *vm, dv_object *object) {
    switch (object->shape) {
    case DV_T_CLASS: return count_class(vm, (const dv_class *)object);
    case DV_T_DICT: return refers_to_tracked(vm, object);
    case DV_T_CODE: return 0;
    case DV_T_ZIP: return 3;
    case DV_T_MAP:
    case DV_T_ENUMERATE: return 2;
    default: return 1;
    }
}

/* Finding garbage -------------------------------------------------------------------------------
 */

/* Takes the marks off the containers that are walked before one. */
static void unmark_before(dv_vm *vm, const dv_object *last) {
    dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    while ((object = dv_heap_next_object(&walk)) != last) object->references &= COUNT;
}

/* Marks all containers as live; false, and no marks: one is referred to too often. */
bool dv_collect_mark(dv_vm *vm) {
    if (vm->release_queue) return false;
    dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    while ((object = dv_heap_next_object(&walk))) {
        if (DV_UNLIKELY(object->references > HIGHEST)) {
            unmark_before(vm, object);
            return false;
        }
        object->references |= LIVE;
    }
    return true;
}

void dv_collect_unmark(dv_vm *vm) {
    dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    while ((object = dv_heap_next_object(&walk))) object->references &= COUNT;
}

/* Has an object fetched; the one whose turn it is, or NULL. */
static inline dv_object *next_coming(coming *c, dv_object *object) {
    if (object) __builtin_prefetch(object, 1);
    dv_object *next = c->ring[c->at];
    c->ring[c->at] = object;
    c->at = (c->at + 1) % COMING;
    return next;
}

static inline void subtract_from(dv_object *object) {
    if (object && object->references & LIVE) object->references--;
}

static void subtract(dv_vm *vm, dv_value v, void *context) {
    (void)vm;
    if (dv_is_object(v)) subtract_from(next_coming(context, dv_as_object(v)));
}

/* The number of containers. */
static size_t subtract_all(dv_vm *vm) {
    coming coming = {.at = 0};
    size_t count = 0;
    dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    for (; (object = dv_heap_next_object(&walk)); count++) traverse(vm, object, subtract, &coming);
    for (uint32_t i = 0; i < COMING; i++) subtract_from(next_coming(&coming, NULL));
    return count;
}

static void give_back(dv_vm *vm, dv_value v, void *context) {
    (void)vm, (void)context;
    if (dv_is_object(v) && dv_as_object(v)->references & LIVE) dv_as_object(v)->references++;
}

static void reach_object(collection *c, dv_object *object) {
    object->references |= REACHED;
    if (c->count < WAITING)
        c->waiting[c->count++] = object;
    else
        c->overflow = true;
}

static void reach_next(collection *c, dv_object *object) {
    object = next_coming(&c->coming, object);
    if (!object || !(object->references & LIVE)) return;
    object->references++;
    if (!(object->references & REACHED)) reach_object(c, object);
}

static void reach(dv_vm *vm, dv_value v, void *context) {
    collection *c = context;
    (void)vm;
    c->visited++;
    if (dv_is_object(v)) reach_next(c, dv_as_object(v));
}

static void scan_waiting(dv_vm *vm, collection *c) {
    while (c->count > 0) {
        dv_object *object = c->waiting[--c->count];
        object->references |= SCANNED;
        c->scanned++;
        traverse(vm, object, reach, c);
        for (uint32_t i = 0; c->count == 0 && i < COMING; i++) reach_next(c, NULL);
    }
}

/* Scans everything that is alive; so are objects without the mark `unlisted`, unless that is 0.
 * The number of these objects. */
static size_t scan_reachable(dv_vm *vm, uint32_t unlisted) {
    collection c = {.count = 0};
    do {
        c.overflow = false;
        dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
        dv_object *object;
        while ((object = dv_heap_next_object(&walk))) {
            if (object->references & SCANNED) continue;
            if (!((object->references ^ unlisted) & (COUNT | REACHED | unlisted))) continue;
            reach_object(&c, object);
            scan_waiting(vm, &c);
        }
    } while (c.overflow);
    dv_work_owe(vm, (int64_t)(c.scanned * 3 + c.visited / 2));
    return c.scanned;
}

/* Marks what is alive as REACHED, and gives all counts their old values again; the result is the
 * number of containers that are garbage.  `kept`, if there are any, are containers that the
 * collection itself holds one reference to, and others are alive. */
static size_t find_garbage(dv_vm *vm, dv_object *const *kept, size_t kept_count) {
    const size_t all = subtract_all(vm);
    for (size_t i = 0; i < kept_count; i++) {
        kept[i]->references--;
        kept[i]->references |= LISTED;
    }
    const size_t alive = scan_reachable(vm, kept_count ? LISTED : 0);
    size_t count = 0;
    dv_object *object;
    dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
    while (alive < all && (object = dv_heap_next_object(&walk))) {
        if (object->references & REACHED) continue;
        traverse(vm, object, give_back, NULL);
        count++;
    }
    for (size_t i = 0; i < kept_count; i++) kept[i]->references++;
    return count;
}

/* Ending it -------------------------------------------------------------------------------------
 */

/* References to all garbage, while the marks are still there. */
static void keep_garbage(dv_vm *vm, dv_object **garbage) {
    dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    while ((object = dv_heap_next_object(&walk))) {
        if (object->references & REACHED) continue;
        object->references++;
        *garbage++ = object;
    }
}

bool dv_collect_has_finaliser(dv_vm *vm, dv_object *object) {
    if (object->shape == DV_T_GENERATOR)
        return dv_generator_has_finaliser(vm, dv_object_value(object));
    return object->shape >= DV_T_COUNT && dv_instance_has_finaliser(vm, object);
}

void dv_collect_finalise(dv_vm *vm, dv_object *object) {
    if (object->shape == DV_T_GENERATOR)
        dv_generator_finalise(vm, dv_object_value(object));
    else
        (void)dv_instance_finalise(vm, object);
}

/* Grows in the order in which objects with finalisers were made. */
static uint32_t serial_of(const dv_object *object) {
    return object->shape == DV_T_GENERATOR ? dv_generator_serial(dv_object_value(object))
                                           : dv_instance_serial(object);
}

/* Puts the objects with a finaliser in front; how many they are. */
static size_t finalisable_first(dv_vm *vm, dv_object **objects, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        dv_object *object = objects[i];
        if (!dv_collect_has_finaliser(vm, object)) continue;
        objects[i] = objects[found];
        objects[found++] = object;
    }
    return found;
}

static void sift(dv_object **heap, size_t count, size_t at) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && serial_of(heap[child + 1]) > serial_of(heap[child])) child++;
        dv_object *object = heap[at];
        if (serial_of(object) >= serial_of(heap[child])) return;
        heap[at] = heap[child];
        heap[child] = object;
    }
}

void dv_collect_sort(dv_object **objects, size_t count) {
    for (size_t i = count / 2; i-- > 0;) sift(objects, count, i);
    while (count-- > 1) {
        dv_object *last = objects[0];
        objects[0] = objects[count];
        objects[count] = last;
        sift(objects, count, 0);
    }
}

/* Runs the finalisers of objects that the caller holds a reference to; how many there were. */
static size_t finalise(dv_vm *vm, dv_object **objects, size_t count) {
    count = finalisable_first(vm, objects, count);
    dv_collect_sort(objects, count);
    for (size_t i = 0; i < count; i++) dv_collect_finalise(vm, objects[i]);
    return count;
}

/* Puts what is garbage still, after finalisers have run, in front; how many these are. */
static size_t garbage_first(dv_vm *vm, dv_object **garbage, size_t count) {
    if (!dv_collect_mark(vm)) return 0;
    (void)find_garbage(vm, garbage, count);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        dv_object *object = garbage[i];
        if (object->references & REACHED) continue;
        garbage[i] = garbage[found];
        garbage[found++] = object;
    }
    dv_collect_unmark(vm);
    return found;
}

static int64_t end_garbage(dv_vm *vm, dv_object **garbage, size_t count) {
    int64_t counted = 0;
    for (size_t i = 0; i < count; i++) counted += count_as_cpython(vm, garbage[i]);
    for (size_t i = 0; i < count; i++) {
        clear(vm, garbage[i]);
        dv_release_object(vm, garbage[i]);
    }
    return counted;
}

/* Without memory for a list of the garbage nothing is collected. */
static int64_t collect(dv_vm *vm) {
    if (!dv_collect_mark(vm)) return 0;
    size_t count = find_garbage(vm, NULL, 0), size = count * sizeof(dv_object *);
    dv_object **garbage = count ? dv_heap_alloc(&vm->heap, size) : NULL;
    if (garbage) keep_garbage(vm, garbage);
    dv_weak *cleared = garbage ? dv_weak_clear_garbage(vm, LIVE, REACHED) : NULL;
    dv_collect_unmark(vm);
    if (!garbage) return 0;
    dv_weak_call_all(vm, cleared);
    size_t left = count;
    const bool finalisers = vm->finalisers || vm->collector.closes;
    if (finalisers && finalise(vm, garbage, count) > 0) left = garbage_first(vm, garbage, count);
    int64_t counted = end_garbage(vm, garbage, left);
    for (size_t i = left; i < count; i++) dv_release_object(vm, garbage[i]);
    dv_heap_free(&vm->heap, garbage, size);
    return counted;
}

int64_t dv_collect(dv_vm *vm) {
    if (vm->collector.running) return 0;
    vm->collector.running = true;
    vm->collector.wanted = false;
    int64_t count = collect(vm);
    /* An object that is being released right now looks like a free block. */
    if (vm->release_depth == 0)
        dv_heap_settle(&vm->heap);
    else
        dv_heap_postpone(&vm->heap);
    vm->collector.collections++;
    vm->collector.collected += count;
    vm->collector.running = false;
    return count;
}

void dv_collect_wanted(dv_vm *vm) {
    vm->collector.wanted = false;
    if (vm->collector.disabled || vm->collector.threshold[0] == 0) {
        dv_heap_postpone(&vm->heap);
        return;
    }
    void (*died)(dv_vm *, const dv_object *) = vm->hooks.inspect.died;
    vm->hooks.inspect.died =
        NULL; /* when this collection comes depends on what the level allocates */
    dv_collect(vm);
    vm->hooks.inspect.died = died;
}
