/* weakref_parts.h: what the files of the module _weakref share.
 *
 * The table of weak references is core/weak.h's; the containers are lang/lib/weakref.dl. */
#ifndef DV_MODULES_WEAKREF_PARTS_H
#define DV_MODULES_WEAKREF_PARTS_H

#include "core/vm.h"

extern const dv_type dv_weak_proxy_type, dv_weak_callable_proxy_type;

/* A reference or proxy to args[0] with the callback args[1]: the shared one, if there is one and no
 * callback; `function` is for messages.  New; EMPTY: raised. */
dv_value dv_weak_make(dv_vm *vm, const char *function, uint32_t shape, const dv_value *args,
                      uint32_t count);
void dv_weak_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context);
void dv_weak_clear(dv_vm *vm, dv_object *object);
void dv_weak_release(dv_vm *vm, dv_object *object);

#endif
