/* choose_call.h: choosing derivatives of calls (see choose.h). */
#ifndef DV_QUICKEN_CHOOSE_CALL_H
#define DV_QUICKEN_CHOOSE_CALL_H

#include "quicken/site.h"

/* CALL and CALL_KW */
void dv_choose_call(dv_vm *vm, dv_cell *ip, dv_value *sp);
void dv_choose_call_ex(dv_vm *vm, dv_cell *ip, dv_value *sp);
/* CALL_METHOD and CALL_METHOD_KW */
void dv_choose_call_method(dv_vm *vm, dv_cell *ip, dv_value *sp);

#endif
