/* mro.c: C3 and the list of classes (mro.h). */
#include "core/mro.h"

#include "core/vm.h"

#include <string.h>

/* One of the sequences that are merged: the order of a base, or the bases themselves. */
typedef struct sequence {
    dv_class *const *items;
    uint32_t count, next;
} sequence;

typedef struct merge {
    sequence *sequences;
    uint32_t count;
    dv_class **out; /* as long as all sequences together */
    uint32_t out_count;
} merge;

static bool is_duplicate(dv_vm *vm, dv_class *const *bases, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++)
            if (bases[i] == bases[k]) {
                dv_raise(vm, DV_E_TYPE_ERROR, "duplicate base class %S", bases[i]->name);
                return true;
            }
    return false;
}

/* What is the head is not in the tail: orders have no duplicates.  So a chain is merged in one
 * walk. */
static bool in_tail(const sequence *s, const dv_class *class_) {
    if (s->next < s->count && s->items[s->next] == class_) return false;
    for (uint32_t i = s->next + 1; i < s->count; i++)
        if (s->items[i] == class_) return true;
    return false;
}

/* The first head of a sequence that is in no tail; NULL: there is none. */
static dv_class *candidate(const merge *m) {
    for (uint32_t i = 0; i < m->count; i++) {
        const sequence *s = &m->sequences[i];
        if (s->next == s->count) continue;
        bool good = true;
        for (uint32_t k = 0; k < m->count && good; k++)
            good = !in_tail(&m->sequences[k], s->items[s->next]);
        if (good) return s->items[s->next];
    }
    return NULL;
}

static bool is_done(const merge *m) {
    for (uint32_t i = 0; i < m->count; i++)
        if (m->sequences[i].next < m->sequences[i].count) return false;
    return true;
}

/* CPython names the heads that are left, each once. */
static bool raise_inconsistent(dv_vm *vm, merge *m) {
    uint32_t named = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const sequence *s = &m->sequences[i];
        if (s->next == s->count) continue;
        bool known = false;
        for (uint32_t k = 0; k < named && !known; k++) known = m->out[k] == s->items[s->next];
        if (!known) m->out[named++] = s->items[s->next];
    }
    dv_raise_inconsistent_bases(vm, m->out, named);
    return false;
}

static bool run(dv_vm *vm, merge *m) {
    for (dv_class *next; (next = candidate(m));) {
        m->out[m->out_count++] = next;
        for (uint32_t i = 0; i < m->count; i++) {
            sequence *s = &m->sequences[i];
            if (s->next < s->count && s->items[s->next] == next) s->next++;
        }
    }
    return is_done(m) || raise_inconsistent(vm, m);
}

/* The order of a class that is not made after all; always false. */
static bool drop_order(dv_vm *vm, dv_class *class_, uint32_t room) {
    dv_heap_free(&vm->heap, class_->mro, room * sizeof *class_->mro);
    class_->mro = NULL;
    return false;
}

/* class_->mro has room for all sequences; what is not used is given back. */
static bool merge_bases(dv_vm *vm, dv_class *class_, uint32_t room) {
    uint32_t count = class_->base_count;
    size_t size = (count + 1) * sizeof(sequence);
    merge m = {.sequences = dv_heap_alloc(&vm->heap, size), .count = count + 1};
    if (!m.sequences) return dv_raise_memory(vm), drop_order(vm, class_, room);
    for (uint32_t i = 0; i < count; i++)
        m.sequences[i] = (sequence){class_->bases[i]->mro, class_->bases[i]->mro_count, 0};
    m.sequences[count] = (sequence){class_->bases, count, 0};
    m.out = class_->mro;
    m.out[m.out_count++] = class_;
    bool good = run(vm, &m);
    dv_heap_free(&vm->heap, m.sequences, size);
    if (!good) return drop_order(vm, class_, room);
    void *fitting = dv_heap_resize(&vm->heap, class_->mro, room * sizeof *class_->mro,
                                   m.out_count * sizeof *class_->mro);
    if (!fitting) return dv_raise_memory(vm), drop_order(vm, class_, room);
    class_->mro = fitting;
    class_->mro_count = m.out_count;
    return true;
}

/* Behind a single base comes its order, as it is: there is nothing to merge. */
static bool follow_base(dv_vm *vm, dv_class *class_) {
    const dv_class *base = class_->base_count ? class_->bases[0] : NULL;
    const uint32_t count = 1 + (base ? base->mro_count : 0);
    class_->mro = dv_heap_alloc(&vm->heap, count * sizeof *class_->mro);
    if (!class_->mro) return dv_raise_memory(vm), false;
    class_->mro[0] = class_;
    if (base) memcpy(class_->mro + 1, base->mro, (count - 1) * sizeof *class_->mro);
    class_->mro_count = count;
    return true;
}

static void append(dv_vm *vm, dv_class *class_) {
    class_->previous = vm->last_class;
    class_->next = NULL;
    *(vm->last_class ? &vm->last_class->next : &vm->first_class) = class_;
    vm->last_class = class_;
}

bool dv_mro_link(dv_vm *vm, dv_class *class_, dv_class *const *bases, uint32_t count) {
    if (is_duplicate(vm, bases, count)) return false;
    uint32_t room = 1 + count;
    for (uint32_t i = 0; i < count; i++) room += bases[i]->mro_count;
    if (count && !(class_->bases = dv_heap_alloc(&vm->heap, count * sizeof *bases)))
        return dv_raise_memory(vm), false;
    class_->base_count = count;
    class_->linear = count < 2 && (count == 0 || bases[0]->linear);
    for (uint32_t i = 0; i < count; i++) {
        bases[i]->header.references++;
        bases[i]->has_subclasses = true;
        class_->flags |= bases[i]->flags & DV_CLASS_INHERITED;
        class_->bases[i] = bases[i];
    }
    append(vm, class_);
    if (count < 2) return follow_base(vm, class_);
    class_->mro = dv_heap_alloc(&vm->heap, room * sizeof *class_->mro);
    if (!class_->mro) return dv_raise_memory(vm), false;
    return merge_bases(vm, class_, room);
}

void dv_mro_unlink(dv_vm *vm, dv_class *class_) {
    if (class_->previous || vm->first_class == class_) {
        *(class_->previous ? &class_->previous->next : &vm->first_class) = class_->next;
        *(class_->next ? &class_->next->previous : &vm->last_class) = class_->previous;
    }
    if (class_->mro) dv_heap_free(&vm->heap, class_->mro, class_->mro_count * sizeof *class_->mro);
    for (uint32_t i = 0; i < class_->base_count; i++)
        dv_release_object(vm, &class_->bases[i]->header);
    if (class_->bases)
        dv_heap_free(&vm->heap, class_->bases, class_->base_count * sizeof *class_->bases);
}

void dv_class_touch(dv_vm *vm, dv_class *class_) {
    bool cached = class_->flags & DV_CLASS_CACHED;
    class_->flags &= (uint16_t)~DV_CLASS_CACHED;
    class_->constructor = NULL;
    class_->truthful = class_->textual = class_->unequal = false;
    class_->fields = 0;
    dv_assumption_break(vm, &class_->layout);
    const bool meta = class_->type == DV_T_CLASS; /* what it says changes what its classes have */
    for (dv_class *c = class_->has_subclasses || meta ? class_->next : NULL; c; c = c->next) {
        const bool of_it = meta && c->metaclass && dv_class_is_subclass(c->metaclass, class_);
        if (!of_it && !dv_class_is_subclass(c, class_)) continue;
        cached |= c->flags & DV_CLASS_CACHED;
        c->flags &= (uint16_t)~DV_CLASS_CACHED;
        c->constructor = NULL;
        c->truthful = c->textual = c->unequal = false;
        c->fields = 0;
        dv_assumption_break(vm, &c->layout);
    }
    if (cached && vm->hooks.quicken.forget_classes) vm->hooks.quicken.forget_classes(vm);
}

void dv_class_flag(dv_class *class_, uint16_t flags) {
    class_->flags |= flags;
    for (dv_class *c = class_->has_subclasses ? class_->next : NULL; c; c = c->next)
        if (dv_class_is_subclass(c, class_)) c->flags |= flags;
}
