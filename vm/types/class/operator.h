/* operator.h: the binary operators where an operand is an instance of a dl class. */
#ifndef DV_TYPES_OPERATOR_H
#define DV_TYPES_OPERATOR_H

#include "core/vm.h"

/* a op b (or op=) where one of them is an instance of a dl class; NotImplemented where neither
 * knows how. */
dv_value dv_instance_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace);

/* What is left of it when a method of a has said NotImplemented: `asked`, __op__, else __iop__.  a
 * is an instance of a plain class, b of the same or of none of dl. */
dv_value dv_instance_binary_rest(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace,
                                 bool asked);

#endif
