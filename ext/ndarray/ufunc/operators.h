/* operators.h: the slots of arrays and scalars for operators. */
#ifndef ND_OPERATORS_H
#define ND_OPERATORS_H

#include "array/array.h"

dvx_value operators_binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b);
dvx_value operators_inplace(dvx_vm *vm, dvx_binary op, dvx_value self, dvx_value b);
dvx_value operators_unary(dvx_vm *vm, dvx_unary op, dvx_value self);
dvx_value operators_compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other);

/* Which ufunc it is, of sites with arrays; -1: none. */
int operators_ufunc(dvx_family family, uint32_t operation);
/* What stands for the power of such a base with this exponent, which is an int (`whole`) or a
 * float; -1: nothing does. */
int operators_simple_power(nd_type base, bool whole, double exponent);

#define OPERATORS_BINARY  ((1u << (DVX_DIVMOD + 1)) - 1)
#define OPERATORS_INPLACE (OPERATORS_BINARY & ~DVX_BIT(DVX_DIVMOD))
#define OPERATORS_UNARY   (DVX_BIT(DVX_NEG) | DVX_BIT(DVX_POS) | DVX_BIT(DVX_INVERT))

#endif
