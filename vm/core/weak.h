/* weak.h: weak references: who is to be told when an object dies.
 *
 * Invariants
 *  1. An object knows nothing of its weak references: a table of the VM has them, by its address.
 *     What leads its end to dv_weak_end is where it would be noticed anyway: a plain instance gets
 * a block of overflow slots, whose release is a slow path; an instance of a subclass of a built-in
 * type a bit; for objects of a built-in type, the VM's table of types gets another `release`.  So
 * nothing is paid for objects without a weak reference.
 *  2. A reference whose object dies is cleared first, then all callbacks are called, the newest
 *     reference's first; __del__ runs before that, and what the object holds goes after.
 *  3. References to garbage are cleared before any finaliser of it runs; callbacks of references
 *     that are garbage themselves are not called.
 *  4. A reference that is dying itself (its count is 0) is never referred to again.
 *  5. The references of an object are in CPython's order: the one without a callback that all ask
 *     for, the proxy of this kind, the others from the newest on. */
#ifndef DV_CORE_WEAK_H
#define DV_CORE_WEAK_H

#include "core/object.h"

/* A weak reference: weakref.ref or a proxy (modules/data/weakref.c). */
typedef struct dv_weak {
    dv_object header;
    dv_object *target;               /* borrowed; NULL: it is gone */
    dv_value callback;               /* or EMPTY */
    struct dv_weak *next, *previous; /* of the same object */
    int64_t hash;                    /* of the object; -1: not asked for yet */
    bool waits; /* the object's count is 0, and it waits in the release queue */
} dv_weak;

typedef struct dv_weak_entry {
    dv_object *target; /* NULL: free */
    dv_weak *first;
} dv_weak_entry;

/* Entries in the order in which objects got their first reference, and a hash table of their
 * numbers + 1 (0: free), at most half full. */
typedef struct dv_weak_table {
    dv_weak_entry *entries;
    uint32_t *index;
    uint32_t count, live, capacity; /* capacity: 0 or a power of two; index: twice as many */
    bool silent;                    /* no callbacks any longer: the program has ended */
} dv_weak_table;

/* The object that a reference leads to; NULL: it is gone. */
static inline dv_object *dv_weak_target(const dv_weak *weak) {
    return weak->waits ? NULL : weak->target;
}

static inline bool dv_is_weak_proxy(dv_value v) {
    return dv_is_shape(v, DV_T_WEAK_PROXY) || dv_is_shape(v, DV_T_WEAK_CALLABLE_PROXY);
}

/* Are there references to objects of v's class? */
bool dv_weak_allowed(dv_vm *vm, dv_value v);
/* The first reference to an object, or NULL. */
dv_weak *dv_weak_first(dv_vm *vm, const dv_object *object);
/* The reference (proxy, if `shape` is a proxy's) without a callback that all ask for, or NULL. */
dv_weak *dv_weak_shared(dv_vm *vm, const dv_object *object, uint32_t shape);
/* Makes a new reference, whose other members are filled in, one to the object; false: raised. */
bool dv_weak_link(dv_vm *vm, dv_weak *weak, dv_object *object) DV_MUST_CHECK;
/* A reference forgets its object. */
void dv_weak_unlink(dv_vm *vm, dv_weak *weak);

/* The object, of which nothing is released yet, dies: see invariant 2.  False: somebody has got a
 * reference to it. */
bool dv_weak_end(dv_vm *vm, dv_object *object) DV_MUST_CHECK;
/* It dies later, and its header is no header until then; `waits` false: now it is one again. */
void dv_weak_wait(dv_vm *vm, dv_object *object, bool waits);
/* In a collection, while the marks are there: garbage is alive without `reached`.  Clears the
 * references to it; those that are to be called, for dv_weak_call_all. */
dv_weak *dv_weak_clear_garbage(dv_vm *vm, uint32_t alive, uint32_t reached);
void dv_weak_call_all(dv_vm *vm, dv_weak *cleared);
/* When a program ends: clears all, and no callback is called any longer. */
void dv_weak_forget_all(dv_vm *vm);

/* Up-call (types/class/finalise.c): calls the callback of a reference. */
void dv_weak_call(dv_vm *vm, dv_value weak, dv_value callback);

#endif
