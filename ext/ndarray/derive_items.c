/* derive_items.c: derivatives of subscripts (derive.h). */
#include "derive.h"
void derive_items(dvx_vm *vm, dvx_site *site) { API(decline, site, "subscripts of arrays"); }
