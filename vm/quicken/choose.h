/* choose.h: choosing derivatives where types of operands alone do not decide: globals,
 * attributes, subscripts, iteration.  (Calls: choose_call.h.)
 *
 * Each function looks at the operands of the adaptive instruction at ip and makes the site what
 * fits, or calls dv_site_unsuitable.  None of them raises or runs dl code. */
#ifndef DV_QUICKEN_CHOOSE_H
#define DV_QUICKEN_CHOOSE_H

#include "quicken/site.h"

void dv_choose_global(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_store_global(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_subscript(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_store_subscript(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_contains(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_iteration(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_attribute(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_store_attribute(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_method(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_truth(dv_vm *vm, dv_cell *ip, dv_value *sp); /* choose_data.c */
void dv_choose_get_iter(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_send(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_slice(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_key(dv_vm *vm, dv_cell *ip, dv_value *sp);

/* The cell of what a dl class or a base of it has under the name, as long as vm->class_sites holds;
 * NULL: there is none, or asking the class for it may give something else. */
dv_global_cell *dv_class_cell(dv_vm *vm, dv_value object, dv_value name);
/* Is such a value an attribute of the class as it is, no method?  Its kind is for
 * dv_poly_same_kind. */
bool dv_class_gives_as_it_is(dv_vm *vm, dv_value v, uint32_t *kind);

#endif
