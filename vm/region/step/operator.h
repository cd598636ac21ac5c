/* operator.h: operators of dl classes whose method is analysed inline (internal to region/). */
#ifndef DV_REGION_OPERATOR_H
#define DV_REGION_OPERATOR_H

#include "region/analyse/build.h"

/* Entries between the operands and the locals of such a method: how | next ip | method R R
 * (run/operate.h). */
enum { DV_BELOW_OPERATOR = 5 };

/* Does the derivative at the site enter a method of dl? */
bool dv_operator_is_entered(uint32_t op);

/* The method that the derivative at the site enters for instances of the class that it has met;
 * EMPTY: none that is known. */
dv_value dv_operator_met(dv_vm *vm, const dv_cell *site, uint32_t op);

/* The operator at b->pc, a unary or binary one, a comparison, a subscript (also as a store's
 * target) or the store to a property: into the method of its operand; false: that may not be
 * analysed inline. */
bool dv_operator_enter(dv_build *b, uint32_t next_pc);
/* The call of the class with n arguments, into its __new__, likewise. */
bool dv_operator_enter_new(dv_build *b, dv_class *class_, int32_t n, uint32_t next_pc);
/* RETURN of such a method. */
uint32_t dv_operator_return(dv_build *b);
/* Entry q, an operand or a result that nobody wants, is used up; false: nothing was released. */
bool dv_operator_drop(dv_build *b, int32_t q);
/* The lowest operand of the operator whose method the context is. */
int32_t dv_operator_bottom(const dv_context *context);

#endif
