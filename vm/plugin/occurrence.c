/* occurrence.c: making, finding and releasing occurrences (occurrence.h).
 *
 * Invariant 1: `by_cell` has a chain for each hash of a cell's address, `occurrences` each by its
 * number. */
#include "plugin/occurrence.h"

#include "dv_ops.h"
#include "plugin/debug.h"
#include "plugin/expression.h"
#include "quicken/site.h"

_Static_assert(sizeof(dv_extended_site) == sizeof(dv_site), "a site is one cell");

/* ---- The tables ---- */

static uint32_t hash_of(const dv_plugins *p, const dv_cell *cell) {
    return (uint32_t)((uintptr_t)cell >> 3) * 2654435769u & (p->chains - 1);
}

static bool grow_chains(dv_vm *vm) {
    dv_plugins *p = vm->extensions.plugins;
    uint32_t before = p->chains, after = before ? before * 2 : 16;
    dv_extension_site **old = p->by_cell, **new = dv_heap_alloc(&vm->heap, after * sizeof *new);
    if (!new) return false;
    memset(new, 0, after * sizeof *new);
    p->by_cell = new;
    p->chains = after;
    for (uint32_t i = 0; i < before; i++) {
        /* Backwards, so that newer ones stay in front. */
        dv_extension_site *turned = NULL;
        for (dv_extension_site *o = old[i], *next; o; o = next)
            next = o->next, o->next = turned, turned = o;
        for (dv_extension_site *o = turned, *next; o; o = next) {
            dv_extension_site **chain = &new[hash_of(p, o->cell)];
            next = o->next, o->next = *chain, *chain = o;
        }
    }
    if (old) dv_heap_free(&vm->heap, old, before * sizeof *old);
    return true;
}

static bool grow_numbers(dv_vm *vm) {
    dv_plugins *p = vm->extensions.plugins;
    uint32_t before = p->numbers, after = before ? before * 2 : 16;
    dv_extension_site **new = dv_heap_alloc(&vm->heap, after * sizeof *new);
    if (!new) return false;
    for (uint32_t i = 0; i < after; i++) new[i] = i < before ? p->occurrences[i] : NULL;
    if (before) dv_heap_free(&vm->heap, p->occurrences, before * sizeof *new);
    p->occurrences = new;
    p->numbers = after;
    return true;
}

/* A free number; numbers are searched from the last one on that was given. */
static bool take_number(dv_vm *vm, uint32_t *number) {
    dv_plugins *p = vm->extensions.plugins;
    if (p->occurrence_count == p->numbers && !grow_numbers(vm)) return false;
    while (p->occurrences[p->next_number % p->numbers]) p->next_number++;
    *number = p->next_number++ % p->numbers;
    return true;
}

dv_extension_site *dv_occurrence_of(const dv_vm *vm, const dv_cell *cell) {
    const dv_plugins *p = vm->extensions.plugins;
    if (!p || !p->chains) return NULL;
    dv_extension_site *o = p->by_cell[hash_of(p, cell)];
    while (o && o->cell != cell) o = o->next;
    return o;
}

dv_extension_site *dv_occurrence_if_any(const dv_vm *vm, const dv_cell *cell) {
    const dv_plugins *p = vm->extensions.plugins;
    dv_extension_site *wanted = dv_occurrence_at(cell);
    for (dv_extension_site *o = dv_occurrence_of(vm, cell); o; o = o->next)
        if (o == wanted) return o;
    for (uint32_t i = 0; i < p->numbers; i++) /* a copy in a region, or none */
        if (p->occurrences[i] == wanted) return wanted;
    return NULL;
}

void dv_occurrence_enter(const dv_extension_site *o, dv_cell *cell) {
    cell[1].extended =
        (dv_extended_site){.own = cell[1].extended.own,
                           .flagged = o->seen.meta != 0,
                           .misses = DV_SITE_MISSES,
                           .occurrence = (uintptr_t)&o->seen & (((uint64_t)1 << 48) - 1)};
}

void dv_occurrence_leave(const dv_extension_site *o, dv_cell *cell) {
    cell[1].site = (dv_site){.own = (uint8_t)cell[1].extended.own, .backoff = o->backoff};
}

static void leave_chain(dv_plugins *p, const dv_extension_site *o) {
    dv_extension_site **at = &p->by_cell[hash_of(p, o->cell)];
    while (*at != o) at = &(*at)->next;
    *at = o->next;
}

/* ---- Their life ---- */

static void release_values(dv_vm *vm, dv_extension_site *o) {
    dv_dependent_leave(vm, &o->dependent);
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) {
        dv_value original = o->drops[i].original;
        o->drops[i].original = DV_EMPTY;
        dv_release(vm, original);
    }
    while (o->callee_count) dv_release(vm, o->callees[--o->callee_count].value);
    while (o->number_count)
        if (o->numbers[--o->number_count].is >= DV_NUMBER_SLICE)
            dv_release(vm, o->numbers[o->number_count].from.constant);
    void (*release)(dvx_vm *, void *) = o->derivative.name ? o->derivative.release : NULL;
    o->derivative.release = NULL;
    if (!release) return;
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    if (vm->extensions.plugins->debug)
        dv_debug_site_release(vm, o, release);
    else
        release(vm, o->cache);
    dv_error_clear(vm); /* there is nobody to tell */
    vm->error = error;
}

/* The code goes. */
static void release_block(dv_vm *vm, dv_site_block *block) {
    dv_extension_site *o = (dv_extension_site *)(void *)block;
    dv_plugins *p = vm->extensions.plugins;
    if (!p) return; /* discarded before */
    if (!o->copy) leave_chain(p, o);
    p->occurrences[o->number] = NULL;
    p->occurrence_count--;
    release_values(vm, o);
}

/* An assumption is broken: runs no dl code. */
static void invalidate(dv_vm *vm, dv_dependent *dependent) {
    dv_extension_site *o =
        (dv_extension_site *)(void *)((char *)dependent - offsetof(dv_extension_site, dependent));
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) {
        o->seen.keys[i] = (uint32_t)DV_OPERAND_IS_NOTHING;
        o->seen.masks[i] = UINT32_MAX;
    }
    dv_dependent_leave(vm, &o->dependent);
    o->reason = "an assumption was broken";
    dv_notes_add(&o->notes, o->reason, 1);
    if (o->copy) return; /* it misses from now on */
    /* An expression that stands on it goes first: its loads must load again, too. */
    dv_extension_site *now = dv_occurrence_if_any(vm, o->cell);
    if (now && now->under == o && o->cell->h == now->handler) dv_expression_end(now);
    if (o->cell->h == o->handler && dv_occurrence_at(o->cell) == o)
        dv_operate_give_up(vm, o, o->cell);
}

void dv_occurrence_void(dv_vm *vm, dv_extension_site *o) {
    o->broken = true;
    release_values(vm, o);
    o->derivative.name = NULL;
}

dv_extension_site *dv_occurrence_new(dv_vm *vm, dv_cell *cell, uint32_t family, size_t cache_size,
                                     const dv_thread *owner) {
    const dv_extension_site *before = owner ? dv_occurrence_of(vm, cell) : NULL;
    dv_plugins *p = vm->extensions.plugins;
    uint32_t number;
    if (before && before->times >= DV_MOST_OCCURRENCES) return NULL;
    if (p->occurrence_count >= p->chains && !grow_chains(vm)) return NULL;
    if (!take_number(vm, &number)) return NULL;
    size_t size = sizeof(dv_extension_site) + cache_size;
    dv_extension_site *o = dv_heap_alloc(&vm->heap, size);
    if (!o) return NULL;
    memset(o, 0, size);
    dv_thread *thread = dv_frame_thread(vm->fp);
    o->block = (dv_site_block){thread->blocks, size, NULL, release_block};
    thread->blocks = &o->block;
    o->cell = cell;
    o->copy = !owner;
    o->family = family;
    o->number = number;
    o->times = before ? before->times : 0;
    o->cache_size = cache_size;
    o->dependent.invalidate = invalidate;
    o->seen.cache = o->cache;
    for (uint32_t i = 0; i < DV_MOST_OPERANDS; i++) o->drops[i].original = DV_EMPTY;
    if (owner) {
        dv_extension_site **chain = &p->by_cell[hash_of(p, cell)];
        o->next = *chain;
        *chain = o;
    }
    p->occurrences[number] = o;
    p->occurrence_count++;
    return o;
}

void dv_occurrence_discard(dv_vm *vm) {
    dv_plugins *p = vm->extensions.plugins;
    for (uint32_t i = 0; i < p->numbers; i++) {
        if (p->occurrences[i]) release_values(vm, p->occurrences[i]);
    }
    if (p->numbers) dv_heap_free(&vm->heap, p->occurrences, p->numbers * sizeof *p->occurrences);
    if (p->chains) dv_heap_free(&vm->heap, p->by_cell, p->chains * sizeof *p->by_cell);
    while (p->assumptions) {
        dvx_assumption *next = p->assumptions->next;
        dv_heap_free(&vm->heap, p->assumptions, sizeof *next);
        p->assumptions = next;
    }
}

/* ---- What they expect ---- */

void dv_occurrence_expect(dv_vm *vm, dv_extension_site *o, const dv_value *operands) {
    const dvx_specialisation *d = &o->derivative;
    o->seen.count = d->count;
    o->seen.length = dv_op_infos[o->family].length;
    o->seen.meta = d->meta;
    for (uint32_t i = 0; i < d->count; i++) {
        bool looked_at = !(d->any >> i & 1) && !o->drops[i].load;
        o->seen.keys[i] = dv_operand_key_of(operands[i]);
        o->seen.masks[i] = looked_at ? UINT32_MAX : 0;
        if (d->meta >> i & 1)
            o->seen.flags[i] = (uint32_t)(offsetof(dv_extension_object, payload) +
                                          dv_extension_type_of(vm, operands[i])->described.meta);
    }
}
