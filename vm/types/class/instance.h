/* instance.h: what instances of dl classes do: special methods (__add__, __len__, ...) where their
 * class has them, else the behaviour of `object`. */
#ifndef DV_TYPES_INSTANCE_H
#define DV_TYPES_INSTANCE_H

#include "core/vm.h"

/* Calls the special method `name` that self's dl class defines; *found is false (and the result
 * EMPTY with nothing raised) where it defines none. */
dv_value dv_special_call(dv_vm *vm, dv_value self, dv_value name, const dv_value *args,
                         uint32_t count, bool *found);
/* The name of the method of a comparison. */
static inline dv_value dv_comparison_name(const dv_vm *vm, dv_compare_op op) {
    switch (op) {
    case DV_LT: return vm->known.lt;
    case DV_LE: return vm->known.le;
    case DV_GT: return vm->known.gt;
    case DV_GE: return vm->known.ge;
    case DV_EQ: return vm->known.eq;
    default: return vm->known.ne;
    }
}
bool dv_has_special(dv_vm *vm, dv_value self, dv_value name);
/* The same, or None, which takes away what the built-in base can. */
bool dv_defines_special(dv_vm *vm, dv_value self, dv_value name);

/* Calls a function found in self's class with self in front of the arguments. */
dv_value dv_call_with_self(dv_vm *vm, dv_value function, dv_value self, const dv_value *args,
                           uint32_t count, dv_value keywords);

/* Calls any callee with `first` in front of the arguments. */
dv_value dv_call_in_front(dv_vm *vm, dv_value callee, dv_value first, const dv_value *args,
                          uint32_t count, dv_value keywords);

/* repr and str through __repr__ and __str__ with the check that the result is a str. */
dv_value dv_special_text(dv_vm *vm, dv_value self, dv_value name, bool *found);
/* "<__main__.C object at 0x...>" */
dv_value dv_default_repr(dv_vm *vm, dv_value self);
int64_t dv_default_hash(const dv_vm *vm, dv_value self);

/* object's __getattribute__, __setattr__ and __delattr__. */
extern const dv_cfunction_def dv_object_attribute_hooks[3];

/* What __len__ has returned as a length, and __bool__ as a truth; the result is taken; -1: raised.
 */
int64_t dv_length_returned(dv_vm *vm, dv_value result);
int dv_truth_returned(dv_vm *vm, dv_value result);
/* The same of __iter__: the result if it is an iterator; EMPTY: raised. */
dv_value dv_iterator_returned(dv_vm *vm, dv_value result);

/* The behaviour of `object`, which classes share where their metaclass has special methods. */
bool dv_object_hash(dv_vm *vm, dv_value self, int64_t *hash) DV_MUST_CHECK;
dv_value dv_object_format(dv_vm *vm, dv_value self, dv_value spec);
dv_value dv_object_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b);
dv_value dv_object_unary(dv_vm *vm, dv_unary_op op, dv_value a);
int64_t dv_object_length(dv_vm *vm, dv_value self);
bool dv_object_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) DV_MUST_CHECK;
int dv_object_contains(dv_vm *vm, dv_value self, dv_value item);
dv_value dv_object_iterate(dv_vm *vm, dv_value self);
dv_value dv_object_next(dv_vm *vm, dv_value self);

#endif
