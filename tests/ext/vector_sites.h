/* vector_sites.h: the derivatives of Vector. */
#ifndef VECTOR_SITES_H
#define VECTOR_SITES_H

#include "vector.h"

/* The type's `specialise`. */
void specialise_vector(dvx_vm *vm, dvx_site *site);

#endif
