/* array.c: the module array; the type is in types/array.c. */
#include "types/binary/array.h"

#include "modules/modules.h"
#include "types/sequence/iterator.h"
#include "types/text/str.h"

bool dv_array_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_type(vm, module, &dv_array_type) &&
           dv_module_add(vm, module, "ArrayType",
                         dv_retain(dv_object_value(vm->classes[DV_T_ARRAY]))) &&
           dv_module_know_type(vm, &dv_array_iterator_type) &&
           dv_module_add(vm, module, "typecodes", dv_str_z(vm, "bBuhHiIlLqQfd"));
}
