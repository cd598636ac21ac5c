/* cell.h: global variables live in cells with stable addresses, so that code can hold on to them.
 *
 * Invariants
 *  1. A cell is never moved, and not freed before its namespace, but for one that is EMPTY and
 * whose name no code mentions (dv_name_is_mentioned): only code holds on to cells.  Those go when
 * the namespace would have to grow.
 *  2. A deleted or not yet assigned name has an EMPTY cell; a cell may be created by a lookup.
 *  3. Whoever changes `value` calls dv_cell_store, which breaks the assumption "this cell keeps its
 *     value" first, if anybody depends on it, and sends away who holds the value.  (A region that
 *     holds it changes it itself, once it has seen that nobody depends on it.) */
#ifndef DV_CORE_CELL_H
#define DV_CORE_CELL_H

#include "core/object.h"
#include "core/assumption.h"

typedef struct dv_global_cell {
    dv_value value;
    dv_value name; /* interned str */
    dv_assumption constant;
    uint32_t holders;   /* activations of regions that have its value, a number, in a slot, too */
    uint32_t disturbed; /* how often somebody else wanted to change it meanwhile */
} dv_global_cell;

/* Names of a module (or the builtins), in the order of first use. */
typedef struct dv_namespace {
    dv_global_cell **cells;
    uint32_t count, capacity;
    dv_global_cell **index; /* open addressing over the address of the interned name; NULL: free */
    uint32_t index_capacity;
    bool ending; /* its names are being deleted: no cell goes meanwhile */
} dv_namespace;

void dv_namespace_init(dv_namespace *space);
void dv_namespace_release(dv_vm *vm, dv_namespace *space);
void dv_namespace_traverse(dv_vm *vm, const dv_namespace *space, dv_visit visit, void *context);
/* Deletes all names, in the order of their first use. */
void dv_namespace_clear(dv_vm *vm, dv_namespace *space);

/* Up-call (types/text/str.h): has code, or the machine itself, an interned str as one of its names?
 */
bool dv_name_is_mentioned(dv_value name);

/* The cell of a name (an interned str), or NULL if there is none. */
dv_global_cell *dv_namespace_find(const dv_namespace *space, dv_value name);

/* The same, making it if needed; NULL: out of memory (raised). */
dv_global_cell *dv_namespace_cell(dv_vm *vm, dv_namespace *space, dv_value name) DV_MUST_CHECK;

/* Stores an owned value (EMPTY deletes), breaking the assumption and releasing the old value. */
void dv_cell_store(dv_vm *vm, dv_global_cell *cell, dv_value value);

/* Shorthand for filling a namespace from C: interns `name`, takes ownership of value. */
bool dv_namespace_set(dv_vm *vm, dv_namespace *space, const char *name,
                      dv_value value) DV_MUST_CHECK;

#endif
