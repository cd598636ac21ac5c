/* cell.c: namespaces of global variables (cell.h).
 *
 * Names are interned, so their addresses decide; small namespaces are searched without an index. */
#include "core/cell.h"

#include "core/vm.h"

#define SEARCH_LIMIT 8u /* up to so many names are searched one by one */

void dv_namespace_init(dv_namespace *space) { memset(space, 0, sizeof *space); }

void dv_namespace_traverse(dv_vm *vm, const dv_namespace *space, dv_visit visit, void *context) {
    for (uint32_t i = 0; i < space->count; i++) visit(vm, space->cells[i]->value, context);
}

void dv_namespace_clear(dv_vm *vm, dv_namespace *space) {
    space->ending = true;
    for (uint32_t i = 0; i < space->count; i++) dv_cell_store(vm, space->cells[i], DV_EMPTY);
}

static void free_cell(dv_vm *vm, dv_global_cell *cell) {
    dv_assumption_break(vm, &cell->constant);
    dv_release(vm, cell->value);
    dv_release(vm, cell->name);
    dv_heap_free(&vm->heap, cell, sizeof *cell);
}

void dv_namespace_release(dv_vm *vm, dv_namespace *space) {
    dv_namespace_clear(vm, space);
    for (uint32_t i = 0; i < space->count; i++) free_cell(vm, space->cells[i]);
    if (space->cells) dv_heap_free(&vm->heap, space->cells, space->capacity * sizeof *space->cells);
    if (space->index)
        dv_heap_free(&vm->heap, space->index, space->index_capacity * sizeof *space->index);
    dv_namespace_init(space);
}

static uint32_t hash_of(dv_value name) {
    return (uint32_t)((name.bits >> 4) * 0x9E3779B97F4A7C15u >> 40);
}

dv_global_cell *dv_namespace_find(const dv_namespace *space, dv_value name) {
    if (!space->index) {
        for (uint32_t i = 0; i < space->count; i++)
            if (dv_same(space->cells[i]->name, name)) return space->cells[i];
        return NULL;
    }
    uint32_t mask = space->index_capacity - 1;
    for (uint32_t at = hash_of(name) & mask;; at = (at + 1) & mask) {
        dv_global_cell *cell = space->index[at];
        if (!cell || dv_same(cell->name, name)) return cell;
    }
}

static void index_cell(dv_namespace *space, dv_global_cell *cell) {
    uint32_t mask = space->index_capacity - 1;
    uint32_t at = hash_of(cell->name) & mask;
    while (space->index[at]) at = (at + 1) & mask;
    space->index[at] = cell;
}

/* The index is at most half full. */
static bool grow_index(dv_vm *vm, dv_namespace *space) {
    uint32_t capacity = space->index_capacity ? space->index_capacity * 2 : 4 * SEARCH_LIMIT;
    dv_global_cell **index = dv_heap_alloc(&vm->heap, capacity * sizeof *index);
    if (!index) return dv_raise_memory(vm), false;
    memset(index, 0, capacity * sizeof *index);
    if (space->index)
        dv_heap_free(&vm->heap, space->index, space->index_capacity * sizeof *space->index);
    space->index = index;
    space->index_capacity = capacity;
    for (uint32_t i = 0; i < space->count; i++) index_cell(space, space->cells[i]);
    return true;
}

/* Frees what invariant 1 of cell.h lets go. */
static void drop_unused(dv_vm *vm, dv_namespace *space) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        dv_global_cell *cell = space->cells[i];
        if (dv_is_empty(cell->value) && !dv_name_is_mentioned(cell->name))
            free_cell(vm, cell);
        else
            space->cells[kept++] = cell;
    }
    if (kept == space->count) return;
    space->count = kept;
    vm->names_changed++;
    if (!space->index) return;
    memset(space->index, 0, space->index_capacity * sizeof *space->index);
    for (uint32_t i = 0; i < kept; i++) index_cell(space, space->cells[i]);
}

static bool make_room(dv_vm *vm, dv_namespace *space) {
    const bool full = space->count == space->capacity;
    if (full && space->count >= SEARCH_LIMIT && !space->ending) drop_unused(vm, space);
    /* Grows all the same if little has gone, so that looking for more pays off. */
    if (full && space->count >= space->capacity / 4 * 3) {
        uint32_t capacity = space->capacity ? space->capacity * 2 : 4;
        void *cells =
            dv_heap_resize(&vm->heap, space->cells, space->capacity * sizeof *space->cells,
                           capacity * sizeof *space->cells);
        if (!cells) return dv_raise_memory(vm), false;
        space->cells = cells;
        space->capacity = capacity;
    }
    bool crowded = space->count >= SEARCH_LIMIT && (space->count + 1) * 2 > space->index_capacity;
    return !crowded || grow_index(vm, space);
}

dv_global_cell *dv_namespace_cell(dv_vm *vm, dv_namespace *space, dv_value name) {
    dv_global_cell *cell = dv_namespace_find(space, name);
    if (cell) return cell;
    if (!make_room(vm, space)) return NULL;
    cell = dv_heap_alloc(&vm->heap, sizeof *cell);
    if (!cell) {
        dv_raise_memory(vm);
        return NULL;
    }
    cell->value = DV_EMPTY;
    cell->name = dv_retain(name);
    cell->constant = (dv_assumption){0};
    cell->holders = cell->disturbed = 0;
    space->cells[space->count++] = cell;
    if (space->index) index_cell(space, cell);
    return cell;
}

void dv_cell_store(dv_vm *vm, dv_global_cell *cell, dv_value value) {
    dv_assumption_break(vm, &cell->constant);
    if (DV_UNLIKELY(cell->holders > 0)) vm->hooks.region.disturbed(vm, cell);
    dv_value old = cell->value;
    vm->names_changed += dv_is_empty(old) != dv_is_empty(value);
    cell->value = value;
    dv_release(vm, old);
}

bool dv_namespace_set(dv_vm *vm, dv_namespace *space, const char *name, dv_value value) {
    dv_value interned = dv_str_intern(vm, name, strlen(name));
    dv_global_cell *cell = dv_is_empty(interned) ? NULL : dv_namespace_cell(vm, space, interned);
    dv_release(vm, interned);
    if (!cell) {
        dv_release(vm, value);
        return false;
    }
    dv_cell_store(vm, cell, value);
    return true;
}
