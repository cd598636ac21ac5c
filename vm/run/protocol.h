/* protocol.h: what the generic protocols of core/upcall.h offer beyond it. */
#ifndef DV_RUN_PROTOCOL_H
#define DV_RUN_PROTOCOL_H

#include "core/upcall.h"
#include "core/vm.h"

/* ascii(v): new str. */
dv_value dv_ascii(dv_vm *vm, dv_value v);
/* pow(a, b[, modulus]); modulus EMPTY or None: none. */
dv_value dv_power(dv_vm *vm, dv_value a, dv_value b, dv_value modulus);
bool dv_is_callable(dv_vm *vm, dv_value v);
/* Does v have a next()? */
bool dv_is_iterator(dv_vm *vm, dv_value v);
/* isinstance and issubclass: `type` is a class or a (nested) tuple of classes.  1, 0, -1 raised. */
int dv_is_instance_of(dv_vm *vm, dv_value v, dv_value type);
int dv_is_subclass_of(dv_vm *vm, dv_value class_, dv_value type);

#endif
