/* class_build.h: making classes: bases, metaclass, namespace, __set_name__ and __init_subclass__.
 */
#ifndef DV_TYPES_CLASS_BUILD_H
#define DV_TYPES_CLASS_BUILD_H

#include "core/vm.h"

/* A class statement: bases is a tuple, keywords a dict or EMPTY, namespace a dict.  Asks the
 * metaclass (types/class/metaclass.c). */
dv_value dv_class_build(dv_vm *vm, dv_value name, dv_value bases, dv_value keywords,
                        dv_value namespace);

/* type.__new__ for the metaclass that has been found to be the right one: parts are the name, the
 * tuple of bases and the namespace, `values` and `names` (tuple or EMPTY) the keyword arguments for
 * __init_subclass__. */
dv_value dv_class_make(dv_vm *vm, dv_class *meta, const dv_value *parts, const dv_value *values,
                       dv_value names);

/* object.__init_subclass__ */
dv_value dv_object_init_subclass(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords);

#endif
