/* class_build.h: making classes: bases, metaclass, namespace, __set_name__ and __init_subclass__.
 */
#ifndef DV_TYPES_CLASS_BUILD_H
#define DV_TYPES_CLASS_BUILD_H

#include "core/vm.h"

/* A class statement, or type(name, bases, namespace): bases is a tuple, keywords a dict or EMPTY,
 * namespace a dict. */
dv_value dv_class_build(dv_vm *vm, dv_value name, dv_value bases, dv_value keywords,
                        dv_value namespace);

/* object.__init_subclass__ */
dv_value dv_object_init_subclass(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords);

#endif
