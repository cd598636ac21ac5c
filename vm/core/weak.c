/* weak.c: the table of weak references (weak.h). */
#include "core/vm.h"

/* The table -------------------------------------------------------------------------------------
 */

#define LEAST 8u

/* The place in the index where the object's number is, or would be. */
static uint32_t *find_place(const dv_weak_table *table, const dv_object *object) {
    const uint32_t mask = 2 * table->capacity - 1;
    uint32_t i = (uint32_t)((uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15) >> 32);
    while (table->index[i & mask] && table->entries[table->index[i & mask] - 1].target != object)
        i++;
    return &table->index[i & mask];
}

static dv_weak_entry *find(const dv_weak_table *table, const dv_object *object) {
    if (table->live == 0) return NULL;
    const uint32_t number = *find_place(table, object);
    return number ? &table->entries[number - 1] : NULL;
}

static size_t entries_size(uint32_t capacity) { return capacity * sizeof(dv_weak_entry); }
static size_t index_size(uint32_t capacity) { return 2 * capacity * sizeof(uint32_t); }

static void free_table(dv_vm *vm, const dv_weak_table *table) {
    if (table->entries) dv_heap_free(&vm->heap, table->entries, entries_size(table->capacity));
    if (table->index) dv_heap_free(&vm->heap, table->index, index_size(table->capacity));
}

static dv_weak_entry *append(dv_weak_table *table, dv_object *object, dv_weak *first) {
    dv_weak_entry *entry = &table->entries[table->count];
    *entry = (dv_weak_entry){object, first};
    *find_place(table, object) = ++table->count;
    table->live++;
    return entry;
}

/* Without the free entries, and with room for as many again. */
static bool grow(dv_vm *vm, dv_weak_table *table) {
    dv_weak_table grown = {.capacity = LEAST, .silent = table->silent};
    while (grown.capacity < 2 * table->live) grown.capacity *= 2;
    grown.entries = dv_heap_alloc(&vm->heap, entries_size(grown.capacity));
    grown.index = dv_heap_alloc(&vm->heap, index_size(grown.capacity));
    if (!grown.entries || !grown.index) {
        free_table(vm, &grown);
        dv_raise_memory(vm);
        return false;
    }
    memset(grown.index, 0, index_size(grown.capacity));
    for (uint32_t i = 0; i < table->count; i++)
        if (table->entries[i].target)
            append(&grown, table->entries[i].target, table->entries[i].first);
    free_table(vm, table);
    *table = grown;
    return true;
}

/* The number of a free entry stays in the index, where others may stand behind it; an empty table
 * begins anew. */
static void remove_entry(dv_vm *vm, dv_weak_table *table, dv_weak_entry *entry) {
    *entry = (dv_weak_entry){NULL, NULL};
    if (--table->live > 0) return;
    table->count = 0;
    if (table->capacity > LEAST) {
        free_table(vm, table);
        *table = (dv_weak_table){.silent = table->silent};
    } else {
        memset(table->index, 0, index_size(table->capacity));
    }
}

/* Being noticed ---------------------------------------------------------------------------------
 */

/* A built-in type in vm->types, once one of its objects had a weak reference. */
typedef struct watched {
    dv_type type;
    const dv_type *original;
} watched;

static void release_watched(dv_vm *vm, dv_object *object) {
    const uint32_t shape = object->shape, layout = shape >> DV_LAYOUT_SHIFT;
    const watched *w = (const watched *)(const void *)vm->types[layout ? layout : shape];
    if (layout || dv_weak_end(vm, object)) w->original->release(vm, object);
}

static bool watch_type(dv_vm *vm, uint32_t id) {
    if (vm->types[id]->release == release_watched) return true;
    watched *w = dv_heap_alloc(&vm->heap, sizeof *w);
    if (!w) return dv_raise_memory(vm), false;
    *w = (watched){*vm->types[id], vm->types[id]};
    w->type.release = release_watched;
    vm->types[id] = &w->type;
    return true;
}

bool dv_weak_allowed(dv_vm *vm, dv_value v) { return dv_class_of(vm, v)->weak; }

/* References to it ------------------------------------------------------------------------------
 */

static bool is_proxy(uint32_t shape) {
    return shape == DV_T_WEAK_PROXY || shape == DV_T_WEAK_CALLABLE_PROXY;
}

static bool is_weak(const dv_object *object) {
    const uint32_t layout = object->shape >> DV_LAYOUT_SHIFT;
    return object->shape == DV_T_WEAK || layout == DV_T_WEAK || is_proxy(object->shape);
}

static bool is_shared(const dv_weak *weak, bool proxy) {
    return weak && dv_is_empty(weak->callback) && weak->header.references > 0 &&
           (proxy ? is_proxy(weak->header.shape) : weak->header.shape == DV_T_WEAK);
}

dv_weak *dv_weak_first(dv_vm *vm, const dv_object *object) {
    const dv_weak_entry *entry = find(&vm->weak, object);
    return entry ? entry->first : NULL;
}

dv_weak *dv_weak_shared(dv_vm *vm, const dv_object *object, uint32_t shape) {
    dv_weak *first = dv_weak_first(vm, object);
    if (!is_proxy(shape)) return is_shared(first, false) ? first : NULL;
    if (is_shared(first, false)) first = first->next;
    return is_shared(first, true) ? first : NULL;
}

/* The reference that a new one is to stand behind; NULL: it is the first. */
static dv_weak *predecessor(dv_vm *vm, const dv_weak *weak, const dv_object *object) {
    dv_weak *ref = dv_weak_shared(vm, object, DV_T_WEAK);
    if (is_shared(weak, false)) return NULL;
    if (is_shared(weak, true)) return ref;
    dv_weak *proxy = dv_weak_shared(vm, object, DV_T_WEAK_PROXY);
    return proxy ? proxy : ref;
}

bool dv_weak_link(dv_vm *vm, dv_weak *weak, dv_object *object) {
    dv_weak_table *table = &vm->weak;
    const bool watching =
        object->shape >= DV_T_COUNT ? dv_instance_watch(vm, object) : watch_type(vm, object->shape);
    if (!watching) return false;
    dv_weak_entry *entry = find(table, object);
    if (!entry && table->count == table->capacity && !grow(vm, table)) return false;
    dv_weak *before = entry ? predecessor(vm, weak, object) : NULL;
    if (!entry) entry = append(table, object, NULL);
    weak->target = object;
    weak->previous = before;
    weak->next = before ? before->next : entry->first;
    if (weak->next) weak->next->previous = weak;
    if (before)
        before->next = weak;
    else
        entry->first = weak;
    vm->collector.closes |= !dv_is_empty(weak->callback);
    return true;
}

void dv_weak_unlink(dv_vm *vm, dv_weak *weak) {
    if (!weak->target) return;
    dv_weak_entry *entry = find(&vm->weak, weak->target);
    if (weak->next) weak->next->previous = weak->previous;
    if (weak->previous)
        weak->previous->next = weak->next;
    else
        entry->first = weak->next;
    weak->target = NULL;
    weak->next = weak->previous = NULL;
    if (!entry->first) remove_entry(vm, &vm->weak, entry);
}

/* The end ---------------------------------------------------------------------------------------
 */

/* Clears the references of an entry, which is removed; of those that are to be called, an own
 * reference each is kept in a chain, to which `last` leads.  Without `reached` nobody else refers
 * to a reference. */
static dv_weak **clear(dv_vm *vm, dv_weak_entry *entry, uint32_t reached, dv_weak **last) {
    dv_weak *weak = entry->first;
    remove_entry(vm, &vm->weak, entry);
    while (weak) {
        dv_weak *next = weak->next;
        weak->target = NULL;
        weak->next = weak->previous = NULL;
        if (!dv_is_empty(weak->callback) && weak->header.references > 0 &&
            (weak->header.references & reached) == reached) {
            weak->header.references++;
            *last = weak;
            last = &weak->next;
        }
        weak = next;
    }
    return last;
}

void dv_weak_call_all(dv_vm *vm, dv_weak *cleared) {
    while (cleared) {
        dv_weak *weak = cleared;
        cleared = weak->next;
        weak->next = NULL;
        dv_value callback = weak->callback;
        weak->callback = DV_EMPTY;
        if (!vm->weak.silent) dv_weak_call(vm, dv_object_value(weak), callback);
        dv_release(vm, callback);
        dv_release_object(vm, &weak->header);
    }
}

bool dv_weak_end(dv_vm *vm, dv_object *object) {
    dv_weak_entry *entry = find(&vm->weak, object);
    if (!entry) return true;
    dv_weak *cleared = NULL;
    (void)clear(vm, entry, 0, &cleared);
    object->references++;
    if (vm->hooks.inspect.died) vm->hooks.inspect.died(vm, object);
    dv_weak_call_all(vm, cleared);
    return --object->references == 0;
}

void dv_weak_wait(dv_vm *vm, dv_object *object, bool waits) {
    if (vm->weak.live == 0) return;
    if (waits && is_weak(object)) dv_weak_unlink(vm, (dv_weak *)object);
    for (dv_weak *weak = dv_weak_first(vm, object); weak; weak = weak->next) weak->waits = waits;
}

dv_weak *dv_weak_clear_garbage(dv_vm *vm, uint32_t alive, uint32_t reached) {
    dv_weak *cleared = NULL, **last = &cleared;
    for (uint32_t i = 0; i < vm->weak.count; i++) {
        dv_weak_entry *entry = &vm->weak.entries[i];
        if (!entry->target || (entry->target->references & (alive | reached)) != alive) continue;
        last = clear(vm, entry, reached, last);
    }
    return cleared;
}

void dv_weak_forget_all(dv_vm *vm) {
    dv_weak_table *table = &vm->weak;
    while (table->live > 0) {
        dv_weak *weak = table->entries[--table->count].first;
        while (weak) {
            dv_weak *next = weak->next;
            dv_weak_unlink(vm, weak);
            weak = next;
        }
    }
    table->silent = true;
}
