/* mapping_proxy.h: read-only views of a dict, which is what the __dict__ of a class is. */
#ifndef DV_TYPES_MAPPING_PROXY_H
#define DV_TYPES_MAPPING_PROXY_H

#include "core/vm.h"

extern const dv_type dv_mapping_proxy_type;

dv_value dv_mapping_proxy_new(dv_vm *vm, dv_value dict); /* retains */

#endif
