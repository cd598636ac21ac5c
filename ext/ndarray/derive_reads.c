/* derive_reads.c: derivatives of attributes and reductions (derive.h). */
#include "derive.h"
void derive_attribute(dvx_vm *vm, dvx_site *site) { API(decline, site, "attributes of arrays"); }
void derive_method(dvx_vm *vm, dvx_site *site) { API(decline, site, "methods of arrays"); }
