/* sites.h: what hot sites with cdatas and libraries become: calls of C functions, items and fields
 * of numbers, functions of libraries.
 *
 * Invariants
 *  1. A derivative does exactly what the slot does, or deoptimises before any effect.
 *  2. What a site assumes of an object beyond its class (the C type, the library) is in the site's
 *     cache and compared each time. */
#ifndef FFI_SITES_H
#define FFI_SITES_H

#include "data/cdata.h"

void sites_specialise_cdata(dvx_vm *vm, dvx_site *site);
void sites_specialise_library(dvx_vm *vm, dvx_site *site);

#endif
